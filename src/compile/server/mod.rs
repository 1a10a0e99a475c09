//! Who compiles: NVRTC in processes of its own, or, where none can be had, in this one.
//!
//! Enters: jobs for NVRTC, limits, the wish to cancel. Leaves: NVRTC's answers, or how a process ended. Must not know:
//! `cuda`, `compile::cache`, `compile::diagnostics`.
//!
//! NVRTC ends the process that it runs in for some sources, takes any amount of time and memory for others, and
//! cannot be stopped. So it runs in a child of the program ([`child`]), which is limited, ended and started anew. A
//! child stays for the next compilation: it has loaded NVRTC, and perhaps precompiled headers. One does one
//! compilation at a time; several at once are several children.
//!
//! [`take`] removes one from the pool of idle servers, or starts one; dropping its [`Lease`] returns it. All compilers
//! of a program share the pool.

#[cfg(target_os = "linux")]
mod child;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod wire;

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use super::{
    Cancel,
    discovery::{Stamp, Toolchain},
    job::{Answer, Facts, Job},
    nvrtc::{self, Nvrtc},
};
#[cfg(target_os = "linux")]
use {
    process::{Patience, Process},
    wire::{Order, Reply},
};

/// Processes that are kept for later: each takes about a hundred megabytes.
const MOST_IDLE: usize = 2;

/// A process with more than this in memory is not kept: NVRTC does not give back all that it took.
const LARGEST_IDLE_BYTES: u64 = 2 << 30;

/// How long a process may take to start: that long only on a machine that does nothing else any more.
const LONGEST_START: Duration = Duration::from_secs(20);

/// How long the library may take to load, from a slow disk say.
const LONGEST_LOAD: Duration = Duration::from_secs(60);

/// Why there is no answer to a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// It took too long.
    TimedOut,
    /// It is not wanted any more.
    Cancelled,
    /// Its process has ended.
    Crashed {
        /// By this signal, where it was one.
        signal: Option<i32>,
        /// The memory that it took for the job, in bytes.
        grown_bytes: u64,
    },
    /// Its process has ended; how, is not known yet.
    Died,
}

/// Why there is nobody to compile.
#[derive(Debug)]
pub(super) enum Problem {
    /// The library cannot be used, and why.
    Unusable(String),
    /// It is not wanted any more.
    Cancelled,
}

/// How long, and until when, to wait for an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds<'a> {
    /// The time at which a job is given up.
    pub until: Instant,
    /// The most memory that a job may take, in bytes.
    pub memory_bytes: u64,
    /// What ends it before.
    pub cancels: &'a [Cancel],
}

/// Stands for one server as long as that lives.
pub(super) type Token = Arc<()>;

/// Something that compiles with one library.
#[derive(Debug)]
struct Server {
    library: Stamp,
    facts: Facts,
    token: Token,
    place: Place,
    /// What its process had in memory before the next job, in bytes.
    resident_bytes: u64,
}

#[derive(Debug)]
enum Place {
    #[cfg(target_os = "linux")]
    Child(Process),
    /// In this process.
    Here(Nvrtc),
}

/// Those that nobody uses, the one used last at the end.
static IDLE: Mutex<Vec<Server>> = Mutex::new(Vec::new());

fn idle() -> MutexGuard<'static, Vec<Server>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A server that is not in the pool, since it is used; it is returned when this is dropped.
#[derive(Debug)]
pub(super) struct Lease {
    /// `None` when its process has ended.
    server: Option<Server>,
    library: Stamp,
    facts: Facts,
}

/// Takes a server with the library of `toolchain` from the pool: `wanted` if it is idle, else any, else a new one.
///
/// # Errors
/// [`Problem`].
pub(super) fn take(
    toolchain: &Toolchain,
    wanted: Option<&Weak<()>>,
    cancels: &[Cancel],
) -> Result<Lease, Problem> {
    let library = Stamp::of(&toolchain.library);
    let server = match take_idle(&library, wanted) {
        Some(server) => server,
        None => Server::start(&library, cancels)?,
    };
    let facts = server.facts.clone();
    Ok(Lease { server: Some(server), library, facts })
}

fn take_idle(library: &Stamp, wanted: Option<&Weak<()>>) -> Option<Server> {
    let mut idle = idle();
    idle.retain(Server::is_ours);
    let is_wanted = |server: &Server| {
        wanted.is_some_and(|wanted| std::ptr::eq(wanted.as_ptr(), Arc::as_ptr(&server.token)))
    };
    let fits = |server: &Server| server.library == *library;
    let found = idle.iter().rposition(|server| fits(server) && is_wanted(server));
    let found = found.or_else(|| idle.iter().rposition(fits))?;
    Some(idle.remove(found))
}

impl Lease {
    /// What there is to know of the library.
    pub(super) fn facts(&self) -> Facts {
        self.facts.clone()
    }

    /// Stands for the server.
    pub(super) fn token(&self) -> Token {
        self.server.as_ref().map(|server| server.token.clone()).unwrap_or_default()
    }

    /// Does one job; where the process was lost by the last one, in a new one.
    ///
    /// # Errors
    /// [`Problem`], when there is no new one.
    pub(super) fn run(
        &mut self,
        job: &Job,
        bounds: Bounds<'_>,
    ) -> Result<Result<Answer, Ended>, Problem> {
        let mut server = match self.server.take() {
            Some(server) => server,
            None => Server::start(&self.library, bounds.cancels)?,
        };
        match server.run(job, bounds) {
            Ok(answer) => {
                let keep = server.resident_bytes <= LARGEST_IDLE_BYTES;
                self.server = keep.then_some(server);
                Ok(Ok(answer))
            }
            Err(Ended::Died) => Ok(Err(server.autopsy())),
            // It still works on that job, so it ends here.
            Err(ended) => Ok(Err(ended)),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(server) = self.server.take() else { return };
        let mut idle = idle();
        idle.push(server);
        let surplus = (idle.len() > MOST_IDLE).then(|| idle.remove(0));
        // To end a process takes a moment: not under the lock.
        drop(idle);
        drop(surplus);
    }
}

impl Server {
    fn start(library: &Stamp, cancels: &[Cancel]) -> Result<Self, Problem> {
        #[cfg(target_os = "linux")]
        if let Some(server) = Self::start_child(library, cancels)? {
            return Ok(server);
        }
        let nvrtc = nvrtc::load_here(&library.path).map_err(Problem::Unusable)?;
        Ok(Self {
            library: library.clone(),
            facts: nvrtc.facts().clone(),
            token: Token::default(),
            place: Place::Here(nvrtc),
            resident_bytes: 0,
        })
    }

    /// One in a process of its own; `None` where there can be none.
    #[cfg(target_os = "linux")]
    fn start_child(library: &Stamp, cancels: &[Cancel]) -> Result<Option<Self>, Problem> {
        if !can_start() {
            return Ok(None);
        }
        let mut process = match Process::start() {
            Ok(process) => process,
            Err(error) => {
                tracing::warn!(
                    "no process can be started for the compiler ({error}); it runs without limits"
                );
                return Ok(None);
            }
        };
        let load = Order::Load(library.path.as_os_str().as_encoded_bytes().to_owned());
        let patience = |time| Patience { until: Instant::now() + time, cancels };
        let ordered = process.order(&load).map_err(|_| Ended::Died);
        match ordered.and_then(|()| process.reply(patience(LONGEST_START))) {
            Ok(Reply::Ready) => {}
            Err(Ended::Cancelled) => return Err(Problem::Cancelled),
            other => {
                tracing::warn!(?other, "no compiler can be started; NVRTC runs without limits");
                CANNOT_START.store(true, Ordering::Relaxed);
                return Ok(None);
            }
        }
        match process.reply(patience(LONGEST_LOAD)) {
            Ok(Reply::Loaded { facts, resident_bytes }) => {
                tracing::debug!(library = %library.path.display(), version = ?facts.version, "NVRTC loaded");
                let (library, token) = (library.clone(), Token::default());
                let place = Place::Child(process);
                Ok(Some(Self { library, facts, token, place, resident_bytes }))
            }
            Ok(Reply::Unusable(problem)) => Err(Problem::Unusable(problem)),
            Err(Ended::Cancelled) => Err(Problem::Cancelled),
            Err(Ended::TimedOut) => Err(Problem::Unusable("takes too long to load".to_owned())),
            Ok(Reply::Ready | Reply::Done { .. }) | Err(Ended::Died | Ended::Crashed { .. }) => {
                let how =
                    process.end().signal.map_or_else(String::new, |n| format!(" by signal {n}"));
                Err(Problem::Unusable(format!("does not load (its process ended{how})")))
            }
        }
    }

    fn run(&mut self, job: &Job, bounds: Bounds<'_>) -> Result<Answer, Ended> {
        match &mut self.place {
            #[cfg(target_os = "linux")]
            Place::Child(process) => {
                let patience = Patience { until: bounds.until, cancels: bounds.cancels };
                patience.ended().map_or(Ok(()), Err)?;
                let order = Order::Compile(Box::new(job.clone()), bounds.memory_bytes);
                process.order(&order).map_err(|_| Ended::Died)?;
                match process.reply(patience)? {
                    Reply::Done { answer, resident_bytes } => {
                        self.resident_bytes = resident_bytes;
                        Ok(answer)
                    }
                    Reply::Ready | Reply::Loaded { .. } | Reply::Unusable(_) => Err(Ended::Died),
                }
            }
            Place::Here(nvrtc) if !bounds.cancels.iter().any(Cancel::is_cancelled) => {
                Ok(nvrtc.compile(job))
            }
            Place::Here(_) => Err(Ended::Cancelled),
        }
    }

    /// How a process has ended that gives no answers any more.
    fn autopsy(self) -> Ended {
        match self.place {
            #[cfg(target_os = "linux")]
            Place::Child(process) => {
                let process::Death { signal, peak_bytes } = process.end();
                let grown_bytes = peak_bytes.saturating_sub(self.resident_bytes);
                Ended::Crashed { signal, grown_bytes }
            }
            Place::Here(_) => Ended::Died,
        }
    }

    /// Whether this program started it.
    fn is_ours(&self) -> bool {
        match &self.place {
            #[cfg(target_os = "linux")]
            Place::Child(process) => process.is_ours(),
            Place::Here(_) => true,
        }
    }
}

/// Set when a process was started and was no compiler.
#[cfg(target_os = "linux")]
static CANNOT_START: AtomicBool = AtomicBool::new(false);

#[cfg(target_os = "linux")]
fn can_start() -> bool {
    use std::sync::LazyLock;
    static IS_POSSIBLE: LazyLock<bool> = LazyLock::new(|| {
        let is_possible = process::is_possible();
        if !is_possible {
            tracing::debug!(
                "warpaint is in a library, not in the executable: NVRTC runs in this process, without limits"
            );
        }
        is_possible
    });
    *IS_POSSIBLE && !CANNOT_START.load(Ordering::Relaxed)
}
