//! Host memory that kernels see at an address of their own.

use std::ops::RangeBounds;

use super::{Device, DeviceId, Error, HostFlags, Result, Slice, cpu, each, nvidia};

/// Memory that both the host and kernels use without a copy.
///
/// Page-locked memory ([`Device::alloc_mapped`]) stays with the host: a kernel's accesses go over the bus, which is
/// best for what is used once or seldom. Managed memory ([`Device::alloc_managed`]) moves to whoever uses it. On the
/// CPU device both are ordinary device memory.
///
/// The host reads and writes it by copies at once, in no stream's order: what a kernel that runs meanwhile writes may be
/// seen or not. To copies on streams and to kernels it is device memory, by [`MappedMemory::slice`].
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
    /// # Errors
    /// [`Error::Unsupported`] where the host may not touch such memory while the GPU works (on Windows),
    /// [`Error::OutOfMemory`], [`Error::Call`].
    pub fn alloc_managed(&self, bytes: usize) -> Result<MappedMemory> {
        Ok(match self {
            Self::Nvidia(d) => MappedMemory::Nvidia(d.alloc_managed(bytes)?),
            Self::Cpu(d) => MappedMemory::Cpu(d.alloc_mapped(bytes)?),
        })
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

    /// The device it belongs to.
    pub fn device_id(&self) -> DeviceId {
        each!(self, m => m.device_id())
    }

    /// A range of its bytes as device memory.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when the range ends behind it.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Slice<'_>> {
        Slice::new(self.device_id(), self.address(), self.bytes()).slice(range)
    }

    /// Reads the bytes from `offset` on, at once.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when there are not as many.
    pub fn read(&self, offset: usize, to: &mut [u8]) -> Result<()> {
        let read = each!(self, m => m.read(offset, to));
        self.expect(read, offset, to.len())
    }

    /// Writes bytes from `offset` on, at once.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when they do not fit.
    pub fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        let written = each!(self, m => m.write(offset, from));
        self.expect(written, offset, from.len())
    }

    /// A copy of all of it, at once.
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
