//! A line of steps: what determines each of them, and the copies of the states between.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    checksums::Checksums, effort::Effort, moment::Moment, program::Program, run_files::UsedFile,
};
use crate::{scene::Inputs, state::Checkpoint};

/// Steps that follow one another.
pub(super) struct Line {
    pub(super) id: u64,
    /// Where it leaves another line; `None` for one that begins with a reset.
    pub(super) parent: Option<Moment>,
    /// How many of the other line's texts led to where it leaves that.
    pub(super) inherited: usize,
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
    pub(super) entrance: Entrance,
    /// What entered the reset passes that it did; `None` where there were none, or where they did not end well.
    pub(super) entered: Option<Inputs>,
}

/// What a text did to the state when it took over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entrance {
    /// Its reset produced the line's first state.
    Reset,
    /// Nothing.
    Same,
    /// Resources or variables came, went or changed.
    Changed,
}

/// Texts that have taken over since the last step, in order.
#[derive(Default)]
pub(super) struct Newcomers(Vec<Text>);

impl Newcomers {
    /// Notes that a program has taken over after `step` steps.
    pub(super) fn note(&mut self, program: &Program, step: u64, entrance: Entrance) {
        // One that has done nothing to the state, and no step, need not have been. Whoever types has hundreds of them.
        self.0.pop_if(|last| last.has_done_nothing());
        self.0.push(Text::of(program, step, entrance));
    }

    /// Notes that reset passes have ended, which are those of the last one.
    pub(super) fn have_reset(&mut self, entered: &Inputs) {
        if let Some(last) = self.0.last_mut() {
            last.entered = Some(entered.clone());
        }
    }

    /// Forgets them: the state is another one.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn texts(&self) -> &[Text] {
        &self.0
    }
}

impl Text {
    fn of(program: &Program, step: u64, entrance: Entrance) -> Self {
        let Program { scene, files, effort, .. } = program;
        let (text, files) = (scene.source.clone(), files.clone());
        Self { step, text, effort: *effort, files, entrance, entered: None }
    }

    /// Whether the state is as it would be without it.
    pub(super) fn has_done_nothing(&self) -> bool {
        match self.entrance {
            Entrance::Same => self.entered.is_none(),
            Entrance::Reset | Entrance::Changed => false,
        }
    }
}

/// Steps of one program, without an interruption.
pub(super) struct Segment {
    pub(super) program: Arc<Program>,
    /// How many steps were finished when it began.
    pub(super) start: u64,
    /// How many were at its end.
    pub(super) end: u64,
    /// By how many steps were finished. The one at the start stays as long as any.
    pub(super) checkpoints: BTreeMap<u64, Checkpoint>,
    /// What the bits were, of these copies and of those that are forgotten.
    pub(super) checksums: Checksums,
}

impl Segment {
    /// One that begins after `step` steps.
    pub(super) fn new(program: &Arc<Program>, step: u64) -> Self {
        Self {
            program: program.clone(),
            start: step,
            end: step,
            checkpoints: BTreeMap::new(),
            checksums: Checksums::default(),
        }
    }
}

impl Line {
    /// Whether it is kept when another one begins: it has steps, or what a file brought.
    pub(super) fn is_wanted(&self) -> bool {
        let has_steps = !self.log.entered.is_empty();
        has_steps || self.is_loaded && !self.segments.is_empty()
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
        let segment = self.segments.iter_mut().rfind(|segment| segment.start <= step)?;
        (step <= segment.end).then_some(segment)
    }

    /// The one whose steps follow on `step` finished ones; where there is none, the one that ends there. There may be
    /// neither: steps without a copy are not had again.
    pub(super) fn segment(&self, step: u64) -> Option<&Segment> {
        let segment = self.segments.iter().rfind(|segment| segment.start <= step)?;
        (step <= segment.end).then_some(segment)
    }

    /// How many of its texts led to the state after `step` steps, as that is had again.
    pub(super) fn texts_until(&self, step: u64) -> usize {
        let begins_there = self.segment(step).is_some_and(|segment| segment.start == step);
        let led = |text: &&Text| text.step < step || text.step == step && begins_there;
        self.log.texts.iter().take_while(led).count()
    }
}

impl Log {
    /// Notes a step of `program`, before which `newcomers` have taken over.
    pub(super) fn note(&mut self, newcomers: &mut Newcomers, program: &Program, inputs: &Inputs) {
        self.welcome(newcomers);
        let is_last = |last: &Text| {
            let Program { scene, files, effort, .. } = program;
            last.text == scene.source && last.effort == *effort && last.files == *files
        };
        if !self.texts.last().is_some_and(is_last) {
            self.texts.push(Text::of(program, inputs.step, Entrance::Same));
        }
        let as_before = self.entered(inputs.step).is_some_and(|before| before == *inputs);
        if !as_before {
            self.entered.insert(inputs.step, inputs.clone());
        }
    }

    /// Notes texts that have taken over.
    pub(super) fn welcome(&mut self, newcomers: &mut Newcomers) {
        self.texts.append(&mut newcomers.0);
    }

    pub(super) fn entered(&self, step: u64) -> Option<Inputs> {
        let (at, inputs) = self.entered.range(..=step).next_back()?;
        Some(if *at == step { inputs.clone() } else { inputs.at(step) })
    }
}
