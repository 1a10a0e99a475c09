//! What host code sets before launches that a scene's steps repeat.

use super::drafts;
use crate::support::{Workplace, read_npy_f32};

const KERNELS: &str =
    "__global__ void count(float *t, const float *a, int by) { atomicAdd(t, by + a[threadIdx.x]); }
    __global__ void other(float *x, int i) { x[0] += 1; }\n";

/// A scene of this host code, in which nothing is marked, has this in `t` after three steps.
#[track_caller]
fn leaves(functions: &str, host: &str, expected: f32) {
    let place = Workplace::new();
    let memory = "float *t, *a, *x; cudaMalloc(&t, 4); cudaMalloc(&a, 256); cudaMalloc(&x, 4);";
    place.file("t.cu", &format!("{KERNELS}{functions}\nint main() {{ {memory} {host} }}\n"));
    place.run(&["new", "--from", "t.cu", "--out", "s.cu"]).expect(0, &[]);
    let scene = std::fs::read_to_string(place.path("s.cu")).unwrap();
    assert!(!scene.contains("# fill in"), "{scene}");
    let run = ["render", "s.cu", "--steps", "3", "--device", "cpu", "--npy", "t=t.npy"];
    place.run(&run).expect(0, &[]);
    assert_eq!(read_npy_f32(&place.path("t.npy")).1, [expected], "{scene}");
}

#[test]
fn what_is_set_before_launches_is_so_in_each_step() {
    let (clear, count) = ("cudaMemset(t, 0, 4);", "count<<<1, 64>>>(t, a, 1);");
    leaves("", &format!("cudaMemset(a, 0, 256); {clear} {count}"), 64.0);
    leaves("", &format!("{clear} other<<<1, 1>>>(x, 1); {count} {count}"), 128.0);
    // In a function of its own, behind a launch that is made at times.
    leaves(
        "void clear(float *p) { cudaMemset(p, 0, 4); }",
        &format!("clear(t); for (int i = 0; i < 3; i++) other<<<1, 1>>>(x, i); {count}"),
        64.0,
    );
    // Behind the steps.
    leaves(
        "",
        &format!("for (int i = 0; i < 3; i++) other<<<1, 1>>>(x, 7); {clear} {count}"),
        64.0,
    );
    // Before the steps it is done once.
    leaves("", &format!("{clear} for (int i = 0; i < 9; i++) {count}"), 192.0);
    // As often as it is done.
    leaves("", &format!("{clear} {count} {clear} count<<<1, 64>>>(t, a, 2);"), 128.0);
}

#[test]
fn what_no_pass_sets_again_is_marked() {
    let memory = "float *t, *a, *x; cudaMalloc(&t, 4); cudaMalloc(&a, 256); cudaMalloc(&x, 4);";
    for (host, part) in [
        // Once before all rounds, each of which is a launch.
        (
            "cudaMemset(t, 0, 4); for (int i = 0; i < 3; i++) count<<<1, 64>>>(t, a, i);",
            "`cudaMemset(t,0,4)` is made once here, not in each step",
        ),
        (
            "cudaMemset(t, 255, 4); count<<<1, 64>>>(t, a, 1);",
            "# fill in: `cudaMemset(t,255,4)` is made",
        ),
    ] {
        drafts(KERNELS, &format!("int main() {{ {memory} {host} }}"), &[part]);
    }
    // What no kernel changes has it in each step.
    let host =
        format!("int main() {{ {memory} cudaMemset(a, 1, 256); count<<<1, 64>>>(t, a, 1); }}");
    let manifest = warpaint::scene::draft("t.cu", &format!("{KERNELS}{host}"));
    assert!(!manifest.contains("cudaMemset"), "{manifest}");
}

/// What the host fills and then sets to zeros is 0 then, whatever else is launched between.
#[test]
fn what_is_filled_and_cleared_is_cleared() {
    let host =
        "int main() { float *t, *a, *x; cudaMalloc(&t, 4); cudaMalloc(&a, 256); cudaMalloc(&x, 4);
        float h = 5; cudaMemcpy(t, &h, 4, cudaMemcpyHostToDevice); other<<<1, 1>>>(x, 1);
        cudaMemset(t, 0, 4); count<<<1, 1>>>(t, a, 1); }";
    drafts(KERNELS, host, &["kernel = \"count\"\nclear  = [\"t\"]\n"]);
}
