//! Rows: as many threads as share one check of each access: all that follow each other in x in a block, or, where those
//! do not go one way or not all of their accesses are good, 32 of them.
//!
//! A group's checks cost more than its loads and stores. Where a kernel has no loop and no thread waits, a row of
//! groups is *prechecked* first ([`precheck`](super::precheck)): only what addresses and branches need is computed, for
//! the row's first thread, and from that it is known for all of them whether each access is good and each branch goes
//! one way. Then the row's groups run without those checks; else one after the other with them, as ever. What can be
//! known so is found here.
//!
//! The groups of such a row compute the address of a checked access from the one that was checked, not from their
//! registers, and go the ways that were decided. So they stay within what was checked even if what the precheck knew
//! of registers were wrong.

use std::collections::HashMap;

use cranelift_codegen::ir::types;
use cranelift_frontend::{FunctionBuilder, Variable};

use super::{memory::is_plain, skip::Skip, vector_form, widen::widens};
use crate::{
    device::cpu::{
        abi::MAX_THREADS,
        jit::{Schedule, sync},
    },
    ptx::{
        ast::{Body, Statement},
        cfg::{Cfg, RegSet},
        inst::{Instruction, Op},
        modifier::{Access, BoolOp, Cmp},
        op::{Floats, Next},
        operand::{Address, Base, Grid, Operand, Reg, Scalar, Special, Symbol},
        pass::uniform::{Neighbours, Shapes},
        types::{Space, Type},
    },
};

/// Threads of a short row.
pub(super) const SHORT: u32 = 32;

/// Kernels with more instructions spend their time elsewhere, and translating takes its time.
const MOST_INSTRUCTIONS: usize = 200;

/// The accesses of two neighbours lie at most so many bytes apart: no offset wraps within a row.
const FARTHEST: i64 = 1 << 32;

/// What is known of all threads of a row before they run.
pub(super) struct Row {
    /// How registers differ among a row's threads.
    pub(super) shapes: Shapes,
    /// Registers that the precheck computes for the first thread.
    pub(super) known: RegSet,
    /// Predicates of which it finds whether all threads hold it, or none does.
    pub(super) agreements: HashMap<Reg, Agreement>,
    /// Those that nothing but branches reads.
    pub(super) decisive: RegSet,
    /// Whether all threads of the row go where a branch leads, by its statement.
    pub(super) decisions: HashMap<usize, Variable>,
    /// Statements whose checks are done for all.
    pub(super) hoisted: Vec<bool>,
    /// What the addresses of those accesses are made from: the first thread's value of each register, as it was when
    /// the access was checked.
    pub(super) bases: HashMap<Reg, Variable>,
    pub(super) extent: Extent,
}

/// Which threads a row has.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    /// Whether it may have all threads that follow each other in x; else it has [`SHORT`], from a multiple of that on.
    pub(super) whole: bool,
    /// Index of its first thread.
    pub(super) first: Variable,
    /// How many follow that one, in 64 bits.
    pub(super) others: Variable,
    /// Index of the thread behind it.
    pub(super) end: Variable,
}

impl Extent {
    fn new(b: &mut FunctionBuilder<'_>, whole: bool) -> Self {
        let [first, end] = [(); 2].map(|()| b.declare_var(types::I32));
        Self { whole, first, others: b.declare_var(types::I64), end }
    }

    /// How many threads follow the first one, at most.
    pub(super) fn most_others(self) -> u32 {
        if self.whole { MAX_THREADS as u32 - 1 } else { SHORT - 1 }
    }
}

/// Whether all threads of the row hold a predicate, and whether none does; neither where that is not known.
#[derive(Clone, Copy)]
pub(super) struct Agreement {
    pub(super) all: Variable,
    pub(super) none: Variable,
}

impl Row {
    /// What can be prechecked of a kernel whose registers have these `shapes` in a group, all of whose branches but
    /// `skips` make groups diverge, and some of whose registers may be read before they are written, or are known to
    /// vary. None where that is nothing, or not enough.
    pub(super) fn new(
        b: &mut FunctionBuilder<'_>,
        body: &Body,
        cfg: &Cfg,
        shapes: &Shapes,
        skips: &[Skip],
        [unwritten, varying]: [&RegSet; 2],
    ) -> Option<Self> {
        if body.instructions().count() > MOST_INSTRUCTIONS {
            return None;
        }
        // More is known of few threads that begin at a multiple of their number, as what their lanes are.
        let of =
            |whole| Self::of_extent(b, body, cfg, shapes, skips, ([unwritten, varying], whole));
        [true, false].into_iter().find_map(of)
    }

    fn of_extent(
        b: &mut FunctionBuilder<'_>,
        body: &Body,
        cfg: &Cfg,
        shapes: &Shapes,
        skips: &[Skip],
        ([unwritten, varying], whole): ([&RegSet; 2], bool),
    ) -> Option<Self> {
        // The precheck goes through the blocks of skips, which some threads go round: behind one, what it writes may
        // have either value.
        let mut varying = varying.clone();
        skips.iter().flat_map(Skip::written).for_each(|reg| varying.insert(*reg));
        let neighbours = if whole { Neighbours::in_x() } else { Neighbours::aligned(SHORT) };
        let row_shapes = Shapes::with_varying(body, neighbours, unwritten, &varying);
        let known = known(body, &row_shapes, &varying);
        let agreements = agreements(body, (&row_shapes, &known), &varying);
        let mut plan = Self {
            decisive: decisive(body, &agreements, skips),
            shapes: row_shapes,
            known,
            agreements: HashMap::new(),
            decisions: HashMap::new(),
            hoisted: vec![false; body.statements.len()],
            bases: HashMap::new(),
            extent: Extent::new(b, whole),
        };
        for reg in agreements.iter() {
            let [all, none] = [(); 2].map(|()| b.declare_var(types::I8));
            plan.agreements.insert(reg, Agreement { all, none });
        }
        let mut accesses = 0;
        let written_once = written_once(body);
        for (at, i) in cfg.ids().flat_map(|id| cfg.instructions(body, id)) {
            let skips = skips.iter().any(|skip| skip.at == at);
            match i.op.facts().next {
                Next::Branches | Next::Returns | Next::Exits => {
                    if let (Some(guard), false) = (i.guard, skips) {
                        plan.decides_on(guard.reg).then_some(())?;
                        plan.decisions.insert(at, b.declare_var(types::I8));
                    }
                    continue;
                }
                Next::BranchesByTable => return None,
                Next::Follows | Next::Traps => {}
            }
            if let (Op::Ld(access) | Op::St(access), None) = (&i.op, i.guard) {
                let Some((base, _)) = plan.row_stride(i, access) else { continue };
                if !written_once.contains(base) || body.registers.ty(base).bytes() != 8 {
                    continue;
                }
                plan.hoisted[at] = true;
                plan.bases.entry(base).or_insert_with(|| b.declare_var(types::I64));
                accesses += 1;
                continue;
            }
            // What never wraps in a group may wrap between the groups of a row.
            let [in_group, in_row] =
                [shapes, &plan.shapes].map(|shapes| widens(body, shapes, i).is_some());
            if in_group || in_row {
                plan.hoisted[at] = i.guard.is_none() && plan.knows_result(i);
                (plan.hoisted[at] || !in_group).then_some(())?;
            }
        }
        (accesses > 0).then_some(plan)
    }

    /// Whether a branch on this predicate goes one way or the precheck finds that it does not.
    fn decides_on(&self, reg: Reg) -> bool {
        self.agreements.contains_key(&reg)
            || self.known.contains(reg) && self.shapes.of(reg).is_uniform()
    }

    /// Whether the precheck computes all that the instruction writes.
    pub(super) fn knows_result(&self, i: &Instruction) -> bool {
        defines_only(i, &self.known)
    }

    /// The register that the address of an access is made from, and the distance between its threads, where the access
    /// can be checked for the row.
    pub(super) fn row_stride(&self, i: &Instruction, access: &Access) -> Option<(Reg, i64)> {
        let Some(Operand::Address(Address { base: Base::Reg(base), .. })) = i.src.first() else {
            return None;
        };
        let global = matches!(access.space, Some(Space::Global) | None);
        let stride = self.shapes.of(*base).stride()?;
        let is_near = (1..=FARTHEST).contains(&stride);
        let fits = stride % i64::from(access.bytes()) == 0 && access.bytes().is_power_of_two();
        (global && is_near && is_plain(access) && fits && self.known.contains(*base))
            .then_some((*base, stride))
    }
}

/// Whether threads run from the kernel's begin to its end without turning back, waiting, or going where groups do not.
pub(super) fn is_straight(cfg: &Cfg, run: &[bool], sync: &sync::WaitPlan) -> bool {
    let all_run = cfg.ids().all(|id| run[id.index()] || !cfg.is_reachable(id));
    let loops = cfg.ids().any(|id| cfg.block(id).is_loop_header);
    sync.schedule == Schedule::Free && all_run && !loops
}

/// Registers that only one instruction writes.
fn written_once(body: &Body) -> RegSet {
    let mut writes = vec![0_u32; body.registers.len()];
    body.instructions().for_each(|i| i.for_each_def(|reg| writes[reg.0 as usize] += 1));
    let mut once = RegSet::new(body.registers.len());
    let regs = (0..).map(Reg).zip(writes).filter(|(_, writes)| *writes == 1);
    regs.for_each(|(reg, _)| once.insert(reg));
    once
}

/// Registers that come from the launch alone, by arithmetic, and differ by a constant in a row.
fn known(body: &Body, shapes: &Shapes, varying: &RegSet) -> RegSet {
    made_from_launch(body, |i| {
        let mut is_known = shapes.result(body, i).is_some_and(|shape| shape.stride().is_some());
        i.for_each_def(|reg| is_known &= !varying.contains(reg));
        is_known
    })
}

/// Registers that come from the launch alone, by arithmetic of integers: indices, and what is decided by them.
pub(super) fn indices(body: &Body) -> RegSet {
    made_from_launch(body, |i| i.op.facts().floats == Floats::None)
}

fn made_from_launch(body: &Body, suits: impl Fn(&Instruction) -> bool) -> RegSet {
    let mut known = RegSet::full(body.registers.len());
    let mut changed = true;
    while changed {
        changed = false;
        for i in body.instructions() {
            let fine = suits(i) && i.guard.is_none() && comes_from_launch(i);
            if fine && reads_known(&known, i) {
                continue;
            }
            i.for_each_def(|reg| {
                changed |= known.contains(reg);
                known.remove(reg);
            });
        }
    }
    known
}

/// Whether the result is determined by what is read from registers and the launch's parameters, which nothing changes.
fn comes_from_launch(i: &Instruction) -> bool {
    if let Op::Ld(_) = i.op {
        let address = i.src.first().and_then(Operand::address);
        return address.is_some_and(|a| matches!(a.base, Base::Symbol(Symbol::Param(_))));
    }
    matches!(i.op, Op::Cvta { .. } | Op::Div { .. } | Op::Rem { .. })
        || vector_form::computes(&i.op)
}

fn reads_known(known: &RegSet, i: &Instruction) -> bool {
    i.src.iter().all(|operand| match operand {
        Operand::Reg(reg) | Operand::Not(reg) => known.contains(*reg),
        Operand::Int(_) | Operand::F32(_) | Operand::F64(_) | Operand::Symbol(..) => true,
        Operand::Special(special) => is_of_launch(*special),
        Operand::Address(Address { base: Base::Reg(reg), .. }) => known.contains(*reg),
        Operand::Address(_) => true,
        Operand::Vector(_) | Operand::Bracket(_) | Operand::Sink => false,
        Operand::Label(_) | Operand::Table(_) => false,
    })
}

/// Whether a special register stays what it is while the kernel runs.
fn is_of_launch(special: Special) -> bool {
    matches!(
        special,
        Special::Axis(Grid::Tid | Grid::Ntid | Grid::Ctaid | Grid::Nctaid, _)
            | Special::Scalar(Scalar::Laneid | Scalar::WarpSize)
    )
}

/// What gives predicates of which it is known before a row begins whether all threads hold them, or none does.
#[derive(Clone, Copy)]
pub(super) enum Predicate {
    Compares { cmp: Cmp, combine: Option<BoolOp>, ty: Type },
    Combines(BoolOp),
    Negates,
    Copies,
}

impl Predicate {
    pub(super) fn of(op: &Op) -> Option<Self> {
        // Flushed or not, only whole numbers are compared here.
        if let Op::Setp { cmp, combine, ty, ftz: _ } = *op {
            return Some(Self::Compares { cmp, combine, ty });
        }
        if let Op::Logic { op, ty: Type::Pred } = *op {
            return Some(Self::Combines(op));
        }
        if let Op::Not { ty: Type::Pred } = op {
            return Some(Self::Negates);
        }
        matches!(op, Op::Mov { ty: Type::Pred, lanes: _ }).then_some(Self::Copies)
    }
}

/// Predicates that vary in a row, but of which is known whether all or none hold: comparisons of integers that differ
/// by a constant, and what is made of such.
fn agreements(body: &Body, (shapes, known): (&Shapes, &RegSet), varying: &RegSet) -> RegSet {
    let is_predicate = |reg: &Reg| body.registers.ty(*reg) == Type::Pred;
    let mut found = RegSet::new(body.registers.len());
    let regs = (0..body.registers.len() as u32).map(Reg).filter(is_predicate);
    let regs = regs.filter(|reg| !shapes.of(*reg).is_uniform() && !varying.contains(*reg));
    regs.for_each(|reg| found.insert(reg));
    let mut changed = true;
    while changed {
        changed = false;
        for i in body.instructions() {
            let holds = |operand: &Operand| {
                let (Operand::Reg(reg) | Operand::Not(reg)) = operand else { return false };
                found.contains(*reg) || known.contains(*reg) && is_predicate(reg)
            };
            let fine = Predicate::of(&i.op).is_some_and(|predicate| match predicate {
                Predicate::Compares { ty, .. } => {
                    compares_indices(body, shapes, known, i, ty) && i.src.get(2).is_none_or(&holds)
                }
                Predicate::Combines(_) | Predicate::Negates | Predicate::Copies => {
                    i.src.iter().all(&holds)
                }
            });
            if fine && i.guard.is_none() {
                continue;
            }
            i.for_each_def(|reg| {
                changed |= found.contains(reg);
                found.remove(reg);
            });
        }
    }
    found
}

/// Whether it compares an integer that differs by a constant with one that does not.
fn compares_indices(
    body: &Body,
    shapes: &Shapes,
    known: &RegSet,
    i: &Instruction,
    ty: Type,
) -> bool {
    let of_width = |operand: &Operand| match operand.reg() {
        Some(reg) => known.contains(reg) && body.registers.ty(reg).bytes() == ty.bytes(),
        None => matches!(operand, Operand::Int(_)),
    };
    let [Some(a), Some(b)] = [i.src.first(), i.src.get(1)] else { return false };
    let strides = [a, b].map(|operand| shapes.operand(body, operand).stride());
    let one_moves = matches!(strides, [Some(0), Some(_)] | [Some(_), Some(0)]);
    !ty.is_float()
        && matches!(ty.bytes(), 4 | 8)
        && !ty.is_packed()
        && one_moves
        && of_width(a)
        && of_width(b)
}

/// The agreements that nothing reads but branches, and what only branches read.
fn decisive(body: &Body, agreements: &RegSet, skips: &[Skip]) -> RegSet {
    let mut decisive = agreements.clone();
    let mut changed = true;
    while changed {
        changed = false;
        for (at, statement) in body.statements.iter().enumerate() {
            let Statement::Instruction(i) = statement else { continue };
            let is_needless = defines_only(i, &decisive);
            let branches = match i.op.facts().next {
                Next::Branches | Next::Returns | Next::Exits => {
                    skips.iter().all(|skip| skip.at != at)
                }
                Next::Follows | Next::BranchesByTable | Next::Traps => false,
            };
            if is_needless || branches {
                continue;
            }
            i.for_each_use(|reg| {
                changed |= decisive.contains(reg);
                decisive.remove(reg);
            });
        }
    }
    decisive
}

/// Whether an instruction writes registers, and all of them are among `regs`.
pub(super) fn defines_only(i: &Instruction, regs: &RegSet) -> bool {
    let mut only = !i.dst.is_empty();
    i.for_each_def(|reg| only &= regs.contains(reg));
    only
}
