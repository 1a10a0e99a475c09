//! The scene's plots, side by side.

use egui::{Color32, Rect, ScrollArea, Sense, Ui, vec2};

use crate::{
    session::{Look, Snapshot},
    studio::theme,
};

/// Sizes in points: a plot is at least so large.
const LEAST: egui::Vec2 = vec2(300.0, 150.0);
const GAP: f32 = 10.0;

/// In the panel.
fn look() -> Look {
    Look {
        ground: Color32::TRANSPARENT,
        title: theme::strong(),
        text: theme::weak(),
        grid: theme::line(),
        series: theme::series(),
    }
}

/// As many in a row as there is room for.
pub fn show(ui: &mut Ui, snapshot: &Snapshot) {
    let space = ui.available_size();
    let columns = ((space.x + GAP) / (LEAST.x + GAP)).floor().max(1.0);
    let columns = (columns as usize).min(snapshot.plots.len().max(1));
    let width = (space.x - GAP * (columns - 1) as f32) / columns as f32;
    let rows = snapshot.plots.len().div_ceil(columns).max(1);
    let height = (space.y / rows as f32 - GAP).max(LEAST.y);
    ScrollArea::vertical().id_salt("plots").auto_shrink(false).show(ui, |ui| {
        for row in snapshot.plots.chunks(columns) {
            let (line, _) = ui.allocate_exact_size(vec2(space.x, height), Sense::hover());
            for (index, chart) in row.iter().enumerate() {
                let left = line.left() + index as f32 * (width + GAP);
                let room = Rect::from_min_size(egui::pos2(left, line.top()), vec2(width, height));
                if ui.is_rect_visible(room) {
                    let painter = ui.painter_at(room);
                    painter.extend(painter.fonts_mut(|fonts| chart.shapes(room, &look(), fonts)));
                }
            }
        }
    });
}
