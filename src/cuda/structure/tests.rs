use super::*;

fn fields(text: &str, name: &str) -> Option<Vec<String>> {
    let found = Structures::of(Macros::default(), text).fields(name, 100)?;
    Some(found.iter().map(|field| format!("{} {}", field.element, field.path)).collect())
}

#[test]
fn variables_of_the_device_have_the_types_of_their_declarations() {
    let text = "typedef double real; struct Setup { int n; };\n\
        __constant__ float weights[3], *to; static __device__ real mass = 1;\n\
        namespace limits { extern __device__ __managed__ unsigned int most; Setup host; __constant__ Setup setup; }\n\
        namespace { __device__ volatile float4 at[2] = {}; }\n\
        __device__ int twice(int n) { static __device__ int calls; return 2 * n; }\n\
        __device__ int of; namespace { __device__ float of; } int host;";
    let found = Structures::of(Macros::default(), text);
    let element = |name: &str| match found.variable(name) {
        Held::Element(element) => element.to_string(),
        Held::Pointer(_) => "pointer".to_owned(),
        Held::Unknown => String::new(),
    };
    for (name, expected) in [
        ("weights", "float"),
        ("to", "pointer"),
        ("::mass", "double"),
        ("limits::most", "unsigned"),
        ("most", ""),
        ("limits::setup", ""),
        ("limits::host", ""),
        ("at", "float4"),
        ("twice", ""),
        ("calls", "int"),
        ("of", ""),
        ("host", ""),
    ] {
        assert_eq!(element(name), expected, "{name}");
    }
}

#[test]
fn fields_are_those_of_the_definition() {
    for (text, expected) in [
        ("struct P { float x, y[3], *z; int n = 3; };", &["float x", "float y", "int n"][..]),
        (
            "typedef struct { float4 at; unsigned char kind; } P;",
            &["float4 at", "unsigned char kind"],
        ),
        ("typedef struct P_ { double mass; } P, *PP;", &["double mass"]),
        // Fields of one of several structures have no name of their own.
        ("struct V { float a; }; struct P { int n; V all[4]; V one; };", &["int n", "float one.a"]),
        (
            "class P { int hidden; public: float3 at; float length() const { return at.x; } P() : hidden{1} {} };",
            &["float3 at"],
        ),
        (
            "struct __align__(16) V { float a, b; }; struct P { V v; enum { A, B }; struct { int low, high; }; };",
            &["float v.a", "float v.b", "int low", "int high"],
        ),
        (
            "#define REAL double\ntypedef REAL real;\nusing three = float3;\nstruct P { real r; three t; };",
            &["double r", "float3 t"],
        ),
        (
            "enum class Kind : char { A };\nstruct P { Kind kind; int flag : 3; int (*f)(int); static int s; };",
            &["char kind"],
        ),
        (
            "#if 0\nstruct P { int a; };\n#else\nstruct P { long long b{}; union { int c; float d; }; };\n#endif",
            &["long long b"],
        ),
        (
            "namespace sim { struct alignas(8) P final : Base { const float a[2][3], b; }; }",
            &["float a", "float b"],
        ),
    ] {
        assert_eq!(
            fields(text, "sim::P").as_deref(),
            Some(expected.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>().as_slice()),
            "{text}"
        );
    }
    assert_eq!(fields("struct Q { int a; };", "P"), None);
    assert_eq!(fields("struct P; struct P *f();", "P"), None);
}

#[test]
fn a_name_is_that_of_the_nearest_scope() {
    let text = "template <class T> struct Tree { struct P { int node; struct Q { P p; }; }; P p; };
        namespace a { struct P { float q; int z; }; struct Of { P p; }; }
        namespace b::c { struct P { float q, w; }; struct Of { P p; a::P other; ::P real; }; }
        struct P { double real; };";
    for (name, expected) in [
        ("P", &["double real"][..]),
        ("::P", &["double real"]),
        ("a::P", &["float q", "int z"]),
        ("b::c::P", &["float q", "float w"]),
        ("c::P", &["float q", "float w"]),
        ("Tree<int>::P", &["double real"]),
        ("a::Of", &["float p.q", "int p.z"]),
        (
            "b::c::Of",
            &["float p.q", "float p.w", "float other.q", "int other.z", "double real.real"],
        ),
        ("Q", &["int p.node"]),
        ("Tree", &["int p.node"]),
    ] {
        let expected: Vec<String> = expected.iter().map(|s| (*s).to_owned()).collect();
        assert_eq!(fields(text, name), Some(expected), "{name}");
    }
}

#[test]
fn hostile_texts_end() {
    let deep = "struct P { P p; int a; ".repeat(2000);
    assert!(fields(&deep, "P").is_some());
    let circle = "using A = B; using B = A; struct P { A a; struct P b; int c; };";
    let found = fields(circle, "P").unwrap_or_default();
    assert!(
        found.len() == DEEPEST + 1 && found.last().is_some_and(|last| last == "int c"),
        "{found:?}"
    );
    // Each has many of the next.
    let within: String = (0..9)
        .rev()
        .map(|n| format!("struct S{n} {{ S{} {}; }};", n + 1, vec!["a"; 50].join(", ")))
        .collect();
    assert_eq!(fields(&within, "S0"), Some(Vec::new()));
    for text in [
        "struct",
        "struct P {",
        "struct P { int",
        "typedef",
        "using A =",
        "enum",
        "struct P : ",
        "struct P { a ( ",
    ] {
        let _ = fields(text, "P");
    }
    for part in [
        "struct A : ",
        "typedef ",
        "using A = ",
        "struct A { ",
        "struct A { int a ",
        "struct A { struct { ",
        "enum ",
        "namespace A { struct A { ",
        "namespace A { struct A; } namespace ",
    ] {
        let _ = fields(&part.repeat(50_000), "A");
    }
    let many = format!("struct P {{ int {}; }};", vec!["a"; 100_000].join(", "));
    assert_eq!(fields(&many, "P").map(|found| found.len()), Some(100));
}
