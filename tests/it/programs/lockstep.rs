//! Kernels from the time when the threads of a warp ran in lockstep: they exchange data within a warp without a
//! barrier. GPUs mostly run them as they were meant, and `lockstep = true` lets the CPU device do so.

use super::on_each;

/// A manifest for a kernel `k(const int *in, int *out)` with so many threads in a block, and as many elements.
fn scene(threads: u32, kernel: &str) -> String {
    format!(
        "/*---
[array.in]
type = 'int'
count = {threads}
[array.out]
type = 'int'
count = {threads}
[[pass]]
kernel = 'fill'
on = 'reset'
grid = 1
block = {threads}
[[pass]]
kernel = 'k'
grid = 1
block = {threads}
lockstep = true
---*/
__global__ void fill(int *in) {{ in[threadIdx.x] = 3 * threadIdx.x % 101; }}
{kernel}"
    )
}

/// What `fill` makes.
fn filled(threads: u32) -> Vec<i32> {
    (0..threads as i32).map(|i| 3 * i % 101).collect()
}

#[test]
fn a_warp_exchanges_through_shared_memory() {
    let source = scene(
        32,
        "__global__ void k(const int *in, int *out) {
    __shared__ volatile int s[32];
    s[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = s[31 - threadIdx.x];
}",
    );
    on_each(&source, |program| {
        let reversed: Vec<i32> = filled(32).into_iter().rev().collect();
        assert_eq!(program.read::<i32>("out"), reversed);
    });
}

/// The reduction of the CUDA samples of 2007: its last warp has no barriers.
#[test]
fn the_last_warp_of_a_reduction_needs_no_barriers() {
    let source = scene(
        256,
        "__global__ void k(const int *in, int *out) {
    __shared__ volatile int s[256];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int half = 128; half > 32; half /= 2) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    if (t < 32) {
        s[t] += s[t + 32];
        s[t] += s[t + 16];
        s[t] += s[t + 8];
        s[t] += s[t + 4];
        s[t] += s[t + 2];
        s[t] += s[t + 1];
    }
    __syncthreads();
    out[t] = s[0];
}",
    );
    on_each(&source, |program| {
        let sum: i32 = filled(256).iter().sum();
        assert_eq!(program.read::<i32>("out"), [sum; 256]);
    });
}

/// Hillis and Steele's scan, each warp for itself, with threads that take no part in some of its rounds.
#[test]
fn a_warp_scans_without_barriers() {
    let source = scene(
        64,
        "__global__ void k(const int *in, int *out) {
    __shared__ volatile int s[64];
    int t = threadIdx.x, lane = t & 31;
    s[t] = in[t];
    for (int distance = 1; distance < 32; distance *= 2)
        if (lane >= distance) s[t] += s[t - distance];
    out[t] = s[t];
}",
    );
    on_each(&source, |program| {
        let sums = filled(64);
        let sums = sums.chunks(32).flat_map(|warp| {
            warp.iter().scan(0, |sum, value| {
                *sum += value;
                Some(*sum)
            })
        });
        assert_eq!(program.read::<i32>("out"), sums.collect::<Vec<i32>>());
    });
}

/// Threads that go different ways, for different times and through functions, are together again behind them.
#[test]
fn threads_that_parted_reconverge() {
    let source = scene(
        32,
        "__device__ __noinline__ int collatz(int n) {
    int steps = 0;
    for (; n > 1; ++steps) n = n % 2 ? 3 * n + 1 : n / 2;
    return steps;
}
__global__ void k(const int *in, int *out) {
    __shared__ volatile int s[32];
    int t = threadIdx.x;
    if (t == 7) { out[t] = -1; return; }
    s[t] = t % 3 == 0 ? collatz(in[t]) : -t;
    out[t] = s[t == 6 ? 8 : (t + 31) % 32 == 7 ? 6 : (t + 31) % 32];
}",
    );
    let steps = |mut n: i32| {
        let mut steps = 0;
        while n > 1 {
            n = if n % 2 == 1 { 3 * n + 1 } else { n / 2 };
            steps += 1;
        }
        steps
    };
    on_each(&source, |program| {
        let input = filled(32);
        let given = |t: i32| if t % 3 == 0 { steps(input[t as usize]) } else { -t };
        let from = |t: i32| match t {
            6 => 8,
            8 => 6,
            t => (t + 31) % 32,
        };
        let expected = (0..32).map(|t| if t == 7 { -1 } else { given(from(t)) });
        assert_eq!(program.read::<i32>("out"), expected.collect::<Vec<i32>>());
    });
}

/// Registers of 128 bits that two ways fill with different values and that meet at the barrier alone, since one of the
/// ways may end: four threads that went on together took the first one's value.
#[test]
fn values_of_128_bits_stay_those_of_their_threads() {
    let kernel = r#"__global__ void k(const int *in, int *out) {
    int t = threadIdx.x;
    float x = t, y = 1.0f;
    // It makes it worth while to run four threads side by side.
#pragma unroll 1
    for (int j = 0; j < 40; ++j) {
        x = x * 1.01f + y; y = y * x - 0.3f; x = fmaf(x, y, 0.1f); y = fmaf(y, 0.5f, x);
        x = x * 1.01f + y; y = y * x - 0.3f; x = fmaf(x, y, 0.1f); y = fmaf(y, 0.5f, x);
    }
    unsigned long long low, high;
    asm volatile("{ .reg .b128 t; .reg .pred even, never;\n\t"
                 "setp.eq.u32 even, %2, 0;\n\t"
                 "setp.eq.u32 never, %3, 77;\n\t"
                 "@even bra EVEN%=;\n\t"
                 "@never exit;\n\t"
                 "mov.b128 t, {%4, %4};\n\t"
                 "bra BOTH%=;\n\t"
                 "EVEN%=: mov.b128 t, {%5, %5};\n\t"
                 "BOTH%=: bar.sync 0;\n\t"
                 "mov.b128 {%0, %1}, t; }"
                 : "=l"(low), "=l"(high) : "r"(t & 1), "r"(in[0]), "l"(7ull), "l"(0ull) : "memory");
    out[t] = (int)(low + high) + (y == 12345.0f);
}"#;
    let source = scene(64, kernel).replace("lockstep = true\n", "");
    on_each(&source, |program| {
        let expected: Vec<i32> = (0..64).map(|t| 14 * (t % 2)).collect();
        assert_eq!(program.read::<i32>("out"), expected);
    });
}
