//! The first program: two vectors go to the device, a kernel in CUDA C++ adds them, the sum comes back.
//!
//! One learns what a [`Context`] is, how source becomes a kernel, and how a kernel gets arrays and numbers: they are
//! checked against its parameters one by one. It is PyCUDA's `hello_gpu.py`.

#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use std::error::Error;

use warpaint::{
    array::GpuArray,
    device::{Choice, LaunchConfig},
    kernel::{Context, Source},
};

/// As many elements as do not fill the last block.
const N: i32 = 400;

const SOURCE: &str = "
__global__ void add_them(float *sum, const float *a, const float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sum[i] = a[i] + b[i];
}";

/// Adds two vectors, and compares with what the host computes.
#[expect(unsafe_code, reason = "launches a kernel, whose accesses nothing proves on an NVIDIA GPU")]
pub fn main() -> Result<(), Box<dyn Error>> {
    // An NVIDIA GPU where there is one, else the CPU device.
    let context = Context::open(Choice::Auto)?;
    let host_a: Vec<f32> = (0..N).map(|i| i as f32).collect();
    let host_b: Vec<f32> = host_a.iter().map(|a| 0.5 * a + 1.0).collect();
    let a = GpuArray::from_slice(&context, &host_a)?;
    let b = GpuArray::from_slice(&context, &host_b)?;
    let sum = GpuArray::<f32>::empty(&context, a.shape())?;

    let add_them = context.module(&Source::new(SOURCE))?.kernel("add_them")?;
    let config = LaunchConfig::over(a.len(), 128);
    let arguments = [sum.argument()?, a.argument()?, b.argument()?, N.into()];
    // SAFETY: the kernel uses the first N elements of arrays that have N.
    unsafe { add_them.launch(context.stream(), &config, &arguments)? };

    // Reading waits for the stream, so that nothing else has to.
    let found = sum.to_vec()?;
    let expected: Vec<f32> = host_a.iter().zip(&host_b).map(|(a, b)| a + b).collect();
    assert_eq!(found, expected);
    println!("{N} sums on {}, the last {}", context.device().info(), found[found.len() - 1]);
    Ok(())
}
