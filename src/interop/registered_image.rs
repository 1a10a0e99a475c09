//! OpenGL's textures, registered with CUDA once and mapped to an array for each use.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::{ffi::c_uint, ptr};

use cudarc::driver::sys;

use super::{
    Access, Result,
    registered::{Graphics, driver_stream},
};
use crate::{
    device::{ArrayDescriptor, nvidia},
    gl,
};

/// `CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST`: kernels may write it through a surface.
const SURFACE_LDST: c_uint = 4;

/// A texture of OpenGL, registered with CUDA.
#[derive(Debug)]
pub(super) struct RegisteredImage {
    graphics: &'static Graphics,
    device: nvidia::Device,
    resource: sys::CUgraphicsResource,
    texture: gl::Texture,
}

impl RegisteredImage {
    pub(super) fn new(
        device: &nvidia::Device,
        texture: gl::Texture,
        access: Access,
    ) -> Result<Self> {
        let graphics = Graphics::get()?;
        let context = device.context();
        context.activate()?;
        texture.gl().make_current()?;
        let flags = super::registered::flags(access) | SURFACE_LDST;
        let mut resource = ptr::null_mut();
        // SAFETY: the texture lives in the context that is current, and longer than its registration; `resource` is
        // written before the call returns.
        let status = unsafe {
            graphics.cuGraphicsGLRegisterImage(
                &raw mut resource,
                texture.name(),
                texture.target(),
                flags,
            )
        };
        context.check(status)?;
        Ok(Self { graphics, device: device.clone(), resource, texture })
    }

    pub(super) fn gl(&self) -> &gl::Texture {
        &self.texture
    }

    /// Maps it: work put on `stream` from now on comes after what OpenGL was told to do before. The device may use the
    /// array until [`RegisteredImage::unmap`].
    pub(super) fn map(
        &self,
        stream: &nvidia::Stream,
        descriptor: &ArrayDescriptor,
    ) -> Result<nvidia::Array> {
        let mut list = [self.resource];
        self.activate()?;
        // SAFETY: the resource is registered and unmapped, the stream is of its device, and its OpenGL context is
        // current.
        let status = unsafe {
            self.graphics.cuGraphicsMapResources(1, list.as_mut_ptr(), driver_stream(stream))
        };
        self.device.context().check(status)?;
        let array = self.mapped_array();
        if array.is_err() {
            self.unmap(stream)?;
        }
        // SAFETY: the array is that of the mapped texture, whose size and format the descriptor was made from; its
        // users are told to end before it is unmapped.
        Ok(unsafe { nvidia::Array::borrowed(&self.device, array?, *descriptor) })
    }

    fn mapped_array(&self) -> Result<sys::CUarray> {
        let mut array = ptr::null_mut();
        // SAFETY: the resource is mapped; `array` is written before the call returns.
        let status = unsafe {
            self.graphics.cuGraphicsSubResourceGetMappedArray(&raw mut array, self.resource, 0, 0)
        };
        self.device.context().check(status)?;
        Ok(array)
    }

    /// Unmaps it: what OpenGL is told to do from now on comes after the work put on `stream` before.
    pub(super) fn unmap(&self, stream: &nvidia::Stream) -> Result<()> {
        let mut list = [self.resource];
        self.activate()?;
        // SAFETY: the resource is mapped, the stream is of its device, and its OpenGL context is current.
        let status = unsafe {
            self.graphics.cuGraphicsUnmapResources(1, list.as_mut_ptr(), driver_stream(stream))
        };
        Ok(self.device.context().check(status)?)
    }

    fn activate(&self) -> Result<()> {
        self.device.context().activate()?;
        Ok(self.texture.gl().make_current()?)
    }
}

impl Drop for RegisteredImage {
    fn drop(&mut self) {
        if let Err(error) = self.texture.gl().make_current() {
            tracing::error!("a texture stays registered with CUDA: {error}");
            return;
        }
        let context = self.device.context();
        context.on_drop(|| {
            // Streams other than the one that it was mapped on may still use it.
            context.wait_for_work()?;
            // SAFETY: registered once, and OpenGL's texture is alive in the context that is current.
            context.check(unsafe { self.graphics.cuGraphicsUnregisterResource(self.resource) })
        });
    }
}
