//! CUDA C++ as far as it is read without a compiler: its tokens, the signatures of its kernels, the types of their
//! parameters, and the headers that every kernel may include.
//!
//! Enters: a text of CUDA C++. Leaves: what was found in it, with its places. Must not know: `scene`, `compile`,
//! `ptx`, `device`.
//!
//! Nothing here parses C++. The grammar of `tree-sitter-cuda` was tried on 221 public files with 484 kernels: it found
//! the kernels that are found here, less one, but had nodes of error in 87 of the files, where macros stand; a text of
//! 1 MB made of `a<` took it 16 s and 3 GB; and it is 30 times slower. What a kernel's types mean behind `typedef`s,
//! only the compiler knows.

pub(crate) mod brackets;
#[cfg(feature = "gl")]
mod compiled;
pub(crate) mod conditional;
mod ctype;
mod expansion;
mod files;
#[cfg(feature = "cli")]
mod folding;
#[cfg(feature = "gl")]
mod fragment;
mod header;
pub(crate) mod host;
pub(crate) mod lexer;
mod macros;
#[cfg(feature = "gl")]
pub(crate) mod mangled;
mod position;
mod signature;
#[cfg(feature = "gl")]
mod structure;

pub(crate) use self::position::Lines;
#[cfg(feature = "gl")]
pub(crate) use self::{
    compiled::settle,
    files::SourceFile,
    fragment::unfinished,
    macros::Macros,
    signature::{is_remark, scan_files},
    structure::{Held, Member, Structures},
};
pub use self::{
    ctype::{CType, Pointee},
    header::{BuiltInHeader, headers},
    position::Position,
    signature::{KernelParameter, Signature, scan},
};
#[cfg(feature = "cli")]
pub(crate) use self::{
    folding::folds,
    host::{SymbolKind, symbols},
};
