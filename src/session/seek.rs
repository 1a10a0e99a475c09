//! Going to a past moment, and going on from there.

use std::{sync::Arc, time::Duration};

use super::{
    Error, Session,
    brought::Brought,
    history::{History, Keeping, Source},
    line::{self, Entrance},
    moment::Moment,
    program::Program,
    reset::Reset,
    shown::Shown,
    snapshot::{Line, Timeline},
    work::{Again, Work},
};
use crate::{scene::Inputs, state::Checkpoint};

/// Past steps are done again in parts that take about so long, so that a newer wish need not wait for all of them.
const PART: Duration = Duration::from_millis(40);
/// As many steps are done in one part at most.
const MOST_STEPS: u64 = 512;

/// Which moment there is to see, and which one is on its way.
#[derive(Default)]
pub(super) struct Seek {
    /// The moment that the state belongs to: the present, or a past step.
    pub(super) shown: Shown,
    /// The moment that is to be shown.
    pub(super) sought: Option<Sought>,
    /// What is needed on the way there, or to begin anew, and lay with the host.
    pub(super) brought: Option<Brought>,
}

/// A moment that is to be shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sought {
    pub(super) at: Moment,
    /// Whether it has been shown on the way: what follows compares the steps with what they were.
    pub(super) is_seen: bool,
}

impl Session {
    /// Goes to a past moment, which is shown as soon as it has been had again. The scene stands still meanwhile, and
    /// then.
    ///
    /// What comes next begins a line of its own there: see [`Session::play`].
    pub fn seek(&mut self, to: Moment) {
        if self.history.is_some() {
            self.pause();
            self.playback.single_steps = 0;
            self.fault = None;
            self.abandon_migration();
            if self.seek.sought.is_none_or(|sought| sought.at != to) {
                self.seek.sought = Some(Sought { at: to, is_seen: false });
            }
            self.part();
        }
    }

    /// Waits for the moment that is sought, if one is, and for what is under way.
    ///
    /// # Errors
    /// As [`Session::update`].
    pub fn finish_seeking(&mut self) -> Result<(), Error> {
        self.complete_in_flight()?;
        while self.seek.sought.is_some() {
            self.finish_bringing()?;
            self.launch_due()?;
            self.complete_in_flight()?;
        }
        Ok(())
    }

    /// Waits until the moment that is sought is seen. It may have been shown on the way, in which case the steps up to
    /// the next copy are still to be compared with what they were: [`Session::finish_seeking`] waits for that, too.
    ///
    /// # Errors
    /// As [`Session::update`].
    pub fn wait_until_seen(&mut self) -> Result<(), Error> {
        self.complete_in_flight()?;
        while self.seek.sought.is_some_and(|sought| !sought.is_seen) {
            self.finish_bringing()?;
            self.launch_due()?;
            self.complete_in_flight()?;
        }
        Ok(())
    }

    /// Where the state stands.
    pub(super) fn moment(&self) -> Moment {
        let line = match self.seek.shown {
            Shown::Present => self.history.as_ref().and_then(History::current).map(|line| line.id),
            Shown::Past { line, .. } => Some(line),
            Shown::Nothing => None,
        };
        Moment { line: line.unwrap_or_default(), step: self.state.inputs.step }
    }

    /// Does the next part of what leads to the moment that is sought. Not while something is under way.
    pub(super) fn go_on_seeking(&mut self) -> Result<(), Error> {
        let Some(Sought { at: sought, is_seen }) = self.seek.sought else { return Ok(()) };
        match self.has_arrived(sought) {
            Some(false) => return Ok(()),
            // The present was kept when it was put on its way.
            Some(true) => {}
            None => self.keep_present()?,
        }
        let here = self.moment();
        let Some(history) = &self.history else { return Ok(()) };
        let Some(Source { program, checkpoint }) = history.source(sought) else {
            self.seek.sought = None;
            return Ok(());
        };
        let from = checkpoint.inputs.step;
        // Whether the same bits come out is looked at first, further on if need be.
        let uncompared = history.uncompared(from, sought);
        let last = uncompared.unwrap_or(sought.step);
        // What lies behind the moment is not on the way to it before it has been seen.
        let ends = if is_seen { last } else { sought.step };
        let is_on_the_way = match self.seek.shown {
            Shown::Present => uncompared.is_none(),
            // What is compared is what came of the copy, and no other state of the line.
            Shown::Past { from: own, .. } => uncompared.is_none() || own == from,
            Shown::Nothing => false,
        };
        let leads_there = is_on_the_way
            && here.line == sought.line
            && (from..=ends).contains(&here.step)
            && self.program.as_ref().is_some_and(|own| Arc::ptr_eq(own, program));
        if leads_there && is_seen && here.step == last {
            return match uncompared {
                Some(_) => self.compare_again(sought),
                None => self.found(sought),
            };
        }
        if !leads_there && !self.is_at_hand(sought)? {
            return Ok(());
        }
        let Some(history) = &self.history else { return Ok(()) };
        let Some(Source { program, checkpoint }) = history.source(sought) else { return Ok(()) };
        let start = if leads_there { here.step } else { from };
        let end = ends.min(start.saturating_add(history.steps_in(PART).min(MOST_STEPS)));
        let before = match leads_there {
            true => self.state.inputs.clone(),
            false => history.left(Moment { step: from, ..sought }, checkpoint),
        };
        let steps = (start..end)
            .map_while(|step| history.entered(Moment { step, ..sought }))
            .collect::<Vec<Inputs>>();
        let after = steps.last().map_or(before, Inputs::after_step);
        let program = program.clone();
        if !leads_there {
            self.install(&program)?;
            // It was for a program that has been left.
            self.resets.next = Reset::None;
            if let Some(history) = &mut self.history {
                history.newcomers.clear();
            }
        }
        let from = match self.seek.shown {
            Shown::Past { from: own, .. } if leads_there => own,
            Shown::Present if leads_there => here.step,
            Shown::Past { .. } | Shown::Present | Shown::Nothing => from,
        };
        self.seek.shown = Shown::Past { line: sought.line, from };
        self.launch(Work::Again(Again { from: (!leads_there).then_some(sought), steps, after }))
    }

    /// Compares the state, which was had again on the way to `sought` or behind it, with what it was; and goes on
    /// seeking.
    fn compare_again(&mut self, sought: Moment) -> Result<(), Error> {
        let Self { program: Some(program), state, history: Some(history), stream, .. } = self
        else {
            return Ok(());
        };
        let inputs = &state.inputs;
        state
            .resources
            .read(stream, |borrowed| history.compare(sought, program, borrowed, inputs, stream))?;
        self.go_on_seeking()
    }

    /// The state is that of a past moment on the way to the one that is sought.
    pub(super) fn come_by(&mut self) -> Result<(), Error> {
        let here = self.moment();
        let is_shown = match &mut self.seek.sought {
            // Behind the moment that is sought steps are done to be compared, not to be seen; and where it has been
            // seen, the way to it is gone a second time.
            Some(sought) if here == sought.at => {
                sought.is_seen = true;
                true
            }
            Some(sought) => !sought.is_seen && here.step < sought.at.step,
            None => true,
        };
        if is_shown {
            return self.show();
        }
        self.state.resources.advance();
        Ok(())
    }

    /// The moment that was sought is shown.
    fn found(&mut self, at: Moment) -> Result<(), Error> {
        self.seek.sought = None;
        let history = self.history.as_ref();
        let is_end = history.and_then(History::current).is_some_and(|line| line.is_at_end(at));
        let is_latest = match (&self.program, &self.latest) {
            (Some(program), Some(latest)) => Arc::ptr_eq(program, latest),
            _ => false,
        };
        self.seek.shown = match self.seek.shown {
            _ if is_end && is_latest => Shown::Present,
            Shown::Past { from, .. } => Shown::Past { line: at.line, from },
            Shown::Present | Shown::Nothing => Shown::Past { line: at.line, from: at.step },
        };
        self.picture += 1;
        match self.options.statistics_every {
            Some(_) => self.start_statistics(),
            None => Ok(()),
        }
    }

    /// Gives up going to a past moment in the middle of its steps.
    pub(super) fn break_off(&mut self) {
        self.seek.sought = None;
        self.seek.shown = Shown::Nothing;
    }

    /// A copy of the present state, before it is left for a past one.
    pub(super) fn keep_present(&mut self) -> Result<(), Error> {
        let Self { program: Some(program), state, history: Some(history), stream, .. } = self
        else {
            return Ok(());
        };
        if self.seek.shown != Shown::Present || self.resets.next != Reset::None {
            return Ok(());
        }
        let inputs = &state.inputs;
        let copy = state
            .resources
            .read(stream, |borrowed| history.copy_now(program, borrowed, inputs, stream))?;
        if let Some(copy) = copy {
            history.keep_end(program, copy);
        }
        Ok(())
    }

    /// Begins a line where `program` is about to change what the state holds otherwise than by a step: what it holds
    /// now stays in the past, as the end of the line before.
    pub(super) fn leave_layout_for(&mut self, program: &Program) -> Result<(), Error> {
        let Some(old) = &self.program else { return Ok(()) };
        if old.generation == program.generation
            || self.resets.next != Reset::None
            || self.seek.shown == Shown::Nothing
            || !program.changes_state_of(old)
        {
            return Ok(());
        }
        let at = self.moment();
        let line = self.history.as_ref().and_then(|history| history.line(at.line));
        if !line.is_some_and(|line| line.is_loaded || line.is_wanted()) {
            return Ok(()); // nothing of it is kept, or another edit has just begun a line here
        }
        self.keep_present()?;
        if let Some(history) = &mut self.history
            && history.source(at).is_some()
        {
            history.begin_line(Some(at));
            self.seek.shown = Shown::Present;
        }
        Ok(())
    }

    /// What comes next is no past step: where a past moment is shown, it begins a line there, by the newest program.
    ///
    /// A moment that is sought is waited for: it is where steps go on.
    pub(super) fn leave_past(&mut self) {
        if self.seek.sought.is_some() {
            return;
        }
        let at = self.moment();
        let line = match std::mem::replace(&mut self.seek.shown, Shown::Present) {
            Shown::Present => return,
            Shown::Past { line, .. } => line,
            Shown::Nothing => {
                self.resets.next = Reset::All;
                at.line
            }
        };
        if let Some(history) = &mut self.history {
            match history.line(line).is_some_and(|line| line.is_at_end(at)) {
                true => history.resume(line),
                false => history.begin_line(Some(at)),
            }
        }
        let latest = self.latest.clone().filter(|latest| {
            self.program.as_ref().is_none_or(|program| !Arc::ptr_eq(program, latest))
        });
        if self.edit.candidate.is_none() {
            self.edit.candidate = latest;
        }
    }

    /// The scene begins anew, and so does a line.
    pub(super) fn begin_anew(&mut self) {
        self.seek.shown = Shown::Present;
        if let (Some(history), Some(program)) = (&mut self.history, &self.program) {
            history.begin_line(None);
            history.newcomers.clear();
            history.newcomers.note(program, 0, Entrance::Reset);
        }
    }

    /// The state is that of a file, and begins a line.
    pub(super) fn begin_loaded(&mut self) {
        self.seek.shown = Shown::Present;
        if let Some(history) = &mut self.history {
            history.newcomers.clear();
            history.begin_loaded(self.state.inputs.step);
        }
    }

    /// Notes a step that has been done.
    pub(super) fn note_step(
        &mut self,
        entered: &Inputs,
        copy: Option<Checkpoint>,
        laps_ms: &[f32],
    ) -> Result<(), Error> {
        let (Some(history), Some(program)) = (&mut self.history, &self.program) else {
            return Ok(());
        };
        let step_ms = laps_ms.iter().copied().map(f64::from).sum();
        history.note(program, entered, copy, step_ms)
    }

    /// A step has faulted, or was stopped: what it wrote is undone, by going to the end of the line once more. Where
    /// that cannot be had again, what follows is no function of what is known.
    pub(super) fn undo_step(&mut self, copy: Option<Checkpoint>) {
        let at = self.moment();
        let (Some(history), Some(program)) = (&mut self.history, &self.program) else { return };
        if let Some(copy) = copy {
            history.keep_end(program, copy);
        }
        let is_own = |source: Source<'_>| Arc::ptr_eq(source.program, program);
        if history.source(at).is_some_and(is_own) {
            let sought = Sought { at, is_seen: false };
            (self.seek.shown, self.seek.sought) = (Shown::Nothing, Some(sought));
        } else {
            history.begin_loaded(at.step);
        }
    }

    /// How the past is kept from now on, if it is.
    pub fn keep_past(&mut self, keeping: Keeping) {
        if let Some(history) = &mut self.history {
            history.keep(keeping);
        }
    }

    /// Forgets what a narrower budget has no room for. Not while something is under way.
    pub(super) fn forget_excess(&mut self) -> Result<(), Error> {
        match self.history.as_ref().is_some_and(|history| history.is_narrowed) {
            true => self.trim_history(),
            false => Ok(()),
        }
    }

    /// Keeps the past within its budget. Not while something is under way.
    pub(super) fn trim_history(&mut self) -> Result<(), Error> {
        match &mut self.history {
            Some(history) => history.trim(&self.stream),
            None => Ok(()),
        }
    }

    /// What is known of the past.
    pub(super) fn timeline(&self) -> Option<Timeline> {
        let history = self.history.as_ref()?;
        Some(Timeline {
            lines: history.lines().map(line::Line::told).collect(),
            shown: match self.seek.sought {
                Some(Sought { at, is_seen: true }) => at,
                Some(_) | None => self.moment(),
            },
            is_past: self.seek.shown != Shown::Present,
            sought: self.seek.sought.map(|sought| sought.at),
            bytes: history.bytes(),
            keeping: history.keeping(),
            usual: history.usual(),
            spacing: history.spacing(),
            share: history.share(),
            gap: history.gap,
        })
    }
}

impl line::Line {
    pub(super) fn is_at_end(&self, at: Moment) -> bool {
        (self.id, self.end) == (at.line, at.step)
    }

    fn told(&self) -> Line {
        let segments = self.segments();
        let mut edits: Vec<(u64, u64)> =
            segments.iter().map(|of| (of.start, of.program.generation)).collect();
        edits.dedup_by_key(|(_, generation)| *generation);
        Line {
            id: self.id,
            parent: self.parent,
            first: self.start(),
            last: self.end,
            copies: segments.iter().flat_map(|of| of.checkpoints.keys().copied()).collect(),
            edits,
            others: segments.iter().flat_map(|of| of.checksums.others()).collect(),
        }
    }
}
