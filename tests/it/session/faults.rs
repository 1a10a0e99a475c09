//! What a fault says of the element that was meant, in the manifest's names.

use super::open;

/// `a` comes first in memory, `far` lies between it and what is `b`.
const MANIFEST: &str = "/*---
[array.a]
type = \"float4\"
count = 10000
[array.far]
type = \"float\"
count = 70000
[array.b]
type = \"short\"
count = 100
double = true
[array.none]
type = \"int\"
count = 1
[array.wide]
type = \"long long\"
count = 1
[[pass]]
kernel = \"k\"
over = 1
---*/
";

#[test]
fn an_access_outside_is_told_by_the_element_that_it_would_be() {
    for (kernel, parts) in [
        (
            "__global__ void k(float4 *a) { a[10000].y = 1; }",
            ["write outside every allocation (4 bytes", "`a[10000]`, which has 10000 elements)"],
        ),
        // What other arrays have their memory there does not matter: the kernel takes none of them.
        (
            "__global__ void k(const float4 *a, int *none) { none[0] = a[-3].x; }",
            ["read outside every allocation (4 bytes", "`a[-3]`, which has 10000 elements)"],
        ),
        (
            "__global__ void k(const short *b, short *b_next) { b_next[101] = b[0]; }",
            ["write outside every allocation (2 bytes", "`b[101]`, which has 100 elements)"],
        ),
        (
            "struct S { float *to; int at; };\n__global__ void k(S s) { s.to[70005] = 1; }",
            ["write outside every allocation (4 bytes", "`far[70005]`, which has 70000 elements)"],
        ),
        // However far: it is the one whose address the code begins with, not what lies there.
        (
            "__global__ void k(float4 *a, float *far) { if (a[0].x == 0) a[12345678].y = 1; far[0] = 2; }",
            ["write outside every allocation (4 bytes", "`a[12345678]`, which has 10000 elements)"],
        ),
        (
            "__global__ void k(const float4 *a, float *far) { far[0] = a[10000].x + far[-80000]; }",
            ["read outside every allocation", "elements)"],
        ),
        (
            "__global__ void k(float *far) { *(float4 *)(far + 1) = make_float4(0, 0, 0, 0); }",
            ["misaligned access (16 bytes", "`far[1]`, which has 70000 elements)"],
        ),
        // Not memory of a resource.
        (
            "__global__ void k(int *nothing) { nothing[100000] = 1; }",
            ["write outside every allocation (4 bytes", "through a null pointer)"],
        ),
        (
            "__global__ void k(int *nothing, int *none) { nothing[none[0] - 1] = 1; }",
            ["write outside every allocation (4 bytes", "through a null pointer)"],
        ),
        (
            "__global__ void k(const float4 *a, int *none) { none = nullptr; none[3] = a[0].x; }",
            ["write outside every allocation (4 bytes", "through a null pointer)"],
        ),
        (
            "__constant__ int table[4];\n__global__ void k(int *none) { none[0] = table[none[0] + 5]; }",
            ["read outside every allocation", "byte 20 of `table`, which has 16 bytes)"],
        ),
        (
            "__device__ int table[4];\n__global__ void k(int *none) { table[none[0] + 5] = 1; }",
            ["write outside every allocation", "byte 20 of `table`, which has 16 bytes)"],
        ),
        // The number that was read might be the address as well: what lies nearest is meant.
        (
            "__device__ int table[4];\n__global__ void k(const long long *wide) { table[wide[0] + 5] = 1; }",
            ["write outside every allocation", "byte 20 of `table`, which has 16 bytes)"],
        ),
    ] {
        let args = match kernel {
            of_structure if of_structure.contains("S s") => "s = { to = \"far\" }",
            of_null if of_null.contains("*nothing") => "nothing = 0",
            _ => "",
        };
        let manifest = MANIFEST.replace("over = 1\n", &format!("over = 1\nargs = {{ {args} }}\n"));
        let mut session = open(&format!("{manifest}{kernel}\n"));
        session.run_steps(1, |_| {}).unwrap();
        let fault = session.snapshot().fault;
        let text = fault.unwrap_or_else(|| panic!("{kernel} has no fault")).text;
        assert!(parts.iter().all(|part| text.contains(part)), "{kernel}: {text}");
    }
}

/// Statistics that are taken by themselves, behind the last step, tell what they read as kernels do.
#[test]
fn a_statistic_outside_is_told_by_the_element_that_it_would_be() {
    let stat =
        "[[stat]]\nname = \"s\"\nof = \"b\"\nmap = \"far[69990 + i]\"\nreduce = \"sum\"\n[[pass]]";
    let manifest = MANIFEST.replacen("[[pass]]", stat, 1);
    let mut session = open(&format!("{manifest}__global__ void k(int *none) {{}}\n"));
    session.run_steps(0, |_| {}).unwrap();
    session.measure().unwrap();
    let text = session.snapshot().fault.expect("it reads outside").text;
    assert!(text.contains("statistic \"s\"") && text.contains("`far[700"), "{text}");
    assert!(text.contains("which has 70000 elements)"), "{text}");
}

/// What lies in shared memory, or is a parameter, is no element of an array, however near that lies.
#[test]
fn what_is_no_arrays_is_called_no_element() {
    let put = "__device__ __noinline__ void put(int *p) { *p = 1; }\n";
    for (args, kernel, told) in [
        (
            "",
            "__global__ void k(int *o) {\n    __shared__ __align__(16) char s[64];\n    \
             __shared__ char *volatile where;\n    where = s + 1;\n    put((int *)where);\n    o[0] = s[1];\n}",
            "misaligned access",
        ),
        (
            "args = { n = 3 }\n",
            "__global__ void k(int *o, const __grid_constant__ int n) { put((int *)&n); }",
            "write",
        ),
    ] {
        let place = crate::support::Workplace::new();
        let text = format!(
            "/*---\n[array.o]\ntype = \"int\"\ncount = 64\n[[pass]]\nkernel = \"k\"\ngrid = 1\nblock = 1\n\
             {args}---*/\n{put}{kernel}\n"
        );
        let ended = place.run(&["render", place.file("scene.cu", &text), "--device", "cpu"]);
        ended.expect(4, &[told]);
        assert!(!ended.err.contains("elements"), "{}", ended.err);
    }
}
