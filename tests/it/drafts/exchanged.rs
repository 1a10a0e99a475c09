//! Pointers that change places, and what stands behind the time steps: a draft without a mark does what the program
//! does. What is expected was worked out by hand from the host code.

use super::drafts;
use crate::support::{Workplace, read_npy_f32};

const KERNELS: &str = "__global__ void k(float *x, int v) { x[threadIdx.x] = 3 * x[threadIdx.x] + v; }
    __global__ void next(float *y, const float *x) { y[threadIdx.x] = 3 * x[threadIdx.x] + 1; }
    __global__ void sum(float *z, const float *x, const float *y) { z[threadIdx.x] = x[threadIdx.x] + y[threadIdx.x]; }
    __global__ void less(float *z, const float *x, const float *y) { z[threadIdx.x] = x[threadIdx.x] - y[threadIdx.x]; }
    struct S { float *in, *out; };\n";

/// The program around what is done with `a`, which has the number 7, and with `b`, `c` and `d`, which have 0.
fn program(functions: &str, host: &str) -> String {
    let memory: String =
        ["a", "b", "c", "d"].map(|name| format!("cudaMalloc(&{name}, 128);")).concat();
    format!(
        "{functions}\nint main() {{ float *a, *b, *c, *d; {memory} k<<<1, 32>>>(a, 7); {host} }}"
    )
}

/// A scene of this host code, in which nothing is marked, has this in an array after so many steps.
#[track_caller]
fn leaves(functions: &str, host: &str, steps: u32, (array, expected): (&str, f32)) {
    let place = Workplace::new();
    place.file("t.cu", &format!("{KERNELS}{}", program(functions, host)));
    place.run(&["new", "--from", "t.cu", "--out", "s.cu"]).expect(0, &[]);
    let scene = std::fs::read_to_string(place.path("s.cu")).unwrap();
    assert!(!scene.contains("# fill in"), "{scene}");
    let (steps, npy) = (steps.to_string(), format!("{array}=x.npy"));
    let run = ["render", "s.cu", "--steps", &steps, "--device", "cpu", "--npy", &npy];
    place.run(&run).expect(0, &[]);
    assert_eq!(read_npy_f32(&place.path("x.npy")).1[0], expected, "{scene}");
}

#[track_caller]
fn is_marked(functions: &str, host: &str, part: &str) {
    drafts(KERNELS, &program(functions, host), &["# fill in", part]);
}

/// A launch in each of three rounds, and what is behind it.
fn rounds(behind: &str) -> String {
    format!("for (int t = 0; t < 3; t++) {{ next<<<1, 32>>>(b, a); {behind} }}")
}

#[test]
fn what_stands_before_an_exchange_has_the_old_memory() {
    let swap = "std::swap(a, b);";
    let copy =
        |to: &str, from: &str| format!("cudaMemcpy({to}, {from}, 128, cudaMemcpyDeviceToDevice);");
    for (behind, expected) in [
        (swap.to_owned(), 202.0),
        (format!("k<<<1, 32>>>(a, 3); {swap}"), 202.0),
        (format!("k<<<1, 32>>>(b, 3); {swap}"), 5649.0),
        (format!("cudaMemset(a, 0, 128); {swap} k<<<1, 32>>>(a, 2);"), 5558.0),
        (format!("{} {swap} {} k<<<1, 32>>>(a, 1);", copy("c", "a"), copy("a", "c")), 202.0),
    ] {
        leaves("", &rounds(&behind), 3, ("a", expected));
    }
    leaves("", &format!("k<<<1, 32>>>(b, 5); {}", rounds(swap)), 3, ("a", 202.0));
    // Without time steps all is done in one.
    leaves("", &rounds(&format!("k<<<1, 32>>>(a, t); {swap}")), 1, ("a", 202.0));
    // Each of two fields from both.
    let fields = "k<<<1, 32>>>(c, 2); for (int t = 0; t < 3; t++) { sum<<<1, 32>>>(b, a, c);
        less<<<1, 32>>>(d, a, c); std::swap(a, b); std::swap(c, d); }";
    leaves("", fields, 3, ("a", 18.0));
    // Three in turn.
    let turn = rounds("k<<<1, 32>>>(c, 1); std::swap(a, b); std::swap(b, c);");
    leaves("", &turn, 3, ("a", 202.0));
    leaves("", &turn, 3, ("c", 67.0));
    // Of which a kernel takes one alone.
    let alone = "for (int t = 0; t < 3; t++) { k<<<1, 32>>>(a, 1); std::swap(a, b); }";
    leaves("", alone, 3, ("a", 1.0));
}

#[test]
fn exchanges_are_made_when_the_host_makes_them() {
    leaves("", &rounds("if (t == 1) continue; std::swap(a, b);"), 3, ("a", 67.0));
    leaves("", &rounds("if (t != 1) std::swap(a, b);"), 3, ("a", 67.0));
    let only = "only_if = true # fill in: ";
    for (functions, behind, part) in [
        ("", "t == 1 ? (void)0 : std::swap(a, b);", only),
        ("", "t != 1 && (std::swap(a, b), true);", only),
        ("", "switch (t) { case 1: break; default: std::swap(a, b); }", only),
        (
            "float *x, *y; int r = 0; void flip() { if (r++ % 2) return; std::swap(x, y); }",
            "k<<<1, 32>>>(x, 1); flip();",
            "fill in: not known whether `swap(x, y)` is done",
        ),
        (
            "float *x, *y; void flip(bool yes) { if (!yes) return; float *z = x; x = y; y = z; }",
            "k<<<1, 32>>>(x, 1); flip(t > 1);",
            "fill in: not known whether `swap(x, y)` is done",
        ),
    ] {
        let memory =
            if functions.is_empty() { "" } else { "cudaMalloc(&x, 128); cudaMalloc(&y, 128);" };
        is_marked(functions, &format!("{memory} {}", rounds(behind)), part);
    }
}

#[test]
fn copies_of_pointers_change_places_alone() {
    let flip = "void flip(float *x, float *y) { float *z = x; x = y; y = z; }";
    leaves(flip, &rounds("flip(a, b); k<<<1, 32>>>(a, 1);"), 3, ("a", 202.0));
    let step = "void step(float *x, float *y) { next<<<1, 32>>>(y, x); std::swap(x, y); k<<<1, 32>>>(x, 2); }";
    leaves(
        step,
        "for (int t = 0; t < 3; t++) { step(a, b); k<<<1, 32>>>(a, 0); }",
        3,
        ("b", 572.0),
    );
    let structure = "S s; cudaMalloc(&s.in, 128); cudaMalloc(&s.out, 128);
        for (int t = 0; t < 3; t++) { next<<<1, 32>>>(s.out, s.in); flip(s); k<<<1, 32>>>(s.in, 1); }";
    leaves("void flip(S s) { std::swap(s.in, s.out); }", structure, 3, ("out", 13.0));
    leaves(
        "",
        &rounds("{ int *a = 0, *b = 0; std::swap(a, b); } k<<<1, 32>>>(a, 1);"),
        3,
        ("a", 202.0),
    );
    let later = rounds("k<<<1, 32>>>(a, 1); sw();")
        .replace("next<<<", "auto sw = [&] { std::swap(a, b); }; next<<<");
    is_marked("", &later, "what a lambda does where it is called stands at another place");
    // Each object has its own.
    let methods = "struct G { float *u, *v; G() { cudaMalloc(&u, 128); cudaMalloc(&v, 128); }
        void step() { next<<<1, 32>>>(v, u); std::swap(u, v); } };";
    let of = |rounds: &str| format!("G s; for (int t = 0; t < 3; t++) {{ {rounds} }}");
    leaves(methods, &of("s.step();"), 3, ("u", 13.0));
    is_marked(methods, &of("s.step(); G c = s; c.step();"), "y = \"u_next\" # fill in: halves");
    let all = "void all(float *x, float *y) { for (int t = 0; t < 3; t++) { next<<<1, 32>>>(y, x); std::swap(x, y); } }";
    is_marked(all, "all(a, b); k<<<1, 32>>>(a, 0);", "x = \"a\" # fill in: halves");
    is_marked(
        "",
        &rounds("auto sw = [=]() mutable { std::swap(a, b); }; sw();"),
        "x = \"a\" # fill in: a\n",
    );
}

#[test]
fn functions_that_are_called_swap_do_what_their_bodies_do() {
    for (functions, call) in [
        ("template <class T> void swap(T &x, T &y) { T z = x; x = y; y = z; }", "swap(a, b);"),
        ("void swap(float **x, float **y) { float *z = *x; *x = *y; *y = z; }", "swap(&a, &b);"),
    ] {
        leaves(functions, &rounds(call), 3, ("a", 202.0));
    }
    for (functions, call) in [
        ("namespace my { template <class T> void swap(T a, T b) {} }", "my::swap(a, b);"),
        ("template <class T> void swap(T x, T y) { T z = x; x = y; y = z; }", "swap(a, b);"),
        ("void swap(float *x, float *y) { float z = *x; *x = *y; *y = z; }", "swap(a, b);"),
        ("", "std::swap(*&a, *&b);"),
    ] {
        is_marked(functions, &rounds(call), "x = \"a\" # fill in: a\n");
    }
}

#[test]
fn what_stands_behind_the_time_steps_is_done_once() {
    let steps = "for (int t = 0; t < 3; t++) k<<<1, 32>>>(a, 2);";
    leaves("", &format!("{steps} k<<<1, 32>>>(a, 100);"), 3, ("a", 745.0));
    leaves("", &format!("{steps} k<<<1, 32>>>(a, 100);"), 2, ("a", 71.0));
    leaves(
        "",
        &format!("{steps} for (int t = 0; t < 2; t++) k<<<1, 32>>>(a, 2);"),
        3,
        ("a", 1943.0),
    );
    let copy = "cudaMemcpy(b, a, 128, cudaMemcpyDeviceToDevice); k<<<1, 32>>>(a, 5);";
    leaves("", &format!("{steps} {copy}"), 3, ("b", 215.0));
    let run = "void run(float *x, int n) { for (int i = 0; i < n; i++) k<<<1, 32>>>(x, n); }";
    leaves(run, "run(a, 3); run(a, 2);", 3, ("a", 2060.0));
    let unknown = steps.replace("t < 3", "t < any()");
    let part = "only_if = true # fill in: once, behind the loop over `t`";
    is_marked("", &format!("{unknown} k<<<1, 32>>>(a, 100);"), part);
    let run = "bool run(float *x, int i) { k<<<1, 32>>>(x, 1); return i < 3; }";
    let part = "# fill in: `k` is done before each round of a loop, by its condition";
    is_marked(run, "int i = 0; while (run(a, i)) i++;", part);
    is_marked(run, "for (int i = 0; run(a, i); i++) {}", part);
}

#[test]
fn pointers_of_one_name_are_not_one() {
    let other = "void other(float *p) { cudaMalloc(&p, 128); k<<<1, 32>>>(p, 1); }";
    leaves(other, "other(a); k<<<1, 32>>>(a, 3);", 1, ("a", 24.0));
    is_marked(
        "float *a; void other() { k<<<1, 32>>>(a, 1); }",
        "cudaMalloc(&::a, 128); other();",
        "fill in: several pointers are called `a`",
    );
    is_marked(
        "",
        "{ float *a; cudaMalloc(&a, 128); k<<<1, 32>>>(a, 2); } k<<<1, 32>>>(a, 3);",
        "fill in: several pointers are called `a`",
    );
}
