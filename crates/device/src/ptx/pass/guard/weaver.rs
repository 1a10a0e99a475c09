//! What is written of a function with its checks, and what is known while that is done.

use std::collections::{HashMap, HashSet};

use super::code::Code;
use super::follow::Sources;
use super::group::Group;
use super::noted::Noted;
use super::plan::{Plan, instruction};
use super::poll::Poll;
use super::proof::Version;
use super::record::Recorder;
use super::search::Found;
use super::surface::SurfaceAccess;
use super::words::{Word, Words};
use super::{Check, CheckKind, CheckedAccess};
use crate::ptx::ast::Body;
use crate::ptx::inst::Guard;
use crate::ptx::operand::{Address, Operand, Reg};
use crate::ptx::pass::origin::Origins;
use crate::ptx::types::Type;

/// Puts the checks of a plan into a body.
pub(super) struct Weaver<'a> {
    pub(super) body: &'a Body,
    pub(super) origins: &'a Origins<'a>,
    pub(super) plan: &'a Plan,
    /// Accesses to surfaces.
    pub(super) surfaces: &'a [SurfaceAccess],
    /// The statements that hand a format to `printf`.
    pub(super) formats: &'a HashSet<usize>,
    /// Which groups are not checked.
    pub(super) version: &'a Version,
    pub(super) recorder: Recorder,
    /// How many bytes of the stack have to be left where the function begins.
    pub(super) reserve: Option<u64>,
    /// The name of the function.
    pub(super) function: &'a str,
    pub(super) words: Words,
    pub(super) sources: Sources,
    pub(super) code: Code,
    pub(super) found: Option<Found>,
    pub(super) poll: Option<Poll>,
    /// Where threads note what they do wrong: then nothing is pending.
    pub(super) noted: Option<Noted>,
    /// Of all functions so far.
    pub(super) checks: &'a mut Vec<Check>,
    /// What each group was checked with.
    pub(super) woven: HashMap<usize, Woven>,
    /// The groups that were checked since records were written last, and whether one of them failed.
    pub(super) pending: Vec<usize>,
    pub(super) failed: Option<Reg>,
}

/// A check that was put in.
#[derive(Clone, Debug)]
pub(super) struct Woven {
    /// Holds where the accesses are made and right.
    pub(super) fine: Guard,
    /// Holds where they would be made and are wrong.
    pub(super) fail: Reg,
    /// The distance of the lowest access from `start`.
    pub(super) distance: Reg,
    /// What the address was compared with: where it may begin, and from there on.
    pub(super) start: Operand,
    pub(super) limit: Operand,
}

impl Weaver<'_> {
    /// A guard as an operand.
    pub(super) fn predicate(&mut self, guard: Guard) -> Operand {
        let reg = Operand::Reg(guard.reg);
        match guard.negated {
            false => reg,
            true => Operand::Reg(self.code.give("not.pred", Type::Pred, [reg])),
        }
    }

    /// The number of a further check, of a group.
    pub(super) fn add_check(&mut self, group: &Group) -> u32 {
        let accesses = group.members.iter().map(|member| {
            let i = instruction(self.body, member.statement);
            CheckedAccess {
                offset: member.offset - group.low,
                bytes: member.bytes,
                align: member.align,
                action: member.action,
                location: i.and_then(|i| i.location),
                line: i.map_or(0, |i| i.line),
            }
        });
        let kind = CheckKind::Access { space: group.space, accesses: accesses.collect() };
        self.push_check(kind)
    }

    /// The number of a further check.
    pub(super) fn push_check(&mut self, kind: CheckKind) -> u32 {
        self.checks.push(Check { function: self.function.to_owned(), kind });
        self.checks.len() as u32 - 1
    }

    /// Both halves of a word.
    pub(super) fn halves(&mut self, word: Word) -> [Operand; 2] {
        let Operand::Address(Address { base, offset }) = self.words.operand(word) else {
            return [Operand::Int(0), Operand::Int(0)];
        };
        [offset, offset + 4].map(|offset| {
            let half = Operand::Address(Address { base, offset });
            Operand::Reg(self.code.give("ld.param.u32", Type::B32, [half]))
        })
    }
}
