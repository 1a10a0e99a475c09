//! What keeps a context alive, and the few things that depend on whether it has a window.

use std::ffi::{CStr, c_void};

use glutin::{api::egl, display::GetGlDisplay, prelude::*};

#[cfg(feature = "cli")]
use super::surface::Surface;
use crate::gl::{Error, Result};

/// A context's platform side. Dropping it makes the context non-current and destroys it.
pub(super) enum Platform {
    /// EGL without a surface.
    Egl(egl::context::PossiblyCurrentContext),
    /// A window's surface.
    #[cfg(feature = "cli")]
    Window(Surface),
}

impl Platform {
    pub(super) fn address(&self, name: &CStr) -> *const c_void {
        match self {
            Self::Egl(context) => context.display().get_proc_address(name),
            #[cfg(feature = "cli")]
            Self::Window(surface) => surface.context.display().get_proc_address(name),
        }
    }

    pub(super) fn make_current(&self) -> Result<()> {
        match self {
            Self::Egl(context) => context.make_current_surfaceless(),
            #[cfg(feature = "cli")]
            Self::Window(surface) => surface.context.make_current(&surface.surface),
        }
        .map_err(|error| failed("make current", &error))
    }

    pub(super) fn resize(&self, size: [u32; 2]) {
        #[cfg(feature = "cli")]
        if let Self::Window(surface) = self {
            surface.resize(size);
        }
        #[cfg(not(feature = "cli"))]
        let _ = size;
    }

    pub(super) fn swap_buffers(&self) -> Result<()> {
        #[cfg(feature = "cli")]
        if let Self::Window(surface) = self {
            return surface.swap_buffers().map_err(|error| failed("swap buffers", &error));
        }
        Ok(())
    }

    pub(super) fn set_vsync(&self, wait: bool) -> Result<()> {
        #[cfg(feature = "cli")]
        if let Self::Window(surface) = self {
            return surface.set_vsync(wait).map_err(|error| failed("set swap interval", &error));
        }
        #[cfg(not(feature = "cli"))]
        let _ = wait;
        Ok(())
    }

    /// Makes the context non-current on this thread.
    pub(super) fn leave(&self) {
        let left = match self {
            Self::Egl(context) => context.make_not_current_in_place(),
            #[cfg(feature = "cli")]
            Self::Window(surface) => surface.context.make_not_current_in_place(),
        };
        if let Err(error) = left {
            tracing::warn!(target: "warpaint::gl", "a context could not be left: {error}");
        }
    }
}

impl Drop for Platform {
    fn drop(&mut self) {
        self.leave();
    }
}

fn failed(call: &'static str, error: &glutin::error::Error) -> Error {
    Error::Surface { call, reason: error.to_string() }
}
