//! Members of structures that something sets.

use std::collections::BTreeSet;

/// What sets members of structures.
#[derive(Default)]
pub(in crate::scene::draft) struct SetFields<'s> {
    /// The names of those that something sets.
    pub(in crate::scene::draft) names: BTreeSet<&'s str>,
    /// The structures that are made of something.
    pub(in crate::scene::draft) made: BTreeSet<&'s str>,
}
