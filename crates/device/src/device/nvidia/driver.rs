//! The driver's entry points, looked up by name in the library that cudarc loads.
//!
//! cudarc's own bindings are not called, for two reasons. Where a symbol is missing they panic; here that is an
//! error, or `None` for an entry point that older drivers lack. And their result is a Rust enum of the codes that
//! one version of CUDA knows, so a newer driver's newer code would be undefined behaviour; here a result is a
//! number. That the signatures are right is proved at compile time, by comparing them with cudarc's.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::{
    ffi::{CStr, c_char, c_int, c_uchar, c_uint, c_ulonglong, c_ushort, c_void},
    ptr,
    sync::OnceLock,
};

use cudarc::driver::sys;

use crate::device::{Call, Error, Result};

/// An object of the driver: an opaque name that is only ever handed back to it.
#[derive(Debug)]
pub struct Handle<T>(pub *mut T);

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

// SAFETY: nothing on our side looks behind the pointer, and the driver's functions may be called from any thread.
unsafe impl<T> Send for Handle<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Handle<T> {}

/// What a call returned.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Status {
    /// The function.
    pub call: &'static str,
    /// Its `CUresult`; 0 is success.
    pub code: u32,
}

impl Status {
    /// What `call` returned, which whoever traces driver calls is told.
    #[inline]
    pub fn of(call: &'static str, code: u32) -> Self {
        tracing::trace!(target: "warpaint::driver", call, code);
        Self { call, code }
    }
}

/// The codes that are told apart.
pub mod code {
    use cudarc::driver::sys::CUresult;

    pub const SUCCESS: u32 = CUresult::CUDA_SUCCESS as u32;
    pub const INVALID_VALUE: u32 = CUresult::CUDA_ERROR_INVALID_VALUE as u32;
    pub const OUT_OF_MEMORY: u32 = CUresult::CUDA_ERROR_OUT_OF_MEMORY as u32;
    pub const DEINITIALIZED: u32 = CUresult::CUDA_ERROR_DEINITIALIZED as u32;
    pub const NO_DEVICE: u32 = CUresult::CUDA_ERROR_NO_DEVICE as u32;
    pub const INVALID_HANDLE: u32 = CUresult::CUDA_ERROR_INVALID_HANDLE as u32;
    pub const NOT_FOUND: u32 = CUresult::CUDA_ERROR_NOT_FOUND as u32;
    pub const UNSUPPORTED_LIMIT: u32 = CUresult::CUDA_ERROR_UNSUPPORTED_LIMIT as u32;
    pub const PEER_ACCESS_ALREADY_ENABLED: u32 =
        CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED as u32;
    pub const PEER_ACCESS_NOT_ENABLED: u32 = CUresult::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED as u32;
    pub const NOT_READY: u32 = CUresult::CUDA_ERROR_NOT_READY as u32;

    /// Whether the module itself is what is wrong.
    pub fn is_load_error(code: u32) -> bool {
        const CODES: [CUresult; 8] = [
            CUresult::CUDA_ERROR_INVALID_IMAGE,
            CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU,
            CUresult::CUDA_ERROR_INVALID_PTX,
            CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND,
            CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
            CUresult::CUDA_ERROR_JIT_COMPILATION_DISABLED,
            CUresult::CUDA_ERROR_INVALID_SOURCE,
            CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND,
        ];
        CODES.iter().any(|&known| known as u32 == code)
    }

    /// Whether a kernel that was launched earlier is what failed; the call that returns such a code is innocent.
    ///
    /// The codes of which the CUDA driver API's documentation of `CUresult` says that the context, or the
    /// process, cannot be used any more.
    pub fn is_kernel_error(code: u32) -> bool {
        const CODES: [CUresult; 9] = [
            CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
            CUresult::CUDA_ERROR_LAUNCH_TIMEOUT,
            CUresult::CUDA_ERROR_ASSERT,
            CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR,
            CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION,
            CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
            CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE,
            CUresult::CUDA_ERROR_INVALID_PC,
            CUresult::CUDA_ERROR_LAUNCH_FAILED,
        ];
        CODES.iter().any(|&known| known as u32 == code)
    }
}

/// Declares a table of entry points, and a method for each that returns its [`Status`].
///
/// Those under `bound` are compared with cudarc's bindings, those under `unbound` have none (or other types), and
/// those under `optional` may be missing: their methods return `None` then.
#[macro_export]
#[doc(hidden)]
macro_rules! entry_points {
    (
        $(#[$about:meta])*
        $table:ident
        bound { $(fn $bound:ident($($bound_name:ident: $bound_type:ty),* $(,)?);)* }
        unbound { $(fn $unbound:ident($($unbound_name:ident: $unbound_type:ty),* $(,)?);)* }
        optional { $(fn $optional:ident($($optional_name:ident: $optional_type:ty),* $(,)?);)* }
    ) => {
        $(#[$about])*
        #[derive(Debug)]
        #[expect(non_snake_case, reason = "the driver's own names")]
        pub struct $table {
            $($bound: unsafe extern "C" fn($($bound_type),*) -> u32,)*
            $($unbound: unsafe extern "C" fn($($unbound_type),*) -> u32,)*
            $($optional: Option<unsafe extern "C" fn($($optional_type),*) -> u32>,)*
        }

        $(const _: unsafe fn($($bound_type),*) -> cudarc::driver::sys::CUresult =
            cudarc::driver::sys::$bound;)*

        #[allow(
            non_snake_case,
            clippy::too_many_arguments,
            reason = "the driver's own names, duties and parameters: see the CUDA driver API's documentation"
        )]
        impl $table {
            /// Looks all of them up.
            ///
            /// # Errors
            /// The name of the first that is missing.
            pub fn look_up() -> std::result::Result<Self, &'static str> {
                use $crate::device::nvidia::driver::symbol;
                Ok(Self {
                    // SAFETY: the type is the function's, compared with cudarc's bindings above.
                    $($bound: unsafe { symbol(stringify!($bound)) }.ok_or(stringify!($bound))?,)*
                    // SAFETY: the type is the one that CUDA's header declares.
                    $($unbound: unsafe { symbol(stringify!($unbound)) }.ok_or(stringify!($unbound))?,)*
                    // SAFETY: the type is the one that CUDA's header declares.
                    $($optional: unsafe { symbol(stringify!($optional)) },)*
                })
            }

            $(#[inline]
            pub unsafe fn $bound(&self, $($bound_name: $bound_type),*)
                -> $crate::device::nvidia::driver::Status
            {
                // SAFETY: the caller's duties are the function's own.
                let code = unsafe { (self.$bound)($($bound_name),*) };
                $crate::device::nvidia::driver::Status::of(stringify!($bound), code)
            })*

            $(#[inline]
            pub unsafe fn $unbound(&self, $($unbound_name: $unbound_type),*)
                -> $crate::device::nvidia::driver::Status
            {
                // SAFETY: the caller's duties are the function's own.
                let code = unsafe { (self.$unbound)($($unbound_name),*) };
                $crate::device::nvidia::driver::Status::of(stringify!($unbound), code)
            })*

            $(#[inline]
            pub unsafe fn $optional(&self, $($optional_name: $optional_type),*)
                -> Option<$crate::device::nvidia::driver::Status>
            {
                // SAFETY: the caller's duties are the function's own.
                let code = unsafe { (self.$optional?)($($optional_name),*) };
                Some($crate::device::nvidia::driver::Status::of(stringify!($optional), code))
            })*
        }
    };
}
#[cfg(feature = "gl")]
pub use entry_points;

/// The function `name` of the driver's library, which is loaded already.
///
/// # Safety
/// `F` must be the type of a pointer to that function.
pub unsafe fn symbol<F: Copy>(name: &str) -> Option<F> {
    // SAFETY: loading NVIDIA's driver library has no other effect than its own initialisers.
    let library = unsafe { sys::culib() };
    // SAFETY: the caller answers for the type; the library stays loaded for the life of the process.
    let found = unsafe { library.get::<F>(name.as_bytes()) };
    found.ok().map(|symbol| *symbol)
}

entry_points! {
    /// The entry points that a device needs.
    Driver

    bound {
        fn cuInit(flags: c_uint);
        fn cuDriverGetVersion(version: *mut c_int);

        fn cuDeviceGetCount(count: *mut c_int);
        fn cuDeviceGet(device: *mut sys::CUdevice, ordinal: c_int);
        fn cuDeviceGetName(name: *mut c_char, length: c_int, device: sys::CUdevice);
        fn cuDeviceGetPCIBusId(text: *mut c_char, length: c_int, device: sys::CUdevice);
        fn cuDeviceGetByPCIBusId(device: *mut sys::CUdevice, text: *const c_char);
        fn cuDeviceTotalMem_v2(bytes: *mut usize, device: sys::CUdevice);
        fn cuDeviceGetUuid_v2(uuid: *mut sys::CUuuid, device: sys::CUdevice);
        fn cuDevicePrimaryCtxRetain(context: *mut sys::CUcontext, device: sys::CUdevice);
        fn cuDevicePrimaryCtxRelease_v2(device: sys::CUdevice);
        fn cuCtxGetCurrent(context: *mut sys::CUcontext);
        fn cuCtxSetCurrent(context: sys::CUcontext);
        fn cuCtxDestroy_v2(context: sys::CUcontext);
        fn cuCtxPushCurrent_v2(context: sys::CUcontext);
        fn cuCtxPopCurrent_v2(context: *mut sys::CUcontext);
        fn cuDeviceCanAccessPeer(
            can: *mut c_int, device: sys::CUdevice, peer: sys::CUdevice
        );
        fn cuCtxEnablePeerAccess(peer: sys::CUcontext, flags: c_uint);
        fn cuCtxDisablePeerAccess(peer: sys::CUcontext);
        fn cuCtxSynchronize();
        fn cuCtxGetLimit(value: *mut usize, limit: sys::CUlimit);
        fn cuCtxSetLimit(limit: sys::CUlimit, value: usize);
        fn cuCtxSetCacheConfig(config: sys::CUfunc_cache);
        fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int);
        fn cuProfilerStart();
        fn cuProfilerStop();

        fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
        fn cuMemAlloc_v2(address: *mut sys::CUdeviceptr, bytes: usize);
        fn cuMemAllocPitch_v2(
            address: *mut sys::CUdeviceptr,
            pitch: *mut usize,
            row_bytes: usize,
            rows: usize,
            element_bytes: c_uint,
        );
        fn cuMemAllocManaged(address: *mut sys::CUdeviceptr, bytes: usize, flags: c_uint);
        fn cuStreamAttachMemAsync(
            stream: sys::CUstream, address: sys::CUdeviceptr, bytes: usize, flags: c_uint
        );
        fn cuMemGetAddressRange_v2(
            start: *mut sys::CUdeviceptr, bytes: *mut usize, address: sys::CUdeviceptr
        );
        fn cuMemFree_v2(address: sys::CUdeviceptr);
        fn cuIpcGetMemHandle(handle: *mut sys::CUipcMemHandle, address: sys::CUdeviceptr);
        fn cuIpcOpenMemHandle_v2(
            address: *mut sys::CUdeviceptr, handle: sys::CUipcMemHandle, flags: c_uint
        );
        fn cuIpcCloseMemHandle(address: sys::CUdeviceptr);
        fn cuIpcGetEventHandle(handle: *mut sys::CUipcEventHandle, event: sys::CUevent);
        fn cuIpcOpenEventHandle(event: *mut sys::CUevent, handle: sys::CUipcEventHandle);
        fn cuMemHostAlloc(address: *mut *mut c_void, bytes: usize, flags: c_uint);
        fn cuMemFreeHost(address: *mut c_void);
        fn cuMemHostRegister_v2(address: *mut c_void, bytes: usize, flags: c_uint);
        fn cuMemHostUnregister(address: *mut c_void);
        fn cuMemHostGetDevicePointer_v2(
            device: *mut sys::CUdeviceptr, host: *mut c_void, flags: c_uint
        );
        fn cuMemcpyHtoDAsync_v2(
            to: sys::CUdeviceptr, from: *const c_void, bytes: usize, stream: sys::CUstream
        );
        fn cuMemcpyDtoHAsync_v2(
            to: *mut c_void, from: sys::CUdeviceptr, bytes: usize, stream: sys::CUstream
        );
        fn cuMemcpyDtoDAsync_v2(
            to: sys::CUdeviceptr, from: sys::CUdeviceptr, bytes: usize, stream: sys::CUstream
        );
        fn cuMemcpyPeerAsync(
            to: sys::CUdeviceptr,
            to_context: sys::CUcontext,
            from: sys::CUdeviceptr,
            from_context: sys::CUcontext,
            bytes: usize,
            stream: sys::CUstream,
        );
        fn cuMemsetD8Async(
            to: sys::CUdeviceptr, value: c_uchar, count: usize, stream: sys::CUstream
        );
        fn cuMemsetD16Async(
            to: sys::CUdeviceptr, value: c_ushort, count: usize, stream: sys::CUstream
        );
        fn cuMemsetD32Async(
            to: sys::CUdeviceptr, value: c_uint, count: usize, stream: sys::CUstream
        );

        fn cuMemsetD2D8Async(
            to: sys::CUdeviceptr,
            pitch: usize,
            value: c_uchar,
            width: usize,
            height: usize,
            stream: sys::CUstream,
        );
        fn cuMemsetD2D16Async(
            to: sys::CUdeviceptr,
            pitch: usize,
            value: c_ushort,
            width: usize,
            height: usize,
            stream: sys::CUstream,
        );
        fn cuMemsetD2D32Async(
            to: sys::CUdeviceptr,
            pitch: usize,
            value: c_uint,
            width: usize,
            height: usize,
            stream: sys::CUstream,
        );

        fn cuArray3DCreate_v2(
            array: *mut sys::CUarray, descriptor: *const sys::CUDA_ARRAY3D_DESCRIPTOR
        );
        fn cuArray3DGetDescriptor_v2(
            descriptor: *mut sys::CUDA_ARRAY3D_DESCRIPTOR, array: sys::CUarray
        );
        fn cuArrayDestroy(array: sys::CUarray);
        fn cuMemcpy3DAsync_v2(copy: *const sys::CUDA_MEMCPY3D, stream: sys::CUstream);
        fn cuMemcpy3DPeerAsync(copy: *const sys::CUDA_MEMCPY3D_PEER, stream: sys::CUstream);
        fn cuTexObjectCreate(
            texture: *mut sys::CUtexObject,
            resource: *const sys::CUDA_RESOURCE_DESC,
            reading: *const sys::CUDA_TEXTURE_DESC,
            view: *const sys::CUDA_RESOURCE_VIEW_DESC,
        );
        fn cuTexObjectDestroy(texture: sys::CUtexObject);
        fn cuSurfObjectCreate(
            surface: *mut sys::CUsurfObject, resource: *const sys::CUDA_RESOURCE_DESC
        );
        fn cuSurfObjectGetResourceDesc(
            resource: *mut sys::CUDA_RESOURCE_DESC, surface: sys::CUsurfObject
        );
        fn cuSurfObjectDestroy(surface: sys::CUsurfObject);

        fn cuStreamCreateWithPriority(
            stream: *mut sys::CUstream, flags: c_uint, priority: c_int
        );
        fn cuStreamGetPriority(stream: sys::CUstream, priority: *mut c_int);
        fn cuLaunchHostFunc(stream: sys::CUstream, function: sys::CUhostFn, data: *mut c_void);
        fn cuStreamDestroy_v2(stream: sys::CUstream);
        fn cuStreamQuery(stream: sys::CUstream);
        fn cuStreamSynchronize(stream: sys::CUstream);
        fn cuStreamWaitEvent(stream: sys::CUstream, event: sys::CUevent, flags: c_uint);

        fn cuEventCreate(event: *mut sys::CUevent, flags: c_uint);
        fn cuEventDestroy_v2(event: sys::CUevent);
        fn cuEventRecord(event: sys::CUevent, stream: sys::CUstream);
        fn cuEventQuery(event: sys::CUevent);
        fn cuEventSynchronize(event: sys::CUevent);
        fn cuEventElapsedTime(milliseconds: *mut f32, start: sys::CUevent, end: sys::CUevent);

        fn cuModuleLoadDataEx(
            module: *mut sys::CUmodule,
            image: *const c_void,
            option_count: c_uint,
            options: *mut sys::CUjit_option,
            values: *mut *mut c_void,
        );
        fn cuLinkCreate_v2(
            option_count: c_uint,
            options: *mut sys::CUjit_option,
            values: *mut *mut c_void,
            state: *mut sys::CUlinkState,
        );
        fn cuLinkAddData_v2(
            state: sys::CUlinkState,
            kind: sys::CUjitInputType,
            data: *mut c_void,
            bytes: usize,
            name: *const c_char,
            option_count: c_uint,
            options: *mut sys::CUjit_option,
            values: *mut *mut c_void,
        );
        fn cuLinkComplete(
            state: sys::CUlinkState, code: *mut *mut c_void, bytes: *mut usize
        );
        fn cuLinkDestroy(state: sys::CUlinkState);
        fn cuModuleUnload(module: sys::CUmodule);
        fn cuModuleGetFunction(
            function: *mut sys::CUfunction, module: sys::CUmodule, name: *const c_char
        );
        fn cuModuleGetGlobal_v2(
            address: *mut sys::CUdeviceptr,
            bytes: *mut usize,
            module: sys::CUmodule,
            name: *const c_char,
        );
        fn cuFuncGetAttribute(
            value: *mut c_int, attribute: sys::CUfunction_attribute, function: sys::CUfunction
        );
        fn cuFuncSetCacheConfig(function: sys::CUfunction, config: sys::CUfunc_cache);
        fn cuFuncSetAttribute(
            function: sys::CUfunction, attribute: sys::CUfunction_attribute, value: c_int
        );
        fn cuOccupancyMaxPotentialBlockSize(
            grid: *mut c_int,
            block: *mut c_int,
            function: sys::CUfunction,
            shared_bytes_of_block: sys::CUoccupancyB2DSize,
            shared_bytes: usize,
            block_limit: c_int,
        );
        fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
            blocks: *mut c_int, function: sys::CUfunction, block: c_int, shared_bytes: usize
        );
        fn cuLaunchCooperativeKernel(
            function: sys::CUfunction,
            grid_x: c_uint,
            grid_y: c_uint,
            grid_z: c_uint,
            block_x: c_uint,
            block_y: c_uint,
            block_z: c_uint,
            shared_bytes: c_uint,
            stream: sys::CUstream,
            parameters: *mut *mut c_void,
        );
        fn cuLaunchKernel(
            function: sys::CUfunction,
            grid_x: c_uint,
            grid_y: c_uint,
            grid_z: c_uint,
            block_x: c_uint,
            block_y: c_uint,
            block_z: c_uint,
            shared_bytes: c_uint,
            stream: sys::CUstream,
            parameters: *mut *mut c_void,
            extra: *mut *mut c_void,
        );

        fn cuGraphCreate(graph: *mut sys::CUgraph, flags: c_uint);
        fn cuGraphDestroy(graph: sys::CUgraph);
        fn cuGraphInstantiateWithFlags(
            executable: *mut sys::CUgraphExec, graph: sys::CUgraph, flags: c_ulonglong
        );
        fn cuGraphExecDestroy(executable: sys::CUgraphExec);
        fn cuGraphLaunch(executable: sys::CUgraphExec, stream: sys::CUstream);
    }

    unbound {
        // cudarc takes its enums, which cannot hold a newer driver's numbers.
        fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: sys::CUdevice);
        fn cuStreamIsCapturing(stream: sys::CUstream, status: *mut c_int);
        // The versions of before CUDA 12, which read the beginning of the struct that cudarc has.
        fn cuGraphAddKernelNode(
            node: *mut sys::CUgraphNode,
            graph: sys::CUgraph,
            dependencies: *const sys::CUgraphNode,
            dependency_count: usize,
            parameters: *const sys::CUDA_KERNEL_NODE_PARAMS,
        );
        fn cuGraphExecKernelNodeSetParams(
            executable: sys::CUgraphExec,
            node: sys::CUgraphNode,
            parameters: *const sys::CUDA_KERNEL_NODE_PARAMS,
        );
        fn cuGetErrorName(code: u32, name: *mut *const c_char);
        fn cuGetErrorString(code: u32, text: *mut *const c_char);
    }

    optional {
        // The signature of before CUDA 13, under which newer drivers have it, too.
        fn cuCtxCreate_v2(context: *mut sys::CUcontext, flags: c_uint, device: sys::CUdevice);
        // Since CUDA 12.4.
        fn cuFuncGetParamInfo(
            function: sys::CUfunction, index: usize, offset: *mut usize, bytes: *mut usize
        );
    }
}

impl Driver {
    /// The driver of this machine, loaded and initialised by the first call.
    ///
    /// # Errors
    /// [`Error::NoDriver`], or [`Error::NoDevice`] where there is a driver without a device; the same each time.
    pub fn get() -> Result<&'static Self> {
        static DRIVER: OnceLock<Result<Driver>> = OnceLock::new();
        DRIVER.get_or_init(Self::load).as_ref().map_err(Clone::clone)
    }

    fn load() -> Result<Self> {
        // SAFETY: loading NVIDIA's driver library has no other effect than its own initialisers.
        if !unsafe { sys::is_culib_present() } {
            let library = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };
            let reason =
                format!("{library} is not on the loader's path; NVIDIA's driver brings it");
            return Err(Error::NoDriver { reason });
        }
        let driver = Self::look_up().map_err(|name| Error::NoDriver {
            reason: format!("its library lacks {name}: a driver for CUDA 11.4 or newer is needed"),
        })?;
        // SAFETY: the first call of the driver; its only parameter must be 0.
        let status = unsafe { driver.cuInit(0) };
        match status.code {
            code::SUCCESS => Ok(driver),
            code::NO_DEVICE => Err(Error::NoDevice { ordinal: 0, found: 0 }),
            failed => {
                let (name, text) = driver.describe(failed);
                Err(Error::NoDriver { reason: format!("cuInit says {name} ({failed}), {text}") })
            }
        }
    }

    /// The name and the description of a result.
    pub fn describe(&self, code: u32) -> (String, String) {
        let (mut name, mut text) = (ptr::null(), ptr::null());
        // SAFETY: the driver writes the address of a static string, or nothing.
        let named = unsafe { self.cuGetErrorName(code, &raw mut name) };
        // SAFETY: as above.
        let described = unsafe { self.cuGetErrorString(code, &raw mut text) };
        let name = (named.code == code::SUCCESS).then(|| static_text(name)).flatten();
        let text = (described.code == code::SUCCESS).then(|| static_text(text)).flatten();
        (
            name.unwrap_or_else(|| "an unknown error".to_owned()),
            text.unwrap_or_else(|| "which the driver does not describe".to_owned()),
        )
    }

    /// An error that names the call and `device`, where `status` is not success.
    pub fn check(&self, device: &str, status: Status) -> Result<()> {
        match status.code {
            code::SUCCESS => Ok(()),
            _ => Err(Error::Call(Box::new(self.failed(device.to_owned(), status)))),
        }
    }

    /// A failed call in words.
    pub(super) fn failed(&self, device: String, status: Status) -> Call {
        let (name, text) = self.describe(status.code);
        Call { call: status.call, code: status.code, name, text, device, launch: None }
    }

    /// The newest CUDA version that the driver knows, major and minor.
    pub fn version(&self) -> Option<(u32, u32)> {
        let mut version = 0;
        // SAFETY: `version` is written before the call returns.
        let status = unsafe { self.cuDriverGetVersion(&raw mut version) };
        let version = u32::try_from(version).ok()?;
        (status.code == code::SUCCESS).then_some((version / 1000, version % 1000 / 10))
    }
}

fn static_text(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the driver's error texts are static and end with a NUL.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_string_lossy().into_owned())
}
