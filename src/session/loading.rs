//! Going on from a state that is in a file.
//!
//! A thread reads the file, beside the steps. Between two of them what it has is put on the stream, and taken over when
//! it has come to the device: nobody waits who does not want to.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, Weak},
    thread::{self, JoinHandle},
};

use super::{
    Error, Session, in_flight::InFlight, migration::NO_FIELDS, program::Program, symbol, work::Work,
};
use crate::{
    cuda::mangled::counterparts,
    device::Device,
    scene::{Inputs, Manifest, Value},
    state::{
        Checkpoint,
        archive::{self, KnownVariable, Loaded},
    },
};

/// A state that the scene goes on from, or why it does not.
#[derive(Debug)]
pub struct LoadedState {
    /// Its file.
    pub path: PathBuf,
    /// Remarks, as those of [`Session::load`], or why the scene goes on from what it had.
    pub outcome: Result<Vec<String>, Error>,
}

/// A state that is to be gone on from, and what has become of others.
#[derive(Default)]
pub(super) struct Loading {
    under_way: Option<(PathBuf, Stage)>,
    ended: Vec<LoadedState>,
}

enum Stage {
    /// A thread reads the file.
    Reading(JoinHandle<Result<StateContent, Error>>),
    /// It waits for what is due before.
    Here(Box<StateContent>),
    /// It is on its way to the device; these remarks are told then.
    Coming(Vec<String>),
}

/// A state's file that is to be read, and what for.
struct StateRequest {
    path: PathBuf,
    program: Weak<Program>,
    manifest: Manifest,
    variables: Vec<KnownVariable>,
    parameters: Vec<Value>,
}

/// A state's file that was read.
struct StateContent {
    program: Weak<Program>,
    loaded: Loaded,
    /// What it has, on the device.
    brought: Option<Box<Checkpoint>>,
}

impl StateRequest {
    /// Reads it, on whichever thread.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be read, or does not fit the scene.
    fn read(self) -> Result<StateContent, Error> {
        let Self { path, program, manifest, variables, parameters } = self;
        let loaded = archive::read(&path, &manifest, &variables, &parameters)
            .map_err(|error| Error::of_file("read", &path, error))?;
        Ok(StateContent { program, loaded, brought: None })
    }
}

impl StateContent {
    /// Brings it to the device, where there is room for it.
    fn bring_to(mut self, device: &Device) -> Self {
        let brought =
            self.loaded.checkpoint.with_host().map(|copy| Checkpoint::bring(&copy, device));
        self.brought = brought.and_then(|brought| brought.ok().flatten()).map(Box::new);
        self
    }
}

impl Session {
    /// Goes on from the state that [`Session::save`] wrote to `path`, perhaps of another version of the scene. Gives
    /// remarks, such as ``no `a`, `b`: as after a reset``: on resources that the file says nothing of, on such of which
    /// members are lost with the structure that they had, on variables of the source that it does not have, that had
    /// another size or that begin with something else now, and on parameters that do not accept what it has for them.
    /// Parameters that the session was opened with ([`Options::parameters`](super::Options::parameters)) come before
    /// those of the file, and so do files for resources and variables, and a seed that was asked for. Waits for it.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be read, or does not fit the scene; [`Error::NoState`]; the device's.
    pub fn load(&mut self, path: &Path) -> Result<Vec<String>, Error> {
        self.begin()?;
        let Some(program) = self.program.clone() else { return Ok(Vec::new()) };
        let content = self.state_request(&program, path)?.read()?;
        let remarks = self.put_state(&program, content)?;
        self.complete_in_flight()?;
        Ok(remarks)
    }

    /// Goes on from the state in the file at `path` as [`Session::load`] does, once it has been read and what is due
    /// before is done; [`Session::take_loaded`] says what became of it. One that is still on its way is given up.
    pub fn start_loading(&mut self, path: PathBuf) {
        if let Some(program) = self.program.clone() {
            self.loading.under_way = self.start_reading(&program, path);
        }
    }

    /// The next state that the scene goes on from, or does not.
    pub fn take_loaded(&mut self) -> Option<LoadedState> {
        (!self.loading.ended.is_empty()).then(|| self.loading.ended.remove(0))
    }

    /// Whether a state is on its way from its file.
    pub(super) fn is_loading(&self) -> bool {
        self.loading.under_way.is_some()
    }

    /// Lets a thread read a file for `program`; `None` where that cannot be, which is told.
    fn start_reading(&mut self, program: &Arc<Program>, path: PathBuf) -> Option<(PathBuf, Stage)> {
        let begun = self.state_request(program, &path).and_then(|request| {
            let thread = thread::Builder::new().name("state".to_owned());
            let device = self.device.clone();
            let work = move || request.read().map(|content| content.bring_to(&device));
            thread.spawn(work).map_err(Error::Thread)
        });
        match begun {
            Ok(reading) => Some((path, Stage::Reading(reading))),
            Err(error) => {
                self.loading.ended.push(LoadedState { path, outcome: Err(error) });
                None
            }
        }
    }

    /// Does the next part of what leads to a state from its file. Never waits; not while something is under way.
    pub(super) fn go_on_loading(&mut self) -> Result<(), Error> {
        let Some((path, stage)) = self.loading.under_way.take() else { return Ok(()) };
        let outcome = match stage {
            Stage::Reading(reading) if reading.is_finished() => {
                match reading.join().unwrap_or(Err(Error::WorkerLost)) {
                    Ok(content) => {
                        self.loading.under_way = self.go_on_from(path, Box::new(content))?;
                        return Ok(());
                    }
                    Err(error) => Err(error),
                }
            }
            Stage::Here(content) => {
                self.loading.under_way = self.go_on_from(path, content)?;
                return Ok(());
            }
            Stage::Coming(remarks) => Ok(remarks),
            unchanged @ Stage::Reading(_) => {
                self.loading.under_way = Some((path, unchanged));
                return Ok(());
            }
        };
        self.loading.ended.push(LoadedState { path, outcome });
        Ok(())
    }

    /// Puts a state on its way to the device, unless something else is due before.
    fn go_on_from(
        &mut self,
        path: PathBuf,
        content: Box<StateContent>,
    ) -> Result<Option<(PathBuf, Stage)>, Error> {
        self.leave_past();
        self.adopt_candidate()?;
        if self.is_changing() || self.edit.candidate.is_some() {
            return Ok(Some((path, Stage::Here(content))));
        }
        let Some(program) = self.program.clone() else { return Ok(None) };
        if !std::ptr::eq(content.program.as_ptr(), Arc::as_ptr(&program)) {
            // Another text has taken over meanwhile.
            return Ok(self.start_reading(&program, path));
        }
        let remarks = self.put_state(&program, *content)?;
        Ok(Some((path, Stage::Coming(remarks))))
    }

    /// What the state in the file at `path` is to be read for, now.
    ///
    /// # Errors
    /// [`Error::NoState`].
    fn state_request(&self, program: &Arc<Program>, path: &Path) -> Result<StateRequest, Error> {
        program.expect_states()?;
        let mut variables = program.known_variables();
        variables.retain(|variable| !self.is_loaded(variable));
        Ok(StateRequest {
            path: path.to_owned(),
            program: Arc::downgrade(program),
            manifest: program.scene.manifest.clone(),
            variables,
            parameters: self.state.inputs.parameters.clone(),
        })
    }

    /// Puts a state on the stream that was read for `program`, which runs; it is gone on from once it is there. Gives
    /// the remarks on it. Not while something is under way.
    fn put_state(
        &mut self,
        program: &Arc<Program>,
        content: StateContent,
    ) -> Result<Vec<String>, Error> {
        let StateContent { loaded, brought, .. } = content;
        // What an edit has made of the last step's state is had by no step.
        self.keep_present()?;
        let stream = &self.stream;
        let checkpoint = &loaded.checkpoint;
        let copy = brought.as_deref().unwrap_or(checkpoint);
        self.state
            .resources
            .write(stream, |borrowed| program.go_back_to(copy, borrowed, stream))?;
        self.stopwatch.restart();
        self.stopwatch.mark(&self.device, &self.stream)?;
        let given = checkpoint.inputs.parameters.clone();
        let parameters = self.replace_parameters(&program.scene.manifest, given);
        let mut inputs = Inputs { parameters, ..checkpoint.inputs.clone() };
        if self.options.seed_is_asked_for {
            inputs.seed = self.options.seed;
        }
        let work = Work::Load(Box::new(inputs));
        let mut in_flight =
            InFlight::new(work, false, self.state.inputs.clone(), self.watchdog.watch());
        in_flight.brought = brought;
        self.in_flight = Some(in_flight);
        Ok(remarks(program, loaded))
    }

    /// What was put on the stream is there: the scene goes on from it.
    pub(super) fn take_state(&mut self, inputs: Inputs) -> Result<(), Error> {
        self.state.inputs = inputs;
        self.begin_loaded();
        self.part();
        self.show()
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
        while self.is_reset_due() {
            self.finish_bringing()?;
            self.launch_due()?;
            self.complete_in_flight()?;
        }
        Ok(())
    }
}

/// What is to be said of a state that was read for `program`.
fn remarks(program: &Program, loaded: Loaded) -> Vec<String> {
    let Loaded {
        checkpoint: _,
        mut missing,
        lost_members,
        missing_variables,
        other_sizes,
        other_starts,
        moved_addresses,
        refused,
    } = loaded;
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
        format!(
            "another structure of {list}: members that are no fields ({NO_FIELDS}) begin with zeros"
        )
    });
    let in_sources = |all: Vec<String>| all.into_iter().filter_map(in_source).collect::<Vec<_>>();
    let (other_sizes, other_starts) = (in_sources(other_sizes), in_sources(other_starts));
    let all = [
        remark("no", &missing),
        lost,
        remark("another size of", &other_sizes),
        remark("another initial value of", &other_starts),
        remark("no value that fits", &refused),
    ];
    all.into_iter().flatten().collect()
}
