//! The times of the last steps as pictures.

use egui::{Rect, RichText, Sense, Ui, pos2, vec2};
use egui_plot::{GridMark, Line, Plot, PlotPoints};

use super::{Series, label};
use crate::studio::{number, panels::named, theme};

pub(super) fn plot(ui: &mut Ui, rows: &[Series<'_>]) {
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

/// The passes of each step on top of one another: how long the step took, and what of it.
pub(super) fn stacked(ui: &mut Ui, rows: &[Series<'_>]) {
    let passes: Vec<&Series<'_>> = rows.iter().filter(|series| series.is_pass).collect();
    let steps = passes.iter().map(|pass| pass.history_ms.len()).max().unwrap_or(0);
    let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::hover());
    ui.painter().rect_filled(rect, 3.0, theme::ground());
    // Histories end at the same step, and begin where their pass did.
    let of = |pass: &Series<'_>, back: usize| {
        pass.history_ms.len().checked_sub(back + 1).map_or(0.0, |at| pass.history_ms[at])
    };
    let whole = |back: usize| passes.iter().map(|pass| of(pass, back)).sum::<f32>();
    let most = (0..steps).map(whole).fold(0.0, f32::max);
    if most <= 0.0 {
        return;
    }
    let area = rect.shrink2(vec2(0.0, 2.0)).with_min_y(rect.top() + 16.0);
    let width = area.width() / steps as f32;
    for back in 0..steps {
        let right = area.right() - back as f32 * width;
        let mut bottom = area.bottom();
        for pass in &passes {
            let top = bottom - of(pass, back) / most * area.height();
            let bar = Rect::from_min_max(pos2(right - width, top), pos2(right, bottom));
            ui.painter().rect_filled(bar, 0.0, pass.color);
            bottom = top;
        }
    }
    label(
        ui,
        rect.left_top() + vec2(6.0, 3.0),
        &format!("{} a step at most", number::milliseconds(most)),
    );
    let hovered = response.hover_pos().map(|at| ((area.right() - at.x) / width) as usize);
    if let Some(back) = hovered.filter(|back| *back < steps) {
        let right = area.right() - back as f32 * width;
        let column = Rect::from_x_y_ranges(right - width..=right, area.y_range());
        ui.painter().rect_filled(column, 0.0, theme::faded(theme::strong(), 0.15));
        let parts = passes
            .iter()
            .rev()
            .map(|pass| format!("{}  {}", pass.name, number::milliseconds(of(pass, back))));
        let text = format!(
            "{}\n{}",
            match back {
                0 => "the last step".to_owned(),
                back => format!("{back} steps before"),
            },
            parts.collect::<Vec<_>>().join("\n")
        );
        response.on_hover_text_at_pointer(RichText::new(text).monospace());
    }
}
