//! Mapping: the time during which shared buffers belong to the device.

use super::{
    Mapping, Result, SharedBuffer, Storage,
    registered::{RESOURCES, Resources},
};
use crate::device::{self, Slice, Stream};

/// A buffer that the device may use, until [`unmap`](Self::unmap).
///
/// Dropping it unmaps too, and logs the error.
///
/// ```
/// use warpaint::{device::{Device, Fill}, interop::Interop};
///
/// let device = Device::cpu()?;
/// let (stream, mut buffer) = (device.stream()?, Interop::none(&device).buffer(4)?);
/// let mapped = buffer.map(&stream)?;
/// stream.fill(mapped.slice(), Fill::U8(7))?; // or a kernel that is given `mapped.slice().address()`
/// assert_eq!(stream.download(mapped.slice().slice(2..)?)?.wait()?, [7, 7]);
/// mapped.unmap()?; // from here on its memory cannot be used
/// assert!(buffer.present()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Mapped<'a> {
    buffer: &'a mut SharedBuffer,
}

impl<'a> Mapped<'a> {
    pub(super) fn new(mut buffer: &'a mut SharedBuffer, stream: &Stream) -> Result<Self> {
        map(std::slice::from_mut(&mut buffer), stream)?;
        Ok(Self { buffer })
    }

    /// Where the device sees it; the next time that may be somewhere else.
    ///
    /// ```
    /// # use warpaint::{device::{Device, LaunchConfig}, interop::Interop, kernel::{Argument, Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let count = context.module(&Source::new("__global__ void count(int *x) { x[threadIdx.x] = threadIdx.x; }"))?;
    /// let mut points = Interop::none(context.device()).buffer(12)?;
    /// let mapped = points.map(context.stream())?;
    /// let x = Argument::address(mapped.slice().address());
    /// // SAFETY: three threads, three elements.
    /// unsafe { count.kernel("count")?.launch(context.stream(), &LaunchConfig::new(1, 3), &[x])? };
    /// let bytes = context.stream().download(mapped.slice())?.wait()?;
    /// assert_eq!(bytemuck::pod_collect_to_vec::<u8, i32>(&bytes), [0, 1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn slice(&self) -> Slice<'_> {
        self.buffer.slice()
    }

    /// Gives the buffer back to OpenGL, after all work put on the stream so far.
    ///
    /// ```
    /// # use warpaint::{device::{Device, Fill}, interop::Interop};
    /// let device = Device::cpu()?;
    /// let (stream, interop) = (device.stream()?, Interop::none(&device));
    /// let mut points = interop.buffer(4)?;
    /// for step in 0..3 {
    ///     let mapped = points.map(&stream)?;
    ///     stream.fill(mapped.slice(), Fill::U8(step))?;
    ///     mapped.unmap()?; // waits for nothing
    /// }
    /// let mapped = points.map(&stream)?;
    /// assert_eq!(stream.download(mapped.slice())?.wait()?, [2; 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Device`](super::Error::Device) from the driver.
    pub fn unmap(mut self) -> Result<()> {
        unmap(std::slice::from_mut(&mut self.buffer), Content::Written)
    }
}

impl Drop for Mapped<'_> {
    fn drop(&mut self) {
        // After `unmap` there is nothing left to do.
        if let Err(error) = unmap(std::slice::from_mut(&mut self.buffer), Content::Written) {
            tracing::error!("while unmapping a buffer: {error}");
        }
    }
}

/// Several buffers that the device may use, until [`unmap`](Self::unmap).
///
/// Dropping it unmaps too, and logs the error.
///
/// ```
/// use warpaint::{device::{Device, Fill}, interop::{Interop, map_all}};
///
/// let device = Device::cpu()?;
/// let (stream, interop) = (device.stream()?, Interop::none(&device));
/// let (mut old, mut new) = (interop.buffer(4)?, interop.buffer(4)?);
/// let mut buffers = [&mut old, &mut new];
/// let mapped = map_all(&mut buffers, &stream)?;
/// let (from, to) = (mapped.slice(0).ok_or("old")?, mapped.slice(1).ok_or("new")?);
/// stream.fill(from, Fill::U8(5))?;
/// stream.copy(to, from)?;
/// assert_eq!(stream.download(to)?.wait()?, [5; 4]);
/// mapped.unmap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MappedAll<'a, 'b> {
    buffers: &'a mut [&'b mut SharedBuffer],
}

/// Maps several buffers for the device, as [`SharedBuffer::map`] does, with one call of the driver for all that
/// share an OpenGL context.
///
/// ```
/// # use warpaint::{device::{Device, Fill}, interop::{Interop, map_all}};
/// let device = Device::cpu()?;
/// let (stream, interop) = (device.stream()?, Interop::none(&device));
/// let (mut position, mut velocity) = (interop.buffer(16)?, interop.buffer(8)?);
/// let mut buffers = [&mut position, &mut velocity];
/// let mapped = map_all(&mut buffers, &stream)?;
/// for slice in mapped.slices() {
///     stream.fill(slice, Fill::U8(0))?;
/// }
/// assert_eq!(mapped.slice(1).map(|slice| slice.bytes()), Some(8));
/// assert!(mapped.slice(2).is_none());
/// mapped.unmap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`SharedBuffer::map`]; none of them is mapped then.
pub fn map_all<'a, 'b>(
    buffers: &'a mut [&'b mut SharedBuffer],
    stream: &Stream,
) -> Result<MappedAll<'a, 'b>> {
    map(buffers, stream)?;
    Ok(MappedAll { buffers })
}

/// Presents several buffers, as [`SharedBuffer::present`] does, with one call of the driver for all that share an
/// OpenGL context. Gives whether OpenGL has all of them.
///
/// ```
/// # use warpaint::{device::Device, interop::{Interop, map_all, present_all}};
/// let device = Device::cpu()?;
/// let (stream, interop) = (device.stream()?, Interop::none(&device));
/// let (mut position, mut velocity) = (interop.buffer(16)?, interop.buffer(8)?);
/// let mut buffers = [&mut position, &mut velocity];
/// map_all(&mut buffers, &stream)?.leave()?;
/// stream.synchronize()?;
/// assert!(present_all(&mut buffers)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`SharedBuffer::present`].
pub fn present_all(buffers: &mut [&mut SharedBuffer]) -> Result<bool> {
    unmap(buffers, Content::Written)?;
    let mut all = true;
    for buffer in buffers {
        all &= match &mut buffer.storage {
            Storage::Registered(_) | Storage::Plain(_) => true,
            Storage::Copied(copied) => copied.present()?,
        };
    }
    Ok(all)
}

impl MappedAll<'_, '_> {
    /// Where the device sees each, in their order; the next time that may be somewhere else.
    ///
    /// ```
    /// # use warpaint::{device::Device, interop::{Interop, map_all}};
    /// let device = Device::cpu()?;
    /// let interop = Interop::none(&device);
    /// let (mut position, mut velocity) = (interop.buffer(16)?, interop.buffer(8)?);
    /// let mut buffers = [&mut position, &mut velocity];
    /// let mapped = map_all(&mut buffers, &device.stream()?)?;
    /// let sizes: Vec<usize> = mapped.slices().map(|slice| slice.bytes()).collect();
    /// assert_eq!(sizes, [16, 8]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn slices(&self) -> impl ExactSizeIterator<Item = Slice<'_>> {
        self.buffers.iter().map(|buffer| buffer.slice())
    }

    /// Where the device sees the buffer with this index.
    pub fn slice(&self, index: usize) -> Option<Slice<'_>> {
        self.buffers.get(index).map(|buffer| buffer.slice())
    }

    /// Gives all of them back to OpenGL, after all work put on the stream so far.
    ///
    /// # Errors
    /// [`Error::Device`](super::Error::Device), the first from the driver.
    pub fn unmap(self) -> Result<()> {
        unmap(self.buffers, Content::Written)
    }

    /// Leaves them to OpenGL without making it wait: with [`MappedAll::unmap`] all that OpenGL is told to do from then
    /// on comes after the work put on the stream so far, whatever it draws, and a kernel that takes seconds holds the
    /// whole window. Those that are registered are given back by [`SharedBuffer::present`], or when they are mapped
    /// again; until then OpenGL must not use them. What is copied is on its way from here on.
    ///
    /// ```
    /// # use warpaint::{device::{Device, Fill}, interop::{Interop, map_all}};
    /// let device = Device::cpu()?;
    /// let (stream, interop) = (device.stream()?, Interop::none(&device));
    /// let (mut shown, mut next) = (interop.buffer(4)?, interop.buffer(4)?);
    /// let mut buffers = [&mut next];
    /// let mapped = map_all(&mut buffers, &stream)?;
    /// stream.fill(mapped.slice(0).ok_or("there is one")?, Fill::U8(5))?; // or kernels that take their time
    /// mapped.leave()?;
    /// // Meanwhile OpenGL draws what is shown.
    /// stream.synchronize()?;
    /// std::mem::swap(&mut shown, &mut next);
    /// assert!(shown.present()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`MappedAll::unmap`].
    pub fn leave(mut self) -> Result<()> {
        // Those that stay mapped are not unmapped by the end of this either.
        let buffers = std::mem::take(&mut self.buffers);
        let is_registered =
            |buffer: &SharedBuffer| matches!(buffer.storage, Storage::Registered(_));
        let others = buffers.iter_mut().filter(|buffer| !is_registered(buffer));
        let mut others: Vec<&mut SharedBuffer> = others.map(|buffer| &mut **buffer).collect();
        unmap(&mut others, Content::Written)
    }

    /// Gives all of them back to OpenGL unchanged: the device has only read them, and there is nothing to copy.
    ///
    /// ```
    /// # use warpaint::{device::Device, gl, interop::{Interop, map_all}};
    /// # let device = Device::cpu()?;
    /// # let (stream, context) = (device.stream()?, gl::CurrentContext::headless(gl::Headless::default())?);
    /// # let mut buffer = Interop::new(context.gl(), &device).buffer(1 << 10)?;
    /// let mut buffers = [&mut buffer];
    /// let mapped = map_all(&mut buffers, &stream)?;
    /// let read = stream.download(mapped.slice(0).ok_or("there is one")?)?;
    /// mapped.unmap_unchanged()?;
    /// assert!(buffer.present()?); // at once: OpenGL waits for nothing
    /// assert_eq!(read.wait()?.len(), 1 << 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`MappedAll::unmap`].
    pub fn unmap_unchanged(self) -> Result<()> {
        unmap(self.buffers, Content::Unchanged)
    }
}

/// What the device did with buffers while they were mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// OpenGL is to see what was written.
    Written,
    /// OpenGL has what there is.
    Unchanged,
}

impl Drop for MappedAll<'_, '_> {
    fn drop(&mut self) {
        if let Err(error) = unmap(self.buffers, Content::Written) {
            tracing::error!("while unmapping buffers: {error}");
        }
    }
}

fn map(buffers: &mut [&mut SharedBuffer], stream: &Stream) -> Result<()> {
    let device = stream.device().id();
    if buffers.iter().any(|buffer| buffer.device != device) {
        return Err(device::Error::WrongDevice { operation: "map a shared buffer" }.into());
    }
    // Those whose guard was forgotten.
    unmap(buffers, Content::Written)?;
    let result = groups(buffers).try_for_each(|group| map_group(group, stream));
    if result.is_err()
        && let Err(error) = unmap(buffers, Content::Unchanged)
    {
        tracing::error!("while unmapping what was mapped: {error}");
    }
    result
}

fn map_group(group: &mut [&mut SharedBuffer], stream: &Stream) -> Result<()> {
    Resources::of(group).map(stream)?;
    for buffer in &mut *group {
        buffer.mapping = Some(Mapping { stream: stream.clone(), address: 0 });
    }
    for buffer in group {
        let address = match &buffer.storage {
            Storage::Registered(registered) => registered.mapped_address()?,
            Storage::Copied(copied) => copied.address(),
            Storage::Plain(memory) => memory.address(),
        };
        if let Some(mapping) = &mut buffer.mapping {
            mapping.address = address;
        }
    }
    Ok(())
}

/// Unmaps those that are mapped; the first error, after all were tried.
pub(super) fn unmap(buffers: &mut [&mut SharedBuffer], content: Content) -> Result<()> {
    let mut result = Ok(());
    for group in groups(buffers) {
        result = result.and(unmap_group(group, content));
    }
    result
}

fn unmap_group(group: &mut [&mut SharedBuffer], content: Content) -> Result<()> {
    let Some(Mapping { stream, .. }) = group.first_mut().and_then(|first| first.mapping.take())
    else {
        return Ok(());
    };
    let mut result = Resources::of(group).unmap(&stream);
    for buffer in group {
        buffer.mapping = None;
        if let Storage::Copied(copied) = &mut buffer.storage
            && content == Content::Written
        {
            result = result.and(copied.unmap(&stream));
        }
    }
    result
}

/// Neighbours that one call can map or unmap together.
fn groups<'a, 'b>(
    buffers: &'a mut [&'b mut SharedBuffer],
) -> impl Iterator<Item = &'a mut [&'b mut SharedBuffer]> {
    buffers.chunk_by_mut(|a, b| a.goes_with(b)).flat_map(|group| group.chunks_mut(RESOURCES))
}

impl SharedBuffer {
    /// Whether one call can map or unmap both.
    fn goes_with(&self, other: &Self) -> bool {
        let same_stream = match (&self.mapping, &other.mapping) {
            (Some(a), Some(b)) => match (&a.stream, &b.stream) {
                (Stream::Nvidia(a), Stream::Nvidia(b)) => a.is(b),
                _ => false,
            },
            (None, None) => true,
            _ => false,
        };
        let same_context = match (&self.storage, &other.storage) {
            (Storage::Registered(a), Storage::Registered(b)) => a.gl().gl().same(b.gl().gl()),
            _ => false,
        };
        same_stream && same_context
    }
}
