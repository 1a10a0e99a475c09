//! The content of a checkpoint, on its way to the host and there.

use std::sync::Arc;

use super::{
    Checkpoint, Subject,
    checkpoint::Part,
    sending::{Sending, bring},
};
use crate::{
    device::{Device, Readback},
    interop::Result,
    scene::Inputs,
};

/// The content of a checkpoint on its way to the host.
pub(crate) struct Download {
    inputs: Inputs,
    parts: Arc<[Part]>,
    content: Content,
}

/// The bytes.
pub(super) enum Content {
    Sent(Sending),
    /// Where the system had no thread to spare.
    Coming(Readback),
    Here(Arc<Vec<u8>>),
}

/// The content of a checkpoint with the host: a plain value, which any thread may have.
#[derive(Clone)]
pub(crate) struct HostCopy {
    /// What enters the next step.
    pub(crate) inputs: Inputs,
    parts: Arc<[Part]>,
    bytes: Arc<Vec<u8>>,
}

impl Download {
    pub(super) fn new(inputs: Inputs, parts: Arc<[Part]>, content: Content) -> Self {
        Self { inputs, parts, content }
    }

    /// Whether [`Download::wait`] returns at once.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn is_ready(&self) -> Result<bool> {
        match &self.content {
            Content::Sent(sending) => Ok(sending.has_arrived()),
            Content::Coming(readback) => Ok(readback.is_ready()?),
            Content::Here(_) => Ok(true),
        }
    }

    /// The content, when it has come.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn wait(self) -> Result<HostCopy> {
        let bytes = match self.content {
            Content::Sent(sending) => Arc::new(sending.wait()?.bytes),
            Content::Coming(readback) => Arc::new(readback.wait()?),
            Content::Here(bytes) => bytes,
        };
        Ok(HostCopy { inputs: self.inputs, parts: self.parts, bytes })
    }
}

impl HostCopy {
    pub(super) fn new(inputs: Inputs, parts: Arc<[Part]>, bytes: Arc<Vec<u8>>) -> Self {
        Self { inputs, parts, bytes }
    }

    /// Whether it is the same copy.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.bytes, &other.bytes)
    }

    /// A checkpoint with this content whose bytes are on `device`; for threads that may wait.
    ///
    /// # Errors
    /// The device's; [`crate::device::Error::OutOfMemory`] where there is no room for it.
    pub(crate) fn bring_to(&self, device: &Device) -> Result<Checkpoint> {
        let block = bring(&self.bytes, device)?;
        Ok(Checkpoint::on_device(self.inputs.clone(), self.parts.clone(), block))
    }

    /// All parts.
    pub(crate) fn contents(&self) -> Vec<(&Subject, &[u8])> {
        let content = |part: &'_ Part| self.bytes.get(part.range());
        self.parts.iter().filter_map(|part| Some((&part.of, content(part)?))).collect()
    }
}
