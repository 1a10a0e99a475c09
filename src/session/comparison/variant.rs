//! What B is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{scene::Value, session::Engine};

/// How B differs from what runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// Its text.
    pub text: VariantText,
    /// Constants of the manifest that have another value in it: a number or an expression over the other ones.
    pub constants: BTreeMap<String, String>,
    /// Whether its floating-point arithmetic is fast rather than exact, whatever its manifest says.
    pub fast_math: Option<bool>,
    /// Whether its kernels are guarded on an NVIDIA GPU; as A's where nothing is said. What plain kernels do wrong may
    /// end CUDA for the process.
    #[serde(default)]
    pub guarded: Option<bool>,
    /// The device that it has, as `--device` names it; A's where nothing is said. It goes on from A's state there as
    /// from a file: what it has under other names, or in other types, is as after a reset.
    #[serde(default)]
    pub device: Option<String>,
    /// What of the device runs it; what runs A where nothing is said, or the device itself, where that is another one.
    #[serde(default)]
    pub engine: Option<Engine>,
    /// Parameters that keep this value in it. It follows A's others as they are changed.
    pub parameters: BTreeMap<String, Value>,
}

impl Variant {
    /// Whether it runs A's text, an edited one, too: where it is that text otherwise compiled, or run elsewhere, what
    /// is compared is the other way to run it. What ran when it began it keeps else, to be compared with what A
    /// becomes; so it does without a guard, for nobody knows yet whether the kernels of an edited text are right.
    pub fn follows_text(&self) -> bool {
        let is_other_way = self.fast_math.is_some()
            || self.device.is_some()
            || self.engine.is_some()
            || !self.constants.is_empty();
        self.text == VariantText::Running && is_other_way
    }

    /// Whether the compiler makes the same of a text for it as for A.
    pub(super) fn is_compiled_as_a(&self) -> bool {
        self.fast_math.is_none() && self.device.is_none() && self.constants.is_empty()
    }
}

/// The text of B.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum VariantText {
    /// That which runs; see [`Variant::follows_text`].
    #[default]
    Running,
    /// That which ran before it.
    Before,
    /// The one with this number, of those that [`Timeline`](crate::session::Timeline) knows.
    Version(u64),
    /// Another one, of the scene's file.
    Given(String),
}
