//! The checker of the CPU device: what it finds in CUDA C++ with planted mistakes, and that it finds nothing in the
//! same kernels without them; and stepping one thread.

use crate::skip::{Need, skip};
use warpaint::{
    compile::{Cache, Compiler, Error as CompileError, Outcome, Request, Target},
    device::{
        Arguments, Device, Fill, Function, LaunchConfig,
        cpu::{Action, Check, Debugger, Finding, FindingKind, LaunchOptions, Report},
    },
};

use super::support::launch_with;

/// A kernel `k(unsigned *x, unsigned *y)` with two buffers of 4096 words.
struct Bench {
    device: Device,
    function: Function,
}

impl Bench {
    /// `None`, said aloud, where there is no NVRTC.
    fn new(source: &str) -> Option<Self> {
        let compiler = Compiler::new(Cache::disabled());
        let mut request = Request::new("checked.cu", source, Target::CPU);
        request.name_expressions = vec!["k".into()];
        let compiled = match compiler.compile(&request) {
            Ok(Outcome::Compiled(compiled)) => compiled,
            Ok(Outcome::Rejected { log, .. }) => panic!("rejected:\n{log}"),
            Err(CompileError::NvrtcNotFound { .. }) => {
                skip(Need::Nvrtc, "no NVRTC");
                return None;
            }
            Err(error) => panic!("{error}"),
        };
        let device = Device::cpu().unwrap();
        let module = device.load(&compiled.ptx).unwrap_or_else(|e| panic!("{e}\n{}", compiled.ptx));
        let function = module.function(&compiled.names["k"]).unwrap();
        Some(Self { device, function })
    }

    /// What the checker says of a launch; `x` holds zeros, `y` was never written.
    fn report(&self, grid: u32, block: u32) -> Report {
        let stream = self.device.stream().unwrap();
        let [x, y] = [(); 2].map(|()| self.device.alloc(4096 * 4).unwrap());
        stream.fill(x.slice(..).unwrap(), Fill::U32(0)).unwrap();
        let mut arguments = Arguments::new();
        arguments.push(&x.address()).push(&y.address());
        let check = Check::all();
        let config = LaunchConfig::new(grid, block);
        let options = LaunchOptions::checked(&check);
        launch_with(&stream, &self.function, &config, &arguments, &options).unwrap();
        stream.synchronize().unwrap();
        check.report()
    }
}

/// The lines of both sides, the smaller first.
fn lines(finding: &Finding) -> [u32; 2] {
    let line = |site: &warpaint::device::cpu::Site| site.location.as_ref().unwrap().line;
    let first = line(&finding.site);
    let second = finding.other.as_ref().map_or(first, line);
    [first.min(second), first.max(second)]
}

const REDUCTION: &str = "__global__ void k(unsigned *x, unsigned *y) {
    __shared__ unsigned sums[256];
    int t = threadIdx.x;
    sums[t] = x[blockIdx.x * 256 + t];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half)
            sums[t] += sums[t + half];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = sums[0];
}";

#[test]
fn a_right_reduction_has_no_findings() {
    let Some(bench) = Bench::new(REDUCTION) else { return };
    let report = bench.report(4, 256);
    assert_eq!(report.findings, [], "{}", report.findings[0]);
}

/// The argument lies in the caller's local memory, and the function reads it by its address.
#[test]
fn a_structure_by_value_is_written_where_a_function_reads_it() {
    let source = "struct Big { unsigned x[64]; };
struct Pair { unsigned x[2]; };
__device__ __noinline__ unsigned of_big(Big b, unsigned n) { return b.x[n & 63]; }
__device__ __noinline__ unsigned of_pair(Pair p, unsigned n) { return p.x[n & 1]; }
__global__ void k(unsigned *x, unsigned *y) {
    unsigned i = threadIdx.x;
    Big b;
    for (int j = 0; j < 64; j++) b.x[j] = j * i;
    Pair p = { i, x[i] };
    y[i] = of_big(b, i) + of_pair(p, i);
}";
    let Some(bench) = Bench::new(source) else { return };
    let report = bench.report(1, 64);
    assert_eq!(report.findings, [], "{}", report.findings[0]);
}

#[test]
fn a_reduction_without_its_barrier_races() {
    // The barrier in the loop, on line 9, becomes an empty line.
    let source =
        REDUCTION.replacen("sums[t + half];\n        __syncthreads();", "sums[t + half];\n", 1);
    let Some(bench) = Bench::new(&source) else { return };
    let report = bench.report(4, 256);
    assert!(!report.findings.is_empty());
    for finding in &report.findings {
        assert_eq!(finding.kind, FindingKind::Race, "{finding}");
        assert_eq!(finding.access.unwrap().0, "shared", "{finding}");
        assert!(matches!(lines(finding), [8, 8] | [8, 11]), "{finding}");
        let other = finding.other.as_ref().unwrap();
        assert_ne!(finding.site.thread, other.thread, "{finding}");
        assert_eq!(finding.site.block, other.block, "{finding}");
    }
    // A thread's sum is read by another on the same line.
    assert!(report.findings.iter().any(|finding| lines(finding) == [8, 8]));
}

#[test]
fn the_first_barrier_is_missed_too() {
    let source = REDUCTION.replacen("t];\n    __syncthreads();", "t];\n", 1);
    let Some(bench) = Bench::new(&source) else { return };
    let report = bench.report(1, 256);
    let sides: Vec<_> = report.findings.iter().map(lines).collect();
    assert!(sides.contains(&[4, 8]), "{sides:?}");
}

#[test]
fn a_warp_needs_no_barrier_but_a_syncwarp() {
    let source = "__global__ void k(unsigned *x, unsigned *y) {
    __shared__ unsigned s[32];
    s[threadIdx.x] = x[threadIdx.x];
    __syncwarp();
    y[threadIdx.x] = s[31 - threadIdx.x];
}";
    let Some(bench) = Bench::new(source) else { return };
    assert_eq!(bench.report(1, 32).findings, []);
    let without = source.replace("__syncwarp();", "");
    let Some(bench) = Bench::new(&without) else { return };
    let report = bench.report(1, 32);
    let race = report.findings.iter().find(|finding| finding.kind == FindingKind::Race).unwrap();
    assert_eq!(lines(race), [3, 5], "{race}");
}

#[test]
fn blocks_race_on_global_memory() {
    let source = "__global__ void k(unsigned *x, unsigned *y) {
    if (threadIdx.x == 0)
        x[0] = x[0] + 1;
    atomicAdd(x + 1, 1u);
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}";
    let Some(bench) = Bench::new(source) else { return };
    assert_eq!(bench.report(1, 64).findings, [], "a block alone has no other");
    let report = bench.report(2, 64);
    assert!(!report.findings.is_empty());
    for finding in &report.findings {
        assert_eq!((finding.kind, lines(finding)), (FindingKind::Race, [3, 3]), "{finding}");
        let other = finding.other.as_ref().unwrap();
        assert_eq!((other.block.x, finding.site.block.x), (0, 1), "{finding}");
    }
}

#[test]
fn atomics_race_with_plain_accesses() {
    let source = "__global__ void k(unsigned *x, unsigned *y) {
    __shared__ unsigned bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x % 16], 1u);

    if (threadIdx.x < 16) y[threadIdx.x] = bins[threadIdx.x];
}";
    let Some(bench) = Bench::new(source) else { return };
    let report = bench.report(1, 128);
    assert_eq!(report.findings.len(), 1);
    let finding = &report.findings[0];
    assert_eq!(lines(finding), [5, 7], "{finding}");
    assert!(
        [finding.site.action, finding.other.as_ref().unwrap().action].contains(&Action::Atomic)
    );
    let right = source.replace("\n\n", "\n    __syncthreads();\n");
    let Some(bench) = Bench::new(&right) else { return };
    assert_eq!(bench.report(1, 128).findings, []);
}

/// The last block adds up what all wrote: each writes, has a fence, and counts itself.
const LAST_BLOCK: &str = "__device__ unsigned done;
__global__ void k(unsigned *x, unsigned *y) {
    __shared__ bool last;
    x[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&done, 1u) == gridDim.x - 1;
    __syncthreads();
    if (last && threadIdx.x < gridDim.x) y[threadIdx.x] = x[threadIdx.x * blockDim.x];
}";

#[test]
fn fences_order_blocks() {
    let Some(bench) = Bench::new(LAST_BLOCK) else { return };
    let report = bench.report(4, 64);
    assert_eq!(report.findings, [], "{}", report.findings[0]);

    let without = LAST_BLOCK.replace("__threadfence();", "");
    let Some(bench) = Bench::new(&without) else { return };
    let report = bench.report(4, 64);
    let race = report.findings.iter().find(|finding| finding.kind == FindingKind::Race).unwrap();
    assert_eq!(lines(race), [4, 9], "{race}");
}

#[test]
fn a_flag_behind_a_fence_hands_data_on() {
    // One thread writes data and raises a flag; another waits for it.
    let source = "__global__ void k(unsigned *x, unsigned *y) {
    volatile unsigned *flag = x + 64;
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        x[0] = 7;
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0) {}
        __threadfence();
        y[0] = x[0];
    }
}";
    let Some(bench) = Bench::new(source) else { return };
    assert_eq!(bench.report(2, 32).findings, []);
    let broken = [
        source.replacen("__threadfence();", "", 1),
        // The reader's.
        source.replace("{}\n        __threadfence();", "{}\n"),
        // What is written behind the fence is not handed on.
        source.replace("*flag = 1;", "x[0] = 8; *flag = 1;"),
    ];
    for source in broken {
        let Some(bench) = Bench::new(&source) else { return };
        let report = bench.report(2, 32);
        let race = report.findings.iter().find(|finding| finding.kind == FindingKind::Race);
        assert!(race.is_some(), "{source}");
    }
}

#[test]
fn acquire_and_release_order_threads() {
    let source = "#include <cuda/atomic>
__global__ void k(unsigned *x, unsigned *y) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(x[64]);
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        x[0] = 7;
        flag.store(1, cuda::memory_order_release);
    } else {
        while (flag.load(cuda::memory_order_acquire) == 0) {}
        y[0] = x[0];
    }
}";
    let Some(bench) = Bench::new(source) else { return };
    assert_eq!(bench.report(2, 32).findings, []);
    let relaxed = source.replace("memory_order_release", "memory_order_relaxed");
    let Some(bench) = Bench::new(&relaxed) else { return };
    let report = bench.report(2, 32);
    assert_eq!(lines(&report.findings[0]), [6, 10], "{}", report.findings[0]);
}

#[test]
fn memory_that_nobody_has_written_is_named() {
    let source = "__global__ void k(unsigned *x, unsigned *y) {
    __shared__ unsigned s[64];
    if (threadIdx.x < 32) s[threadIdx.x] = 1;
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x];
    x[64] = y[7];
}";
    let Some(bench) = Bench::new(source) else { return };
    let report = bench.report(1, 64);
    let unwritten: Vec<_> =
        report.findings.iter().filter(|f| f.kind == FindingKind::Uninitialised).collect();
    let found: Vec<_> = unwritten.iter().map(|f| (f.access.unwrap().0, lines(f)[0])).collect();
    assert!(found.contains(&("shared", 5)), "{found:?}");
    assert!(found.contains(&("global", 6)), "{found:?}");
    let shared = unwritten.iter().find(|f| f.access.unwrap().0 == "shared").unwrap();
    assert_eq!(shared.site.thread.x, 32, "the first that reads what is not there");
    assert_eq!(shared.count, 32);
}

#[test]
fn local_arrays_are_watched_too() {
    let source = "__global__ void k(unsigned *x, unsigned *y) {
    unsigned a[64];
    for (unsigned i = 0; i < x[0] + 8; i++) a[(i * 7) % 64] = i;
    y[0] = a[x[1] + 1];
}";
    let Some(bench) = Bench::new(source) else { return };
    let report = bench.report(1, 1);
    assert_eq!(report.findings.len(), 1, "{:?}", report.findings);
    let finding = &report.findings[0];
    assert_eq!((finding.access.unwrap().0, lines(finding)[0]), ("local", 4));
}

#[test]
fn what_copies_and_earlier_checked_launches_wrote_is_written() {
    let source = "__global__ void k(unsigned *x, unsigned *y) {
    if (x[0] == 0) { x[0] = 1; y[5] = 3; }
    else x[1] = y[5];
}";
    let Some(bench) = Bench::new(source) else { return };
    let stream = bench.device.stream().unwrap();
    let [x, y] = [(); 2].map(|()| bench.device.alloc(64).unwrap());
    let mut arguments = Arguments::new();
    arguments.push(&x.address()).push(&y.address());
    stream.fill(x.slice(..).unwrap(), Fill::U32(0)).unwrap();
    let check = Check::all();
    let options = LaunchOptions::checked(&check);
    for _ in 0..2 {
        launch_with(&stream, &bench.function, &LaunchConfig::new(1, 1), &arguments, &options)
            .unwrap();
    }
    stream.synchronize().unwrap();
    assert_eq!(check.report().findings, []);
}

#[test]
fn divisions_by_zero_are_named() {
    let source = "__global__ void k(unsigned *x, unsigned *y) {
    unsigned t = threadIdx.x;
    y[t] = 100 / x[t];
    x[t] = 100 % (t + 1);
}";
    let Some(bench) = Bench::new(source) else { return };
    let report = bench.report(1, 32);
    assert_eq!(report.findings.len(), 1, "{:?}", report.findings);
    let finding = &report.findings[0];
    assert_eq!((finding.kind, lines(finding)[0]), (FindingKind::DivisionByZero, 3));
    assert_eq!((finding.count, finding.site.thread.x), (32, 0));
}

#[test]
fn lines_are_counted() {
    let source = "__global__ void k(unsigned *x, unsigned *y) {
    unsigned n = threadIdx.x;
    #pragma unroll 1
    for (unsigned i = 0; i < n; i++)
        atomicAdd(x + (i & 63), i);
    if (n == 3)
        y[0] = 1;
}";
    let Some(bench) = Bench::new(source) else { return };
    let report = bench.report(2, 10);
    let count = |line| report.lines.get(&("checked.cu".to_owned(), line)).copied();
    assert_eq!(count(5), Some(2 * (0..10).sum::<u64>()));
    assert_eq!(count(7), Some(2));
    assert!(count(6) >= Some(20));
}

#[test]
fn findings_are_capped_and_counted_once_a_pair_of_lines() {
    let Some(bench) = Bench::new(
        "__global__ void k(unsigned *x, unsigned *y) {
    x[0] = threadIdx.x;
    x[1] = threadIdx.x;
    x[2] = threadIdx.x;
}",
    ) else {
        return;
    };
    let stream = bench.device.stream().unwrap();
    let x = bench.device.alloc(64).unwrap();
    let mut arguments = Arguments::new();
    arguments.push(&x.address()).push(&x.address());
    let mut check = Check::all();
    check.limit = 2;
    let options = LaunchOptions::checked(&check);
    for _ in 0..2 {
        launch_with(&stream, &bench.function, &LaunchConfig::new(1, 8), &arguments, &options)
            .unwrap();
        stream.synchronize().unwrap();
    }
    let report = check.report();
    assert_eq!(report.findings.len(), 2);
    assert_eq!(report.findings[0].count, 14, "seven times in each launch");
    assert!(report.dropped > 0);
    assert!(report.findings[0].to_string().contains("checked.cu:2"), "{}", report.findings[0]);
}

#[test]
fn one_thread_is_stepped_line_by_line() {
    let source = "__device__ __noinline__ unsigned twice(unsigned v) {
    return v * 2;
}
__global__ void k(unsigned *x, unsigned *y) {
    __shared__ unsigned s[64];
    s[threadIdx.x] = blockIdx.x * 100 + threadIdx.x;
    __syncthreads();
    unsigned other = s[63 - threadIdx.x];
    y[threadIdx.x] = twice(other);
}";
    let Some(bench) = Bench::new(source) else { return };
    let y = bench.device.alloc(4096).unwrap();
    let mut arguments = Arguments::new();
    arguments.push(&y.address()).push(&y.address());
    let config = LaunchConfig::new(3, 64);
    let Function::Cpu(function) = &bench.function else { panic!("a CPU device") };
    let mut debugger = Debugger::start(function, &config, &arguments).unwrap();
    debugger.select([2, 0, 0], [10, 0, 0]).unwrap();
    let mut seen = Vec::new();
    let mut depth = 0;
    loop {
        if let Some(at) = debugger.position() {
            depth = depth.max(at.depth);
            seen.extend(at.location.map(|location| location.line));
        }
        if !debugger.step_line().unwrap() {
            break;
        }
    }
    assert!(seen.windows(2).all(|pair| pair[0] != pair[1]), "{seen:?}");
    assert!(seen.starts_with(&[4]) || seen.starts_with(&[6]), "{seen:?}");
    for line in [6, 7, 8, 9, 2] {
        assert!(seen.contains(&line), "line {line}: {seen:?}");
    }
    assert_eq!(depth, 1);
    // Its partner has written, since it waited for it.
    assert_eq!(debugger.shared_memory()[53 * 4..][..4], 253u32.to_le_bytes());
    assert_eq!(debugger.read(y.address() + 40, 4).unwrap(), 506u32.to_le_bytes());
    debugger.finish().unwrap();
    assert_eq!(debugger.read(y.address() + 44, 4).unwrap(), 504u32.to_le_bytes());
    assert!(debugger.select([0, 0, 0], [0, 0, 0]).is_err(), "it has ended");
}

/// Eight rows of a tile, one of each of the first threads, of which all threads have a part.
const TILE: &str = "__global__ void k(unsigned *x, unsigned *y) {
    __shared__ __align__(16) unsigned tile[64];
    int t = threadIdx.x;
    tile[t] = t;
    __syncwarp();
    unsigned to = 0, from = (unsigned)__cvta_generic_to_shared(tile + t % 8 * 4);
    asm volatile(\"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];\" : \"=r\"(to) : \"r\"(from));
    tile[t] = to;
    y[t] = to;
}";

#[test]
fn a_matrix_is_read_by_the_threads_that_give_its_rows() {
    let Some(bench) = Bench::new(TILE) else { return };
    let report = bench.report(1, 32);
    assert_eq!(report.findings, [], "{}", report.findings[0]);

    let Some(bench) = Bench::new(&TILE.replace("__syncwarp();", "")) else { return };
    let report = bench.report(1, 32);
    let race = report.findings.iter().find(|finding| finding.kind == FindingKind::Race).unwrap();
    assert_eq!(lines(race), [4, 7], "{race}");

    let Some(bench) = Bench::new(&TILE.replace("tile + t % 8 * 4", "tile + t % 8 * 8")) else {
        return;
    };
    let report = bench.report(1, 32);
    let unwritten = report.findings.iter().find(|f| f.kind == FindingKind::Uninitialised).unwrap();
    assert_eq!((lines(unwritten)[0], unwritten.site.thread.x), (7, 4), "{unwritten}");
}
