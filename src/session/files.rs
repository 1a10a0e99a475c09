//! A session's state as a file, to go on from later.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, Weak},
};

use super::{Error, Program, Reset, Session, migration::NO_FIELDS, symbol, variables::Addresses};
use crate::{
    cuda::mangled::counterparts,
    device::Pool,
    scene::{Inputs, Manifest, Value},
    state::{
        Checkpoint, HostCopy, Subject,
        archive::{self, About, KnownVariable, Loaded},
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

/// A state's file that is to be read, and what for.
pub struct StateRequest {
    path: PathBuf,
    program: Weak<Program>,
    manifest: Manifest,
    variables: Vec<KnownVariable>,
    parameters: Vec<Value>,
}

/// A state's file that was read.
pub struct StateContent {
    path: PathBuf,
    program: Weak<Program>,
    loaded: Loaded,
}

impl StateRequest {
    /// Reads it, on whichever thread.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be read, or does not fit the scene.
    pub fn read(self) -> Result<StateContent, Error> {
        let Self { path, program, manifest, variables, parameters } = self;
        let loaded = archive::read(&path, &manifest, &variables, &parameters)
            .map_err(|error| Error::of_file("read", &path, error))?;
        Ok(StateContent { path, program, loaded })
    }
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

    /// Goes on from the state that [`Session::save`] wrote to `path`, perhaps of another version of the scene. Gives
    /// remarks, such as ``no `a`, `b`: as after a reset``: on resources that the file says nothing of, on such of which
    /// members are lost with the structure that they had, on variables
    /// of the source that it does not have in their present size or that begin with something else now, and on
    /// parameters that do not accept what it has for them. Parameters that the session was opened with
    /// ([`Options::parameters`](super::Options::parameters)) come before those of the file, and so do files for
    /// resources and variables, and a seed that was asked for.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be read, or does not fit the scene; [`Error::NoState`]; the device's.
    pub fn load(&mut self, path: &Path) -> Result<Vec<String>, Error> {
        self.begin()?;
        match self.state_request(path)? {
            Some(request) => self.take_state(request.read()?),
            None => Ok(Vec::new()),
        }
    }

    /// What the state in the file at `path` is to be read for, now; `None` where nothing runs.
    ///
    /// # Errors
    /// [`Error::NoState`].
    pub fn state_request(&self, path: &Path) -> Result<Option<StateRequest>, Error> {
        let Some(program) = &self.program else { return Ok(None) };
        program.expect_states()?;
        let mut variables = program.known_variables();
        variables.retain(|variable| !self.is_loaded(variable));
        Ok(Some(StateRequest {
            path: path.to_owned(),
            program: Arc::downgrade(program),
            manifest: program.scene.manifest.clone(),
            variables,
            parameters: self.state.inputs.parameters.clone(),
        }))
    }

    /// Goes on from a state that was read for this session, as [`Session::load`] does.
    ///
    /// # Errors
    /// As [`Session::load`].
    pub fn take_state(&mut self, content: StateContent) -> Result<Vec<String>, Error> {
        self.begin()?;
        let Some(program) = self.program.clone() else { return Ok(Vec::new()) };
        let StateContent { path, program: read_for, loaded } = content;
        if !std::ptr::eq(read_for.as_ptr(), Arc::as_ptr(&program)) {
            // Another text has taken over meanwhile.
            return self.load(&path);
        }
        // What an edit has made of the last step's state is had by no step.
        self.keep_present()?;
        let manifest = &program.scene.manifest;
        let Loaded {
            checkpoint,
            mut missing,
            lost_members,
            missing_variables,
            other_starts,
            moved_addresses,
            refused,
        } = loaded;
        let stream = &self.stream;
        self.state
            .resources
            .write(stream, |borrowed| program.go_back_to(&checkpoint, borrowed, stream))?;
        stream.synchronize()?;
        let parameters = self.replace_parameters(manifest, checkpoint.inputs.parameters.clone());
        self.state.inputs = Inputs { parameters, ..checkpoint.inputs };
        if self.options.seed_is_asked_for {
            self.state.inputs.seed = self.options.seed;
        }
        self.begin_loaded();
        self.part();
        self.show()?;
        // What the compiler brings is the same in every program that has it.
        let in_source = |lowered: String| {
            let is_own = !symbol::is_of_compiler(&lowered);
            is_own.then(|| symbol::in_source(&lowered).unwrap_or(lowered))
        };
        let own = program.addresses();
        let own: Vec<&str> = own.keys().map(String::as_str).collect();
        let moved: Vec<&str> = moved_addresses.iter().map(String::as_str).collect();
        let moved = counterparts(&own, &moved).into_keys().map(str::to_owned);
        let moved = BTreeSet::from_iter(moved);
        missing.extend(missing_variables.into_iter().chain(moved).filter_map(in_source));
        let list = |names: &[String]| {
            names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        };
        let remark = |what, names: &[String]| {
            (!names.is_empty()).then(|| format!("{what} {}: as after a reset", list(names)))
        };
        let lost = (!lost_members.is_empty()).then(|| {
            let list = list(&lost_members);
            format!("another structure of {list}: members that are no fields ({NO_FIELDS}) begin with zeros")
        });
        let other_starts: Vec<String> = other_starts.into_iter().filter_map(in_source).collect();
        let all = [
            remark("no", &missing),
            lost,
            remark("another initial value of", &other_starts),
            remark("no value that fits", &refused),
        ];
        Ok(all.into_iter().flatten().collect())
    }

    /// Whether the command line fills a variable.
    fn is_loaded(&self, variable: &KnownVariable) -> bool {
        let name = symbol::in_source(&variable.name);
        let mut loaded = self.options.overrides.loads.keys();
        loaded.any(|given| Some(given.trim_start_matches("::")) == name.as_deref())
    }

    /// Does what is due before another state takes over, and waits for it.
    fn begin(&mut self) -> Result<(), Error> {
        self.finish_seeking()?;
        self.leave_past();
        self.adopt_candidate()?;
        self.finish_migrating()?;
        while self.reset != Reset::None && self.fault.is_none() && self.program.is_some() {
            self.launch_due()?;
            self.complete_in_flight()?;
        }
        Ok(())
    }

    /// A copy of the present state; `None` where nothing runs.
    pub(super) fn copy_state(&mut self) -> Result<Option<Checkpoint>, Error> {
        self.copy_state_into(&Pool::new(&self.device))
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
