//! Loaded code.

use super::{CachePreference, DeviceInfo, LaunchConfig, Result, Slice, cpu, each, nvidia};

/// A module loaded on a device. Its functions keep it loaded.
///
/// ```
/// use warpaint::device::Device;
///
/// let ptx = ".version 7.0 .target sm_75 .address_size 64
///     .visible .const .align 4 .u32 rounds = 3;
///     .visible .entry idle() { ret; }";
/// let device = Device::cpu()?;
/// let module = device.load(ptx)?;
/// let rounds = device.stream()?.download(module.global("rounds")?)?.wait()?;
/// assert_eq!(rounds, 3u32.to_le_bytes());
/// let idle = module.function("idle")?;
/// drop(module);
/// assert_eq!(idle.name(), "idle"); // is loaded still
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Module {
    /// On an NVIDIA GPU.
    Nvidia(nvidia::Module),
    /// On the CPU device.
    Cpu(cpu::Module),
}

impl Module {
    /// The kernel with this (lowered) name.
    ///
    /// ```
    /// # use warpaint::device::{Device, Error};
    /// # let ptx = ".version 7.0 .target sm_75 .address_size 64 .visible .entry advance() { ret; }";
    /// let missing = Device::cpu()?.load(ptx)?.function("advnce");
    /// assert!(matches!(missing, Err(Error::NoSuchFunction { available, .. }) if available == ["advance"]));
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchFunction`](super::Error::NoSuchFunction) with the names that there are, where known.
    pub fn function(&self, name: &str) -> Result<Function> {
        Ok(match self {
            Self::Nvidia(m) => Function::Nvidia(m.function(name)?),
            Self::Cpu(m) => Function::Cpu(m.function(name)?),
        })
    }

    /// The memory of a `__device__` or `__constant__` variable with this (lowered) name.
    ///
    /// ```
    /// # use warpaint::device::Device;
    /// # let ptx = ".version 7.0 .target sm_75 .address_size 64 .visible .const .align 4 .b8 scale[8];";
    /// # let device = Device::cpu()?;
    /// # let stream = device.stream()?;
    /// let module = device.load(ptx)?;
    /// let scale = module.global("scale")?; // __constant__ float scale[2];
    /// stream.upload(scale.slice(4..)?, &1.5f32.to_le_bytes())?; // kernels read it from now on
    /// assert_eq!(stream.download(scale)?.wait()?, [0, 0, 0, 0, 0, 0, 0xc0, 0x3f]);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchGlobal`](super::Error::NoSuchGlobal).
    pub fn global(&self, name: &str) -> Result<Slice<'_>> {
        each!(self, m => m.global(name))
    }
}

/// A piece of code to be linked.
///
/// ```
/// use warpaint::device::{Device, Error, LinkInput};
///
/// let ptx = ".version 7.0 .target sm_75 .address_size 64 .visible .global .u32 x;";
/// let inputs = [LinkInput::ptx("one", ptx), LinkInput::ptx("other", ptx)];
/// assert!(matches!(Device::cpu()?.link(&inputs), Err(Error::Load { .. }))); // `x` is defined in both
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LinkInput<'a> {
    /// What the linker's messages call it.
    pub name: &'a str,
    /// The code.
    pub code: LinkCode<'a>,
}

impl<'a> LinkInput<'a> {
    /// The text of PTX.
    ///
    /// ```
    /// # use warpaint::device::{Device, Error, LinkInput};
    /// let input = LinkInput::ptx("field.ptx", "no PTX at all");
    /// let refused = Device::cpu()?.link(&[input]); // the log names `field.ptx`
    /// assert!(matches!(refused, Err(Error::Load { .. })));
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn ptx(name: &'a str, text: &'a str) -> Self {
        Self { name, code: LinkCode::Ptx(text) }
    }
}

/// Code that can be linked; on the CPU device only PTX.
///
/// ```
/// use warpaint::device::{Device, Error, LinkCode, LinkInput};
///
/// let runtime = LinkInput { name: "libcudadevrt.a", code: LinkCode::Library(b"!<arch>\n") };
/// assert!(matches!(Device::cpu()?.link(&[runtime]), Err(Error::Unsupported { .. })));
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum LinkCode<'a> {
    /// The text of PTX.
    Ptx(&'a str),
    /// Machine code for one architecture.
    Cubin(&'a [u8]),
    /// Code for several.
    Fatbin(&'a [u8]),
    /// An archive of host objects with device code in them, such as `libcudadevrt.a`.
    Library(&'a [u8]),
}

/// A kernel, ready to be launched.
///
/// ```
/// use warpaint::device::{Arguments, Device, LaunchConfig};
///
/// // *x = v
/// let ptx = ".version 7.0 .target sm_75 .address_size 64
///     .visible .entry store(.param .u64 x, .param .u32 v) {
///         .reg .b64 %x;
///         .reg .b32 %v;
///         ld.param.u64 %x, [x];
///         ld.param.u32 %v, [v];
///         st.global.u32 [%x], %v;
///         ret;
///     }";
/// let device = Device::cpu()?;
/// let store = device.load(ptx)?.function("store")?;
/// assert_eq!(store.info().parameters.len(), 2);
///
/// let (stream, x, mut arguments) = (device.stream()?, device.alloc(4)?, Arguments::new());
/// arguments.push(&x.address()).push(&7u32);
/// // SAFETY: `x` has the four bytes that the kernel writes, and lives until the download has ended.
/// unsafe { stream.launch(&store, &LaunchConfig::new(1, 1), &arguments)? };
/// assert_eq!(stream.download(x.slice(..)?)?.wait()?, [7, 0, 0, 0]);
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Function {
    /// On an NVIDIA GPU.
    Nvidia(nvidia::Function),
    /// On the CPU device.
    Cpu(cpu::Function),
}

impl Function {
    /// Its (lowered) name.
    pub fn name(&self) -> &str {
        each!(self, f => f.name())
    }

    /// What it needs and allows.
    pub fn info(&self) -> &FunctionInfo {
        each!(self, f => f.info())
    }

    /// The number of threads in a one-dimensional block that keeps the device busiest.
    ///
    /// ```
    /// # use warpaint::{device::Device, kernel::{Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let source = Source::new("__global__ void __launch_bounds__(128) grow(float *x) { *x += 1.0f; }");
    /// let grow = context.module(&source)?.kernel("grow")?;
    /// assert_eq!(grow.function().suggested_block(0)?, 128); // it would be more without that bound
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Call`](super::Error::Call) from the driver.
    pub fn suggested_block(&self, dynamic_shared_bytes: u32) -> Result<u32> {
        each!(self, f => f.suggested_block(dynamic_shared_bytes))
    }

    /// How many blocks of so many threads and bytes of dynamic shared memory a multiprocessor holds at once; on the CPU
    /// device one, for a core does one after the other. [`occupancy`](super::occupancy) computes it without a GPU.
    ///
    /// ```
    /// # use warpaint::device::{Device, occupancy::Multiprocessor};
    /// # let ptx = ".version 7.0 .target sm_75 .address_size 64 .visible .entry idle() { ret; }";
    /// let idle = Device::cpu()?.load(ptx)?.function("idle")?;
    /// assert_eq!(idle.active_blocks(256, 0)?, 1);
    /// let hopper = Multiprocessor::of(9, 0).ok_or("unknown")?; // what a GPU with compute capability 9.0 would say
    /// assert_eq!(hopper.occupancy(256, 16, 0)?.blocks, 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidLaunch`](super::Error::InvalidLaunch) for more shared memory than a block can have,
    /// [`Error::Call`](super::Error::Call) from the driver.
    pub fn active_blocks(&self, threads: u32, dynamic_shared_bytes: u32) -> Result<u32> {
        each!(self, f => f.active_blocks(threads, dynamic_shared_bytes))
    }

    /// Wishes that so much of a multiprocessor's memory, in percent, be shared memory and the rest first-level cache;
    /// `None` leaves it to the driver. Without effect on the CPU device. (The limit of 48 KiB for dynamic shared memory
    /// needs no wish: it is lifted by the launch that asks for more.)
    ///
    /// ```
    /// # use warpaint::device::Device;
    /// # let ptx = ".version 7.0 .target sm_75 .address_size 64 .visible .entry idle() { ret; }";
    /// let idle = Device::cpu()?.load(ptx)?.function("idle")?;
    /// idle.prefer_shared_memory(Some(0))?; // all of it cache
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidExtent`](super::Error::InvalidExtent) for more than 100, [`Error::Call`](super::Error::Call).
    pub fn prefer_shared_memory(&self, percent: Option<u32>) -> Result<()> {
        if let Some(requested) = percent.filter(|percent| *percent > 100) {
            let (object, limit) = ("shared memory", "percent of a multiprocessor's");
            let requested = requested.into();
            return Err(super::Error::InvalidExtent { object, limit, requested, allowed: 100 });
        }
        each!(self, f => f.prefer_shared_memory(percent))
    }

    /// Wishes what a multiprocessor's memory should rather be while this kernel runs. Without effect on the CPU device.
    ///
    /// # Errors
    /// [`Error::Call`](super::Error::Call) from the driver.
    pub fn set_cache_preference(&self, preference: CachePreference) -> Result<()> {
        each!(self, f => f.set_cache_preference(preference))
    }

    /// The limits of its device.
    pub(super) fn device_info(&self) -> &DeviceInfo {
        each!(self, f => f.device_info())
    }

    /// Most blocks that the grid of a cooperative launch with these blocks may have: so many are there at once.
    ///
    /// ```
    /// # use warpaint::device::{Device, LaunchConfig};
    /// # let ptx = ".version 7.0 .target sm_75 .address_size 64 .visible .entry idle() { ret; }";
    /// let idle = Device::cpu()?.load(ptx)?.function("idle")?;
    /// let most = |shape| idle.max_cooperative_blocks(&shape);
    /// assert_eq!(most(LaunchConfig::new(1, 64))?, most(LaunchConfig::new(1000, 64))?); // of such blocks
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidLaunch`](super::Error::InvalidLaunch) for more shared memory than a block can have,
    /// [`Error::Call`](super::Error::Call) from the driver.
    pub fn max_cooperative_blocks(&self, config: &LaunchConfig) -> Result<u64> {
        each!(self, f => f.max_cooperative_blocks(config))
    }
}

/// What a function needs and allows.
///
/// ```
/// use warpaint::device::Device;
///
/// let ptx = ".version 7.0 .target sm_75 .address_size 64
///     .visible .entry sum(.param .u64 x, .param .u32 count) .maxntid 128 {
///         .shared .align 4 .b8 partial[512];
///         ret;
///     }";
/// let sum = Device::cpu()?.load(ptx)?.function("sum")?;
/// let info = sum.info();
/// assert_eq!((info.max_threads, info.shared_bytes, info.local_bytes), (128, 512, 0));
/// assert_eq!(info.argument_bytes(), 12);
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct FunctionInfo {
    /// Most threads in a block with which it can be launched.
    pub max_threads: u32,
    /// Static shared memory in bytes.
    pub shared_bytes: u32,
    /// Local memory of a thread in bytes.
    pub local_bytes: u32,
    /// Registers of a thread; on the CPU device the number of PTX registers.
    pub registers: u32,
    /// Constant memory of its module in bytes, where the device tells.
    pub constant_bytes: u32,
    /// The architecture that its PTX was written for, as in (8, 0); none where the device does not tell.
    pub ptx_version: Option<(u32, u32)>,
    /// The architecture of its machine code; none on the CPU device.
    pub binary_version: Option<(u32, u32)>,
    /// Its parameters in order.
    pub parameters: Vec<Parameter>,
}

/// Size and place of one kernel parameter in the packed arguments, in bytes.
///
/// ```
/// use warpaint::device::{Arguments, Device, Error, LaunchConfig, Prepared};
///
/// let ptx = ".version 7.0 .target sm_75 .address_size 64
///     .visible .entry scale(.param .u64 x, .param .f32 by) { ret; }";
/// let scale = Device::cpu()?.load(ptx)?.function("scale")?;
/// let by = scale.info().parameters[1];
/// assert_eq!((by.offset, by.bytes), (8, 4));
///
/// let mut arguments = Arguments::new();
/// arguments.push(&0u64).push(&1.5f64); // no `float`
/// let refused = Prepared::new(&scale, &LaunchConfig::new(1, 1), arguments);
/// let Err(Error::WrongArguments { mismatch: Some((1, wanted, given)), .. }) = refused else { panic!("8 bytes fit") };
/// assert_eq!((wanted.bytes, given.bytes), (4, 8));
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Offset from the first parameter.
    pub offset: usize,
    /// Size.
    pub bytes: usize,
}

impl FunctionInfo {
    /// Length of the packed arguments in bytes.
    ///
    /// ```
    /// # use warpaint::device::Device;
    /// # let ptx = ".version 7.0 .target sm_75 .address_size 64
    /// #     .visible .entry f(.param .u8 a, .param .u64 b, .param .u16 c) { ret; }";
    /// let f = Device::cpu()?.load(ptx)?.function("f")?; // f(char a, long b, short c)
    /// assert_eq!(f.info().argument_bytes(), 18); // nothing behind the last one
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn argument_bytes(&self) -> usize {
        self.parameters.last().map_or(0, |p| p.offset + p.bytes)
    }
}
