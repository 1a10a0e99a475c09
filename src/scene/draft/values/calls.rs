//! Calls of functions in host code, and the names that C's headers give numbers.

use std::collections::BTreeMap;

use super::mathematics;
use crate::scene::draft::{
    code::{functions::Function, readers::is_rounded_up, sections::Section},
    expression::{
        cpp_number::{Number, QUALIFIERS, Type},
        syntax::{Callee, Expression},
        told::Told,
    },
    host::{
        Host,
        place::{Look, Place},
    },
};

impl<'s> Host<'s> {
    pub(in crate::scene::draft) fn told_call(
        &self,
        callee: &Callee<'s>,
        arguments: &[Expression<'s>],
        look: &Look<'_, '_, 's>,
    ) -> Option<Told> {
        let Callee { name, template, .. } = *callee;
        match self.called(callee, look.place.at) {
            _ if look.given.is_some_and(|given| given.contains_key(name)) => return None,
            Called::OfLibrary => {}
            Called::Own(function) => {
                let found = self.told_function(name, function, arguments, look);
                if found.is_some() || !is_rounded_up(name) {
                    return found;
                }
            }
            Called::Unknown if is_rounded_up(name) => {}
            Called::Unknown => return None,
        }
        if name.starts_with("cuda") && name.chars().nth(4).is_some_and(char::is_uppercase) {
            return Some(Told::Number(Number::int(0)));
        }
        let told = |argument| self.told_in(argument, look);
        let told: Vec<Told> = arguments.iter().map(told).collect::<Option<_>>()?;
        let found = mathematics::call(self, name, template, &told);
        found.or_else(|| self.told_division(name, &told))
    }

    /// What a function of another file is for sure called that rounds a quotient up.
    fn told_division(&self, name: &str, arguments: &[Told]) -> Option<Told> {
        let [Told::Number(a), Told::Number(b)] = arguments else { return None };
        let (a, b) = (a.whole()?, b.whole()?);
        if !is_rounded_up(name) || a < 0 || b <= 0 {
            return None;
        }
        self.doubt();
        Number::Whole(Type::Long, a.checked_add(b - 1)? / b).to(Type::Int).map(Told::Number)
    }

    /// What a call at a place is one of: of the file's own functions one that is the only one of its name, is called by
    /// that alone, and that nothing hides.
    pub(in crate::scene::draft) fn called(&self, callee: &Callee<'s>, at: usize) -> Called<'_, 's> {
        let Callee { name, is_std, template } = *callee;
        if is_std {
            return Called::OfLibrary;
        }
        let others = self.functions.others(name);
        let hides = |other: &usize| self.regions.scope(*other).contains(&at);
        let is_looked_at = self.look(others.len() + 1).is_some();
        if !is_looked_at || self.is_hidden(name, at) || others.iter().any(hides) {
            return Called::Unknown;
        }
        match self.functions.named(name) {
            None => Called::OfLibrary,
            Some(Some(function)) if template.is_none() => Called::Own(function),
            Some(_) => Called::Unknown,
        }
    }

    /// Whether a variable has the name of a function at a place; what looks like one outside of functions, and is
    /// called as a function of the file, is a declaration of that.
    pub(in crate::scene::draft) fn is_hidden(&self, name: &str, at: usize) -> bool {
        self.visible(name, at).is_some_and(|id| {
            let variable = self.variables.get(id);
            let is_declaration = self.text_at(variable.at + 1) == "("
                && self.regions.function(variable.at).is_none()
                && self.functions.named(name).is_some();
            !is_declaration
        })
    }

    fn told_function(
        &self,
        name: &str,
        function: &Function<'s>,
        arguments: &[Expression<'s>],
        look: &Look<'_, '_, 's>,
    ) -> Option<Told> {
        let mut given = BTreeMap::new();
        if arguments.len() != function.parameters.len() {
            return None;
        }
        for ((parameter, declared), argument) in function.parameters.iter().zip(arguments) {
            let told = self.told_in(argument, look)?;
            let of = self.named_type(&declared.words).filter(|_| !declared.is_indirect)?;
            // The library may have one that takes these numbers as they are.
            if told.of() != of && mathematics::is_one(name) {
                return None;
            }
            given.insert(*parameter, self.converted(told, of)?);
        }
        let start = function.value.start;
        let is_left_out =
            |of: &Section<'_>| of.span.contains(&start) && !of.span.contains(&look.place.at);
        if self.sections.iter().any(is_left_out) {
            self.doubt();
        }
        let place = Place::of(start);
        let inner = Look { place: &place, given: Some(&given), depth: look.depth + 1, nested: 0 };
        let told = self.told_of(self.code.get(function.value.clone())?, &inner)?;
        let is_deduced = |word: &&str| *word == "auto" || QUALIFIERS.contains(word);
        match self.named_type(&function.returns) {
            Some(of) => self.converted(told, of),
            None => function.returns.iter().all(is_deduced).then_some(told),
        }
    }
}

/// What a call is one of.
pub(in crate::scene::draft) enum Called<'f, 's> {
    /// Of what has no name in the file.
    OfLibrary,
    Own(&'f Function<'s>),
    /// It is not known which function of the file it is, or what that gives.
    Unknown,
}

/// The type of what reads a number from a text.
pub(in crate::scene::draft) fn type_of_call(expression: &Expression<'_>) -> Option<Type> {
    let Expression::Call(callee, _) = expression else { return None };
    match callee.name {
        "atoi" | "stoi" => Some(Type::Int),
        "atol" | "atoll" | "stol" | "stoll" | "strtol" | "strtoll" => Some(Type::Long),
        "stoul" | "stoull" | "strtoul" | "strtoull" => Some(Type::UnsignedLong),
        "atof" | "stod" | "strtod" => Some(Type::Double),
        "stof" | "strtof" => Some(Type::Float),
        _ => None,
    }
}
