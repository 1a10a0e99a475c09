//! Properties, limits and preferences of a GPU.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::ffi::{CStr, CString, c_char};

use cudarc::driver::sys::{CUfunc_cache, CUlimit};

use super::{
    Device, context,
    driver::{Driver, code},
};
use crate::device::{Attribute, CachePreference, Limit, Result};

pub(super) fn raw_preference(preference: CachePreference) -> CUfunc_cache {
    match preference {
        CachePreference::None => CUfunc_cache::CU_FUNC_CACHE_PREFER_NONE,
        CachePreference::Shared => CUfunc_cache::CU_FUNC_CACHE_PREFER_SHARED,
        CachePreference::L1 => CUfunc_cache::CU_FUNC_CACHE_PREFER_L1,
        CachePreference::Equal => CUfunc_cache::CU_FUNC_CACHE_PREFER_EQUAL,
    }
}

fn raw(limit: Limit) -> CUlimit {
    match limit {
        Limit::StackBytes => CUlimit::CU_LIMIT_STACK_SIZE,
        Limit::PrintfBytes => CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE,
        Limit::HeapBytes => CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE,
        Limit::RuntimeSyncDepth => CUlimit::CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH,
        Limit::RuntimePendingLaunches => CUlimit::CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT,
        Limit::L2FetchBytes => CUlimit::CU_LIMIT_MAX_L2_FETCH_GRANULARITY,
        Limit::L2PersistingBytes => CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE,
    }
}

impl Device {
    /// A property; `None` where the driver does not know it.
    ///
    /// # Errors
    /// [`Error::Call`](crate::device::Error::Call).
    pub fn attribute(&self, attribute: Attribute) -> Result<Option<i32>> {
        let mut value = 0;
        let (context, number) = (self.context(), attribute.number());
        // SAFETY: `value` is written before the call returns; a number that the driver does not know is refused.
        let status = unsafe {
            context.driver().cuDeviceGetAttribute(&raw mut value, number, context.raw_device())
        };
        match status.code {
            code::INVALID_VALUE => Ok(None),
            _ => context.check(status).map(|()| Some(value)),
        }
    }

    /// A limit; `None` where this GPU has none.
    ///
    /// # Errors
    /// [`Error::Call`](crate::device::Error::Call).
    pub fn limit(&self, limit: Limit) -> Result<Option<usize>> {
        let context = self.context();
        context.activate()?;
        let mut value = 0;
        // SAFETY: `value` is written before the call returns.
        let status = unsafe { context.driver().cuCtxGetLimit(&raw mut value, raw(limit)) };
        match status.code {
            code::UNSUPPORTED_LIMIT => Ok(None),
            _ => context.check(status).map(|()| Some(value)),
        }
    }

    /// Sets a limit.
    ///
    /// # Errors
    /// [`Error::Call`](crate::device::Error::Call).
    pub fn set_limit(&self, limit: Limit, value: usize) -> Result<()> {
        let context = self.context();
        context.activate()?;
        // SAFETY: takes numbers alone.
        context.set(|| unsafe { context.driver().cuCtxSetLimit(raw(limit), value) })?;
        match (limit, self.guard()) {
            (Limit::StackBytes, Some(guard)) => guard.know_stack(context),
            _ => Ok(()),
        }
    }

    /// Wishes for all kernels that have no wish of their own.
    ///
    /// # Errors
    /// [`Error::Call`](crate::device::Error::Call).
    pub fn set_cache_preference(&self, preference: CachePreference) -> Result<()> {
        let context = self.context();
        context.activate()?;
        // SAFETY: takes a number alone.
        context.set(|| unsafe { context.driver().cuCtxSetCacheConfig(raw_preference(preference)) })
    }

    /// Its place on the PCI bus: `0000:17:00.0`.
    ///
    /// # Errors
    /// [`Error::Call`](crate::device::Error::Call).
    pub fn pci_bus_id(&self) -> Result<String> {
        let (context, mut name) = (self.context(), [0; 32]);
        // SAFETY: the driver writes at most the length of `name`, and ends it with a NUL.
        let status = unsafe {
            context.driver().cuDeviceGetPCIBusId(name.as_mut_ptr(), 32, context.raw_device())
        };
        context.check(status)?;
        let name = name.map(|byte: c_char| byte as u8);
        Ok(CStr::from_bytes_until_nul(&name).unwrap_or_default().to_string_lossy().into_owned())
    }

    /// Opens the GPU at a place on the PCI bus.
    ///
    /// ```
    /// # use warpaint::device::nvidia::Device;
    /// # let Ok(gpu) = Device::open(0) else { return Ok(()) };
    /// let same = Device::open_pci(&gpu.pci_bus_id()?)?; // such as 0000:17:00.0
    /// assert_eq!(same.id(), gpu.id());
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::open`]; [`Error::Call`](crate::device::Error::Call) where there is none.
    pub fn open_pci(bus_id: &str) -> Result<Self> {
        let driver = Driver::get()?;
        // A text that is no C string is no place either, which the driver says of the empty one.
        let text = CString::new(bus_id).unwrap_or_default();
        let mut device = 0;
        // SAFETY: `text` ends with a NUL; `device` is written before the call returns.
        let status = unsafe { driver.cuDeviceGetByPCIBusId(&raw mut device, text.as_ptr()) };
        driver.check(&format!("the GPU at {bus_id}"), status)?;
        // What the driver found is in its list.
        Self::open(context::ordinal_of(driver, device)?.unwrap_or_default())
    }

    /// From here on tools like Nsight record what the process does, where they were told to wait for it.
    ///
    /// # Errors
    /// [`Error::Call`](crate::device::Error::Call).
    pub fn start_profiler(&self) -> Result<()> {
        let context = self.context();
        context.activate()?;
        // SAFETY: no parameters.
        context.check(unsafe { context.driver().cuProfilerStart() })
    }

    /// Up to here.
    ///
    /// # Errors
    /// [`Error::Call`](crate::device::Error::Call).
    pub fn stop_profiler(&self) -> Result<()> {
        let context = self.context();
        context.activate()?;
        // SAFETY: no parameters.
        context.check(unsafe { context.driver().cuProfilerStop() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers that cudarc has from CUDA's header.
    #[test]
    fn attributes_have_cudas_numbers() {
        use cudarc::driver::sys::CUdevice_attribute::*;
        let known = [
            (Attribute::MaxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
            (Attribute::EccEnabled, CU_DEVICE_ATTRIBUTE_ECC_ENABLED),
            (Attribute::PciDomainId, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
            (
                Attribute::MaximumSurface2dLayeredLayers,
                CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS,
            ),
            (Attribute::ManagedMemory, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY),
            (Attribute::CooperativeLaunch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH),
            (Attribute::MemoryPoolsSupported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED),
            (Attribute::ClusterLaunch, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH),
        ];
        for (ours, theirs) in known {
            assert_eq!(ours.number(), theirs as i32, "{ours}");
            let name = format!("{theirs:?}");
            assert_eq!(name, format!("CU_DEVICE_ATTRIBUTE_{ours}"));
        }
        let numbers: Vec<_> = Attribute::ALL.iter().map(|attribute| attribute.number()).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "each number once");
    }
}
