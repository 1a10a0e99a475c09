//! What a context knows of memory and surfaces that kernels are given.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::mem::MaybeUninit;

use cudarc::driver::sys;

use crate::{
    device::nvidia::{context::CudaContext, driver::code},
    ptx::pass::guard::Find,
};

/// What a context knows of memory; it is current.
pub(in crate::device::nvidia) struct Known<'a>(pub(in crate::device::nvidia) &'a CudaContext);

impl Find for Known<'_> {
    fn memory(&mut self, pointer: u64) -> Option<(u64, u64)> {
        self.0.allocation(pointer)
    }

    fn surface(&mut self, handle: u64) -> Option<[u32; 3]> {
        self.0.surface_size(handle)
    }
}

/// Bytes of a channel.
const fn bytes_of(format: sys::CUarray_format) -> Option<usize> {
    use sys::CUarray_format as Format;
    match format {
        Format::CU_AD_FORMAT_UNSIGNED_INT8 | Format::CU_AD_FORMAT_SIGNED_INT8 => Some(1),
        Format::CU_AD_FORMAT_UNSIGNED_INT16 | Format::CU_AD_FORMAT_SIGNED_INT16 => Some(2),
        Format::CU_AD_FORMAT_HALF => Some(2),
        Format::CU_AD_FORMAT_UNSIGNED_INT32 | Format::CU_AD_FORMAT_SIGNED_INT32 => Some(4),
        Format::CU_AD_FORMAT_FLOAT => Some(4),
        // Those of pictures and films are not checked.
        _ => None,
    }
}

impl CudaContext {
    /// Bytes of a row, rows, and slices or layers of a surface.
    fn surface_size(&self, handle: u64) -> Option<[u32; 3]> {
        let driver = self.driver();
        let mut resource = MaybeUninit::<sys::CUDA_RESOURCE_DESC>::zeroed();
        // SAFETY: the description is written before the call returns; a handle that is none is refused.
        let status = unsafe { driver.cuSurfObjectGetResourceDesc(resource.as_mut_ptr(), handle) };
        if handle == 0 || status.code != code::SUCCESS {
            return None;
        }
        // SAFETY: the driver has written it.
        let resource = unsafe { resource.assume_init() };
        if resource.resType != sys::CUresourcetype::CU_RESOURCE_TYPE_ARRAY {
            return None;
        }
        // SAFETY: of an array it is this part.
        let array = unsafe { resource.res.array.hArray };
        let mut shape = MaybeUninit::<sys::CUDA_ARRAY3D_DESCRIPTOR>::zeroed();
        // SAFETY: the description is written before the call returns; the array lives as long as the surface does.
        let status = unsafe { driver.cuArray3DGetDescriptor_v2(shape.as_mut_ptr(), array) };
        if status.code != code::SUCCESS {
            return None;
        }
        // SAFETY: the driver has written it.
        let shape = unsafe { shape.assume_init() };
        let row = shape.Width * usize::try_from(shape.NumChannels).ok()? * bytes_of(shape.Format)?;
        let size = [row, shape.Height.max(1), shape.Depth.max(1)].map(u32::try_from);
        let [Ok(row), Ok(rows), Ok(slices)] = size else { return None };
        Some([row, rows, slices])
    }

    /// Address and length of the allocation that a pointer points into, as far as anybody knows; the context is
    /// current.
    fn allocation(&self, pointer: u64) -> Option<(u64, u64)> {
        if let Some(known) = self.ranges().find(pointer) {
            return Some(known);
        }
        let (mut start, mut bytes) = (0, 0);
        // SAFETY: both are written before the call returns.
        let status = unsafe {
            self.driver().cuMemGetAddressRange_v2(&raw mut start, &raw mut bytes, pointer)
        };
        let known = pointer != 0 && status.code == code::SUCCESS;
        known.then_some((start, bytes as u64))
    }
}
