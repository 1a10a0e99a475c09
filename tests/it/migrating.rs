//! Edits in a real window that change how the state lies in memory: it goes on, and nothing of it is lost unasked.

use std::fs;

use super::{
    screen::{EDITOR, Screen, VIEW},
    scrubbing::{BAR, rests},
};

/// The button that keeps what a resource held that may have another name now, at the studio's first layout.
const KEEP: [i32; 2] = [1050, 64];

#[test]
fn a_resource_with_another_name_goes_on_once_the_user_says_so() {
    let Some((screen, mut studio)) = Screen::open(BAR) else { return };
    let start = screen.blob_where("the bar is drawn", |_| true);
    screen.blob_where("the bar goes on", |at| at[0] > start[0] + 150.0);
    let text = BAR
        .replace("[array.at]", "[array.place]")
        .replace("over = \"at\"", "over = \"place\"")
        .replace("int *at", "int *place")
        .replace("at[0]", "place[0]");
    screen.place.file("scene.cu.new", &text);
    fs::rename(screen.place.path("scene.cu.new"), screen.place.path("scene.cu")).unwrap();
    let anew = screen.blob_where("the bar begins anew", |at| at[0] < start[0] + 100.0);
    let at = || screen.blob().map_or(0.0, |at| at[0]);
    screen.click(KEEP);
    // It would take more than a hundred steps to come there.
    screen.until("it goes on from where it was", || at() > start[0] + 149.0);
    screen.keys(&["ctrl+s"]);
    let saved = || fs::read_to_string(screen.place.path("scene.cu")).unwrap();
    screen.until("the text says it", || saved().contains("[array.place]\nwas = \"at\"\n"));
    assert!(anew[0] < at() && studio.is_running());
}

/// A white square that is there from the reset on, if the texture is as small as at first.
const SQUARE: &str = r#"/*---
[texture.picture]
size = [64, 32]
format = "rgba8"
resample = true
[[pass]]
kernel = "begin"
on = "reset"
over = "picture"
[[pass]]
kernel = "rest"
over = "picture"
[view]
kind = "image"
texture = "picture"
color_by = "rgba"
---*/
__global__ void begin(cudaSurfaceObject_t picture, int picture_width, int picture_height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (picture_width != 64 || x >= picture_width || y >= picture_height) return;
    int is_in = x >= 40 && x < 50 && y >= 8 && y < 16;
    surf2Dwrite(make_uchar4(is_in * 255, is_in * 255, is_in * 255, 255), picture, x * 4, y);
}
__global__ void rest() {}
"#;

/// By real keys: the text is changed where it says the size.
#[test]
fn a_texture_with_another_size_is_stretched_or_stays_at_its_place() {
    let Some((screen, mut studio)) = Screen::open(SQUARE) else { return };
    screen.blob_where("the square is drawn", |_| true);
    let before = rests(&screen);
    let retype = |size: &str| {
        screen.click(EDITOR);
        screen.keys(&["ctrl+Home", "Down", "Down"]);
        // No size that is typed on the way is taken.
        screen.type_text("?");
        screen.keys(&[&["End", "Left"][..], &["BackSpace"; 6]].concat());
        screen.type_text(size);
        screen.keys(&["Home", "Delete", "ctrl+Return"]);
    };
    let say = |stretches: &str| {
        screen.keys(&["ctrl+Home", "Down", "Down", "Down", "Down", "End", "ctrl+BackSpace"]);
        screen.type_text(stretches);
        screen.keys(&["ctrl+Return"]);
    };
    retype("96, 48");
    screen.until("its edges are soft", || {
        let (picture, [left, top, right, bottom]) = (screen.picture(), VIEW);
        let rows = (top..bottom).map(|y| &picture.rgb[y * picture.width..][left..right]);
        let gray = |pixel: &&[u8; 3]| (80..200).contains(&pixel[0]) && pixel[0] == pixel[2];
        rows.flatten().filter(gray).count() > 100
    });
    let stretched = rests(&screen);
    assert!((stretched - before).abs() < 12.0, "{before} and {stretched}");
    say("false");
    retype("192, 96");
    // Half as large, and its place half as far from the left edge of the picture, which the view's is.
    screen.blob_where("it stays at its texels", |at| at[0] < before - 100.0);
    assert!(studio.is_running());
}
