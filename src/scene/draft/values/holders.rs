//! Which variable has a pointer, where calls give functions copies of it or let them set it: pointers that change
//! places do so in the variables that have them alone.

use std::{collections::BTreeSet, rc::Rc};

use super::trace::DEEPEST;
use crate::{
    cuda::lexer::Tokens,
    scene::draft::{
        code::{
            Span,
            pointers::without_casts,
            variables::{Id, Value, Variable},
        },
        host::{
            Host,
            done::{Act, Done},
            place::{Call, Place},
        },
    },
};

/// The variable that has a pointer, and where its name stands in the function that it is declared in.
pub(in crate::scene::draft) struct Holder<'h, 's> {
    pub(in crate::scene::draft) id: Id,
    pub(in crate::scene::draft) place: Place<'h, 's>,
    /// The structure that it is a member of, where a method is called of one, and what is around that call.
    object: Option<(Id, Place<'h, 's>)>,
}

impl PartialEq for Holder<'_, '_> {
    /// Each call of a function has variables of its own.
    fn eq(&self, other: &Self) -> bool {
        let in_call = |id: Id, place: &Place<'_, '_>| (id, place.call.as_ref().map(Rc::as_ptr));
        let all = |of: &Self| {
            (in_call(of.id, &of.place), of.object.as_ref().map(|(id, place)| in_call(*id, place)))
        };
        all(self) == all(other)
    }
}

impl<'s> Host<'s> {
    /// The variable that a name means at a place, also by a reference to it or by its address.
    pub(in crate::scene::draft) fn holder<'h>(
        &'h self,
        name: &'s str,
        place: &Place<'h, 's>,
    ) -> Option<Holder<'h, 's>> {
        let (mut name, mut place) = (name, place.clone());
        for _ in 0..DEEPEST {
            let id = self.visible(name, place.at)?;
            match self.argument_named(name, &place) {
                Some((other, outer, true)) => (name, place) = (other, outer),
                Some((_, _, false)) | None => return self.held_by(id, place),
            }
        }
        None
    }

    /// The variable whose pointer a name means at a place, also by what copies of it calls gave on the way, which are
    /// returned, too. Those of `known` are not followed.
    pub(in crate::scene::draft) fn origin<'h>(
        &'h self,
        name: &'s str,
        place: &Place<'h, 's>,
        known: &[Holder<'h, 's>],
    ) -> Option<(Holder<'h, 's>, Vec<Rc<Call>>)> {
        let (mut name, mut place, mut copied) = (name, place.clone(), Vec::new());
        for _ in 0..DEEPEST {
            let id = self.visible(name, place.at)?;
            let own = self.held_by(id, place.clone())?;
            let Some((other, outer, is_reference)) =
                self.argument_named(name, &place).filter(|_| !known.contains(&own))
            else {
                return Some((own, copied));
            };
            copied.extend(place.call.clone().filter(|_| !is_reference));
            (name, place) = (other, outer);
        }
        None
    }

    /// The pointer that memory is allocated for which is put where `name` says at a place: to the variable itself where
    /// that is an address, and to what that points to where it is none.
    pub(in crate::scene::draft) fn receiver<'h>(
        &'h self,
        name: &'s str,
        place: &Place<'h, 's>,
        is_address: bool,
    ) -> (&'s str, Place<'h, 's>) {
        let (mut name, mut place) = (self.own_name(name, place.at), place.clone());
        let mut is_own = is_address;
        for _ in 0..DEEPEST {
            let next = match self.argument_named(name, &place) {
                Some((_, _, false)) if is_own => None,
                Some((other, outer, is_set)) => {
                    is_own |= is_set;
                    Some((other, outer))
                }
                None => self.given_or_returned(name, &place),
            };
            let Some((other, outer)) = next else { break };
            (name, place) = (self.own_name(other, outer.at), outer);
        }
        (name, place)
    }

    /// Whether memory is allocated for a parameter itself before a place, which is not what the call gives any more.
    pub(in crate::scene::draft) fn is_allocated_anew(
        &self,
        name: &'s str,
        place: &Place<'_, 's>,
    ) -> bool {
        if !matches!(self.argument_named(name, place), Some((_, _, false))) {
            return false;
        }
        let Some(id) = self.visible(name, place.at) else { return false };
        let definitions = &self.variables.get(id).definitions;
        let before = definitions.iter().rev().filter(|set| set.at < place.at);
        let mut allocated =
            before.filter(|set| matches!(set.value, Value::Given(None)) && self.allocates(set.at));
        allocated.any(|set| match self.runs_before(set.at, place.at) {
            Some(runs) => runs,
            None => {
                self.doubt();
                true
            }
        })
    }

    /// A variable as it is meant at a place; `None` where it is a member of what is not known there.
    fn held_by<'h>(&'h self, id: Id, place: Place<'h, 's>) -> Option<Holder<'h, 's>> {
        let variable = self.variables.get(id);
        let is_member = self.regions.function(variable.at).is_none()
            && self.structure_with(&variable.scope).is_some();
        let method = |level: Place<'h, 's>| {
            let call = level.call.as_ref()?;
            let by = match self.code.text_before(call.at) {
                "." => 2,
                ">" => 3,
                _ => return None,
            };
            let object = call.at.checked_sub(by)?;
            (self.text_at(object) != "this").then(|| Some((object, level.outer()?)))?
        };
        let object = match place.levels().find_map(method).filter(|_| is_member) {
            Some((at, around)) => {
                let is_part = matches!(self.code.text_before(at), "." | ">" | "::");
                let object = self.visible(self.text_at(at), at).filter(|_| !is_part)?;
                Some((object, self.framed(object, around)))
            }
            None => None,
        };
        Some(Holder { id, place: self.framed(id, place), object })
    }

    /// A variable that is in no function, or that outlives it, is the same in all calls.
    fn framed<'h>(&self, id: Id, place: Place<'h, 's>) -> Place<'h, 's> {
        if self.is_local(self.variables.get(id)) { place } else { Place { call: None, ..place } }
    }

    /// Whether each call of a function has a variable of its own.
    fn is_local(&self, variable: &Variable<'_>) -> bool {
        self.regions.function(variable.at).is_some() && !variable.declared.words.contains(&"static")
    }

    /// What a call gives the parameter that a name is at a place, by its name there, and whether the function may set
    /// that.
    fn argument_named<'h>(
        &'h self,
        name: &'s str,
        place: &Place<'h, 's>,
    ) -> Option<(&'s str, Place<'h, 's>, bool)> {
        let (span, outer) = self.argument_of(name, place)?;
        let other = self.member(name, self.base(&span)?, outer.at)?;
        let structure = name.split_once('.').map(|(structure, _)| structure);
        let declared =
            &self.variables.get(self.visible(structure.unwrap_or(name), place.at)?).declared;
        let is_address = match self.tokens(&without_casts(&self.code, span)) {
            [and, _] => and.text == "&",
            _ => false,
        };
        let is_set = match structure {
            Some(_) => declared.is_reference || declared.is_indirect,
            None => declared.is_reference || is_address,
        };
        Some((other, outer, is_set))
    }

    /// The exchanges of pointers that are made more than once while the variables live that have them, by where they
    /// stand.
    pub(in crate::scene::draft) fn repeated_swaps(&self) -> BTreeSet<usize> {
        let (mut once, mut repeated) = (Vec::new(), BTreeSet::new());
        for done in &self.done {
            let Act::Swap(swap) = done.act else { continue };
            let holders = self.holders_of(swap, done);
            let place = self.place_of(done);
            let is_again = match &holders {
                Some(holders) => holders.iter().any(|of| self.is_repeated_for(of, done)),
                None => self.round_of(&place).is_some(),
            };
            let is_again =
                is_again || place.levels().any(|level| self.is_in_condition_of_loop(level.at));
            let made = (done.at, holders);
            if is_again || once.contains(&made) {
                repeated.insert(done.at);
            } else {
                once.push(made);
            }
        }
        repeated
    }

    /// The variables that change places in an exchange.
    pub(in crate::scene::draft) fn holders_of<'h>(
        &'h self,
        swap: usize,
        done: &Done,
    ) -> Option<[Holder<'h, 's>; 2]> {
        let (first, second, _) = self.swaps[swap];
        let place = self.place_of(done);
        Some([self.holder(first, &place)?, self.holder(second, &place)?])
    }

    /// Whether something is done in rounds of loops within the lifetime of a variable.
    fn is_repeated_for(&self, of: &Holder<'_, 's>, done: &Done) -> bool {
        let variable = self.variables.get(of.id);
        let is_local = self.is_local(variable);
        let frame = of.place.call.as_ref().map(Rc::as_ptr);
        for level in self.place_of(done).levels() {
            let is_own = is_local && level.call.as_ref().map(Rc::as_ptr) == frame;
            let mut loops = self.loops_around(level.at);
            if loops.any(|span| !is_own || !span.contains(&variable.at)) {
                return true;
            }
            if is_own {
                return false;
            }
        }
        false
    }

    /// Whether a variable, or the structure that it is a member of, begins anew in rounds of a loop.
    pub(in crate::scene::draft) fn is_renewed(&self, of: &Holder<'_, 's>) -> bool {
        let is_renewed = |id: Id, place: &Place<'_, 's>| {
            let variable = self.variables.get(id);
            self.is_local(variable)
                && place.levels().enumerate().any(|(level, place)| {
                    let mut loops = self.loops_around(place.at);
                    loops.any(|span| level > 0 || span.contains(&variable.at))
                })
        };
        is_renewed(of.id, &of.place)
            || of.object.as_ref().is_some_and(|(id, place)| is_renewed(*id, place))
    }

    fn loops_around(&self, at: usize) -> impl Iterator<Item = Span> {
        let around = self
            .regions
            .around(at)
            .filter(move |(_, region)| region.repeated().is_some_and(|body| body.contains(&at)));
        around.map(|(_, region)| region.span.clone())
    }
}
