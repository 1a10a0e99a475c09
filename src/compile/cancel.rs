//! Ending a compilation from outside.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

/// Ends the compilations of a [`Compiler`](super::Compiler) that was given it, from another thread or from a signal's
/// handler; clones are one.
///
/// ```
/// use warpaint::compile::{Cache, Cancel, Compiler, Error, Request, Target};
///
/// let cancel = Cancel::default();
/// let compiler = Compiler::new(Cache::memory()).cancelled_by(&cancel);
/// cancel.cancel();
/// let outcome = compiler.compile(&Request::new("k.cu", "__global__ void k() {}", Target::CPU));
/// assert!(matches!(outcome, Err(Error::Cancelled)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    now: Arc<AtomicBool>,
    at: Arc<Mutex<Option<Instant>>>,
}

impl From<Arc<AtomicBool>> for Cancel {
    /// Cancelled as soon as `flag` is true: one that a signal's handler sets, say.
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self { now: flag, ..Self::default() }
    }
}

impl Cancel {
    /// Ends what is compiled, within a few hundredths of a second, and all that follows.
    pub fn cancel(&self) {
        self.now.store(true, Ordering::Relaxed);
    }

    /// Ends what is still compiled at that time, and all that follows; the earliest time counts.
    pub fn cancel_at(&self, time: Instant) {
        let mut at = self.lock();
        *at = Some(at.map_or(time, |earlier| earlier.min(time)));
    }

    /// Takes back what [`cancel_at`](Self::cancel_at) has said.
    #[cfg(feature = "gl")]
    pub(crate) fn forget_time(&self) {
        *self.lock() = None;
    }

    /// Whether to end.
    pub fn is_cancelled(&self) -> bool {
        self.now.load(Ordering::Relaxed) || self.lock().is_some_and(|at| Instant::now() >= at)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
