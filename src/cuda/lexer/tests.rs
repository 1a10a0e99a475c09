use std::time::{Duration, Instant};

use super::*;

/// The tokens of `text` but blanks, each as its kind's first letter and its text.
fn tokens(text: &str) -> Vec<String> {
    let letter = |kind: Kind| format!("{kind:?}").remove(0);
    let told = lex(text).filter(|token| token.kind != Kind::Blank);
    told.map(|token| format!("{}:{}", letter(token.kind), token.text)).collect()
}

#[test]
fn code_is_words_numbers_literals_and_signs() {
    let cases = [
        ("int x2 = a::b;", "W:int W:x2 S:= W:a S::: W:b S:;"),
        (
            "1'000u .5f 1e-3 0x1p+4 0xe+1 v.x",
            "N:1'000u N:.5f N:1e-3 N:0x1p+4 N:0xe S:+ N:1 W:v S:. W:x",
        ),
        ("\"a\\\"b\" c 'x' L\"w\" u8'c'", "Q:\"a\\\"b\" W:c Q:'x' Q:L\"w\" Q:u8'c'"),
        ("R\"(\"a)\" R\"x()\")x\" b", "Q:R\"(\"a)\" Q:R\"x()\")x\" W:b"),
        ("\"open\nint", "Q:\"open W:int"),
        ("a \\\nb \\ c", "W:a W:b S:\\ W:c"),
        ("ü$1 _a", "W:ü$1 W:_a"),
    ];
    for (text, expected) in cases {
        assert_eq!(tokens(text).join(" "), expected, "{text}");
    }
}

#[test]
fn comments_and_directives_are_told_apart() {
    let cases: [(&str, &[&str]); 11] = [
        ("a // b\nc", &["W:a", "C:// b", "W:c"]),
        ("// b \\\nc\nd", &["C:// b \\\nc", "W:d"]),
        ("/* a\n*/ # b\n#c", &["C:/* a\n*/", "D:# b", "D:#c"]),
        ("x #b", &["W:x", "S:#", "W:b"]),
        ("#define A \\\n 1\nb", &["D:#define A \\\n 1", "W:b"]),
        ("#include \"a//b\" // c\nd", &["D:#include \"a//b\" ", "C:// c", "W:d"]),
        // A comment is a blank, also where it ends on another line.
        ("#define A /* x\n */ B\nc", &["D:#define A ", "C:/* x\n */", "D:B", "W:c"]),
        ("#define A \"b\\\\\n c\" d\ne", &["D:#define A \"b\\\\\n c\" d", "W:e"]),
        ("#define A b/**/\\\r\n c // d\ne", &["D:#define A b", "C:/**/", "D:c ", "C:// d", "W:e"]),
        ("/* a", &["C:/* a"]),
        ("/*/ a */b", &["C:/*/ a */", "W:b"]),
    ];
    for (text, expected) in cases {
        assert_eq!(tokens(text), expected, "{text}");
    }
}

#[test]
fn what_if_0_leaves_out_is_no_code() {
    let code = |text| code(text).map(|token| token.text).collect::<Vec<_>>().join(" ");
    for (text, expected) in [
        ("#if 0\na\n#endif\nb", "b"),
        ("#if 0 // why\na\n#else\nb\n#endif\nc", "b c"),
        ("#if 0\n#if 1\na\n#else\nb\n#endif\nc\n#elif X\nd\n#endif", "d"),
        ("  # if 0\na\n  # endif\nb", "b"),
        ("#if 1\na\n#endif", "a"),
        ("#if 0\na", ""),
        ("#if 0", ""),
        ("x #if 0\na", "x # if 0 a"),
        ("#if 0\na\n#else/* b */\nc\n#endif// d\ne", "c e"),
        ("#if 0\na\n#elif(1)\nb\n#endif", "b"),
        ("#if 0\na\n#elifdef A\nb\n#endif", "b"),
        ("#if 0\n#if(1)\na\n#endif\nb\n#endif\nc", "c"),
        ("#if 0 /* a\n#else */\nb\n#endif\nc", "c"),
        ("#if 0\n/*\n#else\n*/ a\n#endif\nb", "b"),
        ("#if 0\nR\"(\n#else\n)\" a\n#endif\nb", "b"),
        ("#if 0\ndon't /* \n#else\n */\n#endif\nb", "b"),
        ("#if 0 || 1\na\n#endif", "a"),
        ("#if 0/**/||1\na\n#endif", "a"),
        ("%:if 0\na\n%:endif\nb", "b"),
    ] {
        assert_eq!(code(text), expected, "{text}");
    }
}

#[test]
fn tokens_follow_one_another_without_a_gap() {
    let whole = "/*---\r\nx = \"ü\"\n---*/ #if 0\nß\n#endif\n#include <x> /* é\n */ y\nR\"d(a)d\" 'c \\\n\\ \"é\\\n\u{10348}";
    let bounds = (0..=whole.len()).filter(|at| whole.is_char_boundary(*at));
    for text in bounds.flat_map(|at| [&whole[..at], &whole[at..]]) {
        let mut end = 0;
        for token in lex(text) {
            assert_eq!((token.offset, token.text.is_empty()), (end, false), "{text:?}");
            end += token.text.len();
        }
        assert_eq!(end, text.len());
    }
}

/// What is looked for again and again from each place where something may begin takes hours.
#[test]
fn a_long_text_takes_no_longer_than_its_length() {
    let started = Instant::now();
    for part in [
        "/*",
        "/* */",
        "//",
        "//\n",
        "//\\\r\r\n",
        "\"",
        "\"\\\"\n",
        "\"\"",
        "'",
        "/",
        "#",
        "#\n",
        "#\\\n",
        "#/*",
        "#/**/",
        "#a/**/\\\n",
        "#\"\\\n",
        "#if 0\n",
        "#if 0\n#endif\n",
        "#if 0\n#else\n",
        "R\"(",
        "R\"a",
        "R\"a\n",
        "\\\n",
        "\\",
        " ",
        "\r",
        "::",
        "1",
        "é",
        "L\"",
    ] {
        let text = part.repeat((1 << 20) / part.len());
        assert_eq!(lex(&text).map(|token| token.text.len()).sum::<usize>(), text.len());
    }
    assert!(started.elapsed() < Duration::from_secs(600), "{:?}", started.elapsed());
}
