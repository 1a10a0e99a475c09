//! Structures that host code gives kernels, with the pointers and the numbers that they have. What is expected was
//! worked out by hand from the host code.

use super::drafts;
use crate::support::{Workplace, read_npy_f32};

const KERNELS: &str = "struct S { int n; float *a; float w; float *b; };
    __global__ void fill(float *x, float v) { x[threadIdx.x] = v; }
    __global__ void add(S s) { if (threadIdx.x < s.n) s.b[threadIdx.x] += s.a[threadIdx.x] * s.w; }\n";

/// A scene of this host code, in which nothing is marked, has this in the array `b` after so many steps.
#[track_caller]
fn leaves(functions: &str, main: &str, steps: &str, expected: &[f32]) {
    let place = Workplace::new();
    place.file("t.cu", &format!("{KERNELS}{functions}\nint main() {{ {main} }}\n"));
    place.run(&["new", "--from", "t.cu", "--out", "s.cu"]).expect(0, &[]);
    let scene = std::fs::read_to_string(place.path("s.cu")).unwrap();
    assert!(!scene.contains("# fill in"), "{scene}");
    let run = ["render", "s.cu", "--steps", steps, "--device", "cpu", "--npy", "b=b.npy"];
    place.run(&run).expect(0, &[]);
    let (_, found) = read_npy_f32(&place.path("b.npy"));
    assert_eq!(found[..expected.len()], *expected, "{scene}");
    assert!(found[expected.len()..].iter().all(|left| *left == 0.0), "{scene}");
}

#[test]
fn pointers_of_structures_are_arrays() {
    let sizes = "64 * sizeof(float)";
    let launches = "fill<<<1, 64>>>(s.a, 3); add<<<1, 64>>>(s);";
    let direct = format!(
        "S s; s.n = 4; s.w = 0.5f; cudaMalloc(&s.a, {sizes}); cudaMalloc((void **)&s.b, {sizes});"
    );
    let expected = [1.5, 1.5, 1.5, 1.5];
    leaves("", &format!("{direct} {launches}"), "1", &expected);
    let apart = format!("float *a, *b; cudaMalloc(&a, {sizes}); cudaMalloc(&b, {sizes});");
    for set in [
        "S s; s.n = 4; s.w = 0.5f; s.a = a; s.b = b;",
        "S s = { 4, a, 0.5f, b };",
        "S s{4, a, 0.5f, b};",
        "S s = { .n = 4, .a = a, .w = 0.5f, .b = b };",
        "S t = { 4, a, 0.5f, b }; S s = t;",
        "S t = { 4, a, 0.5f, b }, s; s = t;",
        "S s = { 2 * 2, (float *)a, 0.5f, static_cast<float *>(b) };",
    ] {
        leaves("", &format!("{apart} {set} {launches}"), "1", &expected);
    }
    // At an address of it.
    let pointed =
        "S one = { 4, a, 0.5f, b }; S *s = &one; fill<<<1, 64>>>(s->a, 3); add<<<1, 64>>>(*s);";
    leaves("", &format!("{apart} {pointed}"), "1", &expected);
    let part = "S s = { 4, a + 2, 0.5f, b }; fill<<<1, 1>>>(a + 3, 8); add<<<1, 64>>>(s);";
    leaves("", &format!("{apart} {part}"), "1", &[0.0, 4.0]);
}

#[test]
fn functions_make_structures_and_are_given_them() {
    let made = "S made(int n, float w) { S s; s.n = n; s.w = w;
        cudaMalloc(&s.a, 64 * sizeof(float)); cudaMalloc(&s.b, 64 * sizeof(float)); return s; }";
    let main = "S s = made(2, 5); fill<<<1, 64>>>(s.a, 3); add<<<1, 64>>>(s);";
    leaves(made, main, "1", &[15.0, 15.0]);
    for (parameter, argument, dot) in [("S *s", "&s", "->"), ("S &s", "s", ".")] {
        let allocate = format!(
            "void allocate({parameter}) {{ cudaMalloc(&s{dot}a, 256); cudaMalloc(&s{dot}b, 256); }}
             void run({parameter}) {{ fill<<<1, 64>>>(s{dot}a, 3); }}"
        );
        let main = format!(
            "S s; allocate({argument}); run({argument}); s.n = 2; s.w = 5; add<<<1, 64>>>(s);"
        );
        let text = format!("{KERNELS}{allocate}\nint main() {{ {main} }}");
        let parts = [
            "[array.a]\ntype  = \"float\"\ncount = 64\n",
            "x = \"a\"\n",
            "s = { n = 2, a = \"a\", w = 5, b = \"b\" }\n",
        ];
        drafts(&text, "", &parts);
    }
    let run = "void run(const S s, int more) { add<<<1, s.n + more>>>(s); }";
    let main = "S s = { 3, 0, 2, 0 }; cudaMalloc(&s.a, 256); cudaMalloc(&s.b, 256);
        fill<<<1, 64>>>(s.a, 3); run(s, 1);";
    leaves(run, main, "1", &[6.0, 6.0, 6.0]);
}

#[test]
fn pointers_of_structures_are_swapped_and_cleared() {
    let step = "struct F { float *now, *next; };
        __global__ void step(const float *now, float *next) { next[threadIdx.x] = now[threadIdx.x] + 1; }";
    let swapped = |swap: &str| {
        format!(
            "F f; cudaMalloc(&f.now, 256); cudaMalloc(&f.next, 256);
             for (int i = 0; i < 9; i++) {{ step<<<1, 64>>>(f.now, f.next); {swap} }}"
        )
    };
    for swap in ["std::swap(f.now, f.next);", "float *t = f.now; f.now = f.next; f.next = t;"] {
        let host = format!("int main() {{ {} }}", swapped(swap));
        let parts = ["[array.now]\n", "double = true\n", "next = \"now_next\"\n"];
        drafts(step, &host, &parts);
    }
    // Twice the sum of three steps without the clearing.
    let cleared = "S s; s.n = 1; s.w = 2; cudaMalloc(&s.a, 256); cudaMalloc(&s.b, 256);
        for (int i = 0; i < 9; i++) { fill<<<1, 64>>>(s.a, 3); cudaMemset(s.b, 0, 256); add<<<1, 64>>>(s); }";
    leaves("", cleared, "3", &[6.0]);
}

#[test]
fn what_is_not_known_of_structures_is_marked() {
    for (main, part) in [
        ("S s; s.n = 4; s.w = 2; cudaMalloc(&s.a, 256); add<<<1, 64>>>(s);", "# fill in: s\n"),
        (
            "float *a, *b; cudaMalloc(&a, 256); cudaMalloc(&b, 256); S s = { 4, a, 2, b };
             if (a[0] > 1) s.a = b; add<<<1, 64>>>(s);",
            "# fill in: s\n",
        ),
        ("S s = unknown(); s.n = 4; add<<<1, 64>>>(s);", "# fill in: s\n"),
    ] {
        drafts(KERNELS, &format!("int main() {{ {main} }}"), &[part]);
    }
}

/// However often fields are changed, and whatever they are computed from.
#[test]
fn texts_with_many_fields_end() {
    let launch = "add<<<s.n, 64>>>(s); }";
    let many = |line: &str| {
        format!("int main() {{ S s = {{ 1, 0, 1, 0 }}; {} {launch}", line.repeat(20_000))
    };
    let signs = "-".repeat(2 * 40).replace("--", "-(-(") + "s.n" + &")".repeat(2 * 40);
    let texts = [
        many("s.n += s.n; "),
        many("s.n = s.n * s.n + s.n; "),
        many(&format!("s.n = {signs}; ")).chars().take(1 << 20).collect(),
        format!("int main() {{ {} {launch}", "S s, *t = &s; S u = *t; t->a = u.a; ".repeat(10_000)),
        format!(
            "{} int main() {{ S s = f0(); {launch}",
            (0..3000)
                .map(|n| { format!("S f{n}() {{ S s = f{}(); return s; }} ", n + 1) })
                .collect::<String>()
        ),
    ];
    for text in texts {
        let manifest = warpaint::scene::draft("t.cu", &format!("{KERNELS}{text}"));
        assert!(manifest.ends_with("---*/\n"), "{manifest}");
    }
}
