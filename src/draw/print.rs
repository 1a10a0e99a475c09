//! A copy of a picture for a file, with what stands over it.

use epaint::Pos2;

use super::{Legend, overlay::Overlay};
use crate::gl::{Format, Framebuffer, Gl, Result};

/// Space between a legend and the picture's edges, in points.
const MARGIN: f32 = 14.0;
/// A point is a pixel of a picture so many pixels high, and of smaller ones; of larger ones it is more.
const POINTS_HIGH: f32 = 720.0;

/// A picture of its own, into which others are copied, so that what is drawn over them is in the file alone.
#[derive(Debug)]
pub struct Print {
    picture: Framebuffer,
    overlay: Option<Overlay>,
}

impl Print {
    /// A print of `size` pixels; zero counts as one.
    ///
    /// # Errors
    /// [`Error::Size`](crate::gl::Error::Size) beyond the driver's limit, [`crate::gl::Error::Call`] when
    /// memory is out.
    pub fn new(gl: &Gl, size: [u32; 2]) -> Result<Self> {
        let size = size.map(|side| side.max(1));
        Ok(Self { picture: Framebuffer::new(gl, Format::Rgba8, size, false)?, overlay: None })
    }

    /// What a picture is copied into, and what is read.
    pub fn picture(&self) -> &Framebuffer {
        &self.picture
    }

    /// Draws a legend over the lower right corner.
    ///
    /// # Errors
    /// [`Error::Shader`](crate::gl::Error::Shader) when the driver does not take a shader.
    pub fn draw_legend(&mut self, legend: &Legend) -> Result<()> {
        draw_legend(&mut self.overlay, &self.picture, legend)
    }
}

/// The pixels of a point in a picture so many pixels high.
pub(super) fn points_of(height: f32) -> f32 {
    (height / POINTS_HIGH).max(1.0)
}

/// Draws a legend over the lower right corner of a picture, with an overlay that is made when it is first needed.
pub(super) fn draw_legend(
    overlay: &mut Option<Overlay>,
    picture: &Framebuffer,
    legend: &Legend,
) -> Result<()> {
    let overlay = Overlay::made(overlay, picture.gl())?;
    let [w, h] = picture.size().map(|n| n as f32);
    let scale = points_of(h);
    let room = Legend::room(Pos2::new(w / scale - MARGIN, h / scale - MARGIN));
    overlay.draw(picture, scale, |fonts| legend.shapes(room, fonts))
}
