//! Moments on a stream.

use super::{Result, cpu, each, nvidia};

/// How an event is made.
///
/// ```
/// use warpaint::device::{Device, Error, EventOptions};
///
/// let device = Device::cpu()?;
/// let (stream, options) = (device.stream()?, EventOptions { timing: false, ..Default::default() });
/// let (start, end) = (device.event()?, device.event_with(options)?);
/// stream.record(&start)?;
/// stream.record(&end)?;
/// end.synchronize()?;
/// assert!(matches!(end.elapsed_ms(&start), Err(Error::NoTiming)));
/// # Ok::<(), warpaint::device::Error>(())
/// ```
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
///
/// ```
/// use warpaint::device::{Device, Fill};
///
/// let device = Device::cpu()?;
/// let (stream, memory) = (device.stream()?, device.alloc(1 << 20)?);
/// let (start, end) = (device.event()?, device.event()?);
/// stream.record(&start)?;
/// stream.fill(memory.slice(..)?, Fill::U32(1))?;
/// stream.record(&end)?;
/// end.synchronize()?;
/// assert!(end.elapsed_ms(&start)? > 0.0); // how long the fill took
/// # Ok::<(), warpaint::device::Error>(())
/// ```
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
    /// ```
    /// # use std::sync::mpsc;
    /// # use warpaint::device::Device;
    /// # let device = Device::cpu()?;
    /// # let (stream, event, (go, wait)) = (device.stream()?, device.event()?, mpsc::channel());
    /// assert!(event.is_reached()?);
    /// stream.host_function(move || wait.recv().unwrap_or(()))?;
    /// stream.record(&event)?;
    /// assert!(!event.is_reached()?); // the function waits for `go`
    /// go.send(())?;
    /// event.synchronize()?;
    /// assert!(event.is_reached()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Call`](super::Error::Call) from the driver.
    pub fn is_reached(&self) -> Result<bool> {
        each!(self, e => e.is_reached())
    }

    /// Waits on the host until it is reached.
    ///
    /// ```
    /// # use std::sync::mpsc;
    /// # use warpaint::device::Device;
    /// # let device = Device::cpu()?;
    /// # let (stream, event, (go, wait)) = (device.stream()?, device.event()?, mpsc::channel());
    /// stream.record(&event)?;
    /// stream.host_function(move || wait.recv().unwrap_or(()))?;
    /// event.synchronize()?; // not for the function, which comes later
    /// assert!(!stream.is_idle()?);
    /// go.send(())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Call`](super::Error::Call) from the driver.
    pub fn synchronize(&self) -> Result<()> {
        each!(self, e => e.synchronize())
    }

    /// Milliseconds on the device from `earlier` to this event; both must have been reached.
    ///
    /// ```
    /// # use warpaint::device::{Device, Error};
    /// # let device = Device::cpu()?;
    /// # let stream = device.stream()?;
    /// let (start, end) = (device.event()?, device.event()?);
    /// stream.record(&start)?;
    /// assert!(matches!(end.elapsed_ms(&start), Err(Error::NotReached))); // not recorded
    /// stream.record(&end)?;
    /// end.synchronize()?;
    /// assert_eq!(start.elapsed_ms(&end)?, -end.elapsed_ms(&start)?);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoTiming`](super::Error::NoTiming) when either was made without,
    /// [`Error::NotReached`](super::Error::NotReached) when either was not recorded or not reached yet,
    /// [`Error::WrongDevice`](super::Error::WrongDevice) for events of two devices.
    pub fn elapsed_ms(&self, earlier: &Self) -> Result<f32> {
        match (self, earlier) {
            (Self::Nvidia(end), Self::Nvidia(start)) => end.elapsed_ms(start),
            (Self::Cpu(end), Self::Cpu(start)) => end.elapsed_ms(start),
            (Self::Nvidia(_) | Self::Cpu(_), _) => {
                Err(super::Error::WrongDevice { operation: "event time" })
            }
        }
    }
}
