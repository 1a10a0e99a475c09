// warpaint/scan.cuh: how much comes before each element: sums of whole numbers over any length, in two launches.
//
//     __global__ void totals(const int *count, int *total) { warpaint::sum_chunk(count, n, total); }
//     __global__ void starts(const int *count, const int *total, int *start)
//     {
//         warpaint::scan_chunk(count, n, total, start);
//     }
//
// start[i] becomes count[0] + ... + count[i - 1], and start[n] the sum of all: `start` has n + 1 elements, `total` one
// for each chunk. Both kernels take blocks of SCAN_THREADS threads, and a block for each chunk of SCAN_CHUNK elements:
// `grid = "(n + 2047) / 2048"`, `block = 256`. (Blelloch, "Prefix sums and their applications", CMU-CS-90-190, 1990,
// section 1.2: each processor its part. What comes before a chunk is added up anew by its block.)
#pragma once

namespace warpaint {

constexpr int SCAN_THREADS = 256, SCAN_EACH = 8, SCAN_CHUNK = SCAN_THREADS * SCAN_EACH;

// The sum of `value` over the threads before this one; `all` becomes the sum over the block. For all SCAN_THREADS
// threads of a block together.
__device__ inline int sum_before(int value, int &all)
{
    __shared__ int warps[SCAN_THREADS / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int sum = value;
    for (int distance = 1; distance < 32; distance *= 2) {
        const int other = __shfl_up_sync(0xFFFFFFFFu, sum, distance);
        if (lane >= distance) sum += other;
    }
    __syncthreads();
    if (lane == 31) warps[warp] = sum;
    __syncthreads();
    int before = 0;
    all = 0;
    for (int other = 0; other < SCAN_THREADS / 32; ++other) {
        if (other < warp) before += warps[other];
        all += warps[other];
    }
    return before + sum - value;
}

// The elements of this thread's, zeros beyond the end. Returns their sum.
__device__ inline int read_chunk(const int *__restrict__ count, int n, int (&mine)[SCAN_EACH])
{
    const int first = blockIdx.x * SCAN_CHUNK + threadIdx.x * SCAN_EACH;
    int sum = 0;
    for (int k = 0; k < SCAN_EACH; ++k) {
        mine[k] = first + k < n ? count[first + k] : 0;
        sum += mine[k];
    }
    return sum;
}

// The first launch: the sum of each chunk.
__device__ inline void sum_chunk(const int *__restrict__ count, int n, int *__restrict__ total)
{
    int mine[SCAN_EACH], all;
    sum_before(read_chunk(count, n, mine), all);
    if (threadIdx.x == 0) total[blockIdx.x] = all;
}

// The second launch: what comes before each element.
__device__ inline void scan_chunk(const int *__restrict__ count, int n, const int *__restrict__ total,
                                  int *__restrict__ start)
{
    int before = 0, chunks_before, all, mine[SCAN_EACH];
    for (int chunk = threadIdx.x; chunk < blockIdx.x; chunk += SCAN_THREADS) before += total[chunk];
    sum_before(before, chunks_before);
    int sum = chunks_before + sum_before(read_chunk(count, n, mine), all);
    const int first = blockIdx.x * SCAN_CHUNK + threadIdx.x * SCAN_EACH;
    for (int k = 0; k < SCAN_EACH; ++k) {
        if (first + k < n) start[first + k] = sum;
        sum += mine[k];
    }
    if (first < n && n <= first + SCAN_EACH) start[n] = sum;
}

}  // namespace warpaint
