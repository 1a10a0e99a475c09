//! A thread: its registers, its calls, and what it waits for.

use std::cmp::Reverse;

use crate::{device::cpu::memory::Range, ptx::modifier::BarKind};

use super::program::Slot;
use crate::ptx::op::WarpOp;

/// Slots that a thread's frames may have together.
pub(super) const MAX_SLOTS: usize = 1 << 18;

/// Logarithm of the most turns that a thread leaves out.
const LONGEST_PAUSE: u32 = 6;

/// A thread of a block.
#[derive(Debug)]
pub(super) struct Thread {
    /// Frames, one behind the other: addresses of arguments and results, then slots.
    pub(super) stack: Vec<u64>,
    /// First slot of the function that runs.
    pub(super) base: usize,
    pub(super) function: u32,
    pub(super) pc: u32,
    pub(super) frames: Vec<Activation>,
    pub(super) carry: bool,
    pub(super) state: State,
    /// Index in the block.
    pub(super) index: u32,
    pub(super) tid: [u32; 3],
    pub(super) local: Local,
    /// Reads or changes by which it may wait for others since the last branch back, and such branches.
    pub(super) strong: bool,
    pub(super) spins: u32,
    /// Turns that ended with such branches, one after the other, and turns that it leaves out for that.
    pub(super) spun: u32,
    pub(super) pause: u32,
}

/// Its part of local memory, by address.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Local {
    /// First byte.
    pub(super) start: u64,
    /// First byte of the frame of the function that runs.
    pub(super) frame: u64,
    /// First free byte.
    pub(super) top: u64,
    /// Byte after the last.
    pub(super) limit: u64,
}

impl Local {
    /// What the thread may use: the frames of the functions that it is in.
    pub(super) fn used(self) -> Range {
        Range { address: self.start, bytes: self.top - self.start }
    }
}

/// A function that waits for one that it called.
#[derive(Clone, Copy, Debug)]
pub(super) struct Activation {
    pub(super) base: usize,
    pub(super) function: u32,
    /// The call.
    pub(super) pc: u32,
    pub(super) local_frame: u64,
    pub(super) local_top: u64,
    /// The callee's arguments and results.
    pub(super) arguments: u32,
}

/// Whether a thread can go on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum State {
    Ready,
    Barrier(Arrival),
    Warp(Waiting),
    Done,
}

/// A thread at a barrier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Arrival {
    pub(super) kind: BarKind,
    pub(super) id: usize,
    /// Threads that are expected; 0: all.
    pub(super) count: u32,
    pub(super) predicate: bool,
}

/// A thread at an operation of its warp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Waiting {
    pub(super) op: WarpOp,
    pub(super) value: u64,
    pub(super) mask: u32,
    pub(super) lane: u32,
    pub(super) clamp: u32,
}

impl Thread {
    pub(super) fn slot(&self, slot: Slot) -> u64 {
        self.stack[self.base + slot as usize]
    }

    pub(super) fn set(&mut self, slot: Slot, value: u64) {
        let at = self.base + slot as usize;
        self.stack[at] = value;
    }

    /// Where it stands: threads that share it run in lockstep, and those with the least one run first. A call is ended
    /// before its caller goes on, and what comes earlier in the text before what comes later, so that threads that went
    /// different ways reconverge behind them.
    pub(super) fn place(&self) -> (Reverse<usize>, u32, u32) {
        (Reverse(self.frames.len()), self.function, self.pc)
    }

    pub(super) fn is_ready(&self) -> bool {
        self.state == State::Ready
    }

    /// A thread that only looks whether others have done something leaves out turns, the more the longer it looks,
    /// and not the same turns as its neighbours.
    pub(super) fn pause_after_spinning(&mut self, spun: bool) {
        if !spun {
            self.spun = 0;
            return;
        }
        self.spun = (self.spun + 1).min(LONGEST_PAUSE);
        let turns = 1 << self.spun;
        self.pause = turns - 2 + self.index % (turns / 2);
    }

    pub(super) fn is_done(&self) -> bool {
        self.state == State::Done
    }
}
