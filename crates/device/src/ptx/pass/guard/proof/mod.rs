//! Accesses that need no check in launches of which the host knows enough.
//!
//! Enters: a kernel, and what the host knows of a launch. Leaves: whether an access stays within its memory in that
//! launch. Must not know: `device`, `ptx::pass::guard::weave`, `ptx::pass::guard::weaver`, `ptx::pass::guard::code`.
//!
//! Most kernels compute where they read and write from the thread's index, sizes, and constants. At a launch the host
//! knows the grid, the block, and all arguments, and with them between which addresses such an access lies (`ranges`):
//! it follows the arithmetic, with the comparisons that the way to the access depends on (`conditions`) and the number
//! of rounds of its loops (`rounds`). Where all these addresses lie in the access' memory, none of them needs a check.
//!
//! In the same way it finds loops that end soon (`rounds`), which then need not look at the flag; and it sees whether
//! an index that is right in one buffer is so in another one, which then needs no comparison of its own
//! (`Version::cover`).
//!
//! So a kernel has further versions beside that with all checks, each without those of a [`Proof`]. Which accesses
//! are worth asking about is tried when it is guarded (`promising`); what is right or wrong does not depend on that.

mod conditions;
mod exponent;
pub(super) mod index;
mod known;
mod range;
mod ranges;
mod reals;
mod remainders;
mod rounds;
mod transfer;
mod values;

use std::{cell::Cell, collections::HashMap};

use super::extent::Size;
use super::group::{Bounds, Group, Root};
use super::surface::SurfaceAccess;
use super::words::{Find, Word, pointer_at};
use crate::ptx::ast::{Body, Function, Module};
use crate::ptx::cfg::{BlockId, Cfg};
use crate::ptx::inst::Guard;
use crate::ptx::operand::{Axis, Grid, Operand, Scalar, Special};
use crate::ptx::pass::origin::{Origins, Source};
use range::Range;
use ranges::Ranges;
use values::Values;

/// What a host knows of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// Blocks along each axis.
    pub grid: [u32; 3],
    /// Threads of a block along each axis.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// The packed arguments, without the guard's words.
    pub arguments: &'a [u8],
}

impl Launch<'_> {
    /// The values of a special register; none where they are not known.
    fn special(&self, special: Special) -> Option<Range> {
        let at = |axis| match axis {
            Axis::X => Some(0),
            Axis::Y => Some(1),
            Axis::Z => Some(2),
            Axis::W => None,
        };
        let below = |count: u32| Range::new(0, i128::from(count.max(1)) - 1);
        match special {
            Special::Axis(Grid::Tid, axis) => Some(below(self.block[at(axis)?])),
            Special::Axis(Grid::Ntid, axis) => Some(Range::of(self.block[at(axis)?].into())),
            Special::Axis(Grid::Ctaid, axis) => Some(below(self.grid[at(axis)?])),
            Special::Axis(Grid::Nctaid, axis) => Some(Range::of(self.grid[at(axis)?].into())),
            Special::Axis(..) | Special::Whole(_) | Special::Envreg(_) | Special::Pm(..) => None,
            Special::Scalar(Scalar::Laneid) => Some(below(32)),
            Special::Scalar(Scalar::WarpSize) => Some(Range::of(32)),
            Special::Scalar(Scalar::DynamicSmemSize) => Some(Range::of(self.shared_bytes.into())),
            Special::Scalar(_) => None,
        }
    }
}

/// Accesses of a kernel that are checked together.
#[derive(Clone, Debug)]
struct CheckedGroup {
    /// The statement before which they are checked.
    at: usize,
    root: Root,
    guard: Option<Guard>,
    /// The first byte and that behind the last one, from the root on.
    low: i64,
    high: i64,
    /// A variable, or pointers of which it may come from each.
    sources: Vec<Source>,
    align: u32,
}

impl CheckedGroup {
    fn of(group: &Group) -> Option<Self> {
        let Bounds::Sources { sources, .. } = &group.bounds else { return None };
        let is_pointer = |source: &Source| matches!(source, Source::Argument(_));
        if !sources.iter().all(is_pointer) && !matches!(sources.as_slice(), [Source::Symbol(_)]) {
            return None;
        }
        let wanted = group.tested_align == 1 && group.covered_by.is_none();
        wanted.then(|| Self {
            at: group.first(),
            root: group.root,
            guard: group.guard,
            low: group.low,
            high: group.high,
            sources: sources.clone(),
            align: group.align,
        })
    }

    /// How far it reaches in its memory, at the most; none where it may leave that. `find` gives address and length of
    /// the allocation that a pointer points into.
    fn reach(
        &self,
        ranges: &mut Ranges<'_>,
        find: &mut dyn FnMut(u64) -> Option<(u64, u64)>,
    ) -> Option<i128> {
        let memory: Option<Vec<(u64, u64)>> =
            self.sources.iter().map(|source| self.memory(*source, ranges, find)).collect();
        let memory = memory?;
        let reach = Cell::new(0);
        let fits = |root: Range| {
            let (low, high) = (root.low + i128::from(self.low), root.high + i128::from(self.high));
            let inside = memory.iter().find(|(start, bytes)| {
                let end = i128::from(*start) + i128::from(*bytes);
                low >= i128::from(*start) && high <= end
            });
            if let Some((start, _)) = inside {
                reach.set(reach.get().max(high - i128::from(*start)));
            }
            inside.is_some()
        };
        let fits = match (self.root, self.sources.first()) {
            (Root::Symbol(_), _) => fits(Range::of(0)),
            (Root::Reg(reg), Some(Source::Symbol(_))) => {
                let bits = ranges.bits(reg);
                let fits = |range: Range| fits(range.signed(bits));
                ranges.is_of_one(reg) && ranges.is_before(self.at, reg, self.guard, fits)
            }
            (Root::Reg(reg), Some(Source::Argument(_) | Source::Null) | None) => {
                let bits = ranges.bits(reg);
                let fits = |range: Range| fits(range.unsigned(bits));
                ranges.is_before(self.at, reg, self.guard, fits)
            }
        };
        fits.then(|| reach.get())
    }

    /// Where the memory of a source begins, and its bytes; of a variable from its own address on.
    fn memory(
        &self,
        source: Source,
        ranges: &mut Ranges<'_>,
        find: &mut dyn FnMut(u64) -> Option<(u64, u64)>,
    ) -> Option<(u64, u64)> {
        match source {
            Source::Null => None,
            Source::Argument(argument) => {
                let at = argument as usize;
                let pointer = ranges.argument(at..at + 8).map_or(0, |word| pointer_at(word, 0));
                let aligned = pointer.is_multiple_of(self.align.max(1).into());
                find(pointer).filter(|_| aligned)
            }
            Source::Symbol(symbol) => match ranges.known.origins.size(symbol)? {
                Size::Bytes(bytes) => Some((0, bytes)),
                Size::Dynamic => Some((0, ranges.known.launch.shared_bytes.into())),
            },
        }
    }
}

/// Accesses of a kernel without which it has a second version.
#[derive(Clone, Debug, Default)]
pub struct Proof {
    accesses: Vec<CheckedGroup>,
    /// Accesses to surfaces.
    surfaces: Vec<SurfaceAccess>,
    /// Words of indices, of which all that are right by the first one have to be right by the second one.
    within: Vec<(Word, Word)>,
    /// The heads of loops that do not look at the flag, for they do not go round often.
    loops: Vec<BlockId>,
}

/// Most rounds of loops that do not look at the flag, of those within one another together.
const MOST_ROUNDS: i128 = 16_384;

impl Proof {
    /// How many comparisons the second version does without.
    pub fn len(&self) -> usize {
        self.accesses.len()
    }

    /// Whether there is nothing to prove: then there is no second version.
    pub fn is_empty(&self) -> bool {
        let others = self.loops.is_empty() && self.within.is_empty() && self.surfaces.is_empty();
        self.accesses.is_empty() && others
    }

    /// The loops that do not look at the flag, by the blocks that they begin with.
    pub(super) fn loops(&self) -> &[BlockId] {
        &self.loops
    }

    /// Whether in a launch of the kernel none of them leaves its memory, and which bytes of the arguments that depends
    /// on. `module` is the one that was guarded, `kernel` the kernel in it, `find` gives address and
    /// length of the allocation that a pointer points into.
    pub fn holds(
        &self,
        module: &Module,
        kernel: &str,
        launch: &Launch<'_>,
        find: &mut dyn Find,
    ) -> (bool, Vec<(usize, usize)>) {
        let Some(function) = module.function(kernel) else { return (false, Vec::new()) };
        let Some(body) = &function.body else { return (false, Vec::new()) };
        let (cfg, origins) = (Cfg::new(body), Origins::new(module, function, body));
        let values = Values::new(function, body, &cfg);
        let mut ranges = Ranges::new(&values, &origins, launch);
        let inside = self.surfaces.iter().all(|access| is_in_surface(&mut ranges, access, find));
        let mut memory = |pointer| find.memory(pointer);
        let holds = inside
            && are_within(&mut ranges, &self.within, &mut memory)
            && are_short(&mut ranges, &self.loops)
            && self.accesses.iter().all(|access| access.reach(&mut ranges, &mut memory).is_some());
        drop(ranges);
        (holds, values.read.into_inner().into_iter().collect())
    }
}

/// Whether an access never leaves its surface.
fn is_in_surface(ranges: &mut Ranges<'_>, access: &SurfaceAccess, find: &mut dyn Find) -> bool {
    let place = access.argument as usize..access.argument as usize + 8;
    let handle = ranges.argument(place).map_or(0, |word| pointer_at(word, 0));
    if find.surface(handle).is_none() {
        return false;
    }
    let limits = access.word().found(handle, find);
    let slices = access.slices().map(|(z, word)| (z, word.found(handle, find)));
    let mut below = |operand: &Operand, limit: u64| {
        let fits = |range: Range| range.low >= 0 && range.high < i128::from(limit);
        match operand {
            Operand::Int(value) => fits(Range::of((*value).into())),
            Operand::Reg(reg) => {
                let fits = |range: Range| fits(range.unsigned(32));
                ranges.is_before(access.statement, *reg, access.guard, fits)
            }
            // No coordinate is one of these.
            Operand::Not(_) | Operand::F32(_) | Operand::F64(_) | Operand::Symbol(..) => false,
            Operand::Special(_) | Operand::Address(_) | Operand::Vector(_) => false,
            Operand::Bracket(_) | Operand::Label(_) | Operand::Table(_) | Operand::Sink => false,
        }
    };
    access.is_aligned
        && below(&access.x, limits & u64::from(u32::MAX))
        && below(&access.y, limits >> 32)
        && slices.is_none_or(|(z, slices)| below(z, slices))
}

/// Whether indices that are right by the first word are right by the second one.
fn are_within(
    ranges: &mut Ranges<'_>,
    within: &[(Word, Word)],
    find: &mut dyn FnMut(u64) -> Option<(u64, u64)>,
) -> bool {
    let mut memory = |argument: u32| {
        let place = argument as usize..argument as usize + 8;
        let pointer = ranges.argument(place).map_or(0, |word| pointer_at(word, 0));
        let (start, bytes) = find(pointer).unwrap_or((0, 0));
        (pointer, start, bytes)
    };
    within.iter().all(|(inner, outer)| inner.is_within(*outer, &mut memory))
}

/// Whether loops end soon, also where they are within one another.
fn are_short(ranges: &mut Ranges<'_>, loops: &[BlockId]) -> bool {
    let cfg = ranges.known.values.cfg;
    let rounds: Option<Vec<(BlockId, i128)>> =
        loops.iter().map(|head| Some((*head, ranges.rounds_of(*head)?.max(1)))).collect();
    let Some(rounds) = rounds else { return false };
    loops.iter().all(|inner| {
        let around = rounds.iter().filter(|(head, _)| cfg.loop_blocks(*head).contains(inner));
        let all = around.into_iter().try_fold(1_i128, |all, (_, rounds)| all.checked_mul(*rounds));
        all.is_some_and(|all| all <= MOST_ROUNDS)
    })
}

/// The sizes of blocks that are tried.
const BLOCKS: [[u32; 3]; 7] =
    [[256, 1, 1], [32, 8, 1], [16, 16, 1], [64, 1, 1], [1024, 1, 1], [8, 8, 4], [32, 1, 1]];
/// What integers are tried for arguments.
const NUMBERS: [u32; 3] = [64, 1, 1024];
/// The bytes that are tried for allocations.
const BYTES: u64 = 1 << 31;

/// Which groups of a plan are worth asking about: those that stay in large memory in a launch that was tried. Where a
/// few of them reach a little further than the others, and so may not stay in memory that is just large enough, those
/// others come second.
pub(super) fn promising(
    module: &Module,
    function: &Function,
    body: &Body,
    cfg: &Cfg,
    groups: &[Group],
    surfaces: &[SurfaceAccess],
    polls: &[BlockId],
) -> Vec<Version> {
    let origins = Origins::new(module, function, body);
    let values = Values::new(function, body, cfg);
    let asked =
        groups.iter().enumerate().filter_map(|(at, group)| Some((at, CheckedGroup::of(group)?)));
    let asked: Vec<(usize, CheckedGroup)> = asked.collect();
    let most = function.max_threads().unwrap_or(1024);
    let (mut best, mut loops): (Vec<Tried>, Vec<BlockId>) = (Vec::new(), Vec::new());
    let mut flat: Vec<SurfaceAccess> = Vec::new();
    let looks = cfg.back_edges.iter().filter(|(from, _)| polls.contains(from));
    let mut looking: Vec<BlockId> = looks.map(|(_, to)| *to).collect();
    looking.sort_unstable();
    looking.dedup();
    for number in NUMBERS {
        // Where nothing but pointers is asked for, one number is as good as another.
        if number != NUMBERS[0] && asks_for_pointers_alone(&values, groups) {
            break;
        }
        for block in BLOCKS {
            let all = best.len() == asked.len()
                && loops.len() == looking.len()
                && flat.len() == surfaces.len();
            if block.iter().product::<u32>() > most || all {
                continue;
            }
            let arguments = tried(&origins, groups, number);
            let (grid, shared_bytes) = ([16, 4, 1], 48 << 10);
            let launch = Launch { grid, block, shared_bytes, arguments: &arguments };
            let mut ranges = Ranges::new(&values, &origins, &launch);
            let mut find = |pointer| Some((pointer, BYTES));
            let inside = asked.iter().filter_map(|(group, access)| {
                let reach = access.reach(&mut ranges, &mut find)?;
                Some(Tried { group: *group, access: access.clone(), reach })
            });
            let inside: Vec<Tried> = inside.collect();
            // All have to hold in one launch. Those named first are likelier.
            if inside.len() > best.len() + best.len() / 8 {
                best = inside;
            }
            let surfaces = surfaces.iter();
            let there: Vec<SurfaceAccess> = surfaces
                .filter(|access| is_in_surface(&mut ranges, access, &mut TriedSurface))
                .cloned()
                .collect();
            if there.len() > flat.len() {
                flat = there;
            }
            let mut short: Vec<BlockId> = Vec::new();
            for head in &looking {
                short.push(*head);
                if !are_short(&mut ranges, &short) {
                    short.pop();
                }
            }
            if short.len() > loops.len() {
                loops = short;
            }
        }
    }
    let version = |tried: &[Tried]| {
        let accesses = tried.iter().map(|tried| tried.access.clone()).collect();
        let without = tried.iter().map(|tried| tried.group).collect();
        let proof = Proof { accesses, surfaces: flat.clone(), ..Proof::default() };
        let inside = flat.iter().map(|access| access.statement).collect();
        Version { proof, without, covered: HashMap::new(), inside }
    };
    let shorter: Vec<Tried> = best.iter().filter(|one| !one.overshoots(&best)).cloned().collect();
    let mut first = version(&best);
    first.cover(&values, groups, |within| {
        let arguments = tried(&origins, groups, NUMBERS[0]);
        let launch = Launch { grid: [1; 3], block: [1; 3], shared_bytes: 0, arguments: &arguments };
        let mut ranges = Ranges::new(&values, &origins, &launch);
        are_within(&mut ranges, &[within], &mut |pointer| Some((pointer, BYTES)))
    });
    first.proof.loops = loops;
    let differs = shorter.len() < best.len()
        || !(first.proof.loops.is_empty() && first.proof.within.is_empty());
    let second = differs.then(|| version(&shorter));
    let all = [Some(first), second].into_iter().flatten();
    all.filter(|version| !version.proof.is_empty()).collect()
}

/// The surfaces that are tried.
struct TriedSurface;

impl Find for TriedSurface {
    fn memory(&mut self, _: u64) -> Option<(u64, u64)> {
        None
    }

    fn surface(&mut self, _: u64) -> Option<[u32; 3]> {
        Some([1 << 20, 1 << 16, 1 << 11])
    }
}

/// A version of a kernel with fewer checks.
#[derive(Default)]
pub(super) struct Version {
    pub(super) proof: Proof,
    /// The groups that are not checked.
    pub(super) without: Vec<usize>,
    /// The accesses to surfaces that are not checked, by their statements.
    pub(super) inside: Vec<usize>,
    /// Those that are right where others are, which are checked before, of the same index.
    pub(super) covered: HashMap<usize, usize>,
}

impl Version {
    /// Finds groups that are right where others are, if those have no more indices that are right than they.
    fn cover(
        &mut self,
        values: &Values<'_>,
        groups: &[Group],
        mut holds: impl FnMut((Word, Word)) -> bool,
    ) {
        let index = |group: &Group| {
            let index = group.index.filter(|_| group.is_plain())?;
            Some((values.before(group.first(), index.reg), index.signed))
        };
        let is_behind = |first: &Group, then: &Group| {
            let [first, then] = [first, then].map(|group| group.first());
            let [block, other] = [first, then].map(|at| values.block(at));
            if block == other { first < then } else { values.dominates(block, other) }
        };
        let checked = |at: usize, group: &Group, version: &Self| {
            group.covered_by.is_none()
                && !version.without.contains(&at)
                && !version.covered.contains_key(&at)
        };
        for (at, group) in groups.iter().enumerate() {
            let (Some(own), Some(outer)) = (index(group), group.indices()) else { continue };
            if !checked(at, group, self) {
                continue;
            }
            let by = groups.iter().enumerate().find_map(|(by, other)| {
                let inner = other.indices()?;
                // What comes first need not stand first in the text, but is to be put in first.
                let fits = by < at
                    && checked(by, other, self)
                    && index(other) == Some(own)
                    && is_behind(other, group)
                    && holds((inner, outer));
                fits.then_some((by, (inner, outer)))
            });
            if let Some((by, within)) = by {
                self.covered.insert(at, by);
                self.proof.within.push(within);
            }
        }
    }
}

/// Whether no bytes of the arguments were looked at but those of pointers.
fn asks_for_pointers_alone(values: &Values<'_>, groups: &[Group]) -> bool {
    let is_pointer = |place: &(usize, usize)| {
        groups.iter().any(|group| match &group.bounds {
            Bounds::Sources { sources, .. } => sources.iter().any(|source| match source {
                Source::Argument(at) => *place == (*at as usize, *at as usize + 8),
                Source::Symbol(_) | Source::Null => false,
            }),
            Bounds::Search { .. } | Bounds::Shared => false,
        })
    };
    values.read.borrow().iter().all(is_pointer)
}

/// An access that stayed in its memory when a launch was tried.
#[derive(Clone)]
struct Tried {
    group: usize,
    access: CheckedGroup,
    /// How many bytes of its memory it needs.
    reach: i128,
}

impl Tried {
    /// Whether it is one of the few that reach a little further than all others of the same pointer.
    fn overshoots(&self, all: &[Self]) -> bool {
        if !matches!(self.access.sources.as_slice(), [Source::Argument(_), ..]) {
            return false;
        }
        let same = all.iter().filter(|other| other.access.sources == self.access.sources);
        let mut reaches: Vec<i128> = same.map(|other| other.reach).collect();
        reaches.sort_unstable_by_key(|reach| std::cmp::Reverse(*reach));
        let (mut few, most) = (0, (reaches.len() / 8).max(1));
        while let Some(reach) = reaches.get(few).copied() {
            let further = reaches.iter().take_while(|other| **other >= reach).count();
            let is_near = reaches.get(further).is_some_and(|next| reach - next <= reach / 64);
            if further > most || !is_near {
                break;
            }
            few = further;
        }
        few > 0 && self.reach >= reaches[few - 1]
    }
}

/// Arguments that are tried: pointers where the plan has such, and a number everywhere else.
fn tried(origins: &Origins<'_>, groups: &[Group], number: u32) -> Vec<u8> {
    let params = &origins.function().params;
    let ends = (0..params.len()).filter_map(|at| {
        let start = origins.argument_offset(at as u32)?;
        Some(start as usize + params[at].bytes() as usize)
    });
    let mut arguments = number.to_le_bytes().repeat(ends.max().unwrap_or(0).div_ceil(4));
    // Numbers of 64 bits are as small.
    for (at, param) in params.iter().enumerate() {
        let start = origins.argument_offset(at as u32).map(|start| start as usize + 4);
        if param.ty.bits() == 64 && param.count.is_none() {
            let high = start.and_then(|start| arguments.get_mut(start..start + 4));
            high.into_iter().for_each(|high| high.fill(0));
        }
    }
    for group in groups {
        let Bounds::Sources { sources, .. } = &group.bounds else { continue };
        for source in sources {
            let Source::Argument(place) = source else { continue };
            let pointer = (u64::from(*place) + 1) << 36;
            let word = arguments.get_mut(*place as usize..*place as usize + 8);
            word.into_iter().for_each(|word| word.copy_from_slice(&pointer.to_le_bytes()));
        }
    }
    arguments
}
