//! The timeline in a real window: a past step is dragged to, and gone on from.

use super::screen::{Screen, Studio};

/// A bar that goes to the right by one of 1,000 texels a step, from where it was.
pub const BAR: &str = r#"/*---
title = "Bar"
[array.at]
type = "int"
count = 1
[texture.picture]
format = "rgba8"
size = [1000, 300]
[[pass]]
kernel = "paint"
on = "reset"
over = "picture"
[[pass]]
kernel = "go"
over = "at"
[[pass]]
kernel = "paint"
over = "picture"
[view]
kind = "image"
texture = "picture"
---*/
__global__ void go(int *at)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) at[0] = at[0] + 1;
}
__global__ void paint(cudaSurfaceObject_t picture, int picture_width, int picture_height, const int *at) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= picture_width || y >= picture_height) return;
    int near = abs(x - 300 - at[0]) < 8;
    surf2Dwrite(make_uchar4(near * 255, near * 255, near * 255, 255), picture, x * 4, y);
}
"#;

/// The timeline's bar, at the studio's first layout: its ends, and the height at which its only line is; and where the
/// older one of two is.
const ENDS: [i32; 2] = [13, 1075];
const ONLY: i32 = 859;
const OLDER: i32 = 844;
/// The button that plays, or pauses.
const PLAY: [i32; 2] = [451, 22];
/// A bar's place is known so exactly: the steps are whole, and a texel is less than a pixel wide.
const CLOSE: f32 = 3.0;

/// A place on the timeline, as a part of it.
fn place(part: f32, row: i32) -> [i32; 2] {
    let [first, last] = ENDS.map(|end| end as f32);
    [(first + part * (last - first)).round() as i32, row]
}

/// Where the bar comes to rest.
#[track_caller]
pub fn rests(screen: &Screen) -> f32 {
    let mut last = None;
    screen.until("the bar stands still", || {
        let found = screen.blob().map(|at| at[0]);
        found.is_some() && std::mem::replace(&mut last, found) == found
    });
    last.unwrap()
}

/// Waits until the bar is where it was after a part of the way from `start` to `end`.
#[track_caller]
fn expect_part(screen: &Screen, part: f32, [start, end]: [f32; 2]) {
    let due = start + part * (end - start);
    let what = format!("the bar is at {due}, between {start} and {end}");
    screen.until(&what, || screen.blob().is_some_and(|at| (at[0] - due).abs() < CLOSE));
}

/// A studio that has gone for a while and rests, and where its bar is then.
fn gone() -> Option<(Screen, Studio, f32)> {
    let (screen, studio) = Screen::open(BAR)?;
    let start = screen.blob_where("the bar is drawn", |_| true);
    screen.blob_where("the bar goes on", |at| at[0] > start[0] + 80.0);
    screen.click(PLAY);
    let end = rests(&screen);
    Some((screen, studio, end))
}

#[test]
fn the_past_is_dragged_to_and_gone_on_from() {
    let Some((screen, mut studio, end)) = gone() else { return };
    screen.mouse(&["sleep", "0.2", "mousedown", "1"], place(0.9, ONLY));
    screen.mouse(&[], place(0.0, ONLY));
    let start = screen.blob_where("the bar is where it was at first", |at| at[0] < end - 80.0);
    let ends = [start[0].min(rests(&screen)), end];
    // There and back, without letting go.
    for part in [0.25, 0.6, 0.5, 0.95, 0.4, 1.0, 0.5] {
        screen.mouse(&[], place(part, ONLY));
        expect_part(&screen, part, ends);
    }
    screen.mouse(&["mouseup", "1"], place(0.5, ONLY));
    expect_part(&screen, 0.5, ends);

    screen.click(PLAY);
    let middle = (ends[0] + ends[1]) / 2.0;
    screen.blob_where("it goes on from there", |at| at[0] > middle + 15.0 && at[0] < end - 5.0);
    screen.click(PLAY);
    let branch = rests(&screen);
    // The line of before stands above it, and is as it was.
    let whole = (end - ends[0]).max(branch - ends[0]);
    for at in [end, ends[0] + 0.3 * (end - ends[0])] {
        let part = (at - ends[0]) / whole;
        screen.mouse(
            &["sleep", "0.2", "mousedown", "1", "sleep", "0.1", "mouseup", "1"],
            place(part, OLDER),
        );
        expect_part(&screen, (at - ends[0]) / (end - ends[0]), ends);
    }
    let part = (branch - ends[0]) / whole;
    screen.mouse(
        &["sleep", "0.2", "mousedown", "1", "sleep", "0.1", "mouseup", "1"],
        place(part, ONLY),
    );
    expect_part(&screen, part * whole / (end - ends[0]), ends);
    assert!(studio.is_running());
}
