// What generated kernels call, for every type that arrays hold. Half precision is computed in float.
#include <warpaint/precise.cuh>

namespace warpaint {

// Wide: what half precision is computed in. Modular: what integers are added and multiplied in, modulo 2^bits. Of
// signed ones, and of short ones, which become `int`, a compiler takes for granted that they do not overflow.
template <class T> struct Traits { using Wide = T; using Modular = T; static constexpr bool integer = false; };
#define WARPAINT_INTEGER(T, M) \
    template <> struct Traits<T> { using Wide = T; using Modular = M; static constexpr bool integer = true; }
WARPAINT_INTEGER(bool, unsigned);
WARPAINT_INTEGER(signed char, unsigned);
WARPAINT_INTEGER(unsigned char, unsigned);
WARPAINT_INTEGER(short, unsigned);
WARPAINT_INTEGER(unsigned short, unsigned);
WARPAINT_INTEGER(int, unsigned);
WARPAINT_INTEGER(unsigned, unsigned);
WARPAINT_INTEGER(long long, unsigned long long);
WARPAINT_INTEGER(unsigned long long, unsigned long long);
#undef WARPAINT_INTEGER
#ifdef __CUDA_FP16_TYPES_EXIST__
template <> struct Traits<__half> {
    using Wide = float;
    using Modular = __half;
    static constexpr bool integer = false;
};
#endif
#ifdef __CUDA_BF16_TYPES_EXIST__
template <> struct Traits<__nv_bfloat16> {
    using Wide = float;
    using Modular = __nv_bfloat16;
    static constexpr bool integer = false;
};
#endif

template <class V> struct VectorTraits;  // defined by <warpaint/vector.cuh>, which kernels of vectors include
template <class T> __device__ constexpr int components_of(...) { return 1; }
template <class T> __device__ constexpr int components_of(int (*)[sizeof(VectorTraits<T>)])
{
    return VectorTraits<T>::lanes;
}
template <class T> constexpr int COMPONENTS = components_of<T>(nullptr);
template <class V> using Component = typename VectorTraits<V>::Component;

template <class T> struct complex;  // defined by <warpaint/complex.cuh>, which kernels of complex numbers include

// An array of any layout, indexed as if its elements lay one behind the other.
template <class T, int RANK> struct Strided {
    T *data;
    long long shape[RANK], strides[RANK];

    __device__ T &operator[](long long i) const
    {
        long long place = 0;
#pragma unroll
        for (int axis = RANK - 1; axis > 0; --axis) {
            place += i % shape[axis] * strides[axis];
            i /= shape[axis];
        }
        return data[place + i * strides[0]];
    }
};

template <class T> using Wide = typename Traits<T>::Wide;
template <class T> using Modular = typename Traits<T>::Modular;

// A floating-point number as an integer, as Rust's `as` has it: the fraction is cut off, what is out of range becomes
// the nearest integer that there is, and NaN 0. (C++ leaves open what comes of the latter two; a GPU's NaN is not
// always 0, and by way of 32 bits short integers would wrap around.)
template <class To> struct Cut;
template <> struct Cut<int> {
    static __device__ int of(float a) { return __float2int_rz(a); }
    static __device__ int of(double a) { return a != a ? 0 : __double2int_rz(a); }
};
template <> struct Cut<unsigned> {
    static __device__ unsigned of(float a) { return __float2uint_rz(a); }
    static __device__ unsigned of(double a) { return a != a ? 0 : __double2uint_rz(a); }
};
template <> struct Cut<long long> {
    static __device__ long long of(float a) { return a != a ? 0 : __float2ll_rz(a); }
    static __device__ long long of(double a) { return a != a ? 0 : __double2ll_rz(a); }
};
template <> struct Cut<unsigned long long> {
    static __device__ unsigned long long of(float a) { return a != a ? 0 : __float2ull_rz(a); }
    static __device__ unsigned long long of(double a) { return a != a ? 0 : __double2ull_rz(a); }
};
#define WARPAINT_SHORT(T, WIDE, LEAST, GREATEST) \
    template <> struct Cut<T> { \
        template <class From> static __device__ T of(From a) { return min(max(Cut<WIDE>::of(a), LEAST), GREATEST); } \
    }
WARPAINT_SHORT(signed char, int, -128, 127);
WARPAINT_SHORT(short, int, -32768, 32767);
WARPAINT_SHORT(unsigned char, unsigned, 0u, 255u);
WARPAINT_SHORT(unsigned short, unsigned, 0u, 65535u);
#undef WARPAINT_SHORT
// What is not 0, NaN included, holds.
template <> struct Cut<bool> {
    template <class From> static __device__ bool of(From a) { return a != From(0); }
};

// A number as one of another type.
template <class To, class From> __device__ To number(From a)
{
    if constexpr (Traits<To>::integer && !Traits<From>::integer) return Cut<To>::of(static_cast<Wide<From>>(a));
    else return static_cast<To>(static_cast<Wide<From>>(a));
}

// Conversions of numbers, of complex ones, of a number to a vector of it, and of vectors by component.
template <class To, class From> struct Conversion {
    static __device__ To of(From a)
    {
        if constexpr (COMPONENTS<To> > 1) {
            using T = typename VectorTraits<To>::Component;
            To v;
            if constexpr (COMPONENTS<From> == 1) {
                v.x = v.y = number<T>(a);
                if constexpr (COMPONENTS<To> > 2) v.z = v.x;
                if constexpr (COMPONENTS<To> > 3) v.w = v.x;
            } else {
                v.x = number<T>(a.x), v.y = number<T>(a.y);
                if constexpr (COMPONENTS<To> > 2) v.z = number<T>(a.z);
                if constexpr (COMPONENTS<To> > 3) v.w = number<T>(a.w);
            }
            return v;
        } else {
            return number<To>(a);
        }
    }
};
template <class T> struct Conversion<T, T> {
    static __device__ T of(T a) { return a; }
};
template <class To, class From> struct Conversion<To, complex<From>> {
    static __device__ To of(complex<From> a) { return number<To>(a.re); }
};
template <class To, class From> struct Conversion<complex<To>, complex<From>> {
    static __device__ complex<To> of(complex<From> a) { return complex<To>(a); }
};
template <class T> struct Conversion<complex<T>, complex<T>> {
    static __device__ complex<T> of(complex<T> a) { return a; }
};
template <class From> struct Conversion<bool, complex<From>> {
    static __device__ bool of(complex<From> a) { return a.re != From(0) || a.im != From(0); }
};
template <class To, class From> __device__ To convert(From a) { return Conversion<To, From>::of(a); }

// The i-th number from start by step, without an error that grows.
template <class T> __device__ T step(unsigned long long i, T start, T by)
{
    if constexpr (Traits<T>::integer) return T((unsigned long long)start + i * (unsigned long long)by);
    else return convert<T>(::fma(double(i), convert<double>(by), convert<double>(start)));
}

// An index along n elements, whatever it is as one of them: counted from the end where it is negative, modulo n, or
// moved to the nearer end.
inline __device__ long long clipped(long long i, long long n) { return i < 0 ? 0 : i < n ? i : n - 1; }
inline __device__ long long wrapped(long long i, long long n) { return i % n < 0 ? i % n + n : i % n; }
inline __device__ long long counted(long long i, long long n) { return clipped(i < 0 ? i + n : i, n); }

// The number in C order of the i-th element of what is taken from along an axis of n elements: m for each place outside
// that axis, of which each stands for `inner` inside it.
inline __device__ long long taken(long long i, long long at, long long m, long long n, long long inner)
{
    return (i / (m * inner) * n + at) * inner + i % inner;
}

// Comparisons, exact between integers of which one has a sign.
template <class A, class B> __device__ constexpr bool one_has_a_sign()
{
    if constexpr (Traits<A>::integer && Traits<B>::integer) return (A(-1) < A(0)) != (B(-1) < B(0));
    else return false;
}
template <class A, class B> __device__ bool equal(A a, B b)
{
    if constexpr (one_has_a_sign<A, B>()) {
        return !(a < A(0)) && !(b < B(0)) && (unsigned long long)a == (unsigned long long)b;
    } else {
        return a == b;
    }
}
template <class A, class B> __device__ bool less(A a, B b)
{
    if constexpr (one_has_a_sign<A, B>()) {
        return a < A(0) || (!(b < B(0)) && (unsigned long long)a < (unsigned long long)b);
    } else {
        return a < b;
    }
}
template <class A, class B> __device__ bool at_most(A a, B b)
{
    if constexpr (one_has_a_sign<A, B>()) return !less(b, a);
    else return a <= b;
}

// f of each component of a and b. (A lambda with parameters of type `auto` would belong to the host, for NVRTC 13.0.)
template <class V, class F> __device__ V each(V a, V b, F f)
{
    a.x = f(a.x, b.x), a.y = f(a.y, b.y);
    if constexpr (COMPONENTS<V> > 2) a.z = f(a.z, b.z);
    if constexpr (COMPONENTS<V> > 3) a.w = f(a.w, b.w);
    return a;
}

#define WARPAINT_OPERATION(name, op) \
    template <class T> __device__ T name(T a, T b) \
    { \
        if constexpr (COMPONENTS<T> > 1) return each(a, b, [](Component<T> x, Component<T> y) { return name(x, y); }); \
        else if constexpr (Traits<T>::integer) return T(Modular<T>(a) op Modular<T>(b)); \
        else return a op b; \
    }
WARPAINT_OPERATION(add, +)
WARPAINT_OPERATION(subtract, -)
WARPAINT_OPERATION(multiply, *)
#undef WARPAINT_OPERATION

template <class T> __device__ T negative(T a)
{
    if constexpr (COMPONENTS<T> > 1) return each(a, a, [](Component<T> x, Component<T>) { return negative(x); });
    else if constexpr (Traits<T>::integer) return T(Modular<T>(0) - Modular<T>(a));
    else return -a;
}

// As in Rust and C for integers, and 0 where the divisor is 0, as numpy's floor_divide has it.
template <class T> __device__ T divide(T a, T b)
{
    if constexpr (COMPONENTS<T> > 1) {
        return each(a, b, [](Component<T> x, Component<T> y) { return divide(x, y); });
    } else if constexpr (Traits<T>::integer) {
        if (b == T(0)) return T(0);
        if (T(-1) < T(0) && b == T(-1)) return negative(a);  // the least integer by -1 overflows
        return a / b;
    } else {
        return T(Wide<T>(a) / Wide<T>(b));
    }
}

// With the dividend's sign, as in Rust and C; 0 for integers where the divisor is 0, as in numpy.
template <class T> __device__ T remainder(T a, T b)
{
    if constexpr (Traits<T>::integer) {
        return b == T(0) || (T(-1) < T(0) && b == T(-1)) ? T(0) : T(a % b);
    } else {
        return T(::fmod(Wide<T>(a), Wide<T>(b)));
    }
}

// With the divisor's sign, as in numpy and Python.
template <class T> __device__ T modulo(T a, T b)
{
    T rest = remainder(a, b);
    if constexpr (Traits<T>::integer) {
        return rest != T(0) && (rest < T(0)) != (b < T(0)) ? T(rest + b) : rest;
    } else {
        if (rest == T(0)) return T(::copysign(Wide<T>(0), Wide<T>(b)));
        return (rest < T(0)) != (b < T(0)) ? T(rest + b) : rest;
    }
}

// Rounded down, so that it times b plus modulo(a, b) is a; as in numpy and Python.
template <class T> __device__ T floor_divide(T a, T b)
{
    if constexpr (Traits<T>::integer) {
        T quotient = divide(a, b), rest = remainder(a, b);
        return rest != T(0) && (rest < T(0)) != (b < T(0)) ? T(quotient - T(1)) : quotient;
    } else {
        Wide<T> x = a, y = b, rest = ::fmod(x, y);
        if (y == Wide<T>(0)) return T(x / y);
        // Whole but for rounding.
        Wide<T> quotient = (x - rest) / y;
        if (rest != Wide<T>(0) && (rest < Wide<T>(0)) != (y < Wide<T>(0))) quotient -= Wide<T>(1);
        if (quotient == Wide<T>(0)) return T(::copysign(quotient, x / y));
        // A half is no more than the rounding of a quotient whose numbers lie half of 1 apart.
        Wide<T> whole = ::floor(quotient);
        return T(quotient - whole > Wide<T>(0.5) ? whole + Wide<T>(1) : whole);
    }
}

// Integers by squaring, modulo 2^bits; a negative exponent gives the power's reciprocal, cut off.
template <class T> __device__ T power(T base, T exponent)
{
    if constexpr (Traits<T>::integer) {
        if (exponent < T(0)) {
            if (base == T(1)) return T(1);
            if (base == T(-1)) return exponent & T(1) ? T(-1) : T(1);
            return T(0);
        }
        T result = T(1);
        for (T left = exponent; left != T(0); left >>= 1) {
            if (left & T(1)) result = multiply(result, base);
            base = multiply(base, base);
        }
        return result;
    } else {
        return T(precise::pow(Wide<T>(base), Wide<T>(exponent)));
    }
}
template <class T> __device__ complex<T> power(complex<T> base, complex<T> exponent) { return pow(base, exponent); }

// By one number for all elements: as in numpy, some stand for other functions, which differ at -0 and infinities.
template <class T> __device__ T power_by_one(T base, T exponent)
{
    if constexpr (!Traits<T>::integer) {
        if (exponent == T(0.5f)) return sqrt(base);
        if (exponent == T(-1.0f)) return divide(T(1.0f), base);
    }
    return power(base, exponent);
}

template <class T> __device__ T complement(T a) { return ~a; }
template <> inline __device__ bool complement(bool a) { return !a; }

// By more than all bits, and by a negative number, which numpy takes for a large one: nothing but the sign is left.
template <class T> __device__ bool shifts_all(T by) { return (unsigned long long)by >= 8 * sizeof(T); }
template <class T> __device__ T shift_left(T a, T by) { return shifts_all(by) ? T(0) : T(Modular<T>(a) << by); }
template <class T> __device__ T shift_right(T a, T by) { return shifts_all(by) ? T(a < T(0) ? -1 : 0) : T(a >> by); }

template <class T> __device__ bool is_nan(T a) { return a != a; }
template <class T> __device__ bool is_infinite(T a)
{
    if constexpr (Traits<T>::integer) return false;
    else return ::isinf(Wide<T>(a));
}
template <class T> __device__ bool is_infinite(complex<T> a) { return ::isinf(a.re) || ::isinf(a.im); }
template <class T> __device__ bool is_finite(T a) { return !is_nan(a) && !is_infinite(a); }

template <class T> __device__ T maximum(T a, T b) { return is_nan(a) || a > b ? a : b; }
template <class T> __device__ T minimum(T a, T b) { return is_nan(a) || a < b ? a : b; }
template <class T> __device__ T fmax(T a, T b) { return is_nan(b) || a > b ? a : b; }
template <class T> __device__ T fmin(T a, T b) { return is_nan(b) || a < b ? a : b; }

template <class T> __device__ T absolute(T a)
{
    if constexpr (Traits<T>::integer) {
        return a < T(0) ? negative(a) : a;
    } else {
        return T(::fabs(Wide<T>(a)));
    }
}
template <class T> __device__ T absolute(complex<T> a) { return abs(a); }

template <class T> __device__ T sign(T a) { return is_nan(a) ? a : T(int(a > T(0)) - int(a < T(0))); }
template <class T> __device__ bool sign_bit(T a)
{
    if constexpr (Traits<T>::integer) return a < T(0);
    else return ::signbit(Wide<T>(a));
}

// Real numbers as complex ones; complex.cuh has these for the others.
template <class T> __device__ T real(T a) { return a; }
template <class T> __device__ T imag(T a) { return T(0); }
template <class T> __device__ T conj(T a) { return a; }
template <class T> __device__ T arg(T a) { return T(::atan2(Wide<T>(0), Wide<T>(a))); }

#define WARPAINT_FUNCTION(name) \
    template <class T> __device__ T name(T a) { return T(::name(Wide<T>(a))); }
WARPAINT_FUNCTION(sqrt)
WARPAINT_FUNCTION(cbrt)
WARPAINT_FUNCTION(rsqrt)
WARPAINT_FUNCTION(exp)
WARPAINT_FUNCTION(exp2)
WARPAINT_FUNCTION(expm1)
WARPAINT_FUNCTION(log)
WARPAINT_FUNCTION(log2)
WARPAINT_FUNCTION(log10)
WARPAINT_FUNCTION(log1p)
WARPAINT_FUNCTION(sin)
WARPAINT_FUNCTION(cos)
WARPAINT_FUNCTION(tan)
WARPAINT_FUNCTION(asin)
WARPAINT_FUNCTION(acos)
WARPAINT_FUNCTION(atan)
WARPAINT_FUNCTION(sinh)
WARPAINT_FUNCTION(cosh)
WARPAINT_FUNCTION(tanh)
WARPAINT_FUNCTION(asinh)
WARPAINT_FUNCTION(acosh)
WARPAINT_FUNCTION(atanh)
WARPAINT_FUNCTION(erf)
WARPAINT_FUNCTION(erfc)
WARPAINT_FUNCTION(tgamma)
WARPAINT_FUNCTION(lgamma)
WARPAINT_FUNCTION(floor)
WARPAINT_FUNCTION(ceil)
WARPAINT_FUNCTION(trunc)
WARPAINT_FUNCTION(rint)
WARPAINT_FUNCTION(round)
#undef WARPAINT_FUNCTION

#define WARPAINT_FUNCTION_OF_TWO(name) \
    template <class T> __device__ T name(T a, T b) { return T(::name(Wide<T>(a), Wide<T>(b))); }
WARPAINT_FUNCTION_OF_TWO(atan2)
WARPAINT_FUNCTION_OF_TWO(copysign)
#undef WARPAINT_FUNCTION_OF_TWO

template <class T> __device__ T exp10(T a) { return T(precise::exp10(Wide<T>(a))); }
template <class T> __device__ T hypot(T a, T b) { return T(precise::hypot(Wide<T>(a), Wide<T>(b))); }

template <class T> __device__ T fma(T a, T b, T c) { return T(::fma(Wide<T>(a), Wide<T>(b), Wide<T>(c))); }

template <class T> __device__ T fraction(T a)
{
    Wide<T> x = a;
    return T(::copysign(::isinf(x) ? Wide<T>(0) : x - ::trunc(x), x));
}
template <class T> __device__ T significand(T a)
{
    int exponent;
    return is_finite(a) ? T(::frexp(Wide<T>(a), &exponent)) : a;
}
template <class T> __device__ int exponent(T a)
{
    int exponent = 0;
    if (is_finite(a)) ::frexp(Wide<T>(a), &exponent);
    return exponent;
}
template <class T> __device__ T ldexp(T a, int exponent) { return T(::ldexp(Wide<T>(a), exponent)); }

}  // namespace warpaint
