//! What is run, on which data, and how it is compared.

use super::Bench;
use warpaint::device::{Arguments, LaunchConfig};

/// A kernel with a peer in C of the same name.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// The peer's time over ours that we want at least.
    pub(crate) goal: f64,
    /// How far the checksums may differ, relatively: sums are added in another order, and gcc fuses no
    /// multiplications with additions.
    pub(crate) tolerance: f64,
    /// The time in milliseconds and the checksum.
    pub(crate) run: fn(&Bench) -> (f64, f64),
}

pub(crate) const CASES: [Case; 9] = [
    Case { name: "mandelbrot", goal: 0.9, tolerance: 1e-4, run: mandelbrot },
    Case { name: "curl", goal: 1.0, tolerance: 1e-4, run: curl },
    Case { name: "march", goal: 1.0, tolerance: 1e-2, run: march },
    Case { name: "philox", goal: 0.7, tolerance: 1e-4, run: philox },
    Case { name: "nbody", goal: 0.75, tolerance: 1e-3, run: nbody },
    Case { name: "sum", goal: 0.35, tolerance: 1e-3, run: sum },
    Case { name: "jacobi", goal: 0.25, tolerance: 1e-5, run: jacobi },
    Case { name: "saxpy", goal: 0.3, tolerance: 1e-5, run: saxpy },
    Case { name: "sgemm", goal: 0.1, tolerance: 1e-4, run: sgemm },
];

/// Numbers in [0, 1), the same as the peers get.
pub(crate) fn randoms(count: usize) -> Vec<f32> {
    let mut state = 1u32;
    let next = || {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        (state >> 8) as f32 / 16777216.0
    };
    std::iter::repeat_with(next).take(count).collect()
}

pub(crate) fn squares(values: &[f32]) -> f64 {
    values.iter().map(|value| f64::from(*value) * f64::from(*value)).sum()
}

fn nbody(bench: &Bench) -> (f64, f64) {
    let n = 8192u32;
    let bodies = bench.upload(&randoms(4 * n as usize));
    let out = bench.upload(&vec![0f32; 4 * n as usize]);
    let mut arguments = Arguments::new();
    arguments.push(&bodies.address()).push(&out.address()).push(&n);
    let ms = bench.run("nbody", &LaunchConfig::new(n / 256, 256), &arguments, 5);
    (ms, squares(&bench.read(&out)))
}

fn saxpy(bench: &Bench) -> (f64, f64) {
    let n = 1u32 << 22;
    let [x, y] = [(); 2].map(|()| bench.upload(&randoms(n as usize)));
    let mut arguments = Arguments::new();
    arguments.push(&y.address()).push(&x.address()).push(&1e-3f32).push(&n);
    let ms = bench.run("saxpy", &LaunchConfig::over(n as usize, 256), &arguments, 40);
    (ms, squares(&bench.read(&y)))
}

fn sum(bench: &Bench) -> (f64, f64) {
    let n = 1u32 << 22;
    let (x, total) = (bench.upload(&randoms(n as usize)), bench.upload(&[0f32]));
    let mut arguments = Arguments::new();
    arguments.push(&x.address()).push(&total.address()).push(&n);
    let ms = bench.run("sum", &LaunchConfig::new(64, 256), &arguments, 40);
    (ms, f64::from(bench.read::<f32>(&total)[0]) / 40.0)
}

fn mandelbrot(bench: &Bench) -> (f64, f64) {
    let width = 512u32;
    let steps = bench.upload(&vec![0i32; (width * width) as usize]);
    let mut arguments = Arguments::new();
    arguments.push(&steps.address()).push(&width).push(&1000i32);
    let config = LaunchConfig::new([width / 16, width / 16], [16, 16]);
    let ms = bench.run("mandelbrot", &config, &arguments, 5);
    (ms, bench.read::<i32>(&steps).into_iter().map(f64::from).sum())
}

fn jacobi(bench: &Bench) -> (f64, f64) {
    let side = 1024u32;
    let [now, right] = [(); 2].map(|()| bench.upload(&randoms((side * side) as usize)));
    let next = bench.upload(&vec![0f32; (side * side) as usize]);
    let mut arguments = Arguments::new();
    arguments.push(&next.address()).push(&now.address()).push(&right.address());
    arguments.push(&side).push(&side);
    let config = LaunchConfig::new([side / 32, side / 8], [32, 8]);
    let ms = bench.run("jacobi", &config, &arguments, 60);
    (ms, squares(&bench.read(&next)))
}

fn sgemm(bench: &Bench) -> (f64, f64) {
    let side = 512u32;
    let [a, b] = [(); 2].map(|()| bench.upload(&randoms((side * side) as usize)));
    let c = bench.upload(&vec![0f32; (side * side) as usize]);
    let mut arguments = Arguments::new();
    arguments.push(&a.address()).push(&b.address()).push(&c.address()).push(&side);
    let config = LaunchConfig::new([side / 16, side / 16], [16, 16]);
    let ms = bench.run("sgemm", &config, &arguments, 15);
    (ms, squares(&bench.read(&c)))
}

fn curl(bench: &Bench) -> (f64, f64) {
    let n = 1u32 << 18;
    let position = bench.upload(&randoms(4 * n as usize));
    let mut arguments = Arguments::new();
    arguments.push(&position.address()).push(&1e-2f32).push(&n);
    let ms = bench.run("curl", &LaunchConfig::over(n as usize, 256), &arguments, 15);
    (ms, squares(&bench.read(&position)))
}

fn march(bench: &Bench) -> (f64, f64) {
    let width = 256u32;
    let picture = bench.upload(&vec![0f32; (width * width) as usize]);
    let mut arguments = Arguments::new();
    arguments.push(&picture.address()).push(&width);
    let config = LaunchConfig::new([width / 16, width / 16], [16, 16]);
    let ms = bench.run("march", &config, &arguments, 10);
    (ms, squares(&bench.read(&picture)))
}

fn philox(bench: &Bench) -> (f64, f64) {
    let n = 1u32 << 20;
    let numbers = bench.upload(&vec![0f32; 4 * n as usize]);
    let mut arguments = Arguments::new();
    arguments.push(&numbers.address()).push(&7u32).push(&n);
    let ms = bench.run("philox", &LaunchConfig::over(n as usize, 256), &arguments, 10);
    (ms, squares(&bench.read(&numbers)))
}
