//! A line of steps: what determines each of them, and the copies of the states between.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    builder::Effort, checksums::Checksums, program::Program, run_files::UsedFile, snapshot::Moment,
};
use crate::{scene::Inputs, state::Checkpoint};

/// Steps that follow one another.
pub(super) struct Line {
    pub(super) id: u64,
    /// Where it leaves another line; `None` for one that begins with a reset.
    pub(super) parent: Option<Moment>,
    /// What determines its steps, which is never forgotten.
    pub(super) log: Log,
    /// Whether it begins with a file.
    pub(super) is_loaded: bool,
    pub(super) segments: Vec<Segment>,
    /// How many steps were finished at its end.
    pub(super) end: u64,
}

/// What determines the steps of a line, by how many were finished before.
#[derive(Default)]
pub(super) struct Log {
    /// The texts.
    pub(super) texts: Vec<Text>,
    /// What entered steps, where it is not as in the step before.
    pub(super) entered: BTreeMap<u64, Inputs>,
}

/// A text of the scene.
pub(super) struct Text {
    /// Steps that were finished when it took over.
    pub(super) step: u64,
    pub(super) text: Arc<str>,
    pub(super) effort: Effort,
    /// What its program was made of beside it.
    pub(super) files: Arc<[UsedFile]>,
}

/// Steps of one program, without an interruption.
pub(super) struct Segment {
    pub(super) program: Arc<Program>,
    /// How many steps were finished when it began.
    pub(super) start: u64,
    /// By how many steps were finished. The one at the start stays as long as any.
    pub(super) checkpoints: BTreeMap<u64, Checkpoint>,
    /// What the bits were, of these copies and of those that are forgotten.
    pub(super) checksums: Checksums,
}

impl Line {
    /// How many steps were finished when it began.
    pub(super) fn begin(&self) -> u64 {
        self.parent.map_or(0, |parent| parent.step)
    }

    /// The steps that are had again, by how many were finished before.
    pub(super) fn start(&self) -> u64 {
        self.segments.first().map_or(self.end, |segment| segment.start)
    }

    pub(super) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// As [`Line::segment`].
    pub(super) fn segment_mut(&mut self, step: u64) -> Option<&mut Segment> {
        let place = self.segments.iter().rposition(|segment| segment.start <= step)?;
        self.segments.get_mut(place).filter(|_| step <= self.end)
    }

    /// The one whose steps follow on `step` finished ones; of the last one its end, too.
    pub(super) fn segment(&self, step: u64) -> Option<&Segment> {
        self.segments
            .iter()
            .rev()
            .find(|segment| segment.start <= step)
            .filter(|_| step <= self.end)
    }
}

impl Log {
    pub(super) fn note(&mut self, program: &Program, inputs: &Inputs) {
        let Program { scene, files, effort, .. } = program;
        let is_last = |last: &Text| {
            last.text == scene.source && last.effort == *effort && last.files == *files
        };
        if !self.texts.last().is_some_and(is_last) {
            let (step, text, files) = (inputs.step, scene.source.clone(), files.clone());
            self.texts.push(Text { step, text, effort: *effort, files });
        }
        let as_before = self.entered(inputs.step).is_some_and(|before| before == *inputs);
        if !as_before {
            self.entered.insert(inputs.step, inputs.clone());
        }
    }

    pub(super) fn entered(&self, step: u64) -> Option<Inputs> {
        let (at, inputs) = self.entered.range(..=step).next_back()?;
        Some(if *at == step { inputs.clone() } else { inputs.at(step) })
    }
}
