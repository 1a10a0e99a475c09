//! A running scene: steps, hot swap, statistics, timings.
//!
//! Enters: source text, parameters, mouse, time, commands. Leaves: OpenGL buffers to draw, and a [`Snapshot`]. Must
//! not know: `record`, `headless`, `studio`, `cli`.
//! The studio and the headless commands both drive it.
//!
//! Nothing here waits for a kernel unless it is asked to. [`Session::update`] looks at what has ended since the
//! last call (a compilation, a step), takes it over, and starts what comes next. While a step runs, OpenGL
//! draws the one before.

mod address_lists;
mod adoption;
mod arrival;
mod brought;
mod builder;
mod carried;
#[cfg(feature = "cli")]
mod check;
mod checker;
mod checksums;
mod clock;
mod command;
mod comparison;
mod compile_state;
mod condition;
mod contents;
mod digests;
#[cfg(feature = "cli")]
mod draft;
mod edit;
mod effort;
mod ending;
mod error;
mod examine;
mod export;
mod fault;
mod fetched;
mod files;
mod frame;
mod grid_texture;
mod guarding;
mod history;
mod in_flight;
mod included;
mod launch;
mod layout;
mod line;
mod loading;
mod made;
mod migration;
mod moment;
mod nan_watch;
mod options;
mod parameter_names;
mod past_gap;
mod pick;
mod place;
mod playback;
mod plots;
mod program;
mod reading;
mod rename;
mod replay;
mod request;
mod rescue;
mod reset;
mod reset_edit;
mod resets;
mod run;
mod run_files;
mod seek;
mod shown;
mod snapshot;
mod source;
mod spread;
mod stat;
mod statistics;
mod status;
mod summaries;
mod symbol;
mod time_series;
mod timing;
mod unwritten;
mod variables;
mod watchdog;
mod work;
mod worker;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

pub use arrival::Arrival;
pub use command::Command;
pub use comparison::{
    Compared, Comparison, ComparisonPhase, Gap, Last, Parting, PassRatio, Unlike, Variant,
    VariantText,
};
pub use compile_state::{CompileState, Phase};
pub use condition::statistic_of;
pub use digests::Digests;
pub use effort::Effort;
pub use error::Error;
pub use export::{Exportable, Exported};
pub use guarding::{Guarding, KernelGuarding};
pub use history::{Budget, Keeping};
pub use loading::LoadedState;
pub use moment::Moment;
pub use nan_watch::FirstNan;
pub use options::{Engine, Options, Past};
pub use past_gap::PastGap;
pub use pick::{ElementRead, Found, Picked};
pub use replay::{Deviation, Next, Outcome, Rejected, Replay};
pub use rescue::Rescued;
pub use run::{Entered, Run, Text};
pub use run_files::{RunFile, Unpacked};
pub use snapshot::*;
pub use spread::Spread;
pub use timing::PassTiming;

pub use request::requests_of_built_ins;
#[cfg(feature = "cli")]
pub(crate) use {
    check::{examine_for, examine_on, examine_plain},
    comparison::{PassTimes, in_common, quartiles},
    draft::draft_of,
    examine::parse,
    included::included_files,
};

use crate::{
    compile::Compiler,
    device::{Device, Stream},
    diagnostic::Diagnostic,
    draw::Bounds,
    interop::Interop,
    scene::{self, Inputs},
    state::State,
};
use builder::OwnKernels;
use checker::Checker;
use clock::Rate;
use comparison::Variants;
use edit::Edit;
use export::Exports;
use grid_texture::GridTexture;
use history::History;
use in_flight::InFlight;
use loading::Loading;
use nan_watch::NanWatch;
use playback::Playback;
use plots::Plots;
use program::Program;
use rescue::Rescue;
use reset::Reset;
use resets::Resets;
use seek::Seek;
use timing::{Stopwatch, Timings};
use watchdog::Watchdog;
use worker::{Recipe, Worker};

/// How long a step may run on when a new program waits to take its place.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long no new step is begun for a compilation's sake, where both use the same cores.
const COMPILER_FIRST: Duration = Duration::from_millis(200);
/// How often somebody who waits for the compiler looks whether he should.
const LOOK: Duration = Duration::from_millis(20);

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
    edit: Edit,
    state: State,
    /// What views draw of elements, in the order of the views.
    grids: Vec<Option<GridTexture>>,

    /// The past, where it is kept.
    history: Option<History>,
    seek: Seek,
    variants: Variants,

    watchdog: Watchdog,
    in_flight: Option<InFlight>,
    /// How often each pass was launched in the last step.
    launched: Vec<u64>,
    playback: Playback,
    resets: Resets,
    fault: Option<Diagnostic>,
    /// What kernels told that go on where they do wrong.
    reported: Vec<Diagnostic>,
    /// Counts what changed the picture.
    picture: u64,

    statistics: statistics::Board,
    plots: Plots,
    nan: NanWatch,
    /// What start cameras fit: the boxes of these values.
    extents: BTreeMap<Vec<String>, Bounds>,
    timings: Timings,
    stopwatch: Stopwatch,
    rate: Rate,
    exports: Exports,
    loading: Loading,
    rescue: Rescue,
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
        let measures = options.statistics_every.is_some();
        let source = options.source.clone();
        let mut session = Self::open_empty(options, device, compiler, interop, wake, measures)?;
        session.set_source(source);
        Ok(session)
    }

    /// As [`Session::open`], with nothing to compile yet; the kernels of statistics are there with each program where
    /// it `measures`.
    fn open_empty(
        options: Options,
        device: Device,
        compiler: Compiler,
        interop: Interop,
        wake: impl Fn() + Send + 'static,
        measures: bool,
    ) -> Result<Self, Error> {
        let recipe = Recipe {
            name: options.name.clone(),
            path: options.path.clone(),
            overrides: options.overrides_on(&device),
            device: device.clone(),
            compiler,
            own: OwnKernels { statistics: measures, checksum: options.history != Past::Forgotten },
            guarded: options.guarded,
        };
        let budget = match options.history {
            Past::Forgotten => None,
            Past::Kept => Some(Budget::of(&device)),
            Past::Within(budget) => Some(budget),
        };
        let stream = device.stream()?;
        Ok(Self {
            watchdog: Watchdog::start(&device, &stream, &options)?,
            stream,
            worker: Worker::start(recipe, Box::new(wake))?,
            history: budget.map(|budget| History::new(&device, budget)),
            seek: Seek::default(),
            variants: Variants::default(),
            device,
            interop,
            checker: Checker::of(options.engine),
            program: None,
            latest: None,
            edit: Edit::new(),
            state: State {
                inputs: Inputs { seed: options.seed, dt: scene::DEFAULT_DT, ..Inputs::default() },
                ..State::default()
            },
            grids: Vec::new(),
            in_flight: None,
            launched: Vec::new(),
            playback: Playback::new(),
            resets: Resets::default(),
            fault: None,
            reported: Vec::new(),
            picture: 0,
            statistics: statistics::Board::default(),
            plots: Plots::default(),
            nan: NanWatch::default(),
            extents: BTreeMap::new(),
            timings: Timings::default(),
            stopwatch: Stopwatch::default(),
            rate: Rate::default(),
            exports: Exports::default(),
            loading: Loading::default(),
            rescue: Rescue::default(),
            options,
        })
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
        self.go_on_exporting()?;
        self.go_on_rescuing()?;
        // What has just completed is drawn before the next step begins: where both use the same cores the picture
        // would be late, and where they do not, to put a frame on the way takes no time.
        if self.in_flight.is_none() && !completed {
            self.forget_excess()?;
            changed |= self.adopt_candidate()?;
            changed |= self.go_on_comparing()?;
            self.go_on_loading()?;
            if self.in_flight.is_none() {
                self.launch_due()?;
            }
        }
        changed |= completed;
        changed |= self.go_on_searching()?;
        if self.collect_statistics()? {
            changed = true;
            let shown = self.views().iter().any(|view| self.depends_on_statistics(view));
            self.picture += u64::from(shown);
            self.fit_cameras();
            self.collect_plots()?;
            self.look_for_nan()?;
        }
        Ok(changed)
    }

    /// Waits for the compilation under way. Returns whether a program runs afterwards.
    ///
    /// # Errors
    /// As [`Session::update`]; also when the compiler itself cannot run.
    pub fn wait_for_program(&mut self) -> Result<bool, Error> {
        while self.edit.compile.phase == Phase::Compiling {
            if let Some(result) = self.worker.wait(LOOK)? {
                self.apply_result(result)?;
            }
            self.expect_uninterrupted()?;
        }
        self.finish_seeking()?;
        self.adopt_candidate()?;
        self.finish_migrating()?;
        // One that was on its way has come first.
        self.adopt_candidate()?;
        self.finish_migrating()?;
        Ok(self.program.is_some() && self.edit.compile.running == self.edit.compile.generation)
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
        let start = if self.resets.next == Reset::All { 0 } else { self.state.inputs.step };
        let target = start + steps;
        while self.fault.is_none() {
            self.finish_comparing()?;
            let due = self.state.inputs.step < target || self.resets.next != Reset::None;
            if !due || self.program.is_none() {
                break;
            }
            self.playback.single_steps = u32::from(self.state.inputs.step < target);
            self.finish_bringing()?;
            self.launch_due()?;
            self.complete_in_flight()?;
            progress(self.state.inputs.step);
        }
        self.finish_comparing()
    }

    /// Whether work is under way on the device, for which [`Session::read`] would wait.
    pub fn is_working(&self) -> bool {
        self.in_flight.is_some()
    }

    /// Whether [`Session::update`] has something to do soon even when nobody touches anything.
    pub fn is_busy(&self) -> bool {
        self.has_work() || self.rests_unmeasured()
    }

    /// Whether something is due, under way, or on its way from the device.
    fn has_work(&self) -> bool {
        let waiting = self.playback.playing && self.fault.is_none() && self.program.is_some();
        let wanted =
            self.playback.single_steps > 0 || self.seek.sought.is_some() || self.is_reset_due();
        let wanted = wanted || self.is_exporting() || self.is_loading();
        let changing = self.in_flight.is_some() || self.is_migrating() || self.searches_for_nan();
        let changing = changing || self.state.resources.is_unsettled();
        let changing = changing || self.history.as_ref().is_some_and(|past| past.is_narrowed);
        waiting || wanted || changing || self.statistics.is_pending() || self.is_comparing()
    }

    /// Whether all that it was told to do is done: nothing is compiled, under way or due, and no step begins by itself.
    pub fn is_idle(&self) -> bool {
        let is_compiled =
            self.edit.compile.phase != Phase::Compiling && self.edit.candidate.is_none();
        is_compiled && !self.has_work()
    }

    /// Whether there is something to be reset that can be.
    pub(super) fn is_reset_due(&self) -> bool {
        self.resets.next != Reset::None && self.fault.is_none() && self.program.is_some()
    }

    /// Whether a program runs.
    pub fn has_program(&self) -> bool {
        self.program.is_some()
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

    /// The seed of the run.
    pub fn seed(&self) -> u64 {
        self.state.inputs.seed
    }

    /// Where the scene stands.
    pub fn clock(&self) -> Clock {
        Clock {
            step: self.state.inputs.step,
            time: self.state.inputs.time,
            dt: self.state.inputs.dt,
            playing: self.playback.playing,
            steps_per_second: self.rate.per_second(),
        }
    }

    /// The last fault, until the next good program or a reset.
    pub fn fault(&self) -> Option<&Diagnostic> {
        self.fault.as_ref()
    }

    /// What kernels did wrong where they go on (`WARPAINT_GUARD=report`): one fault at each place, at most 1,000.
    pub fn reported(&self) -> &[Diagnostic] {
        &self.reported
    }
}
