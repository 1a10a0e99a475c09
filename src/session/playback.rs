//! Which steps come next, and what enters them.

use super::{Error, Reset, Session};
use crate::scene::Keys;

impl Session {
    /// Lets steps follow one another. Where a past moment is shown they begin there, beside those that followed on it
    /// before.
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
        self.leave_past();
        self.single_steps = self.single_steps.saturating_add(1);
    }

    /// Starts anew: the reset passes run before the next step.
    pub fn reset(&mut self) {
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
