//! The kernels of a source, found by scanning it: names, and the names and types of their parameters.
//!
//! Enters: a text of CUDA C++. Leaves: its kernels with their parameters. Must not know: `scene`, `compile`,
//! `cuda::host`.
//!
//! This is no C++ parser: it knows what a `__global__` function looks like, and skips comments, literals and
//! preprocessor lines. Macros are not expanded; of conditional sections it reads what is compiled, as far as the text
//! and the compiler's options tell.
//!
//! Whatever the text, this takes time and memory in proportion to its length, and what is kept of it has limits.

mod scanner;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

pub(super) use self::scanner::is_attribute;
use self::scanner::{Brackets, Found, Scanner, after_attribute};
use super::{
    CType, Lines, Position,
    conditional::Macros,
    lexer::{self, Kind, Token},
};

/// So many kernels are known of a scene, those of its includes counted: a large project has some hundreds.
pub(super) const MOST_KERNELS: usize = 10_000;

/// So many parameters of kernels and of their templates are known of a scene, in all kernels together.
pub(super) const MOST_PARAMETERS: usize = 20 * MOST_KERNELS;

/// So many tokens are looked at, which is more than a text of 64 MiB has that a person would write.
const MOST_TOKENS: usize = 1 << 24;

/// The longest name of a kernel in bytes, its namespaces counted.
pub(super) const LONGEST_NAME: usize = 4096;

/// What is said where a limit leaves kernels out.
pub(crate) const LEFT_OUT: &str = "from here on kernels are left out: a scene and its includes have at most 10000, \
    200000 parameters in all, and names of at most 4096 bytes";

/// So many tokens of a default argument are kept.
const LONGEST_DEFAULT: usize = 32;

/// So many bytes of a template's arguments are put into the types of a kernel's parameters: a long argument may be
/// asked for at each of very many places.
const MOST_BYTES_OF_ARGUMENTS: usize = 1 << 20;

/// How a `__global__` function is declared.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// Its name, with the namespaces that it lies in: `field::advance`.
    pub name: String,
    /// Whether it is a template, launched as `name<...>`.
    pub template: bool,
    /// The names of its template's parameters, in order; empty for one without a name, and from a pack on.
    pub template_parameters: Vec<String>,
    /// Whether its body was seen, not only a declaration.
    pub defined: bool,
    /// Whether it stands in a conditional section that is probably not compiled: nobody in sight defines its macro.
    pub left_out: bool,
    /// Its parameters, in order.
    pub parameters: Vec<KernelParameter>,
    /// The file it was found in, as named.
    pub file: Arc<str>,
    /// Where its name is.
    pub at: Position,
}

/// A parameter of a kernel, as declared.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelParameter {
    /// Its name; empty where it has none.
    pub name: String,
    /// Its type as written, blanks made single.
    pub text: String,
    /// Its type as understood.
    pub ctype: CType,
    /// Its default argument as written, where it has one.
    pub default: Option<String>,
    /// Where its name is, or its type where it has none.
    pub at: Position,
}

/// The kernels that `text`, called `file`, declares, in its order.
pub fn scan(file: &str, text: &str) -> Vec<Signature> {
    scan_beside(&[], &mut Macros::default(), file, text).kernels
}

/// What is found in a text.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// The kernels, in the text's order.
    pub kernels: Vec<Signature>,
    /// Where the first kernel is that is left out because of a limit, or where the text is read no further.
    pub left_out: Option<Position>,
}

/// The kernels that `text`, called `file`, declares, as many as there is room for beside those that are `known`.
pub(crate) fn scan_beside(
    known: &[Signature],
    macros: &mut Macros,
    file: &str,
    text: &str,
) -> Scan {
    let code = macros.code(text, MOST_TOKENS);
    let lines = Lines::new(text);
    let mut scan = Scan::default();
    let mut room = Room::beside(known);
    let file = Arc::from(file);
    let place = Place { file: &file, lines: &lines };
    scan.add(&code.likely, &mut room, &place, false);
    if let Some(all) = &code.all {
        scan.add(all, &mut room, &place, true);
        scan.kernels.sort_by_key(|kernel| kernel.at);
    }
    let tokens = code.all.as_ref().unwrap_or(&code.likely);
    if let Some(last) = tokens.get(MOST_TOKENS - 1) {
        scan.left_out.get_or_insert(lines.position(last.offset));
    }
    scan
}

/// Which text is scanned.
struct Place<'a> {
    file: &'a Arc<str>,
    lines: &'a Lines<'a>,
}

impl Scan {
    /// Adds the kernels among `tokens`, which others than those that are there already are `left_out`.
    fn add(&mut self, tokens: &[Token<'_>], room: &mut Room, place: &Place<'_>, left_out: bool) {
        let there: HashSet<Position> = self.kernels.iter().map(|kernel| kernel.at).collect();
        let mut scanner = Scanner::new(tokens);
        while let Some(found) = scanner.next_kernel() {
            let position = |token: &Token<'_>| place.lines.position(token.offset);
            let at = position(found.at);
            if there.contains(&at) {
                continue;
            }
            let Some(name) = scanner.name(&found).filter(|_| room.take(&found)) else {
                self.left_out.get_or_insert(at);
                continue;
            };
            self.kernels.push(Signature {
                name,
                template: found.template.is_some(),
                template_parameters: found.template.map(names).unwrap_or_default(),
                defined: found.defined,
                left_out,
                parameters: parameters(found.parameters, &position),
                file: Arc::clone(place.file),
                at,
            });
        }
    }
}

/// How much may still be kept of a scene, whose author may want to fill the memory.
struct Room {
    kernels: usize,
    parameters: usize,
}

impl Room {
    fn beside(known: &[Signature]) -> Self {
        let of_kernel =
            |kernel: &Signature| kernel.parameters.len() + kernel.template_parameters.len();
        let parameters: usize = known.iter().map(of_kernel).sum();
        Self {
            kernels: MOST_KERNELS.saturating_sub(known.len()),
            parameters: MOST_PARAMETERS.saturating_sub(parameters),
        }
    }

    /// Whether there is room for the kernel, which then takes it.
    fn take(&mut self, found: &Found<'_, '_>) -> bool {
        let commas = |tokens: &[Token<'_>]| tokens.iter().filter(|t| t.text == ",").count();
        // At least as many as there are: commas stand between arguments of types, too.
        let parameters = commas(found.parameters) + found.template.map_or(0, commas) + 1;
        let fits = self.kernels > 0 && parameters <= self.parameters;
        if fits {
            self.kernels -= 1;
            self.parameters -= parameters;
        }
        fits
    }
}

impl Signature {
    /// The instance that is launched as `name`, `fill<float, 3>`: its parameters' types say what the names of the
    /// template's parameters mean. What the arguments leave open stays as it is written.
    pub fn instance(&self, name: &str) -> Self {
        let angles = name.find('<').zip(name.rfind('>'));
        let between = angles.and_then(|(open, close)| name.get(open + 1..close)).unwrap_or("");
        let given = tokens(between);
        let given = split(&given).into_iter().map(|(argument, _)| argument);
        // Of two with one name the first counts.
        let meanings = self.template_parameters.iter().map(String::as_str).zip(given).rev();
        let meanings: HashMap<&str, &[Token<'_>]> = meanings.collect();
        let mut left = MOST_BYTES_OF_ARGUMENTS;
        let mut meant = |word: &str| {
            let argument = meanings.get(word).filter(|argument| !argument.is_empty())?;
            left = left.checked_sub(bytes(argument))?;
            Some(*argument)
        };
        let parameters = self.parameters.iter().map(|parameter| {
            let mut words = Vec::new();
            for token in tokens(&parameter.text) {
                match meant(token.text) {
                    Some(argument) => words.extend(argument.iter().map(|token| token.text)),
                    None => words.push(token.text),
                }
            }
            let (text, ctype) = (spell(&words), CType::from_words(&words));
            KernelParameter { text, ctype, ..parameter.clone() }
        });
        Self { parameters: parameters.collect(), ..self.clone() }
    }
}

/// The first [`MOST_TOKENS`] tokens of `text` that are code.
fn tokens(text: &str) -> Vec<Token<'_>> {
    lexer::code(text).take(MOST_TOKENS).collect()
}

/// How much of their text the tokens take.
fn bytes(tokens: &[Token<'_>]) -> usize {
    let first = tokens.first().map_or(0, |token| token.offset);
    tokens.last().map_or(0, |token| token.offset + token.text.len() - first)
}

/// The parameters between the parentheses of a kernel.
fn parameters(
    tokens: &[Token<'_>],
    position: &dyn Fn(&Token<'_>) -> Position,
) -> Vec<KernelParameter> {
    let parts = split(tokens).into_iter().filter(|(part, _)| !part.is_empty());
    let all: Vec<_> = parts
        .map(|(part, default)| KernelParameter {
            default: default.map(text_of),
            ..parameter(part, position)
        })
        .collect();
    match all.as_slice() {
        [only] if only.name.is_empty() && only.text == "void" => Vec::new(),
        _ => all,
    }
}

/// The names of the parameters between the angles of a template.
fn names(tokens: &[Token<'_>]) -> Vec<String> {
    let name = |part: &[Token<'_>]| {
        let words = part.iter().filter(|token| token.kind == Kind::Word).map(|token| token.text);
        // The first one says what it is.
        let last = words.skip(1).last().filter(|word| !CType::is_type_word(word));
        last.unwrap_or_default().to_owned()
    };
    let parts = split(tokens).into_iter().map(|(part, _)| part);
    parts.take_while(|part| part.iter().all(|t| t.text != ".")).map(name).collect()
}

/// A declaration, and its default argument.
type Part<'t, 's> = (&'t [Token<'s>], Option<&'t [Token<'s>]>);

/// The declarations between the commas.
fn split<'t, 's>(tokens: &'t [Token<'s>]) -> Vec<Part<'t, 's>> {
    let mut parts = Vec::new();
    let part = |start: usize, equals: Option<usize>, end: usize| match equals {
        Some(equals) => (&tokens[start..equals], Some(&tokens[equals + 1..end])),
        None => (&tokens[start..end], None),
    };
    let (mut start, mut end, mut depth, mut angles) = (0, None, 0_i32, 0_i32);
    for (at, token) in tokens.iter().enumerate() {
        // Within parentheses and in a default argument `<` is as likely a comparison as a bracket.
        let brackets = depth == 0 && end.is_none();
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            "<" if brackets => angles += 1,
            ">" if brackets => angles -= 1,
            "=" if depth + angles == 0 && end.is_none() => end = Some(at),
            "," if depth + angles == 0 => {
                parts.push(part(start, end.take(), at));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(part(start, end, tokens.len()));
    parts
}

/// What tokens are together, where that is short enough for a number.
fn text_of(tokens: &[Token<'_>]) -> String {
    tokens.iter().take(LONGEST_DEFAULT).map(|token| token.text).collect()
}

fn parameter(tokens: &[Token<'_>], position: &dyn Fn(&Token<'_>) -> Position) -> KernelParameter {
    let tokens: Vec<&Token<'_>> = in_line(without_attributes(tokens));
    let brackets = tokens.iter().position(|t| t.text == "[").unwrap_or(tokens.len());
    let (head, array) = tokens.split_at(brackets);
    let named = head.last().filter(|last| is_name(last, &head[..head.len() - 1]));
    let (name, of) = match named {
        Some(name) => (name.text.to_owned(), &head[..head.len() - 1]),
        None => (String::new(), head),
    };
    let at = named.or(tokens.first()).map_or_else(Position::default, |token| position(token));
    let mut words: Vec<&str> = of.iter().map(|token| token.text).collect();
    if !array.is_empty() {
        words.push("*");
    }
    let (text, ctype) = (spell(&words), CType::from_words(&words));
    KernelParameter { name, text, ctype, default: None, at }
}

/// A pointer to arrays, `float (*rows)[8]`, as the array of arrays that it is as a parameter: `float rows[][8]`.
fn in_line<'t, 's>(mut tokens: Vec<&'t Token<'s>>) -> Vec<&'t Token<'s>> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let open = (0..tokens.len()).find(|at| text(*at) == "(" && text(at + 1) == "*");
    let close = open.and_then(|open| (open..tokens.len()).find(|at| text(*at) == ")"));
    if let (Some(open), Some(close)) = (open, close)
        && text(close + 1) == "["
    {
        // The last word is the name; qualifiers before it are the pointer's own.
        tokens.remove(close);
        tokens.drain(open..(close - 1).max(open + 2));
    }
    tokens
}

/// Whether the last word of a declaration is the parameter's name and not the end of its type.
fn is_name(last: &Token<'_>, before: &[&Token<'_>]) -> bool {
    let qualifier = |text: &str| matches!(text, "const" | "volatile" | "struct" | "typename");
    last.kind == Kind::Word
        && !CType::is_type_word(last.text)
        && before.iter().any(|token| !qualifier(token.text))
        && before.last().is_none_or(|token| token.text != "::")
}

/// The tokens of a declaration without `[[...]]`, `__attribute__((...))` and `alignas(...)`.
fn without_attributes<'t, 's>(tokens: &'t [Token<'s>]) -> Vec<&'t Token<'s>> {
    let brackets = Brackets::new(tokens);
    let mut kept = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let double = token.text == "[" && tokens.get(at + 1).is_some_and(|t| t.text == "[");
        if double || is_attribute(token.text) {
            at = after_attribute(tokens, &brackets, at);
        } else {
            kept.push(token);
            at += 1;
        }
    }
    kept
}

/// The words of a type with blanks as a person sets them.
fn spell(words: &[&str]) -> String {
    let mut text = String::new();
    for word in words {
        let tight = matches!(*word, "::" | "<" | ">" | ",") || text.ends_with("::");
        let after_open = text.ends_with('<') || (text.ends_with('*') && *word == "*");
        if !text.is_empty() && !tight && !after_open {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

#[cfg(test)]
mod tests;
