//! Which accesses of a function need a check, and which of them can have one together.

use std::collections::HashMap;

use super::Counts;
use super::extent::Size;
use super::group::{Bounds, Group, Member, Root};
use crate::ptx::ast::{Body, Statement};
use crate::ptx::cfg::{BlockId, Cfg};
use crate::ptx::inst::{Guard, Instruction};
use crate::ptx::op::{Integer, Semantics, Waits};
use crate::ptx::operand::{Base, Operand, Reg};
use crate::ptx::pass::access::{MemoryAccess, accesses};
use crate::ptx::pass::origin::{Origin, Origins, Source};
use crate::ptx::types::Space;

/// What is to be checked in a function.
pub(super) struct Plan {
    /// In the order of the text.
    pub(super) groups: Vec<Group>,
    pub(super) counts: Counts,
}

/// Finds all groups of a body.
///
/// # Errors
/// Why it cannot be guarded.
pub(super) fn plan(body: &Body, cfg: &Cfg, origins: &Origins<'_>) -> Result<Plan, String> {
    let mut planner = Planner {
        body,
        origins,
        written: times_written(body, origins),
        steps: HashMap::new(),
        groups: Vec::new(),
        counts: Counts::default(),
    };
    planner.find_steps();
    let mut blocks = Vec::new();
    for id in cfg.ids() {
        let first = planner.groups.len();
        planner.block(cfg, id)?;
        blocks.push(first..planner.groups.len());
    }
    planner.cover(cfg, &blocks);
    let checked = planner.groups.iter().filter(|group| group.covered_by.is_none()).count();
    planner.counts.checked = checked as u32;
    planner.counts.proved =
        planner.counts.accesses.saturating_sub(planner.counts.unchecked + planner.counts.checked);
    Ok(Plan { groups: planner.groups, counts: planner.counts })
}

/// How many instructions write each register.
fn times_written(body: &Body, origins: &Origins<'_>) -> Vec<u32> {
    let mut times = vec![0_u32; body.registers.len()];
    for i in body.instructions() {
        i.for_each_def(|reg| times[reg.0 as usize] += 1);
    }
    // Those that the caller writes.
    for reg in origins.function().params.iter().filter_map(|param| param.reg) {
        times[reg.0 as usize] += 1;
    }
    times
}

/// What the result of an instruction is a constant away from.
fn step(i: &Instruction) -> Option<(Root, i64)> {
    match (Semantics::of(&i.op)?, i.src.first()?) {
        (Semantics::Move(_), Operand::Symbol(symbol, offset)) => {
            Some((Root::Symbol(*symbol), *offset))
        }
        (Semantics::Move(_) | Semantics::Address { .. }, from) => Some((Root::Reg(from.reg()?), 0)),
        (Semantics::Integer(Integer::Sum, _), from) => {
            let Operand::Int(by) = i.src.get(1)? else { return None };
            Some((Root::Reg(from.reg()?), *by))
        }
        (Semantics::Integer(..) | Semantics::Convert(_) | Semantics::Choice(_), _) => None,
        (Semantics::Load(_) | Semantics::Real(_) | Semantics::Predicate(_), _) => None,
    }
}

struct Planner<'a> {
    body: &'a Body,
    origins: &'a Origins<'a>,
    written: Vec<u32>,
    /// Registers that are another one's value, or a symbol's address, plus a constant.
    steps: HashMap<Reg, (Root, i64)>,
    groups: Vec<Group>,
    counts: Counts,
}

impl Planner<'_> {
    fn is_written_once(&self, reg: Reg) -> bool {
        self.written.get(reg.0 as usize) == Some(&1)
    }

    fn find_steps(&mut self) {
        for i in self.body.instructions() {
            let Some(to) = i.dst.first().and_then(Operand::reg) else { continue };
            if i.guard.is_some() || i.dst.len() != 1 || !self.is_written_once(to) {
                continue;
            }
            match step(i) {
                Some((Root::Reg(from), _)) if !self.is_written_once(from) => {}
                Some(step) => _ = self.steps.insert(to, step),
                None => {}
            }
        }
    }

    /// What an address is a constant away from: the furthest that is known, but an address of the same space.
    fn root(&self, base: Base) -> Option<(Root, i64)> {
        let (mut root, mut offset) = match base {
            Base::Reg(reg) => (Root::Reg(reg), 0_i64),
            Base::Symbol(symbol) => (Root::Symbol(symbol), 0),
            Base::Absolute => return None,
        };
        let mut steps = 0;
        while let Root::Reg(reg) = root
            && let Some((next, by)) = self.steps.get(&reg)
            && steps < 64
        {
            let is_symbol = matches!(next, Root::Symbol(_));
            let same = |next: Reg| self.origins.of(next).origin == self.origins.of(reg).origin;
            match next {
                Root::Reg(next) if !same(*next) && !self.leads_to_symbol(*next) => break,
                Root::Reg(_) | Root::Symbol(_) => {}
            }
            (root, offset) = (*next, offset.checked_add(*by)?);
            steps += 1;
            if is_symbol {
                break;
            }
        }
        Some((root, offset))
    }

    fn leads_to_symbol(&self, mut reg: Reg) -> bool {
        for _ in 0..64 {
            match self.steps.get(&reg) {
                Some((Root::Symbol(_), _)) => return true,
                Some((Root::Reg(next), _)) => reg = *next,
                None => return false,
            }
        }
        false
    }

    fn block(&mut self, cfg: &Cfg, id: BlockId) -> Result<(), String> {
        let first = self.groups.len();
        let (mut versions, mut waits) = (HashMap::new(), 0);
        for (at, i) in cfg.instructions(self.body, id) {
            waits += u32::from(waits_for_block(i));
            for access in accesses(i)? {
                self.access(at, i, access, (&versions, waits), first)?;
            }
            i.for_each_def(|reg| *versions.entry(reg).or_default() += 1);
        }
        for group in &mut self.groups[first..] {
            let [_, _, waits] = group.version;
            group.stays = group.version == versions_of(group.root, group.guard, (&versions, waits));
        }
        Ok(())
    }

    fn access(
        &mut self,
        at: usize,
        i: &Instruction,
        access: MemoryAccess,
        versions: (&HashMap<Reg, u32>, u32),
        first: usize,
    ) -> Result<(), String> {
        let Some(address) = i.src.get(access.source).and_then(Operand::address) else {
            return Err(i.op.mnemonic());
        };
        let space = access.space.map(Space::kind);
        if access.space == Some(Space::SharedCluster) {
            return Err(i.op.mnemonic());
        }
        if space == Some(Space::Param) && !matches!(address.base, Base::Reg(_)) {
            return Ok(());
        }
        self.counts.accesses += 1;
        let Some((root, from_root)) = self.root(address.base) else {
            return Err(format!("{} at a constant address", i.op.mnemonic()));
        };
        let Some(offset) = from_root.checked_add(address.offset) else {
            return Err(format!("{} far from its base", i.op.mnemonic()));
        };
        let Some(bounds) = self.bounds(root, space) else {
            self.counts.unchecked += 1;
            return Ok(());
        };
        if self.is_inside(&bounds, root, offset, access) {
            return Ok(());
        }
        let (align, tested_align) = self.alignment(&bounds, root, offset, access.align);
        let group = Group {
            root,
            version: versions_of(root, i.guard, versions),
            guard: i.guard,
            when: access.when,
            space,
            bounds,
            low: offset,
            high: offset.saturating_add(i64::from(access.bytes)),
            align,
            tested_align,
            members: vec![Member {
                statement: at,
                offset,
                bytes: access.bytes,
                align: access.align,
                action: access.action,
            }],
            covered_by: None,
            stays: true,
            index: None,
        };
        match self.groups[first..].iter_mut().find(|known| known.takes(&group)) {
            Some(known) => {
                known.low = known.low.min(group.low);
                known.high = known.high.max(group.high);
                known.align = known.align.max(group.align);
                known.members.extend(group.members);
            }
            None => self.groups.push(group),
        }
        Ok(())
    }

    /// What an access of `space` at `root` is compared with; none where nothing is known to compare it with.
    fn bounds(&self, root: Root, space: Option<Space>) -> Option<Bounds> {
        let origin = match root {
            Root::Reg(reg) => self.origins.of(reg).origin,
            Root::Symbol(symbol) => {
                let sources = [Source::Symbol(symbol)].into();
                Origin::Pointer { sources, generic: false, certain: true }
            }
        };
        if let Origin::Pointer { sources, generic, .. } = origin
            && sources.iter().all(|source| self.fits(*source, generic, root, space))
            && sources.iter().any(|source| *source != Source::Null)
        {
            let sources: Vec<Source> = sources.into_iter().collect();
            return Some(Bounds::Sources { sources, generic: space.is_none() });
        }
        match space {
            Some(Space::Global) => Some(Bounds::Search { generic: false }),
            None => Some(Bounds::Search { generic: true }),
            Some(Space::Shared) => Some(Bounds::Shared),
            Some(Space::Local | Space::Const | Space::Param) => None,
            Some(Space::Reg | Space::Sreg | Space::Tex) => None,
            Some(Space::ParamEntry | Space::ParamFunc) => None,
            Some(Space::SharedCta | Space::SharedCluster) => None,
        }
    }

    /// Whether an address of `source` can be one of `space`, and the source's size is known.
    fn fits(&self, source: Source, generic: bool, root: Root, space: Option<Space>) -> bool {
        match source {
            Source::Null => true,
            Source::Argument(_) => matches!(space, None | Some(Space::Global)),
            Source::Symbol(symbol) => {
                let Some(own) = self.origins.space(symbol) else { return false };
                let form = match space {
                    _ if matches!(root, Root::Symbol(_)) => true,
                    None => generic || own == Space::Global,
                    Some(space) => own == space && (!generic || own == Space::Global),
                };
                form && self.origins.size(symbol).is_some()
            }
        }
    }

    /// Whether the access is known to lie inside.
    fn is_inside(&self, bounds: &Bounds, root: Root, offset: i64, access: MemoryAccess) -> bool {
        let (Root::Symbol(symbol), Bounds::Sources { .. }) = (root, bounds) else { return false };
        let Some(Size::Bytes(bytes)) = self.origins.size(symbol) else { return false };
        let end = i128::from(offset) + i128::from(access.bytes);
        let aligned = offset.rem_euclid(i64::from(access.align.max(1))) == 0
            && self.origins.alignment(symbol).is_multiple_of(access.align.max(1));
        offset >= 0 && end <= i128::from(bytes) && aligned
    }

    /// What the source has to be a multiple of, and what has to be tested of the address.
    fn alignment(&self, bounds: &Bounds, root: Root, offset: i64, align: u32) -> (u32, u32) {
        let align = align.max(1);
        if align == 1 {
            return (1, 1);
        }
        let zeros = match root {
            Root::Reg(reg) => self.origins.of(reg).zeros,
            Root::Symbol(_) => 64,
        };
        let zeros = zeros.min(offset.trailing_zeros());
        let known = align.is_power_of_two() && zeros >= align.trailing_zeros();
        let sources = match bounds {
            Bounds::Sources { sources, .. } => sources.as_slice(),
            Bounds::Search { .. } | Bounds::Shared => return (1, align),
        };
        let fine = |source: &Source| match source {
            Source::Argument(_) | Source::Null => true,
            Source::Symbol(symbol) => self.origins.alignment(*symbol).is_multiple_of(align),
        };
        if known && sources.iter().all(fine) { (align, 1) } else { (1, align) }
    }

    /// Finds groups that need no check of their own, for one of a block that always runs before is for as much.
    fn cover(&mut self, cfg: &Cfg, blocks: &[std::ops::Range<usize>]) {
        let above = cfg.dominators();
        for id in cfg.ids() {
            for at in blocks[id.index()].clone() {
                let once = match self.groups[at].root {
                    Root::Reg(reg) => self.is_written_once(reg),
                    Root::Symbol(_) => true,
                };
                if !once {
                    continue;
                }
                let mut before = above[id.index()];
                while let Some(block) = before {
                    // What comes first need not stand first in the text, but is to be put in first.
                    let mut there = blocks[block.index()].clone().filter(|other| *other < at);
                    let found = there.find(|other| self.groups[*other].covers(&self.groups[at]));
                    if let Some(found) = found {
                        let found = self.groups[found].covered_by.unwrap_or(found);
                        self.groups[at].covered_by = Some(found);
                        break;
                    }
                    before = above[block.index()];
                }
            }
        }
        // One that is covered may have been found before what covers it was.
        for at in 0..self.groups.len() {
            let mut by = self.groups[at].covered_by;
            while let Some(further) = by.and_then(|by| self.groups[by].covered_by) {
                by = Some(further);
            }
            self.groups[at].covered_by = by;
        }
    }
}

fn versions_of(
    root: Root,
    guard: Option<Guard>,
    (versions, waits): (&HashMap<Reg, u32>, u32),
) -> [u32; 3] {
    let of = |reg: Reg| versions.get(&reg).copied().unwrap_or(0);
    let root = match root {
        Root::Reg(reg) => of(reg),
        Root::Symbol(_) => 0,
    };
    [root, guard.map_or(0, |guard| of(guard.reg)), waits]
}

/// Whether threads of the block wait for each other: what is wrong before is to be told before what is wrong after it.
pub(super) fn waits_for_block(i: &Instruction) -> bool {
    matches!(i.op.facts().waits, Waits::Block(_))
}

/// The instruction at a place of a body.
pub(super) fn instruction(body: &Body, at: usize) -> Option<&Instruction> {
    match body.statements.get(at)? {
        Statement::Instruction(i) => Some(i),
        Statement::Label(_) | Statement::Pragma(_) => None,
    }
}
