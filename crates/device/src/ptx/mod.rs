//! PTX, NVIDIA's portable assembly: read, checked, analysed, printed.
//!
//! Enters: text. Leaves: a typed module, what is known of its control flow, and text again. Must not know: `cuda`,
//! `scene`, `compile`, `device`.
//!
//! Text becomes a [`Module`](ast::Module) by [`parse`], and a module text again by [`print()`]. Instructions are typed
//! ([`Op`](inst::Op)): whoever matches on one knows exactly what it means without looking at words. What is PTX but
//! is not interpreted here (clusters, bulk copies, …) is kept as [`Op::Unsupported`](inst::Op::Unsupported).
//!
//! Source: *PTX ISA* 9.0, <https://docs.nvidia.com/cuda/parallel-thread-execution/>.

#![deny(
    clippy::wildcard_enum_match_arm,
    clippy::match_wildcard_for_single_variants,
    reason = "a new operation, operand or type is to be thought of wherever it could be given a wrong meaning"
)]

pub mod ast;
pub mod cfg;
pub mod files;
pub mod inst;
mod keyword;
mod lexer;
pub mod link;
pub mod matrix;
pub mod modifier;
pub mod op;
pub mod operand;
pub mod outline;
mod parser;
pub mod pass;
pub mod print;
mod quoted;
pub mod types;
pub mod verify;
pub mod video;
pub use parser::{FILE, parse};
pub use print::print;
pub use verify::verify;

#[cfg(test)]
mod tests;
