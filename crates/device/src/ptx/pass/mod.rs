//! Passes over PTX: each changes a module, or finds something out of one of its functions. They know no device; a
//! device says which it wants.
//!
//! Enters: a module. Leaves: the module changed, or facts about one of its functions. Must not know: `device`,
//! `ptx::lexer`, `ptx::parser`.
//!
//! What is done in which order:
//!
//! | | | CPU device: interpreter | CPU device: compiler | NVIDIA devices |
//! |---|---|---|---|---|
//! | 1 | [`parse`](super::parse) | yes | yes | |
//! | 2 | [`link`] | yes | yes | by the driver |
//! | 3 | [`verify`](super::verify()) | yes | yes | by the driver |
//! | 4 | [`lift_shared`] | yes | yes | |
//! | 5 | [`inline`](mod@inline): functions that wait | | yes | |
//! | 6 | [`verify`](super::verify()), where functions became part of others | | yes | |
//! | 7 | [`cfg`](super::cfg): blocks, loops, what lives where | | yes, of each function | |
//! | 8 | [`uniform`]: what is the same for neighbours | | yes, of each kernel | |
//!
//! What an address was computed from is found for the guard, for faults of the CPU device ([`base`](fn@base)), and for
//! who asks which arrays a kernel writes ([`writes_through`]).
//!
//! [`guard`](mod@guard) runs for NVIDIA devices alone, between 1 and the driver, where guarded code is asked for.
//!
//! 2 to 4 are [`load`]; the others the compiler asks for, function by function.

mod access;
mod base;
pub mod guard;
pub mod inline;
pub mod lift_shared;
mod origin;
pub mod uniform;
mod written;

pub use self::{
    access::Action,
    base::{Base, base},
    written::writes_through,
};
use super::{
    ast::Module,
    link::{self, Input},
    verify,
};
use crate::diagnostic::{Diagnostic, has_errors};

/// One module of the `inputs`, checked, as both engines of the CPU device take it. `provided` are functions that need
/// no definition.
///
/// # Errors
/// All that is wrong.
pub fn load(inputs: Vec<Input>, provided: &[&str]) -> Result<Module, Vec<Diagnostic>> {
    let mut module = link::link(inputs, provided)?;
    let found = verify(&module);
    if has_errors(&found) {
        return Err(found);
    }
    lift_shared::lift_shared(&mut module);
    Ok(module)
}
