//! The resources while work that uses them is put on a stream.

use super::{fill, parity::Parity, texture::SceneTexture};
use crate::{
    data::Found,
    device::{self, Allocation, Fill, Memory, Region, Slice, Stream},
    element::Part,
    interop::Error,
    scene::{Manifest, ResourceId, Wanted},
};

/// A resource while work that uses it is put on the stream.
pub(crate) enum Borrowed<'a> {
    /// A buffer, or an array that is drawn.
    Memory(Slice<'a>),
    /// An array: one slice, or two that take turns.
    Array { halves: Vec<Slice<'a>>, parity: &'a mut Parity },
    /// A texture.
    Texture(&'a mut SceneTexture),
}

impl Borrowed<'_> {
    /// What a kernel takes of it.
    pub(crate) fn handle(&self, wanted: Wanted) -> u64 {
        match self {
            Self::Memory(slice) => slice.address(),
            Self::Array { halves, parity } => halves[parity.half(wanted.next)].address(),
            Self::Texture(texture) => texture.handle(wanted.next, wanted.handle),
        }
    }

    /// The half that was being written has been written, where there are two.
    pub(crate) fn swap(&mut self) {
        match self {
            Self::Memory(_) => {}
            Self::Array { parity, .. } => parity.swap(),
            Self::Texture(texture) => texture.swap(),
        }
    }

    /// Fills it with zeros, both halves where there are two.
    pub(crate) fn clear(&self, stream: &Stream) -> Result<(), Error> {
        let fill = |slice: &Slice<'_>| Ok(stream.fill(*slice, Fill::U8(0))?);
        match self {
            Self::Memory(slice) => fill(slice),
            Self::Array { halves, .. } => halves.iter().try_for_each(fill),
            Self::Texture(texture) => texture.clear(stream),
        }
    }

    /// Gives it what was found for it, both halves where there are two.
    pub(crate) fn set(&self, found: &Found, stream: &Stream) -> Result<(), Error> {
        match self {
            Self::Memory(slice) => fill::put(found, *slice, stream),
            Self::Array { halves, .. } => {
                halves.iter().try_for_each(|half| fill::put(found, *half, stream))
            }
            Self::Texture(texture) => texture.set(found, stream),
        }
    }

    /// Its halves, for copies: the last one, and behind it the one that is being written where there are two.
    pub(crate) fn halves(&self) -> Vec<Region<'_>> {
        match self {
            Self::Memory(slice) => vec![(*slice).into()],
            Self::Array { halves, parity } => {
                parity.in_order().map(|half| halves[half].into()).collect()
            }
            Self::Texture(texture) => texture.regions().map(Region::from).collect(),
        }
    }

    /// The texture, where it is one.
    pub(crate) fn texture(&mut self) -> Option<&mut SceneTexture> {
        match self {
            Self::Memory(_) | Self::Array { .. } => None,
            Self::Texture(texture) => Some(texture),
        }
    }

    /// Its content in linear memory, for work that is put on `stream` now.
    pub(crate) fn linear(&mut self, stream: &Stream) -> Result<Slice<'_>, Error> {
        match self {
            Self::Memory(slice) => Ok(*slice),
            Self::Array { halves, parity } => Ok(halves[parity.half(false)]),
            Self::Texture(texture) => texture.linear(stream),
        }
    }

    /// Its content, for copies.
    pub(crate) fn region(&self) -> Region<'_> {
        match self {
            Self::Memory(slice) => (*slice).into(),
            Self::Array { halves, parity } => halves[parity.half(false)].into(),
            Self::Texture(texture) => texture.region().into(),
        }
    }

    /// One of its elements, which have so many bytes, for copies: that in this column, row and slice.
    ///
    /// # Errors
    /// The device's, beyond the last one.
    pub(crate) fn element(&self, at: [usize; 3], bytes: usize) -> device::Result<Region<'_>> {
        let [first, ..] = at;
        let range = first * bytes..(first + 1) * bytes;
        Ok(match self {
            Self::Memory(slice) => slice.slice(range)?.into(),
            Self::Array { halves, parity } => halves[parity.half(false)].slice(range)?.into(),
            Self::Texture(texture) => texture.region().part(at, [1; 3])?.into(),
        })
    }

    /// What kernels see as the last one, or as the one that is being written; `None` of a texture.
    pub(crate) fn half(&self, next: bool) -> Option<Slice<'_>> {
        match self {
            Self::Memory(slice) => Some(*slice),
            Self::Array { halves, parity } => halves.get(parity.half(next)).copied(),
            Self::Texture(_) => None,
        }
    }
}

/// Where a resource lies that kernels take by its address, or one half of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub(crate) id: ResourceId,
    pub(crate) memory: Allocation,
}

impl Extent {
    /// `position[10000]`, and which field of it, where it is a structure: `body[3].mass`.
    pub(crate) fn element_at(&self, address: u64, manifest: &Manifest) -> String {
        let resource = manifest.resource(self.id);
        let memory = self.memory;
        let each = i128::from((memory.bytes / resource.count().max(1)).max(1));
        let distance = i128::from(address) - i128::from(memory.address);
        let (index, within) = (distance.div_euclid(each), distance.rem_euclid(each) as usize);
        let of = resource.of();
        let fields = of.structure().map_or(&[][..], |structure| &structure.parts);
        let is_there = |part: &&Part| (part.offset..part.offset + part.bytes()).contains(&within);
        let field =
            fields.iter().find(is_there).map_or_else(String::new, |part| format!(".{}", part.path));
        format!("`{}[{index}]{field}`", resource.name)
    }
}

/// Where all of them lie that kernels take by their addresses.
pub(crate) fn extents(borrowed: &[Borrowed<'_>]) -> Vec<Extent> {
    let of = |(index, one): (usize, &Borrowed<'_>)| -> Vec<Extent> {
        let extent = |slice: &Slice<'_>| Extent {
            id: ResourceId(index),
            memory: Allocation { address: slice.address(), bytes: slice.bytes() as u64 },
        };
        match one {
            Borrowed::Memory(slice) => vec![extent(slice)],
            Borrowed::Array { halves, .. } => halves.iter().map(extent).collect(),
            Borrowed::Texture(_) => Vec::new(),
        }
    };
    borrowed.iter().enumerate().flat_map(of).collect()
}

/// The contents of all of them in linear memory, for work that is put on `stream` now.
pub(crate) fn linear<'a>(
    borrowed: &'a mut [Borrowed<'_>],
    stream: &Stream,
) -> Result<Vec<Slice<'a>>, Error> {
    borrowed.iter_mut().map(|one| one.linear(stream)).collect()
}

/// An array, for work that uses it.
pub(super) fn borrow<'a>(
    halves: &'a [Memory],
    parity: &'a mut Parity,
) -> Result<Borrowed<'a>, Error> {
    let halves = halves.iter().map(|half| half.slice(..)).collect::<device::Result<_>>()?;
    Ok(Borrowed::Array { halves, parity })
}

/// Them in the order of their resources.
pub(super) fn in_order(mut borrowed: Vec<(usize, Borrowed<'_>)>) -> Vec<Borrowed<'_>> {
    borrowed.sort_by_key(|(index, _)| *index);
    borrowed.into_iter().map(|(_, borrowed)| borrowed).collect()
}
