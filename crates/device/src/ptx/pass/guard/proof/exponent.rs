//! The exponents of floating-point numbers, by which the sine of a large one finds the digits of 2/π that it needs.

use super::conditions::Premise;
use super::range::Range;
use super::ranges::Ranges;
use super::values::Value;
use crate::ptx::inst::{Instruction, Op};
use crate::ptx::modifier::{BoolOp, Cmp};
use crate::ptx::op::{Integer, Semantics};
use crate::ptx::operand::Operand;
use crate::ptx::types::Type;

/// Where the exponent of a single-precision number begins, and its bits.
const EXPONENT_AT: u32 = 23;
const EXPONENT: i64 = 255;

impl Ranges<'_> {
    /// The exponent bits of a number of which it is known that it is large: `(bits >> 23) & 255`.
    pub(super) fn exponent(
        &mut self,
        at: usize,
        i: &Instruction,
        premise: Premise,
    ) -> Option<Range> {
        let values = self.known.values;
        let (
            Semantics::Integer(Integer::Bitwise(BoolOp::And), Type::B32),
            [Operand::Reg(shifted), Operand::Int(EXPONENT)],
        ) = (Semantics::of(&i.op)?, i.src.as_slice())
        else {
            return None;
        };
        let (at, i) = self.made(values.before(at, *shifted))?;
        let (Semantics::Integer(Integer::ShiftRight, ty), [Operand::Reg(bits), Operand::Int(by)]) =
            (Semantics::of(&i.op)?, i.src.as_slice())
        else {
            return None;
        };
        if ty.bits() != 32 || *by != i64::from(EXPONENT_AT) {
            return None;
        }
        let (at, i) = self.made(values.before(at, *bits))?;
        let (Semantics::Move(Type::B32), [Operand::Reg(real)]) =
            (Semantics::of(&i.op)?, i.src.as_slice())
        else {
            return None;
        };
        if values.body.registers.ty(*real) != Type::F32 {
            return None;
        }
        let least = self.least_magnitude(values.before(at, *real), premise)?;
        Some(Range::new(i128::from(least.to_bits() >> EXPONENT_AT), EXPONENT.into()))
    }

    fn made(&self, value: Value) -> Option<(usize, &'_ Instruction)> {
        let (at, i) = self.known.values.instruction(value).filter(|(_, i)| i.guard.is_none())?;
        (i.dst.len() == 1 && i.dst[0].reg() == Some(value.reg())).then_some((at, i))
    }

    /// A constant that the magnitude of a number is at least, or what is no number.
    fn least_magnitude(&self, of: Value, premise: Premise) -> Option<f32> {
        let values = self.known.values;
        let mut least: Option<f32> = None;
        for fact in self.conditions.facts(premise) {
            let Some(i) = values.statement(fact.at) else { continue };
            // Subnormals are not large, flushed or not.
            let Op::Setp { cmp, combine: None, ty: Type::F32, ftz: _ } = &i.op else { continue };
            let [Operand::Reg(compared), Operand::F32(bits)] = i.src.as_slice() else { continue };
            let is_large = match cmp {
                Cmp::Lt | Cmp::Ltu | Cmp::Le | Cmp::Leu => !fact.holds,
                Cmp::Gt | Cmp::Gtu | Cmp::Ge | Cmp::Geu => fact.holds,
                Cmp::Eq | Cmp::Equ => fact.holds,
                Cmp::Ne | Cmp::Neu | Cmp::Num | Cmp::Nan => false,
                Cmp::Lo | Cmp::Ls | Cmp::Hi | Cmp::Hs => false,
            };
            let bound = f32::from_bits(*bits);
            if !is_large || bound.is_nan() || bound < 0.0 {
                continue;
            }
            let Some((at, i)) = self.made(values.before(fact.at, *compared)) else { continue };
            let (Op::Abs { .. }, [Operand::Reg(inner)]) = (&i.op, i.src.as_slice()) else {
                continue;
            };
            if values.body.registers.ty(*inner) == Type::F32 && values.before(at, *inner) == of {
                least = Some(least.map_or(bound, |least| least.max(bound)));
            }
        }
        least
    }
}
