//! What is known of an expression: a number, or a formula of the rounds of the loops around.

use super::{
    formula::Formula,
    number::{Number, Type},
};

/// What is known of an expression.
#[derive(Clone)]
pub(super) enum Told {
    Number(Number),
    Formula(Formula),
}

impl Told {
    pub(super) const fn of(&self) -> Type {
        match self {
            Self::Number(number) => number.of(),
            Self::Formula(formula) => formula.of,
        }
    }

    pub(super) const fn number(&self) -> Option<Number> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Formula(_) => None,
        }
    }

    /// As a part of a formula; `None` for what no manifest can write.
    pub(super) fn formula(&self) -> Option<Formula> {
        match self {
            Self::Number(number) => Formula::of_number(*number),
            Self::Formula(formula) => Some(formula.clone()),
        }
    }

    /// Whether it is a float that manifests have not rounded to one.
    pub(super) const fn is_unrounded(&self) -> bool {
        matches!(self, Self::Formula(Formula { is_unrounded: true, .. }))
    }

    /// The least and the greatest number that it can be, where that is known.
    pub(super) fn range(&self) -> Option<[i128; 2]> {
        match self {
            Self::Number(number) => number.whole().map(|value| [value, value]),
            Self::Formula(formula) => formula.range,
        }
    }
}
