//! Compares what both sides hold, on a thread of its own: neither drawing nor a step waits for it.

use std::{
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use super::difference::{Difference, difference};
use crate::{element::Type, interop, session::Error, state::Download};

/// After a comparison the thread rests for so many times of what it took, where not every step is compared.
const REST: u32 = 3;

/// The contents of one moment, on their way to the host.
pub(super) struct Job {
    /// The figures that it belongs to: those of an older round are forgotten.
    pub(super) round: u64,
    /// Steps finished.
    pub(super) step: u64,
    /// The names of resources, and the types of their elements.
    pub(super) resources: Vec<(String, Type)>,
    /// What A and B hold.
    pub(super) sides: [Download; 2],
}

/// How they differ.
pub(super) struct Found {
    pub(super) round: u64,
    pub(super) step: u64,
    /// Of each resource.
    pub(super) differences: interop::Result<Vec<Difference>>,
}

/// The thread, which ends when this is dropped.
pub(super) struct Comparer {
    jobs: mpsc::Sender<Job>,
    found: mpsc::Receiver<Found>,
    /// When the job under way was given.
    since: Option<Instant>,
    /// Till when it rests.
    rest: Instant,
}

impl Comparer {
    pub(super) fn start() -> Result<Self, Error> {
        let (jobs, incoming) = mpsc::channel::<Job>();
        let (outgoing, found) = mpsc::channel();
        let work = move || {
            for Job { round, step, resources, sides } in incoming {
                let differences = differences(&resources, sides);
                if outgoing.send(Found { round, step, differences }).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("compare".to_owned()).spawn(work).map_err(Error::Thread)?;
        Ok(Self { jobs, found, since: None, rest: Instant::now() })
    }

    /// Whether it works on something.
    pub(super) fn is_busy(&self) -> bool {
        self.since.is_some()
    }

    /// Whether it has rested long enough after the last comparison.
    pub(super) fn is_rested(&self) -> bool {
        Instant::now() >= self.rest
    }

    /// Gives it something to do. Not while it is busy.
    pub(super) fn give(&mut self, job: Job) {
        let now = Instant::now();
        // The thread lives for as long as this sender.
        self.since = self.jobs.send(job).is_ok().then_some(now);
    }

    /// What it has found, if it has.
    ///
    /// # Errors
    /// [`Error::WorkerLost`] where the thread is gone.
    pub(super) fn take(&mut self) -> Result<Option<Found>, Error> {
        let Some(since) = self.since else { return Ok(None) };
        match self.found.try_recv() {
            Ok(found) => {
                let took = since.elapsed();
                self.rest = Instant::now() + took.saturating_mul(REST).min(Duration::from_secs(5));
                self.since = None;
                Ok(Some(found))
            }
            Err(mpsc::TryRecvError::Empty) => Ok(None),
            Err(mpsc::TryRecvError::Disconnected) => Err(Error::WorkerLost),
        }
    }
}

/// How each of the resources differs, once both sides have come.
fn differences(
    resources: &[(String, Type)],
    [a, b]: [Download; 2],
) -> interop::Result<Vec<Difference>> {
    let sides = [a.wait()?, b.wait()?];
    let all = resources.iter().map(|(name, of)| {
        difference(of, sides.each_ref().map(|side| side.of_resource(name).unwrap_or_default()), 0.0)
    });
    Ok(all.collect())
}
