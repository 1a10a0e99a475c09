//! How a module is guarded.

use super::LocalMemory;

/// What a guarded module tells of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Telling {
    /// The first thing that is wrong, at which all loops end.
    #[default]
    First,
    /// The first thing at each place, and the kernels go on.
    All,
}

/// Which versions of a kernel a guarded module has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Versions {
    /// One with all checks, and those without what the host proves at a launch: the quickest to run.
    #[default]
    Proved,
    /// One with all checks: the quickest to load.
    Whole,
}

/// How a module is guarded.
#[derive(Clone, Copy, Debug, Default)]
pub struct GuardOptions<'a> {
    /// The (lowered) names of kernels that stay as they are; what they do is not watched.
    pub plain: &'a [&'a str],
    /// What it tells of.
    pub telling: Telling,
    /// Which versions its kernels have.
    pub versions: Versions,
    /// Where local memory is on the device; an NVIDIA GPU says so itself.
    pub local: LocalMemory,
}
