//! A session's comparison: a variant that does the same steps on a copy of the state.

mod seen;
mod versions;

use std::{
    collections::BTreeMap,
    thread::sleep,
    time::{Duration, Instant},
};

use super::{
    history::{RESOURCES, SCENE},
    support::{COUNTER, Workplace, devices, set},
};
use warpaint::{
    compile::{Cache, Compiler},
    device::Device,
    interop::Interop,
    session::{
        Budget, Command, Compared, Comparison, ComparisonPhase, Moment, Options, Past, Session,
        Value, Variant, VariantText,
    },
};

/// What adds to `y` in [`COUNTER`].
pub(super) const ADD: &str = "value[i].y += gain;";

pub(super) fn open(device: &Device, source: &str) -> Session {
    let room = Budget { device: 64 << 20, host: 0 };
    let past = Past::Within(room);
    open_with(device, Options { history: past, seed: 7, ..Options::new("scene.cu", source) })
}

pub(super) fn open_with(device: &Device, options: Options) -> Session {
    let compiler = Compiler::new(Cache::user());
    let interop = Interop::none(device);
    let mut session = Session::open(options, device.clone(), compiler, interop, || {}).unwrap();
    assert!(session.wait_for_program().unwrap(), "{:#?}", session.snapshot().compile.diagnostics);
    session
}

pub(super) fn edit(session: &mut Session, source: &str) {
    session.set_source(source.to_owned());
    assert!(session.wait_for_program().unwrap(), "{:#?}", session.snapshot().compile.diagnostics);
}

fn given(text: &str) -> Variant {
    Variant { text: VariantText::Given(text.to_owned()), ..Variant::default() }
}

/// Begins to compare with `variant`.
#[track_caller]
pub(super) fn start(session: &mut Session, variant: Variant) {
    session.start_comparison(variant);
    session.finish_comparing().unwrap();
}

#[track_caller]
pub(super) fn comparison(session: &Session) -> Comparison {
    session.snapshot().comparison.unwrap()
}

pub(super) fn steps(session: &mut Session, count: u64) {
    session.run_steps(count, |_| {}).unwrap();
    assert!(session.fault().is_none(), "{:?}", session.fault());
}

/// Where and when the resources part first: steps finished, the number, and its values.
#[track_caller]
pub(super) fn parting(session: &Session) -> (u64, String, String, String) {
    let comparison = comparison(session);
    assert_eq!(comparison.phase, ComparisonPhase::Running, "{comparison:#?}");
    let found = parting_of(&comparison.resources[0]);
    assert_eq!(comparison.parted(), Some(found.0));
    found
}

#[track_caller]
fn parting_of(compared: &Compared) -> (u64, String, String, String) {
    let first = compared.first.clone().unwrap();
    (first.step, first.at, first.a, first.b)
}

pub(super) fn told(step: u64, at: &str, a: &str, b: &str) -> (u64, String, String, String) {
    (step, at.to_owned(), a.to_owned(), b.to_owned())
}

#[track_caller]
pub(super) fn expect_same(session: &Session) {
    let comparison = comparison(session);
    assert_eq!(comparison.phase, ComparisonPhase::Running, "{comparison:#?}");
    assert_eq!(comparison.step, Some(session.clock().step));
    assert!(comparison.resources.iter().all(|of| of.same_bits), "{comparison:#?}");
    assert!(comparison.unlike.is_empty() && !comparison.resources.is_empty());
}

/// A B that is another way to run A's text includes what A does.
#[test]
fn b_follows_the_files_that_the_text_includes() {
    let place = Workplace::new();
    let text = COUNTER.replacen(ADD, "value[i].y += gain * FACTOR;", 1);
    let text = text.replacen("---*/", "---*/\n#include \"factor.cuh\"", 1);
    let scene = place.path("scene.cu");
    let write = |factor: &str| {
        std::fs::write(place.path("factor.cuh"), format!("#define FACTOR {factor}\n")).unwrap();
    };
    let other_way = Variant { fast_math: Some(true), ..Variant::default() };
    for (variant, follows) in [(other_way, true), (Variant::default(), false)] {
        write("2.0f");
        let path = Some(scene.clone());
        let options = Options { path, ..Options::new("scene.cu", &*text) };
        let mut session = open_with(&Device::cpu().unwrap(), options);
        steps(&mut session, 2);
        start(&mut session, variant);
        steps(&mut session, 1);
        assert!(comparison(&session).has_same_text);
        write("-30.0f");
        edit(&mut session, &text);
        steps(&mut session, 2);
        session.finish_comparing().unwrap();
        assert_eq!(comparison(&session).has_same_text, follows);
        assert_eq!(comparison(&session).parted().is_none(), follows);
    }
}

#[test]
fn an_edited_constant_gives_the_numbers_of_the_command() {
    let place = Workplace::new();
    let text = COUNTER.replacen("n = 1000", "n = 1000\nFACTOR = 1.0", 1).replacen(
        ADD,
        "value[i].y += gain * FACTOR / (1 + i % 7);",
        1,
    );
    let edited = text.replacen("FACTOR = 1.0", "FACTOR = 1.0000001", 1);
    place.file("a.cu", &text);
    place.file("b.cu", &edited);
    let command = ["compare", "a.cu", "b.cu", "--device", "cpu", "--steps", "20", "--json", "r"];
    place.run(&command).expect(1, &[]);
    let report = std::fs::read(place.path("r")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    let of_command = report["resources"].clone();
    assert!(of_command[0]["differing"].as_u64().is_some_and(|count| count > 100));

    let mut session = open(&Device::cpu().unwrap(), &text);
    start(&mut session, given(&edited));
    session.reset();
    steps(&mut session, 20);
    let of_session = serde_json::to_value(comparison(&session).resources).unwrap();
    assert_eq!(of_session, of_command);
    // The same constant by its name.
    let constants = BTreeMap::from([("FACTOR".to_owned(), "1.0000001".to_owned())]);
    start(&mut session, Variant { constants, ..Variant::default() });
    session.reset();
    steps(&mut session, 20);
    let of_session = serde_json::to_value(comparison(&session).resources).unwrap();
    assert_eq!(of_session, of_command);
    let passes = comparison(&session).passes;
    assert_eq!(passes[0].name, "advance");
    let [low, median, high] = passes[0].ratio.unwrap();
    assert!(0.0 < low && low <= median && median <= high, "{passes:?}");
}

#[test]
fn a_variant_may_have_options_of_the_compiler() {
    // `sinf` differs by them.
    let text = COUNTER.replacen(ADD, "value[i].y += sinf(i * 0.37f) / (i + 3.0f);", 1);
    let mut session = open(&Device::cpu().unwrap(), &text);
    for (fast_math, differs) in [(false, false), (true, true)] {
        start(&mut session, Variant { fast_math: Some(fast_math), ..Variant::default() });
        session.reset();
        steps(&mut session, 2);
        let compared = comparison(&session).resources;
        assert_eq!(compared.iter().any(|of| of.differing > 0), differs, "{compared:#?}");
    }
}

#[test]
fn what_runs_is_not_changed_by_being_compared() {
    for device in devices() {
        let contents = |session: &mut Session| RESOURCES.map(|name| session.read(name).unwrap());
        let edited = SCENE.replacen("v.w * 5u", "v.w * 7u", 1);
        let [mut alone, mut compared] = [(); 2].map(|()| open(&device, SCENE));
        for session in [&mut alone, &mut compared] {
            steps(session, 11);
        }
        start(&mut compared, given(&edited));
        for session in [&mut alone, &mut compared] {
            steps(session, 9);
        }
        assert_eq!(parting(&compared).0, 12);
        assert_eq!(contents(&mut alone), contents(&mut compared));
        compared.stop_comparison();
        for session in [&mut alone, &mut compared] {
            steps(session, 5);
        }
        assert!(compared.snapshot().comparison.is_none());
        assert_eq!(contents(&mut alone), contents(&mut compared));
    }
}

/// A double texture, an array, a variable that kernels write, and one that the manifest sets.
#[test]
fn the_same_text_has_the_same_bits_from_any_step_on() {
    let variable =
        "[variable.seeded]\nvalue = 5\ntype = \"unsigned\"\n[[pass]]\nkernel = \"begin\"";
    let text = SCENE
        .replacen("[[pass]]\nkernel = \"begin\"", variable, 1)
        .replacen("__device__ unsigned calls;", "__device__ unsigned calls, seeded;", 1)
        .replacen("calls += gain + 1;", "calls += gain + 1 + (seeded += 3);", 1);
    for device in devices() {
        let mut session = open(&device, &text);
        steps(&mut session, 7);
        start(&mut session, Variant::default());
        assert_eq!(comparison(&session).since, 7);
        expect_same(&session);
        steps(&mut session, 30);
        expect_same(&session);
        // What a person changes goes to both.
        set(&mut session, "gain", Value::Int(77));
        session.set_input([0.3, 0.1, 1.0, 0.0], Default::default());
        steps(&mut session, 5);
        expect_same(&session);
        session.reset();
        steps(&mut session, 5);
        expect_same(&session);
        assert_eq!(comparison(&session).since, 0);
    }
}

#[test]
fn the_text_before_an_edit_goes_on_beside_it() {
    let mut session = open(&Device::cpu().unwrap(), COUNTER);
    steps(&mut session, 4);
    start(&mut session, Variant::default());
    steps(&mut session, 2);
    expect_same(&session);
    edit(&mut session, &COUNTER.replacen(ADD, "value[i].y += 2.0f * gain;", 1));
    steps(&mut session, 3);
    assert_eq!(parting(&session), told(7, "value[0].y", "8.0", "7.0"));
    assert_eq!(comparison(&session).since, 6);
    // The other way: what ran before, and what ran at first, which is the same.
    let first = session.snapshot().timeline.unwrap().lines[0].edits[0];
    for text in [VariantText::Before, VariantText::Version(first.1)] {
        let from = session.clock().step;
        let before = session.read("value").unwrap();
        let y: f32 = bytemuck::pod_read_unaligned(&before[4..8]);
        start(&mut session, Variant { text, ..Variant::default() });
        steps(&mut session, 1);
        let [a, b] = [y + 2.0, y + 1.0].map(|y| format!("{y:?}"));
        assert_eq!(parting(&session), told(from + 1, "value[0].y", &a, &b));
    }
}

#[test]
fn parameters_may_be_bs_own() {
    let mut session = open(&Device::cpu().unwrap(), COUNTER);
    steps(&mut session, 1);
    let parameters = BTreeMap::from([("gain".to_owned(), Value::Float(1.0))]);
    start(&mut session, Variant { parameters, ..Variant::default() });
    steps(&mut session, 1);
    expect_same(&session);
    set(&mut session, "gain", Value::Float(4.0));
    steps(&mut session, 1);
    assert_eq!(parting(&session), told(3, "value[0].y", "6.0", "3.0"));
}

#[test]
fn a_past_moment_begins_anew_on_both_sides() {
    let mut session = open(&Device::cpu().unwrap(), COUNTER);
    steps(&mut session, 2);
    start(&mut session, given(&COUNTER.replacen(ADD, "value[i].y += 3.0f * gain;", 1)));
    steps(&mut session, 8);
    assert_eq!(parting(&session).0, 3);
    let line = session.snapshot().timeline.unwrap().shown.line;
    session.seek(Moment { line, step: 5 });
    session.finish_seeking().unwrap();
    session.finish_comparing().unwrap();
    expect_same(&session);
    assert_eq!(comparison(&session).since, 5);
    steps(&mut session, 1);
    assert_eq!(parting(&session), told(6, "value[0].y", "6.0", "8.0"));
}

#[test]
fn a_variant_may_be_wrong_or_faulty_and_the_scene_goes_on() {
    let mut session = open(&Device::cpu().unwrap(), COUNTER);
    start(&mut session, given(&COUNTER.replacen(ADD, "value[i].y += gian;", 1)));
    steps(&mut session, 3);
    let ComparisonPhase::Rejected(diagnostics) = comparison(&session).phase else { panic!() };
    assert!(diagnostics.iter().any(|of| of.text.contains("gian")), "{diagnostics:#?}");

    let faulty = COUNTER.replacen("n, float gain", "n, float gain, int step", 1).replacen(
        ADD,
        "value[step == 5 ? i + n : i].y += gain;",
        1,
    );
    start(&mut session, given(&faulty));
    steps(&mut session, 2);
    expect_same(&session);
    steps(&mut session, 4);
    assert_eq!(session.clock().step, 9);
    let ComparisonPhase::Faulted(fault) = comparison(&session).phase else { panic!() };
    assert!(fault.text.contains("advance"), "{fault:#?}");
    session.reset();
    steps(&mut session, 4);
    expect_same(&session);

    // A's own fault stops A; B is not blamed, and goes on from A's state when it is mended.
    edit(&mut session, &faulty.replacen("step == 5", "step == 6", 1));
    start(&mut session, given(COUNTER));
    session.run_steps(8, |_| {}).unwrap();
    assert!(session.fault().is_some());
    assert_eq!(comparison(&session).phase, ComparisonPhase::Waiting);
    edit(&mut session, COUNTER);
    steps(&mut session, 2);
    expect_same(&session);
}

/// B's step waits for A's kernels, or A's for B's: the time is A's all the same.
#[test]
fn b_is_not_blamed_for_a_loop_of_a() {
    let looping =
        COUNTER.replacen(ADD, "for (volatile int forever = 1; forever; ) value[i].y += gain;", 1);
    for before in [2, 3] {
        let options =
            Options { step_timeout: Duration::from_secs(1), ..Options::new("scene.cu", COUNTER) };
        let mut session = open_with(&Device::cpu().unwrap(), options);
        start(&mut session, given(COUNTER));
        steps(&mut session, before);
        expect_same(&session);
        edit(&mut session, &looping);
        session.run_steps(1, |_| {}).unwrap();
        assert!(session.fault().is_some());
        assert_eq!(comparison(&session).phase, ComparisonPhase::Waiting);
        edit(&mut session, COUNTER);
        steps(&mut session, 2);
        expect_same(&session);
    }
}

/// A copy of what variables point to there is none: both would free it.
#[test]
fn a_heap_is_not_shared() {
    let allocating = COUNTER.replacen(ADD, "{ delete new float(gain); value[i].y += gain; }", 1);
    assert_ne!(allocating, COUNTER);
    let mut session = open(&Device::cpu().unwrap(), &allocating);
    start(&mut session, given(COUNTER));
    steps(&mut session, 3);
    let ComparisonPhase::Rejected(diagnostics) = comparison(&session).phase else { panic!() };
    assert!(diagnostics[0].text.contains("take memory by themselves"), "{diagnostics:#?}");
    assert_eq!(session.clock().step, 3);
}

#[test]
fn a_variant_may_have_other_resources() {
    let mut session = open(&Device::cpu().unwrap(), COUNTER);
    steps(&mut session, 2);
    let more = "[array.only]\ntype = \"int\"\ncount = 4\n[buffer.value]";
    let other = COUNTER.replacen("[buffer.value]", more, 1).replacen("n = 1000", "n = 999", 1);
    start(&mut session, given(&other));
    steps(&mut session, 2);
    let comparison = comparison(&session);
    assert_eq!(comparison.phase, ComparisonPhase::Running);
    assert!(comparison.resources.is_empty());
    let names: Vec<&str> = comparison.unlike.iter().map(|of| &*of.name).collect();
    assert_eq!(names, ["value", "only"]);
    assert_eq!(comparison.unlike[0].is[1].as_deref(), Some("buffer value (999 float4)"));
    assert!(!comparison.passes.is_empty());
}

#[test]
fn edits_of_a_may_change_its_layout_meanwhile() {
    let mut session = open(&Device::cpu().unwrap(), COUNTER);
    steps(&mut session, 2);
    start(&mut session, Variant::default());
    steps(&mut session, 1);
    // An array that the reset pass of the edit fills, while both are the same.
    let more = COUNTER
        .replacen("[buffer.value]", "[array.only]\ntype = \"float\"\ncount = 4\n[buffer.value]", 1)
        .replacen(
            "[[pass]]",
            "[[pass]]\nkernel = \"fill\"\non = \"reset\"\nover = \"only\"\n[[pass]]",
            1,
        );
    let more = more
        + "__global__ void fill(float *only) { if (threadIdx.x < 4) only[threadIdx.x] = 7; }\n";
    edit(&mut session, &more);
    steps(&mut session, 2);
    assert_eq!(session.read("only").unwrap(), [7.0_f32; 4].map(f32::to_le_bytes).concat());
    let compared = comparison(&session);
    assert_eq!(compared.resources.len(), 1);
    assert!(compared.resources[0].same_bits, "{compared:#?}");
    assert_eq!((compared.step, compared.unlike[0].name.as_str()), (Some(5), "only"));
    // A larger one, and back.
    for text in [COUNTER.replacen("n = 1000", "n = 1001", 1), COUNTER.to_owned()] {
        edit(&mut session, &text);
        steps(&mut session, 2);
    }
    assert_eq!(session.clock().step, 9);
    assert!(comparison(&session).resources[0].same_bits);
}

/// As the window does it: nothing waits, commands come in between.
#[test]
fn it_goes_on_while_the_scene_plays() {
    // What nothing writes takes longer to compare than a step takes.
    let ballast = "[array.ballast]\ntype = \"float\"\ncount = 4000000\n[buffer.value]";
    let text = COUNTER.replacen("[buffer.value]", ballast, 1);
    let mut session = open(&Device::cpu().unwrap(), &text);
    let until = |session: &mut Session, what: &dyn Fn(&Session) -> bool| {
        let start = Instant::now();
        while !what(session) {
            session.update().unwrap();
            assert!(start.elapsed() < Duration::from_secs(60), "{:#?}", session.snapshot());
            sleep(Duration::from_micros(100));
        }
    };
    session.play();
    until(&mut session, &|session| session.clock().step > 5);
    let slower =
        text.replacen(ADD, "value[i].y += i == 3 && value[i].y > 400.0f ? 0.0f : gain;", 1);
    session.apply(&Command::StartComparison(given(&slower)));
    until(&mut session, &|session| {
        session.snapshot().comparison.is_some_and(|it| it.parted().is_some())
    });
    // No step is left out before they part.
    let value = |session: &Session| comparison(session).resources.remove(1);
    assert_eq!(value(&session).name, "value");
    assert_eq!(parting_of(&value(&session)), told(402, "value[3].y", "402.0", "401.0"));
    assert_eq!(value(&session).same_after, Some(401));
    // What comes while the last step is still being compared is done all the same.
    for _ in 0..20 {
        let (step, generation) = (session.clock().step, session.snapshot().compile.generation);
        session.apply(&Command::Reset);
        until(&mut session, &|session| session.clock().step < step || session.clock().step == 0);
        until(&mut session, &|session| session.clock().step > 1);
        session.set_source(text.clone());
        until(&mut session, &|session| {
            let compile = session.snapshot().compile;
            compile.running > generation || session.clock().step > 10
        });
    }
    until(&mut session, &|session| session.clock().step > 410);
    session.apply(&Command::Pause);
    until(&mut session, &|session| !session.is_busy());
    let shown = comparison(&session);
    assert_eq!(shown.step, Some(session.clock().step), "what is shown has been compared");
    assert_eq!(value(&session).last.unwrap().differing, 1);
    session.apply(&Command::StopComparison);
    assert!(session.snapshot().comparison.is_none());
    until(&mut session, &|session| !session.is_busy());
}
