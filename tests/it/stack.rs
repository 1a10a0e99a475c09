//! Local and shared memory of kernels that call functions: enough of it, and aligned as the source asks for.

use warpaint::{
    array::GpuArray,
    device::LaunchConfig,
    kernel::{Context, Source},
};

use crate::support::contexts;

/// What 64 numbers hold after `k` of `source`, launched as one block of `threads` with shared memory.
fn ran(context: &Context, source: &str, threads: u32) -> Vec<u32> {
    let kernel = context.module(&Source::new(source)).unwrap().kernel("k").unwrap();
    let out = GpuArray::<u32>::zeros(context, &[64]).unwrap();
    let mut config = LaunchConfig::new(1, threads);
    config.shared_bytes = 256;
    // SAFETY: the kernels write within 64 numbers and 256 bytes of shared memory.
    #[expect(unsafe_code, reason = "a launch")]
    unsafe { kernel.launch(context.stream(), &config, &[out.argument().unwrap()]) }.unwrap();
    out.to_vec().unwrap()
}

/// Six functions that call one another, each with 8,000 bytes of its own.
#[test]
fn frames_of_called_functions_have_room() {
    let mut source = String::from("__device__ __noinline__ unsigned f6(unsigned) { return 1; }\n");
    for level in (0..6).rev() {
        let below = level + 1;
        source += &format!(
            "__device__ __noinline__ unsigned f{level}(unsigned t) {{
                unsigned a[2000], sum = 0;
                for (int i = 0; i < 2000; ++i) a[i] = i * t;
                unsigned below = f{below}(t + 1);
                for (int i = 0; i < 2000; ++i) sum += a[(i * 7 + t) % 2000];
                return below + sum;
            }}\n"
        );
    }
    source += "__global__ void k(unsigned *out) { out[threadIdx.x] = f0(threadIdx.x); }";
    // Each adds t times the sum of 0 to 1999, and 7 has no divisor in common with 2000.
    let expected = |t: u32| (0..6).map(|level| (t + level) * 1_999_000).sum::<u32>() + 1;
    for context in contexts() {
        let out = ran(&context, &source, 8);
        assert_eq!(out[..8], (0..8).map(expected).collect::<Vec<_>>());
    }
}

/// Low bits of addresses are hidden from the compiler, which otherwise takes the alignment for granted.
#[test]
fn alignments_above_a_vectors_are_kept() {
    let source = "
        struct alignas(128) Line { int v[32]; };
        extern __shared__ __align__(128) unsigned dynamic[];
        __device__ unsigned low(const volatile void *p) {
            size_t address;
            asm volatile(\"mov.u64 %0, %1;\" : \"=l\"(address) : \"l\"(p));
            return address & 127;
        }
        __device__ __noinline__ void inner(unsigned *out, int n) {
            volatile int odd[5];
            Line line;
            odd[n % 5] = n;
            line.v[n] = n;
            out[n] = low(&line) + (line.v[n] - odd[n % 5]);
        }
        __device__ __noinline__ void outer(unsigned *out, int n) {
            volatile int odd[3];
            odd[n % 3] = n;
            inner(out, n);
            inner(out, odd[n % 3] + 1);
        }
        __global__ void k(unsigned *out) {
            __shared__ unsigned few[5];
            volatile int odd[3];
            Line line;
            few[threadIdx.x % 5] = odd[threadIdx.x % 3] = line.v[threadIdx.x] = threadIdx.x;
            dynamic[threadIdx.x] = few[0] + odd[0] + line.v[threadIdx.x];
            out[40 + threadIdx.x] = low(&line);
            out[60] = low(dynamic);
            if (threadIdx.x == 0) outer(out, 20);
        }";
    for context in contexts() {
        assert_eq!(ran(&context, source, 8), [0; 64]);
    }
}
