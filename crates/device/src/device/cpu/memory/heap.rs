//! What kernels allocate and give back themselves.
//!
//! A few allocations have chunks of their own, so that accesses to them are checked to the byte. Where there are
//! many, small ones share chunks: slots of one size in each, and an access is only known to be in some slot.

use std::collections::HashMap;

use super::range::{CHUNK, Range};

/// Allocations that have a chunk of their own, whatever their size.
const MOST_ALONE: usize = 1024;
/// Largest slot; larger allocations always have chunks of their own.
const LARGEST_SLOT: u64 = 8 << 10;
/// Smallest slot, which is also what addresses are aligned to.
const SMALLEST_SLOT: u64 = 16;
const CLASSES: usize = (LARGEST_SLOT.ilog2() - SMALLEST_SLOT.ilog2() + 1) as usize;

#[derive(Debug, Default)]
pub(super) struct Heap {
    /// Allocations with chunks of their own, by address.
    alone: HashMap<u64, Range>,
    /// Chunks of slots, by address.
    slabs: HashMap<u64, Slab>,
    /// Chunks that have a free slot, by size.
    partial: [Vec<u64>; CLASSES],
    /// Bytes of all chunks.
    bytes: u64,
}

/// A chunk cut into slots.
#[derive(Debug)]
struct Slab {
    range: Range,
    class: usize,
    /// A bit for each slot that is in use.
    used: Vec<u64>,
    free: usize,
}

/// What became of an allocation that a kernel gave back.
pub(super) enum Freed {
    /// There is none that starts at the address.
    Nothing,
    /// Its slot is free, in a chunk that others use.
    Slot,
    /// Nothing is left in these chunks, which are the arena's again.
    Chunks(Range),
}

impl Heap {
    /// Memory for a kernel; `None` where there is none left. `take` gives chunks of the arena, so long as all together
    /// are not more than `most` bytes.
    pub(super) fn alloc(
        &mut self,
        bytes: u64,
        most: u64,
        take: impl FnOnce(u64) -> Option<Range>,
    ) -> Option<u64> {
        if self.alone.len() < MOST_ALONE || bytes > LARGEST_SLOT {
            let range = self.chunks(bytes, most, take)?;
            self.alone.insert(range.address, range);
            return Some(range.address);
        }
        let class = class(bytes);
        if self.partial[class].is_empty() {
            let range = self.chunks(CHUNK, most, take)?;
            let slots = (CHUNK / slot_bytes(class)) as usize;
            let slab = Slab { range, class, used: vec![0; slots.div_ceil(64)], free: slots };
            self.slabs.insert(range.address, slab);
            self.partial[class].push(range.address);
        }
        let at = *self.partial[class].last()?;
        let slab = self.slabs.get_mut(&at)?;
        let slot = slab.take()?;
        if slab.free == 0 {
            self.partial[class].pop();
        }
        Some(at + slot * slot_bytes(class))
    }

    fn chunks(
        &mut self,
        bytes: u64,
        most: u64,
        take: impl FnOnce(u64) -> Option<Range>,
    ) -> Option<Range> {
        let taken = bytes.checked_next_multiple_of(CHUNK)?;
        if taken > most.saturating_sub(self.bytes) {
            return None;
        }
        let range = take(bytes)?;
        self.bytes += taken;
        Some(range)
    }

    /// Takes the allocation back that starts at `address`.
    pub(super) fn free(&mut self, address: u64) -> Freed {
        if let Some(range) = self.alone.remove(&address) {
            return self.give_back(range);
        }
        // Chunks begin at their multiples.
        let at = address - address % CHUNK;
        let Some(slab) = self.slabs.get_mut(&at) else { return Freed::Nothing };
        let (class, offset) = (slab.class, address - at);
        if !offset.is_multiple_of(slot_bytes(class)) || !slab.release(offset / slot_bytes(class)) {
            return Freed::Nothing;
        }
        let slots = (CHUNK / slot_bytes(class)) as usize;
        if slab.free == slots {
            let range = slab.range;
            self.slabs.remove(&at);
            self.partial[class].retain(|partial| *partial != at);
            return self.give_back(range);
        }
        if slab.free == 1 {
            self.partial[class].push(at);
        }
        Freed::Slot
    }

    fn give_back(&mut self, range: Range) -> Freed {
        self.bytes -= range.bytes.next_multiple_of(CHUNK);
        Freed::Chunks(range)
    }
}

impl Slab {
    fn take(&mut self) -> Option<u64> {
        let (word, bits) = self.used.iter_mut().enumerate().find(|(_, bits)| **bits != u64::MAX)?;
        let bit = bits.trailing_ones();
        *bits |= 1 << bit;
        self.free -= 1;
        Some(word as u64 * 64 + u64::from(bit))
    }

    /// Whether the slot was in use.
    fn release(&mut self, slot: u64) -> bool {
        let (word, bit) = (slot as usize / 64, slot % 64);
        let used = self.used[word] >> bit & 1 != 0;
        self.used[word] &= !(1 << bit);
        self.free += usize::from(used);
        used
    }
}

fn class(bytes: u64) -> usize {
    let bytes = bytes.max(SMALLEST_SLOT).next_power_of_two();
    (bytes.ilog2() - SMALLEST_SLOT.ilog2()) as usize
}

fn slot_bytes(class: usize) -> u64 {
    SMALLEST_SLOT << class
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use crate::device::cpu::memory::{Arena, Permission};

    #[test]
    fn small_allocations_share_chunks_and_come_back() {
        let arena = Arena::new(1 << 30).unwrap();
        let before = arena.free_bytes();
        let sizes = [1, 16, 17, 100, 4096, 8192, 8193];
        let mut seen = HashSet::new();
        let mut all = Vec::new();
        for at in 0..20_000usize {
            let bytes = sizes[at % (sizes.len() - 2)];
            let address = arena.heap_alloc(bytes).unwrap();
            assert!(address.is_multiple_of(16) && seen.insert(address), "{at}");
            all.push((address, bytes));
        }
        // No two overlap.
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0));
        // 4,000 of each size; with chunks of their own these would be 1.3 GB.
        let taken = before - arena.free_bytes();
        assert!(taken < 60 << 20, "{taken}");
        for (address, _) in &all {
            assert!(arena.heap_free(*address));
            assert!(!arena.heap_free(*address), "freed twice");
        }
        assert_eq!(arena.free_bytes(), before);
        let large = arena.heap_alloc(1 << 20).unwrap();
        assert!(!arena.heap_free(large + 16));
        assert!(arena.heap_free(large));
    }

    #[test]
    fn what_is_leaked_is_bounded() {
        let arena = Arena::new(1 << 30).unwrap();
        let taken = (0..100_000).take_while(|_| arena.heap_alloc(8192).is_some()).count() as u64;
        assert!(taken >= 1000 && taken * 8192 <= 1 << 27, "{taken}");
        assert!(arena.alloc(1 << 29, Permission::ReadWrite).is_ok());
    }
}
