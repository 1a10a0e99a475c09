//! Loops in which a thread may wait for something that another thread is yet to do: a lock that is given back, a
//! flag that is set, the barrier of a grid. Threads of a block take turns on one core, so such a loop must not
//! keep its turn for ever. Where it begins, the thread counts; once in a while it spills its registers as at a
//! barrier, and the others run before its next turn.
//!
//! Any loop with an atomic operation or a strong load (volatile, relaxed, acquire) counts, since nobody can tell
//! a lock from a histogram for sure. The count replaces the look at the flag that stops a launch, so that it
//! costs nothing; a loop that does nothing but look yields after fewer iterations than one that also works.

use crate::ptx::{
    ast::{Body, Statement},
    cfg::{BlockId, Cfg, Liveness, RegSet},
    inst::{Instruction, Op},
    modifier::AtomOp,
    operand::Operand,
};

/// The beginning of a loop in which threads may wait for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spin {
    /// The statement of its label.
    pub(super) at: usize,
    /// It does nothing but wait.
    pub(super) waits: bool,
}

/// All such loops of a body, in the order of the text.
///
/// An operation counts for the innermost loop that it is in: a way round any outer loop past it leads through the
/// inner one's beginning, too.
pub(super) fn spins(body: &Body, cfg: &Cfg, liveness: &Liveness) -> Vec<Spin> {
    if !body.instructions().any(is_strong) {
        return Vec::new();
    }
    let innermost = innermost_loops(cfg);
    let mut spins: Vec<Spin> = Vec::new();
    for id in cfg.ids().filter(|id| cfg.instructions(body, *id).any(|(_, i)| is_strong(i))) {
        let Some((header, _)) = innermost[id.index()] else { continue };
        let mut statements = cfg.block(header).statements.clone().rev();
        let at = statements.find(|at| matches!(body.statements[*at], Statement::Label(_)));
        if let Some(at) = at
            && spins.iter().all(|spin| spin.at != at)
        {
            let blocks = &cfg.loop_blocks(header);
            let carried = carries(body, cfg, blocks, &liveness.live_in[header.index()]);
            spins.push(Spin { at, waits: !carried && only_waits(body, cfg, blocks) });
        }
    }
    spins.sort_by_key(|spin| spin.at);
    spins
}

/// For each block the header of the smallest loop that it is in, and how many blocks that has.
fn innermost_loops(cfg: &Cfg) -> Vec<Option<(BlockId, usize)>> {
    let mut innermost: Vec<Option<(BlockId, usize)>> = vec![None; cfg.blocks.len()];
    for header in cfg.ids().filter(|id| cfg.block(*id).is_loop_header) {
        let blocks = cfg.loop_blocks(header);
        for id in &blocks {
            let known = &mut innermost[id.index()];
            if known.is_none_or(|(_, size)| blocks.len() < size) {
                *known = Some((header, blocks.len()));
            }
        }
    }
    innermost
}

/// Whether it may show what another thread did since the last time.
pub(super) fn is_strong(i: &Instruction) -> bool {
    i.op.facts().observes
}

/// Whether an iteration of a loop hands registers to the next one, as one that counts or sums does.
fn carries(body: &Body, cfg: &Cfg, blocks: &[BlockId], live: &RegSet) -> bool {
    let mut instructions = blocks.iter().flat_map(|id| cfg.instructions(body, *id));
    instructions.any(|(_, i)| {
        let mut carried = false;
        i.for_each_def(|reg| carried |= live.contains(reg));
        carried
    })
}

/// Whether a loop changes nothing that a later iteration could depend on, except by trying to take a lock.
fn only_waits(body: &Body, cfg: &Cfg, blocks: &[BlockId]) -> bool {
    let mut instructions = blocks.iter().flat_map(|id| cfg.instructions(body, *id));
    instructions.all(|(_, i)| {
        let Op::Atom(atomic) = &i.op else { return !i.op.facts().changes };
        match atomic.op {
            AtomOp::Cas | AtomOp::Exch => true,
            // `atomicAdd(p, 0)` is a way to read.
            AtomOp::Add | AtomOp::Or => matches!(i.src.get(1), Some(Operand::Int(0))),
            AtomOp::And | AtomOp::Xor | AtomOp::Inc | AtomOp::Dec => false,
            AtomOp::Min | AtomOp::Max => false,
        }
    })
}
