//! Where an entry of the manifest is written: the loops around it, whose groups it lies in.

use std::rc::Rc;

use crate::scene::draft::host::{
    loop_header::Loop,
    place::{Call, Place},
};

/// A loop whose group is open.
#[derive(Clone, PartialEq)]
pub(in crate::scene::draft) struct Open {
    region: usize,
    /// The call that runs it, by its place alone.
    call: Option<*const Call>,
}

/// Where what the host does is written.
pub(in crate::scene::draft) struct Spot<'o, 'a, 's> {
    /// Which of what is [done](crate::scene::draft::host::Host::done) it is.
    pub(in crate::scene::draft) index: usize,
    pub(in crate::scene::draft) place: Place<'a, 's>,
    /// When it is done, but for what is in a group: `reset` or `step`.
    pub(in crate::scene::draft) when: &'static str,
    /// So many of the loops around it, from the outermost, have no group.
    pub(in crate::scene::draft) skipped: usize,
    /// The loops whose groups are open.
    pub(in crate::scene::draft) open: &'o mut Vec<Open>,
}

impl Spot<'_, '_, '_> {
    /// How many groups are around it.
    pub(in crate::scene::draft) fn depth(&self) -> usize {
        self.place.loops.len() - self.skipped
    }

    /// When it is done: what a group has is done with that.
    pub(in crate::scene::draft) fn on(&self) -> &'static str {
        if self.depth() == 0 { self.when } else { "step" }
    }
}

/// What stands for the groups of the loops around a place.
pub(in crate::scene::draft) fn groups(place: &Place<'_, '_>, skipped: usize) -> Vec<Open> {
    // Another call runs the rounds of a loop anew.
    let opened = |(depth, own): (usize, &&Loop<'_>)| {
        let around = place.around_loop(depth, place.at);
        Open { region: own.region, call: around.call.map(|call| Rc::as_ptr(&call)) }
    };
    place.loops.iter().enumerate().map(opened).skip(skipped).collect()
}
