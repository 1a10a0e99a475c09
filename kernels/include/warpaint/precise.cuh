// warpaint/precise.cuh: functions of real numbers that are as exact as those of C's libraries, where CUDA's are not.
//
//     double billion = warpaint::precise::pow(10.0, 9.0), length = warpaint::precise::hypot(1.7e308, 0.5);
//
// `pow`, `exp10` and `hypot` of doubles are within 1 unit in the last place, so that a result which is a number of the
// type is that number, such as 3^33 or 4^1.5. Squares, reciprocals and square roots are correctly rounded, of floats,
// too. At zeros, infinities and NaN they are C99's.
#pragma once

namespace warpaint {

// Products that no compiler joins with an addition: their rounding errors are computed from them.
#ifdef __CUDA_ARCH__
inline __device__ float product(float a, float b) { return __fmul_rn(a, b); }
inline __device__ double product(double a, double b) { return __dmul_rn(a, b); }
#else
inline float product(float a, float b) { return a * b; }
inline double product(double a, double b) { return a * b; }
#endif

namespace precise {

// A number as a sum of two, of which the second is about 2^-53 of the first (T. J. Dekker, "A floating-point technique
// for extending the available precision", 1971).
struct Pair {
    double high, low;
};

// The sum of two numbers, the first of them the larger one or 0.
inline __host__ __device__ Pair sum(double a, double b)
{
    const double high = a + b;
    return {high, b - (high - a)};
}

inline __host__ __device__ Pair times(Pair a, Pair b)
{
    const double high = product(a.high, b.high), rest = ::fma(a.high, b.high, -high);
    return sum(high, ::fma(a.high, b.low, ::fma(a.low, b.high, rest)));
}

inline __host__ __device__ long long bits_of(double x)
{
    long long bits;
    memcpy(&bits, &x, sizeof(x));
    return bits;
}
inline __host__ __device__ double with_bits(long long bits)
{
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

// Infinity and NaN, which C's headers would have to be included for.
inline __host__ __device__ double infinity() { return with_bits(0x7ff0000000000000); }
inline __host__ __device__ double not_a_number() { return with_bits(0x7ff8000000000000); }

// The natural logarithm of 2: its first 42 bits, of which small multiples are exact, and the rest. (As constants they
// would be variables of every module.)
inline __host__ __device__ double ln_2() { return 0.6931471805598903; }
inline __host__ __device__ double rest_of_ln_2() { return 5.497923018708371e-14; }

// The natural logarithm of a finite number greater than 0, to about 2^-64 of itself: of x = 2^e m, with m between the
// square roots of 1/2 and 2, that is e log(2) + 2 atanh(s), where s = (m - 1) / (m + 1).
inline __host__ __device__ Pair log(double x)
{
    int exponent = 0;
    if (x < 2.2250738585072014e-308) x *= 18014398509481984.0, exponent = -54;
    const long long bits = bits_of(x), above = bits - 0x3fe6a09e667f3bcd;
    exponent += (int)(above >> 52);
    const double f = with_bits(bits - (above & (long long)0xfff0000000000000)) - 1.0;
    const Pair below = sum(2.0, f);
    const double inverse = 1.0 / below.high, s_high = f * inverse;
    const Pair s = {s_high, inverse * ::fma(-s_high, below.low, ::fma(-s_high, below.high, f))};
    const Pair square = times(s, s);
    // atanh(s) / s - 1 = s^2 / 3 + s^4 / 5 + ...
    const double t = square.high;
    double series = 1.0 / 25;
    series = ::fma(series, t, 1.0 / 23);
    series = ::fma(series, t, 1.0 / 21);
    series = ::fma(series, t, 1.0 / 19);
    series = ::fma(series, t, 1.0 / 17);
    series = ::fma(series, t, 1.0 / 15);
    series = ::fma(series, t, 1.0 / 13);
    series = ::fma(series, t, 1.0 / 11);
    series = ::fma(series, t, 1.0 / 9);
    series = ::fma(series, t, 1.0 / 7);
    series = ::fma(series, t, 1.0 / 5);
    const double third = 0.3333333333333333, rest_of_third = 1.850371707708594e-17;
    Pair factor = sum(third, product(series, t));
    factor.low += rest_of_third;
    const Pair rest = times(times(factor, square), s);
    const Pair first = sum(exponent * ln_2(), 2.0 * s.high), both = sum(first.high, 2.0 * rest.high);
    const double low = ::fma((double)exponent, rest_of_ln_2(), 2.0 * (s.low + rest.low));
    return sum(both.high, both.low + (first.low + low));
}

// The exponential function of a number that is not NaN: 2^k e^r, with r at most log(2) / 2.
inline __host__ __device__ double exp(Pair x)
{
    if (::fabs(x.high) > 800.0) return x.high > 0.0 ? infinity() : 0.0;
    const double k = ::rint(x.high * 1.4426950408889634);
    const Pair r = sum(::fma(-k, ln_2(), x.high), ::fma(-k, rest_of_ln_2(), x.low));
    // e^r = 1 + r + r^2 (1 / 2! + r / 3! + ...)
    const double t = r.high;
    double series = 1.0 / 6227020800;
    series = ::fma(series, t, 1.0 / 479001600);
    series = ::fma(series, t, 1.0 / 39916800);
    series = ::fma(series, t, 1.0 / 3628800);
    series = ::fma(series, t, 1.0 / 362880);
    series = ::fma(series, t, 1.0 / 40320);
    series = ::fma(series, t, 1.0 / 5040);
    series = ::fma(series, t, 1.0 / 720);
    series = ::fma(series, t, 1.0 / 120);
    series = ::fma(series, t, 1.0 / 24);
    series = ::fma(series, t, 1.0 / 6);
    series = ::fma(series, t, 0.5);
    const Pair first = sum(1.0, t);
    const double rest = ::fma(t * t, series, ::fma(t, r.low, r.low));
    const double value = first.high + (first.low + rest);
    // In two steps, of which the first is exact: 2^k may be no number, and the result less than a normal one.
    const int half = (int)k >> 1;
    return value * with_bits((1023LL + half) << 52) * with_bits((1023LL + (int)k - half) << 52);
}

// x^y of numbers that no rule for special ones holds for.
inline __host__ __device__ double ordinary_pow(double x, double y)
{
    const bool whole = ::trunc(y) == y;
    const double of = ::fabs(x);
    double value;
    if (of == 0.0 || isinf(of) || isinf(y)) {
        value = of == 1.0 ? 1.0 : (of > 1.0) == (y > 0.0) ? infinity() : 0.0;
    } else if (x < 0.0 && !whole) {
        return not_a_number();
    } else {
        const Pair logarithm = log(of);
        const double high = product(y, logarithm.high), rest = ::fma(y, logarithm.high, -high);
        // Where the product is infinite, its rest is NaN, and counts for nothing.
        value = exp(::fabs(high) > 800.0 ? Pair{high, 0.0} : sum(high, ::fma(y, logarithm.low, rest)));
    }
    const bool odd = whole && ::trunc(y * 0.5) != y * 0.5;
    return odd && signbit(x) ? -value : value;
}
inline __host__ __device__ float ordinary_pow(float x, float y) { return ::powf(x, y); }

template <class T> __host__ __device__ T pow(T x, T y)
{
    if (y == T(0) || x == T(1)) return T(1);
    if (isnan(x) || isnan(y)) return x + y;
    if (y == T(2)) return x * x;
    if (y == T(-1)) return T(1) / x;
    if (y == T(0.5)) return isinf(x) ? ::fabs(x) : ::sqrt(x) + T(0);
    return ordinary_pow(x, y);
}

inline __host__ __device__ double exp10(double x)
{
    if (isnan(x)) return x;
    const double ln_10 = 2.302585092994046, rest_of_ln_10 = -2.1707562233822494e-16, high = product(x, ln_10);
    if (::fabs(high) > 800.0) return exp({high, 0.0});
    return exp(sum(high, ::fma(x, rest_of_ln_10, ::fma(x, ln_10, -high))));
}
inline __host__ __device__ float exp10(float x)
{
    // Up to 10^10 they are numbers of the type, and so are all on the way.
    if (!(x >= 0.0f && x <= 10.0f && x == truncf(x))) return ::exp10f(x);
    float power = 1.0f;
    for (int i = int(x); i > 0; --i) power *= 10.0f;
    return power;
}

// The length of (x, y), by numbers whose squares neither over- nor underflow. (CUDA's is infinite for some lengths that
// are numbers of the type.)
inline __host__ __device__ double hypot(double x, double y)
{
    x = ::fabs(x), y = ::fabs(y);
    if (isinf(x) || isinf(y)) return infinity();
    const double larger = x > y ? x : y, smaller = x > y ? y : x;
    // 2^600 and 2^500.
    const double up = 4.149515568880993e180, far = 3.273390607896142e150;
    const double scale = larger > far ? 1.0 / up : larger < 1.0 / far ? up : 1.0;
    const double back = larger > far ? up : larger < 1.0 / far ? 1.0 / up : 1.0;
    const double a = larger * scale, b = smaller * scale;
    return ::sqrt(::fma(a, a, b * b)) * back;
}
inline __host__ __device__ float hypot(float x, float y) { return ::hypotf(x, y); }

}  // namespace precise
}  // namespace warpaint
