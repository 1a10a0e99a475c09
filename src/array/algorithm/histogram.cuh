// Histograms, behind bins.cuh. A block whose counters fit its shared memory counts there, and adds them to those of all
// when it ends.
namespace warpaint {

// Counts the values that `load` gives for each index below `n`. In `own`, which is shared memory, there is room for
// `copies` counters of each bin, so that warps with counters of their own do not wait for each other.
template <int BLOCK, int UNROLL, class Index, class Load>
__device__ void count_in_bins(unsigned long long *counts, unsigned *own, const Bins bins, unsigned long long copies,
                              Index first, Index threads, unsigned long long n, const Load &load)
{
    for (unsigned long long k = threadIdx.x; k < copies * bins.count; k += BLOCK) own[k] = 0;
    __syncthreads();
    unsigned *const mine = own + (copies > 0 ? threadIdx.x / 32 % copies * bins.count : 0);
    for (Index start = first; start < n; start += UNROLL * threads) {
        double x[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) x[u] = start + u * threads < n ? load(start + u * threads) : NAN;
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            if (!bins.hold(x[u])) continue;
            if (copies > 0) atomicAdd(&mine[bins.of(x[u])], 1u);
            else atomicAdd(&counts[bins.of(x[u])], 1ull);
        }
    }
    __syncthreads();
    if (copies == 0) return;
    for (unsigned long long k = threadIdx.x; k < bins.count; k += BLOCK) {
        unsigned long long total = 0;
        for (unsigned long long copy = 0; copy < copies; ++copy) total += own[copy * bins.count + k];
        if (total > 0) atomicAdd(&counts[k], total);
    }
}

}  // namespace warpaint
