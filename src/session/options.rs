//! What a session is opened with.

use std::{path::PathBuf, time::Duration};

use super::Budget;
use crate::{
    device::{Device, DeviceKind},
    interrupt::Interrupt,
    scene::Overrides,
};

/// What a session is opened with.
pub struct Options {
    /// The scene's name, as the user gave it: diagnostics use it.
    pub name: String,
    /// The file it comes from: its folder is on the include path.
    pub path: Option<PathBuf>,
    /// Whether it may include files that lie elsewhere than below that folder. Without a path there is no such folder.
    pub trust: bool,
    /// The source.
    pub source: String,
    /// Constants that the command line replaces.
    pub overrides: Overrides,
    /// Parameters that the command line replaces, as text.
    pub parameters: Vec<(String, String)>,
    /// The run's seed.
    pub seed: u64,
    /// Whether it was asked for: then it comes before that of a state that is gone on from.
    pub seed_is_asked_for: bool,
    /// A step that takes longer is stopped, and so are statistics that are waited for.
    pub step_timeout: Duration,
    /// Once this is raised, what the session waits for is stopped, and every call that waits ends with
    /// [`Error::Interrupted`](super::Error::Interrupted).
    pub interrupt: Interrupt,
    /// While the scene plays, a step is begun every `dt` seconds at most, so that a second of the scene lasts a
    /// second; otherwise each begins when the one before has ended.
    pub real_time: bool,
    /// What runs the passes.
    pub engine: Engine,
    /// Whether the kernels are guarded on an NVIDIA GPU, but for those of passes with `guard = "off"`: what they do
    /// wrong is a fault as on the CPU device, and does not end CUDA for the process.
    pub guarded: bool,
    /// Whether [`Session::reported`](super::Session::reported) is asked for: where kernels go on after a fault
    /// (`WARPAINT_GUARD=report`), so does the session.
    pub reports: bool,
    /// How often statistics are taken while the scene plays; `None`: only when asked for.
    pub statistics_every: Option<Duration>,
    /// Whether the past is kept, and how much memory it may take: see [`Session::seek`](super::Session::seek).
    pub history: Past,
    /// Whether a copy of the state that is at most about a second old is kept with the host, for when the device is
    /// lost: see [`Session::take_rescued`](super::Session::take_rescued).
    pub rescue: bool,
}

/// Whether the past of a scene is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Past {
    /// It is not.
    #[default]
    Forgotten,
    /// An eighth of the device's free memory, and one of the host's, may be taken for it.
    Kept,
    /// As much may be taken.
    Within(Budget),
}

impl Options {
    /// What scenes are read with on this device.
    pub(super) fn overrides_on(&self, device: &Device) -> Overrides {
        let is_cpu = device.info().kind == DeviceKind::Cpu;
        Overrides { cpu: self.overrides.cpu.or(Some(is_cpu)), ..self.overrides.clone() }
    }

    /// Those of a scene without a file, as the command line has them where nothing else is said: nothing is replaced,
    /// the seed is 1, a step may take a minute, kernels are not guarded, no copy is kept for when the device is lost,
    /// and statistics are taken only when asked for.
    pub fn new(name: impl Into<String>, source: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            path: None,
            trust: false,
            source: source.into(),
            overrides: Overrides::default(),
            parameters: Vec::new(),
            seed: 1,
            seed_is_asked_for: false,
            step_timeout: Duration::from_secs(60),
            interrupt: Interrupt::default(),
            real_time: false,
            engine: Engine::Device,
            guarded: false,
            reports: false,
            statistics_every: None,
            history: Past::Forgotten,
            rescue: false,
        }
    }
}

/// What runs the passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// The device, at its speed.
    Device,
    /// The CPU device's interpreter.
    Interpreter,
    /// The same, which watches every launch for mistakes: see [`Snapshot::findings`](super::Snapshot::findings).
    Checker,
}
