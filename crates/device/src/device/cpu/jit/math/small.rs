//! Floating-point formats of 8 to 19 bits: rounding to them in every direction, and reading the smallest.

use super::finish::Finish;
use crate::ptx::modifier::Rounding;

/// A format by its widths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device::cpu) struct Format {
    exponent: u32,
    mantissa: u32,
    /// All ones is the only NaN, and there is no infinity (`e4m3`).
    finite: bool,
}

/// Formats as compiled code names them.
pub(in crate::device::cpu) const FORMATS: [Format; 5] = [
    Format { exponent: 5, mantissa: 10, finite: false },
    Format { exponent: 8, mantissa: 7, finite: false },
    Format { exponent: 8, mantissa: 10, finite: false },
    Format { exponent: 4, mantissa: 3, finite: true },
    Format { exponent: 5, mantissa: 2, finite: false },
];
/// `f16` in [`FORMATS`].
pub(in crate::device::cpu) const F16: u32 = 0;
/// `bf16` in [`FORMATS`].
pub(in crate::device::cpu) const BF16: u32 = 1;
/// `tf32` in [`FORMATS`], without the zeros below.
pub(in crate::device::cpu) const TF32: u32 = 2;
/// `e4m3` in [`FORMATS`].
pub(in crate::device::cpu) const E4M3: u32 = 3;
/// `e5m2` in [`FORMATS`].
pub(in crate::device::cpu) const E5M2: u32 = 4;

/// `x` in a small format, finished as [`Finish::code`] says.
pub(super) extern "C" fn narrow(x: f64, format: u32, finish: u32) -> u32 {
    narrowed(x, format, Finish::from_code(finish))
}

/// `x` in a small format.
pub(super) fn narrowed(x: f64, format: u32, Finish { rounding, satfinite, .. }: Finish) -> u32 {
    let format = FORMATS[format as usize % FORMATS.len()];
    let sign = u32::from(x.is_sign_negative()) << (format.exponent + format.mantissa);
    let infinity = ((1 << format.exponent) - 1) << format.mantissa;
    let nan = infinity | ((1 << format.mantissa) - 1);
    if x.is_nan() {
        return nan; // the canonical one has no sign (PTX ISA, `cvt`)
    }
    let largest = if format.finite { nan - 1 } else { infinity - 1 };
    let beyond = if format.finite { nan } else { infinity };
    let code = if x.is_infinite() { beyond } else { rounded(x, format, rounding) };
    if code <= largest {
        return sign | code;
    }
    let to_infinity = x.is_infinite()
        || match rounding {
            Rounding::Zero => false,
            Rounding::Down => x < 0.0,
            Rounding::Up => x > 0.0,
            Rounding::Nearest | Rounding::NearestAway => true,
        };
    sign | if satfinite || !to_infinity { largest } else { beyond }
}

/// The magnitude of a finite number in a format without a largest number.
fn rounded(x: f64, format: Format, rounding: Rounding) -> u32 {
    let least = 2 - (1 << (format.exponent - 1)); // exponent of the smallest normal number
    let exponent = ((x.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(least);
    // Multiples of the distance between neighbours; powers of two, hence exact.
    let scaled = x.abs() * 2f64.powi(format.mantissa as i32 - exponent);
    let below = scaled.floor();
    let rest = scaled - below;
    let odd = below % 2.0 != 0.0;
    let up = match rounding {
        Rounding::Zero => false,
        Rounding::Down => x < 0.0 && rest > 0.0,
        Rounding::Up => x > 0.0 && rest > 0.0,
        Rounding::Nearest => rest > 0.5 || rest == 0.5 && odd,
        Rounding::NearestAway => rest >= 0.5,
    };
    let multiple = below as u64 + u64::from(up);
    // A mantissa that overflows carries into the exponent, as it should.
    let code = ((exponent - least) as u64).saturating_mul(1 << format.mantissa) + multiple;
    code.min(u64::from(u32::MAX >> 1)) as u32
}

/// The value of an 8-bit number; `e5m2` where `format` is [`E5M2`].
pub(super) extern "C" fn widen(bits: u32, format: u32) -> f32 {
    let format = FORMATS[format as usize % FORMATS.len()];
    let magnitude = bits & 0x7f;
    let exponent = magnitude >> format.mantissa;
    let mantissa = f64::from(magnitude & ((1 << format.mantissa) - 1));
    let unit = 2f64.powi(2 - (1 << (format.exponent - 1)) - format.mantissa as i32);
    let infinity = ((1 << format.exponent) - 1) << format.mantissa;
    let value = match magnitude {
        0x7f => f64::NAN,
        m if !format.finite && m > infinity => f64::NAN,
        m if !format.finite && m == infinity => f64::INFINITY,
        _ if exponent == 0 => mantissa * unit,
        _ => {
            let one = f64::from(1 << format.mantissa);
            (one + mantissa) * unit * 2f64.powi(exponent as i32 - 1)
        }
    };
    let sign = if bits & 0x80 != 0 { -1.0 } else { 1.0 };
    (sign * value) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEAREST: Finish = Finish::rounded(Rounding::Nearest);

    /// Against the crate `half`, for all halves and their neighbourhood.
    #[test]
    fn nearest_halves_are_those_of_the_crate_half() {
        for bits in 0..=u16::MAX {
            let value = half::f16::from_bits(bits).to_f32();
            if value.is_nan() {
                continue;
            }
            for x in [value, value.next_up(), value * 1.0004, value * 1.0005, value * 0.9996] {
                let expected = u32::from(half::f16::from_f32(x).to_bits());
                assert_eq!(narrowed(f64::from(x), F16, NEAREST), expected, "{x:e}");
            }
        }
    }

    /// The crate gives infinity, having dropped the low bits first.
    #[test]
    fn doubles_are_rounded_once() {
        assert_eq!(narrowed(65519.999, F16, NEAREST), 0x7bff);
    }

    #[test]
    fn reading_and_rounding_are_inverse() {
        for format in [E4M3, E5M2] {
            for bits in 0..=255 {
                let value = widen(bits, format);
                let back =
                    narrowed(f64::from(value), format, Finish { satfinite: true, ..NEAREST });
                let infinite = value.is_infinite() || value.is_nan();
                assert!(infinite || back == bits, "{format} {bits:x} {value} {back:x}");
            }
        }
    }
}
