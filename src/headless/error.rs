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

/// Diagnostics that are shown of a source.
const MOST_SHOWN: usize = 100;

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
    /// Wrong usage, a block larger than its kernel allows, or a file that cannot be read or written.
    Usage = 2,
    /// No such device, or no OpenGL.
    NoDevice = 3,
    /// A kernel faulted or was stopped.
    Fault = 4,
    /// Ctrl-C, by the shells' convention.
    Stopped = 130,
    /// SIGTERM, by the same.
    Terminated = 143,
}

/// An error of a headless command.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The command line asks for something that does not exist.
    #[error("{0}")]
    Usage(String),
    /// The source has mistakes, or an option does not fit it; they are all here.
    #[error("{}", lines(.0))]
    Rejected(Vec<Diagnostic>),
    /// The checker found mistakes in the kernels; they are all here.
    #[error("{}", lines(.0))]
    Mistakes(Vec<Diagnostic>),
    /// The user wants no more of it.
    #[error("stopped before its last step")]
    Stopped,
    /// A kernel was stopped.
    #[error("{0}")]
    Fault(Box<Diagnostic>),
    /// Kernels did wrong and went on; one fault at each place.
    #[error("{}", lines(.0))]
    Faults(Vec<Diagnostic>),
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
    /// These resources of two scenes that were compared differ by more than is allowed, or cannot be compared.
    #[error("A and B differ by more than the tolerance: {}", .0.join(", "))]
    Differ(Vec<String>),
    /// More than one scene failed.
    #[error("{}", .0.iter().map(Self::to_string).collect::<Vec<_>>().join("\n"))]
    Several(Vec<Error>),
    /// A run that was repeated went another way.
    #[error("{deviation}; it ran on {device}")]
    Parted {
        /// Where.
        deviation: session::Deviation,
        /// Where it ran before.
        device: String,
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
            Self::Usage(_) | Self::File { .. } => ExitStatus::Usage,
            Self::Rejected(found) if is_usage(found) => ExitStatus::Usage,
            Self::Rejected(_) | Self::Mistakes(_) | Self::Differ(_) | Self::Parted { .. } => {
                ExitStatus::Failed
            }
            Self::Stopped => ExitStatus::Stopped,
            Self::Fault(_) | Self::Faults(_) => ExitStatus::Fault,
            Self::NoStage(_) => ExitStatus::NoDevice,
            Self::Tests { status, .. } => *status,
            Self::Several(errors) => {
                worst(errors.iter().map(Self::exit_status)).unwrap_or(ExitStatus::Failed)
            }
            Self::Record(error) => of_record(error),
            Self::Kernel(error) => of_kernel(error),
            Self::Array(error) => of_array(error),
            Self::Session(error) => of_session(error),
            Self::Device(error) => of_device(error),
            Self::Compile(error) => of_compile(error),
            Self::Gl(error) => of_gl(error),
            Self::Interop(error) => of_interop(error),
        }
    }

    /// Whether the session that this error came from cannot be closed without waiting for what may never end.
    pub(super) fn is_of_stuck_session(&self) -> bool {
        let Self::Session(error) = self else { return false };
        matches!(error, session::Error::Stuck { .. } | session::Error::Interrupted)
    }

    /// Whether nothing is to be done after it: the user stops, or what runs cannot be.
    pub(super) fn ends_the_run(&self) -> bool {
        self.is_of_stuck_session() || self.exit_status() as u8 >= ExitStatus::Stopped as u8
    }

    /// All that went wrong, as one error.
    pub(super) fn all(mut errors: Vec<Self>) -> Result<()> {
        match errors.pop() {
            None => Ok(()),
            Some(error) if errors.is_empty() => Err(error),
            Some(error) => {
                errors.push(error);
                Err(Self::Several(errors))
            }
        }
    }

    /// A file that cannot be read.
    pub(super) fn reading(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { action: "read", path: path.into(), source }
    }

    /// Writes a file whole or not at all.
    pub(super) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
        file::replace(path, content).map_err(Self::writing(path))
    }

    /// A file that cannot be written.
    pub(super) fn writing(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { action: "write", path: path.into(), source }
    }
}

/// The worst of several.
pub(super) fn worst(all: impl Iterator<Item = ExitStatus>) -> Option<ExitStatus> {
    all.max_by_key(|status| *status as u8)
}

// No function below has an arm for "all others": what a new error means is to be decided, not to be forgotten.

fn of_session(error: &session::Error) -> ExitStatus {
    use session::Error;
    match error {
        Error::Compile(error) => of_compile(error),
        Error::Device(error) => of_device(error),
        Error::Statistics(error) => of_summary(error),
        Error::Interop(error) => of_interop(error),
        Error::Gl(error) => of_gl(error),
        Error::Thread(_) | Error::WorkerLost | Error::NoRoom { .. } => ExitStatus::NoDevice,
        Error::NoSuchResource { .. } | Error::File { .. } | Error::NoRun(_) | Error::NoState => {
            ExitStatus::Usage
        }
        Error::NothingRuns => ExitStatus::Failed,
        Error::Stuck { .. } | Error::NoValue { .. } => ExitStatus::Fault,
        Error::Interrupted => ExitStatus::Stopped,
    }
}

fn of_device(error: &device::Error) -> ExitStatus {
    use device::Error;
    match error {
        Error::Fault(_) => ExitStatus::Fault,
        Error::Call(call) if call.is_by_kernel() => ExitStatus::Fault,
        Error::Choice { .. } => ExitStatus::Usage,
        // What the source asks for, and the device does not do.
        Error::Load { .. }
        | Error::UnsupportedPtx { .. }
        | Error::NoSuchFunction { .. }
        | Error::NoSuchGlobal { .. }
        | Error::InvalidLaunch { .. }
        | Error::WrongArguments { .. } => ExitStatus::Failed,
        Error::NoDriver { .. }
        | Error::NoDevice { .. }
        | Error::NoCpuDevice
        | Error::Call(_)
        | Error::OutOfMemory { .. }
        | Error::OutOfRange { .. }
        | Error::InvalidExtent { .. }
        | Error::InvalidTexture { .. }
        | Error::RegionOutOfRange { .. }
        | Error::RegionsDiffer { .. }
        | Error::Misaligned { .. }
        | Error::WrongDevice { .. }
        | Error::NotReached
        | Error::NoTiming
        | Error::Panicked { .. }
        | Error::Unsupported { .. } => ExitStatus::NoDevice,
    }
}

fn of_summary(error: &array::SummaryError) -> ExitStatus {
    use array::SummaryError;
    match error {
        SummaryError::Compile(error) => of_compile(error),
        SummaryError::Device(error) => of_device(error),
        SummaryError::Rejected { .. } | SummaryError::NoKernel { .. } => ExitStatus::NoDevice,
    }
}

fn of_kernel(error: &kernel::Error) -> ExitStatus {
    use kernel::Error;
    match error {
        Error::Compile(error) => of_compile(error),
        Error::Device(error) => of_device(error),
        Error::Keep(_) => ExitStatus::Usage,
        Error::Rejected { .. } | Error::ArgumentCount { .. } | Error::Argument { .. } => {
            ExitStatus::NoDevice
        }
    }
}

fn of_array(error: &array::Error) -> ExitStatus {
    use array::Error;
    match error {
        Error::Kernel(error) => of_kernel(error),
        Error::Device(error) => of_device(error),
        Error::File { .. } | Error::Npy { .. } => ExitStatus::Usage,
        Error::Broadcast { .. }
        | Error::Shape { .. }
        | Error::TooLarge { .. }
        | Error::Reshape { .. }
        | Error::View { .. }
        | Error::Gaps { .. }
        | Error::Interface { .. }
        | Error::Axes { .. }
        | Error::IndexOutOfRange { .. }
        | Error::TooManyIndices { .. }
        | Error::TwoEllipses
        | Error::ZeroStep
        | Error::Range { .. }
        | Error::Bins { .. }
        | Error::WrongDevice { .. }
        | Error::NotWritable { .. }
        | Error::InvalidBits { .. }
        | Error::Parameters { .. }
        | Error::ArgumentCount { .. }
        | Error::Argument { .. }
        | Error::TooLong { .. }
        | Error::Distribution { .. }
        | Error::Dimensions { .. }
        | Error::Exhausted { .. }
        | Error::NoArrays { .. }
        | Error::ReshapeInfer { .. }
        | Error::NewAxis { .. }
        | Error::Unrepresentable { .. }
        | Error::Empty { .. } => ExitStatus::NoDevice,
    }
}

fn of_compile(error: &compile::Error) -> ExitStatus {
    use compile::Error;
    match error {
        Error::Cancelled => ExitStatus::Stopped,
        Error::NvrtcNotFound { .. }
        | Error::NvrtcVariable { .. }
        | Error::Nvrtc { .. }
        | Error::NvrtcLost { .. }
        | Error::Target { .. } => ExitStatus::NoDevice,
    }
}

fn of_interop(error: &interop::Error) -> ExitStatus {
    use interop::Error;
    match error {
        Error::Device(error) => of_device(error),
        Error::Gl(error) => of_gl(error),
        Error::ShortMapping { .. } => ExitStatus::NoDevice,
    }
}

fn of_record(error: &record::Error) -> ExitStatus {
    use record::Error;
    match error {
        Error::Name(_)
        | Error::Rate { .. }
        | Error::Size { .. }
        | Error::File { .. }
        | Error::Encode { .. }
        | Error::NoFfmpeg { .. }
        | Error::Ffmpeg { .. } => ExitStatus::Usage,
    }
}

fn of_gl(error: &gl::Error) -> ExitStatus {
    use gl::Error;
    match error {
        Error::NoDisplay { .. }
        | Error::NoEgl { .. }
        | Error::NoContext { .. }
        | Error::Window { .. }
        | Error::Shader { .. }
        | Error::Call { .. }
        | Error::OutOfRange { .. }
        | Error::Size { .. }
        | Error::WrongContext { .. }
        | Error::WindowLost
        | Error::Surface { .. } => ExitStatus::NoDevice,
    }
}

/// Whether the source is right, and used wrongly.
fn is_usage(found: &[Diagnostic]) -> bool {
    let mut errors = found.iter().filter(|d| d.severity >= Severity::Error).peekable();
    errors.peek().is_some() && errors.all(|error| error.is_usage)
}

/// Diagnostics as lines to print. Errors first: they are why nothing runs. Of very many the first ones say enough.
pub fn lines(diagnostics: &[Diagnostic]) -> String {
    let mut sorted: Vec<_> = diagnostics.iter().collect();
    sorted.sort_by_key(|d| d.severity < Severity::Error);
    let shown = sorted.iter().take(MOST_SHOWN).map(ToString::to_string);
    let more = sorted.len().saturating_sub(MOST_SHOWN);
    let rest = (more > 0).then(|| format!("… and {} more", grouped(more as u64)));
    shown.chain(rest).collect::<Vec<_>>().join("\n")
}

/// `299,900`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let start = digits.len() % 3;
    let (first, rest) = digits.split_at(start);
    let threes = (0..rest.len()).step_by(3).map(|at| &rest[at..at + 3]);
    let groups: Vec<&str> =
        (!first.is_empty()).then_some(first).into_iter().chain(threes).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Call, Dim3, Fault, FaultKind, LaunchConfig};

    fn call(code: u32, launch: Option<(String, LaunchConfig)>) -> device::Error {
        let (name, text, device) = ("CUDA_ERROR".to_owned(), String::new(), "a GPU".to_owned());
        device::Error::from(Box::new(Call { call: "cuCall", code, name, text, device, launch }))
    }

    #[test]
    fn wrong_usage_and_a_missing_device_have_codes_of_their_own() {
        assert_eq!(Error::Usage("no".to_owned()).exit_status(), ExitStatus::Usage);
        let option = Diagnostic::usage("a.cu", "--const q: the scene has no such constant");
        let text = Diagnostic::error("a.cu", "`y` is undefined");
        let note = Diagnostic::error("a.cu", "`x`").with_severity(Severity::Note);
        for (found, status) in [
            (vec![note.clone(), option.clone()], ExitStatus::Usage),
            (vec![option, text.clone()], ExitStatus::Failed),
            (vec![text], ExitStatus::Failed),
            (vec![note], ExitStatus::Failed),
        ] {
            assert_eq!(Error::Rejected(found).exit_status(), status);
        }
        let missing = device::Error::NoDriver { reason: "no libcuda.so".to_owned() };
        assert_eq!(Error::from(missing).exit_status(), ExitStatus::NoDevice);
    }

    fn fault() -> device::Error {
        device::Error::from(Box::new(Fault {
            kind: FaultKind::InvalidRead,
            kernel: "k".to_owned(),
            location: None,
            ptx_line: None,
            inlined: Vec::new(),
            block: Dim3::from(1),
            thread: Dim3::from(1),
            access: None,
            space: None,
            base: None,
            nearest: None,
            waiting: Vec::new(),
        }))
    }

    /// Every way on which a device's error comes to the command line.
    fn ways(error: impl Fn() -> device::Error) -> [Error; 7] {
        [
            Error::Device(error()),
            Error::Session(error().into()),
            Error::Session(session::Error::Statistics(error().into())),
            Error::Session(session::Error::Interop(error().into())),
            Error::Interop(error().into()),
            Error::Kernel(error().into()),
            Error::Array(error().into()),
        ]
    }

    #[test]
    fn a_kernels_fault_is_told_by_its_exit_code_wherever_it_comes_from() {
        // Those of which the driver's documentation says that a kernel failed.
        for code in [700, 702, 710, 714, 715, 716, 717, 718, 719] {
            for error in ways(|| call(code, None)) {
                assert_eq!(error.exit_status(), ExitStatus::Fault, "{code}: {error:?}");
            }
        }
        let launch = || Some(("k".to_owned(), LaunchConfig::new(1, 1)));
        for error in ways(|| call(1, launch())).into_iter().chain(ways(fault)) {
            assert_eq!(error.exit_status(), ExitStatus::Fault, "{error:?}");
        }
        let (work, device) = ("a step", "a GPU".to_owned());
        let stuck = session::Error::Stuck { work, seconds: 1.0, device };
        assert_eq!(Error::from(stuck).exit_status(), ExitStatus::Fault);
    }

    #[test]
    fn what_is_no_kernels_fault_has_another_exit_code() {
        // Invalid value, out of memory, no device, no context, not ready.
        for code in [1, 2, 100, 201, 600] {
            for error in ways(|| call(code, None)) {
                assert_eq!(error.exit_status(), ExitStatus::NoDevice, "{code}: {error:?}");
            }
        }
        let interrupted = Error::from(session::Error::Interrupted);
        assert_eq!(interrupted.exit_status(), ExitStatus::Stopped);
        let shape = || device::Error::InvalidLaunch {
            kernel: "k".to_owned(),
            limit: "threads in a block",
            requested: 256,
            allowed: 128,
        };
        for error in ways(shape) {
            assert_eq!(error.exit_status(), ExitStatus::Failed, "{error:?}");
        }
    }

    #[test]
    fn very_many_diagnostics_are_counted() {
        let many = vec![Diagnostic::error("a.cu", "no"); 300_000];
        let told = Error::Rejected(many).to_string();
        assert_eq!(told.lines().count(), MOST_SHOWN + 1);
        assert_eq!(told.lines().last(), Some("… and 299,900 more"));
        assert_eq!([1, 999, 1000, 1_234_567].map(grouped), ["1", "999", "1,000", "1,234,567"]);
    }
}
