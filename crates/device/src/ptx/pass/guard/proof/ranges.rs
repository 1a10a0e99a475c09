//! Between which numbers a value lies, in a launch of which sizes and arguments are known.

use std::collections::{BTreeSet, HashMap};

use super::Launch;
use super::conditions::{Bound, Conditions, Order, Premise};
use super::known::Known;
use super::range::Range;
use super::values::{Value, Values};
use crate::ptx::cfg::BlockId;
use crate::ptx::inst::Guard;
use crate::ptx::op::Semantics;
use crate::ptx::operand::{Operand, Reg};
use crate::ptx::pass::origin::{Origin, Origins, Source};

/// Most values that one question leads to, and how far it leads.
const MOST_VALUES: u32 = 4_000;
const DEEPEST: u32 = 120;
/// Most choices within one another whose conditions are looked at.
const MOST_CHOICES: u32 = 3;
/// Most cases that are looked at apart.
const MOST_CASES: u32 = 48;

/// What is known of the values of a body in a launch.
pub(super) struct Ranges<'a> {
    pub(super) known: Known<'a>,
    pub(super) conditions: Conditions,
    found: HashMap<(Value, Premise), Range>,
    open: BTreeSet<(Value, Premise)>,
    /// What is known of counters while their loops are looked at.
    pub(super) counters: HashMap<Value, Range>,
    left: u32,
    depth: u32,
    /// The choices that were met, with the places where they are made.
    chosen: Vec<(usize, Reg)>,
    /// Choices whose conditions may be looked at yet.
    choices: u32,
}

impl<'a> Ranges<'a> {
    pub(super) fn new(
        values: &'a Values<'a>,
        origins: &'a Origins<'a>,
        launch: &'a Launch<'a>,
    ) -> Self {
        Self {
            known: Known { values, origins, launch },
            conditions: Conditions::new(),
            found: HashMap::new(),
            open: BTreeSet::new(),
            counters: HashMap::new(),
            left: 0,
            depth: 0,
            chosen: Vec::new(),
            choices: 0,
        }
    }

    /// Whether what a register holds before a statement that runs where the guard holds is `fine`. Of an address of a
    /// variable it is the distance from there.
    ///
    /// Where it was computed of choices, it must be so whichever way they go, and so it must whichever way led there.
    pub(super) fn is_before(
        &mut self,
        at: usize,
        reg: Reg,
        guard: Option<Guard>,
        fine: impl Fn(Range) -> bool,
    ) -> bool {
        let values = self.known.values;
        let mut premise = self.conditions.of_block(values, values.block(at));
        if let Some(guard) = guard {
            premise = self.conditions.given(values, premise, at, guard);
        }
        let mut open = vec![(premise, Some(values.block(at)))];
        let mut asked = 0;
        while let Some((premise, block)) = open.pop() {
            let value = values.before(at, reg);
            asked += 1;
            if fine(self.asked(value, premise)) {
                continue;
            }
            if asked > MOST_CASES {
                return false;
            }
            // Once more, to see which choices it depends on.
            self.found.clear();
            self.asked(value, premise);
            if let Some((at, chooser)) = self.chosen.first().copied() {
                for negated in [false, true] {
                    let guard = Guard { reg: chooser, negated };
                    let premise = self.conditions.given(values, premise, at, guard);
                    if !self.conditions.is_never(premise) {
                        open.push((premise, block));
                    }
                }
                continue;
            }
            let Some(block) = block.and_then(|block| values.join_above(block)) else {
                return false;
            };
            for from in &values.cfg.block(block).predecessors {
                let premise = self.conditions.on_the_way(values, premise, *from, block);
                if !self.conditions.is_never(premise) {
                    open.push((premise, values.above(block)));
                }
            }
        }
        true
    }

    /// Begins with a question.
    pub(super) fn begin(&mut self) {
        (self.left, self.depth, self.choices) = (MOST_VALUES, 0, MOST_CHOICES);
        self.chosen.clear();
    }

    fn asked(&mut self, value: Value, premise: Premise) -> Range {
        self.begin();
        self.of(value, premise)
    }

    /// Bytes of the arguments.
    pub(super) fn argument(&mut self, place: std::ops::Range<usize>) -> Option<&'a [u8]> {
        self.known.values.read.borrow_mut().insert((place.start, place.end));
        self.known.launch.arguments.get(place)
    }

    pub(super) fn bits(&self, reg: Reg) -> u32 {
        self.known.values.body.registers.ty(reg).bits().clamp(1, 64)
    }

    /// Whether a register holds an address of which only the distance from its variable is known.
    pub(super) fn is_relative(&self, reg: Reg) -> bool {
        match self.known.origins.of(reg).origin {
            Origin::Pointer { sources, .. } => {
                sources.iter().any(|source| matches!(source, Source::Symbol(_)))
            }
            Origin::Number { .. } | Origin::Unknown => false,
        }
    }

    /// Whether it is one of a single variable.
    pub(super) fn is_of_one(&self, reg: Reg) -> bool {
        match self.known.origins.of(reg).origin {
            Origin::Pointer { sources, .. } => sources.len() == 1,
            Origin::Number { .. } | Origin::Unknown => false,
        }
    }

    /// A value, where the facts of a premise hold.
    pub(super) fn of(&mut self, value: Value, premise: Premise) -> Range {
        let value = self.known.values.canonical(value);
        let reg = value.reg();
        let full = Range::full(self.bits(reg));
        if let Some(known) = self.found.get(&(value, premise)) {
            return *known;
        }
        if let Some(counter) = self.counters.get(&value).copied() {
            return self.bounded(value, counter, premise);
        }
        if self.left == 0 || self.depth >= DEEPEST || !self.open.insert((value, premise)) {
            return full;
        }
        (self.left, self.depth) = (self.left - 1, self.depth + 1);
        let range = match value {
            Value::Result(..) => self.result(value, premise).unwrap_or(full),
            Value::Phi(block, _) => self.phi(block, reg, premise),
            Value::Unset(_) => full,
        };
        let range = self.bounded(value, range.limited(self.bits(reg)), premise);
        self.depth -= 1;
        self.open.remove(&(value, premise));
        self.found.insert((value, premise), range);
        range
    }

    /// An operand as it is before a statement.
    pub(super) fn operand(
        &mut self,
        at: usize,
        operand: &Operand,
        premise: Premise,
    ) -> Option<Range> {
        match operand {
            Operand::Reg(reg) => {
                let value = self.known.values.before(at, *reg);
                Some(self.of(value, premise))
            }
            Operand::Int(value) => Some(Range::of((*value).into())),
            Operand::Special(special) => self.known.launch.special(*special),
            Operand::Not(_) | Operand::F32(_) | Operand::F64(_) | Operand::Symbol(..) => None,
            Operand::Address(_) | Operand::Vector(_) | Operand::Bracket(_) => None,
            Operand::Label(_) | Operand::Table(_) | Operand::Sink => None,
        }
    }

    /// The range of a φ: the hull of its inputs' ranges.
    fn phi(&mut self, block: BlockId, reg: Reg, premise: Premise) -> Range {
        let values = self.known.values;
        let (back, ahead): (Vec<_>, Vec<_>) = values
            .phi_inputs(block, reg)
            .into_iter()
            .partition(|(from, _)| values.dominates(block, *from));
        let full = Range::full(self.bits(reg));
        if block == BlockId(0) || ahead.is_empty() {
            return full;
        }
        let mut first: Option<Range> = None;
        for (from, value) in ahead {
            if back.is_empty() && self.conditions.excludes(values, premise, from, block) {
                continue;
            }
            let range = self.on_way(from, block, value);
            first = Some(first.map_or(range, |all| all.hull(range)));
        }
        let (Some(first), own) = (first, Value::Phi(block, reg)) else { return full };
        if back.iter().all(|(_, value)| *value == own) {
            return first;
        }
        let Some(counted) = self.counted(block, reg, first) else { return full };
        // What the counter is when it comes back is known better still.
        self.counters.insert(own, counted);
        let mut all = first;
        for (from, value) in back {
            let range = if value == own { first } else { self.on_way(from, block, value) };
            all = all.hull(range);
        }
        let all = all.and_also(counted, self.bits(reg));
        self.counters.insert(own, all);
        all
    }

    /// A value, where control goes from one block to another.
    pub(super) fn on_way(&mut self, from: BlockId, to: BlockId, value: Value) -> Range {
        let premise = self.conditions.of_way(self.known.values, from, to);
        self.of(value, premise)
    }

    /// One of two operands, chosen by a predicate.
    pub(super) fn chosen(
        &mut self,
        at: usize,
        choice: [&Operand; 2],
        chooser: Reg,
        premise: Premise,
    ) -> Option<Range> {
        self.each_way(at, choice, chooser, premise, |ranges, operand, premise| {
            ranges.operand(at, operand, premise)
        })
    }

    /// The sum of an operand and one that was chosen, perhaps by what the first is.
    pub(super) fn sum_of_choice(
        &mut self,
        at: usize,
        a: &Operand,
        b: &Operand,
        premise: Premise,
    ) -> Option<Range> {
        let (a, b) = (a.reg()?, self.known.values.before(at, b.reg()?));
        let a = self.known.values.before(at, a);
        let (at, i) = self.known.values.instruction(b).filter(|(_, i)| i.guard.is_none())?;
        let Some(Semantics::Choice(_)) = Semantics::of(&i.op) else { return None };
        let [one, other, Operand::Reg(chooser)] = i.src.as_slice() else { return None };
        if self.choices == 0 || self.is_relative(b.reg()) {
            return None;
        }
        self.each_way(at, [one, other], *chooser, premise, |ranges, operand, premise| {
            Some(ranges.operand(at, operand, premise)?.plus(ranges.of(a, premise)))
        })
    }

    /// What is known of both ways that a choice may go.
    fn each_way(
        &mut self,
        at: usize,
        [a, b]: [&Operand; 2],
        chooser: Reg,
        premise: Premise,
        ask: impl Fn(&mut Self, &Operand, Premise) -> Option<Range>,
    ) -> Option<Range> {
        let looks = self.choices > 0;
        self.choices -= u32::from(looks);
        let ways = [(a, false), (b, true)].map(|(operand, negated)| {
            let guard = Guard { reg: chooser, negated };
            let given = self.conditions.given(self.known.values, premise, at, guard);
            (operand, given, self.conditions.is_never(given))
        });
        // Where its conditions are known to this premise, there is nothing to choose.
        let is_open = ways.iter().all(|(_, given, never)| *given != premise && !never);
        if is_open && !self.chosen.contains(&(at, chooser)) {
            self.chosen.push((at, chooser));
        }
        let mut all: Option<Range> = None;
        for (operand, given, never) in ways {
            if never {
                continue;
            }
            let premise = if looks { given } else { premise };
            match (all, ask(self, operand, premise)) {
                (_, None) => {
                    all = None;
                    break;
                }
                (None, one) => all = one,
                (Some(before), Some(one)) => all = Some(before.hull(one)),
            }
        }
        self.choices += u32::from(looks);
        all
    }

    /// What is left of a range where the facts of a premise hold.
    fn bounded(&mut self, value: Value, mut range: Range, premise: Premise) -> Range {
        if premise == Premise::NONE || self.is_relative(value.reg()) {
            return range;
        }
        for bound in self.conditions.bounds(self.known, premise, value) {
            let is_relative = bound.other.reg().is_some_and(|reg| self.is_relative(reg));
            let other = match is_relative {
                true => None,
                false => self.operand(bound.at, &bound.other, Premise::NONE),
            };
            // Where nothing is left control never comes.
            let left = other.and_then(|other| kept(range, &bound, other));
            range = left.unwrap_or(range);
        }
        range
    }
}

/// What of a range a bound allows.
fn kept(range: Range, bound: &Bound, other: Range) -> Option<Range> {
    let Bound { factor, more, bits, signed, .. } = *bound;
    let all = range.times(Range::of(factor))?.plus(Range::of(more));
    let window = match signed {
        true => Range::full(bits - 1).hull(Range::of(-(1 << (bits - 1)))),
        false => Range::full(bits),
    };
    let other = other.read(signed, bits);
    let allowed = match bound.order {
        Order::Equal => other,
        Order::Below(by) => window.intersection(Range::new(window.low, other.high - by))?,
        Order::Above(by) => window.intersection(Range::new(other.low + by, window.high))?,
        Order::Unequal => {
            let not = other.single()?;
            let away = |end: i128| (end - not).rem_euclid(1 << bits) == 0;
            let low = all.low + i128::from(away(all.low));
            let high = all.high - i128::from(away(all.high));
            return divided(Range::new(low, high), factor, more)
                .and_then(|left| left.intersection(range));
        }
    };
    // The same numbers, as often around as the range reaches.
    let (first, last) = (
        (all.low - allowed.high).div_euclid(1 << bits),
        (all.high - allowed.low).div_euclid(1 << bits),
    );
    let mut left: Option<Range> = None;
    for around in [first, first + 1, last - 1, last] {
        let moved = Range::new(allowed.low + (around << bits), allowed.high + (around << bits));
        if let Some(part) = moved.intersection(all) {
            left = Some(left.map_or(part, |left| left.hull(part)));
        }
    }
    divided(left?, factor, more).and_then(|left| left.intersection(range))
}

/// The x for which `factor` x + `more` may lie in a range.
fn divided(range: Range, factor: i128, more: i128) -> Option<Range> {
    let (mut low, mut high) = (range.low - more, range.high - more);
    if factor < 0 {
        (low, high) = (-high, -low);
    }
    let by = factor.abs();
    let (low, high) = (-(-low).div_euclid(by), high.div_euclid(by));
    (low <= high).then_some(Range::new(low, high))
}
