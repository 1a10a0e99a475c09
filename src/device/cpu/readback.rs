//! Copies on their way to the host.

use super::stream::Pending;
use crate::device::Result;

/// Bytes on their way to the host, in the order of the stream that copies them.
#[derive(Debug)]
pub struct Readback(pub(super) Pending<Vec<u8>>);

impl Readback {
    /// Whether [`Readback::wait_with`] would return at once.
    ///
    /// # Errors
    /// None on this device.
    pub fn is_ready(&self) -> Result<bool> {
        Ok(self.0.is_ready())
    }

    /// What `read` makes of the bytes, once they are there.
    ///
    /// # Errors
    /// An error of the stream before the copy that was not reported yet.
    pub fn wait_with<R>(self, read: impl FnOnce(&[u8]) -> R) -> Result<R> {
        Ok(read(&self.0.wait()?.unwrap_or_default()))
    }
}
