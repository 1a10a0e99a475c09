//! A copy of a state.

use std::{collections::HashMap, sync::Arc, time::Duration};

use super::{
    borrowed::Borrowed,
    download::{self, Download, HostCopy},
    part::{Layout, Part, Subject, laid_out},
    sending::{Arrived, Sending, bring},
};
use crate::{
    array::{Checksum, PendingChecksum},
    cuda::mangled::counterparts,
    device::{self, Device, Pool, PoolBlock, Region, Slice, Stream},
    interop::{Error, Result},
    scene::{Inputs, Manifest},
};

/// What a state held at a moment: the contents of its resources, both halves where there are two, and of the variables
/// of the program's module; and what enters the step behind it.
pub(crate) struct Checkpoint {
    /// What enters the next step.
    pub(crate) inputs: Inputs,
    parts: Arc<[Part]>,
    content: Content,
    /// That of its content, on its way.
    checksum: Option<Box<PendingChecksum>>,
}

/// Where the bytes are.
enum Content {
    Device(Arc<PoolBlock>),
    /// On their way from the device, where they still are, to the host.
    Sent(Arc<PoolBlock>, Sending),
    Host(Arc<Vec<u8>>),
}

/// What has become of a copy that may be on its way to the host.
#[derive(Debug)]
pub(crate) enum Transfer {
    /// It is on its way.
    UnderWay,
    /// It has come to the host now, after this time.
    Arrived(Duration),
    /// The host had no room for it, as the error says: it stays on the device.
    NoRoom(device::Error),
    /// It stays where it was.
    None,
}

impl Checkpoint {
    /// Puts the copying of everything on `stream`: of `borrowed`, the resources of `manifest`, and of `variables`.
    ///
    /// # Errors
    /// The device's; [`crate::device::Error::OutOfMemory`] where there is no room for a copy.
    pub(crate) fn take(
        (manifest, borrowed): (&Manifest, &[Borrowed<'_>]),
        variables: &[(&str, Slice<'_>)],
        inputs: Inputs,
        pool: &Pool,
        stream: &Stream,
    ) -> Result<Self> {
        Self::of(&Self::subjects((manifest, borrowed), variables), inputs, pool, stream)
    }

    /// Puts the copying of these on `stream`.
    ///
    /// # Errors
    /// As [`Checkpoint::take`].
    pub(super) fn of(
        subjects: &[(Subject, Region<'_>)],
        inputs: Inputs,
        pool: &Pool,
        stream: &Stream,
    ) -> Result<Self> {
        let (parts, bytes) = laid_out(subjects);
        let block = pool.alloc(stream, bytes)?;
        for (part, (_, from)) in parts.iter().zip(subjects) {
            stream.copy(block.slice(part.range())?, *from)?;
        }
        Ok(Self { inputs, parts, content: Content::Device(Arc::new(block)), checksum: None })
    }

    /// What one is a copy of, and where that lies.
    pub(crate) fn subjects<'a>(
        (manifest, borrowed): (&Manifest, &'a [Borrowed<'_>]),
        variables: &[(&str, Slice<'a>)],
    ) -> Vec<(Subject, Region<'a>)> {
        let mut subjects = Vec::new();
        for (resource, borrowed) in manifest.resources().iter().zip(borrowed) {
            for (half, region) in borrowed.halves().into_iter().enumerate() {
                subjects.push((Subject::Half { resource: resource.clone(), half }, region));
            }
        }
        let of_module = variables.iter().map(|(lowered, slice)| {
            (Subject::Variable { lowered: (*lowered).to_owned() }, (*slice).into())
        });
        subjects.extend(of_module);
        subjects
    }

    /// Puts the copying back on `stream`: into `borrowed`, the resources of `manifest`, and into `variables`. What it
    /// has no copy of stays as it is.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn restore(
        &self,
        (manifest, borrowed): (&Manifest, &[Borrowed<'_>]),
        variables: &[(&str, Slice<'_>)],
        stream: &Stream,
    ) -> Result<()> {
        let places = self.places(variables);
        for part in self.parts.iter() {
            match &part.of {
                Subject::Half { resource, half } => {
                    let place = manifest
                        .find_resource(&resource.name)
                        .filter(|id| manifest.resource(*id).keeps_contents(resource));
                    let to = place.and_then(|id| borrowed.get(id.0)?.halves().get(*half).copied());
                    to.map_or(Ok(()), |to| self.put(part, to, stream))?;
                }
                Subject::Variable { lowered } => {
                    let to = places.get(lowered.as_str()).filter(|to| to.bytes() == part.bytes);
                    to.map_or(Ok(()), |to| self.put(part, (*to).into(), stream))?;
                }
            }
        }
        Ok(())
    }

    /// Puts what it has of each resource into all halves of that on `stream`: into `borrowed`, the resources of
    /// `manifest`.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn fill(
        &self,
        (manifest, borrowed): (&Manifest, &[Borrowed<'_>]),
        stream: &Stream,
    ) -> Result<()> {
        for part in self.parts.iter() {
            let place = part.of.resource().and_then(|of| manifest.find_resource(&of.name));
            let halves =
                place.and_then(|id| borrowed.get(id.0)).map_or_else(Vec::new, Borrowed::halves);
            halves.into_iter().try_for_each(|to| self.put(part, to, stream))?;
        }
        Ok(())
    }

    /// Where its variables lie among those of a module, by the names that they have here.
    fn places<'a>(&'a self, variables: &[(&'a str, Slice<'a>)]) -> HashMap<&'a str, Slice<'a>> {
        let names: Vec<&str> = variables.iter().map(|(name, _)| *name).collect();
        let own: Vec<&str> = self.parts.iter().filter_map(|part| part.of.variable()).collect();
        let pairs = counterparts(&names, &own);
        variables.iter().filter_map(|(name, to)| Some((*pairs.get(name)?, *to))).collect()
    }

    /// One whose content is with the host, such as a file's.
    pub(crate) fn of_host(inputs: Inputs, contents: Vec<(Subject, Vec<u8>)>) -> Self {
        Self::of_bytes(inputs, contents, |bytes| bytes)
    }

    /// As [`Checkpoint::of_host`], of what has these `bytes`.
    pub(crate) fn of_bytes<B>(
        inputs: Inputs,
        contents: Vec<(Subject, B)>,
        bytes: impl Fn(&B) -> &[u8],
    ) -> Self {
        let mut layout = Layout::default();
        let part = |(of, content): &(Subject, B)| layout.part(of.clone(), bytes(content).len());
        let parts: Arc<[Part]> = contents.iter().map(part).collect();
        let mut all = vec![0; layout.end];
        // Each is given up as soon as it is copied.
        for (part, (_, content)) in parts.iter().zip(contents) {
            all[part.range()].copy_from_slice(bytes(&content));
        }
        Self { inputs, parts, content: Content::Host(Arc::new(all)), checksum: None }
    }

    /// One whose content is on `device`, too, `None` where there is no room for it; for threads that may wait.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn bring(copy: &HostCopy, device: &Device) -> Result<Option<Self>> {
        match bring(&copy.bytes, device) {
            Ok(block) => Ok(Some(Self {
                inputs: copy.inputs.clone(),
                parts: copy.parts.clone(),
                content: Content::Device(Arc::new(block)),
                checksum: None,
            })),
            Err(device::Error::OutOfMemory { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Its content, where that is with the host alone.
    pub(crate) fn with_host(&self) -> Option<HostCopy> {
        let Content::Host(bytes) = &self.content else { return None };
        Some(HostCopy::new(self.inputs.clone(), self.parts.clone(), bytes.clone()))
    }

    /// Puts the checksum of its content on `stream`, where that is on the device.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn start_checksum(
        &mut self,
        checksum: &Checksum,
        pool: &Pool,
        stream: &Stream,
    ) -> Result<()> {
        if let Content::Device(block) = &self.content {
            let parts = self.parts.iter().map(|part| block.slice(part.range()));
            let parts = parts.collect::<device::Result<Vec<Slice<'_>>>>()?;
            self.checksum = Some(Box::new(checksum.enqueue(stream, pool, parts)?));
        }
        Ok(())
    }

    /// The checksum that was started.
    pub(crate) fn take_checksum(&mut self) -> Option<PendingChecksum> {
        self.checksum.take().map(|sum| *sum)
    }

    /// Its size.
    pub(crate) fn bytes(&self) -> usize {
        self.parts.last().map_or(0, |part| part.range().end)
    }

    /// Whether its content takes memory of the device.
    pub(crate) fn is_on_device(&self) -> bool {
        match self.content {
            Content::Device(_) | Content::Sent(..) => true,
            Content::Host(_) => false,
        }
    }

    /// Starts the copying to the host, behind the work on `stream`, where the content is on the device.
    /// [`Checkpoint::settle`] finds that it has arrived.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn send_to_host(&mut self, stream: &Stream) -> Result<()> {
        if let Content::Device(block) = &self.content
            && let Some(sending) = Sending::start(block.clone(), stream)?
        {
            self.content = Content::Sent(block.clone(), sending);
        }
        Ok(())
    }

    /// Takes over what has come to the host.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn settle(&mut self) -> Result<Transfer> {
        match &self.content {
            Content::Sent(_, sending) if !sending.has_arrived() => Ok(Transfer::UnderWay),
            Content::Sent(..) | Content::Device(_) | Content::Host(_) => self.settled(),
        }
    }

    /// Starts the copying of its content to the host, behind the work on `stream`; where it lies stays as it is.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn download(&self, stream: &Stream) -> Result<Download> {
        let content = match &self.content {
            Content::Device(block) | Content::Sent(block, _) => {
                match Sending::start(block.clone(), stream)? {
                    Some(sending) => download::Content::Sent(sending),
                    None => {
                        let regions =
                            self.parts.iter().map(|part| Ok(block.slice(part.range())?.into()));
                        download::Content::coming(regions, stream)?
                    }
                }
            }
            Content::Host(bytes) => download::Content::Here(bytes.clone()),
        };
        Ok(Download::new(self.inputs.clone(), self.parts.clone(), content))
    }

    /// Puts the copying of what these hold to the host on `stream`. They are copied on the device first, in memory of
    /// `pool`, so that nobody waits for the way; where there is no room for that, they go from where they are, and to
    /// page-lock memory for them takes its time.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn download_of(
        subjects: &[(Subject, Region<'_>)],
        inputs: Inputs,
        pool: &Pool,
        stream: &Stream,
    ) -> Result<Download> {
        match Self::of(subjects, inputs.clone(), pool, stream) {
            Ok(copy) => copy.download(stream),
            Err(Error::Device(device::Error::OutOfMemory { .. })) => {
                let regions = subjects.iter().map(|(_, region)| Ok(*region));
                let content = download::Content::coming(regions, stream)?;
                Ok(Download::new(inputs, laid_out(subjects).0, content))
            }
            Err(error) => Err(error),
        }
    }

    /// Waits for what is on its way to the host.
    fn settled(&mut self) -> Result<Transfer> {
        let (content, way) =
            match std::mem::replace(&mut self.content, Content::Host(Arc::default())) {
                Content::Sent(block, sending) => match sending.wait() {
                    Ok(Arrived { bytes, took }) => {
                        (Content::Host(Arc::new(bytes)), Transfer::Arrived(took))
                    }
                    Err(error @ device::Error::OutOfMemory { .. }) => {
                        (Content::Device(block), Transfer::NoRoom(error))
                    }
                    Err(error) => return Err(error.into()),
                },
                content @ (Content::Device(_) | Content::Host(_)) => (content, Transfer::None),
            };
        self.content = content;
        Ok(way)
    }

    /// Puts the copying of one part to its place on `stream`.
    fn put(&self, part: &Part, to: Region<'_>, stream: &Stream) -> Result<()> {
        match &self.content {
            Content::Device(block) | Content::Sent(block, _) => {
                stream.copy(to, block.slice(part.range())?)?;
            }
            Content::Host(all) => {
                all.get(part.range()).map_or(Ok(()), |bytes| stream.upload(to, bytes))?;
            }
        }
        Ok(())
    }
}

/// What stays with the host.
impl From<HostCopy> for Checkpoint {
    fn from(copy: HostCopy) -> Self {
        let HostCopy { inputs, parts, bytes } = copy;
        Self { inputs, parts, content: Content::Host(bytes), checksum: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;

    /// By way of a copy on the device, and part by part where there is no room for one.
    #[test]
    fn what_comes_is_the_same_by_either_way() {
        let device = Device::cpu().unwrap();
        let (stream, pool) = (device.stream().unwrap(), Pool::new(&device));
        let contents = [vec![1_u8; 300], vec![2; 7], vec![3; 256]];
        let memories = contents.each_ref().map(|bytes| {
            let memory = device.alloc(bytes.len()).unwrap();
            stream.upload(memory.slice(..).unwrap(), bytes).unwrap();
            memory
        });
        let subject = |at: usize| Subject::Variable { lowered: at.to_string() };
        let subjects: Vec<(Subject, Region<'_>)> = memories
            .iter()
            .map(|of| of.slice(..).unwrap().into())
            .enumerate()
            .map(|(at, of)| (subject(at), of))
            .collect();
        let regions = subjects.iter().map(|(_, region)| Ok(*region));
        let content = download::Content::coming(regions, &stream).unwrap();
        let ways = [
            Checkpoint::download_of(&subjects, Inputs::default(), &pool, &stream).unwrap(),
            Download::new(Inputs::default(), laid_out(&subjects).0, content),
        ];
        for way in ways {
            let copy = way.wait().unwrap();
            let found = copy.contents();
            let expected = contents.iter().enumerate().map(|(at, bytes)| (subject(at), &bytes[..]));
            assert!(
                found
                    .into_iter()
                    .eq(expected.collect::<Vec<_>>().iter().map(|(of, bytes)| (of, *bytes)))
            );
        }
    }
}
