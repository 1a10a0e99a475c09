/*---
title   = "Counter"
summary = "Numbers that a person can work out: for tests of the engine"

[constant]
n = 1000

[buffer.position]          # x = i, y = steps, z = i * steps, w = 1
type  = "float4"
count = "n"

[array.total]              # counts up by `pace` a step, from the seed
type  = "int"
count = "n"

[array.sum]                # [0]: how many threads ran since the reset
type  = "unsigned long long"
count = 1

[param.pace]
value = 3
min   = 0
max   = 10

[param.active]
value = true

[[pass]]
kernel = "start"
on     = "reset"
over   = "position"

[[pass]]
kernel = "count"
over   = "position"

[[pass]]
kernel  = "tally<2>"
over    = "total"
repeat  = 2
only_if = "active"

[view]
kind     = "points"
position = "position"

[[check]]
stat   = "position.y.max"
after  = 5
equals = 5
---*/

__global__ void start(float4 *position, int *total, unsigned long long *sum, int n, unsigned seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    position[i] = make_float4((float)i, 0.0f, 0.0f, 1.0f);
    total[i] = (int)seed;
    if (i == 0) sum[0] = 0;
}

__global__ void count(float4 *position, int *total, int n, int pace)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float steps = position[i].y + 1.0f;
    position[i] = make_float4((float)i, steps, (float)i * steps, 1.0f);
    total[i] += pace;
}

// Each launch adds N for every element: 2 * 2 * n a step.
template <int N>
__global__ void tally(unsigned long long *sum, int total_count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < total_count) atomicAdd(&sum[0], (unsigned long long)N);
}
