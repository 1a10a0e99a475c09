//! Kernels from a statement in C that is run for each index.

use crate::array::{
    Index, KernelArgument, Layout, Result,
    bound::Bound,
    custom::{Parameters, texts},
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
        ///
        /// ```
        /// # use warpaint::{array::{ElementwiseKernel, Error, GpuArray}, device::Device, kernel::Context};
        /// # let context = Context::new(Device::cpu()?)?;
        /// // SAFETY: only the element `i` is used.
        /// let negate = unsafe { ElementwiseKernel::new("float *x", "x[i] = -x[i]")? }.named("negate");
        /// let x = GpuArray::<f64>::zeros(&context, &[2])?; // no `float`
        /// assert!(matches!(negate.call(&[(&x).into()]), Err(Error::Argument { kernel, .. }) if kernel == "negate"));
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        named => name;
        /// Functions, types and includes before the kernel.
        ///
        /// ```
        /// # use warpaint::{array::{ElementwiseKernel, GpuArray}, device::Device, kernel::Context};
        /// # let context = Context::new(Device::cpu()?)?;
        /// // SAFETY: only the element `i` is used.
        /// let gray = unsafe { ElementwiseKernel::new("unsigned *x", "x[i] = gray(x[i])")? }
        ///     .preamble("__device__ unsigned gray(unsigned n) { return n ^ n >> 1; }");
        /// let x = GpuArray::<u32>::arange(&context, 4)?;
        /// gray.call(&[(&x).into()])?;
        /// assert_eq!(x.to_vec()?, [0, 1, 3, 2]);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        preamble => preamble;
        /// Statements of each thread before its first index; the last may lack its `;`.
        ///
        /// ```
        /// # use warpaint::{array::{ElementwiseKernel, GpuArray}, device::Device, kernel::Context};
        /// # let context = Context::new(Device::cpu()?)?;
        /// // SAFETY: only the element `i` is used.
        /// let powers = unsafe { ElementwiseKernel::new("float *x, float base", "x[i] = exp2f(i * log_base)")? };
        /// let powers = powers.loop_prepare("const float log_base = log2f(base);");
        /// let x = GpuArray::<f32>::zeros(&context, &[3])?;
        /// powers.call(&[(&x).into(), 4.0f32.into()])?;
        /// assert_eq!(x.to_vec()?, [1.0, 4.0, 16.0]);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        loop_prepare => loop_prepare;
        /// Statements of each thread behind its last index; the last may lack its `;`.
        ///
        /// ```
        /// # use warpaint::{array::{ElementwiseKernel, GpuArray}, device::Device, kernel::Context};
        /// # let context = Context::new(Device::cpu()?)?;
        /// // SAFETY: only the element `i` of `x` is used, and `count` atomically.
        /// let positive = unsafe { ElementwiseKernel::new("const int *x, int *count", "mine += x[i] > 0")? };
        /// let positive = positive.loop_prepare("int mine = 0").after_loop("atomicAdd(count, mine)");
        /// let x = GpuArray::from_slice(&context, &[3, -1, 4, -1, 5])?;
        /// let count = GpuArray::<i32>::zeros(&context, &[])?;
        /// positive.call_range(.., &[(&x).into(), (&count).into()])?; // `call` wants all arrays alike
        /// assert_eq!(count.item()?, 3);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        after_loop => after_loop;
    }
}

impl ElementwiseKernel {
    /// A kernel that runs `operation` for each index.
    ///
    /// ```
    /// # use warpaint::{array::{ElementwiseKernel, GpuArray}, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// // SAFETY: only the element `i` of each array is used.
    /// let wave = unsafe {
    ///     ElementwiseKernel::new("float *x, float step", "float t = i * step; x[i] = t * (float(n) - t)")?
    /// };
    /// let x = GpuArray::<f32>::zeros(&context, &[2, 2])?;
    /// wave.call(&[(&x).into(), 1.0f32.into()])?;
    /// assert_eq!(x.to_vec()?, [0.0, 3.0, 4.0, 3.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Safety
    /// On an NVIDIA device nothing checks what the operation does: it must stay inside the arrays that it will be
    /// called with (the CPU device faults instead), and must not write for one index what it reads or writes for
    /// another, through arrays that share memory either.
    ///
    /// # Errors
    /// [`Error::Parameters`](crate::array::Error::Parameters) for a list that is none, or has a name that the kernel
    /// uses itself, such as `i` and `n`. Mistakes in the operation show at the first call.
    #[expect(unsafe_code, reason = "the caller answers for the operation")]
    pub unsafe fn new(parameters: &str, operation: impl Into<String>) -> Result<Self> {
        Ok(Self {
            name: "elementwise kernel".into(),
            parameters: Parameters::parse(parameters, &["n"])?,
            operation: operation.into(),
            preamble: String::new(),
            loop_prepare: String::new(),
            after_loop: String::new(),
        })
    }

    /// Runs it for each index of the first array, on that array's stream.
    ///
    /// ```
    /// # use warpaint::{array::{ElementwiseKernel, GpuArray}, device::Device, index, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// // SAFETY: only the element `i` of each array is used.
    /// let copy = unsafe { ElementwiseKernel::new("int *to, const int *from", "to[i] = from[i]")? };
    /// let from = GpuArray::from_slice(&context, &[1, 2, 3])?;
    /// let to = GpuArray::<i32>::zeros(&context, &[3])?;
    /// copy.call(&[(&to.slice(&index![..;-1])?).into(), (&from).into()])?; // any layout
    /// assert_eq!(to.to_vec()?, [3, 2, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ArgumentCount`](crate::array::Error::ArgumentCount),
    /// [`Error::Argument`](crate::array::Error::Argument) naming the parameter, where a broadcast view is none that
    /// can be written, [`Error::Shape`](crate::array::Error::Shape) where two arrays differ in their number of
    /// elements; mistakes in the operation; the device's.
    pub fn call(&self, arguments: &[KernelArgument]) -> Result<()> {
        let bound = self.parameters.bind(&self.name, arguments)?;
        let (_, n) = bound.alike("an elementwise kernel")?;
        self.run(bound, (0, 1, n))
    }

    /// Runs it for the indices of the first array that `range` takes (an [`Index::Range`] over its elements); the
    /// other arrays may have any length.
    ///
    /// ```
    /// # use warpaint::{array::{ElementwiseKernel, GpuArray, Index}, device::Device, index, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// // SAFETY: `x` has an element before `i` wherever it is called.
    /// let differ = unsafe { ElementwiseKernel::new("const int *x, int *out", "out[i - 1] = x[i] - x[i - 1]")? };
    /// let x = GpuArray::from_slice(&context, &[1, 4, 9, 16])?;
    /// let out = GpuArray::<i32>::zeros(&context, &[3])?;
    /// differ.call_range(1.., &[(&x).into(), (&out).into()])?;
    /// assert_eq!(out.to_vec()?, [3, 5, 7]);
    ///
    /// x.slice(&index![1..])?.fill(0)?;
    /// differ.call_range(Index::from(..0).step(-2), &[(&x).into(), (&out).into()])?; // for 3 and 1
    /// assert_eq!(out.to_vec()?, [-1, 5, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ZeroStep`](crate::array::Error::ZeroStep) and as [`ElementwiseKernel::call`].
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
    {prepare};
    for (Index turn_ = first_; turn_ < count_; turn_ += threads_) {{
        const long long i = start_ + (long long)turn_ * step_;
        {operation};
    }}
    {after};
}}
",
            parameters = code.parameters(),
            prepare = user_code("loop_prepare", &self.loop_prepare),
            operation = user_code("operation", &self.operation),
            after = user_code("after_loop", &self.after_loop),
        )
    }
}
