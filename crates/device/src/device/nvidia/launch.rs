//! Launching kernels.

#![expect(unsafe_code, reason = "what a kernel does cannot be proved")]

use std::{ffi::c_void, ptr};

use super::{Function, Stream, driver::Status, lock::lock, packed::packed};
use crate::device::{Arguments, Error, LaunchConfig, Result};

impl Stream {
    /// Puts a kernel on the stream; shape and arguments were checked against it.
    ///
    /// # Safety
    /// As for the seam's [`launch`](crate::device::Stream::launch).
    ///
    /// # Errors
    /// [`Error::Call`] with the kernel and its shape, [`Error::WrongDevice`].
    pub unsafe fn launch(
        &self,
        function: &Function,
        config: &LaunchConfig,
        arguments: &Arguments,
    ) -> Result<()> {
        let context = self.context();
        if function.context().id() != context.id() {
            return Err(Error::WrongDevice { operation: "launch" });
        }
        context.activate()?;
        function.allow_shared(config.shared_bytes)?;
        let guarded = function.guarded(config, arguments)?;
        let (version, arguments) = match &guarded {
            Some((version, arguments)) => (*version, arguments),
            None => (function, arguments),
        };
        version.allow_shared(config.shared_bytes)?;
        if let Some(control) = function.module().control() {
            self.launched().add(control);
        }
        // SAFETY: as here.
        let status = unsafe { self.submit(version, config, arguments) };
        context.check_launch(status, function.name(), config)?;
        lock(context.launches()).push(self.number(), function.shared_name(), config);
        Ok(())
    }

    /// The call itself.
    ///
    /// # Safety
    /// As for [`Stream::launch`]; the context is current.
    unsafe fn submit(
        &self,
        function: &Function,
        config: &LaunchConfig,
        arguments: &Arguments,
    ) -> Status {
        if config.cooperative {
            // SAFETY: as here.
            return unsafe { self.submit_cooperative(function, config, arguments) };
        }
        // Whatever goes wrong with a graph, the kernel can be launched by itself, which tells what is wrong with that.
        if let Ok(mut repeats) = function.repeats().try_lock() {
            // SAFETY: as here.
            let launched = unsafe { repeats.launch(self, function.raw(), config, arguments) };
            if let Some(status) = launched {
                return status;
            }
        }
        packed(arguments, |extra| {
            // SAFETY: the handles are alive; `extra` lives until the call returns, which copies the arguments, and
            // they fit the kernel's parameters; what the kernel does with them is the caller's duty.
            unsafe {
                self.context().driver().cuLaunchKernel(
                    function.raw(),
                    config.grid.x,
                    config.grid.y,
                    config.grid.z,
                    config.block.x,
                    config.block.y,
                    config.block.z,
                    config.shared_bytes,
                    self.raw(),
                    ptr::null_mut(),
                    extra,
                )
            }
        })
    }

    /// The call for a cooperative launch, which takes the arguments one by one.
    ///
    /// # Safety
    /// As for [`Stream::submit`].
    unsafe fn submit_cooperative(
        &self,
        function: &Function,
        config: &LaunchConfig,
        arguments: &Arguments,
    ) -> Status {
        let bytes = arguments.bytes();
        let places = arguments.parameters().iter();
        let mut pointers: Vec<*mut c_void> =
            places.map(|place| bytes[place.offset..].as_ptr().cast_mut().cast()).collect();
        // SAFETY: the handles are alive; there is a pointer for each parameter of the kernel, to as many bytes as
        // that has, all alive until the call returns, which copies them; what the kernel does with them is the
        // caller's duty.
        unsafe {
            self.context().driver().cuLaunchCooperativeKernel(
                function.raw(),
                config.grid.x,
                config.grid.y,
                config.grid.z,
                config.block.x,
                config.block.y,
                config.block.z,
                config.shared_bytes,
                self.raw(),
                pointers.as_mut_ptr(),
            )
        }
    }
}
