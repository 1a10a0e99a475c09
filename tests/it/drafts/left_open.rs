//! What drafts do not know they mark: no value is taken over that C++ would change in a way that is not understood.
//! What is expected was worked out with the same host code, compiled by g++.

const KERNEL: &str = "__global__ void k(float *a, int n) { a[threadIdx.x] = n; }";

/// The manifest of this host code: what stands in `main` behind an array `d`, and what before it.
fn drafted(before: &str, main: &str) -> String {
    let main = format!("int main() {{ float *d; cudaMalloc(&d, 4096); {main} }}");
    warpaint::scene::draft("t.cu", &format!("{KERNEL}\n{before}\n{main}\n"))
}

#[test]
fn launches_beyond_those_that_are_told_are_told_of() {
    let many =
        |count: usize| (0..count).map(|n| format!("k<<<1, 32>>>(d, {n});\n")).collect::<String>();
    let remark = "# fill in: only the first 200 launches are here\n";
    assert!(drafted("", &many(201)).contains(remark));
    assert!(!drafted("", &many(200)).contains(remark));
    let call =
        "void *list[] = { &d, &n }; ".to_owned() + &"cudaLaunchKernel(k, 1, 32, list);".repeat(201);
    assert!(drafted("", &format!("int n = 3; {call}")).contains(remark));
}
