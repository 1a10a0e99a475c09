//! Texture and surface instructions: the device's own sampler does them, as for compiled code.

use super::{
    env::Env,
    machine::{Machine, Step},
    program::{Image, ImageCall, Inst},
    shadow::Full,
    thread::Thread,
    watch::{Region, Touch},
};
use crate::device::{FaultKind, cpu::texture::SurfaceAccess};

impl Machine {
    pub(super) fn image(
        &mut self,
        env: &Env,
        thread: &mut Thread,
        inst: &Inst,
        image: &Image,
        handle: u64,
    ) -> Step {
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
        let signed = at.map(u32::cast_signed);
        match image.call {
            ImageCall::Read(access) => {
                self.touch_surface(env, thread, inst, (handle, access, signed), Touch::Read)?;
            }
            ImageCall::Write(access) => {
                self.touch_surface(env, thread, inst, (handle, access, signed), Touch::Write)?;
            }
            // Textures are constant while a kernel runs.
            ImageCall::Fetch(_) | ImageCall::QueryTexture(_) | ImageCall::QuerySurface(_) => {}
        }
        let objects = &self.objects;
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

    /// Tells the checker of an access to a surface.
    fn touch_surface(
        &mut self,
        env: &Env,
        thread: &Thread,
        inst: &Inst,
        (handle, access, at): (u64, SurfaceAccess, [i32; 4]),
        touch: Touch,
    ) -> Step {
        let Some(watch) = &mut self.watch else { return Ok(()) };
        let place = self.objects.place_in_surface(handle, access, at, touch.writes())?;
        let Some(place) = place else { return Ok(()) };
        let touched = watch.touch(env, thread.index, inst.site, Region::Surface, place, touch);
        Ok(touched.map_err(|Full| FaultKind::TooMuchToCheck)?)
    }
}
