//! What files that a source includes say of its kernels, and what its macros launch.

use super::drafts;
use crate::support::{Workplace, read_npy_f32};
use warpaint::{
    compile::{Cache, Compiler},
    device::Device,
    interop::Interop,
    session::{Options, Session},
};

#[test]
fn files_beside_the_source_are_read() {
    let place = Workplace::new();
    std::fs::create_dir_all(place.path("own/parts")).unwrap();
    place.file("own/parts/sizes.h", "#ifndef SIZES\n#define SIZES\n#include \"type.h\"\n#define N 48\nconst int BLOCK = N / 3;\n#endif\n");
    place.file("own/parts/type.h", "#pragma once\nstruct Pair { float left, right; };\n");
    place.file(
        "own/kernel.cu",
        "__global__ void fill(Pair *a, float *b, int n) { int i = blockIdx.x * BLOCK + threadIdx.x;
         if (i < n) a[i] = { float(i), 0 }; b[i] = n + a[i].left; }\n",
    );
    let host = "#include \"parts/sizes.h\"\n#include \"kernel.cu\"\n#include \"absent.h\"\n
int main() { Pair *a; float *b; cudaMalloc(&a, N * sizeof(Pair)); cudaMalloc(&b, N * 4);
    fill<<<N / BLOCK, BLOCK>>>(a, b, N); }\n";
    place.file("own/main.cu", &host.replace("#include \"absent.h\"\n", ""));
    place.run(&["new", "--from", "own/main.cu", "--out", "own/scene.cu"]).expect(0, &[]);
    let scene = std::fs::read_to_string(place.path("own/scene.cu")).unwrap();
    for part in
        ["[array.a]\ntype  = \"Pair\"\ncount = 48\n", "grid   = 3\nblock  = 16\n", "n = 48\n"]
    {
        assert!(scene.contains(part), "{part} in {scene}");
    }
    assert!(!scene.contains("fill in"), "{scene}");
    let run = ["render", "own/scene.cu", "--steps", "1", "--device", "cpu", "--npy", "b=b.npy"];
    place.run(&run).expect(0, &[]);
    let expected: Vec<f32> = (0..48_u8).map(|i| 48.0 + f32::from(i)).collect();
    assert_eq!(read_npy_f32(&place.path("b.npy")).1, expected);
    // What is not there is no file, nor what lies elsewhere, unless that is named.
    place.file("own/main.cu", host);
    assert!(place.run(&["new", "--from", "own/main.cu"]).out.contains("count = 48"));
    place.file("far.h", "#define FAR 12\n");
    let far = "#include \"../far.h\"\n__global__ void k(float *a) {}\n
        int main() { float *a; cudaMalloc(&a, 4 * FAR); k<<<1, 4>>>(a); }\n";
    place.file("own/far.cu", far);
    let ended = place.run(&["new", "--from", "own/far.cu"]);
    assert!(!ended.out.contains("count = 12\n"), "{}", ended.out);
    let ended = place.run(&["new", "--from", "own/far.cu", "-I", "."]);
    assert!(ended.out.contains("count = 12\n"), "{}", ended.out);
}

/// As the studio has it, whose session knows the folders of the command line.
#[test]
fn a_session_finds_files_where_its_folders_are() {
    let place = Workplace::new();
    std::fs::create_dir_all(place.path("far")).unwrap();
    std::fs::create_dir_all(place.path("own")).unwrap();
    place.file("far/far.h", "#define FAR 12\n");
    let text = "#include \"far.h\"\n__global__ void k(float *a) {}\n
        int main() { float *a; cudaMalloc(&a, 4 * FAR); k<<<1, 4>>>(a); }\n";
    for (folders, is_found) in [(vec![place.path("far")], true), (Vec::new(), false)] {
        let mut options = Options::new("main.cu", text.to_owned());
        options.path = Some(place.path("own/main.cu"));
        options.overrides.include_dirs = folders;
        let device = Device::cpu().unwrap();
        let (interop, compiler) = (Interop::none(&device), Compiler::new(Cache::user()));
        let session = Session::open(options, device, compiler, interop, || {}).unwrap();
        let manifest = session.draft(&place.path("own/main.cu"), text.to_owned())();
        assert_eq!(manifest.contains("count = 12\n"), is_found, "{manifest}");
    }
}

/// Files that include one another end.
#[test]
fn files_that_include_one_another_are_read_once() {
    let mut reads = 0;
    let manifest = warpaint::scene::draft_beside(
        "a.cu",
        "#include \"b.h\"\n#include \"b.h\"\n__global__ void k(int a) {}\nvoid f() { k<<<1, 1>>>(B); }",
        &mut |_, name| {
            reads += 1;
            Some((name.to_owned(), "#include \"b.h\"\n#include \"a.cu\"\n#define B 7\n".repeat(3)))
        },
    );
    assert!(manifest.contains("a = 7\n"), "{manifest}");
    assert!(reads < 100, "{reads}");
}

#[test]
fn launches_in_macros_are_passes() {
    let kernels = "__global__ void add_float(float *a, int n) { a[0] += n; }
        template <int N> __global__ void sized(float *a, int n) { a[0] += N; }";
    let host = "\n#define BINDING(type, size)              \\
        void run_##type(const char *name = #type) {          \\
            float *a; cudaMalloc(&a, (size) * sizeof(type)); \\
            add_##type<<<(size) / 32, 32>>>(a, size); // all \\
        }\n
        #define LAUNCH(n) sized<n><<<1, n>>>(d, n);
        #define EACH(n, ...) LAUNCH(n) __VA_ARGS__\n
        BINDING(float, 64)
        void choose(float *d) { EACH(4, ;) EACH(8, ;) }";
    let parts = [
        "[array.a]\ntype  = \"float\"\ncount = 64\n",
        "kernel = \"add_float\"\ngrid   = 2\nblock  = 32\n",
        "kernel = \"sized<4>\"\n",
        "kernel = \"sized<8>\"\n",
    ];
    drafts(kernels, host, &parts);
    // Without end, or without a bracket.
    drafts(
        kernels,
        "\n#define A(x) A(x) k<<<1, 1>>>(x)\n#define B B k<<<1, 1>>>()\nA(A(1)) A(2 B A(",
        &[],
    );
}

#[test]
fn sizes_that_no_file_says_are_the_same_everywhere() {
    let kernel = "__global__ void k(float *a, int w, int h, int depth) { }";
    let host = "void run(int w, int h, int mode) { float *a; cudaMalloc(&a, w * h * 4);
        k<<<dim3(w / 16, (h + 7) / 8), dim3(16, 8)>>>(a, w, h, mode); }";
    let parts = [
        "count = 4096 # fill in: w*h*4\n",
        "grid   = [4, 8] # fill in",
        "w = 64 # fill in: w\nh = 64 # fill in: h\ndepth = 0 # fill in: mode\n",
    ];
    drafts(kernel, host, &parts);
    let cases = "void run(int w, float *a, int mode) { switch (w) { case 32: k<<<1, 32>>>(a, 32, 1, 1); break;
        case 64: k<<<1, w>>>(a, w, 2, 1); break; case 256: k<<<1, 256>>>(a, 256, 2, 1); } }";
    drafts(
        kernel,
        cases,
        &["only_if = true # fill in: switch (w)\n", "block  = 64 # fill in: w\n"],
    );
    let large = "void run(float *far) { k<<<1 << 20, 64>>>(far, 1, 1, 1); }";
    drafts(kernel, large, &["count = 16777216 # fill in: elements\n", "[[plot]]"]);
    // Of what has no size every thread has an element; several sizes of kernels alone are of one array.
    let bytes =
        "void run(int w, int bytes) { float *a; cudaMalloc(&a, bytes); k<<<w, 64>>>(a, w, 1, 1); }";
    drafts(kernel, bytes, &["count = 262144 # fill in: elements\n", "grid   = 64 # fill in: w\n"]);
    let far = "void run(float *far) { k<<<2048, 64>>>(far, 1, 1, 1); }";
    drafts(kernel, far, &["count = 131072 # fill in: elements\n"]);
    drafts(
        "__global__ void k(float *a, int w, int h) { }",
        "",
        &["w = 256 # fill in: w\nh = 256 # fill in: h\n"],
    );
}
