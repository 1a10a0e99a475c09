//! Parameters that change by themselves while the scene plays.
//!
//! Enters: the parameters, and how much time has passed. Leaves: commands that set them. It knows no session.

use std::collections::BTreeMap;

use crate::session::{Command, Control, Parameter, Snapshot, Value};

/// How a parameter goes from its least value to its greatest one, and on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// There and back, slowest at the ends.
    Sine,
    /// There, and from the beginning again.
    Ramp,
    /// Anywhere, without jumps.
    Noise,
}

impl Shape {
    /// All of them, and what they are called.
    pub const ALL: [(Self, &str); 3] =
        [(Self::Sine, "Sine"), (Self::Ramp, "Ramp"), (Self::Noise, "Noise")];

    /// The part of the way after so many periods.
    fn at(self, periods: f64) -> f64 {
        match self {
            Self::Sine => 0.5 - 0.5 * (std::f64::consts::TAU * periods).cos(),
            Self::Ramp => periods.fract(),
            Self::Noise => {
                // Four places to be at in a period.
                let at = 4.0 * periods;
                let (from, along) = (at.floor() as u64, at.fract());
                let smooth = along * along * (3.0 - 2.0 * along);
                scattered(from) * (1.0 - smooth) + scattered(from + 1) * smooth
            }
        }
    }
}

/// A number from 0 to 1 that has nothing to do with the one before (splitmix64).
fn scattered(of: u64) -> f64 {
    let mut bits = of.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

/// A parameter that changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Animation {
    /// How.
    pub shape: Shape,
    /// Seconds until it is where it was.
    pub period: f64,
    /// Periods so far.
    periods: f64,
}

/// Those that change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Animations {
    all: BTreeMap<String, Animation>,
    /// When they were set last.
    at: Option<f64>,
}

impl Animations {
    /// Seconds that a period takes at first.
    const PERIOD: f64 = 8.0;
    /// Where a frame comes later than this, they wait for it.
    const LONGEST: f64 = 0.25;

    /// Lets a parameter change.
    pub fn start(&mut self, name: &str, shape: Shape) {
        let period = self.all.get(name).map_or(Self::PERIOD, |of| of.period);
        self.all.insert(name.to_owned(), Animation { shape, period, periods: 0.0 });
    }

    /// Lets it be.
    pub fn stop(&mut self, name: &str) {
        self.all.remove(name);
    }

    /// How a parameter changes, if it does.
    pub fn of(&mut self, name: &str) -> Option<&mut Animation> {
        self.all.get_mut(name)
    }

    /// Whether a parameter can change so.
    pub fn can(parameter: &Parameter) -> bool {
        matches!(parameter.control, Control::Slider { .. } | Control::Toggle)
    }

    /// What sets them at `now`, in seconds of any clock; nothing while the scene stands still.
    pub fn commands(&mut self, snapshot: &Snapshot, now: f64) -> Vec<Command> {
        let passed = self.at.replace(now).map_or(0.0, |at| (now - at).clamp(0.0, Self::LONGEST));
        // Another scene has other ones.
        let is_there = |name: &str| snapshot.parameters.iter().any(|of| of.name == name);
        if snapshot.compile.running > 0 {
            self.all.retain(|name, _| is_there(name));
        }
        if !snapshot.clock.playing || snapshot.fault.is_some() {
            return Vec::new();
        }
        let all = self.all.iter_mut().filter_map(|(name, animation)| {
            let parameter = snapshot.parameters.iter().find(|of| of.name == *name)?;
            animation.periods += passed / animation.period.max(0.1);
            let value = value(parameter, animation.shape.at(animation.periods))?;
            (value != parameter.value).then(|| Command::SetParameter(name.clone(), value))
        });
        all.collect()
    }

    /// Whether there are any.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// The value at a part of the way from the least one to the greatest.
pub fn value(parameter: &Parameter, part: f64) -> Option<Value> {
    match (&parameter.control, &parameter.value) {
        (Control::Slider { min, max, step, log }, of) => {
            let along = match log {
                true => min * (max / min).powf(part),
                false => min + (max - min) * part,
            };
            let stepped = match *step > 0.0 {
                true => min + ((along - min) / step).round() * step,
                false => along,
            };
            let number = stepped.clamp(*min, *max);
            Some(match of {
                Value::Int(_) => Value::Int(number.round() as i64),
                Value::Float(_) | Value::Toggle(_) | Value::Color(_) => Value::Float(number),
            })
        }
        (Control::Toggle, _) => Some(Value::Toggle(part >= 0.5)),
        (Control::Choice(_) | Control::Color(_), _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::test_screen::snapshot;

    fn scene(value: Value, control: Control) -> Snapshot {
        let mut snapshot = snapshot();
        let (name, default) = ("p".to_owned(), value.clone());
        let (label, unit) = (name.clone(), String::new());
        snapshot.parameters = vec![Parameter { name, label, unit, value, default, control }];
        snapshot.clock.playing = true;
        snapshot.compile.running = 1;
        snapshot
    }

    fn set(value: f64) -> Vec<Command> {
        vec![Command::SetParameter("p".into(), Value::Float(value))]
    }

    #[test]
    fn a_ramp_goes_from_end_to_end_while_the_scene_plays() {
        let control = Control::Slider { min: 2.0, max: 4.0, step: 0.0, log: false };
        let mut scene = scene(Value::Float(3.0), control);
        let mut animations = Animations::default();
        animations.start("p", Shape::Ramp);
        animations.of("p").unwrap().period = 1.0;
        assert_eq!(animations.commands(&scene, 10.0), set(2.0));
        assert_eq!(animations.commands(&scene, 10.25), set(2.5));
        scene.clock.playing = false;
        assert_eq!(animations.commands(&scene, 11.0), [], "it stands still");
        scene.clock.playing = true;
        assert_eq!(animations.commands(&scene, 11.125), set(2.75));
        // The slider is there already.
        scene.parameters[0].value = Value::Float(2.75);
        assert_eq!(animations.commands(&scene, 11.125), []);
        scene.parameters.clear();
        assert_eq!(animations.commands(&scene, 11.2), []);
        assert!(animations.is_empty(), "another scene");
    }

    #[test]
    fn shapes_stay_between_the_ends_and_do_not_jump() {
        for (shape, step) in [(Shape::Sine, 0.04), (Shape::Noise, 0.08)] {
            let all: Vec<f64> = (0..800).map(|at| shape.at(f64::from(at) / 100.0)).collect();
            assert!(all.iter().all(|part| (0.0..=1.0).contains(part)));
            assert!(all.windows(2).all(|of| (of[0] - of[1]).abs() < step), "{shape:?}");
        }
    }

    #[test]
    fn values_are_those_of_the_control() {
        let part =
            |value_: Value, control, part| value(&scene(value_, control).parameters[0], part);
        let log = Control::Slider { min: 0.01, max: 1.0, step: 0.0, log: true };
        let Some(Value::Float(middle)) = part(Value::Float(0.1), log, 0.5) else { panic!() };
        assert!((middle - 0.1).abs() < 1e-12, "{middle}");
        let whole = Control::Slider { min: 1.0, max: 9.0, step: 1.0, log: false };
        assert_eq!(part(Value::Int(1), whole, 0.3), Some(Value::Int(3)));
        assert_eq!(part(Value::Toggle(false), Control::Toggle, 0.7), Some(Value::Toggle(true)));
        assert_eq!(part(Value::Int(0), Control::Choice(vec!["a".into()]), 0.5), None);
    }
}
