//! Memory that kernels write and OpenGL draws from, without a copy where that is possible.
//!
//! Enters: a device and an OpenGL context. Leaves: memory that both can use, one after the other. Must not know:
//! `element`, `scene`, `kernel`, `array`, `draw`.
//!
//! [`SharedBuffer::map`] maps one for the device, [`Mapped::unmap`] unmaps it, and the borrow checker sees to
//! it that nothing is drawn in between.
//!
//! There are two paths behind this face. *Registered*: CUDA writes into OpenGL's own buffer
//! ([CUDA driver API, graphics interoperability][api]). *Copied*: for the CPU device, and for an OpenGL that CUDA
//! cannot share with, results go through the host. [`Interop::path`] says which one it is, and why.
//!
//! ```
//! use warpaint::{device::{Choice, Device, Fill}, gl, interop::Interop};
//!
//! let device = Device::open(Choice::Auto)?;
//! let context = gl::CurrentContext::headless(gl::Headless::default())?;
//! let interop = Interop::new(context.gl(), &device);
//! let mut buffer = interop.buffer(1024)?;
//!
//! let stream = device.stream()?;
//! let mapped = buffer.map(&stream)?;
//! stream.fill(mapped.slice(), Fill::U32(7))?;
//! mapped.unmap()?;
//!
//! stream.synchronize()?;
//! assert!(buffer.present()?); // now OpenGL may draw from it
//! let (drawn, mut bytes) = (buffer.gl().ok_or("is never drawn")?, [0; 8]);
//! drawn.read(0, &mut bytes)?;
//! assert_eq!(bytes, [7, 0, 0, 0, 7, 0, 0, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [api]: https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__GRAPHICS.html

mod copied;
mod mapped;
mod registered;
mod registered_image;
mod registered_object;
mod texture;
mod twin;

use std::fmt;

pub use mapped::{Mapped, MappedAll, map_all, present_all};
pub use registered::{Drawing, cuda_devices_drawing, cuda_devices_of};
pub use registered_object::{
    GlObject, ImageObject, ImageTarget, ImageUse, MappedImage, MappedObjects, map_objects,
};
pub use texture::{MappedTexture, SharedTexture};
pub use twin::TextureTwin;

use crate::{
    device::{self, Device, Memory, Slice, Stream},
    gl::{self, Gl},
};
use copied::Copied;
use registered::Registered;

/// `Result` with this module's [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong with shared memory.
///
/// ```
/// use warpaint::{device::{self, Device}, interop::{Error, Interop}};
///
/// let mut buffer = Interop::none(&Device::cpu()?).buffer(16)?;
/// let elsewhere = Device::cpu()?.stream()?;
/// let error = buffer.map(&elsewhere).unwrap_err();
/// assert!(matches!(error, Error::Device(device::Error::WrongDevice { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// On the device's side.
    #[error(transparent)]
    Device(#[from] device::Error),
    /// On OpenGL's side.
    #[error(transparent)]
    Gl(#[from] gl::Error),
    /// CUDA mapped less of an OpenGL buffer than there is.
    #[error("CUDA mapped {mapped} bytes of an OpenGL buffer of {bytes}")]
    ShortMapping {
        /// Bytes mapped.
        mapped: usize,
        /// Bytes of the buffer.
        bytes: usize,
    },
}

/// How results get from the device to OpenGL.
///
/// ```
/// use warpaint::{device::Device, gl, interop::{Interop, Path}};
///
/// let (device, context) = (Device::cpu()?, gl::CurrentContext::headless(gl::Headless::default())?);
/// let Path::Copied(why) = Interop::new(context.gl(), &device).path().clone() else {
///     panic!("OpenGL cannot draw from the CPU device's memory");
/// };
/// assert!(!why.is_empty());
/// assert!(matches!(Interop::none(&device).path(), Path::None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Path {
    /// Kernels write into OpenGL's own buffers.
    Registered,
    /// Results are copied through the host, and why.
    Copied(String),
    /// Nothing is drawn: shared memory is plain device memory.
    None,
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Registered => f.write_str("registered with CUDA"),
            Self::Copied(why) => write!(f, "copied through the host: {why}"),
            Self::None => f.write_str("not drawn"),
        }
    }
}

/// What the device does with a shared buffer while it is mapped; a hint, by which the driver may save copies.
///
/// ```
/// use warpaint::{device::{Device, Fill}, gl, interop::{Access, Interop}};
///
/// let device = Device::cpu()?;
/// let context = gl::CurrentContext::headless(gl::Headless::default())?;
/// let mut buffer = Interop::new(context.gl(), &device).buffer_for(4, Access::ReadOnly)?;
/// let stream = device.stream()?;
/// let mapped = buffer.map(&stream)?;
/// stream.fill(mapped.slice(), Fill::U8(1))?; // against what was said
/// mapped.unmap()?;
/// stream.synchronize()?;
/// buffer.present()?;
/// let mut bytes = [0; 4];
/// buffer.gl().ok_or("is never drawn")?.read(0, &mut bytes)?;
/// assert_ne!(bytes, [1; 4]); // nothing was copied to OpenGL
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Access {
    /// Reads and writes.
    #[default]
    ReadWrite,
    /// Reads only.
    ReadOnly,
    /// Writes all of it anew each time: what was there before is lost.
    WriteDiscard,
}

/// A device and an OpenGL context, and the best way from one to the other. It stays on the context's thread.
///
/// ```
/// use warpaint::{device::{Choice, Device}, gl::{self, Format, Size}, interop::{Interop, Path}};
///
/// let device = Device::open(Choice::Auto)?;
/// let context = gl::CurrentContext::headless(gl::Headless::default())?;
/// let interop = Interop::new(context.gl(), &device);
/// let points = interop.buffer(1 << 20)?;
/// let picture = interop.texture(Format::Rgba8, Size::Flat([640, 480]))?;
/// assert!(points.gl().is_some() && picture.gl().is_some()); // what is drawn
/// assert!(device.as_nvidia().is_some() || matches!(interop.path(), Path::Copied(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Interop {
    device: Device,
    gl: Option<Gl>,
    path: Path,
}

impl Interop {
    /// Finds out, once, how `device` and `gl` can share memory.
    ///
    /// Never fails: where CUDA cannot register OpenGL's buffers, results are copied.
    ///
    /// ```
    /// # use warpaint::{device::Device, gl, interop::{Interop, Path}};
    /// let context = gl::CurrentContext::headless(gl::Headless::default())?;
    /// let interop = Interop::new(context.gl(), &Device::cpu()?);
    /// assert!(matches!(interop.path(), Path::Copied(why) if !why.is_empty()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(gl: &Gl, device: &Device) -> Self {
        let path = match registered::probe(gl, device) {
            Ok(()) => Path::Registered,
            Err(why) => Path::Copied(why),
        };
        tracing::info!(
            "{device} and {renderer}: {path}",
            device = device.info(),
            renderer = gl.info().renderer
        );
        Self { device: device.clone(), gl: Some(gl.clone()), path }
    }

    /// The way from another device to the same OpenGL; none, where this is none.
    ///
    /// ```
    /// use warpaint::{device::Device, interop::{Interop, Path}};
    ///
    /// let interop = Interop::none(&Device::cpu()?);
    /// assert_eq!(*interop.on(&Device::cpu()?).path(), Path::None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on(&self, device: &Device) -> Self {
        match &self.gl {
            Some(gl) => Self::new(gl, device),
            None => Self::none(device),
        }
    }

    /// OpenGL's side, where anything is drawn.
    pub fn gl(&self) -> Option<&Gl> {
        self.gl.as_ref()
    }

    /// Copies even where registering may be possible: to compare both, or around a driver's fault.
    ///
    /// ```
    /// # use warpaint::{device::{Choice, Device}, gl, interop::{Interop, Path}};
    /// let device = Device::open(Choice::Auto)?;
    /// let context = gl::CurrentContext::headless(gl::Headless::default())?;
    /// let interop = Interop::copying(context.gl(), &device, "to compare");
    /// assert!(matches!(interop.path(), Path::Copied(why) if why == "to compare"));
    /// assert_eq!(interop.renderer(), Some(context.info().renderer.as_str()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn copying(gl: &Gl, device: &Device, why: impl Into<String>) -> Self {
        Self { device: device.clone(), gl: Some(gl.clone()), path: Path::Copied(why.into()) }
    }

    /// Shared memory that is never drawn, on a machine that needs no OpenGL.
    ///
    /// ```
    /// # use warpaint::{device::{Device, Fill}, interop::Interop};
    /// let device = Device::cpu()?;
    /// let (stream, mut buffer) = (device.stream()?, Interop::none(&device).buffer(4)?);
    /// let mapped = buffer.map(&stream)?;
    /// stream.fill(mapped.slice(), Fill::U8(7))?;
    /// assert_eq!(stream.download(mapped.slice())?.wait()?, [7; 4]);
    /// mapped.unmap()?;
    /// assert!(buffer.present()? && buffer.gl().is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn none(device: &Device) -> Self {
        Self { device: device.clone(), gl: None, path: Path::None }
    }

    /// How results get to OpenGL.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name of OpenGL's renderer, where there is one.
    pub fn renderer(&self) -> Option<&str> {
        self.gl.as_ref().map(|gl| gl.info().renderer.as_str())
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// A shared buffer of `bytes` bytes with undefined content.
    ///
    /// ```
    /// # use warpaint::{device::{self, Device}, interop::{Error, Interop}};
    /// let interop = Interop::none(&Device::cpu()?);
    /// assert_eq!(interop.buffer(16)?.bytes(), 16);
    /// let error = interop.buffer(usize::MAX).unwrap_err();
    /// assert!(matches!(error, Error::Device(device::Error::OutOfMemory { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Device`] or [`Error::Gl`] where memory is short, or the buffer larger than OpenGL allows.
    pub fn buffer(&self, bytes: usize) -> Result<SharedBuffer> {
        self.buffer_for(bytes, Access::default())
    }

    /// A shared buffer for a certain access by the device.
    ///
    /// ```
    /// # use warpaint::{device::{Device, Fill}, gl, interop::{Access, Interop}};
    /// # let device = Device::cpu()?;
    /// # let (stream, context) = (device.stream()?, gl::CurrentContext::headless(gl::Headless::default())?);
    /// let interop = Interop::new(context.gl(), &device);
    /// let mut points = interop.buffer_for(4, Access::WriteDiscard)?; // nothing is copied to the device
    /// let mapped = points.map(&stream)?;
    /// stream.fill(mapped.slice(), Fill::U8(3))?;
    /// mapped.unmap()?;
    /// stream.synchronize()?;
    /// points.present()?;
    /// let mut bytes = [0; 4];
    /// points.gl().ok_or("is never drawn")?.read(0, &mut bytes)?;
    /// assert_eq!(bytes, [3; 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Interop::buffer`].
    pub fn buffer_for(&self, bytes: usize, access: Access) -> Result<SharedBuffer> {
        let storage = match (&self.gl, &self.device, &self.path) {
            (Some(gl), Device::Nvidia(device), Path::Registered) => {
                Storage::Registered(Registered::new(gl, device, bytes, access)?)
            }
            (Some(gl), device, Path::Registered | Path::Copied(_) | Path::None) => {
                Storage::Copied(Copied::new(gl, device, bytes, access)?)
            }
            (None, device, _) => Storage::Plain(device.alloc(bytes)?),
        };
        Ok(SharedBuffer { device: self.device.id(), bytes, storage, mapping: None })
    }
}

/// A buffer that kernels write and OpenGL draws from.
///
/// Dropping it makes its OpenGL context current, unregisters it and deletes OpenGL's buffer.
///
/// ```
/// use warpaint::{device::Device, gl, interop::Interop};
///
/// let device = Device::cpu()?;
/// let (stream, context) = (device.stream()?, gl::CurrentContext::headless(gl::Headless::default())?);
/// let mut points = Interop::new(context.gl(), &device).buffer(8)?;
/// for step in 1..=2 {
///     let mapped = points.map(&stream)?; // holds what the step before left there
///     stream.upload(mapped.slice().slice(4 * step - 4..4 * step)?, &[step as u8; 4])?;
///     mapped.unmap()?;
/// }
/// stream.synchronize()?;
/// points.present()?;
/// let mut bytes = [0; 8];
/// points.gl().ok_or("is never drawn")?.read(0, &mut bytes)?;
/// assert_eq!(bytes, [1, 1, 1, 1, 2, 2, 2, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SharedBuffer {
    device: device::DeviceId,
    bytes: usize,
    storage: Storage,
    mapping: Option<Mapping>,
}

#[derive(Debug)]
enum Storage {
    Registered(Registered),
    Copied(Copied),
    Plain(Memory),
}

/// Where a mapped buffer is, and the stream in whose order it is mapped and unmapped.
#[derive(Debug)]
struct Mapping {
    stream: Stream,
    address: u64,
}

impl SharedBuffer {
    /// Length in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// OpenGL's buffer; `None` for memory that is never drawn.
    ///
    /// Its content is that of the last [`unmap`](Mapped::unmap) for which [`present`](Self::present) was true.
    ///
    /// ```
    /// # use warpaint::{device::{Device, Fill}, gl, interop::Interop};
    /// # let device = Device::cpu()?;
    /// # let (stream, context) = (device.stream()?, gl::CurrentContext::headless(gl::Headless::default())?);
    /// let mut points = Interop::new(context.gl(), &device).buffer(4)?;
    /// let mapped = points.map(&stream)?;
    /// stream.fill(mapped.slice(), Fill::U8(9))?;
    /// mapped.unmap()?;
    /// stream.synchronize()?;
    /// points.present()?;
    /// let mut bytes = [0; 4];
    /// points.gl().ok_or("is never drawn")?.read(0, &mut bytes)?;
    /// assert_eq!(bytes, [9; 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gl(&self) -> Option<&gl::Buffer> {
        match &self.storage {
            Storage::Registered(registered) => Some(registered.gl()),
            Storage::Copied(copied) => Some(copied.gl()),
            Storage::Plain(_) => None,
        }
    }

    /// Maps the buffer for the device: work put on `stream` from now on may use it, after all that OpenGL was
    /// told to do before.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, interop::Interop, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let x = GpuArray::from_slice(&context, &[1u8, 2, 3])?;
    /// let mut points = Interop::none(context.device()).buffer(3)?;
    /// let mapped = points.map(context.stream())?;
    /// context.stream().copy(mapped.slice(), x.memory()?)?; // an array, to be drawn
    /// assert_eq!(context.stream().download(mapped.slice())?.wait()?, [1, 2, 3]);
    /// mapped.unmap()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Device`] from the driver, or for a stream of another device.
    pub fn map(&mut self, stream: &Stream) -> Result<Mapped<'_>> {
        Mapped::new(self, stream)
    }

    /// Brings what the last unmap gave back to OpenGL, where it is copied, and gives back what the device has
    /// [left](MappedAll::leave); to be called before drawing.
    ///
    /// Gives whether OpenGL's buffer has it. It has it at once where it is registered, for OpenGL waits for the
    /// device by itself; where it is copied, once the stream has come to the unmap. Never waits.
    ///
    /// ```
    /// # use warpaint::{device::Device, gl, interop::Interop};
    /// # let device = Device::cpu()?;
    /// # let (stream, context) = (device.stream()?, gl::CurrentContext::headless(gl::Headless::default())?);
    /// # let mut buffer = Interop::new(context.gl(), &device).buffer(4)?;
    /// # let (go, wait) = std::sync::mpsc::channel();
    /// let mapped = buffer.map(&stream)?;
    /// stream.host_function(move || wait.recv().unwrap_or(()))?; // or a kernel that takes its time
    /// mapped.unmap()?;
    /// assert!(!buffer.present()?); // OpenGL goes on with what it has
    /// go.send(())?;
    /// stream.synchronize()?;
    /// assert!(buffer.present()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Device`] for an error of the work before the unmap, [`Error::Gl`].
    pub fn present(&mut self) -> Result<bool> {
        present_all(&mut [self])
    }

    /// The mapped memory; empty where it is not mapped.
    fn slice(&self) -> Slice<'_> {
        match &self.mapping {
            Some(mapping) => Slice::new(self.device, mapping.address, self.bytes),
            None => Slice::new(self.device, 0, 0),
        }
    }
}

impl Drop for SharedBuffer {
    fn drop(&mut self) {
        // Mapped still: its guard was forgotten.
        if let Err(error) = mapped::unmap(&mut [self], mapped::Content::Unchanged) {
            tracing::error!("while dropping a mapped buffer: {error}");
        }
    }
}
