//! Floating-point numbers as integers times powers of two: computed exactly, rounded once, as the PTX ISA says.
//!
//! This is what gives the interpreter's halves and directed roundings their exact results, and matrices of doubles
//! theirs; it shares nothing with the compiler's arithmetic, and its tests compare it with the processor's.

use std::cmp::Ordering;

use crate::ptx::{modifier::Rounding, types::Type};

/// A binary format of IEEE 754, or one like it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Format {
    /// Bits of the significand, the hidden one included.
    pub(super) precision: u32,
    /// The exponent of the largest numbers, and the bias.
    pub(super) max_exponent: i32,
    /// Results that would be subnormal are zeros: those below the least normal number when rounded as if there were
    /// smaller ones (IEEE 754, 7.5, "after rounding"; so do an H200 and x86).
    pub(super) flushes: bool,
}

pub(super) const F16: Format = Format::new(11, 15);
pub(super) const BF16: Format = Format::new(8, 127);
pub(super) const F32: Format = Format::new(24, 127);
pub(super) const F64: Format = Format::new(53, 1023);

impl Format {
    pub(super) const fn new(precision: u32, max_exponent: i32) -> Self {
        Self { precision, max_exponent, flushes: false }
    }

    /// The format with `.ftz`, which only these two have.
    pub(super) fn flushing(self, ftz: bool) -> Self {
        Self { flushes: ftz && (self == F32 || self == F16), ..self }
    }

    /// The format of a floating-point type (of one value of a packed type).
    pub(super) const fn of(ty: Type) -> Option<Self> {
        Some(match ty.element() {
            Type::F16 => F16,
            Type::Bf16 => BF16,
            Type::F32 => F32,
            Type::F64 => F64,
            Type::Tf32 | Type::E4m3x2 | Type::E5m2x2 => return None,
            Type::F16x2 | Type::Bf16x2 | Type::F32x2 | Type::U16x2 | Type::S16x2 => return None,
            Type::B8 | Type::B16 | Type::B32 | Type::B64 | Type::B128 => return None,
            Type::U8 | Type::U16 | Type::U32 | Type::U64 => return None,
            Type::S8 | Type::S16 | Type::S32 | Type::S64 => return None,
            Type::Pred | Type::Texref | Type::Samplerref | Type::Surfref => return None,
        })
    }

    /// Bits of an encoded number.
    pub(super) const fn width(self) -> u32 {
        self.precision + self.exponent_bits()
    }

    const fn exponent_bits(self) -> u32 {
        (self.max_exponent as u32 + 1).trailing_zeros() + 1
    }

    pub(super) const fn sign_bit(self) -> u64 {
        1 << (self.width() - 1)
    }

    /// Positive infinity.
    pub(super) const fn infinity(self) -> u64 {
        (self.sign_bit() - 1) & !((1 << (self.precision - 1)) - 1)
    }

    /// The largest finite number.
    pub(super) const fn largest(self) -> u64 {
        self.infinity() - 1
    }

    /// The canonical NaN (PTX ISA, 9.7.3 and 9.7.4): all ones but the sign; quiet and positive in `f64`.
    pub(super) const fn nan(self) -> u64 {
        match self.width() {
            64 => 0x7ff8_0000_0000_0000,
            _ => self.sign_bit() - 1,
        }
    }

    pub(super) const fn one(self) -> u64 {
        (self.max_exponent as u64) << (self.precision - 1)
    }

    pub(super) const fn is_nan(self, bits: u64) -> bool {
        bits & !self.sign_bit() > self.infinity()
    }

    pub(super) const fn is_infinite(self, bits: u64) -> bool {
        bits & !self.sign_bit() == self.infinity()
    }

    pub(super) const fn is_zero(self, bits: u64) -> bool {
        bits & !self.sign_bit() == 0
    }

    pub(super) const fn is_negative(self, bits: u64) -> bool {
        bits & self.sign_bit() != 0
    }

    pub(super) const fn is_subnormal(self, bits: u64) -> bool {
        let magnitude = bits & !self.sign_bit();
        magnitude != 0 && magnitude < 1 << (self.precision - 1)
    }

    /// Subnormals as zeros of their sign.
    pub(super) const fn flushed(self, bits: u64) -> u64 {
        if self.is_subnormal(bits) { bits & self.sign_bit() } else { bits }
    }
}

/// A finite number: `mantissa * 2^exponent`, or a little more of that magnitude where it is inexact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exact {
    negative: bool,
    mantissa: u128,
    exponent: i32,
    /// The magnitude is larger than that, by less than one unit of the mantissa.
    more: bool,
}

impl Exact {
    /// A finite number of a format.
    pub(super) fn decode(format: Format, bits: u64) -> Self {
        let fraction = bits & ((1 << (format.precision - 1)) - 1);
        let biased = (bits & format.infinity()) >> (format.precision - 1);
        let hidden = u64::from(biased != 0) << (format.precision - 1);
        let lowest = 1 - format.max_exponent - (format.precision as i32 - 1);
        Self {
            negative: format.is_negative(bits),
            mantissa: u128::from(fraction | hidden),
            exponent: lowest + biased.max(1) as i32 - 1,
            more: false,
        }
    }

    pub(super) fn integer(value: i128) -> Self {
        Self::scaled(value, 0)
    }

    /// `value * 2^exponent`.
    pub(super) fn scaled(value: i128, exponent: i32) -> Self {
        Self { negative: value < 0, mantissa: value.unsigned_abs(), exponent, more: false }
    }

    fn is_zero(self) -> bool {
        self.mantissa == 0 && !self.more
    }

    /// Bits that the mantissa has.
    fn length(self) -> i32 {
        128 - self.mantissa.leading_zeros() as i32
    }

    /// The product; the mantissas have at most 64 bits and are exact.
    pub(super) fn times(self, other: Self) -> Self {
        Self {
            negative: self.negative != other.negative,
            mantissa: self.mantissa * other.mantissa,
            exponent: self.exponent + other.exponent,
            more: false,
        }
    }

    /// The quotient; neither is zero, the mantissas have at most 53 bits and are exact.
    pub(super) fn over(self, other: Self) -> Self {
        let up = self.mantissa.leading_zeros().saturating_sub(1);
        let dividend = self.mantissa << up;
        Self {
            negative: self.negative != other.negative,
            mantissa: dividend / other.mantissa,
            exponent: self.exponent - up as i32 - other.exponent,
            more: !dividend.is_multiple_of(other.mantissa),
        }
    }

    /// The square root of a positive number, whose mantissa has at most 53 bits and is exact.
    pub(super) fn root(self) -> Self {
        let up = self.mantissa.leading_zeros().saturating_sub(2) as i32;
        let up = up - (self.exponent - up).rem_euclid(2);
        let square = self.mantissa << up;
        let root = square.isqrt();
        Self {
            negative: false,
            mantissa: root,
            exponent: (self.exponent - up) / 2,
            more: root * root != square,
        }
    }

    /// Moved right until its exponent is `exponent`, or left.
    fn aligned(self, exponent: i32) -> Self {
        let right = exponent - self.exponent;
        if right <= 0 {
            return Self { mantissa: self.mantissa << -right, exponent, ..self };
        }
        let kept = self.mantissa.checked_shr(right as u32).unwrap_or(0);
        let back = kept.checked_shl(right as u32).unwrap_or(0);
        Self { mantissa: kept, exponent, more: self.more || back != self.mantissa, ..self }
    }

    /// The sum. Both are exact, with at most 106 bits of mantissa; bits that are lost do not matter to a result of
    /// 53 bits, since the larger operand then has many more.
    ///
    /// `down`: a sum of zero out of numbers of different signs is negative.
    pub(super) fn plus(self, other: Self, down: bool) -> Self {
        let (a, b) = (self, other);
        if a.is_zero() && b.is_zero() {
            let negative = if a.negative == b.negative { a.negative } else { down };
            return Self { negative, ..a };
        }
        if a.is_zero() || b.is_zero() {
            return if a.is_zero() { b } else { a };
        }
        // The highest bit of either comes to bit 125, or lower where nothing is lost so.
        let top = (a.exponent + a.length()).max(b.exponent + b.length());
        let exponent = a.exponent.min(b.exponent).max(top - 126);
        let (a, b) = (a.aligned(exponent), b.aligned(exponent));
        if a.negative == b.negative {
            let more = a.more || b.more;
            return Self { mantissa: a.mantissa + b.mantissa, more, ..a };
        }
        if a.mantissa == b.mantissa && !a.more && !b.more {
            return Self { negative: down, mantissa: 0, exponent, more: false };
        }
        let (large, small) = if a.mantissa < b.mantissa { (b, a) } else { (a, b) };
        // Less `small` and a little more is less one unit and a little more.
        let borrow = u128::from(small.more);
        let mantissa = large.mantissa - small.mantissa - borrow;
        Self { negative: large.negative, mantissa, exponent, more: small.more || large.more }
    }

    /// Rounded to a format: its bits.
    pub(super) fn round(self, format: Format, rounding: Rounding) -> u64 {
        let sign = if self.negative { format.sign_bit() } else { 0 };
        let code = self.magnitude(format, rounding);
        if code < format.infinity() {
            return sign | code;
        }
        let nearest = matches!(rounding, Rounding::Nearest | Rounding::NearestAway);
        let infinite = nearest || rounds_up(rounding, self.negative);
        sign | if infinite { format.infinity() } else { format.largest() }
    }

    /// The magnitude's bits in a format as if its exponent had no end: what overflows is at least its infinity.
    pub(super) fn magnitude(self, format: Format, rounding: Rounding) -> u64 {
        if self.is_zero() {
            return 0;
        }
        let precision = format.precision as i32;
        let lowest = 1 - format.max_exponent - (precision - 1);
        let own = self.exponent + self.length() - precision;
        let unit = if format.flushes { own } else { own.max(lowest) };
        let kept = self.aligned(unit);
        let away = kept.more && self.goes_away(unit, kept.mantissa & 1 == 1, rounding);
        let mut mantissa = kept.mantissa as u64 + u64::from(away);
        let mut biased = unit - lowest;
        if mantissa >> precision != 0 {
            mantissa >>= 1;
            biased += 1;
        }
        let hidden = 1u64 << (precision - 1);
        if biased < 0 {
            return 0;
        }
        if mantissa < hidden {
            return mantissa;
        }
        ((biased as u64 + 1) << (precision - 1)) | (mantissa & (hidden - 1))
    }

    /// Whether an inexact magnitude goes to the next unit, from an `odd` or even one.
    fn goes_away(self, unit: i32, odd: bool, rounding: Rounding) -> bool {
        match rounding {
            Rounding::Nearest | Rounding::NearestAway => match self.against_half(unit) {
                Ordering::Less => false,
                Ordering::Equal => odd || rounding == Rounding::NearestAway,
                Ordering::Greater => true,
            },
            directed @ (Rounding::Zero | Rounding::Down | Rounding::Up) => {
                rounds_up(directed, self.negative)
            }
        }
    }

    /// What lies below `unit`, compared with half of it.
    fn against_half(self, unit: i32) -> Ordering {
        let bits = (unit - self.exponent) as u32;
        if bits == 0 || bits > 128 {
            return Ordering::Less;
        }
        let below = self.mantissa & u128::MAX.checked_shr(128 - bits).unwrap_or(0);
        let half = 1u128 << (bits - 1);
        let order = below.cmp(&half);
        if order.is_eq() && self.more { Ordering::Greater } else { order }
    }

    /// Rounded to an integer; `None` where that has more than 126 bits.
    pub(super) fn to_integer(self, rounding: Rounding) -> Option<i128> {
        if self.is_zero() {
            return Some(0);
        }
        if self.exponent + self.length() > 126 {
            return None;
        }
        let kept = self.aligned(0);
        let away = kept.more && self.goes_away(0, kept.mantissa & 1 == 1, rounding);
        let value = kept.mantissa as i128 + i128::from(away);
        Some(if self.negative { -value } else { value })
    }
}

/// Whether a directed rounding enlarges the magnitude.
fn rounds_up(rounding: Rounding, negative: bool) -> bool {
    match rounding {
        Rounding::Up => !negative,
        Rounding::Down => negative,
        Rounding::Zero | Rounding::Nearest | Rounding::NearestAway => false,
    }
}

/// `a + b` in a format.
pub(super) fn add(f: Format, a: u64, b: u64, rounding: Rounding) -> u64 {
    let opposed = f.is_negative(a) != f.is_negative(b);
    if f.is_nan(a) || f.is_nan(b) || f.is_infinite(a) && f.is_infinite(b) && opposed {
        return f.nan();
    }
    if f.is_infinite(a) || f.is_infinite(b) {
        return if f.is_infinite(a) { a } else { b };
    }
    let down = rounding == Rounding::Down;
    Exact::decode(f, a).plus(Exact::decode(f, b), down).round(f, rounding)
}

/// `a * b` in a format.
pub(super) fn multiply(f: Format, a: u64, b: u64, rounding: Rounding) -> u64 {
    fuse(f, a, b, None, rounding)
}

/// `a * b + c` in a format.
pub(super) fn fused(f: Format, a: u64, b: u64, c: u64, rounding: Rounding) -> u64 {
    fuse(f, a, b, Some(c), rounding)
}

fn fuse(f: Format, a: u64, b: u64, c: Option<u64>, rounding: Rounding) -> u64 {
    let sign = (a ^ b) & f.sign_bit();
    let infinite = f.is_infinite(a) || f.is_infinite(b);
    let invalid = infinite && (f.is_zero(a) || f.is_zero(b));
    if f.is_nan(a) || f.is_nan(b) || c.is_some_and(|c| f.is_nan(c)) || invalid {
        return f.nan();
    }
    let addend = c.filter(|c| f.is_infinite(*c));
    if infinite {
        let product = sign | f.infinity();
        return if addend.is_some_and(|c| c != product) { f.nan() } else { product };
    }
    if let Some(addend) = addend {
        return addend;
    }
    let product = Exact::decode(f, a).times(Exact::decode(f, b));
    let sum = match c {
        Some(c) => product.plus(Exact::decode(f, c), rounding == Rounding::Down),
        None => product,
    };
    sum.round(f, rounding)
}

/// `a / b` in a format.
pub(super) fn divide(f: Format, a: u64, b: u64, rounding: Rounding) -> u64 {
    let sign = (a ^ b) & f.sign_bit();
    let both = |is: fn(Format, u64) -> bool| is(f, a) && is(f, b);
    if f.is_nan(a) || f.is_nan(b) || both(Format::is_infinite) || both(Format::is_zero) {
        f.nan()
    } else if f.is_infinite(a) || f.is_zero(b) {
        sign | f.infinity()
    } else if f.is_zero(a) || f.is_infinite(b) {
        sign
    } else {
        Exact::decode(f, a).over(Exact::decode(f, b)).round(f, rounding)
    }
}

/// The square root of `a` in a format.
pub(super) fn square_root(f: Format, a: u64, rounding: Rounding) -> u64 {
    if f.is_zero(a) {
        a
    } else if f.is_nan(a) || f.is_negative(a) {
        f.nan()
    } else if f.is_infinite(a) {
        a
    } else {
        Exact::decode(f, a).root().round(f, rounding)
    }
}

/// A number of one format in another.
pub(super) fn convert(from: Format, to: Format, a: u64, rounding: Rounding) -> u64 {
    let sign = if from.is_negative(a) { to.sign_bit() } else { 0 };
    if from.is_nan(a) {
        to.nan()
    } else if from.is_infinite(a) {
        sign | to.infinity()
    } else {
        Exact::decode(from, a).round(to, rounding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of all kinds: random bits, random exponents near each other, edges.
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }

        fn number(&mut self, f: Format) -> u64 {
            let edges = [0, 1, f.one(), f.infinity(), f.largest(), f.one() - 1, f.one() + 1];
            let bits = self.next() & ((f.sign_bit() << 1).wrapping_sub(1));
            match self.next() % 4 {
                0 => edges[self.next() as usize % edges.len()] | bits & f.sign_bit(),
                1 => bits,
                // Near one, some low bits zero.
                2 => f.one() + ((bits % (f.one() / 16)) & !0xf),
                _ => f.one() + bits % (f.one() / 64),
            }
        }
    }

    fn same(f: Format, ours: u64, theirs: u64, what: &str) {
        assert!(
            ours == theirs || f.is_nan(ours) && f.is_nan(theirs),
            "{what}: {ours:#x} where the processor has {theirs:#x}"
        );
    }

    #[test]
    fn nearest_is_what_the_processor_does_in_double_precision() {
        let (mut random, n) = (Random(1), Rounding::Nearest);
        for _ in 0..20_000 {
            let [a, b, c] = [(); 3].map(|()| random.number(F64));
            let [x, y, z] = [a, b, c].map(f64::from_bits);
            let what = format!("{x:e} {y:e} {z:e}");
            same(F64, add(F64, a, b, n), (x + y).to_bits(), &what);
            same(F64, multiply(F64, a, b, n), (x * y).to_bits(), &what);
            same(F64, divide(F64, a, b, n), (x / y).to_bits(), &what);
            same(F64, square_root(F64, a, n), x.sqrt().to_bits(), &what);
            same(F64, fused(F64, a, b, c, n), x.mul_add(y, z).to_bits(), &what);
            same(F32, convert(F64, F32, a, n), (x as f32).to_bits().into(), &what);
        }
    }

    #[test]
    fn nearest_is_what_the_processor_does_in_single_precision() {
        let (mut random, n) = (Random(2), Rounding::Nearest);
        for _ in 0..20_000 {
            let [a, b, c] = [(); 3].map(|()| random.number(F32));
            let [x, y, z] = [a, b, c].map(|bits| f32::from_bits(bits as u32));
            let bits = |value: f32| u64::from(value.to_bits());
            let what = format!("{x:e} {y:e} {z:e}");
            same(F32, add(F32, a, b, n), bits(x + y), &what);
            same(F32, multiply(F32, a, b, n), bits(x * y), &what);
            same(F32, divide(F32, a, b, n), bits(x / y), &what);
            same(F32, square_root(F32, a, n), bits(x.sqrt()), &what);
            same(F32, fused(F32, a, b, c, n), bits(x.mul_add(y, z)), &what);
            let half = half::f16::from_f32(x).to_bits();
            same(F16, convert(F32, F16, a, n), half.into(), &what);
            let brain = half::bf16::from_f32(x).to_bits();
            same(BF16, convert(F32, BF16, a, n), brain.into(), &what);
        }
    }

    /// Directed results enclose the exact one: down is at or one step below up, and nearest is one of both.
    #[test]
    fn directed_roundings_enclose_the_nearest() {
        let mut random = Random(3);
        let below = |x: f64, y: f64| x == y || x.next_up() == y || x.is_nan() && y.is_nan();
        for _ in 0..20_000 {
            let [a, b, c] = [(); 3].map(|()| random.number(F64));
            type Operation = fn(u64, u64, u64, Rounding) -> u64;
            let operations: [Operation; 5] = [
                |a, b, _, r| add(F64, a, b, r),
                |a, b, _, r| multiply(F64, a, b, r),
                |a, b, _, r| divide(F64, a, b, r),
                |a, _, _, r| square_root(F64, a, r),
                |a, b, c, r| fused(F64, a, b, c, r),
            ];
            for (index, operation) in operations.iter().enumerate() {
                let of = |r| f64::from_bits(operation(a, b, c, r));
                let (down, up) = (of(Rounding::Down), of(Rounding::Up));
                let (near, zero) = (of(Rounding::Nearest), of(Rounding::Zero));
                let what = format!("{index}: {a:#x} {b:#x} {c:#x}: {down:e} {near:e} {up:e}");
                assert!(below(down, up), "{what}");
                assert!(near.is_nan() || near == down || near == up, "{what}");
                assert!(
                    zero.is_nan() || zero == if near.is_sign_negative() { up } else { down },
                    "{what}"
                );
            }
        }
    }

    #[test]
    fn known_directed_results() {
        let one = F32.one();
        let tiny = 1; // the smallest subnormal
        let sum = |b, r| add(F32, one, b, r);
        assert_eq!(sum(tiny, Rounding::Nearest), one);
        assert_eq!(sum(tiny, Rounding::Up), one + 1);
        assert_eq!(sum(tiny, Rounding::Zero), one);
        assert_eq!(sum(F32.sign_bit() | tiny, Rounding::Down), one - 1);
        assert_eq!(sum(F32.sign_bit() | tiny, Rounding::Up), one);
        // 1/3 = 0x3eaaaaaa.aaa…
        let three = u64::from(3f32.to_bits());
        assert_eq!(divide(F32, one, three, Rounding::Down), 0x3eaa_aaaa);
        assert_eq!(divide(F32, one, three, Rounding::Up), 0x3eaa_aaab);
        assert_eq!(multiply(F32, F32.largest(), three, Rounding::Zero), F32.largest());
        assert_eq!(multiply(F32, F32.largest(), three, Rounding::Up), F32.infinity());
        let negated = F32.sign_bit() | one;
        assert_eq!(add(F32, one, negated, Rounding::Down), F32.sign_bit());
        assert_eq!(add(F32, one, negated, Rounding::Nearest), 0);
        // fma: (1 + 2^-10)^2 in half precision has a bit that rounding twice would lose.
        assert_eq!(fused(F16, 0x3c01, 0x3c01, 0x8000, Rounding::Nearest), 0x3c02);
        assert_eq!(fused(F16, 0x3c01, 0x3c01, 0x0001, Rounding::Up), 0x3c03);
    }

    #[test]
    fn integers() {
        let of = |value: f64, r| Exact::decode(F64, value.to_bits()).to_integer(r);
        assert_eq!(of(2.5, Rounding::Nearest), Some(2));
        assert_eq!(of(3.5, Rounding::Nearest), Some(4));
        assert_eq!(of(-2.5, Rounding::NearestAway), Some(-3));
        assert_eq!(of(-2.5, Rounding::Down), Some(-3));
        assert_eq!(of(-2.5, Rounding::Up), Some(-2));
        assert_eq!(of(1e-300, Rounding::Up), Some(1));
        assert_eq!(of(1e300, Rounding::Up), None);
        assert_eq!(Exact::integer(-5).round(F32, Rounding::Zero), u64::from((-5f32).to_bits()));
    }
}
