//! Which checks are worth asking about: launches that are tried when a kernel is guarded.

use std::collections::HashMap;

use super::checked::CheckedGroup;
use super::ranges::Ranges;
use super::values::Values;
use super::{Launch, Proof, Version, are_short, are_within, is_in_surface};
use crate::ptx::ast::{Body, Function, Module};
use crate::ptx::cfg::{BlockId, Cfg};
use crate::ptx::pass::guard::group::{Bounds, Group};
use crate::ptx::pass::guard::surface::SurfaceAccess;
use crate::ptx::pass::guard::words::Find;
use crate::ptx::pass::origin::{Origins, Source};

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
pub(in crate::ptx::pass::guard) fn promising(
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
