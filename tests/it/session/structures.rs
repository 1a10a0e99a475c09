//! Structures that a pass gives to its kernel by value.

use super::{super::support::devices, *};

/// A scene whose kernel writes what it gets into `out`.
fn scene(args: &str) -> String {
    format!(
        r#"/*---
[constant]
n = 8
[param.drag]
value = 0.5
[array.out]
type = "double"
count = 20
[array.heat]
type = "float"
count = "n"
double = true
[texture.dye]
format = "rgba32f"
size = [4, 4]
[[pass]]
kernel = "start"
on = "reset"
over = "heat"
[[pass]]
kernel = "put"
grid = 1
block = 1
{args}
---*/
enum Boundary {{ open, closed, periodic }};
struct Grid {{ char tag; int size[3]; double spacing; }};
namespace physics {{
template <class T> struct Setup {{
    Grid grid;
    float3 gravity;
    T drag;
    bool wraps;
    Boundary boundary;
    const float *from;
    float *to;
    long long cells;
    unsigned short corner[2][2];
}};
}}
using Setup = physics::Setup<float>;
struct Odd {{ cudaStream_t *what; float (*f)(float); Grid *grid; }};
__global__ void start(float *heat, int n) {{ if (threadIdx.x < n) heat[threadIdx.x] = threadIdx.x; }}
__global__ void put(const Setup setup, double *out, float scale) {{
    out[0] = setup.grid.tag;
    for (int i = 0; i < 3; ++i) out[1 + i] = setup.grid.size[i];
    out[4] = setup.grid.spacing;
    out[5] = setup.gravity.x; out[6] = setup.gravity.y; out[7] = setup.gravity.z;
    out[8] = setup.drag;
    out[9] = setup.wraps;
    out[10] = setup.boundary;
    out[11] = setup.cells;
    for (int i = 0; i < 4; ++i) out[12 + i] = setup.corner[i / 2][i % 2];
    out[16] = setup.from ? setup.from[3] : -1;
    if (setup.to) setup.to[3] = 10 * scale;
}}
"#
    )
}

const ALL: &str = r#"args = { scale = "step + 1", setup = { grid = { tag = 7, size = ["n", 2, "step"], spacing = 0.25 }, gravity = [0, "-9.5", 1], drag = "drag", wraps = "step == 1", boundary = 2, from = "heat", to = "heat_next", cells = "heat_count", corner = [1, 2, 3, "4 * n"] } }"#;

#[test]
fn fields_are_filled_by_name_wherever_they_lie() {
    for device in devices() {
        let mut session = open_on(&device, &scene(ALL));
        for step in 0..3 {
            session.run_steps(1, |_| {}).unwrap();
            let fault = session.snapshot().fault;
            assert!(fault.is_none(), "{fault:?}");
            let out: Vec<f64> = bytemuck::pod_collect_to_vec(&session.read("out").unwrap());
            let wraps = f64::from(u8::from(step == 1));
            // The halves of `heat` change places after each step: 3 at first, then what the step before wrote.
            let from = if step == 0 { 3.0 } else { f64::from(10 * step) };
            let expected = [
                7.0,
                8.0,
                2.0,
                f64::from(step),
                0.25,
                0.0,
                -9.5,
                1.0,
                0.5,
                wraps,
                2.0,
                8.0,
                1.0,
                2.0,
                3.0,
                32.0,
                from,
            ];
            assert_eq!(out[..17], expected, "step {step}");
        }
        let heat = floats(&session.read("heat").unwrap());
        assert_eq!(heat[3], 30.0);
    }
}

/// What is not given is 0.
#[test]
fn other_fields_are_zero() {
    let mut session = open(&scene("args = { scale = 1, setup = { drag = 2 } }"));
    session.run_steps(1, |_| {}).unwrap();
    let out: Vec<f64> = bytemuck::pod_collect_to_vec(&session.read("out").unwrap());
    let mut expected = [0.0; 17];
    (expected[8], expected[16]) = (2.0, -1.0);
    assert_eq!(out[..17], expected);
}

#[test]
fn faults_are_told_at_the_field() {
    let cases = [
        ("setup = { darg = 1 }", "24:38", "has no member \"darg\""),
        (
            "setup = { grid = { size = [1, 2] } }",
            "24:54",
            "`grid.size` has 3 numbers, and is given 2",
        ),
        ("setup = { grid = { size = 1 } }", "24:47", "`grid.size` has 3 elements"),
        ("setup = { drag = \"heat\" }", "24:38", "the array heat"),
        (
            "setup = { cells = 1.5 }",
            "24:39",
            "a float constant, 1.5, but the kernel takes `long long`",
        ),
        ("setup = { grid = { tag = 300 } }", "24:46", "does not fit"),
        ("setup = { grid = 3 }", "24:38", "a type that a manifest has no values for"),
        ("setup = { from = \"dye\" }", "24:38", "the texture dye"),
        ("setup = { from = \"drag\" }", "24:38", "a float parameter"),
        ("setup = 3", "24:29", "`setup` is a `Setup`"),
        ("setup = [3, 4]", "24:29", "`setup` is a `Setup`"),
        ("setup = { drag = 1 }, n = { x = 1 }", "24:47", "no parameter `n`"),
    ];
    for (args, place, part) in cases {
        let source = scene(&format!("args = {{ scale = 1, {args} }}"));
        let interop = Interop::none(&Device::cpu().unwrap());
        let compiler = Compiler::new(Cache::user());
        let options = options("scene.cu", &source);
        let device = Device::cpu().unwrap();
        let mut session = Session::open(options, device, compiler, interop, || {}).unwrap();
        assert!(!session.wait_for_program().unwrap(), "{args}");
        let found = session.snapshot().compile.diagnostics;
        let text: Vec<String> = found.iter().map(ToString::to_string).collect();
        let line = format!("scene.cu:{}:", place.split(':').next().unwrap());
        assert!(
            text.iter().any(|t| t.starts_with(&line) && t.contains(part)),
            "{args} {place}: {text:#?}"
        );
    }
}
