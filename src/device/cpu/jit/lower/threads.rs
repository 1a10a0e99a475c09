//! The loop over the threads of a block: which thread's turn it is, where it starts or goes on, and how it
//! stops.

use std::{collections::HashMap, mem::offset_of};

use cranelift_codegen::ir::{Block, InstBuilder, Value, condcodes::IntCC, types};
use cranelift_frontend::Switch;

use super::{Lower, Schedule, clif_type, zero_of};
use crate::{
    device::{
        Result,
        cpu::{
            abi::{Context, STOPPED},
            jit::place::Place,
        },
    },
    ptx::cfg::RegSet,
};

impl Lower<'_, '_> {
    /// `run(context, begin, end)`: each thread in turn, from its start or its resume point.
    pub(super) fn kernel(&mut self) -> Result<()> {
        let [begin, end] = [self.arguments[0], self.arguments[1]];
        let zero = self.b.ins().iconst(types::I32, 0);
        self.b.def_var(self.thread.index, begin);
        self.b.def_var(self.thread.waiting, zero);
        self.first_coordinates(begin);
        let [turn, start, done] = [(); 3].map(|()| self.b.create_block());
        self.first_turn(turn, end);

        self.b.switch_to_block(turn);
        self.enter_thread();
        let points = self.plan.points.len();
        let resumes: Vec<Block> = (0..points).map(|_| self.b.create_block()).collect();
        self.enter_leaving();
        self.dispatch(start, &resumes);

        self.b.switch_to_block(start);
        self.define_all_registers();
        self.statements(&resumes)?;

        self.b.switch_to_block(self.next);
        self.next_turn(turn, done, end);
        self.groups(done, end)?;

        self.b.switch_to_block(done);
        let waiting = self.b.use_var(self.thread.waiting);
        self.b.ins().return_(&[waiting]);
        self.stop_block();
        Ok(())
    }

    /// Where thread `begin` lies in its block, as far as the kernel asks.
    fn first_coordinates(&mut self, begin: Value) {
        let sizes = [0, 4].map(|at| offset_of!(Context, ntid) + at);
        let variables = [self.thread.x, self.thread.y, self.thread.z];
        let mut rest = begin;
        for (axis, variable) in variables.into_iter().enumerate().take(self.plan.axes) {
            let (mut here, mut beyond) = (rest, rest);
            if let Some(&size) = sizes.get(axis) {
                let size = self.context_u32(size);
                here = self.b.ins().urem(rest, size);
                beyond = self.b.ins().udiv(rest, size);
            }
            self.b.def_var(variable, here);
            rest = beyond;
        }
    }

    /// What each thread needs before its first or next instruction.
    pub(in crate::device::cpu::jit) fn enter_thread(&mut self) {
        let index = self.b.use_var(self.thread.index);
        let base = self.context_u64(offset_of!(Context, local_base));
        let local = if self.plan.schedule == Schedule::Free {
            self.local_of_lane(base)
        } else {
            let stride = self.context_u64(offset_of!(Context, local_stride));
            let wide = self.b.ins().uextend(types::I64, index);
            let offset = self.b.ins().imul(wide, stride);
            self.b.ins().iadd(base, offset)
        };
        self.b.def_var(self.local, local);
        let zero = self.b.ins().iconst(types::I32, 0);
        self.b.def_var(self.thread.turns, zero);
        if self.plan.calls {
            self.publish_thread(index, local);
        }
    }

    /// Device functions find the thread in the context.
    fn publish_thread(&mut self, index: Value, local: Value) {
        let [x, y, z] = [self.thread.x, self.thread.y, self.thread.z].map(|v| self.b.use_var(v));
        for (value, at) in [(x, 0), (y, 4), (z, 8)] {
            self.set_context(value, offset_of!(Context, tid) + at);
        }
        self.set_context(index, offset_of!(Context, thread));
        let top = self.b.ins().iadd_imm_u(local, self.frame.local_bytes as i64);
        self.set_context(top, offset_of!(Context, local_top));
        let bytes = self.context_u64(offset_of!(Context, local_bytes));
        let limit = self.b.ins().iadd(local, bytes);
        self.set_context(limit, offset_of!(Context, local_limit));
    }

    /// To the start, or to where the thread left off; threads that wait or have ended are passed over.
    fn dispatch(&mut self, start: Block, resumes: &[Block]) {
        if self.plan.schedule == Schedule::Free {
            self.b.ins().jump(start, &[]);
            return;
        }
        let state = self.state_place(1);
        let state = self.load(types::I32, state, 0);
        let mut switch = Switch::new();
        switch.set_entry(0, start);
        for (index, block) in resumes.iter().enumerate() {
            switch.set_entry(index as u128 + 1, *block);
        }
        switch.emit(&mut self.b, state, self.next);
    }

    /// The states of so many threads, from the one whose turn it is.
    pub(in crate::device::cpu::jit) fn state_place(&mut self, threads: usize) -> Place {
        let states = self.context_u64(offset_of!(Context, states));
        let address = self.element(states, 4);
        Place::new(address, 0, 4 * threads as u64)
    }

    /// A register that some path leaves unset reads as zero, and never as what the last thread left.
    pub(in crate::device::cpu::jit) fn define_all_registers(&mut self) {
        let mut zeros = HashMap::new();
        for reg in RegSet::named(self.body).iter() {
            let ty = clif_type(self.body.registers.ty(reg));
            let zero = *zeros.entry(ty).or_insert_with(|| zero_of(&mut self.b, ty));
            self.b.def_var(self.variable(reg), zero);
        }
        let zero = self.b.ins().iconst(types::I8, 0);
        self.b.def_var(self.carry, zero);
    }

    /// Index and coordinates of the thread `by` further; whether that is at the end.
    pub(in crate::device::cpu::jit) fn advance(&mut self, by: i64, end: Value) -> Value {
        let sizes = [0, 4].map(|at| offset_of!(Context, ntid) + at);
        let variables = [self.thread.x, self.thread.y, self.thread.z];
        let mut step = self.b.ins().iconst(types::I32, by);
        for (axis, variable) in variables.into_iter().enumerate().take(self.plan.axes) {
            let here = self.b.use_var(variable);
            let mut here = self.b.ins().iadd(here, step);
            if let Some(&size) = sizes.get(axis) {
                let size = self.context_u32(size);
                let wraps = self.b.ins().icmp(IntCC::Equal, here, size);
                let zero = self.b.ins().iconst(types::I32, 0);
                here = self.b.ins().select(wraps, zero, here);
                step = self.b.ins().uextend(types::I32, wraps);
            }
            self.b.def_var(variable, here);
        }
        let index = self.b.use_var(self.thread.index);
        let index = self.b.ins().iadd_imm_u(index, by);
        self.b.def_var(self.thread.index, index);
        self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, end)
    }

    /// Tells the host where and why, and gives up.
    pub(super) fn stop_block(&mut self) {
        self.b.switch_to_block(self.stop);
        let site = self.b.append_block_param(self.stop, types::I32);
        let address = self.b.append_block_param(self.stop, types::I64);
        self.set_context(site, offset_of!(Context, fault_site));
        self.set_context(address, offset_of!(Context, fault_address));
        if self.is_kernel() {
            let index = self.b.use_var(self.thread.index);
            self.set_context(index, offset_of!(Context, thread));
        }
        let stopped = self.b.ins().iconst(types::I32, i64::from(STOPPED));
        self.b.ins().return_(&[stopped]);
    }
}
