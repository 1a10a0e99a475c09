//! The declarations of a text: structures, enumerations, other names of types, variables on the device.

use std::cell::Cell;

use super::{
    DEEPEST, Declared, LONGEST_NAME, Scope, Structures, is_identifier, is_mark, joined, split,
};
use crate::{
    cuda::{
        CType,
        brackets::Brackets,
        lexer::{Token, Tokens},
        signature::is_attribute,
    },
    element::{Element, Scalar},
};

/// So often each token is looked at, on average.
const LOOKS_PER_TOKEN: usize = 20;
/// So many tokens stand between the angles of a template's parameters.
const LONGEST_TEMPLATE: usize = 100;

/// Reads declarations.
pub(super) struct Reader<'t, 's> {
    code: &'t [Token<'s>],
    brackets: Brackets,
    /// How many tokens are still looked at. After that the text ends everywhere: one that is written to be looked
    /// through again and again takes no longer than others.
    looks: Cell<usize>,
}

impl<'t, 's> Reader<'t, 's> {
    pub(super) fn new(code: &'t [Token<'s>]) -> Self {
        let looks = Cell::new(LOOKS_PER_TOKEN * (code.len() + 100));
        Self { code, brackets: Brackets::new(code), looks }
    }

    fn text(&self, at: usize) -> &'s str {
        let Some(left) = self.looks.get().checked_sub(1) else { return "" };
        self.looks.set(left);
        self.code.text_at(at)
    }

    fn word(&self, at: usize) -> Option<&'s str> {
        self.code.get(at).filter(|token| token.is_word()).map(|token| token.text)
    }

    /// Behind the bracket at `at`, or the next token.
    fn behind(&self, at: usize) -> usize {
        self.brackets.after(at).unwrap_or(at + 1).max(at + 1)
    }

    /// The next `;` at or behind `at` that stands in no brackets.
    fn semicolon(&self, mut at: usize) -> usize {
        loop {
            match self.text(at) {
                ";" | "" => return at,
                "(" | "[" | "{" => at = self.behind(at),
                _ => at += 1,
            }
        }
    }

    /// Takes what is defined at `at`, if anything, within `around`; the scope that begins there.
    pub(super) fn read(&self, at: usize, around: &str, found: &mut Structures) -> Option<Scope> {
        match self.text(at) {
            "struct" | "class" => return self.structure(at, around, found),
            "namespace" => return self.namespace(at + 1, around),
            word if is_mark(word) => self.variables(at + 1, around, found),
            "enum" => {
                let name = at + 1 + usize::from(matches!(self.text(at + 1), "class" | "struct"));
                let begin = name + usize::from(self.word(name).is_some());
                let of = match self.text(begin) {
                    ":" => CType::from_words(&self.words(begin + 1, self.enumerators(begin))),
                    _ => CType::Value(Element::scalar(Scalar::I32)),
                };
                let mut names: Vec<String> =
                    self.word(name).map(str::to_owned).into_iter().collect();
                if self.text(at.wrapping_sub(1)) == "typedef" {
                    names.extend(self.names_before_semicolon(at));
                }
                found.enumerations.extend(names.into_iter().map(|name| (name, of.clone())));
            }
            "typedef" if !matches!(self.text(at + 1), "struct" | "class" | "enum" | "union") => {
                let end = self.semicolon(at);
                for field in self.declared(at + 1, end) {
                    found.aliases.entry(field.name).or_insert(field.ctype);
                }
            }
            "using" if self.text(at + 2) == "=" => {
                let words = self.words(at + 3, self.semicolon(at));
                let name = self.text(at + 1).to_owned();
                found.aliases.entry(name).or_insert_with(|| CType::from_words(&words));
            }
            _ => {}
        }
        None
    }

    /// Takes the variables that a declaration has behind the mark before `at`, if it is none of a function.
    fn variables(&self, at: usize, around: &str, found: &mut Structures) {
        let is_said_of_variables =
            |word| is_mark(word) || matches!(word, "static" | "extern" | "inline" | "constexpr");
        let at = (at..).find(|at| !is_said_of_variables(self.text(*at))).unwrap_or(at);
        let end = self.member_end(at);
        if !self.is_data(at, end) {
            return;
        }
        for Declared { name, ctype, .. } in self.declared(at, end.saturating_sub(1)) {
            let is_same = |of: &CType| *of == ctype;
            let known = found.variables.entry(joined(around, &name));
            let known = known.and_modify(|known| *known = known.take().filter(is_same));
            known.or_insert_with(|| Some(ctype.clone()));
        }
    }

    /// The namespace whose name begins at `at`: `a::b { ... }`.
    fn namespace(&self, at: usize, around: &str) -> Option<Scope> {
        let open = (at..at + 2 * DEEPEST).find(|at| self.text(*at) == "{")?;
        let words = self.code.get(at..open)?;
        let is_name = words.iter().all(|word| word.is_word() || word.text == "::");
        let name = words.iter().map(|word| word.text).collect::<String>();
        is_name.then(|| Scope { path: joined(around, &name), end: self.behind(open) })
    }

    fn structure(&self, at: usize, around: &str, found: &mut Structures) -> Option<Scope> {
        let (name, open) = self.head(at)?;
        let body = open + 1..self.behind(open).saturating_sub(1);
        let mut fields = Vec::new();
        self.fields(body, self.text(at) == "struct", DEEPEST, &mut fields);
        let mut names: Vec<String> = name.map(str::to_owned).into_iter().collect();
        if self.text(at.wrapping_sub(1)) == "typedef" {
            names.extend(self.names_before_semicolon(self.behind(open)));
        }
        for name in names {
            found.define(name, around, fields.clone(), self.template_parameters(at));
        }
        let path = joined(around, name.unwrap_or_default());
        Some(Scope { path, end: self.behind(open) })
    }

    /// The names between the angles of `template <class T, int n>` before the structure at `at`.
    fn template_parameters(&self, at: usize) -> Vec<String> {
        let Some(close) = at.checked_sub(1).filter(|close| self.text(*close) == ">") else {
            return Vec::new();
        };
        let near = close.saturating_sub(LONGEST_TEMPLATE)..close;
        let Some(open) = near.rev().find(|at| self.text(*at) == "<") else { return Vec::new() };
        let is_name =
            |at: &usize| self.word(*at).is_some() && matches!(self.text(at + 1), "," | ">" | "=");
        let names = (open..close).filter(is_name).map(|at| self.text(at).to_owned());
        match open > 0 && self.text(open - 1) == "template" {
            true => names.collect(),
            false => Vec::new(),
        }
    }

    /// The name of the structure at `at`, where it has one, and where its body begins; `None` for what has none.
    fn head(&self, at: usize) -> Option<(Option<&'s str>, usize)> {
        let (mut name, mut next) = (None, at + 1);
        loop {
            next = match self.text(next) {
                "{" => return Some((name, next)),
                ":" => {
                    let base = (next..).find(|at| matches!(self.text(*at), "{" | ";" | ""))?;
                    return (self.text(base) == "{").then_some((name, base));
                }
                "[" | "(" => self.behind(next),
                word if is_attribute(word) || word.starts_with("__align") => next + 1,
                "final" => next + 1,
                _ => {
                    name = Some(self.word(next).filter(|_| name.is_none())?);
                    next + 1
                }
            }
        }
    }

    /// The names that a `typedef` gives, behind the body that ends before `at`.
    /// Where the enumerators of an enumeration begin, or its declaration ends.
    fn enumerators(&self, at: usize) -> usize {
        let end = self.semicolon(at);
        (at..end).find(|at| self.text(*at) == "{").unwrap_or(end)
    }

    fn names_before_semicolon(&self, at: usize) -> Vec<String> {
        let (mut at, end) = (at, self.semicolon(at));
        let mut names = Vec::new();
        while at < end {
            match self.text(at) {
                "{" => {
                    names.clear();
                    at = self.behind(at);
                    continue;
                }
                "*" => return names,
                _ => names.extend(self.word(at).map(str::to_owned)),
            }
            at += 1;
        }
        names
    }

    /// The words and signs of a type at these places, without attributes.
    fn words(&self, mut at: usize, end: usize) -> Vec<&'s str> {
        let mut words = Vec::new();
        while at < end {
            let word = self.text(at);
            if is_attribute(word) || word.starts_with("__align") {
                at = if self.text(at + 1) == "(" { self.behind(at + 1) } else { at + 1 };
                continue;
            }
            words.push(word);
            at += 1;
        }
        words
    }

    /// The fields that the members at these places are, with those of structures without a name that lie `deep` in one
    /// another as far as anybody may name them.
    fn fields(
        &self,
        body: std::ops::Range<usize>,
        mut is_public: bool,
        deep: usize,
        found: &mut Vec<Declared>,
    ) {
        let mut at = body.start;
        while at < body.end {
            let next = match (self.text(at), self.text(at + 1)) {
                ("public", ":") => {
                    is_public = true;
                    at + 2
                }
                ("private" | "protected", ":") => {
                    is_public = false;
                    at + 2
                }
                (";" | "{" | "(" | "[", _) => self.behind(at),
                ("static" | "using" | "typedef" | "friend" | "template", _) => self.member_end(at),
                // Its fields are those of the structure around it.
                ("struct", "{") if self.text(self.behind(at + 1)) == ";" => {
                    let inner = at + 2..self.behind(at + 1).saturating_sub(1);
                    if is_public && deep > 0 {
                        self.fields(inner, true, deep - 1, found);
                    }
                    self.behind(at + 1)
                }
                ("union" | "enum", _) => self.semicolon(at) + 1,
                ("struct" | "class", _) if self.head(at).is_some() => self.semicolon(at) + 1,
                _ => {
                    let end = self.member_end(at);
                    if self.is_data(at, end) {
                        let declared = self.declared(at, end.saturating_sub(1));
                        found.extend(declared.into_iter().map(|one| Declared { is_public, ..one }));
                    }
                    end
                }
            };
            at = next.max(at + 1);
        }
    }

    /// Behind the member at `at`: its `;`, or the body of a function.
    fn member_end(&self, mut at: usize) -> usize {
        let mut is_function = false;
        loop {
            match self.text(at) {
                "" => return at,
                ";" => return at + 1,
                "{" if is_function => return self.behind(at),
                "(" => {
                    is_function |= !is_attribute(self.text(at.wrapping_sub(1)))
                        && !self.text(at.wrapping_sub(1)).starts_with("__align");
                    at = self.behind(at);
                }
                "[" | "{" => at = self.behind(at),
                _ => at += 1,
            }
        }
    }

    /// Whether the member at these places is no function.
    fn is_data(&self, at: usize, end: usize) -> bool {
        let words = self.words(at, end);
        let initial = words.iter().position(|word| matches!(*word, "=" | "{" | "["));
        let declarator = &words[..initial.unwrap_or(words.len())];
        words.last() == Some(&";")
            && !declarator.contains(&"(")
            && !declarator.contains(&"operator")
    }

    /// The names that a declaration at these places gives, with their types: `float x, y[3], z = 1`.
    fn declared(&self, at: usize, end: usize) -> Vec<Declared> {
        let words = self.words(at, end);
        let mut found = Vec::new();
        let mut of: Option<Vec<&str>> = None;
        for part in split(&words) {
            // A field of so many bits has no address.
            let stops = |word: &&str| matches!(*word, "=" | "{" | "[" | ":");
            let stop = part.iter().position(stops).unwrap_or(part.len());
            let is_bits = part.get(stop) == Some(&":");
            let is_array = part.get(stop) == Some(&"[");
            let Some((name, before)) = part[..stop].split_last() else { continue };
            let stars = before.iter().rev().take_while(|word| **word == "*").count();
            let base = &before[..before.len() - stars];
            let of = of.get_or_insert_with(|| base.to_vec());
            let words: Vec<&str> =
                of.iter().chain(&before[before.len() - stars..]).copied().collect();
            if !is_bits && is_identifier(name) && name.len() <= LONGEST_NAME && !of.is_empty() {
                let (name, ctype) = ((*name).to_owned(), CType::from_words(&words));
                found.push(Declared { name, ctype, is_array, is_public: true });
            }
        }
        found
    }
}
