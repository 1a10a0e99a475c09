//! The loop over groups, and the way of a group through the code.

use std::mem::{offset_of, swap};

use cranelift_codegen::ir::{Block, InstBuilder, Value, condcodes::IntCC, types};
use cranelift_frontend::{FunctionBuilder, Switch, Variable};

use super::super::{
    Schedule,
    lower::{Lower, Step, Unsupported, clif_type},
};
use crate::{
    device::{
        Result,
        cpu::abi::{Context, DONE, LANES},
    },
    ptx::{
        ast::{Body, Statement},
        cfg::Cfg,
        inst::Instruction,
        op::Next,
        operand::{Operand, Reg},
        pass::uniform::Shape,
    },
};

/// The blocks and variables of the loop over groups.
#[derive(Clone, Copy)]
pub(super) struct Loop {
    /// A group's turn begins.
    turn: Block,
    /// A group has ended or waits.
    next: Block,
    /// The turn of a group whose row was prechecked begins.
    prechecked: Block,
    /// A single thread's turn begins.
    single: Block,
    /// Where single threads end: behind the group they are of, or at the end of all.
    stop: Variable,
}

/// What groups do at a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// What it says.
    Run,
    /// They leave: it begins a block that they do not run.
    Leave,
    /// Nothing: they never come here.
    Skip,
}

/// What groups do at each statement of a body, of whose blocks they run those in `run`.
pub(super) fn ways(body: &Body, cfg: &Cfg, run: &[bool]) -> Vec<Way> {
    let mut ways = vec![Way::Skip; body.statements.len()];
    for id in cfg.ids() {
        let block = cfg.block(id);
        if run[id.index()] {
            ways[block.statements.clone()].fill(Way::Run);
        } else if block.predecessors.iter().any(|from| run[from.index()]) {
            let is_label = |at: &usize| matches!(body.statements[*at], Statement::Label(_));
            let labels = block.statements.clone().take_while(is_label).count();
            ways[block.statements.start..][..labels.max(1)].fill(Way::Leave);
        }
    }
    ways
}

impl Loop {
    pub(super) fn new(b: &mut FunctionBuilder<'_>) -> Self {
        let [turn, next, prechecked, single] = [(); 4].map(|()| b.create_block());
        Self { turn, next, prechecked, single, stop: b.declare_var(types::I32) }
    }
}

impl Lower<'_, '_> {
    fn groups_loop(&self) -> Option<Loop> {
        self.lanes.as_ref().map(|lanes| lanes.loop_)
    }

    /// From the entry to the first turn: a group's where the block's width lets threads be neighbours.
    pub(in crate::device::cpu::jit) fn first_turn(&mut self, turn: Block, end: Value) {
        let Some(groups) = self.groups_loop() else {
            self.b.ins().jump(turn, &[]);
            return;
        };
        self.b.def_var(groups.stop, end);
        self.forget_leaving();
        let width = self.context_u32(offset_of!(Context, ntid));
        let rest = self.b.ins().band_imm_u(width, LANES as i64 - 1);
        self.b.ins().brif(rest, turn, &[], groups.turn, &[]);
        self.b.switch_to_block(groups.single);
        self.b.ins().jump(turn, &[]);
    }

    /// After a single thread's turn: the next one's, or the next group's, or the end.
    pub(in crate::device::cpu::jit) fn next_turn(&mut self, turn: Block, done: Block, end: Value) {
        let Some(groups) = self.groups_loop() else {
            let last = self.advance(1, end);
            self.b.ins().brif(last, done, &[], turn, &[]);
            return;
        };
        let stop = self.b.use_var(groups.stop);
        let last = self.advance(1, stop);
        let whole = self.b.create_block();
        self.b.ins().brif(last, whole, &[], turn, &[]);
        self.b.switch_to_block(whole);
        self.meet_again();
        self.forget_leaving();
        let index = self.b.use_var(self.thread.index);
        let last = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, end);
        self.b.ins().brif(last, done, &[], groups.turn, &[]);
    }

    /// The code for groups, if there is to be any.
    pub(in crate::device::cpu::jit) fn groups(&mut self, done: Block, end: Value) -> Result<()> {
        let Some(groups) = self.groups_loop() else { return Ok(()) };
        self.b.switch_to_block(groups.turn);
        self.precheck_row(groups.prechecked, end)?;
        self.enter_thread();
        self.be_patient();
        let points = self.plan.points.len();
        let resumes: Vec<Block> = (0..points).map(|_| self.b.create_block()).collect();
        let start = self.b.create_block();
        self.dispatch_group(groups, start, &resumes);

        self.b.switch_to_block(start);
        self.define_all_registers();
        self.define_all_vectors();
        self.exchange_targets(groups.next);
        self.group_statements(&resumes)?;
        self.exchange_targets(groups.next);

        self.b.switch_to_block(groups.next);
        let last = self.advance(LANES as i64, end);
        self.b.ins().brif(last, done, &[], groups.turn, &[]);
        self.prechecked_groups(groups, done, end)
    }

    /// The code for groups without the checks that were done for their row.
    fn prechecked_groups(&mut self, groups: Loop, done: Block, end: Value) -> Result<()> {
        if !self.has_rows() {
            return Ok(());
        }
        let [next, behind] = [(); 2].map(|()| self.b.create_block());
        let fresh: Vec<Block> = self.body.labels.iter().map(|_| self.b.create_block()).collect();
        let Some(lanes) = &mut self.lanes else { return Ok(()) };
        let kept = std::mem::replace(&mut lanes.labels, fresh);
        self.b.switch_to_block(groups.prechecked);
        self.enter_thread();
        self.define_all_registers();
        self.define_all_vectors();
        self.set_prechecked(true);
        self.exchange_targets(next);
        self.group_statements(&[])?;
        self.exchange_targets(groups.next);
        self.set_prechecked(false);
        if let Some(lanes) = &mut self.lanes {
            lanes.labels = kept;
        }
        self.b.switch_to_block(next);
        self.next_prechecked(groups.prechecked, behind, end);
        self.b.switch_to_block(behind);
        let index = self.b.use_var(self.thread.index);
        let last = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, end);
        self.b.ins().brif(last, done, &[], groups.turn, &[]);
        Ok(())
    }

    /// Branches and ends go within the code for groups, or again within that for single threads.
    fn exchange_targets(&mut self, next: Block) {
        let Some(lanes) = &mut self.lanes else { return };
        swap(&mut self.labels, &mut lanes.labels);
        lanes.loop_.next = std::mem::replace(&mut self.next, next);
    }

    /// To where all four threads are; where they are apart, each goes on by itself.
    fn dispatch_group(&mut self, groups: Loop, start: Block, resumes: &[Block]) {
        if self.plan.schedule == Schedule::Free {
            self.b.ins().jump(start, &[]);
            return;
        }
        let states = self.state_place(LANES);
        let states = self.load_unaligned(types::I32X4, states, 0);
        let first = self.b.ins().extractlane(states, 0);
        let firsts = self.b.ins().splat(types::I32X4, first);
        let same = self.b.ins().icmp(IntCC::Equal, states, firsts);
        let together = self.b.ins().vall_true(same);
        let [whole, apart] = [(); 2].map(|()| self.b.create_block());
        self.b.ins().brif(together, whole, &[], apart, &[]);

        self.b.switch_to_block(apart);
        self.leave_singly();

        self.b.switch_to_block(whole);
        let mut switch = Switch::new();
        switch.set_entry(0, start);
        for (index, block) in resumes.iter().enumerate() {
            switch.set_entry(index as u128 + 1, *block);
        }
        switch.emit(&mut self.b, first, groups.next);
    }

    /// The threads of this group have their turns one after the other.
    pub(super) fn leave_singly(&mut self) {
        let Some(groups) = self.groups_loop() else { return };
        let index = self.b.use_var(self.thread.index);
        let stop = self.b.ins().iadd_imm_u(index, LANES as i64);
        self.b.def_var(groups.stop, stop);
        self.b.ins().jump(groups.single, &[]);
    }

    /// As `define_all_registers`.
    fn define_all_vectors(&mut self) {
        let body = self.body;
        for (index, ty) in body.registers.types().iter().enumerate() {
            let reg = Reg(index as u32);
            if self.shape(reg) == Shape::Varying {
                let zero = super::super::lower::zero_of(&mut self.b, clif_type(*ty));
                let parts = self.spread(zero, 0, *ty);
                self.set_vectors(reg, &parts);
            }
        }
    }

    fn group_statements(&mut self, resumes: &[Block]) -> Result<()> {
        let body = self.body;
        let mut resumes = resumes.iter().copied();
        for (index, statement) in body.statements.iter().enumerate() {
            self.check_limits()?;
            self.end_skip(index);
            if !self.is_within_rows() {
                self.joined(index);
            }
            let waits = self.plan.waits_at(index).then(|| resumes.next()).flatten();
            match (self.way(index), waits) {
                (Way::Run, _) => {}
                (Way::Leave, None) => {
                    self.group_comes_to_leave(statement, index);
                    continue;
                }
                (_, None) => continue,
                (_, Some(resume)) => {
                    self.resume_singly(resume, index);
                    continue;
                }
            }
            match statement {
                Statement::Label(label) => self.group_label(*label, index),
                Statement::Instruction(i) => {
                    let resume = waits;
                    self.group_instruction(index, i, resume)
                        .map_err(|what| self.unsupported(i, what))?;
                }
                Statement::Pragma(_) => {}
            }
        }
        if !self.is_filled() {
            self.group_ends();
        }
        Ok(())
    }

    fn way(&self, statement: usize) -> Way {
        let ways = self.lanes.as_ref().and_then(|lanes| lanes.ways.get(statement));
        ways.copied().unwrap_or(Way::Skip)
    }

    /// The beginning of a block that groups do not run; its labels are branched to all the same.
    fn group_comes_to_leave(&mut self, statement: &Statement, index: usize) {
        if let Statement::Label(label) = statement {
            self.label(*label);
        } else if self.is_filled() {
            return;
        }
        let before = self.body.statements[..index].iter().rev();
        let labels = before.take_while(|s| matches!(s, Statement::Label(_))).count();
        let start = (index - labels..=index).find(|at| self.way(*at) == Way::Leave);
        self.leave_at(start.unwrap_or(index));
    }

    /// A group all of whose threads wait where groups never run.
    fn resume_singly(&mut self, resume: Block, index: usize) {
        if self.way(index) == Way::Leave {
            // Nothing falls through to an instruction that waits: it would be the block's only one.
            if !self.is_filled() {
                self.leave_at(index);
            }
        }
        self.b.switch_to_block(resume);
        self.leave_singly();
    }

    fn group_instruction(&mut self, index: usize, i: &Instruction, resume: Option<Block>) -> Step {
        if self.is_filled() {
            let block = self.b.create_block();
            self.b.switch_to_block(block);
        }
        self.location = i.location.or(self.location);
        if let Some(resume) = resume {
            return self.group_waits(index, i, resume);
        }
        if let Some(taken) = self.decision(index) {
            return self.go_as_decided(i, taken);
        }
        let varying_guard = i.guard.is_some_and(|guard| !self.shape(guard.reg).is_uniform());
        match i.op.facts().next {
            Next::Branches if self.skips_at(index) => self.begin_skip(index, i),
            Next::Branches if varying_guard => self.group_branches(index, i),
            Next::Returns | Next::Exits | Next::Traps if varying_guard => {
                self.group_parts(index, i)
            }
            Next::Returns | Next::Exits if i.guard.is_none() => {
                self.group_ends();
                Ok(())
            }
            Next::Returns | Next::Exits => self.group_ends_where(i),
            Next::Branches | Next::BranchesByTable | Next::Traps => {
                self.instruction(index, i, None)
            }
            Next::Follows => self.group_operation(index, i),
        }
    }

    /// Once for all, or on vectors, or for one thread after the other.
    fn group_operation(&mut self, index: usize, i: &Instruction) -> Step {
        if self.is_needless(i) {
            return Ok(());
        }
        self.check_widening(index, i);
        let shape = self.lanes.as_ref().and_then(|lanes| lanes.shapes.result(self.body, i));
        let varies = |lower: &Self, reg: Reg| lower.shape(reg) == Shape::Varying;
        let mut varying = Vec::new();
        i.for_each_def(|reg| {
            if varies(self, reg) {
                varying.push(reg);
            }
        });
        let once = match shape {
            Some(Shape::Affine { .. }) => i.guard.is_none() || varying.is_empty(),
            Some(Shape::Varying) => false,
            None => i.op.facts().is_idempotent && self.reads_uniform(i),
        };
        if once {
            self.instruction(index, i, None)?;
            for reg in varying {
                let ty = self.body.registers.ty(reg);
                let first = self.b.use_var(self.variable(reg));
                let parts = self.spread(first, shape.and_then(Shape::stride).unwrap_or(0), ty);
                self.set_vectors(reg, &parts);
            }
            return Ok(());
        }
        if self.vector_memory(index, i)? || self.vector_arithmetic(i)? {
            return Ok(());
        }
        self.instruction_per_lane(index, i)
    }

    fn reads_uniform(&self, i: &Instruction) -> bool {
        self.lanes.as_ref().is_some_and(|lanes| lanes.shapes.reads_uniform(self.body, i))
    }

    /// All four have ended.
    fn group_ends(&mut self) {
        if self.plan.schedule != Schedule::Free {
            let states = self.state_place(LANES);
            let done = self.all_lanes(types::I32X4, u64::from(DONE));
            self.store_unaligned(done, states, 0);
        }
        let next = self.next_block();
        self.b.ins().jump(next, &[]);
    }

    /// A branch or an end that is known to be for all threads of the row, or for none.
    fn go_as_decided(&mut self, i: &Instruction, taken: Value) -> Step {
        let after = self.b.create_block();
        let target = i.branch_target().map(|label| self.labels[label.0 as usize]);
        let then = target.unwrap_or_else(|| self.b.create_block());
        self.b.ins().brif(taken, then, &[], after, &[]);
        if target.is_none() {
            self.b.switch_to_block(then);
            self.group_ends();
        }
        self.b.switch_to_block(after);
        Ok(())
    }

    fn group_ends_where(&mut self, i: &Instruction) -> Step {
        let guard = i.guard.ok_or(Unsupported::Part("no guard"))?;
        let holds = self.value(&Operand::Reg(guard.reg), crate::ptx::types::Type::Pred)?;
        let [then, after] = [(); 2].map(|()| self.b.create_block());
        let (yes, no) = if guard.negated { (after, then) } else { (then, after) };
        self.b.ins().brif(holds, yes, &[], no, &[]);
        self.b.switch_to_block(then);
        self.group_ends();
        self.b.switch_to_block(after);
        Ok(())
    }
}
