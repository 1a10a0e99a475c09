// libcu++ has these for its complex numbers, beside functions of numbers as the global ones. `std` has the latter from
// there, so it takes the former one by one. Where C++ finds libcu++'s own by their arguments, it prefers them.
namespace std {
#define WARPAINT_COMPLEX(NAME) \
template <template <class> class C, class T> __host__ __device__ auto NAME(const C<T> &z) \
    -> decltype(cuda::std::NAME(z)) { return cuda::std::NAME(z); }
WARPAINT_COMPLEX(abs)
WARPAINT_COMPLEX(acos)
WARPAINT_COMPLEX(acosh)
WARPAINT_COMPLEX(asin)
WARPAINT_COMPLEX(asinh)
WARPAINT_COMPLEX(atan)
WARPAINT_COMPLEX(atanh)
WARPAINT_COMPLEX(cos)
WARPAINT_COMPLEX(cosh)
WARPAINT_COMPLEX(exp)
WARPAINT_COMPLEX(log)
WARPAINT_COMPLEX(log10)
WARPAINT_COMPLEX(sin)
WARPAINT_COMPLEX(sinh)
WARPAINT_COMPLEX(sqrt)
WARPAINT_COMPLEX(tan)
WARPAINT_COMPLEX(tanh)
#undef WARPAINT_COMPLEX
template <template <class> class C, class T, class U> __host__ __device__ auto pow(const C<T> &x, const U &y)
    -> decltype(cuda::std::pow(x, y)) { return cuda::std::pow(x, y); }
template <template <class> class C, class T, class U> __host__ __device__ auto pow(const T &x, const C<U> &y)
    -> decltype(cuda::std::pow(x, y)) { return cuda::std::pow(x, y); }
template <template <class> class C, class T, class U> __host__ __device__ auto pow(const C<T> &x, const C<U> &y)
    -> decltype(cuda::std::pow(x, y)) { return cuda::std::pow(x, y); }
}
