//! How finely the view is drawn: less where drawing would hold up the window, all of it once nothing moves.

use std::time::{Duration, Instant};

/// A frame, all of it, that takes longer holds up the window.
const FRAME: Duration = Duration::from_millis(85);
/// What the view's picture gets of that, at least and at most.
const SHARE: [Duration; 2] = [Duration::from_millis(12), Duration::from_millis(70)];
/// Target share of the time that a picture gets; below `QUICK` of it the detail is raised.
const AIM: f32 = 0.65;
const QUICK: f32 = 0.3;
/// Less is not worth looking at.
const LEAST: f32 = 0.2;
/// How long nothing must have moved before a picture is drawn anew with more detail, and what that may take.
const STILL: Duration = Duration::from_millis(300);
const PATIENCE: Duration = Duration::from_secs(1);

/// Chooses [`draw::Frame::detail`](crate::draw::Frame::detail) by how long pictures take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detail {
    level: f32,
    /// What a picture takes with all detail, as far as is known; it goes with the level's square.
    full: Duration,
    /// When the picture changed last.
    moved: Instant,
}

impl Detail {
    /// All detail, until pictures turn out to be slow.
    pub fn new(now: Instant) -> Self {
        Self { level: 1.0, full: Duration::ZERO, moved: now }
    }

    /// The detail of a picture that differs from the one before.
    pub fn moving(&mut self, now: Instant) -> f32 {
        self.moved = now;
        self.level
    }

    /// The detail of a picture that is the same as before but was drawn with `drawn`, if it is to be drawn anew.
    pub fn still(&self, now: Instant, drawn: f32) -> Option<f32> {
        let finer = affordable(self.full, PATIENCE);
        (now >= self.moved + STILL && finer > drawn * 1.2).then_some(finer)
    }

    /// When to look again whether a picture that was drawn with `drawn` can be drawn anew.
    pub fn look_again(&self, drawn: f32) -> Option<Instant> {
        (drawn < 1.0).then_some(self.moved + STILL)
    }

    /// Notes that a picture with `drawn` detail took so long, and the `rest` of its frame so long: the step, the
    /// panels.
    pub fn note(&mut self, took: Duration, drawn: f32, rest: Duration) {
        self.full = took.div_f32(drawn * drawn);
        let [least, most] = SHARE;
        let time = FRAME.saturating_sub(rest).clamp(least, most);
        let now = self.full.mul_f32(self.level * self.level);
        if now > time || now < time.mul_f32(QUICK) {
            self.level = affordable(self.full, time.mul_f32(AIM));
        }
    }
}

/// The detail with which a picture takes so long.
fn affordable(full: Duration, time: Duration) -> f32 {
    if full <= time { 1.0 } else { time.div_duration_f32(full).sqrt().max(LEAST) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_pictures_get_less_detail_and_quick_ones_more() {
        let start = Instant::now();
        let mut detail = Detail::new(start);
        assert!((detail.moving(start) - 1.0).abs() < 1e-6);
        // All of it takes 600 ms.
        let took = |level: f32| Duration::from_secs_f32(0.6 * level * level);
        for rest in [0, 40, 60].map(Duration::from_millis) {
            detail.note(took(1.0), 1.0, rest);
            let level = detail.moving(start);
            assert!(took(level) + rest < FRAME, "{level} beside {rest:?}");
            assert!(took(level) * 2 + rest > FRAME / 2, "{level} beside {rest:?}");
            detail.note(took(level), level, rest);
            assert!((detail.moving(start) - level).abs() < 1e-6, "it does not waver");
        }
        let level = detail.moving(start);
        detail.note(Duration::from_millis(1), level, Duration::ZERO);
        assert!((detail.moving(start) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_slow_step_leaves_the_picture_something() {
        let start = Instant::now();
        let mut detail = Detail::new(start);
        detail.note(Duration::from_millis(100), 1.0, Duration::from_secs(3));
        let level = detail.moving(start);
        let took = Duration::from_millis(100).mul_f32(level * level);
        assert!(took < SHARE[0] && took > SHARE[0] / 2, "{took:?}");
    }

    #[test]
    fn what_stands_still_is_drawn_anew_once() {
        let start = Instant::now();
        let mut detail = Detail::new(start);
        detail.note(Duration::from_millis(500), 1.0, Duration::ZERO);
        let level = detail.moving(start);
        assert_eq!(detail.still(start + STILL / 2, level), None);
        assert_eq!(detail.look_again(level), Some(start + STILL));
        let finer = detail.still(start + STILL, level).unwrap();
        assert!((finer - 1.0).abs() < 1e-6);
        assert_eq!(detail.still(start + STILL, finer), None);
        assert_eq!(detail.look_again(finer), None);
        // What would take minutes stays coarse.
        detail.note(Duration::from_secs(60), 1.0, Duration::ZERO);
        assert!((detail.moving(start) - LEAST).abs() < 1e-6);
        assert_eq!(detail.still(start + STILL, LEAST), None);
    }
}
