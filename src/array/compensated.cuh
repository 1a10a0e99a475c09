#ifndef WARPAINT_COMPENSATED
#define WARPAINT_COMPENSATED
namespace warpaint {

// A sum of doubles with the rounding error of each addition kept beside it (Knuth's two-sum; Ogita, Rump and Oishi,
// "Accurate sum and dot product", 2005): as exact as if it had been computed in twice the precision.
struct Compensated {
    double high, low;
    Compensated() = default;
    __device__ Compensated(double value) : high(value), low(0.0) {}
    __device__ explicit operator double() const { return high + low; }
};

inline __device__ Compensated operator+(Compensated a, Compensated b)
{
    double sum = a.high + b.high, part = sum - a.high;
    Compensated result(sum);
    // Where the sum is infinite or NaN, its error is NaN and would hide which.
    double error = (a.high - (sum - part)) + (b.high - part);
    result.low = a.low + b.low + (isfinite(sum) ? error : 0.0);
    return result;
}

inline __device__ Compensated operator-(Compensated a) { a.high = -a.high, a.low = -a.low; return a; }
inline __device__ Compensated operator-(Compensated a, Compensated b) { return a + -b; }

// A product with its rounding error (Ogita, Rump and Oishi's dot product, of which these are the terms).
inline __device__ Compensated operator*(Compensated a, Compensated b)
{
    Compensated result(__dmul_rn(a.high, b.high));
    if (isfinite(result.high)) {
        result.low = __fma_rn(a.high, b.high, -result.high) + (a.high * b.low + a.low * b.high);
    }
    return result;
}

}  // namespace warpaint
#endif
