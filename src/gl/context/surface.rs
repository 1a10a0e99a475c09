//! What a context with a window draws on.
#![expect(unsafe_code, reason = "glutin's context and surface creation")]

use std::{num::NonZeroU32, sync::Arc};

use glutin::{
    config::Config,
    context::PossiblyCurrentContext,
    display::GetGlDisplay,
    prelude::*,
    surface::{SurfaceAttributesBuilder, SwapInterval, WindowSurface},
};
use raw_window_handle::HasWindowHandle;
use winit::window::Window;

use super::Wish;

/// A window's surface and its context. The fields' order is the order of their drops.
pub(super) struct Surface {
    pub(super) context: PossiblyCurrentContext,
    pub(super) surface: glutin::surface::Surface<WindowSurface>,
    // The surface lies on the window, so the window must go last.
    window: Arc<Window>,
}

impl Surface {
    pub(super) fn new(
        window: &Arc<Window>,
        config: &Config,
        wish: Wish,
    ) -> glutin::error::Result<Self> {
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
