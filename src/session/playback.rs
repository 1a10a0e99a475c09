//! Which steps come next, and what enters them.

use std::time::Instant;

use super::{Error, Reset, Session, in_flight::InFlight};
use crate::scene::Keys;

impl Session {
    /// Lets steps follow one another. Where a past moment is shown, or sought, they begin there, beside those that
    /// followed on it before.
    pub fn play(&mut self) {
        self.leave_past();
        self.playing = true;
    }

    /// Stops after the step under way.
    pub fn pause(&mut self) {
        self.playing = false;
        self.rate.restart();
    }

    /// Asks for one step.
    pub fn step_once(&mut self) {
        self.step_often(1);
    }

    /// Asks for so many steps, which follow one another as fast as they can.
    pub fn step_often(&mut self, count: u32) {
        self.leave_past();
        self.single_steps = self.single_steps.saturating_add(count);
    }

    /// Asks for the steps up to `step`, and no others.
    pub(super) fn run_to(&mut self, step: u64) {
        self.leave_past();
        let is_step = self.in_flight.as_ref().is_some_and(InFlight::is_step);
        let start = match self.sought {
            Some(sought) => sought.at.step,
            None if self.reset == Reset::All => 0,
            None => self.state.inputs.step,
        };
        let left = step.saturating_sub(start + u64::from(is_step));
        self.single_steps = u32::try_from(left).unwrap_or(u32::MAX);
    }

    /// How fast a scene goes that plays in real time: 1 is as its `dt` has it.
    pub fn set_speed(&mut self, speed: f64) {
        if speed.is_finite() && speed > 0.0 {
            self.speed = speed;
            self.due = Instant::now();
        }
    }

    /// Starts anew with another seed.
    pub fn reset_with(&mut self, seed: u64) {
        self.single_steps = 0;
        self.reset();
        self.state.inputs.seed = seed;
    }

    /// Starts anew: the reset passes run before the next step.
    pub fn reset(&mut self) {
        self.sought = None;
        self.leave_past();
        self.abandon_migration();
        self.forget_rename();
        self.reset = Reset::All;
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
