//! Scans from expressions in C.

use std::marker::PhantomData;

use crate::array::{
    Data, Expr, GpuArray, Result,
    scan::{Scan, Segments},
    source::user_code,
};

/// Makes a kernel of sums, for examples.
macro_rules! sums {
    ($kind:literal, $arguments:literal) => {
        concat!(
            "# use warpaint::{array::{GpuArray, ",
            $kind,
            "}, device::Device, index, kernel::Context};\n",
            "# let context = Context::new(Device::cpu()?)?;\n",
            "// SAFETY: nothing is used but the values.\n",
            "let sums = unsafe { ",
            $kind,
            "::<i32>::new(",
            $arguments,
            ") };",
        )
    };
}

/// What both kinds have alike: for examples, a kernel of sums and its results for 1, 2, 3, 4.
macro_rules! scan_kernel {
    ($kind:ident, $sums:expr, {
        map: $map:literal,
        preamble: $preamble:literal,
        call: $call:literal,
        into: $into:literal,
        in_place: $in_place:literal,
        along: $along:literal,
        along_into: $along_into:literal,
        segmented: $segmented:literal,
    }) => {
        impl<T: Data> $kind<T> {
            /// An expression in CUDA C++ from an element `x` of whatever is scanned, and its place `i`, to the value
            /// of type `T` that takes part; `x` where none is given.
            ///
            /// ```
            #[doc = $sums]
            /// let sums = sums.map("x * x - (int)i");
            /// let a = GpuArray::from_slice(&context, &[1, 2, 3, 4])?;
            #[doc = concat!("assert_eq!(sums.call(&a)?.to_vec()?, ", $map, ");")]
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            #[must_use]
            pub fn map(mut self, map: impl AsRef<str>) -> Self {
                self.scan.map = user_code("map expression", map.as_ref()).into();
                self
            }

            /// Functions, types and includes before the kernel; what the expressions call.
            ///
            /// ```
            #[doc = $sums]
            /// let sums = sums.preamble("__device__ int odd(int x) { return x & 1; }").map("odd(x)");
            /// let a = GpuArray::from_slice(&context, &[1, 2, 3, 4])?;
            #[doc = concat!("assert_eq!(sums.call(&a)?.to_vec()?, ", $preamble, ");")]
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            #[must_use]
            pub fn preamble(mut self, text: impl Into<String>) -> Self {
                self.scan.preamble = text.into();
                self
            }

            /// The scan of an array or expression in C order, as an array of its shape.
            ///
            /// ```
            #[doc = $sums]
            /// let a = GpuArray::from_shape(&context, &[2, 2], &[1, 2, 3, 4])?;
            /// let scanned = sums.call(&a * 10)?;
            /// assert_eq!(scanned.shape(), [2, 2]);
            #[doc = concat!("assert_eq!(scanned.to_vec()?, ", $call, ");")]
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            ///
            /// # Errors
            /// As [`Expr::eval`]; mistakes in the expressions.
            pub fn call<I: Data>(&self, input: impl Into<Expr<I>>) -> Result<GpuArray<T>> {
                let input = input.into();
                let mut out = GpuArray::empty(input.context()?, &input.shape()?)?;
                self.call_into(input, &mut out)?;
                Ok(out)
            }

            /// The same into `out`, which has the input's shape, or one axis and as many elements. Where `out` shares
            /// memory with the input, the result is as if everything was read first.
            ///
            /// ```
            #[doc = $sums]
            /// let a = GpuArray::from_shape(&context, &[2, 2], &[1, 2, 3, 4])?;
            /// let out = GpuArray::<i32>::zeros(&context, &[8])?;
            /// sums.call_into(&a, &mut out.slice(&index![..;-2])?)?;
            #[doc = concat!("assert_eq!(out.to_vec()?, ", $into, ");")]
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            ///
            /// # Errors
            /// [`Error::Shape`](crate::array::Error::Shape),
            /// [`Error::NotWritable`](crate::array::Error::NotWritable); as for `call`.
            pub fn call_into<I: Data>(
                &self,
                input: impl Into<Expr<I>>,
                out: &mut GpuArray<T>,
            ) -> Result<()> {
                self.scan.run(&input.into().node, Segments::One, out.operand())
            }

            /// Scans `array` into itself.
            ///
            /// ```
            #[doc = $sums]
            /// let a = GpuArray::from_shape(&context, &[2, 2], &[1, 2, 3, 4])?;
            /// sums.call_in_place(&mut a.slice(&index![.., 1])?)?; // a column
            #[doc = concat!("assert_eq!(a.to_vec()?, ", $in_place, ");")]
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            ///
            /// # Errors
            /// As for `call_into`.
            pub fn call_in_place(&self, array: &mut GpuArray<T>) -> Result<()> {
                self.call_into(Expr::from(&*array), array)
            }

            /// The scan along `axis`, as an array of the input's shape; in the map expression `i` is the place along
            /// the axis.
            ///
            /// ```
            #[doc = $sums]
            /// let a = GpuArray::from_shape(&context, &[2, 2], &[1, 2, 3, 4])?;
            #[doc = concat!("assert_eq!(sums.call_along(&a, 0)?.to_vec()?, ", $along, ");")]
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            ///
            /// # Errors
            /// [`Error::Axes`](crate::array::Error::Axes); as for `call`.
            pub fn call_along<I: Data>(
                &self,
                input: impl Into<Expr<I>>,
                axis: usize,
            ) -> Result<GpuArray<T>> {
                let input = input.into();
                let mut out = GpuArray::empty(input.context()?, &input.shape()?)?;
                self.call_along_into(input, axis, &mut out)?;
                Ok(out)
            }

            /// The same into `out`.
            ///
            /// ```
            #[doc = $sums]
            /// let a = GpuArray::from_shape(&context, &[2, 2], &[1, 2, 3, 4])?;
            /// let out = GpuArray::<i32>::zeros(&context, &[2, 2])?;
            /// sums.call_along_into(&a, 0, &mut out.transpose())?;
            #[doc = concat!("assert_eq!(out.to_vec()?, ", $along_into, ");")]
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            ///
            /// # Errors
            /// As for `call_into` and `call_along`.
            pub fn call_along_into<I: Data>(
                &self,
                input: impl Into<Expr<I>>,
                axis: usize,
                out: &mut GpuArray<T>,
            ) -> Result<()> {
                self.scan.run(&input.into().node, Segments::Along(axis), out.operand())
            }

            /// The same as `call`, begun anew at each element for which `heads` is true (at the first in any case).
            ///
            /// ```
            #[doc = $sums]
            /// let a = GpuArray::from_slice(&context, &[1, 2, 3, 4])?;
            #[doc = concat!("assert_eq!(sums.call_segmented(&a, a.eq(3))?.to_vec()?, ", $segmented, ");")]
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            ///
            /// # Errors
            /// As for `call`; [`Error::Broadcast`](crate::array::Error::Broadcast) where the shapes do not fit
            /// together.
            pub fn call_segmented<I: Data>(
                &self,
                input: impl Into<Expr<I>>,
                heads: impl Into<Expr<bool>>,
            ) -> Result<GpuArray<T>> {
                let input = input.into();
                let mut out = GpuArray::empty(input.context()?, &input.shape()?)?;
                self.call_segmented_into(input, heads, &mut out)?;
                Ok(out)
            }

            /// The same into `out`.
            ///
            /// # Errors
            /// As for `call_into` and `call_segmented`.
            pub fn call_segmented_into<I: Data>(
                &self,
                input: impl Into<Expr<I>>,
                heads: impl Into<Expr<bool>>,
                out: &mut GpuArray<T>,
            ) -> Result<()> {
                let (input, heads) = (input.into(), heads.into());
                self.scan.run(&input.node, Segments::Heads(&heads.node), out.operand())
            }
        }
    };
}

/// A scan with an associative expression in CUDA C++ of two values `a` and `b`: element `i` of the result is that of
/// the elements up to `i` put together, in this order.
///
/// `T` is the type of the values and of the result. It may be a structure ([`Data`]), which needs a default constructor
/// in CUDA C++; one of hundreds of bytes may be too large for a kernel. The expression need not be commutative, and
/// nothing neutral is needed. What is put together with what first depends on the number of elements and the kind of
/// device alone, so the result has the same bits each time.
///
/// ```
/// use warpaint::{array::{GpuArray, InclusiveScanKernel}, device::Device, kernel::Context};
///
/// let context = Context::new(Device::cpu()?)?;
/// // SAFETY: the expression uses nothing but its operands.
/// let latest = unsafe { InclusiveScanKernel::<i32>::new("b != 0 ? b : a") };
/// let mut seen = GpuArray::from_slice(&context, &[3, 0, 0, 5, 0])?;
/// latest.call_in_place(&mut seen)?;
/// assert_eq!(seen.to_vec()?, [3, 3, 3, 5, 5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct InclusiveScanKernel<T> {
    scan: Scan,
    of: PhantomData<T>,
}

/// As [`InclusiveScanKernel`], but element `i` of the result is that of the elements before `i`; where none are, a
/// neutral value.
///
/// ```
/// use warpaint::{array::{ExclusiveScanKernel, GpuArray}, device::Device, kernel::Context};
///
/// let context = Context::new(Device::cpu()?)?;
/// // SAFETY: the expressions use nothing but their operands.
/// let offsets = unsafe { ExclusiveScanKernel::<u64>::new("a + b", "0") };
/// let lengths = GpuArray::from_slice(&context, &[3u8, 1, 4, 1])?;
/// assert_eq!(offsets.call(&lengths)?.to_vec()?, [0, 3, 4, 8]);
///
/// let heads = GpuArray::from_slice(&context, &[true, false, true, false])?;
/// assert_eq!(offsets.call_segmented(&lengths, &heads)?.to_vec()?, [0, 3, 0, 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ExclusiveScanKernel<T> {
    scan: Scan,
    of: PhantomData<T>,
}

impl<T: Data> InclusiveScanKernel<T> {
    /// A scan that puts values together by the expression `scan` of `a` and `b`.
    ///
    /// ```
    /// # use warpaint::{array::{GpuArray, InclusiveScanKernel}, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// // SAFETY: the expressions use nothing but their operands.
    /// let so_far = unsafe { InclusiveScanKernel::<bool>::new("a && b") }.map("x > 0");
    /// let a = GpuArray::from_slice(&context, &[3, 1, -4, 1])?;
    /// assert_eq!(so_far.call(&a)?.to_vec()?, [true, true, false, false]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Safety
    /// As [`ElementwiseKernel::new`](crate::array::ElementwiseKernel::new): the expressions must not touch memory but
    /// that of their operands.
    #[expect(unsafe_code, reason = "the caller answers for the expressions")]
    pub unsafe fn new(scan: &str) -> Self {
        Self { scan: custom::<T>(scan, None), of: PhantomData }
    }
}

impl<T: Data> ExclusiveScanKernel<T> {
    /// A scan that puts values together by the expression `scan` of `a` and `b`; `neutral` is an expression for the
    /// value of none.
    ///
    /// ```
    /// # use warpaint::{array::{ExclusiveScanKernel, GpuArray}, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// // SAFETY: the expressions use nothing but their operands.
    /// let record = unsafe { ExclusiveScanKernel::<i32>::new("max(a, b)", "-1") };
    /// let a = GpuArray::from_slice(&context, &[3, 1, 4, 1])?;
    /// assert_eq!(record.call(&a)?.to_vec()?, [-1, 3, 3, 4]); // to be beaten by each
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Safety
    /// As [`InclusiveScanKernel::new`].
    #[expect(unsafe_code, reason = "the caller answers for the expressions")]
    pub unsafe fn new(scan: &str, neutral: &str) -> Self {
        Self { scan: custom::<T>(scan, Some(neutral.to_owned())), of: PhantomData }
    }
}

scan_kernel!(InclusiveScanKernel, sums!("InclusiveScanKernel", "\"a + b\""), {
    map: "[1, 4, 11, 24]",
    preamble: "[1, 1, 2, 2]",
    call: "[10, 30, 60, 100]",
    into: "[0, 10, 0, 6, 0, 3, 0, 1]",
    in_place: "[1, 2, 3, 6]",
    along: "[1, 2, 4, 6]",
    along_into: "[1, 4, 2, 6]",
    segmented: "[1, 3, 3, 7]",
});
scan_kernel!(ExclusiveScanKernel, sums!("ExclusiveScanKernel", "\"a + b\", \"0\""), {
    map: "[0, 1, 4, 11]",
    preamble: "[0, 1, 1, 2]",
    call: "[0, 10, 30, 60]",
    into: "[0, 6, 0, 3, 0, 1, 0, 0]",
    in_place: "[1, 0, 3, 2]",
    along: "[0, 0, 1, 2]",
    along_into: "[0, 1, 0, 2]",
    segmented: "[0, 1, 0, 3]",
});

fn custom<T: Data>(scan: &str, neutral: Option<String>) -> Scan {
    Scan {
        accumulator: T::DTYPE,
        map: "static_cast<Value>(x)".into(),
        combine: user_code("scan expression", scan).into(),
        neutral,
        preamble: String::new(),
    }
}
