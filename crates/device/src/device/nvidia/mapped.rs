//! Host memory that kernels see: page-locked and mapped, or managed by the driver.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::{ffi::c_void, ptr};

use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};

use super::{
    Device, Stream,
    driver::{Handle, code},
    memory::out_of_memory,
    page_lock::{page_lock, raw_flags},
};
use crate::device::{Attachment, DeviceId, Error, HostFlags, Result};

/// Memory with an address on the host and one on the device.
#[derive(Debug)]
pub struct MappedMemory {
    device: Device,
    host: Handle<c_void>,
    address: u64,
    bytes: usize,
    managed: bool,
}

impl Device {
    /// Page-locks new memory that kernels see.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Call`].
    pub fn alloc_mapped(&self, bytes: usize, flags: HostFlags) -> Result<MappedMemory> {
        let context = self.context();
        context.activate()?;
        if bytes == 0 {
            return Ok(self.mapped(ptr::dangling_mut(), 0, 0, false));
        }
        let flags = raw_flags(flags) | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        let host = page_lock(context, bytes, flags)?;
        let mut memory = self.mapped(host, 0, bytes, false);
        // SAFETY: the memory was allocated with `CU_MEMHOSTALLOC_DEVICEMAP`; the address is written before the call
        // returns.
        let status = unsafe {
            context.driver().cuMemHostGetDevicePointer_v2(&raw mut memory.address, host, 0)
        };
        context.check(status)?;
        context.ranges().insert(memory.address, bytes);
        Ok(memory)
    }

    /// Allocates memory that moves between host and device as it is used.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the host may not touch it while the GPU works (on Windows), [`Error::OutOfMemory`],
    /// [`Error::Call`].
    pub fn alloc_managed(&self, bytes: usize) -> Result<MappedMemory> {
        let context = self.context();
        context.activate()?;
        let concurrent = Attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS;
        if context.attribute(concurrent)? == 0 {
            return Err(Error::Unsupported {
                operation: "managed memory that the host may use at any time",
                device: context.info().to_string(),
            });
        }
        if bytes == 0 {
            return Ok(self.mapped(ptr::dangling_mut(), 0, 0, true));
        }
        let (mut address, flags) = (0, sys::CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL as u32);
        // SAFETY: `address` is written before the call returns.
        let status = unsafe { context.driver().cuMemAllocManaged(&raw mut address, bytes, flags) };
        context.check(status).map_err(|error| match status.code {
            code::OUT_OF_MEMORY => out_of_memory(context, bytes),
            _ => error,
        })?;
        context.ranges().insert(address, bytes);
        // The same address on both sides: the driver gives memory of the process.
        let host = ptr::with_exposed_provenance_mut(address as usize);
        Ok(self.mapped(host, address, bytes, true))
    }

    fn mapped(&self, host: *mut c_void, address: u64, bytes: usize, managed: bool) -> MappedMemory {
        MappedMemory { device: self.clone(), host: Handle(host), address, bytes, managed }
    }
}

impl Stream {
    /// Says who uses managed memory from now on.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub(in crate::device) fn attach(&self, memory: &MappedMemory, to: Attachment) -> Result<()> {
        if memory.bytes == 0 {
            return Ok(());
        }
        let context = self.device().context();
        context.activate()?;
        let flag = match to {
            Attachment::Global => sys::CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL,
            Attachment::Host => sys::CUmemAttach_flags::CU_MEM_ATTACH_HOST,
            Attachment::Stream => sys::CUmemAttach_flags::CU_MEM_ATTACH_SINGLE,
        };
        // SAFETY: the stream is alive and of the device; the memory was allocated by `cuMemAllocManaged`, and a length
        // of zero is all of it.
        context.check(unsafe {
            context.driver().cuStreamAttachMemAsync(self.raw(), memory.address, 0, flag as u32)
        })
    }
}

impl MappedMemory {
    pub(in crate::device) fn is_managed(&self) -> bool {
        self.managed
    }

    /// Size in bytes.
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

    /// Reads the bytes from `offset` on, which are there; false where they are not.
    pub(in crate::device) fn read(&self, offset: usize, to: &mut [u8]) -> bool {
        let fits = offset.checked_add(to.len()).is_some_and(|end| end <= self.bytes);
        if fits {
            let from = self.host.0.cast::<u8>().wrapping_add(offset);
            // SAFETY: the bytes lie in the memory, which lives as long as `self`; nothing in Rust borrows it.
            unsafe { ptr::copy_nonoverlapping(from, to.as_mut_ptr(), to.len()) };
        }
        fits
    }

    /// Writes bytes from `offset` on; false where they do not fit.
    pub(in crate::device) fn write(&mut self, offset: usize, from: &[u8]) -> bool {
        let fits = offset.checked_add(from.len()).is_some_and(|end| end <= self.bytes);
        if fits {
            let to = self.host.0.cast::<u8>().wrapping_add(offset);
            // SAFETY: as above.
            unsafe { ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
        }
        fits
    }
}

impl Drop for MappedMemory {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let context = self.device.context();
        context.on_drop(|| {
            context.wait_for_work()?;
            context.ranges().remove(self.address);
            context.check(match self.managed {
                // SAFETY: allocated by `cuMemAllocManaged`, and no work that was put on a stream uses it any more.
                true => unsafe { context.driver().cuMemFree_v2(self.address) },
                // SAFETY: the same, by `cuMemHostAlloc`.
                false => unsafe { context.driver().cuMemFreeHost(self.host.0) },
            })
        });
    }
}
