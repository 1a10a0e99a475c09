//! Products of matrices as they are written for tensor cores: with `nvcuda::wmma`, and by hand with `ldmatrix` and
//! `mma`.

use half::f16;

use super::{NOISE, on_each, unit};

/// What the kernels fill arrays with: numbers between -1 and 1.
fn number(i: usize) -> f64 {
    f64::from(unit(i as u32)) * 2.0 - 1.0
}

/// A number as a half.
fn half(i: usize) -> f64 {
    f16::from_f64(number(i)).to_f64()
}

/// `a * b`, of m by k and k by n numbers, of which all are known by their place.
fn product(
    [m, n, k]: [usize; 3],
    a: impl Fn(usize, usize) -> f64,
    b: impl Fn(usize, usize) -> f64,
) -> Vec<f64> {
    let sum = |row, column| (0..k).map(|i| a(row, i) * b(i, column)).sum();
    (0..m * n).map(|at| sum(at / n, at % n)).collect()
}

fn near(found: &[f32], due: &[f64], tolerance: f64) {
    assert_eq!(found.len(), due.len());
    for (at, (found, due)) in found.iter().zip(due).enumerate() {
        assert!((f64::from(*found) - due).abs() <= tolerance, "{at}: {found}, not {due}");
    }
}

/// A warp a tile of 16 by 16, the sum scaled element by element as BLAS has it.
#[test]
fn wmma_of_halves() {
    let source = format!(
        "/*---
[constant]
n = 64
[array.a]
type = 'half'
count = 'n * n'
[array.b]
type = 'half'
count = 'n * n'
[array.c]
type = 'float'
count = 'n * n'
[array.d]
type = 'half'
count = 'n * n'
[[pass]]
kernel = 'start'
on = 'reset'
over = 'a'
[[pass]]
kernel = 'multiply'
grid = [2, 2]
block = [64, 2]
---*/
#include <mma.h>
using namespace nvcuda;
{NOISE}
__global__ void start(half *a, half *b, float *c) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * n) return;
    a[i] = __float2half(2.0f * unit(i) - 1.0f);
    b[i] = __float2half(2.0f * unit(i + n * n) - 1.0f);
    c[i] = 2.0f * unit(i + 2 * n * n) - 1.0f;
}}
// The warps of a block share what they read of `a`, by way of rows with room between them.
__global__ void multiply(const half *a, const half *b, float *c, half *d) {{
    __shared__ __align__(32) half tile[32][24];
    int warp_x = threadIdx.x / 32, warp_y = threadIdx.y, thread = threadIdx.y * blockDim.x + threadIdx.x;
    int row = blockIdx.y * 32 + warp_y * 16, column = blockIdx.x * 32 + warp_x * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, start;
    wmma::fragment<wmma::accumulator, 16, 16, 16, half> halves;
    wmma::fill_fragment(sum, 0.0f);
    wmma::fill_fragment(halves, __float2half(0.0f));
    for (int k = 0; k < n; k += 16) {{
        __syncthreads();
        for (int i = thread; i < 32 * 16; i += 128)
            tile[i / 16][i % 16] = a[(blockIdx.y * 32 + i / 16) * n + k + i % 16];
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
        wmma::load_matrix_sync(left, &tile[warp_y * 16][0], 24);
        wmma::load_matrix_sync(right, b + column * n + k, n);
        wmma::mma_sync(sum, left, right, sum);
        wmma::mma_sync(halves, left, right, halves);
    }}
    wmma::load_matrix_sync(start, c + row * n + column, n, wmma::mem_row_major);
    for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = 2.0f * sum.x[i] - start.x[i];
    wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
    wmma::store_matrix_sync(d + column * n + row, halves, n, wmma::mem_col_major);
}}
"
    );
    let n = 64;
    let due = product([n, n, n], |row, i| half(row * n + i), |i, c| half(n * n + c * n + i));
    on_each(&source, |program| {
        let scaled: Vec<f64> =
            due.iter().enumerate().map(|(i, sum)| 2.0 * sum - number(2 * n * n + i)).collect();
        // Sums of 64 products below 1, in single precision.
        near(&program.read::<f32>("c"), &scaled, 64.0 * 64.0 * f64::from(f32::EPSILON));
        let halves: Vec<f32> = program.read::<f16>("d").iter().map(|half| half.to_f32()).collect();
        let columns: Vec<f64> = (0..n * n).map(|i| due[i % n * n + i / n]).collect();
        // Rounded to a half four times on the way, where it is below 16.
        near(&halves, &columns, 4.0 * 16.0 * 2f64.powi(-11));
    });
}

/// Of TensorFloat-32, of bytes, and of doubles.
#[test]
fn wmma_of_other_numbers() {
    let source = format!(
        "/*---
[array.tf]
type = 'float'
count = 256
[array.whole]
type = 'int'
count = 256
[array.wide]
type = 'double'
count = 64
[array.bf]
type = 'float'
count = 256
[[pass]]
kernel = 'multiply'
grid = 1
block = 32
---*/
#include <mma.h>
#include <cuda_bf16.h>
using namespace nvcuda;
{NOISE}
__global__ void multiply(float *tf, int *whole, double *wide, float *bf) {{
    __shared__ __align__(32) float a[16 * 8], b[8 * 16];
    __shared__ __align__(32) signed char c[16 * 32], d[32 * 16];
    __shared__ __align__(32) double e[8 * 8], f[8 * 8];
    __shared__ __align__(32) __nv_bfloat16 g[32 * 16], h[16 * 8];
    for (int i = threadIdx.x; i < 128; i += 32) {{
        a[i] = 2.0f * unit(i) - 1.0f;
        b[i] = 2.0f * unit(i + 128) - 1.0f;
        h[i] = __float2bfloat16(2.0f * unit(i + 512) - 1.0f);
    }}
    for (int i = threadIdx.x; i < 512; i += 32) {{
        c[i] = noise(i) % 256;
        d[i] = noise(i + 512) % 256;
        g[i] = __float2bfloat16(2.0f * unit(i) - 1.0f);
    }}
    for (int i = threadIdx.x; i < 64; i += 32) {{
        e[i] = 2.0f * unit(i) - 1.0f;
        f[i] = 2.0f * unit(i + 64) - 1.0f;
    }}
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> fd;
    wmma::load_matrix_sync(fa, a, 8);
    wmma::load_matrix_sync(fb, b, 16);
    for (int i = 0; i < fa.num_elements; ++i) fa.x[i] = wmma::__float_to_tf32(fa.x[i]);
    for (int i = 0; i < fb.num_elements; ++i) fb.x[i] = wmma::__float_to_tf32(fb.x[i]);
    wmma::fill_fragment(fd, 0.0f);
    wmma::mma_sync(fd, fa, fb, fd);
    wmma::store_matrix_sync(tf, fd, 16, wmma::mem_row_major);

    wmma::fragment<wmma::accumulator, 16, 16, 16, int> id;
    wmma::fill_fragment(id, 0);
    for (int k = 0; k < 32; k += 16) {{
        wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> ia;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> ib;
        wmma::load_matrix_sync(ia, c + k, 32);
        wmma::load_matrix_sync(ib, d + k, 32);
        wmma::mma_sync(id, ia, ib, id);
    }}
    wmma::store_matrix_sync(whole, id, 16, wmma::mem_row_major);

    wmma::fragment<wmma::accumulator, 8, 8, 4, double> dd;
    wmma::fill_fragment(dd, 0.0);
    for (int k = 0; k < 8; k += 4) {{
        wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> da;
        wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> db;
        wmma::load_matrix_sync(da, e + k, 8);
        wmma::load_matrix_sync(db, f + k * 8, 8);
        wmma::mma_sync(dd, da, db, dd);
    }}
    wmma::store_matrix_sync(wide, dd, 8, wmma::mem_row_major);

    wmma::fragment<wmma::matrix_a, 32, 8, 16, __nv_bfloat16, wmma::row_major> ba;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, __nv_bfloat16, wmma::row_major> bb;
    wmma::fragment<wmma::accumulator, 32, 8, 16, float> bd;
    wmma::load_matrix_sync(ba, g, 16);
    wmma::load_matrix_sync(bb, h, 8);
    wmma::fill_fragment(bd, 0.0f);
    wmma::mma_sync(bd, ba, bb, bd);
    wmma::store_matrix_sync(bf, bd, 8, wmma::mem_row_major);
}}
"
    );
    // To ten bits of fraction, the nearest, those in the middle away from zero.
    let tf32 = |i| {
        let bits = (number(i) as f32).to_bits();
        f64::from(f32::from_bits((bits + 0x1000) & !0x1fff))
    };
    let bf16 = |i| half::bf16::from_f64(number(i)).to_f64();
    let byte = |i: usize| f64::from(super::noise(i as u32) as i8);
    on_each(&source, |program| {
        let exact = 16.0 * 16.0 * f64::from(f32::EPSILON);
        let due = product([16, 16, 8], |r, i| tf32(r * 8 + i), |i, c| tf32(128 + i * 16 + c));
        near(&program.read::<f32>("tf"), &due, exact);
        let due = product([16, 16, 32], |r, i| byte(r * 32 + i), |i, c| byte(512 + c * 32 + i));
        let whole: Vec<f64> = program.read::<i32>("whole").into_iter().map(f64::from).collect();
        assert_eq!(whole, due);
        let due = product([8, 8, 8], |r, i| number(r * 8 + i), |i, c| number(64 + i * 8 + c));
        for (found, due) in program.read::<f64>("wide").iter().zip(due) {
            assert!((found - due).abs() < 1e-14, "{found}, not {due}");
        }
        let due = product([32, 8, 16], |r, i| bf16(r * 16 + i), |i, c| bf16(512 + i * 8 + c));
        near(&program.read::<f32>("bf"), &due, exact);
    });
}

/// Four warps, tiles of 64 by 64 that are copied while the ones before are multiplied, without two threads of a load in
/// one bank.
#[test]
fn mma_by_hand() {
    let source = format!(
        "/*---
[constant]
n = 128
[array.a]
type = 'half'
count = 'n * n'
[array.b]
type = 'half'
count = 'n * n'
[array.c]
type = 'float'
count = 'n * n'
[[pass]]
kernel = 'start'
on = 'reset'
over = 'a'
[[pass]]
kernel = 'multiply'
grid = [2, 2]
block = 128
---*/
#include <cuda_fp16.h>
{NOISE}
__global__ void start(half *a, half *b) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * n) return;
    a[i] = __float2half(2.0f * unit(i) - 1.0f);
    b[i] = __float2half(2.0f * unit(i + n * n) - 1.0f);
}}
__device__ unsigned address(const void *p) {{ return (unsigned)__cvta_generic_to_shared(p); }}
__device__ void load(unsigned (&r)[4], const half *p) {{
    asm volatile(\"ldmatrix.sync.aligned.x4.m8n8.shared.b16 {{%0, %1, %2, %3}}, [%4];\"
                 : \"=r\"(r[0]), \"=r\"(r[1]), \"=r\"(r[2]), \"=r\"(r[3]) : \"r\"(address(p)));
}}
__device__ void load_transposed(unsigned (&r)[2], const half *p) {{
    asm volatile(\"ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {{%0, %1}}, [%2];\"
                 : \"=r\"(r[0]), \"=r\"(r[1]) : \"r\"(address(p)));
}}
__device__ void multiply_add(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {{
    asm volatile(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%0, %1, %2, %3}}, {{%4, %5, %6, %7}}, \"
                 \"{{%8, %9}}, {{%0, %1, %2, %3}};\"
                 : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3])
                 : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));
}}
__device__ void copy(half *to, const half *from) {{
    asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\" :: \"r\"(address(to)), \"l\"(from));
}}
__global__ void __launch_bounds__(128) multiply(const half *a, const half *b, float *c) {{
    __shared__ __align__(16) half left[2][64][24], right[2][16][72];
    int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    int row = blockIdx.y * 64, column = blockIdx.x * 64, lower = warp / 2 * 32, later = warp % 2 * 32;
    auto fetch = [&](int stage, int k) {{
        copy(&left[stage][thread / 2][thread % 2 * 8], a + (row + thread / 2) * n + k + thread % 2 * 8);
        copy(&right[stage][thread / 8][thread % 8 * 8], b + (k + thread / 8) * n + column + thread % 8 * 8);
        asm volatile(\"cp.async.commit_group;\");
    }};
    float sums[2][4][4] = {{}};
    fetch(0, 0);
    for (int k = 0; k < n; k += 16) {{
        int stage = k / 16 % 2;
        asm volatile(\"cp.async.wait_group 0;\");
        __syncthreads();
        if (k + 16 < n) fetch(1 - stage, k + 16);
        unsigned ra[2][4], rb[4][2];
        for (int i = 0; i < 2; ++i) load(ra[i], &left[stage][lower + i * 16 + lane % 16][lane / 16 * 8]);
        for (int j = 0; j < 4; ++j) load_transposed(rb[j], &right[stage][lane % 16][later + j * 8]);
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 4; ++j) multiply_add(sums[i][j], ra[i], rb[j]);
    }}
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j)
            for (int half = 0; half < 2; ++half) {{
                int at = (row + lower + i * 16 + half * 8 + lane / 4) * n + column + later + j * 8 + lane % 4 * 2;
                *reinterpret_cast<float2 *>(c + at) = make_float2(sums[i][j][2 * half], sums[i][j][2 * half + 1]);
            }}
}}
"
    );
    let n = 128;
    let due = product([n, n, n], |row, i| half(row * n + i), |i, c| half(n * n + i * n + c));
    on_each(&source, |program| {
        near(&program.read::<f32>("c"), &due, 128.0 * 64.0 * f64::from(f32::EPSILON));
    });
}

/// Attention, softmax(q kᵗ) v, without the matrix in between: a warp has 16 rows of queries, goes over the keys 16 at a
/// time, and takes the sums of one product as a factor of the next.
#[test]
fn attention_by_hand() {
    let source = format!(
        "/*---
[constant]
length = 64
[array.q]
type = 'half'
count = 'length * 16'
[array.k]
type = 'half'
count = 'length * 16'
[array.v]
type = 'half'
count = 'length * 16'
[array.o]
type = 'float'
count = 'length * 16'
[[pass]]
kernel = 'start'
on = 'reset'
over = 'q'
[[pass]]
kernel = 'attend'
grid = 'length / 16'
block = 32
---*/
#include <cuda_fp16.h>
{NOISE}
__global__ void start(half *q, half *k, half *v) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = length * 16;
    if (i >= all) return;
    q[i] = __float2half(2.0f * unit(i) - 1.0f);
    k[i] = __float2half(2.0f * unit(i + all) - 1.0f);
    v[i] = __float2half(2.0f * unit(i + 2 * all) - 1.0f);
}}
__device__ unsigned pair(float low, float high) {{
    half2 both = __floats2half2_rn(low, high);
    return *reinterpret_cast<unsigned *>(&both);
}}
__device__ void multiply_add(float *d, const unsigned *a, unsigned b0, unsigned b1) {{
    asm volatile(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%0, %1, %2, %3}}, {{%4, %5, %6, %7}}, \"
                 \"{{%8, %9}}, {{%0, %1, %2, %3}};\"
                 : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3])
                 : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b0), \"r\"(b1));
}}
__device__ void load(unsigned *r, const half *p, bool transposed) {{
    unsigned at = (unsigned)__cvta_generic_to_shared(p);
    if (transposed)
        asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 {{%0, %1, %2, %3}}, [%4];\"
                     : \"=r\"(r[0]), \"=r\"(r[1]), \"=r\"(r[2]), \"=r\"(r[3]) : \"r\"(at));
    else
        asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {{%0, %1, %2, %3}}, [%4];\"
                     : \"=r\"(r[0]), \"=r\"(r[1]), \"=r\"(r[2]), \"=r\"(r[3]) : \"r\"(at));
}}
__global__ void attend(const half *q, const half *k, const half *v, float *o) {{
    __shared__ __align__(16) half tiles[3][16][16];
    int lane = threadIdx.x;
    auto fetch = [&](int which, const half *from) {{
        for (int i = lane; i < 32; i += 32)
            reinterpret_cast<uint4 *>(tiles[which])[i] = reinterpret_cast<const uint4 *>(from)[i];
    }};
    fetch(0, q + blockIdx.x * 256);
    __syncwarp();
    unsigned rq[4];
    load(rq, &tiles[0][lane % 16][lane / 16 * 8], false);
    float sums[2][4] = {{}}, most[2] = {{-1e30f, -1e30f}}, all[2] = {{}};
    for (int first = 0; first < length; first += 16) {{
        __syncwarp();
        fetch(1, k + first * 16);
        fetch(2, v + first * 16);
        __syncwarp();
        unsigned rk[4], rv[4];
        // Rows of k are columns of its transpose.
        load(rk, &tiles[1][lane % 8 + lane / 16 * 8][lane / 8 % 2 * 8], false);
        load(rv, &tiles[2][lane % 16][lane / 16 * 8], true);
        float s[2][4] = {{}};
        multiply_add(s[0], rq, rk[0], rk[1]);
        multiply_add(s[1], rq, rk[2], rk[3]);
        for (int half = 0; half < 2; ++half) {{
            float top = most[half];
            for (int j = 0; j < 2; ++j) top = fmaxf(top, fmaxf(s[j][2 * half], s[j][2 * half + 1]));
            top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, 1));
            top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, 2));
            float scale = expf(most[half] - top);
            most[half] = top;
            all[half] *= scale;
            for (int j = 0; j < 2; ++j)
                for (int i = 2 * half; i < 2 * half + 2; ++i) {{
                    sums[j][i] *= scale;
                    s[j][i] = expf(s[j][i] - top);
                    all[half] += s[j][i];
                }}
        }}
        unsigned rp[4] = {{pair(s[0][0], s[0][1]), pair(s[0][2], s[0][3]), pair(s[1][0], s[1][1]), pair(s[1][2], s[1][3])}};
        multiply_add(sums[0], rp, rv[0], rv[1]);
        multiply_add(sums[1], rp, rv[2], rv[3]);
    }}
    for (int half = 0; half < 2; ++half) {{
        float sum = all[half];
        sum += __shfl_xor_sync(0xffffffff, sum, 1);
        sum += __shfl_xor_sync(0xffffffff, sum, 2);
        for (int j = 0; j < 2; ++j)
            for (int i = 0; i < 2; ++i)
                o[(blockIdx.x * 16 + half * 8 + lane / 4) * 16 + j * 8 + lane % 4 * 2 + i] = sums[j][2 * half + i] / sum;
    }}
}}
"
    );
    let (length, width) = (64, 16);
    let all = length * width;
    let scores = product(
        [length, length, width],
        |row, i| half(row * width + i),
        |i, column| half(all + column * width + i),
    );
    let mut due = Vec::new();
    for row in scores.chunks(length) {
        let total: f64 = row.iter().map(|score| score.exp()).sum();
        for column in 0..width {
            let value = |at: usize| half(2 * all + at * width + column);
            due.push(row.iter().enumerate().map(|(at, s)| s.exp() / total * value(at)).sum());
        }
    }
    on_each(&source, |program| {
        // Weights are rounded to halves, of values below 1 which are averaged.
        near(&program.read::<f32>("o"), &due, 2f64.powi(-11));
    });
}
