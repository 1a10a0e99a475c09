//! The end of a session: what is under way is stopped, where the device can, for to free its memory would wait for it.

use std::{
    mem,
    time::{Duration, Instant},
};

use super::Session;
use crate::state::free;

impl Session {
    /// Whether dropping it would wait for a step, perhaps for ever: one under way that cannot be stopped.
    pub fn is_stuck(&self) -> bool {
        let other =
            self.variants.companion.as_ref().is_some_and(|companion| companion.other.is_stuck());
        self.in_flight.is_some() || other
    }

    /// Stops what is under way, and waits for its end, but no longer than `longest`. Returns whether it has ended, so
    /// that dropping the session waits for nothing.
    pub fn end_within(&mut self, longest: Duration) -> bool {
        self.pause();
        self.cancel_in_flight();
        let start = Instant::now();
        // An error says that the device runs nothing any more.
        while self.in_flight.is_some() && matches!(self.try_complete(), Ok(false)) {
            if start.elapsed() >= longest {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        !self.is_stuck()
    }

    /// Drops it when nothing of it is under way, without waiting: what it has of the device and of the compiler a
    /// thread drops, and what OpenGL has of it goes here, for that belongs to this thread.
    pub(super) fn leave(mut self) {
        self.worker.leave();
        mem::take(&mut self.state.resources).leave_all();
        let measured = (mem::take(&mut self.statistics), mem::take(&mut self.plots));
        free((self.history.take(), self.edit.migration.take(), measured));
    }

    fn cancel_in_flight(&self) {
        if self.in_flight.is_some()
            && let Err(error) = self.stream.cancel()
        {
            tracing::debug!("the step under way is waited for: {error}");
        }
    }
}

impl Drop for Session {
    /// A step under way is stopped, where the device can: to free its memory would wait for its end.
    fn drop(&mut self) {
        self.cancel_in_flight();
    }
}
