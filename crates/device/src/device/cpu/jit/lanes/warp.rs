//! Operations of a whole warp: each group brings its values to a buffer, and when its next turn begins all are there,
//! side by side, so that what it gets is computed of a few vectors. How they lie there, [`Brought`] says.
//!
//! So it is where the code says that all 32 threads take part, whatever the operation is. Where not all are there, and
//! where only some take part, the host does it ([`GroupLower::hand_over_values`]).

use std::mem::offset_of;

use cranelift_codegen::ir::{InstBuilder, Value, condcodes::IntCC, types};

use super::{GroupLower, value::form};
use crate::{
    device::cpu::{
        abi::{BlockContext, Brought, Exchange, LANES, WARP},
        jit::{
            Resume,
            kernel::Brings,
            lower::{Step, Unsupported},
            span::MemorySpan,
            sync::{Handed, resume_kind},
        },
    },
    ptx::{
        inst::Instruction,
        modifier::{AtomOp, VoteMode},
        op::WarpOp,
        operand::Operand,
        types::Type,
    },
};

/// Bytes of a word that a lane brings.
const WORD: i64 = 4;
/// Where words lie in [`Brought`], and the upper halves of 64 bits.
pub(super) const WORDS: usize = offset_of!(Brought, words);
const UPPER: usize = offset_of!(Brought, upper);

impl GroupLower<'_, '_, '_> {
    /// The operation that an instruction is, if it is one of a whole warp.
    pub(super) fn whole_warp(&self, i: &Instruction) -> Option<WarpOp> {
        let Some(Resume::Warp(op)) = resume_kind(i) else { return None };
        let handed = Handed::of(i);
        let all = handed.fixed(self.lower.plan().constants()).mask == Some(u32::MAX);
        let held = self.has_vectors(&handed) && i.dst.iter().all(|to| self.is_held(to));
        let known = match op {
            WarpOp::Sync | WarpOp::Activemask | WarpOp::Elect | WarpOp::Vote(_) => true,
            WarpOp::Shfl(_) | WarpOp::Match { .. } => true,
            WarpOp::Redux(op, _) => combines(op),
            WarpOp::Matrix(_) => false,
        };
        (all && held && known).then_some(op)
    }

    /// Whether all that threads hand over is held as vectors.
    pub(super) fn has_vectors(&self, handed: &Handed<'_>) -> bool {
        let value = handed.value.is_none_or(|(operand, ty)| self.is_vector(operand, ty));
        value && handed.settings().all(|(operand, _)| self.is_vector(operand, Type::U32))
    }

    /// Whether an operand is one for [`Self::vector_source`].
    fn is_vector(&self, operand: &Operand, ty: Type) -> bool {
        match operand {
            Operand::Reg(reg) | Operand::Not(reg) => {
                let from = self.lower.body().registers.ty(*reg);
                from.bytes() == ty.bytes() && (from == Type::Pred) == (ty == Type::Pred)
            }
            Operand::Int(_) => true,
            Operand::F32(_) | Operand::F64(_) | Operand::Special(_) | Operand::Symbol(..) => false,
            Operand::Vector(_) | Operand::Bracket(_) | Operand::Address(_) => false,
            Operand::Label(_) | Operand::Table(_) | Operand::Sink => false,
        }
    }

    /// Whether a destination holds a word or a predicate.
    fn is_held(&self, to: &Operand) -> bool {
        let held = |ty: Type| ty == Type::Pred || ty.bytes() == 4;
        match to.reg() {
            Some(reg) => held(self.lower.body().registers.ty(reg)),
            None => matches!(to, Operand::Sink),
        }
    }

    /// Brings what the group's threads hand over to an operation of their whole warp.
    pub(super) fn bring(&mut self, i: &Instruction) -> Step<Brings> {
        let handed = Handed::of(i);
        self.give_settings(&handed)?;
        let Some((operand, ty)) = handed.value else { return Ok(Brings::Nothing) };
        if ty == Type::Pred {
            self.bring_bits(operand)?;
            return Ok(Brings::Bits);
        }
        let pairs = ty.bytes() == 8;
        for brought in self.each_quad(|group| group.bring_words(operand, ty)) {
            brought?;
        }
        Ok(if pairs { Brings::Pairs } else { Brings::Words })
    }

    fn bring_words(&mut self, operand: &Operand, ty: Type) -> Step {
        let parts = self.handed_vectors(operand, ty)?;
        let lane = self.first_lane();
        let words = match parts[..] {
            [low, high] => {
                [[0, 2, 4, 6], [1, 3, 5, 7]].map(|half| self.pick(low, high, half)).to_vec()
            }
            _ => parts,
        };
        for (words, field) in words.into_iter().zip([WORDS, UPPER]) {
            let memory = self.brought_at(lane, false, field);
            self.lower.store_unaligned(words, memory, 0);
        }
        Ok(())
    }

    /// Puts a bit for each of the group's threads among those of the warp.
    fn bring_bits(&mut self, operand: &Operand) -> Step {
        let masks = self.each_quad(|group| group.handed_vectors(operand, Type::Pred));
        let masks = masks.into_iter().collect::<Step<Vec<_>>>()?.concat();
        let bits = self.lane_bits(&masks);
        let index = self.lower.current_index();
        let lane = self.lower.b.ins().band_imm_u(index, WARP as i64 - 1);
        let all = self.all_bits();
        let all = self.lower.b.ins().iconst(types::I32, all);
        let [bits, own] = [bits, all].map(|bits| self.lower.b.ins().ishl(bits, lane));
        let memory = self.brought_memory(false, WORDS, 1);
        let others = self.lower.load(types::I32, memory, 0);
        let others = self.lower.b.ins().band_not(others, own);
        let bits = self.lower.b.ins().bor(others, bits);
        self.lower.store(bits, memory, 0);
        Ok(())
    }

    /// Writes what the group's threads hand over for an operation that the host does.
    pub(super) fn hand_over_values(&mut self, handed: &Handed<'_>) -> Step {
        self.give_settings(handed)?;
        let Some((operand, ty)) = handed.value else { return Ok(()) };
        let memory = self.lower.exchange_memory(offset_of!(Exchange, value), 8, self.plan.width);
        let mut at = 0;
        for parts in self.each_quad(|group| group.handed_vectors(operand, ty)) {
            let mut parts = parts?;
            if let [words] = parts[..] {
                let zero = self.all_lanes(types::I32X4, 0);
                let wide = [[0, 4, 1, 5], [2, 6, 3, 7]].map(|wide| self.pick(words, zero, wide));
                parts = wide.to_vec();
            }
            for part in parts {
                self.lower.store_unaligned(part, memory, at);
                at += 16;
            }
        }
        Ok(())
    }

    /// Writes all but the value, but for what is a number in the code.
    fn give_settings(&mut self, handed: &Handed<'_>) -> Step {
        for (operand, field) in handed.settings() {
            if self.lower.plan().constants().word(operand).is_some() {
                continue;
            }
            let memory = self.lower.exchange_memory(field, WORD as u32, self.plan.width);
            let quads = self.each_quad(|group| group.handed_vectors(operand, Type::U32));
            for (at, parts) in (0..).zip(quads) {
                self.lower.store_unaligned(parts?[0], memory, 16 * at);
            }
        }
        Ok(())
    }

    fn handed_vectors(&mut self, operand: &Operand, ty: Type) -> Step<Vec<Value>> {
        let parts = self.vector_source(operand, ty)?;
        parts.ok_or(Unsupported::Part("an operation of the warp that is not planned"))
    }

    /// What the group's threads get, whose turn begins at an operation for which their whole warp met.
    pub(super) fn take(&mut self, i: &Instruction, op: WarpOp) -> Step {
        match op {
            WarpOp::Sync => Ok(()),
            WarpOp::Activemask => {
                let all = self.lower.b.ins().iconst(types::I32, -1);
                self.set_for_all(&i.dst[0], all)
            }
            WarpOp::Elect => self.take_elected(i),
            WarpOp::Shfl(mode) => self.take_shuffle(i, mode),
            WarpOp::Vote(mode) => self.take_vote(i, mode),
            WarpOp::Redux(op, ty) => self.take_reduced(i, op, ty),
            WarpOp::Match { all } => self.take_matches(i, all),
            WarpOp::Matrix(_) => Err(Unsupported::Part("matrices in the code for groups")),
        }
    }

    /// The first lane is the one.
    fn take_elected(&mut self, i: &Instruction) -> Step {
        let first = self.lower.b.ins().iconst(types::I32, 0);
        self.set_for_all(&i.dst[0], first)?;
        let Some(elected) = i.dst.get(1) else { return Ok(()) };
        self.each_quad(|group| {
            let lane = group.first_lane();
            let lanes = group.count_from(lane, 0, 1, Type::U32)[0];
            let zero = group.all_lanes(types::I32X4, 0);
            let first = group.lower.b.ins().icmp(IntCC::Equal, lanes, zero);
            group.set_vector(elected, Type::Pred, &[first]);
        });
        Ok(())
    }

    fn take_vote(&mut self, i: &Instruction, mode: VoteMode) -> Step {
        let memory = self.brought_memory(true, WORDS, 1);
        let bits = self.lower.load(types::I32, memory, 0);
        let mut is = |all: i64| {
            let all = self.lower.b.ins().iconst(types::I32, all);
            self.lower.b.ins().icmp(IntCC::Equal, bits, all)
        };
        let result = match mode {
            VoteMode::Ballot => bits,
            VoteMode::All => is(-1),
            VoteMode::Any => {
                let none = is(0);
                self.lower.b.ins().bxor_imm_u(none, 1)
            }
            VoteMode::Uni => {
                let [all, none] = [is(-1), is(0)];
                self.lower.b.ins().bor(all, none)
            }
        };
        self.set_for_all(&i.dst[0], result)
    }

    fn take_reduced(&mut self, i: &Instruction, op: AtomOp, ty: Type) -> Step {
        let [first, others @ ..] = self.all_brought(WORDS);
        let mut sum = first;
        for other in others {
            sum = self.combined(op, ty, sum, other)?;
        }
        for crossed in [[2, 3, 0, 1], [1, 0, 3, 2]] {
            let other = self.pick(sum, sum, crossed);
            sum = self.combined(op, ty, sum, other)?;
        }
        let result = self.lower.b.ins().extractlane(sum, 0);
        self.set_for_all(&i.dst[0], result)
    }

    fn combined(&mut self, op: AtomOp, ty: Type, a: Value, b: Value) -> Step<Value> {
        let ins = self.lower.b.ins();
        Ok(match op {
            AtomOp::Add => ins.iadd(a, b),
            AtomOp::Min if ty.is_signed() => ins.smin(a, b),
            AtomOp::Min => ins.umin(a, b),
            AtomOp::Max if ty.is_signed() => ins.smax(a, b),
            AtomOp::Max => ins.umax(a, b),
            AtomOp::And => ins.band(a, b),
            AtomOp::Or => ins.bor(a, b),
            AtomOp::Xor => ins.bxor(a, b),
            AtomOp::Cas | AtomOp::Exch | AtomOp::Inc | AtomOp::Dec => {
                return Err(Unsupported::Part("a reduction of the warp that is not planned"));
            }
        })
    }

    /// Which lanes brought the same: as each thread, or, of `all`, all of them or none.
    fn take_matches(&mut self, i: &Instruction, all: bool) -> Step {
        let pairs = Handed::of(i).value.is_some_and(|(_, ty)| ty.bytes() == 8);
        let fields = if pairs { &[WORDS, UPPER][..] } else { &[WORDS] };
        let brought: Vec<_> = fields.iter().map(|of| (*of, self.all_brought(*of))).collect();
        if all {
            let first = self.lower.b.ins().iconst(types::I32, 0);
            let same = self.lanes_with(first, &brought);
            let agreed = self.lower.b.ins().icmp_imm_s(IntCC::Equal, same, -1);
            let [every, none] = [-1, 0].map(|bits| self.lower.b.ins().iconst(types::I32, bits));
            let result = self.lower.b.ins().select(agreed, every, none);
            self.set_for_all(&i.dst[0], result)?;
            return i.dst.get(1).map_or(Ok(()), |to| self.set_for_all(to, agreed));
        }
        self.each_quad(|group| {
            let first = group.first_lane();
            let same = (0..LANES as i64).map(|lane| {
                let lane = group.lower.b.ins().iadd_imm_u(first, lane);
                group.lanes_with(lane, &brought)
            });
            let same: Vec<Value> = same.collect();
            let same = group.join_lanes(&same, Type::U32);
            group.set_vector(&i.dst[0], Type::B32, &same);
        });
        Ok(())
    }

    /// A bit for each lane that brought the same as one of them.
    fn lanes_with(&mut self, lane: Value, brought: &[(usize, [Value; WARP / LANES])]) -> Value {
        let mut same = self.lower.b.ins().iconst(types::I32, -1);
        for (field, words) in brought {
            let own = self.brought_at(lane, true, *field);
            let own = self.lower.load(types::I32, own, 0);
            let own = self.lower.b.ins().splat(types::I32X4, own);
            let equal = words.map(|words| self.lower.b.ins().icmp(IntCC::Equal, words, own));
            let bits = self.lane_bits(&equal);
            same = self.lower.b.ins().band(same, bits);
        }
        same
    }

    /// Writes what is the same for all threads, a word or a predicate.
    fn set_for_all(&mut self, to: &Operand, value: Value) -> Step {
        let Some(reg) = to.reg() else { return Ok(()) };
        if self.shape(reg).stride().is_some() {
            return self.lower.set_operand(to, value);
        }
        let ty = self.lower.body().registers.ty(reg);
        let (vector, _) = form(ty);
        let ty = if ty == Type::Pred { ty } else { Type::U32 };
        let parts = self.spread_all(value, 0, ty);
        let parts: Vec<_> = parts.into_iter().map(|part| self.recast(part, vector)).collect();
        self.set_all_vectors(reg, &parts);
        Ok(())
    }

    /// The lane in its warp of the quad's first thread.
    pub(super) fn first_lane(&mut self) -> Value {
        let index = self.lower.current_index();
        let lane = self.lower.b.ins().band_imm_u(index, WARP as i64 - 1);
        self.lower.b.ins().iadd_imm_u(lane, (self.quad * LANES) as i64)
    }

    /// The words that all lanes brought, from one of the fields of [`Brought`].
    fn all_brought(&mut self, field: usize) -> [Value; WARP / LANES] {
        let buffer = self.brought_memory(true, field, WARP);
        let mut at = -16;
        [(); WARP / LANES].map(|()| {
            at += 16;
            self.lower.load_unaligned(types::I32X4, buffer, at)
        })
    }

    /// The words that four lanes brought, from the one on with this number.
    pub(super) fn brought_by(&mut self, first: Value) -> Value {
        let memory = self.brought_at(first, true, WORDS);
        self.lower.load_unaligned(types::I32X4, memory, 0)
    }

    /// Where the words of four lanes lie, from the one on with this number. Lanes are added to numbers below 32 or
    /// subtracted from such, so that they lie between -32 and 59, for which there is room.
    pub(super) fn brought_at(&mut self, first: Value, reads: bool, field: usize) -> MemorySpan {
        let MemorySpan { base, offset, .. } = self.brought_memory(reads, field, LANES);
        let first = self.lower.b.ins().sextend(types::I64, first);
        let distance = self.lower.b.ins().imul_imm_s(first, WORD);
        let address = self.lower.b.ins().iadd(base, distance);
        MemorySpan::new(address, offset, WORD as u64 * LANES as u64)
    }

    /// The words of so many lanes, from the first one on, in the buffer that groups read or bring something to.
    fn brought_memory(&mut self, reads: bool, field: usize, lanes: usize) -> MemorySpan {
        const _: () = assert!(WORDS == WARP * WORD as usize && UPPER == 2 * WORDS);
        let exchange = self.lower.context_u64(offset_of!(BlockContext, exchange));
        let buffer = self.warp_buffer(reads);
        let buffer = self.lower.b.ins().uextend(types::I64, buffer);
        let buffer = self.lower.b.ins().iadd(exchange, buffer);
        let offset = offset_of!(Exchange, brought) + field;
        MemorySpan::new(buffer, offset as i64, WORD as u64 * lanes as u64)
    }
}

/// Whether it is a reduction of a warp's words.
fn combines(op: AtomOp) -> bool {
    match op {
        AtomOp::Add | AtomOp::Min | AtomOp::Max | AtomOp::And | AtomOp::Or | AtomOp::Xor => true,
        AtomOp::Cas | AtomOp::Exch | AtomOp::Inc | AtomOp::Dec => false,
    }
}
