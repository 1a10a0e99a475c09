//! MP4 and WebM: pictures are piped to ffmpeg as they are.

use std::{
    ffi::OsString,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    thread,
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

/// ffmpeg at work.
#[derive(Debug)]
pub(super) struct Ffmpeg {
    path: PathBuf,
    /// Until it is in its place.
    draft: Option<Draft>,
    child: Child,
    pictures: Option<ChildStdin>,
    /// Gathers what it says.
    said: Option<thread::JoinHandle<String>>,
}

impl Ffmpeg {
    pub(super) fn new(path: &Path, clip: Clip, film: Film) -> Result<Self> {
        let draft = Draft::of(path).map_err(Error::writing(path))?;
        let [width, height] = film.size_px;
        let program = std::env::var_os(VARIABLE).unwrap_or_else(|| OsString::from("ffmpeg"));
        let mut command = Command::new(program);
        // Ctrl-C on the terminal is for this program, which then ends ffmpeg itself.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command
            .args(["-hide_banner", "-loglevel", "error", "-nostdin", "-y"])
            .args(["-f", "rawvideo", "-pixel_format", "rgba"])
            .args(["-video_size", &format!("{width}x{height}")])
            .args(["-framerate", &film.per_second.to_string(), "-i", "pipe:0", "-an", "-vf", EVEN])
            .args(if clip == Clip::WebM { WEBM } else { MP4 })
            .arg(draft.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => Error::NoFfmpeg { path: path.to_owned() },
                _ => Error::Ffmpeg { path: path.to_owned(), problem: error.to_string() },
            })?;
        let said = child.stderr.take().map(|mut pipe| {
            thread::spawn(move || {
                let mut bytes = Vec::new();
                // What cannot be read is missing from an error's text, no more.
                let _ = pipe.read_to_end(&mut bytes);
                String::from_utf8_lossy(&bytes).into_owned()
            })
        });
        let pictures = child.stdin.take();
        Ok(Self { path: path.to_owned(), draft: Some(draft), child, pictures, said })
    }

    pub(super) fn add(&mut self, rgba: &[u8]) -> Result<()> {
        let Some(pipe) = &mut self.pictures else { return Ok(()) };
        match pipe.write_all(rgba) {
            Ok(()) => Ok(()),
            // It has ended: why, it has said.
            Err(_) => Err(self.failure()),
        }
    }

    pub(super) fn finish(mut self) -> Result<()> {
        drop(self.pictures.take());
        let status = self.child.wait().map_err(Error::writing(&self.path))?;
        if !status.success() {
            return Err(self.failure());
        }
        let persisted = self.draft.take().map(|draft| draft.persist(&self.path));
        persisted.transpose().map(drop).map_err(Error::writing(&self.path))
    }

    /// What ffmpeg said last, or how it ended.
    fn failure(&mut self) -> Error {
        drop(self.pictures.take());
        let status = self.child.wait();
        let said = self.said.take().and_then(|said| said.join().ok()).unwrap_or_default();
        let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
        let problem = match (last, status) {
            (Some(line), _) => line.to_owned(),
            (None, Ok(status)) => format!("it ended with {status}"),
            (None, Err(error)) => error.to_string(),
        };
        Error::Ffmpeg { path: self.path.clone(), problem }
    }
}

impl Drop for Ffmpeg {
    /// Given up: nobody is to wait for what will not be kept.
    fn drop(&mut self) {
        if self.pictures.is_some() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
