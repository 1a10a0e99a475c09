//! Ends work that takes too long where the thread that drives the session cannot.
//!
//! That thread ends work at its limit, as long as it comes to it. But CUDA loads a module only when no kernel runs, and
//! until then other calls of the driver may wait, too: making a stream waits for the module, and every call behind that
//! waits for the stream. A thread that makes such a call while a kernel never ends would wait forever. This one makes
//! none: it looks at the time, and wishes the end in memory that the kernel reads.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    thread,
    time::{Duration, Instant},
};

use super::{Error, Options};
use crate::{
    device::{Device, DeviceKind, Stream},
    interrupt::Interrupt,
};

/// How often it looks.
const LOOK: Duration = Duration::from_millis(500);
/// How much later than the thread that drives the session, which says why it ends work.
const GRACE: Duration = Duration::from_secs(1);

/// Watches the work on a session's stream. None where the driver keeps nobody waiting.
#[derive(Debug)]
pub(super) struct Watchdog(Option<Arc<Watched>>);

/// Some work is watched for as long as there is this.
#[derive(Debug)]
pub(super) struct Watch(Option<Arc<Watched>>);

#[derive(Debug)]
struct Watched {
    stream: Stream,
    limit: Duration,
    interrupt: Interrupt,
    work: Mutex<Work>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Work {
    None,
    Since(Instant),
    /// It was told to end.
    Overdue,
}

impl Watchdog {
    /// # Errors
    /// [`Error::Thread`].
    pub(super) fn start(
        device: &Device,
        stream: &Stream,
        options: &Options,
    ) -> Result<Self, Error> {
        match device.info().kind {
            DeviceKind::Cpu => return Ok(Self(None)),
            DeviceKind::Nvidia => {}
        }
        let watched = Arc::new(Watched {
            stream: stream.clone(),
            limit: options.step_timeout,
            interrupt: options.interrupt.clone(),
            work: Mutex::new(Work::None),
        });
        let of_thread = Arc::downgrade(&watched);
        let named = thread::Builder::new().name("watchdog".to_owned());
        named.spawn(move || look(&of_thread)).map_err(Error::Thread)?;
        Ok(Self(Some(watched)))
    }

    /// Work begins now; one at a time.
    pub(super) fn watch(&self) -> Watch {
        if let Some(watched) = &self.0 {
            *watched.work() = Work::Since(Instant::now());
        }
        Watch(self.0.clone())
    }
}

impl Watch {
    /// The work has ended: it is not told to from now on, and what its kernels have told can be taken.
    pub(super) fn end(&self) {
        let Some(watched) = &self.0 else { return };
        let mut work = watched.work();
        match *work {
            Work::Since(_) => *work = Work::None,
            Work::None | Work::Overdue => {}
        }
    }

    /// Whether the work took so long that it was told to end here.
    pub(super) fn is_overdue(&self) -> bool {
        self.0.as_ref().is_some_and(|watched| *watched.work() == Work::Overdue)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end();
    }
}

impl Watched {
    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end_overdue(&self) {
        let mut work = self.work();
        let Work::Since(started) = *work else { return };
        let late = started.elapsed().saturating_sub(GRACE);
        if late >= self.limit || self.interrupt.is_raised() && !late.is_zero() {
            *work = Work::Overdue;
            // Under the lock, so that it ends this work and none that comes behind it.
            if let Err(error) = self.stream.cancel() {
                tracing::debug!("work that takes too long is waited for: {error}");
            }
        }
    }
}

/// Looks until the session is gone.
fn look(watched: &Weak<Watched>) {
    loop {
        thread::sleep(LOOK);
        let Some(watched) = watched.upgrade() else { return };
        watched.end_overdue();
    }
}
