//! The thread that turns source text into a [`Program`](super::program::Program), so that neither drawing nor a running
//! step waits.

use std::{
    panic,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use super::{
    Error,
    builder::{Builder, Built, OwnKernels},
    effort::Effort,
    examine,
    made::Made,
    source::Source,
};
use crate::{
    compile::{self, Cancel, Compiler},
    device::Device,
    diagnostic::Diagnostic,
    scene::{Overrides, Scene},
};

/// How long a draft has the processor for itself, to be stepped and drawn, before it is compiled in full.
const FIRST_LOOK: Duration = Duration::from_millis(250);

/// How long a compilation may go on when a newer text has come. One that is nearly done is let: its process is the
/// quickest for the next text, with all that it has loaded and precompiled, and a new one needs a tenth of a second
/// to start and may have to precompile headers again, which takes seconds.
const GRACE: Duration = Duration::from_secs(2);

/// How long the end of a session waits for its thread; a compilation that is cancelled ends sooner.
const FAREWELL: Duration = Duration::from_millis(300);

/// What every source of a session is compiled with.
#[derive(Clone)]
pub(super) struct Recipe {
    pub(super) name: String,
    pub(super) path: Option<PathBuf>,
    pub(super) overrides: Overrides,
    pub(super) device: Device,
    pub(super) compiler: Compiler,
    pub(super) own: OwnKernels,
    /// Whether kernels of scenes are guarded on a GPU.
    pub(super) guarded: bool,
}

/// What became of one source.
pub(super) struct CompileResult {
    pub(super) generation: u64,
    /// A draft of the same text came before, with the same remarks.
    pub(super) refined: bool,
    pub(super) elapsed: Duration,
    pub(super) outcome: Result<Built, Error>,
}

/// What a program is to be made of.
pub(super) struct Job {
    pub(super) generation: u64,
    pub(super) source: Source,
    /// Whether it may include files from anywhere.
    pub(super) trusted: bool,
    /// `None`: as a draft first, where that is of use, and then in full.
    pub(super) effort: Option<Effort>,
}

/// Whether the thread works on a text, and what ends that.
#[derive(Default)]
struct Current {
    cancel: Cancel,
    busy: Mutex<bool>,
    /// Whether what it has compiled is being loaded.
    loading: Arc<AtomicBool>,
}

impl Current {
    fn busy(&self) -> MutexGuard<'_, bool> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to work on what `choose` takes; what comes after it is newer.
    fn begin<T>(&self, choose: impl FnOnce() -> T) -> T {
        let mut busy = self.busy();
        *busy = true;
        self.cancel.forget_time();
        choose()
    }

    fn end(&self) {
        *self.busy() = false;
    }
}

/// Owns the thread; dropping it ends the compilation that is under way, and does not wait for a translation.
pub(super) struct Worker {
    current: Arc<Current>,
    jobs: Option<mpsc::Sender<Job>>,
    results: mpsc::Receiver<CompileResult>,
    thread: Option<thread::JoinHandle<()>>,
    compiler: Compiler,
}

impl Worker {
    /// `wake` is called on the worker's thread whenever there is a new result.
    pub(super) fn start(recipe: Recipe, wake: Box<dyn Fn() + Send>) -> Result<Self, Error> {
        let (jobs, incoming) = mpsc::channel::<Job>();
        let (outgoing, results) = mpsc::channel();
        let current = Arc::<Current>::default();
        let compiler = recipe.compiler.clone();
        let of_thread = current.clone();
        let thread = thread::Builder::new()
            .name("compile".to_owned())
            .spawn(move || work(&recipe, &of_thread, &incoming, &outgoing, &*wake))
            .map_err(Error::Thread)?;
        Ok(Self { current, jobs: Some(jobs), results, thread: Some(thread), compiler })
    }

    /// Queues a text; a later generation replaces an earlier one that was not begun, and soon ends one that was.
    pub(super) fn submit(&self, job: Job) {
        if let Some(jobs) = &self.jobs {
            let busy = self.current.busy();
            if *busy {
                self.current.cancel.cancel_at(Instant::now() + GRACE);
            }
            // The thread ends only when this sender is dropped, so there is always a receiver.
            let _ = jobs.send(job);
        }
    }

    /// The version of the compiler's library, where it is there.
    pub(super) fn nvrtc(&self) -> Option<String> {
        let version = self.compiler.nvrtc().ok().map(|nvrtc| nvrtc.version);
        version.map(|(major, minor)| format!("{major}.{minor}"))
    }

    /// What compiles.
    pub(super) fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    /// Whether what it has compiled is being loaded.
    pub(super) fn is_loading(&self) -> bool {
        self.current.loading.load(Ordering::Acquire)
    }

    /// Ends what it works on; nothing is to come after it.
    pub(super) fn cancel(&self) {
        self.current.cancel.cancel();
    }

    /// Whether it works on a text.
    pub(super) fn is_busy(&self) -> bool {
        *self.current.busy()
    }

    /// A result that is there, if any.
    pub(super) fn poll(&self) -> Option<CompileResult> {
        self.results.try_recv().ok()
    }

    /// Waits for the next result, at most so long.
    ///
    /// # Errors
    /// [`Error::WorkerLost`] when the thread has died.
    pub(super) fn wait(&self, moment: Duration) -> Result<Option<CompileResult>, Error> {
        match self.results.recv_timeout(moment) {
            Ok(result) => Ok(Some(result)),
            Err(mpsc::RecvTimeoutError::Timeout) => Ok(None),
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(Error::WorkerLost),
        }
    }
}

impl Worker {
    /// Ends what it works on, as dropping it does, but does not wait for the thread.
    pub(super) fn leave(&mut self) {
        drop(self.jobs.take());
        self.current.cancel.cancel();
        drop(self.thread.take());
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.jobs.take());
        self.current.cancel.cancel();
        let Some(thread) = self.thread.take() else { return };
        if self.has_left() && thread.join().is_err() {
            tracing::error!("the compile thread panicked");
        }
    }
}

impl Worker {
    /// Waits until the thread is done, but not for a device that translates: that cannot be interrupted. The thread has
    /// what it works on for itself, and ends with it.
    fn has_left(&self) -> bool {
        let deadline = Instant::now() + FAREWELL;
        loop {
            let rest = deadline.saturating_duration_since(Instant::now());
            match self.results.recv_timeout(rest) {
                Ok(_) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => return true,
                Err(mpsc::RecvTimeoutError::Timeout) => return false,
            }
        }
    }
}

/// What the thread does until nobody is there to give it texts or to take its results.
fn work(
    recipe: &Recipe,
    current: &Current,
    incoming: &mpsc::Receiver<Job>,
    outgoing: &mpsc::Sender<CompileResult>,
    wake: &dyn Fn(),
) {
    let mut builder =
        Builder::new(recipe.device.clone(), recipe.compiler.clone(), recipe.own, recipe.guarded);
    builder.loading = current.loading.clone();
    let compiler = recipe.compiler.clone().cancelled_by(&current.cancel);
    let mut drafts = None;
    let mut next = incoming.recv().ok();
    while let Some(job) = next.take() {
        // Whoever types fast has left older texts behind: only the newest one matters.
        let job = current.begin(|| incoming.try_iter().last().unwrap_or(job));
        // The first text of a session is compiled once, so that a run without a window is the same each time.
        let drafts = job.generation > 1 && *drafts.get_or_insert_with(|| builder.drafts());
        let mut send = |effort, refined| {
            let start = Instant::now();
            let outcome = build_or_say(&mut builder, recipe, &compiler, &job, effort);
            if matches!(outcome, Err(Error::Compile(compile::Error::Cancelled)))
                && current.cancel.is_cancelled()
            {
                // Nobody waits for it: a newer text is there, or the session is gone.
                return false;
            }
            let runs = outcome.as_ref().is_ok_and(|built| built.program.is_some());
            let (generation, elapsed) = (job.generation, start.elapsed());
            let sent = outgoing.send(CompileResult { generation, refined, elapsed, outcome });
            wake();
            runs && sent.is_ok()
        };
        if let Some(effort) = job.effort {
            send(effort, false);
        } else if !drafts {
            send(Effort::Full, false);
        } else if send(Effort::Draft, false) {
            match incoming.recv_timeout(FIRST_LOOK) {
                Ok(newer) => next = Some(newer),
                Err(mpsc::RecvTimeoutError::Timeout) => _ = send(Effort::Full, true),
                Err(mpsc::RecvTimeoutError::Disconnected) => return,
            }
        }
        current.end();
        next = next.or_else(|| {
            // Whoever looks at statistics is about to edit.
            if recipe.own.statistics {
                recipe.compiler.warm();
            }
            incoming.recv().ok()
        });
    }
}

/// [`build`], with a defect of ours as a remark about the source: it must not take the session with it.
fn build_or_say(
    builder: &mut Builder,
    recipe: &Recipe,
    compiler: &Compiler,
    job: &Job,
    effort: Effort,
) -> Result<Built, Error> {
    let build = || build(builder, recipe, compiler, job, effort);
    let attempt = panic::catch_unwind(panic::AssertUnwindSafe(build));
    attempt.unwrap_or_else(|_| {
        let text = "warpaint itself failed on this source; please report it with the file";
        Ok(Built::rejected(vec![Diagnostic::error(&recipe.name, text)]))
    })
}

fn build(
    builder: &mut Builder,
    recipe: &Recipe,
    compiler: &Compiler,
    job: &Job,
    effort: Effort,
) -> Result<Built, Error> {
    let mut built = match &job.source {
        Source::Text(text) => {
            let place = (recipe.path.as_deref(), job.trusted);
            match examine::parse(&recipe.name, text, place, &recipe.overrides) {
                Ok(scene) => builder.build(scene, effort, compiler)?,
                Err(diagnostics) => {
                    let lacks_manifest = !Scene::has_manifest(text);
                    return Ok(Built { lacks_manifest, ..Built::rejected(diagnostics) });
                }
            }
        }
        Source::Made(made) => builder.rebuild(Made::clone(made))?,
    };
    if let Some(program) = &mut built.program {
        program.generation = job.generation;
    }
    Ok(built)
}
