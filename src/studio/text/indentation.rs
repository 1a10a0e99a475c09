//! How lines are indented: by spaces, as the lines around them.

use ropey::Rope;

use super::motion::{self, line, line_end};

/// Columns from one indentation to the next.
pub const TAB: usize = 4;
/// How many characters are looked through for the bracket that another one closes.
const FARTHEST: usize = 100_000;

/// What begins a new line that is opened at `at`: the blanks of the line that it leaves, one step more behind an
/// opening bracket.
pub(super) fn behind_break(rope: &Rope, at: usize) -> String {
    let start = rope.line_to_char(rope.char_to_line(at));
    let before = rope.slice(start..at);
    let mut blanks: String = before.chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
    if opens(rope, at) {
        blanks.push_str(&" ".repeat(TAB));
    }
    blanks
}

/// Whether the last character of the line before `at` opens a bracket.
fn opens(rope: &Rope, at: usize) -> bool {
    let start = rope.line_to_char(rope.char_to_line(at));
    let last = rope.chars_at(at).reversed().take(at - start).find(|c| !c.is_whitespace());
    last.is_some_and(|c| matches!(c, '{' | '(' | '['))
}

/// Where a line is opened between an opening bracket and the closing one behind `at`: how many blanks stand before the
/// closing one, and the indentation of the line of its own that it gets.
pub(super) fn closing_line(rope: &Rope, at: usize) -> Option<(usize, String)> {
    let here = rope.char_to_line(at);
    let behind = rope.slice(at..line_end(rope, here));
    let blanks = behind.chars().take_while(|c| *c == ' ').count();
    let closes = matches!(behind.get_char(blanks), Some('}' | ')' | ']'));
    let indentation = || line(rope, here).chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
    (closes && opens(rope, at)).then(|| (blanks, indentation()))
}

/// How many of the blanks before `at`, where nothing else stands on the line, are too many for the bracket `closing`
/// that is typed there.
pub(super) fn surplus(rope: &Rope, at: usize, closing: char) -> usize {
    let start = rope.line_to_char(rope.char_to_line(at));
    let blanks = at - start;
    if !rope.slice(start..at).chars().all(|c| c == ' ') {
        return 0;
    }
    match opening(rope, at, closing) {
        Some(open) => blanks.saturating_sub(motion::indentation(rope, rope.char_to_line(open))),
        None if blanks < TAB => 0,
        None => TAB,
    }
}

/// The bracket before `at` that `closing` would close, whatever comments and strings stand between them.
fn opening(rope: &Rope, at: usize, closing: char) -> Option<usize> {
    let open = match closing {
        '}' => '{',
        ')' => '(',
        ']' => '[',
        _ => return None,
    };
    let mut depth = 0_usize;
    for (back, c) in rope.chars_at(at).reversed().take(FARTHEST).enumerate() {
        if c == closing {
            depth += 1;
        } else if c == open {
            match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return Some(at - back - 1),
            }
        }
    }
    None
}

/// The spaces that lead from `column` to the next step.
pub(super) fn to_next_stop(column: usize) -> String {
    " ".repeat(TAB - column % TAB)
}

/// How many characters Backspace deletes before `at`: a step of indentation, else one.
pub(super) fn backspace(rope: &Rope, at: usize) -> usize {
    let start = rope.line_to_char(rope.char_to_line(at));
    let column = at - start;
    match column > 0 && rope.slice(start..at).chars().all(|c| c == ' ') {
        true => (column - 1) % TAB + 1,
        false => 1,
    }
}

/// How many characters of the line's start one step less takes away.
pub(super) fn step(rope: &Rope, of: usize) -> usize {
    let line = line(rope, of);
    match line.chars().next() {
        Some('\t') => 1,
        _ => line.chars().take(TAB).take_while(|c| *c == ' ').count(),
    }
}
