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
//! | 1 | [`parse`](super::parse) | yes | yes | where guarded |
//! | 2 | [`guard`](mod@guard): accesses are compared with bounds | | | where guarded |
//! | 3 | [`link`] | yes | yes | by the driver |
//! | 4 | [`verify`](super::verify()) | yes | yes | by the driver |
//! | 5 | [`lift_shared`] | yes | yes | |
//! | 6 | [`inline`](mod@inline): functions that wait | | yes | |
//! | 7 | [`verify`](super::verify()), where functions became part of others | | yes | |
//! | 8 | [`cfg`](super::cfg): blocks, loops, what lives where | | yes, of each function | |
//! | 9 | [`constants`], [`uniform`]: what holds a number, what is the same for neighbours | | yes, of each kernel | |
//! | 10 | those of `device/cpu/jit`: `spin`, `sync`, `lanes`, `known`, `windows` | | yes, of each function | |
//!
//! What is not guarded goes to an NVIDIA driver as it is, unread. What is guarded is written out as text again.
//!
//! Those in `device/cpu/jit` are not here because they know the compiler: which loops may wait for other threads
//! (`spin`), where threads wait for each other (`sync`), what groups of threads can do (`lanes`, of kernels alone, with
//! 9), and which registers hold the address of a variable (`known`) or one made from an argument (`windows`).
//!
//! What an address was computed from is found for the guard, for faults of the CPU device ([`base`](fn@base)), and for
//! who asks which arrays a kernel writes ([`writes_through`]).
//!
//! 3 to 5 are [`load`]; the others the compiler asks for, function by function.

mod access;
mod base;
mod calls;
pub mod constants;
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
