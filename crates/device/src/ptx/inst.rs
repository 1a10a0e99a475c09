//! Instructions with their exact meaning: what the verifier, the JIT and the interpreter match on.
//!
//! An [`Instruction`] is an [`Op`] plus operands in PTX order, destinations apart from sources. Each
//! variant of [`Op`] says what stands where: `d` are destinations, then `<-`, then sources; `[d|p]` means
//! that the second destination may be missing (it is never a sink for "missing": `d.len()` tells).
//! Sections are those of the PTX ISA 9.0, chapter 9.7.

use super::op::Next;
pub use super::op::Op;
use super::operand::{Label, Operand, Reg, Symbol};

/// A source location: an index into [`Module::locations`](super::ast::Module::locations).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocationId(pub u32);

/// `@p` or `@!p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    /// The predicate.
    pub reg: Reg,
    /// Runs where the predicate is false.
    pub negated: bool,
}

/// One instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Runs only in threads in which this holds.
    pub guard: Option<Guard>,
    /// What it does.
    pub op: Op,
    /// What it writes.
    pub dst: Vec<Operand>,
    /// What it reads. The address of a store or atomic is a source.
    pub src: Vec<Operand>,
    /// The line of the PTX text, from 1; 0 for one that a pass inserted.
    pub line: u32,
    /// The source line it came from (`.loc`).
    pub location: Option<LocationId>,
}

/// Instructions are equal when they mean the same; their place in the PTX text does not matter.
impl PartialEq for Instruction {
    fn eq(&self, other: &Self) -> bool {
        (self.guard, &self.op, &self.dst, &self.src, self.location)
            == (other.guard, &other.op, &other.dst, &other.src, other.location)
    }
}

impl Instruction {
    /// An unguarded instruction without a place.
    pub fn new(op: Op, dst: Vec<Operand>, src: Vec<Operand>) -> Self {
        Self { guard: None, op, dst, src, line: 0, location: None }
    }

    /// Calls `visit` for every register that it writes.
    ///
    /// Under a guard the old value survives in threads where the guard does not hold.
    pub fn for_each_def(&self, mut visit: impl FnMut(Reg)) {
        self.dst.iter().for_each(|operand| operand.for_each_reg(&mut visit));
    }

    /// Calls `visit` for every register that it reads, its guard included.
    pub fn for_each_use(&self, mut visit: impl FnMut(Reg)) {
        if let Some(guard) = self.guard {
            visit(guard.reg);
        }
        self.src.iter().for_each(|operand| operand.for_each_reg(&mut visit));
    }

    /// Calls `change` for every operand, destinations first.
    pub fn for_each_operand_mut(&mut self, change: impl FnMut(&mut Operand)) {
        self.dst.iter_mut().chain(&mut self.src).for_each(change);
    }

    /// Calls `change` for every register, to renumber them.
    pub fn for_each_reg_mut(&mut self, mut change: impl FnMut(&mut Reg)) {
        if let Some(guard) = &mut self.guard {
            change(&mut guard.reg);
        }
        self.for_each_operand_mut(|operand| operand.for_each_reg_mut(&mut change));
    }

    /// Of `cp.async`: how many bytes are read, or the predicate by which none are, where it says that. A cache policy
    /// may stand behind it, or alone.
    pub fn copied(&self) -> Option<&Operand> {
        let Op::CpAsync { hint, .. } = &self.op else { return None };
        self.src.get(3).filter(|_| self.src.len() > 3 + usize::from(hint.has_policy()))
    }

    /// Where a `bra` goes.
    pub fn branch_target(&self) -> Option<Label> {
        match (&self.op, self.src.first()) {
            (Op::Bra { .. }, Some(Operand::Label(label))) => Some(*label),
            _ => None,
        }
    }

    /// The table of labels that a `brx.idx` chooses from: an index into [`Body::tables`](super::ast::Body::tables).
    pub fn branch_table(&self) -> Option<u32> {
        match (&self.op, self.src.get(1)) {
            (Op::BrxIdx { .. }, Some(Operand::Table(table))) => Some(*table),
            _ => None,
        }
    }

    /// The function that a direct `call` calls.
    pub fn callee(&self) -> Option<u32> {
        match (&self.op, self.src.first()) {
            (Op::Call { .. }, Some(Operand::Symbol(Symbol::Function(id), _))) => Some(*id),
            _ => None,
        }
    }

    /// Whether control never reaches the next instruction (where the guard, if any, holds).
    pub fn is_terminator(&self) -> bool {
        self.op.facts().next != Next::Follows
    }
}
