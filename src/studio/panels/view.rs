//! The view: the scene's picture, which the window draws, and what the pointer does over it.

use egui::{Align2, FontId, PointerButton, Rect, Response, Sense, Ui, vec2};

use super::{Action, Pointer};
use crate::{
    session::{Phase, Snapshot},
    studio::{icons, theme},
};

/// What the view remembers from frame to frame.
#[derive(Debug, Default)]
pub struct Local {
    pointer: Pointer,
}

/// Takes all the space there is; gives its place in points.
pub fn show(ui: &mut Ui, snapshot: &Snapshot, local: &mut Local) -> (Rect, Vec<Action>) {
    let rect = ui.available_rect_before_wrap();
    let response = ui.allocate_rect(rect, Sense::click_and_drag());
    let mut actions = camera(ui, &response);
    if let Some(pointer) = pointer(ui, &response)
        && (pointer != local.pointer || pointer.wheel != 0.0)
    {
        local.pointer = pointer;
        actions.push(Action::Pointer(pointer));
    }
    overlay(ui, rect, snapshot, response.hovered());
    (rect, actions)
}

fn camera(ui: &Ui, response: &Response) -> Vec<Action> {
    let mut actions = Vec::new();
    let height = response.rect.height().max(1.0);
    let moved = response.drag_delta() / height;
    let shift = ui.input(|input| input.modifiers.shift);
    if moved != egui::Vec2::ZERO {
        let turn = response.dragged_by(PointerButton::Primary) && !shift;
        let by = [moved.x, moved.y];
        actions.push(if turn { Action::Orbit(by) } else { Action::Pan(by) });
    }
    if response.hovered() {
        let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
        let factor = (scroll / 240.0).exp() * pinch;
        if (factor - 1.0).abs() > 1e-4 {
            actions.push(Action::Zoom(factor));
        }
    }
    if response.double_clicked() {
        actions.push(Action::ResetCamera);
    }
    actions
}

fn pointer(ui: &Ui, response: &Response) -> Option<Pointer> {
    let place = response.hover_pos().or_else(|| response.interact_pointer_pos())?;
    let rect = response.rect;
    let buttons = [PointerButton::Primary, PointerButton::Secondary, PointerButton::Middle];
    let held = response.is_pointer_button_down_on();
    let pressed = ui.input(|input| {
        let down = |(bit, button): (usize, &PointerButton)| {
            u32::from(held && input.pointer.button_down(*button)) << bit
        };
        buttons.iter().enumerate().map(down).sum()
    });
    Some(Pointer {
        position: [
            (place.x - rect.left()) / rect.width().max(1.0),
            (rect.bottom() - place.y) / rect.height().max(1.0),
        ],
        buttons: pressed,
        wheel: if response.hovered() {
            ui.input(|i| i.smooth_scroll_delta().y) / 50.0
        } else {
            0.0
        },
    })
}

/// What stands in the picture's corners: that an older version is shown, and how to move.
fn overlay(ui: &Ui, rect: Rect, snapshot: &Snapshot, hovered: bool) {
    let painter = ui.painter_at(rect);
    let compile = &snapshot.compile;
    if compile.phase == Phase::Rejected {
        let text = if compile.running == 0 {
            "Nothing runs yet: the source has errors".to_owned()
        } else {
            format!("The new source has errors; version {} keeps running", compile.running)
        };
        let width = (rect.width() - 2.0 * 14.0 - 40.0).max(1.0);
        let galley = painter.layout(text, FontId::proportional(13.0), theme::STRONG, width);
        let place = rect.left_top() + vec2(14.0, 14.0);
        let frame = Rect::from_min_size(place, galley.size() + vec2(40.0, 14.0));
        painter.rect(
            frame,
            6.0,
            theme::faded(theme::BAR, 0.92),
            egui::Stroke::new(1.0, theme::faded(theme::ERROR, 0.7)),
            egui::StrokeKind::Inside,
        );
        icons::severity(
            &painter,
            frame.left_center() + vec2(17.0, 0.0),
            crate::diagnostic::Severity::Error,
        );
        painter.galley(place + vec2(30.0, 7.0), galley, theme::STRONG);
    }
    if compile.phase == Phase::Compiling && compile.running == 0 {
        let font = FontId::proportional(15.0);
        painter.text(rect.center(), Align2::CENTER_CENTER, "compiling\u{2026}", font, theme::WEAK);
    }
    if hovered {
        let text =
            "drag: turn    right drag: move    wheel: zoom    double click: reset".to_owned();
        let color = theme::faded(theme::WEAK, 0.9);
        let width = (rect.width() - 2.0 * 14.0).max(1.0);
        let galley = painter.layout(text, FontId::proportional(12.0), color, width);
        let place = rect.left_bottom() + vec2(14.0, -12.0 - galley.size().y);
        painter.galley(place, galley, color);
    }
}
