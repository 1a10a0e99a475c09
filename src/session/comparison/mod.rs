//! Two programs on copies of one state, step by step: how their results differ, and how long they take.
//!
//! Enters: a session, and the text of a second program. Leaves: how results and times of the two programs differ. Must
//! not know: `compile`, `studio`, `headless`.
//!
//! The mathematics ([`compared`], [`difference`], [`pass_times`]) is that of `warpaint compare`, too.

mod commands;
mod companion;
mod compared;
mod comparer;
mod difference;
mod ending;
mod figures;
mod frame;
mod handover;
mod opening;
mod pass_times;
mod snapshot;
mod variant;

pub use compared::{Compared, Last, Parting, Unlike};
pub use difference::Gap;
pub use pass_times::PassRatio;
pub use snapshot::{Comparison, ComparisonPhase};
pub use variant::{Variant, VariantText};

use std::sync::Arc;

use {companion::Companion, opening::Wanted};

use super::made::Made;

/// The variants of what runs that a session knows.
#[derive(Default)]
pub(super) struct Variants {
    /// Does the same steps.
    pub(super) companion: Option<Box<Companion>>,
    /// Is to take its place.
    pub(super) wanted: Option<Wanted>,
    /// What ran before the last edit, of the text or of a file that it reads.
    pub(super) before: Option<Arc<Made>>,
}
#[cfg(feature = "cli")]
pub(crate) use {
    compared::in_common,
    pass_times::{PassTimes, quartiles},
};
