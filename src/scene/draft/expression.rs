//! Expressions of C++: numbers with the language's types, the tokens of an expression as a tree, and formulas of a
//! manifest that mean the same.
//!
//! Enters: tokens. Leaves: expressions, numbers, formulas. Must not know: `scene::draft::code`, `scene::draft::host`,
//! `scene::draft::reader`, `scene::draft::values`, `scene::draft::fills`, `scene::draft::manifest`.

pub(super) mod formula;
pub(super) mod headers;
pub(super) use crate::scene::cpp_number;
pub(super) mod syntax;
pub(super) mod text;
pub(super) mod told;
