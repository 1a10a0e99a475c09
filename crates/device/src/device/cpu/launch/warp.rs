//! Operations of a warp: done by the host once every lane that takes part waits for it.

use std::ops::Range;

use crate::{
    device::cpu::{
        abi::{
            BLOCKED, BlockContext, Brought, DONE, Exchange, OPENS_BLOCK, OPENS_WARP, PACKED, PLACE,
            WARP,
        },
        jit::{Brings, Kernel, Packed, Resume},
        matrix::{self, Reach, Refused, Registers},
        memory::{self, Arena},
    },
    ptx::{
        matrix::{MatrixMemory, MatrixOp},
        modifier::{AtomOp, ShflMode, VoteMode},
        op::WarpOp,
        types::Type,
    },
};

/// A warp whose lanes wait, and what they handed over.
pub(super) struct Warp<'a> {
    /// The index in the block of its first thread.
    pub(super) first: usize,
    pub(super) exchange: &'a mut Exchange,
    /// Of all threads of the block, in kernels that have matrices.
    pub(super) matrices: &'a mut [Registers],
    pub(super) context: &'a BlockContext,
    pub(super) arena: &'a Arena,
    /// The spilled registers of all threads of the block.
    pub(super) spill: &'a mut [u64],
}

impl Warp<'_> {
    /// Lets lanes go on whose operation is complete; `states` are theirs.
    ///
    /// # Errors
    /// The first access of theirs that is refused.
    pub(super) fn resolve(&mut self, kernel: &Kernel, states: &mut [u32]) -> Result<(), Refused> {
        debug_assert!(states.len() <= WARP, "a warp has 32 lanes");
        match self.place_of_all(kernel, states) {
            Some(Resume::Barrier { .. }) => Ok(()),
            Some(Resume::Warp(op)) => {
                self.perform(op, u32::MAX, kernel, states)?;
                states.iter_mut().for_each(|state| *state &= !BLOCKED);
                Ok(())
            }
            Some(Resume::Start | Resume::Yield { .. }) | None => self.resolve_some(kernel, states),
        }
    }

    /// What all lanes of a whole warp wait for at one place, where nobody has to look at each of them.
    fn place_of_all(&self, kernel: &Kernel, states: &[u32]) -> Option<Resume> {
        let state = *states.first()?;
        let waits = state & BLOCKED != 0 && state != DONE;
        if states.len() != WARP || !waits || states.iter().any(|other| *other != state) {
            return None;
        }
        let point = kernel.resume(state);
        let all_named = || {
            let mut lanes = self.first..self.first + WARP;
            lanes.all(|thread| point.mask(self.exchange, thread) == u32::MAX)
        };
        let whole = match point.kind {
            Resume::Barrier { .. } => true,
            Resume::Warp(_) => state & OPENS_WARP == 0 && all_named(),
            Resume::Start | Resume::Yield { .. } => false,
        };
        whole.then_some(point.kind)
    }

    fn resolve_some(&mut self, kernel: &Kernel, states: &mut [u32]) -> Result<(), Refused> {
        self.take_over(kernel, states);
        let waiting = |state: u32| match kernel.resume(state).kind {
            Resume::Warp(op) if state & BLOCKED != 0 && state != DONE => Some(op),
            Resume::Start | Resume::Yield { .. } | Resume::Barrier { .. } | Resume::Warp(_) => None,
        };
        let alive = lanes(states.len(), |lane| states[lane] != DONE);
        // Those that wait for the same, under the same mask, are looked at once.
        let mut seen = 0;
        for lane in 0..states.len() {
            let Some(op) = waiting(states[lane]).filter(|_| seen >> lane & 1 == 0) else {
                continue;
            };
            let mask = self.mask(kernel, states, lane);
            // It asks who is there, and names nobody.
            let asks = op == WarpOp::Activemask;
            let place = |lane: usize| states[lane] & (BLOCKED | PLACE);
            let same = |other: usize| match op.is_of_one_instruction() {
                true => place(other) == place(lane),
                false => {
                    waiting(states[other]) == Some(op) && self.mask(kernel, states, other) == mask
                }
            };
            let ready = lanes(states.len(), same);
            seen |= ready;
            // Lanes that have exited, or never were, are not waited for, but where each holds a part of a matrix.
            let needed = if let WarpOp::Matrix(_) = op { mask } else { mask & alive };
            // One that its own mask leaves out waits for ever.
            let group = mask & ready;
            if !asks && (needed & !ready != 0 || group == 0) {
                continue;
            }
            self.perform(op, group, kernel, states)?;
            self.let_go(group, kernel, states);
        }
        Ok(())
    }

    /// The lanes that one names which waits.
    fn mask(&self, kernel: &Kernel, states: &[u32], lane: usize) -> u32 {
        kernel.resume(states[lane]).mask(self.exchange, self.first + lane)
    }

    /// What groups brought to an operation by their whole warp, which is not there, is handed over as single threads do
    /// it.
    fn take_over(&mut self, kernel: &Kernel, states: &mut [u32]) {
        for (lane, state) in states.iter_mut().enumerate() {
            if *state & OPENS_WARP == 0 {
                continue;
            }
            *state &= !OPENS_WARP;
            let buffer = self.context.brought as usize / size_of::<Brought>();
            let brought = &self.exchange.brought[buffer];
            let value = match kernel.packed(*state).map_or(Brings::Nothing, |p| p.brings) {
                Brings::Nothing => continue,
                Brings::Bits => u64::from(brought.words[0] >> lane & 1),
                Brings::Words => brought.words[lane].into(),
                Brings::Pairs => {
                    u64::from(brought.upper[lane]) << 32 | u64::from(brought.words[lane])
                }
            };
            self.exchange.value[self.first + lane] = value;
        }
    }

    /// Lets lanes go on. Where they are only some of a group, the ways of its threads diverge now: each is given what
    /// is its own.
    pub(super) fn let_go(&mut self, lanes: u32, kernel: &Kernel, states: &mut [u32]) {
        for (group, states) in states.chunks_mut(kernel.width).enumerate() {
            let first = group * kernel.width;
            let going = (0..states.len()).filter(|lane| lanes >> (first + lane) & 1 != 0);
            let count = going.clone().count();
            if (1..states.len()).contains(&count) && states[0] & PACKED != 0 {
                if let Some(packed) = kernel.packed(states[0]) {
                    let first = self.first + first;
                    spread(packed, self.spill, first..first + kernel.width);
                }
                states.iter_mut().for_each(|state| *state &= !(PACKED | OPENS_BLOCK));
            }
            going.for_each(|lane| states[lane] &= !(BLOCKED | OPENS_BLOCK));
        }
    }

    fn perform(
        &mut self,
        op: WarpOp,
        group: u32,
        kernel: &Kernel,
        states: &[u32],
    ) -> Result<(), Refused> {
        let (first, exchange) = (self.first, &mut *self.exchange);
        match op {
            WarpOp::Sync => {}
            WarpOp::Activemask => give(exchange, group, first, u64::from(group), 1),
            WarpOp::Elect => {
                give(exchange, group, first, group.trailing_zeros().into(), 0);
                if let Some(leader) = members(group).next() {
                    exchange.predicate[first + leader] = 1;
                }
            }
            WarpOp::Shfl(mode) => {
                for lane in members(group) {
                    let (point, thread) = (kernel.resume(states[lane]), first + lane);
                    let settings = [point.b(exchange, thread), point.c(exchange, thread)];
                    let (source, valid) = shuffled(mode, lane, group, settings);
                    let value = exchange.value[first + source];
                    exchange.result[first + lane] = value;
                    exchange.predicate[first + lane] = u32::from(valid);
                }
            }
            WarpOp::Vote(mode) => vote(mode, group, first, exchange),
            WarpOp::Match { all } => matches(all, group, first, exchange),
            WarpOp::Redux(op, ty) => {
                let values = members(group).map(|lane| exchange.value[first + lane] as u32);
                let result = values.reduce(|a, b| reduced(op, ty, a, b)).unwrap_or(0);
                give(exchange, group, first, u64::from(result), 1);
            }
            WarpOp::Matrix(op) => self.matrix(&op)?,
        }
        Ok(())
    }

    /// All lanes are there.
    fn matrix(&mut self, op: &MatrixOp) -> Result<(), Refused> {
        let Some(warp) = self.matrices[self.first..].first_chunk_mut() else { return Ok(()) };
        let shared =
            memory::Range { address: self.context.shared_base, bytes: self.context.shared_bytes };
        let memory = op.memory().unwrap_or(MatrixMemory::NONE);
        matrix::perform(op, warp, &mut Reach { arena: self.arena, shared, memory })
    }
}

/// Makes a group's registers that differ by a constant those of each thread.
fn spread(packed: &Packed, spill: &mut [u64], threads: Range<usize>) {
    let spill: &mut [u8] = bytemuck::cast_slice_mut(spill);
    for register in &packed.registers {
        let [start, end] =
            [threads.start, threads.end].map(|thread| register.offset + thread * register.bytes);
        let Some(elements) = spill.get_mut(start..end) else { continue };
        let (one, others) = elements.split_at_mut(register.bytes);
        for (lane, other) in (1..).zip(others.chunks_mut(register.bytes)) {
            other.copy_from_slice(one);
            let step = register.stride.wrapping_mul(lane);
            if let Ok(word) = <[u8; 8]>::try_from(&*other) {
                let sum = i64::from_le_bytes(word).wrapping_add(step);
                other.copy_from_slice(&sum.to_le_bytes());
            } else if let Ok(word) = <[u8; 4]>::try_from(&*other) {
                let sum = i32::from_le_bytes(word).wrapping_add(step as i32);
                other.copy_from_slice(&sum.to_le_bytes());
            }
        }
    }
}

fn lanes(count: usize, holds: impl Fn(usize) -> bool) -> u32 {
    (0..count).filter(|&lane| holds(lane)).fold(0, |mask, lane| mask | 1 << lane)
}

fn members(mask: u32) -> impl Iterator<Item = usize> {
    (0..WARP).filter(move |lane| mask >> lane & 1 != 0)
}

fn give(exchange: &mut Exchange, group: u32, first: usize, result: u64, predicate: u32) {
    for lane in members(group) {
        exchange.result[first + lane] = result;
        exchange.predicate[first + lane] = predicate;
    }
}

/// PTX ISA, `shfl.sync`: the lane that one gets the value of, and whether it may get that. A source lane that does not
/// take part gives the lane's own value.
fn shuffled(mode: ShflMode, lane: usize, group: u32, [b, c]: [u32; 2]) -> (usize, bool) {
    let (b, c) = (b as i32 & 31, c as i32);
    let (clamp, segment) = (c & 31, c >> 8 & 31);
    let lane_id = lane as i32;
    let most = (lane_id & segment) | (clamp & !segment);
    let (source, valid) = match mode {
        ShflMode::Up => (lane_id - b, lane_id - b >= most),
        ShflMode::Down => (lane_id + b, lane_id + b <= most),
        ShflMode::Bfly => (lane_id ^ b, lane_id ^ b <= most),
        ShflMode::Idx => {
            let source = (lane_id & segment) | (b & !segment);
            (source, source <= most)
        }
    };
    let source = if valid { source as usize } else { lane };
    let source = if group >> source & 1 != 0 { source } else { lane };
    (source, valid)
}

fn vote(mode: VoteMode, group: u32, first: usize, exchange: &mut Exchange) {
    let trues = members(group)
        .filter(|lane| exchange.value[first + lane] & 1 != 0)
        .fold(0u32, |mask, lane| mask | 1 << lane);
    let result = match mode {
        VoteMode::All => u32::from(trues == group),
        VoteMode::Any => u32::from(trues != 0),
        VoteMode::Uni => u32::from(trues == group || trues == 0),
        VoteMode::Ballot => trues,
    };
    give(exchange, group, first, u64::from(result), result & 1);
}

fn matches(all: bool, group: u32, first: usize, exchange: &mut Exchange) {
    for lane in members(group) {
        let value = exchange.value[first + lane];
        let same = members(group)
            .filter(|other| exchange.value[first + other] == value)
            .fold(0u32, |mask, other| mask | 1 << other);
        let agreed = same == group;
        exchange.result[first + lane] = u64::from(if all && !agreed { 0 } else { same });
        exchange.predicate[first + lane] = u32::from(agreed);
    }
}

fn reduced(op: AtomOp, ty: Type, a: u32, b: u32) -> u32 {
    match (op, ty.is_signed()) {
        (AtomOp::Add, _) => a.wrapping_add(b),
        (AtomOp::Min, true) => (a as i32).min(b as i32) as u32,
        (AtomOp::Max, true) => (a as i32).max(b as i32) as u32,
        (AtomOp::Min, false) => a.min(b),
        (AtomOp::Max, false) => a.max(b),
        (AtomOp::And, _) => a & b,
        (AtomOp::Or, _) => a | b,
        (AtomOp::Xor, _) => a ^ b,
        (AtomOp::Cas | AtomOp::Exch | AtomOp::Inc | AtomOp::Dec, _) => b,
    }
}
