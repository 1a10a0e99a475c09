// Equal parts of a range, behind linspace.cuh, whose numbers are their ends.
namespace warpaint {

// Equal parts of `low` to `high`, to the last of which `high` belongs.
struct Bins {
    double low, high;
    // The range halved where its width would overflow, and what values are multiplied with for it.
    double unit, start, stop;
    // Bins in a unit of that range; infinite for the least numbers.
    double scale;
    unsigned long long count;
    // Whether neighbouring ends are told apart.
    bool distinct;

    __device__ Bins(double low, double high, unsigned long long count)
        : low(low), high(high), unit(isinf(high - low) ? 0.5 : 1.0), start(unit * low), stop(unit * high),
          scale(count / (stop - start)), count(count),
          distinct(between(1.0, start, stop, count) > start && between(count - 1.0, start, stop, count) < stop)
    {
    }

    __device__ bool hold(double x) const { return x >= low && x <= high; }

    // The one that holds x.
    __device__ unsigned long long of(double x) const
    {
        x *= unit;
        unsigned long long k = isinf(scale) ? (x - start) / (stop - start) * count : (x - start) * scale;
        if (k >= count) k = count - 1;
        // Rounding may be off by one.
        if (!distinct) return k;
        if (k > 0 && x < between(k, start, stop, count)) --k;
        else if (k + 1 < count && x >= between(k + 1, start, stop, count)) ++k;
        return k;
    }
};

}  // namespace warpaint
