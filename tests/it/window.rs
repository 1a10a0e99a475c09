//! The studio in a real window under Xvfb: keys typed by a real client, pictures read off the screen.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use super::support::{Ended, Workplace, root};

/// How long anything may take on a busy machine before a test gives up.
const PATIENCE: Duration = Duration::from_secs(90);

/// A scene that is one bright blob at x = `shift()`, whose last line is made for typing at its end.
const BLOB: &str = r#"/*---
title = "Blob"
[constant]
n = 2000
[buffer.position]
type = "float4"
count = "n"
[[pass]]
kernel = "place"
over = "position"
[view]
kind = "points"
position = "position"
size = 8.0
---*/
__device__ float shift();
__global__ void place(float4 *position, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float angle = 6.2831853f * i / n, radius = 0.1f * (i % 10) / 10.0f;
    position[i] = make_float4(shift() + radius * cosf(angle), radius * sinf(angle), 0.0f, 1.0f);
}
__device__ float shift() { return 0.0f; }"#;

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A screen in memory, with the studio on it.
struct Screen {
    place: Workplace,
    display: String,
    _server: Running,
    studio: Running,
}

/// A picture of the screen: rows of red, green, blue.
struct Picture {
    width: usize,
    height: usize,
    rgb: Vec<[u8; 3]>,
}

impl Screen {
    /// Opens the studio with `text` in `scene.cu`; `None`, said aloud, where there is no Xvfb or xdotool.
    fn open(text: &str) -> Option<Self> {
        for tool in ["Xvfb", "xdotool"] {
            if Command::new("which").arg(tool).output().is_ok_and(|o| !o.status.success()) {
                eprintln!("skipped: no {tool} (scripts/setup installs it)");
                return None;
            }
        }
        let place = Workplace::new();
        place.file("scene.cu", text);
        fs::create_dir(place.path("screen")).unwrap();
        let mut server = Command::new("Xvfb")
            .args([
                "-displayfd",
                "1",
                "-screen",
                "0",
                "1600x900x24",
                "-nolisten",
                "tcp",
                "-noreset",
                "-fbdir",
            ])
            .arg(place.path("screen"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        let display = format!(":{}", number.trim());
        let server = Running(server);
        let start = Instant::now();
        let answers = || {
            let mut client = Command::new("xdotool");
            client.arg("getdisplaygeometry").env("DISPLAY", &display);
            client.output().is_ok_and(|output| output.status.success())
        };
        while !answers() {
            assert!(start.elapsed() < PATIENCE, "Xvfb does not answer on {display}");
            sleep(Duration::from_millis(50));
        }
        let studio = place
            .command(&["scene.cu", "--device", "cpu"])
            .env("DISPLAY", &display)
            .env_remove("WAYLAND_DISPLAY")
            .env("XDG_CACHE_HOME", place.path("cache"))
            .stderr(fs::File::create(place.path("studio.log")).unwrap())
            .spawn()
            .unwrap();
        let screen = Self { place, display, _server: server, studio: Running(studio) };
        // There is no window manager to give the window the keyboard.
        let focus = ["search", "--onlyvisible", "--name", "warpaint", "windowfocus"];
        screen.until("the window opens", || screen.xdotool(&focus).code == Some(0));
        Some(screen)
    }

    fn xdotool(&self, arguments: &[&str]) -> Ended {
        let output = Command::new("xdotool").args(arguments).env("DISPLAY", &self.display).output();
        Ended::new(output.unwrap())
    }

    /// Waits for a condition; shows the studio's log and keeps a picture when it does not come.
    #[track_caller]
    fn until(&self, what: &str, mut condition: impl FnMut() -> bool) {
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
    fn keep_picture(&self) -> PathBuf {
        let folder = root().join("target/failed");
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("window.png");
        let picture = self.picture();
        let bytes: Vec<u8> = picture.rgb.concat();
        image::save_buffer(
            &path,
            &bytes,
            picture.width as u32,
            picture.height as u32,
            image::ExtendedColorType::Rgb8,
        )
        .unwrap();
        path
    }

    /// The screen now, from the frame buffer that Xvfb keeps as an X window dump (XWDFile.h).
    fn picture(&self) -> Picture {
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
    fn blob(&self) -> Option<[f32; 2]> {
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
const VIEW: [usize; 4] = [700, 150, 1250, 560];
/// A point in the editor.
const EDITOR: [&str; 2] = ["250", "300"];

impl Screen {
    /// Waits until the blob stands still somewhere that `accept` likes.
    #[track_caller]
    fn blob_where(&self, what: &str, accept: impl Fn([f32; 2]) -> bool) -> [f32; 2] {
        let mut found = None;
        self.until(what, || {
            found = self.blob().filter(|&at| accept(at));
            found.is_some()
        });
        found.unwrap()
    }

    /// Types at the end of the text: the caret is put between `0.0f` and `; }`.
    fn type_behind_the_number(&self, text: &str) {
        self.xdotool(&["mousemove", EDITOR[0], EDITOR[1], "click", "1"]).expect(0, &[]);
        self.xdotool(&["key", "--delay", "40", "ctrl+End", "Left", "Left", "Left"]).expect(0, &[]);
        self.xdotool(&["type", "--delay", "60", text]).expect(0, &[]);
    }
}

#[test]
fn typing_in_the_editor_changes_the_picture() {
    let Some(mut screen) = Screen::open(BLOB) else { return };
    let before = screen.blob_where("the blob is drawn", |_| true);

    screen.type_behind_the_number("+0.5f");
    let after = screen.blob_where("the blob moves to the right", |at| at[0] > before[0] + 40.0);
    assert!((after[1] - before[1]).abs() < 40.0, "from {before:?} to {after:?}");

    // Broken: the old kernel goes on. Mended: the new one runs.
    screen.xdotool(&["type", "--delay", "60", "+nothing"]).expect(0, &[]);
    sleep(Duration::from_secs(3));
    let broken = screen.blob_where("the old kernel goes on", |_| true);
    assert!((broken[0] - after[0]).abs() < 10.0, "from {after:?} to {broken:?}");
    screen.xdotool(
        &["key", "--delay", "40"].iter().chain(&["BackSpace"; 8]).copied().collect::<Vec<_>>(),
    );
    screen.xdotool(&["type", "--delay", "60", "--", "-1.0f"]).expect(0, &[]);
    screen.xdotool(&["key", "ctrl+Return"]).expect(0, &[]);
    screen.blob_where("the mended kernel runs", |at| at[0] < before[0] - 40.0);

    assert_eq!(fs::read_to_string(screen.place.path("scene.cu")).unwrap(), BLOB, "nobody saved it");
    assert!(screen.studio.0.try_wait().unwrap().is_none(), "the studio lives on");
}

#[test]
fn saving_in_another_editor_changes_the_picture() {
    let Some(screen) = Screen::open(BLOB) else { return };
    let before = screen.blob_where("the blob is drawn", |_| true);
    // As editors do: a new file takes the old one's place.
    let edited = BLOB.replace("return 0.0f;", "return -0.5f;");
    screen.place.file("scene.cu.new", &edited);
    fs::rename(screen.place.path("scene.cu.new"), screen.place.path("scene.cu")).unwrap();
    screen.blob_where("the blob moves to the left", |at| at[0] < before[0] - 40.0);
}

#[test]
fn a_window_destroyed_by_another_program_is_an_error() {
    let Some(mut screen) = Screen::open(BLOB) else { return };
    screen.blob_where("the blob is drawn", |_| true);
    screen.type_behind_the_number("+0.5f");
    let close = ["search", "--onlyvisible", "--name", "warpaint", "windowclose"];
    screen.xdotool(&close).expect(0, &[]);
    let start = Instant::now();
    let code = loop {
        if let Some(status) = screen.studio.0.try_wait().unwrap() {
            break status.code();
        }
        assert!(start.elapsed() < PATIENCE, "the studio goes on without a window");
        sleep(Duration::from_millis(100));
    };
    let log = fs::read_to_string(screen.place.path("studio.log")).unwrap();
    assert_eq!(code, Some(3), "{log}");
    assert!(!log.contains("panicked"), "{log}");
}
