//! What begins anew before the next step.

use std::collections::BTreeSet;

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
