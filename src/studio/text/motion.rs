//! Where a caret goes.

use ropey::Rope;

use super::{
    line::{blanks, column, line_end},
    selection::Selection,
};

/// A longer word is gone through in parts, so that many carets in one need not all go through the whole of it.
const LONGEST_WORD: usize = 10_000;

/// A way for a caret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// A character back.
    Left,
    /// A character ahead.
    Right,
    /// To the start of the word, or of the one before.
    WordLeft,
    /// To the end of the word, or of the next one.
    WordRight,
    /// So many lines up.
    Up(usize),
    /// So many lines down.
    Down(usize),
    /// To the first character of the line that is no blank, and from there to its start.
    LineStart,
    /// To the end of the line.
    LineEnd,
    /// To the start of the text.
    Start,
    /// To the end of the text.
    End,
}

/// What belongs together when a caret goes by words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Blank,
    Word,
    Sign,
}

/// Whether `c` may be part of a name.
pub fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn class(c: char) -> Class {
    match c {
        c if c.is_whitespace() => Class::Blank,
        c if is_word(c) => Class::Word,
        _ => Class::Sign,
    }
}

/// The range of the word at a place, or of the blanks or signs there; empty in an empty line.
pub(super) fn word_at(rope: &Rope, at: usize) -> std::ops::Range<usize> {
    let of = rope.char_to_line(at);
    let (start, end) = (rope.line_to_char(of), line_end(rope, of));
    let behind = (at < end).then(|| class(rope.char(at)));
    let before = (at > start).then(|| class(rope.char(at - 1)));
    // Between two, the word counts, then what stands behind.
    let wanted = match (before, behind) {
        (Some(Class::Word), Some(Class::Blank | Class::Sign)) => Class::Word,
        (_, Some(behind)) => behind,
        (Some(before), None) => before,
        (None, None) => return at..at,
    };
    let same = |c: &char| class(*c) == wanted;
    let (most_back, most_ahead) = ((at - start).min(LONGEST_WORD), (end - at).min(LONGEST_WORD));
    let back = rope.chars_at(at).reversed().take(most_back).take_while(same).count();
    let ahead = rope.chars_at(at).take(most_ahead).take_while(same).count();
    at - back..at + ahead
}

impl Motion {
    /// Where the caret of `selection` is afterwards; nothing stays selected.
    pub(super) fn of(self, rope: &Rope, selection: &Selection) -> Selection {
        let range = selection.range();
        match self {
            // From a selection a caret goes to that end of it.
            Self::Left if !range.is_empty() => Selection::caret(range.start),
            Self::Right if !range.is_empty() => Selection::caret(range.end),
            Self::Left
            | Self::Right
            | Self::WordLeft
            | Self::WordRight
            | Self::Up(_)
            | Self::Down(_)
            | Self::LineStart
            | Self::LineEnd
            | Self::Start
            | Self::End => self.from(rope, selection),
        }
    }

    /// The same with the anchor where it was.
    pub(super) fn selecting(self, rope: &Rope, selection: &Selection) -> Selection {
        Selection { anchor: selection.anchor, ..self.from(rope, selection) }
    }

    fn from(self, rope: &Rope, selection: &Selection) -> Selection {
        let at = selection.head;
        let here = rope.char_to_line(at);
        match self {
            Self::Left => Selection::caret(at.saturating_sub(1)),
            Self::Right => Selection::caret((at + 1).min(rope.len_chars())),
            Self::WordLeft => Selection::caret(word_left(rope, at)),
            Self::WordRight => Selection::caret(word_right(rope, at)),
            Self::Up(lines) => vertical(rope, selection, here.checked_sub(lines.max(1)), 0),
            Self::Down(lines) => {
                let below = here.saturating_add(lines.max(1));
                let last = rope.len_lines() - 1;
                let target = if here == last { None } else { Some(below.min(last)) };
                vertical(rope, selection, target, rope.len_chars())
            }
            Self::LineStart => {
                let start = rope.line_to_char(here);
                let first = start + blanks(rope, here);
                Selection::caret(if at == first { start } else { first })
            }
            Self::LineEnd => Selection::caret(line_end(rope, here)),
            Self::Start => Selection::caret(0),
            Self::End => Selection::caret(rope.len_chars()),
        }
    }
}

/// The same column on another line; beyond the first and the last one, that end of the text.
fn vertical(rope: &Rope, from: &Selection, target: Option<usize>, beyond: usize) -> Selection {
    let column = from.column.unwrap_or_else(|| column(rope, from.head));
    let first = (beyond == 0 && rope.char_to_line(from.head) > 0).then_some(0);
    match target.or(first) {
        Some(target) => {
            let at = (rope.line_to_char(target) + column).min(line_end(rope, target));
            Selection { column: Some(column), ..Selection::caret(at) }
        }
        None => Selection { column: Some(column), ..Selection::caret(beyond) },
    }
}

fn word_left(rope: &Rope, at: usize) -> usize {
    let start = rope.line_to_char(rope.char_to_line(at));
    if at == start {
        return at.saturating_sub(1);
    }
    let back = |at: usize, wanted: Class| {
        let before = rope.chars_at(at).reversed().take((at - start).min(LONGEST_WORD));
        at - before.take_while(|c| class(*c) == wanted).count()
    };
    let at = back(at, Class::Blank);
    if at == start { at } else { back(at, class(rope.char(at - 1))) }
}

fn word_right(rope: &Rope, at: usize) -> usize {
    let here = rope.char_to_line(at);
    let end = line_end(rope, here);
    if at == end {
        return match here + 1 < rope.len_lines() {
            true => at + 1 + blanks(rope, here + 1),
            false => at,
        };
    }
    let ahead = |at: usize, wanted: Class| {
        let behind = rope.chars_at(at).take((end - at).min(LONGEST_WORD));
        at + behind.take_while(|c| class(*c) == wanted).count()
    };
    let at = ahead(at, Class::Blank);
    if at == end { at } else { ahead(at, class(rope.char(at))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "int a_1 = f(x);\n\n  return 2;\n";

    fn walk(motion: Motion, from: usize, steps: usize) -> Vec<usize> {
        let rope = Rope::from_str(TEXT);
        let mut at = Selection::caret(from);
        let mut places = Vec::new();
        for _ in 0..steps {
            at = motion.of(&rope, &at);
            places.push(at.head);
        }
        places
    }

    #[test]
    fn words_end_where_names_end_and_lines_are_steps() {
        assert_eq!(walk(Motion::WordRight, 0, 11), [3, 7, 9, 11, 12, 13, 15, 16, 19, 25, 27]);
        assert_eq!(walk(Motion::WordLeft, 29, 11), [28, 27, 26, 19, 17, 16, 15, 13, 12, 11, 10]);
    }

    #[test]
    fn up_and_down_come_back_to_their_column() {
        assert_eq!(walk(Motion::Down(1), 6, 4), [16, 23, 29, 29]);
        let rope = Rope::from_str(TEXT);
        let down = Motion::Down(1).of(&rope, &Motion::Down(1).of(&rope, &Selection::caret(6)));
        assert_eq!(Motion::Up(2).of(&rope, &down).head, 6);
        assert_eq!(walk(Motion::Up(1), 20, 4), [16, 3, 0, 0]);
        assert_eq!(walk(Motion::Up(50), 20, 2), [3, 0]);
        assert_eq!(walk(Motion::Down(50), 0, 1), [29]);
    }

    #[test]
    fn the_start_of_a_line_is_first_that_of_its_code() {
        assert_eq!(walk(Motion::LineStart, 24, 3), [19, 17, 19]);
        assert_eq!(walk(Motion::LineEnd, 17, 2), [28, 28]);
        assert_eq!((walk(Motion::Start, 9, 1), walk(Motion::End, 9, 1)), (vec![0], vec![29]));
    }

    #[test]
    fn words_are_found_at_both_their_ends() {
        let rope = Rope::from_str(TEXT);
        let word = |at| rope.slice(word_at(&rope, at)).to_string();
        assert_eq!([4, 6, 7].map(word), ["a_1", "a_1", "a_1"]);
        assert_eq!([8, 14, 16, 17, 29].map(word), ["=", ");", "", "  ", ""]);
    }
}
