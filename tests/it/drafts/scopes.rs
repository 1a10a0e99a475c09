//! Where what the host declares ends, and what is done there.

use super::left_open::{are_known, drafted};

#[test]
fn what_a_condition_declares_ends_with_its_statement() {
    are_known(
        "int ask();",
        "3",
        &[
            "int n = 3; if (int n = 9) { (void)n; } k<<<1, 32>>>(d, n);",
            "int n = 3; if (int n = 9; n > 2) { n = 5; } k<<<1, 32>>>(d, n);",
            "int n = 3; if (int n = 0) {} else { n = 7; } k<<<1, 32>>>(d, n);",
            "int n = 3; if (int m = 0) {} else if (int n = 6) { (void)n; } else {} k<<<1, 32>>>(d, n);",
            "int n = 3; switch (int n = 9) { default: n = 4; } k<<<1, 32>>>(d, n);",
            "int n = 3; switch (int n = 9; n) { default:; } k<<<1, 32>>>(d, n);",
            "int n = 3; while (int n = ask()) { (void)n; } k<<<1, 32>>>(d, n);",
            "int n = 3; if (auto n = d) { (void)n; } k<<<1, 32>>>(d, n);",
            "if (int n = 3; true) { k<<<1, 32>>>(d, n); }",
        ],
    );
}

/// The numbers that the launches are given, in their order.
fn numbers(before: &str, main: &str) -> (Vec<String>, String) {
    let manifest = drafted(before, main);
    let numbers = manifest.lines().filter_map(|line| line.strip_prefix("n = "));
    (numbers.map(str::to_owned).collect(), manifest)
}

#[test]
fn destructors_run_where_objects_end() {
    let ending = "struct S { float *d; ~S() { k<<<1, 32>>>(d, 7); } };";
    let both = "struct T { float *d; T(float *q) : d(q) { k<<<1, 32>>>(d, 1); }
        ~T() { k<<<1, 32>>>(d, 2); } };";
    let within = "struct S { float *d; ~S() { k<<<1, 32>>>(d, 7); } };
        void in(float *d) { S s{d}; k<<<1, 32>>>(d, 5); }";
    let all = format!("{ending} {both}");
    for (before, main, expected) in [
        (ending, "{ S s{d}; k<<<1, 32>>>(d, 1); } k<<<1, 32>>>(d, 2);", vec!["1", "7", "2"]),
        (
            both,
            "k<<<1, 32>>>(d, 4); { T t(d); k<<<1, 32>>>(d, 5); } k<<<1, 32>>>(d, 6);",
            vec!["4", "1", "5", "2", "6"],
        ),
        (&all, "S s{d}; T t(d); k<<<1, 32>>>(d, 5); return 0;", vec!["1", "5", "2", "7"]),
        (within, "in(d); k<<<1, 32>>>(d, 6);", vec!["5", "7", "6"]),
    ] {
        let (numbers, manifest) = numbers(before, main);
        assert_eq!(numbers, expected, "{main}:\n{manifest}");
        assert!(!manifest.contains("another place"), "{main}:\n{manifest}");
    }
}

#[test]
fn what_is_called_elsewhere_is_marked() {
    let before = "struct S { float *d; ~S() { k<<<1, 32>>>(d, 7); } };
        struct L { float *d; void operator()(int n) { k<<<1, 32>>>(d, n); } };
        template <class F> struct G { F f; ~G() { f(); } }; template <class F> G<F> made(F f) { return G<F>{f}; }
        template <class F> void twice(F f) { f(); f(); }";
    for (main, text) in [
        ("auto s = std::make_unique<S>(S{d});", "what `~S` does where objects end"),
        ("std::vector<S> all; k<<<1, 32>>>(d, 1);", "what `~S` does where objects end"),
        ("static S s{d}; k<<<1, 32>>>(d, 1);", "what `~S` does where objects end"),
        ("L l{d}; l(3); l(4);", "what an operator does where it is used"),
        (
            "auto g = made([=] { k<<<1, 32>>>(d, 7); }); k<<<1, 32>>>(d, 1);",
            "what a lambda does where it is called",
        ),
        ("twice([&] { k<<<1, 32>>>(d, 7); });", "what a lambda does where it is called"),
        (
            "auto f = [&] { k<<<1, 32>>>(d, 7); }; f(); f();",
            "what a lambda does where it is called",
        ),
    ] {
        let manifest = drafted(before, main);
        assert!(
            manifest.contains(&format!("# fill in: {text} stands at another place here")),
            "{main}:\n{manifest}"
        );
    }
    let manifest =
        drafted("", "[&] { k<<<1, 32>>>(d, 7); }(); auto f = [&] { k<<<1, 32>>>(d, 8); }; f();");
    assert!(!manifest.contains("fill in"), "{manifest}");
}
