//! MP4 and WebM: pictures are piped to ffmpeg as they are.

use std::{
    ffi::OsString,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStderr, ChildStdin, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    thread,
    time::{Duration, Instant},
};

use super::{Clip, Error, Film, Result};
use crate::file::Draft;

/// Names another program than the `ffmpeg` on the path.
const VARIABLE: &str = "WARPAINT_FFMPEG";

/// H.264 at a quality that hardly differs from the source, for every player: with half the resolution in colour, which
/// needs even sides.
const MP4: &[&str] = &[
    "-c:v",
    "libx264",
    "-preset",
    "medium",
    "-crf",
    "17",
    "-pix_fmt",
    "yuv420p",
    "-movflags",
    "+faststart",
    "-f",
    "mp4",
];
/// VP9 of about the same quality.
const WEBM: &[&str] = &[
    "-c:v",
    "libvpx-vp9",
    "-crf",
    "24",
    "-b:v",
    "0",
    "-row-mt",
    "1",
    "-pix_fmt",
    "yuv420p",
    "-f",
    "webm",
];
const EVEN: &str = "pad=ceil(iw/2)*2:ceil(ih/2)*2";

/// Longest that ffmpeg may take for a picture.
const PICTURE_LIMIT: Duration = Duration::from_secs(120);
/// Longest that it may take to end: it has some pictures to encode then, and writes the index of a long clip.
const END_LIMIT: Duration = Duration::from_secs(600);
/// How long its last words are waited for once it has ended: who it started may hold the pipe.
const WORDS_LIMIT: Duration = Duration::from_secs(1);
/// So much is kept of what it says, the last of it.
const MOST_WORDS: usize = 64 << 10;
/// How often it is looked at while it is waited for.
const PAUSE: Duration = Duration::from_millis(10);

/// ffmpeg at work.
#[derive(Debug)]
pub(super) struct Ffmpeg {
    path: PathBuf,
    /// Until it is in its place.
    draft: Option<Draft>,
    process: Arc<Process>,
    pictures: Option<ChildStdin>,
    words: Arc<Mutex<Vec<u8>>>,
    listener: Option<thread::JoinHandle<()>>,
}

/// The process, which others may have to end.
#[derive(Debug)]
struct Process {
    child: Mutex<Child>,
    /// Since when a picture is given to it, and whether that took too long.
    given: Mutex<Given>,
}

#[derive(Debug, Default)]
struct Given {
    since: Option<Instant>,
    took_too_long: bool,
}

impl Process {
    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn given(&self) -> MutexGuard<'_, Given> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends it.
    fn kill(&self) {
        let mut child = self.child();
        // It may have ended by itself.
        let _ = child.kill();
        let _ = child.wait();
    }

    /// Ends it where it has taken a picture for too long.
    fn look_after(&self) {
        let mut given = self.given();
        if given.since.is_some_and(|since| since.elapsed() > PICTURE_LIMIT) {
            given.took_too_long = true;
            drop(given);
            self.kill();
        }
    }

    /// Waits until it has ended; `None`: it did not within `limit`.
    fn wait(&self, limit: Duration) -> io::Result<Option<ExitStatus>> {
        let started = Instant::now();
        loop {
            match self.child().try_wait()? {
                None if started.elapsed() > limit => return Ok(None),
                None => {}
                ended @ Some(_) => return Ok(ended),
            }
            thread::sleep(PAUSE);
        }
    }
}

/// Those that are at work.
fn at_work() -> MutexGuard<'static, Vec<Weak<Process>>> {
    static AT_WORK: Mutex<Vec<Weak<Process>>> = Mutex::new(Vec::new());
    AT_WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends every ffmpeg, for a process that is ended without its values being dropped.
#[cfg(feature = "cli")]
pub(crate) fn end_all() {
    at_work().iter().filter_map(Weak::upgrade).for_each(|process| process.kill());
}

impl Ffmpeg {
    pub(super) fn new(path: &Path, clip: Clip, film: Film) -> Result<Self> {
        let draft = Draft::of(path).map_err(Error::writing(path))?;
        let failed = |e: io::Error| match e.kind() {
            io::ErrorKind::NotFound => Error::NoFfmpeg { path: path.to_owned() },
            _ => Error::Ffmpeg { path: path.to_owned(), problem: e.to_string() },
        };
        let mut child = command(draft.path(), clip, film).spawn().map_err(failed)?;
        let (pictures, stderr) = (child.stdin.take(), child.stderr.take());
        let process =
            Arc::new(Process { child: Mutex::new(child), given: Mutex::new(Given::default()) });
        at_work().retain(|process| process.strong_count() > 0);
        at_work().push(Arc::downgrade(&process));
        let watched = Arc::downgrade(&process);
        let watch = move || {
            while let Some(process) = watched.upgrade() {
                process.look_after();
                drop(process);
                thread::sleep(100 * PAUSE);
            }
        };
        thread::Builder::new().name("ffmpeg".to_owned()).spawn(watch).map_err(failed)?;
        let words = Arc::default();
        let listener = stderr.map(|pipe| {
            let words = Arc::clone(&words);
            let listen = move || listen(pipe, &words);
            thread::Builder::new().name("ffmpeg's words".to_owned()).spawn(listen)
        });
        let listener = listener.transpose().map_err(failed)?;
        Ok(Self { path: path.to_owned(), draft: Some(draft), process, pictures, words, listener })
    }

    pub(super) fn add(&mut self, rgba: &[u8]) -> Result<()> {
        let Some(pipe) = &mut self.pictures else { return Ok(()) };
        self.process.given().since = Some(Instant::now());
        let written = pipe.write_all(rgba);
        self.process.given().since = None;
        // Where that fails it has ended: why, it has said.
        written.map_err(|_| self.failure())
    }

    pub(super) fn finish(mut self) -> Result<()> {
        drop(self.pictures.take());
        let ended = self.process.wait(END_LIMIT).map_err(Error::writing(&self.path))?;
        let Some(status) = ended else {
            self.process.kill();
            let problem =
                format!("it did not end within {END_LIMIT:?} of the last picture, and was ended");
            return Err(Error::Ffmpeg { path: self.path.clone(), problem });
        };
        if !status.success() {
            return Err(self.failure());
        }
        let Some(draft) = self.draft.take() else { return Ok(()) };
        // It has made the file anew, perhaps.
        let bytes = std::fs::metadata(draft.path()).map_err(Error::writing(&self.path))?.len();
        if bytes == 0 {
            let problem = "it ended well and wrote nothing".to_owned();
            return Err(Error::Ffmpeg { path: self.path.clone(), problem });
        }
        draft.persist(&self.path).map_err(Error::writing(&self.path))
    }

    /// What ffmpeg said last, or how it ended.
    fn failure(&mut self) -> Error {
        drop(self.pictures.take());
        let path = self.path.clone();
        if self.process.given().took_too_long {
            let problem = format!("it took no picture for {PICTURE_LIMIT:?}, and was ended");
            return Error::Ffmpeg { path, problem };
        }
        let ended = self.process.wait(END_LIMIT);
        self.process.kill();
        let said = self.last_words();
        let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
        let problem = match (last, ended) {
            (Some(line), _) => line.to_owned(),
            (None, Ok(Some(status))) => format!("it ended with {status}"),
            (None, Ok(None)) => "it takes no more pictures and does not end".to_owned(),
            (None, Err(error)) => error.to_string(),
        };
        Error::Ffmpeg { path, problem }
    }

    fn last_words(&mut self) -> String {
        let started = Instant::now();
        while self.listener.as_ref().is_some_and(|listener| !listener.is_finished())
            && started.elapsed() < WORDS_LIMIT
        {
            thread::sleep(PAUSE);
        }
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&words).into_owned()
    }
}

/// ffmpeg with pictures on its standard input, a clip at `path`.
fn command(path: &Path, clip: Clip, film: Film) -> Command {
    let [width, height] = film.size_px;
    let program = std::env::var_os(VARIABLE).unwrap_or_else(|| OsString::from("ffmpeg"));
    let mut command = Command::new(program);
    // Ctrl-C on the terminal is for this program, which then ends ffmpeg itself.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
        .args(["-hide_banner", "-loglevel", "error", "-nostdin", "-y"])
        .args(["-f", "rawvideo", "-pixel_format", "rgba"])
        .args(["-video_size", &format!("{width}x{height}")])
        .args(["-framerate", &film.per_second.to_string(), "-i", "pipe:0", "-an", "-vf", EVEN])
        .args(if clip == Clip::WebM { WEBM } else { MP4 })
        .arg(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

/// Keeps the last of what comes from `pipe`. What cannot be read is missing from an error's text, no more.
fn listen(mut pipe: ChildStderr, words: &Mutex<Vec<u8>>) {
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = pipe.read(&mut bytes) {
        let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
        words.extend_from_slice(&bytes[..count]);
        if words.len() > 2 * MOST_WORDS {
            let surplus = words.len() - MOST_WORDS;
            words.drain(..surplus);
        }
    }
}

impl Drop for Ffmpeg {
    /// Given up: nobody is to wait for what will not be kept.
    fn drop(&mut self) {
        if self.pictures.is_some() {
            self.process.kill();
        }
    }
}
