//! Where the camera starts when the manifest does not say: around the points.

use glam::Vec3;
use warpaint::{
    draw::{Bounds, Camera},
    scene::{Overrides, Scene, ViewId},
};

use super::{FIRST, open};

/// Points in a box of 6 x 4 x 2 around (10, 20, 30), one of them nowhere; each step moves them by 100.
const FAR: &str = r#"/*---
[buffer.position]
type = "float4"
count = 64
[[pass]]
kernel = "place"
on = "reset"
over = "position"
[[pass]]
kernel = "move"
over = "position"
[view]
kind = "points"
position = "position"
---*/
__global__ void place(float4 *position, int position_count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= position_count) return;
    position[i] = make_float4(i & 1 ? 7.0f : 13.0f, i & 2 ? 18.0f : 22.0f, i & 4 ? 29.0f : 31.0f, 1.0f);
    const float zero = 0.0f;
    if (i == 8) position[i] = make_float4(0.0f / zero, -1.0f / zero, 1.0f / zero, 1.0f);
}
__global__ void move(float4 *position, int position_count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < position_count) position[i].x += 100.0f;
}
"#;

/// The width of the pictures, of which the height is 1.
const ASPECT: f32 = 1.5;

/// The camera that sees the whole box of the points, which are `place`d around this centre.
fn around(centre: [f32; 3]) -> Camera {
    let (centre, half) = (Vec3::from(centre), Vec3::new(3.0, 2.0, 1.0));
    Camera::default().fitted(Bounds { low: centre - half, high: centre + half }, ASPECT)
}

#[test]
fn it_fits_the_points_as_they_are_seen_first() {
    let mut session = open(FAR);
    assert_eq!(session.start_camera(FIRST, ASPECT), Camera::default(), "nothing is known yet");
    assert!(session.needs_statistics_to_draw(FIRST));
    session.run_steps(1, |_| {}).unwrap();
    session.measure().unwrap();
    let first = around([110.0, 20.0, 30.0]);
    assert_eq!(session.start_camera(FIRST, ASPECT), first);

    session.run_steps(2, |_| {}).unwrap();
    session.measure().unwrap();
    assert_eq!(session.start_camera(FIRST, ASPECT), first, "it does not follow them");
    session.set_source(FAR.replace("+= 100.0f", "+= 50.0f"));
    assert!(session.wait_for_program().unwrap());
    session.measure().unwrap();
    assert_eq!(session.start_camera(FIRST, ASPECT), first, "an edit leaves it where it is");

    session.reset();
    session.run_steps(1, |_| {}).unwrap();
    session.measure().unwrap();
    assert_eq!(session.start_camera(FIRST, ASPECT), around([60.0, 20.0, 30.0]), "after a reset");
}

#[test]
fn the_manifest_comes_first_and_a_single_place_is_no_box() {
    let declared =
        FAR.replace("position = \"position\"", "position = \"position\"\ncamera.distance = 7.0");
    let mut session = open(&declared);
    session.run_steps(1, |_| {}).unwrap();
    session.measure().unwrap();
    assert_eq!(session.start_camera(FIRST, ASPECT), Camera { distance: 7.0, ..Camera::default() });

    let mut session = open(&FAR.replace("count = 64", "count = 1"));
    session.run_steps(1, |_| {}).unwrap();
    session.measure().unwrap();
    assert_eq!(session.start_camera(FIRST, ASPECT), Camera::default());
}

#[test]
fn each_view_fits_its_own_points() {
    let views = "[buffer.near]\ntype = \"float4\"\ncount = 64\n[[pass]]\nkernel = \"place\"\non = \"reset\"\n\
                 over = \"near\"\nargs = { position = \"near\", position_count = \"near_count\" }\n\
                 [[view]]\nname = \"far\"\nkind = \"points\"\nposition = \"position\"\n\
                 [[view]]\nname = \"near\"\nkind = \"points\"\nposition = \"near\"\n\
                 [[view]]\nname = \"placed\"\nkind = \"points\"\nposition = \"near\"\ncamera.distance = 2.0\n";
    let (before, behind) = FAR.split_once("[view]").unwrap();
    let (_, kernels) = behind.split_once("---*/").unwrap();
    let source = format!("{before}{views}---*/{kernels}");
    let [far, near, placed] = [0, 1, 2].map(ViewId);
    let mut session = open(&source);
    assert!(!session.is_start_known(near) && session.is_start_known(placed));
    session.run_steps(2, |_| {}).unwrap();
    session.measure().unwrap();
    assert_eq!(session.start_camera(far, ASPECT), around([210.0, 20.0, 30.0]));
    assert_eq!(session.start_camera(near, ASPECT), around([10.0, 20.0, 30.0]));
    assert_eq!(session.start_camera(placed, ASPECT), Camera { distance: 2.0, ..Camera::default() });
    assert!(session.is_start_known(near));
    assert!(session.start_camera(ViewId(3), ASPECT) == Camera::default(), "there is no such view");

    // A resource that is made anew is seen anew; the other stays where it is.
    session.run_steps(1, |_| {}).unwrap();
    session.set_source(source.replacen("count = 64", "count = 32\nkeep = false", 1));
    assert!(session.wait_for_program().unwrap());
    session.run_steps(1, |_| {}).unwrap();
    session.measure().unwrap();
    assert_eq!(session.start_camera(near, ASPECT), around([10.0, 20.0, 30.0]));
    assert_eq!(session.start_camera(far, ASPECT), around([110.0, 20.0, 30.0]));
}

#[test]
fn a_box_that_the_manifest_names_is_fitted_without_a_measurement() {
    let fit =
        "position = \"position\"\ncamera.fit = [0.0, 0.0, 0.0, 9.0, 3.0, 1.0]\ncamera.yaw = 90.0";
    let session = open(&FAR.replace("position = \"position\"", fit));
    let bounds = Bounds { low: Vec3::ZERO, high: Vec3::new(9.0, 3.0, 1.0) };
    for aspect in [0.5, 1.0, 2.0] {
        let turned = Camera { yaw: 90.0_f32.to_radians(), ..Camera::default() };
        assert_eq!(session.start_camera(FIRST, aspect), turned.fitted(bounds, aspect));
    }
    assert!(session.is_start_known(FIRST));
    for wrong in ["[0.0, 0.0, 1.0, 9.0, 3.0, 0.0]", "[1, 1, 1, 1, 1, 1]", "[0, 0, 0]"] {
        let text = FAR.replace(
            "position = \"position\"",
            &format!("position = \"position\"\ncamera.fit = {wrong}"),
        );
        let problems = Scene::parse("t.cu", &text, &Overrides::default()).unwrap_err();
        assert!(problems.iter().any(|problem| problem.text.contains("`fit`")), "{problems:?}");
    }
}

#[test]
fn all_that_is_drawn_now_is_fitted_when_it_is_wanted() {
    let mut session = open(FAR);
    session.run_steps(1, |_| {}).unwrap();
    session.measure().unwrap();
    session.run_steps(2, |_| {}).unwrap();
    session.measure().unwrap();
    let now = session.fitted_camera(FIRST, Camera::default(), ASPECT);
    assert_eq!(now, Some(around([310.0, 20.0, 30.0])));
    assert_ne!(now, Some(session.start_camera(FIRST, ASPECT)));
}

/// A texture in which each texel has what `value` says of its index, and what shows it.
fn field(size: &str, value: &str, view: &str) -> String {
    let texture = format!("[texture.t]\nformat = \"r32f\"\nsize = {size}\n");
    let pass = "[[pass]]\nkernel = \"fill\"\ngrid = 1\nblock = 1\n";
    let dimensions = size.matches(',').count() + 1;
    let store = match dimensions {
        2 => "surf2Dwrite(v, t, (i % 8) * 4, i / 8);",
        _ => "surf3Dwrite(v, t, (i % 8) * 4, i / 8 % 4, i / 32);",
    };
    format!(
        "/*---\n{texture}{pass}[view]\ntexture = \"t\"\n{view}\n---*/\n\
         __global__ void fill(cudaSurfaceObject_t t)\n{{\n    \
         for (int i = 0; i < 32; ++i) {{ float v = {value}; {store} }}\n}}\n"
    )
}

#[test]
fn surfaces_and_volumes_are_seen_whole() {
    let start = |source: &str| {
        let mut session = open(source);
        session.run_steps(1, |_| {}).unwrap();
        session.measure().unwrap();
        assert!(session.is_start_known(FIRST));
        session.start_camera(FIRST, ASPECT)
    };
    let of_box = |low: [f32; 3], high: [f32; 3], pitch| {
        let bounds = Bounds { low: low.into(), high: high.into() };
        Camera { pitch, ..Camera::default() }.fitted(bounds, ASPECT)
    };
    // The longer side is 2 long; the heights are those that are there, or that are declared.
    let surface = "kind = \"surface\"\nheight = 0.5";
    let measured = start(&field("[8, 4]", "i - 3.0f", surface));
    assert_eq!(measured, of_box([-1.0, -1.5, -0.5], [1.0, 14.0, 0.5], 0.55));
    let declared = format!("{surface}\nrange = [-1.0, 4.0]");
    let declared = start(&field("[8, 4]", "i - 3.0f", &declared));
    assert_eq!(declared, of_box([-1.0, -0.5, -0.5], [1.0, 2.0, 0.5], 0.55));
    let volume = start(&field("[8, 4, 2]", "i", "kind = \"volume\""));
    assert_eq!(volume, of_box([-1.0, -0.5, -0.25], [1.0, 0.5, 0.25], Camera::default().pitch));
}
