//! Numbers as C++ has them: each of a type, with the conversions and the arithmetic of the language on a 64-bit Linux.
//!
//! What the language leaves open, as the overflow of an int, has no number.

use crate::{
    element::{Element, Scalar},
    scene::{self, operator::Operator},
};

/// A type of numbers, in the order in which arithmetic prefers them. `long` is as long as `long long`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::scene) enum Type {
    Bool,
    Char,
    UnsignedChar,
    Short,
    UnsignedShort,
    Int,
    Unsigned,
    Long,
    UnsignedLong,
    Float,
    Double,
}

/// A number of a type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::scene) enum Number {
    Whole(Type, i128),
    /// A float is one that a `float` has, too.
    Real(Type, f64),
}

/// Words that say of a declaration how, not what.
pub(in crate::scene) const QUALIFIERS: [&str; 11] = [
    "const",
    "constexpr",
    "static",
    "volatile",
    "register",
    "inline",
    "extern",
    "thread_local",
    "mutable",
    "struct",
    "__constant__",
];

impl Type {
    /// The type that these words are, `unsigned long long`.
    pub(in crate::scene) fn of_words(words: &[&str]) -> Option<Self> {
        let words: Vec<&str> =
            words.iter().copied().filter(|word| !QUALIFIERS.contains(word)).collect();
        if let [word] = words.as_slice()
            && let Some(known) = Self::by_another_name(word)
        {
            return Some(known);
        }
        let has = |wanted: &str| words.contains(&wanted);
        let known =
            ["int", "unsigned", "signed", "long", "short", "char", "float", "double", "bool"];
        if words.is_empty() || words.iter().any(|word| !known.contains(word)) {
            return None;
        }
        let alone = |found: Self| (words.len() == 1).then_some(found);
        match (has("float"), has("double"), has("bool")) {
            (true, ..) => return alone(Self::Float),
            // A `long double` is none that a kernel has.
            (_, true, _) => return alone(Self::Double),
            (.., true) => return alone(Self::Bool),
            (false, false, false) => {}
        }
        Some(match (has("char"), has("short"), has("long"), has("unsigned")) {
            (true, _, _, false) => Self::Char,
            (true, _, _, true) => Self::UnsignedChar,
            (_, true, _, false) => Self::Short,
            (_, true, _, true) => Self::UnsignedShort,
            (_, _, true, false) => Self::Long,
            (_, _, true, true) => Self::UnsignedLong,
            (false, false, false, false) => Self::Int,
            (false, false, false, true) => Self::Unsigned,
        })
    }

    fn by_another_name(word: &str) -> Option<Self> {
        Some(match word {
            "int8_t" => Self::Char,
            "uint8_t" | "uchar" => Self::UnsignedChar,
            "int16_t" => Self::Short,
            "uint16_t" | "ushort" => Self::UnsignedShort,
            "int32_t" => Self::Int,
            "uint32_t" | "uint" => Self::Unsigned,
            "int64_t" | "ptrdiff_t" | "ssize_t" | "intptr_t" => Self::Long,
            "uint64_t" | "size_t" | "uintptr_t" | "ulong" => Self::UnsignedLong,
            _ => return None,
        })
    }

    /// The type of a kernel's parameter.
    pub(in crate::scene) fn of_element(element: Element) -> Option<Self> {
        let Element { scalar, lanes: 1 } = element else { return None };
        Some(match scalar {
            Scalar::Bool => Self::Bool,
            Scalar::I8 => Self::Char,
            Scalar::U8 => Self::UnsignedChar,
            Scalar::I16 => Self::Short,
            Scalar::U16 => Self::UnsignedShort,
            Scalar::I32 => Self::Int,
            Scalar::U32 => Self::Unsigned,
            Scalar::I64 => Self::Long,
            Scalar::U64 => Self::UnsignedLong,
            Scalar::F32 => Self::Float,
            Scalar::F64 => Self::Double,
            Scalar::F16 | Scalar::BF16 => return None,
        })
    }

    pub(in crate::scene) const fn is_float(self) -> bool {
        matches!(self, Self::Float | Self::Double)
    }

    const fn is_unsigned(self) -> bool {
        match self {
            Self::Bool
            | Self::UnsignedChar
            | Self::UnsignedShort
            | Self::Unsigned
            | Self::UnsignedLong => true,
            Self::Char | Self::Short | Self::Int | Self::Long | Self::Float | Self::Double => false,
        }
    }

    pub(in crate::scene) const fn bytes(self) -> u32 {
        match self {
            Self::Bool | Self::Char | Self::UnsignedChar => 1,
            Self::Short | Self::UnsignedShort => 2,
            Self::Int | Self::Unsigned | Self::Float => 4,
            Self::Long | Self::UnsignedLong | Self::Double => 8,
        }
    }

    /// The least and the greatest whole number of the type; `None` of those that are not whole.
    pub(in crate::scene) fn range(self) -> Option<[i128; 2]> {
        let bits = 8 * self.bytes();
        match self {
            Self::Float | Self::Double => None,
            Self::Bool => Some([0, 1]),
            Self::UnsignedChar | Self::UnsignedShort | Self::Unsigned | Self::UnsignedLong => {
                Some([0, (1 << bits) - 1])
            }
            Self::Char | Self::Short | Self::Int | Self::Long => {
                Some([-(1 << (bits - 1)), (1 << (bits - 1)) - 1])
            }
        }
    }

    /// What arithmetic takes it for.
    pub(in crate::scene) fn promoted(self) -> Self {
        self.max(Self::Int)
    }

    /// The type in which arithmetic with both is done.
    pub(in crate::scene) fn common(self, other: Self) -> Self {
        self.promoted().max(other.promoted())
    }
}

impl Operator {
    /// The type of the result for operands of these types; `None` where there is none.
    pub(in crate::scene) fn of(self, left: Type, right: Type) -> Option<Type> {
        let common = left.common(right);
        match self {
            Self::Compare(_) => Some(Type::Bool),
            Self::ShiftLeft | Self::ShiftRight => (!common.is_float()).then(|| left.promoted()),
            Self::BitOr | Self::BitXor | Self::BitAnd | Self::Remainder => {
                (!common.is_float()).then_some(common)
            }
            Self::Add | Self::Subtract | Self::Multiply | Self::Divide => Some(common),
        }
    }

    /// What the operator makes of two numbers.
    pub(in crate::scene) fn apply(self, left: Number, right: Number) -> Option<Number> {
        let of = self.of(left.of(), right.of())?;
        if matches!(self, Self::ShiftLeft | Self::ShiftRight) {
            return self.shift(of, left.whole()?, right.whole()?);
        }
        let common = left.of().common(right.of());
        match (left.to(common)?, right.to(common)?) {
            (Number::Whole(_, a), Number::Whole(_, b)) => self.whole(of, a, b),
            (Number::Real(_, a), Number::Real(_, b)) => self.real(of, a, b),
            (Number::Whole(..), Number::Real(..)) | (Number::Real(..), Number::Whole(..)) => None,
        }
    }

    fn shift(self, of: Type, value: i128, by: i128) -> Option<Number> {
        let by = u32::try_from(by).ok().filter(|by| *by < 8 * of.bytes())?;
        let shifted = if self == Self::ShiftLeft { value << by } else { value >> by };
        Number::Whole(Type::Long, shifted).to(of)
    }

    fn whole(self, of: Type, a: i128, b: i128) -> Option<Number> {
        let value = match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            // Of 64 bits each.
            Self::Multiply => a.checked_mul(b)?,
            Self::Divide => a.checked_div(b)?,
            Self::Remainder => a.checked_rem(b)?,
            Self::BitOr => a | b,
            Self::BitXor => a ^ b,
            Self::BitAnd => a & b,
            Self::Compare(comparison) => return Some(Number::truth(comparison.holds(&a, &b))),
            Self::ShiftLeft | Self::ShiftRight => return None,
        };
        let [low, high] = of.range()?;
        match (low..=high).contains(&value) {
            true => Some(Number::Whole(of, value)),
            false if of.is_unsigned() => Some(Number::Whole(of, value & high)),
            false => None,
        }
    }

    fn real(self, of: Type, a: f64, b: f64) -> Option<Number> {
        match self {
            Self::Add => Number::real(of, a + b),
            Self::Subtract => Number::real(of, a - b),
            Self::Multiply => Number::real(of, a * b),
            Self::Divide => Number::real(of, a / b),
            Self::Compare(comparison) => Some(Number::truth(comparison.holds(&a, &b))),
            Self::BitOr
            | Self::BitXor
            | Self::BitAnd
            | Self::ShiftLeft
            | Self::ShiftRight
            | Self::Remainder => None,
        }
    }
}

impl Number {
    pub(in crate::scene) const fn int(value: i128) -> Self {
        Self::Whole(Type::Int, value)
    }

    pub(in crate::scene) fn truth(holds: bool) -> Self {
        Self::Whole(Type::Bool, i128::from(holds))
    }

    /// A floating-point number, rounded to its type; `None` where that is not finite. For the four operations and the
    /// root a double that is rounded to a float is what the operation on floats gives.
    pub(in crate::scene) fn real(of: Type, value: f64) -> Option<Self> {
        let value = if of == Type::Float { f64::from(value as f32) } else { value };
        value.is_finite().then_some(Self::Real(of, value))
    }

    pub(in crate::scene) const fn of(self) -> Type {
        match self {
            Self::Whole(of, _) | Self::Real(of, _) => of,
        }
    }

    pub(in crate::scene) const fn whole(self) -> Option<i128> {
        match self {
            Self::Whole(_, value) => Some(value),
            Self::Real(..) => None,
        }
    }

    pub(in crate::scene) const fn as_f64(self) -> f64 {
        match self {
            Self::Whole(_, value) => value as f64,
            Self::Real(_, value) => value,
        }
    }

    pub(in crate::scene) fn is_true(self) -> bool {
        self.as_f64() != 0.0
    }

    /// The number as one of another type; `None` where that has no such number, as an int none for 1e20.
    pub(in crate::scene) fn to(self, of: Type) -> Option<Self> {
        let Some([low, high]) = of.range() else {
            return match (self, of) {
                (Self::Whole(_, value), Type::Float) => {
                    Some(Self::Real(of, f64::from(value as f32)))
                }
                _ => Self::real(of, self.as_f64()),
            };
        };
        if of == Type::Bool {
            return Some(Self::truth(self.is_true()));
        }
        match self {
            Self::Whole(_, value) => {
                let bits = value & ((1 << (8 * of.bytes())) - 1);
                let is_negative = bits > high;
                Some(Self::Whole(of, if is_negative { bits - (high - low + 1) } else { bits }))
            }
            Self::Real(_, value) => {
                let value = value.trunc();
                let fits = value >= low as f64 && value < (high + 1) as f64;
                fits.then_some(Self::Whole(of, value as i128))
            }
        }
    }

    pub(in crate::scene) fn negated(self) -> Option<Self> {
        match self {
            // Not 0 less the number, which loses the sign of 0.
            Self::Real(of, value) => Some(Self::Real(of, -value)),
            Self::Whole(..) => Operator::Subtract.apply(Self::int(0), self),
        }
    }

    pub(in crate::scene) fn complement(self) -> Option<Self> {
        let of = self.of().promoted();
        let value = self.to(of)?.whole()?;
        Self::Whole(Type::Long, !value).to(of)
    }

    /// What the number is in a manifest, for a parameter of the type `of`: a float in the fewest digits that say it.
    pub(in crate::scene) fn written(self) -> String {
        match self {
            Self::Whole(Type::Bool, value) => (value != 0).to_string(),
            Self::Whole(_, value) => value.to_string(),
            Self::Real(Type::Float, value) => format!("{:?}", value as f32),
            Self::Real(_, value) => format!("{value:?}"),
        }
    }
}

/// The number that a literal is: with its prefix, its suffix, and the type that C++ gives it.
pub(in crate::scene) fn literal(text: &str) -> Option<Number> {
    let text = text.replace('\'', "").to_ascii_lowercase();
    let (radix, digits) = match text.as_bytes() {
        [b'0', b'x', ..] => (16, &text[2..]),
        [b'0', b'b', ..] => (2, &text[2..]),
        [b'0', b'0'..=b'9', ..] => (8, &text[1..]),
        _ => (10, text.as_str()),
    };
    let is_real = match radix {
        16 => digits.contains(['.', 'p']),
        2 => false,
        _ => digits.contains(['.', 'e']),
    };
    if is_real {
        // Of hexadecimal fractions nothing is made.
        return if radix == 16 { None } else { real_literal(&text) };
    }
    let end = digits.find(['u', 'l']).unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(end);
    let value = i128::from_str_radix(digits, radix).ok().filter(|value| *value >= 0)?;
    let candidates: &[Type] = match (suffix, radix) {
        ("", 10) => &[Type::Int, Type::Long],
        ("", _) => &[Type::Int, Type::Unsigned, Type::Long, Type::UnsignedLong],
        ("u", _) => &[Type::Unsigned, Type::UnsignedLong],
        ("l" | "ll", 10) => &[Type::Long],
        ("l" | "ll", _) => &[Type::Long, Type::UnsignedLong],
        ("ul" | "ull" | "lu" | "llu", _) => &[Type::UnsignedLong],
        _ => return None,
    };
    let holds = |of: &&Type| of.range().is_some_and(|[_, high]| value <= high);
    Some(Number::Whole(*candidates.iter().find(holds)?, value))
}

/// The number that a literal is in C++, perhaps with a sign: `0.1f` is the `float` next to it, and `-1u` is large.
pub(in crate::scene) fn literal_of_cpp(text: &str) -> Option<scene::Number> {
    let number = match text.strip_prefix('-') {
        Some(text) => literal(text.trim_start())?.negated()?,
        None => literal(text)?,
    };
    match number {
        Number::Whole(_, value) => scene::Number::int(value),
        Number::Real(_, value) => Some(scene::Number::Float(value)),
    }
}

fn real_literal(text: &str) -> Option<Number> {
    match text.strip_suffix('f') {
        // In one rounding, as the compiler does.
        Some(digits) => Number::real(Type::Float, f64::from(digits.parse::<f32>().ok()?)),
        None if text.ends_with('l') => None,
        None => Number::real(Type::Double, text.parse().ok()?),
    }
}

/// A character, as `'a'` and `'\n'`.
pub(in crate::scene) fn character(text: &str) -> Option<Number> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut letters = inner.chars();
    let value = match (letters.next()?, letters.next(), letters.next()) {
        ('\\', Some(letter), None) => match letter {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '0' => '\0',
            '\\' | '\'' | '"' => letter,
            _ => return None,
        },
        (letter, None, None) if letter != '\\' => letter,
        _ => return None,
    };
    value.is_ascii().then(|| Number::Whole(Type::Char, i128::from(u32::from(value))))
}
