//! Texture fetches (CUDA C++ programming guide, appendix "Texture Fetching").
//!
//! A coordinate is scaled to texels, and where the texture repeats brought to its first copy or mirror image. A
//! point is the texel that it falls into; a filtered one lies between the middles of two texels in each direction,
//! which are weighted in steps of 1/256. What lies outside is then decided texel by texel.
//!
//! Code for a format and a filter is chosen once, when the texture is created.

use crate::{
    device::{AddressMode, Channel, Filter, Format, ReadMode, TextureDescriptor},
    ptx::modifier::{Geometry, Query},
};

use super::{
    image::Image,
    texel::{self, Kind},
};

/// What a `tex` or `tld4` instruction asks for.
#[derive(Clone, Copy, Debug)]
pub(in crate::device::cpu) struct Fetch {
    /// The texture's shape.
    pub(in crate::device::cpu) geometry: Geometry,
    /// Coordinates are integers: whole texels.
    pub(in crate::device::cpu) texel: bool,
    /// `tld4`: which channel of the four texels.
    pub(in crate::device::cpu) gather: Option<u8>,
}

/// Shapes by their number in a code; the last stands for those that are refused.
pub(super) const GEOMETRIES: [Geometry; 8] = [
    Geometry::D1,
    Geometry::D2,
    Geometry::D3,
    Geometry::A1d,
    Geometry::A2d,
    Geometry::Cube,
    Geometry::Acube,
    Geometry::D2ms,
];

pub(super) fn geometry_code(geometry: Geometry) -> u32 {
    GEOMETRIES.iter().position(|known| *known == geometry).unwrap_or(7) as u32
}

impl Fetch {
    /// All of it as a constant of compiled code.
    pub(in crate::device::cpu) fn code(self) -> u32 {
        let gather = self.gather.map_or(0, |channel| 4 | u32::from(channel & 3));
        geometry_code(self.geometry) | u32::from(self.texel) << 3 | gather << 4
    }

    /// What [`Fetch::code`] stands for.
    pub(in crate::device::cpu) fn from_code(code: u32) -> Self {
        Self {
            geometry: GEOMETRIES[code as usize & 7],
            texel: code & 8 != 0,
            gather: (code & 0x40 != 0).then_some((code >> 4 & 3) as u8),
        }
    }
}

/// Whether `query` is known here: the enumerators of a source language are not.
pub(in crate::device::cpu) fn is_answered(query: Query) -> bool {
    !matches!(query, Query::ChannelDataType | Query::ChannelOrder)
}

/// The answer for an object of this shape and these texels.
pub(super) fn answer(
    query: Query,
    geometry: Geometry,
    [x, y, z]: [u32; 3],
    normalized: bool,
) -> u32 {
    match query {
        Query::Width => x,
        Query::Height => y,
        Query::Depth => {
            if geometry == Geometry::D3 {
                z
            } else {
                1
            }
        }
        Query::Layers => match geometry {
            Geometry::A1d | Geometry::A2d => z,
            Geometry::Acube => z / 6,
            Geometry::D1 | Geometry::D2 | Geometry::D3 | Geometry::Cube => 1,
            Geometry::D2ms | Geometry::A2dms => 1,
        },
        Query::Levels | Query::Samples => 1,
        Query::Normalized => u32::from(normalized),
        // No device has them: what asks for them is refused before.
        Query::ChannelDataType | Query::ChannelOrder => 0,
    }
}

/// One direction of a texture.
#[derive(Clone, Copy, Debug)]
struct Axis {
    size: i32,
    mode: AddressMode,
    normalized: bool,
}

impl Axis {
    /// A coordinate in texels; of a texture that repeats, in its first copy (and its mirror image).
    #[inline]
    fn place(self, x: f32) -> f32 {
        if !self.normalized {
            return x;
        }
        let x = match self.mode {
            AddressMode::Clamp | AddressMode::Border => x,
            AddressMode::Wrap => fraction(x),
            AddressMode::Mirror => 2.0 * fraction(0.5 * x),
        };
        x * self.size as f32
    }

    /// The texel at `i`, which may lie outside; negative for the border.
    #[inline]
    fn texel(self, i: i32) -> i32 {
        if (0..self.size).contains(&i) { i } else { self.outside(i) }
    }

    fn outside(self, i: i32) -> i32 {
        match self.mode {
            AddressMode::Clamp => i.clamp(0, self.size - 1),
            AddressMode::Wrap => i.rem_euclid(self.size),
            AddressMode::Mirror => {
                let i = i64::from(i).rem_euclid(2 * i64::from(self.size)) as i32;
                i.min(2 * self.size - 1 - i)
            }
            AddressMode::Border => -1,
        }
    }
}

/// The largest integer not above `x`; 0 for NaN, the ends of `i32` for what is beyond them.
#[inline]
fn floor(x: f32) -> i32 {
    let cut = x as i32;
    cut.saturating_sub(i32::from(cut as f32 > x))
}

/// What is above the largest integer not above `x`.
#[inline]
fn fraction(x: f32) -> f32 {
    // From here on there are integers only.
    if x.abs() < 8_388_608.0 { x - floor(x) as f32 } else { 0.0 }
}

/// The texel before a place, and the weight of the one behind it in 256ths.
#[inline]
fn between(place: f32) -> (i32, i32) {
    let steps = floor(place * 256.0 + 0.5).saturating_sub(128);
    (steps >> 8, steps & 0xff)
}

/// What most fetches do not have: a slice that z counts from, and an offset in texels.
#[derive(Clone, Copy, Default)]
struct Shift {
    slice: u32,
    offset: [i32; 3],
}

/// The coordinates x, y and z stay in registers.
type Sample = fn(&Sampler, f32, f32, f32, &Shift) -> [u32; 4];
type Texel = fn(&Sampler, [i32; 3], u32) -> [u32; 4];

/// A texture as kernels read it.
#[derive(Debug)]
pub(in crate::device::cpu) struct Sampler {
    image: Image,
    geometry: Geometry,
    /// How many directions there are to go and to filter along.
    dimensions: usize,
    axes: [Axis; 3],
    normalized: bool,
    border: [u32; 4],
    /// The code of a plain fetch by coordinates in order; none for layers and cubes.
    plain: u32,
    sample: Sample,
    texel: Texel,
}

impl Sampler {
    pub(super) fn new(
        image: Image,
        geometry: Geometry,
        format: Format,
        descriptor: &TextureDescriptor,
    ) -> Self {
        let extent = image.extent();
        let linear = geometry == Geometry::D1 && image.is_borrowed();
        let axis = |at: usize| Axis {
            size: extent[at] as i32,
            // Integer coordinates outside linear memory read zero.
            mode: if linear { AddressMode::Border } else { descriptor.address[at] },
            normalized: descriptor.normalized,
        };
        let dimensions = dimensions(geometry);
        let (sample, texel) = choose(format, descriptor, dimensions);
        let border = if linear { [0.0; 4] } else { descriptor.border };
        Self {
            image,
            geometry,
            dimensions,
            axes: [axis(0), axis(1), axis(2)],
            normalized: descriptor.normalized,
            border: border.map(f32::to_bits),
            plain: match geometry {
                Geometry::D1 | Geometry::D2 | Geometry::D3 => {
                    Fetch { geometry, texel: false, gather: None }.code()
                }
                Geometry::A1d | Geometry::A2d | Geometry::Cube | Geometry::Acube => u32::MAX,
                Geometry::D2ms | Geometry::A2dms => u32::MAX,
            },
            sample,
            texel,
        }
    }

    /// The four words of a fetch without an offset in texels, where it is as plain as most are.
    #[inline]
    pub(super) fn fetch_plain(&self, code: u32, [x, y, z]: [f32; 3]) -> Option<[u32; 4]> {
        if code != self.plain || !self.image.is_alive() {
            return None;
        }
        Some((self.sample)(self, x, y, z, &Shift { slice: 0, offset: [0; 3] }))
    }

    /// The four words of a fetch, or why there are none.
    pub(super) fn fetch(
        &self,
        fetch: Fetch,
        at: [u32; 4],
        offset: [i32; 3],
    ) -> Result<[u32; 4], String> {
        if fetch.geometry != self.geometry || !self.image.is_alive() {
            return Err(self.refusal(fetch));
        }
        let [a, b, c, d] = at;
        let (axes, layer) = match self.geometry {
            Geometry::A1d | Geometry::A2d | Geometry::Acube => ([b, c, d], self.layer(a)),
            Geometry::D1 | Geometry::D2 | Geometry::D3 | Geometry::Cube => ([a, b, c], 0),
            Geometry::D2ms | Geometry::A2dms => ([a, b, c], 0),
        };
        if fetch.texel {
            let at = std::array::from_fn(|axis| (axes[axis] as i32).wrapping_add(offset[axis]));
            return Ok(self.whole(at, layer));
        }
        let floats = axes.map(f32::from_bits);
        let (at, slice) = match self.geometry {
            Geometry::Cube | Geometry::Acube => {
                let (at, face) = face(floats);
                (at, 6 * layer + face)
            }
            Geometry::D1 | Geometry::D2 | Geometry::D3 => (floats, layer),
            Geometry::A1d | Geometry::A2d | Geometry::D2ms | Geometry::A2dms => (floats, layer),
        };
        let shift = Shift { slice, offset };
        Ok(match fetch.gather {
            None => (self.sample)(self, at[0], at[1], at[2], &shift),
            Some(channel) => self.gather(at, &shift, usize::from(channel)),
        })
    }

    #[cold]
    fn refusal(&self, fetch: Fetch) -> String {
        if fetch.geometry == self.geometry {
            "a texture of memory that was freed".to_owned()
        } else {
            let (own, asked) = (self.geometry.text(), fetch.geometry.text());
            format!("a texture of shape {own} read as {asked}")
        }
    }

    pub(super) fn query(&self, query: Query) -> u32 {
        answer(query, self.geometry, self.image.extent(), self.normalized)
    }

    /// Layers outside are the nearest ones inside.
    fn layer(&self, layer: u32) -> u32 {
        let slices = self.image.extent()[2];
        let layers = if self.geometry == Geometry::Acube { slices / 6 } else { slices };
        (layer as i32).clamp(0, layers as i32 - 1) as u32
    }

    /// The texel with these integer coordinates.
    fn whole(&self, at: [i32; 3], slice: u32) -> [u32; 4] {
        let mut texel = [0; 3];
        for axis in 0..self.dimensions {
            texel[axis] = self.axes[axis].texel(at[axis]);
        }
        (self.texel)(self, texel, slice)
    }

    /// One channel of the four texels that a filter would weigh, counter-clockwise from the lower left one (PTX ISA,
    /// `tld4`).
    fn gather(&self, at: [f32; 3], shift: &Shift, channel: usize) -> [u32; 4] {
        let place = |axis: usize| {
            let (first, _) = between(self.axes[axis].place(at[axis]));
            first.saturating_add(shift.offset[axis])
        };
        let (x, y) = (place(0), place(1));
        [(0, 1), (1, 1), (1, 0), (0, 0)].map(|(right, up): (i32, i32)| {
            let at = [x.saturating_add(right), y.saturating_add(up), 0];
            self.whole(at, shift.slice)[channel]
        })
    }
}

fn dimensions(geometry: Geometry) -> usize {
    match geometry {
        Geometry::D1 | Geometry::A1d => 1,
        Geometry::D3 => 3,
        Geometry::D2 | Geometry::A2d | Geometry::Cube | Geometry::Acube => 2,
        Geometry::D2ms | Geometry::A2dms => 2,
    }
}

/// The face that a direction points to, and where on it (the guide, "Cubemap Textures").
fn face([x, y, z]: [f32; 3]) -> ([f32; 3], u32) {
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    let (face, m, s, t) = if ax >= ay && ax >= az {
        if x >= 0.0 { (0, ax, -z, -y) } else { (1, ax, z, -y) }
    } else if ay >= az {
        if y >= 0.0 { (2, ay, x, z) } else { (3, ay, x, -z) }
    } else if z >= 0.0 {
        (4, az, x, -y)
    } else {
        (5, az, -x, -y)
    };
    let on_face = |c: f32| (c / m + 1.0) * 0.5;
    ([on_face(s), on_face(t), 0.0], face)
}

// Compiled once for each format and filter ---------------------------------------------------------

/// A texel; the border where a coordinate is negative.
#[inline]
fn read<K: Kind, const N: usize>(s: &Sampler, [x, y, z]: [i32; 3], slice: u32) -> [u32; 4]
where
    [K::Raw; N]: bytemuck::AnyBitPattern,
{
    if x | y | z < 0 {
        return s.border;
    }
    let byte = x as u64 * size_of::<[K::Raw; N]>() as u64;
    texel::decode::<K, N>(s.image.load(byte, y as u32, z as u32 + slice))
}

/// The texel that the coordinates fall into.
fn point<K: Kind, const N: usize, const D: usize>(
    s: &Sampler,
    x: f32,
    y: f32,
    z: f32,
    shift: &Shift,
) -> [u32; 4]
where
    [K::Raw; N]: bytemuck::AnyBitPattern,
{
    let mut at = [0; 3];
    for (axis, (at, x)) in at.iter_mut().zip([x, y, z]).enumerate().take(D) {
        let place = floor(s.axes[axis].place(x));
        *at = s.axes[axis].texel(place.saturating_add(shift.offset[axis]));
    }
    read::<K, N>(s, at, shift.slice)
}

/// The two, four or eight texels around, weighted.
fn linear<K: Kind, const N: usize, const D: usize>(
    s: &Sampler,
    x: f32,
    y: f32,
    z: f32,
    shift: &Shift,
) -> [u32; 4]
where
    [K::Raw; N]: bytemuck::AnyBitPattern,
{
    let mut first = [0; 3];
    let mut weights = [[1.0f32, 0.0]; 3];
    let mut inside = true;
    for (axis, x) in [x, y, z].into_iter().enumerate().take(D) {
        let (texel, steps) = between(s.axes[axis].place(x));
        first[axis] = texel.saturating_add(shift.offset[axis]);
        let weight = steps as f32 / 256.0;
        weights[axis] = [1.0 - weight, weight];
        inside &= first[axis] >= 0 && first[axis] < s.axes[axis].size - 1;
    }
    if !inside {
        return linear_outside::<K, N, D>(s, first, weights, shift.slice);
    }
    // All of them are there, one behind the other.
    let texel_bytes = size_of::<[K::Raw; N]>() as u64;
    let steps = [texel_bytes, s.image.row_bytes(), s.image.slice_bytes()];
    let [x, y, z] = first;
    let start = s.image.offset(x as u64 * texel_bytes, y as u32, z as u32 + shift.slice);
    weigh::<D>(weights, |corner| {
        let mut at = start;
        for (axis, step) in steps.into_iter().enumerate().take(D) {
            if corner >> axis & 1 == 1 {
                at += step;
            }
        }
        texel::decode::<K, N>(s.image.load_at(at))
    })
}

/// The same where some of the texels do not lie inside: each is brought there by its own.
#[cold]
fn linear_outside<K: Kind, const N: usize, const D: usize>(
    s: &Sampler,
    first: [i32; 3],
    weights: [[f32; 2]; 3],
    slice: u32,
) -> [u32; 4]
where
    [K::Raw; N]: bytemuck::AnyBitPattern,
{
    let mut texels = [[0; 2]; 3];
    for axis in 0..D {
        let far = first[axis].saturating_add(1);
        texels[axis] = [s.axes[axis].texel(first[axis]), s.axes[axis].texel(far)];
    }
    weigh::<D>(weights, |corner| {
        let at = std::array::from_fn(|axis| texels[axis][corner >> axis & 1]);
        read::<K, N>(s, at, slice)
    })
}

/// The sum of all corners' texels, each with its weight; bit `n` of a corner says on which side it is in direction `n`.
#[inline(always)]
fn weigh<const D: usize>(weights: [[f32; 2]; 3], texel: impl Fn(usize) -> [u32; 4]) -> [u32; 4] {
    let mut sum = [0.0f32; 4];
    for corner in 0..1usize << D {
        let weight = weights[0][corner & 1] * weights[1][corner >> 1 & 1] * weights[2][corner >> 2];
        for (sum, word) in sum.iter_mut().zip(texel(corner)) {
            *sum += weight * f32::from_bits(word);
        }
    }
    sum.map(f32::to_bits)
}

fn choose(format: Format, how: &TextureDescriptor, dimensions: usize) -> (Sample, Texel) {
    use texel::{F16, F32, I8, I16, I32, Snorm8, Snorm16, Srgb8, U8, U16, U32, Unorm8, Unorm16};
    let normalized = how.read == ReadMode::NormalizedFloat;
    match (format.channel(), normalized) {
        (Channel::F32, _) => floats::<F32>(format, how.filter, dimensions),
        (Channel::F16, _) => floats::<F16>(format, how.filter, dimensions),
        (Channel::U8, true) if how.srgb => floats::<Srgb8>(format, how.filter, dimensions),
        (Channel::U8, true) => floats::<Unorm8>(format, how.filter, dimensions),
        (Channel::I8, true) => floats::<Snorm8>(format, how.filter, dimensions),
        (Channel::U16, true) => floats::<Unorm16>(format, how.filter, dimensions),
        (Channel::I16, true) => floats::<Snorm16>(format, how.filter, dimensions),
        (Channel::U8, false) => points::<U8>(format, dimensions),
        (Channel::I8, false) => points::<I8>(format, dimensions),
        (Channel::U16, false) => points::<U16>(format, dimensions),
        (Channel::I16, false) => points::<I16>(format, dimensions),
        (Channel::U32, _) => points::<U32>(format, dimensions),
        (Channel::I32, _) => points::<I32>(format, dimensions),
    }
}

/// The code for one kind of channels that may be filtered.
fn floats<K: Kind>(format: Format, filter: Filter, dimensions: usize) -> (Sample, Texel)
where
    [K::Raw; 1]: bytemuck::AnyBitPattern,
    [K::Raw; 2]: bytemuck::AnyBitPattern,
    [K::Raw; 4]: bytemuck::AnyBitPattern,
{
    let (points, texel) = points::<K>(format, dimensions);
    if filter == Filter::Point {
        return (points, texel);
    }
    let sample: Sample = match (format.channels(), dimensions) {
        (1, 1) => linear::<K, 1, 1>,
        (1, 2) => linear::<K, 1, 2>,
        (1, _) => linear::<K, 1, 3>,
        (2, 1) => linear::<K, 2, 1>,
        (2, 2) => linear::<K, 2, 2>,
        (2, _) => linear::<K, 2, 3>,
        (_, 1) => linear::<K, 4, 1>,
        (_, 2) => linear::<K, 4, 2>,
        (..) => linear::<K, 4, 3>,
    };
    (sample, texel)
}

/// The code for one kind of channels by whole texels.
fn points<K: Kind>(format: Format, dimensions: usize) -> (Sample, Texel)
where
    [K::Raw; 1]: bytemuck::AnyBitPattern,
    [K::Raw; 2]: bytemuck::AnyBitPattern,
    [K::Raw; 4]: bytemuck::AnyBitPattern,
{
    match (format.channels(), dimensions) {
        (1, 1) => (point::<K, 1, 1>, read::<K, 1>),
        (1, 2) => (point::<K, 1, 2>, read::<K, 1>),
        (1, _) => (point::<K, 1, 3>, read::<K, 1>),
        (2, 1) => (point::<K, 2, 1>, read::<K, 2>),
        (2, 2) => (point::<K, 2, 2>, read::<K, 2>),
        (2, _) => (point::<K, 2, 3>, read::<K, 2>),
        (_, 1) => (point::<K, 4, 1>, read::<K, 4>),
        (_, 2) => (point::<K, 4, 2>, read::<K, 4>),
        (..) => (point::<K, 4, 3>, read::<K, 4>),
    }
}
