//! Shuffles of a whole warp. Where the lanes that a quad reads from lie side by side, or are one, they are one load;
//! else each thread loads from its own.

use std::mem::offset_of;

use cranelift_codegen::ir::{InstBuilder, Value, condcodes::IntCC, types};

use super::{GroupLower, warp::WORDS};
use crate::{
    device::cpu::{
        abi::{Exchange, LANES, WARP},
        jit::{
            lower::{Step, Unsupported},
            sync::Handed,
        },
    },
    ptx::{inst::Instruction, modifier::ShflMode, types::Type},
};

/// Which lanes a shuffle is among: the largest one of a segment, and the bits that name a segment. The same for all
/// threads.
#[derive(Clone, Copy)]
struct Segments {
    clamp: u32,
    segment: u32,
}

impl Segments {
    fn new(bounds: u32) -> Self {
        Self { clamp: bounds & 31, segment: bounds >> 8 & 31 }
    }
}

impl GroupLower<'_, '_, '_> {
    /// What the group's threads get of a shuffle.
    pub(super) fn take_shuffle(&mut self, i: &Instruction, mode: ShflMode) -> Step {
        let handed = Handed::of(i);
        let fixed = handed.fixed(self.lower.plan().constants());
        let lane = handed.b.ok_or(Unsupported::Part("a shuffle without a lane"))?;
        let uniform = self.operand_shape(lane).is_uniform();
        let segments = fixed.c.map(Segments::new).filter(|_| uniform);
        // The lanes that a quad reads from lie side by side, or are one.
        let near = segments.filter(|segments| match mode {
            ShflMode::Up | ShflMode::Down => true,
            ShflMode::Bfly => fixed.b.is_some(),
            ShflMode::Idx => segments.segment % LANES as u32 == 0,
        });
        self.each_quad(|group| {
            let (values, valid) = match near {
                Some(segments) => group.shuffled_together(mode, fixed.b, segments),
                None => group.shuffled_singly(mode, [fixed.b, fixed.c]),
            };
            group.set_vector(&i.dst[0], Type::B32, &[values]);
            if let Some(predicate) = i.dst.get(1) {
                group.set_vector(predicate, Type::Pred, &[valid]);
            }
        });
        Ok(())
    }

    /// What a quad gets, and whether from a lane that it may get something from; the lane operand is the same for all.
    fn shuffled_together(
        &mut self,
        mode: ShflMode,
        by: Option<u32>,
        segments: Segments,
    ) -> (Value, Value) {
        let lane = self.first_lane();
        let near = by.unwrap_or_default() & (LANES as u32 - 1);
        let far = by.unwrap_or_default() & 31 & !(LANES as u32 - 1);
        let by = match by {
            Some(by) => self.lower.b.ins().iconst(types::I32, i64::from(by & 31)),
            None => {
                let memory = self.lower.exchange_memory(offset_of!(Exchange, b), 4, 1);
                let by = self.lower.load(types::I32, memory, 0);
                self.lower.b.ins().band_imm_u(by, 31)
            }
        };
        let lanes = self.count_from(lane, 0, 1, Type::U32)[0];
        let (sources, values) = match mode {
            ShflMode::Up => {
                let from = self.lower.b.ins().isub(lane, by);
                (self.count_from(from, 0, 1, Type::U32)[0], self.brought_by(from))
            }
            ShflMode::Down => {
                let from = self.lower.b.ins().iadd(lane, by);
                (self.count_from(from, 0, 1, Type::U32)[0], self.brought_by(from))
            }
            ShflMode::Bfly => {
                let from = self.lower.b.ins().bxor_imm_u(lane, i64::from(far));
                let values = self.brought_by(from);
                let crossed = [0, 1, 2, 3].map(|word: u8| word ^ near as u8);
                let values = if near == 0 { values } else { self.pick(values, values, crossed) };
                let all = self.all_lanes(types::I32X4, u64::from(far | near));
                (self.lower.b.ins().bxor(lanes, all), values)
            }
            ShflMode::Idx => {
                let own = self.lower.b.ins().band_imm_u(lane, i64::from(segments.segment));
                let by = self.lower.b.ins().band_imm_u(by, i64::from(!segments.segment & 31));
                let from = self.lower.b.ins().bor(own, by);
                let memory = self.brought_at(from, true, WORDS);
                let value = self.lower.load(types::I32, memory, 0);
                let all = |group: &mut Self, v| group.count_from(v, 0, 0, Type::U32)[0];
                (all(self, from), all(self, value))
            }
        };
        let [segment, clamp] = [segments.segment, segments.clamp & !segments.segment]
            .map(|bits| self.all_lanes(types::I32X4, bits.into()));
        let most = self.last_lanes(lanes, segment, clamp);
        let valid = self.lower.b.ins().icmp(valid_where(mode), sources, most);
        let never_out = segments.segment == 0
            && segments.clamp as usize == WARP - 1
            && matches!(mode, ShflMode::Bfly | ShflMode::Idx);
        let values = if never_out {
            values
        } else {
            let own = self.brought_by(lane);
            self.lower.b.ins().bitselect(valid, values, own)
        };
        (values, valid)
    }

    /// As [`Self::shuffled_together`], where each thread has a lane operand of its own, or bounds.
    fn shuffled_singly(&mut self, mode: ShflMode, fixed: [Option<u32>; 2]) -> (Value, Value) {
        let lane = self.first_lane();
        let lanes = self.count_from(lane, 0, 1, Type::U32)[0];
        let fields = [offset_of!(Exchange, b), offset_of!(Exchange, c)];
        let mut settings = fixed.into_iter().zip(fields).map(|(fixed, field)| match fixed {
            Some(number) => self.all_lanes(types::I32X4, number.into()),
            None => {
                let memory = self.lower.exchange_memory(field, 4, self.plan.width);
                self.lower.load_unaligned(types::I32X4, memory, 16 * self.quad as i64)
            }
        });
        let (by, bounds) = (settings.next().unwrap_or(lanes), settings.next().unwrap_or(lanes));
        let low = self.all_lanes(types::I32X4, 31);
        let by = self.lower.b.ins().band(by, low);
        let clamp = self.lower.b.ins().band(bounds, low);
        let segment = self.lower.b.ins().ushr_imm_u(bounds, 8);
        let segment = self.lower.b.ins().band(segment, low);
        let clamp = self.lower.b.ins().band_not(clamp, segment);
        let most = self.last_lanes(lanes, segment, clamp);
        let sources = match mode {
            ShflMode::Up => self.lower.b.ins().isub(lanes, by),
            ShflMode::Down => self.lower.b.ins().iadd(lanes, by),
            ShflMode::Bfly => self.lower.b.ins().bxor(lanes, by),
            ShflMode::Idx => {
                let by = self.lower.b.ins().band_not(by, segment);
                let own = self.lower.b.ins().band(lanes, segment);
                self.lower.b.ins().bor(own, by)
            }
        };
        let valid = self.lower.b.ins().icmp(valid_where(mode), sources, most);
        let from = self.lower.b.ins().bitselect(valid, sources, lanes);
        let values = [0, 1, 2, 3].map(|lane| {
            let from = self.lower.b.ins().extractlane(from, lane);
            let memory = self.brought_at(from, true, WORDS);
            self.lower.load(types::I32, memory, 0)
        });
        (self.join_lanes(&values, Type::U32)[0], valid)
    }

    /// The last lane, or the first one where lanes are looked for below, that each lane may get something from.
    fn last_lanes(&mut self, lanes: Value, segment: Value, clamp: Value) -> Value {
        let own = self.lower.b.ins().band(lanes, segment);
        self.lower.b.ins().bor(own, clamp)
    }
}

/// How a lane that something may be got from compares to the last one of those.
fn valid_where(mode: ShflMode) -> IntCC {
    match mode {
        ShflMode::Up => IntCC::SignedGreaterThanOrEqual,
        ShflMode::Down | ShflMode::Bfly | ShflMode::Idx => IntCC::SignedLessThanOrEqual,
    }
}
