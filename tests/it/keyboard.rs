//! What keys and clicks do in the studio's window, and what they must not do.

use std::{fs, thread::sleep, time::Duration};

use super::{
    screen::{EDITOR, Screen},
    window::BLOB,
};

/// A blob that swings from left to right as long as the scene plays.
const SWING: &str = r#"/*---
title = "Swing"
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
__global__ void place(float4 *position, int n, float time) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float angle = 6.2831853f * i / n, radius = 0.1f * (i % 10) / 10.0f, x = 0.6f * sinf(3.0f * time);
    position[i] = make_float4(x + radius * cosf(angle), radius * sinf(angle), 0.0f, 1.0f);
}
"#;

/// The button that opens the menu of scenes, at the studio's first layout.
const SCENES: [i32; 2] = [75, 23];
/// The field for a path in that menu.
const PATH: [i32; 2] = [165, 550];
/// A place in the title bar where nothing is.
const NOTHING: [i32; 2] = [1340, 23];
/// A place in the view.
const VIEW: [i32; 2] = [850, 400];

impl Screen {
    fn file(&self) -> String {
        fs::read_to_string(self.place.path("scene.cu")).unwrap()
    }

    /// Whether the blob moves, as long as the scene plays, or stands still.
    #[track_caller]
    fn plays(&self) -> bool {
        let first = self.blob_where("there is a blob", |_| true);
        (0..20).any(|_| {
            sleep(Duration::from_millis(150));
            let now = self.blob_where("there is a blob", |_| true);
            (now[0] - first[0]).abs() > 4.0
        })
    }

    fn is_modified(&self) -> bool {
        self.title().starts_with('\u{2022}')
    }
}

#[test]
fn keys_that_mean_something_else_elsewhere_lose_no_text() {
    let Some((screen, _studio)) = Screen::open(BLOB) else { return };
    screen.blob_where("the blob is drawn", |_| true);
    screen.click(EDITOR);
    screen.keys(&["ctrl+End", "ctrl+Left", "ctrl+Left"]);
    let keys = ["w", "u", "k", "t", "b", "p", "m", "Tab"].map(|k| format!("ctrl+{k}"));
    screen.keys(&keys.each_ref().map(String::as_str));
    screen.keys(&["alt+BackSpace", "alt+Delete", "alt+d"]);
    sleep(Duration::from_millis(800));
    assert!(!screen.is_modified(), "{}", screen.title());

    // Those that delete in a terminal are the field's while one is open.
    screen.keys(&["ctrl+h", "ctrl+w", "ctrl+u", "ctrl+k", "ctrl+h", "Escape"]);
    sleep(Duration::from_millis(800));
    assert!(!screen.is_modified(), "{}", screen.title());

    // What others change comes back.
    for key in ["ctrl+shift+k", "shift+Delete", "alt+Up", "shift+alt+Down", "ctrl+slash"] {
        screen.keys(&[key]);
        screen.until(key, || screen.is_modified());
        screen.keys(&["ctrl+z"]);
        screen.until("it is undone", || !screen.is_modified());
    }

    // What a programmer expects is there: delete words, take that back and again.
    screen.keys(&["ctrl+End", "ctrl+BackSpace"]);
    screen.until("a word is deleted", || screen.is_modified());
    screen.keys(&["ctrl+z"]);
    screen.until("it is back", || !screen.is_modified());
    screen.keys(&["ctrl+y"]);
    screen.until("it is deleted again", || screen.is_modified());
    screen.keys(&["ctrl+z"]);
    screen.until("and back", || !screen.is_modified());
    assert_eq!(screen.file(), BLOB);
}

#[test]
fn tab_walks_past_the_editor_and_two_keys_lead_in_and_out() {
    let Some((screen, _studio)) = Screen::open(SWING) else { return };
    screen.blob_where("the blob is drawn", |_| true);
    for key in ["Tab", "shift+Tab"] {
        // One after the other, as many as there are places to stop at and more.
        for _ in 0..12 {
            screen.keys(&[key]);
            sleep(Duration::from_millis(150));
            assert!(!screen.is_modified(), "{key}: {}", screen.title());
        }
    }

    screen.keys(&["F6", "ctrl+End", "Tab"]);
    screen.type_text("// x.");
    screen.until("typing changes the text", || screen.is_modified());
    screen.keys(&["ctrl+s"]);
    screen.until("it is saved", || screen.file() == format!("{SWING}    // x."));
    assert!(screen.plays(), "neither the space nor the point was for the scene");

    screen.keys(&["Escape", "space"]);
    sleep(Duration::from_millis(800));
    assert!(!screen.plays(), "outside of the editor a space pauses");
    assert!(!screen.is_modified());
}

#[test]
fn quick_typing_keeps_its_indentation() {
    let Some((screen, _studio)) = Screen::open(SWING) else { return };
    screen.blob_where("the blob is drawn", |_| true);
    screen.click(EDITOR);
    // All of it within few frames: a brace and the Enter behind it meet in one.
    let typed = "key --delay 0 ctrl+End v braceleft Return x Return y braceleft Return z Return braceright Return \
                 braceright Return w Return Tab x Tab y shift+Tab ctrl+s";
    screen.xdotool(&typed.split_whitespace().collect::<Vec<_>>()).expect(0, &[]);
    let expected = format!("{SWING}v{{\n    x\n    y{{\n        z\n    }}\n}}\nw\nx   y");
    screen.until("it is saved", || screen.file() != SWING);
    assert_eq!(screen.file(), expected);
}

#[test]
fn a_path_is_typed_into_the_menu_of_scenes() {
    let Some((screen, _studio)) = Screen::open(SWING) else { return };
    screen.place.file("my.other file.cu", BLOB);
    screen.blob_where("the blob is drawn", |_| true);
    screen.click(SCENES);
    screen.click(PATH);
    screen.type_text("my.other file.cu");
    sleep(Duration::from_millis(500));
    assert!(screen.title().starts_with("scene.cu"), "not before Enter");
    screen.keys(&["Return"]);
    screen.until("the file is open", || screen.title().starts_with("my.other file.cu"));
}

#[test]
fn what_is_typed_into_a_menu_that_has_closed_does_not_drive_the_scene() {
    let Some((screen, _studio)) = Screen::open(SWING) else { return };
    assert!(screen.plays());
    screen.click(SCENES);
    // Into the menu, but not into its field.
    screen.type_text("a. b");
    // The click closes it, and who has not seen that types on.
    screen.mouse(&["click", "1"], NOTHING);
    screen.type_text("folder/my. scene.cu");
    assert!(screen.plays(), "a point is a step and a pause");

    screen.click(VIEW);
    screen.keys(&["space"]);
    sleep(Duration::from_millis(800));
    assert!(!screen.plays(), "a click into the view gives the keyboard back");
}
