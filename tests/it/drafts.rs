//! `warpaint new`: manifests for files that have none.

mod accounted;
mod calls;
mod cleared;
mod deduced;
mod exchanged;
mod extents;
mod files;
mod filled;
mod functions;
mod generated;
mod host_code;
mod left_open;
mod libraries;
mod memory;
mod missing;
mod moved;
mod overloads;
mod pointers;
mod repeated;
mod scopes;
mod seen;
mod structures;
mod templates;
mod types;

use super::support::{Workplace, read_npy_f32};

/// A file with a loop of time steps, halves that change places, sizes by constants, and data from the host.
const HEAT: &str = r#"
#include <cstdio>
#include <vector>
#define BLOCK 16
const int width = 64, height = 1 << 5;
__global__ void start(float *t, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) t[y * w + x] = x == 0;
}
__global__ void step(const float *__restrict__ in, float *out, const float *source, int w, int h, float k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float left = in[y * w + max(x - 1, 0)], right = in[y * w + min(x + 1, w - 1)];
    out[y * w + x] = in[y * w + x] + k * (left + right - 2 * in[y * w + x]) + source[y * w + x];
}
int main(int argc, char **argv) {
    int steps = argc > 1 ? atoi(argv[1]) : 100;
    size_t bytes = width * height * sizeof(float);
    std::vector<float> host(width * height);
    float *d_in, *d_out, *d_source;
    cudaMalloc((void **)&d_in, bytes);
    cudaMalloc((void **)&d_out, bytes);
    cudaMalloc(&d_source, bytes);
    cudaMemcpy(d_source, host.data(), bytes, cudaMemcpyHostToDevice);
    dim3 block(BLOCK, BLOCK), grid((width + BLOCK - 1) / BLOCK, (height + block.y - 1) / block.y);
    start<<<grid, block>>>(d_in, width, height);
    for (int i = 0; i < steps; ++i) {
        step<<<grid, block>>>(d_in, d_out, d_source, width, height, 0.25f);
        std::swap(d_in, d_out);
    }
    printf("done\n");
}
"#;

#[test]
fn a_program_with_main_becomes_a_scene_that_runs() {
    let place = Workplace::new();
    place.file("heat.cu", HEAT);
    let ended = place.run(&["new", "--from", "heat.cu"]);
    ended.expect(0, &[]);
    let expected = r#"/*---
title = "heat.cu"

[array.d_in]
type  = "float"
count = 2048
double = true

[array.d_source]
type  = "float"
count = 2048
# The host: std::vector<float>host(width*height)
value = 0.0

[[pass]]
kernel = "start"
on     = "reset"
grid   = [4, 2]
block  = [16, 16]

[pass.args]
t = "d_in"
w = 64
h = 32

[[pass]]
kernel = "step"
grid   = [4, 2]
block  = [16, 16]

[pass.args]
in = "d_in"
out = "d_in_next"
source = "d_source"
w = 64
h = 32
k = 0.25

[view]
kind     = "image"
texture  = "d_in"
size     = [64, 32]
colormap = "viridis"
---*/
"#;
    assert_eq!(ended.out, expected);
    place.run(&["new", "--from", "heat.cu", "--out", "scene.cu"]).expect(0, &[]);
    let scene = std::fs::read_to_string(place.path("scene.cu")).unwrap();
    place.file("scene.cu", &scene.replace("random = [0, 1]", "value = 0"));
    let run = ["render", "scene.cu", "--steps", "3", "--device", "cpu", "--npy", "d_in=a.npy"];
    place.run(&run).expect(0, &[]);
    let (_, found) = read_npy_f32(&place.path("a.npy"));
    // Three steps of diffusion from a border that stays at first.
    let mut row = [0.0_f32; 64];
    row[0] = 1.0;
    for _ in 0..3 {
        let before = row;
        for x in 0..64 {
            let (left, right) = (before[x.max(1) - 1], before[(x + 1).min(63)]);
            row[x] = before[x] + 0.25 * (left + right - 2.0 * before[x]);
        }
    }
    assert_eq!(found[64..128], row);
    // Nothing is overwritten, and no manifest written before another.
    place.run(&["new", "--from", "heat.cu", "--out", "scene.cu"]).expect(2, &["scene.cu"]);
    place.run(&["new", "--from", "scene.cu"]).expect(2, &["has a manifest already"]);
    place.run(&["new", "--from", "nothing.cu"]).expect(2, &["nothing.cu"]);
}

/// Loops whose variables are given to kernels are groups, with formulas of their rounds.
#[test]
fn loops_become_groups() {
    let place = Workplace::new();
    let source = "__global__ void bitonic(float *dev, int j, int k) {
    unsigned i = threadIdx.x + blockDim.x * blockIdx.x, ixj = i ^ j;
    if (ixj > i && ((i & k) == 0) == (dev[i] > dev[ixj])) { float t = dev[i]; dev[i] = dev[ixj]; dev[ixj] = t; }
}
#define N 1024
void sort(float *values) {
    float *dev_values;
    cudaMalloc((void **)&dev_values, N * sizeof(float));
    int j, k;
    for (k = 2; k <= N; k <<= 1) {
        for (j = k >> 1; j > 0; j = j >> 1) {
            bitonic<<<N / 256, 256>>>(dev_values, j, k);
        }
    }
    cudaFree(dev_values);
}
";
    place.file("sort.cu", &source.replace("j = j >> 1", "j >>= 1"));
    let ended = place.run(&["new", "--from", "sort.cu"]);
    ended.expect(0, &[]);
    for part in [
        "[[pass]]\nrepeat  = 10\ncounter = \"k\"\n",
        "[[pass.pass]]\nrepeat  = \"ilog2((2 << k) >> 1) + 1\"\ncounter = \"j\"\n",
        "[[pass.pass.pass]]\nkernel = \"bitonic\"\ngrid   = 4\nblock  = 256\n",
        "j = \"((2 << k) >> 1) >> j\"\nk = \"2 << k\"\n",
    ] {
        assert!(ended.out.contains(part), "{part} in {}", ended.out);
    }
    place.run(&["new", "--from", "sort.cu", "--out", "s.cu"]).expect(0, &[]);
    place.run(&["render", "s.cu", "--steps", "1", "--device", "cpu"]).expect(0, &[]);
}

/// Without host code each kernel becomes a pass, its parameters' sizes marked.
#[test]
fn kernels_alone_become_passes() {
    let place = Workplace::new();
    let source = "template <class T> __global__ void any(T *a) {}
__global__ void saxpy(int n, float a, const float *x, float *y, cudaTextureObject_t picture) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i] + tex2D<float4>(picture, i, 0).x;
}
__global__ void mark(bool *seen, int *keys, double2 where) { seen[threadIdx.x] = keys[0] == where.x; }
";
    place.file("lib.cu", source);
    let ended = place.run(&["new", "--from", "lib.cu", "--out", "scene.cu"]);
    ended.expect(0, &[]);
    let text = std::fs::read_to_string(place.path("scene.cu")).unwrap();
    for part in [
        "# `any` is a template",
        "n = 65536 # fill in: n\na = 0.0 # fill in: a\n",
        "[texture.picture]\nformat = \"rgba32f\"",
        "keys = \"keys_\"\nwhere = [0, 0] # fill in: where\n",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    place.run(&["render", "scene.cu", "--steps", "2", "--device", "cpu"]).expect(0, &[]);
}

/// What the launches of a template say of its arguments, default arguments, truth values, and small types.
/// A parameter without a name is none that a manifest can name, and a file's name may steer the terminal.
#[test]
fn odd_names_leave_a_manifest_that_is_read() {
    let place = Workplace::new();
    let source = "__global__ void k(float*) {}\n__global__ void call(void (*)()) {}\n\
                  __global__ void m(float* a) { a[0] = 1; }\n";
    place.file("q\u{202e}.cu", source);
    let ended = place.run(&["new", "--from", "q\u{202e}.cu"]);
    ended.expect(0, &[]);
    for line in [
        "title = \"q\\u202e.cu\"",
        "# fill in: nothing is bound to a parameter without a name, as `k` has",
        "as `call` has",
    ] {
        assert!(ended.out.contains(line), "{}", ended.out);
    }
    assert!(!ended.out.contains('\u{202e}') && !ended.out.contains("[array.]"), "{}", ended.out);
    place.run(&["new", "--from", "q\u{202e}.cu", "--out", "s.cu"]).expect(0, &[]);
    place.run(&["render", "s.cu", "--steps", "1", "--device", "cpu"]).expect(0, &[]);
}

#[test]
fn instances_have_their_types() {
    let place = Workplace::new();
    let source = "\
template <class T, int N> __global__ void scale(T *out, const T *in, char small_size, bool twice = true, float by = 2.f) {
    if (threadIdx.x < N) out[threadIdx.x] = in[threadIdx.x] * (twice ? by : 1.f);
}
__global__ void mark(bool *seen, int *sum = NULL) { seen[threadIdx.x] = sum == NULL; }
template <class T, int groups = 2> void run(T *d_in, T *d_out, int size) {
    scale<T, 64 / groups><<<1, 32>>>(d_out, d_in, size);
}
template <typename Number, int n>
static void both() { Number *d_in, *d_out; run<Number, n>(d_in, d_out, any()); }
int main() {
    bool *d_seen;
    cudaMalloc(&d_seen, 64);
    both<unsigned int, 4>();
    both<double, 8>();
    mark<<<1, 64>>>(d_seen);
}
";
    place.file("instances.cu", source);
    place.run(&["new", "--from", "instances.cu", "--out", "scene.cu"]).expect(0, &[]);
    let text = std::fs::read_to_string(place.path("scene.cu")).unwrap();
    for part in [
        "kernel = \"scale<unsigned int,16>\"",
        "[array.d_out]\ntype  = \"unsigned\"",
        "small_size = 64 # fill in",
        "[array.d_seen]\ntype  = \"bool\"\ncount = 64\n",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let command =
        ["render", "scene.cu", "--steps", "1", "--device", "cpu", "--npy", "d_seen=seen.npy"];
    place.run(&command).expect(0, &[]);
    let seen = std::fs::read(place.path("seen.npy")).unwrap();
    assert!(seen.ends_with(&[1; 64]), "the pointer was null for every thread");
}

/// The numbers of an array of floats after one step of what is drafted, which has all of `parts`.
#[track_caller]
fn after_a_step(text: &str, parts: &[&str], array: &str) -> Vec<f32> {
    let place = Workplace::new();
    place.file("t.cu", text);
    place.run(&["new", "--from", "t.cu", "--out", "s.cu"]).expect(0, &[]);
    let scene = std::fs::read_to_string(place.path("s.cu")).unwrap();
    for part in parts {
        assert!(scene.contains(part), "no {part:?} in {scene}");
    }
    let npy = format!("{array}=a.npy");
    let run = ["render", "s.cu", "--steps", "1", "--device", "cpu", "--npy", &npy];
    place.run(&run).expect(0, &[]);
    read_npy_f32(&place.path("a.npy")).1
}

/// The manifest for host code that is `host`, with a kernel of these parameters; it has all of `parts`.
fn drafts(kernel: &str, host: &str, parts: &[&str]) {
    let manifest = warpaint::scene::draft("t.cu", &format!("{kernel}\n{host}\n"));
    for part in parts {
        assert!(manifest.contains(part), "{part} in\n{manifest}");
    }
    let scene = manifest + kernel;
    let found = warpaint::scene::Scene::parse("t.cu", &scene, &Default::default());
    found.unwrap_or_else(|found| panic!("{scene}\n{found:#?}"));
}

/// What is not understood to the end is a guess that says so: never a number or an array that only looks right.
#[test]
fn guesses_are_marked() {
    let mark = "__global__ void mark(int *a, int at) { a[at] = 1; }";
    let after = "int main() { int *a, i; cudaMalloc(&a, 256);
        for (i = 0; i < 48; i += 16) mark<<<1, 1>>>(a, i);
        mark<<<1, 1>>>(a, i); }";
    drafts(mark, after, &["at = \"i * 16\"\n", "at = 0 # fill in: i\n"]);
    let stride =
        "void run(int *a, int n, int by) { for (int t = 0; t < n; t += by) mark<<<1, 1>>>(a, t); }";
    drafts(mark, stride, &["repeat  = 1 # fill in: rounds", "at = 0 # fill in: t\n"]);
    let foreign = "void helper() { for (int stride = 1; stride < 8; stride *= 2) {} }
        void launch(int *a, int stride) { mark<<<1, 1>>>(a, stride); }";
    drafts(mark, foreign, &["at = 1 # fill in: stride\n"]);
    let called = "void launch(int *a, int n) { mark<<<n / 32, 32>>>(a, n); }
        int main() { const int n = 64; int *a; cudaMalloc(&a, 4 * n); launch(a, n); }";
    drafts(mark, called, &["grid   = 2\n", "at = 64\n"]);
    let cut = "void launch() { { const int c = 1000; } small<<<1, 1>>>(c, c); }";
    let parts = ["c = 0 # fill in: c\n", "d = 1000 # fill in: c\n"];
    drafts("__global__ void small(char c, int d) { }", cut, &parts);
    let changed = "const int size = 8; int main() { int *a, k = 1, n = size; cudaMalloc(&a, 256);
        dim3 grid(4); grid.x = 2;
        do { mark<<<grid, 32>>>(a, k); mark<<<1, 32>>>(a, n); k *= 2; } while (k < n); }";
    let parts = [
        "# fill in: `mark` is repeated while `k<n`",
        "grid   = 2\n",
        "at = 1 # fill in: k\n",
        "at = 8\n",
    ];
    drafts(mark, changed, &parts);
}

#[test]
fn pointers_are_arrays_or_guesses() {
    let add =
        "__global__ void add(const float *a, const float *b, float *c) { c[0] = a[0] + b[0]; }";
    let offset = "int main() { const int n = 32; float *a, *c; cudaMalloc(&a, 2 * n * sizeof(float));
        cudaMalloc((void **)&c, n * sizeof(float));
        for (int i = 0; i < 2; ++i) add<<<1, n>>>(a, static_cast<float *>(a + n), (float *)c + i); }";
    drafts(add, offset, &["b = \"a + 32\"\n", "c = \"c + i\"\n"]);
    let members = "struct Data { float *x; Data(int n) { cudaMalloc(&x, n * sizeof(float)); } };
        int main() { Data first(32), second(32); add<<<1, 32>>>(first.x, second.x, &first.x[4]); }";
    let parts = [
        "a = \"x\" # fill in: first.x\n",
        "b = \"x\" # fill in: second.x\n",
        "fill in: &first.x[4]",
    ];
    drafts(add, members, &parts);
    let step = "__global__ void step(const float *from, float *to, int n) { to[0] = from[0]; }";
    let pair = "int main() { float *x[2]; cudaMalloc(&x[0], 128); int source = 0, target = 1;
        for (int t = 0; t < 10; ++t) { step<<<1, 32>>>(x[source], x[target], 1); } }";
    drafts(step, pair, &["from = \"x\" # fill in: x[source]", "to = \"x\" # fill in: x[target]"]);
    let twice = "int main() { float *x, *y; cudaMalloc(&x, 128); cudaMalloc(&y, 128);
        for (int t = 0; t < 3; ++t) { step<<<1, 8>>>(x, y, 8); step<<<1, 1>>>(x, y, 9); std::swap(x, y); } }";
    let parts = [
        "from = \"x\"\nto = \"y\"\nn = 9\n\n# swap(x, y)\n",
        "copy   = { from = \"x\", to = \"x_swap\" }\n\n[[pass]]\ncopy   = { from = \"y\", to = \"x\" }",
        "copy   = { from = \"x_swap\", to = \"y\" }",
    ];
    drafts(step, twice, &parts);
    let sometimes = "int main() { float *x, *y; cudaMalloc(&x, 128); cudaMalloc(&y, 128);
        for (int t = 0; t < 3; ++t) { step<<<1, 8>>>(x, y, 8); if (t % 2) std::swap(x, y); } }";
    drafts(
        step,
        sometimes,
        &["only_if = \"step % 2 != 0\"\ncopy   = { from = \"x\", to = \"x_swap\" }"],
    );
    let moved = "int main() { float *x, *y; cudaMalloc(&x, 128); cudaMalloc(&y, 128);
        for (int t = 0; t < 3; ++t) { step<<<1, 8>>>(x, y, 8); x += 4; } }";
    drafts(step, moved, &["from = \"x\" # fill in: x\n"]);
    let by_hand = "int main() { float *f, *old, error = 1; cudaMalloc(&f, 1024); cudaMalloc(&old, 1024);
        while (error > 1e-6f) { cudaMemset(f, 0, 1024); step<<<1, 8>>>(old, f, 8); float *t = f; f = old; old = t; } }";
    let parts = [
        "double = true",
        "clear  = [\"old_next\"]\n",
        "to = \"old_next\"\n",
        "while `error>1e-6f`",
    ];
    drafts(step, by_hand, &parts);
}

/// Structures by value have what the host gives their fields, in whichever way.
#[test]
fn structures_by_value_have_their_fields() {
    let kernel = "struct Rod { float k; float3 at; int n; };
        __global__ void heat(float *a, Rod rod) { a[0] = rod.k * rod.n; }";
    let with = |given: &str| {
        format!(
            "int main() {{ const int n = 64; float *a; cudaMalloc(&a, 4 * n);
             {given} heat<<<1, n>>>(a, rod); }}"
        )
    };
    let whole = "rod = { k = 0.5, at = [1, 2.5, 3], n = 64 }\n";
    for given in [
        "Rod rod = { 0.5f, make_float3(1, 2.5f, 3), n };",
        "Rod rod{ 1.0f / 2, { 1, 2.5f, 3 }, 2 * n / 2 };",
        "struct Rod rod = { .n = n, .k = 0.5f, .at = { 1, 2.5f, 3 } };",
        "Rod rod; rod.k = 0.5f; rod.n = n; rod.at = make_float3(1, 2.5f, 3);",
        "Rod rod = { 0.5f, make_float3(1, 2.5f, 3), 7 }; rod.n = n;",
    ] {
        drafts(kernel, &with(given), &[whole]);
    }
    let unknown = "Rod rod = made(); rod.k = 0.25f;";
    let expected = "rod = { k = 0.25, at = [0, 0, 0], n = 0 } # fill in: rod\n";
    drafts(kernel, &with(unknown), &[expected]);
    let many = "struct Rod { int n; float of[1000]; };
        __global__ void heat(float *a, Rod rod) { a[0] = rod.of[rod.n]; }";
    drafts(many, &with("Rod rod; rod.n = 3;"), &["rod = { n = 3 } # fill in: rod\n"]);
    let short = "Rod rod = { 0.5f };";
    drafts(kernel, &with(short), &["at = [0, 0, 0], n = 0 } # fill in: rod\n"]);
}

#[test]
fn types_by_other_names_are_elements() {
    for name in ["typedef double Real;", "using Real = double;", "#define Real double"] {
        let kernel = format!("{name}\n__global__ void mark(Real *a) {{ a[threadIdx.x] = 1; }}");
        let host = "int main() { Real *a; cudaMalloc(&a, 32 * sizeof(Real)); mark<<<1, 32>>>(a); }";
        drafts(&kernel, host, &["[array.a]\ntype  = \"double\"\ncount = 32\n"]);
    }
}

#[test]
fn types_of_other_files_are_to_be_filled_in() {
    let kernel = "__global__ void mark(Other *a, const void *b) { }";
    let host = "int main() { Other *a; char *b; cudaMalloc(&a, 64); mark<<<1, 32>>>(a + 1, b); }";
    let parts = ["# fill in: `a` has elements of the type `Other`\n", "a = \"a\" # fill in: a+1\n"];
    drafts(kernel, host, &parts);
}

/// Whatever the text, the result is a manifest; nothing takes long or panics.
#[test]
fn any_text_gives_a_manifest() {
    use warpaint::scene::{Overrides, Scene, draft};
    let texts = [
        String::new(),
        "__global__ void k(int a".to_owned(),
        "k<<<".to_owned(),
        "k<<<1,1>>>(".to_owned(),
        "__global__ void k(int *a) {} void f() { for (;;) k<<<1, 2>>>(0); }".to_owned(),
        "__global__ void k(int *a, int b) {} int x = x + 1, y = z, z = y; void f() { k<<<x, y>>>(p, z); }".to_owned(),
        "__global__ void k(float *time) {} void f() { k<<<1, 1>>>(time /* *\u{2f} */); }".replace("\u{2f}", "-"),
        "#define A B\n#define B A\n__global__ void k(int a) {}\nvoid f() { k<<<A, A>>>(A); }".to_owned(),
        format!("__global__ void k(int a) {{}} int a0 = 1;{} void f() {{ k<<<1, 1>>>(a30); }}",
            (0..30).map(|i| format!("int a{} = a{i} + a{i};", i + 1)).collect::<String>()),
        format!("__global__ void k(int a) {{}} void f() {{ {} k<<<1, 1>>>(i); }}", "for (int i = 0; i < 9; i++) ".repeat(50)),
        "__global__ void k(int *i) {} int *i; void f() { for (int i = 1; i < 9; i *= 2) k<<<1, 1>>>(i); }".to_owned(),
        format!("void f() {{ k<<<{}1{}>>>(); }}", "(".repeat(20_000), ")".repeat(20_000)),
        "__global__ void k(int a) {} void f() { k<<<1, 1>>>(\"---*/\"); k<<<1,1>>>(\"*/ [x]\"); }".to_owned(),
        "swap(a, b); template <".to_owned(),
        "= a; a = b; b = t; __global__ void k(int a) {}".to_owned(),
        // Names that mean two things, pairs of halves that go round.
        "__global__ void k(int *a, int *b) {} int *d; void f() { for (int d_count = 0; d_count < 9; d_count++) k<<<1, 1>>>(d, d_count); }".to_owned(),
        "__global__ void k(int *a, float *b) {} int *d; float *d_next; void f() { k<<<1, 1>>>(d, d_next); }".to_owned(),
        "__global__ void k(int *a) {} int *a, *b, *c; void f() { for (int i = 0; i < 9; i++) { swap(a, b); swap(b, a); swap(b, c); swap(c, c); k<<<1, 1>>>(a); k<<<1, 1>>>(b); k<<<1, 1>>>(c); } }".to_owned(),
        // What a manifest does not take: numbers beyond its limits, and what is no expression.
        "__global__ void k(int *a, int b) {} int *v; void f() { for (int k = 2; k <= 1; k <<= 1) for (int j = k / 0; j > 0; j >>= 1) k<<<1, 1>>>(v, j); }".to_owned(),
        "__global__ void k(int *a, int b) {} int *v; void f() { for (int k = 2; k <= 1.5; k <<= 1) for (int j = 1; j < 0; j *= 2) k<<<1, 1>>>(v, j + k); }".to_owned(),
        "__global__ void k(int *a) {} int *v; void f() { cudaMalloc(&v, 1 << 60); k<<<dim3(1, 9765625), 16016, 1000000>>>(v); k<<<9999999999, dim3(64, 64), -4>>>(v); }".to_owned(),
        "__global__ void k(int *a, int b) {} int *v; void f() { for (int i = 0; i < 9; i++) k<<<1, i * 2.5, 0.5 * i>>>(v, i / 2.0); }".to_owned(),
        "__global__ void k(int a, int b, int c) {} void f() { for (int i = 0; i < 9; i++) { k<<<1, 1>>>(i * &, i = 2, i # 3); k<<<i %, 1, i *>>>(32a + i, i %, (i); } }".to_owned(),
        // What would take hours if it were looked at again and again.
        format!("__global__ void k(int a) {{}} void f() {{ {}1; k<<<1, 1>>>(a); }}", "a = ".repeat(100_000)),
        format!("__global__ void k(int a) {{}} void f(float {}) {{ k<<<1, 1>>>(a); }}", "*a, ".repeat(100_000)),
        format!("__global__ void k(int a) {{}} void f() {{ {} k<<<1, 1>>>(i); }}", "for (i = 0; i < 9; i++) ".repeat(30_000)),
        format!("__global__ void k(int *a) {{}} void f() {{ {} k<<<1, 1>>>(a); }}", "swap(a, b);".repeat(50_000)),
        format!("void f() {{ {} }}", "k<<<1, ".repeat(100_000)),
        format!("__global__ void k(int a) {{}} {} void f() {{ k<<<1, 1>>>({}); }}", "int a = b, b = a;".repeat(2000), "a + b * ".repeat(10_000)),
        (0..10_000).map(|i| format!("__global__ void k{i}(int *a) {{ }}")).collect(),
        format!("__global__ void k(float *a, int n) {{}} void f() {{ k<<<1, 64>>>(a, {}1{}); }}", "(".repeat(200_000), ")".repeat(200_000)),
        format!("__global__ void k(int *a, {}) {{}} int v = ({}1); void f() {{ {} }}",
            (0..400).map(|i| format!("int n{i}")).collect::<Vec<_>>().join(","), "1+".repeat(400_000),
            format!("k<<<1, 64>>>(a, {});", ["v"; 400].join(",")).repeat(200)),
        format!("__global__ void k(int a) {{}} void f() {{ {} k<<<1, 1>>>(i7); }}",
            (0..8).map(|i| format!("for (int i{i} = {}0; i{i} < 9; i{i}++) ", format!("i{} + ", i - 1).repeat(300))).collect::<String>()),
        format!("__global__ void k({}) {{}}", ["cudaTextureObject_t"; 50_000].iter().enumerate()
            .map(|(i, texture)| format!("{texture} t{i}")).collect::<Vec<_>>().join(",")),
        format!("void f() {{ {} }}", "cudaMalloc(cudaMemcpy(1, 2, 3, for (x) ".repeat(50_000)),
        format!("dim3 {} a;", "dim3, ".repeat(200_000)),
        // Macros, functions, branches and blocks without end.
        format!("{}\n__global__ void k(int a) {{}} void f() {{ k<<<1, 1>>>(M29); }}",
            (1..30).map(|i| format!("#define M{i} M{} + M{}\n", i - 1, i - 1)).collect::<String>()),
        format!("#define F(a, b) F(b, a) G(a, a)\n#define G(a, b) F(F(a, b), b)\n{} void f() {{ k<<<F(1, 2), G((, 1)>>>(F(1)); }}",
            "__global__ void k(int a) {}"),
        format!("{} __global__ void k(int a) {{}} void f() {{ k<<<1, 1>>>(f29(1)); }}",
            (1..30).map(|i| format!("int f{i}(int a) {{ return f{}(a) + f{}(f{i}(a)); }}", i - 1, i - 1)).collect::<String>()),
        format!("__global__ void k(int a) {{}} void f(int n) {{ {} k<<<1, 1>>>(n); }}", "if (n > 1) { n = n + 1; ".repeat(30_000)),
        format!("__global__ void k(int a) {{}} void f(int n) {{ for (;;) {{ {} {} }} }}",
            "if (n > 1) break; else continue;".repeat(20_000), "k<<<1, 1>>>(n);".repeat(300)),
        format!("__global__ void k(int a) {{}} void f() {{ {} k<<<1, 1>>>(n); }}", "{ int n = 1; n++; } ".repeat(50_000)),
        format!("__global__ void k(int a) {{}} void f() {{ int n = 0; {} k<<<1, 1>>>(n); }}", "n += n; n++; n <<= 1; ".repeat(30_000)),
        format!("__global__ void k(int *a) {{}} void f(int *a, int *b) {{ k<<<1, 1>>>(a); {} }}",
            "cudaMemcpy(a, b, 4, cudaMemcpyDeviceToDevice); cudaMemset(a, 1, n);".repeat(20_000)),
        format!("void f() {{ {} }}", "else do if (1) while (1) switch (1) for (;;) ".repeat(30_000)),
        format!("__global__ void k(int a) {{}} void f() {{ k<<<1, 1>>>({}1{}); }}", "(int)-!~".repeat(100), " ? 1 : 2".repeat(100)),
        // What would say more than a manifest should.
        "__global__ void k(float *a, int n) {} void f() { for (int i = 0; i < 4; i++) k<<<1, 64>>>(a, i \"#\\\n[[golden]] #\\\n\
         of = 'a' #\\\nfile = 'planted.npy' #\\\n[compile] #\\\ndefine = { EVIL = 1 } #\\\n#\"); }".to_owned(),
        "__global__ void k(float *a) {} void f() { k<<<1, 64>>>(R\"(\u{1b}[31mred)\"); }".to_owned(),
        "template <class T> __global__ void k(T *a, T b) {} void f() { k<\"---*/ int x; /*---\"><<<1, '\u{1b}'>>>(a, '*/'); }".to_owned(),
        "__global__ void k(int *\u{e4}) {} void f() { for (] = 0; ] < 9; ]++) k<<<1, 1>>>(\u{e4}[2]); swap(\"a\", \"b\"); }".to_owned(),
    ];
    for text in texts {
        let manifest = draft("any \"name\"\n.cu", &text);
        let found = Scene::parse("t.cu", &manifest, &Overrides::default());
        let shown: String = manifest.chars().take(5000).collect();
        let scene = found.unwrap_or_else(|found| panic!("{shown}\n{found:#?}"));
        assert!(
            scene.manifest.goldens.is_empty() && scene.manifest.compile.defines.is_empty(),
            "{shown}"
        );
        assert!(!manifest.chars().any(|c| c.is_control() && c != '\n'), "{shown}");
        assert_eq!(manifest.matches("*/").count(), 1, "{shown}");
    }
}

#[test]
fn structures_become_elements() {
    let place = Workplace::new();
    let text = "#include <cstdlib>
typedef struct { float x, y, z, vx, vy, vz; } Body;
__global__ void bodyForce(Body *p, float dt, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n) return;
    for (int j = 0; j < n; j++) p[i].vx += dt * (p[j].x - p[i].x);
}
int main(int argc, char **argv) {
    int nBodies = 3000;
    if (argc > 1) nBodies = atoi(argv[1]);
    int bytes = nBodies * sizeof(Body);
    float *buf = (float *)malloc(bytes);
    Body *p; float *d_buf;
    cudaMalloc(&d_buf, bytes);
    Body *d_p = (Body *)d_buf, *other;
    cudaMalloc(&other, 2 * bytes);
    cudaMemcpy(other, buf, bytes, cudaMemcpyHostToDevice);
    for (int iter = 0; iter < 10; iter++) bodyForce<<<(nBodies + 255) / 256, 256>>>(d_p, 0.01f, nBodies);
    bodyForce<<<1, 256>>>(other, 0.01f, nBodies);
}
";
    place.file("nbody.cu", text);
    place.run(&["new", "--from", "nbody.cu", "--out", "scene.cu"]).expect(0, &[]);
    let scene = std::fs::read_to_string(place.path("scene.cu")).unwrap();
    for array in [
        "[array.d_buf]\ntype  = \"Body\"\ncount = 3000\n",
        "[array.other]\ntype  = \"Body\"\ncount = 6000\n",
    ] {
        assert!(scene.contains(array), "{scene}");
    }
    assert!(scene.contains("count = 6000\n# The host fills it"), "{scene}");
    assert!(scene.contains("\nrandom = [-1, 1] # fill in"), "{scene}");
    let position = r#"position = ["d_buf.x", "d_buf.y", "d_buf.z"]"#;
    assert!(scene.contains(&format!("[view]\nkind     = \"points\"\n{position}\n")), "{scene}");
    let run = ["render", "scene.cu", "--steps", "1", "--device", "cpu", "--npy", "other=p.npy"];
    place.run(&run).expect(0, &[]);
    let file = std::fs::read(place.path("p.npy")).unwrap();
    assert!(file.windows(17).any(|part| part == b"('vx', '<f4'), ('"), "its fields have names");
}

/// The host code of a program whose kernel takes these, and the view of its scene.
fn view_of(types: &str, parameters: &str, host: &str, arguments: &str) -> String {
    let place = Workplace::new();
    let text = format!(
        "{types}\n__global__ void k({parameters}) {{}}\nint main() {{\n{host}\nk<<<1, 32>>>({arguments});\n}}\n"
    );
    place.file("program.cu", &text);
    place.run(&["new", "--from", "program.cu", "--out", "scene.cu"]).expect(0, &[]);
    place.run(&["render", "scene.cu", "--device", "cpu"]).expect(0, &[]);
    let scene = std::fs::read_to_string(place.path("scene.cu")).unwrap();
    let (manifest, _) = scene.split_once("---*/").unwrap();
    let starts = ["[view]", "[[plot]]"];
    let view = starts.iter().find_map(|start| manifest.find(start).map(|at| &manifest[at..]));
    view.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn something_of_each_program_is_seen() {
    let of = |pointers: &[&str], bytes: &str| -> String {
        let one = |name: &&str| format!("float *{name}; cudaMalloc(&{name}, {bytes});\n");
        pointers.iter().map(one).collect()
    };
    let arrays = of(&["posX", "posY", "velX"], "100 * 4");
    let view = view_of("", "float *a, float *b, float *c", &arrays, "posX, posY, velX");
    assert_eq!(view, r#"[view] kind = "points" position = ["posX", "posY"]"#);
    let arrays = of(&["x", "y", "z"], "100 * 4");
    let view = view_of("", "float *a, float *b, float *c", &arrays, "x, y, z");
    assert_eq!(view, r#"[view] kind = "points" position = ["x", "y", "z"]"#);
    let types = "struct Q { float3 at; }; struct P { int id; Q where; float x, y; };";
    let view = view_of(types, "P *p", "P *p; cudaMalloc(&p, 64 * sizeof(P));", "p");
    assert_eq!(view, r#"[view] kind = "points" position = "p.where.at""#);
    // The result of a product of matrices, rows first.
    let arrays = of(&["A", "B", "C"], "32 * 64 * sizeof(float)")
        + "cudaMemcpy(A, 0, 4, cudaMemcpyHostToDevice); cudaMemcpy(B, 0, 4, cudaMemcpyHostToDevice);";
    let view =
        view_of("", "float *a, float *b, float *c, int M, int N", &arrays, "A, B, C, 32, 64");
    assert_eq!(view, r#"[view] kind = "image" texture = "C" size = [64, 32] colormap = "viridis""#);
    // Neither is a row of ten million a picture, nor do a line's values fit in one.
    let arrays = of(&["A"], "10000000 * 5 * sizeof(float)");
    let view = view_of("", "float *a, int M, int N", &arrays, "A, 10000000, 5");
    assert_eq!(view, r#"[[plot]] name = "values" kind = "histogram" of = "A""#);
    let arrays = of(&["exact", "max", "t"], "100 * 4");
    let view = view_of("", "float *a, float *b, float *c", &arrays, "exact, max, t");
    assert_eq!(view, r#"[[plot]] name = "values" kind = "line" of = "t""#);
}
