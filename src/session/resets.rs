//! What the scene began with, and what it begins with next.

use super::{reset::Reset, reset_edit::Beginning, run::Entered};

/// What the scene began with, and what it begins with next.
pub(super) struct Resets {
    /// What there is to be done before the next step.
    pub(super) next: Reset,
    /// What enters the next reset, where a run says it.
    pub(super) inputs: Option<Entered>,
    /// The reset kernels with which the scene began.
    pub(super) begun_with: Option<Beginning>,
    /// Whether the program has other ones.
    pub(super) is_edited: bool,
}

impl Default for Resets {
    fn default() -> Self {
        Self { next: Reset::All, inputs: None, begun_with: None, is_edited: false }
    }
}
