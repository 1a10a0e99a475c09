//! What stands around a block's threads.

use crate::{device::cpu::memory::Range, ptx::types::Space};

/// Threads of a warp.
pub(super) const WARP: usize = 32;

/// What the instructions of a block's threads see of it.
#[derive(Debug)]
pub(super) struct Env {
    pub(super) index: u64,
    pub(super) ctaid: [u32; 3],
    pub(super) shared: Range,
    pub(super) local: Range,
    /// Where dynamic shared memory starts.
    pub(super) dynamic_shared: u64,
    /// Where shared memory starts that is kept for the system.
    pub(super) reserved_shared: u64,
}

impl Env {
    pub(super) fn is_shared(&self, address: u64) -> bool {
        address.wrapping_sub(self.shared.address) < self.shared.bytes
    }

    pub(super) fn local_range(&self) -> Range {
        self.local
    }

    pub(super) fn is_local(&self, address: u64) -> bool {
        address.wrapping_sub(self.local.address) < self.local.bytes
    }

    /// `cvta`: generic addresses of shared memory are its own plus a base; the other spaces have generic ones.
    pub(super) fn converted(&self, address: u64, space: Space, to_generic: bool) -> u64 {
        let base = match space {
            Space::Shared | Space::SharedCta | Space::SharedCluster => self.shared.address,
            Space::Const | Space::Global | Space::Local => 0,
            Space::Param | Space::ParamEntry | Space::ParamFunc => 0,
            // The verifier lets nobody convert addresses of these.
            Space::Reg | Space::Sreg | Space::Tex => 0,
        };
        match to_generic {
            true => address.wrapping_add(base),
            false => address.wrapping_sub(base),
        }
    }
}
