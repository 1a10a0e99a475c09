//! Numbers in the formats of matrices.

use half::{bf16, f16};
use warpaint::ptx::matrix::Element;

/// The value of a number of 8 bits, with so many of exponent and fraction.
fn eight_bits(code: u64, exponent: i32, fraction: i32) -> f64 {
    let sign = if code & 0x80 == 0 { 1.0 } else { -1.0 };
    let (field, rest) = ((code & 0x7f) >> fraction, code & ((1 << fraction) - 1));
    let bias = (1 << (exponent - 1)) - 1;
    let part = rest as f64 / f64::from(1 << fraction);
    match field {
        0 => sign * part * 2f64.powi(1 - bias),
        _ => sign * (1.0 + part) * 2f64.powi(field as i32 - bias),
    }
}

/// The code of a number that the format has.
pub fn encode(element: Element, value: f64) -> u64 {
    let integer = value as i64 as u64;
    match element {
        Element::F16 => f16::from_f64(value).to_bits().into(),
        Element::Bf16 => bf16::from_f64(value).to_bits().into(),
        Element::Tf32 | Element::F32 => (value as f32).to_bits().into(),
        Element::F64 => value.to_bits(),
        Element::E4m3 => (0..256).find(|code| eight_bits(*code, 4, 3) == value).unwrap(),
        Element::E5m2 => (0..256).find(|code| eight_bits(*code, 5, 2) == value).unwrap(),
        Element::S32 => integer & 0xffff_ffff,
        Element::S8 | Element::U8 => integer & 0xff,
        Element::S4 | Element::U4 => integer & 0xf,
        Element::B1 => integer & 1,
    }
}

/// The number of a code.
pub fn decode(element: Element, code: u64) -> f64 {
    match element {
        Element::F16 => f16::from_bits(code as u16).to_f64(),
        Element::Bf16 => bf16::from_bits(code as u16).to_f64(),
        Element::Tf32 | Element::F32 => f32::from_bits(code as u32).into(),
        Element::F64 => f64::from_bits(code),
        Element::E4m3 => eight_bits(code, 4, 3),
        Element::E5m2 => eight_bits(code, 5, 2),
        Element::S32 => f64::from(code as i32),
        Element::S8 => f64::from(code as i8),
        Element::U8 => f64::from(code as u8),
        Element::S4 => f64::from((code as i8) << 4 >> 4),
        Element::U4 | Element::B1 => code as f64,
    }
}

/// The half nearest to a number, even where two are as near.
pub fn nearest_half(value: f64) -> u64 {
    if value.abs() >= 65520.0 {
        return if value > 0.0 { 0x7c00 } else { 0xfc00 };
    }
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    // Codes of positive halves are in the order of their values.
    let (mut low, mut high) = (0u16, 0x7bff);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if f16::from_bits(middle).to_f64() <= value.abs() {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    let at = |code: u16| if code == 0x7c00 { 65536.0 } else { f16::from_bits(code).to_f64() };
    let (below, above) = (value.abs() - at(low), at(low + 1) - value.abs());
    let up = above < below || above == below && low % 2 == 1;
    u64::from(low + u16::from(up)) | sign
}
