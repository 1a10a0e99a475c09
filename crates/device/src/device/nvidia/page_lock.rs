//! Page-locked memory of the host, which the GPU reads and writes by itself.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::{ffi::c_void, ptr};

use cudarc::driver::sys;

use super::{context::CudaContext, driver::code};
use crate::device::{Error, HostFlags, Result};

/// Flags as the driver takes them.
pub(super) fn raw_flags(flags: HostFlags) -> u32 {
    let bit = |wanted, flag| if wanted { flag } else { 0 };
    bit(flags.portable, sys::CU_MEMHOSTALLOC_PORTABLE)
        | bit(flags.write_combined, sys::CU_MEMHOSTALLOC_WRITECOMBINED)
}

/// New page-locked memory full of zeros, at least one byte; the context is current.
pub(super) fn page_lock(context: &CudaContext, bytes: usize, flags: u32) -> Result<*mut c_void> {
    let mut address = ptr::null_mut();
    // SAFETY: `address` is written before the call returns.
    let status = unsafe { context.driver().cuMemHostAlloc(&raw mut address, bytes, flags) };
    if let Err(error) = context.check(status) {
        return Err(locking_failed(status.code, error, bytes));
    }
    // It will be read as a slice, all of whose bytes must have been written.
    // SAFETY: the driver has just given so many bytes, to nobody else.
    unsafe { ptr::write_bytes(address.cast::<u8>(), 0, bytes) };
    Ok(address)
}

/// The error of page-locking so many bytes, which the driver refused with this code.
pub(super) fn locking_failed(code: u32, error: Error, bytes: usize) -> Error {
    match code {
        code::OUT_OF_MEMORY => Error::OutOfMemory {
            device: "the host (page-locked memory)".to_owned(),
            requested: bytes as u64,
            free: available_bytes(),
        },
        _ => error,
    }
}

/// Free memory of the host in bytes, as Linux tells it; 0 elsewhere.
fn available_bytes() -> u64 {
    let table = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = table.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
