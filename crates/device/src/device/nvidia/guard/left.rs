//! What the modules of a stream that are gone have told last.

use std::sync::Mutex;

use crate::device::{Fault, nvidia::lock::lock};

/// The first fault of them that nobody has asked for yet.
#[derive(Debug, Default)]
pub(super) struct Left(Mutex<Option<Fault>>);

impl Left {
    /// What a module that ends has told last.
    pub(super) fn leave(&self, told: Option<&Fault>) {
        let mut left = lock(&self.0);
        *left = left.take().or_else(|| told.cloned());
    }

    /// What was left, once.
    pub(super) fn take(&self) -> Option<Fault> {
        lock(&self.0).take()
    }
}
