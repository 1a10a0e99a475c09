//! What the checker found, as data.

use std::{collections::BTreeMap, fmt};

use crate::device::{Dim3, Frame, Location};

/// What the launches with one [`Check`](super::super::Check) did.
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
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What is wrong.
    pub kind: FindingKind,
    /// The kernel.
    pub kernel: String,
    /// State space, address (in shared memory the offset in the block's) and width in bytes, of a memory access.
    pub access: Option<(&'static str, u64, u32)>,
    /// The access that completed it.
    pub site: Site,
    /// The other side: of a race the access before.
    pub other: Option<Site>,
    /// How often it happened.
    pub count: u64,
}

/// What kind of mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FindingKind {
    /// Two threads access the same bytes, one writes, and nothing orders them.
    Race,
    /// A read of memory that nobody has written.
    Uninitialised,
    /// An integer division or remainder by zero.
    DivisionByZero,
}

/// Where a thread was, and what it did there.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// The source line, where the PTX names one.
    pub location: Option<Location>,
    /// The inlined calls that lead there, innermost first.
    pub inlined: Vec<Frame>,
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

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            FindingKind::Race => "race",
            FindingKind::Uninitialised => "read of memory that nobody has written",
            FindingKind::DivisionByZero => "integer division by zero",
        };
        write!(f, "kernel `{}`: {what}", self.kernel)?;
        if let Some((space, address, bytes)) = self.access {
            write!(f, " ({bytes} bytes at {space} address {address:#x})")?;
        }
        write!(f, ", {} times\n  {}", self.count, self.site)?;
        match &self.other {
            Some(other) => write!(f, "\n  {other}"),
            None => Ok(()),
        }
    }
}
