//! The loop over the threads of a block: which thread's turn it is, where it starts or goes on, and how it
//! stops.

use std::{collections::HashMap, mem::offset_of};

use cranelift_codegen::ir::{Block, InstBuilder, Value, condcodes::IntCC, types};
use cranelift_frontend::{FunctionBuilder, Switch, Variable};

use super::{Lower, Schedule, clif_type, zero_of};
use crate::{
    device::cpu::{
        abi::{BlockContext, STOPPED, WARP},
        jit::span::MemorySpan,
    },
    ptx::{ast::Body, cfg::RegSet, operand::Reg},
};

/// The variables of the thread whose turn it is.
pub(super) struct Thread {
    pub(super) index: Variable,
    pub(super) x: Variable,
    pub(super) y: Variable,
    pub(super) z: Variable,
    /// Iterations of loops in which it may wait for others, since its turn began.
    iterations: Variable,
    /// First byte of its frame in local memory.
    pub(super) local: Variable,
    /// In a device function, the first byte of the thread's local memory.
    pub(super) start: Variable,
    /// The carry flag.
    pub(super) carry: Variable,
    /// The threads that run together, one warp or all: the first one, and behind the last one.
    begin: Variable,
    end: Variable,
    /// Coordinates of the first one, as far as the kernel asks for them.
    first: [Variable; 3],
    registers: Vec<Variable>,
}

impl Thread {
    pub(super) fn new(b: &mut FunctionBuilder<'_>, body: &Body) -> Self {
        let registers = body.registers.types().iter();
        let registers = registers.map(|ty| b.declare_var(clif_type(*ty))).collect();
        let [index, x, y, z, iterations, begin, end] = [(); 7].map(|()| b.declare_var(types::I32));
        let carry = b.declare_var(types::I8);
        let [local, start] = [(); 2].map(|()| b.declare_var(types::I64));
        let first = [(); 3].map(|()| b.declare_var(types::I32));
        Self { index, x, y, z, iterations, local, start, carry, begin, end, first, registers }
    }

    pub(super) fn register(&self, reg: Reg) -> Variable {
        self.registers[reg.0 as usize]
    }
}

/// Where a thread is: its index, its coordinate along x if the kernel asks for it, and its frame in local memory.
#[derive(Clone, Copy)]
pub(in crate::device::cpu::jit) struct Position {
    index: Value,
    x: Option<Value>,
    local: Value,
}

impl Lower<'_, '_> {
    /// The first of the threads that the kernel was called with, and where it lies in its block, as far as the kernel
    /// asks.
    pub(super) fn begin_threads(&mut self) {
        let begin = self.arguments[0];
        self.b.def_var(self.thread.index, begin);
        self.first_coordinates(begin);
        self.run_together();
    }

    fn first_coordinates(&mut self, begin: Value) {
        let sizes = [0, 4].map(|at| offset_of!(BlockContext, ntid) + at);
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

    /// The present thread is the first of those that run together: its warp, or all.
    pub(in crate::device::cpu::jit) fn run_together(&mut self) {
        let end = self.end_of_all();
        let index = self.current_index();
        let end = match self.plan.schedule {
            Schedule::Warp => {
                let warp = self.b.ins().iadd_imm_u(index, WARP as i64);
                self.b.ins().umin(warp, end)
            }
            Schedule::Block | Schedule::Free => end,
        };
        self.b.def_var(self.thread.begin, index);
        self.b.def_var(self.thread.end, end);
        for (first, present) in self.coordinates() {
            let value = self.b.use_var(present);
            self.b.def_var(first, value);
        }
    }

    /// Back to the first of the threads that run together.
    pub(in crate::device::cpu::jit) fn begin_again(&mut self) {
        let begin = self.begin();
        self.b.def_var(self.thread.index, begin);
        for (first, present) in self.coordinates() {
            let value = self.b.use_var(first);
            self.b.def_var(present, value);
        }
    }

    /// Back to the first thread of the block.
    pub(in crate::device::cpu::jit) fn begin_all_again(&mut self) {
        let zero = self.b.ins().iconst(types::I32, 0);
        for variable in self.place_in_block() {
            self.b.def_var(variable, zero);
        }
        self.run_together();
    }

    /// The coordinates that the kernel asks for, of the first of the threads that run together and of the present one.
    fn coordinates(&self) -> impl Iterator<Item = (Variable, Variable)> + use<> {
        let present = [self.thread.x, self.thread.y, self.thread.z];
        self.thread.first.into_iter().zip(present).take(self.plan.axes)
    }

    /// The first of the threads that run together.
    pub(in crate::device::cpu::jit) fn begin(&mut self) -> Value {
        self.b.use_var(self.thread.begin)
    }

    /// Behind the last of the threads that run together.
    pub(in crate::device::cpu::jit) fn end(&mut self) -> Value {
        self.b.use_var(self.thread.end)
    }

    /// Behind the last of the threads that the kernel was called with.
    pub(in crate::device::cpu::jit) fn end_of_all(&self) -> Value {
        self.arguments[1]
    }

    /// Says how far the threads came that run warp by warp.
    pub(super) fn tell_reached(&mut self) {
        if self.plan.schedule == Schedule::Warp {
            let end = self.end();
            self.set_context(end, offset_of!(BlockContext, reached));
        }
    }

    /// What each thread needs before its first or next instruction.
    pub(in crate::device::cpu::jit) fn enter_thread(&mut self) {
        let index = self.b.use_var(self.thread.index);
        let base = self.context_u64(offset_of!(BlockContext, local_base));
        let local = if self.plan.schedule == Schedule::Free {
            self.frame_in_turn(base)
        } else {
            let stride = self.context_u64(offset_of!(BlockContext, local_stride));
            let wide = self.b.ins().uextend(types::I64, index);
            let offset = self.b.ins().imul(wide, stride);
            self.b.ins().iadd(base, offset)
        };
        self.b.def_var(self.thread.local, local);
        let zero = self.b.ins().iconst(types::I32, 0);
        self.b.def_var(self.thread.iterations, zero);
        if self.plan.calls {
            self.publish_thread(index, local);
        }
    }

    /// Where the thread's frame begins in a kernel whose threads never wait: they take turns in using a few frames.
    fn frame_in_turn(&mut self, base: Value) -> Value {
        if self.source.width == 1 || self.source.frame.local_bytes == 0 {
            return base;
        }
        let index = self.b.use_var(self.thread.index);
        let place = self.b.ins().band_imm_u(index, self.source.width - 1);
        let place = self.b.ins().uextend(types::I64, place);
        let offset = self.b.ins().imul_imm_u(place, self.source.frame.local_bytes as i64);
        self.b.ins().iadd(base, offset)
    }

    /// Device functions find the thread in the context.
    fn publish_thread(&mut self, index: Value, local: Value) {
        let [x, y, z] = [self.thread.x, self.thread.y, self.thread.z].map(|v| self.b.use_var(v));
        for (value, at) in [(x, 0), (y, 4), (z, 8)] {
            self.set_context(value, offset_of!(BlockContext, tid) + at);
        }
        self.set_context(index, offset_of!(BlockContext, thread));
        self.set_context(local, offset_of!(BlockContext, local_start));
        let top = self.b.ins().iadd_imm_u(local, self.source.frame.local_bytes as i64);
        self.set_context(top, offset_of!(BlockContext, local_top));
        let bytes = self.context_u64(offset_of!(BlockContext, local_bytes));
        let limit = self.b.ins().iadd(local, bytes);
        self.set_context(limit, offset_of!(BlockContext, local_limit));
    }

    /// To the start, or to where the thread left off; threads that wait or have ended are passed over.
    pub(super) fn dispatch(&mut self, start: Block, resumes: &[Block]) {
        if self.plan.schedule == Schedule::Free {
            self.b.ins().jump(start, &[]);
            return;
        }
        let state = self.state_memory(1);
        let state = self.load(types::I32, state, 0);
        let mut switch = Switch::new();
        switch.set_entry(0, start);
        for (index, block) in resumes.iter().enumerate() {
            switch.set_entry(index as u128 + 1, *block);
        }
        switch.emit(&mut self.b, state, self.targets.next);
    }

    /// The states of so many threads, from the one whose turn it is.
    pub(in crate::device::cpu::jit) fn state_memory(&mut self, threads: usize) -> MemorySpan {
        let states = self.context_u64(offset_of!(BlockContext, states));
        let address = self.element(states, 4);
        MemorySpan::new(address, 0, 4 * threads as u64)
    }

    /// A register that some path leaves unset reads as zero, and never as what the last thread left.
    pub(in crate::device::cpu::jit) fn define_all_registers(&mut self) {
        let mut zeros = HashMap::new();
        for reg in RegSet::named(self.source.body).iter() {
            let ty = clif_type(self.source.body.registers.ty(reg));
            let zero = *zeros.entry(ty).or_insert_with(|| zero_of(&mut self.b, ty));
            self.b.def_var(self.variable(reg), zero);
        }
        let zero = self.b.ins().iconst(types::I8, 0);
        self.b.def_var(self.thread.carry, zero);
    }

    /// Index and coordinates of the thread `by` further; whether that is at the end.
    pub(in crate::device::cpu::jit) fn advance(&mut self, by: i64, end: Value) -> Value {
        let sizes = [0, 4].map(|at| offset_of!(BlockContext, ntid) + at);
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

    /// Index and, as far as the kernel asks for them, coordinates of the thread whose turn it is.
    pub(in crate::device::cpu::jit) fn place_in_block(&self) -> Vec<Variable> {
        let Thread { index, x, y, z, .. } = self.thread;
        [index, x, y, z].into_iter().take(1 + self.plan.axes).collect()
    }

    /// The index of the thread whose turn it is, in a kernel; for a group, of its first one.
    pub(in crate::device::cpu::jit) fn current_index(&mut self) -> Value {
        self.b.use_var(self.thread.index)
    }

    pub(in crate::device::cpu::jit) fn set_current_index(&mut self, index: Value) {
        self.b.def_var(self.thread.index, index);
    }

    /// Its coordinate along x, if the kernel asks for it.
    pub(in crate::device::cpu::jit) fn current_x(&mut self) -> Option<Value> {
        (self.plan.axes > 0).then(|| self.b.use_var(self.thread.x))
    }

    /// Where the thread is whose turn it is.
    pub(in crate::device::cpu::jit) fn position(&mut self) -> Position {
        let index = self.b.use_var(self.thread.index);
        let x = self.current_x();
        Position { index, x, local: self.b.use_var(self.thread.local) }
    }

    /// Moves to the thread that is `step` further along x than the one at `first`, and whose frame is as much further.
    pub(in crate::device::cpu::jit) fn set_position(&mut self, first: Position, step: i64) {
        let index = self.b.ins().iadd_imm_s(first.index, step);
        self.b.def_var(self.thread.index, index);
        if let Some(x) = first.x {
            let x = self.b.ins().iadd_imm_s(x, step);
            self.b.def_var(self.thread.x, x);
        }
        let bytes = self.source.frame.local_bytes as i64;
        let local = self.b.ins().iadd_imm_s(first.local, step * bytes);
        self.b.def_var(self.thread.local, local);
    }

    /// Moves on along x, where the kernel asks for that coordinate.
    pub(in crate::device::cpu::jit) fn advance_x(&mut self, by: i64) {
        if self.plan.axes > 0 {
            let x = self.b.use_var(self.thread.x);
            let x = self.b.ins().iadd_imm_u(x, by);
            self.b.def_var(self.thread.x, x);
        }
    }

    /// Counts an iteration of a loop, of this weight; what the thread has counted since its turn began.
    pub(in crate::device::cpu::jit) fn count_iteration(&mut self, weight: i64) -> Value {
        let count = self.b.use_var(self.thread.iterations);
        let count = self.b.ins().iadd_imm_s(count, weight);
        self.b.def_var(self.thread.iterations, count);
        count
    }

    /// Tells the host where and why, and gives up.
    pub(super) fn stop_block(&mut self) {
        self.b.switch_to_block(self.stop);
        let site = self.b.append_block_param(self.stop, types::I32);
        let address = self.b.append_block_param(self.stop, types::I64);
        self.set_context(site, offset_of!(BlockContext, fault_site));
        self.set_context(address, offset_of!(BlockContext, fault_address));
        if self.is_kernel() {
            let index = self.b.use_var(self.thread.index);
            self.set_context(index, offset_of!(BlockContext, thread));
        }
        let stopped = self.b.ins().iconst(types::I32, i64::from(STOPPED));
        self.b.ins().return_(&[stopped]);
    }
}
