//! Places where threads wait for each other. A thread that comes to one spills its live registers, writes what it
//! hands over and where it is to memory, and the next thread has its turn; once the host lets it go on, it is
//! entered again there and reloads them. So barriers may stand in loops and in divergent code, and threads
//! may have ended before.
//!
//! Registers lie as structures of arrays, so that several threads' are loaded as one vector. Those that hold constants
//! are not spilled but made again. The stride
//! is a little more than a power of two: with one exactly, all registers of a thread would fall in one set of
//! the first cache.

use std::{collections::BTreeMap, mem::offset_of};

use cranelift_codegen::ir::{self, Block, InstBuilder, Value, types};

use super::{
    Reduce, Resume, Schedule,
    constants::Constants,
    flow,
    kernel::{Packed, ResumePoint, SiteKind},
    lower::{Lower, Step, Unsupported, clif_type},
    span::MemorySpan,
    spin::{self, Spin},
};
use crate::{
    device::cpu::{
        abi::{BLOCKED, BlockContext, Exchange, MATRIX_BYTES, MAX_THREADS},
        together::{warp_operation, warp_value},
    },
    ptx::{
        ast::{Body, Function, FunctionKind, Statement},
        cfg::{Cfg, Liveness},
        inst::{Instruction, Op},
        matrix::{MatrixMemory, MatrixOp},
        modifier::BarKind,
        op::{Floats, Waits, WarpOp},
        operand::{Grid, Operand, Reg, Special},
        types::{Space, Type},
    },
};

/// Bytes between two register arrays beyond their length.
const SKEW: usize = 64;

/// Where a function's threads wait, and what they spill meanwhile.
pub(super) struct WaitPlan {
    /// Statements at which threads wait or yield, increasing.
    points: Vec<usize>,
    /// Live registers at each, and where they are spilled.
    spills: Vec<Vec<(Reg, usize)>>,
    /// Live registers at each that hold constants.
    made_again: Vec<Vec<Reg>>,
    constants: Constants,
    /// Loops in which threads yield.
    pub(super) spins: Vec<Spin>,
    pub(super) schedule: Schedule,
    spill_bytes: usize,
    /// By state: the start, then one for each point. Filled in while lowering.
    resumes: Vec<ResumePoint>,
    /// How groups pack their registers, by state. Filled in while lowering.
    pub(super) packed: Vec<Packed>,
    /// Whether the function calls others.
    pub(super) calls: bool,
    /// How many coordinates of its threads it asks for: x, y and z.
    pub(super) axes: usize,
    /// Whether the processor itself may flush subnormals: all single-precision arithmetic wants it, and there
    /// is no double-precision arithmetic, which never does.
    pub(super) flushes: bool,
}

/// A statement at which threads wait or yield.
pub(super) struct Point {
    /// The state of the threads that wait there.
    pub(super) state: u32,
    /// The registers that are live there, and where they are spilled.
    pub(super) spills: Vec<(Reg, usize)>,
    /// The others, which hold constants.
    pub(super) made_again: Vec<Reg>,
}

impl WaitPlan {
    pub(super) fn new(function: &Function, body: &Body, cfg: &Cfg, liveness: &Liveness) -> Self {
        let is_kernel = function.kind == FunctionKind::Entry;
        let waits = |(at, statement): (usize, &Statement)| match statement {
            Statement::Instruction(i) if is_kernel && resume_kind(i).is_some() => Some(at),
            Statement::Instruction(_) | Statement::Label(_) | Statement::Pragma(_) => None,
        };
        let spins = if is_kernel { spin::spins(body, cfg, liveness) } else { Vec::new() };
        let waiting = body.statements.iter().enumerate().filter_map(waits);
        let mut points: Vec<usize> = waiting.chain(spins.iter().map(|spin| spin.at)).collect();
        points.sort_unstable();
        let constants = Constants::new(body, liveness);
        let mut live = flow::live_after(body, cfg, liveness, &points);
        let is_constant = |reg: &mut Reg| constants.of(*reg).is_some();
        let made_again = live.iter_mut().map(|live| live.extract_if(.., is_constant).collect());
        let made_again = made_again.collect();
        let (spills, spill_bytes) = lay_out(body, &live);
        let schedule = if points.is_empty() {
            Schedule::Free
        } else if body.instructions().all(is_plain) {
            Schedule::Block
        } else {
            Schedule::Warp
        };
        let calls = body.instructions().any(|i| matches!(i.op, Op::Call { .. }));
        let resumes = vec![ResumePoint { kind: Resume::Start, site: 0 }; 1 + points.len()];
        Self {
            points,
            spills,
            made_again,
            constants,
            spins,
            schedule,
            spill_bytes,
            packed: vec![Packed::default(); resumes.len()],
            resumes,
            calls,
            axes: if calls { 3 } else { axes(body) },
            flushes: is_kernel && flushes_everywhere(body),
        }
    }

    /// The statements at which threads wait or yield, increasing.
    pub(super) fn points(&self) -> &[usize] {
        &self.points
    }

    pub(super) fn waits_at(&self, statement: usize) -> bool {
        self.points.binary_search(&statement).is_ok()
    }

    /// What is known of a statement at which threads wait.
    pub(super) fn point(&self, statement: usize) -> Step<Point> {
        let index = self.points.binary_search(&statement);
        let index = index.map_err(|_| Unsupported::Part("not a place to wait"))?;
        let (spills, made_again) = (self.spills[index].clone(), self.made_again[index].clone());
        Ok(Point { state: index as u32 + 1, spills, made_again })
    }

    /// The registers that hold constants.
    pub(super) fn constants(&self) -> &Constants {
        &self.constants
    }

    /// Notes where threads in a state go on.
    pub(super) fn resume(&mut self, state: u32, kind: Resume, site: u32) {
        self.resumes[state as usize] = ResumePoint { kind, site };
    }

    pub(super) fn into_resumes(self) -> Vec<ResumePoint> {
        self.resumes
    }

    /// How many registers are spilled at the point with the most.
    pub(super) fn most_spills(&self) -> usize {
        self.spills.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// How long the arrays are together to which a block's threads spill.
    pub(super) fn spill_bytes(&self) -> usize {
        self.spill_bytes
    }

    /// Groups spill to arrays of their own, so long.
    pub(super) fn set_spill_bytes(&mut self, bytes: usize) {
        self.spill_bytes = bytes;
    }
}

/// Gives each register that is live at some points an array, the same one at all of them, and says how long the arrays
/// are together. Where a group does not touch a register between two points, it stays where it is.
///
/// Registers that never live at one point share arrays, but only those of the same width: threads of a block may wait
/// at different points, and an entry of a thread must never overlap another thread's entry of an array with another
/// width.
fn lay_out(body: &Body, points: &[Vec<Reg>]) -> (Vec<Vec<(Reg, usize)>>, usize) {
    const WIDTHS: [usize; 3] = [16, 8, 4];
    let width = |reg: Reg| clif_type(body.registers.ty(reg)).bytes().max(4) as usize;
    let mut points_of: BTreeMap<Reg, Vec<usize>> = BTreeMap::new();
    for (point, regs) in points.iter().enumerate() {
        regs.iter().for_each(|reg| points_of.entry(*reg).or_default().push(point));
    }
    let mut spills: Vec<Vec<(Reg, usize)>> = points.iter().map(|_| Vec::new()).collect();
    let mut start = 0;
    for of_width in WIDTHS {
        let array_bytes = of_width * MAX_THREADS + SKEW;
        let mut taken: Vec<Vec<bool>> = vec![Vec::new(); points.len()];
        let mut arrays = 0;
        for (reg, own) in points_of.iter().filter(|(reg, _)| width(**reg) == of_width) {
            let is_taken = |at: usize| own.iter().any(|p| taken[*p].get(at) == Some(&true));
            let array = (0..arrays).find(|at| !is_taken(*at)).unwrap_or(arrays);
            arrays = arrays.max(array + 1);
            for point in own {
                let of_point = &mut taken[*point];
                of_point.resize(of_point.len().max(array + 1), false);
                of_point[array] = true;
                spills[*point].push((*reg, start + array * array_bytes));
            }
        }
        start += arrays * array_bytes;
    }
    (spills, start)
}

/// What a thread waits for at this instruction, if it does.
pub(super) fn resume_kind(i: &Instruction) -> Option<Resume> {
    match i.op.facts().waits {
        Waits::No => None,
        Waits::Block(kind) => {
            let reduce = match kind {
                BarKind::Sync => Reduce::Nothing,
                BarKind::RedPopc => Reduce::Count,
                BarKind::RedAnd => Reduce::All,
                BarKind::RedOr => Reduce::Any,
                BarKind::Arrive => return None,
            };
            Some(Resume::Barrier { reduce })
        }
        Waits::Warp(_) => warp_operation(&i.op).map(Resume::Warp),
    }
}

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

/// How many of `%tid.x`, `.y` and `.z`, in this order, the body reads.
fn axes(body: &Body) -> usize {
    let needed = |operand: &Operand| {
        let Operand::Special(special) = operand else { return 0 };
        match special {
            Special::Axis(Grid::Tid, axis) => *axis as usize + 1,
            Special::Whole(Grid::Tid) => 3,
            Special::Axis(..) | Special::Whole(_) => 0,
            Special::Scalar(_) | Special::Envreg(_) | Special::Pm(..) => 0,
        }
    };
    let operands = body.instructions().flat_map(|i| i.src.iter().flat_map(Operand::lanes));
    operands.map(needed).max().unwrap_or(0).min(3)
}

/// Whether all arithmetic on floats is single precision with `.ftz`, as in a module compiled for fast math: its
/// conversions to whole numbers mostly have none, and do not need it.
fn flushes_everywhere(body: &Body) -> bool {
    let uses: Vec<Flush> = body.instructions().map(|i| flush(&i.op)).collect();
    cfg!(target_arch = "x86_64") && uses.contains(&Flush::Wanted) && !uses.contains(&Flush::Wrong)
}

/// What an instruction says to a processor that flushes subnormals.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flush {
    /// It is to flush.
    Wanted,
    /// It makes no difference.
    Same,
    /// Its result would be wrong, or may be.
    Wrong,
}

fn flush(op: &Op) -> Flush {
    match op.facts().floats {
        Floats::None => Flush::Same,
        Floats::Of { ty: Type::F32, ftz: true } => Flush::Wanted,
        Floats::Of { .. } | Floats::Any => Flush::Wrong,
    }
}

/// Whether it is no barrier or warp operation, or the common barrier of all threads.
fn is_plain(i: &Instruction) -> bool {
    if let Op::Bar { kind, aligned: _ } = i.op {
        return kind == BarKind::Sync && matches!(i.src[..], [Operand::Int(0)]);
    }
    resume_kind(i).is_none()
}

impl Lower<'_, '_> {
    /// Waits at `instruction`, the statement `at`, and goes on in `resume`.
    pub(super) fn wait(&mut self, at: usize, instruction: &Instruction, resume: Block) -> Step {
        let kind = resume_kind(instruction).ok_or(Unsupported::Part("not a place to wait"))?;
        let site = self.site(site_kind(kind));
        let point = self.plan().point(at)?;
        self.plan_mut().resume(point.state, kind, site);
        if self.plan().schedule == Schedule::Warp {
            self.hand_over(instruction, kind)?;
        }
        self.suspend(&point.spills, point.state | BLOCKED);

        self.b.switch_to_block(resume);
        self.reload(&point)?;
        self.receive(instruction)
    }

    /// Spills the registers of the thread and stores its state; the next thread's turn comes.
    pub(super) fn suspend(&mut self, spills: &[(Reg, usize)], state: u32) {
        self.spill(spills);
        let memory = self.state_memory(1);
        let state = self.b.ins().iconst(types::I32, i64::from(state));
        self.store(state, memory, 0);
        let next = self.targets().next();
        self.b.ins().jump(next, &[]);
    }

    /// Where this thread's element lies in an array of elements of `bytes` bytes, less the array's offset.
    pub(super) fn element(&mut self, base: Value, bytes: u32) -> Value {
        let index = self.current_index();
        let wide = self.b.ins().uextend(types::I64, index);
        let offset = self.b.ins().ishl_imm_u(wide, i64::from(bytes.trailing_zeros()));
        self.b.ins().iadd(base, offset)
    }

    /// Where registers of so many bytes are spilled, of so many threads from the one whose turn it is, in an array at
    /// `offset` in the spilled registers of waiting threads.
    pub(super) fn spill_memory(&mut self, offset: usize, bytes: u32, threads: usize) -> MemorySpan {
        let spill = self.context_u64(offset_of!(BlockContext, spill));
        let address = self.element(spill, bytes);
        MemorySpan::new(address, offset as i64, u64::from(bytes) * threads as u64)
    }

    /// The elements of so many threads, from the one whose turn it is, in an array of what threads hand over.
    pub(super) fn exchange_memory(
        &mut self,
        field: usize,
        bytes: u32,
        threads: usize,
    ) -> MemorySpan {
        let exchange = self.context_u64(offset_of!(BlockContext, exchange));
        let address = self.element(exchange, bytes);
        MemorySpan::new(address, field as i64, u64::from(bytes) * threads as u64)
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
    pub(super) fn reload(&mut self, point: &Point) -> Step {
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
    pub(super) fn constant(&mut self, reg: Reg) -> Step<Value> {
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

    fn give_value(&mut self, value: Value) {
        let wide = self.fit(value, types::I64);
        self.give(wide, offset_of!(Exchange, value));
    }

    fn give_operand(&mut self, i: &Instruction, at: usize, field: usize) -> Step {
        let value = match i.src.get(at) {
            Some(_) => self.source(i, at, Type::U32)?,
            None => self.b.ins().iconst(types::I32, 0),
        };
        self.give(value, field);
        Ok(())
    }

    /// What others need to know of a thread that waits.
    pub(super) fn hand_over(&mut self, i: &Instruction, kind: Resume) -> Step {
        let mask = offset_of!(Exchange, mask);
        let op = match kind {
            Resume::Warp(op) => op,
            Resume::Barrier { reduce } => {
                self.give_operand(i, 0, mask)?;
                let reduces = reduce != Reduce::Nothing;
                let counted = i.src.len() > 1 + usize::from(reduces);
                let count = if counted { 1 } else { usize::MAX };
                self.give_operand(i, count, offset_of!(Exchange, b))?;
                if reduces {
                    let predicate = self.source(i, i.src.len() - 1, Type::Pred)?;
                    self.give_value(predicate);
                }
                return Ok(());
            }
            Resume::Start | Resume::Yield { .. } => return Ok(()),
        };
        let ty = match op {
            WarpOp::Activemask => return Ok(()),
            WarpOp::Sync | WarpOp::Elect => return self.give_operand(i, 0, mask),
            WarpOp::Shfl(_) => {
                let value = self.source(i, 0, warp_value(&i.op, op))?;
                self.give_value(value);
                self.give_operand(i, 1, offset_of!(Exchange, b))?;
                self.give_operand(i, 2, offset_of!(Exchange, c))?;
                return self.give_operand(i, 3, mask);
            }
            WarpOp::Matrix(matrix) => return self.give_matrix(i, &matrix),
            WarpOp::Vote(_) | WarpOp::Redux(..) | WarpOp::Match { .. } => warp_value(&i.op, op),
        };
        let value = self.source(i, 0, ty)?;
        self.give_value(value);
        self.give_operand(i, 1, mask)
    }

    /// Writes what a thread gets for its waiting.
    pub(super) fn receive(&mut self, i: &Instruction) -> Step {
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
        let all = self.b.ins().iconst(types::I32, i64::from(u32::MAX));
        self.give(all, offset_of!(Exchange, mask));
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
    pub(super) fn arrive(&mut self, i: &Instruction) -> Step {
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
}
