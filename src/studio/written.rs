//! Values of parameters as the text has them, and put into it; cameras and colours, too.

use std::ops::Range;

use crate::{
    draw::{Camera, Colormap, Projection, Recoloring},
    scene::{
        self, Overrides,
        written::{Colors, Edit, Unwritten},
    },
    session::{Control, Parameter, Value},
};

/// A change of a text: characters, and what takes their place.
pub type Change = (Range<usize>, String);

/// A value as a manifest has it.
pub fn in_manifest(parameter: &Parameter, value: &Value) -> String {
    scene::literal(value, &parameter.control)
}

/// A value as a constant of CUDA C++.
pub fn in_cuda(parameter: &Parameter) -> String {
    let name = &parameter.name;
    match &parameter.value {
        Value::Float(value) if (*value as f32).is_finite() => {
            format!("constexpr float {name} = {:?}f;", *value as f32)
        }
        Value::Float(value) => format!("constexpr double {name} = {value:?};"),
        Value::Int(value) if i32::try_from(*value).is_ok() => {
            format!("constexpr int {name} = {value};")
        }
        // The least one is no literal of C++.
        Value::Int(i64::MIN) => format!("constexpr long long {name} = {} - 1;", i64::MIN + 1),
        Value::Int(value) => format!("constexpr long long {name} = {value};"),
        Value::Toggle(value) => format!("constexpr int {name} = {};", i32::from(*value)),
        Value::Color(parts) => {
            let parts =
                parts.iter().take(if parameter.control == Control::Color(true) { 4 } else { 3 });
            let parts: Vec<_> = parts.map(|part| format!("{part:?}f")).collect();
            format!("const float{} {name} = {{{}}};", parts.len(), parts.join(", "))
        }
    }
}

/// What makes the present values of these parameters those of the manifest, in order; nothing where they are.
///
/// # Errors
/// Where the text would not be read with them, and all else as before.
pub fn values<'a>(
    text: &str,
    overrides: &Overrides,
    parameters: impl IntoIterator<Item = &'a Parameter>,
) -> Result<Vec<Change>, Unwritten> {
    let edits = scene::written::values(text, overrides, &wanted(parameters))?;
    Ok(in_characters(text, edits))
}

/// What makes the present values of these parameters a preset of the manifest, in order; one that is called so has them
/// then.
///
/// # Errors
/// As of [`values`].
pub fn preset(
    text: &str,
    overrides: &Overrides,
    name: &str,
    parameters: &[Parameter],
) -> Result<Vec<Change>, Unwritten> {
    let edits = scene::written::preset(text, overrides, name, &wanted(parameters))?;
    Ok(in_characters(text, edits))
}

/// What makes this the camera that a view starts with. Its numbers are rounded to what is not to be seen.
///
/// # Errors
/// As of [`values`], and where the manifest has no such view.
pub fn camera(
    text: &str,
    overrides: &Overrides,
    view: &str,
    camera: &Camera,
) -> Result<Vec<Change>, Unwritten> {
    let [camera, usual] = [camera, &Camera::default()].map(in_manifest_of);
    // Where the camera is depends on what is seen.
    let scene::Camera { fov_deg, projection, .. } = usual;
    let usual = scene::Camera { fov_deg, projection, ..scene::Camera::default() };
    let edits = scene::written::camera(text, overrides, view, [&camera, &usual])?;
    Ok(in_characters(text, edits))
}

/// What makes what was chosen by hand the colours of a view.
///
/// # Errors
/// As of [`camera`].
pub fn coloring(
    text: &str,
    overrides: &Overrides,
    view: &str,
    chosen: &Recoloring,
) -> Result<Vec<Change>, Unwritten> {
    let Recoloring { colormap, reversed, logarithmic, range } = *chosen;
    let colors = Colors { colormap: colormap.map(Colormap::name), reversed, logarithmic, range };
    let edits = scene::written::colors(text, overrides, view, &colors)?;
    Ok(in_characters(text, edits))
}

fn in_manifest_of(camera: &Camera) -> scene::Camera {
    let Camera { target, distance, yaw, pitch, fov, projection } = *camera;
    // A hundredth of a degree, and a thousandth of the distance, is less than a pixel of most pictures.
    let degrees = |angle: f32| (f64::from(angle.to_degrees()) * 100.0).round() / 100.0;
    let unit = 10f64.powf((f64::from(distance) * 1.0e-3).log10().floor());
    let length = |of: f32| ((f64::from(of) / unit).round() * unit) as f32 + 0.0;
    scene::Camera {
        target: Some(target.to_array().map(length)),
        distance: Some(length(distance)),
        yaw_deg: Some(degrees(yaw) as f32),
        pitch_deg: Some(degrees(pitch) as f32),
        fit: None,
        fov_deg: Some(degrees(fov) as f32),
        projection: Some(match projection {
            Projection::Perspective => scene::Projection::Perspective,
            Projection::Orthographic => scene::Projection::Orthographic,
        }),
    }
}

fn wanted<'a>(parameters: impl IntoIterator<Item = &'a Parameter>) -> Vec<(&'a str, &'a Value)> {
    parameters.into_iter().map(|of| (&*of.name, &of.value)).collect()
}

/// Edits of bytes, in order, as changes of characters.
fn in_characters(text: &str, edits: Vec<Edit>) -> Vec<Change> {
    let (mut bytes, mut characters) = (0, 0);
    let mut place = |at: usize| {
        characters += text[bytes..at].chars().count();
        bytes = at;
        characters
    };
    edits
        .into_iter()
        .map(|Edit { range, text }| (place(range.start)..place(range.end), text))
        .collect()
}

#[cfg(test)]
mod tests;
