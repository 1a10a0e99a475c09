//! Functions that reach themselves look how much of the stack is left.

use std::{thread, time::Duration};

use warpaint::{
    device::{Device, Error, FaultKind, Limit, Telling},
    ptx::pass::guard::{CheckKind, LocalMemory},
};

use super::{
    bench::{Bench, STACK_POINTER, Stop, guarded_for},
    faults::{Run, run_bench},
    gpu::{Gpu, line_of},
};

/// What has to be left where `down` begins, which has no variables: 256 bytes for itself, and 1,024 for the driver's.
const RESERVE: u64 = 256 + 1024;

/// Each thread stores its index plus `n`, added one by one by a function that calls itself.
fn text(version: &str) -> String {
    format!(
        "
.version {version}
.target sm_80
.address_size 64
.file 1 \"bad.cu\"
.func (.param .b32 sum) down(.param .b32 n, .param .b32 from)
{{
    .reg .pred %p<2>;
    .reg .b32 %r<5>;
    .loc 1 30 1
    ld.param.b32 %r1, [n];
    ld.param.b32 %r2, [from];
    setp.eq.s32 %p1, %r1, 0;
    @%p1 bra $end;
    add.s32 %r1, %r1, -1;
    add.s32 %r2, %r2, 1;
    {{
    .param .b32 one;
    .param .b32 two;
    .param .b32 result;
    st.param.b32 [one], %r1;
    st.param.b32 [two], %r2;
    .loc 1 31 1
    call.uni (result), down, (one, two);
    ld.param.b32 %r2, [result];
    }}
$end:
    st.param.b32 [sum], %r2;
    ret;
}}
.visible .entry bad(.param .u64 x, .param .u64 y)
{{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .param .b32 one;
    .param .b32 two;
    .param .b32 result;
    .loc 1 3 1
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.param.b32 [one], 5;
    st.param.b32 [two], %r1;
    .loc 1 4 1
    call.uni (result), down, (one, two);
    ld.param.b32 %r2, [result];
    st.global.b32 [%rd3], %r2;
    ret;
}}
"
    )
}

/// 32 threads, where the stack ends at `lowest`.
fn run(lowest: u64, stop: Stop) -> Run {
    let device = Device::cpu().unwrap();
    let (telling, local) = (Telling::First, LocalMemory::FromStackPointer);
    let mut bench = Bench::with(&device, &text("7.3"), telling, local);
    bench.lowest = lowest;
    run_bench(&device, bench, 1, 32, stop)
}

#[test]
fn a_call_that_finds_no_room_is_told() {
    let enough = run(STACK_POINTER - RESERVE, Stop::Never);
    assert!(enough.told.is_none());
    assert_eq!(enough.x, (5..37).collect::<Vec<_>>());
    let none = run(STACK_POINTER - RESERVE + 1, Stop::Never);
    assert_eq!(none.x, (1000..1032).collect::<Vec<_>>(), "no thread comes back");
    let told = none.told.unwrap();
    assert_eq!(told.fault.kind, FaultKind::StackOverflow);
    assert_eq!((told.record.kernel, told.record.thread.x), (u32::MAX, 0));
    let CheckKind::TooDeep { location, .. } = told.check else { panic!("{:?}", told.check) };
    assert_eq!(none.bench.line(location), Some(30));
}

#[test]
fn a_function_that_calls_itself_is_stopped() {
    let stopped = run(STACK_POINTER - RESERVE, Stop::Flag);
    assert_eq!(stopped.x, (1000..1032).collect::<Vec<_>>());
    assert_eq!(stopped.told.unwrap().fault.kind, FaultKind::Cancelled);
}

/// Nothing is compared where it is not known how the stack lies, and before there was `stacksave`.
#[test]
fn what_cannot_be_compared_is_not() {
    let checks = |version: &str, local| {
        let guarded = guarded_for(&text(version), Telling::First, local);
        let is_it = |kind: &CheckKind| matches!(kind, CheckKind::TooDeep { .. });
        guarded.checks.iter().filter(|check| is_it(&check.kind)).count()
    };
    assert_eq!(checks("7.3", LocalMemory::FromStackPointer), 1);
    assert_eq!(checks("7.3", LocalMemory::Window), 0);
    assert_eq!(checks("7.2", LocalMemory::FromStackPointer), 0);
}

/// What is asked for is one frame of each function on the deepest way, and more where functions reach themselves.
#[test]
fn the_stack_that_calls_need_is_known() {
    let bytes = |functions: &str, calls: &str| {
        let text = format!(
            ".version 8.0 .target sm_80 .address_size 64
            {functions}
            .visible .entry k() {{ .reg .b64 %rd<2>; {calls} ret; }}"
        );
        guarded_for(&text, Telling::First, LocalMemory::FromStackPointer).stack_bytes
    };
    let leaf = ".func leaf() { .local .align 4 .b8 own[1000]; ret; }";
    assert_eq!(bytes(leaf, "call leaf, ();"), 0, "the driver sees all of it");
    let pointer = "mov.u64 %rd1, leaf; p: .callprototype _ (); call %rd1, (), p;";
    assert_eq!(bytes(leaf, pointer), 1024 + 256 + 1000);
    let outer = format!("{leaf} .func outer() {{ call leaf, (); call outer, (); ret; }}");
    assert_eq!(bytes(&outer, "call outer, ();"), 1024 + 4096 + 256 + 256 + 1000);
}

/// Functions that call themselves by their names and through a pointer, some with variables.
const RECURSIVE: &str = "
__device__ __noinline__ int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
extern \"C\" __global__ void right_fib(int *x, const int *y, int n)
{
    x[threadIdx.x] = fib(n);
}
__device__ __noinline__ int deep(int *x, int n)
{
    volatile int own[8];
    own[n % 8] = n;
    return n == 0 ? 0 : deep(x, n - 1) + own[n % 8];
}
extern \"C\" __global__ void too_deep(int *x, const int *y, int n)
{
    x[threadIdx.x] = deep(x, threadIdx.x % 2 ? n : 3);
}
__device__ __noinline__ int wide(int n);
__device__ int (*pointer)(int) = wide;
__device__ __noinline__ int wide(int n)
{
    volatile int own[300];
    own[n % 300] = n;
    return n == 0 ? 0 : pointer(n - 1) + own[n % 300];
}
extern \"C\" __global__ void by_pointer(int *x, const int *y, int n)
{
    x[threadIdx.x] = pointer(n);
}
";

/// The line of that source on which a text stands.
fn line(text: &str) -> Option<u32> {
    RECURSIVE.lines().position(|line| line.contains(text)).map(|at| at as u32 + 1)
}

/// A call that finds no room ends CUDA for the process where nobody looks.
#[test]
fn a_call_that_finds_no_room_is_told_on_a_gpu() {
    let Some(gpu) = Gpu::of(RECURSIVE, Telling::First) else { return };
    gpu.launch("right_fib", 20);
    gpu.stream.synchronize().unwrap();
    assert_eq!(gpu.x()[..64], [6765; 64]);
    gpu.launch("too_deep", 9);
    gpu.stream.synchronize().unwrap();
    assert_eq!(gpu.x()[..2], [6, 45]);
    let fault = gpu.fault("too_deep", 100_000);
    assert_eq!((&fault.kind, fault.thread.x % 2), (&FaultKind::StackOverflow, 1), "{fault}");
    let lines = [line("int deep("), line("volatile int own[8]"), line("own[n % 8] = n")];
    assert!(lines.contains(&line_of(&fault)), "{fault}");
    assert_eq!(gpu.fault("by_pointer", 100_000).kind, FaultKind::StackOverflow);
    gpu.launch("by_pointer", 2);
    gpu.stream.synchronize().unwrap();
    assert_eq!(gpu.x()[0], 3);
}

/// However much of the stack there is, its end is known; and what does not end is stopped.
#[test]
fn the_end_of_the_stack_is_known_on_a_gpu() {
    let Some(gpu) = Gpu::of(RECURSIVE, Telling::First) else { return };
    let device = gpu.stream.device().clone();
    let before = device.limit(Limit::StackBytes).unwrap().unwrap();
    for bytes in [64 << 10, 16 << 10, before] {
        device.set_limit(Limit::StackBytes, bytes).unwrap();
        assert_eq!(gpu.fault("too_deep", 100_000).kind, FaultKind::StackOverflow);
    }
    gpu.launch("right_fib", 60);
    thread::sleep(Duration::from_millis(100));
    assert!(!gpu.stream.is_idle().unwrap());
    gpu.stream.cancel().unwrap();
    match gpu.stream.synchronize() {
        Err(Error::Fault(fault)) => assert_eq!(fault.kind, FaultKind::Cancelled),
        other => panic!("{other:?}"),
    }
    gpu.works();
}
