//! What names in expressions of host code stand for: variables, their fields, and what calls give.

use super::evaluator::DEEPEST;
use crate::scene::{
    draft::{
        code::{
            Span,
            variables::{Definition, Id, Value},
        },
        expression::{
            cpp_number::{Number, Type},
            headers::known,
            syntax::SIZE,
            told::Told,
        },
        host::{
            Host,
            place::{Look, Place},
        },
    },
    operator::Operator,
};

impl<'s> Host<'s> {
    pub(super) fn told_named(&self, name: &'s str, look: &Look<'_, '_, 's>) -> Option<Told> {
        if let Some(given) = look.given.and_then(|given| given.get(name)) {
            return Some(given.clone());
        }
        let at = look.place.at;
        if look.depth <= DEEPEST
            && let Some((span, place)) = self.template_argument_of(name, look.place)
            && let Some(tokens) = self.code.get(span)
            && let look = (Look { place: &place, given: None, depth: look.depth + 1, nested: 0 })
            && let Some(told) = self.told_of(tokens, &look)
        {
            return Some(told);
        }
        match self.visible(name, at) {
            // A program without arguments is called with its name alone.
            _ if name == "argc" => Some(Told::Number(Number::int(1))),
            Some(id) => self.told_variable(id, look),
            None => match known(name) {
                Some(number) => Some(Told::Number(number)),
                None => self.told_namesake(name, look),
            },
        }
    }

    fn told_variable(&self, id: Id, look: &Look<'_, '_, 's>) -> Option<Told> {
        self.told_set(id, look).or_else(|| self.assumption(id))
    }

    fn told_set(&self, id: Id, look: &Look<'_, '_, 's>) -> Option<Told> {
        if look.depth > DEEPEST {
            return None;
        }
        let variable = self.variables.get(id);
        let words = &variable.declared.words;
        if words.iter().any(|word| word.starts_with("cudaError")) {
            // Nothing goes wrong.
            return Some(Told::Number(Number::int(0)));
        }
        if let Some(depth) = look.place.loops.iter().rposition(|around| around.variable == Some(id))
        {
            return self.value_in(look.place, depth);
        }
        if variable.declared.is_indirect {
            return None;
        }
        let told = match self.told_argument(id, look) {
            Some(told) => told,
            None => match self.set_to(id, look.place.at) {
                Some(found) => self.told_definition(found, words, id, look)?,
                None => return self.told_namesake(variable.name, look),
            },
        };
        match self.named_type(words) {
            Some(of) => self.converted(told, of),
            // What has an enumeration's type has one of its numbers.
            None if self.enumerators.keys().any(|(of, _)| words.contains(of)) => Some(told),
            None if words.contains(&"auto") => match self.type_of_first(id, look) {
                Some(of) => self.converted(told, of),
                None => Some(told),
            },
            None => {
                // Of a type that is not known the number may be another one.
                self.doubt();
                Some(told)
            }
        }
    }

    /// The type of what a variable begins with, which has that of `auto`, where it is set to something else later.
    fn type_of_first(&self, id: Id, look: &Look<'_, '_, 's>) -> Option<Type> {
        let [first, _, ..] = self.variables.get(id).definitions.as_slice() else { return None };
        let Value::Expression(span) = &first.value else { return None };
        let place = Place { at: first.at, ..look.place.clone() };
        let look = &Look { place: &place, given: None, depth: look.depth + 1, nested: look.nested };
        let (told, _) = self.surely(|host| host.told_of(host.code.get(span.clone())?, look));
        told.map(|told| told.of())
    }

    /// What a parameter is given in the call that led to a place, where the function does not set it anew.
    fn told_argument(&self, id: Id, look: &Look<'_, '_, 's>) -> Option<Told> {
        let name = self.variables.get(id).name;
        let (span, outer) = self.argument_of(name, look.place)?;
        if self.is_set_again(id, look.place.at) {
            return None;
        }
        // What a function calls itself with comes first, if that is what it does first.
        let at = look.place.at;
        let function = self.regions.function(at).and_then(|function| self.regions.get(function));
        if function.is_some_and(|of| self.recursive.range(of.span.start..at).next().is_some()) {
            self.doubt();
        }
        let look = Look { place: &outer, given: None, depth: look.depth + 1, nested: look.nested };
        self.told_of(self.code.get(span)?, &look)
    }

    /// What another variable of this name is, where the one that is meant has no number.
    fn told_namesake(&self, name: &str, look: &Look<'_, '_, 's>) -> Option<Told> {
        let found = self.namesake(name, look.place.at)?;
        let Value::Expression(span) = &found.value else { return None };
        let place = Place::of(found.at);
        let tokens = self.code.get(span.clone())?;
        let look = Look { place: &place, given: None, depth: look.depth + 1, nested: 0 };
        self.told_of(tokens, &look)
    }

    pub(super) fn told_definition(
        &self,
        found: &Definition,
        words: &[&str],
        id: Id,
        look: &Look<'_, '_, 's>,
    ) -> Option<Told> {
        let place = Place { at: found.at, ..look.place.clone() };
        let look = &Look { place: &place, given: None, depth: look.depth + 1, nested: look.nested };
        let told = |span: &Span| self.told_of(self.code.get(span.clone())?, look);
        match &found.value {
            Value::Expression(span) | Value::Swapped(span) => told(span),
            // `int n(4)`, `int n{4}`.
            Value::List(parts) => match parts.as_slice() {
                [one] if self.named_type(words).is_some() => told(one),
                _ => None,
            },
            Value::Compound(operator, span) => {
                let before = self.told_variable(id, look)?;
                self.combined(*operator, before, told(span)?)
            }
            Value::Count(by) => {
                let before = self.told_variable(id, look)?;
                self.combined(Operator::Add, before, Told::Number(Number::int(*by)))
            }
            Value::Behind(Some(span), by) => {
                let first = told(span)?;
                self.combined(Operator::Add, first, Told::Number(Number::int(*by)))
            }
            Value::Behind(None, by) => Some(Told::Number(Number::int(*by))),
            Value::Part | Value::Given(_) | Value::Unknown => None,
        }
    }

    /// `block.x`, which is an unsigned int, or the number of a structure.
    pub(super) fn told_field(
        &self,
        of: &str,
        field: &str,
        look: &Look<'_, '_, 's>,
    ) -> Option<Told> {
        let id = self.visible(of, look.place.at)?;
        if field == SIZE {
            return self.told_size(id, look);
        }
        if self.variables.get(id).declared.words.last() != Some(&"dim3") {
            return self.told_member(of, field, look);
        }
        let axis = ["x", "y", "z"].iter().position(|known| *known == field)?;
        let mut axes = self.dimensions_of(of, look.place, look.depth)?;
        let Some((part, place)) = axes.get_mut(axis).and_then(Option::take) else {
            return Some(Told::Number(Number::Whole(Type::Unsigned, 1)));
        };
        let look = &Look { place: &place, given: None, depth: look.depth + 1, nested: look.nested };
        let told = self.told_of(self.code.get(part)?, look)?;
        self.converted(told, Type::Unsigned)
    }
}
