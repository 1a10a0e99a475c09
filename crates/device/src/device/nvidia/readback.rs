//! Copies on their way to the host.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use super::{Stream, event, launches::Mark, lock::lock, staging::StagingBuffer};
use crate::device::Result;

/// Bytes on their way to the host, through page-locked memory.
#[derive(Debug)]
pub struct Readback {
    stream: Stream,
    /// Where the copy goes; `None` for no bytes at all, and once they are fetched.
    block: Option<StagingBuffer>,
    bytes: usize,
    mark: Mark,
    /// Which of the stream's copies it is.
    number: u64,
}

impl Readback {
    /// The copy into `block` is on `stream`, and its event behind it; `mark` is of the same moment.
    pub(super) fn new(
        stream: &Stream,
        block: Option<StagingBuffer>,
        bytes: usize,
        mark: Mark,
    ) -> Self {
        Self { stream: stream.clone(), block, bytes, mark, number: stream.copies().begin() }
    }

    /// Whether [`Readback::wait_with`] would return at once.
    ///
    /// # Errors
    /// An error of the work before the copy.
    pub fn is_ready(&self) -> Result<bool> {
        let Some(block) = &self.block else { return Ok(true) };
        let context = self.stream.context();
        context.activate()?;
        Ok(self.stream.copies().has_ended(self.number)
            || event::is_reached(context, block.reached())?)
    }

    /// The bytes, once they are there.
    ///
    /// # Errors
    /// An error of the work before the copy.
    pub fn wait(self) -> Result<Vec<u8>> {
        self.wait_with(<[u8]>::to_vec)
    }

    /// What `read` makes of the bytes, once they are there.
    ///
    /// # Errors
    /// As [`Readback::wait`].
    pub fn wait_with<R>(mut self, read: impl FnOnce(&[u8]) -> R) -> Result<R> {
        let context = self.stream.context();
        let Some(block) = &self.block else { return Ok(read(&[])) };
        context.activate()?;
        event::synchronize(context, block.reached())?;
        let is_latest = {
            let mut launches = lock(context.launches());
            launches.ended(self.mark);
            launches.is_latest(self.mark)
        };
        // The fault of a kernel behind it is not the copy's to tell.
        if is_latest {
            self.stream.check_guard()?;
        }
        // SAFETY: the copy of so many bytes into the block has ended.
        let result = read(unsafe { block.bytes(self.bytes) });
        if let Some(block) = self.block.take() {
            self.stream.device().staging().give_back(context, block);
        }
        Ok(result)
    }
}

impl Drop for Readback {
    fn drop(&mut self) {
        if let Some(block) = self.block.take() {
            self.stream.device().staging().give_back_busy(block);
        }
    }
}
