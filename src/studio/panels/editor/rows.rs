//! Where lines and columns are on the screen. A line is laid out when it is asked for, and of a long one no more than
//! is asked for: egui keeps what it has laid out as long as it is asked for in each frame.

use std::{ops::Range, sync::Arc};

use egui::{
    Align, FontId, Galley, Pos2, Rangef, Rect, Ui,
    text::{CCursor, LayoutJob, LayoutSection, TextFormat},
    vec2,
};

use crate::studio::{
    folds::Folds, highlight::Syntax, highlighter::Highlighter, text::Buffer, theme,
};

/// Lines are laid out in parts of so many characters. Parts stand where they would if all letters were as wide as a
/// digit, which those of the code font are.
const PART: usize = 512;

/// The rows of a text.
pub struct Rows<'a> {
    ui: &'a Ui,
    buffer: &'a Buffer,
    colors: &'a Highlighter,
    /// The lines that have no row.
    folds: &'a Folds,
    font: FontId,
    /// The height of a row.
    pub height: f32,
    /// The width of a digit.
    pub advance: f32,
    /// Where the first column of the first line is, which may be far outside of what is seen.
    pub origin: Pos2,
}

impl<'a> Rows<'a> {
    /// The rows of `buffer`, whose colours are `colors`.
    pub fn new(
        ui: &'a Ui,
        (buffer, folds): (&'a Buffer, &'a Folds),
        colors: &'a Highlighter,
        font: FontId,
        origin: Pos2,
    ) -> Self {
        let advance = ui.fonts_mut(|fonts| fonts.glyph_width(&font, '0')).max(1.0);
        Self { height: row_height(&font), advance, font, ui, buffer, colors, folds, origin }
    }

    /// The number of lines.
    pub fn lines(&self) -> usize {
        self.buffer.rope().len_lines()
    }

    /// The number of rows: of lines that are not folded away.
    pub fn count(&self) -> usize {
        self.lines() - self.folds.count().min(self.lines() - 1)
    }

    /// The band of a line, from top to bottom; that of the line before the fold, where it is folded away.
    pub fn band(&self, line: usize) -> Rangef {
        let top = self.origin.y + self.folds.row(line) as f32 * self.height;
        Rangef::new(top, top + self.height)
    }

    /// The lines of which something is within `view`, those among them that are folded away, too.
    pub fn visible(&self, view: Rect) -> Range<usize> {
        let at = |y: f32| ((y - self.origin.y) / self.height).floor().max(0.0) as usize;
        let line = |row: usize| self.folds.line(row).min(self.lines());
        line(at(view.top()).min(self.count()))..line((at(view.bottom()) + 1).min(self.count()))
    }

    /// The same, without those that are folded away.
    pub fn shown(&self, lines: Range<usize>) -> impl Iterator<Item = usize> {
        lines.filter(|line| !self.folds.hides(*line))
    }

    /// Whether a line is folded away.
    pub fn hides(&self, line: usize) -> bool {
        self.folds.hides(line)
    }

    /// Whether lines behind this one are folded away.
    pub fn is_folded(&self, line: usize) -> bool {
        self.folds.is_head(line)
    }

    /// The line at a height, or the nearest one.
    pub fn line_at(&self, y: f32) -> usize {
        let row = ((y - self.origin.y) / self.height).floor().max(0.0) as usize;
        self.folds.line(row.min(self.count() - 1)).min(self.lines() - 1)
    }

    /// The character that a caret stands before which is put at a point.
    pub fn place(&self, point: Pos2) -> usize {
        let line = self.line_at(point.y);
        let range = self.buffer.line(line);
        let x = (point.x - self.origin.x).max(0.0);
        let part = ((x / self.part_width()) as usize).min(range.len() / PART);
        let galley = self.part(line, part);
        let within = vec2(x - part as f32 * self.part_width(), self.height / 2.0);
        let column = part * PART + galley.cursor_from_pos(within).index.0;
        (range.start + column).min(range.end)
    }

    /// Where a column of a line is.
    pub fn x(&self, line: usize, column: usize) -> f32 {
        let part = column / PART;
        let within = CCursor::new(column - part * PART);
        let x = self.part(line, part).pos_from_cursor(within).left();
        self.origin.x + part as f32 * self.part_width() + x
    }

    /// Where a character is: a line as high as its row.
    pub fn caret(&self, at: usize) -> Rect {
        let (line, column) = self.buffer.place(at);
        let x = self.x(line, column);
        Rect::from_x_y_ranges(Rangef::point(x), self.band(line))
    }

    /// What of a range of characters lies on a line; where the range goes on, with something for the line's end.
    pub fn piece(&self, line: usize, range: &Range<usize>) -> Option<Rect> {
        let own = self.buffer.line(line);
        if range.end < own.start || range.start > own.end || self.hides(line) {
            return None;
        }
        let column = |at: usize| at.clamp(own.start, own.end) - own.start;
        let left = self.x(line, column(range.start));
        let right = self.x(line, column(range.end));
        let end = if range.end > own.end { self.advance * 0.6 } else { 0.0 };
        Some(Rect::from_x_y_ranges(Rangef::new(left, right + end), self.band(line)))
    }

    /// The parts of a line that are within `view`, with their places.
    pub fn parts(&self, line: usize, view: Rect) -> Vec<(Pos2, Arc<Galley>)> {
        let last = self.buffer.line(line).len().saturating_sub(1) / PART;
        let at = |x: f32| (((x - self.origin.x) / self.part_width()).max(0.0) as usize).min(last);
        // Letters that are wider than digits reach out of their part.
        let first = at(view.left()).saturating_sub(1);
        let place = |part: usize| {
            Pos2::new(self.origin.x + part as f32 * self.part_width(), self.band(line).min)
        };
        (first..=at(view.right())).map(|part| (place(part), self.part(line, part))).collect()
    }

    fn part_width(&self) -> f32 {
        self.advance * PART as f32
    }

    fn part(&self, line: usize, part: usize) -> Arc<Galley> {
        let own = self.buffer.line(line);
        let start = (own.start + part * PART).min(own.end);
        let end = (start + PART).min(own.end);
        let byte = |at: usize| {
            self.buffer.rope().char_to_byte(at) - self.buffer.rope().char_to_byte(own.start)
        };
        let job = self.job(line, self.buffer.text(start..end), byte(start)..byte(end));
        self.ui.fonts_mut(|fonts| fonts.layout_job(job))
    }

    /// What to lay out for the bytes `range` of a line.
    fn job(&self, line: usize, text: String, range: Range<usize>) -> LayoutJob {
        let section = |range: Range<usize>, syntax| LayoutSection {
            leading_space: 0.0,
            byte_range: range.start.into()..range.end.into(),
            format: TextFormat {
                line_height: Some(self.height),
                valign: Align::Center,
                ..TextFormat::simple(self.font.clone(), theme::syntax(syntax))
            },
        };
        let (mut sections, mut at) = (Vec::new(), 0);
        for piece in self.colors.line(line) {
            let own = at..at + piece.length as usize;
            at = own.end;
            let (start, end) = (own.start.max(range.start), own.end.min(range.end));
            if start < end {
                sections.push(section(start - range.start..end - range.start, piece.syntax));
            }
        }
        if sections.is_empty() {
            sections.push(section(0..text.len(), Syntax::Plain));
        }
        let mut job = LayoutJob { text, sections, ..LayoutJob::default() };
        job.wrap.max_width = f32::INFINITY;
        job.keep_trailing_whitespace = true;
        job
    }
}

/// The height of a row.
pub fn row_height(font: &FontId) -> f32 {
    (font.size * 1.45).round()
}
