//! What stands behind, between and on the letters.

use std::ops::Range;

use egui::{
    CornerRadius, FontId, Painter, Rect, Shape, Stroke, StrokeKind, Ui, epaint::RectShape, vec2,
};

use super::{Local, marks::Marks, rows::Rows};
use crate::studio::{icons, swatch, text::Buffer, theme};

/// More pieces of selections and matches than these are not painted in one frame.
const MOST: usize = 2_000;
/// So many lines around those that are seen belong to a table of which some are.
const AROUND: usize = 12;
/// The width of the signs of folds, beside the numbers of lines.
pub(super) const SIGN: f32 = 14.0;
/// The side of a square of colour.
const SWATCH: f32 = 10.0;

/// The text, and all that is painted with it.
pub(super) struct Canvas<'a> {
    pub(super) rows: &'a Rows<'a>,
    pub(super) buffer: &'a Buffer,
    pub(super) marks: &'a Marks<'a>,
    pub(super) font: &'a FontId,
    /// What of the text's space is seen.
    pub(super) view: Rect,
    pub(super) focused: bool,
}

impl Canvas<'_> {
    pub(super) fn paint(&self, ui: &Ui, local: &Local, now: f64) {
        let painter = ui.painter();
        let lines = self.rows.visible(self.view);
        self.bands(painter, &lines);
        self.ranges(painter, &lines, local.bar.marked().iter(), |rect| {
            let color = theme::faded(theme::accent(), 0.16);
            let edge = Stroke::new(1.0, theme::faded(theme::accent(), 0.45));
            Shape::Rect(RectShape::new(
                rect,
                CornerRadius::same(2),
                color,
                edge,
                StrokeKind::Inside,
            ))
        });
        let selected: Vec<Range<usize>> = self
            .buffer
            .selections()
            .all()
            .iter()
            .filter(|s| !s.is_empty())
            .map(|s| s.range())
            .collect();
        let color =
            theme::faded(ui.visuals().selection.bg_fill, if self.focused { 1.0 } else { 0.7 });
        self.ranges(painter, &lines, selected.iter(), |rect| Shape::rect_filled(rect, 0.0, color));
        self.brackets(painter, local, &lines);
        for line in self.rows.shown(lines.clone()) {
            for (place, galley) in self.rows.parts(line, self.view) {
                painter.galley(place, galley, theme::text());
            }
            if self.rows.is_folded(line) {
                self.folded(painter, line);
            }
        }
        self.swatches(painter, &lines);
        self.marks.paint(painter, self.rows, self.buffer, self.font, lines.clone());
        if self.focused {
            self.carets(ui, &lines, local, now);
        }
    }

    /// The caret's line, and those with remarks.
    fn bands(&self, painter: &Painter, lines: &Range<usize>) {
        let band = |line: usize, color| {
            let rect = Rect::from_x_y_ranges(self.view.x_range(), self.rows.band(line));
            painter.rect_filled(rect, 0.0, color);
        };
        let (line, _) = self.buffer.place(self.buffer.selections().primary().head);
        if self.focused && lines.contains(&line) {
            band(line, theme::current_line());
        }
        for line in self.rows.shown(lines.clone()) {
            if let Some(severity) = self.marks.worst(line) {
                band(line, theme::faded(icons::severity_color(severity), 0.10));
            }
        }
    }

    /// Behind a line of which more is folded away a sign that says so.
    fn folded(&self, painter: &Painter, line: usize) {
        let place = self.rows.caret(self.buffer.line(line).end);
        let size = vec2(2.0 * self.rows.advance, place.height() * 0.5);
        let center = place.center() + vec2(self.rows.advance * 0.7 + size.x / 2.0, 0.0);
        let rect = Rect::from_center_size(center, size);
        painter.rect_filled(rect, 3.0, theme::raised());
        for dot in [-1.0, 0.0, 1.0] {
            painter.circle_filled(
                rect.center() + vec2(dot * size.x / 4.0, 0.0),
                1.2,
                theme::text(),
            );
        }
    }

    /// Behind a line with a colour a small square of it.
    fn swatches(&self, painter: &Painter, lines: &Range<usize>) {
        // A table may begin before what is seen.
        let first = lines.start.saturating_sub(AROUND);
        let last = (lines.end + AROUND).min(self.rows.lines());
        let has_list = |line: &usize| self.buffer.rope().line(*line).chars().any(|c| c == '[');
        if !lines.clone().any(|line| has_list(&line)) {
            return;
        }
        let around = texts(self.buffer, first..last);
        for line in self.rows.shown(lines.clone()).filter(has_list) {
            let Some(color) = swatch::color_on(&around, line - first) else { continue };
            let [red, green, blue] = color.map(|part| (part * 255.0).round() as u8);
            let square = square(self.rows, self.buffer, line);
            let edge = Stroke::new(1.0, theme::faint());
            let color = egui::Color32::from_rgb(red, green, blue);
            painter.rect(square, 2.0, color, edge, StrokeKind::Outside);
        }
    }

    fn ranges<'r>(
        &self,
        painter: &Painter,
        lines: &Range<usize>,
        ranges: impl Iterator<Item = &'r Range<usize>>,
        shape: impl Fn(Rect) -> Shape,
    ) {
        let seen =
            self.buffer.line(lines.start).start..self.buffer.line(lines.end.saturating_sub(1)).end;
        let ranges = ranges
            .skip_while(|range| range.end < seen.start)
            .take_while(|range| range.start <= seen.end);
        for range in ranges.take(MOST) {
            let first = self.buffer.place(range.start).0.max(lines.start);
            let last = self.buffer.place(range.end).0.min(lines.end.saturating_sub(1));
            for line in first..=last {
                if let Some(rect) = self.rows.piece(line, range).filter(|rect| rect.width() > 0.0) {
                    painter.add(shape(rect.intersect(self.view.expand(4.0))));
                }
            }
        }
    }

    /// The bracket at the caret and its partner.
    fn brackets(&self, painter: &Painter, local: &Local, lines: &Range<usize>) {
        let Some(pair) = local.pair.filter(|_| self.focused) else { return };
        for at in pair {
            let (line, column) = self.buffer.place(at);
            if !lines.contains(&line) || self.rows.hides(line) {
                continue;
            }
            let (left, right) = (self.rows.x(line, column), self.rows.x(line, column + 1));
            let rect =
                Rect::from_x_y_ranges(left..=right, self.rows.band(line)).shrink2(vec2(-0.5, 1.0));
            let edge = Stroke::new(1.0, theme::faded(theme::accent(), 0.8));
            painter.rect(rect, 2.0, theme::faded(theme::accent(), 0.14), edge, StrokeKind::Inside);
        }
    }

    fn carets(&self, ui: &Ui, lines: &Range<usize>, local: &Local, now: f64) {
        let primary = self.buffer.selections().primary();
        let seen = |at: usize| lines.contains(&self.buffer.place(at).0);
        let heads = self.buffer.selections().all().iter().map(|s| s.head);
        for head in heads.filter(|head| *head != primary.head && seen(*head)).take(MOST) {
            let stroke = ui.visuals().text_cursor.stroke;
            ui.painter().vline(
                self.rows.caret(head).left(),
                self.rows.caret(head).y_range(),
                stroke,
            );
        }
        if !seen(primary.head) {
            return;
        }
        let caret = self.rows.caret(primary.head);
        let after = self.composed(ui, local, caret);
        let caret = caret.translate(vec2(after, 0.0));
        egui::text_selection::visuals::paint_text_cursor(
            ui,
            ui.painter(),
            caret,
            now - local.touched_at,
        );
        ui.output_mut(|output| {
            output.ime = Some(egui::output::IMEOutput {
                purpose: egui::IMEPurpose::Normal,
                rect: self.view,
                cursor_rect: caret,
                should_interrupt_composition: false,
            });
        });
    }

    /// Letters that an input method has not put in yet, over the text behind the caret. Gives their width.
    fn composed(&self, ui: &Ui, local: &Local, caret: Rect) -> f32 {
        if local.composed.is_empty() {
            return 0.0;
        }
        let galley =
            ui.painter().layout_no_wrap(local.composed.clone(), self.font.clone(), theme::strong());
        let rect = Rect::from_min_size(caret.min, vec2(galley.size().x, caret.height()));
        ui.painter().rect_filled(rect, 0.0, theme::raised());
        ui.painter().hline(rect.x_range(), rect.bottom() - 2.0, Stroke::new(1.0, theme::accent()));
        let top = rect.center().y - galley.size().y / 2.0;
        let width = galley.size().x;
        ui.painter().galley(egui::pos2(rect.left(), top), galley, theme::strong());
        width
    }
}

/// The numbers of the lines, with the worst remark of each.
pub(super) fn gutter(
    canvas: &Canvas<'_>,
    painter: &Painter,
    gutter: Rect,
    can_fold: impl Fn(usize) -> bool,
) {
    painter.rect_filled(gutter, 0.0, theme::ground());
    let (caret, _) = canvas.buffer.place(canvas.buffer.selections().primary().head);
    for line in canvas.rows.shown(canvas.rows.visible(gutter)) {
        let band = canvas.rows.band(line);
        let worst = canvas.marks.worst(line);
        if let Some(severity) = worst {
            let rect = Rect::from_x_y_ranges(gutter.x_range(), band);
            painter.rect_filled(rect, 0.0, theme::faded(icons::severity_color(severity), 0.10));
            icons::severity(painter, egui::pos2(gutter.left() + 11.0, band.center()), severity);
        }
        let color = match worst {
            Some(severity) => icons::severity_color(severity),
            None if canvas.focused && line == caret => theme::text(),
            None => theme::faint(),
        };
        let is_folded = canvas.rows.is_folded(line);
        if is_folded || can_fold(line) {
            sign(painter, egui::pos2(gutter.right() - SIGN / 2.0, band.center()), is_folded);
        }
        let place = egui::pos2(gutter.right() - SIGN - 2.0, band.center());
        painter.text(place, egui::Align2::RIGHT_CENTER, line + 1, canvas.font.clone(), color);
    }
}

/// The sign of what is folded, which points to the right, or of what can be, which points down.
fn sign(painter: &Painter, center: egui::Pos2, is_folded: bool) {
    let points = match is_folded {
        true => [vec2(-1.5, -3.5), vec2(2.0, 0.0), vec2(-1.5, 3.5)],
        false => [vec2(-3.5, -1.5), vec2(0.0, 2.0), vec2(3.5, -1.5)],
    };
    let color = if is_folded { theme::text() } else { theme::faint() };
    let points = points.map(|by| center + by).to_vec();
    painter.add(Shape::line(points, Stroke::new(1.4, color)));
}

/// Where the square of colour of a line stands.
fn square(rows: &Rows<'_>, buffer: &Buffer, line: usize) -> Rect {
    let place = rows.caret(buffer.line(line).end);
    let center = place.center() + vec2(rows.advance + SWATCH / 2.0, 0.0);
    Rect::from_center_size(center, vec2(SWATCH, SWATCH))
}

fn texts(buffer: &Buffer, lines: Range<usize>) -> Vec<String> {
    lines.map(|line| buffer.text(buffer.line(line))).collect()
}

/// The line at a point, and its square of colour, where the point is on that.
pub(super) fn square_at(rows: &Rows<'_>, buffer: &Buffer, at: egui::Pos2) -> Option<(usize, Rect)> {
    let line = rows.line_at(at.y);
    let square = Some(square(rows, buffer, line)).filter(|of| of.expand(3.0).contains(at))?;
    let first = line.saturating_sub(AROUND);
    let around = texts(buffer, first..(line + AROUND).min(rows.lines()));
    swatch::color_on(&around, line - first).map(|_| (line, square))
}
