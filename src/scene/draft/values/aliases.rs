//! Whose memory a pointer of host code has: a parameter has what a call gives, what a function returns is what that is
//! assigned to, and a pointer that is set to another one has the memory of that.

use std::collections::BTreeSet;

use super::trace::DEEPEST;
use crate::{
    cuda::lexer::Token,
    scene::draft::{
        code::{
            Span,
            pointers::without_casts,
            variables::{Definition, Id, Value},
        },
        host::{Host, place::Place},
    },
};

impl<'s> Host<'s> {
    /// The pointer that memory was allocated for which `name` points to, with the place at which it has that name. It
    /// is doubted where that may be another one.
    pub(in crate::scene::draft) fn pointer_of<'h>(
        &'h self,
        name: &'s str,
        place: &Place<'h, 's>,
    ) -> (&'s str, Place<'h, 's>) {
        let (mut name, mut place) = (name, place.clone());
        for _ in 0..DEEPEST {
            name = self.own_name(name, place.at);
            let other = match self.redirection(name, &place) {
                Some((span, there)) => {
                    let other = self.base(&span);
                    other.and_then(|other| Some((self.member(name, other, there.at)?, there)))
                }
                None if self.is_allocated_anew(name, &place) => None,
                None => self.given_or_returned(name, &place),
            };
            let Some(next) = other else { return (name, place) };
            (name, place) = next;
        }
        self.doubt();
        (name, place)
    }

    /// The pointer that a name stands for where a call gave it, or takes it, whatever that is set to.
    pub(in crate::scene::draft) fn given_pointer<'h>(
        &'h self,
        name: &'s str,
        place: &Place<'h, 's>,
    ) -> (&'s str, Place<'h, 's>) {
        let (mut name, mut place) = (self.own_name(name, place.at), place.clone());
        for _ in 0..DEEPEST {
            let Some((other, there)) = self.given_or_returned(name, &place) else { break };
            (name, place) = (self.own_name(other, there.at), there);
        }
        (name, place)
    }

    /// What a pointer is set to in its function, where that is a part of another one's memory, without its casts.
    pub(in crate::scene::draft) fn redirection<'h>(
        &'h self,
        name: &str,
        place: &Place<'h, 's>,
    ) -> Option<(Span, Place<'h, 's>)> {
        let id = self.visible(name, place.at)?;
        let variable = self.variables.get(id);
        let redirections = variable
            .definitions
            .iter()
            .filter(|set| self.redirects(id, set) || self.is_moved_by_call(id, set));
        let end = variable.definitions.partition_point(|set| set.at < place.at);
        let mut found = None;
        for set in variable.definitions[..end].iter().rev() {
            self.look(1)?;
            if matches!(set.value, Value::Unknown) {
                self.doubt();
            }
            // Its address is given to what allocates memory, as it seems.
            if self.is_moved_by_call(id, set) {
                self.doubt();
            }
            if let Value::Given(parameter) = set.value
                && self.is_given_memory(parameter)
            {
                if redirections.clone().any(|other| other.at < set.at) && !self.allocates(set.at) {
                    self.doubt();
                }
                break;
            }
            if !self.redirects(id, set) {
                continue;
            }
            match self.runs_before(set.at, place.at) {
                Some(false) => continue,
                Some(true) => {}
                None => self.doubt(),
            }
            found = Some(set);
            break;
        }
        if self.is_moved_as_member(name, place.at) {
            self.doubt();
        }
        let from = found.map_or(variable.at, |set| set.at);
        if variable.declared.is_static()
            && self.is_of_earlier_run(id, redirections.clone(), place.at)
        {
            self.doubt();
        }
        if self.is_set_later(redirections, from, place.at) {
            self.doubt();
        }
        let set = found?;
        let inner = without_casts(&self.code, value_of(set)?);
        let there = Place { at: set.at, ..place.clone() };
        let Some(other) = self.base(&inner) else {
            self.doubt();
            return None;
        };
        // What two allocations have in turn is not told apart by its name.
        let is_allocation = |set: &&Definition| matches!(set.value, Value::Given(_));
        let other = self.visible(other, set.at).map(|other| self.variables.get(other));
        if other.is_some_and(|other| other.definitions.iter().filter(is_allocation).count() > 1) {
            self.doubt();
        }
        Some((inner, there))
    }

    /// The pointer whose memory a part of the code names: `name`, `name + n`, `&name[n]`, `name.data()`.
    pub(in crate::scene::draft) fn base(&self, span: &Span) -> Option<&'s str> {
        let inner = without_casts(&self.code, span.clone());
        match self.tokens(&inner) {
            [token] => Some(token.text),
            [and, name] if and.text == "&" => Some(name.text),
            // Of what holds memory for the host.
            [name, dot, data, open, close]
                if (dot.text, open.text, close.text) == (".", "(", ")")
                    && matches!(data.text, "data" | "begin" | "get") =>
            {
                Some(name.text)
            }
            [name, plus, ..] if name.is_word() && plus.text == "+" => Some(name.text),
            [and, name, open, .., close]
                if (and.text, open.text, close.text) == ("&", "[", "]") && name.is_word() =>
            {
                Some(name.text)
            }
            _ => None,
        }
    }

    /// Whether a part of the code is a lambda, or the name of a variable that is one.
    pub(in crate::scene::draft) fn is_lambda(&self, span: &Span, place: &Place<'_, 's>) -> bool {
        let begins = |span: &Span| self.text_at(span.start) == "[";
        let variable = self.word(span).and_then(|word| self.visible(word, place.at));
        let first = variable.and_then(|id| self.variables.get(id).definitions.first());
        begins(span) || first.and_then(value_of).is_some_and(|value| begins(&value))
    }

    /// The name with which a variable is declared that may be a reference to it.
    pub(super) fn own_name(&self, name: &'s str, at: usize) -> &'s str {
        self.visible(name, at).map_or(name, |id| self.variables.get(id).name)
    }

    /// What a call gives a parameter, or what takes what a function returns.
    pub(super) fn given_or_returned<'h>(
        &'h self,
        name: &str,
        place: &Place<'h, 's>,
    ) -> Option<(&'s str, Place<'h, 's>)> {
        let given = self.argument_of(name, place);
        let given = given.and_then(|(span, outer)| Some((self.base(&span)?, outer)));
        let structure = name.split('.').next().unwrap_or(name);
        let (other, outer) = given.or_else(|| self.returned_to(structure, place))?;
        Some((self.member(name, other, outer.at)?, outer))
    }

    /// The member of the structure `other` that `name` is of another one; `other` itself where it is no structure.
    pub(super) fn member(&self, name: &str, other: &'s str, at: usize) -> Option<&'s str> {
        let Some((_, field)) = name.split_once('.') else { return Some(other) };
        let Some(id) = self.visible(other, at) else { return Some(other) };
        let members = &self.variables.get(id).members;
        let mut names = members.iter().map(|member| self.variables.get(*member).name);
        match members.is_empty() {
            true => Some(other),
            false => names.find(|member| member.split_once('.').is_some_and(|(_, f)| f == field)),
        }
    }

    /// Whether a definition lets a pointer point into the memory of another one.
    fn redirects(&self, id: Id, set: &Definition) -> bool {
        let is_lasting =
            !matches!(set.value, Value::Swapped(_)) || !self.repeated.contains(&set.at);
        let names = || {
            value_of(set).is_some_and(|value| {
                self.names_pointer(&value, set.at) || self.names_structure(id, &value, set.at)
            })
        };
        is_lasting && !self.is_default(id, set.at) && names()
    }

    /// Whether a pointer is one of a structure, and a part of the code names another one like it.
    fn names_structure(&self, id: Id, span: &Span, at: usize) -> bool {
        let is_member = self.variables.get(id).name.contains('.');
        let other = self.base(span).filter(|_| is_member).and_then(|name| self.visible(name, at));
        other.is_some_and(|other| !self.variables.get(other).members.is_empty())
    }

    /// Whether a part of the code is no call, and names a pointer.
    fn names_pointer(&self, span: &Span, at: usize) -> bool {
        let inner = without_casts(&self.code, span.clone());
        let tokens = self.tokens(&inner);
        let is_made = match tokens {
            [new, ..] if new.text == "new" => true,
            [.., name, open, close] if (open.text, close.text) == ("(", ")") => name.is_word(),
            [name, open, .., close] if (open.text, close.text) == ("(", ")") => name.is_word(),
            [std, sign, name, open, ..] if sign.text == "::" && open.text == "(" => {
                std.is_word() && name.is_word()
            }
            _ => false,
        };
        let is_pointer = |token: &&Token<'s>| {
            let id = self.visible(token.text, at).filter(|_| token.is_word());
            id.is_some_and(|id| {
                let declared = &self.variables.get(id).declared;
                declared.is_indirect || declared.words.contains(&"auto")
            })
        };
        !is_made && tokens.iter().any(|token| is_pointer(&token))
    }

    /// Whether what a pointer's address is given to, or the parameter that is a reference to it, lets it have memory of
    /// its own. It is doubted where that lets the pointer be another one.
    fn is_given_memory(&self, parameter: Option<Id>) -> bool {
        let Some(parameter) = parameter else { return true };
        let definitions = &self.variables.get(parameter).definitions;
        if definitions.iter().any(|set| self.redirects(parameter, set)) {
            self.doubt();
        }
        definitions.iter().any(|set| matches!(set.value, Value::Given(_)))
    }

    /// Whether a function that has a pointer by its address or by reference may let it point elsewhere.
    fn is_moved_by_call(&self, id: Id, set: &Definition) -> bool {
        let is_pointer = self.variables.get(id).declared.is_indirect;
        match set.value {
            Value::Unknown => is_pointer,
            Value::Given(Some(parameter)) => {
                let definitions = &self.variables.get(parameter).definitions;
                let moves = |set: &Definition| match set.value {
                    Value::Given(_) | Value::Part => false,
                    Value::Swapped(_) => !self.is_of_halves(set.at),
                    Value::Expression(_) | Value::List(_) | Value::Unknown => {
                        !self.is_default(parameter, set.at)
                    }
                    Value::Compound(..) | Value::Count(_) | Value::Behind(..) => true,
                };
                is_pointer && definitions.iter().any(moves)
            }
            Value::Swapped(_) => {
                is_pointer && self.repeated.contains(&set.at) && !self.is_of_halves(set.at)
            }
            Value::Expression(_) | Value::List(_) | Value::Compound(..) | Value::Count(_) => false,
            Value::Behind(..) | Value::Part | Value::Given(None) => false,
        }
    }

    /// Whether an exchange is made by loops alone: such are those of halves, which are told elsewhere.
    fn is_of_halves(&self, at: usize) -> bool {
        let mut made = self.done.iter().filter(|done| done.at == at);
        self.repeated.contains(&at)
            && made.all(|done| self.round_of(&self.place_of(done)).is_some())
    }

    /// Whether a pointer is a member of a structure that is given away before `at`, and some function lets a member of
    /// its name point elsewhere.
    fn is_moved_as_member(&self, name: &str, at: usize) -> bool {
        let Some((structure, field)) = name.split_once('.') else { return false };
        let owner = self.visible(structure, at).filter(|_| self.moved_fields.contains(field));
        owner.is_some_and(|owner| {
            let owner = self.variables.get(owner);
            let is_gift = |set: &&Definition| matches!(set.value, Value::Part | Value::Given(_));
            let gifts = owner.definitions.iter().filter(is_gift);
            gifts.clone().any(|set| set.at < at) || self.is_set_later(gifts, owner.at, at)
        })
    }

    /// The names of the members that functions of the file, or of structures, let point elsewhere.
    pub(in crate::scene::draft) fn fields_moved(&self) -> BTreeSet<&'s str> {
        let moves = |id: &Id| {
            let variable = self.variables.get(*id);
            let is_other = |set: &Definition| {
                let is_exchanged = matches!(set.value, Value::Swapped(_) | Value::Unknown);
                set.at != variable.at && (is_exchanged || self.redirects(*id, set))
            };
            let is_given = variable.parameter.is_some() && variable.name.contains('.');
            (is_given || self.structure_with(&variable.scope).is_some())
                && variable.definitions.iter().any(is_other)
        };
        let name = |id| {
            let name = self.variables.get(id).name;
            name.rsplit('.').next().unwrap_or(name)
        };
        self.variables.ids().filter(moves).map(name).collect()
    }

    /// Whether a pointer is a member of the structure that a method at `at` is one of, and memory is allocated for
    /// another variable that is called the same.
    pub(in crate::scene::draft) fn is_other_member(&self, pointer: &str, at: usize) -> bool {
        let Some(id) = self.visible(pointer, at) else { return false };
        let variable = self.variables.get(id);
        let is_member = self.regions.function(variable.at).is_none()
            && self.structure_with(&variable.scope).is_some();
        let Some(allocation) = self.allocation(pointer).filter(|_| is_member) else { return false };
        // Where there is no other memory it is that.
        if self.allocations.len() < 2 {
            return false;
        }
        self.visible(pointer, allocation.target).is_some_and(|other| other != id)
    }

    /// Whether what stands at `at` is the address of what memory is allocated for.
    pub(super) fn allocates(&self, at: usize) -> bool {
        let next = self.allocating.partition_point(|found| found.target.end <= at);
        self.allocating.get(next).is_some_and(|found| found.target.contains(&at))
    }
}

/// What stands as the value of a definition.
fn value_of(set: &Definition) -> Option<Span> {
    match &set.value {
        Value::Expression(span) | Value::Swapped(span) => Some(span.clone()),
        Value::List(parts) => match parts.as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        },
        Value::Compound(..)
        | Value::Count(_)
        | Value::Behind(..)
        | Value::Part
        | Value::Given(_)
        | Value::Unknown => None,
    }
}
