//! A statement of the host that writes numbers into memory.

use super::mention::Does;
use crate::scene::draft::code::Span;

/// A statement that writes to the elements of something.
pub(in crate::scene::draft) struct Write<'s> {
    /// Where the name stands of what is written to.
    pub(in crate::scene::draft) at: usize,
    pub(in crate::scene::draft) what: Written<'s>,
    /// How much of it is written to, but for elements.
    pub(in crate::scene::draft) extent: Extent,
    /// The mentions that are a part of this.
    pub(in crate::scene::draft) covers: Span,
}

/// How much is written, from the first element on.
pub(in crate::scene::draft) enum Extent {
    /// All that there is.
    Whole,
    Elements(Span),
    Bytes(Span),
}

/// What is written.
pub(in crate::scene::draft) enum Written<'s> {
    /// `name[i].field = value`, `name[y][x] = value`; the first without an index.
    Element { index: Vec<Span>, fields: Vec<&'s str>, value: Span },
    /// The same number to each element; zeros without one.
    All(Option<Span>),
    /// Numbers that begin with this one, each one more than that before.
    Counted(Span),
    /// What an expression is each time, in the order of the elements.
    Drawn(Span),
    /// The same behind those that are there.
    Pushed(Span),
    /// All elements.
    List(Vec<Span>),
    /// Random numbers from the first to the second.
    Between([i32; 2]),
    /// Whatever a file or a library has.
    Unknown,
    /// What a mention does that is not understood.
    Mentioned(Does),
}

impl<'s> Write<'s> {
    /// One to all of what is named at `at`, or to the elements that it says.
    pub(in crate::scene::draft) fn at(at: usize, what: Written<'s>) -> Self {
        Self { at, what, extent: Extent::Whole, covers: at..at + 1 }
    }
}
