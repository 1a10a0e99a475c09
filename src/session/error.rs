//! Why a session cannot go on: never because of what a kernel's author wrote.

use std::path::{Path, PathBuf};

use crate::{array, compile, device, gl, interop, state::archive};

/// An error of a session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The compiler could not run.
    #[error(transparent)]
    Compile(#[from] compile::Error),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] device::Error),
    /// Statistics could not be taken.
    #[error(transparent)]
    Statistics(#[from] array::SummaryError),
    /// A resource could not be shared.
    #[error(transparent)]
    Interop(#[from] interop::Error),
    /// OpenGL failed.
    #[error(transparent)]
    Gl(#[from] gl::Error),
    /// The compile thread could not be started.
    #[error("the compile thread cannot be started: {0}")]
    Thread(#[source] std::io::Error),
    /// The compile thread is gone.
    #[error("the compile thread has ended unexpectedly")]
    WorkerLost,
    /// There is no such resource.
    #[error("the scene has no resource `{name}`; it has {}", .available.join(", "))]
    NoSuchResource {
        /// The name asked for.
        name: String,
        /// The names that there are.
        available: Vec<String>,
    },
    /// A state's file could not be written or read.
    #[error("cannot {action} {}: {problem}", path.display())]
    File {
        /// What was to be done with it.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What is in the way.
        problem: String,
    },
    /// There is no program that runs.
    #[error("nothing runs yet")]
    NothingRuns,
    /// The state is more than what can be copied of it.
    #[error(
        "the scene's state cannot be copied: its kernels take memory by themselves (`malloc`, `new`), of which there is no copy"
    )]
    NoState,
    /// There is nothing from which the run could be repeated.
    #[error("the run cannot be recorded: {0}")]
    NoRun(String),
    /// There is no room any more for the resources of a past moment.
    #[error("that moment cannot be shown again: {reason}")]
    NoRoom {
        /// Why not.
        reason: String,
    },
    /// A step, or taking statistics, took longer than allowed, on a device that cannot be stopped.
    #[error(
        "{work} takes longer than {seconds} s (the limit; `--step-timeout` raises it), and {device} cannot stop it"
    )]
    Stuck {
        /// What was being done.
        work: &'static str,
        /// The limit.
        seconds: f64,
        /// The device.
        device: String,
    },
    /// An argument of a statistic has no value.
    #[error("a statistic cannot be taken: {problem}")]
    NoValue {
        /// Which, and why.
        problem: String,
    },
    /// The end was asked for, by [`Options::interrupt`](super::Options::interrupt).
    #[error("stopped before its last step")]
    Interrupted,
}

impl Error {
    pub(super) fn of_file(action: &'static str, path: &Path, error: archive::Error) -> Self {
        Self::File { action, path: path.to_owned(), problem: error.to_string() }
    }

    /// Whether the device has no more memory.
    pub(super) fn is_for_want_of_memory(&self) -> bool {
        match self {
            Self::Device(error) | Self::Interop(interop::Error::Device(error)) => {
                matches!(error, device::Error::OutOfMemory { .. })
            }
            Self::Compile(_)
            | Self::Statistics(_)
            | Self::Interop(_)
            | Self::Gl(_)
            | Self::Thread(_)
            | Self::WorkerLost
            | Self::NoSuchResource { .. }
            | Self::Stuck { .. }
            | Self::NoValue { .. }
            | Self::NoRoom { .. }
            | Self::NoRun(_)
            | Self::NothingRuns
            | Self::NoState
            | Self::File { .. }
            | Self::Interrupted => false,
        }
    }
}
