//! Parameters: values that a person changes while the scene runs.

use serde::{Deserialize, Serialize};

use crate::cuda::Position;

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// `int`, also the index of a choice.
    Int(i64),
    /// `float`.
    Float(f64),
    /// A switch, passed as `int`.
    Toggle(bool),
    /// Linear red, green, blue, alpha.
    Color([f32; 4]),
}

impl Value {
    /// The same as a value of the kind that `other` has: a whole number is a float, too, in a file that does not tell
    /// them apart.
    pub fn as_kind_of(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Int(value), Self::Float(_)) => Some(Self::Float(*value as f64)),
            (value, other) => (value.kind() == other.kind()).then(|| value.clone()),
        }
    }

    /// What it is, in one word of the manifest's language.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Float(_) => "float",
            Self::Int(_) => "int",
            Self::Toggle(_) => "toggle",
            Self::Color(_) => "color",
        }
    }
}

/// How a parameter is shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Control {
    /// A slider from `min` to `max`; `step` 0 means continuous.
    Slider {
        /// Least value.
        min: f64,
        /// Greatest value.
        max: f64,
        /// Grid of values, 0 for none.
        step: f64,
        /// Whether the slider is logarithmic.
        log: bool,
    },
    /// One of these.
    Choice(Vec<String>),
    /// A check box.
    Toggle,
    /// A colour picker; `true` with alpha.
    Color(bool),
}

/// The declaration of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The name that kernels use.
    pub name: String,
    /// The name to show; the name itself where the manifest gives none.
    pub label: String,
    /// Unit to show behind the value; may be empty.
    pub unit: String,
    /// Value to start with.
    pub default: Value,
    /// How it is shown.
    pub control: Control,
    /// Where it is declared.
    pub at: Position,
}

/// Values of parameters that are set together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Preset {
    /// What it is called.
    pub name: String,
    /// The parameters that it sets, each with its value.
    pub values: Vec<(String, Value)>,
}

impl Parameter {
    /// The value that `text` stands for: a number, the name of a choice, `on` or `off`, `#rrggbb`.
    ///
    /// # Errors
    ///
    /// A sentence, where the text is no value of this parameter's kind and range.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        let name = &self.name;
        let value = match (&self.control, &self.default) {
            (Control::Toggle, _) => toggle(text),
            (Control::Choice(choices), _) => choice(text, choices),
            (Control::Color(alpha), _) => color(text, *alpha),
            (Control::Slider { .. }, Value::Int(_)) => text
                .parse()
                .map(Value::Int)
                .map_err(|_| "is an int: a whole number such as 3".to_owned()),
            (Control::Slider { .. }, _) => number(text).map(Value::Float),
        };
        let value = value.map_err(|problem| format!("`{name}` {problem}, not `{text}`"))?;
        self.check(&value)?;
        Ok(value)
    }

    /// That `value` lies in the slider's range.
    fn check(&self, value: &Value) -> Result<(), String> {
        let Control::Slider { min, max, .. } = self.control else { return Ok(()) };
        let number = match value {
            Value::Float(value) => *value,
            Value::Int(value) => *value as f64,
            Value::Toggle(_) | Value::Color(_) => return Ok(()),
        };
        if (min..=max).contains(&number) {
            return Ok(());
        }
        Err(format!("`{}` goes from {min} to {max}, {number} lies outside", self.name))
    }

    /// Whether `value` is of this parameter's kind and one that its control can show. Shapes and counts of passes that
    /// depend on the parameter are checked for these values alone.
    pub fn accepts(&self, value: &Value) -> bool {
        let is_shown = match (&self.control, value) {
            (Control::Choice(choices), Value::Int(value)) => {
                usize::try_from(*value).is_ok_and(|value| value < choices.len())
            }
            (Control::Choice(_), _) => false,
            (Control::Slider { .. } | Control::Toggle | Control::Color(_), _) => true,
        };
        is_shown && value.kind() == self.default.kind() && self.check(value).is_ok()
    }
}

fn number(text: &str) -> Result<f64, String> {
    let found = text.parse().ok().filter(|value: &f64| value.is_finite());
    found.ok_or_else(|| "is a float: a number such as 0.5".to_owned())
}

fn toggle(text: &str) -> Result<Value, String> {
    match text {
        "1" | "on" | "true" | "yes" => Ok(Value::Toggle(true)),
        "0" | "off" | "false" | "no" => Ok(Value::Toggle(false)),
        _ => Err("is a toggle: on or off".to_owned()),
    }
}

fn choice(text: &str, choices: &[String]) -> Result<Value, String> {
    let by_index = || text.parse().ok().filter(|index| *index < choices.len());
    let index = choices.iter().position(|choice| choice == text).or_else(by_index);
    let all = || format!("is one of {}", choices.join(", "));
    index.map(|index| Value::Int(index as i64)).ok_or_else(all)
}

/// `#rrggbb`, `#rrggbbaa` or three or four numbers with commas between.
fn color(text: &str, alpha: bool) -> Result<Value, String> {
    let channels: Option<Vec<f32>> = match text.strip_prefix('#') {
        Some(digits) => hexadecimal(digits),
        None => text.split(',').map(|part| part.trim().parse().ok()).collect(),
    };
    let mut rgba = [1.0; 4];
    match channels {
        Some(found) if found.len() == 3 || (alpha && found.len() == 4) => {
            rgba[..found.len()].copy_from_slice(&found);
            if found.iter().all(|channel| (0.0..=1.0).contains(channel)) {
                return Ok(Value::Color(rgba));
            }
            Err("is a color, whose channels lie in 0 to 1".into())
        }
        _ if alpha => Err("is a color: #rrggbbaa or r,g,b,a".into()),
        _ => Err("is a color: #rrggbb or r,g,b".into()),
    }
}

fn hexadecimal(digits: &str) -> Option<Vec<f32>> {
    if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) || !digits.len().is_multiple_of(2) {
        return None;
    }
    let bytes = (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16));
    bytes.map(|byte| byte.ok().map(|byte| f32::from(byte) / 255.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(default: Value, control: Control) -> Parameter {
        let name = "p".to_owned();
        let at = Position::default();
        Parameter { label: name.clone(), unit: String::new(), name, default, control, at }
    }

    #[test]
    fn the_command_line_gives_each_kind_its_values() {
        let slider = |min, max| Control::Slider { min, max, step: 0.0, log: false };
        let float = parameter(Value::Float(0.5), slider(0.0, 1.0));
        let int = parameter(Value::Int(3), slider(1.0, 9.0));
        let toggle = parameter(Value::Toggle(false), Control::Toggle);
        let choices = ["calm", "wild"].map(str::to_owned).to_vec();
        let choice = parameter(Value::Int(0), Control::Choice(choices));
        let color = parameter(Value::Color([1.0; 4]), Control::Color(false));
        let cases = [
            (&float, "0.25", Ok(Value::Float(0.25))),
            (&float, "1", Ok(Value::Float(1.0))),
            (&float, "2", Err("from 0 to 1")),
            (&float, "nan", Err("a number such as")),
            (&int, "4", Ok(Value::Int(4))),
            (&int, "4.5", Err("whole number")),
            (&int, "10", Err("from 1 to 9")),
            (&toggle, "on", Ok(Value::Toggle(true))),
            (&toggle, "0", Ok(Value::Toggle(false))),
            (&toggle, "2", Err("on or off")),
            (&choice, "wild", Ok(Value::Int(1))),
            (&choice, "1", Ok(Value::Int(1))),
            (&choice, "2", Err("one of calm, wild")),
            (&color, "#ff0000", Ok(Value::Color([1.0, 0.0, 0.0, 1.0]))),
            (&color, "0, 0.5, 1", Ok(Value::Color([0.0, 0.5, 1.0, 1.0]))),
            (&color, "#ff00", Err("#rrggbb")),
            (&color, "#ffüü", Err("#rrggbb")),
            (&color, "#+f+f+f", Err("#rrggbb")),
            (&color, "2,0,0", Err("0 to 1")),
        ];
        for (parameter, text, expected) in cases {
            match (parameter.parse(text), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
                (Err(found), Err(part)) => assert!(found.contains(part), "{text}: {found}"),
                (found, expected) => panic!("{text}: {found:?}, expected {expected:?}"),
            }
        }
    }
}
