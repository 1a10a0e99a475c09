//! SIGINT and SIGTERM, which ask for an orderly end.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use signal_hook::{
    consts::{SIGINT, SIGTERM},
    iterator, low_level,
};

use crate::{file::clear_drafts, record};

/// How long an orderly end may take. What is kept is on the disk after a small part of that; the rest is memory and
/// threads, which the system takes back as well.
const GRACE: Duration = Duration::from_millis(1200);

/// The signals that have come.
pub struct Signals {
    /// The first one; 0: none.
    received: Arc<AtomicI32>,
}

impl Signals {
    /// Calls `end` on another thread at the first signal. The process ends by that signal when another one comes, or
    /// when it has not ended after [`GRACE`].
    pub fn watch(end: impl Fn() + Send + 'static) -> Self {
        let received = Arc::new(AtomicI32::new(0));
        let first = Arc::clone(&received);
        let watching = iterator::Signals::new([SIGINT, SIGTERM]).and_then(|signals| {
            let watch = move || wait(signals, &first, end);
            thread::Builder::new().name("signals".to_owned()).spawn(watch)
        });
        if let Err(error) = watching {
            tracing::warn!("Ctrl-C and SIGTERM end the studio at once: {error}");
        }
        Self { received }
    }

    /// The signal that asks for the end, if one does.
    pub fn received(&self) -> Option<i32> {
        Some(self.received.load(Ordering::Acquire)).filter(|signal| *signal != 0)
    }
}

fn wait(mut signals: iterator::Signals, received: &AtomicI32, end: impl Fn()) {
    let Some(signal) = signals.forever().next() else { return };
    received.store(signal, Ordering::Release);
    end();
    let start = Instant::now();
    while start.elapsed() < GRACE && signals.pending().next().is_none() {
        thread::sleep(Duration::from_millis(20));
    }
    // The main thread usually is faster, and ends the process with this thread. What else is being written, a long
    // recording, is given up.
    record::end_encoders();
    clear_drafts();
    if let Err(error) = low_level::emulate_default_handler(signal) {
        tracing::error!("signal {signal} does not end the process: {error}");
    }
}
