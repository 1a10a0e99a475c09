// warpaint/reduce.cuh: one value made of what the threads of a block have.
//
//     __global__ void totals(const float4 *values, float4 *total)          // blocks of 128 threads in x
//     {
//         const float4 sum = warpaint::block_sum<128>(values[blockIdx.x * 128 + threadIdx.x]);
//         if (threadIdx.x == 0) total[blockIdx.x] = sum;
//     }
//
// Values meet in the same order each time, so that floating-point sums have the same bits.
#pragma once

#include <warpaint/vector.cuh>

namespace warpaint {

// The sum of `mine` over a block of THREADS threads in x, in thread 0; others get a part of it. Numbers and vectors,
// added as a balanced tree. For all threads of the block together, as often as one likes.
template <int THREADS, class T> __device__ inline T block_sum(T mine)
{
    // With four threads, a barrier at least is between a read and the next call's write to the same place.
    static_assert(THREADS >= 4 && (THREADS & (THREADS - 1)) == 0, "a power of two, and no fewer than 4");
    // Each level of the tree has places of its own, so that it need not wait until those before it have been read.
    __shared__ T upper[THREADS];
#pragma unroll
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x >= half && threadIdx.x < 2 * half) upper[threadIdx.x] = mine;
        __syncthreads();
        if (threadIdx.x < half) mine = mine + upper[threadIdx.x + half];
    }
    return mine;
}

}  // namespace warpaint
