//! CUDA arrays, and copies to and from them.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::{ffi::c_void, ptr, sync::Arc};

use cudarc::driver::sys::{self, CUarray_format as RawFormat, CUdevice_attribute as Attribute};

use super::{
    Device, Readback, Stream,
    driver::{Handle, code},
    memory::out_of_memory,
    stream::STAGING_BYTES,
};
use crate::device::{
    ArrayDescriptor, ArrayRegion, ArrayShape, Channel, DeviceId, Format, Pitch, Result, Slice,
};

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
    /// Created here, not lent by a mapped OpenGL texture.
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
    pub(crate) unsafe fn borrowed(
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
    pub(crate) fn is_same(&self, other: &Self) -> bool {
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

/// One side of a copy.
#[derive(Clone, Copy)]
enum Side {
    /// An array, and the texel at which the copy starts there.
    Array(sys::CUarray, [usize; 3]),
    /// Rows in device memory.
    Device(u64, Pitch),
    /// Rows in page-locked memory.
    Host(*mut c_void, Pitch),
}

/// A copy of `size`: bytes of a row, rows and slices; `texel` is the size of a texel in bytes.
fn copy_of(to: Side, from: Side, size: [usize; 3], texel: usize) -> sys::CUDA_MEMCPY3D {
    use sys::CUmemorytype::{CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST};
    let mut copy = sys::CUDA_MEMCPY3D {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: CU_MEMORYTYPE_HOST,
        srcHost: ptr::null(),
        srcDevice: 0,
        srcArray: ptr::null_mut(),
        reserved0: ptr::null_mut(),
        srcPitch: 0,
        srcHeight: 0,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: CU_MEMORYTYPE_HOST,
        dstHost: ptr::null_mut(),
        dstDevice: 0,
        dstArray: ptr::null_mut(),
        reserved1: ptr::null_mut(),
        dstPitch: 0,
        dstHeight: 0,
        WidthInBytes: size[0],
        Height: size[1],
        Depth: size[2],
    };
    match from {
        Side::Array(array, [x, y, z]) => {
            (copy.srcMemoryType, copy.srcArray) = (CU_MEMORYTYPE_ARRAY, array);
            (copy.srcXInBytes, copy.srcY, copy.srcZ) = (x * texel, y, z);
        }
        Side::Device(address, pitch) => {
            (copy.srcMemoryType, copy.srcDevice) = (CU_MEMORYTYPE_DEVICE, address);
            (copy.srcPitch, copy.srcHeight) = (pitch.row_bytes, pitch.rows);
        }
        Side::Host(address, pitch) => {
            (copy.srcMemoryType, copy.srcHost) = (CU_MEMORYTYPE_HOST, address);
            (copy.srcPitch, copy.srcHeight) = (pitch.row_bytes, pitch.rows);
        }
    }
    match to {
        Side::Array(array, [x, y, z]) => {
            (copy.dstMemoryType, copy.dstArray) = (CU_MEMORYTYPE_ARRAY, array);
            (copy.dstXInBytes, copy.dstY, copy.dstZ) = (x * texel, y, z);
        }
        Side::Device(address, pitch) => {
            (copy.dstMemoryType, copy.dstDevice) = (CU_MEMORYTYPE_DEVICE, address);
            (copy.dstPitch, copy.dstHeight) = (pitch.row_bytes, pitch.rows);
        }
        Side::Host(address, pitch) => {
            (copy.dstMemoryType, copy.dstHost) = (CU_MEMORYTYPE_HOST, address);
            (copy.dstPitch, copy.dstHeight) = (pitch.row_bytes, pitch.rows);
        }
    }
    copy
}

/// Parts of a region of which each has few enough bytes to be staged: origins within it, and sizes in texels.
fn pieces(region: &ArrayRegion<'_>) -> Vec<([usize; 3], [usize; 3])> {
    let [width, height, depth] = region.size();
    let (row, all) = (region.row_bytes(), region.bytes());
    if all == 0 {
        return Vec::new();
    }
    if all <= STAGING_BYTES {
        return vec![([0; 3], [width, height, depth])];
    }
    let rows = (STAGING_BYTES / row).clamp(1, height);
    let starts = |z| (0..height).step_by(rows).map(move |y| (y, z));
    let piece = |(y, z)| ([0, y, z], [width, rows.min(height - y), 1]);
    (0..depth).flat_map(starts).map(piece).collect()
}

impl Stream {
    /// Copies `bytes`, rows without gaps, to a region of `array`; staged as in [`Stream::upload`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::device::Error::OutOfMemory) for the host's side,
    /// [`Error::Call`](crate::device::Error::Call).
    pub fn upload_array(&self, array: &Array, to: &ArrayRegion<'_>, bytes: &[u8]) -> Result<()> {
        let context = self.context();
        context.activate()?;
        let mut rest = bytes;
        for (origin, size) in pieces(to) {
            let part = to.part(origin, size)?;
            let (piece, after) = rest.split_at(part.bytes());
            rest = after;
            context.limit_staging()?;
            let mut block = context.take_block(piece.len())?;
            // SAFETY: nobody else uses a block that was just taken.
            unsafe { block.write(piece) };
            let from = Side::Host(block.address(), Pitch::tight(&part));
            let copy = between(Side::Array(array.raw(), part.origin()), from, &part);
            // SAFETY: the array is alive while the copy is put on the stream and freed behind it; the block is kept
            // until its event is reached, and is as long as the rows.
            let status =
                unsafe { context.driver().cuMemcpy3DAsync_v2(&raw const copy, self.raw()) };
            let block = self.recorded(block, status)?;
            context.give_back_busy(block);
        }
        Ok(())
    }

    /// Starts to copy a region of `array` to the host.
    ///
    /// # Errors
    /// As [`Stream::upload_array`].
    pub fn download_array(&self, array: &Array, from: &ArrayRegion<'_>) -> Result<Readback> {
        let context = self.context();
        context.activate()?;
        let (bytes, mark) = (from.bytes(), self.mark());
        if bytes == 0 {
            return Ok(Readback::new(self.device().clone(), None, 0, mark));
        }
        let block = context.take_block(bytes)?;
        let to = Side::Host(block.address(), Pitch::tight(from));
        let copy = between(to, Side::Array(array.raw(), from.origin()), from);
        // SAFETY: as in `upload_array`.
        let status = unsafe { context.driver().cuMemcpy3DAsync_v2(&raw const copy, self.raw()) };
        let block = self.recorded(block, status)?;
        Ok(Readback::new(self.device().clone(), Some(block), bytes, mark))
    }

    /// Copies rows in linear memory to a region of `array`.
    ///
    /// # Errors
    /// [`Error::Call`](crate::device::Error::Call).
    pub fn copy_to_array(
        &self,
        array: &Array,
        to: &ArrayRegion<'_>,
        from: Slice<'_>,
        pitch: Pitch,
    ) -> Result<()> {
        let from = Side::Device(from.address(), pitch);
        self.copy_rows(&between(Side::Array(array.raw(), to.origin()), from, to))
    }

    /// Copies a region of `array` to rows in linear memory.
    ///
    /// # Errors
    /// [`Error::Call`](crate::device::Error::Call).
    pub fn copy_from_array(
        &self,
        to: Slice<'_>,
        pitch: Pitch,
        array: &Array,
        from: &ArrayRegion<'_>,
    ) -> Result<()> {
        let to = Side::Device(to.address(), pitch);
        self.copy_rows(&between(to, Side::Array(array.raw(), from.origin()), from))
    }

    /// Copies a region of one array to one of another.
    ///
    /// # Errors
    /// [`Error::Call`](crate::device::Error::Call).
    pub fn copy_array(
        &self,
        to_array: &Array,
        to: &ArrayRegion<'_>,
        from_array: &Array,
        from: &ArrayRegion<'_>,
    ) -> Result<()> {
        let from_side = Side::Array(from_array.raw(), from.origin());
        self.copy_rows(&between(Side::Array(to_array.raw(), to.origin()), from_side, to))
    }

    fn copy_rows(&self, copy: &sys::CUDA_MEMCPY3D) -> Result<()> {
        if copy.WidthInBytes == 0 || copy.Height == 0 || copy.Depth == 0 {
            return Ok(());
        }
        let context = self.context();
        context.activate()?;
        // SAFETY: both sides are alive while the copy is put on the stream and freed behind it, and the facade
        // checked that the rows lie within them.
        context.check(unsafe { context.driver().cuMemcpy3DAsync_v2(copy, self.raw()) })
    }
}

/// The copy of all of `region`, which is one of the sides.
fn between(to: Side, from: Side, region: &ArrayRegion<'_>) -> sys::CUDA_MEMCPY3D {
    let [_, rows, slices] = region.size();
    let texel = region.array().descriptor().format.bytes();
    copy_of(to, from, [region.row_bytes(), rows, slices], texel)
}
