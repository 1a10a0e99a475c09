// Statistics of values in one pass: the count, the number of NaN and infinite ones, and of the finite ones the least,
// the greatest, the sum and the deviations from one of them. Two launches: one partial result a block, then one block
// that combines them, so that the result is the same from run to run (no floating-point atomics).

namespace warpaint::summary {

// Half precision as its bits: CUDA's own headers for it do not come with every compiler.
struct Half {
    unsigned short bits;
    __device__ operator float() const
    {
        float value;
        asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
        return value;
    }
};
struct BFloat16 {
    unsigned short bits;
    __device__ operator float() const { return __uint_as_float((unsigned)bits << 16); }
};

struct Partial {
    double least, greatest, sum;
    // Sums of distances from `shift`, one of the values, and of their squares, so that nothing cancels where the values
    // are far from 0 (T. F. Chan, G. H. Golub, R. J. LeVeque, "Algorithms for computing the sample variance", 1983:
    // shifted data).
    double shift, distances, squares;
    unsigned long long count, nan, inf;
};

// `first` is a value of those to come, the same for all partial results that are to be combined.
__device__ inline Partial empty(double first)
{
    const double infinity = __longlong_as_double(0x7ff0000000000000ll);
    return {infinity, -infinity, 0.0, isfinite(first) ? first : 0.0, 0.0, 0.0, 0, 0, 0};
}

__device__ inline Partial combine(const Partial &a, const Partial &b)
{
    return {fmin(a.least, b.least), fmax(a.greatest, b.greatest), a.sum + b.sum,   a.shift, a.distances + b.distances,
            a.squares + b.squares,  a.count + b.count,            a.nan + b.nan,   a.inf + b.inf};
}

__device__ inline void take(Partial &p, double value)
{
    p.count += 1;
    if (isnan(value)) {
        p.nan += 1;
    } else if (isinf(value)) {
        p.inf += 1;
    } else {
        p.least = fmin(p.least, value);
        p.greatest = fmax(p.greatest, value);
        p.sum += value;
        const double distance = value - p.shift;
        p.distances += distance;
        p.squares += distance * distance;
    }
}

// Threads of a block.
constexpr int BLOCK = 256;

// The block's result, in thread 0. A tree in shared memory: a barrier for each level costs a CPU less than a shuffle
// for each number of a partial result, and a GPU no more.
__device__ inline Partial combine_block(Partial p)
{
    // Each level has places of its own, so that it need not wait until those before it have been read.
    __shared__ Partial of[BLOCK];
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x >= half && threadIdx.x < 2 * half) of[threadIdx.x] = p;
        __syncthreads();
        if (threadIdx.x < half) p = combine(p, of[threadIdx.x + half]);
    }
    return p;
}

// The values of `lanes` components, of which `value(i, lane)` is number `i` of `count`; `partials` has one entry for
// each block and lane.
template <int lanes, class Value>
__device__ void summarize_values(unsigned long long count, Partial *partials, const Value &value)
{
    Partial p[lanes];
    for (int lane = 0; lane < lanes; ++lane) p[lane] = empty(count > 0 ? value(0, lane) : 0.0);
    const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        for (int lane = 0; lane < lanes; ++lane) take(p[lane], value(i, lane));
    for (int lane = 0; lane < lanes; ++lane) {
        const Partial block = combine_block(p[lane]);
        if (threadIdx.x == 0) partials[blockIdx.x * lanes + lane] = block;
    }
}

}  // namespace warpaint::summary
