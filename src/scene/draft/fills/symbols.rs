//! What host code copies to variables of the device.

use std::collections::BTreeSet;

use super::Elements;
use crate::{
    cuda::lexer::Tokens,
    element::Element,
    scene::draft::{
        code::{LONGEST, Span, pointers::without_casts, regions::Kind, variables::Value},
        expression::cpp_number::Number,
        host::{Host, place::Place, write::Extent},
    },
};

/// Lists in one another that are numbers.
const DEEPEST: usize = 4;
/// Words of a declaration, with the lengths of its axes, that are looked at.
const MOST_WORDS: usize = 40;

impl<'s> Host<'s> {
    /// The numbers of an array of the host that is nothing but a list of them, or those of one variable.
    pub(in crate::scene::draft) fn numbers_at(
        &self,
        from: &Span,
        place: &Place<'_, 's>,
    ) -> Option<Vec<Number>> {
        let inner = without_casts(&self.code, from.clone());
        let (name, is_one) = match self.tokens(&inner) {
            [name] => (name, false),
            [and, name] if and.text == "&" => (name, true),
            _ => return None,
        };
        if is_one && let Some(number) = self.number_at(&(inner.end - 1..inner.end), place) {
            return Some(vec![number]);
        }
        let id = self.visible(name.text, place.at)?;
        let Value::List(parts) = &self.set_to(id, place.at)?.value else { return None };
        // What else may write to it is followed with all that fills memory.
        if self.look(self.mentions.len()).is_none() || self.mentions.iter().any(|own| own.id == id)
        {
            return None;
        }
        let mut numbers = Vec::new();
        self.listed_numbers(parts, 0, &mut numbers)?;
        (!numbers.is_empty()).then_some(numbers)
    }

    /// Those of a list, in the lists within it, too.
    pub(in crate::scene::draft) fn listed_numbers(
        &self,
        parts: &[Span],
        depth: usize,
        found: &mut Vec<Number>,
    ) -> Option<()> {
        for part in parts.iter().filter(|part| !part.is_empty()) {
            let is_list = self.text_at(part.start) == "{" && self.text_at(part.end - 1) == "}";
            if is_list && depth < DEEPEST {
                let inner = self.parts(part.start + 1..part.end - 1);
                self.listed_numbers(&inner, depth + 1, found)?;
            } else {
                found.push(self.number(part).filter(|_| found.len() < LONGEST)?);
            }
        }
        Some(())
    }

    /// Whether a copy to a variable, of so many bytes and perhaps behind others, is one to all of it.
    pub(in crate::scene::draft) fn copies_all(&self, call: &Span, of: &Elements<'_>) -> bool {
        let parts = self.parts(call.start + 2..call.end.saturating_sub(1));
        let (bytes, offset) = match parts.as_slice() {
            [_, _, bytes] => (bytes, None),
            [_, _, bytes, offset, ..] => (bytes, Some(offset)),
            _ => return false,
        };
        offset.is_none_or(|offset| self.word(offset) == Some("0"))
            && self.reaches(&Extent::Bytes(bytes.clone()), None, of)
    }

    /// The functions and macros that may take a variable of the device, by their names; `None` where anything may.
    pub(in crate::scene::draft) fn takers_of_symbol(
        &self,
        name: &'s str,
    ) -> Option<BTreeSet<&'s str>> {
        let mut bodies = Vec::new();
        for (_, region) in self.regions.iter() {
            if let Kind::Function { name, .. } = region.kind {
                bodies.push((name, region.span.clone()));
            }
        }
        let macros: Vec<&'s str> = self.macros.names().collect();
        let mut found = BTreeSet::from([name]);
        loop {
            let before = found.len();
            for (own, span) in &bodies {
                self.look(span.len())?;
                let is_taker =
                    span.clone().any(|at| at != *own && found.contains(self.text_at(at)));
                if is_taker {
                    // Operators are called by no name.
                    if self.code.text_before(*own) == "operator" || !self.code.is_word_at(*own) {
                        return None;
                    }
                    found.insert(self.text_at(*own));
                }
            }
            for own in &macros {
                if self.macros.words(own).any(|word| found.contains(word)) {
                    found.insert(own);
                }
            }
            if found.len() == before {
                break;
            }
        }
        let is_elsewhere = |at: usize| {
            let text = self.text_at(at);
            let is_named = found.contains(text) && self.regions.function(at).is_none();
            is_named && !bodies.iter().any(|(name, _)| *name == at) && !self.is_declared_at(at)
        };
        let is_anywhere =
            |at: usize| self.text_at(at) == "cudaGetSymbolAddress" || is_elsewhere(at);
        (!(0..self.code.len()).any(is_anywhere)).then_some(found)
    }

    /// Whether a variable of the device, or a function, is declared at a place outside of functions.
    fn is_declared_at(&self, at: usize) -> bool {
        let near = (at.saturating_sub(MOST_WORDS)..at).rev();
        let mut near = near.take_while(|at| !matches!(self.text_at(*at), ";" | "{" | "}" | ")"));
        let is_mark = |at: usize| {
            matches!(self.text_at(at), "__constant__" | "__device__" | "__global__" | "extern")
        };
        let before = at.checked_sub(1).filter(|before| self.code.is_word_at(*before));
        let is_typed = before.is_some_and(|before| {
            !matches!(self.text_at(before), "return" | "else" | "do" | "case" | "throw" | "new")
        });
        near.any(is_mark) || is_typed && self.text_at(at + 1) == "("
    }

    /// Whether a variable of the device is one that no kernel can write to.
    pub(in crate::scene::draft) fn is_constant_symbol(&self, name: &str) -> bool {
        let declares = |at: &usize| {
            let near = (at.saturating_sub(MOST_WORDS)..*at).rev();
            let mut near =
                near.take_while(|at| !matches!(self.text_at(*at), ";" | "{" | "}" | ")"));
            self.text_at(*at) == name && near.any(|at| self.text_at(at) == "__constant__")
        };
        (0..self.code.len()).any(|at| declares(&at))
    }

    /// The type of the numbers of `__constant__ float name[4]`, and how many there are.
    pub(in crate::scene::draft) fn type_of_symbol(&self, name: &str) -> Option<(Element, u64)> {
        let start = |at: usize| {
            let near = (at.saturating_sub(MOST_WORDS)..at).rev();
            let mut near =
                near.take_while(|at| !matches!(self.text_at(*at), ";" | "{" | "}" | ")"));
            near.find(|at| matches!(self.text_at(*at), "__constant__" | "__device__"))
        };
        let mut places = (0..self.code.len()).filter(|at| self.text_at(*at) == name);
        let (at, start) = places.find_map(|at| Some((at, start(at)?)))?;
        let mut axes = 1_i64;
        let mut open = at + 1;
        while self.text_at(open) == "[" {
            let close = (open..open + MOST_WORDS).find(|end| self.text_at(*end) == "]")?;
            let (size, is_sure) = self.surely(|host| host.integer(&(open + 1..close), None));
            axes = axes.checked_mul(size.filter(|_| is_sure)?)?;
            open = close + 1;
        }
        // An earlier name of the same declaration is none of its type.
        let behind = &self.code[start + 1..at];
        let words = behind.iter().take_while(|token| token.is_word());
        let words = words.map(|token| token.text);
        let words: Vec<&str> =
            words.filter(|word| !word.starts_with("__") && !is_qualifier(word)).collect();
        let element = self.element_named(&words)?;
        let count = u64::try_from(axes).ok()?;
        (element.lanes == 1).then_some((element, count))
    }

    /// The type that these words name, which may be the file's own.
    fn element_named(&self, words: &[&str]) -> Option<Element> {
        let own = |word: &&str| {
            let mut known = self.structures.elements();
            known.find(|(name, _)| name == word).map(|(_, element)| element)
        };
        let first = words.first()?;
        // Behind the type a name may stand, of which only an earlier one is left.
        let of_all =
            (1..=words.len()).rev().find_map(|end| Element::parse(&words[..end].join(" ")));
        of_all.or_else(|| own(first))
    }
}

fn is_qualifier(word: &str) -> bool {
    matches!(word, "static" | "const" | "volatile" | "extern")
}
