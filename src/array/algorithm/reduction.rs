//! How reductions run: over all elements, or along axes.
//!
//! Enters: what is done with values, expressions, axes. Leaves: launches of generated kernels. Must not know:
//! `array::random`, `array::algorithm::reduce`.
//!
//! Each output is reduced by a fixed number of threads of a block, whose results meet in a fixed tree; long ones are
//! split among blocks, and a second launch of the same kind reduces their results. Memory is read in order: where
//! neighbouring outputs lie side by side, so do the threads that reduce them; else the threads of one output do, with
//! the widest accesses there are and several of them on their way at once. Which elements meet in which order depends
//! on shapes, layouts and device alone, so a result has the same bits each time.

mod places;
mod source;

use std::{borrow::Cow, hash::Hash, sync::Arc};

use places::Places;
use smallvec::SmallVec;
use source::{LIBRARY, Source};

use crate::{
    array::{
        DType, Data, Error, Layout, Number, Real, Result,
        layout::Axes,
        node::{Node, Operand},
        placed::Instance,
        source::Code,
    },
    device::LaunchConfig,
    kernel::Context,
};

const BLOCK: usize = 256;
/// Blocks for each multiprocessor that long reductions are split among: several rounds of those that run at once, so
/// that the last ones end at about the same time.
const BLOCKS_PER_MULTIPROCESSOR: usize = 16;
/// Elements that are not worth a second block.
const SMALLEST_CHUNK: usize = 4096;
/// Bytes that a thread has on their way to it: with half of all threads there, more than memory's latency takes.
const BYTES_IN_FLIGHT: usize = 64;
/// Most elements between two looks at the loop's end.
const MOST_UNROLLED: usize = 32;
/// Operations that are too many to be written more than once.
const MANY_OPERATIONS: usize = 64;

/// What a reduction does with values: an accumulator type, and CUDA C++ for its three steps.
#[derive(Clone, Debug)]
pub(in crate::array) struct Reduction {
    /// What values are collected in.
    pub(in crate::array) accumulator: DType,
    /// Another type that the code names.
    pub(in crate::array) of: DType,
    /// The accumulator of no values.
    pub(in crate::array) identity: Identity,
    /// From an accumulator `a` and a value `x` (with its place among those reduced, `r`) to an accumulator.
    pub(in crate::array) absorb: Cow<'static, str>,
    /// From two accumulators `a` and `b` to one; associative.
    pub(in crate::array) combine: Cow<'static, str>,
    /// From an accumulator `a` of `n` values to the result.
    pub(in crate::array) finish: Cow<'static, str>,
    /// Whether the order of values means something; else it is memory's.
    pub(in crate::array) ordered: bool,
    /// What it is called, where no values have no result.
    pub(in crate::array) needs_values: Option<&'static str>,
}

impl Reduction {
    /// One whose accumulator of nothing is `identity`, in CUDA C++.
    pub(super) fn new(
        accumulator: DType,
        identity: &'static str,
        absorb: &'static str,
        combine: &'static str,
    ) -> Self {
        Self {
            accumulator,
            of: accumulator,
            identity: Identity::Code(identity.into()),
            absorb: absorb.into(),
            combine: combine.into(),
            finish: "static_cast<Result>(a)".into(),
            ordered: false,
            needs_values: None,
        }
    }

    /// One of values that have no result where there are none.
    pub(super) fn of_values<T: Data, A: bytemuck::NoUninit>(
        operation: &'static str,
        accumulator: DType,
        identity: &[A],
        absorb: &'static str,
        combine: &'static str,
    ) -> Self {
        Self {
            of: T::DTYPE,
            identity: Identity::Value(bytemuck::cast_slice(identity).into()),
            finish: "a".into(),
            needs_values: Some(operation),
            ..Self::new(accumulator, "", absorb, combine)
        }
    }

    /// The place of an extreme, where `identity` is the value that any other one beats.
    pub(super) fn placed<T: Real>(
        operation: &'static str,
        identity: T,
        combine: &'static str,
    ) -> Self {
        // Laid out as `Placed` is; no place is the last one.
        let mut bytes = [u8::MAX; 16];
        bytes[..8].fill(0);
        bytes.iter_mut().zip(bytemuck::bytes_of(&identity)).for_each(|(to, from)| *to = *from);
        let place = Self::of_values::<T, u8>(operation, Instance::<T>::PLACED, &bytes, "", combine);
        Self {
            absorb: "combine(a, Accumulator{x, r})".into(),
            finish: "static_cast<Result>(a.place)".into(),
            ordered: true,
            ..place
        }
    }

    /// The variance with `freedom` degrees of freedom fewer than values, through `finish`.
    pub(super) fn moments<T: Number>(freedom: usize, root: &str) -> Self {
        let variance = format!("{root}(warpaint::variance(a, n - {freedom}.0))");
        Self {
            of: T::Mean::DTYPE,
            finish: format!("warpaint::convert<Result>({variance})").into(),
            ..Self::new(
                T::MOMENTS,
                "Accumulator{}",
                "warpaint::absorb_moment(a, warpaint::convert<Accumulator::Value>(x))",
                "warpaint::combine_moments(a, b)",
            )
        }
    }
}

/// The accumulator of no values.
#[derive(Clone, Debug, Hash)]
pub(in crate::array) enum Identity {
    /// Its bytes, given to the kernel as an argument.
    Value(SmallVec<[u8; 16]>),
    /// CUDA C++.
    Code(Cow<'static, str>),
}

/// The axes that stay and those that go.
///
/// # Errors
/// [`Error::Axes`].
pub(in crate::array) fn split(
    ndim: usize,
    axes: Option<&[usize]>,
) -> Result<(Axes<usize>, Axes<usize>)> {
    let Some(axes) = axes else { return Ok((Axes::new(), (0..ndim).collect())) };
    let mut sorted = Axes::from(axes);
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() != axes.len() || sorted.last().is_some_and(|&last| last >= ndim) {
        return Err(Error::Axes { axes: axes.to_vec(), ndim });
    }
    Ok(((0..ndim).filter(|axis| !sorted.contains(axis)).collect(), sorted))
}

/// A reduction of something of shape `shape` along the axes `reduced`.
pub(in crate::array) struct Job<'a> {
    pub(in crate::array) context: &'a Context,
    pub(in crate::array) shape: &'a [usize],
    pub(in crate::array) kept: &'a [usize],
    pub(in crate::array) reduced: &'a [usize],
    pub(in crate::array) reduction: &'a Reduction,
}

/// Where results are written, one behind the other: memory that is there until the kernels have ended.
#[derive(Clone, Copy)]
pub(in crate::array) struct Results {
    pub(in crate::array) dtype: DType,
    pub(in crate::array) address: u64,
    pub(in crate::array) count: usize,
}

impl From<&Operand> for Results {
    fn from(out: &Operand) -> Self {
        Self { dtype: out.dtype, address: out.address(), count: out.layout.count() }
    }
}

/// What differs between a launch over values and one over accumulators.
struct Steps<'a> {
    absorb: &'a str,
    finish: &'a str,
    /// How many values each result stands for.
    count: usize,
}

impl Job<'_> {
    /// Puts kernels that reduce to `out` on the context's stream.
    pub(in crate::array) fn run(&self, code: &mut Code<'_>, out: Results) -> Result<()> {
        code.use_on(self.context, "a reduction")?;
        let (outputs, places) = (out.count, Places::new(code, self)?);
        let count = places.length();
        // As in numpy, of no results, too.
        if let (0, Some(operation)) = (count, self.reduction.needs_values) {
            return Err(Error::Empty { operation });
        }
        if outputs == 0 {
            return Ok(());
        }
        let (absorb, finish) = (&*self.reduction.absorb, &*self.reduction.finish);
        let plan = Plan::new(self.context, code, &places, outputs);
        if plan.splits == 1 {
            return self.launch(code, &places, &plan, Steps { absorb, finish, count }, out);
        }
        let accumulator = self.reduction.accumulator;
        let layout = Layout::contiguous(&[outputs, plan.splits])?;
        let bytes = layout.count() * accumulator.bytes;
        let memory = Arc::new(self.context.pool().alloc(self.context.stream(), bytes)?);
        let context = self.context.clone();
        let partial = Operand { context, memory, layout: layout.into(), dtype: accumulator };
        let user_preamble = code.user_preamble;
        let steps = Steps { absorb, finish: "a", count };
        self.launch(code, &places, &plan, steps, Results::from(&partial))?;

        let root = Arc::new(Node::Array(partial));
        let again = Job { shape: &[outputs, plan.splits], kept: &[0], reduced: &[1], ..*self };
        let mut code = Code::new(&root)?;
        code.user_preamble = user_preamble;
        let places = Places::new(&code, &again)?;
        let plan = Plan { splits: 1, ..Plan::new(self.context, &code, &places, outputs) };
        let steps = Steps { absorb: "combine(a, x)", finish, count };
        again.launch(&mut code, &places, &plan, steps, out)
    }

    #[expect(unsafe_code, reason = "a kernel launch")]
    fn launch(
        &self,
        code: &mut Code<'_>,
        places: &Places,
        plan: &Plan,
        steps: Steps<'_>,
        out: Results,
    ) -> Result<()> {
        code.library = LIBRARY;
        code.define(self.reduction.of);
        code.define(self.reduction.accumulator);
        code.define(out.dtype);
        let (reduction, out_type) = (self.reduction, out.dtype.name);
        let code = &*code;
        let source = Source { code, places, plan, reduction, steps: &steps, out: out_type };
        let kernel = code.compile(self.context, ("reduction", &source), || source.text())?;
        let mut arguments = code.arguments();
        places.push_to(&mut arguments);
        if let Identity::Value(bytes) = &self.reduction.identity {
            arguments.push_bytes(bytes, self.reduction.accumulator.align);
        }
        let numbers = [plan.outputs, plan.length, plan.chunk(), steps.count].map(|n| n as u64);
        arguments.push(&out.address);
        for number in &numbers {
            arguments.push(number);
        }
        let blocks = plan.blocks().min(i32::MAX as usize) as u32;
        let config = LaunchConfig::new([blocks, plan.splits as u32], BLOCK as u32);
        // SAFETY: the kernel reads the elements of the layouts, which lie within their arrays' memory, and writes one
        // value for each output and split, for which `out` has room.
        unsafe { self.context.stream().launch(&kernel, &config, &arguments)? };
        Ok(())
    }
}

/// How the work is shared out.
struct Plan {
    outputs: usize,
    /// Elements that each output is reduced from.
    length: usize,
    /// Whether neighbouring threads reduce neighbouring outputs, rather than one output.
    columns: bool,
    /// Threads of a block that reduce one output together: a power of two.
    lanes: usize,
    /// Elements that a thread reads at once.
    width: usize,
    /// How many such reads it has on their way.
    unroll: usize,
    /// Among how many blocks each output is split.
    splits: usize,
}

impl Plan {
    fn new(context: &Context, code: &Code<'_>, places: &Places, outputs: usize) -> Self {
        let (length, columns) = (places.length(), places.columns(outputs));
        let multiprocessors = context.device().info().multiprocessors as usize;
        let width = if columns { 1 } else { places.width(code) };
        let lanes = match columns {
            // Whole lines of memory; no more threads an output than are needed.
            true if outputs >= multiprocessors * BLOCK * 8 => 1,
            true => BLOCK / 32,
            false => match length.div_ceil(width) {
                ..=8 => 8,
                9..=BLOCK => 32,
                _ => BLOCK,
            },
        };
        let unroll = unroll(code, places, width);
        let mut plan = Self { outputs, length, columns, lanes, width, unroll, splits: 1 };
        let wanted = (multiprocessors * BLOCKS_PER_MULTIPROCESSOR).div_ceil(plan.blocks());
        let smallest = SMALLEST_CHUNK * lanes / BLOCK;
        plan.splits = wanted.min(length.div_ceil(smallest)).max(1);
        // Chunks are rounded up, so that there may be fewer.
        plan.splits = length.div_ceil(plan.chunk()).max(1);
        plan
    }

    /// Outputs of a block.
    fn slots(&self) -> usize {
        BLOCK / self.lanes
    }

    /// Blocks that all outputs need, each once.
    fn blocks(&self) -> usize {
        self.outputs.div_ceil(self.slots())
    }

    /// Elements of one split: whole pieces for all threads.
    fn chunk(&self) -> usize {
        let round = self.lanes * self.width;
        self.length.div_ceil(self.splits).next_multiple_of(round).max(round)
    }
}

/// How many reads a thread should have on their way.
fn unroll(code: &Code<'_>, places: &Places, width: usize) -> usize {
    if code.operations() > MANY_OPERATIONS || places.reduced.rank() > 1 {
        return 1;
    }
    let moving = (0..code.arrays.len()).filter(|&k| !places.is_uniform(k));
    let bytes = moving.map(|k| code.arrays[k].dtype.bytes * width).sum::<usize>();
    // Kernels of the user's own read whatever they read.
    let reads = BYTES_IN_FLIGHT.checked_div(bytes).unwrap_or(4);
    reads.clamp(1, (MOST_UNROLLED / width).max(1))
}
