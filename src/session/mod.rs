//! A running scene: steps, hot swap, statistics, timings.
//!
//! Enters: source text, parameters, mouse, time, commands. Leaves: OpenGL buffers to draw, and a [`Snapshot`]. Must
//! not know: `record`, `headless`, `studio`, `cli`.
//! The studio and the headless commands both drive it.
//!
//! Nothing here waits for a kernel unless it is asked to. [`Session::update`] looks at what has ended since the
//! last call (a compilation, a step), takes it over, and starts what comes next. While a step runs, OpenGL
//! draws the one before.

mod checker;
mod clock;
mod command;
mod condition;
mod contents;
mod error;
mod fault;
mod files;
mod frame;
mod grid_texture;
mod history;
mod in_flight;
mod launch;
mod layout;
mod migration;
mod plots;
mod program;
mod run;
mod seek;
mod snapshot;
mod stat;
mod statistics;
mod symbol;
mod time_series;
mod timing;
mod worker;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

pub use command::Command;
pub use condition::statistic_of;
pub use error::Error;
pub use history::Budget;
pub use run::{Digests, Entered, Run, Text};
pub use snapshot::*;

pub use program::requests_of_built_ins;
#[cfg(feature = "cli")]
pub(crate) use program::{examine, examine_on, examine_plain, parse};

use crate::{
    compile::Compiler,
    device::{Device, DeviceKind, Stream},
    diagnostic::Diagnostic,
    gl,
    interop::{self, Interop},
    interrupt::Interrupt,
    scene::{self, Entry, Inputs, Keys, Manifest, Measured, Overrides, ResourceId, What, When},
    state::{State, TooLarge},
};
use checker::Checker;
use clock::Rate;
use grid_texture::{GridTexture, grid_textures};
use history::History;
use in_flight::InFlight;
use migration::Migration;
use plots::Plots;
use program::Program;
use seek::Shown;
use timing::{Stopwatch, Timings};
use worker::{CompileResult, Job, Recipe, Worker};

/// How long a step may run on when a new program waits to take its place.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long no new step is begun for a compilation's sake, where both use the same cores.
const COMPILER_FIRST: Duration = Duration::from_millis(200);
/// How often somebody who waits for the compiler looks whether he should.
const LOOK: Duration = Duration::from_millis(20);

/// What a session is opened with.
pub struct Options {
    /// The scene's name, as the user gave it: diagnostics use it.
    pub name: String,
    /// The file it comes from: its folder is on the include path.
    pub path: Option<PathBuf>,
    /// Whether it may include files that lie elsewhere than below that folder. Without a path there is no such folder.
    pub trust: bool,
    /// The source.
    pub source: String,
    /// Constants that the command line replaces.
    pub overrides: Overrides,
    /// Parameters that the command line replaces, as text.
    pub parameters: Vec<(String, String)>,
    /// The run's seed.
    pub seed: u64,
    /// A step that takes longer is stopped, and so are statistics that are waited for.
    pub step_timeout: Duration,
    /// Once this is raised, what the session waits for is stopped, and every call that waits ends with
    /// [`Error::Interrupted`].
    pub interrupt: Interrupt,
    /// While the scene plays, a step is begun every `dt` seconds at most, so that a second of the scene lasts a
    /// second; otherwise each begins when the one before has ended.
    pub real_time: bool,
    /// Whether the launches of the passes are watched for mistakes: see [`Snapshot::findings`]. On the CPU device
    /// alone.
    pub checked: bool,
    /// How often statistics are taken while the scene plays; `None`: only when asked for.
    pub statistics_every: Option<Duration>,
    /// Whether the past is kept, and how much memory it may take: see [`Session::seek`].
    pub history: Past,
}

/// Whether the past of a scene is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Past {
    /// It is not.
    #[default]
    Forgotten,
    /// An eighth of the device's free memory, and one of the host's, may be taken for it.
    Kept,
    /// As much may be taken.
    Within(Budget),
}

impl Options {
    /// Those of a scene without a file, as the command line has them where nothing else is said: nothing is replaced,
    /// the seed is 1, a step may take a minute, and statistics are taken only when asked for.
    pub fn new(name: impl Into<String>, source: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            path: None,
            trust: false,
            source: source.into(),
            overrides: Overrides::default(),
            parameters: Vec::new(),
            seed: 1,
            step_timeout: Duration::from_secs(60),
            interrupt: Interrupt::default(),
            real_time: false,
            checked: false,
            statistics_every: None,
            history: Past::Forgotten,
        }
    }
}

/// A running scene.
pub struct Session {
    device: Device,
    stream: Stream,
    interop: Interop,
    worker: Worker,
    options: Options,
    /// What watches the launches, where they are watched.
    checker: Option<Checker>,

    program: Option<Arc<Program>>,
    /// The newest that has run; another one where a past moment is shown.
    latest: Option<Arc<Program>>,
    /// Compiled, and waiting for the running step to end.
    candidate: Option<Arc<Program>>,
    /// What an edit carries over to other layouts.
    migration: Option<Migration>,
    /// Replaced while a step ran: to unload them waits for it.
    retired: Vec<Arc<Program>>,
    compile: CompileState,
    /// When the latest source came.
    submitted: Instant,
    state: State,
    /// What views draw of elements, in the order of the views.
    grids: Vec<Option<GridTexture>>,

    /// The past, where it is kept.
    history: Option<History>,
    /// What the state is one of.
    shown: Shown,
    /// The moment that is to be shown.
    sought: Option<Moment>,

    in_flight: Option<InFlight>,
    /// How often each pass was launched in the last step.
    launched: Vec<u64>,
    playing: bool,
    /// When the next step of a scene that plays in real time is due.
    due: Instant,
    /// Steps that were asked for one by one.
    single_steps: u32,
    reset: Reset,
    fault: Option<Diagnostic>,
    /// Counts what changed the picture.
    picture: u64,

    statistics: statistics::Board,
    plots: Plots,
    /// What start cameras fit: the boxes of these coordinates.
    extents: BTreeMap<Vec<String>, frame::Extent>,
    timings: Timings,
    stopwatch: Stopwatch,
    rate: Rate,
}

/// What the reset passes have to do before the next step.
#[derive(Clone, Debug, PartialEq)]
enum Reset {
    /// Nothing.
    None,
    /// Fill resources that are new: their names, for until then another manifest may number them otherwise.
    Fresh(BTreeSet<String>),
    /// Start anew.
    All,
}

impl Reset {
    /// Does `more` as well.
    fn add(&mut self, more: Self) {
        *self = match (std::mem::replace(self, Self::None), more) {
            (Self::All, _) | (_, Self::All) => Self::All,
            (Self::None, one) | (one, Self::None) => one,
            (Self::Fresh(mut names), Self::Fresh(more)) => {
                names.extend(more);
                Self::Fresh(names)
            }
        };
    }
}

impl Session {
    /// Opens a session and starts to compile; it plays as soon as there is something to run.
    ///
    /// `interop` says how results reach OpenGL, if at all. `wake` is
    /// called on another thread when [`Session::update`] should be called again.
    ///
    /// # Errors
    /// The device's errors; mistakes in the source are in [`Snapshot::compile`] later.
    pub fn open(
        options: Options,
        device: Device,
        compiler: Compiler,
        interop: Interop,
        wake: impl Fn() + Send + 'static,
    ) -> Result<Self, Error> {
        let recipe = Recipe {
            name: options.name.clone(),
            path: options.path.clone(),
            overrides: Overrides {
                cpu: options.overrides.cpu || device.info().kind == DeviceKind::Cpu,
                ..options.overrides.clone()
            },
            device: device.clone(),
            compiler,
            measures: options.statistics_every.is_some(),
        };
        let budget = match options.history {
            Past::Forgotten => None,
            Past::Kept => Some(Budget::of(&device)),
            Past::Within(budget) => Some(budget),
        };
        let mut session = Self {
            stream: device.stream()?,
            worker: Worker::start(recipe, Box::new(wake))?,
            history: budget.map(|budget| History::new(&device, budget)),
            shown: Shown::Present,
            sought: None,
            device,
            interop,
            checker: options.checked.then(Checker::new),
            program: None,
            latest: None,
            candidate: None,
            migration: None,
            retired: Vec::new(),
            compile: CompileState::default(),
            submitted: Instant::now(),
            state: State {
                inputs: Inputs { seed: options.seed, dt: scene::DEFAULT_DT, ..Inputs::default() },
                ..State::default()
            },
            grids: Vec::new(),
            in_flight: None,
            launched: Vec::new(),
            playing: true,
            due: Instant::now(),
            single_steps: 0,
            reset: Reset::All,
            fault: None,
            picture: 0,
            statistics: statistics::Board::default(),
            plots: Plots::default(),
            extents: BTreeMap::new(),
            timings: Timings::default(),
            stopwatch: Stopwatch::default(),
            rate: Rate::default(),
            options,
        };
        let source = std::mem::take(&mut session.options.source);
        session.set_source(source);
        Ok(session)
    }

    /// Compiles new text on the worker; the running program goes on until it is ready. Returns its generation.
    pub fn set_source(&mut self, text: String) -> u64 {
        self.compile.generation += 1;
        self.compile.phase = Phase::Compiling;
        self.submitted = Instant::now();
        let (generation, trusted) = (self.compile.generation, self.options.trust);
        self.worker.submit(Job { generation, text, trusted });
        self.compile.generation
    }

    /// From now on sources may include files from anywhere; see [`Options::trust`].
    pub fn trust(&mut self) {
        self.options.trust = true;
    }

    /// Takes over what has ended and starts what comes next, without waiting for either.
    ///
    /// Returns whether there is something new to show.
    ///
    /// # Errors
    /// Only what no edit can mend, such as a lost device. A kernel's fault is in [`Snapshot::fault`].
    pub fn update(&mut self) -> Result<bool, Error> {
        let mut changed = false;
        while let Some(result) = self.worker.poll() {
            self.apply_result(result)?;
            changed = true;
        }
        let completed = self.try_complete()?;
        self.mind_the_time()?;
        // What has just completed is drawn before the next step begins: where both use the same cores the picture
        // would be late, and where they do not, to put a frame on the way takes no time.
        if self.in_flight.is_none() && !completed {
            changed |= self.adopt_candidate()?;
            self.launch_due()?;
        }
        changed |= completed;
        if self.collect_statistics()? {
            changed = true;
            let shown = self.views().iter().any(|view| self.depends_on_statistics(view));
            self.picture += u64::from(shown);
            self.fit_cameras();
            self.collect_plots()?;
        }
        Ok(changed)
    }

    /// Waits for the compilation under way. Returns whether a program runs afterwards.
    ///
    /// # Errors
    /// As [`Session::update`]; also when the compiler itself cannot run.
    pub fn wait_for_program(&mut self) -> Result<bool, Error> {
        while self.compile.phase == Phase::Compiling {
            if let Some(result) = self.worker.wait(LOOK)? {
                self.apply_result(result)?;
            }
            self.expect_uninterrupted()?;
        }
        self.complete_in_flight()?;
        self.adopt_candidate()?;
        self.finish_migrating()?;
        Ok(self.program.is_some() && self.compile.running == self.compile.generation)
    }

    /// Runs `steps` steps (and the reset before them, where it is due) and waits for them.
    ///
    /// Stops early when a kernel faults: see [`Snapshot::fault`].
    ///
    /// # Errors
    /// As [`Session::update`].
    pub fn run_steps(&mut self, steps: u64, mut progress: impl FnMut(u64)) -> Result<(), Error> {
        self.pause();
        self.finish_seeking()?;
        self.leave_past();
        self.adopt_candidate()?;
        self.finish_migrating()?;
        let start = if self.reset == Reset::All { 0 } else { self.state.inputs.step };
        let target = start + steps;
        while self.fault.is_none() {
            let due = self.state.inputs.step < target || self.reset != Reset::None;
            if !due || self.program.is_none() {
                break;
            }
            self.single_steps = u32::from(self.state.inputs.step < target);
            self.launch_due()?;
            self.complete_in_flight()?;
            progress(self.state.inputs.step);
        }
        Ok(())
    }

    /// Takes statistics of the present state and waits for them, at most for as long as a step may take.
    ///
    /// There are none where one of their kernels faults: see [`Snapshot::fault`].
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
        let index = self.state.resources.iter().position(|r| r.name == name);
        let index = index.ok_or_else(|| Error::NoSuchResource {
            name: name.to_owned(),
            available: self.state.resources.iter().map(|r| r.name.clone()).collect(),
        })?;
        let stream = &self.stream;
        let readback = self.state.resources.read(stream, |borrowed| -> Result<_, Error> {
            Ok(stream.download(borrowed[index].region())?)
        })?;
        Ok(readback.wait()?)
    }

    /// Lets steps follow one another. Where a past moment is shown they begin there, beside those that followed on it
    /// before.
    pub fn play(&mut self) {
        self.leave_past();
        self.playing = true;
    }

    /// Stops after the step under way.
    pub fn pause(&mut self) {
        self.playing = false;
        self.rate.restart();
    }

    /// Asks for one step.
    pub fn step_once(&mut self) {
        self.leave_past();
        self.single_steps = self.single_steps.saturating_add(1);
    }

    /// Starts anew: the reset passes run before the next step.
    pub fn reset(&mut self) {
        self.leave_past();
        self.reset = Reset::All;
        self.fault = None;
    }

    /// Stops the step under way, where the device can; it ends with a fault.
    ///
    /// # Errors
    /// [`crate::device::Error::Unsupported`] on an NVIDIA device.
    pub fn cancel(&mut self) -> Result<(), Error> {
        Ok(self.stream.cancel()?)
    }

    /// The state of pointer and keys, for the next step.
    pub fn set_input(&mut self, mouse: [f32; 4], keys: Keys) {
        self.state.inputs.mouse = mouse;
        self.state.inputs.keys = keys;
    }

    /// Whether [`Session::update`] has something to do soon even when nobody touches anything.
    pub fn is_busy(&self) -> bool {
        let waiting = self.playing && self.fault.is_none() && self.program.is_some();
        let wanted = self.single_steps > 0 || self.sought.is_some() || self.migration.is_some();
        waiting || self.in_flight.is_some() || wanted || self.statistics.is_pending()
    }

    /// A number that changes whenever [`Session::frame`] shows something else with the same camera.
    pub fn picture(&self) -> u64 {
        self.picture
    }

    /// The device that it runs on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The stream that its work is put on.
    pub fn stream(&self) -> &Stream {
        &self.stream
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

    /// Where the scene stands.
    pub fn clock(&self) -> Clock {
        Clock {
            step: self.state.inputs.step,
            time: self.state.inputs.time,
            dt: self.state.inputs.dt,
            playing: self.playing,
            steps_per_second: self.rate.per_second(),
        }
    }

    /// The last fault, until the next good program or a reset.
    pub fn fault(&self) -> Option<&Diagnostic> {
        self.fault.as_ref()
    }

    /// Whether it would be waited for when it is dropped, perhaps for ever: a step that cannot be stopped, or a
    /// compilation.
    pub fn is_stuck(&self) -> bool {
        self.in_flight.is_some() || self.compile.phase == Phase::Compiling
    }

    /// The state of everything, as plain values.
    pub fn snapshot(&self) -> Snapshot {
        let manifest = self.program.as_ref().map(|p| &p.scene.manifest);
        Snapshot {
            title: manifest.map_or_else(|| self.options.name.clone(), |m| m.title.clone()),
            summary: manifest.map_or_else(String::new, |m| m.summary.clone()),
            device: self.device.info().to_string(),
            renderer: self.interop.renderer().map(str::to_owned),
            sharing: match self.interop.path() {
                interop::Path::None => Sharing::None,
                interop::Path::Registered => Sharing::Registered,
                interop::Path::Copied(reason) => Sharing::Copied(reason.clone()),
            },
            clock: self.clock(),
            timeline: self.timeline(),
            views: self.view_states(),
            parameters: self.parameter_snapshots(),
            resources: self.resource_snapshots(),
            stats: self.stat_snapshots(),
            plots: self.plots.charts(),
            passes: self.pass_timings(),
            compile: self.compile.clone(),
            fault: self.fault.clone(),
            findings: self.findings(),
        }
    }

    /// Plots take over what has arrived with the latest statistics.
    fn collect_plots(&mut self) -> Result<(), Error> {
        let Self { program: Some(program), statistics, plots, .. } = self else { return Ok(()) };
        let number = |measured| match measured {
            Measured::Stat(index) => {
                let stat = program.stats.get(index).zip(statistics.of_stat(index));
                stat.map(|(stat, values)| stat.value(values))
            }
            Measured::Resource { of, components, statistic } => {
                statistic_of(statistic, components, statistics.of(of))
            }
        };
        let number = |measured| number(measured).unwrap_or(f64::NAN);
        plots.collect(statistics.step(), &program.types, number)
    }

    /// What the checker found so far.
    fn findings(&self) -> Vec<Diagnostic> {
        self.checker
            .as_ref()
            .map_or_else(Vec::new, |checker| checker.diagnostics(&self.options.name))
    }

    /// Times of the step's entries, and what the manifest says that their launches move and compute.
    fn pass_timings(&self) -> Vec<PassTiming> {
        let mut timings = self.timings.timings();
        let Some(program) = &self.program else { return timings };
        let entries = program.scene.manifest.entries(When::Step);
        for (timing, entry) in timings.iter_mut().zip(entries) {
            timing.bytes = self.sum_of_launches(entry, |pass| pass.bytes);
            timing.flops = self.sum_of_launches(entry, |pass| pass.flops);
        }
        timings
    }

    /// What `of` says of a launch, summed over those of the last step; `None` where it says nothing of some pass.
    fn sum_of_launches(&self, entry: &Entry, of: fn(&scene::Pass) -> Option<f64>) -> Option<f64> {
        let program = self.program.as_ref()?;
        match &entry.what {
            What::Launch(index) => {
                let launches = self.launched.get(*index).copied().unwrap_or_default();
                Some(of(&program.passes.get(*index)?.plan.declared)? * launches as f64)
            }
            What::Group { entries, .. } => {
                entries.iter().map(|entry| self.sum_of_launches(entry, of)).sum()
            }
            What::Copy { .. } => None,
        }
    }

    fn parameter_snapshots(&self) -> Vec<Parameter> {
        let declared = self.program.iter().flat_map(|p| &p.scene.manifest.parameters);
        declared
            .zip(&self.state.inputs.parameters)
            .map(|(p, value)| Parameter {
                id: ParameterId { name: p.name.clone(), generation: self.compile.running },
                name: p.name.clone(),
                label: p.label.clone(),
                unit: p.unit.clone(),
                value: value.clone(),
                default: p.default.clone(),
                control: p.control.clone(),
            })
            .collect()
    }

    fn resource_snapshots(&self) -> Vec<Resource> {
        self.state
            .resources
            .iter()
            .enumerate()
            .map(|(index, r)| Resource {
                name: r.name.clone(),
                element: r.type_name.clone(),
                count: r.count,
                bytes: r.bytes as u64,
                shared: r.is_drawn(),
                step: self.statistics.step(),
                names: r.components.clone(),
                components: self.statistics.of(ResourceId(index)).to_vec(),
            })
            .collect()
    }

    fn stat_snapshots(&self) -> Vec<Stat> {
        let resources = self
            .program
            .iter()
            .flat_map(|program| program.stats.iter().map(|stat| (stat, &program.scene.manifest)));
        resources
            .enumerate()
            .map(|(index, (stat, manifest))| {
                let (declared, values) = (stat.declared(), self.statistics.of_stat(index));
                Stat {
                    name: declared.name.clone(),
                    of: manifest.resource(declared.of).name.clone(),
                    map: declared.map.clone(),
                    reduce: declared.reduce.name(),
                    step: self.statistics.step(),
                    value: values.map(|values| stat.value(values)),
                    values: values.copied(),
                }
            })
            .collect()
    }

    /// Notes what the worker found out.
    fn apply_result(&mut self, result: CompileResult) -> Result<(), Error> {
        let built = match result.outcome {
            Ok(built) => built,
            Err(error) => {
                self.compile.phase = Phase::Rejected;
                return Err(error);
            }
        };
        if result.generation < self.compile.generation && built.program.is_none() {
            return Ok(()); // an older text's mistakes say nothing about the newest one
        }
        if result.refined {
            if let Some(program) = built.program {
                self.replace_candidate(program);
            }
            return Ok(());
        }
        self.compile.diagnostics = built.diagnostics;
        self.compile.log = built.log;
        self.compile.untrusted = built.untrusted;
        self.compile.lacks_manifest = built.lacks_manifest;
        self.compile.cached = built.cached;
        if let Some(included) = built.included {
            self.compile.included = included;
        }
        self.compile.elapsed = result.elapsed;
        let latest = result.generation == self.compile.generation;
        match built.program {
            Some(program) => {
                self.replace_candidate(program);
                if latest {
                    self.compile.phase = Phase::Running;
                }
            }
            None => self.compile.phase = Phase::Rejected,
        }
        Ok(())
    }

    fn replace_candidate(&mut self, program: Program) {
        self.retired.extend(self.candidate.replace(Arc::new(program)));
    }

    /// Lets a compiled program take the running one's place. Not while a step runs.
    fn adopt_candidate(&mut self) -> Result<bool, Error> {
        self.retired.clear();
        if self.sought.is_some() {
            return Ok(false); // it comes after the past moment
        }
        if self.migration.is_some() {
            self.go_on_migrating()?;
            return Ok(true);
        }
        let Some(program) = self.candidate.take() else { return Ok(false) };
        if !self.begin_migration(&program)? {
            self.adopt(&program)?;
        }
        Ok(true)
    }

    /// Lets a program take the running one's place, and says whether it did: not where its resources are too large.
    fn adopt(&mut self, program: &Arc<Program>) -> Result<bool, Error> {
        let before = self.program.clone();
        let mut fresh = match self.take_in(program)? {
            Ok(fresh) => fresh,
            Err(TooLarge { text, at }) => {
                let remark = Diagnostic::error(&self.options.name, text);
                self.compile.diagnostics.push(remark.at(at.line, at.column));
                self.compile.phase = Phase::Rejected;
                return Ok(false);
            }
        };
        fresh.extend(before.iter().flat_map(|old| program.changed_contents(old)));
        if !fresh.is_empty() {
            self.reset.add(Reset::Fresh(fresh));
        }
        if let Some(before) = &before {
            program.carry_variables(before, &self.stream)?;
        }
        program.set_variables(&self.stream)?;
        self.latest = Some(program.clone());
        if let Some(history) = &mut self.history {
            history.is_interrupted = true;
        }
        self.fault = None;
        Ok(true)
    }

    /// Lets a program of the past take the running one's place, whose state is put back next.
    fn install(&mut self, program: &Arc<Program>) -> Result<(), Error> {
        if self.program.as_ref().is_some_and(|running| Arc::ptr_eq(running, program)) {
            return Ok(());
        }
        self.take_in(program)?
            .map(|_| ())
            .map_err(|too_large| Error::NoRoom { reason: too_large.text })
    }

    /// Runs `program` from now on, on the resources of the one before as far as it has the same, which it leaves alone;
    /// the names of the others.
    fn take_in(
        &mut self,
        program: &Arc<Program>,
    ) -> Result<Result<BTreeSet<String>, TooLarge>, Error> {
        let manifest = &program.scene.manifest;
        let old = self.program.as_ref().map(|p| &p.scene.manifest);
        let grids = match grid_textures(manifest, &self.interop)? {
            Ok(grids) => grids,
            Err(too_large) => return Ok(Err(too_large)),
        };
        let adopted = self.state.resources.adopt(old, manifest, &self.stream, &self.interop)?;
        let fresh = match adopted {
            Ok(fresh) => fresh,
            Err(too_large) => return Ok(Err(too_large)),
        };
        self.grids = grids;
        self.refresh_grids()?;
        self.adopt_parameters(manifest);
        self.keep_extents_of(manifest);
        self.timings.follow(manifest.entries(When::Step).map(|entry| manifest.name_of(entry)));
        self.launched = vec![0; program.passes.len()];
        self.statistics.restart();
        self.plots.follow(manifest);
        self.picture += 1;
        self.compile.ptx = program.ptx.clone();
        self.compile.running = program.generation;
        self.program = Some(program.clone());
        Ok(Ok(fresh))
    }

    /// Views of elements take over what these are after the last finished step.
    fn refresh_grids(&self) -> Result<(), Error> {
        let mut grids = self.grids.iter().flatten();
        Ok(grids.try_for_each(|grid_texture| grid_texture.refresh(&self.state.resources))?)
    }

    /// Values that a person set survive an edit; the command line's come before the manifest's.
    fn adopt_parameters(&mut self, manifest: &Manifest) {
        self.state.inputs.parameters = match &self.program {
            Some(old) => manifest.carry(&old.scene.manifest, &self.state.inputs.parameters),
            None => self.initial_parameters(manifest),
        };
    }

    fn initial_parameters(&self, manifest: &Manifest) -> Vec<Value> {
        let mut values = manifest.defaults();
        for (name, text) in &self.options.parameters {
            // What does not fit was refused before the session was opened.
            if let Ok((index, value)) = manifest.parse_parameter(name, text) {
                values[index] = value;
            }
        }
        values
    }
}

impl Drop for Session {
    /// A step under way is stopped, where the device can: to free its memory would wait for its end.
    fn drop(&mut self) {
        if self.in_flight.is_some()
            && let Err(error) = self.stream.cancel()
        {
            tracing::debug!("the step under way is waited for: {error}");
        }
    }
}
