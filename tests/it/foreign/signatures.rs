//! Which of several kernels of a name is meant, and what conditions and templates make of a kernel's parameters.

use warpaint::device::Device;

use super::{gives, is_told, runs, runs_of, scene, told};
use crate::support::Workplace;

/// A scene of `k`s, by these names in the manifest.
fn named(element: &str, kernel: &str, more: &str, args: &str, code: &str) -> String {
    scene(element, more, args, code).replace("'k'", &format!("'{kernel}'"))
}

#[test]
fn a_kernel_is_named_by_the_types_of_its_parameters() {
    let code = "struct P { float x; };\nnamespace n { struct P { float x; }; }\n\
                __global__ void k(float *a, int m) { a[0] = m; }\n\
                __global__ void k(float4 *a, const int m) { a[0].x = 10 + m; }\n\
                __global__ void k(const float *a, int m, float *b = NULL) { ((float *)a)[0] = 20 + m; }\n\
                __global__ void k(n::P *a, int m) { a[0].x = 30 + m; }\n\
                template <class T> __global__ void k(T *a, T m) { a[0] = 40 + m; }\n\
                template <class T> __global__ void k(T *a, T m, int l) { a[0] = 50 + m + l; }";
    for (kernel, first) in [
        ("k(float *, int)", 1.0_f32),
        ("k(float4*,int)", 11.0),
        ("k(float const *, int, float *)", 21.0),
        ("::k(n::P *, int)", 31.0),
        ("k<float>(float *, float)", 41.0),
        ("k<float>(float *, float, int)", 53.0),
    ] {
        let args = match kernel.contains("float, int)") {
            true => "args = { m = 1, l = 2 }",
            false => "args = { m = 1 }",
        };
        runs_of(&named("float4", kernel, "", args, code), &first.to_le_bytes());
    }
    let unknown = named("float4", "k(double *, int)", "", "args = { m = 1 }", code);
    let told = told(&Device::cpu().unwrap(), &unknown).join("\n");
    assert!(told.contains("no kernel `k` takes `(double*,int)`"), "{told}");
    assert!(told.contains("`k(float *, int)`, `k(float4 *, const int)`"), "{told}");
}

#[test]
fn the_compiler_tells_which_of_two_heads_with_the_same_types_counts() {
    // What these are, the text alone does not say.
    for (condition, holds) in [
        ("__CUDACC_VER_MAJOR__ > 5", true),
        ("__CUDACC_VER_MAJOR__ < 5", false),
        ("'ab' == 24930", true),
    ] {
        let heads = ["float *a, int m, int n", "float *a, int n, int m"];
        let [first, second] = if holds { heads } else { [heads[1], heads[0]] };
        let body = "{ a[0] = 10 * m + n; }";
        for code in [
            format!(
                "#if {condition}\n__global__ void k({first}) {body}\n#else\n__global__ void k({second}) {body}\n#endif"
            ),
            format!(
                "__global__ void k(\n#if {condition}\n{first}\n#else\n{second}\n#endif\n) {body}"
            ),
        ] {
            runs("float", "", "args = { m = 1, n = 2 }", &code, &12.0_f32.to_le_bytes());
        }
    }
}

/// A header that guards itself is read once, though a text may get round that.
#[test]
fn a_head_that_was_misread_is_an_error() {
    let place = Workplace::new();
    let header = "#ifndef H\n#define H\n#ifdef SECOND\n#undef HEAD\n#define HEAD float *b, float *a\n#else\n\
                  #define HEAD float *a, float *b\n#endif\n#endif\n";
    place.file("h.h", header);
    let text = |again: &str| {
        let more = "[array.b]\ntype = 'float'\ncount = 64";
        let code =
            format!("#include \"h.h\"\n{again}__global__ void k(HEAD) {{ a[0] = b[0] + 1; }}\n");
        scene("float", more, "", &code)
    };
    let render = ["render", "s.cu", "--device", "cpu", "--steps", "1"];
    place.file("s.cu", &text(""));
    place.run(&render).expect(0, &[]);
    place.file("s.cu", &text("#undef H\n#define SECOND\n#include \"h.h\"\n"));
    place
        .run(&render)
        .expect(1, &["`k` are (float *b, float *a) to the compiler, but its text was read as (float *a, float *b)"]);
}

#[test]
fn of_overloaded_kernels_the_one_with_the_types_of_the_manifest_is_preferred() {
    let more = "[param.k]\nvalue = 2.0\n[param.i]\nvalue = 3";
    let two = |first: &str, second: &str| {
        format!(
            "__global__ void k({first}) {{ a[0] = 1; }}\n__global__ void k({second}) {{ a[0] = 2; }}"
        )
    };
    for (first, second) in [
        ("float *a, double k", "float *a, float k"),
        ("float *a, long long i", "float *a, int i"),
        ("float *a, float n", "float *a, int n"),
        ("float *a, double a_count", "float *a, int a_count"),
        ("const float *b, float *a", "float *b, float *a"),
    ] {
        let args = if first.contains("*b") { "args = { b = 'a' }" } else { "args = { n = 2 }" };
        let args = if first.contains("*b") || first.contains(" n") { args } else { "" };
        runs("float", more, args, &two(first, second), &2.0_f32.to_le_bytes());
        runs("float", more, args, &two(second, first), &1.0_f32.to_le_bytes());
    }
    let vectors =
        "__global__ void k(float *a) { a[0] = 1; }\n__global__ void k(float4 *a) { a[0].x = 2; }";
    runs("float4", "", "", vectors, &2.0_f32.to_le_bytes());
    // Each of them is better for one parameter.
    let neither = two("float *a, double k, int i", "float *a, float k, long long i");
    is_told(
        more,
        "",
        &neither,
        "kernel = 'k'",
        &["more than one fits", "`kernel = \"k(float *, double, int)\"`"],
    );
}

#[test]
fn of_overloaded_kernels_the_compiler_says_which_types_they_take() {
    let code = "typedef float real; namespace n { typedef double wide; }\n\
                __global__ void k(real *a) { a[0] = 1; }\n__global__ void k(n::wide *a) { a[0] = 2; }\n\
                __global__ void k(real *a, real s) { a[0] = 3; }";
    runs("float", "", "", code, &1.0_f32.to_le_bytes());
    runs("double", "", "", code, &2.0_f64.to_le_bytes());
}

#[test]
fn of_kernels_in_branches_the_compiled_one_counts() {
    // The other one takes what the manifest has.
    let code = "#if CUDA_VERSION > 11000\n__global__ void k(float *a, int s) { a[0] = s; }\n#else\n\
                __global__ void k(float *a, float *q, int s) { a[0] = 1; }\n#endif";
    is_told("", "args = { s = 2 }", code, "float *q", &["`q` of the kernel `k` is no resource"]);
    let driver = format!("#include <cuda.h>\n{code}");
    runs("float", "", "args = { s = 2 }", &driver, &2.0_f32.to_le_bytes());
}

#[test]
fn conditions_between_parameters_are_the_compilers() {
    for (condition, holds) in [
        ("defined(__NVCC__)", true),
        ("defined(__linux__) && defined(__unix__)", true),
        ("defined(_WIN32) || defined(_MSC_VER) || defined(__APPLE__)", false),
        ("__cplusplus >= 201703L", true),
        ("__cplusplus > 201703L", false),
        ("CUDA_VERSION > 11000", true),
        ("CUDART_VERSION >= 99000", false),
        ("__CUDACC_VER_MAJOR__ >= 11", true),
        ("UINT_MAX > 65535", true),
        ("__CUDA_ARCH__ >= 700", true),
    ] {
        let code = format!(
            "#include <cuda.h>\n#include <cuda_runtime.h>\n__global__ void k(\n#if {condition}\n float *a, int s\n#else\n \
             float *a, double *a, int s\n#endif\n) {{ a[0] = s; }}"
        );
        let code = if holds {
            code
        } else {
            code.replace("#if ", "#if !(").replace("\n float *a, int", ")\n float *a, int")
        };
        runs("float", "", "args = { s = 2 }", &code, &2.0_f32.to_le_bytes());
    }
    // Both take what the manifest has.
    let both = "__global__ void k(\n#if UINT_MAX > 65535\n float *a, int s\n#else\n int s, float *a\n#endif\n) { a[0] = s; }";
    runs("float", "", "args = { s = 2 }", both, &2.0_f32.to_le_bytes());
    let parts = "__global__ void k(float *a\n#if UINT_MAX > 65535\n , int s\n#endif\n#if UINT_MAX < 65535\n , int t\n#else\n , \
                 float t\n#endif\n) { a[0] = s + t; }";
    runs("float", "", "args = { s = 2, t = 0.5 }", parts, &2.5_f32.to_le_bytes());
    let newer = "__global__ void k(float *a,\n#if __cplusplus > 201703L\n int s\n#else\n int t\n#endif\n) { a[0] = s; }";
    let compile = "[compile]\nstandard = 'c++20'";
    runs("float", compile, "args = { s = 2 }", newer, &2.0_f32.to_le_bytes());
}

#[test]
fn parameters_of_templates_have_their_defaults() {
    let more = "[param.s]\nvalue = 2.5\n[param.n]\nvalue = 3";
    let with = |template: &str, kernel: &str, of: &str, first: f32| {
        let code = format!(
            "template <class T> struct Def {{ typedef T type; }};\ntemplate <class T, class U> struct Second {{ typedef U type; }};\n\
             template <{template}> __global__ void k(T *a, {of}) {{ a[0] = {}; }}",
            of.rsplit(' ').next().unwrap()
        );
        runs_of(&named("float", kernel, more, "", &code), &first.to_le_bytes());
    };
    with("class T, class U = T", "k<float>", "U s", 2.5);
    with("class T, class U = double", "k<float>", "U s", 2.5);
    with("class T, class U = double, class V = U", "k<float, int>", "V n", 3.0);
    with("class T = float, class U = int", "k<>", "U n", 3.0);
    with("class T, class U = typename Def<T>::type", "k<float>", "U s", 2.5);
    with("class T, class U = typename Second<int, T>::type", "k<float>", "U s", 2.5);
    with("class T, int N = 3, class U = T", "k<float>", "U s", 2.5);
}

#[test]
fn headers_of_the_driver_and_of_formats_are_there() {
    gives(
        "#include <cuda.h>\n#if !defined(CUDA_VERSION) || CUDA_VERSION < 11000 || CUDA_VERSION % 10 || \
         __CUDA_API_VERSION != CUDA_VERSION\n#error \"which driver?\"\n#endif\n__device__ CUresult done() { return CUDA_SUCCESS; }\n\
         __global__ void k(float *a) { a[0] = CUDA_VERSION / 1000 == __CUDACC_VER_MAJOR__ && done() == 0; }",
        1.0,
    );
    for header in ["inttypes.h", "cinttypes"] {
        let code = format!(
            "#include <{header}>\n#include <cstdio>\n__global__ void k(float *a, int64_t n) {{\n\
             if (n < 0) printf(\"%\" PRIu64 \" %\" PRId32 \" %08\" PRIxPTR \"\\n\", (uint64_t)n, (int32_t)n, (uintptr_t)a);\n\
             a[0] = sizeof \"%\" PRIdMAX + 10 * sizeof \"%\" PRIuFAST8; }}"
        );
        runs("float", "", "args = { n = 1 }", &code, &35.0_f32.to_le_bytes());
    }
}
