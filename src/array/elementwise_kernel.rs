//! Kernels from a statement in C that is run for each index.

use super::{
    Index, KernelArgument, Layout, Result,
    custom::{Bound, Parameters, texts},
    elementwise::{Threads, index, run},
    source::{Code, user_code},
};
use crate::kernel::GENERATED;

/// A statement in CUDA C++ that runs for each index `i` of its first array, as a kernel.
///
/// Parameters are declared as in C: pointers take arrays of that element type and of any layout (`x[i]` is the
/// `i`th element in C order), others take values. In scope are `i` and `n`, the first array's length; parameters have
/// other names, which do not end in `_`. Compiled at the first call, and kept.
///
/// ```
/// use warpaint::{array::{ElementwiseKernel, GpuArray}, device::Device, kernel::Context};
///
/// let context = Context::new(Device::cpu()?)?;
/// // SAFETY: only the element `i` of each array is used.
/// let axpy = unsafe {
///     ElementwiseKernel::new("float a, const float *x, float *y", "y[i] = a * x[i] + y[i]")?
/// };
/// let x = GpuArray::from_slice(&context, &[1.0f32, 2.0, 3.0])?;
/// let y = GpuArray::full(&context, &[3], 0.5f32)?;
/// axpy.call(&[2.0f32.into(), (&x).into(), (&y).into()])?;
/// assert_eq!(y.to_vec()?, [2.5, 4.5, 6.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ElementwiseKernel {
    name: String,
    parameters: Parameters,
    operation: String,
    preamble: String,
    loop_prepare: String,
    after_loop: String,
}

texts! {
    ElementwiseKernel {
        /// The name that errors use.
        named => name;
        /// Functions, types and includes before the kernel.
        preamble => preamble;
        /// Statements of each thread before its first index.
        loop_prepare => loop_prepare;
        /// Statements of each thread behind its last index.
        after_loop => after_loop;
    }
}

impl ElementwiseKernel {
    /// A kernel that runs `operation` for each index.
    ///
    /// # Safety
    /// On an NVIDIA device nothing checks what the operation does: it must stay inside the arrays that it will be
    /// called with (the CPU device faults instead), and must not write for one index what it reads or writes for
    /// another, through arrays that share memory either.
    ///
    /// # Errors
    /// [`Error::Parameters`](super::Error::Parameters) for a list that is none. Mistakes in the operation show at the
    /// first call.
    #[expect(unsafe_code, reason = "the caller answers for the operation")]
    pub unsafe fn new(parameters: &str, operation: impl Into<String>) -> Result<Self> {
        Ok(Self {
            name: "elementwise kernel".into(),
            parameters: Parameters::parse(parameters)?,
            operation: operation.into(),
            preamble: String::new(),
            loop_prepare: String::new(),
            after_loop: String::new(),
        })
    }

    /// Runs it for each index of the first array, on that array's stream.
    ///
    /// # Errors
    /// [`Error::ArgumentCount`](super::Error::ArgumentCount), [`Error::Argument`](super::Error::Argument) naming the
    /// parameter, where a broadcast view is none that can be written, [`Error::Shape`](super::Error::Shape) where two
    /// arrays differ in their number of elements; mistakes in the operation; the device's.
    pub fn call(&self, arguments: &[KernelArgument]) -> Result<()> {
        let bound = self.parameters.bind(&self.name, arguments)?;
        let (_, n) = bound.alike("an elementwise kernel")?;
        self.run(bound, (0, 1, n))
    }

    /// Runs it for the indices of the first array that `range` takes (an [`Index::Range`] over its elements); the
    /// other arrays may have any length.
    ///
    /// # Errors
    /// [`Error::ZeroStep`](super::Error::ZeroStep) and as [`ElementwiseKernel::call`].
    pub fn call_range(&self, range: impl Into<Index>, arguments: &[KernelArgument]) -> Result<()> {
        let bound = self.parameters.bind(&self.name, arguments)?;
        let (_, n) = bound.first()?;
        let taken = Layout::contiguous(&[n])?.index(&[range.into()])?;
        let step = taken.strides().first().copied().unwrap_or(1);
        self.run(bound, (taken.offset(), step, taken.count()))
    }

    fn run<'a>(
        &'a self,
        bound: Bound<'a>,
        (start, step, count): (usize, isize, usize),
    ) -> Result<()> {
        let (context, n) = bound.first()?;
        if count == 0 {
            return Ok(());
        }
        let mut code = Code::custom(bound, &self.preamble, "0");
        code.use_on(context, "an elementwise kernel")?;
        let mut arguments = code.arguments();
        arguments
            .push(&(start as i64))
            .push(&(step as i64))
            .push(&(count as u64))
            .push(&(n as i64));
        let index = index(count as u64);
        let text = (&self.loop_prepare, &self.operation, &self.after_loop);
        let facts = ("elementwise kernel", index, text);
        let kernel = code.compile(context, facts, || self.source(&code, index))?;
        run(context, &kernel, (count as u64, Threads::ForEach), &arguments)
    }

    fn source(&self, code: &Code<'_>, index: &str) -> String {
        format!(
            "extern \"C\" __global__ void {GENERATED}({parameters}const long long start_, const long long step_, \
             const unsigned long long count_, const long long n)
{{
    {index}
    {prepare}
    for (Index turn_ = first_; turn_ < count_; turn_ += threads_) {{
        const long long i = start_ + (long long)turn_ * step_;
        {operation};
    }}
    {after}
}}
",
            parameters = code.parameters(),
            prepare = user_code("loop_prepare", &self.loop_prepare),
            operation = user_code("operation", &self.operation),
            after = user_code("after_loop", &self.after_loop),
        )
    }
}
