//! The elements of arrays as the host has them.

use crate::array::{Data, Error, GpuArray, Readback, Result, readback};
use crate::kernel::Context;

impl<T: Data> GpuArray<T> {
    /// A copy of `values`, with one axis.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[0.5f32, 1.5])?;
    /// assert_eq!(a.shape(), [2]);
    /// assert_eq!(a.sum()?.item()?, 2.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`GpuArray::empty`].
    pub fn from_slice(context: &Context, values: &[T]) -> Result<Self> {
        Self::from_shape(context, &[values.len()], values)
    }

    /// A copy of `values`, in C order.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, index, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 3], &[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(a.slice(&index![1, 0])?.item()?, 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Reshape`] unless there are as many as the shape has; as [`GpuArray::empty`].
    pub fn from_shape(context: &Context, shape: &[usize], values: &[T]) -> Result<Self> {
        let mut array = Self::empty(context, shape)?;
        array.set(values)?;
        Ok(array)
    }

    /// Overwrites it with `values`, in C order, and returns at once: the values are no longer needed.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, index, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::<i32>::zeros(&context, &[2, 3])?;
    /// a.slice(&index![.., 1])?.set(&[5, 6])?;
    /// assert_eq!(a.to_vec()?, [0, 5, 0, 0, 6, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Reshape`] unless there are as many; the device's.
    pub fn set(&mut self, values: &[T]) -> Result<()> {
        if values.len() != self.len() {
            return Err(Error::Reshape { from: vec![values.len()], to: self.shape().to_vec() });
        }
        let Some(bytes) = self.bytes() else {
            let dense = Self::from_shape(self.context(), self.shape(), values)?;
            return self.assign(&dense);
        };
        let (memory, stream) = (&self.memory, self.context().stream());
        memory.during(stream, || {
            Ok(stream.upload(memory.slice(bytes)?, bytemuck::cast_slice(values))?)
        })
    }

    /// Its elements in C order. Waits for the work before it.
    ///
    /// Large arrays come in pieces, between which work may come that another thread puts on the stream;
    /// [`GpuArray::download`] takes all of them at one moment.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, index, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 3], &[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(a.slice(&index![..;-1, 1..])?.to_vec()?, [5, 6, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Of earlier work on the stream; [`Error::InvalidBits`].
    pub fn to_vec(&self) -> Result<Vec<T>> {
        // First, for there is not always memory for what a view shows.
        let dense = self.to_contiguous()?;
        let mut values = Vec::with_capacity(dense.len());
        dense.read(|some| values.extend_from_slice(some))?;
        Ok(values)
    }

    /// Copies its elements, in C order, to memory that is there: a large array is read several times as fast as by
    /// [`GpuArray::to_vec`], whose memory is new. Waits for the work before it, as that does.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let mut x = GpuArray::from_slice(&context, &[1.0f32, 2.0])?;
    /// let mut row = [0.0; 2];
    /// let mut total = 0.0;
    /// for _ in 0..3 {
    ///     x.mul_assign(10.0)?;
    ///     x.copy_to_slice(&mut row)?;
    ///     total += row[1];
    /// }
    /// assert_eq!(total, 2220.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Reshape`] unless there are as many; as [`GpuArray::to_vec`].
    pub fn copy_to_slice(&self, values: &mut [T]) -> Result<()> {
        if values.len() != self.len() {
            return Err(Error::Reshape { from: self.shape().to_vec(), to: vec![values.len()] });
        }
        let mut rest = values;
        self.read(|some| {
            let (next, after) = std::mem::take(&mut rest).split_at_mut(some.len());
            next.copy_from_slice(some);
            rest = after;
        })
    }

    /// Gives `take_in` its elements in C order, some at a time.
    fn read(&self, take_in: impl FnMut(&[T])) -> Result<()> {
        let dense = self.to_contiguous()?;
        let (memory, stream) = (&dense.memory, dense.context().stream());
        let bytes = dense.bytes().unwrap_or(0..0);
        memory.during(stream, || readback::read(memory, bytes, stream, take_in))
    }

    /// Starts to copy its elements to the host, in C order, and returns at once. (So does [`GpuArray::set`].)
    ///
    /// ```
    /// use warpaint::{array::GpuArray, device::Device, kernel::Context};
    ///
    /// let context = Context::new(Device::cpu()?)?;
    /// let mut a = GpuArray::from_slice(&context, &[1, 2, 3])?;
    /// let before = a.download()?;
    /// a.mul_assign(2)?;
    /// assert_eq!(before.wait()?, [1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`GpuArray::copy`].
    pub fn download(&self) -> Result<Readback<T>> {
        let dense = self.to_contiguous()?;
        let bytes = dense.bytes().unwrap_or(0..0);
        let (memory, stream) = (&dense.memory, dense.context().stream());
        memory.during(stream, || Ok(Readback::new(stream.download(memory.slice(bytes)?)?)))
    }

    /// Its only element. Waits for the work before it.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[2.0f32, 8.0, 5.0])?;
    /// assert_eq!(a.max()?.item()?, 8.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] unless there is exactly one; as [`GpuArray::to_vec`].
    pub fn item(&self) -> Result<T> {
        let values = if self.len() == 1 { self.to_vec()? } else { vec![] };
        values.first().copied().ok_or_else(|| Error::Shape {
            operation: "item",
            expected: vec![],
            found: self.shape().to_vec(),
        })
    }
}
