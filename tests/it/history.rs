//! The past of a running scene: whatever is done, a moment that is shown again has the same bits.

use std::{
    collections::BTreeMap,
    process::Command,
    time::{Duration, Instant},
};

mod drawn;
mod keeping;
mod operations;
mod runs;
mod waiting;

use self::runs::assert_repeats;
use super::support::{binary, devices};
use warpaint::{
    compile::{Cache, Compiler},
    device::Device,
    interop::Interop,
    interrupt::Interrupt,
    scene::Keys,
    session::{
        Arrival, Budget, Digests, Effort, Exportable, Exported, Moment, Next, Options, Outcome,
        Past, PastGap, Replay, Run, Session, Timeline, Value,
    },
};

/// What each step makes depends on all that a state has: a double texture whose texels are not all written, a
/// variable of the module, an array, and everything that enters.
pub const SCENE: &str = r#"/*---
[buffer.value]
type  = "uint4"
count = 300
[array.twin]
type   = "unsigned"
count  = 200
double = true
[texture.dye]
format = "r32f"
size   = [12, 10]
double = true
[param.gain]
value = 3
min   = 0
max   = 1000
[[pass]]
kernel = "begin"
on     = "reset"
over   = "value"
[[pass]]
kernel = "mix"
over   = "value"
[[pass]]
kernel = "shift"
over   = "twin"
[[pass]]
kernel = "paint"
over   = "dye"
---*/
__device__ unsigned calls;

__global__ void begin(uint4 *value, int value_count, unsigned seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < value_count) value[i] = make_uint4(i, seed, 0, 1);
}

__global__ void mix(uint4 *value, int value_count, int gain, float4 mouse, uint4 keys, unsigned long long step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) calls += gain + 1;
    if (i >= value_count) return;
    uint4 v = value[i];
    v.x = v.x * 1664525u + 1013904223u + gain;
    v.y ^= v.x >> 7 ^ __float_as_uint(mouse.x) ^ keys.x;
    v.z += v.y + (unsigned)step;
    v.w = v.w * 5u + (i & 3);
    value[i] = v;
}

__global__ void shift(unsigned *twin, unsigned *twin_next, int twin_count, const uint4 *value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // Every third element keeps what was there two steps before.
    if (i < twin_count && i % 3) twin_next[i] = twin[(i + 1) % twin_count] + value[i].x + calls;
}

__global__ void paint(cudaSurfaceObject_t dye, cudaSurfaceObject_t dye_next, int dye_width, int dye_height,
    const unsigned *twin)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= dye_width || y >= dye_height || (x + y) % 4 == 0) return;
    float before = surf2Dread<float>(dye, x * 4, y);
    surf2Dwrite(before * 0.5f + (float)(twin[x + y] & 0xffff), dye_next, x * 4, y);
}
"#;

pub const RESOURCES: [&str; 3] = ["value", "twin", "dye"];

fn on_each_device(test: impl Fn(&Device)) {
    devices().iter().for_each(test);
}

fn open(device: &Device, budget: Budget, source: &str) -> Session {
    let past = Past::Within(budget);
    open_with(device, Options { history: past, seed: 7, ..Options::new("scene.cu", source) })
}

fn open_with(device: &Device, options: Options) -> Session {
    let compiler = Compiler::new(Cache::user());
    let interop = Interop::none(device);
    let mut session = Session::open(options, device.clone(), compiler, interop, || {}).unwrap();
    assert!(session.wait_for_program().unwrap(), "{:#?}", session.snapshot().compile.diagnostics);
    session
}

const ROOM: Budget = Budget { device: 64 << 20, host: 0 };

fn edit(session: &mut Session, source: &str) {
    session.set_source(source.to_owned());
    assert!(session.wait_for_program().unwrap(), "{:#?}", session.snapshot().compile.diagnostics);
}

/// All that resources hold.
fn contents(session: &mut Session) -> Vec<Vec<u8>> {
    RESOURCES.map(|name| session.read(name).unwrap()).into()
}

/// One step with inputs that `number` tells.
fn step(session: &mut Session, number: u32) {
    let mut keys = Keys::default();
    keys.set(b'A' + (number % 20) as u8, true);
    session.set_input([number as f32 / 97.0, 0.5, 0.0, 0.0], keys);
    if number.is_multiple_of(3) {
        assert!(session.set_parameter("gain", Value::Int(i64::from(number % 50))));
    }
    session.run_steps(1, |_| {}).unwrap();
    assert!(session.fault().is_none(), "{:?}", session.fault());
}

fn timeline(session: &Session) -> Timeline {
    session.snapshot().timeline.unwrap()
}

fn seek(session: &mut Session, to: Moment) {
    session.seek(to);
    session.finish_seeking().unwrap();
    assert_eq!(timeline(session).shown, to);
    assert_eq!(session.clock().step, to.step);
}

#[test]
fn a_past_step_has_the_bits_that_it_had() {
    on_each_device(|device| {
        let mut session = open(device, ROOM, SCENE);
        let mut known = vec![];
        for number in 0..40 {
            step(&mut session, number);
            known.push(contents(&mut session));
        }
        let line = timeline(&session).lines[0].id;
        assert!(!timeline(&session).is_past);
        for step in [40, 1, 17, 18, 39, 3, 40, 25] {
            seek(&mut session, Moment { line, step });
            assert!(contents(&mut session) == known[step as usize - 1], "step {step}");
            assert_eq!(timeline(&session).is_past, step != 40);
        }
        // Inputs, too, are those of then.
        let gain = |session: &Session| session.snapshot().parameters[0].value.clone();
        assert_eq!(gain(&session), Value::Int(24));
        assert_eq!(session.clock().time, 25.0 * session.clock().dt);
    });
}

#[test]
fn steps_from_a_past_moment_are_a_line_beside_the_old_one() {
    on_each_device(|device| {
        let mut session = open(device, ROOM, SCENE);
        for number in 0..20 {
            step(&mut session, number);
        }
        let end = contents(&mut session);
        let old = timeline(&session).shown;
        let at = Moment { step: 8, ..old };
        seek(&mut session, at);
        for number in 100..110 {
            step(&mut session, number);
        }
        let found = contents(&mut session);
        let shown = timeline(&session);
        assert_eq!(shown.lines.len(), 2);
        assert_eq!((shown.lines[1].parent, shown.lines[1].last), (Some(at), 18));
        assert!(!shown.is_past);

        // As if nothing had been between.
        let mut straight = open(device, ROOM, SCENE);
        (0..8).chain(100..110).for_each(|number| step(&mut straight, number));
        assert!(contents(&mut straight) == found);

        seek(&mut session, old);
        assert!(contents(&mut session) == end, "the old line is there still");
        // What determines the moment that is shown is the old line's.
        let run = session.run().unwrap();
        assert_eq!((run.steps, run.digests.last()), (20, Some(&session.digests().unwrap())));
        assert_eq!(run.inputs.last().map(|entered| entered.step), Some(19));
        assert!(timeline(&session).is_past);
        // At its end it goes on.
        step(&mut session, 20);
        let line = timeline(&session);
        assert_eq!((line.lines.len(), line.shown), (2, Moment { step: 21, ..old }));
    });
}

#[test]
fn each_step_is_done_again_by_the_text_that_did_it() {
    on_each_device(|device| {
        let edited = SCENE.replace("1664525u", "22695477u");
        let mut session = open(device, ROOM, SCENE);
        let mut known = vec![];
        for number in 0..30 {
            match number {
                10 => edit(&mut session, &edited),
                20 => edit(&mut session, SCENE),
                _ => {}
            }
            step(&mut session, number);
            known.push(contents(&mut session));
        }
        let line = timeline(&session).lines[0].clone();
        assert_eq!(line.edits.iter().map(|(step, _)| *step).collect::<Vec<_>>(), [0, 10, 20]);
        for step in [15, 5, 25, 10, 20, 11, 30] {
            seek(&mut session, Moment { line: line.id, step });
            assert!(contents(&mut session) == known[step as usize - 1], "step {step}");
        }
        // From a past moment the newest text goes on.
        seek(&mut session, Moment { line: line.id, step: 5 });
        step(&mut session, 500);
        let mut straight = open(device, ROOM, SCENE);
        (0..5).chain([500]).for_each(|number| step(&mut straight, number));
        assert!(contents(&mut session) == contents(&mut straight));
    });
}

#[test]
fn a_small_budget_is_kept_and_old_steps_are_found_all_the_same() {
    on_each_device(|device| {
        let one = 300 * 16 + 2 * 200 * 4 + 2 * 12 * 10 * 4;
        let budget = Budget { device: 6 * one, host: 0 };
        let mut session = open(device, budget, SCENE);
        let mut known = vec![];
        for number in 0..200 {
            step(&mut session, number);
            known.push(contents(&mut session));
        }
        let shown = timeline(&session);
        let copies = &shown.lines[0].copies;
        // How many depends on how long copies take, but for the first and the most.
        assert!(copies.len() <= 7, "{copies:?}");
        assert!(
            shown.bytes[0] <= budget.device + 2 * one,
            "one may be taken before one is forgotten"
        );
        // The first one stays, and the others lie closer together the newer they are.
        assert_eq!(copies[0], 0);
        for step in [1, 30, 100, 150, 199, 200] {
            seek(&mut session, Moment { line: shown.shown.line, step });
            assert!(contents(&mut session) == known[step as usize - 1], "step {step}");
        }
    });
}

/// Steps of a program whose states find no room are not taken for the ones of the program before.
#[test]
fn steps_without_a_copy_are_not_had_again() {
    on_each_device(|device| {
        let budget = Budget { device: 8000, host: 0 };
        let text = SCENE.replace("count = 300", "count = 200");
        let mut session = open(device, budget, &text);
        (0..3).for_each(|number| step(&mut session, number));
        let (known, before) = (contents(&mut session), timeline(&session).shown);
        edit(&mut session, &SCENE.replace("count = 300", "count = 3000"));
        (3..6).for_each(|number| step(&mut session, number));
        let after = timeline(&session).shown;
        let present = contents(&mut session);
        for step in [3, 5] {
            session.seek(Moment { step, ..after });
            session.finish_seeking().unwrap();
            assert!(contents(&mut session) == present, "there is no way to step {step}");
        }
        seek(&mut session, before);
        assert!(contents(&mut session) == known);
    });
}

/// A kernel that reads a clock is no function of what enters: what is shown of its past is not what was there, and that
/// is said, once the steps up to the next copy were done again.
#[test]
fn steps_that_have_other_bits_again_are_told() {
    on_each_device(|device| {
        let others = |source: &str| {
            let mut session = open(device, ROOM, source);
            (0..60).for_each(|number| step(&mut session, number));
            let before = timeline(&session);
            let line = before.lines.last().unwrap();
            assert_eq!(line.others, Vec::<[u64; 2]>::new(), "nothing was done again");
            // Behind the first copy and before another.
            let [first, ..] = line.copies[..] else { panic!("{line:?}") };
            seek(&mut session, Moment { line: line.id, step: first + 1 });
            assert_eq!(session.clock().step, first + 1);
            // What was computed on the device is taken over when nothing else is to be done.
            session.run_steps(1, |_| {}).unwrap();
            let line = timeline(&session).lines.iter().find(|of| of.id == line.id).cloned();
            (first, line.unwrap().others)
        };
        assert_eq!(others(SCENE).1, Vec::<[u64; 2]>::new());
        let timed = SCENE.replace("v.w * 5u", "(unsigned)clock64()");
        let (first, others) = others(&timed);
        assert!(
            matches!(others[..], [[from, to]] if from == first && to > first + 1),
            "{others:?}"
        );
    });
}

/// To go back with the pointer in `last`, and without what it pointed to then, would be a fault at best.
#[test]
fn nobody_goes_back_to_a_heap_of_which_there_is_no_copy() {
    let scene = r#"/*---
[array.value]
type  = "int"
count = 1
[[pass]]
kernel = "replace"
over   = "value"
---*/
__device__ int* last;
__global__ void replace(int* value)
{
    if (threadIdx.x > 0) return;
    int before = last ? *last : 0;
    delete last;
    last = new int(before + 1);
    value[0] = *last;
}
"#;
    on_each_device(|device| {
        let mut session = open(device, Budget { device: 1 << 20, host: 0 }, scene);
        session.run_steps(3, |_| {}).unwrap();
        let shown = timeline(&session);
        assert!(shown.gap == Some(PastGap::Heap) && shown.bytes == [0, 0], "{shown:?}");
        session.seek(Moment { line: shown.shown.line, step: 1 });
        session.finish_seeking().unwrap();
        assert_eq!(session.read("value").unwrap(), 3_i32.to_ne_bytes());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.npz");
        let said = [session.save(&path).unwrap_err(), session.load(&path).unwrap_err()];
        for error in said.map(|error| error.to_string()) {
            assert!(error.contains("take memory by themselves (`malloc`, `new`)"), "{error}");
        }
        assert!(!path.exists());
        // All steps from the reset on make it anew.
        assert_eq!(session.run().unwrap().steps, 3);
    });
}

#[test]
fn without_room_nothing_is_kept_and_it_is_said() {
    on_each_device(|device| {
        let mut session = open(device, Budget { device: 100, host: 0 }, SCENE);
        (0..5).for_each(|number| step(&mut session, number));
        let shown = timeline(&session);
        assert!(shown.gap == Some(PastGap::NoRoom) && shown.bytes == [0, 0]);
        let before = contents(&mut session);
        session.seek(Moment { line: shown.shown.line, step: 2 });
        session.finish_seeking().unwrap();
        assert!(contents(&mut session) == before, "it stays where it is");
        assert_eq!(session.clock().step, 5);
    });
}

#[test]
fn a_fault_is_gone_back_from() {
    // What is wrong there a GPU does not tell.
    let device = &Device::cpu().unwrap();
    let faulty = SCENE.replace("value[i] = v;", "value[i + (step == 6 ? 100000 : 0)] = v;");
    let mut session = open(device, ROOM, &faulty);
    (0..6).for_each(|number| step(&mut session, number));
    let before = contents(&mut session);
    session.run_steps(1, |_| {}).unwrap();
    assert!(session.fault().is_some());
    // What the step has written is undone, and what was wrong is told still.
    session.finish_seeking().unwrap();
    assert!(session.fault().is_some() && contents(&mut session) == before);
    let shown = timeline(&session).shown;
    assert_eq!((shown.step, timeline(&session).is_past), (6, false));
    seek(&mut session, Moment { step: 3, ..shown });
    assert!(session.fault().is_none());
    seek(&mut session, Moment { step: 6, ..shown });
    assert!(contents(&mut session) == before);
    // The mended text goes on from there.
    edit(&mut session, SCENE);
    step(&mut session, 6);
    assert_eq!(session.clock().step, 7);
    assert_repeats(&mut session);
}

/// A step that is stopped half-way, for a limit or for a newer text, is done once all the same.
#[test]
fn a_step_that_is_stopped_is_undone() {
    let text = "/*---\n[array.a]\ntype = \"int\"\ncount = 4\n[[pass]]\nkernel = \"add\"\nover = \"a\"\n\
                [[pass]]\nkernel = \"wait\"\nover = \"a\"\n---*/\n\
                __global__ void add(int* a, int a_count) { int i = threadIdx.x; if (i < a_count) a[i] += 1; }\n\
                __global__ void wait(int* a, int a_count) { for (volatile int on = 1; on && LOOPS; ); }\n";
    let with = |loops: &str| text.replace("LOOPS", loops);
    let options = Options {
        history: Past::Within(ROOM),
        step_timeout: Duration::from_secs(1),
        ..Options::new("scene.cu", with("0"))
    };
    let mut session = open_with(&Device::cpu().unwrap(), options);
    session.run_steps(3, |_| {}).unwrap();
    for _ in 0..2 {
        edit(&mut session, &with("1"));
        session.run_steps(1, |_| {}).unwrap();
        assert!(session.fault().is_some() && session.clock().step == 3);
    }
    edit(&mut session, &with("0"));
    session.run_steps(2, |_| {}).unwrap();
    assert_eq!(session.read("a").unwrap(), bytemuck::cast_slice::<i32, u8>(&[5; 4]));
    assert_repeats(&mut session);
}

#[test]
fn a_reset_begins_a_line() {
    on_each_device(|device| {
        let mut session = open(device, ROOM, SCENE);
        (0..6).for_each(|number| step(&mut session, number));
        let (old, before) = (timeline(&session).shown, contents(&mut session));
        session.reset();
        (50..53).for_each(|number| step(&mut session, number));
        let shown = timeline(&session);
        assert_eq!((shown.lines.len(), shown.lines[1].parent, shown.shown.step), (2, None, 3));
        seek(&mut session, old);
        assert!(contents(&mut session) == before);
    });
}

/// Any moment is a function of its line and its step.
#[test]
fn random_wishes_find_the_same_bits() {
    on_each_device(|device| {
        let rounds = std::env::var("WARPAINT_HISTORY_ROUNDS").map_or(300, |n| n.parse().unwrap());
        let texts =
            [SCENE.to_owned(), SCENE.replace("1013904223u", "12345u"), SCENE.replace("7 ^", "9 ^")];
        let mut random = fastrand::Rng::with_seed(1);
        let one = 300 * 16 + 2 * 200 * 4 + 2 * 12 * 10 * 4;
        let budget = Budget { device: 40 * one, host: 0 };
        let mut session = open(device, budget, &texts[0]);
        let mut known: BTreeMap<(u64, u64), Vec<Vec<u8>>> = BTreeMap::new();
        for round in 0..rounds {
            match random.u32(..100) {
                0..60 => {
                    for _ in 0..random.u32(1..4) {
                        step(&mut session, random.u32(..1000));
                        let Moment { line, step } = timeline(&session).shown;
                        let found = contents(&mut session);
                        let before = known.insert((line, step), found);
                        assert!(
                            before.is_none(),
                            "round {round}: step {step} of line {line} came twice"
                        );
                    }
                }
                60..90 => {
                    let shown = timeline(&session);
                    if shown.lines.is_empty() {
                        continue;
                    }
                    let line = &shown.lines[random.usize(..shown.lines.len())];
                    let to = Moment { line: line.id, step: random.u64(line.first..=line.last) };
                    if to.step == 0 || Some(to.step) == line.parent.map(|parent| parent.step) {
                        continue; // the state of the parent, which it is compared as
                    }
                    session.seek(to);
                    session.finish_seeking().unwrap();
                    let is_kept = timeline(&session).shown == to;
                    assert!(is_kept || line.copies.is_empty(), "round {round}: {to:?} in {line:?}");
                    if is_kept {
                        let found = contents(&mut session);
                        assert!(known[&(to.line, to.step)] == found, "round {round}: {to:?}");
                    }
                }
                90..97 => {
                    let text = &texts[random.usize(..texts.len())];
                    edit(&mut session, text);
                }
                _ => session.reset(),
            }
            let bytes = timeline(&session).bytes[0];
            assert!(bytes <= budget.device + 3 * one, "round {round}: {bytes} bytes");
        }
    });
}
