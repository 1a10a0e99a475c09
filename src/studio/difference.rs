//! What a text has other than one before it, in lines.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};

/// So many lines that are alike are shown around each change.
const AROUND: usize = 3;
/// After so long the lines that are left are told as one change: texts may have any length.
const LONGEST: Duration = Duration::from_millis(200);

/// Lines that are others, from 0: those that were there, and those in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The lines of the text before.
    pub before: Range<usize>,
    /// The lines of the present text.
    pub now: Range<usize>,
}

/// A row of what is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// So many lines that are alike, which are not shown.
    Folded(usize),
    /// A line that is alike: its numbers before and now, from 0.
    Same(usize, usize),
    /// Here this change begins.
    Change(usize),
    /// A line that was there before.
    Removed(usize),
    /// A line that is there now.
    Added(usize),
}

/// The lines of a text with their ends, as an editor counts them; none behind the last end.
pub fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// What the lines `now` have other than those `before`, in order.
pub fn changes(before: &[&str], now: &[&str]) -> Vec<Change> {
    let deadline = Instant::now() + LONGEST;
    let ops = capture_diff_slices_deadline(Algorithm::Myers, before, now, Some(deadline));
    let mut found: Vec<Change> = Vec::new();
    for op in ops.iter().filter(|op| op.tag() != DiffTag::Equal) {
        let change = Change { before: op.old_range(), now: op.new_range() };
        match found.last_mut() {
            // With nothing alike between them they are one.
            Some(last)
                if last.before.end == change.before.start && last.now.end == change.now.start =>
            {
                (last.before.end, last.now.end) = (change.before.end, change.now.end);
            }
            Some(_) | None => found.push(change),
        }
    }
    found
}

/// The rows that show these changes of a text that has `count` lines now, with the lines around them.
pub fn rows(changes: &[Change], count: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    // Behind the last change.
    let (mut before, mut now) = (0, 0);
    for (n, change) in changes.iter().enumerate() {
        let after = if n == 0 { 0 } else { AROUND };
        alike(&mut rows, (before, now), change.now.start - now, [after, AROUND]);
        rows.push(Row::Change(n));
        rows.extend(change.before.clone().map(Row::Removed));
        rows.extend(change.now.clone().map(Row::Added));
        (before, now) = (change.before.end, change.now.end);
    }
    if !changes.is_empty() {
        alike(&mut rows, (before, now), count - now, [AROUND, 0]);
    }
    rows
}

/// Adds `count` lines that are alike, from `(before, now)` on: so many of the first and the last are shown.
fn alike(
    rows: &mut Vec<Row>,
    (before, now): (usize, usize),
    count: usize,
    [first, last]: [usize; 2],
) {
    let line = |n: usize| Row::Same(before + n, now + n);
    // A row that says so takes the place of one line.
    if count <= first + last + 1 {
        return rows.extend((0..count).map(line));
    }
    rows.extend((0..first).map(line));
    rows.push(Row::Folded(count - first - last));
    rows.extend((count - last..count).map(line));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(before: &str, now: &str) -> Vec<Change> {
        changes(&lines(before), &lines(now))
    }

    #[test]
    fn lines_that_are_others_are_found_in_both_texts() {
        let change = |before, now| Change { before, now };
        assert_eq!(of("a\nb\nc\n", "a\nx\ny\nc\nd\n"), [change(1..2, 1..3), change(3..3, 4..5)]);
        assert_eq!(of("a\nb", "a\nb\n"), [change(1..2, 1..2)], "its end is another");
        assert_eq!(of("", "a\n"), [change(0..0, 0..1)]);
        assert!(of("a\n", "a\n").is_empty());
    }

    #[test]
    fn what_is_alike_is_folded_but_around_changes() {
        let text: String = (0..20).map(|line| format!("{line}\n")).collect();
        let now = text.replace("10\n", "ten\n");
        let shown = rows(&of(&text, &now), 20);
        let same = |lines: Range<usize>| lines.map(|line| Row::Same(line, line));
        let mut wanted = vec![Row::Folded(7)];
        wanted.extend(same(7..10));
        wanted.extend([Row::Change(0), Row::Removed(10), Row::Added(10)]);
        wanted.extend(same(11..14));
        wanted.push(Row::Folded(6));
        assert_eq!(shown, wanted);
        // A single line takes no more space than a row that says that it is not shown.
        let near = text.replace("4\n", "four\n");
        assert_eq!(rows(&of(&text, &near), 20)[..2], [Row::Same(0, 0), Row::Same(1, 1)]);
        assert!(rows(&[], 20).is_empty());
    }
}
