//! Locking a mutex.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A mutex's content, also where a thread panicked with it: every change to it here is whole or not there.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
