//! What the driver's JIT compiler and linker say.

use std::{
    ffi::{CStr, c_void},
    ptr,
};

use cudarc::driver::sys::CUjit_option as JitOption;

use super::{
    context::CudaContext,
    driver::{Status, code},
};
use crate::device::{Error, Result};

/// Room for what the JIT compiler says; it cuts off the rest.
const LOG_BYTES: usize = 16 << 10;

/// Room for what the JIT compiler or the linker says.
pub(super) struct Log {
    info: Vec<u8>,
    error: Vec<u8>,
}

impl Log {
    pub(super) fn new() -> Self {
        Self { info: vec![0; LOG_BYTES], error: vec![0; LOG_BYTES] }
    }

    /// The options that let the driver write to it, and their values.
    pub(super) fn options(&mut self) -> [(JitOption, *mut c_void); 4] {
        let number = ptr::without_provenance_mut::<c_void>;
        [
            (JitOption::CU_JIT_INFO_LOG_BUFFER, self.info.as_mut_ptr().cast()),
            (JitOption::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, number(LOG_BYTES)),
            (JitOption::CU_JIT_ERROR_LOG_BUFFER, self.error.as_mut_ptr().cast()),
            (JitOption::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, number(LOG_BYTES)),
        ]
    }

    /// An error where `status` is one: the code's, where it is of that kind or the driver says what is wrong with it.
    pub(super) fn check(&self, context: &CudaContext, status: Status) -> Result<()> {
        let of_code = code::is_load_error(status.code) || !said(&self.error).is_empty();
        if status.code == code::SUCCESS || !of_code {
            return context.check(status);
        }
        let (name, text) = context.driver().describe(status.code);
        let log = format!("{name} ({}), {text}\n{}", status.code, said(&self.error));
        Err(Error::load(context.info().to_string(), log.trim(), None))
    }

    /// What the compiler said that is no error.
    pub(super) fn said(&self) -> String {
        said(&self.info)
    }
}

fn said(log: &[u8]) -> String {
    let log = CStr::from_bytes_until_nul(log).unwrap_or_default();
    log.to_string_lossy().trim().to_owned()
}
