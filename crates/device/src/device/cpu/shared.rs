//! What all handles of a device share, down to a loaded module: its memory, its objects, and what waits to be freed.

use std::{
    fmt::Debug,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use super::{
    memory::{Arena, Permission, Range},
    options::LaunchOptions,
    printf::Printer,
    texture::Objects,
    thread,
};
use crate::device::{DeviceId, DeviceInfo, Error, Result};

/// What a device's handles and threads share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) id: DeviceId,
    pub(super) info: DeviceInfo,
    pub(super) arena: Arc<Arena>,
    pub(super) printer: Arc<Printer>,
    pub(super) objects: Objects,
    /// How launches run that do not say so themselves.
    options: Mutex<LaunchOptions>,
    queues: Mutex<Vec<Weak<dyn WorkQueue>>>,
    /// What was dropped by work on streams, such as host functions, and is not free yet.
    dropped: Mutex<Vec<Owned>>,
}

/// A stream's work, as far as those need to know it who wait for all of it.
pub(super) trait WorkQueue: Debug + Send + Sync {
    /// Waits for what is on the queue now, errors kept.
    fn drain(&self);

    /// Waits for what is on the queue now; its first error that was not reported yet.
    fn synchronize(&self) -> Result<()>;
}

/// What work that is on streams may still use when its owner drops it.
#[derive(Debug)]
pub(super) enum Owned {
    Memory(Range),
    /// Of a module.
    Variable(Range),
    /// A texture or surface object.
    Object(u64),
}

impl Shared {
    /// Of a new device.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when addresses cannot be had.
    pub(super) fn new(mut info: DeviceInfo) -> Result<Self> {
        let arena = Arc::new(Arena::new(info.total_memory_bytes)?);
        info.total_memory_bytes = arena.total_bytes();
        Ok(Self {
            id: DeviceId::next(),
            info,
            arena,
            printer: Arc::default(),
            objects: Objects::default(),
            options: Mutex::default(),
            queues: Mutex::default(),
            dropped: Mutex::default(),
        })
    }

    fn queues(&self) -> Vec<Arc<dyn WorkQueue>> {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues.retain(|queue| queue.strong_count() > 0);
        queues.iter().filter_map(Weak::upgrade).collect()
    }

    pub(super) fn add_queue(&self, queue: Weak<dyn WorkQueue>) {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner).push(queue);
    }

    /// Waits until all work on all streams has ended; the first error of any that was not reported yet.
    pub(super) fn synchronize(&self) -> Result<()> {
        let results: Vec<_> = self.queues().iter().map(|queue| queue.synchronize()).collect();
        results.into_iter().collect()
    }

    /// Frees what nobody has any more, once all work that is on streams now has ended, well or not. Work itself cannot
    /// wait for that: what it drops is freed with what somebody else drops, or when memory runs out.
    pub(super) fn free(&self, owned: impl IntoIterator<Item = Owned>) {
        if thread::is_working() {
            return self.dropped().extend(owned);
        }
        let dropped = std::mem::take(&mut *self.dropped());
        self.queues().iter().for_each(|queue| queue.drain());
        for owned in owned.into_iter().chain(dropped) {
            match owned {
                Owned::Memory(range) => self.arena.free(range),
                Owned::Variable(range) => self.arena.free_own(range),
                Owned::Object(handle) => self.objects.remove(handle),
            }
        }
    }

    /// Memory that kernels may read and write.
    pub(super) fn alloc(&self, bytes: u64) -> Result<Range> {
        let alloc = || self.arena.alloc(bytes, Permission::ReadWrite);
        match alloc() {
            Err(Error::OutOfMemory { .. }) if !self.dropped().is_empty() => {
                self.free([]);
                alloc()
            }
            allocated => allocated,
        }
    }

    fn dropped(&self) -> MutexGuard<'_, Vec<Owned>> {
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_options(&self, options: LaunchOptions) {
        *self.options.lock().unwrap_or_else(PoisonError::into_inner) = options;
    }

    /// How launches run that do not say so themselves.
    pub(super) fn options(&self) -> LaunchOptions {
        self.options.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
