//! A line of the text: where it ends, and what it begins with.

use ropey::{Rope, RopeSlice};

/// More blanks than these at a line's start are no indentation; nobody counts them for each of many carets.
pub(super) const WIDEST: usize = 1000;

/// The line without its end.
pub(super) fn line(rope: &Rope, line: usize) -> RopeSlice<'_> {
    rope.slice(rope.line_to_char(line)..line_end(rope, line))
}

/// Where the line ends, before its `\n`.
pub(super) fn line_end(rope: &Rope, line: usize) -> usize {
    match line + 1 < rope.len_lines() {
        true => rope.line_to_char(line + 1) - 1,
        false => rope.len_chars(),
    }
}

/// The column of a place.
pub(super) fn column(rope: &Rope, at: usize) -> usize {
    at - rope.line_to_char(rope.char_to_line(at))
}

/// How many blanks the line begins with, [`WIDEST`] at most.
pub(super) fn blanks(rope: &Rope, of: usize) -> usize {
    line(rope, of).chars().take(WIDEST).take_while(|c| c.is_whitespace()).count()
}
