//! What a session puts on its stream: passes of a reset or of steps, statistics.

use std::collections::BTreeSet;

use super::{
    Error, history::History, moment::Moment, program::Program, reset::Reset, shown::Shown,
};
use crate::{
    device::Stream,
    scene::{Entry, Inputs, When},
    state::{Borrowed, Checkpoint},
};

/// What is being done.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Work {
    /// The reset passes.
    Reset(Reset),
    /// The step passes.
    Step,
    /// Past steps once more.
    Again(Again),
    /// A state from a file, which is on its way to the device; what enters the step behind it.
    Load(Box<Inputs>),
    /// Statistics of the present state, and nothing else.
    Statistics,
}

impl Work {
    /// Puts on `stream` what comes before its passes. The copy of the state that a step begins with, where the past
    /// takes one. Where one was `brought` to the device, past steps begin with that, and so does what a reset fills.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn begin(
        &self,
        program: &Program,
        (history, shown): (Option<&mut History>, Shown),
        brought: Option<&Checkpoint>,
        (borrowed, inputs): (&mut [Borrowed<'_>], &Inputs),
        stream: &Stream,
    ) -> Result<Option<Checkpoint>, Error> {
        match (self, history) {
            (Self::Reset(reset), _) => program.restore(reset, brought, borrowed, stream)?,
            (Self::Again(Again { from: Some(from), .. }), history) => {
                let source = || Some(history.as_ref()?.source(*from)?.checkpoint);
                if let Some(checkpoint) = brought.or_else(source) {
                    program.go_back_to(checkpoint, borrowed, stream)?;
                }
            }
            (Self::Step, Some(history)) if shown == Shown::Present => {
                return history.copy(program, borrowed, inputs, stream);
            }
            (Self::Step | Self::Again(Again { from: None, .. }), _)
            | (Self::Load(_) | Self::Statistics, _) => {}
        }
        Ok(None)
    }

    /// The passes that it consists of.
    pub(super) fn when(&self) -> Option<When> {
        match self {
            Self::Reset(_) => Some(When::Reset),
            Self::Step | Self::Again(_) => Some(When::Step),
            Self::Load(_) | Self::Statistics => None,
        }
    }

    /// What enters each of its steps, the passes of which follow one another.
    pub(super) fn rounds(&self, present: &Inputs) -> Vec<Inputs> {
        match self {
            Self::Reset(_) | Self::Step => vec![present.clone()],
            Self::Again(again) => again.steps.clone(),
            Self::Load(_) | Self::Statistics => Vec::new(),
        }
    }

    /// Whether statistics are taken behind it, where they are taken at all; those of steps only when that `is_due`.
    pub(super) fn is_measured(&self, is_due: impl FnOnce() -> bool) -> bool {
        match self {
            Self::Reset(_) | Self::Statistics => true,
            Self::Step => is_due(),
            Self::Again(_) | Self::Load(_) => false,
        }
    }

    /// Whether an entry has something to do in this work: after an edit, only those that write new resources.
    pub(super) fn concerns(&self, entry: &Entry, program: &Program) -> bool {
        match self {
            Self::Reset(Reset::Fresh(names)) => is_reset_for(names, entry, program),
            Self::Reset(Reset::None | Reset::All)
            | Self::Step
            | Self::Again(_)
            | Self::Load(_)
            | Self::Statistics => true,
        }
    }
}

/// Whether an entry of the reset writes one of the resources with these names.
pub(super) fn is_reset_for(names: &BTreeSet<String>, entry: &Entry, program: &Program) -> bool {
    let manifest = &program.scene.manifest;
    program.written_by(entry).any(|id| names.contains(&manifest.resource(id).name))
}

/// Past steps that are done once more.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Again {
    /// The past moment whose nearest copy is put back first; `None`: they follow on the present state.
    pub(super) from: Option<Moment>,
    /// What enters each of them.
    pub(super) steps: Vec<Inputs>,
    /// What enters the step behind them.
    pub(super) after: Inputs,
}
