//! Arrays over memory of other libraries, and memory of arrays for them: `__cuda_array_interface__`.

use std::{any::Any, sync::Arc};

use crate::array::{DType, Data, Error, GpuArray, Layout, Result, npy};
use crate::{
    device::{self, PoolBlock, Stream},
    kernel::Context,
};

/// Where an array lies on a device, as version 3 of [`__cuda_array_interface__`][numba] says it: CuPy, Numba, PyTorch
/// and PyCUDA understand its fields.
///
/// [numba]: https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html
///
/// ```
/// use warpaint::{array::GpuArray, device::Device, index, kernel::Context};
///
/// let context = Context::new(Device::cpu()?)?;
/// let a = GpuArray::<f32>::zeros(&context, &[4, 6])?;
/// let part = a.slice(&index![1.., ..;2])?.interface()?;
/// assert_eq!((&part.shape[..], &part.typestr[..]), (&[3, 3][..], "<f4"));
/// assert_eq!(part.strides, Some(vec![24, 8])); // in bytes
/// assert_eq!(part.address, a.address() + 24); // one row further
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayInterface {
    /// Lengths of the axes.
    pub shape: Vec<usize>,
    /// The type, in numpy's notation: `<f4`; `|V12` for structures and vectors.
    pub typestr: String,
    /// Where a kernel sees the element with all indices 0.
    pub address: u64,
    /// Whether it must not be written.
    pub read_only: bool,
    /// Steps between neighbours along each axis, in bytes; `None` for C order without gaps.
    pub strides: Option<Vec<isize>>,
    /// The driver's handle of the stream on which work with it may still be under way; 1 is the legacy default stream.
    pub stream: Option<u64>,
}

/// What numpy calls a type.
fn typestr(dtype: DType) -> String {
    npy::type_name(dtype).map_or_else(|| format!("|V{}", dtype.bytes), str::to_owned)
}

impl<T: Data> GpuArray<T> {
    /// Where a kernel sees its first element, the one with all indices 0.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[1.0f64, 2.0, 3.0])?;
    /// assert_eq!(a.reverse().address(), a.address() + 16); // the first is the last in memory
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn address(&self) -> u64 {
        self.operand().address()
    }

    /// What another library has to know to use its memory, behind the work on `stream` (on the CPU device, whose
    /// streams have no handles, that work has ended). The array must be kept for as long as that library uses it.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let line = GpuArray::<i32>::zeros(&context, &[3])?;
    /// assert_eq!(line.interface()?.strides, None); // C order without gaps
    /// let table = line.broadcast_to(&[2, 3])?.interface()?;
    /// assert_eq!((table.strides, table.read_only), (Some(vec![0, 4]), true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// On the CPU device those of earlier work on the stream.
    pub fn interface(&self) -> Result<ArrayInterface> {
        self.use_on_stream()?;
        let stream = match self.context().stream() {
            Stream::Nvidia(stream) => Some(stream.handle()),
            Stream::Cpu(stream) => {
                stream.synchronize()?;
                None
            }
        };
        let bytes = |&stride: &isize| stride * T::DTYPE.bytes as isize;
        let strides = || self.strides().iter().map(bytes).collect();
        Ok(ArrayInterface {
            shape: self.shape().to_vec(),
            typestr: typestr(T::DTYPE),
            address: self.address(),
            read_only: !self.layout().is_injective(),
            strides: (!self.layout().is_contiguous()).then(strides),
            stream,
        })
    }

    /// An array over memory of another library on the device of `context`, behind the work on the interface's stream.
    /// `kept`, which should own that memory, is dropped once no work of this array's, or of views of it, uses it.
    ///
    /// ```
    /// use warpaint::{array::GpuArray, device::Device, kernel::Context};
    ///
    /// let context = Context::new(Device::cpu()?)?;
    /// let theirs = GpuArray::from_slice(&context, &[1, 2, 3, 4])?.reverse();
    /// // SAFETY: the memory is the kept array's.
    /// let ours = unsafe {
    ///     GpuArray::<i32>::from_interface(&context, &theirs.interface()?, theirs.clone())?
    /// };
    /// assert_eq!(ours.to_vec()?, [4, 3, 2, 1]);
    /// ours.clone().fill(7)?;
    /// assert_eq!(theirs.to_vec()?, [7; 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Safety
    /// All elements must lie in memory of that device, which must stay there until `kept` is dropped.
    ///
    /// # Errors
    /// [`Error::Interface`] for another type, memory that is read only, and strides that are no whole elements;
    /// [`device::Error::Unsupported`] for a stream on the CPU device.
    #[expect(unsafe_code, reason = "nothing tells how long foreign memory lives")]
    pub unsafe fn from_interface(
        context: &Context,
        interface: &ArrayInterface,
        kept: impl Any + Send + Sync,
    ) -> Result<Self> {
        let wrong = |problem: String| Error::Interface { problem };
        let expected = typestr(T::DTYPE);
        let kind = |typestr: &str| typestr.trim_start_matches(['<', '|', '=']).to_owned();
        if kind(&interface.typestr) != kind(&expected) {
            return Err(wrong(format!("it holds `{}`, not `{expected}`", interface.typestr)));
        }
        if interface.read_only {
            return Err(wrong("it is read only".into()));
        }
        let (layout, start) = layout_of(interface, T::DTYPE)?;
        if let Some(handle) = interface.stream {
            match context.stream() {
                // SAFETY: the caller answers for the interface, of which the handle is a part.
                Stream::Nvidia(stream) => unsafe { stream.wait_for_handle(handle)? },
                Stream::Cpu(stream) => {
                    let device = stream.device().info().to_string();
                    let operation = "waiting for another library's stream";
                    return Err(device::Error::Unsupported { operation, device }.into());
                }
            }
        }
        let bytes = layout.extent().end * T::DTYPE.bytes;
        // SAFETY: the caller answers for the memory.
        let memory = unsafe { PoolBlock::foreign(context.stream(), start, bytes, kept) };
        Ok(Self::from_parts(context, Arc::new(memory), layout))
    }
}

/// The layout of an interface, and the address of the lowest of its elements, which is at its place 0.
fn layout_of(interface: &ArrayInterface, dtype: DType) -> Result<(Layout, u64)> {
    let wrong = |problem: String| Error::Interface { problem };
    let dense = Layout::contiguous(&interface.shape)?;
    let countable = dense.count().checked_mul(dtype.bytes);
    countable.ok_or_else(|| Error::TooLarge { shape: interface.shape.clone() })?;
    let layout = match &interface.strides {
        None => dense,
        Some(strides) => {
            let whole = |&stride: &isize| match stride.checked_rem(dtype.bytes as isize) {
                Some(0) => Some(stride / dtype.bytes as isize),
                _ => None,
            };
            let steps: Option<Vec<isize>> = strides.iter().map(whole).collect();
            let steps = steps.filter(|steps| steps.len() == interface.shape.len());
            let layout =
                steps.and_then(|steps| Layout::strided(&interface.shape, &steps, dtype.bytes));
            layout.ok_or_else(|| {
                let (shape, bytes) = (&interface.shape, dtype.bytes);
                wrong(format!("strides {strides:?} for {shape:?} elements of {bytes} bytes"))
            })?
        }
    };
    let before = (layout.offset() * dtype.bytes) as u64;
    let start = interface.address.checked_sub(before).filter(|start| {
        layout.count() == 0 || (*start != 0 && start.is_multiple_of(dtype.align as u64))
    });
    let start = start.ok_or_else(|| {
        wrong(format!("`{}` cannot lie at address {:#x}", dtype.name, interface.address))
    })?;
    Ok((layout, start))
}
