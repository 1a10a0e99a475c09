//! Pictures of built-in scenes, one for each kind of view and some for their kernels, against those that were looked at
//! and kept; and pictures of points against each other.

use crate::skip::{Need, skip};
use std::{fs, path::Path};

use super::support::{Workplace, root};

/// Greatest mean difference of a channel, of 255.
///
/// Pictures are made of light in whole-number sums, shaded surfaces and half-precision passes. Another version of the
/// software renderer rounds the latter otherwise, by one or two steps.
const MEAN_TOLERANCE: f64 = 2.0;
/// Greatest share of pixels that differ by more than [`PIXEL_TOLERANCE`] in a channel: a processor without fused
/// multiply-add, or another approximation in its libraries, moves single particles by a pixel.
const PIXEL_BUDGET: f64 = 0.02;
const PIXEL_TOLERANCE: u8 = 32;

fn read(path: &Path) -> image::RgbImage {
    image::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).into_rgb8()
}

/// Renders `arguments` on the CPU device and compares with `tests/golden/<name>.png`.
///
/// `WARPAINT_UPDATE_GOLDEN=1` takes the new picture instead: look at it before you keep it.
fn check(name: &str, arguments: &[&str]) {
    let place = Workplace::new();
    let command = [&["render"], arguments, &["--device", "cpu", "--out", "actual.png"]].concat();
    let ended = place.run(&command);
    if ended.err.contains("no EGL") {
        skip(Need::Gl, &ended.err);
        return;
    }
    ended.expect(0, &[]);
    let golden = root().join(format!("tests/golden/{name}.png"));
    if std::env::var_os("WARPAINT_UPDATE_GOLDEN").is_some() {
        fs::copy(place.path("actual.png"), &golden).unwrap();
        return;
    }
    let (actual, expected) = (read(&place.path("actual.png")), read(&golden));
    assert_eq!(actual.dimensions(), expected.dimensions());
    let differences = || actual.iter().zip(expected.iter()).map(|(a, b)| a.abs_diff(*b));
    let mean = differences().map(f64::from).sum::<f64>() / differences().count() as f64;
    let pixels: Vec<u8> = differences().collect();
    let off = pixels.chunks(3).filter(|pixel| pixel.iter().any(|d| *d > PIXEL_TOLERANCE)).count();
    let share = off as f64 / (pixels.len() / 3) as f64;
    if mean > MEAN_TOLERANCE || share > PIXEL_BUDGET {
        let failed = root().join("target/failed");
        fs::create_dir_all(&failed).unwrap();
        let kept = failed.join(format!("{name}.png"));
        fs::copy(place.path("actual.png"), &kept).unwrap();
        panic!(
            "{name}: mean difference {mean:.2}, {share:.4} of the pixels are off; see {}",
            kept.display()
        );
    }
}

/// A picture of 128 x 96 pixels, after some steps of a scene that these constants make small.
fn check_small(scene: &str, constants: &[&str], steps: &str) {
    let constants = constants.iter().flat_map(|constant| ["--const", constant]);
    let arguments = [scene, "--steps", steps, "--size", "128x96"].into_iter().chain(constants);
    check(scene, &arguments.collect::<Vec<_>>());
}

#[test]
fn particles_look_as_they_did() {
    let arguments = ["particles", "--const", "n=65536", "--steps", "30", "--size", "256x144"];
    check("particles", &arguments);
}

#[test]
fn life_looks_as_it_did() {
    check_small("life", &["w=128", "h=96"], "100");
}

#[test]
fn gray_and_scotts_corals_look_as_they_did() {
    check_small("gray-scott", &["w=128", "h=96"], "150");
}

#[test]
fn mandelbrots_set_looks_as_it_did() {
    check_small("mandelbrot", &["w=128", "h=96"], "8");
}

#[test]
fn a_membrane_looks_as_it_did() {
    check_small("wave", &["w=128", "h=128"], "22");
}

#[test]
fn smoke_looks_as_it_did() {
    check_small("smoke", &["n=32"], "90");
}

/// A ball of points, half of which is `HALF` and whose middle is at `HALF` * (3, -2, 1).
const BALL: &str = r#"/*---
[constant]
HALF = 1.0
[buffer.position]
type = "float4"
count = 4096
[buffer.height]
type = "float"
count = 4096
[[pass]]
kernel = "place"
over = "position"
[view]
kind = "points"
position = "position"
color = "height"
unit = "m"
range = [-1.0, 1.0]
---*/
#include <warpaint/random.cuh>
__global__ void place(float4 *position, float *height, int position_count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= position_count) return;
    warpaint::Random random(1, i);
    const float3 p = random.in_ball();
    const float half = HALF;
    position[i] = make_float4((p.x + 3.0f) * half, (p.y - 2.0f) * half, (p.z + 1.0f) * half, 1.0f);
    height[i] = p.y;
}
"#;

/// Renders the ball on the CPU device; `None`, said aloud, where there is no OpenGL.
fn ball(place: &Workplace, name: &str, arguments: &[&str]) -> Option<image::RgbImage> {
    place.file("scene.cu", BALL);
    let command = ["render", "scene.cu", "--device", "cpu", "--size", "320x180", "--out", name];
    let ended = place.run(&[&command[..], arguments].concat());
    if ended.err.contains("no EGL") {
        skip(Need::Gl, &ended.err);
        return None;
    }
    ended.expect(0, &[]);
    Some(read(&place.path(name)))
}

#[test]
fn points_of_any_extent_are_seen_alike() {
    let place = Workplace::new();
    let Some(usual) = ball(&place, "usual.png", &[]) else { return };
    let lit = |pixel: &&image::Rgb<u8>| pixel.0.iter().any(|channel| *channel > 100);
    let count = usual.pixels().filter(lit).count();
    assert!(count > 1000, "{count} pixels of points");
    for half in ["HALF=1024.0", "HALF=0.0009765625"] {
        let other = ball(&place, "other.png", &["--const", half]).unwrap();
        // What is scaled by a power of two is rounded alike; the camera's near and far planes are not scaled, so that
        // depth differs in its last bits.
        let off = usual.iter().zip(other.iter()).map(|(a, b)| f64::from(a.abs_diff(*b)));
        let mean = off.sum::<f64>() / usual.len() as f64;
        assert!(mean < 0.5, "{half}: {mean}");
    }
}

#[test]
fn the_legend_is_drawn_when_it_is_asked_for() {
    let place = Workplace::new();
    let Some(plain) = ball(&place, "plain.png", &[]) else { return };
    let legend = ball(&place, "legend.png", &["--legend"]).unwrap();
    let (width, height) = plain.dimensions();
    // It is 14 points from the lower right corner, and 210 x 51 of them large.
    let room = |x, y| x + 224 >= width && x + 14 < width && y + 65 >= height && y + 14 < height;
    let places = || (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let differs = |&(x, y): &(u32, u32)| plain.get_pixel(x, y) != legend.get_pixel(x, y);
    let (inside, outside): (Vec<_>, Vec<_>) =
        places().filter(differs).partition(|&(x, y)| room(x, y));
    assert!(outside.is_empty(), "{} pixels elsewhere", outside.len());
    assert!(inside.len() > 210 * 51 * 9 / 10, "{} pixels of a legend", inside.len());
}
