//! Of several functions or kernels of one name the one is taken that C++ takes, where that can be told.

use super::drafts;

const KERNELS: &str = "__global__ void k(int *a, int v) { a[0] += v; }
__global__ void m(int *a, int v) { a[0] += v; }
__global__ void m(int *a, float v) { a[0] += (int)(v * 10); }
__global__ void m(int *a, int v, int w) { a[0] += v * w; }
template <class T> __global__ void t(int *a, T v) { a[0] += (int)(v * 10); }
__global__ void t(int *a, int v) { a[0] += v; }
namespace one { __global__ void s(int *a) { a[0] += 1; } }
namespace two { __global__ void s(int *a) { a[0] += 2; } }
";

/// What each launch of `k` is given, in order, of this host code; nothing is marked.
#[track_caller]
fn given(functions: &str, main: &str, expected: &[&str]) {
    let source = format!(
        "{KERNELS}{functions}\nint main() {{ int *d; float *f; cudaMalloc(&d, 256); cudaMalloc(&f, 256); {main} }}\n"
    );
    let manifest = warpaint::scene::draft("t.cu", &source);
    let found: Vec<&str> = manifest.lines().filter_map(|line| line.strip_prefix("v = ")).collect();
    assert_eq!(found, expected, "{manifest}");
    assert!(!manifest.contains("fill in"), "{manifest}");
}

#[test]
fn functions_are_chosen_by_what_they_are_given() {
    let by_number = "void run(int *p, int v) { k<<<1, 1>>>(p, v); } void run(int *p, float v) { k<<<1, 1>>>(p, v * 10); }
        void run(int *p, unsigned v) { k<<<1, 1>>>(p, v + 100); }";
    given(
        by_number,
        "run(d, 2); run(d, 2.5f); run(d, 3u); run(d, 'a');",
        &["2", "25", "103", "97"],
    );
    let by_pointer = "void run(int *p, const float *q) { k<<<1, 1>>>(p, 1); } void run(int *p, const int *q) { k<<<1, 1>>>(p, 2); }";
    given(by_pointer, "run(d, f); run(d, d); run(d, d + 4); run(d, &f[3]);", &["1", "2", "2", "1"]);
    let by_count = "void run(int *p) { k<<<1, 1>>>(p, 1); } void run(int *p, int v, int w = 3) { k<<<1, 1>>>(p, v * w); }";
    given(by_count, "run(d); run(d, 2); run(d, 2, 5);", &["1", "6", "10"]);
    let by_structure = "struct A { void run(int *p) { k<<<1, 1>>>(p, 1); } }; struct B { void run(int *p) { k<<<1, 1>>>(p, 2); } };";
    given(by_structure, "A a; B b; b.run(d); a.run(d);", &["2", "1"]);
    let by_space = "namespace a { void run(int *p) { k<<<1, 1>>>(p, 1); } } namespace b { void run(int *p) { k<<<1, 1>>>(p, 2); } }
        namespace b { void outer(int *p) { run(p); } }";
    given(
        by_space,
        "{ using a::run; run(d); } { using namespace b; run(d); } a::run(d); b::run(d); b::outer(d);",
        &["1", "2", "1", "2", "2"],
    );
}

#[test]
fn what_is_not_told_is_marked() {
    for (functions, main) in [
        (
            "void run(int *p, int v) { k<<<1, 1>>>(p, v); } void run(int *p, float v) { k<<<1, 1>>>(p, 9); }",
            "run(d, unknown());",
        ),
        (
            "void run(int *p, int v) { k<<<1, 1>>>(p, v); } void run(int *p, float v);",
            "run(d, 2.5f);",
        ),
        (
            "void run(int *p, int v) { k<<<1, 1>>>(p, v); } namespace z { void run(int *p, int v); }",
            "z::run(d, 2);",
        ),
        ("", "m<<<1, 1>>>(d, unknown());"),
        (
            "struct B { virtual void run(int *p) { k<<<1, 1>>>(p, 1); } }; struct D : B { void run(int *p) override { k<<<1, 1>>>(p, 2); } };",
            "B *b = new D; b->run(d);",
        ),
    ] {
        let source =
            format!("{KERNELS}{functions}\nint main() {{ int *d; cudaMalloc(&d, 256); {main} }}\n");
        let manifest = warpaint::scene::draft("t.cu", &source);
        assert!(manifest.contains("# fill in: "), "{main}:\n{manifest}");
    }
}

#[test]
fn kernels_are_chosen_by_what_they_are_given() {
    let main = "int main() { int *d; cudaMalloc(&d, 256); m<<<1, 1>>>(d, 2); m<<<1, 1>>>(d, 2.5f); m<<<1, 1>>>(d, 2, 5);
        t<<<1, 1>>>(d, 2); t<<<1, 1>>>(d, 2.5f); one::s<<<1, 1>>>(d); { using two::s; s<<<1, 1>>>(d); } }";
    let parts = [
        "kernel = \"m(int *, int)\"",
        "kernel = \"m(int *, float)\"",
        "v = 2.5\n",
        "kernel = \"m(int *, int, int)\"",
        "w = 5\n",
        "kernel = \"t(int *, int)\"",
        "kernel = \"t<float>\"",
        "kernel = \"one::s\"",
        "kernel = \"two::s\"",
    ];
    drafts(KERNELS, main, &parts);
}

/// CUDA's headers have functions of these names.
#[test]
fn kernels_may_be_called_as_functions_of_headers_are() {
    let text = "__global__ void max(float *a, int n) { a[threadIdx.x] += n; }
        __global__ void norm(const float *a, float *b) { b[threadIdx.x] = a[threadIdx.x] / 2; }
        template <class T> __global__ void abs(T *a, T v) { a[threadIdx.x] += v; }
        int main() { float *a, *b; cudaMalloc(&a, 128); cudaMalloc(&b, 128);
        max<<<1, 32>>>(a, 3); norm<<<1, 32>>>(a, b); abs<float><<<1, 32>>>(b, 4); }\n";
    let parts = ["kernel = \"max\"\n", "kernel = \"norm\"\n", "kernel = \"abs<float>\"\n"];
    assert_eq!(super::after_a_step(text, &parts, "b")[..2], [5.5, 5.5]);
}
