//! What is known of an expression: a number, or a formula of the rounds of the loops around.

use super::{
    cpp_number::{Number, Type},
    formula::Formula,
    text::quoted,
};

/// What is known of an expression.
#[derive(Clone)]
pub(in crate::scene::draft) enum Told {
    Number(Number),
    Formula(Formula),
}

impl Told {
    pub(in crate::scene::draft) const fn of(&self) -> Type {
        match self {
            Self::Number(number) => number.of(),
            Self::Formula(formula) => formula.of,
        }
    }

    pub(in crate::scene::draft) const fn number(&self) -> Option<Number> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Formula(_) => None,
        }
    }

    /// As a part of a formula; `None` for what no manifest can write.
    pub(in crate::scene::draft) fn formula(&self) -> Option<Formula> {
        match self {
            Self::Number(number) => Formula::of_number(*number),
            Self::Formula(formula) => Some(formula.clone()),
        }
    }

    /// Whether it is a float that manifests have not rounded to one.
    pub(in crate::scene::draft) const fn is_unrounded(&self) -> bool {
        matches!(self, Self::Formula(Formula { is_unrounded: true, .. }))
    }

    /// The least and the greatest number that it can be, where that is known.
    pub(in crate::scene::draft) fn range(&self) -> Option<[i128; 2]> {
        match self {
            Self::Number(number) => number.whole().map(|value| [value, value]),
            Self::Formula(formula) => formula.range,
        }
    }

    /// How a manifest gives `given`, which was converted from this: a whole number is one for a float, too.
    pub(in crate::scene::draft) fn written_as(&self, given: &Self) -> Option<String> {
        match (self, given) {
            (Self::Number(Number::Whole(of, value)), Self::Number(Number::Real(_, real)))
                if *of != Type::Bool && *value as f64 == *real && i64::try_from(*value).is_ok() =>
            {
                Some(value.to_string())
            }
            (_, Self::Number(number)) => {
                // Beyond what TOML's integers must hold.
                let is_large = number.whole().is_some_and(|value| i64::try_from(value).is_err());
                Some(if is_large { quoted(&number.written()) } else { number.written() })
            }
            (_, Self::Formula(formula)) => formula.given().map(|text| quoted(&text)),
        }
    }
}
