//! The texels behind an object: where they lie, and that they are there.
#![expect(unsafe_code, reason = "raw memory that kernels and the host share")]

use std::sync::Arc;

use bytemuck::{AnyBitPattern, NoUninit};

use crate::{
    device::{
        ArrayShape, TextureSource,
        cpu::{Array, memory::Arena},
    },
    ptx::modifier::Geometry,
};

/// Rows of texels in the arena.
#[derive(Debug)]
pub(super) struct Image {
    address: u64,
    /// Bytes from there that belong to it.
    bytes: u64,
    texel_bytes: u64,
    row_bytes: u64,
    slice_bytes: u64,
    extent: [u32; 3],
    owner: Owner,
}

/// Who keeps the memory, or at least the arena that it lies in.
#[derive(Debug)]
enum Owner {
    /// The array, which lives as long as this.
    Array(#[expect(dead_code, reason = "kept alive")] Array),
    /// Somebody else, who may have freed it.
    Memory(Arc<Arena>),
}

impl Image {
    /// The texels of a texture, and the shape in which instructions read them.
    pub(super) fn new(arena: &Arc<Arena>, source: &TextureSource<'_>) -> (Self, Geometry) {
        let owner = || Owner::Memory(arena.clone());
        match *source {
            TextureSource::Array(crate::device::Array::Cpu(array)) => {
                (Self::of_array(array), geometry(array.descriptor().shape))
            }
            // The facade refuses arrays of another device before.
            TextureSource::Array(crate::device::Array::Nvidia(_)) => {
                (Self::rows(0, [1, 1], 1, 1, owner()), Geometry::D1)
            }
            TextureSource::Linear { memory, format } => {
                let width = memory.bytes() / format.bytes();
                let image = Self::rows(
                    memory.address(),
                    [width, 1],
                    format.bytes(),
                    width * format.bytes(),
                    owner(),
                );
                (image, Geometry::D1)
            }
            TextureSource::Pitched { memory, format, width, height, pitch_bytes } => {
                let size = [width, height];
                let image =
                    Self::rows(memory.address(), size, format.bytes(), pitch_bytes, owner());
                (image, Geometry::D2)
            }
        }
    }

    fn rows(
        address: u64,
        [width, height]: [usize; 2],
        texel: usize,
        pitch: usize,
        owner: Owner,
    ) -> Self {
        let bytes = if address == 0 { 0 } else { (height - 1) * pitch + width * texel };
        Self {
            address,
            bytes: bytes as u64,
            texel_bytes: texel as u64,
            row_bytes: pitch as u64,
            slice_bytes: bytes as u64,
            extent: [width as u32, height as u32, 1],
            owner,
        }
    }

    pub(super) fn of_array(array: &Array) -> Self {
        let descriptor = array.descriptor();
        let [width, height, depth] = descriptor.shape.extent();
        let texel_bytes = descriptor.format.bytes() as u64;
        let row_bytes = width as u64 * texel_bytes;
        Self {
            address: array.texels().address(),
            bytes: descriptor.bytes() as u64,
            texel_bytes,
            row_bytes,
            slice_bytes: row_bytes * height as u64,
            extent: [width as u32, height as u32, depth as u32],
            owner: Owner::Array(array.clone()),
        }
    }

    /// Texels in x, y, and z: slices, layers or faces.
    pub(super) fn extent(&self) -> [u32; 3] {
        self.extent
    }

    pub(super) fn address(&self) -> u64 {
        self.address
    }

    pub(super) fn row_bytes(&self) -> u64 {
        self.row_bytes
    }

    pub(super) fn slice_bytes(&self) -> u64 {
        self.slice_bytes
    }

    pub(super) fn texel_bytes(&self) -> u32 {
        self.texel_bytes as u32
    }

    /// Whether it lies in memory that belongs to somebody else.
    pub(super) fn is_borrowed(&self) -> bool {
        matches!(self.owner, Owner::Memory(_))
    }

    /// Whether its memory has not been freed.
    #[inline]
    pub(super) fn is_alive(&self) -> bool {
        match &self.owner {
            Owner::Array(_) => true,
            Owner::Memory(arena) => arena.holds(self.address, self.bytes),
        }
    }

    /// The value of this type at a byte of a row; zero behind the image's end.
    #[inline]
    pub(super) fn load<T: AnyBitPattern>(&self, byte: u64, y: u32, z: u32) -> T {
        self.load_at(self.offset(byte, y, z))
    }

    /// From the image's first byte to one of a row.
    #[inline]
    pub(super) fn offset(&self, byte: u64, y: u32, z: u32) -> u64 {
        let (rows, slices) = (u64::from(y), u64::from(z));
        let start = slices.wrapping_mul(self.slice_bytes);
        start.wrapping_add(rows.wrapping_mul(self.row_bytes)).wrapping_add(byte)
    }

    /// The value of this type at an offset; zero behind the image's end.
    #[inline]
    pub(super) fn load_at<T: AnyBitPattern>(&self, offset: u64) -> T {
        match self.place(offset, size_of::<T>()) {
            // SAFETY: the bytes lie in the image and so in the arena, whose pages stay mapped while `owner` lives;
            // any bytes are a value of the type.
            Some(address) => unsafe { (address as *const T).read_unaligned() },
            None => T::zeroed(),
        }
    }

    /// Writes a value at a byte of a row; nothing behind the image's end.
    #[inline]
    pub(super) fn store<T: NoUninit>(&self, byte: u64, y: u32, z: u32, value: T) {
        if let Some(address) = self.place(self.offset(byte, y, z), size_of::<T>()) {
            // SAFETY: as in `load_at`; nothing in Rust borrows the arena's pages.
            unsafe { (address as *mut T).write_unaligned(value) };
        }
    }

    #[inline]
    pub(super) fn place(&self, offset: u64, bytes: usize) -> Option<u64> {
        let end = offset.wrapping_add(bytes as u64);
        (end <= self.bytes && end > offset).then(|| self.address.wrapping_add(offset))
    }
}

/// The shape in which instructions address an array.
pub(super) fn geometry(shape: ArrayShape) -> Geometry {
    match shape {
        ArrayShape::D1 { .. } => Geometry::D1,
        ArrayShape::D2 { .. } => Geometry::D2,
        ArrayShape::D3 { .. } => Geometry::D3,
        ArrayShape::Layered1 { .. } => Geometry::A1d,
        ArrayShape::Layered2 { .. } => Geometry::A2d,
        ArrayShape::Cube { .. } => Geometry::Cube,
        ArrayShape::LayeredCube { .. } => Geometry::Acube,
    }
}
