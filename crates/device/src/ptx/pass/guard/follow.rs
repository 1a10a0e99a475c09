//! Registers that hold an address of one of several sources: which one it is travels beside them.

use std::collections::{BTreeSet, HashMap};

use super::code::Code;
use super::group::{Bounds, Group, Root};
use crate::ptx::ast::Body;
use crate::ptx::inst::{Instruction, Op};
use crate::ptx::operand::{Operand, Reg};
use crate::ptx::pass::origin::{Origin, Origins, Source};
use crate::ptx::types::Type;

/// The registers beside those whose source has to be told when the code runs, and the numbers of sources.
#[derive(Default)]
pub(super) struct Sources {
    beside: HashMap<Reg, Reg>,
    numbers: Vec<Source>,
}

impl Sources {
    /// Those that the checks of `groups` ask for, and all that they are made of.
    pub(super) fn new(
        body: &Body,
        origins: &Origins<'_>,
        groups: &[Group],
        code: &mut Code,
    ) -> Self {
        let mut wanted: Vec<Reg> = Vec::new();
        for group in groups {
            if let (Root::Reg(reg), Bounds::Sources { sources, .. }) = (group.root, &group.bounds)
                && sources.len() > 1
            {
                wanted.push(reg);
            }
        }
        let mut all = Self::default();
        let mut seen = BTreeSet::new();
        while let Some(reg) = wanted.pop() {
            if !seen.insert(reg) || sources_of(origins, reg).len() < 2 {
                continue;
            }
            for i in body.instructions() {
                let mut is_written = false;
                i.for_each_def(|written| is_written |= written == reg);
                if is_written {
                    wanted.extend(i.src.iter().filter_map(Operand::reg));
                }
            }
        }
        for reg in seen {
            let sources = sources_of(origins, reg);
            for source in &sources {
                if !all.numbers.contains(source) {
                    all.numbers.push(*source);
                }
            }
            if sources.len() > 1 {
                let nothing = code.give("mov.u32", Type::B32, [Operand::Int(0)]);
                all.beside.insert(reg, nothing);
            }
        }
        if !all.numbers.contains(&Source::Null) {
            all.numbers.push(Source::Null);
        }
        all
    }

    /// The number of a source.
    pub(super) fn number(&self, source: Source) -> i64 {
        let known = self.numbers.iter().position(|known| *known == source);
        known.map_or(i64::MAX, |at| at as i64)
    }

    /// The register beside `reg`.
    pub(super) fn beside(&self, reg: Reg) -> Option<Reg> {
        self.beside.get(&reg).copied()
    }

    /// Writes what the instruction `i`, which comes next, does to the source of its result.
    pub(super) fn follow(&self, code: &mut Code, origins: &Origins<'_>, i: &Instruction) {
        let results = i.dst.iter().flat_map(Operand::lanes).filter_map(Operand::reg);
        for (lane, to) in results.enumerate() {
            let Some(beside) = self.beside(to) else { continue };
            let to = [Operand::Reg(beside)];
            if let (Op::Selp { .. }, [a, b, p]) = (&i.op, i.src.as_slice()) {
                let from = [self.of(origins, a), self.of(origins, b), p.clone()];
                code.put_if(i.guard, "selp.b32", to, from);
                continue;
            }
            // A load that gives no argument has no source that is an address, nor has what is computed of numbers.
            let argument =
                origins.argument(i, lane).map(|source| Operand::Int(self.number(source)));
            let from = origins.followed(i).and_then(|at| i.src.get(at));
            let number = argument.or_else(|| from.map(|from| self.of(origins, from)));
            let null = Operand::Int(self.number(Source::Null));
            code.put_if(i.guard, "mov.u32", to, [number.unwrap_or(null)]);
        }
    }

    /// The number of an operand's source.
    fn of(&self, origins: &Origins<'_>, operand: &Operand) -> Operand {
        if let Some(beside) = operand.reg().and_then(|reg| self.beside(reg)) {
            return Operand::Reg(beside);
        }
        let only = match (operand.reg(), operand.symbol()) {
            (Some(reg), _) => sources_of(origins, reg).first().copied(),
            (None, symbol) => symbol.map(Source::Symbol),
        };
        Operand::Int(self.number(only.unwrap_or(Source::Null)))
    }
}

fn sources_of(origins: &Origins<'_>, reg: Reg) -> BTreeSet<Source> {
    match origins.of(reg).origin {
        Origin::Pointer { sources, .. } => sources,
        Origin::Number { .. } | Origin::Unknown => BTreeSet::new(),
    }
}
