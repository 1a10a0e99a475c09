//! Running one block: turn after turn of its threads, until all have ended or nothing moves any more.
#![expect(unsafe_code, reason = "calls compiled code")]

use std::{ops::Range, ptr, sync::atomic::Ordering, thread};

use super::{CANCELLED, Run, scratch::Scratch, warp::Warp};
use crate::device::{
    FaultKind, Result,
    cpu::{
        abi::{BARRIERS, BLOCKED, BlockContext, DONE, OPENS_BLOCK, STOPPED, WARP, YIELDED},
        jit::{Kernel, Reduce, Resume, Schedule, take_assertion},
        matrix::Refused,
    },
};

/// Rounds that the threads of a block wait in loops before others may run in its place: blocks of other cores
/// need their time, and there are seldom any whose turn it could be.
const PATIENCE: u32 = 64;
/// The same where only a block of this very core can be waited for.
const HASTE: u32 = 2;
/// How much more patience loops get that do not only wait.
const WORKING: u32 = 16;

/// The launch is to stop before `site` in `block`: that is a fault only when the host wants it.
pub(super) fn abandon(run: &Run, block: u64, site: u32, thread: u32) {
    if run.launch.abort.load(Ordering::Relaxed) == CANCELLED {
        run.stop(run.fault_of(FaultKind::Cancelled, site, block, thread));
    }
}

/// The state of a thread that waits no more.
fn opened(state: u32) -> u32 {
    state & !(BLOCKED | OPENS_BLOCK)
}

/// A block was stopped; its fault has been reported.
pub(super) struct Stopped;

/// How far a block came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// All its threads have ended.
    Ended,
    /// All its threads wait, some for what another block is yet to do.
    Stalled,
}

/// A block that has begun, with all that it needs to go on.
#[derive(Debug)]
pub(super) struct Resident {
    pub(super) scratch: Scratch,
    context: BlockContext,
    /// Rounds in which no thread got anywhere.
    idle: u32,
    /// The states of all threads after the last round, as one number.
    seen: u64,
}

impl Resident {
    /// Memory for a block of the launch.
    pub(super) fn new(run: &Run) -> Result<Self> {
        let mut scratch = run.pool.take_scratch(&run.shared.arena)?;
        match scratch.prepare(run) {
            Ok(context) => Ok(Self { scratch, context, idle: 0, seen: 0 }),
            Err(error) => {
                run.put_scratch(scratch);
                Err(error)
            }
        }
    }

    /// Makes it the block with this index, not yet begun.
    pub(super) fn begin(&mut self, run: &Run, block: u64) {
        let at = run.launch.config.grid.position(block);
        self.context.ctaid = [at.x, at.y, at.z];
        self.context.block = block;
        if run.launch.kernel().schedule == Schedule::Free {
            return;
        }
        let threads = run.launch.config.block.count() as usize;
        self.scratch.states[..threads].fill(0);
        self.context.arrived = [0; BARRIERS];
        (self.idle, self.seen) = (0, 0);
    }

    /// Runs its threads as far as they come.
    pub(super) fn turn(&mut self, run: &Run) -> std::result::Result<Progress, Stopped> {
        let kernel = run.launch.kernel();
        let threads = run.launch.config.block.count() as u32;
        let mut body = Body { run, kernel, threads, resident: self };
        match kernel.schedule {
            Schedule::Free => body.enter(0, threads).map(|()| Progress::Ended),
            Schedule::Block => body.run_phases(),
            Schedule::Warp => body.run_warps(),
        }
    }
}

/// The block that runs.
struct Body<'a> {
    run: &'a Run,
    kernel: &'a Kernel,
    threads: u32,
    resident: &'a mut Resident,
}

impl Body<'_> {
    fn states(&self) -> &[u32] {
        &self.resident.scratch.states[..self.threads as usize]
    }

    fn states_mut(&mut self) -> &mut [u32] {
        &mut self.resident.scratch.states[..self.threads as usize]
    }

    /// Runs threads until each waits, has yielded or has ended.
    fn enter(&mut self, begin: u32, end: u32) -> std::result::Result<(), Stopped> {
        let Resident { scratch, context, .. } = &mut *self.resident;
        // Provenance: compiled code also writes what these lie in, through the context's addresses.
        context.states = scratch.states.as_mut_ptr() as u64;
        context.exchange = ptr::from_mut(&mut *scratch.exchange) as u64;
        context.matrices = scratch.matrices.as_mut_ptr() as u64;
        context.spill = scratch.spill.as_mut_ptr() as u64;
        // SAFETY: the code was compiled for this layout, its module is kept by the launch, and the context
        // names memory that lives until the call returns; all other addresses are checked before use.
        let status = unsafe { (self.kernel.entry)(context, begin, end) };
        if status == STOPPED { Err(self.stopped()) } else { Ok(()) }
    }

    /// Reports why compiled code gave up.
    fn stopped(&mut self) -> Stopped {
        let context = &mut self.resident.context;
        let (site, thread, block) = (context.fault_site, context.thread, context.block);
        if self.kernel.site(site).kind.is_poll() {
            abandon(self.run, block, site, thread);
        } else {
            let mut fault = self.run.fault_at(site, context.fault_address, block, thread);
            if let Some(text) = take_assertion(context) {
                fault.kind = FaultKind::Assert(text);
            }
            if let Some(kind) = context.image_fault.take() {
                fault.kind = *kind;
            }
            self.run.stop(fault);
        }
        Stopped
    }

    fn fail(&self, kind: FaultKind, thread: usize) -> Stopped {
        let site = self.kernel.resume(self.states()[thread]).site;
        let mut fault = self.run.fault_of(kind, site, self.resident.context.block, thread as u32);
        fault.waiting = self.waiting_places(site);
        self.run.stop(fault);
        Stopped
    }

    /// Where threads wait besides `site`, without doubles.
    fn waiting_places(&self, site: u32) -> Vec<crate::device::Location> {
        let place = |site: u32| self.kernel.site(site).location.clone();
        let own = place(site);
        let mut places = Vec::new();
        for thread in self.waiting() {
            let place = place(self.kernel.resume(self.states()[thread]).site);
            if let Some(other) = place
                && Some(&other) != own.as_ref()
                && !places.contains(&other)
            {
                places.push(other);
            }
        }
        places
    }

    /// Loops over barriers have no other poll.
    fn poll(&self) -> std::result::Result<(), Stopped> {
        if self.run.launch.abort.load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        let alive = || self.states().iter().position(|state| *state != DONE);
        let thread = self.waiting().next().or_else(alive);
        let site =
            thread.map_or(self.kernel.entry_site, |t| self.kernel.resume(self.states()[t]).site);
        abandon(self.run, self.resident.context.block, site, thread.unwrap_or(0) as u32);
        Err(Stopped)
    }

    /// A kernel whose threads only meet at `bar.sync 0`: all run to the barrier, and on.
    fn run_phases(&mut self) -> std::result::Result<Progress, Stopped> {
        loop {
            self.enter(0, self.threads)?;
            if self.has_ended() {
                return Ok(Progress::Ended);
            }
            self.poll()?;
            if self.kernel.yields && self.end_round() {
                if self.is_stalled() {
                    return Ok(Progress::Stalled);
                }
                continue;
            }
            for state in self.states_mut() {
                *state = opened(*state);
            }
        }
    }

    /// Whether all threads have ended.
    fn has_ended(&self) -> bool {
        self.states().iter().all(|state| *state == DONE)
    }

    /// Any kernel: each warp runs as far as it can by itself, then barriers open.
    fn run_warps(&mut self) -> std::result::Result<Progress, Stopped> {
        loop {
            self.run_each_warp()?;
            if self.has_ended() {
                return Ok(Progress::Ended);
            }
            self.poll()?;
            let yielded = self.kernel.yields && self.end_round();
            let opened = self.open_barriers();
            if !opened && !yielded {
                return Err(self.stuck());
            }
            if !opened && self.is_stalled() {
                return Ok(Progress::Stalled);
            }
        }
    }

    /// Runs each warp as far as it can by itself.
    fn run_each_warp(&mut self) -> std::result::Result<(), Stopped> {
        let mut begin = 0;
        while begin < self.threads {
            let runs = |state: &u32| state & (BLOCKED | YIELDED) == 0 && *state != DONE;
            let lanes = self.warp_from(begin);
            if !self.states()[lanes.clone()].iter().any(runs) {
                begin = lanes.end as u32;
                continue;
            }
            self.enter(begin, self.threads)?;
            begin = (self.resident.context.reached - 1) / WARP as u32 * WARP as u32;
            let lanes = self.warp_from(begin);
            // Those that waited before go on waiting unless somebody comes, or ends and is waited for no more.
            if self.states()[lanes.clone()].iter().any(|state| state & BLOCKED != 0) {
                self.poll()?;
                let kernel = self.kernel;
                let (mut warp, states) = self.warp(lanes);
                let resolved = warp.resolve(kernel, states);
                resolved.map_err(|refused| self.refused(begin, refused))?;
            }
        }
        Ok(())
    }

    /// The threads of the warp that begins with this one.
    fn warp_from(&self, begin: u32) -> Range<usize> {
        begin as usize..(begin + WARP as u32).min(self.threads) as usize
    }

    /// The warp of these threads, with their states.
    fn warp(&mut self, threads: Range<usize>) -> (Warp<'_>, &mut [u32]) {
        let Resident { scratch, context, .. } = &mut *self.resident;
        let Scratch { states, exchange, matrices, spill, .. } = scratch;
        let (first, arena) = (threads.start, &*self.run.shared.arena);
        (Warp { first, exchange, matrices, context, arena, spill }, &mut states[threads])
    }

    /// Reports an access of a thread that waits, in its warp that begins with thread `begin`.
    fn refused(&self, begin: u32, refused: Refused) -> Stopped {
        let thread = begin as usize + refused.lane;
        let site = self.kernel.resume(self.states()[thread]).site;
        let block = self.resident.context.block;
        self.run.stop(self.run.fault_at(site, refused.address, block, thread as u32));
        Stopped
    }

    /// Gives the threads that yielded their next turn, and notes whether any of all got on; whether some did
    /// yield.
    fn end_round(&mut self) -> bool {
        let mut seen = 0xcbf2_9ce4_8422_2325_u64;
        let mut some = false;
        for state in self.states_mut() {
            // FNV-1a, by words.
            seen = (seen ^ u64::from(*state)).wrapping_mul(0x100_0000_01b3);
            some |= *state & YIELDED != 0;
            *state &= !YIELDED;
        }
        let resident = &mut *self.resident;
        resident.idle = if seen == resident.seen { resident.idle + 1 } else { 0 };
        resident.seen = seen;
        some
    }

    /// Whether the block does nothing but wait, so long that others should run in its place.
    fn is_stalled(&mut self) -> bool {
        let idle = self.resident.idle;
        if idle == 0 {
            return false;
        }
        let alone = self.run.launch.config.cooperative || self.run.workers() == 1;
        let patience = if alone { HASTE } else { PATIENCE };
        if !alone && idle > patience / 2 {
            thread::yield_now();
        }
        if idle < patience {
            return false;
        }
        let works = |state: &u32| {
            state & BLOCKED == 0
                && *state != DONE
                && self.kernel.resume(*state).kind == Resume::Yield { waits: false }
        };
        let stalled = idle >= patience * WORKING || !self.states().iter().any(works);
        if stalled {
            self.resident.idle = 0;
        }
        stalled
    }

    fn waiting(&self) -> impl Iterator<Item = usize> {
        let states = self.states().iter().enumerate();
        states.filter(|(_, state)| **state & BLOCKED != 0).map(|(thread, _)| thread)
    }

    /// Lets the threads go on at whose barriers all have arrived; whether there were any.
    fn open_barriers(&mut self) -> bool {
        if self.open_for_all() {
            return true;
        }
        let Resident { scratch, context, .. } = &*self.resident;
        let mut counts = context.arrived;
        let mut expected = [0; BARRIERS];
        let alive = self.states().iter().filter(|s| **s != DONE).count();
        for thread in self.waiting() {
            let point = self.kernel.resume(self.states()[thread]);
            if let Resume::Barrier { .. } = point.kind {
                let id = point.mask(&scratch.exchange, thread) as usize % BARRIERS;
                counts[id] += 1;
                expected[id] = match point.b(&scratch.exchange, thread) {
                    0 => alive as u32,
                    count => count,
                };
            }
        }
        let open = |id: usize| expected[id] > 0 && counts[id] >= expected[id];
        let opening: Vec<usize> = (0..BARRIERS).filter(|&id| open(id)).collect();
        opening.iter().for_each(|id| self.open(*id));
        !opening.is_empty()
    }

    /// Lets all threads go on where they wait at one place, at one barrier, for all of them; whether they do.
    fn open_for_all(&mut self) -> bool {
        let Resident { scratch, context, .. } = &*self.resident;
        let first = self.states()[0];
        let point = self.kernel.resume(first);
        let barrier = point.kind == Resume::Barrier { reduce: Reduce::Nothing };
        let waits = first & BLOCKED != 0 && barrier;
        if !waits || self.states().iter().any(|state| *state != first) {
            return false;
        }
        let exchange = &scratch.exchange;
        let id = point.mask(exchange, 0);
        let same = |thread| point.mask(exchange, thread) == id && point.b(exchange, thread) == 0;
        if !(0..self.threads as usize).all(same) || context.arrived != [0; BARRIERS] {
            return false;
        }
        self.states_mut().fill(opened(first));
        true
    }

    fn open(&mut self, id: usize) {
        let exchange = &self.resident.scratch.exchange;
        let at = |thread: &usize| {
            let point = self.kernel.resume(self.states()[*thread]);
            matches!(point.kind, Resume::Barrier { .. })
                && point.mask(exchange, *thread) as usize % BARRIERS == id
        };
        let threads: Vec<usize> = self.waiting().filter(at).collect();
        let trues = threads.iter().filter(|t| exchange.value[**t] & 1 != 0).count() as u64;
        for &thread in &threads {
            let result = match self.kernel.resume(self.states()[thread]).kind {
                Resume::Barrier { reduce } => reduce.result(trues, threads.len() as u64),
                Resume::Warp(_) | Resume::Yield { .. } | Resume::Start => 0,
            };
            self.resident.scratch.exchange.result[thread] = result;
        }
        for of_warp in threads.chunk_by(|a, b| a / WARP == b / WARP) {
            let first = of_warp[0] / WARP * WARP;
            let lanes = of_warp.iter().fold(0, |lanes, thread| lanes | 1 << (thread - first));
            let (kernel, threads) = (self.kernel, self.warp_from(first as u32));
            let (mut warp, states) = self.warp(threads);
            warp.let_go(lanes, kernel, states);
        }
        self.resident.context.arrived[id] = 0;
    }

    /// No thread can go on.
    fn stuck(&self) -> Stopped {
        let at_warp = |thread: &usize| {
            matches!(self.kernel.resume(self.states()[*thread]).kind, Resume::Warp(_))
        };
        match self.waiting().find(at_warp) {
            Some(thread) => self.fail(FaultKind::Divergence, thread),
            None => self.fail(FaultKind::Deadlock, self.waiting().next().unwrap_or(0)),
        }
    }
}
