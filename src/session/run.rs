//! What determines a run from its reset on, as a file that shows the same on another machine.
//!
//! A scene is a function of its texts, its constants, the seed and what enters its steps. A run file has all of these,
//! and digests of what came out, by which whoever repeats it knows whether it was the same.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{Error, Session, history::History};
use crate::{
    scene::{Inputs, Keys, Manifest, Overrides, Value},
    state::{Checkpoint, Subject},
};

/// What the first entry of every run file is.
const FORMAT: &str = "warpaint run";
/// The version that is written. Every older one is read.
const VERSION: u32 = 1;

/// A run, as its file has it: JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// `warpaint run`.
    format: String,
    /// The version of the format.
    version: u32,
    /// The version of the program that wrote it.
    pub program: String,
    /// The scene's name.
    pub name: String,
    /// The device that it ran on.
    pub device: String,
    /// NVRTC's version.
    pub nvrtc: Option<String>,
    /// The run's seed.
    pub seed: u64,
    /// Constants that were replaced.
    pub constants: BTreeMap<String, String>,
    /// Macros that were defined.
    pub defines: BTreeMap<String, String>,
    /// Finished steps at its end.
    pub steps: u64,
    /// The texts, each with the steps that were finished when it took over.
    pub texts: Vec<Text>,
    /// What entered steps, where it is not as in the step before.
    pub inputs: Vec<Entered>,
    /// Digests of the resources.
    pub digests: Vec<Digests>,
}

/// A text of a scene.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// Steps that were finished when it took over.
    pub step: u64,
    /// The text.
    pub text: String,
}

/// What entered a step and those after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entered {
    /// Steps that were finished before.
    pub step: u64,
    /// See [`Inputs::mouse`].
    pub mouse: [f32; 4],
    /// See [`Inputs::keys`].
    pub keys: [u32; 4],
    /// The values of the parameters.
    pub parameters: BTreeMap<String, Value>,
}

/// What the resources held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digests {
    /// Steps that were finished.
    pub step: u64,
    /// The first 16 bytes of SHA-256 of each resource's content, in hexadecimal digits.
    pub resources: BTreeMap<String, String>,
}

impl Run {
    /// Reads a run file.
    ///
    /// # Errors
    /// A sentence with the place, where the file is damaged, or of another kind.
    pub fn parse(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            format: String,
            version: u32,
        }
        let head: Head = serde_json::from_str(text)
            .map_err(|error| format!("it is no run file, or a damaged one: {error}"))?;
        if head.format != FORMAT {
            return Err(format!("it is a `{}`, and no `{FORMAT}`", head.format));
        }
        if head.version > VERSION {
            return Err(format!(
                "its version, {}, is newer than {VERSION}, which this program reads",
                head.version
            ));
        }
        let run: Self =
            serde_json::from_str(text).map_err(|error| format!("it is damaged: {error}"))?;
        run.check()?;
        Ok(run)
    }

    /// That a run can be made of it: a text is there from the first step on, and all is in order.
    fn check(&self) -> Result<(), String> {
        let ascend = |steps: &mut dyn Iterator<Item = u64>| {
            steps.try_fold(None, |last, step| {
                (last.is_none_or(|last| last < step)).then_some(Some(step))
            })
        };
        let lists: [(&str, &mut dyn Iterator<Item = u64>); 3] = [
            ("texts", &mut self.texts.iter().map(|text| text.step)),
            ("inputs", &mut self.inputs.iter().map(|entered| entered.step)),
            ("digests", &mut self.digests.iter().map(|digests| digests.step)),
        ];
        for (name, steps) in lists {
            if ascend(steps).is_none() {
                return Err(format!("it is damaged: the steps of its `{name}` do not ascend"));
            }
        }
        match self.texts.first() {
            Some(Text { step: 0, .. }) => Ok(()),
            _ => Err("it is damaged: it has no text for the first step".to_owned()),
        }
    }

    /// The file's text.
    pub fn to_json(&self) -> String {
        // Maps have texts for keys, so that nothing of it cannot be JSON.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// What the scene is compiled with.
    pub fn overrides(&self) -> Overrides {
        let (constants, defines) = (self.constants.clone(), self.defines.clone());
        Overrides { constants, defines, ..Overrides::default() }
    }
}

impl Entered {
    fn of(step: u64, inputs: &Inputs, manifest: &Manifest) -> Self {
        let named = manifest.parameters.iter().zip(&inputs.parameters);
        let parameters = named.map(|(of, value)| (of.name.clone(), value.clone()));
        let Inputs { mouse, keys: Keys(keys), .. } = *inputs;
        Self { step, mouse, keys, parameters: parameters.collect() }
    }
}
