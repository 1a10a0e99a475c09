//! Reductions from expressions in C.

use std::marker::PhantomData;

use crate::array::{
    Data, GpuArray, KernelArgument, Result,
    bound::Bound,
    custom::{Parameters, texts},
    readback::written,
    reduction::{Identity, Job, Reduction, Results},
    source::{Code, user_code},
};

/// A reduction over an index: a map expression in CUDA C++ gives a value for each `i`, and an associative one puts two
/// values `a` and `b` together.
///
/// `T` is the type of the values and of the result; it may be a structure ([`Data`]).
///
/// ```
/// use warpaint::{array::{GpuArray, ReductionKernel}, device::Device, kernel::Context};
///
/// let context = Context::new(Device::cpu()?)?;
/// // SAFETY: only the element `i` of each array is read.
/// let dot = unsafe {
///     ReductionKernel::<f32>::new("const float *x, const float *y", "0.0f", "a + b", "x[i] * y[i]")?
/// };
/// let x = GpuArray::from_slice(&context, &[1.0f32, 2.0, 3.0])?;
/// assert_eq!(dot.call(&[(&x).into(), (&x).into()])?.item()?, 14.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ReductionKernel<T> {
    name: String,
    parameters: Parameters,
    map: String,
    preamble: String,
    reduction: Reduction,
    of: PhantomData<T>,
}

texts! {
    ReductionKernel<T> {
        /// The name that errors use.
        ///
        /// ```
        /// # use warpaint::{array::{Error, GpuArray, ReductionKernel}, device::Device, kernel::Context};
        /// # let context = Context::new(Device::cpu()?)?;
        /// // SAFETY: only the element `i` is read.
        /// let sum = unsafe { ReductionKernel::<i32>::new("const int *x", "0", "a + b", "x[i]")? }.named("sum");
        /// assert!(matches!(sum.item(&[]), Err(Error::ArgumentCount { kernel, .. }) if kernel == "sum"));
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        named => name;
        /// Functions, types and includes before the kernel; what the expressions call.
        ///
        /// ```
        /// # use warpaint::{array::{GpuArray, ReductionKernel}, device::Device, kernel::Context};
        /// # let context = Context::new(Device::cpu()?)?;
        /// // SAFETY: only the element `i` is read.
        /// let gcd = unsafe { ReductionKernel::<i32>::new("const int *x", "0", "gcd(a, b)", "x[i]")? }
        ///     .preamble("__device__ int gcd(int a, int b) { return b == 0 ? a : gcd(b, a % b); }");
        /// let x = GpuArray::from_slice(&context, &[12, 18, 30])?;
        /// assert_eq!(gcd.item(&[(&x).into()])?, 6);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        preamble => preamble;
    }
}

impl<T: Data> ReductionKernel<T> {
    /// A reduction of `map` over the indices of the first array; `neutral` is the value of none.
    ///
    /// ```
    /// # use warpaint::{array::{GpuArray, ReductionKernel}, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// // SAFETY: only the element `i` of `x` is read.
    /// let farthest = unsafe {
    ///     ReductionKernel::<f32>::new("const float *x, float from", "0", "fmaxf(a, b)", "fabsf(x[i] - from)")?
    /// };
    /// let x = GpuArray::from_slice(&context, &[1.0f32, -4.0, 2.0])?;
    /// assert_eq!(farthest.item(&[(&x).into(), 1.5f32.into()])?, 5.5);
    /// let none = GpuArray::<f32>::zeros(&context, &[0])?;
    /// assert_eq!(farthest.item(&[(&none).into(), 1.5f32.into()])?, 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Safety
    /// As [`ElementwiseKernel::new`](crate::array::ElementwiseKernel::new).
    ///
    /// # Errors
    /// [`Error::Parameters`](crate::array::Error::Parameters). Mistakes in the expressions show at the first call.
    #[expect(unsafe_code, reason = "the caller answers for the expressions")]
    pub unsafe fn new(
        parameters: &str,
        neutral: &str,
        reduce: &str,
        map: impl Into<String>,
    ) -> Result<Self> {
        let reduction = Reduction {
            accumulator: T::DTYPE,
            of: T::DTYPE,
            identity: Identity::Code(user_code("neutral", neutral).into()),
            absorb: "combine(a, x)".into(),
            combine: user_code("reduce expression", reduce).into(),
            finish: "a".into(),
            ordered: true,
            needs_values: None,
        };
        Ok(Self {
            name: "reduction kernel".into(),
            parameters: Parameters::parse(parameters, &[])?,
            map: map.into(),
            preamble: String::new(),
            reduction,
            of: PhantomData,
        })
    }

    /// The result for these arguments, as an array without axes, on the stream of the first array.
    ///
    /// ```
    /// # use warpaint::{array::{GpuArray, ReductionKernel}, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// // SAFETY: only the element `i` of `x` is read.
    /// let sum = unsafe { ReductionKernel::<f64>::new("const float *x", "0.0", "a + b", "x[i]")? };
    /// let x = GpuArray::from_slice(&context, &[1.0f32, 2.0, 5.0])?;
    /// let total = sum.call(&[(&x).into()])?; // on the device, where the next kernel needs it
    /// let shares = (x.cast::<f64>() / &total).eval()?;
    /// assert_eq!(shares.to_vec()?, [0.125, 0.25, 0.625]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`ElementwiseKernel::call`](crate::array::ElementwiseKernel::call).
    pub fn call(&self, arguments: &[KernelArgument]) -> Result<GpuArray<T>> {
        let bound = self.parameters.bind(&self.name, arguments)?;
        let out = GpuArray::empty(bound.first()?.0, &[])?;
        self.run(bound, Results::from(&out.operand()))?;
        Ok(out)
    }

    /// The result for these arguments on the host, as [`Reduced::item`](crate::array::Reduced::item).
    ///
    /// ```
    /// # use warpaint::{array::{GpuArray, ReductionKernel}, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// // SAFETY: only the element `i` of each array is read.
    /// let same = unsafe {
    ///     ReductionKernel::<bool>::new("const int *x, const int *y", "true", "a && b", "x[i] == y[i]")?
    /// };
    /// let x = GpuArray::from_slice(&context, &[1, 2, 3])?;
    /// assert!(same.item(&[(&x).into(), (&x).into()])?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`ReductionKernel::call`]; of earlier work on the stream.
    pub fn item(&self, arguments: &[KernelArgument]) -> Result<T> {
        let bound = self.parameters.bind(&self.name, arguments)?;
        let (context, _) = bound.first()?;
        written(context, |address| self.run(bound, Results { dtype: T::DTYPE, address, count: 1 }))
    }

    /// The same as [`ReductionKernel::call`] into `out`, which may be an element of an array.
    ///
    /// ```
    /// # use warpaint::{array::{GpuArray, ReductionKernel}, device::Device, index, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// // SAFETY: only the element `i` of `x` is read.
    /// let sum = unsafe { ReductionKernel::<i32>::new("const int *x", "0", "a + b", "x[i]")? };
    /// let x = GpuArray::from_shape(&context, &[2, 3], &[1, 2, 3, 4, 5, 6])?;
    /// let sums = GpuArray::<i32>::zeros(&context, &[2])?;
    /// for row in 0..2 {
    ///     sum.call_into(&[(&x.slice(&index![row])?).into()], &mut sums.slice(&index![row])?)?;
    /// }
    /// assert_eq!(sums.to_vec()?, [6, 15]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`](crate::array::Error::Shape) unless `out` is one element; as [`ReductionKernel::call`].
    pub fn call_into(&self, arguments: &[KernelArgument], out: &mut GpuArray<T>) -> Result<()> {
        let bound = self.parameters.bind(&self.name, arguments)?;
        let (context, _) = bound.first()?;
        if out.len() != 1 {
            let (operation, found) = ("a reduction", out.shape().to_vec());
            return Err(crate::array::Error::Shape { operation, expected: vec![], found });
        }
        let out = out.operand();
        out.memory.during(context.stream(), || self.run(bound, Results::from(&out)))
    }

    fn run<'a>(&'a self, bound: Bound<'a>, out: Results) -> Result<()> {
        let ((context, n), reduction) = (bound.alike("a reduction")?, &self.reduction);
        let mut code = Code::custom(bound, &self.preamble, &self.map);
        Job { context, shape: &[n], kept: &[], reduced: &[0], reduction }.run(&mut code, out)
    }
}
