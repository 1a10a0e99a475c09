//! The first NaN: after each step all resources are looked at, and the scene stops behind the one that made it.

use serde::Serialize;

use super::{Arrival, Error, Session, shown::Shown};
use crate::{
    element::Type,
    scene::{ResourceId, When},
};

/// What the session knows of NaN.
#[derive(Default)]
pub(super) struct NanWatch {
    /// Whether the scene is to stop at the first.
    pub(super) is_wanted: bool,
    /// The resources that had NaN when they were looked at last.
    had: Vec<bool>,
    pub(super) found: Option<FirstNan>,
    search: Option<Search>,
}

/// A resource that has NaN, on its way to the host and then gone through by a thread: it may be as large as the
/// device's memory.
struct Search {
    /// What will have been found, but for the place.
    found: FirstNan,
    place: Arrival<Option<(u64, String)>>,
}

/// Where NaN came up first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FirstNan {
    /// The resource.
    pub resource: String,
    /// The element, in the order of memory; the number's name in it, as `y`, empty where elements are numbers.
    pub element: u64,
    /// The number's name in it: `y`, `spin.x`; empty where elements are numbers.
    pub component: String,
    /// The step behind which it was there.
    pub step: u64,
    /// The kernels that may have written it: those of the step that take the resource to write.
    pub passes: Vec<String>,
}

impl FirstNan {
    /// It as a sentence.
    pub fn told(&self) -> String {
        let Self { resource, element, component, step, passes } = self;
        let dot = if component.is_empty() { "" } else { "." };
        let passes: Vec<String> = passes.iter().map(|pass| format!("`{pass}`")).collect();
        let by = match passes.as_slice() {
            [] => "no pass writes it".to_owned(),
            [one] => format!("pass {one} wrote it"),
            several => format!("one of the passes {} wrote it", several.join(", ")),
        };
        format!("The first NaN is {resource}[{element}]{dot}{component}, after step {step}: {by}")
    }
}

impl NanWatch {
    /// Forgets what was found, or is being looked for.
    pub(super) fn forget(&mut self) {
        (self.found, self.search) = (None, None);
    }
}

impl Session {
    /// Whether the scene stops behind the first step that makes a NaN.
    pub(super) fn pause_at_nan(&mut self, wanted: bool) {
        self.nan = NanWatch { is_wanted: wanted, ..NanWatch::default() };
        self.note_nan();
    }

    /// Whether the next step waits until the statistics of the last one are there.
    pub(super) fn waits_for_nan(&self) -> bool {
        self.nan.is_wanted && self.playback.playing && self.statistics.is_pending()
    }

    /// Notes which resources have NaN; gives the first one that had none before.
    fn note_nan(&mut self) -> Option<ResourceId> {
        let count = self.state.resources.iter().count();
        let has = |id| self.statistics(ResourceId(id)).iter().any(|of| of.nan > 0);
        let now: Vec<bool> = (0..count).map(has).collect();
        let had = std::mem::replace(&mut self.nan.had, now);
        let is_new = |id: &usize| self.nan.had[*id] && !had.get(*id).copied().unwrap_or(false);
        (0..count).find(is_new).map(ResourceId)
    }

    /// Looks at new statistics, and stops where they have a NaN that was not there before.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn look_for_nan(&mut self) -> Result<(), Error> {
        let new = self.note_nan();
        let is_present = self.seek.shown == Shown::Present;
        let Some(id) = new.filter(|_| self.nan.is_wanted && is_present) else { return Ok(()) };
        self.pause();
        self.playback.single_steps = 0;
        let Some(program) = self.program.clone() else { return Ok(()) };
        let manifest = &program.scene.manifest;
        let resource = manifest.resource(id).name.clone();
        let step = self.statistics.step();
        let when = if step == 0 { When::Reset } else { When::Step };
        let writes = |entry: &&_| program.written_by(entry).any(|written| written == id);
        let passes = manifest.entries(when).filter(writes).map(|entry| manifest.name_of(entry));
        let passes = passes.collect();
        self.complete_in_flight()?;
        let Some(of) = program.types.get(id.0).cloned() else { return Ok(()) };
        let place = match self.start_making(&resource, move |bytes| first_nan(&of, bytes)) {
            // That there is one was told by the statistics.
            Err(Error::Thread(_)) => None,
            begun => begun?,
        };
        let found = FirstNan { resource, element: 0, component: String::new(), step, passes };
        self.nan.search = place.map(|place| Search { found, place });
        Ok(())
    }

    /// Whether it is being looked for where the first NaN is.
    pub(super) fn searches_for_nan(&self) -> bool {
        self.nan.search.is_some()
    }

    /// Does the next part of that. Never waits.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn go_on_searching(&mut self) -> Result<bool, Error> {
        let Some(Search { found, place }) = self.nan.search.take_if(|of| of.place.is_here()) else {
            return Ok(false);
        };
        if let Some((element, component)) = place.wait()? {
            self.nan.found = Some(FirstNan { element, component, ..found });
        }
        Ok(true)
    }
}

/// The first element with a NaN, and the number's name in it.
fn first_nan(of: &Type, bytes: &[u8]) -> Option<(u64, String)> {
    let (parts, size) = (of.parts(), of.bytes().max(1));
    bytes.chunks_exact(size).zip(0..).find_map(|(element, index)| {
        parts.iter().find_map(|part| {
            let mut numbers = 0..part.numbers();
            let is_nan = |number: &usize| part.number(element, *number).is_some_and(f64::is_nan);
            numbers.find(is_nan).map(|number| (index, part.number_name(number)))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_told_with_what_wrote_it() {
        let found = FirstNan {
            resource: "position".into(),
            element: 17,
            component: "y".into(),
            step: 132,
            passes: vec!["move".into()],
        };
        let told = found.told();
        assert_eq!(told, "The first NaN is position[17].y, after step 132: pass `move` wrote it");
        let several =
            FirstNan { passes: vec!["a".into(), "b".into()], component: String::new(), ..found };
        assert!(
            several
                .told()
                .ends_with("position[17], after step 132: one of the passes `a`, `b` wrote it")
        );
    }
}
