//! What is done with a view besides looking at it: a menu of the signs in its corner.

use egui::{Button, Id, Popup, RectAlign, Response, Ui};

use super::{Action, Look, Shown};
use crate::studio::{
    icons::{self, Icon},
    panels::named,
    panes::Slot,
    reel::Format,
    viewpoints::{Side, Switch},
};

/// Width in points.
const WIDTH: f32 = 220.0;

/// The keys of sides, as Blender has them on its pad of numbers.
const SIDE_KEYS: [(Side, &str); 3] =
    [(Side::Front, "Alt+1"), (Side::Right, "Alt+3"), (Side::Top, "Alt+7")];

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
        let view = shown.snapshot.views.get(shown.seen.view.0);
        if let Some(view) = view {
            match view.is_flat() {
                true => switch(ui, shown, (Switch::Grid, "Rulers", "Alt+G"), actions),
                false => depth(ui, shown, actions),
            }
            follow(ui, shown, actions);
            let measures = shown.seen.measured.is_some();
            if state(ui, measures, ("Measure a distance", "Alt+M")).clicked() {
                actions.push(Action::Look(Some(shown.slot), Look::Measure));
            }
            if shown.seen.legend.is_some() {
                switch(ui, shown, (Switch::Colors, "Colours by hand", "Alt+L"), actions);
                if !shown.seen.viewpoint.coloring.is_nothing()
                    && entry(ui, "Write the colours into the file", "").clicked()
                {
                    actions.push(Action::WriteColors(Some(shown.slot)));
                }
            }
            ui.separator();
        }
        pictures(ui, shown, actions);
    });
}

/// How what has depth is seen.
fn depth(ui: &mut Ui, shown: &Shown<'_>, actions: &mut Vec<Action>) {
    let mut look = |look| actions.push(Action::Look(Some(shown.slot), look));
    ui.menu_button("See from", |ui| {
        for (side, name) in Side::ALL {
            let key = SIDE_KEYS.iter().find(|(own, _)| *own == side).map_or("", |(_, key)| key);
            if entry(ui, name, key).clicked() {
                look(Look::From(side));
            }
        }
        if entry(ui, "The opposite side", "Alt+9").clicked() {
            look(Look::FromBehind);
        }
    });
    switch(ui, shown, (Switch::Orthographic, "Orthographic", "Alt+5"), actions);
    switch(ui, shown, (Switch::Axes, "Axes", "Alt+A"), actions);
    switch(ui, shown, (Switch::Grid, "Grid with numbers", "Alt+G"), actions);
    if entry(ui, "Write the camera into the file", "").clicked() {
        actions.push(Action::WriteCamera(Some(shown.slot)));
    }
}

/// The element that is followed.
fn follow(ui: &mut Ui, shown: &Shown<'_>, actions: &mut Vec<Action>) {
    let (name, key, look) = match shown.seen.marked {
        Some(_) => ("Follow no element any more", "Esc", Look::Unfollow),
        None => ("Follow the element in the middle", "Alt+E", Look::Pick([0.5; 2])),
    };
    if entry(ui, name, key).clicked() {
        actions.push(Action::Look(Some(shown.slot), look));
    }
}

/// Something that is on or off.
fn switch(
    ui: &mut Ui,
    shown: &Shown<'_>,
    (switch, name, key): (Switch, &str, &str),
    actions: &mut Vec<Action>,
) {
    let is_on = shown.seen.viewpoint.has(switch);
    if state(ui, is_on, (name, key)).clicked() {
        actions.push(Action::Look(Some(shown.slot), Look::Switch(switch)));
    }
}

/// The entry of something that is on or off.
fn state(ui: &mut Ui, is_on: bool, (name, key): (&str, &str)) -> Response {
    let response = ui.add(Button::selectable(is_on, name).shortcut_text(key));
    named(&response, name);
    response
}

/// Pictures to files, and to the clipboard.
fn pictures(ui: &mut Ui, shown: &Shown<'_>, actions: &mut Vec<Action>) {
    let slot = Some(shown.slot);
    if entry(ui, "Picture to a file", "F12").clicked() {
        actions.push(Action::Screenshot(slot));
    }
    if entry(ui, "Copy the picture", "Ctrl+F12").clicked() {
        actions.push(Action::CopyPicture(slot));
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
