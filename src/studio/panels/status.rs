//! The bar at the bottom: which device computes, which OpenGL draws, how results get there.

use egui::{
    Align, Button, Color32, Layout, RichText, Sense, Ui, containers::menu::MenuButton, vec2,
};

use super::{device_menu, diagnostics, layout_menu, trouble};
use crate::{
    session::{Phase, Sharing, Snapshot},
    studio::{
        action::Action,
        colors,
        panes::{Arrangement, Layouts, Pane},
        runners::{Runner, Runners},
        theme,
    },
};

/// The width of all that stands around the names of device and renderer, in points.
const AROUND_NAMES: f32 = 240.0;

/// What the bar shows beside the session.
pub struct Shown<'a> {
    /// How panes lie.
    pub panes: &'a Arrangement,
    /// How else they may lie.
    pub layouts: &'a Layouts,
    /// What may run the kernels, and what does.
    pub runners: &'a Runners,
    /// See `runners`.
    pub runner: &'a Runner,
}

/// The bar's content.
pub fn show(ui: &mut Ui, snapshot: &Snapshot, shown: &Shown<'_>) -> Option<Action> {
    let mut action = None;
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let (text, color) = diagnostics::summary(&snapshot.compile);
        let text = match snapshot.compile.phase {
            Phase::Rejected => "source has errors".to_owned(),
            _ => text,
        };
        ui.label(small(&text, color));
        dot(ui, color);
        ui.add_space(6.0);
        action = appearance(ui);
        ui.add_space(6.0);
        action = pane_menu(ui, shown).or(action.take());
        ui.add_space(6.0);
        if let Some(text) = trouble::badge(snapshot) {
            let label = egui::Label::new(small(&text, theme::error())).sense(Sense::CLICK);
            if ui.add(label).on_hover_text("Show the statistics").clicked() {
                action = Some(Action::ShowPane(Pane::Statistics));
            }
            dot(ui, theme::error());
            ui.add_space(6.0);
        }
        // What is left of the bar; long names are cut, so that nothing lies over anything.
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let names = if snapshot.renderer.is_some() { 2.0 } else { 1.0 };
            let width = ((ui.available_width() - AROUND_NAMES) / names).clamp(40.0, 420.0);
            ui.label(small("device", theme::weak()));
            let Shown { runners, runner, .. } = *shown;
            let wanted = device_menu::show(ui, snapshot, runners, runner, width);
            action = wanted.or(action.take());
            if let Some(renderer) = &snapshot.renderer {
                separator(ui);
                field(ui, "OpenGL", renderer, width, "What draws the view");
            }
            sharing(ui, &snapshot.sharing);
        });
    });
    action
}

/// The menu of panes: what is seen has a mark.
fn pane_menu(ui: &mut Ui, Shown { panes, layouts, .. }: &Shown<'_>) -> Option<Action> {
    let mut action = None;
    let (button, _) = MenuButton::new(small("Panes", theme::weak())).ui(ui, |ui| {
        for pane in Pane::PANELS {
            let mut is_there = panes.has(pane);
            if ui.checkbox(&mut is_there, pane.title()).clicked() {
                action = Some(match is_there {
                    true => Action::ShowPane(pane),
                    false => Action::HidePane(pane),
                });
            }
        }
        ui.separator();
        let tip = "One more pane with a view of the scene, and cameras of its own";
        let may_add = panes.free_slot().is_some();
        if ui.add_enabled(may_add, Button::new("Another view")).on_hover_text(tip).clicked() {
            action = Some(Action::AddView);
        }
        if ui.button("View in the whole window (F11)").clicked() {
            action = Some(Action::FullWindow);
        }
        ui.separator();
        action = layout_menu::show(ui, panes, layouts).or(action.take());
    });
    button.on_hover_text("Panes are shown and hidden here, and moved by their titles");
    action
}

/// The menu of colours and sizes.
fn appearance(ui: &mut Ui) -> Option<Action> {
    let mut action = None;
    let title = small("Appearance", theme::weak());
    ui.menu_button(title, |ui| {
        for (choice, name) in colors::Choice::ALL {
            if ui.button(name).clicked() {
                action = Some(Action::ChooseColors(choice));
            }
        }
        ui.separator();
        let sizes = [("Larger", Some(1.1)), ("Smaller", Some(1.0 / 1.1)), ("The usual size", None)];
        for (name, factor) in sizes {
            if ui.button(name).clicked() {
                action = Some(Action::Scale(factor));
            }
        }
    })
    .response
    .on_hover_text("Colours and sizes of the studio");
    action
}

fn sharing(ui: &mut Ui, sharing: &Sharing) {
    let (text, color, tip) = match sharing {
        Sharing::None => return,
        Sharing::Registered => {
            ("zero-copy", theme::good(), "Kernels write into OpenGL's own buffers.".to_owned())
        }
        Sharing::Copied(reason) => (
            "copied",
            theme::warning(),
            format!("Results are copied through the host: {}", reason.trim_end_matches('.')) + ".",
        ),
    };
    separator(ui);
    dot(ui, color);
    ui.label(small(text, theme::text())).on_hover_text(tip);
}

fn field(ui: &mut Ui, name: &str, value: &str, width: f32, tip: &str) {
    ui.label(small(name, theme::weak()));
    let label = egui::Label::new(small(value, theme::text())).truncate();
    ui.scope(|ui| {
        ui.set_max_width(width);
        ui.add(label).on_hover_text(format!("{value}\n{tip}"));
    });
}

fn separator(ui: &mut Ui) {
    let (rect, _) = ui.allocate_exact_size(vec2(9.0, 12.0), Sense::hover());
    ui.painter().vline(rect.center().x, rect.y_range(), egui::Stroke::new(1.0, theme::line()));
}

fn dot(ui: &mut Ui, color: Color32) {
    let (rect, _) = ui.allocate_exact_size(vec2(8.0, 8.0), Sense::hover());
    ui.painter().circle_filled(rect.center(), 3.5, color);
}

fn small(text: &str, color: Color32) -> RichText {
    RichText::new(text).size(12.0).color(color)
}
