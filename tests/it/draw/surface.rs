//! Surfaces: where they are, how they are lit, what they hide.

use glam::{DVec3, Vec3};
use warpaint::{
    draw::{Camera, Coloring, Colormap, Content, Frame, Paint, Surface, View},
    gl::{CurrentContext, Format, Size, Texture},
};

use super::{BLACK, Pixels};
use crate::gl::context;

const SIZE: [u32; 2] = [160, 120];

fn field(context: &CurrentContext, size: [u32; 2], height: impl Fn(f32, f32) -> f32) -> Texture {
    let texture = Texture::new(context.gl(), Format::R32f, Size::Flat(size)).unwrap();
    let [w, h] = size;
    let part = |i: u32, n: u32| (i as f32 + 0.5) / n as f32;
    let texels = (0..h).flat_map(|y| (0..w).map(move |x| (x, y)));
    let values: Vec<f32> = texels.map(|(x, y)| height(part(x, w), part(y, h))).collect();
    texture.write(bytemuck::cast_slice(&values)).unwrap();
    texture
}

fn show(
    context: &CurrentContext,
    camera: &Camera,
    detail: f32,
    of: Surface<'_>,
    name: &str,
) -> Pixels {
    let mut view = View::new(context.gl(), SIZE).unwrap();
    let content = Content::Surface(of);
    let frame = Frame { detail, background: BLACK, ..Frame::new(camera, content) };
    Pixels::draw(&mut view, &frame, &format!("surface-{name}"))
}

fn gray(value: f32) -> Coloring {
    // Every height is this share of the range.
    let range = [-1.0e6 * value, 1.0e6 * (1.0 - value)];
    Coloring { paint: Paint::Component(0), colormap: Colormap::Gray, range, ..Coloring::default() }
}

fn above() -> Camera {
    Camera { pitch: 0.8, ..Camera::default() }
}

/// The light that `shaders/surface.frag` describes, in f64, on a surface of this normal.
fn lit(base: f64, normal: DVec3, to_eye: DVec3) -> DVec3 {
    let sun = DVec3::new(-0.64, 0.60, -0.48);
    let sunlight = DVec3::new(1.0, 0.93, 0.82) * 1.3;
    let (sky, ground) = (DVec3::new(0.24, 0.30, 0.40), DVec3::new(0.10, 0.095, 0.09));
    let ambient = ground.lerp(sky, normal.y * 0.5 + 0.5);
    let facing = normal.dot((sun + to_eye).normalize()).max(0.0);
    let fresnel = 0.03 + 0.7 * (1.0 - normal.dot(to_eye).max(0.0)).powi(5);
    let mirrored = 2.0 * normal.dot(to_eye) * normal - to_eye;
    let shine =
        if normal.dot(sun) >= 0.0 { 0.35 * facing.powi(96) + 0.04 * facing.powi(12) } else { 0.0 };
    base * (ambient + sunlight * normal.dot(sun).max(0.0))
        + sunlight * shine
        + sky * fresnel * (0.5 + 0.5 * mirrored.y)
}

fn srgb(linear: f64) -> f64 {
    255.0
        * if linear <= 0.003_130_8 {
            12.92 * linear
        } else {
            1.055 * linear.powf(1.0 / 2.4) - 0.055
        }
}

#[test]
fn a_plane_is_lit_as_its_slope_says() {
    let Some(context) = context() else { return };
    let camera = above();
    for (along, away) in [(0.0, 0.0), (0.4, 0.0), (-0.4, 0.0), (0.0, 0.6), (0.0, -0.3), (0.3, 0.2)]
    {
        // Slopes in the world, where the field is 2 wide; 0 in the middle.
        let plane = |x: f32, y: f32| 2.0 * (along * (x - 0.5) + away * (y - 0.5));
        let texture = field(&context, [32, 32], plane);
        let surface = Surface { coloring: gray(0.4), ..Surface::new(&texture) };
        let pixels = show(&context, &camera, 1.0, surface, &format!("plane{along}{away}"));
        let found = pixels.at(SIZE[0] / 2, SIZE[1] / 2);
        // Rows go away from the eye, to -z.
        let normal = DVec3::new(-f64::from(along), 1.0, f64::from(away)).normalize();
        let to_eye = camera.eye().as_dvec3().normalize();
        let base = ((0.4 + 0.055) / 1.055_f64).powf(2.4);
        let expected = lit(base, normal, to_eye).to_array().map(srgb);
        let off = found.iter().zip(expected).map(|(a, b)| (f64::from(*a) - b).abs());
        let off = off.fold(0.0, f64::max);
        // Approximate curves to and from sRGB, half floats, dither.
        assert!(off < 3.0, "slopes {along} {away}: {found:?}, expected {expected:?}");
    }
}

#[test]
fn a_field_lies_where_it_should() {
    let Some(context) = context() else { return };
    let camera = above();
    // Twice as wide as deep: from -1 to 1, and from -0.5 to 0.5.
    let texture = field(&context, [64, 32], |_, _| 0.25);
    let surface = Surface { coloring: gray(0.9), height: 2.0, ..Surface::new(&texture) };
    let pixels = show(&context, &camera, 1.0, surface, "place");
    let lit = |x: f32, z: f32| {
        let at = camera.project(Vec3::new(x, 0.5, z), SIZE).unwrap();
        pixels.at(at.x as u32, at.y as u32)[0] > 60
    };
    for (x, z) in [(0.0, 0.0), (0.94, 0.0), (-0.94, 0.0), (0.0, 0.44), (0.9, -0.44)] {
        assert!(lit(x, z), "{x} {z} is on the field");
    }
    for (x, z) in [(1.06, 0.0), (-1.06, 0.3), (0.0, 0.56), (0.5, -0.58)] {
        assert!(!lit(x, z), "{x} {z} is beside the field");
    }
}

#[test]
fn the_first_row_is_in_front_and_hills_hide_what_is_behind() {
    let Some(context) = context() else { return };
    let camera = Camera { pitch: 0.15, ..Camera::front() };
    let texels = |raised: bool| {
        let texel = |y: u32| match y {
            0..32 => [if raised && y == 16 { 0.9 } else { 0.01 }, 0.0, 0.0, 1.0],
            _ => [0.01, 1.0, 0.0, 1.0_f32],
        };
        (0..64).flat_map(|y| [texel(y); 64]).collect::<Vec<_>>()
    };
    let green = |raised| {
        let texture = Texture::new(context.gl(), Format::Rgba32f, Size::Flat([64, 64])).unwrap();
        texture.write(bytemuck::cast_slice(&texels(raised))).unwrap();
        let coloring = Coloring { paint: Paint::Rgba, ..Coloring::default() };
        let surface = Surface { coloring, ..Surface::new(&texture) };
        let pixels = show(&context, &camera, 1.0, surface, &format!("hidden-{raised}"));
        let all = (0..SIZE[1]).flat_map(|y| (0..SIZE[0]).map(move |x| (x, y)));
        let is_green = |&(x, y): &(u32, u32)| {
            let [r, g, _] = pixels.at(x, y);
            g > r.saturating_add(40)
        };
        let green: Vec<_> = all.filter(is_green).collect();
        assert!(green.iter().all(|&(_, y)| y < SIZE[1] / 2 + 2), "the later rows are farther away");
        green.len()
    };
    assert!(green(false) > 300);
    assert_eq!(green(true), 0);
}

#[test]
fn less_detail_looks_the_same() {
    let Some(context) = context() else { return };
    let camera = above();
    let waves = |x: f32, y: f32| 0.1 * (9.0 * x).sin() * (7.0 * y).cos();
    let texture = field(&context, [300, 300], waves);
    let coloring = Coloring { range: [-0.1, 0.1], ..gray(0.5) };
    let surface = Surface { coloring, ..Surface::new(&texture) };
    let [fine, coarse] = [1.0, 0.4]
        .map(|detail| show(&context, &camera, detail, surface, &format!("detail-{detail}")));
    let pairs = fine.rgba.iter().zip(&coarse.rgba);
    let off = pairs.map(|(a, b)| f64::from(a.abs_diff(*b))).sum::<f64>() / fine.rgba.len() as f64;
    // Of the 255 of a channel, for edges that are softer.
    assert!(off < 2.5, "{off}");
    assert!(fine.mean() > 20.0);
}

#[test]
fn odd_fields_are_drawn() {
    let Some(context) = context() else { return };
    let camera = above();
    for (size, value) in [
        ([1, 1], 0.0),
        ([1, 9], 0.1),
        ([700, 2], 0.1),
        ([8, 8], f32::NAN),
        ([8, 8], f32::INFINITY),
        ([8, 8], 1.0e38),
    ] {
        let texture = field(&context, size, |_, _| value);
        let surface = Surface { coloring: gray(0.5), ..Surface::new(&texture) };
        let pixels = show(&context, &camera, 1.0, surface, "odd");
        if value.is_nan() {
            let [r, g, b] = pixels.at(SIZE[0] / 2, SIZE[1] / 2);
            assert!(r > 150 && b > 150 && g < 120, "NaN is magenta, not {:?}", [r, g, b]);
        }
    }
}
