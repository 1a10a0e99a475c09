//! The fields above the text: what is looked for, what takes its place, a line's number.

use std::ops::Range;

use egui::{
    Button, Frame, Id, Margin, RichText, TextEdit, Ui,
    text::{CCursor, CCursorRange},
    text_edit::TextEditState,
};

use crate::studio::{
    icons::{self, Icon},
    shortcuts::Toggle,
    text::{Buffer, Finder, Query, Selection, Selections},
    theme,
};

/// The width of what stands beside a field.
const AROUND: f32 = 252.0;

/// Which fields are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    /// None.
    #[default]
    Nothing,
    /// What is looked for.
    Find,
    /// That, and what takes its place.
    Replace,
    /// A line's number.
    Line,
}

/// The fields, and what was found.
#[derive(Debug, Default)]
pub struct Bar {
    shown: Shown,
    query: Query,
    template: String,
    line: String,
    /// What was found for which text and query, or why nothing can be.
    found: Option<(u64, Query)>,
    finder: Option<Finder>,
    matches: Vec<Range<usize>>,
    /// Whether there are more of them.
    is_more: bool,
    error: Option<String>,
}

/// What has become of the bar in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The carets have moved.
    pub moved: bool,
    /// The text has changed.
    pub changed: bool,
    /// The editor gets the keyboard back.
    pub leaves: bool,
}

fn find_id() -> Id {
    Id::unique("editor find")
}

fn template_id() -> Id {
    Id::unique("editor replacement")
}

fn line_id() -> Id {
    Id::unique("editor line")
}

impl Bar {
    /// The fields that may have the keyboard.
    pub fn fields() -> Vec<Id> {
        vec![find_id(), template_id(), line_id()]
    }

    /// Shows `shown` and gives its first field the keyboard. What is selected is looked for.
    pub fn open(&mut self, ui: &Ui, shown: Shown, buffer: &Buffer) {
        let selected = buffer.text(buffer.selections().primary().range());
        if matches!(shown, Shown::Find | Shown::Replace)
            && !selected.is_empty()
            && !selected.contains('\n')
        {
            self.query.text = if self.query.regex { regex::escape(&selected) } else { selected };
        }
        self.line.clear();
        self.shown = shown;
        let (id, text) = match shown {
            Shown::Nothing => return,
            Shown::Find | Shown::Replace => (find_id(), &self.query.text),
            Shown::Line => (line_id(), &self.line),
        };
        let mut state = TextEditState::load(ui.ctx(), id).unwrap_or_default();
        let all = CCursorRange::two(CCursor::new(0), CCursor::new(text.chars().count()));
        state.cursor.set_char_range(Some(all));
        state.store(ui.ctx(), id);
        ui.memory_mut(|memory| memory.request_focus(id));
    }

    /// Whether any field is shown.
    pub fn is_open(&self) -> bool {
        self.shown != Shown::Nothing
    }

    /// Shows no field any more.
    pub fn close(&mut self) {
        self.shown = Shown::Nothing;
    }

    /// What is found, where fields for it are shown.
    pub fn marked(&self) -> &[Range<usize>] {
        match self.shown {
            Shown::Find | Shown::Replace => &self.matches,
            Shown::Nothing | Shown::Line => &[],
        }
    }

    /// Looks for the query, unless what is known is of this text.
    pub fn update(&mut self, buffer: &Buffer) {
        let key = (buffer.revision(), self.query.clone());
        if self.found.as_ref() == Some(&key) {
            return;
        }
        (self.finder, self.error) = match Finder::new(&self.query) {
            Ok(finder) => (finder, None),
            Err(error) => (None, Some(error)),
        };
        let found = self.finder.as_ref().map(|finder| finder.matches(buffer.rope()));
        self.is_more = found.as_ref().is_some_and(|found| !found.is_all);
        self.matches = found.map_or_else(Vec::new, |found| found.matches);
        self.found = Some(key);
    }

    /// Selects the next match behind what is selected, or the one before; from the other end where there is none.
    pub fn step(&mut self, buffer: &mut Buffer, back: bool) -> bool {
        self.update(buffer);
        let selected = buffer.selections().primary().range();
        let found = match back {
            true => {
                self.matches.iter().rev().find(|m| m.end <= selected.start).or(self.matches.last())
            }
            false => self.matches.iter().find(|m| m.start >= selected.end).or(self.matches.first()),
        };
        select(buffer, found.cloned())
    }

    /// Selects the first match that does not begin before what is selected.
    fn settle(&mut self, buffer: &mut Buffer) -> bool {
        self.update(buffer);
        let start = buffer.selections().primary().range().start;
        let found = self.matches.iter().find(|m| m.start >= start).or(self.matches.first());
        select(buffer, found.cloned())
    }

    /// Replaces the match that is selected, and selects the next one.
    fn replace_one(&mut self, buffer: &mut Buffer, now: f64) -> Outcome {
        self.update(buffer);
        let selected = buffer.selections().primary().range();
        if !self.matches.contains(&selected) {
            return Outcome { moved: self.step(buffer, false), ..Outcome::default() };
        }
        let changed = self.replace_within(buffer, &selected, now);
        let moved = self.step(buffer, false);
        Outcome { moved, changed, leaves: false }
    }

    fn replace_within(&mut self, buffer: &mut Buffer, range: &Range<usize>, now: f64) -> bool {
        let Some(finder) = &self.finder else { return false };
        let Ok(replacements) = finder.replacements(buffer.rope(), range, &self.template) else {
            self.error = Some("Too many matches to be replaced at once".to_owned());
            return false;
        };
        let end = replacements.first().map(|(range, text)| range.start + text.chars().count());
        let is_one = replacements.len() == 1;
        let changed = buffer.replace(replacements, now);
        if let Some(end) = end.filter(|_| is_one) {
            buffer.select(Selections::one(Selection::caret(end)));
        }
        changed
    }

    /// Replaces all matches.
    pub fn replace_all(&mut self, buffer: &mut Buffer, now: f64) -> Outcome {
        self.update(buffer);
        let all = 0..buffer.rope().len_chars();
        Outcome { changed: self.replace_within(buffer, &all, now), ..Outcome::default() }
    }

    /// The fields, where any are open. Gives what they have done with `buffer`.
    pub fn show(&mut self, ui: &mut Ui, buffer: &mut Buffer, now: f64) -> Outcome {
        let rows = match self.shown {
            Shown::Nothing => return Outcome::default(),
            Shown::Find | Shown::Line => 1.0,
            Shown::Replace => 2.0,
        };
        let margin = Margin::symmetric(theme::PADDING, 5);
        let frame = Frame::new().fill(theme::panel()).inner_margin(margin);
        let panel =
            egui::Panel::top("editor bar").exact_size(rows * 24.0 + (rows - 1.0) * 4.0 + 10.0);
        let shown = panel.frame(frame).show(ui, |ui| {
            ui.spacing_mut().item_spacing = egui::vec2(4.0, 4.0);
            match self.shown {
                Shown::Nothing => Outcome::default(),
                Shown::Line => self.line_row(ui, buffer),
                Shown::Find => self.find_row(ui, buffer),
                Shown::Replace => {
                    let found = self.find_row(ui, buffer);
                    let replaced = self.replace_row(ui, buffer, now);
                    Outcome {
                        moved: found.moved || replaced.moved,
                        changed: replaced.changed,
                        leaves: found.leaves || replaced.leaves,
                    }
                }
            }
        });
        shown.inner
    }

    /// What Enter means in the field that has the keyboard.
    pub fn accept(&mut self, ui: &Ui, buffer: &mut Buffer, back: bool, now: f64) -> Outcome {
        let in_template = ui.memory(|memory| memory.has_focus(template_id()));
        match self.shown {
            Shown::Nothing => Outcome::default(),
            Shown::Replace if in_template && !back => self.replace_one(buffer, now),
            Shown::Find | Shown::Replace => {
                Outcome { moved: self.step(buffer, back), ..Outcome::default() }
            }
            Shown::Line => match target(&self.line) {
                Some((line, column)) => {
                    let at = buffer.at(line - 1, column - 1);
                    buffer.select(Selections::one(Selection::caret(at)));
                    Outcome { moved: true, changed: false, leaves: true }
                }
                None => Outcome::default(),
            },
        }
    }

    /// Puts the keyboard into the other field, where there are two.
    pub fn other_field(&self, ui: &Ui) {
        if self.shown == Shown::Replace {
            let in_template = ui.memory(|memory| memory.has_focus(template_id()));
            let other = if in_template { find_id() } else { template_id() };
            ui.memory_mut(|memory| memory.request_focus(other));
        }
    }

    /// Changes how it is looked for.
    pub fn toggle(&mut self, toggle: Toggle, buffer: &mut Buffer) {
        let on = match toggle {
            Toggle::Case => &mut self.query.case,
            Toggle::Words => &mut self.query.words,
            Toggle::Regex => &mut self.query.regex,
        };
        *on = !*on;
        self.settle(buffer);
    }

    fn find_row(&mut self, ui: &mut Ui, buffer: &mut Buffer) -> Outcome {
        let mut outcome = Outcome::default();
        ui.horizontal(|ui| {
            let before = self.query.clone();
            let width = (ui.available_width() - AROUND).max(60.0);
            let is_wrong = self.error.is_some();
            field(ui, find_id(), &mut self.query.text, "find", width, is_wrong);
            toggle(
                ui,
                &mut self.query.case,
                "Aa",
                "Capital letters are told from small ones (Alt+C)",
            );
            toggle(ui, &mut self.query.words, "ab", "Whole words only (Alt+W)");
            toggle(ui, &mut self.query.regex, ".*", "A regular expression (Alt+R)");
            if self.query != before {
                outcome.moved |= self.settle(buffer);
            }
            self.count(ui, buffer);
            let previous = icons::small_button(ui, Icon::Up, "Previous match (Shift+F3)").clicked();
            let next = icons::small_button(ui, Icon::Down, "Next match (F3, Enter)").clicked();
            if previous || next {
                outcome.moved |= self.step(buffer, previous);
            }
            outcome.leaves = icons::small_button(ui, Icon::Close, "Close (Escape)").clicked();
        });
        outcome
    }

    /// Which match of how many is selected.
    fn count(&mut self, ui: &mut Ui, buffer: &Buffer) {
        self.update(buffer);
        let selected = buffer.selections().primary().range();
        let current = self.matches.binary_search_by_key(&selected.start, |found| found.start);
        let current = current.ok().filter(|n| self.matches[*n] == selected);
        let more = if self.is_more { "+" } else { "" };
        let (text, color) = match (&self.error, current, self.matches.len()) {
            (Some(_), ..) if self.finder.is_some() => ("too many".to_owned(), theme::error()),
            (Some(_), ..) => ("not valid".to_owned(), theme::error()),
            (None, ..) if self.query.text.is_empty() => (String::new(), theme::weak()),
            (None, _, 0) => ("none".to_owned(), theme::warning()),
            (None, Some(n), count) => (format!("{} of {count}{more}", n + 1), theme::weak()),
            (None, None, count) => (format!("{count}{more}"), theme::weak()),
        };
        let text = RichText::new(text).size(11.5).color(color);
        let layout = egui::Layout::left_to_right(egui::Align::Center);
        ui.allocate_ui_with_layout(egui::vec2(68.0, 22.0), layout, |ui| {
            ui.set_min_width(68.0);
            let label = ui.add(egui::Label::new(text).truncate());
            if let Some(error) = &self.error {
                label.on_hover_text(error);
            }
        });
    }

    fn replace_row(&mut self, ui: &mut Ui, buffer: &mut Buffer, now: f64) -> Outcome {
        let mut outcome = Outcome::default();
        ui.horizontal(|ui| {
            let width = (ui.available_width() - AROUND).max(60.0);
            field(ui, template_id(), &mut self.template, "replace with", width, false);
            let tip = "Replace this match and go to the next (Enter)";
            if ui.button(RichText::new("Replace").size(12.0)).on_hover_text(tip).clicked() {
                outcome = self.replace_one(buffer, now);
            }
            let tip = "Replace all matches (Ctrl+Alt+Enter)";
            if ui.button(RichText::new("Replace all").size(12.0)).on_hover_text(tip).clicked() {
                outcome = self.replace_all(buffer, now);
            }
        });
        outcome
    }

    fn line_row(&mut self, ui: &mut Ui, buffer: &mut Buffer) -> Outcome {
        let mut outcome = Outcome::default();
        ui.horizontal(|ui| {
            let count = buffer.rope().len_lines();
            let hint = format!("line of 1 to {count}, or line:column");
            let is_wrong = !self.line.is_empty() && target(&self.line).is_none();
            let width = (ui.available_width() - 36.0).max(60.0);
            field(ui, line_id(), &mut self.line, &hint, width, is_wrong);
            outcome.leaves |= icons::small_button(ui, Icon::Close, "Close (Escape)").clicked();
        });
        outcome
    }
}

fn select(buffer: &mut Buffer, range: Option<Range<usize>>) -> bool {
    let Some(range) = range else { return false };
    buffer.select(Selections::one(Selection::new(range.start, range.end)));
    true
}

/// The line and the column (from 1) that `text` names: `12`, `12:5`.
fn target(text: &str) -> Option<(usize, usize)> {
    let (line, column) = text.trim().split_once(':').unwrap_or((text.trim(), "1"));
    let number = |text: &str| text.trim().parse().ok().filter(|n: &usize| *n > 0);
    Some((number(line)?, number(column)?))
}

/// A field of one line.
fn field(ui: &mut Ui, id: Id, text: &mut String, hint: &str, width: f32, is_wrong: bool) {
    let color = if is_wrong { theme::error() } else { theme::text() };
    let edit = TextEdit::singleline(text)
        .id(id)
        .font(theme::code_font(12.5))
        .text_color(color)
        .hint_text(RichText::new(hint).size(12.5))
        .desired_width(width);
    ui.add(edit);
}

fn toggle(ui: &mut Ui, on: &mut bool, name: &str, tip: &str) {
    let color = if *on { theme::accent() } else { theme::weak() };
    let text = RichText::new(name).monospace().size(11.5).color(color);
    let fill = if *on { theme::raised() } else { theme::panel() };
    if ui
        .add(Button::new(text).fill(fill).min_size(egui::vec2(24.0, 22.0)))
        .on_hover_text(tip)
        .clicked()
    {
        *on = !*on;
        ui.memory_mut(|memory| memory.request_focus(find_id()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(text: &str, template: &str) -> Bar {
        let query = Query { text: text.into(), ..Query::default() };
        Bar { query, template: template.into(), ..Bar::default() }
    }

    #[test]
    fn matches_are_walked_through_in_a_circle() {
        let mut buffer = Buffer::new("a b a b a");
        let mut bar = bar("a", "");
        let mut walk = |back| {
            bar.step(&mut buffer, back);
            buffer.selections().primary().range().start
        };
        assert_eq!([false, false, false, false].map(&mut walk), [0, 4, 8, 0]);
        assert_eq!([true, true].map(&mut walk), [8, 4]);
    }

    #[test]
    fn one_match_is_replaced_after_the_other() {
        let mut buffer = Buffer::new("a b a");
        let mut bar = bar("a", "aa");
        let texts: Vec<String> = (0..4)
            .map(|_| {
                bar.replace_one(&mut buffer, 0.0);
                buffer.to_string()
            })
            .collect();
        assert_eq!(texts[..3], ["a b a", "aa b a", "aa b aa"], "the first one is only selected");
        let mut buffer = Buffer::new("a b a");
        assert!(bar.replace_all(&mut buffer, 0.0).changed);
        assert_eq!(buffer, "aa b aa");
        buffer.run(&crate::studio::text::Command::Undo, 0.0);
        assert_eq!(buffer, "a b a");
    }

    #[test]
    fn a_line_may_have_a_column() {
        let all = ["12", " 3 : 4 ", "0", "x", "", "2:"].map(target);
        assert_eq!(all, [Some((12, 1)), Some((3, 4)), None, None, None, None]);
    }
}
