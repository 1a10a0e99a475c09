//! Places where threads wait for each other. A thread that comes to one spills its live registers, writes what it
//! hands over and where it is to memory, and the next thread has its turn; once the host lets it go on, it is
//! entered again there and reloads them. So barriers may stand in loops and in divergent code, and threads
//! may have ended before.
//!
//! Registers lie as structures of arrays, so that several threads' are loaded as one vector. Those that hold constants
//! are not spilled but made again. The stride
//! is a little more than a power of two: with one exactly, all registers of a thread would fall in one set of
//! the first cache.

use std::{collections::BTreeMap, mem::offset_of};

use super::{
    Reduce, Resume, Schedule,
    clif::clif_type,
    flow,
    kernel::{Fixed, Packed, ResumePoint},
    spin::{self, Spin},
};
use crate::{
    device::cpu::{
        abi::{Exchange, MAX_THREADS},
        location::Unsupported,
        together::{warp_operation, warp_value},
    },
    ptx::{
        ast::{Body, Function, FunctionKind, Statement},
        cfg::{Cfg, Liveness},
        inst::{Instruction, Op},
        modifier::BarKind,
        op::{Floats, Waits, WarpOp},
        operand::{Grid, Operand, Reg, Special},
        pass::constants::Constants,
        types::Type,
    },
};

/// Bytes between two register arrays beyond their length.
const SKEW: usize = 64;

/// Where a function's threads wait, and what they spill meanwhile.
pub(super) struct WaitPlan {
    /// Statements at which threads wait or yield, increasing.
    points: Vec<usize>,
    /// Live registers at each, and where they are spilled.
    spills: Vec<Vec<(Reg, usize)>>,
    /// Live registers at each that hold constants.
    made_again: Vec<Vec<Reg>>,
    constants: Constants,
    /// Loops in which threads yield.
    pub(super) spins: Vec<Spin>,
    pub(super) schedule: Schedule,
    spill_bytes: usize,
    /// By state: the start, then one for each point. Filled in while lowering.
    resumes: Vec<ResumePoint>,
    /// How groups pack their registers, by state. Filled in while lowering.
    pub(super) packed: Vec<Packed>,
    /// Whether the function calls others.
    pub(super) calls: bool,
    /// Whether threads count at barriers that do not wait there.
    pub(super) arrives: bool,
    /// How many coordinates of its threads it asks for: x, y and z.
    pub(super) axes: usize,
    /// Whether the processor itself may flush subnormals: all single-precision arithmetic wants it, and there
    /// is no double-precision arithmetic, which never does.
    pub(super) flushes: bool,
}

/// A statement at which threads wait or yield.
pub(super) struct Point {
    /// The state of the threads that wait there.
    pub(super) state: u32,
    /// The registers that are live there, and where they are spilled.
    pub(super) spills: Vec<(Reg, usize)>,
    /// The others, which hold constants.
    pub(super) made_again: Vec<Reg>,
}

impl WaitPlan {
    pub(super) fn new(function: &Function, body: &Body, cfg: &Cfg, liveness: &Liveness) -> Self {
        let is_kernel = function.kind == FunctionKind::Entry;
        let waits = |(at, statement): (usize, &Statement)| match statement {
            Statement::Instruction(i) if is_kernel && resume_kind(i).is_some() => Some(at),
            Statement::Instruction(_) | Statement::Label(_) | Statement::Pragma(_) => None,
        };
        let spins = if is_kernel { spin::spins(body, cfg, liveness) } else { Vec::new() };
        let waiting = body.statements.iter().enumerate().filter_map(waits);
        let mut points: Vec<usize> = waiting.chain(spins.iter().map(|spin| spin.at)).collect();
        points.sort_unstable();
        let constants = Constants::new(body, liveness.at_entry());
        let mut live = flow::live_after(body, cfg, liveness, &points);
        let is_constant = |reg: &mut Reg| constants.of(*reg).is_some();
        let made_again = live.iter_mut().map(|live| live.extract_if(.., is_constant).collect());
        let made_again = made_again.collect();
        let (spills, spill_bytes) = lay_out(body, &live);
        let schedule = if points.is_empty() {
            Schedule::Free
        } else if body.instructions().all(is_plain) {
            Schedule::Block
        } else {
            Schedule::Warp
        };
        let calls = body.instructions().any(|i| matches!(i.op, Op::Call { .. }));
        let resumes = vec![ResumePoint::START; 1 + points.len()];
        Self {
            points,
            spills,
            made_again,
            constants,
            spins,
            schedule,
            spill_bytes,
            packed: vec![Packed::default(); resumes.len()],
            resumes,
            calls,
            arrives: body
                .instructions()
                .any(|i| i.op.facts().waits == Waits::Block(BarKind::Arrive)),
            axes: if calls { 3 } else { axes(body) },
            flushes: is_kernel && flushes_everywhere(body),
        }
    }

    /// The statements at which threads wait or yield, increasing.
    pub(super) fn points(&self) -> &[usize] {
        &self.points
    }

    pub(super) fn waits_at(&self, statement: usize) -> bool {
        self.points.binary_search(&statement).is_ok()
    }

    /// What is known of a statement at which threads wait.
    pub(super) fn point(&self, statement: usize) -> Result<Point, Unsupported<'static>> {
        let index = self.points.binary_search(&statement);
        let index = index.map_err(|_| Unsupported::Part("not a place to wait"))?;
        let (spills, made_again) = (self.spills[index].clone(), self.made_again[index].clone());
        Ok(Point { state: index as u32 + 1, spills, made_again })
    }

    /// The registers that hold constants.
    pub(super) fn constants(&self) -> &Constants {
        &self.constants
    }

    /// Notes where threads in a state go on.
    pub(super) fn resume(&mut self, state: u32, point: ResumePoint) {
        self.resumes[state as usize] = point;
    }

    pub(super) fn into_resumes(self) -> Vec<ResumePoint> {
        self.resumes
    }

    /// How many registers are spilled at the point with the most.
    pub(super) fn most_spills(&self) -> usize {
        self.spills.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// How long the arrays are together to which a block's threads spill.
    pub(super) fn spill_bytes(&self) -> usize {
        self.spill_bytes
    }

    /// Groups spill to arrays of their own, so long.
    pub(super) fn set_spill_bytes(&mut self, bytes: usize) {
        self.spill_bytes = bytes;
    }
}

/// Gives each register that is live at some points an array, the same one at all of them, and says how long the arrays
/// are together. Where a group does not touch a register between two points, it stays where it is.
///
/// Registers that never live at one point share arrays, but only those of the same width: threads of a block may wait
/// at different points, and an entry of a thread must never overlap another thread's entry of an array with another
/// width.
fn lay_out(body: &Body, points: &[Vec<Reg>]) -> (Vec<Vec<(Reg, usize)>>, usize) {
    const WIDTHS: [usize; 3] = [16, 8, 4];
    let width = |reg: Reg| clif_type(body.registers.ty(reg)).bytes().max(4) as usize;
    let mut points_of: BTreeMap<Reg, Vec<usize>> = BTreeMap::new();
    for (point, regs) in points.iter().enumerate() {
        regs.iter().for_each(|reg| points_of.entry(*reg).or_default().push(point));
    }
    let mut spills: Vec<Vec<(Reg, usize)>> = points.iter().map(|_| Vec::new()).collect();
    let mut start = 0;
    for of_width in WIDTHS {
        let array_bytes = of_width * MAX_THREADS + SKEW;
        let mut taken: Vec<Vec<bool>> = vec![Vec::new(); points.len()];
        let mut arrays = 0;
        for (reg, own) in points_of.iter().filter(|(reg, _)| width(**reg) == of_width) {
            let is_taken = |at: usize| own.iter().any(|p| taken[*p].get(at) == Some(&true));
            let array = (0..arrays).find(|at| !is_taken(*at)).unwrap_or(arrays);
            arrays = arrays.max(array + 1);
            for point in own {
                let of_point = &mut taken[*point];
                of_point.resize(of_point.len().max(array + 1), false);
                of_point[array] = true;
                spills[*point].push((*reg, start + array * array_bytes));
            }
        }
        start += arrays * array_bytes;
    }
    (spills, start)
}

/// What a thread waits for at this instruction, if it does.
pub(super) fn resume_kind(i: &Instruction) -> Option<Resume> {
    match i.op.facts().waits {
        Waits::No => None,
        Waits::Block(kind) => {
            let reduce = match kind {
                BarKind::Sync => Reduce::Nothing,
                BarKind::RedPopc => Reduce::Count,
                BarKind::RedAnd => Reduce::All,
                BarKind::RedOr => Reduce::Any,
                BarKind::Arrive => return None,
            };
            Some(Resume::Barrier { reduce })
        }
        Waits::Warp(_) => warp_operation(&i.op).map(Resume::Warp),
    }
}

/// What a thread hands over that waits: sources of its instruction.
pub(super) struct Handed<'a> {
    /// Its value, and the type that it is read as.
    pub(super) value: Option<(&'a Operand, Type)>,
    /// Who takes part: lanes, or a barrier's number.
    mask: Option<&'a Operand>,
    /// The lane operand of a shuffle, the thread count of a barrier.
    pub(super) b: Option<&'a Operand>,
    /// Clamp and segment of a shuffle.
    c: Option<&'a Operand>,
}

impl<'a> Handed<'a> {
    pub(super) fn of(i: &'a Instruction) -> Self {
        let source = |at: usize| i.src.get(at);
        let value = |at, ty| source(at).map(|operand| (operand, ty));
        let nothing = Self { value: None, mask: None, b: None, c: None };
        match resume_kind(i) {
            Some(Resume::Barrier { reduce: Reduce::Nothing }) => {
                Self { mask: source(0), b: source(1), ..nothing }
            }
            Some(Resume::Barrier { reduce: Reduce::Count | Reduce::All | Reduce::Any }) => {
                let last = i.src.len() - 1;
                let count = if last > 1 { source(1) } else { None };
                Self { value: value(last, Type::Pred), mask: source(0), b: count, ..nothing }
            }
            Some(Resume::Warp(op)) => {
                let value = value(0, warp_value(&i.op, op));
                match op {
                    // All of the warp, or whoever is there.
                    WarpOp::Activemask | WarpOp::Matrix(_) => nothing,
                    WarpOp::Sync | WarpOp::Elect => Self { mask: source(0), ..nothing },
                    WarpOp::Vote(_) | WarpOp::Redux(..) | WarpOp::Match { .. } => {
                        Self { value, mask: source(1), ..nothing }
                    }
                    WarpOp::Shfl(_) => Self { value, mask: source(3), b: source(1), c: source(2) },
                }
            }
            Some(Resume::Start | Resume::Yield { .. }) | None => nothing,
        }
    }

    /// All but the value, with their places in [`Exchange`].
    pub(super) fn settings(&self) -> impl Iterator<Item = (&'a Operand, usize)> {
        let places = [offset_of!(Exchange, mask), offset_of!(Exchange, b), offset_of!(Exchange, c)];
        let settings = [self.mask, self.b, self.c].into_iter().zip(places);
        settings.filter_map(|(operand, place)| Some((operand?, place)))
    }

    /// What of them is a number.
    pub(super) fn fixed(&self, constants: &Constants) -> Fixed {
        let number = |operand: Option<&Operand>, missing: u32| match operand {
            Some(operand) => constants.word(operand),
            None => Some(missing),
        };
        Fixed { mask: number(self.mask, u32::MAX), b: number(self.b, 0), c: number(self.c, 0) }
    }
}

/// How many of `%tid.x`, `.y` and `.z`, in this order, the body reads.
fn axes(body: &Body) -> usize {
    let needed = |operand: &Operand| {
        let Operand::Special(special) = operand else { return 0 };
        match special {
            Special::Axis(Grid::Tid, axis) => *axis as usize + 1,
            Special::Whole(Grid::Tid) => 3,
            Special::Axis(..) | Special::Whole(_) => 0,
            Special::Scalar(_) | Special::Envreg(_) | Special::Pm(..) => 0,
        }
    };
    let operands = body.instructions().flat_map(|i| i.src.iter().flat_map(Operand::lanes));
    operands.map(needed).max().unwrap_or(0).min(3)
}

/// Whether all arithmetic on floats is single precision with `.ftz`, as in a module compiled for fast math: its
/// conversions to whole numbers mostly have none, and do not need it.
fn flushes_everywhere(body: &Body) -> bool {
    let uses: Vec<Flush> = body.instructions().map(|i| flush(&i.op)).collect();
    cfg!(target_arch = "x86_64") && uses.contains(&Flush::Wanted) && !uses.contains(&Flush::Wrong)
}

/// What an instruction says to a processor that flushes subnormals.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flush {
    /// It is to flush.
    Wanted,
    /// It makes no difference.
    Same,
    /// Its result would be wrong, or may be.
    Wrong,
}

fn flush(op: &Op) -> Flush {
    match op.facts().floats {
        Floats::None => Flush::Same,
        Floats::Of { ty: Type::F32, ftz: true } => Flush::Wanted,
        Floats::Of { .. } | Floats::Any => Flush::Wrong,
    }
}

/// Whether it is no barrier or warp operation, or the common barrier of all threads.
fn is_plain(i: &Instruction) -> bool {
    if let Op::Bar { kind, aligned: _ } = i.op {
        return kind == BarKind::Sync && matches!(i.src[..], [Operand::Int(0)]);
    }
    resume_kind(i).is_none()
}
