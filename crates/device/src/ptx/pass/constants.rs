//! Registers that hold a constant.

use std::collections::HashMap;

use crate::ptx::ast::Body;
use crate::ptx::cfg::RegSet;
use crate::ptx::inst::Op;
use crate::ptx::operand::{Operand, Reg};
use crate::ptx::types::Type;

/// The registers of a body that one instruction writes, with a number, and that nobody reads before: wherever they
/// live, they hold it.
#[derive(Clone, Debug, Default)]
pub struct Constants(HashMap<Reg, (Operand, Type)>);

impl Constants {
    /// Those of `body`; `unwritten` may be read before anything writes them.
    pub fn new(body: &Body, unwritten: &RegSet) -> Self {
        let mut writes: HashMap<Reg, u32> = HashMap::new();
        for instruction in body.instructions() {
            instruction.for_each_def(|reg| *writes.entry(reg).or_default() += 1);
        }
        let mut constants = HashMap::new();
        for i in body.instructions().filter(|i| i.guard.is_none()) {
            let (Op::Mov { ty, lanes: 0 | 1 }, [source]) = (&i.op, i.src.as_slice()) else {
                continue;
            };
            let number = matches!(source, Operand::Int(_) | Operand::F32(_) | Operand::F64(_));
            if let [Operand::Reg(reg)] = i.dst[..]
                && number
                && writes.get(&reg) == Some(&1)
                && !unwritten.contains(reg)
            {
                constants.insert(reg, (source.clone(), *ty));
            }
        }
        Self(constants)
    }

    /// The number that a register holds, and the type as which it was written.
    pub fn of(&self, reg: Reg) -> Option<&(Operand, Type)> {
        self.0.get(&reg)
    }

    /// The integer of 32 bits that an operand is.
    pub fn word(&self, operand: &Operand) -> Option<u32> {
        match operand {
            Operand::Int(value) => Some(*value as u32),
            Operand::Reg(reg) => match self.of(*reg)? {
                (Operand::Int(value), ty) if ty.bytes() == 4 => Some(*value as u32),
                _ => None,
            },
            Operand::Not(_)
            | Operand::F32(_)
            | Operand::F64(_)
            | Operand::Special(_)
            | Operand::Symbol(..)
            | Operand::Vector(_)
            | Operand::Bracket(_)
            | Operand::Address(_)
            | Operand::Label(_)
            | Operand::Table(_)
            | Operand::Sink => None,
        }
    }
}
