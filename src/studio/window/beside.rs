//! B's picture beside A's, and the picture of what they differ in.

use crate::{
    draw::{Content, Difference, Frame, Image, Legend, Paint, View},
    gl::{self, Framebuffer, Gl, Target},
};

use crate::studio::{Result, sides::Arrangement};

/// B's pictures.
pub(super) struct Beside {
    /// What B shows, or what of an image differs.
    view: View,
    difference: Difference,
    /// Whether what is to be shown is both pictures in one.
    is_tinted: bool,
}

impl Beside {
    /// What is in `slot`, made if it is not there yet.
    pub(super) fn made<'a>(slot: &'a mut Option<Self>, gl: &Gl) -> gl::Result<&'a mut Self> {
        Ok(match slot {
            Some(there) => there,
            none => none.insert(Self {
                view: View::new(gl, [1, 1])?,
                difference: Difference::new(gl)?,
                is_tinted: false,
            }),
        })
    }

    /// Draws what is shown beside the picture that `a` has of the first frame: the second one or, of images, how far
    /// both are apart, in the colours of `legend`.
    pub(super) fn draw(
        &mut self,
        a: &View,
        [of_a, of_b]: [&Frame<'_>; 2],
        arrangement: Arrangement,
        legend: Option<&Legend>,
    ) -> gl::Result<()> {
        self.view.resize(a.size())?;
        self.is_tinted = false;
        if let (Content::Image(image), Content::Image(other), Some(legend)) =
            (of_a.content, of_b.content, legend)
            && let Some(texture) = self.difference.of_images([image.texture, other.texture])?
        {
            let mut coloring = image.coloring;
            (coloring.colormap, coloring.range) = (legend.colormap, legend.range);
            (coloring.reversed, coloring.logarithmic) = (legend.reversed, legend.logarithmic);
            if coloring.paint == Paint::Rgba {
                coloring.paint = Paint::Magnitude;
            }
            let apart = Image { texture, coloring, filter: image.filter };
            self.view.draw(&Frame { content: Content::Image(apart), ..*of_a })?;
            return Ok(());
        }
        self.view.draw(of_b)?;
        if arrangement == Arrangement::Difference {
            let both = self.difference.of_pictures([a.picture(), self.view.picture()])?;
            self.is_tinted = both.is_some();
        }
        Ok(())
    }

    /// Puts it and A's picture into a rectangle of `target`; the first of which is A's where a line splits it.
    pub(super) fn paint(
        &self,
        a: &Framebuffer,
        (target, [x, y, width, height]): (Target<'_>, [u32; 4]),
        arrangement: Arrangement,
        split: f32,
    ) -> Result<()> {
        let b = self.view.picture();
        match arrangement {
            Arrangement::Difference => {
                let both = self.difference.picture().filter(|_| self.is_tinted);
                both.unwrap_or(b).blit_to(target, [x, y, width, height])?;
            }
            Arrangement::Beside => {
                let half = width / 2;
                a.blit_to(target, [x, y, half, height])?;
                b.blit_to(target, [x + half, y, width - half, height])?;
            }
            Arrangement::Split => {
                let [w, h] = a.size();
                let at = |side: u32| ((side as f32 * split).round() as u32).min(side);
                let (own, shown) = (at(w), at(width));
                let [left, right] = [[0, 0, own, h], [own, 0, w - own, h]];
                a.blit_part_to(left, target, [x, y, shown, height])?;
                b.blit_part_to(right, target, [x + shown, y, width - shown, height])?;
            }
        }
        Ok(())
    }
}
