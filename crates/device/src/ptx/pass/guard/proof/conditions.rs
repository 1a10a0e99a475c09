//! What branches tell of values where their way was taken.

use std::collections::{BTreeMap, HashMap};

use super::known::Known;
use super::values::{Value, Values};
use crate::ptx::cfg::BlockId;
use crate::ptx::inst::{Guard, Op};
use crate::ptx::modifier::{BoolOp, Cmp, Half};
use crate::ptx::op::Next;
use crate::ptx::op::{Integer, Predicate, Semantics};
use crate::ptx::operand::{Label, Operand};
use crate::ptx::types::{Kind, Type};

/// Most steps from a predicate to what it was made of, and from a number to those that it was computed of.
const MOST_STEPS: u32 = 12;

/// A comparison of which it is known how it came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Fact {
    /// The index of the `setp` among the statements.
    pub(super) at: usize,
    pub(super) holds: bool,
}

/// Facts that hold together: a number of [`Conditions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Premise(pub(super) u32);

impl Premise {
    /// Nothing is known.
    pub(super) const NONE: Self = Self(0);
}

/// How an integer is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Equal,
    Unequal,
    /// At most the other less this.
    Below(i128),
    /// At least the other plus this.
    Above(i128),
}

impl Order {
    fn of(cmp: Cmp) -> Option<Self> {
        match cmp {
            Cmp::Eq => Some(Self::Equal),
            Cmp::Ne => Some(Self::Unequal),
            Cmp::Lt | Cmp::Lo => Some(Self::Below(1)),
            Cmp::Le | Cmp::Ls => Some(Self::Below(0)),
            Cmp::Gt | Cmp::Hi => Some(Self::Above(1)),
            Cmp::Ge | Cmp::Hs => Some(Self::Above(0)),
            Cmp::Equ | Cmp::Neu | Cmp::Ltu | Cmp::Leu | Cmp::Gtu | Cmp::Geu => None,
            Cmp::Num | Cmp::Nan => None,
        }
    }

    fn turned(self) -> Self {
        match self {
            Self::Equal => Self::Unequal,
            Self::Unequal => Self::Equal,
            Self::Below(by) => Self::Above(1 - by),
            Self::Above(by) => Self::Below(1 - by),
        }
    }

    fn swapped(self) -> Self {
        match self {
            Self::Equal => Self::Equal,
            Self::Unequal => Self::Unequal,
            Self::Below(by) => Self::Above(by),
            Self::Above(by) => Self::Below(by),
        }
    }
}

/// What a fact says of a value x: `factor` x + `more`, read as a number of `bits`, stands so to the other operand.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    pub(super) factor: i128,
    pub(super) more: i128,
    pub(super) bits: u32,
    pub(super) signed: bool,
    pub(super) order: Order,
    /// The other operand, as it is before the statement.
    pub(super) other: Operand,
    pub(super) at: usize,
}

/// All premises that were asked for, and what they say.
#[derive(Default)]
pub(super) struct Conditions {
    premises: Vec<Vec<Fact>>,
    numbers: HashMap<Vec<Fact>, Premise>,
    of_block: HashMap<BlockId, Premise>,
    bounds: HashMap<Fact, Vec<(Value, Bound)>>,
    of_context: HashMap<Premise, BTreeMap<Value, Vec<Bound>>>,
}

impl Conditions {
    pub(super) fn new() -> Self {
        let mut all = Self::default();
        all.number(Vec::new());
        all
    }

    fn number(&mut self, mut facts: Vec<Fact>) -> Premise {
        facts.sort_unstable();
        facts.dedup();
        if let Some(premise) = self.numbers.get(&facts) {
            return *premise;
        }
        let premise = Premise(self.premises.len() as u32);
        self.premises.push(facts.clone());
        self.numbers.insert(facts, premise);
        premise
    }

    /// What holds wherever a block runs: each branch that leads only there has gone so.
    pub(super) fn of_block(&mut self, values: &Values<'_>, block: BlockId) -> Premise {
        if let Some(premise) = self.of_block.get(&block) {
            return *premise;
        }
        let (mut facts, mut at) = (Vec::new(), Some(block));
        while let Some(here) = at {
            let before = values.cfg.block(here).predecessors.iter();
            let mut outside = before.filter(|from| !values.dominates(here, **from));
            if let (Some(from), None) = (outside.next(), outside.next()) {
                facts.extend(on_way(values, *from, here));
            }
            at = values.above(here);
        }
        let premise = self.number(facts);
        self.of_block.insert(block, premise);
        premise
    }

    /// What holds where control goes from one block to the next.
    pub(super) fn of_way(&mut self, values: &Values<'_>, from: BlockId, to: BlockId) -> Premise {
        let premise = self.of_block(values, from);
        self.with(premise, on_way(values, from, to))
    }

    /// What holds where a premise does, and control has come from one block to the next.
    pub(super) fn on_the_way(
        &mut self,
        values: &Values<'_>,
        premise: Premise,
        from: BlockId,
        to: BlockId,
    ) -> Premise {
        let way = self.of_way(values, from, to);
        let facts = self.premises[way.0 as usize].clone();
        self.with(premise, facts)
    }

    /// Whether control cannot have come from one block to the next, when it came there last, where a premise holds: a
    /// comparison that is always made before came out otherwise.
    pub(super) fn excludes(
        &mut self,
        values: &Values<'_>,
        premise: Premise,
        from: BlockId,
        to: BlockId,
    ) -> bool {
        let way = self.of_way(values, from, to);
        let (way, facts) = (&self.premises[way.0 as usize], &self.premises[premise.0 as usize]);
        let is_before = |at: usize| {
            let block = values.block(at);
            block != to && values.dominates(block, to)
        };
        let contradicts =
            |one: &Fact| facts.iter().any(|other| one.at == other.at && one.holds != other.holds);
        way.iter().any(|fact| is_before(fact.at) && contradicts(fact))
    }

    /// What holds where a predicate does, too, as it is before the statement `at`.
    pub(super) fn given(
        &mut self,
        values: &Values<'_>,
        premise: Premise,
        at: usize,
        guard: Guard,
    ) -> Premise {
        let mut facts = Vec::new();
        expand(values, values.before(at, guard.reg), !guard.negated, MOST_STEPS, &mut facts);
        self.with(premise, facts)
    }

    /// Whether the facts of a premise contradict each other, so that control never comes where they hold.
    pub(super) fn is_never(&self, premise: Premise) -> bool {
        let facts = self.premises[premise.0 as usize].windows(2);
        facts.into_iter().any(|pair| pair[0].at == pair[1].at)
    }

    /// All facts of a premise.
    pub(super) fn facts(&self, premise: Premise) -> &[Fact] {
        self.premises.get(premise.0 as usize).map_or(&[], Vec::as_slice)
    }

    fn with(&mut self, premise: Premise, more: Vec<Fact>) -> Premise {
        if more.is_empty() {
            return premise;
        }
        let mut facts = self.premises[premise.0 as usize].clone();
        facts.extend(more);
        self.number(facts)
    }

    /// What a premise says of a value.
    pub(super) fn bounds(&mut self, known: Known<'_>, premise: Premise, of: Value) -> Vec<Bound> {
        self.by_value(known, premise).get(&of).cloned().unwrap_or_default()
    }

    /// What a premise says of all values.
    pub(super) fn all(&mut self, known: Known<'_>, premise: Premise) -> Vec<(Value, Bound)> {
        let all = self.by_value(known, premise).iter();
        all.flat_map(|(value, bounds)| bounds.iter().map(|bound| (*value, bound.clone()))).collect()
    }

    fn by_value(&mut self, known: Known<'_>, premise: Premise) -> &BTreeMap<Value, Vec<Bound>> {
        if !self.of_context.contains_key(&premise) {
            let mut all: BTreeMap<Value, Vec<Bound>> = BTreeMap::new();
            for fact in self.premises[premise.0 as usize].clone() {
                let bounds = self.bounds.entry(fact).or_insert_with(|| bounds(known, fact));
                for (value, bound) in bounds {
                    all.entry(*value).or_default().push(bound.clone());
                }
            }
            self.of_context.insert(premise, all);
        }
        self.of_context.entry(premise).or_default()
    }
}

/// What the last branch of a block tells where it goes to `to`.
fn on_way(values: &Values<'_>, from: BlockId, to: BlockId) -> Vec<Fact> {
    let mut facts = Vec::new();
    let block = values.cfg.block(from);
    let Some((at, last)) = values.cfg.instructions(values.body, from).next_back() else {
        return facts;
    };
    let Some(guard) = last.guard.filter(|_| last.is_terminator()) else { return facts };
    let target = match last.op.facts().next {
        Next::Branches => last.branch_target().and_then(|label: Label| values.cfg.target(label)),
        Next::Returns | Next::Exits | Next::Traps => None,
        Next::Follows | Next::BranchesByTable => return facts,
    };
    let (goes, falls) = (target == Some(to), block.next == Some(to));
    if goes != falls {
        let holds = goes != guard.negated;
        expand(values, values.before(at, guard.reg), holds, MOST_STEPS, &mut facts);
    }
    facts
}

/// The comparisons that a predicate was made of, where they are known of it.
fn expand(values: &Values<'_>, predicate: Value, holds: bool, steps: u32, facts: &mut Vec<Fact>) {
    let Some((at, i)) = values.instruction(predicate).filter(|(_, i)| i.guard.is_none()) else {
        return;
    };
    let Some(steps) = steps.checked_sub(1) else { return };
    let mut further = |operand: Option<&Operand>, holds: bool| match operand {
        Some(Operand::Reg(reg)) => expand(values, values.before(at, *reg), holds, steps, facts),
        Some(Operand::Not(reg)) => expand(values, values.before(at, *reg), !holds, steps, facts),
        Some(_) | None => {}
    };
    let all = |op: BoolOp| match op {
        BoolOp::And => holds,
        BoolOp::Or => !holds,
        BoolOp::Xor => false,
    };
    match Semantics::of(&i.op) {
        Some(Semantics::Predicate(Predicate::Of(op))) if all(op) => {
            further(i.src.first(), holds);
            further(i.src.get(1), holds);
        }
        Some(Semantics::Predicate(Predicate::Not)) => further(i.src.first(), !holds),
        Some(Semantics::Move(Type::Pred)) => further(i.src.first(), holds),
        Some(Semantics::Predicate(Predicate::Compare(_, combine, _))) => {
            // The second result is of the contrary.
            let is_first = i.dst.first().and_then(Operand::reg) == Some(predicate.reg());
            match combine {
                None => facts.push(Fact { at, holds: holds == is_first }),
                Some(op) if all(op) && is_first => {
                    further(i.src.get(2), holds);
                    facts.push(Fact { at, holds });
                }
                Some(_) => {}
            }
        }
        Some(
            Semantics::Predicate(Predicate::Of(_)) | Semantics::Move(_) | Semantics::Address { .. },
        ) => {}
        Some(
            Semantics::Integer(..)
            | Semantics::Convert(_)
            | Semantics::Choice(_)
            | Semantics::Load(_),
        ) => {}
        Some(Semantics::Real(_)) => {}
        None => {
            let is_real = matches!(i.op, Op::Setp { combine: None, ty: Type::F32, cmp: _, ftz: _ });
            let is_first = i.dst.first().and_then(Operand::reg) == Some(predicate.reg());
            facts.extend(is_real.then_some(Fact { at, holds: holds == is_first }));
        }
    }
}

/// What a fact says of the values that its operands are, and were computed of.
fn bounds(known: Known<'_>, fact: Fact) -> Vec<(Value, Bound)> {
    let (mut all, values) = (Vec::new(), known.values);
    let statement = values.body.statements.get(fact.at);
    let Some(crate::ptx::ast::Statement::Instruction(i)) = statement else {
        return all;
    };
    let Some(Semantics::Predicate(Predicate::Compare(cmp, _, ty))) = Semantics::of(&i.op) else {
        return all;
    };
    let [a, b, ..] = i.src.as_slice() else { return all };
    let Some(order) = Order::of(cmp) else { return all };
    let order = if fact.holds { order } else { order.turned() };
    for (one, other, order) in [(a, b, order), (b, a, order.swapped())] {
        let Some(reg) = one.reg() else { continue };
        let (bits, signed) = (ty.bits(), is_signed(ty, cmp));
        let mut value = values.before(fact.at, reg);
        let (mut factor, mut more) = (1, 0);
        for _ in 0..MOST_STEPS {
            let (other, at) = (other.clone(), fact.at);
            let canonical = values.canonical(value);
            all.push((canonical, Bound { factor, more, bits, signed, order, other, at }));
            let Some((from, by, plus)) = linear(known, value, bits) else { break };
            let Some(all) = i128::checked_mul(factor, by) else { break };
            (value, more, factor) = (from, factor * plus + more, all);
            if factor == 0 || factor.abs() > 1 << 40 || more.abs() > 1 << 80 {
                break;
            }
        }
    }
    all
}

fn is_signed(ty: Type, cmp: Cmp) -> bool {
    let unsigned = matches!(cmp, Cmp::Lo | Cmp::Ls | Cmp::Hi | Cmp::Hs);
    ty.kind() == Kind::Signed && !unsigned
}

/// The value that another one is a multiple of, plus a constant, modulo two to the `bits`.
pub(super) fn linear(known: Known<'_>, value: Value, bits: u32) -> Option<(Value, i128, i128)> {
    let (at, i) = known.values.instruction(value).filter(|(_, i)| i.guard.is_none())?;
    if i.dst.first().and_then(Operand::reg) != Some(value.reg()) {
        return None;
    }
    let from = |number: usize| Some(known.values.before(at, i.src.get(number)?.reg()?));
    let fixed = |number: usize| known.operand(at, i.src.get(number)?);
    // A product of a source and a constant, to which another constant is added.
    let product = |more: i128| match fixed(1) {
        Some(by) => Some((from(0)?, by, more)),
        None => Some((from(1)?, fixed(0)?, more)),
    };
    match Semantics::of(&i.op)? {
        Semantics::Move(ty) if ty.bits() == bits => Some((from(0)?, 1, 0)),
        Semantics::Integer(operation, ty) if ty.bits() == bits => match operation {
            Integer::Sum => match fixed(1) {
                Some(by) => Some((from(0)?, 1, by)),
                None => Some((from(1)?, 1, fixed(0)?)),
            },
            Integer::Difference => match fixed(1) {
                Some(by) => Some((from(0)?, 1, -by)),
                None => Some((from(1)?, -1, fixed(0)?)),
            },
            Integer::ShiftLeft => {
                let by = u32::try_from(fixed(1)?).ok().filter(|by| *by < 32)?;
                Some((from(0)?, 1 << by, 0))
            }
            Integer::Product(Half::Lo) => product(0),
            Integer::Mad(Half::Lo) => product(fixed(2)?),
            Integer::Product(Half::Hi | Half::Wide) | Integer::Mad(Half::Hi | Half::Wide) => None,
            Integer::Quotient | Integer::Remainder | Integer::Negative | Integer::Complement => {
                None
            }
            Integer::Least | Integer::Greatest | Integer::Bitwise(_) | Integer::ShiftRight => None,
            Integer::Magnitude | Integer::Extract | Integer::Insert => None,
            Integer::Bytes | Integer::Count => None,
        },
        Semantics::Move(_)
        | Semantics::Integer(..)
        | Semantics::Address { .. }
        | Semantics::Convert(_) => None,
        Semantics::Choice(_)
        | Semantics::Load(_)
        | Semantics::Real(_)
        | Semantics::Predicate(_) => None,
    }
}
