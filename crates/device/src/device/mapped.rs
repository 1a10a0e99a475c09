//! Host memory that kernels see at an address of their own.

use std::ops::RangeBounds;

use super::{Device, DeviceId, Error, HostFlags, Result, Slice, Stream, cpu, each, nvidia};

/// Memory that both the host and kernels use without a copy.
///
/// Page-locked memory ([`Device::alloc_mapped`]) stays with the host: a kernel's accesses go over the bus, which is
/// best for what is used once or seldom. Managed memory ([`Device::alloc_managed`]) moves to whoever uses it. On the
/// CPU device both are ordinary device memory.
///
/// The host reads and writes it by copies at once, in no stream's order: what a kernel that runs meanwhile writes may
/// be seen or not. To copies on streams and to kernels it is device memory, by [`MappedMemory::slice`].
///
/// ```
/// use warpaint::device::{Device, Fill, HostFlags};
///
/// let device = Device::cpu()?;
/// let (stream, mut memory) = (device.stream()?, device.alloc_mapped(4, HostFlags::default())?);
/// memory.write(0, &[1, 2, 3, 4])?;
/// stream.fill(memory.slice(2..)?, Fill::U8(9))?; // or a kernel that is given `memory.address()`
/// stream.synchronize()?;
/// assert_eq!(memory.to_vec(), [1, 2, 9, 9]);
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Debug)]
pub enum MappedMemory {
    /// Of an NVIDIA GPU.
    Nvidia(nvidia::MappedMemory),
    /// Of the CPU device.
    Cpu(cpu::MappedMemory),
}

impl Device {
    /// Page-locks `bytes` of new host memory that kernels see, too. Its content is undefined.
    ///
    /// ```
    /// # use warpaint::{device::{Device, HostFlags, LaunchConfig}, kernel::{Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// # let source = Source::new("__global__ void store(int *x, int v) { *x = v; }");
    /// # let store = context.module(&source)?.kernel("store")?;
    /// let result = context.device().alloc_mapped(4, HostFlags::default())?;
    /// let arguments = [result.slice(..)?.into(), 42i32.into()]; // `store(int *x, int v)` writes `v` to `x`
    /// // SAFETY: `x` has the four bytes that the kernel writes, and stays until it has ended.
    /// unsafe { store.launch(context.stream(), &LaunchConfig::new(1, 1), &arguments)? };
    /// context.synchronize()?;
    /// assert_eq!(result.to_vec(), 42i32.to_le_bytes()); // without a copy
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Call`].
    pub fn alloc_mapped(&self, bytes: usize, flags: HostFlags) -> Result<MappedMemory> {
        Ok(match self {
            Self::Nvidia(d) => MappedMemory::Nvidia(d.alloc_mapped(bytes, flags)?),
            Self::Cpu(d) => MappedMemory::Cpu(d.alloc_mapped(bytes)?),
        })
    }

    /// Allocates `bytes` that the driver moves between host and device as they are used. Their content is undefined.
    ///
    /// ```
    /// # use warpaint::device::Device;
    /// # let device = Device::cpu()?;
    /// # let stream = device.stream()?;
    /// let mut memory = device.alloc_managed(4)?;
    /// memory.write(0, &[1, 2, 3, 4])?;
    /// stream.copy(memory.slice(..2)?, memory.slice(2..)?)?;
    /// stream.synchronize()?;
    /// assert_eq!((memory.to_vec(), memory.is_managed()), (vec![3, 4, 3, 4], true));
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the host may not touch such memory while the GPU works (on Windows),
    /// [`Error::OutOfMemory`], [`Error::Call`].
    pub fn alloc_managed(&self, bytes: usize) -> Result<MappedMemory> {
        Ok(match self {
            Self::Nvidia(d) => MappedMemory::Nvidia(d.alloc_managed(bytes)?),
            Self::Cpu(d) => MappedMemory::Cpu(d.alloc_managed(bytes)?),
        })
    }
}

/// Who uses managed memory, as the driver is told: a hint where to keep it (CUDA driver API, `CUmemAttach_flags`).
///
/// ```
/// use warpaint::device::{Attachment, Device, Error, HostFlags};
///
/// let device = Device::cpu()?;
/// let (stream, memory) = (device.stream()?, device.alloc_mapped(4, HostFlags::default())?);
/// let refused = stream.attach(&memory, Attachment::Stream); // it is not managed
/// assert!(matches!(refused, Err(Error::Unsupported { .. })));
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Attachment {
    /// All streams and the host: what holds at first.
    #[default]
    Global,
    /// The host alone.
    Host,
    /// The stream alone.
    Stream,
}

impl Stream {
    /// Says who uses managed memory from now on, once all work put on the stream so far has ended. Without effect on
    /// the CPU device, where memory does not move.
    ///
    /// Nothing is forbidden by it: [`Device::alloc_managed`] gives memory only where host and kernels may use it at the
    /// same time. When the stream is dropped, memory that was its own is everyone's again.
    ///
    /// ```
    /// use warpaint::device::{Attachment, Device};
    ///
    /// let device = Device::cpu()?;
    /// let (stream, memory) = (device.stream()?, device.alloc_managed(1 << 10)?);
    /// stream.attach(&memory, Attachment::Stream)?;
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] for memory that is not managed, [`Error::WrongDevice`], [`Error::Call`].
    pub fn attach(&self, memory: &MappedMemory, to: Attachment) -> Result<()> {
        if memory.device_id() != self.device_id() {
            return Err(Error::WrongDevice { operation: "attach memory" });
        }
        if !memory.is_managed() {
            let operation = "attaching memory that is not managed";
            return Err(Error::Unsupported { operation, device: self.device().info().to_string() });
        }
        match (self, memory) {
            (Self::Nvidia(s), MappedMemory::Nvidia(m)) => s.attach(m, to),
            _ => Ok(()),
        }
    }
}

impl MappedMemory {
    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        each!(self, m => m.bytes())
    }

    /// Where a kernel sees it.
    pub fn address(&self) -> u64 {
        each!(self, m => m.address())
    }

    /// Whether it moves to whoever uses it ([`Device::alloc_managed`]).
    pub fn is_managed(&self) -> bool {
        each!(self, m => m.is_managed())
    }

    /// The device it belongs to.
    pub fn device_id(&self) -> DeviceId {
        each!(self, m => m.device_id())
    }

    /// A range of its bytes as device memory.
    ///
    /// ```
    /// # use warpaint::device::{Device, Fill, HostFlags};
    /// # let device = Device::cpu()?;
    /// # let stream = device.stream()?;
    /// let mut memory = device.alloc_mapped(4, HostFlags::default())?;
    /// memory.write(0, &[1, 2, 3, 4])?;
    /// stream.fill(memory.slice(1..3)?, Fill::U8(0))?;
    /// stream.synchronize()?;
    /// assert_eq!(memory.to_vec(), [1, 0, 0, 4]);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when the range ends behind it.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Slice<'_>> {
        Slice::new(self.device_id(), self.address(), self.bytes()).slice(range)
    }

    /// Reads the bytes from `offset` on, at once.
    ///
    /// ```
    /// # use warpaint::device::Device;
    /// let mut memory = Device::cpu()?.alloc_managed(4)?;
    /// memory.write(0, &[1, 2, 3, 4])?;
    /// let mut bytes = [0; 2];
    /// memory.read(1, &mut bytes)?;
    /// assert_eq!(bytes, [2, 3]);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when there are not as many.
    pub fn read(&self, offset: usize, to: &mut [u8]) -> Result<()> {
        let read = each!(self, m => m.read(offset, to));
        self.expect(read, offset, to.len())
    }

    /// Writes bytes from `offset` on, at once.
    ///
    /// ```
    /// # use warpaint::device::{Device, Error};
    /// let mut memory = Device::cpu()?.alloc_managed(4)?;
    /// memory.write(0, &[0; 4])?;
    /// assert!(matches!(memory.write(3, &[1, 2]), Err(Error::OutOfRange { .. })));
    /// assert_eq!(memory.to_vec(), [0; 4]); // all of it or nothing
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when they do not fit.
    pub fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        let written = each!(self, m => m.write(offset, from));
        self.expect(written, offset, from.len())
    }

    /// A copy of all of it, at once.
    ///
    /// ```
    /// # use warpaint::device::{Device, Fill, HostFlags};
    /// # let device = Device::cpu()?;
    /// # let (stream, memory) = (device.stream()?, device.alloc_mapped(2, HostFlags::default())?);
    /// stream.fill(memory.slice(..)?, Fill::U8(7))?;
    /// stream.synchronize()?; // else what is copied may be older than the fill
    /// assert_eq!(memory.to_vec(), [7, 7]);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.bytes()];
        let read = each!(self, m => m.read(0, &mut bytes));
        debug_assert!(read, "all of it is there");
        bytes
    }

    fn expect(&self, fits: bool, start: usize, length: usize) -> Result<()> {
        match fits {
            true => Ok(()),
            false => {
                let end = start.saturating_add(length);
                Err(Error::OutOfRange { start, end, bytes: self.bytes() })
            }
        }
    }
}
