//! A check that notes what is wrong, and the places where what was noted is written down.

use super::code::when;
use super::group::{Group, Root, is_wide};
use super::noted::{NOTHING, Noted, Of, Then};
use super::record::AccessRecord;
use super::surface::SurfaceAccess;
use super::weaver::Weaver;
use crate::ptx::ast::Statement;
use crate::ptx::inst::{Guard, Instruction};
use crate::ptx::op::Next;
use crate::ptx::operand::{Address, Base, Operand, Reg};
use crate::ptx::types::Type;

impl Weaver<'_> {
    /// Notes a check that fails here, where none did before.
    pub(super) fn note(&mut self, at: usize, fail: Reg) {
        let plan = self.plan;
        let group = &plan.groups[at];
        let check = self.add_check(group);
        let Some((first, [low, high])) = self.note_check(check, Of::Group(at), fail) else {
            return;
        };
        let code = &mut self.code;
        match (group.index, group.root) {
            (Some(index), _) => code.put_if(first, "mov.u32", [low], [Operand::Reg(index.reg)]),
            (None, Root::Reg(reg)) if is_wide(self.body, group.root) => {
                let halves = [Operand::Vector(Box::new([low, high]))];
                code.put_if(first, "mov.b64", halves, [Operand::Reg(reg)]);
            }
            (None, Root::Reg(reg)) => code.put_if(first, "mov.u32", [low], [Operand::Reg(reg)]),
            (None, Root::Symbol(_)) => {}
        }
    }

    /// Notes an access outside a surface.
    pub(super) fn note_surface(&mut self, access: &SurfaceAccess, check: u32, fail: Reg) {
        let of = Of::Surface(access.word());
        let Some((first, [low, high])) = self.note_check(check, of, fail) else { return };
        self.code.put_if(first, "mov.u32", [low], [access.x.clone()]);
        self.code.put_if(first, "mov.u32", [high], [access.y.clone()]);
    }

    /// Notes the number of a check that fails. Gives the guard under which it did, and what its place is kept in.
    fn note_check(
        &mut self,
        check: u32,
        of: Of,
        fail: Reg,
    ) -> Option<(Option<Guard>, [Operand; 2])> {
        let noted = self.noted.as_mut()?;
        noted.checks.push((check, of));
        let [known, low, high] = [noted.check, noted.low, noted.high].map(Operand::Reg);
        let nothing = [known.clone(), Operand::Int(NOTHING), Operand::Reg(fail)];
        let first = when(self.code.give("setp.eq.and.u32", Type::Pred, nothing));
        self.code.put_if(first, "mov.u32", [known], [Operand::Int(check.into())]);
        Some((first, [low, high]))
    }

    /// What was noted is written down before the thread or the function ends, or before `i`.
    pub(super) fn write_before(&mut self, i: &Instruction) {
        let Some(mut noted) = self.noted.take() else { return };
        match i.op.facts().next {
            Next::Returns | Next::Exits => {
                let guard = i.guard.map(|guard| self.predicate(guard));
                let is_some = noted.is_some(&mut self.code, guard);
                let end = noted.end(&mut self.code, i);
                self.code.jump(when(is_some), end);
            }
            Next::Follows | Next::Branches | Next::BranchesByTable | Next::Traps => {
                let is_some = noted.is_some(&mut self.code, None);
                let (write, back) = (self.code.label(), self.code.label());
                self.code.jump(when(is_some), write);
                self.code.place(back);
                noted.places.push((write, Then::Back(back)));
            }
        }
        self.noted = Some(noted);
    }

    /// Writes the places where records are written, behind all else.
    pub(super) fn write_noted(&mut self) {
        let Some(noted) = self.noted.take() else { return };
        std::mem::swap(&mut self.code.out, &mut self.code.cold);
        for (label, then) in &noted.places {
            self.code.place(*label);
            self.write(&noted);
            match then {
                Then::Back(back) => {
                    let nothing = [Operand::Int(NOTHING)];
                    self.code.put("mov.u32", [Operand::Reg(noted.check)], nothing);
                    self.code.jump(None, *back);
                }
                Then::End(i) => self.code.out.push(Statement::Instruction(i.clone())),
            }
        }
        std::mem::swap(&mut self.code.out, &mut self.code.cold);
    }

    /// Writes the record of the check that was noted.
    fn write(&mut self, noted: &Noted) {
        let plan = self.plan;
        let results = [0, 1, 2].map(|_| self.code.reg(Type::B64));
        let found = self.code.label();
        for (check, of) in &noted.checks {
            let next = self.code.label();
            let other = [Operand::Reg(noted.check), Operand::Int((*check).into())];
            let other = self.code.give("setp.ne.u32", Type::Pred, other);
            self.code.jump(when(other), next);
            let record = match of {
                Of::Group(at) => self.noted_access(&plan.groups[*at], noted),
                Of::Surface(word) => {
                    let limits = self.halves(*word);
                    let at = [noted.low, noted.high].map(Operand::Reg);
                    AccessRecord::of_surface(&mut self.code, at, limits, None)
                }
            };
            let AccessRecord { address, start, limit } = record;
            for (to, from) in results.into_iter().zip([address, start, limit]) {
                self.code.put("mov.b64", [Operand::Reg(to)], [from]);
            }
            self.code.jump(None, found);
            self.code.place(next);
        }
        self.code.place(found);
        let [address, start, limit] = results.map(Operand::Reg);
        let access = AccessRecord { address, start, limit };
        self.recorder.record(&mut self.code, Operand::Reg(noted.check), &access);
    }

    /// What the record says of a group's access.
    fn noted_access(&mut self, group: &Group, noted: &Noted) -> AccessRecord {
        let wide = is_wide(self.body, group.root);
        let low = Operand::Reg(noted.low);
        let root = match (group.index, group.root) {
            (Some(index), _) => {
                let pointer = self.argument(index.argument);
                let signed = if index.signed { "s32" } else { "u32" };
                let sum = [low, Operand::Int(index.stride.into()), Operand::Reg(pointer)];
                let sum = self.code.give(&format!("mad.wide.{signed}"), Type::B64, sum);
                let sum = [Operand::Reg(sum), Operand::Int(index.offset)];
                self.code.give("add.s64", Type::B64, sum)
            }
            (None, Root::Reg(_)) if wide => {
                let halves = [Operand::Vector(Box::new([low, Operand::Reg(noted.high)]))];
                self.code.give("mov.b64", Type::B64, halves)
            }
            (None, Root::Reg(_)) => self.code.give("mov.b32", Type::B32, [low]),
            (None, Root::Symbol(symbol)) => self.symbol(symbol, group.space.is_none(), wide),
        };
        self.access_from(group, root)
    }

    /// A pointer among the kernel's arguments.
    fn argument(&mut self, place: u32) -> Reg {
        let operand =
            self.origins.parameter_at(place).map_or(Operand::Int(0), |(param, offset)| {
                Operand::Address(Address { base: Base::Symbol(param), offset })
            });
        self.code.give("ld.param.u64", Type::B64, [operand])
    }

    /// The indices that are right, as their first one and their count.
    pub(super) fn indices(&mut self, group: &Group) -> Option<[Operand; 2]> {
        Some(self.halves(group.indices()?))
    }
}
