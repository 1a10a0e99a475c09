//! How often loops go round, and what counters make of it.

use super::conditions::{Bound, Order, Premise, linear};
use super::range::Range;
use super::ranges::Ranges;
use super::values::Value;
use crate::ptx::cfg::BlockId;
use crate::ptx::operand::Reg;

/// The most that a counter goes on in a round.
const FURTHEST: i128 = 1 << 32;

impl Ranges<'_> {
    /// What a register is at the head of a loop, which begins with `first` and adds a constant each time round: where
    /// it is known how often that may be.
    pub(super) fn counted(&mut self, head: BlockId, reg: Reg, first: Range) -> Option<Range> {
        let step = self.step(head, reg)?;
        let rounds = self.rounds(head)?;
        let way = step.checked_mul(rounds)?;
        Some(first.hull(first.plus(Range::of(way))))
    }

    /// What a loop adds to a register each time round.
    fn step(&self, head: BlockId, reg: Reg) -> Option<i128> {
        let (_, next) = self.back(head, reg)?;
        let (from, factor, by) = self.chain(next, Value::Phi(head, reg))?;
        let by = Range::of(by).signed(self.bits(reg)).low;
        (from == Value::Phi(head, reg) && factor == 1 && by.abs() < FURTHEST).then_some(by)
    }

    /// The only way back to the head of a loop, and what it leaves in a register.
    fn back(&self, head: BlockId, reg: Reg) -> Option<(BlockId, Value)> {
        let ways = self.known.values.phi_inputs(head, reg).into_iter();
        let mut back = ways.filter(|(from, _)| self.known.values.dominates(head, *from));
        back.next().filter(|_| back.next().is_none())
    }

    /// What a value was computed from by constants, up to `end`.
    fn chain(&self, mut value: Value, end: Value) -> Option<(Value, i128, i128)> {
        let bits = self.bits(end.reg());
        let (mut factor, mut more) = (1_i128, 0_i128);
        for _ in 0..64 {
            if value == end {
                return Some((value, factor, more));
            }
            let (from, by, plus) = linear(self.known, value, bits)?;
            (value, more, factor) =
                (from, factor.checked_mul(plus)? + more, factor.checked_mul(by)?);
            if more.abs() > 1 << 80 {
                return None;
            }
        }
        None
    }

    /// The most times that a loop may go back to its head.
    pub(super) fn rounds_of(&mut self, head: BlockId) -> Option<i128> {
        self.begin();
        self.rounds(head)
    }

    /// The most times that a loop may go back to its head: a comparison that holds each time says so.
    fn rounds(&mut self, head: BlockId) -> Option<i128> {
        let values = self.known.values;
        let mut back = values.cfg.block(head).predecessors.iter();
        let mut back = back.by_ref().filter(|from| values.dominates(head, **from));
        let from = *back.next()?;
        if back.next().is_some() {
            return None;
        }
        let premise = self.conditions.of_way(values, from, head);
        let mut least: Option<i128> = None;
        for (counter, bound) in self.conditions.all(self.known, premise) {
            let Value::Phi(block, reg) = counter else { continue };
            if block != head || self.is_relative(reg) {
                continue;
            }
            let Some(step) = self.step(head, reg) else { continue };
            let Some(rounds) = self.rounds_by(head, reg, step, &bound) else { continue };
            least = Some(least.map_or(rounds, |least| least.min(rounds)));
        }
        least
    }

    fn rounds_by(&mut self, head: BlockId, reg: Reg, step: i128, bound: &Bound) -> Option<i128> {
        let values = self.known.values;
        let mut start: Option<Range> = None;
        for (from, value) in values.phi_inputs(head, reg) {
            if !values.dominates(head, from) {
                let range = self.on_way(from, head, value);
                start = Some(start.map_or(range, |all| all.hull(range)));
            }
        }
        let step =
            bound.factor.checked_mul(step).filter(|step| *step != 0 && step.abs() < FURTHEST)?;
        let other = self.operand(bound.at, &bound.other, Premise::NONE)?;
        let window = match bound.signed {
            true => Range::full(bound.bits - 1).hull(Range::of(-(1 << (bound.bits - 1)))),
            false => Range::full(bound.bits),
        };
        let other = other.read(bound.signed, bound.bits);
        // What is compared the first time.
        let start = start?.times(Range::of(bound.factor))?.plus(Range::of(bound.more));
        let start = start.read(bound.signed, bound.bits);
        match bound.order {
            // It is compared once more when it is past the end, and must not have begun from the other side then.
            Order::Below(by) if step > 0 && other.high - by + step <= window.high => {
                Some(((other.high - by - start.low).div_euclid(step) + 1).max(0))
            }
            Order::Above(by) if step < 0 && other.low + by + step >= window.low => {
                Some(((start.high - other.low - by).div_euclid(-step) + 1).max(0))
            }
            Order::Unequal => {
                let is_fixed = match bound.other.reg() {
                    Some(reg) => {
                        let born = values.birthplace(values.before(bound.at, reg));
                        born != head && values.dominates(born, head)
                    }
                    None => true,
                };
                let (nearest, furthest) = match step > 0 {
                    true => (other.low - start.high, other.high - start.low),
                    false => (start.low - other.high, start.high - other.low),
                };
                let is_exact =
                    step.abs() == 1 || nearest == furthest && nearest.rem_euclid(step.abs()) == 0;
                (is_fixed && nearest >= 0 && is_exact).then(|| furthest.div_euclid(step.abs()))
            }
            Order::Below(_) | Order::Above(_) | Order::Equal => None,
        }
    }
}
