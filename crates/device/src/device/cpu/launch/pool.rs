//! The threads that help a stream's own thread with the blocks of its launches, and the memory of blocks.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::{Run, scratch::Scratch};
use crate::{
    device::{
        Error, Result,
        cpu::{memory::Arena, thread},
    },
    machine,
};

/// One helper less than there are cores, for the thread that launches works, too.
#[derive(Debug)]
pub(in crate::device::cpu) struct Pool {
    jobs: Arc<Jobs>,
    helpers: usize,
    /// Memory of threads that run blocks, while they do not.
    scratch: Mutex<Vec<Scratch>>,
}

#[derive(Debug, Default)]
struct Jobs {
    state: Mutex<State>,
    /// There is a job, or the pool closes.
    offered: Condvar,
    /// A helper left a job.
    left: Condvar,
}

#[derive(Debug, Default)]
struct State {
    jobs: Vec<Job>,
    next_id: u64,
    closed: bool,
}

#[derive(Debug)]
struct Job {
    id: u64,
    run: Arc<Run>,
    helpers: usize,
    failed: Option<Error>,
}

impl Jobs {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a helper does all its life.
    fn serve(&self) {
        let mut state = self.lock();
        while !state.closed {
            let Some(job) = state.jobs.iter_mut().find(|job| !job.run.is_exhausted()) else {
                state = self.offered.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            job.helpers += 1;
            let (id, run) = (job.id, job.run.clone());
            drop(state);
            let worked = thread::working(|| thread::guarded(|| run.work()));
            drop(run);
            state = self.lock();
            if let Some(job) = state.jobs.iter_mut().find(|job| job.id == id) {
                job.helpers -= 1;
                job.failed = job.failed.take().or(worked.err());
            }
            self.left.notify_all();
        }
    }
}

impl Pool {
    /// Starts threads so that `cores` threads work at a launch, or fewer where the process may not have addresses for
    /// all their stacks.
    pub(in crate::device::cpu) fn new(cores: usize) -> Result<Self> {
        let helpers = cores.saturating_sub(1).min(most_helpers());
        let pool = Self { jobs: Arc::default(), helpers, scratch: Mutex::default() };
        for helper in 0..pool.helpers {
            let jobs = pool.jobs.clone();
            let name = format!("warpaint core {}", helper + 1);
            thread::spawn(name, move || jobs.serve())?;
        }
        Ok(pool)
    }

    /// How many threads work at a launch.
    pub(super) fn threads(&self) -> usize {
        self.helpers + 1
    }

    /// Runs all blocks on this thread and every free helper.
    pub(super) fn run(&self, run: &Arc<Run>) -> Result<()> {
        let blocks = run.blocks.min(usize::MAX as u64) as usize;
        let wanted = run.workers().min(blocks).saturating_sub(1);
        if wanted == 0 {
            return run.work();
        }
        let id = self.offer(run, wanted);
        let worked = thread::guarded(|| run.work());
        let failed = self.withdraw(id);
        worked.and(failed.map_or(Ok(()), Err))
    }

    pub(super) fn take_scratch(&self, arena: &Arena) -> Result<Scratch> {
        let kept = self.scratch.lock().unwrap_or_else(PoisonError::into_inner).pop();
        kept.map_or_else(|| Scratch::new(arena), Ok)
    }

    pub(super) fn put_scratch(&self, arena: &Arena, scratch: Scratch) {
        let mut kept = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        // A launch with many blocks at once has many; later ones seldom need more than one for each thread.
        if kept.len() < 2 * self.threads() {
            kept.push(scratch);
        } else {
            drop(kept);
            scratch.release(arena);
        }
    }

    fn offer(&self, run: &Arc<Run>, wanted: usize) -> u64 {
        let mut state = self.jobs.lock();
        let id = state.next_id;
        state.next_id += 1;
        state.jobs.push(Job { id, run: run.clone(), helpers: 0, failed: None });
        drop(state);
        if wanted >= self.helpers {
            self.jobs.offered.notify_all();
        } else {
            (0..wanted).for_each(|_| self.jobs.offered.notify_one());
        }
        id
    }

    /// Waits until no helper is at the job any more, and takes it away.
    fn withdraw(&self, id: u64) -> Option<Error> {
        let state = self.jobs.lock();
        let mut state = self
            .jobs
            .left
            .wait_while(state, |s| s.jobs.iter().any(|job| job.id == id && job.helpers > 0))
            .unwrap_or_else(PoisonError::into_inner);
        let at = state.jobs.iter().position(|job| job.id == id)?;
        state.jobs.swap_remove(at).failed
    }
}

/// How many helpers take a quarter of the addresses that the process may still have.
fn most_helpers() -> usize {
    // The C library reserves as much again for what a thread allocates.
    let each = 2 * thread::STACK_BYTES as u64;
    machine::addresses_left().map_or(usize::MAX, |left| (left / 4 / each) as usize)
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.jobs.lock().closed = true;
        self.jobs.offered.notify_all();
    }
}
