//! Textures and surfaces: what their handles stand for while a kernel runs.
//!
//! Enters: handles, coordinates. Leaves: texels, or the bytes of a surface. Must not know: `device::cpu::jit`,
//! `device::cpu::interp`, `device::cpu::launch`.
//!
//! Compiled code and the interpreter ask the [`Snapshot`] that a launch took when it began: by handle, for texels
//! (`sampler`) or bytes of a surface (`surface`). A handle is a place in a table with a generation, so that one of
//! an object that is gone is found out.

mod image;
mod sampler;
mod surface;
mod table;
mod texel;

pub(super) use sampler::{Fetch, is_answered};
pub(super) use surface::{Flat, SurfaceAccess};
pub(super) use table::{Object, Objects, Snapshot};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::modifier::Clamp;

    #[test]
    fn codes_stand_for_what_was_asked() {
        for geometry in sampler::GEOMETRIES {
            for gather in [None, Some(0), Some(3)] {
                for texel in [false, true] {
                    let fetch = Fetch { geometry, texel, gather };
                    let again = Fetch::from_code(fetch.code());
                    assert_eq!(format!("{fetch:?}"), format!("{again:?}"));
                }
            }
            for clamp in [Clamp::Trap, Clamp::Clamp, Clamp::Zero] {
                for formatted in [false, true] {
                    let access = SurfaceAccess { geometry, clamp, bytes: 16, formatted };
                    let again = SurfaceAccess::from_code(access.code());
                    assert_eq!(format!("{access:?}"), format!("{again:?}"));
                }
            }
        }
    }
}
