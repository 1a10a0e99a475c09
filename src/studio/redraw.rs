//! When to draw the next frame, and how often frames came.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use super::panels::FrameTimes;

/// How often the session is looked at while a step runs.
const POLL: Duration = Duration::from_millis(1);
/// Frames that the history shows.
const HISTORY: usize = 240;

/// Draws no oftener than the display shows, and only when there is something new.
#[derive(Debug)]
pub struct RedrawSchedule {
    /// Between two frames, at least.
    interval: Duration,
    last_frame: Option<Instant>,
    wanted_at: Option<Instant>,
    moments: VecDeque<Instant>,
    /// For the panels.
    pub times: FrameTimes,
}

/// What the event loop does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Draws.
    Draw,
    /// Looks again at this moment.
    WaitUntil(Instant),
    /// Waits for an event.
    Wait,
}

impl Next {
    /// The same, but not later than `moment`.
    pub fn by(self, moment: Option<Instant>) -> Self {
        match (self, moment) {
            (Self::Draw, _) | (_, None) => self,
            (Self::Wait, Some(moment)) => Self::WaitUntil(moment),
            (Self::WaitUntil(other), Some(moment)) => Self::WaitUntil(other.min(moment)),
        }
    }
}

impl RedrawSchedule {
    /// For a display of `millihertz`; 60 Hz where that is unknown.
    pub fn new(millihertz: Option<u32>) -> Self {
        let millihertz = millihertz.filter(|rate| *rate >= 10_000).unwrap_or(60_000);
        Self {
            interval: Duration::from_secs_f64(1e3 / f64::from(millihertz)),
            last_frame: None,
            wanted_at: None,
            moments: VecDeque::new(),
            times: FrameTimes::default(),
        }
    }

    /// Asks for a frame at `moment` or before.
    pub fn want(&mut self, moment: Instant) {
        self.wanted_at = Some(self.wanted_at.map_or(moment, |earlier| earlier.min(moment)));
    }

    /// What to do at `now`; `busy` is whether the session has to be looked at soon.
    pub fn next(&self, now: Instant, busy: bool) -> Next {
        let earliest = self.last_frame.map_or(now, |last| last + self.interval);
        let frame = self.wanted_at.map(|wanted| wanted.max(earliest));
        match frame {
            Some(frame) if frame <= now => Next::Draw,
            Some(frame) if busy => Next::WaitUntil(frame.min(now + POLL)),
            Some(frame) => Next::WaitUntil(frame),
            None if busy => Next::WaitUntil(now + POLL),
            None => Next::Wait,
        }
    }

    /// Notes that a frame starts at `now`.
    pub fn frame(&mut self, now: Instant, draw: Option<Duration>) {
        self.wanted_at = None;
        let elapsed = self.last_frame.replace(now).map(|last| now - last);
        if let Some(elapsed) = elapsed.filter(|elapsed| *elapsed < Duration::from_millis(500)) {
            remember(&mut self.times.frame_ms, elapsed);
        }
        if let Some(draw) = draw {
            remember(&mut self.times.draw_ms, draw);
        }
        self.moments.push_back(now);
        while self.moments.front().is_some_and(|first| now - *first > Duration::from_secs(1)) {
            self.moments.pop_front();
        }
        self.times.per_second = match self.moments.front() {
            Some(first) if now > *first => {
                (self.moments.len() - 1) as f32 / (now - *first).as_secs_f32()
            }
            _ => 0.0,
        };
    }
}

fn remember(history: &mut Vec<f32>, value: Duration) {
    if history.len() == HISTORY {
        history.remove(0);
    }
    history.push(value.as_secs_f32() * 1e3);
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn nothing_to_do_is_waited_for() {
        let redraws = RedrawSchedule::new(None);
        let now = Instant::now();
        assert_eq!(redraws.next(now, false), Next::Wait);
        assert_eq!(redraws.next(now, true), Next::WaitUntil(now + POLL));
    }

    #[test]
    fn frames_keep_the_displays_distance() {
        let mut redraws = RedrawSchedule::new(Some(50_000));
        let start = Instant::now();
        redraws.want(start);
        assert_eq!(redraws.next(start, false), Next::Draw);
        redraws.frame(start, None);
        redraws.want(start + MS);
        assert_eq!(redraws.next(start + MS, false), Next::WaitUntil(start + 20 * MS));
        assert_eq!(redraws.next(start + 20 * MS, false), Next::Draw);
    }

    #[test]
    fn the_earliest_wish_counts() {
        let mut redraws = RedrawSchedule::new(None);
        let start = Instant::now();
        redraws.want(start + 500 * MS);
        redraws.want(start + 100 * MS);
        redraws.want(start + 300 * MS);
        assert_eq!(redraws.next(start, false), Next::WaitUntil(start + 100 * MS));
    }

    #[test]
    fn frames_are_counted_over_a_second() {
        let mut redraws = RedrawSchedule::new(None);
        let start = Instant::now();
        for at in 0..=120_u32 {
            redraws.frame(start + at * 25 * MS, Some(MS));
        }
        assert!((redraws.times.per_second - 40.0).abs() < 0.5, "{}", redraws.times.per_second);
        assert_eq!(redraws.times.frame_ms.len(), 120);
        assert!((redraws.times.frame_ms[0] - 25.0).abs() < 0.01);
    }
}
