//! Typed PTX to a [`Program`]. What the interpreter lacks is said here, before anything runs.
//!
//! Enters: a function of the typed PTX. Leaves: a program for the interpreter, or the instruction that it lacks. Must
//! not know: `device::cpu::memory`, `device::cpu::interp::machine`.

use std::{collections::HashMap, sync::Arc};

mod image;
mod operations;

use super::{program::*, value};
use crate::{
    device::{
        Result,
        cpu::{
            layout::{Globals, Layout, StackFrame, SymbolPlace, function_handle},
            location::{self, Unsupported},
        },
    },
    ptx::{
        ast::{Body, Function, LocationId, Module, Statement},
        inst::{Instruction, Op},
        modifier::{Access, Cvt, Half},
        operand::{Address, Base, Decides, Operand, Reg, Scalar, Special, Symbol},
        types::{Space, Type},
    },
};

type Step<T = ()> = std::result::Result<T, Unsupported<'static>>;

/// Decodes every function that has a body and can be reached from a kernel.
///
/// # Errors
/// [`UnsupportedPtx`](crate::device::Error::UnsupportedPtx) with the instruction and its source line.
pub(in crate::device::cpu) fn program(
    ptx: &Arc<Module>,
    text: &str,
    globals: &Globals,
) -> Result<Program> {
    let layout = Layout::new(ptx, globals);
    let mut sites = Vec::new();
    let mut functions = Vec::new();
    for (index, function) in ptx.functions.iter().enumerate() {
        functions.push(match (&function.body, layout.frame(index)) {
            (Some(body), Some(frame)) if layout.is_reached(index) => {
                let decoder = Decoder::new(ptx, (&layout, frame), index, function, body);
                Some(decoder.decode(text, &mut sites)?)
            }
            _ => None,
        });
    }
    let fills = functions.iter().flatten().flat_map(|code| &code.fills);
    let reserves = fills.into_iter().any(|(_, fill)| is_reserved(*fill));
    Ok(Program { ptx: ptx.clone(), functions, sites, reserves })
}

struct Decoder<'a> {
    ptx: &'a Module,
    layout: &'a Layout<'a>,
    frame: &'a StackFrame,
    index: usize,
    function: &'a Function,
    body: &'a Body,
    registers: Vec<Slot>,
    template: Vec<u64>,
    constants: HashMap<u64, Slot>,
    filled: HashMap<Fill, Slot>,
    fills: Vec<(Slot, Fill)>,
    /// Where results go that nobody wants; two slots.
    sink: Slot,
    local_bytes: u64,
    labels: Vec<u32>,
}

impl<'a> Decoder<'a> {
    fn new(
        ptx: &'a Module,
        (layout, frame): (&'a Layout<'a>, &'a StackFrame),
        index: usize,
        function: &'a Function,
        body: &'a Body,
    ) -> Self {
        let mut slots = 0;
        let registers = body.registers.types().iter().map(|ty| {
            let slot = slots;
            slots += if *ty == Type::B128 { 2 } else { 1 };
            slot
        });
        let registers = registers.collect();
        let mut labels = vec![0; body.labels.len()];
        let mut at = 0;
        for statement in &body.statements {
            match statement {
                Statement::Instruction(_) => at += 1,
                Statement::Label(label) => labels[label.0 as usize] = at,
                Statement::Pragma(_) => {}
            }
        }
        Self {
            ptx,
            layout,
            frame,
            index,
            function,
            body,
            registers,
            template: vec![0; slots as usize + 2],
            constants: HashMap::new(),
            filled: HashMap::new(),
            fills: Vec::new(),
            sink: slots,
            local_bytes: frame.used_bytes,
            labels,
        }
    }

    fn decode(mut self, text: &str, sites: &mut Vec<Origin>) -> Result<Code> {
        let mut insts = Vec::new();
        let mut location = self.body.instructions().find_map(|i| i.location);
        for instruction in self.body.instructions() {
            location = instruction.location.or(location);
            let site = self.site(insts.len(), instruction.line, location, sites);
            let inst = self.instruction(instruction, site);
            insts.push(
                inst.map_err(|what| location::unsupported(self.ptx, text, instruction, what))?,
            );
        }
        // A body that does not end in `ret` returns all the same.
        let site = self.site(insts.len(), 0, location, sites);
        insts.push(self.bare(Action::Return, site));
        let calls =
            self.body.instructions().any(|i| matches!(i.op, Op::Call { .. } | Op::Alloca { .. }));
        let arguments = self.function.params.iter().chain(&self.function.returns);
        let arguments = arguments.map(|param| Argument {
            bytes: param.bytes() as u32,
            reg: param.reg.map(|reg| self.registers[reg.0 as usize]),
        });
        Ok(Code {
            insts,
            arguments: arguments.collect(),
            params: self.function.params.len(),
            template: self.template,
            fills: self.fills,
            local_bytes: self.local_bytes,
            alignment: self.layout.alignment(),
            // Frames have more in them here: arguments of calls.
            stack_bytes: if calls { 2 * self.layout.stack_bytes(self.index) } else { 0 },
            registers: self.registers,
            shared_bytes: self.frame.shared_bytes,
            is_addressed: self.layout.is_addressed(self.index),
        })
    }

    fn site(
        &self,
        at: usize,
        line: u32,
        location: Option<LocationId>,
        sites: &mut Vec<Origin>,
    ) -> u32 {
        sites.push(Origin { function: self.index as u32, at: at as u32, line, location });
        sites.len() as u32 - 1
    }

    fn nowhere(&self) -> Dst {
        Dst { slot: self.sink, mask: u64::MAX }
    }

    fn bare(&self, action: Action, site: u32) -> Inst {
        let (dst, src) = ([self.nowhere(); 2], [self.sink; 5]);
        Inst { guard: None, action, dst, src, inverted: 0, site }
    }

    fn slot_of(&self, reg: Reg) -> Slot {
        self.registers[reg.0 as usize]
    }

    fn new_slot(&mut self, value: u64) -> Slot {
        self.template.push(value);
        self.template.len() as Slot - 1
    }

    fn constant(&mut self, value: u64) -> Slot {
        if let Some(slot) = self.constants.get(&value) {
            return *slot;
        }
        let slot = self.new_slot(value);
        self.constants.insert(value, slot);
        slot
    }

    fn fill(&mut self, fill: Fill) -> Slot {
        if let Some(slot) = self.filled.get(&fill) {
            return *slot;
        }
        let slot = self.new_slot(0);
        self.filled.insert(fill, slot);
        self.fills.push((slot, fill));
        slot
    }

    /// A pair of slots with a constant of 128 bits.
    fn constant128(&mut self, value: i64) -> Slot {
        let slot = self.new_slot(value as u64);
        self.new_slot((value >> 63) as u64);
        slot
    }

    // Operands -------------------------------------------------------------------------------------

    fn instruction(&mut self, i: &Instruction, site: u32) -> Step<Inst> {
        let mut inst = self.bare(Action::Nothing, site);
        if let Some(guard) = i.guard {
            inst.guard = Some((self.slot_of(guard.reg), u64::from(guard.negated)));
        }
        self.action(i, &mut inst)?;
        Ok(inst)
    }

    fn destination(&self, operand: &Operand) -> Step<Dst> {
        if let Operand::Sink = operand {
            return Ok(self.nowhere());
        }
        let reg = operand.reg().ok_or(Unsupported::Part("a destination of this kind"))?;
        let bits = self.body.registers.ty(reg).bits().min(64);
        Ok(Dst { slot: self.slot_of(reg), mask: u64::MAX >> (64 - bits) })
    }

    /// The slot of a source operand of type `ty`.
    fn source(&mut self, operand: &Operand, ty: Type) -> Step<Slot> {
        let mask = u64::MAX >> (64 - ty.bits().min(64));
        Ok(match operand {
            Operand::Reg(reg) => self.slot_of(*reg),
            Operand::Int(value) if ty == Type::Pred => self.constant(u64::from(*value != 0)),
            Operand::Int(value) if ty == Type::B128 => self.constant128(*value),
            Operand::Int(value) => self.constant(*value as u64 & mask),
            Operand::F32(bits) if ty == Type::F64 => {
                self.constant(f64::from(f32::from_bits(*bits)).to_bits())
            }
            Operand::F32(bits) => self.constant(u64::from(*bits) & mask),
            Operand::F64(bits) if ty == Type::F32 => {
                self.constant((f64::from_bits(*bits) as f32).to_bits().into())
            }
            Operand::F64(bits) => self.constant(*bits & mask),
            Operand::Special(special) => self.special(*special)?,
            Operand::Symbol(symbol, offset) => self.symbol(*symbol, *offset)?,
            Operand::Not(_) | Operand::Address(_) | Operand::Vector(_) | Operand::Bracket(_) => {
                return Err(Unsupported::Part("an operand of this kind"));
            }
            Operand::Label(_) | Operand::Table(_) | Operand::Sink => {
                return Err(Unsupported::Part("an operand of this kind"));
            }
        })
    }

    fn special(&mut self, special: Special) -> Step<Slot> {
        if changes(special) {
            return Err(Unsupported::Part("a clock in this place"));
        }
        match special {
            Special::Whole(_) => Err(Unsupported::Part("a special register as a whole")),
            Special::Scalar(Scalar::CurrentGraphExec) => {
                Err(Unsupported::Part("this special register"))
            }
            Special::Axis(..) | Special::Scalar(_) | Special::Envreg(_) | Special::Pm(..) => {
                Ok(self.fill(Fill::Special(special)))
            }
        }
    }

    /// The slot that holds a symbol's address in its own space, plus bytes.
    fn symbol(&mut self, symbol: Symbol, offset: i64) -> Step<Slot> {
        let place = self
            .layout
            .place(self.index, symbol)
            .ok_or(Unsupported::Part("a variable in this state space"))?;
        Ok(match place {
            SymbolPlace::Fixed { address: start, .. }
            | SymbolPlace::Shared { offset: start, .. } => {
                self.constant(start.wrapping_add_signed(offset))
            }
            SymbolPlace::DynamicShared => self.fill(Fill::DynamicShared(offset)),
            SymbolPlace::Local { offset: start, .. } => {
                self.fill(Fill::Local(start.wrapping_add_signed(offset)))
            }
            SymbolPlace::KernelParam { offset: start, .. } => {
                self.fill(Fill::KernelParam(start.wrapping_add_signed(offset)))
            }
            SymbolPlace::FunctionParam { position, .. } if offset == 0 => {
                self.fill(Fill::Argument(position as u32))
            }
            SymbolPlace::FunctionParam { .. } => {
                return Err(Unsupported::Part("an address within a parameter"));
            }
            SymbolPlace::Function(index) => {
                self.constant(function_handle(index).wrapping_add_signed(offset))
            }
        })
    }

    /// The base of a memory operand, its offset, and whether the sum has 32 bits.
    fn address(&mut self, operand: Option<&Operand>) -> Step<(Slot, i64, bool)> {
        let Some(Operand::Address(Address { base, offset })) = operand else {
            return Err(Unsupported::Part("no address"));
        };
        Ok(match base {
            Base::Reg(reg) => {
                (self.slot_of(*reg), *offset, self.body.registers.ty(*reg).bits() == 32)
            }
            Base::Symbol(symbol) => (self.symbol(*symbol, 0)?, *offset, false),
            Base::Absolute => (self.constant(0), *offset, false),
        })
    }

    fn memory_operand(
        &mut self,
        operand: Option<&Operand>,
        access: &Access,
    ) -> Step<(Slot, MemoryOperand)> {
        let (base, offset, narrow) = self.address(operand)?;
        Ok((
            base,
            MemoryOperand {
                space: checked_space(access.space)?,
                offset,
                narrow,
                ty: access.ty,
                into: Box::default(),
                from: Box::default(),
                strong: access.is_strong(),
                ordering: Ordering::of(access.order),
            },
        ))
    }

    // Instructions ---------------------------------------------------------------------------------

    /// What it does, and with what: of a value, the types of its sources, the last of which counts for all further
    /// ones.
    fn action(&mut self, i: &Instruction, inst: &mut Inst) -> Step {
        use Type::{B32, Pred, U32, U64};
        inst.action = match &i.op {
            Op::Mov { ty, lanes } => return self.mov(i, *ty, *lanes, inst),
            Op::Cvta { to_generic, space, .. } => {
                self.values(i, &[U64], inst)?;
                Action::Cvta { to_generic: *to_generic, space: *space }
            }
            Op::Isspacep { space } => {
                self.values(i, &[U64], inst)?;
                Action::Isspacep(*space)
            }
            Op::Cvt(Cvt { from: ty, .. }) | Op::CvtPack { from: ty, merge: None, .. } => {
                return self.value(i, &[*ty], inst);
            }
            Op::CvtPack { from, merge: Some(_), .. } => {
                return self.value(i, &[*from, *from, B32], inst);
            }
            // Arithmetic.
            Op::Add { ty, .. } | Op::Sub { ty, .. } | Op::Mul { ty, .. } | Op::Div { ty, .. } => {
                return self.value(i, &[*ty], inst);
            }
            Op::Mad { ty, half, .. } => {
                let sum = if *half == Some(Half::Wide) { ty.wide() } else { *ty };
                return self.value(i, &[*ty, *ty, sum], inst);
            }
            Op::Mul24 { ty, .. } | Op::Mad24 { ty, .. } | Op::Fma { ty, .. } => {
                return self.value(i, &[*ty], inst);
            }
            Op::Rem { ty } | Op::Sad { ty } | Op::Abs { ty, .. } | Op::Neg { ty, .. } => {
                return self.value(i, &[*ty], inst);
            }
            Op::Rcp { ty, .. } | Op::Sqrt { ty, .. } | Op::Approx { ty, .. } => {
                return self.value(i, &[*ty], inst);
            }
            Op::Copysign { ty } | Op::Testp { ty, .. } => return self.value(i, &[*ty], inst),
            Op::Min(m) | Op::Max(m) => return self.value(i, &[m.ty], inst),
            Op::Dp4a { .. } | Op::Dp2a { .. } | Op::Simd(_) | Op::Video(_) => {
                return self.value(i, &[B32], inst);
            }
            // Comparison and selection.
            Op::Setp { ty, .. } | Op::Set { ty, .. } | Op::Selp { ty } => {
                return self.value(i, &[*ty, *ty, Pred], inst);
            }
            Op::Slct { ty, by, .. } => return self.value(i, &[*ty, *ty, *by], inst),
            // Bits.
            Op::Logic { ty, .. } | Op::Not { ty } | Op::Cnot { ty } | Op::Brev { ty } => {
                return self.value(i, &[*ty], inst);
            }
            Op::Popc { ty } | Op::Clz { ty } | Op::Bfind { ty, .. } => {
                return self.value(i, &[*ty], inst);
            }
            Op::Shl { ty } | Op::Shr { ty } | Op::Szext { ty, .. } | Op::Bfe { ty } => {
                return self.value(i, &[*ty, U32], inst);
            }
            Op::Bfi { ty } => return self.value(i, &[*ty, *ty, U32], inst),
            Op::Lop3 { .. } => return self.value(i, &[B32, B32, B32, B32, Pred], inst),
            Op::Shf { .. } | Op::Fns | Op::Bmsk { .. } | Op::Prmt { .. } => {
                return self.value(i, &[B32], inst);
            }
            // Memory.
            Op::Ld(access) | Op::Ldu(access) => return self.load(i, access, inst),
            Op::St(access) => return self.store(i, access, inst),
            Op::Atom(atomic) | Op::Red(atomic) => return self.atomic(i, atomic, inst),
            Op::CpAsync { ignore, .. } => return self.copy_to_shared(i, *ignore, inst),
            Op::Mbarrier(mbarrier) => return self.mbarrier(i, mbarrier, inst),
            Op::Prefetch { .. } | Op::Discard { .. } | Op::Hint { .. } => Action::Nothing,
            // What it is made of does not matter, and may be an address.
            Op::Createpolicy { .. } => {
                return self.value(&Instruction { src: Vec::new(), ..i.clone() }, &[B32], inst);
            }
            Op::CpAsyncCommit | Op::CpAsyncWaitGroup | Op::CpAsyncWaitAll => Action::Nothing,
            Op::Alloca { .. } => return self.simple(i, &[U64, U32], Action::Alloca, inst),
            Op::Stacksave { .. } => return self.simple(i, &[], Action::Stacksave, inst),
            Op::Stackrestore { .. } => return self.simple(i, &[U64], Action::Stackrestore, inst),
            Op::Membar { .. } | Op::Fence { .. } => Action::Fence,
            // Threads together.
            Op::Bar { kind, .. } => return self.barrier(i, *kind, inst),
            Op::BarWarpSync | Op::Activemask | Op::Elect => return self.warp(i, inst),
            Op::Shfl { .. } | Op::Vote { .. } | Op::Match { .. } | Op::Redux { .. } => {
                return self.warp(i, inst);
            }
            Op::Ldmatrix(_) | Op::Stmatrix(_) | Op::Movmatrix => return self.matrix(i, inst),
            Op::WmmaLoad(_) | Op::WmmaStore(_) | Op::Mma(_) => return self.matrix(i, inst),
            // Control.
            Op::Bra { .. } => Action::Jump(self.branch(i)?),
            Op::BrxIdx { .. } => Action::Table(self.branch_by_table(i, inst)?),
            Op::Call { .. } => Action::Call(Box::new(self.call(i, inst)?)),
            Op::Ret { .. } => Action::Return,
            Op::Exit => Action::Exit,
            Op::Trap => Action::Trap,
            Op::Brkpt | Op::Pmevent { .. } => Action::Nothing,
            Op::Nanosleep => Action::Yield,
            // Images.
            Op::Tex(tex) => Action::Image(self.image(i, inst, |d| d.fetch(i, tex, None))?),
            Op::Tld4 { component, tex } => {
                let gather = Some(*component as u8);
                Action::Image(self.image(i, inst, |d| d.fetch(i, tex, gather))?)
            }
            Op::Txq { query, .. } => {
                Action::Image(self.image(i, inst, |d| d.query(i, *query, ImageCall::QueryTexture))?)
            }
            Op::Suq { query, .. } => {
                Action::Image(self.image(i, inst, |d| d.query(i, *query, ImageCall::QuerySurface))?)
            }
            Op::Suld(surface) => Action::Image(self.image(i, inst, |d| d.read(i, surface))?),
            Op::Sust(surface) => Action::Image(self.image(i, inst, |d| d.write(i, surface))?),
            Op::Sured(_) | Op::Unsupported { .. } => return Err(Unsupported::Operation),
        };
        Ok(())
    }

    fn simple(&mut self, i: &Instruction, types: &[Type], action: Action, inst: &mut Inst) -> Step {
        self.values(i, types, inst)?;
        inst.action = action;
        Ok(())
    }

    /// Destinations, and sources of these types (the last counts for all further ones).
    fn values(&mut self, i: &Instruction, types: &[Type], inst: &mut Inst) -> Step {
        if i.dst.len() > inst.dst.len() || i.src.len() > inst.src.len() {
            return Err(Unsupported::Part("so many operands"));
        }
        for (dst, operand) in inst.dst.iter_mut().zip(&i.dst) {
            *dst = self.destination(operand)?;
        }
        for (at, operand) in i.src.iter().enumerate() {
            let ty = types.get(at).or(types.last()).copied().unwrap_or(Type::B32);
            inst.src[at] = if let Operand::Not(reg) = operand {
                inst.inverted |= 1 << at;
                self.slot_of(*reg)
            } else {
                self.source(operand, ty)?
            };
        }
        Ok(())
    }

    fn value(&mut self, i: &Instruction, types: &[Type], inst: &mut Inst) -> Step {
        // Whether it is known does not depend on the values.
        if value::evaluate(&i.op, &[0; 5], &mut false).is_none() {
            return Err(Unsupported::Operation);
        }
        self.simple(i, types, Action::Value(i.op.clone()), inst)
    }
}

/// Whether a special register must be read anew each time.
fn changes(special: Special) -> bool {
    let Special::Scalar(scalar) = special else { return false };
    matches!(scalar.decides(), Decides::Cycles | Decides::Time)
}

/// Whether a value has to do with shared memory that is kept for the system.
fn is_reserved(fill: Fill) -> bool {
    let Fill::Special(Special::Scalar(scalar)) = fill else { return false };
    scalar.decides() == Decides::ReservedShared
}

fn checked_space(space: Option<Space>) -> Step<Option<Space>> {
    match space {
        Some(Space::SharedCluster) => Err(Unsupported::Part("clusters")),
        Some(Space::Reg | Space::Sreg | Space::Tex) => Err(Unsupported::Part("this state space")),
        Some(Space::Const | Space::Global | Space::Local) | None => Ok(space),
        Some(Space::Param | Space::ParamEntry | Space::ParamFunc) => Ok(space),
        Some(Space::Shared | Space::SharedCta) => Ok(space),
    }
}
