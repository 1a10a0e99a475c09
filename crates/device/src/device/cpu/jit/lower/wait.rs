//! What a thread does where it waits for others or yields to them: it spills its registers and says where it is, and on
//! its next turn it reads them back. Where that is, [`WaitPlan`](crate::device::cpu::jit::sync::WaitPlan) says.

use std::mem::offset_of;

use cranelift_codegen::ir::{self, Block, InstBuilder, Value, condcodes::IntCC, types};

use super::{Lower, Schedule, Step, Unsupported, clif_type};
use crate::{
    device::cpu::{
        abi::{BLOCKED, BlockContext, Exchange, MATRIX_BYTES, YIELDED},
        jit::{
            Resume,
            kernel::{ResumePoint, SiteKind},
            span::MemorySpan,
            sync::{Handed, Point, resume_kind},
        },
    },
    ptx::{
        inst::{Instruction, Op},
        matrix::{MatrixMemory, MatrixOp},
        modifier::BarKind,
        op::WarpOp,
        operand::{Operand, Reg},
        types::{Space, Type},
    },
};

/// What a thread counts to between two yields.
const LIMIT: i64 = 1024;
/// What an iteration of a loop that only waits counts.
const WAIT_WEIGHT: i64 = 16;

/// Why a thread can be stopped where it waits.
fn site_kind(kind: Resume) -> SiteKind {
    let memory = if let Resume::Warp(WarpOp::Matrix(op)) = kind { op.memory() } else { None };
    match memory {
        Some(MatrixMemory { space, written: write, unit: bytes }) => {
            SiteKind::Access { space: space.map_or("generic", Space::text), write, bytes }
        }
        None => SiteKind::Wait,
    }
}

impl Lower<'_, '_> {
    /// Waits at `instruction`, the statement `at`, and goes on in `resume`.
    pub(in crate::device::cpu::jit) fn wait(
        &mut self,
        at: usize,
        instruction: &Instruction,
        resume: Block,
    ) -> Step {
        let kind = resume_kind(instruction).ok_or(Unsupported::Part("not a place to wait"))?;
        let site = self.site(site_kind(kind));
        let point = self.plan().point(at)?;
        let fixed = Handed::of(instruction).fixed(self.plan().constants());
        self.plan_mut().resume(point.state, ResumePoint { kind, site, fixed });
        if self.plan().schedule == Schedule::Warp {
            self.hand_over(instruction)?;
        }
        self.suspend(&point.spills, point.state | BLOCKED);

        self.b.switch_to_block(resume);
        self.reload(&point)?;
        self.receive(instruction)
    }

    /// Spills the registers of the thread and stores its state; the next thread's turn comes.
    pub(in crate::device::cpu::jit) fn suspend(&mut self, spills: &[(Reg, usize)], state: u32) {
        self.spill(spills);
        let memory = self.state_memory(1);
        let state = self.b.ins().iconst(types::I32, i64::from(state));
        self.store(state, memory, 0);
        let next = self.targets().next();
        self.b.ins().jump(next, &[]);
    }

    /// Where this thread's element lies in an array of elements of `bytes` bytes, less the array's offset.
    pub(in crate::device::cpu::jit) fn element(&mut self, base: Value, bytes: u32) -> Value {
        let index = self.current_index();
        let wide = self.b.ins().uextend(types::I64, index);
        let offset = self.b.ins().ishl_imm_u(wide, i64::from(bytes.trailing_zeros()));
        self.b.ins().iadd(base, offset)
    }

    /// Where registers of so many bytes are spilled, of so many threads from the one whose turn it is, in an array at
    /// `offset` in the spilled registers of waiting threads.
    pub(in crate::device::cpu::jit) fn spill_memory(
        &mut self,
        offset: usize,
        bytes: u32,
        threads: usize,
    ) -> MemorySpan {
        self.elements(offset_of!(BlockContext, spill), offset, bytes, threads)
    }

    /// The elements of so many threads, from the one whose turn it is, in an array of what threads hand over.
    pub(in crate::device::cpu::jit) fn exchange_memory(
        &mut self,
        field: usize,
        bytes: u32,
        threads: usize,
    ) -> MemorySpan {
        self.elements(offset_of!(BlockContext, exchange), field, bytes, threads)
    }

    /// The elements of so many threads, from the one whose turn it is, in an array at `offset` in the memory whose
    /// address the block's context has in `field`.
    fn elements(&mut self, field: usize, offset: usize, bytes: u32, threads: usize) -> MemorySpan {
        let memory = self.context_u64(field);
        let address = self.element(memory, bytes);
        MemorySpan::new(address, offset as i64, u64::from(bytes) * threads as u64)
    }

    fn spill(&mut self, spills: &[(Reg, usize)]) {
        for &(reg, offset) in spills {
            let value = self.b.use_var(self.variable(reg));
            let value = self.widened(value);
            let memory = self.spill_memory(offset, self.b.func.dfg.value_type(value).bytes(), 1);
            self.store(value, memory, 0);
        }
    }

    /// What lives at a point is in its registers again.
    pub(in crate::device::cpu::jit) fn reload(&mut self, point: &Point) -> Step {
        for reg in &point.made_again {
            let value = self.constant(*reg)?;
            self.b.def_var(self.variable(*reg), value);
        }
        for &(reg, offset) in &point.spills {
            let ty = clif_type(self.body().registers.ty(reg));
            let stored = if ty.bytes() < 4 { types::I32 } else { ty };
            let memory = self.spill_memory(offset, stored.bytes(), 1);
            let value = self.load(stored, memory, 0);
            let value = self.fit(value, ty);
            self.b.def_var(self.variable(reg), value);
        }
        Ok(())
    }

    /// The value of a register that holds a constant.
    pub(in crate::device::cpu::jit) fn constant(&mut self, reg: Reg) -> Step<Value> {
        let constant = self.plan().constants().of(reg).cloned();
        let (operand, ty) = constant.ok_or(Unsupported::Part("a register without a value"))?;
        let value = self.value(&operand, ty)?;
        Ok(self.fit(value, clif_type(self.body().registers.ty(reg))))
    }

    fn widened(&mut self, value: Value) -> Value {
        let ty = self.b.func.dfg.value_type(value);
        if ty.bytes() < 4 { self.b.ins().uextend(types::I32, value) } else { value }
    }

    fn give(&mut self, value: Value, field: usize) {
        let value = self.widened(value);
        let memory = self.exchange_memory(field, self.b.func.dfg.value_type(value).bytes(), 1);
        self.store(value, memory, 0);
    }

    fn take(&mut self, ty: ir::Type, field: usize) -> Value {
        let memory = self.exchange_memory(field, ty.bytes(), 1);
        self.load(ty, memory, 0)
    }

    /// What others need to know of a thread that waits, but for what is a number in the code.
    pub(in crate::device::cpu::jit) fn hand_over(&mut self, i: &Instruction) -> Step {
        if let Some(Resume::Warp(WarpOp::Matrix(matrix))) = resume_kind(i) {
            return self.give_matrix(i, &matrix);
        }
        let handed = Handed::of(i);
        if let Some((operand, ty)) = handed.value {
            let value = self.value(operand, ty)?;
            let wide = self.fit(value, types::I64);
            self.give(wide, offset_of!(Exchange, value));
        }
        for (operand, field) in handed.settings() {
            if self.plan().constants().word(operand).is_none() {
                let value = self.value(operand, Type::U32)?;
                self.give(value, field);
            }
        }
        Ok(())
    }

    /// Writes what a thread gets for its waiting.
    pub(in crate::device::cpu::jit) fn receive(&mut self, i: &Instruction) -> Step {
        if let Some(Resume::Warp(WarpOp::Matrix(_))) = resume_kind(i) {
            return self.take_matrix(i);
        }
        let Some(first) = i.dst.first() else { return Ok(()) };
        let result = self.take(types::I64, offset_of!(Exchange, result));
        self.set_operand(first, result)?;
        if let Some(second) = i.dst.get(1) {
            let predicate = self.take(types::I32, offset_of!(Exchange, predicate));
            let predicate = self.fit(predicate, types::I8);
            self.set_operand(second, predicate)?;
        }
        Ok(())
    }

    /// Where a thread's registers lie that it brings to an operation on matrices.
    fn matrix_memory(&mut self) -> MemorySpan {
        let matrices = self.context_u64(offset_of!(BlockContext, matrices));
        let index = self.current_index();
        let index = self.b.ins().uextend(types::I64, index);
        let offset = self.b.ins().imul_imm_u(index, MATRIX_BYTES as i64);
        let address = self.b.ins().iadd(matrices, offset);
        MemorySpan::new(address, 0, MATRIX_BYTES as u64)
    }

    /// All sources in their order, one word each; every thread of the warp has to come.
    fn give_matrix(&mut self, i: &Instruction, op: &MatrixOp) -> Step {
        let mut words = Vec::new();
        for operand in &i.src {
            if let Operand::Address(address) = operand {
                words.push(self.address_value(address)?);
                continue;
            }
            for part in operand.lanes() {
                words.push(self.value(part, op.register())?);
            }
        }
        if let Some(stride) = op.default_stride().filter(|_| i.src.len() < op.sources()) {
            words.push(self.b.ins().iconst(types::I64, i64::from(stride)));
        }
        let memory = self.matrix_memory();
        for (at, word) in (0..).zip(words) {
            let word = self.fit(word, types::I64);
            self.store(word, memory, 8 * at);
        }
        Ok(())
    }

    fn take_matrix(&mut self, i: &Instruction) -> Step {
        let memory = self.matrix_memory();
        for (at, part) in (0..).zip(i.dst.iter().flat_map(Operand::lanes)) {
            let word = self.load(types::I64, memory, 8 * at);
            self.set_operand(part, word)?;
        }
        Ok(())
    }

    /// `bar.arrive`: counts the thread in and goes on.
    pub(in crate::device::cpu::jit) fn arrive(&mut self, i: &Instruction) -> Step {
        let Op::Bar { kind: BarKind::Arrive, aligned: _ } = i.op else {
            return Err(Unsupported::Part("a barrier in a function that was not inlined"));
        };
        let id = self.source(i, 0, Type::U32)?;
        let id = self.b.ins().band_imm_u(id, 15);
        let id = self.b.ins().uextend(types::I64, id);
        let offset = self.b.ins().ishl_imm_u(id, 2);
        let context = self.context();
        let address = self.b.ins().iadd(context, offset);
        let memory = MemorySpan::new(address, offset_of!(BlockContext, arrived) as i64, 4);
        let count = self.load(types::I32, memory, 0);
        let count = self.b.ins().iadd_imm_u(count, 1);
        self.store(count, memory, 0);
        Ok(())
    }

    /// The beginning of a loop in which the thread may have to yield; it goes on in `resume`.
    pub(in crate::device::cpu::jit) fn yield_turn(&mut self, at: usize, resume: Block) -> Step {
        let waits = self.plan().spins.iter().any(|spin| spin.at == at && spin.waits);
        let weight = if waits { WAIT_WEIGHT } else { 1 };
        let count = self.count_iteration(weight);
        let due = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, count, LIMIT);
        let [yield_turn, on] = [(); 2].map(|()| self.b.create_block());
        self.b.set_cold_block(yield_turn);
        self.b.set_cold_block(resume);
        self.b.ins().brif(due, yield_turn, &[], on, &[]);

        self.b.switch_to_block(yield_turn);
        self.poll();
        let site = self.site(SiteKind::Poll);
        let point = self.plan().point(at)?;
        let kind = Resume::Yield { waits };
        self.plan_mut().resume(point.state, ResumePoint { kind, site, ..ResumePoint::START });
        self.suspend(&point.spills, point.state | YIELDED);

        self.b.switch_to_block(resume);
        self.reload(&point)?;
        self.b.ins().jump(on, &[]);
        self.b.switch_to_block(on);
        Ok(())
    }

    /// What is read next is read from memory, whatever was read before.
    pub(in crate::device::cpu::jit) fn forget_loads(&mut self) {
        let abort = self.context_u64(offset_of!(BlockContext, abort));
        self.load_atomic(types::I32, MemorySpan::new(abort, 0, 4), 0);
    }
}
