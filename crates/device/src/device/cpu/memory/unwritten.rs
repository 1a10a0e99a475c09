//! Which device memory nobody has written since it was allocated.

use std::collections::BTreeMap;

/// A set of addresses: ranges that touch nobody, by start.
#[derive(Clone, Debug, Default)]
pub(in crate::device::cpu) struct Unwritten {
    ends: BTreeMap<u64, u64>,
}

impl Unwritten {
    /// A new allocation.
    pub(in crate::device::cpu) fn insert(&mut self, address: u64, bytes: u64) {
        self.remove(address, address + bytes);
        if bytes > 0 {
            self.ends.insert(address, address + bytes);
        }
    }

    /// `start..end` was written, or given back.
    pub(in crate::device::cpu) fn remove(&mut self, start: u64, end: u64) {
        while let Some((&first, &last)) = self.ends.range(..end).next_back()
            && last > start
        {
            self.ends.remove(&first);
            if last > end {
                self.ends.insert(end, last);
            }
            if first < start {
                self.ends.insert(first, start);
            }
        }
    }

    /// Anything may have been written.
    pub(in crate::device::cpu) fn clear(&mut self) {
        self.ends.clear();
    }

    pub(in crate::device::cpu) fn contains(&self, address: u64) -> bool {
        self.ends.range(..=address).next_back().is_some_and(|(_, end)| address < *end)
    }
}

#[cfg(test)]
mod tests {
    use super::Unwritten;

    #[test]
    fn what_is_written_is_cut_out() {
        let mut set = Unwritten::default();
        set.insert(100, 100);
        set.insert(300, 10);
        set.remove(120, 130);
        set.remove(190, 305);
        let inside = [100, 119, 130, 189, 305, 309];
        let outside = [99, 120, 129, 190, 200, 300, 304, 310];
        assert!(inside.iter().all(|at| set.contains(*at)), "{set:?}");
        assert!(outside.iter().all(|at| !set.contains(*at)), "{set:?}");
        set.remove(0, 1000);
        assert!(inside.iter().all(|at| !set.contains(*at)));
    }
}
