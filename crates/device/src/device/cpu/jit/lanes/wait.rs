//! Places where a group waits: as for single threads, all of the group's at a time.

use std::mem::offset_of;

use cranelift_codegen::ir::{Block, InstBuilder, Value, condcodes::IntCC, types};
use cranelift_frontend::FunctionBuilder;

use super::{GroupLower, meet::packed};
use crate::{
    device::cpu::{
        abi::{BLOCKED, Exchange, OPENS},
        jit::{
            Packed, Reduce, Resume, Schedule,
            kernel::PackedRegister,
            lower::{Step, Unsupported, clif_type},
            span::MemorySpan,
            sync::{Point, resume_kind},
        },
    },
    ptx::{
        inst::Instruction,
        op::{Waits, WarpOp},
        operand::Reg,
        types::Type,
    },
};

/// Where a group goes on that waited.
#[derive(Clone, Copy)]
pub(super) struct Resumes {
    /// One that came there as a group.
    pub(super) packed: Block,
    /// One whose threads are at the same place, however they came there.
    pub(super) alike: Block,
}

impl Resumes {
    pub(super) fn new(b: &mut FunctionBuilder<'_>) -> Self {
        let [packed, alike] = [(); 2].map(|()| b.create_block());
        Self { packed, alike }
    }
}

impl GroupLower<'_, '_, '_> {
    /// As `wait`, and with the same places for registers; but of those that differ by a constant from thread to thread,
    /// the first one's alone is stored.
    pub(super) fn group_waits(&mut self, at: usize, i: &Instruction, resumes: Resumes) -> Step {
        let point = self.lower.plan().point(at)?;
        let shuffle = self.warp_shuffle(i);
        match shuffle {
            Some(shuffle) => self.give_shuffle(i, shuffle)?,
            None if self.lower.plan().schedule == Schedule::Warp => self.group_hands_over(i)?,
            None => {}
        }
        self.pack(&point, shuffle.is_some());
        let opens = if shuffle.is_some() || self.opens_itself(i) { OPENS } else { 0 };
        let state = packed(point.state) | BLOCKED | opens;
        self.set_states(state);
        let next = self.lower.targets().next();
        self.lower.b.ins().jump(next, &[]);

        let reload = self.lower.b.create_block();
        let is_packed = self.lower.b.append_block_param(reload, types::I8);
        for (block, by) in [(resumes.packed, 1), (resumes.alike, 0)] {
            self.lower.begin_block(block);
            if by == 0 {
                self.diverge_unless_alike(&point.spills);
            }
            let by = self.lower.b.ins().iconst(types::I8, by);
            self.lower.b.ins().jump(reload, &[by.into()]);
        }
        self.lower.begin_block(reload);
        self.reload_vectors(&point)?;
        let Some(shuffle) = shuffle else { return self.group_receives(i) };
        let [warp, host, on] = [(); 3].map(|()| self.lower.b.create_block());
        self.lower.b.ins().brif(is_packed, warp, &[], host, &[]);
        self.lower.begin_block(warp);
        self.each_quad(|group| group.take_shuffle(i, shuffle));
        self.lower.b.ins().jump(on, &[]);
        self.lower.begin_block(host);
        self.group_receives(i)?;
        self.lower.b.ins().jump(on, &[]);
        self.lower.begin_block(on);
        Ok(())
    }

    /// Writes the state of all threads of the group.
    pub(super) fn set_states(&mut self, state: u32) {
        let states = self.lower.state_memory(self.plan.width);
        let state = self.all_lanes(types::I32X4, u64::from(state));
        self.store_in_all(state, states);
    }

    /// Stores the same words for each quad.
    fn store_in_all(&mut self, words: Value, memory: MemorySpan) {
        for quad in 0..self.quads() as i64 {
            self.lower.store_unaligned(words, memory, 16 * quad);
        }
    }

    /// Whether threads go on as soon as all have come that run together.
    fn opens_itself(&self, i: &Instruction) -> bool {
        let all = || {
            let constants = self.lower.plan().constants();
            i.src.first().and_then(|mask| constants.word(mask)) == Some(u32::MAX)
        };
        match self.lower.plan().schedule {
            // It has no barrier but the one of all threads.
            Schedule::Block => true,
            Schedule::Warp => i.op.facts().waits == Waits::Warp(WarpOp::Sync) && all(),
            Schedule::Free => false,
        }
    }

    /// What others need to know of the group's threads.
    fn group_hands_over(&mut self, i: &Instruction) -> Step {
        let kind = resume_kind(i).ok_or(Unsupported::Part("not a place to wait"))?;
        let mut uses = Vec::new();
        i.for_each_use(|reg| uses.push(reg));
        let uniform = uses.iter().all(|reg| self.shape(*reg).is_uniform());
        let [mask, count] = [offset_of!(Exchange, mask), offset_of!(Exchange, b)];
        let barrier = kind == Resume::Barrier { reduce: Reduce::Nothing };
        let sync = kind == Resume::Warp(WarpOp::Sync);
        if !uniform || !barrier && !sync {
            return self.per_lane(&uses, &[], None, |lower| lower.hand_over(i, kind));
        }
        for (operand, field) in [(0, mask), (1, count)] {
            let value = match i.src.get(operand) {
                Some(operand) => self.lower.value(operand, Type::U32)?,
                None => self.lower.b.ins().iconst(types::I32, 0),
            };
            let all = self.lower.b.ins().splat(types::I32X4, value);
            let memory = self.lower.exchange_memory(field, 4, self.plan.width);
            self.store_in_all(all, memory);
        }
        Ok(())
    }

    /// Writes what the group's threads get for their waiting.
    fn group_receives(&mut self, i: &Instruction) -> Step {
        let mut defs = Vec::new();
        i.for_each_def(|reg| defs.push(reg));
        if defs.is_empty() {
            return Ok(());
        }
        self.per_lane(&[], &defs, None, |lower| lower.receive(i))
    }

    fn pack(&mut self, point: &Point, shuffles: bool) {
        let mut registers = Vec::new();
        for &(reg, offset) in &point.spills {
            let ty = self.lower.body().registers.ty(reg);
            let bytes = clif_type(ty).bytes().max(4);
            let memory = self.lower.spill_memory(offset, bytes, self.plan.width);
            if let Some(stride) = self.shape(reg).stride() {
                let first = self.lower.b.use_var(self.lower.variable(reg));
                if !self.is_stored(first, offset) {
                    let first = if clif_type(ty).bytes() < 4 {
                        self.lower.b.ins().uextend(types::I32, first)
                    } else {
                        first
                    };
                    self.lower.store(first, memory, 0);
                }
                registers.push(PackedRegister { offset, bytes: bytes as usize, stride });
                continue;
            }
            let mut at = 0;
            for part in self.spill_parts(reg, ty) {
                if !self.is_stored(part, offset + at as usize) {
                    self.lower.store_unaligned(part, memory, at);
                }
                at += i64::from(self.lower.b.func.dfg.value_type(part).bytes());
            }
        }
        self.lower.plan_mut().packed[point.state as usize] = Packed { registers, shuffles };
    }

    /// Whether a value is what was loaded from a place among the spilled registers since the group's turn began, and so
    /// lies there already.
    fn is_stored(&self, value: Value, place: usize) -> bool {
        let value = self.lower.b.func.dfg.resolve_aliases(value);
        self.reloaded.get(&value) == Some(&place)
    }

    /// All values of a register that varies, as they lie one behind the other.
    fn spill_parts(&mut self, reg: Reg, ty: Type) -> Vec<Value> {
        let parts = self.all_vectors(reg);
        if ty == Type::Pred {
            let one = self.all_lanes(types::I32X4, 1);
            return parts.into_iter().map(|part| self.lower.b.ins().band(part, one)).collect();
        }
        match ty.bytes() < 4 {
            true => parts.into_iter().map(|p| self.lower.b.ins().uextend(types::I32, p)).collect(),
            false => parts,
        }
    }

    /// What does not vary between threads that go one way does once they went different ones: such a group is no
    /// group any more, although all are at the same place.
    fn diverge_unless_alike(&mut self, spills: &[(Reg, usize)]) {
        if !self.may_diverge() {
            return;
        }
        let mut alike = None;
        for &(reg, offset) in spills {
            let Some(stride) = self.shape(reg).stride() else { continue };
            let bytes = self.lower.body().registers.ty(reg).bytes();
            for equal in self.compare_spilled(offset, stride, bytes) {
                alike = Some(match alike {
                    None => equal,
                    Some(alike) => self.lower.b.ins().band(alike, equal),
                });
            }
        }
        let Some(alike) = alike else { return };
        let all = self.lower.b.ins().vall_true(alike);
        self.diverge_unless(all, Self::leave_singly);
    }

    /// Masks of whether spilled values of a register of so many `bytes` differ by the stride, as vectors of words.
    fn compare_spilled(&mut self, offset: usize, stride: i64, bytes: u32) -> Vec<Value> {
        let (ty, int, form) = match bytes {
            16 => return self.compare_spilled_pairs(offset),
            8 => (Type::B64, types::I64, types::I64X2),
            _ => (Type::B32, types::I32, types::I32X4),
        };
        let memory = self.lower.spill_memory(offset, int.bytes(), self.plan.width);
        let first = self.lower.load_unaligned(int, memory, 0);
        let due = self.spread_all(first, stride, ty);
        let equal = due.into_iter().enumerate().map(|(index, due)| {
            let found = self.lower.load_unaligned(form, memory, 16 * index as i64);
            let equal = self.lower.b.ins().icmp(IntCC::Equal, found, due);
            self.recast(equal, types::I32X4)
        });
        equal.collect()
    }

    /// As [`Self::compare_spilled`], of 128 bits: there is no arithmetic of these, so that they differ by nothing or
    /// are not alike.
    fn compare_spilled_pairs(&mut self, offset: usize) -> Vec<Value> {
        let form = types::I64X2;
        let memory = self.lower.spill_memory(offset, form.bytes(), self.plan.width);
        let first = self.lower.load_unaligned(form, memory, 0);
        let equal = (1..self.plan.width as i64).map(|lane| {
            let found = self.lower.load_unaligned(form, memory, 16 * lane);
            let equal = self.lower.b.ins().icmp(IntCC::Equal, found, first);
            self.recast(equal, types::I32X4)
        });
        equal.collect()
    }

    fn reload_vectors(&mut self, point: &Point) -> Step {
        for &reg in &point.made_again {
            let value = self.lower.constant(reg)?;
            if self.shape(reg).stride().is_some() {
                self.lower.b.def_var(self.lower.variable(reg), value);
            } else {
                let parts = self.spread_all(value, 0, self.lower.body().registers.ty(reg));
                self.set_all_vectors(reg, &parts);
            }
        }
        for &(reg, offset) in &point.spills {
            let ty = self.lower.body().registers.ty(reg);
            let clif = clif_type(ty);
            let stored = if clif.bytes() < 4 { types::I32 } else { clif };
            let memory = self.lower.spill_memory(offset, stored.bytes(), self.plan.width);
            if self.shape(reg).stride().is_some() {
                let first = self.lower.load_unaligned(stored, memory, 0);
                self.reloaded.insert(first, offset);
                let first = self.lower.fit(first, clif);
                self.lower.b.def_var(self.lower.variable(reg), first);
                continue;
            }
            let (form, count) = super::value::form(ty);
            let form = if form.bytes() < 4 { types::I32 } else { form };
            let mut parts = Vec::new();
            for index in 0..count * self.quads() {
                let at = index as i64 * i64::from(form.bytes());
                let part = self.lower.load_unaligned(form, memory, at);
                self.reloaded.insert(part, offset + at as usize);
                parts.push(if ty == Type::Pred {
                    let zero = self.all_lanes(types::I32X4, 0);
                    self.lower.b.ins().icmp(IntCC::NotEqual, part, zero)
                } else if clif.bytes() < 4 {
                    self.lower.fit(part, clif)
                } else {
                    part
                });
            }
            self.set_all_vectors(reg, &parts);
        }
        Ok(())
    }
}
