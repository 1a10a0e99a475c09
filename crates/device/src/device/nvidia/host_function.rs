//! Functions of the host, called in a stream's order by a thread of the driver.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::{
    cell::Cell,
    ffi::c_void,
    panic::{self, AssertUnwindSafe},
    sync::Arc,
};

use super::{Stream, context::Late};
use crate::device::{Error, Result};

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
struct Call {
    function: Box<dyn FnOnce() + Send>,
    /// The stream's, for a panic. Not the stream itself, which must not end on that thread.
    late: Arc<Late>,
}

impl Stream {
    /// Calls a function of the host behind the work that is on the stream now.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn host_function(&self, function: Box<dyn FnOnce() + Send>) -> Result<()> {
        let context = self.context();
        context.activate()?;
        let call = Box::into_raw(Box::new(Call { function, late: self.late().clone() }));
        let data = call.cast::<c_void>();
        // SAFETY: the stream is alive; `run` gets `data` once, on whatever thread, which its parts may go to.
        let status = unsafe { context.driver().cuLaunchHostFunc(self.raw(), Some(run), data) };
        context.check(status).inspect_err(|_| {
            // SAFETY: the driver refused it, so nobody else has it.
            drop(unsafe { Box::from_raw(call) });
        })
    }
}

/// Calls the function behind `data`, a [`Call`] that is this one's own.
unsafe extern "C" fn run(data: *mut c_void) {
    // SAFETY: made by `Box::into_raw` in `host_function`, for this one call.
    let Call { function, late } = unsafe { *Box::from_raw(data.cast::<Call>()) };
    RUNNING.set(true);
    let done = panic::catch_unwind(AssertUnwindSafe(function));
    RUNNING.set(false);
    if let Err(payload) = done {
        late.put(Error::panicked(payload));
    }
}
