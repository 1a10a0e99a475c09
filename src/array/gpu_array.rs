//! An array on a device.

use std::{fmt, marker::PhantomData, sync::Arc};

use super::{Data, Error, Index, Layout, Result, data::expect_sized};
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
    pub(super) memory: Arc<PoolBlock>,
    pub(super) layout: Arc<Layout>,
    of: PhantomData<T>,
}

impl<T> Clone for GpuArray<T> {
    fn clone(&self) -> Self {
        self.with_layout(self.layout.clone())
    }
}

impl<T> GpuArray<T> {
    /// Another view of its memory; `layout` must lie within it.
    pub(super) fn with_layout(&self, layout: impl Into<Arc<Layout>>) -> Self {
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

    /// The bytes of its memory that it is, where its elements lie one behind the other.
    pub(super) fn bytes(&self) -> Option<std::ops::Range<usize>> {
        let start = self.layout.offset() * size_of::<T>();
        self.layout.is_contiguous().then(|| start..start + self.len() * size_of::<T>())
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

    /// An array over `memory`, in which `layout` must lie.
    pub(super) fn from_parts(context: &Context, memory: Arc<PoolBlock>, layout: Layout) -> Self {
        expect_sized::<T>();
        Self { context: context.clone(), memory, layout: layout.into(), of: PhantomData }
    }

    /// Says that work put on its stream from now on uses its memory.
    pub(super) fn use_on_stream(&self) -> Result<()> {
        Ok(self.memory.use_on(self.context.stream())?)
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
