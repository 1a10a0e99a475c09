//! What shows where things are: behind what has depth, over an image; and pictures without perspective.

use glam::Vec3;
use warpaint::{
    draw::{
        Blend, Bounds, Camera, Cloud, Content, Frame, Guides, Image, Projection, Surface, View,
        Volume,
    },
    gl::{Buffer, Format, Size, Texture},
};

use super::{BLACK, Pixels, frame};
use crate::gl::context;

const SIZE: [u32; 2] = [240, 240];
const CUBE: Bounds = Bounds { low: Vec3::NEG_ONE, high: Vec3::ONE };

fn parallel(camera: Camera) -> Camera {
    Camera { projection: Projection::Orthographic, ..camera }
}

/// The pixels in which two pictures differ, by more than dither does.
fn different(a: &Pixels, b: &Pixels) -> Vec<[u32; 2]> {
    let [w, h] = a.size;
    let apart = |x, y| a.at(x, y).iter().zip(b.at(x, y)).any(|(a, b)| a.abs_diff(b) > 3);
    (0..h).flat_map(|y| (0..w).map(move |x| [x, y])).filter(|&[x, y]| apart(x, y)).collect()
}

#[test]
fn a_grid_is_seen_beside_what_is_drawn_and_not_through_it() {
    let Some(context) = context() else { return };
    let mut view = View::new(context.gl(), SIZE).unwrap();
    let camera = Camera::default();
    let middle = Buffer::with_data(context.gl(), &[[0.0_f32, 0.0, 0.0, 1.0]]).unwrap();
    // A ball that covers the picture's middle.
    let cloud = Cloud { blend: Blend::Opaque, size_px: 240.0, ..Cloud::new(&middle, 1) };
    let plain = frame(&camera, cloud);
    let guided = Frame { guides: Some(Guides::Grid(CUBE)), ..plain };
    let without = Pixels::draw(&mut view, &plain, "ball");
    let with = Pixels::draw(&mut view, &guided, "ball-in-a-grid");
    let found = different(&without, &with);
    let from_middle = |[x, y]: [u32; 2]| (x as f32 - 120.0).hypot(y as f32 - 120.0);
    assert!(found.len() > 500, "lines are seen: {} pixels", found.len());
    let within: Vec<_> = found.iter().filter(|at| from_middle(**at) < 30.0).collect();
    assert!(within.is_empty(), "through the ball: {within:?}");
    // Without the ball there are lines in the middle.
    let nothing =
        |guides| Frame { guides, background: BLACK, ..Frame::new(&camera, Content::Nothing) };
    let without = Pixels::draw(&mut view, &nothing(None), "nothing");
    let with = Pixels::draw(&mut view, &nothing(Some(Guides::Grid(CUBE))), "grid");
    let found = different(&without, &with);
    assert!(found.iter().any(|at| from_middle(*at) < 30.0));
    // The next picture is without it again.
    let again = Pixels::draw(&mut view, &nothing(None), "nothing");
    assert!(different(&without, &again).is_empty());
}

#[test]
fn rulers_lie_along_an_image() {
    let Some(context) = context() else { return };
    let mut view = View::new(context.gl(), SIZE).unwrap();
    let texture = Texture::new(context.gl(), Format::Rgba8, Size::Flat([2, 2])).unwrap();
    texture.write(&[200; 16]).unwrap();
    let camera = Camera::default();
    let plain = Frame::new(&camera, Content::Image(Image::new(&texture)));
    let guided = Frame { guides: Some(Guides::Rulers([2, 2])), ..plain };
    let [without, with] = [plain, guided].map(|frame| Pixels::draw(&mut view, &frame, "rulers"));
    let found = different(&without, &with);
    assert!(found.len() > 500, "{}", found.len());
    let beside: Vec<_> = found.iter().filter(|[x, y]| *x > 42 && *y > 22).collect();
    assert!(beside.is_empty(), "the image is as it was: {beside:?}");
}

#[test]
fn without_perspective_points_are_where_the_camera_says() {
    let Some(context) = context() else { return };
    let mut view = View::new(context.gl(), SIZE).unwrap();
    let camera = parallel(Camera { yaw: 0.7, pitch: 0.4, ..Camera::default() });
    for at in [[0.6_f32, 0.5, -0.9], [-0.3, -0.4, 0.9]] {
        let buffer = Buffer::with_data(context.gl(), &[[at[0], at[1], at[2], 1.0]]).unwrap();
        let cloud = Cloud { size_px: 30.0, ..Cloud::new(&buffer, 1) };
        let found = Pixels::draw(&mut view, &frame(&camera, cloud), "parallel-point").centre();
        let expected = camera.project(Vec3::from(at), SIZE).unwrap();
        let off = (found[0] - f64::from(expected.x)).hypot(found[1] - f64::from(expected.y));
        assert!(off < 0.6, "found {found:?}, expected {expected}");
    }
}

/// How wide what is lit in the middle row is, in pixels.
fn width(pixels: &Pixels) -> usize {
    let lit = |x: &u32| pixels.at(*x, SIZE[1] / 2).into_iter().map(u32::from).sum::<u32>() > 300;
    (0..SIZE[0]).filter(lit).count()
}

#[test]
fn without_perspective_a_box_is_as_wide_in_front_as_at_its_middle() {
    let Some(context) = context() else { return };
    let mut view = View::new(context.gl(), SIZE).unwrap();
    let texture = Texture::new(context.gl(), Format::R32f, Size::Solid([4, 4, 4])).unwrap();
    texture.write(bytemuck::cast_slice(&[1.0_f32; 64])).unwrap();
    let dense = Volume { density: 500.0, ..Volume::new(&texture) };
    let near = Camera::front();
    let mut shown = |camera: &Camera, name| {
        let content = Content::Volume(dense);
        let frame = Frame { background: BLACK, ..Frame::new(camera, content) };
        width(&Pixels::draw(&mut view, &frame, name))
    };
    let half = near.pixels_per_unit(SIZE);
    let of = |distance: f32| 2.0 * half * near.distance / distance;
    let perspective = shown(&near, "box") as f32;
    // The front is nearer by 1 than the middle. An edge's pixel may be lit or not.
    assert!((perspective - of(near.distance - 1.0)).abs() < 3.0, "{perspective}");
    for distance in [near.distance, 0.5 * near.distance] {
        let found = shown(&parallel(Camera { distance, ..near }), "parallel-box") as f32;
        let expected = of(distance).min(SIZE[0] as f32);
        assert!((found - expected).abs() < 3.0, "{found} of {expected}");
    }
}

#[test]
fn a_surface_is_lit_without_perspective_as_from_far_away() {
    let Some(context) = context() else { return };
    let mut view = View::new(context.gl(), SIZE).unwrap();
    let texture = Texture::new(context.gl(), Format::R32f, Size::Flat([32, 32])).unwrap();
    let heights: Vec<f32> = (0..1024).map(|i| 0.1 * ((i % 32) as f32 * 0.4).sin()).collect();
    texture.write(bytemuck::cast_slice(&heights)).unwrap();
    let surface = Surface::new(&texture);
    let camera = parallel(Camera { pitch: 0.8, ..Camera::default() });
    // So far away perspective is not to be seen.
    let distance = 400.0_f32;
    let fov = 2.0 * ((camera.fov / 2.0).tan() * camera.distance / distance).atan();
    let far = Camera { distance, fov, projection: Projection::Perspective, ..camera };
    let [own, expected] = [camera, far].map(|camera| {
        let frame = Frame { background: BLACK, ..Frame::new(&camera, Content::Surface(surface)) };
        Pixels::draw(&mut view, &frame, "parallel-surface")
    });
    assert!(own.mean() > 5.0, "it is seen");
    // Along borders pixels may be on either side.
    let share = different(&own, &expected).len() as f32 / (SIZE[0] * SIZE[1]) as f32;
    assert!(share < 0.02, "{share} of the pixels differ");
}
