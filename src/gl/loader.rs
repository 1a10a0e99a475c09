//! What is called of OpenGL before there is a [`Gl`](super::Gl).
#![expect(unsafe_code, reason = "all OpenGL calls are unsafe functions in glow")]

use std::ffi::c_void;

use glow::HasContext;

/// Loads OpenGL's functions.
///
/// `None` if there is no `glGetString`, without which `glow` would panic.
pub(super) fn load(find: &dyn Fn(&std::ffi::CStr) -> *const c_void) -> Option<glow::Context> {
    if find(c"glGetString").is_null() {
        return None;
    }
    // SAFETY: the caller's context is current and `find` asks its own platform for the addresses.
    Some(unsafe { glow::Context::from_loader_function_cstr(find) })
}

/// A string parameter of a context that nobody owns yet.
pub(super) fn string(glow: &glow::Context, parameter: u32) -> String {
    // SAFETY: the context was made current just before.
    unsafe { glow.get_parameter_string(parameter) }
}

/// Turns the debug messages of the current context on.
pub(super) fn debug_output(
    glow: &mut glow::Context,
    callback: impl Fn(u32, u32, u32, u32, &str) + Send + Sync + 'static,
) {
    // SAFETY: the context is current; glow keeps the closure until it has unset it.
    unsafe { glow.debug_message_callback(callback) }
    // SAFETY: the context is current.
    unsafe { glow.enable(glow::DEBUG_OUTPUT) }
}
