//! Arrays: rows of texels in the arena, without gaps.

use std::sync::Arc;

use super::memory::{Arena, Range};
use crate::device::{ArrayDescriptor, ArrayRegion, DeviceId, Pitch};

/// An array; clones are the same one.
#[derive(Clone, Debug)]
pub struct Array(Arc<Texels>);

/// The memory of an array. Whoever may touch it, be it a copy on its way or a launch, holds it; so nobody needs to
/// wait before it is freed.
#[derive(Debug)]
pub(super) struct Texels {
    range: Range,
    descriptor: ArrayDescriptor,
    arena: Arc<Arena>,
    device: DeviceId,
}

impl Drop for Texels {
    fn drop(&mut self) {
        self.arena.free(self.range);
    }
}

impl Texels {
    pub(super) fn address(&self) -> u64 {
        self.range.address
    }
}

impl Array {
    /// In a range of a device's memory that nobody else has.
    pub(super) fn new(
        device: DeviceId,
        arena: Arc<Arena>,
        range: Range,
        descriptor: ArrayDescriptor,
    ) -> Self {
        Self(Arc::new(Texels { range, descriptor, arena, device }))
    }

    /// What it was made as.
    pub fn descriptor(&self) -> &ArrayDescriptor {
        &self.0.descriptor
    }

    /// The device it belongs to.
    pub fn device_id(&self) -> DeviceId {
        self.0.device
    }

    pub(super) fn texels(&self) -> &Arc<Texels> {
        &self.0
    }

    /// Where a region starts, and how its rows lie.
    pub(super) fn rows(&self, region: &ArrayRegion<'_>) -> (u64, Pitch) {
        let [width, height, _] = self.0.descriptor.shape.extent();
        let texel = self.0.descriptor.format.bytes();
        let [x, y, z] = region.origin();
        let pitch = Pitch { row_bytes: width * texel, rows: height };
        let offset = (z * height + y) * pitch.row_bytes + x * texel;
        (self.0.range.address + offset as u64, pitch)
    }
}
