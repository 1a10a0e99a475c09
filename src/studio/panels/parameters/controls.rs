//! What a parameter is changed with: a number, a slider, a list, a switch or a colour.

use std::{cell::RefCell, rc::Rc};

use egui::{ComboBox, DragValue, PointerButton, Rangef, Response, Sense, Ui, vec2};

use super::{Local, typed};
use crate::{
    session::{Control, Parameter, Value},
    studio::{
        panels::{color_field, named, number_edit, shortened},
        theme,
    },
};

/// So much of a unit stands behind a number.
const MOST_OF_UNIT: usize = 12;

/// What a slider says of itself.
const SLIDER: &str = "Double click: back to the manifest's value";

/// What reads a number that was typed.
type Parse<'a> = Box<dyn Fn(&str) -> Option<f64> + 'a>;

/// A number, a switch or a colour at the right end of the parameter's name.
pub(super) fn beside_label(
    ui: &mut Ui,
    parameter: &Parameter,
    value: &mut Value,
    all: &[Parameter],
    local: &mut Local,
) {
    match (&parameter.control, value) {
        (Control::Slider { min, max, step, .. }, Value::Float(value)) => {
            let speed = if *step > 0.0 { *step } else { (max - min) / 400.0 };
            number_field(ui, parameter, all, local, |ui, parse| {
                number_edit::float(ui, value, speed, *min..=*max, parse)
            });
        }
        (Control::Slider { min, max, .. }, Value::Int(value)) => {
            number_field(ui, parameter, all, local, |ui, parse| {
                number_edit::whole(ui, value, 0.1, *min as i64..=*max as i64, parse)
            });
        }
        (_, Value::Toggle(value)) => switch(ui, value),
        (control, Value::Color(color)) => {
            let has_opacity = matches!(control, Control::Color(true));
            color_field::button(ui, &parameter.label, color, has_opacity);
        }
        // A choice has lines of its own; no other control has such a value.
        (
            Control::Choice(_) | Control::Toggle | Control::Color(_),
            Value::Int(_) | Value::Float(_),
        ) => {}
    }
}

/// A number that is dragged, or typed, as an expression, too: by a field that takes what reads such.
fn number_field<'a>(
    ui: &mut Ui,
    parameter: &'a Parameter,
    all: &'a [Parameter],
    local: &mut Local,
    field: impl FnOnce(&Ui, Parse<'a>) -> DragValue<'a>,
) {
    let unit = match parameter.unit.as_str() {
        "" => String::new(),
        unit => format!(" {}", shortened(unit, MOST_OF_UNIT)),
    };
    let is_whole = matches!(parameter.value, Value::Int(_));
    let read = Rc::new(RefCell::new(None));
    let found = Rc::clone(&read);
    let parse = move |text: &str| {
        let number = typed::number(text, is_whole, all);
        let value = number.as_ref().ok().copied();
        found.replace(Some(number.map_err(|problem| format!("{text}: {problem}"))));
        value
    };
    let drag = field(ui, Box::new(parse));
    let drag = drag.suffix(unit);
    let tip = "Drag it, or click and type: expressions, too, such as 0.5*2, pi/4, and names of parameters";
    number_edit::add(ui, drag).on_hover_text(tip);
    match read.take() {
        Some(Err(problem)) => local.problem = Some((parameter.name.clone(), problem)),
        Some(Ok(_)) => local.problem = None,
        None => {}
    }
}

/// Whether a control was clicked twice. A slider asks for drags alone, so that egui tells it of no clicks.
fn is_double_clicked(ui: &Ui, control: &Response) -> bool {
    let is_here = control.contains_pointer() || control.is_pointer_button_down_on();
    is_here && ui.input(|input| input.pointer.button_double_clicked(PointerButton::Primary))
}

/// A slider or a list in the parameter's second line; gives whether it was double-clicked.
pub(super) fn below_label(ui: &mut Ui, parameter: &Parameter, value: &mut Value) -> bool {
    ui.spacing_mut().slider_width = ui.available_width();
    ui.spacing_mut().interact_size.y = 15.0;
    match (&parameter.control, value) {
        (Control::Slider { min, max, step, log }, Value::Float(value)) => {
            let slider = number_edit::slider(value, *min..=*max);
            let slider = ui.add(slider.step_by(*step).logarithmic(*log));
            named(&slider, &parameter.label);
            is_double_clicked(ui, &slider.on_hover_text(SLIDER))
        }
        (Control::Slider { min, max, log, .. }, Value::Int(value)) => {
            let slider = number_edit::slider(value, *min as i64..=*max as i64);
            let slider = ui.add(slider.logarithmic(*log));
            named(&slider, &parameter.label);
            is_double_clicked(ui, &slider.on_hover_text(SLIDER))
        }
        (Control::Choice(choices), Value::Int(value)) => {
            ui.spacing_mut().interact_size.y = 22.0;
            choice(ui, choices, value);
            false
        }
        (Control::Slider { .. } | Control::Choice(_) | Control::Toggle | Control::Color(_), _) => {
            false
        }
    }
}

fn choice(ui: &mut Ui, choices: &[String], value: &mut i64) {
    let chosen = usize::try_from(*value).ok().and_then(|at| choices.get(at));
    ComboBox::from_id_salt("choice")
        .selected_text(chosen.map_or("?", String::as_str))
        .width(ui.available_width())
        .truncate()
        .show_ui(ui, |ui| {
            for (at, name) in choices.iter().enumerate() {
                ui.selectable_value(value, at as i64, name);
            }
        });
}

/// A switch that slides.
pub(super) fn switch(ui: &mut Ui, on: &mut bool) {
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
