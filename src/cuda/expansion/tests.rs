use super::*;
use crate::cuda::{
    files::{self, SourceFile},
    lexer,
};

/// The code of `text` as it is compiled, and whether there was room for all that macros make.
fn expanded(text: &str) -> (Vec<String>, bool) {
    let file = SourceFile { name: "t.cu", text, includes: [].into() };
    let mut found = files::read(&[file], &mut Macros::default(), usize::MAX);
    let code = found.read.remove(0);
    let tokens = code.likely.tokens(&found.texts);
    let texts = tokens.iter().map(|token| token.text.to_owned()).collect();
    (texts, found.not_expanded.is_none())
}

fn check(text: &str, expected: &str) {
    let expected: Vec<&str> = lexer::code(expected).map(|token| token.text).collect();
    assert_eq!(expanded(text).0, expected, "{text}");
}

/// The examples of ISO C 11, 6.10.3.5, and of ISO C++ 20, 15.6.2, which has those of C, too.
#[test]
fn the_examples_of_the_standards_are_expanded_as_they_say() {
    check(
        "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n\
         #define h g(~\n#define m(a) a(w)\n#define w 0,1\n#define t(a) a\n#define p() int\n#define q(x) x\n\
         #define r(x,y) x ## y\n#define str(x) # x\n\
         f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\ng(x+(3,4)-w) | h 5) & m\n(f)^m(m);\n\
         p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };\nchar c[2][6] = { str(hello), str() };",
        "f(2 * (y+1)) + f(2 * (f(2 * (z[0])))) % f(2 * (0)) + t(1);\n\
         f(2 * (2+(3,4)-0,1)) | f(2 * (~ 5)) & f(2 * (0,1))^m(0,1);\nint i[] = { 1, 23, 4, 5, };\n\
         char c[2][6] = { \"hello\", \"\" };",
    );
    check(
        "#define str(s) # s\n#define xstr(s) str(s)\n\
         #define debug(s, t) printf(\"x\" # s \"= %d, x\" # t \"= %s\", \\\n x ## s, x ## t)\n\
         #define INCFILE(n) vers ## n\n#define glue(a, b) a ## b\n#define xglue(a, b) glue(a, b)\n\
         #define HIGHLOW \"hello\"\n#define LOW LOW \", world\"\n\
         debug(1, 2);\nfputs(str(strncmp(\"abc\\0d\", \"abc\", '\\4') // this goes away\n== 0) str(: @\\n), s);\n\
         xstr(INCFILE(2).h)\nglue(HIGH, LOW);\nxglue(HIGH, LOW)",
        "printf(\"x\" \"1\" \"= %d, x\" \"2\" \"= %s\", x1, x2);\n\
         fputs(\"strncmp(\\\"abc\\\\0d\\\", \\\"abc\\\", '\\\\4') == 0\" \": @\\n\", s);\n\
         \"vers2.h\"\n\"hello\";\n\"hello\" \", world\"",
    );
    check(
        "#define t(x,y,z) x ## y ## z\n\
         int j[] = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,), t(10,,), t(,11,), t(,,12), t(,,) };",
        "int j[] = { 123, 45, 67, 89, 10, 11, 12, };",
    );
    check(
        "#define debug(...) fprintf(stderr, __VA_ARGS__)\n#define showlist(...) puts(#__VA_ARGS__)\n\
         #define report(test, ...) ((test)?puts(#test): printf(__VA_ARGS__))\n\
         debug(\"Flag\");\ndebug(\"X = %d\\n\", x);\nshowlist(The first, second, and third items.);\n\
         report(x>y, \"x is %d but y is %d\", x, y);",
        "fprintf(stderr, \"Flag\"); fprintf(stderr, \"X = %d\\n\", x); puts(\"The first, second, and third items.\");\n\
         ((x>y)?puts(\"x>y\"): printf(\"x is %d but y is %d\", x, y));",
    );
    check(
        "#define F(...) f(0 __VA_OPT__(,) __VA_ARGS__)\n#define G(X, ...) f(0, X __VA_OPT__(,) __VA_ARGS__)\n\
         #define SDEF(sname, ...) S sname __VA_OPT__(= { __VA_ARGS__ })\n\
         F(a, b, c) F() G(a, b, c) G(a, ) G(a) SDEF(foo); SDEF(bar, 1, 2);",
        "f(0, a, b, c) f(0) f(0, a, b, c) f(0, a) f(0, a) S foo; S bar = { 1, 2 };",
    );
}

/// What GCC and NVRTC have beyond the standard: its manual, "Variadic Macros".
#[test]
fn a_comma_before_no_further_arguments_goes() {
    check(
        "#define e(format, args...) f(stderr, format, ##args)\n#define v(format, ...) f(format , ## __VA_ARGS__)\n\
         e(\"a\") e(\"a\", 1, 2) v(\"b\") v(\"b\", 3)",
        "f(stderr, \"a\") f(stderr, \"a\", 1, 2) f(\"b\") f(\"b\", 3)",
    );
}

#[test]
fn what_is_no_use_of_a_macro_stays() {
    check("#define f(a) <a>\nf; (f) f(1) f(1, 2) f (3)", "f; (f) <1> f(1, 2) <3>");
    check("#define f(a) <a>\n#define n 1\nf(n; f(n); n", "f(1; <1>; 1");
    check("#define n 1\n#undef n\nn 'n' \"n\" n1", "n 'n' \"n\" n1");
    check("#if 0\n#define n 1\n#endif\n#ifdef A\n#define m 1\n#endif\nn m", "n m");
    check("#define f(\n#define g(a b\n#define h(1) 2\nf(1) g(1) h(1)", "f(1) g(1) h(1)");
}

#[test]
fn what_is_given_stands_where_it_is_written_and_all_else_where_the_macro_is_used() {
    let text = "#define k(name, a) void name(int n, a)\n  k(f,\n float x)";
    let file = SourceFile { name: "t.cu", text, includes: [].into() };
    let mut found = files::read(&[file], &mut Macros::default(), usize::MAX);
    let tokens = found.read.remove(0).likely.tokens(&found.texts);
    let at = |word: &str| tokens.iter().find(|token| token.text == word).map(|token| token.offset);
    let used = text.find("k(f");
    assert_eq!([at("void"), at("int"), at("n")], [used; 3]);
    assert_eq!([at("f"), at("float")], [text.find("f,\n"), text.find("float")]);
}

/// Each of them would make more than any memory holds, or take hours.
#[test]
fn what_macros_make_has_a_limit() {
    let doubled = |first: &str| {
        let lines = (0..64).map(|n| format!("#define A{} A{n} A{n}\n", n + 1));
        format!("#define A0 {first}\n{}A64", lines.collect::<String>())
    };
    let nested =
        |text: &str| format!("#define f(x) {text}\n{}1{}", "f(".repeat(60), ")".repeat(60));
    // Few tokens, but of any length.
    let spelled = |text: &str| {
        let (open, close) = ("D(".repeat(60), ")".repeat(60));
        format!("#define C(a) {text}\n#define D(a) C(a)\n{open}x{close}")
    };
    let body = "x ".repeat(1 << 18);
    for text in [
        doubled("1"),
        doubled(""),
        nested("x x"),
        nested("x"),
        format!("#define f(x) {body}\nf({body})"),
        format!("#define f(x) x\n{}", "f(".repeat(1 << 18)),
        format!("#define n {body}\n{}", "n ".repeat(1 << 12)),
        format!("#define n {}\n{}", "1".repeat(1 << 20), "n ".repeat(1 << 12)),
        spelled("a##a"),
        spelled("#a #a"),
    ] {
        let started = std::time::Instant::now();
        let (tokens, is_whole) = expanded(&text);
        let name = &text[..text.len().min(60)];
        assert!(tokens.len() <= text.len() + 2 * MOST_TOKENS, "{name}: {}", tokens.len());
        assert!(!is_whole || text.contains("f(f("), "{name}");
        let letters: usize = tokens.iter().map(String::len).sum();
        assert!(letters <= text.len() + 20 * MOST_TOKENS, "{name}: {letters}");
        assert!(started.elapsed().as_secs() < 30, "{name}: {:?}", started.elapsed());
    }
}
