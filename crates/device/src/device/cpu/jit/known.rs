//! Registers that hold an address that is known when compiling, so that their accesses need no check.

use std::collections::HashMap;

use crate::ptx::{
    ast::{Body, Statement},
    inst::Instruction,
    op::{Integer, Semantics},
    operand::{Address, Base, Operand, Reg, Symbol},
    types::Space,
};

/// Registers that are written once, with a symbol's address plus a constant.
#[derive(Debug, Default)]
pub(super) struct Known(HashMap<Reg, (Symbol, i64)>);

impl Known {
    pub(super) fn new(body: &Body) -> Self {
        let mut writes: HashMap<Reg, u32> = HashMap::new();
        for instruction in body.instructions() {
            instruction.for_each_def(|reg| *writes.entry(reg).or_default() += 1);
        }
        let mut known = Self::default();
        // In the order of the text: a value is written before it is read, except round loops, which do not
        // move constants.
        for statement in &body.statements {
            let Statement::Instruction(instruction) = statement else { continue };
            if let Some((reg, value)) = known.result(body, instruction)
                && writes.get(&reg) == Some(&1)
            {
                known.0.insert(reg, value);
            }
        }
        known
    }

    fn result(&self, body: &Body, i: &Instruction) -> Option<(Reg, (Symbol, i64))> {
        let reg = i.dst.first()?.reg()?;
        if i.guard.is_some() || i.dst.len() != 1 || body.registers.ty(reg).bytes() < 4 {
            return None;
        }
        let value = match Semantics::of(&i.op)? {
            Semantics::Move(_) => self.operand(i.src.first()?)?,
            Semantics::Address { space, to_generic: _, ty: _ } => match space {
                Space::Local | Space::Global | Space::Const | Space::Param => {
                    self.operand(i.src.first()?)?
                }
                // Shared memory has offsets of its own; the other spaces' addresses are generic ones.
                Space::Shared | Space::SharedCta | Space::SharedCluster => return None,
                Space::ParamEntry | Space::ParamFunc => return None,
                Space::Reg | Space::Sreg | Space::Tex => return None,
            },
            Semantics::Integer(Integer::Sum, ty) if matches!(ty.bits(), 32 | 64) => {
                let [a, Operand::Int(by)] = i.src.as_slice() else { return None };
                let (symbol, offset) = self.operand(a)?;
                (symbol, offset.checked_add(*by)?)
            }
            // No constant is added to an address.
            Semantics::Integer(..) | Semantics::Convert(_) | Semantics::Choice(_) => return None,
            Semantics::Load(_) | Semantics::Real(_) | Semantics::Predicate(_) => return None,
        };
        Some((reg, value))
    }

    fn operand(&self, operand: &Operand) -> Option<(Symbol, i64)> {
        if let Operand::Symbol(symbol, offset) = operand {
            return Some((*symbol, *offset));
        }
        self.0.get(&operand.reg()?).copied()
    }

    /// The symbol and offset that an address is known to be.
    pub(super) fn resolve(&self, address: &Address) -> Option<(Symbol, i64)> {
        let (symbol, offset) = match address.base {
            Base::Symbol(symbol) => (symbol, 0),
            Base::Reg(reg) => *self.0.get(&reg)?,
            Base::Absolute => return None,
        };
        Some((symbol, offset.checked_add(address.offset)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::{inst::Op, parse};

    #[test]
    fn a_saturated_sum_is_at_no_known_place() {
        let known_with = |add: &str| {
            let text = format!(
                ".version 7.0\n.target sm_80\n.address_size 64\n.shared .b32 a[4];\n.visible .entry k() {{ \
                 .reg .b32 %r<4>; mov.u32 %r1, a; {add} %r2, %r1, 8; ld.shared.u32 %r3, [%r2]; ret; }}"
            );
            let module = parse(&text).unwrap();
            let body = module.functions[0].body.as_ref().unwrap();
            let load = body.instructions().find(|i| matches!(i.op, Op::Ld(_))).unwrap();
            let Operand::Address(address) = &load.src[0] else { panic!("{load:?}") };
            Known::new(body).resolve(address).map(|(_, offset)| offset)
        };
        assert_eq!(known_with("add.s32"), Some(8));
        assert_eq!(known_with("add.sat.s32"), None);
        assert_eq!(known_with("add.cc.s32"), None);
    }
}
