//! The editor's keys where the text is not shown: behind a tab, hidden, or beside a view that has the whole window.

use std::time::Duration;

use egui::{Rect, Ui};

use super::{Local, marks::Marks, strokes::EditContext};
use crate::{
    session::Snapshot,
    studio::{
        action::Action,
        document::Document,
        panels::palette,
        panes::Pane,
        shortcuts::Task,
        typing::{Place, Stroke, Typing},
    },
};

/// What keys lead to that are for the whole window, where the text is not shown; what is about the text brings it in
/// sight.
pub fn absent(
    ui: &Ui,
    snapshot: &Snapshot,
    document: &mut Document,
    font_size: &mut f32,
    local: &mut Local,
) -> Vec<Action> {
    let now = ui.input(|input| input.time);
    let place = Place { id: local.id(), rect: Rect::NOTHING, fields: vec![palette::field()] };
    let turn = Typing::turn(ui.ctx(), place);
    let marks = Marks::new(snapshot, &document.name, &document.text);
    let chosen = local.palette.show(ui.ctx(), snapshot);
    let mut context = EditContext { document, local, snapshot, marks: &marks, font_size, now };
    let mut actions = Vec::new();
    let shows = |task: &Task| task.is_of_text().then_some(Action::ShowPane(Pane::Editor));
    match &chosen {
        Some(palette::Choice::Task(task)) => actions.extend(shows(task)),
        Some(palette::Choice::Line(_)) => actions.push(Action::ShowPane(Pane::Editor)),
        Some(palette::Choice::Action(_)) | None => {}
    }
    actions.extend(chosen.and_then(|choice| context.carry_out(ui, choice)));
    for stroke in turn.strokes {
        if let Stroke::Task(task) = &stroke {
            actions.extend(shows(task));
        }
        actions.extend(context.perform(ui, stroke));
    }
    if turn.again {
        ui.request_repaint();
    }
    // What was typed last is compiled all the same.
    actions.extend(document.due(now).map(Action::Edit));
    if let Some(wait) = document.due_in(now) {
        ui.request_repaint_after(Duration::from_secs_f64(wait + 0.005));
    }
    actions
}
