//! Each guarded module has its own flag: what goes wrong on one stream stops nothing on another, and is told there.

use std::{thread, time::Duration};

use warpaint::device::{Error, FaultKind, LaunchConfig, Telling};

use super::gpu::Gpu;
use crate::support::{alone, expect_pass, nvidia};

/// `count` goes round long enough that another stream's kernel has ended, and counts its rounds.
const SOURCE: &str = "
extern \"C\" __global__ void count(int *x, const int *y, int n)
{
    int rounds = 0;
    for (int i = 0; i < n; ++i)
        if (*(volatile const int *)y == 0)
            ++rounds;
    x[threadIdx.x] = rounds;
}
extern \"C\" __global__ void wrong(int *x, const int *y, int n)
{
    x[threadIdx.x * n] = 1;
}
extern \"C\" __global__ void endless(int *x, const int *y, int n)
{
    while (*(volatile const int *)y == 0)
        ;
}
";

/// With all its kernels loaded: the driver loads each at its first launch, and waits for what runs.
fn loaded(gpu: Option<Gpu>) -> Option<Gpu> {
    let gpu = gpu?;
    for kernel in ["count", "wrong", "right"] {
        gpu.launch(kernel, 0);
    }
    gpu.launch_with("endless", 0, &LaunchConfig::new(1, 64), &[1]);
    gpu.stream.synchronize().unwrap();
    gpu.works();
    Some(gpu)
}

/// How often `count` goes round: about a second.
const ROUNDS: i32 = 3_000_000;

#[test]
fn a_fault_stops_nothing_on_another_stream_on_a_gpu() {
    let Some(one) = loaded(Gpu::of(SOURCE, Telling::First)) else { return };
    let Some(other) = loaded(one.beside(SOURCE)) else { return };
    one.launch("count", ROUNDS);
    assert_eq!(other.fault("wrong", 100_000).kind, FaultKind::InvalidWrite);
    assert!(!one.stream.is_idle().unwrap(), "the other one's fault came first");
    one.stream.synchronize().expect("it has done nothing wrong");
    assert_eq!(one.x()[..64], [ROUNDS as u32; 64]);
    one.works();
}

/// In a process of its own: another test that loads a module would wait in the driver for the kernel without end, and
/// the driver would keep this one waiting behind it.
#[test]
fn one_stream_is_stopped_and_the_other_goes_on_on_a_gpu() {
    if nvidia().is_some() {
        expect_pass(&mut alone("guard::streams::alone_one_is_stopped_and_the_other_goes_on"));
    }
}

#[test]
#[ignore = "is started by another test, in a process of its own"]
fn alone_one_is_stopped_and_the_other_goes_on() {
    let Some(one) = loaded(Gpu::of(SOURCE, Telling::First)) else { return };
    let Some(other) = loaded(one.beside(SOURCE)) else { return };
    other.launch("endless", 0);
    one.launch("count", ROUNDS);
    one.stream.synchronize().unwrap();
    one.launch("wrong", 100_000);
    let wrong = one.stream.synchronize();
    assert!(matches!(&wrong, Err(Error::Fault(fault)) if fault.kernel == "wrong"), "{wrong:?}");
    thread::sleep(Duration::from_millis(50));
    assert!(!other.stream.is_idle().unwrap());
    one.launch("count", ROUNDS);
    other.stream.cancel().unwrap();
    let stopped = other.stream.synchronize();
    let is_it = |kind: &FaultKind| *kind == FaultKind::Cancelled;
    assert!(matches!(&stopped, Err(Error::Fault(fault)) if is_it(&fault.kind)), "{stopped:?}");
    one.stream.synchronize().expect("the other one was stopped");
    assert_eq!(one.x()[..64], [ROUNDS as u32; 64]);
    other.works();
}

/// What a module has told is not lost with it.
#[test]
fn a_module_that_is_gone_has_told_its_fault_on_a_gpu() {
    let Some(gpu) = loaded(Gpu::of(SOURCE, Telling::First)) else { return };
    gpu.launch("wrong", 100_000);
    let Gpu { stream, module, .. } = gpu;
    drop(module);
    let told = stream.synchronize();
    assert!(matches!(&told, Err(Error::Fault(fault)) if fault.kernel == "wrong"), "{told:?}");
    stream.synchronize().expect("a fault is told once");
}
