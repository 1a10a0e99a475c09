//! Guarded kernels on a GPU: what they do wrong does not happen, and is told; those that do not end can be stopped.
//!
//! A pointer among a kernel's arguments may be used within the allocation that it points into: what this library gave
//! out counts with the length that was asked for, of other libraries' memory the driver tells. A pointer that neither
//! knows may not be used at all. (Memory that the driver does not know, but the hardware can reach, such as pageable
//! memory of the host, is for kernels that are not guarded.)

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::{
    ffi::c_void,
    io::Write as _,
    mem::MaybeUninit,
    ptr,
    sync::{Arc, Mutex, Weak},
};

use cudarc::driver::sys;

#[cfg(doc)]
use super::Stream;
use super::{
    Device, Function, Module,
    context::{CudaContext, lock},
    driver::Handle,
    heap,
    host::page_lock,
};
use crate::{
    device::{
        Arguments, Error, Fault, FaultKind, GuardRecord, GuardedModule, LaunchConfig, Result,
    },
    ptx::pass::guard::{
        Find, LocalMemory, NotGuarded,
        record::{MOST, MOST_PRINTS, Telling, VARIABLE, VARIABLE_BYTES, control, field},
    },
};

/// Room for what one call of `printf` puts into the buffer: a header, the format's address and 28 numbers, or text.
const PRINT_BYTES: usize = 256;

/// The control block of a context with its record.
#[derive(Debug)]
pub(super) struct Guard {
    /// Address of the control block.
    block: u64,
    /// The records, in memory of the host that kernels see.
    record: Handle<c_void>,
    /// Where the host writes while kernels run on other streams.
    stream: Handle<sys::CUstream_st>,
    /// Whether the host has raised the flag. Who holds this changes the flag, and nobody else; it is taken before the
    /// state, and not by who waits for kernels that the flag may have to end.
    raised: Mutex<bool>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By number.
    modules: Vec<Weak<GuardedModule>>,
    /// The table of ranges: its address, how many ranges it can hold, and what the ranges' number was then.
    table: Option<(u64, usize, u64)>,
    /// Whether the control block has the heap of `malloc`, as far as it can be found.
    knows_heap: bool,
    /// The guarded kernel that was launched last.
    launched: Option<Arc<str>>,
    /// What modules that tell of all faults have told.
    reported: Vec<Fault>,
}

impl Guard {
    /// The context is current.
    pub(super) fn new(context: &CudaContext) -> Result<Self> {
        let record =
            Handle(page_lock(context, MOST * field::BYTES, sys::CU_MEMHOSTALLOC_DEVICEMAP)?);
        let (mut block, mut seen, mut stream) = (0, 0, ptr::null_mut());
        // SAFETY: the memory was allocated with `CU_MEMHOSTALLOC_DEVICEMAP`; `seen` is written before the call returns.
        context.check(unsafe {
            context.driver().cuMemHostGetDevicePointer_v2(&raw mut seen, record.0, 0)
        })?;
        // SAFETY: `block` is written before the call returns.
        context.check(unsafe { context.driver().cuMemAlloc_v2(&raw mut block, control::BYTES) })?;
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: `stream` is written before the call returns.
        context.check(unsafe {
            context.driver().cuStreamCreateWithPriority(&raw mut stream, flags, 0)
        })?;
        let (raised, state) = (Mutex::default(), Mutex::default());
        let guard = Self { block, record, stream: Handle(stream), raised, state };
        let mut bytes = [0; control::BYTES];
        bytes[control::RECORD as usize..][..8].copy_from_slice(&seen.to_ne_bytes());
        guard.write(context, block, &bytes)?;
        hold_prints(context)?;
        Ok(guard)
    }

    /// Gives its memory back, when the context ends.
    pub(super) fn free(&self, context: &CudaContext) {
        let table = lock(&self.state).table.take().map(|(address, ..)| address);
        for address in table.into_iter().chain([self.block]) {
            // SAFETY: allocated by `cuMemAlloc`; nothing of the context runs any more.
            if let Err(error) = context.check(unsafe { context.driver().cuMemFree_v2(address) }) {
                tracing::debug!("while ending the guard: {error}");
            }
        }
        // SAFETY: allocated by `cuMemHostAlloc`; nothing of the context runs any more.
        let freed = context.check(unsafe { context.driver().cuMemFreeHost(self.record.0) });
        // SAFETY: created by `cuStreamCreateWithPriority`.
        let ended = context.check(unsafe { context.driver().cuStreamDestroy_v2(self.stream.0) });
        if let Err(error) = freed.and(ended) {
            tracing::debug!("while ending the guard: {error}");
        }
    }

    /// Writes to device memory now, whatever runs.
    fn write(&self, context: &CudaContext, address: u64, bytes: &[u8]) -> Result<()> {
        let (driver, stream) = (context.driver(), self.stream.0);
        // SAFETY: the caller names memory of its own of at least this length, and the bytes live until the stream was
        // waited for.
        context.check(unsafe {
            driver.cuMemcpyHtoDAsync_v2(address, bytes.as_ptr().cast(), bytes.len(), stream)
        })?;
        // SAFETY: the stream is alive.
        context.check(unsafe { driver.cuStreamSynchronize(stream) })
    }

    /// Tells a module that was just loaded, whose variable lies at `address`, where the control block is.
    pub(super) fn add(
        &self,
        context: &CudaContext,
        module: &Arc<GuardedModule>,
        address: u64,
    ) -> Result<()> {
        let number = {
            let modules = &mut lock(&self.state).modules;
            let gone = modules.iter().position(|module| module.strong_count() == 0);
            let number = gone.unwrap_or(modules.len());
            match modules.get_mut(number) {
                Some(place) => *place = Arc::downgrade(module),
                None => modules.push(Arc::downgrade(module)),
            }
            number as u32
        };
        let mut bytes = [0; VARIABLE_BYTES as usize];
        bytes[..8].copy_from_slice(&self.block.to_ne_bytes());
        bytes[8..12].copy_from_slice(&number.to_ne_bytes());
        self.write(context, address, &bytes)
    }

    /// Before a guarded kernel of a module is launched: the table is as the memory is now, where the module reads it.
    fn prepare(
        &self,
        context: &CudaContext,
        kernel: &Arc<str>,
        module: &GuardedModule,
    ) -> Result<()> {
        let mut state = lock(&self.state);
        state.launched = Some(kernel.clone());
        if module.allocates() && !state.knows_heap {
            state.knows_heap = true;
            if let Some(heap) = heap::find(context, self.stream.0)? {
                let bytes = [heap.start, heap.end - heap.start].map(u64::to_ne_bytes).concat();
                self.write(context, self.block + control::HEAP.unsigned_abs(), &bytes)?;
            }
        }
        let searches = module.searches();
        let current = state.table.is_some_and(|(.., seen)| seen == context.ranges().changes());
        if !searches || current {
            return Ok(());
        }
        // Kernels that run may read the table.
        context.wait_for_work()?;
        let (ranges, changes) = context.ranges().all();
        let capacity = state.table.map_or(0, |(_, capacity, _)| capacity);
        if ranges.len() > capacity || capacity == 0 {
            if let Some((address, ..)) = state.table.take() {
                // SAFETY: allocated by `cuMemAlloc`, and no kernel runs that reads it.
                context.check(unsafe { context.driver().cuMemFree_v2(address) })?;
            }
            let (mut address, capacity) = (0, ranges.len().next_power_of_two().max(256));
            let bytes = 16 * capacity;
            // SAFETY: `address` is written before the call returns.
            context.check(unsafe { context.driver().cuMemAlloc_v2(&raw mut address, bytes) })?;
            state.table = Some((address, capacity, changes));
        }
        let Some((address, _, seen)) = &mut state.table else { return Ok(()) };
        *seen = changes;
        let words: Vec<[u64; 2]> = ranges.iter().map(|(start, bytes)| [*start, *bytes]).collect();
        if !words.is_empty() {
            self.write(context, *address, bytemuck::cast_slice(&words))?;
        }
        let mut bytes = [0; (control::PRINTED - control::TABLE) as usize];
        bytes[..8].copy_from_slice(&address.to_ne_bytes());
        bytes[8..12].copy_from_slice(&(words.len() as u32).to_ne_bytes());
        self.write(context, self.block + control::TABLE.unsigned_abs(), &bytes)
    }

    /// Raises the flag: guarded kernels end. The driver may wait in another thread for the kernel that is to end, and
    /// until then writes nothing for this one: so the wish comes first, which kernels look at more rarely.
    pub(super) fn cancel(&self, context: &CudaContext) -> Result<()> {
        let mut raised = lock(&self.raised);
        *raised = true;
        self.wish(1);
        let (driver, address) = (context.driver(), self.block + control::STOP.unsigned_abs());
        // Not waited for: where a kernel prints more than its buffer holds, the driver comes back from a wait for any
        // stream only when all of it is printed.
        // SAFETY: the control block has this word, which kernels read at any time.
        context.check(unsafe { driver.cuMemsetD32Async(address, 1, 1, self.stream.0) })
    }

    /// Writes the host's wish.
    fn wish(&self, wish: u32) {
        let place = self.record.0.cast::<u8>().wrapping_add(field::WISH.unsigned_abs() as usize);
        // SAFETY: the record lives as long as the guard does, and has these four bytes at a multiple of four, which
        // the host alone writes.
        unsafe { ptr::write_volatile(place.cast::<u32>(), wish) };
    }

    /// Whether a kernel has written the record.
    fn is_written(&self) -> bool {
        // SAFETY: the record lives as long as the guard does, and begins with this word, which kernels write whole.
        unsafe { ptr::read_volatile(self.record.0.cast::<u32>()) != 0 }
    }

    /// Whether a kernel has printed since the last time.
    fn take_printed(&self) -> bool {
        let place = self.record.0.cast::<u8>().wrapping_add(field::PRINTED.unsigned_abs() as usize);
        let place = place.cast::<u32>();
        // SAFETY: the record lives as long as the guard does, and has these four bytes at a multiple of four, which
        // are read and written whole.
        let printed = unsafe { ptr::read_volatile(place) } != 0;
        if printed {
            // SAFETY: as above.
            unsafe { ptr::write_volatile(place, 0) };
        }
        printed
    }

    /// Says how many calls of `printf` were too many since the last time, and counts anew.
    #[cold]
    fn tell_unprinted(&self, context: &CudaContext) -> Result<()> {
        let (driver, stream) = (context.driver(), self.stream.0);
        let (address, mut count) = (self.block + control::PRINTED.unsigned_abs(), 0_u32);
        // SAFETY: the control block has this word, and `count` lives until the stream was waited for.
        context.check(unsafe {
            driver.cuMemcpyDtoHAsync_v2((&raw mut count).cast(), address, size_of::<u32>(), stream)
        })?;
        // SAFETY: as above; the stream is alive.
        context.check(unsafe { driver.cuMemsetD32Async(address, 0, 1, stream) })?;
        // SAFETY: the stream is alive.
        context.check(unsafe { driver.cuStreamSynchronize(stream) })?;
        let unprinted = count.saturating_sub(MOST_PRINTS);
        if unprinted > 0 {
            let launched = lock(&self.state).launched.clone();
            let kernel = launched.as_deref().unwrap_or("?");
            let text = format!(
                "[kernel `{kernel}`: {unprinted} more calls of printf; at most {MOST_PRINTS} print until they are \
                 waited for]\n"
            );
            // Nobody is left to tell when the standard output is gone.
            drop(std::io::stdout().lock().write_all(text.as_bytes()));
        }
        Ok(())
    }

    /// The fault of guarded kernels that came to an end, once.
    ///
    /// # Errors
    /// [`Error::Fault`]; those of waiting for other work.
    pub(super) fn check(&self, context: &CudaContext) -> Result<()> {
        if self.take_printed() {
            self.tell_unprinted(context)?;
        }
        if !self.is_written() && !*lock(&self.raised) {
            return Ok(());
        }
        self.take(context)
    }

    /// A record, where one is written there, which is taken away.
    fn take_record(&self, at: usize) -> Option<GuardRecord> {
        let place = self.record.0.cast::<[u8; field::BYTES]>().wrapping_add(at);
        // SAFETY: there are `MOST` records, of which `at` is one, and no kernel runs that writes it.
        let record = GuardRecord::read(&unsafe { ptr::read_volatile(place) });
        // SAFETY: as above.
        unsafe { ptr::write_volatile(place, [0; field::BYTES]) };
        record
    }

    /// What was told since the last time by modules that tell of all faults.
    pub(super) fn take_reported(&self) -> Vec<Fault> {
        std::mem::take(&mut lock(&self.state).reported)
    }

    #[cold]
    fn take(&self, context: &CudaContext) -> Result<()> {
        // Neither is the flag raised meanwhile, and then taken down unseen, nor is a kernel launched that would end at
        // it.
        let mut raised = lock(&self.raised);
        let mut state = lock(&self.state);
        // All that is under way ends soon, for the flag is up; what was launched behind the fault must not write over
        // the record.
        context.wait_for_work()?;
        let records: Vec<GuardRecord> = (0..MOST).map_while(|at| self.take_record(at)).collect();
        // The flag and the claim; the wish is gone with the record.
        self.write(context, self.block, &[0; 8])?;
        let cancelled = std::mem::take(&mut *raised);
        let launched = state.launched.clone();
        let kernel = launched.as_deref().unwrap_or("?");
        let (mut told, mut unknown) = (None, false);
        for record in &records {
            let module = state.modules.get(record.module as usize).and_then(Weak::upgrade);
            let Some(module) = module else {
                unknown = true;
                continue;
            };
            let fault = module.fault(record, kernel, |address| context.ranges().nearest(address));
            let goes_on = module.tells_all() && fault.kind != FaultKind::Cancelled;
            if !goes_on {
                told = told.or(Some(fault));
            } else if state.reported.len() < MOST {
                state.reported.push(fault);
            }
        }
        let stopped = || Fault {
            kind: if unknown { FaultKind::Trap } else { FaultKind::Cancelled },
            kernel: kernel.to_owned(),
            location: None,
            ptx_line: None,
            inlined: Vec::new(),
            block: [0; 3].into(),
            thread: [0; 3].into(),
            access: None,
            space: None,
            base: None,
            nearest: None,
            waiting: Vec::new(),
        };
        match (told, cancelled || unknown) {
            (Some(fault), _) => Err(Error::Fault(Box::new(fault))),
            (None, true) => Err(Error::Fault(Box::new(stopped()))),
            (None, false) => Ok(()),
        }
    }
}

/// Lets the buffer of `printf` hold all that guarded kernels may print. Where kernels have printed already, the driver
/// does not change it, and it stays as it is.
fn hold_prints(context: &CudaContext) -> Result<()> {
    let (driver, limit) = (context.driver(), sys::CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE);
    let (mut bytes, wanted) = (0, MOST_PRINTS as usize * PRINT_BYTES);
    // SAFETY: `bytes` is written before the call returns.
    context.check(unsafe { driver.cuCtxGetLimit(&raw mut bytes, limit) })?;
    if bytes < wanted {
        // SAFETY: takes numbers alone.
        let status = unsafe { driver.cuCtxSetLimit(limit, wanted) };
        if let Err(error) = context.check(status) {
            tracing::debug!("the buffer of printf stays as it is: {error}");
        }
    }
    Ok(())
}

/// What a context knows of memory; it is current.
struct Known<'a>(&'a CudaContext);

impl Find for Known<'_> {
    fn memory(&mut self, pointer: u64) -> Option<(u64, u64)> {
        self.0.allocation(pointer)
    }

    fn surface(&mut self, handle: u64) -> Option<[u32; 3]> {
        self.0.surface_size(handle)
    }
}

/// Bytes of a channel.
const fn bytes_of(format: sys::CUarray_format) -> Option<usize> {
    use sys::CUarray_format as Format;
    match format {
        Format::CU_AD_FORMAT_UNSIGNED_INT8 | Format::CU_AD_FORMAT_SIGNED_INT8 => Some(1),
        Format::CU_AD_FORMAT_UNSIGNED_INT16 | Format::CU_AD_FORMAT_SIGNED_INT16 => Some(2),
        Format::CU_AD_FORMAT_HALF => Some(2),
        Format::CU_AD_FORMAT_UNSIGNED_INT32 | Format::CU_AD_FORMAT_SIGNED_INT32 => Some(4),
        Format::CU_AD_FORMAT_FLOAT => Some(4),
        // Those of pictures and films are not checked.
        _ => None,
    }
}

impl CudaContext {
    /// Bytes of a row, rows, and slices or layers of a surface.
    fn surface_size(&self, handle: u64) -> Option<[u32; 3]> {
        let driver = self.driver();
        let mut resource = MaybeUninit::<sys::CUDA_RESOURCE_DESC>::zeroed();
        // SAFETY: the description is written before the call returns; a handle that is none is refused.
        let status = unsafe { driver.cuSurfObjectGetResourceDesc(resource.as_mut_ptr(), handle) };
        if handle == 0 || status.code != super::driver::code::SUCCESS {
            return None;
        }
        // SAFETY: the driver has written it.
        let resource = unsafe { resource.assume_init() };
        if resource.resType != sys::CUresourcetype::CU_RESOURCE_TYPE_ARRAY {
            return None;
        }
        // SAFETY: of an array it is this part.
        let array = unsafe { resource.res.array.hArray };
        let mut shape = MaybeUninit::<sys::CUDA_ARRAY3D_DESCRIPTOR>::zeroed();
        // SAFETY: the description is written before the call returns; the array lives as long as the surface does.
        let status = unsafe { driver.cuArray3DGetDescriptor_v2(shape.as_mut_ptr(), array) };
        if status.code != super::driver::code::SUCCESS {
            return None;
        }
        // SAFETY: the driver has written it.
        let shape = unsafe { shape.assume_init() };
        let row = shape.Width * usize::try_from(shape.NumChannels).ok()? * bytes_of(shape.Format)?;
        let size = [row, shape.Height.max(1), shape.Depth.max(1)].map(u32::try_from);
        let [Ok(row), Ok(rows), Ok(slices)] = size else { return None };
        Some([row, rows, slices])
    }

    /// Address and length of the allocation that a pointer points into, as far as anybody knows; the context is
    /// current.
    pub(super) fn allocation(&self, pointer: u64) -> Option<(u64, u64)> {
        if let Some(known) = self.ranges().find(pointer) {
            return Some(known);
        }
        let (mut start, mut bytes) = (0, 0);
        // SAFETY: both are written before the call returns.
        let status = unsafe {
            self.driver().cuMemGetAddressRange_v2(&raw mut start, &raw mut bytes, pointer)
        };
        let known = pointer != 0 && status.code == super::driver::code::SUCCESS;
        known.then_some((start, bytes as u64))
    }

    /// The guard of this context's kernels; the context is current.
    pub(super) fn start_guard(&self) -> Result<Arc<Guard>> {
        let mut guard = lock(self.starting_guard());
        if let Some(guard) = &*guard {
            return Ok(guard.clone());
        }
        let started = Arc::new(Guard::new(self)?);
        *guard = Some(started.clone());
        self.has_guard(&started);
        Ok(started)
    }

    /// The fault of a guarded kernel that came to an end, once; the context is current.
    #[inline]
    pub(super) fn check_guard(&self) -> Result<()> {
        self.guard().map_or(Ok(()), |guard| guard.check(self))
    }
}

impl Device {
    /// Loads PTX so that none of its kernels can harm the context: an access outside its memory does not happen and is
    /// an [`Error::Fault`] of what waits for the kernel, as a failed assertion and `trap` are, and [`Stream::cancel`]
    /// stops kernels that do not end. Where that cannot be, it is loaded as it is, and it is said why. The kernels that
    /// are called as one of `plain` stay as they are.
    ///
    /// ```no_run
    /// use warpaint::device::nvidia::Device;
    ///
    /// let ptx = ".version 7.0 .target sm_75 .address_size 64 .visible .entry fail() { trap; }";
    /// let (module, not_guarded) = Device::open(0)?.load_guarded(ptx, &[])?;
    /// assert!(not_guarded.is_none() && module.guarded().is_some());
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::load`].
    pub fn load_guarded(&self, ptx: &str, plain: &[&str]) -> Result<(Module, Option<NotGuarded>)> {
        self.load_telling(ptx, plain, Telling::First)
    }

    /// The same; its faults are errors, or its kernels go on and [`Device::take_reported`] gives one at each place.
    ///
    /// # Errors
    /// As [`Device::load`].
    pub fn load_telling(
        &self,
        ptx: &str,
        plain: &[&str],
        telling: Telling,
    ) -> Result<(Module, Option<NotGuarded>)> {
        let (text, guarded) =
            match GuardedModule::telling(ptx, plain, telling, LocalMemory::FromStackPointer) {
                Ok(guarded) => guarded,
                Err(why) => return Ok((self.load(ptx)?, Some(why))),
            };
        let module = match self.load(&text) {
            Ok(module) => module,
            Err(Error::Load { log, .. }) => {
                let why = format!("the driver does not take it guarded: {log}");
                return Ok((self.load(ptx)?, Some(NotGuarded { why })));
            }
            Err(error) => return Err(error),
        };
        let (context, guarded) = (self.context(), Arc::new(guarded));
        let guard = context.start_guard()?;
        let address = module.global(VARIABLE)?.address();
        guard.add(context, &guarded, address)?;
        let module = module.with_guard(guarded).ok_or_else(|| Error::Unsupported {
            operation: "guarding a module that is used",
            device: context.info().to_string(),
        })?;
        Ok((module, None))
    }
}

impl Device {
    /// The faults that were told since the last time of modules which go on: one at each place, at most 1,000 at a
    /// time. They come when what was launched is waited for.
    pub fn take_reported(&self) -> Vec<Fault> {
        self.context().guard().map_or_else(Vec::new, |guard| guard.take_reported())
    }
}

impl Function {
    /// Before a launch: the version of the kernel that is launched, and the arguments with what the guard adds to them;
    /// `None` where it adds nothing. The context is current.
    pub(super) fn guarded(
        &self,
        config: &LaunchConfig,
        arguments: &Arguments,
    ) -> Result<Option<(&Self, Arguments)>> {
        let context = self.context();
        let (Some(module), Some(guard)) = (self.module().guarded(), context.guard()) else {
            return Ok(None);
        };
        guard.prepare(context, self.shared_name(), module)?;
        let Some(kernel) = module.kernel(self.name()) else { return Ok(None) };
        // How many blocks of a cooperative launch there may be was asked of the version with all checks.
        let fits = |proved: &&Self| {
            let threads = u64::from(proved.info().max_threads);
            !config.cooperative && config.block.count() <= threads
        };
        let version = module.version(kernel, config, arguments.bytes(), Known(context));
        let proved = version.and_then(|at| self.proved().get(at)).filter(fits);
        if kernel.words.is_empty() {
            return Ok(proved.map(|proved| (proved, arguments.clone())));
        }
        let words = module.words(kernel, arguments.bytes(), Known(context));
        let mut all = arguments.clone();
        all.push_bytes(&words, 8);
        Ok(Some((proved.unwrap_or(self), all)))
    }
}
