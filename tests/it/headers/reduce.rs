//! Sums over blocks, against the tree that they are.

use warpaint::{
    device::{
        Device,
        cpu::{self, Check, LaunchOptions},
    },
    kernel::Context,
};

use super::{contexts, numbers, run};

/// Each block adds up its numbers, twice as many and their opposites, one sum behind the other, as four components.
const SUMS: &str = "#include <warpaint/reduce.cuh>
template <int THREADS> __global__ void sums(const float *x, float4 *sum)
{
    using namespace warpaint;
    const float mine = x[blockIdx.x * THREADS + threadIdx.x];
    const float once = block_sum<THREADS>(mine);
    const int3 numbers = block_sum<THREADS>(make_int3(threadIdx.x, 1, -1));
    const float2 others = block_sum<THREADS>(make_float2(2.0f * mine, -mine));
    if (threadIdx.x > 0) return;
    const bool right = numbers.x == THREADS * (THREADS - 1) / 2 && numbers.y == THREADS && numbers.z == -THREADS;
    sum[blockIdx.x] = make_float4(once, others.x, others.y, right);
}";

const BLOCKS: usize = 3;

/// Halves that are added to each other until one number is left.
fn tree(mut numbers: Vec<f32>) -> f32 {
    while numbers.len() > 1 {
        let upper = numbers.split_off(numbers.len() / 2);
        numbers.iter_mut().zip(upper).for_each(|(a, b)| *a += b);
    }
    numbers[0]
}

fn check(context: &Context, threads: usize) {
    let x = numbers(BLOCKS * threads, threads as u64);
    let name = format!("sums<{threads}>");
    let kernels = [(&*name, BLOCKS as u32, threads as u32)];
    let found: Vec<[f32; 4]> = run(context, SUMS, &kernels, &[&x], BLOCKS);
    let sums = x.chunks(threads).map(|x| tree(x.to_vec()));
    // The same bits: the same numbers in the same order.
    let expected: Vec<_> = sums.map(|sum| [sum, 2.0 * sum, -sum, 1.0]).collect();
    assert_eq!(found, expected, "{threads} threads");
}

#[test]
fn blocks_are_added_up_as_a_tree() {
    for context in contexts() {
        [4, 32, 128, 1024].into_iter().for_each(|threads| check(&context, threads));
    }
}

#[test]
fn sums_one_behind_the_other_do_not_race() {
    let (device, races) = (cpu::Device::new().unwrap(), Check::all());
    device.set_launch_options(LaunchOptions::checked(&races));
    let context = Context::new(Device::Cpu(device)).unwrap();
    [4, 128].into_iter().for_each(|threads| check(&context, threads));
    assert_eq!(races.report().findings, []);
}
