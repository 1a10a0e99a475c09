//! Which lines of the text are folded away.
//!
//! A fold is known by its head, the line that stays. When the text has changed, the heads behind the change are found
//! by how many lines it has more or less; one that is not found there, or cannot be folded any more, is open again.

use std::{collections::HashSet, ops::Range};

use super::{glossary, text::Buffer};
use crate::cuda;

/// The folds of a text.
#[derive(Clone, Debug, Default)]
pub struct Folds {
    heads: Vec<Head>,
    /// The lines that are away, in order, none in two of them.
    hidden: Vec<Hidden>,
    /// The text that this is known for, and its lines.
    revision: Option<u64>,
    lines: usize,
    /// All that can be folded, of the text of that revision.
    known: Option<(u64, Vec<Range<usize>>)>,
}

/// Lines that are away.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hidden {
    lines: Range<usize>,
    /// How many are away before them.
    before: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Head {
    line: usize,
    text: String,
}

/// Of a text that is never folded.
pub static OPEN: Folds =
    Folds { heads: Vec::new(), hidden: Vec::new(), revision: None, lines: 0, known: None };

impl Folds {
    /// Whether a line is away.
    pub fn hides(&self, line: usize) -> bool {
        self.around(line).is_some()
    }

    /// The lines that are away around this one.
    fn around(&self, line: usize) -> Option<&Range<usize>> {
        let at = self.hidden.partition_point(|hidden| hidden.lines.end <= line);
        self.hidden.get(at).map(|hidden| &hidden.lines).filter(|lines| lines.contains(&line))
    }

    /// The last of the first ones for which something holds.
    fn last(&self, holds: impl Fn(&Hidden) -> bool) -> Option<&Hidden> {
        self.hidden.get(self.hidden.partition_point(holds).checked_sub(1)?)
    }

    /// Whether lines behind this one are away.
    pub fn is_head(&self, line: usize) -> bool {
        self.hides(line + 1) && !self.hides(line)
    }

    /// How many lines are away.
    pub fn count(&self) -> usize {
        self.hidden.last().map_or(0, |last| last.before + last.lines.len())
    }

    /// The row that a line has; that of its head where it is away.
    pub fn row(&self, line: usize) -> usize {
        let away = self.last(|hidden| hidden.lines.start <= line).map_or(0, |hidden| {
            hidden.before + hidden.lines.end.min(line + 1) - hidden.lines.start
        });
        line - away
    }

    /// The line of a row.
    pub fn line(&self, row: usize) -> usize {
        let last = self.last(|hidden| hidden.lines.start - hidden.before <= row);
        row + last.map_or(0, |hidden| hidden.before + hidden.lines.len())
    }

    /// As many lines as bring a caret from `line` so many rows up or down.
    pub fn stretched(&self, line: usize, rows: usize, down: bool) -> usize {
        if self.hidden.is_empty() {
            return rows;
        }
        let row = self.row(line);
        let to = if down { self.line(row + rows) } else { self.line(row.saturating_sub(rows)) };
        to.abs_diff(line).max(usize::from(down))
    }

    /// Looks at the text where it is another one, and opens what a caret stands in.
    pub fn follow(&mut self, buffer: &Buffer) {
        if self.heads.is_empty() {
            return;
        }
        if self.revision != Some(buffer.revision()) {
            self.move_heads(buffer);
        }
        let rope = buffer.rope();
        let stands = |line: usize| {
            buffer.selections().all().iter().any(|of| rope.char_to_line(of.head) == line)
        };
        let all = buffer.selections().all().iter().map(|of| rope.char_to_line(of.head));
        let in_hidden: Vec<usize> = all.filter(|line| self.hides(*line)).collect();
        if !in_hidden.is_empty() {
            let known = self.known(buffer).to_vec();
            self.heads.retain(|head| {
                behind(&known, head.line).is_some_and(|lines| !lines.clone().any(stands))
            });
            self.hide(buffer);
        }
    }

    /// All that can be folded.
    fn known(&mut self, buffer: &Buffer) -> &[Range<usize>] {
        let known = self.known.take().filter(|(revision, _)| *revision == buffer.revision());
        let known = known.unwrap_or_else(|| (buffer.revision(), all(&buffer.to_string())));
        &self.known.insert(known).1
    }

    /// The lines that can be folded.
    pub fn foldable(&mut self, buffer: &Buffer) -> Vec<usize> {
        self.known(buffer).iter().map(|lines| lines.start - 1).collect()
    }

    /// Whether a line can be folded.
    pub fn can_fold(&mut self, line: usize, buffer: &Buffer) -> bool {
        behind(self.known(buffer), line).is_some()
    }

    fn move_heads(&mut self, buffer: &Buffer) {
        let lines = buffer.rope().len_lines();
        let by = lines as isize - self.lines as isize;
        let known = self.known(buffer).to_vec();
        let moved = |head: &Head| {
            let places = [Some(head.line), head.line.checked_add_signed(by)];
            places.into_iter().flatten().find_map(|line| {
                behind(&known, line)?;
                let text = buffer.text(buffer.line(line));
                (by == 0 || text == head.text).then_some(Head { line, text })
            })
        };
        self.heads = self.heads.iter().filter_map(moved).collect();
        self.hide(buffer);
    }

    /// Notes which lines the heads hide.
    fn hide(&mut self, buffer: &Buffer) {
        let known = self.known(buffer).to_vec();
        let of = |head: &Head| behind(&known, head.line).cloned();
        let mut hidden: Vec<Range<usize>> = self.heads.iter().filter_map(of).collect();
        hidden.sort_by_key(|lines| (lines.start, lines.end));
        let mut apart: Vec<Range<usize>> = Vec::new();
        for lines in hidden {
            match apart.last_mut() {
                Some(last) if lines.start <= last.end => last.end = last.end.max(lines.end),
                Some(_) | None => apart.push(lines),
            }
        }
        let mut before = 0;
        let counted = |lines: Range<usize>| {
            let hidden = Hidden { lines, before };
            before += hidden.lines.len();
            hidden
        };
        self.hidden = apart.into_iter().map(counted).collect();
        (self.revision, self.lines) = (Some(buffer.revision()), buffer.rope().len_lines());
    }

    /// Folds the innermost lines around `line` that are not away yet. Gives the line that stays.
    pub fn fold(&mut self, line: usize, buffer: &Buffer) -> Option<usize> {
        let heads: HashSet<usize> = self.heads.iter().map(|head| head.line).collect();
        let around = |lines: &&Range<usize>| {
            // The line that closes it belongs to it.
            (lines.start - 1..=lines.end).contains(&line) && !heads.contains(&(lines.start - 1))
        };
        let found = self.known(buffer).iter().filter(around).max_by_key(|lines| lines.start);
        let line = found?.start - 1;
        self.heads.push(Head { line, text: buffer.text(buffer.line(line)) });
        self.hide(buffer);
        Some(line)
    }

    /// Shows again what is away behind a line.
    pub fn unfold(&mut self, line: usize, buffer: &Buffer) {
        self.heads.retain(|head| head.line != line);
        self.hide(buffer);
    }

    /// Folds all that can be, but nothing within what is.
    pub fn fold_all(&mut self, buffer: &Buffer) {
        let mut end = 0;
        let known = self.known(buffer).to_vec();
        let outer = known.into_iter().filter(|lines| {
            let is_outer = lines.start > end;
            end = end.max(lines.end);
            is_outer
        });
        let head = |line: usize| Head { line, text: buffer.text(buffer.line(line)) };
        self.heads = outer.map(|lines| head(lines.start - 1)).collect();
        self.hide(buffer);
    }

    /// Shows everything.
    pub fn unfold_all(&mut self) {
        *self = Self::default();
    }
}

/// What can be folded behind a line, of all that can be, in order.
fn behind(known: &[Range<usize>], line: usize) -> Option<&Range<usize>> {
    let at = known.binary_search_by_key(&(line + 1), |lines| lines.start).ok()?;
    known.get(at)
}

/// All that can be folded in a scene's text: of its code, and the tables of its manifest.
fn all(text: &str) -> Vec<Range<usize>> {
    let mut found = cuda::folds(text);
    found.extend(glossary::tables_at(text));
    found.sort_by_key(|lines| (lines.start, std::cmp::Reverse(lines.end)));
    found.dedup_by_key(|lines| lines.start);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::text::{Command, Selection, Selections};

    const TEXT: &str = "/*---\n[constant]\nn = 1\nm = 2\n\n[[pass]]\nkernel = \"k\"\n---*/\nvoid f() {\n  if (1) {\n    g();\n  }\n}\nint end;\n";

    fn shown(folds: &Folds, buffer: &Buffer) -> Vec<String> {
        let rows = buffer.rope().len_lines() - folds.count();
        (0..rows).map(|row| buffer.text(buffer.line(folds.line(row)))).collect()
    }

    fn at_line(buffer: &mut Buffer, line: usize) {
        buffer.select(Selections::one(Selection::caret(buffer.at(line, 0))));
    }

    #[test]
    fn the_innermost_lines_fold_first() {
        let buffer = Buffer::new(TEXT);
        let mut folds = Folds::default();
        assert_eq!(folds.fold(10, &buffer), Some(9));
        assert!(folds.is_head(9) && folds.hides(10) && !folds.hides(11));
        assert_eq!(folds.fold(10, &buffer), Some(8));
        assert_eq!(shown(&folds, &buffer)[8..], ["void f() {", "}", "int end;", ""]);
        folds.unfold(8, &buffer);
        assert_eq!(
            shown(&folds, &buffer)[8..],
            ["void f() {", "  if (1) {", "  }", "}", "int end;", ""]
        );
        folds.unfold(9, &buffer);
        assert_eq!(folds.count(), 0);
        assert_eq!(folds.fold(13, &buffer), None);
    }

    #[test]
    fn tables_of_the_manifest_fold_and_all_does() {
        let buffer = Buffer::new(TEXT);
        let mut folds = Folds::default();
        assert_eq!(folds.fold(3, &buffer), Some(1));
        assert_eq!(shown(&folds, &buffer)[..4], ["/*---", "[constant]", "", "[[pass]]"]);
        folds.fold_all(&buffer);
        assert_eq!(shown(&folds, &buffer), ["/*---", "void f() {", "}", "int end;", ""]);
        for line in 0..buffer.rope().len_lines() {
            let row = folds.row(line);
            assert!(folds.hides(line) || folds.line(row) == line, "{line}");
        }
        folds.unfold_all();
        assert_eq!(folds.count(), 0);
    }

    #[test]
    fn folds_stay_at_their_lines_while_the_text_changes() {
        let mut buffer = Buffer::new(TEXT);
        let mut folds = Folds::default();
        folds.fold(10, &buffer);
        // A line more before it.
        at_line(&mut buffer, 7);
        buffer.run(&Command::Break, 0.0);
        folds.follow(&buffer);
        assert!(folds.is_head(10) && folds.hides(11));
        buffer.run(&Command::Undo, 0.0);
        folds.follow(&buffer);
        assert!(folds.is_head(9) && folds.hides(10));
        // Its own line is edited.
        buffer.select(Selections::one(Selection::caret(buffer.line(9).end)));
        buffer.run(&Command::Type(" //".into()), 0.0);
        folds.follow(&buffer);
        assert!(folds.hides(10));
        // Who goes into it sees it.
        at_line(&mut buffer, 10);
        folds.follow(&buffer);
        assert_eq!(folds.count(), 0);
    }

    #[test]
    fn carets_go_over_what_is_folded() {
        let buffer = Buffer::new(TEXT);
        let mut folds = Folds::default();
        folds.fold(10, &buffer);
        assert_eq!(folds.stretched(9, 1, true), 2);
        assert_eq!(folds.stretched(11, 1, false), 2);
        assert_eq!(folds.stretched(8, 1, true), 1);
        assert_eq!((folds.stretched(0, 1, false), folds.stretched(0, 1, true)), (0, 1));
    }
}
