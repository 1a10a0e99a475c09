//! Variables that something else may set whenever something is done: what has their address or a reference to them.

use super::{Reader, named::LONGEST_TYPE};
use crate::scene::draft::code::{
    LONGEST, Span,
    regions::Kind as Region,
    variables::{Id, Value},
};

impl Reader<'_, '_> {
    /// Notes that something may set a variable whenever something is done behind `at`.
    pub(in crate::scene::draft) fn keep(&mut self, id: Id, at: usize) {
        let kept = &mut self.found.variables.get_mut(id).kept;
        *kept = Some(kept.map_or(at, |kept| kept.min(at)));
    }

    /// The same of all variables that are named in a part of the code.
    pub(in crate::scene::draft) fn keep_all(&mut self, part: &Span) {
        for at in part.clone().take(LONGEST) {
            if let Some(id) = self.held(at) {
                self.keep(id, at);
            }
        }
    }

    /// Of a qualified name, as `::x`, it is not known here which variable it is: any of that name may be set by what
    /// names one so.
    pub(in crate::scene::draft) fn keep_namesakes(&mut self, at: usize) {
        let is_std = at >= 2 && self.text(at - 2) == "std";
        if is_std || matches!(self.text(at + 1), "(" | "<" | "::") {
            return;
        }
        let named = self.found.variables.named(self.text(at)).to_vec();
        let _ = self.found.look(named.len());
        for id in named {
            let variable = self.found.variables.get(id);
            if !self.is_constant(id) {
                self.keep(id, variable.at);
            }
        }
    }

    /// Whether a variable that outlives the function around `at` is named there in what that returns as a reference or
    /// a pointer: who calls it may write there.
    pub(in crate::scene::draft) fn is_given_away(&self, id: Id, at: usize) -> bool {
        let first = at.saturating_sub(LONGEST);
        let is_end = |at: &usize| matches!(self.text(*at), ";" | "{" | "}" | "return");
        let start = (first..at).rev().find(is_end);
        let Some(start) = start.filter(|start| self.text(*start) == "return") else {
            return false;
        };
        let mut around = self.found.regions.around(at).map(|(_, region)| region);
        let Some(region) = around
            .find(|region| matches!(region.kind, Region::Function { .. } | Region::Lambda { .. }))
        else {
            return false;
        };
        let variable = self.found.variables.get(id);
        let is_own = region.span.contains(&variable.at)
            && variable.parameter.is_none()
            && !variable.declared.words.contains(&"static");
        let is_address = |at: usize| {
            self.text(at) == "&" && self.before(at) != "&" && !self.ends_operand(at - 1)
        };
        let refers = |span: Span| {
            span.take(LONGEST).any(|at| matches!(self.text(at), "&" | "*" | "decltype"))
        };
        let (head, behind) = match &region.kind {
            Region::Function { name, parameters, body } => {
                let is_end = |at: &usize| matches!(self.text(*at), ";" | "{" | "}");
                let near = (name.saturating_sub(LONGEST_TYPE)..*name).rev();
                let start = near.into_iter().find(is_end).map_or(0, |end| end + 1);
                (start..*name, parameters.end + 1..*body)
            }
            Region::Lambda { parameters, body, .. } => (0..0, parameters.end..*body),
            Region::Block
            | Region::For { .. }
            | Region::While { .. }
            | Region::Do { .. }
            | Region::If { .. }
            | Region::Switch { .. }
            | Region::Catch => return false,
        };
        let mut value = start + 1..at;
        !is_own && (refers(head) || refers(behind) || value.any(is_address))
    }

    /// Whether a variable is never set anew: a constant, or an enumerator.
    pub(in crate::scene::draft) fn is_constant(&self, id: Id) -> bool {
        let variable = self.found.variables.get(id);
        let mut words = variable.declared.words.iter();
        words.any(|word| matches!(*word, "const" | "constexpr"))
            || variable
                .definitions
                .first()
                .is_some_and(|set| matches!(set.value, Value::Behind(..)))
    }

    /// Notes that something may set a number whose address is given away at `at`.
    pub(in crate::scene::draft) fn keep_number(&mut self, name: usize, at: usize) {
        let id = self.held(name).filter(|_| self.keeps_address(at));
        if let Some(id) = id
            && self.found.named_type(&self.found.variables.get(id).declared.words).is_some()
        {
            self.keep(id, at);
        }
    }

    /// Whether an address that is given away at `at` may be kept by what takes it.
    fn keeps_address(&self, at: usize) -> bool {
        let Some((open, _)) = self.open.last().copied() else { return true };
        let name = self.before(open);
        let is_in_call = self.text(open) == "(" && self.before(at) != "=";
        // An object may keep what it is given.
        !is_in_call || self.visible(name, open).is_some() || self.takers.is_structure(name)
    }
}
