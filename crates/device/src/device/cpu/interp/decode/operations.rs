//! What is not computed from values alone: copies, memory, threads together, control.

use super::{Decoder, Step, Unsupported, changes};
use crate::{
    device::cpu::{
        interp::program::*,
        together::{warp_operation, warp_value},
    },
    ptx::{
        ast::Param,
        inst::Instruction,
        modifier::{Access, AtomOp, Atomic, BarKind, CacheHints, Mbarrier, MbarrierOp},
        op::{Waits, WarpOp},
        operand::{Axis, Label, Operand, Special, Symbol},
        types::{Space, Type},
    },
};

impl Decoder<'_> {
    pub(super) fn mov(&mut self, i: &Instruction, ty: Type, lanes: u8, inst: &mut Inst) -> Step {
        let (to, from) = match (i.dst.first(), i.src.first()) {
            (Some(to), Some(from)) => (to, from),
            _ => return Err(Unsupported::Part("too few operands")),
        };
        let bits = ty.bits();
        if let (Operand::Special(Special::Whole(grid)), 2..) = (from, lanes) {
            let axes = [Axis::X, Axis::Y, Axis::Z, Axis::W].into_iter();
            let parts = axes.zip(to.lanes()).map(|(axis, _)| {
                let slot = self.special(Special::Axis(*grid, axis))?;
                Ok(slot)
            });
            let parts: Vec<Slot> = parts.collect::<Step<_>>()?;
            let into = to.lanes().iter().map(|lane| self.destination(lane));
            inst.action = Action::Spread(parts.into(), into.collect::<Step<_>>()?);
        } else if let Operand::Special(special) = from
            && changes(*special)
        {
            inst.dst[0] = self.destination(to)?;
            inst.action = Action::Read(*special);
        } else if let Operand::Vector(parts) = to {
            inst.src[0] = self.source(from, untyped(ty))?;
            let parts = parts.iter().map(|part| self.destination(part));
            inst.action = Action::Unpack(parts.collect::<Step<_>>()?, bits);
        } else if let Operand::Vector(parts) = from {
            let part = untyped_bits(bits / (parts.len() as u32).max(1));
            inst.dst[0] = self.destination(to)?;
            let parts = parts.iter().map(|operand| self.source(operand, part));
            inst.action = Action::Pack(parts.collect::<Step<_>>()?, bits);
        } else if ty == Type::B128 && *to != Operand::Sink {
            self.values(i, &[ty], inst)?;
            inst.action = Action::Copy128;
        } else if *to != Operand::Sink {
            return self.simple(i, &[ty], Action::Value(i.op.clone()), inst);
        }
        Ok(())
    }

    // Memory ---------------------------------------------------------------------------------------

    pub(super) fn load(&mut self, i: &Instruction, access: &Access, inst: &mut Inst) -> Step {
        let (base, mut operand) = self.memory_operand(i.src.first(), access)?;
        let to = i.dst.first().ok_or(Unsupported::Part("no destination"))?;
        let mut into = Vec::new();
        for lane in to.lanes() {
            let dst = self.destination(lane)?;
            into.push(dst);
            if access.ty == Type::B128 {
                let high =
                    if dst.slot == self.sink { dst } else { Dst { slot: dst.slot + 1, ..dst } };
                into.push(high);
            }
        }
        if access.ty == Type::B128 {
            operand.ty = Type::B64;
        }
        operand.into = into.into();
        inst.src[0] = base;
        inst.action = Action::Load(Box::new(operand));
        Ok(())
    }

    pub(super) fn store(&mut self, i: &Instruction, access: &Access, inst: &mut Inst) -> Step {
        let (base, mut operand) = self.memory_operand(i.src.first(), access)?;
        operand.from = self.stored(i.src.get(1), access.ty)?;
        if access.ty == Type::B128 {
            operand.ty = Type::B64;
        }
        inst.src[0] = base;
        inst.action = Action::Store(Box::new(operand));
        Ok(())
    }

    fn stored(&mut self, operand: Option<&Operand>, ty: Type) -> Step<Box<[Slot]>> {
        let mut from = Vec::new();
        for lane in operand.ok_or(Unsupported::Part("too few operands"))?.lanes() {
            let slot = self.source(lane, ty)?;
            from.push(slot);
            if ty == Type::B128 {
                from.push(slot + 1);
            }
        }
        Ok(from.into())
    }

    pub(super) fn atomic(&mut self, i: &Instruction, atomic: &Atomic, inst: &mut Inst) -> Step {
        let access = Access {
            order: atomic.order,
            scope: atomic.scope,
            cache: CacheHints::default(),
            ..Access::plain(atomic.space, atomic.ty, atomic.lanes)
        };
        let (base, mut operand) = self.memory_operand(i.src.first(), &access)?;
        let float = atomic.ty.is_float();
        if atomic.ty == Type::B128 {
            return self.atomic128(i, atomic, (base, operand), inst);
        }
        let known = match atomic.op {
            AtomOp::Add | AtomOp::Exch => true,
            AtomOp::Min | AtomOp::Max => {
                !float || matches!(atomic.ty.element(), Type::F16 | Type::Bf16)
            }
            AtomOp::Cas => atomic.lanes == 1,
            AtomOp::And | AtomOp::Or | AtomOp::Xor | AtomOp::Inc | AtomOp::Dec => !float,
        };
        if !known || atomic.ty.bytes() < 2 {
            return Err(Unsupported::Part("this atomic operation"));
        }
        if let Some(to) = i.dst.first() {
            let lanes = to.lanes().iter().map(|lane| self.destination(lane));
            operand.into = lanes.collect::<Step<_>>()?;
        }
        operand.from = self.stored(i.src.get(1), atomic.ty)?;
        if atomic.op == AtomOp::Cas {
            let new = i.src.get(2).ok_or(Unsupported::Part("too few operands"))?;
            inst.src[1] = self.source(new, atomic.ty)?;
        }
        (operand.strong, operand.ordering) = (true, Ordering::of(atomic.order));
        inst.src[0] = base;
        inst.action = Action::Atomic(Box::new(operand), Box::new(atomic.clone()));
        Ok(())
    }

    fn atomic128(
        &mut self,
        i: &Instruction,
        atomic: &Atomic,
        (base, mut operand): (Slot, MemoryOperand),
        inst: &mut Inst,
    ) -> Step {
        if !matches!(atomic.op, AtomOp::Cas | AtomOp::Exch) || atomic.lanes > 1 {
            return Err(Unsupported::Part("this atomic operation"));
        }
        if let Some(to) = i.dst.first() {
            let low = self.destination(to)?;
            let high = if low.slot == self.sink { low } else { Dst { slot: low.slot + 1, ..low } };
            operand.into = Box::new([low, high]);
        }
        operand.from = self.stored(i.src.get(1), atomic.ty)?;
        if atomic.op == AtomOp::Cas {
            let new = i.src.get(2).ok_or(Unsupported::Part("too few operands"))?;
            inst.src[1] = self.source(new, atomic.ty)?;
        }
        (operand.ty, operand.strong) = (Type::B64, true);
        operand.ordering = Ordering::of(atomic.order);
        inst.src[0] = base;
        inst.action = Action::Atomic(Box::new(operand), Box::new(atomic.clone()));
        Ok(())
    }

    /// Sources become: address, count or phase.
    pub(super) fn mbarrier(&mut self, i: &Instruction, m: &Mbarrier, inst: &mut Inst) -> Step {
        if m.op == MbarrierOp::PendingCount {
            let pending =
                Action::Mbarrier(Box::new(MemoryOperand::of(None, Type::B64)), Box::new(m.clone()));
            return self.simple(i, &[Type::B64], pending, inst);
        }
        let access = Access::plain(m.space, Type::B64, 1);
        let (base, operand) = self.memory_operand(i.src.first(), &access)?;
        let wide = matches!(m.op, MbarrierOp::TestWait | MbarrierOp::TryWait) && !m.parity;
        let second = match i.src.get(1) {
            Some(operand) => self.source(operand, if wide { Type::B64 } else { Type::U32 })?,
            None => self.constant(1),
        };
        if let Some(to) = i.dst.first() {
            inst.dst[0] = self.destination(to)?;
        }
        inst.src[..2].copy_from_slice(&[base, second]);
        inst.action = Action::Mbarrier(Box::new(operand), Box::new(m.clone()));
        Ok(())
    }

    pub(super) fn copy_to_shared(
        &mut self,
        i: &Instruction,
        ignore: bool,
        inst: &mut Inst,
    ) -> Step {
        let (to, to_offset, to_narrow) = self.address(i.src.first())?;
        let (from, from_offset, from_narrow) = self.address(i.src.get(1))?;
        let bytes = match i.src.get(2) {
            Some(Operand::Int(bytes @ (4 | 8 | 16))) => *bytes as u64,
            _ => return Err(Unsupported::Part("a copy of this size")),
        };
        let bytes = self.constant(bytes);
        let size = match i.copied() {
            Some(Operand::Not(reg)) => {
                inst.inverted |= 1 << 3;
                self.slot_of(*reg)
            }
            Some(operand) => self.source(operand, if ignore { Type::Pred } else { Type::U32 })?,
            None => bytes,
        };
        inst.src[..4].copy_from_slice(&[to, from, bytes, size]);
        let ignore = ignore && i.copied().is_some();
        let (offsets, narrow) = ([to_offset, from_offset], [to_narrow, from_narrow]);
        inst.action = Action::CopyToShared { offsets, narrow, ignore };
        Ok(())
    }

    // Threads together -----------------------------------------------------------------------------

    /// Sources become: number, thread count (or a constant 0), predicate.
    pub(super) fn barrier(&mut self, i: &Instruction, kind: BarKind, inst: &mut Inst) -> Step {
        let reduces = !matches!(kind, BarKind::Sync | BarKind::Arrive);
        self.values(i, &[Type::U32], inst)?;
        let counted = i.src.len() > 1 + usize::from(reduces);
        let (src, last) = (inst.src, i.src.len().saturating_sub(1));
        if inst.inverted != 0 {
            inst.inverted = 1 << 2;
        }
        inst.src[1] = if counted { src[1] } else { self.constant(0) };
        inst.src[2] = if reduces { src[last] } else { self.constant(0) };
        inst.action = Action::Barrier(kind);
        Ok(())
    }

    /// Sources become: value, mask, lane, clamp.
    pub(super) fn warp(&mut self, i: &Instruction, inst: &mut Inst) -> Step {
        let op = warp_operation(&i.op).ok_or(Unsupported::Operation)?;
        self.values(i, &[warp_value(&i.op, op), Type::B32], inst)?;
        let (src, none) = (inst.src, self.constant(0));
        inst.src = match op {
            WarpOp::Sync | WarpOp::Elect => [none, src[0], none, none, none],
            WarpOp::Activemask => [none; 5],
            WarpOp::Shfl(_) => [src[0], src[3], src[1], src[2], none],
            WarpOp::Vote(_) | WarpOp::Match { .. } | WarpOp::Redux(..) => {
                [src[0], src[1], none, none, none]
            }
            WarpOp::Matrix(_) => return Err(Unsupported::Operation),
        };
        inst.action = Action::Warp(op);
        Ok(())
    }

    /// The first source becomes the address, where there is one.
    pub(super) fn matrix(&mut self, i: &Instruction, inst: &mut Inst) -> Step {
        let Waits::Warp(WarpOp::Matrix(op)) = i.op.facts().waits else {
            return Err(Unsupported::Operation);
        };
        let mut from = Vec::new();
        let mut offset = None;
        for operand in &i.src {
            if let Operand::Address(_) = operand {
                let (base, bytes, narrow) = self.address(Some(operand))?;
                (inst.src[0], offset) = (base, Some((bytes, narrow)));
                continue;
            }
            for part in operand.lanes() {
                from.push(self.source(part, op.register())?);
            }
        }
        if let Some(stride) = op.default_stride().filter(|_| i.src.len() < op.sources()) {
            from.push(self.constant(stride.into()));
        }
        let into = i.dst.iter().flat_map(Operand::lanes).map(|part| self.destination(part));
        let into = into.collect::<Step<_>>()?;
        inst.action = Action::Matrix(Box::new(Matrix { op, offset, from: from.into(), into }));
        Ok(())
    }

    // Control --------------------------------------------------------------------------------------

    pub(super) fn branch(&self, i: &Instruction) -> Step<u32> {
        let label = i.branch_target().ok_or(Unsupported::Part("a branch without a label"))?;
        Ok(self.target(label))
    }

    /// The first source becomes the index.
    pub(super) fn branch_by_table(&mut self, i: &Instruction, inst: &mut Inst) -> Step<Box<[u32]>> {
        let table = i.branch_table().and_then(|table| self.body.tables.get(table as usize));
        let labels = &table.ok_or(Unsupported::Part("a branch without a table"))?.labels;
        let targets: Box<[u32]> = labels.iter().map(|label| self.target(*label)).collect();
        if targets.is_empty() {
            return Err(Unsupported::Part("an empty table"));
        }
        let index = i.src.first().ok_or(Unsupported::Part("too few operands"))?;
        inst.src[0] = self.source(index, Type::U32)?;
        Ok(targets)
    }

    fn target(&self, label: Label) -> u32 {
        self.labels.get(label.0 as usize).copied().unwrap_or(0)
    }

    pub(super) fn call(&mut self, i: &Instruction, inst: &mut Inst) -> Step<Call> {
        let (ptx, body) = (self.ptx, self.body);
        let (params, returns) = ptx
            .parameters_of_call(body, i)
            .ok_or(Unsupported::Part("a call without a prototype"))?;
        let target = match i.callee() {
            Some(callee) => {
                let function = &ptx.functions[callee as usize];
                match &function.body {
                    Some(_) => Target::Function(callee),
                    None => Target::Host(
                        host(&function.name)
                            .ok_or(Unsupported::Part("a function without a body"))?,
                    ),
                }
            }
            None => {
                let pointer = i.src.first().ok_or(Unsupported::Part("too few operands"))?;
                inst.src[0] = self.source(pointer, Type::U64)?;
                Target::Pointer
            }
        };
        let given = i.src.get(1..).unwrap_or(&[]);
        if given.len() != params.len() || i.dst.len() != returns.len() {
            return Err(Unsupported::Part("a call with the wrong number of arguments"));
        }
        let (mut addresses, mut stored, mut loaded) = (Vec::new(), Vec::new(), Vec::new());
        for (operand, param) in given.iter().zip(params) {
            let (address, direct) = self.passed(operand, param)?;
            if !direct {
                let slot = self.source(operand, param.ty)?;
                stored.push((addresses.len() as u32, slot, param.ty.bytes()));
            }
            addresses.push(address);
        }
        for (operand, param) in i.dst.iter().zip(returns) {
            let (address, direct) = self.passed(operand, param)?;
            if !direct {
                loaded.push((addresses.len() as u32, self.destination(operand)?, param.ty.bytes()));
            }
            addresses.push(address);
        }
        let sizes = params.iter().chain(returns).map(|param| param.bytes() as u32).collect();
        Ok(Call {
            target,
            addresses: addresses.into(),
            stored: stored.into(),
            loaded: loaded.into(),
            sizes,
            params: params.len(),
        })
    }

    /// The slot with the address of an argument or result, and whether it is a variable of the caller; a value has
    /// a place of its own.
    fn passed(&mut self, operand: &Operand, param: &Param) -> Step<(Slot, bool)> {
        if let Operand::Symbol(symbol @ Symbol::Local(local), 0) = operand {
            let variable = self
                .body
                .locals
                .get(*local as usize)
                .ok_or(Unsupported::Part("no such variable"))?;
            if variable.space == Space::Param && variable.bytes() < param.bytes() {
                return Err(Unsupported::Part("an argument shorter than its parameter"));
            }
            return Ok((self.symbol(*symbol, 0)?, true));
        }
        if param.ty.bytes() > 8 {
            return Err(Unsupported::Part("an argument of this type"));
        }
        let start = self.local_bytes.next_multiple_of(16);
        self.local_bytes = start + param.bytes().max(8);
        Ok((self.fill(Fill::Local(start)), false))
    }
}

fn host(name: &str) -> Option<Host> {
    Some(match name {
        "vprintf" => Host::Printf,
        "__assertfail" => Host::Assert,
        "malloc" => Host::Malloc,
        "free" => Host::Free,
        _ => return None,
    })
}

/// The untyped type of the same size.
fn untyped(ty: Type) -> Type {
    untyped_bits(ty.bits())
}

fn untyped_bits(bits: u32) -> Type {
    match bits {
        1 => Type::Pred,
        8 => Type::B8,
        16 => Type::B16,
        32 => Type::B32,
        64 => Type::B64,
        _ => Type::B128,
    }
}
