//! Launches: blocks taken from a counter in increasing order by every core that is free, until all have run or
//! one was stopped.
//!
//! Enters: a loaded kernel, a grid, packed arguments. Leaves: memory as the blocks left it, or a fault. Must not know:
//! `device::cpu::stream`, `device::cpu::transfer`, `ptx::parser`.

mod block;
mod flushing;
mod pool;
mod scratch;
mod warp;
mod worker;

use std::{
    ops::Range,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

pub(super) use pool::Pool;

use scratch::Scratch;

use super::{
    Function, LaunchOptions, abi, interp, jit::Kernel, layout::VariablePlace,
    memory::Range as Memory, printf::Prints, shared::Shared, texture::Snapshot,
};
use crate::{
    device::{Error, Fault, FaultKind, LaunchConfig, Result},
    ptx::pass::{self, Base},
};

/// Most threads of the blocks that are taken at once.
const BATCH_THREADS: u64 = 8192;

/// Blocks that a core keeps waiting in a launch whose blocks need not all be there at once.
const MOST_ASIDE: u64 = 64;

/// [`BlockContext::abort`](abi::BlockContext::abort): the host cancelled the launch.
const CANCELLED: u32 = 1;
/// [`BlockContext::abort`](abi::BlockContext::abort): another block was stopped.
const FAULTED: u32 = 2;

/// Stops a launch from any thread.
pub(super) fn cancel(abort: &AtomicU32) {
    // One that has faulted already stays faulted.
    let _ = abort.compare_exchange(0, CANCELLED, Ordering::Relaxed, Ordering::Relaxed);
}

/// A kernel with its shape and arguments.
#[derive(Debug)]
pub(super) struct Launch {
    function: Function,
    /// The function, translated as the options say.
    kernel: Arc<Kernel>,
    config: LaunchConfig,
    arguments: Vec<u8>,
    options: LaunchOptions,
    abort: Arc<AtomicU32>,
}

/// A launch while it runs, shared by the threads that work at it.
#[derive(Debug)]
struct Run {
    launch: Launch,
    shared: Arc<Shared>,
    pool: Arc<Pool>,
    objects: Arc<Snapshot>,
    blocks: u64,
    next: Counter,
    /// What the blocks of a cooperative launch meet at.
    workspace: Option<Memory>,
    prints: Prints,
    fault: Mutex<Option<Box<Fault>>>,
}

/// The number of the next block, in cache lines of its own: all threads write it, and read what lies beside it.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Counter(AtomicU64);

impl Launch {
    pub(super) fn new(
        function: Function,
        config: LaunchConfig,
        arguments: &[u8],
        options: LaunchOptions,
    ) -> Result<Self> {
        let kernel = match options.interprets() {
            true => function.kernel().clone(),
            false => function.kernel_with(options.lanes, config.block.x)?,
        };
        let arguments = arguments.to_vec();
        Ok(Self { function, kernel, config, arguments, options, abort: Arc::default() })
    }

    pub(super) fn abort(&self) -> &Arc<AtomicU32> {
        &self.abort
    }

    /// Whether its kernel calls device functions, which need a deep stack.
    pub(super) fn calls(&self) -> bool {
        self.kernel().calls
    }

    fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Runs all blocks; the first fault, if there was one.
    pub(super) fn run(self, shared: &Arc<Shared>, pool: &Arc<Pool>) -> Result<()> {
        let blocks = self.config.grid.count();
        let workspace =
            self.config.cooperative.then(|| abi::workspace(&shared.arena)).transpose()?;
        if self.options.interprets() {
            let ran = self.interpret(shared, workspace);
            workspace.into_iter().for_each(|range| shared.arena.free_own(range));
            return match ran {
                Err(Error::Fault(fault)) => Err(Error::Fault(Box::new(self.with_base(*fault)))),
                ran => ran,
            };
        }
        // What compiled code writes is not known.
        shared.arena.unwritten().clear();
        let run = Arc::new(Run {
            launch: self,
            shared: shared.clone(),
            pool: pool.clone(),
            objects: shared.objects.snapshot(),
            blocks,
            next: Counter::default(),
            workspace,
            prints: Prints::new(shared.printer.clone()),
            fault: Mutex::new(None),
        });
        let ran = pool.run(&run);
        let printed = run.prints.finish(run.launch.function.name());
        if let Some(range) = workspace {
            shared.arena.free_own(range);
        }
        ran?;
        let fault = run.fault.lock().unwrap_or_else(PoisonError::into_inner).take();
        fault.map_or(printed, |fault| Err(Error::Fault(Box::new(run.launch.with_base(*fault)))))
    }
}

impl Launch {
    /// A fault with what the address of its access was computed from, where the code tells; then the allocation is the
    /// one that it was meant for, however far away the access is.
    fn with_base(&self, fault: Fault) -> Fault {
        let base = self.base_of(&fault);
        let nearest = base.map(|base| self.function.shared().arena.nearest(base));
        Fault { base, nearest: nearest.unwrap_or(fault.nearest), ..fault }
    }

    fn base_of(&self, fault: &Fault) -> Option<u64> {
        let is_global = matches!(fault.space, Some("global" | "const" | "generic"));
        let line = fault.ptx_line.filter(|_| is_global && fault.access.is_some())?;
        let (module, globals) = self.function.source();
        match pass::base(module, &fault.kernel, line)? {
            Base::Argument(offset) => {
                let bytes = self.arguments.get(offset as usize..)?.first_chunk()?;
                Some(u64::from_le_bytes(*bytes))
            }
            Base::Variable(index) => match globals.place(index)? {
                VariablePlace::Fixed { address, .. } => Some(address),
                VariablePlace::Shared { .. } => None,
            },
        }
    }

    fn interpret(&self, shared: &Arc<Shared>, workspace: Option<Memory>) -> Result<()> {
        let order = interp::Order {
            program: self.function.program()?,
            kernel: self.function.name(),
            config: self.config,
            arguments: &self.arguments,
            options: &self.options,
            abort: self.abort.clone(),
            workspace,
        };
        interp::run(shared, &order)
    }
}

impl Run {
    /// The next blocks that nobody has begun.
    ///
    /// A thread takes several at once where blocks are small and many are left, so that it walks through memory
    /// without gaps. Each thread runs its blocks in increasing order, so a block may wait for any before it.
    fn take(&self) -> Option<Range<u64>> {
        let left = self.blocks.saturating_sub(self.next.0.load(Ordering::Relaxed));
        let fair = left / (8 * self.workers() as u64);
        let small = BATCH_THREADS / self.launch.config.block.count();
        let count = fair.min(small).max(1);
        let first = self.next.0.fetch_add(count, Ordering::Relaxed);
        (first < self.blocks).then(|| first..(first + count).min(self.blocks))
    }

    /// Whether no more blocks are to begin: all have, or the launch is to stop.
    fn is_exhausted(&self) -> bool {
        let stopped = self.launch.abort.load(Ordering::Relaxed) != 0;
        stopped || self.next.0.load(Ordering::Relaxed) >= self.blocks
    }

    fn put_scratch(&self, scratch: Scratch) {
        self.pool.put_scratch(&self.shared.arena, scratch);
    }

    /// Runs blocks on this thread until none is left.
    fn work(&self) -> Result<()> {
        worker::run_blocks(self)
    }

    /// How many blocks a core keeps waiting where they need not all be there at once: all cores' together take no more
    /// than a quarter of the device's memory.
    fn most_aside(&self) -> usize {
        let bytes = scratch::resident_bytes(self.launch.kernel(), self.launch.config);
        let fit = self.shared.arena.total_bytes() / 4 / self.workers() as u64 / bytes;
        fit.clamp(1, MOST_ASIDE) as usize
    }

    /// How many threads may work at the launch: one runs all blocks in their order.
    fn workers(&self) -> usize {
        if self.launch.options.deterministic { 1 } else { self.pool.threads() }
    }

    /// Ends the launch with a fault, unless it has ended with another one already.
    fn stop(&self, fault: Fault) {
        let mut first = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        if first.is_none() {
            *first = Some(Box::new(fault));
        }
        self.launch.abort.store(FAULTED, Ordering::Relaxed);
    }

    /// What stopped a thread at `site`.
    fn fault_at(&self, site: u32, address: u64, block: u64, thread: u32) -> Fault {
        let kernel = self.launch.kernel();
        let site = kernel.site(site);
        let (kind, access) = site.kind.fault(address);
        let nearest = match access {
            Some((_, _, Some("global" | "const" | "generic"))) => {
                self.shared.arena.nearest(address)
            }
            _ => None,
        };
        Fault {
            location: site.location.clone(),
            ptx_line: site.line,
            inlined: site.inlined.to_vec(),
            block: self.launch.config.grid.position(block),
            thread: self.launch.config.block.position(u64::from(thread)),
            access: access.map(|(address, bytes, _)| (address, bytes)),
            space: access.and_then(|(_, _, space)| space),
            nearest,
            ..Fault::new(kind, &kernel.name)
        }
    }

    /// A fault of another kind than the site's own.
    fn fault_of(&self, kind: FaultKind, site: u32, block: u64, thread: u32) -> Fault {
        Fault {
            kind,
            access: None,
            space: None,
            nearest: None,
            ..self.fault_at(site, 0, block, thread)
        }
    }
}

impl Function {
    /// Most blocks of a cooperative launch of this shape, which are all there at once: as many as half of the device's
    /// memory holds.
    ///
    /// # Errors
    /// None on this device.
    pub fn max_cooperative_blocks(&self, config: &LaunchConfig) -> Result<u64> {
        let resident = scratch::resident_bytes(self.kernel(), *config);
        Ok(self.shared().arena.total_bytes() / 2 / resident)
    }
}
