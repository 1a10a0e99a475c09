//! An opened GPU: its context, and what is kept in that for all handles of the GPU.

use std::{
    fmt,
    sync::{Arc, Mutex, OnceLock, Weak},
};

use super::{
    context::CudaContext, driver::Driver, guard::Guard, host_function, lock::lock, staging::Staging,
};
use crate::device::{Error, Result};

/// What all handles of an opened GPU share.
pub(super) struct Opened {
    context: CudaContext,
    staging: Staging,
    /// Held while it is made.
    starting_guard: Mutex<Option<Arc<Guard>>>,
    guard: OnceLock<Arc<Guard>>,
}

impl Opened {
    /// Opens the GPU, or gives the one that is open already: a primary context is one per process and GPU.
    pub(super) fn open(ordinal: u32) -> Result<Arc<Self>> {
        static OPEN: Mutex<Vec<Weak<Opened>>> = Mutex::new(Vec::new());
        let driver = Driver::get().map_err(|error| match error {
            Error::NoDevice { found, .. } => Error::NoDevice { ordinal, found },
            other => other,
        })?;
        let mut open = lock(&OPEN);
        open.retain(|opened| opened.strong_count() > 0);
        let same = |opened: &Arc<Self>| opened.context.ordinal() == ordinal;
        if let Some(opened) = open.iter().filter_map(Weak::upgrade).find(same) {
            return Ok(opened);
        }
        let opened = Arc::new(Self::of(CudaContext::retain(driver, ordinal)?));
        open.push(Arc::downgrade(&opened));
        Ok(opened)
    }

    /// The GPU with a new context beside the primary one, with `CU_CTX_*` flags.
    pub(super) fn create(ordinal: u32, flags: u32) -> Result<Arc<Self>> {
        CudaContext::create(ordinal, flags).map(|context| Arc::new(Self::of(context)))
    }

    fn of(context: CudaContext) -> Self {
        let (staging, starting_guard) = (Staging::default(), Mutex::default());
        Self { context, staging, starting_guard, guard: OnceLock::new() }
    }

    pub(super) fn context(&self) -> &CudaContext {
        &self.context
    }

    /// The memory through which copies pass.
    pub(super) fn staging(&self) -> &Staging {
        &self.staging
    }

    /// The guard, where a guarded module was loaded.
    #[inline]
    pub(super) fn guard(&self) -> Option<&Arc<Guard>> {
        self.guard.get()
    }

    /// The guard, which there is from now on; the context is current.
    pub(super) fn start_guard(&self) -> Result<Arc<Guard>> {
        let mut guard = lock(&self.starting_guard);
        if let Some(guard) = &*guard {
            return Ok(guard.clone());
        }
        let started = Arc::new(Guard::new(&self.context)?);
        *guard = Some(started.clone());
        self.guard.get_or_init(|| started.clone());
        Ok(started)
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // The last handle may be a host function's, which must not call the driver: the GPU stays open then.
        if host_function::is_running() || self.context.make_current().is_err() {
            return;
        }
        self.staging.free(&self.context);
        if let Some(guard) = self.guard.get() {
            guard.free(&self.context);
        }
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.context.fmt(f)
    }
}
