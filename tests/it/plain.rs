//! `warpaint check` of files that have no manifest.

use super::support::Workplace;

const MAIN: &str = "#include <cstdio>\n#include <vector>\n__global__ void fill(float *a, float v) { a[threadIdx.x] = v; }\n\
    template <class T> __global__ void copy(T *a, const T *b) { a[threadIdx.x] = b[threadIdx.x]; }\n\
    __global__ void twice(float *a) { a[threadIdx.x] *= 2; }\n\
    int main() {\n    std::vector<float> v(64);\n    float *d;\n    cudaMalloc(&d, 256);\n    fill<<<1, 64>>>(d, 1.0f);\n}\n";

#[test]
fn a_file_with_main_compiles_and_loads() {
    let place = Workplace::new();
    place.file("main.cu", MAIN);
    let ended = place.run(&["check", "main.cu"]);
    ended.expect(0, &["main.cu: note: 2 kernels compile and load on", "instances alone: `copy`"]);
    place.file("wrong.cu", &MAIN.replace("*= 2", "*= two"));
    place
        .run(&["check", "wrong.cu"])
        .expect(1, &["wrong.cu:5:53: error: identifier \"two\" is undefined"]);
    // One with a manifest is a scene, unless it is asked for otherwise.
    let scene =
        format!("/*---\n[[pass]]\nkernel = \"nothing\"\ngrid = 1\nblock = 1\n---*/\n{MAIN}");
    place.file("scene.cu", &scene);
    place.run(&["check", "scene.cu"]).expect(1, &["nothing"]);
    place.run(&["check", "--load-only", "scene.cu"]).expect(0, &["2 kernels compile and load"]);
    place.file("half.cu", &format!("/*---\n[[pass]]\n{MAIN}"));
    place
        .run(&["check", "half.cu"])
        .expect(1, &["half.cu:1:1: error: the manifest that starts here has no end"]);
}

/// What a template does wrong shows where it is an instance.
#[test]
fn instances_that_the_host_launches_are_compiled() {
    let place = Workplace::new();
    let text = "template <typename T, int size> __global__ void scale(T *a) { a[size % 3] *= T(2); }\n\
                template <typename T> __global__ void other(T *a) { a[0] = 1; }\n\
                template <typename T> void run(T *a) { scale<T, 8><<<1, 1>>>(a); }\n\
                int main() { float *a; double *b; run<double>(b); scale<float, (1 > 0)><<<1, 2>>>(a); }\n";
    place.file("t.cu", text);
    let told =
        ["t.cu: note: 2 kernels compile and load on", "of templates, instances alone: `other`"];
    place.run(&["check", "t.cu"]).expect(0, &told);
    let wrong = text.replace("*= T(2)", "= T::two");
    place.file("wrong.cu", &wrong);
    place.run(&["check", "wrong.cu"]).expect(1, &["wrong.cu:1:"]);
}

/// All of them at once, each at its line.
#[test]
fn what_the_cpu_device_lacks_is_named() {
    let place = Workplace::new();
    let text = "__global__ void k(float *c) {\n    asm volatile(\"wgmma.fence.sync.aligned;\");\n    \
                asm volatile(\"wgmma.commit_group.sync.aligned;\");\n    c[0] = 1;\n}\n";
    place.file("wgmma.cu", text);
    let ended = place.run(&["check", "wgmma.cu", "--device", "cpu"]);
    ended.expect(1, &["wgmma.cu:2:", "wgmma.cu:3:"]);
    let told = ended.err.matches("the CPU device does not support `wgmma.").count();
    assert_eq!(told, 2, "{}", ended.err);
}
