//! Operators and functions: the kinds of numbers that they take and give, and their arithmetic.

use std::fmt;

use super::{Floats, Number};
use crate::scene::operator::{Binary, Operator};

/// What a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number of 64 bits, with or without a sign.
    Int,
    /// A number in double precision.
    Float,
    /// True or false.
    Bool,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Int => "int",
            Self::Float => "float",
            Self::Bool => "bool",
        })
    }
}

/// An operator before its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unary {
    Plus,
    Minus,
    Not,
    Complement,
}

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Min,
    Max,
    Abs,
    Floor,
    Ceil,
    CeilDiv,
    Ilog2,
    Int,
    Float,
    Sqrt,
    Exp,
    Log,
    Log2,
    Sin,
    Cos,
    Tan,
    Pow,
    IsNan,
    IsInf,
    IsFinite,
}

const FUNCTIONS: &[(&str, Function)] = &[
    ("min", Function::Min),
    ("max", Function::Max),
    ("abs", Function::Abs),
    ("floor", Function::Floor),
    ("ceil", Function::Ceil),
    ("ceil_div", Function::CeilDiv),
    ("ilog2", Function::Ilog2),
    ("int", Function::Int),
    ("float", Function::Float),
    ("sqrt", Function::Sqrt),
    ("exp", Function::Exp),
    ("log", Function::Log),
    ("log2", Function::Log2),
    ("sin", Function::Sin),
    ("cos", Function::Cos),
    ("tan", Function::Tan),
    ("pow", Function::Pow),
    ("isnan", Function::IsNan),
    ("isinf", Function::IsInf),
    ("isfinite", Function::IsFinite),
];

const NO_NUMBERS: &str = "`true` and `false` are no numbers";

/// Whether a number counts as true.
pub(super) fn truth(number: Number) -> bool {
    match number {
        Number::Int(value) => value != 0,
        Number::Float(value) => value != 0.0,
        Number::Bool(value) => value,
    }
}

impl Unary {
    /// What it makes of a kind.
    pub(super) fn kind(self, operand: Kind) -> Result<Kind, String> {
        match (self, operand) {
            (Self::Not, _) => Ok(Kind::Bool),
            (Self::Complement, Kind::Int) => Ok(Kind::Int),
            (Self::Complement, _) => Err(format!("`~` takes an int, not a {operand}")),
            (Self::Plus | Self::Minus, Kind::Bool) => Err(NO_NUMBERS.into()),
            (Self::Plus | Self::Minus, kind) => Ok(kind),
        }
    }

    pub(super) fn apply(self, operand: Number) -> Result<Number, String> {
        match (self, operand) {
            (Self::Not, number) => Ok(Number::Bool(!truth(number))),
            (Self::Plus, number) => Ok(number),
            (Self::Complement, Number::Int(value)) => {
                Number::int(!value).ok_or_else(|| format!("~{value} does not fit into 64 bits"))
            }
            (Self::Minus, Number::Int(value)) => {
                Number::int(-value).ok_or_else(|| format!("-({value}) does not fit into 64 bits"))
            }
            (Self::Minus, Number::Float(value)) => Ok(Number::Float(-value)),
            (Self::Complement | Self::Minus, _) => Err(NO_NUMBERS.into()),
        }
    }
}

impl Binary {
    /// What it makes of two kinds.
    pub(super) fn kind(self, left: Kind, right: Kind) -> Result<Kind, String> {
        match self {
            Self::Or | Self::And => Ok(Kind::Bool),
            Self::Operator(operator) => operator.kind(left, right),
        }
    }

    /// The value where the left operand alone decides it.
    pub(super) fn decided_by(self, left: Number) -> Option<Number> {
        let is_decided = self == Self::Or && truth(left) || self == Self::And && !truth(left);
        is_decided.then(|| Number::Bool(truth(left)))
    }

    pub(super) fn apply(
        self,
        left: Number,
        right: Number,
        floats: Floats,
    ) -> Result<Number, String> {
        match self {
            Self::Or => Ok(Number::Bool(truth(left) || truth(right))),
            Self::And => Ok(Number::Bool(truth(left) && truth(right))),
            Self::Operator(operator) => operator.value(left, right, floats),
        }
    }
}

impl Operator {
    /// What it makes of two kinds.
    fn kind(self, left: Kind, right: Kind) -> Result<Kind, String> {
        let both = [left, right];
        match self {
            Self::BitOr | Self::BitXor | Self::BitAnd | Self::ShiftLeft | Self::ShiftRight => {
                match both.into_iter().find(|kind| *kind != Kind::Int) {
                    None => Ok(Kind::Int),
                    Some(kind) => {
                        Err(format!("`{}` takes two ints, not a {kind}", self.spelling()))
                    }
                }
            }
            Self::Compare(comparison) if comparison.is_equality() && both == [Kind::Bool; 2] => {
                Ok(Kind::Bool)
            }
            Self::Compare(_) => arithmetic_kind(left, right).map(|_| Kind::Bool),
            Self::Add | Self::Subtract | Self::Multiply | Self::Divide | Self::Remainder => {
                arithmetic_kind(left, right)
            }
        }
    }

    fn value(self, left: Number, right: Number, floats: Floats) -> Result<Number, String> {
        match (self, left, right) {
            (Self::Compare(comparison), Number::Bool(a), Number::Bool(b))
                if comparison.is_equality() =>
            {
                Ok(Number::Bool(comparison.holds(&a, &b)))
            }
            (_, Number::Int(a), Number::Int(b)) => self.integer(a, b),
            (_, Number::Int(_) | Number::Float(_) | Number::Bool(_), _) => {
                match (left.as_f64(), right.as_f64()) {
                    (Some(a), Some(b)) => self.float(a, b, floats),
                    _ => Err(NO_NUMBERS.into()),
                }
            }
        }
    }

    fn integer(self, a: i128, b: i128) -> Result<Number, String> {
        if matches!(self, Self::Divide | Self::Remainder) && b == 0 {
            return Err("division by zero".into());
        }
        let bits = u32::try_from(b).ok().filter(|bits| *bits < 64);
        let value = match self {
            Self::Add => a.checked_add(b),
            Self::Subtract => a.checked_sub(b),
            Self::Multiply => a.checked_mul(b),
            Self::Divide => a.checked_div(b),
            Self::Remainder => a.checked_rem(b),
            Self::BitOr => Some(a | b),
            Self::BitXor => Some(a ^ b),
            Self::BitAnd => Some(a & b),
            // No bit is lost, nor the sign changed.
            Self::ShiftLeft => bits.and_then(|bits| Some(a << bits).filter(|v| v >> bits == a)),
            Self::ShiftRight => bits.map(|bits| a >> bits),
            Self::Compare(comparison) => return Ok(Number::Bool(comparison.holds(&a, &b))),
        };
        let shifts = matches!(self, Self::ShiftLeft | Self::ShiftRight);
        value.and_then(Number::int).ok_or_else(|| {
            let sign = self.spelling();
            match (shifts, bits) {
                (true, None) => format!("`{sign}` shifts by 0 to 63 bits, not by {b}"),
                _ => format!("{a} {sign} {b} does not fit into 64 bits"),
            }
        })
    }

    fn float(self, a: f64, b: f64, floats: Floats) -> Result<Number, String> {
        let value = match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            Self::Remainder => a % b,
            Self::Compare(comparison) => return Ok(Number::Bool(comparison.holds(&a, &b))),
            Self::BitOr | Self::BitXor | Self::BitAnd | Self::ShiftLeft | Self::ShiftRight => {
                return Err(format!("`{}` takes ints", self.spelling()));
            }
        };
        if value.is_finite() || floats == Floats::Any {
            return Ok(Number::Float(value));
        }
        Err(if matches!(self, Self::Divide | Self::Remainder) && b == 0.0 {
            "division by zero".into()
        } else {
            format!("{a} {} {b} is not a finite number", self.spelling())
        })
    }
}

/// What arithmetic makes of two kinds: an int beside a float becomes one.
pub(super) fn arithmetic_kind(left: Kind, right: Kind) -> Result<Kind, String> {
    match (left, right) {
        (Kind::Bool, _) | (_, Kind::Bool) => Err(NO_NUMBERS.into()),
        (Kind::Int, Kind::Int) => Ok(Kind::Int),
        (Kind::Float, _) | (_, Kind::Float) => Ok(Kind::Float),
    }
}

impl Function {
    /// The one with this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        FUNCTIONS.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
    }

    /// The names of all.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        FUNCTIONS.iter().map(|(name, _)| *name)
    }

    fn name(self) -> &'static str {
        FUNCTIONS.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| *name)
    }

    /// What it makes of these kinds.
    pub(super) fn kind(self, of: &[Kind]) -> Result<Kind, String> {
        let name = self.name();
        let count = match self {
            Self::Min | Self::Max | Self::CeilDiv | Self::Pow => 2,
            Self::Abs | Self::Floor | Self::Ceil | Self::Ilog2 | Self::Int | Self::Float => 1,
            Self::Sqrt | Self::Exp | Self::Log | Self::Log2 => 1,
            Self::Sin | Self::Cos | Self::Tan | Self::IsNan | Self::IsInf | Self::IsFinite => 1,
        };
        if of.len() != count {
            return Err(format!("`{name}` takes {count} numbers, not {}", of.len()));
        }
        let all_ints = of.iter().all(|kind| *kind == Kind::Int);
        if of.contains(&Kind::Bool) && !matches!(self, Self::Int | Self::Float) {
            return Err(NO_NUMBERS.into());
        }
        match self {
            Self::Min | Self::Max | Self::Abs if all_ints => Ok(Kind::Int),
            Self::Min | Self::Max | Self::Abs => Ok(Kind::Float),
            Self::CeilDiv | Self::Ilog2 if !all_ints => Err(format!("`{name}` takes ints")),
            Self::CeilDiv | Self::Ilog2 | Self::Int => Ok(Kind::Int),
            // As C's, which a division behind them does not cut.
            Self::Floor
            | Self::Ceil
            | Self::Float
            | Self::Sqrt
            | Self::Exp
            | Self::Log
            | Self::Log2
            | Self::Sin
            | Self::Cos
            | Self::Tan
            | Self::Pow => Ok(Kind::Float),
            Self::IsNan | Self::IsInf | Self::IsFinite => Ok(Kind::Bool),
        }
    }

    /// Its value for numbers of kinds that [`kind`](Self::kind) has taken.
    pub(super) fn apply(self, of: &[Number], floats: Floats) -> Result<Number, String> {
        if let Some(value) = self.of_ints(of) {
            return value.and_then(|value| Number::int(value).ok_or_else(beyond));
        }
        let float = |at: usize| match of.get(at) {
            Some(Number::Bool(value)) => f64::from(u8::from(*value)),
            number => number.and_then(|number| number.as_f64()).unwrap_or(f64::NAN),
        };
        let (a, b) = (float(0), float(1));
        let value = match self {
            Self::IsNan => return Ok(Number::Bool(a.is_nan())),
            Self::IsInf => return Ok(Number::Bool(a.is_infinite())),
            Self::IsFinite => return Ok(Number::Bool(a.is_finite())),
            // They leave out a NaN, as C's `fmin` and `fmax` do.
            Self::Min => a.min(b),
            Self::Max => a.max(b),
            Self::Abs => a.abs(),
            Self::Floor => a.floor(),
            Self::Ceil => a.ceil(),
            Self::Int => return whole(a.trunc()),
            Self::Float => a,
            Self::Sqrt => a.sqrt(),
            Self::Exp => a.exp(),
            Self::Log => a.ln(),
            Self::Log2 => a.log2(),
            Self::Sin => a.sin(),
            Self::Cos => a.cos(),
            Self::Tan => a.tan(),
            Self::Pow => a.powf(b),
            Self::CeilDiv | Self::Ilog2 => return Err(format!("`{}` takes ints", self.name())),
        };
        if value.is_finite() || floats == Floats::Any {
            return Ok(Number::Float(value));
        }
        let of: Vec<String> = of.iter().map(ToString::to_string).collect();
        Err(format!("{}({}) is not a finite number", self.name(), of.join(", ")))
    }

    /// Its value where all numbers are ints and it is one, too.
    fn of_ints(self, of: &[Number]) -> Option<Result<i128, String>> {
        match (self, of) {
            (Self::Min, [Number::Int(a), Number::Int(b)]) => Some(Ok(*a.min(b))),
            (Self::Max, [Number::Int(a), Number::Int(b)]) => Some(Ok(*a.max(b))),
            (Self::Abs, [Number::Int(a)]) => Some(Ok(a.abs())),
            (Self::Int, [Number::Int(a)]) => Some(Ok(*a)),
            (Self::CeilDiv, [Number::Int(_), Number::Int(0)]) => {
                Some(Err("division by zero".into()))
            }
            (Self::CeilDiv, [Number::Int(a), Number::Int(b)]) => {
                // Towards positive infinity.
                Some(Ok(a / b + i128::from(a % b != 0 && (*a < 0) == (*b < 0))))
            }
            (Self::Ilog2, [Number::Int(a)]) => Some(match a.checked_ilog2() {
                Some(log) => Ok(log.into()),
                None => Err(format!("`ilog2` takes a number above 0, not {a}")),
            }),
            (
                Self::Min
                | Self::Max
                | Self::Abs
                | Self::Floor
                | Self::Ceil
                | Self::Int
                | Self::CeilDiv
                | Self::Ilog2
                | Self::Float
                | Self::Sqrt
                | Self::Exp
                | Self::Log
                | Self::Log2
                | Self::Sin
                | Self::Cos
                | Self::Tan
                | Self::Pow
                | Self::IsNan
                | Self::IsInf
                | Self::IsFinite,
                _,
            ) => None,
        }
    }
}

/// A whole number as an int.
fn whole(value: f64) -> Result<Number, String> {
    let number = if value.is_nan() { None } else { Number::int(value as i128) };
    number.ok_or_else(|| format!("{value} does not fit into 64 bits"))
}

fn beyond() -> String {
    "the result does not fit into 64 bits".to_owned()
}
