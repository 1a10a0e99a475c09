//! The past of a scene: copies of its state, and what entered the steps between them.
//!
//! Enters: states, and what entered the steps behind them. Leaves: the copy from which a past step is computed again.
//! Must not know: `compile`, `gl`, `interop`.
//!
//! A step is a function of the state before it and of what enters it. So a past step is had again from the nearest
//! copy before it, by doing the steps between once more. Such steps go over no edit: each program has a [`Segment`] of
//! its own, which begins with a copy.

mod budget;

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    Error,
    line::{Line, Log, Newcomers, Segment, Text},
    moment::Moment,
    past_gap::PastGap,
    program::Program,
    timing::Stopwatch,
};
use crate::{
    device::{Device, Pool, Stream},
    scene::Inputs,
    state::{Borrowed, Checkpoint},
};

pub use budget::{Budget, Keeping};

/// Of so many measurements of a time the middle one counts.
const MEASURED: usize = 15;
/// Bytes that come from a device to the host in a millisecond, about, as long as none have been sent.
const SENT_A_MS: f64 = 1e6;
/// The way to the host is used for this part of the time at most.
const LARGEST_SENT_PART: f64 = 0.5;

/// The past of a scene.
pub(super) struct History {
    keeping: Keeping,
    /// Memory for copies, where nobody says.
    usual: Budget,
    /// Whether there may be less room than is taken.
    pub(super) is_narrowed: bool,
    pool: Pool,
    /// Oldest first; the last one goes on.
    lines: VecDeque<Line>,
    next: u64,
    /// What has taken over since the last step, or since a past moment was shown.
    pub(super) newcomers: Newcomers,
    /// Whether the next step is to begin a segment: the state, or what makes the next one, has changed otherwise than
    /// by a step.
    pub(super) is_interrupted: bool,
    /// Bytes of copies, on the device and with the host.
    bytes: [u64; 2],
    /// Whether some are on their way to the host.
    is_sending: bool,
    /// Milliseconds of a copy, and of a step.
    copy_ms: Usual,
    step_ms: Usual,
    /// Milliseconds that a copy is on its way to the host, beside the steps.
    sending_ms: Usual,
    /// Bytes of the last copy.
    copy_bytes: u64,
    /// What measures the last copy on the device, and how long the host took to ask for it.
    stopwatch: Stopwatch,
    asked_ms: f64,
    /// Why the last copy that was due was not taken.
    pub(super) gap: Option<PastGap>,
}

/// Whence a past step is had again.
pub(super) struct Source<'a> {
    pub(super) program: &'a Arc<Program>,
    pub(super) checkpoint: &'a Checkpoint,
}

impl History {
    pub(super) fn new(device: &Device, budget: Budget) -> Self {
        Self {
            keeping: Keeping::within(budget),
            usual: Budget::of(device),
            is_narrowed: false,
            pool: Pool::new(device),
            lines: VecDeque::new(),
            next: 0,
            newcomers: Newcomers::default(),
            is_interrupted: true,
            bytes: [0; 2],
            is_sending: false,
            copy_ms: Usual::default(),
            step_ms: Usual::default(),
            sending_ms: Usual::default(),
            copy_bytes: 0,
            stopwatch: Stopwatch::default(),
            asked_ms: 0.0,
            gap: None,
        }
    }

    pub(super) fn keeping(&self) -> Keeping {
        self.keeping
    }

    /// How it is kept, where nobody says.
    pub(super) fn usual(&self) -> Keeping {
        Keeping::within(self.usual)
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter()
    }

    pub(super) fn line(&self, id: u64) -> Option<&Line> {
        self.lines.iter().find(|line| line.id == id)
    }

    /// The line that goes on.
    pub(super) fn current(&self) -> Option<&Line> {
        self.lines.back()
    }

    /// The steps to come are a line of their own, which leaves another one at `parent`, or begins with a reset.
    pub(super) fn begin_line(&mut self, parent: Option<Moment>) {
        self.lines.retain(Line::is_wanted);
        let start = parent.map_or(0, |moment| moment.step);
        let id = self.next;
        self.next += 1;
        let of_parent = parent.and_then(|of| Some(self.line(of.line)?.texts_until(of.step)));
        let inherited = of_parent.unwrap_or(0);
        let (log, segments) = (Log::default(), Vec::new());
        let line = Line { id, parent, inherited, log, is_loaded: false, segments, end: start };
        self.lines.push_back(line);
        self.is_interrupted = true;
    }

    /// The steps to come are a line that begins with a file.
    pub(super) fn begin_loaded(&mut self, step: u64) {
        self.begin_line(None);
        if let Some(line) = self.lines.back_mut() {
            (line.is_loaded, line.end) = (true, step);
        }
    }

    /// Lets an older line go on, whose end is the present state.
    pub(super) fn resume(&mut self, id: u64) {
        let Some(place) = self.lines.iter().position(|line| line.id == id) else { return };
        if let Some(line) = self.lines.remove(place) {
            self.lines.push_back(line);
        }
        self.is_interrupted = true;
    }

    /// Goes on with the line at whose end the last one has begun, where that has come to nothing.
    pub(super) fn rejoin(&mut self) {
        let Some(parent) = self.current().filter(|line| !line.is_wanted()).and_then(|of| of.parent)
        else {
            return;
        };
        if self.line(parent.line).is_some_and(|line| line.is_at_end(parent)) {
            self.lines.pop_back();
            self.resume(parent.line);
        }
    }

    /// Puts a copy of the state on `stream` where one is due before the step that `inputs` enter. There is none where
    /// there is no room for it.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn copy(
        &mut self,
        program: &Program,
        borrowed: &[Borrowed<'_>],
        inputs: &Inputs,
        stream: &Stream,
    ) -> Result<Option<Checkpoint>, Error> {
        match self.is_due(inputs.step) {
            true => self.copy_now(program, borrowed, inputs, stream),
            false => Ok(None),
        }
    }

    /// Puts a copy of the state on `stream`, as [`History::copy`].
    ///
    /// # Errors
    /// The device's.
    pub(super) fn copy_now(
        &mut self,
        program: &Program,
        borrowed: &[Borrowed<'_>],
        inputs: &Inputs,
        stream: &Stream,
    ) -> Result<Option<Checkpoint>, Error> {
        self.gap = program.gap(self.keeping.budget.device);
        if self.gap.is_some() {
            return Ok(None);
        }
        let asked = Instant::now();
        self.stopwatch.restart();
        self.stopwatch.mark(&stream.device(), stream)?;
        let copy = self.with_checksum(program, borrowed, inputs, stream);
        self.stopwatch.mark(&stream.device(), stream)?;
        self.asked_ms = asked.elapsed().as_secs_f64() * 1e3;
        match copy {
            Ok(copy) => Ok(Some(copy)),
            Err(error) if error.is_for_want_of_memory() => {
                self.gap = Some(PastGap::NoRoom);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn with_checksum(
        &self,
        program: &Program,
        borrowed: &[Borrowed<'_>],
        inputs: &Inputs,
        stream: &Stream,
    ) -> Result<Checkpoint, Error> {
        let mut copy = program.checkpoint(borrowed, inputs.clone(), &self.pool, stream)?;
        if let Some(checksum) = &program.checksum {
            copy.start_checksum(checksum, &self.pool, stream)?;
        }
        Ok(copy)
    }

    /// Up to where the steps of a line are to be done again, from the copy of [`History::source`], before a moment of
    /// it is shown: see [`Checksums::uncompared`](super::checksums::Checksums::uncompared).
    pub(super) fn uncompared(&self, from: u64, moment: Moment) -> Option<u64> {
        self.line(moment.line)?.segment(moment.step)?.checksums.uncompared(from, moment.step)
    }

    /// Compares the state that `inputs` enter, which `borrowed` has again, with what it was: one of the steps by the
    /// same program as those that lead to `sought`.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn compare(
        &mut self,
        sought: Moment,
        program: &Program,
        borrowed: &[Borrowed<'_>],
        inputs: &Inputs,
        stream: &Stream,
    ) -> Result<(), Error> {
        let mut copy = self.copy_now(program, borrowed, inputs, stream)?;
        let line = self.lines.iter_mut().find(|line| line.id == sought.line);
        if let Some(segment) = line.and_then(|line| line.segment_mut(sought.step)) {
            let sum = copy.as_mut().and_then(Checkpoint::take_checksum);
            segment.checksums.note_again(inputs.step, sum);
        }
        Ok(())
    }

    /// As many past steps as are had again in this time, about.
    pub(super) fn steps_in(&self, time: Duration) -> u64 {
        let step_ms = self.step_ms.value().unwrap_or(f64::INFINITY);
        (time.as_secs_f64() * 1e3 / step_ms).max(1.0) as u64
    }

    /// Whether the state is to be copied before the step that comes after `step` steps.
    pub(super) fn is_due(&self, step: u64) -> bool {
        let Some(segment) = self.current().and_then(|line| line.segments.last()) else {
            return true;
        };
        let last = segment.checkpoints.keys().next_back().copied().unwrap_or(segment.start);
        self.is_interrupted || step >= last + self.spacing()
    }

    /// Steps from one copy to the next, so that copies take no more than their share of the time, and none comes before
    /// the device has room for it.
    pub(super) fn spacing(&self) -> u64 {
        match (self.copy_ms.value(), self.step_ms.value()) {
            (Some(copy), Some(step)) if step > 0.0 => {
                let apart = (copy / self.keeping.share).max(self.sending() / LARGEST_SENT_PART);
                (apart / step).ceil().max(1.0) as u64
            }
            _ => 1,
        }
    }

    /// Milliseconds that each new copy's way to the host takes, or that of the one that it displaces.
    fn sending(&self) -> f64 {
        match self.sends_to_host() {
            true => self.sending_ms.value().unwrap_or(self.copy_bytes as f64 / SENT_A_MS),
            false => 0.0,
        }
    }

    /// What copies add to the time of a step, as a part of it.
    pub(super) fn share(&self) -> f64 {
        match (self.copy_ms.value(), self.step_ms.value()) {
            (Some(copy), Some(step)) if step > 0.0 => copy / step / self.spacing() as f64,
            _ => 0.0,
        }
    }

    /// Notes the step after `inputs.step` steps, which was done by `program` on what `checkpoint` is a copy of, where
    /// the state was copied.
    pub(super) fn note(
        &mut self,
        program: &Arc<Program>,
        inputs: &Inputs,
        mut checkpoint: Option<Checkpoint>,
        step_ms: f64,
    ) -> Result<(), Error> {
        self.step_ms.add(step_ms);
        let has_come = checkpoint.is_some();
        if let Some(checkpoint) = &checkpoint
            && let [copy_ms, ..] = self.stopwatch.laps_ms()?[..]
        {
            self.copy_bytes = checkpoint.bytes() as u64;
            self.copy_ms.add(f64::from(copy_ms) + self.asked_ms);
        }
        if self.lines.is_empty() {
            self.begin_line(None);
        }
        let is_interrupted = std::mem::take(&mut self.is_interrupted);
        let Some(line) = self.lines.back_mut() else { return Ok(()) };
        if is_interrupted || line.segments.is_empty() {
            line.segments.retain(|segment| segment.start < inputs.step);
            line.segments.push(Segment::new(program, inputs.step));
        }
        line.end = inputs.step + 1;
        line.log.note(&mut self.newcomers, program, inputs);
        let Some(segment) = line.segments.last_mut() else { return Ok(()) };
        segment.end = line.end;
        segment
            .checksums
            .note(inputs.step, checkpoint.as_mut().and_then(Checkpoint::take_checksum));
        segment.checkpoints.extend(checkpoint.map(|checkpoint| (inputs.step, checkpoint)));
        if segment.checkpoints.is_empty() {
            // Without a copy at its start nothing of it is had again.
            line.segments.pop();
            self.is_interrupted = true;
        }
        if has_come {
            self.recount();
        }
        Ok(())
    }

    /// Keeps a copy of the present state, the end of the line that goes on.
    pub(super) fn keep_end(&mut self, program: &Arc<Program>, mut checkpoint: Checkpoint) {
        let step = checkpoint.inputs.step;
        let interrupted = self.is_interrupted;
        let Some(line) = self.lines.back_mut().filter(|line| line.end == step) else { return };
        line.log.welcome(&mut self.newcomers);
        if interrupted || line.segments.is_empty() {
            line.segments.push(Segment::new(program, step));
        }
        if let Some(segment) = line.segments.last_mut() {
            segment.checksums.note(step, checkpoint.take_checksum());
            segment.checkpoints.insert(step, checkpoint);
        }
        self.recount();
    }

    /// Whence the state after `moment.step` steps is had.
    pub(super) fn source(&self, moment: Moment) -> Option<Source<'_>> {
        let segment = self.line(moment.line)?.segment(moment.step)?;
        let (_, checkpoint) = segment.checkpoints.range(..=moment.step).next_back()?;
        Some(Source { program: &segment.program, checkpoint })
    }

    /// What entered the step after `moment.step` steps; `None` where there was none.
    pub(super) fn entered(&self, moment: Moment) -> Option<Inputs> {
        self.line(moment.line).filter(|line| moment.step < line.end)?.log.entered(moment.step)
    }

    /// What the steps that led to `at`, of which there is this copy, have left: as it is where the moment is had by
    /// doing them again. A copy has what entered the step behind it, which a person may have changed in between; that
    /// counts at the end of the line, and where a program's steps begin.
    pub(super) fn left(&self, at: Moment, copy: &Checkpoint) -> Inputs {
        let line = self.line(at.line).filter(|line| at.step < line.end);
        let is_between =
            |line: &&Line| line.segment(at.step).is_some_and(|segment| segment.start < at.step);
        let before = line.filter(is_between).and_then(|line| line.log.entered(at.step - 1));
        before.map_or_else(|| copy.inputs.clone(), |before| before.after_step())
    }

    /// The moments that led to `at` and of which there are copies.
    pub(super) fn copies(&self, at: Moment) -> Vec<Moment> {
        let copies = self.ancestry(at).flat_map(|(line, end)| {
            let steps = line.segments.iter().flat_map(|segment| segment.checkpoints.keys());
            // Where a line is left, another text may have changed the state at once.
            steps
                .filter(move |step| **step < end || line.id == at.line && **step == end)
                .map(|step| Moment { line: line.id, step: *step })
        });
        copies.collect()
    }

    /// The texts that led to `at`, which is shown; the latest line's first.
    pub(super) fn texts(&self, at: Moment) -> impl Iterator<Item = &Text> {
        let own = self.line(at.line).map(|line| match line.is_at_end(at) {
            true => line.log.texts.len(),
            false => line.texts_until(at.step),
        });
        let mut count = own.unwrap_or(0);
        let of_lines = self.ancestry(at).flat_map(move |(line, _)| {
            let led = line.log.texts.get(..count).unwrap_or_default();
            count = line.inherited;
            led.iter().rev()
        });
        self.newcomers.texts().iter().rev().chain(of_lines)
    }

    /// The copy of a moment, if there is one.
    pub(super) fn checkpoint(&self, moment: Moment) -> Option<&Checkpoint> {
        let line = self.lines.iter().find(|line| line.id == moment.line)?;
        line.segments.iter().rev().find_map(|of| of.checkpoints.get(&moment.step))
    }

    /// Bytes of copies, on the device and with the host.
    pub(super) fn bytes(&self) -> [u64; 2] {
        self.bytes
    }

    /// Whether the device has no more room, so that for each new copy an old one goes to the host.
    fn sends_to_host(&self) -> bool {
        let [on_device, _] = self.bytes;
        let Budget { device, host } = self.keeping.budget;
        host > 0 && on_device >= device / 2
    }

    /// Counts the copies' bytes anew, after some have come or gone.
    fn recount(&mut self) {
        let segments = self.lines.iter().flat_map(|line| &line.segments);
        let mut sums = [0; 2];
        for checkpoint in segments.flat_map(|segment| segment.checkpoints.values()) {
            sums[usize::from(!checkpoint.is_on_device())] += checkpoint.bytes() as u64;
        }
        self.bytes = sums;
    }
}

impl History {
    /// The line of `at`, the one that it leaves, and so on; each with the steps that were finished where it was left.
    pub(super) fn ancestry(&self, at: Moment) -> impl Iterator<Item = (&Line, u64)> {
        let first = self.line(at.line).map(|line| (line, at.step));
        std::iter::successors(first, |(line, _)| {
            let parent = line.parent?;
            Some((self.line(parent.line)?, parent.step))
        })
    }
}

/// What something usually takes: the middle one of its last times. Other work on the processor makes some of them many
/// times as long, of copies as of steps, and an average would be of those.
#[derive(Clone, Debug, Default)]
struct Usual(VecDeque<f64>);

impl Usual {
    fn add(&mut self, time: f64) {
        self.0.truncate(MEASURED - 1);
        self.0.push_front(time);
    }

    fn value(&self) -> Option<f64> {
        let mut times: Vec<f64> = self.0.iter().copied().collect();
        times.sort_by(f64::total_cmp);
        times.get(times.len() / 2).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_times_that_are_long_do_not_count() {
        let mut usual = Usual::default();
        assert_eq!(usual.value(), None);
        for time in [3.0, 180.0, 3.5, 4.0, 83.0] {
            usual.add(time);
        }
        assert_eq!(usual.value(), Some(4.0));
        // What has changed counts after as many times as are more than half.
        (0..MEASURED / 2 + 1).for_each(|_| usual.add(20.0));
        assert_eq!(usual.value(), Some(20.0));
    }
}
