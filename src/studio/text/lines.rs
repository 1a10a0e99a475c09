//! Commands on whole lines.

use std::ops::Range;

use ropey::Rope;

use super::{
    change::{Edit, Moves, Side},
    command::Direction,
    indentation::{self, TAB},
    line::{blanks, column, line, line_end},
    selection::{Selection, Selections},
};

/// What a command does, and what is selected afterwards.
pub(super) struct Outcome {
    pub(super) edits: Vec<Edit>,
    pub(super) selections: Selections,
}

/// The lines that a selection touches; one that ends at a line's start leaves that line out.
pub(super) fn touched(rope: &Rope, selection: &Selection) -> Range<usize> {
    let range = selection.range();
    let first = rope.char_to_line(range.start);
    let mut last = rope.char_to_line(range.end);
    if last > first && rope.line_to_char(last) == range.end {
        last -= 1;
    }
    first..last + 1
}

/// The lines that any of the selections touches, in order, those side by side together.
fn blocks(rope: &Rope, selections: &Selections) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    for lines in selections.all().iter().map(|selection| touched(rope, selection)) {
        match blocks.last_mut() {
            Some(before) if lines.start <= before.end => before.end = before.end.max(lines.end),
            _ => blocks.push(lines),
        }
    }
    blocks
}

fn each(rope: &Rope, selections: &Selections) -> Vec<usize> {
    blocks(rope, selections).into_iter().flatten().collect()
}

/// The lines without the end of the last one.
fn text(rope: &Rope, lines: &Range<usize>) -> Range<usize> {
    rope.line_to_char(lines.start)..line_end(rope, lines.end - 1)
}

fn follow(edits: Vec<Edit>, selections: &Selections) -> Outcome {
    let moves = Moves::new(&edits);
    let selections = selections.map(|s| s.mapped(|at| moves.of(at, Side::Behind)));
    Outcome { edits, selections }
}

/// A step more for each line that is not empty.
pub(super) fn indent(rope: &Rope, selections: &Selections) -> Outcome {
    let is_code = |line: &usize| blanks(rope, *line) < self::line(rope, *line).len_chars();
    let lines = each(rope, selections).into_iter().filter(is_code);
    follow(
        lines.map(|line| Edit::insert(rope.line_to_char(line), " ".repeat(TAB))).collect(),
        selections,
    )
}

/// A step less for each line that has one.
pub(super) fn unindent(rope: &Rope, selections: &Selections) -> Outcome {
    let edit = |line: usize| {
        let start = rope.line_to_char(line);
        Edit::delete(start..start + indentation::step(rope, line))
    };
    follow(each(rope, selections).into_iter().map(edit).collect(), selections)
}

/// Comments that begin with `mark`, or code again where all lines are comments.
pub(super) fn toggle_comment(rope: &Rope, selections: &Selections, mark: &str) -> Outcome {
    let code = |range: &usize| blanks(rope, *range) < line(rope, *range).len_chars();
    let lines: Vec<usize> = each(rope, selections).into_iter().filter(code).collect();
    let begins = |of: usize| {
        let line = line(rope, of);
        line.slice(blanks(rope, of)..).chars().zip(mark.chars()).filter(|(a, b)| a == b).count()
            == mark.len()
    };
    let margin = lines.iter().map(|line| blanks(rope, *line)).min().unwrap_or(0);
    let edits = match lines.iter().all(|line| begins(*line)) {
        true => lines.iter().map(|of| uncomment(rope, *of, mark.len())).collect(),
        false => {
            let comment =
                |of: &usize| Edit::insert(rope.line_to_char(*of) + margin, format!("{mark} "));
            lines.iter().map(comment).collect()
        }
    };
    follow(edits, selections)
}

fn uncomment(rope: &Rope, of: usize, mark: usize) -> Edit {
    let start = rope.line_to_char(of) + blanks(rope, of);
    let is_blank = rope.get_char(start + mark) == Some(' ');
    Edit::delete(start..start + mark + usize::from(is_blank))
}

/// The lines change places with the one above or below.
pub(super) fn move_lines(rope: &Rope, selections: &Selections, direction: Direction) -> Outcome {
    let last = rope.len_lines();
    let (mut edits, mut shifts) = (Vec::new(), Vec::new());
    for block in blocks(rope, selections) {
        let lines = text(rope, &block);
        let (range, text, shift) = match direction {
            Direction::Up if block.start > 0 => {
                let above = text_of(rope, &(block.start - 1..block.start));
                let size = above.chars().count() as isize + 1;
                let text = format!("{}\n{above}", text_of(rope, &block));
                (rope.line_to_char(block.start - 1)..lines.end, text, -size)
            }
            Direction::Down if block.end < last => {
                let below = text_of(rope, &(block.end..block.end + 1));
                let size = below.chars().count() as isize + 1;
                let text = format!("{below}\n{}", text_of(rope, &block));
                (lines.start..line_end(rope, block.end), text, size)
            }
            // They are first or last.
            Direction::Up | Direction::Down => (lines.clone(), text_of(rope, &block), 0),
        };
        edits.push(Edit::new(range, text));
        shifts.push((block, shift));
    }
    let shift = |selection: &Selection| {
        let line = touched(rope, selection).start;
        let block = shifts.get(shifts.partition_point(|(block, _)| block.end <= line));
        let shift = block.filter(|(block, _)| block.contains(&line)).map_or(0, |(_, shift)| *shift);
        let end = rope.len_chars();
        selection.mapped(|at| at.saturating_add_signed(shift).min(end))
    };
    let selections = selections.map(shift);
    Outcome { edits, selections }
}

fn text_of(rope: &Rope, lines: &Range<usize>) -> String {
    rope.slice(text(rope, lines)).to_string()
}

/// The lines once more; what is selected stays with the upper or the lower ones.
pub(super) fn duplicate(rope: &Rope, selections: &Selections, direction: Direction) -> Outcome {
    let copy = |block: &Range<usize>| match direction {
        // The new ones stand above, so that carets go down with the old ones.
        Direction::Down => {
            Edit::insert(rope.line_to_char(block.start), text_of(rope, block) + "\n")
        }
        Direction::Up => Edit::insert(text(rope, block).end, format!("\n{}", text_of(rope, block))),
    };
    let edits: Vec<Edit> = blocks(rope, selections).iter().map(copy).collect();
    let side = match direction {
        Direction::Down => Side::Behind,
        Direction::Up => Side::Before,
    };
    let moves = Moves::new(&edits);
    let selections = selections.map(|selection| selection.mapped(|at| moves.of(at, side)));
    Outcome { edits, selections }
}

/// Without the lines; the caret is on the one that follows.
pub(super) fn delete(rope: &Rope, selections: &Selections) -> Outcome {
    let gone = |block: &Range<usize>| {
        let (start, end) = (rope.line_to_char(block.start), rope.len_chars());
        match block.end < rope.len_lines() {
            true => Edit::delete(start..rope.line_to_char(block.end)),
            false => Edit::delete(start.saturating_sub(1)..end),
        }
    };
    let edits: Vec<Edit> = blocks(rope, selections).iter().map(gone).collect();
    let mut after = rope.clone();
    super::change::Change::make(&mut after, &edits);
    let moves = Moves::new(&edits);
    // The column is the old one where the line is as long.
    let selections = selections.map(|selection| {
        let column = column(rope, selection.head);
        let start = moves.of(rope.line_to_char(touched(rope, selection).start), Side::Before);
        let line = after.char_to_line(start.min(after.len_chars()));
        let (start, end) = (after.line_to_char(line), line_end(&after, line));
        Selection::caret((start + column).min(end))
    });
    Outcome { edits, selections }
}

/// The lines as one, and a single one with the next; a space takes the place of line ends between code.
pub(super) fn join(rope: &Rope, selections: &Selections) -> Outcome {
    let mut edits: Vec<Edit> = Vec::new();
    for block in blocks(rope, selections) {
        let last = block.end.max(block.start + 2).min(rope.len_lines());
        let mut is_code = false;
        for above in block.start..last - 1 {
            is_code |= line(rope, above).len_chars() > 0;
            let start = rope.line_to_char(above + 1) + blanks(rope, above + 1);
            let joins_code = is_code && start < line_end(rope, above + 1);
            edits.push(Edit::new(line_end(rope, above)..start, if joins_code { " " } else { "" }));
        }
    }
    edits.dedup_by(|next, before| next.range == before.range);
    follow(edits, selections)
}
