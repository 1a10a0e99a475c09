//! Memory that kernels write and OpenGL draws from, without a copy where that is possible.
//!
//! What enters is a device and an OpenGL context; what leaves is buffers that both can use, one after the other:
//! [`SharedBuffer::map`] lends one to the device, [`Mapped::unmap`] gives it back, and the borrow checker sees to
//! it that nothing is drawn in between. Scenes and pictures are not known here.
//!
//! There are two paths behind this face. *Registered*: CUDA writes into OpenGL's own buffer
//! ([CUDA driver API, graphics interoperability][api]). *Copied*: for the CPU device, and for an OpenGL that CUDA
//! cannot share with, results go through the host. [`Interop::path`] says which one it is, and why.
//!
//! ```no_run
//! use warpaint::{device::{Choice, Device, Fill}, gl, interop::Interop};
//!
//! let device = Device::open(Choice::Auto)?;
//! let context = gl::Context::headless(gl::Headless::default())?;
//! let interop = Interop::new(context.gl(), &device);
//! let mut buffer = interop.buffer(1024)?;
//!
//! let stream = device.stream()?;
//! let mapped = buffer.map(&stream)?;
//! stream.fill(mapped.slice(), Fill::U32(7))?;
//! mapped.unmap()?;
//!
//! stream.synchronize()?;
//! assert!(buffer.present()?); // now OpenGL may draw from `buffer.gl()`
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

pub use mapped::{Mapped, MappedAll, map_all};
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
#[derive(Debug)]
pub struct Interop {
    device: Device,
    gl: Option<Gl>,
    path: Path,
}

impl Interop {
    /// Finds out, once, how `device` and `gl` can share memory.
    ///
    /// Never fails: where CUDA cannot register OpenGL's buffers, results are copied.
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

    /// Copies even where registering may be possible: to compare both, or around a driver's fault.
    pub fn copying(gl: &Gl, device: &Device, why: impl Into<String>) -> Self {
        Self { device: device.clone(), gl: Some(gl.clone()), path: Path::Copied(why.into()) }
    }

    /// Shared memory that is never drawn, on a machine that needs no OpenGL.
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
    /// # Errors
    /// [`Error::Device`] or [`Error::Gl`] where memory is short, or the buffer larger than OpenGL allows.
    pub fn buffer(&self, bytes: usize) -> Result<SharedBuffer> {
        self.buffer_for(bytes, Access::default())
    }

    /// A shared buffer for a certain access by the device.
    ///
    /// # Errors
    /// As [`Interop::buffer`].
    pub fn buffer_for(&self, bytes: usize, access: Access) -> Result<SharedBuffer> {
        let storage = match (&self.gl, &self.device, &self.path) {
            (Some(gl), Device::Nvidia(device), Path::Registered) => {
                Storage::Registered(Registered::new(gl, device, bytes, access)?)
            }
            (Some(gl), device, _) => Storage::Copied(Copied::new(gl, device, bytes, access)?),
            (None, device, _) => Storage::Plain(device.alloc(bytes)?),
        };
        Ok(SharedBuffer { device: self.device.id(), bytes, storage, mapping: None })
    }
}

/// A buffer that kernels write and OpenGL draws from.
///
/// Dropping it makes its OpenGL context current, unregisters it and deletes OpenGL's buffer.
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
    pub fn gl(&self) -> Option<&gl::Buffer> {
        match &self.storage {
            Storage::Registered(registered) => Some(registered.gl()),
            Storage::Copied(copied) => Some(copied.gl()),
            Storage::Plain(_) => None,
        }
    }

    /// Lends the buffer to the device: work put on `stream` from now on may use it, after all that OpenGL was
    /// told to do before.
    ///
    /// # Errors
    /// [`Error::Device`] from the driver, or for a stream of another device.
    pub fn map(&mut self, stream: &Stream) -> Result<Mapped<'_>> {
        Mapped::new(self, stream)
    }

    /// Brings what the last unmap gave back to OpenGL, where it is copied; to be called before drawing.
    ///
    /// Gives whether OpenGL's buffer has it. It has it at once where it is registered, for OpenGL waits for the
    /// device by itself; where it is copied, once the stream has come to the unmap. Never waits.
    ///
    /// # Errors
    /// [`Error::Device`] for an error of the work before the unmap, [`Error::Gl`].
    pub fn present(&mut self) -> Result<bool> {
        match &mut self.storage {
            Storage::Registered(_) | Storage::Plain(_) => Ok(true),
            Storage::Copied(copied) => copied.present(),
        }
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
