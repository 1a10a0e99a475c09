//! What the checker found, as data.

use std::{borrow::Cow, collections::BTreeMap, fmt};

use crate::device::{Dim3, InlinedCall, Location, spelling::spelled};

/// What the launches with one [`Check`](super::Check) did.
///
/// ```
/// use warpaint::device::{Device, LaunchConfig, cpu};
/// use warpaint::kernel::{Context, Source};
///
/// let source = "__global__ void even(int *count) {
///     if (threadIdx.x % 2 == 0)
///         atomicAdd(count, 1);
/// }";
/// let (device, check) = (cpu::Device::new()?, cpu::Check::all());
/// device.set_launch_options(cpu::LaunchOptions::checked(&check));
/// let context = Context::new(Device::Cpu(device))?;
/// let even = context.module(&Source::new(source).named("even.cu"))?.kernel("even")?;
/// let (stream, count) = (context.stream(), context.device().alloc(4)?);
/// stream.upload(count.slice(..)?, &[0; 4])?;
/// // SAFETY: the CPU device checks every access.
/// unsafe { even.launch(stream, &LaunchConfig::new(1, 10), &[count.slice(..)?.into()])? };
/// context.synchronize()?;
/// let report = check.report();
/// assert_eq!(report.lines.get(&("even.cu".to_owned(), 3)), Some(&5));
/// assert!(report.findings.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// What is wrong, in the order in which it was first seen; each pair of source places once.
    pub findings: Vec<Finding>,
    /// Findings beyond the limit, of other places than those kept.
    pub dropped: u64,
    /// How often each source line was executed, by file and line: one for each thread and each run of
    /// instructions of the line that follow each other.
    pub lines: BTreeMap<(String, u32), u64>,
}

/// One mistake of a kernel.
///
/// ```
/// use warpaint::device::{Device, LaunchConfig, cpu::{self, Action, FindingKind}};
/// use warpaint::kernel::{Context, Source};
///
/// let source = "__global__ void total(int *sum) {
///     *sum += threadIdx.x; // not atomic
/// }";
/// let (device, check) = (cpu::Device::new()?, cpu::Check::all());
/// device.set_launch_options(cpu::LaunchOptions::checked(&check));
/// let context = Context::new(Device::Cpu(device))?;
/// let total = context.module(&Source::new(source).named("total.cu"))?.kernel("total")?;
/// let (stream, sum) = (context.stream(), context.device().alloc(4)?);
/// stream.upload(sum.slice(..)?, &[0; 4])?;
/// // SAFETY: the CPU device checks every access.
/// unsafe { total.launch(stream, &LaunchConfig::new(1, 2), &[sum.slice(..)?.into()])? };
/// context.synchronize()?;
/// let race = &check.report().findings[0];
/// assert_eq!((race.kind, race.site.action), (FindingKind::Race, Action::Read));
/// assert_eq!(race.other.as_ref().map(|other| other.action), Some(Action::Write));
/// assert_eq!(race.access, Some(("global", sum.address(), 4)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What is wrong.
    pub kind: FindingKind,
    /// The kernel's (lowered) name.
    pub kernel: String,
    /// State space, address (in shared memory the offset in the block's) and width in bytes, of a memory access.
    pub access: Option<(&'static str, u64, u32)>,
    /// The access that completed it.
    pub site: Site,
    /// The other side: of a race, or of an order by lockstep, the access before.
    pub other: Option<Site>,
    /// Whether both sides are threads of one warp.
    pub within_warp: bool,
    /// How often it happened.
    pub count: u64,
}

/// What kind of mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FindingKind {
    /// Two threads access the same bytes, one writes, and nothing orders them.
    Race,
    /// Two threads of a warp access the same bytes of shared memory as `volatile`, one writes, and nothing orders them
    /// but that GPUs before Volta ran the threads of a warp in lockstep.
    Lockstep,
    /// A read of memory that nobody has written.
    Uninitialised,
    /// An integer division or remainder by zero.
    DivisionByZero,
}

/// Where a thread was, and what it did there.
///
/// ```
/// use warpaint::device::{Location, cpu::{Action, Site}};
///
/// let site = Site {
///     location: Some(Location { file: "sum.cu".to_owned(), line: 7, column: 12 }),
///     inlined: Vec::new(),
///     ptx_line: 61,
///     block: 2.into(),
///     thread: [5, 0, 0].into(),
///     action: Action::Divide,
/// };
/// assert_eq!(site.to_string(), "sum.cu:7:12: division by block (2, 1, 1), thread (5, 0, 0)");
/// let bare = Site { location: None, ..site };
/// assert!(bare.to_string().starts_with("PTX line 61: "));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// The source line, where the PTX names one.
    pub location: Option<Location>,
    /// The inlined calls that lead there, innermost first.
    pub inlined: Vec<InlinedCall>,
    /// Line of the PTX text.
    pub ptx_line: u32,
    /// The block.
    pub block: Dim3,
    /// The thread in the block.
    pub thread: Dim3,
    /// What it did.
    pub action: Action,
}

/// What a thread did at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Read memory.
    Read,
    /// Wrote memory.
    Write,
    /// Changed memory atomically.
    Atomic,
    /// Divided.
    Divide,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Atomic => "atomic",
            Self::Divide => "division",
        })
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |d: Dim3| format!("({}, {}, {})", d.x, d.y, d.z);
        match &self.location {
            Some(location) => write!(f, "{location}: ")?,
            None => write!(f, "PTX line {}: ", self.ptx_line)?,
        }
        write!(f, "{} by block {}, thread {}", self.action, at(self.block), at(self.thread))
    }
}

impl Finding {
    /// What the source calls the kernel, where its lowered name tells.
    pub fn kernel_name(&self) -> Cow<'_, str> {
        spelled(&self.kernel)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            FindingKind::Race => "race",
            FindingKind::Lockstep => "order that only a warp in lockstep has",
            FindingKind::Uninitialised => "read of memory that nobody has written",
            FindingKind::DivisionByZero => "integer division by zero",
        };
        write!(f, "kernel `{}`: {what}", self.kernel_name())?;
        if let Some((space, address, bytes)) = self.access {
            write!(f, " ({bytes} bytes at {space} address {address:#x})")?;
        }
        match self.count {
            1 => write!(f, ", once\n  {}", self.site)?,
            count => write!(f, ", {count} times\n  {}", self.site)?,
        }
        match &self.other {
            Some(other) => write!(f, "\n  {other}"),
            None => Ok(()),
        }
    }
}
