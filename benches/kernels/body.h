// Functions that the CUDA kernel and its peer in C share.
#pragma once
#ifdef __CUDACC__
#define BODY __device__ __forceinline__
#else
#include <math.h>
#define BODY static inline
typedef struct { float x, y, z; } float3;
typedef struct { float x, y, z, w; } float4;
static inline float3 make_float3(float x, float y, float z) { return (float3){x, y, z}; }
static inline float4 make_float4(float x, float y, float z, float w) { return (float4){x, y, z, w}; }
#endif
