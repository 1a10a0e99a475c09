//! The primary context of a GPU: made current by every object that needs it, on whatever thread.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::{
    ffi::{CStr, c_char, c_int},
    fmt, ptr,
    sync::{
        Arc, Mutex, PoisonError, RwLock, RwLockReadGuard,
        atomic::{AtomicU32, Ordering},
    },
};

use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};

use super::{
    driver::{Driver, Handle, Status, code},
    host_function,
    late::Late,
    launches::Launches,
    lock::lock,
    ranges::Ranges,
};
use crate::device::{DeviceId, DeviceInfo, DeviceKind, Error, LaunchConfig, MemoryInfo, Result};

/// How many there are of something.
#[derive(Debug, Default)]
pub(super) struct Count(AtomicU32);

impl Count {
    /// One more, where there are not `most` of them.
    pub(super) fn take(&self, most: u32) -> bool {
        let more = |count| (count < most).then_some(count + 1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    /// One less.
    pub(super) fn give_back(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// An opened GPU: its primary context, retained until the last handle is dropped, or a context of its own.
pub struct CudaContext {
    driver: &'static Driver,
    raw: Handle<sys::CUctx_st>,
    /// Created here; else the primary context, which others in the process may use, too.
    own: bool,
    device: sys::CUdevice,
    ordinal: u32,
    uuid: [u8; 16],
    id: DeviceId,
    info: DeviceInfo,
    late: Arc<Late>,
    launches: Mutex<Launches>,
    /// How often limits and preferences were set.
    changes: RwLock<u32>,
    graphs: Count,
    ranges: Ranges,
}

impl CudaContext {
    /// The primary context of a GPU, which is one per process.
    pub(super) fn retain(driver: &'static Driver, ordinal: u32) -> Result<Self> {
        let device = device(driver, ordinal)?;
        let mut raw = ptr::null_mut();
        // SAFETY: `raw` is written before the call returns.
        let status = unsafe { driver.cuDevicePrimaryCtxRetain(&raw mut raw, device) };
        driver.check(&format!("cuda:{ordinal}"), status)?;
        Self::new(driver, ordinal, device, raw, false)
    }

    /// A new context beside the primary one, with `CU_CTX_*` flags.
    pub(super) fn create(ordinal: u32, flags: u32) -> Result<Self> {
        let driver = Driver::get()?;
        let device = device(driver, ordinal)?;
        let (mut raw, mut popped) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: `raw` is written before the call returns.
        let status = unsafe { driver.cuCtxCreate_v2(&raw mut raw, flags, device) };
        let name = format!("cuda:{ordinal}");
        let operation = "contexts of one's own";
        let status = status.ok_or(Error::Unsupported { operation, device: name.clone() })?;
        driver.check(&name, status)?;
        // It was pushed onto this thread's stack, which stays as it was.
        // SAFETY: `popped` is written before the call returns.
        let status = unsafe { driver.cuCtxPopCurrent_v2(&raw mut popped) };
        let context = Self::new(driver, ordinal, device, raw, true)?;
        driver.check(&name, status).map(|()| context)
    }

    fn new(
        driver: &'static Driver,
        ordinal: u32,
        device: sys::CUdevice,
        raw: sys::CUcontext,
        own: bool,
    ) -> Result<Self> {
        let info = describe(driver, ordinal, device)?;
        let mut uuid = sys::CUuuid { bytes: [0; 16] };
        // SAFETY: `uuid` is written before the call returns.
        let status = unsafe { driver.cuDeviceGetUuid_v2(&raw mut uuid, device) };
        driver.check(&info.to_string(), status)?;
        Ok(Self {
            driver,
            raw: Handle(raw),
            own,
            device,
            ordinal,
            uuid: uuid.bytes.map(|byte| byte as u8),
            id: DeviceId::next(),
            info,
            late: Arc::default(),
            launches: Mutex::new(Launches::new()),
            changes: RwLock::default(),
            graphs: Count::default(),
            ranges: Ranges::default(),
        })
    }

    pub(crate) fn driver(&self) -> &'static Driver {
        self.driver
    }

    pub(crate) fn id(&self) -> DeviceId {
        self.id
    }

    pub(super) fn info(&self) -> &DeviceInfo {
        &self.info
    }

    pub(super) fn ordinal(&self) -> u32 {
        self.ordinal
    }

    pub(super) fn raw(&self) -> sys::CUcontext {
        self.raw.0
    }

    pub(super) fn raw_device(&self) -> sys::CUdevice {
        self.device
    }

    pub(super) fn uuid(&self) -> [u8; 16] {
        self.uuid
    }

    pub(super) fn late(&self) -> &Arc<Late> {
        &self.late
    }

    pub(super) fn launches(&self) -> &Mutex<Launches> {
        &self.launches
    }

    /// How often limits and preferences were set; for as long as this is held, none is.
    pub(super) fn changes(&self) -> RwLockReadGuard<'_, u32> {
        self.changes.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a call that sets a limit or a preference.
    pub(super) fn set(&self, call: impl FnOnce() -> Status) -> Result<()> {
        let mut changes = self.changes.write().unwrap_or_else(PoisonError::into_inner);
        *changes = changes.wrapping_add(1);
        self.check(call())
    }

    /// The memory that was given out.
    pub(super) fn ranges(&self) -> &Ranges {
        &self.ranges
    }

    /// Memory that OpenGL has mapped.
    #[cfg(feature = "gl")]
    #[doc(hidden)]
    pub fn knows(&self, address: u64, bytes: usize) {
        self.ranges.insert(address, bytes);
    }

    /// The living graphs.
    pub(super) fn graphs(&self) -> &Count {
        &self.graphs
    }

    /// Makes the context current on this thread; every call that needs a context comes after this one.
    ///
    /// It stays current afterwards. The driver is asked which one is current, for others in the process may
    /// change it too; that takes some tens of nanoseconds.
    ///
    /// # Errors
    /// The error of an object that was dropped since the last call; [`Error::Call`].
    #[inline]
    #[doc(hidden)]
    pub fn activate(&self) -> Result<()> {
        self.late.check()?;
        self.make_current()
    }

    /// The same, whatever was dropped since.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub(super) fn make_current(&self) -> Result<()> {
        if host_function::is_running() {
            return Err(Error::Unsupported {
                operation: "calls from a host function",
                device: self.info.to_string(),
            });
        }
        let mut current = ptr::null_mut();
        // SAFETY: `current` is written before the call returns.
        self.check(unsafe { self.driver.cuCtxGetCurrent(&raw mut current) })?;
        if current == self.raw.0 {
            return Ok(());
        }
        // SAFETY: the context is retained.
        self.check(unsafe { self.driver.cuCtxSetCurrent(self.raw.0) })
    }

    /// Runs the end of an object, whose error the next call on this device returns.
    #[doc(hidden)]
    pub fn on_drop(&self, end: impl FnOnce() -> Result<()>) {
        match self.make_current().and_then(|()| end()) {
            Ok(()) => {}
            // At the end of the process the driver is gone before the last statics are.
            Err(Error::Call(call)) if call.code == code::DEINITIALIZED => {}
            Err(error) => {
                tracing::debug!("while dropping: {error}");
                self.late.put(error);
            }
        }
    }

    /// Waits for all work of the context: what is to be freed may be in use.
    ///
    /// (CUDA's documentation leaves open whether `cuMemFree` waits by itself, and does not say it of
    /// `cuModuleUnload` and `cuGraphicsUnregisterResource`.)
    #[doc(hidden)]
    pub fn wait_for_work(&self) -> Result<()> {
        let before = lock(&self.launches).sequence();
        // SAFETY: no parameters; the context is current.
        self.check(unsafe { self.driver.cuCtxSynchronize() })?;
        lock(&self.launches).all_ended(before);
        Ok(())
    }

    pub(super) fn memory_info(&self) -> Result<MemoryInfo> {
        self.activate()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: both are written before the call returns.
        self.check(unsafe { self.driver.cuMemGetInfo_v2(&raw mut free, &raw mut total) })?;
        Ok(MemoryInfo { free: free as u64, total: total as u64 })
    }

    /// One of the GPU's limits.
    pub(super) fn attribute(&self, attribute: Attribute) -> Result<usize> {
        let mut value = 0;
        // SAFETY: `value` is written before the call returns.
        let status = unsafe {
            self.driver.cuDeviceGetAttribute(&raw mut value, attribute as c_int, self.device)
        };
        self.check(status).map(|()| value.unsigned_abs() as usize)
    }

    /// An error where `status` is not success.
    #[inline]
    #[doc(hidden)]
    pub fn check(&self, status: Status) -> Result<()> {
        if status.code == code::SUCCESS { Ok(()) } else { Err(self.error(status, None)) }
    }

    /// The same for the launch of `kernel`.
    #[inline]
    pub(super) fn check_launch(
        &self,
        status: Status,
        kernel: &str,
        config: &LaunchConfig,
    ) -> Result<()> {
        match status.code {
            code::SUCCESS => Ok(()),
            _ => Err(self.error(status, Some((kernel, config)))),
        }
    }

    /// Whether nothing runs in it any more. Such an error is given by every call from then on.
    pub(super) fn is_lost(&self) -> bool {
        // SAFETY: asks about the default stream, which each context has.
        let asked = || unsafe { self.driver.cuStreamQuery(ptr::null_mut()) };
        self.make_current().is_err() || !matches!(asked().code, code::SUCCESS | code::NOT_READY)
    }

    /// `status` in words. A kernel's failure is blamed on the kernels that ran, not on the call that reports it.
    #[cold]
    fn error(&self, status: Status, launch: Option<(&str, &LaunchConfig)>) -> Error {
        let mut call = self.driver.failed(self.info.to_string(), status);
        call.launch = launch.map(|(kernel, config)| (kernel.to_owned(), *config));
        if code::is_kernel_error(status.code) {
            match lock(&self.launches).suspects().as_slice() {
                [] => {}
                [only] => call.launch = Some((only.kernel.to_string(), only.config)),
                several => {
                    let names: Vec<_> =
                        several.iter().map(|launched| format!("`{}`", launched.kernel)).collect();
                    call.text += &format!(", by one of the kernels {}", names.join(", "));
                    call.launch = None;
                }
            }
        }
        Error::Call(Box::new(call))
    }
}

impl Drop for CudaContext {
    fn drop(&mut self) {
        if host_function::is_running() {
            // The last handle was a host function's, which must not call the driver: the GPU stays open.
            return;
        }
        let status = match self.own {
            // SAFETY: created once, and everything that lived in it held this context and is gone.
            true => unsafe { self.driver.cuCtxDestroy_v2(self.raw.0) },
            // SAFETY: the same, but retained.
            false => unsafe { self.driver.cuDevicePrimaryCtxRelease_v2(self.device) },
        };
        if let Err(error) = self.check(status) {
            tracing::debug!("while closing {}: {error}", self.info);
        }
    }
}

impl fmt::Debug for CudaContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaContext")
            .field("id", &self.id)
            .field("device", &self.info.selector)
            .finish()
    }
}

/// Name, limits and capabilities of every GPU, in the driver's order.
pub(super) fn describe_all() -> Result<Vec<DeviceInfo>> {
    let driver = Driver::get()?;
    let describe = |ordinal| describe(driver, ordinal, device(driver, ordinal)?);
    (0..count(driver)?).map(describe).collect()
}

/// The ordinal of a device that the driver named by its handle.
pub fn ordinal_of(driver: &Driver, wanted: sys::CUdevice) -> Result<Option<u32>> {
    for ordinal in 0..count(driver)? {
        if device(driver, ordinal)? == wanted {
            return Ok(Some(ordinal));
        }
    }
    Ok(None)
}

fn count(driver: &Driver) -> Result<u32> {
    let mut count = 0;
    // SAFETY: `count` is written before the call returns.
    driver.check("the driver", unsafe { driver.cuDeviceGetCount(&raw mut count) })?;
    Ok(count.unsigned_abs())
}

fn device(driver: &Driver, ordinal: u32) -> Result<sys::CUdevice> {
    let found = count(driver)?;
    let Some(wanted) = c_int::try_from(ordinal).ok().filter(|_| ordinal < found) else {
        return Err(Error::NoDevice { ordinal, found });
    };
    let mut device = 0;
    // SAFETY: `device` is written before the call returns.
    let status = unsafe { driver.cuDeviceGet(&raw mut device, wanted) };
    driver.check(&format!("cuda:{ordinal}"), status)?;
    Ok(device)
}

fn describe(driver: &Driver, ordinal: u32, device: sys::CUdevice) -> Result<DeviceInfo> {
    let selector = format!("cuda:{ordinal}");
    let attribute = |attribute: Attribute| {
        let mut value = 0;
        // SAFETY: `value` is written before the call returns.
        let status =
            unsafe { driver.cuDeviceGetAttribute(&raw mut value, attribute as c_int, device) };
        driver.check(&selector, status).map(|()| value.unsigned_abs())
    };
    let mut name = [0; 256];
    // SAFETY: the driver writes at most the length of `name`, and ends it with a NUL.
    let status = unsafe { driver.cuDeviceGetName(name.as_mut_ptr(), 256, device) };
    driver.check(&selector, status)?;
    let name = name.map(|byte: c_char| byte as u8);
    let name = CStr::from_bytes_until_nul(&name).unwrap_or_default().to_string_lossy().into_owned();
    let mut bytes = 0;
    // SAFETY: `bytes` is written before the call returns.
    driver.check(&selector, unsafe { driver.cuDeviceTotalMem_v2(&raw mut bytes, device) })?;

    use Attribute::*;
    Ok(DeviceInfo {
        kind: DeviceKind::Nvidia,
        name,
        compute_capability: (
            attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        multiprocessors: attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        warp_size: attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
        max_threads_per_block: attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        max_block: [
            attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
            attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
            attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
        ],
        max_grid: [
            attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
            attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
            attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
        ],
        max_shared_bytes: attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        total_memory_bytes: bytes as u64,
        driver_version: driver.version(),
        selector,
    })
}
