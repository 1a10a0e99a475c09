//! Floating-point numbers, as far as indices are made of them: most are clamped before they are rounded to integers.

use super::conditions::Premise;
use super::range::Range;
use super::ranges::Ranges;
use super::values::Value;
use crate::ptx::modifier::{Cvt, IntRounding, Rounding};
use crate::ptx::op::{Real, Semantics, is_integer};
use crate::ptx::operand::Operand;
use crate::ptx::types::{Kind, Type};

/// Most steps from a number to what it was computed of.
const MOST_STEPS: u32 = 10;

/// Numbers between two ends, and perhaps what is no number.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Reals {
    low: f32,
    high: f32,
    nan: bool,
}

impl Reals {
    const ALL: Self = Self { low: f32::NEG_INFINITY, high: f32::INFINITY, nan: true };

    const fn of(value: f32) -> Self {
        match value.is_nan() {
            true => Self::ALL,
            false => Self { low: value, high: value, nan: false },
        }
    }

    /// Where what is next to zero may have become it.
    fn flushed(self) -> Self {
        let flushed = |end: f32| if end.is_subnormal() { 0.0 } else { end };
        Self {
            low: self.low.min(flushed(self.low)),
            high: self.high.max(flushed(self.high)),
            ..self
        }
    }

    /// What a function that never falls makes of them.
    fn map(self, f: impl Fn(f32) -> f32) -> Self {
        Self { low: f(self.low), high: f(self.high), nan: self.nan }
    }

    /// The sum, rounded to the nearest.
    fn plus(self, other: Self) -> Self {
        let (low, high) = (self.low + other.low, self.high + other.high);
        let finite = [self, other].iter().all(|all| all.low.is_finite() && all.high.is_finite());
        match low.is_nan() || high.is_nan() {
            true => Self::ALL,
            false => Self { low, high, nan: self.nan || other.nan || !finite },
        }
    }

    /// The product with a positive number.
    fn times(self, by: f32) -> Self {
        match by > 0.0 && by.is_finite() {
            true => self.map(|end| end * by),
            false => Self::ALL,
        }
    }
}

impl Ranges<'_> {
    /// An integer that a floating-point number was rounded to.
    pub(super) fn rounded(
        &mut self,
        at: usize,
        from: &Operand,
        cvt: Cvt,
        premise: Premise,
    ) -> Option<Range> {
        // Of a constant with more bits single precision might be another number.
        if !is_integer(cvt.to) || cvt.to.bits() != 32 || cvt.from != Type::F32 {
            return None;
        }
        let reals = self.real(at, from, premise, MOST_STEPS);
        let round = rounding(cvt.integer?);
        let window = Range::full(32).read(cvt.to.kind() == Kind::Signed, 32);
        let end = |end: f32| (round(end) as i128).clamp(window.low, window.high);
        let range = Range::new(end(reals.low), end(reals.high));
        Some(if reals.nan { range.hull(Range::of(0)) } else { range })
    }

    fn real(&mut self, at: usize, operand: &Operand, premise: Premise, steps: u32) -> Reals {
        match operand {
            Operand::F32(bits) => Reals::of(f32::from_bits(*bits)).flushed(),
            Operand::F64(bits) => Reals::of(f64::from_bits(*bits) as f32).flushed(),
            Operand::Reg(reg) => {
                let value = self.known.values.before(at, *reg);
                self.real_value(value, premise, steps).unwrap_or(Reals::ALL).flushed()
            }
            Operand::Not(_) | Operand::Int(_) | Operand::Special(_) => Reals::ALL,
            Operand::Symbol(..) | Operand::Address(_) | Operand::Vector(_) => Reals::ALL,
            Operand::Bracket(_) | Operand::Label(_) | Operand::Table(_) | Operand::Sink => {
                Reals::ALL
            }
        }
    }

    fn real_value(&mut self, value: Value, premise: Premise, steps: u32) -> Option<Reals> {
        let steps = steps.checked_sub(1)?;
        let (at, i) = self.known.values.instruction(value).filter(|(_, i)| i.guard.is_none())?;
        if i.dst.first().and_then(Operand::reg) != Some(value.reg()) {
            return None;
        }
        let mut source = |number: usize| match i.src.get(number) {
            Some(operand) => self.real(at, operand, premise, steps),
            None => Reals::ALL,
        };
        match Semantics::of(&i.op)? {
            Semantics::Move(Type::F32) => Some(source(0)),
            Semantics::Real(Real::Least) => {
                let [a, b] = [source(0), source(1)];
                let high = if a.nan { b.high } else { a.high.min(b.high) };
                let high = if b.nan { a.high.max(high) } else { high };
                Some(Reals { low: a.low.min(b.low), high, nan: a.nan && b.nan })
            }
            Semantics::Real(Real::Greatest) => {
                let [a, b] = [source(0), source(1)];
                let low = if a.nan { b.low } else { a.low.max(b.low) };
                let low = if b.nan { a.low.min(low) } else { low };
                Some(Reals { low, high: a.high.max(b.high), nan: a.nan && b.nan })
            }
            Semantics::Real(Real::Sum) => Some(source(0).plus(source(1))),
            Semantics::Real(Real::Product) => {
                let [a, b] = [source(0), source(1)];
                match a.low == a.high && !a.nan {
                    true => Some(b.times(a.low)),
                    false if b.low == b.high && !b.nan => Some(a.times(b.low)),
                    false => None,
                }
            }
            Semantics::Convert(cvt)
                if cvt.to == Type::F32 && cvt.from == Type::F32 && !cvt.relu =>
            {
                let all = source(0);
                let all = match cvt.integer {
                    Some(integer) => all.map(rounding(integer)),
                    None => all,
                };
                Some(match cvt.sat {
                    true if all.nan => {
                        Reals { low: 0.0, high: all.high.clamp(0.0, 1.0), nan: false }
                    }
                    true => all.map(|end| end.clamp(0.0, 1.0)),
                    false => all,
                })
            }
            Semantics::Convert(cvt)
                if cvt.to == Type::F32
                    && is_integer(cvt.from)
                    && matches!(cvt.rounding, None | Some(Rounding::Nearest)) =>
            {
                let range = self.operand(at, i.src.first()?, premise)?;
                let range = super::known::numbers(range, cvt.from);
                let all = Reals { low: range.low as f32, high: range.high as f32, nan: false };
                Some(if cvt.sat { Reals::ALL } else { all })
            }
            Semantics::Move(_)
            | Semantics::Convert(_)
            | Semantics::Address { .. }
            | Semantics::Integer(..) => None,
            Semantics::Choice(_) | Semantics::Load(_) | Semantics::Predicate(_) => None,
        }
    }
}

fn rounding(integer: IntRounding) -> fn(f32) -> f32 {
    match integer {
        IntRounding::Nearest => f32::round_ties_even,
        IntRounding::Zero => f32::trunc,
        IntRounding::Down => f32::floor,
        IntRounding::Up => f32::ceil,
    }
}
