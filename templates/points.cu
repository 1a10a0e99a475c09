/*---
title   = "Points"
summary = "Points that circle a centre: the nearer, the faster"

[buffer.position]          # x, y, z, and the speed
type  = "float4"
count = "n"

[constant]
n = 4096

[param.pull]
value = 1.0
min   = 0.1
max   = 4.0

[[pass]]                   # on reset: where all begins
kernel = "place"
on     = "reset"
over   = "position"

[[pass]]                   # in every step
kernel = "move"
over   = "position"

[view]
kind     = "points"
position = "position"
color    = "position"
color_by = "w"
colormap = "viridis"
size     = 3.0
---*/
__global__ void place(float4 *position, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float angle = 6.2831853f * (i * 0.618034f - floorf(i * 0.618034f));
    float radius = 0.15f + 0.85f * sqrtf((i + 0.5f) / n);
    float height = 0.04f * sinf(12.0f * angle);
    position[i] = make_float4(radius * cosf(angle), height, radius * sinf(angle), 0.0f);
}

__global__ void move(float4 *position, int n, float pull, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 p = position[i];
    float radius = sqrtf(p.x * p.x + p.z * p.z);
    float speed = sqrtf(pull / radius);
    float turn = speed / radius * dt, c = cosf(turn), s = sinf(turn);
    position[i] = make_float4(c * p.x - s * p.z, p.y, s * p.x + c * p.z, speed);
}
