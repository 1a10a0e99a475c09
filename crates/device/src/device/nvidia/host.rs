//! Page-locked host memory, and copies from and to it.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::{
    ffi::c_void,
    mem::ManuallyDrop,
    ops::{Deref, DerefMut},
    ptr, slice,
};

use cudarc::driver::sys;

use super::{
    Device, Stream,
    copy::Side,
    driver::Handle,
    event,
    launches::Mark,
    lock::lock,
    page_lock::{locking_failed, page_lock, raw_flags},
};
#[cfg(doc)]
use crate::device::Error;
use crate::device::{DeviceId, HostFlags, Pitch, Region, Result, host_part::HostRows};

/// Page-locked memory; nobody else uses it.
#[derive(Debug)]
pub struct HostMemory {
    device: Device,
    address: Handle<c_void>,
    bytes: usize,
    /// `None` once it is released.
    origin: Option<Origin>,
    /// Recorded behind the copy that uses the memory.
    reached: Handle<sys::CUevent_st>,
}

#[derive(Clone, Copy, Debug)]
enum Origin {
    /// `cuMemHostAlloc`.
    Allocated,
    /// A vector with this capacity, page-locked by `cuMemHostRegister`.
    Registered(usize),
}

impl Device {
    /// Page-locks new memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Call`].
    pub fn alloc_host(&self, bytes: usize, flags: HostFlags) -> Result<HostMemory> {
        let context = self.context();
        context.activate()?;
        let address = match bytes {
            0 => ptr::dangling_mut(),
            _ => page_lock(context, bytes, raw_flags(flags))?,
        };
        self.host_memory(address, bytes, Origin::Allocated)
    }

    /// Page-locks a vector's memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Call`].
    pub fn register_host(&self, vector: Vec<u8>) -> Result<HostMemory> {
        let context = self.context();
        context.activate()?;
        let mut vector = ManuallyDrop::new(vector);
        let (address, bytes) = (vector.as_mut_ptr().cast::<c_void>(), vector.len());
        if bytes > 0 {
            // SAFETY: the memory is the vector's, which is not freed before it is unregistered.
            let status = unsafe { context.driver().cuMemHostRegister_v2(address, bytes, 0) };
            if let Err(error) = context.check(status) {
                drop(ManuallyDrop::into_inner(vector));
                return Err(locking_failed(status.code, error, bytes));
            }
        }
        self.host_memory(address, bytes, Origin::Registered(vector.capacity()))
    }

    fn host_memory(
        &self,
        address: *mut c_void,
        bytes: usize,
        origin: Origin,
    ) -> Result<HostMemory> {
        let (device, origin) = (self.clone(), Some(origin));
        let (address, reached) = (Handle(address), Handle(ptr::null_mut()));
        // From here on the memory is released, also where there is no event.
        let mut memory = HostMemory { device, address, bytes, origin, reached };
        memory.reached = event::create_untimed(self.context())?;
        Ok(memory)
    }
}

impl HostMemory {
    /// The device it belongs to.
    pub fn device_id(&self) -> DeviceId {
        self.device.id()
    }

    /// Its bytes as ordinary memory: the vector itself where it was one.
    pub fn into_vec(mut self) -> Vec<u8> {
        match self.origin {
            Some(Origin::Registered(_)) => self.release(),
            _ => self.to_vec(),
        }
    }

    /// Ends the page-lock; gives the vector back where it was one.
    fn release(&mut self) -> Vec<u8> {
        let Some(origin) = self.origin.take() else { return Vec::new() };
        let (address, bytes) = (self.address.0, std::mem::take(&mut self.bytes));
        let context = self.device.context();
        context.on_drop(|| {
            if !self.reached.0.is_null() {
                event::destroy(context, self.reached)?;
            }
            if bytes == 0 {
                return Ok(());
            }
            context.check(match origin {
                // SAFETY: allocated by `cuMemHostAlloc`, and no copy uses it: one under way would own it.
                Origin::Allocated => unsafe { context.driver().cuMemFreeHost(address) },
                // SAFETY: registered by `cuMemHostRegister`, and no copy uses it.
                Origin::Registered(_) => unsafe { context.driver().cuMemHostUnregister(address) },
            })
        });
        match origin {
            Origin::Allocated => Vec::new(),
            // SAFETY: the parts of the vector that was registered; this is the only time that they are put together.
            Origin::Registered(capacity) => unsafe {
                Vec::from_raw_parts(address.cast(), bytes, capacity)
            },
        }
    }
}

impl Deref for HostMemory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: so many bytes are there as long as `self`; copies that write them own it.
        unsafe { slice::from_raw_parts(self.address.0.cast(), self.bytes) }
    }
}

impl DerefMut for HostMemory {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above; copies that read or write them own it.
        unsafe { slice::from_raw_parts_mut(self.address.0.cast(), self.bytes) }
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        drop(self.release());
    }
}

/// A copy that is under way, with the host's memory.
#[derive(Debug)]
pub struct Transfer {
    /// Always there until it is dropped.
    memory: Option<HostMemory>,
    mark: Mark,
}

impl Stream {
    /// Starts to copy between a region and rows of page-locked memory: to the region if `upload`.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub(in crate::device) fn transfer(
        &self,
        region: &Region<'_>,
        memory: HostMemory,
        rows: HostRows,
        upload: bool,
    ) -> Result<Transfer> {
        let context = self.context();
        context.activate()?;
        if region.bytes() > 0 {
            let (side, host, extent) = sides(region, &memory, rows)?;
            let (to, from) = if upload { (side, host) } else { (host, side) };
            // SAFETY: the region is alive while the copy is put on the stream and freed behind it; the transfer keeps
            // the host's memory, which has room for the rows, until the event behind the copy is reached.
            let status = unsafe { self.submit_copy(to, from, extent) };
            let recorded = context.check(status).and_then(|()| {
                let reached = memory.reached.0;
                // SAFETY: the event and the stream are alive, and of the same context.
                context.check(unsafe { context.driver().cuEventRecord(reached, self.raw()) })
            });
            if let Err(error) = recorded {
                // The copy may be on its way without an event to tell when it has ended.
                if context.wait_for_work().is_err() {
                    std::mem::forget(memory);
                }
                return Err(error);
            }
        }
        Ok(Transfer { memory: Some(memory), mark: self.mark() })
    }
}

/// Both sides of a copy, as one row where neither has gaps.
fn sides(
    region: &Region<'_>,
    memory: &HostMemory,
    rows: HostRows,
) -> Result<(Side, Side, [usize; 3])> {
    let start = memory.address.0.wrapping_byte_add(rows.offset);
    if rows.pitch == Pitch::tight(rows.extent) {
        let (side, extent) = Side::of(region)?;
        return Ok((side, Side::Host(start, Pitch::tight(extent)), extent));
    }
    Ok((Side::shaped(region)?, Side::Host(start, rows.pitch), rows.extent))
}

impl Transfer {
    /// Whether the copy has ended.
    ///
    /// # Errors
    /// An error of the work before the copy.
    pub fn is_ready(&self) -> Result<bool> {
        let Some(memory) = &self.memory else { return Ok(true) };
        let context = memory.device.context();
        context.activate()?;
        event::is_reached(context, memory.reached.0)
    }

    /// Waits for its end; the memory, and whether the work before the copy and the copy went well. Where they did not,
    /// nobody knows whether the GPU still uses the memory, and it is never freed.
    pub(in crate::device) fn end(mut self) -> (Option<HostMemory>, Result<()>) {
        self.finish()
    }

    fn finish(&mut self) -> (Option<HostMemory>, Result<()>) {
        let Some(memory) = self.memory.take() else { return (None, Ok(())) };
        let context = memory.device.context();
        let reached = memory.reached.0;
        let ended = context.make_current().and_then(|()| event::synchronize(context, reached));
        if ended.is_err() {
            std::mem::forget(memory);
            return (None, ended);
        }
        lock(context.launches()).ended(self.mark);
        (Some(memory), ended)
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        drop(self.finish());
    }
}
