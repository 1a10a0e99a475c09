//! Manifests of all forms that TOML has, and values of all kinds, written and read back.

use fastrand::Rng;

use super::*;
use crate::scene::Scene;

/// Names of presets, which are any text.
const NAMES: &[&str] =
    &["calm", "calm sea", "a/b", "v[1]", "x.y", "ü'q", "say \"x\"", "a*/b", "---*", "1", "#", ""];

/// What begins like a part of the manifest, and is none where it stands.
const ODD: &[&str] =
    &["[preset.calm]", "value = 1", "\"", "'''", "]", "}", "[param.a] # x = [", ", x = {"];

/// A manifest that is being put together.
struct Text {
    rng: Rng,
    /// Comments so far: each has a number.
    comments: usize,
    /// What stands above all tables.
    top: Vec<String>,
    tables: Vec<String>,
}

/// Keys with their values, as TOML has them.
type Fields = Vec<(String, String)>;

impl Text {
    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.rng.usize(..all.len())]
    }

    fn comment(&mut self) -> String {
        self.comments += 1;
        let odd = self.one_of(ODD);
        format!("#c{};{odd}", self.comments)
    }

    /// What may end a line.
    fn end(&mut self) -> String {
        match self.rng.bool() {
            true => format!(" {}\n", self.comment()),
            false => "\n".to_owned(),
        }
    }

    fn key(&mut self, name: &str) -> String {
        let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if !name.is_empty() && name.chars().all(is_bare) && self.rng.bool() {
            return name.to_owned();
        }
        if name.contains(['\'', '/']) || self.rng.bool() {
            let escaped = name.replace('\\', "\\\\").replace('"', "\\\"");
            return format!("\"{}\"", escaped.replace('/', "\\u002F"));
        }
        format!("'{name}'")
    }

    fn path(&mut self, names: &[&str]) -> String {
        let dot = self.one_of(&[".", " . "]);
        names.iter().map(|name| self.key(name)).collect::<Vec<_>>().join(dot)
    }

    fn inline(&mut self, fields: &Fields) -> String {
        let is_long = self.rng.bool();
        let mut text = "{".to_owned();
        for (number, (key, value)) in fields.iter().enumerate() {
            let comma = if number + 1 < fields.len() || self.rng.bool() { "," } else { "" };
            let end = if is_long { self.end() } else { " ".to_owned() };
            text += &format!(" {key} = {value}{comma}{end}");
        }
        text + "}"
    }

    /// The lines of a table's keys, each with `before` in front, and more between them.
    fn lines(&mut self, before: &str, fields: &Fields) -> Vec<String> {
        let indent = self.one_of(&["", "  "]);
        let mut line = |(key, value): &(String, String)| {
            let between = match self.rng.u8(..4) {
                0 => "\n".to_owned(),
                1 => format!("{}\n", self.comment()),
                _ => String::new(),
            };
            format!("{between}{indent}{before}{key} = {value}{}", self.end())
        };
        fields.iter().map(&mut line).collect()
    }

    /// The tables of a kind, each in one of the forms that TOML has for it.
    fn group(&mut self, kind: &str, tables: &[(&str, Fields)]) {
        let form = self.rng.u8(..4);
        if form == 0 {
            let mut all = Fields::new();
            for (name, fields) in tables {
                let table = self.inline(fields);
                all.push((self.key(name), table));
            }
            let (key, table, end) = (self.key(kind), self.inline(&all), self.end());
            return self.top.push(format!("{key} = {table}{end}"));
        }
        let mut within = Vec::new();
        for (name, fields) in tables {
            let parts: &[&str] = if form == 1 { &[name] } else { &[kind, name] };
            let lines = match self.rng.u8(..3) {
                0 => {
                    let (path, table) = (self.path(parts), self.inline(fields));
                    vec![format!("{path} = {table}{}", self.end())]
                }
                1 => {
                    let before = format!("{}.", self.path(parts));
                    self.lines(&before, fields)
                }
                _ => {
                    let (path, end) = (self.path(&[kind, name]), self.end());
                    let table = format!("[{path}]{end}{}", self.lines("", fields).concat());
                    self.tables.push(table);
                    continue;
                }
            };
            if form == 1 { within.extend(lines) } else { self.top.extend(lines) }
        }
        if form == 1 {
            self.rng.shuffle(&mut within);
            let (key, end) = (self.key(kind), self.end());
            self.tables.push(format!("[{key}]{end}{}", within.concat()));
        }
    }

    fn finished(mut self) -> String {
        self.rng.shuffle(&mut self.top);
        self.rng.shuffle(&mut self.tables);
        let text = format!("{}{}", self.top.concat(), self.tables.concat());
        let text = format!("int a; /*---\n{text}---*/\n// [param.a] value = 1\n");
        if self.rng.bool() { text.replace('\n', "\r\n") } else { text }
    }
}

fn fields(all: &[(&str, &str)]) -> Fields {
    all.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// Some of the parameters that there can be.
fn parameters(text: &mut Text) -> Vec<(&'static str, Fields)> {
    let all: &[(&str, &[(&str, &str)])] = &[
        ("a", &[("value", "0.5")]),
        ("b", &[("label", "'value = 1'"), ("value", "-2e-3"), ("max", "1")]),
        ("c", &[("min", "-1.5"), ("value", "'n / 8.0'"), ("max", "7.2831853"), ("unit", "'#'")]),
        ("d", &[("value", "0x10")]),
        ("e", &[("value", "'2 * n'"), ("min", "1"), ("max", "1_000")]),
        ("f", &[("value", "true")]),
        ("g", &[("kind", "'toggle'"), ("value", "0")]),
        ("h", &[("value", "[ # red, ]\n 1, # green\n 0.5, 0.0 ]"), ("kind", "\"color\"")]),
        ("i", &[("kind", "\"color\""), ("value", "[0,1, 0.25 ,0.1]")]),
        ("j", &[("choices", "['x = 1', ']', '''}''']"), ("value", "2")]),
        ("k", &[("value", "\"\"\"n\"\"\""), ("max", "n16")]),
    ];
    let mut found = Vec::new();
    for (name, keys) in all {
        if text.rng.u8(..3) > 0 {
            let keys =
                fields(keys).into_iter().map(|(key, value)| (key, value.replace("n16", "'n'")));
            found.push((*name, keys.map(|(key, value)| (text.key(&key), value)).collect()));
        }
    }
    found
}

/// Most of them.
fn some<'a, T>(rng: &mut Rng, all: &'a [T]) -> Vec<&'a T> {
    all.iter().filter(|_| rng.u8(..4) > 0).collect()
}

/// A value that the parameter may have, its ends and the one that it has more often than others.
fn value(rng: &mut Rng, parameter: &Parameter) -> Value {
    if rng.u8(..4) == 0 {
        return parameter.default.clone();
    }
    match (&parameter.control, &parameter.default) {
        (Control::Slider { min, max, .. }, Value::Float(_)) => {
            let between = (min + (max - min) * rng.f64()).clamp(*min, *max);
            Value::Float([*min, *max, between, between][rng.usize(..4)])
        }
        (Control::Slider { min, max, .. }, _) => Value::Int(rng.i64(*min as i64..=*max as i64)),
        (Control::Choice(choices), _) => Value::Int(rng.usize(..choices.len()) as i64),
        (Control::Toggle, _) => Value::Toggle(rng.bool()),
        (Control::Color(alpha), _) => {
            let mut part = || [0.0, 1.0, rng.f32(), rng.f32() * 1e-6][rng.usize(..4)];
            let mut color = [(); 4].map(|()| part());
            color[3] = if *alpha { color[3] } else { 1.0 };
            Value::Color(color)
        }
    }
}

fn literal(rng: &mut Rng, parameter: &Parameter, value: &Value) -> String {
    match value {
        Value::Toggle(on) if rng.bool() => u8::from(*on).to_string(),
        Value::Toggle(on) => on.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => format!("{value:?}"),
        Value::Color(parts) => {
            let count = if parameter.control == Control::Color(true) { 4 } else { 3 };
            format!("{:?}", &parts[..count])
        }
    }
}

/// A text whose manifest has some parameters and presets.
fn text(seed: u64) -> String {
    let rng = Rng::with_seed(seed);
    let mut text = Text { rng, comments: 0, top: Vec::new(), tables: Vec::new() };
    let all = parameters(&mut text);
    text.tables.push("[constant]\nn = 3\n".to_owned());
    text.group("param", &all);
    let copy =
        Text { rng: text.rng.clone(), top: text.top.clone(), tables: text.tables.clone(), ..text };
    let declared = read(&copy.finished()).parameters;
    let mut presets = Vec::new();
    for name in
        NAMES.iter().filter(|name| seed.wrapping_mul(name.len() as u64 + 7).is_multiple_of(3))
    {
        let mut keys = Fields::new();
        for parameter in some(&mut text.rng, &declared) {
            let value = value(&mut text.rng, parameter);
            let literal = literal(&mut text.rng, parameter, &value);
            keys.push((text.key(&parameter.name), literal));
        }
        presets.push((*name, keys));
    }
    text.group("preset", &presets);
    text.tables.push("[[pass]]\nkernel = \"k\"\nover = 1 # value = 3\n".to_owned());
    text.finished()
}

#[track_caller]
fn read(text: &str) -> Manifest {
    let scene = Scene::parse("t.cu", text, &Overrides::default());
    scene.unwrap_or_else(|told| panic!("{text}\nis told {told:#?}")).manifest
}

/// The text with these values as the preset, or without one as those that it starts with.
fn write(text: &str, preset: Option<&str>, wanted: &[(&str, &Value)]) -> Result<String, Unwritten> {
    let overrides = Overrides::default();
    let edits = match preset {
        Some(name) => super::preset(text, &overrides, name, wanted)?,
        None => values(text, &overrides, wanted)?,
    };
    let mut text = text.to_owned();
    edits.iter().rev().for_each(|edit| text.replace_range(edit.range.clone(), &edit.text));
    Ok(text)
}

type Presets = BTreeMap<String, BTreeMap<String, Value>>;

/// Parameters and presets of a manifest, and all else, without places.
fn parts(mut manifest: Manifest) -> (Vec<Parameter>, Presets, String) {
    let mut parameters = std::mem::take(&mut manifest.parameters);
    parameters.iter_mut().for_each(|of| of.at = Position::default());
    let presets = std::mem::take(&mut manifest.presets).into_iter();
    let presets = presets.map(|of| (of.name, of.values.into_iter().collect())).collect();
    let places = regex::Regex::new(r"line: \d+, column: \d+").unwrap();
    let rest = places.replace_all(&format!("{manifest:?}"), "").into_owned();
    (parameters, presets, rest)
}

/// The comments, but for those within the lists of parameters, and all behind the manifest.
fn kept(text: &str) -> (Vec<&str>, &str) {
    let comments = regex::Regex::new(r"#(c\d+;| red| green)[^\n]*").unwrap();
    (
        comments.find_iter(text).map(|found| found.as_str()).collect(),
        text.split_once("---*/").unwrap().1,
    )
}

#[test]
fn whatever_the_manifest_looks_like_the_scene_reads_what_was_written() {
    for seed in 0..200 {
        let mut rng = Rng::with_seed(!seed);
        let mut before = text(seed);
        for _ in 0..3 {
            let (mut parameters, mut presets, rest) = parts(read(&before));
            let shown = some(&mut rng, &parameters).into_iter();
            let shown: Vec<(String, Value)> =
                shown.map(|of| (of.name.clone(), value(&mut rng, of))).collect();
            let preset = rng.bool().then(|| NAMES[rng.usize(..NAMES.len())]);
            match preset {
                Some(name) => {
                    presets.entry(name.to_owned()).or_default().extend(shown.iter().cloned());
                }
                None => {
                    for (name, value) in &shown {
                        let of = parameters.iter_mut().find(|of| of.name == *name).unwrap();
                        of.default = value.clone();
                    }
                }
            }
            let wanted: Vec<_> = shown.iter().map(|(name, value)| (&**name, value)).collect();
            let after = write(&before, preset, &wanted)
                .unwrap_or_else(|told| panic!("seed {seed}\n{before}\n{told}"));
            let context = format!("seed {seed}, {preset:?} {shown:?}\n{before}\nbecame\n{after}");
            let found = Scene::parse("t.cu", &after, &Overrides::default());
            let found = found.unwrap_or_else(|told| panic!("{context}\nis told {told:#?}"));
            assert_eq!(parts(found.manifest), (parameters, presets, rest), "{context}");
            assert_eq!(kept(&after), kept(&before), "{context}");
            assert_eq!(
                after.matches('\r').count(),
                if before.contains('\r') { after.matches('\n').count() } else { 0 }
            );
            assert_eq!(
                write(&after, preset, &wanted).as_ref(),
                Ok(&after),
                "it is written anew: {context}"
            );
            before = after;
        }
    }
}
