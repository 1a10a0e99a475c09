//! What a run is to give.

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
};

use super::{Run, SceneSource, plots::PlotFile};
#[cfg(doc)]
use crate::record::Target;

/// What to render, and where to.
#[derive(Clone, Debug)]
pub struct Render {
    /// The scene.
    pub scene: SceneSource,
    /// Steps to run after the reset.
    pub steps: u64,
    /// Width and height of the picture in pixels.
    pub size_px: [u32; 2],
    /// Whether pictures have the legend of their colours, where these stand for numbers.
    pub legend: bool,
    /// The pictures; where there are none, nothing is drawn and no OpenGL is needed.
    pub outs: Vec<Out>,
    /// A picture, and a sample of the statistics, every so many steps.
    pub every: Option<u64>,
    /// Pictures of a clip that are shown in a second.
    pub per_second: Option<f64>,
    /// Resources to dump.
    pub dumps: Vec<Dump>,
    /// Plots to write.
    pub plots: Vec<PlotFile>,
    /// Statistics, timings and device, as JSON.
    pub json: Option<PathBuf>,
    /// A file with the state to begin with.
    pub from: Option<PathBuf>,
    /// Where the state goes after the last step.
    pub save: Option<Save>,
    /// Where what determines the run goes.
    pub record: Option<PathBuf>,
    /// How it runs.
    pub run: Run,
}

/// A file for the state.
#[derive(Clone, Debug)]
pub struct Save {
    /// The file: `.npz`.
    pub path: PathBuf,
    /// Raised when it is to be written before the last step, too.
    pub now: Arc<AtomicBool>,
}

/// Pictures of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Out {
    /// The view; `None`: the first one.
    pub view: Option<String>,
    /// The files: see [`Target`].
    pub path: PathBuf,
}

impl Out {
    /// The same, of `view` where it names none.
    pub fn or(self, view: Option<&String>) -> Self {
        Self { view: self.view.or_else(|| view.cloned()), ..self }
    }
}

/// A resource to write as `.npy`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    /// The resource.
    pub resource: String,
    /// The file.
    pub path: PathBuf,
}
