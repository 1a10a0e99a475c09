//! Texture and surface instructions: calls of the host, with coordinates and data in the context.

use std::mem::offset_of;

use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, condcodes::IntCC, types};

use super::{Lower, Step, Unsupported, clif_type};
use crate::{
    device::cpu::{
        abi::{BlockContext, ImageCall},
        jit::{images, kernel::SiteKind, span::MemorySpan},
        texture::{Fetch, Flat, SurfaceAccess, is_answered},
    },
    ptx::{
        inst::Instruction,
        modifier::{Clamp, Geometry, Mip, Query, Surface, Tex},
        operand::Operand,
        types::Type,
    },
};

const AT: usize = offset_of!(BlockContext, image) + offset_of!(ImageCall, at);
const OFFSET: usize = offset_of!(BlockContext, image) + offset_of!(ImageCall, offset);
const DATA: usize = offset_of!(BlockContext, image) + offset_of!(ImageCall, data);

/// How many coordinates count of those that an instruction of this shape has.
fn coordinates(geometry: Geometry) -> Step<usize> {
    geometry.coordinates().ok_or(Unsupported::Part("textures with several samples"))
}

impl Lower<'_, '_> {
    pub(super) fn fetch(&mut self, i: &Instruction, tex: &Tex, gather: Option<u8>) -> Step {
        if tex.sampler {
            return Err(Unsupported::Part("a sampler apart from its texture"));
        }
        if tex.to.bytes() != 4 || tex.to.is_packed() {
            return Err(Unsupported::Part("a result of halves"));
        }
        if !matches!(tex.coord, Type::S32 | Type::F32) {
            return Err(Unsupported::Part("coordinates of this type"));
        }
        let texel = tex.coord == Type::S32;
        let at = i.src.get(1).ok_or(Unsupported::Part("no coordinates"))?;
        // There is one mipmap level, whatever is asked for.
        let skipped = match tex.mip {
            Mip::Default | Mip::Base => 2,
            Mip::Level => 3,
            Mip::Grad => 4,
        };
        let moved = self.give_offset(&i.src[skipped.min(i.src.len())..])?;
        let fetch = Fetch { geometry: tex.geometry, texel, gather };
        let in_order = matches!(tex.geometry, Geometry::D1 | Geometry::D2 | Geometry::D3);
        if in_order && !texel && gather.is_none() && !moved {
            self.fetch_plain(i, at, fetch)?;
        } else {
            self.give_coordinates(at, tex.geometry)?;
            let code = fetch.code() | if moved { images::OFFSET } else { 0 };
            self.call_image(i, "warpaint_tex", code)?;
        }
        let destination = i.dst.first().ok_or(Unsupported::Part("no destination"))?;
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

    /// A fetch by one to three coordinates and nothing else.
    fn fetch_plain(&mut self, i: &Instruction, at: &Operand, fetch: Fetch) -> Step {
        let (lanes, count) = (at.lanes(), coordinates(fetch.geometry)?);
        if lanes.len() < count {
            return Err(Unsupported::Part("too few coordinates"));
        }
        let handle = self.handle(i)?;
        let how = self.b.ins().iconst(types::I32, i64::from(fetch.code()));
        let mut arguments = vec![self.context, handle, how];
        for axis in 0..3 {
            let value = match lanes.get(axis).filter(|_| axis < count) {
                Some(lane) => self.value(lane, Type::F32)?,
                None => self.b.ins().f32const(0.0f32),
            };
            arguments.push(value);
        }
        let status = self.host("warpaint_tex_plain", &arguments, types::I32)?;
        let fine = self.b.ins().icmp_imm_u(IntCC::Equal, status, 0);
        self.stop_unless(fine, SiteKind::Image, handle);
        Ok(())
    }

    /// Texels added to the coordinates; whether an instruction has them.
    fn give_offset(&mut self, rest: &[Operand]) -> Step<bool> {
        if rest.is_empty() {
            return Ok(false);
        }
        let [offset @ Operand::Vector(_)] = rest else {
            return Err(Unsupported::Part("depth comparison"));
        };
        for axis in 0..3 {
            let value = match offset.lanes().get(axis) {
                Some(lane) => self.value(lane, Type::S32)?,
                None => self.b.ins().iconst(types::I32, 0),
            };
            self.set_context(value, OFFSET + 4 * axis);
        }
        Ok(true)
    }

    fn give_coordinates(&mut self, at: &Operand, geometry: Geometry) -> Step {
        let (lanes, count) = (at.lanes(), coordinates(geometry)?);
        if lanes.len() < count {
            return Err(Unsupported::Part("too few coordinates"));
        }
        for (index, lane) in lanes.iter().enumerate().take(count) {
            let value = self.value(lane, Type::B32)?;
            self.set_context(value, AT + 4 * index);
        }
        Ok(())
    }

    pub(super) fn surface_load(&mut self, i: &Instruction, surface: &Surface) -> Step {
        let access = surface_access(surface)?;
        if surface.formatted {
            return Err(Unsupported::Part("a formatted load"));
        }
        let (ty, bytes) = (clif_type(surface.ty), surface.ty.bytes());
        let lanes = u32::from(access.bytes) / bytes;
        let done = self.b.create_block();
        for _ in 0..lanes {
            self.b.append_block_param(done, ty);
        }
        // Rows of a surface start anywhere.
        if let Some((memory, otherwise)) = self.locate_flat(i, access)? {
            let values: Vec<_> = (0..lanes)
                .map(|lane| self.load_unaligned(ty, memory, i64::from(lane * bytes)))
                .map(BlockArg::Value)
                .collect();
            self.b.ins().jump(done, &values);
            self.b.switch_to_block(otherwise);
        }
        self.give_surface_coordinates(i, surface)?;
        self.call_image(i, "warpaint_suld", access.code())?;
        let values: Vec<_> = (0..lanes)
            .map(|lane| self.image_word(ty, DATA + (lane * bytes) as usize))
            .map(BlockArg::Value)
            .collect();
        self.b.ins().jump(done, &values);
        self.b.switch_to_block(done);
        let values = self.b.block_params(done).to_vec();
        let destination = i.dst.first().ok_or(Unsupported::Part("no destination"))?;
        for (operand, value) in destination.lanes().iter().zip(values) {
            self.set_extended(operand, value, surface.ty)?;
        }
        Ok(())
    }

    pub(super) fn surface_store(&mut self, i: &Instruction, surface: &Surface) -> Step {
        let access = surface_access(surface)?;
        if surface.formatted && surface.ty.bytes() != 4 {
            return Err(Unsupported::Part("a formatted store of other than words"));
        }
        let data = i.src.get(2).ok_or(Unsupported::Part("too few operands"))?;
        let bytes = surface.ty.bytes() as usize;
        let mut values = Vec::new();
        for operand in data.lanes().iter().take(usize::from(access.bytes) / bytes) {
            values.push(self.value(operand, surface.ty)?);
        }
        let done = self.b.create_block();
        if let Some((memory, otherwise)) = self.locate_flat(i, access)? {
            for (lane, value) in values.iter().enumerate() {
                self.store_unaligned(*value, memory, (lane * bytes) as i64);
            }
            self.b.ins().jump(done, &[]);
            self.b.switch_to_block(otherwise);
        }
        self.give_surface_coordinates(i, surface)?;
        for (lane, value) in values.into_iter().enumerate() {
            self.set_context(value, DATA + lane * bytes);
        }
        self.call_image(i, "warpaint_sust", access.code())?;
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
        Ok(())
    }

    /// The address of an access to a 2-D surface, and the block where it is to be made otherwise: outside, or to
    /// another object.
    fn locate_flat(
        &mut self,
        i: &Instruction,
        access: SurfaceAccess,
    ) -> Step<Option<(MemorySpan, Block)>> {
        if access.geometry != Geometry::D2 || access.formatted {
            return Ok(None);
        }
        let handle = self.handle(i)?;
        let [x, y] = match i.src.get(1).map(Operand::lanes) {
            Some([x, y, ..]) => [self.value(x, Type::U32)?, self.value(y, Type::U32)?],
            _ => return Err(Unsupported::Part("too few coordinates")),
        };
        let [known, same, inside, otherwise] = [(); 4].map(|()| self.b.create_block());
        self.b.set_cold_block(otherwise);
        let index = self.b.ins().band_imm_u(handle, 0xffff_ffff);
        let count = self.context_u64(offset_of!(BlockContext, surface_count));
        let fine = self.b.ins().icmp(IntCC::UnsignedLessThan, index, count);
        self.b.ins().brif(fine, known, &[], otherwise, &[]);

        self.b.switch_to_block(known);
        let table = self.context_u64(offset_of!(BlockContext, surfaces));
        let start = self.b.ins().imul_imm_u(index, size_of::<Flat>() as i64);
        let flat = self.b.ins().iadd(table, start);
        let field = |lower: &mut Self, ty, at: usize| {
            lower.load(ty, MemorySpan::new(flat, 0, size_of::<Flat>() as u64), at as i64)
        };
        let own = field(self, types::I64, offset_of!(Flat, handle));
        let fine = self.b.ins().icmp(IntCC::Equal, own, handle);
        self.b.ins().brif(fine, same, &[], otherwise, &[]);

        // Rotated, a misaligned coordinate is huge, as a negative one is.
        self.b.switch_to_block(same);
        let row_bytes = field(self, types::I32, offset_of!(Flat, row_bytes));
        let rows = field(self, types::I32, offset_of!(Flat, rows));
        let shift = i64::from(access.bytes.trailing_zeros());
        let column = self.b.ins().rotr_imm_u(x, shift);
        let columns = self.b.ins().ushr_imm_u(row_bytes, shift);
        let in_row = self.b.ins().icmp(IntCC::UnsignedLessThan, column, columns);
        let in_rows = self.b.ins().icmp(IntCC::UnsignedLessThan, y, rows);
        let fine = self.b.ins().band(in_row, in_rows);
        self.b.ins().brif(fine, inside, &[], otherwise, &[]);

        self.b.switch_to_block(inside);
        let base = field(self, types::I64, offset_of!(Flat, address));
        let [x, y, row_bytes] =
            [x, y, row_bytes].map(|value| self.b.ins().uextend(types::I64, value));
        let row = self.b.ins().imul(y, row_bytes);
        let row = self.b.ins().iadd(base, row);
        let address = self.b.ins().iadd(row, x);
        Ok(Some((MemorySpan::new(address, 0, access.bytes.into()), otherwise)))
    }

    fn give_surface_coordinates(&mut self, i: &Instruction, surface: &Surface) -> Step {
        let at = i.src.get(1).ok_or(Unsupported::Part("no coordinates"))?;
        self.give_coordinates(at, surface.geometry)
    }

    pub(super) fn query(&mut self, i: &Instruction, query: Query, host: &'static str) -> Step {
        if !is_answered(query) {
            return Err(Unsupported::Part("this query"));
        }
        self.call_image(i, host, query as u32)?;
        let answer = self.image_word(types::I32, DATA);
        self.set(i, answer)
    }

    /// Asks the host, and stops the thread where that goes wrong.
    fn call_image(&mut self, i: &Instruction, host: &'static str, how: u32) -> Step {
        let handle = self.handle(i)?;
        let how = self.b.ins().iconst(types::I32, i64::from(how));
        let status = self.host(host, &[self.context, handle, how], types::I32)?;
        let fine = self.b.ins().icmp_imm_u(IntCC::Equal, status, 0);
        self.stop_unless(fine, SiteKind::Image, handle);
        Ok(())
    }

    fn handle(&mut self, i: &Instruction) -> Step<Value> {
        match i.src.first() {
            Some(Operand::Reg(reg)) => Ok(self.register(*reg, Type::U64)),
            _ => Err(Unsupported::Part("a texture reference, where an object is needed")),
        }
    }

    fn image_word(&mut self, ty: cranelift_codegen::ir::Type, at: usize) -> Value {
        self.load(ty, self.context_memory(), at as i64)
    }
}

/// What a surface instruction asks for.
fn surface_access(surface: &Surface) -> Step<SurfaceAccess> {
    let bytes = surface.ty.bytes() * u32::from(surface.lanes.max(1));
    if !matches!(bytes, 1 | 2 | 4 | 8 | 16) {
        return Err(Unsupported::Part("a surface access of this width"));
    }
    if matches!(surface.geometry, Geometry::Cube | Geometry::Acube) {
        return Err(Unsupported::Part("a surface of this shape"));
    }
    Ok(SurfaceAccess {
        geometry: surface.geometry,
        clamp: surface.clamp.unwrap_or(Clamp::Trap),
        bytes: bytes as u8,
        formatted: surface.formatted,
    })
}
