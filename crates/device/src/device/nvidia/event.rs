//! Events: moments on a stream, with the GPU's time.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::{ptr, sync::Mutex};

use cudarc::driver::sys;

use super::{
    Device,
    context::CudaContext,
    driver::{Handle, code},
    launches::Mark,
    lock::lock,
};
use crate::device::{Error, EventOptions, Result};

/// A moment on a stream. Its times have a resolution of about half a microsecond.
#[derive(Debug)]
pub struct Event {
    device: Device,
    raw: Handle<sys::CUevent_st>,
    timing: bool,
    /// The launches before it, until they are known to have ended.
    mark: Mutex<Option<Mark>>,
}

impl Device {
    /// A new event.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn event(&self, options: EventOptions) -> Result<Event> {
        let bit = |wanted, flag: sys::CUevent_flags| if wanted { flag as u32 } else { 0 };
        let flags = bit(options.blocking_wait, sys::CUevent_flags::CU_EVENT_BLOCKING_SYNC)
            | bit(!options.timing, sys::CUevent_flags::CU_EVENT_DISABLE_TIMING);
        self.event_of(flags, options.timing)
    }

    /// A new event with these flags of the driver.
    pub(super) fn event_of(&self, flags: u32, timing: bool) -> Result<Event> {
        let context = self.context();
        context.activate()?;
        let raw = create(context, flags)?;
        Ok(Event { device: self.clone(), raw, timing, mark: Mutex::new(None) })
    }
}

impl Event {
    /// One that came from elsewhere, without timing; it is destroyed as any other.
    pub(super) fn untimed(device: &Device, raw: Handle<sys::CUevent_st>) -> Self {
        Self { device: device.clone(), raw, timing: false, mark: Mutex::new(None) }
    }

    /// The driver's handle of it (`CUevent`), for other libraries; it is valid for as long as the event.
    pub fn handle(&self) -> u64 {
        self.raw().addr() as u64
    }

    /// Whether the work recorded before it has ended; true for one never recorded.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn is_reached(&self) -> Result<bool> {
        let context = self.device.context();
        context.activate()?;
        let reached = is_reached(context, self.raw.0)?;
        if reached {
            self.note_reached();
        }
        Ok(reached)
    }

    /// Waits on the host until it is reached.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn synchronize(&self) -> Result<()> {
        let context = self.device.context();
        context.activate()?;
        synchronize(context, self.raw.0)?;
        self.note_reached();
        Ok(())
    }

    /// Milliseconds from `earlier` to this event.
    ///
    /// # Errors
    /// [`Error::NoTiming`], [`Error::NotReached`], [`Error::WrongDevice`], [`Error::Call`].
    pub fn elapsed_ms(&self, earlier: &Self) -> Result<f32> {
        if self.device.id() != earlier.device.id() {
            return Err(Error::WrongDevice { operation: "event time" });
        }
        if !self.timing || !earlier.timing {
            return Err(Error::NoTiming);
        }
        let context = self.device.context();
        context.activate()?;
        let mut elapsed_ms = 0.0;
        // SAFETY: both events are alive; `elapsed_ms` is written before the call returns.
        let status = unsafe {
            context.driver().cuEventElapsedTime(&raw mut elapsed_ms, earlier.raw.0, self.raw.0)
        };
        match status.code {
            // Both have timing, so the handle is invalid only where it was not recorded.
            code::NOT_READY | code::INVALID_HANDLE => Err(Error::NotReached),
            _ => context.check(status).map(|()| elapsed_ms),
        }
    }

    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    pub(super) fn raw(&self) -> sys::CUevent {
        self.raw.0
    }

    /// It was recorded behind the launches before `mark`.
    pub(super) fn set_mark(&self, mark: Mark) {
        *lock(&self.mark) = Some(mark);
    }

    fn note_reached(&self) {
        if let Some(mark) = lock(&self.mark).take() {
            lock(self.device.context().launches()).ended(mark);
        }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let context = self.device.context();
        context.on_drop(|| destroy(context, self.raw));
    }
}

/// A new event; the context is current.
fn create(context: &CudaContext, flags: u32) -> Result<Handle<sys::CUevent_st>> {
    let mut raw = ptr::null_mut();
    // SAFETY: `raw` is written before the call returns.
    context.check(unsafe { context.driver().cuEventCreate(&raw mut raw, flags) })?;
    Ok(Handle(raw))
}

/// A new event that only says whether it is reached; the context is current.
pub(super) fn create_untimed(context: &CudaContext) -> Result<Handle<sys::CUevent_st>> {
    create(context, sys::CUevent_flags::CU_EVENT_DISABLE_TIMING as u32)
}

/// Ends an event that nothing uses any more; the driver keeps what pending work needs of it.
pub(super) fn destroy(context: &CudaContext, event: Handle<sys::CUevent_st>) -> Result<()> {
    // SAFETY: created by `cuEventCreate`, and the caller has no other use for it.
    context.check(unsafe { context.driver().cuEventDestroy_v2(event.0) })
}

/// Whether a living event is reached.
pub(super) fn is_reached(context: &CudaContext, event: sys::CUevent) -> Result<bool> {
    // SAFETY: the event is alive.
    let status = unsafe { context.driver().cuEventQuery(event) };
    match status.code {
        code::NOT_READY => Ok(false),
        _ => context.check(status).map(|()| true),
    }
}

/// Waits until a living event is reached.
pub(super) fn synchronize(context: &CudaContext, event: sys::CUevent) -> Result<()> {
    // SAFETY: the event is alive.
    context.check(unsafe { context.driver().cuEventSynchronize(event) })
}
