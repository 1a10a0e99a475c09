//! Values on their way from the device.

use std::marker::PhantomData;

use super::{Data, Error, Result, dtype::expect_sized};
use crate::{device, kernel::Context};

/// The elements of an array on their way to the host, as they were when [`GpuArray::download`] was called.
///
/// [`GpuArray::download`]: super::GpuArray::download
///
/// ```
/// use warpaint::{array::GpuArray, device::Device, kernel::Context};
///
/// let context = Context::new(Device::cpu()?)?;
/// let mut x = GpuArray::from_slice(&context, &[1.0f32, 3.0])?;
/// let mut history = Vec::new();
/// for _ in 0..3 {
///     history.push(x.download()?); // copies while the next step is computed
///     x.assign(&x * 0.5)?;
/// }
/// let history: Vec<Vec<f32>> = history.into_iter().map(|values| values.wait()).collect::<Result<_, _>>()?;
/// assert_eq!(history, [[1.0, 3.0], [0.5, 1.5], [0.25, 0.75]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "the values are lost otherwise"]
pub struct Readback<T> {
    bytes: device::Readback,
    of: PhantomData<T>,
}

impl<T: Data> Readback<T> {
    pub(super) fn new(bytes: device::Readback) -> Self {
        Self { bytes, of: PhantomData }
    }

    /// Whether [`Readback::wait`] would return at once.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[1, 2, 3])?;
    /// let values = (&a * &a).eval()?.download()?;
    /// while !values.is_ready()? {
    ///     std::thread::yield_now(); // or draw a picture, or answer a request
    /// }
    /// assert_eq!(values.wait()?, [1, 4, 9]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Of earlier work on the stream.
    pub fn is_ready(&self) -> Result<bool> {
        Ok(self.bytes.is_ready()?)
    }

    /// The elements in C order, once they are there.
    ///
    /// # Errors
    /// Of earlier work on the stream; [`Error::InvalidBits`].
    pub fn wait(self) -> Result<Vec<T>> {
        values(&self.bytes.wait()?)
    }
}

/// The value that kernels write to the address which `put_on` gets, once the stream of `context` has done all that is
/// on it. The address is that of memory of the host's.
///
/// # Errors
/// Of earlier work on the stream; [`Error::InvalidBits`].
pub(super) fn written<T: Data>(
    context: &Context,
    put_on: impl FnOnce(u64) -> Result<()>,
) -> Result<T> {
    expect_sized::<T>();
    let bytes = context.written_by_kernels(size_of::<T>(), put_on)?;
    bytemuck::checked::try_pod_read_unaligned(&bytes)
        .map_err(|_| Error::InvalidBits { of: T::DTYPE.name })
}

/// The values that `bytes` are.
///
/// # Errors
/// [`Error::InvalidBits`] where they are none.
pub(super) fn values<T: Data>(bytes: &[u8]) -> Result<Vec<T>> {
    let value = |bytes: &[u8]| bytemuck::checked::try_pod_read_unaligned(bytes).ok();
    let values: Option<Vec<T>> = bytes.chunks_exact(size_of::<T>()).map(value).collect();
    values.ok_or(Error::InvalidBits { of: T::DTYPE.name })
}
