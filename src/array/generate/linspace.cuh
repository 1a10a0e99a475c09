// Numbers at equal distances.
namespace warpaint {

// The i-th number at equal distances from start to stop, which is the one called last: each operation is rounded, as
// those of numpy.linspace are.
inline __device__ double between(double i, double start, double stop, double last)
{
    if (last == 0.0) return start;
    if (i == last) return stop;
    const double width = stop - start, by = width / last;
    // A distance that underflows is none.
    return __dadd_rn(by == 0.0 ? __dmul_rn(i / last, width) : __dmul_rn(i, by), start);
}

}  // namespace warpaint
