//! One thread at a time: fetching an instruction and doing what it says.

use std::sync::{Arc, atomic::AtomicU32};

use super::{
    env::Env,
    program::{Action, Call, Code, Dst, Fill, Inst, Program, Target},
    thread::{Activation, Arrival, State, Thread, Waiting},
    value,
    watch::Watch,
};
use crate::{
    device::{
        Fault, FaultKind, LaunchConfig,
        cpu::{
            abi::RESERVED_SHARED_BYTES, layout::function_of, location, memory::Range,
            printf::Prints, shared::Shared, texture::Snapshot,
        },
    },
    ptx::{
        ast::FunctionKind,
        inst::Op,
        modifier::BarKind,
        op::WarpOp,
        operand::{Grid, Scalar, Special},
    },
};

/// A loop of so many rounds in which a thread looks at memory that others write gives the others their turn.
const SPINS: u32 = 8;

/// A launch that is interpreted: what is the same for all its blocks.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) shared: Arc<Shared>,
    pub(super) program: Arc<Program>,
    /// The kernel, as a function of the module.
    pub(super) kernel: u32,
    pub(super) config: LaunchConfig,
    pub(super) abort: Arc<AtomicU32>,
    pub(super) prints: Prints,
    /// Textures and surfaces.
    pub(super) objects: Arc<Snapshot>,
    /// The kernel's parameters.
    pub(super) params: Range,
    /// What the blocks of a cooperative launch meet at.
    pub(super) workspace: u64,
    /// Instructions so far: the clock.
    pub(super) executed: u64,
    /// Whether the threads of a warp go on together.
    pub(super) lockstep: bool,
    pub(super) watch: Option<Box<Watch>>,
}

/// Why a thread cannot go on.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) kind: FaultKind,
    /// Address, width and state space of an access.
    pub(super) access: Option<(u64, u32, Option<&'static str>)>,
}

impl From<FaultKind> for Trouble {
    fn from(kind: FaultKind) -> Self {
        Self { kind, access: None }
    }
}

pub(super) type Step<T = ()> = Result<T, Trouble>;

impl Machine {
    /// The code of a function; only functions with code are called.
    pub(super) fn code(program: &Program, function: u32) -> &Code {
        static NOTHING: Code = Code::nothing();
        program.functions.get(function as usize).and_then(Option::as_ref).unwrap_or(&NOTHING)
    }

    /// Runs a thread until it waits, has ended, gives others their turn or has run `budget` instructions.
    ///
    /// # Errors
    /// What it did wrong.
    pub(super) fn run(
        &mut self,
        env: &Env,
        thread: &mut Thread,
        budget: u64,
    ) -> Result<(), Box<Fault>> {
        let program = self.program.clone();
        let end = self.executed + budget;
        while self.executed < end && thread.is_ready() && self.step(&program, env, thread)? {}
        let spun = thread.is_ready() && thread.spins >= SPINS;
        thread.spins = 0;
        thread.pause_after_spinning(spun);
        Ok(())
    }

    /// Runs one instruction of a thread; false where others are to have their turn.
    ///
    /// # Errors
    /// What it did wrong.
    #[inline]
    pub(super) fn step(
        &mut self,
        program: &Program,
        env: &Env,
        thread: &mut Thread,
    ) -> Result<bool, Box<Fault>> {
        self.executed += 1;
        let code = Self::code(program, thread.function);
        let Some(inst) = code.insts.get(thread.pc as usize) else {
            thread.state = State::Done;
            return Ok(false);
        };
        if let Some(watch) = &mut self.watch {
            watch.count(inst.site);
        }
        if let Some((slot, unless)) = inst.guard
            && thread.slot(slot) == unless
        {
            thread.pc += 1;
            return Ok(true);
        }
        // These two are most of all, and cannot fail.
        if let Action::Value(op) = &inst.action {
            self.value(op, env, thread, inst);
            return Ok(true);
        }
        if let Action::Jump(target) = &inst.action {
            return Ok(Self::jump(thread, *target));
        }
        let performed = self.perform(program, env, thread, inst);
        performed.map_err(|trouble| self.fault(env, thread, trouble))
    }

    fn sources(thread: &Thread, inst: &Inst) -> [u64; 5] {
        let mut sources = inst.src.map(|slot| thread.slot(slot));
        if inst.inverted != 0 {
            for (at, source) in sources.iter_mut().enumerate() {
                *source ^= u64::from(inst.inverted >> at & 1);
            }
        }
        sources
    }

    pub(super) fn write(thread: &mut Thread, dst: Dst, value: u64) {
        thread.set(dst.slot, value & dst.mask);
    }

    fn value(&mut self, op: &Op, env: &Env, thread: &mut Thread, inst: &Inst) {
        let sources = Self::sources(thread, inst);
        if let Some(watch) = &mut self.watch
            && let Op::Div { ty, .. } | Op::Rem { ty } = op
            && !ty.is_float()
            && sources[1] == 0
        {
            watch.divided(env, thread.index, inst.site);
        }
        // Every operation was tried when it was decoded.
        let [first, second] = value::evaluate(op, &sources, &mut thread.carry).unwrap_or_default();
        Self::write(thread, inst.dst[1], second);
        Self::write(thread, inst.dst[0], first);
        thread.pc += 1;
    }

    /// Goes to `target`; false where others are to have their turn.
    fn jump(thread: &mut Thread, target: u32) -> bool {
        let back = target <= thread.pc;
        thread.pc = target;
        if back && std::mem::take(&mut thread.strong) {
            thread.spins += 1;
            return thread.spins < SPINS;
        }
        true
    }

    /// Everything but values and jumps; false where others are to have their turn.
    fn perform(
        &mut self,
        program: &Program,
        env: &Env,
        thread: &mut Thread,
        inst: &Inst,
    ) -> Step<bool> {
        let s = Self::sources(thread, inst);
        match &inst.action {
            Action::Value(_) | Action::Jump(_) | Action::Nothing => {}
            Action::Read(special) => {
                Self::write(thread, inst.dst[0], self.special(env, thread, *special));
            }
            Action::Spread(from, into) => {
                let values: Vec<u64> = from.iter().map(|slot| thread.slot(*slot)).collect();
                into.iter().zip(values).for_each(|(dst, value)| Self::write(thread, *dst, value));
            }
            Action::Copy128 => {
                Self::write_wide(thread, inst.dst[0], Self::wide(thread, inst.src[0]))
            }
            Action::Pack(parts, bits) => {
                let width = bits / parts.len() as u32;
                let values = parts.iter().map(|slot| u128::from(thread.slot(*slot)));
                let mask = u128::MAX >> (128 - width);
                let places = (0..).map(|at: u32| at * width);
                let packed = values.zip(places).fold(0, |all, (v, at)| all | (v & mask) << at);
                if *bits == 128 {
                    Self::write_wide(thread, inst.dst[0], packed);
                } else {
                    Self::write(thread, inst.dst[0], packed as u64);
                }
            }
            Action::Unpack(parts, bits) => {
                let width = bits / parts.len() as u32;
                let whole =
                    if *bits == 128 { Self::wide(thread, inst.src[0]) } else { s[0].into() };
                for (at, dst) in (0..).zip(parts) {
                    let part = whole >> (at * width) & (u128::MAX >> (128 - width));
                    Self::write(thread, *dst, part as u64);
                }
            }
            Action::Cvta { to_generic, space } => {
                let value = env.converted(s[0], *space, *to_generic);
                Self::write(thread, inst.dst[0], value);
            }
            Action::Isspacep(space) => {
                let inside = self.lies_in(env, s[0], *space);
                Self::write(thread, inst.dst[0], inside.into());
            }
            Action::Load(operand) => self.load(env, thread, inst, operand, s[0])?,
            Action::Store(operand) => self.store(env, thread, inst, operand, s[0])?,
            Action::Atomic(operand, atomic) => {
                self.atomic(env, thread, inst, operand, atomic, &s)?
            }
            Action::CopyToShared { offsets, narrow, ignore } => {
                self.copy_to_shared(env, thread, inst, &s, (*offsets, *narrow, *ignore))?;
            }
            Action::Mbarrier(operand, mbarrier) => {
                self.mbarrier(env, thread, inst, (operand, mbarrier), &s)?;
            }
            Action::Image(image) => self.image(env, thread, inst, image, s[0])?,
            Action::Alloca => {
                let align = if s[1] > 1 { s[1].next_power_of_two().min(1 << 16) } else { 16 };
                let start = thread.local.top.next_multiple_of(align);
                let end = start.checked_add(s[0]).filter(|end| *end <= thread.local.limit);
                thread.local.top = end.ok_or(FaultKind::StackOverflow)?;
                Self::write(thread, inst.dst[0], start);
            }
            Action::Stacksave => Self::write(thread, inst.dst[0], thread.local.top),
            Action::Stackrestore => {
                thread.local.top = s[0].clamp(thread.local.frame, thread.local.limit);
            }
            Action::Yield => {
                thread.pc += 1;
                return Ok(false);
            }
            Action::Fence => {
                if let Some(watch) = &mut self.watch {
                    watch.fenced(env, thread.index);
                }
            }
            Action::Barrier(kind) => return Ok(Self::arrive(thread, *kind, &s)),
            Action::Warp(op) => {
                let [value, mask, lane, clamp, _] = s;
                let (mask, lane, clamp) = (mask as u32, lane as u32, clamp as u32);
                thread.state = State::Warp(Waiting { op: *op, value, mask, lane, clamp });
                return Ok(false);
            }
            Action::Matrix(matrix) => {
                let op = WarpOp::Matrix(matrix.op);
                let waiting = Waiting { op, value: 0, mask: u32::MAX, lane: 0, clamp: 0 };
                thread.state = State::Warp(waiting);
                return Ok(false);
            }
            Action::Table(targets) => {
                let at = (s[0] as u32 as usize).min(targets.len() - 1);
                return Ok(Self::jump(thread, targets[at]));
            }
            Action::Call(call) => {
                self.call(program, env, thread, call, s[0])?;
                return Ok(true);
            }
            Action::Return => {
                self.leave(program, thread)?;
                return Ok(true);
            }
            Action::Exit => {
                thread.state = State::Done;
                return Ok(false);
            }
            Action::Trap => return Err(FaultKind::Trap.into()),
        }
        thread.pc += 1;
        Ok(true)
    }

    fn wide(thread: &Thread, slot: u32) -> u128 {
        u128::from(thread.slot(slot + 1)) << 64 | u128::from(thread.slot(slot))
    }

    fn write_wide(thread: &mut Thread, dst: Dst, value: u128) {
        thread.set(dst.slot, value as u64);
        thread.set(dst.slot + 1, (value >> 64) as u64);
    }

    /// Whether the thread goes on at once, which it does where it only arrives.
    fn arrive(thread: &mut Thread, kind: BarKind, s: &[u64; 5]) -> bool {
        let (id, count) = (s[0] as usize & 15, s[1] as u32);
        thread.state = State::Barrier(Arrival { kind, id, count, predicate: s[2] & 1 != 0 });
        false
    }

    // Calls ----------------------------------------------------------------------------------------

    fn call(
        &mut self,
        program: &Program,
        env: &Env,
        thread: &mut Thread,
        call: &Call,
        pointer: u64,
    ) -> Step {
        for (at, slot, bytes) in &call.stored {
            let address = thread.slot(call.addresses[*at as usize]);
            self.store_bytes(address, *bytes, thread.slot(*slot))?;
            if let Some(watch) = &mut self.watch {
                watch.wrote(address, *bytes);
            }
        }
        let function = match call.target {
            Target::Host(host) => {
                self.host(env, thread, call, host)?;
                self.take_results(thread, call)?;
                thread.pc += 1;
                return Ok(());
            }
            Target::Function(function) => function,
            Target::Pointer => Self::pointed(program, call, pointer).ok_or(Trouble {
                kind: FaultKind::InvalidRead,
                access: Some((pointer, 1, Some("code"))),
            })?,
        };
        let callee = Self::code(program, function);
        let arguments: Vec<u64> = call.addresses.iter().map(|slot| thread.slot(*slot)).collect();
        thread.frames.push(Activation {
            base: thread.base,
            function: thread.function,
            pc: thread.pc,
            local_frame: thread.local.frame,
            local_top: thread.local.top,
            arguments: arguments.len() as u32,
        });
        thread.stack.extend(&arguments);
        self.enter(env, thread, function, callee)?;
        for (argument, address) in callee.arguments[..callee.params].iter().zip(arguments) {
            if let Some(slot) = argument.reg {
                let value = self.load_bytes(address, argument.bytes)?;
                thread.set(slot, value);
            }
        }
        Ok(())
    }

    /// The function that a pointer means, where it has such parameters.
    fn pointed(program: &Program, call: &Call, pointer: u64) -> Option<u32> {
        let function = function_of(pointer)?;
        let code = program.functions.get(function as usize)?.as_ref()?;
        let sizes = code.arguments.iter().map(|argument| argument.bytes);
        let alike = code.params == call.params && sizes.eq(call.sizes.iter().copied());
        let alike = alike && code.is_addressed;
        (alike && program.ptx.functions[function as usize].kind == FunctionKind::Func)
            .then_some(function)
    }

    /// Begins a function whose arguments' addresses lie on top of the stack.
    pub(super) fn enter(
        &mut self,
        env: &Env,
        thread: &mut Thread,
        function: u32,
        code: &Code,
    ) -> Step {
        let arguments = code.arguments.len();
        thread.base = thread.stack.len();
        if thread.base + code.template.len() > super::thread::MAX_SLOTS {
            return Err(FaultKind::StackOverflow.into());
        }
        thread.stack.extend(&code.template);
        thread.function = function;
        thread.pc = 0;
        thread.local.frame = thread.local.top.next_multiple_of(code.alignment);
        thread.local.top = thread.local.frame + code.local_bytes;
        if thread.local.top > thread.local.limit {
            return Err(FaultKind::StackOverflow.into());
        }
        for (slot, fill) in &code.fills {
            let value = match *fill {
                Fill::Local(offset) => thread.local.frame.wrapping_add(offset),
                Fill::KernelParam(offset) => self.params.address.wrapping_add(offset),
                Fill::Argument(index) => {
                    let at = thread.base - arguments + index as usize;
                    thread.stack.get(at).copied().unwrap_or(0)
                }
                Fill::DynamicShared(offset) => env.dynamic_shared.wrapping_add_signed(offset),
                Fill::Special(special) => self.special(env, thread, special),
            };
            thread.set(*slot, value);
        }
        Ok(())
    }

    fn leave(&mut self, program: &Program, thread: &mut Thread) -> Step {
        let Some(frame) = thread.frames.pop() else {
            thread.state = State::Done;
            return Ok(());
        };
        let code = Self::code(program, thread.function);
        let first = thread.base - frame.arguments as usize;
        for (at, argument) in code.arguments.iter().enumerate().skip(code.params) {
            if let Some(slot) = argument.reg {
                self.store_bytes(thread.stack[first + at], argument.bytes, thread.slot(slot))?;
            }
        }
        thread.stack.truncate(first);
        thread.base = frame.base;
        thread.function = frame.function;
        thread.local.frame = frame.local_frame;
        thread.local.top = frame.local_top;
        thread.pc = frame.pc;
        let inst = Self::code(program, frame.function).insts.get(frame.pc as usize);
        if let Some(Inst { action: Action::Call(call), .. }) = inst {
            self.take_results(thread, call)?;
        }
        thread.pc += 1;
        Ok(())
    }

    fn take_results(&self, thread: &mut Thread, call: &Call) -> Step {
        for (at, dst, bytes) in &call.loaded {
            let address = thread.slot(call.addresses[*at as usize]);
            let value = self.load_bytes(address, *bytes)?;
            Self::write(thread, *dst, value);
        }
        Ok(())
    }

    // What threads ask of the launch ---------------------------------------------------------------

    pub(super) fn special(&self, env: &Env, thread: &Thread, special: Special) -> u64 {
        let (block, grid) = (self.config.block, self.config.grid);
        match special {
            Special::Axis(of, axis) => {
                let index = axis as usize;
                let values: [u32; 3] = match of {
                    Grid::Tid => thread.tid,
                    Grid::Ntid => [block.x, block.y, block.z],
                    Grid::Ctaid | Grid::Clusterid => env.ctaid,
                    Grid::Nctaid | Grid::Nclusterid => [grid.x, grid.y, grid.z],
                    Grid::ClusterCtaid => [0; 3],
                    Grid::ClusterNctaid => [1; 3],
                };
                // The fourth element of each is 0.
                u64::from(values.get(index).copied().unwrap_or(0))
            }
            Special::Scalar(scalar) => self.scalar(env, thread, scalar),
            // As the headers of CUDA's cooperative groups read them: high half first.
            Special::Envreg(1) => self.workspace >> 32,
            Special::Envreg(2) => self.workspace & 0xffff_ffff,
            Special::Envreg(_) | Special::Pm(..) | Special::Whole(_) => 0,
        }
    }

    fn scalar(&self, env: &Env, thread: &Thread, scalar: Scalar) -> u64 {
        let lane = thread.index % 32;
        let bit = 1u32 << lane;
        let word = match scalar {
            Scalar::Laneid => lane,
            Scalar::Warpid => thread.index / 32,
            Scalar::Nwarpid | Scalar::WarpSize => 32,
            Scalar::LanemaskEq => bit,
            Scalar::LanemaskLt => bit - 1,
            Scalar::LanemaskLe => bit | (bit - 1),
            Scalar::LanemaskGe => !(bit - 1),
            Scalar::LanemaskGt => !(bit | (bit - 1)),
            Scalar::Nsmid | Scalar::ClusterNctarank | Scalar::Gridid => 1,
            Scalar::Clock64 => return self.executed,
            Scalar::Clock => self.executed as u32,
            Scalar::ClockHi => (self.executed >> 32) as u32,
            Scalar::Globaltimer => return super::nanoseconds(),
            Scalar::GlobaltimerLo => super::nanoseconds() as u32,
            Scalar::GlobaltimerHi => (super::nanoseconds() >> 32) as u32,
            Scalar::TotalSmemSize | Scalar::AggrSmemSize => env.shared.bytes as u32,
            Scalar::ReservedSmemOffsetBegin | Scalar::ReservedSmemOffset0 => {
                env.reserved_shared as u32
            }
            // Cooperative groups want 288 bytes from here.
            Scalar::ReservedSmemOffset1 => env.reserved_shared as u32 + 512,
            Scalar::ReservedSmemOffsetEnd => env.reserved_shared as u32 + RESERVED_SHARED_BYTES,
            Scalar::ReservedSmemOffsetCap => RESERVED_SHARED_BYTES,
            Scalar::DynamicSmemSize => self.config.shared_bytes,
            Scalar::Smid
            | Scalar::ClusterCtarank
            | Scalar::IsExplicitCluster
            | Scalar::CurrentGraphExec => 0,
        };
        word.into()
    }

    /// What stopped a thread at its instruction.
    pub(super) fn fault(&self, env: &Env, thread: &Thread, trouble: Trouble) -> Box<Fault> {
        let program = &self.program;
        let insts = &Self::code(program, thread.function).insts;
        let site = insts.get(thread.pc as usize).or(insts.last()).map_or(0, |inst| inst.site);
        let origin = program.sites.get(site as usize);
        let location = origin.and_then(|origin| origin.location);
        let nearest = match trouble.access {
            Some((address, _, Some("global" | "const" | "generic"))) => {
                self.shared.arena.nearest(address)
            }
            _ => None,
        };
        let kernel = &program.ptx.functions[self.kernel as usize].name;
        Box::new(Fault {
            location: location::of(&program.ptx, location),
            ptx_line: origin.map(|origin| origin.line).filter(|line| *line > 0),
            inlined: location::inlined(&program.ptx, location),
            block: self.config.grid.position(env.index),
            thread: self.config.block.position(thread.index.into()),
            access: trouble.access.map(|(address, bytes, _)| (address, bytes)),
            space: trouble.access.and_then(|(_, _, space)| space),
            nearest,
            ..Fault::new(trouble.kind, kernel)
        })
    }
}
