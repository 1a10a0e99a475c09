//! Modules, JIT-compiled by the driver, and their kernels.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::{
    ffi::CString,
    ptr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

use cudarc::driver::sys::{self, CUfunction_attribute as Attribute, CUjit_option as JitOption};

use super::{
    Device,
    binary::Binary,
    context::CudaContext,
    driver::{Handle, code},
    graph::Repeats,
    guard::Control,
    image::{Image, load_image},
    jit_options::JitOptions,
    limit::raw_preference,
    ptx,
};
use crate::{
    device::{
        CachePreference, DeviceInfo, Error, FunctionInfo, GuardedModule, LaunchConfig, Location,
        Parameter, Result, Slice,
    },
    ptx::outline::{Entry, LOCAL_BYTES, Outline},
};

/// A loaded module. Dropping the last handle waits for the device's work, which may still run its code.
#[derive(Clone, Debug)]
pub struct Module(Arc<Loaded>);

/// What its handles share.
#[derive(Debug)]
struct Loaded {
    image: Arc<Image>,
    entries: Vec<Entry>,
    log: String,
    /// Where it is guarded: what its kernels are told, and tell.
    control: Option<Arc<Control>>,
}

impl Device {
    /// Loads PTX, whose version is lowered to the driver's where it is newer.
    ///
    /// # Errors
    /// [`Error::Load`] with the JIT compiler's log, [`Error::Call`].
    pub fn load(&self, ptx: &str) -> Result<Module> {
        self.load_with(ptx, JitOptions::default())
    }

    /// The same, with options for the JIT compiler.
    ///
    /// # Errors
    /// As [`Device::load`].
    pub fn load_with(&self, ptx: &str, options: JitOptions) -> Result<Module> {
        let context = self.context();
        context.activate()?;
        let outline = Outline::new(ptx);
        let text = lowered(context, ptx, &outline)?;
        // Asked for lines that the text does not have, driver 580 writes outside its memory for some texts.
        let wish = match outline.is_for_debuggers {
            true => Some(JitOption::CU_JIT_GENERATE_DEBUG_INFO),
            false => outline.has_lines.then_some(JitOption::CU_JIT_GENERATE_LINE_INFO),
        };
        let wishes = wish.map(|option| (option, 1)).into_iter().chain(options.options());
        // SAFETY: the text ends with a NUL.
        let loaded = unsafe { load_image(context, text.as_ptr().cast(), wishes) };
        let (raw, log) = loaded.map_err(|error| placed(error, ptx))?;
        Ok(Module::new(Image::new(self.clone(), raw), outline.entries, log))
    }

    /// Loads a cubin or fatbin.
    ///
    /// # Errors
    /// [`Error::Load`], [`Error::Call`].
    pub fn load_binary(&self, bytes: &[u8]) -> Result<Module> {
        let context = self.context();
        context.activate()?;
        self.load_code(&whole(context, bytes)?, Vec::new())
    }

    /// Loads machine code that has these kernels, as far as is known.
    pub(super) fn load_code(&self, code: &Binary, entries: Vec<Entry>) -> Result<Module> {
        let image = code.bytes().as_ptr().cast();
        // SAFETY: the code is whole.
        let (raw, log) = unsafe { load_image(self.context(), image, [])? };
        Ok(Module::new(Image::new(self.clone(), raw), entries, log))
    }
}

/// The parameters of a kernel as its PTX has them, where the driver does not tell.
fn as_declared(entry: &Entry) -> Vec<Parameter> {
    let places = entry.parameters.iter();
    places.map(|place| Parameter { offset: place.start, bytes: place.len() }).collect()
}

/// Machine code that can be given to the driver.
pub(super) fn whole(context: &CudaContext, bytes: &[u8]) -> Result<Binary> {
    Binary::new(bytes).ok_or_else(|| Error::Load {
        device: context.info().to_string(),
        log: format!("{} bytes that are no cubin or fatbin, or only a part of one", bytes.len()),
        location: None,
    })
}

/// PTX as the driver reads it: its version lowered to the driver's where it is newer. Driver 580 takes a function with
/// more local memory than a thread may have, and its kernels then end the context.
pub(super) fn lowered(context: &CudaContext, ptx: &str, outline: &Outline) -> Result<CString> {
    if outline.local_bytes as u64 > LOCAL_BYTES {
        let bytes = outline.local_bytes;
        return Err(Error::Load {
            device: context.info().to_string(),
            log: format!(
                "a function takes {bytes} bytes of local memory; a thread has at most {LOCAL_BYTES}"
            ),
            location: None,
        });
    }
    let text = match context.info().driver_version {
        Some(cuda) => ptx::lowered(ptx, outline, cuda),
        None => ptx.into(),
    };
    CString::new(text.as_bytes()).map_err(|error| Error::Load {
        device: context.info().to_string(),
        log: format!("byte {} of the PTX is zero", error.nul_position()),
        location: None,
    })
}

/// An error of the JIT compiler's, which names a line of the PTX, with the place that this comes from.
fn placed(error: Error, ptx: &str) -> Error {
    match error {
        Error::Load { device, log, location: None } => {
            let behind = log.split(", line ").nth(1);
            let line = behind.and_then(|text| text.split([';', ' ', '\n']).next()?.parse().ok());
            let location = line.and_then(|line| Location::of_ptx(ptx, line));
            Error::Load { device, log, location }
        }
        error => error,
    }
}

impl Module {
    fn new(image: Image, entries: Vec<Entry>, log: String) -> Self {
        Self(Arc::new(Loaded { image: Arc::new(image), entries, log, control: None }))
    }

    /// What the JIT compiler said while it loaded; often nothing.
    pub fn log(&self) -> &str {
        &self.0.log
    }

    /// The same module, of which nobody else has a handle yet, as one that is guarded.
    pub(super) fn with_guard(self, control: Control) -> Option<Self> {
        let mut loaded = Arc::into_inner(self.0)?;
        loaded.control = Some(Arc::new(control));
        Some(Self(Arc::new(loaded)))
    }

    /// What is known of it where it is guarded.
    pub fn guarded(&self) -> Option<&GuardedModule> {
        self.0.control.as_deref().map(Control::module)
    }

    /// Where it is guarded: what its kernels are told, and tell.
    pub(super) fn control(&self) -> Option<&Arc<Control>> {
        self.0.control.as_ref()
    }

    /// Its machine code.
    pub(super) fn image(&self) -> &Arc<Image> {
        &self.0.image
    }

    fn device(&self) -> &Device {
        self.0.image.device()
    }

    /// The kernel with this (lowered) name.
    ///
    /// # Errors
    /// [`Error::NoSuchFunction`], [`Error::Call`].
    pub fn function(&self, name: &str) -> Result<Function> {
        let missing = || Error::NoSuchFunction {
            name: name.to_owned(),
            available: self.0.entries.iter().map(|entry| entry.name.clone()).collect(),
        };
        let text = CString::new(name).map_err(|_| missing())?;
        let context = self.device().context();
        context.activate()?;
        let mut raw = ptr::null_mut();
        // SAFETY: the module is alive, `text` ends with a NUL, and `raw` is written before the call returns.
        let status = unsafe {
            context.driver().cuModuleGetFunction(&raw mut raw, self.0.image.raw(), text.as_ptr())
        };
        match status.code {
            code::NOT_FOUND => Err(missing()),
            _ => context.check(status),
        }?;
        Function::new(self, name, Handle(raw))
    }

    /// The memory of a `__device__` or `__constant__` variable with this (lowered) name.
    ///
    /// # Errors
    /// [`Error::NoSuchGlobal`], [`Error::Call`].
    pub fn global(&self, name: &str) -> Result<Slice<'_>> {
        let missing = || Error::NoSuchGlobal { name: name.to_owned() };
        let text = CString::new(name).map_err(|_| missing())?;
        let context = self.device().context();
        context.activate()?;
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the module is alive, `text` ends with a NUL, and both are written before the call returns.
        let status = unsafe {
            context.driver().cuModuleGetGlobal_v2(
                &raw mut address,
                &raw mut bytes,
                self.0.image.raw(),
                text.as_ptr(),
            )
        };
        match status.code {
            code::NOT_FOUND => Err(missing()),
            _ => context.check(status).map(|()| Slice::new(context.id(), address, bytes)),
        }
    }
}

/// A kernel; it keeps its module loaded.
#[derive(Clone, Debug)]
pub struct Function(Arc<Kernel>);

#[derive(Debug)]
struct Kernel {
    /// Ends before the module does.
    repeats: Mutex<Repeats>,
    module: Module,
    raw: Handle<sys::CUfunc_st>,
    name: Arc<str>,
    info: FunctionInfo,
    /// Its versions without checks that most launches do not need, where it is guarded.
    proved: Vec<Function>,
    /// Most dynamic shared memory of a block with which it can be launched now, in bytes.
    dynamic_shared_bytes: AtomicU32,
}

impl Function {
    fn new(module: &Module, name: &str, raw: Handle<sys::CUfunc_st>) -> Result<Self> {
        let context = module.device().context();
        let attribute = |attribute| {
            let mut value = 0;
            // SAFETY: the function is alive, and `value` is written before the call returns.
            let status =
                unsafe { context.driver().cuFuncGetAttribute(&raw mut value, attribute, raw.0) };
            context.check(status).map(|()| value.unsigned_abs())
        };
        let written = module.0.entries.iter().find(|entry| entry.name == name);
        let mut parameters =
            parameters(context, raw)?.or_else(|| written.map(as_declared)).unwrap_or_default();
        let guarded = module.guarded().and_then(|guarded| guarded.kernel(name));
        if guarded.is_some_and(|kernel| !kernel.words.is_empty()) {
            // The last one is the guard's.
            parameters.pop();
        }
        let info = FunctionInfo {
            max_threads: attribute(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            shared_bytes: attribute(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            local_bytes: attribute(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            registers: attribute(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            constant_bytes: attribute(Attribute::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)?,
            ptx_version: version(attribute(Attribute::CU_FUNC_ATTRIBUTE_PTX_VERSION)?),
            binary_version: version(attribute(Attribute::CU_FUNC_ATTRIBUTE_BINARY_VERSION)?),
            parameters,
        };
        let dynamic = attribute(Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)?;
        let proved = guarded.map_or(&[][..], |kernel| &kernel.proved).iter();
        let proved = proved.map(|proved| module.function(&proved.name)).collect::<Result<_>>()?;
        Ok(Self(Arc::new(Kernel {
            repeats: Mutex::default(),
            module: module.clone(),
            raw,
            name: name.into(),
            info,
            proved,
            dynamic_shared_bytes: AtomicU32::new(dynamic),
        })))
    }

    /// Its (lowered) name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What it needs and allows.
    pub fn info(&self) -> &FunctionInfo {
        &self.0.info
    }

    /// The number of threads in a block with which most warps are resident.
    ///
    /// # Errors
    /// [`Error::InvalidLaunch`] for more shared memory than a block can have, [`Error::Call`].
    pub fn suggested_block(&self, dynamic_shared_bytes: u32) -> Result<u32> {
        let context = self.context();
        context.activate()?;
        self.allow_shared(dynamic_shared_bytes)?;
        let (mut grid, mut block) = (0, 0);
        // SAFETY: the function is alive, and both are written before the call returns.
        context.check(unsafe {
            context.driver().cuOccupancyMaxPotentialBlockSize(
                &raw mut grid,
                &raw mut block,
                self.raw(),
                None,
                dynamic_shared_bytes as usize,
                0,
            )
        })?;
        Ok(block.unsigned_abs())
    }

    /// How many such blocks a multiprocessor holds at once.
    ///
    /// # Errors
    /// [`Error::InvalidLaunch`] for more shared memory than a block can have, [`Error::Call`].
    pub fn active_blocks(&self, threads: u32, dynamic_shared_bytes: u32) -> Result<u32> {
        let context = self.context();
        context.activate()?;
        self.allow_shared(dynamic_shared_bytes)?;
        let mut blocks = 0;
        // SAFETY: the function is alive, and `blocks` is written before the call returns.
        context.check(unsafe {
            context.driver().cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &raw mut blocks,
                self.raw(),
                threads.cast_signed(),
                dynamic_shared_bytes as usize,
            )
        })?;
        Ok(blocks.unsigned_abs())
    }

    /// Wishes how much of a multiprocessor's memory be shared memory.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn prefer_shared_memory(&self, percent: Option<u32>) -> Result<()> {
        let context = self.context();
        context.activate()?;
        let attribute = Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
        let value = percent.map_or(-1, u32::cast_signed);
        context.set(|| {
            // SAFETY: the function is alive.
            unsafe { context.driver().cuFuncSetAttribute(self.raw(), attribute, value) }
        })?;
        self.proved().iter().try_for_each(|proved| proved.prefer_shared_memory(percent))
    }

    /// Wishes what a multiprocessor's memory should rather be.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn set_cache_preference(&self, preference: CachePreference) -> Result<()> {
        let context = self.context();
        context.activate()?;
        let config = raw_preference(preference);
        // SAFETY: the function is alive.
        context.set(|| unsafe { context.driver().cuFuncSetCacheConfig(self.raw(), config) })?;
        self.proved().iter().try_for_each(|proved| proved.set_cache_preference(preference))
    }

    pub(in crate::device) fn device_info(&self) -> &DeviceInfo {
        self.context().info()
    }

    /// Most blocks of a cooperative launch of this shape: as many as all multiprocessors hold at once.
    ///
    /// # Errors
    /// [`Error::InvalidLaunch`] for more shared memory than a block can have, [`Error::Call`].
    pub fn max_cooperative_blocks(&self, config: &LaunchConfig) -> Result<u64> {
        let threads = u32::try_from(config.block.count()).unwrap_or(u32::MAX);
        let blocks = self.active_blocks(threads, config.shared_bytes)?;
        Ok(u64::from(blocks) * u64::from(self.device_info().multiprocessors))
    }

    /// Lets launches have `bytes` of dynamic shared memory: more than 48 KiB must be allowed once; the context is
    /// current.
    ///
    /// The most that a block can have is allowed then, so that two handles of one kernel cannot undo each other.
    pub(super) fn allow_shared(&self, bytes: u32) -> Result<()> {
        if bytes <= self.0.dynamic_shared_bytes.load(Ordering::Relaxed) {
            return Ok(());
        }
        let context = self.context();
        let most = context.info().max_shared_bytes.saturating_sub(self.0.info.shared_bytes);
        if bytes > most {
            return Err(Error::InvalidLaunch {
                kernel: self.name().to_owned(),
                limit: "bytes of dynamic shared memory",
                requested: bytes.into(),
                allowed: most.into(),
            });
        }
        let attribute = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function is alive.
        context.set(|| unsafe {
            context.driver().cuFuncSetAttribute(self.raw(), attribute, most.cast_signed())
        })?;
        self.0.dynamic_shared_bytes.store(most, Ordering::Relaxed);
        Ok(())
    }

    pub(super) fn context(&self) -> &CudaContext {
        self.0.module.device().context()
    }

    pub(super) fn module(&self) -> &Module {
        &self.0.module
    }

    /// Its versions without checks that most launches do not need.
    pub(super) fn proved(&self) -> &[Self] {
        &self.0.proved
    }

    pub(super) fn raw(&self) -> sys::CUfunction {
        self.0.raw.0
    }

    pub(super) fn repeats(&self) -> &Mutex<Repeats> {
        &self.0.repeats
    }

    pub(super) fn shared_name(&self) -> &Arc<str> {
        &self.0.name
    }
}

/// An architecture as the driver tells it: 86 is 8.6.
fn version(number: u32) -> Option<(u32, u32)> {
    (number > 0).then_some((number / 10, number % 10))
}

/// A kernel's parameters, where the driver can tell them.
fn parameters(
    context: &CudaContext,
    function: Handle<sys::CUfunc_st>,
) -> Result<Option<Vec<Parameter>>> {
    let mut parameters = Vec::new();
    loop {
        let (mut offset, mut bytes) = (0, 0);
        // SAFETY: the function is alive, and both are written before the call returns.
        let status = unsafe {
            context.driver().cuFuncGetParamInfo(
                function.0,
                parameters.len(),
                &raw mut offset,
                &raw mut bytes,
            )
        };
        let Some(status) = status else { return Ok(None) };
        match status.code {
            // An index behind the last parameter.
            code::INVALID_VALUE => return Ok(Some(parameters)),
            _ => context.check(status)?,
        }
        parameters.push(Parameter { offset, bytes });
    }
}
