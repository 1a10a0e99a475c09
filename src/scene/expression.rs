//! Arithmetic of the manifest, with C's operators and their precedence: over constants, whose value is known at once,
//! and over what is known when a pass is launched.
//!
//! Enters: a formula of the manifest. Leaves: its value, or what a launch computes it with. Must not know: `cuda`,
//! `scene::decode`, `scene::draft`, `scene::plan`.

mod operation;
mod parser;

use std::fmt;

pub use self::operation::Kind;
use self::{
    operation::{Function, Unary, truth},
    parser::Parser,
};
use super::operator::Binary;

/// A number of a manifest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer from [`Number::LEAST`] to [`Number::GREATEST`]: one of `long long` or of `unsigned long long`.
    Int(i128),
    /// A floating-point number.
    Float(f64),
    /// A truth value.
    Bool(bool),
}

impl Number {
    /// The least integer.
    pub const LEAST: i128 = i64::MIN as i128;
    /// The greatest integer.
    pub const GREATEST: i128 = u64::MAX as i128;

    /// The integer, where it is one of those that there are.
    pub(super) fn int(value: i128) -> Option<Self> {
        (Self::LEAST..=Self::GREATEST).contains(&value).then_some(Self::Int(value))
    }

    /// What it is.
    pub const fn kind(self) -> Kind {
        match self {
            Self::Int(_) => Kind::Int,
            Self::Float(_) => Kind::Float,
            Self::Bool(_) => Kind::Bool,
        }
    }

    /// Its value as a floating-point number; truth values have none.
    pub const fn as_f64(self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(value as f64),
            Self::Float(value) => Some(value),
            Self::Bool(_) => None,
        }
    }

    /// Its value where it is an integer below 2^63.
    ///
    /// # Errors
    ///
    /// A sentence, where it is none.
    pub fn whole(self) -> Result<i64, String> {
        match self {
            Self::Int(value) => i64::try_from(value)
                .map_err(|_| format!("a number below 2^63 is needed, not {value}")),
            Self::Float(_) | Self::Bool(_) => {
                Err(format!("a whole number is needed, not the {} {self}", self.kind()))
            }
        }
    }

    /// Whether it counts as true: numbers do where they are not 0, as in C.
    pub fn is_true(self) -> bool {
        truth(self)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => value.fmt(f),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Bool(value) => value.fmt(f),
        }
    }
}

/// What becomes of results that are no finite numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floats {
    /// They are errors: a manifest's numbers are finite.
    Finite,
    /// They go on, as in C.
    Any,
}

/// What is wrong with an expression, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The byte of the expression's text that it is about.
    pub offset: usize,
    /// One sentence.
    pub text: String,
}

/// What a name in an expression stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Meaning<T> {
    /// A number that is known.
    Number(Number),
    /// What has a number of this kind later.
    Term(T, Kind),
}

/// An expression over terms `T`, whose numbers are not known yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression<T> {
    root: Node<T>,
    kind: Kind,
    floats: Floats,
}

/// A part of an expression. What has no terms in it and has a value is that number.
#[derive(Clone, Debug, PartialEq)]
enum Node<T> {
    Number(Number),
    Term(T),
    Unary(Unary, Box<Self>, usize),
    Binary(Binary, Box<[Self; 2]>, usize),
    /// Condition, value where it holds, value where it does not; whether they are to become floats.
    Conditional(Box<[Self; 3]>, bool),
    Call(Function, Vec<Self>, usize),
}

impl<T> Expression<T> {
    /// Reads `text`, whose names `resolve` knows.
    ///
    /// The division of integers truncates towards zero, and running over is an error. An integer
    /// beside a floating-point number becomes one.
    ///
    /// # Errors
    ///
    /// What is no expression, has operands that do not fit, or cannot have a value.
    pub fn parse(
        text: &str,
        resolve: &mut dyn FnMut(&str) -> Result<Meaning<T>, String>,
    ) -> Result<Self, Error> {
        Self::parse_with(text, Floats::Finite, resolve)
    }

    /// The same, with a choice of what becomes of results that are not finite.
    ///
    /// # Errors
    ///
    /// Those of [`parse`](Self::parse).
    pub fn parse_with(
        text: &str,
        floats: Floats,
        resolve: &mut dyn FnMut(&str) -> Result<Meaning<T>, String>,
    ) -> Result<Self, Error> {
        let (mut root, kind) = Parser::new(text, floats, resolve).whole()?;
        if !root.has_terms() {
            root = Node::Number(root.value(floats, &mut |_| Err(String::new()))?);
        }
        Ok(Self { root, kind, floats })
    }

    /// The term alone, whose number is of this kind.
    pub fn of_term(term: T, kind: Kind) -> Self {
        Self { root: Node::Term(term), kind, floats: Floats::Finite }
    }

    /// What number it has.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its number, where no term is in it.
    pub fn constant(&self) -> Option<Number> {
        match self.root {
            Node::Number(number) => Some(number),
            Node::Term(_)
            | Node::Unary(..)
            | Node::Binary(..)
            | Node::Conditional(..)
            | Node::Call(..) => None,
        }
    }

    /// Its number, where `number_of` gives those of its terms.
    ///
    /// # Errors
    ///
    /// Those of `number_of`, a division by zero, and results that are out of range.
    pub fn value(
        &self,
        number_of: &mut dyn FnMut(&T) -> Result<Number, String>,
    ) -> Result<Number, Error> {
        self.root.value(self.floats, number_of)
    }

    /// Calls `visit` with each of its terms.
    pub fn terms<'a>(&'a self, visit: &mut dyn FnMut(&'a T)) {
        self.root.terms(visit);
    }
}

impl<T> From<Number> for Expression<T> {
    fn from(number: Number) -> Self {
        Self { root: Node::Number(number), kind: number.kind(), floats: Floats::Finite }
    }
}

impl<T> Node<T> {
    fn value(
        &self,
        floats: Floats,
        number_of: &mut dyn FnMut(&T) -> Result<Number, String>,
    ) -> Result<Number, Error> {
        let at = |offset: usize| move |text| Error { offset, text };
        match self {
            Self::Number(number) => Ok(*number),
            Self::Term(term) => number_of(term).map_err(at(0)),
            Self::Unary(operator, operand, offset) => {
                operator.apply(operand.value(floats, number_of)?).map_err(at(*offset))
            }
            Self::Binary(operator, operands, offset) => {
                let [left, right] = &**operands;
                let left = left.value(floats, number_of)?;
                if let Some(value) = operator.decided_by(left) {
                    return Ok(value);
                }
                operator.apply(left, right.value(floats, number_of)?, floats).map_err(at(*offset))
            }
            Self::Conditional(parts, widens) => {
                let [condition, yes, no] = &**parts;
                let chosen = if truth(condition.value(floats, number_of)?) { yes } else { no };
                let value = chosen.value(floats, number_of)?;
                let wide = value.as_f64().filter(|_| *widens);
                Ok(wide.map_or(value, Number::Float))
            }
            Self::Call(function, arguments, offset) => {
                let values = arguments.iter().map(|argument| argument.value(floats, number_of));
                let values: Vec<Number> = values.collect::<Result<_, _>>()?;
                function.apply(&values, floats).map_err(at(*offset))
            }
        }
    }

    fn terms<'a>(&'a self, visit: &mut dyn FnMut(&'a T)) {
        match self {
            Self::Number(_) => {}
            Self::Term(term) => visit(term),
            Self::Unary(_, operand, _) => operand.terms(visit),
            Self::Binary(_, operands, _) => operands.iter().for_each(|part| part.terms(visit)),
            Self::Conditional(parts, _) => parts.iter().for_each(|part| part.terms(visit)),
            Self::Call(_, arguments, _) => arguments.iter().for_each(|part| part.terms(visit)),
        }
    }

    fn has_terms(&self) -> bool {
        let mut any = false;
        self.terms(&mut |_| any = true);
        any
    }
}

/// The value of the expression `text`, whose names are all constants, which `resolve` knows.
///
/// # Errors
///
/// Whatever keeps it from having a finite value.
pub fn evaluate(
    text: &str,
    resolve: &mut dyn FnMut(&str) -> Result<Number, String>,
) -> Result<Number, Error> {
    let mut meaning = |name: &str| resolve(name).map(Meaning::<()>::Number);
    Expression::parse(text, &mut meaning)?.value(&mut |()| Err("no number".to_owned()))
}

#[cfg(test)]
mod tests;
