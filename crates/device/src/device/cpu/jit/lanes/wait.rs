//! Places where a group waits: as for single threads, four at a time.

use cranelift_codegen::ir::{Block, InstBuilder, Value, condcodes::IntCC, types};

use super::GroupLower;
use crate::{
    device::cpu::{
        abi::{BLOCKED, LANES},
        jit::{
            Schedule,
            lower::{Step, Unsupported, clif_type},
            sync::{Point, resume_kind},
        },
    },
    ptx::{inst::Instruction, operand::Reg, types::Type},
};

impl GroupLower<'_, '_, '_> {
    /// As `wait`, and with the same state and the same places for registers.
    pub(super) fn group_waits(&mut self, at: usize, i: &Instruction, resume: Block) -> Step {
        let Point { state, spills } = self.lower.plan().point(at)?;
        let (mut uses, mut defs) = (Vec::new(), Vec::new());
        i.for_each_use(|reg| uses.push(reg));
        i.for_each_def(|reg| defs.push(reg));
        if self.lower.plan().schedule == Schedule::Warp {
            let kind = resume_kind(i).ok_or(Unsupported::Part("not a place to wait"))?;
            self.per_lane(&uses, &[], |lower| lower.hand_over(i, kind))?;
        }
        self.spill_vectors(&spills);
        let states = self.lower.state_memory(LANES);
        let blocked = self.all_lanes(types::I32X4, u64::from(state | BLOCKED));
        self.lower.store_unaligned(blocked, states, 0);
        self.lower.count_waiting(LANES as i64);
        let next = self.lower.targets().next();
        self.lower.b.ins().jump(next, &[]);

        self.lower.b.switch_to_block(resume);
        self.part_unless_alike(&spills);
        self.reload_vectors(&spills);
        if defs.is_empty() {
            return Ok(());
        }
        self.per_lane(&[], &defs, |lower| lower.receive(i))
    }

    fn spill_vectors(&mut self, spills: &[(Reg, usize)]) {
        for &(reg, offset) in spills {
            let ty = self.lower.body().registers.ty(reg);
            let memory = self.lower.spill_memory(offset, clif_type(ty).bytes().max(4), LANES);
            for (index, part) in self.spill_parts(reg, ty).into_iter().enumerate() {
                let width = self.lower.b.func.dfg.value_type(part).bytes();
                self.lower.store_unaligned(part, memory, index as i64 * i64::from(width));
            }
        }
    }

    /// All four values, as they lie one behind the other.
    fn spill_parts(&mut self, reg: Reg, ty: Type) -> Vec<Value> {
        let parts = match self.shape(reg).stride() {
            Some(stride) => {
                let first = self.lower.b.use_var(self.lower.variable(reg));
                self.spread(first, stride, ty)
            }
            None => self.vectors(reg),
        };
        if ty == Type::Pred {
            let one = self.all_lanes(types::I32X4, 1);
            return vec![self.lower.b.ins().band(parts[0], one)];
        }
        match ty.bytes() < 4 {
            true => parts.into_iter().map(|p| self.lower.b.ins().uextend(types::I32, p)).collect(),
            false => parts,
        }
    }

    /// What does not vary between threads that go one way does once they went different ones: such a group is no
    /// group any more, although all four are at the same place.
    fn part_unless_alike(&mut self, spills: &[(Reg, usize)]) {
        if !self.may_part() {
            return;
        }
        let mut alike = None;
        for &(reg, offset) in spills {
            let Some(stride) = self.shape(reg).stride() else { continue };
            let bytes = self.lower.body().registers.ty(reg).bytes();
            for equal in self.compare_spilled(offset, stride, bytes) {
                alike = Some(match alike {
                    None => equal,
                    Some(alike) => self.lower.b.ins().band(alike, equal),
                });
            }
        }
        let Some(alike) = alike else { return };
        let all = self.lower.b.ins().vall_true(alike);
        let [on, apart] = [(); 2].map(|()| self.lower.b.create_block());
        self.lower.b.set_cold_block(apart);
        self.lower.b.ins().brif(all, on, &[], apart, &[]);
        self.lower.b.switch_to_block(apart);
        self.leave_singly();
        self.lower.b.switch_to_block(on);
    }

    /// Masks of whether spilled values of a register of so many `bytes` differ by the stride, as vectors of words.
    fn compare_spilled(&mut self, offset: usize, stride: i64, bytes: u32) -> Vec<Value> {
        let (ty, int, form) = match bytes {
            16 => return self.compare_spilled_pairs(offset),
            8 => (Type::B64, types::I64, types::I64X2),
            _ => (Type::B32, types::I32, types::I32X4),
        };
        let memory = self.lower.spill_memory(offset, int.bytes(), LANES);
        let first = self.lower.load_unaligned(int, memory, 0);
        let due = self.spread(first, stride, ty);
        let equal = due.into_iter().enumerate().map(|(index, due)| {
            let found = self.lower.load_unaligned(form, memory, 16 * index as i64);
            let equal = self.lower.b.ins().icmp(IntCC::Equal, found, due);
            self.recast(equal, types::I32X4)
        });
        equal.collect()
    }

    /// As [`Self::compare_spilled`], of 128 bits: there is no arithmetic of these, so that they differ by nothing or
    /// are not alike.
    fn compare_spilled_pairs(&mut self, offset: usize) -> Vec<Value> {
        let form = types::I64X2;
        let memory = self.lower.spill_memory(offset, form.bytes(), LANES);
        let first = self.lower.load_unaligned(form, memory, 0);
        let equal = (1..LANES as i64).map(|lane| {
            let found = self.lower.load_unaligned(form, memory, 16 * lane);
            let equal = self.lower.b.ins().icmp(IntCC::Equal, found, first);
            self.recast(equal, types::I32X4)
        });
        equal.collect()
    }

    fn reload_vectors(&mut self, spills: &[(Reg, usize)]) {
        for &(reg, offset) in spills {
            let ty = self.lower.body().registers.ty(reg);
            let clif = clif_type(ty);
            let stored = if clif.bytes() < 4 { types::I32 } else { clif };
            let memory = self.lower.spill_memory(offset, stored.bytes(), LANES);
            if self.shape(reg).stride().is_some() {
                let first = self.lower.load_unaligned(stored, memory, 0);
                let first = self.lower.fit(first, clif);
                self.lower.b.def_var(self.lower.variable(reg), first);
                continue;
            }
            let (form, count) = super::value::form(ty);
            let form = if form.bytes() < 4 { types::I32 } else { form };
            let mut parts = Vec::new();
            for index in 0..count {
                let at = index as i64 * i64::from(form.bytes());
                let part = self.lower.load_unaligned(form, memory, at);
                parts.push(if ty == Type::Pred {
                    let zero = self.all_lanes(types::I32X4, 0);
                    self.lower.b.ins().icmp(IntCC::NotEqual, part, zero)
                } else if clif.bytes() < 4 {
                    self.lower.fit(part, clif)
                } else {
                    part
                });
            }
            self.set_vectors(reg, &parts);
        }
    }
}
