//! Memory and events of one process in another one, on the same GPU.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::{ops::RangeBounds, ptr};

use cudarc::driver::sys;

use super::{Device, Event, Memory, driver::Handle};
use crate::device::{Result, Slice};

/// The name by which another process finds an allocation or an event: bytes to be sent to it in any way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IpcHandle(pub [u8; 64]);

/// An allocation of another process. It is closed when it is dropped, behind the work that may still use it.
#[derive(Debug)]
pub struct IpcMemory {
    device: Device,
    address: u64,
    bytes: usize,
}

impl Device {
    /// The name of an allocation for other processes, which must stay there for as long as one of them has it open.
    /// (Not of a pool's block: that is a part of an allocation, and used again.)
    ///
    /// # Errors
    /// [`Error::Call`](crate::device::Error::Call), for no bytes too, and where the system has no such handles.
    pub fn ipc_handle(&self, memory: &Memory) -> Result<IpcHandle> {
        let context = self.context();
        context.activate()?;
        let mut handle = sys::CUipcMemHandle { reserved: [0; 64] };
        // SAFETY: the allocation is alive, and `handle` is written before the call returns.
        context.check(unsafe {
            context.driver().cuIpcGetMemHandle(&raw mut handle, memory.address())
        })?;
        Ok(IpcHandle(handle.reserved.map(|byte| byte as u8)))
    }

    /// Opens an allocation of another process, which has at least `bytes` bytes.
    ///
    /// # Safety
    /// The other process must keep the allocation until this is dropped, and it must be that long.
    ///
    /// # Errors
    /// [`Error::Call`](crate::device::Error::Call): the process that allocated it cannot open it, nor can one twice in
    /// one context.
    pub unsafe fn open_ipc_memory(&self, handle: &IpcHandle, bytes: usize) -> Result<IpcMemory> {
        let context = self.context();
        context.activate()?;
        let reserved = handle.0.map(|byte| byte as std::ffi::c_char);
        let flags = sys::CUipcMem_flags::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS as u32;
        let mut address = 0;
        // SAFETY: `address` is written before the call returns.
        context.check(unsafe {
            let handle = sys::CUipcMemHandle { reserved };
            context.driver().cuIpcOpenMemHandle_v2(&raw mut address, handle, flags)
        })?;
        context.ranges().insert(address, bytes);
        Ok(IpcMemory { device: self.clone(), address, bytes })
    }

    /// A new event without timing that other processes can open.
    ///
    /// # Errors
    /// [`Error::Call`](crate::device::Error::Call).
    pub fn ipc_event(&self) -> Result<Event> {
        use sys::CUevent_flags::{CU_EVENT_DISABLE_TIMING, CU_EVENT_INTERPROCESS};
        let flags = CU_EVENT_DISABLE_TIMING as u32 | CU_EVENT_INTERPROCESS as u32;
        self.event_of(flags, false)
    }

    /// An event of another process.
    ///
    /// # Errors
    /// [`Error::Call`](crate::device::Error::Call) where there is none with this name, or not any more.
    pub fn open_ipc_event(&self, handle: &IpcHandle) -> Result<Event> {
        let context = self.context();
        context.activate()?;
        let reserved = handle.0.map(|byte| byte as std::ffi::c_char);
        let mut raw = ptr::null_mut();
        // SAFETY: `raw` is written before the call returns.
        context.check(unsafe {
            let handle = sys::CUipcEventHandle { reserved };
            context.driver().cuIpcOpenEventHandle(&raw mut raw, handle)
        })?;
        Ok(Event::untimed(self, Handle(raw)))
    }
}

impl Event {
    /// The name for other processes of an event that [`Device::ipc_event`] made.
    ///
    /// # Errors
    /// [`Error::Call`](crate::device::Error::Call) for others.
    pub fn ipc_handle(&self) -> Result<IpcHandle> {
        let context = self.device().context();
        context.activate()?;
        let mut handle = sys::CUipcEventHandle { reserved: [0; 64] };
        let driver = context.driver();
        // SAFETY: the event is alive, and `handle` is written before the call returns.
        let status = unsafe { driver.cuIpcGetEventHandle(&raw mut handle, self.raw()) };
        context.check(status)?;
        Ok(IpcHandle(handle.reserved.map(|byte| byte as u8)))
    }
}

impl IpcMemory {
    /// A range of its bytes.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::device::Error::OutOfRange) when the range ends behind it.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Slice<'_>> {
        Slice::new(self.device.id(), self.address, self.bytes).slice(range)
    }

    /// Size in bytes, as it was opened.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for IpcMemory {
    fn drop(&mut self) {
        let context = self.device.context();
        context.on_drop(|| {
            context.wait_for_work()?;
            context.ranges().remove(self.address);
            // SAFETY: opened by `cuIpcOpenMemHandle`, and no work that was put on a stream uses it any more.
            context.check(unsafe { context.driver().cuIpcCloseMemHandle(self.address) })
        });
    }
}
