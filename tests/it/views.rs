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

/// An array of two halves, written from left to right and upwards in turns.
const HALVES: &str = r#"/*---
[array.field]
type = "float"
count = "64 * 64"
double = true
[[pass]]
kernel = "fill"
over = "field"
[view]
kind = "image"
texture = "field"
size = [64, 64]
colormap = "viridis"
range = [0.0, 1.0]
---*/
__global__ void fill(const float *field, float *field_next, int step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 64 * 64) field_next[i] = (step % 2 ? i / 64 : i % 64) / 63.0f;
}
"#;

#[test]
fn of_a_double_array_the_last_half_is_drawn() {
    let place = Workplace::new();
    place.file("scene.cu", HALVES);
    let more = ["--size", "64x64", "--steps", "3", "--every", "1", "--out", "a%d.png"];
    let ended = place.run(&[&["render", "scene.cu", "--device", "cpu"][..], &more].concat());
    if ended.err.contains("no EGL") {
        return skip(Need::Gl, &ended.err);
    }
    ended.expect(0, &[]);
    let (right, up) = ([LOW, HIGH, LOW], [HIGH, HIGH, LOW]);
    for (name, expected) in [("a1.png", right), ("a2.png", up), ("a3.png", right)] {
        assert_eq!(corners(&place.path(name)), expected, "{name}");
    }
    // Drawn or not, it has the same numbers.
    let golden = HALVES.replace("[view]", "[[golden]]\nof = \"field\"\nfile = \"f.npy\"\n[view]");
    place.file("scene.cu", &golden);
    place.run(&["test", "scene.cu", "--device", "cpu", "--update-golden"]).expect(0, &[]);
    let hidden = golden.split_once("[view]").unwrap().0.to_owned()
        + "---*/"
        + golden.split_once("---*/").unwrap().1;
    place.file("scene.cu", &hidden);
    place.run(&["test", "scene.cu", "--device", "cpu"]).expect(0, &[]);
}

/// Points of which each layout has the same: the manifest's resources and view, the parameters, and how one is written.
const LAYOUTS: [(&str, &str, &str); 6] = [
    (
        "[buffer.p]\ntype = 'float4'\ncount = 500\n[buffer.h]\ntype = 'float'\ncount = 500\n
         [view]\nkind = 'points'\nposition = 'p'\ncolor = 'h'\n",
        "float4 *p, float *h",
        "p[i] = make_float4(x, y, z, 1.0f), h[i] = hue",
    ),
    (
        "[buffer.body]\ntype = 'Body'\ncount = 500\n
         [view]\nkind = 'points'\nposition = 'body.at'\ncolor = 'body.hue'\n",
        "Body *body",
        "body[i].at = make_float3(x, y, z), body[i].hue = hue",
    ),
    (
        "[array.p]\ntype = 'Plain'\ncount = 500\n
         [view]\nkind = 'points'\nposition = ['p.x', 'p.y', 'p.z']\ncolor = 'p.more.hue'\n",
        "Plain *p",
        "p[i].x = x, p[i].y = y, p[i].z = z, p[i].more.hue = hue",
    ),
    (
        "[buffer.p]\ntype = 'Listed'\ncount = 500\n
         [view]\nkind = 'points'\nposition = 'p.at'\ncolor = 'p.hue'\n",
        "Listed *p",
        "p[i].at[0] = x, p[i].at[1] = y, p[i].at[2] = z, p[i].hue = hue",
    ),
    (
        "[buffer.xs]\ntype = 'float'\ncount = 500\n[array.ys]\ntype = 'float'\ncount = 500\n
         [array.zw]\ntype = 'float2'\ncount = 600\n
         [view]\nkind = 'points'\nposition = ['xs', 'ys', 'zw.x']\ncolor = 'zw.y'\n",
        "float *xs, float *ys, float2 *zw",
        "xs[i] = x, ys[i] = y, zw[i] = make_float2(z, hue)",
    ),
    (
        "[buffer.p]\ntype = 'double3'\ncount = 500\n[array.h]\ntype = 'double'\ncount = 500\n
         [view]\nkind = 'points'\nposition = 'p'\ncolor = 'h'\n",
        "double3 *p, double *h",
        "p[i] = make_double3(x, y, z), h[i] = hue",
    ),
];

/// The scene of a layout, whose points are seen as `seen` says.
fn points_in((resources, parameters, write): (&str, &str, &str), seen: &str) -> String {
    format!(
        "/*---\n{resources}{seen}[[pass]]\nkernel = 'fill'\ngrid = 500\nblock = 1\n---*/
struct Body {{ double mass; float3 at; short kind; float hue; }};
struct More {{ char tag; float hue; }};
typedef struct {{ float x, y, z, vx, vy, vz; More more; }} Plain;
struct Listed {{ int id; float at[3]; float hue; }};
__global__ void fill({parameters}) {{
    int i = blockIdx.x;
    float x = 3.0f + cosf(0.1f * i), y = sinf(0.1f * i), z = 0.01f * (i % 70), hue = 0.25f * (i % 5);
    {write};
}}\n"
    )
}

#[test]
fn points_are_drawn_however_their_numbers_lie() {
    let place = Workplace::new();
    let camera = "size = 9\nblend = 'opaque'\ncamera = { target = [3, 0, 0.3], distance = 5 }\n";
    for seen in ["size = 3\n", "size = 30\n", camera] {
        let mut first = None;
        for layout in LAYOUTS {
            place.file("scene.cu", &points_in(layout, seen));
            let more = ["--size", "160x120", "--out", "a.png", "--json", "a.json"];
            let ended =
                place.run(&[&["render", "scene.cu", "--device", "cpu"][..], &more].concat());
            if ended.err.contains("no EGL") {
                return skip(Need::Gl, &ended.err);
            }
            ended.expect(0, &[]);
            let picture = image::open(place.path("a.png")).unwrap().to_rgb8();
            assert!(picture.pixels().filter(|pixel| pixel.0 != [0; 3]).count() > 500, "{seen}");
            let report = fs::read(place.path("a.json")).unwrap();
            let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
            let legend = report["views"][0]["legend"].clone();
            let (_, title) = layout.0.split_once("color = '").unwrap();
            assert_eq!(legend["title"], title.trim_end_matches("'\n"));
            assert_eq!(legend["range"], serde_json::json!([0.0, 1.0]), "{title}");
            let (expected, _) = first.get_or_insert((picture.clone(), legend));
            // The statistics of a field that is an array are of all its numbers: the camera stands elsewhere.
            let is_array = layout.0.contains("Listed") && seen != camera;
            // Small points of floats are splatted by a kernel, which does not know doubles.
            let is_sprite = layout.0.contains("double3") && seen.starts_with("size = 3\n");
            assert!(is_array || is_sprite || *expected == picture, "{seen}{}", layout.0);
        }
    }
}

#[test]
fn what_cannot_be_points_is_told() {
    let place = Workplace::new();
    let [vectors, body, plain, listed, ..] = LAYOUTS;
    for (layout, from, to, said) in [
        (body, "body.at", "body", "`body` has structures: name a field, such as \"body.mass\""),
        (
            body,
            "body.at",
            "body.et",
            "`body` has no component `et`: its elements are Body; known are `mass`, `at.x`",
        ),
        (body, "body.at", "body.mass", "positions must be vectors of float or double, not double"),
        (
            body,
            "body.hue",
            "body.kind",
            "what is drawn must be of float, double, half, int, unsigned",
        ),
        (body, "body.hue", "bodi.hue", "there is no buffer or array `bodi`; did you mean `body`?"),
        (
            plain,
            "'p.x', 'p.y', 'p.z'",
            "'p.x'",
            "`position` has 1 names, and points have two or three",
        ),
        (
            plain,
            "'p.x', ",
            "1, ",
            "`position` must be a name such as \"position\", or names such as",
        ),
        (plain, "'p.x', ", "'p.more.tag', ", "positions must be each a float or double, not char"),
        (
            listed,
            "at[3]",
            "at[5]",
            "positions must be vectors of float or double, not the array `p.at`",
        ),
        (
            listed,
            "float hue",
            "float hue, much[600]",
            "`p` has elements of 2420 bytes, and OpenGL draws points",
        ),
        (
            vectors,
            "'float'\ncount = 500",
            "'float'\ncount = 499",
            "`h` has 499 elements for 500 points",
        ),
        (
            vectors,
            "position = 'p'",
            "position = 'p.x'",
            "positions must be vectors of float or double, not float",
        ),
    ] {
        let text = points_in(layout, "");
        assert!(text.contains(from), "{from}");
        place.file("scene.cu", &text.replace(from, to));
        place.run(&["render", "scene.cu", "--device", "cpu"]).expect(1, &[said]);
    }
}
