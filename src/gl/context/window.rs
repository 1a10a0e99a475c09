//! Contexts with a window: winit's window, GLX or EGL.
#![expect(unsafe_code, reason = "glutin's display and its configurations")]

use std::sync::Arc;

use glutin::{
    config::{Config, ConfigTemplateBuilder},
    display::{Display, DisplayApiPreference},
    prelude::*,
};
use raw_window_handle::{HasDisplayHandle, RawDisplayHandle};
use winit::{
    error::EventLoopError,
    event_loop::ActiveEventLoop,
    platform::x11::register_xlib_error_hook,
    window::{Window, WindowAttributes},
};

use super::{
    Attempt, CurrentContext, Error, Gl, Kind, Result, Wish, leave_current, platform::Platform,
    surface::Surface,
};

impl CurrentContext {
    /// Opens a window and makes a context for it, current on this thread.
    ///
    /// Tried in this order: on X11 GLX, then EGL (NVIDIA offers no EGL configuration for X11); on Wayland
    /// EGL; for each OpenGL 4.5, 4.3 and 3.3 core. The window has eight bits a channel, no sRGB conversion,
    /// no depth buffer, and waits for the display on swaps where it can.
    ///
    /// # Errors
    /// [`Error::Window`] when there can be no window; [`Error::NoContext`] with everything tried.
    pub fn window(
        event_loop: &ActiveEventLoop,
        attributes: &WindowAttributes,
    ) -> Result<(Arc<Window>, Self)> {
        let handle = event_loop
            .display_handle()
            .map_err(|error| Error::NoDisplay { reason: error.to_string() })?
            .as_raw();
        leave_current();
        let mut attempts = Vec::new();
        for (name, preference) in preferences(handle) {
            let mut note = |what: String, why: String| {
                attempts.push(Attempt { what: format!("{name}, {what}"), why });
            };
            let config = match config(handle, preference) {
                Ok(config) => config,
                Err(error) => {
                    note("its configurations".into(), error.to_string());
                    continue;
                }
            };
            // GLX draws only into windows of the configuration's visual: a window for each attempt.
            let window = glutin_winit::finalize_window(event_loop, attributes.clone(), &config)
                .map_err(|error| Error::Window { reason: error.to_string() })?;
            let window = Arc::new(window);
            for wish in Wish::list(Kind::Window) {
                match Surface::new(&window, &config, wish) {
                    Ok(surface) => {
                        let gl = Gl::adopt(Platform::Window(surface), wish, Kind::Window, None)?;
                        let context = Self { gl };
                        if let Err(error) = context.set_vsync(true) {
                            tracing::debug!(target: "warpaint::gl", "no vsync: {error}");
                        }
                        return Ok((window, context));
                    }
                    Err(error) => note(wish.to_string(), error.to_string()),
                }
            }
        }
        Err(Error::NoContext { attempts })
    }
}

impl From<EventLoopError> for Error {
    fn from(error: EventLoopError) -> Self {
        // winit puts the place in its source in front of the reason.
        let text = error.to_string();
        let behind_place = text.rsplit_once(".rs:").and_then(|(_, rest)| rest.split_once(": "));
        let reason = behind_place.map_or(text.as_str(), |(_, reason)| reason);
        Self::NoDisplay { reason: reason.trim_end_matches('.').to_owned() }
    }
}

fn preferences(handle: RawDisplayHandle) -> Vec<(&'static str, DisplayApiPreference)> {
    let egl = ("EGL", DisplayApiPreference::Egl);
    match handle {
        RawDisplayHandle::Xlib(_) | RawDisplayHandle::Xcb(_) => {
            let hook = Box::new(register_xlib_error_hook);
            vec![("GLX", DisplayApiPreference::Glx(hook)), egl]
        }
        _ => vec![egl],
    }
}

fn config(
    handle: RawDisplayHandle,
    preference: DisplayApiPreference,
) -> glutin::error::Result<Config> {
    // SAFETY: the handle is the event loop's, which outlives every window and context made from it.
    let display = unsafe { Display::new(handle, preference) }?;
    let template = ConfigTemplateBuilder::new().with_alpha_size(8).build();
    // SAFETY: the template names no native window or pixmap.
    let configs = unsafe { display.find_configs(template) }?;
    configs.min_by_key(dislike).ok_or_else(|| glutin::error::ErrorKind::BadConfig.into())
}

/// Less is better: hardware, opaque, no sRGB, one sample, no depth or stencil.
fn dislike(config: &Config) -> (bool, bool, bool, u8, u8, u8) {
    (
        !config.hardware_accelerated(),
        config.supports_transparency() == Some(true),
        config.srgb_capable(),
        config.num_samples(),
        config.depth_size(),
        config.stencil_size(),
    )
}
