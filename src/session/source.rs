//! What a program is made of: a text of the user, or all that was made of one before.

use std::sync::Arc;

use super::made::Made;

/// What the worker makes a program of.
#[derive(Clone)]
pub(super) enum Source {
    /// A text, which is compiled with the files that it includes as they are now.
    Text(Arc<str>),
    /// What became of a text once: it gives the same program, whatever became of its files.
    Made(Arc<Made>),
}
