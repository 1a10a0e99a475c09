//! Remainders by constants: compilers write `x % c` as x less c times a quotient, which they get by multiplication.
//!
//! The range of such a difference follows from that it is a remainder, not from the ranges of its parts.

use super::conditions::Premise;
use super::range::Range;
use super::ranges::Ranges;
use super::values::Value;
use crate::ptx::inst::Instruction;
use crate::ptx::modifier::{BoolOp, Half};
use crate::ptx::op::{Integer, Semantics};
use crate::ptx::operand::{Operand, Reg};
use crate::ptx::types::Kind;

/// Most steps from a quotient to what is divided.
const MOST_STEPS: u32 = 8;

/// A value that is, rounded down, `factor` x / 2^`shift` of another one, x.
#[derive(Clone, Copy)]
struct Scaled {
    of: Value,
    factor: i128,
    shift: u32,
}

impl Ranges<'_> {
    /// The range of x - y, where y is a multiple of a constant c, the greatest that is not more than x, or the
    /// remainder by such.
    pub(super) fn remainder(&mut self, x: Value, y: Value, premise: Premise) -> Option<Range> {
        let x = self.known.values.canonical(x);
        let range = self.of(x, premise);
        if range.low < 0 || range.high >= 1 << 31 {
            return None;
        }
        if let Some(mask) = self.lowest(x, y) {
            return Some(range.and(Range::of(mask)));
        }
        let divisor = self.multiple(x, y, range, premise)?;
        if range.high < divisor { Some(range) } else { Some(Range::new(0, divisor - 1)) }
    }

    /// Where y is the lowest bits of x: all the other bits.
    fn lowest(&self, x: Value, y: Value) -> Option<i128> {
        let values = self.known.values;
        let masked = |value: Value| {
            let (at, i) = values.instruction(value).filter(|(_, i)| i.guard.is_none())?;
            let Semantics::Integer(Integer::Bitwise(BoolOp::And), ty) = Semantics::of(&i.op)?
            else {
                return None;
            };
            let (a, mask) = of_constant(i)?;
            let mask = Range::of(mask).unsigned(ty.bits()).low;
            Some((values.canonical(values.before(at, a)), mask, ty.bits()))
        };
        let (of, mask, bits) = masked(y)?;
        // Of the same, with more of its bits.
        let same =
            of == x || masked(x).is_some_and(|(other, all, _)| other == of && mask & !all == 0);
        (same && mask & (mask + 1) == 0).then_some(Range::full(bits).high & !mask)
    }

    /// The constant that y is the greatest multiple of which is not more than x.
    fn multiple(&mut self, x: Value, y: Value, range: Range, premise: Premise) -> Option<i128> {
        let (at, i) = self.known.values.instruction(y).filter(|(_, i)| i.guard.is_none())?;
        let bits = self.bits(y.reg());
        let (of, constant) = of_constant(i)?;
        let of = self.known.values.before(at, of);
        let Semantics::Integer(operation, ty) = Semantics::of(&i.op)? else { return None };
        let divisor = match operation {
            // The lowest bits cleared.
            Integer::Bitwise(BoolOp::And) => {
                let mask = Range::of(constant).unsigned(ty.bits()).low;
                let zeros = mask.cast_unsigned().trailing_zeros().min(ty.bits());
                let filled = mask | ((1 << zeros) - 1);
                let is_high = (filled & (filled + 1)) == 0 && range.high <= filled;
                return (is_high && self.is_same(of, x, premise)).then_some(1 << zeros);
            }
            Integer::Product(Half::Lo) => constant,
            Integer::ShiftLeft if (0..31).contains(&constant) => 1 << constant,
            Integer::Bitwise(BoolOp::Or | BoolOp::Xor) | Integer::ShiftLeft => return None,
            Integer::Product(Half::Hi | Half::Wide) | Integer::Mad(_) => return None,
            Integer::Sum | Integer::Difference | Integer::Quotient => return None,
            Integer::Remainder | Integer::Negative | Integer::Complement => return None,
            Integer::Least | Integer::Greatest | Integer::ShiftRight => return None,
            Integer::Magnitude | Integer::Extract | Integer::Insert => return None,
            Integer::Bytes | Integer::Count => return None,
        };
        if divisor <= 1 || divisor >= 1 << 31 || bits != self.bits(x.reg()) {
            return None;
        }
        // A quotient rounded down, where what the factor is too great does not matter yet.
        let scaled = self.scaled(of, premise, MOST_STEPS)?;
        let one = 1_i128.checked_shl(scaled.shift).filter(|_| scaled.shift < 80)?;
        let error = scaled.factor.checked_mul(divisor)? - one;
        let is_exact = error >= 0 && range.high.checked_mul(error)? < one;
        (is_exact && self.known.values.canonical(scaled.of) == x).then_some(divisor)
    }

    /// Whether `a` is `x`, to which nothing but zeros was added.
    fn is_same(&mut self, a: Value, x: Value, premise: Premise) -> bool {
        let scaled = self.scaled(a, premise, MOST_STEPS);
        scaled.is_some_and(|scaled| {
            self.known.values.canonical(scaled.of) == x && (scaled.factor, scaled.shift) == (1, 0)
        })
    }

    /// What a value of numbers that are not negative is a multiple or a fraction of.
    fn scaled(&mut self, value: Value, premise: Premise, steps: u32) -> Option<Scaled> {
        let own = Scaled { of: value, factor: 1, shift: 0 };
        let Some(steps) = steps.checked_sub(1) else { return Some(own) };
        let values = self.known.values;
        let Some((at, i)) = values.instruction(value).filter(|(_, i)| i.guard.is_none()) else {
            return Some(own);
        };
        let Some(Semantics::Integer(operation, ty)) = Semantics::of(&i.op) else {
            return Some(own);
        };
        let constant = of_constant(i).map(|(of, by)| (values.before(at, of), by));
        if let (Integer::Product(Half::Hi), Some((of, factor))) = (operation, constant)
            && ty.bits() == 32
        {
            let factor = Range::of(factor).read(ty.kind() == Kind::Signed, 32).low;
            return Some(Scaled { of, factor, shift: 32 });
        }
        if let (Integer::ShiftRight, Some((of, by))) = (operation, constant)
            && (0..32).contains(&by)
        {
            let range = self.of(of, premise);
            if range.low < 0 || range.high >= 1 << 31 {
                return Some(own);
            }
            let inner = self.scaled(of, premise, steps)?;
            return Some(Scaled { shift: inner.shift + by as u32, ..inner });
        }
        if let (Integer::Sum, [Operand::Reg(a), Operand::Reg(b)]) = (operation, i.src.as_slice()) {
            let [a, b] = [a, b].map(|reg| values.before(at, *reg));
            for (one, other) in [(a, b), (b, a)] {
                if self.of(other, premise) == Range::of(0) {
                    return self.scaled(one, premise, steps);
                }
                // A factor that has one bit more than the word.
                let inner = self.scaled(one, premise, steps)?;
                if inner.shift == 32 && values.canonical(inner.of) == values.canonical(other) {
                    return Some(Scaled { factor: inner.factor + (1 << 32), ..inner });
                }
            }
        }
        Some(own)
    }
}

/// The first source, where the second one is a constant.
fn of_constant(i: &Instruction) -> Option<(Reg, i128)> {
    match i.src.as_slice() {
        [Operand::Reg(of), Operand::Int(constant)] => Some((*of, (*constant).into())),
        [..] => None,
    }
}
