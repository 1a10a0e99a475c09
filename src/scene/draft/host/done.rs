//! What the host does with the device, one thing after the other.

use std::rc::Rc;

use super::place::Call;

/// What the host does, by its place in the lists of [`Host`](super::Host).
#[derive(Clone, Copy, PartialEq)]
pub(in crate::scene::draft) enum Act {
    Launch(usize),
    Transfer(usize),
    Swap(usize),
    Allocation(usize),
    Fill(usize),
    Write(usize),
    Symbol(usize),
    Untold(usize),
}

/// Something that the host does at a place, within a call.
pub(in crate::scene::draft) struct Done {
    pub(in crate::scene::draft) act: Act,
    pub(in crate::scene::draft) at: usize,
    pub(in crate::scene::draft) call: Option<Rc<Call>>,
}
