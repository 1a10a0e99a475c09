//! The studio starts anew: another program in the same process goes on where it was.

use std::{
    ffi::OsStr, fs, os::unix::ffi::OsStrExt, process::Command, thread::sleep, time::Duration,
};

use super::{screen::Screen, window::BLOB};

/// Where the pane of the view is clicked on, so that keys do not go to the editor.
const VIEW: [i32; 2] = [975, 500];

/// A blob that begins in the middle, and is `shift()` further to the right with each step, up to a place.
fn moving() -> String {
    let text = BLOB.replace(
        "[[pass]]\nkernel = \"place\"",
        "[[pass]]\nkernel = \"place\"\non = \"reset\"\nover = \"position\"\n[[pass]]\nkernel = \"go\"",
    );
    let text = text.replace("shift() + radius", "radius");
    let go = "__global__ void go(float4 *position, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && position[i].w < 100.0f) { position[i].x += shift(); position[i].w += 1.0f; }
}
__device__ float shift() { return 0.0f; }";
    text.replace("__device__ float shift() { return 0.0f; }", go)
}

/// By the list of commands; the new window has the keyboard then.
fn start_anew(screen: &Screen) {
    screen.keys(&["ctrl+shift+p"]);
    screen.type_text("start the studio anew");
    screen.keys(&["Return"]);
    screen.until("the window is gone", || screen.title().is_empty());
    let focus = ["search", "--onlyvisible", "--name", "warpaint", "windowfocus"];
    screen.until("another one comes", || screen.xdotool(&focus).code == Some(0));
}

#[test]
fn text_undo_and_state_survive_a_new_start() {
    let text = moving();
    let Some((screen, mut studio)) = Screen::open(&text) else { return };
    let start = screen.blob_where("the blob is drawn", |_| true);
    screen.type_behind_the_number("+0.005f");
    screen.keys(&["ctrl+r"]);
    let moved = screen.blob_where("it has moved to the right", |at| at[0] > start[0] + 40.0);
    let mut end = moved;
    screen.until("it stands", || {
        sleep(Duration::from_millis(500));
        let before = std::mem::replace(&mut end, screen.blob().unwrap());
        (end[0] - before[0]).abs() < 0.5
    });
    start_anew(&screen);
    assert!(studio.is_running(), "it is the same process");
    // The notices make the picture smaller.
    screen.blob_where("the state is there", |at| at[0] > start[0] + 40.0);
    assert!(screen.title().starts_with('\u{2022}'), "the text is unsaved: {}", screen.title());
    assert_eq!(fs::read_to_string(screen.place.path("scene.cu")).unwrap(), text);
    // What was typed before can be undone: the text is that of the file again.
    screen.click(super::screen::EDITOR);
    screen.keys(&["ctrl+z"; 8]);
    screen.until("all that was typed is undone", || screen.title().starts_with("scene.cu"));
    screen.keys(&["ctrl+y"; 8]);
    screen.until("and typed again", || screen.title().starts_with('\u{2022}'));
    screen.keys(&["ctrl+s"]);
    let typed = text.replace("return 0.0f;", "return 0.0f+0.005f;");
    let path = screen.place.path("scene.cu");
    screen.until("it is saved", || fs::read_to_string(&path).unwrap() == typed);
    // It is paused, until the user wants it to go on: then it begins anew here, for all have gone 100 steps.
    screen.click(VIEW);
    screen.keys(&["ctrl+r"]);
    screen.blob_where("it begins anew", |at| (at[0] - start[0]).abs() < 20.0);
    assert!(studio.is_running());
}

#[test]
fn what_the_command_line_said_holds_after_a_new_start() {
    let Some(screen) = Screen::new() else { return };
    let at_reset = BLOB.replace("kernel = \"place\"", "kernel = \"place\"\non = \"reset\"");
    screen.place.file("scene.cu", &at_reset.replace("return 0.0f", "return SHIFT"));
    // The program's file is replaced while it runs, as an update does.
    let program = screen.place.path("program");
    // By another process: no child that another test starts meanwhile has it open for writing, as none may that runs.
    let copied = Command::new("cp").arg(super::support::binary()).arg(&program).status().unwrap();
    assert!(copied.success());
    let mut studio = screen.start_with(&["scene.cu", "-D", "SHIFT=0.5f"], |command| {
        let mut own = Command::new(&program);
        // The folder's name is no UTF-8.
        own.args(command.get_args()).arg("-I").arg(OsStr::from_bytes(b"l\xff"));
        own.current_dir(screen.place.path("."));
        own.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        *command = own;
    });
    screen.blob_where("the blob is drawn", |_| true);
    fs::remove_file(&program).unwrap();
    fs::write(&program, "another version").unwrap();
    start_anew(&screen);
    screen.blob_where("the state is there", |_| true);
    screen.click(VIEW);
    screen.keys(&["ctrl+r"]);
    sleep(Duration::from_secs(2));
    // The middle of the view is at 855; without the macro nothing runs. Notices make the picture smaller, so that
    // the places before and after cannot be compared.
    screen.blob_where("it runs as before", |at| at[0] > 895.0);
    assert!(studio.is_running());
}
