//! Page-locked host memory through which copies pass: only from there can the GPU copy by itself.
//!
//! Page-locking costs more than most copies, so blocks are kept. Each has an event that is recorded behind the
//! copy that uses it; until that is reached nobody else gets the block.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::{ffi::c_void, ptr, slice, sync::Mutex};

use cudarc::driver::sys;

use super::{context::CudaContext, driver::Handle, event, lock::lock, page_lock::page_lock};
use crate::device::Result;

/// Blocks that are not in use are kept up to this many bytes in total.
const KEPT_BYTES: usize = 256 << 20;
/// Uploads wait for earlier copies while these have more than this under way.
const BUSY_BYTES: usize = 64 << 20;
/// The same as a number of copies, each of which has to be asked whether it has ended.
const BUSY_BLOCKS: usize = 256;

/// A block of page-locked host memory.
#[derive(Debug)]
pub(super) struct StagingBuffer {
    address: Handle<c_void>,
    capacity: usize,
    reached: Handle<sys::CUevent_st>,
}

impl StagingBuffer {
    pub(super) fn address(&self) -> *mut c_void {
        self.address.0
    }

    /// Recorded behind the copy that uses the block.
    pub(super) fn reached(&self) -> sys::CUevent {
        self.reached.0
    }

    /// The first `bytes` of it, once no copy writes them any more.
    ///
    /// # Safety
    /// No copy may be writing to the block, and `bytes` of it must have been written.
    pub(super) unsafe fn bytes(&self, bytes: usize) -> &[u8] {
        debug_assert!(bytes <= self.capacity);
        // SAFETY: the block is at least as long, lives as long as `self`, and the caller answers for the rest.
        unsafe { slice::from_raw_parts(self.address.0.cast(), bytes) }
    }

    /// Writes `bytes` to its start.
    ///
    /// # Safety
    /// No copy may be using the block.
    pub(super) unsafe fn write(&mut self, bytes: &[u8]) {
        debug_assert!(bytes.len() <= self.capacity);
        // SAFETY: the block is at least as long, is no part of `bytes`, and the caller answers for the rest.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.address.0.cast(), bytes.len()) };
    }

    /// Page-locks a new one for at least `bytes`.
    fn new(context: &CudaContext, bytes: usize) -> Result<Self> {
        let capacity = match bytes {
            ..=0x100_0000 => bytes.next_power_of_two().max(4096),
            _ => bytes.next_multiple_of(1 << 20),
        };
        let reached = event::create_untimed(context)?;
        match page_lock(context, capacity, 0) {
            Ok(address) => Ok(Self { address: Handle(address), capacity, reached }),
            Err(error) => {
                event::destroy(context, reached)?;
                Err(error)
            }
        }
    }

    fn is_reached(&self, context: &CudaContext) -> Result<bool> {
        event::is_reached(context, self.reached.0)
    }

    /// Frees it; no copy may be using it any more.
    fn free(self, context: &CudaContext) -> Result<()> {
        event::destroy(context, self.reached)?;
        // SAFETY: allocated by `cuMemHostAlloc`, and unused.
        context.check(unsafe { context.driver().cuMemFreeHost(self.address.0) })
    }
}

/// The blocks of a device.
#[derive(Debug, Default)]
pub(super) struct Staging(Mutex<Blocks>);

/// Those that nobody holds.
#[derive(Debug, Default)]
struct Blocks {
    free: Vec<StagingBuffer>,
    /// Still used by a copy; oldest first.
    busy: Vec<StagingBuffer>,
}

impl Blocks {
    /// Moves the blocks whose copies have ended to the free ones.
    fn collect(&mut self, context: &CudaContext) -> Result<()> {
        let mut index = 0;
        while index < self.busy.len() {
            if self.busy[index].is_reached(context)? {
                self.free.push(self.busy.remove(index));
            } else {
                index += 1;
            }
        }
        Ok(())
    }

    /// The smallest free block for `bytes`.
    fn fitting(&mut self, bytes: usize) -> Option<StagingBuffer> {
        let fits = self.free.iter().enumerate().filter(|(_, block)| block.capacity >= bytes);
        let (index, _) = fits.min_by_key(|(_, block)| block.capacity)?;
        Some(self.free.swap_remove(index))
    }

    /// The oldest busy block, where too many are busy.
    fn oldest_of_too_many(&mut self) -> Option<StagingBuffer> {
        let bytes: usize = self.busy.iter().map(|block| block.capacity).sum();
        let too_many = bytes > BUSY_BYTES || self.busy.len() > BUSY_BLOCKS;
        too_many.then(|| self.busy.remove(0))
    }

    /// Takes out free blocks, largest first, until what is kept is little enough.
    fn excess(&mut self) -> Vec<StagingBuffer> {
        let mut kept: usize = self.free.iter().map(|block| block.capacity).sum();
        if kept <= KEPT_BYTES {
            return Vec::new();
        }
        self.free.sort_by_key(|block| block.capacity);
        let mut excess = Vec::new();
        while kept > KEPT_BYTES {
            let Some(block) = self.free.pop() else { break };
            kept -= block.capacity;
            excess.push(block);
        }
        excess
    }

    /// Frees all of them, after waiting for the copies.
    fn free(self, context: &CudaContext) {
        for block in self.busy.into_iter().chain(self.free) {
            let reached = event::synchronize(context, block.reached.0);
            if let Err(error) = reached.and_then(|()| block.free(context)) {
                tracing::debug!("while freeing page-locked memory: {error}");
            }
        }
    }
}

impl Staging {
    /// A block for `bytes` that no copy uses; the context is current. Never waits.
    pub(super) fn take(&self, context: &CudaContext, bytes: usize) -> Result<StagingBuffer> {
        let mut blocks = lock(&self.0);
        if let Some(block) = blocks.fitting(bytes) {
            return Ok(block);
        }
        blocks.collect(context)?;
        if let Some(block) = blocks.fitting(bytes) {
            return Ok(block);
        }
        drop(blocks);
        StagingBuffer::new(context, bytes)
    }

    /// Waits for a copy where so many are under way that staging another would page-lock too much memory.
    pub(super) fn limit(&self, context: &CudaContext) -> Result<()> {
        let oldest = lock(&self.0).oldest_of_too_many();
        let Some(block) = oldest else { return Ok(()) };
        match event::synchronize(context, block.reached()) {
            Ok(()) => self.give_back(context, block),
            Err(error) => {
                self.give_back_busy(block);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Takes back a block that no copy uses.
    pub(super) fn give_back(&self, context: &CudaContext, block: StagingBuffer) {
        let excess = {
            let mut blocks = lock(&self.0);
            blocks.free.push(block);
            blocks.excess()
        };
        for block in excess {
            context.on_drop(|| block.free(context));
        }
    }

    /// Takes back a block that a copy may still use, up to the event that was recorded behind it.
    pub(super) fn give_back_busy(&self, block: StagingBuffer) {
        lock(&self.0).busy.push(block);
    }

    /// Frees all of them, when the context ends.
    pub(super) fn free(&self, context: &CudaContext) {
        std::mem::take(&mut *lock(&self.0)).free(context);
    }
}
