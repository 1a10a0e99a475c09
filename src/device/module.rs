//! Loaded code.

use super::{CachePreference, DeviceInfo, LaunchConfig, Result, Slice, cpu, each, nvidia};

/// A module loaded on a device. Its functions keep it loaded.
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
    /// # Errors
    /// [`Error::NoSuchGlobal`](super::Error::NoSuchGlobal).
    pub fn global(&self, name: &str) -> Result<Slice<'_>> {
        each!(self, m => m.global(name))
    }
}

/// A piece of code to be linked.
#[derive(Clone, Copy, Debug)]
pub struct LinkInput<'a> {
    /// What the linker's messages call it.
    pub name: &'a str,
    /// The code.
    pub code: LinkCode<'a>,
}

impl<'a> LinkInput<'a> {
    /// The text of PTX.
    pub fn ptx(name: &'a str, text: &'a str) -> Self {
        Self { name, code: LinkCode::Ptx(text) }
    }
}

/// Code that can be linked; on the CPU device only PTX.
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
    /// # Errors
    /// [`Error::Call`](super::Error::Call) from the driver.
    pub fn suggested_block(&self, dynamic_shared_bytes: u32) -> Result<u32> {
        each!(self, f => f.suggested_block(dynamic_shared_bytes))
    }

    /// How many blocks of so many threads and bytes of dynamic shared memory a multiprocessor holds at once; on the CPU
    /// device one, for a core does one after the other. [`occupancy`](super::occupancy) computes it without a GPU.
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
    /// # Errors
    /// [`Error::InvalidLaunch`](super::Error::InvalidLaunch) for more shared memory than a block can have,
    /// [`Error::Call`](super::Error::Call) from the driver.
    pub fn max_cooperative_blocks(&self, config: &LaunchConfig) -> Result<u64> {
        each!(self, f => f.max_cooperative_blocks(config))
    }
}

/// What a function needs and allows.
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
    /// The virtual architecture that its PTX was written for, as in (8, 0); none where the device does not tell.
    pub ptx_version: Option<(u32, u32)>,
    /// The architecture of its machine code; none on the CPU device.
    pub binary_version: Option<(u32, u32)>,
    /// Its parameters in order.
    pub parameters: Vec<Parameter>,
}

/// Size and place of one kernel parameter in the packed arguments, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Offset from the first parameter.
    pub offset: usize,
    /// Size.
    pub bytes: usize,
}

impl FunctionInfo {
    /// Length of the packed arguments in bytes.
    pub fn argument_bytes(&self) -> usize {
        self.parameters.last().map_or(0, |p| p.offset + p.bytes)
    }
}
