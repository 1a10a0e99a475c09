//! Running one block after the other on a thread, with memory that is kept from block to block.
#![expect(unsafe_code, reason = "calls compiled code")]

use std::{ptr, sync::atomic::Ordering};

use super::{
    BLOCKED, CANCELLED, Context, DONE, Exchange, MAX_THREADS, Run, STOPPED, context, position, warp,
};
use crate::device::{
    FaultKind, Result,
    cpu::{
        jit::{Kernel, Resume, Schedule, take_assertion},
        memory::{Access, Arena, Range},
        thread,
    },
};

/// Stack that a thread which is not ours may be asked for by compiled code.
const FOREIGN_STACK_BYTES: u64 = 512 << 10;

/// What a thread needs to run blocks; reused by later launches.
#[derive(Debug)]
pub(in crate::device::cpu) struct Scratch {
    shared: Range,
    params: Range,
    local: Range,
    spill: Vec<u64>,
    states: Vec<u32>,
    exchange: Box<Exchange>,
}

impl Scratch {
    pub(in crate::device::cpu) fn new(arena: &Arena) -> Result<Self> {
        Ok(Self {
            shared: arena.alloc_own(4, Access::ReadWrite)?,
            params: arena.alloc_own(4, Access::ReadOnly)?,
            local: arena.alloc_own(4, Access::ReadWrite)?,
            spill: Vec::new(),
            states: vec![0; MAX_THREADS],
            exchange: Exchange::new(),
        })
    }
}

/// Makes `range` an own allocation in which kernels may use exactly `bytes`.
fn fit(arena: &Arena, range: &mut Range, bytes: u64, access: Access) -> Result<()> {
    if bytes > range.bytes {
        let larger = arena.alloc_own(bytes.next_multiple_of(1 << 16), access)?;
        arena.free_own(std::mem::replace(range, larger));
    }
    arena.set_extent(*range, bytes, access);
    Ok(())
}

/// Runs blocks of the launch until none is left or it was stopped.
pub(super) fn run_blocks(run: &Run, scratch: &mut Scratch) -> Result<()> {
    let mut context = prepare(run, scratch)?;
    let (kernel, config, abort) = (run.launch.kernel(), run.launch.config, &**run.launch.abort());
    let threads = config.block.count() as u32;
    let _flushing = kernel.flushes.then(Flushing::new);
    for block in std::iter::from_fn(|| run.take()).flatten() {
        if abort.load(Ordering::Relaxed) != 0 {
            abandon(run, block, kernel.entry_site, 0);
            break;
        }
        let at = position(config.grid, block);
        context.ctaid = [at.x, at.y, at.z];
        context.block = block;
        let mut body = Body {
            run,
            kernel,
            block,
            threads,
            context: &mut context,
            states: &mut scratch.states,
            exchange: &mut scratch.exchange,
        };
        if body.run().is_err() {
            break;
        }
    }
    Ok(())
}

/// Fits the scratch to the launch and fills in what is the same for all its blocks.
fn prepare(run: &Run, scratch: &mut Scratch) -> Result<Context> {
    let (launch, kernel, arena) = (&run.launch, run.launch.kernel(), &run.shared.arena);
    let config = launch.config;
    let threads = config.block.count();
    let shared_bytes = u64::from(kernel.info.shared_bytes) + u64::from(config.shared_bytes);
    fit(arena, &mut scratch.shared, shared_bytes, Access::ReadWrite)?;
    let arguments = &launch.arguments;
    fit(arena, &mut scratch.params, arguments.len() as u64, Access::ReadOnly)?;
    let written = arena.write(scratch.params.address, arguments);
    debug_assert!(written, "the parameters were just fitted");
    let stacks = if kernel.schedule == Schedule::Free { 1 } else { threads };
    fit(arena, &mut scratch.local, kernel.local_bytes * stacks, Access::ReadWrite)?;
    if scratch.spill.len() < kernel.spill_words {
        scratch.spill.resize(kernel.spill_words, 0);
    }
    let dims = |d: crate::device::Dim3| [d.x, d.y, d.z];
    Ok(Context {
        abort: &raw const **launch.abort(),
        arena: arena.tables(),
        shared_base: scratch.shared.address,
        shared_bytes,
        param_base: scratch.params.address,
        param_bytes: arguments.len() as u64,
        local_base: scratch.local.address,
        local_stride: if kernel.schedule == Schedule::Free { 0 } else { kernel.local_bytes },
        local_bytes: kernel.local_bytes,
        local_top: scratch.local.address,
        local_limit: scratch.local.address + kernel.local_bytes,
        dynamic_shared_offset: u64::from(kernel.info.shared_bytes),
        stack_limit: stack_limit(kernel),
        spill: scratch.spill.as_mut_ptr() as u64,
        states: scratch.states.as_mut_ptr() as u64,
        exchange: (&raw mut *scratch.exchange) as u64,
        fault_address: 0,
        block: 0,
        ntid: dims(config.block),
        nctaid: dims(config.grid),
        ctaid: [0; 3],
        tid: [0; 3],
        thread: 0,
        fault_site: 0,
        dynamic_shared_bytes: config.shared_bytes,
        arrived: [0; context::BARRIERS],
        heap: &raw const run.shared.arena,
        assertion: 0,
    })
}

/// Makes this thread's processor treat subnormals as zeros until dropped.
struct Flushing {
    before: u32,
}

impl Flushing {
    /// Flush to zero, and denormals are zero (Intel SDM, volume 1, section 10.2.3).
    const BITS: u32 = 1 << 15 | 1 << 6;

    fn new() -> Self {
        let before = control();
        set_control(before | Self::BITS);
        Self { before }
    }
}

impl Drop for Flushing {
    fn drop(&mut self) {
        set_control(self.before);
    }
}

#[cfg(target_arch = "x86_64")]
fn control() -> u32 {
    let mut value = 0u32;
    // SAFETY: stores the control register to a local of its size.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack)) };
    value
}

#[cfg(target_arch = "x86_64")]
fn set_control(value: u32) {
    // SAFETY: the value is what the register held, with only the two flushing bits changed; between here and
    // the restoring one runs compiled code and host functions that do not depend on subnormals.
    unsafe {
        std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, readonly))
    };
}

/// Elsewhere the compiler flushes one result at a time.
#[cfg(not(target_arch = "x86_64"))]
fn control() -> u32 {
    0
}

#[cfg(not(target_arch = "x86_64"))]
fn set_control(_value: u32) {}

/// The lowest address that compiled code's frames may reach on this thread.
fn stack_limit(kernel: &Kernel) -> u64 {
    let here = 0u8;
    let top = (&raw const here) as u64;
    let room =
        if kernel.calls { thread::STACK_BYTES as u64 - (4 << 20) } else { FOREIGN_STACK_BYTES };
    top.saturating_sub(room)
}

/// The launch is to stop before `site` in `block`: that is a fault only when the host wants it.
fn abandon(run: &Run, block: u64, site: u32, thread: u32) {
    if run.launch.abort.load(Ordering::Relaxed) == CANCELLED {
        run.stop(run.fault_of(FaultKind::Cancelled, site, block, thread));
    }
}

/// A block was stopped; its fault has been reported.
struct Stopped;

/// The block that runs.
struct Body<'a> {
    run: &'a Run,
    kernel: &'a Kernel,
    block: u64,
    threads: u32,
    context: &'a mut Context,
    states: &'a mut [u32],
    exchange: &'a mut Exchange,
}

impl Body<'_> {
    fn run(&mut self) -> std::result::Result<(), Stopped> {
        if self.kernel.schedule == Schedule::Free {
            return self.enter(0, self.threads).map(drop);
        }
        self.states[..self.threads as usize].fill(0);
        self.context.arrived = [0; context::BARRIERS];
        match self.kernel.schedule {
            Schedule::Free | Schedule::Block => self.run_phases(),
            Schedule::Warp => self.run_warps(),
        }
    }

    /// Runs threads until each waits or has ended; how many wait.
    fn enter(&mut self, begin: u32, end: u32) -> std::result::Result<u32, Stopped> {
        // Provenance: compiled code also writes what these two lie in, through the context's addresses.
        self.context.states = self.states.as_mut_ptr() as u64;
        self.context.exchange = ptr::from_mut(self.exchange) as u64;
        // SAFETY: the code was compiled for this layout, its module is kept by the launch, and the context
        // names memory that lives until the call returns; all other addresses are checked before use.
        let waiting = unsafe { (self.kernel.entry)(self.context, begin, end) };
        if waiting == STOPPED { Err(self.stopped()) } else { Ok(waiting) }
    }

    /// Reports why compiled code gave up.
    fn stopped(&mut self) -> Stopped {
        let (site, thread) = (self.context.fault_site, self.context.thread);
        if self.kernel.site(site).kind.is_poll() {
            abandon(self.run, self.block, site, thread);
        } else {
            let address = self.context.fault_address;
            let mut fault = self.run.fault_at(site, address, self.block, thread);
            if let Some(text) = take_assertion(self.context) {
                fault.kind = FaultKind::Assert(text);
            }
            self.run.stop(fault);
        }
        Stopped
    }

    fn fail(&self, kind: FaultKind, thread: usize) -> Stopped {
        let site = self.kernel.resume(self.states[thread]).site;
        self.run.stop(self.run.fault_of(kind, site, self.block, thread as u32));
        Stopped
    }

    /// Loops over barriers have no other poll.
    fn poll(&self) -> std::result::Result<(), Stopped> {
        if self.run.launch.abort.load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        let waiting = self.waiting().next();
        let site =
            waiting.map_or(self.kernel.entry_site, |t| self.kernel.resume(self.states[t]).site);
        abandon(self.run, self.block, site, waiting.unwrap_or(0) as u32);
        Err(Stopped)
    }

    /// A kernel whose threads only meet at `bar.sync 0`: all run to the barrier, and on.
    fn run_phases(&mut self) -> std::result::Result<(), Stopped> {
        while self.enter(0, self.threads)? > 0 {
            self.poll()?;
            for state in &mut self.states[..self.threads as usize] {
                *state &= !BLOCKED;
            }
        }
        Ok(())
    }

    /// Any kernel: each warp runs as far as it can by itself, then barriers open.
    fn run_warps(&mut self) -> std::result::Result<(), Stopped> {
        loop {
            for begin in (0..self.threads).step_by(context::WARP) {
                self.run_warp(begin, (begin + context::WARP as u32).min(self.threads))?;
            }
            if self.waiting().next().is_none() {
                return Ok(());
            }
            self.poll()?;
            self.open_barriers()?;
        }
    }

    fn run_warp(&mut self, begin: u32, end: u32) -> std::result::Result<(), Stopped> {
        let lanes = begin as usize..end as usize;
        while self.states[lanes.clone()].iter().any(|s| s & BLOCKED == 0 && *s != DONE) {
            if self.enter(begin, end)? == 0 {
                break;
            }
            self.poll()?;
            warp::resolve(
                self.kernel,
                &mut self.states[lanes.clone()],
                begin as usize,
                self.exchange,
            );
        }
        Ok(())
    }

    fn waiting(&self) -> impl Iterator<Item = usize> {
        let states = self.states[..self.threads as usize].iter().enumerate();
        states.filter(|(_, state)| **state & BLOCKED != 0).map(|(thread, _)| thread)
    }

    /// Lets the threads go on at whose barriers all have arrived.
    fn open_barriers(&mut self) -> std::result::Result<(), Stopped> {
        let mut counts = self.context.arrived;
        let mut expected = [0; context::BARRIERS];
        let alive = self.states[..self.threads as usize].iter().filter(|s| **s != DONE).count();
        for thread in self.waiting() {
            if let Resume::Barrier { .. } = self.kernel.resume(self.states[thread]).kind {
                let id = self.exchange.mask[thread] as usize % context::BARRIERS;
                counts[id] += 1;
                expected[id] = match self.exchange.b[thread] {
                    0 => alive as u32,
                    count => count,
                };
            }
        }
        let open = |id: usize| expected[id] > 0 && counts[id] >= expected[id];
        let opening: Vec<usize> = (0..context::BARRIERS).filter(|&id| open(id)).collect();
        if opening.is_empty() {
            return Err(self.stuck());
        }
        opening.into_iter().for_each(|id| self.open(id));
        Ok(())
    }

    fn open(&mut self, id: usize) {
        let at = |thread: &usize| {
            matches!(self.kernel.resume(self.states[*thread]).kind, Resume::Barrier { .. })
                && self.exchange.mask[*thread] as usize % context::BARRIERS == id
        };
        let threads: Vec<usize> = self.waiting().filter(at).collect();
        let trues = threads.iter().filter(|t| self.exchange.value[**t] & 1 != 0).count() as u64;
        for &thread in &threads {
            self.exchange.result[thread] = match self.kernel.resume(self.states[thread]).kind {
                Resume::Barrier { reduce } => reduce.result(trues, threads.len() as u64),
                Resume::Warp(_) | Resume::Start => 0,
            };
            self.states[thread] &= !BLOCKED;
        }
        self.context.arrived[id] = 0;
    }

    /// No thread can go on.
    fn stuck(&self) -> Stopped {
        let at_warp = |thread: &usize| {
            matches!(self.kernel.resume(self.states[*thread]).kind, Resume::Warp(_))
        };
        match self.waiting().find(at_warp) {
            Some(thread) => self.fail(FaultKind::Divergence, thread),
            None => self.fail(FaultKind::Deadlock, self.waiting().next().unwrap_or(0)),
        }
    }
}
