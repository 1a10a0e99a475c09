//! Keys, text and the mouse at random in the studio's window, for as many seconds as `WARPAINT_MONKEY` says: it lives
//! on and keeps what is typed. How much memory it has before and after is told, not judged.
//!
//! `WARPAINT_MONKEY_SEED` is where the random numbers begin; a failure tells it.

use std::{
    env, fs,
    thread::sleep,
    time::{Duration, Instant},
};

use fastrand::Rng;

use super::{
    screen::{Screen, Studio},
    support::root,
    window::BLOB,
};

/// Keys that do something in the studio, and some that do nothing. What closes the window is not among them.
const KEYS: &str = "Tab shift+Tab Escape Return Up Down Left Right Home End Prior Next BackSpace Delete space F1 F2 F3 \
    shift+F3 F6 F8 shift+F8 F11 ctrl+z ctrl+y ctrl+shift+z ctrl+a ctrl+c ctrl+v ctrl+x ctrl+f ctrl+h ctrl+g ctrl+d \
    ctrl+shift+l ctrl+l ctrl+j ctrl+slash ctrl+space ctrl+shift+k ctrl+alt+Up ctrl+alt+Down alt+Up alt+Down \
    alt+shift+Down ctrl+Home ctrl+End shift+Home shift+End ctrl+shift+Left ctrl+BackSpace ctrl+Return ctrl+s \
    ctrl+shift+s ctrl+o ctrl+shift+p ctrl+plus ctrl+minus ctrl+0 ctrl+shift+bracketleft alt+c alt+w alt+r";

/// What is typed: code, halves of it, and letters that are none of ASCII.
const TEXTS: [&str; 16] = [
    "float a = 1.0f;\n",
    "while (true);",
    "position[i * 1000000].x = 1.0f;",
    "}",
    "{\n",
    "/*",
    "*/",
    "\"",
    "#include \"nothing.h\"\n",
    "#define n ",
    "[param.x]\nvalue = 1e400\n",
    "count = \"n / 0\"",
    "n = 70000000\n",
    "ä漢🎨",
    "__syncthreads();",
    "0123456789",
];

/// The scenes that are opened beside the first one.
const SCENES: [&str; 4] =
    ["kernels/life.cu", "kernels/noise.cu", "kernels/nbody.cu", "templates/volume.cu"];

/// The screen of these tests.
const SIZE: [i32; 2] = [1600, 900];

struct Monkey<'a> {
    screen: &'a Screen,
    random: Rng,
}

impl Monkey<'_> {
    fn place(&mut self) -> [String; 2] {
        SIZE.map(|side| self.random.i32(0..side).to_string())
    }

    /// Does something.
    fn act(&mut self) {
        let [x, y] = self.place();
        let [to_x, to_y] = self.place();
        let (x, y, to_x, to_y): (&str, &str, &str, &str) = (&x, &y, &to_x, &to_y);
        let chain: Vec<&str> = match self.random.u32(0..100) {
            0..40 => {
                let all: Vec<&str> = KEYS.split_whitespace().collect();
                let count = self.random.usize(1..8);
                let keys = (0..count).map(|_| all[self.random.usize(0..all.len())]);
                ["key", "--delay", "15"].into_iter().chain(keys).collect()
            }
            40..55 => {
                vec!["type", "--delay", "10", "--", TEXTS[self.random.usize(0..TEXTS.len())]]
            }
            55..72 => vec!["mousemove", x, y, "sleep", "0.1", "click", "1"],
            72..76 => vec!["mousemove", x, y, "click", "--repeat", "2", "--delay", "50", "1"],
            76..82 => vec!["mousemove", x, y, "sleep", "0.1", "click", "3"],
            82..88 => vec!["mousemove", x, y, "click", "--repeat", "3", "4", "click", "5"],
            88..96 => vec![
                "mousemove",
                x,
                y,
                "mousedown",
                "1",
                "sleep",
                "0.1",
                "mousemove",
                to_x,
                to_y,
                "sleep",
                "0.1",
                "mouseup",
                "1",
            ],
            _ => {
                let sizes = [["400", "300"], ["900", "700"], ["1400", "900"], ["1600", "200"]];
                let [width, height] = sizes[self.random.usize(0..sizes.len())];
                let window = ["search", "--onlyvisible", "--name", "warpaint"];
                [&window[..], &["windowsize", width, height]].concat()
            }
        };
        self.screen.xdotool(&chain);
    }

    /// Lets go of buttons, and brings the window back to what files are dropped on.
    fn calm_down(&self) {
        let window = ["search", "--onlyvisible", "--name", "warpaint"];
        self.screen.xdotool(&["mouseup", "1", "mouseup", "3"]);
        self.screen.xdotool(&[&window[..], &["windowsize", "--sync", "1400", "900"]].concat());
        self.screen.xdotool(&[&window[..], &["windowfocus"]].concat());
        self.screen.keys(&["Escape"; 3]);
    }
}

impl Screen {
    /// Writes the scene anew and drops it on the window, which asks for nothing more.
    fn open_by_drop(&self, name: &str, text: &str) {
        self.place.file(name, text);
        self.drop_file(&self.place.path(name), [900, 400]);
        self.until(&format!("{name} is open"), || self.title().contains(name));
    }
}

/// How much memory the studio has, in MiB, once it no longer grows.
fn settled(studio: &Studio) -> u64 {
    sleep(Duration::from_secs(5));
    studio.resident_mib()
}

#[test]
fn random_hands_neither_end_it_nor_lose_text() {
    let Some((screen, mut studio)) = Screen::open(BLOB) else { return };
    let number = |name: &str| env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seconds = number("WARPAINT_MONKEY").unwrap_or(30);
    let seed = number("WARPAINT_MONKEY_SEED").unwrap_or(1);
    screen.blob_where("the blob is drawn", |_| true);
    let before = settled(&studio);
    let mut monkey = Monkey { screen: &screen, random: Rng::with_seed(seed) };
    let (begun, mut acts) = (Instant::now(), 0);
    while begun.elapsed() < Duration::from_secs(seconds) {
        if acts % 40 == 39 {
            monkey.calm_down();
            let path = SCENES[monkey.random.usize(0..SCENES.len())];
            let text = fs::read_to_string(root().join(path)).unwrap();
            screen.open_by_drop(path.rsplit('/').next().unwrap(), &text);
        }
        monkey.act();
        acts += 1;
        assert!(studio.is_running(), "seed {seed}: it ended after {acts} acts\n{}", studio.log());
    }
    monkey.calm_down();
    screen.open_by_drop("last.cu", BLOB);
    let after = settled(&studio);
    eprintln!("{acts} acts in {:?}, memory {before} MiB before, {after} after", begun.elapsed());
    assert!(!studio.log().contains("panicked"), "seed {seed}: {}", studio.log());
    screen.keys(&["F6", "ctrl+End"]);
    screen.type_text("//typed last");
    screen.until("what was typed is kept", || screen.keeps("//typed last"));
    studio.kill();
    assert!(screen.keeps("//typed last"), "seed {seed}: a crash does not take it away");
}
