//! Streams: order. Copies are in [`copy`](super::copy), launches in [`launch`](super::launch).

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::{
    ffi::c_void,
    ptr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use cudarc::driver::sys;

use super::{
    Device, Event, Memory,
    context::CudaContext,
    driver::{Handle, Status, code},
    event::{create_untimed, destroy},
    guard::Launched,
    host_function::{self, Call},
    late::Late,
    launches::Mark,
    lock::lock,
    staging::StagingBuffer,
};
use crate::device::{Error, Result, StreamOptions};

/// A queue of work; clones are the same queue. It never waits for the driver's default stream, nor that for it.
#[derive(Clone, Debug)]
pub struct Stream(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    device: Device,
    raw: Handle<sys::CUstream_st>,
    /// Tells the launches of this stream from those of others.
    number: u64,
    checked: bool,
    /// Of its host functions.
    late: Arc<Late>,
    copies: Arc<Copies>,
    /// The guarded modules that it has had kernels of.
    launched: Arc<Launched>,
}

/// How many copies to the host were put on a stream, and how many of them are known to have ended. The driver once in a
/// while says of an event that it is not reached although the stream behind it was waited for.
#[derive(Debug, Default)]
pub(super) struct Copies {
    begun: AtomicU64,
    ended: AtomicU64,
}

impl Copies {
    /// Counts one that was just put on the stream; gives its number.
    pub(super) fn begin(&self) -> u64 {
        self.begun.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Whether the copy with this number is known to have ended.
    pub(super) fn has_ended(&self, number: u64) -> bool {
        self.ended.load(Ordering::Acquire) >= number
    }
}

impl Device {
    /// A new stream.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn stream(&self, options: StreamOptions) -> Result<Stream> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let context = self.context();
        context.activate()?;
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        let mut raw = ptr::null_mut();
        // SAFETY: `raw` is written before the call returns; a priority out of range is clamped to it.
        context.check(unsafe {
            context.driver().cuStreamCreateWithPriority(&raw mut raw, flags, options.priority)
        })?;
        let (raw, number) = (Handle(raw), NUMBER.fetch_add(1, Ordering::Relaxed));
        let (device, checked) = (self.clone(), options.checked);
        let (late, copies, launched) = (Arc::default(), Arc::default(), Arc::default());
        Ok(Stream(Arc::new(Inner { device, raw, number, checked, late, copies, launched })))
    }

    /// The least and the greatest priority of streams; a smaller number is a greater priority.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn stream_priorities(&self) -> Result<(i32, i32)> {
        let context = self.context();
        context.activate()?;
        let (mut least, mut greatest) = (0, 0);
        // SAFETY: both are written before the call returns.
        context.check(unsafe {
            context.driver().cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest)
        })?;
        Ok((least, greatest))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let context = self.device.context();
        context.on_drop(|| {
            // SAFETY: created by `cuStreamCreateWithPriority`; its pending work still ends, as the driver's
            // documentation says.
            context.check(unsafe { context.driver().cuStreamDestroy_v2(self.raw.0) })
        });
    }
}

impl Stream {
    /// Whether `other` is the same queue.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The driver's handle of it (`CUstream`), for other libraries; it is valid for as long as a clone of the stream.
    pub fn handle(&self) -> u64 {
        self.raw().addr() as u64
    }

    /// Lets work put on the stream from now on wait for all that is on another library's stream now.
    ///
    /// # Safety
    /// `handle` must be a living stream's, or 1 or 2, the driver's default streams.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub unsafe fn wait_for_handle(&self, handle: u64) -> Result<()> {
        let context = self.context();
        context.activate()?;
        let event = create_untimed(context)?;
        let foreign = ptr::without_provenance_mut(handle as usize);
        // SAFETY: the event is alive, and the caller answers for the handle.
        let recorded = context.check(unsafe { context.driver().cuEventRecord(event.0, foreign) });
        let waits = recorded.and_then(|()| {
            // SAFETY: the stream and the event are alive.
            context.check(unsafe { context.driver().cuStreamWaitEvent(self.raw(), event.0, 0) })
        });
        waits.and(destroy(context, event))
    }

    /// The device that does the work.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// Its priority.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn priority(&self) -> Result<i32> {
        let context = self.context();
        context.activate()?;
        let mut priority = 0;
        // SAFETY: the stream is alive, and `priority` is written before the call returns.
        context.check(unsafe {
            context.driver().cuStreamGetPriority(self.raw(), &raw mut priority)
        })?;
        Ok(priority)
    }

    pub(super) fn copies(&self) -> &Arc<Copies> {
        &self.0.copies
    }

    pub(super) fn late(&self) -> &Arc<Late> {
        &self.0.late
    }

    /// Whether it waits for each launch.
    pub fn is_checked(&self) -> bool {
        self.0.checked
    }

    /// Records the event of `block` behind the copy that was just put on the stream with `status`.
    pub(super) fn recorded(&self, block: StagingBuffer, status: Status) -> Result<StagingBuffer> {
        let context = self.context();
        let recorded = context.check(status).and_then(|()| {
            // SAFETY: the event and the stream are alive, and of the same context.
            context.check(unsafe { context.driver().cuEventRecord(block.reached(), self.raw()) })
        });
        if let Err(error) = recorded {
            // The copy may be on its way without an event to tell when it has ended.
            if context.wait_for_work().is_ok() {
                self.device().staging().give_back(context, block);
            }
            return Err(error);
        }
        Ok(block)
    }

    /// Records the moment when all work put on the stream so far has ended.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::Call`].
    pub fn record(&self, event: &Event) -> Result<()> {
        let context = self.expect_same(event, "record an event")?;
        // SAFETY: the event and the stream are alive, and of the same context.
        context.check(unsafe { context.driver().cuEventRecord(event.raw(), self.raw()) })?;
        event.set_mark(self.mark());
        Ok(())
    }

    /// Lets work put on the stream from now on wait until `event` is reached.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::Call`].
    pub fn wait(&self, event: &Event) -> Result<()> {
        let context = self.expect_same(event, "wait for an event")?;
        // SAFETY: the event and the stream are alive.
        context.check(unsafe { context.driver().cuStreamWaitEvent(self.raw(), event.raw(), 0) })
    }

    fn expect_same(&self, event: &Event, operation: &'static str) -> Result<&CudaContext> {
        if event.device().id() != self.device().id() {
            return Err(Error::WrongDevice { operation });
        }
        self.context().activate()?;
        Ok(self.context())
    }

    /// Whether all its work has ended.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn is_idle(&self) -> Result<bool> {
        let context = self.context();
        context.activate()?;
        let mark = self.mark();
        // SAFETY: the stream is alive.
        let status = unsafe { context.driver().cuStreamQuery(self.raw()) };
        if status.code == code::NOT_READY {
            return Ok(false);
        }
        context.check(status)?;
        lock(context.launches()).ended(mark);
        Ok(true)
    }

    /// Waits until all its work has ended.
    ///
    /// # Errors
    /// [`Error::Call`]; where a kernel failed it names the kernels that it can have been.
    pub fn synchronize(&self) -> Result<()> {
        let context = self.context();
        context.activate()?;
        let (mark, begun) = (self.mark(), self.0.copies.begun.load(Ordering::Acquire));
        // SAFETY: the stream is alive.
        context.check(unsafe { context.driver().cuStreamSynchronize(self.raw()) })?;
        lock(context.launches()).ended(mark);
        self.0.copies.ended.fetch_max(begun, Ordering::Release);
        self.check()
    }

    /// Whether what has ended of its work has ended well.
    ///
    /// # Errors
    /// As [`Stream::synchronize`], but for what ends the context: any other call tells that.
    pub fn check(&self) -> Result<()> {
        let context = self.context();
        context.activate()?;
        self.check_guard()?;
        self.0.late.check()
    }

    /// The fault of a guarded kernel that came to an end, once; the context is current.
    #[inline]
    pub(super) fn check_guard(&self) -> Result<()> {
        let context = self.context();
        // SAFETY: the stream is alive.
        let wait = || context.check(unsafe { context.driver().cuStreamSynchronize(self.raw()) });
        self.0.launched.check(self.device(), wait)
    }

    /// Stops its guarded kernels; the driver cannot stop others.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where no module is guarded, [`Error::Call`].
    pub fn cancel(&self) -> Result<()> {
        let context = self.context();
        match self.device().guard() {
            Some(_) => self.0.launched.cancel(context),
            None => Err(Error::Unsupported {
                operation: "stopping a kernel",
                device: context.info().to_string(),
            }),
        }
    }

    /// Calls a function of the host behind the work that is on the stream now.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn host_function(&self, function: Box<dyn FnOnce() + Send>) -> Result<()> {
        let context = self.context();
        context.activate()?;
        let call = Box::into_raw(Box::new(Call { function, late: self.late().clone() }));
        let data = call.cast::<c_void>();
        // SAFETY: the stream is alive; `run` gets `data` once, on whatever thread, which its parts may go to.
        let status = unsafe {
            context.driver().cuLaunchHostFunc(self.raw(), Some(host_function::run), data)
        };
        context.check(status).inspect_err(|_| {
            // SAFETY: the driver refused it, so nobody else has it.
            drop(unsafe { Box::from_raw(call) });
        })
    }

    /// Lets guarded kernels use the first `bytes` of an allocation.
    pub(in crate::device) fn set_extent(&self, memory: &Memory, bytes: usize) {
        self.context().ranges().insert(memory.address(), bytes);
    }

    #[doc(hidden)]
    pub fn context(&self) -> &CudaContext {
        self.device().context()
    }

    pub(super) fn raw(&self) -> sys::CUstream {
        self.0.raw.0
    }

    pub(super) fn number(&self) -> u64 {
        self.0.number
    }

    /// The guarded modules that it has had kernels of.
    pub(super) fn launched(&self) -> &Arc<Launched> {
        &self.0.launched
    }

    pub(super) fn mark(&self) -> Mark {
        lock(self.context().launches()).mark(self.number())
    }
}
