//! Texture and surface instructions: the device's own sampler does them, as for compiled code.

use super::{
    machine::{Machine, Step},
    program::{Image, ImageCall},
    thread::Thread,
};

impl Machine {
    pub(super) fn image(&mut self, thread: &mut Thread, image: &Image, handle: u64) -> Step {
        let mut at = [0; 4];
        for (to, slot) in at.iter_mut().zip(&image.at) {
            *to = thread.slot(*slot) as u32;
        }
        let mut offset = [0; 3];
        for (to, slot) in offset.iter_mut().zip(&image.offset) {
            *to = thread.slot(*slot) as u32 as i32;
        }
        let width = image.ty.bytes() as usize;
        let mut data = [0; 16];
        for (to, slot) in data.chunks_mut(width).zip(&image.data) {
            to.copy_from_slice(&thread.slot(*slot).to_le_bytes()[..width]);
        }
        let (objects, signed) = (&self.objects, at.map(u32::cast_signed));
        let data: [u8; 16] = match image.call {
            ImageCall::Fetch(fetch) => bytemuck::cast(objects.fetch(handle, fetch, at, offset)?),
            ImageCall::Read(access) => objects.read_surface(handle, access, signed)?,
            ImageCall::Write(access) => {
                objects.write_surface(handle, access, signed, data)?;
                data
            }
            ImageCall::QueryTexture(query) => {
                bytemuck::cast([objects.query_texture(handle, query)?; 4])
            }
            ImageCall::QuerySurface(query) => {
                bytemuck::cast([objects.query_surface(handle, query)?; 4])
            }
        };
        for (from, dst) in data.chunks(width).zip(&image.into) {
            let mut value = [0; 8];
            value[..width].copy_from_slice(from);
            let value = super::memory::extended(u64::from_le_bytes(value), image.ty);
            Self::write(thread, *dst, value);
        }
        if let Some(resident) = image.resident {
            // Nothing here is sparse.
            Self::write(thread, resident, 1);
        }
        Ok(())
    }
}
