//! Reductions by name: sums, means, extremes, of all elements or along axes.

use std::marker::PhantomData;

use crate::{
    array::{
        Additive, Data, Error, Expr, GpuArray, Number, Promote, Real, Result,
        elementwise::{reads, through_another},
        example::{example, example_of_rows},
        layout::Axes,
        node::Operand,
        readback::written,
        reduction::{Job, Reduction, Results, split},
        source::Code,
    },
    kernel::Context,
};

/// An expression that is to be reduced, and along which axes: all, unless [`Reduce::along`] names them.
///
/// The reductions themselves have the names that [`Expr`] and [`GpuArray`] have them under; here they compute nothing
/// yet, so that axes may be kept and the result written to an array that is there.
///
/// ```
/// use warpaint::{array::GpuArray, device::Device, kernel::Context};
///
/// let context = Context::new(Device::cpu()?)?;
/// let a = GpuArray::from_shape(&context, &[2, 3], &[1.0f32, 2.0, 3.0, 5.0, 7.0, 9.0])?;
/// let mut means = GpuArray::zeros(&context, &[2, 1])?;
/// a.reduce().along(&[1]).keep_axes().mean().eval_into(&mut means)?;
/// assert_eq!(means.to_vec()?, [2.0, 7.0]);
/// assert_eq!((&a - &means).var(0)?.item()?, 10.0 / 6.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reduce<T> {
    value: Expr<T>,
    axes: Option<Vec<usize>>,
    keep_axes: bool,
}

/// A reduction of values of type `T` to values of type `O`, computed by [`Reduced::eval`] or [`Reduced::eval_into`].
///
/// ```
/// use warpaint::{array::{GpuArray, Reduced}, device::Device, kernel::Context};
///
/// let context = Context::new(Device::cpu()?)?;
/// let a = GpuArray::from_slice(&context, &[3u8, 200, 7])?;
/// let mean: Reduced<u8, f64> = a.reduce().mean();
/// assert_eq!(mean.item()?, 70.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reduced<T, O> {
    of: Reduce<T>,
    reduction: Reduction,
    to: PhantomData<O>,
}

impl<T: Data> Reduce<T> {
    /// Along these axes alone, which go. Their order does not matter.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 3], &[1, 8, 3, 4, 5, 6])?;
    /// assert_eq!(a.reduce().along(&[0]).max().eval()?.to_vec()?, [4, 8, 6]);
    /// assert_eq!(a.reduce().along(&[1, 0]).max().item()?, 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn along(self, axes: &[usize]) -> Self {
        Self { axes: Some(axes.to_vec()), ..self }
    }

    /// The axes stay, with length 1 (numpy's `keepdims`), so that the result can be broadcast against what was reduced.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 3], &[1, 8, 3, 4, 5, 6])?;
    /// let greatest = a.reduce().along(&[1]).keep_axes().max().eval()?;
    /// assert_eq!((greatest - &a).eval()?.to_vec()?, [7, 0, 5, 2, 1, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn keep_axes(self) -> Self {
        Self { keep_axes: true, ..self }
    }

    fn map<U>(self, value: impl FnOnce(&Expr<T>) -> Expr<U>) -> Reduce<U> {
        Reduce { value: value(&self.value), axes: self.axes, keep_axes: self.keep_axes }
    }

    pub(super) fn by<O>(self, reduction: Reduction) -> Reduced<T, O> {
        Reduced { of: self, reduction, to: PhantomData }
    }
}

impl<T: Data, O: Data> Reduced<T, O> {
    /// The shape of the result.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 3], &[1, 8, 3, 4, 5, 6])?;
    /// assert_eq!(a.reduce().along(&[0]).sum().shape()?, [3]);
    /// assert_eq!(a.reduce().along(&[0]).keep_axes().sum().shape()?, [1, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Broadcast`], [`Error::Axes`].
    pub fn shape(&self) -> Result<Vec<usize>> {
        Ok(self.shape_of(&self.of.value.shape()?)?.into_vec())
    }

    /// The shape of the result for values of this shape.
    pub(super) fn shape_of(&self, shape: &[usize]) -> Result<Axes<usize>> {
        let (kept, reduced) = split(shape.len(), self.of.axes.as_deref())?;
        if self.of.keep_axes {
            let mut shape = Axes::from(shape);
            reduced.iter().for_each(|&axis| shape[axis] = 1);
            return Ok(shape);
        }
        Ok(kept.into_iter().map(|axis| shape[axis]).collect())
    }

    pub(super) fn code(&self) -> Result<Code<'_>> {
        Code::new(&self.of.value.node)
    }

    /// Computes it into a new array, on the stream of the expression's first array.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 3], &[1, 8, 3, 4, 5, 6])?;
    /// let sums = a.reduce().along(&[0]).sum().eval()?;
    /// assert_eq!(sums.to_vec()?, [5, 13, 9]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Axes`] for axes that are not there or not each once,
    /// [`Error::Empty`] where no values have no result; as [`Expr::eval`].
    pub fn eval(&self) -> Result<GpuArray<O>> {
        let mut code = self.code()?;
        let shape = code.shape()?;
        let out = GpuArray::empty(code.context()?, &self.shape_of(&shape)?)?;
        self.compute(&mut code, &shape, &out.operand())?;
        Ok(out)
    }

    /// The results, in C order.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 2], &[1, 2, 3, 4])?;
    /// assert_eq!(a.reduce().along(&[1]).sum().to_vec()?, [3, 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Reduced::eval`], and the device's for what has gone wrong before.
    pub fn to_vec(&self) -> Result<Vec<O>> {
        self.eval()?.to_vec()
    }

    /// The only result, on the host. Waits for the work before it.
    ///
    /// The fastest way there: kernels write it to memory of the host's, so nothing is copied, and one launch does for
    /// some thousand values.
    ///
    /// ```
    /// use warpaint::{array::GpuArray, device::Device, kernel::Context};
    ///
    /// let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[1.0f32, 2.0, 4.5])?;
    /// assert_eq!(a.reduce().sum().item()?, 7.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] unless there is exactly one result; as [`Reduced::eval`].
    pub fn item(&self) -> Result<O> {
        let mut code = self.code()?;
        let (context, shape) = (code.context()?, code.shape()?);
        let found = self.shape_of(&shape)?;
        if found.iter().any(|&length| length != 1) {
            let found = found.into_vec();
            return Err(Error::Shape { operation: "item", expected: vec![], found });
        }
        written(context, |address| {
            let out = Results { dtype: O::DTYPE, address, count: 1 };
            self.run(&mut code, &shape, context, out)
        })
    }

    /// Computes it into `out`, on the stream of `out`, which may have any layout and share memory with what is reduced.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `out` has the shape of the result,
    /// [`Error::NotWritable`] for a broadcast view; as [`Reduced::eval`].
    pub fn eval_into(&self, out: &mut GpuArray<O>) -> Result<()> {
        let mut code = self.code()?;
        let shape = code.shape()?;
        let expected = self.shape_of(&shape)?;
        if *out.shape() != expected[..] {
            let (expected, found) = (expected.into_vec(), out.shape().to_vec());
            return Err(Error::Shape { operation: "a reduction", expected, found });
        }
        let out = out.operand();
        if !out.layout.is_injective() {
            return Err(Error::NotWritable { shape: expected.into_vec() });
        }
        if reads(&code, &out) || !out.layout.is_contiguous() {
            return through_another(&out, |between| self.compute(&mut code, &shape, &between));
        }
        self.compute(&mut code, &shape, &out)
    }

    /// Computes it into `out`, which is contiguous; `shape` is that of `code`.
    pub(super) fn compute(
        &self,
        code: &mut Code<'_>,
        shape: &[usize],
        out: &Operand,
    ) -> Result<()> {
        code.write_on(&out.context, out)?;
        self.run(code, shape, &out.context, out.into())
    }

    fn run(
        &self,
        code: &mut Code<'_>,
        shape: &[usize],
        context: &Context,
        out: Results,
    ) -> Result<()> {
        let (kept, reduced) = split(shape.len(), self.of.axes.as_deref())?;
        let reduction = &self.reduction;
        Job { context, shape, kept: &kept, reduced: &reduced, reduction }.run(code, out)
    }
}

/// Each reduction by its name: of all elements, along axes, and through [`Reduce`]. Behind the types of each stands its
/// example: four values in two rows, what becomes of them all with these arguments, and what of each row.
macro_rules! reductions {
    (@methods $of:ident, $bound:path {$(
        $(#[$doc:meta])* $name:ident, $along:ident($($argument:ident: $type:ty),*) => $to:ty
            [$($values:tt)*] [$($with:expr)?] => $all:expr, [$($rows:tt)*];
    )*}) => {
        impl<T: $bound> $of<T> {$(
            $(#[$doc])*
            ///
            #[doc = example_of_rows!(
                $of, [$($values)*], stringify!($name), ($(stringify!($with))?), "?.item()?" => $all
            )]
            ///
            /// # Errors
            /// As [`Reduced::eval`].
            pub fn $name(&self $(, $argument: $type)*) -> Result<GpuArray<$to>> {
                self.reduce().$name($($argument),*).eval()
            }

            #[doc = concat!("As [`Expr::", stringify!($name), "`], along `axes`, which go.")]
            ///
            #[doc = example_of_rows!(
                $of, [$($values)*], stringify!($along), ("&[1]" $(, stringify!($with))?), "?.to_vec()?" => [$($rows)*]
            )]
            ///
            /// # Errors
            /// As [`Reduced::eval`].
            pub fn $along(&self, axes: &[usize] $(, $argument: $type)*) -> Result<GpuArray<$to>> {
                self.reduce().along(axes).$name($($argument),*).eval()
            }
        )*}
    };
    ($($bound:path {$(
        $(#[$doc:meta])* $name:ident, $along:ident($($argument:ident: $type:ty),*) -> $from:ty => $to:ty
            [$($values:tt)*] $(with ($with:expr))? => $all:expr, [$($rows:tt)*]
            = |$of:ident| $reduction:expr;
    )*})*) => {$(
        impl<T: $bound> Reduce<T> {$(
            #[doc = concat!("As [`Expr::", stringify!($name), "`].")]
            ///
            #[doc = example_of_rows!(
                GpuArray, [$($values)*], concat!("reduce().along(&[1]).", stringify!($name)), ($(stringify!($with))?),
                ".eval()?.to_vec()?" => [$($rows)*]
            )]
            pub fn $name(self $(, $argument: $type)*) -> Reduced<$from, $to> {
                let $of = self;
                $reduction
            }
        )*}

        reductions! { @methods Expr, $bound {$(
            $(#[$doc])* $name, $along($($argument: $type),*) => $to
                [$($values)*] [$($with)?] => $all, [$($rows)*];
        )*}}
        reductions! { @methods GpuArray, $bound {$(
            #[doc = concat!("As [`Expr::", stringify!($name), "`].")] $name, $along($($argument: $type),*) => $to
                [$($values)*] [$($with)?] => $all, [$($rows)*];
        )*}}
    )*};
}

reductions! {
    Additive {
        /// The sum of all elements, as an array without axes; 0 of none.
        ///
        /// Integers wrap around. Floating-point numbers are collected in the next wider type and rounded in the end, in
        /// an order that depends on shape, layout and device alone. The error is at most half a unit in the last place
        /// of the result and `n u s`: of `n` numbers whose absolute values have the sum `s`, where `u` is the unit
        /// roundoff of the wider type (2^-24 for half precision, 2^-53 for `f32`). `f64` is collected with its rounding
        /// errors, which leaves `(n u)^2 s` with `u` = 2^-53. Vectors are added component by component.
        sum, sum_along() -> T => T
            [1, 2, 3, 4] => 10, [3, 7]
            = |of| of.by(Reduction::new(T::SUM, "Accumulator(0)", "a + static_cast<Accumulator>(x)", "a + b"));
    }
    Number {
        /// The product of all elements, as an array without axes; 1 of none. Collected as sums are.
        prod, prod_along() -> T => T
            [1, 2, 3, 4] => 24, [2, 12]
            = |of| of.by(Reduction::new(T::SUM, "Accumulator(1)", "a * static_cast<Accumulator>(x)", "a * b"));
        /// The mean of all elements, as an array without axes, `f64` for integers; NaN of none. Collected as sums are,
        /// those of integers in `f64` with its rounding errors.
        mean, mean_along() -> T => T::Mean
            [1i32, 2, 3, 4] => 2.5, [1.5, 3.5]
            = |of| of.by(Reduction {
            of: T::Mean::DTYPE,
            absorb: format!(
                "a + static_cast<Accumulator>(warpaint::convert<{}>(x))",
                T::Mean::DTYPE.name
            ).into(),
            finish: "warpaint::convert<Result>(warpaint::divided(a, n))".into(),
            ..Reduction::new(T::Mean::SUM, "Accumulator(0)", "", "a + b")
        });
        /// The variance of all elements, as an array without axes: the squares of their deviations from their mean,
        /// summed up and divided by `ddof` less than there are (0 for numpy's default, 1 for a sample). NaN where that
        /// is 0 of 0. Of complex numbers the squares of the deviations' absolute values.
        ///
        /// Computed in one pass in `f64`, for all types, from deviations: large means do not harm. (Chan, Golub and
        /// LeVeque, "Algorithms for computing the sample variance", 1983.)
        var, var_along(ddof: usize) -> T => <T::Mean as Number>::Real
            [1.0f64, 3.0, 5.0, 7.0] with (0) => 5.0, [1.0, 1.0]
            = |of| of.by(Reduction::moments::<T>(ddof, ""));
        /// The standard deviation: the root of [`Expr::var`].
        std, std_along(ddof: usize) -> T => <T::Mean as Number>::Real
            [1.0f64, 5.0, 1.0, 5.0] with (0) => 2.0, [2.0, 2.0]
            = |of| of.by(Reduction::moments::<T>(ddof, "::sqrt"));
        /// The inner product with `other`, broadcast together: the sum of products, which are exact before they are
        /// collected as [`Expr::sum`] does it. (`numpy.dot` of two arrays with one axis.)
        dot, dot_along(other: impl Into<Expr<T>>) -> T => T
            [1, 2, 3, 4] with (&a) => 30, [5, 25]
            = |of| {
            let other = other.into().node;
            let product = "static_cast<$T>($0) * static_cast<$T>($1)";
            of.map(|value| value.binary_as(T::SUM, product, other))
                .by(Reduction::new(T::SUM, "Accumulator(0)", "a + x", "a + b"))
        };
        /// As [`Expr::dot`] of its complex conjugate (`numpy.vdot`).
        vdot, vdot_along(other: impl Into<Expr<T>>) -> T => T
            [Complex::I, Complex::from(1.0), Complex::I, Complex::from(2.0)] with (&a)
            => Complex::from(7.0), [Complex::from(2.0), Complex::from(5.0)]
            = |of| of.map(Expr::conj).dot(other);
        /// The Euclidean norm: the root of the sum of the squares of absolute values, collected as sums are
        /// (`numpy.linalg.norm`). Squares of `f64` beyond its range are infinite or 0.
        norm, norm_along() -> T => <T::Mean as Number>::Real
            [3.0f64, 4.0, 0.0, 12.0] => 13.0, [5.0, 12.0]
            = |of| of.by(Reduction {
            of: <<T::Mean as Number>::Real as Data>::DTYPE,
            finish: "warpaint::convert<Result>(::sqrt(static_cast<double>(a)))".into(),
            ..Reduction::new(
                <<T::Mean as Number>::Real as Additive>::SUM,
                "Accumulator(0)",
                "a + warpaint::squared<Accumulator>(x)",
                "a + b",
            )
        });
        /// How many are NaN, or have a part that is.
        count_nan, count_nan_along() -> u64 => u64
            [1.0, f32::NAN, 3.0, 4.0] => 1, [1, 0]
            = |of| of.map(|value| value.is_nan().cast()).sum();
        /// How many are infinite, or have a part that is.
        count_inf, count_inf_along() -> u64 => u64
            [1.0, f32::INFINITY, 3.0, f32::NEG_INFINITY] => 2, [1, 1]
            = |of| of.map(|value| value.is_inf().cast()).sum();
    }
    Promote<bool> {
        /// Whether one is not 0; `false` of none. NaN is not 0.
        any, any_along() -> bool => bool
            [0, 1, 0, 0] => true, [true, false]
            = |of| of.map(Expr::cast).by(Reduction::new(bool::DTYPE, "Accumulator(false)", "a || x", "a || b"));
        /// Whether none is 0; `true` of none.
        all, all_along() -> bool => bool
            [1, 1, 0, 1] => false, [true, false]
            = |of| of.map(Expr::cast).by(Reduction::new(bool::DTYPE, "Accumulator(true)", "a && x", "a && b"));
        /// How many are not 0.
        count_nonzero, count_nonzero_along() -> u64 => u64
            [0, 1, 2, 3] => 3, [1, 2]
            = |of| of.map(|value| value.cast::<bool>().cast()).sum();
    }
    Real {
        /// The greatest element, as an array without axes; NaN where one is NaN.
        /// [`Error::Empty`] for no elements.
        max, max_along() -> T => T
            [1, 8, 3, 4] => 8, [8, 4]
            = |of| of.by(Reduction::of_values::<T, T>(
            "max", T::DTYPE, &[T::LEAST], "warpaint::maximum(a, x)", "warpaint::maximum(a, b)"
        ));
        /// The least element, as an array without axes; NaN where one is NaN.
        /// [`Error::Empty`] for no elements.
        min, min_along() -> T => T
            [1, 8, 3, 4] => 1, [1, 3]
            = |of| of.by(Reduction::of_values::<T, T>(
            "min", T::DTYPE, &[T::GREATEST], "warpaint::minimum(a, x)", "warpaint::minimum(a, b)"
        ));
        /// The place of the greatest element, counted in C order over the axes that go; the first of several, and of a
        /// NaN where there is one. [`Error::Empty`] for no elements.
        argmax, argmax_along() -> T => i64
            [1, 8, 9, 4] => 2, [1, 0]
            = |of| of.by(Reduction::placed("argmax", T::LEAST, "warpaint::first_maximum(a, b)"));
        /// The place of the least element, counted in C order over the axes that go; the first of several, and of a
        /// NaN where there is one. [`Error::Empty`] for no elements.
        argmin, argmin_along() -> T => i64
            [1, 8, 9, 4] => 0, [0, 1]
            = |of| of.by(Reduction::placed("argmin", T::GREATEST, "warpaint::first_minimum(a, b)"));
    }
}

impl<T: Data> Expr<T> {
    /// It, to be reduced: see [`Reduce`].
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 2], &[1.0f32, 2.0, 3.0, 4.0])?;
    /// let mut means = GpuArray::zeros(&context, &[2])?;
    /// (&a * &a).reduce().along(&[0]).mean().eval_into(&mut means)?;
    /// assert_eq!(means.to_vec()?, [5.0, 10.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reduce(&self) -> Reduce<T> {
        Reduce { value: self.clone(), axes: None, keep_axes: false }
    }
}

impl<T: Data> GpuArray<T> {
    /// It, to be reduced: see [`Reduce`].
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 2], &[1.0f32, 2.0, 3.0, 4.0])?;
    /// let mut means = GpuArray::zeros(&context, &[2])?;
    /// a.reduce().along(&[0]).mean().eval_into(&mut means)?;
    /// assert_eq!(means.to_vec()?, [2.0, 3.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reduce(&self) -> Reduce<T> {
        Expr::from(self).reduce()
    }
}
