//! How large a function may become, and how long its translation may take: text from anywhere must take neither all
//! memory nor all day. Cranelift itself cannot be interrupted, but what it is given is bounded.

use std::time::{Duration, Instant};

use cranelift_codegen::ir;

use super::sync;
use crate::{
    device::{
        Error, Result,
        cpu::{error::NAME, location},
    },
    ptx::{
        ast::{Body, Function, Module},
        cfg::{BlockId, Cfg, Liveness, RegSet},
        inst::Instruction,
        op::Waits,
        operand::Operand,
    },
};

/// How long the translation of one module may take, without that of the function that is under way then.
const LONGEST: Duration = Duration::from_secs(60);

/// Frames up to this size fit every stack.
const SMALL_FRAME_BYTES: u64 = 128 << 10;
/// Larger ones are refused: a frame is made before a function can look whether there is room for it.
const LARGEST_FRAME_BYTES: u64 = 12 << 20;
/// Memory that a block's waiting threads spill to: 4,000 values of 64 bits each. A GPU's thread has 255 registers and
/// at most 512 KiB of local memory.
const MOST_SPILL_BYTES: usize = 32 << 20;

/// Blocks of a function: the time that Cranelift allocates registers in grows with their square.
const MOST_BLOCKS: usize = 10_000;
/// Loops times blocks: what belongs to a loop is found by a walk through it.
const MOST_LOOPS_BY_BLOCKS: usize = 1 << 28;

/// Registers that live where a block begins. Cranelift makes parameters of the block of them, several of one where it
/// is in vectors, and counts them in 16 bits without a check. A GPU's thread has 255.
const MOST_AT_A_JOIN: usize = 12_000;
/// Registers that are named times Cranelift's blocks: four bytes each.
const MOST_NAMED_BY_BLOCKS: usize = 1 << 29;
/// Registers times the instructions over which they live and at which Cranelift begins another block: its memory is in
/// proportion to them, about 50 bytes each, and its time more than that.
const MOST_LIVE_BY_CHECKS: usize = 16 << 20;
/// Registers, with what an edge costs by itself, times the edges of `brx.idx`, on each of which they are handed on: a
/// million takes Cranelift some five seconds.
const MOST_LIVE_BY_EDGES: usize = 4 << 20;
/// What an edge costs by itself, in registers.
const EDGE: usize = 16;

/// The limits of a module's translation.
#[derive(Debug)]
pub(super) struct Limits {
    deadline: Instant,
}

impl Limits {
    /// Those of a translation that begins now.
    pub(super) fn new() -> Self {
        Self { deadline: Instant::now() + LONGEST }
    }

    /// Whether the translation of `function` may go on, as far as it is now.
    pub(super) fn check(&self, function: &str, clif: &ir::Function) -> Result<()> {
        if frame_bytes(clif) > LARGEST_FRAME_BYTES {
            return Err(refused(&format!("`{function}` is too large for one function")));
        }
        if Instant::now() > self.deadline {
            let seconds = LONGEST.as_secs();
            let text = format!("translating `{function}` takes too long: the limit is {seconds} s");
            return Err(refused(&text));
        }
        Ok(())
    }

    /// Whether the frame of a compiled function may be too large for a stack that is not the device's own.
    pub(super) fn needs_deep_stack(&self, function: &str, clif: &ir::Function) -> Result<bool> {
        self.check(function, clif)?;
        Ok(frame_bytes(clif) > SMALL_FRAME_BYTES)
    }

    /// Whether the control flow of `function` can be translated, and its loops be looked at one by one.
    pub(super) fn check_flow(&self, function: &str, cfg: &Cfg) -> Result<()> {
        if cfg.blocks.len() > MOST_BLOCKS {
            let text = format!("`{function}` has too many branches for one function");
            return Err(refused(&text));
        }
        let loops = cfg.blocks.iter().filter(|block| block.is_loop_header).count();
        if loops.saturating_mul(cfg.blocks.len()) <= MOST_LOOPS_BY_BLOCKS {
            return Ok(());
        }
        Err(refused(&format!("`{function}` has too many loops for one function: {loops}")))
    }

    /// Whether not too many registers of `function` live at once.
    pub(super) fn check_registers(
        &self,
        function: &str,
        body: &Body,
        cfg: &Cfg,
        liveness: &Liveness,
    ) -> Result<()> {
        let blocks = cfg.blocks.len() + body.instructions().filter(|i| branches(i)).count();
        if RegSet::named(body).len().saturating_mul(blocks) > MOST_NAMED_BY_BLOCKS {
            let text =
                format!("`{function}` has too many registers for so many branches and accesses");
            return Err(refused(&text));
        }
        let at_joins = liveness.live_in.iter().map(RegSet::len).max().unwrap_or(0);
        if at_joins > MOST_AT_A_JOIN {
            let text = format!("too many registers of `{function}` live at once: {at_joins}");
            return Err(refused(&text));
        }
        let (mut sum, mut on_edges) = (0_usize, 0_usize);
        for id in cfg.ids() {
            sum = sum.saturating_add(live_at_checks(body, cfg, id, liveness));
            on_edges = on_edges.saturating_add(live_on_edges(cfg, id, liveness));
            if sum > MOST_LIVE_BY_CHECKS || on_edges > MOST_LIVE_BY_EDGES {
                return Err(refused(&format!(
                    "too many registers of `{function}` live for too long"
                )));
            }
        }
        Ok(())
    }

    /// Whether the registers fit that threads spill while they wait for each other.
    pub(super) fn check_spills(&self, function: &str, plan: &sync::WaitPlan) -> Result<()> {
        if plan.spill_bytes() <= MOST_SPILL_BYTES {
            return Ok(());
        }
        let (values, most) = (plan.most_spills(), MOST_SPILL_BYTES >> 20);
        let text = format!(
            "each thread of `{function}` spills {values} values while it waits for others: more than fit {most} MiB a block"
        );
        Err(refused(&text))
    }
}

/// The frame at worst: where every value is spilt.
fn frame_bytes(clif: &ir::Function) -> u64 {
    let slots: u64 = clif.sized_stack_slots.values().map(|slot| u64::from(slot.size)).sum();
    slots + 16 * clif.dfg.num_values() as u64
}

fn refused(log: &str) -> Error {
    Error::Load { device: NAME.into(), log: log.to_owned(), location: None }
}

/// The error about `function` as a whole, with the place where this begins in the source.
pub(super) fn placed(mut error: Error, module: &Module, function: &Function) -> Error {
    if let Error::Load { location: place @ None, .. } = &mut error {
        let first = function.body.iter().flat_map(Body::instructions).find_map(|i| i.location);
        *place = location::own(module, first);
    }
    error
}

/// What the edges out of a block cost, where these are more than those of a branch. The block itself may be one that
/// nothing reaches, of which liveness says nothing.
fn live_on_edges(cfg: &Cfg, id: BlockId, liveness: &Liveness) -> usize {
    match &cfg.block(id).successors[..] {
        [] | [_] | [_, _] => 0,
        many => many.iter().map(|to| liveness.live_in[to.index()].len() + EDGE).sum(),
    }
}

/// How many registers live at the instructions of a block at which the compiled code branches, in all.
fn live_at_checks(body: &Body, cfg: &Cfg, id: BlockId, liveness: &Liveness) -> usize {
    let mut live = liveness.live_out[id.index()].clone();
    let (mut count, mut sum) = (live.len(), 0);
    for (_, instruction) in cfg.instructions(body, id).rev() {
        if branches(instruction) {
            sum += count;
        }
        if instruction.guard.is_none() {
            instruction.for_each_def(|reg| {
                count -= usize::from(live.contains(reg));
                live.remove(reg);
            });
        }
        instruction.for_each_use(|reg| {
            count += usize::from(!live.contains(reg));
            live.insert(reg);
        });
    }
    sum
}

/// Whether compiled code branches for it: over it, or away from it where a check fails, or to a function, or to another
/// thread.
fn branches(instruction: &Instruction) -> bool {
    let facts = instruction.op.facts();
    let is_address = |operand: &Operand| matches!(operand, Operand::Address(_));
    let computes = facts.is_function && facts.is_exact && !facts.changes && !facts.observes;
    let waits = facts.waits != Waits::No;
    instruction.guard.is_some() || waits || !computes || instruction.src.iter().any(is_address)
}
