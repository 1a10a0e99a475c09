//! Errors that come where nobody can be told of them.

use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
};

use super::lock::lock;
use crate::device::{Error, Result};

/// The first error of a drop, or of a stream's host functions, that no call has returned yet, and whether there is one.
#[derive(Debug, Default)]
pub(super) struct Late {
    error: Mutex<Option<Error>>,
    any: AtomicBool,
}

impl Late {
    /// Keeps an error for a later call.
    pub(super) fn put(&self, error: Error) {
        lock(&self.error).get_or_insert(error);
        self.any.store(true, Ordering::Relaxed);
    }

    /// The error, once.
    #[inline]
    pub(super) fn check(&self) -> Result<()> {
        if self.any.load(Ordering::Relaxed) { self.take() } else { Ok(()) }
    }

    #[cold]
    fn take(&self) -> Result<()> {
        self.any.store(false, Ordering::Relaxed);
        lock(&self.error).take().map_or(Ok(()), Err)
    }
}
