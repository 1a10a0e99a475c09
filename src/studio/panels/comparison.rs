//! How A and B compare: a line a resource, a line a pass.

use egui::{Align, Color32, Label, Layout, RichText, ScrollArea, Ui, UiBuilder};
use egui_extras::{Column, TableBody, TableBuilder};

use super::sides;
use crate::{
    diagnostic::Diagnostic,
    session::{Command, Compared, Comparison, ComparisonPhase, Parting, PassRatio, Unlike},
    studio::{action::Action, number, theme},
};

const ROW: f32 = 20.0;
const HEADERS: [&str; 5] = ["differ", "largest |A \u{2212} B|", "relative", "ulp", "first after"];
/// The width of the passes, which stand beside the resources where there is room for both, else below them.
const PASSES: f32 = 390.0;
const ENOUGH: f32 = 1000.0;
/// How clearly figures are seen to which nothing is added now.
const OF_BEFORE: f32 = 0.45;

/// The panel's content.
pub fn show(ui: &mut Ui, comparison: &Comparison) -> Vec<Action> {
    ui.spacing_mut().item_spacing.y = 0.0;
    let actions = heading(ui, comparison);
    ui.add_space(2.0);
    let space = ui.available_rect_before_wrap();
    let is_wide = space.width() >= ENOUGH;
    let width = if is_wide { space.width() - PASSES } else { space.width() };
    let (left, right) = space.split_left_right_at_x(space.left() + width);
    let is_of_now = matches!(comparison.phase, ComparisonPhase::Running);
    ui.scope_builder(UiBuilder::new().max_rect(left), |ui| {
        if !is_of_now {
            ui.set_opacity(OF_BEFORE);
        }
        let scroll = ScrollArea::both().id_salt("comparison").auto_shrink(false);
        scroll.show(ui, |ui| {
            table(ui, comparison);
            if !is_wide {
                ui.add_space(10.0);
                passes(ui, &comparison.passes);
            }
        });
    });
    if is_wide {
        let right = right.with_min_x(right.left() + 18.0);
        ui.scope_builder(UiBuilder::new().max_rect(right), |ui| {
            let scroll = ScrollArea::vertical().id_salt("comparison passes").auto_shrink(false);
            scroll.show(ui, |ui| passes(ui, &comparison.passes));
        });
    }
    actions
}

/// How far it is, in a sentence, and the end of it.
fn heading(ui: &mut Ui, comparison: &Comparison) -> Vec<Action> {
    let mut actions = Vec::new();
    ui.horizontal(|ui| {
        ui.set_height(22.0);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if ui.button("End").on_hover_text("Compare no more").clicked() {
                actions.push(Action::Session(Command::StopComparison));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = 10.0;
                for (letter, text, color) in [
                    ("A", "what runs".to_owned(), theme::a()),
                    ("B", sides::name(comparison), theme::b()),
                ] {
                    ui.label(RichText::new(letter).strong().color(color));
                    ui.label(RichText::new(text).color(theme::text()));
                }
                let (text, color) = told(comparison);
                ui.add(Label::new(RichText::new(&text).color(color)).truncate())
                    .on_hover_text(text);
            });
        });
    });
    actions
}

/// How far it is.
fn told(comparison: &Comparison) -> (String, Color32) {
    match &comparison.phase {
        ComparisonPhase::Compiling => {
            ("B is being compiled; A goes on alone".to_owned(), theme::weak())
        }
        ComparisonPhase::Waiting => ("B waits for A's state".to_owned(), theme::weak()),
        ComparisonPhase::Rejected(diagnostics) => {
            (format!("B does not run: {}", first_line(diagnostics)), theme::error())
        }
        ComparisonPhase::Faulted(fault) => {
            let fault = first_line(std::slice::from_ref(fault));
            (format!("B has stopped, and a reset begins anew: {fault}"), theme::error())
        }
        ComparisonPhase::Running => parted(comparison),
    }
}

fn first_line(diagnostics: &[Diagnostic]) -> String {
    let worst = diagnostics.iter().max_by_key(|diagnostic| diagnostic.severity);
    worst.map_or_else(String::new, |diagnostic| {
        let text = diagnostic.text.lines().next().unwrap_or_default();
        match diagnostic.line {
            Some(line) => format!("line {line}: {text}"),
            None => text.to_owned(),
        }
    })
}

fn parted(comparison: &Comparison) -> (String, Color32) {
    let parted = comparison.resources.iter().filter_map(|of| of.first.as_ref());
    match parted.min_by_key(|parting| parting.step) {
        Some(Parting { step, at, a, b }) => {
            let step = number::count(*step);
            (format!("part after step {step} at {at}: {a} in A, {b} in B"), theme::strong())
        }
        None if comparison.resources.is_empty() => {
            ("A and B have nothing alike that could be compared".to_owned(), theme::warning())
        }
        None => {
            let since = number::count(comparison.since);
            let step = comparison.step.map_or_else(|| since.clone(), number::count);
            let text = format!("the same from step {since} to step {step}");
            match comparison.unlike.is_empty() {
                true => (text, theme::good()),
                false => (format!("what both have is {text}"), theme::text()),
            }
        }
    }
}

fn table(ui: &mut Ui, comparison: &Comparison) {
    TableBuilder::new(ui)
        .id_salt("comparison")
        .auto_shrink([false, true])
        .vscroll(false)
        .cell_layout(Layout::right_to_left(Align::Center))
        .column(Column::initial(124.0).at_least(90.0).clip(true))
        .column(Column::initial(78.0).at_least(48.0))
        .column(Column::initial(92.0).at_least(70.0))
        .columns(Column::initial(66.0).at_least(48.0), 2)
        .column(Column::remainder().at_least(150.0).clip(true))
        .header(22.0, |mut row| {
            row.col(|ui| left(ui, |ui| header(ui, "resource")));
            let [numbers @ .., first] = HEADERS;
            for name in numbers {
                row.col(|ui| header(ui, name));
            }
            row.col(|ui| last(ui, |ui| header(ui, first)));
        })
        .body(|mut body| {
            comparison.resources.iter().for_each(|compared| row(&mut body, compared));
            comparison.unlike.iter().for_each(|unlike| unlike_row(&mut body, unlike));
        });
}

/// From the left.
fn left(ui: &mut Ui, content: impl FnOnce(&mut Ui)) {
    ui.with_layout(Layout::left_to_right(Align::Center), content);
}

/// The same, away from the number before it.
fn last(ui: &mut Ui, content: impl FnOnce(&mut Ui)) {
    left(ui, |ui| {
        ui.add_space(8.0);
        content(ui);
    });
}

fn header(ui: &mut Ui, text: &str) {
    ui.label(RichText::new(text).small().color(theme::weak()));
}

fn mono(ui: &mut Ui, text: impl Into<String>, color: Color32) -> egui::Response {
    ui.add(Label::new(RichText::new(text).monospace().color(color)).truncate())
}

fn name(ui: &mut Ui, name: &str, element: &str, color: Color32) {
    left(ui, |ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        ui.label(RichText::new(name).monospace().color(color));
        ui.label(RichText::new(element).small().color(theme::weak()));
    });
}

/// The largest differences are those since both had the same state; the numbers that differ are those of now.
fn row(body: &mut TableBody<'_>, compared: &Compared) {
    body.row(ROW, |mut row| {
        let is_same = compared.first.is_none();
        let (value, head) = match is_same {
            true => (theme::faint(), theme::text()),
            false => (theme::strong(), theme::strong()),
        };
        row.col(|ui| name(ui, &compared.name, &compared.element, head));
        let now = compared.last.map_or(0, |last| last.differing);
        row.col(|ui| {
            let (most, all) = (number::count(compared.differing), number::count(compared.numbers));
            mono(ui, number::count(now), if now > 0 { theme::strong() } else { theme::faint() })
                .on_hover_text(format!("of {all} numbers; {most} at most"));
        });
        let most = compared.most;
        row.col(|ui| _ = mono(ui, number::value(most.absolute), value));
        row.col(|ui| _ = mono(ui, number::value(most.relative), value));
        row.col(|ui| _ = mono(ui, ulp(compared), value));
        row.col(|ui| {
            let (text, tip) = first(compared);
            let color = if is_same { theme::good() } else { theme::text() };
            last(ui, |ui| _ = mono(ui, text, color).on_hover_text(tip));
        });
    });
}

fn ulp(compared: &Compared) -> String {
    match compared.most.ulp {
        None => "NaN".to_owned(),
        Some(ulp) if compared.has_floats() && ulp > 999_999 => number::value(ulp as f64),
        Some(ulp) if compared.has_floats() => number::count(ulp),
        Some(_) => "\u{2013}".to_owned(),
    }
}

/// Where and when it differs first, and more of that.
fn first(compared: &Compared) -> (String, String) {
    let Some(parting) = &compared.first else {
        let text = match (compared.last, compared.same_bits) {
            (None, _) => "\u{2013}",
            (Some(_), true) => "the same bits",
            (Some(_), false) => "the same numbers",
        };
        return (text.to_owned(), "Since both have the same state".to_owned());
    };
    let step = number::count(parting.step);
    let steps = match compared.same_after {
        Some(before) if before + 1 < parting.step => {
            format!("steps {} to {step}", number::count(before + 1))
        }
        Some(_) | None => format!("step {step}"),
    };
    let tip = format!("{} in A, {} in B, after {steps}", parting.a, parting.b);
    (format!("{steps}: {}", parting.at), tip)
}

fn unlike_row(body: &mut TableBody<'_>, unlike: &Unlike) {
    body.row(ROW, |mut row| {
        row.col(|ui| name(ui, &unlike.name, "", theme::warning()));
        for _ in 1..HEADERS.len() {
            row.col(|ui| _ = mono(ui, "\u{2013}", theme::faint()));
        }
        let side = |side: &Option<String>| side.clone().unwrap_or_else(|| "none".to_owned());
        let [a, b] = unlike.is.each_ref().map(side);
        let text = format!("{a} in A, {b} in B");
        row.col(|ui| last(ui, |ui| _ = mono(ui, text, theme::warning())));
    });
}

/// The time ratios, with the quartiles of their spread.
fn passes(ui: &mut Ui, passes: &[PassRatio]) {
    ui.spacing_mut().item_spacing.y = 2.0;
    let weak = |text: &str| RichText::new(text).small().color(theme::weak());
    cells(ui, [weak("pass"), weak("time B / A"), weak("quartiles"), weak("A")]);
    for PassRatio { name, ratio, median_ms: [a, _] } in passes {
        let mono = |text: String, color| RichText::new(text).monospace().color(color);
        let (median, spread, color) = match ratio {
            Some([low, median, high]) => {
                // Where the quartiles lie on both sides of 1, neither is quicker.
                let color = match (*high < 1.0, *low > 1.0) {
                    (true, _) => theme::good(),
                    (_, true) => theme::warning(),
                    (false, false) => theme::strong(),
                };
                (format!("{median:.2}"), format!("{low:.2}\u{2013}{high:.2}"), color)
            }
            None => ("\u{2013}".to_owned(), String::new(), theme::faint()),
        };
        let a = number::milliseconds(*a as f32);
        let name = mono(name.clone(), theme::text());
        cells(ui, [name, mono(median, color), mono(spread, theme::text()), mono(a, theme::text())]);
    }
}

fn cells(ui: &mut Ui, [name, ratio, spread, a]: [RichText; 4]) {
    ui.horizontal(|ui| {
        ui.set_height(18.0);
        ui.spacing_mut().item_spacing.x = 8.0;
        let cell = |ui: &mut Ui, width: f32, layout: Layout, text: RichText| {
            ui.allocate_ui_with_layout(egui::vec2(width, 18.0), layout, |ui| {
                ui.set_width(width);
                ui.add(Label::new(text).truncate());
            });
        };
        let right = Layout::right_to_left(Align::Center);
        cell(ui, 124.0, Layout::left_to_right(Align::Center), name);
        cell(ui, 58.0, right, ratio);
        cell(ui, 82.0, right, spread);
        cell(ui, 62.0, right, a);
    });
}
