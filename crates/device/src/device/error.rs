//! What can go wrong on a device, each with the call, the kernel and the place.

use super::{Call, Fault, Location, Parameter, location::place, spelling::spelled};

/// `Result` with a device's [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// An error of a device.
///
/// ```
/// use warpaint::device::{Device, Error};
///
/// let memory = Device::cpu()?.alloc(16)?;
/// let error = memory.slice(8..32).unwrap_err();
/// assert!(matches!(error, Error::OutOfRange { end: 32, bytes: 16, .. }));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// No CUDA driver on this machine.
    #[error("no CUDA driver: {reason}")]
    NoDriver {
        /// What was looked for, or what the driver said.
        reason: String,
    },
    /// There is a driver, but not this device.
    #[error("no CUDA device {ordinal}: this machine has {found}")]
    NoDevice {
        /// The ordinal asked for.
        ordinal: u32,
        /// How many there are.
        found: u32,
    },
    /// The CPU device was asked for, and this program has none.
    #[error("no CPU device: warpaint was compiled without its feature `cpu`")]
    NoCpuDevice,
    /// What the user set to choose a device names none.
    #[error("{place} names no device: {problem}")]
    Choice {
        /// The variable or the file.
        place: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// A call of the CUDA driver failed.
    #[error(transparent)]
    Call(#[from] Box<Call>),
    /// An allocation failed.
    #[error("out of memory on {device}: {requested} bytes were asked for, {free} are free")]
    OutOfMemory {
        /// The device, or "the host".
        device: String,
        /// Bytes asked for.
        requested: u64,
        /// Bytes free.
        free: u64,
    },
    /// A byte range does not fit.
    #[error("bytes {start}..{end} do not fit a range of {bytes} bytes")]
    OutOfRange {
        /// First byte.
        start: usize,
        /// Byte after the last.
        end: usize,
        /// Length of the range that they should fit.
        bytes: usize,
    },
    /// Something is empty that may not be, or there is more of it than is allowed.
    #[error("the {object} has {requested} {limit}, where {} are allowed", bounds(*.requested, *.allowed))]
    InvalidExtent {
        /// What has it: `array`, `texture`, `block`, …
        object: &'static str,
        /// The limit's name.
        limit: &'static str,
        /// What was asked for.
        requested: u64,
        /// What is allowed.
        allowed: u64,
    },
    /// A texture, surface, array or format that cannot be.
    #[error("no such {object}: {reason}")]
    InvalidTexture {
        /// What it would have been.
        object: &'static str,
        /// Why not.
        reason: String,
    },
    /// A part does not fit its region.
    #[error("{size:?} from {origin:?} on do not fit a region of {within:?}")]
    RegionOutOfRange {
        /// Where it starts: x (a byte of memory, a texel of an array), y and z.
        origin: [usize; 3],
        /// Its sizes.
        size: [usize; 3],
        /// Sizes of the region that it should fit.
        within: [usize; 3],
    },
    /// Two regions of different sizes or formats.
    #[error("a region of {to} cannot be copied from one of {from}")]
    RegionsDiffer {
        /// Size and contents of the region to be written.
        to: String,
        /// Size and contents of the other.
        from: String,
    },
    /// A fill's range is no multiple of its value's width.
    #[error("{bytes} bytes at address {address:#x} cannot be filled with values of {width} bytes")]
    Misaligned {
        /// Start of the range.
        address: u64,
        /// Length of the range.
        bytes: usize,
        /// Width of the value.
        width: usize,
    },
    /// Two handles belong to different devices.
    #[error("{operation}: the handles belong to different devices")]
    WrongDevice {
        /// What was tried.
        operation: &'static str,
    },
    /// A module does not load.
    #[error("the module does not load on {device}: {log}")]
    Load {
        /// The device.
        device: String,
        /// What the loader said.
        log: String,
        /// The place of the source that it is about, where it is known.
        location: Option<Location>,
    },
    /// PTX that this device cannot run.
    #[error("{location}the CPU device does not support `{instruction}`", location = place(.location))]
    UnsupportedPtx {
        /// The instruction or directive.
        instruction: String,
        /// The source line it came from.
        location: Option<Location>,
    },
    /// The module has no such kernel.
    #[error("the module has no kernel `{name}`{}", listed(.available))]
    NoSuchFunction {
        /// The name asked for.
        name: String,
        /// The names that there are, where known.
        available: Vec<String>,
    },
    /// The module has no such variable.
    #[error("the module has no global variable `{name}`")]
    NoSuchGlobal {
        /// The name asked for.
        name: String,
    },
    /// A launch shape breaks a limit.
    #[error(
        "kernel `{}`: {requested} {limit}, where {} are allowed",
        spelled(.kernel),
        bounds(*.requested, *.allowed)
    )]
    InvalidLaunch {
        /// The kernel.
        kernel: String,
        /// The limit's name.
        limit: &'static str,
        /// What was asked for.
        requested: u64,
        /// What is allowed.
        allowed: u64,
    },
    /// The packed arguments do not fit the kernel's parameters.
    #[error(
        "kernel `{}` takes {}{}",
        spelled(.kernel),
        argument_counts(*.expected, *.found),
        mismatched(.mismatch)
    )]
    WrongArguments {
        /// The kernel.
        kernel: String,
        /// How many parameters it has.
        expected: usize,
        /// How many arguments were given.
        found: usize,
        /// The first that differs: its index, the parameter, the argument.
        mismatch: Option<(usize, Parameter, Parameter)>,
    },
    /// An event that was not recorded, or not reached yet, has no time.
    #[error("the event was not reached yet")]
    NotReached,
    /// A kernel was stopped while it ran. The device goes on working.
    #[error(transparent)]
    Fault(#[from] Box<Fault>),
    /// An event that was made without timing.
    #[error("the event keeps no time")]
    NoTiming,
    /// A function of the host panicked.
    #[error("a host function panicked: {message}")]
    Panicked {
        /// What it said.
        message: String,
    },
    /// This device cannot do that.
    #[error("{device} does not support {operation}")]
    Unsupported {
        /// What was tried.
        operation: &'static str,
        /// The device.
        device: String,
    },
}

/// How the names of CUDA's functions begin that a kernel calls to launch another one. They are in a library for GPUs
/// (`cudadevrt`), which modules would have to be linked with.
const DEVICE_RUNTIME: [&str; 3] = ["__cudaCDP", "cudaGetParameterBuffer", "cudaLaunchDevice"];

impl Error {
    /// A module that does not load, with what the loader said and what that means where it does not say so itself.
    pub(super) fn load(device: impl Into<String>, said: &str, location: Option<Location>) -> Self {
        let mut log = said.to_owned();
        if DEVICE_RUNTIME.iter().any(|name| said.contains(name)) {
            let cause = "kernels that launch kernels (dynamic parallelism) are not supported";
            log = format!("{cause}: {said}");
        }
        Self::Load { device: device.into(), log, location }
    }
}

impl Error {
    /// A host function's panic. What it panicked with is not dropped: that could panic, too, where nobody catches it.
    pub(super) fn panicked(payload: Box<dyn std::any::Any + Send>) -> Self {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        std::mem::forget(payload);
        Self::Panicked { message: text.unwrap_or_default() }
    }
}

/// How many arguments there should be and how many there are, in words.
#[doc(hidden)]
pub fn argument_counts(expected: usize, found: usize) -> String {
    let arguments = if expected == 1 { "argument" } else { "arguments" };
    let were = if found == 1 { "was" } else { "were" };
    format!("{expected} {arguments}, {found} {were} given")
}

/// What would be allowed. Whether nothing would be matters only to who asked for nothing.
fn bounds(requested: u64, allowed: u64) -> String {
    if requested == 0 { format!("1 to {allowed}") } else { format!("at most {allowed}") }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("; it has {}", names.join(", ")) }
}

fn mismatched(mismatch: &Option<(usize, Parameter, Parameter)>) -> String {
    mismatch.as_ref().map_or_else(String::new, |(index, parameter, argument)| {
        format!(
            "; parameter {index} has {} bytes at offset {}, its argument {} bytes at offset {}",
            parameter.bytes, parameter.offset, argument.bytes, argument.offset
        )
    })
}
