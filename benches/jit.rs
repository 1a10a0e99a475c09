//! The CPU device against `gcc -O3 -fopenmp` on the same loops, in one run: `cargo bench --bench jit`.
//!
//! The kernels are in `kernels/`, compiled by NVRTC for `compute_80` with `-lineinfo`; their peers in
//! `peers/peers.c` and `peers/warps.h` compute the same. With names as arguments (`cargo bench --bench jit -- nbody
//! march`) only those run; with `recompiles` it loads and drops a module 10,000 times and says how the process grew.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark prints and may panic")]

#[path = "jit/cases.rs"]
mod cases;
#[path = "jit/peers.rs"]
mod peers;
#[path = "jit/program.rs"]
mod program;
#[path = "jit/warp_cases.rs"]
mod warp_cases;

use std::{cell::Cell, time::Instant};

use cases::CASES;
use program::Program;
use warpaint::device::{Arguments, Device, Function, LaunchConfig, Memory, Stream};

/// Kernels to time the translation of, with the goal in milliseconds.
const TRANSLATED: [(&str, f64); 6] = [
    ("saxpy", 10.0),
    ("nbody", 10.0),
    ("sgemm", 10.0),
    ("philox", 60.0),
    ("march", 60.0),
    ("large", 60.0),
];
/// Translations of each.
const ROUNDS: usize = 20;
const EMPTY_LAUNCH_GOAL_US: f64 = 5.0;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let bench = Bench::new();
    println!("{}", bench.device.info());
    if wanted.iter().any(|name| name == "recompiles") {
        return bench.recompiles(10_000);
    }
    if wanted.is_empty() {
        bench.translations();
        bench.empty_launches();
    }
    let peers = peers::run(&wanted);
    println!(
        "{:<12}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>7}",
        "kernel", "ours, ms", "gcc, ms", "gcc/ours", "ours busy", "gcc busy", "gcc/ours", "goal"
    );
    for case in CASES
        .iter()
        .chain(&warp_cases::CASES)
        .filter(|c| wanted.is_empty() || wanted.iter().any(|w| w == c.name))
    {
        let (ms, check) = (case.run)(&bench);
        let busy = bench.busy_ms.get();
        let Some(peer) = peers.get(case.name) else {
            println!("{:<12}{ms:>10.3}{:>10}{:>10}{busy:>10.3}", case.name, "skipped", "");
            continue;
        };
        let (gcc, gcc_busy, goal) = (peer.ms, peer.busy_ms, case.goal);
        println!(
            "{:<12}{ms:>10.3}{gcc:>10.3}{:>10.2}{busy:>10.3}{gcc_busy:>10.3}{:>10.2}{goal:>7.2}",
            case.name,
            gcc / ms,
            gcc_busy / busy
        );
        let off = (check - peer.check).abs() / peer.check.abs().max(1.0);
        if off > case.tolerance {
            println!("  results differ: {check} here, {} by gcc", peer.check);
        }
    }
    for (name, goal, round) in warp_cases::WAITS {
        if wanted.is_empty() || wanted.iter().any(|w| w == name) {
            let [ns, busy] = warp_cases::wait(&bench, name, round);
            println!("{name}: {ns:.2} ns each of a thread, {busy:.2} busy (goal {goal} ns)");
        }
    }
}

/// The least of some times in milliseconds.
fn best(runs: usize, mut work: impl FnMut()) -> f64 {
    let times = (0..runs).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e3
    });
    times.fold(f64::INFINITY, f64::min)
}

struct Bench {
    device: Device,
    stream: Stream,
    /// What the launches of the last kernel took of the processors, shared out among all cores: what a launch
    /// would take on a machine that does nothing else.
    busy_ms: Cell<f64>,
}

impl Bench {
    fn new() -> Self {
        let device = Device::cpu().unwrap();
        let stream = device.stream().unwrap();
        Self { device, stream, busy_ms: Cell::new(0.0) }
    }

    fn function(&self, name: &str) -> Function {
        self.function_of(name, name)
    }

    /// A kernel of a file.
    fn function_of(&self, file: &str, name: &str) -> Function {
        self.device.load(&Program::of(file).ptx).unwrap().function(name).unwrap()
    }

    #[expect(unsafe_code, reason = "the kernels stay within what they are given")]
    fn launch(&self, function: &Function, config: &LaunchConfig, arguments: &Arguments) {
        // SAFETY: the CPU device checks every access.
        unsafe { self.stream.launch(function, config, arguments) }.unwrap();
    }

    /// Best of `runs` launches in milliseconds.
    fn run(&self, name: &str, config: &LaunchConfig, arguments: &Arguments, runs: usize) -> f64 {
        self.run_of(name, name, config, arguments, runs)
    }

    /// As [`Bench::run`], of a kernel of a file.
    fn run_of(
        &self,
        file: &str,
        name: &str,
        config: &LaunchConfig,
        arguments: &Arguments,
        runs: usize,
    ) -> f64 {
        let function = self.function_of(file, name);
        let before = program::all_processors_ms();
        let ms = best(runs, || {
            self.launch(&function, config, arguments);
            self.stream.synchronize().unwrap();
        });
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let all = program::all_processors_ms() - before;
        self.busy_ms.set(all / (runs * cores) as f64);
        ms
    }

    fn upload<T: bytemuck::NoUninit>(&self, values: &[T]) -> Memory {
        let bytes = bytemuck::cast_slice(values);
        let memory = self.device.alloc(bytes.len()).unwrap();
        self.stream.upload(memory.slice(..).unwrap(), bytes).unwrap();
        memory
    }

    fn read<T: bytemuck::AnyBitPattern>(&self, memory: &Memory) -> Vec<T> {
        let bytes = self.stream.download(memory.slice(..).unwrap()).unwrap().wait().unwrap();
        bytes.chunks(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
    }

    /// Each kernel by itself, in time on the processor.
    fn translations(&self) {
        for (name, goal) in TRANSLATED {
            let program = Program::of(name);
            let start = Instant::now();
            let before = program::processor_ms(start);
            (0..ROUNDS).for_each(|_| drop(self.device.load(&program.ptx).unwrap()));
            let ms = (program::processor_ms(start) - before) / ROUNDS as f64;
            let instructions = program.instructions();
            println!("translate {name}, {instructions} instructions: {ms:.2} ms (goal {goal} ms)");
        }
    }

    fn empty_launches(&self) {
        let (empty, config, arguments) =
            (self.function("empty"), LaunchConfig::new(1, 1), Arguments::new());
        let waited = best(2000, || {
            self.launch(&empty, &config, &arguments);
            self.stream.synchronize().unwrap();
        });
        let many = best(5, || {
            (0..1000).for_each(|_| self.launch(&empty, &config, &arguments));
            self.stream.synchronize().unwrap();
        });
        let waited = waited * 1e3;
        println!(
            "empty launch and wait: {waited:.2} µs, {many:.2} µs each of 1000 (goal {EMPTY_LAUNCH_GOAL_US} µs)"
        );
    }

    /// Loads and drops `rounds` modules, each of another text, and launches each.
    fn recompiles(&self, rounds: usize) {
        let ptx = Program::of("saxpy").ptx;
        let memory = self.upload(&[0f32; 256]);
        let mut arguments = Arguments::new();
        arguments.push(&memory.address()).push(&memory.address()).push(&1f32).push(&256i32);
        for round in 0..=rounds {
            let module = self.device.load(&format!("{ptx}\n// {round}\n")).unwrap();
            let function = module.function("saxpy").unwrap();
            self.launch(&function, &LaunchConfig::new(1, 256), &arguments);
            self.stream.synchronize().unwrap();
            if round == rounds / 10 || round % (rounds / 4).max(1) == 0 {
                println!("{round:>6} recompiles: {} KiB resident", program::resident_kib());
            }
        }
    }
}
