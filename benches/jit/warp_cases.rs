//! The kernels whose threads wait for each other or share memory, and those that stream it.

use super::{
    Bench,
    cases::{Case, randoms, squares},
};
use warpaint::device::{Arguments, LaunchConfig};

pub(crate) const CASES: [Case; 10] = [
    Case { name: "jacobi_tile", goal: 1.0 / 8.0, tolerance: 1e-4, run: jacobi_tile },
    Case { name: "scan", goal: 1.0 / 15.0, tolerance: 1e-5, run: scan },
    Case { name: "layernorm", goal: 1.0 / 6.0, tolerance: 1e-4, run: layernorm },
    Case { name: "softmax", goal: 1.0 / 4.0, tolerance: 1e-4, run: softmax },
    Case { name: "softmax_rows", goal: 1.0 / 4.0, tolerance: 1e-4, run: softmax_rows },
    Case { name: "sgemm_tile", goal: 1.0 / 1.5, tolerance: 1e-4, run: sgemm_tile },
    Case { name: "md5", goal: 1.0 / 1.5, tolerance: 0.0, run: md5 },
    Case { name: "histogram", goal: 1.0 / 4.0, tolerance: 0.0, run: histogram },
    Case { name: "stencil", goal: 1.0 / 2.0, tolerance: 1e-5, run: stencil },
    Case { name: "copy", goal: 1.0 / 1.2, tolerance: 0.0, run: copy },
];

/// A way to wait: its kernel in `waits.cu`, what it may cost a thread in nanoseconds, and what each value is multiplied
/// by and increased by in a round, by all threads alike.
pub(crate) const WAITS: [(&str, f64, [f32; 2]); 3] =
    [("shuffles", 1.0, [2.0, 0.0]), ("syncwarps", 0.3, [1.0, 1.0]), ("barriers", 0.7, [1.0, 1.0])];

/// What one costs a thread, in nanoseconds of one core: by the clock, and of the processors.
pub(crate) fn wait(bench: &Bench, name: &str, [factor, step]: [f32; 2]) -> [f64; 2] {
    let (threads, rounds) = (1usize << 16, 100u32);
    let values = bench.upload(&vec![1f32; threads]);
    let mut arguments = Arguments::new();
    arguments.push(&values.address()).push(&rounds);
    let config = LaunchConfig::new(threads as u32 / 256, 256);
    bench.run_of("waits", name, &config, &arguments, 1);
    let due = (0..rounds).fold(1f32, |value, _| value * factor + step);
    assert!(bench.read::<f32>(&values).iter().all(|value| *value == due), "{name} differs");
    let ms = bench.run_of("waits", name, &config, &arguments, 20);
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let waits = threads as f64 * f64::from(rounds);
    [ms, bench.busy_ms.get()].map(|ms| ms * 1e6 * cores as f64 / waits)
}

/// Numbers of 32 bits, the same as the peers get.
fn words(count: usize) -> Vec<u32> {
    let mut state = 1u32;
    let next = || {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        state ^ state >> 16
    };
    std::iter::repeat_with(next).take(count).collect()
}

fn weighted(values: &[u32]) -> f64 {
    let weights = (1..=251u32).cycle().map(f64::from);
    values.iter().zip(weights).map(|(value, weight)| f64::from(*value) * weight).sum()
}

fn jacobi_tile(bench: &Bench) -> (f64, f64) {
    let width = 1026u32;
    let count = (width * width) as usize;
    let [now, right] = [(); 2].map(|()| bench.upload(&randoms(count)));
    let (next, change) = (bench.upload(&vec![0f32; count]), bench.upload(&[0f32]));
    let mut arguments = Arguments::new();
    arguments.push(&next.address()).push(&now.address()).push(&right.address());
    arguments.push(&change.address()).push(&width);
    let config = LaunchConfig::new([1024 / 32, 1024 / 8], [32, 8]);
    let runs = 60;
    let ms = bench.run("jacobi_tile", &config, &arguments, runs);
    let change = f64::from(bench.read::<f32>(&change)[0]) / runs as f64;
    (ms, squares(&bench.read(&next)) + change)
}

fn scan(bench: &Bench) -> (f64, f64) {
    let n = 1usize << 20;
    let values = bench.upload(&randoms(n));
    let mut arguments = Arguments::new();
    arguments.push(&values.address());
    let config = LaunchConfig::new(n as u32 / 512, 512);
    bench.run("scan", &config, &arguments, 1);
    let check = squares(&bench.read(&values));
    // What it sums does not change how long it takes, unless it becomes infinite.
    let zeros = bench.upload(&vec![0f32; n]);
    let mut arguments = Arguments::new();
    arguments.push(&zeros.address());
    (bench.run("scan", &config, &arguments, 20), check)
}

fn layernorm(bench: &Bench) -> (f64, f64) {
    let (rows, width) = (4096u32, 768usize);
    let input = bench.upload(&randoms(rows as usize * width));
    let out = bench.upload(&vec![0f32; rows as usize * width]);
    let [weight, bias] = [(); 2].map(|()| bench.upload(&randoms(width)));
    let mut arguments = Arguments::new();
    arguments.push(&out.address()).push(&input.address());
    arguments.push(&weight.address()).push(&bias.address()).push(&rows);
    let ms = bench.run("layernorm", &LaunchConfig::new(rows / 8, 256), &arguments, 10);
    (ms, squares(&bench.read(&out)))
}

fn softmax(bench: &Bench) -> (f64, f64) {
    let rows = 4096u32;
    let input = bench.upload(&randoms(rows as usize * 1024));
    let out = bench.upload(&vec![0f32; rows as usize * 1024]);
    let mut arguments = Arguments::new();
    arguments.push(&out.address()).push(&input.address());
    let ms = bench.run("softmax", &LaunchConfig::new(rows, 256), &arguments, 10);
    (ms, squares(&bench.read(&out)))
}

fn softmax_rows(bench: &Bench) -> (f64, f64) {
    let rows = 4096u32;
    let input = bench.upload(&randoms(rows as usize * 1024));
    let out = bench.upload(&vec![0f32; rows as usize * 1024]);
    let mut arguments = Arguments::new();
    arguments.push(&out.address()).push(&input.address()).push(&rows);
    let ms = bench.run("softmax_rows", &LaunchConfig::new(rows / 64, 64), &arguments, 5);
    (ms, squares(&bench.read(&out)))
}

fn sgemm_tile(bench: &Bench) -> (f64, f64) {
    let side = 512u32;
    let [a, b] = [(); 2].map(|()| bench.upload(&randoms((side * side) as usize)));
    let c = bench.upload(&vec![0f32; (side * side) as usize]);
    let mut arguments = Arguments::new();
    arguments.push(&a.address()).push(&b.address()).push(&c.address()).push(&side);
    let config = LaunchConfig::new([side / 64, side / 64], 64);
    let ms = bench.run("sgemm_tile", &config, &arguments, 15);
    (ms, squares(&bench.read(&c)))
}

fn md5(bench: &Bench) -> (f64, f64) {
    let n = 1u32 << 20;
    let digests = bench.upload(&vec![0u32; n as usize]);
    let mut arguments = Arguments::new();
    arguments.push(&digests.address()).push(&n);
    let ms = bench.run("md5", &LaunchConfig::over(n as usize, 256), &arguments, 20);
    (ms, weighted(&bench.read(&digests)))
}

fn histogram(bench: &Bench) -> (f64, f64) {
    let (n, runs) = (1u32 << 22, 20);
    let (input, counts) = (bench.upload(&words(n as usize)), bench.upload(&[0u32; 256]));
    let mut arguments = Arguments::new();
    arguments.push(&input.address()).push(&counts.address()).push(&n);
    let ms = bench.run("histogram", &LaunchConfig::new(64, 256), &arguments, runs);
    (ms, weighted(&bench.read(&counts)) / runs as f64)
}

fn stencil(bench: &Bench) -> (f64, f64) {
    let side = 192u32;
    let count = side.pow(3) as usize;
    let (now, next) = (bench.upload(&randoms(count)), bench.upload(&vec![0f32; count]));
    let mut arguments = Arguments::new();
    arguments.push(&next.address()).push(&now.address()).push(&side);
    let config = LaunchConfig::new([side / 32, side / 8], [32, 8]);
    let ms = bench.run("stencil", &config, &arguments, 20);
    (ms, squares(&bench.read(&next)))
}

fn copy(bench: &Bench) -> (f64, f64) {
    let n = 1u32 << 22;
    let (from, to) = (bench.upload(&randoms(n as usize)), bench.upload(&vec![0f32; n as usize]));
    let mut arguments = Arguments::new();
    arguments.push(&to.address()).push(&from.address()).push(&n);
    let ms = bench.run("copy", &LaunchConfig::over(n as usize, 256), &arguments, 40);
    (ms, squares(&bench.read(&to)))
}
