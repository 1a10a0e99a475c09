//! Arrays, and the objects through which kernels see them: how they are made, and who owns them.

use std::sync::Arc;

use super::{
    Array, Device,
    shared::{Owned, Shared},
    texture::Object,
};
use crate::device::{
    ArrayDescriptor, ArrayShape, DeviceId, Result, TextureDescriptor, TextureSource,
};

/// A texture object.
#[derive(Debug)]
pub struct TextureObject(Entry);

/// A surface object.
#[derive(Debug)]
pub struct SurfaceObject(Entry);

/// An object's place in its device's table.
#[derive(Debug)]
struct Entry {
    handle: u64,
    shared: Arc<Shared>,
}

impl Entry {
    fn new(shared: &Arc<Shared>, object: Object) -> Self {
        Self { handle: shared.objects.insert(object), shared: shared.clone() }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        // Launches that are on streams look it up when they begin.
        self.shared.free([Owned::Object(self.handle)]);
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
        Ok(Array::new(self.id(), self.shared.arena.clone(), range, *descriptor))
    }

    /// The most texels of a texture of linear memory, and in x and y of one of rows: those of compute capability
    /// 8.0.
    ///
    /// # Errors
    /// None on this device.
    pub fn largest_linear_texture(&self) -> Result<(usize, [usize; 2])> {
        Ok((1 << 28, [131_072, 65_000]))
    }

    /// A texture object; the facade has checked the parts against each other.
    ///
    /// # Errors
    /// None on this device.
    pub fn texture(
        &self,
        source: &TextureSource<'_>,
        descriptor: &TextureDescriptor,
    ) -> Result<TextureObject> {
        let object = Object::texture(&self.shared.arena, source, descriptor);
        Ok(TextureObject(Entry::new(&self.shared, object)))
    }

    /// A surface object for an array that was made for it.
    ///
    /// # Errors
    /// None on this device.
    pub fn surface(&self, array: &Array) -> Result<SurfaceObject> {
        Ok(SurfaceObject(Entry::new(&self.shared, Object::surface(array))))
    }
}

impl TextureObject {
    /// What a kernel takes for it.
    pub fn handle(&self) -> u64 {
        self.0.handle
    }

    /// The device it belongs to.
    pub fn device_id(&self) -> DeviceId {
        self.0.shared.id
    }
}

impl SurfaceObject {
    /// What a kernel takes for it.
    pub fn handle(&self) -> u64 {
        self.0.handle
    }

    /// The device it belongs to.
    pub fn device_id(&self) -> DeviceId {
        self.0.shared.id
    }
}
