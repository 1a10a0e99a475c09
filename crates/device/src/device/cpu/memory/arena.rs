//! One reserved address range that holds everything a kernel can reach, with tables that tell to the byte
//! where each allocation ends.
//!
//! Addresses are the host's own, so host copies and tables of pointers need no translation. Every allocation
//! starts at a chunk of 64 KiB: `end[(address - base) >> 16]` is then the offset behind the allocation that
//! holds the address, 0 where there is none, and one load and one comparison check an access exactly. Behind
//! each lies a chunk that nobody has, so that an access just behind an allocation never finds the next one. The
//! memory of blocks that run (shared, local, parameters) lies here too, but not in those tables. The
//! pages stay mapped for the arena's life (their memory goes back to the system when large ranges are freed),
//! so that nothing done here can raise a signal, whoever races with whom.
#![expect(unsafe_code, reason = "raw memory that kernels and the host share")]

use std::{
    fmt, ptr,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use memmap2::{Advice, MmapMut, MmapOptions, UncheckedAdvice};

use super::{
    heap::{Freed, Heap},
    range::{CHUNK, CHUNK_BITS, Permission, Range},
    ranges::Ranges,
    unwritten::Unwritten,
};
use crate::{
    device::{Allocation, Error, Fill, Result, cpu::error::NAME},
    machine,
};

/// Freed ranges of at least so many bytes give their memory back to the system at once.
const RELEASE_BYTES: u64 = 256 << 10;

/// Allocations of at least so many bytes are given large pages.
const HUGE_BYTES: u64 = 4 << 20;

/// An arena of fewer addresses could not run anything.
const LEAST_RESERVED_BYTES: u64 = 64 << 20;

/// Addresses that the compiler, code and threads' stacks take: with fewer the process would end in the middle of work.
const OTHERS_BYTES: u64 = 384 << 20;

/// How many chunks an allocation lies in.
fn chunks_of(bytes: u64) -> u64 {
    bytes.div_ceil(CHUNK).max(1)
}

/// The places that compiled code needs for its checks.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(in crate::device::cpu) struct Tables {
    /// First address of the arena.
    pub(in crate::device::cpu) base: u64,
    /// Number of chunks less one; the number is a power of two.
    pub(in crate::device::cpu) chunk_mask: u64,
    /// Where the ends for loads start.
    pub(in crate::device::cpu) read_ends: u64,
    /// Where the ends for stores start.
    pub(in crate::device::cpu) write_ends: u64,
}

pub(in crate::device::cpu) struct Arena {
    map: MmapMut,
    pub(super) base: u64,
    /// Bytes that may be allocated.
    total: u64,
    pub(super) read_ends: Box<[AtomicU64]>,
    pub(super) write_ends: Box<[AtomicU64]>,
    /// Where scratch memory ends; compiled code does not know this table.
    scratch_ends: Box<[AtomicU64]>,
    state: Mutex<State>,
    /// What kernels allocated; locked before `state`.
    heap: Mutex<Heap>,
    /// What the host allocated and nobody has written yet, as far as that is known.
    unwritten: Mutex<Unwritten>,
}

#[derive(Debug)]
struct State {
    ranges: Ranges,
    allocated: u64,
}

impl fmt::Debug for Arena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arena").field("base", &self.base).finish_non_exhaustive()
    }
}

impl Arena {
    /// Reserves addresses for `total` bytes of allocations, or for fewer where the process may not have so many.
    pub(in crate::device::cpu) fn new(total: u64) -> Result<Self> {
        let wanted = total.saturating_mul(2).next_power_of_two().clamp(1 << 32, 1 << 44);
        let map = reserve(wanted)?;
        let reserved = map.len() as u64;
        let total = total.min(reserved / 2);
        if reserved < wanted {
            tracing::warn!(
                "the process may not have {wanted} bytes of addresses (`ulimit -v`): the CPU device has {total} \
                 bytes of memory"
            );
        }
        let chunks = reserved >> CHUNK_BITS;
        let base = (map.as_ptr() as u64).next_multiple_of(CHUNK);
        // The first chunk stays free so that an access just below the first allocation faults, the last one
        // because rounding up the base may have cut it.
        let state = State { ranges: Ranges::new(1, chunks - 1), allocated: 0 };
        Ok(Self {
            map,
            base,
            total,
            read_ends: zeroed(chunks as usize),
            write_ends: zeroed(chunks as usize),
            scratch_ends: zeroed(chunks as usize),
            state: Mutex::new(state),
            heap: Mutex::default(),
            unwritten: Mutex::default(),
        })
    }

    pub(in crate::device::cpu) fn tables(&self) -> Tables {
        Tables {
            base: self.base,
            chunk_mask: self.read_ends.len() as u64 - 1,
            read_ends: self.read_ends.as_ptr() as u64,
            write_ends: self.write_ends.as_ptr() as u64,
        }
    }

    pub(in crate::device::cpu) fn total_bytes(&self) -> u64 {
        self.total
    }

    pub(in crate::device::cpu) fn free_bytes(&self) -> u64 {
        self.total - self.lock().allocated
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::device::cpu) fn unwritten(&self) -> MutexGuard<'_, Unwritten> {
        self.unwritten.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wrote(&self, address: u64, bytes: usize) {
        self.unwritten().remove(address, address + bytes as u64);
    }

    /// An allocation of exactly `bytes`, at the start of a chunk.
    pub(in crate::device::cpu) fn alloc(
        &self,
        bytes: u64,
        permission: Permission,
    ) -> Result<Range> {
        let mut state = self.lock();
        let free = self.total - state.allocated;
        if bytes > free {
            return Err(full(bytes, free));
        }
        let start = state.ranges.take(chunks_of(bytes) + 1).ok_or_else(|| full(bytes, free))?;
        state.allocated += bytes;
        let range = Range { address: self.base + (start << CHUNK_BITS), bytes };
        self.set_ends(range, bytes, permission);
        if bytes >= HUGE_BYTES {
            self.enlarge_pages(range);
        }
        Ok(range)
    }

    /// Asks for large pages, which kernels that stream over much memory are faster with.
    fn enlarge_pages(&self, range: Range) {
        let offset = (range.address - self.map.as_ptr() as u64) as usize;
        let advised = self.map.advise_range(Advice::HugePage, offset, range.bytes as usize);
        if let Err(error) = advised {
            tracing::debug!("device memory has small pages: {error}");
        }
    }

    /// Memory of the device's own, which does not count as allocated.
    pub(in crate::device::cpu) fn alloc_own(
        &self,
        bytes: u64,
        permission: Permission,
    ) -> Result<Range> {
        let taken = self.lock().ranges.take(chunks_of(bytes) + 1);
        self.own(taken, bytes, permission)
    }

    /// As [`Arena::alloc_own`], far away from where allocations are made and freed.
    pub(in crate::device::cpu) fn alloc_far(
        &self,
        bytes: u64,
        permission: Permission,
    ) -> Result<Range> {
        let taken = self.lock().ranges.take_last(chunks_of(bytes) + 1);
        self.own(taken, bytes, permission)
    }

    fn own(&self, taken: Option<u64>, bytes: u64, permission: Permission) -> Result<Range> {
        let start = taken.ok_or_else(|| full(bytes, 0))?;
        let range = Range { address: self.base + (start << CHUNK_BITS), bytes };
        self.set_ends(range, bytes, permission);
        Ok(range)
    }

    /// Memory of the device's own that reads as zero, no more than is free.
    pub(in crate::device::cpu) fn alloc_zeroed(
        &self,
        bytes: u64,
        permission: Permission,
    ) -> Result<Range> {
        let free = self.free_bytes();
        if bytes > free {
            return Err(full(bytes, free));
        }
        let range = self.alloc_own(bytes, permission)?;
        if bytes >= RELEASE_BYTES {
            // New pages are zero, and take no memory before they are used.
            self.release(range);
        } else {
            let filled = self.fill(range.address, bytes as usize, Fill::U8(0));
            debug_assert!(filled, "the range was just allocated");
        }
        Ok(range)
    }

    fn heap(&self) -> MutexGuard<'_, Heap> {
        self.heap.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An allocation by a kernel. The heap has an eighth of the memory at most.
    pub(in crate::device::cpu) fn heap_alloc(&self, bytes: u64) -> Option<u64> {
        let take = |bytes| self.alloc(bytes, Permission::ReadWrite).ok();
        self.heap().alloc(bytes, self.total / 8, take)
    }

    /// Gives an allocation by a kernel back; false where there is none at `address`.
    pub(in crate::device::cpu) fn heap_free(&self, address: u64) -> bool {
        // Held until the range is given back: what the heap has is counted with it.
        let mut heap = self.heap();
        match heap.free(address) {
            Freed::Nothing => false,
            Freed::Slot => true,
            Freed::Chunks(range) => {
                self.free(range);
                true
            }
        }
    }

    /// Gives memory of the device's own back.
    pub(in crate::device::cpu) fn free_own(&self, range: Range) {
        self.set_ends(range, 0, Permission::ReadWrite);
        self.release(range);
        self.lock().ranges.give_back((range.address - self.base) >> CHUNK_BITS);
    }

    /// Lets kernels use the first `bytes` of an allocation that is at least so long.
    pub(in crate::device::cpu) fn set_extent(
        &self,
        range: Range,
        bytes: u64,
        permission: Permission,
    ) {
        self.set_ends(range, bytes.min(range.bytes), permission);
    }

    fn set_ends(&self, range: Range, bytes: u64, permission: Permission) {
        let offset = range.address - self.base;
        let end = if bytes == 0 { 0 } else { offset + bytes };
        let first = (offset >> CHUNK_BITS) as usize;
        let chunks = chunks_of(range.bytes) as usize;
        let (read, write, scratch) = match permission {
            Permission::ReadWrite => (end, end, 0),
            Permission::ReadOnly => (end, 0, 0),
            Permission::Scratch => (0, 0, end),
        };
        let tables =
            [(&self.read_ends, read), (&self.write_ends, write), (&self.scratch_ends, scratch)];
        for (table, end) in tables {
            table[first..][..chunks].iter().for_each(|entry| entry.store(end, Ordering::Release));
        }
    }

    /// Gives an allocation back: from now on kernels that touch it fault.
    pub(in crate::device::cpu) fn free(&self, range: Range) {
        self.wrote(range.address, range.bytes as usize);
        self.set_ends(range, 0, Permission::ReadWrite);
        if range.bytes >= RELEASE_BYTES {
            self.release(range);
        }
        let mut state = self.lock();
        state.allocated -= range.bytes;
        state.ranges.give_back((range.address - self.base) >> CHUNK_BITS);
    }

    /// Gives the pages back to the system; they read as zero afterwards.
    fn release(&self, range: Range) {
        let offset = (range.address - self.map.as_ptr() as u64) as usize;
        // SAFETY: nothing in Rust borrows the pages, and to kernels their content no longer matters.
        let released = unsafe {
            self.map.unchecked_advise_range(UncheckedAdvice::DontNeed, offset, range.bytes as usize)
        };
        if let Err(error) = released {
            tracing::debug!("freed device memory stays with the process: {error}");
        }
    }

    /// The allocation that holds `address`, else the one nearest to it; none for an address in the scratch memory of a
    /// block, which is no allocation that anybody asked for.
    pub(in crate::device::cpu) fn nearest(&self, address: u64) -> Option<Allocation> {
        if self.is_scratch(address, 1) {
            return None;
        }
        let chunk = address.saturating_sub(self.base) >> CHUNK_BITS;
        let (before, behind) = self.lock().ranges.around(chunk);
        let allocation = |start: u64| {
            let [end, scratch_end] = [&self.read_ends, &self.scratch_ends]
                .map(|ends| ends[start as usize].load(Ordering::Acquire));
            let (end, offset) = (end.max(scratch_end), start << CHUNK_BITS);
            Allocation { address: self.base + offset, bytes: end.saturating_sub(offset) }
        };
        let allocations = before.into_iter().chain(behind).map(allocation);
        allocations.filter(|allocation| allocation.bytes > 0).min_by_key(|a| a.distance(address))
    }

    /// Whether all of `bytes` at `address` lie in one allocation.
    pub(in crate::device::cpu) fn holds(&self, address: u64, bytes: u64) -> bool {
        self.lies_before(&self.read_ends, address, bytes)
    }

    /// Whether all of `bytes` at `address` lie in the scratch memory of a block, whosever.
    pub(in crate::device::cpu) fn is_scratch(&self, address: u64, bytes: u64) -> bool {
        self.lies_before(&self.scratch_ends, address, bytes)
    }

    /// Whether all of `bytes` at `address` lie before the end that a table has for their chunk.
    fn lies_before(&self, ends: &[AtomicU64], address: u64, bytes: u64) -> bool {
        let offset = address.wrapping_sub(self.base);
        ends.get((offset >> CHUNK_BITS) as usize).is_some_and(|end| {
            let end = end.load(Ordering::Acquire);
            offset <= end && bytes <= end - offset
        })
    }

    /// Whether a kernel may read or write all of `bytes` at `address`.
    pub(in crate::device::cpu) fn allows(&self, address: u64, bytes: u64, write: bool) -> bool {
        self.lies_before(if write { &self.write_ends } else { &self.read_ends }, address, bytes)
    }

    /// Copies `bytes` into an allocation; false, and nothing done, when they do not fit one.
    #[must_use]
    pub(in crate::device::cpu) fn write(&self, address: u64, bytes: &[u8]) -> bool {
        let fits = bytes.is_empty() || self.holds(address, bytes.len() as u64);
        if fits {
            self.wrote(address, bytes.len());
            // SAFETY: the range lies in the arena, whose pages stay mapped and are borrowed by nobody.
            unsafe { ptr::copy(bytes.as_ptr(), address as *mut u8, bytes.len()) };
        }
        fits
    }

    /// Copies `bytes` into scratch memory; false, and nothing done, when they do not fit it.
    #[must_use]
    pub(in crate::device::cpu) fn write_scratch(&self, address: u64, bytes: &[u8]) -> bool {
        let fits = bytes.is_empty() || self.is_scratch(address, bytes.len() as u64);
        if fits {
            // SAFETY: the range lies in the arena, whose pages stay mapped and are borrowed by nobody.
            unsafe { ptr::copy(bytes.as_ptr(), address as *mut u8, bytes.len()) };
        }
        fits
    }

    /// Appends the bytes of a range to `out`; false, and nothing done, when they do not lie in one allocation.
    #[must_use]
    pub(in crate::device::cpu) fn append(
        &self,
        address: u64,
        bytes: usize,
        out: &mut Vec<u8>,
    ) -> bool {
        let fits = bytes == 0 || self.holds(address, bytes as u64);
        if fits && bytes > 0 {
            out.reserve(bytes);
            let end = out.len() + bytes;
            let spare = out.spare_capacity_mut().as_mut_ptr();
            // SAFETY: the range lies in the arena, whose pages stay mapped; `out` has the capacity.
            unsafe { ptr::copy(address as *const u8, spare.cast(), bytes) };
            // SAFETY: the copy initialised so many bytes.
            unsafe { out.set_len(end) };
        }
        fits
    }

    /// Reads a range; false, and nothing done, when it does not lie in one allocation.
    #[must_use]
    pub(in crate::device::cpu) fn read(&self, address: u64, out: &mut [u8]) -> bool {
        let fits = out.is_empty() || self.holds(address, out.len() as u64);
        if fits {
            // SAFETY: the range lies in the arena, whose pages stay mapped and of which `out` is no part.
            unsafe { ptr::copy(address as *const u8, out.as_mut_ptr(), out.len()) };
        }
        fits
    }

    /// Copies between allocations; false, and nothing done, when a range does not fit one.
    #[must_use]
    pub(in crate::device::cpu) fn copy(&self, to: u64, from: u64, bytes: usize) -> bool {
        let fits = bytes == 0 || self.holds(to, bytes as u64) && self.holds(from, bytes as u64);
        if fits && bytes > 0 {
            self.wrote(to, bytes);
            // SAFETY: both ranges lie in the arena, whose pages stay mapped; `copy` allows them to overlap.
            unsafe { ptr::copy(from as *const u8, to as *mut u8, bytes) };
        }
        fits
    }

    /// Fills a range; false, and nothing done, when it does not fit an allocation.
    #[must_use]
    pub(in crate::device::cpu) fn fill(&self, to: u64, bytes: usize, value: Fill) -> bool {
        let fits = bytes == 0 || self.holds(to, bytes as u64);
        if fits && bytes > 0 {
            self.wrote(to, bytes);
            match value {
                // SAFETY: the range lies in the arena, whose pages stay mapped.
                Fill::U8(v) => unsafe { ptr::write_bytes(to as *mut u8, v, bytes) },
                Fill::U16(v) => fill_words(to as *mut u16, bytes / 2, v),
                Fill::U32(v) => fill_words(to as *mut u32, bytes / 4, v),
            }
        }
        fits
    }
}

/// Maps `bytes`, a power of two, or as large a part of it as leaves at least as many addresses to everything else.
fn reserve(bytes: u64) -> Result<MmapMut> {
    let left = machine::addresses_left();
    let most = |left: u64| (left / 2).min(left.saturating_sub(OTHERS_BYTES)).max(1);
    let mut bytes = left.map_or(bytes, |left| bytes.min(1 << most(left).ilog2()));
    loop {
        if bytes < LEAST_RESERVED_BYTES {
            return Err(full(LEAST_RESERVED_BYTES + OTHERS_BYTES, left.unwrap_or(0)));
        }
        match MmapOptions::new().len(bytes as usize).no_reserve_swap().map_anon() {
            Ok(map) => return Ok(map),
            Err(_) => bytes /= 2,
        }
    }
}

fn full(requested: u64, free: u64) -> Error {
    Error::OutOfMemory { device: NAME.into(), requested, free }
}

/// The caller answers for `count` values at `to` being memory of the arena.
fn fill_words<T: Copy>(to: *mut T, count: usize, value: T) {
    for i in 0..count {
        let at = to.wrapping_add(i);
        // SAFETY: `fill` checked that the range lies in the arena, and the facade its alignment.
        unsafe { at.write_unaligned(value) };
    }
}

fn zeroed(count: usize) -> Box<[AtomicU64]> {
    // SAFETY: zero is a valid AtomicU64. (The pages of a large zeroed box are not touched until used.)
    unsafe { Box::new_zeroed_slice(count).assume_init() }
}
