//! The precheck of a row ([`super::row`]): what its first thread computes, what follows from that for all, and which
//! way its groups take then.

use std::mem::offset_of;

use cranelift_codegen::ir::{
    Block, InstBuilder, Value,
    condcodes::{CondCode, IntCC},
    types,
};

use super::{
    GroupLower,
    row::{Predicate, Row, SHORT, defines_only},
    widen::widens,
};
use crate::{
    device::{
        Result,
        cpu::{
            abi::BlockContext,
            jit::{
                lower::{Checked, Step, Targets, Unsupported, int_condition},
                span::MemorySpan,
            },
        },
    },
    ptx::{
        ast::Statement,
        inst::{Guard, Instruction, Op},
        modifier::{Access, BoolOp, Cmp},
        op::Next,
        operand::{Operand, Reg},
        types::Type,
    },
};

/// Where a precheck leads.
struct Precheck<'r> {
    row: &'r Row,
    /// All is known to be good.
    good: Block,
    /// Groups look for themselves.
    doubtful: Block,
    /// The places of labels.
    labels: Vec<Block>,
}

impl GroupLower<'_, '_, '_> {
    /// In the code for groups that were prechecked: whether the check at this statement was done with them.
    pub(super) fn is_prechecked(&self, statement: usize) -> bool {
        self.prechecked.is_some_and(|row| row.hoisted[statement])
    }

    /// In the code for groups that were prechecked: what a group accesses at a statement whose check was done for its
    /// row. It is computed from what was checked.
    pub(super) fn memory_in_row(
        &mut self,
        statement: usize,
        i: &Instruction,
        access: &Access,
    ) -> Option<MemorySpan> {
        let row = self.prechecked.filter(|row| row.hoisted[statement])?;
        let Some(Operand::Address(address)) = i.src.first() else { return None };
        let (base, stride) = row.row_stride(i, access)?;
        let first = self.lower.b.use_var(*row.bases.get(&base)?);
        let index = self.lower.current_index();
        let of_first = self.lower.b.use_var(row.extent.first);
        // How many threads of the row come before the group.
        let before = self.lower.b.ins().isub(index, of_first);
        let before = self.lower.b.ins().uextend(types::I64, before);
        let distance = self.lower.b.ins().imul_imm_u(before, stride);
        let at = self.lower.b.ins().iadd(first, distance);
        let bytes = stride as u64 * (self.plan.width as u64 - 1) + u64::from(access.bytes());
        Some(MemorySpan::new(at, address.offset, bytes))
    }

    /// In the code for groups that were prechecked: the way that their row goes at a branch or an end.
    pub(super) fn decision(&mut self, statement: usize) -> Option<Value> {
        let row = self.prechecked?;
        let decision = *row.decisions.get(&statement)?;
        Some(self.lower.b.use_var(decision))
    }

    /// Whether only branches read what the instruction gives, and they were decided for the row.
    pub(super) fn is_needless(&self, i: &Instruction) -> bool {
        self.prechecked.is_some_and(|row| defines_only(i, &row.decisive))
    }

    /// At a group's turn: goes to `prechecked` with a row of which all is known, else goes on here.
    pub(super) fn precheck_row(&mut self, row: &Row, prechecked: Block) -> Result<()> {
        let [begin, good, mixed, doubtful] = [(); 4].map(|()| self.lower.b.create_block());
        let length = self.lower.b.append_block_param(begin, types::I32);
        let index = self.lower.current_index();
        let width = self.lower.context_u32(offset_of!(BlockContext, ntid));
        let both = self.lower.b.ins().bor(index, width);
        let rest = self.lower.b.ins().band_imm_u(both, i64::from(SHORT) - 1);
        let end = self.lower.end();
        let left = self.lower.b.ins().isub(end, index);
        let least = i64::from(SHORT);
        let enough = self.lower.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, left, least);
        let whole = self.lower.b.ins().icmp_imm_u(IntCC::Equal, rest, 0);
        let is_row = self.lower.b.ins().band(enough, whole);
        let short = self.lower.b.ins().iconst(types::I32, least);
        let longest = self.longest_row(row, (width, left), short);
        self.lower.b.ins().brif(is_row, begin, &[longest.into()], doubtful, &[]);

        self.lower.b.switch_to_block(begin);
        self.lower.b.def_var(row.extent.first, index);
        let others = self.lower.b.ins().uextend(types::I64, length);
        let others = self.lower.b.ins().iadd_imm_s(others, -1);
        self.lower.b.def_var(row.extent.others, others);
        let body = self.lower.body();
        let labels = Targets::labels(&mut self.lower.b, body);
        self.precheck(&Precheck { row, good, doubtful: mixed, labels })?;

        self.lower.b.switch_to_block(mixed);
        let is_long = self.lower.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, length, least);
        self.lower.b.ins().brif(is_long, begin, &[short.into()], doubtful, &[]);

        self.lower.b.switch_to_block(good);
        let behind = self.lower.b.ins().iadd(index, length);
        self.lower.b.def_var(row.extent.end, behind);
        self.lower.b.ins().jump(prechecked, &[]);
        self.lower.b.switch_to_block(doubtful);
        Ok(())
    }

    /// The threads of the row that is tried first, of a block so many threads wide of which so many are left: all in x
    /// where they begin here, or a short row.
    fn longest_row(&mut self, row: &Row, (width, left): (Value, Value), short: Value) -> Value {
        let x = self.lower.current_x().filter(|_| row.extent.whole);
        let Some(x) = x else { return short };
        let begins = self.lower.b.ins().icmp_imm_u(IntCC::Equal, x, 0);
        let fits = self.lower.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, width, left);
        let whole = self.lower.b.ins().band(begins, fits);
        self.lower.b.ins().select(whole, width, short)
    }

    /// Behind a group that was prechecked: the next one of its row, or what follows the row.
    pub(super) fn next_prechecked(&mut self, row: &Row, [prechecked, behind]: [Block; 2]) {
        let index = self.lower.current_index();
        let width = self.plan.width as i64;
        let next = self.lower.b.ins().iadd_imm_u(index, width);
        let row_end = self.lower.b.use_var(row.extent.end);
        let more = self.lower.b.ins().icmp(IntCC::NotEqual, next, row_end);
        let [within, last] = [(); 2].map(|()| self.lower.b.create_block());
        self.lower.b.ins().brif(more, within, &[], last, &[]);
        // No row goes on in another one of the block.
        self.lower.b.switch_to_block(within);
        self.lower.set_current_index(next);
        self.lower.advance_x(width);
        self.lower.b.ins().jump(prechecked, &[]);
        self.lower.b.switch_to_block(last);
        let end = self.lower.end();
        self.lower.advance(width, end);
        self.lower.b.ins().jump(behind, &[]);
    }

    fn precheck(&mut self, way: &Precheck<'_>) -> Result<()> {
        self.lower.define_all_registers();
        self.define_all_agreements(way.row);
        let body = self.lower.body();
        for (at, statement) in body.statements.iter().enumerate() {
            match statement {
                Statement::Label(label) => {
                    let block = way.labels[label.0 as usize];
                    if !self.lower.is_filled() {
                        self.lower.b.ins().jump(block, &[]);
                    }
                    self.lower.b.switch_to_block(block);
                }
                Statement::Instruction(i) => {
                    self.lower.open_block();
                    self.precheck_instruction(at, i, way)
                        .map_err(|what| self.lower.unsupported(i, what))?;
                }
                Statement::Pragma(_) => {}
            }
        }
        if !self.lower.is_filled() {
            self.lower.b.ins().jump(way.good, &[]);
        }
        Ok(())
    }

    /// A predicate that some path leaves unset is false; a branch that it does not come to leads nowhere.
    fn define_all_agreements(&mut self, row: &Row) {
        // An access that the precheck does not come to is one that no group comes to.
        let nowhere = self.lower.b.ins().iconst(types::I64, 0);
        for base in row.bases.values() {
            self.lower.b.def_var(*base, nowhere);
        }
        let [no, yes] = [0, 1].map(|value| self.lower.b.ins().iconst(types::I8, value));
        for decision in row.decisions.values() {
            self.lower.b.def_var(*decision, no);
        }
        for agreement in row.agreements.values() {
            self.lower.b.def_var(agreement.all, no);
            self.lower.b.def_var(agreement.none, yes);
        }
    }

    fn precheck_instruction(&mut self, at: usize, i: &Instruction, way: &Precheck<'_>) -> Step {
        let target = i.branch_target().map(|label| way.labels[label.0 as usize]);
        match i.op.facts().next {
            Next::Branches if i.guard.is_some() && self.skips_at(at) => Ok(()),
            Next::Branches | Next::Returns | Next::Exits => {
                self.precheck_branch(at, i.guard, target.unwrap_or(way.good), way)
            }
            Next::Traps => {
                self.lower.b.ins().jump(way.doubtful, &[]);
                Ok(())
            }
            Next::BranchesByTable => Err(Unsupported::Part("a branch that is not planned")),
            Next::Follows => {
                if let (Op::Ld(access) | Op::St(access), None) = (&i.op, i.guard)
                    && way.row.hoisted[at]
                {
                    return self.precheck_access(i, access, way);
                }
                self.precheck_widening(at, i, way);
                self.precheck_value(at, i, way.row)
            }
        }
    }

    /// All threads go there, or none, or groups look for themselves.
    fn precheck_branch(
        &mut self,
        at: usize,
        guard: Option<Guard>,
        target: Block,
        way: &Precheck<'_>,
    ) -> Step {
        let Some(guard) = guard else {
            self.lower.b.ins().jump(target, &[]);
            return Ok(());
        };
        let [all, none] = self.agreement(way.row, guard.reg);
        let [taken, passed] = if guard.negated { [none, all] } else { [all, none] };
        if let Some(decision) = way.row.decisions.get(&at) {
            self.lower.b.def_var(*decision, taken);
        }
        let [mixed, on] = [(); 2].map(|()| self.lower.b.create_block());
        self.lower.b.ins().brif(passed, on, &[], mixed, &[]);
        self.lower.b.switch_to_block(mixed);
        self.lower.b.ins().brif(taken, target, &[], way.doubtful, &[]);
        self.lower.b.switch_to_block(on);
        Ok(())
    }

    fn precheck_access(&mut self, i: &Instruction, access: &Access, way: &Precheck<'_>) -> Step {
        let Some(Operand::Address(address)) = i.src.first() else {
            return Err(Unsupported::Part("an access that is not planned"));
        };
        let Some((base, stride)) = way.row.row_stride(i, access) else {
            return Err(Unsupported::Part("an access that is not planned"));
        };
        let write = matches!(i.op, Op::St(_));
        let checked = Checked { space: access.space, bytes: access.bytes(), write };
        let at = self.lower.address_value(address)?;
        let at = self.lower.fit(at, types::I64);
        let others = self.lower.b.use_var(way.row.extent.others);
        let span = self.lower.b.ins().imul_imm_u(others, stride);
        let fine = self.ends_are_placed(address, at, span, checked);
        self.go_on_where(fine, way);
        if let Some(checked_base) = way.row.bases.get(&base) {
            let value = self.lower.register(base, Type::B64);
            self.lower.b.def_var(*checked_base, value);
        }
        Ok(())
    }

    fn go_on_where(&mut self, fine: Value, way: &Precheck<'_>) {
        let on = self.lower.b.create_block();
        self.lower.b.ins().brif(fine, on, &[], way.doubtful, &[]);
        self.lower.b.switch_to_block(on);
    }

    fn precheck_widening(&mut self, at: usize, i: &Instruction, way: &Precheck<'_>) {
        let row = way.row;
        if !row.hoisted[at] {
            return;
        }
        let Some((operand, signed)) = widens(self.lower.body(), &row.shapes, i) else { return };
        let Some(stride) = row.shapes.operand(self.lower.body(), &i.src[operand]).stride() else {
            return;
        };
        let Ok(first) = self.lower.value(&i.src[operand], Type::B32) else { return };
        let fine = self.row_never_wraps(row, first, stride, signed);
        self.go_on_where(fine, way);
    }

    fn precheck_value(&mut self, at: usize, i: &Instruction, row: &Row) -> Step {
        let known = row.knows_result(i);
        let mut agreement = false;
        i.for_each_def(|reg| agreement |= row.agreements.contains_key(&reg));
        match (known, agreement) {
            (true, _) => self.lower.instruction_for_all(at, i, false),
            (false, true) => self.precheck_predicate(i, row),
            (false, false) => Ok(()),
        }
    }

    /// Whether all threads hold a predicate, and whether none does.
    fn agreement(&mut self, row: &Row, reg: Reg) -> [Value; 2] {
        match row.agreements.get(&reg) {
            Some(agreement) => [agreement.all, agreement.none].map(|v| self.lower.b.use_var(v)),
            None => {
                let all = self.lower.register(reg, Type::Pred);
                [all, self.lower.b.ins().bxor_imm_u(all, 1)]
            }
        }
    }

    fn agreement_of(&mut self, row: &Row, operand: &Operand) -> Step<[Value; 2]> {
        let (Operand::Reg(reg) | Operand::Not(reg)) = operand else {
            return Err(Unsupported::Part("a predicate that is not planned"));
        };
        let [all, none] = self.agreement(row, *reg);
        Ok(if matches!(operand, Operand::Not(_)) { [none, all] } else { [all, none] })
    }

    fn precheck_predicate(&mut self, i: &Instruction, row: &Row) -> Step {
        let of = |group: &mut Self, at: usize| {
            let operand = i.src.get(at).ok_or(Unsupported::Part("too few operands"))?;
            group.agreement_of(row, operand)
        };
        let predicate = Predicate::of(&i.op);
        let predicate = predicate.ok_or(Unsupported::Part("a predicate that is not planned"))?;
        let (result, inverse) = match predicate {
            Predicate::Compares { cmp, combine, ty } => {
                let [all, none] = self.compare_row(row, i, (cmp, ty))?;
                match combine {
                    None => ([all, none], [none, all]),
                    Some(op) => {
                        let third = of(self, 2)?;
                        let with = |group: &mut Self, v| group.combine(op, v, third);
                        (with(self, [all, none]), with(self, [none, all]))
                    }
                }
            }
            Predicate::Combines(op) => {
                let (a, b) = (of(self, 0)?, of(self, 1)?);
                let both = self.combine(op, a, b);
                (both, both)
            }
            Predicate::Negates => {
                let [all, none] = of(self, 0)?;
                ([none, all], [all, none])
            }
            Predicate::Copies => {
                let same = of(self, 0)?;
                (same, same)
            }
        };
        for (destination, [all, none]) in i.dst.iter().zip([result, inverse]) {
            let Operand::Reg(reg) = destination else { continue };
            let Some(agreement) = row.agreements.get(reg) else { continue };
            self.lower.b.def_var(agreement.all, all);
            self.lower.b.def_var(agreement.none, none);
        }
        Ok(())
    }

    fn combine(&mut self, op: BoolOp, a: [Value; 2], b: [Value; 2]) -> [Value; 2] {
        let mut and = |x, y| self.lower.b.ins().band(x, y);
        let [alike, differ] =
            [[b[0], b[1]], [b[1], b[0]]].map(|b| [and(a[0], b[0]), and(a[1], b[1])]);
        let mut or = |x, y| self.lower.b.ins().bor(x, y);
        match op {
            BoolOp::And => [alike[0], or(a[1], b[1])],
            BoolOp::Or => [or(a[0], b[0]), alike[1]],
            BoolOp::Xor => [or(differ[0], differ[1]), or(alike[0], alike[1])],
        }
    }

    /// Whether no thread's value of the row wraps, where the first one's is `first`.
    fn row_never_wraps(&mut self, row: &Row, first: Value, stride: i64, signed: bool) -> Value {
        let others = self.lower.b.use_var(row.extent.others);
        self.never_wraps((first, stride), (others, row.extent.most_others()), signed)
    }

    /// A comparison with an integer that goes up or down along the row: what holds at both ends holds between.
    fn compare_row(
        &mut self,
        row: &Row,
        i: &Instruction,
        (cmp, ty): (Cmp, Type),
    ) -> Step<[Value; 2]> {
        let [a, b] = self.lower.sources(i, ty)?;
        let stride =
            |at: usize| row.shapes.operand(self.lower.body(), &i.src[at]).stride().unwrap_or(0);
        let (first_moves, by) = (stride(0) != 0, stride(0) + stride(1));
        let moving = if first_moves { a } else { b };
        let straight = self.row_never_wraps(row, moving, by, ty.is_signed());
        // Where that goes beyond the width, it is not straight.
        let others = self.lower.b.use_var(row.extent.others);
        let last = self.further(moving, others, by);
        let (last_a, last_b) = if first_moves { (last, b) } else { (a, last) };
        let holds = |group: &mut Self, condition: IntCC| {
            [(a, b), (last_a, last_b)].map(|(a, b)| group.lower.b.ins().icmp(condition, a, b))
        };
        let condition = int_condition(cmp, ty);
        let [all, none] = match matches!(condition, IntCC::Equal | IntCC::NotEqual) {
            true => {
                // Some thread may be the one that is equal, unless both ends lie on one side.
                let less = match ty.is_signed() {
                    true => IntCC::SignedLessThan,
                    false => IntCC::UnsignedLessThan,
                };
                let below = holds(self, less);
                let above = holds(self, less.swap_args());
                let [below, above] = [below, above].map(|[x, y]| self.lower.b.ins().band(x, y));
                let differ = self.lower.b.ins().bor(below, above);
                let never = self.lower.b.ins().iconst(types::I8, 0);
                if condition == IntCC::Equal { [never, differ] } else { [differ, never] }
            }
            false => {
                let [first, last] = holds(self, condition);
                let all = self.lower.b.ins().band(first, last);
                let some = self.lower.b.ins().bor(first, last);
                [all, self.lower.b.ins().bxor_imm_u(some, 1)]
            }
        };
        Ok([all, none].map(|agreement| self.lower.b.ins().band(agreement, straight)))
    }
}
