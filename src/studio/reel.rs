//! A recording of what a view shows: its pictures as they come, written to a new file on a thread.
//!
//! A clip shows them as fast as they were seen: a picture stays until the next one comes. Files of single pictures have
//! each picture once.

use std::{
    io,
    path::Path,
    sync::{
        Arc, OnceLock,
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use super::number;
use crate::{
    diagnostic::Severity,
    file::{self, Claim},
    record::{self, Clip, Film, Recorder, Target},
};

/// Pictures that may wait for the thread; more are left out.
const MOST_WAITING: usize = 4;

/// What a recording is written as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// 256 colours a picture, shown everywhere.
    #[default]
    Gif,
    /// H.264, by ffmpeg.
    Mp4,
    /// VP9, by ffmpeg.
    WebM,
    /// A folder with a PNG for each picture.
    Pictures,
}

impl Format {
    /// All, and what they are called.
    pub const ALL: [(Self, &str); 4] = [
        (Self::Gif, "GIF"),
        (Self::Mp4, "MP4 (ffmpeg)"),
        (Self::WebM, "WebM (ffmpeg)"),
        (Self::Pictures, "PNG pictures"),
    ];

    fn ending(self) -> &'static str {
        match self {
            Self::Gif => "gif",
            Self::Mp4 => "mp4",
            Self::WebM => "webm",
            Self::Pictures => "frames",
        }
    }

    /// Pictures a second, at most. Those of a GIF are large, and take long to encode.
    fn per_second(self) -> f64 {
        match self {
            Self::Gif => 12.5,
            Self::Mp4 | Self::WebM => 30.0,
            Self::Pictures => 60.0,
        }
    }

    /// Whether a picture is repeated for as long as it was seen.
    fn repeats(self) -> bool {
        match self {
            Self::Gif | Self::Mp4 | Self::WebM => true,
            Self::Pictures => false,
        }
    }

    fn target(self, path: &Path) -> Target {
        match self {
            Self::Gif => Target::Clip(path.to_owned(), Clip::Gif),
            Self::Mp4 => Target::Clip(path.to_owned(), Clip::Mp4),
            Self::WebM => Target::Clip(path.to_owned(), Clip::WebM),
            Self::Pictures => Target::Sequence {
                before: path.join("").to_string_lossy().into_owned(),
                digits: 6,
                after: ".png".to_owned(),
            },
        }
    }

    /// Takes a name in `folder` that nothing has.
    fn claim(self, folder: &Path, stem: &str) -> io::Result<Claim> {
        loop {
            let path = file::free_name(folder, stem, self.ending());
            let taken = match self {
                Self::Gif | Self::Mp4 | Self::WebM => Claim::file(path),
                Self::Pictures => Claim::folder(path),
            };
            match taken {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                taken => return taken,
            }
        }
    }
}

/// How far a recording is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Since the first picture.
    pub elapsed: Duration,
    /// Pictures that were taken.
    pub pictures: u64,
}

/// A recording.
#[derive(Debug)]
pub struct Reel {
    format: Format,
    /// When the first picture came.
    begun: Option<Instant>,
    /// The place of the last picture.
    last: Option<u64>,
    pictures: u64,
    seen: SyncSender<Seen>,
    end: End,
    is_over: bool,
}

/// A picture, and the place from which on it is seen.
type Seen = (u64, Vec<u8>);

/// The place where a clip ends, once that is known. It is no message, for who ends a recording does not wait until
/// there is room for one.
type End = Arc<OnceLock<u64>>;

/// What became of a recording, as a sentence.
pub type Outcome = (Severity, String);

impl Reel {
    /// Begins one of pictures of `size_px`, in a new file or folder in `folder`. What became of it goes to `tell`, from
    /// the thread that writes it.
    ///
    /// # Errors
    /// A sentence, where nothing can be recorded.
    pub fn begin(
        format: Format,
        size_px: [u32; 2],
        (folder, stem): (&Path, &str),
        tell: impl FnOnce(Outcome) + Send + 'static,
    ) -> Result<(Self, JoinHandle<()>), String> {
        let failed = |error: &dyn std::fmt::Display| format!("Nothing is recorded: {error}.");
        let claim = format.claim(folder, stem).map_err(|error| {
            failed(&format!("{} cannot be written to: {error}", folder.display()))
        })?;
        let film = Film { size_px, per_second: format.per_second(), frames: 0 };
        let recorder = Recorder::new(format.target(claim.path()), film);
        let recorder = recorder.map_err(|error| failed(&error))?;
        let (seen, received) = sync_channel(MOST_WAITING);
        let end = End::default();
        let writer = Writer { format, recorder, end: end.clone(), present: None, written: 0 };
        let write = move || {
            let outcome = writer.write(&received, claim);
            // Who gives it pictures learns that there is no use in it before anything is told.
            drop(received);
            tell(outcome);
        };
        let thread = thread::Builder::new().name("recording".into()).spawn(write);
        let thread = thread.map_err(|error| failed(&error))?;
        let (begun, last) = (None, None);
        let reel = Self { format, begun, last, pictures: 0, seen, end, is_over: false };
        Ok((reel, thread))
    }

    /// Whether its thread has ended: what it was given last cannot be written.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// How far it is.
    pub fn progress(&self, now: Instant) -> Progress {
        Progress { elapsed: self.elapsed(now), pictures: self.pictures }
    }

    fn elapsed(&self, now: Instant) -> Duration {
        self.begun.map_or(Duration::ZERO, |begun| now.saturating_duration_since(begun))
    }

    /// The place of what is seen now among the pictures of the clip.
    fn place(&self, now: Instant) -> u64 {
        (self.elapsed(now).as_secs_f64() * self.format.per_second()) as u64
    }

    /// When the next picture is wanted, where that is not now.
    pub fn wanted_at(&self, now: Instant) -> Option<Instant> {
        let begun = self.begun?;
        let next = (self.last? + 1) as f64 / self.format.per_second();
        Some(begun + Duration::from_secs_f64(next)).filter(|at| *at > now)
    }

    /// Adds the picture that is seen from now on, rows of RGBA, the top one first. Gives whether it was taken.
    pub fn add(&mut self, now: Instant, rgba: Vec<u8>) -> bool {
        self.begun.get_or_insert(now);
        // The moment that was told may be rounded.
        let place = self.place(now).max(self.last.map_or(0, |last| last + 1));
        match self.seen.try_send((place, rgba)) {
            Ok(()) => {
                self.last = Some(place);
                self.pictures += 1;
                true
            }
            Err(TrySendError::Full(_)) => false,
            Err(TrySendError::Disconnected(_)) => {
                self.is_over = true;
                false
            }
        }
    }

    /// Ends it: the last picture was seen until now.
    pub fn end(self, now: Instant) {
        // Nobody else sets it; the thread looks when it has all pictures.
        self.end.get_or_init(|| self.place(now));
    }
}

/// What the thread has.
struct Writer {
    format: Format,
    recorder: Recorder,
    end: End,
    /// The picture that is seen, and is not written yet.
    present: Option<Vec<u8>>,
    written: u64,
}

impl Writer {
    /// Writes what comes. Gives what became of it.
    fn write(mut self, seen: &Receiver<Seen>, claim: Claim) -> Outcome {
        let format = self.format;
        let result = self.take(seen);
        let (count, seconds) = (self.written, self.written as f64 / format.per_second());
        let finished = match count {
            0 => result.map(|()| drop(self.recorder)),
            _ => result.and_then(|()| self.recorder.finish()),
        };
        let (path_told, pictures) = (claim.path().display(), number::count(count));
        match (finished, count) {
            (Ok(()), 0) => (Severity::Note, "No picture was recorded.".to_owned()),
            (Ok(()), _) if format.repeats() => {
                let seconds = number::seconds(seconds);
                (Severity::Note, format!("The recording, of {seconds}, is in {path_told}."))
            }
            (Ok(()), _) => {
                (Severity::Note, format!("{pictures} pictures are in the folder {path_told}."))
            }
            (Err(error), _) => (Severity::Error, format!("The recording has ended: {error}.")),
        }
    }

    /// Takes pictures until somebody ends it, or is gone.
    fn take(&mut self, seen: &Receiver<Seen>) -> record::Result<()> {
        for (place, rgba) in seen {
            self.hold(place)?;
            self.present = Some(rgba);
        }
        self.hold(self.end.get().copied().unwrap_or(0))
    }

    /// Writes the present picture, up to `place` where a clip shows it for so long.
    fn hold(&mut self, place: u64) -> record::Result<()> {
        let Some(present) = &self.present else { return Ok(()) };
        let end = if self.format.repeats() { place } else { 0 }.max(self.written + 1);
        while self.written < end {
            self.written += 1;
            self.recorder.add(self.written, present)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, sync::mpsc::channel};

    use super::*;

    const SIZE: [u32; 2] = [4, 2];

    fn picture(value: u8) -> Vec<u8> {
        [value, value, value, 255].repeat(8)
    }

    /// Records these pictures, each so many seconds after the first one, for `seconds` in all; gives what is told.
    fn recorded(format: Format, folder: &Path, pictures: &[(f64, u8)], seconds: f64) -> Outcome {
        let (sender, told) = channel();
        let tell = move |outcome| sender.send(outcome).unwrap();
        let (mut reel, thread) = Reel::begin(format, SIZE, (folder, "waves"), tell).unwrap();
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs_f64(seconds);
        for (at, value) in pictures {
            // The thread takes them one by one.
            while !reel.add(after(*at), picture(*value)) {
                thread::yield_now();
            }
        }
        reel.end(after(seconds));
        thread.join().unwrap();
        told.recv().unwrap()
    }

    /// The grey of each picture of a GIF.
    fn shown(path: &Path) -> Vec<u8> {
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(fs::File::open(path).unwrap()).unwrap();
        let first =
            |decoder: &mut gif::Decoder<_>| Some(decoder.read_next_frame().unwrap()?.buffer[0]);
        std::iter::from_fn(|| first(&mut decoder)).collect()
    }

    #[test]
    fn a_clip_shows_each_picture_for_as_long_as_it_was_seen() {
        let folder = tempfile::tempdir().unwrap();
        // 12.5 pictures a second: 80 ms each.
        let pictures = [(0.0, 10), (0.09, 100), (0.40, 200)];
        let (severity, told) = recorded(Format::Gif, folder.path(), &pictures, 0.57);
        assert_eq!(severity, Severity::Note, "{told}");
        let path = folder.path().join("waves.gif");
        assert!(told.contains(&path.display().to_string()), "{told}");
        assert_eq!(shown(&path), [10, 100, 100, 100, 100, 200, 200]);
    }

    #[test]
    fn single_pictures_are_written_once() {
        let folder = tempfile::tempdir().unwrap();
        let pictures = [(0.0, 10), (2.0, 100)];
        let (_, told) = recorded(Format::Pictures, folder.path(), &pictures, 9.0);
        assert!(told.starts_with("2 pictures"), "{told}");
        let frames = folder.path().join("waves.frames");
        let mut names: Vec<_> =
            fs::read_dir(&frames).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["000001.png", "000002.png"]);
    }

    #[test]
    fn nothing_that_is_there_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("waves.gif"), "mine").unwrap();
        fs::create_dir(folder.path().join("waves.frames")).unwrap();
        for format in [Format::Gif, Format::Pictures] {
            let (_, told) = recorded(format, folder.path(), &[(0.0, 1)], 0.1);
            assert!(told.contains("waves-2"), "{told}");
        }
        assert_eq!(fs::read_to_string(folder.path().join("waves.gif")).unwrap(), "mine");
        assert_eq!(fs::read_dir(folder.path().join("waves.frames")).unwrap().count(), 0);
    }

    #[test]
    fn what_has_come_to_nothing_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        for format in [Format::Gif, Format::Pictures] {
            let (_, told) = recorded(format, folder.path(), &[], 1.0);
            assert_eq!(told, "No picture was recorded.");
        }
        let nowhere = folder.path().join("nowhere");
        let begun = Reel::begin(Format::Gif, SIZE, (&nowhere, "waves"), |_| {});
        assert!(begun.unwrap_err().contains("nowhere cannot be written to"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_picture_that_cannot_be_written_ends_the_recording() {
        let folder = tempfile::tempdir().unwrap();
        let (sender, told) = channel();
        let tell = move |outcome| sender.send(outcome).unwrap();
        let place = (folder.path(), "waves");
        let (mut reel, thread) = Reel::begin(Format::Gif, SIZE, place, tell).unwrap();
        let now = Instant::now();
        reel.add(now, vec![0; 3]);
        reel.add(now, vec![0; 3]);
        thread.join().unwrap();
        assert!(!reel.add(now, picture(1)) && reel.is_over());
        assert_eq!(told.recv().unwrap().0, Severity::Error);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "its name is free again");
    }

    #[test]
    fn the_next_picture_is_wanted_when_the_clip_has_a_place_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let place = (folder.path(), "waves");
        let (mut reel, thread) = Reel::begin(Format::Gif, SIZE, place, |_| {}).unwrap();
        let now = Instant::now();
        assert_eq!(reel.wanted_at(now), None, "the first one at once");
        assert!(reel.add(now, picture(1)));
        assert_eq!(reel.wanted_at(now), Some(now + Duration::from_millis(80)));
        let later = now + Duration::from_millis(81);
        assert_eq!(reel.wanted_at(later), None);
        assert_eq!(reel.progress(later).pictures, 1);
        drop(reel);
        thread.join().unwrap();
        assert_eq!(shown(&folder.path().join("waves.gif")), [1], "who recorded it was gone");
    }
}
