//! Instructions that are put into a body.

use crate::ptx::ast::{Body, LocationId, Registers, Statement};
use crate::ptx::inst::{Guard, Instruction, Op};
use crate::ptx::operand::{Address, Base, Label, Operand, Reg, Special, Symbol};
use crate::ptx::types::Type;

/// How the names of new labels and registers begin.
const LABELS: &str = "$warpaint_guard_";
const REGISTERS: &str = "%warpaint_guard_";

/// A body while it is written anew: what runs, and apart from it what seldom runs.
pub(super) struct Code {
    pub(super) registers: Registers,
    pub(super) labels: Vec<String>,
    pub(super) out: Vec<Statement>,
    /// Comes behind all else.
    pub(super) cold: Vec<Statement>,
    /// Of the instructions that are put in.
    pub(super) location: Option<LocationId>,
}

/// An instruction without operands.
pub(super) fn plain(mnemonic: &str) -> Instruction {
    Instruction::new(op(mnemonic), [].into(), [].into())
}

/// The operation of a mnemonic that is written here; a test holds all of them to be operations of the table.
fn op(mnemonic: &str) -> Op {
    Op::parse(mnemonic).unwrap_or_else(|_| Op::Unsupported { mnemonic: mnemonic.into() })
}

impl Code {
    /// With the registers and labels of `body`; none where it has names like those given here.
    pub(super) fn new(body: &Body) -> Option<Self> {
        let groups = body.registers.groups().iter();
        let taken = groups.map(|group| &group.name).any(|name| name.starts_with(REGISTERS))
            || body.labels.iter().any(|label| label.starts_with(LABELS));
        (!taken).then(|| Self {
            registers: body.registers.clone(),
            labels: body.labels.clone(),
            out: Vec::with_capacity(body.statements.len() * 2),
            cold: Vec::new(),
            location: None,
        })
    }

    pub(super) fn reg(&mut self, ty: Type) -> Reg {
        let name = format!("{REGISTERS}{}", self.registers.len());
        self.registers.declare(name, ty, None)
    }

    pub(super) fn label(&mut self) -> Label {
        let label = Label(self.labels.len() as u32);
        self.labels.push(format!("{LABELS}{}", label.0));
        label
    }

    pub(super) fn place(&mut self, label: Label) {
        self.out.push(Statement::Label(label));
    }

    /// Appends an instruction.
    pub(super) fn put<const D: usize, const S: usize>(
        &mut self,
        mnemonic: &str,
        dst: [Operand; D],
        src: [Operand; S],
    ) {
        self.put_if(None, mnemonic, dst, src);
    }

    /// The same under a guard.
    pub(super) fn put_if<const D: usize, const S: usize>(
        &mut self,
        guard: Option<Guard>,
        mnemonic: &str,
        dst: [Operand; D],
        src: [Operand; S],
    ) {
        let mut i = Instruction::new(op(mnemonic), dst.into(), src.into());
        (i.guard, i.location) = (guard, self.location);
        self.out.push(Statement::Instruction(i));
    }

    /// Appends an instruction with one result in a new register.
    pub(super) fn give<const S: usize>(
        &mut self,
        mnemonic: &str,
        ty: Type,
        src: [Operand; S],
    ) -> Reg {
        let reg = self.reg(ty);
        self.put(mnemonic, [Operand::Reg(reg)], src);
        reg
    }

    /// A special register's value.
    pub(super) fn special(&mut self, special: Special) -> Reg {
        self.give("mov.u32", Type::B32, [Operand::Special(special)])
    }

    /// Goes elsewhere, where the guard holds.
    pub(super) fn jump(&mut self, guard: Option<Guard>, to: Label) {
        self.put_if(guard, "bra", [], [Operand::Label(to)]);
    }

    /// Where `count` has none of the bits of `mask`, what `write` appends to the part that seldom runs is done, and
    /// then what follows; it is given the place of that.
    pub(super) fn once_in_a_while(
        &mut self,
        count: Reg,
        mask: i64,
        write: impl FnOnce(&mut Self, Label),
    ) {
        let rest = self.give("and.b32", Type::B32, [Operand::Reg(count), Operand::Int(mask)]);
        let due = self.give("setp.eq.s32", Type::Pred, [Operand::Reg(rest), Operand::Int(0)]);
        let (look, back) = (self.label(), self.label());
        self.jump(when(due), look);
        self.place(back);
        self.aside(|code| {
            code.place(look);
            write(code, back);
            code.jump(None, back);
        });
    }

    /// Writes what `write` appends to the part that seldom runs.
    pub(super) fn aside<R>(&mut self, write: impl FnOnce(&mut Self) -> R) -> R {
        std::mem::swap(&mut self.out, &mut self.cold);
        let result = write(self);
        std::mem::swap(&mut self.out, &mut self.cold);
        result
    }
}

/// Runs where `reg` holds.
pub(super) const fn when(reg: Reg) -> Option<Guard> {
    Some(Guard { reg, negated: false })
}

/// Runs where `reg` does not hold.
pub(super) const fn unless(reg: Reg) -> Option<Guard> {
    Some(Guard { reg, negated: true })
}

/// The memory at a register's address plus bytes.
pub(super) const fn at(reg: Reg, offset: i64) -> Operand {
    Operand::Address(Address { base: Base::Reg(reg), offset })
}

/// The memory of a symbol, from a byte on.
pub(super) const fn of(symbol: Symbol, offset: i64) -> Operand {
    Operand::Address(Address { base: Base::Symbol(symbol), offset })
}
