//! Which steps come next, and what enters them.

use std::time::{Duration, Instant};

use super::{Error, Reset, Session, in_flight::InFlight};
use crate::scene::Keys;

/// Even a scene whose step is long in its own time is stepped so often in real time.
const SLOWEST: Duration = Duration::from_millis(250);

/// Which steps follow one another, and when.
pub(super) struct Playback {
    pub(super) playing: bool,
    /// When the next step of a scene that plays in real time is due.
    pub(super) due: Instant,
    /// How fast it plays in real time, as a part of the usual speed.
    pub(super) speed: f64,
    /// Steps that were asked for one by one.
    pub(super) single_steps: u32,
}

impl Playback {
    /// Of a scene that plays at once.
    pub(super) fn new() -> Self {
        Self { playing: true, due: Instant::now(), speed: 1.0, single_steps: 0 }
    }

    /// Whether no step is to come.
    pub(super) fn stands(&self) -> bool {
        !self.playing && self.single_steps == 0
    }

    /// Whether the time for the next step of so many seconds has come. A scene that is too slow for real time does not
    /// catch up.
    fn is_due(&mut self, dt: f64) -> bool {
        let now = Instant::now();
        if now < self.due {
            return false;
        }
        let dt = Duration::try_from_secs_f64(dt).unwrap_or_default();
        let dt = Duration::try_from_secs_f64(dt.min(SLOWEST).as_secs_f64() / self.speed);
        self.due = (self.due + dt.unwrap_or(SLOWEST)).max(now);
        true
    }
}

impl Session {
    /// Whether the time for the next step has come, where the scene plays in real time.
    pub(super) fn is_due(&mut self) -> bool {
        !self.options.real_time || self.playback.is_due(self.state.inputs.dt)
    }

    /// Lets steps follow one another. Where a past moment is shown, or sought, they begin there, beside those that
    /// followed on it before.
    pub fn play(&mut self) {
        self.leave_past();
        self.playback.playing = true;
    }

    /// Stops after the step under way.
    pub fn pause(&mut self) {
        self.playback.playing = false;
        self.rate.restart();
    }

    /// Asks for one step.
    pub fn step_once(&mut self) {
        self.step_often(1);
    }

    /// Asks for so many steps, which follow one another as fast as they can.
    pub fn step_often(&mut self, count: u32) {
        self.leave_past();
        self.playback.single_steps = self.playback.single_steps.saturating_add(count);
    }

    /// Asks for the steps up to `step`, and no others.
    pub(super) fn run_to(&mut self, step: u64) {
        self.leave_past();
        let is_step = self.in_flight.as_ref().is_some_and(InFlight::is_step);
        let start = match self.seek.sought {
            Some(sought) => sought.at.step,
            None if self.resets.next == Reset::All => 0,
            None => self.state.inputs.step,
        };
        let left = step.saturating_sub(start + u64::from(is_step));
        self.playback.single_steps = u32::try_from(left).unwrap_or(u32::MAX);
    }

    /// How fast a scene goes that plays in real time: 1 is as its `dt` has it.
    pub fn set_speed(&mut self, speed: f64) {
        if speed.is_finite() && speed > 0.0 {
            self.playback.speed = speed;
            self.playback.due = Instant::now();
        }
    }

    /// Starts anew with another seed.
    pub fn reset_with(&mut self, seed: u64) {
        self.playback.single_steps = 0;
        self.reset();
        self.state.inputs.seed = seed;
    }

    /// Starts anew: the reset passes run before the next step.
    pub fn reset(&mut self) {
        self.seek.sought = None;
        self.leave_past();
        self.abandon_migration();
        self.forget_rename();
        self.resets.next = Reset::All;
        self.fault = None;
    }

    /// Stops the step under way, where the device can; it ends with a fault.
    ///
    /// # Errors
    /// [`crate::device::Error::Unsupported`] on an NVIDIA device.
    pub fn cancel(&mut self) -> Result<(), Error> {
        Ok(self.stream.cancel()?)
    }

    /// The state of pointer and keys, for the next step.
    pub fn set_input(&mut self, mouse: [f32; 4], keys: Keys) {
        self.state.inputs.mouse = mouse;
        self.state.inputs.keys = keys;
    }
}
