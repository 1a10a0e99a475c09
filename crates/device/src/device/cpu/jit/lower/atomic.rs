//! `atom` and `red`. What only one block can reach needs no atomicity: a block runs on one core at a time.

use cranelift_codegen::ir::{AtomicRmwOp, BlockArg, InstBuilder, Value, condcodes::IntCC, types};

use super::{
    Lower, Step, Unsupported, clif_type, int_type,
    memory::{Checked, Window, address_operand},
};
use crate::{
    device::cpu::jit::span::MemorySpan,
    ptx::{
        inst::Instruction,
        modifier::{AtomOp, Atomic},
        operand::Operand,
        types::{Space, Type},
    },
};

impl Lower<'_, '_> {
    pub(super) fn atomic(&mut self, i: &Instruction, atomic: &Atomic) -> Step {
        let bytes = atomic.ty.bytes() * u32::from(atomic.lanes.max(1));
        let checked = Checked { space: atomic.space, bytes, write: true };
        let address = address_operand(i, 0)?;
        let memory = self.locate(&address, checked)?;
        if atomic.lanes > 1 {
            return self.atomic_lanes(i, atomic, memory, checked);
        }
        let operand = self.source(i, 1, atomic.ty)?;
        let third = match i.src.get(2) {
            Some(_) if atomic.op == AtomOp::Cas => Some(self.source(i, 2, atomic.ty)?),
            _ => None,
        };
        let old = if checked.is_private() {
            self.change(memory, 0, atomic, operand, third)?
        } else {
            self.change_atomically(memory, 0, atomic, operand, third)?
        };
        match i.dst.first() {
            Some(destination) => self.set_extended(destination, old, atomic.ty),
            None => Ok(()),
        }
    }

    /// Of a vector each lane is atomic, not the whole (PTX ISA, `atom`).
    fn atomic_lanes(
        &mut self,
        i: &Instruction,
        atomic: &Atomic,
        memory: MemorySpan,
        checked: Checked,
    ) -> Step {
        let operands = i.src.get(1).map_or(&[][..], Operand::lanes);
        let destinations = i.dst.first().map_or(&[][..], Operand::lanes);
        for (lane, operand) in operands.iter().enumerate() {
            let at = i64::from(atomic.ty.bytes()) * lane as i64;
            let operand = self.value(operand, atomic.ty)?;
            let old = if checked.is_private() {
                self.change(memory, at, atomic, operand, None)?
            } else {
                self.change_atomically(memory, at, atomic, operand, None)?
            };
            if let Some(destination) = destinations.get(lane) {
                self.set_extended(destination, old, atomic.ty)?;
            }
        }
        Ok(())
    }

    fn change(
        &mut self,
        memory: MemorySpan,
        at: i64,
        a: &Atomic,
        b: Value,
        c: Option<Value>,
    ) -> Step<Value> {
        let old = self.load(clif_type(a.ty), memory, at);
        let new = self.changed(memory, a, old, b, c)?;
        self.store(new, memory, at);
        Ok(old)
    }

    fn change_atomically(
        &mut self,
        memory: MemorySpan,
        at: i64,
        a: &Atomic,
        b: Value,
        c: Option<Value>,
    ) -> Step<Value> {
        let ty = clif_type(a.ty);
        let int = int_type(ty.bytes());
        if let (AtomOp::Cas, Some(new)) = (a.op, c) {
            let [expected, new] = [b, new].map(|value| self.fit(value, int));
            return Ok(self.compare_and_swap([expected, new], memory, at));
        }
        if let Some(op) = direct(a) {
            let operand = self.fit(b, int);
            return Ok(self.update_atomic(op, operand, memory, at));
        }
        self.change_by_exchange(memory, at, a, b)
    }

    /// What no machine instruction does: computed, and stored if nobody was faster.
    fn change_by_exchange(
        &mut self,
        memory: MemorySpan,
        at: i64,
        a: &Atomic,
        b: Value,
    ) -> Step<Value> {
        let int = int_type(a.ty.bytes());
        let first = self.load_atomic(int, memory, at);
        let [again, done] = [(); 2].map(|()| self.b.create_block());
        let expected = self.b.append_block_param(again, int);
        let result = self.b.append_block_param(done, int);
        self.b.ins().jump(again, &[BlockArg::Value(first)]);
        self.b.switch_to_block(again);
        let old = self.fit(expected, clif_type(a.ty));
        let new = self.changed(memory, a, old, b, None)?;
        let new = self.fit(new, int);
        let found = self.compare_and_swap([expected, new], memory, at);
        let same = self.b.ins().icmp(IntCC::Equal, found, expected);
        let found = [BlockArg::Value(found)];
        self.b.ins().brif(same, done, &found, again, &found);
        self.b.switch_to_block(done);
        Ok(self.fit(result, clif_type(a.ty)))
    }

    /// What an atomic operation makes of the old value.
    fn changed(
        &mut self,
        memory: MemorySpan,
        a: &Atomic,
        old: Value,
        b: Value,
        c: Option<Value>,
    ) -> Step<Value> {
        let signed = a.ty.is_signed();
        Ok(match a.op {
            AtomOp::Add if a.ty == Type::F32 => self.single_sum(memory, a, old, b),
            AtomOp::Add | AtomOp::Min | AtomOp::Max if a.ty.is_float() => {
                return self.float_change(a.ty, a.op, old, b);
            }
            AtomOp::Add => self.b.ins().iadd(old, b),
            AtomOp::And => self.b.ins().band(old, b),
            AtomOp::Or => self.b.ins().bor(old, b),
            AtomOp::Xor => self.b.ins().bxor(old, b),
            AtomOp::Exch => b,
            AtomOp::Min if signed => self.b.ins().smin(old, b),
            AtomOp::Max if signed => self.b.ins().smax(old, b),
            AtomOp::Min => self.b.ins().umin(old, b),
            AtomOp::Max => self.b.ins().umax(old, b),
            AtomOp::Cas => {
                let same = self.b.ins().icmp(IntCC::Equal, old, b);
                let new = c.ok_or(Unsupported::Part("too few operands"))?;
                self.b.ins().select(same, new, old)
            }
            AtomOp::Inc => {
                let full = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, old, b);
                let zero = self.int(0, clif_type(a.ty));
                let more = self.b.ins().iadd_imm_u(old, 1);
                self.b.ins().select(full, zero, more)
            }
            AtomOp::Dec => {
                let zero = self.b.ins().icmp_imm_u(IntCC::Equal, old, 0);
                let above = self.b.ins().icmp(IntCC::UnsignedGreaterThan, old, b);
                let wraps = self.b.ins().bor(zero, above);
                let less = self.b.ins().iadd_imm_s(old, -1);
                self.b.ins().select(wraps, b, less)
            }
        })
    }

    /// Subnormal operands and sums are zeros of their sign, but in shared memory (PTX ISA, `atom`).
    fn single_sum(&mut self, memory: MemorySpan, atomic: &Atomic, a: Value, b: Value) -> Value {
        let kept = self.b.ins().fadd(a, b);
        if atomic.space.is_some_and(Space::is_of_block) {
            return kept;
        }
        let [a, b] = [a, b].map(|value| self.flushed_bits(value, Type::F32, true));
        let sum = self.b.ins().fadd(a, b);
        let sum = self.flushed_bits(sum, Type::F32, true);
        if atomic.space.is_some() {
            return sum;
        }
        let address = self.address_of(memory);
        let in_shared = self.lies_in(address, Window::Shared);
        self.b.ins().select(in_shared, kept, sum)
    }

    fn float_operation(&mut self, op: AtomOp, a: Value, b: Value) -> Step<Value> {
        Ok(match op {
            AtomOp::Min => self.number_min_max(a, b, false, true),
            AtomOp::Max => self.number_min_max(a, b, false, false),
            AtomOp::Add => self.b.ins().fadd(a, b),
            AtomOp::And | AtomOp::Or | AtomOp::Xor | AtomOp::Inc | AtomOp::Dec => {
                return Err(Unsupported::Part("this atomic operation"));
            }
            AtomOp::Cas | AtomOp::Exch => return Err(Unsupported::Part("this atomic operation")),
        })
    }

    fn float_change(&mut self, ty: Type, op: AtomOp, a: Value, b: Value) -> Step<Value> {
        if !ty.is_packed() && ty.bytes() > 2 {
            return self.float_operation(op, a, b);
        }
        let lanes: &[i64] = if ty.is_packed() { &[0, 16] } else { &[0] };
        let mut word = None;
        for &shift in lanes {
            let mut sum = Vec::new();
            for value in [a, b] {
                let value = self.fit(value, types::I32);
                let moved = self.b.ins().ushr_imm_u(value, shift);
                let half = self.b.ins().ireduce(types::I16, moved);
                sum.push(self.widen_half(half, ty.element())?);
            }
            let sum = self.float_operation(op, sum[0], sum[1])?;
            let half = self.narrow_half(sum, ty.element())?;
            let lane = self.b.ins().uextend(types::I32, half);
            let lane = self.b.ins().ishl_imm_u(lane, shift);
            word = Some(match word {
                None => lane,
                Some(word) => self.b.ins().bor(word, lane),
            });
        }
        let word = word.ok_or(Unsupported::Operation)?;
        Ok(self.fit(word, clif_type(ty)))
    }
}

/// The machine's own operation, where there is one.
fn direct(a: &Atomic) -> Option<AtomicRmwOp> {
    if a.ty.is_float() && a.op != AtomOp::Exch {
        return None;
    }
    Some(match (a.op, a.ty.is_signed()) {
        (AtomOp::Add, _) => AtomicRmwOp::Add,
        (AtomOp::And, _) => AtomicRmwOp::And,
        (AtomOp::Or, _) => AtomicRmwOp::Or,
        (AtomOp::Xor, _) => AtomicRmwOp::Xor,
        (AtomOp::Exch, _) => AtomicRmwOp::Xchg,
        (AtomOp::Min, true) => AtomicRmwOp::Smin,
        (AtomOp::Max, true) => AtomicRmwOp::Smax,
        (AtomOp::Min, false) => AtomicRmwOp::Umin,
        (AtomOp::Max, false) => AtomicRmwOp::Umax,
        (AtomOp::Cas | AtomOp::Inc | AtomOp::Dec, _) => return None,
    })
}
