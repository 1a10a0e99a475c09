//! The camera: it orbits a target.

use std::f32::consts::{FRAC_PI_2, PI};

use glam::{Mat4, Vec2, Vec3, Vec4, camera::rh};
use serde::{Deserialize, Serialize};

/// A perspective camera that looks at a target from a distance. Right-handed; y is up; at yaw and pitch 0 it
/// looks along -z, with x to the right.
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
}

/// Limits of the distance.
const NEAREST: f32 = 1.0e-6;
const FARTHEST: f32 = 1.0e9;

impl Default for Camera {
    /// Shows [-1, 1]³ but for its nearest corners, a little from above and from the right.
    fn default() -> Self {
        Self {
            target: Vec3::ZERO,
            distance: Self::START_DISTANCE,
            yaw: 0.45,
            pitch: 0.3,
            fov: 40.0_f32.to_radians(),
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

    /// Sees a cube with this centre and half of this edge as the start camera sees [-1, 1]³.
    pub fn around(centre: Vec3, half: f32) -> Self {
        Self { target: centre, distance: Self::START_DISTANCE * half, ..Self::default() }
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

    /// World to clip space (OpenGL's: z in [-w, w]). `aspect` is width / height.
    pub fn view_projection(&self, aspect: f32) -> Mat4 {
        let [_, up, back] = self.axes();
        let (near, far) = (self.distance * 0.02, self.distance * 50.0 + 50.0);
        let vertical = 2.0 * self.tangent(aspect).atan();
        rh::proj::opengl::perspective(vertical, sane(aspect), near, far)
            * rh::view::look_to_mat4(self.eye(), -back, up)
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
        let eye = self.eye();
        (eye, (self.at_target_depth(pointer, aspect) - eye).normalize())
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

    #[test]
    fn a_cube_anywhere_is_seen_as_the_one_around_the_origin() {
        let (centre, half, size) = (Vec3::new(300.0, -40.0, 7.0), 25.0, [640, 480]);
        let there = Camera::around(centre, half);
        for corner in [Vec3::ONE, Vec3::new(-0.5, 0.8, 0.1)] {
            let usual = Camera::default().project(corner, size).unwrap();
            let at = there.project(centre + corner * half, size).unwrap();
            assert!(at.distance(usual) < 0.05, "{at} {usual}");
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
