//! The scene's parameters: a slider, a list, a switch or a colour each.

use egui::{
    Align, ComboBox, DragValue, Layout, Rangef, RichText, ScrollArea, Sense, Slider, Ui, vec2,
};

use super::{Action, color_field};
use crate::{
    session::{Command, Control, Parameter, Snapshot, Value},
    studio::{
        icons::{self, Icon},
        theme,
    },
};

/// All parameters, in the manifest's order.
pub fn show(ui: &mut Ui, snapshot: &Snapshot) -> Vec<Action> {
    let mut actions = Vec::new();
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        if snapshot.parameters.is_empty() && snapshot.compile.running > 0 {
            hint(ui);
        }
        for parameter in &snapshot.parameters {
            ui.push_id(&parameter.name, |ui| {
                if let Some(value) = row(ui, parameter, &mut actions) {
                    let set = Command::SetParameter(parameter.name.clone(), value);
                    actions.push(Action::Session(set));
                }
            });
            ui.add_space(5.0);
        }
    });
    actions
}

/// What stands beside the title: all of them are reset, where one is changed.
pub fn beside_title(ui: &mut Ui, snapshot: &Snapshot) -> Vec<Action> {
    let changed: Vec<&Parameter> =
        snapshot.parameters.iter().filter(|parameter| is_changed(parameter)).collect();
    let tip = "All parameters back to the manifest's values";
    if !changed.is_empty() && icons::small_button(ui, Icon::Reset, tip).clicked() {
        return changed.into_iter().map(reset).collect();
    }
    Vec::new()
}

fn hint(ui: &mut Ui) {
    let text = "This scene has none. A table such as\n\n[param.speed]\nvalue = 1.0\nmin = 0.0\nmax = 4.0\n\n\
                in the manifest makes a slider here, and a kernel argument `speed`.";
    ui.label(RichText::new(text).color(theme::weak()));
}

fn reset(parameter: &Parameter) -> Action {
    Action::Session(Command::ResetParameter(parameter.name.clone()))
}

fn is_changed(parameter: &Parameter) -> bool {
    parameter.value != parameter.default
}

/// One parameter; gives its new value when the user changed it.
fn row(ui: &mut Ui, parameter: &Parameter, actions: &mut Vec<Action>) -> Option<Value> {
    let mut value = parameter.value.clone();
    let beside = !matches!(parameter.control, Control::Choice(_));
    ui.horizontal(|ui| {
        label(ui, parameter);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if beside {
                beside_label(ui, parameter, &mut value);
            }
            let tip = "Back to the manifest's value";
            if is_changed(parameter) && icons::small_button(ui, Icon::Reset, tip).clicked() {
                actions.push(reset(parameter));
            }
        });
    });
    if below_label(ui, parameter, &mut value) {
        actions.push(reset(parameter));
        return None;
    }
    (value != parameter.value).then_some(value)
}

fn label(ui: &mut Ui, parameter: &Parameter) {
    let name = ui.label(RichText::new(&parameter.label).color(theme::text()));
    name.on_hover_text(format!("`{}` in kernels", parameter.name));
}

/// A number, a switch or a colour at the right end of the parameter's name.
fn beside_label(ui: &mut Ui, parameter: &Parameter, value: &mut Value) {
    match (&parameter.control, value) {
        (Control::Slider { min, max, step, .. }, Value::Float(value)) => {
            let speed = if *step > 0.0 { *step } else { (max - min) / 400.0 };
            ui.add(drag_value(value, parameter).speed(speed).range(*min..=*max));
        }
        (Control::Slider { min, max, .. }, Value::Int(value)) => {
            let drag = drag_value(value, parameter).speed(0.1).max_decimals(0);
            ui.add(drag.range(*min as i64..=*max as i64));
        }
        (_, Value::Toggle(value)) => switch(ui, value),
        (control, Value::Color(color)) => {
            let has_opacity = matches!(control, Control::Color(true));
            color_field::button(ui, &parameter.label, color, has_opacity);
        }
        _ => {}
    }
}

fn drag_value<'a>(
    value: &'a mut impl egui::emath::Numeric,
    parameter: &Parameter,
) -> DragValue<'a> {
    let unit = match parameter.unit.as_str() {
        "" => String::new(),
        unit => format!(" {unit}"),
    };
    DragValue::new(value).suffix(unit).max_decimals(4).update_while_editing(false)
}

/// A slider or a list in the parameter's second line; gives whether it was double-clicked.
fn below_label(ui: &mut Ui, parameter: &Parameter, value: &mut Value) -> bool {
    ui.spacing_mut().slider_width = ui.available_width();
    ui.spacing_mut().interact_size.y = 15.0;
    match (&parameter.control, value) {
        (Control::Slider { min, max, step, log }, Value::Float(value)) => {
            let slider = Slider::new(value, *min..=*max).step_by(*step).logarithmic(*log);
            ui.add(slider.show_value(false)).double_clicked()
        }
        (Control::Slider { min, max, log, .. }, Value::Int(value)) => {
            let slider = Slider::new(value, *min as i64..=*max as i64).logarithmic(*log);
            ui.add(slider.show_value(false)).double_clicked()
        }
        (Control::Choice(choices), Value::Int(value)) => {
            ui.spacing_mut().interact_size.y = 22.0;
            choice(ui, choices, value);
            false
        }
        _ => false,
    }
}

fn choice(ui: &mut Ui, choices: &[String], value: &mut i64) {
    let chosen = usize::try_from(*value).ok().and_then(|at| choices.get(at));
    ComboBox::from_id_salt("choice")
        .selected_text(chosen.map_or("?", String::as_str))
        .width(ui.available_width())
        .show_ui(ui, |ui| {
            for (at, name) in choices.iter().enumerate() {
                ui.selectable_value(value, at as i64, name);
            }
        });
}

/// A switch that slides.
fn switch(ui: &mut Ui, on: &mut bool) {
    let (rect, mut response) = ui.allocate_exact_size(vec2(30.0, 16.0), Sense::click());
    if response.clicked() {
        *on = !*on;
        response.mark_changed();
    }
    let state = *on;
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Switch, true, state, ""));
    let along = ui.ctx().animate_bool_responsive(response.id, *on);
    let rail = theme::raised().lerp_to_gamma(theme::accent(), along * 0.75);
    ui.painter().rect_filled(rect, 8.0, rail);
    let x = egui::lerp(Rangef::new(rect.left() + 8.0, rect.right() - 8.0), along);
    ui.painter().circle_filled(egui::pos2(x, rect.center().y), 6.0, theme::strong());
}
