//! Accesses that are checked together, and what they are compared with.

use super::words::Word;
use crate::ptx::ast::Body;
use crate::ptx::inst::Guard;
use crate::ptx::operand::{Reg, Symbol};
use crate::ptx::pass::access::{Action, When};
use crate::ptx::pass::origin::Source;
use crate::ptx::types::{Space, Type};

/// Most bytes from the first to the last that one check is for.
const WIDEST: i64 = 4096;

/// What an address is a constant away from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Root {
    Reg(Reg),
    Symbol(Symbol),
}

/// What an access is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Bounds {
    /// The memory of these sources, of which the register holds an address of one.
    Sources {
        sources: Vec<Source>,
        /// The register holds a generic address.
        generic: bool,
    },
    /// Whatever memory there is, which is searched; a generic address may be one of a block's or a thread's, too.
    Search { generic: bool },
    /// All of the block's shared memory.
    Shared,
}

/// How an address is made of a pointer among the kernel's arguments and an index of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Index {
    pub(super) reg: Reg,
    pub(super) signed: bool,
    /// What is added to the pointer: so many bytes for each of the index, and these.
    pub(super) stride: u32,
    pub(super) offset: i64,
    /// Where the pointer lies among the arguments.
    pub(super) argument: u32,
}

/// One access of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// Its instruction: an index into the statements.
    pub(super) statement: usize,
    /// From the root on.
    pub(super) offset: i64,
    pub(super) bytes: u32,
    pub(super) align: u32,
    pub(super) action: Action,
}

/// Accesses that are checked together, before the first of them: all are made where one of them is.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) root: Root,
    /// How often root and guard were written in the block before, and how often it waited for other threads.
    pub(super) version: [u32; 3],
    pub(super) guard: Option<Guard>,
    pub(super) when: When,
    pub(super) space: Option<Space>,
    pub(super) bounds: Bounds,
    /// The first byte and that behind the last one, from the root on.
    pub(super) low: i64,
    pub(super) high: i64,
    /// What the source has to be a multiple of.
    pub(super) align: u32,
    /// What the address is compared with to be a multiple of, where that is not known.
    pub(super) tested_align: u32,
    pub(super) members: Vec<Member>,
    /// A group in a block before that is checked for more.
    pub(super) covered_by: Option<usize>,
    /// Root and guard are what they were until the end of the block.
    pub(super) stays: bool,
    /// What may be compared in place of the root.
    pub(super) index: Option<Index>,
}

impl Group {
    /// Bytes that are accessed.
    pub(super) fn span(&self) -> u32 {
        u32::try_from(self.high - self.low).unwrap_or(u32::MAX)
    }

    /// The statement before which it is checked.
    pub(super) fn first(&self) -> usize {
        self.members.first().map_or(0, |member| member.statement)
    }

    /// Whether another one is checked with it.
    pub(super) fn takes(&self, other: &Self) -> bool {
        let low = self.low.min(other.low);
        let together = self.high.max(other.high).checked_sub(low);
        let alike = (self.root, self.version, self.guard, self.space, self.when)
            == (other.root, other.version, other.guard, other.space, other.when);
        let plain = self.when == When::Always && self.tested_align == 1 && other.tested_align == 1;
        // Only what is aligned together stays so in one span.
        alike
            && plain
            && !self.is_searched()
            && self.bounds == other.bounds
            && together.is_some_and(|bytes| bytes <= WIDEST)
    }

    /// Whether another one needs no check where this one was checked.
    pub(super) fn covers(&self, other: &Self) -> bool {
        self.root == other.root
            && self.space == other.space
            && self.bounds == other.bounds
            && self.low <= other.low
            && self.high >= other.high
            && self.align >= other.align
            && self.is_plain()
            && other.is_plain()
    }

    /// The word with the indices that are right; none where there is no index.
    pub(super) fn indices(&self) -> Option<Word> {
        let index = self.index?;
        Some(Word::Indices {
            argument: index.argument,
            low: index.offset.checked_add(self.low)?,
            stride: index.stride,
            span: self.span(),
            align: self.align,
            signed: index.signed,
        })
    }

    /// Checked wherever its block runs, and searched for nowhere.
    pub(super) fn is_plain(&self) -> bool {
        let is_always = self.guard.is_none() && self.when == When::Always;
        is_always && self.tested_align == 1 && !self.is_searched()
    }

    /// Searched for in the table of all memory.
    pub(super) fn is_searched(&self) -> bool {
        matches!(self.bounds, Bounds::Search { .. })
    }
}

/// Whether a register holds 64 bits.
pub(super) fn is_wide(body: &Body, root: Root) -> bool {
    match root {
        Root::Reg(reg) => body.registers.ty(reg).bits() == Type::B64.bits(),
        Root::Symbol(_) => true,
    }
}
