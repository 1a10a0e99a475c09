//! A block: its memory, its threads' turns, its barriers.

use std::{
    ops,
    sync::{Arc, atomic::Ordering},
};

use super::{
    env::{Env, WARP},
    machine::{Machine, Trouble},
    program::Code,
    thread::{Arrival, Local, State, Thread},
    warp,
};
use crate::{
    device::{
        Error, Fault, FaultKind, Location, Result,
        cpu::{
            abi::RESERVED_SHARED_BYTES,
            location,
            memory::{Permission, Range},
            shared::Shared,
        },
    },
    ptx::{modifier::BarKind, op::WarpOp},
};

/// Barriers of a block.
const BARRIERS: usize = 16;
/// Instructions of a thread's turn.
const TURN: u64 = 4096;
/// Turns of a warp before the next has its own.
const WARP_TURNS: u32 = 256;
/// Turns for which `activemask` waits for lanes that do not wait themselves.
const PATIENCE: u32 = 4;

/// A block that runs.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) env: Env,
    pub(super) threads: Vec<Thread>,
    /// Threads that arrived at each barrier and went on.
    arrived: [u32; BARRIERS],
    /// Turns in which nothing but turns happened.
    pub(super) idle_turns: u32,
    memory: Memory,
}

/// Shared and local memory of a block, which a later one may use again.
#[derive(Debug)]
pub(super) struct Memory {
    shared: Range,
    local: Range,
    device: Arc<Shared>,
}

impl Memory {
    fn new(machine: &Machine) -> Result<Self> {
        let (code, config) = (Machine::code(&machine.program, machine.kernel), machine.config);
        let device = machine.shared.clone();
        let mut shared_bytes = code.shared_bytes + u64::from(config.shared_bytes);
        if machine.program.reserves {
            shared_bytes = shared_bytes.next_multiple_of(16) + u64::from(RESERVED_SHARED_BYTES);
        }
        let shared = device.arena.alloc_far(shared_bytes, Permission::Scratch)?;
        let local_bytes = local_bytes(code) * config.block.count();
        match device.arena.alloc_far(local_bytes, Permission::Scratch) {
            Ok(local) => Ok(Self { shared, local, device }),
            Err(error) => {
                device.arena.free_own(shared);
                Err(error)
            }
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.device.arena.free_own(self.shared);
        self.device.arena.free_own(self.local);
    }
}

/// Local memory of a thread in bytes: that of the next one begins there.
fn local_bytes(code: &Code) -> u64 {
    (code.local_bytes + code.stack_bytes).next_multiple_of(code.alignment)
}

/// What a turn of a block's threads led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Threads are left.
    Running,
    Ended,
}

impl Block {
    /// A block at its beginning, with `spare` memory where there is some.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], or the fault of a thread that does not even start.
    pub(super) fn new(machine: &mut Machine, index: u64, spare: Option<Memory>) -> Result<Self> {
        let program = machine.program.clone();
        let (code, config) = (Machine::code(&program, machine.kernel), machine.config);
        let threads = config.block.count();
        let memory = spare.map_or_else(|| Memory::new(machine), Ok)?;
        let (shared, local, local_bytes) = (memory.shared, memory.local, local_bytes(code));
        let at = config.grid.position(index);
        let ctaid = [at.x, at.y, at.z];
        let used = code.shared_bytes + u64::from(config.shared_bytes);
        let env = Env {
            index,
            ctaid,
            shared,
            local,
            dynamic_shared: code.shared_bytes,
            reserved_shared: used.next_multiple_of(16),
        };
        let mut block = Self {
            env,
            threads: Vec::with_capacity(threads as usize),
            arrived: [0; BARRIERS],
            idle_turns: 0,
            memory,
        };
        for thread in 0..threads as u32 {
            let start = local.address + local_bytes * u64::from(thread);
            let thread = block.thread(machine, thread, start, local_bytes);
            block.threads.push(thread.map_err(Error::from)?);
        }
        if let Some(watch) = &mut machine.watch {
            watch.begin_block(&block.env, threads as usize);
        }
        Ok(block)
    }

    /// Its memory, once it has ended.
    pub(super) fn into_memory(self) -> Memory {
        self.memory
    }

    fn thread(
        &self,
        machine: &mut Machine,
        index: u32,
        start: u64,
        local_bytes: u64,
    ) -> std::result::Result<Thread, Box<Fault>> {
        let at = machine.config.block.position(index.into());
        let mut thread = Thread {
            stack: Vec::new(),
            base: 0,
            function: machine.kernel,
            pc: 0,
            frames: Vec::new(),
            carry: false,
            state: State::Ready,
            index,
            tid: [at.x, at.y, at.z],
            local: Local { start, frame: start, top: start, limit: start + local_bytes },
            strong: false,
            spins: 0,
            spun: 0,
            pause: 0,
        };
        let program = machine.program.clone();
        let code = Machine::code(&program, machine.kernel);
        let entered = machine.enter(&self.env, &mut thread, machine.kernel, code);
        entered.map_err(|trouble| machine.fault(&self.env, &thread, trouble))?;
        Ok(thread)
    }

    /// Gives every thread but `except` its turn, and lets those go on whose waiting is over.
    ///
    /// # Errors
    /// The first fault of a thread; a deadlock.
    pub(super) fn turn(
        &mut self,
        machine: &mut Machine,
        except: Option<usize>,
    ) -> std::result::Result<Turn, Box<Fault>> {
        let mut ran = false;
        self.poll(machine)?;
        self.idle_turns += 1;
        for first in (0..self.threads.len()).step_by(WARP) {
            ran |= self.warp_turn(machine, first, except)?;
        }
        let alive = self.threads.iter().filter(|thread| !thread.is_done()).count();
        if alive == 0 {
            return Ok(Turn::Ended);
        }
        let opened = self.open_barriers(machine);
        let excepted = except.is_some_and(|at| self.threads[at].is_ready());
        if opened {
            self.idle_turns = 0;
        } else if !ran && !excepted {
            return Err(self.stuck(machine));
        }
        Ok(Turn::Running)
    }

    /// Lets a warp run as far as it can by itself; whether any of it ran.
    fn warp_turn(
        &mut self,
        machine: &mut Machine,
        first: usize,
        except: Option<usize>,
    ) -> std::result::Result<bool, Box<Fault>> {
        let lanes = first..(first + WARP).min(self.threads.len());
        let mut ran = false;
        for turn in 0..WARP_TURNS {
            let left = if machine.lockstep {
                self.run_together(machine, lanes.clone(), except)?
            } else {
                self.run_one_by_one(machine, lanes.clone(), except, turn == 0)?
            };
            ran |= left.is_some();
            let left = left.unwrap_or(false);
            let excepted =
                except.is_some_and(|at| lanes.contains(&at) && self.threads[at].is_ready());
            let patient = (left || excepted) && turn < PATIENCE;
            let resolved =
                warp::resolve(machine, &self.env, &mut self.threads[lanes.clone()], patient)?;
            self.idle_turns = if resolved { 0 } else { self.idle_turns };
            ran |= resolved;
            let waits = self.threads[lanes.clone()].iter().any(at_activemask);
            let go_on = resolved || left && waits;
            if !go_on {
                break;
            }
            self.poll(machine)?;
        }
        Ok(ran)
    }

    /// Gives each thread of a warp its turn, one after the other. Returns whether any can go on then; `None` where none
    /// could before.
    fn run_one_by_one(
        &mut self,
        machine: &mut Machine,
        lanes: ops::Range<usize>,
        except: Option<usize>,
        first_turn: bool,
    ) -> std::result::Result<Option<bool>, Box<Fault>> {
        let mut left = None;
        for at in lanes {
            let thread = &mut self.threads[at];
            if !thread.is_ready() || except == Some(at) {
                continue;
            }
            if thread.pause > 0 {
                thread.pause -= u32::from(first_turn);
                left = Some(true);
                continue;
            }
            machine.run(&self.env, thread, TURN)?;
            Self::count_arrival(machine, &self.env, thread, &mut self.arrived);
            left = Some(left.unwrap_or(false) | thread.is_ready());
            if thread.is_done() {
                self.idle_turns = 0;
            }
            self.poll(machine)?;
        }
        Ok(left)
    }

    /// Lets the threads of a warp go from instruction to instruction together, for a turn. Returns as
    /// [`Self::run_one_by_one`].
    fn run_together(
        &mut self,
        machine: &mut Machine,
        lanes: ops::Range<usize>,
        except: Option<usize>,
    ) -> std::result::Result<Option<bool>, Box<Fault>> {
        let program = machine.program.clone();
        let mut ran = false;
        for _ in 0..TURN {
            let is_ready =
                |thread: &(usize, &Thread)| thread.1.is_ready() && except != Some(thread.0);
            let threads = lanes.clone().zip(&self.threads[lanes.clone()]);
            let Some(next) = threads.filter(is_ready).map(|(_, thread)| thread.place()).min()
            else {
                return Ok(ran.then_some(false));
            };
            ran = true;
            for at in lanes.clone() {
                let thread = &mut self.threads[at];
                if !is_ready(&(at, thread)) || thread.place() != next {
                    continue;
                }
                machine.step(&program, &self.env, thread)?;
                Self::count_arrival(machine, &self.env, thread, &mut self.arrived);
                if thread.is_done() {
                    self.idle_turns = 0;
                }
            }
        }
        self.poll(machine)?;
        Ok(Some(true))
    }

    /// A thread that only arrives at a barrier goes on.
    fn count_arrival(
        machine: &mut Machine,
        env: &Env,
        thread: &mut Thread,
        arrived: &mut [u32; BARRIERS],
    ) {
        if let State::Barrier(Arrival { kind: BarKind::Arrive, id, .. }) = thread.state {
            arrived[id] += 1;
            if let Some(watch) = &mut machine.watch {
                watch.arrived(env, thread.index, id);
            }
            thread.state = State::Ready;
            thread.pc += 1;
        }
    }

    /// Runs one thread alone.
    ///
    /// # Errors
    /// Its fault.
    pub(super) fn run_alone(
        &mut self,
        machine: &mut Machine,
        thread: usize,
        budget: u64,
    ) -> std::result::Result<(), Box<Fault>> {
        machine.run(&self.env, &mut self.threads[thread], budget)?;
        Self::count_arrival(machine, &self.env, &mut self.threads[thread], &mut self.arrived);
        Ok(())
    }

    /// That nobody wants the launch to end.
    ///
    /// # Errors
    /// The fault that it ends with.
    pub(super) fn poll(&self, machine: &Machine) -> std::result::Result<(), Box<Fault>> {
        if machine.abort.load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        let alive = self.threads.iter().find(|thread| !thread.is_done());
        match alive.or(self.threads.first()) {
            Some(thread) => Err(self.stopped(machine, thread, FaultKind::Cancelled)),
            None => Ok(()),
        }
    }

    fn stopped(&self, machine: &Machine, thread: &Thread, kind: FaultKind) -> Box<Fault> {
        let mut fault = machine.fault(&self.env, thread, Trouble::from(kind));
        fault.waiting = self.waiting_places(machine, fault.location.as_ref());
        fault
    }

    /// Where else threads wait.
    fn waiting_places(&self, machine: &Machine, own: Option<&Location>) -> Vec<Location> {
        let mut places: Vec<Location> = Vec::new();
        for thread in self.threads.iter().filter(|thread| !thread.is_ready() && !thread.is_done()) {
            let insts = &Machine::code(&machine.program, thread.function).insts;
            let site = insts.get(thread.pc as usize).map_or(0, |inst| inst.site);
            let origin = machine.program.sites.get(site as usize);
            let location = origin.and_then(|origin| origin.location);
            if let Some(location) = location::of(&machine.program.ptx, location)
                && Some(&location) != own
                && !places.contains(&location)
            {
                places.push(location);
            }
        }
        places
    }

    /// No thread can go on.
    fn stuck(&self, machine: &Machine) -> Box<Fault> {
        let at_warp = |thread: &&Thread| matches!(thread.state, State::Warp(_));
        let waits = |thread: &&Thread| matches!(thread.state, State::Barrier(_));
        match (self.threads.iter().find(at_warp), self.threads.iter().find(waits)) {
            (Some(thread), _) => self.stopped(machine, thread, FaultKind::Divergence),
            (None, Some(thread)) => self.stopped(machine, thread, FaultKind::Deadlock),
            (None, None) => self.stopped(machine, &self.threads[0], FaultKind::Deadlock),
        }
    }

    // Barriers -------------------------------------------------------------------------------------

    fn arrivals(&self) -> impl Iterator<Item = (usize, Arrival)> + '_ {
        self.threads.iter().enumerate().filter_map(|(at, thread)| match thread.state {
            State::Barrier(arrival) => Some((at, arrival)),
            State::Ready | State::Warp(_) | State::Done => None,
        })
    }

    /// Opens every barrier at which all have arrived; whether there was one.
    fn open_barriers(&mut self, machine: &mut Machine) -> bool {
        let alive = self.threads.iter().filter(|thread| !thread.is_done()).count() as u32;
        let mut waiting: [u32; BARRIERS] = [0; BARRIERS];
        let mut expected = [None; BARRIERS];
        for (_, arrival) in self.arrivals() {
            waiting[arrival.id] += 1;
            let count = if arrival.count == 0 { alive } else { arrival.count };
            expected[arrival.id].get_or_insert(count);
        }
        let complete =
            |id: usize| expected[id].is_some_and(|e| waiting[id] + self.arrived[id] >= e);
        let opening: Vec<usize> = (0..BARRIERS).filter(|id| complete(*id)).collect();
        for &id in &opening {
            self.open(machine, id);
        }
        !opening.is_empty()
    }

    fn open(&mut self, machine: &mut Machine, id: usize) {
        let there: Vec<(usize, Arrival)> =
            self.arrivals().filter(|(_, arrival)| arrival.id == id).collect();
        let trues = there.iter().filter(|(_, arrival)| arrival.predicate).count();
        let program = machine.program.clone();
        for &(at, arrival) in &there {
            let thread = &mut self.threads[at];
            let result = match arrival.kind {
                BarKind::Sync | BarKind::Arrive => 0,
                BarKind::RedPopc => trues as u64,
                BarKind::RedAnd => u64::from(trues == there.len()),
                BarKind::RedOr => u64::from(trues > 0),
            };
            let inst = &Machine::code(&program, thread.function).insts[thread.pc as usize];
            Machine::write(thread, inst.dst[0], result);
            thread.state = State::Ready;
            thread.pc += 1;
        }
        if let Some(watch) = &mut machine.watch {
            let alive = self.threads.iter().filter(|thread| !thread.is_done()).count();
            let all = there.len() == alive;
            let threads: Vec<u32> = there.iter().map(|(at, _)| *at as u32).collect();
            watch.joined(&self.env, &threads, all, Some(id));
        }
        self.arrived[id] = 0;
    }
}

fn at_activemask(thread: &Thread) -> bool {
    matches!(thread.state, State::Warp(waiting) if waiting.op == WarpOp::Activemask)
}
