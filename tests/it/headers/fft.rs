//! Transforms against sums in double precision.

use std::f64::consts::TAU;

use super::{contexts, numbers, run};

type Complex = [f64; 2];

fn times(a: Complex, b: Complex) -> Complex {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

/// Element `k` of the transform of `x`: the definition.
fn defined(x: &[Complex], k: usize, inverse: bool) -> Complex {
    let n = x.len();
    let (sign, scale) = if inverse { (1.0, 1.0 / n as f64) } else { (-1.0, 1.0) };
    let term = |(j, x): (usize, &Complex)| {
        let angle = sign * TAU * ((j * k) % n) as f64 / n as f64;
        times(*x, [angle.cos(), angle.sin()])
    };
    let sum = x.iter().enumerate().map(term).fold([0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]);
    sum.map(|part| part * scale)
}

fn complex(numbers: &[f32]) -> Vec<Complex> {
    numbers.chunks(2).map(|c| [f64::from(c[0]), f64::from(c[1])]).collect()
}

/// That `found` is `expected` but for rounding: a few units for each of the passes, of a sum of this length.
fn expect_near(found: Complex, expected: Complex, length: f64, n: usize) {
    let distance = (found[0] - expected[0]).hypot(found[1] - expected[1]);
    let bound = 2e-7 * f64::from(n.ilog2() + 1) * length;
    assert!(
        distance <= bound,
        "{found:?} for {expected:?}, off by {distance:e} of {bound:e}, n {n}"
    );
}

const LINES: &str = "#include <warpaint/fft.cuh>
template <int N, int LINES, bool inverse> __global__ void lines(float2 *data, float2 *out)
{
    using namespace warpaint;
    __shared__ float2 shared[LINES * fft_line(N)];
    const int count = 5;
    // Columns of a table.
    for (int i = threadIdx.x; i < N; i += blockDim.x) {
        for (int l = 0; l < LINES; ++l) {
            const int line = blockIdx.x * LINES + l;
            if (line < count) out[i * count + line] = data[i * count + line];
        }
    }
    __syncthreads();
    fft_lines<N, LINES, inverse>(shared, out, count, 1, count);
}";

#[test]
fn columns_are_transformed_as_defined() {
    let sizes = [(2, 4), (4, 4), (8, 4), (32, 4), (256, 2), (512, 2), (2048, 1), (4096, 1)];
    for context in contexts() {
        for (n, lines) in sizes {
            for inverse in [false, true] {
                let data = numbers(2 * 5 * n, n as u64);
                let name = format!("lines<{n}, {lines}, {inverse}>");
                let threads = lines * (n / 8).max(1);
                let shape = [(&*name, 5_usize.div_ceil(lines) as u32, threads as u32)];
                let found: Vec<f32> = run(&context, LINES, &shape, &[&data], 2 * 5 * n);
                let (data, found) = (complex(&data), complex(&found));
                for line in 0..5 {
                    let column: Vec<_> = data.iter().skip(line).step_by(5).copied().collect();
                    let length = column.iter().map(|c| times(*c, [c[0], -c[1]])[0]).sum::<f64>();
                    let length = length.sqrt() / if inverse { n as f64 } else { 1.0 };
                    // All of short ones, some of long ones.
                    for k in (0..n).step_by((n / 40).max(1)) {
                        let expected = defined(&column, k, inverse);
                        expect_near(found[k * 5 + line], expected, length, n);
                    }
                }
            }
        }
    }
}

#[test]
fn rows_and_columns_are_a_transform_in_two_dimensions() {
    let source = "#include <warpaint/fft.cuh>
        using namespace warpaint;
        __global__ void rows(const float2 *data, float2 *out)
        {
            __shared__ float2 shared[2 * fft_line(64)];
            for (int i = threadIdx.x; i < 128; i += blockDim.x) out[blockIdx.x * 128 + i] = data[blockIdx.x * 128 + i];
            __syncthreads();
            fft_lines<64, 2, false>(shared, out, 1, 64, 32);
        }
        __global__ void columns(const float2 *, float2 *out)
        {
            __shared__ float2 shared[8 * fft_line(32)];
            fft_lines<32, 8, false>(shared, out, 64, 1, 64);
        }";
    let data = numbers(2 * 64 * 32, 7);
    for context in contexts() {
        let kernels = [("rows", 16, 16), ("columns", 8, 32)];
        let found: Vec<f32> = run(&context, source, &kernels, &[&data], data.len());
        let (data, found) = (complex(&data), complex(&found));
        let length = data.iter().map(|c| times(*c, [c[0], -c[1]])[0]).sum::<f64>().sqrt();
        for (ky, kx) in [(0, 0), (1, 0), (0, 1), (5, 17), (31, 63), (16, 32)] {
            let rows: Vec<_> = data.chunks(64).map(|row| defined(row, kx, false)).collect();
            expect_near(found[ky * 64 + kx], defined(&rows, ky, false), length, 2048);
        }
    }
}
