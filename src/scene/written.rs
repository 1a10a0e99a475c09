//! Values of parameters, and cameras and colours of views, put into the text of a scene, so that it is read with them,
//! and all else stays as it was.
//!
//! Enters: the text of a scene, values, a camera, colours. Leaves: edits of the text, or why there are none. Must not
//! know: `compile`, `scene::binding`, `scene::plan`.

mod place;

use std::{collections::BTreeMap, ops::Range};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use self::place::{Entry, Place};
use super::{
    Camera, Control, Manifest, Overrides, Parameter, Value, View, decode,
    literal::{self, literal},
    source::{ManifestBlock, manifest_block},
};
use crate::{
    cuda::Position,
    diagnostic::{Diagnostic, Severity},
};

/// A change of a text: what takes the place of these bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub range: Range<usize>,
    pub text: String,
}

impl Edit {
    fn insert(at: usize, text: String) -> Self {
        Self { range: at..at, text }
    }

    fn replace(value: &Spanned<DeValue<'_>>, text: String) -> Self {
        Self { range: value.span(), text }
    }
}

/// Why values cannot be put into a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unwritten {
    #[error("the manifest must be mended first: {0}")]
    Faulty(String),
    #[error("the text has no parameter `{0}`")]
    Undeclared(String),
    #[error("in the text `{name}` is of the kind {kind}, which has no {value}")]
    Unfit { name: String, kind: &'static str, value: String },
    #[error("the manifest declares no view `{0}`")]
    NoView(String),
    #[error("the scene would not be read as it is meant: {0}")]
    Misread(String),
}

/// What makes these values those that a scene starts with, in the text's order.
pub(crate) fn values(
    source: &str,
    overrides: &Overrides,
    wanted: &[(&str, &Value)],
) -> Result<Vec<Edit>, Unwritten> {
    let manifest = Meant::read(source, overrides).map_err(Unwritten::Faulty)?;
    let (toml, base) = toml_of(source)?;
    let table = table_of(toml)?;
    let (mut meant, mut edits) = (manifest.clone(), Vec::new());
    for (name, value) in wanted {
        let parameter = manifest.parameter(name)?;
        let value = fitted(parameter, value)?;
        let place = Place::root(toml, table.get_ref()).inner("param");
        let place = place.and_then(|place| place.inner(name));
        let place = place.ok_or_else(|| Unwritten::Undeclared((*name).to_owned()))?;
        edits.extend(value_edits(&place, parameter, &value));
        let of_name = meant.parameters.iter_mut().find(|of| of.name == *name);
        of_name.into_iter().for_each(|of| of.default = value.clone());
    }
    checked(source, overrides, in_source(edits, base), &meant)
}

/// What makes these values the preset `name`, in the text's order.
pub(crate) fn preset(
    source: &str,
    overrides: &Overrides,
    name: &str,
    wanted: &[(&str, &Value)],
) -> Result<Vec<Edit>, Unwritten> {
    let mut meant = Meant::read(source, overrides).map_err(Unwritten::Faulty)?;
    let (toml, base) = toml_of(source)?;
    let table = table_of(toml)?;
    let all = Place::root(toml, table.get_ref()).inner("preset");
    let own = all.as_ref().and_then(|all| all.inner(name));
    let known = meant.presets.remove(name).unwrap_or_default();
    let (mut edits, mut new, mut now) = (Vec::new(), Vec::<Entry>::new(), known.clone());
    for (parameter, value) in wanted {
        let parameter = meant.parameter(parameter)?;
        let value = fitted(parameter, value)?;
        let written = own.as_ref().and_then(|own| own.value(&parameter.name));
        match (written, known.get(&parameter.name)) {
            (Some(written), Some(known)) => {
                edits.extend(replaced(written, known, &value, &parameter.control));
            }
            _ => new.push((parameter.name.clone(), literal(&value, &parameter.control))),
        }
        now.insert(parameter.name.clone(), value);
    }
    match (own, all) {
        (Some(_), _) if new.is_empty() => {}
        (Some(own), _) => edits.push(own.insert(own.last(), &new)),
        (None, Some(all)) if all.is_in_braces() => {
            let entry = (name.to_owned(), place::in_braces(&new));
            edits.push(all.insert(all.last(), &[entry]));
        }
        (None, _) => edits.push(place::new_table(toml, &["preset", name], &new)),
    }
    meant.presets.insert(name.to_owned(), now);
    checked(source, overrides, in_source(edits, base), &meant)
}

/// What makes this camera the one that a view starts with, in the text's order. What is as `usual` stays unsaid.
pub(crate) fn camera(
    source: &str,
    overrides: &Overrides,
    view: &str,
    [camera, usual]: [&Camera; 2],
) -> Result<Vec<Edit>, Unwritten> {
    let (manifest, index) = views_of(source, overrides, view)?;
    let (toml, base) = toml_of(source)?;
    let table = table_of(toml)?;
    let place = Place::root(toml, table.get_ref()).element("view", index);
    let place = place.ok_or_else(|| Unwritten::NoView(view.to_owned()))?;
    let (own, mut new, mut edits) = (place.inner("camera"), Vec::<Entry>::new(), Vec::new());
    let usual = entries(usual);
    for entry in entries(camera) {
        match own.as_ref().and_then(|own| own.value(&entry.0)) {
            Some(written) => edits.push(Edit::replace(written, entry.1)),
            None if usual.contains(&entry) => {}
            None => new.push(entry),
        }
    }
    match own {
        Some(_) if new.is_empty() => {}
        Some(own) => edits.push(own.insert(own.last(), &new)),
        None => {
            let entry = ("camera".to_owned(), place::in_braces(&new));
            edits.push(place.insert(place.last(), &[entry]));
        }
    }
    let edits = in_source(edits, base);
    let after = after(source, overrides, &edits)?;
    let is_meant = |(at, (old, new)): (usize, (&View, &View))| match at == index {
        true => entries(camera).iter().all(|of| {
            let written = entries(&new.camera);
            written.contains(of)
                || written.iter().all(|(key, _)| *key != of.0) && usual.contains(of)
        }),
        false => old.camera == new.camera,
    };
    match manifest.views.iter().zip(&after.views).enumerate().all(is_meant) {
        true => Ok(edits),
        false => Err(Unwritten::Misread("the camera would be another one".to_owned())),
    }
}

/// What is to be said of a view's colours; `None` stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Colors<'a> {
    pub colormap: Option<&'a str>,
    pub reversed: Option<bool>,
    pub logarithmic: Option<bool>,
    pub range: Option<[f32; 2]>,
}

/// What makes these the colours of a view, in the text's order.
pub(crate) fn colors(
    source: &str,
    overrides: &Overrides,
    view: &str,
    colors: &Colors<'_>,
) -> Result<Vec<Edit>, Unwritten> {
    let (manifest, index) = views_of(source, overrides, view)?;
    let (toml, base) = toml_of(source)?;
    let table = table_of(toml)?;
    let place = Place::root(toml, table.get_ref()).element("view", index);
    let place = place.ok_or_else(|| Unwritten::NoView(view.to_owned()))?;
    let Colors { colormap, reversed, logarithmic, range } = *colors;
    let range_of =
        |[low, high]: [f32; 2]| format!("[{}, {}]", literal::channel(low), literal::channel(high));
    let wanted = [
        ("colormap", colormap.map(|name| format!("\"{name}\""))),
        ("reverse", reversed.map(|of| of.to_string())),
        ("log", logarithmic.map(|of| of.to_string())),
        ("range", range.map(range_of)),
    ];
    let (mut new, mut edits) = (Vec::<Entry>::new(), Vec::new());
    for (key, value) in wanted.into_iter().filter_map(|(key, value)| Some((key, value?))) {
        match place.value(key) {
            Some(written) => edits.push(Edit::replace(written, value)),
            // What is so anyway stays unsaid.
            None if value == "false" => {}
            None => new.push((key.to_owned(), value)),
        }
    }
    if !new.is_empty() {
        edits.push(place.insert(place.last_but_tables(), &new));
    }
    let edits = in_source(edits, base);
    let after = after(source, overrides, &edits)?;
    let mut meant: Vec<_> = manifest.views.iter().map(|view| view.coloring.clone()).collect();
    let own = &mut meant[index];
    own.colormap = colormap.map_or_else(|| own.colormap.clone(), str::to_owned);
    own.reversed = reversed.unwrap_or(own.reversed);
    own.logarithmic = logarithmic.unwrap_or(own.logarithmic);
    own.range = range.or(own.range);
    match after.views.iter().map(|view| &view.coloring).eq(&meant) {
        true => Ok(edits),
        false => Err(Unwritten::Misread("the colours would be other ones".to_owned())),
    }
}

/// The manifest of a text, and which of its views is called so.
fn views_of(
    source: &str,
    overrides: &Overrides,
    view: &str,
) -> Result<(Manifest, usize), Unwritten> {
    let manifest = decode::decode("", source, overrides).map(|(manifest, _)| manifest);
    let manifest = manifest.map_err(|found| Unwritten::Faulty(told(&found)))?;
    let index = manifest.views.iter().position(|of| of.name == view && of.at.is_some());
    let index = index.ok_or_else(|| Unwritten::NoView(view.to_owned()))?;
    Ok((manifest, index))
}

/// The manifest of a text with these edits.
fn after(source: &str, overrides: &Overrides, edits: &[Edit]) -> Result<Manifest, Unwritten> {
    let manifest = decode::decode("", &with(source, edits), overrides);
    manifest.map(|(manifest, _)| manifest).map_err(|found| Unwritten::Misread(told(&found)))
}

/// What a manifest says of a camera.
fn entries(camera: &Camera) -> Vec<Entry> {
    let Camera { target, distance, yaw_deg, pitch_deg, fit: _, fov_deg, projection } = camera;
    let number = |value: &f32| literal::channel(*value);
    let target = target.map(|of| format!("[{}]", of.each_ref().map(number).join(", ")));
    let projection = projection.map(|of| format!("\"{}\"", of.name()));
    let all = [
        ("target", target),
        ("distance", distance.as_ref().map(number)),
        ("yaw", yaw_deg.as_ref().map(number)),
        ("pitch", pitch_deg.as_ref().map(number)),
        ("fov", fov_deg.as_ref().map(number)),
        ("projection", projection),
    ];
    let said = all.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    said.collect()
}

/// A text with these edits, which are in its order.
fn with(source: &str, edits: &[Edit]) -> String {
    let mut after = source.to_owned();
    for edit in edits.iter().rev() {
        after.replace_range(edit.range.clone(), &edit.text);
    }
    after
}

/// What is read of a text that values are put into, without places.
#[derive(Clone, Debug, PartialEq)]
struct Meant {
    parameters: Vec<Parameter>,
    presets: BTreeMap<String, BTreeMap<String, Value>>,
}

impl Meant {
    /// What a text says; else the first thing that is wrong with it.
    fn read(source: &str, overrides: &Overrides) -> Result<Self, String> {
        let manifest = decode::parameters_of(source, overrides);
        let Manifest { parameters, presets, .. } = manifest.map_err(|found| told(&found))?;
        let without_place = |of| Parameter { at: Position::default(), ..of };
        let presets = presets.into_iter().map(|of| (of.name, of.values.into_iter().collect()));
        let parameters = parameters.into_iter().map(without_place).collect();
        Ok(Self { parameters, presets: presets.collect() })
    }

    fn parameter(&self, name: &str) -> Result<&Parameter, Unwritten> {
        let found = self.parameters.iter().find(|of| of.name == name);
        found.ok_or_else(|| Unwritten::Undeclared(name.to_owned()))
    }
}

/// The first of what is wrong, with its line.
fn told(found: &[Diagnostic]) -> String {
    let first = found.iter().find(|of| of.severity >= Severity::Error).or(found.first());
    let Some(first) = first else { return String::new() };
    let text = first.text.lines().next().unwrap_or_default();
    first.line.map_or_else(|| text.to_owned(), |line| format!("line {line}: {text}"))
}

/// The manifest of a text, and its place.
fn toml_of(source: &str) -> Result<(&str, usize), Unwritten> {
    match manifest_block(source) {
        ManifestBlock::Found(range) => Ok((&source[range.clone()], range.start)),
        ManifestBlock::Unclosed(_) | ManifestBlock::Missing => {
            Err(Unwritten::Faulty("there is none".to_owned()))
        }
    }
}

fn table_of(toml: &str) -> Result<Spanned<DeTable<'_>>, Unwritten> {
    DeTable::parse(toml).map_err(|error| Unwritten::Faulty(error.message().to_owned()))
}

/// The value, as near to it as the parameter's bounds allow: the text may have others than the program that runs.
fn fitted(parameter: &Parameter, value: &Value) -> Result<Value, Unwritten> {
    let fitted = match (&parameter.control, value) {
        (Control::Slider { .. }, value) if parameter.accepts(value) => value.clone(),
        (Control::Slider { min, max, .. }, Value::Float(value)) => {
            Value::Float(value.clamp(*min, *max))
        }
        (Control::Slider { min, max, .. }, Value::Int(value)) => {
            Value::Int((*value).clamp(*min as i64, *max as i64))
        }
        (Control::Color(has_alpha), Value::Color(parts)) => {
            let mut parts = parts.map(|part| part.clamp(0.0, 1.0));
            parts[3] = if *has_alpha { parts[3] } else { 1.0 };
            Value::Color(parts)
        }
        (
            Control::Slider { .. } | Control::Choice(_) | Control::Toggle | Control::Color(_),
            Value::Int(_) | Value::Float(_) | Value::Toggle(_) | Value::Color(_),
        ) => value.clone(),
    };
    if parameter.accepts(&fitted) {
        return Ok(fitted);
    }
    let (name, kind) = (parameter.name.clone(), parameter.default.kind());
    Err(Unwritten::Unfit { name, kind, value: literal(value, &Control::Color(true)) })
}

/// Puts `after` in the place of a value that is `before`; nothing where that is the same.
fn replaced(
    written: &Spanned<DeValue<'_>>,
    before: &Value,
    after: &Value,
    control: &Control,
) -> Vec<Edit> {
    if before == after {
        return Vec::new();
    }
    match (written.get_ref(), before, after) {
        // Each channel by itself: comments may stand between them.
        (DeValue::Array(written), Value::Color(before), Value::Color(after)) => {
            let parts = written.iter().zip(before.iter().zip(after));
            let others = parts.filter(|(_, (before, after))| before != after);
            others.map(|(part, (_, after))| Edit::replace(part, literal::channel(*after))).collect()
        }
        // A switch is a number where it was one.
        (DeValue::Integer(_), _, Value::Toggle(on)) => {
            vec![Edit::replace(written, u8::from(*on).to_string())]
        }
        (_, _, Value::Int(_) | Value::Float(_) | Value::Toggle(_) | Value::Color(_)) => {
            vec![Edit::replace(written, literal(after, control))]
        }
    }
}

/// Puts a value into the table of a parameter, and the ends of its slider where they would not stay what they are.
fn value_edits(place: &Place<'_>, parameter: &Parameter, value: &Value) -> Vec<Edit> {
    let Some(written) = place.value("value") else { return Vec::new() };
    let mut edits = replaced(written, &parameter.default, value, &parameter.control);
    let (Control::Slider { min, max, .. }, false) = (&parameter.control, edits.is_empty()) else {
        return edits;
    };
    let (number, is_whole) = match value {
        Value::Float(value) => (*value, false),
        Value::Int(value) => (*value as f64, true),
        Value::Toggle(_) | Value::Color(_) => return edits,
    };
    let (least, greatest) = decode::usual_ends(number);
    let ends = [("min", least, *min), ("max", greatest, *max)];
    let moved =
        ends.into_iter().filter(|(key, usual, end)| place.value(key).is_none() && usual != end);
    let text = |end| if is_whole { format!("{end:.0}") } else { literal::float(end) };
    let moved: Vec<Entry> = moved.map(|(key, _, end)| (key.to_owned(), text(end))).collect();
    if !moved.is_empty() {
        edits.push(place.insert(Some("value"), &moved));
    }
    edits
}

/// Edits of the manifest as those of the text that it begins in at `base`, in order.
fn in_source(mut edits: Vec<Edit>, base: usize) -> Vec<Edit> {
    for edit in &mut edits {
        edit.range = edit.range.start + base..edit.range.end + base;
    }
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    edits
}

/// The edits, if the text is read as `meant` with them, and without the overrides on every device that it was read for.
fn checked(
    source: &str,
    overrides: &Overrides,
    edits: Vec<Edit>,
    meant: &Meant,
) -> Result<Vec<Edit>, Unwritten> {
    let after = with(source, &edits);
    let read = Meant::read(&after, overrides).map_err(Unwritten::Misread)?;
    if read != *meant {
        return Err(Unwritten::Misread("its values would be others".to_owned()));
    }
    for cpu in [false, true] {
        let overrides = Overrides { cpu: Some(cpu), ..Overrides::default() };
        if Meant::read(source, &overrides).is_ok() {
            Meant::read(&after, &overrides).map_err(Unwritten::Misread)?;
        }
    }
    Ok(edits)
}

#[cfg(test)]
mod tests;
