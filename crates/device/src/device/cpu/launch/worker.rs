//! What one core does for a launch: block after block, and those again that had to wait for others.

use std::{collections::VecDeque, sync::atomic::Ordering, thread};

use super::{
    Run,
    block::{Progress, Resident, Stopped, abandon},
    flushing::Flushing,
};
use crate::device::Result;

/// Runs blocks of the launch until none is left or it was stopped.
pub(super) fn run_blocks(run: &Run) -> Result<()> {
    let _flushing = run.launch.kernel().flushes.then(Flushing::new);
    let mut worker =
        Worker { run, free: Some(Box::new(Resident::new(run)?)), aside: VecDeque::new() };
    let worked = worker.work();
    for resident in worker.aside.into_iter().chain(worker.free) {
        run.put_scratch(resident.scratch);
    }
    worked
}

struct Worker<'a> {
    run: &'a Run,
    /// Memory of a block that has ended. It stays where it is: to move it about took as long as many a block.
    free: Option<Box<Resident>>,
    /// Blocks that wait.
    aside: VecDeque<Box<Resident>>,
}

impl Worker<'_> {
    fn work(&mut self) -> Result<()> {
        let run = self.run;
        let mut blocks = std::iter::from_fn(|| run.take()).flatten();
        let most = if run.launch.config.cooperative { usize::MAX } else { run.most_aside() };
        loop {
            let mut moved = false;
            if self.aside.len() < most
                && let Some(block) = blocks.next()
            {
                if run.launch.abort.load(Ordering::Relaxed) != 0 {
                    abandon(run, block, run.launch.kernel().entry_site, 0);
                    return Ok(());
                }
                let new = || Resident::new(run).map(Box::new);
                let mut resident = self.free.take().map_or_else(new, Ok)?;
                resident.begin(run, block);
                if self.turn(resident).is_err() {
                    return Ok(());
                }
                // All blocks of a cooperative launch begin before any can be done with waiting.
                if self.aside.is_empty() || run.launch.config.cooperative {
                    continue;
                }
                moved = true;
            }
            if self.aside.is_empty() {
                return Ok(());
            }
            match self.turn_of_all() {
                Ok(some) => moved |= some,
                Err(Stopped) => return Ok(()),
            }
            if !moved {
                thread::yield_now();
            }
        }
    }

    fn turn(&mut self, mut resident: Box<Resident>) -> std::result::Result<Progress, Stopped> {
        let progress = resident.turn(self.run);
        match progress {
            Ok(Progress::Stalled) => self.aside.push_back(resident),
            Ok(Progress::Ended) | Err(Stopped) if self.free.is_none() => self.free = Some(resident),
            Ok(Progress::Ended) | Err(Stopped) => self.run.put_scratch(resident.scratch),
        }
        progress
    }

    /// A turn for each block that waits; whether one of them ended.
    fn turn_of_all(&mut self) -> std::result::Result<bool, Stopped> {
        let mut ended = false;
        for _ in 0..self.aside.len() {
            let Some(resident) = self.aside.pop_front() else { break };
            ended |= self.turn(resident)? == Progress::Ended;
        }
        Ok(ended)
    }
}
