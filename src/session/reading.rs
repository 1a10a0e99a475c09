//! What a session tells of its resources: their bytes, their type, what OpenGL draws of them, their statistics.

use super::{Arrival, Error, Session, Statistics};
use crate::{
    device::Pool,
    element::Type,
    gl,
    scene::{self, ResourceId},
    state::{Borrowed, Checkpoint, Download, HostCopy, Subject},
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
        let index = self.state.resources.iter().position(|resource| resource.name == name);
        let index = index.ok_or_else(|| Error::NoSuchResource {
            name: name.to_owned(),
            available: self.state.resources.iter().map(|r| r.name.clone()).collect(),
        })?;
        let stream = &self.stream;
        let read = |borrowed: &mut [Borrowed<'_>]| -> Result<_, Error> {
            Ok(stream.download(borrowed[index].region())?)
        };
        Ok(self.state.resources.read(stream, read)?.wait()?)
    }

    /// As [`Session::read`], and waits for nothing. `None` while the state is being changed, or where there is no such
    /// resource.
    ///
    /// # Errors
    /// The device's; [`Error::Thread`].
    pub fn start_read(&mut self, name: &str) -> Result<Option<Arrival<Vec<u8>>>, Error> {
        self.start_making(name, <[u8]>::to_vec)
    }

    /// Lets a thread make something of what a resource holds, as [`Session::start_read`].
    pub(super) fn start_making<T: Send + 'static>(
        &mut self,
        name: &str,
        make: impl FnOnce(&[u8]) -> T + Send + 'static,
    ) -> Result<Option<Arrival<T>>, Error> {
        if !self.state.resources.iter().any(|resource| resource.name == name) {
            return Ok(None);
        }
        let Some(download) = self.start_download(&[name])? else { return Ok(None) };
        let name = name.to_owned();
        let make = move |copy: HostCopy| Ok(make(copy.of_resource(&name).unwrap_or_default()));
        Arrival::begin(download, make).map(Some)
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
            Ok(Checkpoint::download_of(&subjects, inputs, pool, stream)?)
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
