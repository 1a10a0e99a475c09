//! Reductions of expressions: over all elements, or along axes.
//!
//! Each output is reduced by the threads of a block in a fixed tree, or by one thread where outputs lie side by side
//! in memory and are many; long ones are split among blocks, and a second launch of the same kind reduces their
//! results. Which elements meet in which order depends on shape and device alone, so a result has the same bits each
//! time.

use std::{borrow::Cow, fmt::Write as _, sync::Arc};

use super::{
    DType, Data, Error, Expr, GpuArray, Layout, Number, Real, Result,
    expression::{Node, Operand},
    layout::collapse,
    source::{Code, user_code},
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
    /// The accumulator of no values.
    pub(super) identity: Identity,
    /// From a value `x` (with its place among those reduced, `r`) to an accumulator.
    pub(super) map: Cow<'static, str>,
    /// From two accumulators `a` and `b` to one; associative.
    pub(super) combine: Cow<'static, str>,
    /// From an accumulator `a` to the result.
    pub(super) finish: Cow<'static, str>,
}

/// The accumulator of no values.
#[derive(Clone, Debug)]
pub(super) enum Identity {
    /// Its bytes, given to the kernel as an argument.
    Value(Box<[u8]>),
    /// CUDA C++.
    Code(String),
}

impl Reduction {
    fn sum<T: Number>() -> Self {
        let accumulator = T::SUM;
        Self {
            accumulator,
            identity: Identity::Value(vec![0; accumulator.bytes].into()),
            map: "static_cast<Accumulator>(x)".into(),
            combine: "a + b".into(),
            finish: "static_cast<Result>(a)".into(),
        }
    }

    fn extreme<T: Data>(identity: T, combine: &'static str) -> Self {
        Self {
            accumulator: T::DTYPE,
            identity: Identity::Value(bytemuck::bytes_of(&identity).into()),
            map: "x".into(),
            combine: combine.into(),
            finish: "a".into(),
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
        job.run(Code::new(&self.node)?, &out.operand())?;
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

/// A reduction of something of shape `shape` along the axes `reduced`.
pub(super) struct Job<'a> {
    pub(super) context: &'a Context,
    pub(super) shape: &'a [usize],
    pub(super) kept: &'a [usize],
    pub(super) reduced: &'a [usize],
    pub(super) reduction: &'a Reduction,
}

impl Job<'_> {
    /// Reduces to `out`.
    pub(super) fn run(&self, code: Code<'_>, out: &Operand) -> Result<()> {
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
            let steps = Steps { map: &self.reduction.map, finish: &self.reduction.finish };
            return self.launch(code, &places, steps, out, (outputs, length, 1));
        }
        let accumulator = self.reduction.accumulator;
        let layout = Layout::contiguous(&[outputs, splits])?;
        let bytes = layout.count() * accumulator.bytes;
        let memory = Arc::new(self.context.pool().alloc(self.context.stream(), bytes)?);
        let context = self.context.clone();
        let partial = Operand { context, memory, layout, dtype: accumulator };
        let steps = Steps { map: &self.reduction.map, finish: "a" };
        let user_preamble = code.user_preamble;
        self.launch(code, &places, steps, &partial, (outputs, length, splits))?;

        let root = Arc::new(Node::Array(partial));
        let again = Job { shape: &[outputs, splits], kept: &[0], reduced: &[1], ..*self };
        let mut code = Code::new(&root)?;
        code.user_preamble = user_preamble;
        let places = Places::new(&code, &again)?;
        let steps = Steps { map: "x", finish: &self.reduction.finish };
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
        steps: Steps<'_>,
        out: &Operand,
        (outputs, length, splits): (usize, usize, usize),
    ) -> Result<()> {
        code.define(self.reduction.accumulator);
        code.define(out.dtype);
        let columns = places.columns(outputs);
        let source = places.source(&code, self.reduction, &steps, out.dtype, columns);
        let kernel = code.compile(self.context, &source)?;
        let mut arguments = code.arguments();
        arguments.push_bytes(&places.packed(), 8);
        if let Identity::Value(bytes) = &self.reduction.identity {
            arguments.push_bytes(bytes, self.reduction.accumulator.align);
        }
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

/// CUDA C++ of one launch.
struct Steps<'a> {
    map: &'a str,
    finish: &'a str,
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
        let mut text = format!("{{ Index rest_ = {of}; ");
        for axis in (0..rank).rev() {
            let _ = if axis == 0 {
                text.write_str("{ const Index c_ = rest_; ")
            } else {
                write!(
                    text,
                    "{{ const Index n_ = places_.{name}[{axis}], c_ = rest_ % n_; rest_ /= n_; "
                )
            };
            for k in 0..self.strides.len() {
                let _ = write!(
                    text,
                    "{add_to}{k}_ += (long long)c_ * places_.strides[{k}][{}]; ",
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
        steps: &Steps<'_>,
        out: DType,
        columns: bool,
    ) -> String {
        let (outer, inner) = (self.kept.len(), self.reduced.len());
        let arrays = self.strides.len();
        let each = |text: &dyn Fn(usize) -> String| (0..arrays).map(text).collect::<String>();
        let bases = each(&|k| format!("long long b{k}_ = 0; "));
        let starts = each(&|k| format!("long long o{k}_ = b{k}_; "));
        let visit = format!(
            "const Index i = r_; {starts}{walk}{reads}{statements}const auto value_ = {result}; total_ = combine(total_, map(value_, r_));",
            walk = self.walk("reduced", inner, outer, "r_", "o"),
            reads = code.reads(|k| format!("a{k}[o{k}_]")),
            statements = code.statements(),
            result = code.result,
        );
        let to_output = self.walk("kept", outer, 0, "k_", "b");
        let body = if columns {
            format!(
                "const Index splits_ = gridDim.y, split_ = blockIdx.y;
    const Index begin_ = split_ * chunk_, end_ = begin_ + chunk_ < length_ ? begin_ + chunk_ : length_;
    for (Index k_ = blockIdx.x * (Index)blockDim.x + threadIdx.x; k_ < outputs_; k_ += gridDim.x * (Index)blockDim.x) {{
        {bases}{to_output}
        Accumulator total_ = identity_;
        for (Index r_ = begin_; r_ < end_; ++r_) {{ {visit} }}
        out_[k_ * splits_ + split_] = finish(total_);
    }}"
            )
        } else {
            format!(
                "__shared__ alignas(Accumulator) unsigned char memory_[sizeof(Accumulator) * {BLOCK}];
    Accumulator *const shared_ = (Accumulator *)memory_;
    const Index splits_ = gridDim.x, split_ = blockIdx.x;
    const Index begin_ = split_ * chunk_, end_ = begin_ + chunk_ < length_ ? begin_ + chunk_ : length_;
    for (Index k_ = blockIdx.y; k_ < outputs_; k_ += gridDim.y) {{
        {bases}{to_output}
        Accumulator total_ = identity_;
        for (Index r_ = begin_ + threadIdx.x; r_ < end_; r_ += {BLOCK}) {{ {visit} }}
        shared_[threadIdx.x] = total_;
        for (unsigned half_ = {BLOCK} / 2; half_ > 0; half_ /= 2) {{
            __syncthreads();
            if (threadIdx.x < half_) shared_[threadIdx.x] = combine(shared_[threadIdx.x], shared_[threadIdx.x + half_]);
        }}
        if (threadIdx.x == 0) out_[k_ * splits_ + split_] = finish(shared_[0]);
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
struct Places {{ long long kept[{outer} + 1], reduced[{inner} + 1]; {strides}}};
extern \"C\" __global__ void {GENERATED}({parameters}const Places places_, {identity}Result *out_,
    Index outputs_, Index length_, Index chunk_)
{{
    {identity_code}{body}
}}
",
            strides = match arrays {
                0 => String::new(),
                _ => format!("long long strides[{arrays}][{outer} + {inner} + 1]; "),
            },
            accumulator = reduction.accumulator.name,
            result = out.name,
            map = steps.map,
            combine = reduction.combine,
            finish = steps.finish,
            parameters = code.parameters(),
            identity = match reduction.identity {
                Identity::Value(_) => "const Accumulator identity_, ",
                Identity::Code(_) => "",
            },
            identity_code = match &reduction.identity {
                Identity::Value(_) => String::new(),
                Identity::Code(code) => {
                    format!("const Accumulator identity_ = {}; ", user_code("neutral", code))
                }
            },
        )
    }
}
