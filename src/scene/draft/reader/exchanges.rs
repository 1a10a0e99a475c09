//! Where two variables change places: `swap(a, b)`, `t = a; a = b; b = t;`.

use super::Reader;
use crate::scene::draft::{
    code::{
        LONGEST, Span,
        operands::{Reach, Target},
        parameters::declarators,
        regions::Kind,
        variables::Value,
    },
    host::MOST_LAUNCHES,
};

/// What stands before `::` where a library's `swap` is meant.
const OF_LIBRARIES: [&str; 3] = ["std", "thrust", "cuda"];
/// So many tokens has the body of a function that lets its parameters change places, at most.
const LONGEST_EXCHANGE: usize = 60;

/// So many tokens stand before the parameters of a function, at most.
const LONGEST_HEAD: usize = 40;

/// What a function that is called `swap` is given.
#[derive(Clone, Copy, PartialEq)]
enum Given {
    /// What changes places.
    References,
    /// Its addresses.
    Addresses,
    /// Either, since the function stands elsewhere.
    Either,
}

impl Reader<'_, '_> {
    /// `t = a; a = b; b = t;`, which the first `=` of it stands at.
    pub(in crate::scene::draft) fn exchange(&mut self, at: usize) {
        let Some(start) = at.checked_sub(1) else { return };
        let [t, a, b] = [start, at + 1, at + 5].map(|at| self.text(at));
        let expected = [t, "=", a, ";", a, "=", b, ";", b, "=", t, ";"];
        let is_it = (0..).zip(expected).all(|(place, text)| self.text(start + place) == text);
        // A branch may have the first of them alone.
        let region = |at| self.found.regions.around(at).next().map(|(place, _)| place);
        if !is_it || a == b || region(at) != region(at + 8) {
            return;
        }
        // What such a function does is said where it is called.
        let is_swap =
            self.found.regions.function(at).is_some_and(|function| {
                self.is_swap(function) && self.given_to(function).is_some()
            });
        if !is_swap && self.exchanged([at + 1, at + 5], at) {
            self.exchanging.extend([at + 4, at + 8]);
        }
    }

    /// `swap(a, b)`, `swap(&a, &b)`, `exchange(a, value)`.
    pub(in crate::scene::draft) fn swap(&mut self, at: usize) {
        let parts = self.list(at + 1);
        if self.is_definition(at) || parts.is_empty() {
            return;
        }
        let names = self.names_exchanged(at, &parts);
        if !names.is_some_and(|names| self.exchanged(names, at)) {
            self.set_all(&parts, at);
        }
    }

    /// Whether two variables change places by a call at `at`.
    pub(in crate::scene::draft) fn is_exchange(&self, at: usize) -> bool {
        self.text(at) == "swap" && self.names_exchanged(at, &self.list(at + 1)).is_some()
    }

    /// Where the names of the variables stand that change places by a call of `swap` at `at`.
    fn names_exchanged(&self, at: usize, parts: &[Span]) -> Option<[usize; 2]> {
        let [first, second] = parts else { return None };
        let given = self.taken_by_swap(at).filter(|_| self.text(at) == "swap")?;
        let name = |part: &Span| {
            let is_address = self.text(part.start) == "&";
            let name = if is_address { part.start + 1 } else { part.start };
            let is_name = name + 1 == part.end && self.is_word(name);
            let is_given = match given {
                Given::References => !is_address,
                Given::Addresses => is_address,
                Given::Either => true,
            };
            (is_name && is_given).then_some(name)
        };
        Some([name(first)?, name(second)?])
    }

    /// What the `swap` that is called at `at` is given; `None` where that does not change places, as far as is known.
    fn taken_by_swap(&self, at: usize) -> Option<Given> {
        let own = || {
            let regions = self.found.regions.iter().map(|(region, _)| region);
            let swaps = regions.filter(|of| self.is_swap(*of) && self.is_of_host(*of));
            let given: Option<Vec<Given>> = swaps.map(|of| self.given_to(of)).collect();
            match given?.as_slice() {
                [] => Some(Given::Either),
                [first, others @ ..] => others.iter().all(|given| given == first).then_some(*first),
            }
        };
        match self.before(at) {
            "." | ">" => None,
            "::" => {
                let mut start = at - 1;
                while self.before(start - 1) == "::" {
                    start -= 2;
                }
                let space = self.before(start);
                match OF_LIBRARIES.contains(&space) {
                    true => Some(Given::References),
                    // Of no namespace.
                    false if !self.is_word(start.saturating_sub(1)) => own(),
                    false => None,
                }
            }
            _ => own(),
        }
    }

    /// Whether a region is a function that is called `swap`.
    fn is_swap(&self, region: usize) -> bool {
        let kind = self.found.regions.get(region).map(|of| &of.kind);
        matches!(kind, Some(Kind::Function { name, .. }) if self.text(*name) == "swap")
    }

    /// Whether the host may call a function.
    fn is_of_host(&self, function: usize) -> bool {
        let start = self.found.regions.get(function).map_or(0, |region| region.span.start);
        let head = (start.saturating_sub(LONGEST_HEAD)..start).rev();
        let head = head.take_while(|at| !matches!(self.text(*at), ";" | "{" | "}"));
        let words: Vec<&str> = head.map(|at| self.text(at)).collect();
        words.contains(&"__host__") || !words.contains(&"__device__")
    }

    /// What a function is given that lets its two parameters, or what they point to, change places, and does nothing
    /// else.
    fn given_to(&self, function: usize) -> Option<Given> {
        let region = self.found.regions.get(function)?;
        let Kind::Function { parameters, body, .. } = &region.kind else { return None };
        let declared = declarators(&self.found.code, parameters);
        let [(_, first, one), (_, second, other)] = declared.as_slice() else { return None };
        let given = match [one, other].map(|of| (of.is_reference, of.is_indirect)) {
            [(true, _), (true, _)] => Given::References,
            [(false, true), (false, true)] => Given::Addresses,
            _ => return None,
        };
        if region.span.end - body > LONGEST_EXCHANGE {
            return None;
        }
        let texts: Vec<&str> = (*body..region.span.end).map(|at| self.text(at)).collect();
        let equals = texts.iter().position(|text| *text == "=")?;
        let third = texts.get(equals.checked_sub(1)?)?;
        let star = if given == Given::Addresses { "*" } else { "" };
        let is_it = |a: &str, b: &str| {
            let expected =
                ["=", star, a, ";", star, a, "=", star, b, ";", star, b, "=", third, ";", "}"];
            expected.iter().filter(|text| !text.is_empty()).eq(&texts[equals..])
        };
        let is_declaration = texts[1..equals].iter().all(|text| !matches!(*text, ";" | "{" | "("));
        let is_exchange = is_it(first, second) || is_it(second, first);
        (is_declaration && is_exchange).then_some(given)
    }

    /// Notes that the variables whose names stand at `names` change places at `at`; returns whether it did.
    fn exchanged(&mut self, names: [usize; 2], at: usize) -> bool {
        let are_own = names.iter().all(|name| !self.is_copied_to_lambda(self.text(*name), at));
        if self.found.swaps.len() >= MOST_LAUNCHES || !are_own {
            return false;
        }
        let [first, second] = names.map(|name| self.text(name));
        let ids = [first, second].map(|name| self.visible(name, at));
        for (id, other) in ids.into_iter().zip([names[1], names[0]]) {
            if let Some(id) = id {
                self.define_members(id, &Value::Unknown, at);
                self.define(id, Value::Swapped(other..other + 1), at);
            }
        }
        self.found.swaps.push((first, second, at));
        true
    }

    /// Whether a name in a lambda means a copy of what it means around that.
    fn is_copied_to_lambda(&self, name: &str, at: usize) -> bool {
        let id = self.visible(name, at);
        let declared = id.map_or(0, |id| self.found.variables.get(id).at);
        self.found.regions.around(at).any(|(_, region)| {
            let Kind::Lambda { captures, .. } = region.kind else { return false };
            let is_of_function = self.found.regions.function(declared).is_some();
            let parts = self.list(captures);
            let is_by_reference = |part: &Span| {
                let texts = [part.start, part.start + 1].map(|at| self.text(at));
                texts[0] == "&" && (part.len() == 1 || texts[1] == name)
            };
            let is_by_value = |part: &Span| self.text(part.start) == name;
            declared < captures
                && is_of_function
                && (parts.iter().any(is_by_value) || !parts.iter().any(is_by_reference))
        })
    }

    /// Whatever a part names may be set at `at`.
    pub(in crate::scene::draft) fn set_any(&mut self, part: &Span, at: usize) {
        for name in part.clone().take(LONGEST) {
            if self.is_word(name) {
                let (path, reach) = (String::new(), Reach::Perhaps);
                let target = Target { name, path, reach, start: part.start };
                self.set_target(&target, Value::Unknown, at);
            }
        }
    }
}
