//! What can go wrong on a device, each with the call, the kernel and the place.

use std::fmt;

use super::{Dim3, LaunchConfig, Parameter, spelling::spelled};
use crate::diagnostic::one_line;

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

fn place(location: &Option<Location>) -> String {
    location.as_ref().map_or_else(String::new, |l| format!("{l}: "))
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

/// A failed call of the CUDA driver.
///
/// ```
/// use warpaint::device::{Call, Error, LaunchConfig};
///
/// let call = Call {
///     call: "cuLaunchKernel",
///     code: 1,
///     name: "CUDA_ERROR_INVALID_VALUE".to_owned(),
///     text: "invalid argument".to_owned(),
///     device: "NVIDIA H200 (cuda:0)".to_owned(),
///     launch: Some(("_ZN5field7advanceEPf".to_owned(), LaunchConfig::new(8, 256))),
/// };
/// assert!(matches!(Error::from(Box::new(call)), Error::Call(call) if call.code == 1));
/// ```
#[derive(Clone, Debug)]
pub struct Call {
    /// The function, such as `cuMemAlloc_v2`.
    pub call: &'static str,
    /// Its result as a number.
    pub code: u32,
    /// Its result's name, such as `CUDA_ERROR_ILLEGAL_ADDRESS`.
    pub name: String,
    /// Its result in words.
    pub text: String,
    /// The device.
    pub device: String,
    /// The kernel and shape, where it was a launch.
    pub launch: Option<(String, LaunchConfig)>,
}

impl Call {
    /// Whether a kernel is to blame: one that failed, whichever call told of it, or one that could not be launched.
    ///
    /// ```
    /// # use warpaint::device::Call;
    /// let call = Call {
    ///     call: "cuStreamSynchronize",
    ///     code: 700,
    ///     name: "CUDA_ERROR_ILLEGAL_ADDRESS".to_owned(),
    ///     text: "an illegal memory access was encountered, by one of the kernels `a`, `b`".to_owned(),
    ///     device: "NVIDIA H200 (cuda:0)".to_owned(),
    ///     launch: None,
    /// };
    /// assert!(call.is_by_kernel());
    /// assert!(!Call { code: 2, text: "out of memory".to_owned(), ..call }.is_by_kernel());
    /// ```
    pub fn is_by_kernel(&self) -> bool {
        self.launch.is_some() || super::nvidia::driver::code::is_kernel_error(self.code)
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} failed on {}: {} ({}), {}",
            self.call, self.device, self.name, self.code, self.text
        )?;
        match &self.launch {
            Some((kernel, config)) => write!(f, "; kernel `{}`, {config}", spelled(kernel)),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Call {}

/// A place in the source.
///
/// ```
/// use warpaint::device::Location;
///
/// let mut place = Location { file: "wave.cu".to_owned(), line: 12, column: 5 };
/// assert_eq!(place.to_string(), "wave.cu:12:5");
/// place.column = 0;
/// assert_eq!(place.to_string(), "wave.cu:12");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// The file, as it was named to the compiler.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 where unknown.
    pub column: u32,
}

impl Location {
    /// The place that a line of PTX comes from.
    pub(super) fn of_ptx(text: &str, line: u32) -> Option<Self> {
        let (file, line, column) = crate::ptx::outline::place_of(text, line)?;
        Some(Self { file, line, column })
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = one_line(&self.file);
        match self.column {
            0 => write!(f, "{file}:{}", self.line),
            column => write!(f, "{file}:{}:{column}", self.line),
        }
    }
}

/// One step of the chain of inlined calls that leads to a place.
///
/// ```
/// use warpaint::device::{Device, Error, LaunchConfig};
/// use warpaint::kernel::{Context, Source};
///
/// let source = "__device__ void store(int *x, int i) { x[i] = i; }
/// __global__ void f(int *x) { store(x, threadIdx.x); }";
/// let context = Context::new(Device::cpu()?)?;
/// let f = context.module(&Source::new(source).named("store.cu"))?.kernel("f")?;
/// let x = context.device().alloc(4)?;
/// // SAFETY: the CPU device checks every access.
/// unsafe { f.launch(context.stream(), &LaunchConfig::new(1, 2), &[x.slice(..)?.into()])? };
/// let Err(Error::Fault(fault)) = context.stream().synchronize() else { panic!("there is one `int`") };
/// assert_eq!(fault.location.as_ref().map(|at| at.line), Some(1));
/// assert_eq!(fault.inlined[0].call_site.line, 2);
/// assert_eq!(fault.inlined[0].function, "_Z5storePii");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlinedCall {
    /// The (lowered) name of the function that was inlined.
    pub function: String,
    /// Where it was called.
    pub call_site: Location,
}

/// Why a kernel was stopped.
///
/// ```
/// use warpaint::device::{Device, Error, FaultKind, LaunchConfig};
/// use warpaint::kernel::{Context, Source};
///
/// let source = "__global__ void f(int n) { assert(n > threadIdx.x); }";
/// let context = Context::new(Device::cpu()?)?;
/// let f = context.module(&Source::new(source).named("rule.cu"))?.kernel("f")?;
/// // SAFETY: the kernel accesses no memory.
/// unsafe { f.launch(context.stream(), &LaunchConfig::new(1, 8), &[5i32.into()])? };
/// let Err(Error::Fault(fault)) = context.stream().synchronize() else { panic!("5 is not more than 5") };
/// let text = "`n > threadIdx.x` in void f(int) (rule.cu:1)".to_owned();
/// assert_eq!((fault.kind, fault.thread.x), (FaultKind::Assert(text), 5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// A load outside every allocation.
    InvalidRead,
    /// A store or atomic outside every allocation, or into read-only memory.
    InvalidWrite,
    /// An address that is no multiple of the access's width.
    Misaligned,
    /// The host cancelled it.
    Cancelled,
    /// A barrier that some threads can never reach.
    Deadlock,
    /// A warp operation whose mask names lanes that are elsewhere, or leaves out that of the thread.
    Divergence,
    /// `free` of what `malloc` did not give, or of what was freed already.
    InvalidFree,
    /// `trap`.
    Trap,
    /// A failed `assert`, with what it says: the condition, the function and the place.
    Assert(String),
    /// Calls nested too deeply.
    StackOverflow,
    /// More memory accessed than the checker remembers.
    TooMuchToCheck,
    /// A texture or surface handle that is none, any more or at all, or of another kind than the instruction's.
    InvalidHandle {
        /// The handle.
        handle: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A surface access with `.trap` outside the surface.
    OutsideSurface {
        /// A store, else a load.
        write: bool,
        /// The byte in the row, the row, and the slice, layer or face.
        at: [i32; 3],
        /// Bytes accessed.
        bytes: u32,
        /// Bytes of a row, rows, and slices, layers or faces.
        extent: [u32; 3],
    },
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidRead => f.write_str("read outside every allocation"),
            Self::InvalidWrite => f.write_str("write outside every allocation"),
            Self::Misaligned => f.write_str("misaligned access"),
            Self::Cancelled => f.write_str("stopped by the host"),
            Self::Deadlock => f.write_str("a barrier that some threads never reach"),
            Self::Divergence => {
                f.write_str(
                    "a warp operation whose mask names lanes that are elsewhere, or not the thread's own",
                )
            }
            Self::InvalidFree => f.write_str("free of what is not allocated"),
            Self::Trap => f.write_str("trap"),
            Self::Assert(text) => write!(f, "assertion failed: {text}"),
            Self::StackOverflow => f.write_str("calls nested too deeply"),
            Self::TooMuchToCheck => f.write_str(
                "the kernel accesses more memory than the checker has room for: check a smaller scene",
            ),
            Self::InvalidHandle { handle, reason } => write!(f, "{reason} (handle {handle:#x})"),
            Self::OutsideSurface { write, at: [x, y, z], bytes, extent: [row, rows, slices] } => {
                let access = if *write { "write" } else { "read" };
                write!(
                    f,
                    "{access} outside a surface ({bytes} bytes at byte {x} of row {y} of slice {z}, where there are \
                     {slices} slices of {rows} rows of {row} bytes)"
                )
            }
        }
    }
}

/// The allocation nearest to a faulting address.
///
/// ```
/// use warpaint::device::Device;
///
/// let device = Device::cpu()?;
/// let memory = device.alloc(100)?;
/// let found = device.address_range(memory.address() + 99)?.ok_or("in none")?;
/// assert_eq!((found.address, found.bytes), (memory.address(), 100));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Its first address.
    pub address: u64,
    /// Its length.
    pub bytes: u64,
}

impl Allocation {
    /// Whether an address lies in it.
    #[doc(hidden)]
    pub fn holds(self, address: u64) -> bool {
        address.checked_sub(self.address).is_some_and(|offset| offset < self.bytes)
    }

    /// Bytes between an address and the nearest one in it.
    #[doc(hidden)]
    pub fn distance(self, address: u64) -> u64 {
        match address.checked_sub(self.address) {
            Some(offset) => offset.saturating_sub(self.bytes),
            None => self.address - address,
        }
    }
}

/// A kernel that was stopped: what it did, where, and in which thread.
///
/// ```
/// use warpaint::device::{Device, Error, FaultKind, LaunchConfig};
/// use warpaint::kernel::{Context, Source};
///
/// let source = "__global__ void f(int *x) {\n    x[threadIdx.x] = 1;\n}";
/// let context = Context::new(Device::cpu()?)?;
/// let f = context.module(&Source::new(source).named("late.cu"))?.kernel("f")?;
/// let x = context.device().alloc(12)?; // three of four
/// // SAFETY: the CPU device checks every access.
/// unsafe { f.launch(context.stream(), &LaunchConfig::new(1, 4), &[x.slice(..)?.into()])? };
/// let Err(Error::Fault(fault)) = context.stream().synchronize() else { panic!("the fourth is missing") };
/// assert_eq!((&fault.kind, fault.thread.x), (&FaultKind::InvalidWrite, 3));
/// assert_eq!(fault.location.as_ref().map(|place| place.line), Some(2));
/// assert_eq!(fault.nearest.map(|near| near.address), Some(x.address()));
/// assert_eq!(fault.access, Some((x.address() + 12, 4)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What it did.
    pub kind: FaultKind,
    /// The kernel's (lowered) name.
    pub kernel: String,
    /// The source line, where the PTX names one.
    pub location: Option<Location>,
    /// The line of the PTX, for memory accesses.
    pub ptx_line: Option<u32>,
    /// The inlined calls that lead there, innermost first.
    pub inlined: Vec<InlinedCall>,
    /// The block.
    pub block: Dim3,
    /// The thread in the block.
    pub thread: Dim3,
    /// The address and the width in bytes, for memory accesses.
    pub access: Option<(u64, u32)>,
    /// State space of the access: `global`, `shared`, `local`, …
    pub space: Option<&'static str>,
    /// The address that this one was computed from, where the code tells: a pointer that the kernel was given, or where
    /// a variable lies.
    pub base: Option<u64>,
    /// The allocation that the access was meant for: that of the base, else the nearest.
    pub nearest: Option<Allocation>,
    /// Where else threads wait, for a barrier that some threads never reach.
    pub waiting: Vec<Location>,
}

impl Fault {
    /// One of a kernel of which nothing else is known yet.
    pub(super) fn new(kind: FaultKind, kernel: &str) -> Self {
        Self {
            kind,
            kernel: kernel.to_owned(),
            location: None,
            ptx_line: None,
            inlined: Vec::new(),
            block: [0; 3].into(),
            thread: [0; 3].into(),
            access: None,
            space: None,
            base: None,
            nearest: None,
            waiting: Vec::new(),
        }
    }

    /// The fault as one sentence, without its source place.
    ///
    /// ```
    /// # use warpaint::device::{Fault, FaultKind};
    /// # let fault = Fault {
    /// #     kind: FaultKind::InvalidRead,
    /// #     kernel: "_Z4growPf".to_owned(),
    /// #     location: None,
    /// #     ptx_line: None,
    /// #     inlined: Vec::new(),
    /// #     block: 2.into(),
    /// #     thread: [7, 0, 0].into(),
    /// #     access: Some((0x1010, 4)),
    /// #     space: Some("shared"),
    /// #     base: None,
    /// #     nearest: None,
    /// #     waiting: Vec::new(),
    /// # };
    /// assert_eq!(
    ///     fault.summary(),
    ///     "kernel `grow`: read outside every allocation (4 bytes at shared address 0x1010), \
    ///      block (2, 1, 1), thread (7, 0, 0)"
    /// );
    /// ```
    pub fn summary(&self) -> String {
        self.told(&format!("kernel `{}`", spelled(&self.kernel)), &self.kind.to_string(), None)
    }

    /// The same of what the user knows by another name than the kernel's, with other words for its kind, and for what
    /// its address is.
    #[doc(hidden)]
    pub fn told(&self, subject: &str, kind: &str, element: Option<String>) -> String {
        let mut text = format!("{subject}: {kind}");
        if let Some((address, bytes)) = self.access {
            let space = self.space.unwrap_or("memory");
            let around = element.map_or_else(|| self.around(address), |it| format!(", {it}"));
            text += &format!(" ({bytes} bytes at {space} address {address:#x}{around})");
        }
        let at = |d: Dim3| format!("({}, {}, {})", d.x, d.y, d.z);
        text + &format!(", block {}, thread {}", at(self.block), at(self.thread))
    }

    /// The address of an access that would have been right, were some allocation larger, or elsewhere.
    #[cfg(feature = "gl")]
    #[doc(hidden)]
    pub fn missed(&self) -> Option<u64> {
        let is_access = matches!(
            self.kind,
            FaultKind::InvalidRead | FaultKind::InvalidWrite | FaultKind::Misaligned
        );
        let is_global = matches!(self.space, Some("global" | "generic" | "const"));
        let (address, _) = self.access?;
        (is_access && is_global && !self.is_null()).then_some(address)
    }

    fn is_null(&self) -> bool {
        let is_scratch = matches!(self.space, Some("shared" | "local" | "param"));
        let is_near = |address: u64| address.wrapping_add(NULL_BYTES) < 2 * NULL_BYTES;
        !is_scratch
            && (self.base == Some(0) || self.access.is_some_and(|(address, _)| is_near(address)))
    }

    /// What `address` is, seen from the nearest allocation.
    fn around(&self, address: u64) -> String {
        match self.nearest {
            _ if self.is_null() => ", through a null pointer".to_owned(),
            None => String::new(),
            Some(Allocation { address: start, bytes }) => match address.checked_sub(start) {
                Some(offset) => format!(", byte {offset} of an allocation of {bytes} bytes"),
                None => {
                    format!(", {} bytes before an allocation of {bytes} bytes", start - address)
                }
            },
        }
    }
}

/// An address so near to zero, on either side of it, is an element or a member of a null pointer: nothing is allocated
/// there.
const NULL_BYTES: u64 = 1 << 20;

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}fault: {}", place(&self.location), self.summary())?;
        for frame in &self.inlined {
            write!(f, "\n  in `{}`, called at {}", spelled(&frame.function), frame.call_site)?;
        }
        for place in &self.waiting {
            write!(f, "\n  other threads wait at {place}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}
