//! The program from outside: results, exit codes, and one clear sentence for everything that can be wrong.

use crate::skip::{Need, skip};
use std::{fs, os::unix::fs::PermissionsExt};

use warpaint::device::Choice;

use super::support::{COUNTER, Ended, Workplace, read_npy_f32};

/// `COUNTER` with `from` replaced.
fn edited(from: &str, to: &str) -> String {
    assert!(COUNTER.contains(from), "the counter scene has {from:?}");
    COUNTER.replacen(from, to, 1)
}

/// Runs one step of a scene on the CPU device.
fn render(text: &str) -> Ended {
    let place = Workplace::new();
    place.file("scene.cu", text);
    place.run(&["render", "scene.cu", "--device", "cpu", "--step-timeout", "2"])
}

/// The line and column of the first `needle` in `text`, as diagnostics count.
fn place_of(text: &str, needle: &str) -> (usize, usize) {
    let at = text.find(needle).unwrap();
    let line = text[..at].matches('\n').count() + 1;
    (line, at - text[..at].rfind('\n').map_or(0, |n| n + 1) + 1)
}

#[test]
fn steps_constants_and_parameters_reach_the_kernel() {
    let place = Workplace::new();
    place.file("scene.cu", COUNTER);
    place
        .run(&[
            "render",
            "scene.cu",
            "--device",
            "cpu",
            "--steps",
            "3",
            "--const",
            "n=5",
            "--param",
            "gain=2.5",
            "--npy",
            "value=v.npy",
        ])
        .expect(0, &[]);
    let (shape, values) = read_npy_f32(&place.path("v.npy"));
    assert_eq!(shape, [5, 4]);
    let expected: Vec<f32> = (0..5).flat_map(|i| [i as f32, 7.5, 0.0, 1.0]).collect();
    assert_eq!(values, expected);
}

#[test]
fn json_has_statistics_timings_and_the_device() {
    let place = Workplace::new();
    place.file("scene.cu", COUNTER);
    place
        .run(&[
            "render", "scene.cu", "--device", "cpu", "--steps", "2", "--json", "r.json", "--seed",
            "7",
        ])
        .expect(0, &[]);
    let report: serde_json::Value =
        serde_json::from_slice(&fs::read(place.path("r.json")).unwrap()).unwrap();
    assert_eq!(report["seed"], 7);
    // All that a session shows of itself, as the studio has it.
    assert_eq!(report["clock"]["step"], 2);
    assert_eq!((&report["speed"], &report["steps_left"]), (&1.0.into(), &0.into()));
    assert_eq!(report["device"]["selector"], "cpu");
    assert_eq!(report["passes"][0]["name"], "advance");
    assert!(report["passes"][0]["last_ms"].as_f64().unwrap() > 0.0);
    let components = &report["resources"][0]["components"];
    let expected = [(0.0, 999.0, 499.5), (2.0, 2.0, 2.0), (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)];
    for (index, (min, max, mean)) in expected.into_iter().enumerate() {
        let of = &components[index];
        assert_eq!(of["count"], 1000);
        assert_eq!((of["nan"].as_u64(), of["inf"].as_u64()), (Some(0), Some(0)));
        assert_eq!(
            (of["min"].as_f64(), of["max"].as_f64(), of["mean"].as_f64()),
            (Some(min), Some(max), Some(mean)),
            "component {index}"
        );
    }
}

#[test]
fn statistics_count_nan_and_infinity() {
    let text = edited(
        "value[i].y += gain",
        "value[i].y = i == 3 || i == 700 ? 0.0f / (gain - gain) : i == 9 ? 1.0f / (gain - gain) : 2.0f",
    );
    let place = Workplace::new();
    place.file("scene.cu", &text);
    place.run(&["render", "scene.cu", "--device", "cpu", "--json", "r.json"]).expect(0, &[]);
    let report: serde_json::Value =
        serde_json::from_slice(&fs::read(place.path("r.json")).unwrap()).unwrap();
    let y = &report["resources"][0]["components"][1];
    assert_eq!((y["nan"].as_u64(), y["inf"].as_u64()), (Some(2), Some(1)), "{y}");
    assert_eq!(
        (y["min"].as_f64(), y["max"].as_f64(), y["mean"].as_f64()),
        (Some(2.0), Some(2.0), Some(2.0))
    );
}

#[test]
fn a_run_can_be_repeated() {
    let place = Workplace::new();
    let arguments =
        ["render", "particles", "--device", "cpu", "--const", "n=4096", "--steps", "5", "--npy"];
    for (file, seed) in [("position=a.npy", "1"), ("position=b.npy", "1"), ("position=c.npy", "2")]
    {
        place.run(&[&arguments[..], &[file, "--seed", seed]].concat()).expect(0, &[]);
    }
    let read = |name| fs::read(place.path(name)).unwrap();
    assert_eq!(read("a.npy"), read("b.npy"), "same file, seed and steps");
    assert_ne!(read("a.npy"), read("c.npy"), "another seed");
}

#[test]
fn a_missing_file_is_named() {
    let place = Workplace::new();
    place.run(&["render", "nowhere.cu"]).expect_one_line(2, &["there is no file nowhere.cu"]);
    place.run(&["render", "particle"]).expect_one_line(2, &["called particle", "particles"]);
    place.run(&["check", "nowhere.cu"]).expect_one_line(2, &["there is no file nowhere.cu"]);
}

#[test]
fn mistakes_in_the_manifest_have_their_place() {
    for (text, needle, sentence) in [
        (edited("[param.gain]\nvalue = 1.0", "[param.gain]\nvaleu = 1.0"), "valeu", "value"),
        (edited("count = \"n\"", "count = true"), "true", "count"),
        (edited("type = \"float4\"", "type = \"float5\""), "\"float5\"", "float"),
    ] {
        let (line, _) = place_of(&text, needle);
        render(&text).expect(1, &[&format!("scene.cu:{line}:"), "error:", sentence]);
    }
}

#[test]
fn compile_errors_have_their_place() {
    let text = edited("value[i].y += gain", "value[i].y += gian");
    let (line, column) = place_of(&text, "gian");
    let sentence = format!("scene.cu:{line}:{column}: error: ");
    render(&text).expect(1, &[&sentence, "gian"]);
    let place = Workplace::new();
    place.file("scene.cu", &text);
    place.run(&["check", "scene.cu"]).expect(1, &[&sentence, "gian"]);
    place.file("good.cu", COUNTER);
    place.run(&["check", "good.cu"]).expect(0, &[]);
}

#[test]
fn a_parameter_that_binds_to_nothing_is_named_with_its_neighbours() {
    let text = edited(
        "advance(float4 *value, int n, float gain)",
        "advance(float4 *value, int n, float gian)",
    );
    let (line, _) = place_of(&text, "gian");
    render(&text).expect(1, &[&format!("scene.cu:{line}:"), "`gian`", "`gain`"]);
}

#[test]
fn a_kernel_that_does_not_exist_is_named_with_its_neighbours() {
    let text = edited("kernel = \"advance\"", "kernel = \"advanse\"");
    let (line, _) = place_of(&text, "\"advanse\"");
    render(&text).expect(1, &[&format!("scene.cu:{line}:"), "advanse", "advance"]);
}

#[test]
fn kernels_may_stand_in_files_beside_the_scene() {
    let place = Workplace::new();
    let (manifest, kernels) = COUNTER.split_at(COUNTER.find("---*/").unwrap() + 5);
    place.file("scene.cu", &format!("{manifest}\n#include \"part.cuh\"\n"));
    place.file("part.cuh", "#include \"kernels.cuh\"\n");
    place.file("kernels.cuh", kernels);
    place.run(&["render", "scene.cu", "--device", "cpu"]).expect(0, &[]);
    place.file("kernels.cuh", &kernels.replace("float gain", "float gian"));
    place.run(&["render", "scene.cu", "--device", "cpu"]).expect(1, &["kernels.cuh:", "`gian`"]);
}

#[test]
fn a_write_out_of_bounds_is_a_fault_with_its_place() {
    let text = edited("if (i < n) value[i].y += gain;", "value[i + n].y += gain;");
    let (line, _) = place_of(&text, "value[i + n]");
    render(&text)
        .expect(4, &[&format!("scene.cu:{line}"), "fault:", "advance", "block (", "thread ("]);
    // With the name that the user gave: the studio finds its own lines by it.
    let place = Workplace::new();
    place.file("szene_\u{e4}.cu", &text);
    let path = place.path("szene_\u{e4}.cu").display().to_string();
    let ended = place.run(&["render", &path, "--device", "cpu"]);
    ended.expect(4, &[&format!("{path}:{line}")]);
}

#[test]
fn an_endless_loop_is_stopped() {
    let text = edited("value[i].y += gain;", "while (true) value[i].y += gain;");
    let (line, _) = place_of(&text, "while (true)");
    render(&text).expect(4, &[&format!("scene.cu:{line}"), "fault:", "stopped", "thread ("]);
}

#[test]
fn wrong_usage_is_told_before_anything_runs() {
    let place = Workplace::new();
    place.file("scene.cu", COUNTER);
    let run =
        |extra: &[&str]| place.run(&[&["render", "scene.cu", "--device", "cpu"], extra].concat());
    run(&["--param", "gian=1"]).expect_one_line(2, &["gian"]);
    run(&["--param", "gain=much"]).expect_one_line(2, &["much"]);
    run(&["--npy", "valeu=x.npy"]).expect_one_line(2, &["valeu", "value"]);
    run(&["--const", "m=1"]).expect(2, &["--const m: the scene has no such constant"]);
    run(&["--size", "0x5"]).expect(2, &["WIDTHxHEIGHT"]);
    place.run(&["render", "scene.cu", "--device", "gpu"]).expect(2, &["gpu"]);
    run(&["--step-timeout", "0"]).expect(2, &["above 0"]);
    run(&["--step-timeout", "-1"]).expect(2, &["above 0"]);
    run(&["--out", "no/x.png"]).expect_one_line(2, &["no/x.png", "there is no folder no"]);
    run(&["--json", "no/x.json", "--steps", "1000000000"])
        .expect_one_line(2, &["there is no folder no"]);
    run(&["--out", "x.png", "--every", "2"]).expect_one_line(2, &["%04d"]);
    assert!(!place.path("x.png").exists());
}

#[test]
fn a_text_that_is_too_long_for_the_window_is_told_before_it_opens() {
    let place = Workplace::new();
    place.file("long.cu", &" ".repeat((2 << 20) + 1));
    place.run(&["long.cu"]).expect_one_line(2, &["long.cu", "more than 2097152 bytes"]);
}

#[test]
fn no_cuda_is_one_sentence() {
    let place = Workplace::new();
    if place.run(&["devices"]).out.contains("cuda:0") {
        skip(Need::Machine, "this machine has CUDA");
        return;
    }
    let devices = place.run(&["devices"]);
    devices.expect(0, &[]);
    assert!(devices.out.contains("no CUDA driver"), "{devices:#?}");
    assert!(devices.out.contains("cpu"), "{devices:#?}");
    assert!(place.run(&["devices", "-v"]).out.contains("MAX_THREADS_PER_BLOCK "));
    assert!(!devices.out.contains("MAX_THREADS_PER_BLOCK"), "{devices:#?}");
    let json = place.run(&["devices", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(report["devices"][0]["selector"], "cpu");
    place.file("scene.cu", COUNTER);
    place.run(&["render", "scene.cu", "--device", "cuda"]).expect_one_line(3, &["no CUDA driver"]);
}

#[test]
fn no_display_is_one_sentence() {
    let place = Workplace::new();
    let mut command = place.command(&["particles", "--device", "cpu"]);
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
    Ended::new(command.output().unwrap()).expect_one_line(3, &["display", "warpaint render"]);
}

#[test]
fn no_egl_is_one_sentence() {
    let place = Workplace::new();
    place.file("scene.cu", COUNTER);
    let mut command = place.command(&["render", "scene.cu", "--device", "cpu", "--out", "x.png"]);
    command.env("__EGL_VENDOR_LIBRARY_FILENAMES", "/nonexistent.json");
    Ended::new(command.output().unwrap()).expect_one_line(3, &["OpenGL"]);
    assert!(!place.path("x.png").exists());
}

#[test]
fn no_nvrtc_is_one_sentence() {
    let place = Workplace::new();
    place.file("scene.cu", COUNTER);
    let mut command = place.command(&["render", "scene.cu", "--device", "cpu"]);
    command
        .env("WARPAINT_NVRTC", "/nonexistent/libnvrtc.so")
        .env("WARPAINT_CACHE", place.path("cache"));
    Ended::new(command.output().unwrap()).expect_one_line(3, &["WARPAINT_NVRTC", "/nonexistent"]);
}

#[test]
fn an_unusable_cache_folder_costs_time_only() {
    let place = Workplace::new();
    place.file("scene.cu", COUNTER);
    place.file("cache", "a file where the folder should be");
    let mut command =
        place.command(&["render", "scene.cu", "--device", "cpu", "--npy", "value=v.npy"]);
    command.env("WARPAINT_CACHE", place.path("cache"));
    Ended::new(command.output().unwrap()).expect(0, &["cache"]);
    assert!(place.path("v.npy").exists());
    assert_eq!(
        fs::read_to_string(place.path("cache")).unwrap(),
        "a file where the folder should be"
    );
}

#[test]
fn a_damaged_cache_is_compiled_anew() {
    let place = Workplace::new();
    place.file("scene.cu", COUNTER);
    let cache = place.path("cache");
    let run = |file: &str| {
        let dump = format!("value={file}");
        let arguments =
            ["render", "scene.cu", "--device", "cpu", "--npy", &dump, "--json", "r.json"];
        let mut command = place.command(&arguments);
        command.env("WARPAINT_CACHE", &cache);
        Ended::new(command.output().unwrap()).expect(0, &[]);
        fs::read(place.path(file)).unwrap()
    };
    let first = run("a.npy");
    let mut damaged = 0;
    let mut folders = vec![cache.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let mut bytes = fs::read(&path).unwrap();
            let middle = bytes.len() / 2;
            match damaged % 2 {
                0 => bytes.truncate(middle),
                _ => bytes.iter_mut().skip(middle).step_by(7).for_each(|b| *b ^= 0x55),
            }
            fs::write(&path, bytes).unwrap();
            damaged += 1;
        }
    }
    assert!(damaged >= 2, "the scene and the statistics kernels were cached");
    assert_eq!(first, run("b.npy"));
}

#[test]
fn a_full_disk_loses_nothing() {
    let place = Workplace::new();
    place.file("scene.cu", COUNTER);
    fs::write(place.path("v.npy"), "what was there before").unwrap();
    fs::set_permissions(place.path("v.npy"), fs::Permissions::from_mode(0o640)).unwrap();
    // A limit on the size of files, whose signal is ignored, looks to the program like a full disk.
    let program = super::support::binary();
    let limited = |output: &str| {
        let script = format!(
            "trap '' XFSZ; ulimit -f 4; exec '{}' render scene.cu --device cpu {output}",
            program.display()
        );
        let mut command = std::process::Command::new("bash");
        command.args(["-c", &script]).current_dir(place.path("."));
        Ended::new(command.output().unwrap())
    };
    limited("--npy value=v.npy").expect(2, &["cannot write v.npy"]);
    assert_eq!(fs::read_to_string(place.path("v.npy")).unwrap(), "what was there before");

    place.run(&["render", "scene.cu", "--device", "cpu", "--npy", "value=v.npy"]).expect(0, &[]);
    let mode = fs::metadata(place.path("v.npy")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640, "a replaced file keeps its permissions");
    // It is compiled now.
    let saved = limited("--save s.npz");
    saved.expect_one_line(2, &["cannot write s.npz"]);
    assert!(!saved.err.contains("ZipWriter"), "{}", saved.err);
    assert!(!place.path("s.npz").exists());
    place
        .run(&["render", "scene.cu", "--device", "cpu", "--npy", "value=/dev/full"])
        .expect_one_line(2, &["cannot write /dev/full"]);
}

/// A warning that nobody can be told changes nothing.
#[test]
fn a_log_that_cannot_be_written_is_lost_alone() {
    let place = Workplace::new();
    place.file("scene.cu", COUNTER);
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    // Where there can be no cache, there is a warning.
    let render = ["render", "scene.cu", "--device", "cpu", "--npy", "value=v.npy"];
    let run = |error: Option<fs::File>| {
        let mut command = place.command(&render);
        command.env_remove("WARPAINT_CACHE").env("XDG_CACHE_HOME", "/dev/null");
        if let Some(error) = error {
            command.stderr(error);
        }
        Ended::new(command.output().unwrap())
    };
    assert!(run(None).expect(0, &[]).err.contains("WARN"), "nothing is logged");
    fs::remove_file(place.path("v.npy")).unwrap();
    run(Some(full())).expect(0, &[]);
    assert!(place.path("v.npy").exists());
}

#[test]
fn textures_are_dumped_row_by_row() {
    let place = Workplace::new();
    place.file("dye.cu", include_str!("../scenes/dye.cu"));
    place.file("solid.cu", include_str!("../scenes/solid.cu"));
    let render = |arguments: &[&str]| {
        place.run(&[&["render", "--device", "cpu"], arguments].concat()).expect(0, &[]);
    };
    render(&["dye.cu", "--steps", "0", "--npy", "dye=dye.npy"]);
    let (shape, values) = read_npy_f32(&place.path("dye.npy"));
    assert_eq!((shape.as_slice(), values[48 + 5]), (&[32, 48][..], ((7 * 5 + 3) % 16) as f32));
    render(&["solid.cu", "--steps", "1", "--npy", "block=block.npy"]);
    let (shape, values) = read_npy_f32(&place.path("block.npy"));
    assert_eq!(shape, [7, 12, 20, 4]);
    assert_eq!(values[4 * ((2 * 12 + 3) * 20 + 5)..][..4], [5.0, 3.0, 2.0, 1.0], "x, y, z, steps");
}

#[test]
fn a_write_beyond_a_texture_is_a_fault_with_its_place() {
    let text = include_str!("../scenes/bad/surface_write_outside.cu");
    let (line, _) = place_of(text, "surf2Dwrite");
    render(text).expect(4, &[&format!("scene.cu:{line}:"), "fault:", "advance"]);
}

#[test]
fn files_that_include_one_another_are_an_error_of_the_source() {
    let place = Workplace::new();
    place.file("scene.cu", &format!("#include \"a.cuh\"\n{COUNTER}"));
    place.file("a.cuh", "#include \"b.cuh\"\n");
    place.file("b.cuh", "#include \"a.cuh\"\n");
    place.run(&["check", "scene.cu"]).expect(1, &["cuh:1", "error: "]);
}

/// The command line's `--device` comes first, then our variable, then PyCUDA's.
#[test]
fn the_users_device_is_taken() {
    assert!(Choice::of_user().is_ok(), "of the tests' own environment");
    let place = Workplace::new();
    place.file("scene.cu", COUNTER);
    let run = |more: &[&str], ours: &str, pycuda: &str| {
        let mut command = place.command(&[&["render", "scene.cu", "--steps", "1"], more].concat());
        command.env("WARPAINT_DEVICE", ours).env("CUDA_DEVICE", pycuda);
        Ended::new(command.output().unwrap())
    };
    run(&[], "", "first").expect_one_line(2, &["CUDA_DEVICE names no device: `first`"]);
    run(&[], "gpu", "0").expect_one_line(2, &["WARPAINT_DEVICE names no device: `gpu`"]);
    run(&[], "cpu", "first").expect(0, &[]);
    run(&["--device", "cpu"], "gpu", "first").expect(0, &[]);
}

#[test]
fn every_template_is_a_scene_that_runs_and_draws() {
    let place = Workplace::new();
    for template in warpaint::scene::templates() {
        let (name, file) = (template.name, format!("{}.cu", template.name));
        place.run(&["new", "--template", name, "--out", &file]).expect(0, &[]);
        assert_eq!(fs::read_to_string(place.path(&file)).unwrap(), template.source);
        let printed = place.run(&["new", "--template", name]);
        assert_eq!(printed.out, template.source);
        let arguments = ["render", &file, "--device", "cpu", "--steps", "3", "--json", "run.json"];
        place.run(&arguments).expect(0, &[]);
        let report = fs::read_to_string(place.path("run.json")).unwrap();
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        let components = report["resources"][0]["components"].as_array().unwrap().clone();
        assert!(!components.is_empty(), "{name}: {report}");
        for of in &components {
            assert_eq!(of["nan"], 0, "{name}");
        }
        let spreads = |of: &serde_json::Value| of["min"].as_f64() < of["max"].as_f64();
        assert!(components.iter().any(spreads), "{name}: all is alike: {report}");
    }
    // What is there already is not replaced.
    place.run(&["new", "--template", "image", "--out", "image.cu"]).expect(2, &["image.cu"]);
    place.run(&["new", "--template", "picture"]).expect(2, &["points, image, two-pass"]);
    place.run(&["new"]).expect(2, &["--from"]);
    let meant = "`warpaint new --template image --out mine.cu`";
    place.run(&["new", "image", "mine.cu"]).expect(2, &[meant]);
    place.run(&["new", "heat.cu"]).expect(2, &["`warpaint new --from heat.cu`"]);
}
