//! How a kernel is to be run: by which engine, in which order, watched by what.

use std::sync::{Arc, Mutex, PoisonError};

use super::Report;

/// What executes a kernel's PTX.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Machine code, on all cores.
    #[default]
    Jit,
    /// One instruction after the other, on one core: slow, and obviously right.
    Interpreter,
}

/// How a launch is to be run. The default is as fast as can be.
#[derive(Clone, Debug, Default)]
pub struct LaunchOptions {
    /// What executes the PTX; a launch with [`LaunchOptions::check`] is always interpreted.
    pub engine: Engine,
    /// Blocks run in increasing order and atomics in a fixed order: the same bits in every run.
    ///
    /// The interpreter always does so.
    pub deterministic: bool,
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
        self.engine == Engine::Interpreter || self.check.is_some()
    }
}

/// What is looked for while a kernel runs, and where findings go: clones share one [`Report`].
///
/// ```
/// use warpaint::device::cpu::{Check, LaunchOptions};
///
/// let check = Check::all();
/// let options = LaunchOptions::checked(&check);
/// // … `Stream::launch_with(…, &options)`, `Stream::synchronize()`, then:
/// assert!(check.report().findings.is_empty());
/// # drop(options);
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
