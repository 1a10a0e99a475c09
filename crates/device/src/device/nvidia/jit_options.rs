//! What the driver's JIT compiler is told.

use cudarc::driver::sys::CUjit_option as JitOption;

/// What the driver's JIT compiler is told (CUDA driver API, `CUjit_option`).
///
/// ```
/// use warpaint::device::nvidia::{Device, JitOptions};
///
/// let ptx = ".version 7.0 .target sm_75 .address_size 64 .visible .entry idle() { ret; }";
/// let Ok(gpu) = Device::open(0) else { return Ok(()) }; // there is none here
/// let frugal = JitOptions { max_registers: Some(32), ..JitOptions::default() };
/// let idle = gpu.load_with(ptx, frugal)?.function("idle")?;
/// assert!(idle.info().registers <= 32);
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JitOptions {
    /// How much it optimises, 0 to 4; 4 where nothing is said.
    pub optimization_level: Option<u32>,
    /// Most registers of a thread.
    pub max_registers: Option<u32>,
    /// Threads that a block has at least, for which registers are to suffice.
    pub threads_per_block: Option<u32>,
}

impl JitOptions {
    pub(super) fn options(self) -> impl Iterator<Item = (JitOption, u32)> {
        [
            (JitOption::CU_JIT_OPTIMIZATION_LEVEL, self.optimization_level),
            (JitOption::CU_JIT_MAX_REGISTERS, self.max_registers),
            (JitOption::CU_JIT_THREADS_PER_BLOCK, self.threads_per_block),
        ]
        .into_iter()
        .filter_map(|(option, value)| Some((option, value?)))
    }
}
