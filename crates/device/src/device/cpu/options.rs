//! How a kernel is to be run: by which engine, in which order, watched by what.

use std::sync::{Arc, Mutex, PoisonError};

use super::report::Report;

/// What executes a kernel's PTX.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Machine code, on all cores.
    #[default]
    Jit,
    /// One instruction after the other, on one core: slow, and obviously right.
    Interpreter,
}

/// Whether threads of a block run side by side, several in the lanes of a vector, where that is possible. What a kernel
/// computes is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lanes {
    /// Where that is estimated to be faster.
    #[default]
    WhereFaster,
    /// Wherever it is possible.
    Always,
    /// Nowhere.
    Never,
}

/// How a launch is to be run. The default is as fast as can be.
///
/// ```
/// use warpaint::device::cpu::{Check, Engine, LaunchOptions};
///
/// let repeatable = LaunchOptions { deterministic: true, ..LaunchOptions::default() };
/// assert_eq!(repeatable.engine, Engine::Jit);
/// let watched = LaunchOptions::checked(&Check::all());
/// assert_eq!(watched.engine, Engine::Interpreter);
/// ```
#[derive(Clone, Debug, Default)]
pub struct LaunchOptions {
    /// What executes the PTX; a launch with [`LaunchOptions::check`], or in lockstep, is always interpreted.
    pub engine: Engine,
    /// Blocks run in increasing order and atomics in a fixed order: the same bits in every run.
    ///
    /// The interpreter always does so.
    pub deterministic: bool,
    /// Whether compiled code runs threads side by side. A module is translated for the choice of its device's
    /// [launch options](super::Device::set_launch_options) when it is loaded, and for another one at the first launch
    /// that asks for it.
    pub lanes: Lanes,
    /// Whether the threads of a warp go from instruction to instruction together, those that are in the deepest call
    /// and stand at the lowest address first, as on GPUs before Volta: each sees what the others wrote by the
    /// instruction before. Always interpreted. [`LaunchConfig::lockstep`](crate::device::LaunchConfig::lockstep) asks
    /// for it for one launch.
    pub lockstep: bool,
    /// What is looked for while the kernel runs.
    pub check: Option<Check>,
}

impl LaunchOptions {
    /// Interpreted instead of compiled.
    pub fn interpreted() -> Self {
        Self { engine: Engine::Interpreter, ..Self::default() }
    }

    /// Watched by `check`, whose report fills while the kernel runs.
    pub fn checked(check: &Check) -> Self {
        Self { check: Some(check.clone()), ..Self::interpreted() }
    }

    /// Whether the interpreter runs it.
    pub(super) fn interprets(&self) -> bool {
        self.engine == Engine::Interpreter || self.lockstep || self.check.is_some()
    }
}

/// What is looked for while a kernel runs, and where findings go: clones share one [`Report`].
///
/// ```
/// use warpaint::device::{Arguments, LaunchConfig, StreamOptions};
/// use warpaint::device::cpu::{Check, Device, FindingKind, LaunchOptions};
///
/// // *x = *x + 1, of memory that nobody has written
/// let ptx = ".version 7.0 .target sm_75 .address_size 64
///     .visible .entry count(.param .u64 x) {
///         .reg .b64 %x;
///         .reg .b32 %v;
///         ld.param.u64 %x, [x];
///         ld.global.u32 %v, [%x];
///         add.u32 %v, %v, 1;
///         st.global.u32 [%x], %v;
///         ret;
///     }";
/// let (device, check) = (Device::new()?, Check::all());
/// let (x, mut arguments) = (device.alloc(4)?, Arguments::new());
/// arguments.push(&x.address());
/// let (count, stream) = (device.load(ptx)?.function("count")?, device.stream(StreamOptions::default())?);
/// let (one, options) = (LaunchConfig::new(1, 1), LaunchOptions::checked(&check));
/// stream.launch_with(&count, &one, &arguments, &options)?;
/// stream.synchronize()?;
/// let [finding] = &check.report().findings[..] else { panic!("the read alone is wrong") };
/// assert_eq!((finding.kind, finding.count, finding.site.ptx_line), (FindingKind::Uninitialised, 1, 6));
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Check {
    /// Accesses of two threads to the same bytes of shared or global memory, one of them a write, that nothing
    /// orders.
    pub races: bool,
    /// Reads of shared, local or global memory that nobody has written.
    pub uninitialised: bool,
    /// Integer divisions by zero.
    pub division_by_zero: bool,
    /// How often each source line was executed.
    pub line_counts: bool,
    /// Most findings that are kept; each is one pair of source places, however often it happens.
    pub limit: usize,
    report: Arc<Mutex<Report>>,
}

impl Check {
    /// Nothing yet.
    pub fn none() -> Self {
        Self {
            races: false,
            uninitialised: false,
            division_by_zero: false,
            line_counts: false,
            limit: 100,
            report: Arc::default(),
        }
    }

    /// Everything.
    pub fn all() -> Self {
        Self {
            races: true,
            uninitialised: true,
            division_by_zero: true,
            line_counts: true,
            ..Self::none()
        }
    }

    /// What was found so far, by all launches with this check or a clone of it.
    ///
    /// ```
    /// # use warpaint::device::{Arguments, LaunchConfig, StreamOptions};
    /// # use warpaint::device::cpu::{Check, Device, FindingKind, LaunchOptions};
    /// # let ptx = ".version 7.0 .target sm_75 .address_size 64
    /// #     .visible .entry quotient(.param .u32 a, .param .u32 b) {
    /// #         .reg .b32 %r<3>;
    /// #         ld.param.u32 %r1, [a];
    /// #         ld.param.u32 %r2, [b];
    /// #         div.u32 %r0, %r1, %r2;
    /// #         ret;
    /// #     }";
    /// # let device = Device::new()?;
    /// # let quotient = device.load(ptx)?.function("quotient")?; // a / b
    /// let mut check = Check::none();
    /// check.division_by_zero = true;
    /// let (stream, mut arguments) = (device.stream(StreamOptions::default())?, Arguments::new());
    /// arguments.push(&1u32).push(&0u32);
    /// let (options, one) = (LaunchOptions::checked(&check), LaunchConfig::new(1, 1));
    /// for _ in 0..2 {
    ///     stream.launch_with(&quotient, &one, &arguments, &options)?;
    /// }
    /// stream.synchronize()?;
    /// let [finding] = &check.report().findings[..] else { panic!("it is one place") };
    /// assert_eq!((finding.kind, finding.count), (FindingKind::DivisionByZero, 2));
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn report(&self) -> Report {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds to the report.
    pub(super) fn update(&self, change: impl FnOnce(&mut Report)) {
        change(&mut self.report.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Default for Check {
    fn default() -> Self {
        Self::all()
    }
}
