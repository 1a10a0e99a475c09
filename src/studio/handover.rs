//! What a studio that starts anew gets from the process before: it lies in a folder, beside a state's file.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::{
    origin::Origin,
    text::{History, Selections},
};
use crate::{
    file,
    scene::{Overrides, Value},
    session::Engine,
};

/// The name of its file in the folder.
const FILE: &str = "studio.json";
/// The largest that is read, in bytes: most of it is what can be undone.
const LARGEST: u64 = 1 << 30;

/// What another process needs, to be where this one is.
#[derive(Serialize, Deserialize)]
pub struct Handover {
    /// Why the studio starts anew, as a sentence.
    pub why: String,
    /// The device, as `--device` names it, and what of it runs the kernels.
    pub device: String,
    pub engine: Engine,
    /// Whether any scene may include files from anywhere, and which may.
    pub trusts_all: bool,
    pub trusted: Vec<Origin>,
    /// The limit of a step, and the seed that was asked for.
    pub step_timeout: Duration,
    pub seed: Option<u64>,
    /// What the command line replaces, and in which scene.
    pub overrides: Overrides,
    pub meant_for: Option<Origin>,
    /// The file of the run that the document comes from.
    #[serde(with = "file::any_path")]
    pub run: Option<PathBuf>,
    /// The open document, its text, and the file that keeps that where it is unsaved.
    pub document: Origin,
    pub text: String,
    #[serde(with = "file::any_path")]
    pub unsaved: Option<PathBuf>,
    /// What can be undone in it, and its carets.
    pub history: History,
    pub selections: Selections,
    /// The values of the scene's parameters.
    pub parameters: Vec<(String, Value)>,
    /// Whether the scene is compiled and loaded. One that ends the process by that alone is not.
    pub runs: bool,
    /// How often the GPU was reset while it was drawn with.
    pub resets: u32,
}

impl Handover {
    /// Writes it into `folder`.
    ///
    /// # Errors
    /// Whatever the system says about writing.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        fs::write(folder.join(FILE), serde_json::to_vec(self)?)
    }

    /// Reads what [`Handover::write`] has written into `folder`.
    ///
    /// # Errors
    /// Whatever the system says about reading, and `InvalidData` for what is none.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let text = file::read_regular_text(&folder.join(FILE), LARGEST)?;
        Ok(serde_json::from_str(&text)?)
    }
}

/// Where the state lies in a folder that a process leaves, or another device gets.
pub fn state_in(folder: &Path) -> PathBuf {
    folder.join("state.npz")
}
