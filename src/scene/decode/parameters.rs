//! `[param.*]` and `[preset.*]`.

use toml::{Spanned, de::DeValue};

use super::{fields::Fields, suggestion};
use crate::scene::{Control, Manifest, Number, Parameter, Preset, Value};

/// Reads them in the file's order.
pub(super) fn decode(fields: &mut Fields<'_, '_, '_>, manifest: &mut Manifest) {
    for (name, mut table) in fields.tables("param") {
        table.require("value", "0.5");
        let (default, control) = kind(&mut table);
        let parameter = Parameter {
            label: table.text("label").unwrap_or_else(|| name.clone()),
            unit: table.text("unit").unwrap_or_default(),
            name,
            default,
            control,
            at: table.at(),
        };
        table.finish();
        manifest.parameters.push(parameter);
    }
}

/// Reads values of parameters that are set together.
pub(super) fn presets(fields: &mut Fields<'_, '_, '_>, manifest: &mut Manifest) {
    for (name, table) in fields.tables("preset") {
        let mut values = Vec::new();
        for (key, value) in table.entries() {
            let found = manifest.parameters.iter().find(|of| of.name == key.get_ref().as_ref());
            let Some(parameter) = found else {
                let names = manifest.parameters.iter().map(|of| of.name.as_str());
                let hint = suggestion(key.get_ref(), names);
                let text = format!("there is no parameter `{}`{hint}", key.get_ref());
                table.complain_about_key(key, text);
                continue;
            };
            let read = preset_value(&table, parameter, value);
            values.extend(read.map(|value| (parameter.name.clone(), value)));
        }
        manifest.presets.push(Preset { name, values });
    }
}

/// The value that a preset gives a parameter, where it is one of its.
fn preset_value(
    table: &Fields<'_, '_, '_>,
    parameter: &Parameter,
    value: &Spanned<DeValue<'_>>,
) -> Option<Value> {
    let name = &*parameter.name;
    let found = match (&parameter.control, &parameter.default) {
        (Control::Slider { .. }, Value::Float(_)) => table.float_in(name, value).map(Value::Float),
        (Control::Color(_), _) => {
            let parts: Option<Vec<f64>> = value
                .get_ref()
                .as_array()
                .and_then(|parts| parts.iter().map(|part| table.float_in(name, part)).collect());
            parts.and_then(|parts| color_of(&parts, &parameter.control))
        }
        (Control::Toggle, _) => match table.number_in(name, value)? {
            Number::Bool(on) => Some(Value::Toggle(on)),
            Number::Int(on @ (0 | 1)) => Some(Value::Toggle(on == 1)),
            Number::Int(_) | Number::Float(_) => None,
        },
        (Control::Slider { .. } | Control::Choice(_), _) => {
            table.number_in(name, value)?.whole().ok().map(Value::Int)
        }
    };
    let fits = found.filter(|value| parameter.accepts(value));
    if fits.is_none() {
        let kind = parameter.default.kind();
        let text = format!("this is no value of `{name}`, which is a {kind} within its bounds");
        table.complain_of(value, text);
    }
    fits
}

fn color_of(parts: &[f64], control: &Control) -> Option<Value> {
    let count = if *control == Control::Color(true) { 4 } else { 3 };
    let mut rgba = [1.0; 4];
    for (to, from) in rgba.iter_mut().zip(parts) {
        *to = *from as f32;
    }
    let fits = parts.len() == count && parts.iter().all(|part| (0.0..=1.0).contains(part));
    fits.then_some(Value::Color(rgba))
}

/// What kinds a manifest can name; without one the value decides.
const KINDS: &[(&str, Kind)] = &[("color", Kind::Color), ("toggle", Kind::Toggle)];

/// What is said of a list that is no color.
const VECTOR: &str = "`value` must be a number, not an array: a list is a color, with `kind = \"color\"`; for a vector \
                      such as `int2` give each component a parameter, and the kernel `args = { v = [\"x\", \"y\"] }`";

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Color,
    Toggle,
}

fn kind(table: &mut Fields<'_, '_, '_>) -> (Value, Control) {
    let kind = table.named("kind", KINDS);
    match kind {
        Some(Kind::Color) => color(table),
        Some(Kind::Toggle) => toggle(table),
        None if table.has("choices") => choice(table),
        None if table.take("value").is_some_and(|value| value.get_ref().is_array()) => {
            table.complain_about("value", VECTOR);
            float(table, 0.0)
        }
        None => match table.number("value") {
            Some(Number::Bool(value)) => (Value::Toggle(value), Control::Toggle),
            Some(number @ Number::Int(_)) => int(table, number),
            Some(Number::Float(value)) => float(table, value),
            None => float(table, 0.0),
        },
    }
}

fn color(table: &mut Fields<'_, '_, '_>) -> (Value, Control) {
    let channels = table.floats("value", &[3, 4]).unwrap_or_else(|| vec![1.0; 3]);
    if let Some(odd) = channels.iter().find(|c| !(0.0..=1.0).contains(*c)) {
        table.complain_about("value", format!("a color's channels lie in 0 to 1, not at {odd}"));
    }
    let mut rgba = [1.0; 4];
    for (to, from) in rgba.iter_mut().zip(&channels) {
        *to = *from as f32;
    }
    (Value::Color(rgba), Control::Color(channels.len() == 4))
}

fn toggle(table: &mut Fields<'_, '_, '_>) -> (Value, Control) {
    let on = match table.number("value") {
        Some(Number::Bool(on)) => on,
        Some(Number::Int(value @ (0 | 1))) => value == 1,
        Some(other) => {
            let text = format!("the value of a toggle is 0 or 1 (false or true), not {other}");
            table.complain_about("value", text);
            false
        }
        None => false,
    };
    (Value::Toggle(on), Control::Toggle)
}

fn choice(table: &mut Fields<'_, '_, '_>) -> (Value, Control) {
    let list = table.list("choices").unwrap_or_default();
    let names: Vec<String> =
        list.iter().filter_map(|v| v.get_ref().as_str().map(str::to_owned)).collect();
    let mut last = names.len() as i64 - 1;
    if names.is_empty() || names.len() != list.len() {
        let text = "`choices` must be an array of strings, at least one";
        table.complain_about("choices", text);
        // How many there are to be is not known.
        last = i64::MAX;
    }
    let index = table.integer("value", 0, last).unwrap_or(0);
    (Value::Int(index), Control::Choice(names))
}

/// The end of a slider that the manifest does not give: 0, 1, or twice the value, whichever holds it.
fn least(value: f64) -> f64 {
    if value < 0.0 { value * 2.0 } else { 0.0 }
}

fn greatest(value: f64) -> f64 {
    if value > 0.0 { value * 2.0 } else { 1.0 }
}

/// Both of them.
#[cfg(feature = "cli")]
pub(in crate::scene) fn usual_ends(value: f64) -> (f64, f64) {
    (least(value), greatest(value))
}

fn float(table: &mut Fields<'_, '_, '_>, value: f64) -> (Value, Control) {
    let min = table.float("min").unwrap_or_else(|| least(value));
    let max = table.float("max").unwrap_or_else(|| greatest(value));
    let step = step(table, |table| table.float("step"));
    (Value::Float(value), slider(table, value, [min, max, step]))
}

fn step(table: &mut Fields<'_, '_, '_>, read: fn(&mut Fields<'_, '_, '_>) -> Option<f64>) -> f64 {
    let step = read(table).unwrap_or(0.0);
    if step < 0.0 {
        table.complain_about("step", format!("`step` is {step}, but must be at least 0"));
    }
    step
}

fn int(table: &mut Fields<'_, '_, '_>, number: Number) -> (Value, Control) {
    let value = number.whole().unwrap_or_else(|text| {
        table.complain_about("value", text);
        0
    });
    let min = whole(table, "min").unwrap_or_else(|| least(value as f64));
    let max = whole(table, "max").unwrap_or_else(|| greatest(value as f64));
    let step = step(table, |table| whole(table, "step")).max(1.0);
    (Value::Int(value), slider(table, value as f64, [min, max, step]))
}

/// A bound of an `int`.
fn whole(table: &mut Fields<'_, '_, '_>, key: &'static str) -> Option<f64> {
    match table.number(key)? {
        Number::Int(value) => Some(value as f64),
        other => {
            let hint = "write the value as 1.0 for a float parameter";
            let text = format!("`{key}` must be an integer like `value`, not {other}; {hint}");
            table.complain_about(key, text);
            None
        }
    }
}

fn slider(table: &mut Fields<'_, '_, '_>, value: f64, [min, max, step]: [f64; 3]) -> Control {
    let log = table.boolean("log").unwrap_or(false);
    if min >= max {
        let key = if table.has("min") { "min" } else { "max" };
        table.complain_about(key, format!("`min` is {min}, but must be less than `max`, {max}"));
    } else if !(min..=max).contains(&value) {
        let text = format!("`value` is {value}, outside of `min` {min} to `max` {max}");
        table.complain_about("value", text);
    }
    if log && min <= 0.0 {
        let text = format!("a logarithmic slider needs a `min` greater than 0, not {min}");
        table.complain_about("log", text);
    }
    Control::Slider { min, max, step: step.max(0.0), log }
}
