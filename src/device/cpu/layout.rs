//! Where everything lies that a module names: variables in memory, parameters, locals in frames, functions.
//!
//! It is computed once for the compiler and for the interpreter: that they place things alike is not what is to be
//! found out by comparing them.

mod frame;
mod globals;
mod reach;

pub(super) use frame::Frame;
pub(super) use globals::Globals;
pub(super) use reach::Reach;

use crate::ptx::{
    ast::{FunctionKind, Module},
    operand::Symbol,
};
use globals::Place;

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

/// Where the symbols of a module lie, and what its functions need.
#[derive(Debug)]
pub(super) struct Layout<'a> {
    module: &'a Module,
    globals: &'a Globals,
    reach: Reach,
    /// Of the functions that have a body.
    frames: Vec<Option<Frame>>,
}

impl<'a> Layout<'a> {
    pub(super) fn new(module: &'a Module, globals: &'a Globals) -> Self {
        let reach = Reach::new(module);
        let functions = module.functions.iter().enumerate();
        let frames = functions.map(|(index, function)| {
            let body = function.body.as_ref()?;
            Some(Frame::new(module, function, body, reach.shared(index), globals.shared_bytes()))
        });
        Self { module, globals, frames: frames.collect(), reach }
    }

    /// Whether a kernel may call the function, or it is one.
    pub(super) fn is_reached(&self, function: usize) -> bool {
        self.reach.is_reached(function)
    }

    /// The frame of a function that has a body.
    pub(super) fn frame(&self, function: usize) -> Option<&Frame> {
        self.frames.get(function)?.as_ref()
    }

    /// Where `symbol` lies, as a function sees it.
    pub(super) fn spot(&self, function: usize, symbol: Symbol) -> Option<Spot> {
        let (frame, function) = (self.frame(function)?, self.module.functions.get(function)?);
        Some(match symbol {
            Symbol::Variable(index) => {
                let variable = self.module.variables.get(index as usize)?;
                match self.globals.place(index) {
                    Some(Place::Fixed { address, bytes }) => Spot::Fixed { address, bytes },
                    Some(Place::Shared { offset }) => {
                        Spot::Shared { offset, bytes: variable.bytes() }
                    }
                    None if variable.is_dynamic() => Spot::DynamicShared,
                    None => return None,
                }
            }
            Symbol::Local(index) => frame.local(index)?,
            Symbol::Param(index) if function.kind == FunctionKind::Entry => frame.param(index)?,
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
}

/// No address of the arena has these bits.
const FUNCTION_TAG: u64 = 0xF000_0000_0000_0000;

/// What stands for the address of a function: its index, tagged so that it is no address of the arena.
pub(super) fn function_handle(index: u32) -> u64 {
    FUNCTION_TAG | u64::from(index)
}

/// The function that a handle stands for, if it may.
pub(super) fn function_of(handle: u64) -> Option<u32> {
    u32::try_from(handle ^ FUNCTION_TAG).ok()
}
