//! How reductions run: over all elements, or along axes.
//!
//! Each output is reduced by a fixed number of threads of a block, whose results meet in a fixed tree; long ones are
//! split among blocks, and a second launch of the same kind reduces their results. Memory is read in order: where
//! neighbouring outputs lie side by side, so do the threads that reduce them; else the threads of one output do, with
//! the widest accesses there are and several of them on their way at once. Which elements meet in which order depends
//! on shapes, layouts and device alone, so a result has the same bits each time.

use std::{
    borrow::Cow,
    cmp::Reverse,
    fmt::Write as _,
    hash::{Hash, Hasher},
    sync::Arc,
};

use smallvec::SmallVec;

use crate::array::{
    DType, Error, Layout, Result,
    elementwise::{Piece, index_type, width},
    layout::{self, Axes},
    node::{Node, Operand},
    places::Packed,
    source::Code,
};
use crate::{
    device::{Arguments, LaunchConfig},
    kernel::{Context, GENERATED},
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

/// Functions that reductions call.
const LIBRARY: &str = include_str!("reduce.cuh");

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

/// Where the elements of each array lie, by the axes that stay and those that go.
struct Places {
    kept: layout::Places,
    reduced: layout::Places,
}

impl Places {
    fn new(code: &Code<'_>, job: &Job<'_>) -> Result<Self> {
        let (shape, layouts) = (job.shape, code.layouts());
        let part = |axes: &[usize]| layout::Places::along(axes.iter().copied(), shape, &layouts);
        let kept = part(job.kept)?;
        let mut axes = Axes::from(job.reduced);
        if let (false, Some(first)) = (job.reduction.ordered, layouts.first()) {
            axes.sort_by_key(|&axis| Reverse(first.stride_over(shape, axis).unsigned_abs()));
        }
        Ok(Self { kept, reduced: part(&axes)? })
    }

    /// How many arrays there are.
    fn arrays(&self) -> usize {
        self.reduced.arrays()
    }

    /// How many elements each output is reduced from.
    fn length(&self) -> usize {
        self.reduced.shape.iter().product()
    }

    /// Whether neighbouring outputs lie nearer in memory than neighbours that are reduced.
    fn columns(&self, outputs: usize) -> bool {
        let last = |places: &layout::Places, k| places.strides(k).next_back();
        let nearer = |k: usize| match (last(&self.kept, k), last(&self.reduced, k)) {
            (Some(outer), Some(inner)) => outer.unsigned_abs() < inner.unsigned_abs(),
            _ => false,
        };
        outputs >= 32 && (0..self.arrays()).any(nearer)
    }

    /// Whether array `k` is the same for all that are reduced.
    fn is_uniform(&self, k: usize) -> bool {
        self.reduced.is_uniform(k)
    }

    /// How many neighbours that are reduced lie one behind the other in pieces that can be read at once.
    fn width(&self, code: &Code<'_>) -> usize {
        let moving = (0..self.arrays()).filter(|&k| !self.is_uniform(k));
        let width = width(moving.clone().map(|k| code.arrays[k]));
        let whole = |k: usize| {
            let mut outer = self.kept.strides(k);
            self.reduced.strides(k).eq([1]) && outer.all(|stride| stride % width as isize == 0)
        };
        if moving.clone().next().is_some() && moving.clone().all(whole) { width } else { 1 }
    }

    /// Gives the parameter `places_` its value.
    fn push_to(&self, arguments: &mut Arguments) {
        let (kept, reduced) = (&self.kept, &self.reduced);
        let lengths = kept.shape.iter().chain(&[1]).chain(&reduced.shape).chain(&[1]);
        let strides = kept.packed_strides().chain(reduced.packed_strides());
        let lengths = lengths.map(|&length| length as i64);
        let packed: Packed = lengths.chain(strides).collect();
        arguments.push_bytes(bytemuck::cast_slice(&packed), 8);
    }

    /// The definition of `Places`, which is what [`Places::push_to`] gives.
    fn definition(&self) -> String {
        let (outer, inner, arrays) = (self.kept.rank(), self.reduced.rank(), self.arrays());
        let strides = match arrays * (outer + inner) {
            0 => String::new(),
            _ => format!("long long strides[{outer} + {inner}][{arrays}]; "),
        };
        format!("struct Places {{ long long kept[{outer} + 1], reduced[{inner} + 1]; {strides}}};")
    }

    /// Statements that add to the places `to<k>_` of all arrays what index `of` means along the axes that stay.
    fn to_output(&self, of: &str) -> String {
        let step = |k: usize, axis: usize| format!("places_.strides[{axis}][{k}]");
        self.walk("kept", self.kept.rank(), of, "b", &step)
    }

    /// The same along the axes that go. Neighbours are the rule, which saves a multiplication.
    fn to_element(&self, of: &str) -> String {
        let first = self.kept.rank();
        let step = |k: usize, axis: usize| match self.reduced.stride(k, axis) {
            1 => "1".to_owned(),
            _ => format!("places_.strides[{}][{k}]", first + axis),
        };
        self.walk("reduced", self.reduced.rank(), of, "o", &step)
    }

    fn walk(
        &self,
        lengths: &str,
        rank: usize,
        of: &str,
        to: &str,
        step: &dyn Fn(usize, usize) -> String,
    ) -> String {
        let mut text = format!("{{ Index rest_ = {of}; ");
        for axis in (0..rank).rev() {
            text += &match axis {
                0 => "{ const Index c_ = rest_; ".to_owned(),
                _ => format!(
                    "{{ const Index n_ = places_.{lengths}[{axis}], c_ = rest_ % n_; rest_ /= n_; "
                ),
            };
            for k in 0..self.arrays() {
                let _ = write!(text, "{to}{k}_ += (long long)c_ * {}; ", step(k, axis));
            }
            text.push_str("} ");
        }
        text + "} "
    }
}

/// What the text of its methods depends on.
impl Hash for Places {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.kept.rank(), self.reduced.rank(), self.arrays()).hash(state);
        for k in 0..self.arrays() {
            self.is_uniform(k).hash(state);
            self.reduced.strides(k).for_each(|stride| (stride == 1).hash(state));
        }
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

/// CUDA C++ of one launch.
struct Source<'a, 'c> {
    code: &'a Code<'c>,
    places: &'a Places,
    plan: &'a Plan,
    reduction: &'a Reduction,
    steps: &'a Steps<'a>,
    /// The type of the results.
    out: &'static str,
}

/// What its text depends on.
impl Hash for Source<'_, '_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Plan { columns, lanes, width, unroll, .. } = *self.plan;
        (columns, lanes, width, unroll, index_type(self.elements()), self.out).hash(state);
        let Reduction { accumulator, identity, combine, .. } = self.reduction;
        (accumulator.name, identity, combine, self.steps.absorb, self.steps.finish).hash(state);
        self.places.hash(state);
        self.code.arrays.iter().for_each(|array| Piece::new(array, width).hash(state));
    }
}

impl Source<'_, '_> {
    /// How many elements there are in all.
    fn elements(&self) -> u64 {
        (self.plan.outputs as u64).saturating_mul(self.plan.length.max(1) as u64)
    }

    fn text(&self) -> String {
        let (parameter, identity) = match &self.reduction.identity {
            Identity::Value(_) => ("const Accumulator identity_, ", String::new()),
            Identity::Code(code) => ("", format!("const Accumulator identity_ = {code}; ")),
        };
        format!(
            "using Accumulator = {accumulator};
using Result = {result};
using Index = {index};
__device__ Accumulator combine(const Accumulator &a, const Accumulator &b) {{ return {combine}; }}
template <class T> __device__ Accumulator absorb(const Accumulator &a, const T &x, const Index r) {{ return {absorb}; }}
__device__ Result finish(const Accumulator &a, const double n) {{ return {finish}; }}
template <class T, int ALIGNMENT> struct alignas(ALIGNMENT) Piece {{ T at[{width}]; }};
{places}
extern \"C\" __global__ void __launch_bounds__({BLOCK}) {GENERATED}({parameters}const Places places_,
    {parameter}Result *out_, const unsigned long long outputs_, const unsigned long long length_,
    const unsigned long long chunk_, const unsigned long long count_)
{{
    {identity}{body}
}}
",
            accumulator = self.reduction.accumulator.name,
            result = self.out,
            index = index_type(self.elements()),
            combine = self.reduction.combine,
            absorb = self.steps.absorb,
            finish = self.steps.finish,
            width = self.plan.width,
            places = self.places.definition(),
            parameters = self.code.parameters(),
            body = self.body(),
        )
    }

    fn body(&self) -> String {
        let (lanes, slots) = (self.plan.lanes, self.plan.slots());
        // Threads of one output are neighbours, or those of neighbouring outputs are.
        let (thread, step) = if self.plan.columns {
            (format!("lane_ = threadIdx.x / {slots}, slot_ = threadIdx.x % {slots}"), slots)
        } else {
            (format!("lane_ = threadIdx.x % {lanes}, slot_ = threadIdx.x / {lanes}"), 1)
        };
        let bases = self.each(|k| format!("long long b{k}_ = 0; "));
        format!(
            "__shared__ alignas(Accumulator) unsigned char memory_[sizeof(Accumulator) * {BLOCK}];
    Accumulator *const shared_ = (Accumulator *)memory_;
    const unsigned {thread};
    const Index begin_ = blockIdx.y * chunk_, end_ = begin_ + chunk_ < length_ ? begin_ + chunk_ : length_;
    for (unsigned long long first_ = blockIdx.x * {slots}ull; first_ < outputs_; first_ += gridDim.x * {slots}ull) {{
        const Index k_ = first_ + slot_;
        Accumulator total_ = identity_;
        if (k_ < outputs_) {{
            {bases}{to_output}
            {elements}
        }}
        shared_[threadIdx.x] = total_;
        for (unsigned half_ = {lanes} / 2; half_ > 0; half_ /= 2) {{
            __syncthreads();
            if (lane_ >= half_) continue;
            shared_[threadIdx.x] = combine(shared_[threadIdx.x], shared_[threadIdx.x + half_ * {step}]);
        }}
        if (lane_ == 0 && k_ < outputs_) {{
            out_[(unsigned long long)k_ * gridDim.y + blockIdx.y] = finish(shared_[threadIdx.x], count_);
        }}
        __syncthreads();
    }}",
            to_output = self.places.to_output("k_"),
            elements = self.loops(),
        )
    }

    /// The loops over the elements of one output from `begin_` to `end_`.
    fn loops(&self) -> String {
        let Plan { width, unroll, .. } = *self.plan;
        if width == 1 {
            return self.looped(1, unroll, "begin_", "end_");
        }
        let whole = format!("end_ / {width}");
        let pieces = self.looped(width, unroll, &format!("begin_ / {width}"), &whole);
        pieces + &self.looped(1, 1, &format!("{whole} * {width}"), "end_")
    }

    /// A loop over pieces of `width` elements, `unroll` at a time where there are as many.
    fn looped(&self, width: usize, unroll: usize, from: &str, to: &str) -> String {
        let lanes = self.plan.lanes;
        let mut text = format!("{{ Index p_ = {from} + lane_; const Index to_ = {to};\n");
        if unroll > 1 {
            let (reach, step) = ((unroll - 1) * lanes, unroll * lanes);
            let pieces = self.pieces(width, unroll);
            let _ = writeln!(
                text,
                "#pragma unroll 1\nfor (; p_ + {reach} < to_; p_ += {step}) {{ {pieces} }}\n#pragma unroll 1"
            );
        }
        let _ =
            writeln!(text, "for (; p_ < to_; p_ += {lanes}) {{ {} }} }}", self.pieces(width, 1));
        text
    }

    /// Reads `unroll` pieces of `width` elements, and then takes their elements into `total_`.
    fn pieces(&self, width: usize, unroll: usize) -> String {
        let lanes = self.plan.lanes;
        let in_pieces = |k: usize| width > 1 && !self.places.is_uniform(k);
        let arrays = &self.code.arrays;
        let held = self.each(|k| match in_pieces(k) {
            true => format!("{} q{k}_[{unroll}]; ", Piece::new(arrays[k], width)),
            false => format!("{} q{k}_[{unroll}]; ", arrays[k].dtype.name),
        });
        let read = self.each(|k| match in_pieces(k) {
            true => {
                let piece = Piece::new(arrays[k], width);
                format!("q{k}_[u_] = ((const {piece} *)(a{k} + b{k}_))[at_]; ")
            }
            false => format!("q{k}_[u_] = a{k}[o{k}_]; "),
        });
        let starts = self.each(|k| format!("long long o{k}_ = b{k}_; "));
        let values = self.code.reads(|k| match in_pieces(k) {
            true => format!("q{k}_[u_].at[j_]"),
            false => format!("q{k}_[u_]"),
        });
        // Of pieces, only what is the same for all elements is read by itself.
        let walk = if width == 1 { self.places.to_element("at_") } else { String::new() };
        format!(
            "{held}
#pragma unroll
for (unsigned u_ = 0; u_ < {unroll}; ++u_) {{ const Index at_ = p_ + u_ * {lanes}; {starts}{walk}{read}}}
#pragma unroll
for (unsigned u_ = 0; u_ < {unroll}; ++u_) {{
#pragma unroll
for (unsigned j_ = 0; j_ < {width}; ++j_) {{
const Index r_ = (p_ + u_ * {lanes}) * {width} + j_, i = r_;
{values}{statements}const auto value_ = {result};
total_ = absorb(total_, value_, r_); }} }}
",
            statements = self.code.statements(),
            result = self.code.result(),
        )
    }

    fn each(&self, text: impl Fn(usize) -> String) -> String {
        (0..self.code.arrays.len()).map(text).collect()
    }
}
