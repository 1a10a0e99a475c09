//! Which state spaces generic addresses of a module may lead to.
//!
//! A GPU has shared and local memory in windows of the generic addresses, not far from where it puts allocations, so
//! that a wild address may well lie in one. A window is open only where the module makes a generic address of that
//! space.

use crate::ptx::ast::{Body, Module};
use crate::ptx::inst::{Instruction, Op};
use crate::ptx::operand::{Operand, Special};
use crate::ptx::types::Space;

/// The first version of PTX that has `stacksave`.
const STACKSAVE: (u32, u32) = (7, 3);

/// Which part of the window of local memory a thread has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LocalMemory {
    /// What lies at its stack pointer and above, as on NVIDIA GPUs. Modules older than `stacksave` have the window.
    FromStackPointer,
    /// What of the window it has is not known.
    #[default]
    Window,
}

impl LocalMemory {
    /// What of it the code of a module can find out.
    pub(super) fn of(self, module: &Module) -> Self {
        if module.version >= STACKSAVE { self } else { Self::Window }
    }
}

/// The windows that are open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Windows {
    pub(super) shared: bool,
    pub(super) local: Option<LocalMemory>,
    pub(super) constant: bool,
    /// Where the blocks of a cooperative launch wait for one another, which the driver gives in registers.
    pub(super) grid: bool,
}

impl Windows {
    pub(super) fn of(module: &Module, local: LocalMemory) -> Self {
        let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
        let makes = |wanted: Space| {
            let is_made = |i: &Instruction| {
                let Op::Cvta { to_generic, space, ty: _ } = i.op else { return false };
                to_generic && space.kind() == wanted
            };
            bodies.clone().flat_map(Body::instructions).any(is_made)
        };
        let local = local.of(module);
        Self {
            shared: makes(Space::Shared),
            local: makes(Space::Local).then_some(local),
            // Initial values have generic addresses of them, too.
            grid: bodies.clone().flat_map(Body::instructions).any(reads_environment),
            constant: module.variables.iter().any(|variable| variable.space == Space::Const),
        }
    }
}

/// Whether an instruction reads a register that the driver sets.
fn reads_environment(i: &Instruction) -> bool {
    i.src.iter().any(|operand| matches!(operand, Operand::Special(Special::Envreg(_))))
}
