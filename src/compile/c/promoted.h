// What a function of <cmath> is that takes integers, and arguments of different types: an integer is taken for a
// double, and several arguments for the larger of their types (ISO C++ 17, 29.9.1 [cmath.syn]). The compiler itself has
// the functions of one type alone. Where one of these fits as well, C++ prefers it to a template.
namespace warpaint {
namespace promoted {
template <class T> struct real {};
template <> struct real<float> { using type = float; };
template <> struct real<double> { using type = double; };
#define WARPAINT_INTEGER(T) template <> struct real<T> { using type = double; };
WARPAINT_INTEGER(bool)
WARPAINT_INTEGER(char)
WARPAINT_INTEGER(signed char)
WARPAINT_INTEGER(unsigned char)
WARPAINT_INTEGER(wchar_t)
WARPAINT_INTEGER(char16_t)
WARPAINT_INTEGER(char32_t)
WARPAINT_INTEGER(short)
WARPAINT_INTEGER(unsigned short)
WARPAINT_INTEGER(int)
WARPAINT_INTEGER(unsigned)
WARPAINT_INTEGER(long)
WARPAINT_INTEGER(unsigned long)
WARPAINT_INTEGER(long long)
WARPAINT_INTEGER(unsigned long long)
#ifdef __CUDACC_RTC_INT128__
WARPAINT_INTEGER(__int128)
WARPAINT_INTEGER(unsigned __int128)
#endif
#undef WARPAINT_INTEGER
template <class T> using one = typename real<T>::type;
template <class T, class U> using two = decltype(one<T>() + one<U>());
template <class T, class U, class V> using three = decltype(one<T>() + one<U>() + one<V>());
}
}
#define WARPAINT_UNARY(NAME) \
template <class T> __host__ __device__ auto NAME(T x) -> decltype(NAME(warpaint::promoted::one<T>(x))) { \
    return NAME(warpaint::promoted::one<T>(x)); \
}
#define WARPAINT_UNARY_AND(U, NAME) \
template <class T> __host__ __device__ auto NAME(T x, U u) -> decltype(NAME(warpaint::promoted::one<T>(x), u)) { \
    return NAME(warpaint::promoted::one<T>(x), u); \
}
#define WARPAINT_BINARY(NAME) \
template <class T, class U> __host__ __device__ warpaint::promoted::two<T, U> NAME(T x, U y) { \
    using R = warpaint::promoted::two<T, U>; \
    return NAME(R(x), R(y)); \
}
#define WARPAINT_BINARY_AND(V, NAME) \
template <class T, class U> __host__ __device__ warpaint::promoted::two<T, U> NAME(T x, U y, V v) { \
    using R = warpaint::promoted::two<T, U>; \
    return NAME(R(x), R(y), v); \
}
#define WARPAINT_TERNARY(NAME) \
template <class T, class U, class V> __host__ __device__ warpaint::promoted::three<T, U, V> NAME(T x, U y, V z) { \
    using R = warpaint::promoted::three<T, U, V>; \
    return NAME(R(x), R(y), R(z)); \
}
