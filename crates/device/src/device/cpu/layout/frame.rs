//! The memory of one function's own.

use std::collections::HashMap;

use super::{SymbolPlace, reach::Shared};
use crate::ptx::{
    ast::{Body, Function, FunctionKind, Module, Param, Variable, parameter_places},
    inst::Instruction,
    operand::{Operand, Symbol},
    types::Space,
};

/// Parameters of any type may lie at a multiple of so many bytes.
const TEMPORARY_ALIGNMENT: u64 = 16;

/// Dynamic shared memory starts at a multiple of so many bytes, or of more where a variable asks for it.
const DYNAMIC_ALIGNMENT: u64 = 16;

/// The largest alignment that is kept.
const MOST_ALIGNMENT: u64 = 4096;

/// The memory of one function's own.
#[derive(Debug, Default)]
pub(in crate::device::cpu) struct StackFrame {
    /// Where `.local`, `.param` and `.shared` variables lie, by index in the body.
    locals: HashMap<u32, SymbolPlace>,
    /// Where the temporaries of calls begin, in local memory.
    temporaries: u64,
    /// `.local` memory of a thread in bytes, with what is left free behind it: the next frame begins there.
    pub(in crate::device::cpu) local_bytes: u64,
    /// How many of them are used: an access beyond is a fault.
    pub(in crate::device::cpu) used_bytes: u64,
    /// Static `.shared` memory of a kernel in bytes; what is dynamic starts there.
    pub(in crate::device::cpu) shared_bytes: u64,
    /// Offsets of the parameters in the kernel's argument block, and their sizes.
    params: Vec<(u64, u64)>,
}

impl StackFrame {
    /// Of `function`, which uses `shared` memory, of which the module's own variables take `module_bytes`. Frames stand
    /// on one another, so that each takes a multiple of the [`alignment`] of all.
    pub(super) fn new(
        module: &Module,
        function: &Function,
        body: &Body,
        shared: Shared,
        module_bytes: u64,
        alignment: u64,
    ) -> Self {
        let mut frame = Self::default();
        if shared.of_module {
            frame.shared_bytes = module_bytes;
        }
        for (index, variable) in body.locals.iter().enumerate() {
            if let Some(place) = frame.place(function.kind, variable) {
                frame.locals.insert(index as u32, place);
            }
        }
        frame.temporaries = frame.used_bytes.next_multiple_of(TEMPORARY_ALIGNMENT);
        let most = body.instructions().map(|i| temporary_bytes(module, body, i)).max();
        if let Some(most) = most.filter(|most| *most > 0) {
            frame.used_bytes = frame.temporaries + most;
        }
        frame.local_bytes = frame.used_bytes.next_multiple_of(alignment);
        if shared.dynamic_alignment > 0 {
            let asked = u64::from(shared.dynamic_alignment).min(MOST_ALIGNMENT);
            frame.shared_bytes = frame.shared_bytes.next_multiple_of(asked.max(DYNAMIC_ALIGNMENT));
        }
        let places = parameter_places(&function.params);
        frame.params = places.map(|place| (place.start, place.end - place.start)).collect();
        frame
    }

    fn place(&mut self, kind: FunctionKind, variable: &Variable) -> Option<SymbolPlace> {
        let alignment = u64::from(variable.alignment().max(1));
        let after = |end: &mut u64, alignment: u64| {
            let offset = end.next_multiple_of(alignment);
            *end = offset + variable.bytes();
            offset
        };
        let bytes = variable.bytes();
        Some(match variable.space {
            Space::Local => {
                SymbolPlace::Local { offset: after(&mut self.used_bytes, alignment), bytes }
            }
            // Aligned for any parameter that is passed in it.
            Space::Param => {
                let alignment = alignment.max(TEMPORARY_ALIGNMENT);
                SymbolPlace::Local { offset: after(&mut self.used_bytes, alignment), bytes }
            }
            Space::Shared | Space::SharedCta if variable.is_dynamic() => SymbolPlace::DynamicShared,
            // Those of device functions have become variables of the module (`lift_shared`).
            Space::Shared | Space::SharedCta if kind == FunctionKind::Entry => {
                SymbolPlace::Shared { offset: after(&mut self.shared_bytes, alignment), bytes }
            }
            Space::Shared | Space::SharedCta | Space::SharedCluster => return None,
            Space::Reg | Space::Sreg | Space::Const | Space::Global | Space::Tex => return None,
            Space::ParamEntry | Space::ParamFunc => return None,
        })
    }

    /// Where a variable of the body lies.
    pub(super) fn local(&self, index: u32) -> Option<SymbolPlace> {
        self.locals.get(&index).copied()
    }

    /// Where a kernel's parameter lies.
    pub(super) fn param(&self, index: u32) -> Option<SymbolPlace> {
        let (offset, bytes) = *self.params.get(index as usize)?;
        Some(SymbolPlace::KernelParam { offset, bytes })
    }

    /// The places of one call's temporaries.
    pub(in crate::device::cpu) fn temporaries(&self) -> Temporaries {
        Temporaries { end: self.temporaries }
    }
}

/// What frames of local memory are to be aligned to: what the variable asks for that asks for most.
pub(super) fn alignment(module: &Module) -> u64 {
    let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
    let locals = bodies.flat_map(|body| &body.locals);
    let of_frames = locals.filter(|v| matches!(v.space, Space::Local | Space::Param));
    let most = of_frames.map(|variable| u64::from(variable.alignment())).max().unwrap_or(0);
    most.clamp(TEMPORARY_ALIGNMENT, MOST_ALIGNMENT)
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
pub(in crate::device::cpu) struct Temporaries {
    end: u64,
}

impl Temporaries {
    /// The offset of the next one.
    pub(in crate::device::cpu) fn next(&mut self, param: &Param) -> u64 {
        let offset = self.end;
        self.end = (offset + param.bytes()).next_multiple_of(TEMPORARY_ALIGNMENT);
        offset
    }
}
