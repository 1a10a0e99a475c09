//! What a variable is set to at a place, as far as its blocks, branches and loops say.

use std::rc::Rc;

use super::loops::MOST_LOOPS;
use crate::scene::draft::{
    code::{
        LONGEST, Span,
        regions::{Kind, Region},
        sections::Section,
        variables::{Definition, Id, Value, Variable},
    },
    host::{
        Host,
        done::{Act, Done},
        launch::Launch,
        place::{Call, Place},
    },
};

impl<'s> Host<'s> {
    /// The variable that a name means at a place.
    pub(in crate::scene::draft) fn visible(&self, name: &str, at: usize) -> Option<Id> {
        self.variables.visible(name, at, &|tokens| self.look(tokens))
    }

    /// What a variable was set to last before `at`; it is doubted where that may be something else there.
    pub(in crate::scene::draft) fn set_to(&self, id: Id, at: usize) -> Option<&Definition> {
        let definitions = &self.variables.get(id).definitions;
        let before = definitions.partition_point(|definition| definition.at < at);
        self.last_of(definitions[..before].iter().rev(), definitions.iter(), id, at)
    }

    /// What a field of a variable was set to last before `at`, and whether that was set alone: else it came with all
    /// of the variable. It is doubted where it may be something else there.
    pub(in crate::scene::draft) fn field(
        &self,
        id: Id,
        field: &str,
        at: usize,
    ) -> Option<(&Definition, bool)> {
        let Variable { definitions, fields, .. } = self.variables.get(id);
        self.look(definitions.len() + fields.len())?;
        let is_of_field =
            |set: &Definition| fields.binary_search_by_key(&set.at, |(_, own)| own.at);
        let whole = definitions
            .iter()
            .filter(|set| !matches!(set.value, Value::Part) || is_of_field(set).is_err());
        let own =
            fields.iter().filter(|(name, _)| is_part_of(name, field) || is_part_of(field, name));
        let mut all: Vec<(&Definition, bool)> = whole.map(|set| (set, false)).collect();
        all.extend(own.clone().map(|(_, set)| (set, true)));
        all.sort_by_key(|(set, _)| set.at);
        let before = all.iter().rev().map(|(set, _)| *set).filter(|set| set.at < at);
        let found = self.last_of(before, all.iter().map(|(set, _)| *set), id, at)?;
        let mut same = own.filter(|(_, set)| std::ptr::eq(set, found));
        match same.next() {
            Some((name, _)) if name != field => {
                self.doubt();
                None
            }
            alone => Some((found, alone.is_some())),
        }
    }

    /// What some other variable of this name is set to: the last one before `at`, else the first behind it. This is
    /// never sure.
    pub(in crate::scene::draft) fn namesake(&self, name: &str, at: usize) -> Option<&Definition> {
        self.doubt();
        let all = self.variables.named(name);
        self.look(all.len())?;
        let is_told = |found: &&Definition| matches!(found.value, Value::Expression(_));
        let definitions = || {
            let all = all.iter().flat_map(|id| &self.variables.get(*id).definitions);
            all.filter(is_told).take(LONGEST)
        };
        let before = definitions().filter(|found| found.at < at).max_by_key(|found| found.at);
        before.or_else(|| definitions().find(|found| found.at > at))
    }

    /// Of the definitions `before` a place, from the last one on, the one that holds there; `all` are those that count.
    fn last_of<'d>(
        &self,
        before: impl Iterator<Item = &'d Definition>,
        all: impl Iterator<Item = &'d Definition> + Clone,
        id: Id,
        at: usize,
    ) -> Option<&'d Definition> {
        for found in before {
            self.look(1)?;
            let runs = self.runs_before(found.at, at);
            if runs == Some(false) {
                continue;
            }
            if runs.is_none() {
                self.doubt();
            }
            let is_known = match found.value {
                Value::Unknown | Value::Given(_) | Value::Part => false,
                Value::Expression(_)
                | Value::List(_)
                | Value::Compound(..)
                | Value::Count(_)
                | Value::Behind(..)
                | Value::Swapped(_) => !self.is_step(found.at),
            };
            if !is_known {
                self.doubt();
                continue;
            }
            let is_kept = self.variables.get(id).kept.is_some_and(|kept| kept < at);
            if is_kept
                || self.is_set_by_others(id)
                || self.is_of_earlier_run(id, all.clone(), at)
                || self.is_set_later(all, found.at, at)
                || self.is_default(id, found.at)
            {
                self.doubt();
            }
            return Some(found);
        }
        None
    }

    /// Whether it is what a parameter has where a call gives none.
    pub(in crate::scene::draft) fn is_default(&self, id: Id, set: usize) -> bool {
        let parameter = self.variables.get(id).parameter.as_ref();
        parameter.is_some_and(|(parameters, _)| parameters.contains(&set))
    }

    /// Whether what stands at `set` has been done once `at` is reached behind it; `None` where that is not known.
    pub(in crate::scene::draft) fn runs_before(&self, set: usize, at: usize) -> Option<bool> {
        self.look(self.sections.len())?;
        let is_compiled =
            |section: &Section<'_>| !section.span.contains(&set) || section.span.contains(&at);
        let mut runs = self
            .runs_beside_jumps(set, at)
            .filter(|runs| !runs || self.sections.iter().all(is_compiled));
        if runs == Some(false) {
            return runs;
        }
        for (_, region) in self.regions.around(set) {
            if region.span.contains(&at) {
                break;
            }
            match self.runs(region) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => runs = None,
            }
        }
        runs
    }

    /// Whether what lies in a region is done where that is reached.
    pub(in crate::scene::draft) fn runs(&self, region: &Region) -> Option<bool> {
        match &region.kind {
            Kind::Block => Some(true),
            Kind::Catch if self.detours.is_caught(region.span.start) => None,
            Kind::Catch => Some(false),
            Kind::If { condition, holds } => Some(self.decided(condition)? == *holds),
            Kind::Function { .. }
            | Kind::For { .. }
            | Kind::Lambda { .. }
            | Kind::While { .. }
            | Kind::Do { .. }
            | Kind::Switch { .. } => None,
        }
    }

    /// What a condition surely is.
    pub(in crate::scene::draft) fn decided(&self, condition: &Span) -> Option<bool> {
        if let Some(known) = self.decided.borrow().get(&condition.start) {
            return *known;
        }
        self.decided.borrow_mut().insert(condition.start, None);
        let (number, is_sure) = self.surely(|host| host.number(condition));
        let found = number.map(|number| number.is_true()).filter(|_| is_sure);
        self.decided.borrow_mut().insert(condition.start, found);
        found
    }

    /// Whether it is how a loop's variable goes on.
    fn is_step(&self, set: usize) -> bool {
        self.regions.around(set).next().is_some_and(|(_, region)| match &region.kind {
            Kind::For { header, .. } => {
                let first = self.tokens(header).iter().position(|token| token.text == ";");
                header.contains(&set) && first.is_some_and(|first| set > header.start + first)
            }
            _ => false,
        })
    }

    /// Whether a variable that was set at `set` may have been set elsewhere before `at` is reached, by one of its
    /// `definitions`: at or behind that in a loop around `at`, or in another function.
    pub(in crate::scene::draft) fn is_set_later<'d>(
        &self,
        definitions: impl Iterator<Item = &'d Definition> + Clone,
        set: usize,
        at: usize,
    ) -> bool {
        if self.look(definitions.clone().count()).is_none() {
            return true;
        }
        let repeats = self
            .regions
            .around(at)
            .filter(|(_, region)| region.repeated().is_some() && !region.span.contains(&set));
        let mut back = self.detours.repeated_around(at).filter(|span| !span.contains(&set));
        let next = definitions.clone().map(|definition| definition.at).find(|next| *next >= at);
        let is_again = |span: &Span| next.is_some_and(|next| next < span.end);
        let function = self.regions.function(at);
        let lambda = self.regions.lambda(at);
        // A lambda is done later, and perhaps more than once.
        let is_of_other_lambda = |other: usize| {
            let of = self.regions.lambda(other);
            of.is_some() && of != lambda
        };
        let is_elsewhere = |other: &Definition| {
            let of = self.regions.function(other.at);
            let is_other = of.is_some() && of != function;
            other.at != set && (is_other || is_of_other_lambda(other.at))
        };
        let is_within = lambda.is_some() && lambda != self.regions.lambda(set);
        (is_within && next.is_some())
            || back.any(is_again)
            || repeats.map(|(_, region)| region.rounds()).any(|span| is_again(&span))
            || definitions.clone().any(is_elsewhere)
    }

    /// What a jump leaves, and whether a loop's next round is made none the less: `continue`.
    pub(in crate::scene::draft) fn jumps_in<'h>(
        &'h self,
        body: &'h Span,
    ) -> impl Iterator<Item = (usize, bool)> + 'h {
        let first = self.jumps.partition_point(|jump| *jump < body.start);
        let inside = self.jumps[first..].iter().take_while(|jump| **jump < body.end);
        inside
            .take(LONGEST)
            .filter(|jump| self.leaves(**jump, body))
            .map(|jump| (*jump, self.text_at(*jump) == "continue"))
    }

    /// Whether a jump ends a round of the loop whose body this is, and may be made.
    fn leaves(&self, jump: usize, body: &Span) -> bool {
        let word = self.text_at(jump);
        for (_, region) in self.regions.around(jump) {
            if region.repeated().is_some_and(|repeated| repeated == *body) {
                return true;
            }
            let is_switch = matches!(region.kind, Kind::Switch { .. });
            let ends_here = match word {
                "break" => is_switch || region.repeated().is_some(),
                "continue" => region.repeated().is_some(),
                _ => matches!(region.kind, Kind::Function { .. } | Kind::Lambda { .. }),
            };
            if ends_here || self.runs(region) == Some(false) {
                return false;
            }
        }
        false
    }

    /// The conditions of the branches around `at`, up to the region that `is_last` says.
    pub(in crate::scene::draft) fn branches(
        &self,
        at: usize,
        is_last: &dyn Fn(&Region) -> bool,
    ) -> Vec<(Span, bool)> {
        let around = self.regions.around(at).map(|(_, region)| region);
        let inside = around.take_while(|region| !is_last(region));
        let conditions = inside.filter_map(|region| match &region.kind {
            Kind::If { condition, holds } if self.runs(region) != Some(true) => {
                Some((condition.clone(), *holds))
            }
            Kind::If { .. }
            | Kind::Block
            | Kind::Function { .. }
            | Kind::Lambda { .. }
            | Kind::For { .. }
            | Kind::While { .. }
            | Kind::Do { .. }
            | Kind::Switch { .. }
            | Kind::Catch => None,
        });
        conditions.collect()
    }

    /// Whether the function around `at` sets its parameter anew before that, or in a loop around it.
    pub(in crate::scene::draft) fn is_set_again(&self, id: Id, at: usize) -> bool {
        let definitions = &self.variables.get(id).definitions;
        let sets = |definition: &Definition| {
            !self.is_default(id, definition.at)
                && (definition.at < at || self.is_set_later(definitions.iter(), definition.at, at))
        };
        let is_kept = self.variables.get(id).kept.is_some_and(|kept| kept < at);
        is_kept || self.look(definitions.len()).is_none() || definitions.iter().any(sets)
    }

    /// Where something is done.
    pub(in crate::scene::draft) fn place_of(&self, done: &Done) -> Place<'_, 's> {
        self.place_in(done.at, done.call.as_ref())
    }

    /// The launches, in the order in which they are made.
    pub(in crate::scene::draft) fn launched<'h>(
        &'h self,
    ) -> impl Iterator<Item = (&'h Launch, Place<'h, 's>)> {
        self.done.iter().filter_map(|done| match done.act {
            Act::Launch(launch) => Some((&self.launches[launch], self.place_of(done))),
            Act::Transfer(_) | Act::Swap(_) | Act::Allocation(_) => None,
            Act::Fill(_) | Act::Write(_) | Act::Symbol(_) | Act::Untold(_) => None,
        })
    }

    /// The loops around `at` that are understood, from the outermost, those around the calls that led there among them,
    /// as a place at which expressions stand.
    pub(in crate::scene::draft) fn place_in(
        &self,
        at: usize,
        call: Option<&Rc<Call>>,
    ) -> Place<'_, 's> {
        let mut own: Vec<_> = self
            .regions
            .around(at)
            .filter(|(_, region)| region.repeated().is_some_and(|body| body.contains(&at)))
            .filter_map(|(region, _)| self.loops.get(&region))
            .collect();
        let mut place = Place { call: call.cloned(), ..Place::of(at) };
        let outer = |call: &Rc<Call>| self.place_in(call.at, call.caller.as_ref()).loops;
        place.loops = call.map_or_else(Vec::new, outer);
        own.truncate(MOST_LOOPS - place.loops.len());
        place.loops.extend(own.into_iter().rev());
        place
    }
}

/// Whether `name` is a field, or a field of that: `a.b` is one of `a`.
fn is_part_of(name: &str, field: &str) -> bool {
    name.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
