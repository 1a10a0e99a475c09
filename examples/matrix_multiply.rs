//! The product of two matrices with tiles in shared memory, as in the CUDA C++ Programming Guide ("Shared Memory").
//!
//! One learns two-dimensional grids, templates ([`Source::instance`]), barriers, and the time of a launch on the
//! device. The edges are not multiples of a tile; the result is compared with the host's.

#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use std::error::Error;

use warpaint::{
    array::GpuArray,
    device::{Choice, LaunchConfig},
    kernel::{Context, Source},
};

/// The shapes: `[M, K]` times `[K, N]` gives `[M, N]`.
const M: i32 = 70;
const N: i32 = 50;
const K: i32 = 90;

const SOURCE: &str = "
template <int TILE>
__global__ void multiply(float *c, const float *a, const float *b, int m, int n, int k) {
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (int first = 0; first < k; first += TILE) {
        // Each thread fetches an element of both tiles, 0 outside, and computes one of the product.
        tile_a[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0.0f;
        tile_b[y][x] = first + y < k && column < n ? b[(first + y) * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += tile_a[y][i] * tile_b[i][x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}";

/// Multiplies two matrices and compares with the host.
#[expect(unsafe_code, reason = "launches a kernel, whose accesses nothing proves on an NVIDIA GPU")]
pub fn main() -> Result<(), Box<dyn Error>> {
    let context = Context::open(Choice::Auto)?;
    let (host_a, host_b) = (whole_numbers(M * K, 7), whole_numbers(K * N, 5));
    let [m, n, k] = [M as usize, N as usize, K as usize];
    let a = GpuArray::from_shape(&context, &[m, k], &host_a)?;
    let b = GpuArray::from_shape(&context, &[k, n], &host_b)?;
    let c = GpuArray::<f32>::empty(&context, &[m, n])?;

    let source = Source::new(SOURCE).named("multiply.cu").instance("multiply<16>");
    let multiply = context.module(&source)?.kernel("multiply<16>")?;
    let config = LaunchConfig::new([n.div_ceil(16) as u32, m.div_ceil(16) as u32], [16, 16]);
    let [a, b, product] = [a.argument()?, b.argument()?, c.argument()?];
    let prepared = multiply.prepare(&config, &[product, a, b, M.into(), N.into(), K.into()])?;
    // SAFETY: the kernel stays inside the shapes that it is given.
    let time = unsafe { prepared.launch_timed(context.stream())? };

    assert_eq!(c.to_vec()?, product_on_the_host(&host_a, &host_b));
    let info = context.device().info();
    println!("{M}x{K} times {K}x{N} on {info}: {:.3} ms", time.wait_ms()?);
    Ok(())
}

/// Whole numbers so small that all sums of products are exact, in whatever order.
fn whole_numbers(count: i32, modulus: i32) -> Vec<f32> {
    (0..count).map(|i| (i % modulus - 2) as f32).collect()
}

fn product_on_the_host(a: &[f32], b: &[f32]) -> Vec<f32> {
    let column = |j: usize| b.iter().skip(j).step_by(N as usize);
    let element = |row: &[f32], j| row.iter().zip(column(j)).map(|(a, b)| a * b).sum();
    let rows = a.chunks(K as usize);
    rows.flat_map(|row| (0..N as usize).map(move |j| element(row, j))).collect()
}
