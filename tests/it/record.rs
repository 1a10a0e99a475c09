//! Clips: what their files say about pictures and times.

use std::fs;

use super::support::{COUNTER, Ended, Workplace};

/// Renders the counter scene on the CPU device; `None`, said aloud, where there is no OpenGL.
fn rendered(place: &Workplace, arguments: &[&str]) -> Option<Ended> {
    place.file("scene.cu", COUNTER);
    let command = ["render", "scene.cu", "--device", "cpu", "--size", "32x18"];
    let ended = place.run(&[&command[..], arguments].concat());
    if ended.err.contains("EGL") {
        eprintln!("skipped: no OpenGL: {}", ended.err);
        return None;
    }
    Some(ended)
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
    assert_eq!(
        fs::read_dir(place.path(""))
            .unwrap()
            .flatten()
            .filter(|e| e.file_name().to_string_lossy().starts_with(".warpaint"))
            .count(),
        0
    );
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
        eprintln!("skipped: no OpenGL: {}", ended.err);
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
    let mut command = place
        .command(&["render", "scene.cu", "--device", "cpu", "--steps", "9", "--out", "a.webm"]);
    let ended = Ended::new(command.env("WARPAINT_FFMPEG", "no/such/program").output().unwrap());
    ended.expect_one_line(2, &["a.webm needs ffmpeg, which is not installed"]);
}

#[test]
fn what_a_clip_cannot_be_is_told_before_anything_runs() {
    let place = Workplace::new();
    for (arguments, told) in [
        (&["--out", "a.png", "--every", "2"][..], "give a.png a %04d"),
        (&["--out", "a%d.gif"], "a clip is one file"),
        (&["--out", "a%s.png"], "only %d and %04d stand for the step"),
        (&["--out", "a%d.png", "--every", "0"], "--every needs a number of steps above 0"),
        (&["--every", "2"], "--every needs --out or --json"),
        (&["--out", "a.png", "--fps", "30"], "--fps is for clips"),
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
