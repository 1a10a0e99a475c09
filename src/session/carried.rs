//! A resource that an edit carries over to another layout, or to another name.

use crate::{scene, state::HostCopy};

/// A resource whose content goes on.
pub(super) struct Carried {
    /// As it was.
    pub(super) old: scene::Resource,
    /// As it is called now.
    pub(super) name: String,
    /// What it held, and perhaps others beside it, once that is known.
    pub(super) content: Option<HostCopy>,
}
