//! Whether a piece of CUDA C++ may stand between others: it ends whatever it begins.

use super::lexer::{Kind, lex};

/// What `text` leaves open, or takes that is not its own, so that what stands behind it would be read as something
/// else; a phrase to stand behind "it".
pub(crate) fn unfinished(text: &str) -> Option<String> {
    let mut open = Vec::new();
    for token in lex(text) {
        match (token.kind, token.text) {
            (Kind::Comment, text) if !is_closed_comment(text) => {
                return Some("begins a comment that has no end".to_owned());
            }
            (Kind::Quoted, text) if !is_closed_literal(text) => {
                return Some(format!("begins a literal that has no end, {text}"));
            }
            (Kind::Directive | Kind::Disabled, _) => {
                return Some("has a line of the preprocessor".to_owned());
            }
            (Kind::Sign, bracket @ ("(" | "[" | "{")) => open.push(bracket),
            (Kind::Sign, bracket @ (")" | "]" | "}")) => {
                if !open.pop().is_some_and(|opening| is_pair(opening, bracket)) {
                    return Some(format!("closes a bracket `{bracket}` that it does not open"));
                }
            }
            (
                Kind::Blank | Kind::Comment | Kind::Word | Kind::Number | Kind::Quoted | Kind::Sign,
                _,
            ) => {}
        }
    }
    // C++23 joins lines at a backslash that blanks follow, too.
    match open.pop() {
        Some(bracket) => Some(format!("opens a bracket `{bracket}` that it does not close")),
        None => text
            .trim_end()
            .ends_with('\\')
            .then(|| "ends with a backslash, which joins lines".to_owned()),
    }
}

fn is_pair(opening: &str, closing: &str) -> bool {
    matches!((opening, closing), ("(", ")") | ("[", "]") | ("{", "}"))
}

fn is_closed_comment(text: &str) -> bool {
    text.starts_with("//") || text.len() >= "/**/".len() && text.ends_with("*/")
}

/// Whether a literal with its prefix ends as it begins. Of a raw string, a text in its delimiters, the lexer has found
/// the end or gone on to the end of all.
fn is_closed_literal(text: &str) -> bool {
    let Some((start, quote)) = text.char_indices().find(|(_, c)| matches!(c, '"' | '\'')) else {
        return false;
    };
    let (prefix, literal) = text.split_at(start);
    if prefix.ends_with('R') {
        let delimiter = literal[1..].split_once('(').map(|(delimiter, _)| delimiter);
        return delimiter.is_some_and(|delimiter| {
            let end = format!("){delimiter}\"");
            literal.len() >= delimiter.len() + 2 + end.len() && literal.ends_with(&end)
        });
    }
    let inside = literal[1..].strip_suffix(quote);
    inside.is_some_and(|inside| {
        let escapes = inside.len() - inside.trim_end_matches('\\').len();
        escapes.is_multiple_of(2)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_open_is_told() {
        for whole in [
            "x",
            "",
            "x.x * (x.y + f(1, { 2 })[i])",
            "x // to the line's end",
            "x /* */ + /**/ 1",
            "x // /* (",
            r#"f("(", ')', '\\', "\"")"#,
            "R\"(\")(\")\"[0]",
            "R\"d( )\" )d\"[0]",
            "x\n + y\\\n * 2",
        ] {
            assert_eq!(unfinished(whole), None, "{whole}");
        }
        for (open, told) in [
            ("x /*", "comment"),
            ("x /*/", "comment"),
            ("x + 'a", "literal"),
            (r"x + '\'", "literal"),
            ("x + \"a", "literal"),
            ("x + R\"(x", "literal"),
            ("x + R\"d(x)\"", "literal"),
            ("x + R\"(\"", "literal"),
            ("f(x", "opens a bracket `(`"),
            ("f(x]", "closes a bracket `]`"),
            ("x)", "closes a bracket `)`"),
            ("x; } {", "closes a bracket `}`"),
            ("x\n#if 0\n", "preprocessor"),
            ("x\n%:include \"a\"\n", "preprocessor"),
            ("x \\", "backslash"),
            ("x \\  ", "backslash"),
            ("x // c \\", "backslash"),
        ] {
            let wrong = unfinished(open).unwrap_or_default();
            assert!(wrong.contains(told), "{open}: {wrong}");
        }
    }
}
