//! A comparison over two devices: B has one of its own. Two CPU devices are two contexts, of which neither knows the
//! other's memory.

use super::{
    comparison::{ADD, comparison, edit, expect_same, open, start, steps},
    history::SCENE,
    support::{COUNTER, devices, set},
};
use warpaint::{
    device::Device,
    scene::Keys,
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

/// Whatever enters A's next step enters B's: the clock, the seed, mouse, keys, and parameters by their names. What B
/// alone has begins as it says.
#[test]
fn what_enters_steps_goes_there_by_its_name() {
    let text = COUNTER.replacen(
        "float gain) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) value[i].y += gain;",
        "float gain, unsigned long long step, double time, unsigned seed, float4 mouse, uint4 keys) {\n    \
         int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= n) return;\n    \
         value[i].y += gain + mouse.x; value[i].z += step + seed; value[i].w += (float)time + (keys.z & 255);",
        1,
    );
    assert_ne!(text, COUNTER);
    let own = "[param.own]\nvalue = 0.5\nmin = 0.0\nmax = 1.0\n[param.gain]";
    let other = text
        .replacen("[param.gain]", own, 1)
        .replacen("float gain, unsigned", "float own, float gain, unsigned", 1)
        .replacen("+= gain + mouse.x;", "+= gain + mouse.x + (own - 0.5f);", 1);
    let mut session = open(&Device::cpu().unwrap(), &text);
    set(&mut session, "gain", Value::Float(3.0));
    let mut keys = Keys::default();
    keys.set(b'F', true);
    session.set_input([0.25, 0.5, 1.0, 2.0], keys);
    steps(&mut session, 3);
    start(&mut session, Variant { text: VariantText::Given(other.clone()), ..elsewhere() });
    expect_same(&session);
    steps(&mut session, 2);
    expect_same(&session);
    // What changes while A's state is on its way is not lost.
    session.start_comparison(Variant { text: VariantText::Given(other), ..elsewhere() });
    let mut value = 1.0;
    while session.snapshot().comparison.is_none_or(|of| of.step.is_none()) {
        value = if value < 9.0 { value + 0.125 } else { 1.0 };
        set(&mut session, "gain", Value::Float(value));
        session.set_input([value as f32 / 16.0, 0.5, 0.0, 0.0], keys);
        session.update().unwrap();
        std::thread::yield_now();
    }
    steps(&mut session, 2);
    expect_same(&session);
}

/// What is compared is another way to run a text: B has that of A when it is edited, too, and does not keep the old
/// one.
#[test]
fn b_follows_the_text_that_it_runs_elsewhere() {
    let edited = |factor: u32| COUNTER.replacen(ADD, &format!("value[i].y += {factor} * gain;"), 1);
    for variant in [elsewhere(), Variant { fast_math: Some(true), ..Variant::default() }] {
        let mut session = open(&Device::cpu().unwrap(), COUNTER);
        steps(&mut session, 2);
        start(&mut session, variant);
        for factor in [3, 5] {
            edit(&mut session, &edited(factor));
            steps(&mut session, 2);
            expect_same(&session);
            assert!(comparison(&session).has_same_text);
        }
        // Also the text of a past moment.
        let line = session.snapshot().timeline.unwrap().shown.line;
        session.seek(Moment { line, step: 1 });
        session.finish_seeking().unwrap();
        session.finish_comparing().unwrap();
        assert!(comparison(&session).has_same_text);
        expect_same(&session);
        // One that faults there, on both sides, and is mended.
        let wild = COUNTER.replacen(ADD, "value[i + 100 * n].y += gain;", 1);
        edit(&mut session, &wild);
        session.run_steps(1, |_| {}).unwrap();
        assert!(session.fault().is_some());
        edit(&mut session, &edited(7));
        steps(&mut session, 1);
        expect_same(&session);
        assert!(comparison(&session).has_same_text);
    }
    // The text of then is what else is compared.
    let mut session = open(&Device::cpu().unwrap(), COUNTER);
    steps(&mut session, 2);
    start(&mut session, Variant::default());
    assert!(comparison(&session).has_same_text);
    edit(&mut session, &edited(3));
    steps(&mut session, 1);
    let comparison = comparison(&session);
    assert!(!comparison.has_same_text && comparison.parted() == Some(3), "{comparison:#?}");
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
