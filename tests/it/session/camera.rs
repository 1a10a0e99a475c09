//! Where the camera starts when the manifest does not say: around the points.

use glam::Vec3;
use warpaint::{draw::Camera, scene::ViewId};

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

fn around(centre: [f32; 3], half: f32) -> Camera {
    Camera {
        target: Vec3::from(centre),
        distance: Camera::START_DISTANCE * half,
        ..Camera::default()
    }
}

#[test]
fn it_fits_the_points_as_they_are_seen_first() {
    let mut session = open(FAR);
    assert_eq!(session.start_camera(FIRST), Camera::default(), "nothing is known yet");
    assert!(session.needs_statistics_to_draw(FIRST));
    session.run_steps(1, |_| {}).unwrap();
    session.measure().unwrap();
    let first = around([110.0, 20.0, 30.0], 3.0);
    assert_eq!(session.start_camera(FIRST), first);

    session.run_steps(2, |_| {}).unwrap();
    session.measure().unwrap();
    assert_eq!(session.start_camera(FIRST), first, "it does not follow them");
    session.set_source(FAR.replace("+= 100.0f", "+= 50.0f"));
    assert!(session.wait_for_program().unwrap());
    session.measure().unwrap();
    assert_eq!(session.start_camera(FIRST), first, "an edit leaves it where it is");

    session.reset();
    session.run_steps(1, |_| {}).unwrap();
    session.measure().unwrap();
    assert_eq!(session.start_camera(FIRST), around([60.0, 20.0, 30.0], 3.0), "after a reset");
}

#[test]
fn the_manifest_comes_first_and_a_single_place_is_no_box() {
    let declared =
        FAR.replace("position = \"position\"", "position = \"position\"\ncamera.distance = 7.0");
    let mut session = open(&declared);
    session.run_steps(1, |_| {}).unwrap();
    session.measure().unwrap();
    assert_eq!(session.start_camera(FIRST), Camera { distance: 7.0, ..Camera::default() });

    let mut session = open(&FAR.replace("count = 64", "count = 1"));
    session.run_steps(1, |_| {}).unwrap();
    session.measure().unwrap();
    assert_eq!(session.start_camera(FIRST), Camera::default());
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
    assert_eq!(session.start_camera(far), around([210.0, 20.0, 30.0], 3.0));
    assert_eq!(session.start_camera(near), around([10.0, 20.0, 30.0], 3.0));
    assert_eq!(session.start_camera(placed), Camera { distance: 2.0, ..Camera::default() });
    assert!(session.is_start_known(near));
    assert!(session.start_camera(ViewId(3)) == Camera::default(), "there is no such view");

    // A resource that is made anew is seen anew; the other stays where it is.
    session.run_steps(1, |_| {}).unwrap();
    session.set_source(source.replacen("count = 64", "count = 32\nkeep = false", 1));
    assert!(session.wait_for_program().unwrap());
    session.run_steps(1, |_| {}).unwrap();
    session.measure().unwrap();
    assert_eq!(session.start_camera(near), around([10.0, 20.0, 30.0], 3.0));
    assert_eq!(session.start_camera(far), around([110.0, 20.0, 30.0], 3.0));
}
