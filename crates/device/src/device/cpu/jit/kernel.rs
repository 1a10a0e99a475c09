//! What the compiler leaves behind for those who launch: entry points, places, sizes.

use std::sync::Arc;

use super::code::Code;
use crate::{
    device::{
        FaultKind, FunctionInfo, InlinedCall, Location,
        cpu::abi::{DONE, Entry, Exchange, PLACE},
    },
    ptx::op::WarpOp,
};

/// A compiled kernel.
#[derive(Debug)]
pub(in crate::device::cpu) struct Kernel {
    pub(in crate::device::cpu) name: String,
    pub(in crate::device::cpu) info: FunctionInfo,
    pub(in crate::device::cpu) entry: Entry,
    pub(in crate::device::cpu) schedule: Schedule,
    /// Local memory of a thread in bytes.
    pub(in crate::device::cpu) local_bytes: u64,
    /// Room for the spilled registers of waiting threads, in words of 8 bytes.
    pub(in crate::device::cpu) spill_words: usize,
    /// Whether it needs a deep stack: it calls device functions, or has a large frame of its own.
    pub(in crate::device::cpu) calls: bool,
    /// Whether its threads yield in loops that may wait for others.
    pub(in crate::device::cpu) yields: bool,
    /// Whether it uses the shared memory that is kept for the system.
    pub(in crate::device::cpu) reserves: bool,
    /// How many of its threads run side by side, each with local memory of its own.
    pub(in crate::device::cpu) width: usize,
    /// Whether it runs with subnormals flushed by the processor.
    pub(in crate::device::cpu) flushes: bool,
    /// The kernel's first place.
    pub(in crate::device::cpu) entry_site: u32,
    pub(super) sites: Arc<[Site]>,
    pub(super) resumes: Vec<ResumePoint>,
    /// How groups pack their registers, by the state in which they wait.
    pub(super) packed: Vec<Packed>,
    /// Keeps the code that `entry` points to.
    pub(super) _code: Arc<Code>,
}

impl Kernel {
    /// How a group packs its registers that waits in this state.
    pub(in crate::device::cpu) fn packed(&self, state: u32) -> Option<&Packed> {
        self.packed.get((state & PLACE) as usize)
    }

    /// Whether its threads hold matrices together.
    pub(in crate::device::cpu) fn has_matrices(&self) -> bool {
        self.resumes.iter().any(|point| matches!(point.kind, Resume::Warp(WarpOp::Matrix(_))))
    }

    /// The place with this number.
    pub(in crate::device::cpu) fn site(&self, site: u32) -> &Site {
        &self.sites[(site as usize).min(self.sites.len() - 1)]
    }

    /// Where a thread in this state goes on.
    pub(in crate::device::cpu) fn resume(&self, state: u32) -> ResumePoint {
        let ended = ResumePoint { site: self.entry_site, ..ResumePoint::START };
        let point = self.resumes.get((state & PLACE) as usize).filter(|_| state != DONE);
        point.copied().unwrap_or(ended)
    }
}

/// What a group leaves in memory where it waits, and what single threads and the host have to know to read it: what
/// differs by a constant lies there for the first thread only.
#[derive(Clone, Debug, Default)]
pub(in crate::device::cpu) struct Packed {
    pub(in crate::device::cpu) registers: Vec<PackedRegister>,
    /// How its values lie in [`Exchange::brought`], where its whole warp meets.
    pub(in crate::device::cpu) brings: Brings,
}

/// What a group brings to an operation of its whole warp, as it lies in [`Exchange::brought`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::device::cpu) enum Brings {
    /// Nothing but itself.
    #[default]
    Nothing,
    /// A bit for each thread.
    Bits,
    /// A word of each thread.
    Words,
    /// 64 bits of each thread.
    Pairs,
}

/// A register that differs by a constant from thread to thread.
#[derive(Clone, Copy, Debug)]
pub(in crate::device::cpu) struct PackedRegister {
    /// Where its array begins among the spilled registers.
    pub(in crate::device::cpu) offset: usize,
    /// Bytes of an element.
    pub(in crate::device::cpu) bytes: usize,
    pub(in crate::device::cpu) stride: i64,
}

/// How the threads of a block are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device::cpu) enum Schedule {
    /// One after the other, each to its end.
    Free,
    /// They meet at `bar.sync 0` only: one after the other to the barrier, and on.
    Block,
    /// Warp by warp.
    Warp,
}

/// A place where threads wait.
#[derive(Clone, Copy, Debug)]
pub(in crate::device::cpu) struct ResumePoint {
    pub(in crate::device::cpu) kind: Resume,
    pub(in crate::device::cpu) site: u32,
    pub(in crate::device::cpu) fixed: Fixed,
}

impl ResumePoint {
    /// Where threads begin.
    pub(super) const START: Self =
        Self { kind: Resume::Start, site: 0, fixed: Fixed { mask: None, b: None, c: None } };

    /// The lanes that take part, or the barrier's number, as a thread has it that waits here.
    pub(in crate::device::cpu) fn mask(&self, exchange: &Exchange, thread: usize) -> u32 {
        self.fixed.mask.unwrap_or_else(|| exchange.mask[thread])
    }

    /// The lane operand of a shuffle, or the thread count of a barrier.
    pub(in crate::device::cpu) fn b(&self, exchange: &Exchange, thread: usize) -> u32 {
        self.fixed.b.unwrap_or_else(|| exchange.b[thread])
    }

    /// Clamp and segment of a shuffle.
    pub(in crate::device::cpu) fn c(&self, exchange: &Exchange, thread: usize) -> u32 {
        self.fixed.c.unwrap_or_else(|| exchange.c[thread])
    }
}

/// What threads would hand over of [`Exchange`] but is a number in the code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::device::cpu) struct Fixed {
    pub(in crate::device::cpu) mask: Option<u32>,
    pub(in crate::device::cpu) b: Option<u32>,
    pub(in crate::device::cpu) c: Option<u32>,
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device::cpu) enum Resume {
    /// Nothing: the start.
    Start,
    /// Nothing: its next turn, in a loop that does nothing but wait, or also works.
    Yield { waits: bool },
    /// A barrier of the block.
    Barrier { reduce: Reduce },
    /// Lanes of its warp.
    Warp(WarpOp),
}

/// What a barrier gives the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device::cpu) enum Reduce {
    Nothing,
    Count,
    All,
    Any,
}

impl Reduce {
    /// The result where `trues` of `threads` predicates hold.
    pub(in crate::device::cpu) fn result(self, trues: u64, threads: u64) -> u64 {
        match self {
            Self::Nothing => 0,
            Self::Count => trues,
            Self::All => u64::from(trues == threads),
            Self::Any => u64::from(trues > 0),
        }
    }
}

/// A place in a kernel at which a thread can be stopped.
#[derive(Clone, Debug)]
pub(in crate::device::cpu) struct Site {
    pub(in crate::device::cpu) kind: SiteKind,
    pub(in crate::device::cpu) location: Option<Location>,
    /// The line of the PTX.
    pub(in crate::device::cpu) line: Option<u32>,
    pub(in crate::device::cpu) inlined: Arc<[InlinedCall]>,
}

/// Why a thread can be stopped at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device::cpu) enum SiteKind {
    /// The launch is to stop.
    Poll,
    /// A memory access is out of bounds or misaligned.
    Access {
        space: &'static str,
        write: bool,
        bytes: u32,
    },
    Trap,
    /// The message lies with the context.
    Assert,
    /// What is given back was not allocated.
    Free,
    /// No stack left.
    Stack,
    /// An indirect call of something that is no function.
    Call,
    /// Threads wait here.
    Wait,
    /// A texture or surface instruction; what is wrong lies with the context.
    Image,
}

/// Address, width and state space of an access.
pub(in crate::device::cpu) type Accessed = (u64, u32, Option<&'static str>);

impl SiteKind {
    pub(in crate::device::cpu) fn is_poll(self) -> bool {
        self == Self::Poll
    }

    /// What stopped a thread here; `address` is the one that it accessed.
    pub(in crate::device::cpu) fn fault(self, address: u64) -> (FaultKind, Option<Accessed>) {
        match self {
            Self::Access { space, write, bytes } => {
                let kind = if !address.is_multiple_of(u64::from(bytes)) {
                    FaultKind::Misaligned
                } else if write {
                    FaultKind::InvalidWrite
                } else {
                    FaultKind::InvalidRead
                };
                (kind, Some((address, bytes, Some(space))))
            }
            Self::Call => (FaultKind::InvalidRead, Some((address, 1, Some("code")))),
            Self::Free => (FaultKind::InvalidFree, Some((address, 1, Some("heap")))),
            Self::Trap => (FaultKind::Trap, None),
            Self::Assert => (FaultKind::Assert(String::new()), None),
            Self::Stack => (FaultKind::StackOverflow, None),
            Self::Poll => (FaultKind::Cancelled, None),
            Self::Wait => (FaultKind::Deadlock, None),
            Self::Image => (invalid_handle(address), None),
        }
    }
}

fn invalid_handle(handle: u64) -> FaultKind {
    FaultKind::InvalidHandle { handle, reason: "a texture or surface access".to_owned() }
}
