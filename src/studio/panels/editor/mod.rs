//! The code editor: a gutter, the rows that are seen, and the compiler's remarks on their lines.
//!
//! Enters: a document, keys and clicks, diagnostics. Leaves: the document as it was edited, and actions. Must not know:
//! `device`, `gl`, `studio::window`, `studio::workspace`.
//!
//! Keys and clicks come in order from [`Typing`]; each is done with the text as those before have left it.

mod absent;
mod bar;
mod compared;
mod dragged;
mod hover;
mod included;
mod marks;
mod paint;
mod picker;
mod piece;
mod pointer;
mod rows;
mod strokes;
mod suggest;

use std::path::PathBuf;

pub use absent::absent;

use egui::{
    CursorIcon, FocusDirection, FontId, Id, Painter, Pos2, Rect, Response, ScrollArea, Sense, Ui,
    UiBuilder, Vec2, WidgetInfo,
    containers::scroll_area::{DragScroll, ScrollSource},
    vec2,
};

use self::{
    bar::Bar, compared::Compared, dragged::Dragged, hover::Hovered, included::Included,
    marks::Marks, paint::Canvas, picker::Picker, pointer::Pointer, rows::Rows,
    strokes::EditContext, suggest::Suggest,
};
use super::{
    named,
    palette::{self, Palette},
};
use crate::{
    session::Snapshot,
    studio::{
        action::Action,
        document::Document,
        folds::Folds,
        highlighter::Highlighter,
        keymap::Bindable,
        text::{Brackets, Buffer, Selection, Selections},
        theme,
        typing::{Place, Typing},
    },
};

/// The space above and below the text, left of it, and behind its longest line.
const ABOVE: f32 = 6.0;
const BELOW: f32 = 24.0;
const BEFORE: f32 = 6.0;
const BEHIND: f32 = 80.0;
/// The width of a scroll bar, and of what a panel's edge is grabbed by.
const EDGE: f32 = 10.0;

/// What the editor remembers from frame to frame.
#[derive(Default)]
pub struct Local {
    highlighter: Highlighter,
    bar: Bar,
    palette: Palette,
    suggest: Suggest,
    pointer: Pointer,
    dragged: Option<Dragged>,
    included: Included,
    compared: Compared,
    /// What an input method shows and has not put in yet.
    composed: String,
    reveal: Option<(u32, Option<u32>)>,
    /// Counts the documents opened, so that one never has the place of another.
    document: u64,
    caret: (usize, usize),
    /// Whether the user has come here by a click or a key that is meant for it, and not by walking through the window.
    entered: bool,
    /// Whether the next frame gives it the keyboard.
    enters: bool,
    shown: Shown,
    /// The text and the caret for which the caret has been brought in sight.
    seen: Option<(u64, usize)>,
    /// The bracket at the caret and its partner.
    pair: Option<[usize; 2]>,
    brackets: Option<(u64, Brackets)>,
    folds: Folds,
    /// The lines that can be folded, where somebody may want it.
    foldable: Vec<usize>,
    picker: Option<Picker>,
    /// The characters of the longest line.
    widest: Option<(u64, usize)>,
    /// When a key or a click came last.
    touched_at: f64,
}

/// How the text was shown in the last frame.
#[derive(Clone, Copy, Debug)]
struct Shown {
    /// Where the first column of the first line was.
    origin: Pos2,
    /// What was seen of its space.
    view: Rect,
    /// The rows that this was.
    rows: usize,
    offset: Vec2,
    /// Where the caret was.
    caret: Rect,
}

impl Default for Shown {
    fn default() -> Self {
        Self {
            origin: Pos2::ZERO,
            view: Rect::ZERO,
            rows: 0,
            offset: Vec2::ZERO,
            caret: Rect::ZERO,
        }
    }
}

impl Local {
    /// Forgets where the text was: another document is shown from now on.
    pub fn opened(&mut self) {
        self.document += 1;
        self.caret = (0, 0);
        self.entered = false;
        self.seen = None;
        self.shown = Shown::default();
        self.composed.clear();
        self.suggest.close();
        self.bar.close();
        self.dragged = None;
        self.folds = Folds::default();
        self.picker = None;
        self.included.close();
        self.compared.close();
    }

    /// Has these in the list of all commands, beside what keys do.
    pub fn offer(&mut self, offers: Vec<(String, Action)>) {
        self.palette.offer(offers);
    }

    /// All commands of the list, to be bound to keys.
    pub fn bindable(&self, snapshot: &Snapshot) -> Vec<Bindable> {
        self.palette.bindable(snapshot)
    }

    /// The text of an included file, where one is shown.
    pub fn other_text(&self) -> Option<&Buffer> {
        self.included.text_shown()
    }

    /// Shows a line of one of the files that the scene includes, which diagnostics call so.
    pub fn reveal_in(&mut self, name: &str, line: u32, files: &[PathBuf]) -> bool {
        self.compared.close();
        self.included.reveal(name, line, files)
    }

    /// Shows `line`, and `column` where known (both from 1), in the next frame.
    pub fn reveal(&mut self, line: u32, column: Option<u32>) {
        self.reveal = Some((line, column));
    }

    /// Shows a line, from 1, of the text that is shown: the scene's, or an included file's.
    fn go_to(&mut self, line: u32) {
        if !self.included.seek(line) {
            self.reveal(line, None);
        }
    }

    /// The caret's line and column, from 1.
    pub fn caret(&self) -> (usize, usize) {
        (self.caret.0 + 1, self.caret.1 + 1)
    }

    fn id(&self) -> Id {
        Id::unique(("editor", self.document))
    }

    /// Gives the editor the keyboard, whose text is seen then.
    fn enter(&mut self, ui: &Ui) {
        self.entered = true;
        self.compared.close();
        ui.memory_mut(|memory| memory.request_focus(self.id()));
    }

    fn show_caret(&mut self) {
        self.seen = None;
    }

    fn note_seen(&mut self, buffer: &Buffer) {
        self.seen = Some((buffer.revision(), buffer.selections().primary().head));
    }

    /// Looks at the text where it is another one than in the last frame.
    fn update(&mut self, buffer: &Buffer) {
        self.highlighter.update(buffer);
        self.bar.update(buffer);
        self.folds.follow(buffer);
        let primary = buffer.selections().primary();
        self.caret = buffer.place(primary.head);
        let beside = [Some(primary.head), primary.head.checked_sub(1)].into_iter().flatten();
        let is_bracket =
            |at: usize| buffer.rope().get_char(at).is_some_and(|c| "()[]{}".contains(c));
        self.pair = None;
        if beside.into_iter().any(is_bracket) {
            let known = self.brackets.take().filter(|(revision, _)| *revision == buffer.revision());
            let brackets =
                known.map_or_else(|| Brackets::new(buffer.rope()), |(_, brackets)| brackets);
            self.pair = brackets.beside(primary.head);
            self.brackets = Some((buffer.revision(), brackets));
        }
        if self.widest.is_none_or(|(revision, _)| revision != buffer.revision()) {
            let widest = buffer.rope().lines().map(|line| line.len_chars()).max().unwrap_or(0);
            self.widest = Some((buffer.revision(), widest));
        }
    }
}

/// The editor, in all the space there is.
pub fn show(
    ui: &mut Ui,
    snapshot: &Snapshot,
    document: &mut Document,
    font_size: &mut f32,
    local: &mut Local,
) -> Vec<Action> {
    let now = ui.input(|input| input.time);
    let before = document.text.revision();
    let id = local.id();
    let outcome = local.bar.show(ui, &mut document.text, now);
    if outcome.leaves {
        local.bar.close();
    }
    if outcome.leaves || std::mem::take(&mut local.enters) {
        local.enter(ui);
    }
    if outcome.changed {
        // What a click has replaced is undone by a key. The frame of the click takes the keyboard from all that it is
        // not on.
        local.enters = true;
        ui.request_repaint();
    }
    let font = theme::code_font(*font_size);
    let is_other = local.compared.show(ui, document, &snapshot.compile, &font, now)
        || local.included.show(ui, document, &snapshot.compile.included, &font);
    let whole = ui.available_rect_before_wrap();
    let rect = Rect::from_min_max(whole.min, whole.max - Vec2::splat(EDGE));
    let mut fields = Bar::fields();
    fields.push(palette::field());
    local.suggest.follow(&document.text, &snapshot.compile.included);
    let turn = Typing::turn(ui.ctx(), Place { id, rect, fields });
    walk_past(ui, id, local);
    let marks = Marks::new(snapshot, &document.name, &document.text);
    let mut actions = Vec::new();
    let chosen = local.palette.show(ui.ctx(), snapshot);
    let mut context = EditContext { document, local, snapshot, marks: &marks, font_size, now };
    actions.extend(chosen.and_then(|choice| context.carry_out(ui, choice)));
    for stroke in turn.strokes {
        actions.extend(context.perform(ui, stroke));
    }
    let caret = context.local.shown.caret;
    if !ui.memory(|memory| memory.has_focus(id)) {
        context.local.suggest.close();
    }
    if context.local.suggest.show(ui.ctx(), caret, *context.font_size) {
        context.take_suggestion();
        context.local.enter(ui);
    }
    if turn.again {
        ui.request_repaint();
    }
    if let Some(mut dragged) = local.dragged.take()
        && dragged.follow(ui, &mut document.text, now)
    {
        local.dragged = Some(dragged);
    }
    if let Some(mut picker) = local.picker.take()
        && picker.show(ui.ctx(), &mut document.text, now)
    {
        local.picker = Some(picker);
    }
    if let Some((line, column)) = local.reveal.take() {
        local.included.close();
        local.enter(ui);
        let column = column.unwrap_or(1).saturating_sub(1) as usize;
        let at = document.text.at((line as usize).saturating_sub(1), column);
        document.text.select(Selections::one(Selection::caret(at)));
        local.show_caret();
    }
    if !is_other {
        field(ui, document, local, &Told { snapshot, marks: &marks, font: &font, now });
    }
    if document.text.revision() != before {
        document.touch(now);
    }
    local.entered &= ui.memory(|memory| memory.has_focus(id));
    if let Some(text) = document.due(now) {
        actions.push(Action::Edit(text));
    }
    if let Some(wait) = document.due_in(now) {
        ui.request_repaint_after(std::time::Duration::from_secs_f64(wait + 0.005));
    }
    actions
}

/// Sends the keyboard on where Shift+Tab or an arrow has brought it here at the end of the last frame: who walks
/// through the window must not change the file.
fn walk_past(ui: &Ui, id: Id, local: &Local) {
    if !local.entered && ui.memory(|memory| memory.has_focus(id)) {
        ui.memory_mut(|memory| {
            memory.surrender_focus(id);
            memory.move_focus(FocusDirection::Previous);
        });
    }
}

/// Whether the editor may keep the keyboard that it has just got: who comes by Tab walks on, and a screen reader may
/// give it.
fn came_in(ui: &Ui, response: &Response, local: &mut Local) {
    if local.entered || !response.has_focus() {
        return;
    }
    if ui.input(|input| {
        input.has_accesskit_action_request(response.id, egui::accesskit::Action::Focus)
    }) {
        local.entered = true;
    } else {
        ui.memory_mut(|memory| {
            memory.surrender_focus(response.id);
            memory.move_focus(FocusDirection::Next);
        });
    }
}

/// What a frame shows of the text beside itself.
struct Told<'a> {
    snapshot: &'a Snapshot,
    marks: &'a Marks<'a>,
    font: &'a FontId,
    now: f64,
}

/// The gutter and the text.
fn field(ui: &mut Ui, document: &mut Document, local: &mut Local, told: &Told<'_>) {
    let font = told.font;
    let whole = ui.available_rect_before_wrap();
    ui.painter().rect_filled(whole, 0.0, theme::ground());
    drag(ui, document, font, local);
    local.update(&document.text);
    let buffer = &document.text;
    let digits = buffer.rope().len_lines().ilog10() as f32 + 1.0;
    let digit = ui.fonts_mut(|fonts| fonts.glyph_width(font, '0'));
    let gutter_width = (digits.max(3.0) * digit + 30.0 + paint::SIGN).round();
    let gutter = Rect::from_min_size(whole.min, vec2(gutter_width, whole.height()));
    let field = Rect::from_min_max(gutter.right_top(), whole.max);
    local.foldable = match ui.rect_contains_pointer(gutter) {
        true => local.folds.foldable(buffer),
        false => Vec::new(),
    };
    let offset = wanted_offset(ui, buffer, font, local, field.size());
    let source = ScrollSource { drag: DragScroll::Never, ..ScrollSource::default() };
    let mut area = ScrollArea::both()
        .id_salt(("editor scroll", local.document))
        .auto_shrink(false)
        .scroll_source(source);
    if let Some(offset) = offset {
        area = area.scroll_offset(offset);
    }
    let beside = ui.painter_at(gutter);
    let response = ui.interact(whole, local.id(), Sense::click_and_drag());
    let builder = UiBuilder::new().max_rect(field);
    ui.scope_builder(builder, |ui| {
        ui.set_clip_rect(field.intersect(ui.clip_rect()));
        let output = area
            .show_viewport(ui, |ui, _| text(ui, buffer, local, told, (field, &beside), &response));
        local.shown.offset = output.state.clamped_offset();
    });
    ui.advance_cursor_after_rect(whole);
}

fn text(
    ui: &mut Ui,
    buffer: &Buffer,
    local: &mut Local,
    told: &Told<'_>,
    (field, beside): (Rect, &Painter),
    response: &Response,
) {
    let Told { snapshot, marks, font, now } = *told;
    let origin = ui.max_rect().min + vec2(BEFORE, ABOVE);
    let text = (buffer, &local.folds);
    let rows = Rows::new(ui, text, &local.highlighter, font.clone(), origin);
    let size = vec2(
        BEFORE + local.widest.map_or(0, |(_, widest)| widest) as f32 * rows.advance + BEHIND,
        ABOVE + rows.count() as f32 * rows.height + BELOW,
    );
    response.widget_info(|| {
        WidgetInfo::text_edit(true, local.highlighter.text(), local.highlighter.text(), "")
    });
    named(response, "Text of the scene");
    let focused = ui.memory(|memory| memory.has_focus(response.id));
    let shown = Shown {
        origin,
        view: field,
        rows: (field.height() / rows.height) as usize,
        caret: rows.caret(buffer.selections().primary().head),
        ..local.shown
    };
    let canvas = Canvas { rows: &rows, buffer, marks, font, view: field, focused };
    canvas.paint(ui, local, now);
    paint::gutter(&canvas, beside, beside.clip_rect(), |line| local.foldable.contains(&line));
    if response.hovered() {
        let colors = &local.highlighter;
        hover::show(
            ui,
            response,
            field,
            &Hovered { rows: &rows, buffer, marks, snapshot, colors, suggest: &local.suggest },
        );
        if ui.input(|input| input.pointer.hover_pos().is_some_and(|at| field.contains(at))) {
            ui.set_cursor_icon(CursorIcon::Text);
        }
        dragged::hint(ui, &rows, buffer, field);
    }
    ui.allocate_space(size);
    local.shown = shown;
    came_in(ui, response, local);
}

/// Selects what the mouse drags over, and scrolls where it drags beyond what is seen.
fn drag(ui: &Ui, document: &mut Document, font: &FontId, local: &mut Local) {
    local.highlighter.update(&document.text);
    let buffer = &document.text;
    let text = (buffer, &local.folds);
    let rows = Rows::new(ui, text, &local.highlighter, font.clone(), local.shown.origin);
    let selections = local.pointer.drag(ui, &rows, buffer);
    if let Some(selections) = selections {
        document.text.select(selections);
        local.note_seen(&document.text);
    }
}

/// Where the text is to be scrolled to: the caret is kept in sight where it or the text is another one than in the
/// frame before.
fn wanted_offset(
    ui: &Ui,
    buffer: &Buffer,
    font: &FontId,
    local: &mut Local,
    size: Vec2,
) -> Option<Vec2> {
    let pull = local.pointer.pull(ui, local.shown.view);
    if pull != Vec2::ZERO {
        ui.request_repaint();
        return Some((local.shown.offset + pull).max(Vec2::ZERO));
    }
    let primary = buffer.selections().primary();
    let now = (buffer.revision(), primary.head);
    let before = local.seen.replace(now);
    if before == Some(now) {
        return None;
    }
    let (text, origin) = ((buffer, &local.folds), Pos2::new(BEFORE, ABOVE));
    let rows = Rows::new(ui, text, &local.highlighter, font.clone(), origin);
    let caret = rows.caret(primary.head);
    let (offset, row) = (local.shown.offset, rows.height);
    let is_seen = caret.top() >= offset.y && caret.bottom() <= offset.y + size.y - EDGE;
    let is_near =
        caret.bottom() > offset.y - 4.0 * row && caret.top() < offset.y + size.y + 4.0 * row;
    let y = match before {
        // The document is new: it is shown from its start.
        None if primary.head == 0 => 0.0,
        _ if is_seen => offset.y,
        // Where the caret walks, the text goes with it.
        Some(_) if is_near => offset.y.max(caret.bottom() + EDGE - size.y).min(caret.top() - ABOVE),
        // What it jumps to is in the middle.
        Some(_) | None => caret.center().y - size.y / 2.0,
    };
    // The start of the line is seen, too, where there is space for both.
    let margin = 4.0 * rows.advance;
    let x = if caret.left() + margin + EDGE <= size.x {
        0.0
    } else {
        offset.x.max(caret.left() + margin + EDGE - size.x).min(caret.left() - margin)
    };
    Some(vec2(x, y.max(0.0)))
}

#[cfg(test)]
mod tests;
