//! Several threads at a time: those that follow each other in x, side by side in vectors of 128 bits.
//!
//! Enters: a kernel's body, and the shape of each register. Leaves: Cranelift's code for groups of threads, beside
//! that for single threads. Must not know: `device::cpu::interp`, `device::cpu::layout`, `device::cpu::texture`.
//!
//! A kernel that is worth it is lowered twice into its function: once for single threads ([`super::lower`]), and
//! once for groups ([`GroupLower`], by what a [`Plan`] says). Both share the places where threads wait, and
//! what is spilled there. In the code for groups a register is, by its shape ([`crate::ptx::pass::uniform`]):
//!
//! - one scalar, the first thread's value, where the others' differ from it by a known amount or not at all:
//!   loop counters, addresses;
//! - else for each *quad*, four threads, one vector (32 bits), two (64 bits), or four scalars (anything else).
//!
//! A group has one quad, two or four. What is one scalar is computed once, an access is checked once, and a branch is
//! taken once for all of them; vectors are computed for one quad after the other, with the same code ([`value`]). So
//! more quads are faster, until their vectors fill the processor's registers or the group diverges too often
//! ([`estimate`]). Groups lie within a row of a block: for blocks whose rows are no multiple of a group's threads, a
//! module is translated once more, with groups of one quad ([`Groups`]).
//!
//! What has no vector form is done for one thread after the other with the code for single threads
//! ([`value`]). A group goes one way. Round a few instructions that some do and others not, it stays together
//! ([`skip`], [`each`]), and round a loop, where indices say who goes there ([`mask`]); where else its threads diverge,
//! each is left to the code for single threads, which runs it until it waits or ends ([`leave`]). At its next turn the
//! group is whole again if its threads wait at the same place.
//!
//! # An example
//!
//! ```cuda
//! __global__ void k(const float *x, float *y, int n, float c) {
//!     int i = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (i >= n) return;
//!     float v = x[i];
//!     while (v > c) v *= 0.5f;
//!     y[i] = v;
//! }
//! ```
//!
//! What becomes of its PTX in the code for a group of one quad, of threads `t` to `t + 3`:
//!
//! | PTX | the register's shape | the code for the group |
//! |---|---|---|
//! | `mad.lo.s32 %i, %ctaid.x, %ntid.x, %tid.x` | 1 more from thread to thread | one scalar: the first thread's |
//! | `setp.ge.s32 %p, %i, %n` | varies | one comparison of a vector of `%i` to `%i + 3`, a mask of four lanes |
//! | `@%p bra END` | | to the group's `END` where all lanes hold, on where none does; else the group diverges |
//! | `mad.wide.s32 %a, %i, 4, %x` | 4 bytes more from thread to thread | one scalar: the first address |
//! | `ld.global.f32 %v, [%a]` | varies | one check of 16 bytes from `%a`, one load of a vector |
//! | `LOOP: setp.gt.f32 %q, %v, %c` | varies | `%c`, the same for all, becomes a vector of four; one comparison |
//! | `@!%q bra STORE` | | as above: while all four go on, the group does |
//! | `mul.f32 %v, %v, 0.5`, `bra LOOP` | varies | one multiplication of vectors |
//! | `STORE: st.global.f32 [%b], %v` | | one check, one store of a vector |
//!
//! No `%i` of the four wraps round, as `mad.wide` needs: a group's first `%tid.x` and `%ntid.x` are multiples of four.
//!
//! Where the first of four threads leaves the loop, the group *diverges* at `@!%q bra STORE`: what lives there (`%v`,
//! and the first thread's `%b`) is stored, and the four are entered one after the other in the code for single threads:
//! the one that has left at `STORE`, the others behind the branch. `STORE` is the first place that every way from the
//! branch leads to, so there they *reconverge* ([`join`]): each stores its `%v` when it comes to it and its turn is
//! over, and behind the fourth the group goes on with the store, as vectors again. A group that diverges again and
//! again in one turn is not put together any more: its threads go on singly to their end. Where a group diverges at
//! `@%p bra END`, those within the array go on together in a copy of the code up to `END` ([`mask`]); should they
//! diverge there, each goes on singly to its end.
//!
//! # Where threads wait
//!
//! A kernel with barriers, shuffles or votes runs as loops over groups, one loop for each piece of the code between two
//! places where threads wait. With `v += __shfl_xor_sync(~0u, v, 1); __syncwarp();` in the body:
//!
//! | a turn | what each group of the warp does in it |
//! |---|---|
//! | 1 | it stores what lives behind the shuffle ([`wait`]), and `v` in the warp's buffer ([`warp`]) |
//! | 2 | it loads what lives, and its neighbours' `v`; adds; stores what lives behind `__syncwarp()` |
//! | 3 | it loads that, and goes on to the kernel's end |
//!
//! What lives lies in structures of arrays: of what varies, vectors are loaded; of what differs by a constant, the
//! first thread's value is stored and loaded, and constants are made again. A group that waits so is *packed*. Behind
//! the last group's turn it is looked up whether all wait at the same place ([`meet`]): then the next turn begins, and
//! nothing but the loads and stores has been spent on the waiting. So it is with every operation of the warp in which
//! all of its threads take part: shuffles of any lane, votes, reductions, matches ([`warp`], [`shuffle`]). A warp that
//! comes to a barrier is passed over for the next one, until all of the block are there. Where some have ended,
//! diverged, or wait elsewhere, or where only some take part, the function returns. The host then does the operation
//! for those who have come, and lets them go on: as the group that they are, or, where that would be a part of one,
//! each with what is its own (`launch::warp`).
//!
//! Were there no `while`, nothing would vary but data: then the accesses of 32 threads are checked at once ([`row`]),
//! and an `if` round a few instructions that only compute takes no branch, but keeps the old values in some lanes
//! ([`skip`]).
//!
//! # What is checked before a piece of code
//!
//! Each access has its check, but for those of a loop of one block that goes round a known number of times, and of
//! straight code with many accesses from few addresses ([`hoist`]). There the first and the last address of all rounds
//! is computed before it ([`affine`]), and if all between is good, and no number wraps on the way, a translation
//! without checks goes, else one with them ([`twice`]).

mod affine;
mod arithmetic;
mod convert;
mod directed;
mod each;
mod estimate;
mod flow;
mod funnel;
mod hoist;
mod join;
mod leave;
mod mask;
mod meet;
mod memory;
mod precheck;
mod round;
mod row;
mod shuffle;
mod skip;
mod slots;
mod twice;
mod value;
mod vector_form;
mod wait;
mod warp;
mod widen;

use std::collections::HashMap;

use cranelift_codegen::ir::{Block, Value};
use cranelift_frontend::{FunctionBuilder, Variable};

use super::{
    lower::{Lower, Targets, Walk},
    sync,
};
use crate::{
    device::{
        Result,
        cpu::{abi::LANES, options::Lanes},
    },
    ptx::{
        ast::{Body, Function, FunctionKind},
        cfg::{Cfg, Liveness, RegSet},
        operand::{Label, Reg},
        pass::uniform::{Neighbours, Shapes},
        types::Type,
    },
};

/// What is found out of a body here takes time that may grow with the square of its size.
const MOST_INSTRUCTIONS: usize = 20_000;

/// Which code for groups a module is translated with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device::cpu) struct Groups {
    pub(in crate::device::cpu) wish: Lanes,
    /// Whether a group may have more than one quad.
    pub(in crate::device::cpu) wide: bool,
}

impl Groups {
    /// No code for groups.
    pub(super) const NONE: Self = Self { wish: Lanes::Never, wide: false };

    /// How many threads a group of a kernel may have, the most wanted first.
    fn widths(self, body: &Body) -> Vec<usize> {
        match self.wish {
            Lanes::Never => Vec::new(),
            Lanes::WhereFaster | Lanes::Always if !self.wide => vec![LANES],
            Lanes::WhereFaster => vec![4 * LANES, 2 * LANES, LANES],
            // Any will do; so tests come to all.
            Lanes::Always => vec![LANES << (body.statements.len() % 3), LANES],
        }
    }
}

/// What the lowering for groups needs to know.
pub(super) struct Plan {
    /// Threads of a group.
    width: usize,
    shapes: Shapes,
    /// The vectors of each register; none for one that is a scalar.
    registers: Vec<Vec<Variable>>,
    /// What groups do at each statement.
    ways: Vec<flow::Way>,
    /// Where branches and ends lead in the code for groups.
    targets: Targets,
    /// The statements that begin the labels' blocks.
    starts: HashMap<Label, usize>,
    leaves: leave::Leaves,
    joins: join::Joins,
    skips: Vec<skip::Skip>,
    eaches: Vec<each::Each>,
    mask: Option<mask::Mask>,
    pieces: Vec<hoist::Piece>,
    /// What is checked for several groups at once.
    row: Option<row::Row>,
    loop_: flow::Loop,
    meeting: meet::Meeting,
}

/// So many regions, each of which makes another one differ, are looked for one after the other: each time the whole
/// function is gone through.
const MOST_ROUNDS: usize = 50;

/// Where threads of a group of some width go different ways and reconverge, and what follows from that.
struct Divergence {
    width: usize,
    shapes: Shapes,
    /// The blocks that groups run.
    run: Vec<bool>,
    /// Registers that are different for threads only because these went different ways.
    varying: RegSet,
    regions: Vec<join::Region>,
    /// The branches at which groups stay together.
    skips: Vec<skip::Skip>,
    eaches: Vec<each::Each>,
}

impl Divergence {
    /// Of groups of so many threads, if a kernel can have such and they are what is wished for.
    fn new(
        body: &Body,
        (cfg, liveness): (&Cfg, &Liveness),
        sync: &sync::WaitPlan,
        wish: Lanes,
        width: usize,
    ) -> Option<Self> {
        let neighbours = Neighbours::aligned(width as u32);
        let shapes = Shapes::new(body, neighbours, liveness.at_entry());
        if !estimate::is_possible(body, cfg, &shapes, sync) {
            return None;
        }
        let run = estimate::blocks(body, cfg, &shapes);
        if !run[0] || wish == Lanes::WhereFaster && !estimate::is_faster(body, cfg, &shapes, &run) {
            return None;
        }
        let varying = RegSet::new(body.registers.len());
        let mut divergence = Self {
            width,
            shapes,
            run,
            varying,
            regions: Vec::new(),
            skips: Vec::new(),
            eaches: Vec::new(),
        };
        divergence.find_regions(body, cfg, sync, liveness)?;
        if !divergence.run[0] || !estimate::is_possible(body, cfg, &divergence.shapes, sync) {
            return None;
        }
        divergence.find_stays(body, cfg, sync, liveness);
        let narrow = wish == Lanes::Always || width == LANES;
        (narrow || estimate::suits(body, cfg, liveness, &divergence)).then_some(divergence)
    }

    /// Begins with the shapes and blocks that there are where all go one way. What differs behind a region may make
    /// other regions; `None` where that does not come to an end soon.
    fn find_regions(
        &mut self,
        body: &Body,
        cfg: &Cfg,
        sync: &sync::WaitPlan,
        liveness: &Liveness,
    ) -> Option<()> {
        for _ in 0..MOST_ROUNDS {
            let regions = join::regions(body, cfg, &self.shapes, &self.run, sync);
            let different = join::made_different(body, cfg, &self.shapes, liveness, &regions);
            if different.is_empty() {
                self.regions = regions;
                return Some(());
            }
            different.into_iter().for_each(|reg| self.varying.insert(reg));
            let at_entry = liveness.at_entry();
            let neighbours = Neighbours::aligned(self.width as u32);
            self.shapes = Shapes::with_varying(body, neighbours, at_entry, &self.varying);
            self.run = estimate::blocks(body, cfg, &self.shapes);
        }
        None
    }

    /// The branches at which groups stay together; what is left are regions where they diverge.
    fn find_stays(&mut self, body: &Body, cfg: &Cfg, sync: &sync::WaitPlan, liveness: &Liveness) {
        self.skips = skip::skips(body, cfg, &self.shapes, &self.run, liveness);
        self.eaches = each::eaches(body, cfg, &self.shapes, &self.run, (liveness, sync));
        self.eaches.retain(|each| self.skips.iter().all(|skip| skip.at != each.at));
        let stays = self.stays();
        self.regions.retain(|region| !stays.contains(&region.at));
    }

    fn stays(&self) -> Vec<usize> {
        let skips = self.skips.iter().map(|skip| skip.at);
        skips.chain(self.eaches.iter().map(|each| each.at)).collect()
    }
}

impl Plan {
    /// A plan for a kernel that is worth it.
    pub(super) fn new(
        b: &mut FunctionBuilder<'_>,
        function: &Function,
        body: &Body,
        (cfg, liveness): (&Cfg, &Liveness),
        sync: &sync::WaitPlan,
        groups: Groups,
    ) -> Option<Self> {
        if function.kind != FunctionKind::Entry || sync.calls {
            return None;
        }
        if body.instructions().nth(MOST_INSTRUCTIONS).is_some() {
            return None;
        }
        let of_width = |width| Divergence::new(body, (cfg, liveness), sync, groups.wish, width);
        let divergence = groups.widths(body).into_iter().find_map(of_width)?;
        let stays = divergence.stays();
        let Divergence { width, shapes, run, varying, regions, skips, eaches } = divergence;
        let joins = join::Joins::new(b, body, cfg, (liveness, &shapes), &regions);
        let points = leave::points(body, cfg, &shapes, &run, (&stays, &joins))?;
        let spills = leave::live_before(body, cfg, liveness, &points);
        let place = (width, sync.spill_bytes());
        let leaves = leave::Leaves::new(b, body, points, spills, &joins, place)?;
        let mask = mask::Mask::new(b, body, cfg, (liveness, &run), &regions);
        let place = hoist::Place { body, cfg, shapes: &shapes, run: &run, sync, width };
        let pieces = place.pieces(&joins.starts().collect::<Vec<_>>());
        let row = row::is_straight(cfg, &run, sync)
            .then(|| row::Row::new(b, body, cfg, &shapes, &skips, [liveness.at_entry(), &varying]))
            .flatten();
        let declare = |(index, ty): (usize, &Type)| {
            let reg = Reg(index as u32);
            if shapes.of(reg).stride().is_some() {
                return Vec::new();
            }
            let (vector, parts) = value::form(*ty);
            (0..parts * width / LANES).map(|_| b.declare_var(vector)).collect()
        };
        let registers = body.registers.types().iter().enumerate().map(declare).collect();
        let labels = Targets::labels(b, body);
        let (loop_, meeting) = (flow::Loop::new(b), meet::Meeting::new(b));
        let targets = Targets::new(labels, loop_.next());
        let label_ids = (0..body.labels.len() as u32).map(Label);
        let starts = label_ids
            .filter_map(|label| Some((label, cfg.block(cfg.target(label)?).statements.start)))
            .collect();
        let ways = flow::ways(body, cfg, &run);
        Some(Self {
            width,
            shapes,
            registers,
            ways,
            targets,
            starts,
            leaves,
            joins,
            skips,
            eaches,
            mask,
            pieces,
            row,
            loop_,
            meeting,
        })
    }

    /// Threads of a group.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Bytes behind the spilled registers of waiting threads that leaving groups use.
    pub(super) fn spill_bytes(&self) -> usize {
        self.leaves.slots.end
    }
}

/// The translation of a kernel for groups of threads, beside the one for single threads. In the code for groups, the
/// registers of single threads hold what is one scalar for a group.
pub(super) struct GroupLower<'l, 'a, 'f> {
    lower: &'l mut Lower<'a, 'f>,
    plan: &'l Plan,
    /// The quad that work on vectors is done for.
    quad: usize,
    /// The block that is executed under a lane mask, because only some threads of the group take it.
    within: Option<skip::Within>,
    /// The row that groups are of, while the code is made for those whose row was prechecked.
    prechecked: Option<&'l row::Row>,
    /// While the code of a piece is made all of whose accesses were checked before it.
    unchecked: Option<twice::Unchecked<'l>>,
    /// While the code is made for groups of which some threads went round it.
    masked: Option<&'l mask::Mask>,
    /// Values that were loaded from the spilled registers, with their places there.
    reloaded: HashMap<Value, usize>,
}

impl<'l, 'a, 'f> GroupLower<'l, 'a, 'f> {
    pub(super) fn new(lower: &'l mut Lower<'a, 'f>, plan: &'l Plan) -> Self {
        Self {
            lower,
            plan,
            quad: 0,
            within: None,
            prechecked: None,
            masked: None,
            unchecked: None,
            reloaded: HashMap::new(),
        }
    }
}

impl<'a: 'f, 'f> Walk<'a, 'f> for GroupLower<'_, 'a, 'f> {
    fn lower(&mut self) -> &mut Lower<'a, 'f> {
        self.lower
    }

    fn first_turn(&mut self, turn: Block) {
        self.first_group(turn);
    }

    fn enter_turn(&mut self) {
        self.enter_leaving();
    }

    fn before_statement(&mut self, statement: usize) {
        self.entry_point(statement);
    }

    fn at_statement(&mut self, statement: usize) {
        self.join_point(statement);
    }

    fn next_turn(&mut self, turn: Block, done: Block) {
        self.next_single(turn, done);
    }

    fn beside(&mut self, done: Block) -> Result<()> {
        self.groups(done)
    }

    fn behind_all(&mut self) {
        self.meet();
    }
}

#[cfg(test)]
mod borders;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod meetings;
#[cfg(test)]
mod pieces;
#[cfg(test)]
mod promise;
#[cfg(test)]
mod tests;
