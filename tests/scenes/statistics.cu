/*---
title   = "Statistics"
summary = "Whatever the expression of a statistic may name, with sums that are known"

[constant]
n     = 1000
twice = 2

[buffer.place]                  # (i, 2 i, -i, step)
type  = "float4"
count = "n"

[array.weight]                  # 1 for even places, 0 for odd ones
type  = "float"
count = "n"

[array.number]
type  = "int"
count = "n"

[param.gain]
value = 3.0
min   = 0.0
max   = 10.0

[param.on]
value = true

[[pass]]
kernel = "start"
on     = "reset"
over   = "place"

[[pass]]
kernel = "advance"
over   = "place"

[[stat]]
name   = "sum of places"
of     = "place"
map    = "x.x"
reduce = "sum"

[[stat]]
name   = "other resources by their names"
of     = "place"
map    = "weight[i] * x.y + (float)number_count"
reduce = "mean"

[[stat]]
name   = "constants, parameters and built-ins"
of     = "number"
map    = "on ? x * twice + gain + step - (int)(60.0f * time + 0.5f) : -1"
reduce = "max"

[[stat]]
name   = "a device function of the scene"
of     = "place"
map    = """
squared(x.x -
        warpaint::dot(make_float3(x.x, 0.0f, 0.0f), make_float3(1.0f, 0.0f, 0.0f))) + x.z   // over lines"""
reduce = "min"

[[stat]]
name   = "itself"
of     = "weight"
reduce = "mean"

[[check]]
stat   = "sum of places"
equals = 499500

[[check]]                       # the mean of 2 i over half of the places, and the count
stat   = "other resources by their names"
equals = 1499
after  = 2

[[check]]
stat   = "constants, parameters and built-ins"
equals = 2001
after  = 7

[[check]]
stat   = "a device function of the scene"
equals = -999

[[check]]
stat = "itself"
min  = 0.5
max  = 0.5

[[check]]                       # 1 after the first step
stat  = "place.w.max"
after = 5
drift = 4.0

[[check]]                       # of 0 to n - 1: sqrt((n * n - 1) / 12)
stat      = "place.x.std"
equals    = 288.674990257
tolerance = 1.0e-6

[[check]]                       # x, y, z and w together
stat   = "place.sum"
equals = 1006000
after  = 7

[[check]]
stat   = "place.count"
equals = 4000

[[check]]
stat   = "place.inf"
equals = 0
---*/
#include <warpaint/vector.cuh>

__device__ float squared(float value) { return value * value; }

__global__ void start(float4 *place, float *weight, int *number)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    place[i] = make_float4(i, 2 * i, -i, 0.0f);
    weight[i] = i % 2 == 0;
    number[i] = i;
}

__global__ void advance(float4 *place)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) place[i].w += 1.0f;
}
