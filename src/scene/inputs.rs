//! Everything that enters a step from outside.

use super::{Kind, Value, named::named};

/// Every input of a step, so that a run can be recorded and replayed.
///
/// A scene is a function of these, its source, its constants and the step before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inputs {
    /// Seconds since the reset: `step * dt`.
    pub time: f64,
    /// Seconds that a step advances.
    pub dt: f64,
    /// Pictures drawn since the reset; without a window the same as `step`.
    pub frame: u64,
    /// Steps finished since the reset.
    pub step: u64,
    /// The run's seed.
    pub seed: u64,
    /// x and y from 0 to 1 from the lower left corner of the view, buttons (1 left, 2 right, 4 middle, added), wheel
    /// notches turned.
    pub mouse: [f32; 4],
    /// Keys held, a bit each: see [`Keys`].
    pub keys: Keys,
    /// The value of each parameter, in the manifest's order.
    pub parameters: Vec<Value>,
}

impl Inputs {
    /// These after the step that they enter.
    #[must_use]
    pub fn after_step(&self) -> Self {
        self.at(self.step + 1)
    }

    /// These after some steps more, of the same length: `step` in all.
    #[must_use]
    pub fn at(&self, step: u64) -> Self {
        let frame = self.frame + step.saturating_sub(self.step);
        Self { step, frame, time: step as f64 * self.dt, ..self.clone() }
    }
}

/// Keys held: bit `k % 32` of word `k / 32` for the key with code `k`.
///
/// The code of a key that types an ASCII character is that character's, letters in upper case; the others
/// have the codes below, where ASCII has control characters. Kernels ask through `warpaint/input.cuh`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keys(pub [u32; 4]);

impl Keys {
    /// Either shift key.
    pub const SHIFT: u8 = 14;
    /// Either control key.
    pub const CONTROL: u8 = 15;
    /// Either alt key.
    pub const ALT: u8 = 16;
    /// The arrow to the left.
    pub const LEFT: u8 = 17;
    /// The arrow up.
    pub const UP: u8 = 18;
    /// The arrow to the right.
    pub const RIGHT: u8 = 19;
    /// The arrow down.
    pub const DOWN: u8 = 20;

    /// Notes whether the key with code `code` (below 128) is held; others are ignored.
    pub fn set(&mut self, code: u8, held: bool) {
        let Some(word) = self.0.get_mut(usize::from(code / 32)) else { return };
        let bit = 1 << (code % 32);
        *word = if held { *word | bit } else { *word & !bit };
    }

    /// Whether the key with code `code` is held.
    pub fn held(&self, code: u8) -> bool {
        self.0.get(usize::from(code / 32)).is_some_and(|word| word >> (code % 32) & 1 == 1)
    }
}

named! {
    /// The names that every scene's kernels may use, and that nothing else may have.
    Builtin {
        /// Seconds since the reset.
        Time = "time",
        /// Seconds that a step advances.
        Dt = "dt",
        /// Pictures drawn since the reset.
        Frame = "frame",
        /// Steps finished since the reset.
        Step = "step",
        /// The run's seed.
        Seed = "seed",
        /// x, y, buttons, wheel.
        Mouse = "mouse",
        /// Keys held.
        Keys = "keys",
    }
}

impl Builtin {
    /// What number it is; `None` for those that are vectors.
    pub(super) const fn kind(self) -> Option<Kind> {
        match self {
            Self::Time | Self::Dt => Some(Kind::Float),
            Self::Frame | Self::Step | Self::Seed => Some(Kind::Int),
            Self::Mouse | Self::Keys => None,
        }
    }
}
