//! Which function of the file a call in an expression is: one whose value is followed is the only one of its name, and
//! what is not surely it is marked. What is expected was worked out with the same host code, compiled by g++.

use super::left_open::{are_known, are_marked};

/// The launch of the kernel with this number.
fn launch(number: &str) -> String {
    format!("k<<<1, 32>>>(d, {number});")
}

/// In each of these the number of this expression is marked.
#[track_caller]
fn numbers_are_marked(cases: &[(&str, &str)]) {
    for (before, number) in cases {
        are_marked(before, &[&launch(number)]);
    }
}

#[test]
fn templates_are_not_those_of_other_calls() {
    numbers_are_marked(&[
        ("template <class T> T f(T a, T b) { return a / b; }", "2 * f<double>(7, 2)"),
        ("template <class T> T f(T a, T b) { return a / b; } int u = f(7.0, 2.0);", "f<int>(7, 2)"),
        ("template <class T> int f() { return sizeof(T) * 8; } int u = f<double>();", "f<char>()"),
        (
            "template <class T> float f(int a) { return (T)a / 2; } float u = f<float>(5);",
            "2 * f<int>(5)",
        ),
        ("template <int N = 4> int f() { return N; } int u = f<5>();", "f()"),
        (
            "template <class T> T f(float x) { return (T)x; } int u = f<int>(1);",
            "2 * f<float>(1.5f)",
        ),
        (
            "template <class T> int f() { return 4; } template <> int f<double>() { return 8; }",
            "f<double>()",
        ),
        (
            "template <class T> T f(T a) { return a; } template <> int f<int>(int a) { return 42; }",
            "f(2)",
        ),
        (
            "template <class T> T f(T a) { return a; } template <> int f(int a) { return 42; }",
            "f(2)",
        ),
    ]);
}

/// What a specialisation launches is no part of the template, and is not done where the file begins.
#[test]
fn launches_of_specialisations_are_none_of_the_template() {
    let before = "template <class T> void f(float *d) { k<<<1, 32>>>(d, 4); }
        template <> void f<double>(float *d) { return; }";
    let text = "f<double>(d); k<<<1, 32>>>(d, 8);";
    let manifest = super::left_open::drafted(before, text);
    let place = manifest.find("n = 4\n");
    assert!(place.is_none_or(|_| manifest.contains("# fill in")), "{manifest}");
}

#[test]
fn names_of_the_library_are_not_those_of_the_file() {
    for before in [
        "__device__ int max(int a, int b) { return a + b; }",
        "struct V { static int max(int a, int b) { return a; } };",
        "int max(int a, int b) { return a * b; }",
        "namespace own { int max(int a, int b) { return a; } }",
    ] {
        are_known(before, "3", &[&launch("std::max(2, 3)"), &launch("std::max<int>(2, 3)")]);
    }
    numbers_are_marked(&[
        ("__device__ int max(int a, int b) { return a + b; }", "max(2, 3)"),
        ("struct V { static int max(int a, int b) { return a; } };", "max(2, 3)"),
        ("namespace own { int max(int a, int b) { return a; } }", "max(2, 3)"),
        // C++ takes the library's for these numbers.
        ("using namespace std; int max(int a, int b) { return a * b; }", "(int)max(2.5, 3.5)"),
        ("int half(int a) { return a / 2; } int half(double a);", "half(5)"),
        ("int half(int a) { return a / 2; } namespace own { int half(double a); }", "half(5)"),
    ]);
    are_known("int max(int a, int b) { return a * b; }", "6", &[&launch("max(2, 3)")]);
    are_known("int half(int); int half(int a) { return a / 2; }", "2", &[&launch("half(5)")]);
    are_known("static inline int half(int a) { return a / 2; }", "2", &[&launch("half(5)")]);
    are_known("extern \"C\" int half(int a) { return a / 2; }", "2", &[&launch("half(5)")]);
    are_known("std::size_t half(int a) { return a / 2; }", "2", &[&launch("half(5)")]);
    are_known("__host__ __device__ int half(int a) { return a / 2; }", "2", &[&launch("half(5)")]);
    are_known("namespace { int half(int a) { return a / 2; } }", "2", &[&launch("half(5)")]);
}

#[test]
fn what_hides_a_function_is_called() {
    let before = "int g(int x) { return 1; } int other(int x) { return 2; }
        struct Op { int operator()(int x) { return x + 1; } };";
    for hidden in [
        "auto g = [](int x) { return x * 5; };",
        "Op g;",
        "int (*g)(int) = other;",
        "std::function<int(int)> g = other;",
        "std::function<int(std::vector<int>)> g = other;",
        "auto [g, h] = functions();",
        "using lib::g;",
    ] {
        are_marked(before, &[&format!("{hidden} k<<<1, 32>>>(d, g(2));")]);
    }
    are_marked("", &["auto max = [](int a, int b) { return a + b; }; k<<<1, 32>>>(d, max(2, 3));"]);
    are_marked("", &["int (*abs)(int) = other; k<<<1, 32>>>(d, abs(-2));"]);
    let inner = "void run(float *d, int (*g)(int)) { k<<<1, 32>>>(d, g(2)); }";
    are_marked(&format!("{before} {inner}"), &["run(d, other);"]);
    // What is called so elsewhere hides nothing.
    let elsewhere = "struct S { float g, max; }; void f() { int g = 3; }";
    let calls = [
        launch("g(2)"),
        launch("max(0, g(2))"),
        "using std::max; k<<<1, 32>>>(d, max(1, 0));".to_owned(),
    ];
    are_known(&format!("{before} {elsewhere}"), "1", &calls.each_ref().map(String::as_str));
}

#[test]
fn types_that_are_not_read_as_a_whole_are_not_known() {
    numbers_are_marked(&[
        ("std::enable_if_t<true, int> f(float x) { return x; }", "2 * f(2.7f)"),
        ("decltype(1) f(double x) { return x; }", "2 * f(2.7)"),
        ("auto f(double x) -> int { return x; }", "2 * f(2.7)"),
        ("long double f(double x) { return x; }", "2 * f(2.7)"),
    ]);
}

#[test]
fn what_a_function_gives_away_may_be_written_to() {
    let before = "struct P { int a; }; int g = 1; P p{1};";
    for (function, text) in [
        ("int &f() { return g; }", "f() = 6;"),
        ("int &f() { return (g); }", "f() = 6;"),
        ("int &f(bool c) { static int z; return c ? g : z; }", "f(true) = 6;"),
        ("int &f() { return g; }", "int &x = f(); x = 6;"),
        ("int &f() { return g; }", "f()++;"),
        ("int *f() { return &g; }", "*f() = 6;"),
        ("auto f() { return &g; }", "*f() = 6;"),
        ("auto &f() { return g; }", "f() = 6;"),
        ("decltype(auto) f() { return (g); }", "f() = 6;"),
        ("auto f() -> int & { return g; }", "f() = 6;"),
    ] {
        are_marked(&format!("{before} {function}"), &[&format!("{text} {}", launch("g"))]);
    }
    for (function, text) in [
        ("P *f() { return &p; }", "f()->a = 4;"),
        ("P &f() { return p; }", "f().a = 4;"),
        ("int &f() { return p.a; }", "f() = 4;"),
    ] {
        are_marked(&format!("{before} {function}"), &[&format!("{text} {}", launch("p.a"))]);
    }
    let reference = "int n = 1; auto f = [&]() -> int & { return n; }; f() = 5;";
    are_marked("", &[&format!("{reference} {}", launch("n"))]);
    are_known(
        &format!("{before} int f() {{ return g; }}"),
        "1",
        &[&format!("f(); {}", launch("g"))],
    );
}

#[test]
fn qualified_names_are_other_variables() {
    let before =
        "int x = 1; void set(int &n) { n = 8; } struct S { int x = 2; void g() { ::x = 8; }
        void h() { set(::x); } void i() { ++::x; } void j() { *&::x = 8; } };";
    for method in ["g", "h", "i", "j"] {
        are_marked(before, &[&format!("S s; s.{method}(); {}", launch("x"))]);
    }
    are_marked(
        "namespace own { int x = 1; } using namespace own; void g() { own::x = 8; }",
        &[&format!("g(); {}", launch("x"))],
    );
    are_known(
        "enum class C { x = 4 }; const int y = 3; int z = (int)C::x + ::y;",
        "3",
        &[&launch("y")],
    );
}
