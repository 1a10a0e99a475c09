//! The program's side of a compiler process: starting it, talking to it, ending it.
#![expect(
    unsafe_code,
    reason = "where a function lies, and how a process ended, is asked of the system"
)]

use std::{
    io::{self, Read},
    mem::MaybeUninit,
    os::{
        fd::OwnedFd,
        unix::{net::UnixStream, process::CommandExt},
    },
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use super::{
    Ended,
    child::{ENTRY, MARKER},
    wire::{self, Order, Reply},
};
use crate::compile::Cancel;

/// How often it is looked whether an answer is still wanted.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A process that does not take an order for so long was stopped by someone.
const LONGEST_WRITE: Duration = Duration::from_secs(10);

/// A compiler process. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    socket: UnixStream,
    /// The program that started it: a fork of that has the socket too, and no business with it.
    owner: u32,
    finished: bool,
}

/// How a process ended.
#[derive(Debug)]
pub(super) struct Death {
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The most that it ever had in memory, in bytes.
    pub peak_bytes: u64,
}

/// What an answer is waited for with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience<'a> {
    /// Until when.
    pub until: Instant,
    /// What ends it before.
    pub cancels: &'a [Cancel],
}

/// Whether this program can start itself as a compiler: this library is a part of the executable, not of another
/// library that was loaded.
pub(super) fn is_possible() -> bool {
    // SAFETY: asks for a word that the kernel gave the process.
    let privileged = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    // SAFETY: as above.
    let start = unsafe { libc::getauxval(libc::AT_ENTRY) };
    let ours = object_of((&raw const ENTRY) as usize);
    !privileged && ours.is_some() && ours == usize::try_from(start).ok().and_then(object_of)
}

/// Where the executable or library that holds `address` begins.
fn object_of(address: usize) -> Option<usize> {
    let mut about = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: any address may be asked for, and `about` outlives the call.
    let found = unsafe { libc::dladdr(address as *const libc::c_void, about.as_mut_ptr()) };
    // SAFETY: written where the call says that it found something.
    (found != 0).then(|| unsafe { about.assume_init() }.dli_fbase as usize)
}

impl Process {
    /// Starts one; it says [`Reply::Ready`] first.
    ///
    /// # Errors
    /// The system's: too many processes or open files, no `/proc`.
    pub(super) fn start() -> io::Result<Self> {
        let (socket, its) = UnixStream::pair()?;
        socket.set_read_timeout(Some(LOOK_EVERY))?;
        socket.set_write_timeout(Some(LONGEST_WRITE))?;
        // The system's own name of the executable, which is right also when the file was replaced meanwhile.
        let mut command = Command::new("/proc/self/exe");
        command.arg0("warpaint-nvrtc").env(MARKER, "1");
        command.stdin(OwnedFd::from(its)).stdout(Stdio::null()).stderr(Stdio::null());
        // A Ctrl-C in the terminal is for the program, which knows what to do with the compiler.
        command.process_group(0);
        Ok(Self { child: command.spawn()?, socket, owner: std::process::id(), finished: false })
    }

    /// Whether this program started it, and not one that this one is a fork of.
    pub(super) fn is_ours(&self) -> bool {
        self.owner == std::process::id()
    }

    /// Sends an order.
    ///
    /// # Errors
    /// The system's, when the process has ended.
    pub(super) fn order(&mut self, order: &Order) -> io::Result<()> {
        wire::send(&mut self.socket, order)
    }

    /// The next reply. After an error the process is of no use any more.
    ///
    /// # Errors
    /// [`Ended::TimedOut`] and [`Ended::Cancelled`]; [`Ended::Died`] for one that has ended, or answers nonsense.
    pub(super) fn reply(&mut self, patience: Patience<'_>) -> Result<Reply, Ended> {
        let mut reader = Waiting { socket: &self.socket, patience, stopped: None };
        let reply = wire::receive(&mut reader);
        let stopped = reader.stopped;
        reply.map_err(|error| {
            tracing::debug!(%error, "no reply of the compiler's process");
            stopped.unwrap_or(Ended::Died)
        })
    }

    /// Ends it if it does not end by itself, and says how it did.
    pub(super) fn end(mut self) -> Death {
        self.finish().unwrap_or(Death { signal: None, peak_bytes: 0 })
    }

    /// `None` for one that has been waited for, or belongs to another program.
    fn finish(&mut self) -> Option<Death> {
        if self.finished || !self.is_ours() {
            return None;
        }
        self.finished = true;
        // One that is about to end for a reason of its own keeps that reason.
        if let Err(error) = self.child.kill() {
            tracing::debug!(%error, "the compiler's process cannot be ended");
        }
        self.wait()
    }

    fn wait(&self) -> Option<Death> {
        let pid = i32::try_from(self.child.id()).ok()?;
        let mut status = 0;
        // SAFETY: all zeros is a value of this plain structure.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        loop {
            // SAFETY: a child of this process that nobody else waits for; both places outlive the call.
            let found = unsafe { libc::wait4(pid, &mut status, 0, &mut usage) };
            if found == pid {
                let signal = libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status));
                let kib = u64::try_from(usage.ru_maxrss).unwrap_or(0);
                return Some(Death { signal, peak_bytes: kib.saturating_mul(1024) });
            }
            if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                // Someone in this program waits for all children.
                return None;
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Reads from a socket until that is not wanted any more.
struct Waiting<'a> {
    socket: &'a UnixStream,
    patience: Patience<'a>,
    /// Why it was given up.
    stopped: Option<Ended>,
}

impl Read for Waiting<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
        loop {
            match self.socket.read(bytes) {
                Err(error) if matches!(error.kind(), WouldBlock | TimedOut | Interrupted) => {}
                other => return other,
            }
            self.stopped = self.patience.ended();
            if self.stopped.is_some() {
                return Err(TimedOut.into());
            }
        }
    }
}

impl Patience<'_> {
    /// Why to wait no longer, where that is so.
    pub(super) fn ended(&self) -> Option<Ended> {
        if self.cancels.iter().any(Cancel::is_cancelled) {
            return Some(Ended::Cancelled);
        }
        (Instant::now() >= self.until).then_some(Ended::TimedOut)
    }
}
