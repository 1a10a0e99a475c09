//! Device memory.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use super::{Device, context::CudaContext, driver::code};
use crate::device::{Allocation, DeviceId, Error, Result};

/// An owned allocation.
#[derive(Debug)]
pub struct Memory {
    device: Device,
    address: u64,
    bytes: usize,
}

impl Device {
    /// Allocates uninitialised memory; the driver aligns it to at least 256 bytes.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Call`].
    pub fn alloc(&self, bytes: usize) -> Result<Memory> {
        let context = self.context();
        context.activate()?;
        let mut address = 0;
        if bytes > 0 {
            // SAFETY: `address` is written before the call returns.
            let status = unsafe { context.driver().cuMemAlloc_v2(&raw mut address, bytes) };
            context.check(status).map_err(|error| match status.code {
                code::OUT_OF_MEMORY => out_of_memory(context, bytes),
                _ => error,
            })?;
        }
        context.ranges().insert(address, bytes);
        Ok(Memory { device: self.clone(), address, bytes })
    }
}

impl Device {
    /// Allocates memory for rows; the memory, and the bytes from one row to the next.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Call`].
    pub fn alloc_pitch(
        &self,
        row_bytes: usize,
        rows: usize,
        element_bytes: usize,
    ) -> Result<(Memory, usize)> {
        let context = self.context();
        context.activate()?;
        let (mut address, mut pitch) = (0, 0);
        if row_bytes == 0 || rows == 0 {
            return Ok((self.alloc(0)?, row_bytes));
        }
        // SAFETY: both are written before the call returns.
        let status = unsafe {
            context.driver().cuMemAllocPitch_v2(
                &raw mut address,
                &raw mut pitch,
                row_bytes,
                rows,
                element_bytes as u32,
            )
        };
        context.check(status).map_err(|error| match status.code {
            code::OUT_OF_MEMORY => out_of_memory(context, row_bytes.saturating_mul(rows)),
            _ => error,
        })?;
        context.ranges().insert(address, pitch * rows);
        Ok((Memory { device: self.clone(), address, bytes: pitch * rows }, pitch))
    }

    /// The allocation that an address lies in.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn address_range(&self, address: u64) -> Result<Option<Allocation>> {
        let context = self.context();
        context.activate()?;
        let (mut start, mut bytes) = (0, 0);
        // SAFETY: both are written before the call returns.
        let status = unsafe {
            context.driver().cuMemGetAddressRange_v2(&raw mut start, &raw mut bytes, address)
        };
        match status.code {
            code::NOT_FOUND | code::INVALID_VALUE => Ok(None),
            _ => context
                .check(status)
                .map(|()| Some(Allocation { address: start, bytes: bytes as u64 })),
        }
    }
}

pub(super) fn out_of_memory(context: &CudaContext, bytes: usize) -> Error {
    Error::OutOfMemory {
        device: context.info().to_string(),
        requested: bytes as u64,
        free: context.memory_info().map_or(0, |memory| memory.free),
    }
}

impl Memory {
    /// Size in bytes, as asked for.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Where a kernel sees it; 0 for an empty one.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The device it belongs to.
    pub fn device_id(&self) -> DeviceId {
        self.device.id()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let context = self.device.context();
        context.on_drop(|| {
            context.wait_for_work()?;
            context.ranges().remove(self.address);
            // SAFETY: allocated by `cuMemAlloc`, and no work that was put on a stream uses it any more.
            context.check(unsafe { context.driver().cuMemFree_v2(self.address) })
        });
    }
}
