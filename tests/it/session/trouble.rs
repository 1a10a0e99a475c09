//! What goes wrong while a scene runs, and is told: steps that do not end, NaN, a beginning that was edited.

use std::{
    thread::sleep,
    time::{Duration, Instant, SystemTime},
};

use warpaint::{
    compile::{Cache, Compiler},
    device::Device,
    interop::Interop,
    scene::ResourceId,
    session::{Command, Engine, Options, Session},
};

use super::{open, options};

/// Numbers that count; number 5 is NaN from step 4 on.
const NAN_LATER: &str = r#"/*---
[array.a]
type = "float2"
count = 8
[[pass]]
kernel = "begin"
on = "reset"
over = "a"
[[pass]]
kernel = "count"
over = "a"
---*/
__global__ void begin(float2 *a, int a_count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < a_count) a[i] = make_float2(0.0f, 1.0f);
}
__global__ void count(float2 *a, int a_count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a_count) return;
    a[i].x += 1.0f;
    if (i == 5) a[i].y = sqrtf(3.5f - a[i].x);
}
"#;

fn open_with(options: Options) -> Session {
    let device = Device::cpu().unwrap();
    let (interop, compiler) = (Interop::none(&device), Compiler::new(Cache::user()));
    let mut session = Session::open(options, device, compiler, interop, || {}).unwrap();
    assert!(session.wait_for_program().unwrap());
    session
}

/// Lets a session do what it does until `done`.
fn until(session: &mut Session, done: impl Fn(&Session) -> bool) {
    let begun = Instant::now();
    while !done(session) {
        session.update().unwrap();
        sleep(Duration::from_millis(1));
        assert!(begun.elapsed() < Duration::from_secs(60), "step {}", session.clock().step);
    }
}

#[test]
fn a_scene_pauses_at_the_first_nan_and_names_it() {
    let mut session = open(NAN_LATER);
    session.apply(&Command::PauseAtNan(true));
    session.play();
    until(&mut session, |session| session.snapshot().first_nan.is_some());
    let found = session.snapshot().first_nan.unwrap();
    assert_eq!(found.told(), "The first NaN is a[5].y, after step 4: pass `count` wrote it");
    assert_eq!((session.clock().step, session.clock().playing), (4, false));

    // It goes on from there, and has said so; a reset begins to look again.
    session.play();
    until(&mut session, |session| session.clock().step >= 8);
    session.apply(&Command::Reset);
    session.play();
    let is_there =
        |session: &Session| (session.clock().step, session.clock().playing) == (4, false);
    until(&mut session, is_there);
    until(&mut session, |session| session.snapshot().first_nan.is_some());
    assert_eq!(session.snapshot().first_nan, Some(found));
    assert!(is_there(&session));
}

#[test]
fn a_step_that_does_not_end_is_told_and_stopped_when_that_is_wanted() {
    let endless = NAN_LATER.replace("a[i].x += 1.0f;", "while (a[i].x >= 0.0f) a[i].x += 1e-30f;");
    let mut session = open(&endless);
    session.play();
    until(&mut session, |session| session.running().is_some());
    let running = session.running().unwrap();
    assert!(running.elapsed >= Duration::from_millis(300) && !running.is_ending, "{running:?}");
    assert!(running.limit > running.elapsed);
    session.apply(&Command::Stop);
    until(&mut session, |session| session.fault().is_some());
    let told = &session.fault().unwrap().text;
    assert!(told.contains("stopped, as you asked"), "{told}");
    assert_eq!((session.running(), session.clock().step), (None, 0), "the step is undone");
}

#[test]
fn an_edit_of_what_begins_the_scene_is_told_until_it_is_reset_or_taken_back() {
    let is_edited = |session: &mut Session, text: &str| {
        session.set_source(text.to_owned());
        assert!(session.wait_for_program().unwrap());
        session.run_steps(1, |_| {}).unwrap();
        session.snapshot().reset_is_edited
    };
    let mut session = open(NAN_LATER);
    session.run_steps(2, |_| {}).unwrap();
    let edited = NAN_LATER.replace("make_float2(0.0f, 1.0f)", "make_float2(2.0f, 1.0f)");
    assert!(!is_edited(&mut session, &NAN_LATER.replace("+= 1.0f", "+= 2.0f")), "a step's kernel");
    assert!(is_edited(&mut session, &edited));
    assert!(!is_edited(&mut session, NAN_LATER), "taken back");
    assert!(is_edited(&mut session, &edited));
    session.reset();
    session.run_steps(1, |_| {}).unwrap();
    assert!(!session.snapshot().reset_is_edited);
}

#[test]
fn a_half_that_is_taken_and_never_written_is_warned_of() {
    let double = NAN_LATER.replace("count = 8", "count = 8\ndouble = true");
    let warned = |text: &str| {
        let session = open(text);
        let told = session.snapshot().compile.diagnostics;
        told.iter().map(|of| (of.line, of.text.clone())).collect::<Vec<_>>()
    };
    let takes = double.replace("begin(float2 *a,", "begin(float2 *a, float2 *a_next,");
    let told = warned(&takes);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].1.contains("kernel `begin` takes `a_next` and never writes it"), "{told:?}");
    assert_eq!(told[0].0, Some(7), "the line of its pass");
    assert_eq!(warned(&takes.replace("a[i] = make", "a_next[i] = make")), []);
    // That it is read is no reason.
    let reads = takes.replace("a[i] = make_float2(0.0f, 1.0f)", "a[i] = a_next[i]");
    assert_eq!(warned(&reads).len(), 1);
}

#[test]
fn an_endless_draft_is_told_by_the_limit_and_not_by_the_version_that_is_optimised() {
    let endless = NAN_LATER.replace("a[i].x += 1.0f;", "while (a[i].x >= 0.0f) a[i].x += 1e-30f;");
    // No cache has it, so that a draft comes first.
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let endless = format!("{endless}// {}\n", now.as_nanos());
    // Longer than the optimised version takes to come, and than it would wait for a step of another text.
    let limit = Duration::from_secs(5);
    let mut session = open_with(Options { step_timeout: limit, ..options("scene.cu", NAN_LATER) });
    // The first text of a session is compiled once.
    session.set_source(endless);
    assert!(session.wait_for_program().unwrap());
    session.play();
    until(&mut session, |session| session.fault().is_some());
    let told = &session.fault().unwrap().text;
    assert!(told.contains("stopped after 5 s (the limit"), "{told}");
}

#[test]
fn what_the_checker_found_in_a_text_goes_with_it() {
    let divides = NAN_LATER.replace("a[i].x += 1.0f;", "a[i].x += (int(a[i].y) + 7) / (i & 1);");
    let options = Options { engine: Engine::Checker, ..options("scene.cu", &divides) };
    let mut session = open_with(options);
    let step = |session: &mut Session, step| {
        session.apply(&Command::Step);
        until(session, |session| session.clock().step == step && session.is_idle());
        session.snapshot().findings
    };
    session.pause();
    let found = step(&mut session, 1);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].text.contains("divides an integer by zero (4 times)"), "{found:?}");
    let line =
        divides.lines().position(|line| line.contains("7) / (i & 1)")).map(|at| at as u32 + 1);
    assert_eq!(found[0].line, line);
    session.set_source(NAN_LATER.to_owned());
    assert!(session.wait_for_program().unwrap());
    assert_eq!(step(&mut session, 2), []);
}

#[test]
fn a_resource_that_is_too_large_is_told_once_in_units_that_are_read() {
    // No cache has it, so that a draft comes first, and then the optimised version.
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let table = "[array.large]\ntype = \"float4\"\ncount = 60_000_000_000\n[[pass]]";
    let large = NAN_LATER.replacen("[[pass]]", table, 1);
    let large = format!("{large}// {}\n", now.as_nanos());
    let mut session = open_with(options("scene.cu", NAN_LATER));
    session.set_source(large);
    assert!(!session.wait_for_program().unwrap());
    // Longer than the optimised version takes to come.
    let begun = Instant::now();
    until(&mut session, |_| begun.elapsed() > Duration::from_secs(8));
    let told = session.snapshot().compile.diagnostics;
    let told: Vec<_> = told.iter().map(|of| of.text.as_str()).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("it takes 894.1 GiB, and "), "{told:?}");
}

#[test]
fn statistics_are_there_when_the_first_step_of_an_edit_faults() {
    let every = Some(Duration::ZERO);
    let mut session =
        open_with(Options { statistics_every: every, ..options("scene.cu", NAN_LATER) });
    session.pause();
    session.apply(&Command::Steps(2));
    // Statistics of where it rests are taken a little later, where those before took long.
    until(&mut session, |session| session.clock().step == 2 && !session.is_busy());
    let of_step_2 = session.statistics(ResourceId(0)).to_vec();
    assert!((of_step_2[0].max - 2.0).abs() < 1e-9, "{of_step_2:?}");
    session.set_source(NAN_LATER.replace("a[i].x += 1.0f;", "a[i + 1000000].x += 1.0f;"));
    assert!(session.wait_for_program().unwrap());
    session.apply(&Command::Step);
    until(&mut session, |session| session.fault().is_some());
    assert_eq!(session.statistics(ResourceId(0)), of_step_2);
    // Those of another type are not.
    let other =
        NAN_LATER.replace("float2", "float4").replace("0.0f, 1.0f", "0.0f, 1.0f, 0.0f, 0.0f");
    session.set_source(other);
    assert!(session.wait_for_program().unwrap());
    assert!(session.statistics(ResourceId(0)).is_empty());
    until(&mut session, |session| session.is_idle());
    assert_eq!(session.statistics(ResourceId(0)).len(), 4);
}
