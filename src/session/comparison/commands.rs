//! What a session does for its comparison.

use std::{sync::Arc, thread, time::Duration};

use super::{Comparison, Variant, VariantText, companion::Companion, opening::Wanted};
use crate::session::{Effort, Error, Reset, Session, made::Made, source::Source, work::Work};

/// How often somebody who waits for a comparison looks whether he should.
const LOOK: Duration = Duration::from_micros(200);

impl Session {
    /// Lets a variant of what runs, B, do the same steps on a copy of the state, and compares both: see
    /// [`Snapshot::comparison`](crate::session::Snapshot::comparison). A comparison before ends. Where B's text is not
    /// known any more, the comparison says so.
    pub fn start_comparison(&mut self, variant: Variant) {
        let source = self.source_of(&variant);
        self.stop_comparison();
        self.variants.wanted = Some(Wanted::new(variant, source));
    }

    /// Ends the comparison, if there is one.
    pub fn stop_comparison(&mut self) {
        self.variants.wanted = None;
        if let Some(companion) = &mut self.variants.companion {
            companion.end();
        }
    }

    /// Waits until both have the same state, and what they hold is compared, where that can be.
    ///
    /// # Errors
    /// As [`Session::update`].
    pub fn finish_comparing(&mut self) -> Result<(), Error> {
        while self.variants.companion.is_some() || self.variants.wanted.is_some() {
            while let Some(result) = self.worker.poll() {
                self.apply_result(result)?;
            }
            self.complete_in_flight()?;
            self.adopt_candidate()?;
            self.finish_migrating()?;
            self.go_on_comparing()?;
            if !self.is_comparing() {
                break;
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }

    /// How it goes; see [`Snapshot`](crate::session::Snapshot).
    pub(in crate::session) fn comparison(&self) -> Option<Comparison> {
        let companion =
            self.variants.companion.as_ref().filter(|companion| !companion.is_ending)?;
        Some(companion.snapshot(self))
    }

    /// Whether there is something to look at soon for the comparison's sake.
    pub(in crate::session) fn is_comparing(&self) -> bool {
        let is_settled =
            self.seek.sought.is_none() && self.fault.is_none() && self.program.is_some();
        let is_settled = is_settled && self.resets.next == Reset::None;
        self.variants.wanted.is_some()
            || self
                .variants
                .companion
                .as_ref()
                .is_some_and(|companion| companion.is_busy(is_settled))
    }

    /// What B is made of; the error is a sentence.
    fn source_of(&self, variant: &Variant) -> Result<Source, String> {
        let made = match &variant.text {
            VariantText::Given(text) => return Ok(Source::Text(text.as_str().into())),
            VariantText::Running => self.program.as_ref().map(|program| Arc::new(program.made())),
            VariantText::Before => self.variants.before.clone(),
            VariantText::Version(generation) => self.version(*generation),
        };
        let made = made.ok_or_else(|| absent(&variant.text))?;
        // What ran is what is compared. A draft would have other times, and was not what ran for long.
        if variant.is_compiled_as_a() && made.effort == Effort::Full {
            return Ok(Source::Made(made));
        }
        match made.changed_file() {
            None => Ok(Source::Text(made.scene.source.clone())),
            Some(file) => Err(format!(
                "{} was changed since this text ran, and what it said then is not kept",
                file.display()
            )),
        }
    }

    /// What ran as the version of this number, in full rather than as a draft.
    fn version(&self, generation: u64) -> Option<Arc<Made>> {
        let lines = self.history.as_ref()?.lines();
        let programs = lines.flat_map(|line| line.segments()).map(|segment| &segment.program);
        let own = programs.filter(|program| program.generation == generation);
        let best = own.max_by_key(|program| program.effort == Effort::Full)?;
        Some(Arc::new(best.made()))
    }

    /// Does the next part of the comparison, without waiting. Returns whether there is something new to show.
    pub(in crate::session) fn go_on_comparing(&mut self) -> Result<bool, Error> {
        let mut has_changed = false;
        if let Some(companion) = &mut self.variants.companion
            && companion.is_ending
            && self.in_flight.is_none()
            && companion.has_come_to_rest()?
            && let Some(companion) = self.variants.companion.take()
        {
            companion.leave();
            self.picture += 1;
            has_changed = true;
        }
        if self.variants.companion.is_none()
            && let Some(wanted) = self.variants.wanted.take_if(|wanted| wanted.is_ready())
        {
            self.variants.companion = Some(Box::new(Companion::new(self, wanted)?));
            has_changed = true;
        }
        let Some(mut companion) = self.variants.companion.take() else { return Ok(has_changed) };
        let went_on = match companion.is_ending {
            true => Ok(false),
            false => companion.go_on(self),
        };
        self.variants.companion = Some(companion);
        Ok(went_on? || has_changed)
    }

    /// Puts `work` on the stream, and on B's where there is one that does the same.
    pub(in crate::session) fn launch_on_both(&mut self, work: Work) -> Result<(), Error> {
        match self.variants.companion.take() {
            Some(mut companion) if !companion.is_ending => {
                let launched = companion.launch(self, work);
                self.variants.companion = Some(companion);
                launched
            }
            ending => {
                self.variants.companion = ending;
                self.launch(work)
            }
        }
    }

    /// Takes over what B did beside the work that has ended here.
    pub(in crate::session) fn complete_other(&mut self, is_step: bool) -> Result<(), Error> {
        let Some(mut companion) = self.variants.companion.take() else { return Ok(()) };
        let completed = companion.complete(self, is_step);
        self.variants.companion = Some(companion);
        completed
    }

    /// The state is another one than a step makes of it.
    pub(in crate::session) fn part(&mut self) {
        if let Some(companion) = &mut self.variants.companion {
            companion.part();
        }
    }
}

/// Why there is no such text.
fn absent(text: &VariantText) -> String {
    match text {
        VariantText::Running | VariantText::Given(_) => "nothing runs yet".to_owned(),
        VariantText::Before => "nothing ran before: the text was not edited yet".to_owned(),
        VariantText::Version(version) => {
            format!("version {version} lies further back than the past is kept")
        }
    }
}
