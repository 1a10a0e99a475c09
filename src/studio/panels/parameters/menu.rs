//! What else can be done with a parameter: copied, animated, written into the file, bound to a key.

use egui::{
    Button, DragValue, Popup, PopupCloseBehavior, Rect, Response, RichText, Sense, SetOpenCommand,
    Ui, WidgetInfo, vec2,
};

use super::{Local, is_changed, named, reset};
use crate::{
    session::{Control, Parameter},
    studio::{
        action::Action,
        animation::{Animations, Shape},
        theme, written,
    },
};

/// The width of the menu.
const WIDTH: f32 = 190.0;

/// The button that opens the menu.
pub(super) fn button(ui: &mut Ui, parameter: &Parameter, is_animated: bool) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(12.0, 16.0), Sense::click());
    let color = match (response.hovered(), is_animated) {
        (true, _) => theme::strong(),
        (false, true) => theme::accent(),
        (false, false) => theme::weak(),
    };
    for at in [-4.5, 0.0, 4.5] {
        ui.painter().circle_filled(rect.center() + vec2(0.0, at), 1.4, color);
    }
    let name = format!("More about {}", parameter.label);
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Button, true, &name));
    response.on_hover_text("Copy, animate, bind to a key, write into the file (right click, too)")
}

/// The menu, below its button: a click on that opens it, and one with the second button anywhere in the row.
pub(super) fn show(
    ui: &Ui,
    (row, button): (Rect, &Response),
    parameter: &Parameter,
    local: &mut Local,
    actions: &mut Vec<Action>,
) {
    let is_asked =
        ui.rect_contains_pointer(row) && ui.input(|input| input.pointer.secondary_clicked());
    let mut popup = Popup::menu(button).close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    if is_asked {
        popup = popup.open_memory(SetOpenCommand::Bool(true));
    }
    popup.show(|ui| {
        ui.set_width(WIDTH);
        if content(ui, parameter, local, actions) {
            ui.close();
        }
    });
}

/// What is in it; gives whether it is done.
fn content(
    ui: &mut Ui,
    parameter: &Parameter,
    local: &mut Local,
    actions: &mut Vec<Action>,
) -> bool {
    let mut is_done = false;
    let name = &parameter.name;
    let is_changed = is_changed(parameter);
    if ui.add_enabled(is_changed, Button::new("Reset")).clicked() {
        local.animations.stop(name);
        actions.push(reset(parameter));
        is_done = true;
    }
    let tip = "The value becomes that of the manifest, in the text; undo takes it back";
    let writes = Button::new("Write into the file");
    if ui.add_enabled(is_changed, writes).on_hover_text(tip).clicked() {
        actions.push(Action::WriteValues(vec![name.clone()]));
        is_done = true;
    }
    ui.separator();
    let literal = written::in_manifest(parameter, &parameter.value);
    for (title, text) in [
        ("Copy as CUDA", written::in_cuda(parameter)),
        ("Copy as manifest", format!("[param.{name}]\nvalue = {literal}\n")),
    ] {
        if ui.button(title).on_hover_text(&text).clicked() {
            ui.ctx().copy_text(text);
            is_done = true;
        }
    }
    if Animations::can(parameter) {
        ui.separator();
        animation(ui, name, local);
    }
    if !matches!(parameter.control, Control::Color(_)) {
        ui.separator();
        is_done |= key(ui, name, local);
    }
    is_done
}

fn animation(ui: &mut Ui, name: &str, local: &mut Local) {
    ui.label(RichText::new("Animate while the scene plays").small().color(theme::weak()));
    let present = local.animations.of(name).map(|of| of.shape);
    ui.horizontal(|ui| {
        for (shape, title) in Shape::ALL {
            if ui.selectable_label(present == Some(shape), title).clicked() {
                match present == Some(shape) {
                    true => local.animations.stop(name),
                    false => local.animations.start(name, shape),
                }
            }
        }
    });
    let Some(animation) = local.animations.of(name) else { return };
    let stops = ui.horizontal(|ui| {
        ui.label("every");
        let period = DragValue::new(&mut animation.period).range(0.1..=600.0).speed(0.05);
        named(&ui.add(period.suffix(" s")), "Seconds of a period");
        ui.button("Stop").clicked()
    });
    if stops.inner {
        local.animations.stop(name);
    }
}

/// Binds the parameter to a key, or no longer.
fn key(ui: &mut Ui, name: &str, local: &mut Local) -> bool {
    match local.keys.of(name) {
        Some(key) => {
            let title = format!("Unbind the key {}", key.name());
            let is_asked = ui.button(title).on_hover_text(super::KEYS).clicked();
            if is_asked {
                local.keys.unbind(name);
            }
            is_asked
        }
        None => {
            let is_asked = ui.button("Bind to a key \u{2026}").on_hover_text(super::KEYS).clicked();
            if is_asked {
                local.keys.ask(name);
                // The key that is pressed next is no field's.
                ui.memory_mut(|memory| memory.stop_text_input());
            }
            is_asked
        }
    }
}
