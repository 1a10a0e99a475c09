//! Device memory: owned allocations, borrowed ranges of them, and copies on their way to the host.

use std::{marker::PhantomData, ops::RangeBounds};

use super::{DeviceId, Error, Result, cpu, each, nvidia};

/// An owned allocation on a device; freed when dropped, after the work that may still use it.
///
/// ```
/// use warpaint::device::Device;
///
/// let device = Device::cpu()?;
/// let memory = device.alloc(1000)?;
/// assert_eq!((memory.bytes(), memory.address() % 256), (1000, 0));
/// let address = memory.address();
/// drop(memory);
/// assert_eq!(device.address_range(address)?, None);
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Debug)]
pub enum Memory {
    /// Memory of an NVIDIA GPU.
    Nvidia(nvidia::Memory),
    /// Memory of the CPU device.
    Cpu(cpu::Memory),
}

impl Memory {
    /// Size in bytes, as asked for.
    pub fn bytes(&self) -> usize {
        each!(self, m => m.bytes())
    }

    /// Where a kernel sees it.
    ///
    /// ```
    /// # use warpaint::device::{Arguments, Device};
    /// let memory = Device::cpu()?.alloc(16)?;
    /// let mut arguments = Arguments::new();
    /// arguments.push(&memory.address()); // as a kernel's pointer
    /// assert_eq!(arguments.bytes(), memory.slice(..)?.address().to_ne_bytes());
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn address(&self) -> u64 {
        each!(self, m => m.address())
    }

    /// The device it belongs to.
    pub fn device_id(&self) -> DeviceId {
        each!(self, m => m.device_id())
    }

    /// A range of its bytes.
    ///
    /// ```
    /// # use warpaint::device::Device;
    /// let memory = Device::cpu()?.alloc(16)?;
    /// assert_eq!(memory.slice(4..)?.bytes(), 12);
    /// assert_eq!(memory.slice(..=3)?.bytes(), 4);
    /// assert_eq!(memory.slice(16..)?.bytes(), 0);
    /// assert!(memory.slice(..17).is_err());
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when the range ends behind the allocation.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Slice<'_>> {
        Slice::new(self.device_id(), self.address(), self.bytes()).slice(range)
    }
}

/// A range of device memory, borrowed from an allocation or from a mapped OpenGL buffer.
///
/// ```
/// use warpaint::device::{Device, Fill};
///
/// let device = Device::cpu()?;
/// let (stream, memory) = (device.stream()?, device.alloc(4)?);
/// let (low, high) = (memory.slice(..2)?, memory.slice(2..)?);
/// stream.fill(low, Fill::U8(1))?;
/// stream.fill(high, Fill::U8(2))?;
/// assert_eq!(stream.download(memory.slice(..)?)?.wait()?, [1, 1, 2, 2]);
/// assert_eq!(high.address(), memory.address() + 2);
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Slice<'a> {
    device: DeviceId,
    address: u64,
    bytes: usize,
    owner: PhantomData<&'a ()>,
}

impl<'a> Slice<'a> {
    /// The caller answers for `bytes` at `address` being memory of `device` for as long as `'a`.
    #[doc(hidden)]
    pub fn new(device: DeviceId, address: u64, bytes: usize) -> Self {
        Self { device, address, bytes, owner: PhantomData }
    }

    /// Where a kernel sees its first byte.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Length in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The device it belongs to.
    pub fn device_id(&self) -> DeviceId {
        self.device
    }

    /// A part of it, by byte range.
    ///
    /// ```
    /// # use warpaint::device::{Device, Error};
    /// let memory = Device::cpu()?.alloc(16)?;
    /// let middle = memory.slice(4..12)?;
    /// assert_eq!(middle.slice(2..)?.address(), memory.address() + 6);
    /// assert!(matches!(middle.slice(..12), Err(Error::OutOfRange { .. }))); // the memory goes on there
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when the range ends behind it or before it starts.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Slice<'a>> {
        use std::ops::Bound::{Excluded, Included, Unbounded};
        let start = match range.start_bound() {
            Included(&at) => at,
            Excluded(&at) => at.saturating_add(1),
            Unbounded => 0,
        };
        let end = match range.end_bound() {
            Included(&at) => at.saturating_add(1),
            Excluded(&at) => at,
            Unbounded => self.bytes,
        };
        if start > end || end > self.bytes {
            return Err(Error::OutOfRange { start, end, bytes: self.bytes });
        }
        Ok(Self { address: self.address + start as u64, bytes: end - start, ..*self })
    }

    /// That it belongs to `device`.
    #[doc(hidden)]
    pub fn expect_device(&self, device: DeviceId) -> Result<()> {
        if self.device == device { Ok(()) } else { Err(Error::WrongDevice { operation: "copy" }) }
    }
}

/// The value that [`Stream::fill`](super::Stream::fill) writes, at its own width.
///
/// ```
/// use warpaint::device::{Device, Fill};
///
/// let device = Device::cpu()?;
/// let (stream, memory) = (device.stream()?, device.alloc(8)?);
/// stream.fill(memory.slice(..)?, Fill::U32(1.5f32.to_bits()))?;
/// let read = stream.download(memory.slice(..)?)?.wait()?;
/// assert_eq!(bytemuck::pod_collect_to_vec::<u8, f32>(&read), [1.5, 1.5]);
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Every byte.
    U8(u8),
    /// Every two bytes; the range must be a multiple of two and aligned to it.
    U16(u16),
    /// Every four bytes; the range must be a multiple of four and aligned to it.
    U32(u32),
}

impl Fill {
    /// Width of the value in bytes.
    pub fn width(self) -> usize {
        match self {
            Self::U8(_) => 1,
            Self::U16(_) => 2,
            Self::U32(_) => 4,
        }
    }
}

/// Bytes on their way from the device to the host, in the order of the stream that copies them.
///
/// ```
/// use warpaint::device::{Device, Fill};
///
/// let device = Device::cpu()?;
/// let (stream, memory) = (device.stream()?, device.alloc(4)?);
/// stream.fill(memory.slice(..)?, Fill::U8(1))?;
/// let read = stream.download(memory.slice(..)?)?;
/// stream.fill(memory.slice(..)?, Fill::U8(2))?; // comes after the copy
/// assert_eq!(read.wait()?, [1; 4]);
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Debug)]
pub enum Readback {
    /// From an NVIDIA GPU, through page-locked memory.
    Nvidia(nvidia::Readback),
    /// From the CPU device.
    Cpu(cpu::Readback),
}

impl Readback {
    /// Whether [`Readback::wait`] would return at once.
    ///
    /// ```
    /// # use std::sync::mpsc;
    /// # use warpaint::device::{Device, Fill};
    /// # let device = Device::cpu()?;
    /// # let (stream, memory, (go, wait)) = (device.stream()?, device.alloc(4)?, mpsc::channel());
    /// stream.host_function(move || wait.recv().unwrap_or(()))?; // work before the copy
    /// let read = stream.download(memory.slice(..)?)?;
    /// assert!(!read.is_ready()?); // something else can be done meanwhile
    /// go.send(())?;
    /// assert_eq!(read.wait()?.len(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// An error of the stream before the copy.
    pub fn is_ready(&self) -> Result<bool> {
        each!(self, r => r.is_ready())
    }

    /// The bytes, once they are there.
    ///
    /// ```
    /// # use warpaint::device::{Arguments, Device, Error, LaunchConfig};
    /// # let device = Device::cpu()?;
    /// # let (stream, memory) = (device.stream()?, device.alloc(4)?);
    /// # let ptx = ".version 7.0 .target sm_75 .address_size 64 .visible .entry fail() { trap; }";
    /// # let (fail, none) = (device.load(ptx)?.function("fail")?, Arguments::new());
    /// // SAFETY: the kernel takes no arguments.
    /// unsafe { stream.launch(&fail, &LaunchConfig::new(1, 1), &none)? };
    /// let read = stream.download(memory.slice(..)?)?;
    /// assert!(matches!(read.wait(), Err(Error::Fault(_)))); // of the kernel before
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// An error of the stream before the copy.
    pub fn wait(self) -> Result<Vec<u8>> {
        each!(self, r => r.wait())
    }

    /// What `read` makes of the bytes, once they are there, where the device put them: it need not keep a copy.
    ///
    /// ```
    /// # use warpaint::device::{Device, Fill};
    /// # let device = Device::cpu()?;
    /// # let (stream, memory) = (device.stream()?, device.alloc(1000)?);
    /// stream.fill(memory.slice(..)?, Fill::U8(3))?;
    /// let read = stream.download(memory.slice(..)?)?;
    /// let sum: u32 = read.wait_with(|bytes| bytes.iter().map(|&byte| u32::from(byte)).sum())?;
    /// assert_eq!(sum, 3000);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// An error of the stream before the copy.
    pub fn wait_with<R>(self, read: impl FnOnce(&[u8]) -> R) -> Result<R> {
        each!(self, r => r.wait_with(read))
    }
}
