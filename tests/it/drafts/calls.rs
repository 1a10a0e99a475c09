//! What functions of the host do is done for each of their calls, with what these give. What is expected of numbers was
//! printed by the same host code, compiled by g++ with a function in the place of the kernel.

use super::drafts;
use crate::support::{Workplace, read_npy_f32};

/// Writes down what each launch is given.
const LOG: &str = "__global__ void note(float *a, float *n, int x, int y) { a[(int)n[0]] = 100 * x + y; n[0] += 1; }";

/// A scene of these functions and this `main`, in which nothing is marked, makes these launches.
#[track_caller]
fn launches(functions: &str, main: &str, expected: &[f32]) {
    let place = Workplace::new();
    let text = format!(
        "{LOG}\n{functions}\nint main() {{ float *a, *n; cudaMalloc(&a, 400); cudaMalloc(&n, 4);\n{main}\n}}\n"
    );
    place.file("t.cu", &text);
    place.run(&["new", "--from", "t.cu", "--out", "s.cu"]).expect(0, &[]);
    let scene = std::fs::read_to_string(place.path("s.cu")).unwrap();
    assert!(!scene.contains("# fill in"), "{scene}");
    let run = ["render", "s.cu", "--steps", "1", "--device", "cpu", "--npy", "a=a.npy"];
    place.run(&run).expect(0, &[]);
    let (_, found) = read_npy_f32(&place.path("a.npy"));
    assert_eq!(found[..expected.len()], *expected, "{scene}");
    assert!(found[expected.len()..].iter().all(|left| *left == 0.0), "{scene}");
}

#[test]
fn what_a_function_launches_is_launched_for_each_call() {
    let at = "void at(float *p, float *q, int x, int y = 3) { note<<<1, 1>>>(p, q, x, y); }";
    let calls = "at(a, n, 1, 2); at(a, n, 5); for (int i = 0; i < 3; i++) at(a, n, i + 1, 2 * i);";
    launches(at, calls, &[102.0, 503.0, 100.0, 202.0, 304.0]);
    let within = format!(
        "{at} void both(float *p, float *q, int x) {{ at(p, q, x, 1); at(p, q, x + 1, 2); }}"
    );
    launches(&within, "both(a, n, 3); both(a, n, 6);", &[301.0, 402.0, 601.0, 702.0]);
    let rows = "void rows(float *p, float *q, int x, int count) {
        for (int j = 0; j < count; j++) note<<<1, 1>>>(p, q, x, j); }";
    let expected = [0.0, 100.0, 101.0, 200.0, 201.0, 202.0];
    launches(rows, "for (int i = 0; i < 3; ++i) rows(a, n, i, i + 1);", &expected);
    let changed =
        "void f(float *p, float *q, int x) { x += 2; note<<<1, 1>>>(p, q, x, 0); x = 7; }";
    launches(changed, "f(a, n, 1); f(a, n, 4);", &[300.0, 600.0]);
    let shaped = "__global__ void count(float *a, float *n) { atomicAdd(&a[0], 1.0f); }
        void f(dim3 grid, int threads, float *p, float *q) { count<<<grid, threads>>>(p, q); }";
    launches(shaped, "dim3 g(2, 3); f(g, 4, a, n); f(dim3(5), 1, a, n);", &[29.0]);
}

#[test]
fn branches_of_a_function_are_those_of_the_call() {
    let chosen = "void f(float *p, float *q, bool big, int x) {
        if (x > 2) return;
        if (big) note<<<1, 1>>>(p, q, 5, x); else note<<<1, 1>>>(p, q, 6, x); }";
    launches(chosen, "f(a, n, true, 1); f(a, n, false, 2); f(a, n, true, 3);", &[501.0, 602.0]);
    let odd = "void f(float *p, float *q, int x) { if (x % 2) note<<<1, 1>>>(p, q, x, 0); }";
    launches(odd, "for (int i = 0; i < 6; i++) f(a, n, i);", &[100.0, 300.0, 500.0]);
    let once = "void f(float *p, float *q, int x) { note<<<1, 1>>>(p, q, x, 0); }";
    launches(once, "for (int i = 0; i < 6; i++) if (i > 3) f(a, n, i);", &[400.0, 500.0]);
}

/// Of several cases one is done: the one that the value chooses, else the first that does something.
#[test]
fn one_case_of_a_switch_is_done() {
    let cases = "void f(float *p, float *q, int x) { switch (x) {
        case 0: break;
        case 1: case 2: note<<<1, 1>>>(p, q, 5, x); break;
        case 3: note<<<1, 1>>>(p, q, 6, x);
        case 4: { note<<<1, 1>>>(p, q, 7, x); break; }
        default: note<<<1, 1>>>(p, q, 8, x); } }";
    let calls = "f(a, n, 2); f(a, n, 3); f(a, n, 4); f(a, n, 0); f(a, n, 9);";
    launches(cases, calls, &[502.0, 603.0, 703.0, 704.0, 809.0]);
    let manifest = warpaint::scene::draft("t.cu", &format!("{LOG}\n{cases}\n"));
    let passes = manifest.matches("[[pass]]").count();
    assert_eq!(passes, 1, "{manifest}");
    for part in [
        "only_if = true # fill in: switch (x)\n",
        "x = 5\n",
        "# `note` is never done: of `switch (x)` only the first case is here\n",
    ] {
        assert!(manifest.contains(part), "{part} in {manifest}");
    }
}

#[test]
fn templates_are_those_of_the_call() {
    let log = "template <int N, class T> __global__ void sized(float *a, float *n) {
            a[(int)n[0]] = 100 * N + sizeof(T); n[0] += 1; }
        template <int N, class T = double> void f(float *p, float *q) {
            constexpr int twice = N < 5 ? 2 * N : N; sized<twice, T><<<1, 1>>>(p, q); }
        template <class T> void g(float *p, float *q) { f<7, T>(p, q); }";
    let calls = "f<4, float>(a, n); f<6>(a, n); g<short>(a, n);";
    launches(log, calls, &[804.0, 608.0, 702.0]);
}

#[test]
fn arrays_are_those_that_functions_allocate() {
    let kernel = "__global__ void k(float *a, int *b, double *c) { }";
    let host = "template <class T> T *made(int n) { T *t; cudaMalloc((void **)&t, sizeof(T) * n); return t; }
        void by_pointer(float **p, int n) { cudaMalloc(p, n * sizeof(float)); }
        void by_reference(double *&p, const double *from, size_t bytes) {
            cudaMalloc((void **)&p, bytes); cudaMemcpy(p, from, bytes, cudaMemcpyHostToDevice); }
        void run(float *x, int *y, double *z) { k<<<1, 1>>>(x + 3, y, z); }
        int main() { float *d_a; by_pointer(&d_a, 96); int *d_b = made<int>(48); double *d_c, *h_c;
            by_reference(d_c, h_c, 24 * sizeof(double)); run(d_a, d_b, d_c); run(d_a, NULL, d_c); }";
    let parts = [
        "[array.d_a]\ntype  = \"float\"\ncount = 96\n",
        "[array.d_b]\ntype  = \"int\"\ncount = 48\n",
        "[array.d_c]\ntype  = \"double\"\ncount = 24\n# The host fills it",
        "a = \"d_a + 3\"\nb = \"d_b\"\nc = \"d_c\"\n",
        "a = \"d_a + 3\"\nb = 0\nc = \"d_c\"\n",
    ];
    drafts(kernel, host, &parts);
}

#[test]
fn halves_change_places_where_the_function_is_called() {
    let step = "__global__ void step(const float *from, float *to) { to[0] = from[0]; }";
    let host = "void once(float *in, float *out) { step<<<1, 1>>>(in, out); }
        int main() { float *x, *y; cudaMalloc(&x, 128); cudaMalloc(&y, 128);
            for (int t = 0; t < 10; ++t) { once(x, y); std::swap(x, y); } }";
    drafts(step, host, &["double = true", "from = \"x\"\nto = \"x_next\"\n"]);
    let inside = "void all(float *in, float *out) {
            for (int t = 0; t < 10; ++t) { step<<<1, 1>>>(in, out); std::swap(in, out); } }
        int main() { float *x, *y; cudaMalloc(&x, 128); cudaMalloc(&y, 128); all(x, y); }";
    drafts(step, inside, &["[array.x]\n", "double = true", "from = \"x\"\nto = \"x_next\"\n"]);
}

/// A kernel that is declared here, and defined elsewhere, is none of this file.
#[test]
fn kernels_of_other_files_are_told() {
    let host = "__global__ void far(int *a); void f(int *a) { far<<<1, 1>>>(a); }";
    drafts(LOG, host, &["# fill in: `far` is launched, which is no kernel that is known here\n"]);
}

#[test]
fn functions_that_call_themselves_are_told() {
    let host = "void down(float *p, float *q, int x) { note<<<1, 1>>>(p, q, x, 0); if (x) down(p, q, x - 1); }
        int main() { float *a, *n; cudaMalloc(&a, 400); cudaMalloc(&n, 4); down(a, n, 3); }";
    drafts(
        LOG,
        host,
        &["# fill in: more is launched, by functions that call themselves", "x = 3\n"],
    );
}

#[test]
fn axes_that_are_set_alone_count() {
    let host = "int main() { float *a, *n; cudaMalloc(&a, 400); cudaMalloc(&n, 4); dim3 grid(8, 2), block; block.x = 32;
        for (int i = 1; i < 4; i++) { grid.x = i; note<<<grid, block>>>(a, n, i, grid.y); } }";
    let parts = ["grid   = [\"1 + i\", 2]\nblock  = 32\n", "y = 2\n"];
    drafts(LOG, host, &parts);
}

#[test]
fn returns_that_may_be_made_are_told() {
    let host = |before: &str| {
        format!(
            "void f(float *a, float *n, int mode) {{ {before} note<<<1, 1>>>(a, n, 1, 2); }}
             void g(float *a, float *n) {{ f(a, n, rand()); }}"
        )
    };
    let told = "# fill in: not known whether `note` is done: the function returns before where `mode==3`\n";
    drafts(LOG, &host("if (mode == 3) { return; }"), &[told]);
    let fails = host(
        "if (mode == 3) exit(1); if (!a) exit(EXIT_FAILURE); if (a == n) { fprintf(\"\"); exit(-1); }",
    );
    let manifest = warpaint::scene::draft("t.cu", &format!("{LOG}\n{fails}\n"));
    assert!(!manifest.contains("not known whether"), "{manifest}");
}

#[test]
fn kernels_that_are_launched_by_a_call_are_passes() {
    let place = Workplace::new();
    let text = "#include <cooperative_groups.h>
__global__ void both(float *a, int n) {
    a[blockIdx.x * blockDim.x + threadIdx.x] = n;
    cooperative_groups::this_grid().sync();
    if (threadIdx.x == 0) a[blockIdx.x * blockDim.x] += a[n - 1 - blockIdx.x];
}
int main() {
    float *a; int n = 64;
    cudaMalloc(&a, n * sizeof(float));
    void *arguments[] = {(void *)&a, &n};
    cudaLaunchCooperativeKernel((void *)both, dim3(2), dim3(n / 2), arguments, 0, 0);
}
";
    place.file("t.cu", text);
    place.run(&["new", "--from", "t.cu", "--out", "s.cu"]).expect(0, &[]);
    let scene = std::fs::read_to_string(place.path("s.cu")).unwrap();
    assert!(scene.contains("cooperative = true\n") && !scene.contains("fill in"), "{scene}");
    let unknown = text.replace("dim3(2)", "dim3(blocks())");
    drafts(
        &unknown,
        "",
        &["grid   = 1 # fill in: dim3(blocks())\nblock  = 32\ncooperative = true\n"],
    );
    let neither = unknown.replace("dim3(n / 2)", "threads()");
    let parts = ["grid   = 1 # fill in: dim3(blocks())\nblock  = 256 # fill in: threads()\n"];
    drafts(&neither, "", &parts);
    let run = ["render", "s.cu", "--steps", "1", "--device", "cpu", "--npy", "a=a.npy"];
    place.run(&run).expect(0, &[]);
    let (_, found) = read_npy_f32(&place.path("a.npy"));
    assert_eq!([found[0], found[1], found[32]], [128.0, 64.0, 128.0]);
}

#[test]
fn what_is_copied_to_variables_is_their_value() {
    let place = Workplace::new();
    let text = "__constant__ float weights[3];
__global__ void sum(float *a) { a[0] = weights[0] + 10 * weights[1] + 100 * weights[2]; }
int main() {
    float *a;
    const float host[3] = {1, 2.5f, 1 + 2};
    cudaMalloc(&a, sizeof(float));
    cudaMemcpyToSymbol(weights, host, sizeof(host));
    sum<<<1, 1>>>(a);
}
";
    place.file("t.cu", text);
    place.run(&["new", "--from", "t.cu", "--out", "s.cu"]).expect(0, &[]);
    let run = ["render", "s.cu", "--steps", "1", "--device", "cpu", "--npy", "a=a.npy"];
    place.run(&run).expect(0, &[]);
    assert_eq!(read_npy_f32(&place.path("a.npy")).1, [326.0]);
    let computed =
        text.replace("{1, 2.5f, 1 + 2}", "{1, 2, f()}").replace("int main", "float f(); int main");
    let told = "# fill in: `cudaMemcpyToSymbol(weights,host,sizeof(host))` is made, which nothing here does\n";
    drafts(&computed, "", &[told]);
}

#[test]
fn variables_of_the_files_own_types_have_their_values() {
    let place = Workplace::new();
    let text = "typedef float real;
__constant__ real stencil[2][3];
__constant__ unsigned char most;
__device__ real scale;
__global__ void sum(float *a) {
    for (int i = 0; i < 6; i++) a[0] += (i + 1) * stencil[i / 3][i % 3];
    a[1] = most * scale;
}
int main() {
    float *a;
    const real h[2][3] = {{1, -4, 1}, {0.5f, 2 * 4, -1}};
    unsigned char h_most = 200;
    float h_scale = 1.0f / 4;
    cudaMalloc(&a, 2 * sizeof(float));
    cudaMemcpyToSymbol(stencil, h, sizeof(h));
    cudaMemcpyToSymbol(most, &h_most, 1);
    cudaMemcpyToSymbol(scale, &h_scale, sizeof(real));
    sum<<<1, 1>>>(a);
}
";
    place.file("t.cu", text);
    place.run(&["new", "--from", "t.cu", "--out", "s.cu"]).expect(0, &[]);
    let scene = std::fs::read_to_string(place.path("s.cu")).unwrap();
    assert!(!scene.contains("fill in"), "{scene}");
    let run = ["render", "s.cu", "--steps", "1", "--device", "cpu", "--npy", "a=a.npy"];
    place.run(&run).expect(0, &[]);
    // 1 - 8 + 3 + 2 + 40 - 6, and 200 / 4.
    assert_eq!(read_npy_f32(&place.path("a.npy")).1, [32.0, 50.0]);
}

#[test]
fn what_the_host_writes_itself_is_filled() {
    let kernel = "__global__ void k(float *a, float *b) { }";
    let host = "int main() { float *a, *b; cudaMallocManaged(&a, 64); cudaMallocManaged(&b, 64);
        for (int i = 0; i < 16; i++) a[i] = 1.0f / i; k<<<1, 16>>>(a, b); if (b[3] == 2) return 1; }";
    let filled = "# The host fills it, as `file = \"a.npy\"` would.\n";
    drafts(kernel, host, &[filled]);
    let manifest = warpaint::scene::draft("t.cu", &format!("{kernel}\n{host}\n"));
    assert!(!manifest.contains("b.npy"), "{manifest}");
    for (loops, keys) in [
        ("h[i] = rand() % 100;", "# The host: h[i]=rand()%100\nrandom = [0.0, 99.0]\n"),
        ("h[i] = rand() <= least(i);", "random = [0.0, 1.0]"),
        ("h[i] = (float)(rand() % n + 3);", "random = [3.0, 18.0]\n"),
        ("h[i] = 1.0f / 4;", "# The host: h[i]=1.0f/4\nvalue = 0.25\n"),
        ("h[i] = i * 2;", "each = \"i * 2\"\n"),
        ("h[i] = 1; h[0] = rand() % 9;", "random = [0.0, 8.0] # fill in: its numbers\n"),
        ("h[i] = sqrtf(i - 1);", "random = [0, 1] # fill in: its numbers\n"),
    ] {
        let host = format!(
            "int main() {{ const int n = 16; float *a, *b, *h = (float *)malloc(64); cudaMalloc(&a, 64);
             for (int i = 0; i < n; i++) {{ {loops} }}
             cudaMemcpy(a, h, 64, cudaMemcpyHostToDevice); k<<<1, 16>>>(a, b); }}"
        );
        drafts(kernel, &host, &[keys]);
    }
    let rows = "int main() { float *a, *b; cudaMalloc(&a, 64); cudaMemset2D(b, 8, 0, 8, 8);
        cudaMemcpy2D(a, 16, h, 16, 16, 4, cudaMemcpyHostToDevice); k<<<1, 16>>>(a, b); }";
    drafts(kernel, rows, &[filled, "# fill in: `cudaMemset2D(b,8,0,8,8)` is made"]);
}

/// What two calls of a function repeat are two loops, each with the rounds of its call.
#[test]
fn loops_of_two_calls_are_two() {
    let rounds = "void rounds(float *p, float *q, int x, int k) {
        for (int j = 0; j < k; j++) note<<<1, 1>>>(p, q, x, j); }";
    let expected = [100.0, 101.0, 200.0, 201.0, 202.0];
    launches(rounds, "rounds(a, n, 1, 2); rounds(a, n, 2, 3);", &expected);
    let same = "void both(float *p, float *q) { for (int j = 0; j < 2; j++) {
        note<<<1, 1>>>(p, q, 1, j); note<<<1, 1>>>(p, q, 2, j); } }";
    launches(same, "both(a, n);", &[100.0, 200.0, 101.0, 201.0]);
    let nested = "for (int i = 0; i < 2; i++) { rounds(a, n, i, 1); rounds(a, n, i + 5, 2); }";
    launches(rounds, nested, &[0.0, 500.0, 501.0, 100.0, 600.0, 601.0]);
}

/// A list that something changes before it is copied is not what it was declared with.
#[test]
fn lists_that_are_changed_are_not_copied_as_they_were() {
    let text = |change: &str| {
        format!(
            "#include <algorithm>
__constant__ float coef[4];
void scale(float *h) {{ for (int i = 0; i < 4; i++) h[i] *= 2; }}
void load(float *h);
__global__ void k(float *a) {{ a[threadIdx.x] = coef[threadIdx.x]; }}
int main() {{ float *a; cudaMalloc(&a, 16); float h[4] = {{4, 3, 2, 1}}; {change}
    cudaMemcpyToSymbol(coef, h, sizeof(h)); k<<<1, 4>>>(a); }}
"
        )
    };
    for change in [
        "scale(h);",
        "load(h);",
        "std::sort(h, h + 4);",
        "for (auto &x : h) x *= 2;",
        "memset(h, 0, sizeof(h));",
        "*h = 5;",
        "float *q = h; q[0] = 9;",
        "std::reverse(h, h + 4);",
        "qsort(h, 4, 4, compare);",
        "memcpy(h + 1, h, 8);",
    ] {
        let manifest = warpaint::scene::draft("t.cu", &text(change));
        let value = manifest.lines().find(|line| line.starts_with("value = [4.0"));
        assert!(value.is_none_or(|line| line.contains("# fill in")), "{change}: {manifest}");
    }
    for read in ["", "printf(\"%f\", h[0]);", "float sum = h[0] + h[1];"] {
        let manifest = warpaint::scene::draft("t.cu", &text(read));
        assert!(manifest.contains("value = [4.0, 3.0, 2.0, 1.0]\n"), "{read}: {manifest}");
    }
}
