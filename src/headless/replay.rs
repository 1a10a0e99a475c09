//! A run once more, from its file: the same texts and inputs at the same steps, and whether the same came out.

use std::path::{Path, PathBuf};

use indicatif::ProgressBar;

use super::{Error, Result, SceneSource, run::run_to};
use crate::{
    diagnostic::has_errors,
    file,
    interrupt::Interrupt,
    scene::Overrides,
    session::{Effort, Run, Session, Text, Unpacked},
};

/// What is read of a run file at most.
const LIMIT: u64 = 1 << 30;

/// A run that is repeated.
#[derive(Debug)]
pub struct Replay {
    path: PathBuf,
    run: Run,
    files: Option<Unpacked>,
    texts: usize,
    inputs: usize,
    digests: usize,
    /// The first step after which a resource was not as in the run, and the resource.
    parted: Option<(u64, String)>,
}

impl Replay {
    /// The run of the file at `path`. Its own files are unpacked into a folder that is gone with it, until `interrupt`
    /// is raised.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be read, [`Error::Usage`] with the place where it is damaged,
    /// [`Error::Stopped`].
    pub fn read(path: &Path, interrupt: &Interrupt) -> Result<Self> {
        let text = file::read_regular_text(path, LIMIT).map_err(|source| Error::File {
            action: "read",
            path: path.to_owned(),
            source,
        })?;
        let damaged = |problem| Error::Usage(format!("{}: {problem}", path.display()));
        let run = Run::parse(&text).map_err(damaged)?;
        let files = run.unpack(interrupt).map_err(|problem| match interrupt.is_raised() {
            true => Error::Stopped,
            false => damaged(problem),
        })?;
        // The session begins with the first text, compiled in full.
        let texts = usize::from(run.texts.first().is_some_and(|text| text.effort == Effort::Full));
        Ok(Self { path: path.to_owned(), run, files, texts, inputs: 0, digests: 0, parted: None })
    }

    /// The run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// What the scene is compiled with.
    pub fn overrides(&self) -> Overrides {
        self.run.overrides(self.files.as_ref())
    }

    /// The run's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The scene that it begins with. Where the run has no files of its own, those that it reads are looked for beside
    /// the run's file.
    pub fn scene(&self) -> SceneSource {
        self.source(self.run.texts.first())
    }

    /// The scene that it ends with.
    pub(super) fn end(&self) -> Option<SceneSource> {
        self.run.texts.last().map(|text| self.source(Some(text)))
    }

    fn source(&self, text: Option<&Text>) -> SceneSource {
        let folder = match &self.files {
            Some(files) => files.place(""),
            None => self.path.parent().unwrap_or(Path::new("")).to_owned(),
        };
        let text = text.map_or("", |text| &text.text).to_owned();
        // The name comes with the file, perhaps from a stranger: folders in it would be read as the scene's own.
        let name = Path::new(&self.run.name).file_name().unwrap_or("scene.cu".as_ref());
        SceneSource { name: self.run.name.clone(), path: Some(folder.join(name)), text }
    }

    /// Goes on until `step` steps have been done.
    ///
    /// # Errors
    /// [`Error::Rejected`] for a text that does not compile any more; those of the session.
    pub(super) fn run_to(
        &mut self,
        session: &mut Session,
        step: u64,
        bar: &ProgressBar,
    ) -> Result<()> {
        // The first text does the reset; where it was compiled in full, the session has begun with it.
        match self.texts {
            0 => self.take_text(session)?,
            1 => {
                let first = self.run.texts.first();
                session.enter_reset(first.and_then(|text| text.entered.clone()));
            }
            2.. => {}
        }
        // A run of an older program does not say what entered its reset: as likely as not what entered its first step.
        if let (false, Some(first)) = (self.run.knows_resets(), self.run.inputs.first()) {
            session.enter(first);
        }
        self.end_text(session, 0, bar)?;
        while session.clock().step < step {
            let done = session.clock().step;
            self.take_texts(session, done, bar)?;
            // Where a text took over, its state was looked at in its own layout.
            self.compare(session)?;
            if let Some(entered) = self.run.inputs.get(self.inputs).filter(|of| of.step == done) {
                session.enter(entered);
                self.inputs += 1;
            }
            run_to(session, done + 1, bar)?;
        }
        if step == self.run.steps {
            self.take_texts(session, step, bar)?;
        }
        let next = self.run.texts.get(self.texts);
        match next.is_some_and(|text| text.step == session.clock().step) {
            true => Ok(()),
            false => self.compare(session),
        }
    }

    /// Lets the texts take over that did after `step` steps: all of them, for each may have changed the state.
    fn take_texts(&mut self, session: &mut Session, step: u64, bar: &ProgressBar) -> Result<()> {
        while self.run.texts.get(self.texts).is_some_and(|text| text.step == step) {
            self.take_text(session)?;
            self.end_text(session, step, bar)?;
        }
        Ok(())
    }

    /// Lets what the last text begins anew be there before the next one, as it was in the run.
    fn end_text(&self, session: &mut Session, step: u64, bar: &ProgressBar) -> Result<()> {
        let last = self.texts.checked_sub(1).and_then(|last| self.run.texts.get(last));
        let has_reset = last.is_some_and(|text| text.entered.is_some());
        if !has_reset && self.run.knows_resets() {
            return Ok(());
        }
        run_to(session, step, bar)?;
        // What entered the reset was for it alone.
        if let Some(entered) = self.inputs.checked_sub(1).and_then(|at| self.run.inputs.get(at)) {
            session.enter(entered);
        }
        Ok(())
    }

    fn take_text(&mut self, session: &mut Session) -> Result<()> {
        let Some(text) = self.run.texts.get(self.texts) else { return Ok(()) };
        self.texts += 1;
        session.enter_reset(text.entered.clone());
        session.set_source_with(text.text.clone(), text.effort);
        let runs = session.wait_for_program()?;
        let remarks = session.snapshot().compile.diagnostics;
        if !runs || has_errors(&remarks) {
            return Err(Error::Rejected(remarks));
        }
        Ok(())
    }

    /// Compares with the digests of the run, where it has some of this step.
    fn compare(&mut self, session: &mut Session) -> Result<()> {
        let step = session.clock().step;
        let Some(expected) = self.run.digests.get(self.digests).filter(|of| of.step == step) else {
            return Ok(());
        };
        self.digests += 1;
        if self.parted.is_none() {
            let found = session.digests()?;
            self.parted = expected.first_other(&found).map(|name| (step, name.to_owned()));
        }
        Ok(())
    }

    /// Whether it was the same, in words.
    ///
    /// # Errors
    /// [`Error::Parted`] where it was not.
    pub fn outcome(&self) -> Result<String> {
        let (steps, count) = (self.run.steps, self.digests);
        match &self.parted {
            None => {
                Ok(format!("{steps} steps, the same bits at all {count} steps that were compared"))
            }
            Some((step, resource)) => Err(Error::Parted {
                step: *step,
                resource: resource.clone(),
                device: self.run.device.clone(),
            }),
        }
    }
}
