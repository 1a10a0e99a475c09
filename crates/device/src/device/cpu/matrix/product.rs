//! `d = a * b + c`.
//!
//! - Integers and bits: exact, then cut or clamped to 32 bits.
//! - `f64`: one fused multiplication and addition after the other, `c` first, by increasing k, each rounded.
//! - All other floats: products are exact in double precision. They are added to `c` by increasing k in double
//!   precision, and the sum is rounded once, to nearest, to what the result is. Subnormal numbers stay. A NaN is the
//!   canonical one.

use super::{Warp, fragment::Fragment};
use crate::{
    device::cpu::exact,
    ptx::{
        matrix::{BitOp, Element, Product, Role},
        modifier::Rounding,
    },
};

/// Multiplies what the threads bring: the registers of `a`, then of `b` and `c`; those of the result take their place.
pub(super) fn multiply(product: &Product, warp: &mut Warp) {
    match product.element(Role::A) {
        Element::F64 => {
            let rounding = product.rounding.unwrap_or(Rounding::Nearest);
            let fused = |sum, a, b| fused(a, b, sum, rounding);
            compute(product, warp, |_, bits| f64::from_bits(bits), fused, |_, sum| sum.to_bits());
        }
        Element::F16 | Element::Bf16 | Element::Tf32 | Element::E4m3 | Element::E5m2 => {
            compute(product, warp, real, |sum, a, b| sum + a * b, encoded);
        }
        Element::S8 | Element::U8 | Element::S4 | Element::U4 => {
            let encode = |_, sum| word(sum, product.satfinite);
            compute(product, warp, integer, |sum, a, b| sum + a * b, encode);
        }
        Element::B1 => {
            let times = match product.bit_op {
                Some(BitOp::And) => |a, b| a & b,
                Some(BitOp::Xor) | None => |a, b| a ^ b,
            };
            let encode = |_, sum| word(sum, product.satfinite);
            compute(product, warp, integer, |sum, a, b| sum + times(a, b), encode);
        }
        // No factors are of these types.
        Element::F32 | Element::S32 => {}
    }
}

/// The numbers of matrices that the threads hold from a register on, row by row.
fn read<T: Copy + Default>(
    fragment: &Fragment,
    warp: &Warp,
    first: usize,
    decode: impl Fn(Element, u64) -> T,
) -> Vec<T> {
    let mut numbers = vec![T::default(); fragment.count * fragment.rows * fragment.columns];
    fragment.for_each(warp, first, |at, bits| numbers[at] = decode(fragment.element, bits));
    numbers
}

/// Decodes all numbers, adds all products, `c` first and by increasing k, and encodes the sums.
fn compute<T: Copy + Default>(
    product: &Product,
    warp: &mut Warp,
    decode: impl Fn(Element, u64) -> T,
    add_product: impl Fn(T, T, T) -> T,
    encode: impl Fn(Element, T) -> u64,
) {
    let [a, b, c] = [Role::A, Role::B, Role::C].map(|role| Fragment::source(product, role));
    let result = Fragment::result(product);
    let lefts = read(&a, warp, 0, &decode);
    let rights = read(&b, warp, a.registers, &decode);
    let mut sums = read(&c, warp, a.registers + b.registers, &decode);
    let rows = lefts.chunks(a.columns).zip(sums.chunks_mut(c.columns));
    for (row, (left, sums)) in rows.enumerate() {
        let right = &rights[row / a.rows * b.rows * b.columns..];
        for (&factor, right) in left.iter().zip(right.chunks(b.columns)) {
            for (sum, &other) in sums.iter_mut().zip(right) {
                *sum = add_product(*sum, factor, other);
            }
        }
    }
    result.write(warp, |at| encode(result.element, sums[at]));
}

// Integers ------------------------------------------------------------------------------------------

fn integer(element: Element, bits: u64) -> i64 {
    let signed = matches!(element, Element::S32 | Element::S8 | Element::S4);
    let above = 64 - element.bits();
    if signed { (bits << above).cast_signed() >> above } else { bits.cast_signed() }
}

fn word(sum: i64, clamped: bool) -> u64 {
    let sum = if clamped { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum };
    sum.cast_unsigned() & 0xffff_ffff
}

// Floats --------------------------------------------------------------------------------------------

fn fused(a: f64, b: f64, c: f64, rounding: Rounding) -> f64 {
    if rounding == Rounding::Nearest {
        return a.mul_add(b, c);
    }
    let [a, b, c] = [a, b, c].map(f64::to_bits);
    f64::from_bits(exact::fused(exact::F64, a, b, c, rounding))
}

/// A number as a double, exactly.
fn real(element: Element, bits: u64) -> f64 {
    match element {
        Element::F16 => small(bits, 5, 10),
        Element::E4m3 => match bits & 0x7f {
            0x7f => f64::NAN,
            // It has no infinities: what would be one is a number.
            magnitude @ 0x78.. => {
                let sign = if bits & 0x80 == 0 { 1.0 } else { -1.0 };
                sign * 256.0 * (1.0 + (magnitude - 0x78) as f64 / 8.0)
            }
            _ => small(bits, 4, 3),
        },
        Element::E5m2 => small(bits, 5, 2),
        Element::Bf16 => f32::from_bits((bits as u32) << 16).into(),
        // The lower bits are not looked at.
        Element::Tf32 => f32::from_bits(bits as u32 & !0x1fff).into(),
        Element::F32 => f32::from_bits(bits as u32).into(),
        Element::F64 => f64::from_bits(bits),
        Element::S32 | Element::S8 | Element::U8 | Element::S4 | Element::U4 | Element::B1 => 0.0,
    }
}

/// A number of so many bits of exponent and fraction, as IEEE 754 has them.
fn small(bits: u64, exponent: u32, fraction: u32) -> f64 {
    let magnitude = bits & ((1 << (exponent + fraction)) - 1);
    let sign = bits >> (exponent + fraction) << 63;
    let ones = (1 << exponent) - 1;
    let value = match magnitude >> fraction {
        0 => magnitude as f64 * power(2 - (1 << (exponent - 1)) - fraction as i32),
        all if all == ones && magnitude & ((1 << fraction) - 1) == 0 => f64::INFINITY,
        all if all == ones => f64::NAN,
        // The bias of a double, less the own one.
        _ => {
            f64::from_bits((magnitude << (52 - fraction)) + ((1024 - (1 << (exponent - 1))) << 52))
        }
    };
    f64::from_bits(value.to_bits() | sign)
}

/// A power of two.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// A sum as a result's bits.
fn encoded(element: Element, sum: f64) -> u64 {
    if element == Element::F16 {
        half(sum).into()
    } else if sum.is_nan() {
        0x7fff_ffff
    } else {
        (sum as f32).to_bits().into()
    }
}

/// The nearest half, even where two are as near.
fn half(value: f64) -> u16 {
    if value.is_nan() {
        return 0x7fff;
    }
    let sign = (value.to_bits() >> 48) as u16 & 0x8000;
    let magnitude = value.abs();
    let code = if magnitude >= 65520.0 {
        0x7c00
    } else if magnitude < power(-14) {
        // Multiples of the least half; the product is exact.
        (magnitude * power(24)).round_ties_even() as u64
    } else {
        let bits = magnitude.to_bits();
        let odd = bits >> 42 & 1;
        ((bits + (1 << 41) - 1 + odd) >> 42) - (1008 << 10)
    };
    sign | code as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every half, and every number of eight bits.
    #[test]
    fn numbers_are_decoded() {
        for bits in 0..=u16::MAX {
            let (found, due) =
                (real(Element::F16, bits.into()), half::f16::from_bits(bits).to_f64());
            assert!(found.to_bits() == due.to_bits() || found.is_nan() && due.is_nan(), "{bits:x}");
        }
        for (element, exponent, fraction) in [(Element::E4m3, 4, 3), (Element::E5m2, 5, 2)] {
            for bits in 0..128u64 {
                let bias = (1 << (exponent - 1)) - 1;
                let (field, rest) =
                    ((bits >> fraction) as i32, (bits & ((1 << fraction) - 1)) as f64);
                let unit = 2f64.powi(-fraction);
                let due = match (element, field, rest) {
                    (Element::E4m3, 15, 7.0) => f64::NAN,
                    (Element::E5m2, 31, 0.0) => f64::INFINITY,
                    (Element::E5m2, 31, _) => f64::NAN,
                    (_, 0, _) => rest * unit * 2f64.powi(1 - bias),
                    _ => (1.0 + rest * unit) * 2f64.powi(field - bias),
                };
                for (sign, bits) in [(1.0, bits), (-1.0, bits | 0x80)] {
                    let found = real(element, bits);
                    assert!(found == sign * due || found.is_nan() && due.is_nan(), "{bits:x}");
                }
            }
        }
    }

    /// Between neighbours, at their middle, and a little beside it.
    #[test]
    fn halves_are_rounded_once() {
        for code in 0..0x7bffu16 {
            let [low, high] = [code, code + 1].map(|code| half::f16::from_bits(code).to_f64());
            let middle = (low + high) / 2.0;
            let even = if code % 2 == 0 { code } else { code + 1 };
            let cases = [(low, code), (middle.next_down(), code), (middle, even)];
            for (value, due) in cases.into_iter().chain([(middle.next_up(), code + 1)]) {
                assert_eq!(half(value), due, "{value:e}");
                assert_eq!(half(-value), due | 0x8000, "-{value:e}");
            }
        }
        assert_eq!(half(65519.999), 0x7bff);
        assert_eq!(half(65520.0), 0x7c00);
        assert_eq!(half(f64::NEG_INFINITY), 0xfc00);
        assert_eq!(half(1e-300), 0);
    }

    #[test]
    fn results_are_clamped() {
        assert_eq!(word(i64::from(i32::MAX) + 1, true), 0x7fff_ffff);
        assert_eq!(word(i64::from(i32::MAX) + 1, false), 0x8000_0000);
        assert_eq!(word(i64::from(i32::MIN) - 1, true), 0x8000_0000);
        assert_eq!(encoded(Element::F16, 1e9), 0x7c00);
        assert_eq!(encoded(Element::F16, f64::NAN), 0x7fff);
        assert_eq!(encoded(Element::F32, f64::NAN), 0x7fff_ffff);
        assert_eq!(encoded(Element::F32, 1e300), 0x7f80_0000);
    }
}
