//! Expressions as one kernel over all elements.
//!
//! Where all arrays are contiguous (or one value for all), a thread takes as many neighbours as 16 bytes hold, so that
//! memory is read and written in the widest pieces. Otherwise axes are joined where they can be, and each thread
//! computes its elements' places.

use std::{
    fmt::{self, Write as _},
    hash::{Hash, Hasher},
    sync::Arc,
};

use crate::array::{
    DType, Error, Layout, Result,
    layout::Places,
    layout::common_shape,
    node::{Node, Operand},
    source::Code,
};
use crate::{
    device::{Arguments, DeviceKind, Function, LaunchConfig},
    kernel::{Context, GENERATED},
};

const BLOCK: u32 = 256;
/// Blocks for each multiprocessor where threads stride: as many as run at once, and as many again.
const STRIDING_BLOCKS: u64 = 16;
/// Blocks for each multiprocessor where each has counters of its own.
const COUNTING_BLOCKS: u64 = 8;
/// Most blocks of a launch.
const MOST_BLOCKS: u64 = i32::MAX as u64;
/// Bytes that a thread reads or writes at once.
const WIDEST_BYTES: usize = 16;
/// Most bytes of one array that a thread holds.
const MOST_BYTES: usize = 64;

/// Whether threads of a block take turns on one core: then fewer of them, each with more to do, are faster.
pub(in crate::array) fn is_serial(context: &Context) -> bool {
    context.device().info().kind == DeviceKind::Cpu
}

/// The type of pieces of some neighbouring elements.
#[derive(Hash)]
pub(in crate::array) struct Piece {
    of: &'static str,
    align: usize,
}

impl Piece {
    /// That of pieces of `width` elements of an array, as aligned as they are.
    pub(in crate::array) fn new(array: &Operand, width: usize) -> Self {
        let DType { name: of, bytes, align, .. } = array.dtype;
        let wide = alignment(width * bytes).max(align);
        let align = if array.address().is_multiple_of(wide as u64) { wide } else { align };
        Self { of, align }
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Piece<{}, {}>", self.of, self.align)
    }
}

/// The alignment of pieces of `bytes`: the greatest power of two that divides them, up to the widest access.
fn alignment(bytes: usize) -> usize {
    1 << bytes.trailing_zeros().min(WIDEST_BYTES.trailing_zeros())
}

/// How many neighbours of each array a thread can take at once: all arrays must lie on whole pieces.
pub(in crate::array) fn width<'a>(arrays: impl Iterator<Item = &'a Operand> + Clone) -> usize {
    // Of a type whose size is no power of two, such as `float3`, several make pieces that are aligned.
    let whole = |array: &Operand| WIDEST_BYTES / alignment(array.dtype.bytes);
    let mut width = arrays.clone().map(whole).min().unwrap_or(1);
    let fits = |width: usize| {
        let fits = |array: &Operand| {
            let bytes = width * array.dtype.bytes;
            bytes <= MOST_BYTES && array.address().is_multiple_of(alignment(bytes) as u64)
        };
        arrays.clone().all(fits)
    };
    while width > 1 && !fits(width) {
        width /= 2;
    }
    width
}

/// Computes the expression of `code` for each element of `out`.
pub(in crate::array) fn compute(code: &mut Code<'_>, out: &Operand) -> Result<()> {
    code.define(out.dtype);
    code.use_on(&out.context, "an expression")?;
    code.write_on(&out.context, out)?;
    if !out.layout.is_injective() {
        return Err(Error::NotWritable { shape: out.layout.shape().to_vec() });
    }
    let shape = code.shape()?;
    if common_shape([&shape[..], out.layout.shape()])?[..] != *out.layout.shape() {
        let shapes = vec![shape.into_vec(), out.layout.shape().to_vec()];
        return Err(Error::Broadcast { shapes });
    }
    if out.layout.count() == 0 {
        return Ok(());
    }
    if overlap(code, out) {
        return through_another(out, |between| Job::new(code, &between)?.launch());
    }
    Job::new(code, out)?.launch()
}

/// Whether the code reads memory of `out` other than element for element.
pub(in crate::array) fn overlap(code: &Code<'_>, out: &Operand) -> bool {
    let apart = |array: &Operand| {
        (array.address(), array.dtype.bytes) != (out.address(), out.dtype.bytes)
            || array.layout.shape() != out.layout.shape()
            || array.layout.strides() != out.layout.strides()
    };
    let other = code.arrays.iter().filter(|array| apart(array));
    other.chain(code.indexed_arrays()).any(|array| shares_memory(array, out))
}

/// Whether the code reads memory of `out`.
pub(in crate::array) fn reads(code: &Code<'_>, out: &Operand) -> bool {
    let mut arrays = code.arrays.iter().chain(code.indexed_arrays());
    arrays.any(|array| shares_memory(array, out))
}

/// Whether `array` and `out` have bytes in common, as far as their ends say. Addresses tell, and not who has the
/// memory: what comes from another library may be an array's of ours.
fn shares_memory(array: &Operand, out: &Operand) -> bool {
    let bytes = |operand: &Operand| {
        let extent = operand.layout.extent();
        let address =
            |place: usize| operand.memory.address() + (place * operand.dtype.bytes) as u64;
        address(extent.start)..address(extent.end)
    };
    let (a, b) = (bytes(array), bytes(out));
    a.start < b.end && b.start < a.end
}

/// Lets `compute` write to memory of its own, and copies that to `out`.
pub(in crate::array) fn through_another(
    out: &Operand,
    compute: impl FnOnce(Operand) -> Result<()>,
) -> Result<()> {
    let layout = Layout::contiguous(out.layout.shape())?;
    let bytes = layout.count() * out.dtype.bytes;
    let memory = Arc::new(out.context.pool().alloc(out.context.stream(), bytes)?);
    let between = Operand { memory, layout: Arc::new(layout), ..out.clone() };
    compute(between.clone())?;
    // It is nobody else's, whatever arrays of other libraries say of their ends.
    let copied = Arc::new(Node::Array(between));
    let mut code = Code::new(&copied)?;
    code.define(out.dtype);
    code.write_on(&out.context, out)?;
    Job::new(&code, out)?.launch()
}

/// An expression of which the places are known.
struct Job<'a, 'c> {
    code: &'a Code<'c>,
    /// Of each array's elements, the result's last.
    places: Places,
    out: &'a Operand,
    /// How many neighbours a thread takes at once.
    width: usize,
}

impl<'a, 'c> Job<'a, 'c> {
    fn new(code: &'a Code<'c>, out: &'a Operand) -> Result<Self> {
        let shape = out.layout.shape();
        let mut layouts = code.layouts();
        layouts.push(&out.layout);
        let job = Self { code, places: Places::new(shape, &layouts)?, out, width: 1 };
        Ok(Self { width: if job.places.is_flat() { job.widest() } else { 1 }, ..job })
    }

    fn launch(&self) -> Result<()> {
        let (code, out, count) = (self.code, self.out, self.places.count());
        let mut arguments = code.arguments();
        self.places.push_to(&mut arguments);
        arguments.push(&out.address()).push(&count);
        let kernel = code.compile(&out.context, ("expression", self), || self.source())?;
        let pieces = count.div_ceil(self.width as u64);
        run(&out.context, &kernel, (pieces, Threads::ForEach), &arguments)
    }

    fn source(&self) -> String {
        if self.places.is_flat() { self.flat() } else { self.strided() }
    }

    /// The arrays whose elements differ from place to place, the result last, with their numbers.
    fn moving(&self) -> impl Iterator<Item = (usize, &Operand)> + Clone {
        let arrays = self.code.arrays.iter().copied().chain([self.out]).enumerate();
        arrays.filter(|(k, _)| !self.places.is_uniform(*k))
    }

    /// How many neighbours a thread can take at once.
    fn widest(&self) -> usize {
        width(self.moving().map(|(_, array)| array))
    }

    fn flat(&self) -> String {
        let (code, out, width) = (self.code, self.out, self.width);
        let uniform = |k: usize| self.places.is_uniform(k);
        let (statements, result, to) = (code.statements(), code.result(), out.dtype.name);
        let mut pieces = String::new();
        for (k, array) in code.arrays.iter().enumerate().filter(|(k, _)| !uniform(*k)) {
            let of = Piece::new(array, width);
            let _ = write!(pieces, "const {of} p{k} = ((const {of} *)a{k})[p]; ");
        }
        let in_piece =
            code.reads(|k| if uniform(k) { format!("a{k}[0]") } else { format!("p{k}.at[j]") });
        let one_by_one =
            code.reads(|k| if uniform(k) { format!("a{k}[0]") } else { format!("a{k}[i]") });
        format!(
            "template <class T, int ALIGNMENT> struct alignas(ALIGNMENT) Piece {{ T at[{width}]; }};
extern \"C\" __global__ void {GENERATED}({parameters}{to} *out, unsigned long long n)
{{
    {index}
    for (Index p = first_; p < n / {width}; p += threads_) {{
        {pieces}{whole} q;
        #pragma unroll
        for (int j = 0; j < {width}; ++j) {{
            const Index i = p * {width} + j;
            {in_piece}{statements}q.at[j] = {result};
        }}
        (({whole} *)out)[p] = q;
    }}
    for (Index i = n / {width} * {width} + first_; i < n; i += threads_) {{
        {one_by_one}{statements}out[i] = {result};
    }}
}}
",
            whole = Piece::new(out, width),
            parameters = code.parameters(),
            index = index(self.places.count()),
        )
    }

    fn strided(&self) -> String {
        let (code, to) = (self.code, self.out.dtype.name);
        format!(
            "{definition}extern \"C\" __global__ void {GENERATED}({parameters}{places}{to} *out, unsigned long long n)
{{
    {index}
    for (Index i = first_; i < n; i += threads_) {{
        {evaluate}out[{place}] = {result};
    }}
}}
",
            definition = self.places.definition(),
            parameters = code.parameters(),
            places = self.places.parameter(),
            index = index(self.places.count()),
            evaluate = self.places.evaluate(code),
            place = self.places.place(code.arrays.len()),
            result = code.result(),
        )
    }
}

/// What its text depends on.
impl Hash for Job<'_, '_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.places, self.width, index_type(self.places.count()), self.out.dtype.name)
            .hash(state);
        if self.places.is_flat() {
            self.moving().for_each(|(_, array)| Piece::new(array, self.width).hash(state));
        }
    }
}

/// The type that counts elements, and this thread's place among all; half as many bits are half the work.
pub(in crate::array) fn index(count: u64) -> &'static str {
    if index_type(count) == "unsigned" {
        "using Index = unsigned; \
         const Index threads_ = gridDim.x * blockDim.x, first_ = blockIdx.x * blockDim.x + threadIdx.x;"
    } else {
        "using Index = unsigned long long; const Index threads_ = (Index)gridDim.x * blockDim.x, \
         first_ = (Index)blockIdx.x * blockDim.x + threadIdx.x;"
    }
}

/// The type that counts elements.
pub(in crate::array) fn index_type(count: u64) -> &'static str {
    // Threads step over the end by less than 2^31.
    if count <= 1 << 31 { "unsigned" } else { "unsigned long long" }
}

/// How the work is shared out to threads, all of which could stride over the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::array) enum Threads {
    /// A thread for each piece: a GPU's scheduler keeps its memory busier than loops do. (A CPU's cores would only
    /// begin more blocks; they stride.)
    ForEach,
    /// Fewer, because each has something to set up.
    Stride,
}

impl Threads {
    fn blocks(self, work: u64, context: &Context) -> u64 {
        let most = match self {
            Self::ForEach if !is_serial(context) => MOST_BLOCKS,
            _ => u64::from(context.device().info().multiprocessors) * STRIDING_BLOCKS,
        };
        work.div_ceil(u64::from(BLOCK)).clamp(1, most.max(1))
    }
}

/// How many blocks count `n` elements in counters of their own, of 32 bits, where a block takes `each` at least: enough
/// to fill the device, and so many that no counter overflows.
pub(in crate::array) fn counting_blocks(context: &Context, n: u64, each: u64) -> u32 {
    let filling = u64::from(context.device().info().multiprocessors) * COUNTING_BLOCKS;
    let blocks = n.div_ceil(each).min(filling).max(n.div_ceil(1 << 31));
    blocks.clamp(1, MOST_BLOCKS) as u32
}

/// Launches a generated kernel for `work` pieces.
#[expect(unsafe_code, reason = "a kernel launch")]
pub(in crate::array) fn run(
    context: &Context,
    kernel: &Function,
    (work, threads): (u64, Threads),
    arguments: &Arguments,
) -> Result<()> {
    let config = LaunchConfig::new(threads.blocks(work, context) as u32, BLOCK);
    // SAFETY: the kernel visits the elements of the layouts, which lie within their arrays' memory; the pool
    // hands that memory to nobody else before this stream's work has ended.
    unsafe { context.stream().launch(kernel, &config, arguments)? };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;

    #[test]
    fn no_block_counts_more_than_its_counters_hold() {
        let context = Context::new(Device::cpu().unwrap()).unwrap();
        for n in [0, 1, 5000, 1 << 31, 1 << 33, 1 << 40, (1 << 50) + 1] {
            let blocks = counting_blocks(&context, n, 2048);
            assert!((1..=MOST_BLOCKS).contains(&u64::from(blocks)));
            assert!(n.div_ceil(blocks.into()) <= 1 << 31, "{n} elements in {blocks} blocks");
            assert!(u64::from(blocks - 1) * 2048 < n.max(1), "{blocks} blocks for {n} elements");
        }
    }
}
