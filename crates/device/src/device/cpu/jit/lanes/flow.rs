//! The loop over groups, and the way of a group through the code.

use std::{mem::offset_of, ops::Range};

use cranelift_codegen::ir::{Block, InstBuilder, Value, condcodes::IntCC, types};
use cranelift_frontend::{FunctionBuilder, Switch, Variable};

use super::{GroupLower, row::Row, wait::Resumes};
use crate::{
    device::{
        Result,
        cpu::{
            abi::{BlockContext, DONE, OPENS_WARP, PACKED},
            jit::{
                Schedule,
                lower::{Step, Targets, Unsupported, clif_type, zero_of},
            },
        },
    },
    ptx::{
        ast::{Body, Statement},
        cfg::Cfg,
        inst::Instruction,
        op::Next,
        operand::{Label, Operand, Reg},
        pass::uniform::Shape,
    },
};

/// The blocks and variables of the loop over groups.
#[derive(Clone, Copy)]
pub(super) struct Loop {
    /// The turns of the threads begin that run together.
    begin: Block,
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
        let [begin, turn, next, prechecked, single] = [(); 5].map(|()| b.create_block());
        Self { begin, turn, next, prechecked, single, stop: b.declare_var(types::I32) }
    }

    /// Where the turns of the threads begin that run together.
    pub(super) fn begin(self) -> Block {
        self.begin
    }

    /// Where a group's turn begins.
    pub(super) fn turn(self) -> Block {
        self.turn
    }

    /// Where a group goes that has ended or waits.
    pub(super) fn next(self) -> Block {
        self.next
    }
}

impl<'l> GroupLower<'l, '_, '_> {
    /// From the entry to the first turn: a group's where the block's width lets threads be neighbours.
    pub(super) fn first_group(&mut self, turn: Block) {
        let groups = self.plan.loop_;
        self.begin_meeting();
        self.lower.b.ins().jump(groups.begin, &[]);
        self.lower.b.switch_to_block(groups.begin);
        let end = self.lower.end();
        self.lower.b.def_var(groups.stop, end);
        self.forget_leaving();
        let width = self.lower.context_u32(offset_of!(BlockContext, ntid));
        let rest = self.lower.b.ins().band_imm_u(width, self.plan.width as i64 - 1);
        self.lower.b.ins().brif(rest, turn, &[], groups.turn, &[]);
        self.lower.b.switch_to_block(groups.single);
        self.lower.b.ins().jump(turn, &[]);
    }

    /// After a single thread's turn: the next one's, or the next group's, or the end.
    pub(super) fn next_single(&mut self, turn: Block, done: Block) {
        let groups = self.plan.loop_;
        let stop = self.lower.b.use_var(groups.stop);
        let last = self.lower.advance(1, stop);
        let whole = self.lower.b.create_block();
        self.lower.b.ins().brif(last, whole, &[], turn, &[]);
        self.lower.b.switch_to_block(whole);
        self.reconverge();
        self.next_group(done);
    }

    /// To the next group's turn, or to the end.
    fn next_group(&mut self, done: Block) {
        let [index, end] = [self.lower.current_index(), self.lower.end()];
        let last = self.lower.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, end);
        self.lower.b.ins().brif(last, done, &[], self.plan.loop_.turn, &[]);
    }

    /// The code for groups.
    pub(super) fn groups(&mut self, done: Block) -> Result<()> {
        let groups = self.plan.loop_;
        self.lower.b.switch_to_block(groups.turn);
        if let Some(row) = &self.plan.row {
            self.precheck_row(row, groups.prechecked)?;
        }
        self.lower.enter_thread();
        self.be_patient();
        let points = self.lower.plan().points().len();
        let resumes: Vec<Resumes> = (0..points).map(|_| Resumes::new(&mut self.lower.b)).collect();
        let start = self.lower.b.create_block();
        self.dispatch_group(start, &resumes);

        self.lower.b.switch_to_block(start);
        self.lower.define_all_registers();
        self.define_all_vectors();
        let body = self.lower.body();
        self.with_targets(self.plan.targets.clone(), |group| {
            group.group_statements(0..body.statements.len(), &resumes)
        })?;

        self.lower.b.switch_to_block(groups.next);
        let end = self.lower.end();
        let last = self.lower.advance(self.plan.width as i64, end);
        self.lower.b.ins().brif(last, done, &[], groups.turn, &[]);
        self.masked_groups()?;
        match &self.plan.row {
            Some(row) => self.prechecked_groups(row, done),
            None => Ok(()),
        }
    }

    /// The code for groups without the checks that were done for their row.
    fn prechecked_groups(&mut self, row: &'l Row, done: Block) -> Result<()> {
        let prechecked = self.plan.loop_.prechecked;
        let body = self.lower.body();
        let [next, behind] = [(); 2].map(|()| self.lower.b.create_block());
        let targets = Targets::new(Targets::labels(&mut self.lower.b, body), next);
        self.lower.b.switch_to_block(prechecked);
        self.lower.enter_thread();
        self.lower.define_all_registers();
        self.define_all_vectors();
        self.prechecked = Some(row);
        self.with_targets(targets, |group| group.group_statements(0..body.statements.len(), &[]))?;
        self.prechecked = None;
        self.lower.b.switch_to_block(next);
        self.next_prechecked(row, [prechecked, behind]);
        self.lower.b.switch_to_block(behind);
        self.next_group(done);
        Ok(())
    }

    /// Makes code in which branches and ends lead to `targets`.
    pub(super) fn with_targets(
        &mut self,
        targets: Targets,
        make: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let of_singles = self.lower.replace_targets(targets);
        let made = make(self);
        self.lower.replace_targets(of_singles);
        made
    }

    /// To where all threads are; where they are apart, each goes on by itself.
    fn dispatch_group(&mut self, start: Block, resumes: &[Resumes]) {
        if self.lower.plan().schedule == Schedule::Free {
            self.lower.b.ins().jump(start, &[]);
            return;
        }
        let known = self.lower.b.create_block();
        let state = self.lower.b.append_block_param(known, types::I32);
        self.where_all_are(known);
        let (first, together) = self.first_state();
        let apart = self.lower.b.create_block();
        self.lower.b.ins().brif(together, known, &[first.into()], apart, &[]);

        self.lower.b.switch_to_block(apart);
        self.leave_singly();

        self.lower.b.switch_to_block(known);
        let mut switch = Switch::new();
        switch.set_entry(0, start);
        for (place, resumes) in (1..).zip(resumes) {
            switch.set_entry(place.into(), resumes.alike);
            switch.set_entry((place | PACKED).into(), resumes.packed);
            switch.set_entry((place | PACKED | OPENS_WARP).into(), resumes.met);
        }
        switch.emit(&mut self.lower.b, state, self.plan.loop_.next);
    }

    /// The state of the group's first thread, and whether all have it.
    fn first_state(&mut self) -> (Value, Value) {
        let memory = self.lower.state_memory(self.plan.width);
        let states = (0..self.quads() as i64)
            .map(|quad| self.lower.load_unaligned(types::I32X4, memory, 16 * quad));
        let states: Vec<Value> = states.collect();
        let first = self.lower.b.ins().extractlane(states[0], 0);
        let firsts = self.lower.b.ins().splat(types::I32X4, first);
        let mut others = self.all_lanes(types::I32X4, 0);
        for states in states {
            let differ = self.lower.b.ins().bxor(states, firsts);
            others = self.lower.b.ins().bor(others, differ);
        }
        let differ = self.lower.b.ins().vany_true(others);
        (first, self.lower.b.ins().bxor_imm_u(differ, 1))
    }

    /// The threads of this group have their turns one after the other, each where its state says.
    pub(super) fn leave_singly(&mut self) {
        self.forget_leaving();
        self.turns_of_singles();
    }

    /// The threads of this group have their turns one after the other.
    pub(super) fn turns_of_singles(&mut self) {
        let groups = self.plan.loop_;
        let index = self.lower.current_index();
        let stop = self.lower.b.ins().iadd_imm_u(index, self.plan.width as i64);
        self.lower.b.def_var(groups.stop, stop);
        self.lower.b.ins().jump(groups.single, &[]);
    }

    /// As `define_all_registers`.
    fn define_all_vectors(&mut self) {
        let body = self.lower.body();
        for (index, ty) in body.registers.types().iter().enumerate() {
            let reg = Reg(index as u32);
            if self.shape(reg) == Shape::Varying {
                let zero = zero_of(&mut self.lower.b, clif_type(*ty));
                let parts = self.spread_all(zero, 0, *ty);
                self.set_all_vectors(reg, &parts);
            }
        }
    }

    /// Those of `range`; at the end of all of them the kernel ends.
    pub(super) fn group_statements(
        &mut self,
        range: Range<usize>,
        resumes: &[Resumes],
    ) -> Result<()> {
        let body = self.lower.body();
        let mut resumes = resumes.iter().copied();
        let end = range.end;
        let mut done = range.start;
        for (index, statement) in range.clone().zip(&body.statements[range]) {
            if index < done {
                continue;
            }
            self.lower.check_limits()?;
            self.end_skip(index);
            if self.prechecked.is_none() && self.masked.is_none() {
                self.joined(index);
            }
            let waits = self.lower.plan().waits_at(index).then(|| resumes.next()).flatten();
            match (self.way(index), waits) {
                (Way::Run, _) => {}
                (Way::Leave, None) => {
                    self.group_comes_to_leave(statement, index);
                    continue;
                }
                (Way::Skip, None) => continue,
                (Way::Leave | Way::Skip, Some(resume)) => {
                    self.resume_singly(resume, index);
                    continue;
                }
            }
            match self.piece_at(index) {
                Some(piece) => {
                    self.twice(piece)?;
                    done = piece.statements.end;
                }
                None => self.group_statement(index, waits)?,
            }
        }
        self.end_skip(end);
        if !self.lower.is_filled() && end == body.statements.len() {
            self.group_ends();
        }
        Ok(())
    }

    /// One that groups run, and where those go on that wait there.
    pub(super) fn group_statement(&mut self, index: usize, waits: Option<Resumes>) -> Result<()> {
        match &self.lower.body().statements[index] {
            Statement::Label(label) => self.group_label(*label, index),
            Statement::Instruction(i) => {
                self.group_instruction(index, i, waits)
                    .map_err(|what| self.lower.unsupported(i, what))?;
            }
            Statement::Pragma(_) => {}
        }
        Ok(())
    }

    fn way(&self, statement: usize) -> Way {
        self.plan.ways[statement]
    }

    /// A label, and what stops its loop.
    fn group_label(&mut self, label: Label, index: usize) {
        self.lower.label(label);
        if self.lower.begins_loop(label, index) {
            self.lower.poll();
        }
    }

    /// The beginning of a block that groups do not run; its labels are branched to all the same.
    fn group_comes_to_leave(&mut self, statement: &Statement, index: usize) {
        if let Statement::Label(label) = statement {
            self.lower.label(*label);
        } else if self.lower.is_filled() {
            return;
        }
        let before = self.lower.body().statements[..index].iter().rev();
        let labels = before.take_while(|s| matches!(s, Statement::Label(_))).count();
        let start = (index - labels..=index).find(|at| self.way(*at) == Way::Leave);
        self.leave_at(start.unwrap_or(index));
    }

    /// A group all of whose threads wait where groups never run.
    fn resume_singly(&mut self, resumes: Resumes, index: usize) {
        if self.way(index) == Way::Leave {
            // Nothing falls through to an instruction that waits: it would be the block's only one.
            if !self.lower.is_filled() {
                self.leave_at(index);
            }
        }
        for block in [resumes.met, resumes.packed, resumes.alike] {
            self.lower.b.switch_to_block(block);
            self.leave_singly();
        }
    }

    fn group_instruction(
        &mut self,
        index: usize,
        i: &Instruction,
        resumes: Option<Resumes>,
    ) -> Step {
        self.lower.begin_instruction(i);
        if let Some(resumes) = resumes {
            return self.group_waits(index, i, resumes);
        }
        if let Some(taken) = self.decision(index) {
            return self.go_as_decided(i, taken);
        }
        let varying_guard = i.guard.is_some_and(|guard| !self.shape(guard.reg).is_uniform());
        match i.op.facts().next {
            Next::Branches if self.skips_at(index) => self.begin_skip(index, i),
            Next::Branches if varying_guard => match self.each_at(index) {
                Some(each) => self.branch_round(each, i),
                None => self.group_branches(index, i),
            },
            Next::Returns | Next::Exits | Next::Traps if varying_guard => {
                self.group_parts(index, i)
            }
            Next::Returns | Next::Exits if i.guard.is_none() => {
                self.group_ends();
                Ok(())
            }
            Next::Returns | Next::Exits => self.group_ends_where(i),
            Next::Branches | Next::BranchesByTable | Next::Traps => {
                self.lower.instruction_for_all(index, i, false)
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
        let shape = self.plan.shapes.result(self.lower.body(), i);
        let varies = |group: &Self, reg: Reg| group.shape(reg) == Shape::Varying;
        let mut varying = Vec::new();
        i.for_each_def(|reg| {
            if varies(self, reg) {
                varying.push(reg);
            }
        });
        let once = match shape {
            Some(Shape::Affine { .. }) => i.guard.is_none() || varying.is_empty(),
            Some(Shape::Varying) => false,
            None => {
                i.op.facts().is_idempotent && self.plan.shapes.reads_uniform(self.lower.body(), i)
            }
        };
        if once {
            self.lower.instruction_for_all(index, i, self.is_checked_before(index))?;
            for reg in varying {
                let ty = self.lower.body().registers.ty(reg);
                let first = self.lower.b.use_var(self.lower.variable(reg));
                let stride = shape.and_then(Shape::stride).unwrap_or(0);
                let parts = self.spread_all(first, stride, ty);
                self.set_all_vectors(reg, &parts);
            }
            return Ok(());
        }
        if self.vector_memory(index, i)? {
            return Ok(());
        }
        // What has a vector form has it in all quads.
        for done in self.each_quad(|group| group.vector_arithmetic(i)) {
            if !done? {
                #[cfg(test)]
                super::promise::note_singly(&i.op);
                return self.instruction_per_lane(index, i);
            }
        }
        Ok(())
    }

    /// All of the group have ended.
    fn group_ends(&mut self) {
        if self.lower.plan().schedule != Schedule::Free {
            self.set_states(DONE);
        }
        let next = self.lower.targets().next();
        self.lower.b.ins().jump(next, &[]);
    }

    /// A branch or an end that is known to be for all threads of the row, or for none.
    fn go_as_decided(&mut self, i: &Instruction, taken: Value) -> Step {
        let after = self.lower.b.create_block();
        let target = i.branch_target().map(|label| self.lower.targets().label(label));
        let then = target.unwrap_or_else(|| self.lower.b.create_block());
        self.lower.b.ins().brif(taken, then, &[], after, &[]);
        if target.is_none() {
            self.lower.b.switch_to_block(then);
            self.group_ends();
        }
        self.lower.b.switch_to_block(after);
        Ok(())
    }

    fn group_ends_where(&mut self, i: &Instruction) -> Step {
        let guard = i.guard.ok_or(Unsupported::Part("no guard"))?;
        let holds = self.lower.value(&Operand::Reg(guard.reg), crate::ptx::types::Type::Pred)?;
        let [then, after] = [(); 2].map(|()| self.lower.b.create_block());
        let (yes, no) = if guard.negated { (after, then) } else { (then, after) };
        self.lower.b.ins().brif(holds, yes, &[], no, &[]);
        self.lower.b.switch_to_block(then);
        self.group_ends();
        self.lower.b.switch_to_block(after);
        Ok(())
    }
}
