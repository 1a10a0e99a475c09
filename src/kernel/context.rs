//! A device with what kernels and arrays need on it.

use std::{
    collections::HashMap,
    hash::BuildHasherDefault,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use smallvec::{SmallVec, smallvec};

use super::{
    Error, Key, Result,
    guarding::{self, Loaded},
};
use crate::{
    compile::{Cache, Compiler, Outcome, Request, Target},
    device::{
        self, Choice, Device, FreeList, Function, GuardOptions, HostFlags, MappedMemory, Module,
        Pool, Stream, StreamOptions, nvidia::JitOptions, size_class,
    },
};

/// A device, a stream on it, a pool of its memory, the compiler, and the generated kernels compiled so far.
///
/// Clones share all of it; [`Context::on`] gives one that puts its work on another stream. It may be used and
/// dropped on any thread, and everything made with it keeps what it needs alive.
///
/// ```
/// use warpaint::{device::Device, kernel::Context};
///
/// let context = Context::new(Device::cpu()?)?;
/// let other = context.on_new_stream()?;
/// assert_ne!(context.stream(), other.stream());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Context {
    shared: Arc<Shared>,
    stream: Stream,
}

#[derive(Debug)]
struct Shared {
    device: Device,
    target: Target,
    compiler: Compiler,
    /// Whether its modules are guarded on a GPU.
    guarded: bool,
    pool: Pool,
    /// Memory of the host's that kernels see, for what they write to be read at once.
    mapped: FreeList<MappedMemory>,
    /// Generated sources, compiled and loaded.
    generated: Mutex<GeneratedSources>,
}

impl Shared {
    fn new(device: Device, compiler: Compiler, guarded: bool) -> Self {
        let (major, minor) = device.info().compute_capability;
        let (pool, target) = (Pool::new(&device), Target::of_device(major, minor));
        let (mapped, generated) = (FreeList::default(), Mutex::default());
        Self { device, target, compiler, guarded, pool, mapped, generated }
    }
}

impl Context {
    /// A context on `device` with a new stream, a new pool and the user's compile cache.
    ///
    /// # Errors
    /// The device's, when the stream cannot be made.
    pub fn new(device: Device) -> Result<Self> {
        Self::with_compiler(device, Compiler::new(Cache::user()))
    }

    /// A context on the chosen device.
    ///
    /// ```
    /// # use warpaint::{device::{Choice, DeviceKind}, kernel::Context};
    /// // `Choice::Auto`, the default, takes a GPU where there is one.
    /// let context = Context::open(Choice::Cpu)?;
    /// assert_eq!(context.device().info().kind, DeviceKind::Cpu);
    /// # Ok::<(), warpaint::kernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::open`] and [`Context::new`].
    pub fn open(choice: Choice) -> Result<Self> {
        Self::new(Device::open(choice)?)
    }

    /// A context that compiles with `compiler`.
    ///
    /// ```
    /// # use warpaint::{compile::{Cache, Compiler}, device::Device, kernel::Context};
    /// let in_memory = Compiler::new(Cache::memory());
    /// let context = Context::with_compiler(Device::cpu()?, in_memory)?;
    /// assert_eq!(context.compiler().cache().path(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The device's, when the stream cannot be made.
    pub fn with_compiler(device: Device, compiler: Compiler) -> Result<Self> {
        let stream = device.stream()?;
        Ok(Self { shared: Arc::new(Shared::new(device, compiler, false)), stream })
    }

    /// A context like this one, with a pool of its own, whose modules are guarded on a GPU as those of scenes are: an
    /// access outside its memory does not happen and is an [`device::Error::Fault`] of what waits for the kernel, and
    /// [`Stream::cancel`] stops what does not end. `WARPAINT_GUARD` (`on`, `report`, `off`) goes before it. Code that
    /// is linked to a module is not guarded. The CPU device checks always.
    ///
    /// ```
    /// # use warpaint::{device::{Device, Error, LaunchConfig}, kernel::{Context, Source}};
    /// let context = Context::new(Device::cpu()?)?.guarded();
    /// let source = Source::new("__global__ void k(float *x) { x[threadIdx.x] = 1; }");
    /// let module = context.module(&source)?;
    /// assert_eq!(module.not_guarded(), None);
    /// let x = context.device().alloc(16)?;
    /// // SAFETY: the kernel is guarded.
    /// unsafe {
    ///     let k = module.kernel("k")?;
    ///     k.launch(context.stream(), &LaunchConfig::new(1, 32), &[x.slice(..)?.into()])?;
    /// }
    /// assert!(matches!(context.stream().synchronize(), Err(Error::Fault(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn guarded(&self) -> Self {
        let shared = Shared::new(self.device().clone(), self.compiler().clone(), true);
        Self { shared: Arc::new(shared), stream: self.stream.clone() }
    }

    /// Loads PTX, guarded where this context's modules are; with why it is not, where it should be.
    pub(super) fn load(&self, ptx: &str) -> device::Result<Loaded> {
        let (guard, jit) = (GuardOptions::default(), JitOptions::default());
        guarding::load(self.device(), ptx, self.shared.guarded, guard, jit)
    }

    /// The same context with its work on `stream`.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let stream = context.device().stream()?;
    /// let beside = context.on(&stream)?;
    /// let a = GpuArray::full(&beside, &[2], 1.5f32)?;
    /// assert_eq!(*a.context().stream(), stream);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`device::Error::WrongDevice`] for a stream of another device.
    pub fn on(&self, stream: &Stream) -> Result<Self> {
        if stream.device_id() != self.device().id() {
            return Err(device::Error::WrongDevice { operation: "use a stream" }.into());
        }
        Ok(Self { shared: self.shared.clone(), stream: stream.clone() })
    }

    /// The same context with its work on a new stream.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let beside = context.on_new_stream()?;
    /// let a = GpuArray::full(&context, &[1000], 2.0f32)?;
    /// // Put on the other stream, after what `a` still waits for on its own.
    /// let roots = a.on(&beside)?.sqrt().eval()?;
    /// assert_eq!(roots.context().stream(), beside.stream());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The device's.
    pub fn on_new_stream(&self) -> Result<Self> {
        self.on(&self.device().stream()?)
    }

    /// The same context with its work on a new stream on which every launch waits for its kernel, so that an error
    /// comes from the launch that caused it. Slow: for finding mistakes.
    ///
    /// ```
    /// # use warpaint::{device::{Device, LaunchConfig}, kernel::{Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let source = Source::new("__global__ void wild(int *x) { x[1 << 20] = 1; }");
    /// let wild = context.module(&source)?.kernel("wild")?;
    /// let x = context.pool().alloc(context.stream(), 4)?;
    /// let launch = |context: &Context| {
    ///     let arguments = [x.slice(..)?.into()];
    ///     // SAFETY: the CPU device stops a kernel that leaves its memory.
    ///     unsafe { wild.launch(context.stream(), &LaunchConfig::new(1, 1), &arguments) }
    /// };
    /// assert!(launch(&context.checked()?).is_err());
    /// let later = context.on_new_stream()?;
    /// assert!(launch(&later).is_ok());
    /// assert!(later.synchronize().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The device's.
    pub fn checked(&self) -> Result<Self> {
        let options = StreamOptions { checked: true, ..StreamOptions::default() };
        self.on(&self.device().stream_with(options)?)
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.shared.device
    }

    /// The stream that its work goes to.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The pool that arrays take their memory from.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::<f32>::zeros(&context, &[1000])?;
    /// assert_eq!(context.pool().statistics().active_blocks, 1);
    /// drop(a);
    /// assert_eq!(context.pool().statistics().held_blocks, 1); // for the next array of about that size
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pool(&self) -> &Pool {
        &self.shared.pool
    }

    /// The compiler.
    pub fn compiler(&self) -> &Compiler {
        &self.shared.compiler
    }

    /// What sources are compiled for.
    ///
    /// ```
    /// # use warpaint::{compile::Target, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// assert_eq!(context.target(), Target::CPU);
    /// assert_eq!(context.target().to_string(), "compute_80");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn target(&self) -> Target {
        self.shared.target
    }

    /// Waits until the work on its stream has ended.
    ///
    /// ```
    /// # use warpaint::{device::{self, Device, LaunchConfig}, kernel::{Context, Error, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// # let source = Source::new("__global__ void wild(int *x) {\n    x[1 << 20] = 1;\n}").named("wild.cu");
    /// # let wild = context.module(&source)?.kernel("wild")?;
    /// let x = context.pool().alloc(context.stream(), 4)?;
    /// // SAFETY: the CPU device stops a kernel that leaves its memory.
    /// unsafe { wild.launch(context.stream(), &LaunchConfig::new(1, 1), &[x.slice(..)?.into()])? };
    /// let Err(Error::Device(device::Error::Fault(fault))) = context.synchronize() else { panic!("it is wild") };
    /// assert_eq!((fault.kernel.as_str(), fault.location.map(|place| place.line)), ("_Z4wildPi", Some(2)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The first error of that work which was not reported yet.
    pub fn synchronize(&self) -> Result<()> {
        Ok(self.stream.synchronize()?)
    }

    /// The `bytes` that kernels write to the address which `put_on` gets, once the stream has done all that is on it.
    /// They lie in memory of the host's that the device sees, so that nothing is copied.
    ///
    /// # Errors
    /// Of `put_on`; of earlier work on the stream. What kernels may still write to is not used again.
    pub(crate) fn written_by_kernels<E: From<device::Error>>(
        &self,
        bytes: usize,
        put_on: impl FnOnce(u64) -> std::result::Result<(), E>,
    ) -> std::result::Result<SmallVec<[u8; 16]>, E> {
        let (free_list, size) = (&self.shared.mapped, size_class(bytes));
        let fresh = |size| self.device().alloc_mapped(size, HostFlags::default());
        let memory = free_list.take(size, |_| true, fresh)?;
        put_on(memory.address())?;
        self.stream.synchronize()?;
        let mut written = smallvec![0; bytes];
        memory.read(0, &mut written)?;
        free_list.put(size, memory);
        Ok(written)
    }

    /// How often kernels of array operations were found, and how often their source had to be written.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[1.0f32, 2.0])?;
    /// (&a + 1.0).eval()?;
    /// (&a + 2.0).eval()?; // The same kernel: numbers are arguments.
    /// (&a * 2.0).eval()?;
    /// let statistics = context.generated_statistics();
    /// assert_eq!((statistics.written, statistics.found), (2, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn generated_statistics(&self) -> GeneratedStatistics {
        self.generated_sources().statistics
    }

    /// The kernel called `kernel` of the generated source that `key` stands for; `generate` writes it the first time.
    ///
    /// # Errors
    /// [`Error::Rejected`] where the source holds an expression of the user's that is wrong.
    pub(crate) fn generated(
        &self,
        key: Key,
        kernel: &'static str,
        generate: impl Fn() -> String,
    ) -> Result<Function> {
        if let Some(found) = self.generated_sources().find(key, kernel, &generate) {
            return found;
        }
        // Not under the lock: a compilation takes long, and two of the same source do no harm.
        let mut request = Request::new("generated.cu", generate(), self.target());
        request.headers = super::source::built_in_headers();
        let compiled = match self.compiler().compile(&request)? {
            Outcome::Compiled(compiled) => compiled,
            Outcome::Rejected { diagnostics, log, .. } => {
                return Err(Error::Rejected { name: request.name, diagnostics, log });
            }
        };
        let (module, _) = self.load(&compiled.ptx)?;
        let mut generated = Generated { module, kernels: Vec::new(), source: request.source };
        let found = generated.kernel(kernel);
        self.generated_sources().insert(key, generated);
        found
    }

    fn generated_sources(&self) -> MutexGuard<'_, GeneratedSources> {
        self.shared.generated.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How often kernels of array operations were looked for in a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GeneratedStatistics {
    /// Those that were there: nothing was written, compiled or loaded.
    pub found: u64,
    /// Those whose source was written, compiled (or taken from the compiler's cache) and loaded.
    pub written: u64,
}

/// Generated sources by what they depend on.
#[derive(Debug, Default)]
struct GeneratedSources {
    sources: HashMap<Key, Generated, BuildHasherDefault<Key>>,
    statistics: GeneratedStatistics,
}

impl GeneratedSources {
    fn find(
        &mut self,
        key: Key,
        kernel: &'static str,
        generate: impl Fn() -> String,
    ) -> Option<Result<Function>> {
        let generated = self.sources.get_mut(&key)?;
        debug_assert_eq!(generated.source, generate(), "its key leaves something out");
        self.statistics.found += 1;
        Some(generated.kernel(kernel))
    }

    fn insert(&mut self, key: Key, generated: Generated) {
        self.statistics.written += 1;
        self.sources.insert(key, generated);
    }
}

/// A generated source, compiled and loaded.
#[derive(Debug)]
struct Generated {
    module: Module,
    /// Those of its kernels that were asked for: one, or a few.
    kernels: Vec<(&'static str, Function)>,
    /// As it was written: keys that leave something out show where it is compared, in debug builds.
    source: String,
}

impl Generated {
    fn kernel(&mut self, name: &'static str) -> Result<Function> {
        if let Some((_, kernel)) = self.kernels.iter().find(|(known, _)| *known == name) {
            return Ok(kernel.clone());
        }
        let kernel = self.module.function(name)?;
        self.kernels.push((name, kernel.clone()));
        Ok(kernel)
    }
}

/// The name of a generated kernel that is alone in its source.
pub(crate) const GENERATED: &str = "generated";
