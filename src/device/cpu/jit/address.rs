//! Symbols: where variables, parameters and locals lie, and which registers hold an address that is known when
//! compiling, so that its accesses need no check.

use std::collections::HashMap;

use super::{Unit, globals::Place};
use crate::ptx::{
    ast::{Body, Function, FunctionKind, Module, Param, Statement},
    inst::{Instruction, Op},
    modifier::Carry,
    operand::{Address, Base, Operand, Reg, Symbol},
    types::{Space, Type},
};

/// Parameters of any type may lie at a multiple of so many bytes.
const TEMPORARY_ALIGNMENT: u64 = 16;

/// The memory of one function's own.
#[derive(Debug, Default)]
pub(super) struct Frame {
    /// Offsets of `.local`, `.param` and `.shared` variables by index in the body, and their sizes in bytes.
    locals: HashMap<u32, (u64, u64)>,
    /// Where the temporaries of calls begin, in local memory.
    temporaries: u64,
    /// `.local` memory of a thread in bytes.
    pub(super) local_bytes: u64,
    /// Static `.shared` memory in bytes; what is dynamic starts there.
    pub(super) shared_bytes: u64,
    /// Offsets of the parameters in the kernel's argument block, and their sizes.
    params: Vec<(u64, u64)>,
}

impl Frame {
    pub(super) fn new(unit: &Unit<'_>, function: &Function, body: &Body) -> Self {
        let mut frame = Self::default();
        if uses_module_shared(unit, body) {
            frame.shared_bytes = unit.globals.shared_bytes();
        }
        for (index, variable) in body.locals.iter().enumerate() {
            let mut alignment = u64::from(variable.alignment().max(1));
            let end = match variable.space {
                Space::Local => &mut frame.local_bytes,
                // Aligned for any parameter that is passed in it.
                Space::Param => {
                    alignment = alignment.max(TEMPORARY_ALIGNMENT);
                    &mut frame.local_bytes
                }
                // Where a device function's own would lie depends on the kernel; none is emitted by NVRTC.
                Space::Shared | Space::SharedCta
                    if !variable.is_dynamic() && function.kind == FunctionKind::Entry =>
                {
                    &mut frame.shared_bytes
                }
                Space::Shared | Space::SharedCta | Space::SharedCluster => continue,
                Space::Reg | Space::Sreg | Space::Const | Space::Global | Space::Tex => continue,
                Space::ParamEntry | Space::ParamFunc => continue,
            };
            let offset = end.next_multiple_of(alignment);
            *end = offset + variable.bytes();
            frame.locals.insert(index as u32, (offset, variable.bytes()));
        }
        frame.temporaries = frame.local_bytes.next_multiple_of(TEMPORARY_ALIGNMENT);
        let most = body.instructions().map(|i| temporary_bytes(unit.module, body, i)).max();
        frame.local_bytes = frame.temporaries + most.unwrap_or(0);
        if uses_dynamic_shared(unit, body) {
            frame.shared_bytes = frame.shared_bytes.next_multiple_of(16);
        }
        let mut end = 0u64;
        for param in &function.params {
            let offset = end.next_multiple_of(u64::from(param.alignment().max(1)));
            end = offset + param.bytes();
            frame.params.push((offset, param.bytes()));
        }
        frame
    }

    /// The places of one call's temporaries.
    pub(super) fn temporaries(&self) -> Temporaries {
        Temporaries { end: self.temporaries }
    }
}

/// The bytes that a call needs for what is passed in registers.
fn temporary_bytes(module: &Module, body: &Body, i: &Instruction) -> u64 {
    let Some((params, returns)) = module.parameters_of_call(body, i) else { return 0 };
    let operands = i.src.iter().skip(1).chain(&i.dst);
    let mut temporaries = Temporaries { end: 0 };
    for (operand, param) in operands.zip(params.iter().chain(returns)) {
        if !matches!(operand, Operand::Symbol(Symbol::Local(_), _)) {
            temporaries.next(param);
        }
    }
    temporaries.end
}

/// Places for what a call passes in registers, one after the other.
pub(super) struct Temporaries {
    end: u64,
}

impl Temporaries {
    /// The offset of the next one.
    pub(super) fn next(&mut self, param: &Param) -> u64 {
        let offset = self.end;
        self.end = (offset + param.bytes()).next_multiple_of(TEMPORARY_ALIGNMENT);
        offset
    }
}

fn symbols(body: &Body) -> impl Iterator<Item = Symbol> {
    body.instructions().flat_map(|i| &i.src).filter_map(Operand::symbol)
}

/// Functions that it calls may use shared variables that it does not name.
fn uses_module_shared(unit: &Unit<'_>, body: &Body) -> bool {
    body.instructions().any(|i| matches!(i.op, Op::Call { .. }))
        || symbols(body).any(|symbol| match symbol {
            Symbol::Variable(index) => {
                matches!(unit.globals.place(index), Some(Place::Shared { .. }))
            }
            Symbol::Local(_) | Symbol::Param(_) | Symbol::Return(_) | Symbol::Function(_) => false,
        })
}

fn uses_dynamic_shared(unit: &Unit<'_>, body: &Body) -> bool {
    body.instructions().any(|i| matches!(i.op, Op::Call { .. }))
        || symbols(body).any(|symbol| match symbol {
            Symbol::Variable(index) => {
                unit.module.variables.get(index as usize).is_some_and(|v| v.is_dynamic())
            }
            Symbol::Local(index) => body.locals.get(index as usize).is_some_and(|v| v.is_dynamic()),
            Symbol::Param(_) | Symbol::Return(_) | Symbol::Function(_) => false,
        })
}

/// Where a symbol lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    /// At an address of the arena, with the variable's size.
    Fixed { address: u64, bytes: u64 },
    /// At an offset in shared memory, with the size where it is static.
    Shared { offset: u64, bytes: u64 },
    /// Where dynamic shared memory starts.
    DynamicShared,
    /// At an offset in the function's frame of local memory.
    Local { offset: u64, bytes: u64 },
    /// At an offset in the kernel's arguments.
    KernelParam { offset: u64, bytes: u64 },
    /// A parameter (by position, results follow the parameters) of a device function.
    FunctionParam { position: usize, bytes: u64 },
    /// A function.
    Function(u32),
}

/// Where `symbol` lies as `function` sees it.
pub(super) fn spot(
    unit: &Unit<'_>,
    function: &Function,
    frame: &Frame,
    symbol: Symbol,
) -> Option<Spot> {
    let body = function.body.as_ref()?;
    Some(match symbol {
        Symbol::Variable(index) => match unit.globals.place(index) {
            Some(Place::Fixed { address, bytes }) => Spot::Fixed { address, bytes },
            Some(Place::Shared { offset }) => {
                let variable = unit.module.variables.get(index as usize)?;
                Spot::Shared { offset, bytes: variable.bytes() }
            }
            None if unit.module.variables.get(index as usize)?.is_dynamic() => Spot::DynamicShared,
            None => return None,
        },
        Symbol::Local(index) => {
            let variable = body.locals.get(index as usize)?;
            match (variable.space, frame.locals.get(&index)) {
                (Space::Local | Space::Param, Some(&(offset, bytes))) => {
                    Spot::Local { offset, bytes }
                }
                (_, Some(&(offset, bytes))) => Spot::Shared { offset, bytes },
                (Space::Shared | Space::SharedCta, None) if variable.is_dynamic() => {
                    Spot::DynamicShared
                }
                _ => return None,
            }
        }
        Symbol::Param(index) if function.kind == FunctionKind::Entry => {
            let (offset, bytes) = *frame.params.get(index as usize)?;
            Spot::KernelParam { offset, bytes }
        }
        Symbol::Param(index) => {
            let bytes = function.params.get(index as usize)?.bytes();
            Spot::FunctionParam { position: index as usize, bytes }
        }
        Symbol::Return(index) => {
            let bytes = function.returns.get(index as usize)?.bytes();
            Spot::FunctionParam { position: function.params.len() + index as usize, bytes }
        }
        Symbol::Function(index) => Spot::Function(index),
    })
}

/// Registers that are written once, with a symbol's address plus a constant.
#[derive(Debug, Default)]
pub(super) struct Known(HashMap<Reg, (Symbol, i64)>);

impl Known {
    pub(super) fn new(body: &Body) -> Self {
        let mut writes: HashMap<Reg, u32> = HashMap::new();
        for instruction in body.instructions() {
            instruction.for_each_def(|reg| *writes.entry(reg).or_default() += 1);
        }
        let mut known = Self::default();
        // In the order of the text: a value is written before it is read, except round loops, which do not
        // move constants.
        for statement in &body.statements {
            let Statement::Instruction(instruction) = statement else { continue };
            if let Some((reg, value)) = known.result(body, instruction)
                && writes.get(&reg) == Some(&1)
            {
                known.0.insert(reg, value);
            }
        }
        known
    }

    fn result(&self, body: &Body, i: &Instruction) -> Option<(Reg, (Symbol, i64))> {
        let reg = i.dst.first()?.reg()?;
        if i.guard.is_some() || i.dst.len() != 1 || body.registers.ty(reg).bytes() < 4 {
            return None;
        }
        let value = match (&i.op, i.src.as_slice()) {
            (Op::Mov { lanes: 0 | 1, .. }, [source]) => self.operand(source)?,
            // Shared memory has offsets of its own; the other spaces' addresses are generic ones.
            (
                Op::Cvta {
                    space: Space::Local | Space::Global | Space::Const | Space::Param, ..
                },
                [source],
            ) => self.operand(source)?,
            (Op::Add { ty: Type::S64 | Type::U64 | Type::S32 | Type::U32, carry, .. }, [a, b])
                if *carry == Carry::default() =>
            {
                match (self.operand(a), b) {
                    (Some((symbol, offset)), Operand::Int(int)) => {
                        (symbol, offset.checked_add(*int)?)
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some((reg, value))
    }

    fn operand(&self, operand: &Operand) -> Option<(Symbol, i64)> {
        if let Operand::Symbol(symbol, offset) = operand {
            return Some((*symbol, *offset));
        }
        self.0.get(&operand.reg()?).copied()
    }

    /// The symbol and offset that an address is known to be.
    pub(super) fn resolve(&self, address: &Address) -> Option<(Symbol, i64)> {
        let (symbol, offset) = match address.base {
            Base::Symbol(symbol) => (symbol, 0),
            Base::Reg(reg) => *self.0.get(&reg)?,
            Base::Absolute => return None,
        };
        Some((symbol, offset.checked_add(address.offset)?))
    }
}
