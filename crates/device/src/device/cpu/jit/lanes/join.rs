//! Where threads that left a group reconverge: the first place that every way from the branch leads to. Each stores
//! what lives there and its turn is over; after the fourth the group goes on.
//!
//! What is written between the branch and that place may differ behind it although each thread computes it from what
//! is the same for all, such as the counter of a loop that threads leave in different iterations: such registers vary.
//! But where indices decide who goes where, as at the border of an array, groups seldom diverge. There such registers
//! stay what they are, and a group goes on behind only if they are; else its threads go on singly.

use cranelift_codegen::ir::{Block, InstBuilder, Value, condcodes::IntCC, types};
use cranelift_frontend::{FunctionBuilder, Switch, Variable};

use super::{GroupLower, row, slots::Saved};
use crate::{
    device::cpu::jit::{
        lower::{clif_type, int_type},
        sync,
    },
    ptx::{
        ast::{Body, Statement},
        cfg::{BlockId, Cfg, Liveness, RegSet},
        inst::Op,
        op::Next,
        operand::Reg,
        pass::uniform::{Shape, Shapes},
        types::Type,
    },
};

/// How often a group may diverge in one turn and reconverge: one that diverges all the time is faster apart.
const PATIENCE: i64 = 32;

/// Where a group diverges, and where its threads reconverge.
pub(super) struct Region {
    /// The branch, or the beginning of a block that groups do not run.
    pub(super) at: usize,
    pub(super) join: BlockId,
    /// The blocks between.
    pub(super) blocks: Vec<bool>,
    /// Whether indices alone decide who goes where.
    pub(super) by_index: bool,
}

/// All regions in which no thread waits.
pub(super) fn regions(
    body: &Body,
    cfg: &Cfg,
    shapes: &Shapes,
    run: &[bool],
    sync: &sync::WaitPlan,
) -> Vec<Region> {
    let (meets, indices) = (immediate_post_dominators(body, cfg), row::indices(body));
    let mut regions = Vec::new();
    for id in cfg.ids() {
        let block = cfg.block(id);
        let (at, starts, by_index) = if run[id.index()] {
            let Some((at, last)) = cfg.instructions(body, id).next_back() else { continue };
            let varies = last.guard.is_some_and(|guard| !shapes.of(guard.reg).is_uniform());
            if !varies || !matches!(last.op, Op::Bra { .. }) {
                continue;
            }
            let by_index = last.guard.is_some_and(|guard| indices.contains(guard.reg));
            (at, block.successors.clone(), by_index)
        } else if block.predecessors.iter().any(|from| run[from.index()]) {
            (block.statements.start, vec![id], false)
        } else {
            continue;
        };
        let Some(join) = meets[id.index()].filter(|join| run[join.index()]) else { continue };
        let blocks = between(cfg, &starts, join);
        let waits = |statement: &usize| {
            cfg.ids().any(|id| blocks[id.index()] && cfg.block(id).statements.contains(statement))
        };
        if !sync.points().iter().any(waits) {
            regions.push(Region { at, join, blocks, by_index });
        }
    }
    regions
}

/// The blocks that are reached from `starts` without `join`.
fn between(cfg: &Cfg, starts: &[BlockId], join: BlockId) -> Vec<bool> {
    let mut inside = vec![false; cfg.blocks.len()];
    let mut open = starts.to_vec();
    while let Some(id) = open.pop() {
        if id != join && !std::mem::replace(&mut inside[id.index()], true) {
            open.extend(&cfg.block(id).successors);
        }
    }
    inside
}

/// For each block the first one behind it that every way to an end leads through.
fn immediate_post_dominators(body: &Body, cfg: &Cfg) -> Vec<Option<BlockId>> {
    let count = cfg.blocks.len();
    let all = RegSet::full(count);
    let mut sets = vec![all; count];
    let leaves = |id: BlockId| {
        let goes = |next| cfg.instructions(body, id).any(|(_, i)| i.op.facts().next == next);
        let ends = goes(Next::Returns) || goes(Next::Exits);
        let traps = goes(Next::Traps);
        ends || cfg.block(id).successors.is_empty() && !traps
    };
    let mut changed = true;
    while changed {
        changed = false;
        for id in cfg.order.iter().rev() {
            let mut set = if leaves(*id) { RegSet::new(count) } else { RegSet::full(count) };
            for to in &cfg.block(*id).successors {
                set.keep(&sets[to.index()]);
            }
            set.insert(Reg(id.0));
            changed |= set != sets[id.index()];
            sets[id.index()] = set;
        }
    }
    let nearest = |id: BlockId| {
        let size = sets[id.index()].len();
        let behind = sets[id.index()].iter().map(|Reg(block)| BlockId(block));
        behind.filter(|to| *to != id).find(|to| sets[to.index()].len() + 1 == size)
    };
    cfg.ids().map(nearest).collect()
}

/// Registers that vary behind a region since threads come there by different ways.
pub(super) fn made_different(
    body: &Body,
    cfg: &Cfg,
    shapes: &Shapes,
    liveness: &Liveness,
    regions: &[Region],
) -> Vec<Reg> {
    let regions = regions.iter().filter(|region| !region.by_index);
    regions.flat_map(|region| written_alike(body, cfg, shapes, liveness, region)).collect()
}

/// What lives behind a region, is written in it, and would be one scalar if all threads went the same way.
fn written_alike(
    body: &Body,
    cfg: &Cfg,
    shapes: &Shapes,
    liveness: &Liveness,
    region: &Region,
) -> Vec<Reg> {
    let live = &liveness.live_in[region.join.index()];
    let mut written = Vec::new();
    for id in cfg.ids().filter(|id| region.blocks[id.index()]) {
        for (_, i) in cfg.instructions(body, id) {
            i.for_each_def(|reg| {
                if live.contains(reg) && shapes.of(reg) != Shape::Varying {
                    written.push(reg);
                }
            });
        }
    }
    written
}

/// A place where threads reconverge.
struct Join {
    /// The statement that begins its block.
    start: usize,
    /// The statement behind whose label, or before which, single threads stop.
    place: usize,
    spills: Vec<Reg>,
    /// Those of them that have to be alike, or the group's threads go on singly.
    alike: Vec<Reg>,
    /// Where a group enters that begins with no label.
    block: Block,
}

/// The places where threads reconverge, and who is on the way to one.
pub(super) struct Joins {
    joins: Vec<Join>,
    /// The joins of the statements at which groups diverge.
    of: Vec<(usize, usize)>,
    /// The join, from 1, at which threads stop; 0 for none.
    target: Variable,
    patience: Variable,
    /// Index and coordinates of the group's first thread.
    first: [Variable; 4],
}

impl Joins {
    pub(super) fn new(
        b: &mut FunctionBuilder<'_>,
        body: &Body,
        cfg: &Cfg,
        (liveness, shapes): (&Liveness, &Shapes),
        regions: &[Region],
    ) -> Self {
        let mut joins: Vec<Join> = Vec::new();
        let mut of = Vec::new();
        for region in regions {
            let start = cfg.block(region.join).statements.start;
            let known = joins.iter().position(|join| join.start == start);
            let index = known.unwrap_or_else(|| {
                let statements = cfg.block(region.join).statements.clone();
                let is_label = |at: &usize| matches!(body.statements[*at], Statement::Label(_));
                let labels = statements.take_while(is_label).count();
                let spills = liveness.live_in[region.join.index()].iter().collect();
                let place = start + labels.max(1) - 1;
                joins.push(Join {
                    start,
                    place,
                    spills,
                    alike: Vec::new(),
                    block: b.create_block(),
                });
                joins.len() - 1
            });
            of.push((region.at, index));
            if region.by_index {
                let alike = &mut joins[index].alike;
                alike.extend(written_alike(body, cfg, shapes, liveness, region));
                alike.sort_unstable();
                alike.dedup();
            }
        }
        let [target, patience] = [(); 2].map(|()| b.declare_var(types::I32));
        let first = [(); 4].map(|()| b.declare_var(types::I32));
        Self { joins, of, target, patience, first }
    }

    /// The statements that begin the blocks at which threads reconverge.
    pub(super) fn starts(&self) -> impl Iterator<Item = usize> {
        self.joins.iter().map(|join| join.start)
    }

    /// Where groups may come to a join and go on singly: its number, its statement, what has to be alike there and all
    /// that lives there.
    pub(super) fn doubtful(&self) -> impl Iterator<Item = (usize, usize, &[Reg], &[Reg])> {
        let joins = self.joins.iter().enumerate().filter(|(_, join)| !join.alike.is_empty());
        joins.map(|(number, join)| (number, join.start, &join.alike[..], &join.spills[..]))
    }

    /// All registers that live at joins.
    pub(super) fn spills(&self) -> impl Iterator<Item = Reg> + '_ {
        self.joins.iter().flat_map(|join| join.spills.iter().copied())
    }
}

impl<'l> GroupLower<'l, '_, '_> {
    fn joins(&self) -> Option<&'l Joins> {
        Some(&self.plan.joins).filter(|joins| !joins.joins.is_empty())
    }

    /// Nobody is on the way to a join.
    pub(super) fn forget_joining(&mut self) {
        let Some(joins) = self.joins() else { return };
        let none = self.lower.b.ins().iconst(types::I32, 0);
        self.lower.b.def_var(joins.target, none);
    }

    /// A group's turn begins.
    pub(super) fn be_patient(&mut self) {
        let Some(joins) = self.joins() else { return };
        let much = self.lower.b.ins().iconst(types::I32, PATIENCE);
        self.lower.b.def_var(joins.patience, much);
    }

    /// A group diverges at a statement: its threads are to reconverge where its region ends, if it has not diverged too
    /// often.
    pub(super) fn aim_for_join(&mut self, statement: Option<usize>) {
        let Some(joins) = self.joins() else { return };
        let at = joins.of.iter().find(|(at, _)| Some(*at) == statement).map(|(_, join)| *join);
        let Some(join) = at else { return self.forget_joining() };
        for (variable, from) in joins.first.into_iter().zip(self.lower.place_in_block()) {
            let value = self.lower.b.use_var(from);
            self.lower.b.def_var(variable, value);
        }
        let left = self.lower.b.use_var(joins.patience);
        let [aim, none] = [join as i64 + 1, 0].map(|v| self.lower.b.ins().iconst(types::I32, v));
        let less = self.lower.b.ins().iadd_imm_s(left, -1);
        let aim = self.lower.b.ins().select(left, aim, none);
        let less = self.lower.b.ins().select(left, less, none);
        self.lower.b.def_var(joins.patience, less);
        self.lower.b.def_var(joins.target, aim);
    }

    /// In the code for single threads: those on the way to this place have arrived.
    pub(super) fn join_point(&mut self, statement: usize) {
        let Some(joins) = self.joins() else { return };
        let found = joins.joins.iter().position(|join| join.place == statement);
        let Some(join) = found else { return };
        if self.lower.is_filled() {
            return;
        }
        let target = self.lower.b.use_var(joins.target);
        let arrived = self.lower.b.ins().icmp_imm_u(IntCC::Equal, target, join as i64 + 1);
        let [park, on] = [(); 2].map(|()| self.lower.b.create_block());
        self.lower.b.set_cold_block(park);
        self.lower.b.ins().brif(arrived, park, &[], on, &[]);
        self.lower.b.switch_to_block(park);
        self.spill_joining(&joins.joins[join]);
        let next = self.lower.targets().next();
        self.lower.b.ins().jump(next, &[]);
        self.lower.b.switch_to_block(on);
    }

    fn spill_joining(&mut self, join: &Join) {
        let index = self.lower.current_index();
        let lane = self.lower.b.ins().band_imm_u(index, self.plan.width as i64 - 1);
        let lane = self.lower.b.ins().uextend(types::I64, lane);
        for &reg in &join.spills {
            let ty = self.lower.body().registers.ty(reg);
            let clif = clif_type(ty);
            let mut value = self.lower.b.use_var(self.lower.variable(reg));
            let slot = match self.shape(reg).stride() {
                Some(_) if join.alike.contains(&reg) => {
                    self.slot_of_lane((reg, Saved::Joined), lane, clif.bytes())
                }
                Some(0) => self.slot_of(reg),
                Some(stride) => {
                    let step = self.lower.b.ins().imul_imm_s(lane, stride);
                    let step = self.lower.fit(step, clif);
                    value = self.lower.b.ins().isub(value, step);
                    self.slot_of(reg)
                }
                None => {
                    if ty == Type::Pred {
                        let wide = self.lower.b.ins().uextend(types::I32, value);
                        value = self.lower.b.ins().ineg(wide);
                    }
                    let bytes = self.lower.b.func.dfg.value_type(value).bytes();
                    self.slot_of_lane((reg, Saved::Left), lane, bytes)
                }
            };
            self.lower.store(value, slot, 0);
        }
    }

    /// Behind the turns of a group's single threads: where all wait at a join, the group goes on there; else control
    /// goes on here.
    pub(super) fn reconverge(&mut self) {
        let Some(joins) = self.joins() else { return };
        let others = self.lower.b.create_block();
        let mut switch = Switch::new();
        let blocks: Vec<Block> = joins.joins.iter().map(|_| self.lower.b.create_block()).collect();
        for (index, block) in blocks.iter().enumerate() {
            switch.set_entry(index as u128 + 1, *block);
        }
        let target = self.lower.b.use_var(joins.target);
        switch.emit(&mut self.lower.b, target, others);
        for (number, (block, join)) in blocks.into_iter().zip(&joins.joins).enumerate() {
            self.lower.b.switch_to_block(block);
            for (variable, from) in self.lower.place_in_block().into_iter().zip(joins.first) {
                let value = self.lower.b.use_var(from);
                self.lower.b.def_var(variable, value);
            }
            self.lower.enter_thread();
            self.go_on_singly_unless_alike(number, &join.alike);
            self.reload_joined(join);
            let entry = match &self.lower.body().statements[join.start] {
                Statement::Label(label) => self.plan.targets.label(*label),
                Statement::Instruction(_) | Statement::Pragma(_) => join.block,
            };
            self.lower.b.ins().jump(entry, &[]);
        }
        self.lower.b.switch_to_block(others);
    }

    /// Behind a join what is one scalar for a group is so only if its threads did the same.
    fn go_on_singly_unless_alike(&mut self, join: usize, regs: &[Reg]) {
        let mut others = None;
        for &reg in regs {
            for differ in self.differences(reg) {
                others = Some(match others {
                    None => differ,
                    Some(others) => self.lower.b.ins().bor(others, differ),
                });
            }
        }
        let Some(others) = others else { return };
        let differ = self.lower.b.ins().vany_true(others);
        let alike = self.lower.b.ins().icmp_imm_u(IntCC::Equal, differ, 0);
        self.diverge_unless(alike, |group| group.leave_join(join));
    }

    /// How what threads brought to a join of a register differs from what is due, as vectors of words.
    fn differences(&mut self, reg: Reg) -> Vec<Value> {
        let ty = self.lower.body().registers.ty(reg);
        let (slot, stride) = (self.slot_of_joined(reg), self.shape(reg).stride().unwrap_or(0));
        let (words, int, form) = match ty.bytes() {
            8 => (Type::B64, types::I64, types::I64X2),
            4 => (Type::B32, types::I32, types::I32X4),
            narrow => {
                let int = int_type(narrow);
                let first = self.lower.load(int, slot, 0);
                let lanes = (1..self.lower.width()).map(|lane| {
                    let found = self.lower.load(int, slot, lane * i64::from(narrow));
                    let differ = self.lower.b.ins().bxor(found, first);
                    let differ = self.lower.b.ins().uextend(types::I32, differ);
                    self.lower.b.ins().splat(types::I32X4, differ)
                });
                return lanes.collect();
            }
        };
        let first = self.lower.load(int, slot, 0);
        let due = self.spread_all(first, stride, words);
        let differ = due.into_iter().enumerate().map(|(index, due)| {
            let found = self.lower.load_unaligned(form, slot, 16 * index as i64);
            let differ = self.lower.b.ins().bxor(found, due);
            self.recast(differ, types::I32X4)
        });
        differ.collect()
    }

    fn reload_joined(&mut self, join: &Join) {
        for &reg in &join.spills {
            let ty = self.lower.body().registers.ty(reg);
            let slot = match join.alike.contains(&reg) {
                true => self.slot_of_joined(reg),
                false => self.slot_of(reg),
            };
            if self.shape(reg).stride().is_some() {
                let value = self.lower.load_unaligned(clif_type(ty), slot, 0);
                self.lower.b.def_var(self.lower.variable(reg), value);
                continue;
            }
            let (form, count) = super::value::form(ty);
            let parts = (0..count * self.quads()).map(|part| {
                self.lower.load_unaligned(form, slot, part as i64 * i64::from(form.bytes()))
            });
            let parts: Vec<_> = parts.collect();
            self.set_all_vectors(reg, &parts);
        }
    }

    /// In the code for groups: the place of the join that begins at a statement without a label.
    pub(super) fn joined(&mut self, statement: usize) {
        let Some(joins) = self.joins() else { return };
        let Some(join) = joins.joins.iter().find(|join| join.start == statement) else { return };
        if matches!(self.lower.body().statements[statement], Statement::Label(_)) {
            return;
        }
        let block = join.block;
        if !self.lower.is_filled() {
            self.lower.b.ins().jump(block, &[]);
        }
        self.lower.b.switch_to_block(block);
    }
}
