//! Without NVRTC the built-in scenes run from what was compiled ahead.

use crate::skip::{Need, skip};
use std::fs;

use warpaint::{
    compile::{Cache, Compiler, Outcome, Target, has_seed, write_seed},
    session::requests_of_built_ins,
};

use super::support::{COUNTER, Ended, Workplace, read_npy_f32, root};

#[test]
fn the_seed_has_every_built_in_scene() {
    let requests = requests_of_built_ins(Target::CPU);
    assert!(requests.len() >= 2);
    if std::env::var_os("WARPAINT_UPDATE_SEED").is_some() {
        let compiler = Compiler::new(Cache::memory());
        let compiled: Vec<_> = requests
            .into_iter()
            .map(|request| match compiler.compile(&request).unwrap() {
                Outcome::Compiled(compiled) => (request, compiled),
                Outcome::Rejected { log, .. } => panic!("{log}"),
            })
            .collect();
        let text = write_seed(&compiled).unwrap();
        fs::write(root().join("assets/seed.json"), text + "\n").unwrap();
        return;
    }
    for request in requests {
        assert!(has_seed(&request), "{}: run with WARPAINT_UPDATE_SEED=1", request.name);
    }
}

#[test]
fn a_built_in_scene_runs_without_nvrtc_and_another_says_what_is_missing() {
    let place = Workplace::new();
    let run = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        // Nothing of this machine's is left to be found: neither our data folder, nor a toolkit, nor Python's.
        command.env_clear().env("HOME", place.path("home")).env("WARPAINT_CACHE", "");
        Ended::new(command.output().unwrap())
    };
    place.file("scene.cu", COUNTER);
    let without = run(&["render", "scene.cu", "--device", "cpu"]);
    if without.code == Some(0) {
        skip(Need::Machine, "an NVRTC is installed where it cannot be hidden");
        return;
    }
    without.expect_one_line(3, &["no NVRTC library found", "scripts/setup"]);
    run(&["render", "particles", "--device", "cpu", "--npy", "position=p.npy"]).expect(0, &[]);
    assert_eq!(read_npy_f32(&place.path("p.npy")).0, [262_144, 4]);
}
