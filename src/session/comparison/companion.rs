//! B beside A: how it comes to run, and does each of A's steps, too.
//!
//! B is a session of its own that is led by A. Where it has A's device, it begins as a copy of A, program and state,
//! and takes over its own program as an edit: what an edit carries over, it does. On a device of its own it begins
//! with its own program, and then gets A's state as a file would bring it. From then on each step is put on both
//! streams, on one device one behind the other, in turns A first and B first, and on two at once; and both are taken
//! over together.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    Compared,
    comparer::{Comparer, Job},
    figures::Figures,
    snapshot::{Comparison, ComparisonPhase},
    variant::Variant,
};
use crate::{
    device::Pool,
    diagnostic::Diagnostic,
    scene::{Inputs, Value},
    session::{
        Error, Phase, Reset, Session, brought::Way, program::Program, run_files::UsedFile,
        work::Work,
    },
    state::Checkpoint,
};

/// A's companion.
pub(in crate::session) struct Companion {
    pub(super) variant: Variant,
    /// B.
    pub(in crate::session) other: Session,
    /// Whether it has a device of its own.
    pub(super) is_elsewhere: bool,
    /// Its text, and the files that A's program was made of when B got that.
    pub(super) text: Arc<str>,
    pub(super) files: Arc<[UsedFile]>,
    /// B's program, once it is compiled.
    pub(super) program: Option<Arc<Program>>,
    pub(super) stage: Stage,
    /// Whether A has left what B has a copy of while B took it over.
    pub(super) is_stale: bool,
    /// Nobody wants it any more; it goes as soon as it does nothing.
    pub(in crate::session) is_ending: bool,
    /// A's program, and its parameters in the step before: what a person changes there B gets, too.
    pub(super) of_a: Option<Arc<Program>>,
    pub(super) entered: BTreeMap<String, Value>,
    pub(super) figures: Figures,
    pub(super) comparer: Comparer,
    /// What copies of A's state are in, on their way to B.
    pub(super) pool: Pool,
    /// The resources are to be compared: so many steps are finished.
    pub(super) due: Option<u64>,
}

pub(super) enum Stage {
    /// B is being compiled.
    Compiling,
    /// Its own program begins, on a device of its own.
    Beginning,
    /// It has mistakes.
    Rejected(Vec<Diagnostic>),
    /// It waits for A to stand still.
    Waiting,
    /// A's state is on its way to the host.
    Sending(Checkpoint),
    /// From there to a device of its own.
    Bringing(Checkpoint, Way),
    /// A's state is on its way to it.
    Copying(Checkpoint),
    /// Its own program takes A's place.
    Adopting,
    /// It does what A does.
    InStep,
    /// It has faulted.
    Faulted(Diagnostic),
}

impl Companion {
    /// Does the next part of what is to be done beside steps, without waiting.
    pub(in crate::session) fn go_on(&mut self, a: &mut Session) -> Result<bool, Error> {
        let mut has_changed = false;
        if let Some(found) = self.comparer.take()? {
            self.figures.add(found)?;
            has_changed = true;
        }
        if self.follow_text(a) {
            return Ok(true);
        }
        match &self.stage {
            Stage::Compiling => self.compile()?,
            Stage::Beginning => self.begin_elsewhere()?,
            // What A compiles may be the same text once more, better optimised.
            Stage::Waiting if a.is_settled() && !a.worker.is_busy() => self.hand_over(a)?,
            Stage::Sending(_) => return Ok(self.send()? || has_changed),
            Stage::Bringing(..) => return Ok(self.place(a)? || has_changed),
            Stage::Copying(_) if self.other.stopwatch.is_reached()? => self.take_over(a)?,
            Stage::Adopting => self.adopt(a)?,
            Stage::InStep => {
                self.follow_edits(a);
                self.compare(a)?;
                return Ok(has_changed);
            }
            Stage::Rejected(_) | Stage::Waiting | Stage::Copying(_) | Stage::Faulted(_) => {
                return Ok(has_changed);
            }
        }
        Ok(true)
    }

    /// Takes over what became of B's source.
    fn compile(&mut self) -> Result<(), Error> {
        while let Some(result) = self.other.worker.poll() {
            self.other.apply_result(result)?;
        }
        match (self.other.edit.compile.phase, self.other.edit.candidate.take()) {
            (Phase::Rejected, _) => self.reject(),
            (Phase::Running, Some(program)) => {
                self.program = Some(program.clone());
                self.stage = match self.is_elsewhere {
                    true => Stage::Beginning,
                    false => Stage::Waiting,
                };
                self.other.edit.candidate = self.is_elsewhere.then_some(program);
            }
            (Phase::Compiling | Phase::Running, candidate) => self.other.edit.candidate = candidate,
        }
        Ok(())
    }

    /// B gets A's text, where it is to have that and has another one, or other files that it includes.
    fn follow_text(&mut self, a: &Session) -> bool {
        let has_its_device = self.variant.device.is_some() == self.is_elsewhere;
        let Some(of_a) = &a.program else { return false };
        let (text, files) = (&of_a.scene.source, &of_a.files);
        let is_free = match &self.stage {
            Stage::InStep | Stage::Waiting | Stage::Faulted(_) | Stage::Rejected(_) => true,
            Stage::Compiling
            | Stage::Beginning
            | Stage::Sending(_)
            | Stage::Bringing(..)
            | Stage::Copying(_)
            | Stage::Adopting => false,
        };
        let is_due = self.variant.follows_text() && is_free && has_its_device;
        if !is_due || !a.is_settled() || (text, files) == (&self.text, &self.files) {
            return false;
        }
        (self.text, self.files) = (text.clone(), files.clone());
        self.due = None;
        // What A may include B may, too.
        self.other.options.trust = a.options.trust;
        self.other.set_source(text.to_string());
        self.stage = Stage::Compiling;
        true
    }

    pub(super) fn reject(&mut self) {
        self.stage = Stage::Rejected(self.other.edit.compile.diagnostics.clone());
    }

    /// B cannot have A's state.
    pub(super) fn refuse(&mut self, reason: String) {
        self.stage = Stage::Rejected(vec![Diagnostic::error(&self.other.options.name, reason)]);
    }

    fn adopt(&mut self, a: &mut Session) -> Result<(), Error> {
        if !self.has_come_to_run()? {
            return Ok(());
        }
        a.picture += 1;
        if matches!(self.stage, Stage::Adopting) {
            match self.is_stale {
                true => self.stage = Stage::Waiting,
                false => self.begin(a)?,
            }
        }
        Ok(())
    }

    /// Lets B's program come to run, and says whether that has ended: well, or with another stage.
    pub(super) fn has_come_to_run(&mut self) -> Result<bool, Error> {
        let other = &mut self.other;
        other.update()?;
        let has_ended = other.edit.candidate.is_none()
            && !other.is_migrating()
            && other.in_flight.is_none()
            && (other.resets.next == Reset::None || other.fault.is_some());
        if has_ended && other.edit.compile.phase == Phase::Rejected {
            self.reject();
        } else if let Some(fault) = other.fault.clone().filter(|_| has_ended) {
            self.stage = Stage::Faulted(fault);
        }
        Ok(has_ended)
    }

    /// From now on both do the same steps.
    pub(super) fn begin(&mut self, a: &Session) -> Result<(), Error> {
        let Self { other: Session { program: Some(own), state, stream, .. }, variant, .. } = self
        else {
            return Ok(());
        };
        // A program that takes another one's place sets its variables anew; here both have gone on with them.
        let is_here = !self.is_elsewhere;
        let of_a = a.program.as_ref().filter(|of_a| own.contents.sets_as(&of_a.contents));
        if let Some(program) = of_a.filter(|_| is_here) {
            own.carry_variables(program, stream)?;
        }
        let parameters = &mut state.inputs.parameters;
        *parameters = own.scene.manifest.take_values(&variant.parameters, parameters);
        self.stage = Stage::InStep;
        self.restart(a);
        Ok(())
    }

    /// The figures begin anew, with what both hold now.
    fn restart(&mut self, a: &Session) {
        self.of_a = a.program.clone();
        self.entered = a.named_parameters();
        let resources = |of: &Option<Arc<Program>>| {
            of.as_ref().map_or_else(Vec::new, |of| of.scene.manifest.resources().to_vec())
        };
        let [of_a, of_b] = [&a.program, &self.other.program].map(resources);
        let step = a.state.inputs.step;
        self.figures.restart(step, [&of_a, &of_b]);
        self.due = Some(step);
    }

    /// Another program of A makes other figures.
    fn follow_edits(&mut self, a: &Session) {
        let is_same = match (&self.of_a, &a.program) {
            (Some(known), Some(program)) => Arc::ptr_eq(known, program),
            _ => false,
        };
        if !is_same {
            self.restart(a);
        }
    }

    /// Has the resources compared, where that is due.
    fn compare(&mut self, a: &mut Session) -> Result<(), Error> {
        let is_here = self.due == Some(a.state.inputs.step) && a.is_settled();
        let rests = self.figures.have_parted() && a.playback.playing && !self.comparer.is_rested();
        if !is_here || rests || self.comparer.is_busy() {
            return Ok(());
        }
        self.due = None;
        let names: Vec<&str> = self.figures.resources.iter().map(|of| &*of.name).collect();
        let (other, pool) = (&mut self.other, &self.pool);
        let pool_of_b = Pool::passing(&other.device);
        let of_b = if self.is_elsewhere { &pool_of_b } else { pool };
        let contents =
            a.download(&names, pool).and_then(|of_a| Ok([of_a, other.download(&names, of_b)?]));
        let sides = match contents {
            Ok(sides) => sides,
            // The next time there may be room.
            Err(error) if error.is_for_want_of_memory() => return Ok(()),
            Err(error) => return Err(error),
        };
        let compared = self.figures.resources.iter();
        let resources = compared.map(|of| (of.name.clone(), of.of())).collect();
        let (round, step) = (self.figures.round, a.state.inputs.step);
        self.comparer.give(Job { round, step, resources, sides });
        Ok(())
    }
}

impl Companion {
    /// Whether A must not begin what is due, a step or this reset: B takes over what A has, or no step is to be left
    /// out, as long as both were the same. What an edit of A fills anew waits for nobody: nothing is compared before.
    pub(in crate::session) fn holds(&self, reset: &Reset) -> bool {
        match (&self.stage, reset) {
            _ if self.is_ending => false,
            (
                Stage::Sending(_) | Stage::Bringing(..) | Stage::Copying(_) | Stage::Adopting,
                Reset::None | Reset::All,
            ) => true,
            (Stage::InStep, Reset::None) => self.due.is_some() && !self.figures.have_parted(),
            (
                Stage::Sending(_)
                | Stage::Bringing(..)
                | Stage::Copying(_)
                | Stage::Adopting
                | Stage::InStep,
                Reset::Fresh(_),
            )
            | (Stage::InStep, Reset::All)
            | (
                Stage::Compiling
                | Stage::Beginning
                | Stage::Rejected(_)
                | Stage::Waiting
                | Stage::Faulted(_),
                Reset::None | Reset::Fresh(_) | Reset::All,
            ) => false,
        }
    }

    /// Whether there is something to look at soon; `is_settled` is whether A stands still.
    pub(in crate::session) fn is_busy(&self, is_settled: bool) -> bool {
        let is_changing = match self.stage {
            Stage::Compiling
            | Stage::Beginning
            | Stage::Sending(_)
            | Stage::Bringing(..)
            | Stage::Copying(_)
            | Stage::Adopting => true,
            Stage::Waiting => is_settled,
            Stage::InStep => self.due.is_some() && is_settled,
            Stage::Rejected(_) | Stage::Faulted(_) => false,
        };
        is_changing || self.comparer.is_busy() || self.is_ending
    }

    /// A goes elsewhere than to its next step; B gets a copy again when it is there.
    pub(in crate::session) fn part(&mut self) {
        match self.stage {
            Stage::InStep | Stage::Faulted(_) => self.stage = Stage::Waiting,
            Stage::Sending(_) | Stage::Bringing(..) | Stage::Copying(_) | Stage::Adopting => {
                self.is_stale = true
            }
            Stage::Compiling | Stage::Beginning | Stage::Rejected(_) | Stage::Waiting => {}
        }
    }

    /// Whether what B does beside A's work has ended.
    pub(in crate::session) fn has_ended(&self) -> Result<bool, Error> {
        Ok(!self.is_led() || self.other.in_flight.is_none() || self.other.stopwatch.is_reached()?)
    }

    /// Whether what B does is begun and taken over together with A's work.
    fn is_led(&self) -> bool {
        match self.stage {
            Stage::InStep | Stage::Waiting | Stage::Faulted(_) => true,
            Stage::Compiling
            | Stage::Beginning
            | Stage::Rejected(_)
            | Stage::Sending(_)
            | Stage::Bringing(..)
            | Stage::Copying(_)
            | Stage::Adopting => false,
        }
    }

    /// Puts `work` on A's stream and, where B does the same, on B's.
    pub(in crate::session) fn launch(&mut self, a: &mut Session, work: Work) -> Result<(), Error> {
        let begins_anew = work == Work::Reset(Reset::All);
        match self.stage {
            Stage::InStep => {}
            Stage::Faulted(_) if begins_anew => self.stage = Stage::InStep,
            Stage::Faulted(_) | Stage::Rejected(_) => return a.launch(work),
            Stage::Compiling | Stage::Beginning | Stage::Waiting => return a.launch(work),
            Stage::Sending(_) | Stage::Bringing(..) | Stage::Copying(_) | Stage::Adopting => {
                return a.launch(work);
            }
        }
        let other = &mut self.other;
        if begins_anew {
            (other.resets.next, other.fault) = (Reset::None, None);
            other.begin_reset(&Reset::All);
        } else if work != Work::Step {
            // What an edit makes A do is not B's.
            return a.launch(work);
        }
        self.follow(&a.state.inputs, a);
        let other = &mut self.other;
        let is_first = a.state.inputs.step.is_multiple_of(2);
        let [first, second] = if is_first { [a, other] } else { [other, a] };
        first.launch(work.clone())?;
        // Two devices do not wait for one another.
        if let Some(last) = first.stopwatch.last().filter(|_| !self.is_elsewhere) {
            second.stream.wait(last)?;
        }
        second.launch(work)
    }

    /// B, where it does this reset beside A: see [`Companion::launch`].
    pub(in crate::session) fn other_in_reset(&mut self, reset: &Reset) -> Option<&mut Session> {
        let is_beside = matches!(self.stage, Stage::InStep | Stage::Faulted(_)) && !self.is_ending;
        (is_beside && *reset == Reset::All).then_some(&mut self.other)
    }

    /// What enters A's step enters B's, but for the parameters that are B's own.
    fn follow(&mut self, inputs: &Inputs, a: &Session) {
        let now = a.named_parameters();
        let is_new = |name: &String, value: &Value| self.entered.get(name) != Some(value);
        let mut changed = now.clone();
        changed.retain(|name, value| {
            is_new(name, value) && !self.variant.parameters.contains_key(name)
        });
        let own = &mut self.other.state.inputs;
        let manifest = self.other.program.as_ref().map(|program| &program.scene.manifest);
        let parameters = manifest
            .map_or_else(Vec::new, |manifest| manifest.take_values(&changed, &own.parameters));
        *own = Inputs { parameters, dt: own.dt, ..inputs.clone() };
        self.entered = now;
    }

    /// A's work, of which `is_step` tells, has ended and was taken over; B's is now.
    pub(in crate::session) fn complete(
        &mut self,
        a: &mut Session,
        is_step: bool,
    ) -> Result<(), Error> {
        if self.other.in_flight.is_none() || !self.is_led() {
            return Ok(());
        }
        self.other.complete()?;
        a.picture += 1;
        if matches!(self.stage, Stage::Waiting) {
            return Ok(()); // A is on its way to another moment
        }
        if a.fault.is_some() {
            // What B ran into may be A's: it waits for A's kernels, as long as those may take.
            self.stage = Stage::Waiting;
        } else if let Some(fault) = self.other.fault.clone() {
            self.stage = Stage::Faulted(fault);
        } else if is_step {
            self.figures.add_times(&[a.timings.timings(), self.other.timings.timings()]);
            self.due = Some(a.state.inputs.step);
        } else {
            self.restart(a);
        }
        Ok(())
    }

    /// Whether it shows something.
    pub(in crate::session) fn is_shown(&self) -> bool {
        self.figures.round > 0 && !self.is_ending
    }

    /// How a resource of both does.
    pub(super) fn compared(&self, name: &str) -> Option<&Compared> {
        self.figures.resources.iter().find(|compared| compared.name == name)
    }

    pub(in crate::session) fn snapshot(&self, a: &Session) -> Comparison {
        let figures = &self.figures;
        let is_same = |of_a: &Arc<Program>| {
            let own = self.program.as_ref();
            of_a.scene.source == self.text && own.is_none_or(|own| own.files == of_a.files)
        };
        Comparison {
            variant: self.variant.clone(),
            has_same_text: a.program.as_ref().is_some_and(is_same),
            phase: match &self.stage {
                Stage::Compiling | Stage::Beginning => ComparisonPhase::Compiling,
                Stage::Rejected(diagnostics) => ComparisonPhase::Rejected(diagnostics.clone()),
                Stage::Waiting
                | Stage::Sending(_)
                | Stage::Bringing(..)
                | Stage::Copying(_)
                | Stage::Adopting => ComparisonPhase::Waiting,
                Stage::InStep => ComparisonPhase::Running,
                Stage::Faulted(fault) => ComparisonPhase::Faulted(fault.clone()),
            },
            since: figures.since,
            step: figures.step,
            resources: figures.resources.clone(),
            unlike: figures.unlike.clone(),
            passes: figures.passes.clone(),
        }
    }
}

impl Session {
    /// Whether the state is that of a moment, and nothing is about to change it but the next step.
    pub(super) fn is_settled(&self) -> bool {
        self.in_flight.is_none()
            && self.edit.candidate.is_none()
            && self.edit.migration.is_none()
            && self.seek.sought.is_none()
            && self.resets.next == Reset::None
            && self.fault.is_none()
            && self.program.is_some()
    }

    pub(super) fn named_parameters(&self) -> BTreeMap<String, Value> {
        let manifest = self.program.as_ref().map(|program| &program.scene.manifest);
        manifest.map_or_else(BTreeMap::new, |manifest| {
            manifest.named_values(&self.state.inputs.parameters)
        })
    }
}
