//! A call of which nothing is said.

use crate::scene::draft::code::Span;

/// A call that does something with the device of which nothing is said.
pub(in crate::scene::draft) struct Untold {
    /// All of the call.
    pub(in crate::scene::draft) call: Span,
    /// What it is given, where it may have nothing to do with memory of the device, as one of a library.
    pub(in crate::scene::draft) given: Option<Vec<Span>>,
}
