//! Pieces of code whose accesses of memory are checked before it: a loop of one block that goes round a known number
//! of times, and a straight piece many of whose accesses go out from few addresses. Here they are found, with the
//! first and the last address of all that they access ([`super::affine`]). Such a piece is translated twice
//! ([`super::twice`]), so that where a check fails, all is as it would be without.

use std::ops::Range;

use cranelift_codegen::ir::condcodes::{CondCode, IntCC};

use super::{
    affine::{Form, Forms},
    memory::{is_plain, is_run},
};
use crate::{
    device::cpu::jit::{
        lower::{Checked, int_condition},
        sync,
    },
    ptx::{
        ast::{Body, Statement},
        cfg::{BlockId, Cfg},
        inst::{Instruction, Op},
        op::{Next, Predicate, Semantics, Waits},
        operand::{Address, Base, Operand, Reg},
        pass::uniform::Shapes,
        types::{Space, Type},
    },
};

/// The most statements of which there is the code twice.
const MOST_STATEMENTS: usize = 600;
/// A straight piece of code has at least so many accesses that are checked before it.
const FEWEST_ACCESSES: usize = 6;
/// So many of them, at least, share a check.
const FEWEST_SHARED: usize = 3;
/// The most bytes between two accesses that share a check.
const FURTHEST: i64 = 1 << 12;

/// A piece of code that is checked before it.
pub(super) struct Piece {
    pub(super) statements: Range<usize>,
    /// What its checks are computed from, each behind those that it is made from.
    pub(super) forms: Vec<Form>,
    pub(super) checks: Vec<Check>,
    /// How often it goes round, if it is a loop.
    pub(super) rounds: Option<Rounds>,
    /// The accesses that are checked, in order.
    pub(super) accesses: Vec<usize>,
}

/// Accesses that are checked at once: in each round those between the first one and the last one of them.
#[derive(Clone, Copy)]
pub(super) struct Check {
    /// The address of the first one, which is so far behind that `form` in each round.
    pub(super) address: Address,
    pub(super) form: usize,
    /// From the first one to the last.
    pub(super) span: i64,
    /// From thread to thread of a group.
    pub(super) stride: i64,
    pub(super) checked: Checked,
}

/// How often a loop goes round: as long as a number that goes on by a constant step compares so with another one.
#[derive(Clone, Copy)]
pub(super) struct Rounds {
    pub(super) counter: usize,
    pub(super) step: i64,
    pub(super) bound: usize,
    pub(super) condition: IntCC,
}

/// What pieces are looked for in.
pub(super) struct Place<'a> {
    pub(super) body: &'a Body,
    pub(super) cfg: &'a Cfg,
    pub(super) shapes: &'a Shapes,
    /// The blocks that groups run.
    pub(super) run: &'a [bool],
    pub(super) sync: &'a sync::WaitPlan,
    /// Threads of a group.
    pub(super) width: usize,
}

impl Place<'_> {
    /// The pieces of a body, in order. Groups enter the blocks that begin with the statements in `joins` from
    /// elsewhere, too.
    pub(super) fn pieces(&self, joins: &[usize]) -> Vec<Piece> {
        let (mut pieces, mut count) = (Vec::new(), 0);
        for id in self.cfg.ids().filter(|id| self.run[id.index()]) {
            let start = self.cfg.block(id).statements.start;
            let whole = if joins.contains(&start) { None } else { self.whole_loop(id) };
            let found = whole.map_or_else(|| self.straight_pieces(id), |piece| vec![piece]);
            for piece in found {
                count += piece.statements.len();
                if count > MOST_STATEMENTS {
                    return pieces;
                }
                pieces.push(piece);
            }
        }
        pieces
    }

    /// A block that is a loop of its own, and entered from the text before it.
    fn whole_loop(&self, id: BlockId) -> Option<Piece> {
        let block = self.cfg.block(id);
        let (at, last) = self.cfg.instructions(self.body, id).next_back()?;
        let before = self.cfg.ids().find(|before| self.cfg.block(*before).next == Some(id))?;
        let enters = |from: &BlockId| *from == id || *from == before;
        let jumps = |i: &Instruction| i.branch_target().and_then(|label| self.cfg.target(label));
        let (_, end_before) = self.cfg.instructions(self.body, before).next_back()?;
        let falls_in = self.run[before.index()] && jumps(end_before) != Some(id);
        let goes_round = matches!(last.op, Op::Bra { .. }) && jumps(last) == Some(id);
        let straight = self.cut(id).collect::<Vec<_>>();
        if !block.predecessors.iter().all(enters) || !falls_in || !goes_round || straight != [at] {
            return None;
        }
        let mut forms = Forms::new(self.body, self.shapes, block.statements.clone(), true);
        let rounds = self.rounds(&mut forms, (at, last))?;
        let (checks, accesses) = self.checks(&mut forms, block.statements.clone());
        let statements = block.statements.clone();
        let forms = forms.into_all();
        (!checks.is_empty()).then_some(Piece {
            statements,
            forms,
            checks,
            rounds: Some(rounds),
            accesses,
        })
    }

    /// The statements of a block at which straight code ends.
    fn cut(&self, id: BlockId) -> impl Iterator<Item = usize> {
        let is_label = |at: usize| matches!(self.body.statements[at], Statement::Label(_));
        let labels = self.cfg.block(id).statements.clone();
        let labels = labels.filter(move |at| is_label(*at) && self.sync.waits_at(*at));
        let ends = self.cfg.instructions(self.body, id).filter(|(at, i)| {
            let facts = i.op.facts();
            let goes = facts.next != Next::Follows || facts.waits != Waits::No;
            goes || self.sync.waits_at(*at) || matches!(i.op, Op::Call { .. })
        });
        labels.chain(ends.map(|(at, _)| at))
    }

    fn straight_pieces(&self, id: BlockId) -> Vec<Piece> {
        let statements = self.cfg.block(id).statements.clone();
        let is_label = |at: &usize| matches!(self.body.statements[*at], Statement::Label(_));
        let mut start = statements.clone().find(|at| !is_label(at)).unwrap_or(statements.end);
        let mut pieces = Vec::new();
        for end in self.cut(id).chain([statements.end]) {
            if start < end {
                pieces.extend(self.straight(start..end));
            }
            start = end + 1;
        }
        pieces
    }

    fn straight(&self, statements: Range<usize>) -> Option<Piece> {
        let mut forms = Forms::new(self.body, self.shapes, statements.clone(), false);
        let (checks, accesses) = self.checks(&mut forms, statements.clone());
        let is_worth_it = accesses.len() >= FEWEST_ACCESSES.max(FEWEST_SHARED * checks.len());
        let forms = forms.into_all();
        is_worth_it.then_some(Piece { statements, forms, checks, rounds: None, accesses })
    }

    /// The checks of accesses whose addresses are known, and these.
    fn checks(&self, forms: &mut Forms<'_>, statements: Range<usize>) -> (Vec<Check>, Vec<usize>) {
        let (mut checks, mut accesses) = (Vec::<Check>::new(), Vec::new());
        for at in statements {
            let Statement::Instruction(i) = &self.body.statements[at] else { continue };
            let Some(found) = self.check(forms, at, i) else { continue };
            accesses.push(at);
            if !checks.iter_mut().any(|check| check.take_in(&found)) {
                checks.push(found);
            }
        }
        (checks, accesses)
    }

    fn check(&self, forms: &mut Forms<'_>, at: usize, i: &Instruction) -> Option<Check> {
        let (Op::Ld(access) | Op::St(access), None) = (&i.op, i.guard) else { return None };
        is_plain(access).then_some(())?;
        let write = i.op.facts().changes;
        let (address, bytes) = (i.src.first()?.address()?, access.bytes());
        let Base::Reg(base) = address.base else { return None };
        let checked = Checked { space: access.space, bytes, write };
        let wide = self.body.registers.ty(base).bytes() == 8;
        let suits = match access.space {
            Some(Space::Global) => wide,
            Some(Space::Shared | Space::SharedCta) => true,
            Some(Space::Const | Space::Local | Space::SharedCluster) | None => false,
            Some(Space::Param | Space::ParamEntry | Space::ParamFunc) => false,
            Some(Space::Reg | Space::Sreg | Space::Tex) => false,
        };
        let stride = self.shapes.of(base).stride()?;
        let is_run = is_run(stride, bytes, self.width) || stride == 0 && bytes.is_power_of_two();
        let near = i32::try_from(address.offset).is_ok();
        if !suits || !is_run || !near {
            return None;
        }
        let form = forms.register(base, at)?;
        Some(Check { address: *address, form, span: 0, stride, checked })
    }

    /// How often the loop goes round at whose end this branch is.
    fn rounds(&self, forms: &mut Forms<'_>, (at, last): (usize, &Instruction)) -> Option<Rounds> {
        let guard = last.guard?;
        let (compared, i) = self.only_writer(guard.reg, forms, at)?;
        let (Semantics::Predicate(Predicate::Compare(cmp, None, ty)), None) =
            (Semantics::of(&i.op)?, i.guard)
        else {
            return None;
        };
        let condition = counts(ty).then(|| int_condition(cmp, ty))?;
        let is_same = |operand: &Operand| self.shapes.operand(self.body, operand).is_uniform();
        let [a, b] = &i.src[..] else { return None };
        if !matches!(i.dst.first()?, Operand::Reg(reg) if *reg == guard.reg)
            || ![a, b].into_iter().all(is_same)
        {
            return None;
        }
        let condition = if guard.negated { condition.complement() } else { condition };
        let a = forms.operand(a, ty, compared)?;
        let b = forms.operand(b, ty, compared)?;
        let (counter, bound, condition) = match (forms.moves(a), forms.moves(b)) {
            (true, false) => (a, b, condition),
            (false, true) => (b, a, condition.swap_args()),
            (true, true) | (false, false) => return None,
        };
        let step = forms.step(counter)?;
        i32::try_from(step).ok().filter(|step| *step != 0 && *step != i32::MIN)?;
        Rounds { counter, step, bound, condition }.ends()
    }

    fn only_writer(
        &self,
        reg: Reg,
        forms: &Forms<'_>,
        before: usize,
    ) -> Option<(usize, &Instruction)> {
        let [writer] = forms.writers(reg)[..] else { return None };
        match &self.body.statements[writer] {
            Statement::Instruction(i) if writer < before => Some((writer, i)),
            Statement::Instruction(_) | Statement::Label(_) | Statement::Pragma(_) => None,
        }
    }
}

impl Check {
    /// Has it check another one's access, too, if that is possible.
    fn take_in(&mut self, other: &Self) -> bool {
        let bytes = i64::from(self.checked.bytes);
        let first = self.address.offset.min(other.address.offset);
        let last = (self.address.offset + self.span).max(other.address.offset);
        let alike = self.form == other.form
            && self.stride == other.stride
            && self.checked == other.checked
            && (self.address.offset - other.address.offset) % bytes == 0
            && last - first <= FURTHEST;
        if alike {
            (self.address.offset, self.span) = (first, last - first);
        }
        alike
    }
}

impl Rounds {
    /// The same, if it is sure that the loop ends.
    fn ends(self) -> Option<Self> {
        let ends = match self.condition {
            IntCC::NotEqual => true,
            IntCC::SignedLessThan | IntCC::SignedLessThanOrEqual => self.step > 0,
            IntCC::UnsignedLessThan | IntCC::UnsignedLessThanOrEqual => self.step > 0,
            IntCC::SignedGreaterThan | IntCC::SignedGreaterThanOrEqual => self.step < 0,
            IntCC::UnsignedGreaterThan | IntCC::UnsignedGreaterThanOrEqual => self.step < 0,
            IntCC::Equal => false,
        };
        ends.then_some(self)
    }
}

/// Whether rounds may be counted in it: integers of 32 bits.
fn counts(ty: Type) -> bool {
    ty.bytes() == 4 && !ty.is_float() && !ty.is_packed()
}
