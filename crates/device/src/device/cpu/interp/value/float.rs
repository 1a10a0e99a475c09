//! Floating point: PTX ISA 9.7.3 to 9.7.5. Rounding to nearest of single and double precision is the processor's,
//! everything else exact arithmetic.

use super::each_lane;
use crate::{
    device::cpu::exact::{self, F32, F64, Format},
    ptx::{
        modifier::{Accuracy, Cmp, Function, MinMax, Mode, Rounding, Test},
        op::FloatOp,
        types::Type,
    },
};

pub(super) fn evaluate(op: FloatOp, ty: Type, s: &[u64; 5]) -> Option<u64> {
    each_lane(ty, s, |ty, s| scalar(op, Format::of(ty)?, s))
}

fn scalar(op: FloatOp, f: Format, s: &[u64; 5]) -> Option<u64> {
    let [a, b, c, ..] = *s;
    let half = f.width() == 16;
    Some(match op {
        FloatOp::Add(mode) => finished(f, mode, [a, b, 0], |f, r, [a, b, _]| add(f, a, b, r))?,
        FloatOp::Sub(mode) => {
            finished(f, mode, [a, b, 0], |f, r, [a, b, _]| add(f, a, negated(f, b), r))?
        }
        FloatOp::Mul(mode) => finished(f, mode, [a, b, 0], |f, r, [a, b, _]| multiply(f, a, b, r))?,
        FloatOp::Fma { oob: true, mode: _, relu: _ }
            if is_out_of_bounds(a) || is_out_of_bounds(b) =>
        {
            0
        }
        FloatOp::Fma { mode, relu, oob: _ } => {
            let value = finished(f, mode, [a, b, c], |f, r, [a, b, c]| fused(f, a, b, c, r))?;
            if relu { positive(f, value) } else { value }
        }
        // There are none of halves.
        FloatOp::Div(..) | FloatOp::Rcp(..) | FloatOp::Sqrt(..) if half => return None,
        FloatOp::Copysign | FloatOp::Testp(_) if half => return None,
        FloatOp::Div(accuracy, mode) => {
            let value = finished(f, mode, [a, b, 0], |f, r, [a, b, _]| divide(f, a, b, r))?;
            let approximate = accuracy == Accuracy::Approx && f == F32;
            if approximate { approximate_quotient(a, b, mode.ftz, value) } else { value }
        }
        FloatOp::Rcp(Accuracy::Approx, mode) if f == F64 => gross(a, mode.ftz, |x| 1.0 / x),
        FloatOp::Rcp(_, mode) => {
            finished(f, mode, [a, 0, 0], |f, r, [a, ..]| divide(f, f.one(), a, r))?
        }
        FloatOp::Sqrt(_, mode) => finished(f, mode, [a, 0, 0], |f, r, [a, ..]| root(f, a, r))?,
        FloatOp::Abs { ftz } => flushed(f, ftz, a) & !f.sign_bit(),
        FloatOp::Neg { ftz } => negated(f, flushed(f, ftz, a)),
        FloatOp::Min(m) | FloatOp::Max(m) => {
            let least = matches!(op, FloatOp::Min(_));
            let value = min_max(f, m, a, b, least);
            if m.three { min_max(f, m, value, c, least) } else { value }
        }
        FloatOp::Copysign => b & !f.sign_bit() | a & f.sign_bit(),
        FloatOp::Testp(test) => u64::from(is(f, test, a)),
        FloatOp::Approx { function: Function::Rsqrt, ftz } if f == F64 => {
            let function = |x: f64| 1.0 / x.sqrt();
            if ftz { gross(a, ftz, function) } else { from_f64(function(f64::from_bits(a))) }
        }
        FloatOp::Approx { function, ftz } => approximate(function, f, ftz, a)?,
    })
}

/// Whether half a word is the NaN that stands for what lies out of bounds.
fn is_out_of_bounds(a: u64) -> bool {
    a & 0x7fff == 0x7ff7
}

fn negated(f: Format, a: u64) -> u64 {
    a ^ f.sign_bit()
}

/// With `ftz`, subnormals are zeros of their sign; there is none in double precision and bfloat16.
fn flushed(f: Format, ftz: bool, a: u64) -> u64 {
    if ftz && (f == F32 || f == exact::F16) { f.flushed(a) } else { a }
}

/// An operation that IEEE 754 rounds, with what goes before and after.
fn finished(
    f: Format,
    mode: Mode,
    operands: [u64; 3],
    operation: impl Fn(Format, Rounding, [u64; 3]) -> u64,
) -> Option<u64> {
    let rounding = mode.rounding.unwrap_or(Rounding::Nearest);
    if rounding == Rounding::NearestAway {
        return None;
    }
    let operands = operands.map(|value| flushed(f, mode.ftz, value));
    let value = operation(f.flushing(mode.ftz), rounding, operands);
    Some(if mode.sat { saturated(f, value) } else { value })
}

/// `.sat`: to [0, 1], NaN to +0.
pub(super) fn saturated(f: Format, value: u64) -> u64 {
    if f.is_nan(value) || f.is_negative(value) { 0 } else { value.min(f.one()) }
}

/// `.relu`: negative numbers become 0, a NaN the canonical one.
pub(super) fn positive(f: Format, value: u64) -> u64 {
    if f.is_nan(value) {
        f.nan()
    } else if f.is_negative(value) {
        0
    } else {
        value
    }
}

/// A result of the processor, with the NaN that the PTX ISA wants.
fn from_f32(value: f32) -> u64 {
    if value.is_nan() { F32.nan() } else { value.to_bits().into() }
}

fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn from_f64(value: f64) -> u64 {
    if value.is_nan() { F64.nan() } else { value.to_bits() }
}

/// What the processor computes: rounded to nearest.
enum Native {
    Single,
    Double,
}

fn native(f: Format, r: Rounding) -> Option<Native> {
    match f {
        F32 if r == Rounding::Nearest => Some(Native::Single),
        F64 if r == Rounding::Nearest => Some(Native::Double),
        _ => None,
    }
}

fn add(f: Format, a: u64, b: u64, r: Rounding) -> u64 {
    match native(f, r) {
        Some(Native::Single) => from_f32(single(a) + single(b)),
        Some(Native::Double) => from_f64(f64::from_bits(a) + f64::from_bits(b)),
        None => exact::add(f, a, b, r),
    }
}

fn multiply(f: Format, a: u64, b: u64, r: Rounding) -> u64 {
    match native(f, r) {
        Some(Native::Single) => from_f32(single(a) * single(b)),
        Some(Native::Double) => from_f64(f64::from_bits(a) * f64::from_bits(b)),
        None => exact::multiply(f, a, b, r),
    }
}

fn fused(f: Format, a: u64, b: u64, c: u64, r: Rounding) -> u64 {
    match native(f, r) {
        Some(Native::Single) => from_f32(single(a).mul_add(single(b), single(c))),
        Some(Native::Double) => {
            from_f64(f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)))
        }
        None => exact::fused(f, a, b, c, r),
    }
}

fn divide(f: Format, a: u64, b: u64, r: Rounding) -> u64 {
    match native(f, r) {
        Some(Native::Single) => from_f32(single(a) / single(b)),
        Some(Native::Double) => from_f64(f64::from_bits(a) / f64::from_bits(b)),
        None => exact::divide(f, a, b, r),
    }
}

fn root(f: Format, a: u64, r: Rounding) -> u64 {
    match native(f, r) {
        Some(Native::Single) => from_f32(single(a).sqrt()),
        Some(Native::Double) => from_f64(f64::from_bits(a).sqrt()),
        None => exact::square_root(f, a, r),
    }
}

/// `div.approx.f32`: where the divisor lies in (2^126, 2^128), the quotient is zero, or NaN of an infinity.
fn approximate_quotient(a: u64, b: u64, ftz: bool, value: u64) -> u64 {
    let large = 2f32.powi(126);
    let divisor = single(b).abs();
    if !(divisor > large && divisor.is_finite()) || single(a).is_nan() {
        return value;
    }
    if single(a).is_infinite() {
        return F32.nan();
    }
    (flushed(F32, ftz, a) ^ b) & F32.sign_bit()
}

/// `rcp.approx.ftz.f64`, `rsqrt.approx.ftz.f64`: of the upper word, to the upper word; the lower one is zero.
fn gross(a: u64, ftz: bool, function: impl Fn(f64) -> f64) -> u64 {
    let word = !0xffff_ffff;
    let flush = |bits: u64| if ftz { F64.flushed(bits) } else { bits };
    if F64.is_nan(a) {
        return F64.nan();
    }
    flush(from_f64(function(f64::from_bits(flush(a) & word))) & word)
}

/// `min`, `max`: -0 is less than +0; a NaN loses, unless `.NaN`.
fn min_max(f: Format, m: MinMax, a: u64, b: u64, least: bool) -> u64 {
    let [mut a, mut b] = [a, b].map(|value| flushed(f, m.ftz, value));
    let sign = (a ^ b) & f.sign_bit();
    if m.xorsign_abs || m.abs {
        (a, b) = (a & !f.sign_bit(), b & !f.sign_bit());
    }
    let value = match (f.is_nan(a), f.is_nan(b)) {
        (true, true) => return f.nan(),
        (true, _) | (_, true) if m.nan => return f.nan(),
        (true, false) => b,
        (false, true) => a,
        (false, false) => {
            if (order(f, a) < order(f, b)) == least {
                a
            } else {
                b
            }
        }
    };
    let value = if m.xorsign_abs { value & !f.sign_bit() | sign } else { value };
    if m.relu { positive(f, value) } else { value }
}

/// Numbers as integers in the same order, -0 just below +0.
fn order(f: Format, bits: u64) -> i64 {
    let magnitude = (bits & !f.sign_bit()) as i64;
    if f.is_negative(bits) { -1 - magnitude } else { magnitude }
}

fn is(f: Format, test: Test, a: u64) -> bool {
    match test {
        Test::Finite => !f.is_nan(a) && !f.is_infinite(a),
        Test::Infinite => f.is_infinite(a),
        Test::Number => !f.is_nan(a),
        Test::NotANumber => f.is_nan(a),
        // Zeros count among them.
        Test::Normal => !f.is_nan(a) && !f.is_infinite(a) && !f.is_subnormal(a),
        Test::Subnormal => f.is_subnormal(a),
    }
}

/// A comparison; those that are true of NaN say so in their name.
pub(super) fn compare(cmp: Cmp, ty: Type, ftz: bool, a: u64, b: u64) -> Option<bool> {
    let f = Format::of(ty)?;
    let [a, b] = [a, b].map(|value| flushed(f, ftz, value));
    let unordered = f.is_nan(a) || f.is_nan(b);
    let value = |bits: u64| if f.is_zero(bits) { 0 } else { order(f, bits) };
    let order = value(a).cmp(&value(b));
    Some(match cmp {
        Cmp::Eq => !unordered && order.is_eq(),
        Cmp::Ne => !unordered && order.is_ne(),
        Cmp::Lt | Cmp::Lo => !unordered && order.is_lt(),
        Cmp::Le | Cmp::Ls => !unordered && order.is_le(),
        Cmp::Gt | Cmp::Hi => !unordered && order.is_gt(),
        Cmp::Ge | Cmp::Hs => !unordered && order.is_ge(),
        Cmp::Equ => unordered || order.is_eq(),
        Cmp::Neu => unordered || order.is_ne(),
        Cmp::Ltu => unordered || order.is_lt(),
        Cmp::Leu => unordered || order.is_le(),
        Cmp::Gtu => unordered || order.is_gt(),
        Cmp::Geu => unordered || order.is_ge(),
        Cmp::Num => !unordered,
        Cmp::Nan => unordered,
    })
}

/// An approximate function, computed in double precision and rounded once.
fn approximate(function: Function, f: Format, ftz: bool, a: u64) -> Option<u64> {
    if f == F64 {
        return None;
    }
    let a = flushed(f, ftz, a);
    let x = f64::from_bits(exact::convert(f, F64, a, Rounding::Nearest));
    let half = f.width() == 16;
    let value = match function {
        Function::Rsqrt | Function::Sin | Function::Cos | Function::Lg2 if half => return None,
        Function::Rsqrt => 1.0 / x.sqrt(),
        Function::Sin => x.sin(),
        Function::Cos => x.cos(),
        Function::Lg2 => x.log2(),
        Function::Ex2 => x.exp2(),
        Function::Tanh => x.tanh(),
    };
    Some(flushed(f, ftz, exact::convert(F64, f, value.to_bits(), Rounding::Nearest)))
}

/// `atom.add` of a floating-point type. In global memory it flushes single precision (PTX ISA, `atom`).
pub(in crate::device::cpu::interp) fn atomic_sum(
    ty: Type,
    in_shared: bool,
    a: u64,
    b: u64,
) -> Option<u64> {
    each_lane(ty, &[a, b, 0, 0, 0], |ty, s| {
        let f = Format::of(ty)?;
        let ftz = f == F32 && !in_shared;
        let sum = add(f, flushed(f, ftz, s[0]), flushed(f, ftz, s[1]), Rounding::Nearest);
        Some(flushed(f, ftz, sum))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_and_nans_are_ordered_as_the_isa_says() {
        let m = |nan| MinMax { nan, ..MinMax::of(Type::F32) };
        let (minus_zero, nan) = (F32.sign_bit(), 0x7fc0_0001);
        assert_eq!(min_max(F32, m(false), 0, minus_zero, true), minus_zero);
        assert_eq!(min_max(F32, m(false), minus_zero, 0, false), 0);
        assert_eq!(min_max(F32, m(false), nan, F32.one(), true), F32.one());
        assert_eq!(min_max(F32, m(true), nan, F32.one(), true), F32.nan());
        let signed = MinMax { xorsign_abs: true, ..m(false) };
        let minus_two = u64::from((-2f32).to_bits());
        assert_eq!(min_max(F32, signed, F32.one(), minus_two, false), minus_two);
        assert_eq!(min_max(F32, signed, F32.one(), minus_two, true), negated(F32, F32.one()));
        assert_eq!(compare(Cmp::Eq, Type::F32, false, 0, minus_zero), Some(true));
        assert_eq!(compare(Cmp::Ne, Type::F32, false, nan, 0), Some(false));
        assert_eq!(compare(Cmp::Lt, Type::F32, true, 0, 1), Some(false));
    }

    #[test]
    fn saturation_takes_nan_to_zero() {
        assert_eq!(saturated(F32, F32.nan()), 0);
        assert_eq!(saturated(F32, F32.infinity()), F32.one());
        assert_eq!(saturated(F32, F32.sign_bit()), 0);
        assert_eq!(positive(F32, F32.sign_bit() | F32.nan()), F32.nan());
    }
}
