//! Moments on a stream: recorded by the queue's worker when it gets there.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::{shared::Shared, thread};
use crate::device::{Error, EventOptions, Result};

/// A moment on a stream.
#[derive(Debug)]
pub struct Event {
    /// The latest record; none before the first.
    latest: Mutex<Option<Arc<Moment>>>,
    pub(super) shared: Arc<Shared>,
    timing: bool,
}

/// One record of an event: what comes to it and who waits for it are not concerned with later ones.
#[derive(Debug, Default)]
pub(super) struct Moment {
    /// When it was reached.
    time: Mutex<Option<Instant>>,
    reached: Condvar,
}

impl Moment {
    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.time.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A stream has come to it.
    pub(super) fn reach(&self) {
        *self.lock() = Some(Instant::now());
        self.reached.notify_all();
    }

    /// Blocks until it is reached.
    pub(super) fn wait(&self) {
        let waited = self.reached.wait_while(self.lock(), |time| time.is_none());
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Blocks until it is reached, or for so long; whether it is reached.
    fn wait_within(&self, longest: Duration) -> bool {
        let waited = self.reached.wait_timeout_while(self.lock(), longest, |time| time.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.is_some()
    }
}

impl Event {
    pub(super) fn new(shared: Arc<Shared>, options: EventOptions) -> Self {
        Self { latest: Mutex::default(), shared, timing: options.timing }
    }

    /// From now on this is the latest record. It is on a stream already, or one that waits for it could come before it.
    pub(super) fn recorded(&self, moment: Arc<Moment>) {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(moment);
    }

    /// The latest record: what a wait that is put on a stream now waits for.
    pub(super) fn latest(&self) -> Option<Arc<Moment>> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn time(&self) -> Result<Instant> {
        self.latest().and_then(|moment| *moment.lock()).ok_or(Error::NotReached)
    }

    /// Whether the work recorded before it has ended; true for one never recorded.
    ///
    /// # Errors
    /// None on this device.
    pub fn is_reached(&self) -> Result<bool> {
        Ok(self.latest().is_none_or(|moment| moment.lock().is_some()))
    }

    /// Waits on the host until it is reached.
    ///
    /// # Errors
    /// [`Error::Unsupported`] in a host function.
    pub fn synchronize(&self) -> Result<()> {
        thread::expect_free()?;
        if let Some(moment) = self.latest() {
            moment.wait();
        }
        Ok(())
    }

    /// Waits on the host until it is reached, but no longer than this; whether it is reached.
    ///
    /// # Errors
    /// [`Error::Unsupported`] in a host function.
    pub fn wait_within(&self, longest: Duration) -> Result<bool> {
        thread::expect_free()?;
        Ok(self.latest().is_none_or(|moment| moment.wait_within(longest)))
    }

    /// Milliseconds from `earlier` to this event.
    ///
    /// # Errors
    /// [`Error::NoTiming`], [`Error::NotReached`], [`Error::WrongDevice`].
    pub fn elapsed_ms(&self, earlier: &Self) -> Result<f32> {
        if self.shared.id != earlier.shared.id {
            return Err(Error::WrongDevice { operation: "event time" });
        }
        if !self.timing || !earlier.timing {
            return Err(Error::NoTiming);
        }
        let (end, start) = (self.time()?, earlier.time()?);
        let ms = |d: Duration| d.as_secs_f32() * 1e3;
        Ok(match end.checked_duration_since(start) {
            Some(after) => ms(after),
            None => -ms(start - end),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Duration};

    use crate::device::{Device, Event, Result};

    #[test]
    fn a_wait_ends_with_its_event_or_its_time() -> Result<()> {
        let device = Device::cpu()?;
        let (stream, event, (go, held)) = (device.stream()?, device.event()?, mpsc::channel());
        let Event::Cpu(own) = &event else { panic!("{event:?} is none of the CPU device") };
        assert!(own.wait_within(Duration::MAX)?, "it was never recorded");
        stream.host_function(move || held.recv().unwrap_or(()))?;
        stream.record(&event)?;
        assert!(!own.wait_within(Duration::from_millis(1))?);
        go.send(()).unwrap();
        assert!(own.wait_within(Duration::MAX)?);
        Ok(())
    }
}
