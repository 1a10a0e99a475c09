//! Contexts with a window: winit's window, GLX or EGL.
#![expect(unsafe_code, reason = "glutin's display, context and surface creation")]

use std::{num::NonZeroU32, sync::Arc};

use glutin::{
    config::{Config, ConfigTemplateBuilder},
    context::PossiblyCurrentContext,
    display::{Display, DisplayApiPreference, GetGlDisplay},
    prelude::*,
    surface::{SurfaceAttributesBuilder, SwapInterval, WindowSurface},
};
use raw_window_handle::{HasDisplayHandle, HasWindowHandle, RawDisplayHandle};
use winit::{
    error::EventLoopError,
    event_loop::ActiveEventLoop,
    platform::x11::register_xlib_error_hook,
    window::{Window, WindowAttributes},
};

use super::{
    Attempt, CurrentContext, Error, Gl, Kind, Result, Wish, leave_current, platform::Platform,
};

/// A window's surface and its context. The fields' order is the order of their drops.
pub(super) struct Surface {
    pub(super) context: PossiblyCurrentContext,
    pub(super) surface: glutin::surface::Surface<WindowSurface>,
    // The surface lies on the window, so the window must go last.
    window: Arc<Window>,
}

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

impl Surface {
    fn new(window: &Arc<Window>, config: &Config, wish: Wish) -> glutin::error::Result<Self> {
        let handle =
            window.window_handle().map_err(|_| glutin::error::ErrorKind::BadNativeWindow)?.as_raw();
        let display = config.display();
        // SAFETY: the window handle is valid while `window` lives, longer than the context.
        let context = unsafe { display.create_context(config, &wish.attributes(Some(handle))) }?;
        let [width, height] = nonzero(window.inner_size().into());
        let attributes = SurfaceAttributesBuilder::<WindowSurface>::new()
            .with_srgb(Some(false))
            .build(handle, width, height);
        // SAFETY: the window handle is valid while `window` lives, and the surface is dropped before it.
        let surface = unsafe { display.create_window_surface(config, &attributes) }?;
        let context = context.make_current(&surface)?;
        Ok(Self { context, surface, window: Arc::clone(window) })
    }

    pub(super) fn resize(&self, size: [u32; 2]) {
        let [width, height] = nonzero(size);
        self.surface.resize(&self.context, width, height);
    }

    pub(super) fn swap_buffers(&self) -> glutin::error::Result<()> {
        self.window.pre_present_notify();
        self.surface.swap_buffers(&self.context)
    }

    pub(super) fn set_vsync(&self, wait: bool) -> glutin::error::Result<()> {
        let interval =
            if wait { SwapInterval::Wait(NonZeroU32::MIN) } else { SwapInterval::DontWait };
        self.surface.set_swap_interval(&self.context, interval)
    }
}

fn nonzero(size: [u32; 2]) -> [NonZeroU32; 2] {
    size.map(|n| NonZeroU32::new(n).unwrap_or(NonZeroU32::MIN))
}
