// warpaint/vector.cuh: arithmetic on float2, float3 and float4.
//
//     using namespace warpaint;             // the operators live in the namespace, like all of warpaint's
//     float3 a = xyz(position[i]) + 0.5f * normalize(velocity);
#pragma once

namespace warpaint {

__host__ __device__ inline float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__host__ __device__ inline float2 operator-(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__host__ __device__ inline float2 operator*(float2 a, float2 b) { return make_float2(a.x * b.x, a.y * b.y); }
__host__ __device__ inline float2 operator*(float2 a, float s) { return make_float2(a.x * s, a.y * s); }
__host__ __device__ inline float2 operator*(float s, float2 a) { return a * s; }
__host__ __device__ inline float2 operator/(float2 a, float s) { return a * (1.0f / s); }
__host__ __device__ inline float2 operator-(float2 a) { return make_float2(-a.x, -a.y); }
__host__ __device__ inline float2 &operator+=(float2 &a, float2 b) { return a = a + b; }
__host__ __device__ inline float2 &operator-=(float2 &a, float2 b) { return a = a - b; }
__host__ __device__ inline float2 &operator*=(float2 &a, float s) { return a = a * s; }

__host__ __device__ inline float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
__host__ __device__ inline float3 operator-(float3 a, float3 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
__host__ __device__ inline float3 operator*(float3 a, float3 b) { return make_float3(a.x * b.x, a.y * b.y, a.z * b.z); }
__host__ __device__ inline float3 operator*(float3 a, float s) { return make_float3(a.x * s, a.y * s, a.z * s); }
__host__ __device__ inline float3 operator*(float s, float3 a) { return a * s; }
__host__ __device__ inline float3 operator/(float3 a, float s) { return a * (1.0f / s); }
__host__ __device__ inline float3 operator-(float3 a) { return make_float3(-a.x, -a.y, -a.z); }
__host__ __device__ inline float3 &operator+=(float3 &a, float3 b) { return a = a + b; }
__host__ __device__ inline float3 &operator-=(float3 &a, float3 b) { return a = a - b; }
__host__ __device__ inline float3 &operator*=(float3 &a, float s) { return a = a * s; }

__host__ __device__ inline float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__host__ __device__ inline float4 operator-(float4 a, float4 b) { return make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w); }
__host__ __device__ inline float4 operator*(float4 a, float4 b) { return make_float4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w); }
__host__ __device__ inline float4 operator*(float4 a, float s) { return make_float4(a.x * s, a.y * s, a.z * s, a.w * s); }
__host__ __device__ inline float4 operator*(float s, float4 a) { return a * s; }
__host__ __device__ inline float4 operator/(float4 a, float s) { return a * (1.0f / s); }
__host__ __device__ inline float4 operator-(float4 a) { return make_float4(-a.x, -a.y, -a.z, -a.w); }
__host__ __device__ inline float4 &operator+=(float4 &a, float4 b) { return a = a + b; }
__host__ __device__ inline float4 &operator-=(float4 &a, float4 b) { return a = a - b; }
__host__ __device__ inline float4 &operator*=(float4 &a, float s) { return a = a * s; }

// The sum of the products of the components.
__host__ __device__ inline float dot(float2 a, float2 b) { return a.x * b.x + a.y * b.y; }
__host__ __device__ inline float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__host__ __device__ inline float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

// Perpendicular to both, as long as the parallelogram between them is large; right-handed.
__host__ __device__ inline float3 cross(float3 a, float3 b)
{
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

// The Euclidean length.
__host__ __device__ inline float length(float2 a) { return sqrtf(dot(a, a)); }
__host__ __device__ inline float length(float3 a) { return sqrtf(dot(a, a)); }
__host__ __device__ inline float length(float4 a) { return sqrtf(dot(a, a)); }

// The vector of length 1 in the same direction; not a number for the zero vector.
__host__ __device__ inline float2 normalize(float2 a) { return a / length(a); }
__host__ __device__ inline float3 normalize(float3 a) { return a / length(a); }
__host__ __device__ inline float4 normalize(float4 a) { return a / length(a); }

// The first three components, and a fourth put behind them.
__host__ __device__ inline float3 xyz(float4 a) { return make_float3(a.x, a.y, a.z); }
__host__ __device__ inline float4 xyzw(float3 a, float w) { return make_float4(a.x, a.y, a.z, w); }

// From a (t = 0) to b (t = 1).
__host__ __device__ inline float mix(float a, float b, float t) { return a + (b - a) * t; }
__host__ __device__ inline float3 mix(float3 a, float3 b, float t) { return a + (b - a) * t; }

// x, at least low and at most high.
__host__ __device__ inline float clamp(float x, float low, float high) { return fminf(fmaxf(x, low), high); }

// 0 below edge0, 1 above edge1, a smooth cubic between.
__host__ __device__ inline float smoothstep(float edge0, float edge1, float x)
{
    float t = clamp((x - edge0) / (edge1 - edge0), 0.0f, 1.0f);
    return t * t * (3.0f - 2.0f * t);
}

}  // namespace warpaint
