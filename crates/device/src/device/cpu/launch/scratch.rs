//! Memory of a block that runs: its shared and local memory, its parameters, the registers of threads that wait.

use std::fmt;

use super::Run;
use crate::device::{
    LaunchConfig, Result,
    cpu::{
        abi::{self, BlockContext, Exchange, MAX_THREADS},
        jit::{Kernel, Schedule},
        matrix::{REGISTERS, Registers},
        memory::{Arena, Permission, Range},
        thread,
    },
};

/// Stack that a thread which is not ours may be asked for by compiled code.
const FOREIGN_STACK_BYTES: u64 = 512 << 10;

/// What a block needs while it runs; reused by later blocks and launches.
pub(super) struct Scratch {
    shared: Range,
    params: Range,
    local: Range,
    pub(super) spill: Vec<u64>,
    pub(super) states: Vec<u32>,
    pub(super) exchange: Box<Exchange>,
    pub(super) matrices: Vec<Registers>,
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scratch").finish_non_exhaustive()
    }
}

impl Scratch {
    pub(super) fn new(arena: &Arena) -> Result<Self> {
        Ok(Self {
            shared: arena.alloc_own(4, Permission::Scratch)?,
            params: arena.alloc_own(4, Permission::Scratch)?,
            local: arena.alloc_own(4, Permission::Scratch)?,
            spill: Vec::new(),
            states: vec![0; MAX_THREADS],
            exchange: Exchange::new(),
            matrices: Vec::new(),
        })
    }

    /// Gives the memory back.
    pub(super) fn release(self, arena: &Arena) {
        for range in [self.shared, self.params, self.local] {
            arena.free_own(range);
        }
    }

    /// Fits it to the launch, and says where everything lies, the same for all blocks.
    pub(super) fn prepare(&mut self, run: &Run) -> Result<BlockContext> {
        let (launch, kernel, arena) = (&run.launch, run.launch.kernel(), &run.shared.arena);
        let config = launch.config;
        let threads = config.block.count();
        let mut shared_bytes = u64::from(kernel.info.shared_bytes) + u64::from(config.shared_bytes);
        let reserved_shared = shared_bytes.next_multiple_of(16);
        if kernel.reserves {
            shared_bytes = reserved_shared + u64::from(abi::RESERVED_SHARED_BYTES);
        }
        fit(arena, &mut self.shared, shared_bytes)?;
        let arguments = &launch.arguments;
        fit(arena, &mut self.params, arguments.len() as u64)?;
        let written = arena.write_scratch(self.params.address, arguments);
        debug_assert!(written, "the parameters were just fitted");
        let all_local_bytes = local_bytes(kernel, config);
        fit(arena, &mut self.local, all_local_bytes)?;
        if self.spill.len() < kernel.spill_words {
            self.spill = vec![0; kernel.spill_words];
        }
        if kernel.has_matrices() {
            self.matrices.resize(MAX_THREADS, [0; REGISTERS]);
        }
        let dims = |d: crate::device::Dim3| [d.x, d.y, d.z];
        let local_base = self.local.address;
        debug_assert!(threads as usize <= MAX_THREADS, "the launch was checked");
        Ok(BlockContext {
            abort: &raw const **launch.abort(),
            arena: arena.tables(),
            shared_base: self.shared.address,
            shared_bytes,
            param_base: self.params.address,
            param_bytes: arguments.len() as u64,
            local_base,
            local_stride: if kernel.schedule == Schedule::Free { 0 } else { kernel.local_bytes },
            local_bytes: kernel.local_bytes,
            all_local_bytes,
            local_start: local_base,
            local_top: local_base,
            local_limit: local_base + kernel.local_bytes,
            dynamic_shared_offset: u64::from(kernel.info.shared_bytes),
            stack_limit: stack_limit(kernel),
            spill: self.spill.as_mut_ptr() as u64,
            states: self.states.as_mut_ptr() as u64,
            exchange: (&raw mut *self.exchange) as u64,
            matrices: self.matrices.as_mut_ptr() as u64,
            fault_address: 0,
            block: 0,
            ntid: dims(config.block),
            nctaid: dims(config.grid),
            ctaid: [0; 3],
            tid: [0; 3],
            thread: 0,
            fault_site: 0,
            dynamic_shared_bytes: config.shared_bytes,
            arrived: [0; abi::BARRIERS],
            brought: 0,
            reached: 0,
            reserved_shared: reserved_shared as u32,
            heap: &raw const *run.shared.arena,
            prints: &raw const run.prints,
            workspace: run.workspace.map_or(0, |range| range.address),
            assertion: 0,
            objects: &raw const *run.objects,
            surfaces: run.objects.flat_surfaces().0,
            surface_count: run.objects.flat_surfaces().1,
            image: abi::ImageCall::default(),
            image_fault: None,
        })
    }
}

/// Local memory of a block: threads that never wait for each other use the same, but for those side by side.
fn local_bytes(kernel: &Kernel, config: LaunchConfig) -> u64 {
    let stacks = match kernel.schedule {
        Schedule::Free => kernel.width as u64,
        Schedule::Block | Schedule::Warp => config.block.count(),
    };
    kernel.local_bytes * stacks
}

/// What a block of such a launch takes while it waits, in bytes.
pub(super) fn resident_bytes(kernel: &Kernel, config: LaunchConfig) -> u64 {
    const CHUNK: u64 = 1 << crate::device::cpu::memory::CHUNK_BITS;
    let shared = u64::from(kernel.info.shared_bytes) + u64::from(config.shared_bytes);
    let arena = [shared, 4, local_bytes(kernel, config)];
    let matrices = if kernel.has_matrices() { MAX_THREADS * abi::MATRIX_BYTES } else { 0 };
    let own = size_of::<Exchange>() + matrices + kernel.spill_words * 8 + MAX_THREADS * 4;
    arena.map(|bytes| bytes.next_multiple_of(CHUNK).max(CHUNK)).iter().sum::<u64>() + own as u64
}

/// Makes `range` scratch memory of exactly `bytes`.
fn fit(arena: &Arena, range: &mut Range, bytes: u64) -> Result<()> {
    if bytes > range.bytes {
        let larger = arena.alloc_own(bytes.next_multiple_of(1 << 16), Permission::Scratch)?;
        arena.free_own(std::mem::replace(range, larger));
    }
    arena.set_extent(*range, bytes, Permission::Scratch);
    Ok(())
}

/// The lowest address that compiled code's frames may reach on this thread.
fn stack_limit(kernel: &Kernel) -> u64 {
    let here = 0u8;
    let top = (&raw const here) as u64;
    let frames =
        if kernel.calls { thread::STACK_BYTES as u64 - (16 << 20) } else { FOREIGN_STACK_BYTES };
    top.saturating_sub(frames)
}
