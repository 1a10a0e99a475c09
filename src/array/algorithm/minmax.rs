//! The smallest and the largest value at once.

use super::reduce::{Reduce, Reduced};
use crate::{
    array::{
        Expr, GpuArray, Layout, Real, Result, node::Operand, placed::Instance, reduction::Reduction,
    },
    index,
};

impl<T: Real> Reduce<T> {
    fn minmax(self) -> Result<(GpuArray<T>, GpuArray<T>)> {
        let (pair, none) = (Instance::<T>::RANGE, [T::GREATEST, T::LEAST]);
        let (absorb, combine) = ("warpaint::both(a, Accumulator{x, x})", "warpaint::both(a, b)");
        let both: Reduced<T, T> =
            self.by(Reduction::of_values::<T, T>("minmax", pair, &none, absorb, combine));
        let mut code = both.code()?;
        let shape = code.shape()?;
        let pairs = both.shape_of(&shape)?;
        let out = GpuArray::empty(code.context()?, &[&pairs[..], &[2]].concat())?;
        let pairs = Layout::contiguous(&pairs)?.into();
        both.compute(&mut code, &shape, &Operand { dtype: pair, layout: pairs, ..out.operand() })?;
        Ok((out.slice(&index![..., 0])?, out.slice(&index![..., 1])?))
    }
}

impl<T: Real> Expr<T> {
    /// The least and the greatest element in one pass, as [`Expr::min`] and [`Expr::max`] have them.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 3], &[1, 8, 3, 4, 5, 6])?;
    /// let (least, greatest) = (&a - 4).minmax()?;
    /// assert_eq!((least.item()?, greatest.item()?), (-3, 4));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::min`].
    pub fn minmax(&self) -> Result<(GpuArray<T>, GpuArray<T>)> {
        self.reduce().minmax()
    }

    /// As [`Expr::minmax`], along `axes`, which go.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 3], &[1, 8, 3, 4, 5, 6])?;
    /// let (least, greatest) = (&a - 4).minmax_along(&[0])?;
    /// assert_eq!(least.to_vec()?, [-3, 1, -1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::min`].
    pub fn minmax_along(&self, axes: &[usize]) -> Result<(GpuArray<T>, GpuArray<T>)> {
        self.reduce().along(axes).minmax()
    }
}

impl<T: Real> GpuArray<T> {
    /// As [`Expr::minmax`].
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 3], &[1, 8, 3, 4, 5, 6])?;
    /// let (least, greatest) = a.minmax()?;
    /// assert_eq!((least.item()?, greatest.item()?), (1, 8));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::min`].
    pub fn minmax(&self) -> Result<(Self, Self)> {
        self.reduce().minmax()
    }

    /// As [`Expr::minmax`], along `axes`, which go.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 3], &[1, 8, 3, 4, 5, 6])?;
    /// let (least, greatest) = a.minmax_along(&[0])?;
    /// assert_eq!(greatest.to_vec()?, [4, 8, 6]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::min`].
    pub fn minmax_along(&self, axes: &[usize]) -> Result<(Self, Self)> {
        self.reduce().along(axes).minmax()
    }
}
