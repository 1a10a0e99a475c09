//! Places where a group waits: as for single threads, all of the group's at a time.

use cranelift_codegen::ir::{Block, InstBuilder, Value, condcodes::IntCC, types};
use cranelift_frontend::FunctionBuilder;

use super::GroupLower;
use crate::{
    device::cpu::{
        abi::{BLOCKED, OPENS_BLOCK, OPENS_WARP, PACKED},
        jit::{
            Packed, Reduce, Resume, Schedule,
            kernel::{Brings, Fixed, PackedRegister},
            lower::{Step, clif_type},
            sync::{Handed, Point, resume_kind},
        },
    },
    ptx::{inst::Instruction, op::WarpOp, operand::Reg, types::Type},
};

/// Where a group goes on that waited.
#[derive(Clone, Copy)]
pub(super) struct Resumes {
    /// One that met all others which run together.
    pub(super) met: Block,
    /// One that came there as a group, and that the host lets go on.
    pub(super) packed: Block,
    /// One whose threads are at the same place, however they came there.
    pub(super) alike: Block,
}

impl Resumes {
    pub(super) fn new(b: &mut FunctionBuilder<'_>) -> Self {
        let [met, packed, alike] = [(); 3].map(|()| b.create_block());
        Self { met, packed, alike }
    }
}

impl GroupLower<'_, '_, '_> {
    /// As `wait`, and with the same places for registers; but of those that differ by a constant from thread to thread,
    /// the first one's alone is stored.
    pub(super) fn group_waits(&mut self, at: usize, i: &Instruction, resumes: Resumes) -> Step {
        let point = self.lower.plan().point(at)?;
        let whole = self.whole_warp(i);
        let brings = match whole {
            Some(_) => self.bring(i)?,
            None => self.group_hands_over(i)?,
        };
        self.pack(&point, brings);
        let opens = self.opens(i, whole);
        self.set_states(point.state | PACKED | BLOCKED | opens);
        let next = self.lower.targets().next();
        self.lower.b.ins().jump(next, &[]);

        let reload = self.lower.b.create_block();
        let met = self.lower.b.append_block_param(reload, types::I8);
        for (block, has_met) in [(resumes.met, 1), (resumes.packed, 0), (resumes.alike, 0)] {
            self.lower.begin_block(block);
            if block == resumes.alike {
                self.diverge_unless_alike(&point.spills);
            }
            let has_met = self.lower.b.ins().iconst(types::I8, has_met);
            self.lower.b.ins().jump(reload, &[has_met.into()]);
        }
        self.lower.begin_block(reload);
        self.reload_vectors(&point)?;
        let Some(op) = whole else { return self.group_receives(i) };
        let [warp, host, on] = [(); 3].map(|()| self.lower.b.create_block());
        self.lower.b.ins().brif(met, warp, &[], host, &[]);
        self.lower.begin_block(warp);
        self.take(i, op)?;
        self.lower.b.ins().jump(on, &[]);
        self.lower.begin_block(host);
        self.group_receives(i)?;
        self.lower.b.ins().jump(on, &[]);
        self.lower.begin_block(on);
        Ok(())
    }

    /// Who has to come so that the group goes on without the host.
    fn opens(&self, i: &Instruction, whole: Option<WarpOp>) -> u32 {
        let plan = self.lower.plan();
        let Fixed { mask, b, .. } = Handed::of(i).fixed(plan.constants());
        let barrier = resume_kind(i) == Some(Resume::Barrier { reduce: Reduce::Nothing });
        let is_for_all = barrier && mask.is_some() && b == Some(0) && !plan.arrives;
        match whole {
            Some(_) => OPENS_WARP,
            None if is_for_all => OPENS_BLOCK,
            None => 0,
        }
    }

    /// Writes the state of all threads of the group.
    pub(super) fn set_states(&mut self, state: u32) {
        let states = self.lower.state_memory(self.plan.width);
        let state = self.all_lanes(types::I32X4, u64::from(state));
        for quad in 0..self.quads() as i64 {
            self.lower.store_unaligned(state, states, 16 * quad);
        }
    }

    /// What the host needs to know of the group's threads.
    fn group_hands_over(&mut self, i: &Instruction) -> Step<Brings> {
        if self.lower.plan().schedule == Schedule::Warp {
            let handed = Handed::of(i);
            let matrix = matches!(resume_kind(i), Some(Resume::Warp(WarpOp::Matrix(_))));
            if !matrix && self.has_vectors(&handed) {
                self.hand_over_values(&handed)?;
            } else {
                let mut uses = Vec::new();
                i.for_each_use(|reg| uses.push(reg));
                self.per_lane(&uses, &[], None, |lower| lower.hand_over(i))?;
            }
        }
        Ok(Brings::Nothing)
    }

    /// Writes what the group's threads get for their waiting.
    fn group_receives(&mut self, i: &Instruction) -> Step {
        let mut defs = Vec::new();
        i.for_each_def(|reg| defs.push(reg));
        if defs.iter().all(|reg| self.shape(*reg).stride().is_some()) {
            // The first thread has what all have.
            return self.lower.receive(i);
        }
        self.per_lane(&[], &defs, None, |lower| lower.receive(i))
    }

    fn pack(&mut self, point: &Point, brings: Brings) {
        let mut registers = Vec::new();
        for &(reg, offset) in &point.spills {
            let ty = self.lower.body().registers.ty(reg);
            let bytes = clif_type(ty).bytes().max(4);
            let memory = self.lower.spill_memory(offset, bytes, self.plan.width);
            if let Some(stride) = self.shape(reg).stride() {
                let first = self.lower.b.use_var(self.lower.variable(reg));
                if !self.is_stored(first, offset) {
                    let first = if clif_type(ty).bytes() < 4 {
                        self.lower.b.ins().uextend(types::I32, first)
                    } else {
                        first
                    };
                    self.lower.store(first, memory, 0);
                }
                registers.push(PackedRegister { offset, bytes: bytes as usize, stride });
                continue;
            }
            let mut at = 0;
            for part in self.spill_parts(reg, ty) {
                if !self.is_stored(part, offset + at as usize) {
                    self.lower.store_unaligned(part, memory, at);
                }
                at += i64::from(self.lower.b.func.dfg.value_type(part).bytes());
            }
        }
        self.lower.plan_mut().packed[point.state as usize] = Packed { registers, brings };
    }

    /// Whether a value is what was loaded from a place among the spilled registers since the group's turn began, and so
    /// lies there already.
    fn is_stored(&self, value: Value, place: usize) -> bool {
        let value = self.lower.b.func.dfg.resolve_aliases(value);
        self.reloaded.get(&value) == Some(&place)
    }

    /// All values of a register that varies, as they lie one behind the other.
    fn spill_parts(&mut self, reg: Reg, ty: Type) -> Vec<Value> {
        let parts = self.all_vectors(reg);
        if ty == Type::Pred {
            let one = self.all_lanes(types::I32X4, 1);
            return parts.into_iter().map(|part| self.lower.b.ins().band(part, one)).collect();
        }
        match ty.bytes() < 4 {
            true => parts.into_iter().map(|p| self.lower.b.ins().uextend(types::I32, p)).collect(),
            false => parts,
        }
    }

    /// What does not vary between threads that go one way does once they went different ones: such a group is no
    /// group any more, although all are at the same place.
    fn diverge_unless_alike(&mut self, spills: &[(Reg, usize)]) {
        if !self.may_diverge() {
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
        self.diverge_unless(all, Self::leave_singly);
    }

    /// Masks of whether spilled values of a register of so many `bytes` differ by the stride, as vectors of words.
    fn compare_spilled(&mut self, offset: usize, stride: i64, bytes: u32) -> Vec<Value> {
        let (ty, int, form) = match bytes {
            16 => return self.compare_spilled_pairs(offset),
            8 => (Type::B64, types::I64, types::I64X2),
            _ => (Type::B32, types::I32, types::I32X4),
        };
        let memory = self.lower.spill_memory(offset, int.bytes(), self.plan.width);
        let first = self.lower.load_unaligned(int, memory, 0);
        let due = self.spread_all(first, stride, ty);
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
        let memory = self.lower.spill_memory(offset, form.bytes(), self.plan.width);
        let first = self.lower.load_unaligned(form, memory, 0);
        let equal = (1..self.plan.width as i64).map(|lane| {
            let found = self.lower.load_unaligned(form, memory, 16 * lane);
            let equal = self.lower.b.ins().icmp(IntCC::Equal, found, first);
            self.recast(equal, types::I32X4)
        });
        equal.collect()
    }

    fn reload_vectors(&mut self, point: &Point) -> Step {
        for &reg in &point.made_again {
            let value = self.lower.constant(reg)?;
            if self.shape(reg).stride().is_some() {
                self.lower.b.def_var(self.lower.variable(reg), value);
            } else {
                let parts = self.spread_all(value, 0, self.lower.body().registers.ty(reg));
                self.set_all_vectors(reg, &parts);
            }
        }
        for &(reg, offset) in &point.spills {
            let ty = self.lower.body().registers.ty(reg);
            let clif = clif_type(ty);
            let stored = if clif.bytes() < 4 { types::I32 } else { clif };
            let memory = self.lower.spill_memory(offset, stored.bytes(), self.plan.width);
            if self.shape(reg).stride().is_some() {
                let first = self.lower.load_unaligned(stored, memory, 0);
                self.reloaded.insert(first, offset);
                let first = self.lower.fit(first, clif);
                self.lower.b.def_var(self.lower.variable(reg), first);
                continue;
            }
            let (form, count) = super::value::form(ty);
            let form = if form.bytes() < 4 { types::I32 } else { form };
            let mut parts = Vec::new();
            for index in 0..count * self.quads() {
                let at = index as i64 * i64::from(form.bytes());
                let part = self.lower.load_unaligned(form, memory, at);
                self.reloaded.insert(part, offset + at as usize);
                parts.push(if ty == Type::Pred {
                    let zero = self.all_lanes(types::I32X4, 0);
                    self.lower.b.ins().icmp(IntCC::NotEqual, part, zero)
                } else if clif.bytes() < 4 {
                    self.lower.fit(part, clif)
                } else {
                    part
                });
            }
            self.set_all_vectors(reg, &parts);
        }
        Ok(())
    }
}
