//! A comparison over two devices: B has one of its own. Two CPU devices are two contexts, of which neither knows the
//! other's memory.

use super::{
    comparison::{ADD, comparison, expect_same, open, start, steps},
    history::SCENE,
    support::{COUNTER, devices, set},
};
use warpaint::{
    device::Device,
    session::{ComparisonPhase, Engine, Moment, Value, Variant, VariantText},
};

/// On another CPU device than any that is open.
fn elsewhere() -> Variant {
    Variant { device: Some("cpu".to_owned()), ..Variant::default() }
}

/// A double texture, an array, a variable that kernels write, and one that the manifest sets.
#[test]
fn the_whole_state_goes_to_the_other_device() {
    let variable =
        "[variable.seeded]\nvalue = 5\ntype = \"unsigned\"\n[[pass]]\nkernel = \"begin\"";
    let text = SCENE
        .replacen("[[pass]]\nkernel = \"begin\"", variable, 1)
        .replacen("__device__ unsigned calls;", "__device__ unsigned calls, seeded;", 1)
        .replacen("calls += gain + 1;", "calls += gain + 1 + (seeded += 3);", 1);
    for device in devices() {
        let mut session = open(&device, &text);
        steps(&mut session, 7);
        set(&mut session, "gain", Value::Int(3));
        start(&mut session, elsewhere());
        assert_eq!(comparison(&session).since, 7);
        expect_same(&session);
        steps(&mut session, 20);
        expect_same(&session);
        set(&mut session, "gain", Value::Int(77));
        session.set_input([0.3, 0.1, 1.0, 0.0], Default::default());
        steps(&mut session, 5);
        expect_same(&session);
        // To a past moment, whose state goes there once more.
        let line = session.snapshot().timeline.unwrap().shown.line;
        session.seek(Moment { line, step: 12 });
        session.finish_seeking().unwrap();
        session.finish_comparing().unwrap();
        assert_eq!(comparison(&session).since, 12);
        steps(&mut session, 4);
        expect_same(&session);
        session.reset();
        steps(&mut session, 5);
        expect_same(&session);
        assert_eq!(comparison(&session).since, 0);
        let passes = comparison(&session).passes;
        assert!(passes.iter().all(|pass| pass.ratio.is_some()) && !passes.is_empty());
        session.stop_comparison();
        steps(&mut session, 2);
        assert!(session.snapshot().comparison.is_none());
    }
}

#[test]
fn addresses_stay_on_their_device() {
    let text = COUNTER
        .replacen(
            "__global__ void start",
            "__device__ float cell = 2.0f, *at = &cell;\n__global__ void start",
            1,
        )
        .replacen(ADD, "value[i].y += *at;", 1);
    let mut session = open(&Device::cpu().unwrap(), &text);
    steps(&mut session, 2);
    start(&mut session, elsewhere());
    steps(&mut session, 3);
    expect_same(&session);
}

#[test]
fn another_text_may_run_there() {
    let mut session = open(&Device::cpu().unwrap(), COUNTER);
    steps(&mut session, 3);
    let edited = COUNTER.replacen(ADD, "value[i].y += 3.0f * gain;", 1);
    start(&mut session, Variant { text: VariantText::Given(edited), ..elsewhere() });
    expect_same(&session);
    steps(&mut session, 1);
    let first = comparison(&session).resources[0].first.clone().unwrap();
    assert_eq!(
        (first.step, &*first.at, &*first.a, &*first.b),
        (4, "value[0].y", "4.0", "6.0"),
        "it went on from A's three steps"
    );
    // Its interpreter, likewise.
    start(&mut session, Variant { engine: Some(Engine::Interpreter), ..elsewhere() });
    steps(&mut session, 2);
    expect_same(&session);
}

#[test]
fn a_device_that_is_not_there_is_told() {
    let mut session = open(&Device::cpu().unwrap(), COUNTER);
    for (selector, told) in [("cuda:77", "77"), ("gpu", "`gpu` is no device")] {
        let device = Some(selector.to_owned());
        start(&mut session, Variant { device, ..Variant::default() });
        steps(&mut session, 1);
        let ComparisonPhase::Rejected(diagnostics) = comparison(&session).phase else { panic!() };
        let is_told =
            diagnostics.iter().any(|of| of.text.contains(told) || of.text.contains("NVIDIA"));
        assert!(is_told, "{diagnostics:#?}");
    }
    assert_eq!(session.clock().step, 2, "the scene goes on");
    steps(&mut session, 1);
}
