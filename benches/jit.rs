//! The CPU device against `gcc -O3 -fopenmp` on the same loops, in one run: `cargo bench --bench jit`.
//!
//! `nbody.ptx` is `nbody.cu` as NVRTC 13.5 compiles it for `compute_80` with `-lineinfo`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark prints and may panic")]

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use warpaint::device::{Arguments, Device, Function, LaunchConfig, Memory, Stream};

const PTX: &str = include_str!("nbody.ptx");

fn main() {
    let device = Device::cpu().unwrap();
    println!("{}", device.info());
    compile_times(&device);
    let bench = Bench::new(device);
    bench.empty_launches();
    let peers = gcc();
    println!("{:<12} {:>10} {:>10} {:>8}", "kernel", "ours (ms)", "gcc (ms)", "gcc/ours");
    for (name, ms, check) in [bench.nbody(), bench.saxpy(), bench.sum(), bench.mandelbrot()] {
        match peers.get(name) {
            Some((gcc_ms, gcc_check)) => {
                println!("{name:<12} {ms:>10.3} {gcc_ms:>10.3} {:>8.2}", gcc_ms / ms);
                let off = (check - gcc_check).abs() / gcc_check.abs().max(1.0);
                if off > 1e-3 {
                    println!("  results differ: {check} here, {gcc_check} by gcc");
                }
            }
            None => println!("{name:<12} {ms:>10.3} {:>10} {:>8}", "skipped", ""),
        }
    }
}

/// Each kernel by itself, best of ten.
fn compile_times(device: &Device) {
    let whole = best(10, || drop(device.load(PTX).unwrap()));
    println!("compile all {} lines of PTX: {whole:.2} ms", PTX.lines().count());
    let head = PTX.find("\t// .globl").unwrap();
    let pieces: Vec<&str> = PTX.split("\t// .globl").collect();
    let tail = PTX.find("\t.file").unwrap_or(PTX.len());
    for piece in &pieces[1..] {
        let body = piece.split("\t.file").next().unwrap();
        let text = format!("{}// {body}\n{}", &PTX[..head], &PTX[tail..]);
        let name = piece.split_whitespace().next().unwrap();
        match device.load(&text) {
            Ok(_) => {
                let ms = best(10, || drop(device.load(&text).unwrap()));
                println!("compile {name}, {} lines: {ms:.2} ms", body.lines().count());
            }
            Err(error) => println!("compile {name}: {error}"),
        }
    }
}

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
    functions: HashMap<&'static str, Function>,
}

impl Bench {
    fn new(device: Device) -> Self {
        let module = device.load(PTX).unwrap();
        let mangled = [
            ("nbody", "_Z5nbodyPK6float4PS_i"),
            ("empty", "_Z5emptyv"),
            ("saxpy", "_Z5saxpyPfPKffi"),
            ("mandelbrot", "_Z10mandelbrotPiii"),
            ("sum", "_Z3sumPKfPfi"),
        ];
        let functions =
            mangled.into_iter().map(|(name, m)| (name, module.function(m).unwrap())).collect();
        let stream = device.stream().unwrap();
        Self { device, stream, functions }
    }

    #[expect(unsafe_code, reason = "the kernels stay within what they are given")]
    fn launch(&self, name: &str, config: &LaunchConfig, arguments: &Arguments) {
        // SAFETY: the CPU device checks every access.
        unsafe { self.stream.launch(&self.functions[name], config, arguments) }.unwrap();
    }

    fn run(&self, name: &str, config: &LaunchConfig, arguments: &Arguments, runs: usize) -> f64 {
        best(runs, || {
            self.launch(name, config, arguments);
            self.stream.synchronize().unwrap();
        })
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

    fn empty_launches(&self) {
        let config = LaunchConfig::new(1, 1);
        let arguments = Arguments::new();
        let waited = self.run("empty", &config, &arguments, 2000);
        let many = best(5, || {
            (0..1000).for_each(|_| self.launch("empty", &config, &arguments));
            self.stream.synchronize().unwrap();
        });
        println!("empty launch and wait: {:.2} µs; {many:.2} µs each of 1000", waited * 1e3);
    }

    fn nbody(&self) -> (&'static str, f64, f64) {
        let n = 8192u32;
        let mut state = 1u32;
        let mut random = || {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            (state >> 8) as f32 / 16777216.0
        };
        let bodies: Vec<f32> = (0..4 * n).map(|_| random()).collect();
        let (bodies, out) = (self.upload(&bodies), self.upload(&vec![0f32; 4 * n as usize]));
        let mut arguments = Arguments::new();
        arguments.push(&bodies.address()).push(&out.address()).push(&n);
        let ms = self.run("nbody", &LaunchConfig::new(n / 256, 256), &arguments, 5);
        let check = self.read::<f32>(&out).chunks(4).map(|a| f64::from(a[0])).sum();
        ("nbody", ms, check)
    }

    fn saxpy(&self) -> (&'static str, f64, f64) {
        let n = 1u32 << 22;
        let (x, y) = (self.upload(&vec![1f32; n as usize]), self.upload(&vec![0.5f32; n as usize]));
        let mut arguments = Arguments::new();
        arguments.push(&y.address()).push(&x.address()).push(&1e-3f32).push(&n);
        let ms = self.run("saxpy", &LaunchConfig::over(n as usize, 256), &arguments, 9);
        ("saxpy", ms, f64::from(self.read::<f32>(&y)[0]))
    }

    fn sum(&self) -> (&'static str, f64, f64) {
        let n = 1u32 << 22;
        let (x, total) = (self.upload(&vec![1f32; n as usize]), self.upload(&[0f32]));
        let mut arguments = Arguments::new();
        arguments.push(&x.address()).push(&total.address()).push(&n);
        let config = LaunchConfig::new(64, 256);
        let ms = self.run("sum", &config, &arguments, 9);
        ("sum", ms, f64::from(self.read::<f32>(&total)[0]) / 9.0)
    }

    fn mandelbrot(&self) -> (&'static str, f64, f64) {
        let width = 512u32;
        let steps = self.upload(&vec![0i32; (width * width) as usize]);
        let mut arguments = Arguments::new();
        arguments.push(&steps.address()).push(&width).push(&1000i32);
        let config = LaunchConfig::new([width / 16, width / 16], [16, 16]);
        let ms = self.run("mandelbrot", &config, &arguments, 5);
        ("mandelbrot", ms, self.read::<i32>(&steps).into_iter().map(f64::from).sum())
    }
}

/// Times and checksums of the peers by name; none without gcc.
fn gcc() -> HashMap<String, (f64, f64)> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/nbody.c");
    let folder = tempfile::tempdir().unwrap();
    let program: PathBuf = folder.path().join("peers");
    let built = Command::new("gcc")
        .args(["-O3", "-fopenmp", "-o"])
        .arg(&program)
        .arg(source)
        .arg("-lm")
        .status();
    if !built.is_ok_and(|status| status.success()) {
        println!("skipped: no gcc to compare with");
        return HashMap::new();
    }
    let output = Command::new(program).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            (words[0].to_owned(), (words[1].parse().unwrap(), words[2].parse().unwrap()))
        })
        .collect()
}
