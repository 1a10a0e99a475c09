//! What the checker remembers of memory: who accessed each word last, and which bytes were written.

use std::{
    collections::{HashMap, hash_map::Entry},
    ops::Range,
};

/// Bytes of a cell.
const CELL: u64 = 4;
/// Cells and bytes of a page.
const PAGE_BYTES: u64 = 4096;

/// An access to some bytes of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) site: u32,
    /// The thread's clock; 0: nothing was seen.
    pub(super) time: u32,
    pub(super) block: u32,
    pub(super) thread: u16,
    /// Which bytes of the cell, by bit.
    pub(super) bytes: u8,
    pub(super) kind: Kind,
}

/// Two accesses to the same bytes, one of which writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conflict {
    /// One of them may be cut in two or left out: they race.
    Plain,
    /// Both are strong: they may come in any order.
    Strong,
}

/// Kinds of accesses that differ in what they race with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    /// Volatile, relaxed or acquiring.
    StrongRead,
    /// Volatile, relaxed or releasing.
    StrongWrite,
    Atomic,
}

impl Kind {
    pub(super) fn reads(self) -> bool {
        match self {
            Self::Read | Self::StrongRead | Self::Atomic => true,
            Self::Write | Self::StrongWrite => false,
        }
    }

    pub(super) fn writes(self) -> bool {
        match self {
            Self::Write | Self::StrongWrite | Self::Atomic => true,
            Self::Read | Self::StrongRead => false,
        }
    }

    pub(super) fn is_strong(self) -> bool {
        match self {
            Self::StrongRead | Self::StrongWrite | Self::Atomic => true,
            Self::Read | Self::Write => false,
        }
    }

    /// Why two such accesses to the same bytes need an order, where they do.
    fn conflict(self, other: Self) -> Option<Conflict> {
        let are_strong = self.is_strong() && other.is_strong();
        if !self.writes() && !other.writes() || are_strong && [self, other].contains(&Self::Atomic)
        {
            return None;
        }
        Some(if are_strong { Conflict::Strong } else { Conflict::Plain })
    }

    /// Where the cells of its kinds keep it: the last plain write, then two of each other kind.
    fn places(self) -> Range<usize> {
        match self {
            Self::Write => 0..1,
            Self::Read => 1..3,
            Self::StrongWrite | Self::Atomic => 0..2,
            Self::StrongRead => 2..4,
        }
    }
}

const NOBODY: Seen = Seen { site: 0, time: 0, block: 0, thread: 0, bytes: 0, kind: Kind::Read };

/// The last accesses of some kinds to each word that was accessed so. Two of a kind are kept, of different threads.
/// Two suffice: at least one is by another thread than the one that accesses now. (An older third may be forgotten.)
#[derive(Debug, Default)]
struct Cells<const PLACES: usize>(HashMap<u64, Box<[[Seen; PLACES]]>>);

/// Places of a kind's plain accesses: the last write, and two reads.
const PLAIN: usize = 3;
/// Those of the bytes of a cell, each by itself.
const BYTEWISE: usize = PLAIN * CELL as usize;

/// The last accesses to all memory. Those to a part of a word are kept for each byte: threads that write the bytes of
/// one word do not let each other be forgotten. They, and strong ones, take no memory where there are none.
#[derive(Debug)]
pub(super) struct Accesses {
    plain: Cells<PLAIN>,
    bytewise: Cells<BYTEWISE>,
    strong: Cells<4>,
    /// The bytes that further cells may take.
    free: usize,
}

/// There is no memory for more cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

impl Accesses {
    /// None yet, and at most so many bytes for them: for each byte that a kernel accesses they take more than ten.
    pub(super) fn within(free: usize) -> Self {
        let (plain, bytewise, strong) = (Cells::default(), Cells::default(), Cells::default());
        Self { plain, bytewise, strong, free }
    }

    /// Records an access of `bytes` at `address`; gives `found` each earlier one that conflicts with it and is not
    /// `ordered` before it.
    ///
    /// # Errors
    /// [`Full`], where it is not recorded.
    pub(super) fn record(
        &mut self,
        address: u64,
        bytes: u32,
        seen: Seen,
        ordered: impl Fn(&Seen) -> bool,
        mut found: impl FnMut(&Seen, Conflict),
    ) -> Result<(), Full> {
        let end = address + u64::from(bytes);
        let mut at = address;
        while at < end {
            let start = at / CELL * CELL;
            let next = (start + CELL).min(end);
            let mask = (at - start..next - start).fold(0u8, |mask, byte| mask | 1 << byte);
            let seen = Seen { bytes: mask, ..seen };
            let plain = self.plain.cell(start).iter().chain(self.bytewise.cell(start));
            for earlier in plain.chain(self.strong.cell(start)) {
                let overlaps = earlier.time != 0 && earlier.bytes & mask != 0;
                if overlaps
                    && let Some(conflict) = earlier.kind.conflict(seen.kind)
                    && !ordered(earlier)
                {
                    found(earlier, conflict);
                }
            }
            if seen.kind.is_strong() {
                let cell = self.strong.cell_mut(start, &mut self.free)?;
                keep(&mut cell[seen.kind.places()], seen, &ordered);
            } else if next - at == CELL {
                let cell = self.plain.cell_mut(start, &mut self.free)?;
                keep(&mut cell[seen.kind.places()], seen, &ordered);
            } else {
                let cell = self.bytewise.cell_mut(start, &mut self.free)?;
                for byte in at - start..next - start {
                    let own = &mut cell[PLAIN * byte as usize..][..PLAIN];
                    let seen = Seen { bytes: 1 << byte, ..seen };
                    keep(&mut own[seen.kind.places()], seen, &ordered);
                }
            }
            at = next;
        }
        Ok(())
    }

    /// Nothing was accessed in a range yet.
    pub(super) fn forget(&mut self, address: u64, bytes: u64) {
        self.plain.forget(address, bytes, &mut self.free);
        self.bytewise.forget(address, bytes, &mut self.free);
        self.strong.forget(address, bytes, &mut self.free);
    }
}

impl<const PLACES: usize> Cells<PLACES> {
    /// Bytes that the cells of a page take.
    const BYTES: usize = size_of::<[Seen; PLACES]>() * (PAGE_BYTES / CELL) as usize;

    fn cell(&self, at: u64) -> &[Seen] {
        self.0.get(&(at / PAGE_BYTES)).map_or(&[], |page| &page[place_in_page(at)])
    }

    fn cell_mut(&mut self, at: u64, free: &mut usize) -> Result<&mut [Seen; PLACES], Full> {
        let page = match self.0.entry(at / PAGE_BYTES) {
            Entry::Occupied(page) => page.into_mut(),
            Entry::Vacant(place) => {
                *free = free.checked_sub(Self::BYTES).ok_or(Full)?;
                place.insert(vec![[NOBODY; PLACES]; (PAGE_BYTES / CELL) as usize].into())
            }
        };
        Ok(&mut page[place_in_page(at)])
    }

    fn forget(&mut self, address: u64, bytes: u64, free: &mut usize) {
        for (page, start, end) in pages(address, bytes) {
            if end - start == PAGE_BYTES {
                *free += self.0.remove(&page).map_or(0, |_| Self::BYTES);
            } else if let Some(cells) = self.0.get_mut(&page) {
                cells[(start / CELL) as usize..end.div_ceil(CELL) as usize].fill([NOBODY; PLACES]);
            }
        }
    }
}

fn place_in_page(at: u64) -> usize {
    (at % PAGE_BYTES / CELL) as usize
}

/// The pages that a range touches, and from where to where in each.
fn pages(address: u64, bytes: u64) -> impl Iterator<Item = (u64, u64, u64)> {
    let last = if bytes == 0 { 0 } else { (address + bytes).div_ceil(PAGE_BYTES) };
    (address / PAGE_BYTES..last).map(move |page| {
        let first = page * PAGE_BYTES;
        let end = (address + bytes - first).min(PAGE_BYTES);
        (page, address.saturating_sub(first), end)
    })
}

/// Puts an access into one of the `places` of its kind.
fn keep(places: &mut [Seen], seen: Seen, ordered: impl Fn(&Seen) -> bool) {
    let own = |old: &Seen| (old.block, old.thread) == (seen.block, seen.thread);
    let at = places
        .iter()
        .position(|old| old.time == 0)
        .or_else(|| places.iter().position(own))
        .or_else(|| places.iter().position(ordered))
        .unwrap_or(places.len() - 1);
    // The same thread's other bytes stay known.
    let bytes = if own(&places[at]) && places[at].time == seen.time {
        places[at].bytes | seen.bytes
    } else {
        seen.bytes
    };
    places[at] = Seen { bytes, ..seen };
}

/// A set of bytes.
#[derive(Debug, Default)]
pub(super) struct Bytes {
    pages: HashMap<u64, Box<[u64; 64]>>,
}

impl Bytes {
    pub(super) fn insert(&mut self, address: u64, bytes: u64) {
        for at in address..address + bytes {
            let page = self.pages.entry(at / PAGE_BYTES).or_insert_with(|| Box::new([0; 64]));
            page[(at % PAGE_BYTES / 64) as usize] |= 1 << (at % 64);
        }
    }

    pub(super) fn forget(&mut self, address: u64, bytes: u64) {
        for (page, start, end) in pages(address, bytes) {
            if end - start == PAGE_BYTES {
                self.pages.remove(&page);
            } else if let Some(words) = self.pages.get_mut(&page) {
                (start..end).for_each(|at| words[(at / 64) as usize] &= !(1 << (at % 64)));
            }
        }
    }

    pub(super) fn contains(&self, at: u64) -> bool {
        let page = self.pages.get(&(at / PAGE_BYTES));
        page.is_some_and(|page| page[(at % PAGE_BYTES / 64) as usize] >> (at % 64) & 1 != 0)
    }

    /// Calls `visit` for each run of bytes.
    pub(super) fn runs(&self, mut visit: impl FnMut(u64, u64)) {
        for (page, words) in &self.pages {
            let mut run: Option<u64> = None;
            for at in 0..=PAGE_BYTES {
                let inside = at < PAGE_BYTES && words[(at / 64) as usize] >> (at % 64) & 1 != 0;
                match (inside, run) {
                    (true, None) => run = Some(at),
                    (false, Some(start)) => {
                        visit(page * PAGE_BYTES + start, page * PAGE_BYTES + at);
                        run = None;
                    }
                    _ => {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(thread: u16, kind: Kind) -> Seen {
        Seen { site: thread.into(), time: 1, block: 0, thread, bytes: 0, kind }
    }

    fn races(accesses: &mut Accesses, at: u64, bytes: u32, by: Seen) -> Vec<u16> {
        let mut found = Vec::new();
        let own = |other: &Seen| other.thread == by.thread;
        accesses
            .record(at, bytes, by, own, |other, conflict| match conflict {
                Conflict::Plain => found.push(other.thread),
                Conflict::Strong => {}
            })
            .unwrap();
        found
    }

    #[test]
    fn volatile_accesses_have_no_order_but_need_none_with_atomics() {
        let mut accesses = Accesses::within(1 << 20);
        let mut found = |by: Seen| {
            let mut found = Vec::new();
            let mut note = |other: &Seen, why| found.push((other.thread, why));
            accesses.record(0, 4, by, |_| false, &mut note).unwrap();
            found
        };
        assert_eq!(found(seen(1, Kind::StrongWrite)), []);
        assert_eq!(found(seen(2, Kind::Atomic)), []);
        assert_eq!(found(seen(3, Kind::StrongRead)), [(1, Conflict::Strong)]);
        assert_eq!(found(seen(4, Kind::Read)), [(1, Conflict::Plain), (2, Conflict::Plain)]);
    }

    #[test]
    fn only_the_same_bytes_conflict() {
        let mut accesses = Accesses::within(1 << 20);
        assert!(races(&mut accesses, 4096, 1, seen(1, Kind::Write)).is_empty());
        assert!(races(&mut accesses, 4097, 1, seen(2, Kind::Write)).is_empty());
        assert_eq!(races(&mut accesses, 4096, 4, seen(3, Kind::Read)), [1, 2]);
        assert_eq!(races(&mut accesses, 4096, 1, seen(1, Kind::Write)), [2, 3][1..]);
    }

    /// Channels of a pixel: none of the threads that write or read one is forgotten for the others.
    #[test]
    fn each_byte_of_a_word_has_its_last_accesses() {
        for (first, then) in [(Kind::Write, Kind::Read), (Kind::Read, Kind::Write)] {
            let mut accesses = Accesses::within(1 << 20);
            for thread in 0..4 {
                let own = seen(thread, first);
                assert_eq!(races(&mut accesses, thread.into(), 1, own), [0; 0]);
            }
            assert_eq!(races(&mut accesses, 0, 4, seen(9, then)), [0, 1, 2, 3]);
            assert_eq!(races(&mut accesses, 2, 2, seen(8, Kind::Write)), [9, 2, 3]);
        }
    }

    #[test]
    fn atomics_conflict_with_plain_accesses_only() {
        let mut accesses = Accesses::within(1 << 20);
        assert!(races(&mut accesses, 0, 4, seen(1, Kind::Atomic)).is_empty());
        assert!(races(&mut accesses, 0, 4, seen(2, Kind::Atomic)).is_empty());
        assert!(races(&mut accesses, 0, 4, seen(3, Kind::StrongRead)).is_empty());
        assert_eq!(races(&mut accesses, 0, 4, seen(1, Kind::Read)), [2], "not with its own");
        assert_eq!(races(&mut accesses, 0, 4, seen(4, Kind::Write)), [1, 1, 2, 3]);
    }

    #[test]
    fn what_is_remembered_has_a_limit() {
        let mut accesses = Accesses::within(Cells::<3>::BYTES + Cells::<4>::BYTES);
        let record = |accesses: &mut Accesses, at: u64, kind| {
            accesses.record(at, 4, seen(1, kind), |_| true, |_, _| {})
        };
        assert_eq!(record(&mut accesses, 0, Kind::Write), Ok(()));
        assert_eq!(record(&mut accesses, PAGE_BYTES - 4, Kind::Read), Ok(()));
        assert_eq!(record(&mut accesses, 0, Kind::Atomic), Ok(()));
        assert_eq!(record(&mut accesses, PAGE_BYTES, Kind::Read), Err(Full));
        // The memory of what is forgotten is free again, once.
        accesses.forget(0, PAGE_BYTES);
        accesses.forget(0, PAGE_BYTES);
        assert_eq!(record(&mut accesses, PAGE_BYTES, Kind::Read), Ok(()));
        assert_eq!(record(&mut accesses, 3 * PAGE_BYTES, Kind::Atomic), Ok(()));
        assert_eq!(record(&mut accesses, 2 * PAGE_BYTES, Kind::Read), Err(Full));
    }

    #[test]
    fn sets_of_bytes_have_runs() {
        let mut bytes = Bytes::default();
        bytes.insert(4090, 10);
        bytes.insert(10, 1);
        assert!(bytes.contains(4099) && !bytes.contains(4100) && !bytes.contains(4089));
        let mut runs = Vec::new();
        bytes.runs(|start, end| runs.push((start, end)));
        runs.sort_unstable();
        assert_eq!(runs, [(10, 11), (4090, 4096), (4096, 4100)]);
        bytes.forget(4095, 3);
        assert!(!bytes.contains(4095) && !bytes.contains(4097));
        assert!(bytes.contains(4094) && bytes.contains(4098));
    }
}
