//! What nvcc gives that NVRTC alone has not: the mathematics of `<cmath>`, C's limits, the library of C++ without its
//! name, functions for host and device, constants that are computed.

use warpaint::{
    compile::{Compiled, Request},
    diagnostic::Severity,
};

use super::{compiled, compiler, rejected, request};

/// All functions of one argument, of two.
const UNARY: &str = "acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 expm1 fabs floor ilogb lgamma \
    llrint llround log log10 log1p log2 logb lrint lround nearbyint rint round sin sinh sqrt tan tanh tgamma trunc";
const BINARY: &str = "atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder";

/// `double` for integers, the larger of two types: as libcu++ has it, which has functions of its own.
#[test]
fn mathematics_takes_integers_and_different_types() {
    let Some(compiler) = compiler() else { return };
    let types = ["bool", "char", "int", "unsigned", "long", "float", "double"];
    let mut source = String::from(
        "#include <cuda/std/cmath>\ntemplate <class A, class B> constexpr bool same = cuda::std::is_same<A, B>::value;\n",
    );
    let mut compare = |name: &str, other: &str, arguments: &str| {
        for space in ["", "std::"] {
            let call = format!("{space}{name}({arguments})");
            source.push_str(&format!(
                "static_assert(same<decltype({call}), decltype({other})>, \"{call}\");\n"
            ));
        }
    };
    for first in types {
        for name in UNARY.split_whitespace() {
            // Older versions of libcu++ lack `erf` and others; all that are not of integers are of the same.
            let other = match name {
                "ilogb" => "0".to_owned(),
                "llrint" | "llround" => "0ll".to_owned(),
                "lrint" | "lround" => "0l".to_owned(),
                _ => format!("cuda::std::sqrt({first}())"),
            };
            compare(name, &other, &format!("{first}()"));
        }
        for second in types {
            let arguments = format!("{first}(), {second}()");
            for name in BINARY.split_whitespace() {
                // One the compiler has itself: a float, as before C++ 11. libcu++ has some of them not for all types;
                // all are of the same as `atan2`.
                if (name, first, second) != ("pow", "float", "int") {
                    compare(name, &format!("cuda::std::atan2({arguments})"), &arguments);
                }
            }
        }
    }
    source.push_str("__global__ void k() { }\n");
    compiled(&compiler, &request(&source));
    // What the compiler itself has is as it was, and halves are floats.
    let plain =
        "__global__ void k(float *a) { a[0] = sqrt(a[1]) + pow(a[2], a[3]) + fmax(a[4], a[5]); }";
    let same = "__global__ void k(float *a) { a[0] = sqrtf(a[1]) + powf(a[2], a[3]) + fmaxf(a[4], a[5]); }";
    let code = |source: &str| code(&compiled(&compiler, &request(source)));
    assert_eq!(code(plain), code(same));
    let half = "#include <cuda_fp16.h>\n__global__ void k(float *a, __half h) \
                { a[0] = sqrt(h) + fmax(h, a[1]); static_assert(sizeof(sqrt(h)) == sizeof(float), \"\"); }";
    compiled(&compiler, &request(half));
}

/// The instructions, without what says where they come from.
fn code(compiled: &Compiled) -> Vec<String> {
    let lines = compiled.ptx.lines().map(str::trim);
    let is_code = |line: &&str| !line.is_empty() && !line.starts_with(['.', '/', '$']);
    lines.filter(is_code).map(str::to_owned).collect()
}

/// A text of its own has those names alone that it uses: it pays for no others.
#[test]
fn functions_of_integers_cost_what_is_named() {
    let Some(compiler) = compiler() else { return };
    let source = "__global__ void k(float *a, int n) { a[0] = sqrt(n) + sqrtf(n); }\n#ifdef WARPAINT_UNARY\n\
                  template <class T> struct has { static_assert(sizeof(T) == 0, \"\"); };\n#endif\n";
    compiled(&compiler, &request(source));
    let source = "#ifdef WARPAINT_UNARY\n#error\n#endif\n__global__ void k(float *a) { a[0] = sqrtf(a[1]); }";
    compiled(&compiler, &request(source));
}

#[test]
fn the_library_of_cpp_needs_no_name() {
    let Some(compiler) = compiler() else { return };
    for body in [
        "swap(a[0], a[1]); auto p = make_pair(1, 2); a[2] = p.first + clamp(3, 1, 2);",
        "a[0] = min(a[1], a[2]) + max(1, 2); a[3] = gcd(8, 12);",
        "\n#if __has_include(<cuda/std/__algorithm/sort.h>) // not in CUDA 13.0\nsort(a, a + 4);\n#endif\n\
         fill(a, a + 2, 1.0f); a[0] = abs(a[1]) + abs(-3);",
        "complex<float> z(a[1], 2); a[0] = abs(z) + abs(a[2]) + sqrt(a[3]) + isnan(a[0]) + pow(a[1], 2.0f) + exp(z).real();",
        "tuple<int, float> t = make_tuple(1, 2.0f); a[0] = get<1>(t); bitset<8> b(3); a[1] = b.count() + abs(-3);",
    ] {
        let source = format!(
            "#include <algorithm>\nusing namespace std;\n__global__ void k(float *a) {{ {body} }}"
        );
        compiled(&compiler, &request(&source));
    }
    // A function of the text's own is that one, and the library does not come.
    let own = "using namespace std;\n__device__ float *find(float *a) { return a + 1; }\n\
               template <class T> __device__ T clamp(T x, T low, T high) { return x < low ? low : x; }\n\
               struct S { __device__ int count(int x) { return x; } };\n\
               struct Fill { __device__ int operator()(int x) const { return x; } };\n__device__ Fill fill;\n\
               __global__ void k(float *a) { S s; a[0] = *find(a) + clamp(1, 2, 3) + s.count(1) + fill(1); }\n\
               #ifdef _CCCL_VERSION\n#error\n#endif\n#ifdef _LIBCUDACXX_VERSION\n#error\n#endif\n";
    compiled(&compiler, &request(own));
}

#[test]
fn functions_of_complex_numbers_are_in_std() {
    let Some(compiler) = compiler() else { return };
    let calls = "abs(z) exp(z).real() log(z).imag() log10(z).real() sqrt(z).imag() sin(z).real() cosh(z).real() \
                 atan(z).real() norm(z) arg(z) pow(z,2.f).real() pow(2.f,z).real() pow(z,z).real() pow(z,2).real()";
    for (using, space) in
        [("", "std::"), ("using namespace std;", ""), ("using namespace std;", "std::")]
    {
        let calls = calls.split_whitespace().map(|call| format!("{space}{call}"));
        let sum = calls.collect::<Vec<_>>().join(" + ");
        let source = format!(
            "#include <complex>\n{using}\n__global__ void k(float *a) {{ std::complex<float> z(a[1], 2); \
             a[0] = {sum} + {space}abs(a[2]) + {space}sqrt(a[2]) + std::is_same<int, float>::value; }}"
        );
        compiled(&compiler, &request(&source));
    }
}

#[test]
fn limits_and_types_of_c_are_there() {
    let Some(compiler) = compiler() else { return };
    let numbers = [
        ("FLT_RADIX", f64::from(f32::RADIX)),
        ("FLT_DIG", f64::from(f32::DIGITS)),
        ("FLT_MANT_DIG", f64::from(f32::MANTISSA_DIGITS)),
        ("FLT_MIN_EXP", f64::from(f32::MIN_EXP)),
        ("FLT_MAX_EXP", f64::from(f32::MAX_EXP)),
        ("FLT_MIN_10_EXP", f64::from(f32::MIN_10_EXP)),
        ("FLT_MAX_10_EXP", f64::from(f32::MAX_10_EXP)),
        ("FLT_MAX", f64::from(f32::MAX)),
        ("FLT_MIN", f64::from(f32::MIN_POSITIVE)),
        ("FLT_TRUE_MIN", f64::from(f32::from_bits(1))),
        ("FLT_EPSILON", f64::from(f32::EPSILON)),
        ("DBL_DIG", f64::from(f64::DIGITS)),
        ("DBL_MANT_DIG", f64::from(f64::MANTISSA_DIGITS)),
        ("DBL_MIN_EXP", f64::from(f64::MIN_EXP)),
        ("DBL_MAX_EXP", f64::from(f64::MAX_EXP)),
        ("DBL_MIN_10_EXP", f64::from(f64::MIN_10_EXP)),
        ("DBL_MAX_10_EXP", f64::from(f64::MAX_10_EXP)),
        ("DBL_MAX", f64::MAX),
        ("DBL_MIN", f64::MIN_POSITIVE),
        ("DBL_TRUE_MIN", f64::from_bits(1)),
        ("DBL_EPSILON", f64::EPSILON),
        ("LDBL_MAX", f64::MAX),
        ("RAND_MAX", f64::from(i32::MAX)),
        ("EXIT_SUCCESS", 0.0),
        ("EXIT_FAILURE", 1.0),
        ("CLOCKS_PER_SEC", 1e6),
        ("MB_LEN_MAX", 16.0),
        ("PATH_MAX", 4096.0),
        ("INT_LEAST16_MAX", f64::from(i16::MAX)),
        ("UINT_FAST32_MAX", f64::from(u32::MAX)),
        ("offsetof(float4, z)", 8.0),
    ];
    // Seventeen digits say which double it is.
    let asserts = numbers.map(|(name, value)| {
        format!("static_assert(double({name}) == {value:.17e}, \"{name}\");\n")
    });
    let sizes = "u_char 1 u_short 2 u_int 4 u_long 8 u_int8_t 1 u_int16_t 2 u_int32_t 4 u_int64_t 8 ssize_t 8 off_t 8 \
                 pid_t 4 time_t 8 clock_t 8 div_t 8 ldiv_t 16 std::time_t 8";
    let sizes: Vec<&str> = sizes.split_whitespace().collect();
    let sizes = sizes
        .chunks(2)
        .map(|pair| format!("static_assert(sizeof({}) == {}, \"\");\n", pair[0], pair[1]));
    let asserts: String = asserts.into_iter().chain(sizes).collect();
    let kernel = "__global__ void k(float *a) { a[0] = RAND_MAX; }\n";
    for headers in [
        "",
        "#include <float.h>\n#include <cfloat>\n#include <limits.h>\n#include <climits>\n#include <stdlib.h>\n\
         #include <cstdlib>\n#include <sys/types.h>\n#include <time.h>\n#include <ctime>\n#include <stddef.h>\n",
        "#include <cuda/std/cfloat>\n#include <cuda/std/climits>\n#include <cuda/std/ctime>\n#include <cuda/std/cstdlib>\n",
    ] {
        let source = request(&format!("{headers}{asserts}{kernel}"));
        assert_eq!(compiled(&compiler, &source).log, "", "{headers}");
    }
}

const STDERR: &str = "#include <cstdio>\n#include <cstdlib>\n#define HD __host__ __device__\n";

#[test]
fn functions_for_both_may_call_the_host_where_no_kernel_calls_them() {
    let Some(compiler) = compiler() else { return };
    let kernel = "__global__ void k(float *a) { a[0] = used(a[1]); }\n";
    for function in [
        "HD inline int fails(int x) { if (x < 0) { fprintf(stderr, \"no\"); abort(); } return x; }",
        "HD float fails(float x) { std::cout << x; return rand(); }",
        "__host__ __device__ int fails(int);\n__host__ __device__ int fails(int x) { exit(1); }\nHD int calls() { return fails(1); }",
        "struct Log { HD void fails(float x) const { std::cout << x; } HD float value() const { return 1; } };",
    ] {
        let source =
            format!("{STDERR}HD float used(float x) {{ return 2 * x; }}\n{function}\n{kernel}");
        let told = compiled(&compiler, &request(&source)).diagnostics;
        assert!(told.iter().all(|note| note.severity == Severity::Note), "{told:?}");
        assert!(told.iter().any(|note| note.text.starts_with("left out")), "{told:?}");
    }
}

/// What a kernel needs is told, and no other function takes its place.
#[test]
fn functions_for_both_stay_where_a_kernel_may_call_them() {
    let Some(compiler) = compiler() else { return };
    for (function, use_of_it) in [
        (
            "HD float f(float x) { return rand(); }\n__device__ double f(double x) { return x; }",
            "f(a[1])",
        ),
        ("HD float f(float x) { return rand(); }\n#define CALL(x) f(x)\n", "CALL(a[1])"),
        ("HD float f(float x) { return rand(); }\nHD float g(float x) { return f(x); }", "g(a[1])"),
        (
            "struct V { float x; __device__ V(float y) : x(y) { } __device__ operator float() const { return x; } };\n\
             HD V operator+(V a, V b) { return V(rand()); }",
            "V(1) + V(2)",
        ),
        ("struct V { float x; HD V(float y) { x = rand(); } };", "V(1).x"),
    ] {
        let source =
            format!("{STDERR}{function}\n__global__ void k(float *a) {{ a[0] = {use_of_it}; }}\n");
        let told = rejected(&compiler, &request(&source)).join("\n");
        assert!(told.contains("\"rand\" is undefined"), "{told}");
    }
}

#[test]
fn constants_may_be_computed_from_others() {
    let Some(compiler) = compiler() else { return };
    let constants = "const float f1 = -1.5f, unused = 2; const float f2 = 0.5f * f1; static const double d = f2 / 3;\n\
                     const float table[2] = { f1, 2 * f1 };\nstatic float const late = atof(\"1\"); const char *name = \"k\";\n";
    let kernel =
        "__global__ void k(float *a) { int unused; a[0] = f2 * d + table[threadIdx.x & 1]; }\n";
    let computed = compiled(&compiler, &request(&format!("{constants}{kernel}")));
    let literal = "__constant__ const float table[2] = { -1.5f, -3 };\n__global__ void k(float *a) \
                   { a[0] = -0.75f * -0.25 + table[threadIdx.x & 1]; }\n";
    assert_eq!(code(&computed).len(), code(&compiled(&compiler, &request(literal))).len());
    // A column is that of the source.
    let place = format!("4:{}:", kernel.find("unused").unwrap() + 1);
    let told: Vec<String> = computed.diagnostics.iter().map(ToString::to_string).collect();
    assert!(
        told.iter().any(|text| text.contains(&place) && text.contains("\"unused\"")),
        "{told:?}"
    );
    // One that only the host can compute is told where a kernel needs it.
    let source = format!("{constants}__global__ void k(float *a) {{ a[0] = f2 + late; }}\n");
    let told = rejected(&compiler, &request(&source)).join("\n");
    assert!(told.contains("test.cu:3:") && told.contains("\"atof\" is undefined"), "{told}");
}

#[test]
fn limits_of_nvrtc_are_told_as_such() {
    let Some(compiler) = compiler() else { return };
    let kernel = |body: &str| {
        format!(
            "struct S {{ int a, b; }};\n__global__ void c(int *a) {{ }}\n__global__ void k(int *a) {{ {body} }}\n"
        )
    };
    for (body, column_of, part) in [
        ("S s = { .a = 1, .b = 2 }; a[0] = s.b;", ".a", "standard = \"c++20\""),
        ("int s[2] = { [1] = 2 }; a[0] = s[1];", "1]", "initialisers with an index"),
        ("a[0] = a[1] ?: 2;", ": 2", "`a ? a : b`"),
        ("S s = (S){ 1, 2 }; a[0] = s.b;", "{ 1", "a compound literal"),
        ("a[0] = ({ int y = 3; y; });", "{ int", "a lambda"),
        ("typeof(a[0]) x = 1; a[0] = x;", "typeof", "`decltype`"),
        ("switch (a[0]) { case 1 ... 5: a[1] = 2; }", "...", "a `case` of its own"),
        ("c<<<1, 1>>>(a);", "c<<<", "launches no others"),
        ("a[0] = __builtin_popcount(a[1]);", "__builtin", "`__popc`"),
    ] {
        let source = kernel(body);
        let column = source.lines().nth(2).unwrap().find(column_of).unwrap() + 1;
        let told = rejected(&compiler, &request(&source));
        let place = format!("kernels/test.cu:3:{column}: error: ");
        let is_it = |text: &String| {
            text.starts_with(&place) && text.contains(part) && text.contains("a limit of NVRTC")
        };
        assert!(told.iter().any(is_it), "{body}: {told:?}");
    }
    let mut newer: Request = request(&kernel("S s = { .a = 1, .b = 2 }; a[0] = s.b;"));
    newer.options.push("--std=c++20".into());
    compiled(&compiler, &newer);
    // A reference that no kernel uses goes; one that is used is told, and nothing of marks.
    for declaration in
        ["texture<float, 2> t;", "static texture<uchar4, 1, cudaReadModeElementType> t;"]
    {
        let unused = format!("{declaration}\n__global__ void k(float *a) {{ a[0] = 1; }}\n");
        compiled(&compiler, &request(&unused));
        let used = format!(
            "{declaration}\n__global__ void k(float *a) {{ a[0] = tex2D(t, 0.5f, 0.5f); }}\n"
        );
        let told = rejected(&compiler, &request(&used));
        assert!(
            told[0].contains("test.cu:1:") && told[0].contains("`cudaTextureObject_t`"),
            "{told:?}"
        );
        assert!(!told.join("\n").contains("belongs to the host"), "{told:?}");
    }
}
