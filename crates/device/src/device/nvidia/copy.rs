//! Copies and fills: between memory, rows in it, arrays and the host.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::{ffi::c_void, ptr};

use cudarc::driver::sys;

use super::{Readback, Stream, driver::Status};
use crate::device::{self, Error, Fill, Pitch, Region, Result, Rows};

/// Uploads are staged in pieces of this size, so that the GPU copies one while the host fills the next.
const STAGING_BYTES: usize = 8 << 20;

/// One side of a copy.
#[derive(Clone, Copy)]
pub(super) enum Side {
    /// An array, and where the copy starts there: byte of a row, row and slice.
    Array(sys::CUarray, [usize; 3]),
    /// Rows in device memory.
    Device(u64, Pitch),
    /// Rows in page-locked memory.
    Host(*mut c_void, Pitch),
}

impl Side {
    /// A region's side, and its extent; memory without gaps is one row.
    pub(super) fn of(region: &Region<'_>) -> Result<(Self, [usize; 3])> {
        if let Some(memory) = region.linear() {
            let extent = [memory.bytes(), 1, 1];
            return Ok((Self::Device(memory.address(), Pitch::tight(extent)), extent));
        }
        Ok((Self::shaped(region)?, region.extent()))
    }

    /// A region's side in the region's own shape.
    pub(super) fn shaped(region: &Region<'_>) -> Result<Self> {
        match region {
            Region::Rows(rows) => Ok(Self::Device(rows.address(), rows.pitch())),
            Region::Array(region) => {
                let device::Array::Nvidia(array) = region.array() else {
                    return Err(Error::WrongDevice { operation: "copy" });
                };
                let [x, y, z] = region.origin();
                Ok(Self::Array(array.raw(), [x * region.descriptor().format.bytes(), y, z]))
            }
        }
    }

    /// The same from a byte, row and slice on.
    fn from(self, [byte, row, slice]: [usize; 3]) -> Self {
        let offset = |pitch: Pitch| (slice * pitch.rows + row) * pitch.row_bytes + byte;
        match self {
            Self::Array(array, [x, y, z]) => Self::Array(array, [x + byte, y + row, z + slice]),
            Self::Device(address, pitch) => Self::Device(address + offset(pitch) as u64, pitch),
            Self::Host(address, pitch) => {
                Self::Host(address.wrapping_byte_add(offset(pitch)), pitch)
            }
        }
    }
}

/// A copy of `extent`: bytes of a row, rows and slices.
pub(super) fn structured(to: Side, from: Side, extent: [usize; 3]) -> sys::CUDA_MEMCPY3D {
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
        WidthInBytes: extent[0],
        Height: extent[1],
        Depth: extent[2],
    };
    match from {
        Side::Array(array, [x, y, z]) => {
            (copy.srcMemoryType, copy.srcArray) = (CU_MEMORYTYPE_ARRAY, array);
            (copy.srcXInBytes, copy.srcY, copy.srcZ) = (x, y, z);
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
            (copy.dstXInBytes, copy.dstY, copy.dstZ) = (x, y, z);
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

/// Pieces of an extent that fill at most [`STAGING_BYTES`], in the order of its bytes: where each starts, and its own
/// extent.
fn pieces(extent: [usize; 3]) -> impl Iterator<Item = ([usize; 3], [usize; 3])> {
    let [row_bytes, rows, slices] = extent;
    let width = row_bytes.clamp(1, STAGING_BYTES);
    let height = STAGING_BYTES / width;
    let in_row = move |y, z| (0..row_bytes).step_by(width).map(move |x| [x, y, z]);
    let in_slice = move |z| (0..rows).step_by(height).flat_map(move |y| in_row(y, z));
    let size = move |[x, y, z]: [usize; 3]| {
        ([x, y, z], [width.min(row_bytes - x), height.min(rows - y), 1])
    };
    (0..slices).flat_map(in_slice).map(size)
}

impl Stream {
    /// Copies `bytes` to `to`, which has as many. They are no longer needed when this returns.
    ///
    /// Waits only while earlier uploads have a lot of memory under way.
    ///
    /// They are staged here and not left to the driver, which only promises to have read them when it finds them
    /// to be pageable ("API synchronization behavior" in the CUDA driver API), and may wait for the stream then.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] for the host's side, [`Error::Call`].
    pub fn upload(&self, to: &Region<'_>, bytes: &[u8]) -> Result<()> {
        let context = self.context();
        context.activate()?;
        let (side, extent) = Side::of(to)?;
        let mut rest = bytes;
        for (origin, extent) in pieces(extent) {
            let (piece, after) = rest.split_at(extent.into_iter().product());
            rest = after;
            self.device().staging().limit(context)?;
            let mut block = self.device().staging().take(context, piece.len())?;
            // SAFETY: nobody else uses a block that was just taken.
            unsafe { block.write(piece) };
            let from = Side::Host(block.address(), Pitch::tight(extent));
            // SAFETY: `to` is alive while the copy is put on the stream and freed behind it; the block is kept
            // until its event is reached, and is as long as the piece.
            let status = unsafe { self.submit_copy(side.from(origin), from, extent) };
            let block = self.recorded(block, status)?;
            self.device().staging().give_back_busy(block);
        }
        Ok(())
    }

    /// Starts to copy `from` to the host.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] for the host's side, [`Error::Call`].
    pub fn download(&self, from: &Region<'_>) -> Result<Readback> {
        let context = self.context();
        context.activate()?;
        let (bytes, mark) = (from.bytes(), self.mark());
        if bytes == 0 {
            return Ok(Readback::new(self, None, 0, mark));
        }
        let (side, extent) = Side::of(from)?;
        let block = self.device().staging().take(context, bytes)?;
        let to = Side::Host(block.address(), Pitch::tight(extent));
        // SAFETY: `from` is alive while the copy is put on the stream and freed behind it; the block is kept
        // until its event is reached, and has as many bytes.
        let status = unsafe { self.submit_copy(to, side, extent) };
        let block = self.recorded(block, status)?;
        Ok(Readback::new(self, Some(block), bytes, mark))
    }

    /// Copies `from` to `to`, which has the same shape.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn copy(&self, to: &Region<'_>, from: &Region<'_>) -> Result<()> {
        let context = self.context();
        context.activate()?;
        if from.bytes() == 0 {
            return Ok(());
        }
        let (to, from, extent) = match (to.linear(), from.linear()) {
            (Some(_), Some(_)) => {
                let (from, extent) = Side::of(from)?;
                (Side::of(to)?.0, from, extent)
            }
            _ => (Side::shaped(to)?, Side::shaped(from)?, from.extent()),
        };
        // SAFETY: both sides are alive while the copy is put on the stream and freed behind it, and the seam checked
        // that the rows lie within them.
        context.check(unsafe { self.submit_copy(to, from, extent) })
    }

    /// Puts a copy of at least one byte on the stream.
    ///
    /// # Safety
    /// Both sides must have the extent, and stay until the copy has ended; the context is current.
    pub(super) unsafe fn submit_copy(&self, to: Side, from: Side, extent: [usize; 3]) -> Status {
        let (driver, stream) = (self.context().driver(), self.raw());
        let [bytes, rows, slices] = extent;
        match (to, from) {
            (Side::Device(to, _), Side::Host(from, _)) if rows == 1 && slices == 1 => {
                // SAFETY: the caller's duties are those of the call.
                unsafe { driver.cuMemcpyHtoDAsync_v2(to, from, bytes, stream) }
            }
            (Side::Host(to, _), Side::Device(from, _)) if rows == 1 && slices == 1 => {
                // SAFETY: as above.
                unsafe { driver.cuMemcpyDtoHAsync_v2(to, from, bytes, stream) }
            }
            (Side::Device(to, _), Side::Device(from, _)) if rows == 1 && slices == 1 => {
                // SAFETY: as above.
                unsafe { driver.cuMemcpyDtoDAsync_v2(to, from, bytes, stream) }
            }
            (Side::Array(..) | Side::Device(..) | Side::Host(..), _) => {
                let copy = structured(to, from, extent);
                // SAFETY: as above; `copy` lives until the call returns.
                unsafe { driver.cuMemcpy3DAsync_v2(&raw const copy, stream) }
            }
        }
    }

    /// Fills `to`, whose rows are multiples of the value's width, with a value.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn fill(&self, to: &Rows<'_>, value: Fill) -> Result<()> {
        let context = self.context();
        context.activate()?;
        let region = Region::from(*to);
        if region.bytes() == 0 {
            return Ok(());
        }
        if let Some(memory) = region.linear() {
            return context.check(self.fill_row(memory.address(), memory.bytes(), value));
        }
        let slice_bytes = (to.pitch().rows * to.pitch().row_bytes) as u64;
        for slice in 0..to.extent()[2] as u64 {
            context.check(self.fill_slice(to.address() + slice * slice_bytes, to, value))?;
        }
        Ok(())
    }

    fn fill_row(&self, address: u64, bytes: usize, value: Fill) -> Status {
        let (driver, stream, count) = (self.context().driver(), self.raw(), bytes / value.width());
        match value {
            // SAFETY: the range is alive while the fill is put on the stream, and freed behind it.
            Fill::U8(value) => unsafe { driver.cuMemsetD8Async(address, value, count, stream) },
            // SAFETY: as above.
            Fill::U16(value) => unsafe { driver.cuMemsetD16Async(address, value, count, stream) },
            // SAFETY: as above.
            Fill::U32(value) => unsafe { driver.cuMemsetD32Async(address, value, count, stream) },
        }
    }

    /// Fills the rows of one slice of `rows`, which starts at `address`.
    fn fill_slice(&self, address: u64, rows: &Rows<'_>, value: Fill) -> Status {
        let (driver, stream, pitch) = (self.context().driver(), self.raw(), rows.pitch().row_bytes);
        let [row_bytes, height, _] = rows.extent();
        let width = row_bytes / value.width();
        match value {
            // SAFETY: as in `fill_row`.
            Fill::U8(value) => unsafe {
                driver.cuMemsetD2D8Async(address, pitch, value, width, height, stream)
            },
            // SAFETY: as above.
            Fill::U16(value) => unsafe {
                driver.cuMemsetD2D16Async(address, pitch, value, width, height, stream)
            },
            // SAFETY: as above.
            Fill::U32(value) => unsafe {
                driver.cuMemsetD2D32Async(address, pitch, value, width, height, stream)
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_an_extent_once_in_order() {
        let extents = [
            [0, 3, 2],
            [5, 0, 2],
            [100, 3, 2],
            [STAGING_BYTES / 3, 7, 2],
            [STAGING_BYTES + 5, 2, 2],
            [3 * STAGING_BYTES, 1, 1],
        ];
        for extent in extents {
            let mut expected = 0;
            let [row_bytes, rows, _] = extent;
            for ([x, y, z], size) in pieces(extent) {
                assert_eq!((z * rows + y) * row_bytes + x, expected, "{extent:?}");
                assert!(size[0] == row_bytes || size[1] == 1, "{extent:?}: bytes in order");
                let bytes: usize = size.into_iter().product();
                assert!(bytes > 0 && bytes <= STAGING_BYTES);
                expected += bytes;
            }
            assert_eq!(expected, extent.into_iter().product::<usize>(), "{extent:?}");
        }
    }
}
