//! Arithmetic in another rounding mode than the usual one, by the processor itself: exact down to subnormals, where
//! the error of an operation cannot be had by operations. Each gives `None` where the processor lacks the instruction.
#![expect(unsafe_code, reason = "the rounding mode lies in a register of the processor")]

use std::arch::asm;

use crate::ptx::modifier::Rounding;

/// What the control register holds for a rounding (Intel SDM, volume 1, 10.2.3): all else stays as it is, flushing too.
const fn control(before: u32, rounding: Rounding) -> u32 {
    let mode = match rounding {
        // The processor knows only ties to even; ties away from zero are refused before.
        Rounding::Nearest | Rounding::NearestAway => 0,
        Rounding::Zero => 3 << 13,
        Rounding::Down => 1 << 13,
        Rounding::Up => 2 << 13,
    };
    before & !(3 << 13) | mode
}

fn current() -> u32 {
    let mut value = 0_u32;
    // SAFETY: stores the control register to a local of its size.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack, preserves_flags)) };
    value
}

macro_rules! binary {
    ($(#[$doc:meta])* $name:ident, $instruction:literal) => {
        $(#[$doc])*
        pub(super) fn $name(a: f64, b: f64, rounding: Rounding) -> Option<f64> {
            let before = current();
            let during = control(before, rounding);
            let mut result = a;
            // SAFETY: changes nothing but the result: the control register is put back before the block ends.
            unsafe {
                asm!(
                    "ldmxcsr [{during}]",
                    concat!($instruction, " {a}, {b}"),
                    "ldmxcsr [{before}]",
                    during = in(reg) &raw const during,
                    before = in(reg) &raw const before,
                    a = inout(xmm_reg) result,
                    b = in(xmm_reg) b,
                    options(nostack, readonly, preserves_flags)
                );
            }
            Some(result)
        }
    };
}

binary!(
    /// `a * b`.
    multiply, "mulsd"
);
binary!(
    /// `a / b`.
    divide, "divsd"
);
/// The root of `a`.
pub(super) fn root(a: f64, rounding: Rounding) -> Option<f64> {
    root_of_second(0.0, a, rounding)
}

binary!(
    /// The root of `b`; `a` is what the instruction writes.
    root_of_second, "sqrtsd"
);

/// `a * b + c`, rounded once; `None` where the processor has no such instruction.
pub(super) fn fused(a: f64, b: f64, c: f64, rounding: Rounding) -> Option<f64> {
    if !std::arch::is_x86_feature_detected!("fma") {
        return None;
    }
    let before = current();
    let during = control(before, rounding);
    let mut result = a;
    // SAFETY: the processor has the instruction, and the control register is put back before the block ends.
    unsafe {
        asm!(
            "ldmxcsr [{during}]",
            "vfmadd213sd {a}, {b}, {c}",
            "ldmxcsr [{before}]",
            during = in(reg) &raw const during,
            before = in(reg) &raw const before,
            a = inout(xmm_reg) result,
            b = in(xmm_reg) b,
            c = in(xmm_reg) c,
            options(nostack, readonly, preserves_flags)
        );
    }
    Some(result)
}
