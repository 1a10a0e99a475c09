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
    abi::{BLOCKED, BlockContext, Brought, LANES, OPENS, WARP},
    jit::{Schedule, span::MemorySpan},
};

/// Threads whose states are compared at once.
const COMPARED: i64 = 4 * LANES as i64;

/// Where all groups are that run together.
#[derive(Clone, Copy)]
pub(super) struct Meeting {
    /// The state in which all of them begin their turns, if it is the same; else 0.
    state: Variable,
    /// Which buffer they write that bring something to an operation of their warp: its distance from the first one in
    /// bytes.
    buffer: Variable,
}

impl Meeting {
    pub(super) fn new(b: &mut FunctionBuilder<'_>) -> Self {
        let [state, buffer] = [(); 2].map(|()| b.declare_var(types::I32));
        Self { state, buffer }
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
        let Meeting { state, buffer } = self.plan.meeting;
        for variable in [state, buffer] {
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

    /// Behind the last turn: where all groups wait at one place, their next turns begin; else control goes on here.
    pub(super) fn meet(&mut self, end: Value) {
        if !self.meets() {
            return;
        }
        let [again, apart] = [(); 2].map(|()| self.lower.b.create_block());
        let place = self.place_of_all(end, apart);
        self.lower.b.ins().jump(again, &[]);

        self.lower.b.switch_to_block(again);
        let Meeting { state, buffer } = self.plan.meeting;
        let place = self.lower.b.ins().band_imm_u(place, i64::from(!BLOCKED));
        self.lower.b.def_var(state, place);
        let present = self.lower.b.use_var(buffer);
        let other = self.other_buffer(present);
        self.lower.b.def_var(buffer, other);
        self.lower.begin_again();
        self.lower.b.ins().jump(self.plan.loop_.turn(), &[]);

        self.lower.b.switch_to_block(apart);
        let buffer = self.lower.b.use_var(buffer);
        self.lower.set_context(buffer, offset_of!(BlockContext, brought));
    }

    /// The state of all threads that run together where it is the same and they need nobody else to go on; goes to
    /// `apart` where that is not so.
    fn place_of_all(&mut self, end: Value, apart: Block) -> Value {
        let begin = self.lower.begin();
        let count = self.lower.b.ins().isub(end, begin);
        let whole = match self.lower.plan().schedule {
            Schedule::Warp => self.lower.b.ins().icmp_imm_u(IntCC::Equal, count, WARP as i64),
            Schedule::Block | Schedule::Free => {
                let rest = self.lower.b.ins().band_imm_u(count, COMPARED - 1);
                self.lower.b.ins().icmp_imm_u(IntCC::Equal, rest, 0)
            }
        };
        let states = self.lower.context_u64(offset_of!(BlockContext, states));
        let first = self.lower.b.ins().uextend(types::I64, begin);
        let first = self.lower.b.ins().ishl_imm_u(first, 2);
        let first = self.lower.b.ins().iadd(states, first);
        let state = self.lower.load(types::I32, MemorySpan::new(first, 0, 4), 0);
        let opens = self.lower.b.ins().band_imm_u(state, i64::from(OPENS));
        let opens = self.lower.b.ins().icmp_imm_u(IntCC::NotEqual, opens, 0);
        let may = self.lower.b.ins().band(whole, opens);
        let [compare, same] = [(); 2].map(|()| self.lower.b.create_block());
        let zero = self.lower.b.ins().iconst(types::I32, 0);
        self.lower.b.ins().brif(may, compare, &[zero.into()], apart, &[]);

        self.lower.b.switch_to_block(compare);
        let from = self.lower.b.append_block_param(compare, types::I32);
        let distance = self.lower.b.ins().uextend(types::I64, from);
        let distance = self.lower.b.ins().ishl_imm_u(distance, 2);
        let address = self.lower.b.ins().iadd(first, distance);
        let memory = MemorySpan::new(address, 0, 4 * COMPARED as u64);
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
        let last = self.lower.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, next, count);
        self.lower.b.ins().brif(last, same, &[], compare, &[next.into()]);
        self.lower.b.switch_to_block(same);
        state
    }
}
