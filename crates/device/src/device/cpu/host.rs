//! Host memory: ordinary memory behind the face of page-locked memory.

use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;

use super::{Device, Memory};
use crate::device::{DeviceId, Error, Result};

/// Memory of the host, outside the arena: kernels do not see it.
#[derive(Debug)]
pub struct HostMemory {
    device: DeviceId,
    bytes: Bytes,
}

#[derive(Debug)]
enum Bytes {
    /// Whole pages of its own, as page-locked memory has.
    Pages(MmapMut),
    Vector(Vec<u8>),
}

impl Device {
    /// New memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn alloc_host(&self, bytes: usize) -> Result<HostMemory> {
        let full = |_| Error::OutOfMemory {
            device: "the host".to_owned(),
            requested: bytes as u64,
            free: 0,
        };
        let pages = MmapMut::map_anon(bytes).map_err(full)?;
        Ok(HostMemory { device: self.id(), bytes: Bytes::Pages(pages) })
    }

    /// A vector's memory.
    pub fn register_host(&self, vector: Vec<u8>) -> HostMemory {
        HostMemory { device: self.id(), bytes: Bytes::Vector(vector) }
    }

    /// Memory that kernels see: of the arena, as all is.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn alloc_mapped(&self, bytes: usize) -> Result<MappedMemory> {
        Ok(MappedMemory { memory: self.alloc(bytes)?, device: self.clone(), managed: false })
    }

    /// The same, by another name.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn alloc_managed(&self, bytes: usize) -> Result<MappedMemory> {
        Ok(MappedMemory { managed: true, ..self.alloc_mapped(bytes)? })
    }
}

impl HostMemory {
    /// The device it belongs to.
    pub fn device_id(&self) -> DeviceId {
        self.device
    }

    /// Its bytes: the vector itself where it was one.
    pub fn into_vec(self) -> Vec<u8> {
        match self.bytes {
            Bytes::Pages(pages) => pages.to_vec(),
            Bytes::Vector(vector) => vector,
        }
    }
}

impl Deref for HostMemory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Pages(pages) => pages,
            Bytes::Vector(vector) => vector,
        }
    }
}

impl DerefMut for HostMemory {
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.bytes {
            Bytes::Pages(pages) => pages,
            Bytes::Vector(vector) => vector,
        }
    }
}

/// Memory that both sides use.
#[derive(Debug)]
pub struct MappedMemory {
    memory: Memory,
    device: Device,
    managed: bool,
}

impl MappedMemory {
    pub(in crate::device) fn is_managed(&self) -> bool {
        self.managed
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// Where a kernel sees it.
    pub fn address(&self) -> u64 {
        self.memory.address()
    }

    /// The device it belongs to.
    pub fn device_id(&self) -> DeviceId {
        self.device.id()
    }

    /// Reads the bytes from `offset` on; false where they are not there.
    pub(in crate::device) fn read(&self, offset: usize, to: &mut [u8]) -> bool {
        let fits = offset.checked_add(to.len()).is_some_and(|end| end <= self.bytes());
        fits && self.device.shared.arena.read(self.address() + offset as u64, to)
    }

    /// Writes bytes from `offset` on; false where they do not fit.
    pub(in crate::device) fn write(&mut self, offset: usize, from: &[u8]) -> bool {
        let fits = offset.checked_add(from.len()).is_some_and(|end| end <= self.bytes());
        fits && self.device.shared.arena.write(self.address() + offset as u64, from)
    }
}
