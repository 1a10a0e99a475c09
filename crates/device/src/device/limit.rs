//! Limits of a device's resources that can be set.

use super::{Device, Result, each};

/// A resource of which kernels get a limited amount.
///
/// ```
/// use warpaint::device::{Device, Limit};
///
/// let device = Device::cpu()?;
/// assert_eq!(device.limit(Limit::PrintfBytes)?, Some(1 << 20));
/// assert_eq!(device.limit(Limit::HeapBytes)?, None); // as long as the device has memory
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// Stack of each thread, in bytes.
    StackBytes,
    /// Buffer in which `printf` keeps its text until the device is synchronised, in bytes.
    PrintfBytes,
    /// Heap of `malloc` in kernels, in bytes; it cannot be set any more once a kernel that uses it has run.
    HeapBytes,
    /// How deep kernels that launch kernels may wait for them.
    RuntimeSyncDepth,
    /// How many launches of kernels by kernels may be pending.
    RuntimePendingLaunches,
    /// How much the second cache fetches at once, in bytes; a hint.
    L2FetchBytes,
    /// How much of the second cache may keep what is marked as persisting, in bytes.
    L2PersistingBytes,
}

/// What a multiprocessor's memory should rather be, where cache and shared memory are one: a wish.
///
/// ```
/// use warpaint::device::{CachePreference, Device};
///
/// let ptx = ".version 7.0 .target sm_75 .address_size 64 .visible .entry idle() { ret; }";
/// let device = Device::cpu()?;
/// device.set_cache_preference(CachePreference::L1)?; // for all kernels
/// let idle = device.load(ptx)?.function("idle")?;
/// idle.set_cache_preference(CachePreference::Shared)?; // but for this one
/// assert_eq!(CachePreference::default(), CachePreference::None);
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CachePreference {
    /// No wish.
    #[default]
    None,
    /// Shared memory.
    Shared,
    /// First-level cache.
    L1,
    /// As much of both.
    Equal,
}

impl Device {
    /// Wishes for all kernels that have no wish of their own. Without effect on the CPU device.
    ///
    /// # Errors
    /// [`Error::Call`](super::Error::Call) from the driver.
    pub fn set_cache_preference(&self, preference: CachePreference) -> Result<()> {
        each!(self, d => d.set_cache_preference(preference))
    }

    /// A limit; `None` where there is none. On the CPU device only [`Limit::PrintfBytes`] is one, of each launch.
    ///
    /// ```
    /// # use warpaint::device::{Device, Limit};
    /// let device = Device::cpu()?;
    /// assert_eq!(device.limit(Limit::StackBytes)?, None);
    /// assert_eq!(device.limit(Limit::PrintfBytes)?, Some(1 << 20));
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Call`](super::Error::Call) from the driver.
    pub fn limit(&self, limit: Limit) -> Result<Option<usize>> {
        each!(self, d => d.limit(limit))
    }

    /// Sets a limit, for all that use the device in this process. The driver may round it.
    ///
    /// ```
    /// # use warpaint::device::{Device, Error, Limit};
    /// let refused = Device::cpu()?.set_limit(Limit::HeapBytes, 64 << 20);
    /// assert!(matches!(refused, Err(Error::Unsupported { .. })));
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`](super::Error::Unsupported) on the CPU device, [`Error::Call`](super::Error::Call) where
    /// it is out of range, or cannot be set any more.
    pub fn set_limit(&self, limit: Limit, value: usize) -> Result<()> {
        each!(self, d => d.set_limit(limit, value))
    }
}
