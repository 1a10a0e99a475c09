//! What is drawn: places, colours and brightness of points, compared with arithmetic of our own.
//!
//! With `WARPAINT_PICTURES=<folder>` the pictures are kept for a look at them.

use glam::{DMat4, DVec3, DVec4, Vec3, dcamera::rh};
use warpaint::{
    draw::{
        Background, Blend, Camera, Cloud, Coloring, Colormap, Content, Frame, Paint, Values, View,
    },
    gl::{Buffer, Component, CurrentContext, Error},
};

use crate::gl::context;

mod difference;
mod guides;
mod image;
mod legend;
mod surface;
mod volume;

const BLACK: Background = Background { middle: [0.0; 3], rim: [0.0; 3] };

/// Three channels of a sprite's pixels add up to more.
const LIT: f64 = 96.0;

/// A picture's pixels, top row first.
struct Pixels {
    size: [u32; 2],
    rgba: Vec<u8>,
}

impl Pixels {
    fn draw(view: &mut View, frame: &Frame<'_>, name: &str) -> Self {
        let picture = view.draw(frame).unwrap();
        Self { size: picture.size(), rgba: picture.read_rgba8().unwrap() }.kept(name)
    }

    fn kept(self, name: &str) -> Self {
        if let Ok(folder) = std::env::var("WARPAINT_PICTURES") {
            let path = std::path::Path::new(&folder).join(format!("{name}.png"));
            let [w, h] = self.size;
            ::image::save_buffer(path, &self.rgba, w, h, ::image::ColorType::Rgba8).unwrap();
        }
        self
    }

    fn at(&self, x: u32, y: u32) -> [u8; 3] {
        let start = (y * self.size[0] + x) as usize * 4;
        [0, 1, 2].map(|channel| self.rgba[start + channel])
    }

    /// Pixels of sprites: brighter than dither and glow.
    fn lit(&self) -> Vec<([f64; 2], f64)> {
        self.brighter(LIT)
    }

    /// Pixels whose channels add up to more than `least`.
    fn brighter(&self, least: f64) -> Vec<([f64; 2], f64)> {
        let [w, h] = self.size;
        let pixels = (0..h).flat_map(|y| (0..w).map(move |x| (x, y)));
        pixels
            .map(|(x, y)| (x, y, self.at(x, y).into_iter().map(f64::from).sum::<f64>()))
            .filter(|&(_, _, light)| light > least)
            .map(|(x, y, light)| ([f64::from(x) + 0.5, f64::from(y) + 0.5], light))
            .collect()
    }

    /// Centre of the light, in pixels from the top left corner.
    fn centre(&self) -> [f64; 2] {
        self.centre_of(LIT)
    }

    /// Centre of the pixels whose channels add up to more than `least`.
    fn centre_of(&self, least: f64) -> [f64; 2] {
        let lit = self.brighter(least);
        let total: f64 = lit.iter().map(|(_, light)| light).sum();
        [0, 1].map(|axis| lit.iter().map(|(at, light)| at[axis] * light).sum::<f64>() / total)
    }

    fn mean(&self) -> f64 {
        self.rgba.chunks(4).flat_map(|pixel| &pixel[..3]).map(|&c| f64::from(c)).sum::<f64>()
            / (self.rgba.len() / 4 * 3) as f64
    }
}

/// Points in [-1, 1]³ by the R3 sequence (M. Roberts, 2018), so that they are the same everywhere.
fn points(count: usize) -> Vec<[f32; 4]> {
    let g = 1.220_744_084_605_759_6_f64;
    let coordinate = |i: usize, power: i32| {
        let u = (0.5 + (i + 1) as f64 / g.powi(power)).fract();
        (2.0 * u - 1.0) as f32
    };
    (0..count).map(|i| [coordinate(i, 1), coordinate(i, 2), coordinate(i, 3), 1.0]).collect()
}

fn frame<'a>(camera: &'a Camera, cloud: Cloud<'a>) -> Frame<'a> {
    Frame { background: BLACK, ..Frame::new(camera, Content::Points(cloud)) }
}

/// The camera's matrix anew, in f64.
fn project(camera: &Camera, point: DVec3, [w, h]: [u32; 2]) -> [f64; 2] {
    let (yaw, pitch) = (f64::from(camera.yaw), f64::from(camera.pitch));
    let back = DVec3::new(pitch.cos() * yaw.sin(), pitch.sin(), pitch.cos() * yaw.cos());
    let target = camera.target.as_dvec3();
    let eye = target + back * f64::from(camera.distance);
    let aspect = f64::from(w) / f64::from(h);
    let view = rh::view::look_at_mat4(eye, target, DVec3::Y);
    let projection: DMat4 =
        rh::proj::opengl::perspective(f64::from(camera.fov), aspect, 0.1, 100.0);
    let clip: DVec4 = projection * view * point.extend(1.0);
    [(clip.x / clip.w * 0.5 + 0.5) * f64::from(w), (0.5 - clip.y / clip.w * 0.5) * f64::from(h)]
}

#[test]
fn a_point_is_where_the_camera_says() {
    let Some(context) = context() else { return };
    let mut view = View::new(context.gl(), [320, 256]).unwrap();
    let mut camera = Camera::default();
    for (index, at) in [[0.6_f32, 0.5, -0.3], [-0.8, -0.2, 0.9], [0.0, 0.0, 0.0]].iter().enumerate()
    {
        camera.orbit(glam::Vec2::new(0.3, -0.1));
        let buffer = Buffer::with_data(context.gl(), &[[at[0], at[1], at[2], 1.0]]).unwrap();
        let cloud = Cloud { size_px: 12.0, ..Cloud::new(&buffer, 1) };
        let pixels = Pixels::draw(&mut view, &frame(&camera, cloud), &format!("one-point-{index}"));
        let expected = project(&camera, DVec3::from(at.map(f64::from)), pixels.size);
        let found = pixels.centre();
        let off = (found[0] - expected[0]).hypot(found[1] - expected[1]);
        assert!(off < 0.6, "{off} pixels: found {found:?}, expected {expected:?}");
        let ours = camera.project(Vec3::from(*at), pixels.size).unwrap();
        assert!((f64::from(ours.x) - expected[0]).hypot(f64::from(ours.y) - expected[1]) < 0.01);
    }
}

#[test]
fn a_thousand_points_light_the_cube() {
    let Some(context) = context() else { return };
    let mut view = View::new(context.gl(), [256, 256]).unwrap();
    let camera = Camera::default();
    let positions = points(1000);
    let buffer = Buffer::with_data(context.gl(), &positions).unwrap();
    let pixels = Pixels::draw(&mut view, &frame(&camera, Cloud::new(&buffer, 1000)), "thousand");
    // Each sprite lights about 2 by 2 pixels, dimmer at its rim; few of them overlap.
    let lit = pixels.lit().len();
    assert!((2500..9000).contains(&lit), "{lit} pixels are lit");
    let mut expected = [0.0; 2];
    for at in &positions {
        let place =
            project(&camera, DVec3::new(at[0].into(), at[1].into(), at[2].into()), [256, 256]);
        expected = [expected[0] + place[0] / 1000.0, expected[1] + place[1] / 1000.0];
    }
    let centre = pixels.centre();
    // Near points are larger and brighter, which draws the centre of the light towards them.
    let off = (centre[0] - expected[0]).hypot(centre[1] - expected[1]);
    assert!(off < 6.0, "centre of light {centre:?}, of the points {expected:?}");
    // The same frame is the same picture, to the bit.
    let again = Pixels::draw(&mut view, &frame(&camera, Cloud::new(&buffer, 1000)), "thousand");
    assert!(again.rgba == pixels.rgba, "a frame drawn twice differs");
}

/// Fills the picture's middle with one ball or sprite and returns the colour there.
fn colour_of(context: &CurrentContext, value: [f32; 4], paint: Paint, blend: Blend) -> [u8; 3] {
    let mut view = View::new(context.gl(), [65, 65]).unwrap();
    let camera = Camera::front();
    let position = Buffer::with_data(context.gl(), &[[0.0_f32, 0.0, 0.0, 1.0]]).unwrap();
    let color = Buffer::with_data(context.gl(), &[value]).unwrap();
    let cloud = Cloud {
        color: Some(Values::packed(&color, 4, Component::F32)),
        coloring: Coloring {
            paint,
            colormap: Colormap::Viridis,
            range: [1.0, 5.0],
            ..Coloring::default()
        },
        blend,
        size_px: 300.0,
        ..Cloud::new(&position, 1)
    };
    Pixels::draw(&mut view, &frame(&camera, cloud), "colour").at(32, 32)
}

/// Hue in degrees; lightness differs by exposure and light.
fn hue([r, g, b]: [u8; 3]) -> f64 {
    let [r, g, b] = [r, g, b].map(f64::from);
    (3.0_f64.sqrt() * (g - b)).atan2(2.0 * r - g - b).to_degrees()
}

#[test]
fn colours_come_from_the_map() {
    let Some(context) = context() else { return };
    for blend in [Blend::Additive, Blend::Opaque] {
        for (value, paint, scalar) in [
            ([0.0, 3.0, 4.0, 9.0], Paint::Magnitude, 1.0),
            ([2.0, 0.0, 0.0, 9.0], Paint::Magnitude, 0.25),
            ([9.0, 9.0, 2.0, 9.0], Paint::Component(2), 0.25),
            ([9.0, 9.0, 9.0, 4.0], Paint::Component(3), 0.75),
            ([0.0; 4], Paint::Component(0), 0.0),
            ([f32::INFINITY, 0.0, 0.0, 0.0], Paint::Component(0), 1.0),
        ] {
            let found = colour_of(&context, value, paint, blend);
            let expected = Colormap::Viridis.srgb8(scalar);
            let off = (hue(found) - hue(expected)).abs();
            let off = off.min(360.0 - off);
            assert!(off < 8.0, "{blend:?} {paint:?} {value:?}: {found:?}, expected {expected:?}");
        }
    }
    let rgba = colour_of(&context, [1.0, 0.5, 0.0, 1.0], Paint::Rgba, Blend::Additive);
    assert!((hue(rgba) - hue([255, 128, 0])).abs() < 12.0, "{rgba:?}");
    let nan = colour_of(&context, [f32::NAN; 4], Paint::Magnitude, Blend::Opaque);
    assert!(nan[0] > 100 && nan[1] < 60 && nan[2] > 100, "NaN is magenta, not {nan:?}");
}

#[test]
fn colours_of_bytes_and_integers_are_those_of_floats() {
    let Some(context) = context() else { return };
    let camera = Camera::front();
    let mut view = View::new(context.gl(), [65, 65]).unwrap();
    let position = Buffer::with_data(context.gl(), &[[0.0_f32, 0.0, 0.0, 1.0]]).unwrap();
    let mut of = |color: &Buffer, components, kind, paint| {
        let cloud = Cloud {
            color: Some(Values::packed(color, components, kind)),
            coloring: Coloring {
                paint,
                colormap: Colormap::Viridis,
                range: [-4.0, 4.0],
                ..Coloring::default()
            },
            blend: Blend::Opaque,
            size_px: 300.0,
            ..Cloud::new(&position, 1)
        };
        Pixels::draw(&mut view, &frame(&camera, cloud), "kinds").at(32, 32)
    };
    let gl = context.gl();
    let floats = Buffer::with_data(gl, &[[1.0_f32, 0.2, 0.6, 1.0]]).unwrap();
    let bytes = Buffer::with_data(gl, &[[255_u8, 51, 153, 255]]).unwrap();
    let expected = of(&floats, 4, Component::F32, Paint::Rgba);
    assert_eq!(of(&bytes, 4, Component::U8, Paint::Rgba), expected);
    let float = Buffer::with_data(gl, &[-3.0_f32, 3.0]).unwrap();
    let int = Buffer::with_data(gl, &[-3_i32, 3]).unwrap();
    let expected = of(&float, 2, Component::F32, Paint::Component(0));
    assert_eq!(of(&int, 2, Component::I32, Paint::Component(0)), expected);
    let expected = of(&float, 2, Component::F32, Paint::Component(1));
    assert_eq!(of(&int, 2, Component::U32, Paint::Component(1)), expected);
}

#[test]
fn brightness_depends_on_neither_count_nor_size() {
    let Some(context) = context() else { return };
    let camera = Camera::default();
    let positions = points(60_000);
    let buffer = Buffer::with_data(context.gl(), &positions).unwrap();
    let mut means = Vec::new();
    for (count, size, size_px) in [
        (60_000, [256, 256], 2.0),
        (15_000, [256, 256], 4.0),
        (60_000, [128, 128], 2.0),
        (60_000, [384, 384], 3.0),
    ] {
        let mut view = View::new(context.gl(), size).unwrap();
        let cloud = Cloud { size_px, ..Cloud::new(&buffer, count) };
        means.push(Pixels::draw(&mut view, &frame(&camera, cloud), "brightness").mean());
    }
    let (low, high) = means.iter().fold((f64::MAX, 0.0_f64), |(l, h), &m| (l.min(m), h.max(m)));
    assert!(low > 5.0 && high / low < 1.25, "{means:?}");
}

/// What draws points changes with their size: pixels' shares at first, softened from 2.9 pixels on, and sprites
/// from 6 pixels on.
#[test]
fn brightness_does_not_jump_where_the_way_of_drawing_changes() {
    let Some(context) = context() else { return };
    let camera = Camera::default();
    let positions = points(60_000);
    let buffer = Buffer::with_data(context.gl(), &positions).unwrap();
    let mut view = View::new(context.gl(), [256, 256]).unwrap();
    for diameter in [2.3, 2.92, 6.0] {
        let means = [0.99, 1.01].map(|factor| {
            let size_px = diameter * factor / 1.85 * 720.0 / 256.0;
            let cloud = Cloud { size_px, ..Cloud::new(&buffer, positions.len()) };
            Pixels::draw(&mut view, &frame(&camera, cloud), &format!("jump-{diameter}-{factor}"))
                .mean()
        });
        assert!((means[0] / means[1] - 1.0).abs() < 0.03, "{diameter} pixels: {means:?}");
    }
}

#[test]
fn the_order_of_points_does_not_matter() {
    let Some(context) = context() else { return };
    let camera = Camera::default();
    let mut positions = points(20_000);
    let mut view = View::new(context.gl(), [200, 150]).unwrap();
    let pictures = [(); 2].map(|()| {
        positions.reverse();
        let buffer = Buffer::with_data(context.gl(), &positions).unwrap();
        let cloud = Cloud { size_px: 1.5, ..Cloud::new(&buffer, positions.len()) };
        Pixels::draw(&mut view, &frame(&camera, cloud), "order").rgba
    });
    let off = pictures[0].iter().zip(&pictures[1]).map(|(a, b)| a.abs_diff(*b)).max();
    assert!(off <= Some(1), "{off:?}");
}

#[test]
fn the_nearer_ball_hides_the_farther_one() {
    let Some(context) = context() else { return };
    let camera = Camera::front();
    let mut view = View::new(context.gl(), [64, 64]).unwrap();
    for order in [[0.5_f32, -0.5], [-0.5, 0.5]] {
        let positions = order.map(|z| [0.0, 0.0, z, 1.0]);
        let colors =
            order.map(|z| if z > 0.0 { [1.0_f32, 0.0, 0.0, 1.0] } else { [0.0, 1.0, 0.0, 1.0] });
        let position = Buffer::with_data(context.gl(), &positions).unwrap();
        let color = Buffer::with_data(context.gl(), &colors).unwrap();
        let cloud = Cloud {
            color: Some(Values::packed(&color, 4, Component::F32)),
            coloring: Coloring { paint: Paint::Rgba, ..Coloring::default() },
            blend: Blend::Opaque,
            size_px: 200.0,
            ..Cloud::new(&position, 2)
        };
        let [r, g, _] = Pixels::draw(&mut view, &frame(&camera, cloud), "hidden").at(32, 32);
        assert!(r > 100 && g < 60, "red {r}, green {g}");
    }
}

#[test]
fn points_that_are_not_finite_or_not_there_are_not_drawn() {
    let Some(context) = context() else { return };
    let camera = Camera::default();
    let mut view = View::new(context.gl(), [64, 64]).unwrap();
    let bad = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1.0e38];
    let positions: Vec<_> =
        bad.iter().flat_map(|&x| [[x, 0.0, 0.0, 1.0], [0.0, 0.0, x, 1.0]]).collect();
    let buffer = Buffer::with_data(context.gl(), &positions).unwrap();
    let cloud = Cloud { size_px: 20.0, ..Cloud::new(&buffer, positions.len()) };
    assert_eq!(Pixels::draw(&mut view, &frame(&camera, cloud), "bad").lit().len(), 0);
    // More than the buffer holds: none is read from beyond it. None at all: nothing.
    for count in [0, usize::MAX] {
        let cloud = Cloud { size_px: 20.0, ..Cloud::new(&buffer, count) };
        assert_eq!(Pixels::draw(&mut view, &frame(&camera, cloud), "none").lit().len(), 0);
    }
    let nothing = Frame { background: BLACK, ..Frame::new(&camera, Content::Nothing) };
    assert_eq!(Pixels::draw(&mut view, &nothing, "nothing").lit().len(), 0);
}

#[test]
fn a_view_changes_its_size() {
    let Some(context) = context() else { return };
    let mut view = View::new(context.gl(), [0, 0]).unwrap();
    assert_eq!(view.size(), [1, 1]);
    let camera = Camera::default();
    for size in [[640, 480], [33, 7], [1, 300]] {
        view.resize(size).unwrap();
        let picture = view.draw(&Frame::new(&camera, Content::Nothing)).unwrap();
        assert_eq!(picture.size(), size);
    }
    let error = view.resize([1 << 24, 4]).unwrap_err();
    assert!(matches!(error, Error::Size { .. }), "{error}");
    assert_eq!(view.size(), [1, 300]);
}

/// Points whose numbers are apart: behind each a colour, and something else.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::NoUninit)]
struct Particle {
    mass: f32,
    position: [f32; 3],
    hue: f32,
    other: [f32; 2],
}

#[test]
fn numbers_that_lie_apart_are_drawn_as_those_side_by_side() {
    let Some(context) = context() else { return };
    let (gl, camera) = (context.gl(), Camera::default());
    let positions = points(3000);
    let particles: Vec<Particle> = positions
        .iter()
        .map(|&[x, y, z, _]| Particle { mass: 9.0, position: [x, y, z], hue: x, other: [-7.0; 2] })
        .collect();
    let column = |axis: usize| {
        let numbers: Vec<f32> = positions.iter().map(|position| position[axis]).collect();
        Buffer::with_data(gl, &numbers).unwrap()
    };
    let packed = Buffer::with_data(gl, &positions).unwrap();
    let structures = Buffer::with_data(gl, &particles).unwrap();
    let columns = [0, 1, 2].map(column);
    let stride = size_of::<Particle>() as u32;
    let field = |offset, components| Values {
        offset,
        stride,
        ..Values::packed(&structures, components, Component::F32)
    };
    let column = |axis: usize| Values::packed(&columns[axis], 1, Component::F32);
    let axes = [0, 1, 2].map(|axis| Some(column(axis)));
    let mut view = View::new(gl, [120, 80]).unwrap();
    // Splatted, sprites, balls.
    for (size_px, blend) in [(2.0, Blend::Additive), (60.0, Blend::Additive), (9.0, Blend::Opaque)]
    {
        let mut draw = |position, color| {
            let coloring =
                Coloring { paint: Paint::Component(0), range: [-1.0, 1.0], ..Coloring::default() };
            let cloud = Cloud {
                position,
                color: Some(color),
                coloring,
                size_px,
                blend,
                ..Cloud::new(&packed, 3000)
            };
            Pixels::draw(&mut view, &frame(&camera, cloud), &format!("apart-{size_px}")).rgba
        };
        let expected = draw(Values::packed(&packed, 4, Component::F32).axes(), column(0));
        assert!(expected.iter().any(|byte| *byte > 100));
        let of_fields = draw(field(4, 3).axes(), field(16, 1));
        assert!(of_fields == expected, "fields of structures, {size_px} {blend:?}");
        assert!(draw(axes, column(0)) == expected, "one array for each axis, {size_px} {blend:?}");
        let flat = draw([axes[0], axes[1], None], column(0));
        assert!(flat != expected, "without z they lie in a plane");
    }
}

/// Of very many points only the last ones are at a place: all are drawn, in however many parts.
#[test]
fn the_last_of_very_many_points_are_drawn() {
    const LAST: usize = 4096;
    let Some(context) = context() else { return };
    let gl = context.gl();
    let mut view = View::new(gl, [64, 64]).unwrap();
    // Sprites are drawn by the million; of a buffer shaders see so many bytes at once.
    let sprites = (2 << 20, 300.0, Blend::Opaque);
    let splatted = (gl.max_storage_bytes().min(256 << 20) / 16, 20.0, Blend::Additive);
    for (before, size_px, blend) in [sprites, splatted] {
        let mut positions = vec![[f32::NAN, 0.0, 0.0, 1.0]; before];
        positions.resize(before + LAST, [0.0, 0.0, 0.0, 1.0]);
        let (buffer, camera) = (Buffer::with_data(gl, &positions).unwrap(), Camera::front());
        let mut middle = |count| {
            let cloud = Cloud { size_px, blend, ..Cloud::new(&buffer, count) };
            Pixels::draw(&mut view, &frame(&camera, cloud), &format!("many-{count}")).at(32, 32)
        };
        let (without, with) = (middle(before), middle(before + LAST));
        assert!(with[0] > without[0] + 40, "{blend:?}: {without:?} and {with:?}");
    }
}
