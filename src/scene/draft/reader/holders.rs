//! Which variables may hold memory of the device: pointers to it, what has such pointers, and what functions give.
//!
//! It is followed from the variables that memory is allocated for, or that kernels are given, along all that is
//! assigned, handed to functions and returned, without an order: what holds some anywhere does so everywhere.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Reader,
    callees::{Callee, calls_nothing},
};
use crate::{
    cuda::Held,
    scene::draft::code::{
        LONGEST, Span, interface, libraries,
        members::MOST_FIELDS,
        readers,
        regions::Kind as Region,
        variables::{Id, Value},
    },
};

/// The lambdas by where their captures begin, with the places behind them.
pub(in crate::scene::draft) type Passing = BTreeMap<usize, usize>;

/// Numbers that addresses are kept in.
const ADDRESSES: [&str; 5] = ["CUdeviceptr", "uintptr_t", "intptr_t", "size_t", "long"];
/// Tokens of an operand that are looked at on its left.
const LONGEST_OPERAND: usize = 40;

/// What may hold memory of the device: a variable, or a function by what it gives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::scene::draft) enum Holder<'s> {
    Variable(Id),
    Function(&'s str),
}

/// A holder that is named, and where.
pub(in crate::scene::draft) struct Handed<'s> {
    pub(in crate::scene::draft) holder: Holder<'s>,
    pub(in crate::scene::draft) at: usize,
}

/// What a call is given that is not known.
pub(in crate::scene::draft) struct Handing<'s> {
    /// What it is given, and what it is a method of.
    pub(in crate::scene::draft) given: Vec<Handed<'s>>,
    /// The variables among that to which it may hand on the rest.
    pub(in crate::scene::draft) takers: Vec<Id>,
}

/// The names of functions and lambdas, with their parameters by their places, by where these stand.
type Parameters<'s> = BTreeMap<usize, (Option<&'s str>, Vec<(usize, Id)>)>;

/// What each of them may get from which others.
type Flows<'s> = Vec<(Holder<'s>, Holder<'s>)>;

impl<'s> Reader<'_, 's> {
    /// The variables that may hold memory of the device, and the functions that may give some; `places` are those of
    /// the host's functions.
    pub(in crate::scene::draft) fn holders(
        &self,
        places: &[usize],
        unknown: &[&Handing<'s>],
        passing: &Passing,
    ) -> (BTreeSet<Id>, BTreeSet<&'s str>) {
        let mut flows = self.flows(places, passing);
        for handing in unknown {
            for taker in handing.takers.iter().filter(|id| self.may_hold(**id)) {
                let sources = handing.given.iter().map(|given| given.holder);
                flows.extend(sources.map(|source| (Holder::Variable(*taker), source)));
            }
        }
        let mut next: BTreeMap<Holder<'s>, Vec<Holder<'s>>> = BTreeMap::new();
        for (to, from) in flows {
            next.entry(from).or_default().push(to);
        }
        let mut open: Vec<Holder<'s>> = self.first_holders(passing);
        let mut found = BTreeSet::new();
        while let Some(holder) = open.pop() {
            if found.insert(holder) {
                open.extend(next.get(&holder).into_iter().flatten());
            }
        }
        let (mut holding, mut giving) = (BTreeSet::new(), BTreeSet::new());
        for holder in found {
            match holder {
                Holder::Variable(id) => _ = holding.insert(id),
                Holder::Function(name) => _ = giving.insert(name),
            }
        }
        (holding, giving)
    }

    /// Those that are given memory of the device by what is read, or that kernels are given.
    fn first_holders(&self, passing: &Passing) -> Vec<Holder<'s>> {
        let found = &*self.found;
        let last = |span: &Span| span.clone().rev().take(LONGEST).find(|at| self.is_word(*at));
        let allocated = found.allocating.iter().filter(|own| !own.is_of_host);
        let allocated = allocated.filter_map(|own| last(&own.target));
        let first = |span: &Span| span.clone().take(LONGEST).find(|at| self.is_word(*at));
        let copied = found.transfers.iter();
        let copied = copied.filter_map(|own| first(&(own.call.start + 2..own.call.end)));
        let filled = found.filling.iter().filter_map(first);
        let given = (0..found.code.len()).filter(|at| interface::gives_memory(self.text(*at)));
        let given = given.filter_map(|at| {
            let parts = self.list(self.opens_call(at)?);
            let is_address = |part: &&Span| Span::clone(part).any(|at| self.text(at) == "&");
            parts.iter().find(is_address).and_then(last)
        });
        let named = allocated.chain(copied).chain(filled).chain(given);
        let named = named.filter_map(|at| self.visible(self.text(at), at));
        let declared = found.variables.ids().filter(|id| {
            let words = &found.variables.get(*id).declared.words;
            words.iter().any(|word| {
                libraries::holds_memory(word) || matches!(*word, "__managed__" | "__device__")
            })
        });
        let variables = named.chain(declared).filter(|id| self.may_hold(*id));
        let launched = found.launches.iter().flat_map(|launch| &launch.arguments);
        let launched = launched.flat_map(|span| self.handed(span, passing, true));
        variables.map(Holder::Variable).chain(launched.map(|handed| handed.holder)).collect()
    }

    fn flows(&self, places: &[usize], passing: &Passing) -> Flows<'s> {
        let mut flows = Flows::new();
        for id in self.found.variables.ids().filter(|id| self.may_hold(*id)) {
            let variable = self.found.variables.get(id);
            // What a structure holds is handed on with it.
            let owner = variable.name.split_once('.').and_then(|(owner, _)| {
                self.visible(owner, variable.at + 1).filter(|owner| self.may_hold(*owner))
            });
            flows.extend(owner.map(|owner| (Holder::Variable(owner), Holder::Variable(id))));
            for set in &variable.definitions {
                let parts: &[Span] = match &set.value {
                    Value::Expression(span) | Value::Swapped(span) => std::slice::from_ref(span),
                    Value::List(parts) => parts,
                    Value::Given(Some(parameter)) => {
                        flows.push((Holder::Variable(id), Holder::Variable(*parameter)));
                        &[]
                    }
                    Value::Compound(..) | Value::Count(_) | Value::Behind(..) => &[],
                    Value::Part | Value::Given(None) | Value::Unknown => &[],
                };
                let sources = parts.iter().flat_map(|part| self.handed(part, passing, true));
                flows.extend(sources.map(|from| (Holder::Variable(id), from.holder)));
            }
        }
        let parameters = self.parameters_by_name();
        for at in places {
            match self.text(*at) {
                "=" => {
                    let to = self.set_before(*at).filter(|id| self.may_hold(*id));
                    let Some(to) = to else { continue };
                    let sources = self.handed(&self.expression(at + 1), passing, true);
                    flows.extend(sources.iter().map(|from| (Holder::Variable(to), from.holder)));
                }
                "return" => {
                    let Some(name) = self.function_around(*at) else { continue };
                    let sources = self.handed(&self.expression(at + 1), passing, true);
                    flows.extend(sources.iter().map(|from| (Holder::Function(name), from.holder)));
                }
                "(" => self.flows_of_call(*at, &parameters, passing, &mut flows),
                _ => {}
            }
        }
        flows
    }

    /// What the call with the parentheses at `open` hands to the parameters of a function or a lambda of the file, and
    /// to the container that it is a method of.
    fn flows_of_call(
        &self,
        open: usize,
        parameters: &Parameters<'s>,
        passing: &Passing,
        flows: &mut Flows<'s>,
    ) {
        let Some(before) = open.checked_sub(1) else { return };
        // A lambda that is called at once.
        let is_lambda = self.text(before) == "}";
        let name = match is_lambda {
            true => None,
            false => self.callee(open).filter(|name| self.is_word(*name)).map(|at| self.text(at)),
        };
        if name.is_none() && !is_lambda {
            return;
        }
        let parts = self.list(open);
        let taken = parameters.values().filter(|(own, _)| match is_lambda {
            true => own.is_none(),
            false => *own == name,
        });
        for (index, id) in taken.flat_map(|(_, all)| all) {
            let Some(part) = parts.get(*index) else { continue };
            let parameter = Holder::Variable(*id);
            let is_changed =
                self.found.variables.get(*id).declared.is_reference || self.text(part.start) == "&";
            for from in self.handed(part, passing, true) {
                if self.may_hold(*id) {
                    flows.push((parameter, from.holder));
                }
                if is_changed {
                    flows.push((from.holder, parameter));
                }
            }
        }
        let receiver = self.callee(open).filter(|name| self.before(*name) == ".");
        let receiver = receiver.and_then(|name| name.checked_sub(2));
        let receiver = receiver.and_then(|at| self.visible(self.text(at), at));
        if let Some(to) = receiver.filter(|id| self.may_hold(*id)) {
            let sources = parts.iter().flat_map(|part| self.handed(part, passing, true));
            flows.extend(sources.map(|from| (Holder::Variable(to), from.holder)));
        }
    }

    /// The parameters of the functions and lambdas of the file with their names, by where they stand.
    fn parameters_by_name(&self) -> Parameters<'s> {
        let mut found = BTreeMap::new();
        for (_, region) in self.found.regions.iter() {
            let Some((name, parameters)) = region.callable(|at| self.text(at)) else { continue };
            found.insert(parameters.start, (name.map(|at| self.text(at)), Vec::new()));
        }
        for id in self.found.variables.ids() {
            if let Some((list, index)) = &self.found.variables.get(id).parameter
                && let Some((_, all)) = found.get_mut(&list.start)
            {
                all.push((*index, id));
            }
        }
        found
    }

    fn function_around(&self, at: usize) -> Option<&'s str> {
        let region = self.found.regions.get(self.found.regions.function(at)?)?;
        match region.kind {
            Region::Function { name, .. } => Some(self.text(name)),
            _ => None,
        }
    }

    /// The variable that the operand before the `=` at `equals` is, or is a part of.
    fn set_before(&self, equals: usize) -> Option<Id> {
        let mut at = equals.checked_sub(1)?;
        for _ in 0..LONGEST_OPERAND {
            at = match self.text(at) {
                "]" | ")" => {
                    let open = self.opened(at)?;
                    match self.text(at) {
                        ")" => at - 1,
                        _ => open.checked_sub(1)?,
                    }
                }
                _ if !self.is_word(at) => return None,
                _ if self.before(at) == "." => at.checked_sub(2)?,
                _ if self.is_behind_arrow(at) => at.checked_sub(3)?,
                name => return self.visible(name, at + 1),
            };
        }
        None
    }

    /// Whether a variable may hold memory of the device: no number, and no structure of numbers alone.
    pub(in crate::scene::draft) fn may_hold(&self, id: Id) -> bool {
        let declared = &self.found.variables.get(id).declared;
        let words = &declared.words;
        if declared.is_indirect || words.iter().any(|word| ADDRESSES.contains(word)) {
            return !words.contains(&"FILE") && !words.contains(&"ostream");
        }
        let is_number = |member: &crate::cuda::Member| matches!(member.held, Held::Element(_));
        let is_of_numbers = |word: &&str| {
            let members = self.found.structures.members(word, MOST_FIELDS);
            members.is_some_and(|all| !all.is_empty() && all.iter().all(is_number))
        };
        let is_other = |word: &&str| {
            matches!(*word, "dim3" | "string" | "bool" | "char" | "unsigned" | "short" | "signed")
                || crate::element::Element::parse(word).is_some()
        };
        self.found.named_type(words).is_none()
            && !words.iter().any(|word| is_of_numbers(word) || is_other(word))
    }

    /// What a part of the code names that may hold memory of the device, but for what known functions are given in it,
    /// or all functions, where `is_through` does not hold: what one that is not known gives may have what it is given.
    pub(in crate::scene::draft) fn handed(
        &self,
        part: &Span,
        passing: &Passing,
        is_through: bool,
    ) -> Vec<Handed<'s>> {
        let (mut found, mut at) = (Vec::new(), part.start);
        // Within a lambda all is handed on that it names.
        let mut lambda = part.start;
        while at < part.end {
            let named = |at: usize| self.visible(self.text(at), at).filter(|_| self.is_word(at));
            if at < lambda {
                let id = named(at).filter(|id| self.may_hold(*id));
                found.extend(id.map(|id| Handed { holder: Holder::Variable(id), at }));
                at += 1;
                continue;
            }
            if let Some(end) = passing.get(&at) {
                lambda = *end;
            }
            if self.text(at) == "(" && at >= 3 && (1..4).all(|by| self.text(at - by) == ">") {
                // What a kernel is given.
                at = self.brackets.after(at).unwrap_or(at + 1);
                continue;
            }
            if !self.is_word(at) {
                at += 1;
                continue;
            }
            if let Some(open) = self.opens_call(at).filter(|_| !self.is_lambda_in(at, passing)) {
                let word = self.text(at);
                let is_unknown = || match self.callee_named(at, open) {
                    Callee::Unknown(_) => !calls_nothing(word),
                    Callee::Known | Callee::Always => false,
                };
                let is_made = readers::hands_on(word) || self.takers.is_structure(word);
                if is_made || is_through && is_unknown() {
                    at = open + 1;
                    continue;
                }
                if self.found.functions.named(word).is_some() {
                    found.push(Handed { holder: Holder::Function(word), at });
                }
                at = self.brackets.after(open).unwrap_or(open + 1);
                continue;
            }
            let id = named(at).filter(|id| self.is_handed(*id, at));
            found.extend(id.map(|id| Handed { holder: Holder::Variable(id), at }));
            at += 1;
        }
        found
    }

    fn is_lambda_in(&self, at: usize, passing: &Passing) -> bool {
        passing.contains_key(&(at + 1))
    }

    /// Whether what is named at `at` is the variable itself, a pointer in it, or its address: no number that it has.
    fn is_handed(&self, id: Id, at: usize) -> bool {
        if matches!(self.before(at), "." | "::" | "!") || self.is_behind_arrow(at) {
            return false;
        }
        let declared = &self.found.variables.get(id).declared;
        let is_number =
            !declared.is_indirect && declared.words.iter().any(|word| ADDRESSES.contains(word));
        if !self.may_hold(id)
            || is_number && !declared.words.contains(&"CUdeviceptr") && self.before(at) != ")"
        {
            return false;
        }
        let (mut end, mut indices) = (at + 1, 0);
        while self.text(end) == "[" {
            indices += 1;
            end = self.brackets.after(end).unwrap_or(end + 1);
        }
        let is_star = self.before(at) == "*" && at >= 2 && !self.ends_operand(at - 2);
        let levels = indices + usize::from(is_star);
        let is_addressed = self.before(at) == "&";
        if levels > 0 && declared.is_indirect && levels >= self.depth_of(id) && !is_addressed {
            return false;
        }
        let field = match (self.text(end), self.text(end + 1)) {
            (".", _) => Some(end + 1),
            ("-", ">") => Some(end + 2),
            _ => None,
        };
        if let Some(field) = field {
            let name = self.text(field);
            let is_number = |word: &str| {
                let members = self.found.structures.members(word, MOST_FIELDS).unwrap_or_default();
                members.iter().any(|own| own.path == name && matches!(own.held, Held::Element(_)))
            };
            let is_count = matches!(name, "size" | "empty" | "capacity" | "length" | "c_str");
            return !is_count && !declared.words.iter().any(|word| is_number(word));
        }
        // It is compared, or asked for.
        let is_compared = match (self.text(end), self.text(end + 1)) {
            ("=" | "!", "=") | ("&", "&") | ("|", "|") | ("?", _) => true,
            _ => {
                matches!(self.before(at), "=") && at >= 2 && matches!(self.text(at - 2), "=" | "!")
            }
        };
        !is_compared
    }
}
