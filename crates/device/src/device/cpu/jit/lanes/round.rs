//! Branches round a block of instructions, which some of a group's threads may take and others not.

use crate::ptx::{
    ast::Body,
    cfg::{BlockId, Cfg, Liveness},
    operand::Reg,
    pass::uniform::{Shape, Shapes},
};

/// A branch round a block.
#[derive(Clone, Copy)]
pub(super) struct Round {
    /// The statement that is the branch.
    pub(super) at: usize,
    /// What it leads round: only the branch leads there, and it leads to the target alone.
    pub(super) block: BlockId,
    /// What it leads to, which follows the block.
    pub(super) target: BlockId,
}

/// All of them whose conditions differ between threads; `run` says which blocks groups run.
pub(super) fn rounds<'a>(
    body: &'a Body,
    cfg: &'a Cfg,
    shapes: &'a Shapes,
    run: &'a [bool],
) -> impl Iterator<Item = Round> + 'a {
    cfg.ids().filter(|id| run[id.index()]).filter_map(|id| {
        let (at, branch) = cfg.instructions(body, id).next_back()?;
        branch.guard.filter(|guard| !shapes.of(guard.reg).is_uniform())?;
        let target = cfg.target(branch.branch_target()?)?;
        let next = cfg.block(id).next?;
        let block = cfg.block(next);
        let alone = block.predecessors == [id] && block.successors == [target];
        let follows = block.next == Some(target) && run[next.index()] && run[target.index()];
        (alone && follows).then_some(Round { at, block: next, target })
    })
}

/// What the block writes and is read behind it; `None` where some of it is not kept for each thread.
pub(super) fn written_by(
    round: Round,
    (body, cfg): (&Body, &Cfg),
    shapes: &Shapes,
    liveness: &Liveness,
) -> Option<Vec<Reg>> {
    let live = &liveness.live_in[round.target.index()];
    let mut written: Vec<Reg> = Vec::new();
    for (_, i) in cfg.instructions(body, round.block) {
        i.for_each_def(|reg| {
            if live.contains(reg) && !written.contains(&reg) {
                written.push(reg);
            }
        });
    }
    written.iter().all(|reg| shapes.of(*reg) == Shape::Varying).then_some(written)
}
