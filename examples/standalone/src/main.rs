//! A program that takes nothing of warpaint but its library: no window, no OpenGL, no command line, and without its
//! feature `cpu` no compiler for the CPU device.
//!
//! ```sh
//! cargo run --release                  # on an NVIDIA GPU
//! cargo run --release --features cpu   # also where there is none
//! ```

#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use std::error::Error;

use warpaint::{
    Context, GpuArray, Source,
    device::{Choice, LaunchConfig},
};

#[allow(unsafe_code, reason = "what a kernel of one's own does with memory nobody else knows")]
pub fn main() -> Result<(), Box<dyn Error>> {
    let context = Context::open(Choice::Auto)?;
    println!("on {}", context.device().info());

    // The mean of sqrt(1 - x^2) at the centres of a million intervals of [0, 1] is a quarter of pi.
    let n = 1_000_000;
    let x = (GpuArray::<f64>::arange(&context, n)? + 0.5) / n as f64;
    let mean = (1.0 - &x * &x).sqrt().sum()?.item()? / n as f64;
    println!("pi is about {:.6}", 4.0 * mean);
    assert!((4.0 * mean - std::f64::consts::PI).abs() < 1e-6);

    let source = Source::new(
        "__global__ void twice(float *x, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) x[i] *= 2.0f;
        }",
    );
    let twice = context.module(&source)?.kernel("twice")?;
    let y = GpuArray::from_slice(&context, &[1.0f32, 2.5, -3.0])?;
    let config = LaunchConfig::over(y.len(), 128);
    // SAFETY: the kernel uses the elements that `n` says.
    unsafe { twice.launch(context.stream(), &config, &[y.argument()?, 3.into()])? };
    println!("twice as much is {:?}", y.to_vec()?);
    assert_eq!(y.to_vec()?, [2.0, 5.0, -6.0]);
    Ok(())
}
