//! The kernels of a source, found by scanning it: names, and the names and types of their parameters.
//!
//! Enters: a text of CUDA C++, and those that it includes. Leaves: their kernels with their parameters. Must not know:
//! `scene`, `compile`, `cuda::host`.
//!
//! This is no C++ parser: it knows what a `__global__` function looks like, and skips comments and literals. Macros
//! are expanded, and of conditional sections it reads what is compiled, as far as the texts and the compiler's options
//! tell.
//!
//! Whatever the text, this takes time and memory in proportion to its length, and what is kept of it has limits.

mod scanner;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use self::scanner::{Brackets, Found, Scanner, after_attribute};
pub(super) use self::scanner::{is_attribute, with_marks};
use super::{
    CType, Lines, Position,
    conditional::{Turn, alternatives},
    files::{self, SourceFile},
    lexer::{self, Token},
    macros::{Likely, Macros},
};

/// So many kernels are known of a source, those of its includes counted: a large project has some hundreds.
pub(super) const MOST_KERNELS: usize = 10_000;

/// So many parameters of kernels and of their templates are known of a source and its includes, in all kernels
/// together.
pub(super) const MOST_PARAMETERS: usize = 20 * MOST_KERNELS;

/// So many tokens are looked at, which is more than a text of 64 MiB has that a person would write.
const MOST_TOKENS: usize = 1 << 24;

/// The longest name of a kernel in bytes, its namespaces counted.
pub(super) const LONGEST_NAME: usize = 4096;

/// What is said where a limit leaves kernels out.
const LEFT_OUT: &str = "from here on kernels are left out: a source and its includes have at most 10000, \
    200000 parameters in all, and names of at most 4096 bytes";

/// What is said where macros make too much.
const NOT_EXPANDED: &str = "from here on macros are not expanded where kernels are looked for: what a source and its \
    includes use makes at most a million tokens";

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
    /// The same without the inline namespaces, where it lies in such: it may be called so, too.
    pub outer_name: Option<String>,
    /// Whether it is a template, launched as `name<...>`.
    pub template: bool,
    /// The arguments that a specialisation of a template is for, without blanks: `<4,float>`.
    pub specialised: Option<String>,
    /// The names of its template's parameters, in order; empty for one without a name, and from a pack on.
    pub template_parameters: Vec<String>,
    /// What each of these is where no argument says so, as written; `None` of one that has no such type or number.
    pub template_defaults: Vec<Option<String>>,
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
    /// Its name in the compiled module, where the compiler was asked which of several of its name there are.
    pub lowered: Option<String>,
}

impl Signature {
    /// Whether it is called `name`.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.outer_name.as_deref() == Some(name)
    }

    /// Whether the other one is the same, but for how likely it is compiled.
    fn is_as(&self, other: &Self) -> bool {
        let left_out = other.left_out;
        *other == Self { left_out, ..self.clone() }
    }
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
    let file = SourceFile { name: file, text, includes: BTreeMap::new() };
    scan_files(&mut Macros::default(), &[file]).kernels
}

/// What is found in a source and its includes.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// The kernels, file by file, in the order of each text.
    pub(crate) kernels: Vec<Signature>,
    /// What limits leave out: the file, where it begins, and a sentence.
    pub(crate) remarks: Vec<(Arc<str>, Position, &'static str)>,
}

/// Whether this is what [`Scan::remarks`] says.
#[cfg(feature = "gl")]
pub(crate) fn is_remark(text: &str) -> bool {
    matches!(text, LEFT_OUT | NOT_EXPANDED)
}

/// The kernels that the first of `files` declares, and those that it includes.
pub(crate) fn scan_files(macros: &mut Macros, files: &[SourceFile<'_>]) -> Scan {
    let found = files::read(files, macros, MOST_TOKENS);
    let (mut scan, mut room) = (Scan::default(), Room::default());
    // Where kernels are, and which place in the list is theirs.
    let mut places = HashMap::new();
    for code in found.read {
        let SourceFile { name, text, .. } = &files[code.file];
        let place = Place { file: &Arc::from(*name), lines: &Lines::new(text), turns: &code.turns };
        let mut of_file = Kernels::default();
        of_file.add(code.likely.tokens(&found.texts), &mut room, &place, false);
        if let Some(all) = code.all {
            of_file.add(all.tokens(&found.texts), &mut room, &place, true);
            of_file.kernels.sort_by_key(|kernel| kernel.at);
        }
        let ends_at = code.ends_at.map(|offset| place.lines.position(offset));
        let mut remark = |at: Option<Position>, text| {
            scan.remarks.extend(at.map(|at| (Arc::clone(place.file), at, text)));
        };
        remark(of_file.left_out.or(ends_at), LEFT_OUT);
        let not_expanded = found.not_expanded.filter(|(file, _)| *file == code.file);
        remark(not_expanded.map(|(_, offset)| place.lines.position(offset)), NOT_EXPANDED);
        for kernel in of_file.kernels {
            let place = (code.file, kernel.at, kernel.name.clone());
            match places.get(&place).map(|index: &usize| &mut scan.kernels[*index]) {
                // The file was read twice.
                Some(known) if known.is_as(&kernel) => known.left_out &= kernel.left_out,
                Some(_) | None => {
                    places.insert(place, scan.kernels.len());
                    scan.kernels.push(kernel);
                }
            }
        }
    }
    scan
}

/// Which text is scanned.
struct Place<'a> {
    file: &'a Arc<str>,
    lines: &'a Lines<'a>,
    /// The directives of its conditional sections.
    turns: &'a [Turn],
}

/// The kernels of a file.
#[derive(Default)]
struct Kernels {
    kernels: Vec<Signature>,
    /// Where the first one is that is left out because of a limit.
    left_out: Option<Position>,
}

impl Kernels {
    /// Adds the kernels among `tokens`, which others than those that are there already are `left_out`.
    fn add(&mut self, tokens: Vec<Token<'_>>, room: &mut Room, place: &Place<'_>, left_out: bool) {
        // A macro may make several in one place.
        let there: HashSet<(Position, String)> =
            self.kernels.iter().map(|kernel| (kernel.at, kernel.name.clone())).collect();
        let tokens = with_marks(tokens);
        let mut scanner = Scanner::new(&tokens);
        while let Some(found) = scanner.next_kernel() {
            let position = |token: &Token<'_>| place.lines.position(token.offset);
            let at = position(found.at);
            let named = scanner.name(&found).map(|name| (at, name));
            if named.as_ref().is_some_and(|named| there.contains(named)) {
                continue;
            }
            let least = if left_out { Likely::Hardly } else { Likely::Open };
            let all = alternatives(found.parameters, &found.span, place.turns, least);
            for tokens in all {
                let Some((_, name)) = named.clone().filter(|_| room.take(&found)) else {
                    self.left_out.get_or_insert(at);
                    break;
                };
                let (template_parameters, template_defaults) =
                    found.template.map(template_parameters).unwrap_or_default();
                self.kernels.push(Signature {
                    name,
                    outer_name: scanner.outer_name(&found),
                    template: found.template.is_some(),
                    specialised: specialised(found.specialised),
                    template_parameters,
                    template_defaults,
                    defined: found.defined,
                    left_out,
                    parameters: parameters(&tokens, &position),
                    file: Arc::clone(place.file),
                    at,
                    lowered: None,
                });
            }
        }
    }
}

/// How much may still be kept of a source, whose author may want to fill the memory.
struct Room {
    kernels: usize,
    parameters: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self { kernels: MOST_KERNELS, parameters: MOST_PARAMETERS }
    }
}

impl Room {
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
    /// Whether it is a template all of whose arguments may be left out: launched as `name<>`.
    pub fn has_defaults(&self) -> bool {
        self.template
            && !self.template_defaults.is_empty()
            && self.template_defaults.iter().all(Option::is_some)
    }

    /// The instance that is launched as `name`, `fill<float, 3>`: its parameters' types say what the names of the
    /// template's parameters mean, by the arguments, else by their defaults. What these leave open stays as it is
    /// written.
    pub fn instance(&self, name: &str) -> Self {
        if !self.template {
            return self.clone();
        }
        let angles = name.find('<').zip(name.rfind('>'));
        let between = angles.and_then(|(open, close)| name.get(open + 1..close)).unwrap_or("");
        let given = tokens(between);
        let given =
            split(&given, true).into_iter().map(|(argument, _)| text_between(between, argument));
        let given: Vec<&str> = given.filter(|argument| !argument.is_empty()).collect();
        let mut meanings = Meanings { known: HashMap::new(), left: MOST_BYTES_OF_ARGUMENTS };
        for (place, parameter) in self.template_parameters.iter().enumerate() {
            let default = self.template_defaults.get(place).and_then(Option::as_deref);
            let meaning = match given.get(place) {
                Some(argument) => Some((*argument).to_owned()),
                None => default.map(|default| meanings.words(default).join(" ")),
            };
            // Of two with one name the first counts.
            if let Some(meaning) = meaning.filter(|_| !parameter.is_empty()) {
                meanings.known.entry(parameter.as_str()).or_insert(meaning);
            }
        }
        let parameters = self.parameters.iter().map(|parameter| {
            let words = meanings.words(&parameter.text);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let (text, ctype) = (spell(&words), CType::from_words(&words));
            KernelParameter { text, ctype, ..parameter.clone() }
        });
        let parameters = parameters.collect();
        Self { parameters, ..self.clone() }
    }
}

/// What the names of a template's parameters mean.
struct Meanings<'a> {
    known: HashMap<&'a str, String>,
    /// So many bytes may still be put in their place.
    left: usize,
}

impl Meanings<'_> {
    /// The words of `text`, with what these names mean in their place.
    fn words(&mut self, text: &str) -> Vec<String> {
        let mut words = Vec::new();
        for token in tokens(text) {
            let meaning = self.known.get(token.text);
            let room = meaning.and_then(|meaning| self.left.checked_sub(meaning.len()));
            match meaning.zip(room) {
                Some((meaning, left)) => {
                    self.left = left;
                    words.extend(tokens(meaning).iter().map(|token| token.text.to_owned()));
                }
                None => words.push(token.text.to_owned()),
            }
        }
        words
    }
}

/// The first [`MOST_TOKENS`] tokens of `text` that are code.
fn tokens(text: &str) -> Vec<Token<'_>> {
    lexer::code(text).take(MOST_TOKENS).collect()
}

/// The part of `text` that these of its tokens take.
fn text_between<'s>(text: &'s str, tokens: &[Token<'_>]) -> &'s str {
    let first = tokens.first().map_or(0, |token| token.offset);
    let end = tokens.last().map_or(0, |token| token.offset + token.text.len());
    text.get(first..end).unwrap_or_default()
}

/// The parameters between the parentheses of a kernel.
fn parameters(
    tokens: &[Token<'_>],
    position: &dyn Fn(&Token<'_>) -> Position,
) -> Vec<KernelParameter> {
    let parts = split(tokens, false).into_iter().filter(|(part, _)| !part.is_empty());
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

/// The arguments of a specialisation; `None` where there are none.
fn specialised(tokens: &[Token<'_>]) -> Option<String> {
    let text: String = tokens.iter().map(|token| token.text.trim()).collect();
    Some(text).filter(|text| !text.is_empty())
}

/// The names of the parameters between the angles of a template, and their defaults.
fn template_parameters(tokens: &[Token<'_>]) -> (Vec<String>, Vec<Option<String>>) {
    let name = |part: &[Token<'_>]| {
        let words = part.iter().filter(|token| token.is_word()).map(|token| token.text);
        // The first one says what it is.
        let last = words.skip(1).last().filter(|word| !CType::is_type_word(word));
        last.unwrap_or_default().to_owned()
    };
    let default = |tokens: &[Token<'_>]| {
        let words: Vec<&str> = tokens.iter().map(|token| token.text).collect();
        (words.len() <= LONGEST_DEFAULT).then(|| spell(&words))
    };
    let parts = split(tokens, true).into_iter();
    let parts = parts.take_while(|(part, _)| part.iter().all(|t| t.text != "."));
    parts.map(|(part, given)| (name(part), given.and_then(default))).unzip()
}

/// A declaration, and its default argument.
type Part<'t, 's> = (&'t [Token<'s>], Option<&'t [Token<'s>]>);

/// The declarations between the commas. Of templates, `<` is a bracket in a default argument, too.
fn split<'t, 's>(tokens: &'t [Token<'s>], of_template: bool) -> Vec<Part<'t, 's>> {
    let mut parts = Vec::new();
    let part = |start: usize, equals: Option<usize>, end: usize| match equals {
        Some(equals) => (&tokens[start..equals], Some(&tokens[equals + 1..end])),
        None => (&tokens[start..end], None),
    };
    let (mut start, mut end, mut depth, mut angles) = (0, None, 0_i32, 0_i32);
    for (at, token) in tokens.iter().enumerate() {
        // Within parentheses and in a function's default argument `<` is as likely a comparison as a bracket.
        let brackets = depth == 0 && (of_template || end.is_none());
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
    last.is_word()
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
