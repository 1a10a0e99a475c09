//! What is done with a view besides looking at it: a menu of the signs in its corner.

use egui::{Button, Id, Popup, RectAlign, Response, Ui};

use super::{Action, named, view::Shown};
use crate::studio::{
    icons::{self, Icon},
    panes::Slot,
    reel::Format,
};

/// Width in points.
const WIDTH: f32 = 220.0;

fn id(slot: Slot) -> Id {
    Id::unique(("view menu", slot))
}

/// Whether the menu of a view is open.
pub fn is_open(ui: &Ui, slot: Slot) -> bool {
    Popup::is_id_open(ui.ctx(), id(slot))
}

/// The sign, and the menu where it is open.
pub fn show(ui: &mut Ui, shown: &Shown<'_>, actions: &mut Vec<Action>) {
    let sign = icons::small_button(ui, Icon::More, "Tools of this view");
    let popup = Popup::menu(&sign).id(id(shown.slot)).align(RectAlign::BOTTOM_END);
    popup.show(|ui| {
        ui.set_width(WIDTH);
        pictures(ui, shown, actions);
    });
}

/// Pictures to files.
fn pictures(ui: &mut Ui, shown: &Shown<'_>, actions: &mut Vec<Action>) {
    let slot = Some(shown.slot);
    if entry(ui, "Picture to a file", "F12").clicked() {
        actions.push(Action::Screenshot(slot));
    }
    if shown.seen.recording.is_some() {
        if entry(ui, "End the recording", "Shift+F12").clicked() {
            actions.push(Action::Record(slot, None));
        }
        return;
    }
    ui.menu_button("Record as", |ui| {
        for (format, name) in Format::ALL {
            if ui.button(name).clicked() {
                actions.push(Action::Record(slot, Some(format)));
            }
        }
    });
}

/// An entry, and the key that does the same.
fn entry(ui: &mut Ui, name: &str, key: &str) -> Response {
    let response = ui.add(Button::new(name).shortcut_text(key));
    named(&response, name);
    response
}
