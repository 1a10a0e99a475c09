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
    /// An NVIDIA GPU.
    Nvidia,
    /// The host's C++ compiler.
    Cpp,
    /// NVIDIA's assembler.
    Ptxas,
    /// The sources beside the tests, which a bundle for another machine lacks.
    Sources,
    /// A machine of another kind: without CUDA, say, or with a GPU that is newer or has more memory; or a test that has
    /// to be asked for.
    Machine,
}

/// Each of them.
const NEEDS: [Need; 9] = [
    Need::Gl,
    Need::Nvrtc,
    Need::Window,
    Need::Ffmpeg,
    Need::Nvidia,
    Need::Cpp,
    Need::Ptxas,
    Need::Sources,
    Need::Machine,
];

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
            Self::Sources => "sources",
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
    let mut names = required.split(',').map(str::trim).filter(|name| !name.is_empty());
    let is_known = |name: &str| NEEDS.iter().any(|need| need.name() == name);
    let unknown = names.clone().find(|name| !is_known(name));
    assert!(unknown.is_none(), "WARPAINT_REQUIRE has {unknown:?}, which is none of {NEEDS:?}");
    let is_required = names.any(|name| name == need.name());
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
    assert_eq!(run("gl, nvrct"), (false, String::new()), "a name that is none");
}

#[test]
#[ignore = "started by another test"]
fn is_skipped() {
    skip(Need::Ffmpeg, "it is not here\nnor there");
}
