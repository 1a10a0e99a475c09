//! The thread that turns source text into a [`Program`], so that neither drawing nor a running step waits.

use std::{
    panic,
    path::PathBuf,
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use super::{
    Error,
    program::{Builder, Effort, Program},
};
use crate::{
    compile::Compiler,
    device::Device,
    diagnostic::Diagnostic,
    scene::{Overrides, Scene},
};

/// How long a draft has the processor for itself, to be stepped and drawn, before it is compiled in full.
const FIRST_LOOK: Duration = Duration::from_millis(250);

/// What every source of a session is compiled with.
#[derive(Clone)]
pub(super) struct Recipe {
    pub(super) name: String,
    pub(super) path: Option<PathBuf>,
    pub(super) overrides: Overrides,
    pub(super) device: Device,
    pub(super) compiler: Compiler,
    /// Whether statistics are taken all the time.
    pub(super) measures: bool,
}

/// What became of one source.
pub(super) struct Verdict {
    pub(super) generation: u64,
    /// A draft of the same text came before, with the same remarks.
    pub(super) refined: bool,
    pub(super) elapsed: Duration,
    pub(super) outcome: Result<Built, Error>,
}

/// Either a program, or the reasons why there is none.
pub(super) struct Built {
    pub(super) program: Option<Program>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) log: Arc<str>,
    pub(super) cached: bool,
    /// The files beside the scene that it includes, or would if they were there; `None` where that is not known.
    pub(super) included: Option<Vec<PathBuf>>,
}

impl Built {
    /// What became of a source that did not come to the compiler.
    fn rejected(diagnostics: Vec<Diagnostic>) -> Self {
        Self { program: None, diagnostics, log: Arc::from(""), cached: false, included: None }
    }
}

struct Job {
    generation: u64,
    text: String,
}

/// Owns the thread; dropping it waits for the compilation that is under way.
pub(super) struct Worker {
    jobs: Option<mpsc::Sender<Job>>,
    verdicts: mpsc::Receiver<Verdict>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Worker {
    /// `wake` is called on the worker's thread whenever there is a new verdict.
    pub(super) fn start(recipe: Recipe, wake: Box<dyn Fn() + Send>) -> Result<Self, Error> {
        let (jobs, incoming) = mpsc::channel::<Job>();
        let (outgoing, verdicts) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("compile".to_owned())
            .spawn(move || work(&recipe, &incoming, &outgoing, &*wake))
            .map_err(Error::Thread)?;
        Ok(Self { jobs: Some(jobs), verdicts, thread: Some(thread) })
    }

    /// Queues a text; a later generation replaces an earlier one that was not begun.
    pub(super) fn submit(&self, generation: u64, text: String) {
        if let Some(jobs) = &self.jobs {
            // The thread ends only when this sender is dropped, so there is always a receiver.
            let _ = jobs.send(Job { generation, text });
        }
    }

    /// A verdict that is there, if any.
    pub(super) fn poll(&self) -> Option<Verdict> {
        self.verdicts.try_recv().ok()
    }

    /// Waits for the next verdict, at most so long.
    ///
    /// # Errors
    /// [`Error::WorkerLost`] when the thread has died.
    pub(super) fn wait(&self, moment: Duration) -> Result<Option<Verdict>, Error> {
        match self.verdicts.recv_timeout(moment) {
            Ok(verdict) => Ok(Some(verdict)),
            Err(mpsc::RecvTimeoutError::Timeout) => Ok(None),
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(Error::WorkerLost),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the compile thread panicked");
        }
    }
}

/// What the thread does until nobody is there to give it texts or to take its verdicts.
fn work(
    recipe: &Recipe,
    incoming: &mpsc::Receiver<Job>,
    outgoing: &mpsc::Sender<Verdict>,
    wake: &dyn Fn(),
) {
    let mut builder = Builder::new(recipe.device.clone(), recipe.compiler.clone(), recipe.measures);
    let mut drafts = None;
    let mut next = incoming.recv().ok();
    while let Some(job) = next.take() {
        // Whoever types fast has left older texts behind: only the newest one matters.
        let job = incoming.try_iter().last().unwrap_or(job);
        // The first text of a session is compiled once, so that a run without a window is the same each time.
        let drafts = job.generation > 1 && *drafts.get_or_insert_with(|| builder.drafts());
        let mut send = |effort, refined| {
            let start = Instant::now();
            let outcome = build_or_say(&mut builder, recipe, &job.text, effort);
            let runs = outcome.as_ref().is_ok_and(|built| built.program.is_some());
            let (generation, elapsed) = (job.generation, start.elapsed());
            let sent = outgoing.send(Verdict { generation, refined, elapsed, outcome });
            wake();
            runs && sent.is_ok()
        };
        if !drafts {
            send(Effort::Full, false);
        } else if send(Effort::Draft, false) {
            match incoming.recv_timeout(FIRST_LOOK) {
                Ok(newer) => next = Some(newer),
                Err(mpsc::RecvTimeoutError::Timeout) => _ = send(Effort::Full, true),
                Err(mpsc::RecvTimeoutError::Disconnected) => return,
            }
        }
        next = next.or_else(|| incoming.recv().ok());
    }
}

/// [`build`], with a defect of ours as a remark about the source: it must not take the session with it.
fn build_or_say(
    builder: &mut Builder,
    recipe: &Recipe,
    text: &str,
    effort: Effort,
) -> Result<Built, Error> {
    let attempt =
        panic::catch_unwind(panic::AssertUnwindSafe(|| build(builder, recipe, text, effort)));
    attempt.unwrap_or_else(|_| {
        let text = "warpaint itself failed on this source; please report it with the file";
        Ok(Built::rejected(vec![Diagnostic::error(&recipe.name, text)]))
    })
}

fn build(
    builder: &mut Builder,
    recipe: &Recipe,
    text: &str,
    effort: Effort,
) -> Result<Built, Error> {
    let mut scene = match Scene::parse(&recipe.name, text, &recipe.overrides) {
        Ok(scene) => scene,
        Err(diagnostics) => return Ok(Built::rejected(diagnostics)),
    };
    scene.path.clone_from(&recipe.path);
    builder.build(scene, effort)
}
