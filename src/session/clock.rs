//! How many steps a second.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// The time over which the rate is averaged.
const WINDOW: Duration = Duration::from_secs(1);

/// Counts events of the last second.
#[derive(Debug, Default)]
pub(super) struct Rate {
    moments: VecDeque<Instant>,
}

impl Rate {
    /// Forgets everything.
    pub(super) fn restart(&mut self) {
        self.moments.clear();
    }

    /// Notes that it happened now.
    pub(super) fn count(&mut self) {
        let now = Instant::now();
        self.moments.push_back(now);
        while self.moments.front().is_some_and(|&first| now - first > WINDOW) {
            self.moments.pop_front();
        }
    }

    /// Times a second, from the distances between the moments in the window.
    pub(super) fn per_second(&self) -> f32 {
        match (self.moments.front(), self.moments.back()) {
            (Some(&first), Some(&last)) if last > first => {
                (self.moments.len() - 1) as f32 / (last - first).as_secs_f32()
            }
            _ => 0.0,
        }
    }
}
