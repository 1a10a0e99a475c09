//! What the host fills memory of the device with.

use std::rc::Rc;

use super::place::Call;
use crate::scene::draft::code::Span;

/// A write, by its place in [`Host::writes`](super::Host::writes), with the call in which it is made.
pub(in crate::scene::draft) type Piece = (usize, Option<Rc<Call>>);

/// What the host fills memory of the device with.
#[derive(Clone, Default)]
pub(in crate::scene::draft) struct Filling {
    /// The writes, in the order in which they are made.
    pub(in crate::scene::draft) pieces: Vec<Piece>,
    /// The variable that is copied there, where that is a number.
    pub(in crate::scene::draft) number: Option<(Span, Option<Rc<Call>>)>,
    /// The copy, and how many bytes it has, where there is one.
    pub(in crate::scene::draft) copy: Option<Copy>,
    /// Whether that is all that it has, as far as it is known.
    pub(in crate::scene::draft) is_all: bool,
}

/// A copy of memory of the host to the device.
#[derive(Clone)]
pub(in crate::scene::draft) struct Copy {
    pub(in crate::scene::draft) bytes: Option<Span>,
    pub(in crate::scene::draft) call: Option<Rc<Call>>,
    /// Where it is made, and each call that leads there.
    pub(in crate::scene::draft) places: Vec<usize>,
}
