//! Operations of a warp: done by the host once every lane that takes part waits for it.

use crate::{
    device::cpu::{
        abi::{BLOCKED, BlockContext, DONE, Exchange, WARP},
        jit::{Kernel, Resume},
        matrix::{self, Reach, Refused, Registers},
        memory::{Arena, Range},
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
}

impl Warp<'_> {
    /// Lets lanes go on whose operation is complete; `states` are theirs.
    ///
    /// # Errors
    /// The first access of theirs that is refused.
    pub(super) fn resolve(&mut self, kernel: &Kernel, states: &mut [u32]) -> Result<(), Refused> {
        debug_assert!(states.len() <= WARP, "a warp has 32 lanes");
        let waiting = |state: u32| match kernel.resume(state).kind {
            Resume::Warp(op) if state & BLOCKED != 0 && state != DONE => Some(op),
            Resume::Start | Resume::Yield { .. } | Resume::Barrier { .. } | Resume::Warp(_) => None,
        };
        let alive = lanes(states.len(), |lane| states[lane] != DONE);
        for lane in 0..states.len() {
            let Some(op) = waiting(states[lane]) else { continue };
            let state = states[lane];
            let mask = self.exchange.mask[self.first + lane];
            // It asks who is there, and names nobody.
            let asks = op == WarpOp::Activemask;
            let same = |other: usize| match op.is_of_one_instruction() {
                true => states[other] == state,
                false => {
                    waiting(states[other]) == Some(op)
                        && self.exchange.mask[self.first + other] == mask
                }
            };
            let ready = lanes(states.len(), same);
            // Lanes that have exited, or never were, are not waited for, but where each holds a part of a matrix.
            let needed = if let WarpOp::Matrix(_) = op { mask } else { mask & alive };
            if !asks && needed & !ready != 0 {
                continue;
            }
            let group = if asks { ready } else { mask & ready | 1 << lane };
            self.perform(op, group)?;
            for member in members(group) {
                states[member] &= !BLOCKED;
            }
        }
        Ok(())
    }

    fn perform(&mut self, op: WarpOp, group: u32) -> Result<(), Refused> {
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
                    let (value, valid) = shuffled(mode, lane, group, first, exchange);
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
        let shared = Range { address: self.context.shared_base, bytes: self.context.shared_bytes };
        let memory = op.memory().unwrap_or(MatrixMemory::NONE);
        matrix::perform(op, warp, &mut Reach { arena: self.arena, shared, memory })
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

/// PTX ISA, `shfl.sync`. A source lane that does not take part gives the lane's own value.
fn shuffled(mode: ShflMode, lane: usize, group: u32, first: usize, e: &Exchange) -> (u64, bool) {
    let (b, c) = (e.b[first + lane] as i32 & 31, e.c[first + lane] as i32);
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
    (e.value[first + source], valid)
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
