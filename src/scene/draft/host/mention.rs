//! A mention of a variable that is or has memory, and what is done with that there.

use crate::scene::draft::code::variables::Id;

/// A mention that may write.
pub(in crate::scene::draft) struct Mention {
    pub(in crate::scene::draft) id: Id,
    /// Where the variable's name stands.
    pub(in crate::scene::draft) at: usize,
    pub(in crate::scene::draft) does: Does,
}

/// What is done with memory.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::scene::draft) enum Does {
    Reads,
    /// It may be written to there.
    Writes,
    /// The same by a call of something that is not known, which has memory of the device, too.
    Gives,
    /// It may be written to whenever something is done from there on: something else points into it.
    Keeps,
    /// All of it is given to the function whose name stands there, or comes from that: what this does says the rest.
    Follows(usize),
    /// Another pointer is set to all of it, whose own mentions say the rest as long as it is set to nothing else.
    Names(Id),
    /// Another variable points into it, or is a reference to a part of it: where that is written to, so may this be.
    Points(Id),
    /// Elements are added, or taken away.
    Grows,
}
