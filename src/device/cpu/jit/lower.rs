//! A PTX function becomes a CLIF function: its frame, the loop over threads, registers and operands. What
//! single instructions become stands in the submodules, one a family.

pub(super) mod approximate;
mod atomic;
mod bits;
mod call;
mod control;
mod convert;
mod float;
mod half;
mod integer;
mod mbarrier;
mod memory;
mod operation;
mod special;
mod texture;
mod threads;

use std::{collections::HashMap, mem::offset_of};

use cranelift_codegen::ir::{
    self, AbiParam, Block, BlockArg, FuncRef, InstBuilder, MemFlagsData, Value, condcodes::IntCC,
    types,
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use cranelift_jit::JITModule;
use cranelift_module::{Linkage, Module as _};

pub(in crate::device::cpu) use call::PROVIDED;
pub(super) use float::is_simple_bound;
pub(super) use integer::{condition as int_condition, float_condition};
pub(super) use memory::Checked;

pub(super) use crate::device::cpu::place::Unsupported;

use super::{
    Schedule, Unit,
    kernel::{ResumePoint, SiteKind},
    known::Known,
    lanes,
    place::Place,
    sites::Sites,
    sync,
    windows::Windows,
};
use crate::{
    device::{
        Result,
        cpu::{
            abi::{Context, DONE},
            layout::Frame,
        },
    },
    ptx::{
        ast::{Body, Function, FunctionKind, LocationId, Statement},
        cfg::{Cfg, Liveness},
        inst::{Instruction, Op},
        operand::{Label, Operand, Reg},
        types::Type,
    },
};

/// What a device function returns where the thread has ended by `exit`.
const EXITED: i64 = 1;
/// Local memory of a thread of a kernel that calls device functions, for their frames.
const STACK_BYTES: u64 = 32 << 10;

/// What the lowering of one instruction gives.
pub(super) type Step<T = ()> = std::result::Result<T, Unsupported<'static>>;

/// What is known of a function once it is lowered.
pub(super) struct Lowered {
    pub(super) schedule: Schedule,
    pub(super) shared_bytes: u64,
    pub(super) frame_bytes: u64,
    pub(super) local_bytes: u64,
    pub(super) spill_bytes: usize,
    pub(super) calls: bool,
    pub(super) yields: bool,
    pub(super) flushes: bool,
    pub(super) entry_site: u32,
    /// Whether threads run side by side, each with local memory of its own.
    pub(super) lanes: bool,
    pub(super) resumes: Vec<ResumePoint>,
}

/// A function on its way.
pub(super) struct Lower<'a, 'f> {
    pub(super) b: FunctionBuilder<'f>,
    pub(super) unit: &'a Unit<'a>,
    pub(super) code: &'f mut JITModule,
    /// The function's index in the module.
    index: usize,
    pub(super) function: &'a Function,
    pub(super) body: &'a Body,
    pub(super) plan: sync::Plan,
    /// How groups of threads run side by side, where they do.
    pub(super) lanes: Option<lanes::Plan>,
    pub(super) frame: &'a Frame,
    /// Registers that hold an address known when compiling.
    pub(super) known: Known,
    pub(super) windows: Windows,
    sites: &'f mut Sites<'a>,
    registers: Vec<Variable>,
    pub(super) labels: Vec<Block>,
    /// Which labels begin a loop.
    headers: Vec<bool>,
    /// The context's address.
    pub(super) context: Value,
    /// Addresses of the parameters and results of a device function; what a kernel is called with.
    arguments: Vec<Value>,
    pub(super) thread: Thread,
    /// The carry flag.
    carry: Variable,
    hosts: HashMap<&'static str, FuncRef>,
    /// Where a stopped thread leaves: site and address are its parameters.
    stop: Block,
    /// Where a thread goes that has ended or waits (kernels).
    pub(super) next: Block,
    /// First byte of the thread's frame in local memory.
    pub(super) local: Variable,
    pub(super) location: Option<LocationId>,
    /// An access was compiled that does not lie in its place.
    pub(super) outside: bool,
}

/// The thread whose turn it is, in a kernel.
pub(super) struct Thread {
    pub(super) index: Variable,
    pub(super) x: Variable,
    pub(super) y: Variable,
    pub(super) z: Variable,
    /// How many threads wait.
    pub(super) waiting: Variable,
    /// Turns round loops in which it may wait for others, since its turn began.
    pub(super) turns: Variable,
}

impl Thread {
    fn new(b: &mut FunctionBuilder<'_>) -> Self {
        let mut declare = || b.declare_var(types::I32);
        Self {
            index: declare(),
            x: declare(),
            y: declare(),
            z: declare(),
            waiting: declare(),
            turns: declare(),
        }
    }
}

/// Lowers `function` into `clif`.
pub(super) fn function<'a, 'f>(
    unit: &'a Unit<'a>,
    index: usize,
    function: &'a Function,
    code: &'f mut JITModule,
    clif: &'f mut ir::Function,
    builder: &'f mut FunctionBuilderContext,
    sites: &'f mut Sites<'a>,
) -> Result<Lowered> {
    let Some(body) = &function.body else { return Err(super::internal("a function without body")) };
    let cfg = Cfg::new(body);
    unit.limits.check_flow(&function.name, &cfg)?;
    let liveness = Liveness::new(body, &cfg, &[]);
    unit.limits.check_registers(&function.name, body, &cfg, &liveness)?;
    let mut plan = sync::Plan::new(function, body, &cfg, &liveness);
    unit.limits.check_kept(&function.name, &plan)?;
    let headers = super::flow::loop_headers(body, &cfg);
    let Some(frame) = unit.layout.frame(index) else {
        return Err(super::internal("a function without a frame"));
    };
    let known = Known::new(body);
    let windows = Windows::new(unit, index, function, body);
    let mut b = FunctionBuilder::new(clif, builder);
    let lanes = lanes::Plan::new(&mut b, function, body, (&cfg, &liveness), &plan, unit.lanes);
    plan.spill_bytes = lanes.as_ref().map_or(plan.spill_bytes, lanes::Plan::spill_bytes);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let arguments = b.block_params(entry).to_vec();
    let registers = body.registers.types().iter().map(|ty| b.declare_var(clif_type(*ty))).collect();
    let labels = body.labels.iter().map(|_| b.create_block()).collect();
    let thread = Thread::new(&mut b);
    let (stop, next) = (b.create_block(), b.create_block());
    let (carry, local) = (b.declare_var(types::I8), b.declare_var(types::I64));
    b.set_cold_block(stop);
    let first = body.instructions().find_map(|i| i.location);
    let entry_site = sites.add(SiteKind::Poll, first);
    let mut lower = Lower {
        b,
        unit,
        code,
        index,
        function,
        body,
        plan,
        lanes,
        frame,
        known,
        windows,
        sites,
        registers,
        labels,
        headers,
        context: arguments[0],
        arguments: arguments[1..].to_vec(),
        thread,
        carry,
        hosts: HashMap::new(),
        stop,
        next,
        local,
        location: first,
        outside: false,
    };
    match function.kind {
        FunctionKind::Entry => lower.kernel()?,
        FunctionKind::Func => lower.device_function()?,
    }
    if lower.outside {
        return Err(super::internal("an access outside its place"));
    }
    let config = lower.code.target_config();
    lower.b.seal_all_blocks();
    let calls = lower.plan.calls;
    let lowered = Lowered {
        schedule: lower.plan.schedule,
        shared_bytes: lower.frame.shared_bytes,
        frame_bytes: lower.frame.local_bytes,
        local_bytes: lower.frame.local_bytes + if calls { STACK_BYTES } else { 0 },
        spill_bytes: lower.plan.spill_bytes,
        calls,
        yields: !lower.plan.spins.is_empty(),
        flushes: lower.plan.flushes,
        entry_site,
        lanes: lower.lanes.is_some(),
        resumes: std::mem::take(&mut lower.plan.resumes),
    };
    lower.b.finalize(config);
    Ok(lowered)
}

/// The CLIF type of a register of this type.
pub(super) fn clif_type(ty: Type) -> ir::Type {
    match ty {
        Type::Pred | Type::B8 | Type::U8 | Type::S8 => types::I8,
        Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::Bf16 => types::I16,
        Type::E4m3x2 | Type::E5m2x2 => types::I16,
        Type::F32 => types::F32,
        Type::F64 => types::F64,
        Type::B128 => types::I128,
        Type::B64 | Type::U64 | Type::S64 | Type::F32x2 => types::I64,
        Type::Texref | Type::Samplerref | Type::Surfref => types::I64,
        Type::B32 | Type::U32 | Type::S32 | Type::Tf32 => types::I32,
        Type::F16x2 | Type::Bf16x2 | Type::U16x2 | Type::S16x2 => types::I32,
    }
}

/// The CLIF integer of so many bytes.
pub(super) fn int_type(bytes: u32) -> ir::Type {
    match bytes {
        1 => types::I8,
        2 => types::I16,
        4 => types::I32,
        8 => types::I64,
        _ => types::I128,
    }
}

impl Lower<'_, '_> {
    pub(super) fn is_kernel(&self) -> bool {
        self.function.kind == FunctionKind::Entry
    }

    // Statements -----------------------------------------------------------------------------------

    fn statements(&mut self, resumes: &[Block]) -> Result<()> {
        let body = self.body;
        let mut resumes = resumes.iter().copied();
        for (index, statement) in body.statements.iter().enumerate() {
            self.check_limits()?;
            self.entry_point(index);
            match statement {
                Statement::Label(label) => {
                    self.label(*label);
                    self.join_point(index);
                    if self.headers[label.0 as usize] {
                        self.location = next_location(&body.statements[index..]).or(self.location);
                        match self.plan.waits_at(index).then(|| resumes.next()).flatten() {
                            Some(resume) => self
                                .yield_turn(index, resume)
                                .map_err(|what| super::internal(&format!("{what:?}")))?,
                            None => self.poll(),
                        }
                    }
                }
                Statement::Instruction(instruction) => {
                    self.join_point(index);
                    let resume = self.plan.waits_at(index).then(|| resumes.next()).flatten();
                    self.instruction(index, instruction, resume)
                        .map_err(|what| self.sites.unsupported(instruction, what))?;
                }
                Statement::Pragma(_) => {}
            }
        }
        // A body that does not end in `ret` returns all the same.
        if !self.is_filled() {
            self.leave(0);
        }
        Ok(())
    }

    /// Whether the function may become larger than it is, and its translation take longer than it has.
    pub(super) fn check_limits(&self) -> Result<()> {
        self.unit.limits.check(&self.function.name, self.b.func)
    }

    /// The error for an instruction that is not supported.
    pub(super) fn unsupported(
        &self,
        instruction: &Instruction,
        what: Unsupported<'_>,
    ) -> crate::device::Error {
        self.sites.unsupported(instruction, what)
    }

    /// A label of a group's way, and what stops its loops.
    pub(super) fn group_label(&mut self, label: Label, index: usize) {
        self.label(label);
        if self.headers[label.0 as usize] {
            let rest = &self.body.statements[index..];
            self.location = next_location(rest).or(self.location);
            self.poll();
        }
    }

    pub(super) fn is_filled(&mut self) -> bool {
        let Some(block) = self.b.current_block() else { return true };
        let last = self.b.func.layout.last_inst(block);
        last.is_some_and(|inst| self.b.func.dfg.insts[inst].opcode().is_terminator())
    }

    pub(super) fn label(&mut self, label: Label) {
        let block = self.labels[label.0 as usize];
        if !self.is_filled() {
            self.b.ins().jump(block, &[]);
        }
        self.b.switch_to_block(block);
    }

    pub(super) fn instruction(
        &mut self,
        index: usize,
        instruction: &Instruction,
        resume: Option<Block>,
    ) -> Step {
        if self.is_filled() {
            // Code that nothing reaches.
            let block = self.b.create_block();
            self.b.switch_to_block(block);
        }
        self.location = instruction.location.or(self.location);
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
        self.registers[reg.0 as usize]
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
        let value = self.fit(value, clif_type(self.body.registers.ty(reg)));
        self.b.def_var(self.variable(reg), value);
        Ok(())
    }

    /// Writes the first destination, `ty` extended by its sign where the register is wider.
    pub(super) fn set_extended(&mut self, operand: &Operand, value: Value, ty: Type) -> Step {
        let Some(reg) = operand.reg() else { return self.set_operand(operand, value) };
        let wide = clif_type(self.body.registers.ty(reg));
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
    pub(super) fn context_place(&self) -> Place {
        Place::new(self.context, 0, size_of::<Context>() as u64)
    }

    /// A field of the context that does not change while the code runs.
    pub(super) fn context_field(&mut self, ty: ir::Type, offset: usize) -> Value {
        self.load_constant(ty, self.context_place(), offset as i64)
    }

    pub(super) fn context_u64(&mut self, offset: usize) -> Value {
        self.context_field(types::I64, offset)
    }

    pub(super) fn context_u32(&mut self, offset: usize) -> Value {
        self.context_field(types::I32, offset)
    }

    pub(super) fn set_context(&mut self, value: Value, offset: usize) {
        self.store(value, self.context_place(), offset as i64);
    }

    pub(super) fn site(&mut self, kind: SiteKind) -> u32 {
        self.sites.add(kind, self.location)
    }

    /// Goes on where `fine` holds, else stops the thread.
    pub(super) fn stop_unless(&mut self, fine: Value, kind: SiteKind, address: Value) {
        let site = self.site(kind);
        let [on, stop] = [(); 2].map(|()| self.b.create_block());
        self.b.set_cold_block(stop);
        self.b.ins().brif(fine, on, &[], stop, &[]);
        self.b.switch_to_block(stop);
        self.stop_at(site, address);
        self.b.switch_to_block(on);
    }

    pub(super) fn stop_at(&mut self, site: u32, address: Value) {
        let site = self.b.ins().iconst(types::I32, i64::from(site));
        self.b.ins().jump(self.stop, &[BlockArg::Value(site), BlockArg::Value(address)]);
    }

    /// Stops the thread where the launch is to stop.
    pub(super) fn poll(&mut self) {
        let abort = self.context_u64(offset_of!(Context, abort));
        // Atomic, so that a loop without stores reads it again each time round.
        let flag = self.load_atomic(types::I32, Place::new(abort, 0, 4), 0);
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
            let state = self.state_place(1);
            let done = self.b.ins().iconst(types::I32, i64::from(DONE));
            self.store(done, state, 0);
        }
        self.b.ins().jump(self.next, &[]);
    }

    pub(super) fn next_block(&self) -> Block {
        self.next
    }

    /// Calls a function of the host.
    pub(super) fn host(
        &mut self,
        name: &'static str,
        arguments: &[Value],
        result: ir::Type,
    ) -> Step<Value> {
        let known = self.hosts.get(name).copied();
        let callee = match known {
            Some(callee) => callee,
            None => {
                let mut signature = self.code.make_signature();
                for argument in arguments {
                    let ty = self.b.func.dfg.value_type(*argument);
                    signature.params.push(AbiParam::new(ty));
                }
                signature.returns.push(AbiParam::new(result));
                let id = self.code.declare_function(name, Linkage::Import, &signature);
                let id =
                    id.map_err(|_| Unsupported::Part("a host function with two signatures"))?;
                let callee = self.code.declare_func_in_func(id, self.b.func);
                self.hosts.insert(name, callee);
                callee
            }
        };
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
