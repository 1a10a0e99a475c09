//! A text buffer that types as a code editor does: spaces for Tab, the line's indentation after Enter.
//!
//! egui gives every edit to a [`egui::TextBuffer`]; changing the text here, and not the key events before
//! them, keeps edits in order even when many keys arrive within one slow frame.

use std::{any::TypeId, ops::Range};

use egui::{
    TextBuffer,
    text::{CCursor, CharIndex},
};

/// Columns from one indentation to the next.
pub const TAB: usize = 4;

/// A scene's text while the editor shows it.
pub struct CodeBuffer<'a>(pub &'a mut String);

impl TextBuffer for CodeBuffer<'_> {
    fn is_mutable(&self) -> bool {
        true
    }

    fn as_str(&self) -> &str {
        self.0
    }

    fn insert_text(&mut self, text: &str, char_index: CharIndex) -> usize {
        let at = byte_index(self.0, char_index.0);
        let typed = match text {
            "\n" => format!("\n{}", indentation_after(self.0, at)),
            "\t" => " ".repeat(TAB - column(self.0, at) % TAB),
            _ => text.replace("\r\n", "\n"),
        };
        self.0.insert_str(at, &typed);
        typed.chars().count()
    }

    /// What egui calls for each key. A closing brace that is the first on its line goes one step to the left, and the
    /// caret with it, before the next key comes.
    fn insert_text_at(&mut self, caret: &mut CCursor, text: &str, _char_limit: usize) {
        if text == "}" && stands_first_and_indented(self.0, caret.index.0) {
            self.delete_char_range(CharIndex(caret.index.0 - TAB)..caret.index);
            caret.index.0 -= TAB;
        }
        caret.index.0 += self.insert_text(text, caret.index);
    }

    fn delete_char_range(&mut self, char_range: Range<CharIndex>) {
        let start = byte_index(self.0, char_range.start.0);
        let end = byte_index(self.0, char_range.end.0).max(start);
        self.0.drain(start..end);
    }

    fn replace_with(&mut self, text: &str) {
        text.clone_into(self.0);
    }

    fn type_id(&self) -> TypeId {
        TypeId::of::<CodeBuffer<'static>>()
    }
}

/// The byte at which character `index` starts, or the text's length.
pub fn byte_index(text: &str, index: usize) -> usize {
    text.char_indices().nth(index).map_or(text.len(), |(at, _)| at)
}

/// The character index at which `line` (from 1) starts, or that of the last line.
pub fn line_start(text: &str, line: u32) -> usize {
    let lines = (line as usize).saturating_sub(1);
    let starts = text.chars().enumerate().filter(|(_, c)| *c == '\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(starts).take(lines + 1).last().unwrap_or(0)
}

/// The line (from 0) that character `index` is on.
pub fn line_of(text: &str, index: usize) -> usize {
    text.chars().take(index).filter(|c| *c == '\n').count()
}

fn column(text: &str, at: usize) -> usize {
    text[..at].chars().rev().take_while(|c| *c != '\n').count()
}

/// What to put in front of a new line that starts at byte `at`: the indentation of the line before, one
/// step more behind an opening bracket.
fn indentation_after(text: &str, at: usize) -> String {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at];
    let mut indentation: String = line.chars().take_while(|c| *c == ' ' || *c == '\t').collect();
    if line.trim_end().ends_with(['{', '(', '[']) {
        indentation.push_str(&" ".repeat(TAB));
    }
    indentation
}

/// Whether only spaces stand before character `index` on its line, and one step of them or more.
fn stands_first_and_indented(text: &str, index: usize) -> bool {
    let before = &text[..byte_index(text, index)];
    let line = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
    line.len() >= TAB && line.bytes().all(|byte| byte == b' ')
}

/// The lines (from 0) that a selection of characters touches; one that ends at a line's start leaves it out.
pub fn lines_of(text: &str, selection: Range<usize>) -> Range<usize> {
    let first = line_of(text, selection.start);
    let mut last = line_of(text, selection.end);
    if last > first && column(text, byte_index(text, selection.end)) == 0 {
        last -= 1;
    }
    first..last + 1
}

/// Applies `change` to each of `lines` (from 0).
fn change_lines(text: &mut String, lines: Range<usize>, change: impl Fn(&str) -> String) {
    *text = text
        .split('\n')
        .enumerate()
        .map(|(n, line)| if lines.contains(&n) { change(line) } else { line.to_owned() })
        .collect::<Vec<_>>()
        .join("\n");
}

/// Indents `lines` by one step; empty ones stay empty.
pub fn indent(text: &mut String, lines: Range<usize>) {
    change_lines(text, lines, |line| {
        if line.trim().is_empty() { line.to_owned() } else { " ".repeat(TAB) + line }
    });
}

/// Takes one step of indentation from `lines`, as far as they have it.
pub fn outdent(text: &mut String, lines: Range<usize>) {
    change_lines(text, lines, |line| {
        let spaces = line.chars().take_while(|c| *c == ' ').count().min(TAB);
        line.strip_prefix('\t').unwrap_or(&line[spaces..]).to_owned()
    });
}

/// Makes `lines` comments (`//`), or code again when all of them are comments.
pub fn toggle_comment(text: &mut String, lines: Range<usize>) {
    let chosen = || text.split('\n').skip(lines.start).take(lines.len());
    let code = || chosen().filter(|line| !line.trim().is_empty());
    let all_comments = code().all(|line| line.trim_start().starts_with("//"));
    let margin = code().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    change_lines(text, lines.clone(), |line| {
        if line.trim().is_empty() {
            return line.to_owned();
        }
        if all_comments {
            let (indentation, comment) = line.split_at(line.len() - line.trim_start().len());
            let code = comment.trim_start_matches("//");
            format!("{indentation}{}", code.strip_prefix(' ').unwrap_or(code))
        } else {
            format!("{}// {}", &line[..margin], &line[margin..])
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types `keys` one after another at the end of `text`, as egui would within one frame.
    fn typed(text: &str, keys: &[&str]) -> String {
        let mut text = text.to_owned();
        let mut buffer = CodeBuffer(&mut text);
        let mut caret = CCursor::new(buffer.as_str().chars().count());
        for key in keys {
            buffer.insert_text_at(&mut caret, key, usize::MAX);
        }
        assert_eq!(caret.index.0, text.chars().count(), "the caret stays behind what was typed");
        text
    }

    #[test]
    fn enter_keeps_the_indentation() {
        assert_eq!(typed("    a;", &["\n", "b"]), "    a;\n    b");
        assert_eq!(typed("  if (x) {", &["\n", "b"]), "  if (x) {\n      b");
    }

    #[test]
    fn enter_between_brackets_counts_what_stands_before_the_caret() {
        let mut text = String::from("a {}");
        CodeBuffer(&mut text).insert_text("\n", CharIndex(3));
        assert_eq!(text, "a {\n    }");
    }

    #[test]
    fn tab_goes_to_the_next_stop() {
        assert_eq!(typed("ab", &["\t", "c"]), "ab  c");
        assert_eq!(typed("", &["\t", "\t", "x"]), "        x");
    }

    #[test]
    fn a_closing_brace_goes_one_step_left() {
        assert_eq!(typed("f() {", &["\n", "x;", "\n", "}"]), "f() {\n    x;\n}");
        assert_eq!(typed("f() { x;", &["}"]), "f() { x;}");
        assert_eq!(typed("  ", &["}"]), "  }");
    }

    #[test]
    fn keys_of_one_frame_are_taken_in_order() {
        let nested = ["f() {", "\n", "g {", "\n", "x;", "\n", "}", "\n", "}", "\n", "y;"];
        assert_eq!(typed("", &nested), "f() {\n    g {\n        x;\n    }\n}\ny;");
    }

    #[test]
    fn deleting_counts_characters_not_bytes() {
        let mut text = String::from("aüb");
        CodeBuffer(&mut text).delete_char_range(CharIndex(1)..CharIndex(2));
        assert_eq!(text, "ab");
    }

    #[test]
    fn pasted_lines_keep_their_own_indentation_and_lose_carriage_returns() {
        assert_eq!(typed("    ", &["a\r\nb"]), "    a\nb");
    }

    #[test]
    fn lines_of_a_selection() {
        let text = "ab\ncd\nef";
        assert_eq!(lines_of(text, 0..0), 0..1);
        assert_eq!(lines_of(text, 1..4), 0..2);
        assert_eq!(lines_of(text, 0..3), 0..1);
        assert_eq!((line_start(text, 1), line_start(text, 3), line_start(text, 9)), (0, 6, 6));
    }

    #[test]
    fn indent_and_outdent_are_inverse() {
        let mut text = String::from("a\n\n  b");
        indent(&mut text, 0..3);
        assert_eq!(text, "    a\n\n      b");
        outdent(&mut text, 0..3);
        assert_eq!(text, "a\n\n  b");
        outdent(&mut text, 0..3);
        assert_eq!(text, "a\n\nb");
    }

    #[test]
    fn comments_go_on_and_off() {
        let mut text = String::from("  a;\n    b;\nc;");
        toggle_comment(&mut text, 0..2);
        assert_eq!(text, "  // a;\n  //   b;\nc;");
        toggle_comment(&mut text, 0..2);
        assert_eq!(text, "  a;\n    b;\nc;");
    }
}
