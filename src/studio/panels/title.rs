//! The title bar: the scene and its file, how it goes on, and how fast the window draws.

use egui::{
    Align, Button, Id, Layout, PopupCloseBehavior, RichText, ScrollArea, Ui,
    containers::menu::{MenuButton, MenuConfig},
    vec2,
};

use super::{FrameTimes, path_field::PathField, readout::readout, shortened, transport};
use crate::{
    session::Snapshot,
    studio::{action::Action, course::Course, document::Document, icons, number, theme},
};

/// The height of what is above and below the list of scenes in the menu, in points.
const BELOW_SCENES: f32 = 200.0;
/// Where the transport begins: in a window of this width or more, and in a narrower one.
const TRANSPORT_AT: [(f32, f32); 3] = [(1100.0, 384.0), (820.0, 308.0), (0.0, 214.0)];
/// The width of the rate of frames.
const FRAMES: f32 = 62.0;

/// What the bar remembers from frame to frame.
#[derive(Debug, Default)]
pub struct Local {
    path: PathField,
    transport: transport::Local,
}

impl Local {
    /// As many steps as the transport's field has.
    pub fn steps(&self) -> u32 {
        self.transport.steps()
    }
}

/// What the bar shows beside the session.
pub struct Shown<'a> {
    /// The text and its file.
    pub document: &'a Document,
    /// The scenes that the menu offers.
    pub built_ins: &'a [&'a str],
    /// The window's own times.
    pub frames: &'a FrameTimes,
    /// Where the scene is to go.
    pub course: &'a Course,
}

/// The bar's content.
pub fn show(ui: &mut Ui, snapshot: &Snapshot, shown: &Shown<'_>, local: &mut Local) -> Vec<Action> {
    let mut actions = Vec::new();
    let width = ui.available_width();
    let found = TRANSPORT_AT.iter().find(|(least, _)| width >= *least);
    let at = found.map_or(0.0, |(_, at)| *at);
    ui.horizontal_centered(|ui| {
        // All that stands before the transport has a width of its own, whatever it says.
        ui.allocate_ui_with_layout(
            vec2(at, ui.available_height()),
            Layout::left_to_right(Align::Center),
            |ui| {
                ui.set_width(at);
                icons::mark(ui, 18.0);
                ui.add_space(2.0);
                let is_roomy = at > 300.0;
                let save = 72.0;
                let scenes = if is_roomy { 68.0 } else { 0.0 };
                let title = (ui.available_width() - save - scenes - 3.0 * 8.0).max(60.0);
                scene_menu(ui, snapshot, title, shown.built_ins, local, &mut actions);
                save_button(ui, shown.document, save, &mut actions);
                if is_roomy {
                    let button = Button::new("Scenes").min_size(vec2(scenes - 6.0, 0.0));
                    let tip = "New, recent files and all scenes (Ctrl+N)";
                    if ui.add(button).on_hover_text(tip).clicked() {
                        actions.push(Action::ShowStart);
                    }
                }
            },
        );
        let room = width - at - FRAMES - 8.0;
        actions.extend(transport::show(ui, snapshot, shown.course, room, &mut local.transport));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            readout(ui, "frames/s", &number::rate(shown.frames.per_second), FRAMES - 14.0);
        });
    });
    actions
}

fn scene_menu(
    ui: &mut Ui,
    snapshot: &Snapshot,
    width: f32,
    built_ins: &[&str],
    local: &mut Local,
    actions: &mut Vec<Action>,
) {
    let title = shortened(&snapshot.title, 60);
    let title = RichText::new(title).color(theme::strong()).size(14.5);
    // A click into the field for a path must not close the menu.
    let stays = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let button = Button::new(title).truncate().min_size(vec2(width, 26.0)).right_text("   ");
    let size = vec2(width, ui.available_height());
    let layout = Layout::left_to_right(Align::Center);
    let menu = ui.allocate_ui_with_layout(size, layout, |ui| {
        ui.set_max_width(width);
        MenuButton::from_button(button).config(stays).ui(ui, |ui| {
            menu(ui, built_ins, local, actions);
        })
    });
    let (button, _) = menu.inner;
    let end = button.rect.right_center() - vec2(14.0, 0.0);
    icons::triangle_down(ui.painter(), end, theme::weak());
    let told = match snapshot.summary.is_empty() {
        true => snapshot.title.clone(),
        false => format!("{}\n{}", snapshot.title, snapshot.summary),
    };
    button.on_hover_text(shortened(&told, 600));
}

fn menu(ui: &mut Ui, built_ins: &[&str], local: &mut Local, actions: &mut Vec<Action>) {
    ui.set_width(250.0);
    if ui.button("All scenes \u{2026}").clicked() {
        actions.push(Action::ShowStart);
        ui.close();
    }
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
}

fn path_field(ui: &mut Ui, local: &mut Local, actions: &mut Vec<Action>) {
    ui.label(RichText::new("A .cu file (or drop one on the window)").small().color(theme::weak()));
    let folder = std::env::current_dir().unwrap_or_default();
    let id = Id::unique("scene menu path");
    let entered = local.path.show(ui, id, "path/to/scene.cu", &folder);
    let named = !local.path.text.trim().is_empty();
    let open = ui.add_enabled(named, Button::new("Open")).clicked();
    let path = entered.or_else(|| (named && open).then(|| local.path.path(&folder)));
    if let Some(path) = path {
        local.path = PathField::default();
        actions.push(Action::Open(path));
        ui.close();
    }
}

fn save_button(ui: &mut Ui, document: &Document, width: f32, actions: &mut Vec<Action>) {
    let built_in = document.path.is_none();
    let text = if built_in { "Save as \u{2026}" } else { "Save" };
    let tip = if built_in {
        "Write this scene to a file (Ctrl+S)"
    } else {
        "Write the text to its file (Ctrl+S); to another one with Ctrl+Shift+S"
    };
    let enabled = built_in || document.is_modified();
    let button = Button::new(text).min_size(vec2(width, 0.0));
    if ui.add_enabled(enabled, button).on_hover_text(tip).clicked() {
        actions.push(Action::Save);
    }
}
