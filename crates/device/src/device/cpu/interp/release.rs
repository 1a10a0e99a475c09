//! What threads learn of each other through memory: one writes behind a fence, another reads that and has a fence of
//! its own behind (PTX ISA 8.8, release and acquire patterns). A barrier of the reader's block counts as its fence.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use super::clock::Clocks;
use crate::ptx::modifier::Order;

/// By block, up to when each of its threads is known.
type Knowledge = BTreeMap<u32, Arc<Vec<u32>>>;

/// How an access orders others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ordering {
    /// Like a fence before it.
    pub(super) releases: bool,
    /// Like a fence behind it.
    pub(super) acquires: bool,
}

impl Ordering {
    /// Of an access as it is written.
    pub(super) fn of(order: Option<Order>) -> Self {
        let both = matches!(order, Some(Order::AcqRel | Order::Sc));
        Self {
            releases: both || order == Some(Order::Release),
            acquires: both || order == Some(Order::Acquire),
        }
    }
}

/// What one thread learned, and what it gives on.
#[derive(Debug, Default)]
struct Learned {
    /// Of other threads, by way of memory.
    known: Option<Arc<Knowledge>>,
    /// What it read, and will know behind a fence.
    pending: Option<Arc<Knowledge>>,
    /// What it knew at its last fence.
    released: Option<Arc<Knowledge>>,
}

impl Learned {
    /// What was read is known from now on.
    fn take_in(&mut self) {
        if let Some(pending) = self.pending.take() {
            self.known = Some(joined(self.known.take(), pending));
        }
    }
}

/// What all threads of a launch learned, and what lies in memory.
#[derive(Debug, Default)]
pub(super) struct Releases {
    threads: HashMap<(u32, u32), Learned>,
    /// Released with what was written there.
    at: HashMap<u64, Arc<Knowledge>>,
}

impl Releases {
    /// Whether a thread knows what `other` did at `time`.
    pub(super) fn is_known(&self, thread: (u32, u32), other: (u32, u32), time: u32) -> bool {
        let known = self.threads.get(&thread).and_then(|learned| learned.known.as_ref());
        let block = known.and_then(|known| known.get(&other.0));
        block.and_then(|times| times.get(other.1 as usize)).is_some_and(|known| time <= *known)
    }

    /// A thread has a fence.
    pub(super) fn fence(&mut self, clocks: &mut Clocks, (block, thread): (u32, u32)) {
        let learned = self.threads.entry((block, thread)).or_default();
        learned.take_in();
        let own: Knowledge = [(block, Arc::new(clocks.knowledge(thread as usize)))].into();
        learned.released = Some(joined(learned.known.clone(), Arc::new(own)));
        clocks.advance(thread);
    }

    /// A thread reads what others write atomically.
    pub(super) fn read(&mut self, thread: (u32, u32), address: u64, ordering: Ordering) {
        let Some(released) = self.at.get(&address) else { return };
        let learned = self.threads.entry(thread).or_default();
        learned.pending = Some(joined(learned.pending.take(), released.clone()));
        if ordering.acquires {
            learned.take_in();
        }
    }

    /// A thread writes what others read atomically; where it changes what was there, that stays released.
    pub(super) fn write(
        &mut self,
        clocks: &mut Clocks,
        thread: (u32, u32),
        address: u64,
        ordering: Ordering,
        changes: bool,
    ) {
        if ordering.releases {
            self.fence(clocks, thread);
        }
        let released = self.threads.get(&thread).and_then(|learned| learned.released.clone());
        let before = self.at.remove(&address).filter(|_| changes);
        let released = match released {
            Some(released) => Some(joined(before, released)),
            None => before,
        };
        if let Some(released) = released {
            self.at.insert(address, released);
        }
    }

    /// Threads of a block met: what one of them read, all know.
    pub(super) fn meet(&mut self, block: u32, threads: &[u32]) {
        let learned = |thread: &u32| self.threads.get(&(block, *thread));
        let parts = threads.iter().filter_map(learned);
        let parts = parts.flat_map(|learned| [&learned.known, &learned.pending]).flatten();
        let all = parts.cloned().fold(None, |all, part| Some(joined(all, part)));
        let Some(all) = all else { return };
        for &thread in threads {
            let learned = self.threads.entry((block, thread)).or_default();
            (learned.known, learned.pending) = (Some(all.clone()), None);
        }
    }

    /// A block has ended; what it released stays.
    pub(super) fn forget(&mut self, block: u32) {
        self.threads.retain(|(of, _), _| *of != block);
    }
}

/// All that is known to one or the other.
fn joined(a: Option<Arc<Knowledge>>, b: Arc<Knowledge>) -> Arc<Knowledge> {
    let Some(mut a) = a else { return b };
    if Arc::ptr_eq(&a, &b) {
        return a;
    }
    let all = Arc::make_mut(&mut a);
    for (block, times) in b.iter() {
        match all.get_mut(block) {
            Some(known) if !Arc::ptr_eq(known, times) => {
                let known = Arc::make_mut(known);
                known.iter_mut().zip(times.iter()).for_each(|(a, b)| *a = (*a).max(*b));
            }
            Some(_) => {}
            None => {
                all.insert(*block, times.clone());
            }
        }
    }
    a
}
