//! A pool of device memory: freed blocks are kept and handed out again, in the order of streams.
//!
//! To allocate from the driver takes tens of microseconds and to free waits for the whole device. A pool does
//! neither: a dropped [`Block`] goes back at once, though work on its stream may still use it. Whoever gets it next
//! on the same stream comes behind that work anyway; on another stream the pool puts a wait for it first.

use std::{
    any::Any,
    ops::RangeBounds,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{
    Device, DeviceId, Error, EventOptions, Memory, PoolStatistics, Result, Slice, Stream,
    shelf::{Shelf, size_class},
};

/// Keeps freed memory of one device for later allocations. Clones are the same pool.
///
/// What it gives out and gets back it says to `tracing`, as events of the target `warpaint::pool` at level `TRACE`.
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
        let (address, last) = (memory.address(), Mutex::new(last));
        let owner = Owner::Pool { memory: Some(memory), size, pool: self.clone() };
        let block = Block { address, bytes, owner, last };
        block.use_on(stream)?;
        tracing::trace!(target: "warpaint::pool", bytes, size, address = block.address(), "given out");
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

/// Memory from a [`Pool`], which gets it back when it is dropped, or memory of somebody else's.
#[derive(Debug)]
pub struct Block {
    address: u64,
    bytes: usize,
    owner: Owner,
    /// The stream that used it last.
    last: Mutex<Stream>,
}

/// Who has the memory of a block.
#[derive(Debug)]
enum Owner {
    /// The memory is there until the block is dropped.
    Pool { memory: Option<Memory>, size: usize, pool: Pool },
    /// Kept for as long as the block is used.
    Foreign { _kept: Box<dyn Any + Send + Sync> },
}

impl Block {
    /// A block of memory that was not allocated here: `bytes` at `address` on the device of `stream`, for work that is
    /// put on the stream from now on. `kept` is dropped once no work uses the memory any more.
    ///
    /// # Safety
    /// The memory must stay there, and be nobody else's to write, until `kept` is dropped.
    #[expect(unsafe_code, reason = "nothing tells how long foreign memory lives")]
    pub unsafe fn foreign(
        stream: &Stream,
        address: u64,
        bytes: usize,
        kept: impl Any + Send + Sync,
    ) -> Self {
        let owner = Owner::Foreign { _kept: Box::new(kept) };
        Self { address, bytes, owner, last: Mutex::new(stream.clone()) }
    }

    /// Size in bytes, as asked for.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Where a kernel sees it.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// A range of its bytes.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when the range ends behind it.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Slice<'_>> {
        Slice::new(self.device_id(), self.address, self.bytes).slice(range)
    }

    fn device_id(&self) -> DeviceId {
        match &self.owner {
            Owner::Pool { pool, .. } => pool.device().id(),
            // All streams that use it are of one device.
            Owner::Foreign { .. } => self.last().device().id(),
        }
    }

    fn last(&self) -> MutexGuard<'_, Stream> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that work put on `stream` from now on uses the block: where another stream used it last, that work
    /// waits for the other stream's.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::Call`].
    pub fn use_on(&self, stream: &Stream) -> Result<()> {
        let mut last = self.last();
        if last.device_id() != stream.device_id() {
            return Err(Error::WrongDevice { operation: "use memory on a stream" });
        }
        if *last != *stream {
            follow(stream, &last)?;
            *last = stream.clone();
        }
        Ok(())
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let last = self.last.get_mut().unwrap_or_else(PoisonError::into_inner).clone();
        match &mut self.owner {
            Owner::Pool { memory, size, pool } => {
                let (size, address) = (*size, self.address);
                tracing::trace!(target: "warpaint::pool", size, address, "given back");
                if let Some(memory) = memory.take() {
                    pool.0.shelf.put(size, (memory, last));
                }
            }
            Owner::Foreign { .. } => wait_for_work(&last),
        }
    }
}

/// Waits until the work that is on `stream` has ended; errors of that work stay there for who asks for them.
fn wait_for_work(stream: &Stream) {
    let ended = || {
        let event = stream.device().event_with(UNTIMED)?;
        stream.record(&event)?;
        event.synchronize()
    };
    if let Err(error) = ended() {
        tracing::debug!("while giving back foreign memory: {error}");
    }
}

const UNTIMED: EventOptions = EventOptions { timing: false, blocking_wait: false };

/// Lets work put on `stream` from now on wait for all that is on `earlier`.
fn follow(stream: &Stream, earlier: &Stream) -> Result<()> {
    if stream == earlier {
        return Ok(());
    }
    let event = earlier.device().event_with(UNTIMED)?;
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

    #[test]
    fn what_a_pool_does_can_be_traced() {
        #[derive(Clone, Default)]
        struct Lines(Arc<Mutex<Vec<u8>>>);
        impl std::io::Write for Lines {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.0.lock().unwrap().write(bytes)
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let (lines, device) = (Lines::default(), Device::cpu().unwrap());
        let to = lines.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_env_filter("warpaint::pool=trace")
            .with_writer(move || to.clone())
            .with_ansi(false)
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            let (pool, stream) = (Pool::new(&device), device.stream().unwrap());
            drop(pool.alloc(&stream, 300).unwrap());
        });
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        let [given, back] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
        assert!(given.contains("given out bytes=300 size=320 address="), "{given}");
        assert!(back.contains("given back size=320 address="), "{back}");
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
