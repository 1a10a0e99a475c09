//! All values at once: presets of the manifest, and what writes values into it.

use egui::{
    Button, PopupCloseBehavior, RichText, TextEdit, Ui,
    containers::menu::{MenuButton, MenuConfig},
};

use super::is_changed;
use crate::{
    session::{Command, Snapshot},
    studio::{action::Action, theme},
};

/// The longest name of a preset that can be typed.
const MOST_LETTERS: usize = 40;

/// What was typed.
#[derive(Debug, Default)]
pub(super) struct Local {
    name: String,
}

/// The line above the parameters.
pub(super) fn show(ui: &mut Ui, snapshot: &Snapshot, local: &mut Local) -> Vec<Action> {
    let mut actions = Vec::new();
    ui.horizontal_wrapped(|ui| {
        let stays = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
        let text = RichText::new("Presets").small();
        MenuButton::from_button(Button::new(text).small()).config(stays).ui(ui, |ui| {
            ui.set_width(200.0);
            if menu(ui, snapshot, local, &mut actions) {
                ui.close();
            }
        });
        let changed = snapshot.parameters.iter().filter(|of| is_changed(of));
        let changed: Vec<String> = changed.map(|of| of.name.clone()).collect();
        let tip = "The values that are changed become those of the manifest, in the text; undo takes them back";
        let text = RichText::new("Write into the file").small();
        let writes = ui.add_enabled(!changed.is_empty(), Button::new(text).small().truncate());
        if writes.on_hover_text(tip).clicked() {
            actions.push(Action::WriteValues(changed));
        }
    });
    ui.add_space(4.0);
    actions
}

/// The presets, and a field for one more; gives whether it is done.
fn menu(ui: &mut Ui, snapshot: &Snapshot, local: &mut Local, actions: &mut Vec<Action>) -> bool {
    let mut is_done = false;
    if snapshot.presets.is_empty() {
        let text =
            "A preset is a [preset.name] of the manifest: values of parameters, all set at once.";
        ui.label(RichText::new(text).small().color(theme::weak()));
    }
    for preset in &snapshot.presets {
        let has = |(name, value): &(String, _)| {
            snapshot.parameters.iter().any(|of| of.name == *name && of.value == *value)
        };
        let is_set = preset.values.iter().all(has);
        if ui.selectable_label(is_set, &preset.name).clicked() {
            let set = |(name, value): &(String, _)| {
                Action::Session(Command::SetParameter(name.clone(), Clone::clone(value)))
            };
            actions.extend(preset.values.iter().map(set));
            is_done = true;
        }
    }
    ui.separator();
    let field = TextEdit::singleline(&mut local.name).hint_text("Name").char_limit(MOST_LETTERS);
    let field = ui.add(field.desired_width(f32::INFINITY));
    let enters = field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
    let name = local.name.trim().to_owned();
    let tip = "Writes the present values into the manifest, as a preset that is called so";
    let button = ui.add_enabled(!name.is_empty(), Button::new("Save as a preset"));
    if button.on_hover_text(tip).clicked() || enters && !name.is_empty() {
        local.name.clear();
        actions.push(Action::SavePreset(name));
        is_done = true;
    }
    is_done
}
