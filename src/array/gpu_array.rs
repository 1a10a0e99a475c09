//! An array on a device.

use std::{fmt, marker::PhantomData, sync::Arc};

use super::{
    Data, Error, Expr, Index, Layout, Readback, Result, dtype::expect_sized, expression::Operand,
    readback,
};
use crate::{
    device::{Fill, PoolBlock, Slice},
    kernel::{Argument, Context},
};

/// An array of any number of dimensions on a device, or a view of a part of one.
///
/// Views share memory, as in numpy: what is written through one is seen through the others. [`GpuArray::copy`]
/// makes memory of its own; `clone` makes another view. Operations put work on the array's stream and return at
/// once; whatever reads a result on the host waits. Arrays on different streams may be mixed: work that needs
/// another stream's waits for it on the device.
///
/// ```
/// use warpaint::{array::GpuArray, device::Device, kernel::Context};
///
/// let context = Context::new(Device::cpu()?)?;
/// let a = GpuArray::from_slice(&context, &[1.0f32, 2.0, 3.0, 4.0])?;
/// let b = (&a * 2.0 + 1.0).eval()?;
/// assert_eq!(b.to_vec()?, [3.0, 5.0, 7.0, 9.0]);
///
/// let columns = a.reshape(&[2, 2])?.transpose();
/// assert_eq!(columns.to_vec()?, [1.0, 3.0, 2.0, 4.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct GpuArray<T> {
    context: Context,
    memory: Arc<PoolBlock>,
    layout: Arc<Layout>,
    of: PhantomData<T>,
}

impl<T> Clone for GpuArray<T> {
    fn clone(&self) -> Self {
        self.with_layout(self.layout.clone())
    }
}

impl<T> GpuArray<T> {
    /// Another view of its memory; `layout` must lie within it.
    fn with_layout(&self, layout: impl Into<Arc<Layout>>) -> Self {
        let (context, memory, layout) = (self.context.clone(), self.memory.clone(), layout.into());
        Self { context, memory, layout, of: PhantomData }
    }

    /// Where its elements lie in its memory.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, index, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 3], &[1, 2, 3, 4, 5, 6])?;
    /// let last = a.slice(&index![.., -1])?;
    /// assert_eq!((last.layout().offset(), last.layout().strides()), (2, &[3][..]));
    /// assert!(!last.layout().is_contiguous());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Lengths of its axes.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let rows = GpuArray::<f32>::zeros(&context, &[4, 1])?;
    /// let line = GpuArray::<f32>::zeros(&context, &[3])?;
    /// assert_eq!((&rows + &line).eval()?.shape(), [4, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shape(&self) -> &[usize] {
        self.layout.shape()
    }

    /// Steps between neighbours along each axis, in elements.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, index, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::<f32>::zeros(&context, &[4, 3])?;
    /// assert_eq!(a.strides(), [3, 1]);
    /// assert_eq!(a.slice(&index![..;-2, 0])?.strides(), [-6]);
    /// assert_eq!(a.slice(&index![0])?.broadcast_to(&[4, 3])?.strides(), [0, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn strides(&self) -> &[isize] {
        self.layout.strides()
    }

    /// How many axes.
    pub fn ndim(&self) -> usize {
        self.layout.ndim()
    }

    /// How many elements.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::<f32>::zeros(&context, &[4, 3])?;
    /// assert_eq!((a.ndim(), a.len()), (2, 12));
    /// let sum = a.sum()?; // no axes, and one element
    /// assert_eq!((sum.ndim(), sum.len()), (0, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn len(&self) -> usize {
        self.layout.count()
    }

    /// Whether it has no element.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, index, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[1, 2, 3])?;
    /// assert!(a.slice(&index![7..])?.is_empty()); // as in numpy, ranges may reach outside
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The context whose stream it uses.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[3, 1, 2])?;
    /// let beside = GpuArray::<f32>::zeros(a.context(), a.shape())?;
    /// assert_eq!(beside.context().stream(), context.stream());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The same array with its work on the stream of `context`.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[1.0f32, 2.0])?;
    /// let there = a.on(&context.on_new_stream()?)?;
    /// let squares = (&there * &there).eval()?; // waits, on the device, for the copy of the values to `a`
    /// assert_ne!(squares.context().stream(), a.context().stream());
    /// assert_eq!(squares.to_vec()?, [1.0, 4.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::WrongDevice`].
    pub fn on(&self, context: &Context) -> Result<Self> {
        if context.device().id() != self.context.device().id() {
            return Err(Error::WrongDevice { operation: "move to another stream" });
        }
        Ok(Self { context: context.clone(), ..self.clone() })
    }
}

impl<T: Data> GpuArray<T> {
    /// An array of this shape with whatever the memory held. In C order, as all that are made with a shape; for
    /// Fortran's order, reverse the shape and take [`GpuArray::transpose`].
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let mut squares = GpuArray::<i64>::empty(&context, &[4])?;
    /// let n = GpuArray::<i64>::arange(&context, 4)?;
    /// (&n * &n).eval_into(&mut squares)?;
    /// assert_eq!(squares.to_vec()?, [0, 1, 4, 9]);
    ///
    /// let fortran = GpuArray::<f32>::empty(&context, &[3, 2])?.transpose();
    /// assert_eq!((fortran.shape(), fortran.strides()), (&[2, 3][..], &[1, 2][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooLarge`], [`Error::Device`] when memory runs out.
    pub fn empty(context: &Context, shape: &[usize]) -> Result<Self> {
        expect_sized::<T>();
        let layout = Layout::contiguous(shape)?;
        let bytes = layout.count().checked_mul(T::DTYPE.bytes);
        let bytes = bytes.ok_or_else(|| Error::TooLarge { shape: shape.to_vec() })?;
        let memory = Arc::new(context.pool().alloc(context.stream(), bytes)?);
        Ok(Self { context: context.clone(), memory, layout: Arc::new(layout), of: PhantomData })
    }

    /// An array of zero bytes: 0, 0.0, `false`.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// assert_eq!(GpuArray::<bool>::zeros(&context, &[2, 3])?.to_vec()?, [false; 6]);
    /// assert_eq!(GpuArray::<f32>::zeros(&context, &[])?.to_vec()?, [0.0]); // no axes: one element
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`GpuArray::empty`].
    pub fn zeros(context: &Context, shape: &[usize]) -> Result<Self> {
        let array = Self::empty(context, shape)?;
        context.stream().fill(array.memory.slice(..)?, Fill::U8(0))?;
        Ok(array)
    }

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
            let dense = Self::from_shape(&self.context, self.shape(), values)?;
            return self.assign(&dense);
        };
        let (memory, stream) = (&self.memory, self.context.stream());
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
        let (memory, stream) = (&dense.memory, dense.context.stream());
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
        let (memory, stream) = (&dense.memory, dense.context.stream());
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

    /// The bytes of its memory that it is, where its elements lie one behind the other.
    fn bytes(&self) -> Option<std::ops::Range<usize>> {
        let start = self.layout.offset() * size_of::<T>();
        self.layout.is_contiguous().then(|| start..start + self.len() * size_of::<T>())
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
            self.memory.use_on(self.context.stream())?;
            Ok(self.clone())
        } else {
            self.copy()
        }
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
        let mut copy = Self::empty(&self.context, self.shape())?;
        copy.assign(self)?;
        Ok(copy)
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

    /// A view of a part of it. [`index!`](crate::index) writes `indices`.
    ///
    /// ```
    /// use warpaint::{array::GpuArray, device::Device, index, kernel::Context};
    ///
    /// let context = Context::new(Device::cpu()?)?;
    /// let mut a = GpuArray::<i32>::zeros(&context, &[2, 3])?;
    /// a.slice(&index![.., ..;-2])?.assign(7)?;
    /// assert_eq!(a.to_vec()?, [7, 0, 7, 7, 0, 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Layout::index`].
    pub fn slice(&self, indices: &[Index]) -> Result<Self> {
        Ok(self.with_layout(self.layout.index(indices)?))
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

    /// A view with its axes in reverse order.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, index, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 3], &[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(a.transpose().shape(), [3, 2]);
    /// a.transpose().slice(&index![2])?.fill(0)?; // a view: this is the last column of `a`
    /// assert_eq!(a.to_vec()?, [1, 2, 0, 4, 5, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn transpose(&self) -> Self {
        self.with_layout(self.layout.transpose())
    }

    /// A view of its elements from the last to the first, along all axes (`numpy.flip`).
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 2], &[1, 2, 3, 4])?;
    /// assert_eq!(a.reverse().strides(), [-2, -1]);
    /// assert_eq!((&a + a.reverse()).eval()?.to_vec()?, [5, 5, 5, 5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn reverse(&self) -> Self {
        self.with_layout(self.layout.reverse())
    }

    /// A view of its elements with the same index along both axes, which become one, the last.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 3], &[1, 2, 3, 4, 5, 6])?;
    /// let mut diagonal = a.diagonal(0, 1)?;
    /// assert_eq!(diagonal.sum()?.item()?, 6); // the trace
    /// diagonal.fill(0)?;
    /// assert_eq!(a.to_vec()?, [0, 2, 3, 4, 0, 6]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Layout::diagonal`].
    pub fn diagonal(&self, first: usize, second: usize) -> Result<Self> {
        Ok(self.with_layout(self.layout.diagonal(first, second)?))
    }

    /// A view with its axes in another order: axis `i` of the view is its axis `axes[i]`.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let images = GpuArray::<f32>::zeros(&context, &[2, 48, 64, 3])?;
    /// let planes = images.permute(&[0, 3, 1, 2])?; // image, channel, row, column
    /// assert_eq!(planes.shape(), [2, 3, 48, 64]);
    /// assert_eq!(planes.strides(), [9216, 1, 192, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Axes`].
    pub fn permute(&self, axes: &[usize]) -> Result<Self> {
        Ok(self.with_layout(self.layout.permute(axes)?))
    }

    /// A view without its axes of length 1.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[1, 3, 1], &[1, 2, 3])?;
    /// assert_eq!(a.squeeze().shape(), [3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn squeeze(&self) -> Self {
        self.with_layout(self.layout.squeeze())
    }

    /// A view broadcast to `shape`; it can be read, not written.
    ///
    /// ```
    /// # use warpaint::{array::{Error, GpuArray}, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let line = GpuArray::from_slice(&context, &[1, 2, 3])?;
    /// let mut table = line.broadcast_to(&[1000, 3])?; // takes no memory
    /// assert_eq!(table.sum_along(&[0])?.to_vec()?, [1000, 2000, 3000]);
    /// assert!(matches!(table.fill(0), Err(Error::NotWritable { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Broadcast`].
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Self> {
        Ok(self.with_layout(self.layout.broadcast_to(shape)?))
    }

    /// A view of its bytes as elements of another type (`numpy.ndarray.view`). Where the sizes of both differ, the last
    /// axis becomes longer or shorter; its elements must lie one behind the other then.
    ///
    /// Bits that are no value of `U` are found when they are read on the host ([`Error::InvalidBits`]).
    ///
    /// ```
    /// use warpaint::{array::GpuArray, device::Device, kernel::Context};
    ///
    /// let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_shape(&context, &[2, 2], &[1.0f32, -2.0, 0.5, 0.0])?;
    /// assert_eq!(a.view_as::<u32>()?.to_vec()?, [0x3f80_0000, 0xc000_0000, 0x3f00_0000, 0]);
    /// assert_eq!(a.view_as::<u16>()?.shape(), [2, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::View`] where whole elements of `U` do not lie at its places.
    pub fn view_as<U: Data>(&self) -> Result<GpuArray<U>> {
        let (from, to) = (T::DTYPE, U::DTYPE);
        let layout = match self.memory.address().is_multiple_of(to.align as u64) {
            true => self.layout.reinterpret(from.bytes, to.bytes),
            false => None,
        };
        let layout = layout.ok_or_else(|| Error::View {
            shape: self.shape().to_vec(),
            strides: self.strides().to_vec(),
            from: from.name,
            to: to.name,
        })?;
        Ok(GpuArray::from_parts(&self.context, self.memory.clone(), layout))
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

    /// An array over `memory`, in which `layout` must lie.
    pub(super) fn from_parts(context: &Context, memory: Arc<PoolBlock>, layout: Layout) -> Self {
        expect_sized::<T>();
        Self { context: context.clone(), memory, layout: layout.into(), of: PhantomData }
    }

    /// Says that work put on its stream from now on uses its memory.
    pub(super) fn use_on_stream(&self) -> Result<()> {
        Ok(self.memory.use_on(self.context.stream())?)
    }

    pub(super) fn operand(&self) -> Operand {
        Operand {
            context: self.context.clone(),
            memory: self.memory.clone(),
            layout: self.layout.clone(),
            dtype: T::DTYPE,
        }
    }

    /// It as an argument of a kernel that takes a pointer to its first element, the one with all indices 0. Of its
    /// strides the kernel learns nothing.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::{Device, LaunchConfig}, kernel::{Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let source = Source::new("__global__ void count_up(int *x) { x[threadIdx.x] += threadIdx.x; }");
    /// let count_up = context.module(&source)?.kernel("count_up")?;
    /// let a = GpuArray::from_slice(&context, &[10, 10, 10])?;
    /// // SAFETY: three threads, three elements that lie one behind the other.
    /// unsafe { count_up.launch(context.stream(), &LaunchConfig::new(1, 3), &[a.argument()?])? };
    /// assert_eq!(a.to_vec()?, [10, 11, 12]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The device's.
    pub fn argument(&self) -> Result<Argument> {
        self.use_on_stream()?;
        let memory = self.memory.slice(self.layout.offset() * size_of::<T>()..)?;
        Ok(Argument::array(memory, crate::element::Element::parse(T::DTYPE.name)))
    }

    /// The memory of its elements, which must lie one behind the other ([`GpuArray::to_contiguous`]), for work that is
    /// put on its stream: copies to and from page-locked memory, CUDA arrays, OpenGL's buffers.
    ///
    /// ```
    /// use warpaint::{array::GpuArray, device::{Device, HostFlags}, index, kernel::Context};
    ///
    /// let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::<u8>::zeros(&context, &[2, 4])?;
    /// let mut host = context.device().alloc_host(4, HostFlags::default())?;
    /// host.copy_from_slice(&[1, 2, 3, 4]);
    /// context.stream().upload_from(a.slice(&index![1])?.memory()?, host)?;
    /// assert_eq!(a.to_vec()?, [0, 0, 0, 0, 1, 2, 3, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Gaps`] where they do not; the device's.
    pub fn memory(&self) -> Result<Slice<'_>> {
        let gaps =
            || Error::Gaps { shape: self.shape().to_vec(), strides: self.strides().to_vec() };
        let bytes = self.bytes().ok_or_else(gaps)?;
        self.use_on_stream()?;
        Ok(self.memory.slice(bytes)?)
    }
}

impl<T: Data> fmt::Debug for GpuArray<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GpuArray")
            .field("dtype", &T::DTYPE.name)
            .field("shape", &self.shape())
            .field("strides", &self.strides())
            .field("device", &self.context.device().info().selector)
            .finish()
    }
}
