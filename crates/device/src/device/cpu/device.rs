//! The device itself: what it is, and what is made with it.

use std::sync::{Arc, OnceLock};

#[cfg(doc)]
use super::Check;
use super::{
    LaunchOptions,
    abi::MAX_THREADS,
    allocation::Memory,
    error::unsupported,
    event::Event,
    launch::Pool,
    module::Module,
    printf::{self, Printed},
    shared::Shared,
    thread,
};
#[cfg(doc)]
use crate::device::Error;
use crate::{
    device::{
        Allocation, CachePreference, DeviceId, DeviceInfo, DeviceKind, EventOptions, Limit,
        LinkCode, LinkInput, MemoryInfo, Result,
    },
    machine, ptx,
};

/// As much as any NVIDIA GPU gives a block (227 KiB).
const MAX_SHARED_BYTES: u32 = 227 << 10;

/// A CPU device; cloning gives the same one.
///
/// ```
/// use warpaint::device::{Device, cpu};
///
/// let cpu = cpu::Device::new()?; // what `Device::cpu` opens
/// cpu.set_launch_options(cpu::LaunchOptions::interpreted());
/// let device = Device::Cpu(cpu); // for what is written for any device
/// assert_eq!(device.info().name, cpu::Device::describe().name);
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Device {
    pub(super) shared: Arc<Shared>,
    pub(super) pool: Arc<Pool>,
}

impl Device {
    /// What a CPU device of this machine is, without opening one.
    pub fn describe() -> DeviceInfo {
        DeviceInfo {
            kind: DeviceKind::Cpu,
            selector: "cpu".into(),
            name: host_name(),
            compute_capability: (8, 0),
            multiprocessors: cores() as u32,
            warp_size: 32,
            max_threads_per_block: MAX_THREADS as u32,
            max_block: [1024, 1024, 64],
            max_grid: [i32::MAX as u32, 65535, 65535],
            max_shared_bytes: MAX_SHARED_BYTES,
            // The rest is for copies of results, for the compiler and for other programs.
            total_memory_bytes: machine::memory_bytes() / 4 * 3,
            driver_version: None,
        }
    }

    /// What can be opened: this program has a CPU device.
    pub(in crate::device) fn available() -> Option<DeviceInfo> {
        Some(Self::describe())
    }

    /// Opens a device of its own.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when addresses or threads cannot be had.
    pub fn new() -> Result<Self> {
        let shared = Arc::new(Shared::new(Self::describe())?);
        Ok(Self { shared, pool: Arc::new(Pool::new(cores())?) })
    }

    /// Name, limits and capabilities.
    pub fn info(&self) -> &DeviceInfo {
        &self.shared.info
    }

    /// Tells this device's handles from another's.
    pub fn id(&self) -> DeviceId {
        self.shared.id
    }

    /// Free and total memory in bytes, now.
    ///
    /// # Errors
    /// None on this device.
    pub fn memory_info(&self) -> Result<MemoryInfo> {
        let arena = &self.shared.arena;
        Ok(MemoryInfo { free: arena.free_bytes(), total: arena.total_bytes() })
    }

    /// Allocates device memory, aligned to 64 KiB.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn alloc(&self, bytes: usize) -> Result<Memory> {
        self.alloc_with_capacity(bytes, bytes)
    }

    /// As [`Device::alloc`], of `capacity` bytes, of which kernels may use the first `bytes` at first.
    pub(in crate::device) fn alloc_with_capacity(
        &self,
        bytes: usize,
        capacity: usize,
    ) -> Result<Memory> {
        Memory::new(self.shared.clone(), bytes, capacity.max(bytes))
    }

    /// Allocates memory for rows that start at multiples of 512 bytes, as those of NVIDIA GPUs do; the memory, and the
    /// bytes from one row to the next.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn alloc_pitch(&self, row_bytes: usize, rows: usize) -> Result<(Memory, usize)> {
        let pitch = row_bytes.checked_next_multiple_of(512).unwrap_or(usize::MAX);
        Ok((self.alloc(pitch.saturating_mul(rows))?, pitch))
    }

    /// The allocation that an address lies in.
    ///
    /// # Errors
    /// None on this device.
    pub fn address_range(&self, address: u64) -> Result<Option<Allocation>> {
        let nearest = self.shared.arena.nearest(address);
        let holds = |found: &Allocation| {
            let offset = address.checked_sub(found.address);
            offset.is_some_and(|offset| offset < found.bytes)
        };
        Ok(nearest.filter(holds))
    }

    /// Lets `sink` take what kernels print, the text of one `printf` after the other, instead of the standard output.
    ///
    /// It is called by the threads that run kernels, several at once; those of one thread of a kernel come in their
    /// order. A launch prints at most 1 MiB; how many calls were dropped after that is said at its end.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use warpaint::{device::{Device, LaunchConfig, cpu}, kernel::{Context, Source}};
    ///
    /// let (device, (sink, printed)) = (cpu::Device::new()?, mpsc::channel());
    /// device.print_to(move |text| sink.send(text.to_owned()).unwrap_or_default());
    /// let context = Context::new(Device::Cpu(device))?;
    /// let source = Source::new("__global__ void say(float x) { printf(\"%.1f is half\\n\", x / 2); }");
    /// let say = context.module(&source)?.kernel("say")?;
    /// // SAFETY: the kernel accesses no memory.
    /// unsafe { say.launch(context.stream(), &LaunchConfig::new(1, 1), &[5.0f32.into()])? };
    /// context.synchronize()?;
    /// assert_eq!(printed.recv()?, "2.5 is half\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn print_to(&self, sink: impl Fn(&str) + Send + Sync + 'static) {
        self.print_with(move |printed| sink(printed.text));
    }

    /// As [`print_to`](Self::print_to), and `sink` is told which thread has printed.
    pub fn print_with(&self, sink: impl Fn(Printed<'_>) + Send + Sync + 'static) {
        self.shared.printer.redirect(Some(Arc::new(sink)));
    }

    /// Lets kernels print to the standard output again.
    pub fn print_to_stdout(&self) {
        self.shared.printer.redirect(None);
    }

    /// How launches run from now on that do not say so themselves, as those of scenes and arrays: interpreted, say, or
    /// watched by a [`Check`].
    ///
    /// ```
    /// use warpaint::{array::GpuArray, device::{Device, cpu}, kernel::Context};
    ///
    /// let (device, check) = (cpu::Device::new()?, cpu::Check::all());
    /// device.set_launch_options(cpu::LaunchOptions::checked(&check));
    /// let context = Context::new(Device::Cpu(device))?;
    /// let x = GpuArray::<f32>::arange(&context, 100)?;
    /// assert_eq!(x.sum()?.item()?, 4950.0);
    /// assert!(check.report().findings.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_launch_options(&self, options: LaunchOptions) {
        self.shared.set_options(options);
    }

    /// The only priority of streams, twice.
    ///
    /// # Errors
    /// None on this device.
    pub fn stream_priorities(&self) -> Result<(i32, i32)> {
        Ok((0, 0))
    }

    /// A new event, not yet recorded.
    ///
    /// # Errors
    /// None on this device.
    pub fn event(&self, options: EventOptions) -> Result<Event> {
        Ok(Event::new(self.shared.clone(), options))
    }

    /// A limit: that of what a launch prints.
    ///
    /// # Errors
    /// None on this device.
    pub fn limit(&self, limit: Limit) -> Result<Option<usize>> {
        Ok((limit == Limit::PrintfBytes).then_some(printf::MOST_BYTES as usize))
    }

    /// Without effect: there is no such memory here.
    ///
    /// # Errors
    /// None on this device.
    pub fn set_cache_preference(&self, _preference: CachePreference) -> Result<()> {
        Ok(())
    }

    /// Not possible: there is nothing to be set.
    ///
    /// # Errors
    /// [`Error::Unsupported`].
    pub fn set_limit(&self, _limit: Limit, _value: usize) -> Result<()> {
        self.unsupported("setting a limit")
    }

    /// What cannot be done here.
    pub(in crate::device) fn unsupported<T>(&self, operation: &'static str) -> Result<T> {
        unsupported(operation)
    }

    /// Compiles a module.
    ///
    /// # Errors
    /// [`Error::Load`] when it is no PTX,
    /// [`Error::UnsupportedPtx`] with the source line.
    pub fn load(&self, text: &str) -> Result<Module> {
        let pieces = [(ptx::FILE, text)];
        Module::link(self.shared.clone(), &pieces, self.shared.options().lanes)
    }

    /// Links pieces of PTX to one module.
    ///
    /// # Errors
    /// [`Error::Load`] with all that is wrong,
    /// [`Error::UnsupportedPtx`] with the source line,
    /// [`Error::Unsupported`] for code that is no PTX.
    pub fn link<'a>(&self, inputs: &[LinkInput<'a>]) -> Result<Module> {
        let piece = |input: &LinkInput<'a>| match input.code {
            LinkCode::Ptx(text) => Ok((input.name, text)),
            LinkCode::Cubin(_) | LinkCode::Fatbin(_) | LinkCode::Library(_) => {
                self.unsupported("machine code of GPUs")
            }
        };
        let pieces: Vec<_> = inputs.iter().map(piece).collect::<Result<_>>()?;
        Module::link(self.shared.clone(), &pieces, self.shared.options().lanes)
    }

    /// Waits until all work on all streams has ended.
    ///
    /// # Errors
    /// The first error of any stream that was not reported yet.
    pub fn synchronize(&self) -> Result<()> {
        thread::expect_free()?;
        self.shared.synchronize()
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The processor's name, where the system tells it.
fn host_name() -> String {
    static NAME: OnceLock<String> = OnceLock::new();
    let read = || {
        let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with("model name"));
        let name = line.and_then(|line| line.split_once(':')).map(|(_, name)| name.trim());
        format!("{}, {} cores", name.unwrap_or(std::env::consts::ARCH), cores())
    };
    NAME.get_or_init(read).clone()
}
