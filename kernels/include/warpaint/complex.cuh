// warpaint/complex.cuh: complex numbers.
//
//     using warpaint::complex;
//     complex<float> z(0.5f, 2.0f), w = exp(z) / (1.0f + z);
//     float length = abs(w), angle = arg(w);
//
// Laid out as std::complex, cuComplex and numpy's complex64 and complex128, and aligned to their size. Branch cuts, and
// values at infinities and signed zeros, are those of C99's Annex G, as in numpy; products and quotients are numpy's,
// too, which follow the schoolbook: (inf + 0i) * (1 + 0i) is inf + NaN i. Functions are within a few units in the last
// place of the larger part, without overflow on the way.
#pragma once

#include <warpaint/precise.cuh>

namespace warpaint {

template <class T> struct alignas(2 * sizeof(T)) complex {
    T re, im;

    complex() = default;
    __host__ __device__ complex(T re, T im = T(0)) : re(re), im(im) {}
    template <class U>
    __host__ __device__ explicit complex(complex<U> z) : re(static_cast<T>(z.re)), im(static_cast<T>(z.im))
    {
    }

    friend __host__ __device__ complex operator+(complex a, complex b) { return complex(a.re + b.re, a.im + b.im); }
    friend __host__ __device__ complex operator-(complex a, complex b) { return complex(a.re - b.re, a.im - b.im); }
    friend __host__ __device__ complex operator-(complex a) { return complex(-a.re, -a.im); }
    friend __host__ __device__ complex operator*(complex a, complex b)
    {
        return complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
    }
    friend __host__ __device__ complex operator*(complex a, T b) { return complex(a.re * b, a.im * b); }
    friend __host__ __device__ complex operator*(T a, complex b) { return complex(a * b.re, a * b.im); }
    friend __host__ __device__ complex operator/(complex a, T b) { return complex(a.re / b, a.im / b); }
    friend __host__ __device__ complex operator/(complex a, complex b) { return quotient(a, b); }
    friend __host__ __device__ complex &operator+=(complex &a, complex b) { return a = a + b; }
    friend __host__ __device__ complex &operator-=(complex &a, complex b) { return a = a - b; }
    friend __host__ __device__ complex &operator*=(complex &a, complex b) { return a = a * b; }
    friend __host__ __device__ complex &operator/=(complex &a, complex b) { return a = a / b; }
    friend __host__ __device__ complex pow(complex a, T b) { return pow(a, complex(b)); }
    friend __host__ __device__ complex pow(T a, complex b) { return pow(complex(a), b); }
    friend __host__ __device__ bool operator==(complex a, complex b) { return a.re == b.re && a.im == b.im; }
    friend __host__ __device__ bool operator!=(complex a, complex b) { return !(a == b); }
};

constexpr double LOG_2 = 0.6931471805599453;

// What the functions below need to know about their parts. UP lifts numbers from among the subnormal ones to where
// nothing is lost; it is the square of ROOT_OF_UP. The exponential function is finite up to LOG_GREATEST, and from
// TANH_IS_ONE on the hyperbolic tangent rounds to 1.
template <class T> struct Part;
#define WARPAINT_PART(T, GREATEST, LEAST_NORMAL, UP, ROOT_OF_UP, LOG_GREATEST, TANH_IS_ONE, sincos)     \
    template <> struct Part<T> {                                                                          \
        static __host__ __device__ constexpr T greatest() { return GREATEST; }                            \
        static __host__ __device__ constexpr T least_normal() { return LEAST_NORMAL; }                    \
        static __host__ __device__ constexpr T up() { return UP; }                                        \
        static __host__ __device__ constexpr T root_of_up() { return ROOT_OF_UP; }                        \
        static __host__ __device__ constexpr T log_greatest() { return LOG_GREATEST; }                    \
        static __host__ __device__ constexpr T tanh_is_one() { return TANH_IS_ONE; }                      \
        static __host__ __device__ void sine_and_cosine(T x, T *s, T *c) { ::sincos(x, s, c); }           \
    }
// 2^48 and 2^108.
WARPAINT_PART(float, 3.402823466e38f, 1.175494351e-38f, 281474976710656.0f, 16777216.0f, 88.72f, 11.0f, sincosf);
WARPAINT_PART(double, 1.7976931348623157e308, 2.2250738585072014e-308, 324518553658426726783156020576256.0,
              18014398509481984.0, 709.78, 22.0, sincos);
#undef WARPAINT_PART

template <class T> __host__ __device__ T real(complex<T> z) { return z.re; }
template <class T> __host__ __device__ T imag(complex<T> z) { return z.im; }
template <class T> __host__ __device__ complex<T> conj(complex<T> z) { return complex<T>(z.re, -z.im); }

// |z|^2, |z| and the angle from the positive real axis, from -pi to pi.
template <class T> __host__ __device__ T norm(complex<T> z) { return z.re * z.re + z.im * z.im; }
template <class T> __host__ __device__ T abs(complex<T> z) { return precise::hypot(z.re, z.im); }
template <class T> __host__ __device__ T arg(complex<T> z) { return ::atan2(z.im, z.re); }

// The number of this length and angle.
template <class T> __host__ __device__ complex<T> polar(T length, T angle)
{
    T s, c;
    Part<T>::sine_and_cosine(angle, &s, &c);
    return complex<T>(length * c, length * s);
}

// i z and -i z: quarter turns round nothing.
template <class T> __host__ __device__ complex<T> turned(complex<T> z) { return complex<T>(-z.im, z.re); }
template <class T> __host__ __device__ complex<T> turned_back(complex<T> z) { return complex<T>(z.im, -z.re); }

// Whether sums of its parts may overflow.
template <class T> __host__ __device__ bool is_far(complex<T> z)
{
    return ::fabs(z.re) > Part<T>::greatest() / 4 || ::fabs(z.im) > Part<T>::greatest() / 4;
}

// a / b by Smith's method (R. L. Smith, "Algorithm 116: complex division", CACM 5(8), 1962), scaled as in Baudin and
// Smith, "A robust complex division in Scilab", 2012. Divided by zero, the parts are divided, as in numpy.
template <class T> __host__ __device__ complex<T> quotient(complex<T> a, complex<T> b)
{
    using P = Part<T>;
    if (::fabs(b.re) < ::fabs(b.im)) a = turned_back(a), b = turned_back(b);
    if (b.re == T(0) && b.im == T(0)) return complex<T>(a.re / ::fabs(b.re), a.im / ::fabs(b.re));
    if (is_far(a) || is_far(b)) {
        a = a * T(0.25), b = b * T(0.25);
    } else if (::fabs(b.re) < P::least_normal() * P::root_of_up()) {
        a = a * P::up(), b = b * P::up();
    }
    T ratio = b.im / b.re, divisor = b.re + b.im * ratio;
    return complex<T>((a.re + a.im * ratio) / divisor, (a.im - a.re * ratio) / divisor);
}

// The square root in the right half plane, on the imaginary axis above the cut along the negative real axis where the
// imaginary part is +0 and below where it is -0.
template <class T> __host__ __device__ complex<T> sqrt(complex<T> z)
{
    using P = Part<T>;
    T x = ::fabs(z.re), y = ::fabs(z.im), back = T(1);
    if (isinf(y)) return complex<T>(y, z.im);
    if (isinf(x)) {
        T none = isnan(y) ? y : T(0);
        return z.re > T(0) ? complex<T>(x, ::copysign(none, z.im)) : complex<T>(none, ::copysign(x, z.im));
    }
    if (x == T(0) && y == T(0)) return complex<T>(T(0), z.im);
    if (is_far(z)) {
        x *= T(0.25), y *= T(0.25), back = T(2);
    } else if (x < P::least_normal() * P::root_of_up() && y < P::least_normal() * P::root_of_up()) {
        x *= P::up(), y *= P::up(), back = T(1) / P::root_of_up();
    }
    // The larger part as a sum of positive numbers; the smaller one from the product of both.
    T larger = ::sqrt((::hypot(x, y) + x) * T(0.5));
    T smaller = y / (T(2) * larger) * back;
    larger *= back;
    return z.re >= T(0) ? complex<T>(larger, ::copysign(smaller, z.im)) : complex<T>(smaller, ::copysign(larger, z.im));
}

// e^x (cos y + i sin y) / divisor, where e^x alone may overflow.
template <class T> __host__ __device__ complex<T> exp_polar(T x, T y, T divisor)
{
    T s, c;
    Part<T>::sine_and_cosine(y, &s, &c);
    T once = T(1), e = x;
    if (x > Part<T>::log_greatest()) once = ::exp(e = x * T(0.5));
    e = ::exp(e) / divisor;
    return complex<T>(e * c * once, e * s * once);
}

template <class T> __host__ __device__ complex<T> exp(complex<T> z)
{
    if (z.im == T(0)) return complex<T>(::exp(z.re), z.im);
    if (isinf(z.re) && !isfinite(z.im)) {
        return z.re < T(0) ? complex<T>(T(0), ::copysign(T(0), z.im)) : complex<T>(z.re, z.im - z.im);
    }
    return exp_polar(z.re, z.im, T(1));
}

// log |z|. Near 1 from |z|^2 - 1 in twice the precision, so that nothing cancels.
template <class T> __host__ __device__ T log_abs(complex<T> z)
{
    T a = ::fabs(z.re), b = ::fabs(z.im);
    if (isinf(a) || isinf(b)) return ::hypot(a, b);
    if (a < b) {
        T larger = b;
        b = a, a = larger;
    }
    if (T(0.7) < a && a < T(1.5)) {
        T aa = product(a, a), bb = product(b, b);
        T rest = ::fma(a, a, -aa) + ::fma(b, b, -bb);
        return ::log1p(((aa - T(1)) + bb) + rest) * T(0.5);
    }
    if (b == T(0)) return ::log(a);
    T ratio = b / a;
    return ::log(a) + ::log1p(ratio * ratio) * T(0.5);
}

// The principal logarithms: imaginary part from -pi to pi, cut along the negative real axis.
template <class T> __host__ __device__ complex<T> log(complex<T> z) { return complex<T>(log_abs(z), arg(z)); }
template <class T> __host__ __device__ complex<T> log2(complex<T> z) { return log(z) * T(1.4426950408889634); }
template <class T> __host__ __device__ complex<T> log10(complex<T> z) { return log(z) * T(0.43429448190325183); }

// exp(exponent * log(base)), whose relative error grows with the size of that product, as that of C's cpow; small whole
// exponents by multiplication, in numpy's order, which shows where some product overflows.
template <class T> __host__ __device__ complex<T> pow(complex<T> base, complex<T> exponent)
{
    if (exponent == complex<T>(T(0))) return complex<T>(T(1));
    if (base == complex<T>(T(0))) {
        T value = exponent.re > T(0) ? T(0) : T(0) / base.re;
        return complex<T>(value, value);
    }
    if (exponent.im == T(0) && ::fabs(exponent.re) < T(100) && exponent.re == ::trunc(exponent.re)) {
        if (exponent.re == T(1)) return base;
        if (exponent.re == T(2)) return base * base;
        if (exponent.re == T(3)) return base * (base * base);
        complex<T> result(T(1)), square = base;
        for (int left = (int)::fabs(exponent.re);; square = square * square) {
            if (left & 1) result = result * square;
            if ((left >>= 1) == 0) break;
        }
        return exponent.re < T(0) ? complex<T>(T(1)) / result : result;
    }
    return exp(exponent * log(base));
}

template <class T> __host__ __device__ complex<T> sinh(complex<T> z)
{
    T x = z.re, y = z.im, s, c;
    if (y == T(0)) return complex<T>(::sinh(x), y);
    if (x == T(0)) return complex<T>(isfinite(y) ? x * ::cos(y) : x, ::sin(y));
    if (isinf(x) && !isfinite(y)) return complex<T>(x, y - y);
    if (::fabs(x) > Part<T>::log_greatest()) {
        complex<T> w = exp_polar(::fabs(x), y, T(2));
        return complex<T>(x < T(0) ? -w.re : w.re, w.im);
    }
    Part<T>::sine_and_cosine(y, &s, &c);
    return complex<T>(::sinh(x) * c, ::cosh(x) * s);
}

template <class T> __host__ __device__ complex<T> cosh(complex<T> z)
{
    T x = z.re, y = z.im, s, c;
    if (y == T(0)) return complex<T>(::cosh(x), signbit(x) ? -y : y);
    if (x == T(0)) return complex<T>(::cos(y), isfinite(y) ? x * ::sin(y) : x);
    if (isinf(x) && !isfinite(y)) return complex<T>(::fabs(x), y - y);
    if (::fabs(x) > Part<T>::log_greatest()) {
        complex<T> w = exp_polar(::fabs(x), y, T(2));
        return complex<T>(w.re, x < T(0) ? -w.im : w.im);
    }
    Part<T>::sine_and_cosine(y, &s, &c);
    return complex<T>(::cosh(x) * c, ::sinh(x) * s);
}

// This and the inverse functions: W. Kahan, "Branch cuts for complex elementary functions, or much ado about nothing's
// sign bit", 1987.
template <class T> __host__ __device__ complex<T> tanh(complex<T> z)
{
    T x = z.re, y = z.im;
    if (y == T(0)) return complex<T>(::tanh(x), y);
    if (x == T(0) && !isfinite(y)) return complex<T>(x, y - y);
    if (::fabs(x) > Part<T>::tanh_is_one()) {
        T s, c, e = ::exp(-::fabs(x));
        Part<T>::sine_and_cosine(isfinite(y) ? y : ::copysign(T(0), y), &s, &c);
        if (isfinite(x) && !isfinite(y)) return complex<T>(y - y, y - y);
        return complex<T>(::copysign(T(1), x), T(4) * s * c * e * e);
    }
    T t = ::tan(y), b = T(1) + t * t, s = ::sinh(x), c = ::cosh(x), d = T(1) + b * s * s;
    return complex<T>(b * c * s / d, t / d);
}

template <class T> __host__ __device__ complex<T> sin(complex<T> z) { return turned_back(sinh(turned(z))); }
template <class T> __host__ __device__ complex<T> cos(complex<T> z) { return cosh(turned(z)); }
template <class T> __host__ __device__ complex<T> tan(complex<T> z) { return turned_back(tanh(turned(z))); }

// The angle of a number that is far from 0; of an infinite one, its infinite parts count alone.
template <class T> __host__ __device__ T angle_of_far(T y, T x)
{
    if (isnan(x) || isnan(y)) return x + y;
    if (!isinf(x) && !isinf(y)) return ::atan2(y, x);
    return ::atan2(::copysign(isinf(y) ? T(1) : T(0), y), ::copysign(isinf(x) ? T(1) : T(0), x));
}

// Cut along the real axis outside [-1, 1].
template <class T> __host__ __device__ complex<T> asin(complex<T> z)
{
    T x = z.re, y = z.im;
    if (is_far(z)) {
        return complex<T>(::copysign(angle_of_far(::fabs(x), ::fabs(y)), x), ::copysign(log_abs(z) + T(LOG_2), y));
    }
    if (x == T(0) && isnan(y)) return z;
    complex<T> below = sqrt(complex<T>(T(1) - x, -y)), above = sqrt(complex<T>(T(1) + x, y));
    return complex<T>(::atan2(x, below.re * above.re - below.im * above.im),
                      ::asinh(below.re * above.im - below.im * above.re));
}

// Cut along the real axis outside [-1, 1].
template <class T> __host__ __device__ complex<T> acos(complex<T> z)
{
    T x = z.re, y = z.im;
    if (is_far(z)) return complex<T>(angle_of_far(::fabs(y), x), -::copysign(log_abs(z) + T(LOG_2), y));
    if (x == T(0) && isnan(y)) return complex<T>(T(1.5707963267948966), y);
    complex<T> below = sqrt(complex<T>(T(1) - x, -y)), above = sqrt(complex<T>(T(1) + x, y));
    return complex<T>(T(2) * ::atan2(below.re, above.re), ::asinh(above.re * below.im - above.im * below.re));
}

// Cut along the imaginary axis outside [-i, i].
template <class T> __host__ __device__ complex<T> asinh(complex<T> z) { return turned(asin(turned_back(z))); }

// Cut along the real axis below 1.
template <class T> __host__ __device__ complex<T> acosh(complex<T> z)
{
    complex<T> w = acos(z);
    return complex<T>(::fabs(w.im), ::copysign(w.re, z.im));
}

// The same for a number in the first quadrant; the others follow from symmetry.
template <class T> __host__ __device__ complex<T> atanh_of_first_quadrant(T x, T y)
{
    const T quarter = T(1.5707963267948966);
    if (isinf(y)) return complex<T>(T(0), quarter);
    if (isinf(x)) return complex<T>(T(0), isnan(y) ? y : quarter);
    if (x == T(0) && isnan(y)) return complex<T>(x, y);
    if (isnan(x) || isnan(y)) return complex<T>(x + y, x + y);
    const T far = ::sqrt(Part<T>::greatest()) * T(0.25);
    if (x > far || y > far) return complex<T>(real(quotient(complex<T>(T(1)), complex<T>(x, y))), quarter);
    T to_one = T(1) - x, angle = ::atan2(T(2) * y, to_one * (T(1) + x) - y * y) * T(0.5);
    // Near 1 the square of y may vanish.
    if (to_one == T(0) && y < T(1)) {
        return complex<T>((::log(::hypot(T(2), y)) - ::log(y)) * T(0.5), y == T(0) ? y : angle);
    }
    return complex<T>(::log1p(T(4) * x / (to_one * to_one + y * y)) * T(0.25), angle);
}

// Cut along the real axis outside [-1, 1].
template <class T> __host__ __device__ complex<T> atanh(complex<T> z)
{
    complex<T> w = atanh_of_first_quadrant(::fabs(z.re), ::fabs(z.im));
    return complex<T>(::copysign(w.re, z.re), ::copysign(w.im, z.im));
}

// Cut along the imaginary axis outside [-i, i].
template <class T> __host__ __device__ complex<T> atan(complex<T> z) { return turned_back(atanh(turned(z))); }

}  // namespace warpaint
