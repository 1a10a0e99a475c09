//! Several views of one scene: which one pictures, goldens and reports are of.

use std::{fs, path::Path};

use crate::{
    skip::{Need, skip},
    support::Workplace,
};

/// A field that grows to the right and one that grows upwards, each seen as it is.
const FIELDS: &str = r#"/*---
[texture.across]
format = "r32f"
size = [64, 64]
[texture.upward]
format = "r32f"
size = [64, 64]
[[pass]]
kernel = "fill"
over = "across"
[[view]]
name = "right"
kind = "image"
texture = "across"
colormap = "viridis"
range = [0.0, 1.0]
unit = "m"
[[view]]
name = "up"
kind = "image"
texture = "upward"
colormap = "viridis"
[[golden]]
image = "up.png"
view = "up"
size = [64, 64]
after = 1
tolerance = 0.5
---*/
__global__ void fill(cudaSurfaceObject_t across, cudaSurfaceObject_t upward)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= 64 || y >= 64) return;
    surf2Dwrite(x / 63.0f, across, 4 * x, y);
    surf2Dwrite(y / 63.0f, upward, 4 * x, y);
}
"#;

/// The ends of viridis, as matplotlib has them.
const LOW: [u8; 3] = [0x44, 0x01, 0x54];
const HIGH: [u8; 3] = [0xfd, 0xe7, 0x25];

/// Renders the fields; `None`, said aloud, where there is no OpenGL.
fn render(place: &Workplace, arguments: &[&str]) -> Option<()> {
    place.file("scene.cu", FIELDS);
    let command = ["render", "scene.cu", "--device", "cpu", "--size", "64x64"];
    let ended = place.run(&[&command[..], arguments].concat());
    if ended.err.contains("no EGL") {
        skip(Need::Gl, &ended.err);
        return None;
    }
    ended.expect(0, &[]);
    Some(())
}

/// The upper left, the upper right and the lower left pixel.
fn corners(path: &Path) -> [[u8; 3]; 3] {
    let picture = image::open(path).unwrap().to_rgb8();
    [(0, 0), (63, 0), (0, 63)].map(|(x, y)| picture.get_pixel(x, y).0)
}

#[test]
fn pictures_are_of_the_view_that_is_named_and_else_of_the_first() {
    let place = Workplace::new();
    let (right, up) = ([LOW, HIGH, LOW], [HIGH, HIGH, LOW]);
    let Some(()) = render(&place, &["--out", "a.png"]) else { return };
    assert_eq!(corners(&place.path("a.png")), right);
    render(&place, &["--out", "b.png", "--view", "up"]).unwrap();
    assert_eq!(corners(&place.path("b.png")), up);
    let outs = ["--out", "right=c.png", "--out", "d.png", "--out", "./up=e.png", "--view", "up"];
    render(&place, &outs).unwrap();
    assert_eq!(corners(&place.path("c.png")), right);
    assert_eq!(corners(&place.path("d.png")), up);
    assert_eq!(corners(&place.path("up=e.png")), up, "a path is no name");
    let outs = ["--steps", "2", "--every", "1", "--out", "up=u%d.png", "--out", "right=r%d.png"];
    render(&place, &outs).unwrap();
    for (name, expected) in [("u1.png", up), ("u2.png", up), ("r1.png", right), ("r2.png", right)] {
        assert_eq!(corners(&place.path(name)), expected, "{name}");
    }
}

#[test]
fn a_view_that_is_not_there_is_told_before_anything_runs() {
    let place = Workplace::new();
    place.file("scene.cu", FIELDS);
    for (arguments, said) in [
        (&["--out", "a.png", "--view", "rihgt"][..], "no view `rihgt`; did you mean `right`?"),
        (&["--out", "left=a.png"], "there is no view `left`; known are `right`, `up`"),
        (&["--out", "up=a.png", "--out", "right=./a.png"], "are the same file"),
        (&["--out", "up=a%d.png", "--out", "right=a%02d.png"], "are the same file"),
        (&["--view", "up"], "--out"),
    ] {
        let command = ["render", "scene.cu", "--device", "cpu"];
        place.run(&[&command[..], arguments].concat()).expect(2, &[said]);
    }
    assert!(!place.path("a.png").exists());
}

#[test]
fn goldens_are_of_their_view() {
    let place = Workplace::new();
    let Some(()) = render(&place, &["--out", "up=up.png"]) else { return };
    place.run(&["test", "scene.cu", "--device", "cpu"]).expect(0, &[]);
    render(&place, &["--out", "right=up.png"]).unwrap();
    place.run(&["test", "scene.cu", "--device", "cpu"]).expect(1, &[]);
    place.run(&["test", "scene.cu", "--device", "cpu", "--update-golden"]).expect(0, &[]);
    assert_eq!(corners(&place.path("up.png")), [HIGH, HIGH, LOW]);
}

#[test]
fn the_report_names_the_views_and_what_their_colours_stand_for() {
    let place = Workplace::new();
    place.file("scene.cu", FIELDS);
    place.run(&["render", "scene.cu", "--device", "cpu", "--json", "r.json"]).expect(0, &[]);
    let report = fs::read(place.path("r.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    let [right, up] = [0, 1].map(|index| &report["views"][index]);
    assert_eq!((&right["name"], &right["kind"]), (&"right".into(), &"image".into()));
    assert_eq!(right["legend"]["title"], "across");
    assert_eq!(right["legend"]["unit"], "m");
    assert_eq!((&up["name"], &up["legend"]["title"]), (&"up".into(), &"upward".into()));
    assert_eq!(up["legend"]["range"], serde_json::json!([0.0, 1.0]));
}
