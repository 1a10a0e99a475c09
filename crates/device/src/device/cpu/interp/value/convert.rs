//! `cvt` and `cvt.pack`: PTX ISA 9.7.9.

use super::{
    clamped,
    float::{positive, saturated},
    number, range, unsigned,
};
use crate::{
    device::cpu::exact::{self, Exact, F16, F32, F64, Format},
    ptx::{
        modifier::{Cvt, IntRounding, Packed, Rounding},
        types::Type,
    },
};

pub(super) fn convert(cvt: &Cvt, s: &[u64; 5]) -> Option<u64> {
    if !cvt.to.is_packed() {
        return scalar(cvt, s[0]);
    }
    if Small::of(cvt.to).is_some() || Small::of(cvt.from).is_some() {
        return small_pair(cvt, s);
    }
    if cvt.from != Type::F32 || cvt.to == Type::F32x2 || !cvt.to.is_float() {
        return None;
    }
    // Two numbers: the first becomes the upper half.
    let one = Cvt { to: cvt.to.element(), ..*cvt };
    let [high, low] = [scalar(&one, s[0])?, scalar(&one, s[1])?];
    Some(unsigned(high, 16) << 16 | unsigned(low, 16))
}

/// An 8-bit format: as IEEE's but, in `e4m3`, that the largest exponent is one of numbers, and only all ones a NaN.
#[derive(Clone, Copy, Debug)]
struct Small {
    format: Format,
    largest: u64,
}

impl Small {
    fn of(ty: Type) -> Option<Self> {
        let known = [
            (Type::E4m3x2, Self { format: Format::new(4, 7), largest: 0x7e }),
            (Type::E5m2x2, Self { format: Format::new(3, 15), largest: 0x7b }),
        ];
        known.into_iter().find(|(known, _)| *known == ty).map(|(_, small)| small)
    }

    /// A finite or infinite number, rounded to nearest; what is beyond the largest becomes it.
    fn narrow(self, from: Format, bits: u64) -> u64 {
        if from.is_nan(bits) {
            return 0x7f;
        }
        let sign = if from.is_negative(bits) { 0x80 } else { 0 };
        if from.is_infinite(bits) {
            return sign | self.largest;
        }
        let code = Exact::decode(from, bits).magnitude(self.format, Rounding::Nearest);
        sign | code.min(self.largest)
    }

    fn widen(self, bits: u64, to: Format) -> u64 {
        let (sign, code) = (if bits & 0x80 != 0 { to.sign_bit() } else { 0 }, bits & 0x7f);
        if code > self.largest {
            let infinite = self.largest == 0x7b && code == 0x7c;
            return if infinite { sign | to.infinity() } else { to.nan() };
        }
        // Exponent and fraction, the exponent being one of a number whatever it is.
        let fraction = code & ((1 << (self.format.precision - 1)) - 1);
        let exponent = (code >> (self.format.precision - 1)) as i32;
        let hidden = if exponent > 0 { 1 << (self.format.precision - 1) } else { 0 };
        let lowest = 2 - self.format.max_exponent - self.format.precision as i32;
        let number = Exact::scaled(i128::from(fraction | hidden), lowest + exponent.max(1) - 1);
        sign | number.round(to, Rounding::Nearest)
    }
}

/// Two numbers to or from 8 bits each.
fn small_pair(cvt: &Cvt, s: &[u64; 5]) -> Option<u64> {
    let positive_of = |f, value| if cvt.relu { positive(f, value) } else { value };
    if let Some(from) = Small::of(cvt.from) {
        let to = Format::of(cvt.to).filter(|f| f.width() == 16)?;
        let [low, high] = [0, 8].map(|at| positive_of(to, from.widen(s[0] >> at & 0xff, to)));
        return Some(high << 16 | low);
    }
    let to = Small::of(cvt.to)?;
    let from = Format::of(cvt.from)?;
    let [high, low] = match (cvt.from.is_packed(), from.width()) {
        (false, 32) => [unsigned(s[0], 32), unsigned(s[1], 32)],
        (true, 16) => [unsigned(s[0] >> 16, 16), unsigned(s[0], 16)],
        _ => return None,
    };
    let [high, low] = [high, low].map(|value| to.narrow(from, positive_of(from, value)));
    Some(high << 8 | low)
}

/// The result, extended to 64 bits where it is signed.
fn scalar(cvt: &Cvt, a: u64) -> Option<u64> {
    let known = |ty: Type| !ty.is_packed() && !matches!(ty, Type::Pred | Type::B128);
    if !known(cvt.from) || !known(cvt.to) {
        return None;
    }
    match (cvt.from.is_float(), cvt.to.is_float()) {
        (false, false) => Some(int_to_int(cvt, a)),
        (false, true) => int_to_float(cvt, a),
        (true, false) => float_to_int(cvt, a),
        (true, true) => float_to_float(cvt, a),
    }
}

fn int_to_int(cvt: &Cvt, a: u64) -> u64 {
    let value = number(a, cvt.from);
    let value = if cvt.sat { clamped(value, cvt.to) } else { value as u64 };
    number(value, cvt.to) as u64
}

fn int_to_float(cvt: &Cvt, a: u64) -> Option<u64> {
    let f = Format::of(cvt.to)?;
    let rounding = cvt.rounding.unwrap_or(Rounding::Nearest);
    let value = Exact::integer(number(a, cvt.from)).round(f, rounding);
    Some(if cvt.sat { saturated(f, value) } else { value })
}

fn integral(rounding: IntRounding) -> Rounding {
    match rounding {
        IntRounding::Nearest => Rounding::Nearest,
        IntRounding::Zero => Rounding::Zero,
        IntRounding::Down => Rounding::Down,
        IntRounding::Up => Rounding::Up,
    }
}

fn flushed(cvt: &Cvt, f: Format, bits: u64) -> u64 {
    if cvt.ftz && f == F32 { f.flushed(bits) } else { bits }
}

/// Clamped to the type. NaN becomes zero from `f32` and narrower to at most 32 bits, else the highest bit alone.
fn float_to_int(cvt: &Cvt, a: u64) -> Option<u64> {
    let f = Format::of(cvt.from)?;
    let a = flushed(cvt, f, unsigned(a, f.width()));
    let (least, most) = range(cvt.to);
    let value = if f.is_nan(a) {
        let zero = f != F64 && cvt.to.bits() < 64;
        if zero { 0 } else { 1i128 << (cvt.to.bits() - 1) }
    } else {
        let rounding = cvt.integer.map_or(Rounding::Zero, integral);
        let number = if f.is_infinite(a) { None } else { Exact::decode(f, a).to_integer(rounding) };
        number.unwrap_or(if f.is_negative(a) { least } else { most }).clamp(least, most)
    };
    Some(number(value as u64, cvt.to) as u64)
}

fn float_to_float(cvt: &Cvt, a: u64) -> Option<u64> {
    if cvt.to == Type::Tf32 {
        return to_tf32(cvt, a);
    }
    let (from, to) = (Format::of(cvt.from)?, Format::of(cvt.to)?);
    let a = flushed(cvt, from, unsigned(a, from.width()));
    let a = match cvt.integer {
        Some(rounding) => to_integral(from, a, integral(rounding)),
        None => a,
    };
    let rounding = cvt.rounding.unwrap_or(Rounding::Nearest);
    let rounded = if to == F32 { to.flushing(cvt.ftz) } else { to };
    let mut value = if from == to { a } else { exact::convert(from, rounded, a, rounding) };
    if from == to && from.is_nan(value) && from != F64 {
        value = from.nan();
    }
    if cvt.satfinite && !to.is_nan(value) && to.is_infinite(value) {
        value = value & to.sign_bit() | to.largest();
    }
    value = flushed(cvt, to, value);
    value = if cvt.relu { positive(to, value) } else { value };
    Some(if cvt.sat { saturated(to, value) } else { value })
}

/// A number rounded to an integral one; the sign of a zero stays.
fn to_integral(f: Format, a: u64, rounding: Rounding) -> u64 {
    if f.is_nan(a) || f.is_infinite(a) {
        return a;
    }
    // What has no integer of so many bits is integral.
    match Exact::decode(f, a).to_integer(rounding) {
        None => a,
        Some(value) => Exact::integer(value).round(f, rounding) | a & f.sign_bit(),
    }
}

/// TensorFloat-32: the exponent of `f32`, ten bits of fraction, in the upper bits of the register.
fn to_tf32(cvt: &Cvt, a: u64) -> Option<u64> {
    let rounding = cvt.rounding?;
    if cvt.from != Type::F32 {
        return None;
    }
    let tf32 = Format::new(F16.precision, F32.max_exponent);
    let value = exact::convert(F32, tf32, unsigned(a, 32), rounding);
    let value = if cvt.relu { positive(tf32, value) } else { value };
    let finite = cvt.satfinite && tf32.is_infinite(value);
    let value = if finite { value & tf32.sign_bit() | tf32.largest() } else { value };
    Some(if tf32.is_nan(value) { F32.nan() } else { value << 13 })
}

/// `cvt.pack`: both saturated, `a` above `b`, above them the low bits of `c`.
pub(super) fn pack(to: Packed, from: Type, merge: bool, s: &[u64; 5]) -> Option<u64> {
    if from.is_float() {
        return None;
    }
    let (bits, (least, most)) = (to.bits(), to.range());
    let [a, b] = [s[0], s[1]].map(|value| {
        let number = number(value, from).clamp(least.into(), most.into());
        unsigned(number as u64, bits)
    });
    let both = a << bits | b;
    Some(if merge { unsigned(s[2], 32 - 2 * bits) << (2 * bits) | both } else { both })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cvt(to: Type, from: Type) -> Cvt {
        let (rounding, integer) = (None, None);
        Cvt { to, from, rounding, integer, ftz: false, sat: false, relu: false, satfinite: false }
    }

    fn of(cvt: &Cvt, a: u64) -> u64 {
        convert(cvt, &[a, 0, 0, 0, 0]).unwrap_or_else(|| panic!("{cvt:?}"))
    }

    #[test]
    fn floats_become_integers_as_in_rust_where_they_are_numbers() {
        let rust = [1.5f32, -1.5, 1e30, -1e30, 3e9, -0.0, f32::INFINITY, f32::NEG_INFINITY];
        let zero = |to| Cvt { integer: Some(IntRounding::Zero), ..cvt(to, Type::F32) };
        for x in rust {
            let bits = x.to_bits().into();
            assert_eq!(of(&zero(Type::S32), bits) as i32, x as i32, "{x}");
            assert_eq!(of(&zero(Type::U32), bits) as u32, x as u32, "{x}");
            assert_eq!(of(&zero(Type::S64), bits) as i64, x as i64, "{x}");
            assert_eq!(of(&zero(Type::U64), bits), x as u64, "{x}");
            assert_eq!(of(&zero(Type::S8), bits) as i8, x as i8, "{x}");
        }
        let nan = u64::from(f32::NAN.to_bits());
        assert_eq!(of(&zero(Type::S32), nan), 0);
        assert_eq!(of(&zero(Type::S64), nan), 1 << 63);
        let double = Cvt { from: Type::F64, ..zero(Type::U32) };
        assert_eq!(of(&double, f64::NAN.to_bits()), 1 << 31);
    }

    #[test]
    fn integral_numbers_keep_the_sign_of_zero() {
        let round = |r| Cvt { integer: Some(r), ..cvt(Type::F32, Type::F32) };
        let bits = |x: f32| u64::from(x.to_bits());
        for x in [-0.4f32, 0.5, 1.5, 2.5, -2.5, 1e20, -7.0, 0.0] {
            assert_eq!(of(&round(IntRounding::Nearest), bits(x)), bits(x.round_ties_even()), "{x}");
            assert_eq!(of(&round(IntRounding::Zero), bits(x)), bits(x.trunc()), "{x}");
            assert_eq!(of(&round(IntRounding::Down), bits(x)), bits(x.floor()), "{x}");
            assert_eq!(of(&round(IntRounding::Up), bits(x)), bits(x.ceil()), "{x}");
        }
    }

    #[test]
    fn packing_saturates() {
        let of = |to, a: i32, b: i32| {
            pack(to, Type::S32, true, &[u64::from(a as u32), u64::from(b as u32), 0xabcd, 0, 0])
        };
        assert_eq!(of(Packed::U8, 300, -5), Some(0xabcd_ff00));
        assert_eq!(of(Packed::S8, -300, 7), Some(0xabcd_8007));
        assert_eq!(of(Packed::S4, -9, 3), Some(0x00ab_cd83));
        assert_eq!(of(Packed::U2, 9, 1), Some(0xa_bcd0 | 0b1101));
    }
}
