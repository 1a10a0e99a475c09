//! Texture and surface instructions: calls of the host, with coordinates and data in the context.

use std::mem::offset_of;

use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, condcodes::IntCC, types};

use super::{Lower, Step, Unsupported, clif_type};
use crate::{
    device::cpu::{
        jit::{images::Packed, kernel::SiteKind},
        launch::{Context, ImageCall},
        texture::{Fetch, Query, SurfaceAccess},
    },
    ptx::{
        inst::{Instruction, Op},
        modifier::{Clamp, Geometry, Mip, Surface, Tex},
        operand::Operand,
        types::Type,
    },
};

const AT: usize = offset_of!(Context, image) + offset_of!(ImageCall, at);
const OFFSET: usize = offset_of!(Context, image) + offset_of!(ImageCall, offset);
const DATA: usize = offset_of!(Context, image) + offset_of!(ImageCall, data);

/// How many coordinates count of those that an instruction of this shape has.
fn coordinates(geometry: Geometry) -> Step<usize> {
    match geometry {
        Geometry::D1 => Ok(1),
        Geometry::D2 | Geometry::A1d => Ok(2),
        Geometry::D3 | Geometry::A2d | Geometry::Cube => Ok(3),
        Geometry::Acube => Ok(4),
        Geometry::D2ms | Geometry::A2dms => Err(Unsupported("textures with several samples")),
    }
}

impl Lower<'_, '_> {
    pub(super) fn image(&mut self, i: &Instruction) -> Step {
        match &i.op {
            Op::Tex(tex) => self.fetch(i, tex, None),
            Op::Tld4 { component, tex } => self.fetch(i, tex, Some(*component)),
            Op::Txq { query, .. } => self.query(i, query, "warpaint_txq"),
            Op::Suq { query, .. } => self.query(i, query, "warpaint_suq"),
            Op::Suld(surface) => self.surface_load(i, surface),
            Op::Sust(surface) => self.surface_store(i, surface),
            _ => Err(Unsupported("")),
        }
    }

    fn fetch(&mut self, i: &Instruction, tex: &Tex, gather: Option<u8>) -> Step {
        if tex.sampler {
            return Err(Unsupported("a sampler apart from its texture"));
        }
        if tex.to.bytes() != 4 || tex.to.is_packed() {
            return Err(Unsupported("a result of halves"));
        }
        let texel = match tex.coord {
            Type::S32 => true,
            Type::F32 => false,
            _ => return Err(Unsupported("coordinates of this type")),
        };
        let at = i.src.get(1).ok_or(Unsupported("no coordinates"))?;
        self.give_coordinates(at, tex.geometry)?;
        // There is one mipmap level, whatever is asked for.
        let skipped = match tex.mip {
            Mip::Default | Mip::Base => 2,
            Mip::Level => 3,
            Mip::Grad => 4,
        };
        self.give_offset(&i.src[skipped.min(i.src.len())..])?;
        let fetch = Fetch { geometry: tex.geometry, texel, gather };
        self.call_image(i, "warpaint_tex", fetch.pack())?;
        let destination = i.dst.first().ok_or(Unsupported("no destination"))?;
        for (lane, operand) in destination.lanes().iter().enumerate().take(4) {
            let value = self.image_word(clif_type(tex.to), DATA + 4 * lane);
            self.set_operand(operand, value)?;
        }
        if let Some(resident) = i.dst.get(1) {
            // Nothing here is sparse.
            let yes = self.b.ins().iconst(types::I8, 1);
            self.set_operand(resident, yes)?;
        }
        Ok(())
    }

    /// Texels added to the coordinates, where an instruction has them.
    fn give_offset(&mut self, rest: &[Operand]) -> Step {
        let offset = match rest {
            [] => None,
            [offset @ Operand::Vector(_)] => Some(offset),
            _ => return Err(Unsupported("depth comparison")),
        };
        for axis in 0..3 {
            let value = match offset.and_then(|offset| offset.lanes().get(axis)) {
                Some(lane) => self.value(lane, Type::S32)?,
                None => self.b.ins().iconst(types::I32, 0),
            };
            self.set_context(value, OFFSET + 4 * axis);
        }
        Ok(())
    }

    fn give_coordinates(&mut self, at: &Operand, geometry: Geometry) -> Step {
        let (lanes, count) = (at.lanes(), coordinates(geometry)?);
        if lanes.len() < count {
            return Err(Unsupported("too few coordinates"));
        }
        for (index, lane) in lanes.iter().enumerate().take(count) {
            let value = self.value(lane, Type::B32)?;
            self.set_context(value, AT + 4 * index);
        }
        Ok(())
    }

    fn surface_load(&mut self, i: &Instruction, surface: &Surface) -> Step {
        let access = self.surface_access(i, surface)?;
        if surface.formatted {
            return Err(Unsupported("a formatted load"));
        }
        self.call_image(i, "warpaint_suld", access.pack())?;
        let destination = i.dst.first().ok_or(Unsupported("no destination"))?;
        for (lane, operand) in destination.lanes().iter().enumerate() {
            let at = DATA + lane * surface.ty.bytes() as usize;
            let value = self.image_word(clif_type(surface.ty), at);
            self.set_extended(operand, value, surface.ty)?;
        }
        Ok(())
    }

    fn surface_store(&mut self, i: &Instruction, surface: &Surface) -> Step {
        let access = self.surface_access(i, surface)?;
        if surface.formatted && surface.ty.bytes() != 4 {
            return Err(Unsupported("a formatted store of other than words"));
        }
        let data = i.src.get(2).ok_or(Unsupported("too few operands"))?;
        for lane in 0..usize::from(access.bytes) / surface.ty.bytes() as usize {
            if let Some(operand) = data.lanes().get(lane) {
                let value = self.value(operand, surface.ty)?;
                self.set_context(value, DATA + lane * surface.ty.bytes() as usize);
            }
        }
        self.call_image(i, "warpaint_sust", access.pack())
    }

    /// What a surface instruction asks for; its coordinates are in the context then.
    fn surface_access(&mut self, i: &Instruction, surface: &Surface) -> Step<SurfaceAccess> {
        let bytes = surface.ty.bytes() * u32::from(surface.lanes.max(1));
        if !matches!(bytes, 1 | 2 | 4 | 8 | 16) {
            return Err(Unsupported("a surface access of this width"));
        }
        if matches!(surface.geometry, Geometry::Cube | Geometry::Acube) {
            return Err(Unsupported("a surface of this shape"));
        }
        let at = i.src.get(1).ok_or(Unsupported("no coordinates"))?;
        self.give_coordinates(at, surface.geometry)?;
        Ok(SurfaceAccess {
            geometry: surface.geometry,
            clamp: surface.clamp.unwrap_or(Clamp::Trap),
            bytes: bytes as u8,
            formatted: surface.formatted,
        })
    }

    fn query(&mut self, i: &Instruction, query: &str, host: &'static str) -> Step {
        let query = Query::parse(query).ok_or(Unsupported("this query"))?;
        self.call_image(i, host, query.pack())?;
        let answer = self.image_word(types::I32, DATA);
        self.set(i, answer)
    }

    /// Asks the host, and stops the thread where that goes wrong.
    fn call_image(&mut self, i: &Instruction, host: &'static str, how: u32) -> Step {
        let handle = match i.src.first() {
            Some(Operand::Reg(reg)) => self.register(*reg, Type::U64),
            _ => return Err(Unsupported("a texture reference, where an object is needed")),
        };
        let how = self.b.ins().iconst(types::I32, i64::from(how));
        let status = self.host(host, &[self.context, handle, how], types::I32)?;
        let fine = self.b.ins().icmp_imm_u(IntCC::Equal, status, 0);
        self.stop_unless(fine, SiteKind::Image, handle);
        Ok(())
    }

    fn image_word(&mut self, ty: cranelift_codegen::ir::Type, at: usize) -> Value {
        self.b.ins().load(ty, MemFlagsData::trusted(), self.context, at as i32)
    }
}
