// What generated kernels call, for every type that arrays hold. Half precision is computed in float.
// As <math.h> has them, which there is none of here.
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif

namespace warpaint {

template <class T> struct Traits { using Wide = T; static constexpr bool integer = false; };
#define WARPAINT_INTEGER(T) \
    template <> struct Traits<T> { using Wide = T; static constexpr bool integer = true; }
WARPAINT_INTEGER(bool);
WARPAINT_INTEGER(signed char);
WARPAINT_INTEGER(unsigned char);
WARPAINT_INTEGER(short);
WARPAINT_INTEGER(unsigned short);
WARPAINT_INTEGER(int);
WARPAINT_INTEGER(unsigned);
WARPAINT_INTEGER(long long);
WARPAINT_INTEGER(unsigned long long);
#undef WARPAINT_INTEGER
#ifdef __CUDA_FP16_TYPES_EXIST__
template <> struct Traits<__half> { using Wide = float; static constexpr bool integer = false; };
#endif
#ifdef __CUDA_BF16_TYPES_EXIST__
template <> struct Traits<__nv_bfloat16> { using Wide = float; static constexpr bool integer = false; };
#endif

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

// As in Rust and C for integers, and 0 where the divisor is 0, as numpy's floor_divide has it.
template <class T> __device__ T divide(T a, T b)
{
    if constexpr (Traits<T>::integer) {
        if (b == T(0)) return T(0);
        if (T(-1) < T(0) && b == T(-1)) return T(0) - a;  // the least integer by -1 overflows
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
            if (left & T(1)) result *= base;
            base *= base;
        }
        return result;
    } else {
        return T(::pow(Wide<T>(base), Wide<T>(exponent)));
    }
}

template <class T> __device__ T complement(T a) { return ~a; }
template <> inline __device__ bool complement(bool a) { return !a; }

template <class T> __device__ bool is_nan(T a) { return a != a; }

template <class T> __device__ T maximum(T a, T b) { return is_nan(a) || a > b ? a : b; }
template <class T> __device__ T minimum(T a, T b) { return is_nan(a) || a < b ? a : b; }

template <class T> __device__ T absolute(T a)
{
    if constexpr (Traits<T>::integer) {
        return a < T(0) ? T(T(0) - a) : a;
    } else {
        return T(::fabs(Wide<T>(a)));
    }
}

#define WARPAINT_FUNCTION(name) \
    template <class T> __device__ T name(T a) { return T(::name(Wide<T>(a))); }
WARPAINT_FUNCTION(sqrt)
WARPAINT_FUNCTION(exp)
WARPAINT_FUNCTION(log)
WARPAINT_FUNCTION(sin)
WARPAINT_FUNCTION(cos)
#undef WARPAINT_FUNCTION

}  // namespace warpaint
