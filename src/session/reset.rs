//! What there is to be done before the next step.

use std::collections::BTreeSet;

use super::{reset_edit::Beginning, run::Entered};

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

/// What the reset passes have to do before the next step.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reset {
    /// Nothing.
    None,
    /// Fill resources that are new: their names, for until then another manifest may number them otherwise.
    Fresh(BTreeSet<String>),
    /// Start anew.
    All,
}

impl Reset {
    /// Whether it begins the resource with this name anew.
    pub(super) fn concerns(&self, name: &str) -> bool {
        match self {
            Self::None => false,
            Self::Fresh(names) => names.contains(name),
            Self::All => true,
        }
    }

    /// Does `more` as well.
    pub(super) fn add(&mut self, more: Self) {
        *self = match (std::mem::replace(self, Self::None), more) {
            (Self::All, _) | (_, Self::All) => Self::All,
            (Self::None, one) | (one, Self::None) => one,
            (Self::Fresh(mut names), Self::Fresh(more)) => {
                names.extend(more);
                Self::Fresh(names)
            }
        };
    }
}
