//! Which part of an image is seen.

use glam::Vec2;
use serde::{Deserialize, Serialize};

/// The part of an image that a picture shows: its middle and how much it is enlarged.
///
/// ```
/// use warpaint::draw::PanZoom;
///
/// let (image, picture) = ([512, 512], [1024, 512]);
/// let mut part = PanZoom::default();
/// assert_eq!(part.texel([0.0, 0.0].into(), image, picture), Some([256, 256]));
/// assert_eq!(part.texel([0.9, 0.0].into(), image, picture), None); // beside the image
///
/// let pointer = [0.25, 0.5].into();
/// let under = part.texel(pointer, image, picture);
/// part.zoom_at(8.0, pointer, image, picture);
/// assert_eq!(part.texel(pointer, image, picture), under);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PanZoom {
    /// What is in the picture's middle, from 0 at the image's lower left corner to 1 at its upper right one.
    centre: [f32; 2],
    /// 1: the image just fits into the picture; 2: it is twice as large.
    zoom: f32,
}

/// Limits of the enlargement: at the upper one a large image's texel is still smaller than a picture.
const SMALLEST: f32 = 0.125;
const LARGEST: f32 = 4096.0;

impl Default for PanZoom {
    /// All of the image.
    fn default() -> Self {
        Self { centre: [0.5; 2], zoom: 1.0 }
    }
}

impl PanZoom {
    /// What is in the picture's middle, from 0 at the image's lower left corner to 1 at its upper right one.
    pub fn centre(&self) -> Vec2 {
        self.centre.into()
    }

    /// How much of an image of `image` texels fits into a picture of `picture` pixels along each axis: 1 is all of it.
    pub fn span(&self, image: [u32; 2], picture: [u32; 2]) -> Vec2 {
        let ratio = aspect(picture) / aspect(image);
        Vec2::new(ratio.max(1.0), (1.0 / ratio).max(1.0)) / self.zoom
    }

    /// Moves the image by a drag, in widths and heights of the picture (x to the right, y downwards).
    pub fn pan(&mut self, drag: Vec2, image: [u32; 2], picture: [u32; 2]) {
        let moved = self.centre() + Vec2::new(-drag.x, drag.y) * self.span(image, picture);
        self.look_at(moved);
    }

    /// Enlarges the image by a factor, and what is under the pointer stays there. `pointer` is in [-1, 1]², y
    /// upwards.
    pub fn zoom_at(&mut self, factor: f32, pointer: Vec2, image: [u32; 2], picture: [u32; 2]) {
        if !(factor.is_finite() && factor > 0.0) {
            return;
        }
        let before = self.at(pointer, image, picture);
        self.zoom = (self.zoom * factor).clamp(SMALLEST, LARGEST);
        self.look_at(self.centre() + before - self.at(pointer, image, picture));
    }

    /// What of the image lies under the pointer, from (0, 0) at the lower left corner to (1, 1) at the upper right
    /// one; less and more beside the image. `pointer` is in [-1, 1]², y upwards.
    pub fn at(&self, pointer: Vec2, image: [u32; 2], picture: [u32; 2]) -> Vec2 {
        self.centre() + pointer * 0.5 * self.span(image, picture)
    }

    /// The texel under the pointer; `None` beside the image.
    pub fn texel(&self, pointer: Vec2, image: [u32; 2], picture: [u32; 2]) -> Option<[u32; 2]> {
        let at = self.at(pointer, image, picture);
        let inside = at.cmpge(Vec2::ZERO).all() && at.cmplt(Vec2::ONE).all();
        let texel = |part: f32, count: u32| ((part * count as f32) as u32).min(count - 1);
        inside.then(|| [texel(at.x, image[0]), texel(at.y, image[1])])
    }

    /// Whether the image is seen by it: one that was read from a file may have any numbers.
    pub fn is_sound(&self) -> bool {
        let centre = self.centre();
        let inside = centre.cmpge(Vec2::ZERO).all() && centre.cmple(Vec2::ONE).all();
        inside && (SMALLEST..=LARGEST).contains(&self.zoom)
    }

    /// The middle stays within the image, so that it is never lost.
    fn look_at(&mut self, centre: Vec2) {
        if centre.is_finite() {
            self.centre = centre.clamp(Vec2::ZERO, Vec2::ONE).to_array();
        }
    }
}

/// A panel may have no width or no height for a moment.
fn aspect([width, height]: [u32; 2]) -> f32 {
    width.max(1) as f32 / height.max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_an_image_fits() {
        for (image, picture, span) in [
            ([100, 100], [100, 100], [1.0, 1.0]),
            ([100, 100], [300, 100], [3.0, 1.0]),
            ([200, 100], [100, 100], [1.0, 2.0]),
            ([64, 16], [640, 640], [1.0, 4.0]),
        ] {
            assert_eq!(PanZoom::default().span(image, picture), Vec2::from(span));
        }
    }

    #[test]
    fn a_drag_takes_the_image_along() {
        let (image, picture) = ([640, 480], [300, 400]);
        let mut part = PanZoom::default();
        part.zoom_at(5.0, Vec2::new(0.1, 0.2), image, picture);
        let grabbed = part.at(Vec2::new(-0.2, 0.4), image, picture);
        // A tenth of the picture to the right and a quarter down.
        part.pan(Vec2::new(0.1, 0.25), image, picture);
        let now = part.at(Vec2::new(0.0, -0.1), image, picture);
        assert!(now.distance(grabbed) < 1.0e-6, "{now} {grabbed}");
    }

    #[test]
    fn the_image_is_never_lost() {
        let (image, picture) = ([64, 64], [100, 50]);
        let mut part = PanZoom::default();
        for factor in [1.0e9, f32::NAN, 0.0, -3.0, f32::INFINITY, 1.0e-30] {
            part.zoom_at(factor, Vec2::new(0.9, -0.9), image, picture);
            part.pan(Vec2::new(1.0e9, f32::NAN), image, picture);
            part.pan(Vec2::new(1.0e9, -1.0e9), image, picture);
            assert!((SMALLEST..=LARGEST).contains(&part.zoom), "{part:?}");
            assert!(part.centre().cmpge(Vec2::ZERO).all() && part.centre().cmple(Vec2::ONE).all());
        }
        let nothing = part.texel(Vec2::ZERO, image, [0, 0]);
        assert!(nothing.is_some_and(|texel| texel < image));
    }
}
