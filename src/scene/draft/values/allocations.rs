//! What the host allocates and fills, by its pointers.

use std::collections::{BTreeMap, BTreeSet};

use crate::scene::draft::{
    code::variables::Id,
    host::{
        Host,
        allocation::{Allocating, Allocation},
        done::{Act, Done},
        place::Place,
    },
};

impl Host<'_> {
    /// Notes what the host allocates and fills, by the names that its pointers have where they are declared.
    pub(in crate::scene::draft) fn take_allocations(&mut self) {
        let mut allocations: BTreeMap<&str, Allocation> = BTreeMap::new();
        let mut variables: BTreeMap<&str, Option<Id>> = BTreeMap::new();
        let mut namesakes = BTreeSet::new();
        let mut filled = BTreeSet::new();
        for Done { act, at, call } in &self.done {
            let target = match act {
                Act::Allocation(place) => &self.allocating[*place].target,
                Act::Fill(place) => &self.filling[*place],
                Act::Launch(_) | Act::Transfer(_) | Act::Swap(_) => continue,
                Act::Write(_) | Act::Symbol(_) | Act::Untold(_) => continue,
            };
            let place = Place { call: call.clone(), ..Place::of(*at) };
            let mut words = self.tokens(target).iter().filter(|token| token.is_word());
            let name = match act {
                // `(void **)&name` ends with the name; what it pointed to before does not matter.
                Act::Allocation(_) => words.next_back().map(|name| {
                    let is_address = self.tokens(target).iter().any(|token| token.text == "&");
                    let (name, there) = self.receiver(name.text, &place, is_address);
                    // `::name` is another one than what is in sight.
                    let is_global = self.tokens(target).iter().any(|token| token.text == "::");
                    let id = self.visible(name, there.at).filter(|_| !is_global);
                    if variables.insert(name, id).is_some_and(|other| other != id) {
                        namesakes.insert(name);
                    }
                    name
                }),
                _ => words.next().map(|name| self.pointer_of(name.text, &place).0),
            };
            let Some(name) = name else { continue };
            match act {
                Act::Allocation(place) => {
                    let Allocating { target, bytes, rows, .. } = &self.allocating[*place];
                    let target = target.start;
                    let (bytes, rows, call) = (bytes.clone(), rows.clone(), call.clone());
                    let found = Allocation { target, bytes, rows, call, is_one_of_several: false };
                    match allocations.remove(name) {
                        Some(other) => allocations.insert(name, self.greater(other, found)),
                        None => allocations.insert(name, found),
                    };
                }
                _ => _ = filled.insert(name),
            }
        }
        (self.allocations, self.filled, self.namesakes) = (allocations, filled, namesakes);
    }

    /// Of two allocations for one pointer the one that has more; it is noted where it is not sure that both have as
    /// many bytes.
    fn greater(&self, first: Allocation, second: Allocation) -> Allocation {
        let ([one, other], is_sure) =
            self.surely(|host| [&first, &second].map(|of| host.bytes_allocated(of)));
        let is_same = is_sure && one.is_some() && one == other;
        let is_several = !is_same || first.is_one_of_several || second.is_one_of_several;
        let greater = if one > other { first } else { second };
        Allocation { is_one_of_several: is_several, ..greater }
    }
}
