//! Values on their way from the device.

use std::{borrow::Cow, collections::VecDeque, marker::PhantomData, ops::Range};

use bytemuck::checked::CheckedCastError;

use crate::array::{Data, Error, Result, data::expect_sized};
use crate::{
    device::{self, PoolBlock, Stream},
    kernel::Context,
};

/// Elements that the host waits for come in pieces of at most so many bytes (where one element is no larger), of which
/// so many are under way while it takes in the one before them. Page-locking room for all would cost more than the
/// copy.
const PIECE_BYTES: usize = 8 << 20;
const UNDER_WAY: usize = 3;

/// The elements of an array on their way to the host, as they were when [`GpuArray::download`] was called.
///
/// [`GpuArray::download`]: crate::array::GpuArray::download
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
    pub(in crate::array) fn new(bytes: device::Readback) -> Self {
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
        self.bytes.wait_with(values)?
    }
}

/// Gives `take_in` the elements that lie in `bytes` of `memory` without gaps, in their order and some at a time, once
/// the work before is done.
///
/// # Errors
/// Of earlier work on the stream; [`Error::InvalidBits`].
pub(in crate::array) fn read<T: Data>(
    memory: &PoolBlock,
    bytes: Range<usize>,
    stream: &Stream,
    mut take_in: impl FnMut(&[T]),
) -> Result<()> {
    let size = size_of::<T>().max(1);
    let step = (PIECE_BYTES / size).max(1) * size;
    let mut land = |piece: device::Readback| {
        piece.wait_with(|bytes| cast(bytes).map(|values| take_in(&values)))?
    };
    let mut under_way = VecDeque::with_capacity(UNDER_WAY);
    for start in bytes.clone().step_by(step) {
        if under_way.len() == UNDER_WAY {
            under_way.pop_front().map_or(Ok(()), &mut land)?;
        }
        let piece = start..bytes.end.min(start + step);
        under_way.push_back(stream.download(memory.slice(piece)?)?);
    }
    under_way.into_iter().try_for_each(land)
}

/// The value that kernels write to the address which `put_on` gets, once the stream of `context` has done all that is
/// on it. The address is that of memory of the host's.
///
/// # Errors
/// Of earlier work on the stream; [`Error::InvalidBits`].
pub(in crate::array) fn written<T: Data>(
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
pub(in crate::array) fn values<T: Data>(bytes: &[u8]) -> Result<Vec<T>> {
    cast(bytes).map(Cow::into_owned)
}

/// The same; where they are aligned, as a device's copies are, nothing is copied.
fn cast<T: Data>(bytes: &[u8]) -> Result<Cow<'_, [T]>> {
    let invalid = || Error::InvalidBits { of: T::DTYPE.name };
    match bytemuck::checked::try_cast_slice(bytes) {
        Ok(values) => Ok(Cow::Borrowed(values)),
        Err(CheckedCastError::InvalidBitPattern) => Err(invalid()),
        Err(CheckedCastError::PodCastError(_)) => {
            let value = |one| bytemuck::checked::try_pod_read_unaligned(one).map_err(|_| invalid());
            let values = bytes.chunks_exact(size_of::<T>().max(1)).map(value);
            values.collect::<Result<Vec<T>>>().map(Cow::Owned)
        }
    }
}
