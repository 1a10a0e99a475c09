//! To and from the arrays of the crate `ndarray`.

use ndarray::{ArrayBase, ArrayD, Data as Storage, Dimension, IxDyn};

use crate::array::{Data, GpuArray, Result};
use crate::kernel::Context;

impl<T: Data> GpuArray<T> {
    /// A copy of an array or view of any layout. Where its elements lie without gaps, their order in memory is kept,
    /// such as Fortran's.
    ///
    /// ```
    /// use ndarray::array;
    /// use warpaint::{array::GpuArray, device::Device, kernel::Context};
    ///
    /// let context = Context::new(Device::cpu()?)?;
    /// let matrix = array![[1.0, 2.0], [3.0, 4.0]];
    /// let turned = GpuArray::from_ndarray(&context, &matrix.t())?;
    /// assert_eq!((&turned * 2.0).eval()?.to_ndarray()?, (&matrix.t() * 2.0).into_dyn());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`GpuArray::empty`].
    pub fn from_ndarray<S, D>(context: &Context, array: &ArrayBase<S, D>) -> Result<Self>
    where
        S: Storage<Elem = T>,
        D: Dimension,
    {
        let mut order: Vec<usize> = (0..array.ndim()).collect();
        order.sort_by_key(|&axis| std::cmp::Reverse(array.strides()[axis]));
        let in_order = array.view().into_dyn().permuted_axes(IxDyn(&order));
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &axis)| places[axis] = place);
        match in_order.as_slice() {
            Some(values) => Self::from_shape(context, in_order.shape(), values)?.permute(&places),
            None => {
                let values: Vec<T> = array.iter().copied().collect();
                Self::from_shape(context, array.shape(), &values)
            }
        }
    }

    /// Its elements as an array of the host, in C order. Waits for the work before it.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 3], &[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(a.transpose().to_ndarray()?, ndarray::array![[1, 4], [2, 5], [3, 6]].into_dyn());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`GpuArray::to_vec`].
    pub fn to_ndarray(&self) -> Result<ArrayD<T>> {
        let shape = || crate::array::Error::TooLarge { shape: self.shape().to_vec() };
        ArrayD::from_shape_vec(self.shape(), self.to_vec()?).map_err(|_| shape())
    }
}
