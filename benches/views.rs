//! Pictures of every view a second, on the OpenGL that a headless context gets.
//!
//! `cargo bench --bench views`; with `WARPAINT_PICTURES=<folder>` one of each is kept for a look at it. `cargo test
//! --bench views` draws each once.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::{f32::consts::PI, time::Instant};

use glam::{Vec2, Vec3};
use warpaint::{
    draw::{
        Camera, Cloud, Coloring, Colormap, Content, Frame, Image, Paint, Surface, View, Volume,
    },
    gl::{Buffer, CurrentContext, Filter, Format, Gl, Headless, Size, Texture},
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const SIZE: [u32; 2] = [1280, 720];
/// How long each is drawn.
const SECONDS: f64 = 2.0;

fn main() -> Result<()> {
    let context = match CurrentContext::headless(Headless::default()) {
        Ok(context) => context,
        Err(error) => {
            println!("skipped: {error}");
            return Ok(());
        }
    };
    let [w, h] = SIZE;
    println!("{}: pictures of {w} x {h} pixels", context.info().renderer);
    points(context.gl())?;
    images(context.gl())?;
    surfaces(context.gl())?;
    volumes(context.gl())
}

fn points(gl: &Gl) -> Result<()> {
    let camera = Camera::default();
    for count in [100_000, 1_000_000] {
        let buffer = Buffer::with_data(gl, &positions(count))?;
        let content = Content::Points(Cloud::new(&buffer, count));
        measure(gl, &format!("points-{count}"), &Frame::new(&camera, content))?;
    }
    Ok(())
}

fn images(gl: &Gl) -> Result<()> {
    let camera = Camera::default();
    for (texels, filter) in [
        (256, Filter::Nearest),
        (256, Filter::Linear),
        (1024, Filter::Nearest),
        (4096, Filter::Nearest),
    ] {
        let texture = field(gl, texels)?;
        let coloring = scalar(Colormap::Viridis, [-0.12, 0.12]);
        let content = Content::Image(Image { coloring, filter, ..Image::new(&texture) });
        measure(gl, &format!("image-{texels}-{filter:?}"), &Frame::new(&camera, content))?;
    }
    Ok(())
}

fn surfaces(gl: &Gl) -> Result<()> {
    let camera = Camera { pitch: 0.5, distance: 3.0, ..Camera::default() };
    for texels in [256, 1024, 2048] {
        let texture = field(gl, texels)?;
        let coloring = scalar(Colormap::Viridis, [-0.12, 0.12]);
        let content = Content::Surface(Surface { coloring, ..Surface::new(&texture) });
        for detail in [1.0, 0.5, 0.25] {
            let frame = Frame { detail, ..Frame::new(&camera, content) };
            measure(gl, &format!("surface-{texels}-detail-{detail}"), &frame)?;
        }
    }
    Ok(())
}

fn volumes(gl: &Gl) -> Result<()> {
    let camera = Camera::default();
    for texels in [64, 128] {
        let texture = cloud(gl, texels)?;
        let coloring = scalar(Colormap::Inferno, [0.0, 1.0]);
        let of = Volume { coloring, density: 24.0, ..Volume::new(&texture) };
        for detail in [1.0, 0.5, 0.25] {
            let frame = Frame { detail, ..Frame::new(&camera, Content::Volume(of)) };
            measure(gl, &format!("volume-{texels}-detail-{detail}"), &frame)?;
        }
    }
    Ok(())
}

/// Draws the frame for a while, each time to its end.
fn measure(gl: &Gl, name: &str, frame: &Frame<'_>) -> Result<()> {
    let mut view = View::new(gl, SIZE)?;
    let picture = view.draw(frame)?.read_rgba8()?;
    if let Ok(folder) = std::env::var("WARPAINT_PICTURES") {
        let path = std::path::Path::new(&folder).join(format!("{name}.png"));
        image::save_buffer(path, &picture, SIZE[0], SIZE[1], image::ColorType::Rgba8)?;
    }
    let seconds =
        if std::env::args().any(|argument| argument == "--bench") { SECONDS } else { 0.0 };
    let start = Instant::now();
    let mut frames = 0;
    while frames == 0 || start.elapsed().as_secs_f64() < seconds {
        view.draw(frame)?;
        gl.finish();
        frames += 1;
    }
    let per_frame = start.elapsed().as_secs_f64() / f64::from(frames);
    println!("{name:28} {:9.2} ms {:9.1} a second", per_frame * 1e3, 1.0 / per_frame);
    Ok(())
}

fn scalar(colormap: Colormap, range: [f32; 2]) -> Coloring {
    Coloring { paint: Paint::Component(0), colormap, range, ..Coloring::default() }
}

/// The golden ratio's multiples: numbers in [0, 1) that are the same everywhere.
fn number(i: usize, of: f64) -> f32 {
    (i as f64 * of).fract() as f32
}

fn positions(count: usize) -> Vec<[f32; 4]> {
    let place = |i| {
        let (u, v, r) = (number(i, 0.819_172_5), number(i, 0.671_043_6), number(i, 0.549_700_5));
        let (angle, z) = (2.0 * PI * u, 2.0 * v - 1.0);
        let ring = (1.0 - z * z).sqrt() * r.cbrt();
        [ring * angle.cos(), z * r.cbrt(), ring * angle.sin(), 1.0]
    };
    (0..count).map(place).collect()
}

/// Waves of many lengths and directions, as on a sea.
fn field(gl: &Gl, texels: u32) -> Result<Texture> {
    let waves: Vec<(Vec2, f32, f32)> = (1..24)
        .map(|i| {
            let angle = 0.6 + 1.3 * (number(i, 0.618_034) - 0.5) * 2.0;
            let k = 3.0 * 1.22_f32.powi(i as i32);
            (Vec2::from_angle(angle) * k, 0.17 / k.powf(1.15), number(i, 0.37) * 2.0 * PI)
        })
        .collect();
    let height = |x: u32, y: u32| {
        let at = Vec2::new(x as f32, y as f32) / texels as f32 * 2.0;
        waves.iter().map(|(k, a, p)| a * (k.dot(at) + p).sin()).sum::<f32>()
    };
    let values: Vec<f32> = (0..texels)
        .flat_map(|y| (0..texels).map(move |x| (x, y)))
        .map(|(x, y)| height(x, y))
        .collect();
    let texture = Texture::new(gl, Format::R32f, Size::Flat([texels; 2]))?;
    texture.write(bytemuck::cast_slice(&values))?;
    Ok(texture)
}

/// Puffs within puffs.
fn cloud(gl: &Gl, texels: u32) -> Result<Texture> {
    let puffs: Vec<(Vec3, f32)> = (1..40)
        .map(|i| {
            let at =
                Vec3::new(number(i, 0.819_172_5), number(i, 0.671_043_6), number(i, 0.549_700_5));
            let at = (at * 2.0 - 1.0) * Vec3::new(0.5, 0.75, 0.5);
            (at, 0.12 + 0.22 * number(i, 0.618_034))
        })
        .collect();
    let value = |[x, y, z]: [u32; 3]| {
        let at = (Vec3::new(x as f32, y as f32, z as f32) + 0.5) / texels as f32 * 2.0 - 1.0;
        let rough = 0.04 * ((at.x * 19.0).sin() * (at.y * 23.0).sin() * (at.z * 17.0).sin());
        let puff = |(centre, radius): &(Vec3, f32)| {
            let inside = 1.0 - (at.distance(*centre) + rough) / radius;
            inside.max(0.0)
        };
        1.0 - (-1.5 * puffs.iter().map(puff).sum::<f32>()).exp()
    };
    let values: Vec<f32> = (0..texels.pow(3))
        .map(|i| value([i % texels, i / texels % texels, i / texels / texels]))
        .collect();
    let texture = Texture::new(gl, Format::R32f, Size::Solid([texels; 3]))?;
    texture.write(bytemuck::cast_slice(&values))?;
    Ok(texture)
}
