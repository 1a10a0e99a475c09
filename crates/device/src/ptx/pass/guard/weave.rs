//! A function with its checks put in.

use std::collections::HashMap;

use super::CheckKind;
use super::code::{plain, unless, when};
use super::group::Group;
use super::noted::{Noted, can_note};
use super::plan::{instruction, waits_for_block};
use super::poll::Poll;
use super::prints;
use super::proof::Version;
use super::record::AccessRecord;
use super::search::Found;
use super::stop::Reason;
use super::weaver::Weaver;
use crate::ptx::ast::Statement;
use crate::ptx::cfg::{BlockId, Cfg};
use crate::ptx::inst::{Guard, Instruction, Op};
use crate::ptx::op::{Next, Waits, WarpOp};
use crate::ptx::operand::{Operand, Reg, Scalar, Special};
use crate::ptx::pass::access::When;
use crate::ptx::types::Type;

impl Weaver<'_> {
    /// Writes the whole body. `polls` are the blocks at whose end loops look at the flag, `stops` the instructions that
    /// end the launch.
    pub(super) fn body(&mut self, cfg: &Cfg, polls: &[BlockId], stops: &HashMap<usize, Reason>) {
        if self.plan.groups.iter().any(Group::is_searched) {
            self.found = Some(Found::new(&mut self.code));
        }
        if !polls.is_empty() {
            self.poll = Some(Poll::new(&mut self.code));
        }
        let groups = self.plan.groups.iter().enumerate();
        let checked = groups.filter(|(at, group)| self.is_checked(*at, group));
        let waits = self.body.instructions().filter(|i| waits_for_block(i) || calls(i)).count();
        // Where all are told each is written down at once.
        let is_first = self.recorder.seen.is_none();
        let surfaces = self.surfaces.iter();
        let outside = surfaces.filter(|access| !self.version.inside.contains(&access.statement));
        if is_first && can_note(checked.map(|(_, group)| group), outside, waits + stops.len()) {
            self.noted = Some(Noted::new(&mut self.code));
        }
        if let Some(reserve) = self.reserve {
            self.look_at_stack(reserve);
        }
        let mut first = 0;
        for id in cfg.ids() {
            let range = cfg.block(id).statements.clone();
            let groups = self.plan.groups[first..].iter();
            let count = groups.take_while(|group| range.contains(&group.first())).count();
            self.block(range, first..first + count, polls.contains(&id), stops);
            first += count;
        }
        if let Some(poll) = self.poll {
            poll.end(&mut self.code, self.recorder, self.noted.as_mut());
        }
        if self.code.cold.is_empty() && self.noted.is_none() {
            return;
        }
        let ends = self.code.out.iter().next_back().is_some_and(|last| match last {
            Statement::Instruction(i) => i.is_terminator() && i.guard.is_none(),
            Statement::Label(_) | Statement::Pragma(_) => false,
        });
        if !ends {
            self.write_before(&plain("ret"));
            self.code.put("ret", [], []);
        }
        self.write_noted();
        let cold = std::mem::take(&mut self.code.cold);
        self.code.out.extend(cold);
    }

    fn block(
        &mut self,
        range: std::ops::Range<usize>,
        groups: std::ops::Range<usize>,
        polls: bool,
        stops: &HashMap<usize, Reason>,
    ) {
        let last = range.clone().rev().find(|at| instruction(self.body, *at).is_some());
        let ends =
            last.filter(|at| instruction(self.body, *at).is_some_and(Instruction::is_terminator));
        for at in range {
            let Some(i) = instruction(self.body, at) else {
                self.code.out.push(self.body.statements[at].clone());
                continue;
            };
            self.code.location = i.location;
            if Some(at) == ends {
                self.tell();
                self.look(polls, Some(at));
            } else if waits_for_block(i) || stops.contains_key(&at) {
                self.tell();
            }
            let waits = waits_for_block(i) || calls(i) || stops.contains_key(&at);
            if waits || matches!(i.op.facts().next, Next::Returns | Next::Exits) {
                self.write_before(i);
            }
            self.sources.follow(&mut self.code, self.origins, i);
            for group in groups.clone() {
                let there = &self.plan.groups[group];
                if there.first() == at && self.is_checked(group, there) {
                    self.begin(group);
                }
            }
            match stops.get(&at) {
                Some(reason) => self.stop(i, reason),
                // Where no debugger is it ends CUDA for the process; the CPU device goes on as well.
                None if matches!(i.op, Op::Brkpt) => {}
                None => self.access(at, i, groups.clone()),
            }
        }
        if ends.is_none() {
            self.tell();
            self.look(polls, last);
        }
    }

    fn is_checked(&self, at: usize, group: &Group) -> bool {
        let Version { without, covered, .. } = self.version;
        group.covered_by.is_none() && !without.contains(&at) && !covered.contains_key(&at)
    }

    /// The group that is checked for a group.
    fn checked(&self, at: usize) -> usize {
        let at = self.plan.groups[at].covered_by.unwrap_or(at);
        self.version.covered.get(&at).copied().unwrap_or(at)
    }

    /// Checks a group.
    fn begin(&mut self, at: usize) {
        let plan = self.plan;
        let group = &plan.groups[at];
        let guard = self.condition(group);
        if self.noted.is_some() {
            let by_index = self.compare_index(group, guard);
            let woven = by_index.unwrap_or_else(|| self.compare(group, guard));
            let fail = woven.fail;
            self.woven.insert(at, woven);
            self.note(at, fail);
            return;
        }
        let woven = self.compare(group, guard);
        let fail = Operand::Reg(woven.fail);
        self.woven.insert(at, woven);
        self.pending.push(at);
        match self.failed {
            None => self.failed = Some(self.code.give("mov.pred", Type::Pred, [fail])),
            Some(before) => {
                let any = Operand::Reg(before);
                self.code.put("or.pred", [any.clone()], [any, fail]);
            }
        }
    }

    /// Where the accesses of a group are made: under their guard, and where they read anything.
    fn condition(&mut self, group: &Group) -> Option<Guard> {
        let further = match group.when {
            When::Always => return group.guard,
            When::NotZero(reg) => {
                let zero = [Operand::Reg(reg), Operand::Int(0)];
                Guard { reg: self.code.give("setp.ne.u32", Type::Pred, zero), negated: false }
            }
            When::Unless(reg) => Guard { reg, negated: true },
            When::If(reg) => Guard { reg, negated: false },
            When::First(threads) => {
                let lane = self.code.special(Special::Scalar(Scalar::Laneid));
                let first = [Operand::Reg(lane), Operand::Int(threads.into())];
                Guard { reg: self.code.give("setp.lt.u32", Type::Pred, first), negated: false }
            }
        };
        let Some(guard) = group.guard else { return Some(further) };
        let both = [guard, further].map(|guard| self.predicate(guard));
        Some(Guard { reg: self.code.give("and.pred", Type::Pred, both), negated: false })
    }

    /// An instruction, done where all its accesses are right; what it would load is zero elsewhere.
    fn access(&mut self, at: usize, i: &Instruction, groups: std::ops::Range<usize>) {
        let mut i = i.clone();
        self.untrap(&mut i);
        if self.formats.contains(&at) {
            prints::count(&mut self.code, self.recorder, &mut i);
        }
        if matches!(i.op.facts().waits, Waits::Warp(WarpOp::Matrix(_))) {
            self.warps_access(at, i, groups);
            return;
        }
        let (mut fine, mut wrong) = (None, None);
        let plan = self.plan;
        for number in groups {
            let group = &plan.groups[number];
            if group.members.iter().all(|member| member.statement != at) {
                continue;
            }
            let checked = self.checked(number);
            let Some(woven) = self.woven.get(&checked).cloned() else { continue };
            fine = Some(match fine {
                None => woven.fine,
                Some(before) => {
                    let both = [before, woven.fine].map(|fine| self.predicate(fine));
                    let reg = self.code.give("and.pred", Type::Pred, both);
                    Guard { reg, negated: false }
                }
            });
            wrong = Some(woven.fail);
        }
        let surface = self.surfaces.iter().find(|access| access.statement == at);
        if let Some(access) = surface.filter(|_| !self.version.inside.contains(&at)) {
            let fail = self.check_surface(access, &i);
            fine = Some(self.fine_of(i.guard, fail));
            wrong = Some(fail);
        }
        let before = i.guard;
        i.guard = fine.or(before);
        let results: Vec<Operand> = i.dst.iter().flat_map(Operand::lanes).cloned().collect();
        // It need not be waited for to be zero, where nothing else reads the register.
        let (early, late): (Vec<Operand>, Vec<Operand>) =
            results.into_iter().partition(|result| !reads(&i, before, result));
        if wrong.is_some() {
            early.into_iter().for_each(|result| self.zero(before, result));
        }
        self.code.out.push(Statement::Instruction(i));
        if let Some(wrong) = wrong {
            late.into_iter().for_each(|result| self.zero(when(wrong), result));
        }
    }

    /// Where an access is made that is made where a guard holds, and where a check does not fail.
    fn fine_of(&mut self, guard: Option<Guard>, fail: Reg) -> Guard {
        let fine = Guard { reg: fail, negated: true };
        let Some(guard) = guard else { return fine };
        let both = [guard, fine].map(|guard| self.predicate(guard));
        Guard { reg: self.code.give("and.pred", Type::Pred, both), negated: false }
    }

    /// The same of a warp's access, of which each thread has its part: all do it, or none. A thread that makes none has
    /// nothing wrong.
    fn warps_access(&mut self, at: usize, mut i: Instruction, groups: std::ops::Range<usize>) {
        let plan = self.plan;
        let own = groups.filter(|number| {
            plan.groups[*number].members.iter().any(|member| member.statement == at)
        });
        let own = own.map(|number| self.checked(number)).next();
        let fail = own.and_then(|number| self.woven.get(&number)).map(|woven| woven.fail);
        let results: Vec<Operand> = i.dst.iter().flat_map(Operand::lanes).cloned().collect();
        let Some(fail) = fail else {
            self.code.out.push(Statement::Instruction(i));
            return;
        };
        let asked = [Operand::Reg(fail), Operand::Int(-1)];
        let wrong = self.code.give("vote.sync.any.pred", Type::Pred, asked);
        let made = match i.guard {
            None => unless(wrong),
            Some(guard) => {
                let right = self.predicate(Guard { reg: wrong, negated: true });
                let both = [self.predicate(guard), right];
                when(self.code.give("and.pred", Type::Pred, both))
            }
        };
        i.guard = made;
        self.code.out.push(Statement::Instruction(i));
        results.into_iter().for_each(|result| self.zero(when(wrong), result));
    }

    fn zero(&mut self, wrong: Option<Guard>, result: Operand) {
        let Some(reg) = result.reg() else { return };
        let (zero, ty) = (Operand::Int(0), self.code.registers.ty(reg));
        if ty == Type::Pred {
            // Of a barrier that is none: that its phase is over.
            self.code.put_if(wrong, "setp.eq.u32", [result], [zero.clone(), zero]);
            return;
        }
        let mnemonic = format!("mov.b{}", ty.bits());
        self.code.put_if(wrong, &mnemonic, [result], [zero]);
    }

    /// What failed since the last time is written down.
    fn tell(&mut self) {
        let (pending, Some(failed)) = (std::mem::take(&mut self.pending), self.failed.take())
        else {
            return;
        };
        let (write, back) = (self.code.label(), self.code.label());
        self.code.jump(when(failed), write);
        self.code.place(back);
        std::mem::swap(&mut self.code.out, &mut self.code.cold);
        self.code.place(write);
        pending.into_iter().for_each(|group| self.record(group));
        self.code.jump(None, back);
        std::mem::swap(&mut self.code.out, &mut self.code.cold);
    }

    /// A loop that goes back looks at the flag.
    fn look(&mut self, goes_back: bool, at: Option<usize>) {
        if let Some(poll) = self.poll.filter(|_| goes_back) {
            let last = at.and_then(|at| instruction(self.body, at));
            let (location, line) = last.map_or((None, 0), |i| (i.location, i.line));
            let check = self.push_check(CheckKind::Stop { location, line });
            poll.put(&mut self.code, self.recorder, check, self.noted.as_ref());
        }
    }

    /// Writes a record, where a group's check failed.
    fn record(&mut self, at: usize) {
        let plan = self.plan;
        let group = &plan.groups[at];
        let place = self.body.statements.get(group.first());
        if let Some(Statement::Instruction(i)) = place {
            self.code.location = i.location;
        }
        // What was compared is compared again, so that nothing of it has to be kept until here.
        let woven = match group.stays && group.when == When::Always && !group.is_searched() {
            true => self.compare(group, group.guard),
            false => match self.woven.get(&at) {
                Some(woven) => woven.clone(),
                None => return,
            },
        };
        let skip = self.code.label();
        self.code.jump(unless(woven.fail), skip);
        let place = self.recorded(group, &woven);
        let check = self.add_check(group);
        self.recorder.record(&mut self.code, Operand::Int(check.into()), &place);
        self.code.place(skip);
    }

    /// Writes a record in place of what would end the launch, and ends the thread.
    fn stop(&mut self, i: &Instruction, reason: &Reason) {
        let (location, line) = (i.location, i.line);
        let kind = match reason {
            Reason::Trap => CheckKind::Trap { location, line },
            Reason::Assert(text) => CheckKind::Assert { text: text.clone(), location, line },
        };
        let check = self.push_check(kind);
        let skip = i.guard.map(|guard| (guard, self.code.label()));
        if let Some((guard, skip)) = skip {
            self.code.jump(Some(Guard { negated: !guard.negated, ..guard }), skip);
        }
        self.recorder.record(&mut self.code, Operand::Int(check.into()), &AccessRecord::NONE);
        self.code.put("exit", [], []);
        if let Some((_, skip)) = skip {
            self.code.place(skip);
        }
    }
}

/// Whether a function of the module is called.
fn calls(i: &Instruction) -> bool {
    matches!(i.op, Op::Call { .. })
}

/// Whether an instruction reads what it writes to, or does where the guard does not hold.
fn reads(i: &Instruction, guard: Option<Guard>, result: &Operand) -> bool {
    let Some(reg) = result.reg() else { return false };
    let mut is_read = guard.is_some_and(|guard| guard.reg == reg);
    i.for_each_use(|used| is_read |= used == reg);
    is_read
}
