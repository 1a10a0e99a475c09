//! What the studio keeps when it ends in whatever way: text, layout, the open scene.

use std::{
    fs,
    os::unix::process::ExitStatusExt,
    path::PathBuf,
    thread::sleep,
    time::{Duration, Instant},
};

use super::{screen::Screen, window::BLOB};

/// How long after a signal the studio may go on. It takes less than two seconds on a machine that is free; one that
/// runs other tests is given more.
const AFTER_SIGNAL: Duration = Duration::from_secs(10);

impl Screen {
    /// The unsaved texts on the disk; drafts of them are none yet.
    fn kept(&self) -> Vec<String> {
        fn walk(folder: PathBuf, found: &mut Vec<String>) {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                match entry.file_type().unwrap().is_dir() {
                    true => walk(entry.path(), found),
                    false if entry.path().extension().is_none_or(|e| e != "cu") => {}
                    false => found.extend(fs::read_to_string(entry.path())),
                }
            }
        }
        let mut found = Vec::new();
        walk(self.place.path("data/warpaint/recovery"), &mut found);
        found
    }

    /// Whether one of them has `text` in it.
    pub fn keeps(&self, text: &str) -> bool {
        self.kept().iter().any(|kept| kept.contains(text))
    }

    /// What is remembered of layout and scene.
    fn state(&self) -> String {
        fs::read_to_string(self.place.path("config/warpaint/studio.json")).unwrap_or_default()
    }

    /// Whether the fourth of the tabs below the view is remembered as the one that is shown.
    fn shows_timings(&self) -> bool {
        self.state().split_whitespace().collect::<String>().contains("\"tabs\":[3,")
    }
}

#[test]
fn after_a_crash_a_plain_start_has_scene_layout_and_text() {
    let Some((screen, studio)) = Screen::open(BLOB) else { return };
    screen.blob_where("the blob is drawn", |_| true);
    // The tab of timings.
    screen.click([728, 620]);
    screen.until("the layout is kept", || screen.shows_timings());
    screen.until("the scene is kept", || screen.state().contains("scene.cu"));
    screen.click([250, 300]);
    screen.keys(&["ctrl+End"]);
    // Without a pause that would let it compile.
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(3) {
        screen.type_text("//abc ");
    }
    assert!(screen.keeps("//abc"), "text is kept while it is typed: {:?}", screen.kept());
    studio.kill();

    let studio = screen.start(&[]);
    screen.until("the last scene opens", || screen.title().starts_with("scene.cu"));
    assert!(screen.shows_timings(), "{}", screen.state());
    assert!(screen.keeps("//abc"));
    assert!(screen.title().starts_with("scene.cu"), "not without asking");
    // The first text's button to restore it.
    screen.until("the text is back", || {
        screen.click([1074, 92]);
        screen.title().starts_with('\u{2022}')
    });
    drop(studio);
    assert!(screen.keeps("//abc"), "restored is not saved");
    assert_eq!(fs::read_to_string(screen.place.path("scene.cu")).unwrap(), BLOB, "nobody saved it");
}

#[test]
fn typing_on_does_not_replace_what_a_crash_left() {
    let Some((screen, studio)) = Screen::open(BLOB) else { return };
    screen.blob_where("the blob is drawn", |_| true);
    screen.type_behind_the_number("+0.111f");
    screen.until("the first text is kept", || screen.keeps("+0.111f"));
    studio.kill();

    let studio = screen.start(&["scene.cu"]);
    screen.blob_where("the blob is drawn", |_| true);
    screen.type_behind_the_number("+0.222f");
    screen.until("the second text is kept", || screen.keeps("+0.222f"));
    assert!(screen.keeps("+0.111f"), "{:?}", screen.kept());
    studio.kill();
    assert!(screen.keeps("+0.111f") && screen.keeps("+0.222f"));
}

#[test]
fn two_studios_with_one_file_keep_each_their_own_text() {
    let Some((screen, first)) = Screen::open(BLOB) else { return };
    screen.blob_where("the blob is drawn", |_| true);
    screen.type_behind_the_number("+0.111f");
    screen.until("the first text is kept", || screen.keeps("+0.111f"));
    let second = screen.start(&["scene.cu"]);
    screen.until("both windows are open", || screen.title().lines().count() == 2);
    // The first one goes, so that there is no question who gets the keys.
    first.signal("TERM");
    first.ended_within(AFTER_SIGNAL);
    screen.until("one window is left", || screen.title().lines().count() == 1);
    screen.blob_where("the blob is drawn", |_| true);
    let focus = ["search", "--onlyvisible", "--name", "warpaint", "windowfocus"];
    screen.xdotool(&focus).expect(0, &[]);
    screen.type_behind_the_number("+0.222f");
    screen.until("the second text is kept", || screen.keeps("+0.222f"));
    second.kill();
    assert!(screen.keeps("+0.111f"), "{:?}", screen.kept());
}

#[test]
fn a_signal_ends_the_studio_with_everything_kept() {
    for (name, number) in [("TERM", 15), ("INT", 2)] {
        let Some((screen, studio)) = Screen::open(BLOB) else { return };
        screen.blob_where("the blob is drawn", |_| true);
        screen.type_behind_the_number("+0.111f");
        studio.signal(name);
        let (status, log) = studio.ended_within(AFTER_SIGNAL);
        assert_eq!(status.signal(), Some(number), "as for a program that does not catch it: {log}");
        assert!(screen.keeps("+0.111f"), "{:?}", screen.kept());
        assert!(screen.state().contains("scene.cu"), "{}", screen.state());
    }
}

#[test]
fn what_was_typed_while_the_window_was_busy_is_kept() {
    let Some((screen, studio)) = Screen::open(BLOB) else { return };
    screen.blob_where("the blob is drawn", |_| true);
    screen.type_behind_the_number("+0.111f");
    // All of it arrives at once, and each tab stop waits for the letter before it.
    studio.signal("STOP");
    screen.keys(&["0", "Tab", "0", "Tab", "0", "Tab", "0", "Tab", "0", "Tab", "0", "Tab", "9"]);
    studio.signal("TERM");
    studio.signal("CONT");
    let (status, log) = studio.ended_within(AFTER_SIGNAL);
    assert_eq!(status.signal(), Some(15), "{log}");
    let kept = screen.kept();
    let line = kept.iter().flat_map(|text| text.lines()).find(|line| line.contains("+0.111f"));
    let typed = line.and_then(|line| line.split_once("+0.111f")).map_or("", |(_, rest)| rest);
    let typed: String = typed.chars().filter(|c| *c == '0' || *c == '9').collect();
    assert_eq!(typed, "0000009", "{kept:?}");
}

#[test]
fn text_is_kept_before_what_it_asks_for_is_drawn() {
    let many = BLOB.replace("n = 2000", "n = 200000").replace("size = 8.0", "size = 2");
    let Some((screen, studio)) = Screen::open(&many) else { return };
    screen.blob_where("the blob is drawn", |_| true);
    screen.click([250, 300]);
    screen.keys(&["ctrl+Home"]);
    screen.keys(&["Down"; 13]);
    screen.keys(&["End"]);
    // So large that OpenGL draws them for a minute where a processor draws, and at once: the kernel is the same, and
    // the pause after which text is kept has not passed.
    screen.xdotool(&["key", "--delay", "10", "0", "0", "ctrl+Return"]).expect(0, &[]);
    sleep(Duration::from_secs(3));
    studio.signal("TERM");
    let (status, log) = studio.ended_within(AFTER_SIGNAL);
    assert_eq!(status.signal(), Some(15), "{log}");
    assert!(screen.keeps("size = 200\n"), "{:?}", screen.kept());
}

#[test]
fn a_home_that_cannot_be_written_is_said_in_the_window() {
    let Some(screen) = Screen::new() else { return };
    screen.place.file("scene.cu", BLOB);
    screen.place.file("file", "");
    let (config, data) = (screen.place.path("file/config"), screen.place.path("file/data"));
    let mut studio = screen.start_with(&["scene.cu"], |command| {
        command.env("XDG_CONFIG_HOME", config).env("XDG_DATA_HOME", data);
    });
    let log = || fs::read_to_string(screen.place.path("studio.log")).unwrap();
    // What is told in the window is logged, too.
    let said = |what: &str| log().matches(what).count();
    let (text, layout) = ("Unsaved text cannot be kept in ", "are not remembered in ");
    screen.until("both are said", || said(text) == 1 && said(layout) == 1);
    // The left edges of their strips above the view, in the colour of errors.
    screen.until("both are shown", || {
        let picture = screen.picture();
        let is_edge = |y: &usize| picture.rgb[y * picture.width + 521] == [0xf2, 0x6d, 0x6d];
        (46..300).filter(is_edge).count() > 60
    });
    screen.click([250, 300]);
    screen.type_text("typed all the same");
    screen.until("text is modified", || screen.title().starts_with('\u{2022}'));
    sleep(Duration::from_secs(2));
    assert!(studio.is_running());
    assert_eq!(said(text), 1, "once: {}", log());
}

#[test]
fn a_signal_ends_the_studio_while_a_step_hangs() {
    // The blob is there after the reset; the first step never ends.
    let hangs = BLOB
        .replace("kernel = \"place\"", "kernel = \"place\"\non = \"reset\"")
        .replace("[view]", "[[pass]]\nkernel = \"hang\"\nover = \"position\"\n[view]")
        + "\n__global__ void hang(float4 *position) { volatile float *w = &position->w; while (*w > 0.0f) {} }";
    let Some(screen) = Screen::new() else { return };
    screen.place.file("scene.cu", &hangs);
    let studio = screen.start(&["scene.cu", "--step-timeout", "600"]);
    screen.blob_where("the blob is drawn", |_| true);
    sleep(Duration::from_secs(1));
    studio.signal("TERM");
    let (status, log) = studio.ended_within(AFTER_SIGNAL);
    assert_eq!(status.signal(), Some(15), "{log}");
}
