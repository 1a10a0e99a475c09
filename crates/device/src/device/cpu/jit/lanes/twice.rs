//! The two translations of a piece of code that is checked before it ([`super::hoist`]): where all of its accesses are
//! good, it goes without their checks, and else with them, as all other code does.

use std::mem::offset_of;

use cranelift_codegen::ir::{InstBuilder, Value, condcodes::IntCC, types};

use super::{
    GroupLower,
    affine::{Form, Step as By},
    hoist::{Check, Piece, Rounds},
};
use crate::{
    device::{
        Result,
        cpu::{
            abi::BlockContext,
            jit::lower::{Step, clif_type},
        },
    },
    ptx::{ast::Statement, operand::Reg, types::Type},
};

/// A loop that may go round more often is not checked before it: so that all products of steps fit 64 bits.
const MOST_ROUNDS: i64 = 1 << 31;

/// A number in the first round, and by how much it goes on from each round to the next, if it does.
#[derive(Clone, Copy)]
struct Moving {
    first: Value,
    step: Option<Value>,
}

/// What is found out before a piece.
struct Findings {
    /// How many rounds follow the first one, in 64 bits.
    others: Option<Value>,
    /// Whether all is good so far.
    good: Value,
    /// The numbers of forms that were computed.
    numbers: Vec<Option<Moving>>,
    /// The statements at which what becomes 64 bits is known not to wrap.
    widened: Vec<usize>,
}

/// A piece all of whose accesses are good, and what else is known of it.
pub(super) struct Unchecked<'l> {
    piece: &'l Piece,
    widened: Vec<usize>,
}

impl<'l> GroupLower<'l, '_, '_> {
    /// The piece that begins with a statement, where code is made that has checks.
    pub(super) fn piece_at(&self, statement: usize) -> Option<&'l Piece> {
        let has_checks = self.prechecked.is_none() && self.unchecked.is_none();
        let mut pieces = self.plan.pieces.iter().filter(|_| has_checks);
        pieces.find(|piece| piece.statements.start == statement)
    }

    /// Whether the code is being made in which this access was checked before.
    pub(super) fn is_checked_before(&self, statement: usize) -> bool {
        let known = self.unchecked.as_ref();
        known.is_some_and(|known| known.piece.accesses.binary_search(&statement).is_ok())
    }

    /// Whether the code is being made in which what becomes 64 bits here was found not to wrap.
    pub(super) fn is_widened_before(&self, statement: usize) -> bool {
        self.unchecked.as_ref().is_some_and(|known| known.widened.contains(&statement))
    }

    /// The piece, without checks and with them.
    pub(super) fn twice(&mut self, piece: &'l Piece) -> Result<()> {
        let body = self.lower.body();
        let statements = || &body.statements[piece.statements.clone()];
        let found = match self.find_out(piece) {
            Ok(found) => found,
            Err(what) => {
                let first = statements().iter().find_map(|statement| match statement {
                    Statement::Instruction(i) => Some(i),
                    Statement::Label(_) | Statement::Pragma(_) => None,
                });
                let error = first.map(|i| self.lower.unsupported(i, what));
                return error.map_or(Ok(()), Err);
            }
        };
        let [without, with, behind] = [(); 3].map(|()| self.lower.b.create_block());
        self.lower.b.set_cold_block(with);
        self.lower.b.ins().brif(found.good, without, &[], with, &[]);
        self.lower.b.switch_to_block(without);
        let labels = statements().iter().filter_map(|statement| match statement {
            Statement::Label(label) => Some(*label),
            Statement::Instruction(_) | Statement::Pragma(_) => None,
        });
        let targets = self.lower.targets().clone();
        let targets = targets.with_own(&mut self.lower.b, labels);
        self.unchecked = Some(Unchecked { piece, widened: found.widened });
        self.with_targets(targets, |group| group.piece_statements(piece))?;
        self.unchecked = None;
        self.lower.b.ins().jump(behind, &[]);
        self.lower.b.switch_to_block(with);
        self.piece_statements(piece)?;
        self.lower.b.ins().jump(behind, &[]);
        self.lower.b.switch_to_block(behind);
        Ok(())
    }

    fn piece_statements(&mut self, piece: &Piece) -> Result<()> {
        for at in piece.statements.clone() {
            self.lower.check_limits()?;
            self.group_statement(at, None)?;
        }
        // A loop's branch leaves a block open, and so does all straight code.
        self.lower.open_block();
        Ok(())
    }

    /// Whether all accesses of the piece are good, and no number wraps that they are made from.
    fn find_out(&mut self, piece: &Piece) -> Step<Findings> {
        let yes = self.lower.b.ins().iconst(types::I8, 1);
        let numbers = vec![None; piece.forms.len()];
        let mut found = Findings { others: None, good: yes, numbers, widened: Vec::new() };
        if let Some(rounds) = &piece.rounds {
            let counter = self.number(rounds.counter, piece, &mut found)?.first;
            let bound = self.number(rounds.bound, piece, &mut found)?.first;
            self.count_rounds(rounds, [counter, bound], &mut found);
        }
        for check in &piece.checks {
            let number = self.number(check.form, piece, &mut found)?;
            self.covers(check, number, &mut found)?;
        }
        Ok(found)
    }

    fn and(&mut self, found: &mut Findings, holds: Value) {
        found.good = self.lower.b.ins().band(found.good, holds);
    }

    fn held_by(&mut self, reg: Reg) -> Value {
        let variable = self.lower.variable(reg);
        self.lower.b.use_var(variable)
    }

    fn int(&mut self, value: i64, ty: Type) -> Value {
        let clif = clif_type(ty);
        let value = if ty.bytes() == 4 { i64::from(value as u32) } else { value };
        self.lower.b.ins().iconst(clif, value)
    }

    fn number(&mut self, form: usize, piece: &Piece, found: &mut Findings) -> Step<Moving> {
        if let Some(number) = found.numbers[form] {
            return Ok(number);
        }
        let fixed = |first| Moving { first, step: None };
        let mut of = |group: &mut Self, form: usize| group.number(form, piece, found);
        let number = match piece.forms[form] {
            Form::Register(reg) => fixed(self.held_by(reg)),
            Form::Given(ref operand, ty) => fixed(self.lower.value(operand, ty)?),
            Form::Counter { reg, step, back } => {
                let ty = self.lower.body().registers.ty(reg);
                let step = match step {
                    By::Number(step) => self.int(step, ty),
                    By::Register(step) => self.held_by(step),
                };
                let step = if back { self.lower.b.ins().ineg(step) } else { step };
                Moving { first: self.held_by(reg), step: Some(step) }
            }
            Form::Sum(a, b) => {
                let (a, b) = (of(self, a)?, of(self, b)?);
                let step = match (a.step, b.step) {
                    (Some(a), Some(b)) => Some(self.lower.b.ins().iadd(a, b)),
                    (step, None) | (None, step) => step,
                };
                Moving { first: self.lower.b.ins().iadd(a.first, b.first), step }
            }
            Form::Difference(a, b) => {
                let (a, b) = (of(self, a)?, of(self, b)?);
                let step = match (a.step, b.step) {
                    (Some(a), Some(b)) => Some(self.lower.b.ins().isub(a, b)),
                    (step, None) => step,
                    (None, Some(b)) => Some(self.lower.b.ins().ineg(b)),
                };
                Moving { first: self.lower.b.ins().isub(a.first, b.first), step }
            }
            Form::Product(a, b) => {
                let (a, b) = (of(self, a)?, of(self, b)?);
                let factors = a.step.map(|step| (step, b.first));
                let factors = factors.or(b.step.map(|step| (step, a.first)));
                let step = factors.map(|(step, by)| self.lower.b.ins().imul(step, by));
                Moving { first: self.lower.b.ins().imul(a.first, b.first), step }
            }
            Form::Shifted(number, by) => {
                let by = i64::from(by);
                let shifted = |group: &mut Self, value| group.lower.b.ins().ishl_imm_u(value, by);
                let number = of(self, number)?;
                self.each_of(number, shifted)
            }
            Form::Narrowed(number) => {
                let number = of(self, number)?;
                self.each_of(number, |group, value| group.lower.b.ins().ireduce(types::I32, value))
            }
            Form::Widened { of: number, signed, stride, at } => {
                let number = of(self, number)?;
                self.stays_in_width(number, signed, stride, found);
                found.widened.push(at);
                let first = self.widened(number.first, signed);
                Moving { first, step: number.step.map(|step| self.widened(step, true)) }
            }
        };
        found.numbers[form] = Some(number);
        Ok(number)
    }

    fn each_of(
        &mut self,
        number: Moving,
        mut work: impl FnMut(&mut Self, Value) -> Value,
    ) -> Moving {
        let first = work(self, number.first);
        Moving { first, step: number.step.map(|step| work(self, step)) }
    }

    fn widened(&mut self, value: Value, signed: bool) -> Value {
        match signed {
            true => self.lower.b.ins().sextend(types::I64, value),
            false => self.lower.b.ins().uextend(types::I64, value),
        }
    }

    /// Whether a number of 64 bits is one of 32.
    fn fits_width(&mut self, value: Value, signed: bool) -> Value {
        let narrow = self.lower.b.ins().ireduce(types::I32, value);
        let wide = self.widened(narrow, signed);
        self.lower.b.ins().icmp(IntCC::Equal, value, wide)
    }

    /// How often a loop goes round, by its counter in the first round and its bound: exactly, unless it is not good.
    fn count_rounds(
        &mut self,
        rounds: &Rounds,
        [counter, bound]: [Value; 2],
        found: &mut Findings,
    ) {
        let size = self.lower.b.ins().iconst(types::I64, rounds.step.abs());
        let backward = rounds.step < 0;
        let (from, to) = if backward { (bound, counter) } else { (counter, bound) };
        let others = if rounds.condition == IntCC::NotEqual {
            // Modulo the width, it comes to the bound after so many steps, or to none.
            let distance = self.lower.b.ins().isub(to, from);
            let distance = self.widened(distance, false);
            let others = self.lower.b.ins().udiv(distance, size);
            let all = self.lower.b.ins().imul(others, size);
            let comes_to_it = self.lower.b.ins().icmp(IntCC::Equal, all, distance);
            self.and(found, comes_to_it);
            others
        } else {
            let signed = rounds.condition != rounds.condition.unsigned();
            let [from, to] = [from, to].map(|value| self.widened(value, signed));
            let distance = self.lower.b.ins().isub(to, from);
            let with_equal = rounds.condition.without_equal() != rounds.condition;
            let more = rounds.step.abs() - i64::from(!with_equal);
            let none = self.lower.b.ins().iconst(types::I64, 0);
            let distance = self.lower.b.ins().iadd_imm_s(distance, more);
            let distance = self.lower.b.ins().smax(distance, none);
            let others = self.lower.b.ins().udiv(distance, size);
            // The number that ends the loop must not wrap.
            let counter = self.widened(counter, signed);
            let way = self.lower.b.ins().imul_imm_s(others, rounds.step);
            let last = self.lower.b.ins().iadd(counter, way);
            let fits = self.fits_width(last, signed);
            self.and(found, fits);
            others
        };
        let most = MOST_ROUNDS;
        let few = self.lower.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, others, most);
        self.and(found, few);
        found.others = Some(others);
    }

    /// How far a number goes in all rounds, and whether its step is one of 32 bits, so that this is no more than 64.
    fn distance(&mut self, step: Value, found: &mut Findings) -> Option<Value> {
        let others = found.others?;
        let step = match self.lower.b.func.dfg.value_type(step) {
            types::I32 => self.widened(step, true),
            _ => {
                let fits = self.fits_width(step, true);
                self.and(found, fits);
                step
            }
        };
        Some(self.lower.b.ins().imul(others, step))
    }

    /// What becomes one of 64 bits must not wrap in any round, nor from the first thread to the last one.
    fn stays_in_width(&mut self, number: Moving, signed: bool, stride: i64, found: &mut Findings) {
        let threads = i64::from(stride as i32) * (self.plan.width as i64 - 1);
        let first = self.widened(number.first, signed);
        let way = number.step.and_then(|step| self.distance(step, found));
        let last = way.map(|way| self.lower.b.ins().iadd(first, way));
        let ends = [Some(first).filter(|_| threads != 0), last].into_iter().flatten();
        for end in ends {
            let others = self.lower.b.ins().iadd_imm_s(end, threads);
            let corners = if threads == 0 { vec![end] } else { vec![end, others] };
            for corner in corners {
                let fits = self.fits_width(corner, signed);
                self.and(found, fits);
            }
        }
    }

    /// All accesses of a check, by the address that the first thread's begin from.
    fn covers(&mut self, check: &Check, number: Moving, found: &mut Findings) -> Step {
        let Check { address, span, stride, checked, .. } = *check;
        let at = self.lower.b.ins().iadd_imm_s(number.first, address.offset);
        // What those load that went round the code is lost, but must be there.
        let reach = if checked.write { self.reach_of_present(stride) } else { None };
        let at = self.first_of_present(at, reach);
        let threads = stride * (self.plan.width as i64 - 1);
        let way = number.step.and_then(|step| self.distance(step, found));
        if let (None, None) = (reach, way) {
            let fine = match checked.is_shared() {
                true => {
                    let end = self.lower.context_u64(offset_of!(BlockContext, shared_bytes));
                    self.lower.ends_before(at, end, threads + span, checked)
                }
                false => self.is_placed(&address, at, threads + span, checked),
            };
            self.and(found, fine);
            return Ok(());
        }
        let mut all = match reach {
            None => self.lower.b.ins().iconst(types::I64, threads + span),
            Some([_, threads]) => self.lower.b.ins().iadd_imm_s(threads, span),
        };
        let mut first = at;
        if let (Some(step), Some(way)) = (number.step, way) {
            let rest = i64::from(checked.bytes) - 1;
            let rest = self.lower.b.ins().band_imm_u(step, rest);
            let aligned = self.lower.b.ins().icmp_imm_u(IntCC::Equal, rest, 0);
            self.and(found, aligned);
            let none = self.lower.b.ins().iconst(types::I64, 0);
            let back = self.lower.b.ins().smin(way, none);
            first = self.lower.b.ins().iadd(at, back);
            let far = self.lower.b.ins().iabs(way);
            all = self.lower.b.ins().iadd(all, far);
        }
        let fine = match checked.is_shared() {
            true => {
                let end = self.lower.context_u64(offset_of!(BlockContext, shared_bytes));
                self.ends_before(first, end, all, checked)
            }
            false => self.ends_are_placed(&address, first, all, checked),
        };
        self.and(found, fine);
        Ok(())
    }
}
