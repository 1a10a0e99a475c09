//! Calls of what is not known here: of what such a one does with memory of the device it is said that it is missing.
//!
//! A call is known where the reader takes over what it does, where the function stands in the file, and where it is in
//! the lists of what leaves memory as it is (`code/readers.rs`, `code/interface.rs`). All others may do anything.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Reader,
    callees::{Callee, calls_nothing},
    holders::{Handed, Handing, Holder, Passing},
};
use crate::scene::draft::{
    code::{LONGEST, Span, regions::Kind as Region, variables::Id},
    host::{MOST_LAUNCHES, mention::Does, untold::Untold},
};

/// A call that is not known.
struct Suspect<'s> {
    call: Span,
    /// It does something with the device, whatever it is given.
    is_always: bool,
    handing: Handing<'s>,
}

impl<'s> Reader<'_, 's> {
    /// Notes the calls of what is not known that are given memory of the device, and what the host writes to variables
    /// that both sides see. All that is declared is known by now.
    pub(in crate::scene::draft) fn unknown_calls(&mut self) {
        let of_device = self.found.functions_of_device();
        let is_of_host = |of: &Option<usize>| of.is_some_and(|of| !of_device.contains(&of));
        let places = 0..self.found.code.len();
        let places: Vec<usize> =
            places.filter(|at| is_of_host(&self.found.regions.function(*at))).collect();
        let passing = self.passing();
        let suspects: Vec<Suspect<'s>> =
            places.iter().filter_map(|at| self.suspect(*at, &passing)).collect();
        let (holding, giving) = {
            let unknown: Vec<&Handing<'s>> = suspects.iter().map(|own| &own.handing).collect();
            self.holders(&places, &unknown, &passing)
        };
        let holds = |handed: &Handed<'s>| match handed.holder {
            Holder::Variable(id) => holding.contains(&id),
            Holder::Function(name) => giving.contains(name),
        };
        let told: BTreeSet<usize> =
            self.found.untold.iter().map(|untold| untold.call.start).collect();
        let (mut untold, mut is_all) = (Vec::new(), true);
        for Suspect { call, is_always, handing } in suspects {
            let held: Vec<&Handed<'_>> =
                handing.given.iter().filter(|handed| holds(handed)).collect();
            if !is_always && held.is_empty() || told.contains(&call.start) {
                continue;
            }
            // What a function gives has no name.
            let is_named = |handed: &&Handed<'_>| matches!(handed.holder, Holder::Variable(_));
            let spans = held.iter().map(|handed| handed.at..handed.at + 1).collect();
            let given = (!is_always && held.iter().all(is_named)).then_some(spans);
            untold.push(Untold { call, given });
        }
        let written = self.writes_of_both_sides(&is_of_host);
        untold.extend(written.into_iter().map(|call| Untold { call, given: None }));
        for found in untold {
            match self.found.untold.len() < MOST_LAUNCHES {
                true => self.found.untold.push(found),
                false => is_all = false,
            }
        }
        self.found.are_all_launches &= is_all;
        self.found.holding = holding;
    }

    /// The call that begins with the bracket at `open`, where it is one of something that is not known.
    fn suspect(&self, open: usize, passing: &Passing) -> Option<Suspect<'s>> {
        if self.is_of_head(open) {
            return None;
        }
        let (name, callee) = match self.text(open) {
            "(" => self.called(open)?,
            "{" => self.made(open)?,
            _ => return None,
        };
        let (is_always, receiver) = match callee {
            Callee::Known => return None,
            Callee::Unknown(receiver) => (false, receiver),
            Callee::Always => (true, None),
        };
        let after = self.brackets.after(open)?;
        let parts = self.list(open);
        let unread = self.unread.contains(&name);
        let parts = if unread { parts.get(..1).unwrap_or_default() } else { &parts };
        let mut given: Vec<Handed<'s>> =
            parts.iter().flat_map(|part| self.handed(part, passing, false)).collect();
        let addressed = parts.iter().filter(|part| self.text(part.start) == "&");
        let mut takers: Vec<usize> = addressed.map(|part| part.start + 1).collect();
        if let Some(receiver) = receiver {
            takers.push(receiver);
            given.extend(self.handed(&(receiver..receiver + 1), passing, false));
        }
        let takers = takers.into_iter().filter_map(|at| self.visible(self.text(at), at + 1));
        let start = receiver.unwrap_or_else(|| self.start_of_path(name));
        let handing = Handing { given, takers: takers.collect() };
        Some(Suspect { call: start..after, is_always, handing })
    }

    /// Whether it stands in the head of a function: what a constructor makes its fields of.
    fn is_of_head(&self, at: usize) -> bool {
        let function = self.found.regions.function(at);
        let region = function.and_then(|function| self.found.regions.get(function));
        region.is_some_and(|region| match region.kind {
            Region::Function { body, .. } => at < body,
            _ => false,
        })
    }

    /// What is called with the parentheses that open at `open`, and where its name stands.
    fn called(&self, open: usize) -> Option<(usize, Callee)> {
        let before = open.checked_sub(1)?;
        let unknown = |name| Some((name, Callee::Unknown(None)));
        match self.text(before) {
            // `table[i](...)`
            "]" => {
                let name = self.opened(before)?.checked_sub(1)?;
                let is_named = self.is_word(name) && !calls_nothing(self.text(name));
                if is_named { unknown(name) } else { None }
            }
            // `(*function)(...)`, `object.get()(...)`
            ")" => {
                let inner = self.opened(before)?;
                let is_call = inner.checked_sub(1).is_some_and(|at| {
                    self.is_word(at) && !calls_nothing(self.text(at)) || self.text(at) == ">"
                });
                let is_variable =
                    |at: usize| self.is_word(at) && self.visible(self.text(at), at).is_some();
                let is_keyword = inner.checked_sub(1).is_some_and(|at| self.is_word(at));
                let is_pointer = !is_keyword && (inner + 1..before).any(is_variable);
                if is_call || is_pointer { unknown(inner) } else { None }
            }
            _ => {
                let name = self.callee(open).filter(|name| self.is_word(*name))?;
                let is_none = calls_nothing(self.text(name)) || self.is_definition(name);
                (!is_none).then(|| (name, self.callee_named(name, open)))
            }
        }
    }

    /// What is made with the braces that open at `open`: `Type name{...}`, `Type{...}`.
    fn made(&self, open: usize) -> Option<(usize, Callee)> {
        let name = open.checked_sub(1).filter(|name| self.is_word(*name))?;
        let is_declared = self
            .visible(self.text(name), open)
            .is_some_and(|id| self.found.variables.get(id).at == name);
        let start = self.start_of_path(name);
        let is_value = matches!(self.before(start), "=" | "(" | "," | "return");
        let is_none = calls_nothing(self.text(name));
        (!is_none && (is_declared || is_value)).then(|| (name, self.callee_named(name, open)))
    }

    /// The statements of the host that may write to a `__managed__` variable.
    fn writes_of_both_sides(&self, is_of_host: &dyn Fn(&Option<usize>) -> bool) -> Vec<Span> {
        let is_shared =
            |id: &Id| self.found.variables.get(*id).declared.words.contains(&"__managed__");
        let mut places = BTreeSet::new();
        for id in self.found.variables.ids().filter(is_shared) {
            let variable = self.found.variables.get(id);
            let sets = variable.definitions.iter().map(|set| set.at);
            places.extend(sets.filter(|at| *at != variable.at));
        }
        let writes = |does: Does| !matches!(does, Does::Reads | Does::Grows);
        let mentions = self.found.mentions.iter().filter(|own| is_shared(&own.id));
        places.extend(mentions.filter(|own| writes(own.does)).map(|own| own.at));
        places.retain(|at| is_of_host(&self.found.regions.function(*at)));
        let mut statements = BTreeMap::new();
        for at in places {
            let statement = self.statement_around(at);
            let is_launch = statement.clone().any(|at| self.is_launch(at));
            if !is_launch {
                statements.insert(statement.start, statement);
            }
        }
        statements.into_values().collect()
    }

    /// From behind the last semicolon, brace or head of a loop before `at` to the next semicolon.
    fn statement_around(&self, at: usize) -> Span {
        let first = at.saturating_sub(LONGEST);
        let mut start = at;
        while start > first {
            match self.text(start - 1) {
                ";" | "{" | "}" | ":" => break,
                ")" => match self.opened(start - 1) {
                    Some(open) if matches!(self.before(open), "for" | "while" | "if") => break,
                    Some(open) => start = open,
                    None => break,
                },
                _ => start -= 1,
            }
        }
        let end = (at..at + LONGEST).find(|at| matches!(self.text(*at), ";" | "{" | ""));
        start..end.unwrap_or(at + 1)
    }

    /// The lambdas by where their captures begin, with the places behind them.
    fn passing(&self) -> Passing {
        let lambdas = self.found.regions.iter().filter_map(|(_, region)| match region.kind {
            Region::Lambda { captures, .. } => Some((captures, region.span.end)),
            Region::Block
            | Region::Function { .. }
            | Region::For { .. }
            | Region::While { .. }
            | Region::Do { .. }
            | Region::If { .. }
            | Region::Switch { .. }
            | Region::Catch => None,
        });
        lambdas.collect()
    }
}
