//! What takes variables by reference, and may set them: functions of the file, its lambdas, constructors and operators.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    cuda::{
        Structures,
        brackets::Brackets,
        lexer::{Token, Tokens},
    },
    scene::draft::{
        code::{
            LONGEST, Span,
            parameters::listed,
            regions::{Kind as Region, Regions},
        },
        expression::cpp_number::Type,
    },
};

/// So many tokens has the sign of an operator that a file defines, at most.
const LONGEST_SIGN: usize = 3;
/// Words before parentheses that are no function's name.
const NO_NAMES: [&str; 12] = [
    "if", "for", "while", "switch", "catch", "return", "sizeof", "else", "new", "throw", "delete",
    "decltype",
];

/// The parameters of one function.
struct Parameters {
    /// Whether each is a reference through which something may be set.
    are_references: Vec<bool>,
    /// Whether any more are taken, and those by reference.
    more: Option<bool>,
}

#[derive(Default)]
pub(in crate::scene::draft) struct Takers<'s> {
    by_name: BTreeMap<&'s str, Vec<Parameters>>,
    structures: BTreeSet<&'s str>,
    /// The structures that have references as members.
    referring: BTreeSet<&'s str>,
    /// The signs of operators that take numbers by reference.
    pub(in crate::scene::draft) operators: BTreeSet<String>,
}

impl<'s> Takers<'s> {
    pub(in crate::scene::draft) fn new(
        code: &[Token<'s>],
        brackets: &Brackets,
        regions: &Regions,
        structures: &'s Structures,
    ) -> Self {
        let finder = Finder { code, brackets };
        let mut found = Self { structures: structures.names().collect(), ..Self::default() };
        for at in 0..code.len() {
            match finder.code.text_at(at) {
                "struct" | "class" => found.structure(&finder, at),
                "operator" => found.operator(&finder, at),
                _ => {}
            }
        }
        for open in (0..code.len()).filter(|at| finder.code.text_at(*at) == "(") {
            if let Some((name, parameters)) = found.function(&finder, open) {
                found.by_name.entry(name).or_default().push(parameters);
            }
        }
        for (_, region) in regions.iter() {
            if let Region::Lambda { captures, parameters, .. } = &region.kind
                && let Some(name) = captures.checked_sub(2)
                && finder.code.text_at(name + 1) == "="
                && let Some(parameters) = found.parameters(&finder, parameters)
            {
                found.by_name.entry(code[name].text).or_default().push(parameters);
            }
        }
        found
    }

    /// Whether something of this name may set what it is given at a place, or at some place where that is not known;
    /// `None` where nothing of the name is in the file.
    pub(in crate::scene::draft) fn sets(&self, name: &str, index: Option<usize>) -> Option<bool> {
        let all = self.by_name.get(name)?;
        let own = |of: &Parameters| match index {
            Some(index) => match of.are_references.get(index) {
                Some(is_reference) => Some(*is_reference),
                None => of.more,
            },
            None => Some(of.more == Some(true) || of.are_references.contains(&true)),
        };
        let found: Vec<bool> = all.iter().filter_map(own).collect();
        (!found.is_empty()).then(|| found.contains(&true))
    }

    pub(in crate::scene::draft) fn is_structure(&self, name: &str) -> bool {
        self.structures.contains(name)
    }

    /// Whether what is made of a variable may set it later.
    pub(in crate::scene::draft) fn refers(&self, name: &str) -> bool {
        self.referring.contains(name)
    }

    /// Whether any structure of the file may set what it is made of.
    pub(in crate::scene::draft) fn any_refers(&self) -> bool {
        let of_constructor = |name: &&str| self.sets(name, None) == Some(true);
        !self.referring.is_empty() || self.structures.iter().any(of_constructor)
    }

    fn structure(&mut self, finder: &Finder<'_, 's>, at: usize) {
        let end = finder.code.len().min(at + LONGEST);
        let Some(open) =
            (at..end).find(|at| matches!(finder.code.text_at(*at), "{" | ";" | "=" | ")"))
        else {
            return;
        };
        let Some(after) = finder.brackets.after(open).filter(|_| finder.code.text_at(open) == "{")
        else {
            return;
        };
        let head = finder.code[at + 1..open].iter();
        let own = head.take_while(|token| !matches!(token.text, ":" | "<"));
        let words = own.filter(|token| token.is_word() && token.text != "final");
        let Some(name) = words.last().map(|token| token.text) else { return };
        self.structures.insert(name);
        let mut place = open + 1;
        while place < after {
            let is_end = matches!(finder.code.text_at(place + 2), ";" | "," | "=" | "{");
            if finder.code.text_at(place) == "&" && finder.code.is_word_at(place + 1) && is_end {
                self.referring.insert(name);
            }
            place = match finder.code.text_at(place) {
                "(" | "[" | "{" => finder.brackets.after(place).unwrap_or(place + 1),
                _ => place + 1,
            };
        }
    }

    /// `operator<<(T &left, int &right)`
    fn operator(&mut self, finder: &Finder<'_, 's>, at: usize) {
        let end = at + 2 + LONGEST_SIGN;
        let Some(open) = (at + 1..end).find(|at| finder.code.text_at(*at) == "(") else { return };
        let Some(after) = finder.brackets.after(open).filter(|_| open > at + 1) else { return };
        let sign: String = (at + 1..open).map(|at| finder.code.text_at(at)).collect();
        let takes = |part: &Span| {
            let mut words = finder.words(part);
            let is_other = |word: &str| word.ends_with("stream") || self.structures.contains(word);
            finder.is_reference(part) && !words.any(is_other)
        };
        if finder.parts(open + 1..after - 1).iter().any(takes) {
            self.operators.insert(sign);
        }
    }

    /// The function that is declared or defined with the parentheses that open at `open`.
    fn function(&self, finder: &Finder<'_, 's>, open: usize) -> Option<(&'s str, Parameters)> {
        let at = open.checked_sub(1).filter(|at| finder.code.is_word_at(*at))?;
        let name = finder.code.text_at(at);
        let after = finder.brackets.after(open).filter(|_| !NO_NAMES.contains(&name))?;
        let before = at.checked_sub(1).map_or("", |at| finder.code.text_at(at));
        let has_type = matches!(before, "*" | "&" | ">" | "::")
            || at.checked_sub(1).is_some_and(|at| finder.code.is_word_at(at))
                && !NO_NAMES.contains(&before);
        let is_declared = match finder.code.text_at(after) {
            "{" => true,
            ";" | ":" | "const" | "noexcept" | "override" | "=" | "-" => {
                has_type || self.structures.contains(name)
            }
            _ => false,
        };
        let found = self.parameters(finder, &(open + 1..after - 1)).filter(|_| is_declared)?;
        Some((name, found))
    }

    /// `None` where these are no parameters.
    fn parameters(&self, finder: &Finder<'_, 's>, span: &Span) -> Option<Parameters> {
        let mut found = Parameters { are_references: Vec::new(), more: None };
        for part in finder.parts(span.clone()) {
            let is_more = part.clone().any(|at| finder.code.text_at(at).starts_with(".."))
                || part
                    .clone()
                    .any(|at| (finder.code.text_at(at), finder.code.text_at(at + 1)) == (".", "."));
            let is_reference = finder.is_reference(&part);
            if is_more {
                found.more = Some(is_reference);
            } else if self.is_parameter(finder, &part) {
                found.are_references.push(is_reference);
            } else {
                return None;
            }
        }
        Some(found)
    }

    /// `type name = value`, or a type alone.
    fn is_parameter(&self, finder: &Finder<'_, 's>, part: &Span) -> bool {
        let own = part.clone().take_while(|at| finder.code.text_at(*at) != "=");
        let tokens: Vec<&Token<'s>> = own.filter_map(|at| finder.code.get(at)).collect();
        let is_sign = |text: &str| {
            matches!(text, "*" | "&" | "::" | "<" | ">" | "," | "[" | "]" | "(" | ")")
                || text.starts_with(|c: char| c.is_ascii_digit())
        };
        let is_type = |word: &str| {
            Type::of_words(&[word]).is_some()
                || self.structures.contains(word)
                || matches!(word, "void" | "auto")
        };
        match tokens.as_slice() {
            [one] => is_type(one.text),
            [first, ..] => {
                let is_named = first.is_word() || first.text == "::";
                let fits = |token: &&Token<'_>| token.is_word() || is_sign(token.text);
                is_named && tokens.iter().all(fits)
            }
            [] => false,
        }
    }
}

struct Finder<'t, 's> {
    code: &'t [Token<'s>],
    brackets: &'t Brackets,
}

impl<'s> Finder<'_, 's> {
    fn words(&self, part: &Span) -> impl Iterator<Item = &'s str> {
        let tokens = self.code.get(part.clone()).unwrap_or_default().iter();
        tokens.filter(|token| token.is_word()).map(|token| token.text)
    }

    /// Whether a parameter is a reference through which something may be set.
    fn is_reference(&self, part: &Span) -> bool {
        let has = |sign: &str| part.clone().any(|at| self.code.text_at(at) == sign);
        has("&") && (has("*") || !has("const"))
    }

    fn parts(&self, span: Span) -> Vec<Span> {
        listed(self.code, self.brackets, span)
    }
}
