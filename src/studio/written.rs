//! Values of parameters as the text has them, and put into it.

use std::ops::Range;

use crate::{
    scene::{CLOSE, OPEN},
    session::{Control, Parameter, Value},
};

/// A change of a text: characters, and what takes their place.
pub type Change = (Range<usize>, String);

/// A value as a manifest has it.
pub fn in_manifest(parameter: &Parameter, value: &Value) -> String {
    match (value, &parameter.control) {
        (Value::Float(value), _) => float(*value),
        (Value::Int(value), _) => value.to_string(),
        (Value::Toggle(value), _) => value.to_string(),
        (Value::Color(parts), control) => {
            let count = if *control == Control::Color(true) { 4 } else { 3 };
            let parts = parts[..count].iter();
            let parts: Vec<_> = parts.map(|part| float(f64::from(*part))).collect();
            format!("[{}]", parts.join(", "))
        }
    }
}

/// A value as a constant of CUDA C++.
pub fn in_cuda(parameter: &Parameter) -> String {
    let name = &parameter.name;
    match &parameter.value {
        Value::Float(value) => format!("constexpr float {name} = {}f;", float(*value)),
        Value::Int(value) => format!("constexpr int {name} = {value};"),
        Value::Toggle(value) => format!("constexpr int {name} = {};", i32::from(*value)),
        Value::Color(parts) => {
            let parts =
                parts.iter().take(if parameter.control == Control::Color(true) { 4 } else { 3 });
            let parts: Vec<_> = parts.map(|part| format!("{}f", float(f64::from(*part)))).collect();
            format!("const float{} {name} = {{{}}};", parts.len(), parts.join(", "))
        }
    }
}

/// Six digits: what a slider has more of, nobody has chosen.
fn float(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    format!("{rounded:?}")
}

/// What puts these values into the manifest of a text, in order.
///
/// # Errors
/// The name of a parameter whose table has no value on a line of its own.
pub fn values(text: &str, wanted: &[(&Parameter, &Value)]) -> Result<Vec<Change>, String> {
    let lines = manifest(text);
    let change = |(parameter, value): &(&Parameter, &Value)| -> Result<Change, String> {
        let head = |line: &&Line<'_>| is_head(line.text, "param", &parameter.name);
        let own = lines.iter().skip_while(|line| !head(line)).skip(1);
        let own = own.take_while(|line| !line.text.trim_start().starts_with('['));
        let found = own.filter_map(|line| value_on(line)).next();
        let (range, old) = found.ok_or_else(|| parameter.name.clone())?;
        // A switch is a number where it was one.
        let new = match value {
            Value::Toggle(on) if matches!(old, "0" | "1") => i32::from(*on).to_string(),
            value => in_manifest(parameter, value),
        };
        Ok((range, new))
    };
    let mut changes: Vec<Change> = wanted.iter().map(change).collect::<Result<_, _>>()?;
    changes.sort_by_key(|(range, _)| range.start);
    Ok(changes)
}

/// What puts the present values of all parameters into the manifest as a preset; one that is called so goes.
pub fn preset(text: &str, name: &str, parameters: &[Parameter]) -> Option<Change> {
    let lines = manifest(text);
    let mut table = format!("[preset.{}]\n", quoted(name));
    for parameter in parameters {
        table += &format!("{} = {}\n", parameter.name, in_manifest(parameter, &parameter.value));
    }
    let at = lines.iter().position(|line| is_head(line.text, "preset", name));
    if let Some(at) = at {
        let behind = lines[at + 1..].iter().take_while(|line| {
            let text = line.text.trim();
            !text.is_empty() && !text.starts_with(['[', '#'])
        });
        let end = lines[at + 1 + behind.count() - 1].end;
        return Some((lines[at].start..end, table));
    }
    let end = lines.last()?.end;
    Some((end..end, format!("\n{table}")))
}

/// A name as a key of TOML, which does not end the comment that the manifest stands in.
fn quoted(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match !name.is_empty() && name.chars().all(is_bare) {
        true => name.to_owned(),
        false => {
            let plain = |c: &char| !c.is_control() && !matches!(c, '"' | '\\' | '/');
            format!("\"{}\"", name.chars().filter(plain).collect::<String>())
        }
    }
}

/// A line of the manifest, with its end, and its place in characters.
struct Line<'a> {
    text: &'a str,
    start: usize,
    end: usize,
}

/// The lines between those on which the manifest begins and ends.
fn manifest(text: &str) -> Vec<Line<'_>> {
    let Some(open) = text.find(OPEN).map(|at| at + OPEN.len()) else { return Vec::new() };
    let Some(close) = text[open..].find(CLOSE).map(|at| open + at) else { return Vec::new() };
    let mut all = Vec::new();
    let mut start = text[..open].chars().count();
    for line in text[open..close].split_inclusive('\n') {
        let end = start + line.chars().count();
        all.push(Line { text: line, start, end });
        start = end;
    }
    all
}

/// Whether a line is `[TABLE.NAME]`.
fn is_head(line: &str, table: &str, name: &str) -> bool {
    let head = line.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let parts = head.and_then(|(head, _)| head.split_once('.'));
    parts.is_some_and(|(kind, own)| {
        kind.trim() == table && own.trim().trim_matches(['"', '\'']) == name
    })
}

/// The place of what stands behind `value =`, without a comment, and that itself.
fn value_on<'a>(line: &Line<'a>) -> Option<(Range<usize>, &'a str)> {
    let (key, rest) = line.text.split_once('=')?;
    if key.trim() != "value" {
        return None;
    }
    let value = rest.trim_start();
    let length = match value.chars().next()? {
        '[' => value.find(']')? + 1,
        quote @ ('"' | '\'') => value[1..].find(quote)? + 2,
        _ => value.find('#').unwrap_or(value.len()),
    };
    let value_text = value[..length].trim_end();
    let before = line.text.len() - value.len();
    let start = line.start + line.text[..before].chars().count();
    Some((start..start + value_text.chars().count(), value_text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::text::Buffer;

    const TEXT: &str = "/*---\ntitle = \"größer\"\n[param.drag]\nvalue = 0.5  # value = 1\nmax = 2.0\n\n\
                        [param.\"on\"]\nkind = \"toggle\"\nvalue=0\n[param.tint]\nvalue = [1, 0.5, 0]\nkind = \"color\"\n\
                        ---*/\n// [param.drag]\n// value = 3\n";

    fn parameter(name: &str, value: Value, control: Control) -> Parameter {
        let (name, label) = (name.to_owned(), name.to_owned());
        Parameter { name, label, unit: String::new(), default: value.clone(), value, control }
    }

    fn all() -> Vec<Parameter> {
        let slider = Control::Slider { min: 0.0, max: 2.0, step: 0.0, log: false };
        vec![
            parameter("tint", Value::Color([0.25, 0.5, 1.0, 1.0]), Control::Color(false)),
            parameter("drag", Value::Float(0.349_999_994), slider),
            parameter("on", Value::Toggle(true), Control::Toggle),
        ]
    }

    fn changed(changes: Vec<Change>, text: &str) -> String {
        let mut buffer = Buffer::new(text);
        buffer.replace(changes, 0.0);
        buffer.to_string()
    }

    #[test]
    fn values_take_the_place_of_those_that_are_written() {
        let all = all();
        let wanted: Vec<_> = all.iter().map(|of| (of, &of.value)).collect();
        let expected = TEXT
            .replace("value = 0.5  #", "value = 0.35  #")
            .replace("value=0", "value=1")
            .replace("[1, 0.5, 0]", "[0.25, 0.5, 1.0]");
        assert_eq!(changed(values(TEXT, &wanted).unwrap(), TEXT), expected);
        let inline = TEXT.replace("[param.drag]\nvalue = 0.5", "[param.drag]\n");
        assert_eq!(values(&inline, &wanted), Err("drag".to_owned()));
        assert_eq!(values("no manifest", &wanted), Err("tint".to_owned()));
    }

    #[test]
    fn a_preset_is_written_behind_the_other_tables_and_in_the_place_of_its_own() {
        let mut all = all();
        let once = changed(vec![preset(TEXT, "calm sea", &all).unwrap()], TEXT);
        let table =
            "\n[preset.\"calm sea\"]\ntint = [0.25, 0.5, 1.0]\ndrag = 0.35\non = true\n---*/";
        assert!(once.contains(table), "{once}");
        all[1].value = Value::Float(1.0);
        let twice = changed(vec![preset(&once, "calm sea", &all).unwrap()], &once);
        assert_eq!(twice, once.replace("drag = 0.35", "drag = 1.0"));
        assert!(preset("no manifest", "a", &all).is_none());
        assert_eq!(quoted("a*/\"b"), "\"a*b\"");
    }

    #[test]
    fn parameters_are_copied_as_constants() {
        let told: Vec<String> = all().iter().map(in_cuda).collect();
        assert_eq!(
            told,
            [
                "const float3 tint = {0.25f, 0.5f, 1.0f};",
                "constexpr float drag = 0.35f;",
                "constexpr int on = 1;"
            ]
        );
    }
}
