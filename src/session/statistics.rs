//! The latest statistics of each resource, and those on their way.

use std::time::{Duration, Instant};

use super::{Error, snapshot::Statistics};
use crate::{
    array::{Pending, Summary},
    device::{self, Slice, Stream},
    element::Element,
    scene::ResourceId,
};

/// The latest statistics of every resource.
#[derive(Debug, Default)]
pub(super) struct Board {
    latest: Vec<Vec<Statistics>>,
    step: u64,
    pending: Option<Round>,
    last_start: Option<Instant>,
}

/// The reductions of one moment; `None` for resources that have no statistics.
#[derive(Debug)]
struct Round {
    step: u64,
    of: Vec<Option<Pending>>,
}

impl Board {
    /// Forgets everything: the resources have changed. The first picture of what is new does not wait for them.
    pub(super) fn restart(&mut self) {
        *self = Self { last_start: Some(Instant::now()), ..Self::default() };
    }

    /// Whether a playing scene should be looked at again.
    pub(super) fn is_due(&self, every: Option<Duration>) -> bool {
        let old = |every| self.last_start.is_none_or(|start| start.elapsed() >= every);
        self.pending.is_none() && every.is_some_and(old)
    }

    /// Gives up what is on its way, because a fault came before it.
    pub(super) fn abandon(&mut self) {
        self.pending = None;
    }

    /// Puts the reductions of all `slices`, whose contents are those after `step`, on the stream.
    pub(super) fn enqueue(
        &mut self,
        summary: &Summary,
        stream: &Stream,
        resources: &[Option<Element>],
        slices: &[Slice<'_>],
        step: u64,
    ) -> Result<(), Error> {
        let reductions = resources.iter().zip(slices);
        let of = reductions
            .map(|(element, &slice)| element.map(|e| summary.enqueue(stream, slice, e)).transpose())
            .collect::<Result<_, _>>()?;
        self.pending = Some(Round { step, of });
        self.last_start = Some(Instant::now());
        Ok(())
    }

    /// Whether reductions are on their way.
    pub(super) fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Takes over what has arrived, without waiting. Returns whether something has.
    pub(super) fn collect(&mut self) -> Result<bool, Error> {
        let ready = |round: &Round| -> device::Result<bool> {
            round.of.iter().flatten().try_fold(true, |all, one| Ok(all && one.is_ready()?))
        };
        match &self.pending {
            Some(round) if ready(round)? => self.wait().map(|()| true),
            _ => Ok(false),
        }
    }

    /// Waits for what is on its way.
    pub(super) fn wait(&mut self) -> Result<(), Error> {
        let Some(round) = self.pending.take() else { return Ok(()) };
        self.step = round.step;
        self.latest = round
            .of
            .into_iter()
            .map(|pending| pending.map_or(Ok(Vec::new()), Pending::wait))
            .collect::<device::Result<_>>()?;
        Ok(())
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
