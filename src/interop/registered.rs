//! OpenGL's buffers, registered with CUDA once and mapped for each use.
//!
//! The functions of cudaGL.h are not among cudarc's bindings; they are looked up in the library that it loads.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::{ffi::c_uint, ptr, sync::OnceLock};

use cudarc::driver::sys;

use super::{Access, Error, Result, SharedBuffer, Storage};
use crate::{
    device::{
        self, Device, Stream,
        nvidia::{
            self,
            driver::{Driver, entry_points},
        },
    },
    gl::{self, Gl},
};

entry_points! {
    /// The driver's entry points for sharing with OpenGL.
    Graphics

    bound {
        fn cuGraphicsMapResources(
            count: c_uint, resources: *mut sys::CUgraphicsResource, stream: sys::CUstream
        );
        fn cuGraphicsUnmapResources(
            count: c_uint, resources: *mut sys::CUgraphicsResource, stream: sys::CUstream
        );
        fn cuGraphicsResourceGetMappedPointer_v2(
            address: *mut sys::CUdeviceptr, bytes: *mut usize, resource: sys::CUgraphicsResource
        );
        fn cuGraphicsSubResourceGetMappedArray(
            array: *mut sys::CUarray,
            resource: sys::CUgraphicsResource,
            index: c_uint,
            level: c_uint,
        );
        fn cuGraphicsUnregisterResource(resource: sys::CUgraphicsResource);
        fn cuGraphicsResourceSetMapFlags_v2(resource: sys::CUgraphicsResource, flags: c_uint);
    }

    unbound {
        fn cuGraphicsGLRegisterBuffer(
            resource: *mut sys::CUgraphicsResource, buffer: c_uint, flags: c_uint
        );
        fn cuGraphicsGLRegisterImage(
            resource: *mut sys::CUgraphicsResource, texture: c_uint, target: c_uint, flags: c_uint
        );
        // cudarc has an enum in it, which cannot hold a newer driver's numbers.
        fn cuArray3DGetDescriptor_v2(described: *mut Described, array: sys::CUarray);
        fn cuGLGetDevices_v2(
            count: *mut c_uint, devices: *mut sys::CUdevice, capacity: c_uint, list: c_uint
        );
    }

    optional {}
}

/// The stream as the driver's functions take it.
pub(super) fn driver_stream(stream: &nvidia::Stream) -> sys::CUstream {
    // A handle is no address of memory to Rust.
    ptr::without_provenance_mut(stream.handle() as usize)
}

/// `CUDA_ARRAY3D_DESCRIPTOR`, with numbers in place of enums.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Described {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) depth: usize,
    pub(super) format: c_uint,
    pub(super) channels: c_uint,
    pub(super) flags: c_uint,
}

impl Graphics {
    pub(super) fn get() -> device::Result<&'static Self> {
        static GRAPHICS: OnceLock<device::Result<Graphics>> = OnceLock::new();
        let load = || {
            Driver::get()?;
            Self::look_up().map_err(|name| device::Error::NoDriver {
                reason: format!("its library lacks {name}, so it cannot share with OpenGL"),
            })
        };
        GRAPHICS.get_or_init(load).as_ref().map_err(Clone::clone)
    }
}

/// Which of the devices that draw for an OpenGL context, of which several may take turns (`CUGLDeviceList`).
///
/// ```
/// use warpaint::{gl, interop::{Drawing, cuda_devices_drawing, cuda_devices_of}};
///
/// let context = gl::CurrentContext::headless(gl::Headless::default())?;
/// let all = cuda_devices_of(context.gl()).unwrap_or_default(); // none where there is no CUDA driver
/// let next = cuda_devices_drawing(context.gl(), Drawing::NextFrame).unwrap_or_default();
/// assert!(next.iter().all(|gpu| all.contains(gpu)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Drawing {
    /// All of them.
    #[default]
    AnyFrame,
    /// Those that draw the current frame.
    CurrentFrame,
    /// Those that draw the next one.
    NextFrame,
}

/// The ordinals of the CUDA devices that draw for `gl`, and so can share memory with it.
///
/// ```
/// # use warpaint::{device::{Choice, Device}, gl, interop::{Interop, cuda_devices_of}};
/// let context = gl::CurrentContext::headless(gl::Headless::default())?;
/// let gpus = cuda_devices_of(context.gl()).unwrap_or_default(); // or to say why there is none
/// let choice = gpus.first().map_or(Choice::Cpu, |&gpu| Choice::Cuda(gpu));
/// let interop = Interop::new(context.gl(), &Device::open(choice)?);
/// assert_eq!(interop.device().as_nvidia().is_some(), !gpus.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::Device`]: there is no CUDA driver, or it does not know this OpenGL, such as Mesa's.
pub fn cuda_devices_of(gl: &Gl) -> Result<Vec<u32>> {
    cuda_devices_drawing(gl, Drawing::AnyFrame)
}

/// As [`cuda_devices_of`], of certain frames.
///
/// # Errors
/// As [`cuda_devices_of`].
pub fn cuda_devices_drawing(gl: &Gl, frames: Drawing) -> Result<Vec<u32>> {
    let list: c_uint = match frames {
        Drawing::AnyFrame => 1,
        Drawing::CurrentFrame => 2,
        Drawing::NextFrame => 3,
    };
    let (driver, graphics) = (Driver::get()?, Graphics::get()?);
    gl.make_current()?;
    let (mut count, mut devices) = (0, [0; 64]);
    // SAFETY: the driver writes the count and at most so many devices as there is room for.
    let status = unsafe {
        graphics.cuGLGetDevices_v2(
            &raw mut count,
            devices.as_mut_ptr(),
            devices.len() as c_uint,
            list,
        )
    };
    driver.check(&gl.info().renderer, status)?;
    let found = devices.iter().take(count as usize);
    let ordinals: device::Result<Vec<_>> =
        found.map(|&device| nvidia::ordinal_of(driver, device)).collect();
    Ok(ordinals?.into_iter().flatten().collect())
}

/// Whether `device` can register buffers of `gl`; if not, why.
pub(super) fn probe(gl: &Gl, device: &Device) -> std::result::Result<(), String> {
    let Device::Nvidia(device) = device else {
        return Err("kernels run on the CPU device".to_owned());
    };
    device.context().activate().map_err(|error| error.to_string())?;
    let ordinals = cuda_devices_of(gl).map_err(|error| error.to_string())?;
    if !ordinals.contains(&device.ordinal()) {
        let renderer = &gl.info().renderer;
        return Err(format!("{renderer} draws, kernels run on {}", device.info()));
    }
    let trial = Registered::new(gl, device, 256, Access::default());
    trial.map(drop).map_err(|error| error.to_string())
}

/// A buffer of OpenGL, registered with CUDA.
#[derive(Debug)]
pub(super) struct Registered {
    graphics: &'static Graphics,
    device: nvidia::Device,
    resource: sys::CUgraphicsResource,
    buffer: gl::Buffer,
}

impl Registered {
    pub(super) fn new(
        gl: &Gl,
        device: &nvidia::Device,
        bytes: usize,
        access: Access,
    ) -> Result<Self> {
        let graphics = Graphics::get()?;
        let buffer = gl::Buffer::new(gl, bytes)?;
        let context = device.context();
        context.activate()?;
        gl.make_current()?;
        let mut resource = ptr::null_mut();
        // SAFETY: the buffer lives in the context that is current, and longer than its registration; `resource`
        // is written before the call returns.
        let status = unsafe {
            graphics.cuGraphicsGLRegisterBuffer(&raw mut resource, buffer.name(), flags(access))
        };
        context.check(status)?;
        Ok(Self { graphics, device: device.clone(), resource, buffer })
    }

    pub(super) fn gl(&self) -> &gl::Buffer {
        &self.buffer
    }

    /// Where the device sees the buffer, which is mapped.
    pub(super) fn mapped_address(&self) -> Result<u64> {
        let (mut address, mut mapped) = (0, 0);
        // SAFETY: the resource is registered; both are written before the call returns.
        let status = unsafe {
            self.graphics.cuGraphicsResourceGetMappedPointer_v2(
                &raw mut address,
                &raw mut mapped,
                self.resource,
            )
        };
        self.device.context().check(status)?;
        let bytes = self.buffer.bytes();
        if mapped < bytes {
            return Err(Error::ShortMapping { mapped, bytes });
        }
        self.device.context().knows(address, bytes);
        Ok(address)
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        if let Err(error) = self.buffer.gl().make_current() {
            tracing::error!("a buffer stays registered with CUDA: {error}");
            return;
        }
        let context = self.device.context();
        context.on_drop(|| {
            // Streams other than the one that it was mapped on may still use it.
            context.wait_for_work()?;
            // SAFETY: registered once, and OpenGL's buffer is alive in the context that is current.
            context.check(unsafe { self.graphics.cuGraphicsUnregisterResource(self.resource) })
        });
    }
}

pub(super) fn flags(access: Access) -> c_uint {
    use sys::CUgraphicsRegisterFlags::*;
    let flags = match access {
        Access::ReadWrite => CU_GRAPHICS_REGISTER_FLAGS_NONE,
        Access::ReadOnly => CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY,
        Access::WriteDiscard => CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD,
    };
    flags as c_uint
}

/// How many buffers one call maps, so that the list of them needs no allocation.
pub(super) const RESOURCES: usize = 16;

/// Registered buffers of one OpenGL context, to be mapped or unmapped by one call; none is fine too.
pub(super) struct Resources<'a> {
    list: [sys::CUgraphicsResource; RESOURCES],
    count: usize,
    first: Option<&'a Registered>,
}

impl<'a> Resources<'a> {
    /// Those among `buffers`, which are at most [`RESOURCES`].
    pub(super) fn of(buffers: &'a [&mut SharedBuffer]) -> Self {
        let mut resources = Self { list: [ptr::null_mut(); RESOURCES], count: 0, first: None };
        let registered = buffers.iter().filter_map(|buffer| match &buffer.storage {
            Storage::Registered(registered) => Some(registered),
            Storage::Copied(_) | Storage::Plain(_) => None,
        });
        for (place, registered) in resources.list.iter_mut().zip(registered) {
            *place = registered.resource;
            resources.count += 1;
            resources.first = Some(registered);
        }
        resources
    }

    /// Maps them: work put on `stream` from now on comes after what OpenGL was told to do before.
    pub(super) fn map(mut self, stream: &Stream) -> Result<()> {
        let Some((graphics, stream)) = self.prepare(stream)? else { return Ok(()) };
        // SAFETY: the resources are registered and unmapped, the stream is of their device, and their OpenGL
        // context is current.
        let status = unsafe {
            graphics.cuGraphicsMapResources(
                self.count as c_uint,
                self.list.as_mut_ptr(),
                driver_stream(stream),
            )
        };
        Ok(stream.context().check(status)?)
    }

    /// Unmaps them: what OpenGL is told to do from now on comes after the work put on `stream` before.
    pub(super) fn unmap(mut self, stream: &Stream) -> Result<()> {
        let Some((graphics, stream)) = self.prepare(stream)? else { return Ok(()) };
        // SAFETY: the resources are mapped, the stream is of their device, and their OpenGL context is current.
        let status = unsafe {
            graphics.cuGraphicsUnmapResources(
                self.count as c_uint,
                self.list.as_mut_ptr(),
                driver_stream(stream),
            )
        };
        Ok(stream.context().check(status)?)
    }

    /// Makes both contexts current; `None` where there is nothing to do.
    fn prepare<'s>(
        &self,
        stream: &'s Stream,
    ) -> Result<Option<(&'static Graphics, &'s nvidia::Stream)>> {
        let (Some(first), Stream::Nvidia(stream)) = (self.first, stream) else { return Ok(None) };
        stream.context().activate()?;
        first.buffer.gl().make_current()?;
        Ok(Some((first.graphics, stream)))
    }
}
