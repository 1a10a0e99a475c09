//! The kernels of a source, found by scanning it: names, and the names and types of their parameters.
//!
//! This is no C++ parser: it knows what a `__global__` function looks like, and skips comments, literals and
//! preprocessor lines. Macros are not expanded, and of conditional sections only `#if 0` is left out.

mod token;

use std::{collections::BTreeSet, sync::Arc};

use self::token::{Kind, Token, tokens};
use super::{CType, Position, source::Lines};

/// A `__global__` function.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Its name, with the namespaces that it lies in: `field::advance`.
    pub name: String,
    /// Whether it is a template, launched as `name<...>`.
    pub template: bool,
    /// The names of its template's parameters, in order; empty for one without a name, and from a pack on.
    pub template_parameters: Vec<String>,
    /// Whether its body was seen, not only a declaration.
    pub defined: bool,
    /// Its parameters, in order.
    pub parameters: Vec<KernelParameter>,
    /// The file it was found in, as named.
    pub file: Arc<str>,
    /// Where its name is.
    pub at: Position,
}

/// A parameter of a [`Kernel`].
#[derive(Clone, Debug, PartialEq)]
pub struct KernelParameter {
    /// Its name; empty where it has none.
    pub name: String,
    /// Its type as written, blanks made single.
    pub text: String,
    /// Its type as understood.
    pub ctype: CType,
    /// Where its name is, or its type where it has none.
    pub at: Position,
}

/// The kernels that `text`, called `file`, declares, in its order.
pub fn scan(file: &str, text: &str) -> Vec<Kernel> {
    let tokens = tokens(text);
    let lines = Lines::new(text);
    let mut scanner = Scanner { tokens: &tokens, at: 0, depth: 0, scopes: Vec::new() };
    let mut kernels = Vec::new();
    let file = Arc::from(file);
    while let Some(found) = scanner.next_kernel() {
        let position = |token: &Token<'_>| lines.position(token.offset);
        kernels.push(Kernel {
            name: found.name,
            template: found.template.is_some(),
            template_parameters: found.template.unwrap_or_default(),
            defined: found.defined,
            parameters: parameters(found.parameters, &position),
            file: Arc::clone(&file),
            at: position(found.at),
        });
    }
    kernels
}

impl Kernel {
    /// The instance that is launched as `name`, `fill<float, 3>`: its parameters' types say what the names of the
    /// template's parameters mean. What the arguments leave open stays as it is written.
    pub fn instance(&self, name: &str) -> Self {
        let angles = name.find('<').zip(name.rfind('>'));
        let between = angles.and_then(|(open, close)| name.get(open + 1..close)).unwrap_or("");
        let given = tokens(between);
        let given = split(&given);
        let meant = |word: &str| {
            let number = self.template_parameters.iter().position(|name| name == word)?;
            given.get(number).filter(|argument| !argument.is_empty())
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

/// The identifiers of `text`, keywords too, each once.
pub(super) fn words(text: &str) -> BTreeSet<&str> {
    let words = tokens(text).into_iter().filter(|token| token.kind == Kind::Word);
    words.map(|token| token.text).collect()
}

/// A kernel as tokens.
struct Found<'t, 's> {
    name: String,
    at: &'t Token<'s>,
    /// The names of the parameters, where it is one.
    template: Option<Vec<String>>,
    defined: bool,
    parameters: &'t [Token<'s>],
}

struct Scanner<'t, 's> {
    tokens: &'t [Token<'s>],
    at: usize,
    depth: usize,
    /// Open namespaces and the brace depth outside each.
    scopes: Vec<(usize, String)>,
}

impl<'t, 's> Scanner<'t, 's> {
    fn text(&self, at: usize) -> &'s str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    /// The next kernel from here on.
    fn next_kernel(&mut self) -> Option<Found<'t, 's>> {
        let mut template = None;
        while self.at < self.tokens.len() {
            match self.text(self.at) {
                "template" if self.text(self.at + 1) == "<" => {
                    // `template <>` specialises: such a kernel is launched by name like its template.
                    let open = self.at + 2;
                    self.at = self.after_angles(self.at + 1);
                    let close = self.at.saturating_sub(1).min(self.tokens.len());
                    template = Some(names(self.tokens.get(open..close).unwrap_or_default()));
                    continue;
                }
                "namespace" => {
                    self.enter_namespace();
                    template = None;
                    continue;
                }
                "__global__" => {
                    if let Some(found) = self.kernel(template.take()) {
                        return Some(found);
                    }
                }
                "{" => {
                    self.depth += 1;
                    template = None;
                }
                "}" => {
                    self.leave_brace();
                    template = None;
                }
                ";" => template = None,
                _ => {}
            }
            self.at += 1;
        }
        None
    }

    fn leave_brace(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        while self.scopes.last().is_some_and(|(outside, _)| *outside >= self.depth) {
            self.scopes.pop();
        }
    }

    /// Takes `namespace a::b {`; leaves anything else (aliases, `using namespace`) to be skipped.
    fn enter_namespace(&mut self) {
        self.at += 1;
        let start = self.at;
        while self.tokens.get(self.at).is_some_and(|t| t.kind == Kind::Word || t.text == "::") {
            self.at += 1;
        }
        if self.text(self.at) == "{" {
            let words = self.tokens[start..self.at].iter().filter(|t| t.kind == Kind::Word);
            let names: Vec<_> = words.map(|t| t.text).filter(|text| *text != "inline").collect();
            self.scopes.push((self.depth, names.join("::")));
            self.depth += 1;
            self.at += 1;
        }
    }

    /// The kernel whose `__global__` is here.
    fn kernel(&mut self, template: Option<Vec<String>>) -> Option<Found<'t, 's>> {
        let mut at = self.at + 1;
        loop {
            let token = self.tokens.get(at)?;
            match token.text {
                "[" | "__attribute__" | "__declspec" => at = self.after_attribute(at),
                "<" => at = self.after_angles(at),
                ";" | "{" | "}" | "=" | "(" | ")" => return None,
                text if self.text(at + 1) == "(" => {
                    if token.kind == Kind::Word && !is_attribute(text) {
                        return self.with_parameters(at, template);
                    }
                    at = self.after_group(at + 1);
                }
                _ => at += 1,
            }
        }
    }

    /// The kernel whose name is at `name`.
    fn with_parameters(
        &mut self,
        name: usize,
        template: Option<Vec<String>>,
    ) -> Option<Found<'t, 's>> {
        let after = self.after_group(name + 1);
        if after > self.tokens.len() || self.text(after - 1) != ")" {
            return None;
        }
        let mut body = after;
        while is_attribute(self.text(body)) || self.text(body) == "noexcept" {
            body = if self.text(body + 1) == "(" { self.after_group(body + 1) } else { body + 1 };
        }
        // The body stays to be scanned: half-typed files have kernels inside unclosed bodies.
        self.at = after;
        let scopes = self.scopes.iter().map(|(_, scope)| scope.as_str());
        let path: Vec<&str> = scopes.filter(|s| !s.is_empty()).chain([self.text(name)]).collect();
        Some(Found {
            name: path.join("::"),
            at: &self.tokens[name],
            template,
            defined: self.text(body) == "{",
            parameters: &self.tokens[name + 2..after - 1],
        })
    }

    fn after_attribute(&self, at: usize) -> usize {
        match self.text(at) {
            "[" => self.after_group(at),
            _ if self.text(at + 1) == "(" => self.after_group(at + 1),
            _ => at + 1,
        }
    }

    /// Behind the bracket that closes the one at `open`.
    fn after_group(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for (at, token) in self.tokens.iter().enumerate().skip(open) {
            match token.text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return at + 1;
            }
        }
        self.tokens.len() + 1
    }

    /// Behind the `>` that closes the `<` at `open`; parentheses inside hide comparisons.
    fn after_angles(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        let mut at = open;
        while at < self.tokens.len() {
            match self.text(at) {
                "<" => depth += 1,
                ">" => depth = depth.saturating_sub(1),
                "(" | "[" | "{" => {
                    at = self.after_group(at);
                    continue;
                }
                ";" => return at,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                return at;
            }
        }
        at
    }
}

/// Words before a function's name, or behind its parameters, that take parentheses of their own.
fn is_attribute(word: &str) -> bool {
    matches!(
        word,
        "__launch_bounds__"
            | "__cluster_dims__"
            | "__block_size__"
            | "__maxnreg__"
            | "__attribute__"
            | "__declspec"
            | "alignas"
            | "decltype"
    )
}

/// The parameters between the parentheses of a kernel.
fn parameters(
    tokens: &[Token<'_>],
    position: &dyn Fn(&Token<'_>) -> Position,
) -> Vec<KernelParameter> {
    let parts = split(tokens);
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    let all: Vec<_> = parts.map(|part| parameter(part, position)).collect();
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
    let parts = split(tokens);
    parts.into_iter().take_while(|part| part.iter().all(|t| t.text != ".")).map(name).collect()
}

/// The declarations between the commas, without default arguments.
fn split<'t, 's>(tokens: &'t [Token<'s>]) -> Vec<&'t [Token<'s>]> {
    let mut parts = Vec::new();
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
                parts.push(&tokens[start..end.take().unwrap_or(at)]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&tokens[start..end.unwrap_or(tokens.len())]);
    parts
}

fn parameter(tokens: &[Token<'_>], position: &dyn Fn(&Token<'_>) -> Position) -> KernelParameter {
    let tokens: Vec<&Token<'_>> = without_attributes(tokens);
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
    KernelParameter { name, text: spell(&words), ctype: CType::from_words(&words), at }
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
    let scanner = Scanner { tokens, at: 0, depth: 0, scopes: Vec::new() };
    let mut kept = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let double = token.text == "[" && scanner.text(at + 1) == "[";
        if double || is_attribute(token.text) {
            at = scanner.after_attribute(at);
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
