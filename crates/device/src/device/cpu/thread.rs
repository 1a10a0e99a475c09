//! The device's own threads.

#![expect(unsafe_code, reason = "the priority of a thread is set through the C library")]

use std::{
    cell::Cell,
    panic::{self, AssertUnwindSafe},
};

use super::error::unsupported;
use crate::device::{Error, Result};

/// Stack of the threads that run blocks.
pub(super) const STACK_BYTES: usize = 64 << 20;

/// How much less than other threads they get where the processor is short (`nice`): the interface and the drawing
/// of the last step go on smoothly while all cores run kernels. A processor that is free is theirs as any other's.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

thread_local! {
    /// Whether this thread is doing a queue's work now.
    static WORKING: Cell<bool> = const { Cell::new(false) };
}

/// Starts a thread of the device.
///
/// # Errors
/// [`Error::OutOfMemory`] when the host gives none.
pub(super) fn spawn(name: String, work: impl FnOnce() + Send + 'static) -> Result<()> {
    let work = move || {
        lower_priority();
        work();
    };
    let thread = std::thread::Builder::new().name(name).stack_size(STACK_BYTES).spawn(work);
    thread.map(drop).map_err(|_| Error::OutOfMemory {
        device: "the host".into(),
        requested: STACK_BYTES as u64,
        free: 0,
    })
}

/// Does a piece of work. A panic is a mistake of ours: it becomes an error, so that nobody waits for ever for a thread
/// that is gone.
pub(super) fn guarded(work: impl FnOnce() -> Result<()>) -> Result<()> {
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    let operation = "this kernel: running it failed by a mistake in the device itself";
    done.unwrap_or_else(|_| unsupported(operation))
}

#[cfg(target_os = "linux")]
fn lower_priority() {
    // SAFETY: takes numbers alone; 0 is the calling thread (setpriority(2): on Linux the value is a thread's own).
    let result = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICENESS) };
    if result != 0 {
        tracing::debug!("the priority of a device thread stays as it was");
    }
}

#[cfg(not(target_os = "linux"))]
fn lower_priority() {}

/// Whether this thread is doing a queue's work now.
pub(super) fn is_working() -> bool {
    WORKING.get()
}

/// Does a queue's work, or a part of it, on this thread.
pub(super) fn working<T>(work: impl FnOnce() -> T) -> T {
    let outer = WORKING.replace(true);
    let result = work();
    WORKING.set(outer);
    result
}

/// That this thread may wait for a device: the one that does a queue's work would wait for itself.
pub(super) fn expect_free() -> Result<()> {
    match is_working() {
        false => Ok(()),
        true => unsupported("waiting in a host function"),
    }
}
