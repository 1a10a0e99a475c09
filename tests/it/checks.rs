//! The test mode: statistics that manifests ask for, and what is demanded of them.

use crate::skip::{Need, skip};
use std::fs;

use super::support::{COUNTER, Ended, Workplace, root};

/// The counter scene with more at the end of its manifest.
fn counter_with(manifest: &str) -> String {
    COUNTER.replacen("---*/", &format!("{manifest}\n---*/"), 1)
}

/// Tests the counter scene with more at the end of its manifest.
fn tested(manifest: &str, arguments: &[&str]) -> Ended {
    let place = Workplace::new();
    place.file("scene.cu", &counter_with(manifest));
    place.run(&[&["test", "scene.cu", "--device", "cpu"], arguments].concat())
}

/// Names that the text behind a scene's own text has or had.
const WORDS: [&str; 24] = [
    "N", "T", "of", "code", "number", "layout", "summary", "BLOCK", "Partial", "Half", "Value",
    "Map", "i", "p", "x", "sum", "count", "half", "lane", "lanes", "value", "shift", "least",
    "bits",
];

#[test]
fn macros_of_the_source_mean_nothing_in_the_text_behind_it() {
    let place = Workplace::new();
    let macros: String = WORDS.iter().map(|word| format!("#define {word} 100\n")).collect();
    place.file(
        "scene.cu",
        &format!(
            r#"/*---
[constant]
length = 16
[compile]
define = {{ combine = 7, stride = "8 +" }}
[param.gain]
value = 3.0
[array.cell]
type = "Cell"
count = "length"
[array.bits16]
type = "half"
count = "length"
[[pass]]
kernel = "fill"
over = "cell"
args = {{ given = {{ scale = 2 }} }}
[[stat]]
name = "mapped"
of = "cell"
map = "x.weight * gain + FIVE + 0 * i"
reduce = "max"
[[stat]]
name = "of halves"
of = "bits16"
map = "x"
reduce = "sum"
[[check]]
stat = "mapped"
equals = 35.0
[[check]]
stat = "of halves"
equals = 0.0
[[check]]
stat = "cell.weight.max"
equals = 10.0
---*/
struct Cell {{ double weight; int tags[3]; }};
struct Given {{ float scale; }};
{macros}#define gain boo(
#define FIVE 5
__global__ void fill(Cell *cell, Given given) {{ cell[threadIdx.y].weight = 5 * given.scale; }}
"#
        ),
    );
    let ended = place.run(&["test", "scene.cu", "--steps", "1", "--device", "cpu"]);
    ended.expect(0, &[]);
    assert_eq!(ended.out.matches("ok ").count(), 3, "{ended:#?}");
}

/// The line of `needle` in the counter scene with `manifest`.
fn line_of(manifest: &str, needle: &str) -> usize {
    let text = counter_with(manifest);
    let at = text.find(needle).unwrap();
    text[..at].matches('\n').count() + 1
}

#[test]
fn statistics_may_name_what_kernels_may() {
    let place = Workplace::new();
    let scene = root().join("tests/scenes/statistics.cu");
    let ended = place.run(&["test", scene.to_str().unwrap(), "--device", "auto"]);
    ended.expect(0, &[]);
    assert_eq!(ended.out.lines().count(), 10, "{ended:#?}");
    for line in ended.out.lines() {
        assert!(line.starts_with("ok      "), "{line}");
    }
}

#[test]
fn a_check_is_told_with_its_value_and_its_bound() {
    let checks = "[[check]]
stat = \"value.y.mean\"
after = 3
min = 2
max = 3.5
[[check]]
stat = \"value.y.max\"
equals = 4
tolerance = 0.5
after = 5
[[check]]
stat = \"value.y.max\"
after = 2
drift = 0.5
[[check]]
stat = \"value.nan\"
equals = 0
[[check]]
stat = \"value.x.max\"
max = 10";
    let ended = tested(checks, &[]);
    ended.expect_one_line(1, &["warpaint: 3 of 5 checks failed"]);
    let line = line_of(checks, "[[check]]");
    let expected = [
        format!("ok      scene.cu:{line}: value.y.mean = 3 after 3 steps (min 2, max 3.5)"),
        format!(
            "FAILED  scene.cu:{}: value.y.max = 5 after 5 steps (equals 4 within 0.5)",
            line + 5
        ),
        format!(
            "FAILED  scene.cu:{}: value.y.max = 2 after 2 steps (drift 1 from 1, max 0.5)",
            line + 10
        ),
        format!("ok      scene.cu:{}: value.nan = 0 after 5 steps (equals 0)", line + 14),
        format!("FAILED  scene.cu:{}: value.x.max = 999 after 5 steps (max 10)", line + 17),
    ];
    assert_eq!(ended.out.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn the_end_is_the_last_step_that_a_check_names_or_what_is_asked_for() {
    let told =
        |checks: &str, arguments: &[&str]| tested(checks, arguments).expect(0, &[]).out.clone();
    let check = "[[check]]\nstat = \"value.y.max\"\nmin = 0";
    assert!(told(check, &[]).contains("value.y.max = 100 after 100 steps"));
    assert!(told(check, &["--steps", "7"]).contains("value.y.max = 7 after 7 steps"));
    assert!(
        told("", &["--steps", "2"])
            .contains("ok      scene.cu: 2 steps without a fault; no checks")
    );
    let arguments = ["--steps", "2", "--param", "gain=3", "--const", "n=5"];
    assert!(told(check, &arguments).contains("value.y.max = 6 after 2 steps"));
}

#[test]
fn what_a_check_is_about_must_exist() {
    for (stat, told) in [
        ("vlaue.nan", "there is no statistic \"vlaue.nan\"; did you mean `value.nan`"),
        ("value.median", "a resource has no statistic `median`; did you mean `mean`"),
        ("value.q.max", "`value` has no component `q`: its elements are float4"),
        ("energy", "there is no statistic \"energy\""),
    ] {
        let checks = format!("[[check]]\nstat = \"{stat}\"\nmax = 1");
        let place = format!("scene.cu:{}:8: error: {told}", line_of(&checks, "stat = "));
        let ended = tested(&checks, &[]);
        ended.expect(1, &[&place]);
        assert_eq!(ended.out, "ERROR   scene.cu: the scene does not run to its end\n");
    }
}

#[test]
fn a_wrong_expression_is_told_on_its_line() {
    for (map, column, told) in [
        ("x.q", 10, "has no member \"q\""),
        ("x.x + radius", 14, "identifier \"radius\" is undefined"),
        ("x.x *", 0, "expected an expression"),
        ("x", 8, "no suitable conversion function from \"const float4\" to \"double\" exists"),
        (
            "(x.x",
            7,
            "`map` is no expression of its own: it opens a bracket `(` that it does not close",
        ),
        ("x.x /*", 7, "it begins a comment that has no end"),
        ("x.x + R\\\"(", 7, "it begins a literal that has no end, R\"("),
        ("x.x \\\\", 7, "it ends with a backslash"),
        ("x.x\\n#if 0", 7, "it has a line of the preprocessor"),
    ] {
        let manifest =
            format!("[[stat]]\nname = \"e\"\nof = \"value\"\nmap = \"{map}\"\nreduce = \"sum\"");
        let line = line_of(&manifest, "map = ");
        let place = match column {
            0 => format!("scene.cu:{line}"),
            column => format!("scene.cu:{line}:{column}: error: "),
        };
        tested(&manifest, &[]).expect(1, &[&place, told]);
    }
}

#[test]
fn a_mistake_in_the_source_is_not_told_of_its_statistics() {
    let manifest = "[[stat]]\nname = \"e\"\nof = \"value\"\nmap = \"x.x\"\nreduce = \"sum\"";
    let text = counter_with(manifest);
    let open = text.trim_end().trim_end_matches('}').to_owned();
    let place = Workplace::new();
    place.file("scene.cu", &open);
    let ended = place.run(&["test", "scene.cu", "--device", "cpu"]);
    let last = open.trim_end().lines().count();
    ended.expect(1, &[&format!("scene.cu:{last}"), "expected a \"}\""]);
    assert!(
        !ended.err.contains(&format!("scene.cu:{}:", line_of(manifest, "map = "))),
        "{ended:#?}"
    );
}

#[test]
fn a_statistic_of_values_that_are_no_numbers_is_none() {
    let manifest = "[[stat]]
name = \"e\"
of = \"value\"
map = \"1.0f / (x.x - 5.0f)\"
reduce = \"max\"
[[check]]
stat = \"e\"
max = 1000";
    tested(manifest, &["--steps", "1"]).expect(1, &["1 of 1 checks failed"]);
    assert!(tested(manifest, &["--steps", "1"]).out.contains("e = NaN after 1 step (max 1000)"));
}

#[test]
fn a_fault_is_told_and_the_other_scenes_are_tested() {
    let place = Workplace::new();
    let fault = root().join("tests/scenes/bad/out_of_bounds_write.cu");
    place.file("scene.cu", &counter_with("[[check]]\nstat = \"value.nan\"\nequals = 0"));
    let scenes = ["test", fault.to_str().unwrap(), "scene.cu", "--device", "cpu", "--steps", "2"];
    let ended = place.run(&[&scenes[..], &["--junit", "results.xml"]].concat());
    ended.expect(4, &["fault: ", "1 of 2 checks failed or could not be made"]);
    assert!(ended.out.contains("ok      scene.cu:"), "{ended:#?}");
    let xml = fs::read_to_string(place.path("results.xml")).unwrap();
    assert!(
        xml.contains("<testsuites name=\"warpaint\" tests=\"2\" failures=\"0\" errors=\"1\""),
        "{xml}"
    );
    assert_eq!(xml.matches("<testcase ").count(), 2);
    assert_eq!(xml.matches("<error message=").count(), 1);
    assert!(xml.contains("name=\"value.nan after 2 steps: equals 0\" file=\"scene.cu\""), "{xml}");
}

#[test]
fn wrong_usage_of_the_test_mode_is_told() {
    let place = Workplace::new();
    place.file("scene.cu", COUNTER);
    let run = |arguments: &[&str]| place.run(&[&["test"], arguments].concat());
    run(&["nowhere.cu"]).expect_one_line(2, &["there is no file nowhere.cu"]);
    run(&["scene.cu", "--param", "gian=1", "--device", "cpu"])
        .expect(2, &["no parameter `gian`; did you mean `gain`"]);
    run(&["scene.cu", "--const", "m=1", "--device", "cpu"])
        .expect(2, &["the scene has no such constant"]);
    run(&["scene.cu", "--device", "cpu", "--junit", "no/such/r.xml"])
        .expect_one_line(2, &["r.xml"]);
    run(&["scene.cu", "--gl", "window"]).expect_one_line(2, &["no window"]);
}

#[test]
fn half_precision_and_textures_have_statistics() {
    let scene = r#"/*---
[texture.field]
format = "rgba16f"
size = [8, 4]
[texture.bytes]
format = "rgba8"
size = [8, 4]
[array.halves]
type = "half"
count = 3
[[pass]]
kernel = "fill"
over = 32
[[stat]]
name = "of texels"
of = "field"
map = "x.x + 10.0f * x.w + 100.0f * (i % 8)"
reduce = "max"
[[stat]]
name = "of bytes"
of = "bytes"
map = "x.y"
reduce = "sum"
[[stat]]
name = "of halves"
of = "halves"
reduce = "sum"
[[check]]
stat = "of texels"
equals = 706.5
[[check]]
stat = "of bytes"
equals = 496
[[check]]
stat = "of halves"
equals = 3.75
[[check]]
stat = "field.x.max"
equals = 6.5
[[check]]
stat = "halves.std"
equals = 0.0
---*/
__global__ void fill(cudaSurfaceObject_t field, cudaSurfaceObject_t bytes, unsigned short *halves)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= 32) return;
    // 6.5, 0, 0, 0 and 1.25 in half precision.
    surf2Dwrite(make_ushort4(0x4680, 0, 0, 0), field, i % 8 * 8, i / 8);
    surf2Dwrite(make_uchar4(0, i, 0, 0), bytes, i % 8 * 4, i / 8);
    if (i < 3) halves[i] = 0x3d00;
}
"#;
    let place = Workplace::new();
    // The kernel writes bits: the manifest's `half` would need a header that not every compiler has.
    place.file(
        "scene.cu",
        &scene
            .replace("unsigned short *halves", "void *halves")
            .replace("halves[i] = 0x3d00", "((unsigned short *)halves)[i] = 0x3d00"),
    );
    let ended = place.run(&["test", "scene.cu", "--steps", "1"]);
    ended.expect(0, &[]);
    assert_eq!(ended.out.matches("ok ").count(), 5, "{ended:#?}");
}

const GOLDENS: &str = "[[golden]]
of = \"value\"
file = \"kept/value.npy\"
after = 2
tolerance = 0.25
[[golden]]
image = \"kept/picture.png\"
size = [64, 36]
after = 3";

#[test]
fn what_was_kept_is_compared() {
    let place = Workplace::new();
    place.file("scene.cu", &counter_with(GOLDENS));
    let run = |arguments: &[&str]| {
        place.run(&[&["test", "scene.cu", "--device", "cpu"], arguments].concat())
    };
    let missing = run(&[]);
    if missing.out.contains("EGL") {
        skip(Need::Gl, &missing.out);
        return;
    }
    missing.expect(1, &["2 of 2 checks failed"]);
    assert_eq!(missing.out.matches("--update-golden writes it").count(), 2, "{missing:#?}");

    let kept = run(&["--update-golden"]);
    kept.expect(0, &[]);
    assert_eq!(kept.out.matches(": wrote kept/").count(), 2, "{kept:#?}");
    run(&[]).expect(0, &[]);
    // The array differs by 0.2 at most, and then by 0.4.
    run(&["--param", "gain=1.1"]).expect(0, &[]);
    let off = run(&["--param", "gain=1.2"]);
    off.expect(1, &["1 of 2 checks failed"]);
    let told =
        "1000 of 4000 numbers differ, the first at [0, 1]: 2.4000001, not 2 (tolerance 0.25)";
    assert!(off.out.contains(told), "{off:#?}");
    assert!(place.path("warpaint-failed/kept/value.actual.npy").exists());

    // Scenes that keep files of one name have a folder each.
    fs::create_dir(place.path("sub")).unwrap();
    place.file("sub/scene.cu", &counter_with(GOLDENS));
    let both = ["test", "scene.cu", "sub/scene.cu", "--device", "cpu", "--param", "gain=1.2"];
    let both = place.run(&both);
    for folder in ["scene.cu", "sub/scene.cu"] {
        let name = format!("warpaint-failed/{folder}/kept/value.actual.npy");
        let told = folder == "scene.cu" || both.out.contains("there is no sub/kept/value.npy");
        assert!(told && (folder != "scene.cu" || place.path(&name).exists()), "{both:#?}");
    }

    let other = run(&["--const", "n=5", "--failed", "elsewhere"]);
    other.expect(1, &[]);
    assert!(other.out.contains("its shape is [1000, 4], that of the array [5, 4]"), "{other:#?}");
    assert!(place.path("elsewhere/kept/value.actual.npy").exists());
    fs::write(place.path("kept/value.npy"), "no array").unwrap();
    assert!(run(&[]).out.contains("cannot be compared: it does not start as `.npy` files do"));
}

#[test]
fn what_is_wrong_with_a_golden_is_told_on_its_line() {
    for (golden, told) in [
        ("of = \"vlaue\"\nfile = \"a.npy\"", "there is no resource `vlaue`; did you mean `value`"),
        ("of = \"value\"", "[[golden]] needs `file`"),
        ("image = \"a.png\"\nsize = [0, 4]", "`size` is 0, but must be at least 1"),
        ("image = \"a.png\"\nsize = [4]", "`size` must be two numbers"),
        ("image = \"a.png\"\ntolerance = -1", "`tolerance` must be at least 0"),
        ("image = \"a.png\"\nrelative = 1", "[[golden]] has no key `relative`"),
        ("image = \"a.png\"\nlegend = 1", "`legend` must be true or false"),
        (
            "image = \"a/b.png\"\n[[golden]]\nimage = \"./a/./b.png\"",
            "another [[golden]] is kept in this file already",
        ),
    ] {
        let manifest = format!("[[golden]]\n{golden}");
        tested(&manifest, &[]).expect(1, &["scene.cu:", "error: ", told]);
    }
}

/// A scene whose array holds `value`, with a golden of it.
fn with_golden(value: u32, golden: &str) -> String {
    format!(
        "/*---\n[array.x]\ntype = \"uint\"\ncount = 8\n[[pass]]\nkernel = \"k\"\ngrid = 1\nblock = 8\n{golden}\n---*/\n\
         __global__ void k(unsigned *x) {{ x[threadIdx.x] = {value}; }}\n"
    )
}

#[test]
fn scenes_do_not_replace_each_others_goldens() {
    let place = Workplace::new();
    let golden = "[[golden]]\nof = \"x\"\nfile = \"g.npy\"";
    place.file("a.cu", &with_golden(1, golden));
    place.file("b.cu", &with_golden(2, golden));
    let run = |arguments: &[&str]| {
        place.run(&[&["test", "--device", "cpu", "--steps", "1"], arguments].concat())
    };
    let both = run(&["a.cu", "b.cu", "--update-golden"]);
    both.expect(2, &["1 of 2 checks failed"]);
    assert!(both.out.contains("the test of a.cu has just written it"), "{both:#?}");
    run(&["a.cu"]).expect(0, &[]);

    // What failed goes to a folder of each scene, also where the paths differ by `..` alone.
    for folder in ["p/q", "p/s"] {
        fs::create_dir_all(place.path(folder)).unwrap();
    }
    for (path, value) in [("p/s/s.cu", 1), ("s/s.cu", 2)] {
        let path = place.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, with_golden(value, golden)).unwrap();
        fs::copy(place.path("g.npy"), path.with_file_name("g.npy")).unwrap();
        fs::write(&path, with_golden(value + 7, golden)).unwrap();
    }
    run(&["p/s/s.cu", "p/../s/s.cu", "--failed", "f"]).expect(1, &["2 of 2 checks failed"]);
    let differing = ["f/p/s/s.cu/g.actual.npy", "f/p/__/s/s.cu/g.actual.npy"];
    let [a, b] = differing.map(|path| fs::read(place.path(path)).unwrap());
    assert_ne!(a, b);
}

#[test]
fn goldens_do_not_replace_what_the_scene_reads() {
    let place = Workplace::new();
    place.file("w.cu", &with_golden(3, "[[golden]]\nof = \"x\"\nfile = \"data.npy\""));
    place
        .run(&["test", "w.cu", "--device", "cpu", "--steps", "1", "--update-golden"])
        .expect(0, &[]);
    fs::copy(place.path("data.npy"), place.path("g.actual.npy")).unwrap();
    fs::create_dir(place.path("sub")).unwrap();
    let run = |golden: &str, data: &str, arguments: &[&str]| {
        let golden = format!("[[golden]]\nof = \"x\"\nfile = \"{golden}\"");
        let file = format!("count = 8\n{data}\n");
        place.file("s.cu", &with_golden(5, &golden).replace("count = 8\n", &file));
        let ended =
            place.run(&[&["test", "s.cu", "--device", "cpu", "--steps", "1"], arguments].concat());
        ended.expect(2, &["1 of 1 checks failed"]);
        assert!(ended.out.contains("the scene reads it"), "{ended:#?}");
    };
    let before = fs::read(place.path("data.npy")).unwrap();
    run("data.npy", "file = \"sub/../data.npy\"", &["--update-golden"]);
    run("data.npy", "", &["--load", "x=data.npy", "--update-golden"]);
    fs::copy(place.path("data.npy"), place.path("g.npy")).unwrap();
    run("g.npy", "file = \"g.actual.npy\"", &["--failed", "."]);
    for name in ["data.npy", "g.actual.npy"] {
        assert_eq!(fs::read(place.path(name)).unwrap(), before, "{name}");
    }
}

#[test]
fn what_failed_does_not_replace_a_golden() {
    let place = Workplace::new();
    let golden = |file: &str| format!("[[golden]]\nof = \"x\"\nfile = \"{file}\"");
    let goldens = format!("{}\n{}", golden("x.npy"), golden("x.actual.npy"));
    let run = |value: u32, arguments: &[&str]| {
        place.file("s.cu", &with_golden(value, &goldens));
        place.run(&[&["test", "s.cu", "--device", "cpu", "--steps", "1"], arguments].concat())
    };
    run(1, &["--update-golden"]).expect(0, &[]);
    let kept = fs::read(place.path("x.actual.npy")).unwrap();
    let ended = run(5, &["--failed", "."]);
    ended.expect(2, &["2 of 2 checks failed"]);
    assert!(ended.out.contains("it is a golden of the scene"), "{ended:#?}");
    assert_eq!(fs::read(place.path("x.actual.npy")).unwrap(), kept);
}

/// 5229 / 1000 is 5.229 in numpy; and what fails by its last digits is told with them.
#[test]
fn a_mean_is_the_sum_by_the_count_and_is_told_with_the_digits_that_matter() {
    let check = |demand: &str| {
        format!(
            "/*---\n[array.a]\ntype = \"float\"\ncount = 1000\neach = \"i % 17 - 3 + 0.5 * (i % 2)\"\n\
             [[check]]\nstat = \"a.mean\"\n{demand}\n[[check]]\nstat = \"a.sum\"\nequals = 5229\n---*/\n"
        )
    };
    let place = Workplace::new();
    place.file("scene.cu", &check("equals = 5.229"));
    place.run(&["test", "scene.cu", "--device", "cpu"]).expect(0, &[]);
    place.file("scene.cu", &check("equals = 5.2290000000001"));
    let ended = place.run(&["test", "scene.cu", "--device", "cpu"]);
    ended.expect(1, &[]);
    let told = "a.mean = 5.229 after 100 steps (equals 5.2290000000001)";
    assert!(ended.out.contains(told), "{}", ended.out);
}

#[test]
fn no_threads_are_no_launch() {
    let scene = |pass: &str| {
        format!(
            "/*---\n[constant]\nn = 0\n[array.a]\ntype = \"int\"\ncount = 4\n[[pass]]\nkernel = \"k\"\n{pass}\n\
             [[check]]\nstat = \"a.max\"\nequals = 0\n---*/\n__global__ void k(int *a) {{ a[0] = 1; }}\n"
        )
    };
    let place = Workplace::new();
    for pass in
        ["over = \"n\"", "over = [4, \"n\"]", "grid = \"n\"\nblock = 32", "grid = 0\nblock = 1"]
    {
        place.file("scene.cu", &scene(pass));
        place.run(&["test", "scene.cu", "--device", "cpu"]).expect(0, &[]);
    }
    place.file("scene.cu", &scene("grid = 1\nblock = \"n\""));
    let told = ["`block` is 0, but must be at least 1"];
    place.run(&["test", "scene.cu", "--device", "cpu"]).expect(1, &told);
}
