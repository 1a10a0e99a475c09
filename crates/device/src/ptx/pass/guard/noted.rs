//! What a thread did wrong first, which it keeps in registers until it writes it down.
//!
//! To write a record takes forty instructions, and an assembler puts them where they are jumped to, in the middle of
//! loops. To note a check's number and what its address is made of takes three, without a branch. What was noted is
//! written down where the thread ends, before it waits for others or calls a function, and where a loop looks at the
//! flag: a thread that has noted something ends there.

use super::code::Code;
use super::group::{Bounds, Group};
use super::surface::SurfaceAccess;
use super::words::Word;
use crate::ptx::inst::Instruction;
use crate::ptx::operand::{Label, Operand, Reg};
use crate::ptx::types::Type;

/// Of a thread that has nothing to write down.
pub(super) const NOTHING: i64 = -1;
/// About how many instructions a record takes, and beside it each check that it may be of.
const RECORD: usize = 45;
const CHECK: usize = 8;

/// The registers of a thread, and where it writes down what they hold.
#[derive(Debug)]
pub(super) struct Noted {
    /// The number of the check.
    pub(super) check: Reg,
    /// The index of its access, or its address, in halves.
    pub(super) low: Reg,
    pub(super) high: Reg,
    /// The checks that are noted.
    pub(super) checks: Vec<(u32, Of)>,
    /// Where records are written, and what comes then.
    pub(super) places: Vec<(Label, Then)>,
}

/// What a check that is noted is of.
#[derive(Clone, Debug)]
pub(super) enum Of {
    /// A group of accesses.
    Group(usize),
    /// An access to a surface.
    Surface(Word),
}

/// What comes when a record is written.
#[derive(Debug)]
pub(super) enum Then {
    /// It goes on there, as if there were nothing.
    Back(Label),
    /// The instruction that ends the thread or the function.
    End(Instruction),
}

impl Noted {
    /// To be written at the beginning of the function.
    pub(super) fn new(code: &mut Code) -> Self {
        let check = code.give("mov.u32", Type::B32, [Operand::Int(NOTHING)]);
        let [low, high] = [0, 1].map(|_| code.give("mov.u32", Type::B32, [Operand::Int(0)]));
        Self { check, low, high, checks: Vec::new(), places: Vec::new() }
    }

    /// Gives a predicate: whether there is something to write down, where the guard holds.
    pub(super) fn is_some(&self, code: &mut Code, guard: Option<Operand>) -> Reg {
        let [check, nothing] = [Operand::Reg(self.check), Operand::Int(NOTHING)];
        match guard {
            None => code.give("setp.ne.u32", Type::Pred, [check, nothing]),
            Some(guard) => code.give("setp.ne.and.u32", Type::Pred, [check, nothing, guard]),
        }
    }

    /// Where it is written down before the thread ends so.
    pub(super) fn end(&mut self, code: &mut Code, i: &Instruction) -> Label {
        let i = Instruction { guard: None, ..i.clone() };
        let same = |(_, then): &&(Label, Then)| matches!(then, Then::End(end) if end.op == i.op);
        if let Some((label, _)) = self.places.iter().find(same) {
            return *label;
        }
        let label = code.label();
        self.places.push((label, Then::End(i)));
        label
    }
}

/// Whether all that is checked of a function can be noted, with records at so many places beside its end: what each is
/// compared with is the same wherever it is asked for, and it takes less code than a record at each check.
pub(super) fn can_note<'a>(
    checked: impl Iterator<Item = &'a Group>,
    surfaces: impl Iterator<Item = &'a SurfaceAccess>,
    waits: usize,
) -> bool {
    let mut count = 0;
    for access in surfaces {
        // There is no third register for a slice.
        if access.z.is_some() {
            return false;
        }
        count += 1;
    }
    for group in checked {
        let is_one = match &group.bounds {
            Bounds::Sources { sources, .. } => sources.len() == 1,
            Bounds::Search { .. } | Bounds::Shared => true,
        };
        if !is_one {
            return false;
        }
        count += 1;
    }
    count > 0 && waits * (RECORD + CHECK * count) <= count * RECORD
}
