//! The device time of every pass, and of the window's own frames, with their history.

use egui::{Align, Color32, Layout, RichText, Sense, Ui, UiBuilder, vec2};
use egui_plot::{GridMark, Line, Plot, PlotPoints};

use super::{FrameTimes, named};
use crate::{
    session::{Guarding, Snapshot},
    studio::{number, theme},
};

/// A row of the table and a line of the plot.
struct Series<'a> {
    name: &'a str,
    last_ms: f32,
    history_ms: &'a [f32],
    color: Color32,
}

/// The table, and the plot right of it where there is room.
pub fn show(ui: &mut Ui, snapshot: &Snapshot, frames: &FrameTimes) {
    let rows = series(snapshot, frames);
    let space = ui.available_rect_before_wrap();
    let table_width = 300.0_f32.min(space.width());
    let (left, right) = space.split_left_right_at_x(space.left() + table_width);
    ui.scope_builder(UiBuilder::new().max_rect(left), |ui| {
        let area = egui::ScrollArea::vertical().id_salt("timings").auto_shrink(false);
        area.show(ui, |ui| {
            table(ui, &rows);
            if let Some(guard) = &snapshot.guard {
                guarding(ui, guard);
            }
        });
    });
    let right = right.with_min_x(right.left() + 12.0);
    if right.width() > 120.0 {
        ui.scope_builder(UiBuilder::new().max_rect(right), |ui| plot(ui, &rows));
    }
}

fn series<'a>(snapshot: &'a Snapshot, frames: &'a FrameTimes) -> Vec<Series<'a>> {
    let passes = snapshot.passes.iter().enumerate().map(|(at, pass)| Series {
        name: &pass.name,
        last_ms: pass.last_ms,
        history_ms: &pass.history_ms,
        color: theme::series()[at % theme::series().len()],
    });
    let window =
        [("draw", &frames.draw_ms, theme::strong()), ("frame", &frames.frame_ms, theme::faint())];
    let window = window.into_iter().map(|(name, history, color)| Series {
        name,
        last_ms: history.last().copied().unwrap_or(0.0),
        history_ms: history,
        color,
    });
    passes.chain(window).collect()
}

fn table(ui: &mut Ui, rows: &[Series<'_>]) {
    ui.spacing_mut().item_spacing.y = 3.0;
    row(ui, None, ["pass", "last", "median"], theme::weak());
    for series in rows {
        let (last, median) = (
            number::milliseconds(series.last_ms),
            number::milliseconds(number::median(series.history_ms)),
        );
        row(ui, Some(series.color), [series.name, &last, &median], theme::text());
    }
}

/// What guards the kernels on a GPU.
fn guarding(ui: &mut Ui, guard: &Guarding) {
    let Guarding { accesses, proved, checked, at_launch } = *guard;
    let text = format!("guard: {accesses} accesses, {proved} proved, {checked} checks");
    let about = format!(
        "An access outside its memory is told and does not happen, and a kernel that does not end is stopped. \
         {at_launch} of the checks are not needed in launches of which the arguments prove that they hold. \
         A pass with `guard = \"off\"` does without."
    );
    ui.label(RichText::new(text).small().color(theme::weak())).on_hover_text(about);
}

fn row(ui: &mut Ui, swatch: Option<Color32>, [name, last, median]: [&str; 3], color: Color32) {
    let header = swatch.is_none();
    let text = |text: &str| match header {
        true => RichText::new(text).small().color(color),
        false => RichText::new(text).monospace().color(color),
    };
    ui.horizontal(|ui| {
        ui.set_height(17.0);
        let (rect, _) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
        if let Some(swatch) = swatch {
            ui.painter().rect_filled(rect.shrink(1.0), 2.0, swatch);
        }
        let cell = |ui: &mut Ui, width: f32, layout: Layout, words: &str| {
            ui.allocate_ui_with_layout(vec2(width, 17.0), layout, |ui| {
                ui.set_width(width);
                ui.add(egui::Label::new(text(words)).truncate());
            });
        };
        cell(
            ui,
            (ui.available_width() - 164.0).max(60.0),
            Layout::left_to_right(Align::Center),
            name,
        );
        cell(ui, 66.0, Layout::right_to_left(Align::Center), last);
        cell(ui, 66.0, Layout::right_to_left(Align::Center), median);
    });
}

fn plot(ui: &mut Ui, rows: &[Series<'_>]) {
    let passes =
        rows.iter().filter(|series| series.name != "frame" && !series.history_ms.is_empty());
    let lines: Vec<Line<'_>> = passes
        .map(|series| {
            let first = -(series.history_ms.len() as f64) + 1.0;
            let points = series.history_ms.iter().enumerate();
            let points: PlotPoints<'_> =
                points.map(|(at, ms)| [first + at as f64, f64::from(*ms)]).collect();
            Line::new(series.name, points).color(series.color).width(1.5)
        })
        .collect();
    let axis =
        |mark: GridMark, _: &std::ops::RangeInclusive<f64>| number::milliseconds(mark.value as f32);
    let plot = Plot::new("timing history")
        .show_x(false)
        .set_margin_fraction(vec2(0.0, 0.08))
        .grid_color(theme::line())
        .show_axes([false, true])
        .y_axis_formatter(axis)
        .y_axis_min_width(54.0)
        .include_y(0.0)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_axis_zoom_drag(false)
        .show_grid([false, true])
        .label_formatter(|hover| {
            let (name, at) = match hover {
                egui_plot::HoverPosition::NearDataPoint { plot_name, position, .. } => {
                    (*plot_name, position.y)
                }
                egui_plot::HoverPosition::Elsewhere { position } => ("", position.y),
            };
            Some(format!("{name}  {}", number::milliseconds(at as f32)))
        })
        .show(ui, |plot| lines.into_iter().for_each(|line| plot.line(line)));
    named(&plot.response, "Times of the last steps and frames");
}
