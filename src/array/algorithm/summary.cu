// The statistics of arrays, behind summary.cuh.
namespace warpaint::summary {

// `count` elements of `lanes` scalars each.
template <typename Scalar, int lanes>
__global__ void summarize(const Scalar *data, unsigned long long count, Partial *partials)
{
    const auto value = [&](unsigned long long i, int lane) { return (double)data[i * lanes + lane]; };
    summarize_values<lanes>(count, partials, value);
}

// Fields of structures: `count` times `each` of `lanes` scalars, the first of each structure `stride` bytes behind that
// of the one before.
template <typename Scalar, int lanes>
__global__ void summarize_fields(const char *data, unsigned long long stride, unsigned long long each,
                                 unsigned long long count, Partial *partials)
{
    const auto value = [&](unsigned long long i, int lane) {
        const auto *field = reinterpret_cast<const Scalar *>(data + i / each * stride);
        return (double)field[i % each * lanes + lane];
    };
    summarize_values<lanes>(count, partials, value);
}

// One block for each lane: combines `blocks` partial results into `results[lane]`.
__global__ void summarize_partials(const Partial *partials, int blocks, int lanes, Partial *results)
{
    Partial p = empty(0.0);
    p.shift = partials[blockIdx.x].shift;
    for (int block = threadIdx.x; block < blocks; block += blockDim.x)
        p = combine(p, partials[block * lanes + blockIdx.x]);
    p = combine_block(p);
    if (threadIdx.x == 0) results[blockIdx.x] = p;
}

}  // namespace warpaint::summary
