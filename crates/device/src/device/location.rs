//! Places in sources, as PTX names them.

use std::fmt;

use crate::diagnostic::one_line;

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

/// What a message begins with, where the place is known.
pub(super) fn place(location: &Option<Location>) -> String {
    location.as_ref().map_or_else(String::new, |l| format!("{l}: "))
}
