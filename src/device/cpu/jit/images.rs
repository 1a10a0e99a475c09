//! Textures and surfaces for compiled code: host functions that ask the launch's objects. Coordinates and data pass
//! through [`ImageCall`].
#![expect(unsafe_code, reason = "follows the context's pointer to the launch's objects")]

use crate::{
    device::{
        FaultKind,
        cpu::{
            launch::{Context, ImageCall},
            texture::{Fetch, Query, Snapshot, SurfaceAccess},
        },
    },
    ptx::modifier::{Clamp, Geometry},
};

type Call = extern "C" fn(&mut Context, u64, u32) -> u32;

pub(super) fn functions() -> [(&'static str, *const u8); 5] {
    [
        ("warpaint_tex", tex as Call as *const u8),
        ("warpaint_suld", suld as Call as *const u8),
        ("warpaint_sust", sust as Call as *const u8),
        ("warpaint_txq", txq as Call as *const u8),
        ("warpaint_suq", suq as Call as *const u8),
    ]
}

/// What an instruction asks for, as one constant of compiled code.
pub(super) trait Packed: Sized {
    fn pack(self) -> u32;
    fn unpack(bits: u32) -> Self;
}

const GEOMETRIES: [Geometry; 8] = [
    Geometry::D1,
    Geometry::D2,
    Geometry::D3,
    Geometry::A1d,
    Geometry::A2d,
    Geometry::Cube,
    Geometry::Acube,
    // Refused before.
    Geometry::D2ms,
];

fn geometry_bits(geometry: Geometry) -> u32 {
    GEOMETRIES.iter().position(|known| *known == geometry).unwrap_or(7) as u32
}

impl Packed for Fetch {
    fn pack(self) -> u32 {
        let gather = self.gather.map_or(0, |channel| 4 | u32::from(channel & 3));
        geometry_bits(self.geometry) | u32::from(self.texel) << 3 | gather << 4
    }

    #[inline]
    fn unpack(bits: u32) -> Self {
        Self {
            geometry: GEOMETRIES[bits as usize & 7],
            texel: bits & 8 != 0,
            gather: (bits & 0x40 != 0).then_some((bits >> 4 & 3) as u8),
        }
    }
}

impl Packed for SurfaceAccess {
    fn pack(self) -> u32 {
        let clamp = match self.clamp {
            Clamp::Trap => 0,
            Clamp::Clamp => 1,
            Clamp::Zero => 2,
        };
        geometry_bits(self.geometry)
            | clamp << 3
            | u32::from(self.formatted) << 5
            | u32::from(self.bytes) << 8
    }

    #[inline]
    fn unpack(bits: u32) -> Self {
        let clamp = match bits >> 3 & 3 {
            0 => Clamp::Trap,
            1 => Clamp::Clamp,
            _ => Clamp::Zero,
        };
        Self {
            geometry: GEOMETRIES[bits as usize & 7],
            clamp,
            formatted: bits & 0x20 != 0,
            bytes: (bits >> 8) as u8,
        }
    }
}

impl Packed for Query {
    fn pack(self) -> u32 {
        self as u32
    }

    fn unpack(bits: u32) -> Self {
        const ALL: [Query; 7] = [
            Query::Width,
            Query::Height,
            Query::Depth,
            Query::Layers,
            Query::Levels,
            Query::Samples,
            Query::Normalized,
        ];
        ALL[bits as usize % ALL.len()]
    }
}

#[inline]
fn objects(context: &Context) -> &Snapshot {
    // SAFETY: the launch that runs keeps its objects.
    unsafe { &*context.objects }
}

/// Leaves what went wrong with the context; 0, and the data there, where nothing did.
#[inline]
fn done(context: &mut Context, result: Result<[u32; 4], FaultKind>) -> u32 {
    match result {
        Ok(data) => {
            context.image.data = data;
            0
        }
        Err(kind) => {
            context.image_fault = Some(Box::new(kind));
            1
        }
    }
}

extern "C" fn tex(context: &mut Context, handle: u64, how: u32) -> u32 {
    let ImageCall { at, offset, .. } = context.image;
    let result = objects(context).fetch(handle, Fetch::unpack(how), at, offset);
    done(context, result)
}

extern "C" fn suld(context: &mut Context, handle: u64, how: u32) -> u32 {
    let at = context.image.at.map(u32::cast_signed);
    let result = objects(context).read_surface(handle, SurfaceAccess::unpack(how), at);
    done(context, result.map(bytemuck::cast))
}

extern "C" fn sust(context: &mut Context, handle: u64, how: u32) -> u32 {
    let ImageCall { at, data, .. } = context.image;
    let (at, bytes) = (at.map(u32::cast_signed), bytemuck::cast(data));
    let result = objects(context).write_surface(handle, SurfaceAccess::unpack(how), at, bytes);
    done(context, result.map(|()| data))
}

extern "C" fn txq(context: &mut Context, handle: u64, query: u32) -> u32 {
    let result = objects(context).query_texture(handle, Query::unpack(query));
    done(context, result.map(|answer| [answer; 4]))
}

extern "C" fn suq(context: &mut Context, handle: u64, query: u32) -> u32 {
    let result = objects(context).query_surface(handle, Query::unpack(query));
    done(context, result.map(|answer| [answer; 4]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out_again() {
        for geometry in GEOMETRIES {
            for gather in [None, Some(0), Some(3)] {
                for texel in [false, true] {
                    let fetch = Fetch { geometry, texel, gather };
                    assert_eq!(format!("{fetch:?}"), format!("{:?}", Fetch::unpack(fetch.pack())));
                }
            }
            for clamp in [Clamp::Trap, Clamp::Clamp, Clamp::Zero] {
                for formatted in [false, true] {
                    let access = SurfaceAccess { geometry, clamp, bytes: 16, formatted };
                    let again = SurfaceAccess::unpack(access.pack());
                    assert_eq!(format!("{access:?}"), format!("{again:?}"));
                }
            }
        }
    }
}
