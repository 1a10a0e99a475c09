// warpaint/vector.cuh: arithmetic on CUDA's vector types, from char2 to double4, component by component.
//
//     using namespace warpaint;             // the operators live in the namespace, like all of warpaint's
//     float3 a = xyz(position[i]) + 0.5f * normalize(velocity);
#pragma once

namespace warpaint {

// The type and number of a vector type's components.
template <class V> struct VectorTraits;
#define WARPAINT_VECTOR(V, T, n) \
    template <> struct VectorTraits<V> { \
        using Component = T; \
        enum { lanes = n }; \
    };
#define WARPAINT_VECTORS(stem, T) \
    WARPAINT_VECTOR(stem##2, T, 2) \
    WARPAINT_VECTOR(stem##3, T, 3) \
    WARPAINT_VECTOR(stem##4, T, 4)
WARPAINT_VECTORS(char, signed char)
WARPAINT_VECTORS(uchar, unsigned char)
WARPAINT_VECTORS(short, short)
WARPAINT_VECTORS(ushort, unsigned short)
WARPAINT_VECTORS(int, int)
WARPAINT_VECTORS(uint, unsigned)
WARPAINT_VECTORS(longlong, long long)
WARPAINT_VECTORS(ulonglong, unsigned long long)
WARPAINT_VECTORS(float, float)
WARPAINT_VECTORS(double, double)
#undef WARPAINT_VECTORS
#undef WARPAINT_VECTOR

template <class V> using ComponentOf = typename VectorTraits<V>::Component;

// Between two vectors, and between a vector and a number.
#define WARPAINT_OPERATOR(op) \
    template <class V, class T = ComponentOf<V>> __host__ __device__ inline V operator op(V a, V b) \
    { \
        a.x = a.x op b.x; \
        a.y = a.y op b.y; \
        if constexpr (VectorTraits<V>::lanes > 2) a.z = a.z op b.z; \
        if constexpr (VectorTraits<V>::lanes > 3) a.w = a.w op b.w; \
        return a; \
    } \
    template <class V> __host__ __device__ inline V operator op(ComponentOf<V> s, V a) \
    { \
        a.x = s op a.x; \
        a.y = s op a.y; \
        if constexpr (VectorTraits<V>::lanes > 2) a.z = s op a.z; \
        if constexpr (VectorTraits<V>::lanes > 3) a.w = s op a.w; \
        return a; \
    } \
    template <class V, class T = ComponentOf<V>> __host__ __device__ inline V &operator op##=(V &a, V b) \
    { \
        return a = a op b; \
    } \
    template <class V> __host__ __device__ inline V &operator op##=(V &a, ComponentOf<V> s) { return a = a op s; }
#define WARPAINT_BY_NUMBER(op) \
    template <class V> __host__ __device__ inline V operator op(V a, ComponentOf<V> s) \
    { \
        a.x = a.x op s; \
        a.y = a.y op s; \
        if constexpr (VectorTraits<V>::lanes > 2) a.z = a.z op s; \
        if constexpr (VectorTraits<V>::lanes > 3) a.w = a.w op s; \
        return a; \
    }
// By one reciprocal where there are fractions: one division instead of up to four.
template <class V> __host__ __device__ inline V operator/(V a, ComponentOf<V> s)
{
    using T = ComponentOf<V>;
    constexpr bool whole = T(0.5) == T(0);
    const T by = whole ? s : T(1) / s;
    a.x = whole ? a.x / by : a.x * by;
    a.y = whole ? a.y / by : a.y * by;
    if constexpr (VectorTraits<V>::lanes > 2) a.z = whole ? a.z / by : a.z * by;
    if constexpr (VectorTraits<V>::lanes > 3) a.w = whole ? a.w / by : a.w * by;
    return a;
}
WARPAINT_BY_NUMBER(+)
WARPAINT_BY_NUMBER(-)
WARPAINT_BY_NUMBER(*)
WARPAINT_OPERATOR(+)
WARPAINT_OPERATOR(-)
WARPAINT_OPERATOR(*)
WARPAINT_OPERATOR(/)
#undef WARPAINT_BY_NUMBER
#undef WARPAINT_OPERATOR

template <class V, class T = ComponentOf<V>> __host__ __device__ inline V operator-(V a)
{
    a.x = -a.x;
    a.y = -a.y;
    if constexpr (VectorTraits<V>::lanes > 2) a.z = -a.z;
    if constexpr (VectorTraits<V>::lanes > 3) a.w = -a.w;
    return a;
}

// The sum of the products of the components.
template <class V> __host__ __device__ inline ComponentOf<V> dot(V a, V b)
{
    ComponentOf<V> sum = a.x * b.x + a.y * b.y;
    if constexpr (VectorTraits<V>::lanes > 2) sum = sum + a.z * b.z;
    if constexpr (VectorTraits<V>::lanes > 3) sum = sum + a.w * b.w;
    return sum;
}

// Perpendicular to both, as long as the parallelogram between them is large; right-handed.
template <class V> __host__ __device__ inline V cross(V a, V b)
{
    static_assert(VectorTraits<V>::lanes == 3, "only vectors of three components have a cross product");
    V c;
    c.x = a.y * b.z - a.z * b.y;
    c.y = a.z * b.x - a.x * b.z;
    c.z = a.x * b.y - a.y * b.x;
    return c;
}

// The Euclidean length.
template <class V> __host__ __device__ inline ComponentOf<V> length(V a) { return ::sqrt(dot(a, a)); }

// The vector of length 1 in the same direction; not a number for the zero vector.
template <class V> __host__ __device__ inline V normalize(V a) { return a / length(a); }

// The first three components, and a fourth put behind them.
__host__ __device__ inline float3 xyz(float4 a) { return make_float3(a.x, a.y, a.z); }
__host__ __device__ inline float4 xyzw(float3 a, float w) { return make_float4(a.x, a.y, a.z, w); }

// From a (t = 0) to b (t = 1).
__host__ __device__ inline float mix(float a, float b, float t) { return a + (b - a) * t; }
template <class V> __host__ __device__ inline V mix(V a, V b, ComponentOf<V> t) { return a + (b - a) * t; }

// x, at least low and at most high.
__host__ __device__ inline float clamp(float x, float low, float high) { return fminf(fmaxf(x, low), high); }

// 0 below edge0, 1 above edge1, a smooth cubic between.
__host__ __device__ inline float smoothstep(float edge0, float edge1, float x)
{
    float t = clamp((x - edge0) / (edge1 - edge0), 0.0f, 1.0f);
    return t * t * (3.0f - 2.0f * t);
}

}  // namespace warpaint
