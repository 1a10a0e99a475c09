//! What threads learn of each other through memory: one writes behind a fence, another reads that and has a fence of
//! its own behind (PTX ISA 8.8, release and acquire patterns). A barrier of the reader's block counts as its fence.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use super::{clock::Clocks, knowledge::Knowledge};
use crate::ptx::modifier::Order;

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
#[derive(Debug)]
pub(super) struct Releases {
    threads: HashMap<(u32, u32), Learned>,
    /// Released with what was written there.
    at: HashMap<u64, Arc<Knowledge>>,
    /// The bytes that all of this takes, and may take.
    used: Arc<AtomicUsize>,
    most: usize,
}

impl Releases {
    /// Nothing yet, and at most so many bytes of it.
    pub(super) fn within(most: usize) -> Self {
        let used = Arc::new(AtomicUsize::new(0));
        Self { threads: HashMap::new(), at: HashMap::new(), used, most }
    }

    /// Whether it takes more than it may.
    pub(super) fn is_full(&self) -> bool {
        self.used.load(Relaxed) > self.most
    }

    /// Whether a thread knows what `other` did at `time`.
    pub(super) fn is_known(&self, thread: (u32, u32), other: (u32, u32), time: u32) -> bool {
        let known = self.threads.get(&thread).and_then(|learned| learned.known.as_ref());
        known.and_then(|known| known.time(other.0, other.1)).is_some_and(|known| time <= known)
    }

    /// A thread has a fence.
    pub(super) fn fence(&mut self, clocks: &mut Clocks, (block, thread): (u32, u32)) {
        let learned = self.threads.entry((block, thread)).or_default();
        learned.take_in();
        let own = Knowledge::of_block(block, clocks.knowledge(thread as usize), &self.used);
        learned.released = Some(joined(learned.known.clone(), own));
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
    match a {
        Some(a) => Knowledge::joined(&a, &b),
        None => b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_released_has_a_limit_and_is_free_again() {
        const THREADS: usize = 64;
        let mut clocks = Clocks::new(THREADS);
        let mut releases = Releases::within(usize::MAX);
        let write = |releases: &mut Releases, clocks: &mut Clocks, thread: u32, at: u64| {
            releases.fence(clocks, (0, thread));
            releases.write(clocks, (0, thread), at, Ordering::default(), false);
        };
        // One place may be written again and again; what it had before is forgotten.
        (0..100).for_each(|_| write(&mut releases, &mut clocks, 0, 0));
        let each = releases.used.load(Relaxed);
        assert!((THREADS * 4..THREADS * 8).contains(&each), "{each}");
        releases.most = 8 * each;
        (0..8).for_each(|at| write(&mut releases, &mut clocks, at, at.into()));
        assert!(!releases.is_full());
        write(&mut releases, &mut clocks, 8, 8);
        assert!(releases.is_full());
        releases.forget(0);
        releases.at.clear();
        assert_eq!(releases.used.load(Relaxed), 0);
    }

    /// A look-back scan is such a chain; each block leaves a flag of its own.
    #[test]
    fn a_chain_of_ten_thousand_blocks_has_room() {
        let mut releases = Releases::within(32 << 20);
        for block in 0..10_000 {
            let (thread, mut clocks) = ((block, 0), Clocks::new(1));
            releases.read(thread, 0, Ordering::default());
            releases.fence(&mut clocks, thread);
            for at in [0, u64::from(block) + 1] {
                releases.write(&mut clocks, thread, at, Ordering::default(), true);
            }
            releases.forget(block);
        }
        assert!(!releases.is_full(), "{:?}", releases.used);
        releases.at.clear();
        assert_eq!(releases.used.load(Relaxed), 0);
    }
}
