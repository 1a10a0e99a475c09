//! Linking several pieces of code into one module.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::{
    ffi::{CString, c_void},
    ptr, slice,
};

use cudarc::driver::sys::{self, CUjitInputType as RawKind};

use super::{
    Device, Module,
    context::CudaContext,
    driver::Handle,
    log::Log,
    module::{lowered, whole},
};
use crate::{
    device::{LinkCode, LinkInput, Result},
    ptx::outline::Outline,
};

/// A linker's state.
struct Linker<'a> {
    context: &'a CudaContext,
    raw: Handle<sys::CUlinkState_st>,
    /// Written by the driver for as long as the state lives.
    log: Log,
    /// The options' values, to which it writes how long the log is (CUDA driver API, `cuLinkCreate`).
    _values: Vec<*mut c_void>,
}

impl Drop for Linker<'_> {
    fn drop(&mut self) {
        let context = self.context;
        // SAFETY: created by `cuLinkCreate`; what it gave is not used any more.
        context.on_drop(|| context.check(unsafe { context.driver().cuLinkDestroy(self.raw.0) }));
    }
}

impl<'a> Linker<'a> {
    fn new(context: &'a CudaContext) -> Result<Self> {
        let mut log = Log::new();
        let (mut options, mut values): (Vec<_>, Vec<_>) = log.options().into_iter().unzip();
        let mut raw = ptr::null_mut();
        // SAFETY: the options and their values are as many; the options live until the call returns, the values and
        // the log's buffers, whose sizes are given, until the state is destroyed; `raw` is written before the call
        // returns.
        context.check(unsafe {
            context.driver().cuLinkCreate_v2(
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
                &raw mut raw,
            )
        })?;
        Ok(Self { context, raw: Handle(raw), log, _values: values })
    }

    /// Adds one piece; `name` is what messages call it.
    fn add(&self, kind: RawKind, bytes: &[u8], name: &str) -> Result<()> {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: the state is alive; the driver reads so many bytes, which live until the call returns, and copies
        // them; `name` ends with a NUL; there are no options.
        let status = unsafe {
            self.context.driver().cuLinkAddData_v2(
                self.raw.0,
                kind,
                bytes.as_ptr().cast_mut().cast(),
                bytes.len(),
                name.as_ptr(),
                0,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        self.log.check(self.context, status)
    }

    /// The linked machine code.
    fn complete(&self) -> Result<Vec<u8>> {
        let (mut code, mut bytes) = (ptr::null_mut(), 0);
        // SAFETY: the state is alive; both are written before the call returns.
        let status = unsafe {
            self.context.driver().cuLinkComplete(self.raw.0, &raw mut code, &raw mut bytes)
        };
        self.log.check(self.context, status)?;
        // SAFETY: the driver says that so many bytes are there for as long as the state lives.
        Ok(unsafe { slice::from_raw_parts(code.cast::<u8>(), bytes) }.to_vec())
    }
}

impl Device {
    /// Links pieces of code to one module.
    ///
    /// # Errors
    /// [`Error::Load`](crate::device::Error::Load) with the linker's log, [`Error::Call`](crate::device::Error::Call).
    pub fn link(&self, inputs: &[LinkInput<'_>]) -> Result<Module> {
        let code = self.link_code(inputs)?;
        let texts = inputs.iter().filter_map(|input| match input.code {
            LinkCode::Ptx(text) => Some(text),
            _ => None,
        });
        self.load_code(
            &whole(self.context(), &code)?,
            texts.flat_map(|text| Outline::new(text).entries).collect(),
        )
    }

    /// Links pieces of code to machine code for this GPU, a cubin.
    ///
    /// ```
    /// # use warpaint::device::{LinkInput, nvidia::Device};
    /// # let ptx = ".version 7.0 .target sm_75 .address_size 64 .visible .entry idle() { ret; }";
    /// # let Ok(gpu) = Device::open(0) else { return Ok(()) };
    /// let cubin = gpu.link_code(&[LinkInput::ptx("idle", ptx)])?; // to be kept in a file, say
    /// assert_eq!(gpu.load_binary(&cubin)?.function("idle")?.name(), "idle");
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::link`].
    pub fn link_code(&self, inputs: &[LinkInput<'_>]) -> Result<Vec<u8>> {
        let context = self.context();
        context.activate()?;
        let linker = Linker::new(context)?;
        for LinkInput { name, code } in inputs {
            match *code {
                LinkCode::Ptx(text) => {
                    // The driver wants the NUL, and counts it.
                    let text = lowered(context, text, &Outline::new(text))?;
                    linker.add(RawKind::CU_JIT_INPUT_PTX, text.as_bytes_with_nul(), name)?;
                }
                LinkCode::Cubin(bytes) => {
                    let code = whole(context, bytes)?;
                    linker.add(RawKind::CU_JIT_INPUT_CUBIN, code.bytes(), name)?;
                }
                LinkCode::Fatbin(bytes) => {
                    let code = whole(context, bytes)?;
                    linker.add(RawKind::CU_JIT_INPUT_FATBINARY, code.bytes(), name)?;
                }
                LinkCode::Library(bytes) => {
                    linker.add(RawKind::CU_JIT_INPUT_LIBRARY, bytes, name)?;
                }
            }
        }
        linker.complete()
    }
}
