//! NVIDIA GPUs, through the CUDA driver API.
//!
//! Enters: PTX or machine code, packed arguments, bytes. Leaves: memory, streams, loaded kernels, faults. Must not
//! know: `device::cpu`, `ptx::parser`, `ptx::verify`.
//!
//! Every object keeps the device's primary context alive and makes it current itself, so it may be used and
//! dropped on any thread. A drop never panics: what goes wrong in it is returned by the next call on the device.
//! Freeing memory and unloading modules wait for the device's work.
//!
//! A machine without a driver is [`Error::NoDriver`](super::Error::NoDriver); so is a driver too old to have what
//! is needed here.

mod array;
mod binary;
mod context;
mod copy;
#[doc(hidden)]
pub mod driver;
mod event;
mod graph;
mod guard;
mod guarded;
mod heap;
mod host;
mod host_function;
mod image;
mod ipc;
mod jit_options;
mod late;
mod launch;
mod launches;
mod limit;
mod link;
mod lock;
mod log;
mod mapped;
mod memory;
mod module;
mod opened;
mod packed;
mod page_lock;
mod peer;
mod ptx;
mod ranges;
mod readback;
mod staging;
mod stream;
mod texture;

use std::sync::Arc;

pub use array::Array;
#[doc(hidden)]
pub use context::CudaContext;
#[cfg(feature = "gl")]
#[doc(hidden)]
pub use context::ordinal_of;
pub use event::Event;
pub use host::{HostMemory, Transfer};
pub use ipc::{IpcHandle, IpcMemory};
pub use jit_options::JitOptions;
pub use mapped::MappedMemory;
pub use memory::Memory;
pub use module::{Function, Module};
pub use peer::{Current, Waiting};
pub use readback::Readback;
pub use stream::Stream;
pub use texture::{SurfaceObject, TextureObject};

use super::{DeviceId, DeviceInfo, MemoryInfo, Result};
use guard::Guard;
use opened::Opened;
use staging::Staging;

/// An opened GPU. Opening the same one again gives the same device, for a process has one primary context of it.
///
/// ```
/// use warpaint::device::{Device, nvidia};
///
/// let Ok(gpu) = nvidia::Device::open(0) else { return Ok(()) }; // there is none here
/// assert_eq!(gpu.info().selector, "cuda:0");
/// assert_eq!(nvidia::Device::open(gpu.ordinal())?.id(), gpu.id());
/// let device = Device::Nvidia(gpu); // for what is written for any device
/// assert!(device.as_nvidia().is_some());
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Device(Arc<Opened>);

impl Device {
    /// Name, limits and capabilities of every GPU that the driver shows, by ordinal.
    ///
    /// # Errors
    /// [`Error::NoDriver`](super::Error::NoDriver), [`Error::NoDevice`](super::Error::NoDevice) where there is a
    /// driver but no GPU, [`Error::Call`](super::Error::Call).
    pub fn all() -> Result<Vec<DeviceInfo>> {
        context::describe_all()
    }

    /// Opens the GPU with this ordinal.
    ///
    /// # Errors
    /// As [`Device::all`]; [`Error::NoDevice`](super::Error::NoDevice) where there are fewer.
    pub fn open(ordinal: u32) -> Result<Self> {
        Opened::open(ordinal).map(Self)
    }

    /// Name, limits and capabilities.
    pub fn info(&self) -> &DeviceInfo {
        self.context().info()
    }

    /// Tells this device's handles from another's.
    pub fn id(&self) -> DeviceId {
        self.context().id()
    }

    /// Its place in the driver's list.
    pub fn ordinal(&self) -> u32 {
        self.context().ordinal()
    }

    /// Tells this GPU from every other one, also for other programs and OpenGL; of an instance in MIG mode.
    pub fn uuid(&self) -> [u8; 16] {
        self.context().uuid()
    }

    /// Free and total memory in bytes, now.
    ///
    /// # Errors
    /// [`Error::Call`](super::Error::Call).
    pub fn memory_info(&self) -> Result<MemoryInfo> {
        self.context().memory_info()
    }

    /// Waits until all work on all streams has ended.
    ///
    /// # Errors
    /// [`Error::Call`](super::Error::Call); where a kernel failed it names the kernels that it can have been.
    pub fn synchronize(&self) -> Result<()> {
        self.context().activate()?;
        self.context().wait_for_work()
    }

    /// See [`Device::is_lost`](crate::device::Device::is_lost).
    pub fn is_lost(&self) -> bool {
        self.context().is_lost()
    }

    #[doc(hidden)]
    pub fn context(&self) -> &CudaContext {
        self.0.context()
    }

    fn staging(&self) -> &Staging {
        self.0.staging()
    }

    fn guard(&self) -> Option<&Arc<Guard>> {
        self.0.guard()
    }

    fn start_guard(&self) -> Result<Arc<Guard>> {
        self.0.start_guard()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Error;

    #[test]
    fn handles_may_go_to_other_threads() {
        fn check<T: Send + Sync + 'static>() {}
        check::<(Device, Memory, Readback)>();
        check::<(Stream, Event, Module, Function)>();
    }

    /// Runs only where there is no driver: elsewhere the integration tests see the GPU itself.
    #[test]
    fn without_a_driver_the_error_says_so_in_a_sentence() {
        match Device::all() {
            Ok(_) | Err(Error::NoDevice { .. }) => {}
            Err(error @ Error::NoDriver { .. }) => {
                let text = error.to_string();
                assert!(text.starts_with("no CUDA driver: "), "{text}");
                assert!(matches!(Device::open(0), Err(Error::NoDriver { .. })));
            }
            Err(other) => panic!("{other}"),
        }
    }
}
