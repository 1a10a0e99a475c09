//! A run once more, from its file: the same texts and inputs at the same steps, and whether the same came out.
//!
//! A [`Replay`] says what the session is to do next, and is asked again when that is done: by a command that waits for
//! it, or by a window, which does not.

use std::path::{Path, PathBuf};

use super::{Digests, Effort, Error, Phase, Run, Session, Text, Unpacked};
use crate::{
    diagnostic::{Diagnostic, has_errors},
    file,
    interrupt::Interrupt,
    scene::Overrides,
};

/// What is read of a run file at most.
const LIMIT: u64 = 1 << 30;

/// A run that is repeated.
#[derive(Debug)]
pub struct Replay {
    path: PathBuf,
    run: Run,
    files: Option<Unpacked>,
    stage: Stage,
    texts: usize,
    inputs: usize,
    digests: usize,
    /// The last step after which everything was as in the run.
    same: Option<u64>,
    parted: Option<Deviation>,
}

/// What the session has done last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It was opened with the first text.
    Opened,
    /// It has the program of the first text.
    First,
    /// It has that of a later one.
    Program,
    /// Its reset passes have run.
    Reset,
    /// It has done a step, or what comes before the first one.
    Step,
}

/// What a session is to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Let the text that it was given take over.
    Program,
    /// Go on until so many steps are done, and the reset passes that are due.
    Steps(u64),
    /// Give [`Replay::compare`] the digests of what it holds now.
    Digests,
    /// Nothing.
    End,
}

/// How a run was repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The same bits came out wherever there was something to compare with.
    Same {
        /// At so many steps.
        compared: usize,
    },
    /// Something else came out.
    Parted(Deviation),
}

/// Where what came out was no longer as it was: there is a digest of some steps only.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{resource}` is not as it was after step {step}{}", .same.map_or_else(String::new, |step| format!(" (it was after step {step})")))]
pub struct Deviation {
    /// The first step after which a difference was seen.
    pub step: u64,
    /// The last step before, after which everything was the same; `None` where none was looked at.
    pub same: Option<u64>,
    /// A resource that differs.
    pub resource: String,
}

impl Replay {
    /// The run of the file at `path`. Its own files are unpacked into a folder that is gone with it, until `interrupt`
    /// is raised.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be read; [`Error::NoRun`] with the place where it is damaged, and where its
    /// files cannot be unpacked.
    pub fn read(path: &Path, interrupt: &Interrupt) -> Result<Self, Error> {
        let text = file::read_regular_text(path, LIMIT);
        let text = text.map_err(|error| Error::of_file("read", path, error.into()))?;
        let run = Run::parse(&text).map_err(Error::NoRun)?;
        let files = run.unpack(interrupt).map_err(Error::NoRun)?;
        let (stage, path) = (Stage::Opened, path.to_owned());
        Ok(Self {
            path,
            run,
            files,
            stage,
            texts: 0,
            inputs: 0,
            digests: 0,
            same: None,
            parted: None,
        })
    }

    /// The run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The run's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the scene is compiled with.
    pub fn overrides(&self) -> Overrides {
        self.run.overrides(self.files.as_ref())
    }

    /// Where the scene's file would lie beside those that it reads: where the run has no files of its own, they are
    /// looked for beside the run's file.
    pub fn place(&self) -> PathBuf {
        let folder = match &self.files {
            Some(files) => files.place(""),
            None => self.path.parent().unwrap_or(Path::new("")).to_owned(),
        };
        folder.join(self.file_name())
    }

    /// The name of the scene's file. It comes with the run's, perhaps from a stranger: folders in it would be read as
    /// the scene's own.
    pub fn file_name(&self) -> &Path {
        Path::new(&self.run.name).file_name().unwrap_or("scene.cu".as_ref()).as_ref()
    }

    /// Says that the session was opened with the first text, whose program has done nothing yet, and compiled it in
    /// full.
    pub fn begin_with_first_text(&mut self) {
        let is_same = self.run.texts.first().is_some_and(|text| text.effort == Effort::Full);
        if is_same && self.texts == 0 {
            self.texts = 1;
        }
    }

    /// What `session`, which has done what it was told to, is to do next on the way to `step` finished steps.
    ///
    /// # Errors
    /// What the compiler says of a text that does not compile any more.
    pub fn next(&mut self, session: &mut Session, step: u64) -> Result<Next, Rejected> {
        loop {
            let stage = match self.stage {
                Stage::Opened if self.texts == 0 => {
                    self.take_text(session);
                    self.stage = Stage::First;
                    return Ok(Next::Program);
                }
                Stage::Opened => Stage::First,
                Stage::First => {
                    expect_program(session)?;
                    self.begin(session);
                    Stage::Program
                }
                Stage::Program => {
                    expect_program(session)?;
                    if self.resets() {
                        self.stage = Stage::Reset;
                        return Ok(Next::Steps(session.clock().step));
                    }
                    Stage::Step
                }
                Stage::Reset => {
                    // What entered the reset was for it alone.
                    if let Some(entered) =
                        self.inputs.checked_sub(1).and_then(|at| self.run.inputs.get(at))
                    {
                        session.enter(entered);
                    }
                    Stage::Step
                }
                Stage::Step => return self.after_step(session, step),
            };
            self.stage = stage;
        }
    }

    /// What comes when `session` has done a step.
    fn after_step(&mut self, session: &mut Session, step: u64) -> Result<Next, Rejected> {
        let done = session.clock().step;
        let is_due = self.run.texts.get(self.texts).is_some_and(|text| text.step == done);
        if is_due && (done < step || done == self.run.steps) {
            self.take_text(session);
            self.stage = Stage::Program;
            return Ok(Next::Program);
        }
        // Where a text takes over, its state was looked at in its own layout.
        if !is_due && self.wants_digests(done) {
            return Ok(Next::Digests);
        }
        if done >= step {
            return Ok(Next::End);
        }
        if let Some(entered) = self.run.inputs.get(self.inputs).filter(|of| of.step == done) {
            session.enter(entered);
            self.inputs += 1;
        }
        Ok(Next::Steps(done + 1))
    }

    /// Lets the reset of the first text begin, which is there.
    fn begin(&mut self, session: &mut Session) {
        session.reset();
        session.enter_reset(self.run.texts.first().and_then(|text| text.entered.clone()));
        // A run of an older program does not say what entered its reset: as likely as not what entered its first step.
        if let (false, Some(first)) = (self.run.knows_resets(), self.run.inputs.first()) {
            session.enter(first);
        }
    }

    /// Whether what the last text begins anew is there before the next one, as it was in the run.
    fn resets(&self) -> bool {
        let last = self.texts.checked_sub(1).and_then(|last| self.run.texts.get(last));
        last.is_some_and(|text| text.entered.is_some()) || !self.run.knows_resets()
    }

    fn take_text(&mut self, session: &mut Session) {
        let Some(Text { text, effort, entered, .. }) = self.run.texts.get(self.texts) else {
            return;
        };
        self.texts += 1;
        session.enter_reset(entered.clone());
        session.set_source_with(text.clone(), *effort);
    }

    /// Whether the run has digests of this step that are to be compared with.
    fn wants_digests(&mut self, step: u64) -> bool {
        let is_known = self.run.digests.get(self.digests).is_some_and(|of| of.step == step);
        // Once something else came out, no more need be looked at; they count as compared.
        self.digests += usize::from(is_known && self.parted.is_some());
        is_known && self.parted.is_none()
    }

    /// Compares what the session holds with the digests that the run has of this step, where it has some.
    pub fn compare(&mut self, found: &Digests) {
        let expected = self.run.digests.get(self.digests).filter(|of| of.step == found.step);
        let Some(expected) = expected else { return };
        self.digests += 1;
        match expected.first_other(found) {
            None => self.same = Some(found.step),
            Some(name) => {
                let (step, same, resource) = (found.step, self.same, name.to_owned());
                self.parted = Some(Deviation { step, same, resource });
            }
        }
    }

    /// Whether it was the same.
    pub fn outcome(&self) -> Outcome {
        match &self.parted {
            None => Outcome::Same { compared: self.digests },
            Some(deviation) => Outcome::Parted(deviation.clone()),
        }
    }
}

/// A text of the run does not compile any more, and so it cannot be repeated further.
#[derive(Debug, thiserror::Error)]
#[error("a text of the run does not compile here")]
pub struct Rejected(pub Vec<Diagnostic>);

/// That the text that the session was given has become its program.
fn expect_program(session: &Session) -> Result<(), Rejected> {
    let compile = &session.snapshot().compile;
    match compile.phase == Phase::Rejected || has_errors(&compile.diagnostics) {
        true => Err(Rejected(compile.diagnostics.clone())),
        false => Ok(()),
    }
}
