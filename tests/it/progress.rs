//! Threads that wait for each other in loops: locks, flags, grid barriers. CUDA C++ compiled by NVRTC, on the CPU
//! device; what also holds on an NVIDIA GPU runs there, too.

use crate::skip::{Need, skip};
use std::{
    thread,
    time::{Duration, Instant},
};

use warpaint::{
    compile::{Cache, Compiler, Error as CompileError, Outcome, Request, Target},
    device::{
        Arguments, Device, Error, FaultKind, Fill, Function, LaunchConfig, Memory, Stream,
        cpu::LaunchOptions,
    },
};

use crate::support::devices;

/// A kernel and memory for it on a device.
pub struct Bench {
    pub device: Device,
    pub stream: Stream,
    pub function: Function,
    pub memory: Memory,
}

/// PTX of `source`, or `None`, said aloud, where there is no NVRTC.
fn compile(source: &str, target: Target, options: &[&str]) -> Option<(String, String)> {
    let compiler = Compiler::new(Cache::disabled());
    let mut request = Request::new("progress.cu", source, target);
    request.options = options.iter().map(|option| (*option).to_owned()).collect();
    request.name_expressions = vec!["k".into()];
    match compiler.compile(&request) {
        Ok(Outcome::Compiled(c)) => Some((c.ptx.to_string(), c.names["k"].clone())),
        Ok(Outcome::Rejected { log, .. }) => panic!("rejected:\n{log}"),
        Err(CompileError::NvrtcNotFound { .. }) => {
            skip(Need::Nvrtc, "no NVRTC");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

impl Bench {
    pub fn on(device: Device, source: &str, options: &[&str]) -> Option<Self> {
        let (major, minor) = device.info().compute_capability;
        let target = match device.as_nvidia() {
            Some(_) => Target::of_device(major, minor),
            None => Target::CPU,
        };
        let (ptx, name) = compile(source, target, options)?;
        let module = device.load(&ptx).unwrap_or_else(|e| panic!("{e}"));
        let function = module.function(&name).unwrap();
        let stream = device.stream().unwrap();
        let memory = device.alloc(1 << 20).unwrap();
        stream.fill(memory.slice(..).unwrap(), Fill::U32(0)).unwrap();
        Some(Self { device, stream, function, memory })
    }

    /// `k(unsigned *x)` of `source` on the CPU device.
    pub fn new(source: &str) -> Option<Self> {
        Self::on(Device::cpu().unwrap(), source, &[])
    }

    pub fn arguments(&self) -> Arguments {
        let mut arguments = Arguments::new();
        arguments.push(&self.memory.address());
        arguments
    }

    pub fn start(&self, config: LaunchConfig) {
        let arguments = self.arguments();
        super::support::launch(&self.stream, &self.function, &config, &arguments).unwrap();
    }

    /// Runs it, stopped after a while where it hangs; the first words of its memory.
    pub fn run(&self, config: LaunchConfig) -> Vec<u32> {
        self.start(config);
        let watched = self.device.as_nvidia().is_none();
        let event = self.device.event().unwrap();
        self.stream.record(&event).unwrap();
        let begin = Instant::now();
        while watched && !event.is_reached().unwrap() {
            // A hang, and no machine that is busy.
            if begin.elapsed() > Duration::from_secs(240) {
                self.stream.cancel().unwrap();
                break;
            }
            thread::sleep(Duration::from_micros(200));
        }
        self.stream.synchronize().unwrap_or_else(|e| panic!("{e}"));
        self.words()
    }

    /// Starts it, cancels it, and says how long that took.
    fn cancelled(&self, config: LaunchConfig) -> Duration {
        self.start(config);
        thread::sleep(Duration::from_millis(30));
        let begin = Instant::now();
        self.stream.cancel().unwrap();
        match self.stream.synchronize() {
            Err(Error::Fault(fault)) => assert_eq!(fault.kind, FaultKind::Cancelled),
            other => panic!("{other:?}"),
        }
        begin.elapsed()
    }

    pub fn words(&self) -> Vec<u32> {
        let bytes = self.stream.download(self.memory.slice(..).unwrap()).unwrap().wait().unwrap();
        bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
    }
}

fn cooperative(grid: u32, block: u32) -> LaunchConfig {
    LaunchConfig { cooperative: true, ..LaunchConfig::new(grid, block) }
}

/// Runs `check` on the CPU device and, where there is one, on a GPU.
fn on_both(source: &str, options: &[&str], check: impl Fn(&Bench)) {
    for device in devices() {
        Bench::on(device, source, options).iter().for_each(&check);
    }
}

#[test]
fn lanes_take_a_lock_one_after_the_other() {
    // The first thread that gets the lock must have its turn again to give it back, though all others spin.
    let source = r"
__global__ void k(unsigned *x) {
    while (atomicCAS(x, 0u, 1u) != 0u);
    volatile unsigned *count = x + 1;
    unsigned seen = *count;
    for (int i = 0; i < 3; i++) __nanosleep(10);
    *count = seen + 1;
    __threadfence();
    atomicExch(x, 0u);
}";
    on_both(source, &[], |bench| {
        for (grid, block) in [(1, 32), (1, 1024), (64, 96)] {
            bench.stream.fill(bench.memory.slice(..).unwrap(), Fill::U32(0)).unwrap();
            assert_eq!(bench.run(LaunchConfig::new(grid, block))[..2], [0, grid * block]);
        }
    });
}

#[test]
fn a_lock_that_is_held_for_long_is_waited_for() {
    // The holder lets others run in the middle, so that the others meet a lock that is taken.
    let source = r"
__global__ void k(unsigned *x) {
    bool done = false;
    while (!done) {
        if (atomicCAS(x, 0u, 1u) == 0u) {
            volatile unsigned *count = x + 1;
            unsigned seen = *count;
            for (int i = 0; i < 3000; i++) atomicAdd(x + 2, 1u);
            *count = seen + 1;
            __threadfence();
            atomicExch(x, 0u);
            done = true;
        }
    }
}";
    on_both(source, &[], |bench| {
        let found = bench.run(LaunchConfig::new(2, 64));
        assert_eq!(found[..3], [0, 128, 128 * 3000]);
    });
}

#[test]
fn a_thread_waits_for_a_later_one_of_its_block() {
    let source = r"
__global__ void k(unsigned *x) {
    __shared__ volatile unsigned flag[256];
    int t = threadIdx.x, n = blockDim.x;
    flag[t] = 0;
    __syncthreads();
    if (t + 1 < n) while (flag[t + 1] == 0u);
    x[blockIdx.x * n + t] = t + 1 < n ? flag[t + 1] + 1 : 1;
    flag[t] = t + 1 < n ? flag[t + 1] + 1 : 1;
}";
    on_both(source, &[], |bench| {
        let found = bench.run(LaunchConfig::new(3, 256));
        for block in 0..3 {
            let due: Vec<u32> = (0..256).map(|t| 256 - t).collect();
            assert_eq!(found[block * 256..][..256], due);
        }
    });
}

#[test]
fn warps_hand_over_work_by_flags() {
    // Warp 0 consumes what warp 1 produces, through a slot that is full or empty; then the other way round.
    let source = r"
__global__ void k(unsigned *x) {
    __shared__ volatile unsigned full, value;
    if (threadIdx.x == 0) full = 0;
    __syncthreads();
    int me = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int producer = 1; producer >= 0; producer--) {
        if (lane == 0 && me == producer)
            for (unsigned i = 1; i <= 1000; i++) {
                while (full) __nanosleep(20);
                value = i;
                __threadfence_block();
                full = 1;
            }
        if (lane == 0 && me != producer) {
            unsigned sum = 0;
            for (unsigned i = 1; i <= 1000; i++) {
                while (!full) __nanosleep(20);
                __threadfence_block();
                sum += value * i;
                full = 0;
            }
            x[me] = sum;
        }
        __syncthreads();
    }
}";
    let sum: u32 = (1..=1000u32).map(|i| i * i).sum();
    on_both(source, &[], |bench| {
        let begin = Instant::now();
        assert_eq!(bench.run(LaunchConfig::new(1, 64))[..2], [sum, sum]);
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    });
}

#[test]
fn the_grid_barrier_of_cooperative_groups_works() {
    let source = r"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(unsigned *x) {
    cg::grid_group grid = cg::this_grid();
    unsigned n = grid.size(), i = grid.thread_rank();
    unsigned *from = x, *to = x + n;
    from[i] = i;
    for (int round = 0; round < 5; round++) {
        grid.sync();
        to[i] = from[(i + blockDim.x) % n] + 1;
        grid.sync();
        unsigned *swap = from; from = to; to = swap;
    }
}";
    on_both(source, &[], |bench| {
        for (grid, block) in [(1, 64), (7, 96), (64, 33)] {
            let n = grid * block;
            let found = bench.run(cooperative(grid, block));
            let due: Vec<u32> = (0..n).map(|i| (i + 5 * block) % n + 5).collect();
            assert_eq!(found[n as usize..][..n as usize], due, "{grid} blocks");
        }
    });
}

#[test]
fn cooperative_grids_fit_the_device() {
    let source = "__global__ void k(unsigned *x) { atomicAdd(x, 1u); }";
    on_both(source, &[], |bench| {
        let most = bench.function.max_cooperative_blocks(&LaunchConfig::new(1, 256)).unwrap();
        assert!(most > 0);
        let config = cooperative(u32::try_from(most + 1).unwrap().min(i32::MAX as u32), 256);
        if u64::from(config.grid.x) > most {
            #[expect(unsafe_code, reason = "it is refused")]
            // SAFETY: it is refused.
            let refused =
                unsafe { bench.stream.launch(&bench.function, &config, &bench.arguments()) };
            match refused {
                Err(Error::InvalidLaunch { limit, allowed, .. }) => {
                    assert!(limit.contains("cooperative"), "{limit}");
                    assert_eq!(allowed, most);
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(bench.run(cooperative(4, 256))[0], 1024);
    });
}

#[test]
fn a_grid_barrier_made_by_hand_works_in_an_ordinary_launch() {
    // Not promised by CUDA, but met with: few blocks that wait for each other without a cooperative launch.
    let source = r"
__device__ void meet(unsigned *count, unsigned due) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1u);
        while (atomicAdd(count, 0u) < due);
    }
    __syncthreads();
}
__global__ void k(unsigned *x) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    unsigned *a = x + 64;
    a[i] = i;
    meet(x, gridDim.x);
    x[64 + n + i] = a[n - 1 - i];
    meet(x, 2 * gridDim.x);
}";
    on_both(source, &[], |bench| {
        let found = bench.run(LaunchConfig::new(24, 64));
        let due: Vec<u32> = (0..24 * 64).rev().collect();
        assert_eq!(found[64 + 24 * 64..][..24 * 64], due);
    });
}

#[test]
fn blocks_look_back_at_those_before_them() {
    // A scan in one pass: each block waits for the sum of all blocks before it (Merrill, Garland 2016).
    let source = r"
__global__ void k(unsigned *x) {
    __shared__ unsigned part[128], before, me;
    unsigned *ticket = x, *in = x + 1024;
    volatile unsigned *state = x + 1;      // 0 nothing, 1 own sum, 2 all sums
    volatile unsigned *own = x + 300, *all = x + 600;
    if (threadIdx.x == 0) me = atomicAdd(ticket, 1u);
    __syncthreads();
    unsigned b = me, t = threadIdx.x, i = b * 128 + t;
    part[t] = in[i];
    __syncthreads();
    for (unsigned d = 1; d < 128; d *= 2) {
        unsigned v = t >= d ? part[t - d] : 0;
        __syncthreads();
        part[t] += v;
        __syncthreads();
    }
    if (t == 0) {
        own[b] = part[127];
        __threadfence();
        state[b] = 1;
        unsigned sum = 0;
        for (int at = (int)b - 1; at >= 0; at--) {
            unsigned s;
            while ((s = state[at]) == 0);
            __threadfence();
            if (s == 2) { sum += all[at]; break; }
            sum += own[at];
        }
        all[b] = sum + part[127];
        __threadfence();
        state[b] = 2;
        before = sum;
    }
    __syncthreads();
    in[i] = before + part[t];
}";
    on_both(source, &[], |bench| {
        let ones: Vec<u8> = (0..256 * 128).flat_map(|i: u32| (i % 7).to_le_bytes()).collect();
        let place = bench.memory.slice(4096..4096 + ones.len()).unwrap();
        bench.stream.upload(place, &ones).unwrap();
        let found = bench.run(LaunchConfig::new(256, 128));
        let due: Vec<u32> = (0..256 * 128u32)
            .scan(0, |sum, i| {
                *sum += i % 7;
                Some(*sum)
            })
            .collect();
        assert!(found[1024..][..256 * 128] == due);
    });
}

#[test]
fn the_last_block_finishes_the_sum() {
    let source = r"
__global__ void k(unsigned *x) {
    __shared__ bool last;
    unsigned t = threadIdx.x;
    unsigned *part = x + 16;
    unsigned sum = __reduce_add_sync(0xffffffffu, blockIdx.x * 32 + t);
    if (t == 0) {
        part[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(x, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    unsigned all = 0;
    for (unsigned i = t; i < gridDim.x; i += 32) all += ((volatile unsigned *)part)[i];
    all = __reduce_add_sync(0xffffffffu, all);
    if (t == 0) x[1] = all;
}";
    on_both(source, &[], |bench| {
        let sum = (0..300 * 32u32).sum::<u32>();
        assert_eq!(bench.run(LaunchConfig::new(300, 32))[..2], [0, sum]);
    });
}

#[test]
fn deterministic_launches_add_in_the_order_of_the_blocks() {
    let source = r"
__global__ void k(unsigned *x) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned j = 0; j < 4; j++)
        atomicAdd((float *)x + (i + j) % 7, 1.0f / (float)(i + 1));
}";
    let Some(bench) = Bench::new(source) else { return };
    let (Stream::Cpu(stream), Function::Cpu(function)) = (&bench.stream, &bench.function) else {
        panic!("the CPU device")
    };
    let mut due = [0.0f32; 7];
    for i in 0..300 * 64u32 {
        for j in 0..4 {
            due[((i + j) % 7) as usize] += 1.0 / (i + 1) as f32;
        }
    }
    let options = LaunchOptions { deterministic: true, ..LaunchOptions::default() };
    for round in 0..6 {
        bench.stream.fill(bench.memory.slice(..).unwrap(), Fill::U32(0)).unwrap();
        let (config, arguments) = (LaunchConfig::new(300, 64), bench.arguments());
        // Of this launch, or of all launches of the device.
        if round < 3 {
            stream.launch_with(function, &config, &arguments, &options).unwrap();
        } else {
            stream.device().set_launch_options(options.clone());
            stream.launch(function, &config, &arguments).unwrap();
        }
        bench.stream.synchronize().unwrap();
        assert_eq!(bench.words()[..7], due.map(f32::to_bits));
    }
}

#[test]
fn a_spinning_kernel_is_cancelled() {
    for source in [
        "__global__ void k(unsigned *x) { while (atomicAdd(x, 0u) == 0u); }",
        "__global__ void k(volatile unsigned *x) { while (*x == 0u) __nanosleep(100); }",
        "__global__ void k(unsigned *x) { while (atomicAdd(x, 1u) < ~0u) x[1 + blockIdx.x] += 1; }",
    ] {
        let Some(bench) = Bench::new(source) else { return };
        for config in [LaunchConfig::new(1, 1), LaunchConfig::new(64, 128), cooperative(8, 64)] {
            // The best of some, since the host has other work, too, which is done before that of device threads.
            let late = (0..30).map(|_| bench.cancelled(config)).find(|late| late.as_millis() < 50);
            assert!(late.is_some(), "{config}: {source}");
        }
    }
}

#[test]
fn functions_that_were_not_inlined_may_wait() {
    let source = r"
struct Big { float v[5]; int n; };
__device__ __noinline__ Big meet(Big b, int *s, float f) {
    s[threadIdx.x] = b.n + (int)f;
    __syncthreads();
    b.v[b.n & 3] += s[(threadIdx.x + 1) % blockDim.x];
    __syncthreads();
    b.n = __shfl_xor_sync(~0u, b.n, 1);
    return b;
}
struct Shape { __device__ virtual int area(int scale) = 0; };
struct Square : Shape {
    int side;
    __device__ Square(int side) : side(side) {}
    __device__ __noinline__ int area(int scale) override {
        return __reduce_add_sync(~0u, side) * scale;
    }
};
struct Disc : Shape {
    __device__ __noinline__ int area(int scale) override { return 3 * scale; }
};
__device__ __noinline__ void take(unsigned *lock) { while (atomicCAS(lock, 0u, 1u) != 0u); }
__device__ __noinline__ void leave(unsigned *lock) { __threadfence(); atomicExch(lock, 0u); }
__global__ void k(unsigned *x) {
    __shared__ int s[64];
    int t = threadIdx.x;
    Big b = {{1, 2, 3, 4, 5}, t};
    for (int i = 0; i < 3; i++) b = meet(b, s, 1.5f);
    Square square(t % 32);
    Disc disc;
    Shape *shape = t < 32 ? (Shape *)&square : (Shape *)&disc;
    x[t] = b.n + (int)b.v[1] + shape->area(1000);
    volatile unsigned *count = x + 101;
    take(x + 100);
    *count = *count + 1;
    leave(x + 100);
}";
    let due: Vec<u32> = (0..64i32)
        .map(|t| {
            // What the kernel does, thread by thread: `n` is exchanged with the neighbour's three times.
            let mut n: Vec<i32> = (0..64).collect();
            let mut v = [1, 2, 3, 4, 5];
            for _ in 0..3 {
                v[(n[t as usize] & 3) as usize] += n[(t as usize + 1) % 64] + 1;
                n = (0..64usize).map(|lane| n[lane ^ 1]).collect();
            }
            let area = if t < 32 { (0..32).sum::<i32>() * 1000 } else { 3000 };
            (n[t as usize] + v[1] + area) as u32
        })
        .collect();
    for options in [&[][..], &["-G"]] {
        on_both(source, options, |bench| {
            let found = bench.run(LaunchConfig::new(1, 64));
            assert_eq!(found[..64], due, "{options:?}");
            assert_eq!(found[100..102], [0, 64], "{options:?}");
        });
    }
}

#[test]
fn cooperative_groups_work_without_optimisation() {
    let source = r"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(unsigned *x) {
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    cg::grid_group grid = cg::this_grid();
    unsigned v = tile.shfl_down(block.thread_rank(), 1);
    x[grid.thread_rank()] = v;
    grid.sync();
    if (grid.thread_rank() == 0) {
        unsigned sum = 0;
        for (unsigned i = 0; i < grid.size(); i++) sum += x[i];
        x[4000] = sum;
    }
}";
    let lane = |t: u32| if t % 16 == 15 { t } else { t + 1 };
    let sum = 6 * (0..64).map(lane).sum::<u32>();
    on_both(source, &["-G"], |bench| {
        assert_eq!(bench.run(cooperative(6, 64))[4000], sum);
    });
}

#[test]
fn groups_of_several_warps_meet() {
    let source = r"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(unsigned *x) {
    __shared__ cg::block_tile_memory<256> memory;
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<64>(block);
    unsigned sum = cg::reduce(tile, block.thread_rank(), cg::plus<unsigned>());
    unsigned first = tile.shfl(block.thread_rank(), 0);
    x[2 * block.thread_rank()] = sum;
    x[2 * block.thread_rank() + 1] = first;
}";
    on_both(source, &[], |bench| {
        let found = bench.run(LaunchConfig::new(1, 256));
        for t in 0..256 {
            let first = t / 64 * 64;
            assert_eq!(found[2 * t as usize..][..2], [(first..first + 64).sum::<u32>(), first]);
        }
    });
}

/// Work that waits takes memory: whoever puts ever more on a stream waits for it.
#[test]
fn a_stream_takes_only_so_much_work_ahead() {
    let device = Device::cpu().unwrap();
    let stream = device.stream().unwrap();
    let event = device.event().unwrap();
    let (go_on, waits) = std::sync::mpsc::channel::<()>();
    stream.host_function(move || waits.recv().unwrap()).unwrap();
    let count = std::sync::atomic::AtomicUsize::new(0);
    let all = 100_000;
    let put = || count.load(std::sync::atomic::Ordering::Relaxed);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..all {
                stream.record(&event).unwrap();
                count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
        });
        let mut before = usize::MAX;
        while put() != before {
            before = put();
            thread::sleep(Duration::from_millis(300));
        }
        assert!((1000..all).contains(&before), "{before} ahead");
        go_on.send(()).unwrap();
    });
    assert_eq!(put(), all);
    stream.synchronize().unwrap();
}

#[test]
fn the_interpreter_lets_all_threads_go_on() {
    super::support::on_the_interpreter(&[
        ("lanes take a lock one after the other", lanes_take_a_lock_one_after_the_other),
        ("a lock that is held for long is waited for", a_lock_that_is_held_for_long_is_waited_for),
        (
            "a thread waits for a later one of its block",
            a_thread_waits_for_a_later_one_of_its_block,
        ),
        ("warps hand over work by flags", warps_hand_over_work_by_flags),
        (
            "the grid barrier of cooperative groups works",
            the_grid_barrier_of_cooperative_groups_works,
        ),
        (
            "a grid barrier made by hand works in an ordinary launch",
            a_grid_barrier_made_by_hand_works_in_an_ordinary_launch,
        ),
        ("blocks look back at those before them", blocks_look_back_at_those_before_them),
        ("the last block finishes the sum", the_last_block_finishes_the_sum),
        ("functions that were not inlined may wait", functions_that_were_not_inlined_may_wait),
        (
            "cooperative groups work without optimisation",
            cooperative_groups_work_without_optimisation,
        ),
        ("groups of several warps meet", groups_of_several_warps_meet),
    ]);
}

#[test]
fn the_interpreter_can_be_cancelled() {
    let test = ("a spinning kernel", a_spinning_kernel_is_cancelled as fn());
    super::support::on_the_interpreter(&[test]);
}
