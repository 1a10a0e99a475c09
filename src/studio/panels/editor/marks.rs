//! The compiler's remarks on their lines.

use std::{borrow::Cow, collections::BTreeMap, ops::Range, path::Path, time::Duration};

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
pub struct Marks<'a>(pub BTreeMap<usize, Vec<Cow<'a, Diagnostic>>>);

impl<'a> Marks<'a> {
    /// Those about `file`, whose text is `buffer`, and those about files that it includes.
    pub fn new(snapshot: &'a Snapshot, file: &str, buffer: &Buffer) -> Self {
        let mut marks: BTreeMap<usize, Vec<Cow<'_, Diagnostic>>> = BTreeMap::new();
        for diagnostic in diagnostics::all(snapshot) {
            let found = match diagnostic.file == file {
                true => diagnostic
                    .line
                    .map(|line| ((line as usize).saturating_sub(1), Cow::Borrowed(diagnostic))),
                false => included_at(buffer, &diagnostic.file)
                    .map(|line| (line, Cow::Owned(of_include(diagnostic)))),
            };
            if let Some((line, remark)) = found {
                marks.entry(line).or_default().push(remark);
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
        let counts = |remarks: &[Cow<'_, Diagnostic>]| remarks[0].severity >= worst;
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

/// The line, from 0, on which a text includes the file that diagnostics call so.
fn included_at(buffer: &Buffer, file: &str) -> Option<usize> {
    let name = |path: &str| Path::new(path).file_name().map(ToOwned::to_owned);
    let wanted = name(file)?;
    buffer.rope().lines().position(|line| {
        let line = line.to_string();
        let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
        let path = directive.and_then(|rest| rest.strip_prefix("include")).map(str::trim);
        let path = path.map(|path| path.trim_start_matches(['"', '<']));
        let path = path.and_then(|path| path.split(['"', '>']).next());
        path.is_some_and(|path| name(path).as_ref() == Some(&wanted))
    })
}

/// A remark about an included file, as one on the line that includes it.
fn of_include(diagnostic: &Diagnostic) -> Diagnostic {
    let line = diagnostic.line.map_or_else(String::new, |line| format!(":{line}"));
    let text = format!("{}{line}: {}", diagnostic.file, diagnostic.text);
    Diagnostic { text, column: None, ..diagnostic.clone() }
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
    fn an_error_in_a_header_is_on_the_line_that_includes_it() {
        let mut snapshot = crate::studio::test_screen::snapshot();
        let header = Diagnostic::error("inc/helpers.cuh", "expected a `;`").at(7, 3);
        snapshot.compile.diagnostics = vec![header];
        let buffer = Buffer::new("// helpers.cuh\n#include <cmath>\n  # include \"helpers.cuh\"\n");
        let marks = Marks::new(&snapshot, "a.cu", &buffer);
        let found: Vec<_> = marks.0.iter().map(|(line, of)| (*line, of[0].text.as_str())).collect();
        assert_eq!(found, [(2, "inc/helpers.cuh:7: expected a `;`")]);
        assert_eq!(marks.beside(0, false), Some((3, None)), "F8 goes there");
        assert!(Marks::new(&snapshot, "a.cu", &Buffer::new("int a;")).0.is_empty());
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
        let own = |d| vec![Cow::Borrowed(d)];
        let marks = Marks(all.iter().map(|d| (d.line.unwrap() as usize - 1, own(d))).collect());
        let walk = |from: usize, back| marks.beside(from, back).map(|(line, _)| line);
        assert_eq!([0, 2, 8].map(|from| walk(from, false)), [Some(3), Some(9), Some(3)]);
        assert_eq!([0, 2, 8].map(|from| walk(from, true)), [Some(9), Some(9), Some(3)]);
        let warning = Marks([(4, own(&all[2]))].into());
        assert_eq!(warning.beside(0, false), Some((5, Some(7))));
        assert_eq!(Marks(BTreeMap::new()).beside(0, false), None);
    }
}
