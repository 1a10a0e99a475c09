//! Guarded kernels on a GPU: what they do wrong is told as the CPU device tells it, the context stays alive, and the
//! next launch is right.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use warpaint::{
    compile::{Cache, Compiler, Outcome, Request, Target},
    device::{
        Arguments, ArrayDescriptor, ArrayShape, Device, Error, Fault, FaultKind, Format,
        GuardOptions, LaunchConfig, Memory, Module, Stream, Telling, nvidia::JitOptions,
    },
    interop::Interop,
    ptx::pass::guard::record::MOST_PRINTS,
    session::{Budget, Command, Keeping, Options, Past, Session},
};

use crate::{
    skip::{Need, skip},
    support::nvidia,
};

/// What every source has behind its own kernels: a right one, to see that the device works.
const RIGHT: &str = "
extern \"C\" __global__ void right(int *x, const int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = y[i] + 1;
}
";

const SOURCE: &str = "
extern \"C\" __global__ void index(int *x, const int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i * n] = 5;
}
extern \"C\" __global__ void load(int *x, const int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = y[i - n];
}
extern \"C\" __global__ void endless(int *x, const int *y, int n)
{
    while (*(volatile const int *)y != n)
        ;
    *x = 1;
}
extern \"C\" __global__ void check(int *x, const int *y, int n)
{
    assert(threadIdx.x < n);
    x[threadIdx.x] = 3;
}
extern \"C\" __global__ void misaligned(int *x, const int *y, int n)
{
    *(int *)((char *)x + threadIdx.x * n) = 4;
}
extern \"C\" __global__ void shared(int *x, const int *y, int n)
{
    __shared__ int s[64];
    s[threadIdx.x * n] = threadIdx.x;
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x];
}
extern \"C\" __global__ void prints(int *x, const int *y, int n)
{
    if (printf(\"%.0s\", \"\") < 0)
        atomicAdd(x, 1);
}
extern \"C\" __global__ void unknown(int *x, const int *y, int n)
{
    const int **pointers = (const int **)x;
    if (threadIdx.x == 0)
        pointers[0] = y;
    __syncthreads();
    x[8 + threadIdx.x] = pointers[0][threadIdx.x * n];
}
";

/// Elements of each buffer.
const COUNT: usize = 1000;

pub struct Gpu {
    pub stream: Stream,
    pub module: Module,
    x: Memory,
    y: Memory,
    /// The driver loads a module, and a kernel at its first launch, when nothing runs on the device: tests with kernels
    /// that do not end must not run beside each other.
    _alone: Option<MutexGuard<'static, ()>>,
}

static ALONE: Mutex<()> = Mutex::new(());

/// Until it is dropped no other test runs that asks for it.
fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gpu {
    fn new() -> Option<Self> {
        Self::of(SOURCE, Telling::First)
    }

    pub fn of(source: &str, telling: Telling) -> Option<Self> {
        let device = nvidia()?;
        let alone = alone();
        Some(Self { _alone: Some(alone), ..Self::compiled(&device, source, telling)? })
    }

    /// Another one on the same device.
    pub fn beside(&self, source: &str) -> Option<Self> {
        Self::compiled(&self.stream.device(), source, Telling::First)
    }

    fn compiled(device: &Device, source: &str, telling: Telling) -> Option<Self> {
        let compiler = Compiler::new(Cache::user());
        let (major, minor) = device.info().compute_capability;
        let source = [source, RIGHT].concat();
        let request = Request::new("bad.cu", source, Target::of_device(major, minor));
        let ptx = match compiler.compile(&request) {
            Ok(Outcome::Compiled(compiled)) => compiled.ptx,
            Ok(Outcome::Rejected { log, .. }) => panic!("{log}"),
            Err(error) => {
                skip(Need::Nvrtc, error);
                return None;
            }
        };
        Some(Self::with(device, &ptx, telling))
    }

    fn with(device: &Device, ptx: &str, telling: Telling) -> Self {
        let (module, not_guarded) = device
            .load_guarded(
                ptx,
                &GuardOptions { telling, ..GuardOptions::default() },
                JitOptions::default(),
            )
            .unwrap();
        assert_eq!(not_guarded, None);
        let stream = device.stream().unwrap();
        let [x, y] = [0, 1].map(|_| device.alloc(4 * COUNT).unwrap());
        Self { stream, module, x, y, _alone: None }
    }

    /// Puts a kernel on the stream, with 0, 1, … in `y` and zeros in `x`.
    pub fn launch(&self, kernel: &str, n: i32) {
        self.launch_as(kernel, n, &LaunchConfig::new(1, 64));
    }

    fn launch_as(&self, kernel: &str, n: i32, config: &LaunchConfig) {
        self.launch_with(kernel, n, config, &[]);
    }

    /// The same; `y` begins with other numbers.
    #[expect(unsafe_code, reason = "guarded kernels stay within their memory")]
    pub fn launch_with(&self, kernel: &str, n: i32, config: &LaunchConfig, first: &[u32]) {
        let rest = first.len() as u32..COUNT as u32;
        let words: Vec<u8> = first.iter().copied().chain(rest).flat_map(u32::to_ne_bytes).collect();
        self.stream.upload(self.y.slice(..).unwrap(), &words).unwrap();
        self.stream.upload(self.x.slice(..).unwrap(), &vec![0; 4 * COUNT]).unwrap();
        let function = self.module.function(kernel).unwrap();
        let mut arguments = Arguments::new();
        arguments.push(&self.x.address()).push(&self.y.address()).push(&n);
        // SAFETY: the memory lives until the stream was waited for, and the kernel is guarded.
        unsafe { self.stream.launch(&function, config, &arguments).unwrap() };
    }

    pub fn x(&self) -> Vec<u32> {
        let bytes = self.stream.download(self.x.slice(..).unwrap()).unwrap().wait().unwrap();
        bytemuck::pod_collect_to_vec(&bytes)
    }

    /// The fault of a kernel, once; afterwards the device works.
    pub fn fault(&self, kernel: &str, n: i32) -> Fault {
        self.launch(kernel, n);
        let fault = match self.stream.synchronize() {
            Err(Error::Fault(fault)) => *fault,
            other => panic!("{kernel}: {other:?}"),
        };
        self.stream.synchronize().expect("a fault is told once");
        self.works();
        eprintln!("{fault}");
        assert_eq!(fault.kernel, kernel);
        fault
    }

    pub fn works(&self) {
        // Often enough to become a graph.
        for _ in 0..12 {
            self.launch("right", 40);
        }
        self.stream.synchronize().unwrap();
        let expected: Vec<u32> = (1..41).chain(std::iter::repeat(0)).take(COUNT).collect();
        assert_eq!(self.x(), expected);
    }
}

/// The line of the source on which a text stands.
fn line(text: &str) -> Option<u32> {
    SOURCE.lines().position(|line| line.contains(text)).map(|at| at as u32 + 1)
}

pub fn line_of(fault: &Fault) -> Option<u32> {
    fault.location.as_ref().map(|place| place.line)
}

#[test]
fn a_broken_index_is_told() {
    let Some(gpu) = Gpu::new() else { return };
    let fault = gpu.fault("index", 100);
    assert_eq!((&fault.kind, line_of(&fault)), (&FaultKind::InvalidWrite, line("x[i * n] = 5")));
    let (address, _) = fault.access.unwrap();
    let nearest = fault.nearest.unwrap();
    assert_eq!((nearest.address, nearest.bytes), (gpu.x.address(), 4 * COUNT as u64));
    assert_eq!(address - gpu.x.address(), u64::from(fault.thread.x) * 400);
    assert!((10..64).contains(&fault.thread.x), "{fault}");
    let fault = gpu.fault("load", 1);
    assert_eq!((&fault.kind, line_of(&fault)), (&FaultKind::InvalidRead, line("y[i - n]")));
    assert_eq!((fault.thread.x, fault.access), (0, Some((gpu.y.address() - 4, 4))));
    // The others have gone on.
    gpu.launch("load", 1);
    assert!(matches!(gpu.stream.synchronize(), Err(Error::Fault(_))));
    assert_eq!(gpu.x()[..64], std::iter::once(0).chain(0..63).collect::<Vec<u32>>());
}

/// A million threads print: where each could, the driver would hold up the kernel for minutes.
#[test]
fn prints_do_not_fill_the_buffer() {
    let Some(gpu) = Gpu::new() else { return };
    let (blocks, threads) = (4096, 256);
    for _ in 0..3 {
        gpu.launch_as("prints", 0, &LaunchConfig::new(blocks, threads));
        gpu.stream.synchronize().unwrap();
        assert_eq!(gpu.x()[0], blocks * threads - MOST_PRINTS);
    }
    // What is waited for is counted anew.
    for _ in 0..MOST_PRINTS / 64 + 1 {
        gpu.launch("prints", 0);
        gpu.stream.synchronize().unwrap();
    }
    assert_eq!(gpu.x()[0], 0);
}

#[test]
fn a_loop_without_end_is_stopped() {
    let Some(gpu) = Gpu::new() else { return };
    for _ in 0..2 {
        gpu.launch("endless", -1);
        // No call of the driver: where another test loads a module, it waits for the kernel.
        thread::sleep(Duration::from_millis(100));
        gpu.stream.cancel().unwrap();
        let end = Instant::now() + Duration::from_secs(10);
        while !gpu.stream.is_idle().unwrap() {
            assert!(Instant::now() < end, "it goes on");
            thread::sleep(Duration::from_millis(1));
        }
        let ended = gpu.stream.synchronize();
        let Err(Error::Fault(fault)) = ended else { panic!("{ended:?}") };
        assert_eq!((&fault.kind, fault.kernel.as_str()), (&FaultKind::Cancelled, "endless"));
        let lines = [line("while (*(volatile"), line("while (*(volatile").map(|line| line + 1)];
        assert!(lines.contains(&line_of(&fault)), "{fault}");
        gpu.works();
    }
}

#[test]
fn a_failed_assertion_is_told() {
    let Some(gpu) = Gpu::new() else { return };
    let fault = gpu.fault("check", 40);
    let FaultKind::Assert(text) = &fault.kind else { panic!("{fault}") };
    assert!(text.starts_with("`threadIdx.x < n` in "), "{text}");
    assert!((40..64).contains(&fault.thread.x), "{fault}");
}

#[test]
fn a_misaligned_address_is_told() {
    let Some(gpu) = Gpu::new() else { return };
    let fault = gpu.fault("misaligned", 6);
    assert_eq!(fault.kind, FaultKind::Misaligned);
    assert_eq!(line_of(&fault), line("(char *)x + threadIdx.x"));
    assert_eq!(fault.thread.x % 2, 1);
}

#[test]
fn shared_memory_has_bounds_on_a_gpu() {
    let Some(gpu) = Gpu::new() else { return };
    gpu.launch("shared", 1);
    gpu.stream.synchronize().unwrap();
    assert_eq!(gpu.x()[..64], (0..64).collect::<Vec<u32>>());
    let fault = gpu.fault("shared", 2);
    assert_eq!((&fault.kind, fault.space), (&FaultKind::InvalidWrite, Some("shared")));
    assert!((32..64).contains(&fault.thread.x), "{fault}");
}

#[test]
fn pointers_in_memory_are_searched_on_a_gpu() {
    let Some(gpu) = Gpu::new() else { return };
    gpu.launch("unknown", 10);
    gpu.stream.synchronize().unwrap();
    assert_eq!(gpu.x()[8..72], (0..64).map(|i| 10 * i).collect::<Vec<u32>>());
    let fault = gpu.fault("unknown", 1 << 20);
    assert_eq!((&fault.kind, line_of(&fault)), (&FaultKind::InvalidRead, line("pointers[0][")));
    // Memory that comes and goes is in the table, and out of it.
    let device = gpu.stream.device();
    let more = device.alloc(1 << 20).unwrap();
    gpu.launch("unknown", 10);
    gpu.stream.synchronize().unwrap();
    drop(more);
    gpu.launch("unknown", 10);
    gpu.stream.synchronize().unwrap();
}

/// Generic addresses of local memory are a window of 16 MiB, of which a thread has its frames alone.
#[test]
fn local_memory_ends_with_the_frames_on_a_gpu() {
    let source = "
__device__ __noinline__ int *volatile *kept(int *x, int *own)
{
    int *volatile *pointers = (int *volatile *)x;
    pointers[threadIdx.x] = own;
    return pointers;
}
extern \"C\" __global__ void frame(int *x, const int *y, int n)
{
    int own[64];
    for (int i = 0; i < 64; ++i)
        own[i] = y[i];
    int *volatile *pointers = kept(x, own);
    int read = pointers[threadIdx.x][n];
    __syncthreads();
    x[threadIdx.x] = read;
}
";
    let Some(gpu) = Gpu::of(source, Telling::First) else { return };
    for n in [0, 63] {
        gpu.launch("frame", n);
        gpu.stream.synchronize().unwrap();
        assert_eq!(gpu.x()[..64], [n as u32; 64]);
    }
    for n in [-(1 << 11), -(1 << 20), 1 << 20] {
        let fault = gpu.fault("frame", n);
        assert_eq!(fault.kind, FaultKind::InvalidRead, "{n}: {fault}");
    }
}

/// What `malloc` gives is no memory of ours: it lies in a heap that the driver does not tell.
#[test]
fn the_heap_of_malloc_is_known_on_a_gpu() {
    let source = "
extern \"C\" __global__ void lists(int *x, const int *y, int n)
{
    int *own = (int *)malloc(32 * sizeof(int));
    if (!own) return;
    for (int i = 0; i < 32; ++i)
        own[i] = threadIdx.x + i;
    x[threadIdx.x] = own[n];
    free(own);
}
extern \"C\" __global__ void none(int *x, const int *y, int n)
{
    int *own = (int *)malloc(1ull << 40);
    own[n] = 1;
}
";
    let Some(gpu) = Gpu::of(source, Telling::First) else { return };
    let line = |part: &str| {
        let at = source.lines().position(|line| line.contains(part))?;
        Some(at as u32 + 1)
    };
    for n in [0, 31] {
        gpu.launch("lists", n);
        gpu.stream.synchronize().unwrap();
        assert_eq!(gpu.x()[..64], (0..64).map(|thread| thread + n as u32).collect::<Vec<u32>>());
    }
    // Behind the heap, and before it.
    for n in [1 << 26, -(1 << 26)] {
        let fault = gpu.fault("lists", n);
        let expected = (&FaultKind::InvalidRead, line("own[n];"));
        assert_eq!((&fault.kind, line_of(&fault)), expected, "{fault}");
    }
    let fault = gpu.fault("none", 9_999_999);
    assert_eq!((&fault.kind, line_of(&fault)), (&FaultKind::InvalidWrite, line("own[n] = 1")));
    gpu.launch("lists", 5);
    gpu.stream.synchronize().unwrap();
    assert_eq!(gpu.x()[63], 68, "the heap is as good as before");
}

/// What lies in the heap belongs to modules that have `malloc`: `malloc` itself would end no more where another one
/// writes over what it keeps there.
#[test]
fn the_heap_is_no_memory_of_other_modules_on_a_gpu() {
    let with = "
extern \"C\" __global__ void make(int *x, const int *y, int n)
{
    *(int **)x = (int *)malloc(n);
}";
    let without = "
extern \"C\" __global__ void far(int *x, const int *y, int n)
{
    unsigned long long *kept = (unsigned long long *)x;
    if (threadIdx.x == 0)
        kept[0] = y[0] + ((unsigned long long)y[1] << 32);
    __syncthreads();
    *(int *)kept[0] = n;
}";
    let Some(gpu) = Gpu::of(with, Telling::First) else { return };
    gpu.launch_as("make", 64, &LaunchConfig::new(1, 1));
    gpu.stream.synchronize().unwrap();
    let address = [gpu.x()[0], gpu.x()[1]];
    assert_ne!(address, [0, 0]);
    drop(gpu);
    let gpu = Gpu::of(without, Telling::First).expect("as before");
    gpu.launch_with("far", 1, &LaunchConfig::new(1, 1), &address);
    let Err(Error::Fault(fault)) = gpu.stream.synchronize() else { panic!("no fault") };
    assert_eq!((&fault.kind, fault.kernel.as_str()), (&FaultKind::InvalidWrite, "far"));
    gpu.works();
}

/// Copies to the host run on streams and threads of their own, and what they find is not the kernel's end.
#[test]
fn a_stream_that_only_copies_takes_no_fault_away_on_a_gpu() {
    let Some(gpu) = Gpu::of(SOURCE, Telling::First) else { return };
    let copying = gpu.stream.device().stream().unwrap();
    gpu.launch("index", 100);
    while !gpu.stream.is_idle().unwrap() {}
    let bytes = copying.download(gpu.y.slice(..).unwrap()).unwrap().wait().expect("it only copies");
    assert_eq!(bytes.len(), 4 * COUNT);
    copying.synchronize().expect("it only copied");
    match gpu.stream.synchronize() {
        Err(Error::Fault(fault)) => assert_eq!(fault.kernel, "index"),
        other => panic!("{other:?}"),
    }
    gpu.works();
}

/// Kernels whose arguments are no pointers have nothing beside them, and are guarded as others are.
#[test]
#[expect(unsafe_code, reason = "guarded kernels stay within their memory")]
fn a_kernel_without_pointers_is_told_of_on_a_gpu() {
    let source = "
__device__ int g[4];
extern \"C\" __global__ void spin() { while (true); }
extern \"C\" __global__ void far_away() { g[threadIdx.x + 1000] = 1; }
";
    let Some(gpu) = Gpu::of(source, Telling::First) else { return };
    for (kernel, kind) in [("spin", "Cancelled"), ("far_away", "InvalidWrite")] {
        // On a stream that has had no other kernel.
        let stream = gpu.stream.device().stream().unwrap();
        let function = gpu.module.function(kernel).unwrap();
        // SAFETY: the kernel is guarded, and has no arguments.
        unsafe {
            stream.launch(&function, &LaunchConfig::new(1, 64), &Arguments::new()).unwrap();
        }
        if kernel == "spin" {
            thread::sleep(Duration::from_millis(200));
            stream.cancel().unwrap();
        }
        match stream.synchronize() {
            Err(Error::Fault(fault)) => {
                assert_eq!(fault.kernel, kernel);
                assert!(format!("{:?}", fault.kind).starts_with(kind), "{fault:?}");
            }
            other => panic!("{kernel}: {other:?}"),
        }
        gpu.works();
    }
}

/// The driver gives the memory of their barrier.
#[test]
fn blocks_of_a_guarded_launch_wait_for_one_another_on_a_gpu() {
    let source = "
#include <cooperative_groups.h>
extern \"C\" __global__ void waits(int *x, const int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = y[i];
    cooperative_groups::this_grid().sync();
    int other = x[n - 1 - i];
    cooperative_groups::this_grid().sync();
    x[i] += other;
}
";
    let Some(gpu) = Gpu::of(source, Telling::First) else { return };
    let config = LaunchConfig { cooperative: true, ..LaunchConfig::new(4, 64) };
    gpu.launch_as("waits", 256, &config);
    gpu.stream.synchronize().unwrap();
    assert_eq!(gpu.x()[..256], [255; 256]);
    gpu.works();
}

#[test]
fn kernels_that_go_on_tell_of_each_place_once() {
    let Some(gpu) = Gpu::of(SOURCE, Telling::All) else { return };
    let device = gpu.stream.device();
    let told = |kernel: &str, n: i32| {
        gpu.launch(kernel, n);
        gpu.stream.synchronize().expect("it goes on");
        let told = device.take_reported();
        told.iter().map(|fault| (fault.kernel.clone(), line_of(fault))).collect::<Vec<_>>()
    };
    let index = ("index".to_owned(), line("x[i * n] = 5"));
    assert_eq!(told("index", 100), [index]);
    assert_eq!(told("load", 1), [("load".to_owned(), line("y[i - n]"))]);
    assert_eq!(told("index", 100), []);
    assert_eq!(told("right", 40), []);
}

#[test]
#[expect(unsafe_code, reason = "guarded kernels stay within their memory")]
fn an_access_outside_a_surface_is_told_on_a_gpu() {
    let source = "extern \"C\" __global__ void paint(cudaSurfaceObject_t s, int more)
{
    surf2Dwrite(1.0f, s, 4 * (int)threadIdx.x, more);
}
extern \"C\" __global__ void odd(cudaSurfaceObject_t s, int more)
{
    surf2Dwrite(1.0f, s, (int)threadIdx.x, more);
}
extern \"C\" __global__ void solid(cudaSurfaceObject_t s, int more)
{
    surf3Dwrite(1.0f, s, (int)threadIdx.x, more, 1);
}
";
    let Some(gpu) = Gpu::of(source, Telling::First) else { return };
    let device = gpu.stream.device();
    let shape = ArrayShape::D2 { width: 8, height: 4 };
    let array = device.array(&ArrayDescriptor::new(shape, Format::R32F).with_surface()).unwrap();
    let surface = device.surface(&array).unwrap();
    let function = gpu.module.function("paint").unwrap();
    let ended = |threads: u32, row: i32| {
        let mut arguments = Arguments::new();
        arguments.push(&surface.handle()).push(&row);
        let config = LaunchConfig::new(1, threads);
        // SAFETY: the surface lives until the stream was waited for, and the kernel is guarded.
        unsafe { gpu.stream.launch(&function, &config, &arguments).unwrap() };
        gpu.stream.synchronize()
    };
    ended(8, 3).unwrap();
    for (threads, row, at) in [(9, 3, [32, 3, 0]), (1, 4, [0, 4, 0]), (1, -1, [0, -1, 0])] {
        let Err(Error::Fault(fault)) = ended(threads, row) else { panic!("it is outside") };
        let extent = [32, 4, 1];
        let expected = FaultKind::OutsideSurface { write: true, at, bytes: 4, extent };
        // `surf2Dwrite` is a function of a header.
        let caller = fault.inlined.last().map(|frame| frame.call_site.line);
        assert_eq!((&fault.kind, caller), (&expected, Some(3)), "{fault}");
    }
    ended(8, 0).unwrap();
    let mut arguments = Arguments::new();
    arguments.push(&surface.handle()).push(&0_i32);
    let function = gpu.module.function("odd").unwrap();
    // SAFETY: as above.
    unsafe { gpu.stream.launch(&function, &LaunchConfig::new(1, 8), &arguments).unwrap() };
    let Err(Error::Fault(fault)) = gpu.stream.synchronize() else { panic!("it is not aligned") };
    assert_eq!((&fault.kind, fault.thread.x % 4 != 0), (&FaultKind::Misaligned, true), "{fault}");
    let function = gpu.module.function("solid").unwrap();
    let shape = ArrayShape::D3 { width: 8, height: 4, depth: 2 };
    let array = device.array(&ArrayDescriptor::new(shape, Format::R32F).with_surface()).unwrap();
    let solid = device.surface(&array).unwrap();
    let mut arguments = Arguments::new();
    arguments.push(&solid.handle()).push(&0_i32);
    // SAFETY: as above.
    unsafe { gpu.stream.launch(&function, &LaunchConfig::new(1, 8), &arguments).unwrap() };
    let Err(Error::Fault(fault)) = gpu.stream.synchronize() else { panic!("it is not aligned") };
    assert_eq!(fault.kind, FaultKind::Misaligned, "{fault}");
    let mut arguments = Arguments::new();
    arguments.push(&solid.handle()).push(&4_i32);
    // SAFETY: as above.
    unsafe { gpu.stream.launch(&function, &LaunchConfig::new(1, 1), &arguments).unwrap() };
    let Err(Error::Fault(fault)) = gpu.stream.synchronize() else { panic!("it is outside") };
    let (at, extent) = ([0, 4, 1], [32, 4, 2]);
    let expected = FaultKind::OutsideSurface { write: true, at, bytes: 4, extent };
    assert_eq!(fault.kind, expected, "{fault}");
}

/// Driver 580 loads such a kernel, and its launch ends the context.
#[test]
fn more_local_memory_than_a_thread_has_is_refused_on_a_gpu() {
    let Some(device) = nvidia() else { return };
    let kernel = |bytes: u64| {
        format!(
            ".version 7.0 .target sm_75 .address_size 64 .visible .entry k(.param .u64 p) {{
                .local .align 4 .b8 large[{bytes}];
                .reg .b64 %x; .reg .b32 %r;
                ld.param.u64 %x, [p];
                ld.local.u32 %r, [large+{}];
                st.global.u32 [%x], %r;
                ret;
            }}",
            bytes - 4
        )
    };
    device.load(&kernel(64 << 10)).unwrap();
    for bytes in [(512 << 10) + 4, 8_900_000_000] {
        for guarded in [false, true] {
            let refused = match guarded {
                true => device
                    .load_guarded(&kernel(bytes), &GuardOptions::default(), JitOptions::default())
                    .map(|_| ()),
                false => device.load(&kernel(bytes)).map(|_| ()),
            };
            let Err(Error::Load { log, .. }) = refused else { panic!("{bytes} bytes are loaded") };
            assert!(log.contains("bytes of local memory"), "{log}");
        }
    }
}

/// A scene whose steps count up, with a line more in its kernel.
fn counting(more: &str) -> String {
    format!(
        "/*---\n[array.a]\ntype = \"int\"\ncount = 1000\n[[pass]]\nkernel = \"k\"\nover = \"a\"\n---*/\n\
         __global__ void k(volatile int *a, int a_count)\n{{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    \
         if (i >= a_count) return;\n    {more}\n    a[i] += 1;\n}}\n"
    )
}

/// The text that mends it is compiled and loaded while the kernel runs, and the driver waits for that with many calls.
#[test]
fn an_edit_ends_a_loop_without_end() {
    let Some(device) = nvidia() else { return };
    let _alone = alone();
    let options =
        Options { guarded: true, history: Past::Kept, ..Options::new("k.cu", counting("")) };
    let (compiler, interop) = (Compiler::new(Cache::user()), Interop::none(&device));
    let mut session = Session::open(options, device, compiler, interop, || {}).unwrap();
    assert!(session.wait_for_program().unwrap(), "{:#?}", session.snapshot().compile.diagnostics);
    session.run_steps(5, |_| {}).unwrap();
    for _ in 0..3 {
        let known = session.clock().step;
        session.set_source(counting("while (true) a[i] += 1;"));
        assert!(session.wait_for_program().unwrap());
        session.play();
        let end = Instant::now() + Duration::from_millis(300);
        while Instant::now() < end {
            session.update().unwrap();
        }
        assert_eq!(session.clock().step, known, "the kernel runs");
        session.set_source(counting(""));
        let end = Instant::now() + Duration::from_secs(20);
        while session.clock().step == known {
            session.update().unwrap();
            assert!(Instant::now() < end, "{:?}", session.snapshot().fault);
        }
        session.pause();
        session.run_steps(1, |_| {}).unwrap();
        let step = session.clock().step;
        let found: Vec<i32> = bytemuck::pod_collect_to_vec(&session.read("a").unwrap());
        assert_eq!(found, vec![step as i32; 1000], "what the loop wrote is undone");
    }
    // And an access that goes far away.
    session.set_source(counting("a[i * 1000000] = 1;"));
    assert!(session.wait_for_program().unwrap());
    session.run_steps(1, |_| {}).unwrap();
    let fault = session.fault().cloned().expect("it is outside");
    assert!(fault.text.contains("000000]`, which has 1000 elements"), "{fault}");
    session.set_source(counting(""));
    assert!(session.wait_for_program().unwrap());
    session.run_steps(1, |_| {}).unwrap();
    let step = session.clock().step;
    let found: Vec<i32> = bytemuck::pod_collect_to_vec(&session.read("a").unwrap());
    assert_eq!(found, vec![step as i32; 1000]);
}

/// Copies of the past are on their way to the host all the time, while kernels fault.
#[test]
fn a_fault_is_the_steps_while_the_past_goes_to_the_host_on_a_gpu() {
    let Some(device) = nvidia() else { return };
    let _alone = alone();
    let text = |line: &str| counting(line).replace("count = 1000", "count = 1000000");
    let options = Options { guarded: true, history: Past::Kept, ..Options::new("k.cu", text("")) };
    let (compiler, interop) = (Compiler::new(Cache::user()), Interop::none(&device));
    let mut session = Session::open(options, device, compiler, interop, || {}).unwrap();
    assert!(session.wait_for_program().unwrap(), "{:#?}", session.snapshot().compile.diagnostics);
    let budget = Budget { device: 10_000_000, host: 200_000_000 };
    session.apply(&Command::KeepPast(Keeping { budget, share: 1.0 }));
    for round in 0..10 {
        session.run_steps(20, |_| {}).unwrap();
        session.set_source(text("a[i * 1000] = 1;"));
        assert!(session.wait_for_program().unwrap());
        session.run_steps(1, |_| {}).unwrap();
        let fault = session.fault().cloned().unwrap_or_else(|| panic!("round {round}: no fault"));
        assert!(fault.text.contains("`, which has 1000000 elements"), "{fault}");
        session.set_source(text(""));
        assert!(session.wait_for_program().unwrap());
    }
    let [_, with_host] = session.snapshot().timeline.expect("the past is kept").bytes;
    assert!(with_host > 0, "none went to the host");
}
