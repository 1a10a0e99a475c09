//! A session's state as a file, to go on from later.

use std::path::Path;

use super::{Error, Session, variables::Addresses};
use crate::{
    device::Pool,
    scene::Inputs,
    state::{
        Checkpoint, HostCopy, Subject,
        archive::{self, About},
    },
};

/// Writes a state to `path`, whole or not at all, without the variables that hold `addresses` at the start.
pub(super) fn write_state(
    path: &Path,
    about: About,
    addresses: &Addresses,
    copy: &HostCopy,
) -> Result<(), Error> {
    let mut file = StateFile::new(path, about, addresses)?;
    copy.contents().into_iter().try_for_each(|(of, bytes)| file.add(of, bytes))?;
    file.finish()
}

/// A state on its way to a file.
struct StateFile<'a> {
    path: &'a Path,
    about: About,
    addresses: &'a Addresses,
    writer: archive::Writer,
}

impl<'a> StateFile<'a> {
    fn new(path: &'a Path, about: About, addresses: &'a Addresses) -> Result<Self, Error> {
        let writer = archive::Writer::new(path).map_err(failed(path))?;
        Ok(Self { path, about, addresses, writer })
    }

    /// Adds what `of` holds; that a variable holds another address than at the start is only noted.
    fn add(&mut self, of: &Subject, bytes: &[u8]) -> Result<(), Error> {
        let Self { path, about, addresses, writer } = self;
        if let Subject::Variable { lowered } = of
            && let Some(start) = addresses.get(lowered)
        {
            about.moved_addresses.extend((**start != *bytes).then(|| lowered.clone()));
            return Ok(());
        }
        writer.add(of, bytes).map_err(failed(path))
    }

    fn finish(self) -> Result<(), Error> {
        self.writer.finish(self.path, &self.about).map_err(failed(self.path))
    }
}

fn failed(path: &Path) -> impl FnOnce(archive::Error) -> Error {
    move |error| Error::of_file("write", path, error)
}

impl Session {
    /// Writes the present state to `path`, whole or not at all: a `.npz` file, which numpy opens. Waits for it.
    ///
    /// # Errors
    /// [`Error::File`], [`Error::NoState`], the device's.
    pub fn save(&mut self, path: &Path) -> Result<(), Error> {
        self.finish_seeking()?;
        self.complete_in_flight()?;
        let (about, addresses) = (self.about(&self.state.inputs)?, self.addresses());
        let mut file = StateFile::new(path, about, &addresses)?;
        self.each_content(|of, bytes| file.add(of, bytes))?;
        file.finish()
    }

    /// Gives `take` all that the present state holds, one after the other: memory is needed for the largest of them
    /// alone, and not for a copy of the state. No step is in flight.
    pub(super) fn each_content(
        &mut self,
        mut take: impl FnMut(&Subject, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some(program) = self.program.clone() else { return Ok(()) };
        let stream = &self.stream;
        self.state.resources.read(stream, |borrowed| {
            for (of, region) in program.subjects(borrowed)? {
                stream.download(region)?.wait_with(|bytes| take(&of, bytes))??;
            }
            Ok(())
        })
    }

    /// That [`Session::save`] can write the states of what runs.
    ///
    /// # Errors
    /// [`Error::NoState`].
    pub fn expect_states(&self) -> Result<(), Error> {
        self.program.as_ref().map_or(Ok(()), |program| program.expect_states())
    }

    /// The variables that no file has, with what they hold at the start.
    pub(super) fn addresses(&self) -> Addresses {
        self.program.as_ref().map_or_else(Addresses::new, |program| program.addresses())
    }

    /// What a file says of the present state beside its contents.
    pub(super) fn about(&self, inputs: &Inputs) -> Result<About, Error> {
        let program = self.program.as_ref().ok_or(Error::NothingRuns)?;
        program.expect_states()?;
        let device = self.device.info().to_string();
        let mut about = About::of(&self.options.name, &device, inputs, &program.scene.manifest);
        let known = program.known_variables();
        let set = known.iter().filter_map(|of| Some((of.name.clone(), of.set.clone()?)));
        about.set = Some(set.collect());
        about.starts = known.into_iter().map(|of| (of.name, of.start)).collect();
        Ok(about)
    }

    /// A copy of the present state; `None` where nothing runs.
    pub(super) fn copy_state(&mut self) -> Result<Option<Checkpoint>, Error> {
        self.copy_state_into(&Pool::passing(&self.device))
    }

    /// As [`Session::copy_state`], in memory of `pool`.
    pub(super) fn copy_state_into(&mut self, pool: &Pool) -> Result<Option<Checkpoint>, Error> {
        self.complete_in_flight()?;
        let Some(program) = self.program.clone() else { return Ok(None) };
        let (stream, inputs) = (&self.stream, self.state.inputs.clone());
        let copy = self
            .state
            .resources
            .read(stream, |borrowed| program.checkpoint(borrowed, inputs, pool, stream))?;
        Ok(Some(copy))
    }
}
