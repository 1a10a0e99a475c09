//! The seam: one narrow face over an NVIDIA GPU and the embedded CPU device.
//!
//! Enters: bytes, PTX, packed arguments of launches. Leaves: bytes, times, faults. Must not know: `element`, `cuda`,
//! `scene`, `compile`, `kernel`, `array`, `gl`.
//!
//! [`Device`] is an enum, not a trait: the set of backends is closed, handles are concrete, and an operation
//! that one backend lacks does not compile. Both backends have the same file and method names, and one
//! conformance suite (`tests/it/conformance.rs`) states the contract. Every handle keeps its device alive and
//! may be used and dropped on any thread; mixing handles of two devices is [`Error::WrongDevice`].
//!
//! ```
//! use warpaint::device::{Device, LaunchConfig};
//!
//! let device = Device::cpu()?;
//! let stream = device.stream()?;
//! let memory = device.alloc(16)?;
//! stream.upload(memory.slice(..)?, &[7; 16])?;
//! assert_eq!(stream.download(memory.slice(4..8)?)?.wait()?, [7, 7, 7, 7]);
//! # Ok::<(), warpaint::device::Error>(())
//! ```

mod allocation;
mod array;
mod attribute;
mod call;
#[cfg(feature = "cpu")]
pub mod cpu;
#[cfg(not(feature = "cpu"))]
#[path = "no_cpu.rs"]
mod cpu;
mod error;
mod event;
mod fault;
mod free_list;
mod guard;
mod host;
mod host_part;
mod info;
mod launch;
mod limit;
mod location;
mod mapped;
mod memory;
mod module;
pub mod nvidia;
pub mod occupancy;
mod pool;
mod prepared;
mod region;
mod spelling;
mod stream;
mod texture;

pub use crate::ptx::pass::guard::{GuardOptions, NotGuarded, Telling, Versions};
pub use allocation::Allocation;
pub use array::{Array, ArrayDescriptor, ArrayRegion, ArrayShape, Channel, Format};
pub use attribute::Attribute;
pub use call::Call;
#[doc(hidden)]
pub use error::argument_counts;
pub use error::{Error, Result};
pub use event::{Event, EventOptions};
pub use fault::{Fault, FaultKind};
pub use free_list::PoolStatistics;
#[doc(hidden)]
pub use free_list::{FreeList, size_class};
pub use guard::{GuardRecord, GuardedModule};
pub use host::{HostFlags, HostMemory, HostPool, Transfer};
pub use host_part::HostPart;
pub use info::{Choice, DeviceId, DeviceInfo, DeviceKind, Inventory, MemoryInfo};
pub use launch::{Arguments, Dim3, LaunchConfig};
pub use limit::{CachePreference, Limit};
pub use location::{InlinedCall, Location};
pub use mapped::{Attachment, MappedMemory};
pub use memory::{Fill, Memory, Readback, Slice};
pub use module::{Function, FunctionInfo, LinkCode, LinkInput, Module, Parameter};
use nvidia::JitOptions;
pub use pool::{Pool, PoolBlock};
pub use prepared::Prepared;
pub use region::{Pitch, Region, Rows};
pub use stream::{Stream, StreamOptions};
pub use texture::{
    AddressMode, Filter, ReadMode, SurfaceObject, TextureDescriptor, TextureObject, TextureSource,
};

/// Runs the same expression on whichever backend a handle belongs to.
macro_rules! each {
    ($handle:expr, $inner:ident => $body:expr) => {
        match $handle {
            Self::Nvidia($inner) => $body,
            Self::Cpu($inner) => $body,
        }
    };
}
use each;

/// One place where kernels run. Cloning is cheap and gives the same device.
///
/// ```
/// use warpaint::device::{Choice, Device};
///
/// let device = Device::open(Choice::Cpu)?; // `Choice::Auto` prefers a GPU
/// let name = match &device {
///     Device::Nvidia(gpu) => format!("cuda:{}", gpu.ordinal()),
///     Device::Cpu(_) => "cpu".to_owned(),
/// };
/// assert_eq!(device.info().selector, name);
/// assert_eq!(device.clone().id(), device.id());
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Device {
    /// An NVIDIA GPU, through the CUDA driver.
    Nvidia(nvidia::Device),
    /// The embedded CPU device, which compiles PTX to machine code.
    Cpu(cpu::Device),
}

impl Device {
    /// Every device of this machine, and in words why there is no NVIDIA one where there is none.
    ///
    /// Never fails: a machine without CUDA still has its CPU.
    ///
    /// ```
    /// # use warpaint::device::{Device, DeviceKind};
    /// let inventory = Device::all();
    /// assert_eq!(inventory.devices.last().map(|info| info.kind), Some(DeviceKind::Cpu));
    /// if let Some(reason) = inventory.nvidia_missing {
    ///     println!("{reason}");
    /// }
    /// ```
    pub fn all() -> Inventory {
        let mut devices = Vec::new();
        let missing = match nvidia::Device::all() {
            Ok(infos) => {
                devices.extend(infos);
                None
            }
            Err(error) => Some(error.to_string()),
        };
        devices.extend(cpu::Device::available());
        Inventory { devices, nvidia_missing: missing }
    }

    /// Opens the chosen device; [`Choice::Auto`] takes the first NVIDIA GPU, else the CPU.
    ///
    /// ```
    /// # use warpaint::device::{Choice, Device, Error};
    /// let device = Device::open("cpu".parse()?)?;
    /// assert_eq!(device.info().selector, "cpu");
    /// let missing = Device::open(Choice::Cuda(1000)); // is not replaced by another one
    /// assert!(matches!(missing, Err(Error::NoDriver { .. } | Error::NoDevice { ordinal: 1000, .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoDriver`] or [`Error::NoDevice`] when an NVIDIA GPU was asked for by name and is not there;
    /// whatever the driver says when it cannot be opened. With [`Choice::Auto`] only the CPU device's errors.
    pub fn open(choice: Choice) -> Result<Self> {
        match choice {
            Choice::Cpu => Self::cpu(),
            Choice::Cuda(ordinal) => Ok(Self::Nvidia(nvidia::Device::open(ordinal)?)),
            Choice::Auto => match nvidia::Device::open(0) {
                Ok(device) => Ok(Self::Nvidia(device)),
                Err(error) if cpu::Device::available().is_none() => Err(error),
                Err(error) => {
                    tracing::info!("no NVIDIA device, using the CPU device: {error}");
                    Self::cpu()
                }
            },
        }
    }

    /// Opens a CPU device of its own: its memory and streams are separate from any other's.
    ///
    /// ```
    /// # use warpaint::device::{Device, Error};
    /// let (here, there) = (Device::cpu()?, Device::cpu()?);
    /// let memory = there.alloc(4)?;
    /// let refused = here.stream()?.upload(memory.slice(..)?, &[0; 4]);
    /// assert!(matches!(refused, Err(Error::WrongDevice { .. })));
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when its address range cannot be reserved; [`Error::NoCpuDevice`] without feature `cpu`.
    pub fn cpu() -> Result<Self> {
        Ok(Self::Cpu(cpu::Device::new()?))
    }

    /// Name, limits and capabilities.
    ///
    /// ```
    /// # use warpaint::device::Device;
    /// let device = Device::cpu()?;
    /// let info = device.info();
    /// assert_eq!((info.warp_size, info.max_threads_per_block), (32, 1024));
    /// assert_eq!(info.driver_version, None); // there is no driver
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn info(&self) -> &DeviceInfo {
        each!(self, d => d.info())
    }

    /// Tells this device's handles from another's.
    pub fn id(&self) -> DeviceId {
        each!(self, d => d.id())
    }

    /// Free and total memory in bytes, now.
    ///
    /// ```
    /// # use warpaint::device::{Device, Error};
    /// let device = Device::cpu()?;
    /// let info = device.memory_info()?;
    /// assert!(info.free <= info.total);
    /// let most = usize::try_from(info.total).unwrap_or(usize::MAX);
    /// let refused = device.alloc(most.saturating_mul(2));
    /// assert!(matches!(refused, Err(Error::OutOfMemory { free, .. }) if free == info.free));
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Call`] from the driver.
    pub fn memory_info(&self) -> Result<MemoryInfo> {
        each!(self, d => d.memory_info())
    }

    /// Allocates `bytes` of uninitialised device memory, aligned to at least 256 bytes.
    ///
    /// Zero bytes are allowed and give an empty allocation.
    ///
    /// ```
    /// # use warpaint::device::Device;
    /// let device = Device::cpu()?;
    /// let memory = device.alloc(1000)?;
    /// assert_eq!((memory.bytes(), memory.address() % 256), (1000, 0));
    /// assert_eq!(device.alloc(0)?.bytes(), 0);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn alloc(&self, bytes: usize) -> Result<Memory> {
        self.alloc_with_capacity(bytes, bytes)
    }

    /// An allocation of `capacity` bytes, of which the CPU device's kernels may use the first `bytes` until
    /// [`Stream::set_extent`] says otherwise.
    #[doc(hidden)]
    pub fn alloc_with_capacity(&self, bytes: usize, capacity: usize) -> Result<Memory> {
        Ok(match self {
            Self::Nvidia(d) => Memory::Nvidia(d.alloc(capacity)?),
            Self::Cpu(d) => Memory::Cpu(d.alloc_with_capacity(bytes, capacity)?),
        })
    }

    /// Allocates memory for `rows` rows of `row_bytes`, each of which starts where a kernel's accesses to a column of
    /// elements of `element_bytes` (4, 8 or 16) are fast; with how they lie.
    ///
    /// ```
    /// use warpaint::device::Device;
    ///
    /// let (memory, pitch) = Device::cpu()?.alloc_pitch(100, 3, 4)?;
    /// assert!(pitch.row_bytes >= 100 && memory.slice(..)?.rows(pitch, [100, 3, 1]).is_ok());
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidExtent`] for other elements, [`Error::OutOfMemory`], [`Error::Call`].
    pub fn alloc_pitch(
        &self,
        row_bytes: usize,
        rows: usize,
        element_bytes: usize,
    ) -> Result<(Memory, Pitch)> {
        if !matches!(element_bytes, 4 | 8 | 16) {
            return Err(Error::InvalidExtent {
                object: "pitched memory",
                limit: "bytes of an element (4, 8 or 16)",
                requested: element_bytes as u64,
                allowed: 16,
            });
        }
        let (memory, row_bytes) = match self {
            Self::Nvidia(d) => {
                let (memory, pitch) = d.alloc_pitch(row_bytes, rows, element_bytes)?;
                (Memory::Nvidia(memory), pitch)
            }
            Self::Cpu(d) => {
                let (memory, pitch) = d.alloc_pitch(row_bytes, rows)?;
                (Memory::Cpu(memory), pitch)
            }
        };
        Ok((memory, Pitch { row_bytes, rows }))
    }

    /// The allocation that an address of a kernel's lies in; `None` where it lies in none. Memory of a [`Pool`] lies
    /// in allocations of the pool's sizes.
    ///
    /// ```
    /// # use warpaint::device::Device;
    /// let device = Device::cpu()?;
    /// let memory = device.alloc(100)?;
    /// let part = memory.slice(40..)?;
    /// let range = device.address_range(part.address())?.ok_or("in none")?;
    /// assert_eq!((range.address, range.bytes), (memory.address(), 100));
    /// assert_eq!(device.address_range(0)?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Call`] from the driver.
    pub fn address_range(&self, address: u64) -> Result<Option<Allocation>> {
        each!(self, d => d.address_range(address))
    }

    /// Allocates an array with undefined content, for textures and surfaces.
    ///
    /// ```
    /// # use warpaint::device::{ArrayDescriptor, ArrayShape, Device, Format};
    /// # let device = Device::cpu()?;
    /// let row = ArrayDescriptor::new(ArrayShape::D1 { width: 8 }, Format::R32F);
    /// assert_eq!(device.array(&row)?.region().bytes(), 32);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidExtent`] where it is empty or larger than the device allows, [`Error::InvalidTexture`],
    /// [`Error::OutOfMemory`].
    pub fn array(&self, descriptor: &ArrayDescriptor) -> Result<Array> {
        descriptor.check(each!(self, d => d.largest_array(descriptor))?)?;
        Ok(match self {
            Self::Nvidia(d) => Array::Nvidia(d.array(descriptor)?),
            Self::Cpu(d) => Array::Cpu(d.array(descriptor)?),
        })
    }

    /// A texture object, through which kernels read an array or linear memory.
    ///
    /// ```
    /// # use warpaint::device::{
    /// #     ArrayDescriptor, ArrayShape, Device, Error, Filter, Format, ReadMode, TextureDescriptor,
    /// # };
    /// # let device = Device::cpu()?;
    /// # let shape = ArrayShape::D2 { width: 4, height: 4 };
    /// # let picture = device.array(&ArrayDescriptor::new(shape, Format::RGBA8))?;
    /// let smooth = TextureDescriptor { filter: Filter::Linear, ..TextureDescriptor::default() };
    /// let refused = device.texture(&picture, &smooth); // it is read as integers, which cannot be filtered
    /// assert!(matches!(refused, Err(Error::InvalidTexture { .. })));
    ///
    /// let smooth = TextureDescriptor { read: ReadMode::NormalizedFloat, ..smooth };
    /// let texture = device.texture(&picture, &smooth)?; // bytes as numbers from 0 to 1
    /// assert_ne!(texture.handle(), device.texture(&picture, &smooth)?.handle());
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidTexture`] where the parts of the descriptor do not go together, or not with the format;
    /// [`Error::InvalidExtent`], [`Error::OutOfRange`], [`Error::WrongDevice`], [`Error::Call`].
    pub fn texture<'a>(
        &self,
        source: impl Into<TextureSource<'a>>,
        descriptor: &TextureDescriptor,
    ) -> Result<TextureObject> {
        let source = source.into();
        if source.device_id() != self.id() {
            return Err(Error::WrongDevice { operation: "create a texture" });
        }
        let (linear, pitched) = each!(self, d => d.largest_linear_texture())?;
        source.check(descriptor, linear, pitched)?;
        Ok(match self {
            Self::Nvidia(d) => TextureObject::Nvidia(d.texture(&source, descriptor)?),
            Self::Cpu(d) => TextureObject::Cpu(d.texture(&source, descriptor)?),
        })
    }

    /// A surface object, through which kernels write an array.
    ///
    /// ```
    /// # use warpaint::device::{ArrayDescriptor, ArrayShape, Device, Format};
    /// # let device = Device::cpu()?;
    /// let descriptor = ArrayDescriptor::new(ArrayShape::D1 { width: 4 }, Format::R32F).with_surface();
    /// let array = device.array(&descriptor)?;
    /// assert_eq!(device.surface(&array)?.device_id(), device.id());
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidTexture`] where the array was not made for it, [`Error::WrongDevice`], [`Error::Call`].
    pub fn surface(&self, array: &Array) -> Result<SurfaceObject> {
        if !array.descriptor().surface {
            let reason = format!("the array of {} was not made for it", array.descriptor());
            return Err(Error::InvalidTexture { object: "surface", reason });
        }
        match (self, array) {
            (Self::Nvidia(d), Array::Nvidia(a)) if a.device_id() == d.id() => {
                Ok(SurfaceObject::Nvidia(d.surface(a)?))
            }
            (Self::Cpu(d), Array::Cpu(a)) if a.device_id() == d.id() => {
                Ok(SurfaceObject::Cpu(d.surface(a)?))
            }
            (Self::Nvidia(_) | Self::Cpu(_), _) => {
                Err(Error::WrongDevice { operation: "create a surface" })
            }
        }
    }

    /// A new stream: work put on it runs in order, at the same time as other streams' work.
    ///
    /// ```
    /// # use warpaint::device::{Device, Fill};
    /// let device = Device::cpu()?;
    /// let (one, other) = (device.stream()?, device.stream()?);
    /// assert_ne!(one, other);
    /// let memory = device.alloc(4)?;
    /// one.fill(memory.slice(..)?, Fill::U8(5))?;
    /// one.synchronize()?; // or an event: nothing else orders the work of two streams
    /// assert_eq!(other.download(memory.slice(..)?)?.wait()?, [5; 4]);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Call`] from the driver.
    pub fn stream(&self) -> Result<Stream> {
        self.stream_with(StreamOptions::default())
    }

    /// The same with a priority, or checked.
    ///
    /// ```
    /// # use warpaint::device::{Arguments, Device, Error, LaunchConfig, StreamOptions};
    /// # let device = Device::cpu()?;
    /// # let ptx = ".version 7.0 .target sm_75 .address_size 64 .visible .entry fail() { trap; }";
    /// # let (fail, none) = (device.load(ptx)?.function("fail")?, Arguments::new());
    /// let checked = device.stream_with(StreamOptions { checked: true, ..StreamOptions::default() })?;
    /// // SAFETY: the kernel takes no arguments.
    /// let launched = unsafe { checked.launch(&fail, &LaunchConfig::new(1, 1), &none) };
    /// assert!(matches!(launched, Err(Error::Fault(_)))); // else `synchronize` would say so
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Call`] from the driver.
    pub fn stream_with(&self, options: StreamOptions) -> Result<Stream> {
        Ok(match self {
            Self::Nvidia(d) => Stream::Nvidia(d.stream(options)?),
            Self::Cpu(d) => Stream::Cpu(d.stream(options)?),
        })
    }

    /// The least and the greatest priority that streams can have; a smaller number is a greater priority. Both are 0
    /// on the CPU device, whose streams have none.
    ///
    /// ```
    /// # use warpaint::device::{Device, StreamOptions};
    /// let device = Device::cpu()?;
    /// let (least, greatest) = device.stream_priorities()?;
    /// assert!(greatest <= least);
    /// let urgent = device.stream_with(StreamOptions { priority: i32::MIN, checked: false })?;
    /// assert_eq!(urgent.priority()?, greatest);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Call`] from the driver.
    pub fn stream_priorities(&self) -> Result<(i32, i32)> {
        each!(self, d => d.stream_priorities())
    }

    /// A new event, not yet recorded, that keeps the time at which it is reached.
    ///
    /// # Errors
    /// [`Error::Call`] from the driver.
    pub fn event(&self) -> Result<Event> {
        self.event_with(EventOptions::default())
    }

    /// The same without the time, or for long waits.
    ///
    /// ```
    /// # use warpaint::device::{Device, Error, EventOptions};
    /// # let device = Device::cpu()?;
    /// # let stream = device.stream()?;
    /// let options = EventOptions { timing: false, blocking_wait: true };
    /// let done = device.event_with(options)?; // costs less, and this thread sleeps while it waits
    /// stream.record(&done)?;
    /// done.synchronize()?;
    /// assert!(done.is_reached()?);
    /// assert!(matches!(done.elapsed_ms(&done), Err(Error::NoTiming)));
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Call`] from the driver.
    pub fn event_with(&self, options: EventOptions) -> Result<Event> {
        Ok(match self {
            Self::Nvidia(d) => Event::Nvidia(d.event(options)?),
            Self::Cpu(d) => Event::Cpu(d.event(options)?),
        })
    }

    /// Loads a module from the text of PTX: JIT-compiled by the driver, or by the CPU device.
    ///
    /// ```
    /// # use warpaint::device::Device;
    /// let ptx = ".version 7.0 .target sm_75 .address_size 64 .visible .entry idle() { ret; }";
    /// let device = Device::cpu()?;
    /// assert_eq!(device.load(ptx)?.function("idle")?.name(), "idle");
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Load`] with the log when it does not assemble; [`Error::UnsupportedPtx`] for an instruction
    /// that the device lacks, with its source line.
    pub fn load(&self, ptx: &str) -> Result<Module> {
        Ok(match self {
            Self::Nvidia(d) => Module::Nvidia(d.load(ptx)?),
            Self::Cpu(d) => Module::Cpu(d.load(ptx)?),
        })
    }

    /// The same, with options for the driver's JIT compiler, which are nothing to the CPU device.
    ///
    /// ```
    /// # use warpaint::device::{Device, nvidia::JitOptions};
    /// # let ptx = ".version 7.0 .target sm_75 .address_size 64 .visible .entry idle() { ret; }";
    /// let soon = JitOptions { optimization_level: Some(1), ..JitOptions::default() };
    /// assert!(Device::cpu()?.load_with(ptx, soon)?.function("idle").is_ok());
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::load`].
    pub fn load_with(&self, ptx: &str, options: JitOptions) -> Result<Module> {
        Ok(match self {
            Self::Nvidia(d) => Module::Nvidia(d.load_with(ptx, options)?),
            Self::Cpu(d) => Module::Cpu(d.load(ptx)?),
        })
    }

    /// The same, so that no kernel of it can harm a GPU's context, or run without end: see
    /// [`nvidia::Device::load_guarded`]; with why it is not so, where it is not. On the CPU device every kernel is
    /// watched.
    ///
    /// ```
    /// # use warpaint::device::{Device, GuardOptions, nvidia::JitOptions};
    /// # let ptx = ".version 7.0 .target sm_75 .address_size 64 .visible .entry idle() { ret; }";
    /// let (guard, jit) = (GuardOptions::default(), JitOptions::default());
    /// let (module, not_guarded) = Device::cpu()?.load_guarded(ptx, &guard, jit)?;
    /// assert!(module.function("idle").is_ok() && not_guarded.is_none());
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::load`].
    pub fn load_guarded(
        &self,
        ptx: &str,
        options: &GuardOptions<'_>,
        jit: JitOptions,
    ) -> Result<(Module, Option<NotGuarded>)> {
        Ok(match self {
            Self::Nvidia(d) => {
                let (module, not_guarded) = d.load_guarded(ptx, options, jit)?;
                (Module::Nvidia(module), not_guarded)
            }
            Self::Cpu(d) => (Module::Cpu(d.load(ptx)?), None),
        })
    }

    /// [`nvidia::Device::take_reported`]; none of the CPU device, which stops at the first fault.
    pub fn take_reported(&self) -> Vec<Fault> {
        match self {
            Self::Nvidia(d) => d.take_reported(),
            Self::Cpu(_) => Vec::new(),
        }
    }

    /// Loads a module from machine code: a cubin or a fatbin.
    ///
    /// ```
    /// # use warpaint::device::{Device, Error};
    /// assert!(matches!(Device::cpu()?.load_binary(b"\x7fELF"), Err(Error::Unsupported { .. })));
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] on the CPU device, which runs PTX; [`Error::Load`] when it is not for this GPU, or not
    /// whole.
    pub fn load_binary(&self, bytes: &[u8]) -> Result<Module> {
        match self {
            Self::Nvidia(d) => Ok(Module::Nvidia(d.load_binary(bytes)?)),
            Self::Cpu(d) => d.unsupported("machine code of GPUs"),
        }
    }

    /// Links pieces of code, which refer to each other's functions and variables, to one module: what NVRTC makes with
    /// `--relocatable-device-code=true`.
    ///
    /// ```
    /// use warpaint::device::{Device, Error, LinkInput};
    ///
    /// let head = ".version 7.0 .target sm_75 .address_size 64";
    /// let one = format!("{head} .visible .global .u32 x = 5;");
    /// let other = format!("{head} .extern .global .u32 x; .visible .global .u64 p = x;");
    /// let inputs = [LinkInput::ptx("one", &one), LinkInput::ptx("other", &other)];
    /// let (device, x) = (Device::cpu()?, 5u32.to_le_bytes());
    /// let module = device.link(&inputs)?;
    /// assert_eq!(device.stream()?.download(module.global("x")?)?.wait()?, x);
    ///
    /// let alone = device.link(&inputs[1..]); // nothing defines `x`
    /// assert!(matches!(alone, Err(Error::Load { .. })));
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Load`] with the linker's log: where nothing or several pieces define a name, or where they disagree
    /// about it; [`Error::Unsupported`] on the CPU device for what is no PTX, [`Error::UnsupportedPtx`] as
    /// [`Device::load`].
    pub fn link(&self, inputs: &[LinkInput<'_>]) -> Result<Module> {
        if inputs.is_empty() {
            let (device, log) = (self.info().to_string(), "there is nothing to link".to_owned());
            return Err(Error::Load { device, log, location: None });
        }
        Ok(match self {
            Self::Nvidia(d) => Module::Nvidia(d.link(inputs)?),
            Self::Cpu(d) => Module::Cpu(d.link(inputs)?),
        })
    }

    /// Waits until all work on all of this device's streams has ended.
    ///
    /// ```
    /// # use warpaint::device::{Device, Fill};
    /// let device = Device::cpu()?;
    /// let (one, other, memory) = (device.stream()?, device.stream()?, device.alloc(8)?);
    /// one.fill(memory.slice(..4)?, Fill::U8(1))?;
    /// other.fill(memory.slice(4..)?, Fill::U8(2))?;
    /// device.synchronize()?;
    /// assert!(one.is_idle()? && other.is_idle()?);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first error of any stream that was not reported yet.
    pub fn synchronize(&self) -> Result<()> {
        each!(self, d => d.synchronize())
    }

    /// Whether it is lost to this process, as a GPU is whose kernel has made an illegal access: nothing runs on it any
    /// more, and what its memory holds cannot be read, until another process opens it.
    ///
    /// ```
    /// # use warpaint::device::Device;
    /// assert!(!Device::cpu()?.is_lost());
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn is_lost(&self) -> bool {
        match self {
            Self::Nvidia(device) => device.is_lost(),
            Self::Cpu(_) => false,
        }
    }

    /// What NVIDIA alone has, where this is an NVIDIA GPU.
    ///
    /// ```
    /// # use warpaint::device::{Choice, Device, DeviceKind};
    /// let device = Device::open(Choice::Auto)?;
    /// match device.as_nvidia() {
    ///     Some(gpu) => assert_eq!(device.info().selector, format!("cuda:{}", gpu.ordinal())),
    ///     None => assert_eq!(device.info().kind, DeviceKind::Cpu),
    /// }
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn as_nvidia(&self) -> Option<&nvidia::Device> {
        match self {
            Self::Nvidia(d) => Some(d),
            Self::Cpu(_) => None,
        }
    }
}
