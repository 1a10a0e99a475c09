//! The manifest's own statistics, and those of every resource, a row a component.

use egui::{Align, Align2, Color32, FontId, Layout, RichText, Ui};
use egui_extras::{Column, TableBody, TableBuilder};

use crate::{
    element::Element,
    session::{Resource, Snapshot, Stat, Statistics},
    studio::{highlight::Syntax, number, theme},
};

const ROW: f32 = 20.0;
const HEADERS: [&str; 8] = ["count", "min", "max", "mean", "std", "NaN", "Inf", "range"];

/// The table.
pub fn show(ui: &mut Ui, snapshot: &Snapshot) {
    ui.spacing_mut().item_spacing.y = 0.0;
    if snapshot.resources.is_empty() {
        let running = snapshot.compile.running > 0;
        let text = if running { "This scene has no resources." } else { "Nothing runs yet." };
        ui.label(RichText::new(text).color(theme::weak()));
        return;
    }
    if !snapshot.stats.is_empty() {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = egui::vec2(6.0, 2.0);
            snapshot.stats.iter().for_each(|stat| own(ui, stat));
        });
        ui.add_space(6.0);
    }
    let scroll = egui::ScrollArea::horizontal().id_salt("statistics across").auto_shrink(false);
    scroll.show(ui, |ui| table(ui, snapshot));
}

/// One of the manifest's own: its name and its value.
fn own(ui: &mut Ui, stat: &Stat) {
    let told = || {
        let Stat { reduce, map, of, .. } = stat;
        let mut text = format!("{reduce} of {map} over {of}");
        if let Some(values) = &stat.values {
            let (min, max) = (number::value(values.min), number::value(values.max));
            let (count, step) = (number::count(values.count), number::count(stat.step));
            text += &format!("\n{count} values from {min} to {max}, after step {step}");
            if values.nan + values.inf > 0 {
                let (nan, inf) = (number::count(values.nan), number::count(values.inf));
                text += &format!("\n{nan} NaN, {inf} infinite");
            }
        }
        text
    };
    let value = stat.value.map_or_else(|| "\u{2013}".to_owned(), number::value);
    let color = if stat.value.is_some_and(f64::is_nan) { theme::error() } else { theme::strong() };
    ui.label(RichText::new(&stat.name).color(theme::text())).on_hover_text(told());
    ui.label(ui_text(value).color(color)).on_hover_text(told());
    ui.add_space(12.0);
}

fn table(ui: &mut Ui, snapshot: &Snapshot) {
    let height = (ui.available_height() - 34.0).max(20.0);
    TableBuilder::new(ui)
        .id_salt("statistics")
        .auto_shrink(false)
        .min_scrolled_height(0.0)
        .max_scroll_height(height)
        .cell_layout(Layout::right_to_left(Align::Center))
        .column(Column::initial(134.0).at_least(90.0).clip(true))
        .columns(Column::initial(66.0).at_least(48.0), 5)
        .columns(Column::initial(40.0).at_least(32.0), 2)
        .column(Column::initial(84.0).at_least(60.0))
        .header(22.0, |mut row| {
            row.col(|ui| {
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| header(ui, "resource"));
            });
            for name in HEADERS {
                row.col(|ui| header(ui, name));
            }
        })
        .body(|mut body| {
            for resource in &snapshot.resources {
                rows(&mut body, resource);
            }
        });
}

fn header(ui: &mut Ui, text: &str) {
    ui.label(RichText::new(text).small().color(theme::weak()));
}

fn rows(body: &mut TableBody<'_>, resource: &Resource) {
    if resource.components.is_empty() {
        body.row(ROW, |mut row| {
            row.col(|ui| name(ui, resource, None));
            row.col(|ui| cell(ui, number::count(resource.count), theme::text()));
            for _ in &HEADERS[1..] {
                row.col(|ui| cell(ui, "\u{2013}".to_owned(), theme::faint()));
            }
        });
    }
    let several = resource.components.len() > 1;
    for (at, statistics) in resource.components.iter().enumerate() {
        body.row(ROW, |mut row| {
            row.col(|ui| name(ui, resource, several.then_some(at)));
            row.col(|ui| cell(ui, number::count(statistics.count), theme::text()));
            for (value, color) in numbers(statistics, &resource.element) {
                row.col(|ui| cell(ui, value, color));
            }
            row.col(|ui| alarm(ui, statistics.nan));
            row.col(|ui| alarm(ui, statistics.inf));
            row.col(|ui| range(ui, statistics));
        });
    }
}

/// Least and greatest value, mean and standard deviation; dashes where no value is finite.
fn numbers(of: &Statistics, element: &str) -> [(String, Color32); 4] {
    if of.min > of.max {
        return std::array::from_fn(|_| ("\u{2013}".to_owned(), theme::faint()));
    }
    let is_whole = Element::parse(element).is_some_and(|element| !element.scalar.is_float());
    let end = |value| if is_whole { number::whole(value) } else { number::value(value) };
    [
        (end(of.min), theme::text()),
        (end(of.max), theme::text()),
        (number::value(of.mean), theme::strong()),
        (number::value(of.std), theme::text()),
    ]
}

/// The resource's name in its first row, then the component alone.
fn name(ui: &mut Ui, resource: &Resource, component: Option<usize>) {
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let text = |text: String, color| ui_text(text).color(color);
        let letter = component.map(|at| resource.names.get(at).map_or("?", String::as_str));
        match letter {
            Some(letter) => {
                let shown = if component == Some(0) { theme::strong() } else { theme::faint() };
                ui.spacing_mut().item_spacing.x = 0.0;
                ui.label(text(resource.name.clone(), shown));
                ui.label(text(format!(".{letter}"), theme::syntax(Syntax::Bound)));
                ui.add_space(6.0);
            }
            None => {
                ui.label(text(resource.name.clone(), theme::strong()));
            }
        }
        if component.unwrap_or(0) == 0 {
            let shared = if resource.shared { ", drawn" } else { "" };
            let kind = ui.label(RichText::new(&resource.element).small().color(theme::weak()));
            kind.on_hover_text(format!(
                "{} \u{d7} {}, {}{shared}; taken after step {}",
                number::count(resource.count),
                resource.element,
                number::bytes(resource.bytes),
                number::count(resource.step),
            ));
        }
    });
}

fn ui_text(text: String) -> RichText {
    RichText::new(text).monospace()
}

fn cell(ui: &mut Ui, text: String, color: Color32) {
    ui.label(ui_text(text).color(color));
}

/// A count that should be 0.
fn alarm(ui: &mut Ui, count: u64) {
    if count == 0 {
        cell(ui, "0".to_owned(), theme::faint());
        return;
    }
    let rect = ui.max_rect().shrink2(egui::vec2(2.0, 2.0));
    ui.painter().rect_filled(rect, 3.0, theme::faded(theme::error(), 0.25));
    cell(ui, number::count(count), theme::error());
}

/// Where 0 and the mean lie between the least and the greatest value.
fn range(ui: &mut Ui, statistics: &Statistics) {
    let rect = ui.max_rect().shrink2(egui::vec2(6.0, 0.0));
    let width = statistics.max - statistics.min;
    if !width.is_finite() {
        ui.painter().text(
            rect.center(),
            Align2::CENTER_CENTER,
            "\u{2013}",
            FontId::monospace(12.0),
            theme::faint(),
        );
        return;
    }
    let at = |value: f64| {
        let along = if width > 0.0 { (value - statistics.min) / width } else { 0.5 };
        egui::lerp(rect.left()..=rect.right(), along.clamp(0.0, 1.0) as f32)
    };
    let y = rect.center().y;
    let rail = egui::Rect::from_x_y_ranges(rect.x_range(), y - 1.5..=y + 1.5);
    ui.painter().rect_filled(rail, 1.5, theme::raised());
    if statistics.min < 0.0 && statistics.max > 0.0 {
        ui.painter().vline(at(0.0), y - 4.0..=y + 4.0, egui::Stroke::new(1.0, theme::faint()));
    }
    if statistics.mean.is_finite() {
        ui.painter().circle_filled(egui::pos2(at(statistics.mean), y), 3.5, theme::accent());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::test_screen::{TestScreen, snapshot};

    fn of(min: f64, max: f64, nan: u64) -> Statistics {
        let mean = if min <= max { 0.5 * (min + max) } else { f64::NAN };
        Statistics { count: 100, min, max, sum: 0.0, mean, std: 1.5, nan, inf: 0 }
    }

    #[test]
    fn whole_numbers_have_no_decimals_and_where_none_is_finite_are_dashes() {
        let mut snapshot = snapshot();
        snapshot.resources[0].element = "uchar4".into();
        snapshot.resources[0].components = vec![of(7.0, 255.0, 0)];
        let mut nan = snapshot.resources[0].clone();
        nan.element = "float".into();
        nan.components = vec![of(f64::INFINITY, f64::NEG_INFINITY, 100)];
        snapshot.resources.push(nan);
        let mut screen = TestScreen::default();
        for _ in 0..2 {
            screen.frame(|ui| show(ui, &snapshot));
        }
        let written = screen.written();
        for text in ["7", "255", "131.0", "\u{2013}"] {
            assert!(written.contains(&text), "{text}: {written:?}");
        }
        assert!(!written.contains(&"inf") && !written.contains(&"-inf"));
    }
}
