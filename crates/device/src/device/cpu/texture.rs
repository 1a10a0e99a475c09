//! Texture and surface objects: what their handles stand for while a kernel runs.
//!
//! Enters: handles, coordinates. Leaves: texels, or the bytes of a surface. Must not know: `device::cpu::jit`,
//! `device::cpu::interp`, `device::cpu::launch`.
//!
//! Compiled code and the interpreter ask the [`Snapshot`] that a launch took when it began: by handle, for texels
//! (`sampler`) or bytes of a surface (`surface`). A handle is a place in a table with a generation, so that one of
//! an object that is gone is found out.

mod image;
mod sampler;
mod surface;
mod table;
mod texel;

use std::sync::Arc;

pub(super) use sampler::{Fetch, is_answered, query_of};
pub(super) use surface::{Flat, SurfaceAccess};
pub(super) use table::{Objects, Snapshot};

use super::{Array, Device, Owned, Shared};
use crate::device::{DeviceId, Result, TextureDescriptor, TextureSource};
use image::Image;
use sampler::Sampler;
use surface::SurfaceImage;
use table::Object;

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
        let (image, geometry) = Image::new(&self.shared, source);
        let sampler = Sampler::new(image, geometry, source.format(), descriptor);
        Ok(TextureObject(Entry::new(&self.shared, Object::Texture(Arc::new(sampler)))))
    }

    /// A surface object for an array that was made for it.
    ///
    /// # Errors
    /// None on this device.
    pub fn surface(&self, array: &Array) -> Result<SurfaceObject> {
        let surface = SurfaceImage::new(Image::of_array(array), array.descriptor());
        Ok(SurfaceObject(Entry::new(&self.shared, Object::Surface(Arc::new(surface)))))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::modifier::{Clamp, Query};

    #[test]
    fn codes_stand_for_what_was_asked() {
        for geometry in sampler::GEOMETRIES {
            for gather in [None, Some(0), Some(3)] {
                for texel in [false, true] {
                    let fetch = Fetch { geometry, texel, gather };
                    let again = Fetch::from_code(fetch.code());
                    assert_eq!(format!("{fetch:?}"), format!("{again:?}"));
                }
            }
            for clamp in [Clamp::Trap, Clamp::Clamp, Clamp::Zero] {
                for formatted in [false, true] {
                    let access = SurfaceAccess { geometry, clamp, bytes: 16, formatted };
                    let again = SurfaceAccess::from_code(access.code());
                    assert_eq!(format!("{access:?}"), format!("{again:?}"));
                }
            }
        }
        for query in Query::ALL {
            assert_eq!(query_of(*query as u32), *query);
        }
    }
}
