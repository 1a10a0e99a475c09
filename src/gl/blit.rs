//! Copies of a picture into another one.

#[cfg(doc)]
use super::Error;
use super::{Framebuffer, Result, Target, bound::Bound};

impl Framebuffer {
    /// Copies its colour into a rectangle `[x, y, width, height]` of another picture (pixels, y upwards), and
    /// averages samples. Sizes that differ are scaled linearly; with several samples they must not differ.
    ///
    /// # Errors
    /// [`Error::WrongContext`]; [`Error::Call`] when OpenGL refuses.
    pub fn blit_to(&self, target: Target<'_>, rect: [u32; 4]) -> Result<()> {
        let [width, height] = self.size();
        self.blit_part_to([0, 0, width, height], target, rect)
    }

    /// As [`blit_to`](Self::blit_to), of a part of it alone: a rectangle `[x, y, width, height]` that lies within it.
    ///
    /// # Errors
    /// As [`blit_to`](Self::blit_to).
    pub fn blit_part_to(&self, part: [u32; 4], target: Target<'_>, rect: [u32; 4]) -> Result<()> {
        let gl = self.gl();
        target.expect_same(gl, "blit")?;
        let corners = |[x, y, width, height]: [u32; 4]| {
            [x, y, x.saturating_add(width), y.saturating_add(height)].map(u32::cast_signed)
        };
        gl.forget_errors();
        gl.disable(glow::SCISSOR_TEST);
        let _draw = target.bind(gl);
        let _read = Bound::read(gl, Some(self.raw()));
        let same = part[2..] == rect[2..];
        let filter = if same { glow::NEAREST } else { glow::LINEAR };
        gl.blit_framebuffer(corners(part), corners(rect), glow::COLOR_BUFFER_BIT, filter);
        gl.check("glBlitFramebuffer")
    }
}
