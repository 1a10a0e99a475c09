//! What `docs/security.md` says of a scene from a stranger, tried from the command line.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt as _, fs::symlink},
    path::Path,
    process::Command,
};

use super::{
    skip::{Need, skip},
    support::{COUNTER, Ended, Workplace},
};

/// The counter scene with an array that is kept in `file`.
fn kept_in(file: &str) -> String {
    let golden = format!("[[golden]]\nof = \"value\"\nfile = {file:?}\nafter = 1\n---*/");
    COUNTER.replacen("---*/", &golden, 1)
}

fn tested(place: &Workplace, arguments: &[&str]) -> Ended {
    place.run(&[&["test", "scene.cu", "--device", "cpu"], arguments].concat())
}

/// A pipe with nobody at its other end: to open it waits for ever.
fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// The names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let mut names: Vec<_> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_scene_names_goldens_only_in_its_folder() {
    let place = Workplace::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let absolute = elsewhere.path().join("a.npy").display().to_string();
    let below = "must lie in the scene's folder or below it";
    for (file, told) in [
        (&*absolute, below),
        ("../a.npy", below),
        ("kept/../../a.npy", below),
        ("/dev/zero", below),
        (".bashrc", "must be a file that ends with .npy"),
        ("scene.cu", "must be a file that ends with .npy"),
        ("a.png", "must be a file that ends with .npy"),
    ] {
        let text = kept_in(file);
        place.file("scene.cu", &text);
        let line = text.lines().position(|line| line.starts_with("file = ")).unwrap() + 1;
        let place_of = format!("scene.cu:{line}:8: error: `file` {told}");
        for arguments in [&["--update-golden"][..], &[]] {
            tested(&place, arguments).expect(1, &[&place_of]);
        }
        place.run(&["check", "scene.cu"]).expect(1, &[&place_of]);
        assert_eq!(fs::read_to_string(place.path("scene.cu")).unwrap(), text);
    }
    let picture = COUNTER.replacen("---*/", "[[golden]]\nimage = \"../a.png\"\n---*/", 1);
    place.file("scene.cu", &picture);
    place.run(&["check", "scene.cu"]).expect(1, &[below]);
    assert_eq!(names(elsewhere.path()), [""; 0]);
    assert_eq!(names(&place.path("")), ["scene.cu"]);
}

/// However the directive or the name is spelled, and whatever the version of C++ makes of it.
#[test]
fn no_spelling_of_include_leaves_the_folder() {
    let place = Workplace::new();
    fs::create_dir(place.path("scene")).unwrap();
    fs::write(place.path("secret.h"), "#define SECRET 4242\n").unwrap();
    symlink("..", place.path("scene/l^")).unwrap();
    let odd = OsStr::from_bytes(b"scene/l\xff");
    symlink("..", place.path("").join(odd)).unwrap();
    let head = "/*---\n[compile]\nstandard = \"c++14\"\n[array.a]\ntype = \"int\"\ncount = 1\n[[pass]]\n\
                kernel = \"k\"\ngrid = 1\nblock = 1\n---*/\n";
    let kernel = "\n__global__ void k(int *a) { a[0] = SECRET; }\n";
    for directive in [
        &b"#inc??/\nlude \"../secret.h\""[..],
        b"#??/\ninclude \"../secret.h\"",
        b"??=include \"../secret.h\"",
        b"#include \"l??'/secret.h\"",
        b"#include \"l^/secret.h\"",
        b"#include \"odd.h\"",
    ] {
        fs::write(place.path("scene/odd.h"), b"#include \"l\xff/secret.h\"\n").unwrap();
        // The text itself may have no trigraphs.
        fs::write(place.path("scene/inner.h"), [directive, b"\n"].concat()).unwrap();
        let scene = [head, "#include \"inner.h\"", kernel].concat();
        fs::write(place.path("scene/s.cu"), &scene).unwrap();
        let ended = place.run(&["render", "scene/s.cu", "--device", "cpu", "--npy", "a=a.npy"]);
        let told = String::from_utf8_lossy(directive);
        assert_eq!(ended.code, Some(1), "{told}: {ended:#?}");
        assert!(ended.err.contains("--trust allows it"), "{told}: {ended:#?}");
        assert!(!place.path("a.npy").exists(), "{told}");
    }
}

/// What no reading of the text can see, the system's kernel does not open for the compiler (Landlock, Linux 5.13).
#[test]
fn the_compiler_itself_opens_nothing_outside_the_folder() {
    use landlock::{
        ABI, Access as _, AccessFs, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    };
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let held = ruleset.handle_access(AccessFs::from_all(ABI::V1)).and_then(Ruleset::create);
    if let Err(error) = held {
        return skip(Need::Machine, format_args!("the system has no Landlock: {error}"));
    }
    let place = Workplace::new();
    fs::create_dir(place.path("scene")).unwrap();
    fs::write(place.path("secret.h"), "").unwrap();
    place.file("scene/inner.h", "");
    // A name and a question that only the preprocessor puts together.
    let scene = |name: &str| {
        format!(
            "/*---\n[array.a]\ntype = \"int\"\ncount = 1\n[[pass]]\nkernel = \"k\"\ngrid = 1\nblock = 1\n---*/\n\
             #define NAME \"{name}\"\n#define JOINED(a, b) a##b\n#if JOINED(__has, _include)(NAME)\n#define FOUND 1\n\
             #else\n#define FOUND 0\n#endif\n__global__ void k(int *a) {{ a[0] = FOUND; }}\n"
        )
    };
    // With one cache: what a trusted scene found is not for another one.
    for (name, trust, found) in [
        ("../secret.h", &["--trust"][..], 1),
        ("../secret.h", &[], 0),
        ("inner.h", &[], 1),
        ("/etc/passwd", &[], 0),
    ] {
        place.file("scene/s.cu", &scene(name));
        let render =
            ["render", "scene/s.cu", "--steps", "1", "--device", "cpu", "--npy", "a=a.npy"];
        place.run(&[&render, trust].concat()).expect(0, &[]);
        let array = fs::read(place.path("a.npy")).unwrap();
        assert_eq!(array[array.len() - 4..], i32::to_le_bytes(found), "{name} {trust:?}");
    }
}

#[test]
fn a_golden_is_written_through_no_link_and_over_no_other_file() {
    let place = Workplace::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let precious = elsewhere.path().join("precious.npy");
    fs::write(&precious, "precious").unwrap();
    symlink(elsewhere.path(), place.path("out")).unwrap();
    symlink(&precious, place.path("link.npy")).unwrap();
    symlink(elsewhere.path().join("new.npy"), place.path("dangling.npy")).unwrap();
    fs::write(place.path("notes.npy"), "no array").unwrap();
    for (file, told) in [
        ("out/a.npy", "is not below the scene's folder"),
        ("out/precious.npy", "is not below the scene's folder"),
        ("link.npy", "it is a symbolic link"),
        ("dangling.npy", "it is a symbolic link"),
        ("notes.npy", "what is there is no .npy array"),
    ] {
        place.file("scene.cu", &kept_in(file));
        let ended = tested(&place, &["--update-golden"]);
        ended.expect(2, &["1 of 1 checks failed or could not be made"]);
        // It is told on the golden's line, and of no other reason.
        assert_eq!(ended.out.lines().count(), 1, "{ended:#?}");
        assert!(
            ended.out.starts_with("ERROR   scene.cu:") && ended.out.contains(told),
            "{ended:#?}"
        );
    }
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
    assert_eq!(names(elsewhere.path()), ["precious.npy"]);
    assert_eq!(fs::read_to_string(place.path("notes.npy")).unwrap(), "no array");

    place.file("scene.cu", &kept_in("kept/a.npy"));
    tested(&place, &["--update-golden"]).expect(0, &[]);
    tested(&place, &["--update-golden"]).expect(0, &[]);
    tested(&place, &[]).expect(0, &[]);
}

#[test]
fn a_golden_that_is_no_file_is_not_read() {
    let place = Workplace::new();
    pipe(&place.path("pipe.npy"));
    symlink("/dev/zero", place.path("zero.npy")).unwrap();
    fs::File::create(place.path("huge.npy")).unwrap().set_len(1 << 40).unwrap();
    for (file, told) in [
        ("pipe.npy", "it is a pipe or a device, not a file"),
        ("zero.npy", "is not below the scene's folder"),
        ("huge.npy", "the most that is read of such a file"),
    ] {
        place.file("scene.cu", &kept_in(file));
        let ended = tested(&place, &[]);
        ended.expect(1, &["1 of 1 checks failed"]);
        assert!(ended.out.contains("cannot be compared") && ended.out.contains(told), "{ended:#?}");
        if file != "huge.npy" {
            tested(&place, &["--update-golden"]).expect(2, &[]);
        }
    }
}

#[test]
fn what_differs_is_written_through_no_link_that_came_with_the_scene() {
    let place = Workplace::new();
    let elsewhere = tempfile::tempdir().unwrap();
    place.file("scene.cu", &kept_in("a.npy"));
    tested(&place, &["--update-golden"]).expect(0, &[]);
    let differs = ["--param", "gain=2"];

    symlink(elsewhere.path(), place.path("warpaint-failed")).unwrap();
    let ended = tested(&place, &differs);
    ended.expect(2, &[]);
    assert!(ended.out.contains("it is a symbolic link: name the folder itself"), "{ended:#?}");
    assert_eq!(names(elsewhere.path()), [""; 0]);

    fs::remove_file(place.path("warpaint-failed")).unwrap();
    fs::create_dir(place.path("warpaint-failed")).unwrap();
    let precious = elsewhere.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    symlink(&precious, place.path("warpaint-failed/a.actual.npy")).unwrap();
    tested(&place, &differs).expect(2, &[]);
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");

    fs::remove_file(place.path("warpaint-failed/a.actual.npy")).unwrap();
    tested(&place, &differs).expect(1, &[]);
    assert!(place.path("warpaint-failed/a.actual.npy").exists());
}

#[test]
fn scenes_are_regular_files() {
    let place = Workplace::new();
    pipe(&place.path("pipe.cu"));
    fs::File::create(place.path("huge.cu")).unwrap().set_len(1 << 40).unwrap();
    for (name, told) in [
        ("pipe.cu", "it is a pipe or a device, not a file"),
        ("/dev/zero", "it is a pipe or a device, not a file"),
        ("huge.cu", "the most that is read of such a file"),
    ] {
        for command in ["check", "render", "test", "bench"] {
            let ended = place.run(&[command, name]);
            ended.expect_one_line(2, &[&format!("cannot read {name}"), told]);
        }
    }
}

/// No character of it steers a terminal.
#[track_caller]
fn expect_plain(text: &str) {
    let steers = |c: &char| {
        c.is_control() && *c != '\n' && *c != '\t' || ('\u{202a}'..='\u{202e}').contains(c)
    };
    assert_eq!(text.chars().find(steers), None, "{text:?}");
}

#[test]
fn nothing_that_a_file_contains_steers_the_terminal() {
    let place = Workplace::new();
    let manifest = COUNTER.replacen("---*/", "\"\\u001b[31mred\\n\\u0007\\u202e\" = 1\n---*/", 1);
    place.file("manifest.cu", &manifest);
    place.file("source.cu", &format!("{COUNTER}\n#error \u{1b}[31m \u{7} \u{202e}\n"));
    for name in ["manifest.cu", "source.cu"] {
        for command in
            [&["check", name][..], &["test", name, "--device", "cpu", "--junit", "r.xml"]]
        {
            let mut command = place.command(command);
            let ended = Ended::new(command.env("WARPAINT_LOG", "debug").output().unwrap());
            ended.expect(1, &["\\u{1b}[31m", "\\u{7}"]);
            expect_plain(&ended.err);
            expect_plain(&ended.out);
        }
        let xml = fs::read_to_string(place.path("r.xml")).unwrap();
        expect_plain(&xml);
        assert!(xml.contains("\\u{1b}[31m"), "{xml}");
    }
    let name = "\"\\u001b[31mred\\u009b\\u202e\"";
    let named = format!(
        "[[stat]]\nname = {name}\nof = \"value\"\nmap = \"x.x\"\nreduce = \"sum\"\n[[check]]\nstat = {name}\nmin = 0\n---*/"
    );
    let prints = COUNTER.replacen("---*/", &named, 1).replacen(
        "value[i].y += gain;",
        "{ value[i].y += gain; if (i == 0) printf(\"\\x1b[2Jprinted\\n\"); }",
        1,
    );
    place.file("scene.cu", &prints);
    let ended = tested(&place, &["--steps", "1", "--junit", "r.xml"]);
    ended.expect(0, &[]);
    expect_plain(&ended.out);
    assert!(
        ended.out.contains("\\u{1b}[2Jprinted")
            && ended.out.contains("\\u{1b}[31mred\\u{9b}\\u{202e} = "),
        "{ended:#?}"
    );
    expect_plain(&fs::read_to_string(place.path("r.xml")).unwrap());
    place.run(&["render", "scene.cu", "--device", "cpu", "--json", "r.json"]).expect(0, &[]);
    let report: serde_json::Value =
        serde_json::from_slice(&fs::read(place.path("r.json")).unwrap()).unwrap();
    assert_eq!(report["stats"][0]["name"], "\u{1b}[31mred\u{9b}\u{202e}");
    expect_plain(&fs::read_to_string(place.path("r.json")).unwrap());
}

#[test]
fn no_name_makes_lines_of_its_own() {
    let place = Workplace::new();
    let forged = "x\\nok      other.cu: all 12 checks hold\\ny";
    let source =
        COUNTER.replace("---*/", &format!("---*/\n#line 1 \"{forged}\"\n#warning of a name"));
    place.file("scene.cu", &source);
    for command in ["check", "render", "test"] {
        let ended = place.run(&[command, "scene.cu"]);
        let all = format!("{}{}", ended.out, ended.err);
        assert!(!all.lines().any(|line| line.starts_with("ok      other")), "{all}");
        // The warning itself is told where warnings are.
        assert!(all.contains("other.cu") || command == "test", "{command}: {all}");
    }
}

#[test]
fn very_many_and_very_long_mistakes_are_told_shortly() {
    let place = Workplace::new();
    let keys: String = (0..3000).map(|n| format!("key{n} = 1\n")).collect();
    place.file("many.cu", &COUNTER.replacen("title =", &format!("{keys}title ="), 1));
    let ended = place.run(&["check", "many.cu"]);
    ended.expect(1, &["has no key `key0`", "… and 2,900 more"]);
    assert_eq!(ended.err.lines().count(), 101, "{ended:#?}");
    let long = "x".repeat(200_000);
    place.file("long.cu", &COUNTER.replacen("title =", &format!("{long} = 1\ntitle ="), 1));
    place.file("text.cu", &COUNTER.replacen("+= gain", &format!("+= {long}"), 1));
    for name in ["long.cu", "text.cu"] {
        let ended = place.run(&["check", name]);
        ended.expect(1, &["error: ", "xxx…"]);
        assert!(ended.err.len() < 20_000, "{name}: {} bytes", ended.err.len());
    }
}

#[test]
fn outputs_are_what_they_can_be_and_each_is_one_file() {
    let place = Workplace::new();
    place.file("scene.cu", COUNTER);
    symlink("nowhere.npy", place.path("dangling.npy")).unwrap();
    fs::create_dir(place.path("sub")).unwrap();
    let kinds = "pictures are .png (frame_%04d.png for one a step), .gif, .apng, .mp4 or .webm";
    let same = "are the same file: give each a name of its own";
    for (arguments, told) in [
        (&["--out", "x.bmp"][..], kinds),
        (&["--out", "x"], kinds),
        (&["--out", "f%04d%04d.png"], "only %d and %04d stand for the step, once"),
        (&["--npy", "value=same", "--json", "same"], same),
        (&["--npy", "value=same", "--npy", "value=./sub/../same"], same),
        (&["--out", "a.png", "--npy", "value=a.png"], same),
        (&["--out", "f%04d.png", "--npy", "value=f0002.png"], same),
        (&["--json", "scene.cu"], "would replace the scene itself"),
        (&["--npy", "value=dangling.npy"], "it is a symbolic link to a file that is not there"),
    ] {
        let ended = place.run(&[&["render", "scene.cu", "--device", "cpu"], arguments].concat());
        ended.expect_one_line(2, &[told]);
    }
    place.file("other.cu", COUNTER);
    for (command, option) in [("test", "--junit"), ("bench", "--json")] {
        for scene in ["scene.cu", "./sub/../other.cu"] {
            let ended =
                place.run(&[command, "scene.cu", "other.cu", "--device", "cpu", option, scene]);
            ended.expect_one_line(2, &[option, "would replace the scene itself"]);
        }
    }
    let reads = COUNTER.replace("count = \"n\"\n", "count = \"n\"\nfile = \"sub/data.npy\"\n");
    place.file("other.cu", &reads);
    let written = ["--npy", "value=sub/data.npy"];
    place.run(&[&["render", "scene.cu", "--device", "cpu"], &written[..]].concat()).expect(0, &[]);
    for output in [
        &["render", "other.cu", "--npy", "value=sub/../sub/data.npy"][..],
        &["render", "other.cu", "--json", "sub/data.npy"],
        &["test", "scene.cu", "other.cu", "--junit", "sub/data.npy"],
        &["bench", "other.cu", "--json", "sub/data.npy"],
    ] {
        let ended = place.run(&[output, &["--device", "cpu"]].concat());
        ended.expect_one_line(2, &["sub/data.npy would replace what the scene reads"]);
    }
    // A run goes on where the last one ended.
    let goes_on = ["--load", "value=sub/data.npy", "--npy", "value=sub/data.npy"];
    place.run(&[&["render", "scene.cu", "--device", "cpu"], &goes_on[..]].concat()).expect(0, &[]);
    let loads = ["--load", "value=sub/data.npy", "--json", "sub/data.npy"];
    let loaded = place.run(&[&["render", "scene.cu", "--device", "cpu"], &loads[..]].concat());
    loaded.expect_one_line(2, &["--json sub/data.npy would replace what the scene reads"]);
    place.file("sub/other.cuh", "// nothing\n");
    place.file("other.cu", &format!("{COUNTER}#include \"sub/other.cuh\"\n"));
    let included = ["render", "other.cu", "--device", "cpu", "--json", "./sub/other.cuh"];
    place.run(&included).expect_one_line(2, &["other.cuh would replace what the scene reads"]);
    for output in [
        &["test", "other.cu", "--junit", "sub/other.cuh"][..],
        &["bench", "other.cu", "--json", "sub/other.cuh"],
        &["compare", "scene.cu", "other.cu", "--json", "sub/other.cuh"],
    ] {
        let ended = place.run(&[output, &["--device", "cpu"]].concat());
        ended.expect_one_line(2, &["other.cuh would replace what the scene reads"]);
    }
    // What it is compared with is made by `--npy` as well as by `--update-golden`.
    let golden = "[[golden]]\nof = \"value\"\nfile = \"sub/data.npy\"\nafter = 1\n[[pass]]";
    place.file("other.cu", &COUNTER.replacen("[[pass]]", golden, 1));
    for output in [
        &["render", "other.cu", "--json", "sub/data.npy"][..],
        &["render", "other.cu", "--save", "sub/data.npy"],
        &["test", "other.cu", "--junit", "sub/data.npy"],
        &["bench", "other.cu", "--json", "sub/data.npy"],
    ] {
        let ended = place.run(&[output, &["--device", "cpu"]].concat());
        ended.expect_one_line(2, &["sub/data.npy would replace what the scene reads"]);
    }
    let made = ["render", "other.cu", "--device", "cpu", "--npy", "value=sub/data.npy"];
    place.run(&made).expect(0, &[]);
    fs::remove_file(place.path("sub/other.cuh")).unwrap();
    fs::remove_file(place.path("sub/data.npy")).unwrap();
    fs::remove_file(place.path("other.cu")).unwrap();
    assert_eq!(names(&place.path("")), ["dangling.npy", "scene.cu", "sub"]);
    let null = ["--npy", "value=/dev/null", "--json", "/dev/null"];
    place.run(&[&["render", "scene.cu", "--device", "cpu"], &null[..]].concat()).expect(0, &[]);
    let into_a_pipe = ["render", "scene.cu", "--device", "cpu", "--json", "/dev/stdout"];
    let ended = place.run(&into_a_pipe);
    ended.expect(0, &[]);
    assert!(serde_json::from_str::<serde_json::Value>(&ended.out).is_ok(), "{ended:#?}");
}

#[test]
fn a_scene_that_runs_writes_nothing_unasked() {
    let place = Workplace::new();
    place.file(
        "scene.cu",
        &COUNTER.replacen("---*/", "[[check]]\nstat = \"value.nan\"\nequals = 0\n---*/", 1),
    );
    for command in [
        &["check", "scene.cu"][..],
        &["render", "scene.cu", "--device", "cpu"],
        &["test", "scene.cu", "--device", "cpu", "--steps", "2"],
    ] {
        place.run(command).expect(0, &[]);
    }
    assert_eq!(names(&place.path("")), ["scene.cu"]);
}
