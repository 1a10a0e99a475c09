//! What host code calls: a function of the file, one that is known to leave memory of the device as it is, or another.

use super::Reader;
use crate::{
    cuda::lexer,
    scene::draft::{
        code::{
            LONGEST,
            interface::{self, Effect},
            libraries,
            parameters::called_with,
            readers,
            variables::{Id, Value},
        },
        host::place::Place,
        values::overloads::Choice,
    },
};

/// Words before parentheses that call nothing, besides the keywords that read what stands there.
const NO_CALLS: [&str; 14] = [
    "catch",
    "alignas",
    "new",
    "asm",
    "__asm__",
    "volatile",
    "operator",
    "void",
    "auto",
    "swap",
    "exchange",
    "__attribute__",
    "__launch_bounds__",
    "__declspec",
];
/// Macros that name others, at most so many behind one another.
const DEEPEST: usize = 8;
/// Names joined by `::`, at most so many.
const MOST_SPACES: usize = 8;

/// What is called.
pub(in crate::scene::draft) enum Callee {
    Known,
    /// What stands at that place is a method of this, where it is one of a variable.
    Unknown(Option<usize>),
    Always,
}

/// Whether a word before parentheses calls nothing.
pub(in crate::scene::draft) fn calls_nothing(word: &str) -> bool {
    readers::is_reading_keyword(word) || NO_CALLS.contains(&word)
}

impl Reader<'_, '_> {
    /// What is called by the name at `name`, whose parentheses or braces open at `open`.
    pub(in crate::scene::draft) fn callee_named(&self, name: usize, open: usize) -> Callee {
        let word = self.text(name);
        let is_arrow = self.is_behind_arrow(name);
        let is_method = self.before(name) == "." || is_arrow;
        if self.is_of_file(name, open, is_method) {
            return Callee::Known;
        }
        if is_method {
            return self.method_called(if is_arrow { name - 2 } else { name - 1 });
        }
        let start = self.start_of_path(name);
        let path: Vec<&str> = (start..=name).step_by(2).map(|at| self.text(at)).collect();
        if path.len() == 1
            && let Some(id) = self.visible(word, open)
        {
            return self.variable_called(id, name, open);
        }
        let known = |is_known| if is_known { Callee::Known } else { Callee::Unknown(None) };
        if self.found.macros.texts(word).is_some() {
            return known(!self.may_call(word, 0));
        }
        if self.unread.contains(&name) {
            return Callee::Unknown(None);
        }
        if readers::THREADS.contains(&word) && self.text(open + 1) == "[" {
            return Callee::Known;
        }
        known(match self.effect_of(&path) {
            Effect::None => true,
            Effect::OnMemory => false,
            Effect::Always => return Callee::Always,
        })
    }

    /// Whether a function that stands in the file is called there, or one of several that do.
    fn is_of_file(&self, name: usize, open: usize, is_method: bool) -> bool {
        let word = self.text(name);
        if self.found.functions.named(word).is_none() {
            return false;
        }
        if !is_method && self.before(name) != "::" && self.found.is_hidden(word, open) {
            return false;
        }
        let named = self.found.named_in_call(name);
        match self.found.chosen(&named, &self.list(open), &Place::of(name)) {
            Some(Choice::Here(_)) => true,
            Some(Choice::Unclear(all)) => !all.is_empty(),
            Some(Choice::Elsewhere) | None => false,
        }
    }

    /// What the function or the type of this path does, which has no body in the file.
    fn effect_of(&self, path: &[&str]) -> Effect {
        let Some((word, spaces)) = path.split_last() else { return Effect::None };
        if let Some(effect) = interface::effect(word) {
            return effect;
        }
        // What a library does on the device is said where it is called.
        let is_of_library = matches!(spaces.first(), Some(&("thrust" | "cub")))
            || libraries::is_of_library(word)
            || libraries::holds_memory(word);
        let is_type = self.takers.is_structure(word)
            || self.found.named_type(&[*word]).is_some()
            || readers::is_of_values(word);
        let is_std = spaces.is_empty() || spaces.first() == Some(&"std");
        let is_known = is_of_library || is_type || is_std && readers::leaves_device(word);
        if is_known { Effect::None } else { Effect::OnMemory }
    }

    /// The method whose name stands behind the `.` or `->` at `sign`.
    fn method_called(&self, sign: usize) -> Callee {
        let receiver = sign.checked_sub(1).filter(|at| self.is_word(*at));
        let is_member =
            receiver.is_some_and(|at| self.before(at) == "." || self.is_behind_arrow(at));
        let Some(receiver) = receiver.filter(|_| !is_member) else {
            return Callee::Unknown(None);
        };
        let Some(id) = self.visible(self.text(receiver), receiver) else {
            return Callee::Unknown(None);
        };
        let words = &self.found.variables.get(id).declared.words;
        let is_known = words.iter().any(|word| {
            readers::is_of_values(word)
                || libraries::holds_memory(word)
                || readers::THREADS.contains(word)
        });
        if is_known { Callee::Known } else { Callee::Unknown(Some(receiver)) }
    }

    /// What a variable is that stands before parentheses or braces: one that is made there, or one that is called.
    fn variable_called(&self, id: Id, name: usize, open: usize) -> Callee {
        let variable = self.found.variables.get(id);
        let words = &variable.declared.words;
        let known = |is_known| if is_known { Callee::Known } else { Callee::Unknown(None) };
        if variable.at == name {
            let is_known = |word: &str| {
                matches!(word, "auto" | "dim3" | "unsigned" | "signed" | "long" | "short" | "char")
                    || self.effect_of(&[word]) == Effect::None
                    || readers::THREADS.contains(&word) && self.text(open + 1) == "["
            };
            return known(variable.declared.is_indirect || words.iter().any(|word| is_known(word)));
        }
        // What a lambda does is read where it stands.
        let is_lambda = variable.definitions.iter().any(|set| match &set.value {
            Value::Expression(span) => self.text(span.start) == "[",
            _ => false,
        });
        known(is_lambda || words.iter().any(|word| self.takers.is_structure(word)))
    }

    /// Whether the text of a macro of the file may call what is not known, or launches something.
    fn may_call(&self, name: &str, depth: usize) -> bool {
        let Some(mut texts) = self.found.macros.texts(name) else { return false };
        texts.any(|text| {
            let tokens: Vec<_> = lexer::code(text).take(LONGEST + 1).collect();
            let calls = |at: usize| {
                let word = tokens[at].text;
                let is_call = tokens.get(at + 1).is_some_and(|next| next.text == "(");
                let is_word = tokens[at].is_word();
                let is_launch = at + 2 < tokens.len()
                    && tokens[at..at + 3].iter().all(|token| token.text == "<");
                if !is_word || !is_call || calls_nothing(word) {
                    return is_launch;
                }
                if self.found.macros.texts(word).is_some() {
                    return depth >= DEEPEST || self.may_call(word, depth + 1);
                }
                self.found.functions.named(word).is_none()
                    && self.effect_of(&[word]) != Effect::None
            };
            tokens.len() > LONGEST || (0..tokens.len()).any(calls)
        })
    }

    /// Where the names begin that `::` joins with the one at `name`.
    pub(in crate::scene::draft) fn start_of_path(&self, name: usize) -> usize {
        let mut start = name;
        for _ in 0..MOST_SPACES {
            if start < 2 || self.before(start) != "::" || !self.is_word(start - 2) {
                break;
            }
            start -= 2;
        }
        start
    }

    /// The call whose name stands at `at`: where its arguments open.
    pub(in crate::scene::draft) fn opens_call(&self, at: usize) -> Option<usize> {
        called_with(&self.found.code, at + 1).map(|(_, open)| open)
    }
}
