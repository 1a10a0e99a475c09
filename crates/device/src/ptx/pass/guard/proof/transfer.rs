//! What operations make of ranges.

use super::conditions::Premise;
use super::known::numbers;
use super::range::Range;
use super::ranges::Ranges;
use super::values::Value;
use crate::ptx::inst::{Guard, Instruction, Op};
use crate::ptx::modifier::{BoolOp, Cvt, Half};
use crate::ptx::op::{Integer, Semantics, is_integer};
use crate::ptx::operand::{Base, Operand, Symbol};
use crate::ptx::types::{Kind, Space, Type};

impl Ranges<'_> {
    /// What an instruction gives; none where it may be anything.
    pub(super) fn result(&mut self, value: Value, premise: Premise) -> Option<Range> {
        let (at, i) = self.known.values.instruction(value)?;
        let reg = value.reg();
        let Some(guard) = i.guard else { return self.given(at, i, value, premise) };
        // Where the guard does not hold, it stays what it was.
        let values = self.known.values;
        let then = self.conditions.given(values, premise, at, guard);
        let otherwise = Guard { negated: !guard.negated, ..guard };
        let otherwise = self.conditions.given(values, premise, at, otherwise);
        let new = self.given(at, i, value, then)?;
        Some(new.hull(self.of(values.before(at, reg), otherwise)))
    }

    fn given(
        &mut self,
        at: usize,
        i: &Instruction,
        value: Value,
        premise: Premise,
    ) -> Option<Range> {
        let reg = value.reg();
        if let Op::Ld(access) = &i.op {
            let lane = i.dst.first()?.lanes().iter().position(|lane| lane.reg() == Some(reg))?;
            return self.loaded(i, access.space, access.ty, lane);
        }
        if i.dst.first().and_then(Operand::reg) != Some(reg) {
            return None;
        }
        let relative = |operand: &Operand| match operand {
            Operand::Reg(reg) => self.is_relative(*reg),
            Operand::Symbol(..) => true,
            Operand::Not(_) | Operand::Int(_) | Operand::F32(_) | Operand::F64(_) => false,
            Operand::Special(_) | Operand::Label(_) | Operand::Table(_) | Operand::Sink => false,
            // No operation that gives an address has one of these.
            Operand::Address(_) | Operand::Vector(_) | Operand::Bracket(_) => false,
        };
        let relatives = i.src.iter().filter(|operand| relative(operand)).count();
        if relatives > 0 || self.is_relative(reg) {
            let only = relatives == 1 && self.is_relative(reg) && self.is_of_one(reg);
            let both = matches!(i.op, Op::Selp { .. }) && relatives == 2 && self.is_of_one(reg);
            let is_last = relative(i.src.last()?);
            return match only || both {
                true => self.address(at, i, is_last, premise),
                false => None,
            };
        }
        self.number(at, i, premise)
    }

    /// The distance of an address from its variable.
    fn address(
        &mut self,
        at: usize,
        i: &Instruction,
        is_last: bool,
        premise: Premise,
    ) -> Option<Range> {
        match Semantics::of(&i.op)? {
            Semantics::Move(_) | Semantics::Address { .. } => {
                let from = i.src.first()?;
                if let Operand::Symbol(_, offset) = from {
                    return Some(Range::of((*offset).into()));
                }
                self.operand(at, from, premise)
            }
            Semantics::Integer(operation, _) => match operation {
                Integer::Sum => self.number(at, i, premise),
                // What is added to, and what is subtracted from.
                Integer::Mad(_) if is_last => self.number(at, i, premise),
                Integer::Difference if !is_last => self.number(at, i, premise),
                Integer::Mad(_) | Integer::Difference | Integer::Product(_) => None,
                Integer::Quotient | Integer::Remainder | Integer::Negative => None,
                Integer::Complement | Integer::Least | Integer::Greatest => None,
                Integer::Bitwise(_) | Integer::ShiftLeft | Integer::ShiftRight => None,
                Integer::Magnitude | Integer::Extract | Integer::Insert => None,
                Integer::Bytes | Integer::Count => None,
            },
            Semantics::Choice(_) => self.number(at, i, premise),
            Semantics::Convert(_)
            | Semantics::Load(_)
            | Semantics::Real(_)
            | Semantics::Predicate(_) => None,
        }
    }

    fn number(&mut self, at: usize, i: &Instruction, premise: Premise) -> Option<Range> {
        let mut source = |number: usize| {
            let operand = i.src.get(number)?;
            self.operand(at, operand, premise)
        };
        match Semantics::of(&i.op)? {
            Semantics::Move(_) | Semantics::Address { space: Space::Global, .. } => source(0),
            Semantics::Integer(operation, ty) => self.integer(at, i, (operation, ty), premise),
            Semantics::Convert(cvt) if cvt.from == Type::F32 => {
                self.rounded(at, i.src.first()?, cvt, premise)
            }
            Semantics::Convert(cvt) => converted(source(0)?, cvt),
            Semantics::Choice(_) => {
                let [a, b, Operand::Reg(chooser)] = i.src.as_slice() else { return None };
                self.chosen(at, [a, b], *chooser, premise)
            }
            // Loads are looked at before; real numbers where they are rounded.
            Semantics::Address { .. }
            | Semantics::Load(_)
            | Semantics::Real(_)
            | Semantics::Predicate(_) => None,
        }
    }

    fn integer(
        &mut self,
        at: usize,
        i: &Instruction,
        (operation, ty): (Integer, Type),
        premise: Premise,
    ) -> Option<Range> {
        if let Some(exponent) = self.exponent(at, i, premise) {
            return Some(exponent);
        }
        let mut source = |number: usize| self.operand(at, i.src.get(number)?, premise);
        match operation {
            Integer::Sum => {
                let all = source(0)?.plus(source(1)?);
                let [a, b] = [&i.src[0], &i.src[1]];
                let apart = self.sum_of_choice(at, a, b, premise);
                let apart = apart.or_else(|| self.sum_of_choice(at, b, a, premise));
                Some(apart.unwrap_or(all))
            }
            Integer::Difference => {
                let all = source(0)?.minus(source(1)?);
                let [x, y] = [i.src[0].reg(), i.src[1].reg()];
                let (Some(x), Some(y)) = (x, y) else { return Some(all) };
                let [x, y] = [x, y].map(|reg| self.known.values.before(at, reg));
                Some(self.remainder(x, y, premise).unwrap_or(all))
            }
            Integer::Product(half) => product(source(0)?, source(1)?, half, ty),
            Integer::Mad(half) => Some(product(source(0)?, source(1)?, half, ty)?.plus(source(2)?)),
            Integer::Quotient => numbers(source(0)?, ty).over(numbers(source(1)?, ty)),
            Integer::Remainder => numbers(source(0)?, ty).modulo(numbers(source(1)?, ty)),
            Integer::Negative => Some(source(0)?.negated()),
            Integer::Magnitude => None,
            Integer::Complement => Some(Range::of(-1).minus(source(0)?)),
            Integer::Least => {
                let [a, b] = [source(0)?, source(1)?].map(|range| numbers(range, ty));
                Some(Range::new(a.low.min(b.low), a.high.min(b.high)))
            }
            Integer::Greatest => {
                let [a, b] = [source(0)?, source(1)?].map(|range| numbers(range, ty));
                Some(Range::new(a.low.max(b.low), a.high.max(b.high)))
            }
            Integer::Bitwise(op) => {
                let [a, b] = [source(0)?, source(1)?].map(|range| range.unsigned(ty.bits()));
                Some(match op {
                    BoolOp::And => a.and(b),
                    BoolOp::Or => a.or(b),
                    BoolOp::Xor => a.xor(b),
                })
            }
            Integer::ShiftLeft => {
                let by = u32::try_from(source(1)?.single()?).ok().filter(|by| *by < ty.bits())?;
                source(0)?.times(Range::of(1 << by))
            }
            Integer::ShiftRight => {
                let by = u32::try_from(source(1)?.single()?).ok()?;
                Some(numbers(source(0)?, ty).halved(by.min(ty.bits())))
            }
            Integer::Extract => {
                let (from, count) = (source(1)?.single()?, source(2)?.single()?);
                let (from, count) = (u32::try_from(from).ok()?, u32::try_from(count).ok()?);
                let mask = Range::of((1_i128 << count.min(64)) - 1);
                let bits = source(0)?.unsigned(ty.bits()).halved(from).and(mask);
                (from <= ty.bits() && count <= ty.bits()).then_some(bits)
            }
            Integer::Insert => {
                let (to, count) = (source(2)?.single()?, source(3)?.single()?);
                let (to, count) = (u32::try_from(to).ok()?, u32::try_from(count).ok()?);
                let is_inside = to.checked_add(count).is_some_and(|end| end <= ty.bits());
                let mask = Range::of((1_i128 << count.min(64)) - 1);
                let high =
                    source(0)?.unsigned(ty.bits()).and(mask).times(Range::of(1 << to.min(64)))?;
                let low = source(1)?.unsigned(ty.bits());
                let low = if low.high >> to.min(64) == 0 { low } else { Range::new(0, low.high) };
                is_inside.then(|| high.plus(low))
            }
            Integer::Bytes => bytes(source(0)?, source(1)?, source(2)?.single()?),
            Integer::Count => Some(Range::new(0, ty.bits().into())),
        }
    }

    /// What a load gives to a lane.
    fn loaded(
        &mut self,
        i: &Instruction,
        space: Option<Space>,
        ty: Type,
        lane: usize,
    ) -> Option<Range> {
        if !is_integer(ty) {
            return None;
        }
        let by_type = || {
            let signed = ty.kind() == Kind::Signed;
            (ty.bits() < 32).then(|| Range::full(ty.bits()).read(signed, ty.bits()))
        };
        let address = i.src.first().and_then(Operand::address)?;
        let is_parameter = matches!(address.base, Base::Symbol(Symbol::Param(_)));
        if !is_parameter || space.map(Space::kind) != Some(Space::Param) {
            return by_type();
        }
        self.known.parameter(address, ty, lane)
    }
}

fn product(a: Range, b: Range, half: Half, ty: Type) -> Option<Range> {
    match half {
        Half::Lo => a.times(b),
        Half::Wide => numbers(a, ty).times(numbers(b, ty)),
        Half::Hi => Some(numbers(a, ty).times(numbers(b, ty))?.halved(ty.bits())),
    }
}

/// `prmt`: bytes of two words, each chosen by four bits.
fn bytes(a: Range, b: Range, selectors: i128) -> Option<Range> {
    let (a, b) = (a.unsigned(32), b.unsigned(32));
    let (mut low, mut high) = (0, 0);
    for to in 0..4 {
        let selector = (selectors >> (4 * to)) & 15;
        if selector > 7 {
            return None;
        }
        let (word, from) = if selector < 4 { (a, selector) } else { (b, selector - 4) };
        let byte = word.halved(8 * from as u32).and(Range::of(255));
        low += byte.low << (8 * to);
        high += byte.high << (8 * to);
    }
    Some(Range::new(low, high))
}

fn converted(range: Range, cvt: Cvt) -> Option<Range> {
    if !is_integer(cvt.from) || !is_integer(cvt.to) || cvt.relu {
        return None;
    }
    let range = numbers(range, cvt.from);
    let window = numbers(Range::full(cvt.to.bits()), cvt.to);
    match cvt.sat {
        true => Some(Range::new(
            range.low.clamp(window.low, window.high),
            range.high.clamp(window.low, window.high),
        )),
        false => Some(numbers(range, cvt.to)),
    }
}
