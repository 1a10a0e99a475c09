//! Loops round which some of a group's threads go because of their indices, such as those at the border of an array.
//! The others follow each other: they go through the loop together, in a copy of its code that knows which they are,
//! and the group is whole again behind it.
//!
//! In that copy all threads compute, and what those that went round compute is lost: nothing that the code writes to
//! registers is read behind it. Only the others access memory, and fault: a check is of the first to the last of them,
//! a quad of which some went round loads and stores for one thread after the other, and so does what has no vector
//! form.

use std::ops::Range;

use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, condcodes::IntCC, types};
use cranelift_frontend::{FunctionBuilder, Variable};

use super::{
    GroupLower,
    join::Region,
    value::{Parts, form},
};
use crate::{
    device::{
        Result,
        cpu::{
            abi::LANES,
            jit::{
                lower::{Targets, clif_type, zero_of},
                span::MemorySpan,
            },
        },
    },
    ptx::{
        ast::{Body, Statement},
        cfg::{Cfg, Liveness},
        inst::{Instruction, Op},
        modifier::Access,
        operand::Label,
        types::Space,
    },
};

/// Translating a copy takes its time.
const MOST_INSTRUCTIONS: usize = 400;

/// The code round which a branch leads.
pub(super) struct Mask {
    /// The branch.
    at: usize,
    inside: Range<usize>,
    /// The statement behind the code, to which the branch leads, and the labels there.
    target: usize,
    labels: Vec<Label>,
    /// Where the copy begins.
    begin: Block,
    /// A bit for each thread that went round.
    gone: Variable,
    /// The lane of the first thread that did not, in 32 bits, and how many follow it, in 64.
    present: [Variable; 2],
    /// When a group diverges in the copy: a bit for each thread that went round, which goes on behind the code.
    left: Variable,
}

impl Mask {
    /// Of the largest of the regions for which there can be such a copy.
    pub(super) fn new(
        b: &mut FunctionBuilder<'_>,
        body: &Body,
        cfg: &Cfg,
        (liveness, run): (&Liveness, &[bool]),
        regions: &[Region],
    ) -> Option<Self> {
        let found = regions.iter().filter_map(|region| {
            let inside = inside(body, cfg, region)?;
            suits(body, cfg, (liveness, run), region, &inside).then_some((region, inside))
        });
        let (region, inside) = found.max_by_key(|(_, inside)| inside.len())?;
        let all = (0..body.labels.len() as u32).map(Label);
        Some(Self {
            at: region.at,
            target: inside.end,
            inside,
            labels: all.filter(|label| cfg.target(*label) == Some(region.join)).collect(),
            begin: b.create_block(),
            gone: b.declare_var(types::I32),
            present: [types::I32, types::I64].map(|ty| b.declare_var(ty)),
            left: b.declare_var(types::I32),
        })
    }
}

/// The statements of a region, where they follow the branch and the branch leads to what follows them.
fn inside(body: &Body, cfg: &Cfg, region: &Region) -> Option<Range<usize>> {
    let inside = region.at + 1..cfg.block(region.join).statements.start;
    let Some(Statement::Instruction(branch)) = body.statements.get(region.at) else { return None };
    let leads_behind = cfg.target(branch.branch_target()?) == Some(region.join);
    let is_all = cfg
        .ids()
        .all(|id| region.blocks[id.index()] == inside.contains(&cfg.block(id).statements.start));
    (leads_behind && is_all && !inside.is_empty()).then_some(inside)
}

fn suits(
    body: &Body,
    cfg: &Cfg,
    (liveness, run): (&Liveness, &[bool]),
    region: &Region,
    inside: &Range<usize>,
) -> bool {
    let blocks = || cfg.ids().filter(|id| region.blocks[id.index()]);
    let live = &liveness.live_in[region.join.index()];
    let is_lost = |i: &Instruction| {
        let mut lost = true;
        i.for_each_def(|reg| lost &= !live.contains(reg));
        lost
    };
    // Such may be to the frames of threads, and those of the ones that went round lie among those of the others.
    let is_own = |i: &Instruction| {
        if let Op::Ld(access) | Op::St(access) = &i.op {
            return matches!(access.space, None | Some(Space::Local));
        }
        i.src.iter().any(|operand| operand.address().is_some())
    };
    region.by_index
        && inside.len() <= MOST_INSTRUCTIONS
        && blocks().any(|id| cfg.block(id).is_loop_header)
        && blocks().all(|id| run[id.index()])
        && blocks().flat_map(|id| cfg.instructions(body, id)).all(|(_, i)| is_lost(i) && !is_own(i))
}

impl<'l> GroupLower<'l, '_, '_> {
    /// What a group does at a branch at which its threads diverge, by a bit for each that takes it: those that do not
    /// go on together, where that is possible, else `leave` ends the group's code.
    pub(super) fn go_on_masked(
        &mut self,
        index: usize,
        taken: Value,
        leave: impl FnOnce(&mut Self),
    ) {
        let mask = self.plan.mask.as_ref().filter(|mask| mask.at == index && self.masked.is_none());
        let Some(mask) = mask else { return leave(self) };
        let all = self.all_bits();
        let present = self.lower.b.ins().bxor_imm_u(taken, all);
        let first = self.lower.b.ins().ctz(present);
        let bits = self.lower.b.ins().ushr(present, first);
        let behind = self.lower.b.ins().iadd_imm_u(bits, 1);
        let gaps = self.lower.b.ins().band(bits, behind);
        let [apart, together] = [(); 2].map(|()| self.lower.b.create_block());
        self.lower.b.ins().brif(gaps, apart, &[], together, &[]);
        self.lower.b.switch_to_block(together);
        let count = self.lower.b.ins().popcnt(bits);
        let count = self.lower.b.ins().uextend(types::I64, count);
        let others = self.lower.b.ins().iadd_imm_s(count, -1);
        let [first_variable, others_variable] = mask.present;
        for (variable, value) in
            [(mask.gone, taken), (first_variable, first), (others_variable, others)]
        {
            self.lower.b.def_var(variable, value);
        }
        self.lower.b.ins().jump(mask.begin, &[]);
        self.lower.b.switch_to_block(apart);
        leave(self);
    }

    /// The copy, where there is one.
    pub(super) fn masked_groups(&mut self) -> Result<()> {
        let Some(mask) = &self.plan.mask else { return Ok(()) };
        let body = self.lower.body();
        let mut labels = Targets::labels(&mut self.lower.b, body);
        for label in &mask.labels {
            labels[label.0 as usize] = self.plan.targets.label(*label);
        }
        let target = mask.labels.first().map(|label| labels[label.0 as usize]);
        let targets = Targets::new(labels, self.plan.loop_.next());
        self.lower.b.switch_to_block(mask.begin);
        self.masked = Some(mask);
        self.lower.present = Some(mask.present);
        self.with_targets(targets, |group| group.group_statements(mask.inside.clone(), &[]))?;
        self.lower.present = None;
        self.masked = None;
        if let (Some(target), false) = (target, self.lower.is_filled()) {
            self.lower.b.ins().jump(target, &[]);
        }
        Ok(())
    }

    /// In the copy: a bit for each thread that went round.
    pub(super) fn gone(&mut self) -> Option<Value> {
        let mask = self.masked?;
        Some(self.lower.b.use_var(mask.gone))
    }

    /// When a group diverges: who went round.
    pub(super) fn remember_gone(&mut self) {
        let Some(mask) = &self.plan.mask else { return };
        let gone = self.gone();
        let gone = gone.unwrap_or_else(|| self.lower.b.ins().iconst(types::I32, 0));
        self.lower.b.def_var(mask.left, gone);
    }

    /// The point at which a single thread is entered that leaves a group: behind the code if it went round, else
    /// `point`.
    pub(super) fn unless_gone(&mut self, point: Value, lane: Value) -> Value {
        let Some(mask) = &self.plan.mask else { return point };
        let Some(behind) = self.plan.leaves.at(mask.target) else { return point };
        let left = self.lower.b.use_var(mask.left);
        let bit = self.lower.b.ins().ushr(left, lane);
        let bit = self.lower.b.ins().band_imm_u(bit, 1);
        let behind = self.lower.b.ins().iconst(types::I32, behind as i64 + 1);
        self.lower.b.ins().select(bit, behind, point)
    }

    /// How far behind the first thread's the first access of one that did not go round lies, and how far behind that
    /// one the last.
    pub(super) fn reach_of_present(&mut self, stride: i64) -> Option<[Value; 2]> {
        let [first, others] = self.masked?.present.map(|variable| self.lower.b.use_var(variable));
        let first = self.lower.b.ins().uextend(types::I64, first);
        Some([first, others].map(|times| self.lower.b.ins().imul_imm_s(times, stride)))
    }

    /// Goes to `whole` where no thread of the quad went round, to `none` where all did, else on.
    fn tell_quads_apart(&mut self, gone: Value, [whole, none]: [(Block, &[BlockArg]); 2]) {
        let all = ((1 << LANES) - 1) << (self.quad * LANES);
        let gone = self.lower.b.ins().band_imm_u(gone, all);
        let [some, part] = [(); 2].map(|()| self.lower.b.create_block());
        self.lower.b.ins().brif(gone, some, &[], whole.0, whole.1);
        self.lower.b.switch_to_block(some);
        let nobody = self.lower.b.ins().icmp_imm_u(IntCC::Equal, gone, all);
        self.lower.b.ins().brif(nobody, none.0, none.1, part, &[]);
        self.lower.b.switch_to_block(part);
    }

    /// As [`GroupLower::load_row`], of the threads of a quad that did not go round. If there are any, the others load
    /// what the group's first one does that did not.
    pub(super) fn load_present(
        &mut self,
        gone: Value,
        (memory, stride): (MemorySpan, i64),
        access: &Access,
    ) -> Vec<Parts> {
        let (vector, count) = form(access.ty);
        let elements = usize::from(access.lanes);
        let [whole, done] = [(); 2].map(|()| self.lower.b.create_block());
        for _ in 0..elements * count {
            self.lower.b.append_block_param(done, vector);
        }
        let zero = zero_of(&mut self.lower.b, vector.lane_type());
        let zeros = vec![self.lower.b.ins().splat(vector, zero); elements * count];
        let arguments =
            |held: &[Value]| held.iter().map(|value| BlockArg::Value(*value)).collect::<Vec<_>>();
        self.tell_quads_apart(gone, [(whole, &[]), (done, &arguments(&zeros))]);
        let places = [0, 1, 2, 3].map(|lane| self.present_place(gone, (memory, stride), lane));
        let own = (0..elements).flat_map(|element| {
            let at = element as i64 * i64::from(access.ty.bytes());
            let values = places.map(|place| {
                let place = MemorySpan::new(place, 0, access.bytes().into());
                self.lower.load(clif_type(access.ty), place, at)
            });
            self.join_lanes(&values, access.ty)
        });
        let own: Parts = own.collect();
        self.lower.b.ins().jump(done, &arguments(&own));
        self.lower.b.switch_to_block(whole);
        let all = self.load_row(memory, stride, access).concat().into_iter();
        let all: Parts = all.map(|part| self.recast(part, vector)).collect();
        self.lower.b.ins().jump(done, &arguments(&all));
        self.lower.b.switch_to_block(done);
        self.lower.b.block_params(done).chunks(count).map(<[Value]>::to_vec).collect()
    }

    /// Where a thread of a quad accesses memory, or, if it went round, the group's first one that did not: that is
    /// known to be good.
    fn present_place(
        &mut self,
        gone: Value,
        (memory, stride): (MemorySpan, i64),
        lane: usize,
    ) -> Value {
        let lane = (self.quad * LANES + lane) as i64;
        let own = self.lower.b.ins().iconst(types::I64, lane * stride);
        let first = self.reach_of_present(stride).map_or(own, |[first, _]| first);
        let is_gone = self.lower.b.ins().band_imm_u(gone, 1 << lane);
        let distance = self.lower.b.ins().select(is_gone, first, own);
        let start = self.lower.address_of(memory);
        self.lower.b.ins().iadd(start, distance)
    }

    /// As [`GroupLower::store_row`], of the threads of a quad that did not go round.
    pub(super) fn store_present(
        &mut self,
        gone: Value,
        (memory, stride): (MemorySpan, i64),
        access: &Access,
        elements: &[Parts],
    ) {
        let [whole, done] = [(); 2].map(|()| self.lower.b.create_block());
        self.tell_quads_apart(gone, [(whole, &[]), (done, &[])]);
        for lane in 0..LANES {
            let [own, next] = [(); 2].map(|()| self.lower.b.create_block());
            self.lower.skip_where(gone, self.quad * LANES + lane, (next, &[]), own);
            self.store_lane_of(memory, stride, access.ty, (lane, elements));
            self.lower.b.ins().jump(next, &[]);
            self.lower.b.switch_to_block(next);
        }
        self.lower.b.ins().jump(done, &[]);
        self.lower.b.switch_to_block(whole);
        self.store_row(memory, stride, access, elements);
        self.lower.b.ins().jump(done, &[]);
        self.lower.b.switch_to_block(done);
    }
}
