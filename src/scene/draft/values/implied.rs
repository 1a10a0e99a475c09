//! Functions that C++ calls by itself: constructors where an object is made, destructors where it ends.

use std::collections::{BTreeMap, BTreeSet};

use super::overloads::{Choice, Named};
use crate::{
    cuda::{brackets::Brackets, lexer::Tokens},
    scene::draft::{
        code::{
            readers::THREADS,
            regions::Kind,
            variables::{Id, Variable},
        },
        host::{
            Host,
            done::{Act, Done},
            place::{Call, Place},
        },
    },
};

/// A function of the file that is done where nothing names it, and where that is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::scene::draft) enum Implied<'s> {
    Constructor(&'s str),
    Destructor(&'s str),
    /// What stands in no function that is read, as an operator.
    Operator,
    /// What a lambda does that is not called where it stands.
    Lambda,
}

impl<'s> Host<'s> {
    /// Adds the calls of constructors, and of destructors in the reverse order, of the variables of functions that
    /// structures of the file are.
    pub(super) fn implied_calls(&self, brackets: &Brackets, found: &mut Vec<Call>) {
        let destructors = self.destructors();
        let made: Vec<(Id, &'s str)> = self.objects(&destructors).collect();
        for (id, of) in &made {
            let variable = self.variables.get(*id);
            let at = variable.at;
            let arguments = match self.text_at(at + 1) {
                ";" | "," => Vec::new(),
                "(" | "{" => match brackets.after(at + 1) {
                    Some(after) if after > at + 3 => self.parts(at + 2..after - 1),
                    Some(_) => Vec::new(),
                    None => continue,
                },
                _ => continue,
            };
            let named = Named { name: of, path: Vec::new(), receiver: None, is_instance: false };
            let choice = self.chosen(&named, &arguments, &Place::of(at));
            if let Some(Choice::Here(function)) = choice {
                let (template, loops, caller) = (Vec::new(), 0, None);
                found.push(Call { function, arguments, template, at, loops, caller });
            }
        }
        for (id, of) in made.iter().rev() {
            let variable = self.variables.get(*id);
            if let Some(function) = destructors.get(of) {
                let (arguments, template) = (Vec::new(), Vec::new());
                let (function, at, loops, caller) = (*function, self.end_of(variable), 0, None);
                found.push(Call { function, arguments, template, at, loops, caller });
            }
        }
    }

    /// The destructors by the names of their structures.
    fn destructors(&self) -> BTreeMap<&'s str, usize> {
        let named = self.regions.iter().filter_map(|(place, region)| match region.kind {
            Kind::Function { name, .. } if name > 0 && self.text_at(name - 1) == "~" => {
                Some((self.text_at(name), place))
            }
            _ => None,
        });
        named.collect()
    }

    /// The variables of functions that have a constructor or a destructor of the file, with its name.
    fn objects(
        &self,
        destructors: &BTreeMap<&'s str, usize>,
    ) -> impl Iterator<Item = (Id, &'s str)> {
        self.variables.ids().filter_map(move |id| {
            let variable = self.variables.get(id);
            let declared = &variable.declared;
            let is_own = variable.parameter.is_none()
                && !declared.is_indirect
                && !declared.words.contains(&"static")
                && self.text_at(variable.at) == variable.name
                && self.regions.function(variable.at).is_some();
            let has = |word: &&&'s str| {
                destructors.contains_key(**word)
                    || self.candidates.named(word).iter().any(|own| own.path.last() == Some(*word))
            };
            let of = declared.words.iter().filter(|_| is_own).find(has)?;
            Some((id, *of))
        })
    }

    /// Where a variable ends: at the end of its block, or at the `return` before that.
    fn end_of(&self, variable: &Variable<'s>) -> usize {
        let end = variable.scope.end.min(self.code.len()).saturating_sub(1);
        let first = self.jumps.partition_point(|jump| *jump < variable.at);
        let inside = self.jumps[first..].iter().take_while(|jump| **jump < end);
        let last = inside.last().copied().filter(|jump| self.text_at(*jump) == "return");
        let is_last = |jump: &usize| {
            let behind = (*jump..end).find(|at| self.text_at(*at) == ";");
            behind == end.checked_sub(1) && self.regions.scope(*jump) == variable.scope
        };
        last.filter(is_last).unwrap_or(end)
    }

    /// Whether a lambda is called once, where it stands, or given to what does so, with nothing else that is done on
    /// the device before that.
    fn is_done_there(&self, lambda: usize) -> bool {
        let Some(region) = self.regions.get(lambda) else { return false };
        let Kind::Lambda { captures, .. } = &region.kind else { return false };
        let end = region.span.end;
        if self.text_at(end) == "(" {
            return true;
        }
        let before = |by: usize| captures.checked_sub(by).map_or("", |at| self.text_at(at));
        if before(1) != "=" {
            // In a thread of its own; what else it is given to is said where that is called.
            let name = captures.checked_sub(2).filter(|_| before(1) == "(");
            let word = |at: usize| self.text_at(at);
            let is_thread = |word: &str| THREADS.contains(&word);
            return name.is_some_and(|name| {
                let declared = self
                    .visible(word(name), name + 1)
                    .filter(|id| self.variables.get(*id).at == name);
                is_thread(word(name))
                    || declared.is_some_and(|id| {
                        self.variables.get(id).declared.words.iter().any(|word| is_thread(word))
                    })
                    || self.candidates.named(word(name)).is_empty()
            });
        }
        let name = before(2);
        let scope = self.regions.scope(*captures);
        let mentions: Vec<usize> =
            (end..scope.end.min(self.code.len())).filter(|at| self.text_at(*at) == name).collect();
        let [call] = mentions.as_slice() else { return false };
        let is_between = |done: &Done| self.is_on_device(done) && (end..*call).contains(&done.at);
        self.text_at(call + 1) == "("
            && self.regions.scope(*call) == scope
            && !self.done.iter().any(is_between)
    }

    /// The functions of which something is done on the device at another place than it is here: what nothing calls that
    /// is read, and destructors of what is no variable of a function.
    pub(in crate::scene::draft) fn misplaced(&self) -> BTreeSet<Implied<'s>> {
        let destructors = self.destructors();
        let mut acting = BTreeSet::new();
        let mut found = BTreeSet::new();
        for done in self.done.iter().filter(|done| self.is_on_device(done)) {
            let place = self.place_of(done);
            let levels: Vec<usize> = place.levels().map(|level| level.at).collect();
            let functions = levels.iter().filter_map(|at| self.regions.function(*at));
            acting.extend(functions);
            let mut lambdas = levels.iter().filter_map(|at| self.regions.lambda(*at));
            if lambdas.any(|lambda| !self.is_done_there(lambda)) {
                found.insert(Implied::Lambda);
            }
            let Some(root) = levels.last() else { continue };
            let Some(function) = self.regions.function(*root) else {
                let is_within = self.regions.around(*root).next().is_some();
                found.extend(is_within.then_some(Implied::Operator));
                continue;
            };
            let Some(Kind::Function { name, .. }) = self.regions.get(function).map(|of| &of.kind)
            else {
                continue;
            };
            let text = self.text_at(*name);
            let path = self.candidates.path_of(Some(function), *name);
            if *name > 0 && self.text_at(name - 1) == "~" {
                found.insert(Implied::Destructor(text));
            } else if path.last() == Some(&text) {
                found.insert(Implied::Constructor(text));
            }
        }
        let ends: Vec<&'s str> = destructors
            .iter()
            .filter(|(_, function)| acting.contains(function))
            .map(|(name, _)| *name)
            .collect();
        let variables: BTreeSet<usize> =
            self.objects(&destructors).map(|(id, _)| self.variables.get(id).at).collect();
        for (at, token) in
            self.code.iter().enumerate().filter(|(_, token)| ends.contains(&token.text))
        {
            let before = self.code.text_before(at);
            let is_own = self.candidates.path_at(at).contains(&token.text);
            let is_head = matches!(before, "struct" | "class" | "~" | "::")
                || matches!(self.text_at(at + 1), "::" | "&" | "*");
            if !is_own && !is_head && !variables.contains(&(at + 1)) {
                found.insert(Implied::Destructor(token.text));
            }
        }
        found
    }

    /// Whether something is done that a pass or a remark stands for.
    fn is_on_device(&self, done: &Done) -> bool {
        match done.act {
            Act::Launch(_) | Act::Transfer(_) | Act::Untold(_) => true,
            Act::Swap(_) => self.repeated.contains(&done.at),
            Act::Allocation(_) | Act::Fill(_) | Act::Write(_) | Act::Symbol(_) => false,
        }
    }
}
