//! Which memory launches and copies of the host take.

use std::collections::BTreeSet;

use super::Draft;
use crate::{
    cuda::CType,
    scene::draft::{
        code::Span,
        host::{
            Host,
            done::{Act, Done},
            place::Place,
            transfer::Transferred,
        },
    },
};

/// What the host does with memory that it sets, by the places in [`Host::done`].
#[derive(Default)]
pub(in crate::scene::draft) struct Uses<'s> {
    /// The pointers that each launch and each copy takes.
    taken: Vec<Vec<&'s str>>,
    /// Those that some of them writes to, as far as types tell.
    written: BTreeSet<&'s str>,
    /// Where what is done in each step begins: what stands before is done once.
    pub(in crate::scene::draft) steps: usize,
}

impl<'s> Uses<'s> {
    /// Whether one of these takes the pointer.
    pub(in crate::scene::draft) fn take(
        &self,
        mut places: std::ops::Range<usize>,
        pointer: &str,
    ) -> bool {
        places.any(|place| self.taken.get(place).is_some_and(|taken| taken.contains(&pointer)))
    }

    /// Whether what a pointer has may be another in the second step than it is in the first.
    pub(in crate::scene::draft) fn changes(&self, place: usize, pointer: &str) -> bool {
        place >= self.steps && self.written.contains(pointer)
    }
}

impl<'s> Host<'s> {
    /// The pointers that a part of the code names at a place, those of structures among them.
    pub(in crate::scene::draft) fn pointers_in(
        &self,
        span: &Span,
        place: &Place<'_, 's>,
    ) -> Vec<&'s str> {
        let words = self.tokens(span).iter().filter(|token| token.is_word());
        let own = words.map(|word| self.surely(|host| host.pointer_of(word.text, place).0).0);
        own.chain(self.members_in(span, place)).collect()
    }

    /// Those of structures alone.
    pub(in crate::scene::draft) fn members_in(
        &self,
        span: &Span,
        place: &Place<'_, 's>,
    ) -> Vec<&'s str> {
        let words = self.tokens(span).iter().filter(|token| token.is_word());
        let members = words.flat_map(|word| {
            let id = self.visible(word.text, place.at);
            let members = id.map_or(&[][..], |id| &self.variables.get(id).members);
            members.iter().map(|member| self.variables.get(*member).name)
        });
        members.map(|name| self.surely(|host| host.pointer_of(name, place).0).0).collect()
    }
}

impl<'a, 's> Draft<'a, 's> {
    /// What the host does with memory, where it sets any.
    pub(in crate::scene::draft) fn uses_of_memory(&self, steps: usize) -> Uses<'s> {
        let mut found = Uses { steps, ..Uses::default() };
        if self.host.transfers.is_empty() && self.host.untold.is_empty() {
            return found;
        }
        for done in &self.host.done {
            let (taken, written) = self.uses_in(done);
            found.taken.push(taken);
            found.written.extend(written);
        }
        found
    }

    /// The pointers that something takes, and those of them that it may write to.
    pub(in crate::scene::draft) fn uses_in(&self, done: &Done) -> (Vec<&'s str>, Vec<&'s str>) {
        let host: &'a Host<'s> = self.host;
        let place = host.place_of(done);
        let (mut taken, mut written) = (Vec::new(), Vec::new());
        match done.act {
            Act::Launch(launch) => {
                let launch = &host.launches[launch];
                let kernel = self.kernel_launched(launch, &place, &launch.kernel);
                for (at, span) in launch.arguments.iter().enumerate() {
                    let parameter = kernel.as_ref().and_then(|kernel| kernel.parameters.get(at));
                    let pointers = host.pointers_in(span, &place);
                    let is_read = parameter.is_some_and(|parameter| match &parameter.ctype {
                        CType::Pointer { constant, .. } => *constant,
                        CType::Value(_) | CType::Surface | CType::Texture => true,
                        CType::Named(_) => false,
                    });
                    written.extend(pointers.iter().copied().filter(|_| !is_read));
                    taken.extend(pointers);
                }
            }
            Act::Transfer(transfer) => {
                let transfer = &host.transfers[transfer];
                let own = |name| host.surely(|host| host.pointer_of(name, &place).0).0;
                if let Transferred::From(from) = transfer.what {
                    written.extend(transfer.to.map(own));
                    taken.extend(transfer.to.into_iter().chain(from).map(own));
                }
            }
            // It may write to all that it is given.
            Act::Untold(call) => {
                let untold = &host.untold[call];
                taken.extend(host.memory_in(untold.given.as_deref().unwrap_or_default(), &place));
                written.extend(taken.iter().copied());
            }
            Act::Swap(_) => {
                taken.extend(self.pair_of(done).into_iter().flatten());
                written.extend(taken.iter().copied());
            }
            Act::Allocation(_) | Act::Fill(_) => {}
            Act::Write(_) | Act::Symbol(_) => {}
        }
        (taken, written)
    }
}
