//! Textures and surfaces for compiled code: host functions that ask the launch's objects. Coordinates and data pass
//! through [`ImageCall`].
#![expect(unsafe_code, reason = "follows the context's pointer to the launch's objects")]

use crate::{
    device::{
        FaultKind,
        cpu::{
            abi::{BlockContext, ImageCall},
            texture::{Fetch, Snapshot, SurfaceAccess},
        },
    },
    ptx::modifier::Query,
};

/// Added to a fetch's code where the offset with the context counts.
pub(super) const OFFSET: u32 = 1 << 31;

type Plain = extern "C" fn(&mut BlockContext, u64, u32, f32, f32, f32) -> u32;
type Call = extern "C" fn(&mut BlockContext, u64, u32) -> u32;

pub(super) fn functions() -> [(&'static str, *const u8); 6] {
    [
        ("warpaint_tex", tex as Call as *const u8),
        ("warpaint_tex_plain", tex_plain as Plain as *const u8),
        ("warpaint_suld", suld as Call as *const u8),
        ("warpaint_sust", sust as Call as *const u8),
        ("warpaint_txq", txq as Call as *const u8),
        ("warpaint_suq", suq as Call as *const u8),
    ]
}

#[inline]
fn objects(context: &BlockContext) -> &Snapshot {
    // SAFETY: the launch that runs keeps its objects.
    unsafe { &*context.objects }
}

/// Leaves what went wrong with the context; 0, and the data there, where nothing did.
#[inline]
fn done(context: &mut BlockContext, result: Result<[u32; 4], FaultKind>) -> u32 {
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

extern "C" fn tex(context: &mut BlockContext, handle: u64, how: u32) -> u32 {
    let ImageCall { at, offset, .. } = context.image;
    let offset = if how & OFFSET == 0 { [0; 3] } else { offset };
    let result = objects(context).fetch(handle, Fetch::from_code(how & !OFFSET), at, offset);
    done(context, result)
}

/// A fetch by coordinates in order, without an offset. They come in registers: words that were just stored one by one
/// are slow to be loaded together.
extern "C" fn tex_plain(
    context: &mut BlockContext,
    handle: u64,
    how: u32,
    x: f32,
    y: f32,
    z: f32,
) -> u32 {
    if let Some(data) = objects(context).fetch_plain(handle, how, [x, y, z]) {
        context.image.data = data;
        return 0;
    }
    let at = [x.to_bits(), y.to_bits(), z.to_bits(), 0];
    let result = objects(context).fetch(handle, Fetch::from_code(how), at, [0; 3]);
    done(context, result)
}

extern "C" fn suld(context: &mut BlockContext, handle: u64, how: u32) -> u32 {
    let at = context.image.at.map(u32::cast_signed);
    let result = objects(context).read_surface(handle, SurfaceAccess::from_code(how), at);
    done(context, result.map(bytemuck::cast))
}

extern "C" fn sust(context: &mut BlockContext, handle: u64, how: u32) -> u32 {
    let ImageCall { at, data, .. } = context.image;
    let (at, bytes) = (at.map(u32::cast_signed), bytemuck::cast(data));
    let result = objects(context).write_surface(handle, SurfaceAccess::from_code(how), at, bytes);
    done(context, result.map(|()| data))
}

/// What is asked for by such a code. What is none of them is answered as what no device has: with 0.
fn query_by_code(code: u32) -> Query {
    Query::from_code(code).unwrap_or(Query::ChannelOrder)
}

extern "C" fn txq(context: &mut BlockContext, handle: u64, query: u32) -> u32 {
    let result = objects(context).query_texture(handle, query_by_code(query));
    done(context, result.map(|answer| [answer; 4]))
}

extern "C" fn suq(context: &mut BlockContext, handle: u64, query: u32) -> u32 {
    let result = objects(context).query_surface(handle, query_by_code(query));
    done(context, result.map(|answer| [answer; 4]))
}
