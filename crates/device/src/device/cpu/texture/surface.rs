//! Surface accesses (PTX ISA, "Surface Instructions"): bytes of a row, or with `.p` texels.

use half::f16;

use super::{
    image::{self, Image},
    sampler::{GEOMETRIES, answer, geometry_code},
};
use crate::{
    device::{ArrayDescriptor, Channel, FaultKind, Format},
    ptx::modifier::{Clamp, Geometry, Query},
};

/// What a `suld` or `sust` instruction asks for.
#[derive(Clone, Copy, Debug)]
pub(in crate::device::cpu) struct SurfaceAccess {
    /// The surface's shape.
    pub(in crate::device::cpu) geometry: Geometry,
    /// What happens outside.
    pub(in crate::device::cpu) clamp: Clamp,
    /// Width in bytes, at most 16.
    pub(in crate::device::cpu) bytes: u8,
    /// `.p`: x counts texels, and four words at most become one.
    pub(in crate::device::cpu) formatted: bool,
}

impl SurfaceAccess {
    /// All of it as a constant of compiled code.
    pub(in crate::device::cpu) fn code(self) -> u32 {
        let (clamp, formatted) = (self.clamp.code(), u32::from(self.formatted));
        geometry_code(self.geometry) | clamp << 3 | formatted << 5 | u32::from(self.bytes) << 8
    }

    /// What [`SurfaceAccess::code`] stands for; what is no code of what to do outside ends the kernel there.
    #[inline]
    pub(in crate::device::cpu) fn from_code(code: u32) -> Self {
        Self {
            geometry: GEOMETRIES[code as usize & 7],
            clamp: Clamp::from_code(code >> 3 & 3).unwrap_or(Clamp::Trap),
            bytes: (code >> 8) as u8,
            formatted: code & 0x20 != 0,
        }
    }
}

/// What compiled code needs to access a flat surface by itself. The layout is a contract with it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(in crate::device::cpu) struct Flat {
    /// 0 where there is no 2-D surface.
    pub(in crate::device::cpu) handle: u64,
    pub(in crate::device::cpu) address: u64,
    pub(in crate::device::cpu) row_bytes: u32,
    pub(in crate::device::cpu) rows: u32,
}

/// A surface as kernels access it.
#[derive(Debug)]
pub(in crate::device::cpu) struct SurfaceImage {
    image: Image,
    geometry: Geometry,
    format: Format,
    row_bytes: u32,
}

impl SurfaceImage {
    pub(super) fn new(image: Image, descriptor: &ArrayDescriptor) -> Self {
        let geometry = image::geometry(descriptor.shape);
        let row_bytes = image.extent()[0] * image.texel_bytes();
        Self { image, geometry, format: descriptor.format, row_bytes }
    }

    /// What compiled code needs of it; only 2-D ones are flat.
    pub(super) fn flat(&self, handle: u64) -> Flat {
        if self.geometry != Geometry::D2 {
            return Flat::default();
        }
        Flat {
            handle,
            address: self.image.address(),
            row_bytes: self.row_bytes,
            rows: self.image.extent()[1],
        }
    }

    pub(super) fn query(&self, query: Query) -> u32 {
        answer(query, self.geometry, self.image.extent(), false)
    }

    /// That the instruction is for surfaces of this shape; the faces of cubes are layers to it.
    #[inline]
    pub(super) fn expect(&self, access: SurfaceAccess) -> Result<(), String> {
        let own = match self.geometry {
            Geometry::Cube | Geometry::Acube => Geometry::A2d,
            Geometry::D1 | Geometry::D2 | Geometry::D3 => self.geometry,
            Geometry::A1d | Geometry::A2d | Geometry::D2ms | Geometry::A2dms => self.geometry,
        };
        if access.geometry == own { Ok(()) } else { Err(self.refusal(access)) }
    }

    #[cold]
    fn refusal(&self, access: SurfaceAccess) -> String {
        let (own, asked) = (self.geometry.text(), access.geometry.text());
        format!("a surface of shape {own} accessed as {asked}")
    }

    /// The bytes that an access is to: address and number; none where it has no effect.
    pub(super) fn place(
        &self,
        access: SurfaceAccess,
        at: [i32; 4],
        write: bool,
    ) -> Result<Option<(u64, u32)>, FaultKind> {
        let bytes = self.bytes_of(access, write);
        let Some((x, y, z)) = self.locate(access, at, bytes, write)? else { return Ok(None) };
        let address = self.image.place(self.image.offset(x, y, z), bytes as usize);
        Ok(address.map(|address| (address, bytes)))
    }

    /// How many bytes of the surface an access is to: texels are written in the surface's own format.
    fn bytes_of(&self, access: SurfaceAccess, write: bool) -> u32 {
        match access.formatted && write {
            true => self.image.texel_bytes(),
            false => access.bytes.into(),
        }
    }

    #[inline]
    pub(super) fn read(&self, access: SurfaceAccess, at: [i32; 4]) -> Result<[u8; 16], FaultKind> {
        let mut data = [0; 16];
        let bytes = u32::from(access.bytes);
        let Some((x, y, z)) = self.locate(access, at, bytes, false)? else { return Ok(data) };
        match bytes {
            1 => data[..1].copy_from_slice(&self.image.load::<[u8; 1]>(x, y, z)),
            2 => data[..2].copy_from_slice(&self.image.load::<[u8; 2]>(x, y, z)),
            4 => data[..4].copy_from_slice(&self.image.load::<[u8; 4]>(x, y, z)),
            8 => data[..8].copy_from_slice(&self.image.load::<[u8; 8]>(x, y, z)),
            _ => data = self.image.load(x, y, z),
        }
        Ok(data)
    }

    #[inline]
    pub(super) fn write(
        &self,
        access: SurfaceAccess,
        at: [i32; 4],
        data: [u8; 16],
    ) -> Result<(), FaultKind> {
        let data = if access.formatted { encode(self.format, data) } else { data };
        let bytes = self.bytes_of(access, true);
        let Some((x, y, z)) = self.locate(access, at, bytes, true)? else { return Ok(()) };
        let word = u128::from_le_bytes(data);
        match bytes {
            1 => self.image.store(x, y, z, word as u8),
            2 => self.image.store(x, y, z, word as u16),
            4 => self.image.store(x, y, z, word as u32),
            8 => self.image.store(x, y, z, word as u64),
            _ => self.image.store(x, y, z, word),
        }
        Ok(())
    }

    /// The byte in the row, the row and the slice of an access; `None` where it has no effect.
    #[inline]
    fn locate(
        &self,
        access: SurfaceAccess,
        at: [i32; 4],
        bytes: u32,
        write: bool,
    ) -> Result<Option<(u64, u32, u32)>, FaultKind> {
        let [a, b, c, _] = at;
        let [x, y, z] = match access.geometry {
            Geometry::D1 => [a, 0, 0],
            Geometry::D2 => [a, b, 0],
            Geometry::A1d => [b, 0, a],
            Geometry::A2d => [b, c, a],
            Geometry::D3 | Geometry::Cube | Geometry::Acube | Geometry::D2ms | Geometry::A2dms => {
                [a, b, c]
            }
        };
        // In 64 bits the byte of any texel has a place, also far outside.
        let first = if access.formatted { i64::from(x) * i64::from(bytes) } else { i64::from(x) };
        if first & i64::from(bytes - 1) != 0 {
            return Err(FaultKind::Misaligned);
        }
        let [_, rows, slices] = self.image.extent();
        // Negative ones are huge as unsigned.
        let inside = first >= 0
            && first + i64::from(bytes) <= i64::from(self.row_bytes)
            && y.cast_unsigned() < rows
            && z.cast_unsigned() < slices;
        if inside {
            return Ok(Some((first as u64, y as u32, z as u32)));
        }
        match access.clamp {
            Clamp::Zero => Ok(None),
            // Wider than the whole row: there is no nearest place.
            Clamp::Clamp if bytes > self.row_bytes => Ok(None),
            Clamp::Clamp => {
                let last = |size: u32| size.cast_signed() - 1;
                let first = first.clamp(0, i64::from(self.row_bytes - bytes));
                let (y, z) = (y.clamp(0, last(rows)), z.clamp(0, last(slices)));
                Ok(Some((first as u64, y as u32, z as u32)))
            }
            Clamp::Trap => {
                let extent = [self.row_bytes, rows, slices];
                let x = first.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
                Err(FaultKind::OutsideSurface { write, at: [x, y, z], bytes, extent })
            }
        }
    }
}

/// `sust.p`: four words as a texel; integers that do not fit become the nearest that do.
fn encode(format: Format, data: [u8; 16]) -> [u8; 16] {
    let word = |channel: usize| {
        let at = 4 * channel;
        u32::from_le_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]])
    };
    let mut texel = [0; 16];
    for channel in 0..format.channels() {
        let word = word(channel);
        let (unsigned, signed) = (word, word.cast_signed());
        let stored = match format.channel() {
            Channel::U8 => unsigned.min(0xff),
            Channel::U16 => unsigned.min(0xffff),
            Channel::I8 => signed.clamp(-0x80, 0x7f).cast_unsigned(),
            Channel::I16 => signed.clamp(-0x8000, 0x7fff).cast_unsigned(),
            Channel::F16 => u32::from(f16::from_f32(f32::from_bits(word)).to_bits()),
            Channel::U32 | Channel::I32 | Channel::F32 => word,
        };
        let bytes = format.channel().bytes();
        texel[channel * bytes..][..bytes].copy_from_slice(&stored.to_le_bytes()[..bytes]);
    }
    texel
}
