//! Branches over a few instructions that do nothing but compute: a group runs them without branching, and keeps the
//! old values in the threads that would have gone round them.

use cranelift_codegen::ir::{InstBuilder, Value};

use super::{
    GroupLower,
    round::{Round, rounds, written_by},
    value::Parts,
    vector_form,
    widen::widens,
};
use crate::{
    device::cpu::jit::lower::{Step, Unsupported},
    ptx::{
        ast::Body,
        cfg::{Cfg, Liveness},
        inst::{Instruction, Op},
        operand::Reg,
        pass::uniform::Shapes,
    },
};

/// The most instructions that are cheaper than a branch that often goes both ways.
const MOST: usize = 12;

/// A branch round a block.
pub(super) struct Skip {
    /// The branch.
    pub(super) at: usize,
    /// The statement that it goes to, which follows the block.
    end: usize,
    /// What the block writes and is read behind it.
    written: Vec<Reg>,
}

impl Skip {
    /// What its block writes and is read behind it.
    pub(super) fn written(&self) -> &[Reg] {
        &self.written
    }
}

/// All branches round such blocks that threads of a group may take or not.
pub(super) fn skips(
    body: &Body,
    cfg: &Cfg,
    shapes: &Shapes,
    run: &[bool],
    liveness: &Liveness,
) -> Vec<Skip> {
    // Where a group diverges, all its threads are entered at one place: those that go round the block would run it.
    let diverges = |i: &Instruction| widens(body, shapes, i).is_some();
    let computes = |(_, i): (usize, &Instruction)| {
        let branches = i.guard.is_some() || matches!(i.op, Op::Bra { .. });
        !branches && !diverges(i) && vector_form::computes(&i.op)
    };
    let skip = |round: Round| {
        let instructions = || cfg.instructions(body, round.block);
        if instructions().count() > MOST || !instructions().all(computes) {
            return None;
        }
        let written = written_by(round, (body, cfg), shapes, liveness)?;
        Some(Skip { at: round.at, end: cfg.block(round.target).statements.start, written })
    };
    rounds(body, cfg, shapes, run).filter_map(skip).collect()
}

/// A group is within a block that some of its threads would have gone round.
pub(super) struct Within {
    end: usize,
    /// The threads that go round, of each quad.
    round: Vec<Value>,
    /// What was there, of each quad.
    old: Vec<(Reg, Vec<Parts>)>,
}

impl GroupLower<'_, '_, '_> {
    /// Whether the branch at a statement is one round a block that all run.
    pub(super) fn skips_at(&self, statement: usize) -> bool {
        self.plan.skips.iter().any(|skip| skip.at == statement)
    }

    /// The branch itself.
    pub(super) fn begin_skip(&mut self, index: usize, i: &Instruction) -> Step {
        let skip = self.plan.skips.iter().find(|skip| skip.at == index);
        let (Some(skip), Some(guard)) = (skip, i.guard) else {
            return Err(Unsupported::Part("a branch that is not planned"));
        };
        let holds = self.all_vectors(guard.reg).into_iter();
        let round = holds.map(|holds| match guard.negated {
            true => self.lower.b.ins().bnot(holds),
            false => holds,
        });
        let round = round.collect();
        let old = |reg: &Reg| (*reg, self.each_quad(|group| group.vectors(*reg)));
        let old = skip.written.iter().map(old).collect();
        self.within = Some(Within { end: skip.end, round, old });
        Ok(())
    }

    /// Behind the block, if that is here.
    pub(super) fn end_skip(&mut self, statement: usize) {
        let Some(within) = self.within.take_if(|within| within.end == statement) else { return };
        for (reg, old) in within.old {
            let ty = self.lower.body().registers.ty(reg);
            self.each_quad(|group| {
                let new = group.vectors(reg);
                let (round, old) = (within.round[group.quad], &old[group.quad]);
                let chosen = group.choose_parts(round, old, &new, ty);
                group.set_vectors(reg, &chosen);
            });
        }
    }
}
