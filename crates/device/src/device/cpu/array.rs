//! Arrays: rows of texels in the arena, without gaps.

use std::sync::Arc;

use super::{Device, Shared, memory::Range};
use crate::device::{ArrayDescriptor, ArrayRegion, ArrayShape, DeviceId, Pitch, Result};

/// An array; clones are the same one.
#[derive(Clone, Debug)]
pub struct Array(Arc<Texels>);

/// The memory of an array. Whoever may touch it, be it a copy on its way or a launch, holds it; so nobody needs to
/// wait before it is freed.
#[derive(Debug)]
pub(super) struct Texels {
    range: Range,
    descriptor: ArrayDescriptor,
    shared: Arc<Shared>,
}

impl Drop for Texels {
    fn drop(&mut self) {
        self.shared.arena.free(self.range);
    }
}

impl Texels {
    pub(super) fn address(&self) -> u64 {
        self.range.address
    }
}

impl Device {
    /// The most texels in x, y and z of such an array: those of compute capability 8.0 (CUDA C++ programming guide,
    /// "Compute Capabilities").
    ///
    /// # Errors
    /// None on this device.
    pub fn largest_array(&self, descriptor: &ArrayDescriptor) -> Result<[usize; 3]> {
        Ok(match (descriptor.shape, descriptor.surface) {
            (ArrayShape::D1 { .. }, false) => [131_072, 1, 1],
            (ArrayShape::D1 { .. }, true) => [32_768, 1, 1],
            (ArrayShape::D2 { .. }, _) if descriptor.gather => [32_768, 32_768, 1],
            (ArrayShape::D2 { .. }, _) => [131_072, 65_536, 1],
            (ArrayShape::D3 { .. }, _) => [16_384; 3],
            (ArrayShape::Layered1 { .. }, _) => [32_768, 1, 2048],
            (ArrayShape::Layered2 { .. }, _) => [32_768, 32_768, 2048],
            (ArrayShape::Cube { .. }, _) => [32_768, 32_768, 6],
            (ArrayShape::LayeredCube { .. }, _) => [32_768, 32_768, 2046],
        })
    }

    /// Allocates an array.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::device::Error::OutOfMemory).
    pub fn array(&self, descriptor: &ArrayDescriptor) -> Result<Array> {
        let range = self.shared.alloc(descriptor.bytes() as u64)?;
        let (descriptor, shared) = (*descriptor, self.shared.clone());
        Ok(Array(Arc::new(Texels { range, descriptor, shared })))
    }
}

impl Array {
    /// What it was made as.
    pub fn descriptor(&self) -> &ArrayDescriptor {
        &self.0.descriptor
    }

    /// The device it belongs to.
    pub fn device_id(&self) -> DeviceId {
        self.0.shared.id
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
