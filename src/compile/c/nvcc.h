#pragma once
// With it, libcu++ and cooperative groups cost the compiler a third of the time; what it makes of them is the same.
#define __NVCC__ 1
#define __linux__ 1
#define __unix__ 1
#ifdef __CUDACC_RTC_INT128__
#define __SIZEOF_INT128__ 16
#endif
// C++17 has no such word any more; nvcc takes it.
#define register
// In the place of a `const`.
#define __cx_ constexpr
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
// Not with CUDA 13.0.
#ifndef offsetof
#define offsetof(TYPE, MEMBER) ((size_t)__INTADDR__(&((TYPE *)0)->MEMBER))
#endif
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
namespace std {
using nullptr_t = decltype(nullptr);
template <class C, class T> class basic_ostream;
template <class C, class T> class basic_istream;
template <class T> __host__ __device__ constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }
template <class T> __host__ __device__ constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }
}
