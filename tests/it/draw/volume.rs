//! Volumes: what of the light behind comes through, and what is in front.

use warpaint::{
    draw::{Background, Camera, Coloring, Colormap, Content, Frame, Paint, View, Volume},
    gl::{CurrentContext, Format, Size, Texture},
};

use super::{BLACK, Pixels};
use crate::gl::context;

const SIZE: [u32; 2] = [80, 80];

fn volume(context: &CurrentContext, size: [u32; 3], texel: impl Fn([f32; 3]) -> f32) -> Texture {
    let texture = Texture::new(context.gl(), Format::R32f, Size::Solid(size)).unwrap();
    let count = size.iter().product::<u32>();
    let at = |i: u32| [i % size[0], i / size[0] % size[1], i / size[0] / size[1]];
    let place = |i: u32| {
        let at = at(i);
        [0, 1, 2].map(|axis| (at[axis] as f32 + 0.5) / size[axis] as f32)
    };
    let values: Vec<f32> = (0..count).map(|i| texel(place(i))).collect();
    texture.write(bytemuck::cast_slice(&values)).unwrap();
    texture
}

fn show(
    context: &CurrentContext,
    camera: &Camera,
    of: Volume<'_>,
    change: Change,
    name: &str,
) -> Pixels {
    let mut view = View::new(context.gl(), SIZE).unwrap();
    let Change { detail, background } = change;
    let frame = Frame { detail, background, ..Frame::new(camera, Content::Volume(of)) };
    Pixels::draw(&mut view, &frame, &format!("volume-{name}"))
}

#[derive(Clone, Copy)]
struct Change {
    detail: f32,
    background: Background,
}

const USUAL: Change = Change { detail: 1.0, background: BLACK };
const BRIGHT: Change =
    Change { detail: 1.0, background: Background { middle: [0.5; 3], rim: [0.5; 3] } };

fn linear(srgb: u8) -> f64 {
    let c = f64::from(srgb) / 255.0;
    if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

/// Black, whatever the value.
fn black() -> Coloring {
    Coloring {
        paint: Paint::Component(0),
        colormap: Colormap::Gray,
        range: [1.0e3, 1.0e4],
        ..Coloring::default()
    }
}

#[test]
fn what_comes_through_is_as_beer_and_lambert_say() {
    let Some(context) = context() else { return };
    let camera = Camera::front();
    for (size, depth) in [([16, 16, 16], 2.0), ([32, 16, 8], 0.5), ([9, 5, 3], 2.0 / 3.0)] {
        for (value, density) in [(1.0, 0.5), (0.25, 4.0), (2.0, 1.0), (0.5, 6.0)] {
            let texture = volume(&context, size, |_| value);
            let of = Volume { coloring: black(), density, ..Volume::new(&texture) };
            for detail in [1.0, 0.4] {
                let change = Change { detail, ..BRIGHT };
                let found = linear(show(&context, &camera, of, change, "through").at(40, 40)[1]);
                let expected = 0.5 * (-f64::from(value * density) * depth / 2.0).exp();
                // Steps of 8 bits, which are 0.0065 wide where they are widest, and half floats.
                assert!(
                    (found - expected).abs() < 0.009,
                    "{value} x {density}, {depth} deep, detail {detail}: {found}, {expected}"
                );
            }
        }
    }
}

#[test]
fn a_dense_cloud_has_the_colour_of_its_value() {
    let Some(context) = context() else { return };
    let texture = volume(&context, [8, 8, 8], |_| 0.4);
    let coloring = Coloring { colormap: Colormap::Viridis, range: [0.0, 1.0], ..black() };
    let of = Volume { coloring, density: 500.0, ..Volume::new(&texture) };
    let found = show(&context, &Camera::front(), of, USUAL, "dense").at(40, 40);
    let expected = Colormap::Viridis.srgb8(0.4);
    let off = found.iter().zip(expected).map(|(a, b)| a.abs_diff(b)).max();
    assert!(off <= Some(4), "{found:?}, expected {expected:?}");
}

#[test]
fn what_is_in_front_hides_what_is_behind() {
    let Some(context) = context() else { return };
    let size = [8, 8, 8];
    let texture = Texture::new(context.gl(), Format::Rgba8, Size::Solid(size)).unwrap();
    let slice = |z: usize| if z < 4 { [0, 200, 0, 255] } else { [200, 0, 0, 255] };
    let texels: Vec<[u8; 4]> = (0..8).flat_map(|z| [slice(z); 64]).collect();
    texture.write(texels.as_flattened()).unwrap();
    let coloring = Coloring { paint: Paint::Rgba, ..Coloring::default() };
    let of = Volume { coloring, density: 60.0, ..Volume::new(&texture) };
    for (turns, front) in [(0.0, 0), (1.0, 1)] {
        let camera = Camera { yaw: turns * std::f32::consts::PI, ..Camera::front() };
        let found = show(&context, &camera, of, USUAL, "front").at(40, 40);
        assert!(found[front] > 150 && found[1 - front] < 40, "{turns}: {found:?}");
    }
}

#[test]
fn a_blob_is_where_it_should_be() {
    let Some(context) = context() else { return };
    let camera = Camera::default();
    let centre = [0.75_f32, 0.6, 0.7];
    let blob = |at: [f32; 3]| {
        let square: f32 = (0..3).map(|axis| (at[axis] - centre[axis]).powi(2)).sum();
        if square < 0.01 { 1.0 } else { 0.0 }
    };
    let texture = volume(&context, [32, 32, 32], blob);
    let coloring = Coloring { colormap: Colormap::Gray, range: [0.0, 1.0], ..black() };
    let of = Volume { coloring, density: 40.0, ..Volume::new(&texture) };
    let pixels = show(&context, &camera, of, USUAL, "blob");
    let expected = camera.project(glam::Vec3::from(centre) * 2.0 - 1.0, SIZE).unwrap();
    let found = pixels.centre_of(330.0);
    let off = (found[0] - f64::from(expected.x)).hypot(found[1] - f64::from(expected.y));
    assert!(off < 1.0, "{found:?}, expected {expected:?}");
}

#[test]
fn values_below_zero_hide_nothing_and_no_numbers_are_seen() {
    let Some(context) = context() else { return };
    let of = |value| {
        let texture = volume(&context, [4, 4, 4], |_| value);
        let of = Volume { coloring: black(), density: 9.0, ..Volume::new(&texture) };
        show(&context, &Camera::front(), of, USUAL, "odd").at(40, 40)
    };
    assert!(of(-3.0).iter().all(|&c| c < 4));
    let [r, g, b] = of(f32::NAN);
    assert!(r > 180 && b > 180 && g < 60, "{:?}", [r, g, b]);
}

#[test]
fn inside_the_box_it_is_seen_too() {
    let Some(context) = context() else { return };
    let camera = Camera { distance: 0.01, ..Camera::front() };
    let texture = volume(&context, [16, 16, 16], |_| 1.0);
    let of = Volume { coloring: black(), density: 1.0, ..Volume::new(&texture) };
    let found = linear(show(&context, &camera, of, BRIGHT, "inside").at(40, 40)[1]);
    let expected = 0.5 * (-0.5_f64).exp();
    assert!((found - expected).abs() < 0.01, "{found}, expected {expected}");
}
