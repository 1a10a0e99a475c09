//! Shuffles by all threads of a warp, whose lane operands are the same for all: each group brings its values to a
//! buffer, and when its next turn begins all are there, side by side, so that what it gets is one load and a choice.

use std::mem::offset_of;

use cranelift_codegen::ir::{InstBuilder, Value, condcodes::IntCC, types};

use super::GroupLower;
use crate::{
    device::cpu::{
        abi::{BlockContext, Exchange, LANES, Shuffle, WARP},
        jit::{
            lower::{Step, Unsupported},
            span::MemorySpan,
        },
    },
    ptx::{
        inst::Instruction,
        modifier::ShflMode,
        op::{Waits, WarpOp},
        operand::Operand,
        types::Type,
    },
};

/// A word of the lanes of a warp.
const WORD: i64 = 4;

/// A shuffle of a whole warp.
#[derive(Clone, Copy)]
pub(super) struct WarpShuffle {
    mode: ShflMode,
    /// The lane operand, if it is a number.
    lane: Option<u32>,
    /// Lanes of a segment: the largest one, and the bits that name a segment.
    clamp: u32,
    segment: u32,
}

impl GroupLower<'_, '_, '_> {
    /// The shuffle that an instruction is, if it is one of a whole warp whose threads all ask in the same way.
    pub(super) fn warp_shuffle(&mut self, i: &Instruction) -> Option<WarpShuffle> {
        let Waits::Warp(WarpOp::Shfl(mode)) = i.op.facts().waits else { return None };
        let [value, lane, clamp, mask] = i.src.as_slice() else { return None };
        let constants = self.lower.plan().constants();
        if constants.word(mask) != Some(u32::MAX) {
            return None;
        }
        let bounds = constants.word(clamp)?;
        let (clamp, segment) = (bounds & 31, bounds >> 8 & 31);
        let lane_known = constants.word(lane);
        // The lanes that a quad reads from lie side by side, or are one.
        let whole = segment % LANES as u32 == 0;
        let fits = match mode {
            ShflMode::Up | ShflMode::Down => true,
            ShflMode::Bfly => lane_known.is_some(),
            ShflMode::Idx => whole,
        };
        let is_word = |operand: &Operand| match operand.reg() {
            Some(reg) => self.lower.body().registers.ty(reg).bytes() == 4,
            None => matches!(operand, Operand::Int(_)),
        };
        let uniform = self.operand_shape(lane).is_uniform() && is_word(lane);
        let result = i.dst.first().is_some_and(|to| matches!(to, Operand::Sink) || is_word(to));
        (fits && uniform && is_word(value) && result).then_some(WarpShuffle {
            mode,
            lane: lane_known,
            clamp,
            segment,
        })
    }

    /// Brings the group's values, and what the host must know where the warp is not whole.
    pub(super) fn give_shuffle(&mut self, i: &Instruction, shuffle: WarpShuffle) -> Step {
        for brought in self.each_quad(|group| group.bring_values(&i.src[0])) {
            brought?;
        }
        let by = self.lower.value(&i.src[1], Type::U32)?;
        let bounds = i64::from(shuffle.segment << 8 | shuffle.clamp);
        let bounds = self.lower.b.ins().iconst(types::I32, bounds);
        for (value, field) in [(by, offset_of!(Exchange, b)), (bounds, offset_of!(Exchange, c))] {
            let memory = self.lower.exchange_memory(field, WORD as u32, 1);
            self.lower.store(value, memory, 0);
        }
        Ok(())
    }

    fn bring_values(&mut self, operand: &Operand) -> Step {
        let Some(parts) = self.vector_source(operand, Type::B32)? else {
            return Err(Unsupported::Part("a shuffle that is not planned"));
        };
        let lane = self.first_lane();
        let memory = self.values_at(lane, false);
        self.lower.store_unaligned(parts[0], memory, 0);
        Ok(())
    }

    /// What a quad gets: its group's turn begins at a shuffle at which its whole warp met.
    pub(super) fn take_shuffle(&mut self, i: &Instruction, shuffle: WarpShuffle) {
        let lane = self.first_lane();
        let by = match shuffle.lane {
            Some(by) => self.lower.b.ins().iconst(types::I32, i64::from(by & 31)),
            None => {
                let memory = self.lower.exchange_memory(offset_of!(Exchange, b), WORD as u32, 1);
                let by = self.lower.load(types::I32, memory, 0);
                self.lower.b.ins().band_imm_u(by, 31)
            }
        };
        let lanes = self.count_from(lane, 0, 1, Type::U32)[0];
        let most = self.last_lanes(lanes, shuffle);
        let (sources, values) = match shuffle.mode {
            ShflMode::Up => {
                let from = self.lower.b.ins().isub(lane, by);
                (self.count_from(from, 0, 1, Type::U32)[0], self.values_of(from))
            }
            ShflMode::Down => {
                let from = self.lower.b.ins().iadd(lane, by);
                (self.count_from(from, 0, 1, Type::U32)[0], self.values_of(from))
            }
            ShflMode::Bfly => {
                let by = shuffle.lane.unwrap_or_default() & 31;
                let (far, near) = (by & !(LANES as u32 - 1), by & (LANES as u32 - 1));
                let from = self.lower.b.ins().bxor_imm_u(lane, i64::from(far));
                let values = self.values_of(from);
                let crossed = [0, 1, 2, 3].map(|word: u8| word ^ near as u8);
                let values = if near == 0 { values } else { self.pick(values, values, crossed) };
                let all = self.all_lanes(types::I32X4, u64::from(by));
                (self.lower.b.ins().bxor(lanes, all), values)
            }
            ShflMode::Idx => {
                let own = self.lower.b.ins().band_imm_u(lane, i64::from(shuffle.segment));
                let by = self.lower.b.ins().band_imm_u(by, i64::from(!shuffle.segment & 31));
                let from = self.lower.b.ins().bor(own, by);
                let memory = self.values_at(from, true);
                let value = self.lower.load(types::I32, memory, 0);
                let all = |group: &mut Self, v| group.count_from(v, 0, 0, Type::U32)[0];
                (all(self, from), all(self, value))
            }
        };
        let valid = match shuffle.mode {
            ShflMode::Up => IntCC::SignedGreaterThanOrEqual,
            ShflMode::Down | ShflMode::Bfly | ShflMode::Idx => IntCC::SignedLessThanOrEqual,
        };
        let valid = self.lower.b.ins().icmp(valid, sources, most);
        let never_out = shuffle.segment == 0
            && shuffle.clamp as usize == WARP - 1
            && matches!(shuffle.mode, ShflMode::Bfly | ShflMode::Idx);
        let values = if never_out {
            values
        } else {
            let own = self.values_of(lane);
            self.lower.b.ins().bitselect(valid, values, own)
        };
        self.set_vector(&i.dst[0], Type::B32, &[values]);
        if let Some(predicate) = i.dst.get(1) {
            self.set_vector(predicate, Type::Pred, &[valid]);
        }
    }

    /// The last lane, or the first one where lanes are looked for below, that each lane may get something from.
    fn last_lanes(&mut self, lanes: Value, shuffle: WarpShuffle) -> Value {
        let clamp = u64::from(shuffle.clamp & !shuffle.segment);
        let clamp = self.all_lanes(types::I32X4, clamp);
        if shuffle.segment == 0 {
            return clamp;
        }
        let segment = self.all_lanes(types::I32X4, u64::from(shuffle.segment));
        let own = self.lower.b.ins().band(lanes, segment);
        self.lower.b.ins().bor(own, clamp)
    }

    /// The lane in its warp of the quad's first thread.
    fn first_lane(&mut self) -> Value {
        let index = self.lower.current_index();
        let lane = self.lower.b.ins().band_imm_u(index, WARP as i64 - 1);
        self.lower.b.ins().iadd_imm_u(lane, (self.quad * LANES) as i64)
    }

    /// The values that four lanes brought, from the one on with this number.
    fn values_of(&mut self, first: Value) -> Value {
        let memory = self.values_at(first, true);
        self.lower.load_unaligned(types::I32X4, memory, 0)
    }

    /// Where the values of four lanes lie, from the one on with this number. Lanes are added to numbers below 32 or
    /// subtracted from such, so that they lie between -32 and 59, for which there is room.
    fn values_at(&mut self, first: Value, reads: bool) -> MemorySpan {
        const _: () = assert!(offset_of!(Shuffle, values) == WARP * WORD as usize);
        let exchange = self.lower.context_u64(offset_of!(BlockContext, exchange));
        let buffer = self.shuffle_buffer(reads);
        let buffer = self.lower.b.ins().uextend(types::I64, buffer);
        let buffer = self.lower.b.ins().iadd(exchange, buffer);
        let first = self.lower.b.ins().sextend(types::I64, first);
        let distance = self.lower.b.ins().imul_imm_s(first, WORD);
        let address = self.lower.b.ins().iadd(buffer, distance);
        let offset = offset_of!(Exchange, shuffles) + offset_of!(Shuffle, values);
        MemorySpan::new(address, offset as i64, WORD as u64 * LANES as u64)
    }
}
