//! What is drawn into.

use super::{Framebuffer, Gl, Result, bound::Bound};

/// Where a draw goes.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// The window.
    Screen,
    /// A picture of ours.
    Framebuffer(&'a Framebuffer),
    /// Whatever is bound, as within an egui paint callback.
    Bound,
}

impl Target<'_> {
    pub(super) fn expect_same(&self, gl: &Gl, operation: &'static str) -> Result<()> {
        match self {
            Self::Framebuffer(framebuffer) => gl.expect_same(framebuffer.gl(), operation),
            Self::Screen | Self::Bound => Ok(()),
        }
    }

    /// Binds it for drawing until the result is dropped.
    pub(super) fn bind<'gl>(&self, gl: &'gl Gl) -> Option<Bound<'gl>> {
        match self {
            Self::Screen => Some(Bound::draw(gl, None)),
            Self::Framebuffer(framebuffer) => Some(Bound::draw(gl, Some(framebuffer.raw()))),
            Self::Bound => None,
        }
    }
}
