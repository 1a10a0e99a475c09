//! The memory that a warp's threads reach with matrices: allocations, and the shared memory of their block.

use super::Memory;
use crate::{
    device::cpu::memory::{Arena, Range},
    ptx::{matrix::MatrixMemory, types::Space},
};

/// What an operation accesses, and where it may be.
#[derive(Clone, Copy)]
pub(in crate::device::cpu) struct Reach<'a> {
    pub(in crate::device::cpu) arena: &'a Arena,
    /// The shared memory of the block.
    pub(in crate::device::cpu) shared: Range,
    pub(in crate::device::cpu) memory: MatrixMemory,
}

/// An access that is refused.
#[derive(Clone, Copy, Debug)]
pub(in crate::device::cpu) struct Refused {
    /// Of the warp's threads, which.
    pub(in crate::device::cpu) lane: usize,
    pub(in crate::device::cpu) address: u64,
}

impl Reach<'_> {
    /// Where so many bytes lie in the arena, of whose number the address has to be a multiple; `None` where they may
    /// not be accessed.
    pub(in crate::device::cpu) fn locate(&self, address: u64, bytes: u32) -> Option<u64> {
        let is_aligned = address.is_multiple_of(bytes.into());
        let in_shared = |at: &u64| self.shared.holds(*at, bytes.into());
        let allocated = |at: &u64| self.arena.allows(*at, bytes.into(), self.memory.written);
        let at = match self.memory.space.map(Space::kind) {
            Some(Space::Shared) => address.checked_add(self.shared.address).filter(in_shared),
            Some(Space::Global) => Some(address).filter(allocated),
            None => Some(address).filter(|at| allocated(at) || in_shared(at)),
            // No form of the table has another one.
            Some(Space::Reg | Space::Sreg | Space::Const | Space::Local | Space::Tex) => None,
            Some(Space::Param | Space::ParamEntry | Space::ParamFunc) => None,
            Some(Space::SharedCta | Space::SharedCluster) => None,
        };
        at.filter(|_| is_aligned)
    }
}

/// As nobody watches it.
impl Memory for Reach<'_> {
    type Refused = Refused;

    fn locate(&self, lane: usize, address: u64, bytes: u32) -> Result<u64, Refused> {
        Reach::locate(self, address, bytes).ok_or(Refused { lane, address })
    }

    fn load(&mut self, lane: usize, at: u64, bytes: u32) -> Result<u64, Refused> {
        self.arena.load(at, bytes).ok_or(Refused { lane, address: at })
    }

    fn store(&mut self, lane: usize, at: u64, bytes: u32, value: u64) -> Result<(), Refused> {
        let stored = self.arena.store(at, bytes, value);
        if stored { Ok(()) } else { Err(Refused { lane, address: at }) }
    }
}
