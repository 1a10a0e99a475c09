//! The content of a checkpoint, on its way to the host and there.

use std::sync::Arc;

use super::{
    part::{Part, Subject},
    sending::Sending,
};
use crate::{
    device::{Readback, Region, Stream},
    interop::{Error, Result},
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
    /// Part by part, where the system had no thread to spare, or the device no room for a copy.
    Coming(Vec<Readback>),
    Here(Arc<Vec<u8>>),
}

/// The content of a checkpoint with the host: a plain value, which any thread may have.
#[derive(Clone)]
pub(crate) struct HostCopy {
    /// What enters the next step.
    pub(crate) inputs: Inputs,
    pub(super) parts: Arc<[Part]>,
    pub(super) bytes: Arc<Vec<u8>>,
}

impl Content {
    /// Puts the copying of each part on `stream` by itself.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn coming<'a>(
        mut regions: impl Iterator<Item = Result<Region<'a>>>,
        stream: &Stream,
    ) -> Result<Self> {
        let readbacks = regions.try_fold(Vec::new(), |mut all, region| {
            all.push(stream.download(region?)?);
            Ok::<_, Error>(all)
        });
        Ok(Self::Coming(readbacks?))
    }
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
            Content::Coming(readbacks) => {
                let mut all = readbacks.iter();
                let ready = all.try_fold(true, |ready, one| one.is_ready().map(|is| ready && is));
                Ok(ready?)
            }
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
            Content::Coming(readbacks) => {
                let mut all = vec![0; self.parts.last().map_or(0, |part| part.range().end)];
                for (part, readback) in self.parts.iter().zip(readbacks) {
                    readback.wait_with(|bytes| all[part.range()].copy_from_slice(bytes))?;
                }
                Arc::new(all)
            }
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

    /// Lets `change` change what the parts hold.
    pub(crate) fn change(&mut self, mut change: impl FnMut(&Subject, &mut [u8])) {
        let bytes = Arc::make_mut(&mut self.bytes);
        for part in self.parts.iter() {
            bytes.get_mut(part.range()).into_iter().for_each(|bytes| change(&part.of, bytes));
        }
    }

    /// What it has of the resource with this name.
    pub(crate) fn of_resource(&self, name: &str) -> Option<&[u8]> {
        let is_it = |of: &&Part| of.of.resource().is_some_and(|resource| resource.name == name);
        self.bytes.get(self.parts.iter().find(is_it)?.range())
    }

    /// All parts.
    pub(crate) fn contents(&self) -> Vec<(&Subject, &[u8])> {
        let content = |part: &'_ Part| self.bytes.get(part.range());
        self.parts.iter().filter_map(|part| Some((&part.of, content(part)?))).collect()
    }
}
