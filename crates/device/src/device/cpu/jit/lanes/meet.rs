//! Where all groups that run together wait at one place: all of a warp at an operation of the warp, all of a block at
//! its barrier. Then none of them waits any more, and their next turn begins at once, within the compiled code: the
//! code between two such places is a loop over the groups, and what lives between them lies in arrays.
//!
//! Each group that waits writes where; behind the last one's turn it is looked up whether all wrote the same. If not
//! (some have ended, diverged, or wait elsewhere), the host finds out who can go on.

use std::mem::offset_of;

use cranelift_codegen::ir::{Block, InstBuilder, Value, condcodes::IntCC, types};
use cranelift_frontend::{FunctionBuilder, Variable};

use super::GroupLower;
use crate::device::cpu::{
    abi::{BLOCKED, BlockContext, Brought, DONE, LANES, OPENS_BLOCK, OPENS_WARP, WARP},
    jit::{Schedule, span::MemorySpan},
};

/// Threads whose states are looked at together.
const COMPARED: i64 = 4 * LANES as i64;

/// Where all groups are that run together.
#[derive(Clone, Copy)]
pub(super) struct Meeting {
    /// The state in which all of them begin their turns, if it is the same; else 0.
    state: Variable,
    /// The state in which all groups of the block began behind a barrier that they met at; else 0.
    of_block: Variable,
    /// Which buffer they write that bring something to an operation of their warp: its distance from the first one in
    /// bytes.
    buffer: Variable,
}

impl Meeting {
    pub(super) fn new(b: &mut FunctionBuilder<'_>) -> Self {
        let [state, of_block, buffer] = [(); 3].map(|()| b.declare_var(types::I32));
        Self { state, of_block, buffer }
    }
}

impl GroupLower<'_, '_, '_> {
    /// Whether threads of the kernel wait at all.
    fn meets(&self) -> bool {
        self.lower.plan().schedule != Schedule::Free
    }

    /// Before the first turns: each group looks up where it goes on.
    pub(super) fn begin_meeting(&mut self) {
        if !self.meets() {
            return;
        }
        let Meeting { state, of_block, buffer } = self.plan.meeting;
        for variable in [state, of_block, buffer] {
            let zero = self.lower.b.ins().iconst(types::I32, 0);
            self.lower.b.def_var(variable, zero);
        }
    }

    /// At a group's turn: the state in which all groups begin it, in `known`, or each looks it up behind.
    pub(super) fn where_all_are(&mut self, known: Block) {
        let state = self.lower.b.use_var(self.plan.meeting.state);
        let look = self.lower.b.create_block();
        self.lower.b.ins().brif(state, known, &[state.into()], look, &[]);
        self.lower.b.switch_to_block(look);
    }

    /// The buffer from which groups read what was brought to the operation at which their turns began, or into which
    /// they bring something to the next one.
    pub(super) fn warp_buffer(&mut self, reads: bool) -> Value {
        let buffer = self.lower.b.use_var(self.plan.meeting.buffer);
        if reads { self.other_buffer(buffer) } else { buffer }
    }

    fn other_buffer(&mut self, buffer: Value) -> Value {
        self.lower.b.ins().bxor_imm_u(buffer, size_of::<Brought>() as i64)
    }

    /// Behind the last turn: where all groups wait at one place, their next turns begin; where a warp waits for the
    /// others, or has ended, theirs begin. Else control goes on here.
    pub(super) fn meet(&mut self) {
        if !self.meets() {
            return;
        }
        let apart = self.lower.b.create_block();
        let [begin, end] = [self.lower.begin(), self.lower.end()];
        let state = self.place_of_all([begin, end], apart);
        if self.lower.plan().schedule == Schedule::Warp {
            self.meet_warp(state, [begin, end], apart);
            let first = self.lower.b.ins().iconst(types::I32, 0);
            let end = self.lower.end_of_all();
            let state = self.place_of_all([first, end], apart);
            self.meet_block(state, apart);
        } else {
            self.meet_block(state, apart);
        }
        self.lower.b.switch_to_block(apart);
        self.tell_of_opened();
        let buffer = self.lower.b.use_var(self.plan.meeting.buffer);
        self.lower.set_context(buffer, offset_of!(BlockContext, brought));
    }

    /// All threads from `begin` to `end`, a warp, are in one state. Control goes on here behind the last warp.
    fn meet_warp(&mut self, state: Value, [begin, end]: [Value; 2], apart: Block) {
        let Meeting { state: known, of_block, buffer } = self.plan.meeting;
        let [again, others, next, last] = [(); 4].map(|()| self.lower.b.create_block());
        let count = self.lower.b.ins().isub(end, begin);
        let whole = self.lower.b.ins().icmp_imm_u(IntCC::Equal, count, WARP as i64);
        let opens = self.has_bit(state, OPENS_WARP);
        let opens = self.lower.b.ins().band(whole, opens);
        self.lower.b.ins().brif(opens, again, &[], others, &[]);

        self.lower.b.switch_to_block(again);
        let place = self.lower.b.ins().band_imm_u(state, i64::from(!BLOCKED));
        self.lower.b.def_var(known, place);
        let present = self.lower.b.use_var(buffer);
        let other = self.other_buffer(present);
        self.lower.b.def_var(buffer, other);
        self.lower.begin_again();
        self.lower.b.ins().jump(self.plan.loop_.turn(), &[]);

        self.lower.b.switch_to_block(others);
        let waits = self.has_bit(state, OPENS_BLOCK);
        let ended = self.lower.b.ins().icmp_imm_u(IntCC::Equal, state, i64::from(DONE));
        let passes = self.lower.b.ins().bor(waits, ended);
        let passed = self.lower.b.create_block();
        self.lower.b.ins().brif(passes, passed, &[], apart, &[]);
        self.lower.b.switch_to_block(passed);
        let all = self.lower.end_of_all();
        let more = self.lower.b.ins().icmp(IntCC::UnsignedLessThan, end, all);
        self.lower.b.ins().brif(more, next, &[], last, &[]);

        self.lower.b.switch_to_block(next);
        let place = self.lower.b.use_var(of_block);
        self.lower.b.def_var(known, place);
        self.lower.run_together();
        self.lower.b.ins().jump(self.plan.loop_.begin(), &[]);
        self.lower.b.switch_to_block(last);
    }

    /// All threads of the block are in one state.
    fn meet_block(&mut self, state: Value, apart: Block) {
        let again = self.lower.b.create_block();
        let opens = self.has_bit(state, OPENS_BLOCK);
        self.lower.b.ins().brif(opens, again, &[], apart, &[]);

        self.lower.b.switch_to_block(again);
        let Meeting { state: known, of_block, .. } = self.plan.meeting;
        let flags = i64::from(!(BLOCKED | OPENS_BLOCK));
        let place = self.lower.b.ins().band_imm_u(state, flags);
        for variable in [known, of_block] {
            self.lower.b.def_var(variable, place);
        }
        self.lower.begin_all_again();
        self.lower.b.ins().jump(self.plan.loop_.turn(), &[]);
    }

    fn has_bit(&mut self, state: Value, bit: u32) -> Value {
        let bit = self.lower.b.ins().band_imm_u(state, i64::from(bit));
        self.lower.b.ins().icmp_imm_u(IntCC::NotEqual, bit, 0)
    }

    /// Before the host takes over from warps that met at a barrier: those that have not had their turns since do not
    /// wait any more.
    fn tell_of_opened(&mut self) {
        if self.lower.plan().schedule != Schedule::Warp {
            return;
        }
        let [tell, told] = [(); 2].map(|()| self.lower.b.create_block());
        let from = self.lower.b.append_block_param(tell, types::I32);
        let place = self.lower.b.use_var(self.plan.meeting.of_block);
        let [end, all] = [self.lower.end(), self.lower.end_of_all()];
        let some = self.lower.b.ins().icmp(IntCC::UnsignedLessThan, end, all);
        let met = self.lower.b.ins().icmp_imm_u(IntCC::NotEqual, place, 0);
        let tells = self.lower.b.ins().band(some, met);
        self.lower.b.ins().brif(tells, tell, &[end.into()], told, &[]);

        self.lower.b.switch_to_block(tell);
        let states = self.states_from(from);
        let places = self.lower.b.ins().splat(types::I32X4, place);
        for at in 0..COMPARED / LANES as i64 {
            self.lower.store_unaligned(places, states, 16 * at);
        }
        let next = self.lower.b.ins().iadd_imm_u(from, COMPARED);
        let more = self.lower.b.ins().icmp(IntCC::UnsignedLessThan, next, all);
        self.lower.b.ins().brif(more, tell, &[next.into()], told, &[]);
        self.lower.b.switch_to_block(told);
    }

    /// The states of the threads that are looked at together, from one on.
    fn states_from(&mut self, first: Value) -> MemorySpan {
        let states = self.lower.context_u64(offset_of!(BlockContext, states));
        let first = self.lower.b.ins().uextend(types::I64, first);
        let first = self.lower.b.ins().ishl_imm_u(first, 2);
        let first = self.lower.b.ins().iadd(states, first);
        MemorySpan::new(first, 0, 4 * COMPARED as u64)
    }

    /// The state of the threads from `begin` to `end` where it is the same; goes to `apart` where it is not, or where
    /// they are no multiple of those that are looked at together.
    fn place_of_all(&mut self, [begin, end]: [Value; 2], apart: Block) -> Value {
        let [compare, same] = [(); 2].map(|()| self.lower.b.create_block());
        let from = self.lower.b.append_block_param(compare, types::I32);
        let count = self.lower.b.ins().isub(end, begin);
        let rest = self.lower.b.ins().band_imm_u(count, COMPARED - 1);
        let first = self.states_from(begin);
        let state = self.lower.load(types::I32, first, 0);
        self.lower.b.ins().brif(rest, apart, &[], compare, &[begin.into()]);

        self.lower.b.switch_to_block(compare);
        let memory = self.states_from(from);
        let due = self.lower.b.ins().splat(types::I32X4, state);
        let mut others = self.all_lanes(types::I32X4, 0);
        for at in 0..COMPARED / LANES as i64 {
            let found = self.lower.load_unaligned(types::I32X4, memory, 16 * at);
            let other = self.lower.b.ins().bxor(found, due);
            others = self.lower.b.ins().bor(others, other);
        }
        let differ = self.lower.b.ins().vany_true(others);
        let next = self.lower.b.ins().iadd_imm_u(from, COMPARED);
        let more = self.lower.b.create_block();
        self.lower.b.ins().brif(differ, apart, &[], more, &[]);
        self.lower.b.switch_to_block(more);
        let last = self.lower.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, next, end);
        self.lower.b.ins().brif(last, same, &[], compare, &[next.into()]);
        self.lower.b.switch_to_block(same);
        state
    }
}
