//! The memory of a context, as far as this library gives it out: where guarded kernels may go.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use super::lock::lock;

/// Ranges of addresses that do not overlap.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    /// Lengths by first address.
    map: Mutex<BTreeMap<u64, u64>>,
    changes: AtomicU64,
}

impl Ranges {
    /// Adds a range, or changes its length. What it overlaps is no longer there: memory that OpenGL had mapped
    /// elsewhere, say.
    pub(super) fn insert(&self, address: u64, bytes: usize) {
        let bytes = bytes as u64;
        let mut map = lock(&self.map);
        if bytes == 0 || map.get(&address) == Some(&bytes) {
            return;
        }
        let end = address.saturating_add(bytes);
        let overlaps = |(start, length): (&u64, &u64)| {
            (start.saturating_add(*length) > address).then_some(*start)
        };
        let gone: Vec<u64> = map.range(..end).rev().map_while(overlaps).collect();
        gone.iter().for_each(|start| _ = map.remove(start));
        map.insert(address, bytes);
        self.changes.fetch_add(1, Ordering::Release);
    }

    /// Takes out the range that begins there.
    pub(super) fn remove(&self, address: u64) {
        if lock(&self.map).remove(&address).is_some() {
            self.changes.fetch_add(1, Ordering::Release);
        }
    }

    /// First address and length of the range that has an address.
    pub(super) fn find(&self, address: u64) -> Option<(u64, u64)> {
        let map = lock(&self.map);
        let (start, bytes) = map.range(..=address).next_back()?;
        (address - start < *bytes).then_some((*start, *bytes))
    }

    /// First address and length of the range that is nearest to an address.
    pub(super) fn nearest(&self, address: u64) -> Option<(u64, u64)> {
        let map = lock(&self.map);
        let below = map.range(..=address).next_back();
        let above = map.range(address..).next();
        let distance = |range: &(&u64, &u64)| match address.checked_sub(*range.0) {
            Some(offset) => offset.saturating_sub(*range.1),
            None => range.0 - address,
        };
        let nearest = below.into_iter().chain(above).min_by_key(distance)?;
        Some((*nearest.0, *nearest.1))
    }

    /// All of them by address, and a number that is another one after each change.
    pub(super) fn all(&self) -> (Vec<(u64, u64)>, u64) {
        let map = lock(&self.map);
        let changes = self.changes.load(Ordering::Acquire);
        (map.iter().map(|(start, bytes)| (*start, *bytes)).collect(), changes)
    }

    /// The number that [`Ranges::all`] would give.
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_found_by_what_is_in_them() {
        let ranges = Ranges::default();
        ranges.insert(1000, 100);
        ranges.insert(2000, 50);
        let found = [999, 1000, 1099, 1100, 2049, 2050].map(|address| ranges.find(address));
        let (first, second) = (Some((1000, 100)), Some((2000, 50)));
        assert_eq!(found, [None, first, first, None, second, None]);
        assert_eq!(
            [0, 1500, 1600, 9000].map(|at| ranges.nearest(at)),
            [first, first, second, second]
        );
        let before = ranges.changes();
        ranges.insert(1000, 100);
        assert_eq!(ranges.changes(), before);
        // It lies over a part of both.
        ranges.insert(1050, 1000);
        assert_eq!(ranges.all().0, [(1050, 1000)]);
        ranges.remove(1050);
        assert_eq!((ranges.nearest(1), ranges.changes() > before), (None, true));
    }
}
