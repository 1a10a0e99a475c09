//! Calls of libraries that compute on the device.

use super::Reader;
use crate::scene::draft::{
    code::{
        LONGEST,
        libraries::{computes, filled_by},
        parameters::called_with,
    },
    host::{MOST_LAUNCHES, untold::Untold},
};

/// Namespaces in one another, at most so many.
const DEEPEST: usize = 8;

impl Reader<'_, '_> {
    /// Notes `cublasSgemm(...)`, `thrust::sort(...)` and the like, with the name's last word at `at`.
    pub(in crate::scene::draft) fn library_call(&mut self, at: usize) {
        if !matches!(self.text(at + 1), "(" | "<") {
            return;
        }
        let name = self.text(at);
        let (mut path, mut start) = (vec![name], at);
        while start >= 2 && self.before(start) == "::" && self.is_word(start - 2) {
            start -= 2;
            path.insert(0, self.text(start));
            if path.len() > DEEPEST {
                return;
            }
        }
        let is_own = || {
            self.found.functions.named(name).is_some() || self.found.macros.texts(name).is_some()
        };
        let filled = filled_by(name);
        if (filled.is_none() && !computes(&path)) || path.len() == 1 && is_own() {
            return;
        }
        let Some((_, open)) = called_with(&self.found.code, at + 1) else { return };
        let Some(after) = self.brackets.after(open) else { return };
        let arguments = self.list(open);
        if let Some(filled) = filled {
            if let Some(target) = arguments.get(filled) {
                self.fill(target);
            }
            return;
        }
        // What another one is given is a part of that.
        let around = self.found.untold.last().is_some_and(|last| last.call.contains(&at));
        if !around && after - start < LONGEST && self.found.untold.len() < MOST_LAUNCHES {
            self.found.untold.push(Untold { call: start..after, given: Some(arguments) });
        }
    }
}
