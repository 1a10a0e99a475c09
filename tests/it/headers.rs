//! The headers of `kernels/include/warpaint` that stand for themselves, in kernels of a user's kind.

mod colour;
mod fft;
mod grid;
mod noise;
mod reduce;
mod toolkit;

use bytemuck::{Pod, Zeroable};
use warpaint::{
    device::LaunchConfig,
    kernel::{Context, Source},
};

use crate::support::contexts;

/// Launches kernels of `source`, each with its shape, that take buffers of what `inputs` hold, and one of `outputs`
/// elements; what the latter holds then.
fn run<I: Pod, O: Pod + Zeroable>(
    context: &Context,
    source: &str,
    kernels: &[(&str, u32, u32)],
    inputs: &[&[I]],
    outputs: usize,
) -> Vec<O> {
    let source = kernels.iter().fold(Source::new(source), |s, (name, ..)| s.instance(*name));
    let module = context.module(&source).unwrap();
    let stream = context.stream();
    let block = |bytes: &[u8]| {
        let block = context.pool().alloc(stream, bytes.len()).unwrap();
        stream.upload(block.slice(..).unwrap(), bytes).unwrap();
        block
    };
    let mut blocks: Vec<_> = inputs.iter().map(|i| block(bytemuck::cast_slice(i))).collect();
    blocks.push(block(bytemuck::cast_slice(&vec![O::zeroed(); outputs])));
    let arguments: Vec<_> = blocks.iter().map(|b| b.slice(..).unwrap().into()).collect();
    for (name, grid, threads) in kernels {
        let kernel = module.kernel(name).unwrap();
        let config = LaunchConfig::new(*grid, *threads);
        // SAFETY: the tests' kernels stay within the buffers that are theirs.
        #[expect(unsafe_code, reason = "a launch")]
        unsafe { kernel.launch(stream, &config, &arguments) }.unwrap();
    }
    let last = blocks.last().unwrap().slice(..).unwrap();
    let bytes = stream.download(last).unwrap().wait().unwrap();
    bytemuck::pod_collect_to_vec(&bytes)
}

/// Numbers from -1 to 1.
fn numbers(count: usize, mut seed: u64) -> Vec<f32> {
    let next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    std::iter::repeat_with(next).take(count).collect()
}
