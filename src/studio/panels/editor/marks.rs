//! The compiler's remarks on their lines.

use std::{collections::BTreeMap, ops::Range, time::Duration};

use egui::{
    Align2, Color32, FontId, Painter, Pos2, Rangef, Rect, Response, Shape, Stroke, Ui, vec2,
};

use super::rows::Rows;
use crate::{
    diagnostic::{Diagnostic, Severity},
    session::Snapshot,
    studio::{icons, panels::diagnostics, text::Buffer, theme},
};

/// The remarks on each line, counted from 0; the worst one of a line first.
pub struct Marks<'a>(pub BTreeMap<usize, Vec<&'a Diagnostic>>);

impl<'a> Marks<'a> {
    /// Those about `file`.
    pub fn new(snapshot: &'a Snapshot, file: &str) -> Self {
        let mut marks: BTreeMap<usize, Vec<&Diagnostic>> = BTreeMap::new();
        for diagnostic in diagnostics::all(snapshot).filter(|d| d.file == file) {
            if let Some(line) = diagnostic.line {
                marks.entry((line as usize).saturating_sub(1)).or_default().push(diagnostic);
            }
        }
        for remarks in marks.values_mut() {
            remarks.sort_by_key(|remark| std::cmp::Reverse(remark.severity));
        }
        Self(marks)
    }

    /// The worst remark on a line.
    pub fn worst(&self, line: usize) -> Option<Severity> {
        self.0.get(&line).map(|remarks| remarks[0].severity)
    }

    /// The next line behind `line` with an error, or with a warning or a note where there is nothing worse, and the
    /// column of the worst remark there; after the last one the first. `back`: the one before.
    pub fn beside(&self, line: usize, back: bool) -> Option<(u32, Option<u32>)> {
        let worst = self.0.values().map(|remarks| remarks[0].severity).max()?.min(Severity::Error);
        let counts = |remarks: &[&Diagnostic]| remarks[0].severity >= worst;
        let mut lines: Vec<usize> =
            self.0.iter().filter(|(_, remarks)| counts(remarks)).map(|(line, _)| *line).collect();
        if back {
            lines.reverse();
        }
        let is_beside = |found: &&usize| if back { **found < line } else { **found > line };
        let found = lines.iter().find(is_beside).or(lines.first())?;
        let column = self.0.get(found).and_then(|remarks| remarks[0].column);
        Some((*found as u32 + 1, column))
    }

    /// The wavy line below the word that each remark is about, and the worst remark behind the line's end.
    pub fn paint(
        &self,
        painter: &Painter,
        rows: &Rows<'_>,
        buffer: &Buffer,
        font: &FontId,
        lines: Range<usize>,
    ) {
        let small = FontId::proportional(font.size * 0.95);
        for (line, remarks) in self.0.range(lines) {
            let own = buffer.line(*line);
            let band = rows.band(*line);
            let characters: Vec<char> = buffer.rope().slice(own.clone()).chars().collect();
            for remark in remarks {
                let word = word_at(&characters, remark.column);
                let x = |column: usize| rows.x(*line, column.min(own.len()));
                let color = icons::severity_color(remark.severity);
                // A word may be as long as the text, and a line may have none.
                let right = x(word.end).max(x(word.start) + rows.advance);
                let seen =
                    painter.clip_rect().x_range().intersection(Rangef::new(x(word.start), right));
                if seen.min <= seen.max {
                    painter.add(wave(seen.min, seen.max, band.max - 2.0, color));
                }
            }
            let color = icons::severity_color(remarks[0].severity);
            let first_line = remarks[0].text.lines().next().unwrap_or_default();
            let place = Pos2::new(rows.x(*line, own.len()) + 28.0, band.center());
            let color = theme::faded(color, 0.85);
            painter.text(place, Align2::LEFT_CENTER, first_line, small.clone(), color);
        }
    }

    /// All remarks on the line under the pointer, in full.
    pub fn tooltip(&self, ui: &Ui, response: &Response, whole: Rect, rows: &Rows<'_>) {
        let Some(pointer) = ui.input(|input| input.pointer.hover_pos()) else { return };
        if !whole.contains(pointer) || !rows.band(rows.line_at(pointer.y)).contains(pointer.y) {
            return;
        }
        let Some(remarks) = self.0.get(&rows.line_at(pointer.y)) else { return };
        if ui.input(|input| input.pointer.time_since_last_movement() <= 0.25) {
            return ui.request_repaint_after(Duration::from_millis(260));
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
}

/// The columns (from 0) of the word at `column` (from 1); the whole line without its indentation where the column is
/// unknown or behind the end.
fn word_at(line: &[char], column: Option<u32>) -> Range<usize> {
    let at = column.map(|column| column.saturating_sub(1) as usize);
    match at.filter(|at| *at < line.len()) {
        Some(start) => {
            let is_word = |c: &&char| c.is_alphanumeric() || **c == '_';
            let word = line[start..].iter().take_while(is_word).count();
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

    #[test]
    fn errors_are_walked_through_in_a_circle() {
        let remark = |line, severity| Diagnostic {
            line: Some(line),
            column: Some(7),
            severity,
            ..Diagnostic::error("a.cu", "text")
        };
        let all =
            [remark(3, Severity::Error), remark(9, Severity::Fault), remark(5, Severity::Warning)];
        let marks = Marks(all.iter().map(|d| (d.line.unwrap() as usize - 1, vec![d])).collect());
        let walk = |from: usize, back| marks.beside(from, back).map(|(line, _)| line);
        assert_eq!([0, 2, 8].map(|from| walk(from, false)), [Some(3), Some(9), Some(3)]);
        assert_eq!([0, 2, 8].map(|from| walk(from, true)), [Some(9), Some(9), Some(3)]);
        let warning = Marks([(4, vec![&all[2]])].into());
        assert_eq!(warning.beside(0, false), Some((5, Some(7))));
        assert_eq!(Marks(BTreeMap::new()).beside(0, false), None);
    }
}
