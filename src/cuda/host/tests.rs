use super::*;

/// The code that is left, in single blanks.
fn left(text: &str) -> String {
    let mut marks = Marks::default();
    marks.read(text);
    let found = HostCode::of(text, &marks);
    let kept = without(text, &found.parts);
    assert_eq!(kept.len(), text.len());
    let lines = |text: &str| text.matches('\n').count();
    assert_eq!(lines(&kept), lines(text));
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn functions_without_a_mark_go() {
    assert_eq!(left("int main() { return 0; }\n__global__ void k() {}"), "__global__ void k() {}");
    assert_eq!(
        left(
            "static inline float f(float x) { return x; } __device__ int g() { return 1; } void h();"
        ),
        "__device__ int g() { return 1; }"
    );
    assert_eq!(left("template <typename T> void f(T x) { g<<<1, 2>>>(x); }"), "");
    assert_eq!(left("float2 operator+(float2 a, float2 b) { return a; }"), "");
    assert_eq!(left("bool operator<(A a, A b) { return a.x < b.x; } int x();"), "");
    assert_eq!(left("auto f() -> std::vector<int> { return {}; }"), "");
    assert_eq!(left("P::P(int a) : x(a), y{a} { go(); }"), "");
    assert_eq!(left("int main(void) try { } "), "");
    for kept in [
        "constexpr int f(int x) { return x; }",
        "__host__ __device__ inline float f(float x) { return x; }",
        "template <class T> __global__ void k(T *x) { if (a < b) { } }",
        "extern \"C\" __global__ void __launch_bounds__(256) k(int *x) { }",
        "template __global__ void k<int>(int *);",
    ] {
        assert_eq!(left(kept), kept);
    }
}

#[test]
fn macros_may_carry_the_mark() {
    let text = "#define HD __host__ \\\n __device__\n#define FN HD inline\nFN int f() { return 1; } void g() {}";
    assert!(left(text).ends_with("FN int f() { return 1; }"));
    let text =
        "#define KERNEL(name) __global__ void name\nKERNEL(a)(int *x) { } KERNEL(b)(int *x) { }";
    assert!(left(text).ends_with("KERNEL(a)(int *x) { } KERNEL(b)(int *x) { }"));
    assert_eq!(left("UNKNOWN(k, float); void f(int);"), "UNKNOWN(k, float);");
}

#[test]
fn variables_of_the_host_go() {
    assert_eq!(left("std::vector<int> v = {1, 2}; int n = 5, *p; dim3 g(1, 2); FILE *f;"), "");
    assert_eq!(
        left("const char *names[] = {\"a\"}; static int table[2][2] = {{1, 2}, {3, 4}};"),
        ""
    );
    for kept in [
        "const int n = 5;",
        "static const float w[] = {1, 2};",
        "constexpr float x{1};",
        "__constant__ float c[16];",
        "__device__ int *p = nullptr, q;",
        "const char *const name = \"a\";",
        "typedef void (*F)(int);",
        "using namespace std;",
        "template <int n> using A = int[2 * n];",
        "enum { A, B = 2 };",
        "enum class E : int { A };",
        "texture<float, 2> t;",
    ] {
        let left = left(kept);
        assert!(left == kept || kept.starts_with("texture"), "{kept}: {left}");
    }
}

#[test]
fn classes_lose_the_members_of_the_host() {
    let text = "struct P { P() : x{}, y(1) {} ~P() = default; float x, y; void save(std::string f) { } \
                __device__ float sum() const { return x + y; } operator int() const; };";
    let expected =
        "struct P { ~P() = default; float x, y; __device__ float sum() const { return x + y; } };";
    assert_eq!(left(text), expected);
    assert_eq!(
        left("namespace a { namespace b { int f() { } __device__ int x; } }"),
        "namespace a { namespace b { __device__ int x; } }"
    );
    assert_eq!(
        left("extern \"C\" { void f(); __global__ void k() { } }"),
        "extern \"C\" { __global__ void k() { } }"
    );
    assert_eq!(
        left("typedef struct { int x; } P; struct Q { int y : 3; } q;"),
        "typedef struct { int x; } P; struct Q { int y : 3; } q;"
    );
    assert_eq!(left("struct A : B<int> { int x; };"), "struct A : B<int> { int x; };");
}

/// What stands in parentheses behind a type is declared, not given to a function of that name.
#[test]
fn members_may_stand_in_parentheses() {
    for member in [
        "unsigned int (x);",
        "unsigned char (x)[7];",
        "long long (x) = 5;",
        "long long (x){5};",
        "unsigned int (x) : 3, y;",
        "volatile unsigned (x)[3];",
        "unsigned int ((x));",
        "volatile Real (x);",
        "mutable Real (x)[2];",
        "n::Real (x);",
        "n::Box<int> (x);",
        "unsigned int (*f)(int);",
        "unsigned int (&r)[2];",
        "unsigned int (Other::*f)(int);",
    ] {
        let class = format!("struct S {{ float a; {member} float b; }};");
        assert_eq!(left(&class), class);
    }
    for function in [
        "unsigned int f(Real);",
        "unsigned int (f)(int);",
        "explicit S(Real);",
        "inline S(Real) : a(1) { }",
        "virtual ~S(void);",
        "virtual n::Real f(Real) = 0;",
        "operator unsigned int(void);",
        "bool operator>(S);",
        "bool operator>=(S) { return a; }",
        "n::Box<int> f(S[2]);",
    ] {
        let class = format!("struct S {{ float a; {function} float b; }};");
        assert_eq!(left(&class), "struct S { float a; float b; };", "{function}");
    }
}

#[test]
fn friends_are_functions_too() {
    let text =
        "struct P { friend bool operator!=(P a, P b) { return a.x; } int x; friend class Q; };";
    assert_eq!(left(text), "struct P { int x; friend class Q; };");
}

#[test]
fn instances_go_with_their_template() {
    let text = "template <class T> void f(T) { } template void f<int>(int); template __global__ void k<int>(int);";
    assert_eq!(left(text), "template __global__ void k<int>(int);");
    let text = "#define E(n) template void f<n>(int);\nE(1)\nE(2)\n__device__ int x;";
    let mut marks = Marks::default();
    marks.read(text);
    let open = HostCode::of(text, &marks).open;
    assert_eq!(open.iter().map(|part| &text[part.clone()]).collect::<Vec<_>>(), ["E(1)", "E(2)"]);
}

#[test]
fn a_prototype_of_what_the_device_has_stays() {
    let text = "float f(float); __device__ float f(float x) { return x; } float g(float);";
    assert_eq!(left(text), "float f(float); __device__ float f(float x) { return x; }");
}

#[test]
fn both_branches_of_a_condition_count() {
    let text =
        "#ifdef A\nvoid f(int x) {\n#else\nvoid f() {\n#endif\n g(); }\n__global__ void k() { }";
    assert_eq!(left(text), "#ifdef A #else #endif __global__ void k() { }");
    let text = "#ifdef A\nint main() { f();\n#pragma omp parallel\n}\n#endif\n__device__ int x;";
    assert_eq!(left(text), "#ifdef A #endif __device__ int x;");
}

#[test]
fn what_is_half_typed_stays() {
    assert_eq!(
        left("void f() { g(\n__global__ void k() { }"),
        "void f() { g( __global__ void k() { }"
    );
    assert_eq!(left("struct P { int x;"), "struct P { int x;");
    assert_eq!(left("__global__ void k() { int x = 5;"), "__global__ void k() { int x = 5;");
}

#[test]
fn types_and_constants_are_open() {
    let text = "typedef cudaStream_t S; struct Q { std::string s; }; const int n = f();";
    let found = HostCode::of(text, &Marks::default());
    let open: Vec<&str> = found.open.iter().map(|part| &text[part.clone()]).collect();
    assert_eq!(
        open,
        [
            "typedef cudaStream_t S;",
            "struct Q { std::string s; };",
            "std::string s;",
            "const int n = f();"
        ]
    );
}

/// Whatever the text: nothing is left out twice, and no time is lost.
#[test]
fn a_long_text_takes_no_longer_than_its_length() {
    let started = std::time::Instant::now();
    for part in [
        "a<",
        "struct{",
        "f(",
        "#if 1\n{\n",
        "template<",
        ":x(",
        "f():",
        "void f(){",
        "#else\n",
        "(){}=;<>",
        "a::b<c>(",
    ] {
        let text = part.repeat((1 << 19) / part.len());
        left(&text);
    }
    let marks = Marks::default();
    for part in [
        "struct A : A<A> { A a; };",
        "namespace a { struct A { enum { A, B = A }; typedef A B; }; const int A = a; }",
        "#define A a<A\n__device__ A a = ",
        "a<a<",
        "template <class A> struct A<A",
        "__host__ __device__ A::A() { A a; }",
    ] {
        let text = part.repeat((1 << 18) / part.len());
        let found = HostCode::of(&text, &marks);
        let all = (0..found.open.len()).collect();
        let hidden = found.hidden_by(&text, &all);
        let reach = Reach::of(&[(&text, &found)], "", hidden.iter().chain(&found.hidden));
        assert!(hidden.iter().filter(|one| reach.means_another(one)).count() <= hidden.len());
    }
    for end in [";", "=", "{", "{}"] {
        left(&("[[ ".repeat(1 << 16) + end));
    }
    assert!(started.elapsed() < std::time::Duration::from_secs(600), "{:?}", started.elapsed());
}

/// What is told of what kernels would need.
fn told_of(text: &str) -> Vec<String> {
    let found = HostCode::of(text, &Marks::default());
    let kept = without(text, &found.parts);
    let reach = Reach::of(&[(&kept, &found)], "", found.hidden.iter());
    let needed = found.left_out.iter().filter(|one| reach.needs(one)).map(LeftOut::told);
    let hidden = found.hidden.iter().filter(|one| reach.means_another(one)).map(Hidden::told);
    needed.chain(hidden).collect()
}

#[test]
fn members_that_kernels_would_need_are_told() {
    let told = |class: &str, kernel: &str| {
        let told = told_of(&format!("{class}\n__global__ void k(float *x) {{ {kernel} }}"));
        told.iter()
            .map(|text| text.split(" for the host").next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let options =
        "struct Options { float scale; Options() : scale(2.5f) {} float f() { return 1; } };";
    assert_eq!(told(options, "Options o; x[0] = o.scale;"), ["`Options` has a constructor"]);
    assert_eq!(told(options, "x[0] = Options().scale;"), ["`Options` has a constructor"]);
    // Those that kernels are only given, and those that nobody has, need none.
    assert!(told(options, "").is_empty() && told(options, "use((const Options &)*x);").is_empty());
    assert!(
        told_of(&format!("{options} __global__ void k(Options o, float *x) {{ *x = o.scale; }}"))
            .is_empty()
    );
    assert!(told(&options.replace("Options()", "__device__ Options()"), "Options o;").is_empty());
    let drop = "class __align__(8) Drop final : Base { ~Drop() { free(p); } float *p; };";
    assert_eq!(told(drop, "Drop d(x);"), ["`Drop` has a destructor"]);
    let assign = "struct A { float x; A &operator=(const A &o) { x = o.x; return *this; } };";
    assert_eq!(told(assign, "A *a = (A *)x; a[0] = a[1];"), ["`A` has an assignment"]);
    let shape = "struct Shape { virtual const char *name() { return \"shape\"; } virtual int n(); float y; };";
    assert_eq!(told(shape, "x[0] = ((Shape *)x)->y;"), ["`Shape` has a virtual function"]);
}

/// A class is reached by whatever names it: by bases, members, aliases, templates, macros and functions for both.
#[test]
fn members_are_needed_by_whatever_reaches_their_class() {
    let told = |text: &str| -> Vec<String> {
        let told = told_of(&format!("{text}\nint main() {{ B b; S s; }}"));
        told.iter().map(|text| text.split(" for the host").next().unwrap().to_owned()).collect()
    };
    let (sized, made) = ("o[0] = sizeof(S);", "S s; o[0] = s.v;");
    let kernel = |text: &str, what: &str| format!("{text}\n__global__ void k(int *o) {{ {what} }}");
    let shape = "struct B { virtual ~B() { } int v; };";
    let assign = "struct B { int v; B &operator=(const B &o) { v = 2 * o.v; return *this; } };";
    let begin = "struct B { int v; B() { v = 7; } };";
    let by_value = [
        "struct S : B { float b; };",
        "struct S : Other, B { };",
        "struct S { B x; };",
        "struct S { B x[2], y; };",
        "struct S { struct { B x; } in; };",
        "struct S { n::B x; };",
        "typedef B S;",
        "using S = B;",
        "typedef struct { B b; } S;",
        "struct T { B b; }; typedef T S;",
        "template <class T> struct W { T x; }; using S = W<B>;",
        "template <class T> struct W { T x; }; struct S : W<B> { };",
        "template <class T> struct S_ : B { T x; }; typedef S_<int> S;",
        "#define S B",
        "struct S : B { __device__ float get() { return b; } float b; };",
    ];
    for reached in by_value {
        let all = [
            (shape, sized, "`B` has a virtual function"),
            (assign, sized, "`B` has an assignment"),
            (begin, made, "`B` has a constructor"),
        ];
        for (class, what, expected) in all {
            let told = told(&kernel(&format!("{class}\n{reached}"), what));
            assert_eq!(told.last().map(String::as_str), Some(expected), "{class} {reached}");
            // What no kernel reaches is not told, nor that of which there is no object.
            let text = format!("{class}\n{reached}");
            assert!(told_of(&kernel(&text, "")).is_empty(), "{class} {reached}");
        }
    }
    for (reached, what) in [
        ("", "S s[2]; use(s);"),
        ("", "S s, t; use(s);"),
        ("", "use(new S);"),
        ("", "use(S());"),
        ("template <class T> __device__ void f();", "W<S> w; use(w);"),
        ("__host__ __device__ void f() { S s; } __host__ __device__ void g() { f(); }", "g();"),
        ("#define GO S s;", "GO"),
        ("__constant__ S c;", "use(c);"),
    ] {
        let text = format!("{begin} typedef B S;\n{reached}");
        assert_eq!(told(&kernel(&text, what)), ["`B` has a constructor"], "{reached} {what}");
    }
    for (reached, what) in [
        ("struct S { B *b; };", made),
        ("struct S { B &b; };", made),
        ("struct S { static B *get(); };", made),
        ("typedef B *S;", made),
        ("struct S { B b; };", "S *s; use(s);"),
        ("__host__ __device__ void f() { B b; }", ""),
        ("#define GO B b;", ""),
        ("struct Other { B b; };", "o[0] = sizeof(B *);"),
    ] {
        assert!(told(&kernel(&format!("{begin}\n{reached}"), what)).is_empty(), "{reached} {what}");
    }
}

/// What the host has in a namespace hides what is around it.
#[test]
fn variables_of_the_host_that_hid_others_are_told() {
    let one = "__device__ int q = 1;\n";
    let hid = |text: &str| {
        let told = told_of(&format!("{one}{text}"));
        assert!(told.iter().all(|text| text.contains("kernels mean another `q`")), "{told:?}");
        told.len()
    };
    let within = "__device__ int g() { return q; }";
    assert_eq!(hid(&format!("namespace n {{ int q = 2; {within} }}")), 1);
    assert_eq!(hid(&format!("namespace n {{ int p, q[2] = {{1, 2}}; {within} }}")), 1);
    assert_eq!(
        hid(&format!(
            "namespace m::n {{ int q = 2; }} namespace m {{ namespace n {{ {within} }} }}"
        )),
        1
    );
    // Elsewhere, by the name of a member, as a function's own and as a value it is not meant.
    assert_eq!(hid(&format!("namespace n {{ int q = 2; }} {within}")), 0);
    assert_eq!(hid("namespace n { int q = 2; __device__ int g(A a) { return a.q + a->q; } }"), 0);
    assert_eq!(hid("namespace n { int q = 2; __device__ int g() { return ::q; } }"), 0);
    assert_eq!(hid(&format!("namespace n {{ int p = q; {within} }}")), 0);
    assert_eq!(hid("namespace n { int q = 2; __host__ __device__ int g() { return q; } }"), 0);
    let own = "namespace n { int m = 2; __device__ int g(int m) { return m; } }";
    assert_eq!(hid(own), 0);
}

#[test]
fn functions_that_kernels_might_mean_are_told() {
    let told = |text: &str| {
        let kernel = "__global__ void k(float *x) { x[0] = pick(1); x[1] = x.what(); }";
        let told = told_of(&format!("{text}\n{kernel}"));
        told.iter()
            .map(|text| text.split(" for the host").next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let device = "__device__ float pick(double x) { return 1; }";
    assert_eq!(
        told(&format!("{device} float pick(int x) {{ return 2; }}")),
        ["`pick` is also a function"]
    );
    let template = "template <class T> __device__ T pick(T x) { return x; }";
    assert_eq!(
        told(&format!("{template} template <> int pick<int>(int x) {{ return 2; }}")),
        ["`pick` is also a function"]
    );
    // A prototype may be that of the device's; what nobody calls, and kernels, can be no other's.
    assert!(told(&format!("{device} float pick(int x);")).is_empty());
    assert!(told_of(&format!("{device} float pick(int x) {{ return 2; }}")).is_empty());
    assert!(told("__global__ void pick(float *x) { } void pick() { }").is_empty());

    let parent = "struct Parent { __device__ int what() { return 1; } };";
    assert_eq!(
        told(&format!("{parent} struct Child : Parent {{ int what() {{ return 2; }} }};")),
        ["`what` is also a function"]
    );
    assert_eq!(
        told("struct A { __device__ int what(int) { return 1; } int what() { return 2; } };"),
        ["`what` is also a function"]
    );
    assert!(told(&format!("{parent} struct Other {{ int what() {{ return 2; }} }};")).is_empty());
    // Headers have functions for other compilers.
    let others = "\n#ifndef __CUDACC__\nfloat pick(int x) { return 2; }\n#endif\n";
    assert!(told(&format!("{device}{others}")).is_empty());
}

/// The functions for host and device of `texts` that code of the device may call, by their texts' first lines.
fn called(texts: &[&str]) -> Vec<String> {
    let mut marks = Marks::default();
    texts.iter().for_each(|text| marks.read(text));
    let found: Vec<HostCode> = texts.iter().map(|text| HostCode::of(text, &marks)).collect();
    let files: Vec<(&str, &HostCode)> = texts.iter().copied().zip(&found).collect();
    let needed = needed_of_shared(&files);
    let names = needed
        .iter()
        .zip(&found)
        .flat_map(|(of_file, host)| of_file.iter().map(|index| &host.shared[index]));
    names.cloned().collect()
}

#[test]
fn functions_for_both_are_needed_by_name() {
    let hd = "#define HD __host__ __device__\n";
    let with = |text: &str| called(&[&format!("{hd}{text}")]);
    assert_eq!(with("HD int f() { } HD int g() { f(); } __global__ void k() { }"), [""; 0]);
    assert_eq!(with("HD int f() { } HD int g() { f(); } __global__ void k() { g(); }"), ["f", "g"]);
    assert_eq!(with("HD int f(); HD int f() { return f(); } void host() { f(); }"), [""; 0]);
    assert_eq!(with("HD int f() { }\n#define CALL f()\n"), ["f"]);
    assert_eq!(
        with("struct A { HD int f() { } HD A() { } virtual HD int g() { h(); } HD int h() { } };"),
        ["A", "g", "h"]
    );
    assert_eq!(with("HD A operator+(A a, A b) { } HD int begin(A a) { }"), ["operator", "begin"]);
    // Very many, each of which calls the one before it.
    let count = 1 << 14;
    let chain: String = (1..count)
        .map(|at| format!("__host__ __device__ int f{at}() {{ f{}(); }}\n", at - 1))
        .collect();
    let started = std::time::Instant::now();
    assert_eq!(
        called(&[&chain, &format!("__global__ void k() {{ f{}(); }}", count - 1)]).len(),
        count - 1
    );
    assert!(started.elapsed() < std::time::Duration::from_secs(600), "{:?}", started.elapsed());
    // One file's kernel calls another one's function.
    assert_eq!(
        called(&["__host__ __device__ int f() { }", "__device__ int g() { return f(); }"]),
        ["f"]
    );
}

#[test]
fn constants_that_are_computed_are_found() {
    let constants = |text: &str| -> Vec<String> {
        let found = HostCode::of(text, &Marks::default());
        let at = found.constants.iter().map(|(index, at)| (&found.open[*index], *at));
        at.map(|(part, at)| {
            assert!(text[at..].starts_with("const "));
            text[part.clone()].to_owned()
        })
        .collect()
    };
    assert_eq!(
        constants("const float a = 1, b = 2 * a; static const int c[] = { 1 };"),
        ["const float a = 1, b = 2 * a;", "static const int c[] = { 1 };"]
    );
    for other in [
        "const char *a = \"\";",
        "extern const int a;",
        "constexpr int a = 1;",
        "__constant__ const int a = 1;",
        "struct A { static const int a = 1; };",
        "const int &a = b;",
    ] {
        assert_eq!(constants(other), [""; 0], "{other}");
    }
}
