//! Where everything lies that a module names: variables in memory, parameters, locals in frames, functions.
//!
//! Enters: a module, the arena. Leaves: where each variable, parameter and local lies. Must not know:
//! `device::cpu::jit`, `device::cpu::interp`.
//!
//! It is computed once for the compiler and for the interpreter: that they place things alike is not what is to be
//! found out by comparing them.

mod frame;
mod globals;
mod reach;
mod taken;

pub(super) use frame::StackFrame;
pub(super) use globals::Globals;
pub(super) use reach::Reach;
pub(super) use taken::Taken;

use crate::ptx::{
    ast::{FunctionKind, Module},
    operand::Symbol,
};
pub(super) use globals::VariablePlace;

/// Where a symbol lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SymbolPlace {
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

/// Where the symbols of a module lie, and what its functions need.
#[derive(Debug)]
pub(super) struct Layout<'a> {
    module: &'a Module,
    globals: &'a Globals,
    reach: Reach,
    taken: Taken,
    /// Of the functions that have a body.
    frames: Vec<Option<StackFrame>>,
    /// What frames are aligned to, in bytes.
    alignment: u64,
    /// The most that the frames of a function and of those that it calls take together, in bytes.
    deepest: Vec<u64>,
}

/// Local memory for the frames of functions that call themselves, directly or through pointers: how deep, nobody
/// knows beforehand.
const RECURSION_BYTES: u64 = 32 << 10;

/// As much local memory as a thread of a GPU has.
const MOST_STACK_BYTES: u64 = 512 << 10;

impl<'a> Layout<'a> {
    pub(super) fn new(module: &'a Module, globals: &'a Globals) -> Self {
        let (reach, alignment) = (Reach::new(module), frame::alignment(module));
        let functions = module.functions.iter().enumerate();
        let frames = functions.map(|(index, function)| {
            let (body, shared) = (function.body.as_ref()?, reach.shared(index));
            Some(StackFrame::new(module, function, body, shared, globals.shared_bytes(), alignment))
        });
        let frames: Vec<_> = frames.collect();
        let bytes = |index: usize| match frames.get(index) {
            Some(Some(frame)) => frame.local_bytes,
            Some(None) | None => 0,
        };
        let deepest = reach.deepest(bytes);
        let taken = Taken::new(module);
        Self { module, globals, frames, reach, taken, alignment, deepest }
    }

    /// Of which memory of a block the module takes generic addresses.
    pub(super) fn taken(&self) -> Taken {
        self.taken
    }

    /// What frames of local memory are aligned to, in bytes.
    pub(super) fn alignment(&self) -> u64 {
        self.alignment
    }

    /// Local memory behind the frame of a function, for the frames of those that it calls, in bytes.
    pub(super) fn stack_bytes(&self, function: usize) -> u64 {
        let own = self.frame(function).map_or(0, |frame| frame.local_bytes);
        let below = self.deepest.get(function).map_or(0, |bytes| bytes.saturating_sub(own));
        (below + RECURSION_BYTES).min(MOST_STACK_BYTES).next_multiple_of(self.alignment)
    }

    /// Whether a kernel may call the function, or it is one.
    pub(super) fn is_reached(&self, function: usize) -> bool {
        self.reach.is_reached(function)
    }

    /// Whether a pointer may lead to the function: its address is taken somewhere. What it uses counts, by that alone,
    /// for everything that calls through pointers.
    pub(super) fn is_addressed(&self, function: usize) -> bool {
        self.reach.is_addressed(function)
    }

    /// The frame of a function that has a body.
    pub(super) fn frame(&self, function: usize) -> Option<&StackFrame> {
        self.frames.get(function)?.as_ref()
    }

    /// Where `symbol` lies, as a function sees it.
    pub(super) fn place(&self, function: usize, symbol: Symbol) -> Option<SymbolPlace> {
        let (frame, function) = (self.frame(function)?, self.module.functions.get(function)?);
        Some(match symbol {
            Symbol::Variable(index) => {
                let variable = self.module.variables.get(index as usize)?;
                match self.globals.place(index) {
                    Some(VariablePlace::Fixed { address, bytes }) => {
                        SymbolPlace::Fixed { address, bytes }
                    }
                    Some(VariablePlace::Shared { offset }) => {
                        SymbolPlace::Shared { offset, bytes: variable.bytes() }
                    }
                    None if variable.is_dynamic() => SymbolPlace::DynamicShared,
                    None => return None,
                }
            }
            Symbol::Local(index) => frame.local(index)?,
            Symbol::Param(index) if function.kind == FunctionKind::Entry => frame.param(index)?,
            Symbol::Param(index) => {
                let bytes = function.params.get(index as usize)?.bytes();
                SymbolPlace::FunctionParam { position: index as usize, bytes }
            }
            Symbol::Return(index) => {
                let bytes = function.returns.get(index as usize)?.bytes();
                SymbolPlace::FunctionParam {
                    position: function.params.len() + index as usize,
                    bytes,
                }
            }
            Symbol::Function(index) => SymbolPlace::Function(index),
        })
    }
}

/// No address of the arena has these bits.
const FUNCTION_TAG: u64 = 0xF000_0000_0000_0000;

/// Functions lie so far apart, in bytes. A pointer to a member function is odd where the member is virtual (Itanium C++
/// ABI, 2.3), so the address of a function is even; and one that is a few bytes off is no function's.
const FUNCTION_STRIDE: u64 = 16;

/// What stands for the address of a function: its index, tagged so that it is no address of the arena.
pub(super) fn function_handle(index: u32) -> u64 {
    FUNCTION_TAG | (u64::from(index) * FUNCTION_STRIDE)
}

/// The function that a handle stands for, if it may.
pub(super) fn function_of(handle: u64) -> Option<u32> {
    let offset = handle ^ FUNCTION_TAG;
    let index = u32::try_from(offset / FUNCTION_STRIDE).ok()?;
    offset.is_multiple_of(FUNCTION_STRIDE).then_some(index)
}
