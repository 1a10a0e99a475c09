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
        // Not memory of a resource: the message is as before.
        (
            "__global__ void k(const float4 *a, int *none) { none = nullptr; none[3] = a[0].x; }",
            ["write outside every allocation (4 bytes", "through a null pointer)"],
        ),
        (
            "__constant__ int table[4];\n__global__ void k(int *none) { none[0] = table[none[0] + 5]; }",
            ["read outside every allocation", "byte 20 of an allocation of 16 bytes)"],
        ),
        (
            "__device__ int table[4];\n__global__ void k(int *none) { table[none[0] + 5] = 1; }",
            ["write outside every allocation", "byte 20 of an allocation of 16 bytes)"],
        ),
    ] {
        let manifest = MANIFEST.replace(
            "over = 1\n",
            if kernel.contains("S s") {
                "over = 1\nargs = { s = { to = \"far\" } }\n"
            } else {
                "over = 1\n"
            },
        );
        let mut session = open(&format!("{manifest}{kernel}\n"));
        session.run_steps(1, |_| {}).unwrap();
        let text = session.snapshot().fault.expect("the access is out of bounds").text;
        assert!(parts.iter().all(|part| text.contains(part)), "{kernel}: {text}");
    }
}
