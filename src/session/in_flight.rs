//! The step in flight: how it is launched, and what is known when it has completed.

use std::{
    any::Any,
    time::{Duration, Instant},
};

use super::{
    Error, Session,
    compile_state::Phase,
    guarding,
    launch::{Launcher, Queue, Stopped, rest},
    reset::Reset,
    shown::Shown,
    snapshot::Running,
    watchdog::Watch,
    work::{Again, Work},
};
use crate::{
    device::{self, DeviceKind, Event},
    diagnostic::Diagnostic,
    scene::Inputs,
    state::{Checkpoint, Extent, State, extents, linear},
};

/// Work that was told to end has ended after this time, on a busy machine, too. What has not never will: a thread of
/// its kernel may wait for somebody to read what it prints.
const LONGEST_END: Duration = Duration::from_secs(5);

/// Work on the stream that has not been taken over yet.
pub(super) struct InFlight {
    work: Work,
    started: Instant,
    /// Why not all launches were put on the stream.
    stopped: Option<Stopped>,
    /// Statistics come behind it.
    measures: bool,
    /// What is not waited for, and is kept until the work has ended.
    left: Option<Box<dyn Any>>,
    /// The copy on the device that it begins with, where one was brought there for it.
    pub(super) brought: Option<Box<Checkpoint>>,
    /// What entered its step.
    entered: Inputs,
    /// A copy of the state before it.
    copy: Option<Checkpoint>,
    /// Where the resources lie that its kernels take by address.
    pub(super) extents: Vec<Extent>,
    /// Why the host has asked for its end, and when.
    cancelled: Option<(Cause, Instant)>,
    /// Whether somebody wants it to end.
    pub(super) is_unwanted: bool,
    watch: Watch,
}

/// What takes longer is told.
const LONG: Duration = Duration::from_millis(300);

/// Why the host ends work before it has ended by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// It takes longer than a step may.
    Limit,
    /// A newer program waits.
    Successor,
    /// Somebody wants the session to end.
    Interrupt,
    /// Somebody wants this work to end.
    Wish,
}

impl InFlight {
    /// Whether it is a step, which counts when it has ended.
    pub(super) fn is_step(&self) -> bool {
        self.work == Work::Step
    }

    /// Work that is launched now.
    pub(super) fn new(work: Work, measures: bool, entered: Inputs, watch: Watch) -> Self {
        Self {
            work,
            started: Instant::now(),
            stopped: None,
            measures,
            left: None,
            brought: None,
            entered,
            copy: None,
            extents: Vec::new(),
            cancelled: None,
            is_unwanted: false,
            watch,
        }
    }

    /// What there is to tell of it, once it takes long.
    pub(super) fn running(&self, limit: Duration) -> Option<Running> {
        let (elapsed, is_ending) = (self.started.elapsed(), self.cancelled.is_some());
        (elapsed >= LONG).then_some(Running { elapsed, limit, is_ending })
    }

    /// Why the host has asked for its end, if it has.
    pub(super) fn cause(&self) -> Option<Cause> {
        let overdue = || self.watch.is_overdue().then_some(Cause::Limit);
        self.cancelled.map(|(cause, _)| cause).or_else(overdue)
    }
}

impl Session {
    /// Starts what is due: a reset, or a step. Not while something is under way.
    pub(super) fn launch_due(&mut self) -> Result<(), Error> {
        if self.state.resources.is_unsettled() {
            self.settle()?;
        }
        if self.seek.sought.is_some() {
            return self.go_on_seeking();
        }
        let waits = self.variants.companion.as_ref().is_some_and(|of| of.holds(&self.resets.next));
        if self.program.is_none() || self.fault.is_some() || self.is_between_layouts() || waits {
            return Ok(());
        }
        if self.resets.next != Reset::None {
            if !self.has_contents_at_hand()? {
                return Ok(());
            }
            let reset = std::mem::replace(&mut self.resets.next, Reset::None);
            self.begin_reset(&reset);
            return self.launch_on_both(Work::Reset(reset));
        }
        let goes_on =
            self.playback.playing && !self.compiler_comes_first() && !self.waits_for_nan();
        if self.playback.single_steps > 0 || (goes_on && self.is_due()) {
            if self.seek.shown != Shown::Present {
                self.leave_past();
                return Ok(());
            }
            self.playback.single_steps = self.playback.single_steps.saturating_sub(1);
            return self.launch_on_both(Work::Step);
        }
        if self.rests_unmeasured() && self.statistics.is_due(self.options.statistics_every) {
            return self.start_statistics();
        }
        Ok(())
    }

    /// Whether the scene has come to rest behind a step that was not measured.
    pub(super) fn rests_unmeasured(&self) -> bool {
        let rests = self.playback.stands() && self.seek.sought.is_none();
        let is_sound = self.fault.is_none() && self.program.is_some();
        let is_measured = self.statistics.are_of(self.state.inputs.step);
        self.options.statistics_every.is_some() && rests && is_sound && !is_measured
    }

    /// Sets what belongs to the beginning, before the passes of a reset do.
    pub(super) fn begin_reset(&mut self, reset: &Reset) {
        self.forget_extents(reset);
        if let Some(entered) = self.resets.inputs.take() {
            self.enter(&entered);
        }
        if *reset == Reset::All {
            self.abandon_migration();
            self.state.inputs.step = 0;
            self.state.inputs.frame = 0;
            self.state.inputs.time = 0.0;
            self.plots.restart();
            self.begin_anew();
            self.nan.forget();
            self.resets.begun_with = self.program.as_ref().map(|program| program.beginning.clone());
            self.resets.is_edited = false;
        }
    }

    /// On the CPU device a step would take the cores that the compiler needs: a short compilation is waited for,
    /// so that an edit is seen sooner.
    fn compiler_comes_first(&self) -> bool {
        let compiling = self.edit.compile.phase == Phase::Compiling;
        let shares_cores = self.device.info().kind == DeviceKind::Cpu;
        compiling && shares_cores && self.edit.submitted.elapsed() < super::COMPILER_FIRST
    }

    /// Puts the passes of `work` on the stream, with events around each.
    pub(super) fn launch(&mut self, work: Work) -> Result<(), Error> {
        // What is sought is not forgotten on the way there.
        if work == Work::Step {
            self.trim_history()?;
        }
        let brought = match &work {
            Work::Reset(_) | Work::Again(Again { from: Some(_), .. }) => self.take_brought(),
            Work::Again(Again { from: None, .. })
            | Work::Step
            | Work::Load(_)
            | Work::Statistics => None,
        };
        let Self {
            program: Some(program),
            state: State { resources, inputs },
            stream,
            device,
            stopwatch,
            checker,
            history,
            seek,
            watchdog,
            ..
        } = self
        else {
            return Ok(());
        };
        inputs.dt = program.scene.manifest.step_seconds(&inputs.parameters);
        let when = work.when();
        let every = self.options.statistics_every;
        let takes_statistics = every.is_some() || self.nan.is_wanted;
        let measure = takes_statistics
            && work.is_measured(|| self.nan.is_wanted || self.statistics.is_due(every));
        let (board, plots) = (&mut self.statistics, &mut self.plots);
        let mut in_flight = InFlight::new(work, measure, inputs.clone(), watchdog.watch());
        let work = &in_flight.work;
        let mut launched = vec![0; program.passes.len()];
        in_flight.stopped = resources.write(stream, |borrowed| -> Result<_, Error> {
            let history = (history.as_mut(), seek.shown);
            let (state, copy) = ((&mut *borrowed, &*inputs), brought.as_deref());
            in_flight.copy = work.begin(program, history, copy, state, stream)?;
            in_flight.extents = extents(borrowed);
            stopwatch.restart();
            stopwatch.mark(device, stream)?;
            let manifest = &program.scene.manifest;
            for inputs in &work.rounds(inputs) {
                let queue = Queue::new(stream, &self.options, in_flight.started);
                let mut launcher = Launcher::new(
                    program,
                    queue,
                    inputs,
                    borrowed,
                    &mut launched,
                    checker.as_ref(),
                );
                for entry in when.into_iter().flat_map(|when| manifest.entries(when)) {
                    if !work.concerns(entry, program) {
                        continue;
                    }
                    let stopped = launcher.run(entry)?;
                    in_flight.left = launcher.left.take();
                    if *work == Work::Step {
                        stopwatch.mark(device, stream)?;
                    }
                    if stopped.is_some() {
                        return Ok(stopped);
                    }
                }
            }
            if measure {
                let after = if *work == Work::Step { inputs.after_step() } else { inputs.clone() };
                let slices = linear(borrowed, stream)?;
                board.enqueue(program, stream, &slices, &after)?;
                plots.enqueue(program, stream, borrowed, board)?;
            }
            Ok(None)
        })?;
        in_flight.brought = brought;
        if in_flight.work == Work::Step {
            self.launched = launched;
        }
        self.stopwatch.mark(&self.device, &self.stream)?;
        self.in_flight = Some(in_flight);
        Ok(())
    }

    /// Takes over what has completed, if it has. Returns whether it has.
    pub(super) fn try_complete(&mut self) -> Result<bool, Error> {
        match &self.in_flight {
            Some(_) if self.has_ended()? => self.complete().map(|()| true),
            _ => Ok(false),
        }
    }

    /// Whether what is under way has ended, and what B does beside it.
    fn has_ended(&self) -> Result<bool, Error> {
        let other =
            self.variants.companion.as_ref().map_or(Ok(true), |companion| companion.has_ended());
        Ok(self.stopwatch.is_reached()? && other?)
    }

    /// What has not been reached of what is under way.
    fn awaited(&self) -> Result<Option<&Event>, Error> {
        let other = self.variants.companion.as_ref().map(|companion| &companion.other.stopwatch);
        match (self.stopwatch.is_reached()?, other) {
            (true, Some(other)) => Ok(other.last()),
            (true | false, _) => Ok(self.stopwatch.last()),
        }
    }

    /// Takes over statistics that have arrived. Those behind the work under way wait for its landing, which looks for a
    /// fault: none before that is theirs to report.
    pub(super) fn collect_statistics(&mut self) -> Result<bool, Error> {
        match &self.in_flight {
            Some(in_flight) if in_flight.measures => Ok(false),
            _ => self.statistics.collect(),
        }
    }

    /// Waits for what is under way, stops it when it takes too long, and takes it over.
    ///
    /// # Errors
    /// [`Error::Interrupted`] where the end was asked for, [`Error::Stuck`], and the device's.
    pub(super) fn complete_in_flight(&mut self) -> Result<(), Error> {
        while self.in_flight.is_some() && !self.try_complete()? {
            self.mind_the_time()?;
            if let Some(in_flight) = &self.in_flight {
                rest(self.awaited()?, in_flight.started)?;
            }
        }
        self.expect_uninterrupted()
    }

    /// That nobody has asked for the end.
    pub(super) fn expect_uninterrupted(&self) -> Result<(), Error> {
        if self.options.interrupt.is_raised() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Stops work that takes longer than allowed, that keeps a new program waiting, or that nobody wants any more.
    pub(super) fn mind_the_time(&mut self) -> Result<(), Error> {
        if let Some(companion) = &mut self.variants.companion {
            companion.other.mind_the_time()?;
            if self.stopwatch.is_reached()? {
                return Ok(()); // it is B that is waited for
            }
        }
        let Some(cause) = self.cause_to_stop() else { return self.expect_end() };
        let Some(in_flight) = &mut self.in_flight else { return Ok(()) };
        match self.stream.cancel() {
            Ok(()) => {
                in_flight.cancelled = Some((cause, Instant::now()));
                Ok(())
            }
            Err(device::Error::Unsupported { .. }) => self.cannot_be_stopped(cause),
            Err(error) => Err(error.into()),
        }
    }

    /// That the work under way, where it was told to end, can still be expected to.
    fn expect_end(&self) -> Result<(), Error> {
        match self.in_flight.as_ref().and_then(|in_flight| in_flight.cancelled) {
            Some((cause, since)) if since.elapsed() >= LONGEST_END => self.cannot_be_stopped(cause),
            Some(_) | None => Ok(()),
        }
    }

    /// What follows where the work under way should end and does not.
    fn cannot_be_stopped(&self, cause: Cause) -> Result<(), Error> {
        let Some(in_flight) = &self.in_flight else { return Ok(()) };
        match cause {
            Cause::Limit => Err(Error::Stuck {
                work: match in_flight.work {
                    Work::Reset(_) | Work::Step | Work::Again(_) => "a step",
                    Work::Load(_) => "loading a state",
                    Work::Statistics => "taking the statistics",
                },
                seconds: self.options.step_timeout.as_secs_f64(),
                device: self.device.info().to_string(),
            }),
            // Slow is not stuck: only the user's own limit ends a step that cannot be stopped.
            Cause::Successor | Cause::Wish => Ok(()),
            Cause::Interrupt => Err(Error::Interrupted),
        }
    }

    /// Why the work under way should be stopped now, if it should and was not told so yet.
    fn cause_to_stop(&self) -> Option<Cause> {
        let in_flight =
            self.in_flight.as_ref().filter(|in_flight| in_flight.cancelled.is_none())?;
        let elapsed = in_flight.started.elapsed();
        if self.options.interrupt.is_raised() {
            Some(Cause::Interrupt)
        } else if in_flight.is_unwanted {
            Some(Cause::Wish)
        } else if elapsed >= self.options.step_timeout {
            Some(Cause::Limit)
        } else {
            // CUDA loads no module while a kernel runs: the newer program waits for that with the driver.
            let is_gpu = self.device.info().kind == DeviceKind::Nvidia;
            // The better optimised version of what runs is no reason: it would take as long, or never end, either.
            let running = self.program.as_ref().map(|program| program.generation);
            let is_newer =
                self.edit.candidate.as_ref().is_some_and(|of| Some(of.generation) != running);
            let is_there = is_newer || is_gpu && self.worker.is_loading();
            let waits = is_there && self.seek.sought.is_none();
            (waits && elapsed >= super::PATIENCE).then_some(Cause::Successor)
        }
    }

    /// Takes over what has ended, and what B did beside it.
    pub(super) fn complete(&mut self) -> Result<(), Error> {
        let is_step = self.in_flight.as_ref().is_some_and(|done| done.work == Work::Step);
        self.complete_own()?;
        self.complete_other(is_step)
    }

    /// Keeps what kernels have told that go on where they do wrong; where nobody asks for it, the first is a fault.
    fn take_reported(&mut self, in_flight: &InFlight) -> Option<Diagnostic> {
        let mut first = None;
        for fault in self.device.take_reported() {
            let told = self.fault_diagnostic(&fault, in_flight);
            if !self.options.reports {
                first.get_or_insert(told);
            } else if self.reported.len() < guarding::MOST_REPORTED {
                self.reported.push(told);
            }
        }
        first
    }

    /// The work has ended: well, and then it is shown; or by a fault, and then the scene stands still.
    fn complete_own(&mut self) -> Result<(), Error> {
        let Some(in_flight) = self.in_flight.take() else { return Ok(()) };
        in_flight.watch.end();
        // The last mark is reached. What was put on the stream behind it is not waited for.
        let stopped = match self.stream.check() {
            Ok(()) => {
                let stopped = in_flight.stopped.as_ref();
                stopped.map(|stopped| self.stopped_diagnostic(stopped, &in_flight))
            }
            Err(device::Error::Fault(fault)) => Some(self.fault_diagnostic(&fault, &in_flight)),
            Err(error) => return Err(error.into()),
        };
        let reported = self.take_reported(&in_flight);
        let stopped = stopped.or(reported);
        if let (Some(checker), Some(program)) = (&mut self.checker, &self.program) {
            checker.take_over(&in_flight.extents, &program.scene.manifest);
        }
        if stopped.is_some() {
            self.statistics.abandon();
            self.plots.abandon();
            self.state.resources.abandon();
            self.fault = stopped;
            match in_flight.work {
                // It is still to be done, by a program that can.
                Work::Reset(reset) => self.resets.next.add(reset),
                Work::Step => self.undo_step(in_flight.copy),
                Work::Again(_) | Work::Load(_) => self.break_off(),
                Work::Statistics => {}
            }
            return Ok(());
        }
        match in_flight.work {
            Work::Reset(_) => {
                if let Some(history) = &mut self.history {
                    history.newcomers.have_reset(&in_flight.entered);
                }
                self.show()
            }
            Work::Step => {
                self.show()?;
                self.state.inputs = self.state.inputs.after_step();
                self.rate.count();
                let laps = self.stopwatch.laps_ms()?;
                self.note_step(&in_flight.entered, in_flight.copy, &laps)?;
                self.timings.push(&laps);
                self.edit.compile.worked = self.program.as_ref().map(|of| of.scene.source.clone());
                Ok(())
            }
            Work::Again(again) => {
                self.state.inputs = again.after;
                self.come_by()
            }
            Work::Load(inputs) => self.take_state(*inputs),
            Work::Statistics => Ok(()),
        }
    }

    /// Shows what the passes that have ended wrote.
    pub(super) fn show(&mut self) -> Result<(), Error> {
        self.state.resources.show(&self.stream)?;
        self.refresh_grids()?;
        self.picture += 1;
        Ok(())
    }

    /// Starts to take statistics of the present state.
    pub(super) fn start_statistics(&mut self) -> Result<(), Error> {
        let Some(program) = &self.program else { return Ok(()) };
        let (stream, board, inputs) = (&self.stream, &mut self.statistics, &self.state.inputs);
        let plots = &mut self.plots;
        let extents = self.state.resources.read(stream, |borrowed| -> Result<_, Error> {
            let slices = linear(borrowed, stream)?;
            board.enqueue(program, stream, &slices, inputs)?;
            plots.enqueue(program, stream, borrowed, board)?;
            Ok(extents(borrowed))
        })?;
        self.stopwatch.restart();
        self.stopwatch.mark(&self.device, &self.stream)?;
        let (entered, watch) = (self.state.inputs.clone(), self.watchdog.watch());
        let in_flight = InFlight::new(Work::Statistics, true, entered, watch);
        self.in_flight = Some(InFlight { extents, ..in_flight });
        Ok(())
    }
}
