//! What the studio's window shows: pictures that follow the text, and images that are zoomed and dragged.

use std::{fs, path::Path, thread::sleep, time::Duration};

use warpaint::draw::Colormap;

use super::screen::{PATIENCE, Picture, Screen};

/// A scene that is one bright blob at x = `shift()`, whose last line is made for typing at its end.
pub const BLOB: &str = r#"/*---
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

/// The button that trusts a scene, at the studio's first layout.
const TRUST: [i32; 2] = [1122, 64];

#[test]
fn typing_in_the_editor_changes_the_picture() {
    let Some((screen, mut studio)) = Screen::open(BLOB) else { return };
    let before = screen.blob_where("the blob is drawn", |_| true);

    screen.type_behind_the_number("+0.5f");
    let after = screen.blob_where("the blob moves to the right", |at| at[0] > before[0] + 40.0);
    assert!((after[1] - before[1]).abs() < 40.0, "from {before:?} to {after:?}");

    // Broken: the old kernel goes on. Mended: the new one runs.
    screen.type_text("+nothing");
    sleep(Duration::from_secs(3));
    let broken = screen.blob_where("the old kernel goes on", |_| true);
    assert!((broken[0] - after[0]).abs() < 10.0, "from {after:?} to {broken:?}");
    screen.keys(&["BackSpace"; 8]);
    screen.type_text("-1.0f");
    screen.keys(&["ctrl+Return"]);
    screen.blob_where("the mended kernel runs", |at| at[0] < before[0] - 40.0);

    assert_eq!(fs::read_to_string(screen.place.path("scene.cu")).unwrap(), BLOB, "nobody saved it");
    assert!(studio.is_running(), "the studio lives on");
}

#[test]
fn a_scene_that_includes_from_elsewhere_runs_once_it_is_trusted() {
    let Some(screen) = Screen::new() else { return };
    fs::create_dir(screen.place.path("scenes")).unwrap();
    screen.place.file("outside.h", "#define SHIFT 0.5f\n");
    let by_header = BLOB.replace("---*/\n", "---*/\n#include \"../outside.h\"\n");
    let text = by_header.replace("return 0.0f", "return SHIFT");
    screen.place.file("scenes/scene.cu", &text);
    let mut studio = screen.start(&["scenes/scene.cu"]);
    // The strip with the question is of the colour of warnings.
    let asks = || {
        let picture = screen.picture();
        let [red, green, blue] = picture.rgb[TRUST[1] as usize * picture.width + 1040];
        red > blue + 8 && green > blue + 4
    };
    screen.until("the question is there", asks);
    assert_eq!(screen.blob(), None, "nothing runs before the answer");
    screen.click(TRUST);
    screen.blob_where("the blob is drawn", |_| true);
    assert!(!asks());
    assert!(studio.is_running());
}

/// A program that makes a picture, as nvcc takes it.
const FOREIGN: &str = "#include <cstdio>
#include <vector>
struct Shade { float low, high; };
__global__ void paint(float *picture, int width, int height, Shade shade) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) picture[y * width + x] = x + y > 0 ? shade.high : shade.low;
}
int main() {
    const int width = 64, height = 32;
    float *picture;
    cudaMalloc(&picture, width * height * sizeof(float));
    Shade shade = {-1.0f, 3.0f};
    paint<<<dim3(4, 2), dim3(16, 16)>>>(picture, width, height, shade);
    std::vector<float> back(width * height);
    cudaMemcpy(back.data(), picture, back.size() * sizeof(float), cudaMemcpyDeviceToHost);
    printf(\"%f\\n\", back[1]);
}
";

/// The upper end of viridis, as matplotlib has it.
const YELLOW: [u8; 3] = [253, 231, 37];

/// Without a change to its kernel.
#[test]
fn a_dropped_file_without_a_manifest_runs_once_one_is_written() {
    let Some((screen, mut studio)) = Screen::open(BLOB) else { return };
    screen.blob_where("the blob is drawn", |_| true);
    screen.place.file("foreign.cu", FOREIGN);
    screen.drop_file(&screen.place.path("foreign.cu"), [900, 400]);
    screen.until("the file is open", || screen.title().contains("foreign.cu"));
    screen.until("nothing is drawn without a manifest", || screen.blob().is_none());
    // The button stands where that which trusts a scene does.
    screen.until("the manifest is there", || {
        screen.click(TRUST);
        screen.title().contains('•')
    });
    screen.until("the picture is drawn", || {
        let (picture, [x, y]) = (screen.picture(), [900, 350]);
        let found = picture.rgb[y * picture.width + x];
        found.iter().zip(YELLOW).all(|(own, due)| own.abs_diff(due) < 3)
    });
    screen.keys(&["ctrl+s"]);
    let saved = || fs::read_to_string(screen.place.path("foreign.cu")).unwrap();
    screen.until("it is saved", || saved() != FOREIGN);
    let text = saved();
    assert!(text.ends_with(FOREIGN) && text.starts_with("/*---\n"), "{text}");
    assert!(text.contains("shade = { low = -1.0, high = 3.0 }"), "{text}");
    assert!(studio.is_running());
}

#[test]
fn saving_in_another_editor_changes_the_picture() {
    let Some((screen, _studio)) = Screen::open(BLOB) else { return };
    let before = screen.blob_where("the blob is drawn", |_| true);
    // As editors do: a new file takes the old one's place.
    let edited = BLOB.replace("return 0.0f;", "return -0.5f;");
    screen.place.file("scene.cu.new", &edited);
    fs::rename(screen.place.path("scene.cu.new"), screen.place.path("scene.cu")).unwrap();
    screen.blob_where("the blob moves to the left", |at| at[0] < before[0] - 40.0);
}

#[test]
fn saving_a_data_file_changes_the_picture() {
    let Some(screen) = Screen::new() else { return };
    let variable =
        "[variable.by]\ntype = \"float\"\nfile = \"missing.raw\"\ndtype = \"float32\"\n---*/\n";
    let kernels = BLOB.replace("---*/\n", &format!("{variable}__device__ float by;\n"));
    screen.place.file("scene.cu", &kernels.replace("return 0.0f", "return by"));
    fs::create_dir(screen.place.path("elsewhere")).unwrap();
    let save = |by: f32| {
        fs::write(screen.place.path("elsewhere/by.raw"), by.to_le_bytes()).unwrap();
    };
    save(0.0);
    let _studio = screen.start(&["scene.cu", "--load", "by=elsewhere/by.raw"]);
    let before = screen.blob_where("the blob is drawn", |_| true);
    save(-0.5);
    screen.blob_where("the blob moves to the left", |at| at[0] < before[0] - 40.0);
}

#[test]
fn a_window_destroyed_by_another_program_is_an_error() {
    let Some((screen, studio)) = Screen::open(BLOB) else { return };
    screen.blob_where("the blob is drawn", |_| true);
    screen.type_behind_the_number("+0.5f");
    let close = ["search", "--onlyvisible", "--name", "warpaint", "windowclose"];
    screen.xdotool(&close).expect(0, &[]);
    let (status, log) = studio.ended_within(PATIENCE);
    assert_eq!(status.code(), Some(3), "{log}");
}

#[test]
fn a_window_may_be_larger_than_any_texture() {
    let Some((screen, mut studio)) = Screen::open(BLOB) else { return };
    screen.blob_where("the blob is drawn", |_| true);
    let window = ["search", "--onlyvisible", "--name", "warpaint"];
    for (width, height) in [("20000", "300"), ("1400", "900")] {
        let size = ["windowsize", "--sync", width, height];
        screen.xdotool(&[&window[..], &size].concat()).expect(0, &[]);
        sleep(Duration::from_millis(500));
    }
    screen.blob_where("the blob is drawn again", |_| true);
    assert!(studio.is_running());
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
const SHOWN: [i32; 4] = [519, 46, 1191, 597];
/// The side of a texel at first, of which the image has four.
const TEXEL: i32 = 138;
/// Its lower right corner has what is under the pointer, above the legend.
const PROBE: [i32; 4] = [1000, 459, 1177, 502];

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
    let Some((screen, _studio)) = Screen::open(TEXELS) else { return };
    // In the second column and row from the left and from above: texel 9.
    let left = (SHOWN[2] - SHOWN[0] - 4 * TEXEL) / 2;
    let place = [SHOWN[0] + left + TEXEL + 60, SHOWN[1] + TEXEL + 50];
    let all_of_it = screen.run_where("the image is drawn", place, |_| true);
    assert_eq!((all_of_it.texel, all_of_it.width()), (9, TEXEL), "{all_of_it:?}");
    screen.mouse(&[], place);
    let words = screen.words();

    screen.mouse(&["click", "--repeat", "4", "--delay", "60", "4"], place);
    let larger = screen.run_where("the wheel enlarges", place, |run| run.width() > 200);
    assert_eq!(larger.texel, 9);
    let moved = (larger.part(place[0]) - all_of_it.part(place[0])).abs();
    // Ends are whole pixels.
    assert!(moved < 2.0 / TEXEL as f32, "what is under the pointer stays there: {moved}");
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

/// The pictures of a GIF, as RGBA.
fn pictures_of(path: &Path) -> Vec<Vec<u8>> {
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(fs::File::open(path).unwrap()).unwrap();
    let next =
        |decoder: &mut gif::Decoder<_>| Some(decoder.read_next_frame().unwrap()?.buffer.to_vec());
    std::iter::from_fn(|| next(&mut decoder)).collect()
}

#[test]
fn a_picture_and_a_recording_of_the_view_go_to_new_files() {
    let Some((screen, _studio)) = Screen::open(BLOB) else { return };
    screen.blob_where("the blob is drawn", |_| true);
    screen.place.file("scene.png", "mine");
    screen.keys(&["F12"]);
    let path = screen.place.path("scene-2.png");
    screen.until("the picture is written", || path.exists());
    let picture = image::open(&path).unwrap().to_rgb8();
    let bright = |rgb: &[u8]| rgb.iter().map(|&c| u32::from(c)).sum::<u32>() > 500;
    let lit = picture.enumerate_pixels().filter(|(.., pixel)| bright(&pixel.0));
    let lit: Vec<[f32; 2]> = lit.map(|(x, y, _)| [x as f32, y as f32]).collect();
    assert!(lit.len() > 20, "the blob is in it: {}", lit.len());
    let [x, y] = [0, 1].map(|axis| lit.iter().map(|at| at[axis]).sum::<f32>() / lit.len() as f32);
    let [w, h] = [picture.width(), picture.height()].map(|side| side as f32);
    assert!((x - w / 2.0).abs() < 20.0 && (y - h / 2.0).abs() < 20.0, "{x}, {y} of {w}, {h}");
    assert_eq!(fs::read_to_string(screen.place.path("scene.png")).unwrap(), "mine");

    let written = |name: &str| fs::metadata(screen.place.path(name)).is_ok_and(|of| of.len() > 0);
    screen.keys(&["shift+F12"]);
    sleep(Duration::from_secs(2));
    screen.keys(&["shift+F12"]);
    screen.until("the recording is written", || written("scene.gif"));
    let pictures = pictures_of(&screen.place.path("scene.gif"));
    assert!(
        !pictures.is_empty() && pictures.iter().all(|of| of.chunks(4).any(|p| bright(&p[..3])))
    );
}
