//! What host code consists of: the parts that lie in one another, variables, functions, macros, operands.
//!
//! Enters: tokens. Leaves: where each part stands. Must not know: `scene::draft::host`, `scene::draft::reader`,
//! `scene::draft::values`, `scene::draft::fills`, `scene::draft::manifest`.

pub(super) mod candidates;
pub(super) mod constructed;
pub(super) mod detours;
pub(super) mod functions;
pub(super) mod interface;
pub(super) mod libraries;
pub(super) mod macros;
pub(super) mod members;
pub(super) mod operands;
pub(super) mod parameters;
pub(super) mod pointers;
pub(super) mod readers;
pub(super) mod regions;
pub(super) mod sections;
pub(super) mod source;
pub(super) mod templates;
pub(super) mod variables;

use std::ops::Range;

/// So many tokens an expression has, and a launch's shape.
pub(super) const LONGEST: usize = 1000;

/// Places of tokens.
pub(super) type Span = Range<usize>;
