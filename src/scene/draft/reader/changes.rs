//! Changes of variables in host code: all of them are seen here.

use std::collections::BTreeMap;

use super::Reader;
use crate::scene::draft::{
    code::{
        LONGEST, Span,
        detours::Detours,
        operands::{Does, Reach, Target, change_at, is_perhaps, target_of, targets_of_address},
        parameters::called_with,
        readers::{self, Argument},
        regions::Kind,
        variables::{Definition, Value},
    },
    host::Host,
};

/// Functions that exit by one another, at most so deep.
const MOST_EXITS: usize = 4;

impl Reader<'_, '_> {
    /// What an operator at `at` changes, if it is one that assigns: the one place where changes of variables are seen.
    pub(in crate::scene::draft) fn change(&mut self, at: usize) {
        if self.initial.contains(&at) || self.exchanging.contains(&at) {
            return;
        }
        let Some(change) = change_at(&self.found.code, at) else { return };
        let is_seen = |target: &Target| self.visible(self.text(target.name), at).is_some();
        if !change.targets.iter().any(is_seen) {
            return;
        }
        let value = match change.does {
            Does::Sets => self.value(change.value - 1),
            Does::Combines(operator) => Value::Compound(operator, self.expression(change.value)),
            Does::Counts(by) => Value::Count(by),
        };
        // Without arguments the program keeps what it had.
        if self.is_of_command_line(&value) {
            return;
        }
        let is_perhaps = is_perhaps(&self.found.code, at) || self.is_of_loop_condition(at);
        for target in &change.targets {
            let value = if is_perhaps { Value::Unknown } else { value.clone() };
            self.set_target(target, value, at);
        }
    }

    /// Whether it stands in the condition of a `while`, which is looked at before each round and once more.
    fn is_of_loop_condition(&self, at: usize) -> bool {
        self.open
            .iter()
            .any(|(open, _)| self.text(*open) == "(" && *open < at && self.before(*open) == "while")
    }

    /// Notes that a variable, or fields of it, are set at `at`.
    pub(in crate::scene::draft) fn set_target(&mut self, target: &Target, value: Value, at: usize) {
        let Some(id) = self.visible(self.text(target.name), at) else { return };
        let value = if target.reach == Reach::All { value } else { Value::Unknown };
        match (target.path.is_empty(), target.reach) {
            (true, Reach::All | Reach::Perhaps) => {
                self.define_members(id, &value, at);
                self.define(id, value, at);
            }
            (true, Reach::Part) => self.define(id, Value::Part, at),
            (false, _) => {
                let field = (target.path.clone(), Definition { value, at });
                self.found.variables.get_mut(id).fields.push(field);
                self.define(id, Value::Part, at);
            }
        }
    }

    /// `&name` as an argument: whoever takes it may write there.
    pub(in crate::scene::draft) fn address(&mut self, at: usize) {
        let is_cast = || {
            let star = at.checked_sub(2).map_or("", |at| self.text(at));
            self.before(at) == ")" && star == "*"
        };
        let is_given = matches!(self.before(at), "(" | "," | "=" | "{") || is_cast();
        let is_given = is_given && !self.is_of_launch(at);
        if is_given {
            for target in targets_of_address(&self.found.code, at + 1) {
                let is_moved = self.may_point_elsewhere(&target, at);
                self.set_target(&target, Value::Given(None), at);
                if is_moved {
                    self.set_target(&target, Value::Unknown, at);
                }
                self.keep_number(target.name, at);
            }
        }
    }

    /// Whether a pointer that has memory already may point to other memory once its address is given away at `at`.
    fn may_point_elsewhere(&self, target: &Target, at: usize) -> bool {
        let Some(id) = self.visible(self.text(target.name), at) else { return false };
        let variable = self.found.variables.get(id);
        let is_pointer = variable.declared.is_indirect && !variable.declared.is_reference;
        if !is_pointer || !target.path.is_empty() || target.reach != Reach::All {
            return false;
        }
        let has_memory = variable.definitions.iter().any(|set| match &set.value {
            Value::Expression(span) => !matches!(self.text(span.start), "NULL" | "nullptr" | "0"),
            Value::Swapped(_) | Value::Given(_) | Value::Unknown => true,
            Value::List(_) | Value::Compound(..) | Value::Count(_) => false,
            Value::Behind(..) | Value::Part => false,
        });
        let open = self.open.last().map(|(open, _)| *open).filter(|_| self.before(at) != "=");
        let is_read = open.is_some_and(|open| match self.callee(open) {
            Some(name) => {
                let function = self.text(name);
                let index = self.index_in(open, at);
                // What exchanges two is seen where it stands.
                matches!(function, "swap" | "exchange")
                    || function.starts_with("cuda")
                    || readers::argument(function, index) == Argument::Reads
            }
            // A list of what a kernel is given.
            None => self.text(open) == "{",
        });
        has_memory && !is_read
    }

    /// What a function of the file is given that takes it by reference, and what a macro changes.
    pub(in crate::scene::draft) fn use_of(&mut self, at: usize) {
        let name = self.text(at);
        if let Some(parameters) = self.by_reference.get(name).cloned()
            && !self.is_definition(at)
            && !self.is_exchange(at)
            && let Some((_, open)) = called_with(&self.found.code, at + 1)
        {
            let parts = self.list(open);
            for (index, parameter) in parameters {
                let target = parts.get(index).and_then(|part| target_of(&self.found.code, part));
                if let Some(target) = target {
                    self.set_target(&target, Value::Given(Some(parameter)), at);
                }
            }
        }
        if self.found.macros.assigns(name) {
            self.change_by_macro(at);
        }
    }

    /// Whether a function's name stands there where it is defined.
    pub(in crate::scene::draft) fn is_definition(&self, name: usize) -> bool {
        let mut around = self.found.regions.around(name + 1).map(|(_, region)| region);
        around.any(|region| matches!(region.kind, Kind::Function { name: own, .. } if own == name))
    }

    /// What the macro at `at` changes has a number that is not known.
    fn change_by_macro(&mut self, at: usize) {
        let end = match self.text(at + 1) {
            "(" => self.brackets.after(at + 1).unwrap_or(at + 1),
            _ => at + 1,
        };
        let used = self.found.code.get(at..end.min(at + LONGEST)).unwrap_or_default();
        let Some(text) = self.found.macros.expand(used, &|tokens| self.found.look(tokens)) else {
            return;
        };
        for change in (0..text.tokens.len()).filter_map(|place| change_at(&text.tokens, place)) {
            for target in change.targets {
                // What is declared there is another variable.
                let before = target.start.checked_sub(1).and_then(|at| text.tokens.get(at));
                let is_declared = before.is_some_and(|token| {
                    token.is_word() && !matches!(token.text, "else" | "do" | "return")
                });
                let id = self.visible(text.tokens[target.name].text, at);
                let Some(id) = id.filter(|_| !is_declared) else { continue };
                if !target.path.is_empty() {
                    let set = Definition { value: Value::Unknown, at };
                    self.found.variables.get_mut(id).fields.push((target.path, set));
                }
                self.define(id, Value::Unknown, at);
            }
        }
    }

    /// Calls of functions that always exit are jumps like `exit` itself.
    pub(in crate::scene::draft) fn exits(&mut self) {
        for _ in 0..MOST_EXITS {
            let ends = |jump: &usize| {
                let mut around = self.found.regions.around(*jump).map(|(_, region)| region);
                let function = around.find(|region| region.kind != Kind::Block)?;
                let Kind::Function { name, .. } = function.kind else { return None };
                let is_exit = self.found.jump_word(*jump) == "exit";
                // It may have returned before.
                let first = self.found.jumps.partition_point(|other| *other < function.span.start);
                let mut before = self.found.jumps[first..].iter().take_while(|at| *at < jump);
                let always = !before.any(|at| self.text(*at) == "return");
                (is_exit && always).then(|| (self.text(name), *jump))
            };
            let found: Vec<_> = self.found.jumps.iter().filter_map(ends).collect();
            let new = |(name, _): &(&str, usize)| !self.found.exits.contains_key(name);
            let found: BTreeMap<&str, usize> = found.into_iter().filter(new).collect();
            if found.is_empty() {
                break;
            }
            let is_call = |at: &usize| {
                found.contains_key(self.text(*at))
                    && self.text(at + 1) == "("
                    && !self.is_definition(*at)
            };
            let calls: Vec<usize> = (0..self.found.code.len()).filter(is_call).collect();
            self.found.jumps.extend(calls);
            self.found.jumps.sort_unstable();
            self.found.exits.extend(found);
        }
    }

    /// What jumps go round, once all of them are known.
    pub(in crate::scene::draft) fn detours(&mut self) {
        let mut jumps: Vec<usize> = self.found.jumps.iter().chain(&self.ends).copied().collect();
        jumps.sort_unstable();
        let Host { code, regions, .. } = &*self.found;
        self.found.detours = Detours::new(code, self.brackets, regions, &jumps);
    }

    /// `name.method()`, which may set whichever of its fields.
    pub(in crate::scene::draft) fn method(&mut self, at: usize) {
        let Some(name) = at.checked_sub(1).filter(|name| self.is_word(*name)) else { return };
        if self.is_word(at + 1)
            && self.text(at + 2) == "("
            && let Some(id) = self.visible(self.text(name), at)
        {
            self.define(id, Value::Part, at);
        }
    }

    /// `tie(a, b) = ...`
    pub(in crate::scene::draft) fn tie(&mut self, at: usize) {
        let after = self.brackets.after(at + 1).unwrap_or(at + 1);
        if self.text(after) == "=" && self.text(after + 1) != "=" {
            self.set_all(&self.list(at + 1), at);
        }
    }

    pub(in crate::scene::draft) fn set_all(&mut self, parts: &[Span], at: usize) {
        for part in parts {
            match target_of(&self.found.code, part) {
                Some(target) => self.set_target(&target, Value::Unknown, at),
                None => self.set_any(part, at),
            }
        }
    }
}
