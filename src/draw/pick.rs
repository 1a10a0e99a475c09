//! What a view draws at a place of its picture: which point, or which texel of a surface or a volume.

use glam::{Vec2, Vec3, Vec3Swizzles, Vec4Swizzles};

use super::{
    Camera, Projection,
    cloud::{Blend, Sprites},
    points,
};

/// A place of a picture, and how the picture is seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    /// From where.
    pub camera: Camera,
    /// The picture's size in pixels.
    pub size: [u32; 2],
    /// In [-1, 1]², y upwards.
    pub at: Vec2,
}

/// So many pixels beside a point it is still meant: the smallest points are a pixel wide.
const REACH: f32 = 7.0;
/// A ray through a surface is looked at so often within a texel.
const LOOKS: f32 = 4.0;
/// No ray goes through more places.
const MOST_LOOKS: f32 = 65_536.0;

impl Spot {
    /// Which of `points`, drawn as `sprites` says, is meant: of balls the nearest to the eye that is seen there, of
    /// points whose light adds up the one whose middle is the nearest. `None` where there is none near.
    pub fn point(&self, sprites: &Sprites, points: impl Iterator<Item = Vec3>) -> Option<usize> {
        let [w, h] = self.size.map(|n| n as f32);
        let seen = self.camera.view_projection(w / h);
        let mut nearest: Option<([f32; 2], usize)> = None;
        for (index, point) in points.enumerate() {
            let clip = seen * point.extend(1.0);
            let place = clip.xyz() / clip.w;
            // What is no number is in no picture.
            if !(clip.w > 0.0 && place.z.abs() <= 1.0) {
                continue;
            }
            let apart = ((place.xy() - self.at) * 0.5 * Vec2::new(w, h)).length();
            let radius = points::diameter_at(&self.camera, sprites, self.size, clip.w) / 2.0;
            let beside = (apart - radius).max(0.0);
            if beside > REACH {
                continue;
            }
            let order = match sprites.blend {
                Blend::Opaque => [beside, place.z],
                Blend::Additive => [apart, place.z],
            };
            if nearest.is_none_or(|(other, _)| order < other) {
                nearest = Some((order, index));
            }
        }
        nearest.map(|(_, index)| index)
    }

    /// The texel of a surface of `size` texels that is seen there; `height` gives that of each, in the scene's units.
    pub fn surface_texel(
        &self,
        size: [u32; 2],
        height: impl Fn([u32; 2]) -> f32,
    ) -> Option<[u32; 2]> {
        let height = |texel| Some(height(texel)).filter(|of| of.is_finite()).unwrap_or(0.0);
        let all = (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| [x, y]));
        let [low, high] = all.fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], texel| {
            let of = height(texel);
            [low.min(of), high.max(of)]
        });
        // The ray begins and ends beside the surface, however flat that is.
        let beside = 1.0e-3 * (high - low) + 1.0e-4 * (1.0 + low.abs().max(high.abs()));
        let (low, high) = (low - beside, high + beside);
        let extent = half_of([size[0], size[1], 1]);
        let corner = |end: f32, y| Vec3::new(end * extent.x, y, end * extent.y);
        let (from, ray, [begin, end]) = self.through(corner(-1.0, low), corner(1.0, high))?;
        // In texels from the middle of the first one, the second one's direction being away from the eye.
        let place = |at: Vec3| {
            let part = Vec2::new(at.x / extent.x, -at.z / extent.y) * 0.5 + 0.5;
            part * Vec2::new(size[0] as f32, size[1] as f32) - 0.5
        };
        let above = |t: f32| {
            let at = from + ray * t;
            (at.y - between(place(at), size, &height), place(at))
        };
        let path = (place(from + ray * end) - place(from + ray * begin)).length();
        let looks = (path * LOOKS).ceil().clamp(1.0, MOST_LOOKS);
        let step = (end - begin) / looks;
        let (first, _) = above(begin);
        let mut all = (1..=looks as u32).map(|look| above(begin + step * look as f32));
        let (_, place) = all.find(|(height, _)| (*height > 0.0) != (first > 0.0))?;
        Some([0, 1].map(|axis| (place[axis].round().max(0.0) as u32).min(size[axis] - 1)))
    }

    /// The texel of a volume of `size` texels that is seen best there: the one that hides most of what is behind it.
    /// `thickness` is what hides, for each texel along a length of 1.
    pub fn volume_texel(
        &self,
        size: [u32; 3],
        thickness: impl Fn([u32; 3]) -> f32,
    ) -> Option<[u32; 3]> {
        let extent = half_of(size);
        let (from, ray, [begin, end]) = self.through(-extent, extent)?;
        let texels = Vec3::from(size.map(|n| n as f32));
        let texel = |t: f32| {
            let place = ((from + ray * t) / extent * 0.5 + 0.5) * texels;
            [0, 1, 2].map(|axis| (place[axis].max(0.0) as u32).min(size[axis] - 1))
        };
        let texel_long = 2.0 / texels.max_element();
        let looks = ((end - begin) / texel_long * LOOKS).ceil().clamp(1.0, MOST_LOOKS);
        let step = (end - begin) / looks;
        let (mut clear, mut best) = (1.0_f32, (0.0, None));
        for look in 0..looks as u32 {
            let texel = texel(begin + step * (look as f32 + 0.5));
            let of = thickness(texel);
            let of = if of.is_nan() { 1.0 } else { of.max(0.0) };
            let passes = (-of * step).exp();
            let hidden = clear * (1.0 - passes);
            if hidden > best.0 {
                best = (hidden, Some(texel));
            }
            clear *= passes;
        }
        best.1
    }

    /// The ray under the place, and where it enters and leaves a box; `None` where it does not.
    fn through(&self, low: Vec3, high: Vec3) -> Option<(Vec3, Vec3, [f32; 2])> {
        let [w, h] = self.size.map(|n| n as f32);
        let (from, ray) = self.camera.ray(self.at, w / h);
        let first = match self.camera.projection {
            Projection::Perspective => 0.0,
            // Nothing is behind an eye that is nowhere.
            Projection::Orthographic => f32::NEG_INFINITY,
        };
        let (mut begin, mut end) = (first, f32::INFINITY);
        for axis in 0..3 {
            let ends = [low[axis] - from[axis], high[axis] - from[axis]];
            if ray[axis] == 0.0 {
                let is_inside = ends[0] <= 0.0 && ends[1] >= 0.0;
                is_inside.then_some(())?;
                continue;
            }
            let ends = ends.map(|end| end / ray[axis]);
            begin = begin.max(ends[0].min(ends[1]));
            end = end.min(ends[0].max(ends[1]));
        }
        let is_met = begin <= end && begin.is_finite() && end.is_finite();
        is_met.then_some((from, ray, [begin, end]))
    }
}

/// Where the middle of a texel of a surface is, of this height in the scene's units.
pub fn place_on_surface(size: [u32; 2], texel: [u32; 2], height: f32) -> Vec3 {
    let extent = half_of([size[0], size[1], 1]);
    let part = [0, 1].map(|axis| (texel[axis] as f32 + 0.5) / size[axis] as f32 * 2.0 - 1.0);
    Vec3::new(part[0] * extent.x, height, -part[1] * extent.y)
}

/// Where the middle of a texel of a volume is.
pub fn place_in_volume(size: [u32; 3], texel: [u32; 3]) -> Vec3 {
    let part = [0, 1, 2].map(|axis| (texel[axis] as f32 + 0.5) / size[axis] as f32 * 2.0 - 1.0);
    Vec3::from(part) * half_of(size)
}

/// Half of the box of so many texels, whose longest side is 2.
fn half_of(size: [u32; 3]) -> Vec3 {
    let texels = Vec3::from(size.map(|n| n as f32));
    texels / texels.max_element()
}

/// The height at a place in texels, between those of the texels around it.
fn between(place: Vec2, size: [u32; 2], height: &impl Fn([u32; 2]) -> f32) -> f32 {
    let last = [0, 1].map(|axis| (size[axis] - 1) as f32);
    let place = place.clamp(Vec2::ZERO, last.into());
    let (low, part) = (place.floor(), place.fract());
    let row = |y: f32| {
        let [a, b] = [low.x, (low.x + 1.0).min(last[0])].map(|x| height([x as u32, y as u32]));
        a + (b - a) * part.x
    };
    let [a, b] = [low.y, (low.y + 1.0).min(last[1])].map(row);
    a + (b - a) * part.y
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: [u32; 2] = [640, 480];

    /// Where a point is seen.
    fn spot(camera: Camera, point: Vec3) -> Spot {
        let [w, h] = SIZE.map(|n| n as f32);
        let place = camera.project(point, SIZE).expect("before the eye");
        let at = Vec2::new(place.x / w * 2.0 - 1.0, 1.0 - place.y / h * 2.0);
        Spot { camera, size: SIZE, at }
    }

    fn sprites(blend: Blend) -> Sprites {
        Sprites { size_px: 20.0, scale: 1.0, perspective: true, blend }
    }

    #[test]
    fn the_ball_in_front_is_meant_and_of_lights_the_nearest_middle() {
        let camera = Camera::front();
        let points = [Vec3::ZERO, Vec3::new(0.02, 0.0, 0.5), Vec3::new(0.9, 0.9, 0.0)];
        for (blend, meant) in [(Blend::Opaque, 1), (Blend::Additive, 0)] {
            let spot = spot(camera, points[0]);
            assert_eq!(spot.point(&sprites(blend), points.into_iter()), Some(meant), "{blend:?}");
        }
        let beside = spot(camera, Vec3::new(-0.5, 0.5, 0.0));
        assert_eq!(beside.point(&sprites(Blend::Opaque), points.into_iter()), None);
        let nothing = [Vec3::NAN, Vec3::new(0.0, 0.0, 9.0)];
        let middle = spot(camera, Vec3::ZERO);
        assert_eq!(middle.point(&sprites(Blend::Opaque), nothing.into_iter()), None);
    }

    #[test]
    fn every_texel_of_a_surface_is_found_where_it_is_drawn() {
        let size = [20, 10];
        let height = |[x, y]: [u32; 2]| 0.02 * (x as f32 - 7.0) - 0.03 * y as f32;
        for projection in [Projection::Perspective, Projection::Orthographic] {
            let camera = Camera { pitch: 0.9, projection, ..Camera::default() };
            for texel in [[0, 0], [19, 9], [3, 7], [12, 1]] {
                let spot = spot(camera, place_on_surface(size, texel, height(texel)));
                assert_eq!(spot.surface_texel(size, height), Some(texel), "{projection:?}");
            }
            let flat = spot(camera, place_on_surface(size, [4, 4], 0.25));
            assert_eq!(flat.surface_texel(size, |_| 0.25), Some([4, 4]), "{projection:?}");
            let beside = spot(camera, Vec3::new(0.0, 1.0, -3.0));
            assert_eq!(beside.surface_texel(size, height), None);
        }
    }

    #[test]
    fn a_hill_hides_the_texel_behind_it() {
        let size = [16, 16];
        let camera = Camera { yaw: 0.0, pitch: 0.2, ..Camera::default() };
        let height = |[_, y]: [u32; 2]| if y == 5 { 0.5 } else { 0.0 };
        let spot = spot(camera, place_on_surface(size, [8, 9], 0.0));
        let [_, y] = spot.surface_texel(size, height).expect("it is on the surface");
        assert!((4..=5).contains(&y), "row {y} is not the hill");
    }

    #[test]
    fn the_texel_of_a_volume_that_hides_most_is_meant() {
        let size = [8, 6, 4];
        for projection in [Projection::Perspective, Projection::Orthographic] {
            let camera = Camera { projection, ..Camera::default() };
            let texel = [2, 3, 1];
            let spot = spot(camera, place_in_volume(size, texel));
            let thick = |at: [u32; 3]| if at == texel { 5.0 } else { 0.01 };
            assert_eq!(spot.volume_texel(size, thick), Some(texel));
            assert_eq!(spot.volume_texel(size, |_| 0.0), None, "there is nothing to see");
        }
    }
}
