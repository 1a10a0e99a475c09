//! What of a text can be folded away: what stands within brackets, and comments, where they have several lines.

use std::ops::Range;

use super::lexer::{Kind, lex};

/// The lines, from 0, that go when the line before them is folded; in the order of their first lines. A line that a
/// bracket closes stays, so that the text still reads as one.
pub(crate) fn folds(text: &str) -> Vec<Range<usize>> {
    let (mut line, mut open, mut found) = (0, Open::default(), Vec::new());
    for token in lex(text) {
        let ends = token.text.matches('\n').count();
        match (token.kind, token.text) {
            (Kind::Sign, "{") => open.push(0, line),
            (Kind::Sign, "(") => open.push(1, line),
            (Kind::Sign, "[") => open.push(2, line),
            (Kind::Sign, "}") => found.extend(open.close(0, line)),
            (Kind::Sign, ")") => found.extend(open.close(1, line)),
            (Kind::Sign, "]") => found.extend(open.close(2, line)),
            (Kind::Comment, text) if text.starts_with("/*") => {
                found.push(line + 1..line + ends + 1)
            }
            (Kind::Disabled, _) => found.push(line + 1..line + ends),
            (
                Kind::Blank
                | Kind::Comment
                | Kind::Directive
                | Kind::Word
                | Kind::Number
                | Kind::Quoted
                | Kind::Sign,
                _,
            ) => {}
        }
        line += ends;
    }
    found.retain(|lines| !lines.is_empty());
    // Of several that begin on a line the longest one is meant.
    found.sort_by_key(|lines| (lines.start, std::cmp::Reverse(lines.end)));
    found.dedup_by_key(|lines| lines.start);
    found
}

/// The brackets that are open: the kind of each, and its line.
#[derive(Default)]
struct Open {
    brackets: Vec<(usize, usize)>,
    /// How many there are of each kind: whoever closes one that is not there need not look for it.
    counts: [usize; 3],
}

impl Open {
    fn push(&mut self, kind: usize, line: usize) {
        self.brackets.push((kind, line));
        self.counts[kind] += 1;
    }

    /// Closes the last one of a kind, and what was left open within, which is half typed. Gives the lines between.
    fn close(&mut self, kind: usize, line: usize) -> Option<Range<usize>> {
        if self.counts[kind] == 0 {
            return None;
        }
        while let Some((last, head)) = self.brackets.pop() {
            self.counts[last] -= 1;
            if last == kind {
                return Some(head + 1..line);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_and_comments_of_several_lines_fold() {
        let text = "/* a\n b */\nint f(int a,\n      int b) {\n  if (a) {\n    g();\n  }\n}\n// c\nint x[] = {1, 2};\n";
        assert_eq!(folds(text), [1..2, 4..7, 5..6]);
    }

    #[test]
    fn brackets_in_texts_and_comments_are_none() {
        let text = "// {\nchar c = '{';\nconst char *s = \"{\";\n}\n";
        assert!(folds(text).is_empty());
    }

    #[test]
    fn half_typed_text_folds_where_it_can() {
        let text = "void f() {\n  g((1;\n  h();\n}\nvoid k() {\n";
        assert_eq!(folds(text), std::slice::from_ref(&(1..3)));
    }

    /// In time that grows with the text: to look for each partner among all that are open would take hours.
    #[test]
    fn brackets_without_partners_are_many() {
        let text = format!("{{\n{}\n{}\n}}", "(".repeat(500_000), "]".repeat(500_000));
        assert_eq!(folds(&text), std::slice::from_ref(&(1..3)));
    }
}
