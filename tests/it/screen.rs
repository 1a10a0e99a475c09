//! The studio in a real window under Xvfb: keys typed by a real client, pictures read off the screen.

mod dropping;

use crate::skip::{Need, skip};
use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::process::ExitStatusExt,
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use super::support::{Ended, Workplace, root};

/// How long anything may take on a busy machine before a test gives up.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A screen in memory for studios whose files are all in a folder of the test's own.
pub struct Screen {
    pub place: Workplace,
    display: String,
    _server: Running,
}

/// A studio on a screen.
pub struct Studio {
    process: Running,
    log: PathBuf,
}

/// A picture of the screen: rows of red, green, blue.
pub struct Picture {
    pub width: usize,
    pub height: usize,
    pub rgb: Vec<[u8; 3]>,
}

impl Screen {
    /// An empty screen; `None`, said aloud, where there is no Xvfb or xdotool.
    pub fn new() -> Option<Self> {
        for tool in ["Xvfb", "xdotool"] {
            if Command::new("which").arg(tool).output().is_ok_and(|o| !o.status.success()) {
                skip(Need::Window, format_args!("no {tool} (scripts/setup installs it)"));
                return None;
            }
        }
        let place = Workplace::new();
        fs::create_dir(place.path("screen")).unwrap();
        link_compiler(&place);
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1600x900x24"])
            .args(["-nolisten", "tcp", "-noreset", "-fbdir"])
            .arg(place.path("screen"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        let display = format!(":{}", number.trim());
        let screen = Self { place, display, _server: Running(server) };
        let start = Instant::now();
        while screen.xdotool(&["getdisplaygeometry"]).code != Some(0) {
            assert!(start.elapsed() < PATIENCE, "Xvfb does not answer on {}", screen.display);
            sleep(Duration::from_millis(50));
        }
        Some(screen)
    }

    /// A screen with a studio that has `text` in `scene.cu`.
    pub fn open(text: &str) -> Option<(Self, Studio)> {
        let screen = Self::new()?;
        screen.place.file("scene.cu", text);
        let studio = screen.start(&["scene.cu"]);
        Some((screen, studio))
    }

    /// Starts a studio and gives its window the keyboard, as no window manager is there to do it.
    #[track_caller]
    pub fn start(&self, arguments: &[&str]) -> Studio {
        self.start_with(arguments, |_| {})
    }

    /// As [`Screen::start`], with more to say about the process.
    #[track_caller]
    pub fn start_with(&self, arguments: &[&str], adapt: impl FnOnce(&mut Command)) -> Studio {
        let log = self.place.path("studio.log");
        let mut command = self.place.command(arguments);
        command
            .args(["--device", "cpu"])
            .env("DISPLAY", &self.display)
            .env_remove("WAYLAND_DISPLAY")
            .env("XDG_CACHE_HOME", self.place.path("cache"))
            .env("XDG_DATA_HOME", self.place.path("data"))
            .stderr(fs::File::create(&log).unwrap());
        adapt(&mut command);
        let studio = Studio { process: Running(command.spawn().unwrap()), log };
        let focus = ["search", "--onlyvisible", "--name", "warpaint", "windowfocus"];
        self.until("the window opens", || self.xdotool(&focus).code == Some(0));
        studio
    }

    pub fn xdotool(&self, arguments: &[&str]) -> Ended {
        let output = Command::new("xdotool").args(arguments).env("DISPLAY", &self.display).output();
        Ended::new(output.unwrap())
    }

    /// Presses keys, one after the other.
    #[track_caller]
    pub fn keys(&self, keys: &[&str]) {
        let all: Vec<&str> = ["key", "--delay", "40"].iter().chain(keys).copied().collect();
        self.xdotool(&all).expect(0, &[]);
    }

    #[track_caller]
    pub fn type_text(&self, text: &str) {
        self.xdotool(&["type", "--delay", "60", "--", text]).expect(0, &[]);
    }

    /// Moves the pointer, then does what `arguments` say.
    #[track_caller]
    pub fn mouse(&self, arguments: &[&str], [x, y]: [i32; 2]) {
        let place = [x.to_string(), y.to_string()];
        let mut all = vec!["mousemove", &place[0], &place[1]];
        all.extend(arguments);
        self.xdotool(&all).expect(0, &[]);
    }

    /// A click, as slow as a hand's.
    #[track_caller]
    pub fn click(&self, at: [i32; 2]) {
        self.mouse(&["sleep", "0.2", "mousedown", "1", "sleep", "0.1", "mouseup", "1"], at);
        sleep(Duration::from_millis(400));
    }

    /// The titles of all windows, a line each; they name the file, behind a dot where that is modified.
    pub fn title(&self) -> String {
        let all = ["search", "--onlyvisible", "--name", "warpaint", "getwindowname", "%@"];
        self.xdotool(&all).out.trim().to_owned()
    }

    /// Waits for a condition; shows the studio's log and keeps a picture when it does not come.
    #[track_caller]
    pub fn until(&self, what: &str, mut condition: impl FnMut() -> bool) {
        let start = Instant::now();
        while !condition() {
            if start.elapsed() > PATIENCE {
                let log = fs::read_to_string(self.place.path("studio.log")).unwrap_or_default();
                let picture = self.keep_picture();
                panic!("not within {PATIENCE:?}: {what}\npicture: {picture:?}\nlog: {log}");
            }
            sleep(Duration::from_millis(100));
        }
    }

    /// Where the screen was saved for whoever looks into the failure.
    pub fn keep_picture(&self) -> PathBuf {
        let folder = root().join("target/failed");
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("window.png");
        let picture = self.picture();
        let bytes: Vec<u8> = picture.rgb.concat();
        let (width, height) = (picture.width as u32, picture.height as u32);
        image::save_buffer(&path, &bytes, width, height, image::ExtendedColorType::Rgb8).unwrap();
        path
    }

    /// The screen now, from the frame buffer that Xvfb keeps as an X window dump (XWDFile.h).
    pub fn picture(&self) -> Picture {
        let dump = fs::read(self.place.path("screen/Xvfb_screen0")).unwrap();
        let word = |index: usize| {
            let at = 4 * index;
            u32::from_be_bytes(dump[at..at + 4].try_into().unwrap()) as usize
        };
        let (header, width, height, bits, stride, colors) =
            (word(0), word(4), word(5), word(11), word(12), word(19));
        assert_eq!(bits, 32, "a screen of depth 24 has 32 bits a pixel");
        let start = header + colors * 12;
        let rows = dump[start..].chunks(stride).take(height);
        let rgb =
            rows.flat_map(|row| row[..4 * width].chunks(4).map(|p| [p[2], p[1], p[0]])).collect();
        Picture { width, height, rgb }
    }

    /// The blob's place in the view: the middle of the bright, warm or white pixels in the picture's middle.
    pub fn blob(&self) -> Option<[f32; 2]> {
        let picture = self.picture();
        let view = VIEW;
        let (mut sum, mut count) = ([0.0, 0.0], 0);
        for y in view[1]..view[3] {
            for x in view[0]..view[2] {
                if picture.rgb[y * picture.width + x].iter().map(|&c| u32::from(c)).sum::<u32>()
                    > 500
                {
                    sum = [sum[0] + x as f32, sum[1] + y as f32];
                    count += 1;
                }
            }
        }
        (count > 20).then(|| sum.map(|s| s / count as f32))
    }
}

/// A part of the window that only the picture covers, at the studio's first layout: left, top, right, bottom.
pub const VIEW: [usize; 4] = [700, 150, 1250, 560];

impl Studio {
    /// Sends a signal.
    pub fn signal(&self, name: &str) {
        let pid = self.process.0.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status().unwrap();
        assert!(sent.success(), "{name}");
    }

    /// What it has said.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// How much of its memory is in the machine's (Linux: `VmRSS`), in MiB.
    pub fn resident_mib(&self) -> u64 {
        let path = format!("/proc/{}/status", self.process.0.id());
        let status = fs::read_to_string(path).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.split_whitespace().next().unwrap().parse::<u64>().unwrap() / 1024
    }

    /// Ends it as a crash does.
    pub fn kill(mut self) {
        self.process.0.kill().unwrap();
        assert_eq!(self.process.0.wait().unwrap().signal(), Some(9));
    }

    pub fn is_running(&mut self) -> bool {
        self.process.0.try_wait().unwrap().is_none()
    }

    /// Waits for its end, at most `limit`; gives how it ended and what it said.
    #[track_caller]
    pub fn ended_within(mut self, limit: Duration) -> (ExitStatus, String) {
        let start = Instant::now();
        while self.is_running() {
            assert!(start.elapsed() < limit, "the studio goes on after {limit:?}");
            sleep(Duration::from_millis(50));
        }
        let log = fs::read_to_string(&self.log).unwrap();
        assert!(!log.contains("panicked"), "{log}");
        (self.process.0.wait().unwrap(), log)
    }
}

/// The studio's data folder is the test's own but for the compiler, which `scripts/setup` puts into the user's.
fn link_compiler(place: &Workplace) {
    let own = place.path("data/warpaint");
    fs::create_dir_all(&own).unwrap();
    let Some(users) = directories::ProjectDirs::from("", "", "warpaint") else { return };
    if let Ok(entries) = fs::read_dir(users.data_dir()) {
        for entry in entries.flatten().filter(|entry| entry.file_name() != "recovery") {
            std::os::unix::fs::symlink(entry.path(), own.join(entry.file_name())).unwrap();
        }
    }
}

/// A point in the editor, at the studio's first layout.
pub const EDITOR: [i32; 2] = [250, 300];

impl Screen {
    /// Waits until the blob stands still somewhere that `accept` likes.
    #[track_caller]
    pub fn blob_where(&self, what: &str, accept: impl Fn([f32; 2]) -> bool) -> [f32; 2] {
        let mut found = None;
        self.until(what, || {
            found = self.blob().filter(|&at| accept(at));
            found.is_some()
        });
        found.unwrap()
    }

    /// Types at the end of the text: the caret is put between `0.0f` and `; }`.
    #[track_caller]
    pub fn type_behind_the_number(&self, text: &str) {
        self.click(EDITOR);
        self.keys(&["ctrl+End", "Left", "Left", "Left"]);
        self.type_text(text);
    }
}
