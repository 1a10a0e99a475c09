//! Functions of the file that do something with the device and are named otherwise than in a call: what has their
//! address may call them, at another time than is told.

use std::collections::BTreeSet;

use crate::{
    cuda::{brackets::Brackets, lexer::Tokens},
    scene::draft::{
        code::{LONGEST, parameters::called_with, regions::Kind},
        host::Host,
    },
};

impl<'s> Host<'s> {
    /// The names of such functions, where they are known that do something.
    pub(in crate::scene::draft) fn called_indirectly(
        &self,
        brackets: &Brackets,
    ) -> BTreeSet<&'s str> {
        let calls = self.calls_followed(brackets);
        let called: BTreeSet<usize> = calls.iter().map(|call| call.function).collect();
        let followed: BTreeSet<usize> = calls.iter().map(|call| call.at).collect();
        let of_device = self.functions_of_device();
        let mut definitions = BTreeSet::new();
        let mut acting = BTreeSet::new();
        for (place, region) in self.regions.iter() {
            let Kind::Function { name, .. } = region.kind else { continue };
            definitions.insert(name);
            let is_acting = self.acting.range(region.span.clone()).next().is_some();
            let text = self.text_at(name);
            let is_made = self.candidates.path_of(Some(place), name).last() == Some(&text);
            if is_acting && !is_made && !of_device.contains(&place) && text != "main" {
                acting.insert((text, called.contains(&place)));
            }
        }
        let mut found = BTreeSet::new();
        if acting.is_empty() || self.look(self.code.len()).is_none() {
            return found;
        }
        for (at, token) in self.code.iter().enumerate() {
            let is_called = acting.contains(&(token.text, true));
            if !is_called && !acting.contains(&(token.text, false))
                || definitions.contains(&at)
                || followed.contains(&at)
                || called_with(&self.code, at + 1).is_some()
                || self.is_other_name(at)
            {
                continue;
            }
            // What a library calls back is done where it stands, unless the file calls it, too.
            if is_called || !self.is_given_to_library(at) {
                found.insert(token.text);
            }
        }
        found
    }

    /// Whether a name means no function: a variable, a member of something, what a `using` brings, or a macro.
    fn is_other_name(&self, at: usize) -> bool {
        let text = self.text_at(at);
        let before = self.code.text_before(at);
        let is_member = before == "." || before == ">" && self.code.text_before(at - 1) == "-";
        let near = (at.saturating_sub(LONGEST)..at).rev();
        let mut path = near.skip_while(|at| {
            self.text_at(*at) == "::" || self.code.is_word_at(*at) && self.text_at(*at) != "using"
        });
        let is_brought = path.next().is_some_and(|at| self.text_at(at) == "using");
        is_member || is_brought || before != "::" && self.is_hidden(text, at + 1)
    }

    /// Whether what stands at a place is an argument of a function that is none of the file's.
    fn is_given_to_library(&self, at: usize) -> bool {
        let mut depth = 0_usize;
        for open in (at.saturating_sub(LONGEST)..at).rev() {
            match self.text_at(open) {
                ")" | "]" | "}" => depth += 1,
                "(" if depth == 0 => {
                    let name = open.checked_sub(1).filter(|name| self.code.is_word_at(*name));
                    return name.is_some_and(|name| {
                        let text = self.text_at(name);
                        self.candidates.named(text).is_empty() && !self.is_hidden(text, name)
                    });
                }
                "{" | "[" if depth == 0 => return false,
                "(" | "[" | "{" => depth -= 1,
                ";" => return false,
                _ => {}
            }
        }
        false
    }
}
