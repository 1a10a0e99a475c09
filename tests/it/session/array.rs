//! Arrays of two halves: kernels read the last one and write the next.

use warpaint::{device::Device, session::Value};

use super::{floats, open_on, told_and_still_running};
use crate::support::{devices, set};

/// Each element becomes the sum of its neighbours round a ring: wrong if the halves were one memory.
const RING: &str = r#"/*---
[array.heat]
type   = "float"
count  = 700
double = true

[param.rounds]
value = 3
min   = 0
max   = 8

[[pass]]
kernel = "light"
on     = "reset"
over   = "heat"

[[pass]]
kernel = "spread"
over   = "heat"
repeat = "rounds"

[[pass]]
kernel = "count_up"
over   = 1
---*/
__global__ void light(float *heat, int heat_count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < heat_count) heat[i] = float(i % 5);
}
__global__ void spread(const float *heat, float *heat_next, int heat_count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < heat_count) heat_next[i] = heat[(i + heat_count - 1) % heat_count] + heat[(i + 1) % heat_count];
}
__global__ void count_up(float *heat) { if (threadIdx.x == 0) heat[0] += 1.0f; }
"#;

/// The ring after so many steps of so many rounds; the numbers are small enough to be exact.
fn ring(steps: usize, rounds: usize) -> Vec<f32> {
    let mut heat: Vec<f32> = (0..700).map(|i| (i % 5) as f32).collect();
    for _ in 0..steps {
        for _ in 0..rounds {
            heat = (0..700).map(|i| heat[(i + 699) % 700] + heat[(i + 1) % 700]).collect();
        }
        heat[0] += 1.0;
    }
    heat
}

#[test]
fn halves_change_places_after_each_launch_that_writes_the_next() {
    for device in devices() {
        let mut session = open_on(&device, RING);
        session.run_steps(2, |_| {}).unwrap();
        assert_eq!(floats(&session.read("heat").unwrap()), ring(2, 3));
        session.reset();
        set(&mut session, "rounds", Value::Int(4));
        session.run_steps(1, |_| {}).unwrap();
        assert_eq!(floats(&session.read("heat").unwrap()), ring(1, 4), "an even number of times");
        session.run_steps(0, |_| {}).unwrap();
    }
}

#[test]
fn a_fault_leaves_the_half_that_was_finished() {
    let mut session = open_on(&Device::cpu().unwrap(), RING);
    session.run_steps(1, |_| {}).unwrap();
    set(&mut session, "rounds", Value::Int(1));
    let faulty = RING.replace("heat[0] += 1.0f", "heat[100000] += 1.0f");
    session.set_source(faulty);
    assert!(session.wait_for_program().unwrap());
    session.run_steps(1, |_| {}).unwrap();
    assert!(session.snapshot().fault.is_some());
    assert_eq!(
        floats(&session.read("heat").unwrap()),
        ring(1, 3),
        "not what the last launch wrote"
    );
}

#[test]
fn what_double_arrays_cannot_be_is_told_on_its_line() {
    let mut session = open_on(&Device::cpu().unwrap(), RING);
    let mut told = |from: &str, to: &str| {
        assert!(RING.contains(from));
        told_and_still_running(&mut session, RING.replace(from, to)).join("\n")
    };
    let single = told("double = true", "double = false");
    assert!(
        single.contains("error: there is no `heat_next`: the array heat (700 float)"),
        "{single}"
    );
}
