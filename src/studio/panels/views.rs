//! The chooser of views, in the view's upper right corner, where there are several.

use egui::{Align2, Area, Frame, Id, Key, Margin, Modifiers, Order, Rect, Ui, vec2};

use super::{Action, tab};
use crate::{scene::ViewId, session::Snapshot, studio::theme};

/// Distance from the view's edges.
const MARGIN: f32 = 12.0;

/// Shows it within `rect`; gives how much of the view's upper edge it takes.
pub fn show(
    ui: &Ui,
    rect: Rect,
    snapshot: &Snapshot,
    shown: ViewId,
    actions: &mut Vec<Action>,
) -> f32 {
    let views = &snapshot.views;
    if views.len() < 2 {
        return 0.0;
    }
    let mut choose = |index: usize| {
        let name = views.get(index).map(|view| view.name.clone());
        actions.extend(name.map(Action::ShowView));
    };
    let area = Area::new(Id::unique("views"))
        .order(Order::Middle)
        .pivot(Align2::RIGHT_TOP)
        .fixed_pos(rect.right_top() + vec2(-MARGIN, MARGIN))
        .constrain_to(rect);
    let area = area.show(ui.ctx(), |ui| {
        let frame = Frame::new()
            .fill(theme::faded(theme::bar(), theme::VEIL))
            .corner_radius(6)
            .inner_margin(Margin { left: 12, right: 12, top: 5, bottom: 7 });
        frame.show(ui, |ui| {
            ui.set_max_width((rect.width() - 2.0 * MARGIN - 24.0).max(40.0));
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing.x = 14.0;
                for (index, view) in views.iter().enumerate() {
                    let hint =
                        key(index).map_or_else(String::new, |(_, name)| format!("Ctrl+{name}"));
                    if tab(ui, &view.name, index == shown.0).on_hover_text(hint).clicked() {
                        choose(index);
                    }
                }
            });
        });
    });
    for index in 0..views.len().min(KEYS.len()) {
        let pressed = |(key, _)| ui.input_mut(|input| input.consume_key(Modifiers::COMMAND, key));
        if key(index).is_some_and(pressed) {
            choose(index);
        }
    }
    area.response.rect.bottom() - rect.top()
}

/// The keys that show the first views, with Ctrl.
const KEYS: [(Key, &str); 9] = [
    (Key::Num1, "1"),
    (Key::Num2, "2"),
    (Key::Num3, "3"),
    (Key::Num4, "4"),
    (Key::Num5, "5"),
    (Key::Num6, "6"),
    (Key::Num7, "7"),
    (Key::Num8, "8"),
    (Key::Num9, "9"),
];

fn key(index: usize) -> Option<(Key, &'static str)> {
    KEYS.get(index).copied()
}
