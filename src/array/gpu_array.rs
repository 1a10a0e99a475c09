//! An array on a device.

use std::{fmt, marker::PhantomData, sync::Arc};

use super::{
    Data, Error, Expr, Index, Layout, Readback, Result, dtype::expect_sized, expression::Operand,
};
use crate::{
    device::{Block, Fill, Slice},
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
    memory: Arc<Block>,
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
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Lengths of its axes.
    pub fn shape(&self) -> &[usize] {
        self.layout.shape()
    }

    /// Steps between neighbours along each axis, in elements.
    pub fn strides(&self) -> &[isize] {
        self.layout.strides()
    }

    /// How many axes.
    pub fn ndim(&self) -> usize {
        self.layout.ndim()
    }

    /// How many elements.
    pub fn len(&self) -> usize {
        self.layout.count()
    }

    /// Whether it has no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The context whose stream it uses.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The same array with its work on the stream of `context`.
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
    /// # Errors
    /// As [`GpuArray::empty`].
    pub fn zeros(context: &Context, shape: &[usize]) -> Result<Self> {
        let array = Self::empty(context, shape)?;
        context.stream().fill(array.memory.slice(..)?, Fill::U8(0))?;
        Ok(array)
    }

    /// An array with the same value everywhere.
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
    /// # Errors
    /// As [`GpuArray::empty`].
    pub fn from_slice(context: &Context, values: &[T]) -> Result<Self> {
        Self::from_shape(context, &[values.len()], values)
    }

    /// A copy of `values`, in C order.
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
    /// # Errors
    /// Of earlier work on the stream; [`Error::InvalidBits`].
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.download()?.wait()
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
    /// # Errors
    /// [`Error::Shape`] unless there is exactly one; as [`GpuArray::to_vec`].
    pub fn item(&self) -> Result<T> {
        match self.to_vec()?[..] {
            [value] => Ok(value),
            _ => Err(Error::Shape {
                operation: "item",
                expected: vec![],
                found: self.shape().to_vec(),
            }),
        }
    }

    /// The bytes of its memory that it is, where its elements lie one behind the other.
    fn bytes(&self) -> Option<std::ops::Range<usize>> {
        let start = self.layout.offset() * size_of::<T>();
        self.layout.is_contiguous().then(|| start..start + self.len() * size_of::<T>())
    }

    /// The array itself where its elements lie one behind the other, else a copy in which they do.
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
    /// # Errors
    /// As [`GpuArray::empty`].
    pub fn copy(&self) -> Result<Self> {
        let mut copy = Self::empty(&self.context, self.shape())?;
        copy.assign(self)?;
        Ok(copy)
    }

    /// Writes `value` to each element.
    ///
    /// # Errors
    /// [`Error::NotWritable`], the device's.
    pub fn fill(&mut self, value: T) -> Result<()> {
        self.assign(Expr::scalar(value))
    }

    /// Overwrites it with an array, an expression or a value, broadcast to its shape.
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
    /// # Errors
    /// [`Error::Reshape`], and as [`GpuArray::copy`].
    pub fn reshape(&self, shape: &[usize]) -> Result<Self> {
        match self.layout.reshape(shape)? {
            Some(layout) => Ok(self.with_layout(layout)),
            None => self.copy()?.reshape(shape),
        }
    }

    /// A view with its axes in reverse order.
    #[must_use]
    pub fn transpose(&self) -> Self {
        self.with_layout(self.layout.transpose())
    }

    /// A view of its elements from the last to the first, along all axes (`numpy.flip`).
    #[must_use]
    pub fn reverse(&self) -> Self {
        self.with_layout(self.layout.reverse())
    }

    /// A view of its elements with the same index along both axes, which become one, the last.
    ///
    /// # Errors
    /// As [`Layout::diagonal`].
    pub fn diagonal(&self, first: usize, second: usize) -> Result<Self> {
        Ok(self.with_layout(self.layout.diagonal(first, second)?))
    }

    /// A view with its axes in another order: axis `i` of the view is its axis `axes[i]`.
    ///
    /// # Errors
    /// [`Error::Axes`].
    pub fn permute(&self, axes: &[usize]) -> Result<Self> {
        Ok(self.with_layout(self.layout.permute(axes)?))
    }

    /// A view without its axes of length 1.
    #[must_use]
    pub fn squeeze(&self) -> Self {
        self.with_layout(self.layout.squeeze())
    }

    /// A view broadcast to `shape`; it can be read, not written.
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

    /// Each element converted to another type, as C++ does.
    pub fn cast<U: Data>(&self) -> Expr<U> {
        Expr::from(self).cast()
    }

    /// An array over `memory`, in which `layout` must lie.
    pub(super) fn from_parts(context: &Context, memory: Arc<Block>, layout: Layout) -> Self {
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
