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
        self.count_at(Instant::now());
    }

    fn count_at(&mut self, now: Instant) {
        self.moments.push_back(now);
        // The last two tell the rate of what happens less often than that.
        while self.moments.len() > 2 && now - self.moments[0] > WINDOW {
            self.moments.pop_front();
        }
    }

    /// Times a second, from the distances between the moments in the window.
    pub(super) fn per_second(&self) -> f32 {
        self.at(Instant::now())
    }

    /// What comes later than the last ones did makes it slower.
    fn at(&self, now: Instant) -> f32 {
        match (self.moments.front(), self.moments.back()) {
            (Some(&first), Some(&last)) if last > first => {
                let count = (self.moments.len() - 1) as f32;
                let span = (last - first).as_secs_f32();
                let late = now.saturating_duration_since(last).as_secs_f32() - span / count;
                count / (span + late.max(0.0))
            }
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_take_longer_than_the_window_have_a_rate() {
        let (mut rate, begun) = (Rate::default(), Instant::now());
        let at = |ms: u64| begun + Duration::from_millis(ms);
        assert_eq!(rate.at(at(0)), 0.0);
        for step in 0..4 {
            rate.count_at(at(2000 * step));
        }
        assert!((rate.at(at(6000)) - 0.5).abs() < 1e-6, "{}", rate.at(at(6000)));
        assert!((rate.at(at(7000)) - 0.5).abs() < 1e-6, "the next one is not late");
        assert!(rate.at(at(16_000)) < 0.1001, "one that is late slows it: {}", rate.at(at(16_000)));
        // Quick ones after slow ones are those of the last second.
        for step in 0..200 {
            rate.count_at(at(20_000 + 10 * step));
        }
        assert!((rate.at(at(21_990)) - 100.0).abs() < 0.1, "{}", rate.at(at(21_990)));
    }
}
