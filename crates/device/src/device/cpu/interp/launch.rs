//! A launch from its first block to its last: in order, on one thread of the host.

use std::{
    collections::VecDeque,
    sync::{Arc, atomic::AtomicU32},
};

use super::{
    block::{Block, Memory, Turn},
    machine::Machine,
    program::Program,
    watch::Watch,
};
use crate::device::{
    Error, LaunchConfig, Result,
    cpu::{
        LaunchOptions,
        memory::{Permission, Range},
        printf::Prints,
        shared::Shared,
    },
};

/// Turns in which a block's threads only wait for others, after which the next block begins.
const IDLE_TURNS: u32 = 16;
/// Most blocks that are there at once without being asked for.
const MOST_BLOCKS: usize = 64;

/// A launch that is asked for.
#[derive(Debug)]
pub(in crate::device::cpu) struct Order<'a> {
    pub(in crate::device::cpu) program: Arc<Program>,
    pub(in crate::device::cpu) kernel: &'a str,
    pub(in crate::device::cpu) config: LaunchConfig,
    pub(in crate::device::cpu) arguments: &'a [u8],
    pub(in crate::device::cpu) options: &'a LaunchOptions,
    pub(in crate::device::cpu) abort: Arc<AtomicU32>,
    /// What the blocks of a cooperative launch meet at.
    pub(in crate::device::cpu) workspace: Option<Range>,
}

/// Runs all blocks.
///
/// # Errors
/// The first fault; [`Error::OutOfMemory`].
pub(in crate::device::cpu) fn run(shared: &Arc<Shared>, order: &Order<'_>) -> Result<()> {
    let mut grid = Grid::new(shared, order)?;
    let ran = grid.finish();
    let printed = grid.machine.prints.finish(order.kernel);
    grid.report();
    ran.and(printed)
}

/// The blocks of a launch.
#[derive(Debug)]
pub(super) struct Grid {
    pub(super) machine: Machine,
    /// Blocks that have begun and not ended.
    pub(super) blocks: VecDeque<Block>,
    /// Of blocks that have ended.
    spare: Vec<Memory>,
    next: u64,
}

impl Drop for Grid {
    fn drop(&mut self) {
        self.machine.shared.arena.free_own(self.machine.params);
    }
}

impl Grid {
    pub(super) fn new(shared: &Arc<Shared>, order: &Order<'_>) -> Result<Self> {
        let ptx = &order.program.ptx;
        let kernel = ptx.functions.iter().position(|function| function.name == order.kernel);
        let kernel = kernel.ok_or_else(|| Error::NoSuchFunction {
            name: order.kernel.to_owned(),
            available: Vec::new(),
        })? as u32;
        let arena = &shared.arena;
        let params = arena.alloc_far(order.arguments.len() as u64, Permission::Scratch)?;
        let written = arena.write_scratch(params.address, order.arguments);
        debug_assert!(written, "it was just allocated");
        let watch = order.options.check.as_ref().map(|check| {
            let unwritten = arena.unwritten().clone();
            Box::new(Watch::new(
                check.clone(),
                order.program.clone(),
                kernel,
                order.config,
                order.options.lockstep,
                unwritten,
            ))
        });
        if watch.is_none() {
            arena.unwritten().clear();
        }
        let machine = Machine {
            shared: shared.clone(),
            program: order.program.clone(),
            kernel,
            config: order.config,
            abort: order.abort.clone(),
            prints: Prints::new(shared.printer.clone()),
            objects: shared.objects.snapshot(),
            params,
            workspace: order.workspace.map_or(0, |range| range.address),
            executed: 0,
            lockstep: order.options.lockstep,
            watch,
        };
        Ok(Self { machine, blocks: VecDeque::new(), spare: Vec::new(), next: 0 })
    }

    /// Runs everything that is left.
    pub(super) fn finish(&mut self) -> Result<()> {
        while self.begin()? {
            self.turn(None)?;
        }
        Ok(())
    }

    /// Begins the blocks whose turn it is; false when all have ended.
    pub(super) fn begin(&mut self) -> Result<bool> {
        let all = self.machine.config.grid.count();
        while self.next < all && self.wants_more() {
            let block = Block::new(&mut self.machine, self.next, self.spare.pop())?;
            // Millions of threads of a cooperative launch take seconds to begin.
            block.poll(&self.machine)?;
            self.blocks.push_back(block);
            self.next += 1;
        }
        Ok(!self.blocks.is_empty())
    }

    /// A block begins when those before it have ended or only wait; those of a cooperative launch all at once.
    fn wants_more(&self) -> bool {
        let idle = |block: &Block| block.idle_turns >= IDLE_TURNS;
        self.machine.config.cooperative
            || self.blocks.len() < MOST_BLOCKS && self.blocks.iter().all(idle)
    }

    /// Gives every block that has begun its turn; the thread `except` of a block (by its index) has none.
    pub(super) fn turn(&mut self, except: Option<(u64, usize)>) -> Result<()> {
        let mut at = 0;
        while let Some(block) = self.blocks.get_mut(at) {
            let except = except.filter(|(index, _)| *index == block.env.index);
            let turn = block.turn(&mut self.machine, except.map(|(_, thread)| thread));
            match turn.map_err(Error::from)? {
                Turn::Running => at += 1,
                Turn::Ended => self.end(at),
            }
        }
        Ok(())
    }

    fn end(&mut self, at: usize) {
        if let Some(block) = self.blocks.remove(at) {
            if let Some(watch) = &mut self.machine.watch {
                watch.end_block(&block.env);
            }
            self.spare.push(block.into_memory());
        }
    }

    /// Hands over what the checker found.
    pub(super) fn report(&mut self) {
        let arena = &self.machine.shared.arena;
        if let Some(watch) = self.machine.watch.take() {
            let mut unwritten = arena.unwritten();
            watch.finish(|start, end| unwritten.remove(start, end));
        }
    }
}

#[cfg(test)]
#[expect(clippy::print_stderr, reason = "a measurement is for those who read it")]
mod tests {
    use super::*;
    use crate::device::{
        Arguments,
        cpu::{Check, interp::nanoseconds},
    };

    /// Loads, stores, integer and float arithmetic, a loop, a barrier: what kernels are made of.
    const KERNEL: &str = ".version 7.0\n.target sm_80\n.address_size 64
.shared .align 4 .b8 s[1024];
.visible .entry k(.param .u64 x)
{
    .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .f32 %f<8>;
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, s;
    add.s32 %r4, %r3, %r2;
    mov.u32 %r5, 0;
    mov.f32 %f1, 0f3F800000;
AGAIN:
    ld.global.f32 %f2, [%rd3];
    fma.rn.f32 %f3, %f1, %f2, %f1;
    mul.f32 %f1, %f3, 0f3F000000;
    st.shared.f32 [%r4], %f1;
    ld.shared.u32 %r6, [%r4];
    xor.b32 %r7, %r6, %r5;
    and.b32 %r8, %r7, 255;
    add.s32 %r5, %r5, 1;
    setp.lt.u32 %p1, %r5, 1000;
    @%p1 bra AGAIN;
    bar.sync 0;
    st.global.u32 [%rd3], %r8;
    ret;
}";

    /// Time on a processor, where the system tells: a busy host does not count.
    fn seconds() -> f64 {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let first = text.split(' ').next().and_then(|word| word.parse::<f64>().ok());
        first.unwrap_or_else(|| nanoseconds() as f64) * 1e-9
    }

    #[test]
    #[ignore = "a measurement"]
    fn instructions_per_second() -> Result<()> {
        let device = crate::device::cpu::Device::new()?;
        let function = device.load(KERNEL)?.function("k")?;
        let memory = device.alloc(1024)?;
        let mut arguments = Arguments::new();
        arguments.push(&memory.address());
        let check = Check::all();
        for (name, options) in
            [("plain", LaunchOptions::interpreted()), ("checked", LaunchOptions::checked(&check))]
        {
            let order = Order {
                program: function.program()?,
                kernel: "k",
                config: LaunchConfig::new(8, 256),
                arguments: arguments.bytes(),
                options: &options,
                abort: Arc::default(),
                workspace: None,
            };
            let mut grid = Grid::new(function.shared(), &order)?;
            let start = seconds();
            grid.finish()?;
            let rate = grid.machine.executed as f64 / (seconds() - start) / 1e6;
            eprintln!("{name}: {rate:.1} million instructions a second");
        }
        Ok(())
    }
}
