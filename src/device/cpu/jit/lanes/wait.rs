//! Places where a group waits: as for single threads, four at a time.

use std::mem::offset_of;

use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, condcodes::IntCC, types};

use super::super::{
    Schedule,
    lower::{Lower, Step, Unsupported, clif_type},
};
use crate::{
    device::cpu::launch::{BLOCKED, Context, LANES},
    ptx::{inst::Instruction, operand::Reg, types::Type},
};

impl Lower<'_, '_> {
    /// As `wait`, and with the same state and the same places for registers.
    pub(super) fn group_waits(&mut self, at: usize, i: &Instruction, resume: Block) -> Step {
        let point = self.plan.points.binary_search(&at);
        let point = point.map_err(|_| Unsupported("not a place to wait"))?;
        let (mut uses, mut defs) = (Vec::new(), Vec::new());
        i.for_each_use(|reg| uses.push(reg));
        i.for_each_def(|reg| defs.push(reg));
        if self.plan.schedule == Schedule::Warp {
            self.per_lane(&uses, &[], |lower| lower.hand_over(i))?;
        }
        let kept = self.plan.kept(point).to_vec();
        self.keep_vectors(&kept);
        let state = point as u32 + 1;
        let address = self.state_address();
        let blocked = self.all_lanes(types::I32X4, u64::from(state | BLOCKED));
        self.b.ins().store(MemFlagsData::new().with_notrap(), blocked, address, 0);
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
        let spill = self.context_u64(offset_of!(Context, spill));
        for &(reg, offset) in kept {
            let ty = self.body.registers.ty(reg);
            let bytes = clif_type(ty).bytes().max(4);
            let address = self.element(spill, bytes);
            for (index, part) in self.kept_parts(reg, ty).into_iter().enumerate() {
                let width = self.b.func.dfg.value_type(part).bytes() as usize;
                let at = (offset + index * width) as i32;
                self.b.ins().store(MemFlagsData::new().with_notrap(), part, address, at);
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
        let spill = self.context_u64(offset_of!(Context, spill));
        let flags = MemFlagsData::new().with_notrap();
        let (ty, int, form) = match wide {
            true => (Type::B64, types::I64, types::I64X2),
            false => (Type::B32, types::I32, types::I32X4),
        };
        let address = self.element(spill, int.bytes());
        let first = self.b.ins().load(int, flags, address, offset as i32);
        let due = self.spread(first, stride, ty);
        let equal = due.into_iter().enumerate().map(|(index, due)| {
            let at = (offset + 16 * index) as i32;
            let found = self.b.ins().load(form, flags, address, at);
            let equal = self.b.ins().icmp(IntCC::Equal, found, due);
            self.recast(equal, types::I32X4)
        });
        equal.collect()
    }

    fn read_vectors_back(&mut self, kept: &[(Reg, usize)]) {
        let spill = self.context_u64(offset_of!(Context, spill));
        for &(reg, offset) in kept {
            let ty = self.body.registers.ty(reg);
            let clif = clif_type(ty);
            let stored = if clif.bytes() < 4 { types::I32 } else { clif };
            let address = self.element(spill, stored.bytes());
            let flags = MemFlagsData::new().with_notrap();
            if self.shape(reg).stride().is_some() {
                let first = self.b.ins().load(stored, flags, address, offset as i32);
                let first = self.fit(first, clif);
                self.b.def_var(self.variable(reg), first);
                continue;
            }
            let (form, count) = super::value::form(ty);
            let form = if form.bytes() < 4 { types::I32 } else { form };
            let mut parts = Vec::new();
            for index in 0..count {
                let at = offset as i32 + (index as u32 * form.bytes()) as i32;
                let part = self.b.ins().load(form, flags, address, at);
                parts.push(match ty {
                    Type::Pred => {
                        let zero = self.all_lanes(types::I32X4, 0);
                        self.b.ins().icmp(IntCC::NotEqual, part, zero)
                    }
                    _ if clif.bytes() < 4 => self.fit(part, clif),
                    _ => part,
                });
            }
            self.set_vectors(reg, &parts);
        }
    }
}
