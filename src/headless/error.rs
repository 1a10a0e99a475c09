//! Why a headless command failed, and the exit code for it.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::{
    array, compile, device,
    diagnostic::{Diagnostic, Severity},
    file, gl, interop, kernel, record, session,
};

/// `Result` with a headless [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// The exit codes of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitStatus {
    /// All went well.
    Success = 0,
    /// A check failed, or the source does not compile.
    Failed = 1,
    /// Wrong usage, or a file that cannot be read or written.
    Usage = 2,
    /// No such device, or no OpenGL.
    NoDevice = 3,
    /// A kernel faulted or was stopped.
    Fault = 4,
    /// Ctrl-C, by the shells' convention.
    Stopped = 130,
}

/// An error of a headless command.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The command line asks for something that does not exist.
    #[error("{0}")]
    Usage(String),
    /// The source has mistakes; they are all here.
    #[error("{}", lines(.0))]
    Rejected(Vec<Diagnostic>),
    /// The user wants no more of it.
    #[error("stopped before its last step")]
    Stopped,
    /// A kernel was stopped.
    #[error("{0}")]
    Fault(Box<Diagnostic>),
    /// There is nowhere to draw.
    #[error("{0}")]
    NoStage(String),
    /// Pictures could not be recorded.
    #[error(transparent)]
    Record(#[from] record::Error),
    /// A kernel of our own was refused.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// The array library failed.
    #[error(transparent)]
    Array(#[from] array::Error),
    /// Not all checks of the test mode hold.
    #[error("{failed} of {of} checks {}", if *.status == ExitStatus::Failed { "failed" } else { "failed or could not be made" })]
    Tests {
        /// How many.
        failed: usize,
        /// Of how many.
        of: usize,
        /// The worst reason.
        status: ExitStatus,
    },
    /// A file cannot be read or written.
    #[error("cannot {action} {}: {source}", .path.display())]
    File {
        /// `read`, `write`, `make` or `clear`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The session failed.
    #[error(transparent)]
    Session(#[from] session::Error),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] device::Error),
    /// The compiler could not run.
    #[error(transparent)]
    Compile(#[from] compile::Error),
    /// There is no OpenGL.
    #[error(transparent)]
    Gl(#[from] gl::Error),
    /// The device and OpenGL could not be brought together.
    #[error(transparent)]
    Interop(#[from] interop::Error),
}

impl Error {
    /// The exit code that tells of this error.
    pub fn exit_status(&self) -> ExitStatus {
        match self {
            Self::Usage(_)
            | Self::File { .. }
            | Self::Record(_)
            | Self::Device(device::Error::Choice { .. }) => ExitStatus::Usage,
            Self::Rejected(_) => ExitStatus::Failed,
            Self::Stopped => ExitStatus::Stopped,
            Self::Fault(_) => ExitStatus::Fault,
            Self::Tests { status, .. } => *status,
            Self::Session(session::Error::Stuck { .. }) => ExitStatus::Fault,
            Self::Session(session::Error::NoSuchResource { .. }) => ExitStatus::Usage,
            Self::Session(session::Error::Device(device::Error::Call(call)))
            | Self::Device(device::Error::Call(call))
                if call.launch.is_some() =>
            {
                ExitStatus::Fault
            }
            _ => ExitStatus::NoDevice,
        }
    }

    /// A file that cannot be read.
    pub(super) fn reading(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { action: "read", path: path.into(), source }
    }

    /// Writes a file whole or not at all.
    pub(super) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
        let failed = |source| Self::File { action: "write", path: path.to_owned(), source };
        file::replace(path, content).map_err(failed)
    }
}

/// Errors first: they are why nothing runs.
fn lines(diagnostics: &[Diagnostic]) -> String {
    let mut sorted: Vec<_> = diagnostics.iter().collect();
    sorted.sort_by_key(|d| d.severity < Severity::Error);
    sorted.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
