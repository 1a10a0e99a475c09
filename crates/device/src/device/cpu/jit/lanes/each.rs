//! Branches round a few instructions that do more than compute, such as one access of memory: where some of a group's
//! threads go round them, the others do them one after the other on the spot, and the group stays together.

use cranelift_codegen::ir::{self, InstBuilder};

use super::GroupLower;
use crate::{
    device::cpu::jit::{
        lower::{Step, Unsupported},
        sync,
    },
    ptx::{
        ast::{Body, Statement},
        cfg::{Cfg, Liveness},
        inst::Instruction,
        op::{Next, Waits},
        operand::Reg,
        pass::uniform::{Shape, Shapes},
    },
};

/// The most instructions of which there is the code four times.
const MOST: usize = 8;

/// A branch round a block.
pub(super) struct Each {
    /// The branch.
    pub(super) at: usize,
    /// The statements of the block.
    block: Vec<usize>,
    /// What it reads, and what it writes and is read behind it.
    uses: Vec<Reg>,
    written: Vec<Reg>,
}

/// All branches round such blocks that threads of a group may take or not.
pub(super) fn eaches(
    body: &Body,
    cfg: &Cfg,
    shapes: &Shapes,
    run: &[bool],
    (liveness, sync): (&Liveness, &sync::Plan),
) -> Vec<Each> {
    let mut eaches = Vec::new();
    for id in cfg.ids().filter(|id| run[id.index()]) {
        let Some((at, branch)) = cfg.instructions(body, id).next_back() else { continue };
        let varies = branch.guard.is_some_and(|guard| !shapes.of(guard.reg).is_uniform());
        let target = branch.branch_target().and_then(|label| cfg.target(label));
        let (true, Some(target), Some(next)) = (varies, target, cfg.block(id).next) else {
            continue;
        };
        let block = cfg.block(next);
        let alone = block.predecessors == [id] && block.successors == [target];
        let follows = block.next == Some(target) && run[next.index()] && run[target.index()];
        let plain = |(at, i): (usize, &Instruction)| {
            let facts = i.op.facts();
            facts.next == Next::Follows
                && facts.waits == Waits::No
                && !facts.carries
                && !sync.waits_at(at)
        };
        let statements: Vec<usize> = cfg.instructions(body, next).map(|(at, _)| at).collect();
        let few = (1..=MOST).contains(&statements.len());
        if !alone || !follows || !few || !cfg.instructions(body, next).all(plain) {
            continue;
        }
        let live = &liveness.live_in[target.index()];
        let (mut uses, mut written) = (Vec::new(), Vec::new());
        let add = |list: &mut Vec<Reg>, reg: Reg| {
            if !list.contains(&reg) {
                list.push(reg);
            }
        };
        for (_, i) in cfg.instructions(body, next) {
            i.for_each_use(|reg| add(&mut uses, reg));
            i.for_each_def(|reg| {
                // Threads that go round keep what was there.
                add(&mut uses, reg);
                if live.contains(reg) {
                    add(&mut written, reg);
                }
            });
        }
        if written.iter().all(|reg| shapes.of(*reg) == Shape::Varying) {
            eaches.push(Each { at, block: statements, uses, written });
        }
    }
    eaches
}

impl<'l> GroupLower<'l, '_, '_> {
    /// The block round which the branch at a statement leads, if its threads may do it one after the other.
    pub(super) fn each_at(&self, statement: usize) -> Option<&'l Each> {
        self.plan.eaches.iter().find(|each| each.at == statement)
    }

    /// The branch itself: all go one way, or those that do not go round do the block here, one after the other.
    pub(super) fn branch_round(&mut self, each: &Each, i: &Instruction) -> Step {
        let (Some(guard), Some(label)) = (i.guard, i.branch_target()) else {
            return Err(Unsupported::Part("a branch that is not planned"));
        };
        let target = self.lower.targets().label(label);
        let on = self.lower.b.create_block();
        let bits = self.guard_bits(guard.reg, guard.negated);
        let mut done = Ok(());
        self.all_or_none(bits, target, on, |group| {
            done = group.one_after_the_other(each, bits);
            group.lower.b.ins().jump(target, &[]);
        });
        self.lower.b.switch_to_block(on);
        done
    }

    fn one_after_the_other(&mut self, each: &Each, round: ir::Value) -> Step {
        let body = self.lower.body();
        let mut lane = 0;
        self.per_lane(&each.uses, &each.written, |lower| {
            let [own, next] = [(); 2].map(|()| lower.b.create_block());
            let skips = lower.b.ins().band_imm_u(round, 1 << lane);
            lane += 1;
            lower.b.ins().brif(skips, next, &[], own, &[]);
            lower.b.switch_to_block(own);
            for at in &each.block {
                if let Statement::Instruction(i) = &body.statements[*at] {
                    lower.instruction(*at, i, None)?;
                }
            }
            lower.b.ins().jump(next, &[]);
            lower.b.switch_to_block(next);
            Ok(())
        })
    }
}
