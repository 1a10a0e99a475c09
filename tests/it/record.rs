//! Clips: what their files say about pictures and times.

use crate::skip::{Need, skip};
use std::{
    ffi::OsStr,
    fs,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use super::{
    comparison,
    support::{self, COUNTER, Ended, Workplace},
};
use warpaint::device::Device;

/// Renders the counter scene on the CPU device; `None`, said aloud, where there is no OpenGL.
fn rendered(place: &Workplace, arguments: &[&str]) -> Option<Ended> {
    place.file("scene.cu", COUNTER);
    let command = ["render", "scene.cu", "--device", "cpu", "--size", "32x18"];
    let ended = place.run(&[&command[..], arguments].concat());
    if ended.err.contains("EGL") {
        skip(Need::Gl, &ended.err);
        return None;
    }
    Some(ended)
}

fn is_draft(name: &OsStr) -> bool {
    name.to_string_lossy().starts_with(".warpaint")
}

#[test]
fn a_gif_has_every_picture_for_its_time() {
    let place = Workplace::new();
    let Some(ended) = rendered(&place, &["--steps", "9", "--every", "2", "--out", "clip.gif"])
    else {
        return;
    };
    ended.expect(0, &[]);
    let mut decoder = gif::Decoder::new(fs::File::open(place.path("clip.gif")).unwrap()).unwrap();
    assert_eq!((decoder.width(), decoder.height()), (32, 18));
    let mut delays = Vec::new();
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        delays.push(frame.delay);
    }
    // Four pictures of 2/60 s each: 3.33, 6.67, 10 and 13.33 hundredths of a second.
    assert_eq!(delays, [3, 4, 3, 3]);
    let names = fs::read_dir(place.path("")).unwrap().flatten().map(|entry| entry.file_name());
    assert_eq!(names.filter(|name| is_draft(name)).count(), 0);
}

#[test]
fn an_animated_png_has_every_picture_as_it_is() {
    let place = Workplace::new();
    let arguments = ["--steps", "3", "--every", "1", "--fps", "12.5", "--out", "clip.apng"];
    let Some(ended) = rendered(&place, &arguments) else { return };
    ended.expect(0, &[]);
    let file = std::io::BufReader::new(fs::File::open(place.path("clip.apng")).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    assert_eq!(reader.info().animation_control.unwrap().num_frames, 3);
    let frame = reader.info().frame_control.unwrap();
    assert_eq!(f64::from(frame.delay_num) / f64::from(frame.delay_den), 1.0 / 12.5);
    rendered(&place, &["--steps", "3", "--every", "1", "--out", "f_%d.png"])
        .unwrap()
        .expect(0, &[]);
    for step in 1..=3 {
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        let still = image::open(place.path(&format!("f_{step}.png"))).unwrap().into_rgba8();
        assert_eq!(pixels, still.into_raw(), "step {step}");
    }
}

/// A clip of a recorded run is the one that was made of it.
#[test]
fn a_replay_is_filmed_as_the_run_was() {
    let place = Workplace::new();
    let arguments = ["--steps", "6", "--every", "2", "--out", "a.apng", "--record", "r.json"];
    let Some(ended) = rendered(&place, &arguments) else { return };
    ended.expect(0, &[]);
    let command = ["replay", "r.json", "--device", "cpu", "--size", "32x18", "--every", "2"];
    place.run(&[&command[..], &["--out", "b.apng"]].concat()).expect(0, &[]);
    let [a, b] = ["a.apng", "b.apng"].map(|name| fs::read(place.path(name)).unwrap());
    assert!(a == b && a.len() > 100, "{} and {} bytes", a.len(), b.len());
}

#[cfg(unix)]
#[test]
fn ffmpeg_gets_every_picture_and_its_words_are_told() {
    use std::os::unix::fs::PermissionsExt;
    let place = Workplace::new();
    // What takes ffmpeg's place counts the bytes that it gets, and fails where it is told to.
    place.file(
        "ffmpeg",
        "#!/bin/sh\nprintf '%s\\n' \"$@\" >arguments\nfor last; do :; done\n\
         if [ -e fail ]; then echo 'first line' >&2; echo 'no such codec' >&2; exit 1; fi\nwc -c >\"$last\"\n",
    );
    fs::set_permissions(place.path("ffmpeg"), fs::Permissions::from_mode(0o755)).unwrap();
    place.file("scene.cu", COUNTER);
    let run = |arguments: &[&str]| {
        let command =
            ["render", "scene.cu", "--device", "cpu", "--size", "32x18", "--steps", "6", "--out"];
        let mut command = place.command(&[&command[..], arguments].concat());
        Ended::new(command.env("WARPAINT_FFMPEG", place.path("ffmpeg")).output().unwrap())
    };
    let ended = run(&["clip.mp4"]);
    if ended.err.contains("EGL") {
        skip(Need::Gl, &ended.err);
        return;
    }
    ended.expect(0, &[]);
    let bytes =
        |name| fs::read_to_string(place.path(name)).unwrap().trim().parse::<usize>().unwrap();
    assert_eq!(bytes("clip.mp4"), 3 * 32 * 18 * 4, "a picture every two steps of 1/60 s");
    let arguments = fs::read_to_string(place.path("arguments")).unwrap();
    for part in ["rawvideo", "rgba", "32x18", "-framerate\n30\n", "libx264"] {
        assert!(arguments.contains(part), "{part}: {arguments}");
    }
    run(&["clip.webm", "--every", "3"]).expect(0, &[]);
    assert_eq!(bytes("clip.webm"), 2 * 32 * 18 * 4);

    place.file("fail", "");
    fs::remove_file(place.path("clip.mp4")).unwrap();
    run(&["clip.mp4"]).expect(2, &["ffmpeg cannot write clip.mp4: no such codec"]);
    assert!(!place.path("clip.mp4").exists());
    // The clip that was there stays where ffmpeg says that all is well and writes nothing.
    place.file("clip.mp4", "before");
    place.file("ffmpeg", "#!/bin/sh\ncat >/dev/null\n");
    run(&["clip.mp4"])
        .expect(2, &["ffmpeg cannot write clip.mp4: it ended well and wrote nothing"]);
    assert_eq!(fs::read_to_string(place.path("clip.mp4")).unwrap(), "before");
    // Somebody holds the pipe for its words, who says nothing more.
    place.file("ffmpeg", "#!/bin/sh\nsleep 60 &\necho $! >sleeper\necho broken >&2\nexit 1\n");
    let started = Instant::now();
    run(&["clip.mp4"]).expect(2, &["ffmpeg cannot write clip.mp4: broken"]);
    assert!(started.elapsed() < Duration::from_secs(40), "{:?}", started.elapsed());
    let sleeper = fs::read_to_string(place.path("sleeper")).unwrap();
    Command::new("kill").arg(sleeper.trim()).status().unwrap();

    let mut command = place
        .command(&["render", "scene.cu", "--device", "cpu", "--steps", "9", "--out", "a.webm"]);
    let ended = Ended::new(command.env("WARPAINT_FFMPEG", "no/such/program").output().unwrap());
    ended.expect_one_line(2, &["a.webm needs ffmpeg, which is not installed"]);
}

/// Where the program is ended while ffmpeg does not read, ffmpeg ends with it, and so does its clip.
#[cfg(target_os = "linux")]
#[test]
fn an_ffmpeg_that_hangs_ends_with_the_program() {
    use std::os::unix::fs::PermissionsExt;
    let place = Workplace::new();
    place.file("ffmpeg", "#!/bin/sh\necho $$ >pid.new\nmv pid.new pid\nexec sleep 60\n");
    fs::set_permissions(place.path("ffmpeg"), fs::Permissions::from_mode(0o755)).unwrap();
    place.file("scene.cu", COUNTER);
    let mut command = place
        .command(&["render", "scene.cu", "--device", "cpu", "--steps", "400", "--out", "clip.mp4"]);
    command.env("WARPAINT_FFMPEG", place.path("ffmpeg"));
    command.stderr(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    let started = Instant::now();
    while !place.path("pid").exists() {
        if let Some(status) = child.try_wait().unwrap() {
            assert_eq!(status.code(), Some(3), "ended before it began to record");
            return skip(Need::Gl, "no OpenGL");
        }
        assert!(started.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = fs::read_to_string(place.path("pid")).unwrap();
    // Until the pipe is full.
    std::thread::sleep(Duration::from_secs(1));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let process = std::path::Path::new("/proc").join(pid.trim());
    let is_gone =
        || fs::read_to_string(process.join("stat")).map_or(true, |stat| stat.contains(") Z "));
    let started = Instant::now();
    while !is_gone() {
        assert!(started.elapsed() < Duration::from_secs(10), "it runs on");
        std::thread::sleep(Duration::from_millis(20));
    }
    let left = fs::read_dir(place.path("")).unwrap().flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("draft")), "{left:?}");
}

/// What the real ffprobe says of a file: codec, width, height, pictures a second, pictures, without spaces.
fn probed(path: &std::path::Path) -> String {
    let entries = "stream=codec_name,width,height,r_frame_rate,nb_read_frames";
    let output = Command::new("ffprobe")
        .args(["-v", "error", "-count_frames", "-of", "csv=p=0", "-show_entries", entries])
        .arg(path)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Whether ffmpeg and ffprobe are installed; said aloud where they are not.
fn has_ffmpeg() -> bool {
    let runs = |name| Command::new(name).arg("-version").output().is_ok();
    let both = runs("ffmpeg") && runs("ffprobe");
    if !both {
        skip(Need::Ffmpeg, "ffmpeg is not installed");
    }
    both
}

#[test]
fn the_real_ffmpeg_makes_films_of_every_picture() {
    let place = Workplace::new();
    place.file("scene.cu", COUNTER);
    for (name, expected) in [("clip.mp4", "h264,34,18,15/1,5"), ("clip.webm", "vp9,34,18,15/1,5")] {
        if !has_ffmpeg() {
            return;
        }
        // Odd sides are made even: the colours of both films have half the resolution.
        let command = ["render", "scene.cu", "--device", "cpu", "--size", "33x17", "--out", name];
        let ended = place.run(&[&command[..], &["--steps", "21", "--every", "4"]].concat());
        if ended.err.contains("EGL") {
            skip(Need::Gl, &ended.err);
            return;
        }
        ended.expect(0, &[]);
        assert_eq!(probed(&place.path(name)), expected);
    }
}

/// A picture that becomes brighter by ten of 255 a step.
const BRIGHTER: &str = r#"/*---
[texture.picture]
format = "rgba8"
size = [32, 16]
[[pass]]
kernel = "paint"
over = "picture"
[view]
kind = "image"
texture = "picture"
color_by = "rgba"
---*/
__global__ void paint(cudaSurfaceObject_t picture)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= 32 || y >= 16) return;
    uchar4 texel = surf2Dread<uchar4>(picture, x * 4, y);
    unsigned char gray = texel.x + 10;
    surf2Dwrite(make_uchar4(gray, gray, gray, 255), picture, x * 4, y);
}
"#;

/// The text of a run that was edited takes over in the film of its replay where it did in the run.
#[test]
fn a_film_of_a_replay_turns_where_the_text_was_edited() {
    if !has_ffmpeg() {
        return;
    }
    let place = Workplace::new();
    let mut session = comparison::open(&Device::cpu().unwrap(), BRIGHTER);
    comparison::steps(&mut session, 12);
    comparison::edit(&mut session, &BRIGHTER.replace("texel.x + 10", "texel.x - 10"));
    comparison::steps(&mut session, 6);
    session.run().unwrap().write(&place.path("r.json")).unwrap();
    let command = ["replay", "r.json", "--device", "cpu", "--size", "64x32", "--every", "1"];
    let ended = place.run(&[&command[..], &["--out", "clip.mp4"]].concat());
    if ended.err.contains("EGL") {
        skip(Need::Gl, &ended.err);
        return;
    }
    ended.expect(0, &[]);
    let grays = Command::new("ffmpeg")
        .args(["-v", "error", "-i"])
        .arg(place.path("clip.mp4"))
        .args(["-f", "rawvideo", "-pix_fmt", "gray", "-"])
        .output()
        .unwrap();
    let middles: Vec<u8> = grays.stdout.chunks(64 * 32).map(|frame| frame[16 * 64 + 32]).collect();
    assert_eq!(middles.len(), 18, "{}", String::from_utf8_lossy(&grays.stderr));
    let due = (1..=12).chain((6..=11).rev()).map(|tens: u8| tens * 10);
    // Films are lossy; half of what a step adds is less than that.
    assert!(middles.iter().zip(due).all(|(found, due)| found.abs_diff(due) < 5), "{middles:?}");
}

#[cfg(unix)]
#[test]
fn a_run_that_is_interrupted_leaves_no_file() {
    let place = Workplace::new();
    place.file("scene.cu", COUNTER);
    for name in ["clip.gif", "clip.mp4"] {
        if name.ends_with("mp4") && !has_ffmpeg() {
            return;
        }
        let command = ["render", "scene.cu", "--device", "cpu", "--size", "32x18", "--out", name];
        let endless = [&command[..], &["--steps", "1000000000", "--every", "2"]].concat();
        let child = place.command(&endless).stderr(Stdio::piped()).spawn().unwrap();
        let drafts = || {
            let names = fs::read_dir(place.path("")).unwrap().flatten().map(|e| e.file_name());
            names.filter(|name| name.to_string_lossy().contains("clip") || is_draft(name)).count()
        };
        let Some(child) = support::when_it_writes(child, drafts) else { return };
        let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(killed.unwrap().success());
        let ended = Ended::new(child.wait_with_output().unwrap());
        ended.expect(130, &["Ctrl-C again ends it at once", "stopped before its last step"]);
        assert_eq!(drafts(), 0, "{name}");
    }
}

#[test]
fn what_a_clip_cannot_be_is_told_before_anything_runs() {
    let place = Workplace::new();
    for (arguments, told) in [
        (&["--out", "a.png", "--every", "2"][..], "give a.png a %04d"),
        (&["--out", "a%d.gif"], "a clip is one file"),
        (&["--out", "a%s.png"], "only %d and %04d stand for the step"),
        (&["--out", "a%d.png", "--every", "0"], "--every needs a number of steps above 0"),
        (&["--every", "2"], "--every needs --out, --json or --plot"),
        (&["--out", "a.png", "--fps", "30"], "--fps is for clips"),
        (&["--out", "."], "cannot write .: it is a folder"),
        (&["--out", "a.gif", "--every", "5"], "4 steps are too few for a picture every 5"),
        (
            &["--out", "a.gif", "--fps", "60", "--every", "1"],
            "GIF shows at most 50 pictures a second, not 60",
        ),
    ] {
        let Some(ended) = rendered(&place, &[&["--steps", "4"], arguments].concat()) else {
            return;
        };
        ended.expect_one_line(2, &[told]);
    }
}

#[test]
fn json_has_the_statistics_on_the_way() {
    let place = Workplace::new();
    rendered(&place, &["--steps", "5", "--every", "2", "--json", "r.json"]).unwrap().expect(0, &[]);
    let report: serde_json::Value =
        serde_json::from_slice(&fs::read(place.path("r.json")).unwrap()).unwrap();
    let samples = report["samples"].as_array().unwrap();
    let taken = samples.iter().map(|sample| {
        let y = &sample["resources"][0]["components"][1];
        (sample["step"].as_u64().unwrap(), y["mean"].as_f64().unwrap(), y["sum"].as_f64().unwrap())
    });
    assert_eq!(taken.collect::<Vec<_>>(), [(2, 2.0, 2000.0), (4, 4.0, 4000.0), (5, 5.0, 5000.0)]);
    assert_eq!(samples[0]["passes"][0]["name"], "advance");
    assert!(report["nvrtc"].is_string());
}
