//! What the built-in scenes compute, against references in double precision. Their own `[[check]]`s are run elsewhere.

mod devices;
mod dft;
mod fluid;
mod gaussian_field;
mod gray_scott;
mod ising;
mod karman;
mod life;
mod mandelbrot;
mod mutation;
mod nbody;
mod noise;
mod ocean;
mod smoke;
mod wave;

use std::time::Duration;

use bytemuck::Pod;
use warpaint::{
    compile::{Cache, Compiler},
    device::Device,
    interop::Interop,
    scene::{Overrides, Scene},
    session::{Options, Session},
};

use crate::support::devices;

/// A built-in scene with these constants, ready to take its first step.
fn open(device: &Device, name: &str, constants: &[(&str, &str)]) -> Session {
    Run { constants, ..Run::of(&bare(name)) }.open(device)
}

/// A built-in scene without its statistics and checks, each of which takes as long to translate as a pass.
fn bare(name: &str) -> String {
    let source = Scene::built_in(name).unwrap();
    let (manifest, code) = source.split_once("---*/").unwrap();
    let end = ["\n[[stat]]", "\n[[check]]"].iter().filter_map(|key| manifest.find(key)).min();
    format!("{}\n---*/{code}", &manifest[..end.unwrap()])
}

/// A text with one part of it replaced.
fn replaced(source: &str, from: &str, to: &str) -> String {
    assert_eq!(source.matches(from).count(), 1, "{from}");
    source.replace(from, to)
}

/// How a scene is run.
#[derive(Clone, Copy)]
struct Run<'a> {
    source: &'a str,
    constants: &'a [(&'a str, &'a str)],
    parameters: &'a [(&'a str, &'a str)],
    seed: u64,
}

impl<'a> Run<'a> {
    fn of(source: &'a str) -> Self {
        Self { source, constants: &[], parameters: &[], seed: 1 }
    }

    /// The scene, ready to take its first step.
    fn open(self, device: &Device) -> Session {
        let owned = |(name, value): &(&str, &str)| (name.to_string(), value.to_string());
        let constants = self.constants.iter().map(owned).collect();
        let options = Options {
            overrides: Overrides { constants, ..Overrides::default() },
            parameters: self.parameters.iter().map(owned).collect(),
            seed: self.seed,
            // For the interpreter on a machine that has much else to do.
            step_timeout: Duration::from_secs(600),
            ..Options::new("scene.cu", self.source)
        };
        let (interop, compiler) = (Interop::none(device), Compiler::new(Cache::user()));
        let mut session = Session::open(options, device.clone(), compiler, interop, || {}).unwrap();
        let runs = session.wait_for_program().unwrap();
        assert!(runs, "{:#?}", session.snapshot().compile.diagnostics);
        session.run_steps(0, |_| {}).unwrap();
        session
    }
}

/// What a resource holds.
fn read<T: Pod>(session: &mut Session, name: &str) -> Vec<T> {
    bytemuck::pod_collect_to_vec(&session.read(name).unwrap())
}

/// The greatest difference between numbers and what they are to be.
fn worst(found: impl IntoIterator<Item = f32>, expected: impl IntoIterator<Item = f64>) -> f64 {
    let differences = found.into_iter().zip(expected).map(|(f, e)| (f64::from(f) - e).abs());
    differences.fold(0.0, |most, d| if d.is_finite() { most.max(d) } else { f64::INFINITY })
}

/// The sum of what `value` makes of each element.
fn sum<T>(elements: &[T], value: impl Fn(&T) -> f32) -> f64 {
    elements.iter().map(|element| f64::from(value(element))).sum()
}

/// Where cells are counted by atomic operations, whose order is no one's, the result has the same bits all the same.
#[test]
fn what_is_sorted_by_cell_is_the_same_each_time() {
    let spheres = [("n", "2000"), ("radius", "0.0376"), ("wide", "26"), ("high", "13")];
    let boids = [("n", "2000"), ("sight", "0.2"), ("cells", "10")];
    for device in devices() {
        for (name, constants) in [("spheres", &spheres[..]), ("boids", &boids[..])] {
            let run = || {
                let mut session = open(&device, name, constants);
                session.run_steps(30, |_| {}).unwrap();
                read::<u32>(&mut session, "position")
            };
            assert_eq!(run(), run(), "{name}");
        }
    }
}
