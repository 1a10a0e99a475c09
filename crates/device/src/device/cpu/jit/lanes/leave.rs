//! Where a group diverges, its threads are left to the code for single threads: what lives of them is stored, and
//! each is entered there at its own place.

use cranelift_codegen::ir::{Block, InstBuilder, Value, condcodes::IntCC, types};
use cranelift_frontend::{FunctionBuilder, Switch, Variable};

use super::{
    GroupLower,
    join::Joins,
    slots::{Saved, Slots},
    widen::widens,
};
use crate::{
    device::cpu::jit::lower::{Step, Unsupported, clif_type},
    ptx::{
        ast::Body,
        cfg::{Cfg, Liveness, RegSet, step_back},
        inst::Instruction,
        op::Next,
        operand::Reg,
        pass::uniform::Shapes,
        types::Type,
    },
};

/// The places at which single threads are entered, and where their registers are meanwhile.
pub(super) struct Leaves {
    /// Statements, increasing.
    points: Vec<usize>,
    /// Registers that live before each.
    spills: Vec<Vec<Reg>>,
    /// The place of each point in the code for single threads.
    blocks: Vec<Block>,
    /// Where their registers are meanwhile.
    pub(super) slots: Slots,
    /// The point, from 1, of threads whose bit of the mask is set; 0 where nobody leaves.
    taken: Variable,
    /// The point of the others.
    other: Variable,
    mask: Variable,
}

impl Leaves {
    /// None where some register could not be spilled.
    pub(super) fn new(
        b: &mut FunctionBuilder<'_>,
        body: &Body,
        points: Vec<usize>,
        spills: Vec<Vec<Reg>>,
        joins: &Joins,
        (width, start): (usize, usize),
    ) -> Option<Self> {
        let left = spills.iter().flatten().copied().chain(joins.spills());
        let joined = joins.doubtful().flat_map(|(_, _, alike, _)| alike.iter().copied());
        let left = left.map(|reg| (reg, Saved::Left));
        let all = left.chain(joined.map(|reg| (reg, Saved::Joined)));
        let slots = Slots::new(body, all, (width, start))?;
        let blocks = points.iter().map(|_| b.create_block()).collect();
        let [taken, other, mask] = [(); 3].map(|()| b.declare_var(types::I32));
        Some(Self { points, spills, blocks, slots, taken, other, mask })
    }

    pub(super) fn at(&self, statement: usize) -> Option<usize> {
        self.points.binary_search(&statement).ok()
    }
}

/// The statements before which single threads may be entered; groups stay together at the branches in `stays`, and
/// may come to `joins` and go on singly.
pub(super) fn points(
    body: &Body,
    cfg: &Cfg,
    shapes: &Shapes,
    run: &[bool],
    (stays, joins): (&[usize], &Joins),
) -> Option<Vec<usize>> {
    let mut points: Vec<usize> = joins.doubtful().map(|(_, start, ..)| start).collect();
    // Blocks that groups do not run, but come to.
    for id in cfg.ids().filter(|id| !run[id.index()]) {
        if cfg.block(id).predecessors.iter().any(|from| run[from.index()]) {
            points.push(cfg.block(id).statements.start);
        }
    }
    let statements = cfg.ids().filter(|id| run[id.index()]);
    for (index, i) in statements.flat_map(|id| cfg.instructions(body, id)) {
        let diverges = i.guard.is_some_and(|guard| !shapes.of(guard.reg).is_uniform());
        match i.op.facts().next {
            Next::Branches => {
                if diverges && !stays.contains(&index) {
                    points.extend([target(cfg, i)?, index + 1]);
                    if index + 1 >= body.statements.len() {
                        return None;
                    }
                }
            }
            Next::Returns | Next::Exits | Next::Traps => {
                if diverges {
                    points.push(index);
                }
            }
            // It is the same for the whole group.
            Next::BranchesByTable => {}
            Next::Follows => {
                if widens(body, shapes, i).is_some() {
                    points.push(index);
                }
            }
        }
    }
    points.sort_unstable();
    points.dedup();
    Some(points)
}

fn target(cfg: &Cfg, i: &Instruction) -> Option<usize> {
    let block = cfg.target(i.branch_target()?)?;
    Some(cfg.block(block).statements.start)
}

/// The registers that live before each point.
pub(super) fn live_before(
    body: &Body,
    cfg: &Cfg,
    liveness: &Liveness,
    points: &[usize],
) -> Vec<Vec<Reg>> {
    let mut spills = vec![Vec::new(); points.len()];
    let mut add = |statement: usize, live: &RegSet| {
        if let Ok(point) = points.binary_search(&statement) {
            spills[point] = live.iter().collect();
        }
    };
    for id in cfg.ids() {
        liveness.for_each_after(body, cfg, id, |at, instruction, live| {
            let mut live = live.clone();
            step_back(instruction, &mut live);
            add(at, &live);
        });
        add(cfg.block(id).statements.start, &liveness.live_in[id.index()]);
    }
    spills
}

impl GroupLower<'_, '_, '_> {
    /// Nobody leaves a group.
    pub(super) fn forget_leaving(&mut self) {
        let none = self.lower.b.ins().iconst(types::I32, 0);
        self.lower.b.def_var(self.plan.leaves.taken, none);
        self.forget_joining();
    }

    /// The group goes on where `alike` holds; else `leave` ends its code, which happens seldom.
    pub(super) fn diverge_unless(&mut self, alike: Value, leave: impl FnOnce(&mut Self)) {
        let [on, apart] = [(); 2].map(|()| self.lower.b.create_block());
        self.lower.b.set_cold_block(apart);
        self.lower.b.ins().brif(alike, on, &[], apart, &[]);
        self.lower.b.switch_to_block(apart);
        leave(self);
        self.lower.b.switch_to_block(on);
    }

    /// In the code for single threads: the place of the point at `statement`, if there is one.
    pub(super) fn entry_point(&mut self, statement: usize) {
        let leaves = &self.plan.leaves;
        let Some(block) = leaves.at(statement).map(|point| leaves.blocks[point]) else { return };
        if !self.lower.is_filled() {
            self.lower.b.ins().jump(block, &[]);
        }
        self.lower.b.switch_to_block(block);
    }

    /// A single thread's turn: those that leave a group go to their point.
    pub(super) fn enter_leaving(&mut self) {
        let leaves = &self.plan.leaves;
        if leaves.points.is_empty() {
            return;
        }
        let [leaving, others] = [(); 2].map(|()| self.lower.b.create_block());
        let taken = self.lower.b.use_var(leaves.taken);
        self.lower.b.ins().brif(taken, leaving, &[], others, &[]);
        self.lower.b.switch_to_block(leaving);
        let index = self.lower.current_index();
        let lane = self.lower.b.ins().band_imm_u(index, self.plan.width as i64 - 1);
        let [mask, other] = [leaves.mask, leaves.other].map(|v| self.lower.b.use_var(v));
        let bit = self.lower.b.ins().ushr(mask, lane);
        let bit = self.lower.b.ins().band_imm_u(bit, 1);
        let point = self.lower.b.ins().select(bit, taken, other);
        let point = self.unless_gone(point, lane);
        let mut switch = Switch::new();
        let readers: Vec<Block> =
            leaves.blocks.iter().map(|_| self.lower.b.create_block()).collect();
        for (index, reader) in readers.iter().enumerate() {
            switch.set_entry(index as u128 + 1, *reader);
        }
        let joins = self.plan.joins.doubtful().map(|join| (self.lower.b.create_block(), join));
        let joins: Vec<_> = joins.collect();
        for (reader, (number, ..)) in &joins {
            switch.set_entry((leaves.points.len() + number) as u128 + 1, *reader);
        }
        switch.emit(&mut self.lower.b, point, others);
        for (reader, (_, start, alike, spills)) in joins {
            self.lower.b.switch_to_block(reader);
            let lane = self.lower.b.ins().uextend(types::I64, lane);
            self.reload_left(spills, alike, lane);
            if let Some(point) = leaves.at(start) {
                self.lower.b.ins().jump(leaves.blocks[point], &[]);
            }
        }
        for (reader, (block, spills)) in
            readers.iter().zip(leaves.blocks.iter().zip(&leaves.spills))
        {
            self.lower.b.switch_to_block(*reader);
            let lane = self.lower.b.ins().uextend(types::I64, lane);
            self.reload_left(spills, &[], lane);
            self.lower.b.ins().jump(*block, &[]);
        }
        self.lower.b.switch_to_block(others);
    }

    /// Whether groups may diverge at all.
    pub(super) fn may_diverge(&self) -> bool {
        !self.plan.leaves.points.is_empty()
    }

    /// Loads what a thread left with; `joined` are those that it brought to a join.
    fn reload_left(&mut self, spills: &[Reg], joined: &[Reg], lane: Value) {
        for &reg in spills {
            let ty = self.lower.body().registers.ty(reg);
            let clif = clif_type(ty);
            let value = match self.shape(reg).stride() {
                Some(_) if joined.contains(&reg) => {
                    let slot = self.slot_of_lane((reg, Saved::Joined), lane, clif.bytes());
                    self.lower.load(clif, slot, 0)
                }
                Some(stride) => {
                    let slot = self.slot_of(reg);
                    let first = self.lower.load(clif, slot, 0);
                    if stride == 0 {
                        first
                    } else {
                        let step = self.lower.b.ins().imul_imm_s(lane, stride);
                        let step = self.lower.fit(step, clif);
                        self.lower.b.ins().iadd(first, step)
                    }
                }
                None => {
                    let stored = if ty == Type::Pred { types::I32 } else { clif };
                    let slot = self.slot_of_lane((reg, Saved::Left), lane, stored.bytes());
                    let value = self.lower.load(stored, slot, 0);
                    if ty == Type::Pred {
                        let bit = self.lower.b.ins().band_imm_u(value, 1);
                        self.lower.fit(bit, clif)
                    } else {
                        value
                    }
                }
            };
            self.lower.b.def_var(self.lower.variable(reg), value);
        }
    }

    /// Stores what lives at these points, and has the group's threads go on there one after the other; with the
    /// statement at which they diverge, if they are to reconverge.
    pub(super) fn leave_group(
        &mut self,
        at: Option<usize>,
        taken: usize,
        other: usize,
        mask: Value,
    ) {
        let leaves = &self.plan.leaves;
        let variables = [leaves.taken, leaves.other, leaves.mask];
        let mut spills = leaves.spills[taken].clone();
        spills.extend(&leaves.spills[other]);
        spills.sort_unstable();
        spills.dedup();
        for reg in spills {
            let slot = self.slot_of(reg);
            if self.shape(reg).stride().is_some() {
                let first = self.lower.b.use_var(self.lower.variable(reg));
                self.lower.store_unaligned(first, slot, 0);
                continue;
            }
            let mut at = 0;
            for part in self.all_vectors(reg) {
                self.lower.store_unaligned(part, slot, at);
                at += i64::from(self.lower.b.func.dfg.value_type(part).bytes());
            }
        }
        let [taken, other] =
            [taken, other].map(|point| self.lower.b.ins().iconst(types::I32, point as i64 + 1));
        for (variable, value) in variables.into_iter().zip([taken, other, mask]) {
            self.lower.b.def_var(variable, value);
        }
        self.remember_gone();
        // What went round a loop does not come to a join in it.
        self.aim_for_join(at.filter(|_| self.masked.is_none()));
        self.turns_of_singles();
    }

    /// The group's threads, which have come to a join, go on there one after the other, each with what it brought.
    pub(super) fn leave_join(&mut self, join: usize) {
        let leaves = &self.plan.leaves;
        let point = (leaves.points.len() + join) as i64 + 1;
        self.forget_joining();
        self.remember_gone();
        for (variable, value) in [(leaves.taken, point), (leaves.other, point), (leaves.mask, 0)] {
            let value = self.lower.b.ins().iconst(types::I32, value);
            self.lower.b.def_var(variable, value);
        }
        self.turns_of_singles();
    }

    /// All are at the beginning of a block that groups do not run.
    pub(super) fn leave_at(&mut self, statement: usize) {
        let Some(point) = self.plan.leaves.at(statement) else { return };
        let none = self.lower.b.ins().iconst(types::I32, 0);
        self.leave_group(Some(statement), point, point, none);
    }

    /// A branch on a predicate that varies: all go the same way, or leave.
    pub(super) fn group_branches(&mut self, index: usize, i: &Instruction) -> Step {
        let (Some(guard), Some(label)) = (i.guard, i.branch_target()) else {
            return Err(Unsupported::Part("a branch without a label"));
        };
        let leaves = &self.plan.leaves;
        let taken = self.plan.starts.get(&label).and_then(|start| leaves.at(*start));
        let (Some(taken), Some(other)) = (taken, leaves.at(index + 1)) else {
            return Err(Unsupported::Part("a branch that is not planned"));
        };
        let target = self.lower.targets().label(label);
        let on = self.lower.b.create_block();
        let bits = self.guard_bits(guard.reg, guard.negated);
        self.all_or_none(bits, target, on, |group| {
            group.go_on_masked(index, bits, |group| {
                group.leave_group(Some(index), taken, other, bits);
            });
        });
        self.lower.b.switch_to_block(on);
        Ok(())
    }

    /// An end on a predicate that varies.
    pub(super) fn group_parts(&mut self, index: usize, i: &Instruction) -> Step {
        let guard = i.guard.ok_or(Unsupported::Part("no guard"))?;
        let point = self.plan.leaves.at(index);
        let point = point.ok_or(Unsupported::Part("an end that is not planned"))?;
        let [then, on] = [(); 2].map(|()| self.lower.b.create_block());
        let bits = self.guard_bits(guard.reg, guard.negated);
        self.all_or_none(bits, then, on, |group| {
            group.leave_group(None, point, point, bits);
        });
        self.lower.b.switch_to_block(then);
        // All of them: single threads find the same, one after the other.
        self.leave_group(None, point, point, bits);
        self.lower.b.switch_to_block(on);
        Ok(())
    }

    /// A bit for each thread in which the guard holds.
    pub(super) fn guard_bits(&mut self, reg: Reg, negated: bool) -> Value {
        let masks = self.all_vectors(reg);
        let bits = self.lane_bits(&masks);
        let all = self.all_bits();
        if negated { self.lower.b.ins().bxor_imm_u(bits, all) } else { bits }
    }

    /// A bit for each lane in which the masks hold, of words, for at most 32.
    pub(super) fn lane_bits(&mut self, masks: &[Value]) -> Value {
        let halves = masks.chunks(4).map(|half| {
            let mask = self.narrowed(half);
            self.lower.b.ins().vhigh_bits(types::I32, mask)
        });
        let halves: Vec<Value> = halves.collect();
        match halves[..] {
            [low, high] => {
                let high = self.lower.b.ins().ishl_imm_u(high, 16);
                self.lower.b.ins().bor(low, high)
            }
            _ => halves[0],
        }
    }

    /// A bit for each thread of the group.
    pub(super) fn all_bits(&self) -> i64 {
        (1 << self.plan.width) - 1
    }

    /// Masks of words, as one of narrower lanes, as many as the group has threads.
    fn narrowed(&mut self, masks: &[Value]) -> Value {
        match *masks {
            [low, high] => self.lower.b.ins().snarrow(low, high),
            [a, b, c, d] => {
                let [low, high] = [[a, b], [c, d]].map(|half| self.narrowed(&half));
                self.lower.b.ins().snarrow(low, high)
            }
            _ => masks[0],
        }
    }

    pub(super) fn all_or_none(
        &mut self,
        bits: Value,
        all: Block,
        none: Block,
        some: impl FnOnce(&mut Self),
    ) {
        let [not_all, mixed] = [(); 2].map(|()| self.lower.b.create_block());
        self.lower.b.set_cold_block(mixed);
        let all_bits = self.all_bits();
        let (bits, every) = match self.gone() {
            None => (bits, self.lower.b.ins().icmp_imm_u(IntCC::Equal, bits, all_bits)),
            Some(gone) => {
                let with_gone = self.lower.b.ins().bor(bits, gone);
                let every = self.lower.b.ins().icmp_imm_u(IntCC::Equal, with_gone, all_bits);
                (self.lower.b.ins().band_not(bits, gone), every)
            }
        };
        self.lower.b.ins().brif(every, all, &[], not_all, &[]);
        self.lower.b.switch_to_block(not_all);
        self.lower.b.ins().brif(bits, mixed, &[], none, &[]);
        self.lower.b.switch_to_block(mixed);
        some(self);
    }
}
