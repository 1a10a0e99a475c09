//! Functions of the host, called in a stream's order by a thread of the driver.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::{
    cell::Cell,
    ffi::c_void,
    panic::{self, AssertUnwindSafe},
    sync::Arc,
};

use super::late::Late;
use crate::device::Error;

thread_local! {
    /// Whether this thread runs a host function now.
    static RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread runs a host function, in which the driver must not be called.
#[inline]
pub(super) fn is_running() -> bool {
    RUNNING.get()
}

/// What the driver's thread is given.
pub(super) struct Call {
    pub(super) function: Box<dyn FnOnce() + Send>,
    /// The stream's, for a panic. Not the stream itself, which must not end on that thread.
    pub(super) late: Arc<Late>,
}

/// Calls the function behind `data`, a [`Call`] that is this one's own.
///
/// # Safety
/// `data` must come from `Box::into_raw` of a [`Call`] that nobody else has.
pub(super) unsafe extern "C" fn run(data: *mut c_void) {
    // SAFETY: made by `Box::into_raw`, for this one call.
    let Call { function, late } = unsafe { *Box::from_raw(data.cast::<Call>()) };
    RUNNING.set(true);
    let done = panic::catch_unwind(AssertUnwindSafe(function));
    RUNNING.set(false);
    if let Err(payload) = done {
        late.put(Error::panicked(payload));
    }
}
