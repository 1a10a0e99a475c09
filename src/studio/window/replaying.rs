//! A run's file in the window: the run is repeated without being waited for, and its past is there to look at.

use std::{
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use super::{Studio, opening};
use crate::{
    diagnostic::Severity,
    session::{self, Arrival, Digests, Next, Outcome, Rejected, Replay, Session},
    studio::{
        background::{Background, PANICKED, Progress},
        document::Document,
    },
};

/// So long a run goes on between two pictures.
const BUDGET: Duration = Duration::from_millis(10);
/// How often it is looked whether a step has ended.
const LOOK: Duration = Duration::from_micros(100);

/// A run's file that is being read, and its files unpacked.
pub(super) struct Opening {
    path: PathBuf,
    reading: Background<Result<Replay, session::Error>>,
}

/// A run that is repeated, or was: the files that its texts include are gone with it.
pub(super) struct Replaying {
    replay: Replay,
    /// What the session holds, as the run is about to be compared with it.
    digests: Option<Arrival<Digests>>,
    is_over: bool,
}

impl Replaying {
    /// A run whose session has been opened.
    fn begin(replay: Replay) -> Self {
        Self { replay, digests: None, is_over: false }
    }

    /// A run that was repeated before, and whose files are wanted.
    pub(super) fn over(replay: Replay) -> Self {
        Self { is_over: true, ..Self::begin(replay) }
    }

    /// The run.
    pub(super) fn replay(&self) -> &Replay {
        &self.replay
    }

    /// Ends it, and removes its files where nobody waits for that.
    pub(super) fn discard(self) {
        // Without a thread the files go here.
        _ = thread::Builder::new().name("run's files".into()).spawn(move || drop(self));
    }
}

impl Studio {
    /// Repeats the run of a file once it has been read, as a document that has no file yet.
    pub(super) fn open_run(&mut self, path: &Path) {
        let own = path.to_owned();
        let read = move |interrupt: &_| Replay::read(&own, interrupt);
        match Background::begin("run's file", opening::wake(&self.proxy), read) {
            Ok(reading) => self.opening = Some(Opening { path: path.to_owned(), reading }),
            Err(error) => self.tell_unopened(path, &error.to_string()),
        }
    }

    /// Goes on with a run's file that has been read.
    pub(super) fn follow_opening(&mut self) {
        let Some(opening) = &self.opening else { return };
        let read = match opening.reading.progress() {
            Progress::Pending => return,
            Progress::Done(read) => read.map_err(|error| error.to_string()),
            Progress::Failed => Err(PANICKED.to_owned()),
        };
        let Some(Opening { path, .. }) = self.opening.take() else { return };
        match read {
            Ok(replay) => self.repeat(replay),
            Err(error) => self.tell_unopened(&path, &error),
        }
    }

    fn tell_unopened(&mut self, path: &Path, why: &str) {
        let text = format!("{} cannot be opened: {why}", path.display());
        self.workspace.tell(Severity::Error, text);
    }

    fn repeat(&mut self, replay: Replay) {
        let text = replay.run().texts.last().map_or("", |text| &text.text);
        if text.len() as u64 > Document::LARGEST {
            let (path, most) = (replay.path().display(), Document::LARGEST >> 20);
            let text =
                format!("{path} is not opened: the text of its scene is longer than {most} MiB");
            return self.workspace.tell(Severity::Error, text);
        }
        // What was typed before is the open text's.
        self.take_in();
        self.workspace.open(Document::new(replay.file_name().to_string_lossy(), None, text));
        self.leave_run();
        self.show_document();
        self.clear_session();
        let session =
            opening::new_replay(&replay, &self.options, &self.context, &self.device, &self.proxy);
        match session {
            Ok(session) => {
                self.session = Some(session);
                self.replaying = Some(Replaying::begin(replay));
            }
            Err(error) => self.end_session(&error),
        }
    }

    /// Whether a run is being repeated.
    pub(super) fn is_replaying(&self) -> bool {
        self.replaying.as_ref().is_some_and(|replaying| !replaying.is_over)
    }

    /// Repeats no further: somebody wants something else of the scene.
    pub(super) fn stop_replaying(&mut self) {
        if !self.is_replaying() {
            return;
        }
        let step = self.session.as_ref().map_or(0, |session| session.clock().step);
        if let Some(Replaying { replay, is_over, .. }) = &mut self.replaying {
            *is_over = true;
            let (path, steps) = (replay.path().display(), replay.run().steps);
            let text = format!("{path} was repeated up to step {step} of {steps}.");
            self.workspace.tell(Severity::Note, text);
        }
        self.note_repeated();
    }

    /// Repeats a part of the run, if one is being repeated.
    pub(super) fn go_on_replaying(&mut self) {
        self.replay_for_a_while();
        self.note_repeated();
    }

    /// Lets the panels know how far the run is.
    fn note_repeated(&mut self) {
        let going = self.replaying.as_ref().filter(|replaying| !replaying.is_over);
        let step = self.session.as_ref().map_or(0, |session| session.clock().step);
        let repeated = going.map(|replaying| [step, replaying.replay.run().steps]);
        self.course.note_repeated(repeated);
    }

    fn replay_for_a_while(&mut self) {
        let start = Instant::now();
        while self.is_replaying() && start.elapsed() < BUDGET {
            let Some(session) = &mut self.session else { return self.stop_replaying() };
            if session.fault().is_some() {
                return self.stop_replaying();
            }
            let Some(Replaying { replay, digests, .. }) = &mut self.replaying else { return };
            let is_awaited = digests.as_ref().is_some_and(|digests| !digests.is_here());
            if is_awaited || !session.is_idle() {
                thread::sleep(LOOK);
                self.update_session();
                continue;
            }
            let gone_on = match digests.take() {
                Some(digests) => digests.wait().map(|found| replay.compare(&found)),
                None => match replay.next(session, replay.run().steps) {
                    Ok(Next::Program) => Ok(()),
                    Ok(Next::Steps(step)) => {
                        step_towards(session, step);
                        Ok(())
                    }
                    Ok(Next::Digests) => session.start_digests().map(|begun| *digests = begun),
                    Ok(Next::End) => return self.tell_outcome(),
                    Err(Rejected(_)) => return self.stop_replaying(),
                },
            };
            if let Err(error) = gone_on {
                self.stop_replaying();
                self.end_session(&error);
            }
        }
    }

    /// Says whether the run was the same.
    fn tell_outcome(&mut self) {
        let Some(Replaying { replay, is_over, .. }) = &mut self.replaying else { return };
        *is_over = true;
        let (path, run) = (replay.path().display(), replay.run());
        let (severity, text) = match replay.outcome() {
            Outcome::Same { compared } => {
                let steps = run.steps;
                let same = format!("the same bits at all {compared} steps that were compared");
                (Severity::Note, format!("{path} was repeated: {steps} steps, {same}."))
            }
            Outcome::Parted(deviation) => {
                let text =
                    format!("{path} was repeated, but {deviation}; it ran on {}.", run.device);
                (Severity::Warning, text)
            }
        };
        self.workspace.tell(severity, text);
    }
}

/// Asks for a step, where it is not one that reset passes alone make.
fn step_towards(session: &mut Session, step: u64) {
    if session.clock().step < step {
        session.step_once();
    }
}
