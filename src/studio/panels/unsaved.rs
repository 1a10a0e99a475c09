//! What is unsaved from earlier, with its names and times, and what to do with it.

use std::{path::Path, time::SystemTime};

use egui::{Align, Label, Layout, RichText, ScrollArea, Ui, vec2};

use super::banner;
use crate::{
    diagnostic::Severity,
    studio::{action::Action, number, recovery::Version, theme},
};

/// Below this width, in points, the buttons stand under the names.
const NARROW: f32 = 430.0;
/// Of the height that there is, this much at most; the rest of a longer list is scrolled to.
const SHARE: f32 = 0.45;

/// The list, newest first; takes no space when there is nothing in it.
pub fn show(ui: &mut Ui, versions: &[Version], now: SystemTime) -> Vec<Action> {
    let mut actions = Vec::new();
    if versions.is_empty() {
        return actions;
    }
    let most = (ui.available_height() * SHARE).max(64.0);
    banner::ground(ui, Severity::Note, |ui| {
        ui.spacing_mut().item_spacing = vec2(8.0, 4.0);
        heading(ui, versions.len(), &mut actions);
        let list = ScrollArea::vertical().id_salt("unsaved").max_height(most);
        list.auto_shrink([false, true]).show(ui, |ui| {
            for version in versions.iter().rev() {
                ui.push_id(&version.file, |ui| row(ui, version, now, &mut actions));
            }
        });
    });
    actions
}

fn heading(ui: &mut Ui, count: usize, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        banner::mark(ui, Severity::Note);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let tip = "They stay where they are, and the next start asks again";
            if ui.button("Later").on_hover_text(tip).clicked() {
                actions.push(Action::AskLater);
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let text = match count {
                    1 => "An unsaved text from earlier".to_owned(),
                    count => format!("{count} unsaved texts from earlier"),
                };
                ui.add(Label::new(RichText::new(text).color(theme::strong())).truncate());
            });
        });
    });
}

fn row(ui: &mut Ui, version: &Version, now: SystemTime, actions: &mut Vec<Action>) {
    if ui.available_width() < NARROW {
        ui.horizontal(|ui| names(ui, version, now));
        ui.horizontal(|ui| {
            ui.add_space(24.0);
            buttons(ui, version, actions);
        });
    } else {
        ui.horizontal(|ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                buttons(ui, version, actions);
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| names(ui, version, now));
            });
        });
    }
}

fn names(ui: &mut Ui, version: &Version, now: SystemTime) {
    ui.add_space(24.0);
    let written = now.duration_since(version.written).unwrap_or_default();
    let folder = version.path().and_then(Path::parent);
    let place = folder.map_or_else(|| "not in a file yet".into(), |f| f.display().to_string());
    let rest = format!("{}   {place}", number::ago(written));
    let tip = format!("{}\n{rest}", version.name());
    let name = RichText::new(version.name()).color(theme::strong());
    ui.add(Label::new(name).truncate()).on_hover_text(&tip);
    let rest = RichText::new(rest).small().color(theme::text());
    ui.add(Label::new(rest).truncate()).on_hover_text(tip);
}

/// In reading order, from whichever side the layout begins.
fn buttons(ui: &mut Ui, version: &Version, actions: &mut Vec<Action>) {
    let file = || version.file.clone();
    let mut buttons = [
        ("Restore", "Into the editor; what is there now is kept, too", Action::Recover(file())),
        ("Discard", "Remove it from the disk for good", Action::Discard(file())),
    ];
    if ui.layout().prefer_right_to_left() {
        buttons.reverse();
    }
    for (label, tip, action) in buttons {
        if ui.button(label).on_hover_text(tip).clicked() {
            actions.push(action);
        }
    }
}
