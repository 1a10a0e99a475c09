//! Reductions of expressions: over all elements, or along axes.
//!
//! Each output is reduced by the threads of a block in a fixed tree, or by one thread where outputs lie side by side
//! in memory and are many; long ones are split among blocks, and a second launch of the same kind reduces their
//! results. Which elements meet in which order depends on shape and device alone, so a result has the same bits each
//! time.

use std::{fmt::Write as _, sync::Arc};

use super::{
    DType, Data, Error, Expr, GpuArray, Layout, Number, Real, Result,
    expression::{Node, Operand},
    layout::collapse,
    source::Code,
};
use crate::{
    device::LaunchConfig,
    kernel::{Context, GENERATED},
};

const BLOCK: u32 = 256;
/// Blocks for each multiprocessor that a long reduction is split among.
const BLOCKS_PER_MULTIPROCESSOR: usize = 8;
/// Elements that are not worth a second block.
const SMALLEST_CHUNK: usize = 4096;

/// What a reduction does with values: an accumulator type, and CUDA C++ for its three steps.
#[derive(Clone, Debug)]
pub(super) struct Reduction {
    /// What values are collected in.
    pub(super) accumulator: DType,
    /// The accumulator of no values, as bytes.
    pub(super) identity: Box<[u8]>,
    /// From a value `x` (with its place among those reduced, `r`) to an accumulator.
    pub(super) map: &'static str,
    /// From two accumulators `a` and `b` to one; associative.
    pub(super) combine: &'static str,
    /// From an accumulator `a` to the result.
    pub(super) finish: &'static str,
}

impl Reduction {
    fn sum<T: Number>() -> Self {
        let accumulator = T::SUM;
        Self {
            accumulator,
            identity: vec![0; accumulator.bytes].into(),
            map: "static_cast<Accumulator>(x)",
            combine: "a + b",
            finish: "static_cast<Result>(a)",
        }
    }

    fn extreme<T: Data>(identity: T, combine: &'static str) -> Self {
        Self {
            accumulator: T::DTYPE,
            identity: bytemuck::bytes_of(&identity).into(),
            map: "x",
            combine,
            finish: "a",
        }
    }
}

impl<T: Number> Expr<T> {
    /// The sum of all elements, as an array without axes; 0 of none.
    ///
    /// Integers wrap around. Floating-point numbers are collected in the next wider type (`f64` with its rounding
    /// errors kept), so that the result is the exact sum but for a few units in the last place.
    ///
    /// # Errors
    /// As [`Expr::eval`].
    pub fn sum(&self) -> Result<GpuArray<T>> {
        self.reduce(None, &Reduction::sum::<T>())
    }

    /// The sums along `axes`, which go.
    ///
    /// # Errors
    /// [`Error::Axes`]; as [`Expr::eval`].
    pub fn sum_along(&self, axes: &[usize]) -> Result<GpuArray<T>> {
        self.reduce(Some(axes), &Reduction::sum::<T>())
    }
}

impl<T: Real> Expr<T> {
    /// The greatest element, as an array without axes; NaN where one is NaN.
    ///
    /// # Errors
    /// [`Error::Empty`] for no elements; as [`Expr::eval`].
    pub fn max(&self) -> Result<GpuArray<T>> {
        self.extreme(None, "max", T::LEAST, "warpaint::maximum(a, b)")
    }

    /// The greatest elements along `axes`, which go.
    ///
    /// # Errors
    /// [`Error::Empty`] where there are none; [`Error::Axes`]; as [`Expr::eval`].
    pub fn max_along(&self, axes: &[usize]) -> Result<GpuArray<T>> {
        self.extreme(Some(axes), "max", T::LEAST, "warpaint::maximum(a, b)")
    }

    /// The least element, as an array without axes; NaN where one is NaN.
    ///
    /// # Errors
    /// [`Error::Empty`] for no elements; as [`Expr::eval`].
    pub fn min(&self) -> Result<GpuArray<T>> {
        self.extreme(None, "min", T::GREATEST, "warpaint::minimum(a, b)")
    }

    /// The least elements along `axes`, which go.
    ///
    /// # Errors
    /// [`Error::Empty`] where there are none; [`Error::Axes`]; as [`Expr::eval`].
    pub fn min_along(&self, axes: &[usize]) -> Result<GpuArray<T>> {
        self.extreme(Some(axes), "min", T::GREATEST, "warpaint::minimum(a, b)")
    }

    fn extreme(
        &self,
        axes: Option<&[usize]>,
        operation: &'static str,
        identity: T,
        combine: &'static str,
    ) -> Result<GpuArray<T>> {
        let shape = self.shape()?;
        let reduced = |axis: &usize| axes.is_none_or(|axes| axes.contains(axis));
        let none = (0..shape.len()).filter(reduced).any(|axis| shape[axis] == 0);
        let kept = (0..shape.len()).filter(|axis| !reduced(axis)).all(|axis| shape[axis] > 0);
        if none && kept {
            return Err(Error::Empty { operation });
        }
        self.reduce(axes, &Reduction::extreme(identity, combine))
    }
}

impl<T: Data> Expr<T> {
    /// Reduces along `axes`, or all, to values of type `O`.
    pub(super) fn reduce<O: Data>(
        &self,
        axes: Option<&[usize]>,
        reduction: &Reduction,
    ) -> Result<GpuArray<O>> {
        let context = self.context()?;
        let shape = self.shape()?;
        let (kept, reduced) = split(shape.len(), axes)?;
        let lengths: Vec<usize> = kept.iter().map(|&axis| shape[axis]).collect();
        let out = GpuArray::<O>::empty(&context, &lengths)?;
        let job =
            Job { context: &context, shape: &shape, kept: &kept, reduced: &reduced, reduction };
        job.run(&self.node, &out.operand())?;
        Ok(out)
    }
}

/// The axes that stay and those that go.
fn split(ndim: usize, axes: Option<&[usize]>) -> Result<(Vec<usize>, Vec<usize>)> {
    let Some(axes) = axes else { return Ok((Vec::new(), (0..ndim).collect())) };
    let mut sorted = axes.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() != axes.len() || sorted.last().is_some_and(|&last| last >= ndim) {
        return Err(Error::Axes { axes: axes.to_vec(), ndim });
    }
    Ok(((0..ndim).filter(|axis| !sorted.contains(axis)).collect(), sorted))
}

struct Job<'a> {
    context: &'a Context,
    shape: &'a [usize],
    kept: &'a [usize],
    reduced: &'a [usize],
    reduction: &'a Reduction,
}

impl Job<'_> {
    fn run(&self, root: &Arc<Node>, out: &Operand) -> Result<()> {
        let code = Code::new(root)?;
        code.use_on(self.context, "a reduction")?;
        out.memory.use_on(self.context.stream())?;
        let outputs = out.layout.count();
        if outputs == 0 {
            return Ok(());
        }
        let places = Places::new(&code, self)?;
        let length = places.reduced.iter().product::<usize>();
        let splits = self.splits(outputs, length);
        if splits == 1 {
            let steps = Steps { map: self.reduction.map, finish: self.reduction.finish };
            return self.launch(code, &places, steps, out, (outputs, length, 1));
        }
        let accumulator = self.reduction.accumulator;
        let layout = Layout::contiguous(&[outputs, splits])?;
        let bytes = layout.count() * accumulator.bytes;
        let memory = Arc::new(self.context.pool().alloc(self.context.stream(), bytes)?);
        let context = self.context.clone();
        let partial = Operand { context, memory, layout, dtype: accumulator };
        let steps = Steps { map: self.reduction.map, finish: "a" };
        self.launch(code, &places, steps, &partial, (outputs, length, splits))?;

        let root = Arc::new(Node::Array(partial));
        let again = Job { shape: &[outputs, splits], kept: &[0], reduced: &[1], ..*self };
        let code = Code::new(&root)?;
        let places = Places::new(&code, &again)?;
        let steps = Steps { map: "x", finish: self.reduction.finish };
        again.launch(code, &places, steps, out, (outputs, splits, 1))
    }

    /// Among how many blocks each output is split: as many as keep the device busy, none too small.
    fn splits(&self, outputs: usize, length: usize) -> usize {
        let multiprocessors = self.context.device().info().multiprocessors as usize;
        let wanted = (multiprocessors * BLOCKS_PER_MULTIPROCESSOR).div_ceil(outputs);
        wanted.min(length.div_ceil(SMALLEST_CHUNK)).max(1)
    }

    #[expect(unsafe_code, reason = "a kernel launch")]
    fn launch(
        &self,
        mut code: Code<'_>,
        places: &Places,
        steps: Steps,
        out: &Operand,
        (outputs, length, splits): (usize, usize, usize),
    ) -> Result<()> {
        code.define(self.reduction.accumulator);
        code.define(out.dtype);
        let columns = places.columns(outputs);
        let source = places.source(&code, self.reduction, &steps, out.dtype, columns);
        let kernel = self.context.generated(&source, || code.preamble() + &source)?;
        let mut arguments = code.arguments();
        arguments.push_bytes(&places.packed(), 8);
        arguments.push_bytes(&self.reduction.identity, self.reduction.accumulator.align);
        let chunk = length.div_ceil(splits) as u64;
        arguments.push(&out.address()).push(&(outputs as u64)).push(&(length as u64)).push(&chunk);
        let most = 1 << 16;
        let config = if columns {
            let blocks = outputs.div_ceil(BLOCK as usize).min(i32::MAX as usize);
            LaunchConfig::new([blocks as u32, splits as u32], BLOCK)
        } else {
            LaunchConfig::new([splits as u32, outputs.min(most - 1) as u32], BLOCK)
        };
        // SAFETY: the kernel reads the elements of the layouts, which lie within their arrays' memory, and writes one
        // value for each output and split, for which `out` has room.
        unsafe { self.context.stream().launch(&kernel, &config, &arguments)? };
        Ok(())
    }
}

struct Steps {
    map: &'static str,
    finish: &'static str,
}

/// Where the elements of each array lie, by the axes that stay and those that go.
struct Places {
    kept: Vec<usize>,
    reduced: Vec<usize>,
    /// Of each array: strides along the axes that stay, then those that go.
    strides: Vec<(Vec<isize>, Vec<isize>)>,
}

impl Places {
    fn new(code: &Code<'_>, job: &Job<'_>) -> Result<Self> {
        let layouts = code.arrays.iter().map(|array| array.layout.broadcast_to(job.shape));
        let layouts: Vec<Layout> = layouts.collect::<Result<_>>()?;
        let part = |axes: &[usize]| {
            let shape: Vec<usize> = axes.iter().map(|&axis| job.shape[axis]).collect();
            let of = |layout: &Layout| axes.iter().map(|&axis| layout.strides()[axis]).collect();
            let strides: Vec<Vec<isize>> = layouts.iter().map(of).collect();
            let strides: Vec<&[isize]> = strides.iter().map(Vec::as_slice).collect();
            collapse(&shape, &strides)
        };
        let ((kept, outer), (reduced, inner)) = (part(job.kept), part(job.reduced));
        Ok(Self { kept, reduced, strides: outer.into_iter().zip(inner).collect() })
    }

    /// Whether neighbouring outputs lie nearer in memory than neighbours that are reduced: then a thread an output
    /// reads memory in order.
    fn columns(&self, outputs: usize) -> bool {
        let nearer = |(outer, inner): &(Vec<isize>, Vec<isize>)| match (outer.last(), inner.last())
        {
            (Some(outer), Some(inner)) => outer.abs() < inner.abs(),
            _ => false,
        };
        outputs >= 32 && self.strides.iter().any(nearer)
    }

    fn packed(&self) -> Vec<u8> {
        let lengths = |lengths: &[usize]| {
            let lengths = lengths.iter().map(|&n| n as i64);
            lengths.chain([1]).flat_map(i64::to_ne_bytes).collect::<Vec<u8>>()
        };
        let strides = self.strides.iter().flat_map(|(outer, inner)| {
            outer.iter().chain(inner).chain(&[0]).flat_map(|&stride| (stride as i64).to_ne_bytes())
        });
        [lengths(&self.kept), lengths(&self.reduced), strides.collect()].concat()
    }

    /// Statements that add to the places `from<k>` of all arrays what index `of` means along `lengths`.
    fn walk(&self, name: &str, rank: usize, first: usize, of: &str, add_to: &str) -> String {
        let mut text = format!("{{ Index rest = {of}; ");
        for axis in (0..rank).rev() {
            let _ = if axis == 0 {
                text.write_str("{ const Index c = rest; ")
            } else {
                write!(text, "{{ const Index n = places.{name}[{axis}], c = rest % n; rest /= n; ")
            };
            for k in 0..self.strides.len() {
                let _ = write!(
                    text,
                    "{add_to}{k} += (long long)c * places.strides[{k}][{}]; ",
                    first + axis
                );
            }
            text.push_str("} ");
        }
        text + "} "
    }

    fn source(
        &self,
        code: &Code<'_>,
        reduction: &Reduction,
        steps: &Steps,
        out: DType,
        columns: bool,
    ) -> String {
        let (outer, inner) = (self.kept.len(), self.reduced.len());
        let arrays = self.strides.len();
        let each = |text: &dyn Fn(usize) -> String| (0..arrays).map(text).collect::<String>();
        let bases = each(&|k| format!("long long b{k} = 0; "));
        let starts = each(&|k| format!("long long o{k} = b{k}; "));
        let visit = format!(
            "{starts}{walk}{reads}{statements}const auto x = {result}; total = combine(total, map(x, r));",
            walk = self.walk("reduced", inner, outer, "r", "o"),
            reads = code.reads(|k| format!("a{k}[o{k}]")),
            statements = code.statements(),
            result = code.result,
        );
        let to_output = self.walk("kept", outer, 0, "k", "b");
        let body = if columns {
            format!(
                "const Index splits = gridDim.y, split = blockIdx.y;
    const Index begin = split * chunk, end = begin + chunk < length ? begin + chunk : length;
    for (Index k = blockIdx.x * (Index)blockDim.x + threadIdx.x; k < outputs; k += gridDim.x * (Index)blockDim.x) {{
        {bases}{to_output}
        Accumulator total = identity;
        for (Index r = begin; r < end; ++r) {{ {visit} }}
        out[k * splits + split] = finish(total);
    }}"
            )
        } else {
            format!(
                "__shared__ alignas(Accumulator) unsigned char memory[sizeof(Accumulator) * {BLOCK}];
    Accumulator *const shared = (Accumulator *)memory;
    const Index splits = gridDim.x, split = blockIdx.x;
    const Index begin = split * chunk, end = begin + chunk < length ? begin + chunk : length;
    for (Index k = blockIdx.y; k < outputs; k += gridDim.y) {{
        {bases}{to_output}
        Accumulator total = identity;
        for (Index r = begin + threadIdx.x; r < end; r += {BLOCK}) {{ {visit} }}
        shared[threadIdx.x] = total;
        for (unsigned half = {BLOCK} / 2; half > 0; half /= 2) {{
            __syncthreads();
            if (threadIdx.x < half) shared[threadIdx.x] = combine(shared[threadIdx.x], shared[threadIdx.x + half]);
        }}
        if (threadIdx.x == 0) out[k * splits + split] = finish(shared[0]);
        __syncthreads();
    }}"
            )
        };
        format!(
            "using Accumulator = {accumulator};
using Result = {result};
using Index = unsigned long long;
template <class T> __device__ Accumulator map(const T &x, Index r) {{ return {map}; }}
__device__ Accumulator combine(const Accumulator &a, const Accumulator &b) {{ return {combine}; }}
__device__ Result finish(const Accumulator &a) {{ return {finish}; }}
struct Places {{ long long kept[{outer} + 1], reduced[{inner} + 1], strides[{arrays}][{outer} + {inner} + 1]; }};
extern \"C\" __global__ void {GENERATED}({parameters}const Places places, const Accumulator identity, Result *out,
    Index outputs, Index length, Index chunk)
{{
    {body}
}}
",
            accumulator = reduction.accumulator.name,
            result = out.name,
            map = steps.map,
            combine = reduction.combine,
            finish = steps.finish,
            parameters = code.parameters(),
        )
    }
}
