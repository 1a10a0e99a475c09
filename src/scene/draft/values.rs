//! What variables and expressions of host code are at a place, and in what order the host does what it does.
//!
//! Enters: a place in what was read. Leaves: numbers, formulas of the rounds of loops, launches and copies in their
//! order. Must not know: `scene::draft::reader`, `scene::draft::fills`, `scene::draft::manifest`.

pub(super) mod aliases;
pub(super) mod allocations;
pub(super) mod axes;
pub(super) mod calls;
pub(super) mod cases;
pub(super) mod conditions;
pub(super) mod evaluator;
pub(super) mod fields;
pub(super) mod holders;
pub(super) mod implied;
pub(super) mod indirect;
pub(super) mod jumps;
pub(super) mod loops;
pub(super) mod mathematics;
pub(super) mod meaning;
pub(super) mod names;
pub(super) mod overloads;
pub(super) mod runs;
pub(super) mod sizes;
pub(super) mod structures;
pub(super) mod trace;
pub(super) mod types;
pub(super) mod until;
