//! What compiled code and the host share while a block runs. The layout is a contract: compiled code
//! addresses the fields by [`std::mem::offset_of`].
//!
//! It names memory, matrices, texture objects and what is printed, whose addresses it holds; who compiles, interprets
//! and launches names it.

use std::sync::atomic::AtomicU32;

use super::{
    matrix::Registers,
    memory::{Arena, Permission, Range, Tables},
    printf::Prints,
    texture::Snapshot,
};
use crate::device::{FaultKind, Result};

/// Bytes of the registers that a thread brings to an operation on matrices.
pub(super) const MATRIX_BYTES: usize = size_of::<Registers>();
/// Most threads of a block.
pub(super) const MAX_THREADS: usize = 1024;
/// Threads of a warp.
pub(super) const WARP: usize = 32;
/// Threads that lie side by side in one vector of 32-bit values.
pub(super) const LANES: usize = 4;
/// A thread's state is 0 before its start, else the resume point at which it goes on; with this bit it waits
/// there for others.
pub(super) const BLOCKED: u32 = 1 << 31;
/// A thread's state with this bit: it has yielded, and goes on there at its next turn.
pub(super) const YIELDED: u32 = 1 << 30;
/// A thread's state with this bit: it came there in a group of threads, whose registers are packed
/// ([`Packed`](super::jit::Packed)).
pub(super) const PACKED: u32 = 1 << 29;
/// A thread's state with this bit besides: it goes on as soon as all of its warp wait there, and what it brought to
/// their operation lies in [`Exchange::brought`].
pub(super) const OPENS_WARP: u32 = 1 << 28;
/// A thread's state with this bit besides: it goes on as soon as all of its block wait there.
pub(super) const OPENS_BLOCK: u32 = 1 << 27;
/// The bits of a thread's state that say where it is.
pub(super) const PLACE: u32 = !(BLOCKED | YIELDED | PACKED | OPENS_WARP | OPENS_BLOCK);
/// The state of a thread that has ended.
pub(super) const DONE: u32 = PLACE;
/// What the entry returns when a thread was stopped; else 0.
pub(super) const STOPPED: u32 = u32::MAX;
/// Shared memory of a block that is kept for the system: what GPUs from compute capability 8.0 on keep.
pub(super) const RESERVED_SHARED_BYTES: u32 = 1 << 10;
/// Barriers of a block.
pub(super) const BARRIERS: usize = 16;

/// The compiled kernel: runs the threads `begin..end` of the context's block until each waits or has ended; in a kernel
/// whose threads run warp by warp, until that is so of a warp that needs the host, or of the last one.
pub(super) type Entry =
    unsafe extern "C" fn(context: *mut BlockContext, begin: u32, end: u32) -> u32;

/// The block that runs, as compiled code sees it. Addresses are those of the host.
#[derive(Debug)]
#[repr(C)]
pub(super) struct BlockContext {
    /// Not 0 when the launch is to stop.
    pub abort: *const AtomicU32,
    pub arena: Tables,
    pub shared_base: u64,
    pub shared_bytes: u64,
    pub param_base: u64,
    pub param_bytes: u64,
    /// Local memory of thread 0; that of thread `t` is `t * local_stride` further.
    pub local_base: u64,
    pub local_stride: u64,
    pub local_bytes: u64,
    /// Bytes of the local memory of all threads.
    pub all_local_bytes: u64,
    /// First byte of the local memory of the thread that runs.
    pub local_start: u64,
    /// First free byte of the local memory of the thread that runs, kept by device functions.
    pub local_top: u64,
    /// Byte after the local memory of the thread that runs.
    pub local_limit: u64,
    /// Where dynamic shared memory starts.
    pub dynamic_shared_offset: u64,
    /// Lowest stack address that device functions may use.
    pub stack_limit: u64,
    /// Where the registers of waiting threads are spilled.
    pub spill: u64,
    /// One `u32` a thread.
    pub states: u64,
    pub exchange: u64,
    /// One [`Registers`] a thread, in kernels whose threads hold matrices together.
    pub matrices: u64,
    /// Address of the access that stopped a thread.
    pub fault_address: u64,
    /// Index of the block in the grid.
    pub block: u64,
    pub ntid: [u32; 3],
    pub nctaid: [u32; 3],
    pub ctaid: [u32; 3],
    pub tid: [u32; 3],
    /// Index in the block of the thread that runs, for device functions; of the thread that was stopped.
    pub thread: u32,
    /// Where a thread was stopped.
    pub fault_site: u32,
    pub dynamic_shared_bytes: u32,
    pub arrived: [u32; BARRIERS],
    /// Which of [`Exchange::brought`] the groups wrote that wait: its distance from the first one in bytes.
    pub brought: u32,
    /// Behind the last thread of the warp that had its turn last, in a kernel whose threads run warp by warp.
    pub reached: u32,
    /// Where the shared memory starts that is kept for the system, in kernels that use it.
    pub reserved_shared: u32,
    /// What `malloc` takes from.
    pub heap: *const Arena,
    /// Where `printf` goes.
    pub prints: *const Prints,
    /// What the blocks of a cooperative launch meet at (`%envreg1`, `%envreg2`); 0 in others.
    pub workspace: u64,
    /// Text of a failed assertion.
    pub assertion: u64,
    /// What texture and surface handles stand for.
    pub objects: *const Snapshot,
    /// 2-D surfaces by the low word of their handles, and how many places there are.
    pub surfaces: u64,
    pub surface_count: u64,
    pub image: ImageCall,
    /// Why a texture or surface access stopped a thread.
    pub image_fault: Option<Box<FaultKind>>,
}

impl BlockContext {
    /// Whether a thread whose local memory that it uses is `local` reaches so many bytes at a generic address in the
    /// memory of its block: that, shared memory, and the kernel's parameters, which are only read.
    pub(super) fn reaches(&self, address: u64, bytes: u64, write: bool, local: Range) -> bool {
        let shared = Range { address: self.shared_base, bytes: self.shared_bytes };
        let params = Range { address: self.param_base, bytes: self.param_bytes };
        let params = (!write).then_some(params);
        [Some(local), Some(shared), params]
            .iter()
            .flatten()
            .any(|range| range.holds(address, bytes))
    }
}

/// What a texture or surface instruction passes to the host and gets back.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(16))]
pub(super) struct ImageCall {
    /// Coordinates in the instruction's order.
    pub at: [u32; 4],
    /// Texels added to them, in x, y and z.
    pub offset: [i32; 3],
    /// What is read or written.
    pub data: [u32; 4],
}

/// What threads that wait for each other hand over, one element a thread.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Exchange {
    /// The value given.
    pub value: [u64; MAX_THREADS],
    /// The value received.
    pub result: [u64; MAX_THREADS],
    /// Lanes that take part; a barrier's number.
    pub mask: [u32; MAX_THREADS],
    /// `shfl`: the lane operand; a barrier's thread count.
    pub b: [u32; MAX_THREADS],
    /// `shfl`: clamp and segment.
    pub c: [u32; MAX_THREADS],
    /// The predicate received.
    pub predicate: [u32; MAX_THREADS],
    /// What groups of a warp bring to an operation of all of its threads, in turns: those that go on read what was
    /// brought while others already bring something to the next one.
    pub brought: [Brought; 2],
}

/// What the threads of a warp bring to an operation of all of them, by their lanes: words, the lower and the upper
/// halves of 64 bits, or predicates, which are the bits of the first word. Before the first word and behind the last
/// one there is room: vectors are read at any lane between -32 and 63.
#[derive(Debug)]
#[repr(C, align(16))]
pub(super) struct Brought {
    pub before: [u32; WARP],
    pub words: [u32; WARP],
    pub upper: [u32; WARP],
}

impl Brought {
    const NOTHING: Self = Self { before: [0; WARP], words: [0; WARP], upper: [0; WARP] };
}

impl Exchange {
    pub(super) fn new() -> Box<Self> {
        Box::new(Self {
            value: [0; MAX_THREADS],
            result: [0; MAX_THREADS],
            mask: [0; MAX_THREADS],
            b: [0; MAX_THREADS],
            c: [0; MAX_THREADS],
            predicate: [0; MAX_THREADS],
            brought: [Brought::NOTHING; 2],
        })
    }
}

/// A grid's workspace as CUDA's cooperative groups know it: its size, and a barrier's counter.
pub(super) fn workspace(arena: &Arena) -> Result<Range> {
    let range = arena.alloc_own(8, Permission::ReadWrite)?;
    let words: Vec<u8> = [8u32, 0].into_iter().flat_map(u32::to_le_bytes).collect();
    let written = arena.write(range.address, &words);
    debug_assert!(written, "it was just allocated");
    Ok(range)
}
