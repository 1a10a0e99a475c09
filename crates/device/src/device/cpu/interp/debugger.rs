//! Stepping one thread of a launch.

use std::{
    any::Any,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use super::{
    block::Block,
    launch::{Grid, Order},
    program::{Inst, Origin},
    thread::Thread,
};
use crate::{
    device::{
        Dim3, Error, InlinedCall, Location, Result,
        cpu::{location, memory::Range, shared::Shared},
    },
    ptx::{operand::Reg, print, types::Type},
};

/// A launch that stands still, to be gone through with one thread, instruction by instruction or line by line.
///
/// It runs on the thread of the host that calls it, not on a stream; other threads of the kernel run only where the
/// chosen one waits for them. Dropping it leaves the rest of the launch undone.
///
/// ```
/// use warpaint::device::{Arguments, LaunchConfig, cpu};
///
/// let device = cpu::Device::new()?;
/// let module = device.load(
///     ".version 7.0
///     .target sm_80
///     .address_size 64
///     .visible .entry twice(.param .u32 x) {
///         .reg .b32 %r<3>;
///         ld.param.u32 %r1, [x];
///         add.s32 %r2, %r1, %r1;
///         ret;
///     }",
/// )?;
/// let mut arguments = Arguments::new();
/// arguments.push(&21u32);
/// let mut debugger =
///     cpu::Debugger::start(&module.function("twice")?, &LaunchConfig::new(2, 32), &arguments)?;
/// debugger.select([1, 0, 0], [7, 0, 0])?;
/// debugger.step()?;
/// assert_eq!(debugger.register("%r1").map(|register| register.bits), Some(21));
/// debugger.step()?;
/// assert_eq!(debugger.register("%r2").map(|register| register.bits), Some(42));
/// assert_eq!(debugger.position().map(|at| at.instruction), Some("ret".into()));
/// debugger.finish()?;
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Debug)]
pub struct Debugger {
    grid: Grid,
    /// The chosen thread.
    block: u64,
    thread: usize,
    workspace: Option<Range>,
    shared: Arc<Shared>,
    /// Keeps the module and its variables.
    _module: Arc<dyn Any + Send + Sync>,
}

/// Stops what a [`Debugger`] does, from another thread.
///
/// ```
/// use warpaint::device::{Arguments, Error, FaultKind, LaunchConfig, cpu};
///
/// let ptx = ".version 7.0 .target sm_75 .address_size 64
///     .visible .entry spin() { again: bra again; }";
/// let spin = cpu::Device::new()?.load(ptx)?.function("spin")?;
/// let mut debugger = cpu::Debugger::start(&spin, &LaunchConfig::new(1, 1), &Arguments::new())?;
/// let canceller = debugger.canceller();
/// std::thread::spawn(move || canceller.cancel());
/// let Err(Error::Fault(fault)) = debugger.finish() else { panic!("it never ends by itself") };
/// assert_eq!(fault.kind, FaultKind::Cancelled);
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Canceller(Arc<AtomicU32>);

impl Canceller {
    /// The call that runs now ends with a fault of kind `Cancelled`, and so do all further ones.
    pub fn cancel(&self) {
        self.0.store(1, Ordering::Relaxed);
    }
}

/// Where a thread stands.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadPosition {
    /// The source line, where the PTX names one.
    pub location: Option<Location>,
    /// The inlined calls that lead there, innermost first.
    pub inlined: Vec<InlinedCall>,
    /// The function of the PTX.
    pub function: String,
    /// The instruction that comes next, as PTX.
    pub instruction: String,
    /// Its line in the text of the PTX.
    pub ptx_line: u32,
    /// How many calls are open.
    pub depth: usize,
}

/// A register of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Its name in the PTX.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// What it holds.
    pub bits: u128,
}

impl Drop for Debugger {
    fn drop(&mut self) {
        self.workspace.into_iter().for_each(|range| self.shared.arena.free_own(range));
    }
}

impl Debugger {
    /// Begins the launch of `order`, whose workspace it takes over, and keeps the `module`.
    pub(in crate::device::cpu) fn new(
        shared: Arc<Shared>,
        order: &Order<'_>,
        module: Arc<dyn Any + Send + Sync>,
    ) -> Result<Self> {
        let workspace = order.workspace;
        let grid = Grid::new(&shared, order);
        if grid.is_err() {
            workspace.into_iter().for_each(|range| shared.arena.free_own(range));
        }
        let (block, thread) = (0, 0);
        let mut debugger = Self { grid: grid?, block, thread, workspace, shared, _module: module };
        debugger.grid.begin()?;
        Ok(debugger)
    }

    /// What stops this debugger from another thread.
    pub fn canceller(&self) -> Canceller {
        Canceller(self.grid.machine.abort.clone())
    }

    /// Chooses a thread, after running all blocks before its own (of a cooperative launch all have begun).
    ///
    /// ```
    /// # use warpaint::device::{Arguments, LaunchConfig, cpu};
    /// # let ptx = ".version 7.0 .target sm_75 .address_size 64
    /// #     .visible .entry where() { .reg .b32 %r1; mov.u32 %r1, %tid.x; ret; }";
    /// # let place = cpu::Device::new()?.load(ptx)?.function("where")?;
    /// let mut debugger = cpu::Debugger::start(&place, &LaunchConfig::new(3, 8), &Arguments::new())?;
    /// debugger.select([2, 0, 0], [5, 0, 0])?; // the blocks before run to their end
    /// debugger.step()?;
    /// assert_eq!(debugger.register("%r1").map(|x| x.bits), Some(5)); // threadIdx.x
    /// assert!(debugger.select([1, 0, 0], [0; 3]).is_err()); // has ended
    /// assert!(debugger.select([3, 0, 0], [0; 3]).is_err()); // is not there
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// The fault of a thread that ran; [`Error::OutOfRange`] where there is no such block or thread, or the block
    /// has ended.
    pub fn select(&mut self, block: [u32; 3], thread: [u32; 3]) -> Result<()> {
        let config = self.grid.machine.config;
        let block = index(config.grid, block.into())?;
        let thread = index(config.block, thread.into())? as usize;
        (self.block, self.thread) = (block, thread);
        while self.chosen().is_none() {
            let begun = self.grid.blocks.back().map_or(0, |last| last.env.index);
            if begun > block || !self.grid.begin()? {
                return Err(out_of_range(block, config.grid.count()));
            }
            if self.chosen().is_none() {
                self.grid.turn(None)?;
            }
        }
        Ok(())
    }

    /// Executes the thread's next instruction; where it waits, others run until it can go on. False when it has
    /// ended.
    ///
    /// # Errors
    /// The fault of a thread that ran, after which the debugger is of no more use.
    pub fn step(&mut self) -> Result<bool> {
        let at = self.grid.blocks.iter().position(|block| block.env.index == self.block);
        let Some(at) = at else { return Ok(false) };
        self.grid.blocks[at]
            .run_alone(&mut self.grid.machine, self.thread, 1)
            .map_err(Error::from)?;
        while self.chosen().is_some_and(|thread| !thread.is_ready() && !thread.is_done()) {
            self.grid.turn(Some((self.block, self.thread)))?;
        }
        Ok(self.chosen().is_some_and(|thread| !thread.is_done()))
    }

    /// Executes instructions until the thread stands at another source line, goes round a loop or has ended, which
    /// is false.
    ///
    /// ```
    /// # use warpaint::{device::{Arguments, Device, LaunchConfig, cpu}, kernel::{Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let source = Source::new("extern \"C\" __global__ void add(int *x) {
    ///     int y = x[0];
    ///     x[1] = y + 1;
    /// }");
    /// let (device, ptx) = (cpu::Device::new()?, context.module(&source.named("add.cu"))?.ptx().to_owned());
    /// let (memory, mut arguments) = (device.alloc(8)?, Arguments::new());
    /// arguments.push(&memory.address());
    /// let add = device.load(&ptx)?.function("add")?;
    /// let mut debugger = cpu::Debugger::start(&add, &LaunchConfig::new(1, 1), &arguments)?;
    /// let mut lines = Vec::new();
    /// while let Some(at) = debugger.position() {
    ///     lines.extend(at.location.map(|place| place.line));
    ///     debugger.step_line()?;
    /// }
    /// assert_eq!(lines, [1, 2, 3, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Debugger::step`].
    pub fn step_line(&mut self) -> Result<bool> {
        let place = |debugger: &Self| {
            let thread = debugger.chosen()?;
            let location = debugger.origin()?.location?;
            let location = debugger.grid.machine.program.ptx.location(location)?;
            Some((location.file, location.line, thread.frames.len()))
        };
        let start = |debugger: &Self| {
            debugger.chosen().map(|thread| (thread.function, thread.pc, thread.frames.len()))
        };
        let (line, first) = (place(self), start(self));
        loop {
            if !self.step()? {
                return Ok(false);
            }
            let now = place(self);
            if now.is_some() && now != line || start(self) == first {
                return Ok(true);
            }
        }
    }

    /// Runs all that is left of the launch.
    ///
    /// ```
    /// # use warpaint::device::{Arguments, Error, LaunchConfig, cpu};
    /// # let ptx = ".version 7.0 .target sm_75 .address_size 64
    /// #     .visible .entry fail() { trap; }";
    /// # let fail = cpu::Device::new()?.load(ptx)?.function("fail")?;
    /// let mut debugger = cpu::Debugger::start(&fail, &LaunchConfig::new(1, 4), &Arguments::new())?;
    /// assert_eq!(debugger.position().map(|at| at.instruction), Some("trap".to_owned()));
    /// assert!(matches!(debugger.finish(), Err(Error::Fault(_))));
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// The fault of a thread.
    pub fn finish(&mut self) -> Result<()> {
        self.grid.finish()
    }

    fn chosen_block(&self) -> Option<&Block> {
        self.grid.blocks.iter().find(|block| block.env.index == self.block)
    }

    fn chosen(&self) -> Option<&Thread> {
        self.chosen_block()?.threads.get(self.thread)
    }

    fn inst(&self) -> Option<&Inst> {
        let thread = self.chosen().filter(|thread| !thread.is_done())?;
        let code = self.grid.machine.program.functions.get(thread.function as usize)?.as_ref()?;
        code.insts.get(thread.pc as usize)
    }

    fn origin(&self) -> Option<Origin> {
        self.grid.machine.program.sites.get(self.inst()?.site as usize).copied()
    }

    /// Where the thread stands; `None` when it has ended.
    pub fn position(&self) -> Option<ThreadPosition> {
        let (origin, ptx) = (self.origin()?, &self.grid.machine.program.ptx);
        let function = ptx.functions.get(origin.function as usize)?;
        let instruction = function.body.as_ref()?.instructions().nth(origin.at as usize);
        let text = instruction.map(|i| print::instruction(ptx, function, i));
        let text = text.as_deref().unwrap_or("ret").trim().trim_end_matches(';');
        Some(ThreadPosition {
            location: location::of(ptx, origin.location),
            inlined: location::inlined(ptx, origin.location),
            function: function.name.clone(),
            instruction: text.to_owned(),
            ptx_line: origin.line,
            depth: self.chosen()?.frames.len(),
        })
    }

    /// All registers of the function that the thread is in.
    ///
    /// ```
    /// # use warpaint::device::{Arguments, LaunchConfig, cpu};
    /// # let ptx = ".version 7.0 .target sm_75 .address_size 64
    /// #     .visible .entry f() { .reg .f32 %f<2>; .reg .pred %p<1>; mov.f32 %f0, 0f3FC00000; ret; }";
    /// # let f = cpu::Device::new()?.load(ptx)?.function("f")?;
    /// # let mut debugger = cpu::Debugger::start(&f, &LaunchConfig::new(1, 1), &Arguments::new())?;
    /// debugger.step()?; // mov.f32 %f0, 1.5;
    /// let registers = debugger.registers();
    /// let names: Vec<_> = registers.iter().map(|register| register.name.as_str()).collect();
    /// assert_eq!(names, ["%f0", "%f1", "%p0"]);
    /// assert_eq!(f32::from_bits(registers[0].bits as u32), 1.5);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn registers(&self) -> Vec<Register> {
        let Some(thread) = self.chosen().filter(|thread| !thread.is_done()) else {
            return Vec::new();
        };
        let program = &self.grid.machine.program;
        let code = program.functions.get(thread.function as usize).and_then(Option::as_ref);
        let body = program.ptx.functions.get(thread.function as usize);
        let (Some(code), Some(body)) = (code, body.and_then(|f| f.body.as_ref())) else {
            return Vec::new();
        };
        let registers = (0u32..).zip(&code.registers);
        let registers = registers.map(|(number, slot)| {
            let ty = body.registers.ty(Reg(number));
            let high = if ty == Type::B128 { u128::from(thread.slot(slot + 1)) << 64 } else { 0 };
            let name = body.registers.name(Reg(number));
            Register { name, ty, bits: high | u128::from(thread.slot(*slot)) }
        });
        registers.collect()
    }

    /// The register with this name in the function that the thread is in.
    pub fn register(&self, name: &str) -> Option<Register> {
        self.registers().into_iter().find(|register| register.name == name)
    }

    /// Memory at a generic address; `None` where it is outside every allocation.
    ///
    /// ```
    /// # use warpaint::device::{Arguments, LaunchConfig, cpu};
    /// # let ptx = ".version 7.0 .target sm_75 .address_size 64
    /// #     .visible .entry store(.param .u64 x) {
    /// #         .reg .b64 %x;
    /// #         ld.param.u64 %x, [x];
    /// #         st.global.u32 [%x], 7;
    /// #         ret;
    /// #     }";
    /// # let device = cpu::Device::new()?;
    /// # let (store, x, mut arguments) = (device.load(ptx)?.function("store")?, device.alloc(4)?, Arguments::new());
    /// # arguments.push(&x.address());
    /// # let mut debugger = cpu::Debugger::start(&store, &LaunchConfig::new(1, 1), &arguments)?;
    /// while debugger.position().is_some_and(|at| at.instruction != "ret") {
    ///     debugger.step()?; // the last one is st.global.u32 [%x], 7
    /// }
    /// assert_eq!(debugger.read(x.address(), 4), Some(vec![7, 0, 0, 0]));
    /// assert_eq!(debugger.read(x.address(), 5), None); // one byte too many
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn read(&self, address: u64, bytes: usize) -> Option<Vec<u8>> {
        let at =
            |at: u64| self.shared.arena.load(address.wrapping_add(at), 1).map(|byte| byte as u8);
        (0..bytes as u64).map(at).collect()
    }

    /// The shared memory of the thread's block.
    pub fn shared_memory(&self) -> Vec<u8> {
        let range = self.chosen_block().map(|block| block.env.shared);
        range.and_then(|range| self.read(range.address, range.bytes as usize)).unwrap_or_default()
    }
}

fn index(size: Dim3, at: Dim3) -> Result<u64> {
    if at.x >= size.x || at.y >= size.y || at.z >= size.z {
        return Err(out_of_range(at.x.max(at.y).max(at.z).into(), size.count()));
    }
    let row = u64::from(at.z) * u64::from(size.y) + u64::from(at.y);
    Ok(row * u64::from(size.x) + u64::from(at.x))
}

fn out_of_range(index: u64, count: u64) -> Error {
    Error::OutOfRange { start: index as usize, end: index as usize + 1, bytes: count as usize }
}
