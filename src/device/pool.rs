//! A pool of device memory: freed blocks are kept and handed out again, in the order of streams.
//!
//! To allocate from the driver takes tens of microseconds and to free waits for the whole device. A pool does
//! neither: a dropped [`Block`] goes back at once, though work on its stream may still use it. Whoever gets it next
//! on the same stream comes behind that work anyway; on another stream the pool puts a wait for it first.

use std::{
    ops::RangeBounds,
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    Device, Error, EventOptions, Memory, PoolStatistics, Result, Slice, Stream,
    shelf::{Shelf, size_class},
};

/// Keeps freed memory of one device for later allocations. Clones are the same pool.
///
/// ```
/// use warpaint::device::{Device, Pool};
///
/// let device = Device::cpu()?;
/// let (pool, stream) = (Pool::new(&device), device.stream()?);
/// let address = pool.alloc(&stream, 1000)?.address();
/// assert_eq!(pool.statistics().held_blocks, 1);
/// assert_eq!(pool.alloc(&stream, 900)?.address(), address, "the same block again");
/// pool.trim();
/// assert_eq!(pool.statistics().held_bytes, 0);
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pool(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    device: Device,
    /// The stream that used it last beside each.
    shelf: Shelf<(Memory, Stream)>,
}

impl Pool {
    /// An empty pool.
    pub fn new(device: &Device) -> Self {
        Self(Arc::new(Inner { device: device.clone(), shelf: Shelf::default() }))
    }

    /// The device whose memory it is.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// At least `bytes` of uninitialised memory, for work that is put on `stream` from now on.
    ///
    /// Where the device has no more, the memory that is kept is given back and it is tried once more.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::WrongDevice`].
    pub fn alloc(&self, stream: &Stream, bytes: usize) -> Result<Block> {
        if stream.device_id() != self.0.device.id() {
            return Err(Error::WrongDevice { operation: "allocate from a pool" });
        }
        let (device, size) = (&self.0.device, size_class(bytes));
        let same_stream = |(_, last): &(Memory, Stream)| last == stream;
        let fresh = |size| Ok((device.alloc(size)?, stream.clone()));
        let (memory, last) = self.0.shelf.take(size, same_stream, fresh)?;
        let (memory, last) = (Some(memory), Mutex::new(last));
        let block = Block { memory, bytes, size, pool: self.clone(), last };
        block.use_on(stream)?;
        Ok(block)
    }

    /// Gives the memory that is kept back to the device. Waits for work that may still use it.
    pub fn trim(&self) {
        self.0.shelf.trim();
    }

    /// Gives it back, and from now on keeps nothing: what is dropped is freed at once.
    pub fn stop_holding(&self) {
        self.0.shelf.stop_holding();
    }

    /// What it holds and has given out, now.
    pub fn statistics(&self) -> PoolStatistics {
        self.0.shelf.statistics()
    }
}

/// Memory from a [`Pool`], which gets it back when it is dropped.
#[derive(Debug)]
pub struct Block {
    /// Always there until it is dropped.
    memory: Option<Memory>,
    bytes: usize,
    size: usize,
    pool: Pool,
    /// The stream that used it last.
    last: Mutex<Stream>,
}

impl Block {
    /// Size in bytes, as asked for.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Where a kernel sees it.
    pub fn address(&self) -> u64 {
        self.memory.as_ref().map_or(0, Memory::address)
    }

    /// A range of its bytes.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when the range ends behind it.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Slice<'_>> {
        Slice::new(self.pool.device().id(), self.address(), self.bytes).slice(range)
    }

    /// Says that work put on `stream` from now on uses the block: where another stream used it last, that work
    /// waits for the other stream's.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::Call`].
    pub fn use_on(&self, stream: &Stream) -> Result<()> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if *last != *stream {
            follow(stream, &last)?;
            *last = stream.clone();
        }
        Ok(())
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let Some(memory) = self.memory.take() else { return };
        let last = self.last.get_mut().unwrap_or_else(PoisonError::into_inner).clone();
        self.pool.0.shelf.put(self.size, (memory, last));
    }
}

/// Lets work put on `stream` from now on wait for all that is on `earlier`.
fn follow(stream: &Stream, earlier: &Stream) -> Result<()> {
    if stream == earlier {
        return Ok(());
    }
    let options = EventOptions { timing: false, ..EventOptions::default() };
    let event = earlier.device().event_with(options)?;
    earlier.record(&event)?;
    stream.wait(&event)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_count_what_is_out_and_what_is_kept() {
        let device = Device::cpu().unwrap();
        let (pool, stream) = (Pool::new(&device), device.stream().unwrap());
        let first = pool.alloc(&stream, 300).unwrap();
        let second = pool.alloc(&stream, 5000).unwrap();
        let both =
            PoolStatistics { active_blocks: 2, active_bytes: 320 + 5120, ..Default::default() };
        assert_eq!(pool.statistics(), both);
        drop(first);
        assert_eq!((pool.statistics().held_blocks, pool.statistics().held_bytes), (1, 320));
        drop(second);
        assert_eq!((pool.statistics().active_blocks, pool.statistics().active_bytes), (0, 0));
        pool.trim();
        assert_eq!(pool.statistics(), PoolStatistics::default());
        let third = pool.alloc(&stream, 300).unwrap();
        pool.stop_holding();
        drop(third);
        assert_eq!(pool.statistics(), PoolStatistics::default());
    }

    /// A kernel-less race: the other stream's fill must not overtake the first one's long copy.
    #[test]
    fn a_block_of_another_stream_is_waited_for() {
        let device = Device::cpu().unwrap();
        let pool = Pool::new(&device);
        let (one, two) = (device.stream().unwrap(), device.stream().unwrap());
        let bytes = 64 << 20;
        for round in 0..4_u8 {
            let block = pool.alloc(&one, bytes).unwrap();
            one.fill(block.slice(..).unwrap(), super::super::Fill::U8(round)).unwrap();
            let read = one.download(block.slice(..).unwrap()).unwrap();
            drop(block);
            let block = pool.alloc(&two, bytes).unwrap();
            two.fill(block.slice(..).unwrap(), super::super::Fill::U8(0xff)).unwrap();
            assert!(read.wait().unwrap().iter().all(|&byte| byte == round));
            two.synchronize().unwrap();
        }
    }
}
