//! Giving memory back to a device: that waits for all that is done there, so a thread does it.

use std::thread::{self, JoinHandle};

/// Drops `what` on a thread; at once where the system has none to spare.
pub(crate) fn free(what: impl Send + 'static) -> Option<JoinHandle<()>> {
    thread::Builder::new().name("free".to_owned()).spawn(move || drop(what)).ok()
}

/// Keeps something alive, and lets a thread drop it. As the last field of what has it, too, it is what drops it last.
pub(crate) struct Aside<T: Send + 'static>(Option<T>);

impl<T: Send + 'static> Aside<T> {
    pub(crate) fn new(what: T) -> Self {
        Self(Some(what))
    }
}

impl<T: Send + 'static> Drop for Aside<T> {
    fn drop(&mut self) {
        self.0.take().map(free);
    }
}
