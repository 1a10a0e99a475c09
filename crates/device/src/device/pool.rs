//! A pool of device memory: freed blocks are kept and handed out again, in the order of streams.
//!
//! To allocate from the driver takes tens of microseconds and to free waits for the whole device. A pool does
//! neither: a dropped [`PoolBlock`] goes back at once, though work on its stream may still use it. Whoever gets it next
//! on the same stream comes behind that work anyway; on another stream the pool puts a wait for it first.

use std::{
    any::Any,
    ops::RangeBounds,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

use smallvec::{SmallVec, smallvec};

use super::{
    Device, DeviceId, Error, EventOptions, Memory, PoolStatistics, Result, Slice, Stream,
    free_list::{FreeList, size_class},
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
    free_list: FreeList<(Memory, Users)>,
    /// Whether a thread frees what is not kept.
    frees_aside: bool,
}

impl Pool {
    /// An empty pool.
    ///
    /// ```
    /// # use warpaint::device::{Device, Error, Pool};
    /// let (device, other) = (Device::cpu()?, Device::cpu()?);
    /// let pool = Pool::new(&device);
    /// assert!(matches!(pool.alloc(&other.stream()?, 16), Err(Error::WrongDevice { .. })));
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn new(device: &Device) -> Self {
        Self::with(device, false)
    }

    /// A pool that keeps nothing, for what is needed once. To free it waits for all work of the device: a thread does
    /// that, so that whoever drops a block does not wait.
    ///
    /// ```
    /// # use std::sync::mpsc;
    /// # use warpaint::device::{Device, Pool};
    /// # let device = Device::cpu()?;
    /// # let (pool, (go, wait)) = (Pool::passing(&device), mpsc::channel::<()>());
    /// let (stream, other) = (device.stream()?, device.stream()?);
    /// let block = pool.alloc(&stream, 1000)?;
    /// other.host_function(move || wait.recv().unwrap_or(()))?; // takes its time
    /// drop(block); // at once
    /// assert_eq!(pool.statistics().held_bytes, 0);
    /// go.send(())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn passing(device: &Device) -> Self {
        let pool = Self::with(device, true);
        pool.stop_holding();
        pool
    }

    fn with(device: &Device, frees_aside: bool) -> Self {
        let (device, free_list) = (device.clone(), FreeList::default());
        Self(Arc::new(Inner { device, free_list, frees_aside }))
    }

    /// The device whose memory it is.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// At least `bytes` of uninitialised memory, for work that is put on `stream` from now on.
    ///
    /// Where the device has no more, the memory that is kept is given back and it is tried once more.
    ///
    /// ```
    /// # use warpaint::device::{Device, Fill, Pool};
    /// # let device = Device::cpu()?;
    /// # let pool = Pool::new(&device);
    /// let (one, other) = (device.stream()?, device.stream()?);
    /// let block = pool.alloc(&one, 1000)?;
    /// one.fill(block.slice(..)?, Fill::U8(1))?;
    /// let address = block.address();
    /// drop(block); // though the fill may not have begun
    /// let block = pool.alloc(&other, 1000)?; // `other` waits for it
    /// assert_eq!((block.address(), block.bytes()), (address, 1000));
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::WrongDevice`].
    pub fn alloc(&self, stream: &Stream, bytes: usize) -> Result<PoolBlock> {
        if stream.device_id() != self.0.device.id() {
            return Err(Error::WrongDevice { operation: "allocate from a pool" });
        }
        let (device, size) = (&self.0.device, size_class(bytes));
        let same_stream = |(_, users): &(Memory, Users)| is_only(users, stream);
        let fresh =
            |size| Ok((device.alloc_with_capacity(bytes, size)?, smallvec![stream.clone()]));
        let (memory, users) = self.0.free_list.take(size, same_stream, fresh)?;
        let (address, users) = (memory.address(), Mutex::new(users));
        let owner = Owner::Pool { memory: Some(memory), size, pool: self.clone() };
        let block = PoolBlock { address, bytes, owner, users };
        block.use_on(stream)?;
        block.set_extent(stream);
        tracing::trace!(target: "warpaint::pool", bytes, size, address = block.address(), "given out");
        Ok(block)
    }

    /// Gives the memory that is kept back to the device. Waits for work that may still use it.
    ///
    /// ```
    /// # use warpaint::device::{Device, Pool};
    /// # let device = Device::cpu()?;
    /// # let (pool, stream) = (Pool::new(&device), device.stream()?);
    /// let used = pool.alloc(&stream, 1000)?;
    /// drop(pool.alloc(&stream, 1000)?);
    /// pool.trim();
    /// let statistics = pool.statistics();
    /// assert_eq!((statistics.active_blocks, statistics.held_blocks), (1, 0)); // not what is in use
    /// # drop(used);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn trim(&self) {
        self.0.free_list.trim();
    }

    /// Gives it back, and from now on keeps nothing: what is dropped is freed at once.
    ///
    /// ```
    /// # use warpaint::device::{Device, Pool};
    /// # let device = Device::cpu()?;
    /// # let (pool, stream) = (Pool::new(&device), device.stream()?);
    /// pool.stop_holding();
    /// drop(pool.alloc(&stream, 1000)?); // waits until the device has freed it
    /// assert_eq!(pool.statistics().held_bytes, 0);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn stop_holding(&self) {
        self.0.free_list.stop_holding();
    }

    /// What it holds and has given out, now.
    ///
    /// ```
    /// # use warpaint::device::{Device, Pool};
    /// # let device = Device::cpu()?;
    /// # let (pool, stream) = (Pool::new(&device), device.stream()?);
    /// let (first, second) = (pool.alloc(&stream, 1000)?, pool.alloc(&stream, 5000)?);
    /// assert_eq!(pool.statistics().active_bytes, 1024 + 5120); // in the pool's sizes
    /// drop(first);
    /// assert_eq!((pool.statistics().active_blocks, pool.statistics().held_bytes), (1, 1024));
    /// # drop(second);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn statistics(&self) -> PoolStatistics {
        self.0.free_list.statistics()
    }
}

/// Memory from a [`Pool`], which gets it back when it is dropped, or memory of somebody else's.
///
/// ```
/// use warpaint::device::{Device, Fill, Pool};
///
/// let device = Device::cpu()?;
/// let (pool, stream) = (Pool::new(&device), device.stream()?);
/// let block = pool.alloc(&stream, 4)?;
/// stream.fill(block.slice(1..3)?, Fill::U8(7))?;
/// assert_eq!(stream.download(block.slice(1..3)?)?.wait()?, [7, 7]);
/// drop(block);
/// assert_eq!(pool.statistics().held_blocks, 1); // the pool has it again
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Debug)]
pub struct PoolBlock {
    address: u64,
    bytes: usize,
    owner: Owner,
    users: Mutex<Users>,
}

/// Who has the memory of a block.
#[derive(Debug)]
enum Owner {
    /// The memory is there until the block is dropped.
    Pool { memory: Option<Memory>, size: usize, pool: Pool },
    /// Kept for as long as the block is used.
    Foreign { device: DeviceId, _kept: Box<dyn Any + Send + Sync> },
}

impl PoolBlock {
    /// A block of memory that was not allocated here: `bytes` at `address` on the device of `stream`, for work that is
    /// put on the stream from now on. `kept` is dropped once no work uses the memory any more.
    ///
    /// ```
    /// # use warpaint::device::{PoolBlock, Device, Fill};
    /// # let device = Device::cpu()?;
    /// # let stream = device.stream()?;
    /// let memory = device.alloc(4)?; // another library's, say
    /// let address = memory.address();
    /// // SAFETY: it has four bytes, and is there until the block drops it.
    /// let block = unsafe { PoolBlock::foreign(&stream, address, 4, memory) };
    /// stream.fill(block.slice(..)?, Fill::U8(7))?;
    /// drop(block); // once it is filled
    /// assert_eq!(device.address_range(address)?, None);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
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
        let owner = Owner::Foreign { device: stream.device_id(), _kept: Box::new(kept) };
        Self { address, bytes, owner, users: Mutex::new(smallvec![stream.clone()]) }
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
    /// ```
    /// # use warpaint::device::{Device, Pool};
    /// # let device = Device::cpu()?;
    /// # let (pool, stream) = (Pool::new(&device), device.stream()?);
    /// let block = pool.alloc(&stream, 1000)?; // of 1024, which are not all its own
    /// assert_eq!(block.slice(..)?.bytes(), 1000);
    /// assert!(block.slice(..1001).is_err());
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when the range ends behind it.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Slice<'_>> {
        Slice::new(self.device_id(), self.address, self.bytes).slice(range)
    }

    fn device_id(&self) -> DeviceId {
        match &self.owner {
            Owner::Pool { pool, .. } => pool.device().id(),
            Owner::Foreign { device, .. } => *device,
        }
    }

    /// The CPU device's kernels may use what was asked for, not all that the pool rounded it up to.
    fn set_extent(&self, stream: &Stream) {
        if let Owner::Pool { memory: Some(memory), .. } = &self.owner {
            stream.set_extent(memory, self.bytes);
        }
    }

    fn users(&self) -> MutexGuard<'_, Users> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that work put on `stream` from now on uses the block: where others used it last, it waits for their work.
    ///
    /// ```
    /// # use std::sync::mpsc;
    /// # use warpaint::device::{Device, Fill, Pool};
    /// # let device = Device::cpu()?;
    /// # let (pool, (go, wait)) = (Pool::new(&device), mpsc::channel());
    /// # let (one, other) = (device.stream()?, device.stream()?);
    /// let block = pool.alloc(&one, 4)?;
    /// one.host_function(move || wait.recv().unwrap_or(()))?; // takes its time
    /// one.fill(block.slice(..)?, Fill::U8(7))?;
    /// block.use_on(&other)?; // `other` waits for the fill, this thread does not
    /// let read = other.download(block.slice(..)?)?;
    /// go.send(())?;
    /// assert_eq!(read.wait()?, [7; 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::Call`].
    pub fn use_on(&self, stream: &Stream) -> Result<()> {
        let mut users = self.users();
        if is_only(&users, stream) {
            return Ok(());
        }
        if stream.device_id() != self.device_id() {
            return Err(Error::WrongDevice { operation: "use memory on a stream" });
        }
        users.iter().try_for_each(|earlier| follow(stream, earlier))?;
        *users = smallvec![stream.clone()];
        Ok(())
    }

    /// Says that the work is on `stream` now. Between [`PoolBlock::use_on`] and it another thread may have put work
    /// elsewhere that did not wait for it; who comes next waits for both.
    ///
    /// ```
    /// # use warpaint::device::{Device, Fill, Pool};
    /// # let device = Device::cpu()?;
    /// # let (pool, stream) = (Pool::new(&device), device.stream()?);
    /// let block = pool.alloc(&device.stream()?, 4)?; // the stream that will use it is another
    /// block.use_on(&stream)?;
    /// stream.fill(block.slice(..)?, Fill::U8(7))?; // or a launch
    /// block.used_on(&stream);
    /// assert_eq!(stream.download(block.slice(..)?)?.wait()?, [7; 4]);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn used_on(&self, stream: &Stream) {
        let mut users = self.users();
        if !users.contains(stream) {
            users.push(stream.clone());
        }
    }

    /// Puts work that uses the block on `stream`, [`PoolBlock::use_on`] before and [`PoolBlock::used_on`] behind it.
    #[doc(hidden)]
    pub fn during<R, E: From<Error>>(
        &self,
        stream: &Stream,
        work: impl FnOnce() -> std::result::Result<R, E>,
    ) -> std::result::Result<R, E> {
        self.use_on(stream)?;
        let done = work();
        self.used_on(stream);
        done
    }
}

impl Drop for PoolBlock {
    fn drop(&mut self) {
        let users = self.users.get_mut().unwrap_or_else(PoisonError::into_inner);
        let users = std::mem::take(users);
        match &mut self.owner {
            Owner::Pool { memory, size, pool } => {
                let (size, address) = (*size, self.address);
                tracing::trace!(target: "warpaint::pool", size, address, "given back");
                let memory = memory.take();
                let unkept = memory.and_then(|memory| pool.0.free_list.put(size, (memory, users)));
                if let Some(unkept) = unkept
                    && pool.0.frees_aside
                {
                    // Without a thread it is freed here.
                    _ = thread::Builder::new().name("free".into()).spawn(move || drop(unkept));
                }
            }
            Owner::Foreign { .. } => users.iter().for_each(wait_for_work),
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

/// The streams whose work may use a block: one, but where several threads use it at the same time.
type Users = SmallVec<[Stream; 1]>;

fn is_only(users: &Users, stream: &Stream) -> bool {
    matches!(&users[..], [only] if only == stream)
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
    use crate::device::Fill;

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
            one.fill(block.slice(..).unwrap(), Fill::U8(round)).unwrap();
            let read = one.download(block.slice(..).unwrap()).unwrap();
            drop(block);
            let block = pool.alloc(&two, bytes).unwrap();
            two.fill(block.slice(..).unwrap(), Fill::U8(0xff)).unwrap();
            assert!(read.wait().unwrap().iter().all(|&byte| byte == round));
            two.synchronize().unwrap();
        }
    }

    /// What two threads do that use a block on streams of their own at the same time.
    #[test]
    fn work_that_is_put_on_a_stream_late_is_waited_for() {
        let device = Device::cpu().unwrap();
        let pool = Pool::new(&device);
        let [one, two, three] = [(); 3].map(|()| device.stream().unwrap());
        for hands_over in [true, false] {
            let block = pool.alloc(&one, 64).unwrap();
            one.fill(block.slice(..).unwrap(), Fill::U8(7)).unwrap();
            block.use_on(&one).unwrap();
            block.use_on(&two).unwrap();
            let (go, wait) = std::sync::mpsc::channel::<()>();
            one.host_function(move || wait.recv().unwrap()).unwrap();
            let read = one.download(block.slice(..).unwrap()).unwrap();
            block.used_on(&one);
            block.used_on(&two);

            let next = if hands_over {
                block.use_on(&three).unwrap();
                block
            } else {
                drop(block);
                pool.alloc(&three, 64).unwrap()
            };
            three.fill(next.slice(..).unwrap(), Fill::U8(1)).unwrap();
            assert!(!three.is_idle().unwrap());
            go.send(()).unwrap();
            assert_eq!(read.wait().unwrap(), [7; 64]);
        }
    }
}
