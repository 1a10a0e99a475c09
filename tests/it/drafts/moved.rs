//! Pointers to memory of the device that something changes: where one may have other memory, it is marked.

const KERNELS: &str = "__global__ void shift(const unsigned *src, unsigned *dst) { dst[0] = src[1]; }
__global__ void set(unsigned *a) { a[0] = 1; }
struct S { unsigned *a, *b; void set(unsigned *x) { a = x; } void sw() { unsigned *t = a; a = b; b = t; } };
void sw(unsigned **x, unsigned **y) { unsigned *t = *x; *x = *y; *y = t; }
void reset(unsigned **x, unsigned *y) { *x = y; }
void sw_of(S &s) { std::swap(s.a, s.b); }
void sw_at(S *s) { std::swap(s->a, s->b); }
template <class T> void tsw(T *x, T *y) { T t = *x; *x = *y; *y = t; }
template <class T> void rsw(T &x, T &y) { T t = x; x = y; y = t; }
void give(unsigned **x) { cudaMalloc(x, 160); }
void give_to(unsigned *&x) { cudaMalloc(&x, 160); }
void take(S *s) { set<<<1, 1>>>(s->a); }
unsigned *ga, *gb;
void swg() { std::swap(ga, gb); }";

fn drafted(main: &str) -> String {
    let main = format!(
        "int main() {{ unsigned *a, *b; cudaMalloc(&a, 160); cudaMalloc(&b, 160); S s;
        cudaMalloc(&s.a, 160); cudaMalloc(&s.b, 160); cudaMalloc(&ga, 160); cudaMalloc(&gb, 160); {main} }}"
    );
    warpaint::scene::draft("t.cu", &format!("{KERNELS}\n{main}\n"))
}

#[test]
fn pointers_that_calls_change_are_marked() {
    for text in [
        "sw(&a, &b); set<<<1, 1>>>(a);",
        "for (int t = 0; t < 3; t++) { shift<<<1, 1>>>(a, b); sw(&a, &b); }",
        "reset(&a, b); set<<<1, 1>>>(a);",
        "tsw(&a, &b); set<<<1, 1>>>(a);",
        "rsw(a, b); set<<<1, 1>>>(a);",
        "auto l = [](unsigned *&x, unsigned *&y) { unsigned *t = x; x = y; y = t; }; l(a, b); set<<<1, 1>>>(a);",
        "unsigned **p = &a; *p = b; set<<<1, 1>>>(a);",
        "sw_of(s); set<<<1, 1>>>(s.a);",
        "sw_at(&s); set<<<1, 1>>>(s.a);",
        "s.set(b); set<<<1, 1>>>(s.a);",
        "s.sw(); set<<<1, 1>>>(s.a);",
        "for (int t = 0; t < 3; t++) { shift<<<1, 1>>>(s.a, s.b); s.sw(); }",
        "swg(); set<<<1, 1>>>(ga); swg(); set<<<1, 1>>>(ga);",
    ] {
        let manifest = drafted(text);
        let mut given = manifest
            .lines()
            .filter(|line| ["a = \"", "src = \""].iter().any(|name| line.starts_with(name)));
        assert!(given.any(|line| line.contains("# fill in")), "{text}:\n{manifest}");
    }
}

#[test]
fn pointers_that_calls_leave_are_known() {
    for text in [
        "unsigned *c; give(&c); set<<<1, 1>>>(c);",
        "unsigned *c = NULL; give(&c); set<<<1, 1>>>(c);",
        "unsigned *c = nullptr; give_to(c); set<<<1, 1>>>(c);",
        "printf(\"%p\", &a); set<<<1, 1>>>(a);",
        "void *list[] = { &a }; cudaLaunchKernel(set, 1, 1, list);",
        "for (int t = 0; t < 3; t++) { shift<<<1, 1>>>(a, b); std::swap(a, b); }",
    ] {
        let manifest = drafted(text);
        assert!(!manifest.contains("# fill in"), "{text}:\n{manifest}");
    }
}

/// Memory that a function allocates for itself is as large as the largest of its calls needs it.
#[test]
fn memory_of_several_sizes_is_marked() {
    let kernel = "__global__ void k(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] = 1; }";
    let test = |sizes: &str| {
        let host = format!(
            "void test(int n) {{ float *x; cudaMalloc(&x, n * sizeof(float)); k<<<1, 64>>>(x, n); }}
             int main() {{ {sizes} }}"
        );
        warpaint::scene::draft("t.cu", &format!("{kernel}\n{host}\n"))
    };
    for sizes in ["test(64); test(32);", "test(32); test(64);"] {
        let manifest = test(sizes);
        assert!(manifest.contains("count = 64 # fill in"), "{manifest}");
    }
    let same = test("test(64); test(64);");
    assert!(same.contains("count = 64\n"), "{same}");
}

#[test]
fn types_that_calls_deduce_are_marked() {
    let kernel = "template <class T> __global__ void k(T *x, T y) { x[0] = y; }";
    let memory = "float *a; double *d; cudaMalloc(&a, 64); cudaMalloc(&d, 64);";
    for (before, calls) in [
        ("template <class T> void run(T *x) { k<T><<<1, 1>>>(x, 2); }", "run(a); run(d);"),
        (
            "template <class T> struct Run { static void go(T *x) { k<T><<<1, 1>>>(x, 2); } };",
            "Run<float>::go(a); Run<double>::go(d);",
        ),
    ] {
        let text = format!("{kernel}\n{before}\nint main() {{ {memory} {calls} }}\n");
        let manifest = warpaint::scene::draft("t.cu", &text);
        assert!(manifest.contains("# fill in: `k<float>` may have other"), "{manifest}");
    }
    let known = "template <class T> void run(T *x) { k<T><<<1, 1>>>(x, 2); }";
    let text =
        format!("{kernel}\n{known}\nint main() {{ {memory} run<float>(a); run<double>(d); }}\n");
    let manifest = warpaint::scene::draft("t.cu", &text);
    let are_there = manifest.contains("k<float>") && manifest.contains("k<double>");
    assert!(are_there && !manifest.contains("# fill in"), "{manifest}");
}
