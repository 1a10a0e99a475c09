//! What a compilation costs: anew, answered from memory, from the disk, and with headers that take NVRTC long.
//!
//! `cargo bench --bench compile`; needs NVRTC, and CUDA's headers for the last part.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::time::{Duration, Instant};

use warpaint::compile::{Cache, Compiler, Outcome, Request, Target};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const PLAIN: &str = "__global__ void scale(float *x, int n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= by;
}
";

const GROUPS: &str = "#include <cooperative_groups.h>
__global__ void sum(int *x) {
    cooperative_groups::this_thread_block().sync();
    x[threadIdx.x] += x[threadIdx.x ^ 1];
}
";

const CUB: &str = "#include <cub/block/block_reduce.cuh>
__global__ void sum(int *x) {
    using Reduce = cub::BlockReduce<int, 128>;
    __shared__ typename Reduce::TempStorage memory;
    int total = Reduce(memory).Sum(x[threadIdx.x]);
    if (threadIdx.x == 0) x[0] = total;
}
";

fn request(source: &str) -> Request {
    let mut request = Request::new("bench.cu", source, Target::CPU);
    let kernel = if source.contains("scale(") { "scale" } else { "sum" };
    request.name_expressions = vec![kernel.to_owned()];
    request
}

fn compile(compiler: &Compiler, request: &Request) -> Result<bool> {
    match compiler.compile(request)? {
        Outcome::Compiled(compiled) => Ok(compiled.cached),
        Outcome::Rejected { log, .. } => Err(log.into()),
    }
}

/// The median time of one call of `run`, of `rounds` times `calls` calls.
fn median(rounds: usize, calls: u32, mut run: impl FnMut() -> Result<bool>) -> Result<Duration> {
    let mut times = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        for _ in 0..calls {
            if !run()? {
                return Err("not answered by the cache".into());
            }
        }
        times.push(start.elapsed() / calls);
    }
    times.sort();
    Ok(times[rounds / 2])
}

fn main() -> Result<()> {
    let rounds = if std::env::args().any(|argument| argument == "--bench") { 31 } else { 1 };
    let temp = tempfile::tempdir()?;
    let compiler = Compiler::new(Cache::open(temp.path()));
    let start = Instant::now();
    match compiler.nvrtc() {
        Ok(nvrtc) => println!("NVRTC {}.{}", nvrtc.version.0, nvrtc.version.1),
        Err(error) => {
            println!("SKIPPED: {error}");
            return Ok(());
        }
    }
    println!("loading it                      {:>10.2?}", start.elapsed());
    let plain = request(PLAIN);
    let start = Instant::now();
    compile(&compiler, &plain)?;
    println!("first compilation               {:>10.2?}", start.elapsed());
    let mut anew = Vec::new();
    for edit in 0..rounds {
        let edited = request(&format!("{PLAIN}__device__ int edit() {{ return {edit}; }}\n"));
        let start = Instant::now();
        compile(&compiler, &edited)?;
        anew.push(start.elapsed());
    }
    anew.sort();
    println!("a compilation                   {:>10.2?}", anew[rounds / 2]);
    let memory = median(rounds, 1000, || compile(&compiler, &plain))?;
    println!("from memory                     {memory:>10.2?}");
    // Such a comment counts too: what is looked for is more than the compiler reads, never less.
    let including = request(&format!("/* #include <nowhere.h> */\n{PLAIN}"));
    compile(&compiler, &including)?;
    let files = median(rounds, 100, || compile(&compiler, &including))?;
    println!("from memory, files looked for   {files:>10.2?}");
    let mut disk = Vec::new();
    for _ in 0..rounds {
        let other = Compiler::new(Cache::open(temp.path()));
        other.nvrtc()?;
        disk.push(median(1, 1, || compile(&other, &plain))?);
    }
    disk.sort();
    println!("from the disk                   {:>10.2?}", disk[rounds / 2]);
    for (name, source) in [("cooperative_groups.h", GROUPS), ("cub/block_reduce.cuh", CUB)] {
        let mut times = Vec::new();
        for edit in 0..4 {
            let edited = request(&format!("{source}__device__ int edit() {{ return {edit}; }}\n"));
            let start = Instant::now();
            if let Err(error) = compile(&compiler, &edited) {
                println!("SKIPPED: {name}: {error}");
                break;
            }
            times.push(format!("{:.0} ms", start.elapsed().as_secs_f64() * 1e3));
        }
        println!("edits with {name:<20} {}", times.join(", "));
    }
    Ok(())
}
