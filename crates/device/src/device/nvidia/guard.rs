//! Guarded kernels on a GPU: what they do wrong does not happen, and is told; those that do not end can be stopped.
//!
//! Enters: PTX, launches, the host's wish to stop. Leaves: loaded modules whose faults are told. Must not know:
//! `device::cpu`, `ptx::parser`.
//!
//! A pointer among a kernel's arguments may be used within the allocation that it points into: what this library gave
//! out counts with the length that was asked for, of other libraries' memory the driver tells. A pointer that neither
//! knows may not be used at all. (Memory that the driver does not know, but the hardware can reach, such as pageable
//! memory of the host, is for kernels that are not guarded.)
//!
//! Each module has a flag and records of its own (`control`), and each stream tells the faults of the modules that it
//! has launched (`launched`): what goes wrong on one stream stops nothing on another.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

mod control;
mod known;
mod launched;
mod left;
mod records;
mod tables;

use std::{
    ffi::c_void,
    io::Write as _,
    ops::Range,
    ptr,
    sync::{Arc, Mutex, Weak},
};

use cudarc::driver::sys;

use super::{context::CudaContext, driver::Handle, heap, lock::lock};
use crate::{
    device::{Fault, Result},
    ptx::pass::guard::{
        LOCAL_WINDOW,
        record::{MOST, MOST_PRINTS, prints},
    },
};
pub(super) use control::Control;
pub(super) use known::Known;
pub(super) use launched::Launched;
use records::{RecordPool, Records};
use tables::{Table, Tables};

/// Room for what one call of `printf` puts into the buffer: a header, the format's address and 28 numbers, or text.
const PRINT_BYTES: usize = 256;

/// What all guarded modules of a context share.
#[derive(Debug)]
pub(super) struct Guard {
    /// Where the host writes while kernels run on other streams.
    stream: Handle<sys::CUstream_st>,
    /// Address of the count of calls of `printf`, and where the host is told of them.
    prints: u64,
    printed: Handle<c_void>,
    records: Mutex<RecordPool>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Those whose functions look how much of the stack is left.
    deep: Vec<Weak<Control>>,
    tables: Tables,
    /// Where the heap of `malloc` lies, once it was looked for.
    heap: Option<Option<Range<u64>>>,
    /// What modules that tell of all faults have told.
    reported: Vec<Fault>,
}

impl Guard {
    /// The context is current.
    pub(super) fn new(context: &CudaContext) -> Result<Self> {
        let (mut prints, mut stream) = (0, ptr::null_mut());
        let (printed, told) = records::allocate(context, size_of::<u32>())?;
        // SAFETY: `prints` is written before the call returns.
        context.check(unsafe { context.driver().cuMemAlloc_v2(&raw mut prints, prints::BYTES) })?;
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: `stream` is written before the call returns.
        context.check(unsafe {
            context.driver().cuStreamCreateWithPriority(&raw mut stream, flags, 0)
        })?;
        let (records, state, stream) = (Mutex::default(), Mutex::default(), Handle(stream));
        let guard = Self { stream, prints, printed, records, state };
        let mut bytes = [0; prints::BYTES];
        bytes[prints::TOLD.unsigned_abs() as usize..].copy_from_slice(&told.to_ne_bytes());
        guard.write(context, prints, &bytes)?;
        hold_prints(context)?;
        Ok(guard)
    }

    /// Gives its memory back, when the context ends.
    pub(super) fn free(&self, context: &CudaContext) {
        lock(&self.state).tables.free(context);
        lock(&self.records).free(context);
        // SAFETY: allocated by `cuMemAlloc`; nothing of the context runs any more.
        let prints = context.check(unsafe { context.driver().cuMemFree_v2(self.prints) });
        // SAFETY: allocated by `cuMemHostAlloc`; nothing of the context runs any more.
        let freed = context.check(unsafe { context.driver().cuMemFreeHost(self.printed.0) });
        // SAFETY: created by `cuStreamCreateWithPriority`.
        let ended = context.check(unsafe { context.driver().cuStreamDestroy_v2(self.stream.0) });
        if let Err(error) = prints.and(freed).and(ended) {
            tracing::debug!("while ending the guard: {error}");
        }
    }

    fn stream(&self) -> sys::CUstream {
        self.stream.0
    }

    /// The address of the count of calls of `printf`.
    fn prints(&self) -> u64 {
        self.prints
    }

    fn take_records(&self, context: &CudaContext, count: usize) -> Result<Records> {
        lock(&self.records).take(context, count)
    }

    fn give_back(&self, records: &Records) {
        lock(&self.records).give_back(records);
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

    /// Each thread has at least so many bytes of the stack for calls from now on, and a module's functions know where
    /// the stack ends.
    pub(super) fn deepen(
        &self,
        context: &CudaContext,
        bytes: usize,
        module: &Arc<Control>,
    ) -> Result<()> {
        if stack_bytes(context)? < bytes {
            // SAFETY: takes numbers alone.
            let set = || unsafe { context.driver().cuCtxSetLimit(STACK, bytes) };
            context.set(set)?;
        }
        lock(&self.state).deep.push(Arc::downgrade(module));
        self.know_stack(context)
    }

    /// Tells modules where the stack ends: a thread has the bytes below the top of the window of local memory that the
    /// limit says, and those of its kernel's own frame beside them.
    pub(super) fn know_stack(&self, context: &CudaContext) -> Result<()> {
        let modules: Vec<Arc<Control>> = {
            let deep = &mut lock(&self.state).deep;
            deep.retain(|module| module.strong_count() > 0);
            deep.iter().filter_map(Weak::upgrade).collect()
        };
        let lowest = LOCAL_WINDOW.unsigned_abs().saturating_sub(stack_bytes(context)? as u64);
        modules.iter().try_for_each(|control| control.know_stack(context, lowest))
    }

    /// Where the heap of `malloc` lies.
    fn heap(&self, context: &CudaContext) -> Result<Option<Range<u64>>> {
        let mut state = lock(&self.state);
        if state.heap.is_none() {
            state.heap = Some(heap::find(context, self.stream.0)?);
        }
        Ok(state.heap.clone().flatten())
    }

    /// The table of ranges, as the memory is now.
    fn table(&self, context: &CudaContext) -> Result<Arc<Table>> {
        lock(&self.state).tables.current(self, context)
    }

    /// Keeps what a module has told that goes on.
    fn report(&self, fault: Fault) {
        let reported = &mut lock(&self.state).reported;
        if reported.len() < MOST {
            reported.push(fault);
        }
    }

    /// What was told since the last time by modules that tell of all faults.
    pub(super) fn take_reported(&self) -> Vec<Fault> {
        std::mem::take(&mut lock(&self.state).reported)
    }

    /// Says how many calls of `printf` were too many since the last time, where there were any, and counts anew.
    fn tell_prints(&self, context: &CudaContext) -> Result<()> {
        let place = self.printed.0.cast::<u32>();
        // SAFETY: the word lives as long as the guard does, and is read and written whole.
        if unsafe { ptr::read_volatile(place) } == 0 {
            return Ok(());
        }
        // SAFETY: as above.
        unsafe { ptr::write_volatile(place, 0) };
        self.tell_unprinted(context)
    }

    #[cold]
    fn tell_unprinted(&self, context: &CudaContext) -> Result<()> {
        let (driver, stream) = (context.driver(), self.stream.0);
        let (address, mut count) = (self.prints + prints::COUNT.unsigned_abs(), 0_u32);
        // SAFETY: the count is this word, and `count` lives until the stream was waited for.
        context.check(unsafe {
            driver.cuMemcpyDtoHAsync_v2((&raw mut count).cast(), address, size_of::<u32>(), stream)
        })?;
        // SAFETY: as above; the stream is alive.
        context.check(unsafe { driver.cuMemsetD32Async(address, 0, 1, stream) })?;
        // SAFETY: the stream is alive.
        context.check(unsafe { driver.cuStreamSynchronize(stream) })?;
        let unprinted = count.saturating_sub(MOST_PRINTS);
        if unprinted > 0 {
            let text = format!(
                "[{unprinted} more calls of printf; at most {MOST_PRINTS} print until the kernels are waited for]\n"
            );
            // Nobody is left to tell when the standard output is gone.
            drop(std::io::stdout().lock().write_all(text.as_bytes()));
        }
        Ok(())
    }
}

const STACK: sys::CUlimit = sys::CUlimit::CU_LIMIT_STACK_SIZE;

/// How many bytes each thread has for calls.
fn stack_bytes(context: &CudaContext) -> Result<usize> {
    let mut bytes = 0;
    // SAFETY: `bytes` is written before the call returns.
    context.check(unsafe { context.driver().cuCtxGetLimit(&raw mut bytes, STACK) })?;
    Ok(bytes)
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
