#ifndef WARPAINT_MOMENTS
#define WARPAINT_MOMENTS
namespace warpaint {

template <class T> struct complex;
inline __device__ double squared(double a) { return a * a; }
template <class T> __device__ double squared(complex<T> z) { return z.re * z.re + z.im * z.im; }

// Sums of deviations from a value among those collected, and of their squares. To collect a value takes no division;
// the deviations are of the size of the values' spread, so that nothing cancels (T. F. Chan, G. H. Golub, R. J.
// LeVeque, "Algorithms for computing the sample variance: analysis and recommendations", 1983: shifted data).
template <class V> struct Moments {
    using Value = V;
    V shift, sum;
    double squares, count;
};

template <class V> __device__ Moments<V> absorb_moment(Moments<V> a, V x)
{
    if (a.count == 0.0) a.shift = x;
    V deviation = x - a.shift;
    a.sum = a.sum + deviation;
    // What is infinite is no number away from a mean that is, wherever it stands.
    a.squares += squared(deviation) + squared(x - x);
    a.count += 1.0;
    return a;
}

// The same with deviations from the mean, of which the sum is 0.
template <class V> __device__ Moments<V> centred(Moments<V> a)
{
    V mean = a.sum / a.count;
    // Squares that have overflowed stay so: infinity less infinity is no number.
    double rest = a.squares - squared(mean) * a.count;
    if (a.squares < __longlong_as_double(0x7ff0000000000000ll)) a.squares = rest < 0.0 ? 0.0 : rest;
    a.shift = a.shift + mean;
    a.sum = V(0.0);
    return a;
}

// Chan's update of two sets.
template <class V> __device__ Moments<V> combine_moments(Moments<V> a, Moments<V> b)
{
    if (a.count == 0.0) return b;
    if (b.count == 0.0) return a;
    a = centred(a), b = centred(b);
    double count = a.count + b.count, part = b.count / count;
    V apart = b.shift - a.shift;
    a.shift = a.shift + apart * part;
    a.squares = a.squares + b.squares + squared(apart) * (a.count * part);
    a.count = count;
    return a;
}

template <class V> __device__ double variance(Moments<V> a, double freedom)
{
    double squares = a.count == 0.0 ? 0.0 : centred(a).squares;
    return squares / (freedom < 0.0 ? 0.0 : freedom);
}

}  // namespace warpaint
#endif
