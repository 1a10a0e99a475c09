//! Textures in running scenes: what kernels write through objects, what OpenGL sees of it, and what an edit keeps.

use warpaint::{
    device::Device,
    scene::ResourceId,
    session::{Session, Value},
};

use super::{FIRST, floats, open, open_on, open_with_gl, told_and_still_running};
use crate::support::{devices, set};

const DYE: &str = include_str!("../../scenes/dye.cu");
const SOLID: &str = include_str!("../../scenes/solid.cu");
const W: usize = 48;
const H: usize = 32;

/// Runs a test on each device that there is.
fn on_each_device(test: impl Fn(&Device)) {
    for device in devices() {
        test(&device);
    }
}

/// The dye after so many rounds. All of it is exact: a round needs three bits more, and there are few.
fn dye_after(rounds: usize) -> Vec<f32> {
    let mut dye: Vec<f32> = (0..W * H).map(|i| ((7 * (i % W) + 3 * (i / W)) % 16) as f32).collect();
    for _ in 0..rounds {
        let at = |x: usize, y: usize| dye[y % H * W + x % W];
        let spread = |i: usize| {
            let (x, y) = (i % W + W, i / W + H);
            let around = at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1);
            (around + 4.0 * at(x, y)) / 8.0
        };
        dye = (0..W * H).map(spread).collect();
    }
    dye
}

fn read(session: &mut Session, name: &str) -> Vec<f32> {
    floats(&session.read(name).unwrap())
}

/// What OpenGL has of a texture.
fn seen_by_gl(session: &Session, resource: usize) -> Vec<f32> {
    let texture = session.texture(ResourceId(resource)).unwrap();
    let mut bytes = vec![0; texture.bytes()];
    texture.read(&mut bytes).unwrap();
    floats(&bytes)
}

#[test]
fn halves_change_places_after_each_launch_that_writes_the_next() {
    on_each_device(|device| {
        let mut session = open_on(device, DYE);
        session.run_steps(1, |_| {}).unwrap();
        // Three launches: an odd number, so that the halves have changed places at the step's end.
        assert_eq!(read(&mut session, "dye"), dye_after(3));
        assert_eq!(read(&mut session, "shown"), dye_after(3), "passes of the same step see it");
        session.run_steps(1, |_| {}).unwrap();
        assert_eq!(read(&mut session, "dye"), dye_after(6));

        set(&mut session, "rounds", Value::Int(0));
        set(&mut session, "dimmed", Value::Toggle(true));
        session.run_steps(1, |_| {}).unwrap();
        let half: Vec<f32> = dye_after(6).iter().map(|v| v / 2.0).collect();
        assert_eq!(read(&mut session, "dye"), half, "in place, where `only_if` says so");
        assert_eq!(read(&mut session, "shown"), half);

        session.reset();
        session.run_steps(0, |_| {}).unwrap();
        assert_eq!(read(&mut session, "dye"), dye_after(0), "poured anew");
    });
}

#[test]
fn opengl_sees_each_step_of_a_texture() {
    on_each_device(|device| {
        let Some((_context, mut session)) = open_with_gl(device, "dye.cu", DYE) else { return };
        for step in 1..=2 {
            session.run_steps(1, |_| {}).unwrap();
            assert_eq!(seen_by_gl(&session, 0), dye_after(3 * step));
        }
        assert_eq!(read(&mut session, "dye"), dye_after(6));
    });
}

#[test]
fn a_texture_of_three_dimensions_is_counted_up_in_place() {
    on_each_device(|device| {
        let Some((_context, mut session)) = open_with_gl(device, "solid.cu", SOLID) else { return };
        session.run_steps(3, |_| {}).unwrap();
        let texel = |i: usize| [i % 20, i / 20 % 12, i / 240, 1].map(|v| 3.0 * v as f32);
        let expected: Vec<f32> = (0..20 * 12 * 7).flat_map(texel).collect();
        assert_eq!(read(&mut session, "block"), expected);
        assert_eq!(seen_by_gl(&session, 0), expected);
        let slab = read(&mut session, "slab");
        assert_eq!(slab[28..], [3.0 * 1680.0, 3.0]);
        assert!(slab[..28].iter().all(|v| *v == 0.0), "it began as zeros");
        assert!(session.texture(ResourceId(1)).is_none(), "the view draws the other one");
    });
}

#[test]
fn an_edit_keeps_a_texture_whose_size_it_leaves() {
    let mut session = open(DYE);
    session.run_steps(1, |_| {}).unwrap();
    session.set_source(DYE.replace("double = true", "double = true\nfilter = \"linear\""));
    assert!(session.wait_for_program().unwrap());
    session.run_steps(1, |_| {}).unwrap();
    assert_eq!(read(&mut session, "dye"), dye_after(6), "how it is sampled is no matter");

    session.set_source(
        DYE.replace("h = 32", "h = 33").replace("double = true", "double = true\nkeep = false"),
    );
    assert!(session.wait_for_program().unwrap());
    session.run_steps(0, |_| {}).unwrap();
    let poured: Vec<f32> =
        (0..48 * 33).map(|i| ((7 * (i % 48) + 3 * (i / 48)) % 16) as f32).collect();
    assert_eq!(read(&mut session, "dye"), poured, "where it is not kept it is poured anew");
}

#[test]
fn what_textures_cannot_be_is_told_on_its_line() {
    let mut session = open(DYE);
    let mut told = |from: &str, to: &str| {
        assert!(DYE.contains(from));
        let told = told_and_still_running(&mut session, DYE.replace(from, to));
        let mut errors = told.into_iter().filter(|line| line.contains(": error: "));
        errors.next().filter(|_| errors.next().is_none()).unwrap()
    };
    let size = "size   = [\"w\", \"h\"]";
    for (huge, why) in [
        ("[65536, 65536, 60]", "the array has 65536 texels in x, where"),
        ("[16384, 16384, 1000]", "GiB, and "),
    ] {
        let line = told(size, &format!("size = {huge}"));
        assert!(line.starts_with("scene.cu:9:10: error: the texture dye ("), "{line}");
        assert!(line.contains(" is too large: ") && line.contains(why), "{line}");
    }
    let single = told("double = true", "double = false");
    let missing = "error: there is no `dye_next`: the texture dye (48x32 r32f) is a single one";
    assert!(single.contains(missing), "{single}");
    let wrapped = told("double = true", "double = true\nwrap = \"mirror\"");
    assert!(wrapped.contains("cannot `mirror` where coordinates count texels"), "{wrapped}");
}

#[test]
fn texels_of_every_format_are_as_they_were_stored() {
    let source = include_str!("../../scenes/formats.cu");
    on_each_device(|device| {
        let mut session = open_on(device, source);
        session.run_steps(1, |_| {}).unwrap();
        let counted = || (0..96).map(|i| i as f32);
        let bytes: Vec<u8> = (0..96).collect();
        assert_eq!(session.read("bytes").unwrap(), bytes);
        let halves: Vec<u16> = (0..96).map(|i| 0x3c00 + i).collect();
        assert_eq!(session.read("halves").unwrap(), bytemuck::cast_slice::<u16, u8>(&halves));
        assert_eq!(read(&mut session, "quads"), counted().collect::<Vec<_>>());

        let expected = [
            counted().map(|v| v / 255.0).collect(),
            counted().map(|v| 1.0 + v / 1024.0).collect(),
            counted().collect(),
            counted().map(|v| if v % 4.0 < 2.0 { v } else { 0.0 }).collect::<Vec<_>>(),
            counted().map(|v| if v % 4.0 < 1.0 { v } else { 0.0 }).collect(),
        ]
        .concat();
        assert_eq!(read(&mut session, "seen"), expected);
    });
}

#[test]
fn texture_objects_read_between_and_beyond_texels_as_declared() {
    let source = include_str!("../../scenes/sampled.cu");
    on_each_device(|device| {
        let mut session = open_on(device, source);
        session.run_steps(1, |_| {}).unwrap();
        // A texel is x + 10 y + 100 z; its middle is at a half.
        let nearest = [12.0, 30.0];
        let others = [6.5, 32.0, 1.5, 2.0, 0.0, 3.0, 55.5];
        assert_eq!(read(&mut session, "seen"), [&nearest[..], &others].concat());

        let smooth =
            source.replacen("size   = [4, 4]\n", "size   = [4, 4]\nfilter = \"linear\"\n", 1);
        session.set_source(smooth);
        assert!(session.wait_for_program().unwrap());
        session.run_steps(1, |_| {}).unwrap();
        assert_eq!(
            read(&mut session, "seen")[0],
            6.5,
            "no reset pass ran: the ramp is still there"
        );
    });
}

#[test]
fn textures_have_statistics_of_each_component() {
    on_each_device(|device| {
        let mut session = open_on(device, SOLID);
        session.run_steps(2, |_| {}).unwrap();
        session.measure().unwrap();
        let of = |component: usize| session.statistics(ResourceId(0))[component];
        for (component, most) in [(0, 38.0), (1, 22.0), (2, 12.0)] {
            let found = of(component);
            assert_eq!((found.count, found.min, found.max), (1680, 0.0, most));
            assert_eq!((found.mean, found.nan, found.inf), (most / 2.0, 0, 0));
        }
        assert_eq!((of(3).min, of(3).max), (2.0, 2.0));
    });
}

#[test]
fn a_fault_leaves_a_double_texture_as_the_step_before_left_it() {
    let faulty = DYE.replace("shown[y * w + x]", "shown[y * w + x + (1 << 20)]");
    let mut session = open(DYE);
    set(&mut session, "rounds", Value::Int(1));
    session.run_steps(1, |_| {}).unwrap();
    session.set_source(faulty.clone());
    assert!(session.wait_for_program().unwrap());
    session.run_steps(1, |_| {}).unwrap();
    let fault = session.snapshot().fault.unwrap();
    let line = faulty.lines().position(|line| line.contains("1 << 20")).unwrap() + 1;
    assert_eq!(fault.line, Some(line as u32), "{fault}");
    assert_eq!(read(&mut session, "dye"), dye_after(1), "the fault came after the launch");
    session.set_source(DYE.to_owned());
    assert!(session.wait_for_program().unwrap());
    session.run_steps(1, |_| {}).unwrap();
    assert_eq!(read(&mut session, "dye"), dye_after(2), "and it goes on from there");
}

#[test]
fn an_image_of_bytes_is_drawn_as_it_is() {
    let source = "/*---
[texture.picture]
format = \"rgba8\"
size   = [8, 8]
[[pass]]
kernel = \"paint\"
over   = \"picture\"
---*/
__global__ void paint(cudaSurfaceObject_t picture) {
    int x = threadIdx.x, y = threadIdx.y;
    if (x < 8 && y < 8) surf2Dwrite(make_uchar4(30 * x, 30 * y, x + y, 255), picture, x * 4, y);
}
";
    on_each_device(|device| {
        let Some((context, mut session)) = open_with_gl(device, "image.cu", source) else { return };
        assert!(session.snapshot().compile.diagnostics.is_empty());
        session.run_steps(1, |_| {}).unwrap();
        let mut view = warpaint::draw::View::new(context.gl(), [8, 8]).unwrap();
        let camera = session.start_camera(FIRST, 1.0);
        let drawn = view.draw(&session.frame(FIRST, &camera)).unwrap().read_rgba8().unwrap();
        // The first row of a texture is the lowest of the picture.
        let texel = |i: usize| [30 * (i % 8), 30 * (7 - i / 8), i % 8 + 7 - i / 8, 255];
        let expected: Vec<u8> = (0..64).flat_map(texel).map(|v| v as u8).collect();
        assert_eq!(drawn, expected);
    });
}
