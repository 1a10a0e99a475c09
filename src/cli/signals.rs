//! Ctrl-C and SIGTERM: the first asks for the end, and what runs is stopped; the second ends the process.

use std::{
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI32, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use signal_hook::{
    consts::{SIGINT, SIGTERM, SIGUSR1, SIGXFSZ},
    flag,
    iterator::Signals,
    low_level,
};

use crate::{
    headless::{Error, ExitStatus, clear_drafts},
    interrupt::Interrupt,
    record,
};

/// How long what runs has to end by itself: a kernel of an NVIDIA GPU, OpenGL's compiler of shaders and a compiler in
/// this process cannot be stopped.
const GRACE: Duration = Duration::from_millis(700);

/// How long a text may wait until it is taken: a pipe that is full, and that nobody reads, takes no more.
const PATIENCE: Duration = Duration::from_millis(200);

/// Watches for signals.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch {
    /// Raised by the first of them.
    pub(super) interrupt: Interrupt,
    /// That first one.
    signal: Arc<AtomicI32>,
}

impl Watch {
    /// Starts to watch. Where that is not possible signals end the process, as they do by default.
    pub(super) fn start() -> Self {
        let watch = Self::default();
        let watching = watch.clone();
        let watched = Signals::new([SIGINT, SIGTERM]).and_then(|signals| {
            let builder = thread::Builder::new().name("signals".to_owned());
            builder.spawn(move || watching.serve(signals)).map(drop)
        });
        if let Err(error) = watched {
            tracing::warn!("Ctrl-C may leave an unfinished file behind: {error}");
        }
        watch
    }

    fn serve(self, mut signals: Signals) {
        for (count, signal) in signals.forever().enumerate() {
            if count > 0 {
                leave(status(signal));
            }
            self.signal.store(signal, Ordering::Release);
            if signal == SIGINT {
                say("stopping; Ctrl-C again ends it at once");
            }
            self.interrupt.raise();
            let late = thread::Builder::new().spawn(move || {
                thread::sleep(GRACE);
                say(&Error::Stopped.to_string());
                leave(status(signal));
            });
            if late.is_err() {
                leave(status(signal));
            }
        }
    }

    /// The exit code of a command that was stopped: the shells' for the signal that stopped it.
    pub(super) fn status(&self) -> ExitStatus {
        status(self.signal.load(Ordering::Acquire))
    }
}

/// A flag that SIGUSR1 raises from here on: the wish for the state as it is now.
pub(super) fn flag_of_save() -> Arc<AtomicBool> {
    let wish = Arc::<AtomicBool>::default();
    if let Err(error) = flag::register(SIGUSR1, wish.clone()) {
        tracing::warn!("SIGUSR1 ends the process, and does not save: {error}");
    }
    wish
}

/// From here on a file that becomes larger than the process may make it (`ulimit -f`) is an error of what writes it,
/// and not the end of the process.
pub(super) fn outlive_too_large_files() {
    if let Err(error) = flag::register(SIGXFSZ, Arc::default()) {
        tracing::warn!("a file that becomes too large ends the process: {error}");
    }
}

fn say(text: &str) {
    let text = text.to_owned();
    // Where standard error is closed there is nobody to tell.
    briefly(move || drop(writeln!(io::stderr(), "warpaint: {text}")));
}

/// Does what may wait for ever, as another thread may that holds the lock of an output; goes on without it then.
fn briefly(work: impl FnOnce() + Send + 'static) {
    let (done, waited) = mpsc::channel();
    let thread = thread::Builder::new().spawn(move || {
        work();
        done.send(()).unwrap_or(());
    });
    if thread.is_ok() {
        waited.recv_timeout(PATIENCE).unwrap_or(());
    }
}

fn status(signal: i32) -> ExitStatus {
    if signal == SIGTERM { ExitStatus::Terminated } else { ExitStatus::Stopped }
}

/// Ends the process without waiting for what its other threads do, and leaves no unfinished file behind.
pub(super) fn leave(status: ExitStatus) -> ! {
    // They would make what is cleared behind them anew.
    record::end_encoders();
    clear_drafts();
    // What standard output does not take is lost with it.
    briefly(|| drop(io::stdout().flush()));
    low_level::exit(status as i32)
}
