//! Arrays of values that follow a rule.

use smallvec::smallvec;

use super::{Data, Error, Expr, Float, GpuArray, Number, Real, Result};
use crate::kernel::Context;

impl<T: Data> GpuArray<T> {
    /// An array of the same shape with whatever the memory held. Its axes lie in memory in the order of this one's
    /// (numpy's order `K`), without gaps.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let turned = GpuArray::<f32>::zeros(&context, &[2, 3])?.transpose();
    /// assert_eq!(turned.empty_like()?.strides(), [1, 3]); // as `turned`
    /// assert_eq!(turned.copy()?.strides(), [2, 1]); // in C order
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`GpuArray::empty`].
    pub fn empty_like(&self) -> Result<Self> {
        let order = self.layout().order();
        let shape: Vec<usize> = order.iter().map(|&axis| self.shape()[axis]).collect();
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &axis)| places[axis] = place);
        Self::empty(self.context(), &shape)?.permute(&places)
    }

    /// An array of the same shape and order of axes with the same value everywhere.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let line = GpuArray::from_slice(&context, &[1, 2, 3])?;
    /// let table = line.broadcast_to(&[2, 3])?; // cannot be written
    /// let mut like = table.full_like(9)?; // can: it has elements of its own
    /// like.diagonal(0, 1)?.assign(&GpuArray::zeros(&context, &[2])?)?;
    /// assert_eq!(like.to_vec()?, [0, 9, 9, 9, 0, 9]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`GpuArray::empty`].
    pub fn full_like(&self, value: T) -> Result<Self> {
        let mut array = self.empty_like()?;
        array.fill(value)?;
        Ok(array)
    }
}

impl<T: Number> GpuArray<T> {
    /// An array of ones.
    ///
    /// ```
    /// # use warpaint::{array::{Complex, GpuArray}, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::<Complex<f32>>::ones(&context, &[2])?;
    /// assert_eq!(a.to_vec()?, [Complex::new(1.0, 0.0); 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`GpuArray::empty`].
    pub fn ones(context: &Context, shape: &[usize]) -> Result<Self> {
        Self::full(context, shape, T::ONE)
    }

    /// An array of zeros of the same shape and order of axes.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let x = GpuArray::from_slice(&context, &[1.0f32, -2.0])?;
    /// let mut sum = x.zeros_like()?;
    /// (0..3).try_for_each(|_| sum.add_assign(&x))?;
    /// assert_eq!(sum.to_vec()?, [3.0, -6.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`GpuArray::empty`].
    pub fn zeros_like(&self) -> Result<Self> {
        self.full_like(T::ZERO)
    }

    /// An array of ones of the same shape and order of axes.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let x = GpuArray::from_slice(&context, &[2.0f32, -3.0])?;
    /// let mut power = x.ones_like()?;
    /// (0..3).try_for_each(|_| power.mul_assign(&x))?;
    /// assert_eq!(power.to_vec()?, [8.0, -27.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`GpuArray::empty`].
    pub fn ones_like(&self) -> Result<Self> {
        self.full_like(T::ONE)
    }

    /// The unit matrix of `n` rows.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let ridge = (GpuArray::<f32>::eye(&context, 2)? * 0.5 + 1.0).eval()?;
    /// assert_eq!(ridge.to_vec()?, [1.5, 1.0, 1.0, 1.5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`GpuArray::empty`].
    pub fn eye(context: &Context, n: usize) -> Result<Self> {
        let matrix = Self::zeros(context, &[n, n])?;
        let line = matrix.reshape(&[n * n])?;
        line.slice(&crate::index![..; n + 1])?.assign(T::ONE)?;
        Ok(matrix)
    }
}

impl<T: Real> GpuArray<T> {
    /// `0, 1, ... n - 1`; floating-point types round what they cannot count exactly.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::<i32>::arange(&context, 6)?.reshape(&[2, 3])?;
    /// assert_eq!(a.to_string(), "[[0 1 2]\n [3 4 5]]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unrepresentable`] where the type is one of integers and has not so many; as [`GpuArray::empty`].
    pub fn arange(context: &Context, n: usize) -> Result<Self> {
        // Of floating-point types no number says how many there are.
        let before_the_greatest = T::steps(T::ZERO, T::GREATEST, T::ONE);
        if let Some(last) = n.checked_sub(1)
            && before_the_greatest.is_some_and(|greatest| last > greatest)
        {
            return Err(Error::Unrepresentable { of: T::DTYPE.name, last });
        }
        let mut array = Self::empty(context, &[n])?;
        Expr::<T>::linear_index().eval_into(&mut array)?;
        Ok(array)
    }

    /// `start, start + step, ...` up to before `stop` (`numpy.arange`): as many as `(stop - start) / step` in the type
    /// says, which is rounded, so that of fractions the last one can lie at `stop`, as in numpy. Each element is
    /// computed from its index, in `f64` for floating-point types, so that errors do not add up.
    ///
    /// ```
    /// use warpaint::{array::GpuArray, device::Device, kernel::Context};
    ///
    /// let context = Context::new(Device::cpu()?)?;
    /// assert_eq!(GpuArray::range(&context, 5, 0, -2)?.to_vec()?, [5, 3, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Range`] for a step of 0 and where infinities or NaN leave no number of elements; as
    /// [`GpuArray::empty`].
    pub fn range(context: &Context, start: T, stop: T, step: T) -> Result<Self> {
        let shown = || format!("{start:?} to {stop:?} by {step:?}");
        let n = T::steps(start, stop, step).ok_or_else(|| Error::Range { range: shown() })?;
        let mut array = Self::empty(context, &[n])?;
        // One number is the first, whatever the step: an infinite one would make NaN of it.
        let step = if n > 1 { step } else { T::ZERO };
        let arguments = smallvec![Expr::constant(start).node, Expr::constant(step).node];
        Expr::<T>::apply("warpaint::step<$T>(i, $0, $1)", arguments).eval_into(&mut array)?;
        Ok(array)
    }
}

impl<T: Float> GpuArray<T> {
    /// `n` numbers at equal distances from `start` to `stop`, which is the last one if `endpoint` (`numpy.linspace`).
    /// Computed in `f64`, each operation rounded, as numpy computes them, and both ends are exact. (Where their
    /// distance overflows, the numbers are infinite or NaN, as in numpy.)
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let closed = GpuArray::<f32>::linspace(&context, 0.0, 1.0, 5, true)?;
    /// assert_eq!(closed.to_vec()?, [0.0, 0.25, 0.5, 0.75, 1.0]);
    /// let open = GpuArray::<f32>::linspace(&context, 0.0, 1.0, 4, false)?; // such as one period's angles
    /// assert_eq!(open.to_vec()?, [0.0, 0.25, 0.5, 0.75]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`GpuArray::empty`].
    pub fn linspace(
        context: &Context,
        start: T,
        stop: T,
        n: usize,
        endpoint: bool,
    ) -> Result<Self> {
        let mut array = Self::empty(context, &[n])?;
        between(start, stop, n, endpoint).cast().eval_into(&mut array)?;
        Ok(array)
    }

    /// `n` numbers at equal ratios from `base` to the power of `start` to that of `stop`, which is the last one if
    /// `endpoint` (`numpy.logspace`).
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let octaves = GpuArray::<f32>::logspace(&context, -1.0, 2.0, 4, true, 2.0)?;
    /// assert_eq!(octaves.to_vec()?, [0.5, 1.0, 2.0, 4.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`GpuArray::empty`].
    pub fn logspace(
        context: &Context,
        start: T,
        stop: T,
        n: usize,
        endpoint: bool,
        base: T,
    ) -> Result<Self> {
        let mut array = Self::empty(context, &[n])?;
        let base = Expr::constant(base).cast::<f64>();
        base.pow(between(start, stop, n, endpoint)).cast().eval_into(&mut array)?;
        Ok(array)
    }
}

/// The `i`th of `n` numbers at equal distances.
fn between<T: Float>(start: T, stop: T, n: usize, endpoint: bool) -> Expr<f64> {
    let wide = |value: T| Expr::constant(value).cast::<f64>().node;
    let last = if endpoint { n.saturating_sub(1) } else { n };
    let arguments = smallvec![wide(start), wide(stop), Expr::constant(last as f64).node];
    Expr::apply("warpaint::between(i, $0, $1, $2)", arguments)
}
