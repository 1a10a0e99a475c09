//! The camera: it orbits a target.

use std::f32::consts::{FRAC_PI_2, PI};

use glam::{Mat4, Vec2, Vec3, Vec4, camera::rh};
use serde::{Deserialize, Serialize};

/// A camera that looks at a target from a distance. Right-handed; y is up; at yaw and pitch 0 it looks along -z, with x
/// to the right.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Camera {
    /// What it looks at and orbits.
    #[serde(with = "array")]
    pub target: Vec3,
    /// From the eye to the target.
    pub distance: f32,
    /// Radians about the y axis; positive: the eye moves to the right.
    pub yaw: f32,
    /// Radians above the horizon, at most a right angle.
    pub pitch: f32,
    /// The angle of view in radians along the picture's shorter side.
    pub fov: f32,
    /// How depth is seen.
    pub projection: Projection,
}

/// How depth is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Projection {
    /// What is farther away is smaller.
    #[default]
    Perspective,
    /// Everything has the size that it has at the target in perspective.
    Orthographic,
}

/// A box along the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The corner with the smallest coordinates.
    pub low: Vec3,
    /// The one with the largest.
    pub high: Vec3,
}

impl Bounds {
    /// Its middle.
    pub fn centre(&self) -> Vec3 {
        // Halves first: the sum of two ends may be beyond all numbers.
        self.low / 2.0 + self.high / 2.0
    }

    /// Half of its longest edge.
    pub fn half(&self) -> f32 {
        (self.high / 2.0 - self.low / 2.0).max_element()
    }

    /// Its eight corners.
    pub fn corners(&self) -> [Vec3; 8] {
        let side = |corner: usize, axis: usize| {
            if corner >> axis & 1 == 0 { self.low[axis] } else { self.high[axis] }
        };
        std::array::from_fn(|corner| [0, 1, 2].map(|axis| side(corner, axis)).into())
    }
}

/// How far back the eye of a wedge has to be that opens by `tangent` to both sides, so that the points are in it and
/// two of them on its edges. Points are across and backwards, too.
fn eye_of_wedge(points: [[f32; 2]; 8], tangent: f32) -> f32 {
    let greatest = |edge: [f32; 8]| edge.into_iter().fold(f32::NEG_INFINITY, f32::max);
    let right = greatest(points.map(|[across, back]| back * tangent + across));
    let left = greatest(points.map(|[across, back]| back * tangent - across));
    (right + left) / (2.0 * tangent)
}

/// How far points reach to either side of the middle of their box.
fn half(points: [[f32; 2]; 8]) -> f32 {
    points.into_iter().fold(0.0, |most, [across, _]| across.abs().max(most))
}

/// How far aside an eye has to be, so far back, that sees points as far to one side as to the other.
fn middle(points: [[f32; 2]; 8], eye: f32) -> f32 {
    let [mut low, mut high] =
        points.iter().fold([f32::INFINITY, f32::NEG_INFINITY], |ends, [across, _]| {
            [ends[0].min(*across), ends[1].max(*across)]
        });
    // What is seen moves to the left as the eye moves to the right, so the place is found by halving.
    for _ in 0..32 {
        let aside = (low + high) / 2.0;
        let seen = points.map(|[across, back]| (across - aside) / (eye - back).max(NEAREST));
        let leftmost = seen.into_iter().fold(f32::INFINITY, f32::min);
        let rightmost = seen.into_iter().fold(f32::NEG_INFINITY, f32::max);
        *(if leftmost + rightmost > 0.0 { &mut low } else { &mut high }) = aside;
    }
    (low + high) / 2.0
}

/// The part of the picture's half that a fitted box takes: points have a size beyond their box, and things look better
/// with some space around them.
const FILLED: f32 = 0.92;

/// Limits of the distance.
const NEAREST: f32 = 1.0e-12;
const FARTHEST: f32 = 1.0e15;

impl Default for Camera {
    /// Shows [-1, 1]³ but for its nearest corners, a little from above and from the right.
    fn default() -> Self {
        Self {
            target: Vec3::ZERO,
            distance: Self::START_DISTANCE,
            yaw: 0.45,
            pitch: 0.3,
            fov: 40.0_f32.to_radians(),
            projection: Projection::Perspective,
        }
    }
}

impl Camera {
    /// The start camera's distance, at which sizes "in pixels" are meant.
    pub const START_DISTANCE: f32 = 4.3;

    /// Looks straight at the x-y plane, as at a picture.
    pub fn front() -> Self {
        Self { yaw: 0.0, pitch: 0.0, ..Self::default() }
    }

    /// Looks the same way, and as near as all of a box is within the picture, with a margin, and in its middle.
    /// `aspect` is width / height.
    #[must_use]
    pub fn fitted(self, bounds: Bounds, aspect: f32) -> Self {
        let [right, up, back] = self.axes();
        let upwards = self.tangent(aspect) * FILLED;
        let corners = bounds.corners().map(|corner| corner - bounds.centre());
        let seen = |axis: Vec3| corners.map(|at| [at.dot(axis), at.dot(back)]);
        let (across, above) = (seen(right), seen(up));
        if self.projection == Projection::Orthographic {
            let wide = half(across) / (upwards * sane(aspect));
            let distance = wide.max(half(above) / upwards).clamp(NEAREST, FARTHEST);
            return Self { target: bounds.centre(), distance, ..self };
        }
        let far = eye_of_wedge(across, upwards * sane(aspect)).max(eye_of_wedge(above, upwards));
        let distance = far.clamp(NEAREST, FARTHEST);
        let aside = right * middle(across, distance) + up * middle(above, distance);
        Self { target: bounds.centre() + aside, distance, ..self }
    }

    /// Turns about the target by a drag, in heights of the picture (x to the right, y downwards): the content
    /// follows the pointer; a whole height is half a turn.
    pub fn orbit(&mut self, drag: Vec2) {
        self.yaw = (self.yaw - drag.x * PI).rem_euclid(2.0 * PI);
        self.pitch = (self.pitch + drag.y * PI).clamp(-FRAC_PI_2, FRAC_PI_2);
    }

    /// Moves sideways by a drag, in heights of the picture (x to the right, y downwards): the target's plane
    /// follows the pointer. `aspect` is width / height.
    pub fn pan(&mut self, drag: Vec2, aspect: f32) {
        let height = 2.0 * self.distance * self.tangent(aspect);
        let [right, up, _] = self.axes();
        self.target += (up * drag.y - right * drag.x) * height;
    }

    /// Goes nearer by a factor: 2 halves the distance.
    pub fn zoom(&mut self, factor: f32) {
        if factor.is_finite() && factor > 0.0 {
            self.distance = (self.distance / factor).clamp(NEAREST, FARTHEST);
        }
    }

    /// As [`zoom`](Self::zoom), and what is under the pointer at the target's depth stays there. `pointer` is
    /// in [-1, 1]², y upwards.
    pub fn zoom_at(&mut self, factor: f32, pointer: Vec2, aspect: f32) {
        let before = self.at_target_depth(pointer, aspect);
        self.zoom(factor);
        self.target += before - self.at_target_depth(pointer, aspect);
    }

    /// Whether something is seen by it: one that was read from a file may have any numbers.
    pub fn is_sound(&self) -> bool {
        let angles = [self.yaw, self.pitch];
        self.target.is_finite()
            && angles.iter().all(|angle| angle.is_finite())
            && (NEAREST..=FARTHEST).contains(&self.distance)
            && self.fov > 0.0
            && self.fov < PI
    }

    /// Where the eye is.
    pub fn eye(&self) -> Vec3 {
        self.target + self.axes()[2] * self.distance
    }

    /// Where all of its rays come from, in homogeneous coordinates: with w = 0 a direction.
    pub fn origin(&self) -> Vec4 {
        match self.projection {
            Projection::Perspective => self.eye().extend(1.0),
            Projection::Orthographic => self.axes()[2].extend(0.0),
        }
    }

    /// World to clip space (OpenGL's: z in [-w, w]); w is the distance from the eye, that of the target where there is
    /// no perspective. `aspect` is width / height.
    pub fn view_projection(&self, aspect: f32) -> Mat4 {
        let [_, up, back] = self.axes();
        let view = rh::view::look_to_mat4(self.eye(), -back, up);
        let far = self.distance * 50.0 + 50.0;
        match self.projection {
            Projection::Perspective => {
                let vertical = 2.0 * self.tangent(aspect).atan();
                let near = self.distance * 0.02;
                rh::proj::opengl::perspective(vertical, sane(aspect), near, far) * view
            }
            Projection::Orthographic => {
                let above = self.distance * self.tangent(aspect);
                let aside = above * sane(aspect);
                // Nothing is behind an eye that is nowhere.
                let projection =
                    rh::proj::opengl::orthographic(-aside, aside, -above, above, -far, far);
                // Scaled by the distance as a whole, which moves nothing: that is what w is.
                projection * self.distance * view
            }
        }
    }

    /// The world's axes as they are seen: to the right, upwards, and towards the eye.
    pub fn seen_axes(&self) -> [[f32; 3]; 3] {
        let axes = self.axes();
        [0, 1, 2].map(|world| axes.map(|own| own[world]))
    }

    /// Where a point is in a picture of `size` pixels, from its top left corner; `None` behind the eye.
    pub fn project(&self, point: Vec3, size: [u32; 2]) -> Option<Vec2> {
        let [w, h] = size.map(|n| n as f32);
        let clip: Vec4 = self.view_projection(w / h) * point.extend(1.0);
        let place = Vec2::new(clip.x, -clip.y) / clip.w;
        (clip.w > 0.0).then(|| (place * 0.5 + 0.5) * Vec2::new(w, h))
    }

    /// What lies under the pointer on the plane through the target that faces the eye. `pointer` is in
    /// [-1, 1]², y upwards.
    pub fn at_target_depth(&self, pointer: Vec2, aspect: f32) -> Vec3 {
        let half = self.distance * self.tangent(aspect);
        let [right, up, _] = self.axes();
        self.target + (right * pointer.x * sane(aspect) + up * pointer.y) * half
    }

    /// Origin and direction (of length 1) of the ray under the pointer, which is in [-1, 1]², y upwards.
    pub fn ray(&self, pointer: Vec2, aspect: f32) -> (Vec3, Vec3) {
        let (eye, at) = (self.eye(), self.at_target_depth(pointer, aspect));
        match self.projection {
            Projection::Perspective => (eye, (at - eye).normalize()),
            Projection::Orthographic => (at + (eye - self.target), -self.axes()[2]),
        }
    }

    /// How many pixels a length of 1 has at the target, in a picture of `size` pixels.
    pub fn pixels_per_unit(&self, size: [u32; 2]) -> f32 {
        let [w, h] = size.map(|n| n as f32);
        h / (2.0 * self.distance * self.tangent(w / h))
    }

    /// Right, up and backwards, each of length 1.
    fn axes(&self) -> [Vec3; 3] {
        let ((sin_yaw, cos_yaw), (sin_pitch, cos_pitch)) =
            (self.yaw.sin_cos(), self.pitch.sin_cos());
        [
            Vec3::new(cos_yaw, 0.0, -sin_yaw),
            Vec3::new(-sin_pitch * sin_yaw, cos_pitch, -sin_pitch * cos_yaw),
            Vec3::new(cos_pitch * sin_yaw, sin_pitch, cos_pitch * cos_yaw),
        ]
    }

    /// Tangent of half the vertical angle of view.
    fn tangent(&self, aspect: f32) -> f32 {
        (self.fov * 0.5).tan() / sane(aspect).min(1.0)
    }
}

/// A vector as three numbers.
mod array {
    use glam::Vec3;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(vector: &Vec3, to: S) -> Result<S::Ok, S::Error> {
        vector.to_array().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec3, D::Error> {
        <[f32; 3]>::deserialize(from).map(Vec3::from)
    }
}

/// A panel may have no width or no height for a moment.
fn sane(aspect: f32) -> f32 {
    if aspect.is_finite() { aspect.clamp(1.0e-3, 1.0e3) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: Vec3, b: Vec3) -> bool {
        a.distance(b) < 1.0e-4
    }

    #[test]
    fn the_target_is_in_the_middle() {
        let mut camera = Camera { target: Vec3::new(0.3, -2.0, 5.0), ..Camera::default() };
        for drag in [[0.0, 0.0], [0.7, 0.1], [-0.2, 3.0], [9.0, -7.0]] {
            camera.orbit(Vec2::from(drag));
            let middle = camera.project(camera.target, [640, 480]).unwrap();
            assert!(middle.distance(Vec2::new(320.0, 240.0)) < 0.01, "{middle}");
            assert!((camera.eye().distance(camera.target) - camera.distance).abs() < 1.0e-4);
        }
    }

    #[test]
    fn the_front_looks_along_minus_z() {
        let camera = Camera::front();
        assert!(close(camera.eye(), Vec3::new(0.0, 0.0, camera.distance)));
        let at = |x, y| camera.project(Vec3::new(x, y, 0.0), [200, 200]).unwrap();
        assert!(at(0.5, 0.0).x > 100.0 && (at(0.5, 0.0).y - 100.0).abs() < 0.01);
        assert!(at(0.0, 0.5).y < 100.0, "y is up, so nearer to the top row");
    }

    #[test]
    fn the_start_shows_nearly_the_whole_cube() {
        for size in [[1280, 720], [720, 1280], [100, 100]] {
            let picture = Vec2::from(size.map(|n| n as f32));
            for corner in 0..8_u8 {
                let sign = |bit: u8| if corner >> bit & 1 == 0 { -0.85 } else { 0.85 };
                let corner = Vec3::new(sign(0), sign(1), sign(2));
                let at = Camera::default().project(corner, size).unwrap();
                let inside = at.cmpge(Vec2::ZERO).all() && at.cmple(picture).all();
                assert!(inside, "{corner} at {at} of {size:?}");
            }
        }
    }

    /// How much of the picture's half a box takes, across and upwards, at each end.
    fn taken(camera: &Camera, bounds: &Bounds, size: [u32; 2]) -> [[f32; 2]; 2] {
        let half = Vec2::from(size.map(|n| n as f32 / 2.0));
        let at = bounds.corners().map(|corner| camera.project(corner, size).unwrap() / half - 1.0);
        let most = |of: fn(Vec2) -> f32| at.into_iter().map(of).fold(f32::MIN, f32::max);
        [[most(|at| -at.x), most(|at| at.x)], [most(|at| -at.y), most(|at| at.y)]]
    }

    #[test]
    fn a_fitted_box_is_in_the_picture_and_touches_its_margins() {
        let boxes = [
            ([-1.0; 3], [1.0; 3]),
            ([275.0, -65.0, -18.0], [325.0, -15.0, 32.0]),
            ([-1.0, -0.1, -0.6], [1.0, 0.2, 0.6]),
            ([0.0; 3], [0.0, 3.0e-4, 0.0]),
        ];
        let turned = Camera { yaw: -0.9, pitch: 0.7, fov: 0.9, ..Camera::default() };
        let overhead = Camera { pitch: FRAC_PI_2, ..Camera::default() };
        for (low, high) in boxes {
            let bounds = Bounds { low: low.into(), high: high.into() };
            for size in [[1280, 720], [720, 1280], [300, 300], [1600, 200]] {
                let parallel = |of| Camera { projection: Projection::Orthographic, ..of };
                let all = [Camera::default(), Camera::front(), turned, overhead];
                for camera in all.into_iter().chain(all.map(parallel)) {
                    let fitted = camera.fitted(bounds, size[0] as f32 / size[1] as f32);
                    let looks = |of: Camera| (of.yaw, of.pitch, of.fov, of.projection);
                    assert_eq!(looks(fitted), looks(camera));
                    if (bounds.high - bounds.low).dot(camera.axes()[2]).abs() > bounds.half() * 1.99
                    {
                        continue; // A line that points at the eye is a point.
                    }
                    let taken = taken(&fitted, &bounds, size);
                    let ends = taken.map(|[a, b]| a.max(b));
                    let most = ends[0].max(ends[1]);
                    assert!((most - FILLED).abs() < 2.0e-3, "{taken:?} of {size:?} by {fitted:?}");
                    let is_in_the_middle = taken.iter().all(|[a, b]| (a - b).abs() < 4.0e-3);
                    assert!(is_in_the_middle, "{taken:?} of {size:?} by {fitted:?}");
                }
            }
        }
    }

    #[test]
    fn without_perspective_a_length_is_as_long_at_any_depth_as_it_was_at_the_target() {
        let seen = |camera: &Camera, depth: f32| {
            let back = camera.axes()[2] * depth;
            let [a, b] = [Vec3::ZERO, camera.axes()[0] * 0.2]
                .map(|at| camera.project(camera.target + at + back, [640, 480]).unwrap());
            b.x - a.x
        };
        let near = Camera { target: Vec3::new(3.0, -1.0, 0.5), yaw: 2.0, ..Camera::default() };
        let parallel = Camera { projection: Projection::Orthographic, ..near };
        let length = seen(&near, 0.0);
        for depth in [-100.0, -1.0, 0.0, 3.0, 50.0] {
            assert!((seen(&parallel, depth) - length).abs() < 0.05, "{depth}");
            // Sizes of points go by it.
            let place = parallel.view_projection(1.5) * (parallel.target + depth).extend(1.0);
            assert!((place.w - parallel.distance).abs() < 1.0e-3);
        }
        let (pointer, size) = (Vec2::new(-0.5, 0.25), [500, 400]);
        let (origin, direction) = parallel.ray(pointer, 1.25);
        for along in [0.0, 9.0] {
            let pixel = parallel.project(origin + direction * along, size).unwrap();
            assert!(pixel.distance(Vec2::new(125.0, 150.0)) < 0.05, "{pixel}");
        }
    }

    #[test]
    fn what_has_no_size_is_seen_from_somewhere() {
        for at in [0.0, 7.0] {
            let bounds = Bounds { low: Vec3::splat(at), high: Vec3::splat(at) };
            assert!(Camera::default().fitted(bounds, 1.0).is_sound());
        }
    }

    #[test]
    fn pitch_stops_overhead_and_the_view_stays_finite() {
        let mut camera = Camera::default();
        camera.orbit(Vec2::new(0.0, 100.0));
        assert!((camera.pitch - FRAC_PI_2).abs() < 1.0e-6);
        assert!(camera.view_projection(1.0).is_finite());
        camera.orbit(Vec2::new(0.0, -100.0));
        assert!((camera.pitch + FRAC_PI_2).abs() < 1.0e-6);
        for aspect in [0.0, f32::NAN, f32::INFINITY] {
            assert!(camera.view_projection(aspect).is_finite(), "{aspect}");
        }
    }

    #[test]
    fn panning_follows_the_pointer() {
        let mut camera = Camera::default();
        let aspect = 1.6;
        let grabbed = camera.at_target_depth(Vec2::new(0.2, -0.4), aspect);
        // A quarter of the height to the right and down: half a unit of [-1, 1] in y.
        camera.pan(Vec2::new(0.25, 0.25), aspect);
        let under = camera.at_target_depth(Vec2::new(0.2 + 0.5 / aspect, -0.9), aspect);
        assert!(close(grabbed, under), "{grabbed} {under}");
    }

    #[test]
    fn zooming_keeps_what_is_under_the_pointer() {
        let mut camera = Camera::default();
        let pointer = Vec2::new(0.6, 0.3);
        let before = camera.at_target_depth(pointer, 1.5);
        camera.zoom_at(3.0, pointer, 1.5);
        assert!((camera.distance - Camera::START_DISTANCE / 3.0).abs() < 1.0e-5);
        assert!(close(before, camera.at_target_depth(pointer, 1.5)));
        for factor in [0.0, f32::NAN, -1.0, f32::INFINITY] {
            camera.zoom(factor);
        }
        camera.zoom(1.0e30);
        assert!(camera.distance >= NEAREST && camera.view_projection(1.0).is_finite());
    }

    #[test]
    fn rays_go_through_what_they_point_at() {
        let camera = Camera::default();
        let pointer = Vec2::new(-0.5, 0.25);
        let (eye, direction) = camera.ray(pointer, 1.25);
        let pixel = camera.project(eye + direction * 3.0, [500, 400]).unwrap();
        assert!(pixel.distance(Vec2::new(125.0, 150.0)) < 0.05, "{pixel}");
    }

    #[test]
    fn a_unit_has_as_many_pixels_as_it_says() {
        let camera = Camera::front();
        for size in [[800, 400], [400, 800]] {
            let [a, b] = [0.0, 0.1].map(|x| camera.project(Vec3::new(x, 0.0, 0.0), size).unwrap());
            assert!(((b.x - a.x) / 0.1 - camera.pixels_per_unit(size)).abs() < 0.1);
        }
    }
}
