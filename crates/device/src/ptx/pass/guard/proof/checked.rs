//! Accesses of a kernel whose addresses the host follows.

use std::cell::Cell;

use super::range::Range;
use super::ranges::Ranges;
use crate::ptx::inst::Guard;
use crate::ptx::pass::guard::extent::Size;
use crate::ptx::pass::guard::group::{Bounds, Group, Root};
use crate::ptx::pass::guard::words::pointer_at;
use crate::ptx::pass::origin::Source;

/// Accesses of a kernel that are checked together.
#[derive(Clone, Debug)]
pub(super) struct CheckedGroup {
    /// The statement before which they are checked.
    at: usize,
    root: Root,
    guard: Option<Guard>,
    /// The first byte and that behind the last one, from the root on.
    low: i64,
    high: i64,
    /// A variable, or pointers of which it may come from each.
    pub(super) sources: Vec<Source>,
    align: u32,
}

impl CheckedGroup {
    /// Of a group of a plan; none where nobody can tell where its addresses lie.
    pub(super) fn of(group: &Group) -> Option<Self> {
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
    pub(super) fn reach(
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
