//! TOML's strings as they are written: where in a literal what it holds stands.

/// The byte of a string's literal at which the byte at `offset` of what it holds is written; where the string ends, for
/// offsets at and behind its end. What is no literal of a string has no quotes and no escapes.
pub(super) fn place(literal: &str, offset: usize) -> usize {
    let (mut at, kind) = opening(literal);
    let (mut held, end) = (0, literal.len() - kind.quotes.min(literal.len()));
    while let Some(piece) = literal.get(at..end).filter(|rest| !rest.is_empty()) {
        let (written, holds) = kind.first(piece);
        if held + holds > offset {
            break;
        }
        (at, held) = (at + written, held + holds);
    }
    at
}

/// What a string holds, with the ends of lines that backslashes take out of it. `None` where it has other escapes.
pub(super) fn with_its_lines(literal: &str) -> Option<&str> {
    let (start, kind) = opening(literal);
    let text = literal.get(start..literal.len().checked_sub(kind.quotes)?)?;
    let mut rest = text;
    while kind.has_escapes
        && let Some(at) = rest.find('\\')
    {
        if !rest[at + 1..].starts_with([' ', '\t', '\r', '\n']) {
            return None;
        }
        rest = &rest[at + 1..];
    }
    Some(text)
}

/// How a literal is written.
#[derive(Clone, Copy)]
struct Kind {
    /// Bytes of the quotes at either end.
    quotes: usize,
    has_escapes: bool,
}

/// Where the string's text begins in a literal.
fn opening(literal: &str) -> (usize, Kind) {
    let has_escapes = literal.starts_with('"');
    for quotes in ["\"\"\"", "'''"] {
        if let Some(text) = literal.strip_prefix(quotes).filter(|text| text.ends_with(quotes)) {
            // A line's end right behind them is no part of the string.
            let end =
                if text.starts_with("\r\n") { 2 } else { usize::from(text.starts_with('\n')) };
            return (3 + end, Kind { quotes: 3, has_escapes });
        }
    }
    let quotes = usize::from(literal.starts_with(['"', '\'']));
    (quotes, Kind { quotes, has_escapes })
}

impl Kind {
    /// The bytes of the first character, or escape, of a text, and those that it stands for.
    fn first(self, text: &str) -> (usize, usize) {
        let mut letters = text.chars();
        let first = letters.next().map_or(1, char::len_utf8);
        if !self.has_escapes || !text.starts_with('\\') {
            return (first, first);
        }
        let digits = match letters.next() {
            // With the blanks behind it and before what goes on.
            Some(' ' | '\t' | '\r' | '\n') => {
                let rest = text[1..].trim_start_matches([' ', '\t', '\r', '\n']);
                return (text.len() - rest.len(), 0);
            }
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            Some(_) | None => return (text.len().min(2), 1),
        };
        let code = text.get(2..2 + digits).and_then(|code| u32::from_str_radix(code, 16).ok());
        let letter = code.and_then(char::from_u32);
        (text.len().min(2 + digits), letter.map_or(1, char::len_utf8))
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Diagnostic, Lines, Overrides, decode},
        *,
    };

    /// Each `z` of what TOML says a literal holds is one of the literal's.
    #[test]
    fn what_a_string_holds_is_found_in_its_literal() {
        for literal in [
            r#""1 + z""#,
            r#""z\tz \u0020z \U0001F600z\x20z\\z\"z""#,
            "'1 \\t z'",
            "\"\"\"1 + z\"\"\"",
            "\"\"\"\n1 +\n  z z\"\"\"",
            "\"\"\"\r\n1 +\r\n  z\"\"\"",
            "'''\nä + \\ z\n z'''",
            "\"\"\"1 + \\\n\n     z \\  \n z\"\"\"",
            "\"\"\"z\"z\"\"z\"\"\"",
            "\"\"",
        ] {
            let text = format!("a = {literal}");
            let table: toml::Table = text.parse().unwrap();
            let held = table["a"].as_str().unwrap();
            let in_it = |text: &str| text.match_indices('z').map(|(at, _)| at).collect::<Vec<_>>();
            let found: Vec<usize> = in_it(held).into_iter().map(|at| place(literal, at)).collect();
            assert_eq!(found, in_it(literal), "{literal}");
            let end = literal.len() - opening(literal).1.quotes;
            for behind in [held.len(), held.len() + 7] {
                assert_eq!(place(literal, behind), end, "{literal}");
            }
        }
    }

    #[test]
    fn what_is_no_literal_has_no_quotes() {
        assert_eq!((place("1 + z", 4), place("", 3), place("\"", 1)), (4, 0, 1));
        assert_eq!((place("\"\\", 1), place("\"\\u12", 3), place("\"\"\"", 2)), (1, 4, 2));
    }

    #[test]
    fn lines_that_were_taken_out_come_back() {
        assert_eq!(with_its_lines("\"\"\"\nx + \\\n  1\"\"\""), Some("x + \\\n  1"));
        assert_eq!(with_its_lines("'a\\t'"), Some("a\\t"));
        assert_eq!(with_its_lines("\"a\\t\""), None);
    }

    /// However a string is written, a fault of its expression is told where the name stands that nothing has.
    #[test]
    fn faults_of_expressions_are_told_where_they_are_written() {
        let forms = [
            "\"1 + zz\"",
            "'1 + zz'",
            "\"1 +\\t zz\"",
            "\"1 \\u002b zz\"",
            "\"\"\"1 + zz\"\"\"",
            "\"\"\"\n1 +\n  zz\"\"\"",
            "\"\"\"1 + \\\n   zz\"\"\"",
            "'''\r\n1 +\r\n zz'''",
        ];
        let rest = "[[pass]]\nkernel = \"k\"\nover = \"a\"\n";
        let array = "[array.a]\ntype = \"int\"\n";
        for form in forms {
            for manifest in [
                format!("{array}count = {form}\n{rest}"),
                format!("[constant]\nc = {form}\n{array}count = 8\n{rest}"),
                format!("{array}count = 8\neach = {form}\n{rest}"),
                format!("{array}count = 8\n{rest}args = {{ b = {form} }}\n"),
                format!("{array}count = 8\n{rest}repeat = {form}\n"),
            ] {
                let text = format!("/*---\n{manifest}---*/\n");
                let at = Lines::new(&text).position(text.find("zz").unwrap());
                let found = match decode("t.cu", &text, &Overrides::default()) {
                    Ok((_, found)) | Err(found) => found,
                };
                let told = |of: &Diagnostic| {
                    of.text.contains("zz")
                        && of.line == Some(at.line)
                        && of.column == Some(at.column)
                };
                assert!(found.iter().any(told), "{at:?} of {text}: {found:?}");
            }
        }
    }
}
