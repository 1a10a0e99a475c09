//! A PTX function becomes a CLIF function: its frame, the loop over threads, registers and operands. What
//! single instructions become stands in the submodules, one a family.
//!
//! Enters: a function of the typed PTX. Leaves: one function of Cranelift's. Must not know: `device::cpu::interp`,
//! `device::cpu::launch`, `device::cpu::jit::code`, `device::cpu::jit::lanes`.

mod access;
pub(super) mod approximate;
mod atomic;
mod bits;
mod call;
mod control;
mod convert;
mod float;
mod half;
mod imports;
mod integer;
mod mbarrier;
mod memory;
mod operation;
mod special;
mod texture;
mod threads;
mod wait;
mod walk;
mod window;

use std::mem::offset_of;

use cranelift_codegen::ir::{
    self, Block, BlockArg, InstBuilder, MemFlagsData, Value, condcodes::IntCC, types,
};
use cranelift_frontend::{FunctionBuilder, Variable};
use cranelift_jit::JITModule;

pub(in crate::device::cpu) use call::PROVIDED;
pub(super) use float::{LARGEST_DIVISOR, is_simple_bound};
pub(super) use integer::{condition as int_condition, float_condition};
pub(super) use memory::Checked;
pub(super) use walk::{Walk, kernel};

pub(super) use super::clif::{clif_type, int_type};
pub(super) use crate::device::cpu::location::Unsupported;

use super::{
    Schedule, Unit, kernel::SiteKind, known::Known, sites::Sites, span::MemorySpan, sync,
    windows::Windows,
};
use crate::{
    device::{
        Result,
        cpu::{
            abi::{BlockContext, DONE},
            layout::StackFrame,
        },
    },
    ptx::{
        ast::{Body, Function, FunctionKind, LocationId, Statement},
        inst::{Instruction, Op},
        operand::{Label, Operand, Reg},
        types::Type,
    },
};
use imports::Imports;
use threads::Thread;

/// What a device function returns where the thread has ended by `exit`.
const EXITED: i64 = 1;

/// What the lowering of one instruction gives.
pub(super) type Step<T = ()> = std::result::Result<T, Unsupported<'static>>;

/// A function on its way to CLIF, for one thread at a time.
pub(super) struct Lower<'a, 'f> {
    /// The CLIF function.
    pub(super) b: FunctionBuilder<'f>,
    imports: Imports<'f>,
    source: FunctionInput<'a>,
    /// Where threads wait, and what follows from that.
    plan: sync::WaitPlan,
    /// How far the memory reaches that arguments point into.
    windows: Windows,
    /// Where stopped threads are said to have stopped.
    sites: &'f mut Sites<'a>,
    /// The source line of what is made now.
    location: Option<LocationId>,
    /// The line of the PTX that is translated.
    line: Option<u32>,
    /// The context's address.
    context: Value,
    /// Addresses of the parameters and results of a device function; what a kernel is called with.
    arguments: Vec<Value>,
    thread: Thread,
    targets: Targets,
    /// Where a stopped thread leaves: site and address are its parameters.
    stop: Block,
    /// An access was compiled that does not lie in its memory span.
    outside: bool,
    /// How often the code runs that is emitted now.
    pub(super) runs: Runs,
    /// Code that is emitted now runs for some threads of a group: the lane of the first of them, in 32 bits, and how
    /// many follow it, in 64.
    pub(super) present: Option<[Variable; 2]>,
}

/// How often code runs, of a group's threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runs {
    /// Once for each, alone or beside others in a vector.
    ForEach,
    /// Once for all; whether the access that it makes was checked before.
    OnceForAll { checked: bool },
}

/// What is known of a function before its code is made.
pub(super) struct FunctionInput<'a> {
    pub(super) unit: &'a Unit<'a>,
    /// The function's index in the module.
    pub(super) index: usize,
    pub(super) function: &'a Function,
    pub(super) body: &'a Body,
    pub(super) frame: &'a StackFrame,
    /// How many threads run side by side: 1 where there is no code for groups. A kernel whose threads never wait has so
    /// many frames of local memory: they take turns in using them.
    pub(super) width: i64,
    /// Registers that hold an address known when compiling.
    pub(super) known: Known,
    /// Which labels begin a loop.
    pub(super) headers: Vec<bool>,
}

/// Where branches and ends lead.
#[derive(Clone)]
pub(super) struct Targets {
    labels: Vec<Block>,
    /// Where a kernel's thread goes that has ended or waits.
    next: Block,
}

impl Targets {
    pub(super) fn new(labels: Vec<Block>, next: Block) -> Self {
        Self { labels, next }
    }

    /// Blocks for a body's labels.
    pub(super) fn labels(b: &mut FunctionBuilder<'_>, body: &Body) -> Vec<Block> {
        body.labels.iter().map(|_| b.create_block()).collect()
    }

    /// The same, with blocks of their own for some labels.
    pub(super) fn with_own(
        mut self,
        b: &mut FunctionBuilder<'_>,
        labels: impl Iterator<Item = Label>,
    ) -> Self {
        labels.for_each(|label| self.labels[label.0 as usize] = b.create_block());
        self
    }

    /// The block of a label.
    pub(super) fn label(&self, label: Label) -> Block {
        self.labels[label.0 as usize]
    }

    /// Where a kernel's thread goes that has ended or waits.
    pub(super) fn next(&self) -> Block {
        self.next
    }
}

impl<'a, 'f> Lower<'a, 'f> {
    /// Begins with the entry of the CLIF function.
    pub(super) fn new(
        mut b: FunctionBuilder<'f>,
        code: &'f mut JITModule,
        source: FunctionInput<'a>,
        plan: sync::WaitPlan,
        sites: &'f mut Sites<'a>,
    ) -> Self {
        let body = source.body;
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let arguments = b.block_params(entry).to_vec();
        let labels = Targets::labels(&mut b, body);
        let thread = Thread::new(&mut b, body);
        let [stop, next] = [(); 2].map(|()| b.create_block());
        b.set_cold_block(stop);
        Self {
            b,
            imports: Imports::new(code),
            windows: Windows::new(source.unit, source.index, source.function, body),
            source,
            plan,
            sites,
            location: body.instructions().find_map(|i| i.location),
            line: None,
            context: arguments[0],
            arguments: arguments[1..].to_vec(),
            thread,
            targets: Targets::new(labels, next),
            stop,
            outside: false,
            runs: Runs::ForEach,
            present: None,
        }
    }

    /// How many threads run side by side.
    pub(super) fn width(&self) -> i64 {
        self.source.width
    }

    /// Ends the CLIF function, and says where its threads wait.
    pub(super) fn finish(mut self) -> Result<sync::WaitPlan> {
        if self.outside {
            return Err(super::internal("an access outside its span"));
        }
        self.b.seal_all_blocks();
        self.b.finalize(self.imports.target_config());
        Ok(self.plan)
    }

    // What others ask of it -------------------------------------------------------------------------

    pub(super) fn is_kernel(&self) -> bool {
        self.source.function.kind == FunctionKind::Entry
    }

    pub(super) fn unit(&self) -> &'a Unit<'a> {
        self.source.unit
    }

    pub(super) fn body(&self) -> &'a Body {
        self.source.body
    }

    /// Where threads wait, and what follows from that.
    pub(super) fn plan(&self) -> &sync::WaitPlan {
        &self.plan
    }

    pub(super) fn plan_mut(&mut self) -> &mut sync::WaitPlan {
        &mut self.plan
    }

    pub(super) fn windows(&mut self) -> &mut Windows {
        &mut self.windows
    }

    /// The context's address.
    pub(super) fn context(&self) -> Value {
        self.context
    }

    pub(super) fn targets(&self) -> &Targets {
        &self.targets
    }

    /// Makes branches and ends lead elsewhere, and says where they led before.
    pub(super) fn replace_targets(&mut self, targets: Targets) -> Targets {
        std::mem::replace(&mut self.targets, targets)
    }

    /// Has the translation fail at its end unless an access lies in its memory span.
    pub(super) fn require_inside(&mut self, inside: bool) {
        self.outside |= !inside;
    }
}

impl Lower<'_, '_> {
    // Statements -----------------------------------------------------------------------------------

    /// Whether the function may become larger than it is, and its translation take longer than it has.
    pub(super) fn check_limits(&self) -> Result<()> {
        self.source.unit.limits.check(&self.source.function.name, self.b.func)
    }

    /// The error for an instruction that is not supported.
    pub(super) fn unsupported(
        &self,
        instruction: &Instruction,
        what: Unsupported<'_>,
    ) -> crate::device::Error {
        self.sites.unsupported(instruction, what)
    }

    /// Whether a loop begins at a label, the statement at `index`; if so, what is made next is for its first line.
    pub(super) fn begins_loop(&mut self, label: Label, index: usize) -> bool {
        let begins = self.source.headers[label.0 as usize];
        if begins {
            let rest = &self.source.body.statements[index..];
            self.location = next_location(rest).or(self.location);
        }
        begins
    }

    /// An iteration of a loop begins: the thread looks whether it is to stop, or, where it may wait in the loop for
    /// others, yields once in a while and goes on at `resume`.
    fn begin_iteration(&mut self, index: usize, resume: Option<Block>) -> Result<()> {
        match resume {
            Some(resume) => {
                self.yield_turn(index, resume).map_err(|what| super::internal(&format!("{what:?}")))
            }
            None => {
                self.poll();
                Ok(())
            }
        }
    }

    pub(super) fn is_filled(&mut self) -> bool {
        let Some(block) = self.b.current_block() else { return true };
        let last = self.b.func.layout.last_inst(block);
        last.is_some_and(|inst| self.b.func.dfg.insts[inst].opcode().is_terminator())
    }

    /// Begins a block to which all branches have been made: what a register holds there is known at once.
    pub(super) fn begin_block(&mut self, block: Block) {
        self.b.switch_to_block(block);
        self.b.seal_block(block);
    }

    pub(super) fn label(&mut self, label: Label) {
        let block = self.targets.label(label);
        if !self.is_filled() {
            self.b.ins().jump(block, &[]);
        }
        self.b.switch_to_block(block);
    }

    /// What is made next is for this instruction, and stands in a block even if nothing reaches it.
    pub(super) fn begin_instruction(&mut self, instruction: &Instruction) {
        self.open_block();
        self.location = instruction.location.or(self.location);
        self.line = Some(instruction.line).filter(|line| *line > 0);
    }

    /// Opens a block for what follows if the last one has its end already; nothing reaches that block.
    pub(super) fn open_block(&mut self) {
        if self.is_filled() {
            let block = self.b.create_block();
            self.b.switch_to_block(block);
        }
    }

    /// What a group's threads do as one; where it makes an access, whether that was checked before.
    pub(super) fn instruction_for_all(
        &mut self,
        index: usize,
        i: &Instruction,
        checked: bool,
    ) -> Step {
        self.runs = Runs::OnceForAll { checked };
        let made = self.instruction(index, i, None);
        self.runs = Runs::ForEach;
        made
    }

    /// Whether the code that is emitted now runs once for all of a group's threads.
    pub(super) fn is_for_all(&self) -> bool {
        matches!(self.runs, Runs::OnceForAll { .. })
    }

    /// Whether the access that is made now was checked before.
    pub(super) fn is_checked(&self) -> bool {
        self.runs == Runs::OnceForAll { checked: true }
    }

    pub(super) fn instruction(
        &mut self,
        index: usize,
        instruction: &Instruction,
        resume: Option<Block>,
    ) -> Step {
        self.begin_instruction(instruction);
        if let Op::Bra { .. } = instruction.op {
            return self.branch(instruction);
        }
        let after = match instruction.guard {
            None => None,
            Some(guard) => {
                let holds = self.register(guard.reg, Type::Pred);
                let [then, after] = [(); 2].map(|()| self.b.create_block());
                let (yes, no) = if guard.negated { (after, then) } else { (then, after) };
                self.b.ins().brif(holds, yes, &[], no, &[]);
                self.b.switch_to_block(then);
                Some(after)
            }
        };
        match resume {
            Some(resume) => self.wait(index, instruction, resume)?,
            None => self.operation(instruction)?,
        }
        if let Some(after) = after {
            if !self.is_filled() {
                self.b.ins().jump(after, &[]);
            }
            self.b.switch_to_block(after);
        }
        Ok(())
    }

    // Registers and operands -----------------------------------------------------------------------

    pub(super) fn variable(&self, reg: Reg) -> Variable {
        self.thread.register(reg)
    }

    /// The value of a register as one of type `ty`.
    pub(super) fn register(&mut self, reg: Reg, ty: Type) -> Value {
        let value = self.b.use_var(self.variable(reg));
        self.fit(value, clif_type(ty))
    }

    /// `value` in `ty`: the same bits, the low ones of a wider, zeros above a narrower.
    pub(super) fn fit(&mut self, value: Value, ty: ir::Type) -> Value {
        let from = self.b.func.dfg.value_type(value);
        if from == ty {
            return value;
        }
        let value =
            if from.is_float() { self.bitcast(value, int_type(from.bytes())) } else { value };
        let int = int_type(ty.bytes());
        let value = match from.bytes().cmp(&ty.bytes()) {
            std::cmp::Ordering::Less => self.b.ins().uextend(int, value),
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Greater => self.b.ins().ireduce(int, value),
        };
        if ty.is_float() { self.bitcast(value, ty) } else { value }
    }

    pub(super) fn bitcast(&mut self, value: Value, ty: ir::Type) -> Value {
        if self.b.func.dfg.value_type(value) == ty {
            return value;
        }
        self.b.ins().bitcast(ty, MemFlagsData::new(), value)
    }

    /// A source operand as a value of type `ty`.
    pub(super) fn value(&mut self, operand: &Operand, ty: Type) -> Step<Value> {
        let clif = clif_type(ty);
        Ok(match operand {
            Operand::Reg(reg) => self.register(*reg, ty),
            Operand::Not(reg) => {
                let value = self.register(*reg, Type::Pred);
                self.b.ins().bxor_imm_u(value, 1)
            }
            Operand::Int(int) if ty == Type::Pred => {
                self.b.ins().iconst(types::I8, i64::from(*int != 0))
            }
            Operand::Int(int) => self.int(*int, clif),
            Operand::F32(bits) if ty == Type::F64 => {
                self.b.ins().f64const(f64::from(f32::from_bits(*bits)))
            }
            Operand::F32(bits) => self.int(i64::from(*bits), clif),
            Operand::F64(bits) if ty == Type::F32 => {
                self.b.ins().f32const(f64::from_bits(*bits) as f32)
            }
            Operand::F64(bits) => self.int(*bits as i64, clif),
            Operand::Special(special) => {
                let value = self.special(*special)?;
                self.fit(value, clif)
            }
            Operand::Symbol(symbol, offset) => {
                let address = self.symbol_address(*symbol, *offset)?;
                self.fit(address, clif)
            }
            Operand::Vector(parts) => self.pack(parts, ty)?,
            Operand::Address(_) | Operand::Bracket(_) | Operand::Label(_) => {
                return Err(Unsupported::Part("an operand of another kind"));
            }
            Operand::Table(_) | Operand::Sink => {
                return Err(Unsupported::Part("an operand of another kind"));
            }
        })
    }

    /// A constant by its bits.
    pub(super) fn int(&mut self, bits: i64, ty: ir::Type) -> Value {
        match ty {
            types::F32 => self.b.ins().f32const(f32::from_bits(bits as u32)),
            types::F64 => self.b.ins().f64const(f64::from_bits(bits as u64)),
            types::I128 => {
                let low = self.b.ins().iconst(types::I64, bits);
                self.b.ins().sextend(types::I128, low)
            }
            _ => {
                let masked = match ty.bits() {
                    64 => bits,
                    width => bits & ((1 << width) - 1),
                };
                self.b.ins().iconst(ty, masked)
            }
        }
    }

    /// The first source operands as values of type `ty`.
    pub(super) fn sources<const N: usize>(
        &mut self,
        i: &Instruction,
        ty: Type,
    ) -> Step<[Value; N]> {
        let mut values = [None; N];
        for (value, operand) in values.iter_mut().zip(&i.src) {
            *value = Some(self.value(operand, ty)?);
        }
        match values.iter().all(Option::is_some) {
            true => Ok(values.map(|value| value.unwrap_or(self.context))),
            false => Err(Unsupported::Part("too few operands")),
        }
    }

    pub(super) fn source(&mut self, i: &Instruction, at: usize, ty: Type) -> Step<Value> {
        let operand = i.src.get(at).ok_or(Unsupported::Part("too few operands"))?;
        self.value(operand, ty)
    }

    /// Writes the first destination.
    pub(super) fn set(&mut self, i: &Instruction, value: Value) -> Step {
        let operand = i.dst.first().ok_or(Unsupported::Part("no destination"))?;
        self.set_operand(operand, value)
    }

    pub(super) fn set_operand(&mut self, operand: &Operand, value: Value) -> Step {
        if let Operand::Sink = operand {
            return Ok(());
        }
        if let Operand::Vector(parts) = operand {
            return self.unpack(parts, value);
        }
        let reg = operand.reg().ok_or(Unsupported::Part("a destination of another kind"))?;
        let value = self.fit(value, clif_type(self.source.body.registers.ty(reg)));
        self.b.def_var(self.variable(reg), value);
        Ok(())
    }

    /// Writes the first destination, `ty` extended by its sign where the register is wider.
    pub(super) fn set_extended(&mut self, operand: &Operand, value: Value, ty: Type) -> Step {
        let Some(reg) = operand.reg() else { return self.set_operand(operand, value) };
        let wide = clif_type(self.source.body.registers.ty(reg));
        let from = self.b.func.dfg.value_type(value);
        let value = if ty.is_signed() && from.is_int() && from.bytes() < wide.bytes() {
            let int = int_type(wide.bytes());
            self.b.ins().sextend(int, value)
        } else {
            value
        };
        self.set_operand(operand, value)
    }

    // Context and stopping -------------------------------------------------------------------------

    /// The context of the block that runs.
    pub(super) fn context_memory(&self) -> MemorySpan {
        MemorySpan::new(self.context, 0, size_of::<BlockContext>() as u64)
    }

    /// A field of the context that does not change while the code runs.
    pub(super) fn context_field(&mut self, ty: ir::Type, offset: usize) -> Value {
        self.load_constant(ty, self.context_memory(), offset as i64)
    }

    pub(super) fn context_u64(&mut self, offset: usize) -> Value {
        self.context_field(types::I64, offset)
    }

    pub(super) fn context_u32(&mut self, offset: usize) -> Value {
        self.context_field(types::I32, offset)
    }

    pub(super) fn set_context(&mut self, value: Value, offset: usize) {
        self.store(value, self.context_memory(), offset as i64);
    }

    pub(super) fn site(&mut self, kind: SiteKind) -> u32 {
        self.sites.add(kind, self.location, self.line)
    }

    /// Goes on where `fine` holds, else stops the thread.
    pub(super) fn stop_unless(&mut self, fine: Value, kind: SiteKind, address: Value) {
        let site = self.site(kind);
        let [on, stop] = [(); 2].map(|()| self.b.create_block());
        self.b.set_cold_block(stop);
        self.b.ins().brif(fine, on, &[], stop, &[]);
        self.begin_block(stop);
        self.stop_at(site, address);
        self.begin_block(on);
    }

    pub(super) fn stop_at(&mut self, site: u32, address: Value) {
        if let Some([first, _]) = self.present {
            let (index, first) = (self.current_index(), self.b.use_var(first));
            let at_fault = self.b.ins().iadd(index, first);
            self.set_current_index(at_fault);
        }
        let site = self.b.ins().iconst(types::I32, i64::from(site));
        self.b.ins().jump(self.stop, &[BlockArg::Value(site), BlockArg::Value(address)]);
    }

    /// Stops the thread where the launch is to stop.
    pub(super) fn poll(&mut self) {
        let abort = self.context_u64(offset_of!(BlockContext, abort));
        // Atomic, so that a loop without stores reads it again each time round.
        let flag = self.load_atomic(types::I32, MemorySpan::new(abort, 0, 4), 0);
        let fine = self.b.ins().icmp_imm_u(IntCC::Equal, flag, 0);
        let none = self.b.ins().iconst(types::I64, 0);
        self.stop_unless(fine, SiteKind::Poll, none);
    }

    /// The thread has ended.
    pub(super) fn leave(&mut self, status: i64) {
        if !self.is_kernel() {
            self.return_from_function(status);
            return;
        }
        if self.plan.schedule != Schedule::Free {
            let state = self.state_memory(1);
            let done = self.b.ins().iconst(types::I32, i64::from(DONE));
            self.store(done, state, 0);
        }
        self.b.ins().jump(self.targets.next, &[]);
    }

    /// Calls a function of the host.
    pub(super) fn host(
        &mut self,
        name: &'static str,
        arguments: &[Value],
        result: ir::Type,
    ) -> Step<Value> {
        let callee = self.imports.host(&mut self.b, name, arguments, result)?;
        let call = self.b.ins().call(callee, arguments);
        Ok(self.b.inst_results(call)[0])
    }
}

/// Zero of any type.
pub(super) fn zero_of(b: &mut FunctionBuilder<'_>, ty: ir::Type) -> Value {
    match ty {
        types::F32 => b.ins().f32const(0.0f32),
        types::F64 => b.ins().f64const(0.0f64),
        types::I128 => {
            let zero = b.ins().iconst(types::I64, 0);
            b.ins().uextend(types::I128, zero)
        }
        _ => b.ins().iconst(ty, 0),
    }
}

fn next_location(statements: &[Statement]) -> Option<LocationId> {
    statements.iter().find_map(|statement| match statement {
        Statement::Instruction(instruction) => instruction.location,
        Statement::Label(_) | Statement::Pragma(_) => None,
    })
}
