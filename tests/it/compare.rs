//! `warpaint compare`: where the results of two scenes part.

use std::fs;

use super::support::{COUNTER, Ended, Workplace, nvidia};

/// What adds to `y` in [`COUNTER`].
const ADD: &str = "value[i].y += gain;";

/// [`COUNTER`] with another statement in that place, which may know the step.
fn adding(statement: &str) -> String {
    let text = COUNTER
        .replace("float4 *value, int n, float gain", "float4 *value, int n, float gain, int step");
    assert!(text.contains(ADD) && text.contains("int step"));
    text.replacen(ADD, &format!("{{ {statement} }}"), 1)
}

/// Compares on the CPU device in a folder with `a.cu` and `b.cu`.
fn compared(place: &Workplace, [a, b]: [&str; 2], arguments: &[&str]) -> Ended {
    place.file("a.cu", a);
    place.file("b.cu", b);
    place.run(&[&["compare", "a.cu", "b.cu", "--device", "cpu"], arguments].concat())
}

/// The line of this beginning.
#[track_caller]
fn line<'a>(ended: &'a Ended, start: &str) -> &'a str {
    let found = ended.out.lines().find(|line| line.starts_with(start));
    found.unwrap_or_else(|| panic!("no line {start:?} in {ended:#?}"))
}

fn report(place: &Workplace, name: &str) -> serde_json::Value {
    serde_json::from_slice(&fs::read(place.path(name)).unwrap()).unwrap()
}

#[test]
fn one_scene_twice_is_the_same_to_the_last_bit() {
    let place = Workplace::new();
    place.file("a.cu", COUNTER);
    let ended = place.run(&["compare", "a.cu", "--device", "cpu", "--steps", "20"]);
    ended.expect(0, &[]);
    assert_eq!(line(&ended, "A: "), "A: a.cu on cpu");
    assert_eq!(line(&ended, "B: "), "B: a.cu on cpu");
    assert_eq!(line(&ended, "value: "), "value: the same bits");
    let pass = line(&ended, "pass advance: B/A ");
    assert!(pass.contains(" to ") && pass.ends_with(" ms"), "{pass}");
    assert!(!ended.out.contains("they part"), "{ended:#?}");
    assert!(ended.err.is_empty(), "{ended:#?}");
    // A random scene has the same seed on both sides.
    let small = ["--const", "n=4096", "--steps", "3"];
    let ended = place.run(&[&["compare", "particles", "--device", "cpu"], &small[..]].concat());
    assert_eq!(line(ended.expect(0, &[]), "position: "), "position: the same bits");
}

#[test]
fn the_step_and_the_element_of_an_edit_are_found() {
    let place = Workplace::new();
    // Two representable numbers further in one element, from the 17th step on: 17 is between 16 and 32, where they are
    // 2^-19 apart.
    let edit = "value[i].y += gain; if (i == 3 && step == 16) \
                value[i].y = __int_as_float(__float_as_int(value[i].y) + 2);";
    let texts = [&adding(ADD)[..], &adding(edit)];
    let ended = compared(&place, texts, &["--steps", "20", "--json", "r.json"]);
    ended.expect_one_line(1, &["warpaint: A and B differ by more than the tolerance: value"]);
    let expected = "value: up to 1 of 4,000 numbers differ, by at most 3.81469727e-6 (relative 2.24393906e-7, 2 ulp), \
                    first value[3].y after step 17";
    assert_eq!(line(&ended, "value: "), expected);
    let parting = "they part after step 17 at value[3].y: 17.0 in A, 17.000004 in B";
    assert_eq!(line(&ended, "they part"), parting);

    let report = report(&place, "r.json");
    assert_eq!((report["steps"].as_u64(), report["tolerance"].as_f64()), (Some(20), Some(0.0)));
    assert_eq!(report["sides"][0]["scene"], "a.cu");
    assert_eq!(report["sides"][1]["device"]["selector"], "cpu");
    let value = &report["resources"][0];
    assert_eq!(value["name"], "value");
    assert_eq!((value["numbers"].as_u64(), value["differing"].as_u64()), (Some(4000), Some(1)));
    assert_eq!((value["ulp"].as_u64(), value["same_bits"].as_bool()), (Some(2), Some(false)));
    assert_eq!(value["absolute"].as_f64(), Some(2f64.powi(-18)));
    let first = serde_json::json!({"step": 17, "at": "value[3].y", "a": "17.0", "b": "17.000004"});
    assert_eq!((&value["first"], &value["beyond"]), (&first, &first));
    assert_eq!(
        (value["last"]["differing"].as_u64(), value["last"]["ulp"].as_u64()),
        (Some(1), Some(2))
    );
    assert_eq!(report["unlike"], serde_json::json!([]));
    let pass = &report["passes"][0];
    assert_eq!(pass["name"], "advance");
    let ratio: Vec<f64> = serde_json::from_value(pass["ratio"].clone()).unwrap();
    assert!(ratio[0] > 0.0 && ratio[0] <= ratio[1] && ratio[1] <= ratio[2], "{ratio:?}");

    // Only after every fifth step is it looked for, and after the last one.
    let ended = compared(&place, texts, &["--steps", "18", "--every", "5"]);
    assert!(line(&ended, "value: ").ends_with("first value[3].y after step 18"), "{ended:#?}");
    // What passes again was a difference.
    let edit = "value[i].y += gain; value[i].z = i == 999 && step == 4 ? 1.0f : 0.0f;";
    let ended = compared(&place, [&adding(ADD), &adding(edit)], &["--steps", "9"]);
    assert!(line(&ended, "value: ").ends_with("first value[999].z after step 5"), "{ended:#?}");
}

#[test]
fn a_difference_of_the_reset_comes_before_the_first_step() {
    let place = Workplace::new();
    let other =
        COUNTER.replacen("make_float4(i, 0, 0, 1)", "make_float4(i, 0, 0, i == 0 ? -1 : 1)", 1);
    let ended = compared(&place, [COUNTER, &other], &["--steps", "0"]);
    ended.expect(1, &[]);
    assert!(line(&ended, "value: ").ends_with("first value[0].w after the reset"), "{ended:#?}");
    assert_eq!(
        line(&ended, "they part"),
        "they part after the reset at value[0].w: 1.0 in A, -1.0 in B"
    );
}

#[test]
fn constants_parameters_and_macros_may_be_bs_alone() {
    let place = Workplace::new();
    let text =
        adding("value[i].y += gain * FACTOR;").replacen("n = 1000", "n = 1000\nFACTOR = 1.0", 1);
    place.file("a.cu", &text);
    let run = |arguments: &[&str]| {
        place.run(&[&["compare", "a.cu", "--device", "cpu", "--steps", "2"], arguments].concat())
    };
    run(&["--const", "FACTOR=2.0", "--param", "gain=0.5"]).expect(0, &[]);
    let ended = run(&["--const", "FACTOR=2.0", "--const-b", "FACTOR=3.0"]);
    ended.expect(1, &[]);
    assert_eq!(line(&ended, "A: "), "A: a.cu on cpu, FACTOR = 2.0");
    assert_eq!(line(&ended, "B: "), "B: a.cu on cpu, FACTOR = 3.0");
    let parting = "they part after step 1 at value[0].y: 2.0 in A, 3.0 in B";
    assert_eq!(line(&ended, "they part"), parting);
    let ended = run(&["--param", "gain=2", "--param-b", "gain=5"]);
    let parting = "they part after step 1 at value[0].y: 2.0 in A, 5.0 in B";
    assert_eq!(line(ended.expect(1, &[]), "they part"), parting);
    place.file("a.cu", &adding("value[i].y += gain * (SIGN);"));
    let ended = run(&["-D", "SIGN=1", "--define-b", "SIGN=-1"]);
    let parting = "they part after step 1 at value[0].y: 1.0 in A, -1.0 in B";
    assert_eq!(line(ended.expect(1, &[]), "they part"), parting);
}

#[test]
fn fast_mathematics_may_be_bs_alone() {
    let place = Workplace::new();
    let exact = adding("value[i].y += __expf(0.0f) * sinf(i * 0.37f) / (i + 3.0f);");
    place.file("exact.cu", &exact);
    let fast = exact.replacen("[constant]", "[compile]\nfast_math = true\n[constant]", 1);
    place.file("fast.cu", &fast);
    let run = |arguments: &[&str]| {
        place.run(&[&["compare", "--device", "cpu", "--steps", "1"], arguments].concat())
    };
    let ended = run(&["exact.cu", "--fast-math-b"]);
    ended.expect(1, &["more than the tolerance: value"]);
    assert_eq!(line(&ended, "A: "), "A: exact.cu on cpu");
    assert_eq!(line(&ended, "B: "), "B: exact.cu on cpu, with fast mathematics");
    // It is what the manifest would say, and stands over it.
    run(&["fast.cu", "exact.cu", "--fast-math-b"]).expect(0, &[]);
    run(&["exact.cu", "fast.cu"]).expect(1, &["more than the tolerance: value"]);
    let ended = run(&["exact.cu", "fast.cu", "--fast-math-b=false", "--json", "r.json"]);
    ended.expect(0, &[]);
    assert_eq!(line(&ended, "B: "), "B: fast.cu on cpu, with exact mathematics");
    let report: serde_json::Value =
        serde_json::from_slice(&fs::read(place.path("r.json")).unwrap()).unwrap();
    assert_eq!(report["sides"][1]["fast_math"], false);
}

#[test]
fn the_tolerance_is_relative_to_the_largest_of_a() {
    let place = Workplace::new();
    // The largest number of `value` is 999, the `x` of the last element.
    let edit = "value[i].y += gain; if (i == 5) value[i].z = 0.5f * (step + 1);";
    let texts = [&adding(ADD)[..], &adding(edit)];
    let ended = compared(&place, texts, &["--steps", "2", "--tolerance", "0.0011"]);
    ended.expect(0, &[]);
    let line_of_value = line(&ended, "value: ");
    assert!(
        line_of_value.ends_with("first value[5].z after step 1, within the tolerance"),
        "{line_of_value}"
    );
    assert!(!ended.out.contains("they part"), "{ended:#?}");
    let ended = compared(&place, texts, &["--steps", "3", "--tolerance", "0.0011"]);
    ended.expect(1, &[]);
    let end = "first value[5].z after step 1, beyond the tolerance value[5].z after step 3";
    assert!(line(&ended, "value: ").ends_with(end), "{ended:#?}");
    assert_eq!(
        line(&ended, "they part"),
        "they part after step 3 at value[5].z: 0.0 in A, 1.5 in B"
    );
    // No tolerance makes a number of what is none.
    let edit = "value[i].y = i == 8 ? __int_as_float(0x7fc00000) : value[i].y + gain;";
    let ended =
        compared(&place, [COUNTER, &adding(edit)], &["--steps", "1", "--tolerance", "1e30"]);
    ended.expect(1, &[]);
    let told = "by at most inf (relative inf, NaN against a number), first value[8].y after step 1";
    assert!(line(&ended, "value: ").ends_with(told), "{ended:#?}");
}

/// Elements of several types, and a texture.
const TYPES: &str = r#"/*---
[array.body]
type = "Body"
count = 3
[array.large]
type = "long long"
count = 4
[texture.grid]
format = "r32f"
size = [8, 4]
[[pass]]
kernel = "fill"
over = "large"
---*/
struct Body { float2 at; int hits[3]; double mass; };
__global__ void fill(Body *body, long long *large, cudaSurfaceObject_t grid) {
    int i = threadIdx.x;
    if (i < 3) body[i] = {{1.0f, 2.0f}, {0, 1, HIT}, 4.0};
    if (i < 4) large[i] = (1ll << 60) + (i == 2 ? HIT : 0);
    if (i == 0) surf2Dwrite(1.0f + HIT, grid, 5 * 4, 3);
}
"#;

#[test]
fn fields_integers_and_texels_have_their_names() {
    let place = Workplace::new();
    place.file("a.cu", TYPES);
    let command = ["compare", "a.cu", "--device", "cpu", "--steps", "1"];
    let ended = place.run(&[&command[..], &["-D", "HIT=0", "--define-b", "HIT=1"]].concat());
    ended.expect(1, &["more than the tolerance: body, large, grid"]);
    let told = "up to 3 of 18 numbers differ, by at most 1 (relative 1, 1 ulp), first body[0].hits[2] after step 1";
    assert_eq!(line(&ended, "body: "), format!("body: {told}"));
    // In 64 bits, of which a double has 53.
    let told = "up to 1 of 4 numbers differ, by at most 1 (relative 8.67361738e-19), first large[2] after step 1";
    assert_eq!(line(&ended, "large: "), format!("large: {told}"));
    let told = "up to 1 of 32 numbers differ, by at most 1 (relative 0.5, 8,388,608 ulp), first grid[x=5, y=3] after step 1";
    assert_eq!(line(&ended, "grid: "), format!("grid: {told}"));
}

#[test]
fn other_shapes_are_told() {
    let place = Workplace::new();
    let more = "[array.only]\ntype = \"int\"\ncount = 4\n[param.gain]";
    let other = COUNTER.replacen("n = 1000", "n = 999", 1).replacen("[param.gain]", more, 1);
    let ended = compared(&place, [COUNTER, &other], &["--steps", "1", "--json", "r.json"]);
    ended.expect_one_line(1, &["more than the tolerance: value, only"]);
    let told =
        "value: not compared: buffer value (1000 float4) in A, buffer value (999 float4) in B";
    assert_eq!(line(&ended, "value: "), told);
    assert_eq!(line(&ended, "only: "), "only: not compared: in B alone");
    let report = report(&place, "r.json");
    assert_eq!(
        report["unlike"][1],
        serde_json::json!({"name": "only", "is": [null, "array only (4 int)"]})
    );
    place.run(&["compare", "b.cu", "a.cu", "--device", "cpu", "--steps", "1"]).expect(1, &[]);
}

#[test]
fn fast_arithmetic_can_be_compared_with_exact() {
    let place = Workplace::new();
    let kernel = "value[i].y += sinf(1.0f + 0.37f * value[i].x);";
    let exact = adding(kernel);
    let fast = exact.replacen("[constant]", "[compile]\nfast_math = true\n[constant]", 1);
    let arguments = ["--steps", "1", "--tolerance", "1e-3"];
    let ended = compared(&place, [&exact, &fast], &arguments);
    ended.expect(0, &[]);
    let told = line(&ended, "value: ");
    assert!(
        told.contains(" ulp), first value[") && told.ends_with("within the tolerance"),
        "{told}"
    );
}

#[test]
fn mistakes_and_faults_are_told_by_the_sides_name() {
    let place = Workplace::new();
    let wrong = adding("value[i].y += gian;");
    compared(&place, [COUNTER, &wrong], &[]).expect(1, &["b.cu:", "error: ", "gian"]);
    compared(&place, [&wrong, COUNTER], &[]).expect(1, &["a.cu:", "error: ", "gian"]);
    let faulty = adding("value[i + 1000 * step].y += gain;");
    let ended = compared(&place, [COUNTER, &faulty], &["--json", "r.json"]);
    ended.expect(4, &["b.cu:", "fault: ", "advance"]);
    assert!(!place.path("r.json").exists() && ended.out.is_empty(), "{ended:#?}");
    // One file on both sides: B is marked.
    place.file("a.cu", &adding("value[i + AWAY].y += gain;"));
    let command = ["compare", "a.cu", "--device", "cpu", "-D", "AWAY=0", "--define-b"];
    place.run(&[&command[..], &["AWAY=1000"]].concat()).expect(4, &["a.cu (B):", "fault: "]);
    place
        .run(&[&command[..], &["AWAY=gone"]].concat())
        .expect(1, &["a.cu (B):", "error: ", "gone"]);
}

#[test]
fn wrong_usage_is_told() {
    let place = Workplace::new();
    place.file("a.cu", COUNTER);
    let run = |arguments: &[&str]| {
        place.run(&[&["compare", "a.cu", "--device", "cpu"], arguments].concat())
    };
    run(&["nowhere.cu"]).expect_one_line(2, &["there is no file nowhere.cu"]);
    run(&["--every", "0"]).expect(2, &["--every"]);
    for tolerance in ["-1", "NaN", "inf", "much"] {
        run(&["--tolerance", tolerance]).expect(2, &["expected a number from 0 on"]);
    }
    run(&["--json", "a.cu"]).expect_one_line(2, &["--json a.cu would replace the scene itself"]);
    run(&["--param-b", "loss=1"]).expect_one_line(2, &["loss"]);
    run(&["--const-b", "k=1"]).expect(2, &["--const k: the scene has no such constant"]);
    let device = |device| place.run(&["compare", "a.cu", "--device", device]);
    device("cpu,gpu").expect(2, &["`gpu` is no device"]);
    device("cpu,cpu,cpu").expect(2, &["`cpu,cpu` is no device"]);
    device("").expect(2, &["`` is no device"]);
}

#[test]
fn two_devices_are_compared() {
    if nvidia().is_none() {
        return;
    }
    let place = Workplace::new();
    place.file("a.cu", COUNTER);
    let command =
        ["compare", "a.cu", "--device", "cpu,cuda:0", "--steps", "10", "--json", "r.json"];
    let ended = place.run(&command);
    assert_eq!(line(ended.expect(0, &[]), "value: "), "value: the same bits");
    assert_eq!(line(&ended, "B: "), "B: a.cu on cuda:0");
    assert_eq!(report(&place, "r.json")["sides"][1]["device"]["selector"], "cuda:0");
}
