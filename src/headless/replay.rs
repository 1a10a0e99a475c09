//! A run once more, step by step.

use std::path::Path;

use indicatif::ProgressBar;

use super::{Error, Result, SceneSource, run::run_to};
use crate::{
    diagnostic::has_errors,
    interrupt::Interrupt,
    session::{self, Next, Outcome, Rejected, Replay, Run, Session},
};

/// The run of the file at `path`; see [`Replay::read`].
///
/// # Errors
/// [`Error::File`] where it cannot be read, [`Error::Usage`] with the place where it is damaged, [`Error::Stopped`].
pub fn read(path: &Path, interrupt: &Interrupt) -> Result<Replay> {
    Replay::read(path, interrupt).map_err(|error| {
        if interrupt.is_raised() {
            return Error::Stopped;
        }
        match error {
            session::Error::NoRun(problem) => {
                Error::Usage(format!("{}: {problem}", path.display()))
            }
            other => other.into(),
        }
    })
}

/// The scene that a run begins with.
pub fn scene(replay: &Replay) -> SceneSource {
    source(replay, replay.run().texts.first())
}

/// The one that it ends with.
pub(super) fn end(replay: &Replay) -> Option<SceneSource> {
    replay.run().texts.last().map(|text| source(replay, Some(text)))
}

fn source(replay: &Replay, text: Option<&session::Text>) -> SceneSource {
    let text = text.map_or("", |text| &text.text).to_owned();
    SceneSource { name: replay.run().name.clone(), path: Some(replay.place()), text }
}

/// Goes on until `step` steps have been done.
///
/// # Errors
/// [`Error::Rejected`] for a text that does not compile any more; those of the session.
pub(super) fn replay_to(
    replay: &mut Replay,
    session: &mut Session,
    step: u64,
    bar: &ProgressBar,
) -> Result<()> {
    loop {
        match replay.next(session, step).map_err(|Rejected(remarks)| Error::Rejected(remarks))? {
            Next::Program => {
                let runs = session.wait_for_program()?;
                let remarks = session.snapshot().compile.diagnostics;
                if !runs || has_errors(&remarks) {
                    return Err(Error::Rejected(remarks));
                }
            }
            Next::Steps(step) => run_to(session, step, bar)?,
            Next::Digests => replay.compare(&session.digests()?),
            Next::End => return Ok(()),
        }
    }
}

/// Whether it was the same, in words.
///
/// # Errors
/// [`Error::Parted`] where it was not.
pub fn outcome(replay: &Replay) -> Result<String> {
    match replay.outcome() {
        Outcome::Same { compared } => {
            let steps = replay.run().steps;
            Ok(format!("{steps} steps, the same bits at all {compared} steps that were compared"))
        }
        Outcome::Parted(deviation) => {
            let Run { device, driver, .. } = replay.run();
            let driver =
                driver.as_ref().map(|version| format!(", with a driver for CUDA {version}"));
            let device = format!("{device}{}", driver.unwrap_or_default());
            Err(Error::Parted { deviation, device })
        }
    }
}
