//! The device's errors: how they name it.

use crate::device::{Error, Result};

/// How messages name the device.
pub(super) const NAME: &str = "the CPU device";

/// What cannot be done here.
pub(super) fn unsupported<T>(operation: &'static str) -> Result<T> {
    Err(Error::Unsupported { operation, device: NAME.into() })
}
