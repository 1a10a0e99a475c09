//! Files as nvcc takes them: with host code, its headers, and what nvcc includes by itself.

use std::{
    fs,
    time::{Duration, Instant},
};

use warpaint::{
    compile::{Compiled, Compiler, Outcome, Request, Target},
    device::Device,
    diagnostic::Severity,
};

use super::{compiled, compiler, rejected, request};

/// What `source` compiles to, which the CPU device loads.
fn loaded(compiler: &Compiler, source: &str) -> Compiled {
    let compiled = compiled(compiler, &request(source));
    Device::cpu().unwrap().load(&compiled.ptx).unwrap();
    compiled
}

#[test]
fn what_the_host_uses_is_not_called_unused() {
    let Some(compiler) = compiler() else { return };
    let source = "static const int width = 64, height = 32;\nstatic const int nobody = 3;
__global__ void k(float *a) { int n; a[0] = height; }
int main() { float *d; cudaMalloc(&d, width * height * 4); k<<<1, width>>>(d); }\n";
    let compiled = compiled(&compiler, &request(source));
    let told: Vec<String> = compiled.diagnostics.iter().map(ToString::to_string).collect();
    assert!(told.iter().any(|text| text.contains("\"nobody\" was declared but never")), "{told:?}");
    assert!(told.iter().any(|text| text.contains("\"n\" was declared but never")), "{told:?}");
    assert_eq!(told.len(), 2, "{told:?}");
}

#[test]
fn host_code_is_left_out() {
    let Some(compiler) = compiler() else { return };
    let kernel = "__global__ void k(float *a) { a[0] = 1; }\n";
    let alone = loaded(&compiler, kernel);
    for (before, behind) in [
        ("#include <cuda.h>\n", ""),
        (
            "#include <cstdio>\n",
            "int main() { float *d; cudaMalloc(&d, 4); k<<<1, 1>>>(d); return 0; }",
        ),
        (
            "#include <iostream>\n#include <vector>\n#include <chrono>\n#include <cublas_v2.h>\n#include <sys/time.h>\n\
             using namespace std;\nvector<int> all;\nstatic FILE *log_file;\n",
            "template <typename T> void launch(vector<T> &v) { k<<<1, 2>>>(v.data()); cout << v.size() << endl; }\n\
             template void launch<float>(vector<float> &);",
        ),
        (
            "struct Timer { cudaEvent_t start, stop; std::string name; Timer() : name(\"a\") {} };\n\
             typedef std::map<int, int> Map;\nextern Map all;\n",
            "#define BIND(f) void bind_##f(torch::Tensor x) { f(x); }\nBIND(a)\nBIND(b)\n",
        ),
    ] {
        let lines = before.matches('\n').count() + 1;
        let with_host = loaded(&compiler, &format!("{before}{kernel}{behind}"));
        let body = |compiled: &Compiled| {
            let lines = compiled.ptx.lines();
            let is_code = |line: &&str| !line.trim_start().starts_with(['.', '/', '\t']);
            lines.filter(is_code).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(body(&with_host), body(&alone), "{before}");
        assert!(with_host.ptx.contains(&format!(".loc\t1 {lines} ")), "{}", with_host.ptx);
    }
}

#[test]
fn what_nvcc_gives_is_there() {
    let Some(compiler) = compiler() else { return };
    for source in [
        "__global__ void k(float *a) { uint i = threadIdx.x; ulong j = 1; uchar c = 2; ushort s = c; a[i] = j + s; }",
        "__global__ void k(float *a) { a[0] = INFINITY; a[1] = M_PI; int64_t x = INT_MAX; a[2] = x; }",
        "__constant__ uint64_t t[2] = { UINT64_C(1), UINT64_C(2) }; __global__ void k(float *a) { a[0] = t[0]; }",
        "static const float table[4] = {1, 2, 3, 4}; __global__ void k(float *a) { a[0] = table[threadIdx.x]; }",
        "struct P { P() : x{} {} float x; }; __global__ void k(P *a) { P b = a[1]; a[0] = b; }",
        "constexpr int twice(int x) { return 2 * x; } __global__ void k(int *a) { a[0] = twice(a[1]); }",
        "__global__ void k(int *a) { register int x = a[1]; a[0] = x; }",
        "#ifndef __NVCC__\n#error\n#endif\n#if !defined(__linux__)\n#error\n#endif\n__global__ void k() { }",
        "#include <cufft.h>\n__global__ void k(cufftComplex *a) { a[0].x = 1; }",
    ] {
        loaded(&compiler, source);
    }
}

/// By libcu++, of which a kernel pays for what it names.
#[test]
fn the_library_of_cpp_is_there_for_kernels() {
    let Some(compiler) = compiler() else { return };
    for source in [
        "#include <algorithm>\n#include <limits>\n__global__ void k(float *a) { \
         a[0] = std::min(a[1], std::numeric_limits<float>::max()); a[2] = std::max<float>(a[3], 1); }",
        "template <class T> __global__ void k(T *a) { if (std::is_same<T, float>::value) a[0] = 1; \
         using U = std::conditional_t<std::is_integral_v<T>, int, float>; U u = 2; a[1] = u; }",
        "__global__ void k(int *a) { std::swap(a[0], a[1]); std::pair<int, int> p{1, 2}; a[2] = p.first; }",
        "using namespace std;\n__global__ void k(float *a) { a[0] = numeric_limits<float>::infinity(); }",
        "__global__ void k(float *a) { std::array<float, 2> b{1, 2}; auto [x, y] = std::make_tuple(b[0], 3.0f); \
         a[0] = x + y + std::sqrt(a[1]); }",
    ] {
        let source = request(source);
        assert_eq!(compiled(&compiler, &source).log, "", "{}", source.source);
    }
    let cub = "#include <cub/cub.cuh>\n__global__ void k(float *a) { typedef cub::BlockReduce<float, 64> R; \
               __shared__ typename R::TempStorage t; a[0] = R(t).Sum(a[threadIdx.x]); }";
    loaded(&compiler, cub);
}

#[test]
fn headers_beside_the_source_lose_their_host_code() {
    let Some(compiler) = compiler() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("sub")).unwrap();
    // The text is not UTF-8.
    let common = b"#pragma once\n#include <vector>\n// \xe9\nvoid fill(std::vector<int> &v) { v.clear(); }\n\
                   #include \"deep.h\"\n#define HD __host__ __device__\n";
    fs::write(path("sub/common.h"), common).unwrap();
    fs::write(
        path("sub/deep.h"),
        "__device__ int deep() { return 7; }\nint host() { return rand(); }\n",
    )
    .unwrap();
    let source = "#include \"sub/common.h\"\nHD int twice(int x) { return 2 * x; }\n\
                  __global__ void k(int *a) { a[0] = twice(deep()); }\n";
    let mut request = Request::new(path("k.cu").to_string_lossy(), source, Target::CPU);
    compiled(&compiler, &request);
    // A mistake is told in the file on the disk.
    fs::write(
        path("sub/deep.h"),
        "int host() { return rand(); }\n__device__ int deep() { return x; }\n",
    )
    .unwrap();
    let told = rejected(&compiler, &request);
    let expected =
        format!("{}:2:32: error: identifier \"x\" is undefined", path("sub/deep.h").display());
    assert_eq!(told, [expected]);
    // All that is missing is named at once.
    request.source =
        "#include \"a.h\"\n#include <b.hpp>\n#include <vector>\n__global__ void k() { }\n".into();
    let told = rejected(&compiler, &request);
    let name = &request.name;
    assert!(told[0].starts_with(&format!("{name}:1:")) && told[0].contains("\"a.h\""), "{told:?}");
    assert_eq!(told[1..], [format!("{name}:2: error: cannot open source file \"b.hpp\" either")]);
}

#[test]
fn what_a_kernel_needs_of_the_host_is_told() {
    let Some(compiler) = compiler() else { return };
    let told = |source: &str| rejected(&compiler, &request(source)).join("\n");
    let text = told(
        "float half(float x) { return x / 2; }\n__global__ void k(float *a) { a[0] = half(a[1]); }",
    );
    assert!(text.contains("test.cu:2:38: error: identifier \"half\" is undefined"), "{text}");
    assert!(text.contains("`half` is a function of the host"), "{text}");
    // The first complaint, not what follows from leaving the declaration out.
    let text = told("struct P { flaot x; };\n__global__ void k(P *a) { a[0].x = 1; }");
    assert!(text.contains("test.cu:1:12: error: identifier \"flaot\" is undefined"), "{text}");
    let text = told(
        "__device__ float2 f(float x) { return (float2){ x, x }; }\n__global__ void k(float *a) { }",
    );
    assert!(text.contains("compound literal"), "{text}");
    // What no kernel needs is left out, and named.
    let source = "struct P { Unknown x; };\n__global__ void k(float *a) { a[0] = 1; }";
    let Outcome::Compiled(compiled) = compiler.compile(&request(source)).unwrap() else { panic!() };
    let notes: Vec<_> =
        compiled.diagnostics.iter().map(|note| (note.severity, note.line)).collect();
    assert_eq!(notes, [(Severity::Note, Some(1))], "{:?}", compiled.diagnostics);
}

/// A member with a mistake is none of the host's, though no kernel names it: without it others would lie elsewhere.
#[test]
fn a_member_with_a_mistake_is_an_error_where_kernels_have_its_class() {
    let Some(compiler) = compiler() else { return };
    let kernel = "\n__global__ void k(Q *o) { o[0] = Q{}; }\n";
    for (class, part) in [
        ("struct Q { int a;\nflaot x; int b; };", "identifier \"flaot\" is undefined"),
        ("struct Q { int a;\nint x[-1]; int b; };", "array"),
        ("struct Q { int a;\nint a; float c; };", "already been declared"),
        ("struct Later;\nstruct Q { int a; Later l; };", "incomplete type"),
        ("#include <string>\nstruct Q { int a; int x[-1]; int b; };", "array"),
    ] {
        let told = rejected(&compiler, &request(&format!("{class}{kernel}"))).join("\n");
        assert!(told.contains("test.cu:2:") && told.contains(part), "{class}: {told}");
        // Where no kernel has it, it is left out, as all that is the host's.
        let other = format!("{class}\n__global__ void k(int *o) {{ o[0] = 1; }}\n");
        assert!(matches!(compiler.compile(&request(&other)).unwrap(), Outcome::Compiled(_)));
    }
}

/// A class of which a kernel has objects is laid out as on the host, or the user is told.
#[test]
fn a_member_that_is_left_out_is_told() {
    let Some(compiler) = compiler() else { return };
    let warned = |source: &str| -> Vec<(Option<u32>, String)> {
        let Outcome::Compiled(compiled) = compiler.compile(&request(source)).unwrap() else {
            panic!("{source}")
        };
        let told = compiled.diagnostics.into_iter();
        let told = told.filter(|remark| remark.severity == Severity::Warning);
        told.map(|remark| (remark.line, remark.text)).collect()
    };
    let kernel =
        "\n__global__ void k(int *o) { o[0] = sizeof(Q); }\nint main() { Q q; return 0; }\n";
    let classes = [
        "struct Q { int a;\nstd::string s; int b; };",
        "typedef struct { int a;\nstd::string s; int b; } Q;",
        "class Q { int a;\nstd::string s; __device__ int get() { return a; } };",
        "struct Q { int a; struct { float x;\nstd::string s; } in; };",
        "struct Q { int a; struct In { float x;\nstd::string s; }; In in; };",
        "struct Q { int a;\nunsigned int (*f)(std::string); };",
    ];
    for class in classes {
        let warnings = warned(&format!("#include <string>\n{class}{kernel}"));
        let [(line, text)] = &warnings[..] else { panic!("{class}: {warnings:?}") };
        assert!(*line == Some(3) && text.contains("`Q` has another size"), "{class}: {warnings:?}");
    }
    // Pointers have their size, whatever they point to; what takes no place changes none.
    let same = [
        ("struct Q { int a; FILE *f; int b; };", 24),
        ("struct Q { int a; unsigned int (*f)(int); int b; };", 24),
        ("struct Q { int a; static std::string s; int b; };", 8),
        ("struct Q { int a; int get(std::string s); int b; };", 8),
        ("struct Q { int a; int b; };\nstruct Other { std::string s; };", 8),
    ];
    for (class, size) in same {
        let right = format!("\nstatic_assert(sizeof(Q) == {size}, \"\");");
        let source = format!("#include <cstdio>\n#include <string>\n{class}{right}{kernel}");
        assert!(warned(&source).is_empty(), "{class}: {:?}", warned(&source));
    }
}

/// The warnings of `source`, which compiles.
fn warned(compiler: &Compiler, source: &str) -> Vec<String> {
    let Outcome::Compiled(compiled) = compiler.compile(&request(source)).unwrap() else {
        panic!("{source}")
    };
    let told = compiled.diagnostics.into_iter();
    let told = told.filter(|remark| remark.severity == Severity::Warning);
    told.map(|remark| format!("{}: {}", remark.line.unwrap(), remark.text)).collect()
}

/// What went and hid something else of its name is told where kernels mean that now.
#[test]
fn what_is_uncovered_by_what_went_is_told() {
    let Some(compiler) = compiler() else { return };
    let vector = "#include <vector>\n#include <string>\n";
    let told = |text: &str, kernel: &str| {
        let source = format!(
            "{vector}{text}\n__global__ void k(int *o) {{ o[0] = {kernel}; }}\nint main() {{ }}\n"
        );
        warned(&compiler, &source)
    };
    let traits = "template <class T> struct Tr { static constexpr int N = 1; };\n";
    let hides = [
        (
            format!("{traits}template <> struct Tr<int> : std::vector<int> {{ static constexpr int N = 2; }};"),
            "Tr<int>::N",
        ),
        (
            format!("{traits}template <class T> struct Tr<T *> : std::vector<T> {{ static constexpr int N = 2; }};"),
            "Tr<int *>::N",
        ),
        (
            "constexpr int N = 1; struct Z {\nstatic constexpr int N = sizeof(std::vector<int>); __device__ int g() \
             { return N; } };"
                .into(),
            "Z().g()",
        ),
        (
            "struct Y { static constexpr int N = 1; }; struct Z : Y {\nstatic constexpr int N = \
             sizeof(std::vector<int>); };"
                .into(),
            "Z::N",
        ),
        (
            "typedef int real; namespace n {\ntypedef std::vector<int> real; __device__ int g() { return \
             sizeof(real); } }"
                .into(),
            "n::g()",
        ),
        (
            "enum { N = 1 }; namespace n {\nenum { M, N = sizeof(std::vector<int>) }; \
             __device__ int g() { return N; } }"
                .into(),
            "n::g()",
        ),
        (
            "__device__ int N = 1; namespace n {\nint N = 2; __device__ int g() { return N; } }".into(),
            "n::g()",
        ),
    ];
    for (text, kernel) in hides {
        let told = told(&text, kernel);
        assert!(told.len() == 1 && told[0].starts_with("4: this "), "{text}: {told:?}");
    }
    let same = [
        (format!("{traits}template <> struct Tr<std::string> : std::vector<int> {{ }};"), "Tr<int>::N"),
        (format!("{traits}template <> struct Tr<int> : std::vector<int> {{ }};"), "1"),
        ("typedef int real; namespace n { typedef std::vector<int> real; }".into(), "sizeof(real)"),
        (
            "namespace n { struct S; struct S { std::vector<int> v; virtual ~S() { } }; \
             __device__ int g(const void *s) { return s != nullptr; } }"
                .into(),
            "n::g(o)",
        ),
        (
            "namespace n { typedef std::vector<int> list; int size = 2; __device__ int g(int size) { return size; } }"
                .into(),
            "n::g(1)",
        ),
    ];
    for (text, kernel) in same {
        assert_eq!(told(&text, kernel), [""; 0], "{text}");
    }
}

/// Which members kernels need is known where all files are: a header's class is reached by the source's.
#[test]
fn what_a_kernel_reaches_through_a_header_is_told() {
    let Some(compiler) = compiler() else { return };
    let folder = tempfile::tempdir().unwrap();
    let header = folder.path().join("shape.h");
    fs::write(&header, "#pragma once\nstruct Shape { virtual ~Shape() { } int v; };\n").unwrap();
    let source = "#include \"shape.h\"\nstruct S : Shape { };\n\
                  template <class T> __global__ void k(T *o) { o->v = sizeof(T); }\nint main() { }\n";
    let name = folder.path().join("k.cu");
    let mut request = Request::new(name.to_string_lossy(), source, Target::CPU);
    let told = |request: &Request| -> Vec<(String, Option<u32>)> {
        let compiled = compiled(&compiler, request);
        compiled.diagnostics.into_iter().map(|remark| (remark.file, remark.line)).collect()
    };
    assert_eq!(told(&request), []);
    // An instance is asked for by its name.
    request.name_expressions.push("k<S>".into());
    assert_eq!(told(&request), [(header.display().to_string(), Some(2))]);
}

/// A macro with arguments may be an attribute, a type or a name; a value may stand in parentheses. Neither makes a
/// function of the host of what is none.
#[test]
fn parentheses_alone_make_no_function() {
    let Some(compiler) = compiler() else { return };
    let macros = "#include <string>\n#define ALIGNED(n) __attribute__((aligned(n)))\n#define UNIT(u)\n\
                  #define PARAM(n) n\n#define PROP(T, n) T n\n#define MARKED(x) __forceinline__ x\n\
                  #define TEST(a, b) void a##b()\n";
    let all = [
        ("struct S { float a; float x ALIGNED(16); float b, c; };", "sizeof(S) == 32"),
        ("struct S { double t UNIT(\"s\"); float mass UNIT(\"kg\"); };", "sizeof(S) == 16"),
        ("struct S { float PARAM(gain); float z; };", "sizeof(S) == 8"),
        ("struct S { PROP(int, f); volatile const PROP(int, g); int z, w; };", "sizeof(S) == 16"),
        ("struct S { unsigned int x __attribute((aligned(16))); };", "sizeof(S) == 16"),
        ("struct S { unsigned a : sizeof(int); unsigned b : PARAM(4); int c; };", "sizeof(S) == 8"),
        ("const int N = 7; namespace z { const int N UNIT(\"m\") = 16; }", "z::N == 16"),
        ("const int N = 7; namespace z { const int N(16); }", "N == 7 && z::N == 16"),
        (
            "struct S { char c; }; namespace n { struct ALIGNED(16) S { char c; }; }",
            "sizeof(n::S) == 16",
        ),
        (
            "template <class T> struct S { static constexpr int N = 1; };\n\
             template <> struct ALIGNED(8) S<int> { static constexpr int N = 16; };",
            "S<int>::N == 16",
        ),
        ("MARKED(__device__) constexpr int f(int x) { return x; }", "f(3) == 3"),
        // Functions of the host, too, have macros.
        (
            "TEST(some, thing) { std::string s; }\nPARAM(int) host(std::string s) { return 3; }\n\
             static PARAM(int) other(std::string s);\nint main() { return host(\"\"); }",
            "true",
        ),
    ];
    for (text, holds) in all {
        let source = format!(
            "{macros}{text}\nstatic_assert({holds}, \"\");\n__global__ void k(int *x) {{ x[0] = 1; }}\n"
        );
        compiled(&compiler, &request(&source));
    }
}

/// What lies beside a header is not beside the source.
#[cfg(target_os = "linux")]
#[test]
fn a_header_opens_no_folder() {
    let Some(compiler) = compiler() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("sub")).unwrap();
    fs::write(path("sub/a.h"), "int host() { return rand(); }\n").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", path("sub/secret.h")).unwrap();
    let source = "#include \"sub/a.h\"\n#include \"secret.h\"\n__global__ void k() { }\n";
    let mut request = Request::new(path("k.cu").to_string_lossy(), source, Target::CPU);
    request.reach = warpaint::compile::Reach::Below(vec![folder.path().into()]);
    request.include_dirs = vec![folder.path().into()];
    let told = rejected(&compiler, &request).join("\n");
    assert!(
        told.contains("cannot open source file \"secret.h\"") && !told.contains("root"),
        "{told}"
    );
}

/// One name, two files: each is found from its own folder.
#[test]
fn headers_of_one_name_are_not_mixed_up() {
    let Some(compiler) = compiler() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for part in ["a", "b"] {
        fs::create_dir(path(part)).unwrap();
        let text = format!("#include \"value.h\"\nint host_{part}() {{ return 1; }}\n");
        fs::write(path(&format!("{part}/use.h")), text).unwrap();
        fs::write(path(&format!("{part}/value.h")), format!("#define VALUE_{part} 1\n")).unwrap();
    }
    let source = "#include \"a/use.h\"\n#include \"b/use.h\"\nint main() { }\n\
                  __global__ void k(int *x) { x[0] = VALUE_a + VALUE_b; }\n";
    compiled(&compiler, &Request::new(path("k.cu").to_string_lossy(), source, Target::CPU));
}

/// Names that look like options.
#[test]
fn a_name_may_begin_with_a_dash() {
    let Some(compiler) = compiler() else { return };
    for name in ["-DX=1.cu", "-G", "--version", "-include=a.cu"] {
        let right = Request::new(name, "__global__ void k() { }\n", Target::CPU);
        let ptx = compiled(&compiler, &right).ptx;
        assert!(ptx.contains(name), "{ptx}");
        let wrong = Request::new(name, "__global__ void k() { x; }\n", Target::CPU);
        assert_eq!(
            rejected(&compiler, &wrong),
            [format!("{name}:1:23: error: identifier \"x\" is undefined")]
        );
    }
}

/// A stranger's file with very many declarations that do not compile.
#[test]
fn many_wrong_declarations_take_no_time() {
    let Some(compiler) = compiler() else { return };
    let source = format!("{}__global__ void k() {{ }}\n", "using a = b;\n".repeat(1 << 16));
    let started = Instant::now();
    rejected(&compiler, &request(&source));
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}
