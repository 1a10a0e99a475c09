//! Machine code in a context.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::{ffi::c_void, ptr};

use cudarc::driver::sys::{self, CUjit_option as JitOption};

use super::{Device, context::CudaContext, driver::Handle, log::Log};
use crate::device::Result;

/// An image that was loaded. Its end waits for the device's work, which may still run its code.
#[derive(Debug)]
pub(super) struct Image {
    device: Device,
    raw: Handle<sys::CUmod_st>,
}

impl Image {
    /// What [`load_image`] gave, and nobody unloads.
    pub(super) fn new(device: Device, raw: Handle<sys::CUmod_st>) -> Self {
        Self { device, raw }
    }

    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    pub(super) fn raw(&self) -> sys::CUmodule {
        self.raw.0
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        let context = self.device.context();
        context.on_drop(|| {
            context.wait_for_work()?;
            // SAFETY: loaded by `cuModuleLoadDataEx`; its functions hold it, and no kernel of it runs any more.
            context.check(unsafe { context.driver().cuModuleUnload(self.raw.0) })
        });
    }
}

/// Loads an image; gives the module and what the compiler said. `wishes` are options that are numbers.
///
/// # Safety
/// `image` must be text that ends with a NUL, or whole machine code.
pub(super) unsafe fn load_image(
    context: &CudaContext,
    image: *const c_void,
    wishes: impl IntoIterator<Item = (JitOption, u32)>,
) -> Result<(Handle<sys::CUmod_st>, String)> {
    let mut log = Log::new();
    let number = |value: u32| ptr::without_provenance_mut::<c_void>(value as usize);
    let wishes = wishes.into_iter().map(|(option, value)| (option, number(value)));
    let (mut options, mut values): (Vec<_>, Vec<_>) =
        log.options().into_iter().chain(wishes).unzip();
    let mut raw = ptr::null_mut();
    // SAFETY: the caller answers for the image; the options and their values are as many and live until the call
    // returns, as do the logs, whose sizes are given; `raw` is written before that.
    let status = unsafe {
        context.driver().cuModuleLoadDataEx(
            &raw mut raw,
            image,
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    log.check(context, status)?;
    Ok((Handle(raw), log.said()))
}
