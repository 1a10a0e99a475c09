//! Arrays that are overwritten, and what is copied for that.

use crate::array::{Data, Error, Expr, GpuArray, Result};
use crate::kernel::Context;

impl<T: Data> GpuArray<T> {
    /// An array with the same value everywhere.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::full(&context, &[2, 3], -1i8)?;
    /// assert_eq!(a.sum()?.item()?, -6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`GpuArray::empty`].
    pub fn full(context: &Context, shape: &[usize], value: T) -> Result<Self> {
        let mut array = Self::empty(context, shape)?;
        array.fill(value)?;
        Ok(array)
    }

    /// A copy with memory of its own, in C order.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[1, 2, 3])?;
    /// let (mut view, copy) = (a.clone(), a.copy()?);
    /// view.fill(0)?;
    /// assert_eq!((a.to_vec()?, copy.to_vec()?), (vec![0, 0, 0], vec![1, 2, 3]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`GpuArray::empty`].
    pub fn copy(&self) -> Result<Self> {
        let mut copy = Self::empty(self.context(), self.shape())?;
        copy.assign(self)?;
        Ok(copy)
    }

    /// The array itself where its elements lie one behind the other, else a copy in which they do.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 3], &[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(a.to_contiguous()?.address(), a.address());
    /// let turned = a.transpose();
    /// assert_eq!((turned.strides(), turned.to_contiguous()?.strides()), (&[1, 3][..], &[2, 1][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`GpuArray::copy`].
    pub fn to_contiguous(&self) -> Result<Self> {
        if self.layout.is_contiguous() {
            self.memory.use_on(self.context().stream())?;
            Ok(self.clone())
        } else {
            self.copy()
        }
    }

    /// Writes `value` to each element.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, index, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[1, 2, 3, 4, 5])?;
    /// a.slice(&index![1..;2])?.fill(0)?;
    /// assert_eq!(a.to_vec()?, [1, 0, 3, 0, 5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotWritable`], the device's.
    pub fn fill(&mut self, value: T) -> Result<()> {
        self.assign(Expr::constant(value))
    }

    /// Overwrites it with an array, an expression or a value, broadcast to its shape.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, index, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let mut a = GpuArray::from_slice(&context, &[1, 2, 3, 4])?;
    /// // Both sides share memory; all is read before anything is written.
    /// a.slice(&index![1..])?.assign(a.slice(&index![..-1])?)?;
    /// assert_eq!(a.to_vec()?, [1, 1, 2, 3]);
    /// let (x, y) = (a.clone(), a.reverse());
    /// a.assign(x * 10 + y)?;
    /// assert_eq!(a.to_vec()?, [13, 12, 21, 31]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::eval_into`].
    pub fn assign(&mut self, value: impl Into<Expr<T>>) -> Result<()> {
        value.into().eval_into(self)
    }

    /// Its elements in C order with other axes: a view where its strides allow that, else a copy.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 3], &[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(a.reshape(&[3, 2])?.address(), a.address());
    /// let columns = a.transpose().reshape(&[6])?; // no stride steps through these: a copy
    /// assert_eq!(columns.to_vec()?, [1, 4, 2, 5, 3, 6]);
    /// assert_ne!(columns.address(), a.address());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Reshape`], and as [`GpuArray::copy`].
    pub fn reshape(&self, shape: &[usize]) -> Result<Self> {
        match self.layout.reshape(shape)? {
            Some(layout) => Ok(self.with_layout(layout)),
            None => self.copy()?.reshape(shape),
        }
    }

    /// As [`GpuArray::reshape`] to a shape of which one length is left to follow from the others: numpy's `-1`.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let samples = GpuArray::<f32>::arange(&context, 12)?;
    /// assert_eq!(samples.reshape_infer(&[None, Some(3)])?.shape(), [4, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ReshapeInfer`] where no length fits, or more than one would, or more than one is unknown; as
    /// [`GpuArray::reshape`].
    pub fn reshape_infer(&self, shape: &[Option<usize>]) -> Result<Self> {
        let none_fits = || Error::ReshapeInfer { from: self.shape().to_vec(), to: shape.to_vec() };
        let unknown = shape.iter().filter(|length| length.is_none()).count();
        let known =
            shape.iter().flatten().try_fold(1, |all: usize, &length| all.checked_mul(length));
        let rest = match (unknown, known) {
            (0, _) => 0,
            (1, Some(known @ 1..)) if self.len().is_multiple_of(known) => self.len() / known,
            _ => return Err(none_fits()),
        };
        let lengths: Vec<usize> = shape.iter().map(|length| length.unwrap_or(rest)).collect();
        self.reshape(&lengths)
    }

    /// Each element converted to another type, as [`Expr::cast`] says.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[2.9f32, -2.9, 0.0])?;
    /// assert_eq!(a.cast::<i32>().eval()?.to_vec()?, [2, -2, 0]);
    /// assert_eq!(a.cast::<bool>().eval()?.to_vec()?, [true, true, false]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cast<U: Data>(&self) -> Expr<U> {
        Expr::from(self).cast()
    }
}
