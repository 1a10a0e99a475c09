//! What compiled code calls of the host: mathematics that the processor has no instruction for.
//!
//! Enters: numbers, as compiled code calls with them. Leaves: the results, rounded as PTX says. Must not know:
//! `device::cpu::memory`, `device::cpu::jit::lower`, `device::cpu::jit::lanes`.

pub(super) mod finish;
pub(super) mod permute;
pub(in crate::device::cpu) mod small;

use std::{cmp::Ordering, sync::OnceLock, time::Instant};

use half::{bf16, f16};

use self::finish::Finish;
use crate::{
    device::cpu::mbarrier,
    ptx::{modifier::Rounding, video::Video},
};

/// All host functions with their names.
pub(super) fn functions() -> Vec<(&'static str, *const u8)> {
    let mut all: Vec<(&'static str, *const u8)> = Vec::new();
    macro_rules! list {
        ($($name:literal => $function:expr, $ty:ty;)*) => {
            $(all.push(($name, $function as $ty as *const u8));)*
        };
    }
    type F2 = extern "C" fn(f32, f32, u32) -> f32;
    type F3 = extern "C" fn(f32, f32, f32, u32) -> f32;
    type D2 = extern "C" fn(f64, f64, u32) -> f64;
    type D3 = extern "C" fn(f64, f64, f64, u32) -> f64;
    list! {
        "warpaint_add_f32" => add_f32, F2;
        "warpaint_mul_f32" => mul_f32, F2;
        "warpaint_div_f32" => div_f32, F2;
        "warpaint_fma_f32" => fma_f32, F3;
        "warpaint_sqrt_f32" => sqrt_f32, extern "C" fn(f32, u32) -> f32;
        "warpaint_add_f64" => add_f64, D2;
        "warpaint_mul_f64" => mul_f64, D2;
        "warpaint_div_f64" => div_f64, D2;
        "warpaint_fma_f64" => fma_f64, D3;
        "warpaint_sqrt_f64" => sqrt_f64, extern "C" fn(f64, u32) -> f64;
        "warpaint_f64_to_f32" => f64_to_f32, extern "C" fn(f64, u32) -> f32;
        "warpaint_s64_to_f32" => s64_to_f32, extern "C" fn(i64, u32) -> f32;
        "warpaint_u64_to_f32" => u64_to_f32, extern "C" fn(u64, u32) -> f32;
        "warpaint_s64_to_f64" => s64_to_f64, extern "C" fn(i64, u32) -> f64;
        "warpaint_u64_to_f64" => u64_to_f64, extern "C" fn(u64, u32) -> f64;
        "warpaint_fma_odd" => fma_odd, extern "C" fn(f64, f64, f64) -> f64;
        "warpaint_f16_to_f32" => f16_to_f32, extern "C" fn(u32) -> f32;
        "warpaint_f32_to_f16" => f32_to_f16, extern "C" fn(f32) -> u32;
        "warpaint_f64_to_f16" => f64_to_f16, extern "C" fn(f64) -> u32;
        "warpaint_f32_to_bf16" => f32_to_bf16, extern "C" fn(f32) -> u32;
        "warpaint_f64_to_bf16" => f64_to_bf16, extern "C" fn(f64) -> u32;
        "warpaint_s64_odd" => s64_odd, extern "C" fn(i64) -> f64;
        "warpaint_u64_odd" => u64_odd, extern "C" fn(u64) -> f64;
        "warpaint_narrow" => small::narrow, extern "C" fn(f64, u32, u32) -> u32;
        "warpaint_widen" => small::widen, extern "C" fn(u32, u32) -> f32;
        "warpaint_video" => video, extern "C" fn(u64, u64, u32, u32, u32) -> u32;
        "warpaint_mbarrier" => mbarrier::step_by_code, extern "C" fn(u64, u32, u32) -> u64;
        "warpaint_bfe_u32" => bfe_u32, extern "C" fn(u32, u32, u32) -> u32;
        "warpaint_bfe_s32" => bfe_s32, extern "C" fn(u32, u32, u32) -> u32;
        "warpaint_bfe_u64" => bfe_u64, extern "C" fn(u64, u32, u32) -> u64;
        "warpaint_bfe_s64" => bfe_s64, extern "C" fn(u64, u32, u32) -> u64;
        "warpaint_bfi_b32" => bfi_b32, extern "C" fn(u32, u32, u32, u32) -> u32;
        "warpaint_bfi_b64" => bfi_b64, extern "C" fn(u64, u64, u32, u32) -> u64;
        "warpaint_prmt" => permute::prmt, extern "C" fn(u64, u32, u32) -> u32;
        "warpaint_fns" => fns, extern "C" fn(u32, u32, u32) -> u32;
        "warpaint_clock" => clock, extern "C" fn() -> u64;
        "warpaint_globaltimer" => clock, extern "C" fn() -> u64;
    }
    type Misplaced =
        extern "C" fn(&crate::device::cpu::abi::BlockContext, u64, u64, u32, u32, u64, u64) -> u32;
    list! {
        "warpaint_misplaced_lane" => super::fault::misplaced_lane, Misplaced;
    }
    all.extend(super::output::functions());
    all
}

/// Nanoseconds since the process first asked.
extern "C" fn clock() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

// Rounding ---------------------------------------------------------------------------------------------

/// Which neighbour a rounding in one direction gives in place of the nearest number, which is negative or not; `error`
/// has the sign of the exact result less that number. (To nearest with ties away from zero is refused before.)
fn direction(negative: bool, error: f64, rounding: Rounding) -> Ordering {
    let up = match rounding {
        Rounding::Zero => negative,
        Rounding::Down => false,
        Rounding::Up => true,
        Rounding::Nearest | Rounding::NearestAway => return Ordering::Equal,
    };
    match error.partial_cmp(&0.0) {
        Some(Ordering::Greater) if up => Ordering::Greater,
        Some(Ordering::Less) if !up => Ordering::Less,
        Some(Ordering::Less | Ordering::Equal | Ordering::Greater) | None => Ordering::Equal,
    }
}

/// A result of which `nearest` is the one rounded to nearest; `error` as [`direction`] has it.
fn directed_f64(nearest: f64, error: f64, rounding: Rounding) -> f64 {
    match direction(nearest.is_sign_negative(), error, rounding) {
        Ordering::Less => nearest.next_down(),
        Ordering::Equal => nearest,
        Ordering::Greater => nearest.next_up(),
    }
}

fn directed_f32(nearest: f32, error: f64, rounding: Rounding) -> f32 {
    match direction(nearest.is_sign_negative(), error, rounding) {
        Ordering::Less => nearest.next_down(),
        Ordering::Equal => nearest,
        Ordering::Greater => nearest.next_up(),
    }
}

/// A number whose distance from `nearest` has the sign of the exact value's, where `nearest` overflowed.
fn overflow_error(nearest: f64, operands_finite: bool) -> Option<f64> {
    (nearest.is_infinite() && operands_finite).then_some(-nearest)
}

/// The exact error of a sum (Dekker's fast two-sum, which does not overflow where the sum does not).
fn sum_error(a: f64, b: f64, sum: f64) -> f64 {
    let (large, small) = if a.abs() >= b.abs() { (a, b) } else { (b, a) };
    small - (sum - large)
}

/// `a + b + c` in double precision, rounded to odd where it is inexact: a later rounding to few bits is then
/// the only one (Boldo and Melquiond, 2008).
fn odd(sum: f64, error: f64) -> f64 {
    if error == 0.0 || sum.to_bits() & 1 == 1 || !sum.is_finite() {
        return sum;
    }
    if (error > 0.0) == (sum > 0.0) {
        f64::from_bits(sum.to_bits() + 1)
    } else {
        f64::from_bits(sum.to_bits() - 1)
    }
}

/// Rounds a double, itself the result of rounding to odd or exact, to single precision.
extern "C" fn f64_to_f32(x: f64, finish: u32) -> f32 {
    to_f32(x, Finish::from_code(finish))
}

fn to_f32(x: f64, Finish { rounding, flush, .. }: Finish) -> f32 {
    if flush && x.abs() < f64::from(f32::MIN_POSITIVE) {
        return flushed(x, rounding);
    }
    let nearest = x as f32;
    let error =
        overflow_error(f64::from(nearest), x.is_finite()).unwrap_or_else(|| x - f64::from(nearest));
    directed_f32(nearest, error, rounding)
}

/// Of a number below the least normal one: that, where the number rounds to it when 24 bits are kept, else zero.
fn flushed(x: f64, rounding: Rounding) -> f32 {
    let least = f64::from(f32::MIN_POSITIVE);
    let below = least * (1.0 - f64::from(f32::EPSILON) / 2.0);
    let is_least = match rounding {
        Rounding::Nearest | Rounding::NearestAway => x.abs() >= (least + below) / 2.0,
        Rounding::Zero => false,
        Rounding::Down => x < -below,
        Rounding::Up => x > below,
    };
    if is_least { f32::MIN_POSITIVE.copysign(x as f32) } else { 0.0_f32.copysign(x as f32) }
}

/// A zero sum of numbers of different signs is negative where rounding is down.
fn signed_zero(sum: f64, a: f64, b: f64, rounding: Rounding) -> f64 {
    if sum == 0.0
        && rounding == Rounding::Down
        && (a != 0.0 || a.is_sign_negative() != b.is_sign_negative())
    {
        -0.0
    } else {
        sum
    }
}

extern "C" fn add_f32(a: f32, b: f32, finish: u32) -> f32 {
    let finish = Finish::from_code(finish);
    let (a, b) = (f64::from(a), f64::from(b));
    let sum = a + b;
    to_f32(odd(signed_zero(sum, a, b, finish.rounding), sum_error(a, b, sum)), finish)
}

extern "C" fn mul_f32(a: f32, b: f32, finish: u32) -> f32 {
    let finish = Finish::from_code(finish);
    to_f32(f64::from(a) * f64::from(b), finish)
}

extern "C" fn fma_f32(a: f32, b: f32, c: f32, finish: u32) -> f32 {
    let finish = Finish::from_code(finish);
    let (product, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = product + c;
    to_f32(odd(signed_zero(sum, product, c, finish.rounding), sum_error(product, c, sum)), finish)
}

extern "C" fn div_f32(a: f32, b: f32, finish: u32) -> f32 {
    let finish = Finish::from_code(finish);
    let (a, b) = (f64::from(a), f64::from(b));
    let quotient = a / b;
    // The remainder, its sign turned where the divisor is negative.
    let error = (-quotient).mul_add(b, a) * b.signum();
    let exact = !quotient.is_finite() || b == 0.0 || b.is_infinite();
    let error = if exact { 0.0 } else { error };
    to_f32(odd(quotient, error), finish)
}

extern "C" fn sqrt_f32(a: f32, finish: u32) -> f32 {
    let finish = Finish::from_code(finish);
    let a = f64::from(a);
    let root = a.sqrt();
    to_f32(odd(root, (-root).mul_add(root, a)), finish)
}

extern "C" fn add_f64(a: f64, b: f64, finish: u32) -> f64 {
    let rounding = Finish::from_code(finish).rounding;
    let sum = a + b;
    let error = overflow_error(sum, a.is_finite() && b.is_finite());
    let sum = signed_zero(sum, a, b, rounding);
    directed_f64(sum, error.unwrap_or_else(|| sum_error(a, b, sum)), rounding)
}

/// Products below this have errors that double precision cannot hold.
const TINY: f64 = 1e-289;
/// A power of two that lifts such products and their errors into range.
const LIFT: f64 = 1.340_780_792_994_259_7e154;

/// `a` and `b` with the smaller lifted.
fn lifted(a: f64, b: f64) -> (f64, f64) {
    if a.abs() < b.abs() { (a * LIFT, b) } else { (a, b * LIFT) }
}

extern "C" fn mul_f64(a: f64, b: f64, finish: u32) -> f64 {
    let rounding = Finish::from_code(finish).rounding;
    #[cfg(target_arch = "x86_64")]
    if let Some(result) = super::rounding::multiply(a, b, rounding) {
        return result;
    }
    let product = a * b;
    if let Some(error) = overflow_error(product, a.is_finite() && b.is_finite()) {
        return directed_f64(product, error, rounding);
    }
    let error = if product.abs() < TINY {
        let (a, b) = lifted(a, b);
        a.mul_add(b, -product * LIFT)
    } else {
        a.mul_add(b, -product)
    };
    directed_f64(product, error, rounding)
}

extern "C" fn fma_f64(a: f64, b: f64, c: f64, finish: u32) -> f64 {
    let rounding = Finish::from_code(finish).rounding;
    #[cfg(target_arch = "x86_64")]
    if let Some(result) = super::rounding::fused(a, b, c, rounding) {
        return result;
    }
    let result = a.mul_add(b, c);
    let finite = a.is_finite() && b.is_finite() && c.is_finite();
    if let Some(error) = overflow_error(result, finite) {
        return directed_f64(result, error, rounding);
    }
    let product = a * b;
    let error = if product.abs() >= TINY || a == 0.0 || b == 0.0 || !finite {
        fma_error(a, b, c, result)
    } else if c.abs() > 1e-270 {
        // So small a product does not change the nearest number, but counts as the error.
        if (a < 0.0) == (b < 0.0) { 1.0 } else { -1.0 }
    } else {
        let (a, b) = lifted(a, b);
        fma_error(a, b, c * LIFT, result * LIFT)
    };
    directed_f64(signed_zero(result, product, c, rounding), error, rounding)
}

/// Boldo and Muller's error of a fused operation, of which only the sign counts here.
fn fma_error(a: f64, b: f64, c: f64, result: f64) -> f64 {
    let high = a * b;
    let low = a.mul_add(b, -high);
    let sum = c + low;
    let sum_low = sum_error(c, low, sum);
    let top = high + sum;
    let top_low = sum_error(high, sum, top);
    ((top - result) + top_low) + sum_low
}

extern "C" fn div_f64(a: f64, b: f64, finish: u32) -> f64 {
    let rounding = Finish::from_code(finish).rounding;
    #[cfg(target_arch = "x86_64")]
    if let Some(result) = super::rounding::divide(a, b, rounding) {
        return result;
    }
    let quotient = a / b;
    let finite = a.is_finite() && b.is_finite() && b != 0.0;
    if let Some(error) = overflow_error(quotient, finite) {
        return directed_f64(quotient, error, rounding);
    }
    let lift = if a.abs() < TINY { LIFT } else { 1.0 };
    let remainder = (-quotient * lift).mul_add(b, a * lift);
    let error = if finite { remainder * b.signum() } else { 0.0 };
    directed_f64(quotient, error, rounding)
}

extern "C" fn sqrt_f64(a: f64, finish: u32) -> f64 {
    let rounding = Finish::from_code(finish).rounding;
    #[cfg(target_arch = "x86_64")]
    if let Some(result) = super::rounding::root(a, rounding) {
        return result;
    }
    let root = a.sqrt();
    directed_f64(root, (-root).mul_add(root, a), rounding)
}

extern "C" fn fma_odd(a: f64, b: f64, c: f64) -> f64 {
    let product = a * b;
    let sum = product + c;
    odd(sum, sum_error(product, c, sum))
}

extern "C" fn s64_to_f64(value: i64, finish: u32) -> f64 {
    let rounding = Finish::from_code(finish).rounding;
    let nearest = value as f64;
    directed_f64(nearest, (i128::from(value) - nearest as i128) as f64, rounding)
}

extern "C" fn u64_to_f64(value: u64, finish: u32) -> f64 {
    let rounding = Finish::from_code(finish).rounding;
    let nearest = value as f64;
    directed_f64(nearest, (i128::from(value) - nearest as i128) as f64, rounding)
}

extern "C" fn s64_to_f32(value: i64, finish: u32) -> f32 {
    let rounding = Finish::from_code(finish).rounding;
    let nearest = value as f32;
    directed_f32(nearest, (i128::from(value) - nearest as i128) as f64, rounding)
}

extern "C" fn u64_to_f32(value: u64, finish: u32) -> f32 {
    let rounding = Finish::from_code(finish).rounding;
    let nearest = value as f32;
    directed_f32(nearest, (i128::from(value) - nearest as i128) as f64, rounding)
}

/// In double precision, rounded to odd: a later rounding to fewer bits is then the only one.
extern "C" fn s64_odd(value: i64) -> f64 {
    let nearest = value as f64;
    odd(nearest, (i128::from(value) - nearest as i128) as f64)
}

extern "C" fn u64_odd(value: u64) -> f64 {
    let nearest = value as f64;
    odd(nearest, (i128::from(value) - nearest as i128) as f64)
}

// Halves -----------------------------------------------------------------------------------------------

/// The canonical NaN of both half types.
const NAN: u32 = 0x7fff;

extern "C" fn f16_to_f32(bits: u32) -> f32 {
    f16::from_bits(bits as u16).to_f32()
}

extern "C" fn f32_to_f16(x: f32) -> u32 {
    if x.is_nan() { NAN } else { u32::from(f16::from_f32(x).to_bits()) }
}

/// Not by the crate `half`, which looks at the upper half of a double only.
extern "C" fn f64_to_f16(x: f64) -> u32 {
    small::narrowed(x, small::F16, Finish::rounded(Rounding::Nearest))
}

extern "C" fn f32_to_bf16(x: f32) -> u32 {
    if x.is_nan() { NAN } else { u32::from(bf16::from_f32(x).to_bits()) }
}

extern "C" fn f64_to_bf16(x: f64) -> u32 {
    small::narrowed(x, small::BF16, Finish::rounded(Rounding::Nearest))
}

// Bits -------------------------------------------------------------------------------------------------

/// PTX ISA, `bfe`: bits beyond the top are the field's sign, or zero.
fn bfe(a: u64, width: u32, position: u32, length: u32, signed: bool) -> u64 {
    let last = (position + length).wrapping_sub(1).min(width - 1);
    let sign = if !signed || length == 0 { 0 } else { a >> last & 1 };
    (0..width).fold(0, |bits, bit| {
        let from = position + bit;
        let value = if bit < length && from < width { a >> from & 1 } else { sign };
        bits | value << bit
    })
}

extern "C" fn bfe_u32(a: u32, position: u32, length: u32) -> u32 {
    bfe(u64::from(a), 32, position, length, false) as u32
}

extern "C" fn bfe_s32(a: u32, position: u32, length: u32) -> u32 {
    bfe(u64::from(a), 32, position, length, true) as u32
}

extern "C" fn bfe_u64(a: u64, position: u32, length: u32) -> u64 {
    bfe(a, 64, position, length, false)
}

extern "C" fn bfe_s64(a: u64, position: u32, length: u32) -> u64 {
    bfe(a, 64, position, length, true)
}

extern "C" fn bfi_b32(a: u32, b: u32, position: u32, length: u32) -> u32 {
    let ones = u64::MAX.checked_shr(64 - length.min(64)).unwrap_or(0);
    let mask = ones.checked_shl(position).unwrap_or(0) as u32;
    let moved = u64::from(a).checked_shl(position).unwrap_or(0) as u32;
    b & !mask | moved & mask
}

extern "C" fn bfi_b64(a: u64, b: u64, position: u32, length: u32) -> u64 {
    let ones = u64::MAX.checked_shr(64 - length.min(64)).unwrap_or(0);
    let mask = ones.checked_shl(position).unwrap_or(0);
    b & !mask | a.checked_shl(position).unwrap_or(0) & mask
}

/// A video instruction, as [`Video::packed`] names it.
extern "C" fn video(what: u64, parts: u64, a: u32, b: u32, c: u32) -> u32 {
    Video::unpacked([what, parts]).evaluate(a, b, c)
}

/// PTX ISA, `fns`: the `offset`-th set bit at or above (or below) `base`.
extern "C" fn fns(mask: u32, base: u32, offset: u32) -> u32 {
    let (base, offset) = (base & 31, offset as i32);
    if offset == 0 {
        return if mask >> base & 1 != 0 { base } else { u32::MAX };
    }
    let set = |bit: &u32| mask >> bit & 1 != 0;
    let nth = offset.unsigned_abs() as usize - 1;
    let found = if offset > 0 {
        (base..32).filter(set).nth(nth)
    } else {
        (0..=base).rev().filter(set).nth(nth)
    };
    found.unwrap_or(u32::MAX)
}
