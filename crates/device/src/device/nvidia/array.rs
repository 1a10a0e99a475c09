//! CUDA arrays.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::{ptr, sync::Arc};

use cudarc::driver::sys::{self, CUarray_format as RawFormat, CUdevice_attribute as Attribute};

use super::{
    Device,
    driver::{Handle, code},
    memory::out_of_memory,
};
use crate::device::{ArrayDescriptor, ArrayShape, Channel, DeviceId, Format, Result};

/// `CUDA_ARRAY3D_*`.
mod flag {
    pub(super) const LAYERED: u32 = 0x01;
    pub(super) const SURFACE_LDST: u32 = 0x02;
    pub(super) const CUBEMAP: u32 = 0x04;
    pub(super) const TEXTURE_GATHER: u32 = 0x08;
}

/// An array; clones are the same one.
#[derive(Clone, Debug)]
pub struct Array(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    device: Device,
    raw: Handle<sys::CUarray_st>,
    descriptor: ArrayDescriptor,
    /// Created here, not a part of a mapped OpenGL texture.
    owned: bool,
}

impl Device {
    /// The most texels in x, y and z of such an array.
    ///
    /// # Errors
    /// [`Error::Call`](crate::device::Error::Call).
    pub fn largest_array(&self, descriptor: &ArrayDescriptor) -> Result<[usize; 3]> {
        use Attribute::*;
        let of = |attribute| self.context().attribute(attribute);
        let textures = match descriptor.shape {
            ArrayShape::D1 { .. } => [of(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH)?, 1, 1],
            ArrayShape::D2 { .. } if descriptor.gather => [
                of(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH)?,
                of(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT)?,
                1,
            ],
            ArrayShape::D2 { .. } => [
                of(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH)?,
                of(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT)?,
                1,
            ],
            ArrayShape::D3 { .. } => [
                of(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH)?,
                of(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT)?,
                of(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH)?,
            ],
            ArrayShape::Layered1 { .. } => [
                of(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH)?,
                1,
                of(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS)?,
            ],
            ArrayShape::Layered2 { .. } => [
                of(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH)?,
                of(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT)?,
                of(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS)?,
            ],
            ArrayShape::Cube { .. } => {
                let width = of(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH)?;
                [width, width, 6]
            }
            ArrayShape::LayeredCube { .. } => {
                let width = of(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH)?;
                [width, width, of(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS)?]
            }
        };
        if !descriptor.surface {
            return Ok(textures);
        }
        let surfaces = self.largest_surface(descriptor.shape)?;
        Ok(std::array::from_fn(|axis| textures[axis].min(surfaces[axis])))
    }

    fn largest_surface(&self, shape: ArrayShape) -> Result<[usize; 3]> {
        use Attribute::*;
        let of = |attribute| self.context().attribute(attribute);
        Ok(match shape {
            ArrayShape::D1 { .. } => [of(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH)?, 1, 1],
            ArrayShape::D2 { .. } => [
                of(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH)?,
                of(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT)?,
                1,
            ],
            ArrayShape::D3 { .. } => [
                of(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH)?,
                of(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT)?,
                of(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH)?,
            ],
            ArrayShape::Layered1 { .. } => [
                of(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH)?,
                1,
                of(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS)?,
            ],
            ArrayShape::Layered2 { .. } => [
                of(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH)?,
                of(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT)?,
                of(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS)?,
            ],
            ArrayShape::Cube { .. } => {
                let width = of(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH)?;
                [width, width, 6]
            }
            ArrayShape::LayeredCube { .. } => {
                let width = of(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH)?;
                [width, width, of(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS)?]
            }
        })
    }

    /// Allocates an array.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::device::Error::OutOfMemory), [`Error::Call`](crate::device::Error::Call).
    pub fn array(&self, descriptor: &ArrayDescriptor) -> Result<Array> {
        let context = self.context();
        context.activate()?;
        let wanted = raw_descriptor(descriptor);
        let mut raw = ptr::null_mut();
        // SAFETY: `wanted` lives until the call returns, before which `raw` is written.
        let status =
            unsafe { context.driver().cuArray3DCreate_v2(&raw mut raw, &raw const wanted) };
        context.check(status).map_err(|error| match status.code {
            code::OUT_OF_MEMORY => out_of_memory(context, descriptor.bytes()),
            _ => error,
        })?;
        Ok(Array::new(self, raw, *descriptor, true))
    }
}

/// `cuArray3DCreate`: which of the three sizes are zero says what kind of array it is.
fn raw_descriptor(descriptor: &ArrayDescriptor) -> sys::CUDA_ARRAY3D_DESCRIPTOR {
    let [width, height, depth] = descriptor.shape.extent();
    let (height, depth, mut flags) = match descriptor.shape {
        ArrayShape::D1 { .. } => (0, 0, 0),
        ArrayShape::D2 { .. } => (height, 0, 0),
        ArrayShape::D3 { .. } => (height, depth, 0),
        ArrayShape::Layered1 { .. } => (0, depth, flag::LAYERED),
        ArrayShape::Layered2 { .. } => (height, depth, flag::LAYERED),
        ArrayShape::Cube { .. } => (height, depth, flag::CUBEMAP),
        ArrayShape::LayeredCube { .. } => (height, depth, flag::CUBEMAP | flag::LAYERED),
    };
    if descriptor.surface {
        flags |= flag::SURFACE_LDST;
    }
    if descriptor.gather {
        flags |= flag::TEXTURE_GATHER;
    }
    sys::CUDA_ARRAY3D_DESCRIPTOR {
        Width: width,
        Height: height,
        Depth: depth,
        Format: raw_format(descriptor.format),
        NumChannels: descriptor.format.channels() as u32,
        Flags: flags,
    }
}

pub(super) fn raw_format(format: Format) -> RawFormat {
    match format.channel() {
        Channel::U8 => RawFormat::CU_AD_FORMAT_UNSIGNED_INT8,
        Channel::I8 => RawFormat::CU_AD_FORMAT_SIGNED_INT8,
        Channel::U16 => RawFormat::CU_AD_FORMAT_UNSIGNED_INT16,
        Channel::I16 => RawFormat::CU_AD_FORMAT_SIGNED_INT16,
        Channel::U32 => RawFormat::CU_AD_FORMAT_UNSIGNED_INT32,
        Channel::I32 => RawFormat::CU_AD_FORMAT_SIGNED_INT32,
        Channel::F16 => RawFormat::CU_AD_FORMAT_HALF,
        Channel::F32 => RawFormat::CU_AD_FORMAT_FLOAT,
    }
}

impl Array {
    fn new(device: &Device, raw: sys::CUarray, descriptor: ArrayDescriptor, owned: bool) -> Self {
        Self(Arc::new(Inner { device: device.clone(), raw: Handle(raw), descriptor, owned }))
    }

    /// An array that somebody else owns, such as one that was mapped from an OpenGL texture.
    ///
    /// # Safety
    /// `raw` must be an array of `device` that is as `descriptor` says, and stay so while this array, a clone of it
    /// or an object made of it is used.
    #[cfg(feature = "gl")]
    #[doc(hidden)]
    pub unsafe fn borrowed(
        device: &Device,
        raw: sys::CUarray,
        descriptor: ArrayDescriptor,
    ) -> Self {
        Self::new(device, raw, descriptor, false)
    }

    /// What it was made as.
    pub fn descriptor(&self) -> &ArrayDescriptor {
        &self.0.descriptor
    }

    /// The device it belongs to.
    pub fn device_id(&self) -> DeviceId {
        self.0.device.id()
    }

    /// Whether both are the driver's same array.
    #[cfg(feature = "gl")]
    #[doc(hidden)]
    pub fn is_same(&self, other: &Self) -> bool {
        self.raw() == other.raw()
    }

    pub(super) fn raw(&self) -> sys::CUarray {
        self.0.raw.0
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if !self.owned {
            return;
        }
        let context = self.device.context();
        context.on_drop(|| {
            context.wait_for_work()?;
            // SAFETY: created by `cuArray3DCreate`, and no work that was put on a stream uses it any more.
            context.check(unsafe { context.driver().cuArrayDestroy(self.raw.0) })
        });
    }
}
