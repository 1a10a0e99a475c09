// How often values lie in each of several ranges of one width, behind summary.cuh and bins.cuh.
namespace warpaint::summary {

// What a histogram's counters can be in a block's shared memory.
constexpr int MOST_BINS = 4096;

// The range of all values of a histogram, which their statistics have, `lanes` of them.
__global__ void choose_range(const Partial *statistics, int lanes, double2 *range)
{
    double2 all = make_double2(statistics[0].least, statistics[0].greatest);
    for (int lane = 1; lane < lanes; ++lane) {
        all.x = fmin(all.x, statistics[lane].least);
        all.y = fmax(all.y, statistics[lane].greatest);
    }
    // Of nothing finite, and of values that are all the same.
    if (!(all.x <= all.y)) all = make_double2(0.0, 1.0);
    const double half = fmax(0.5, fabs(all.x) * 1e-12);
    const double most = 1.7976931348623157e308;
    if (all.x == all.y) all = make_double2(fmax(all.x - half, -most), fmin(all.y + half, most));
    *range = all;
}

// Counts one component of `count` vectors of `lanes` scalars. Each element has `each` of them in a row, and begins
// `stride` bytes behind the one before. What is beside the range is left out.
template <typename Scalar>
__global__ void count_bins(const char *data, unsigned long long stride, unsigned long long each,
                           unsigned long long count, int lanes, int lane, const double2 *range, int bins,
                           unsigned long long *counts)
{
    __shared__ unsigned local[MOST_BINS];
    for (int bin = threadIdx.x; bin < bins; bin += blockDim.x) local[bin] = 0;
    __syncthreads();
    const Bins ranges(range->x, range->y, bins);
    const unsigned long long threads = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
        const auto *part = reinterpret_cast<const Scalar *>(data + i / each * stride);
        const double value = (double)part[i % each * lanes + lane];
        if (ranges.hold(value)) atomicAdd(&local[ranges.of(value)], 1u);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < bins; bin += blockDim.x)
        if (local[bin] > 0) atomicAdd(&counts[bin], (unsigned long long)local[bin]);
}

}  // namespace warpaint::summary
