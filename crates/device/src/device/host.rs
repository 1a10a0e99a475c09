//! Page-locked host memory, from and to which a device copies at full speed while the host goes on.
//!
//! A copy that is under way owns the memory: [`Stream::upload_from`] and [`Stream::download_to`] take it, and
//! [`Transfer::wait`] gives it back. So nobody sees it half written, and nobody frees it meanwhile.

use std::{
    ops::{Deref, DerefMut},
    sync::Arc,
};

use super::{
    Device, Error, HostPart, PoolStatistics, Region, Result, Stream, cpu, each,
    free_list::{FreeList, size_class},
    nvidia,
};

/// How page-locked memory is allocated.
///
/// ```
/// use warpaint::device::{Device, HostFlags};
///
/// let device = Device::cpu()?;
/// let (stream, memory) = (device.stream()?, device.alloc(4)?);
/// let written_once = HostFlags { write_combined: true, ..HostFlags::default() };
/// let mut host = device.alloc_host(4, written_once)?;
/// host.copy_from_slice(&[1, 2, 3, 4]);
/// stream.upload_from(memory.slice(..)?, host)?.wait()?;
/// assert_eq!(stream.download(memory.slice(..)?)?.wait()?, [1, 2, 3, 4]);
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct HostFlags {
    /// Page-locked for every context of the process, not only for the device's.
    pub portable: bool,
    /// Not through the host's caches: the GPU reads it faster, and the host should only write it, for it reads it
    /// very slowly.
    pub write_combined: bool,
}

/// Page-locked memory of the host; on the CPU device, ordinary memory. What was not registered starts at a multiple of
/// 256 bytes.
///
/// ```
/// use warpaint::device::{Device, HostFlags};
///
/// let device = Device::cpu()?;
/// let (stream, memory) = (device.stream()?, device.alloc(4)?);
/// let mut host = device.alloc_host(8, HostFlags::default())?;
/// host.copy_from_slice(&[0, 1, 2, 3, 4, 5, 6, 7]);
///
/// let upload = stream.upload_from(memory.slice(..)?, host.at(4))?;
/// // The host may do something else now, but not touch what is being copied.
/// let mut host = upload.wait()?;
/// host.fill(0);
/// let host = stream.download_to(host, memory.slice(..)?)?.wait()?;
/// assert_eq!(*host, [4, 5, 6, 7, 0, 0, 0, 0]);
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Debug)]
pub struct HostMemory {
    /// Always there until it is dropped or handed on.
    raw: Option<RawHost>,
    bytes: usize,
    /// The pool that it goes back to.
    home: Option<Arc<FreeList<RawHost>>>,
}

/// Host memory that knows no pool.
#[derive(Debug)]
enum RawHost {
    Nvidia(nvidia::HostMemory),
    Cpu(cpu::HostMemory),
}

impl RawHost {
    fn new(device: &Device, bytes: usize, flags: HostFlags) -> Result<Self> {
        Ok(match device {
            Device::Nvidia(d) => Self::Nvidia(d.alloc_host(bytes, flags)?),
            Device::Cpu(d) => Self::Cpu(d.alloc_host(bytes)?),
        })
    }

    fn bytes(&self) -> usize {
        each!(self, m => m.len())
    }
}

impl Device {
    /// Page-locks `bytes` of new host memory, full of zeros. That takes long: keep it, or take it from
    /// a [`HostPool`].
    ///
    /// ```
    /// # use warpaint::device::{Device, HostFlags};
    /// let host = Device::cpu()?.alloc_host(1000, HostFlags::default())?;
    /// assert_eq!(*host, [0; 1000]);
    /// assert_eq!(host.as_ptr().addr() % 256, 0);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Call`].
    pub fn alloc_host(&self, bytes: usize, flags: HostFlags) -> Result<HostMemory> {
        let raw = RawHost::new(self, bytes, flags)?;
        Ok(HostMemory { raw: Some(raw), bytes, home: None })
    }

    /// Page-locks host memory that there is already; [`HostMemory::into_vec`] gives it back.
    ///
    /// ```
    /// # use warpaint::device::Device;
    /// # let device = Device::cpu()?;
    /// # let (stream, memory) = (device.stream()?, device.alloc(3)?);
    /// let bytes = vec![1, 2, 3];
    /// let address = bytes.as_ptr();
    /// let host = stream.upload_from(memory.slice(..)?, device.register_host(bytes)?)?.wait()?;
    /// let bytes = host.into_vec();
    /// assert_eq!((bytes.as_ptr(), bytes.as_slice()), (address, &[1, 2, 3][..])); // never copied on the host
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Call`].
    pub fn register_host(&self, bytes: Vec<u8>) -> Result<HostMemory> {
        let length = bytes.len();
        let raw = match self {
            Self::Nvidia(d) => RawHost::Nvidia(d.register_host(bytes)?),
            Self::Cpu(d) => RawHost::Cpu(d.register_host(bytes)),
        };
        Ok(HostMemory { raw: Some(raw), bytes: length, home: None })
    }
}

impl HostMemory {
    /// Its bytes as ordinary memory: without a copy where it was registered.
    ///
    /// ```
    /// # use warpaint::device::{Device, HostFlags, HostPool};
    /// let pool = HostPool::new(&Device::cpu()?, HostFlags::default());
    /// let mut host = pool.alloc(2)?;
    /// host.copy_from_slice(&[7, 8]);
    /// assert_eq!(host.into_vec(), [7, 8]); // a copy: the memory went back to its pool
    /// assert_eq!(pool.statistics().held_blocks, 1);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn into_vec(mut self) -> Vec<u8> {
        // What has a home goes back there when this is dropped.
        if self.home.is_some() {
            return self.to_vec();
        }
        match self.raw.take() {
            Some(RawHost::Nvidia(memory)) => memory.into_vec(),
            Some(RawHost::Cpu(memory)) => memory.into_vec(),
            None => Vec::new(),
        }
    }

    /// The part of it that starts at `offset`, for a copy.
    ///
    /// ```
    /// # use warpaint::device::{Device, Error, HostFlags};
    /// # let device = Device::cpu()?;
    /// # let (stream, memory) = (device.stream()?, device.alloc(4)?);
    /// let host = device.alloc_host(10, HostFlags::default())?;
    /// let short = stream.upload_from(memory.slice(..)?, host.at(8)); // the two from byte 8 on
    /// assert!(matches!(short, Err(Error::OutOfRange { bytes: 2, .. })));
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn at(self, offset: usize) -> HostPart {
        HostPart { memory: self, offset, pitch: None }
    }
}

impl Deref for HostMemory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let all: &[u8] = match &self.raw {
            Some(RawHost::Nvidia(memory)) => memory,
            Some(RawHost::Cpu(memory)) => memory,
            None => &[],
        };
        all.get(..self.bytes).unwrap_or(all)
    }
}

impl DerefMut for HostMemory {
    fn deref_mut(&mut self) -> &mut [u8] {
        let all: &mut [u8] = match &mut self.raw {
            Some(RawHost::Nvidia(memory)) => memory,
            Some(RawHost::Cpu(memory)) => memory,
            None => &mut [],
        };
        let bytes = self.bytes.min(all.len());
        &mut all[..bytes]
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        if let (Some(raw), Some(home)) = (self.raw.take(), &self.home) {
            drop(home.put(raw.bytes(), raw));
        }
    }
}

/// A copy between page-locked memory and the device that is under way. Dropped, it waits for its end.
///
/// ```
/// use warpaint::device::{Device, HostFlags};
///
/// let device = Device::cpu()?;
/// let (stream, memory) = (device.stream()?, device.alloc(1 << 20)?);
/// let mut host = device.alloc_host(1 << 20, HostFlags::default())?;
/// for frame in 1..=3 {
///     host.fill(frame);
///     let upload = stream.upload_from(memory.slice(..)?, host)?;
///     // … what the host does while that is copied
///     host = upload.wait()?; // and may be written again
/// }
/// assert_eq!(stream.download(memory.slice(..4)?)?.wait()?, [3; 4]);
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Debug)]
pub struct Transfer {
    /// Always there until it is dropped.
    raw: Option<RawTransfer>,
    bytes: usize,
    home: Option<Arc<FreeList<RawHost>>>,
}

#[derive(Debug)]
enum RawTransfer {
    Nvidia(nvidia::Transfer),
    Cpu(cpu::Transfer),
}

impl Transfer {
    /// Whether [`Transfer::wait`] would return at once.
    ///
    /// ```
    /// # use std::sync::mpsc;
    /// # use warpaint::device::{Device, HostFlags};
    /// # let device = Device::cpu()?;
    /// # let (stream, memory, (go, wait)) = (device.stream()?, device.alloc(4)?, mpsc::channel());
    /// # let host = device.alloc_host(4, HostFlags::default())?;
    /// stream.host_function(move || wait.recv().unwrap_or(()))?; // work before the copy
    /// let upload = stream.upload_from(memory.slice(..)?, host)?;
    /// assert!(!upload.is_ready()?);
    /// go.send(())?;
    /// stream.synchronize()?;
    /// assert!(upload.is_ready()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// An error of the stream before the copy.
    pub fn is_ready(&self) -> Result<bool> {
        match &self.raw {
            Some(RawTransfer::Nvidia(transfer)) => transfer.is_ready(),
            Some(RawTransfer::Cpu(transfer)) => transfer.is_ready(),
            None => Ok(true),
        }
    }

    /// The host's memory, once the copy has ended.
    ///
    /// ```
    /// # use std::sync::mpsc;
    /// # use warpaint::device::{Device, Fill, HostFlags};
    /// # let device = Device::cpu()?;
    /// # let (stream, memory, (go, wait)) = (device.stream()?, device.alloc(4)?, mpsc::channel());
    /// stream.fill(memory.slice(..)?, Fill::U8(7))?;
    /// let host = device.alloc_host(4, HostFlags::default())?;
    /// let download = stream.download_to(host, memory.slice(..)?)?;
    /// stream.host_function(move || wait.recv().unwrap_or(()))?;
    /// assert_eq!(*download.wait()?, [7; 4]); // not for the function, which comes later
    /// go.send(())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// An error of the stream before the copy; the memory is freed then.
    pub fn wait(mut self) -> Result<HostMemory> {
        let (raw, ended) = self.end(true);
        let memory = HostMemory { raw, bytes: self.bytes, home: self.home.clone() };
        ended.map(|()| memory)
    }

    /// Waits; with `report`, the error that the stream has not reported yet.
    fn end(&mut self, report: bool) -> (Option<RawHost>, Result<()>) {
        match self.raw.take() {
            Some(RawTransfer::Nvidia(transfer)) => {
                let (memory, ended) = transfer.end();
                (memory.map(RawHost::Nvidia), ended)
            }
            Some(RawTransfer::Cpu(transfer)) => {
                let (memory, ended) = transfer.end(report);
                (memory.map(RawHost::Cpu), ended)
            }
            None => (None, Ok(())),
        }
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        let (raw, _) = self.end(false);
        drop(HostMemory { raw, bytes: self.bytes, home: self.home.take() });
    }
}

impl Stream {
    /// Starts to copy page-locked memory to `to`: memory, rows in it, or texels of an array. [`Transfer::wait`]
    /// gives the memory back.
    ///
    /// ```
    /// # use warpaint::device::{ArrayDescriptor, ArrayShape, Device, Format, HostFlags};
    /// # let device = Device::cpu()?;
    /// # let stream = device.stream()?;
    /// let shape = ArrayShape::D2 { width: 2, height: 1 };
    /// let array = device.array(&ArrayDescriptor::new(shape, Format::RGBA8))?;
    /// let mut host = device.alloc_host(12, HostFlags::default())?;
    /// host.copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    /// stream.upload_from(array.region(), host.at(4))?.wait()?;
    /// assert_eq!(stream.download(array.region())?.wait()?, [5, 6, 7, 8, 9, 10, 11, 12]);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when the host's side has not as many bytes, [`Error::WrongDevice`], [`Error::Call`];
    /// the memory is freed then.
    pub fn upload_from<'a>(
        &self,
        to: impl Into<Region<'a>>,
        from: impl Into<HostPart>,
    ) -> Result<Transfer> {
        self.transfer(to.into(), from.into(), true)
    }

    /// Starts to copy `from` to page-locked memory; what lies beside it there stays. [`Transfer::wait`] gives the
    /// memory back.
    ///
    /// ```
    /// # use warpaint::device::{Device, Fill, HostFlags};
    /// # let device = Device::cpu()?;
    /// # let (stream, memory) = (device.stream()?, device.alloc(2)?);
    /// stream.fill(memory.slice(..)?, Fill::U8(9))?;
    /// let mut host = device.alloc_host(4, HostFlags::default())?;
    /// host.fill(1);
    /// let host = stream.download_to(host.at(1), memory.slice(..)?)?.wait()?;
    /// assert_eq!(*host, [1, 9, 9, 1]);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Stream::upload_from`].
    pub fn download_to<'a>(
        &self,
        to: impl Into<HostPart>,
        from: impl Into<Region<'a>>,
    ) -> Result<Transfer> {
        self.transfer(from.into(), to.into(), false)
    }

    fn transfer(&self, region: Region<'_>, part: HostPart, upload: bool) -> Result<Transfer> {
        let rows = part.check(region.extent())?;
        let id = self.device_id();
        region.expect_device(id)?;
        let mut memory = part.memory;
        let (bytes, home) = (memory.bytes, memory.home.clone());
        let raw = match (self, memory.raw.take()) {
            (Self::Nvidia(s), Some(RawHost::Nvidia(m))) if m.device_id() == id => {
                RawTransfer::Nvidia(s.transfer(&region, m, rows, upload)?)
            }
            (Self::Cpu(s), Some(RawHost::Cpu(m))) if m.device_id() == id => {
                RawTransfer::Cpu(s.transfer(&region, m, rows, upload)?)
            }
            (Self::Nvidia(_) | Self::Cpu(_), raw) => {
                memory.raw = raw;
                return Err(Error::WrongDevice { operation: "copy" });
            }
        };
        Ok(Transfer { raw: Some(raw), bytes, home })
    }
}

/// Keeps freed page-locked memory of one device for later allocations. Clones are the same pool.
///
/// ```
/// use warpaint::device::{Device, HostFlags, HostPool};
///
/// let pool = HostPool::new(&Device::cpu()?, HostFlags::default());
/// let address = pool.alloc(1000)?.as_ptr();
/// assert_eq!(pool.alloc(900)?.as_ptr(), address, "the same memory again");
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct HostPool {
    device: Device,
    flags: HostFlags,
    free_list: Arc<FreeList<RawHost>>,
}

impl HostPool {
    /// An empty pool.
    ///
    /// ```
    /// # use warpaint::device::{Device, HostFlags, HostPool};
    /// let flags = HostFlags { write_combined: true, ..HostFlags::default() };
    /// let pool = HostPool::new(&Device::cpu()?, flags); // for uploads
    /// let clone = pool.clone();
    /// drop(pool.alloc(1000)?);
    /// assert_eq!(clone.statistics(), pool.statistics());
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn new(device: &Device, flags: HostFlags) -> Self {
        Self { device: device.clone(), flags, free_list: Arc::default() }
    }

    /// `bytes` of page-locked memory, which go back to the pool when they are dropped. Their content is what the
    /// last user left.
    ///
    /// ```
    /// # use warpaint::device::{Device, HostFlags, HostPool};
    /// # let pool = HostPool::new(&Device::cpu()?, HostFlags::default());
    /// pool.alloc(100)?.fill(7);
    /// assert_eq!(*pool.alloc(2)?, [7, 7]); // not zeroed again
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], also once what is kept was given back; [`Error::Call`].
    pub fn alloc(&self, bytes: usize) -> Result<HostMemory> {
        let fresh = |size| RawHost::new(&self.device, size, self.flags);
        let raw = self.free_list.take(size_class(bytes), |_| true, fresh)?;
        Ok(HostMemory { raw: Some(raw), bytes, home: Some(self.free_list.clone()) })
    }

    /// Gives the memory that is kept back to the host.
    pub fn trim(&self) {
        self.free_list.trim();
    }

    /// Gives it back, and from now on keeps nothing: what is dropped is freed at once.
    ///
    /// ```
    /// # use warpaint::device::{Device, HostFlags, HostPool};
    /// let pool = HostPool::new(&Device::cpu()?, HostFlags::default());
    /// drop(pool.alloc(100)?);
    /// pool.trim(); // once
    /// drop(pool.alloc(100)?);
    /// assert_eq!(pool.statistics().held_blocks, 1);
    /// pool.stop_holding(); // for good
    /// drop(pool.alloc(100)?);
    /// assert_eq!(pool.statistics().held_blocks, 0);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn stop_holding(&self) {
        self.free_list.stop_holding();
    }

    /// What it holds and has given out, now.
    ///
    /// ```
    /// # use warpaint::device::{Device, HostFlags, HostPool};
    /// let pool = HostPool::new(&Device::cpu()?, HostFlags::default());
    /// let host = pool.alloc(1000)?;
    /// assert_eq!((host.len(), pool.statistics().active_bytes), (1000, 1024));
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn statistics(&self) -> PoolStatistics {
        self.free_list.statistics()
    }
}
