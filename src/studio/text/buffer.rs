//! A text with its carets and its history.

use std::{
    fmt,
    ops::Range,
    sync::atomic::{AtomicU64, Ordering},
};

use ropey::Rope;

use super::{
    brackets::{Brackets, Nest},
    change::{self, Change, Edit, Moves, Side},
    command::Command,
    history::{History, Kind, Letters},
    indentation,
    limit::{LONGEST, Limit, MOST_CARETS},
    line::{column, line_end},
    lines::{self, Outcome},
    motion::{self, Motion},
    occurrence,
    selection::{Selection, Selections},
};

/// A text that is edited.
#[derive(Clone, Debug)]
pub struct Buffer {
    rope: Rope,
    selections: Selections,
    history: History,
    revision: u64,
    refused: Option<Limit>,
}

/// Numbers texts, so that no two different ones have the same, of whatever buffer.
fn next_revision() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Buffer {
    /// `text` with a caret at its start and nothing to undo.
    pub fn new(text: &str) -> Self {
        Self {
            rope: Rope::from_str(text),
            selections: Selections::default(),
            history: History::default(),
            revision: next_revision(),
            refused: None,
        }
    }

    /// Why the last command was not done, if it was not.
    pub fn refused(&self) -> Option<Limit> {
        self.refused
    }

    /// The text. A copy of it takes no time.
    pub fn rope(&self) -> &Rope {
        &self.rope
    }

    /// What can be undone and done again.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// What another buffer had for the same text: what can be undone, and its carets. Returns whether it is taken over:
    /// one of another text is not.
    pub fn take_over(&mut self, history: History, selections: &Selections) -> bool {
        let Some(history) = history.of(&self.rope) else { return false };
        self.history = history;
        let last = self.rope.len_chars();
        self.selections = selections.map(|of| Selection {
            anchor: of.anchor.min(last),
            head: of.head.min(last),
            column: None,
        });
        true
    }

    /// The carets and what they select.
    pub fn selections(&self) -> &Selections {
        &self.selections
    }

    /// A number that only this text has: what was computed for it is right as long as it stays.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The line and the column of a character.
    pub fn place(&self, at: usize) -> (usize, usize) {
        let at = at.min(self.rope.len_chars());
        let line = self.rope.char_to_line(at);
        (line, at - self.rope.line_to_char(line))
    }

    /// The character at a line and a column, or what is nearest to them.
    pub fn at(&self, line: usize, column: usize) -> usize {
        let line = line.min(self.rope.len_lines() - 1);
        let end = line_end(&self.rope, line);
        self.rope.line_to_char(line).saturating_add(column).min(end)
    }

    /// Where a line starts and where it ends, without its `\n`.
    pub fn line(&self, line: usize) -> Range<usize> {
        let line = line.min(self.rope.len_lines() - 1);
        self.rope.line_to_char(line)..line_end(&self.rope, line)
    }

    /// The range of the word at a place, or of the blanks or signs there.
    pub fn word(&self, at: usize) -> Range<usize> {
        motion::word_at(&self.rope, at.min(self.rope.len_chars()))
    }

    /// The text in a range.
    pub fn text(&self, range: Range<usize>) -> String {
        self.rope.get_slice(range).map(|slice| slice.to_string()).unwrap_or_default()
    }

    /// What is to be copied: what is selected, a line for each selection; without one, the carets' lines.
    pub fn copied(&self) -> String {
        let all = self.selections.all();
        if all.iter().all(Selection::is_empty) {
            let line = |s: &Selection| self.text(self.line(self.rope.char_to_line(s.head))) + "\n";
            let mut lines: Vec<(usize, String)> =
                all.iter().map(|s| (self.rope.char_to_line(s.head), line(s))).collect();
            lines.dedup_by_key(|(line, _)| *line);
            return lines.into_iter().map(|(_, text)| text).collect();
        }
        let texts: Vec<_> =
            all.iter().filter(|s| !s.is_empty()).map(|s| self.text(s.range())).collect();
        texts.join("\n")
    }

    /// Puts carets and selections where `selections` has them, unless they are too many.
    pub fn select(&mut self, selections: Selections) {
        let end = self.rope.len_chars();
        let selections =
            selections.map(|s| Selection { column: s.column, ..s.mapped(|at| at.min(end)) });
        self.apply(selected(selections), Kind::Whole, 0.0);
    }

    /// Makes the text `text`, as one change; carets stay where they are as far as they can.
    pub fn replace_all(&mut self, text: &str, now: f64) -> bool {
        let edit = change::difference(&self.rope, text);
        self.replace(vec![(edit.range, edit.text)], now)
    }

    /// Puts texts in the place of others, as one change. The ranges are in order and do not overlap.
    pub fn replace(&mut self, replacements: Vec<(Range<usize>, String)>, now: f64) -> bool {
        let edits: Vec<Edit> =
            replacements.into_iter().map(|(range, text)| Edit::new(range, text)).collect();
        let moves = Moves::new(&edits);
        let selections = self.selections.map(|s| s.mapped(|at| moves.of(at, Side::Before)));
        self.apply(Outcome { edits, selections }, Kind::Whole, now)
    }

    /// Does `command` at `now`, in seconds of any clock; gives whether the text is another one.
    pub fn run(&mut self, command: &Command, now: f64) -> bool {
        let (rope, selections) = (&self.rope, &self.selections);
        let outcome = match command {
            Command::Type(text) => return self.type_letters(text, now),
            Command::Paste(text) => return self.paste(text, now),
            Command::Break => return self.break_line(now),
            Command::Delete(motion) => return self.delete(*motion, now),
            Command::Backspace => return self.backspace(now),
            Command::Cut => return self.cut(now),
            Command::Indent => return self.indent(now),
            Command::Undo => return self.travel(History::undo),
            Command::Redo => return self.travel(History::redo),
            Command::Unindent => lines::unindent(rope, selections),
            Command::ToggleComment(mark) => lines::toggle_comment(rope, selections, mark),
            Command::MoveLines(direction) => lines::move_lines(rope, selections, *direction),
            Command::DuplicateLines(direction) => lines::duplicate(rope, selections, *direction),
            Command::DeleteLines => lines::delete(rope, selections),
            Command::JoinLines => lines::join(rope, selections),
            Command::Move(motion) => selected(selections.map(|s| motion.of(rope, s))),
            Command::Select(motion) => selected(selections.map(|s| motion.selecting(rope, s))),
            Command::AddNext => selected(occurrence::add_next(rope, selections)),
            Command::AddAll => selected(occurrence::all(rope, selections)),
            Command::AddCaret(direction) => {
                selected(occurrence::add_caret(rope, selections, *direction))
            }
            Command::SelectAll => selected(Selections::one(Selection::new(0, rope.len_chars()))),
            Command::SelectLine => selected(selections.map(|s| line_of(rope, s))),
            Command::SelectBracket => selected(self.brackets_around()),
            Command::GoToBracket => selected(self.to_brackets()),
            Command::OneCaret => {
                selected(Selections::one(Selection::caret(selections.primary().head)))
            }
        };
        self.apply(outcome, Kind::Whole, now)
    }

    fn apply(&mut self, Outcome { edits, selections }: Outcome, kind: Kind, now: f64) -> bool {
        self.refused = self.limit(&edits, &selections);
        if self.refused.is_some() {
            return false;
        }
        let change = Change::make(&mut self.rope, &edits);
        let before = std::mem::replace(&mut self.selections, selections);
        let Some(change) = change else { return false };
        self.history.note(change, kind, now, [&before, &self.selections]);
        self.revision = next_revision();
        true
    }

    /// What forbids these edits and selections. Those that make a text shorter are always well.
    fn limit(&self, edits: &[Edit], selections: &Selections) -> Option<Limit> {
        let carets = selections.all().len();
        if carets > MOST_CARETS && carets > self.selections.all().len() {
            return Some(Limit::Carets);
        }
        let added: usize = edits.iter().map(|edit| edit.text.len()).sum();
        let removed: usize = edits.iter().map(|edit| edit.range.len()).sum();
        let is_too_long = added > removed && self.rope.len_bytes() + added - removed > LONGEST;
        is_too_long.then_some(Limit::Length)
    }

    fn travel(&mut self, step: fn(&mut History, &mut Rope) -> Option<Selections>) -> bool {
        let Some(selections) = step(&mut self.history, &mut self.rope) else { return false };
        self.selections = selections;
        self.revision = next_revision();
        true
    }

    /// Each selection is replaced as `put` says; the carets are behind what is put in.
    fn put(&mut self, kind: Kind, now: f64, put: impl Fn(usize, &Selection) -> Put) -> bool {
        let all = self.selections.all();
        let (mut edits, mut carets) =
            (Vec::with_capacity(all.len()), Vec::with_capacity(all.len()));
        let (mut end, mut added, mut removed, mut bytes) = (0, 0, 0, 0);
        for (n, selection) in all.iter().enumerate() {
            let Put { mut edit, behind } = put(n, selection);
            bytes += edit.text.len();
            if bytes > LONGEST {
                // Before many carets have filled the memory with a long text.
                self.refused = Some(Limit::Length);
                return false;
            }
            // What one takes from beside its caret may be another one's already.
            edit.range = edit.range.start.max(end)..edit.range.end.max(end);
            end = edit.range.end;
            added += edit.text.chars().count();
            removed += edit.range.len();
            carets.push(Selection::caret(end + added - removed - behind));
            edits.push(edit);
        }
        let selections = Selections::new(carets, self.selections.primary_index());
        self.apply(Outcome { edits, selections }, kind, now)
    }

    fn type_letters(&mut self, text: &str, now: f64) -> bool {
        let rope = self.rope.clone();
        let openings = match text.chars().next() {
            Some(closing @ ('}' | ')' | ']')) if text.len() == 1 => {
                let places: Vec<usize> =
                    self.selections.all().iter().map(|s| s.range().start).collect();
                Some(indentation::openings(&rope, &places, closing))
            }
            Some(_) | None => None,
        };
        self.put(Kind::Typed(Letters::of(text)), now, |n, selection| {
            let range = selection.range();
            let surplus = openings
                .as_ref()
                .map_or(0, |openings| indentation::surplus(&rope, range.start, openings[n]));
            Edit::new(range.start - surplus..range.end, text).into()
        })
    }

    fn paste(&mut self, text: &str, now: f64) -> bool {
        let text = text.replace("\r\n", "\n");
        let lines: Vec<&str> = text.strip_suffix('\n').unwrap_or(&text).split('\n').collect();
        let is_one_each = !self.selections.is_one() && lines.len() == self.selections.all().len();
        self.put(Kind::Whole, now, |n, selection| {
            let own = if is_one_each { lines[n] } else { &text };
            Edit::new(selection.range(), own).into()
        })
    }

    fn break_line(&mut self, now: f64) -> bool {
        let rope = self.rope.clone();
        self.put(Kind::Typed(Letters::Blank), now, |_, selection| {
            let range = selection.range();
            let text = format!("\n{}", indentation::behind_break(&rope, range.start));
            let closing = indentation::closing_line(&rope, range.end).filter(|_| range.is_empty());
            let Some((blanks, indentation)) = closing else { return Edit::new(range, text).into() };
            let behind = 1 + indentation.chars().count();
            let edit = Edit::new(range.start..range.end + blanks, format!("{text}\n{indentation}"));
            Put { edit, behind }
        })
    }

    fn delete(&mut self, motion: Motion, now: f64) -> bool {
        let rope = self.rope.clone();
        self.remove(now, |selection| motion.selecting(&rope, selection).range())
    }

    fn backspace(&mut self, now: f64) -> bool {
        let rope = self.rope.clone();
        self.remove(now, |selection| {
            let at = selection.head;
            at.saturating_sub(indentation::backspace(&rope, at))..at
        })
    }

    /// Deletes what is selected, else what `range` says.
    fn remove(&mut self, now: f64, range: impl Fn(&Selection) -> Range<usize>) -> bool {
        let own = |s: &Selection| if s.is_empty() { range(s) } else { s.range() };
        let primary = self.selections.primary();
        let letters = Letters::of(&self.text(own(&primary)));
        let kind = if primary.is_empty() { Kind::Deleted(letters) } else { Kind::Whole };
        self.put(kind, now, |_, selection| Edit::delete(own(selection)).into())
    }

    fn cut(&mut self, now: f64) -> bool {
        match self.selections.all().iter().all(Selection::is_empty) {
            true => self.run(&Command::DeleteLines, now),
            false => self.put(Kind::Whole, now, |_, s| Edit::delete(s.range()).into()),
        }
    }

    fn indent(&mut self, now: f64) -> bool {
        let is_of_lines = |s: &Selection| lines::touched(&self.rope, s).len() > 1;
        if self.selections.all().iter().any(is_of_lines) {
            return self.apply(lines::indent(&self.rope, &self.selections), Kind::Whole, now);
        }
        let rope = self.rope.clone();
        self.put(Kind::Typed(Letters::Blank), now, |_, selection| {
            let range = selection.range();
            let column = column(&rope, range.start);
            Edit::new(range, indentation::to_next_stop(column)).into()
        })
    }

    fn brackets_around(&self) -> Selections {
        let nest = Nest::new(&Brackets::new(&self.rope));
        self.selections.map(|selection| match nest.around(&selection.range()) {
            Some(range) => Selection::new(range.start, range.end),
            None => *selection,
        })
    }

    fn to_brackets(&self) -> Selections {
        let brackets = Brackets::new(&self.rope);
        self.selections.map(|selection| match brackets.beside(selection.head) {
            Some([_, partner]) => Selection::caret(partner),
            None => *selection,
        })
    }
}

/// What takes the place of a selection, and how many characters of it are behind the caret.
struct Put {
    edit: Edit,
    behind: usize,
}

impl From<Edit> for Put {
    fn from(edit: Edit) -> Self {
        Self { edit, behind: 0 }
    }
}

fn selected(selections: Selections) -> Outcome {
    Outcome { edits: Vec::new(), selections }
}

/// The lines that a selection touches, and the next one where it is those already.
fn line_of(rope: &Rope, selection: &Selection) -> Selection {
    let range = selection.range();
    let start = rope.line_to_char(rope.char_to_line(range.start));
    let next = |at: usize| match rope.char_to_line(at) + 1 {
        line if line < rope.len_lines() => rope.line_to_char(line),
        _ => rope.len_chars(),
    };
    Selection::new(start, next(range.end))
}

impl fmt::Display for Buffer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rope.chunks().try_for_each(|chunk| formatter.write_str(chunk))
    }
}

impl From<&str> for Buffer {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Buffer {
    fn from(text: String) -> Self {
        Self::new(&text)
    }
}

impl<T: AsRef<str> + ?Sized> PartialEq<T> for Buffer {
    fn eq(&self, text: &T) -> bool {
        self.rope == text.as_ref()
    }
}
