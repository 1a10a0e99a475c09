//! The table of a device's objects, and what a launch sees of it.

use std::sync::{Arc, Mutex, PoisonError};

use super::{
    image::Image,
    sampler::{Fetch, Sampler},
    surface::{Flat, SurfaceAccess, SurfaceImage},
};
use crate::{
    device::{
        FaultKind, TextureDescriptor, TextureSource,
        cpu::{Array, memory::Arena},
    },
    ptx::modifier::Query,
};

/// The objects of a device. A change makes a new table, so that launches read theirs without a lock.
#[derive(Debug, Default)]
pub(in crate::device::cpu) struct Objects(Mutex<Arc<Snapshot>>);

/// The objects that there were when a launch began; it keeps them.
#[derive(Clone, Debug, Default)]
pub(in crate::device::cpu) struct Snapshot {
    slots: Vec<Slot>,
    /// The flat surfaces among them, in the same places.
    flat: Vec<Flat>,
}

#[derive(Clone, Debug)]
struct Slot {
    /// How many objects have had this place.
    generation: u32,
    object: Option<Object>,
}

/// What a handle stands for.
#[derive(Clone, Debug)]
pub(in crate::device::cpu) struct Object(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Texture(Arc<Sampler>),
    Surface(Arc<SurfaceImage>),
}

impl Object {
    /// A texture of what lies in this arena.
    pub(in crate::device::cpu) fn texture(
        arena: &Arc<Arena>,
        source: &TextureSource<'_>,
        descriptor: &TextureDescriptor,
    ) -> Self {
        let (image, geometry) = Image::new(arena, source);
        let sampler = Sampler::new(image, geometry, source.format(), descriptor);
        Self(Kind::Texture(Arc::new(sampler)))
    }

    /// A surface of an array that was made for it.
    pub(in crate::device::cpu) fn surface(array: &Array) -> Self {
        let surface = SurfaceImage::new(Image::of_array(array), array.descriptor());
        Self(Kind::Surface(Arc::new(surface)))
    }
}

impl Objects {
    /// What a launch that begins now sees.
    pub(in crate::device::cpu) fn snapshot(&self) -> Arc<Snapshot> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds an object; its handle.
    pub(in crate::device::cpu) fn insert(&self, object: Object) -> u64 {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Snapshot { slots, flat } = Arc::make_mut(&mut current);
        let index = slots.iter().position(|slot| slot.object.is_none()).unwrap_or(slots.len());
        if index == slots.len() {
            slots.push(Slot { generation: 0, object: None });
            flat.push(Flat::default());
        }
        let slot = &mut slots[index];
        slot.generation = slot.generation.wrapping_add(1).max(1);
        let handle = u64::from(slot.generation) << 32 | index as u64;
        if let Kind::Surface(surface) = &object.0 {
            flat[index] = surface.flat(handle);
        }
        slot.object = Some(object);
        handle
    }

    pub(in crate::device::cpu) fn remove(&self, handle: u64) {
        let object = {
            let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let Snapshot { slots, flat } = Arc::make_mut(&mut current);
            let index = handle as u32 as usize;
            if let Some(flat) = flat.get_mut(index) {
                *flat = Flat::default();
            }
            slots.get_mut(index).and_then(|slot| slot.object.take())
        };
        // Its array may go with it: not under the lock.
        drop(object);
    }
}

impl Snapshot {
    #[inline]
    fn object(&self, handle: u64) -> Option<&Kind> {
        let slot = self.slots.get(handle as u32 as usize)?;
        if slot.generation != (handle >> 32) as u32 {
            None
        } else {
            slot.object.as_ref().map(|object| &object.0)
        }
    }

    #[inline]
    fn texture(&self, handle: u64) -> Result<&Sampler, FaultKind> {
        match self.object(handle) {
            Some(Kind::Texture(sampler)) => Ok(sampler),
            Some(Kind::Surface(_)) => Err(invalid(handle, "a surface object read as a texture")),
            None => Err(invalid(handle, "no texture object, or one that was destroyed")),
        }
    }

    #[inline]
    fn surface(&self, handle: u64) -> Result<&SurfaceImage, FaultKind> {
        match self.object(handle) {
            Some(Kind::Surface(surface)) => Ok(surface),
            Some(Kind::Texture(_)) => {
                Err(invalid(handle, "a texture object accessed as a surface"))
            }
            None => Err(invalid(handle, "no surface object, or one that was destroyed")),
        }
    }

    /// Address and number of what compiled code needs of flat surfaces, by the low word of their handles.
    pub(in crate::device::cpu) fn flat_surfaces(&self) -> (u64, u64) {
        (self.flat.as_ptr() as u64, self.flat.len() as u64)
    }

    /// A fetch without an offset in texels, by its code, where it is as plain as most are.
    #[inline]
    pub(in crate::device::cpu) fn fetch_plain(
        &self,
        handle: u64,
        code: u32,
        at: [f32; 3],
    ) -> Option<[u32; 4]> {
        match self.object(handle)? {
            Kind::Texture(sampler) => sampler.fetch_plain(code, at),
            Kind::Surface(_) => None,
        }
    }

    /// `tex` and `tld4`: the four words of the result. `at` are the coordinates' bits in the instruction's order,
    /// `offset` is in texels.
    ///
    /// # Errors
    /// [`FaultKind::InvalidHandle`].
    #[inline]
    pub(in crate::device::cpu) fn fetch(
        &self,
        handle: u64,
        fetch: Fetch,
        at: [u32; 4],
        offset: [i32; 3],
    ) -> Result<[u32; 4], FaultKind> {
        let sampler = self.texture(handle)?;
        sampler.fetch(fetch, at, offset).map_err(|reason| invalid(handle, &reason))
    }

    /// `txq`.
    ///
    /// # Errors
    /// [`FaultKind::InvalidHandle`].
    pub(in crate::device::cpu) fn query_texture(
        &self,
        handle: u64,
        query: Query,
    ) -> Result<u32, FaultKind> {
        self.texture(handle).map(|sampler| sampler.query(query))
    }

    /// `suq`.
    ///
    /// # Errors
    /// [`FaultKind::InvalidHandle`].
    pub(in crate::device::cpu) fn query_surface(
        &self,
        handle: u64,
        query: Query,
    ) -> Result<u32, FaultKind> {
        self.surface(handle).map(|surface| surface.query(query))
    }

    /// `suld`: the bytes that it reads, first lane first. `at` are the coordinates in the instruction's order.
    ///
    /// # Errors
    /// [`FaultKind::InvalidHandle`], [`FaultKind::OutsideSurface`], [`FaultKind::Misaligned`].
    #[inline]
    pub(in crate::device::cpu) fn read_surface(
        &self,
        handle: u64,
        access: SurfaceAccess,
        at: [i32; 4],
    ) -> Result<[u8; 16], FaultKind> {
        let surface = self.surface(handle)?;
        surface.expect(access).map_err(|reason| invalid(handle, &reason))?;
        surface.read(access, at)
    }

    /// The bytes that such an access is to, or one that writes: address and number; none where it has no effect.
    ///
    /// # Errors
    /// As [`Snapshot::read_surface`].
    pub(in crate::device::cpu) fn place_in_surface(
        &self,
        handle: u64,
        access: SurfaceAccess,
        at: [i32; 4],
        write: bool,
    ) -> Result<Option<(u64, u32)>, FaultKind> {
        let surface = self.surface(handle)?;
        surface.expect(access).map_err(|reason| invalid(handle, &reason))?;
        surface.place(access, at, write)
    }

    /// `sust`: writes the first bytes of `data`.
    ///
    /// # Errors
    /// As [`Snapshot::read_surface`].
    #[inline]
    pub(in crate::device::cpu) fn write_surface(
        &self,
        handle: u64,
        access: SurfaceAccess,
        at: [i32; 4],
        data: [u8; 16],
    ) -> Result<(), FaultKind> {
        let surface = self.surface(handle)?;
        surface.expect(access).map_err(|reason| invalid(handle, &reason))?;
        surface.write(access, at, data)
    }
}

#[cold]
fn invalid(handle: u64, reason: &str) -> FaultKind {
    FaultKind::InvalidHandle { handle, reason: reason.to_owned() }
}
