//! What became of the latest source.

use std::{path::PathBuf, sync::Arc, time::Duration};

use serde::Serialize;

use crate::diagnostic::Diagnostic;

/// What became of the latest source.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CompileState {
    /// Counts the sources given to the session, from 1.
    pub generation: u64,
    /// The generation that is running; 0 before the first.
    pub running: u64,
    /// Where the latest one stands.
    pub phase: Phase,
    /// Everything the manifest parser, the compiler and the binder had to say about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
    /// How long it took from text to running module.
    #[serde(serialize_with = "as_milliseconds", rename = "elapsed_ms")]
    pub elapsed: Duration,
    /// Whether the compiler's cache had it.
    pub cached: bool,
    /// Whether the floating-point arithmetic of the one that runs is fast rather than exact.
    pub fast_math: bool,
    /// The files beside the scene that it includes, directly or by way of one another, or begins with; or would if they
    /// were there.
    #[serde(skip)]
    pub included: Vec<PathBuf>,
    /// Files that it wants to include or to read and may not, since they lie elsewhere than below its own folder;
    /// `trust` in [`Options`](super::Options) allows them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub untrusted: Vec<String>,
    /// It has no manifest, so that nothing can run; [`draft`](crate::scene::draft) writes one.
    pub lacks_manifest: bool,
    /// The compiler's log, also on success.
    #[serde(skip)]
    pub log: Arc<str>,
    /// The text of the one that runs; empty before the first.
    #[serde(skip)]
    pub text: Arc<str>,
    /// The last one of which a step came to its end without a fault.
    #[serde(skip)]
    pub worked: Option<Arc<str>>,
    /// The PTX of the running module.
    #[serde(skip)]
    pub ptx: Arc<str>,
}

/// Where a source stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// On the worker.
    #[default]
    Compiling,
    /// Running.
    Running,
    /// It has errors; the one before runs on.
    Rejected,
}

pub(super) fn as_milliseconds<S: serde::Serializer>(
    value: &Duration,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(value.as_secs_f64() * 1e3)
}
