//! What kernels do wrong, and where.

use std::fmt;

use super::{Allocation, Dim3, InlinedCall, Location, location::place, spelling::spelled};

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
