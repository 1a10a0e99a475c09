//! Expressions as one kernel over all elements.
//!
//! Where all arrays are contiguous (or one value for all), a thread takes as many neighbours as 16 bytes hold, so that
//! memory is read and written in the widest pieces. Otherwise axes are joined where they can be, and each thread
//! computes its elements' places.

use std::{fmt::Write as _, sync::Arc};

use super::{
    Error, Layout, Result,
    expression::{Node, Operand},
    layout::{self, collapse},
    source::Code,
};
use crate::{
    device::{Arguments, LaunchConfig},
    kernel::{Context, GENERATED},
};

const BLOCK: u32 = 256;
/// Blocks for each multiprocessor: enough to hide memory latency; threads stride over the rest.
const BLOCKS_PER_MULTIPROCESSOR: u64 = 32;
/// Bytes that a thread reads or writes at once.
const WIDEST_BYTES: usize = 16;

/// Computes `root` for each element of `out`.
pub(super) fn evaluate(root: &Arc<Node>, out: Operand) -> Result<()> {
    let mut code = Code::new(root)?;
    code.define(out.dtype);
    code.use_on(&out.context, "an expression")?;
    out.memory.use_on(out.context.stream())?;
    if !out.layout.is_injective() {
        return Err(Error::NotWritable { shape: out.layout.shape().to_vec() });
    }
    let shape = layout::broadcast(code.arrays.iter().map(|array| array.layout.shape()))?;
    if layout::broadcast([&shape[..], out.layout.shape()])? != out.layout.shape() {
        let shapes = vec![shape, out.layout.shape().to_vec()];
        return Err(Error::Broadcast { shapes });
    }
    if out.layout.count() == 0 {
        return Ok(());
    }
    if code.arrays.iter().any(|array| overlap(array, &out)) {
        return through_another(root, &out);
    }
    Places::new(&code, &out)?.launch(&code, &out)
}

/// Whether `array` shares memory with `out` other than element for element.
fn overlap(array: &Operand, out: &Operand) -> bool {
    if !Arc::ptr_eq(&array.memory, &out.memory)
        || (&array.layout, array.dtype.bytes) == (&out.layout, out.dtype.bytes)
    {
        return false;
    }
    let bytes = |operand: &Operand| {
        let extent = operand.layout.extent();
        extent.start * operand.dtype.bytes..extent.end * operand.dtype.bytes
    };
    let (a, b) = (bytes(array), bytes(out));
    a.start < b.end && b.start < a.end
}

/// Computes into memory of its own first.
fn through_another(root: &Arc<Node>, out: &Operand) -> Result<()> {
    let layout = Layout::contiguous(out.layout.shape())?;
    let bytes = layout.count() * out.dtype.bytes;
    let memory = Arc::new(out.context.pool().alloc(out.context.stream(), bytes)?);
    let between = Operand { memory, layout, ..out.clone() };
    evaluate(root, between.clone())?;
    evaluate(&Arc::new(Node::Array(between)), out.clone())
}

/// Where the elements of each array lie, the result's last.
struct Places {
    shape: Vec<usize>,
    strides: Vec<Vec<isize>>,
}

impl Places {
    fn new(code: &Code<'_>, out: &Operand) -> Result<Self> {
        let shape = out.layout.shape();
        let mut layouts = Vec::with_capacity(code.arrays.len() + 1);
        for array in &code.arrays {
            layouts.push(array.layout.broadcast_to(shape)?);
        }
        layouts.push(out.layout.clone());
        let strides: Vec<&[isize]> = layouts.iter().map(Layout::strides).collect();
        let (shape, strides) = collapse(shape, &strides);
        Ok(Self { shape, strides })
    }

    fn count(&self) -> u64 {
        self.shape.iter().map(|&n| n as u64).product()
    }

    /// Whether there is one axis at most, along which each array goes step by step or stands still.
    fn is_flat(&self) -> bool {
        self.shape.len() <= 1 && self.strides.iter().flatten().all(|stride| matches!(stride, 0 | 1))
    }

    /// Whether array `k` is the same everywhere.
    fn is_uniform(&self, k: usize) -> bool {
        self.strides[k].iter().all(|&stride| stride == 0)
    }

    fn launch(&self, code: &Code<'_>, out: &Operand) -> Result<()> {
        let (source, elements_a_thread, mut arguments) = if self.is_flat() {
            let width = self.width(code, out);
            (self.flat(code, out, width), width, code.arguments())
        } else {
            let mut arguments = code.arguments();
            arguments.push_bytes(&self.packed(), 8);
            (self.strided(code, out), 1, arguments)
        };
        let count = self.count();
        arguments.push(&out.address()).push(&count);
        run(&out.context, code, &source, count.div_ceil(elements_a_thread as u64), &arguments)
    }

    /// How many neighbours a thread can take at once: all arrays must lie on whole pieces.
    fn width(&self, code: &Code<'_>, out: &Operand) -> usize {
        let moving = code.arrays.iter().enumerate().filter(|(k, _)| !self.is_uniform(*k));
        let arrays: Vec<&Operand> = moving.map(|(_, array)| *array).chain([out]).collect();
        let widest = arrays.iter().map(|array| array.dtype.bytes).max().unwrap_or(1);
        if arrays.iter().any(|array| !array.dtype.bytes.is_power_of_two()) {
            return 1;
        }
        let mut width = (WIDEST_BYTES / widest).max(1);
        let fits = |width: usize| {
            let aligned = |array: &&Operand| {
                array.address().is_multiple_of((width * array.dtype.bytes) as u64)
            };
            arrays.iter().all(aligned)
        };
        while width > 1 && !fits(width) {
            width /= 2;
        }
        width
    }

    fn flat(&self, code: &Code<'_>, out: &Operand, width: usize) -> String {
        let uniform = |k: usize| self.is_uniform(k);
        let (statements, result, to) = (code.statements(), &code.result, out.dtype.name);
        let mut pieces = String::new();
        for (k, array) in code.arrays.iter().enumerate().filter(|(k, _)| !uniform(*k)) {
            let of = array.dtype.name;
            let _ = write!(pieces, "const Piece<{of}> p{k} = ((const Piece<{of}> *)a{k})[p]; ");
        }
        let in_piece =
            code.reads(|k| if uniform(k) { format!("a{k}[0]") } else { format!("p{k}.at[j]") });
        let one_by_one =
            code.reads(|k| if uniform(k) { format!("a{k}[0]") } else { format!("a{k}[i]") });
        format!(
            "template <class T> struct alignas(sizeof(T) * {width} < alignof(T) ? alignof(T) : sizeof(T) * {width}) \
             Piece {{ T at[{width}]; }};
extern \"C\" __global__ void {GENERATED}({parameters}{to} *out, unsigned long long n)
{{
    {index}
    for (Index p = first_; p < n / {width}; p += threads_) {{
        {pieces}Piece<{to}> q;
        #pragma unroll
        for (int j = 0; j < {width}; ++j) {{ const Index i = p * {width} + j; {in_piece}{statements}q.at[j] = {result}; }}
        ((Piece<{to}> *)out)[p] = q;
    }}
    for (Index i = n / {width} * {width} + first_; i < n; i += threads_) {{
        {one_by_one}{statements}out[i] = {result};
    }}
}}
",
            parameters = code.parameters(),
            index = index(self.count()),
        )
    }

    /// Shape and strides as the kernel's `Places`.
    fn packed(&self) -> Vec<u8> {
        let shape = self.shape.iter().flat_map(|&n| (n as u64).to_ne_bytes());
        let strides =
            self.strides.iter().flatten().flat_map(|&stride| (stride as i64).to_ne_bytes());
        shape.chain(strides).collect()
    }

    fn strided(&self, code: &Code<'_>, out: &Operand) -> String {
        let (rank, arrays) = (self.shape.len(), self.strides.len());
        let last = arrays - 1;
        let mut places = String::new();
        for k in 0..arrays {
            let _ = write!(places, "long long o{k} = 0; ");
        }
        for axis in (0..rank).rev() {
            let _ = if axis == 0 {
                write!(places, "{{ const Index c = rest; ")
            } else {
                write!(places, "{{ const Index n = places.shape[{axis}], c = rest % n; rest /= n; ")
            };
            for k in 0..arrays {
                let _ = write!(places, "o{k} += (long long)c * places.strides[{k}][{axis}]; ");
            }
            places.push_str("} ");
        }
        let reads = code.reads(|k| format!("a{k}[o{k}]"));
        format!(
            "struct Places {{ unsigned long long shape[{rank}]; long long strides[{arrays}][{rank}]; }};
extern \"C\" __global__ void {GENERATED}({parameters}const Places places, {to} *out, unsigned long long n)
{{
    {index}
    for (Index i = first_; i < n; i += threads_) {{
        Index rest = i;
        {places}
        {reads}{statements}out[o{last}] = {result};
    }}
}}
",
            parameters = code.parameters(),
            to = out.dtype.name,
            index = index(self.count()),
            statements = code.statements(),
            result = code.result,
        )
    }
}

/// The type that counts elements, and this thread's place among all; half as many bits are half the work.
pub(super) fn index(count: u64) -> &'static str {
    // Threads step over the end by less than 2^31.
    if count <= 1 << 31 {
        "using Index = unsigned; \
         const Index threads_ = gridDim.x * blockDim.x, first_ = blockIdx.x * blockDim.x + threadIdx.x;"
    } else {
        "using Index = unsigned long long; const Index threads_ = (Index)gridDim.x * blockDim.x, \
         first_ = (Index)blockIdx.x * blockDim.x + threadIdx.x;"
    }
}

/// Launches the generated kernel with a thread for each of `work` pieces, or fewer that stride.
#[expect(unsafe_code, reason = "a kernel launch")]
pub(super) fn run(
    context: &Context,
    code: &Code<'_>,
    source: &str,
    work: u64,
    arguments: &Arguments,
) -> Result<()> {
    let kernel = context.generated(source, || code.preamble() + source)?;
    let most = u64::from(context.device().info().multiprocessors) * BLOCKS_PER_MULTIPROCESSOR;
    let blocks = work.div_ceil(u64::from(BLOCK)).clamp(1, most.max(1));
    let config = LaunchConfig::new(blocks as u32, BLOCK);
    // SAFETY: the kernel visits the elements of the layouts, which lie within their arrays' memory; the pool
    // hands that memory to nobody else before this stream's work has ended.
    unsafe { context.stream().launch(&kernel, &config, arguments)? };
    Ok(())
}
