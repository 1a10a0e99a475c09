//! Places where a group waits: as for single threads, four at a time.

use cranelift_codegen::ir::{Block, InstBuilder, Value, condcodes::IntCC, types};

use super::super::{
    Schedule,
    lower::{Lower, Step, Unsupported, clif_type},
    sync::resume_kind,
};
use crate::{
    device::cpu::abi::{BLOCKED, LANES},
    ptx::{inst::Instruction, operand::Reg, types::Type},
};

impl Lower<'_, '_> {
    /// As `wait`, and with the same state and the same places for registers.
    pub(super) fn group_waits(&mut self, at: usize, i: &Instruction, resume: Block) -> Step {
        let point = self.plan.points.binary_search(&at);
        let point = point.map_err(|_| Unsupported::Part("not a place to wait"))?;
        let (mut uses, mut defs) = (Vec::new(), Vec::new());
        i.for_each_use(|reg| uses.push(reg));
        i.for_each_def(|reg| defs.push(reg));
        if self.plan.schedule == Schedule::Warp {
            let kind = resume_kind(i).ok_or(Unsupported::Part("not a place to wait"))?;
            self.per_lane(&uses, &[], |lower| lower.hand_over(i, kind))?;
        }
        let kept = self.plan.kept(point).to_vec();
        self.keep_vectors(&kept);
        let state = point as u32 + 1;
        let states = self.state_place(LANES);
        let blocked = self.all_lanes(types::I32X4, u64::from(state | BLOCKED));
        self.store_unaligned(blocked, states, 0);
        let waiting = self.b.use_var(self.thread.waiting);
        let waiting = self.b.ins().iadd_imm_u(waiting, LANES as i64);
        self.b.def_var(self.thread.waiting, waiting);
        let next = self.next_block();
        self.b.ins().jump(next, &[]);

        self.b.switch_to_block(resume);
        self.part_unless_alike(&kept);
        self.read_vectors_back(&kept);
        if defs.is_empty() {
            return Ok(());
        }
        self.per_lane(&[], &defs, |lower| lower.receive(i))
    }

    fn keep_vectors(&mut self, kept: &[(Reg, usize)]) {
        for &(reg, offset) in kept {
            let ty = self.body.registers.ty(reg);
            let place = self.kept_place(offset, clif_type(ty).bytes().max(4), LANES);
            for (index, part) in self.kept_parts(reg, ty).into_iter().enumerate() {
                let width = self.b.func.dfg.value_type(part).bytes();
                self.store_unaligned(part, place, index as i64 * i64::from(width));
            }
        }
    }

    /// All four values, as they lie one behind the other.
    fn kept_parts(&mut self, reg: Reg, ty: Type) -> Vec<Value> {
        let parts = match self.shape(reg).stride() {
            Some(stride) => {
                let first = self.b.use_var(self.variable(reg));
                self.spread(first, stride, ty)
            }
            None => self.vectors(reg),
        };
        if ty == Type::Pred {
            let one = self.all_lanes(types::I32X4, 1);
            return vec![self.b.ins().band(parts[0], one)];
        }
        match ty.bytes() < 4 {
            true => parts.into_iter().map(|p| self.b.ins().uextend(types::I32, p)).collect(),
            false => parts,
        }
    }

    /// What does not vary between threads that go one way does once they went different ones: such a group is no
    /// group any more, although all four are at the same place.
    fn part_unless_alike(&mut self, kept: &[(Reg, usize)]) {
        if !self.may_part() {
            return;
        }
        let mut alike = None;
        for &(reg, offset) in kept {
            let Some(stride) = self.shape(reg).stride() else { continue };
            let wide = self.body.registers.ty(reg).bytes() == 8;
            for equal in self.compare_kept(offset, stride, wide) {
                alike = Some(match alike {
                    None => equal,
                    Some(alike) => self.b.ins().band(alike, equal),
                });
            }
        }
        let Some(alike) = alike else { return };
        let all = self.b.ins().vall_true(alike);
        let [on, apart] = [(); 2].map(|()| self.b.create_block());
        self.b.set_cold_block(apart);
        self.b.ins().brif(all, on, &[], apart, &[]);
        self.b.switch_to_block(apart);
        self.leave_singly();
        self.b.switch_to_block(on);
    }

    /// Masks of whether kept values differ by the stride, as vectors of words.
    fn compare_kept(&mut self, offset: usize, stride: i64, wide: bool) -> Vec<Value> {
        let (ty, int, form) = match wide {
            true => (Type::B64, types::I64, types::I64X2),
            false => (Type::B32, types::I32, types::I32X4),
        };
        let place = self.kept_place(offset, int.bytes(), LANES);
        let first = self.load_unaligned(int, place, 0);
        let due = self.spread(first, stride, ty);
        let equal = due.into_iter().enumerate().map(|(index, due)| {
            let found = self.load_unaligned(form, place, 16 * index as i64);
            let equal = self.b.ins().icmp(IntCC::Equal, found, due);
            self.recast(equal, types::I32X4)
        });
        equal.collect()
    }

    fn read_vectors_back(&mut self, kept: &[(Reg, usize)]) {
        for &(reg, offset) in kept {
            let ty = self.body.registers.ty(reg);
            let clif = clif_type(ty);
            let stored = if clif.bytes() < 4 { types::I32 } else { clif };
            let place = self.kept_place(offset, stored.bytes(), LANES);
            if self.shape(reg).stride().is_some() {
                let first = self.load_unaligned(stored, place, 0);
                let first = self.fit(first, clif);
                self.b.def_var(self.variable(reg), first);
                continue;
            }
            let (form, count) = super::value::form(ty);
            let form = if form.bytes() < 4 { types::I32 } else { form };
            let mut parts = Vec::new();
            for index in 0..count {
                let at = index as i64 * i64::from(form.bytes());
                let part = self.load_unaligned(form, place, at);
                parts.push(if ty == Type::Pred {
                    let zero = self.all_lanes(types::I32X4, 0);
                    self.b.ins().icmp(IntCC::NotEqual, part, zero)
                } else if clif.bytes() < 4 {
                    self.fit(part, clif)
                } else {
                    part
                });
            }
            self.set_vectors(reg, &parts);
        }
    }
}
