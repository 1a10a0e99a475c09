//! Moments on a stream: recorded by the queue's worker when it gets there.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::Shared;
use crate::device::{Error, EventOptions, Result};

/// A moment on a stream.
#[derive(Debug)]
pub struct Event {
    pub(super) mark: Arc<Mark>,
    pub(super) shared: Arc<Shared>,
    timing: bool,
}

/// What an event and the queues that reach it or wait for it share.
#[derive(Debug, Default)]
pub(super) struct Mark {
    state: Mutex<State>,
    reached: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// How often the event was put on a stream.
    recorded: u64,
    /// The latest of these that was reached.
    reached: u64,
    time: Option<Instant>,
}

impl Mark {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The event is put on a stream; the number to reach it with.
    pub(super) fn record(&self) -> u64 {
        let mut state = self.lock();
        state.recorded += 1;
        state.recorded
    }

    pub(super) fn reach(&self, number: u64) {
        let mut state = self.lock();
        if number > state.reached {
            state.reached = number;
            state.time = Some(Instant::now());
        }
        drop(state);
        self.reached.notify_all();
    }

    /// The number of the latest record: what a wait that is put on a stream now waits for.
    pub(super) fn latest(&self) -> u64 {
        self.lock().recorded
    }

    /// Blocks until record `number` was reached.
    pub(super) fn wait(&self, number: u64) {
        let state = self.lock();
        drop(
            self.reached
                .wait_while(state, |state| state.reached < number)
                .unwrap_or_else(PoisonError::into_inner),
        );
    }

    fn time(&self) -> Result<Instant> {
        let state = self.lock();
        state.time.filter(|_| state.reached == state.recorded).ok_or(Error::NotReached)
    }
}

impl Event {
    pub(super) fn new(shared: Arc<Shared>, options: EventOptions) -> Self {
        Self { mark: Arc::default(), shared, timing: options.timing }
    }

    /// Whether the work recorded before it has ended; true for one never recorded.
    ///
    /// # Errors
    /// None on this device.
    pub fn is_reached(&self) -> Result<bool> {
        let state = self.mark.lock();
        Ok(state.reached == state.recorded)
    }

    /// Waits on the host until it is reached.
    ///
    /// # Errors
    /// [`Error::Unsupported`] in a host function.
    pub fn synchronize(&self) -> Result<()> {
        super::stream::expect_free()?;
        self.mark.wait(self.mark.latest());
        Ok(())
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
        let (end, start) = (self.mark.time()?, earlier.mark.time()?);
        let ms = |d: Duration| d.as_secs_f32() * 1e3;
        Ok(match end.checked_duration_since(start) {
            Some(after) => ms(after),
            None => -ms(start - end),
        })
    }
}
