//! What every pool is made of: freed memory by size, kept for whoever asks for that size next.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::{Error, Result};

/// Smallest size that is handed out, in bytes: less is aligned to it anyway.
const SMALLEST_BYTES: usize = 256;
/// From so many bytes on sizes are rounded up by less.
const LARGE_BYTES: usize = 1 << 20;

/// What a pool holds and has given out.
///
/// ```
/// use warpaint::device::{Device, Pool, PoolStatistics};
///
/// let device = Device::cpu()?;
/// let (pool, stream) = (Pool::new(&device), device.stream()?);
/// drop(pool.alloc(&stream, 300)?);
/// let idle = PoolStatistics { held_blocks: 1, held_bytes: 320, ..PoolStatistics::default() };
/// assert_eq!(pool.statistics(), idle);
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStatistics {
    /// Blocks in use.
    pub active_blocks: usize,
    /// Their bytes, rounded up to the pool's sizes.
    pub active_bytes: usize,
    /// Blocks kept for later.
    pub held_blocks: usize,
    /// Their bytes.
    pub held_bytes: usize,
}

impl PoolStatistics {
    fn take(&mut self, size: usize) {
        self.active_blocks += 1;
        self.active_bytes += size;
    }
}

/// Memory of kind `T` that is kept, by size.
#[derive(Debug)]
pub struct FreeList<T>(Mutex<State<T>>);

#[derive(Debug)]
struct State<T> {
    free: BTreeMap<usize, Vec<T>>,
    statistics: PoolStatistics,
    /// Nothing is kept any more.
    closed: bool,
}

impl<T> Default for FreeList<T> {
    fn default() -> Self {
        let (free, statistics) = (BTreeMap::new(), PoolStatistics::default());
        Self(Mutex::new(State { free, statistics, closed: false }))
    }
}

impl<T> FreeList<T> {
    /// Memory of exactly `size` bytes, which [`size_class`] gave: what is kept, and of that one that `prefer` likes
    /// where there is such; else `fresh` memory. Where there is no more of that, all that is kept is given back and
    /// it is tried once more.
    #[doc(hidden)]
    pub fn take(
        &self,
        size: usize,
        prefer: impl Fn(&T) -> bool,
        fresh: impl Fn(usize) -> Result<T>,
    ) -> Result<T> {
        if let Some(memory) = self.take_kept(size, prefer) {
            return Ok(memory);
        }
        let memory = match fresh(size) {
            Err(Error::OutOfMemory { .. }) => {
                self.trim();
                fresh(size)?
            }
            allocated => allocated?,
        };
        self.lock().statistics.take(size);
        Ok(memory)
    }

    fn take_kept(&self, size: usize, prefer: impl Fn(&T) -> bool) -> Option<T> {
        let mut state = self.lock();
        let list = state.free.get_mut(&size)?;
        let at = list.iter().rposition(prefer).or_else(|| list.len().checked_sub(1))?;
        let memory = list.swap_remove(at);
        state.statistics.held_blocks -= 1;
        state.statistics.held_bytes -= size;
        state.statistics.take(size);
        Some(memory)
    }

    /// Takes back what [`FreeList::take`] gave for `size`. Where nothing is kept any more, that is the caller's again:
    /// to free it may take long, and others need not wait for that.
    #[doc(hidden)]
    pub fn put(&self, size: usize, memory: T) -> Option<T> {
        let mut state = self.lock();
        state.statistics.active_blocks -= 1;
        state.statistics.active_bytes -= size;
        if state.closed {
            return Some(memory);
        }
        state.statistics.held_blocks += 1;
        state.statistics.held_bytes += size;
        state.free.entry(size).or_default().push(memory);
        None
    }

    /// Gives back what is kept.
    pub(super) fn trim(&self) {
        let mut state = self.lock();
        let free = std::mem::take(&mut state.free);
        state.statistics.held_blocks = 0;
        state.statistics.held_bytes = 0;
        drop(state);
        drop(free);
    }

    /// Gives back what is kept, and from now on keeps nothing.
    pub(super) fn stop_holding(&self) {
        self.lock().closed = true;
        self.trim();
    }

    pub(super) fn statistics(&self) -> PoolStatistics {
        self.lock().statistics
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The size that is allocated for `bytes`: the next of 1, 1.25, 1.5, 1.75 times a power of two, so that at most a
/// fifth is wasted and arrays of nearly the same size share blocks. From a mebibyte on, where a fifth is much, the
/// steps are of a sixteenth.
#[doc(hidden)]
pub fn size_class(bytes: usize) -> usize {
    let bytes = bytes.max(SMALLEST_BYTES);
    let steps = if bytes < LARGE_BYTES { 2 } else { 4 };
    let step = 1 << (bytes.ilog2().saturating_sub(steps));
    bytes.checked_next_multiple_of(step).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_waste_at_most_a_fifth_and_large_ones_a_seventeenth() {
        for bytes in (0..4000).chain([1 << 20, (1 << 20) + 1, (32 << 20) + 256, usize::MAX - 7]) {
            let size = size_class(bytes);
            assert!(size >= bytes.max(256), "{bytes} -> {size}");
            let part = if bytes < 1 << 20 { 5 } else { 17 };
            assert!(bytes < 256 || size - bytes <= size / part, "{bytes} -> {size}");
            assert_eq!(size_class(size), size);
        }
    }

    /// A device of 1000 bytes: another size fits only once what is kept is given back.
    #[test]
    fn what_is_kept_is_given_back_where_memory_runs_out() {
        use std::{cell::Cell, rc::Rc};
        struct Taken(Rc<Cell<usize>>, usize);
        impl Drop for Taken {
            fn drop(&mut self) {
                self.0.set(self.0.get() + self.1);
            }
        }
        let (free_list, left) = (FreeList::default(), Rc::new(Cell::new(1000_usize)));
        let fresh = |size| match left.get().checked_sub(size) {
            Some(rest) => {
                left.set(rest);
                Ok(Taken(left.clone(), size))
            }
            None => {
                let (requested, free) = (size as u64, left.get() as u64);
                Err(Error::OutOfMemory { device: "a test".to_owned(), requested, free })
            }
        };
        let first = free_list.take(600, |_| true, fresh).unwrap();
        assert!(free_list.take(500, |_| true, fresh).is_err(), "nothing can be given back");
        assert!(free_list.put(600, first).is_none(), "it is kept");
        let second = free_list.take(500, |_| true, fresh).unwrap();
        let only = PoolStatistics { active_blocks: 1, active_bytes: 500, ..Default::default() };
        assert_eq!(free_list.statistics(), only);
        free_list.stop_holding();
        drop(free_list.put(500, second));
        assert_eq!((free_list.statistics(), left.get()), (PoolStatistics::default(), 1000));
    }
}
