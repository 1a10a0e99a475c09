//! Tests that cannot be done on a machine: they say so, are counted, and fail where they are required.
//!
//! ```text
//! WARPAINT_REQUIRE=gl,nvrtc   these must be there: a test that misses one fails
//! WARPAINT_SKIPS=FILE         a line is added for each test that is skipped
//! ```

use std::{env, fmt::Display, fs, io::Write as _, thread};

/// What a test may miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// OpenGL without a window, through EGL.
    Gl,
    /// The compiler library, with the headers that belong to it.
    Nvrtc,
    /// Xvfb and xdotool, for windows.
    Window,
    /// ffmpeg and ffprobe.
    Ffmpeg,
    /// An NVIDIA GPU, or one with so much memory.
    Nvidia,
    /// The host's C++ compiler.
    Cpp,
    /// NVIDIA's assembler.
    Ptxas,
    /// A machine of another kind: without CUDA, say.
    Machine,
}

impl Need {
    fn name(self) -> &'static str {
        match self {
            Self::Gl => "gl",
            Self::Nvrtc => "nvrtc",
            Self::Window => "window",
            Self::Ffmpeg => "ffmpeg",
            Self::Nvidia => "nvidia",
            Self::Cpp => "cpp",
            Self::Ptxas => "ptxas",
            Self::Machine => "machine",
        }
    }
}

/// Says that the test that runs, or a part of it, is skipped, and why.
#[track_caller]
pub fn skip(need: Need, why: impl Display) {
    let why = why.to_string();
    let why = why.trim();
    let required = env::var("WARPAINT_REQUIRE").unwrap_or_default();
    let is_required = required.split(',').any(|name| name.trim() == need.name());
    assert!(!is_required, "skipped, although `{}` is required: {why}", need.name());
    eprintln!("skipped: {why}");
    if let Some(file) = env::var_os("WARPAINT_SKIPS") {
        let test = thread::current().name().unwrap_or("?").to_owned();
        let line = format!("{test}: {}: {}\n", need.name(), why.lines().next().unwrap_or_default());
        let mut file = fs::OpenOptions::new().append(true).create(true).open(file).unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }
}

#[test]
fn what_is_required_is_not_skipped() {
    let run = |require: &str| {
        let mut command = crate::support::alone("skip::is_skipped");
        let folder = tempfile::tempdir().unwrap();
        let skips = folder.path().join("skips");
        command.env("WARPAINT_REQUIRE", require).env("WARPAINT_SKIPS", &skips);
        let passed = command.output().unwrap().status.success();
        (passed, fs::read_to_string(skips).unwrap_or_default())
    };
    let line = "skip::is_skipped: ffmpeg: it is not here\n".to_owned();
    assert_eq!(run("gl, nvrtc"), (true, line));
    assert_eq!(run("gl, ffmpeg"), (false, String::new()));
}

#[test]
#[ignore = "started by another test"]
fn is_skipped() {
    skip(Need::Ffmpeg, "it is not here\nnor there");
}
