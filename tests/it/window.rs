//! The studio in a real window under Xvfb: keys typed by a real client, pictures read off the screen.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use warpaint::draw::Colormap;

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
camera.distance = 4.3
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

/// An image of 4 x 4 texels, each of another value.
const TEXELS: &str = r#"/*---
title = "Texels"
[texture.field]
format = "r32f"
size = [4, 4]
[[pass]]
kernel = "count"
over = "field"
[view]
kind = "image"
texture = "field"
colormap = "turbo"
range = [0.0, 15.0]
---*/
__global__ void count(cudaSurfaceObject_t field)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 4 && y < 4) surf2Dwrite(float(y * 4 + x), field, x * 4, y);
}
"#;

/// The view at the studio's first layout: left, top, right, bottom. The image is as high as it, in its middle.
const SHOWN: [i32; 4] = [520, 46, 1190, 638];
/// Its lower right corner has what is under the pointer, above the legend.
const PROBE: [i32; 4] = [1000, 500, 1176, 543];

/// What of the image a row of the screen shows.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    /// The number of the texel.
    texel: usize,
    /// From here to there.
    ends: [i32; 2],
}

impl Run {
    fn width(&self) -> i32 {
        self.ends[1] - self.ends[0]
    }

    /// Where a place is in the texel, from 0 to 1.
    fn part(&self, x: i32) -> f32 {
        (x - self.ends[0]) as f32 / self.width() as f32
    }
}

impl Picture {
    fn at(&self, [x, y]: [i32; 2]) -> [u8; 3] {
        self.rgb[y as usize * self.width + x as usize]
    }

    /// The texel whose colour a pixel has.
    fn texel(&self, at: [i32; 2]) -> Option<usize> {
        let near = |texel: &usize| {
            let color = Colormap::Turbo.srgb8(*texel as f32 / 15.0);
            self.at(at).iter().zip(color).all(|(a, b)| a.abs_diff(b) <= 3)
        };
        (0..16).find(near)
    }

    /// The texel at a place, and how far it reaches to both sides.
    fn run(&self, [x, y]: [i32; 2]) -> Option<Run> {
        let texel = self.texel([x, y])?;
        let same = |x: &i32| self.texel([*x, y]) == Some(texel);
        let right = (x..SHOWN[2]).take_while(same).last()?;
        let left = (SHOWN[0]..=x).rev().take_while(same).last()?;
        Some(Run { texel, ends: [left, right + 1] })
    }

    /// The words on what is under the pointer: pixels that are nearly white.
    fn words(&self) -> Vec<[i32; 2]> {
        let [left, top, right, bottom] = PROBE;
        let all = (top..bottom).flat_map(|y| (left..right).map(move |x| [x, y]));
        all.filter(|&at| self.at(at).into_iter().all(|channel| channel > 170)).collect()
    }
}

impl Screen {
    fn mouse(&self, arguments: &[&str], [x, y]: [i32; 2]) {
        let place = [x.to_string(), y.to_string()];
        let mut all = vec!["mousemove", &place[0], &place[1]];
        all.extend(arguments);
        self.xdotool(&all).expect(0, &[]);
    }

    /// Waits until the row at `place` stands still and `accept` likes it.
    #[track_caller]
    fn run_where(&self, what: &str, place: [i32; 2], accept: impl Fn(Run) -> bool) -> Run {
        let (mut before, mut found) = (None, None);
        self.until(what, || {
            found = self.picture().run(place).filter(|&run| accept(run));
            let still = found.is_some() && found == before;
            before = found;
            still
        });
        found.unwrap()
    }

    /// The words on what is under the pointer, once they are there and stand still.
    #[track_caller]
    fn words(&self) -> Vec<[i32; 2]> {
        let mut found = Vec::new();
        self.until("the value under the pointer is written", || {
            let before = std::mem::replace(&mut found, self.picture().words());
            found.len() > 40 && found == before
        });
        found
    }
}

/// The share of pixels that are only in one of both.
fn apart(a: &[[i32; 2]], b: &[[i32; 2]]) -> f32 {
    let common = a.iter().filter(|at| b.contains(at)).count();
    1.0 - 2.0 * common as f32 / (a.len() + b.len()) as f32
}

#[test]
fn an_image_is_zoomed_about_the_pointer_and_dragged() {
    let Some(screen) = Screen::open(TEXELS) else { return };
    // In the second column and row from the left and from above: texel 9.
    let place = [SHOWN[0] + 39 + 148 + 60, SHOWN[1] + 148 + 50];
    let all_of_it = screen.run_where("the image is drawn", place, |_| true);
    assert_eq!((all_of_it.texel, all_of_it.width()), (9, 148), "{all_of_it:?}");
    screen.mouse(&[], place);
    let words = screen.words();

    screen.mouse(&["click", "--repeat", "4", "--delay", "60", "4"], place);
    let larger = screen.run_where("the wheel enlarges", place, |run| run.width() > 200);
    assert_eq!(larger.texel, 9);
    let moved = (larger.part(place[0]) - all_of_it.part(place[0])).abs();
    // Ends are whole pixels.
    assert!(moved < 2.0 / 148.0, "what is under the pointer stays there: {moved}");
    // The picture shines through behind the words, which changes pixels at their edges.
    let same = apart(&screen.words(), &words);
    assert!(same < 0.15, "the same texel's value: {same}");

    // To the right of it is texel 10, which has another value.
    let beside = [larger.ends[1] + 20, place[1]];
    screen.mouse(&[], beside);
    screen.until("another texel's value", || {
        let found = screen.picture().words();
        found.len() > 40 && apart(&found, &words) > 0.15
    });
    assert_eq!(screen.picture().texel(beside), Some(10));

    screen.mouse(&["mousedown", "1"], place);
    let to = [place[0] + 52, place[1] + 42];
    for part in 1..=4 {
        // One after the other, so that frames come between, slow ones too.
        sleep(Duration::from_millis(400));
        screen.mouse(&[], [place[0] + 13 * part, place[1] + 42 * part / 4]);
    }
    // The first pixels could still become a click, and those before the first frame belong to none.
    let dragged = screen.run_where("the image is dragged", to, |run| {
        run.texel == 9 && (24..=53).contains(&(run.ends[0] - larger.ends[0]))
    });
    screen.xdotool(&["mouseup", "1"]).expect(0, &[]);
    assert!((dragged.width() - larger.width()).abs() <= 1, "{dragged:?} {larger:?}");

    screen.mouse(&["click", "--repeat", "2", "--delay", "60", "1"], to);
    screen.run_where("a double click shows all of it", place, |run| run == all_of_it);
    screen.mouse(&["click", "--repeat", "4", "--delay", "60", "4"], place);
    screen.run_where("the wheel enlarges again", place, |run| run.width() > 200);
    screen.xdotool(&["key", "Home"]).expect(0, &[]);
    screen.run_where("Home shows all of it", place, |run| run == all_of_it);
}
