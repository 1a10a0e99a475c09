//! Which state spaces generic addresses of a module may lead to.
//!
//! A GPU has shared and local memory in windows of the generic addresses, not far from where it puts allocations, so
//! that a wild address may well lie in one. A window is open only where the module makes a generic address of that
//! space.

use crate::ptx::ast::{Body, Module};
use crate::ptx::inst::{Instruction, Op};
use crate::ptx::types::Space;

/// The windows that are open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Windows {
    pub(super) shared: bool,
    pub(super) local: bool,
    pub(super) constant: bool,
}

impl Windows {
    pub(super) fn of(module: &Module) -> Self {
        let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
        let makes = |wanted: Space| {
            let is_made = |i: &Instruction| matches!(i.op, Op::Cvta { to_generic: true, space, .. } if space.kind() == wanted);
            bodies.clone().flat_map(Body::instructions).any(is_made)
        };
        Self {
            shared: makes(Space::Shared),
            local: makes(Space::Local),
            // Initial values have generic addresses of them, too.
            constant: module.variables.iter().any(|variable| variable.space == Space::Const),
        }
    }
}
