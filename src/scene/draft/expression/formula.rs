//! Formulas of a manifest that mean the same as expressions of host code: each knows of which type C++ takes it, so
//! that what the manifest computes otherwise (64-bit integers, doubles) is written only where it comes to the same.

use super::cpp_number::{Number, Type};
use crate::scene::{
    expression::{Expression, Kind, Meaning},
    operator::Operator,
};

/// Bytes of a formula.
const LONGEST: usize = 10_000;
/// Up to here each whole number is a float, or a double.
const EXACT: [i128; 2] = [1 << 24, 1 << 53];
/// How tightly signs bind, and what needs no parentheses.
const SIGN: u8 = 11;
const ATOM: u8 = 12;

/// A formula.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::scene::draft) struct Formula {
    pub(in crate::scene::draft) text: String,
    /// How tightly its outermost operator binds.
    binding: u8,
    /// What C++ takes it for.
    pub(in crate::scene::draft) of: Type,
    /// The least and the greatest whole number that it can be, where that is known.
    pub(in crate::scene::draft) range: Option<[i128; 2]>,
    /// A float that manifests compute as a double: it is rounded once, by the parameter that takes it.
    pub(in crate::scene::draft) is_unrounded: bool,
    /// The whole number that a floating-point one is, `ceil(x)` of `float(ceil(x))`, and how tightly it binds.
    whole: Option<(String, u8)>,
    /// The loops that it follows, a bit for each depth.
    pub(in crate::scene::draft) follows: u64,
}

impl Formula {
    /// A name, or a call.
    pub(in crate::scene::draft) fn atom(text: String, of: Type, range: Option<[i128; 2]>) -> Self {
        Self { text, binding: ATOM, of, range, is_unrounded: false, whole: None, follows: 0 }
    }

    /// A number in a formula, with all of its digits.
    pub(in crate::scene::draft) fn of_number(number: Number) -> Option<Self> {
        let text = match number {
            Number::Whole(Type::Bool, value) => (value != 0).to_string(),
            Number::Whole(_, value) => i64::try_from(value).ok()?.to_string(),
            Number::Real(_, value) => format!("{value:?}"),
        };
        let range = number.whole().map(|value| [value; 2]);
        let binding = if text.starts_with('-') { SIGN } else { ATOM };
        Some(Self { binding, ..Self::atom(text, number.of(), range) })
    }

    /// With the numbers between which it lies.
    pub(in crate::scene::draft) fn within(self, range: Option<[i128; 2]>) -> Self {
        Self { range, ..self }
    }

    /// That is computed as a double in a manifest, where C++ has a float.
    pub(in crate::scene::draft) fn unrounded(self, is_unrounded: bool) -> Self {
        Self { is_unrounded, ..self }
    }

    /// That follows the rounds of the loop at this depth.
    pub(in crate::scene::draft) fn following(self, depth: usize) -> Self {
        let follows = 1_u64.checked_shl(depth as u32).unwrap_or(0);
        Self { follows, ..self }
    }

    /// The text for a place that binds so tightly.
    fn bound(&self, least: u8) -> String {
        if self.binding < least { format!("({})", self.text) } else { self.text.clone() }
    }

    /// With a sign before it.
    pub(in crate::scene::draft) fn signed(&self, sign: &str) -> Self {
        let range = match (sign, self.range) {
            ("-", Some([low, high])) => Some([-high, -low]),
            ("~", Some([low, high])) => Some([-high - 1, -low - 1]),
            _ => None,
        };
        let text = format!("{sign}{}", self.bound(ATOM));
        Self { text, binding: SIGN, range, whole: None, ..self.clone() }
    }

    /// Two truth values with `&&` or `||` between them.
    pub(in crate::scene::draft) fn linked(&self, spelling: &str, other: &Self) -> Self {
        let binding = if spelling == "||" { 1 } else { 2 };
        let text = format!("{} {spelling} {}", self.bound(binding), other.bound(binding + 1));
        let follows = self.follows | other.follows;
        Self { binding, follows, ..Self::atom(text, Type::Bool, Some([0, 1])) }
    }

    /// `self ? yes : no`, which are of one type.
    pub(in crate::scene::draft) fn chooses(&self, yes: &Self, no: &Self) -> Self {
        let text = format!("{} ? {} : {}", self.bound(1), yes.bound(1), no.bound(0));
        Self {
            binding: 0,
            is_unrounded: yes.is_unrounded || no.is_unrounded,
            follows: self.follows | yes.follows | no.follows,
            ..Self::atom(text, yes.of, hull(yes.range, no.range))
        }
    }

    /// A function of it and of others.
    pub(in crate::scene::draft) fn called(name: &str, arguments: &[&Self], of: Type) -> Self {
        let texts: Vec<&str> = arguments.iter().map(|argument| argument.text.as_str()).collect();
        let follows = arguments.iter().fold(0, |all, argument| all | argument.follows);
        Self { follows, ..Self::atom(format!("{name}({})", texts.join(", ")), of, None) }
    }

    /// A whole number as a floating-point one of the same value.
    pub(in crate::scene::draft) fn as_float(&self, of: Type) -> Self {
        let whole = Some((self.text.clone(), self.binding));
        let is_exact = self.is_within(EXACT[usize::from(of == Type::Double)]);
        let is_unrounded = !is_exact && of == Type::Float;
        Self { whole, is_unrounded, ..Self::called("float", &[self], of) }
    }

    fn is_within(&self, most: i128) -> bool {
        let range = self.range.or_else(|| self.of.range());
        range.is_some_and(|[low, high]| -most <= low && high <= most)
    }

    /// Whether each number that it can be is one of the type; of signed integers it is unless the program is wrong.
    pub(in crate::scene::draft) fn fits(&self, of: Type) -> bool {
        match (of.range(), self.range) {
            (None, _) => true,
            (Some([least, most]), Some([low, high])) => least <= low && high <= most,
            (Some([least, _]), None) => least < 0 && of.bytes() >= 4,
        }
    }

    /// As a number of another type, and whether that is the same one in a manifest.
    pub(in crate::scene::draft) fn to(self, of: Type) -> (Self, bool) {
        if self.of == of {
            return (self, true);
        }
        if of == Type::Bool {
            let zero = if self.of.is_float() { "0.0" } else { "0" };
            let text = format!("{} != {zero}", self.bound(7));
            let found = Self { binding: 6, ..Self::atom(text, of, Some([0, 1])) };
            return (Self { follows: self.follows, ..found }, !self.is_unrounded);
        }
        let own = match self.of {
            Type::Bool => Self { range: Some([0, 1]), ..Self::called("int", &[&self], Type::Int) },
            _ => self,
        };
        match (own.of.is_float(), of.is_float()) {
            (false, false) => {
                let is_same = own.keeps(of);
                (Self { of, ..own }, is_same)
            }
            (false, true) => {
                let is_exact = own.is_within(EXACT[1]);
                (own.as_float(of), is_exact)
            }
            (true, false) => {
                let is_same = !own.is_unrounded;
                let truncated = || (format!("int({})", own.text), ATOM);
                let (text, binding) = own.whole.clone().unwrap_or_else(truncated);
                let found = Self { binding, ..Self::atom(text, of, None) };
                (Self { follows: own.follows, ..found }, is_same)
            }
            (true, true) => {
                let is_same = !own.is_unrounded || of == Type::Float;
                let is_unrounded = of == Type::Float;
                (Self { of, is_unrounded, ..own }, is_same)
            }
        }
    }

    /// Whether each whole number that it can be is the same one in another type.
    fn keeps(&self, of: Type) -> bool {
        let range = self.range.or_else(|| self.of.range());
        let inside = range.zip(of.range());
        inside.is_some_and(|([low, high], [least, most])| least <= low && high <= most)
    }

    /// The text for a parameter of its type: one that is a float takes whole numbers, too.
    pub(in crate::scene::draft) fn given(&self) -> Option<String> {
        let whole = self.whole.as_ref().filter(|_| !self.is_unrounded);
        let text = self.checked()?;
        Some(whole.map_or(text, |(whole, _)| whole.clone()))
    }

    /// The text, where the manifest reads it as a number.
    pub(in crate::scene::draft) fn checked(&self) -> Option<String> {
        (self.text.len() <= LONGEST && understood(&self.text).is_some()).then(|| self.text.clone())
    }
}

/// Two operands, converted already, with an operator between them; `None` where manifests have none such.
pub(in crate::scene::draft) fn binary(
    operator: Operator,
    of: Type,
    left: &Formula,
    right: &Formula,
) -> Option<Formula> {
    let binding = operator.binding();
    // Shifts of shifts are easier to read so.
    let is_shift = u8::from(matches!(operator, Operator::ShiftLeft | Operator::ShiftRight));
    let (a, b) = (left.bound(binding + is_shift), right.bound(binding + 1));
    let range = match of {
        Type::Bool => Some([0, 1]),
        Type::Float | Type::Double => None,
        Type::Char
        | Type::UnsignedChar
        | Type::Short
        | Type::UnsignedShort
        | Type::Int
        | Type::Unsigned
        | Type::Long
        | Type::UnsignedLong => {
            left.range.zip(right.range).and_then(|(left, right)| range(operator, left, right))
        }
    };
    Some(Formula {
        binding,
        // Of floats an operation on doubles, rounded once, is the operation on floats.
        is_unrounded: of == Type::Float,
        follows: left.follows | right.follows,
        ..Formula::atom(format!("{a} {} {b}", operator.spelling()), of, range)
    })
}

/// Between which numbers the result of an operator on whole numbers lies; `None` where that is not told.
fn range(operator: Operator, [a, b]: [i128; 2], [c, d]: [i128; 2]) -> Option<[i128; 2]> {
    let of = |found: [Option<i128>; 4]| {
        let found: Vec<i128> = found.into_iter().collect::<Option<_>>()?;
        Some([*found.iter().min()?, *found.iter().max()?])
    };
    let shifts = || Some([u32::try_from(c).ok()?, u32::try_from(d).ok().filter(|d| *d < 64)?]);
    match operator {
        Operator::Add => Some([a + c, b + d]),
        Operator::Subtract => Some([a - d, b - c]),
        Operator::Multiply => {
            of([a.checked_mul(c), a.checked_mul(d), b.checked_mul(c), b.checked_mul(d)])
        }
        Operator::Divide if c > 0 => of([a / c, a / d, b / c, b / d].map(Some)),
        Operator::Remainder if c > 0 && a >= 0 => Some([0, b.min(d - 1)]),
        Operator::ShiftLeft if a >= 0 => {
            let [c, d] = shifts()?;
            Some([a.checked_mul(1 << c)?, b.checked_mul(1 << d)?])
        }
        Operator::ShiftRight if a >= 0 => {
            let [c, d] = shifts()?;
            Some([a >> d, b >> c])
        }
        Operator::BitAnd if a >= 0 && c >= 0 => Some([0, b.min(d)]),
        Operator::BitOr | Operator::BitXor if a >= 0 && c >= 0 => {
            let most = u128::try_from(b.max(d)).ok()?;
            Some([0, i128::try_from((most + 1).next_power_of_two() - 1).ok()?])
        }
        Operator::BitOr
        | Operator::BitXor
        | Operator::BitAnd
        | Operator::Compare(_)
        | Operator::ShiftLeft
        | Operator::ShiftRight
        | Operator::Divide
        | Operator::Remainder => None,
    }
}

/// Around both.
pub(in crate::scene::draft) fn hull(
    one: Option<[i128; 2]>,
    other: Option<[i128; 2]>,
) -> Option<[i128; 2]> {
    one.zip(other).map(|([a, b], [c, d])| [a.min(c), b.max(d)])
}

/// A formula as manifests read it, in which every name is the number of a loop's round or of a step; `None` where it is
/// none.
pub(in crate::scene::draft) fn understood(formula: &str) -> Option<Expression<()>> {
    Expression::parse(formula, &mut |_| Ok(Meaning::Term((), Kind::Int))).ok()
}
