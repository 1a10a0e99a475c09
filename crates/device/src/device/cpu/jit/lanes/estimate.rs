//! Whether code for groups is possible, and whether it is worth it: instructions weighted by the depth of their
//! loops, each with what it costs for four single threads and for a group.

use super::{
    Divergence, row,
    value::form,
    vector_form::{has_form, vector_width},
};
use crate::{
    device::cpu::{abi::LANES, jit::sync},
    ptx::{
        ast::Body,
        cfg::{BlockId, Cfg, Liveness},
        inst::{Instruction, Op},
        modifier::Function,
        op::{Next, Waits},
        operand::{Base, Operand},
        pass::uniform::{Shape, Shapes},
        types::Space,
    },
};

/// Kernels with more instructions have code for single threads only: translating takes its time.
const MOST_INSTRUCTIONS: usize = 4000;
/// Kernels with more have groups of one quad.
const MOST_WIDE: usize = 400;
/// The most instructions that a group of more than one quad does for one thread after the other: there is their code as
/// many times as it has threads.
const MOST_SINGLY: usize = 16;
/// Vectors that live at once, at most, in groups of more than one quad.
const VECTORS: usize = 48;
/// How much more often the body of a loop runs than what is round it.
const LOOP: f64 = 8.0;
/// A group must take at most this part of the time of four single threads.
const WORTH: f64 = 0.8;
/// A checked access of one thread.
const ACCESS: f64 = 5.0;
/// A call of the host.
const CALL: f64 = 15.0;
/// An operation of the warp, of one thread and of a group.
const MEETING: (f64, f64) = (10.0, 15.0);

/// Whether each instruction can be done for groups.
pub(super) fn is_possible(body: &Body, cfg: &Cfg, shapes: &Shapes, sync: &sync::WaitPlan) -> bool {
    // Loops that wait for other threads are left to threads one after the other.
    if !sync.spins.is_empty() || adds_in_another_order(body, cfg) {
        return false;
    }
    let points = sync.points();
    let mut waits = points.iter().filter_map(|at| match body.statements.get(*at) {
        Some(crate::ptx::ast::Statement::Instruction(i)) => Some(i),
        _ => None,
    });
    waits.all(|i| i.guard.is_none())
        && body.instructions().count() <= MOST_INSTRUCTIONS
        && body.instructions().all(|i| is_possible_instruction(body, shapes, i))
}

fn is_possible_instruction(body: &Body, shapes: &Shapes, i: &Instruction) -> bool {
    let facts = i.op.facts();
    if facts.carries {
        // There is one flag for all.
        let result = shapes.result(body, i);
        return shapes.reads_uniform(body, i) && result.is_some_and(Shape::is_uniform);
    }
    match facts.next {
        Next::BranchesByTable => shapes.reads_uniform(body, i),
        Next::Follows | Next::Branches | Next::Returns | Next::Exits | Next::Traps => {
            facts.in_groups
        }
    }
}

/// The blocks that groups run: not those in which next to nothing is done for four at a time, such as the reduction
/// of huge angles; a group that comes to one leaves. Nor what is reached only by way of those.
pub(super) fn blocks(body: &Body, cfg: &Cfg, shapes: &Shapes) -> Vec<bool> {
    let slow = |id: BlockId| {
        let own = |access: &crate::ptx::modifier::Access| access.space == Some(Space::Local);
        let mut all = cfg.instructions(body, id);
        all.any(|(_, i)| matches!(&i.op, Op::Ld(access) | Op::St(access) if own(access))) && {
            let costs = cfg.instructions(body, id).map(|(_, i)| costs(body, shapes, i));
            let (one, four) = costs.fold((0.0, 0.0), |sum, c| (sum.0 + c.0, sum.1 + c.1));
            four > WORTH * 4.0 * one
        }
    };
    let mut run = vec![false; cfg.blocks.len()];
    let mut open = vec![BlockId(0)];
    while let Some(id) = open.pop() {
        if !run[id.index()] && !slow(id) {
            run[id.index()] = true;
            open.extend(&cfg.block(id).successors);
        }
    }
    run
}

/// Whether floats are added by atomic operations in another order than by threads one after the other, which
/// would give other bits.
fn adds_in_another_order(body: &Body, cfg: &Cfg) -> bool {
    let depths = depths(cfg);
    let sites = cfg.ids().flat_map(|id| {
        let count = cfg.instructions(body, id).filter(|(_, i)| i.op.facts().folds_floats).count();
        std::iter::repeat_n(depths[id.index()], count)
    });
    let sites: Vec<i32> = sites.collect();
    sites.len() > 1 || sites.iter().any(|depth| *depth > 0)
}

/// Whether a group is estimated to be faster than its threads one after the other.
pub(super) fn is_faster(body: &Body, cfg: &Cfg, shapes: &Shapes, run: &[bool]) -> bool {
    let depths = depths(cfg);
    let (mut single, mut group) = (0.0, 0.0);
    for id in cfg.ids().filter(|id| cfg.is_reachable(*id)) {
        let weight = LOOP.powi(depths[id.index()].min(4));
        for (_, i) in cfg.instructions(body, id) {
            let (one, four) = costs(body, shapes, i);
            single += weight * one * 4.0;
            group += weight * if run[id.index()] { four } else { 4.0 * one };
        }
    }
    group <= WORTH * single
}

/// Whether groups of more than one quad are faster: where the same instructions are run less often for all threads, and
/// the vectors of all quads find room in the processor's registers. A group that diverges is slow, and the more threads
/// it has the more often it diverges.
pub(super) fn suits(body: &Body, cfg: &Cfg, liveness: &Liveness, divergence: &Divergence) -> bool {
    let Divergence { width, shapes, run, .. } = divergence;
    if body.instructions().nth(MOST_WIDE).is_some() {
        return false;
    }
    let (stays, indices) = (divergence.stays(), row::indices(body));
    let mut most = 0;
    let mut singly = 0;
    for id in cfg.ids().filter(|id| run[id.index()]) {
        for (at, i) in cfg.instructions(body, id) {
            let parts = match i.op.facts().next {
                Next::Branches | Next::Returns | Next::Exits | Next::Traps => {
                    i.guard.is_some_and(|guard| !shapes.of(guard.reg).is_uniform())
                }
                Next::BranchesByTable | Next::Follows => false,
            };
            let seldom = i.guard.is_some_and(|guard| indices.contains(guard.reg));
            if parts && !stays.contains(&at) && !seldom {
                return false;
            }
            singly += usize::from(is_done_singly(body, shapes, i));
        }
        liveness.for_each_after(body, cfg, id, |_, _, live| {
            let varying = live.iter().filter(|reg| shapes.of(*reg) == Shape::Varying);
            let vectors = varying.map(|reg| form(body.registers.ty(reg)).1).sum::<usize>();
            most = most.max(vectors);
        });
    }
    let all_run = cfg.ids().all(|id| run[id.index()] || !cfg.is_reachable(id));
    all_run && singly <= MOST_SINGLY && most * width / LANES <= VECTORS
}

/// Whether a group does an instruction for one thread after the other.
fn is_done_singly(body: &Body, shapes: &Shapes, i: &Instruction) -> bool {
    let facts = i.op.facts();
    let once = match shapes.result(body, i) {
        Some(shape) => shape.stride().is_some(),
        None => facts.is_idempotent && shapes.reads_uniform(body, i),
    };
    if let Op::Ld(_) | Op::St(_) = &i.op {
        return !once && i.src.first().and_then(|address| row_stride(shapes, address)).is_none();
    }
    let decides = facts.next != Next::Follows || facts.waits != Waits::No;
    !once && !decides && vector_width(&i.op).is_none()
}

/// In how many loops each block is.
fn depths(cfg: &Cfg) -> Vec<i32> {
    let mut depths = vec![0; cfg.blocks.len()];
    let headers = cfg.ids().filter(|id| cfg.block(*id).is_loop_header);
    for header in headers.collect::<Vec<BlockId>>() {
        cfg.loop_blocks(header).into_iter().for_each(|id| depths[id.index()] += 1);
    }
    depths
}

/// What an instruction costs for one thread, and for a group.
fn costs(body: &Body, shapes: &Shapes, i: &Instruction) -> (f64, f64) {
    let one = cost(&i.op);
    if let Waits::Warp(_) = i.op.facts().waits {
        return MEETING;
    }
    let uniform = shapes.reads_uniform(body, i);
    let once = match shapes.result(body, i) {
        Some(shape) => shape.stride().is_some(),
        None => uniform,
    };
    if once {
        return (one, one);
    }
    let registers = (i.src.len() + i.dst.len()) as f64;
    let singly = 4.0 * one + 2.0 * registers;
    let group = if let Op::Ld(access) | Op::St(access) = &i.op {
        let plain = !access.is_strong();
        match i.src.first().and_then(|address| row_stride(shapes, address)) {
            Some(stride) if plain && has_form(access.ty) => {
                let dense = stride == i64::from(access.bytes());
                let lanes = f64::from(access.lanes);
                let words = if dense { 1.5 * lanes } else { 5.0 * lanes };
                ACCESS + words
            }
            _ => singly,
        }
    } else if matches!(i.op, Op::Bra { .. } | Op::Bar { .. }) {
        3.0
    } else {
        match vector_width(&i.op) {
            Some(parts) => parts * one.max(1.0) * if one > 1.0 { 1.5 } else { 1.1 },
            None => singly,
        }
    };
    (one, group)
}

/// What an operation costs for one thread: an estimate, and one for what is not known to take long.
fn cost(op: &Op) -> f64 {
    if let Op::Ld(access) | Op::St(access) = op {
        return if is_free(access.space) { 1.0 } else { ACCESS };
    }
    if let Op::Approx { function, ftz: _, ty: _ } = op
        && *function != Function::Rsqrt
    {
        return CALL;
    }
    if matches!(op, Op::Atom(_) | Op::Red(_)) {
        return 3.0 * ACCESS;
    }
    if matches!(op, Op::Tex(_) | Op::Suld(_) | Op::Sust(_)) {
        return 4.0 * CALL;
    }
    let divides = matches!(op, Op::Div { .. } | Op::Rem { .. } | Op::Rcp { .. });
    let takes_roots = matches!(op, Op::Sqrt { .. } | Op::Approx { .. });
    if divides || takes_roots { 6.0 } else { 1.0 }
}

fn is_free(space: Option<Space>) -> bool {
    matches!(space, Some(Space::Param | Space::ParamEntry))
}

fn row_stride(shapes: &Shapes, address: &Operand) -> Option<i64> {
    let Base::Reg(reg) = address.address()?.base else { return None };
    shapes.of(reg).stride().filter(|stride| *stride > 0)
}
