//! Subnormals as zeros, by the processor itself.
#![expect(unsafe_code, reason = "reads and writes a control register")]

/// Makes this thread's processor treat subnormals as zeros until dropped.
pub(super) struct Flushing {
    before: u32,
}

impl Flushing {
    /// Flush to zero, and denormals are zero (Intel SDM, volume 1, section 10.2.3).
    const BITS: u32 = 1 << 15 | 1 << 6;

    pub(super) fn new() -> Self {
        let before = control();
        set_control(before | Self::BITS);
        Self { before }
    }
}

impl Drop for Flushing {
    fn drop(&mut self) {
        set_control(self.before);
    }
}

#[cfg(target_arch = "x86_64")]
fn control() -> u32 {
    let mut value = 0u32;
    // SAFETY: stores the control register to a local of its size.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack)) };
    value
}

#[cfg(target_arch = "x86_64")]
fn set_control(value: u32) {
    // SAFETY: the value is what the register held, with only the two flushing bits changed; between here and
    // the restoring one runs compiled code and host functions that do not depend on subnormals.
    unsafe {
        std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, readonly))
    };
}

/// Elsewhere the compiler flushes one result at a time.
#[cfg(not(target_arch = "x86_64"))]
fn control() -> u32 {
    0
}

#[cfg(not(target_arch = "x86_64"))]
fn set_control(_value: u32) {}
