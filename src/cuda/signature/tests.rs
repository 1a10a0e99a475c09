use std::time::{Duration, Instant};

use super::*;

/// The one kernel of `source` as `name(name: type = understood, ...)`.
fn signature(source: &str) -> String {
    let kernels = scan("test.cu", source);
    assert_eq!(kernels.len(), 1, "{source}: {kernels:?}");
    describe(&kernels[0])
}

fn describe(kernel: &Signature) -> String {
    let parameters = kernel.parameters.iter().map(|p| format!("{}: {}", p.name, p.ctype));
    let template = if kernel.template { "<>" } else { "" };
    format!("{}{template}({})", kernel.name, parameters.collect::<Vec<_>>().join(", "))
}

#[test]
fn the_ways_to_write_a_kernel() {
    let cases = [
        ("__global__ void f() {}", "f()"),
        ("__global__ void f(void) {}", "f()"),
        ("extern \"C\" __global__ void f(float4 *p, int n) {}", "f(p: float4 *, n: int)"),
        ("static __global__ void f(unsigned seed) {}", "f(seed: unsigned)"),
        ("void __global__ f(double x) {}", "f(x: double)"),
        ("__global__ void __launch_bounds__(256, 2) f(int a) {}", "f(a: int)"),
        ("__launch_bounds__(256) __global__ void f(int a) {}", "f(a: int)"),
        ("__global__ __launch_bounds__(32 * (2 + 1)) void f(int a) {}", "f(a: int)"),
        ("__global__ __attribute__((used)) void f(int a) {}", "f(a: int)"),
        ("[[maybe_unused]] __global__ [[gnu::used]] void f(int a) {}", "f(a: int)"),
        ("__global__ void __cluster_dims__(2, 1, 1) f(int a) {}", "f(a: int)"),
        ("template <int N> __global__ void f(float *x) {}", "f<>(x: float *)"),
        (
            "template <typename T, int N = (3 > 2)> __global__ void f(T *x, T y) {}",
            "f<>(x: T *, y: T)",
        ),
        ("namespace a { namespace b::c { __global__ void f() {} } }", "a::b::c::f()"),
        ("namespace { __global__ void f() {} }", "f()"),
        ("namespace a { int x; } __global__ void f() {}", "f()"),
        ("using namespace a; __global__ void f() {}", "f()"),
        ("struct S { int x; }; __global__ void f(S *s, S v) {}", "f(s: S *, v: S)"),
        ("template <int N> struct S {}; __global__ void f() {}", "f()"),
        ("inline int g() { return 1; } __global__ void f() {}", "f()"),
    ];
    for (source, expected) in cases {
        assert_eq!(signature(source), expected, "{source}");
    }
}

#[test]
fn the_ways_to_write_a_parameter() {
    let cases = [
        ("const float4 *__restrict__ p", "p: const float4 *"),
        ("float4 const * const p", "p: const float4 *"),
        ("float4 *const p", "p: float4 *"),
        ("float4*p", "p: float4 *"),
        ("float p[]", "p: float *"),
        ("const float p[16]", "p: const float *"),
        ("float p[][8]", "p: float *"),
        ("const float (*__restrict__ p)[8]", "p: const float *"),
        ("float (*const p)[4][8]", "p: float *"),
        ("float **p", "p: float **"),
        // Each `const` is that of what stands before it.
        ("const float **p", "p: const float **"),
        ("float *const *__restrict__ p", "p: float *const *"),
        ("float const *const *const p", "p: const float *const *"),
        ("float *const p[1]", "p: float *const *"),
        ("void *p", "p: void *"),
        ("unsigned long long int x", "x: unsigned long long"),
        ("long unsigned x", "x: unsigned long long"),
        ("unsigned", ": unsigned"),
        ("unsigned int", ": unsigned"),
        ("float4", ": float4"),
        ("const float4", ": float4"),
        ("float *", ": float *"),
        ("size_t n", "n: unsigned long long"),
        ("std::size_t n", "n: unsigned long long"),
        ("cuda::std::uint32_t n", "n: unsigned"),
        ("signed char c", "c: char"),
        ("char c", "c: char"),
        ("bool b", "b: bool"),
        ("half h", "h: half"),
        ("__half2 h", "h: half2"),
        ("uchar4 c", "c: uchar4"),
        ("ulonglong2 c", "c: ulonglong2"),
        ("cudaSurfaceObject_t s", "s: cudaSurfaceObject_t"),
        ("const cudaTextureObject_t t", "t: cudaTextureObject_t"),
        ("int a = 3", "a: int"),
        ("int a = f(1, 2) < 3", "a: int"),
        ("struct Body *b", "b: Body *"),
        ("Pair<float, 3> *b", "b: Pair<float, 3> *"),
        ("const __grid_constant__ Setup setup", "setup: Setup"),
        ("[[maybe_unused]] int a", "a: int"),
        ("float4 *p /* positions, of course */", "p: float4 *"),
        ("float4 *p // positions, of course\n", "p: float4 *"),
    ];
    for (source, expected) in cases {
        let found = signature(&format!("__global__ void f({source}) {{}}"));
        assert_eq!(found, format!("f({expected})"), "{source}");
    }
    assert_eq!(
        signature("__global__ void f(int a, int b = 1, int c = g(2, 3)) {}"),
        "f(a: int, b: int, c: int)"
    );
}

#[test]
fn what_looks_like_a_kernel_and_is_none() {
    for source in [
        "// __global__ void f() {}",
        "// a line that goes on \\\n __global__ void f() {}",
        "/* __global__ void f() {} */",
        "const char *s = \"__global__ void f() {}\";",
        "const char *s = R\"x(__global__ void f() {} )\" )x\";",
        "#define KERNEL __global__ void \\\n f() {}",
        "#if 0\n#ifdef A\n#endif\n__global__ void f() {}\n#endif",
        "int __global__x(int a) { return a; }",
        "__global__ void",
        "__global__ void f(",
        "__global__",
        "__global__ int x;",
    ] {
        assert_eq!(scan("test.cu", source), [], "{source}");
    }
    let else_branch = "#if 0\n__global__ void f() {}\n#else\n__global__ void g() {}\n#endif";
    assert_eq!(signature(else_branch), "g()");
}

#[test]
fn places_are_counted_in_characters() {
    let source = "/* ü */ __global__ void\n  frob(\n    /* ä */ float4 *p,\n\tint n)\n{}";
    let kernel = &scan("test.cu", source)[0];
    assert_eq!(kernel.at, Position { line: 2, column: 3 });
    assert_eq!(kernel.parameters[0].at, Position { line: 3, column: 21 });
    assert_eq!(kernel.parameters[1].at, Position { line: 4, column: 6 });
    assert_eq!(kernel.parameters[0].text, "float4 *");
}

#[test]
fn declarations_and_broken_neighbours() {
    let source = "__global__ void f(int a);\n\
        __global__ void g(int a) { if (a) {\n\
        __global__ void f(int a) {}\n";
    let kernels = scan("test.cu", source);
    let found: Vec<_> = kernels.iter().map(|k| (describe(k), k.defined)).collect();
    let expected = [("f(a: int)", false), ("g(a: int)", true), ("f(a: int)", true)]
        .map(|(s, d)| (s.into(), d));
    assert_eq!(found, expected);
}

#[test]
fn inline_namespaces_may_be_left_out() {
    let source = "namespace a { inline namespace v2 { __global__ void f() {} namespace c { __global__ void g() {} } }\n\
                  __global__ void h() {} } namespace a::inline b { __global__ void k() {} }\n\
                  inline namespace d { __global__ void m() {} } inline int n; namespace e { __global__ void o() {} }";
    let kernels = scan("test.cu", source);
    let names: Vec<(&str, Option<&str>)> =
        kernels.iter().map(|kernel| (&*kernel.name, kernel.outer_name.as_deref())).collect();
    let expected = [
        ("a::v2::f", Some("a::f")),
        ("a::v2::c::g", Some("a::c::g")),
        ("a::h", None),
        ("a::b::k", Some("a::k")),
        ("d::m", Some("m")),
        ("e::o", None),
    ];
    assert_eq!(names, expected);
    assert!(kernels[0].is_called("a::f") && kernels[0].is_called("a::v2::f"));
    assert!(!kernels[0].is_called("f"));
}

#[test]
fn templates_parameters_are_what_an_instance_says() {
    let cases = [
        (
            "template <class T> __global__ void f(T *x, const T v) {}",
            "f<float>",
            "x: float *, v: float",
        ),
        (
            "template <class T> __global__ void f(const T *x) {}",
            "f< unsigned  long long >",
            "x: const unsigned long long *",
        ),
        ("template <class T> __global__ void f(T x) {}", "f<float4*>", "x: float4 *"),
        (
            "template <int N, typename T = float, class U> __global__ void f(T *x, U n) {}",
            "a::f<(3 > 2), double, int>",
            "x: double *, n: int",
        ),
        // What the arguments leave open, and what is made of them.
        (
            "template <class T, class U = int> __global__ void f(T x, U n) {}",
            "f<half>",
            "x: half, n: int",
        ),
        (
            "template <class T> __global__ void f(Grid<T> g, T::type t) {}",
            "f<int>",
            "g: Grid<int>, t: int::type",
        ),
        ("template <class... T> __global__ void f(T... x) {}", "f<int>", "x: T . . ."),
        ("template <unsigned long> __global__ void f(long n) {}", "f<3>", "n: long long"),
        ("__global__ void f(int n) {}", "f", "n: int"),
        (
            "template <class T, class U = T> __global__ void f(T *x, U n) {}",
            "f<int>",
            "x: int *, n: int",
        ),
        (
            "template <class T, class U = T> __global__ void f(T *x, U n) {}",
            "f<int, float>",
            "x: int *, n: float",
        ),
        ("template <class T = int, class U = T *> __global__ void f(U n) {}", "f<>", "n: int *"),
        (
            "template <class T, class U = Pair<T, 3>, int N = (1 > 0), class V = U> __global__ void f(V n) {}",
            "f<int>",
            "n: Pair<int, 3>",
        ),
        ("template <class T> __global__ void f(T *x) {}", "f<", "x: T *"),
        ("template <class T> __global__ void f(T *x) {}", ">f<", "x: T *"),
    ];
    for (source, name, expected) in cases {
        let found = describe(&scan("test.cu", source)[0].instance(name));
        let parameters = found.split_once('(').unwrap().1.strip_suffix(')').unwrap();
        assert_eq!(parameters, expected, "{source}");
    }
}

/// What is looked for again and again from each place where something may begin takes hours.
#[test]
fn a_long_text_takes_no_longer_than_its_length() {
    let started = Instant::now();
    let cases = [
        ("__global__ ", 0),
        ("__global__ f(\n", 0),
        ("__global__ f(", 0),
        ("__global__ [", 0),
        ("__global__ <", 0),
        ("__global__ <(", 0),
        ("__global__ alignas(", 0),
        ("__global__ f() alignas(", MOST_KERNELS),
        ("__global__ f() noexcept ", MOST_KERNELS),
        ("[__global__] ", 0),
        ("template <", 0),
        ("template <(", 0),
        ("template <class T> ", 0),
        ("namespace ", 0),
        ("namespace a {\n", 0),
        ("namespace a { __global__ void k(int); ", LONGEST_NAME / 3),
        ("namespace { __global__ void k(int); ", MOST_KERNELS),
        ("__global__ void f(int a,int b);", MOST_KERNELS),
        ("__global__ void ü(int ü,int b);", MOST_KERNELS),
        ("__global__ void f(int a,int b);\n", MOST_KERNELS),
        ("__global__ void f(int (", 0),
        ("__global__ void f(alignas(", 0),
        ("}", 0),
        ("\n", 0),
        ("#if 0\n", 0),
        ("#\\\n", 0),
        ("R\"(", 0),
        ("R\"a", 0),
        ("'\\", 0),
        ("/*", 0),
        ("//\\\r\r\n", 0),
    ];
    for (part, expected) in cases {
        let text = part.repeat((1 << 20) / part.len());
        assert_eq!(scan("t.cu", &text).len(), expected, "{part}");
        // The same among one kernel's parameters, and in front of other kernels.
        let text = part.repeat((1 << 17) / part.len());
        let others = "__global__ void k(int);".repeat(1000);
        for text in [format!("__global__ void f({text}"), format!("{text}{others}")] {
            assert!(scan("t.cu", &text).len() <= MOST_KERNELS, "{part}");
        }
    }
    assert!(started.elapsed() < Duration::from_secs(600), "{:?}", started.elapsed());
}

#[test]
fn kernels_are_found_behind_macros() {
    let cases = [
        ("#define K extern \"C\" __global__ void\nK f(float *a) {}", "f(a: float *)"),
        ("#define NAME(x) x##_gpu\n__global__ void NAME(f)(int n) {}", "f_gpu(n: int)"),
        ("#define P float *a, int n\n__global__ void f(P) {}", "f(a: float *, n: int)"),
        ("#define P(T) T *a, T n\n__global__ void f(P(double)) {}", "f(a: double *, n: double)"),
        (
            "#define K(name, ...) __global__ void name(__VA_ARGS__)\nK(f, int a, float b) {}",
            "f(a: int, b: float)",
        ),
        (
            "#define BOUNDS(n) __launch_bounds__(n)\n__global__ void BOUNDS(32) f(int a) {}",
            "f(a: int)",
        ),
        ("#define CLOSE }\nnamespace a { CLOSE __global__ void f() {}", "f()"),
        ("__attribute__((global)) void f(float *a) {}", "f(a: float *)"),
        ("void __attribute__((used, __global__)) f(float *a) {}", "f(a: float *)"),
        ("#ifdef __CUDACC__\n#define G __global__\n#else\n#define G\n#endif\nG void f() {}", "f()"),
        ("#define G __global__\n#undef G\n#define G\n__global__ void f() {}\nG void g() {}", "f()"),
    ];
    for (source, expected) in cases {
        assert_eq!(signature(source), expected, "{source}");
    }
    // One use makes several, all of them in its place.
    let source = "#define DEF(T) __global__ void f_##T(T *a) {} __global__ void g_##T() {}\n\
        DEF(float) DEF(int)";
    let kernels = scan("test.cu", source);
    let found: Vec<_> = kernels.iter().map(|k| (describe(k), k.at.line, k.at.column)).collect();
    let expected =
        [("f_float(a: float *)", 1), ("g_float()", 1), ("f_int(a: int *)", 12), ("g_int()", 12)];
    assert_eq!(found, expected.map(|(kernel, column)| (kernel.to_owned(), 2, column)));
}

#[test]
fn macros_of_headers_are_known_where_these_are_included() {
    let texts = [
        (
            "t.cu",
            "#include \"a.h\"\nK f(REAL x) {}\n#include <b.h>\n#include \"a.h\"\nK g(REAL x) {}",
        ),
        ("a.h", "#pragma once\n#define K __global__ void\n#define REAL float"),
        ("b.h", "#include \"a.h\"\nK h(REAL x) {}\n#undef REAL\n#define REAL double"),
    ];
    let file = |(name, text)| SourceFile {
        name,
        text,
        includes: [("a.h".to_owned(), 1), ("b.h".to_owned(), 2)].into(),
    };
    let found = scan_files(&mut Macros::default(), &texts.map(file));
    let kernels: Vec<_> = found.kernels.iter().map(|k| (describe(k), &*k.file)).collect();
    let expected = [("f(x: float)", "t.cu"), ("g(x: double)", "t.cu"), ("h(x: float)", "b.h")];
    assert_eq!(kernels, expected.map(|(kernel, file)| (kernel.to_owned(), file)));
}

#[test]
fn a_file_is_read_as_often_as_it_is_included() {
    let kernel = "__global__ void NAME(T *x) {}";
    let pair = "#undef PAIR\n#ifdef BACK\n#define PAIR float *b, float *a\n#else\n#define PAIR float *a, float *b\n#endif";
    let text = |how: &str| {
        format!(
            "#define NAME f\n#define T float\n#include \"k.h\"\n#undef NAME\n#undef T\n#define NAME g\n#define T int\n\
             #include \"k.h\"\n#include \"pair.h\"\n__global__ void there(PAIR) {{}}\n#define BACK\n\
             #include \"pair.h\"\n__global__ void back(PAIR) {{}}\n{how}#include \"once.h\"\n#include \"once.h\"\n"
        )
    };
    let found = |how: &str, once: &str| {
        let texts = [
            ("t.cu", text(how)),
            ("k.h", kernel.to_owned()),
            ("pair.h", pair.to_owned()),
            ("once.h", once.to_owned()),
        ];
        let names = || ["t.cu", "k.h", "pair.h", "once.h"].map(str::to_owned).into_iter();
        let files: Vec<SourceFile<'_>> = texts
            .iter()
            .map(|(name, text)| SourceFile { name, text, includes: names().zip(0..).collect() })
            .collect();
        let found = scan_files(&mut Macros::default(), &files);
        found.kernels.iter().map(|kernel| (describe(kernel), kernel.left_out)).collect::<Vec<_>>()
    };
    let all = |more: &[&str]| {
        let first = [
            "there(a: float *, b: float *)",
            "back(b: float *, a: float *)",
            "f(x: float *)",
            "g(x: int *)",
        ];
        let all = first.iter().chain(more);
        all.map(|kernel| (kernel.to_string(), false)).collect::<Vec<_>>()
    };
    let once = "#ifndef ONCE_H\n#define ONCE_H\n__global__ void h(int n) {}\n#endif\n";
    assert_eq!(found("", once), all(&["h(n: int)"]));
    assert_eq!(
        found("", &once.replace("#ifndef ONCE_H", "#pragma once\n#if 1")),
        all(&["h(n: int)"])
    );
    // A file that cannot be read may define the guard.
    assert_eq!(found("#include \"elsewhere.h\"\n", once), all(&["h(n: int)"]));
    // What is probably not compiled the first time is the second time.
    assert_eq!(found("#ifdef UNSEEN\n#include \"once.h\"\n#endif\n", once), all(&["h(n: int)"]));
    // Files that include themselves end.
    assert_eq!(found("", "#include \"once.h\"\n#include \"once.h\"\n"), all(&[]));
}

#[test]
fn too_many_macros_are_told() {
    let lines = (0..40).map(|n| format!("#define A{} A{n} A{n}\n", n + 1)).collect::<String>();
    let text = format!("#define A0 ;\n{lines}A10\n  A40\n__global__ void f() {{}}");
    let file = SourceFile { name: "t.cu", text: &text, includes: BTreeMap::new() };
    let found = scan_files(&mut Macros::default(), &[file]);
    let told: Vec<_> = found.remarks.iter().map(|(file, at, text)| (&**file, *at, *text)).collect();
    assert_eq!(told, [("t.cu", Position { line: 43, column: 3 }, NOT_EXPANDED)]);
    assert_eq!(found.kernels.len(), 1);
}

#[test]
fn open_conditions_between_parameters_make_several_kernels() {
    let found = |parameters: &str| {
        let found = scan(
            "t.cu",
            &format!("__global__ void f({parameters}\n) {{}}\n__global__ void g(int n) {{}}"),
        );
        let all: Vec<String> = found.iter().map(describe).collect();
        assert_eq!(all.last().map(String::as_str), Some("g(n: int)"), "{parameters}");
        all[..all.len() - 1].to_vec()
    };
    let one = "\n#if __CUDA_ARCH__ > 700\n";
    let two = format!("{one} int a\n#else\n int b\n#endif\n");
    assert_eq!(found(&two), ["f(a: int)", "f(b: int)"]);
    assert_eq!(found(&format!("int n{one}, int a\n#endif\n")), ["f(n: int, a: int)", "f(n: int)"]);
    assert_eq!(
        found(&format!("{two}, {}", two.replace(" a", " c"))),
        ["f(a: int, c: int)", "f(a: int, b: int)", "f(b: int, c: int)", "f(b: int, b: int)"]
    );
    let nested = format!("{one}{two}\n#elif __CUDA_ARCH__ > 600\n int c\n#endif\n");
    assert_eq!(found(&nested), ["f(a: int)", "f(b: int)", "f(c: int)", "f()"]);
    // One of them is compiled, or probably not.
    assert_eq!(found(&two.replace("__CUDA_ARCH__ > 700", "1")), ["f(a: int)"]);
    assert_eq!(found(&two.replace("__CUDA_ARCH__ > 700", "NOWHERE")), ["f(b: int)"]);
    assert_eq!(found(&two.repeat(40).replace("int", ", int")).len(), 16);
    // What does not end there.
    assert_eq!(found("int a\n#endif\n, int b"), ["f(a: int, b: int)"]);
}

#[test]
fn heads_in_alternatives_share_the_body_that_follows() {
    let found = |text: &str| -> Vec<(String, bool)> {
        scan("t.cu", text).iter().map(|kernel| (describe(kernel), kernel.defined)).collect()
    };
    let both = [("k(a: float, b: int)".to_owned(), true), ("k(b: int, a: float)".to_owned(), true)];
    for (before, behind) in [
        ("__global__ void k", ""),
        ("extern \"C\" __global__ void k", " noexcept"),
        ("template <typename T, int n = 2>\n__global__ void __launch_bounds__(n) k", ""),
    ] {
        let of = |condition: &str| {
            found(&format!(
                "#if {condition}\n{before}(float a, int b){behind}\n#else\n{before}(int b, float a){behind}\n\
                 #endif\n{{ if (a) {{ }} }}\n__global__ void g(int n);"
            ))
        };
        for condition in ["__CUDA_ARCH__ >= 800", "'a' == 97", "CUDART_VERSION > 12000"] {
            let all = of(condition);
            let kernels =
                all.iter().take(2).map(|(text, defined)| (text.replace("k<>", "k"), *defined));
            assert_eq!(kernels.collect::<Vec<_>>(), both, "{condition} {before}");
            assert_eq!(all[2], ("g(n: int)".to_owned(), false));
        }
        assert_eq!(of("1").len(), 2, "{before}");
    }
}
