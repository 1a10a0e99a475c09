//! The compiler process: this very executable, which turns into one before its `main`.
//!
//! [`ENTRY`] stands among the executable's initialisers, so that any program that links this library can start itself
//! anew as a compiler: there is no second file to install, to find and to keep at the same version. Where the
//! variable [`MARKER`] is not set, nothing happens.
//!
//! A process ends when the other end of its socket is closed, which the system sees to when the program dies in
//! whatever way. (`PR_SET_PDEATHSIG` would not do: it goes by the *thread* that started the process.)
#![expect(unsafe_code, reason = "a process is set up by system calls")]

use std::{
    ffi::OsStr,
    fs, io,
    os::{
        fd::{AsRawFd, FromRawFd, OwnedFd, RawFd},
        unix::{ffi::OsStrExt, net::UnixStream},
    },
    panic, thread,
};

use super::wire::{self, Order, Reply};
use crate::compile::nvrtc::Nvrtc;

/// The variable that makes a process a compiler. Its standard input is then the socket to work for.
pub(super) const MARKER: &str = "WARPAINT_COMPILE_SERVER";

/// Runs before `main`, among the first of the executable's initialisers: those that programs have of their own have
/// no business in a compiler.
#[used]
#[unsafe(link_section = ".init_array.00200")]
pub(super) static ENTRY: extern "C" fn() = enter;

extern "C" fn enter() {
    // SAFETY: asks for a word that the kernel gave the process.
    let privileged = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    // Whoever starts a program with more rights than his own must not choose what it loads.
    if privileged || std::env::var_os(MARKER).is_none() || !has_socket() {
        return;
    }
    let ended = panic::catch_unwind(serve);
    // SAFETY: ends the process without running what it did not begin: `main` and the end of it.
    unsafe { libc::_exit(if matches!(ended, Ok(Ok(()))) { 0 } else { 1 }) }
}

/// Whether standard input is a socket; the variable may have been set by someone who only looks what happens.
fn has_socket() -> bool {
    // SAFETY: all zeros is a value of this plain structure.
    let mut about: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `about` outlives the call.
    let code = unsafe { libc::fstat(0, &mut about) };
    code == 0 && about.st_mode & libc::S_IFMT == libc::S_IFSOCK
}

/// Works until the other side is gone.
fn serve() -> io::Result<()> {
    let mut socket = settle()?;
    leave_with(&socket)?;
    wire::send(&mut socket, &Reply::Ready)?;
    let mut nvrtc = None;
    loop {
        let order = match wire::receive(&mut socket) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            order => order?,
        };
        let reply = match (order, &nvrtc) {
            (Order::Load(path), _) => match Nvrtc::load(OsStr::from_bytes(&path).as_ref()) {
                Ok(loaded) => {
                    let facts = nvrtc.insert(loaded).facts().clone();
                    let (_, resident_bytes) = memory_in_use();
                    Reply::Loaded { facts, resident_bytes }
                }
                Err(problem) => Reply::Unusable(problem),
            },
            (Order::Compile(job, memory_bytes), Some(nvrtc)) => {
                // Where it is gone names are told as they come from there.
                drop(std::env::set_current_dir(OsStr::from_bytes(&job.directory)));
                // The most that it had so far is forgotten: if it dies, that job's is of interest.
                drop(fs::write("/proc/self/clear_refs", "5"));
                let (space, _) = memory_in_use();
                let before = limit_memory(space.saturating_add(memory_bytes));
                let answer = nvrtc.compile(&job);
                restore_memory(before);
                let (_, resident_bytes) = memory_in_use();
                Reply::Done { answer, resident_bytes }
            }
            (Order::Compile(..), None) => return Err(io::ErrorKind::InvalidInput.into()),
        };
        wire::send(&mut socket, &reply)?;
    }
}

/// Takes the socket away from standard input, closes what the program left open, and sets what a compiler needs.
fn settle() -> io::Result<UnixStream> {
    // SAFETY: duplicates a descriptor.
    let socket = unsafe { libc::fcntl(0, libc::F_DUPFD_CLOEXEC, 3) };
    if socket < 0 {
        return Err(io::Error::last_os_error());
    }
    close_range(3, socket - 1);
    close_range(socket + 1, RawFd::MAX);
    // SAFETY: made above, and nobody else's.
    let socket = UnixStream::from(unsafe { OwnedFd::from_raw_fd(socket) });
    let nothing = fs::File::open("/dev/null")?;
    // SAFETY: both are open.
    unsafe { libc::dup2(nothing.as_raw_fd(), 0) };
    // SAFETY: names this thread; the text ends with a NUL.
    unsafe { libc::prctl(libc::PR_SET_NAME, c"warpaint-nvrtc".as_ptr()) };
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: reads a structure that outlives the call. A crash is told, so nobody needs its core.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &none) };
    // Where memory runs out the compiler goes before the program does.
    drop(fs::write("/proc/self/oom_score_adj", "500"));
    Ok(socket)
}

/// Closes all descriptors from `first` to `last`; where the kernel is too old for that they stay open.
fn close_range(first: RawFd, last: RawFd) {
    if first <= last {
        // SAFETY: in a process this young these were opened by the program that started it, for itself.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    }
}

/// Ends the process when the other end of `socket` is closed, also while NVRTC works.
fn leave_with(socket: &UnixStream) -> io::Result<()> {
    let socket = socket.try_clone()?;
    let watch = move || {
        let mut poll = libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLRDHUP, revents: 0 };
        loop {
            // SAFETY: one structure, which outlives the call.
            let ready = unsafe { libc::poll(&mut poll, 1, -1) };
            if ready > 0 {
                // SAFETY: nobody is left to whom anything here matters.
                unsafe { libc::_exit(0) };
            }
        }
    };
    thread::Builder::new().stack_size(64 << 10).spawn(watch).map(drop)
}

/// The process's address space and what of it is in memory, both in bytes.
fn memory_in_use() -> (u64, u64) {
    // SAFETY: asks for a constant.
    let page = u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let mut pages = text.split(' ').map(|word| word.parse::<u64>().unwrap_or(0));
    let mut next = || pages.next().unwrap_or(0).saturating_mul(page);
    (next(), next())
}

/// Sets the most address space that the process may have, where less is not the limit already. Returns the old limit.
fn limit_memory(bytes: u64) -> Option<libc::rlimit> {
    let mut before = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: writes to a structure that outlives the call.
    if unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut before) } != 0 {
        return None;
    }
    let limit = libc::rlimit { rlim_cur: bytes.min(before.rlim_cur), ..before };
    // SAFETY: reads a structure that outlives the call.
    (unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) } == 0).then_some(before)
}

fn restore_memory(before: Option<libc::rlimit>) {
    if let Some(before) = before {
        // SAFETY: reads a structure that outlives the call.
        unsafe { libc::setrlimit(libc::RLIMIT_AS, &before) };
    }
}
