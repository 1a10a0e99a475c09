//! Where the registers of a group's threads are while these are apart.

use std::{collections::HashMap, mem::offset_of};

use cranelift_codegen::ir::{InstBuilder, Value};

use super::GroupLower;
use crate::{
    device::cpu::{abi::BlockContext, jit::span::MemorySpan},
    ptx::{ast::Body, operand::Reg},
};

/// What of a register is saved in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Saved {
    /// What it was when the group diverged, and of one that varies what it is at a join.
    Left,
    /// What each thread brought to a join of one that was the same scalar for all.
    Joined,
}

/// A place for each register, beside the spilled registers of waiting threads.
pub(super) struct Slots {
    /// Where each begins, from the start of the spilled registers of waiting threads.
    of: HashMap<(Reg, Saved), usize>,
    /// Bytes of a slot: 64 bits of each thread.
    slot_bytes: usize,
    /// End of the slots.
    pub(super) end: usize,
}

impl Slots {
    /// Behind the byte `start`, for groups of `width` threads; none where some register could not be spilled.
    pub(super) fn new(
        body: &Body,
        registers: impl Iterator<Item = (Reg, Saved)>,
        (width, start): (usize, usize),
    ) -> Option<Self> {
        let mut slots =
            Self { of: HashMap::new(), slot_bytes: 8 * width, end: start.next_multiple_of(16) };
        for (reg, saved) in registers {
            if body.registers.ty(reg).bytes() > 8 {
                return None;
            }
            slots.of.entry((reg, saved)).or_insert_with(|| {
                slots.end += slots.slot_bytes;
                slots.end - slots.slot_bytes
            });
        }
        Some(slots)
    }
}

impl GroupLower<'_, '_, '_> {
    /// Where a register of the group's threads is spilled to while they are apart.
    pub(super) fn slot_of(&mut self, reg: Reg) -> MemorySpan {
        self.slot(reg, Saved::Left)
    }

    /// Where the values lie that a group's threads brought to a join.
    pub(super) fn slot_of_joined(&mut self, reg: Reg) -> MemorySpan {
        self.slot(reg, Saved::Joined)
    }

    fn slot(&mut self, reg: Reg, saved: Saved) -> MemorySpan {
        let slots = &self.plan.leaves.slots;
        let slot = slots.of.get(&(reg, saved));
        let slot = slot.map(|slot| (*slot as i64, slots.slot_bytes as u64));
        let spill = self.lower.context_u64(offset_of!(BlockContext, spill));
        // One without a slot has no room, so that an access of it fails the compilation.
        let (offset, bytes) = slot.unwrap_or_default();
        MemorySpan::new(spill, offset, bytes)
    }

    /// The part of a slot that belongs to the thread with the index `lane` in its group, for values of so many bytes.
    pub(super) fn slot_of_lane(
        &mut self,
        saved: (Reg, Saved),
        lane: Value,
        bytes: u32,
    ) -> MemorySpan {
        let slots = &self.plan.leaves.slots;
        let fits = bytes as usize * self.plan.width <= slots.slot_bytes;
        let slot = slots.of.get(&saved).copied().filter(|_| fits);
        let spill = self.lower.context_u64(offset_of!(BlockContext, spill));
        let offset = self.lower.b.ins().imul_imm_u(lane, i64::from(bytes));
        let address = self.lower.b.ins().iadd(spill, offset);
        let bytes = slot.map_or(0, |_| u64::from(bytes));
        MemorySpan::new(address, slot.unwrap_or_default() as i64, bytes)
    }
}
