//! Where a scene is to go by itself: round and round between two steps, or as it went before.
//!
//! Enters: where the scene stands. Leaves: commands that lead it. It knows no session.

use crate::session::{Command, Moment, Snapshot};

/// Where the scene is to go.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    looped: Option<Loop>,
    /// The step at which a run stands that is repeated, and how many it has.
    repeated: Option<[u64; 2]>,
}

/// A way round.
#[derive(Clone, Debug, PartialEq)]
struct Loop {
    ends: [u64; 2],
    /// The moment of the first step, once it is known: each round begins with the same state.
    start: Option<Moment>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// On the way to the first step.
    Coming,
    /// On the way to the last one.
    Going,
}

impl Course {
    /// Lets the scene go round between two steps, or no more. Gives what begins it.
    pub fn set(&mut self, ends: Option<[u64; 2]>, snapshot: &Snapshot) -> Vec<Command> {
        self.looped = ends.map(|ends| Loop { ends, start: None, stage: Stage::Coming });
        let Some([first, last]) = ends else { return Vec::new() };
        let step = snapshot.clock.step;
        match (step < first, step < last) {
            (true, _) => vec![Command::RunTo(first)],
            // It goes on to the last step first.
            (false, true) => {
                self.go();
                vec![Command::Play]
            }
            (false, false) => self.go_back(snapshot),
        }
    }

    /// The steps between which it goes round.
    pub fn ends(&self) -> Option<[u64; 2]> {
        self.looped.as_ref().map(|of| of.ends)
    }

    /// Notes that a run is repeated, and how far, or that none is.
    pub fn note_repeated(&mut self, repeated: Option<[u64; 2]>) {
        self.repeated = repeated;
    }

    /// The step at which a run stands that is repeated, and how many it has.
    pub fn repeated(&self) -> Option<[u64; 2]> {
        self.repeated
    }

    /// Leaves it: somebody wants something else of the scene.
    pub fn leave(&mut self) {
        self.looped = None;
    }

    /// What leads on from where the scene stands.
    pub fn next(&mut self, snapshot: &Snapshot) -> Vec<Command> {
        let Some(looped) = &mut self.looped else { return Vec::new() };
        if snapshot.fault.is_some() || snapshot.first_nan.is_some() {
            self.leave();
            return Vec::new();
        }
        let [first, last] = looped.ends;
        let step = snapshot.clock.step;
        let timeline = snapshot.timeline.as_ref();
        let is_seeking = timeline.is_some_and(|timeline| timeline.sought.is_some());
        match looped.stage {
            Stage::Coming if step == first && !is_seeking && snapshot.steps_left == 0 => {
                looped.start = looped.start.or(timeline.map(|timeline| timeline.shown));
                self.go();
                vec![Command::Play]
            }
            Stage::Going if step >= last => self.go_back(snapshot),
            // On the way to the last step somebody may pause, and play again.
            Stage::Coming | Stage::Going => Vec::new(),
        }
    }

    fn go(&mut self) {
        if let Some(looped) = &mut self.looped {
            looped.stage = Stage::Going;
        }
    }

    fn go_back(&mut self, snapshot: &Snapshot) -> Vec<Command> {
        let Some(looped) = &mut self.looped else { return Vec::new() };
        looped.stage = Stage::Coming;
        let first = looped.ends[0];
        let timeline = snapshot.timeline.as_ref();
        let is_known = |moment: &Moment| {
            let mut lines = timeline.into_iter().flat_map(|timeline| &timeline.lines);
            lines.any(|line| line.id == moment.line && (line.first..=line.last).contains(&first))
        };
        let shown = timeline.map(|timeline| Moment { step: first, ..timeline.shown });
        match looped.start.or(shown).filter(is_known) {
            Some(start) => {
                looped.start = Some(start);
                vec![Command::Seek(start)]
            }
            // Its past is not kept.
            None => {
                looped.start = None;
                vec![Command::Reset, Command::RunTo(first)]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        session::{Line, Timeline},
        studio::test_screen::snapshot,
    };

    fn at(step: u64) -> Snapshot {
        let mut snapshot = snapshot();
        snapshot.clock.step = step;
        let line = Line { id: 3, last: 100, ..Line::default() };
        let shown = Moment { line: 3, step };
        snapshot.timeline = Some(Timeline { lines: vec![line], shown, ..Timeline::default() });
        snapshot
    }

    const FIRST: Moment = Moment { line: 3, step: 20 };

    #[test]
    fn a_scene_goes_round_between_two_steps() {
        let mut course = Course::default();
        assert_eq!(course.set(Some([20, 40]), &at(5)), [Command::RunTo(20)]);
        assert_eq!(course.next(&at(19)), []);
        for _ in 0..2 {
            assert_eq!(course.next(&at(20)), [Command::Play]);
            assert_eq!(course.next(&at(30)), []);
            assert_eq!(course.next(&at(40)), [Command::Seek(FIRST)]);
            let mut seeking = at(40);
            seeking.timeline.as_mut().unwrap().sought = Some(FIRST);
            assert_eq!(course.next(&seeking), []);
        }
        course.set(None, &at(20));
        assert_eq!((course.next(&at(50)), course.ends()), (vec![], None));
    }

    #[test]
    fn it_begins_from_wherever_the_scene_is() {
        let mut course = Course::default();
        assert_eq!(course.set(Some([20, 40]), &at(30)), [Command::Play]);
        assert_eq!(course.next(&at(41)), [Command::Seek(FIRST)]);
        assert_eq!(course.set(Some([20, 40]), &at(90)), [Command::Seek(FIRST)]);
        let mut without_past = at(90);
        without_past.timeline = None;
        let anew = [Command::Reset, Command::RunTo(20)];
        assert_eq!(course.set(Some([20, 40]), &without_past), anew);
    }

    #[test]
    fn a_fault_ends_it() {
        let mut course = Course::default();
        course.set(Some([0, 40]), &at(0));
        let mut faulted = at(0);
        faulted.fault = Some(crate::diagnostic::Diagnostic::usage("a.cu", "it broke"));
        assert_eq!(course.next(&faulted), []);
        assert_eq!(course.ends(), None);
    }
}
