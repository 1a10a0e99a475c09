//! The latest statistics of each resource, and those on their way.

use std::time::{Duration, Instant};

use super::{Error, program::Program, timing::Stopwatch};
use crate::{
    array::{Pending, Statistics},
    device::{self, Slice, Stream},
    scene::{Inputs, ResourceId},
};

/// Statistics are taken again after so many times of what they took: a scene is there to be played.
const REST: u32 = 5;

/// The latest statistics of every resource.
#[derive(Debug, Default)]
pub(super) struct Board {
    latest: Vec<Vec<Statistics>>,
    /// Of the mapped values of each of the manifest's own statistics.
    stats: Vec<Statistics>,
    step: u64,
    /// Whether a program has come since.
    is_stale: bool,
    pending: Option<Round>,
    last_start: Option<Instant>,
    stopwatch: Stopwatch,
    /// Of the device's time, the last ones.
    took: Duration,
}

/// The reductions of one moment.
#[derive(Debug)]
struct Round {
    step: u64,
    /// Of each part of each resource.
    of: Vec<Vec<Pending>>,
    stats: Vec<Pending>,
}

impl Round {
    fn is_ready(&self) -> device::Result<bool> {
        let mut all = self.of.iter().flatten().chain(&self.stats);
        all.try_fold(true, |all, one| Ok(all && one.is_ready()?))
    }
}

impl Board {
    /// Another program has come, of whose resources these are where the one before had them: what is known of those
    /// is shown until they are looked at again, also where the first step faults. The first picture of what is new does
    /// not wait for that.
    pub(super) fn follow(&mut self, before: &[Option<ResourceId>]) {
        let known = before.iter().map(|id| id.map_or(&[][..], |id| self.of(id)).to_vec());
        let (latest, step) = (known.collect(), self.step);
        let last_start = Some(Instant::now());
        *self = Self { latest, step, is_stale: true, last_start, ..Self::default() };
    }

    /// Whether a playing scene should be looked at again; where that takes long, less often than `every`.
    pub(super) fn is_due(&self, every: Option<Duration>) -> bool {
        let pause = |every: Duration| every.max(self.took * REST);
        let old = |every| self.last_start.is_none_or(|start| start.elapsed() >= pause(every));
        self.pending.is_none() && every.is_some_and(old)
    }

    /// Whether the last ones, taken or on their way, are those after this step.
    pub(super) fn are_of(&self, step: u64) -> bool {
        let taken = (!self.latest.is_empty() && !self.is_stale).then_some(self.step);
        self.pending.as_ref().map(|round| round.step).or(taken) == Some(step)
    }

    /// Gives up what is on its way, because a fault came before it.
    pub(super) fn abandon(&mut self) {
        self.pending = None;
    }

    /// Puts the reductions of all `slices`, the contents after the step that `inputs` describes, on the stream.
    pub(super) fn enqueue(
        &mut self,
        program: &Program,
        stream: &Stream,
        slices: &[Slice<'_>],
        inputs: &Inputs,
    ) -> Result<(), Error> {
        let Program { types, stats, .. } = program;
        let summary = program.summary.get()?;
        self.stopwatch.restart();
        self.stopwatch.mark(&stream.device(), stream)?;
        let reductions = types.iter().zip(slices);
        let of = reductions
            .map(|(of, &slice)| summary.enqueue_parts(stream, slice, of))
            .collect::<Result<_, _>>()?;
        let stats = stats.iter().map(|stat| stat.enqueue(summary, stream, slices, inputs));
        let stats = stats.collect::<Result<_, _>>()?;
        self.stopwatch.mark(&stream.device(), stream)?;
        self.pending = Some(Round { step: inputs.step, of, stats });
        self.last_start = Some(Instant::now());
        Ok(())
    }

    /// The reductions of a resource's parts, while they are on their way.
    pub(super) fn on_the_way(&self, resource: ResourceId) -> Option<&[Pending]> {
        self.pending.as_ref()?.of.get(resource.0).map(Vec::as_slice)
    }

    /// Whether reductions are on their way.
    pub(super) fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Takes over what has arrived, without waiting. Returns whether something has.
    pub(super) fn collect(&mut self) -> Result<bool, Error> {
        match &self.pending {
            Some(round) if round.is_ready()? => self.wait().map(|()| true),
            _ => Ok(false),
        }
    }

    /// Waits for what is on its way.
    pub(super) fn wait(&mut self) -> Result<(), Error> {
        let Some(round) = self.pending.take() else { return Ok(()) };
        (self.step, self.is_stale) = (round.step, false);
        let wait = |all: Vec<Pending>| -> device::Result<Vec<Statistics>> {
            let found: device::Result<Vec<_>> = all.into_iter().map(Pending::wait).collect();
            Ok(found?.concat())
        };
        let latest: device::Result<Vec<Vec<Statistics>>> = round.of.into_iter().map(wait).collect();
        self.latest = latest?;
        self.stats = wait(round.stats)?;
        // What has arrived was behind the first mark and is before the last, which comes at once.
        self.stopwatch.wait()?;
        let took_ms = self.stopwatch.laps_ms()?.first().copied().unwrap_or(0.0);
        self.took = Duration::from_secs_f32(took_ms.max(0.0) * 1e-3);
        Ok(())
    }

    /// The latest statistics of the mapped values of one of the manifest's own.
    pub(super) fn of_stat(&self, index: usize) -> Option<&Statistics> {
        self.stats.get(index)
    }

    /// The step after which [`Board::of`] was taken.
    pub(super) fn step(&self) -> u64 {
        self.step
    }

    /// The latest statistics of a resource, a component each.
    pub(super) fn of(&self, resource: ResourceId) -> &[Statistics] {
        self.latest.get(resource.0).map_or(&[], Vec::as_slice)
    }
}
