//! The code editor: egui's text field with a gutter, colours, and the compiler's remarks on their lines.

use std::{collections::BTreeMap, ops::Range};

use egui::{
    Align, Align2, Color32, Event, FocusDirection, FontId, Galley, Id, Key, KeyboardShortcut,
    Modifiers, Pos2, Rangef, Rect, Response, ScrollArea, Shape, Stroke, TextBuffer, TextEdit, Ui,
    UiBuilder,
    text::{CCursor, CCursorRange, CharIndex},
    text_edit::{TextEditOutput, TextEditState},
    vec2,
};

use super::{Action, diagnostics};
use crate::{
    diagnostic::Diagnostic,
    session::Snapshot,
    studio::{
        code_buffer::{self, CodeBuffer},
        document::Document,
        highlight::Highlighter,
        icons, theme,
        typing::{Lines, Request, Typing},
    },
};

/// What the editor remembers from frame to frame.
#[derive(Default)]
pub struct Local {
    highlighter: Highlighter,
    reveal: Option<(u32, Option<u32>)>,
    /// Counts the documents opened, so that undo never goes back into another one.
    document: u64,
    caret: (usize, usize),
    /// Whether the user has come here by a click or a key that is meant for it, and not by walking through the window.
    entered: bool,
}

impl Local {
    /// Forgets caret and undo: another document is shown from now on.
    pub fn opened(&mut self) {
        self.document += 1;
        self.caret = (0, 0);
        self.entered = false;
    }

    /// Shows `line`, and `column` where known (both from 1), in the next frame.
    pub fn reveal(&mut self, line: u32, column: Option<u32>) {
        self.reveal = Some((line, column));
    }

    /// The caret's line and column, from 1.
    pub fn caret(&self) -> (usize, usize) {
        (self.caret.0 + 1, self.caret.1 + 1)
    }

    fn id(&self) -> Id {
        Id::unique(("editor", self.document))
    }
}

/// The remarks on each line, counted from 0.
type Marks<'a> = BTreeMap<usize, Vec<&'a Diagnostic>>;

/// The editor, in all the space there is.
pub fn show(
    ui: &mut Ui,
    snapshot: &Snapshot,
    document: &mut Document,
    font_size: f32,
    local: &mut Local,
) -> Vec<Action> {
    let now = ui.input(|input| input.time);
    let command = Modifiers::COMMAND;
    // Where the editor has no keyboard; where it has, they come in order with what is typed.
    let at_once = ui.input_mut(|i| i.consume_shortcut(&KeyboardShortcut::new(command, Key::Enter)));
    let save = ui.input_mut(|i| i.consume_shortcut(&KeyboardShortcut::new(command, Key::S)));
    let mut changed = false;
    let id = local.id();
    let mut turn = Typing::turn(ui.ctx(), id, ui.available_rect_before_wrap());
    walk_past(ui, id, local);
    if turn.enters {
        enter(ui, id, local);
    }
    let has_focus = |ui: &Ui| ui.memory(|memory| memory.has_focus(id));
    if has_focus(ui) {
        for lines in turn.lines {
            changed |= change_lines(ui, id, &mut document.text, lines);
        }
    } else {
        // They follow a click that was not for the text after all.
        turn.field.clear();
    }
    let revealed = local.reveal.take().map(|place| {
        enter(ui, id, local);
        put_caret(ui, id, &document.text, place)
    });

    let marks = marks(snapshot, &document.name);
    let font = theme::code_font(font_size);
    let others = swap_keys(ui, turn.field);
    changed |= field(ui, document, &marks, &font, local, revealed);
    ui.input_mut(|input| input.events = others);
    if changed {
        document.touch(now);
    }
    if turn.leaves {
        ui.memory_mut(|memory| memory.surrender_focus(id));
    }
    local.entered &= has_focus(ui);
    if turn.again {
        ui.request_repaint();
    }

    let mut actions = Vec::new();
    if let Some(text) = document.due(now) {
        actions.push(Action::Edit(text));
    }
    if at_once || turn.request == Some(Request::Compile) {
        actions.push(Action::Compile(document.submit()));
    }
    if save || turn.request == Some(Request::Save) {
        actions.push(Action::Save);
    }
    if let Some(wait) = document.due_in(now) {
        ui.request_repaint_after(std::time::Duration::from_secs_f64(wait + 0.005));
    }
    actions
}

fn marks<'a>(snapshot: &'a Snapshot, file: &str) -> Marks<'a> {
    let mut marks = Marks::new();
    for diagnostic in diagnostics::all(snapshot).filter(|d| d.file == file) {
        if let Some(line) = diagnostic.line {
            marks.entry((line as usize).saturating_sub(1)).or_default().push(diagnostic);
        }
    }
    for remarks in marks.values_mut() {
        remarks.sort_by_key(|remark| std::cmp::Reverse(remark.severity));
    }
    marks
}

/// Gives the editor the keyboard.
fn enter(ui: &Ui, id: Id, local: &mut Local) {
    local.entered = true;
    ui.memory_mut(|memory| memory.request_focus(id));
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

/// Whether the editor may keep the keyboard that it has just got: after a click it may, and who comes by Tab walks on.
fn came_in(ui: &Ui, response: &Response, local: &mut Local) {
    if local.entered || !response.has_focus() {
        return;
    }
    if response.contains_pointer() && ui.input(|i| i.pointer.any_down() || i.pointer.any_released())
    {
        local.entered = true;
    } else {
        ui.memory_mut(|memory| {
            memory.surrender_focus(response.id);
            memory.move_focus(FocusDirection::Next);
        });
    }
}

/// Shows the field no keys but `keys`; gives all events that there were, for those that come after it.
fn swap_keys(ui: &Ui, keys: Vec<Event>) -> Vec<Event> {
    ui.input_mut(|input| {
        let others = std::mem::take(&mut input.events);
        let is_key = |event: &&Event| {
            matches!(
                event,
                Event::Key { .. }
                    | Event::Text(_)
                    | Event::Copy
                    | Event::Cut
                    | Event::Paste(_)
                    | Event::Ime(_)
            )
        };
        input.events = others.iter().filter(|event| !is_key(event)).cloned().chain(keys).collect();
        others
    })
}

/// Does with the selected lines, or that of the caret, what `what` says; gives whether the text was changed.
fn change_lines(ui: &Ui, id: Id, text: &mut String, what: Lines) -> bool {
    let Some(mut state) = TextEditState::load(ui.ctx(), id) else { return false };
    let Some(range) = state.cursor.char_range() else { return false };
    let selection = range.as_sorted_char_range();
    let selection = selection.start.0..selection.end.0;
    let lines = code_buffer::lines_of(text, selection.clone());
    let before = (text.chars().count(), text.clone());
    match what {
        Lines::Comment => code_buffer::toggle_comment(text, lines.clone()),
        Lines::Outdent => code_buffer::outdent(text, lines.clone()),
        Lines::Indent if lines.len() > 1 => code_buffer::indent(text, lines.clone()),
        Lines::Indent => {
            let mut buffer = CodeBuffer(text);
            let mut caret = buffer.delete_selected(&range);
            buffer.insert_text_at(&mut caret, "\t", usize::MAX);
            state.cursor.set_char_range(Some(CCursorRange::one(caret)));
            state.store(ui.ctx(), id);
            return *text != before.1;
        }
    }
    let range = if lines.len() > 1 {
        let line = |n: usize| code_buffer::line_start(text, n as u32 + 1);
        CCursorRange::two(
            CCursor::new(line(lines.start)),
            CCursor::new(line_end(text, lines.end - 1)),
        )
    } else {
        let moved = (selection.end + text.chars().count()).saturating_sub(before.0);
        CCursorRange::one(CCursor::new(
            moved.max(code_buffer::line_start(text, lines.start as u32 + 1)),
        ))
    };
    state.cursor.set_char_range(Some(range));
    state.store(ui.ctx(), id);
    *text != before.1
}

/// The character index at which line `n` (from 0) ends.
fn line_end(text: &str, n: usize) -> usize {
    let start = code_buffer::line_start(text, n as u32 + 1);
    start + text.chars().skip(start).take_while(|c| *c != '\n').count()
}

/// Puts the caret at a line and column (from 1), and gives the line from 0.
fn put_caret(ui: &Ui, id: Id, text: &str, (line, column): (u32, Option<u32>)) -> usize {
    let start = code_buffer::line_start(text, line);
    let column = column.unwrap_or(1).saturating_sub(1) as usize;
    let end = line_end(text, (line as usize).saturating_sub(1));
    let mut state = TextEditState::load(ui.ctx(), id).unwrap_or_default();
    let caret = CCursor::new((start + column).min(end.max(start)));
    state.cursor.set_char_range(Some(CCursorRange::one(caret)));
    state.store(ui.ctx(), id);
    (line as usize).saturating_sub(1)
}

/// The field and its gutter; gives whether the text was changed.
fn field(
    ui: &mut Ui,
    document: &mut Document,
    marks: &Marks<'_>,
    font: &FontId,
    local: &mut Local,
    revealed: Option<usize>,
) -> bool {
    let whole = ui.available_rect_before_wrap();
    ui.painter().rect_filled(whole, 0.0, theme::GROUND);
    let digits = document.text.lines().count().max(1).ilog10() as f32 + 1.0;
    let digit = ui.fonts_mut(|fonts| fonts.glyph_width(font, '0'));
    let gutter_width = (digits.max(3.0) * digit + 30.0).round();
    let gutter = Rect::from_min_size(whole.min, vec2(gutter_width, whole.height()));
    let field = Rect::from_min_max(gutter.right_top(), whole.max);

    let builder = UiBuilder::new().max_rect(field);
    let shown = ui.scope_builder(builder, |ui| {
        ui.set_clip_rect(field.intersect(ui.clip_rect()));
        let area = ScrollArea::both().id_salt(("editor scroll", local.document)).auto_shrink(false);
        area.show(ui, |ui| text(ui, document, marks, font, local, revealed, field.size())).inner
    });
    let (output, changed) = shown.inner;
    ui.advance_cursor_after_rect(whole);
    let painter = ui.painter_at(gutter);
    paint_gutter(&painter, gutter, &output, font, marks, local.caret.0);
    tooltips(ui, gutter, field, &output, marks);
    changed
}

fn text(
    ui: &mut Ui,
    document: &mut Document,
    marks: &Marks<'_>,
    font: &FontId,
    local: &mut Local,
    revealed: Option<usize>,
    space: egui::Vec2,
) -> (TextEditOutput, bool) {
    let id = local.id();
    let highlighter = &mut local.highlighter;
    let mut layouter = |ui: &Ui, buffer: &dyn TextBuffer, _wrap_width: f32| {
        let job = highlighter.job(buffer.as_str(), font);
        ui.fonts_mut(|fonts| fonts.layout_job(egui::text::LayoutJob::clone(&job)))
    };
    let width = layouter(ui, &document.text, 0.0).size().x + 80.0;
    let background = ui.painter().add(Shape::Noop);
    let mut buffer = CodeBuffer(&mut document.text);
    let output = TextEdit::multiline(&mut buffer)
        .id(id)
        .font(font.clone())
        .lock_focus(true)
        .cursor_at_end(false)
        .frame(egui::Frame::new().inner_margin(egui::Margin {
            left: 6,
            right: 6,
            top: 6,
            bottom: 24,
        }))
        .min_size(space)
        .desired_width(width.max(space.x))
        .layouter(&mut layouter)
        .show(ui);
    let changed = output.response.response.changed();
    came_in(ui, &output.response.response, local);
    if let Some(range) = output.cursor_range {
        let index = range.primary.index.0;
        let line = code_buffer::line_of(&document.text, index);
        local.caret = (line, index - code_buffer::line_start(&document.text, line as u32 + 1));
    }
    let focused = output.response.response.has_focus();
    ui.painter().set(background, backgrounds(ui, &output, marks, focused.then_some(local.caret.0)));
    paint_marks(ui, &output, font, marks);
    if let Some(line) = revealed
        && let Some(row) = row(&output, line)
    {
        ui.scroll_to_rect(row, Some(Align::Center));
    }
    (output, changed)
}

/// Where line `n` (from 0) stands on the screen.
fn row(output: &TextEditOutput, n: usize) -> Option<Rect> {
    let row = output.galley.rows.get(n)?;
    Some(row.rect().translate(output.galley_pos.to_vec2()))
}

/// The rows that can be seen within `clip`.
fn visible(galley: &Galley, origin: Pos2, clip: Rect) -> Range<usize> {
    let at = |y: f32| galley.rows.partition_point(|row| origin.y + row.rect().bottom() < y);
    at(clip.top())..(at(clip.bottom()) + 1).min(galley.rows.len())
}

fn backgrounds(ui: &Ui, output: &TextEditOutput, marks: &Marks<'_>, caret: Option<usize>) -> Shape {
    let clip = ui.clip_rect();
    let mut shapes = Vec::new();
    let mut tint = |line: usize, color: Color32| {
        if let Some(row) = row(output, line) {
            let band = Rect::from_x_y_ranges(clip.x_range(), row.y_range());
            shapes.push(Shape::rect_filled(band, 0.0, color));
        }
    };
    if let Some(line) = caret {
        tint(line, Color32::from_rgb(0x18, 0x1b, 0x23));
    }
    for (line, remarks) in marks {
        tint(*line, theme::faded(icons::severity_color(remarks[0].severity), 0.10));
    }
    Shape::Vec(shapes)
}

/// The wavy line below the word that each remark is about, and the worst remark behind the line's end.
fn paint_marks(ui: &Ui, output: &TextEditOutput, font: &FontId, marks: &Marks<'_>) {
    let painter = ui.painter();
    let small = FontId::proportional(font.size * 0.95);
    for (line, remarks) in marks {
        let Some(rect) = row(output, *line) else { continue };
        let galley_row = &output.galley.rows[*line];
        let characters: Vec<char> = galley_row.text().chars().collect();
        for remark in remarks {
            let word = word_at(&characters, remark.column);
            let x = |column| rect.left() + galley_row.x_offset(CharIndex(column));
            let color = icons::severity_color(remark.severity);
            // A word may be as long as the text.
            let seen =
                painter.clip_rect().x_range().intersection(Rangef::new(x(word.start), x(word.end)));
            if seen.min <= seen.max {
                painter.add(wave(seen.min, seen.max, rect.bottom() - 2.0, color));
            }
        }
        let color = icons::severity_color(remarks[0].severity);
        let first_line = remarks[0].text.lines().next().unwrap_or_default();
        let place = rect.right_center() + vec2(28.0, 0.0);
        painter.text(
            place,
            Align2::LEFT_CENTER,
            first_line,
            small.clone(),
            theme::faded(color, 0.85),
        );
    }
}

/// The columns (from 0) of the word at `column` (from 1); the whole line without its indentation where the
/// column is unknown or behind the end.
fn word_at(line: &[char], column: Option<u32>) -> Range<usize> {
    let is_word = |c: &char| c.is_alphanumeric() || *c == '_';
    let start = column.map(|column| column.saturating_sub(1) as usize);
    match start.filter(|start| *start < line.len()) {
        Some(start) => {
            let word = line[start..].iter().take_while(|c| is_word(c)).count();
            start..start + word.max(1)
        }
        None => {
            let indentation = line.iter().take_while(|c| c.is_whitespace()).count();
            indentation.min(line.len().saturating_sub(1))..line.len().max(1)
        }
    }
}

fn wave(left: f32, right: f32, y: f32, color: Color32) -> Shape {
    let count = ((right - left) / 2.0).ceil().max(3.0) as usize;
    let points = (0..=count)
        .map(|i| Pos2::new(left + 2.0 * i as f32, y + if i % 2 == 0 { 1.0 } else { -1.0 }));
    Shape::line(points.collect(), Stroke::new(1.2, color))
}

fn paint_gutter(
    painter: &egui::Painter,
    gutter: Rect,
    output: &TextEditOutput,
    font: &FontId,
    marks: &Marks<'_>,
    caret: usize,
) {
    painter.rect_filled(gutter, 0.0, theme::GROUND);
    let focused = output.response.response.has_focus();
    for line in visible(&output.galley, output.galley_pos, gutter) {
        let Some(row) = row(output, line) else { continue };
        let worst = marks.get(&line).map(|remarks| remarks[0].severity);
        if let Some(severity) = worst {
            let band = Rect::from_x_y_ranges(gutter.x_range(), row.y_range());
            let color = icons::severity_color(severity);
            painter.rect_filled(band, 0.0, theme::faded(color, 0.10));
            icons::severity(painter, Pos2::new(gutter.left() + 11.0, row.center().y), severity);
        }
        let color = match worst {
            Some(severity) => icons::severity_color(severity),
            None if focused && line == caret => theme::TEXT,
            None => theme::FAINT,
        };
        let place = Pos2::new(gutter.right() - 8.0, row.center().y);
        painter.text(place, Align2::RIGHT_CENTER, line + 1, font.clone(), color);
    }
}

/// All remarks on the line under the pointer, in full.
fn tooltips(ui: &Ui, gutter: Rect, field: Rect, output: &TextEditOutput, marks: &Marks<'_>) {
    let over_gutter = ui.interact(gutter, ui.scope_id().with("gutter"), egui::Sense::hover());
    let response = &output.response.response;
    let hovered = if response.hovered() { Some(response) } else { Some(&over_gutter) };
    let Some(response) = hovered.filter(|response| response.hovered()) else { return };
    let Some(pointer) = ui.input(|input| input.pointer.hover_pos()) else { return };
    let still = ui.input(|input| input.pointer.time_since_last_movement() > 0.25);
    let whole = gutter.union(field);
    let found = marks.iter().find(|(line, _)| {
        row(output, **line)
            .is_some_and(|row| whole.contains(pointer) && row.y_range().contains(pointer.y))
    });
    let Some((_, remarks)) = found else { return };
    if !still {
        return ui.request_repaint_after(std::time::Duration::from_millis(260));
    }
    egui::Tooltip::for_widget(response).at_pointer().gap(14.0).width(480.0).show(|ui| {
        for remark in remarks {
            ui.horizontal_top(|ui| {
                let (rect, _) = ui.allocate_exact_size(vec2(14.0, 18.0), egui::Sense::hover());
                icons::severity(ui.painter(), rect.center(), remark.severity);
                ui.add(egui::Label::new(remark.text.trim()).wrap());
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(line: &str, column: Option<u32>) -> String {
        let characters: Vec<char> = line.chars().collect();
        characters[word_at(&characters, column)].iter().collect()
    }

    #[test]
    fn a_remark_underlines_its_word() {
        assert_eq!(word("    float x = vleocity[i];", Some(15)), "vleocity");
        assert_eq!(word("    a = b;", Some(7)), "=");
        assert_eq!(word("    a = b;", None), "a = b;");
        assert_eq!(word("    a = b;", Some(99)), "a = b;");
    }

    #[test]
    fn a_remark_on_an_empty_line_has_a_width() {
        assert_eq!(word_at(&[], None), 0..1);
        assert_eq!(word_at(&[' ', ' '], Some(1)), 0..1);
    }
}
