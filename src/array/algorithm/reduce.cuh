// What reductions call, behind prelude.cuh.
namespace warpaint {

template <class A> __device__ double divided(A a, double n) { return static_cast<double>(a) / n; }
template <class T> __device__ complex<double> divided(complex<T> a, double n)
{
    return complex<double>(static_cast<double>(a.re) / n, static_cast<double>(a.im) / n);
}

template <class A, class T> __device__ A squared(T x)
{
    A wide = static_cast<A>(x);
    return wide * wide;
}
template <class A, class T> __device__ A squared(complex<T> x) { return squared<A>(x.re) + squared<A>(x.im); }

template <class T> struct Placed;
template <class T> struct Range;

// The greater one, NaN before all numbers, and the first one of equals.
template <class T> __device__ Placed<T> first_maximum(const Placed<T> &a, const Placed<T> &b)
{
    bool equal = a.value == b.value || (is_nan(a.value) && is_nan(b.value));
    bool is_a = equal ? a.place < b.place : is_nan(a.value) || a.value > b.value;
    return is_a ? a : b;
}

template <class T> __device__ Placed<T> first_minimum(const Placed<T> &a, const Placed<T> &b)
{
    bool equal = a.value == b.value || (is_nan(a.value) && is_nan(b.value));
    bool is_a = equal ? a.place < b.place : is_nan(a.value) || a.value < b.value;
    return is_a ? a : b;
}

template <class T> __device__ Range<T> both(const Range<T> &a, const Range<T> &b)
{
    return {minimum(a.least, b.least), maximum(a.greatest, b.greatest)};
}

}  // namespace warpaint
