//! Moments on a stream.

use super::{Result, cpu, each, nvidia};

/// How an event is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventOptions {
    /// Whether it keeps the time at which it is reached; without, it costs less.
    pub timing: bool,
    /// Whether [`Event::synchronize`] lets the thread sleep, where the driver would spin to be sooner.
    pub blocking_wait: bool,
}

impl Default for EventOptions {
    /// With timing.
    fn default() -> Self {
        Self { timing: true, blocking_wait: false }
    }
}

/// A moment on a stream, with the device's time at which it was reached.
#[derive(Debug)]
pub enum Event {
    /// Of an NVIDIA GPU.
    Nvidia(nvidia::Event),
    /// Of the CPU device.
    Cpu(cpu::Event),
}

impl Event {
    /// Whether the work recorded before it has ended; true for one never recorded.
    ///
    /// # Errors
    /// [`Error::Call`](super::Error::Call) from the driver.
    pub fn is_reached(&self) -> Result<bool> {
        each!(self, e => e.is_reached())
    }

    /// Waits on the host until it is reached.
    ///
    /// # Errors
    /// [`Error::Call`](super::Error::Call) from the driver.
    pub fn synchronize(&self) -> Result<()> {
        each!(self, e => e.synchronize())
    }

    /// Milliseconds on the device from `earlier` to this event; both must have been reached.
    ///
    /// # Errors
    /// [`Error::NoTiming`](super::Error::NoTiming) when either was made without,
    /// [`Error::NotReached`](super::Error::NotReached) when either was not recorded or not reached yet,
    /// [`Error::WrongDevice`](super::Error::WrongDevice) for events of two devices.
    pub fn elapsed_ms(&self, earlier: &Self) -> Result<f32> {
        match (self, earlier) {
            (Self::Nvidia(end), Self::Nvidia(start)) => end.elapsed_ms(start),
            (Self::Cpu(end), Self::Cpu(start)) => end.elapsed_ms(start),
            _ => Err(super::Error::WrongDevice { operation: "event time" }),
        }
    }
}
