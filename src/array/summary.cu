// Statistics of an array in one pass: for each component the count, the number of NaN and infinite values, and
// the least, greatest and sum of the finite ones. Two launches: one partial result a block, then one block that
// combines them, so that the result is the same from run to run (no floating-point atomics).

namespace warpaint {

struct Partial {
    double least, greatest, sum;
    unsigned long long count, nan, inf;
};

__device__ inline Partial empty() {
    const double infinity = __longlong_as_double(0x7ff0000000000000ll);
    return {infinity, -infinity, 0.0, 0, 0, 0};
}

__device__ inline Partial combine(const Partial& a, const Partial& b) {
    return {fmin(a.least, b.least), fmax(a.greatest, b.greatest), a.sum + b.sum,
            a.count + b.count,      a.nan + b.nan,                a.inf + b.inf};
}

__device__ inline void take(Partial& p, double value) {
    p.count += 1;
    if (isnan(value)) {
        p.nan += 1;
    } else if (isinf(value)) {
        p.inf += 1;
    } else {
        p.least = fmin(p.least, value);
        p.greatest = fmax(p.greatest, value);
        p.sum += value;
    }
}

__device__ inline Partial from_lane_above(const Partial& p, int distance) {
    const unsigned all = 0xffffffffu;
    return {__shfl_down_sync(all, p.least, distance), __shfl_down_sync(all, p.greatest, distance),
            __shfl_down_sync(all, p.sum, distance),   __shfl_down_sync(all, p.count, distance),
            __shfl_down_sync(all, p.nan, distance),   __shfl_down_sync(all, p.inf, distance)};
}

// The block's result, in thread 0. The block has whole warps.
__device__ inline Partial combine_block(Partial p) {
    __shared__ Partial of_warp[32];
    for (int distance = 16; distance > 0; distance /= 2) p = combine(p, from_lane_above(p, distance));
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    __syncthreads();
    if (lane == 0) of_warp[warp] = p;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int other = 1; other < blockDim.x / 32; ++other) p = combine(p, of_warp[other]);
    return p;
}

// `count` elements of `lanes` scalars each; `partials` has one entry for each block and lane.
template <typename Scalar, int lanes>
__global__ void summarize(const Scalar* data, unsigned long long count, Partial* partials) {
    Partial p[lanes];
    for (int lane = 0; lane < lanes; ++lane) p[lane] = empty();
    const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        for (int lane = 0; lane < lanes; ++lane) take(p[lane], double(data[i * lanes + lane]));
    for (int lane = 0; lane < lanes; ++lane) {
        const Partial block = combine_block(p[lane]);
        if (threadIdx.x == 0) partials[blockIdx.x * lanes + lane] = block;
    }
}

// One block for each lane: combines `blocks` partial results into `results[lane]`.
__global__ void summarize_partials(const Partial* partials, int blocks, int lanes, Partial* results) {
    Partial p = empty();
    for (int block = threadIdx.x; block < blocks; block += blockDim.x)
        p = combine(p, partials[block * lanes + blockIdx.x]);
    p = combine_block(p);
    if (threadIdx.x == 0) results[blockIdx.x] = p;
}

}  // namespace warpaint
