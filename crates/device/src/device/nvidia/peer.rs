//! Contexts of one's own, and what contexts and GPUs do with each other.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::{marker::PhantomData, ptr};

use cudarc::driver::sys::{self, CUctx_flags as Flags};

use super::{
    Device, Stream,
    context::CudaContext,
    copy::{Side, structured},
    driver::{Status, code},
    opened::Opened,
};
use crate::device::{EventOptions, Region, Result};

/// What a thread does while it waits for the GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Waiting {
    /// What the driver thinks best: to spin where there are more cores than contexts, else to yield.
    #[default]
    Automatic,
    /// It asks again and again, which sees the end soonest.
    Spin,
    /// It asks, and lets others run between.
    Yield,
    /// It sleeps.
    Block,
}

impl Device {
    /// Opens the GPU with this ordinal in a new context of its own, beside the primary one that [`Device::open`] gives:
    /// with memory and limits of its own, and faults that others do not see.
    ///
    /// ```
    /// # use warpaint::device::nvidia::{Device, Waiting};
    /// # let Ok(gpu) = Device::open(0) else { return Ok(()) };
    /// let own = Device::create(gpu.ordinal(), Waiting::Block)?;
    /// assert_eq!(own.uuid(), gpu.uuid()); // the same GPU
    /// assert_ne!(own.id(), gpu.id()); // the memory of one is not for the other
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::open`]; [`Error::Call`](crate::device::Error::Call) where the GPU allows one context only, or has
    /// no memory for another.
    pub fn create(ordinal: u32, waiting: Waiting) -> Result<Self> {
        let flags = match waiting {
            Waiting::Automatic => Flags::CU_CTX_SCHED_AUTO,
            Waiting::Spin => Flags::CU_CTX_SCHED_SPIN,
            Waiting::Yield => Flags::CU_CTX_SCHED_YIELD,
            Waiting::Block => Flags::CU_CTX_SCHED_BLOCKING_SYNC,
        };
        Opened::create(ordinal, flags as u32).map(Self)
    }

    /// Makes the device's context current on this thread, on top of its stack of contexts, until the guard is dropped:
    /// for libraries that use whichever is current. (What is here makes its own context current by itself.)
    ///
    /// # Errors
    /// [`Error::Call`](crate::device::Error::Call).
    pub fn push(&self) -> Result<Current<'_>> {
        let context = self.context();
        // SAFETY: the context is alive.
        context.check(unsafe { context.driver().cuCtxPushCurrent_v2(context.raw()) })?;
        Ok(Current { device: self, thread: PhantomData })
    }

    /// The driver's handle of its context (`CUcontext`), for other libraries; it is valid for as long as a clone of the
    /// device.
    pub fn handle(&self) -> u64 {
        self.context().raw().addr() as u64
    }

    /// Whether kernels on this GPU can be allowed to use the memory of another.
    ///
    /// # Errors
    /// [`Error::Call`](crate::device::Error::Call).
    pub fn can_access_peer(&self, peer: &Self) -> Result<bool> {
        let (context, peer, mut can) = (self.context(), peer.context().raw_device(), 0);
        // SAFETY: `can` is written before the call returns.
        context.check(unsafe {
            context.driver().cuDeviceCanAccessPeer(&raw mut can, context.raw_device(), peer)
        })?;
        Ok(can != 0)
    }

    /// Allows kernels and copies in this context to use the memory of another directly. Nothing happens where that is
    /// allowed already.
    ///
    /// ```
    /// # use warpaint::device::nvidia::Device;
    /// # let (Ok(one), Ok(other)) = (Device::open(0), Device::open(1)) else { return Ok(()) };
    /// if one.can_access_peer(&other)? {
    ///     one.enable_peer_access(&other)?; // kernels on `one` may use memory of `other` now
    ///     one.disable_peer_access(&other)?;
    /// }
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Call`](crate::device::Error::Call) where it is not possible.
    pub fn enable_peer_access(&self, peer: &Self) -> Result<()> {
        let context = self.context();
        context.activate()?;
        // SAFETY: the peer's context is alive; the flags must be 0.
        let status = unsafe { context.driver().cuCtxEnablePeerAccess(peer.context().raw(), 0) };
        match status.code {
            code::PEER_ACCESS_ALREADY_ENABLED => Ok(()),
            _ => context.check(status),
        }
    }

    /// Takes that back.
    ///
    /// # Errors
    /// [`Error::Call`](crate::device::Error::Call).
    pub fn disable_peer_access(&self, peer: &Self) -> Result<()> {
        let context = self.context();
        context.activate()?;
        // SAFETY: the peer's context is alive.
        let status = unsafe { context.driver().cuCtxDisablePeerAccess(peer.context().raw()) };
        match status.code {
            code::PEER_ACCESS_NOT_ENABLED => Ok(()),
            _ => context.check(status),
        }
    }
}

/// A context that is current on this thread. Dropped, the one before is current again.
#[derive(Debug)]
pub struct Current<'a> {
    device: &'a Device,
    /// It must be dropped on the same thread.
    thread: PhantomData<*mut ()>,
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        let (context, mut popped) = (self.device.context(), ptr::null_mut());
        // SAFETY: `popped` is written before the call returns.
        let status = unsafe { context.driver().cuCtxPopCurrent_v2(&raw mut popped) };
        if let Err(error) = context.check(status) {
            context.late().put(error);
        }
    }
}

impl Stream {
    /// Copies from the memory of another context, behind what is on `peer`, a stream there; what is put on `peer` later
    /// waits for the copy, and so does who frees that memory.
    ///
    /// # Errors
    /// [`Error::WrongDevice`](crate::device::Error::WrongDevice), [`Error::Call`](crate::device::Error::Call).
    pub fn copy_from_peer(&self, to: &Region<'_>, peer: &Self, from: &Region<'_>) -> Result<()> {
        let options = EventOptions { timing: false, ..EventOptions::default() };
        let before = peer.device().event(options)?;
        peer.record(&before)?;
        let (context, other) = (self.context(), peer.context());
        let after = self.device().event(options)?;
        context.activate()?;
        let (driver, reached) = (context.driver(), before.raw());
        // SAFETY: the stream and the event are alive; the event may be of another context.
        context.check(unsafe { driver.cuStreamWaitEvent(self.raw(), reached, 0) })?;
        if to.bytes() > 0 {
            // SAFETY: both sides are alive while the copy is put on the stream, and the seam checked that they have the
            // same shape. `to` is freed behind the copy; `from` behind all work of its own context, which waits for it
            // below.
            context.check(unsafe { self.submit_peer_copy(to, other, from)? })?;
        }
        self.record(&after)?;
        other.activate()?;
        // SAFETY: as above.
        other.check(unsafe { other.driver().cuStreamWaitEvent(peer.raw(), after.raw(), 0) })
    }

    /// Puts a copy of at least one byte from another context on the stream.
    ///
    /// # Safety
    /// Both sides must have the same extent and stay until the copy has ended; the stream's context is current.
    unsafe fn submit_peer_copy(
        &self,
        to: &Region<'_>,
        other: &CudaContext,
        from: &Region<'_>,
    ) -> Result<Status> {
        let (context, stream) = (self.context(), self.raw());
        if let (Some(to), Some(from)) = (to.linear(), from.linear()) {
            let (to, from, bytes) = (to.address(), from.address(), from.bytes());
            // SAFETY: the caller's duties are those of the call.
            return Ok(unsafe {
                let driver = context.driver();
                driver.cuMemcpyPeerAsync(to, context.raw(), from, other.raw(), bytes, stream)
            });
        }
        let plain = structured(Side::shaped(to)?, Side::shaped(from)?, from.extent());
        let copy = between_contexts(&plain, context.raw(), other.raw());
        // SAFETY: as above; `copy` lives until the call returns.
        Ok(unsafe { context.driver().cuMemcpy3DPeerAsync(&raw const copy, stream) })
    }
}

/// The same copy with the contexts of both sides.
fn between_contexts(
    copy: &sys::CUDA_MEMCPY3D,
    to: sys::CUcontext,
    from: sys::CUcontext,
) -> sys::CUDA_MEMCPY3D_PEER {
    sys::CUDA_MEMCPY3D_PEER {
        srcXInBytes: copy.srcXInBytes,
        srcY: copy.srcY,
        srcZ: copy.srcZ,
        srcLOD: copy.srcLOD,
        srcMemoryType: copy.srcMemoryType,
        srcHost: copy.srcHost,
        srcDevice: copy.srcDevice,
        srcArray: copy.srcArray,
        srcContext: from,
        srcPitch: copy.srcPitch,
        srcHeight: copy.srcHeight,
        dstXInBytes: copy.dstXInBytes,
        dstY: copy.dstY,
        dstZ: copy.dstZ,
        dstLOD: copy.dstLOD,
        dstMemoryType: copy.dstMemoryType,
        dstHost: copy.dstHost,
        dstDevice: copy.dstDevice,
        dstArray: copy.dstArray,
        dstContext: to,
        dstPitch: copy.dstPitch,
        dstHeight: copy.dstHeight,
        WidthInBytes: copy.WidthInBytes,
        Height: copy.Height,
        Depth: copy.Depth,
    }
}
