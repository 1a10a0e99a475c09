//! Owned allocations of device memory.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use super::{
    memory::{Permission, Range},
    shared::{Owned, Shared},
};
use crate::device::{DeviceId, Result};

/// An owned allocation of the CPU device. Dropping it waits for the work that was put on the device's
/// streams before, as `cuMemFree` does.
#[derive(Debug)]
pub struct Memory {
    range: Range,
    /// How many bytes kernels may use, once the work on streams is done that says so.
    extent: AtomicU64,
    shared: Arc<Shared>,
}

impl Memory {
    /// An allocation of `capacity` bytes of which kernels may use the first `bytes`.
    pub(super) fn new(shared: Arc<Shared>, bytes: usize, capacity: usize) -> Result<Self> {
        let range = shared.alloc(capacity as u64)?;
        shared.arena.unwritten().insert(range.address, range.bytes);
        let extent = AtomicU64::new(range.bytes);
        if bytes < capacity {
            extent.store(bytes as u64, Ordering::Relaxed);
            shared.arena.set_extent(range, bytes as u64, Permission::ReadWrite);
        }
        Ok(Self { range, extent, shared })
    }

    /// Where the extent is another than `bytes`: makes it that, and gives the range whose extent a stream is to set.
    pub(super) fn resize(&self, bytes: usize) -> Option<Range> {
        let before = self.extent.swap(bytes as u64, Ordering::Relaxed);
        (before != bytes as u64).then_some(self.range)
    }

    /// Size in bytes, as asked for.
    pub fn bytes(&self) -> usize {
        self.range.bytes as usize
    }

    /// Where a kernel sees it.
    pub fn address(&self) -> u64 {
        self.range.address
    }

    /// The device it belongs to.
    pub fn device_id(&self) -> DeviceId {
        self.shared.id
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.shared.free([Owned::Memory(self.range)]);
    }
}
