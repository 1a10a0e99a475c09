//! Numbers that are the same in all threads of a launch.

use super::Launch;
use super::range::Range;
use super::values::{Value, Values};
use crate::ptx::modifier::Half;
use crate::ptx::op::{Integer, Semantics, is_integer};
use crate::ptx::operand::{Address, Base, Operand, Symbol};
use crate::ptx::pass::origin::Origins;
use crate::ptx::types::{Kind, Space, Type};

/// Most steps from a number to what it was computed of.
const MOST_STEPS: u32 = 8;

/// A body in a launch.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) values: &'a Values<'a>,
    pub(super) origins: &'a Origins<'a>,
    pub(super) launch: &'a Launch<'a>,
}

impl<'a> Known<'a> {
    /// What an operand always is in this launch, as it is before a statement: modulo two to the bits of its type, for
    /// sums and products are not wrapped.
    pub(super) fn operand(self, at: usize, operand: &Operand) -> Option<i128> {
        self.part(at, operand, MOST_STEPS)
    }

    fn part(self, at: usize, operand: &Operand, steps: u32) -> Option<i128> {
        match operand {
            Operand::Int(value) => Some((*value).into()),
            Operand::Reg(reg) => self.within(self.values.before(at, *reg), steps),
            Operand::Special(special) => self.launch.special(*special)?.single(),
            Operand::Not(_) | Operand::F32(_) | Operand::F64(_) | Operand::Symbol(..) => None,
            Operand::Address(_) | Operand::Vector(_) | Operand::Bracket(_) => None,
            Operand::Label(_) | Operand::Table(_) | Operand::Sink => None,
        }
    }

    fn within(self, value: Value, steps: u32) -> Option<i128> {
        let steps = steps.checked_sub(1)?;
        let (at, i) = self.values.instruction(value).filter(|(_, i)| i.guard.is_none())?;
        if i.dst.first().and_then(Operand::reg) != Some(value.reg()) {
            return None;
        }
        let source = |number: usize| self.part(at, i.src.get(number)?, steps);
        match Semantics::of(&i.op)? {
            Semantics::Move(_) => source(0),
            Semantics::Integer(Integer::Sum, _) => Some(source(0)? + source(1)?),
            Semantics::Integer(Integer::Product(Half::Lo), _) => source(0)?.checked_mul(source(1)?),
            Semantics::Integer(Integer::ShiftLeft, ty) => {
                let by = u32::try_from(source(1)?).ok().filter(|by| *by < ty.bits())?;
                source(0)?.checked_mul(1 << by)
            }
            Semantics::Convert(cvt) if is_integer(cvt.from) && is_integer(cvt.to) && !cvt.sat => {
                Some(numbers(numbers(Range::of(source(0)?), cvt.from), cvt.to).low)
            }
            Semantics::Load(access) if access.space.map(Space::kind) == Some(Space::Param) => {
                self.parameter(i.src.first()?.address()?, access.ty, 0)?.single()
            }
            Semantics::Integer(..)
            | Semantics::Convert(_)
            | Semantics::Load(_)
            | Semantics::Address { .. } => None,
            Semantics::Choice(_) | Semantics::Real(_) | Semantics::Predicate(_) => None,
        }
        .filter(|number| number.abs() < 1 << 66)
    }

    /// What a lane of a load from the parameters gives.
    pub(super) fn parameter(self, address: &Address, ty: Type, lane: usize) -> Option<Range> {
        let Base::Symbol(Symbol::Param(index)) = address.base else { return None };
        let start = self.origins.argument_offset(index).filter(|_| is_integer(ty))?;
        let place = i64::from(start) + address.offset + i64::from(ty.bytes()) * lane as i64;
        let place = usize::try_from(place).ok()?;
        let place = place..place + ty.bytes() as usize;
        self.values.read.borrow_mut().insert((place.start, place.end));
        let bytes = self.launch.arguments.get(place)?;
        let mut word = [0; 8];
        word.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(numbers(Range::of(u64::from_le_bytes(word).into()), ty))
    }
}

/// A range as numbers of a type.
pub(super) fn numbers(range: Range, ty: Type) -> Range {
    range.read(ty.kind() == Kind::Signed, ty.bits())
}
