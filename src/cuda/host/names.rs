//! Which names a declaration gives, and which of them mean something else where it goes.
//!
//! In a namespace or a class a declaration hides what has its name around it, or in a base. A specialisation takes the
//! place of its template.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use super::Scope;
use crate::cuda::lexer::{Token, Tokens};

/// What stands behind a name that a declaration gives.
const BEHIND: [&str; 9] = [";", ",", "[", "=", "{", "}", ")", "(", ":"];

/// The names that the declaration of these tokens gives: of a class or a type, of variables, functions, enumerators.
pub(super) fn of_declaration<'s>(code: &[Token<'s>]) -> Vec<&'s str> {
    let mut names = Names { code, at: 0, depth: 0, found: Vec::new() };
    if let Some(head) = class_head(code) {
        names.at = head.end;
        names.found.extend(of_class(&code[head]));
        names.pass(|token| token == "}");
    }
    while names.at < code.len() {
        names.step();
    }
    names.found
}

/// The head of the class that these tokens define, without its bases; `None` where they declare something else.
fn class_head(code: &[Token<'_>]) -> Option<Range<usize>> {
    let is_key = |token: &Token<'_>| matches!(token.text, "class" | "struct" | "union");
    let start = if code.first().is_some_and(|token| token.text == "template") {
        behind_angles(code, 1)
    } else {
        0
    };
    let head = code.get(start..).unwrap_or_default();
    let key = head.iter().position(is_key)?;
    let ends = |token: &Token<'_>| matches!(token.text, "{" | ":" | ";" | "=");
    let end = head.iter().position(ends).filter(|end| key < *end)?;
    let body = head[end..].iter().position(|token| matches!(token.text, "{" | ";" | "="))?;
    (head[end + body].text == "{").then_some(start + key..start + end)
}

/// The name of a class with this head; `None` where it has none.
pub(super) fn of_class<'s>(head: &[Token<'s>]) -> Option<&'s str> {
    let key = head.iter().position(|token| matches!(token.text, "class" | "struct" | "union"))?;
    let named = head[key + 1..].iter().take_while(|token| !matches!(token.text, ":" | "<"));
    let words = named.filter(|token| token.is_word() && token.text != "final");
    words.last().map(|token| token.text)
}

/// Goes through the declarators of a declaration.
struct Names<'t, 's> {
    code: &'t [Token<'s>],
    at: usize,
    /// How many brackets are open that declarators lie in.
    depth: usize,
    found: Vec<&'s str>,
}

impl Names<'_, '_> {
    /// Takes the token that is here, or the group.
    fn step(&mut self) {
        let token = self.code[self.at];
        let is_enumeration = || self.code[..self.at].iter().any(|token| token.text == "enum");
        match token.text {
            "(" if matches!(self.code.text_at(self.at + 1), "*" | "&" | "(") => self.depth += 1,
            "{" if self.depth == 0 && is_enumeration() => self.depth += 1,
            ")" | "}" => self.depth = self.depth.saturating_sub(1),
            "(" | "[" | "{" => return self.pass_group(),
            "<" => {
                self.at = behind_angles(self.code, self.at);
                return;
            }
            "=" => return self.pass(|token| matches!(token, "," | ";" | "}")),
            ":" => return self.pass(|token| matches!(token, "," | ";" | "{")),
            _ if token.is_word() => {
                let behind = self.code.get(self.at + 1).map_or(";", |next| next.text);
                if BEHIND.contains(&behind) {
                    self.found.push(token.text);
                }
            }
            _ => {}
        }
        self.at += 1;
    }

    /// Goes behind the group that opens here.
    fn pass_group(&mut self) {
        let mut depth = 0_usize;
        while self.at < self.code.len() {
            match self.code.text_at(self.at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    /// Goes on to what `ends`, over all groups before it.
    fn pass(&mut self, ends: impl Fn(&str) -> bool) {
        self.at += 1;
        while self.at < self.code.len() && !ends(self.code.text_at(self.at)) {
            match self.code.text_at(self.at) {
                "(" | "[" | "{" => self.pass_group(),
                _ => self.at += 1,
            }
        }
    }
}

/// A declaration that went, and that hid others of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hidden {
    pub(super) name: String,
    pub(super) by: By,
    /// Where it begins in the text, in bytes.
    pub(crate) at: usize,
}

/// How a declaration hides others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum By {
    /// It stands in the namespace or class of this name.
    Scope(String),
    /// It is a specialisation: for what these words name.
    Specialisation(BTreeSet<String>),
}

impl Hidden {
    /// What a user is to know of it.
    pub(crate) fn told(&self) -> String {
        let name = &self.name;
        match &self.by {
            By::Scope(scope) => format!(
                "this `{name}` is left out, since it is the host's or the device does not have it: within `{scope}` \
                 kernels mean another `{name}`"
            ),
            By::Specialisation(_) => format!(
                "this specialisation of `{name}` is left out, since the device does not have it: kernels have what \
                 `{name}` is without it"
            ),
        }
    }
}

/// Of declarations that went, given by their places and tokens in the text's order, what each of them hid.
pub(super) fn hidden<'t, 's: 't>(
    parts: impl Iterator<Item = (Range<usize>, &'t [Token<'s>])>,
    scopes: &[Scope],
) -> Vec<Hidden> {
    let mut around: Vec<&Scope> = Vec::new();
    let mut scopes = scopes.iter().peekable();
    let mut found = Vec::new();
    for (part, code) in parts {
        while let Some(scope) = scopes.next_if(|scope| scope.part.start < part.start) {
            around.retain(|outer| outer.part.end > scope.part.start);
            around.push(scope);
        }
        around.retain(|scope| scope.part.end >= part.end);
        let at = part.start;
        if let Some((name, words)) = specialised(code) {
            let by = By::Specialisation(words);
            found.push(Hidden { name: name.to_owned(), by, at });
        } else if let Some(scope) = around.last().filter(|scope| !scope.name.is_empty()) {
            // A constructor hides nothing.
            let names = of_declaration(code).into_iter().filter(|name| *name != scope.name);
            let names: BTreeSet<&str> = names.collect();
            found.extend(names.into_iter().map(|name| {
                let by = By::Scope(scope.name.clone());
                Hidden { name: name.to_owned(), by, at }
            }));
        }
    }
    found
}

/// The template that the declaration of these tokens specialises, and the words of its arguments; `None` for another
/// declaration.
fn specialised<'s>(code: &[Token<'s>]) -> Option<(&'s str, BTreeSet<String>)> {
    let (mut at, mut parameters) = (0, BTreeSet::new());
    while code.text_at(at) == "template" && code.text_at(at + 1) == "<" {
        let end = behind_angles(code, at + 1);
        parameters.extend(code[at..end].iter().map(|token| token.text));
        at = end;
    }
    if at == 0 {
        return None;
    }
    let mut found = None;
    while !matches!(code.text_at(at), "" | ":" | "{" | "=" | ";" | "(") {
        if code.text_at(at) != "<" {
            at += 1;
            continue;
        }
        let end = behind_angles(code, at);
        let words = code[at..end].iter().filter(|token| token.is_word());
        let words = words.filter(|token| !parameters.contains(token.text));
        found = Some((code.text_at(at - 1), words.map(|token| token.text.to_owned()).collect()));
        at = end;
    }
    found
}

/// Behind the `>` that closes the `<` at `open`, or at the end.
fn behind_angles(code: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in code.iter().enumerate().skip(open) {
        match token.text {
            "<" => depth += 1,
            ">" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    code.len()
}

/// What of the device's code means something else, now that some declarations went.
#[derive(Default)]
pub(super) struct Mentions<'t> {
    /// By the names that went.
    wanted: BTreeMap<&'t str, Wanted<'t>>,
}

/// The declarations that name what went, in the text's order.
#[derive(Default)]
struct Wanted<'t> {
    /// All of them.
    all: Vec<usize>,
    /// Those that mean the one of a namespace or a class.
    of_scope: BTreeMap<&'t str, Vec<usize>>,
}

impl<'t> Mentions<'t> {
    pub(super) fn of(hidden: impl Iterator<Item = &'t Hidden>) -> Self {
        let mut wanted: BTreeMap<&str, Wanted<'_>> = BTreeMap::new();
        for one in hidden {
            let wanted = wanted.entry(&one.name).or_default();
            match &one.by {
                By::Scope(scope) => _ = wanted.of_scope.entry(scope).or_default(),
                By::Specialisation(_) => {}
            }
        }
        Self { wanted }
    }

    /// Takes the word at `at` of `code` into account, which belongs to the declaration `node`, within these scopes.
    pub(super) fn take(
        &mut self,
        code: &[Token<'_>],
        at: usize,
        node: usize,
        scopes: &BTreeMap<&str, usize>,
    ) {
        let Some(Wanted { all, of_scope }) = self.wanted.get_mut(code[at].text) else { return };
        let before = |back: usize| at.checked_sub(back).map_or("", |at| code[at].text);
        let mut add = |nodes: &mut Vec<usize>| {
            if nodes.last() != Some(&node) {
                nodes.push(node);
            }
        };
        add(all);
        if before(1) == "." || before(1) == ">" && before(2) == "-" {
            // A member of something.
        } else if before(1) == "::" {
            of_scope.get_mut(before(2)).into_iter().for_each(add);
        } else {
            for scope in scopes.keys() {
                of_scope.get_mut(*scope).into_iter().for_each(&mut add);
            }
        }
    }

    /// The declarations that mean what `hidden` hid.
    pub(super) fn nodes(&self, hidden: &Hidden) -> &[usize] {
        let wanted = self.wanted.get(hidden.name.as_str());
        let nodes = wanted.and_then(|wanted| match &hidden.by {
            By::Scope(scope) => wanted.of_scope.get(scope.as_str()),
            By::Specialisation(_) => Some(&wanted.all),
        });
        nodes.map_or(&[], Vec::as_slice)
    }
}
