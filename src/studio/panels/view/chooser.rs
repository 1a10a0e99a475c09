//! The chooser of views, in the view's upper right corner, where there are several.

use egui::{Align2, Area, Frame, Id, Key, LayerId, Margin, Modifiers, Order, Rect, Ui, vec2};

use super::{Action, Look, Shown, menu};
use crate::studio::{
    icons::{self, Icon},
    panels::tab,
    panes::Pane,
    theme,
};

/// Distance from the view's edges.
const MARGIN: f32 = 12.0;

/// Shows it within `rect`, and what splits the pane and gives it the window where the pointer is over it; gives how
/// much of the view's upper edge it takes.
pub fn show(
    ui: &Ui,
    rect: Rect,
    shown: &Shown<'_>,
    is_hovered: bool,
    actions: &mut Vec<Action>,
) -> f32 {
    let Shown { snapshot, seen, slot, .. } = *shown;
    let views = &snapshot.views;
    let is_chosen = views.len() > 1;
    let mut choose = |index: usize| {
        let name = views.get(index).map(|view| view.name.clone());
        actions.extend(name.map(|name| Action::Look(Some(slot), Look::Show(name))));
    };
    for index in 0..views.len().min(KEYS.len()) {
        let pressed = |(key, _)| ui.input_mut(|input| input.consume_key(Modifiers::COMMAND, key));
        if is_chosen && shown.is_active && key(index).is_some_and(pressed) {
            choose(index);
        }
    }
    let id = Id::unique(("views", slot));
    // On the signs themselves the pointer is no longer on the view.
    let on_signs = || {
        let at = ui.input(|input| input.pointer.latest_pos()).filter(|at| rect.contains(*at));
        let layer = LayerId::new(Order::Middle, id);
        at.is_some_and(|at| ui.layer_id_at(at) == Some(layer))
    };
    let is_near =
        ui.rect_contains_pointer(rect) || is_hovered || on_signs() || menu::is_open(ui, slot);
    if !is_chosen && !is_near {
        return 0.0;
    }
    let area = Area::new(id)
        .order(Order::Middle)
        .pivot(Align2::RIGHT_TOP)
        .fixed_pos(rect.right_top() + vec2(-MARGIN, MARGIN))
        .constrain_to(rect);
    let area = area.show(ui.ctx(), |ui| {
        let frame = Frame::new()
            .fill(theme::faded(theme::bar(), theme::VEIL))
            .corner_radius(6)
            .inner_margin(Margin { left: 12, right: 10, top: 5, bottom: 7 });
        frame.show(ui, |ui| {
            ui.set_max_width((rect.width() - 2.0 * MARGIN - 24.0).max(40.0));
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing.x = 14.0;
                for (index, view) in views.iter().enumerate().filter(|_| is_chosen) {
                    let hint =
                        key(index).map_or_else(String::new, |(_, name)| format!("Ctrl+{name}"));
                    if tab(ui, &view.name, index == seen.view.0).on_hover_text(hint).clicked() {
                        let name = view.name.clone();
                        actions.push(Action::Look(Some(slot), Look::Show(name)));
                    }
                }
                ui.spacing_mut().item_spacing.x = 6.0;
                buttons(ui, shown, actions);
            });
        });
    });
    if is_chosen { area.response.rect.bottom() - rect.top() } else { 0.0 }
}

/// What is done with the pane.
fn buttons(ui: &mut Ui, shown: &Shown<'_>, actions: &mut Vec<Action>) {
    menu::show(ui, shown, actions);
    if shown.is_full {
        if icons::small_button(ui, Icon::Close, "Back among the panes (F11)").clicked() {
            actions.push(Action::FullWindow);
        }
        return;
    }
    let tip = "Another view beside it, with cameras of its own";
    if icons::small_button(ui, Icon::Split, tip).clicked() {
        actions.push(Action::AddView);
    }
    if icons::small_button(ui, Icon::Whole, "In the whole window (F11)").clicked() {
        actions.push(Action::FullWindow);
    }
    if shown.may_close && icons::small_button(ui, Icon::Close, "Hide this view").clicked() {
        actions.push(Action::HidePane(Pane::View(shown.slot)));
    }
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
