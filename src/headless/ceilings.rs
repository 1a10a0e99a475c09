//! What a device can do at most, measured: bytes copied and operations done in a second.

use serde::Serialize;

use super::{Error, Result, stopwatch::quickest_ms};
use crate::{
    device::{DeviceKind, Fill, LaunchConfig},
    kernel::{Argument, Context, Source, SourceModule},
};

const SOURCE: &str = include_str!("ceilings.cu");
/// Threads of a block.
const BLOCK: u32 = 256;
/// Fused multiply-adds of a thread: `CHAINS * ROUNDS` of the source.
const OPERATIONS: u64 = 8 * 1024;

/// What a device can do at most.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Ceilings {
    /// Bytes read and written in a second by a kernel that copies.
    pub(super) copy_bytes_per_second: f64,
    /// Single-precision operations in a second by a kernel of fused multiply-adds, which count as two each.
    pub(super) fma_flops_per_second: f64,
}

impl Ceilings {
    /// Measures the device of `context`.
    ///
    /// # Errors
    /// The compiler's and the device's.
    pub(super) fn measure(context: &Context) -> Result<Self> {
        let module = context.module(&Source::new(SOURCE).named("ceilings.cu"))?;
        Ok(Self {
            copy_bytes_per_second: copy(context, &module)?,
            fma_flops_per_second: multiply_add(context, &module)?,
        })
    }
}

/// Far more than caches hold.
fn bytes_to_copy(context: &Context) -> usize {
    match context.device().info().kind {
        DeviceKind::Nvidia => 512 << 20,
        DeviceKind::Cpu => 64 << 20,
    }
}

#[expect(unsafe_code, reason = "a kernel launch")]
fn copy(context: &Context, module: &SourceModule) -> Result<f64> {
    let (kernel, stream, bytes) =
        (module.kernel("copy")?, context.stream(), bytes_to_copy(context));
    let (from, to) = (context.pool().alloc(stream, bytes)?, context.pool().alloc(stream, bytes)?);
    stream.fill(from.slice(..)?, Fill::U8(1))?;
    let pieces = (bytes / 16) as u64;
    let arguments: [Argument; 3] = [from.slice(..)?.into(), to.slice(..)?.into(), pieces.into()];
    let config = LaunchConfig::over(bytes / 16, BLOCK);
    let ms = quickest_ms(context.device(), stream, 4, || {
        // SAFETY: the kernel copies `pieces` of 16 bytes, which both have room for.
        unsafe { kernel.launch(stream, &config, &arguments) }.map_err(Error::from)
    })?;
    Ok(2.0 * bytes as f64 / (ms * 1e-3))
}

#[expect(unsafe_code, reason = "a kernel launch")]
fn multiply_add(context: &Context, module: &SourceModule) -> Result<f64> {
    let (kernel, stream) = (module.kernel("multiply_add")?, context.stream());
    let blocks = match context.device().info().kind {
        DeviceKind::Nvidia => context.device().info().multiprocessors.max(1) * 64,
        DeviceKind::Cpu => 16,
    };
    let threads = u64::from(blocks * BLOCK);
    let out = context.pool().alloc(stream, threads as usize * 4)?;
    let arguments: [Argument; 3] = [out.slice(..)?.into(), 0.999f32.into(), 0.001f32.into()];
    let config = LaunchConfig::new(blocks, BLOCK);
    let ms = quickest_ms(context.device(), stream, 4, || {
        // SAFETY: each thread writes one number, for which `out` has room.
        unsafe { kernel.launch(stream, &config, &arguments) }.map_err(Error::from)
    })?;
    Ok(2.0 * (threads * OPERATIONS) as f64 / (ms * 1e-3))
}
