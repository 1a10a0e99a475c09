//! Keys that change parameters.
//!
//! Enters: a key. Leaves: the command that it stands for, and what is remembered of each scene's keys. It knows no
//! session.

use std::collections::BTreeMap;

use egui::Key;

use super::animation;
use crate::session::{Command, Control, Parameter, Value};

/// Parts of a slider's way that a key goes.
const PARTS: f64 = 20.0;

/// The keys of all scenes as they are remembered: of each scene the parameters that have one, and its name.
pub type Remembered = BTreeMap<String, BTreeMap<String, String>>;

/// Which parameter each key changes.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    bound: BTreeMap<String, Key>,
    /// The scene that they are for.
    scene: Option<String>,
    /// The parameter for which a key is to be pressed.
    asked: Option<String>,
}

impl Keys {
    /// The key of a parameter.
    pub fn of(&self, name: &str) -> Option<Key> {
        self.bound.get(name).copied()
    }

    /// Binds a parameter to the key that is pressed next.
    pub fn ask(&mut self, name: &str) {
        self.asked = Some(name.to_owned());
    }

    /// The parameter for which a key is to be pressed.
    pub fn asked(&self) -> Option<&str> {
        self.asked.as_deref()
    }

    /// Takes the key that was pressed for it; one that is no letter or digit leaves all as it was.
    pub fn answer(&mut self, key: Key) {
        let Some(name) = self.asked.take() else { return };
        if can_be_bound(key) {
            // One key, one parameter.
            self.bound.retain(|_, of| *of != key);
            self.bound.insert(name, key);
        }
    }

    /// Takes what is remembered of a scene that was not open before; else remembers what is bound now.
    pub fn keep(&mut self, scene: &str, remembered: &mut Remembered) {
        if self.scene.as_deref() == Some(scene) {
            let named = |(name, key): (&String, &Key)| (name.clone(), key.name().to_owned());
            let bound: BTreeMap<_, _> = self.bound.iter().map(named).collect();
            if bound.is_empty() {
                remembered.remove(scene);
            } else if remembered.get(scene) != Some(&bound) {
                remembered.insert(scene.to_owned(), bound);
            }
            return;
        }
        (self.scene, self.asked) = (Some(scene.to_owned()), None);
        self.bound.clear();
        for (name, key) in remembered.get(scene).into_iter().flatten() {
            // The file may have been edited by hand.
            if let Some(key) = Key::from_name(key).filter(|key| can_be_bound(*key)) {
                self.bound.retain(|_, of| *of != key);
                self.bound.insert(name.clone(), key);
            }
        }
    }

    /// Leaves a parameter without a key.
    pub fn unbind(&mut self, name: &str) {
        self.bound.remove(name);
    }

    /// Those that are bound to parameters which are there, with these.
    pub fn all<'a>(
        &'a self,
        parameters: &'a [Parameter],
    ) -> impl Iterator<Item = (Key, &'a Parameter)> {
        let bound = self.bound.iter();
        bound.filter_map(|(name, key)| {
            Some((*key, parameters.iter().find(|parameter| parameter.name == *name)?))
        })
    }
}

/// Whether a key is nobody's: letters and digits.
fn can_be_bound(key: Key) -> bool {
    matches!(key.name().as_bytes(), [letter] if letter.is_ascii_alphanumeric())
}

/// What a key does: a slider goes on by a part of its way, or back; a switch is thrown; a list has its next one.
pub fn pressed(parameter: &Parameter, back: bool) -> Option<Command> {
    let value = match (&parameter.control, &parameter.value) {
        (Control::Slider { .. }, Value::Float(_) | Value::Int(_)) => stepped(parameter, back)?,
        (Control::Toggle, Value::Toggle(on)) => Value::Toggle(!on),
        (Control::Choice(choices), Value::Int(at)) => {
            let (count, step) = (choices.len().max(1) as i64, if back { -1 } else { 1 });
            Value::Int((at + step).rem_euclid(count))
        }
        (Control::Slider { .. } | Control::Choice(_) | Control::Toggle | Control::Color(_), _) => {
            return None;
        }
    };
    Some(Command::SetParameter(parameter.name.clone(), value))
}

/// The value a part of the way further, and another one than it has.
fn stepped(parameter: &Parameter, back: bool) -> Option<Value> {
    let way = (0..=PARTS as u32).map(|part| f64::from(part) / PARTS);
    let values = way.filter_map(|part| animation::value(parameter, part));
    let number = |value: &Value| match value {
        Value::Float(value) => *value,
        Value::Int(value) => *value as f64,
        Value::Toggle(_) | Value::Color(_) => 0.0,
    };
    let present = number(&parameter.value);
    // What is there already, but for the last bits, is no step.
    let near = 1e-9 * present.abs().max(1e-9);
    let mut values: Vec<Value> = values.collect();
    if back {
        values.reverse();
    }
    values.into_iter().find(|value| match back {
        true => number(value) < present - near,
        false => number(value) > present + near,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(value: Value, control: Control) -> Parameter {
        let (name, default) = ("p".to_owned(), value.clone());
        Parameter { label: name.clone(), unit: String::new(), name, value, default, control }
    }

    fn after(value: Value, control: Control, back: bool) -> Option<Value> {
        match pressed(&parameter(value, control), back)? {
            Command::SetParameter(_, value) => Some(value),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_key_goes_on_by_a_part_of_the_way_and_back_with_shift() {
        let slider = || Control::Slider { min: 0.0, max: 2.0, step: 0.0, log: false };
        assert_eq!(after(Value::Float(0.5), slider(), false), Some(Value::Float(0.6)));
        assert_eq!(after(Value::Float(0.55), slider(), true), Some(Value::Float(0.5)));
        assert_eq!(after(Value::Float(2.0), slider(), false), None, "it is at its end");
        let whole = || Control::Slider { min: 1.0, max: 4.0, step: 1.0, log: false };
        assert_eq!(after(Value::Int(2), whole(), false), Some(Value::Int(3)));
        assert_eq!(after(Value::Toggle(true), Control::Toggle, false), Some(Value::Toggle(false)));
        let list = || Control::Choice(vec!["a".into(), "b".into()]);
        assert_eq!(after(Value::Int(1), list(), false), Some(Value::Int(0)));
        assert_eq!(after(Value::Int(0), list(), true), Some(Value::Int(1)));
    }

    #[test]
    fn a_key_is_one_parameters_and_no_key_of_the_studios() {
        let mut keys = Keys::default();
        for (name, key) in [("a", Key::K), ("b", Key::K), ("c", Key::Space)] {
            keys.ask(name);
            keys.answer(key);
        }
        let bound = ["a", "b", "c"].map(|name| keys.of(name));
        assert_eq!((bound, keys.asked()), ([None, Some(Key::K), None], None));
        keys.unbind("b");
        assert_eq!(keys.of("b"), None);
    }
}
