//! The title bar: the scene, its clock, and the buttons that move it.

use egui::{
    Align, Id, Layout, PopupCloseBehavior, RichText, ScrollArea, Ui,
    containers::menu::{MenuButton, MenuConfig},
};

use super::{Action, FrameTimes, path_field::PathField, shortened};
use crate::{
    session::{Command, Snapshot},
    studio::{
        document::Document,
        icons::{self, Icon},
        number, theme,
    },
};

/// The height of what is above and below the list of scenes in the menu, in points.
const BELOW_SCENES: f32 = 200.0;

/// What the bar remembers from frame to frame.
#[derive(Debug, Default)]
pub struct Local {
    path: PathField,
}

/// The bar's content; `built_ins` are the scenes that the menu offers.
pub fn show(
    ui: &mut Ui,
    snapshot: &Snapshot,
    document: &Document,
    built_ins: &[&str],
    frames: &FrameTimes,
    local: &mut Local,
) -> Vec<Action> {
    let mut actions = Vec::new();
    ui.horizontal_centered(|ui| {
        icons::mark(ui, 18.0);
        ui.add_space(2.0);
        scene_menu(ui, snapshot, built_ins, local, &mut actions);
        save_button(ui, document, &mut actions);
        let scenes = ui.button("Scenes").on_hover_text("New, recent files and all scenes (Ctrl+N)");
        if scenes.clicked() {
            actions.push(Action::ShowStart);
        }
        ui.add_space(10.0);
        buttons(ui, snapshot, &mut actions);
        ui.add_space(8.0);
        clock(ui, snapshot);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| rates(ui, snapshot, frames));
    });
    actions
}

fn scene_menu(
    ui: &mut Ui,
    snapshot: &Snapshot,
    built_ins: &[&str],
    local: &mut Local,
    actions: &mut Vec<Action>,
) {
    let title = shortened(&snapshot.title, 60);
    let title = RichText::new(format!("{title}     ")).color(theme::strong()).size(14.5);
    // A click into the field for a path must not close the menu.
    let stays = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let (button, _) = MenuButton::new(title).config(stays).ui(ui, |ui| {
        ui.set_width(250.0);
        ui.label(RichText::new("Built-in scenes").small().color(theme::weak()));
        // In a low window the field below is to be within it, too.
        let height = (ui.ctx().content_rect().height() - BELOW_SCENES).max(60.0);
        ScrollArea::vertical().max_height(height).show(ui, |ui| {
            ui.set_width(ui.available_width());
            for name in built_ins {
                if ui.button(*name).clicked() {
                    actions.push(Action::OpenBuiltIn((*name).to_owned()));
                    ui.close();
                }
            }
        });
        ui.separator();
        path_field(ui, local, actions);
    });
    let end = button.rect.right_center() - egui::vec2(14.0, 0.0);
    icons::triangle_down(ui.painter(), end, theme::weak());
    button.on_hover_text(&snapshot.summary);
}

fn path_field(ui: &mut Ui, local: &mut Local, actions: &mut Vec<Action>) {
    ui.label(RichText::new("A .cu file (or drop one on the window)").small().color(theme::weak()));
    let folder = std::env::current_dir().unwrap_or_default();
    let id = Id::unique("scene menu path");
    let entered = local.path.show(ui, id, "path/to/scene.cu", &folder);
    let named = !local.path.text.trim().is_empty();
    let open = ui.add_enabled(named, egui::Button::new("Open")).clicked();
    let path = entered.or_else(|| (named && open).then(|| local.path.path(&folder)));
    if let Some(path) = path {
        local.path = PathField::default();
        actions.push(Action::Open(path));
        ui.close();
    }
}

fn save_button(ui: &mut Ui, document: &Document, actions: &mut Vec<Action>) {
    let built_in = document.path.is_none();
    let text = if built_in { "Save as \u{2026}" } else { "Save" };
    let tip = if built_in {
        "Write this scene to a file (Ctrl+S)"
    } else {
        "Write the text to its file (Ctrl+S); to another one with Ctrl+Shift+S"
    };
    let enabled = built_in || document.is_modified();
    let button = ui.add_enabled(enabled, egui::Button::new(text)).on_hover_text(tip);
    if button.clicked() {
        actions.push(Action::Save);
    }
}

fn buttons(ui: &mut Ui, snapshot: &Snapshot, actions: &mut Vec<Action>) {
    ui.spacing_mut().item_spacing.x = 5.0;
    if icons::button(ui, Icon::Reset, 28.0, "Reset to step 0 (Ctrl+R)").clicked() {
        actions.push(Action::Session(Command::Reset));
    }
    let (icon, tip, action) = if snapshot.clock.playing {
        (Icon::Pause, "Pause (Space)", Action::Session(Command::Pause))
    } else {
        (Icon::Play, "Play (Space)", Action::Session(Command::Play))
    };
    if icons::button(ui, icon, 28.0, tip).clicked() {
        actions.push(action);
    }
    if icons::button(ui, Icon::Step, 28.0, "One step (.)").clicked() {
        actions.push(Action::Session(Command::Step));
    }
}

fn clock(ui: &mut Ui, snapshot: &Snapshot) {
    ui.spacing_mut().item_spacing.x = 6.0;
    let clock = &snapshot.clock;
    readout(ui, "step", &number::count(clock.step), 64.0);
    readout(ui, "time", &number::seconds(clock.time), 62.0);
}

fn rates(ui: &mut Ui, snapshot: &Snapshot, frames: &FrameTimes) {
    readout(ui, "frames/s", &number::rate(frames.per_second), 44.0);
    let steps = match snapshot.clock.playing {
        true => number::rate(snapshot.clock.steps_per_second),
        false => "paused".to_owned(),
    };
    readout(ui, "steps/s", &steps, 50.0);
}

/// A small word over or before a value that keeps its width while the value changes.
fn readout(ui: &mut Ui, label: &str, value: &str, width: f32) {
    let size = egui::vec2(width, ui.available_height().min(34.0));
    ui.allocate_ui_with_layout(size, Layout::top_down(Align::Min), |ui| {
        ui.set_width(width);
        ui.spacing_mut().item_spacing.y = 0.0;
        ui.add_space(1.0);
        ui.label(RichText::new(label).size(10.5).color(theme::weak()));
        ui.label(RichText::new(value).monospace().size(13.0).color(theme::strong()));
    });
}
