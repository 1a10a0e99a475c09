//! Calls of functions in host code, and the names that C's headers give numbers.

use std::collections::BTreeMap;

use super::{
    evaluator::{Look, Place},
    mathematics,
};
use crate::scene::draft::{
    code::{functions::Function, readers::is_rounded_up},
    expression::{
        number::{Number, QUALIFIERS, Type},
        syntax::Expression,
        told::Told,
    },
    host::Host,
};

impl<'s> Host<'s> {
    pub(in crate::scene::draft) fn told_call(
        &self,
        name: &'s str,
        template: Option<Type>,
        arguments: &[Expression<'s>],
        look: &Look<'_, '_, 's>,
    ) -> Option<Told> {
        if let Some(function) = self.functions.named(name) {
            let found = function.and_then(|function| self.told_function(function, arguments, look));
            if found.is_some() || !is_rounded_up(name) {
                return found;
            }
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

    fn told_function(
        &self,
        function: &Function<'s>,
        arguments: &[Expression<'s>],
        look: &Look<'_, '_, 's>,
    ) -> Option<Told> {
        let mut given = BTreeMap::new();
        if arguments.len() != function.parameters.len() {
            return None;
        }
        let as_type = |told: Told, words: &[&str]| match self.named_type(words) {
            Some(of) => self.converted(told, of),
            None => words.iter().all(|w| self.is_of_template(w)).then_some(told),
        };
        for ((name, declared), argument) in function.parameters.iter().zip(arguments) {
            let told = self.told_in(argument, look)?;
            given.insert(*name, as_type(told, &declared.words)?);
        }
        let place = Place::of(function.value.start);
        let inner = Look { place: &place, given: Some(&given), depth: look.depth + 1, nested: 0 };
        let told = self.told_of(self.code.get(function.value.clone())?, &inner)?;
        as_type(told, &function.returns)
    }

    fn is_of_template(&self, word: &str) -> bool {
        self.type_parameters.contains(word) || matches!(word, "auto") || QUALIFIERS.contains(&word)
    }
}

/// The type of what reads a number from a text.
pub(in crate::scene::draft) fn type_of_call(expression: &Expression<'_>) -> Option<Type> {
    let Expression::Call(name, ..) = expression else { return None };
    match *name {
        "atoi" | "stoi" => Some(Type::Int),
        "atol" | "atoll" | "stol" | "stoll" | "strtol" | "strtoll" => Some(Type::Long),
        "stoul" | "stoull" | "strtoul" | "strtoull" => Some(Type::UnsignedLong),
        "atof" | "stod" | "strtod" => Some(Type::Double),
        "stof" | "strtof" => Some(Type::Float),
        _ => None,
    }
}
