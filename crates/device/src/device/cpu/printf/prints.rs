//! What kernels print: to the standard output, or where the host wants it, within bounds.

use std::{
    fmt,
    io::Write as _,
    panic::{self, AssertUnwindSafe},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::device::{Error, Result};

/// What one `printf` has printed, and which thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Printed<'a> {
    /// Its text.
    pub text: &'a str,
    /// The block and the thread in it; `None` of what is said about a launch.
    pub at: Option<PrintedAt>,
}

/// A block of a grid, and a thread of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintedAt {
    /// `blockIdx`.
    pub block: [u32; 3],
    /// `threadIdx`.
    pub thread: [u32; 3],
}

/// Takes what one `printf` after the other prints.
type Sink = Arc<dyn Fn(Printed<'_>) + Send + Sync>;

/// Most bytes that a launch prints: as CUDA's buffer for `printf` holds by default.
pub(in crate::device::cpu) const MOST_BYTES: u64 = 1 << 20;

/// Where a device's kernels print to.
#[derive(Default)]
pub(in crate::device::cpu) struct Printer {
    sink: Mutex<Option<Sink>>,
}

impl fmt::Debug for Printer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Printer").finish_non_exhaustive()
    }
}

impl Printer {
    /// Text goes to `sink` from now on; `None`: to the standard output.
    pub(in crate::device::cpu) fn redirect(&self, sink: Option<Sink>) {
        *self.sink.lock().unwrap_or_else(PoisonError::into_inner) = sink;
    }

    fn print(&self, printed: Printed<'_>) {
        let sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match sink {
            Some(sink) => sink(printed),
            // Nobody is left to tell when the standard output is gone.
            None => drop(std::io::stdout().lock().write_all(printed.text.as_bytes())),
        }
    }
}

/// What one launch prints.
#[derive(Debug)]
pub(in crate::device::cpu) struct Prints {
    printer: Arc<Printer>,
    printed: AtomicU64,
    dropped: AtomicU64,
    /// Why the host takes no more: its function panicked.
    failed: Mutex<Option<Error>>,
}

impl Prints {
    pub(in crate::device::cpu) fn new(printer: Arc<Printer>) -> Self {
        let (printed, dropped) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { printer, printed, dropped, failed: Mutex::new(None) }
    }

    /// A text of so many bytes is too long to be printed, so that no more of it needs to be made.
    pub(in crate::device::cpu) fn too_long(&self) -> u64 {
        MOST_BYTES.saturating_sub(self.printed.load(Ordering::Relaxed)) + 1
    }

    /// Prints what one call gives, or counts it as dropped where the launch has printed enough.
    pub(in crate::device::cpu) fn print(&self, text: &str, at: PrintedAt) {
        if text.is_empty() {
            return;
        }
        let bytes = text.len() as u64;
        if self.printed.fetch_add(bytes, Ordering::Relaxed) + bytes <= MOST_BYTES {
            self.give(Printed { text, at: Some(at) });
        } else {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Gives a text to the host, unless its function has panicked before. A panic must not come into compiled code.
    fn give(&self, printed: Printed<'_>) {
        let lock = || self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if lock().is_some() {
            return;
        }
        if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| self.printer.print(printed)))
        {
            lock().get_or_insert(Error::panicked(payload));
        }
    }

    /// Says what was dropped, at the end of the launch.
    ///
    /// # Errors
    /// [`Error::Panicked`] where the host's function did.
    pub(in crate::device::cpu) fn finish(&self, kernel: &str) -> Result<()> {
        let dropped = self.dropped.load(Ordering::Relaxed);
        if dropped > 0 {
            let text = format!(
                "[kernel `{kernel}`: {dropped} more calls of printf; a launch prints at most {MOST_BYTES} bytes]\n"
            );
            self.give(Printed { text: &text, at: None });
        }
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        failed.map_or(Ok(()), Err)
    }
}
