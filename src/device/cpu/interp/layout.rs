//! Where variables and parameters lie: offsets in shared memory, in frames of local memory, in the parameters.

use std::collections::HashMap;

use crate::{
    device::cpu::jit::{Globals, Placed},
    ptx::{
        ast::{Body, Function, FunctionKind, Module},
        inst::Instruction,
        operand::{Operand, Symbol},
        types::Space,
    },
};

use super::program::FUNCTION_TAG;

/// Where a symbol lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    /// At an address in its own space that is known: global, constant and shared variables, functions.
    Fixed(u64),
    DynamicShared,
    /// At an offset in the frame's local memory.
    Local(u64),
    KernelParam(u64),
    /// A parameter of a device function; results follow parameters.
    Argument(u32),
}

/// The memory of one function's own.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    /// By index in the body's variables.
    locals: HashMap<u32, Spot>,
    pub(super) local_bytes: u64,
    /// All static shared memory in bytes (kernels).
    pub(super) shared_bytes: u64,
    params: Vec<u64>,
}

pub(super) struct Layout<'a> {
    ptx: &'a Module,
    globals: &'a Globals,
    frames: Vec<Frame>,
    reached: Vec<bool>,
}

impl<'a> Layout<'a> {
    pub(super) fn new(ptx: &'a Module, globals: &'a Globals) -> Self {
        let mut shared = globals.shared_bytes();
        let mut frames: Vec<Frame> = Vec::new();
        // Device functions' own shared variables follow those of the module.
        for function in &ptx.functions {
            let mut frame = Frame::default();
            if let (Some(body), FunctionKind::Func) = (&function.body, function.kind) {
                frame.place_locals(body, &mut shared);
            }
            frame.place_params(function);
            frames.push(frame);
        }
        let mut layout = Self { ptx, globals, frames, reached: vec![false; ptx.functions.len()] };
        for (index, function) in ptx.functions.iter().enumerate() {
            let (Some(body), FunctionKind::Entry) = (&function.body, function.kind) else {
                continue;
            };
            let callees = layout.reach(index);
            let uses_static = callees.iter().any(|&callee| layout.uses_static(callee));
            let mut bytes = if uses_static { shared } else { 0 };
            let dynamic = callees.iter().any(|&callee| layout.uses_dynamic(callee));
            let frame = &mut layout.frames[index];
            frame.place_locals(body, &mut bytes);
            frame.shared_bytes = if dynamic { bytes.next_multiple_of(16) } else { bytes };
            callees.into_iter().for_each(|callee| layout.reached[callee] = true);
        }
        layout
    }

    /// Whether a kernel reaches the function.
    pub(super) fn is_reached(&self, index: usize) -> bool {
        self.reached[index]
    }

    pub(super) fn frame(&self, index: u32) -> &Frame {
        &self.frames[index as usize]
    }

    /// A function and all that it may call; functions whose address is taken count as called.
    fn reach(&self, first: usize) -> Vec<usize> {
        let mut seen = vec![false; self.ptx.functions.len()];
        let mut open = vec![first];
        open.extend(self.ptx.variables.iter().filter_map(|v| v.init.as_ref()).flat_map(pointed));
        let mut found = Vec::new();
        while let Some(index) = open.pop() {
            if std::mem::replace(&mut seen[index], true) {
                continue;
            }
            let Some(body) = &self.ptx.functions[index].body else { continue };
            found.push(index);
            open.extend(symbols(body).filter_map(|symbol| match symbol {
                Symbol::Function(callee) => Some(callee as usize),
                Symbol::Variable(_) | Symbol::Local(_) | Symbol::Param(_) | Symbol::Return(_) => {
                    None
                }
            }));
        }
        found
    }

    fn uses_static(&self, index: usize) -> bool {
        let function = &self.ptx.functions[index];
        let Some(body) = &function.body else { return false };
        let own = function.kind == FunctionKind::Func
            && body.locals.iter().any(|v| is_shared(v.space) && !v.is_dynamic());
        own || symbols(body).any(|symbol| match symbol {
            Symbol::Variable(variable) => {
                matches!(self.globals.place(variable), Some(Placed::Shared { .. }))
            }
            Symbol::Local(_) | Symbol::Param(_) | Symbol::Return(_) | Symbol::Function(_) => false,
        })
    }

    fn uses_dynamic(&self, index: usize) -> bool {
        let Some(body) = &self.ptx.functions[index].body else { return false };
        symbols(body).any(|symbol| match symbol {
            Symbol::Variable(v) => {
                self.ptx.variables.get(v as usize).is_some_and(|v| v.is_dynamic())
            }
            Symbol::Local(v) => body.locals.get(v as usize).is_some_and(|v| v.is_dynamic()),
            Symbol::Param(_) | Symbol::Return(_) | Symbol::Function(_) => false,
        })
    }

    /// Where `symbol` lies, as function `index` sees it.
    pub(super) fn spot(&self, index: u32, symbol: Symbol) -> Option<Spot> {
        let function = &self.ptx.functions[index as usize];
        let frame = self.frame(index);
        Some(match symbol {
            Symbol::Variable(variable) => match self.globals.place(variable) {
                Some(Placed::Fixed { address, .. }) => Spot::Fixed(address),
                Some(Placed::Shared { offset }) => Spot::Fixed(offset),
                None if self.ptx.variables.get(variable as usize)?.is_dynamic() => {
                    Spot::DynamicShared
                }
                None => return None,
            },
            Symbol::Local(local) => *frame.locals.get(&local)?,
            Symbol::Param(param) if function.kind == FunctionKind::Entry => {
                Spot::KernelParam(*frame.params.get(param as usize)?)
            }
            Symbol::Param(param) => Spot::Argument(param),
            Symbol::Return(result) => Spot::Argument(function.params.len() as u32 + result),
            Symbol::Function(function) => Spot::Fixed(FUNCTION_TAG | u64::from(function)),
        })
    }
}

impl Frame {
    fn place_locals(&mut self, body: &Body, shared: &mut u64) {
        for (index, variable) in body.locals.iter().enumerate() {
            let (end, spot): (_, fn(u64) -> Spot) = match variable.space {
                Space::Local | Space::Param => (&mut self.local_bytes, Spot::Local),
                Space::Shared | Space::SharedCta if variable.is_dynamic() => {
                    self.locals.insert(index as u32, Spot::DynamicShared);
                    continue;
                }
                Space::Shared | Space::SharedCta => (&mut *shared, Spot::Fixed),
                Space::Reg | Space::Sreg | Space::Const | Space::Global | Space::Tex => continue,
                Space::ParamEntry | Space::ParamFunc | Space::SharedCluster => continue,
            };
            let start = end.next_multiple_of(u64::from(variable.alignment().max(1)));
            *end = start + variable.bytes();
            self.locals.insert(index as u32, spot(start));
        }
    }

    fn place_params(&mut self, function: &Function) {
        let mut end = 0u64;
        for param in &function.params {
            let start = end.next_multiple_of(u64::from(param.alignment().max(1)));
            self.params.push(start);
            end = start + param.bytes();
        }
    }
}

fn is_shared(space: Space) -> bool {
    matches!(space, Space::Shared | Space::SharedCta)
}

fn symbols(body: &Body) -> impl Iterator<Item = Symbol> {
    body.instructions().flat_map(in_instruction)
}

fn in_instruction(i: &Instruction) -> impl Iterator<Item = Symbol> {
    i.src.iter().flat_map(Operand::lanes).filter_map(Operand::symbol)
}

/// Functions whose address an initialiser holds: tables of virtual functions.
fn pointed(init: &crate::ptx::ast::Init) -> Vec<usize> {
    use crate::ptx::ast::{Init, Value};
    match init {
        Init::Value(Value::Address(address)) => match address.symbol {
            Symbol::Function(index) => vec![index as usize],
            Symbol::Variable(_) | Symbol::Local(_) | Symbol::Param(_) | Symbol::Return(_) => {
                Vec::new()
            }
        },
        Init::List(items) => items.iter().flat_map(pointed).collect(),
        Init::Value(_) | Init::Text(_) => Vec::new(),
    }
}
