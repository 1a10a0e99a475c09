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

mod checked;
mod conditions;
mod exponent;
pub(super) mod index;
mod known;
mod promising;
mod range;
mod ranges;
mod reals;
mod remainders;
mod rounds;
mod transfer;
mod values;

use std::collections::HashMap;

use super::group::Group;
use super::surface::SurfaceAccess;
use super::words::{Find, Word, pointer_at};
use crate::ptx::ast::Module;
use crate::ptx::cfg::{BlockId, Cfg};
use crate::ptx::operand::{Axis, Grid, Operand, Scalar, Special};
use crate::ptx::pass::origin::Origins;
use checked::CheckedGroup;
pub(super) use promising::promising;
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
