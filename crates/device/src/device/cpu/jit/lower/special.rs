//! Copies, packing, special registers.

use std::mem::offset_of;

use cranelift_codegen::ir::{InstBuilder, Value, condcodes::IntCC, types};

use super::{Lower, Step, Unsupported, clif_type, int_type, memory::Window};
use crate::{
    device::cpu::{
        abi::{BlockContext, RESERVED_SHARED_BYTES},
        layout::SymbolPlace,
    },
    ptx::{
        inst::Instruction,
        operand::{Axis, Grid, Operand, Scalar, Special, Symbol},
        types::{Space, Type},
    },
};

impl Lower<'_, '_> {
    pub(super) fn cvta(
        &mut self,
        i: &Instruction,
        to_generic: bool,
        space: Space,
        ty: Type,
    ) -> Step<Value> {
        let value = self.source(i, 0, ty)?;
        let Some(base) = self.generic_base(space) else { return Ok(value) };
        let wide = self.fit(value, types::I64);
        let moved =
            if to_generic { self.b.ins().iadd(wide, base) } else { self.b.ins().isub(wide, base) };
        Ok(self.fit(moved, clif_type(ty)))
    }

    pub(super) fn isspacep(&mut self, i: &Instruction, space: Space) -> Step<Value> {
        let address = self.source(i, 0, Type::U64)?;
        self.is_in_space(address, space)
    }

    fn is_in_space(&mut self, address: Value, space: Space) -> Step<Value> {
        match space {
            Space::Shared | Space::SharedCta => return Ok(self.lies_in(address, Window::Shared)),
            Space::Local => return Ok(self.lies_in(address, Window::Local)),
            Space::Param => return Ok(self.lies_in(address, Window::Param)),
            Space::Const => return Ok(self.is_constant_address(address)),
            Space::Global => {}
            Space::ParamEntry | Space::ParamFunc | Space::SharedCluster => {
                return Err(Unsupported::Part("this state space"));
            }
            Space::Reg | Space::Sreg | Space::Tex => {
                return Err(Unsupported::Part("this state space"));
            }
        }
        let mut inside = self.b.ins().iconst(types::I8, 0);
        for window in [Window::Shared, Window::Local] {
            let within = self.lies_in(address, window);
            inside = self.b.ins().bor(inside, within);
        }
        Ok(self.b.ins().bxor_imm_u(inside, 1))
    }

    /// Whether an address lies in one of the module's constant variables.
    fn is_constant_address(&mut self, address: Value) -> Value {
        let mut inside = self.b.ins().iconst(types::I8, 0);
        let variables = &self.source.unit.module.variables;
        for index in 0..variables.len() as u32 {
            if variables[index as usize].space != Space::Const {
                continue;
            }
            let symbol = Symbol::Variable(index);
            let place = self.place(symbol);
            let Some(SymbolPlace::Fixed { address: start, bytes, .. }) = place else { continue };
            let offset = self.b.ins().iadd_imm_s(address, (start as i64).wrapping_neg());
            let cc = IntCC::UnsignedLessThan;
            let within = self.b.ins().icmp_imm_u(cc, offset, bytes as i64);
            inside = self.b.ins().bor(inside, within);
        }
        inside
    }

    pub(super) fn mov(&mut self, i: &Instruction, ty: Type) -> Step {
        let source = i.src.first().ok_or(Unsupported::Part("too few operands"))?;
        if let Operand::Special(Special::Whole(grid)) = source {
            let destinations = i.dst.first().map_or(&[][..], Operand::lanes);
            for (axis, lane) in [Axis::X, Axis::Y, Axis::Z, Axis::W].into_iter().zip(destinations) {
                let value = self.special(Special::Axis(*grid, axis))?;
                self.set_operand(lane, value)?;
            }
            return Ok(());
        }
        // A value of half a register's width may be moved into a pair and out of it.
        let mut both = i.dst.iter().chain([source]);
        let packs = both.any(|operand| matches!(operand, Operand::Vector(_)));
        let ty = if packs { untyped(ty) } else { ty };
        let value = self.value(source, ty)?;
        self.set(i, value)
    }

    /// `{a, b, …}` as one value, the first part lowest.
    pub(super) fn pack(&mut self, parts: &[Operand], ty: Type) -> Step<Value> {
        let bytes = ty.bytes() / (parts.len() as u32).max(1);
        let (part, whole) = (bits_type(bytes), int_type(ty.bytes()));
        let mut packed = None;
        for (index, operand) in parts.iter().enumerate() {
            let value = self.value(operand, part)?;
            let value = self.fit(value, whole);
            let shift = self.b.ins().iconst(types::I32, i64::from(bytes * 8) * index as i64);
            let value = if index == 0 { value } else { self.b.ins().ishl(value, shift) };
            packed = Some(match packed {
                None => value,
                Some(packed) => self.b.ins().bor(packed, value),
            });
        }
        let packed = packed.ok_or(Unsupported::Part("an empty vector"))?;
        Ok(self.fit(packed, clif_type(ty)))
    }

    pub(super) fn unpack(&mut self, parts: &[Operand], value: Value) -> Step {
        let bytes = self.b.func.dfg.value_type(value).bytes();
        let value = self.fit(value, int_type(bytes));
        let part = bytes / (parts.len() as u32).max(1);
        for (index, operand) in parts.iter().enumerate() {
            let shift = self.b.ins().iconst(types::I32, i64::from(part * 8) * index as i64);
            let piece = if index == 0 { value } else { self.b.ins().ushr(value, shift) };
            let piece = self.fit(piece, int_type(part));
            self.set_operand(operand, piece)?;
        }
        Ok(())
    }

    pub(super) fn special(&mut self, special: Special) -> Step<Value> {
        match special {
            Special::Axis(grid, axis) => Ok(self.grid(grid, axis)),
            Special::Scalar(scalar) => self.scalar(scalar),
            // As the headers of CUDA's cooperative groups read them (`driver_abi.h`): high half first.
            Special::Envreg(n @ (1 | 2)) => {
                let workspace = self.context_u64(offset_of!(BlockContext, workspace));
                let shift = if n == 1 { 32 } else { 0 };
                let half = self.b.ins().ushr_imm_u(workspace, shift);
                Ok(self.b.ins().ireduce(types::I32, half))
            }
            Special::Envreg(_) => Ok(self.b.ins().iconst(types::I32, 0)),
            Special::Pm(_, wide) => {
                Ok(self.b.ins().iconst(if wide { types::I64 } else { types::I32 }, 0))
            }
            Special::Whole(_) => Err(Unsupported::Part("a special register as a whole")),
        }
    }

    fn grid(&mut self, grid: Grid, axis: Axis) -> Value {
        let field = match grid {
            Grid::Tid => offset_of!(BlockContext, tid),
            Grid::Ntid => offset_of!(BlockContext, ntid),
            Grid::Ctaid | Grid::Clusterid => offset_of!(BlockContext, ctaid),
            Grid::Nctaid | Grid::Nclusterid => offset_of!(BlockContext, nctaid),
            Grid::ClusterCtaid => return self.b.ins().iconst(types::I32, 0),
            Grid::ClusterNctaid => {
                return self.b.ins().iconst(types::I32, i64::from(axis != Axis::W));
            }
        };
        let (at, variable) = match axis {
            Axis::X => (0, self.thread.x),
            Axis::Y => (4, self.thread.y),
            Axis::Z => (8, self.thread.z),
            Axis::W => return self.b.ins().iconst(types::I32, 0),
        };
        if grid != Grid::Tid {
            return self.context_u32(field + at);
        }
        if !self.is_kernel() {
            return self.thread_field(field + at);
        }
        self.b.use_var(variable)
    }

    /// A field of the context that differs from thread to thread.
    fn thread_field(&mut self, offset: usize) -> Value {
        self.load(types::I32, self.context_memory(), offset as i64)
    }

    /// The thread's index in its block.
    pub(super) fn thread_index(&mut self) -> Value {
        if self.is_kernel() {
            self.b.use_var(self.thread.index)
        } else {
            self.thread_field(offset_of!(BlockContext, thread))
        }
    }

    fn scalar(&mut self, scalar: Scalar) -> Step<Value> {
        let index = self.thread_index();
        let lane = self.b.ins().band_imm_u(index, 31);
        let one = self.b.ins().iconst(types::I32, 1);
        let bit = self.b.ins().ishl(one, lane);
        let below = self.b.ins().iadd_imm_s(bit, -1);
        Ok(match scalar {
            Scalar::Laneid => lane,
            Scalar::Warpid => self.b.ins().ushr_imm_u(index, 5),
            Scalar::Nwarpid => self.b.ins().iconst(types::I32, 32),
            Scalar::LanemaskEq => bit,
            Scalar::LanemaskLt => below,
            Scalar::LanemaskLe => self.b.ins().bor(below, bit),
            Scalar::LanemaskGe => self.b.ins().bnot(below),
            Scalar::LanemaskGt => {
                let upto = self.b.ins().bor(below, bit);
                self.b.ins().bnot(upto)
            }
            Scalar::WarpSize => self.b.ins().iconst(types::I32, 32),
            Scalar::Smid | Scalar::ClusterCtarank => self.b.ins().iconst(types::I32, 0),
            Scalar::Nsmid | Scalar::ClusterNctarank => self.b.ins().iconst(types::I32, 1),
            Scalar::IsExplicitCluster => self.b.ins().iconst(types::I8, 0),
            Scalar::Gridid => self.b.ins().iconst(types::I64, 1),
            Scalar::Clock64 | Scalar::Clock => self.host("warpaint_clock", &[], types::I64)?,
            Scalar::ClockHi => {
                let clock = self.host("warpaint_clock", &[], types::I64)?;
                self.b.ins().ushr_imm_u(clock, 32)
            }
            Scalar::Globaltimer | Scalar::GlobaltimerLo => {
                self.host("warpaint_globaltimer", &[], types::I64)?
            }
            Scalar::GlobaltimerHi => {
                let time = self.host("warpaint_globaltimer", &[], types::I64)?;
                self.b.ins().ushr_imm_u(time, 32)
            }
            Scalar::TotalSmemSize | Scalar::AggrSmemSize => {
                self.context_u32(offset_of!(BlockContext, shared_bytes))
            }
            Scalar::DynamicSmemSize => {
                self.context_u32(offset_of!(BlockContext, dynamic_shared_bytes))
            }
            Scalar::ReservedSmemOffsetBegin | Scalar::ReservedSmemOffset0 => {
                self.reserved_shared(0)
            }
            // Cooperative groups want 288 bytes from here.
            Scalar::ReservedSmemOffset1 => self.reserved_shared(512),
            Scalar::ReservedSmemOffsetEnd => self.reserved_shared(RESERVED_SHARED_BYTES),
            Scalar::ReservedSmemOffsetCap => {
                self.b.ins().iconst(types::I32, i64::from(RESERVED_SHARED_BYTES))
            }
            Scalar::CurrentGraphExec => self.b.ins().iconst(types::I64, 0),
        })
    }

    /// An offset from the shared memory that is kept for the system.
    fn reserved_shared(&mut self, offset: u32) -> Value {
        let base = self.context_u32(offset_of!(BlockContext, reserved_shared));
        self.b.ins().iadd_imm_u(base, i64::from(offset))
    }

    /// Whether `value` is not zero, as a predicate.
    pub(super) fn truth(&mut self, value: Value) -> Value {
        self.b.ins().icmp_imm_u(IntCC::NotEqual, value, 0)
    }
}

/// The untyped type of the same size.
fn untyped(ty: Type) -> Type {
    bits_type(ty.bytes())
}

pub(super) fn bits_type(bytes: u32) -> Type {
    match bytes {
        1 => Type::B8,
        2 => Type::B16,
        4 => Type::B32,
        8 => Type::B64,
        _ => Type::B128,
    }
}
