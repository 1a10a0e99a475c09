use std::collections::BTreeMap;

use super::*;
use crate::cuda::files::{self, FileCode, SourceFile};

/// The words of the code that is likely, and of what else there may be.
fn words(text: &str, defines: &[(&str, &str)]) -> (String, Option<String>) {
    let defines = defines.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    let mut macros = Macros::of_options(&defines.collect(), 17);
    let joined =
        |tokens: &[Token<'_>]| tokens.iter().map(|token| token.text).collect::<Vec<_>>().join(" ");
    let file = SourceFile { name: "t.cu", text, includes: BTreeMap::new() };
    let mut found = files::read(&[file], &mut macros, usize::MAX);
    let FileCode { likely, all, .. } = found.read.remove(0);
    (joined(&likely.tokens(&found.texts)), all.map(|all| joined(&all.tokens(&found.texts))))
}

fn check(text: &str, defines: &[(&str, &str)], likely: &str, all: Option<&str>) {
    assert_eq!(words(text, defines), (likely.to_owned(), all.map(str::to_owned)), "{text}");
}

#[test]
fn macros_of_options_and_of_the_text_decide() {
    check("#ifdef A\na\n#else\nb\n#endif\nc", &[("A", "1")], "a c", None);
    check("#ifndef A\na\n#else\nb\n#endif", &[("A", "")], "b", None);
    check("#define N 4\n#if N == 2\na\n#elif N == 4\nb\n#else\nc\n#endif", &[], "b", None);
    check("#define A\n#undef A\n#ifdef A\na\n#else\nb\n#endif", &[], "b", None);
    check("#ifdef A\n#ifdef B\na\n#else\nb\n#endif\n#endif", &[("A", "1"), ("B", "1")], "a", None);
    check("#define A B\n#define B 7\n#if A > 6 // so\na\n#endif", &[], "a", None);
    check(
        "# if defined A /* and */ && defined(B)\na\n# endif",
        &[("A", "1"), ("B", "1")],
        "a",
        None,
    );
    check("#if 0\na\n#else\nb\n#endif", &[], "b", None);
    check("#ifdef __CUDACC__\na\n#else\nb\n#endif", &[], "a", None);
}

#[test]
fn what_is_defined_nowhere_is_probably_not_compiled() {
    check("#ifdef A\na\n#else\nb\n#endif\nc", &[], "b c", Some("a b c"));
    check("#if A >= 2\na\n#endif\nc", &[], "c", Some("a c"));
    check("#if !defined(A)\na\n#else\nb\n#endif", &[], "a", None);
    check("#ifdef A\n#define N 1\n#endif\n#ifdef N\na\n#endif", &[], "a", None);
}

#[test]
fn what_others_define_may_be_either() {
    check("#include \"own.h\"\n#ifdef A\na\n#else\nb\n#endif", &[], "a b", None);
    check("#if __CUDA_ARCH__ >= 800\na\n#else\nb\n#endif", &[], "a b", None);
    check("#if CUDART_VERSION >= 12000\na\n#else\nb\n#endif", &[], "a b", None);
    check("#if __has_include(<a.h>)\na\n#endif", &[], "a", None);
}

#[test]
fn what_every_compilation_defines_is_known() {
    check("#if defined(__NVCC__) && __linux__ == 1\na\n#else\nb\n#endif", &[], "a", None);
    check("#if defined(_WIN32) || _MSC_VER > 1900\na\n#else\nb\n#endif", &[], "b", None);
    check("#if __cplusplus >= 201703L\na\n#else\nb\n#endif", &[], "a", None);
    check("#if __cplusplus > 201703L\na\n#else\nb\n#endif", &[], "b", None);
    check("#ifdef CUDART_VERSION\na\n#else\nb\n#endif", &[], "a", None);
}

/// Of a header that is not read, or of unsigned numbers.
#[test]
fn what_is_not_known_may_be_either() {
    for condition in [
        "CURAND_VERSION >= 10000",
        "CCCL_VERSION > 3",
        "defined(cudaHostAllocDefault)",
        "defined(PRId64)",
        "defined va_start",
        "(1 ? -1 : 0u) > 0",
        "0 == 0u",
        "0 || __CUDA_ARCH__ >= 700",
    ] {
        check(&format!("#if {condition}\na\n#else\nb\n#endif"), &[], "a b", None);
    }
    check("%:define A\n#ifdef A\na\n#else\nb\n#endif", &[], "a", None);
}

/// GCC's preprocessor gives each the same.
#[test]
fn macros_in_conditions_are_expanded() {
    for (before, condition, holds) in [
        // What stands around a macro binds its tokens.
        ("#define A 1+1", "A*2 == 3", true),
        ("#define A (1+1)", "A*2 == 4", true),
        ("#define A >= 2", "3 A", true),
        ("#define A -1", "-A == 1", true),
        ("#define F(x) x", "F(0)", false),
        ("#define F(x, y) (x * 100 + y)", "F(12, 4) >= 1204", true),
        ("#define F(x) x", "F == 0", true),
        ("#define F(x) G(x, 1)\n#define G(x, y) x##y", "F(4) == 41", true),
        ("#define A B\n#define B A", "A == 0", true),
        // What `defined` asks for stays.
        ("#define X 1\n#define HAS (defined(X) && !defined(Y))", "HAS", true),
        ("#define X\n#define HAS defined X", "HAS && defined(X) && defined X", true),
        ("#define X Y\n#define Y 2", "defined(X) && X == 2", true),
        // A backslash at a line's end joins what is around it.
        ("#define A\\\n1 3", "A1 == 3", true),
        ("#define A1 3", "A\\\r\n1 == 3", true),
    ] {
        let kept = if holds { "a" } else { "b" };
        check(&format!("{before}\n#if {condition}\na\n#else\nb\n#endif"), &[], kept, None);
    }
}

#[test]
fn conditions_are_computed_as_the_compiler_does() {
    for (condition, holds) in [
        ("1 + 2 * 3 == 7", true),
        ("(1 + 2) * 3 == 9", true),
        ("1 << 4 >> 2 == 4", true),
        ("6 & 3 | 8", true),
        ("(6 & 3) == 2 && !(2 > 3)", true),
        ("0x10 == 16 && 010 == 8 && 0b11 == 3 && 5u == 5L", true),
        ("1 ? 0 : 1", false),
        ("0 || 0", false),
        ("-1 < 0 && ~0 == -1", true),
        ("7 / 2 == 3 && 7 % 4 == 3", true),
        ("5 - 3 - 2", false),
        ("1 <= 1 && 2 >= 2 && 1 != 2", true),
        ("0 && 1 / 0", false),
        ("1 ^ 1", false),
        ("0 || 1", true),
        ("0 == 0", true),
    ] {
        let kept = if holds { "a" } else { "" };
        check(&format!("#if {condition}\na\n#endif"), &[], kept, None);
    }
}

#[test]
fn no_text_takes_long_or_ends_the_program() {
    let deep = format!("#if {}1{}\na\n#endif", "(".repeat(100_000), ")".repeat(100_000));
    let minus = format!("#if {}1\na\n#endif", "-".repeat(900));
    let own = "#define A B\n#define B A\n#if A\na\n#endif".to_owned();
    let nested = "#if X\n".repeat(100_000);
    let double: String =
        (0..60).map(|i| format!("#define M{} M{i} + M{i}\n", i + 1)).collect::<String>()
            + "#if M60\na\n#endif";
    for text in [deep, minus, own, nested, double, "#if\n#elif\n#else\n#endif\n#endif".to_owned()] {
        let _ = words(&text, &[]);
    }
}

/// A condition that reads the whole of a macro at each use of it takes hours.
#[test]
fn a_macro_of_any_length_is_read_in_no_time() {
    let value = "b".repeat(1 << 22);
    let condition = format!("#if {}0\na\n#endif\n", "A+".repeat(400)).repeat(100);
    check(&format!("#define A {value}\n{condition}"), &[], &vec!["a"; 100].join(" "), None);
}
