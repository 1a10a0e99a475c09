//! How a session is moved: several steps, a step to go to, speed, the seed; and what is read while it goes on.

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

use super::{edited, open, options, second};
use crate::support::COUNTER;
use warpaint::{
    compile::{Cache, Compiler},
    device::Device,
    interop::Interop,
    session::{Command, Engine, Options, Session, Variant},
};

/// Lets it go on until nothing is to be done.
#[track_caller]
fn settle(session: &mut Session) {
    let start = Instant::now();
    while session.is_busy() {
        session.update().unwrap();
        sleep(Duration::from_micros(200));
        assert!(start.elapsed() < Duration::from_secs(60), "it goes on and on");
    }
}

/// Statistics are taken now and then while a scene goes on, and once more where it stops.
#[test]
fn a_scene_at_rest_has_the_statistics_of_its_last_step() {
    let every = Some(Duration::from_millis(50));
    let options = Options { statistics_every: every, ..options("scene.cu", COUNTER) };
    let device = Device::cpu().unwrap();
    let interop = Interop::none(&device);
    let mut session =
        Session::open(options, device, Compiler::new(Cache::user()), interop, || {}).unwrap();
    assert!(session.wait_for_program().unwrap());
    for step in [1, 4, 5] {
        let start = session.clock().step;
        session.apply(&Command::Steps((step - start) as u32));
        settle(&mut session);
        let snapshot = session.snapshot();
        let taken: Vec<u64> = snapshot.resources.iter().map(|resource| resource.step).collect();
        assert!(!taken.is_empty() && taken.iter().all(|taken| *taken == step), "{taken:?}");
        let greatest = snapshot.resources[0].components[1].max;
        assert_eq!(greatest, step as f64, "each step adds one");
    }
}

#[test]
fn several_steps_are_done_and_a_step_is_gone_to() {
    let mut session = open(COUNTER);
    session.apply(&Command::Steps(5));
    settle(&mut session);
    assert_eq!((session.clock().step, session.snapshot().steps_left), (5, 0));
    assert_eq!(second(&mut session), vec![5.0; 1000]);
    session.apply(&Command::RunTo(12));
    // Once more, while a step is under way: not one too many.
    session.update().unwrap();
    session.apply(&Command::RunTo(12));
    settle(&mut session);
    assert_eq!(session.clock().step, 12);
    session.apply(&Command::RunTo(3));
    settle(&mut session);
    assert_eq!(session.clock().step, 12, "there is no way back by steps");
    session.apply(&Command::Steps(1000));
    session.update().unwrap();
    session.apply(&Command::Pause);
    settle(&mut session);
    assert!(session.clock().step < 14, "a pause ends them: {}", session.clock().step);
}

#[test]
fn another_seed_begins_anew() {
    let source = edited("value[i].y += gain", "value[i].y = (float)seed");
    let source = source.replacen("float gain", "float gain, unsigned long long seed", 1);
    let mut session = open(&source);
    session.run_steps(2, |_| {}).unwrap();
    assert_eq!(second(&mut session)[0], 1.0);
    session.apply(&Command::Seed(42));
    session.apply(&Command::Steps(1));
    settle(&mut session);
    assert_eq!((session.clock().step, session.seed(), second(&mut session)[0]), (1, 42, 42.0));
}

#[test]
fn a_resource_is_read_without_waiting_for_the_step_under_way() {
    let mut session = open(COUNTER);
    session.run_steps(2, |_| {}).unwrap();
    let read = session.start_read("value").unwrap().expect("nothing is under way");
    session.step_once();
    session.update().unwrap();
    assert!(session.is_working());
    assert!(session.start_read("value").unwrap().is_none(), "nor is anything read of it");
    settle(&mut session);
    let before: Vec<f32> = bytemuck::pod_collect_to_vec(&read.wait().unwrap());
    assert_eq!(
        (before[1], second(&mut session)[0]),
        (2.0, 3.0),
        "of the moment that was asked for"
    );
    assert!(session.start_read("nothing").unwrap().is_none());
}

#[test]
fn the_interpreter_is_compared_with_translated_kernels() {
    let mut session = open(COUNTER);
    session.run_steps(3, |_| {}).unwrap();
    let variant = Variant { engine: Some(Engine::Interpreter), ..Variant::default() };
    session.start_comparison(variant);
    session.finish_comparing().unwrap();
    session.run_steps(4, |_| {}).unwrap();
    let comparison = session.snapshot().comparison.expect("it runs");
    assert_eq!((comparison.since, comparison.step), (3, Some(7)), "{comparison:#?}");
    assert!(comparison.resources.iter().all(|of| of.same_bits), "{comparison:#?}");
    let pass = &comparison.passes[0];
    assert!(pass.ratio.is_some(), "the times of both: {pass:?}");
}
