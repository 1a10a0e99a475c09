//! Addresses within a block of code, as sums of what is known before it. Where the block is a loop of its own, each
//! is a number and a step that it goes on by from one round to the next.

use std::{collections::HashMap, ops::Range};

use crate::ptx::{
    ast::{Body, Statement},
    inst::Instruction,
    modifier::Half,
    op::{Integer, Semantics},
    operand::{Operand, Reg, Special},
    pass::uniform::Shapes,
    types::{Space, Type},
};

/// An address may be made in so many steps.
const DEEPEST: usize = 24;

/// How a number is made. Those that it is made from are named by their places among the others.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    /// What the register holds before the block.
    Register(Reg),
    /// What the register holds before the block, and so much more (or less) in each round.
    Counter {
        reg: Reg,
        step: Step,
        back: bool,
    },
    /// What the operand is, whatever registers hold.
    Given(Operand, Type),
    Sum(usize, usize),
    Difference(usize, usize),
    /// One of them is the same in all rounds.
    Product(usize, usize),
    Shifted(usize, u32),
    /// 32 bits become 64 at a statement. So many more are they from thread to thread.
    Widened {
        of: usize,
        signed: bool,
        stride: i64,
        at: usize,
    },
    /// 64 bits become 32.
    Narrowed(usize),
}

/// By how much a counter goes on in each round: always the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Number(i64),
    Register(Reg),
}

/// The forms of numbers in a block.
pub(super) struct Forms<'a> {
    body: &'a Body,
    shapes: &'a Shapes,
    /// Whether the block is run round after round.
    loops: bool,
    /// The statements that write each register.
    writers: HashMap<Reg, Vec<usize>>,
    found: HashMap<(Reg, Option<usize>), Option<usize>>,
    forms: Vec<Form>,
}

impl<'a> Forms<'a> {
    pub(super) fn new(
        body: &'a Body,
        shapes: &'a Shapes,
        block: Range<usize>,
        loops: bool,
    ) -> Self {
        let mut writers = HashMap::<Reg, Vec<usize>>::new();
        for at in block {
            if let Statement::Instruction(i) = &body.statements[at] {
                i.for_each_def(|reg| writers.entry(reg).or_default().push(at));
            }
        }
        Self { body, shapes, loops, writers, found: HashMap::new(), forms: Vec::new() }
    }

    /// All that were asked for, each behind those that it is made from.
    pub(super) fn into_all(self) -> Vec<Form> {
        self.forms
    }

    /// The statements of the block that write a register.
    pub(super) fn writers(&self, reg: Reg) -> &[usize] {
        self.writers.get(&reg).map_or(&[], Vec::as_slice)
    }

    /// Whether it is another number in each round.
    pub(super) fn moves(&self, form: usize) -> bool {
        match self.forms[form] {
            Form::Register(_) | Form::Given(..) => false,
            Form::Counter { .. } => true,
            Form::Sum(a, b) | Form::Difference(a, b) | Form::Product(a, b) => {
                self.moves(a) || self.moves(b)
            }
            Form::Shifted(of, _) | Form::Widened { of, .. } | Form::Narrowed(of) => self.moves(of),
        }
    }

    /// How much further a counter, or a counter and a constant number, is in each round.
    pub(super) fn step(&self, form: usize) -> Option<i64> {
        match self.forms[form] {
            Form::Register(_) | Form::Given(..) => Some(0),
            Form::Counter { step: Step::Number(step), back, .. } => {
                if back {
                    step.checked_neg()
                } else {
                    Some(step)
                }
            }
            Form::Sum(a, b) => self.step(a)?.checked_add(self.step(b)?),
            Form::Difference(a, b) => self.step(a)?.checked_sub(self.step(b)?),
            Form::Counter { .. } | Form::Product(..) | Form::Shifted(..) => None,
            Form::Widened { .. } | Form::Narrowed(_) => None,
        }
    }

    /// What a statement reads as this operand of so many bits, if that is known.
    pub(super) fn operand(&mut self, operand: &Operand, ty: Type, at: usize) -> Option<usize> {
        self.operand_within(operand, ty, at, DEEPEST)
    }

    fn operand_within(
        &mut self,
        operand: &Operand,
        ty: Type,
        at: usize,
        depth: usize,
    ) -> Option<usize> {
        match operand {
            Operand::Reg(reg) if self.body.registers.ty(*reg).bytes() == ty.bytes() => {
                self.register_within(*reg, at, depth)
            }
            Operand::Int(_) | Operand::Symbol(..) | Operand::Special(Special::Axis(..)) => {
                self.shapes.operand(self.body, operand).stride()?;
                Some(self.add(Form::Given(operand.clone(), ty)))
            }
            Operand::Reg(_) | Operand::Not(_) | Operand::F32(_) | Operand::F64(_) => None,
            Operand::Special(_) | Operand::Address(_) => None,
            Operand::Vector(_) | Operand::Bracket(_) => None,
            Operand::Label(_) | Operand::Table(_) | Operand::Sink => None,
        }
    }

    /// What the register holds before a statement, if that is known.
    pub(super) fn register(&mut self, reg: Reg, at: usize) -> Option<usize> {
        self.register_within(reg, at, DEEPEST)
    }

    fn register_within(&mut self, reg: Reg, at: usize, depth: usize) -> Option<usize> {
        let depth = depth.checked_sub(1)?;
        let writers = self.writers(reg);
        let writer = writers.iter().rev().find(|writer| **writer < at).copied();
        let is_written = !writers.is_empty();
        if let Some(found) = self.found.get(&(reg, writer)) {
            return *found;
        }
        let ty = self.body.registers.ty(reg);
        let is_number = matches!(ty.bytes(), 4 | 8) && !ty.is_float() && !ty.is_packed();
        let form = match writer {
            _ if !is_number || self.shapes.of(reg).stride().is_none() => None,
            Some(writer) => self.written(reg, writer, depth),
            None if is_written && self.loops => self.counter(reg),
            None => Some(self.add(Form::Register(reg))),
        };
        self.found.insert((reg, writer), form);
        form
    }

    fn add(&mut self, form: Form) -> usize {
        self.forms.push(form);
        self.forms.len() - 1
    }

    fn instruction(&self, at: usize) -> Option<&'a Instruction> {
        match &self.body.statements[at] {
            Statement::Instruction(i) if i.guard.is_none() => Some(i),
            Statement::Instruction(_) | Statement::Label(_) | Statement::Pragma(_) => None,
        }
    }

    /// A register that one statement alone writes, and only adds to or takes from.
    fn counter(&mut self, reg: Reg) -> Option<usize> {
        let [writer] = self.writers(reg)[..] else { return None };
        let i = self.instruction(writer)?;
        let (Semantics::Integer(operation @ (Integer::Sum | Integer::Difference), ty), [a, b]) =
            (Semantics::of(&i.op)?, &i.src[..])
        else {
            return None;
        };
        let back = operation == Integer::Difference;
        let other =
            if a.reg() == Some(reg) { b } else { (b.reg() == Some(reg) && !back).then_some(a)? };
        let bytes = self.body.registers.ty(reg).bytes();
        let step = if let Operand::Int(step) = other {
            Step::Number(*step)
        } else {
            Step::Register(other.reg().filter(|step| self.is_fixed(*step, bytes))?)
        };
        (ty.bytes() == bytes).then(|| self.add(Form::Counter { reg, step, back }))
    }

    /// Whether a register holds the same in all rounds and threads.
    fn is_fixed(&self, reg: Reg, bytes: u32) -> bool {
        let is_same = !self.writers.contains_key(&reg) && self.shapes.of(reg).is_uniform();
        is_same && self.body.registers.ty(reg).bytes() == bytes
    }

    /// What a statement writes.
    fn written(&mut self, reg: Reg, at: usize, depth: usize) -> Option<usize> {
        let i = self.instruction(at)?;
        if !matches!(i.dst[..], [Operand::Reg(_)]) {
            return None;
        }
        let bytes = self.body.registers.ty(reg).bytes();
        let of = |forms: &mut Self, operand: usize, ty: Type| {
            forms.operand_within(i.src.get(operand)?, ty, at, depth)
        };
        let (ty, form) = match Semantics::of(&i.op)? {
            Semantics::Move(ty)
            | Semantics::Address { space: Space::Global, ty, to_generic: _ } => {
                return fits(ty, bytes).then(|| of(self, 0, ty))?;
            }
            Semantics::Integer(operation, ty) => match operation {
                Integer::Sum => (ty, Form::Sum(of(self, 0, ty)?, of(self, 1, ty)?)),
                Integer::Difference => (ty, Form::Difference(of(self, 0, ty)?, of(self, 1, ty)?)),
                Integer::Product(half) => {
                    let factors = [of(self, 0, ty)?, of(self, 1, ty)?];
                    (result(ty, half), self.product(factors, (i, at), ty, half)?)
                }
                Integer::Mad(half) => {
                    let factors = [of(self, 0, ty)?, of(self, 1, ty)?];
                    let result = result(ty, half);
                    let product = self.product(factors, (i, at), ty, half)?;
                    let product = self.add(product);
                    (result, Form::Sum(product, of(self, 2, result)?))
                }
                Integer::ShiftLeft => {
                    let Operand::Int(by @ 0..=31) = i.src.get(1)? else { return None };
                    (ty, Form::Shifted(of(self, 0, ty)?, *by as u32))
                }
                // No sums of multiples.
                Integer::Quotient | Integer::Remainder | Integer::ShiftRight => return None,
                Integer::Negative | Integer::Magnitude | Integer::Complement => return None,
                Integer::Least | Integer::Greatest | Integer::Bitwise(_) => return None,
                Integer::Extract | Integer::Insert | Integer::Bytes => return None,
                Integer::Count => return None,
            },
            Semantics::Convert(cvt) => {
                let (before, after) = cvt.resizes()?;
                let from = of(self, 0, before)?;
                match (before.bytes(), after.bytes()) {
                    (4, 8) => (after, self.widened(from, i.src.first()?, before, at)?),
                    (8, 4) => (after, Form::Narrowed(from)),
                    _ => return None,
                }
            }
            Semantics::Address { .. } | Semantics::Choice(_) | Semantics::Load(_) => return None,
            Semantics::Real(_) | Semantics::Predicate(_) => return None,
        };
        fits(ty, bytes).then(|| self.add(form))
    }

    fn product(
        &mut self,
        factors: [usize; 2],
        (i, at): (&Instruction, usize),
        ty: Type,
        half: Half,
    ) -> Option<Form> {
        if factors.iter().all(|of| self.moves(*of)) {
            return None;
        }
        let [a, b] = match half {
            Half::Hi => return None,
            Half::Lo => factors,
            Half::Wide if ty.bytes() == 4 => {
                let [a, b] = [0, 1].map(|place| {
                    let form = self.widened(factors[place], i.src.get(place)?, ty, at)?;
                    Some(self.add(form))
                });
                [a?, b?]
            }
            Half::Wide => return None,
        };
        Some(Form::Product(a, b))
    }

    fn widened(&self, of: usize, operand: &Operand, from: Type, at: usize) -> Option<Form> {
        let stride = self.shapes.operand(self.body, operand).stride()?;
        Some(Form::Widened { of, signed: from.is_signed(), stride, at })
    }
}

/// Whether it is an integer of a register's width.
fn fits(ty: Type, bytes: u32) -> bool {
    ty.bytes() == bytes && !ty.is_float() && !ty.is_packed()
}

/// The type of a product's half.
fn result(ty: Type, half: Half) -> Type {
    match half {
        Half::Wide => Type::B64,
        Half::Lo | Half::Hi => ty,
    }
}
