//! What CUDA's device code calls of the host: `printf`, `assert`, `malloc`, `free`; recursion, streams, and stopping.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, mpsc},
    thread,
    time::{Duration, Instant},
};

use super::progress::Bench;
use warpaint::device::{
    Arguments, Device, Error, Fault, FaultKind, Fill, LaunchConfig, Stream, cpu,
};

fn fault(result: Result<(), Error>) -> Fault {
    match result {
        Err(Error::Fault(fault)) => *fault,
        other => panic!("{other:?} where a fault was due"),
    }
}

/// A kernel on the CPU device whose prints are kept.
fn printing(source: &str) -> Option<(Bench, Arc<Mutex<Vec<String>>>)> {
    let bench = Bench::new(source)?;
    let printed: Arc<Mutex<Vec<String>>> = Arc::default();
    let to = printed.clone();
    let Device::Cpu(device) = &bench.device else { panic!("the CPU device") };
    device.print_to(move |text| to.lock().unwrap().push(text.to_owned()));
    Some((bench, printed))
}

#[test]
fn printf_has_the_conversions_of_c() {
    let source = r#"
__global__ void k(unsigned *x) {
    const char *name = "warp";
    int n = printf("%d %5u|%-5i|%+d|%x %#X %o|%c%c|%s %8s %.2s|%%|%p\n",
                   -3, 7u, 42, 5, 255u, 255u, 8u, 'o', 'k', name, name, name, (void *)0x1234);
    x[0] = n;
    printf("%lld %llu %llx %hd %hhu\n", -(1ll << 40), ~0ull, 1ull << 36, (short)-2, (unsigned char)250);
    printf("%f %.3e %g %G %a %10.4f|%-10.1f|%*d|%.*f\n",
           1.5, 12345.678, 0.0001f, 1e20, 0.5, 3.14159265, 2.25, 6, 42, 2, 2.71828);
    printf("no argument\n");
}"#;
    let Some((bench, printed)) = printing(source) else { return };
    assert_eq!(bench.run(LaunchConfig::new(1, 1))[0], 13);
    let due = [
        "-3     7|42   |+5|ff 0XFF 10|ok|warp     warp wa|%|0x1234\n",
        "-1099511627776 18446744073709551615 1000000000 -2 250\n",
        "1.500000 1.235e+04 0.0001 1E+20 0x1p-1     3.1416|2.2       |    42|2.72\n",
        "no argument\n",
    ];
    assert_eq!(*printed.lock().unwrap(), due);
}

#[test]
fn printf_keeps_the_order_of_each_thread_and_has_an_end() {
    let source = r#"
__global__ void k(unsigned *x) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; j < 8; j++) printf("%u:%d\n", i, j);
    if (i == 0) for (int j = 0; j < 40000; j++) printf("0123456789 0123456789 0123456789 0123456789 %05d\n", j);
    x[i] = 1;
}"#;
    let Some((bench, printed)) = printing(source) else { return };
    assert_eq!(bench.run(LaunchConfig::new(8, 32))[..256], [1; 256]);
    let printed = printed.lock().unwrap();
    let mut next: HashMap<u32, u32> = HashMap::new();
    for line in printed.iter().filter_map(|text| text.trim_end().split_once(':')) {
        let (Ok(thread), Ok(step)) = (line.0.parse::<u32>(), line.1.parse::<u32>()) else {
            continue;
        };
        assert_eq!(*next.entry(thread).or_default(), step, "thread {thread}");
        *next.entry(thread).or_default() += 1;
    }
    let bytes: usize = printed.iter().map(String::len).sum();
    assert!(bytes > 900 << 10 && bytes < (1 << 20) + 200, "{bytes}");
    let note = printed.last().unwrap();
    assert!(note.contains("more calls of printf") && note.contains("`_Z1kPj`"), "{note}");
}

const EACH_THREAD_PRINTS: &str =
    "__global__ void k(unsigned *x) { printf(\"%u\\n\", threadIdx.x); }";

/// What a panic may carry.
/// Whichever engine runs, and however threads run side by side: each knows where it is.
#[test]
fn what_takes_prints_is_told_which_thread_prints() {
    let source = r#"
__global__ void k(unsigned *x) {
    if (threadIdx.x % 3 != 0) return;
    x[0] = printf("%d %d %d %d\n", blockIdx.x, blockIdx.y, threadIdx.x, threadIdx.y);
}"#;
    for interpreted in [false, true] {
        let Some((bench, printed)) = printing(source) else { return };
        let Device::Cpu(device) = &bench.device else { panic!("the CPU device") };
        if interpreted {
            device.set_launch_options(cpu::LaunchOptions::interpreted());
        }
        let to = printed.clone();
        device.print_with(move |printed| {
            let cpu::PrintedAt { block, thread } = printed.at.expect("a thread prints");
            let at = format!("{} {} {} {}\n", block[0], block[1], thread[0], thread[1]);
            assert_eq!((at.as_str(), block[2], thread[2]), (printed.text, 0, 0));
            to.lock().unwrap().push(at);
        });
        bench.run(LaunchConfig::new([3, 2, 1], [10, 4, 1]));
        assert_eq!(printed.lock().unwrap().len(), 6 * 4 * 4, "interpreted: {interpreted}");
    }
}

struct PanicsAgain;

impl Drop for PanicsAgain {
    fn drop(&mut self) {
        std::panic::resume_unwind(Box::new("again"));
    }
}

#[test]
fn a_panic_of_what_takes_prints_is_reported() {
    let Some((bench, printed)) = printing(EACH_THREAD_PRINTS) else { return };
    let Device::Cpu(device) = &bench.device else { panic!("the CPU device") };
    device.print_to(|_| std::panic::resume_unwind(Box::new("enough")));
    bench.start(LaunchConfig::new(8, 64));
    let panicked = bench.stream.synchronize();
    assert!(matches!(&panicked, Err(Error::Panicked { message }) if message == "enough"));
    device.print_to(|_| std::panic::resume_unwind(Box::new(PanicsAgain)));
    bench.start(LaunchConfig::new(8, 64));
    assert!(matches!(bench.stream.synchronize(), Err(Error::Panicked { .. })));
    let to = printed.clone();
    device.print_to(move |text| to.lock().unwrap().push(text.to_owned()));
    bench.run(LaunchConfig::new(2, 64));
    assert_eq!(printed.lock().unwrap().len(), 128);
}

/// All threads of the device that run blocks are those that a wait would wait for.
#[test]
fn what_takes_prints_must_not_wait() {
    let Some((bench, _)) = printing(EACH_THREAD_PRINTS) else { return };
    let Device::Cpu(device) = &bench.device else { panic!("the CPU device") };
    let (told, waited) = (mpsc::channel(), bench.stream.clone());
    let tell = Mutex::new(told.0);
    device.print_to(move |_| {
        // So that other threads take blocks, too.
        thread::sleep(Duration::from_millis(1));
        tell.lock().unwrap().send(waited.synchronize()).unwrap_or(());
    });
    bench.run(LaunchConfig::new(64, 1));
    let answers: Vec<_> = told.1.try_iter().collect();
    assert_eq!(answers.len(), 64);
    for answer in answers {
        assert!(matches!(answer, Err(Error::Unsupported { .. })), "{answer:?}");
    }
}

#[test]
fn a_failed_assertion_says_what_and_where() {
    let source = "__device__ __noinline__ int check(int i) {
    assert(i != 37);
    return i;
}
__global__ void k(unsigned *x) { x[threadIdx.x] = check(threadIdx.x); }";
    let Some(bench) = Bench::new(source) else { return };
    bench.start(LaunchConfig::new(1, 64));
    let found = fault(bench.stream.synchronize());
    assert!(matches!(&found.kind, FaultKind::Assert(text) if text.contains("i != 37")), "{found}");
    assert_eq!((found.location.unwrap().line, found.thread.x), (2, 37));
}

#[test]
fn threads_allocate_and_give_back() {
    let source = r"
struct Node { unsigned value; Node *next; };
__global__ void k(unsigned *x) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    Node *list = 0;
    for (unsigned j = 0; j < 20; j++) {
        Node *node = (Node *)malloc(sizeof(Node));
        if (!node) { x[i] = ~0u; return; }
        node->value = i + j; node->next = list; list = node;
    }
    unsigned sum = 0;
    while (list) { sum += list->value; Node *next = list->next; free(list); list = next; }
    unsigned *many = new unsigned[i + 1];
    many[i] = sum;
    x[i] = many[i];
    delete[] many;
    free(0);
}";
    let Some(bench) = Bench::new(source) else { return };
    let free = bench.device.memory_info().unwrap().free;
    let due: Vec<u32> = (0..64 * 256).map(|i| 20 * i + 190).collect();
    for _ in 0..3 {
        assert!(bench.run(LaunchConfig::new(64, 256))[..64 * 256] == due);
        assert_eq!(bench.device.memory_info().unwrap().free, free, "nothing is left");
    }
}

#[test]
fn memory_outlives_a_launch_and_leaks_end() {
    let source = r"
__device__ unsigned *kept;
__global__ void k(unsigned *x) {
    if (!kept) { kept = (unsigned *)malloc(64); kept[5] = 7; return; }
    x[0] = kept[5];
    unsigned got = 0;
    while (malloc(1 << 20)) got++;
    x[1] = got;
}";
    let Some(bench) = Bench::new(source) else { return };
    bench.run(LaunchConfig::new(1, 1));
    let found = bench.run(LaunchConfig::new(1, 1));
    assert_eq!(found[0], 7);
    let info = bench.device.memory_info().unwrap();
    assert!(u64::from(found[1]) << 20 <= info.total / 8, "{} MiB", found[1]);
    assert!(info.free > info.total / 2, "the host can still allocate");
}

#[test]
fn freeing_twice_or_what_is_not_allocated_is_a_fault() {
    for (line, free) in [
        (3, "int *p = (int *)malloc(16); free(p);\nfree(p);"),
        (3, "int *p = (int *)malloc(16);\nfree(p + 1);"),
        (3, "\nfree(x);"),
        (3, "int local[4]; local[0] = *x;\nfree(local + (*x & 1)); x[1] = local[0];"),
    ] {
        let source = format!("__global__ void k(unsigned *x) {{\n{free}\n}}");
        let Some(bench) = Bench::new(&source) else { return };
        bench.start(LaunchConfig::new(1, 1));
        let found = fault(bench.stream.synchronize());
        assert_eq!(found.kind, FaultKind::InvalidFree, "{free}");
        assert_eq!(found.location.unwrap().line, line, "{free}");
        // The device goes on.
        bench.stream.fill(bench.memory.slice(..).unwrap(), Fill::U32(9)).unwrap();
        assert_eq!(bench.words()[0], 9);
    }
}

#[test]
fn every_kind_of_loop_is_cancelled_in_time() {
    let sources = [
        "__global__ void k(unsigned *x) { for (;;) asm volatile(\"\"); }",
        "__global__ void k(unsigned *x) { for (;;) { __syncthreads(); x[threadIdx.x]++; } }",
        "__global__ void k(volatile unsigned *x) { while (!x[5]) ; }",
        "__global__ void k(unsigned *x) { for (;;) { __syncwarp(); x[threadIdx.x] += __shfl_xor_sync(~0u, x[threadIdx.x], 1); } }",
        "__device__ __noinline__ unsigned f(unsigned n, unsigned *x) {
           if (n == 0) return x[3]++; return f(n - 1, x) + f(n - 1, x) + x[n]; }
         __global__ void k(unsigned *x) { x[0] = f(60, x); }",
        "__global__ void k(unsigned *x) { for (unsigned i = 0; ; i = (i + 1) & 0x3ffff) x[i] += i; }",
        "__global__ void k(unsigned *x) { for (;;) { void *p = malloc(100); free(p); if (!p) x[0] = 1; } }",
        "#include <cooperative_groups.h>
         __global__ void k(unsigned *x) { for (;;) { cooperative_groups::this_grid().sync(); x[threadIdx.x]++; } }",
    ];
    for source in sources {
        let Some(bench) = Bench::new(source) else { return };
        for blocks in [1, 16] {
            let config = LaunchConfig { cooperative: true, ..LaunchConfig::new(blocks, 64) };
            // The best of some, since the host has other work, too, which is done before that of device threads.
            let in_time = (0..30).any(|_| {
                bench.start(config);
                thread::sleep(Duration::from_millis(20));
                let begin = Instant::now();
                bench.stream.cancel().unwrap();
                match bench.stream.synchronize() {
                    Err(Error::Fault(found)) => assert_eq!(found.kind, FaultKind::Cancelled),
                    other => panic!("{other:?}: {source}"),
                }
                begin.elapsed() < Duration::from_millis(50)
            });
            assert!(in_time, "{source}");
        }
    }
}

#[test]
fn kernels_of_two_streams_run_at_the_same_time() {
    // Each waits for what the other one writes.
    let source = r"
__global__ void k(unsigned *x) {
    volatile unsigned *flag = x + 64;
    unsigned me = atomicAdd(x, 1u);
    for (unsigned round = 1; round <= 100; round++) {
        flag[me] = round;
        __threadfence();
        while (flag[1 - me] < round);
    }
    x[8 + me] = me + 5;
}";
    let Some(bench) = Bench::new(source) else { return };
    let other = bench.device.stream().unwrap();
    bench.stream.synchronize().unwrap();
    bench.start(LaunchConfig::new(1, 1));
    let (Stream::Cpu(stream), warpaint::device::Function::Cpu(function)) =
        (&other, &bench.function)
    else {
        panic!("the CPU device")
    };
    stream.launch(function, &LaunchConfig::new(1, 1), &bench.arguments()).unwrap();
    let begin = Instant::now();
    while !(bench.stream.is_idle().unwrap() && other.is_idle().unwrap()) {
        if begin.elapsed() > Duration::from_secs(30) {
            bench.stream.cancel().unwrap();
            other.cancel().unwrap();
        }
        thread::sleep(Duration::from_millis(1));
    }
    bench.stream.synchronize().unwrap();
    other.synchronize().unwrap();
    assert_eq!(bench.words()[8..10], [5, 6]);
}

#[test]
fn a_stream_waits_for_an_event_of_another_and_times_are_real() {
    let source = r#"
__global__ void k(unsigned *x) {
    long long begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)); while (now - begin < 60000000);
    x[0] = 3;
}"#;
    let Some(bench) = Bench::new(source) else { return };
    let other = bench.device.stream().unwrap();
    let [begin, end] = [(); 2].map(|()| bench.device.event().unwrap());
    bench.stream.record(&begin).unwrap();
    bench.start(LaunchConfig::new(1, 1));
    bench.stream.record(&end).unwrap();
    other.wait(&end).unwrap();
    let read = other.download(bench.memory.slice(0..4).unwrap()).unwrap();
    assert!(!end.is_reached().unwrap());
    assert_eq!(read.wait().unwrap(), [3, 0, 0, 0], "read before the kernel ended");
    let ms = end.elapsed_ms(&begin).unwrap();
    assert!((60.0..2000.0).contains(&ms), "{ms}");
}

#[test]
fn a_deadlock_names_all_places_that_wait() {
    let source = r#"
__device__ __noinline__ void meet(int id) { asm volatile(
    "barrier.sync %0, 64;" :: "r"(id)); }
__global__ void k(unsigned *x) {
    if (threadIdx.x < 32) asm volatile(
        "barrier.sync 1, 64;");
    else if (threadIdx.x < 64) asm volatile(
        "barrier.sync 2, 96;");
    else
        meet(3);
    x[0] = 1;
}"#;
    let Some(bench) = Bench::new(source) else { return };
    bench.start(LaunchConfig::new(1, 96));
    let found = fault(bench.stream.synchronize());
    assert_eq!(found.kind, FaultKind::Deadlock);
    let mut lines: Vec<u32> = found.waiting.iter().map(|place| place.line).collect();
    lines.push(found.location.clone().unwrap().line);
    lines.sort_unstable();
    assert_eq!(lines.len(), 3, "{found}");
    assert!(found.to_string().contains("other threads wait at progress.cu:"), "{found}");
}

#[test]
fn memory_that_a_host_function_drops_stays_until_work_before_has_ended() {
    let device = Device::cpu().unwrap();
    let [held, other] = [(); 2].map(|()| device.stream().unwrap());
    let ours = device.alloc(64).unwrap();
    let (go, wait) = mpsc::channel::<()>();
    held.host_function(move || wait.recv().unwrap()).unwrap();
    held.upload(ours.slice(..).unwrap(), &[7; 64]).unwrap();
    other.host_function(move || drop(ours)).unwrap();
    other.synchronize().unwrap();

    let theirs = device.alloc(64).unwrap();
    other.upload(theirs.slice(..).unwrap(), &[1; 64]).unwrap();
    other.synchronize().unwrap();
    go.send(()).unwrap();
    held.synchronize().unwrap();
    assert_eq!(other.download(theirs.slice(..).unwrap()).unwrap().wait().unwrap(), [1; 64]);

    // Who drops something next frees it, too.
    let free = device.memory_info().unwrap().free;
    drop(theirs);
    assert_eq!(device.memory_info().unwrap().free, free + 2 * 64);
}

#[test]
fn memory_that_a_host_function_drops_is_there_for_who_needs_it() {
    let device = Device::cpu().unwrap();
    let stream = device.stream().unwrap();
    let most = device.memory_info().unwrap().free as usize;
    let all = device.alloc(most).unwrap();
    stream.host_function(move || drop(all)).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(device.alloc(most).unwrap().bytes(), most);
}

#[test]
fn variables_outlive_their_module_until_copies_of_them_have_ended() {
    let ptx = "
.version 7.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 found;
.visible .entry k() { .reg .b32 %r1; mov.u32 %r1, 5; st.global.u32 [found], %r1; ret; }";
    let device = Device::cpu().unwrap();
    let (stream, module) = (device.stream().unwrap(), device.load(ptx).unwrap());
    let function = module.function("k").unwrap();
    let (go, wait) = mpsc::channel::<()>();
    stream.host_function(move || wait.recv().unwrap()).unwrap();
    let (once, nothing) = (LaunchConfig::new(1, 1), Arguments::new());
    super::support::launch(&stream, &function, &once, &nothing).unwrap();
    let read = stream.download(module.global("found").unwrap()).unwrap();
    // The launch is the last to have the module.
    drop((function, module));
    go.send(()).unwrap();
    assert_eq!(read.wait().unwrap(), [5, 0, 0, 0]);
}
