//! What arrays and structures have that host code reaches in more than one way: what a drafted manifest says without a
//! mark is what the program does. What is expected was worked out by hand from the host code.

use super::drafts;
use crate::support::{Workplace, read_npy_f32};

const KERNELS: &str = "struct P { int k; float w; };
    __global__ void set(float *x, int v) { x[threadIdx.x] = v; }
    __global__ void add(float *y, const float *x) { y[threadIdx.x] += x[threadIdx.x]; }
    __global__ void more(float *y, const float *x) { y[threadIdx.x] = x[threadIdx.x] + 10; }
    __global__ void par(float *x, P p) { x[threadIdx.x] += p.k * 100 + p.w; }\n";

/// The program around what is done with `a` and `b`.
fn program(host: &str) -> String {
    format!(
        "int main() {{ float *a, *b; cudaMalloc(&a, 64 * sizeof(float));
         cudaMalloc(&b, 64 * sizeof(float)); {host} }}"
    )
}

/// A scene of this host code, in which nothing is marked, has this in `b` after a step.
#[track_caller]
fn leaves(host: &str, expected: f32) {
    let place = Workplace::new();
    place.file("t.cu", &format!("{KERNELS}{}", program(host)));
    place.run(&["new", "--from", "t.cu", "--out", "s.cu"]).expect(0, &[]);
    let scene = std::fs::read_to_string(place.path("s.cu")).unwrap();
    assert!(!scene.contains("# fill in"), "{scene}");
    let run = ["render", "s.cu", "--steps", "1", "--device", "cpu", "--npy", "b=b.npy"];
    place.run(&run).expect(0, &[]);
    assert_eq!(read_npy_f32(&place.path("b.npy")).1[0], expected, "{scene}");
}

/// The draft of this host code says that something is open.
#[track_caller]
fn is_marked(host: &str, part: &str) {
    drafts(KERNELS, &program(host), &["# fill in", part]);
}

#[test]
fn another_name_of_a_pointer_is_the_same_array() {
    let fill = "set<<<1, 64>>>(a, 5);";
    for (named, argument) in [
        ("float *p = a;", "p"),
        ("float *p; p = a;", "p"),
        ("auto p = a;", "p"),
        ("const float *p = (const float *)a;", "p"),
        ("float *p = static_cast<float *>(a), *q = p;", "q"),
        ("float *p{a};", "p"),
        ("float *&p = a;", "p"),
        ("float *p; cudaMalloc(&p, 256); p = a;", "p"),
        ("float *p = b; std::swap(p, a);", "b"),
    ] {
        let expected = if argument == "b" { 0.0 } else { 5.0 };
        leaves(&format!("{fill} {named} add<<<1, 64>>>(b, {argument});"), expected);
    }
    leaves(
        &format!("{fill} float *p = a + 4; set<<<1, 8>>>(p, 7); add<<<1, 32>>>(b, a + 4);"),
        7.0,
    );
    leaves(&format!("{fill} float *t = a; a = b; b = t; set<<<1, 4>>>(a, 9);"), 9.0);
    leaves("set<<<1, 64>>>(b, 3); a = b; add<<<1, 64>>>(a, a);", 6.0);
    is_marked(&format!("{fill} float *p = true ? a : b; add<<<1, 64>>>(b, p);"), "fill in: p\n");
    is_marked("float *p = a; if (b[0] > 1) p = b; add<<<1, 64>>>(b, p);", "fill in: p\n");
    is_marked(
        "float *p = a; for (int i = 0; i < 3; i++) { add<<<1, 64>>>(b, p); p = b; }",
        "fill in: p\n",
    );
    is_marked(
        "float *p, *q; cudaMalloc(&p, 64); q = p; cudaMalloc(&p, 64); add<<<1, 16>>>(p, q);",
        "fill in: q\n",
    );
}

#[test]
fn halves_change_places_when_the_host_lets_them() {
    let rounds = "for (int i = 0; i < 3; i++) { add<<<1, 64>>>(out, in); std::swap(in, out); }";
    let host = format!("set<<<1, 64>>>(a, 5); float *in = a, *out = b; {rounds}");
    drafts(KERNELS, &program(&host), &["y = \"a_next\"\n", "x = \"a\"\n", "double = true"]);
    is_marked(
        &format!("{host} set<<<1, 64>>>(a, 1);"),
        "x = \"a\" # fill in: halves change places",
    );
    let fills = "set<<<1, 64>>>(a, 5); set<<<1, 64>>>(b, 1);";
    let copy = "copy   = { from = \"b\", to = \"a\" }\n";
    for swap in ["std::swap(a, b);", "float *t = a; a = b; b = t;", "swap(&a, &b);"] {
        for rounds in [
            format!("{fills} for (int i = 0; i < 3; i++) {{ more<<<1, 64>>>(b, a); {swap} }}"),
            format!("for (int i = 0; i < 3; i++) {{ {swap} more<<<1, 64>>>(b, a); }}"),
            format!(
                "for (int i = 0; i < 3; i++) {{
                 for (int j = 0; j < 2; j++) more<<<1, 64>>>(b, a); {swap} }}"
            ),
        ] {
            drafts(KERNELS, &program(&rounds), &["y = \"b\"\nx = \"a\"\n", copy]);
        }
    }
}

#[test]
fn what_is_cleared_is_so_before_it_is_copied() {
    let size = "64 * sizeof(float)";
    let clear = |name: &str| format!("cudaMemset({name}, 0, {size});");
    let copy = |to: &str, from: &str| {
        format!("cudaMemcpy({to}, {from}, {size}, cudaMemcpyDeviceToDevice);")
    };
    let fill = "set<<<1, 64>>>(a, 5);";
    leaves(&format!("{fill} {} {} add<<<1, 64>>>(a, b);", clear("a"), copy("b", "a")), 0.0);
    leaves(
        &format!(
            "for (int i = 0; i < 3; i++) {{ set<<<1, 64>>>(a, 2); {} {} add<<<1, 64>>>(b, a); }}",
            clear("b"),
            copy("b", "a")
        ),
        4.0,
    );
    leaves(&format!("{fill} {} {} add<<<1, 64>>>(b, b);", copy("b", "a"), clear("b")), 0.0);
    leaves(
        &format!("{fill} {} {} {} add<<<1, 64>>>(b, a);", clear("b"), copy("b", "a"), clear("a")),
        5.0,
    );
    is_marked(
        &format!(
            "{fill} {} cudaMemcpy(b, a, 8, cudaMemcpyDeviceToDevice); add<<<1, 64>>>(a, b);",
            clear("a")
        ),
        "fill in: `cudaMemset(a,0,64*sizeof(float))` is made",
    );
}

#[test]
fn fields_of_structures_are_changed_like_variables() {
    let with = |changes: &str| format!("P p = {{1, 2.0f}}; {changes} par<<<1, 64>>>(b, p);");
    for (changes, expected) in [
        ("p.k += 1;", 202.0),
        ("p.k++; --p.k; p.k *= 3;", 302.0),
        ("p.k = 7; p.k -= 2; p.w *= 2;", 504.0),
        ("(p.k)++;", 202.0),
        ("P &r = p; r.k = 3;", 302.0),
        ("P q = p; q.k = 9; p.w = 5;", 105.0),
        ("P q = {4, 6}; q.w += 1; p = q;", 407.0),
    ] {
        leaves(&with(changes), expected);
    }
    leaves(&format!("{} p.w *= 2; par<<<1, 64>>>(b, p);", with("")), 206.0);
    for changes in [
        "P *q = &p; q->k = 3;",
        "for (int i = 0; i < 3; i++) p.k += 1;",
        "p.k = 1, true && p.k++;",
        "std::swap(p.k, p.w);",
        "p.reset();",
    ] {
        is_marked(&with(changes), "fill in: p\n");
    }
    is_marked(
        "P p = {1, 2.0f}; for (int i = 0; i < 3; i++) { p.k += 1; par<<<1, 64>>>(b, p); }",
        "fill in: p\n",
    );
}

#[test]
fn sizes_of_variables_are_those_of_their_types() {
    let kernel = "struct P { float x, y, z; }; template <class T> struct V { T x[9]; };
        __global__ void k(float *a) { a[0] = 1; } __global__ void m(P *a) { } __global__ void q(float **a) { }";
    let counted = |memory: &str, expected: &str| {
        let manifest = warpaint::scene::draft(
            "t.cu",
            &format!("{kernel}\nint main() {{ int n = 100; {memory} }}\n"),
        );
        assert!(manifest.contains(expected), "{memory}:\n{manifest}");
    };
    for memory in [
        "float *a; cudaMalloc(&a, n * sizeof(*a)); k<<<1, 1>>>(a);",
        "float *a; cudaMalloc(&a, n * sizeof *a); k<<<1, 1>>>(a);",
        "float *a; cudaMalloc(&a, sizeof *a * n); k<<<1, 1>>>(a);",
        "float *a; cudaMalloc(&a, n * sizeof a[0]); k<<<1, 1>>>(a);",
        "float *a; cudaMalloc(&a, n * sizeof(a[0])); k<<<1, 1>>>(a);",
        "float *a; cudaMalloc(&a, sizeof(float[100])); k<<<1, 1>>>(a);",
        "float *a; cudaMalloc(&a, sizeof(float[2 * 5]) * 10); k<<<1, 1>>>(a);",
        "float *a, x; cudaMalloc(&a, n * sizeof x); k<<<1, 1>>>(a);",
        "float *a, h[100]; cudaMalloc(&a, n * sizeof h[0]); k<<<1, 1>>>(a);",
        "double *b; float *const a = 0, **c; cudaMalloc(&a, n * sizeof **c); k<<<1, 1>>>(a);",
        "P *a; cudaMalloc(&a, n * sizeof(*a)); m<<<1, 1>>>(a);",
        "float **a; cudaMalloc(&a, n * sizeof *a); q<<<1, 1>>>(a);",
        "float **a; cudaMalloc(&a, n * sizeof(a[0])); q<<<1, 1>>>(a);",
    ] {
        counted(memory, "count = 100\n");
    }
    for memory in [
        "float *a; V<float> *v; cudaMalloc(&a, n * sizeof *v); k<<<1, 1>>>(a);",
        "float *a; auto *v = f(); cudaMalloc(&a, n * sizeof *v); k<<<1, 1>>>(a);",
        "float *a; Handle v; cudaMalloc(&a, n * sizeof *v); k<<<1, 1>>>(a);",
        "float *a; P *v; cudaMalloc(&a, n * sizeof v->x); k<<<1, 1>>>(a);",
        "float *a; std::vector<float> v; cudaMalloc(&a, n * sizeof(v[0])); k<<<1, 1>>>(a);",
    ] {
        counted(memory, "# fill in: elements");
    }
}
