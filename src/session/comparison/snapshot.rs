//! What a comparison shows of itself.

use serde::Serialize;

use super::{Compared, PassRatio, Unlike, Variant};
use crate::diagnostic::Diagnostic;

/// Two programs on copies of one state, step by step: A is what runs, B a variant of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// What B is.
    pub variant: Variant,
    /// Whether both have the same text now, and the same files that it includes.
    pub has_same_text: bool,
    /// How far it is.
    pub phase: ComparisonPhase,
    /// Steps finished when B began with a copy of A's state, or when a reset or an edit made the figures begin anew.
    pub since: u64,
    /// Steps finished when resources were compared last; `None` before the first time.
    pub step: Option<u64>,
    /// The resources of both, in A's order.
    pub resources: Vec<Compared>,
    /// The resources that cannot be compared.
    pub unlike: Vec<Unlike>,
    /// The passes of both, in A's order, over the last steps.
    pub passes: Vec<PassRatio>,
}

impl Comparison {
    /// The step after which they were seen to differ first.
    pub fn parted(&self) -> Option<u64> {
        let first = self.resources.iter().filter_map(|resource| resource.first.as_ref());
        first.map(|parting| parting.step).min()
    }
}

/// How far a comparison is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum ComparisonPhase {
    /// B is being compiled; A goes on alone.
    Compiling,
    /// B has mistakes, or has no room.
    Rejected(Vec<Diagnostic>),
    /// B waits for A to stand still: it gets a copy of A's state then.
    Waiting,
    /// Both do the same steps.
    Running,
    /// B has faulted; A goes on alone. A reset, and going to a past moment, begin anew.
    Faulted(Diagnostic),
}
