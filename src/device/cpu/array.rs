//! Arrays: rows of texels in the arena, without gaps.

use std::sync::{Arc, Mutex, PoisonError};

use super::{
    Device, Readback, Shared, Stream,
    memory::{Access, Arena, Range},
};
use crate::device::{ArrayDescriptor, ArrayRegion, ArrayShape, DeviceId, Pitch, Result, Slice};

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
        let range = self.shared.arena.alloc(descriptor.bytes() as u64, Access::ReadWrite)?;
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

    fn rows(&self, region: &ArrayRegion<'_>) -> Rows {
        let [width, height, _] = self.0.descriptor.shape.extent();
        let texel = self.0.descriptor.format.bytes();
        let [x, y, z] = region.origin();
        let pitch = Pitch { row_bytes: width * texel, rows: height };
        let offset = (z * height + y) * pitch.row_bytes + x * texel;
        Rows { address: self.0.range.address + offset as u64, pitch }
    }
}

/// Rows of bytes in the arena: where the first one starts, and how the others follow.
#[derive(Clone, Copy, Debug)]
struct Rows {
    address: u64,
    pitch: Pitch,
}

impl Rows {
    fn address(&self, row: usize, slice: usize) -> u64 {
        self.address + ((slice * self.pitch.rows + row) * self.pitch.row_bytes) as u64
    }
}

/// A copy of rows, as a piece of a stream's work.
#[derive(Debug)]
pub(super) struct RowCopy {
    kind: Kind,
    /// Bytes of a row, rows, slices.
    size: [usize; 3],
    /// The arrays that take part.
    _kept: [Option<Array>; 2],
}

#[derive(Debug)]
enum Kind {
    Upload { to: Rows, bytes: Vec<u8> },
    Download { from: Rows, to: Arc<Mutex<Option<Vec<u8>>>> },
    Copy { to: Rows, from: Rows },
}

impl RowCopy {
    /// Copies; false where a row does not lie in an allocation.
    pub(super) fn run(self, arena: &Arena) -> bool {
        let [row_bytes, rows, slices] = self.size;
        let mut each = (0..slices).flat_map(|slice| (0..rows).map(move |row| (row, slice)));
        match self.kind {
            _ if row_bytes == 0 => true,
            Kind::Upload { to, bytes } => each
                .zip(bytes.chunks(row_bytes))
                .all(|((row, slice), bytes)| arena.write(to.address(row, slice), bytes)),
            Kind::Copy { to, from } => each.all(|(row, slice)| {
                arena.copy(to.address(row, slice), from.address(row, slice), row_bytes)
            }),
            Kind::Download { from, to } => {
                let mut bytes = Vec::with_capacity(row_bytes * rows * slices);
                let fits = each.all(|(row, slice)| {
                    let read = arena.read(from.address(row, slice), row_bytes);
                    read.is_some_and(|read| {
                        bytes.extend_from_slice(&read);
                        true
                    })
                });
                *to.lock().unwrap_or_else(PoisonError::into_inner) = fits.then_some(bytes);
                fits
            }
        }
    }
}

fn size(region: &ArrayRegion<'_>) -> [usize; 3] {
    [region.row_bytes(), region.size()[1], region.size()[2]]
}

impl Stream {
    /// Copies `bytes`, rows without gaps, to a region of `array`.
    ///
    /// # Errors
    /// None that is known before the copy is done.
    pub fn upload_array(&self, array: &Array, to: &ArrayRegion<'_>, bytes: &[u8]) -> Result<()> {
        let kind = Kind::Upload { to: array.rows(to), bytes: bytes.to_vec() };
        self.copy_rows(RowCopy { kind, size: size(to), _kept: [Some(array.clone()), None] });
        Ok(())
    }

    /// Starts to copy a region of `array` to the host.
    ///
    /// # Errors
    /// None that is known before the copy is done.
    pub fn download_array(&self, array: &Array, from: &ArrayRegion<'_>) -> Result<Readback> {
        let to = Arc::new(Mutex::new(None));
        let kind = Kind::Download { from: array.rows(from), to: to.clone() };
        let copy = RowCopy { kind, size: size(from), _kept: [Some(array.clone()), None] };
        Ok(self.download_rows(copy, to))
    }

    /// Copies rows in linear memory to a region of `array`.
    ///
    /// # Errors
    /// None that is known before the copy is done.
    pub fn copy_to_array(
        &self,
        array: &Array,
        to: &ArrayRegion<'_>,
        from: Slice<'_>,
        pitch: Pitch,
    ) -> Result<()> {
        let from = Rows { address: from.address(), pitch };
        let kind = Kind::Copy { to: array.rows(to), from };
        self.copy_rows(RowCopy { kind, size: size(to), _kept: [Some(array.clone()), None] });
        Ok(())
    }

    /// Copies a region of `array` to rows in linear memory.
    ///
    /// # Errors
    /// None that is known before the copy is done.
    pub fn copy_from_array(
        &self,
        to: Slice<'_>,
        pitch: Pitch,
        array: &Array,
        from: &ArrayRegion<'_>,
    ) -> Result<()> {
        let to = Rows { address: to.address(), pitch };
        let kind = Kind::Copy { to, from: array.rows(from) };
        self.copy_rows(RowCopy { kind, size: size(from), _kept: [Some(array.clone()), None] });
        Ok(())
    }

    /// Copies a region of one array to one of another.
    ///
    /// # Errors
    /// None that is known before the copy is done.
    pub fn copy_array(
        &self,
        to_array: &Array,
        to: &ArrayRegion<'_>,
        from_array: &Array,
        from: &ArrayRegion<'_>,
    ) -> Result<()> {
        let kind = Kind::Copy { to: to_array.rows(to), from: from_array.rows(from) };
        let kept = [Some(to_array.clone()), Some(from_array.clone())];
        self.copy_rows(RowCopy { kind, size: size(to), _kept: kept });
        Ok(())
    }
}
