//! How lines are indented: by spaces, as the lines around them.

use ropey::Rope;

use super::line::{self, WIDEST, line, line_end};

/// Columns from one indentation to the next.
pub const TAB: usize = 4;
/// How many characters before the first caret are looked through for the bracket that another one closes.
const FARTHEST: usize = 100_000;
/// What begins a new line that is opened at `at`: the blanks of the line that it leaves, one step more behind an
/// opening bracket.
pub(super) fn behind_break(rope: &Rope, at: usize) -> String {
    let start = rope.line_to_char(rope.char_to_line(at));
    let before = rope.slice(start..at.min(start + WIDEST));
    let mut blanks: String = before.chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
    if opens(rope, at) {
        blanks.push_str(&" ".repeat(TAB));
    }
    blanks
}

/// Whether the last character of the line before `at` opens a bracket.
fn opens(rope: &Rope, at: usize) -> bool {
    let start = rope.line_to_char(rope.char_to_line(at));
    let before = rope.chars_at(at).reversed().take((at - start).min(WIDEST));
    let last = before.into_iter().find(|c| !c.is_whitespace());
    last.is_some_and(|c| matches!(c, '{' | '(' | '['))
}

/// Where a line is opened between an opening bracket and the closing one behind `at`: how many blanks stand before the
/// closing one, and the indentation of the line of its own that it gets.
pub(super) fn closing_line(rope: &Rope, at: usize) -> Option<(usize, String)> {
    let here = rope.char_to_line(at);
    let behind = rope.slice(at..line_end(rope, here));
    let blanks = behind.chars().take(WIDEST).take_while(|c| *c == ' ').count();
    let closes = matches!(behind.get_char(blanks), Some('}' | ')' | ']'));
    let indentation =
        || line(rope, here).chars().take(WIDEST).take_while(|c| matches!(c, ' ' | '\t')).collect();
    (closes && opens(rope, at)).then(|| (blanks, indentation()))
}

/// How many spaces stand before `at` on its line, where nothing else does.
fn spaces_before(rope: &Rope, at: usize) -> Option<usize> {
    let start = rope.line_to_char(rope.char_to_line(at));
    (at - start <= WIDEST && rope.slice(start..at).chars().all(|c| c == ' ')).then_some(at - start)
}

/// How many of the spaces before `at`, where nothing else stands on the line, are too many for a bracket that is typed
/// there and closes the one at `open`.
pub(super) fn surplus(rope: &Rope, at: usize, open: Option<usize>) -> usize {
    let Some(blanks) = spaces_before(rope, at) else { return 0 };
    match open {
        Some(open) => blanks.saturating_sub(line::blanks(rope, rope.char_to_line(open))),
        None if blanks < TAB => 0,
        None => TAB,
    }
}

/// The brackets that `closing` would close at each of `places`, which are in order, whatever comments and strings stand
/// between them.
pub(super) fn openings(rope: &Rope, places: &[usize], closing: char) -> Vec<Option<usize>> {
    let opening = match closing {
        '}' => '{',
        ')' => '(',
        ']' => '[',
        _ => return vec![None; places.len()],
    };
    let begin = places.first().map_or(0, |first| first.saturating_sub(FARTHEST));
    let mut open = Vec::new();
    let mut chars = (begin..).zip(rope.chars_at(begin)).peekable();
    let mut before = |place: usize| {
        while let Some((at, c)) = chars.next_if(|(at, _)| *at < place) {
            if c == opening {
                open.push(at);
            } else if c == closing {
                open.pop();
            }
        }
        open.last().copied()
    };
    places.iter().map(|place| before(*place)).collect()
}

/// The spaces that lead from `column` to the next step.
pub(super) fn to_next_stop(column: usize) -> String {
    " ".repeat(TAB - column % TAB)
}

/// How many characters Backspace deletes before `at`: a step of indentation, else one.
pub(super) fn backspace(rope: &Rope, at: usize) -> usize {
    match spaces_before(rope, at) {
        Some(column @ 1..) => (column - 1) % TAB + 1,
        Some(0) | None => 1,
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
