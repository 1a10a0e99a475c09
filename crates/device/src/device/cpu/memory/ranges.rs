//! Which chunks of the arena are free, and which belong to whom: a first-fit allocator that merges what is
//! given back.

use std::collections::BTreeMap;

/// Free and used chunks of an address range, in chunks from its start.
#[derive(Debug)]
pub(super) struct Ranges {
    /// Start to length of each free range; no two touch.
    free: BTreeMap<u64, u64>,
    /// Start to length of each used range.
    used: BTreeMap<u64, u64>,
}

impl Ranges {
    /// All of `first..end` is free.
    pub(super) fn new(first: u64, end: u64) -> Self {
        Self { free: BTreeMap::from([(first, end - first)]), used: BTreeMap::new() }
    }

    /// Takes `chunks` from the first free range that is long enough.
    pub(super) fn take(&mut self, chunks: u64) -> Option<u64> {
        let (&start, &length) = self.free.iter().find(|&(_, &length)| length >= chunks)?;
        self.free.remove(&start);
        if length > chunks {
            self.free.insert(start + chunks, length - chunks);
        }
        self.used.insert(start, chunks);
        Some(start)
    }

    /// Takes `chunks` from the end of the last free range that is long enough.
    pub(super) fn take_last(&mut self, chunks: u64) -> Option<u64> {
        let (&start, &length) = self.free.iter().rev().find(|&(_, &length)| length >= chunks)?;
        if length > chunks {
            self.free.insert(start, length - chunks);
        } else {
            self.free.remove(&start);
        }
        let taken = start + length - chunks;
        self.used.insert(taken, chunks);
        Some(taken)
    }

    /// Gives the range that starts at `start` back; its length in chunks.
    pub(super) fn give_back(&mut self, start: u64) -> u64 {
        let Some(length) = self.used.remove(&start) else { return 0 };
        let mut range = (start, length);
        if let Some((&before, &before_length)) = self.free.range(..start).next_back()
            && before + before_length == start
        {
            self.free.remove(&before);
            range = (before, before_length + length);
        }
        if let Some(after_length) = self.free.remove(&(start + length)) {
            range.1 += after_length;
        }
        self.free.insert(range.0, range.1);
        length
    }

    /// The used range that starts last at or before `chunk`, and the first one behind it.
    pub(super) fn around(&self, chunk: u64) -> (Option<u64>, Option<u64>) {
        let before = self.used.range(..=chunk).next_back().map(|(&start, _)| start);
        let behind = self.used.range(chunk.saturating_add(1)..).next().map(|(&start, _)| start);
        (before, behind)
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;

    #[test]
    fn what_is_given_back_is_merged_and_taken_again() {
        let mut ranges = Ranges::new(1, 11);
        let starts: Vec<_> = [2, 3, 5].into_iter().map(|n| ranges.take(n)).collect();
        assert_eq!(starts, [Some(1), Some(3), Some(6)]);
        assert_eq!(ranges.take(1), None);
        assert_eq!(ranges.give_back(1), 2);
        assert_eq!(ranges.give_back(6), 5);
        assert_eq!(ranges.take(6), None, "the hole between is still used");
        assert_eq!(ranges.give_back(3), 3);
        assert_eq!(ranges.take(10), Some(1));
    }

    #[test]
    fn ranges_are_taken_from_the_end_too() {
        let mut ranges = Ranges::new(1, 11);
        assert_eq!(
            (ranges.take_last(2), ranges.take(8), ranges.take_last(1)),
            (Some(9), Some(1), None)
        );
        assert_eq!(ranges.give_back(9), 2);
        assert_eq!((ranges.take_last(1), ranges.take_last(1)), (Some(10), Some(9)));
    }

    #[test]
    fn the_neighbours_of_a_chunk() {
        let mut ranges = Ranges::new(1, 20);
        ranges.take(2);
        ranges.take(4);
        assert_eq!(ranges.around(2), (Some(1), Some(3)));
        assert_eq!(ranges.around(0), (None, Some(1)));
        assert_eq!(ranges.around(19), (Some(3), None));
    }
}
