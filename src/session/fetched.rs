//! Buffers and arrays that kernels read through texture objects, element by element (`tex1Dfetch`).

use std::{
    collections::HashMap,
    mem,
    sync::{Mutex, PoisonError},
};

use crate::{
    device::{
        self, Channel, Device, Format, Slice, TextureDescriptor, TextureObject, TextureSource,
    },
    element::{Element, Scalar},
    state::free,
};

/// The texture objects of a program, each of a piece of memory that has had this address, these bytes and texels. It is
/// right for any memory that has them later.
#[derive(Default)]
pub(super) struct Fetched(Mutex<HashMap<(u64, usize, Channel, u32), TextureObject>>);

impl Fetched {
    /// What a kernel takes to read `memory`, which consists of `element`s.
    ///
    /// # Errors
    /// The device's; memory may be too large for a texture.
    pub(super) fn handle(
        &self,
        device: &Device,
        memory: Slice<'_>,
        element: Element,
    ) -> device::Result<u64> {
        let (channel, channels) = texel_of(element);
        let key = (memory.address(), memory.bytes(), channel, channels);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(object) = known.get(&key) {
            return Ok(object.handle());
        }
        let source = TextureSource::Linear { memory, format: Format::new(channel, channels)? };
        let object = device.texture(source, &TextureDescriptor::default())?;
        let handle = object.handle();
        known.insert(key, object);
        Ok(handle)
    }
}

impl Drop for Fetched {
    /// To destroy an object waits for all work of the device: a thread does that.
    fn drop(&mut self) {
        let known = mem::take(self.0.get_mut().unwrap_or_else(PoisonError::into_inner));
        if !known.is_empty() {
            free(known);
        }
    }
}

/// The channels of a texel, and how many. Numbers of 64 bits are two of 32, as CUDA's programs have them.
fn texel_of(element: Element) -> (Channel, u32) {
    let lanes = u32::from(element.lanes);
    match element.scalar {
        Scalar::U8 | Scalar::Bool => (Channel::U8, lanes),
        Scalar::I8 => (Channel::I8, lanes),
        Scalar::U16 | Scalar::BF16 => (Channel::U16, lanes),
        Scalar::I16 => (Channel::I16, lanes),
        Scalar::U32 => (Channel::U32, lanes),
        Scalar::I32 => (Channel::I32, lanes),
        Scalar::F16 => (Channel::F16, lanes),
        Scalar::F32 => (Channel::F32, lanes),
        Scalar::I64 | Scalar::U64 | Scalar::F64 => (Channel::I32, 2 * lanes),
    }
}
