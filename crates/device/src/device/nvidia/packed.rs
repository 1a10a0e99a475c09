//! Arguments as the driver takes them in one piece.

use std::{ffi::c_void, ptr};

use cudarc::driver::sys;

use crate::device::Arguments;

/// Calls the driver with the arguments in one piece, as its parameter `extra`.
pub(super) fn packed<R>(arguments: &Arguments, call: impl FnOnce(*mut *mut c_void) -> R) -> R {
    let mut bytes = arguments.bytes().len();
    let mut extra = [
        as_pointer(sys::CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT),
        arguments.bytes().as_ptr().cast_mut().cast(),
        as_pointer(sys::CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT),
        (&raw mut bytes).cast(),
        as_pointer(sys::CU_LAUNCH_PARAM_END_AS_INT),
    ];
    call(if bytes == 0 { ptr::null_mut() } else { extra.as_mut_ptr() })
}

/// A number where the driver wants a pointer.
fn as_pointer(value: u32) -> *mut c_void {
    ptr::without_provenance_mut(value as usize)
}
