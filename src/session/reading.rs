//! What a session tells of its resources: their bytes, their type, what OpenGL draws of them, their statistics.

use super::{Error, Session, Statistics};
use crate::{
    device::{Pool, Readback},
    element::Type,
    gl,
    scene::{self, ResourceId},
    state::{Download, Subject},
};

impl Session {
    /// Takes statistics of the present state and waits for them, at most for as long as a step may take.
    ///
    /// There are none where one of their kernels faults: see [`Snapshot::fault`](super::Snapshot::fault).
    ///
    /// # Errors
    /// As [`Session::update`].
    pub fn measure(&mut self) -> Result<(), Error> {
        self.complete_in_flight()?;
        self.start_statistics()?;
        self.complete_in_flight()?;
        self.statistics.wait()?;
        self.fit_cameras();
        self.collect_plots()
    }

    /// The bytes of a resource after the last finished step.
    ///
    /// # Errors
    /// [`Error::NoSuchResource`], and the device's.
    pub fn read(&mut self, name: &str) -> Result<Vec<u8>, Error> {
        self.complete_in_flight()?;
        let readback = self.put_reading(name)?.ok_or_else(|| Error::NoSuchResource {
            name: name.to_owned(),
            available: self.state.resources.iter().map(|r| r.name.clone()).collect(),
        })?;
        Ok(readback.wait()?)
    }

    /// Puts the reading of a resource on the stream, and waits for nothing. `None` while the state is being changed, or
    /// where there is no such resource.
    ///
    /// # Errors
    /// The device's.
    pub fn start_read(&mut self, name: &str) -> Result<Option<Readback>, Error> {
        if self.in_flight.is_some() || self.is_migrating() {
            return Ok(None);
        }
        self.put_reading(name)
    }

    fn put_reading(&mut self, name: &str) -> Result<Option<Readback>, Error> {
        let index = self.state.resources.iter().position(|resource| resource.name == name);
        let Some(index) = index else { return Ok(None) };
        let stream = &self.stream;
        self.state
            .resources
            .read(stream, |borrowed| Ok(Some(stream.download(borrowed[index].region())?)))
    }

    /// Puts the copying of the resources with these names to the host on the stream, by way of memory of `pool`.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn download(&mut self, names: &[&str], pool: &Pool) -> Result<Download, Error> {
        let resources: &[scene::Resource] = match &self.program {
            Some(program) => program.scene.manifest.resources(),
            None => &[],
        };
        let (stream, inputs) = (&self.stream, self.state.inputs.clone());
        self.state.resources.read(stream, |borrowed| {
            let all = resources.iter().zip(borrowed.iter());
            let wanted = all.filter(|(resource, _)| names.contains(&resource.name.as_str()));
            let subject =
                |resource: &scene::Resource| Subject::Half { resource: resource.clone(), half: 0 };
            let subjects: Vec<_> =
                wanted.map(|(of, borrowed)| (subject(of), borrowed.region())).collect();
            Ok(Download::start(&subjects, inputs, pool, stream)?)
        })
    }

    /// How the elements of a resource lie in memory, where the scene that runs has it.
    pub fn type_of(&self, name: &str) -> Option<Type> {
        let program = self.program.as_ref()?;
        let id = program.scene.manifest.find_resource(name)?;
        program.types.get(id.0).cloned()
    }

    /// The OpenGL buffer with the last finished step of a resource, and its number of elements.
    pub fn drawn(&self, resource: ResourceId) -> Option<(&gl::Buffer, u64)> {
        let resource = self.state.resources.iter().nth(resource.0)?;
        Some((resource.drawn()?, resource.count))
    }

    /// The OpenGL texture with the last finished step of a texture that a view draws.
    pub fn texture(&self, resource: ResourceId) -> Option<&gl::Texture> {
        self.state.resources.iter().nth(resource.0)?.drawn_texture()
    }

    /// The latest statistics of a resource, a component each; empty until they were taken.
    pub fn statistics(&self, resource: ResourceId) -> &[Statistics] {
        self.statistics.of(resource)
    }

    /// Element type, extent and bytes of a resource.
    pub fn resource(&self, name: &str) -> Option<&scene::Resource> {
        self.program.as_ref()?.scene.manifest.resources().iter().find(|r| r.name == name)
    }
}
