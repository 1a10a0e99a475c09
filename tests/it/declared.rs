//! How kernels are declared: what they are given follows what the compiler compiles, not what the text looks like.

use ndarray::Array1;
use ndarray_npy::ReadNpyExt as _;

use crate::support::Workplace;

/// A scene whose one step lets `k` run in one thread, with arrays of these types.
fn scene(arrays: &[(&str, &str)], pass: &str, text: &str) -> String {
    let array = |(name, of): &(&str, &str)| format!("[array.{name}]\ntype = \"{of}\"\ncount = 2\n");
    let arrays: String = arrays.iter().map(array).collect();
    format!("/*---\n{arrays}[[pass]]\ngrid = 1\nblock = 1\n{pass}\n---*/\n{text}\n")
}

/// What the arrays `a` and `b` begin with after a step.
fn written(text: &str) -> [i32; 2] {
    let place = Workplace::new();
    let scene = place.file("scene.cu", text);
    place.file("undefines.h", "#undef GONE\n");
    let arguments = ["--steps", "1", "--npy", "a=a.npy", "--npy", "b=b.npy"];
    place.run(&[&["render", scene, "--device", "cpu"], &arguments[..]].concat()).expect(0, &[]);
    ["a.npy", "b.npy"].map(|name| {
        let file = std::fs::File::open(place.path(name)).unwrap();
        Array1::<i32>::read_npy(file).unwrap()[0]
    })
}

/// Whichever declaration is compiled writes 1 to `a` and 2 to `b`.
#[test]
fn names_are_those_of_the_declaration_that_is_compiled() {
    const RIGHT: &str = "__global__ void k(int *b, int *a) { *a = 1; *b = 2; }";
    const OTHER: &str = "__global__ void k(int *a, int *b) { *a = 1; *b = 2; }";
    let either = |before: &str| format!("{before}\n{RIGHT}\n#else\n{OTHER}\n#endif");
    for text in [
        either("#ifdef WARPAINT"),
        either("#define YES\n#if 1\n#ifdef YES"),
        either("#define D1\n#define GONE\n#include \"undefines.h\"\n#ifndef GONE"),
        // Sections that are left out, with a directive alone in them.
        either("#if 0\n#define NO\n#endif\n#ifndef NO"),
    ] {
        let text = match text.contains("#if 1\n") {
            true => format!("{text}\n#endif"),
            false => text,
        };
        let text = scene(&[("a", "int"), ("b", "int")], "kernel = \"k\"", &text);
        assert_eq!(written(&text), [1, 2], "{text}");
    }
    let specialised = "template <int N> __global__ void k(int *a, int *b) { *a = N; *b = 0; }\n\
                       template <> __global__ void k<2>(int *b, int *a) { *a = 1; *b = 2; }";
    for (kernel, expected) in [("k<2>", [1, 2]), ("k< 2 >", [1, 2]), ("k<7>", [7, 0])] {
        let pass = format!("kernel = \"{kernel}\"");
        let text = scene(&[("a", "int"), ("b", "int")], &pass, specialised);
        assert_eq!(written(&text), expected, "{kernel}");
    }
}

/// Where the text alone does not tell which one is compiled, nothing is guessed: the compiler is asked.
#[test]
fn of_declarations_of_which_none_is_sure_the_compiled_one_counts() {
    for condition in [
        "#ifdef M_PI",
        "#ifndef INT_MAX",
        "#if 1u - 2 > 0",
        // What stands around a macro binds its tokens.
        "#define A 1+1\n#if A*2 == 4",
        "#define A 1+1\n#if A*2 == 3",
    ] {
        // Whichever it is, each array is known by its name.
        let body = "{ a[0] = 1; b[0] = 2; }";
        let text = format!(
            "{condition}\n__global__ void k(int *b, int *a) {body}\n#else\n\
             __global__ void k(int *a, int *b) {body}\n#endif"
        );
        let text = scene(&[("a", "int"), ("b", "int")], "kernel = \"k\"", &text);
        assert_eq!(written(&text), [1, 2], "{condition}");
    }
}

/// A head that declares what is defined elsewhere by other names, and names that macros make: where the text was
/// misread, that is told, and nothing runs.
#[test]
fn names_that_were_misread_are_told() {
    let body = "{ a[0] = 1; b[0] = 2; }";
    let paste = "#define P(a, b) a##b\n#define CAT(a, b) P(a, b)\n#define P_800 b\n#define P___CUDA_ARCH__ a\n\
                 #define Q_800 a\n#define Q___CUDA_ARCH__ b";
    for (kernel, text) in [
        (
            "n::k",
            format!(
                "namespace n {{ __global__ void k(int *a, int *b); }}\n__global__ void n::k(int *b, int *a) {body}"
            ),
        ),
        (
            "k",
            format!(
                "__global__ void k(int *a, int *b);\n__global__ void (k)(int *b, int *a) {body}"
            ),
        ),
        (
            "k",
            format!(
                "{paste}\n__global__ void k(int *CAT(P_, __CUDA_ARCH__), int *CAT(Q_, __CUDA_ARCH__)) {body}"
            ),
        ),
    ] {
        let place = Workplace::new();
        let pass = format!("kernel = \"{kernel}\"");
        let text = scene(&[("a", "int"), ("b", "int")], &pass, &text);
        let told = ["(int *b, int *a) to the compiler", "read as (int *a, int *b)"];
        place.run(&["check", place.file("scene.cu", &text)]).expect(1, &told);
    }
}

#[test]
fn types_that_were_misread_are_told() {
    let text = "#define P(a, b) a##b\n#define CAT(a, b) P(a, b)\n#define T_800 int\n\
                #define T___CUDA_ARCH__ float\n#define U_800 float\n#define U___CUDA_ARCH__ int\n\
                __global__ void k(float *a, CAT(T_, __CUDA_ARCH__) q, CAT(U_, __CUDA_ARCH__) n) { *a = q + n; }";
    let place = Workplace::new();
    let pass = "kernel = \"k\"\nargs = { q = 0.5, n = 3 }";
    let text = scene(&[("a", "float")], pass, text);
    let told = ["(float *a, int q, float n) to the compiler", "read as (float *a, float q, int n)"];
    place.run(&["check", place.file("scene.cu", &text)]).expect(1, &told);
}

#[test]
fn types_of_all_kinds_are_what_the_compiler_says() {
    let numbers = [
        "char",
        "signed char",
        "unsigned char",
        "short",
        "unsigned short",
        "int",
        "unsigned",
        "long",
        "unsigned long",
        "long long",
        "unsigned long long",
        "long unsigned int",
        "float",
        "double",
        "bool",
        "uint8_t",
        "int64_t",
        "size_t",
        "const int",
        "volatile int",
        "Real",
        "Flags",
        "__grid_constant__ const int",
    ];
    let head: Vec<String> =
        numbers.iter().enumerate().map(|(at, of)| format!("{of} n{at}")).collect();
    let text = format!(
        "#include <cstdint>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\ntypedef float Real;\n\
         enum Flags : unsigned char {{ NONE }};\n\
         __global__ void k({}, half h, __nv_bfloat16 b, half2 hh, float3 v, const float4 *__restrict__ f, \
         const float4 g[2], volatile unsigned *const u) {{}}",
        head.join(", ")
    );
    let zero = |of: &str| if of == "bool" { "false" } else { "0" };
    let zeros = numbers.iter().enumerate().map(|(at, of)| format!("n{at} = {}", zero(of)));
    let zeros: Vec<String> = zeros.collect();
    let pass = format!(
        "kernel = \"k\"\nargs = {{ {}, h = 0.0, b = 0.0, hh = [0.0, 0.0], v = [0.0, 0.0, 0.0], g = \"f\" }}",
        zeros.join(", ")
    );
    let place = Workplace::new();
    let text = scene(&[("f", "float4"), ("u", "unsigned")], &pass, &text);
    place.run(&["check", place.file("scene.cu", &text)]).expect(0, &[]);
}

#[test]
fn pointers_to_named_types_take_arrays_of_those() {
    let place = Workplace::new();
    let of_float = |text: &str| scene(&[("f", "float")], "kernel = \"k\"", text);
    for (declaration, told) in [
        ("typedef short real;", "the kernel takes `short *`, its `const real *`"),
        ("using real = double;", "the kernel takes `double *`, its `const real *`"),
        ("typedef float *real;", "the kernel takes `const real *`"),
    ] {
        let text = of_float(&format!("{declaration}\n__global__ void k(const real *f) {{}}"));
        place.run(&["check", place.file("scene.cu", &text)]).expect(1, &["scene.cu:8:", told]);
    }
    for declaration in [
        "typedef float real;",
        "namespace n { using real = float; }\nusing n::real;",
        "struct real { float x, y; };",
        "struct real;",
        "using real = const float;",
    ] {
        let text = of_float(&format!("{declaration}\n__global__ void k(const real *f) {{}}"));
        place.run(&["check", place.file("scene.cu", &text)]).expect(0, &[]);
    }
}

/// Values of g++.
#[test]
fn default_arguments_are_the_numbers_of_cpp() {
    let place = Workplace::new();
    let text = "__global__ void k(double *o, double a = 0.1f, double b = 0.1, long long c = 0xFFFFFFFF, \
                long long d = -5, bool e = true, double f = -2.5e3f, long long g = 010)\n\
                { double all[] = {a, b, (double)c, (double)d, (double)e, f, (double)g};\n\
                for (int i = 0; i < 7; i++) o[i] = all[i]; }";
    let text = scene(&[("o", "double")], "kernel = \"k\"", text).replace("count = 2", "count = 7");
    let run = ["render", place.file("d.cu", &text), "--device", "cpu", "--npy", "o=o.npy"];
    place.run(&[&run[..], &["--steps", "1"]].concat()).expect(0, &[]);
    let file = std::fs::File::open(place.path("o.npy")).unwrap();
    let found = Array1::<f64>::read_npy(file).unwrap().to_vec();
    assert_eq!(found, [f64::from(0.1_f32), 0.1, 4294967295.0, -5.0, 1.0, -2500.0, 8.0]);
    // Nothing is computed, which C++ would do in its own types.
    for default in ["1.0f / 3", "5u - 6", "1 << 31", "~0u"] {
        let text = scene(
            &[("o", "double")],
            "kernel = \"k\"",
            &format!("__global__ void k(double *o, double a = {default}) {{}}"),
        );
        let ended = place.run(&["check", place.file("d.cu", &text)]);
        ended.expect(1, &["`a` of the kernel `k` is no resource"]);
    }
}

#[test]
fn numbers_beyond_the_range_of_a_parameter_are_told() {
    let place = Workplace::new();
    for (of, value, told) in [
        ("float", "1e39", "`a`: 1e39 is beyond the range of the kernel's `float`"),
        (
            "float",
            "\"1e30 * 1e30\"",
            "`a`: 1.0000000000000001e60 is beyond the range of the kernel's `float`",
        ),
        ("half", "70000.0", "`a`: 70000.0 is beyond the range of the kernel's `half`"),
        ("half", "100000", "`a`: 100000.0 is beyond the range of the kernel's `half`"),
        ("half2", "[0, \"300 * 300\"]", "`a`: 90000.0 is beyond the range of the kernel's `half2`"),
    ] {
        let pass = format!("kernel = \"k\"\nargs = {{ a = {value} }}");
        let text = format!("#include <cuda_fp16.h>\n__global__ void k(float *o, {of} a) {{}}");
        let text = scene(&[("o", "float")], &pass, &text);
        let ended = place.run(&["render", place.file("s.cu", &text), "--device", "cpu"]);
        assert!(ended.err.contains(told), "{}", ended.err);
    }
}
