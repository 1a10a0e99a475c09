//! Branches round a few instructions that do more than compute, such as one access of memory: where some of a group's
//! threads go round them, the others do them one after the other on the spot, and the group stays together.

use cranelift_codegen::ir::{self, InstBuilder};

use super::{
    GroupLower,
    round::{Round, rounds, written_by},
};
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
        pass::uniform::Shapes,
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
    /// What it writes and is the same for all threads before it: nothing reads that behind it.
    uniform: Vec<Reg>,
}

/// All branches round such blocks that threads of a group may take or not.
pub(super) fn eaches(
    body: &Body,
    cfg: &Cfg,
    shapes: &Shapes,
    run: &[bool],
    (liveness, sync): (&Liveness, &sync::WaitPlan),
) -> Vec<Each> {
    let plain = |(at, i): (usize, &Instruction)| {
        let facts = i.op.facts();
        facts.next == Next::Follows
            && facts.waits == Waits::No
            && !facts.carries
            && !sync.waits_at(at)
    };
    let each = |round: Round| {
        let instructions = || cfg.instructions(body, round.block);
        let few = (1..=MOST).contains(&instructions().count());
        if !few || !instructions().all(plain) {
            return None;
        }
        let written = written_by(round, (body, cfg), shapes, liveness)?;
        let mut uses = Vec::new();
        let mut add = |reg: Reg| {
            if !uses.contains(&reg) {
                uses.push(reg);
            }
        };
        for (_, i) in instructions() {
            i.for_each_use(&mut add);
            // Threads that go round keep what was there.
            i.for_each_def(&mut add);
        }
        let mut uniform = Vec::new();
        instructions().for_each(|(_, i)| i.for_each_def(|reg| uniform.push(reg)));
        uniform.retain(|reg| shapes.of(*reg).is_uniform());
        let block = instructions().map(|(at, _)| at).collect();
        Some(Each { at: round.at, block, uses, written, uniform })
    };
    rounds(body, cfg, shapes, run).filter_map(each).collect()
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
            let round = match group.gone() {
                None => bits,
                Some(gone) => group.lower.b.ins().bor(bits, gone),
            };
            done = group.one_after_the_other(each, round);
            group.lower.b.ins().jump(target, &[]);
        });
        self.lower.b.switch_to_block(on);
        done
    }

    fn one_after_the_other(&mut self, each: &Each, round: ir::Value) -> Step {
        let body = self.lower.body();
        let variable = |reg: &Reg| self.lower.variable(*reg);
        let variables: Vec<_> = each.uniform.iter().map(variable).collect();
        let uniform = variables.into_iter().map(|of| (of, self.lower.b.use_var(of)));
        let uniform: Vec<_> = uniform.collect();
        self.per_lane(&each.uses, &each.written, Some(round), |lower| {
            // Each thread begins with what there was, not with what the one before it wrote.
            uniform.iter().for_each(|(variable, value)| lower.b.def_var(*variable, *value));
            for at in &each.block {
                if let Statement::Instruction(i) = &body.statements[*at] {
                    lower.instruction(*at, i, None)?;
                }
            }
            Ok(())
        })
    }
}
