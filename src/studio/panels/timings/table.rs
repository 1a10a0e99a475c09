//! The times of passes and frames as numbers.

use egui::{Align, Color32, Layout, RichText, Sense, Ui, vec2};

use super::Series;
use crate::studio::{number, theme};

pub(super) const NUMBER: f32 = 62.0;

/// The height of a row of the table, and of one of the frame's parts.
pub(super) const ROW: f32 = 17.0;

/// The parts of the values in their order of which the table tells.
pub(super) const PARTS: [(f32, &str); 4] =
    [(0.5, "median"), (0.95, "95 %"), (0.99, "99 %"), (1.0, "most")];

pub(super) fn table(ui: &mut Ui, rows: &[Series<'_>]) {
    ui.spacing_mut().item_spacing.y = 3.0;
    let heads: Vec<String> =
        [("last")].into_iter().chain(PARTS.map(|(_, name)| name)).map(str::to_owned).collect();
    row(ui, None, "pass", &heads, theme::weak());
    for series in rows {
        let parts = number::quantiles(series.history_ms, &PARTS.map(|(part, _)| part));
        let numbers = [series.last_ms].into_iter().chain(parts).map(number::milliseconds);
        row(ui, Some(series.color), series.name, &numbers.collect::<Vec<_>>(), theme::text());
    }
}

pub(super) fn row(
    ui: &mut Ui,
    swatch: Option<Color32>,
    name: &str,
    numbers: &[String],
    color: Color32,
) {
    let header = swatch.is_none();
    let text = |text: &str| match header {
        true => RichText::new(text).small().color(color),
        false => RichText::new(text).monospace().color(color),
    };
    ui.horizontal(|ui| {
        ui.set_height(ROW);
        ui.spacing_mut().item_spacing.x = 4.0;
        let (rect, _) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
        if let Some(swatch) = swatch {
            ui.painter().rect_filled(rect.shrink(1.0), 2.0, swatch);
        }
        let cell = |ui: &mut Ui, width: f32, layout: Layout, words: &str| {
            ui.allocate_ui_with_layout(vec2(width, ROW), layout, |ui| {
                ui.set_width(width);
                ui.add(egui::Label::new(text(words)).truncate());
            });
        };
        let beside = numbers.len() as f32 * (NUMBER + 4.0);
        let width = (ui.available_width() - beside).max(50.0);
        cell(ui, width, Layout::left_to_right(Align::Center), name);
        for number in numbers {
            cell(ui, NUMBER, Layout::right_to_left(Align::Center), number);
        }
    });
}
