/*---
title   = "Sparks"
summary = "Particles carried by a divergence-free random field"

[constant]                 # compile time: a constexpr in a pre-included prelude
n = 262144

[buffer.position]          # an OpenGL buffer object, registered with CUDA
type  = "float4"
count = "n"                # integer, or an expression over constants: + - * / and parentheses

[array.velocity]           # device memory only
type  = "float4"
count = "n"

[texture.dye]              # an OpenGL texture, registered with CUDA
format = "rgba32f"         # rgba8 rgba16f rgba32f rg32f r32f
size   = [512, 512]        # [w,h] or [w,h,d]
double = true              # ping-pong: a kernel sees `dye` (last) and `dye_next` (being written)
filter = "linear"          # when read as cudaTextureObject_t: nearest | linear
wrap   = "repeat"          # clamp | repeat | mirror

[param.drag]               # run time: a kernel argument and a slider
value = 0.2
min   = 0.0
max   = 1.0

[[pass]]
kernel = "scatter"
on     = "reset"           # reset | step (default)
over   = "position"        # one thread per element or texel; block size chosen by occupancy
[[pass]]
kernel = "advance"
over   = "position"

[view]
kind     = "points"        # points | image | surface | volume
position = "position"
color    = "velocity"      # by magnitude through the colour map, or rgba
size     = 2.0
colormap = "inferno"

[[stat]]                   # beside count/min/max/mean/std/NaN/Inf, which every resource has
name   = "kinetic energy"
of     = "velocity"
map    = "0.5f*(x.x*x.x + x.y*x.y + x.z*x.z)"
reduce = "sum"             # sum | min | max | mean

[[check]]                  # headless test mode
stat  = "kinetic energy"   # or "position.nan", "dye.mean", ...
after = 100                # steps (default: at the end)
max   = 1.0e6              # min, max, equals + tolerance, drift (relative to the first step)

[[check]]
stat   = "position.nan"
equals = 0
---*/
#include <warpaint/noise.cuh>
#include <warpaint/random.cuh>

__global__ void scatter(float4 *position, float4 *velocity, int n, unsigned seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    warpaint::Random random(seed, i);
    position[i] = make_float4(random.uniform(), random.uniform(), random.uniform(), 1.0f);
    velocity[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

__global__ void advance(float4 *position, float4 *velocity, int n, float drag, float time,
                        unsigned seed, float4 mouse)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 p = position[i];
    float3 flow = warpaint::curl_noise(make_float3(p.x, p.y, p.z + 0.1f * time), seed);
    velocity[i] = make_float4(flow.x * (1.0f - drag), flow.y * (1.0f - drag),
                              flow.z * (1.0f - drag), mouse.z);
    position[i] = make_float4(p.x + 0.01f * flow.x, p.y + 0.01f * flow.y, p.z + 0.01f * flow.z, 1.0f);
}
