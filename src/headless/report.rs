//! What `render --json` writes, and how.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Serialize;

use super::{Error, Result, render_request::Render, run::measure};
use crate::{
    array::Statistics,
    compile::Compiler,
    device::DeviceInfo,
    diagnostic::escaped_json,
    session::{Session, Snapshot},
};

/// The whole file.
#[derive(Debug, Serialize)]
struct Report<'a> {
    version: &'static str,
    /// The compiler's, where it is there.
    nvrtc: Option<String>,
    scene: &'a str,
    steps: u64,
    constants: &'a BTreeMap<String, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    defines: &'a BTreeMap<String, String>,
    /// Files that the command line gives resources and variables.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    loads: &'a BTreeMap<String, PathBuf>,
    device: &'a DeviceInfo,
    #[serde(skip_serializing_if = "<[Sample]>::is_empty")]
    samples: &'a [Sample],
    #[serde(flatten)]
    snapshot: Snapshot,
}

/// A scene after one of its steps.
#[derive(Debug, Serialize)]
pub(super) struct Sample {
    step: u64,
    time: f64,
    resources: Vec<Components>,
    stats: Vec<Value>,
    passes: Vec<Time>,
}

#[derive(Debug, Serialize)]
struct Components {
    name: String,
    components: Vec<Statistics>,
}

#[derive(Debug, Serialize)]
struct Value {
    name: String,
    value: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Time {
    name: String,
    last_ms: f32,
}

impl Sample {
    /// The present state.
    ///
    /// # Errors
    /// The session's.
    pub(super) fn take(session: &mut Session) -> Result<Self> {
        measure(session)?;
        let Snapshot { clock, resources, stats, passes, .. } = session.snapshot();
        let resources = resources.into_iter();
        let stats = stats.into_iter();
        let passes = passes.into_iter();
        Ok(Self {
            step: clock.step,
            time: clock.time,
            resources: resources
                .map(|r| Components { name: r.name, components: r.components })
                .collect(),
            stats: stats.map(|stat| Value { name: stat.name, value: stat.value }).collect(),
            passes: passes.map(|p| Time { name: p.name, last_ms: p.last_ms }).collect(),
        })
    }
}

/// Writes the state after the last step, and the samples on the way.
///
/// # Errors
/// The session's; [`Error::File`].
pub(super) fn write(
    path: &Path,
    request: &Render,
    compiler: &Compiler,
    samples: &[Sample],
    session: &mut Session,
) -> Result<()> {
    measure(session)?;
    let nvrtc = compiler.nvrtc().ok().map(|nvrtc| nvrtc.version);
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        nvrtc: nvrtc.map(|(major, minor)| format!("{major}.{minor}")),
        scene: &request.scene.name,
        steps: request.steps,
        constants: &request.run.overrides.constants,
        defines: &request.run.overrides.defines,
        loads: &request.run.overrides.loads,
        device: session.device().info(),
        samples,
        snapshot: session.snapshot(),
    };
    write_json(path, &report)
}

/// Writes `report` to a file, to be read by people, too.
///
/// # Errors
/// [`Error::File`].
pub(super) fn write_json(path: &Path, report: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(report)
        .map_err(|error| Error::Usage(format!("the report cannot be written as JSON: {error}")))?;
    Error::write(path, format!("{}\n", escaped_json(&text)))
}
