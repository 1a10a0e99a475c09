//! The end of B.

use super::companion::Companion;
use crate::{session::Error, state::free};

impl Companion {
    /// Nobody wants B any more.
    pub(in crate::session) fn end(&mut self) {
        self.is_ending = true;
        self.other.worker.cancel();
    }

    /// Whether B does nothing any more, so that it can be dropped without waiting for it.
    pub(in crate::session) fn has_come_to_rest(&mut self) -> Result<bool, Error> {
        self.other.try_complete()?;
        let is_idle = self.other.in_flight.is_none() && self.other.stopwatch.is_reached()?;
        Ok(is_idle && !self.other.worker.is_busy())
    }

    /// Drops it, without waiting, when it does nothing any more.
    pub(in crate::session) fn leave(self) {
        let Self { other, stage, pool, .. } = self;
        other.leave();
        free((stage, pool));
    }
}
