//! Giving memory back to a device: that waits for all that is done there, so a thread does it.

use std::thread::{self, JoinHandle};

/// Drops `what` on a thread; at once where the system has none to spare.
pub(crate) fn free(what: impl Send + 'static) -> Option<JoinHandle<()>> {
    thread::Builder::new().name("free".to_owned()).spawn(move || drop(what)).ok()
}
