//! Elements that views draw: which one is where in a picture, and what it holds.

use std::time::Instant;

use glam::{Vec2, Vec3};
use warpaint::{
    device::Device,
    draw::{Camera, Colormap, Recoloring, Spot},
    scene::ViewId,
    session::{ElementRead, Picked, Session},
};

use super::open_with_gl;
use crate::screen::PATIENCE;

/// Points on a line along x, whose fields lie in two arrays; a field that is drawn as an image, as a surface and as a
/// volume, where one texel is thick.
const SCENE: &str = r#"/*---
[array.x]
type = "float"
count = 21
[buffer.body]
type = "Body"
count = 21
[texture.field]
format = "r32f"
size = [8, 4]
[texture.smoke]
format = "r32f"
size = [6, 5, 4]
[array.flat]
type = "float"
count = 32
[[pass]]
kernel = "fill"
over = [6, 5, 4]
[[view]]
name = "points"
kind = "points"
position = ["x", "body.y"]
size = 9.0
[[view]]
name = "image"
kind = "image"
texture = "field"
[[view]]
name = "surface"
kind = "surface"
texture = "flat"
size = [8, 4]
height = 0.01
[[view]]
name = "volume"
kind = "volume"
texture = "smoke"
---*/
struct Body { int id; double y; };
__global__ void fill(float *x, Body *body, cudaSurfaceObject_t field, cudaSurfaceObject_t smoke, float *flat, int step) {
    int i = threadIdx.x + blockIdx.x * blockDim.x, j = threadIdx.y + blockIdx.y * blockDim.y;
    int k = threadIdx.z + blockIdx.z * blockDim.z;
    if (i >= 6 || j >= 5 || k >= 4) return;
    int at = i + 6 * (j + 5 * k);
    if (at < 21) {
        x[at] = -1.0f + 0.1f * at;
        body[at] = {100 * at + step, 0.05 * step};
    }
    if (at < 32) {
        surf2Dwrite(at + 0.5f * step, field, at % 8 * 4, at / 8);
        flat[at] = at;
    }
    surf3Dwrite(i == 2 && j == 3 && k == 1 ? 9.0f : 0.001f, smoke, i * 4, j, k);
}
"#;

const SIZE: [u32; 2] = [640, 480];
const POINTS: ViewId = ViewId(0);
const IMAGE: ViewId = ViewId(1);
const SURFACE: ViewId = ViewId(2);
const VOLUME: ViewId = ViewId(3);

fn opened() -> Option<Session> {
    // The session keeps the context alive.
    let (context, mut session) = open_with_gl(&Device::cpu().unwrap(), "pick.cu", SCENE)?;
    std::mem::forget(context);
    session.run_steps(1, |_| {}).unwrap();
    Some(session)
}

/// Where a point is in the picture.
fn spot(camera: Camera, point: Vec3) -> Spot {
    let place = camera.project(point, SIZE).expect("before the eye");
    let at = Vec2::new(place.x / SIZE[0] as f32 * 2.0 - 1.0, 1.0 - place.y / SIZE[1] as f32 * 2.0);
    Spot { camera, size: SIZE, at }
}

fn picked(session: &mut Session, view: ViewId, spot: Spot) -> Option<Picked> {
    let found = session.start_picking(view, spot).unwrap().expect("nothing is under way");
    found.wait().unwrap().map(|(picked, _)| picked)
}

#[track_caller]
fn read(session: &mut Session, picked: &Picked) -> (u64, Vec<(String, Vec<u8>)>) {
    let read = session.start_reading_element(picked).unwrap().expect("nothing is under way");
    let (start, step) = (Instant::now(), read.step);
    let here = ElementRead::is_here;
    while !here(&read).unwrap() {
        assert!(start.elapsed() < PATIENCE, "it does not come");
    }
    (step, read.wait().unwrap())
}

fn number(bytes: &[u8]) -> f32 {
    bytemuck::pod_read_unaligned(bytes)
}

#[test]
fn a_point_is_found_and_read_with_all_that_has_as_many_elements() {
    let Some(mut session) = opened() else { return };
    let camera = Camera::default();
    let seventh = Picked { resource: "x".into(), index: 7, size: [21, 1, 1] };
    let place = Vec3::new(-0.3, 0.0, 0.0);
    assert!(session.can_be_picked(POINTS) && !session.can_be_picked(IMAGE));
    assert_eq!(picked(&mut session, POINTS, spot(camera, place)), Some(seventh.clone()));
    assert_eq!(picked(&mut session, POINTS, spot(camera, Vec3::new(0.0, 0.7, 0.0))), None);
    for step in 1..4 {
        let (after, all) = read(&mut session, &seventh);
        let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((after, names), (step, vec!["x", "body"]));
        // Product and sum may be rounded as one.
        assert!((number(&all[0].1) + 0.3).abs() < 1.0e-6);
        // The kernels of the first step see 0.
        let id: i32 = bytemuck::pod_read_unaligned(&all[1].1[..4]);
        assert_eq!(id, 700 + step as i32 - 1);
        let at = session.place_of(POINTS, &seventh, &all).unwrap();
        let y = 0.05 * (step - 1) as f32;
        assert!(at.distance(Vec3::new(-0.3, y, 0.0)) < 1.0e-6, "{at}");
        session.run_steps(1, |_| {}).unwrap();
    }
    let beyond = Picked { index: 21, ..seventh.clone() };
    assert!(session.start_reading_element(&beyond).unwrap().is_none());
    let other = Picked { resource: "gone".into(), ..seventh };
    assert!(session.start_reading_element(&other).unwrap().is_none());
}

#[test]
fn a_texel_of_an_image_is_its_element() {
    let Some(mut session) = opened() else { return };
    let texel = session.texel_element(IMAGE, [5, 2]).unwrap();
    assert_eq!(texel, Picked { resource: "field".into(), index: 21, size: [8, 4, 1] });
    assert_eq!(texel.place(), Some([5, 2, 0]));
    assert_eq!(session.texel_element(IMAGE, [8, 0]), None);
    let (_, all) = read(&mut session, &texel);
    // An array of as many elements is read with it.
    let values: Vec<(&str, f32)> = all.iter().map(|(of, bytes)| (&**of, number(bytes))).collect();
    assert_eq!(values, [("field", 21.0), ("flat", 21.0)]);
    let at = session.place_of(IMAGE, &texel, &all).unwrap();
    assert!(at.distance(Vec3::new(5.5 / 8.0, 2.5 / 4.0, 0.0)) < 1.0e-6, "{at}");
    assert_eq!(session.place_of(VOLUME, &texel, &all), None, "that draws another resource");
}

#[test]
fn texels_with_depth_are_found_where_they_are_drawn() {
    let Some(mut session) = opened() else { return };
    let camera = Camera { pitch: 0.8, ..Camera::default() };
    for (view, texel) in [
        (SURFACE, Picked { resource: "flat".into(), index: 21, size: [8, 4, 1] }),
        (SURFACE, Picked { resource: "flat".into(), index: 0, size: [8, 4, 1] }),
        (VOLUME, Picked { resource: "smoke".into(), index: 2 + 6 * (3 + 5), size: [6, 5, 4] }),
    ] {
        let (_, all) = read(&mut session, &texel);
        let place = session.place_of(view, &texel, &all).unwrap();
        assert_eq!(picked(&mut session, view, spot(camera, place)), Some(texel));
    }
}

#[test]
fn the_values_that_a_view_colours_are_counted() {
    let Some(mut session) = opened() else { return };
    let spread = |session: &mut Session, view, logarithmic| {
        session.start_spread(view, logarithmic).unwrap().map(|coming| coming.wait().unwrap())
    };
    let of = spread(&mut session, IMAGE, false).expect("colours stand for values");
    assert_eq!((of.range, of.bars.iter().sum::<u64>()), ([0.0, 31.0], 32));
    // 0 has no logarithm.
    let of = spread(&mut session, IMAGE, true).expect("colours stand for values");
    assert_eq!((of.range, of.bars.iter().sum::<u64>()), ([1.0, 31.0], 31));
    assert_eq!(spread(&mut session, POINTS, false), None, "they have one colour");
    let chosen = |range| Recoloring { range, ..Recoloring::default() };
    assert!(session.declares(IMAGE, &chosen(None)));
    assert!(!session.declares(IMAGE, &chosen(Some([0.0, 31.0]))), "it says nothing of it");
    let map = Recoloring { colormap: Some(Colormap::Inferno), ..Recoloring::default() };
    assert!(session.declares(IMAGE, &map), "that of a view which names none");
}
