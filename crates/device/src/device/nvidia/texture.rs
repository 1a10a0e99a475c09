//! Texture and surface objects.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::ptr;

use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};

use super::{Array, Device, array::raw_format};
use crate::device::{
    AddressMode, DeviceId, Error, Filter, Format, ReadMode, Result, TextureDescriptor,
    TextureSource,
};

/// `CU_TRSF_*`.
mod flag {
    pub(super) const READ_AS_INTEGER: u32 = 0x01;
    pub(super) const NORMALIZED_COORDINATES: u32 = 0x02;
    pub(super) const SRGB: u32 = 0x10;
}

/// A texture object.
#[derive(Debug)]
pub struct TextureObject {
    device: Device,
    handle: u64,
    /// What it reads from, unless that is linear memory.
    _array: Option<Array>,
}

/// A surface object.
#[derive(Debug)]
pub struct SurfaceObject {
    device: Device,
    handle: u64,
    _array: Array,
}

impl Device {
    /// The most texels of a texture of linear memory, and in x and y of one of rows.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn largest_linear_texture(&self) -> Result<(usize, [usize; 2])> {
        use Attribute::*;
        let of = |attribute| self.context().attribute(attribute);
        Ok((
            of(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH)?,
            [
                of(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH)?,
                of(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT)?,
            ],
        ))
    }

    /// A texture object; the facade has checked the parts against each other.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::Call`].
    pub fn texture(
        &self,
        source: &TextureSource<'_>,
        descriptor: &TextureDescriptor,
    ) -> Result<TextureObject> {
        let (resource, array) = resource(source)?;
        let mut reading = reading(descriptor, source.format());
        // The H200 reads a row as a picture of one row, at its upper edge: filtering would mix a border in.
        for unused in &mut reading.addressMode[source.dimensions()..] {
            *unused = sys::CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP;
        }
        let context = self.context();
        context.activate()?;
        let mut handle = 0;
        // SAFETY: both descriptions live until the call returns, before which `handle` is written; what they name is
        // alive, and an array is kept.
        context.check(unsafe {
            context.driver().cuTexObjectCreate(
                &raw mut handle,
                &raw const resource,
                &raw const reading,
                ptr::null(),
            )
        })?;
        Ok(TextureObject { device: self.clone(), handle, _array: array })
    }

    /// A surface object for an array that was made for it.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn surface(&self, array: &Array) -> Result<SurfaceObject> {
        let resource = array_resource(array);
        let context = self.context();
        context.activate()?;
        let mut handle = 0;
        // SAFETY: the description lives until the call returns, before which `handle` is written; the array is kept.
        context.check(unsafe {
            context.driver().cuSurfObjectCreate(&raw mut handle, &raw const resource)
        })?;
        Ok(SurfaceObject { device: self.clone(), handle, _array: array.clone() })
    }
}

fn resource(source: &TextureSource<'_>) -> Result<(sys::CUDA_RESOURCE_DESC, Option<Array>)> {
    use sys::CUresourcetype::{CU_RESOURCE_TYPE_LINEAR, CU_RESOURCE_TYPE_PITCH2D};
    use sys::{
        CUDA_RESOURCE_DESC_st__bindgen_ty_1 as Union,
        CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_3 as Linear,
        CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_4 as Pitched,
    };
    let of = |kind, res| sys::CUDA_RESOURCE_DESC { resType: kind, res, flags: 0 };
    Ok(match *source {
        TextureSource::Array(crate::device::Array::Nvidia(array)) => {
            (array_resource(array), Some(array.clone()))
        }
        TextureSource::Array(crate::device::Array::Cpu(_)) => {
            return Err(Error::WrongDevice { operation: "create a texture" });
        }
        TextureSource::Linear { memory, format } => {
            let linear = Linear {
                devPtr: memory.address(),
                format: raw_format(format),
                numChannels: format.channels() as u32,
                sizeInBytes: memory.bytes() / format.bytes() * format.bytes(),
            };
            // Its other bytes are reserved and zero.
            let mut union = blank();
            union.linear = linear;
            (of(CU_RESOURCE_TYPE_LINEAR, union), None)
        }
        TextureSource::Pitched { memory, format, width, height, pitch_bytes } => {
            let pitched = Pitched {
                devPtr: memory.address(),
                format: raw_format(format),
                numChannels: format.channels() as u32,
                width,
                height,
                pitchInBytes: pitch_bytes,
            };
            let mut union: Union = blank();
            union.pitch2D = pitched;
            (of(CU_RESOURCE_TYPE_PITCH2D, union), None)
        }
    })
}

fn array_resource(array: &Array) -> sys::CUDA_RESOURCE_DESC {
    let mut res = blank();
    res.array = sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_1 { hArray: array.raw() };
    let kind = sys::CUresourcetype::CU_RESOURCE_TYPE_ARRAY;
    sys::CUDA_RESOURCE_DESC { resType: kind, res, flags: 0 }
}

fn blank() -> sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1 {
    sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1 {
        reserved: sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_5 { reserved: [0; 32] },
    }
}

fn reading(descriptor: &TextureDescriptor, format: Format) -> sys::CUDA_TEXTURE_DESC {
    use sys::{CUaddress_mode::*, CUfilter_mode::*};
    let mode = |mode| match mode {
        AddressMode::Clamp => CU_TR_ADDRESS_MODE_CLAMP,
        AddressMode::Wrap => CU_TR_ADDRESS_MODE_WRAP,
        AddressMode::Mirror => CU_TR_ADDRESS_MODE_MIRROR,
        AddressMode::Border => CU_TR_ADDRESS_MODE_BORDER,
    };
    let mut flags = 0;
    if descriptor.read == ReadMode::Element && !format.channel().is_float() {
        flags |= flag::READ_AS_INTEGER;
    }
    if descriptor.normalized {
        flags |= flag::NORMALIZED_COORDINATES;
    }
    if descriptor.srgb {
        flags |= flag::SRGB;
    }
    sys::CUDA_TEXTURE_DESC {
        addressMode: descriptor.address.map(mode),
        filterMode: match descriptor.filter {
            Filter::Point => CU_TR_FILTER_MODE_POINT,
            Filter::Linear => CU_TR_FILTER_MODE_LINEAR,
        },
        flags,
        maxAnisotropy: 0,
        mipmapFilterMode: CU_TR_FILTER_MODE_POINT,
        mipmapLevelBias: 0.0,
        minMipmapLevelClamp: 0.0,
        maxMipmapLevelClamp: 0.0,
        borderColor: descriptor.border,
        reserved: [0; 12],
    }
}

impl TextureObject {
    /// What a kernel takes for it.
    pub fn handle(&self) -> u64 {
        self.handle
    }

    /// The device it belongs to.
    pub fn device_id(&self) -> DeviceId {
        self.device.id()
    }
}

impl SurfaceObject {
    /// What a kernel takes for it.
    pub fn handle(&self) -> u64 {
        self.handle
    }

    /// The device it belongs to.
    pub fn device_id(&self) -> DeviceId {
        self.device.id()
    }
}

impl Drop for TextureObject {
    fn drop(&mut self) {
        let context = self.device.context();
        context.on_drop(|| {
            context.wait_for_work()?;
            // SAFETY: created by `cuTexObjectCreate`, and no work that was put on a stream uses it any more.
            context.check(unsafe { context.driver().cuTexObjectDestroy(self.handle) })
        });
    }
}

impl Drop for SurfaceObject {
    fn drop(&mut self) {
        let context = self.device.context();
        context.on_drop(|| {
            context.wait_for_work()?;
            // SAFETY: created by `cuSurfObjectCreate`, and no work that was put on a stream uses it any more.
            context.check(unsafe { context.driver().cuSurfObjectDestroy(self.handle) })
        });
    }
}
