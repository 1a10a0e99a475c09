//! What is told about the place under a pointer that stands still.

use std::time::Duration;

use egui::{Label, Rect, Response, RichText, Ui};

use super::{marks::Marks, rows::Rows, suggest::Suggest};
use crate::{
    session::Snapshot,
    studio::{glossary, highlight::Syntax, highlighter::Highlighter, text::Buffer, theme},
};

/// Seconds without a movement.
const STILL_S: f32 = 0.4;

/// What there is to tell about.
pub(super) struct Hovered<'a> {
    pub(super) rows: &'a Rows<'a>,
    pub(super) buffer: &'a Buffer,
    pub(super) marks: &'a Marks<'a>,
    pub(super) snapshot: &'a Snapshot,
    pub(super) colors: &'a Highlighter,
    pub(super) suggest: &'a Suggest,
}

/// The remarks on the line under the pointer, or what the name there means.
pub(super) fn show(ui: &Ui, response: &Response, field: Rect, hovered: &Hovered<'_>) {
    let Some(at) = ui.input(|input| input.pointer.hover_pos()) else { return };
    let line = hovered.rows.line_at(at.y);
    if hovered.marks.worst(line).is_some() {
        return hovered.marks.tooltip(ui, response, response.rect, hovered.rows);
    }
    if !field.contains(at) || !hovered.rows.band(line).contains(at.y) {
        return;
    }
    let still = ui.input(|input| input.pointer.time_since_last_movement());
    if still <= STILL_S {
        return ui.request_repaint_after(Duration::from_secs_f32(STILL_S - still + 0.01));
    }
    let Some(text) = meaning(hovered, at) else { return };
    let (code, told) = text.split_once('\n').unwrap_or((&text, ""));
    egui::Tooltip::for_widget(response).at_pointer().gap(14.0).width(480.0).show(|ui| {
        ui.add(Label::new(RichText::new(code).monospace().color(theme::strong())).wrap());
        ui.add(Label::new(RichText::new(told).color(theme::weak())).wrap());
    });
}

/// What the name under the pointer means, outside of comments.
fn meaning(hovered: &Hovered<'_>, at: egui::Pos2) -> Option<String> {
    let Hovered { rows, buffer, colors, .. } = hovered;
    let place = rows.place(at);
    let word = buffer.word(place);
    let (line, column) = buffer.place(word.end);
    if at.x > rows.x(line, column) {
        return None;
    }
    let syntax = colors.syntax_before(buffer, word.end)?;
    if syntax == Syntax::Comment {
        return None;
    }
    let word = buffer.text(word);
    let known = glossary::meaning(&word, colors.text(), hovered.snapshot);
    known.or_else(|| hovered.suggest.meaning(&word))
}
