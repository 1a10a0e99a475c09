//! What the editor does with each key and click, one after the other.

use egui::{ImeEvent, PointerButton, Pos2, Ui};

use super::{Local, bar::Shown, dragged::Dragged, marks::Marks, paint, picker::Picker, rows::Rows};
use crate::{
    scene,
    session::Snapshot,
    studio::{
        action::Action,
        document::Document,
        panels::palette::{self, Choice},
        shortcuts::Task,
        symbols,
        text::{Command, Direction, Motion, Selection, Selections},
        theme,
        typing::Stroke,
    },
};

/// The sizes of letters that keys lead to, in points.
const SIZES: [f32; 2] = [8.0, 32.0];
/// The usual one.
const USUAL_SIZE: f32 = 13.0;

/// What a key or click is done with.
pub(super) struct EditContext<'a> {
    pub(super) document: &'a mut Document,
    pub(super) local: &'a mut Local,
    pub(super) snapshot: &'a Snapshot,
    pub(super) marks: &'a Marks<'a>,
    pub(super) font_size: &'a mut f32,
    pub(super) now: f64,
}

impl EditContext<'_> {
    /// Does it.
    pub(super) fn perform(&mut self, ui: &Ui, stroke: Stroke) -> Option<Action> {
        self.local.touched_at = self.now;
        match stroke {
            Stroke::Press { place, button, modifiers } => {
                if button == PointerButton::Primary {
                    self.press(ui, place, modifiers);
                }
                None
            }
            Stroke::Ime(event) => {
                self.compose(event);
                None
            }
            Stroke::Command(title) => {
                let choice = self.local.palette.called(&title, self.snapshot)?;
                self.carry_out(ui, choice)
            }
            // Any key closes the picker of colours, and the one that leaves the editor does no more.
            Stroke::Task(Task::Leave) if self.local.picker.take().is_some() => None,
            Stroke::Task(task) => {
                self.local.picker = None;
                self.task(ui, task)
            }
        }
    }

    fn press(&mut self, ui: &Ui, place: Pos2, modifiers: egui::Modifiers) {
        self.local.enter(ui);
        self.local.suggest.close();
        self.local.composed.clear();
        self.local.highlighter.update(&self.document.text);
        let font = theme::code_font(*self.font_size);
        let buffer = &self.document.text;
        let text = (buffer, &self.local.folds);
        let rows = Rows::new(ui, text, &self.local.highlighter, font, self.local.shown.origin);
        let in_gutter = place.x < self.local.shown.view.left();
        if in_gutter && place.x >= self.local.shown.view.left() - paint::SIGN {
            let line = rows.line_at(place.y);
            if self.toggle_fold(line) {
                return;
            }
        }
        let buffer = &self.document.text;
        let text = (buffer, &self.local.folds);
        let font = theme::code_font(*self.font_size);
        let rows = Rows::new(ui, text, &self.local.highlighter, font, self.local.shown.origin);
        let square = paint::square_at(&rows, buffer, place).filter(|_| !in_gutter);
        self.local.picker = square.and_then(|(line, square)| Picker::on(buffer, line, square));
        if self.local.picker.is_some() {
            return self.local.note_seen(buffer);
        }
        if modifiers.command && !modifiers.alt && !in_gutter {
            self.local.dragged = Dragged::at(buffer, rows.place(place), place.x);
            if self.local.dragged.is_some() {
                return self.local.note_seen(buffer);
            }
        }
        let selections =
            self.local.pointer.press(place, modifiers, in_gutter, self.now, &rows, buffer);
        self.document.text.select(selections);
        // What is pressed is seen already.
        self.local.note_seen(&self.document.text);
    }

    fn task(&mut self, ui: &Ui, task: Task) -> Option<Action> {
        if self.suggested(&task) {
            return None;
        }
        match task {
            Task::Suggest => {}
            Task::Text(command) => self.run(&command),
            Task::Fold => {
                self.local.folds.follow(&self.document.text);
                let head = self.document.text.selections().primary().head;
                self.fold(self.document.text.place(head).0);
            }
            Task::Unfold => {
                let text = &self.document.text;
                self.local.folds.follow(text);
                self.local.folds.unfold(text.place(text.selections().primary().head).0, text);
            }
            Task::FoldAll => self.fold_all(),
            Task::UnfoldAll => self.local.folds.unfold_all(),
            Task::Comment => self.run(&Command::ToggleComment(comment_mark(self.document))),
            Task::Page(direction, selects) => {
                let rows = self.local.shown.rows.saturating_sub(1).max(1);
                let motion = match direction {
                    Direction::Up => Motion::Up(rows),
                    Direction::Down => Motion::Down(rows),
                };
                self.run(&if selects { Command::Select(motion) } else { Command::Move(motion) });
            }
            Task::Copy => ui.ctx().copy_text(self.document.text.copied()),
            Task::Cut => {
                ui.ctx().copy_text(self.document.text.copied());
                self.run(&Command::Cut);
            }
            Task::Find => self.local.bar.open(ui, Shown::Find, &self.document.text),
            Task::Replace => self.local.bar.open(ui, Shown::Replace, &self.document.text),
            Task::GoToLine => self.local.bar.open(ui, Shown::Line, &self.document.text),
            Task::Palette => self.local.palette.open(ui),
            Task::Symbols => {
                let shown = self.local.other_text().unwrap_or(&self.document.text);
                let symbols = symbols::all(&shown.to_string());
                self.local.palette.open_symbols(ui, symbols);
            }
            Task::Choose(direction) => self.local.palette.choose(direction, self.snapshot),
            Task::Changes if self.local.compared.is_open() => self.local.enter(ui),
            Task::Changes => self.local.compared.open(ui),
            Task::NextChange | Task::PreviousChange if !self.local.compared.is_open() => {
                self.local.compared.open(ui);
            }
            Task::NextChange => self.local.compared.step(false),
            Task::PreviousChange => self.local.compared.step(true),
            Task::PutBack => self.local.compared.put_back(None, self.document, self.now),
            Task::Accept(_) if self.local.palette.is_open() => {
                let choice = self.local.palette.chosen(self.snapshot)?;
                return self.carry_out(ui, choice);
            }
            Task::Close if self.local.palette.is_open() => {
                self.local.palette.close();
                self.local.enter(ui);
            }
            Task::Accept(back) => {
                let outcome = self.local.bar.accept(ui, &mut self.document.text, back, self.now);
                if outcome.leaves {
                    self.close_bar(ui);
                }
            }
            Task::OtherField => self.local.bar.other_field(ui),
            Task::Close => self.close_bar(ui),
            Task::ReplaceAll => _ = self.local.bar.replace_all(&mut self.document.text, self.now),
            Task::Toggle(toggle) => self.local.bar.toggle(toggle, &mut self.document.text),
            Task::FindNext => _ = self.local.bar.step(&mut self.document.text, false),
            Task::FindPrevious => _ = self.local.bar.step(&mut self.document.text, true),
            Task::NextProblem => self.go_to_problem(false),
            Task::PreviousProblem => self.go_to_problem(true),
            Task::Save => return Some(Action::Save),
            Task::SaveAs => return Some(Action::SaveAs),
            Task::Open => return Some(Action::ChooseFile),
            Task::Start => return Some(Action::ShowStart),
            Task::Compile => return Some(Action::Compile(self.document.submit())),
            Task::Larger => self.resize(*self.font_size + 1.0),
            Task::Smaller => self.resize(*self.font_size - 1.0),
            Task::UsualSize => self.resize(USUAL_SIZE),
            Task::Enter => self.local.enter(ui),
            Task::Leave if !self.document.text.selections().is_one() => {
                self.run(&Command::OneCaret)
            }
            Task::Leave if self.local.bar.is_open() => self.local.bar.close(),
            Task::Leave => ui.memory_mut(|memory| memory.surrender_focus(self.local.id())),
        }
        None
    }

    /// Gives a key to the list of words, if it is for that one; gives whether it was.
    fn suggested(&mut self, task: &Task) -> bool {
        let Local { suggest, highlighter, .. } = &mut *self.local;
        let is_open = suggest.is_open();
        match task {
            Task::Text(Command::Move(Motion::Up(_))) if is_open => suggest.choose(Direction::Up),
            Task::Text(Command::Move(Motion::Down(_))) if is_open => {
                suggest.choose(Direction::Down)
            }
            Task::Text(Command::Indent) if is_open => self.take_suggestion(),
            Task::Text(Command::Break) if suggest.is_meant() => self.take_suggestion(),
            Task::Leave if is_open => suggest.close(),
            Task::Text(command @ (Command::Type(_) | Command::Backspace)) => {
                // A word that was not suggested for is not asked about when some of it is deleted.
                let goes_on = is_open || matches!(command, Command::Type(_));
                self.document.text.run(command, self.now);
                if goes_on {
                    suggest.update(&self.document.text, highlighter, false);
                }
            }
            Task::Suggest => suggest.update(&self.document.text, highlighter, true),
            _ => {
                suggest.close();
                return false;
            }
        }
        true
    }

    /// Puts the chosen word in the place of what is typed of it.
    pub(super) fn take_suggestion(&mut self) {
        let Some((start, word)) = self.local.suggest.take() else { return };
        let typed = self.document.text.selections().primary().head.saturating_sub(start);
        let selected =
            self.document.text.selections().map(|selection| {
                Selection::new(selection.head.saturating_sub(typed), selection.head)
            });
        self.document.text.select(selected);
        self.run(&Command::Paste(word));
    }

    fn run(&mut self, command: &Command) {
        let text = &self.document.text;
        self.local.folds.follow(text);
        // Up and down lead over what is folded away.
        let (line, _) = text.place(text.selections().primary().head);
        let over = |motion: Motion| match motion {
            Motion::Up(rows) => Motion::Up(self.local.folds.stretched(line, rows, false)),
            Motion::Down(rows) => Motion::Down(self.local.folds.stretched(line, rows, true)),
            other @ (Motion::Left
            | Motion::Right
            | Motion::WordLeft
            | Motion::WordRight
            | Motion::LineStart
            | Motion::LineEnd
            | Motion::Start
            | Motion::End) => other,
        };
        let mut command = command.clone();
        if let Command::Move(motion) | Command::Select(motion) = &mut command {
            *motion = over(*motion);
        }
        self.document.text.run(&command, self.now);
    }

    /// Folds a line, or unfolds it; gives whether there was anything to do.
    fn toggle_fold(&mut self, line: usize) -> bool {
        let text = &self.document.text;
        self.local.folds.follow(text);
        if self.local.folds.is_head(line) {
            self.local.folds.unfold(line, text);
            return true;
        }
        let can_fold = self.local.folds.can_fold(line, text);
        if can_fold {
            self.fold(line);
        }
        can_fold
    }

    /// Folds what is around a line; the caret goes to the line that stays, where it would be away.
    fn fold(&mut self, line: usize) {
        let Some(head) = self.local.folds.fold(line, &self.document.text) else { return };
        let text = &mut self.document.text;
        let (line, _) = text.place(text.selections().primary().head);
        if self.local.folds.hides(line) {
            let end = text.line(head).end;
            text.select(Selections::one(Selection::caret(end)));
        }
    }

    fn fold_all(&mut self) {
        self.local.folds.fold_all(&self.document.text);
        let text = &mut self.document.text;
        let (line, _) = text.place(text.selections().primary().head);
        if self.local.folds.hides(line) {
            let head = self.local.folds.line(self.local.folds.row(line));
            let end = text.line(head).end;
            text.select(Selections::one(Selection::caret(end)));
        }
    }

    /// Does what was chosen in the palette.
    pub(super) fn carry_out(&mut self, ui: &Ui, choice: Choice) -> Option<Action> {
        self.local.palette.close();
        match choice {
            Choice::Action(action) => {
                ui.memory_mut(|memory| memory.surrender_focus(palette::field()));
                Some(action)
            }
            Choice::Task(task) => {
                if task.is_of_changes() {
                    ui.memory_mut(|memory| memory.surrender_focus(palette::field()));
                } else {
                    self.local.enter(ui);
                }
                self.task(ui, task)
            }
            Choice::Line(line) => {
                self.local.go_to(line);
                None
            }
        }
    }

    fn close_bar(&mut self, ui: &Ui) {
        self.local.bar.close();
        self.local.enter(ui);
    }

    fn resize(&mut self, size: f32) {
        *self.font_size = size.clamp(SIZES[0], SIZES[1]);
        self.local.show_caret();
    }

    fn go_to_problem(&mut self, back: bool) {
        let (line, _) = self.document.text.place(self.document.text.selections().primary().head);
        if let Some((line, column)) = self.marks.beside(line, back) {
            self.local.reveal(line, column);
        }
    }

    /// An input method shows letters that are not in the text yet, and puts them in in the end.
    fn compose(&mut self, event: ImeEvent) {
        match event {
            ImeEvent::Preedit { text, .. } => self.local.composed = text,
            ImeEvent::Commit(text) => {
                self.local.composed.clear();
                if !text.is_empty() {
                    self.run(&Command::Type(text));
                }
            }
            ImeEvent::DeleteSurrounding { before_chars, after_chars } => {
                let around = self.document.text.selections().map(|selection| {
                    let head = selection.head;
                    Selection::new(head.saturating_sub(before_chars), head + after_chars)
                });
                self.document.text.select(around);
                self.run(&Command::Delete(Motion::Left));
            }
            #[expect(deprecated, reason = "egui has them still")]
            ImeEvent::Enabled | ImeEvent::Disabled => {}
        }
    }
}

/// What a comment begins with where the caret is: the manifest is TOML.
fn comment_mark(document: &Document) -> &'static str {
    let text = document.text.to_string();
    let at = document.text.rope().char_to_byte(document.text.selections().primary().range().start);
    let open = text.find(scene::OPEN);
    let close = open.and_then(|open| Some(open + text[open..].find("*/")?));
    let in_manifest = open.is_some_and(|open| at > open) && close.is_none_or(|close| at <= close);
    if in_manifest { "#" } else { "//" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_those_of_the_language_around_the_caret() {
        let mut document = Document::new("a.cu", None, "// a\n/*---\nn = 1\n---*/\nint a;\n");
        let mut mark = |at| {
            document.text.select(Selections::one(Selection::caret(at)));
            comment_mark(&document)
        };
        assert_eq!([0, 13, 25].map(&mut mark), ["//", "#", "//"]);
    }
}
