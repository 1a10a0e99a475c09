//! What a session shows of itself: plain values, no device, no GL. Panels and `--json` read it.

use std::{sync::Arc, time::Duration};

use serde::Serialize;

use super::{
    comparison::Comparison,
    compile_state::CompileState,
    compile_state::as_milliseconds,
    guarding::{Guarding, KernelGuarding},
    history::Keeping,
    moment::Moment,
    nan_watch::FirstNan,
    past_gap::PastGap,
    timing::PassTiming,
};
use crate::diagnostic::Diagnostic;
pub use crate::{
    array::Statistics,
    draw::{Chart, Colormap, Legend, Look, Recoloring},
    scene::{Control, Preset, Value},
};

/// The state of a session at one moment.
#[derive(Clone, Debug, Serialize)]
pub struct Snapshot {
    /// The scene's title.
    pub title: String,
    /// One sentence about it.
    pub summary: String,
    /// The device in use, such as `NVIDIA H200 (cuda:0)`.
    #[serde(rename = "device_name")]
    pub device: String,
    /// The OpenGL renderer in use, where there is one.
    pub renderer: Option<String>,
    /// How results reach OpenGL.
    pub sharing: Sharing,
    /// Where the scene stands.
    pub clock: Clock,
    /// The run's seed.
    pub seed: u64,
    /// How fast it plays in real time, as a part of the usual speed.
    pub speed: f64,
    /// Steps that were asked for and are not begun.
    pub steps_left: u32,
    /// The past, where it is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
    /// How a variant does beside it, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// What can be drawn, in the manifest's order.
    pub views: Vec<ViewState>,
    /// The parameters with their present values, in the manifest's order.
    pub parameters: Vec<Parameter>,
    /// Values of them that are set together, in the manifest's order.
    pub presets: Vec<Preset>,
    /// Statistics of each resource, in the manifest's order.
    pub resources: Vec<Resource>,
    /// The manifest's own statistics, in its order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stats: Vec<Stat>,
    /// What the manifest's plots show, in its order.
    #[serde(serialize_with = "shared")]
    pub plots: Vec<Arc<Chart>>,
    /// Device time of each step pass of the last finished step, in order.
    pub passes: Vec<PassTiming>,
    /// What guards the kernels on a GPU, where something does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<Guarding>,
    /// The same of each kernel that passes launch; none where nothing is guarded.
    pub guards: Vec<KernelGuarding>,
    /// What became of the latest source.
    pub compile: CompileState,
    /// The last fault, until the next good module or a reset.
    pub fault: Option<Diagnostic>,
    /// What has been under way for a while, where something has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running: Option<Running>,
    /// Whether the scene stops behind the first step that makes a NaN.
    pub pauses_at_nan: bool,
    /// Where it has stopped for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_nan: Option<FirstNan>,
    /// Whether the kernels of the reset passes are other ones than those that the scene began with.
    pub reset_is_edited: bool,
    /// What the checker found since the session was opened, where its launches are watched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Diagnostic>,
    /// What the last edit may have given another name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed: Option<Renamed>,
}

/// A resource that an edit took away, and one of the same type that it brought.
///
/// That it is the same says `was` in the manifest (see `docs/scenes.md`): what the old one held goes on then, as it was
/// at the moment of the edit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Renamed {
    /// The name of the one that is gone.
    pub from: String,
    /// The name of the one that came.
    pub to: String,
    /// The line on which that is declared.
    pub line: u32,
    /// The last moment at which there was the old one.
    pub at: Moment,
}

/// Work on the device that takes long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Running {
    /// For so long.
    #[serde(serialize_with = "as_milliseconds", rename = "elapsed_ms")]
    pub elapsed: Duration,
    /// After so long it is stopped.
    #[serde(serialize_with = "as_milliseconds", rename = "limit_ms")]
    pub limit: Duration,
    /// Whether it has been told to end.
    pub is_ending: bool,
}

/// How results get from the device to OpenGL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "path", content = "reason")]
pub enum Sharing {
    /// Nothing is drawn.
    None,
    /// Kernels write into OpenGL's own buffers.
    Registered,
    /// Results are copied through the host, and why.
    Copied(String),
}

/// Where a scene stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Clock {
    /// Finished steps since the last reset.
    pub step: u64,
    /// `step * dt` in seconds.
    pub time: f64,
    /// Seconds that one step advances.
    pub dt: f64,
    /// Whether steps are started by themselves.
    pub playing: bool,
    /// Finished steps a second, averaged over the last second; 0 when paused.
    pub steps_per_second: f32,
}

/// What is known of the past.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Timeline {
    /// Steps that follow one another, oldest first; the last line is the one that goes on.
    pub lines: Vec<Line>,
    /// The moment that is shown.
    pub shown: Moment,
    /// Whether it is a past one: to play on from there begins a line of its own.
    pub is_past: bool,
    /// The moment that is on its way.
    pub sought: Option<Moment>,
    /// Bytes of copies on the device, and with the host.
    pub bytes: [u64; 2],
    /// How it is kept.
    pub keeping: Keeping,
    /// How it is kept where nobody says.
    pub usual: Keeping,
    /// Steps from one copy to the next.
    pub spacing: u64,
    /// What copies add to the time of a step, as a part of it.
    pub share: f64,
    /// Why the past is not whole, where it is not.
    pub gap: Option<PastGap>,
}

/// Steps that follow one another.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Line {
    /// What moments call it.
    pub id: u64,
    /// Where it leaves another line; `None` for one that begins with a reset.
    pub parent: Option<Moment>,
    /// Steps finished at the first moment that can be shown.
    pub first: u64,
    /// Steps finished at its end.
    pub last: u64,
    /// Where copies are, by steps finished.
    pub copies: Vec<u64>,
    /// Where another text took over, and its generation.
    pub edits: Vec<(u64, u64)>,
    /// Steps that do not have the same bits again, as those of kernels that add floats atomically: where they begin and
    /// end, by steps finished. Both ends are known as they were, what lies between is shown about as it was.
    pub others: Vec<[u64; 2]>,
}

/// What is drawn, and what its colours stand for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ViewState {
    /// What commands call it.
    pub name: String,
    /// `points`, `image`, `surface` or `volume`.
    pub kind: &'static str,
    /// Whether kernels take `mouse`.
    #[serde(skip)]
    pub takes_mouse: bool,
    /// `None` where colours stand for themselves.
    pub legend: Option<Legend>,
}

impl ViewState {
    /// Whether it lies flat on the picture and has no depth.
    pub fn is_flat(&self) -> bool {
        self.kind == "image"
    }
}

/// A parameter of the scene.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// The name that kernels use.
    pub name: String,
    /// The name to show.
    pub label: String,
    /// Unit to show behind the value; may be empty.
    pub unit: String,
    /// Present value.
    pub value: Value,
    /// Value in the manifest.
    pub default: Value,
    /// How it is shown.
    pub control: Control,
}

/// A resource and what is in it.
#[derive(Clone, Debug, Serialize)]
pub struct Resource {
    /// The name that kernels use.
    pub name: String,
    /// Its element type, such as `float4`.
    pub element: String,
    /// Elements.
    pub count: u64,
    /// Bytes.
    pub bytes: u64,
    /// Whether OpenGL draws it.
    pub shared: bool,
    /// The step after which [`Resource::components`] was taken.
    pub step: u64,
    /// The names of its components: `x`, `y`, `z`, `w`, those of a structure's fields, or an empty one of a scalar.
    pub names: Vec<String>,
    /// Statistics of each component; empty until taken.
    pub components: Vec<Statistics>,
}

/// A statistic that the manifest asks for.
#[derive(Clone, Debug, Serialize)]
pub struct Stat {
    /// The name to show.
    pub name: String,
    /// The resource reduced.
    pub of: String,
    /// The expression of each element.
    pub map: String,
    /// How the mapped values are brought together: `sum`, `min`, `max` or `mean`.
    pub reduce: &'static str,
    /// The step after which it was taken.
    pub step: u64,
    /// The number; `None` until taken, NaN where a mapped value is NaN or infinite.
    pub value: Option<f64>,
    /// Statistics of the mapped values.
    pub values: Option<Statistics>,
}

fn shared<S: serde::Serializer>(charts: &[Arc<Chart>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(charts.iter().map(Arc::as_ref))
}
