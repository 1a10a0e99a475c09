//! Generators that have a state: one sequence, cut into lanes that run side by side.

use smallvec::smallvec;

use super::{
    member::{Member, Members},
    tables::Tables,
};
use crate::{
    array::{
        GpuArray, Result,
        bound::Bound,
        elementwise::{Threads, run},
        source::Code,
    },
    kernel::{Context, GENERATED},
};

/// How many lanes there are: enough for any device. Block `b` of four words is the lane `b % COUNT`'s next.
const COUNT: usize = 1 << 16;
/// Words of a lane's state.
const WORDS: usize = 6;

/// How a state becomes the next one: a linear map, which can be raised to any power.
#[derive(Debug)]
pub(super) struct Recurrence {
    /// The class of its state in `library`.
    pub(super) class: &'static str,
    /// What its kernels need before them.
    pub(super) library: &'static str,
    /// Lanes are `2^spacing` numbers apart.
    pub(super) spacing: u32,
    /// The state of a seed.
    pub(super) start: fn(u64) -> [u32; WORDS],
    /// What the class needs to go on by `n * 2^doublings` numbers.
    pub(super) jump: fn(n: u64, doublings: u32) -> Vec<u32>,
}

/// A recurrence with a seed.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    pub(super) recurrence: &'static Recurrence,
    seed: u64,
    /// The states in which the lanes begin.
    states: Tables<u32>,
}

impl Lanes {
    pub(super) fn new(recurrence: &'static Recurrence, seed: u64) -> Self {
        Self { recurrence, seed, states: Tables::default() }
    }

    /// The members of its class, for blocks from `begin` on.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn members(&mut self, context: &Context, begin: u64) -> Result<Members> {
        let (recurrence, seed) = (self.recurrence, self.seed);
        let states = self.states.on(context, || recurrence.states(seed, context))?;
        let passed = begin / COUNT as u64 * 4;
        let jump = GpuArray::from_slice(context, &(recurrence.jump)(passed, 0))?;
        Ok(smallvec![Member::array(&states), Member::array(&jump), Member::value(begin)])
    }
}

impl Recurrence {
    /// The states in which the lanes begin: the first, then each time as many again, a jump further.
    fn states(&self, seed: u64, context: &Context) -> Result<GpuArray<u32>> {
        let states = GpuArray::<u32>::zeros(context, &[WORDS, COUNT])?;
        let first = GpuArray::from_shape(context, &[WORDS, 1], &(self.start)(seed))?;
        states.slice(&crate::index![.., ..1])?.assign(&first)?;
        for doubling in 0..COUNT.ilog2() {
            let jump = GpuArray::from_slice(context, &(self.jump)(1, self.spacing + doubling))?;
            self.grow(&states, &jump, 1 << doubling)?;
        }
        Ok(states)
    }

    /// Makes as many lanes again as there are.
    fn grow(&self, states: &GpuArray<u32>, jump: &GpuArray<u32>, have: u64) -> Result<()> {
        let (context, states, jump) = (states.context(), states.operand(), jump.operand());
        let mut bound = Bound::default();
        bound.add_array("states", false, &states);
        bound.add_array("jump", true, &jump);
        let mut code = Code::custom(bound, "", "0");
        code.library = self.library;
        code.use_on(context, "random numbers")?;
        let mut arguments = code.arguments();
        arguments.push(&have);
        let source = || {
            format!(
                "extern \"C\" __global__ void {GENERATED}({parameters}const unsigned long long have)
{{
    warpaint::Lanes<{class}>::grow(states, jump, have);
}}
",
                parameters = code.parameters(),
                class = self.class,
            )
        };
        let kernel = code.compile(context, ("lanes of random numbers", self.class), source)?;
        run(context, &kernel, (have, Threads::Stride), &arguments)
    }
}
