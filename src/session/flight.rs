//! A step under way: how it takes off, and what is known when it has landed.

use std::time::{Duration, Instant};

use super::{
    Error, Phase, Reset, Session,
    program::Pass,
    resources::{Lent, linear},
};
use crate::{
    device::{self, Arguments, DeviceKind, Fault, Location, Stream},
    diagnostic::{Diagnostic, Severity},
    scene::{Inputs, Manifest, Wanted, When},
};

/// Even a scene whose step is long in its own time is stepped so often in real time.
const SLOWEST: Duration = Duration::from_millis(250);

/// Work on the stream that has not been taken over yet.
pub(super) struct Flight {
    work: Work,
    started: Instant,
    /// Statistics come behind it.
    measures: bool,
    /// The host has asked for its end.
    cancelled: bool,
}

/// What is being done.
#[derive(Clone, Debug, PartialEq)]
enum Work {
    /// The reset passes.
    Reset(Reset),
    /// The step passes.
    Step,
}

impl Flight {
    /// A flight that takes off now.
    fn new(work: Work, measures: bool) -> Self {
        Self { work, started: Instant::now(), measures, cancelled: false }
    }
}

impl Session {
    /// Starts what is due: a reset, or a step. Not while something is under way.
    pub(super) fn depart(&mut self) -> Result<(), Error> {
        if self.program.is_none() || self.fault.is_some() {
            return Ok(());
        }
        if self.reset != Reset::None {
            let reset = std::mem::replace(&mut self.reset, Reset::None);
            self.forget_extent(&reset);
            if reset == Reset::All {
                self.inputs.step = 0;
                self.inputs.frame = 0;
                self.inputs.time = 0.0;
            }
            return self.launch(Work::Reset(reset));
        }
        let goes_on = self.playing && !self.compiler_comes_first();
        if self.single_steps > 0 || (goes_on && self.is_due()) {
            self.single_steps = self.single_steps.saturating_sub(1);
            return self.launch(Work::Step);
        }
        Ok(())
    }

    /// Whether the time for the next step has come. A scene that is too slow for real time does not catch up.
    fn is_due(&mut self) -> bool {
        let now = Instant::now();
        if !self.options.real_time {
            return true;
        }
        if now < self.due {
            return false;
        }
        let dt = Duration::try_from_secs_f64(self.inputs.dt).unwrap_or_default();
        self.due = (self.due + dt.min(SLOWEST)).max(now);
        true
    }

    /// On the CPU device a step would take the cores that the compiler needs: a short compilation is waited for,
    /// so that an edit is seen sooner.
    fn compiler_comes_first(&self) -> bool {
        let compiling = self.compile.phase == Phase::Compiling;
        let shares_cores = self.device.info().kind == DeviceKind::Cpu;
        compiling && shares_cores && self.submitted.elapsed() < super::COMPILER_FIRST
    }

    /// Puts the passes of `work` on the stream, with events around each.
    fn launch(&mut self, work: Work) -> Result<(), Error> {
        let Self { program: Some(program), resources, stream, device, stopwatch, inputs, .. } =
            self
        else {
            return Ok(());
        };
        inputs.dt = program.scene.manifest.step_seconds(&inputs.parameters);
        let when = if work == Work::Step { When::Step } else { When::Reset };
        let every = self.options.statistics_every;
        let measure = every.is_some() && (work != Work::Step || self.statistics.is_due(every));
        let board = &mut self.statistics;
        resources.write(stream, |lent| {
            if work == Work::Reset(Reset::All) {
                lent.iter().try_for_each(|lent| lent.clear(stream))?;
            }
            stopwatch.restart();
            stopwatch.mark(device, stream)?;
            let manifest = &program.scene.manifest;
            for pass in program.passes(when).filter(|pass| concerns(pass, &work, manifest)) {
                launch_pass(stream, pass, inputs, lent)?;
                stopwatch.mark(device, stream)?;
            }
            if measure {
                let after = if work == Work::Step { inputs.after_step() } else { inputs.clone() };
                let slices = linear(lent, stream)?;
                board.enqueue(program, stream, &slices, &after)?;
            }
            Ok(())
        })?;
        self.stopwatch.mark(&self.device, &self.stream)?;
        self.flight = Some(Flight::new(work, measure));
        Ok(())
    }

    /// Takes over what has landed, if it has. Returns whether it has.
    pub(super) fn try_land(&mut self) -> Result<bool, Error> {
        match &self.flight {
            Some(_) if self.stopwatch.is_reached()? => self.land().map(|()| true),
            _ => Ok(false),
        }
    }

    /// Takes over statistics that have arrived. Those behind the work under way wait for its landing, which looks for a
    /// fault: none before that is theirs to report.
    pub(super) fn collect_statistics(&mut self) -> Result<bool, Error> {
        match &self.flight {
            Some(flight) if flight.measures => Ok(false),
            _ => self.statistics.collect(),
        }
    }

    /// Waits for what is under way, stops it when it takes too long, and takes it over.
    pub(super) fn finish_flight(&mut self) -> Result<(), Error> {
        while self.flight.is_some() && !self.try_land()? {
            self.mind_the_time()?;
            if let Some(flight) = &self.flight {
                rest(flight.started);
            }
        }
        Ok(())
    }

    /// Stops a step that takes longer than allowed, or that keeps a new program waiting.
    pub(super) fn mind_the_time(&mut self) -> Result<(), Error> {
        let limit = match self.candidate {
            Some(_) => self.options.step_timeout.min(super::PATIENCE),
            None => self.options.step_timeout,
        };
        let Some(flight) = &mut self.flight else { return Ok(()) };
        if flight.cancelled || flight.started.elapsed() < limit {
            return Ok(());
        }
        match self.stream.cancel() {
            Ok(()) => flight.cancelled = true,
            Err(device::Error::Unsupported { device, .. }) => {
                // Slow is not stuck: only the user's own limit ends a step that cannot be stopped.
                if flight.started.elapsed() >= self.options.step_timeout {
                    let seconds = self.options.step_timeout.as_secs_f64();
                    return Err(Error::Stuck { seconds, device });
                }
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// The work has ended: well, and then it is shown; or by a fault, and then the scene stands still.
    fn land(&mut self) -> Result<(), Error> {
        let Some(flight) = self.flight.take() else { return Ok(()) };
        match self.stream.synchronize() {
            Ok(()) => {}
            Err(device::Error::Fault(fault)) => {
                self.statistics.abandon();
                self.resources.abandon();
                self.fault = Some(self.fault_diagnostic(*fault));
                if let Work::Reset(reset) = flight.work {
                    // It is still to be done, by a program that can.
                    self.reset.add(reset);
                }
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
        self.resources.show(&self.stream)?;
        self.picture += 1;
        if flight.work == Work::Step {
            self.inputs = self.inputs.after_step();
            self.rate.count();
            self.history.push(&self.stopwatch.laps_ms()?);
        }
        Ok(())
    }

    /// A fault as a remark on the line where it happened, with the kernel's name as the manifest has it.
    fn fault_diagnostic(&self, mut fault: Fault) -> Diagnostic {
        let passes = self.program.iter().flat_map(|program| &program.passes);
        if let Some(pass) = passes.into_iter().find(|pass| pass.function.name() == fault.kernel) {
            fault.kernel.clone_from(&pass.plan.declared.kernel);
        }
        let place = place(&fault);
        let file = place.map_or(self.options.name.as_str(), |l| l.file.as_str());
        let remark = Diagnostic::error(file, fault.summary()).with_severity(Severity::Fault);
        match place {
            Some(l) if l.line > 0 => remark.at(l.line, (l.column > 0).then_some(l.column)),
            _ => remark,
        }
    }

    /// Puts statistics of the present state on the stream.
    pub(super) fn start_statistics(&mut self) -> Result<(), Error> {
        let Some(program) = &self.program else { return Ok(()) };
        let (stream, board, inputs) = (&self.stream, &mut self.statistics, &self.inputs);
        self.resources.read(stream, |lent| {
            let slices = linear(lent, stream)?;
            board.enqueue(program, stream, &slices, inputs)
        })
    }
}

/// Where the fault happened, as its author sees it: the functions of surfaces stand in a header of the compiler's own.
fn place(fault: &Fault) -> Option<&Location> {
    let calls = fault.inlined.iter().map(|frame| &frame.call_site);
    let mut places = fault.location.iter().chain(calls);
    places.find(|place| !place.file.starts_with("__nv_nvrtc")).or(fault.location.as_ref())
}

/// Whether a pass has something to do in this work: after an edit, only the passes of new resources.
fn concerns(pass: &Pass, work: &Work, manifest: &Manifest) -> bool {
    match work {
        Work::Reset(Reset::Fresh(names)) => {
            pass.plan.writes().any(|id| names.contains(&manifest.resource(id).name))
        }
        Work::Reset(_) | Work::Step => true,
    }
}

/// Puts a pass on the stream, as often as its `repeat` says. Double resources of which it writes the other half change
/// their halves after each launch.
#[expect(unsafe_code, reason = "a kernel launch")]
fn launch_pass(
    stream: &Stream,
    pass: &Pass,
    inputs: &Inputs,
    lent: &mut [Lent<'_>],
) -> Result<(), Error> {
    for _ in 0..pass.plan.launches(inputs) {
        let mut arguments = Arguments::new();
        for argument in &pass.plan.arguments {
            let handle =
                |wanted: Wanted| lent.get(wanted.resource.0).map_or(0, |l| l.handle(wanted));
            let packed = argument.pack(inputs, handle);
            arguments.push_bytes(packed.bytes(), packed.align);
        }
        // SAFETY: the addresses and objects are those of the scene's resources, which outlive the step: they are kept
        // until the stream has passed the event after it. What the kernel does beyond them is its author's
        // risk on an NVIDIA device, as it is in any CUDA program; the CPU device checks every access.
        unsafe { stream.launch(&pass.function, &pass.config, &arguments)? };
        for swapped in &pass.plan.swaps {
            if let Some(lent) = lent.get_mut(swapped.0) {
                lent.swap();
            }
        }
    }
    Ok(())
}

/// Lets other threads run: hardly at all while a step is young, longer when it is slow anyway.
fn rest(started: Instant) {
    let pause = started.elapsed() / 64;
    if pause.as_micros() < 50 {
        std::thread::yield_now();
    } else {
        std::thread::sleep(pause.min(Duration::from_millis(2)));
    }
}
