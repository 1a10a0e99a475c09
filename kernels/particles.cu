/*---
title   = "Particles"
summary = "Sparks carried by curl noise: they stream out of the points of a sphere and fold into filaments"

[constant]
n        = 1048576         # particles
emitters = 1024            # points on the sphere that they stream out of

[constant.cpu]
n = 262144

[buffer.position]          # x, y, z, and seconds left to live
type  = "float4"
count = "n"

[buffer.velocity]          # x, y, z, and the particle's whole life in seconds
type  = "float4"
count = "n"

[param.speed]
label = "flow speed"
value = 0.32
min   = 0.0
max   = 2.0
unit  = "1/s"

[param.scale]
label = "noise scale"
value = 1.5
min   = 0.3
max   = 6.0
log   = true

[param.octaves]
value = 2
min   = 1
max   = 5

[param.turbulence]
value = 0.05
min   = 0.0
max   = 1.0
unit  = "Hz"

[param.drag]
value = 4.0
min   = 0.5
max   = 30.0
log   = true
unit  = "1/s"

[param.lifetime]
value = 5.0
min   = 0.5
max   = 20.0
log   = true
unit  = "s"

[param.spread]
value = 0.006
min   = 0.0
max   = 0.3

[[pass]]
kernel = "scatter"
on     = "reset"
over   = "position"

[[pass]]
kernel = "advance"
over   = "position"
bytes  = "64 * n"          # position and velocity, read and written

[view]
kind     = "points"
position = "position"
color    = "velocity"      # by speed
size     = 1.5
colormap = "inferno"
range    = [0.0, 0.8]

[view.camera]
distance = 4.3

[[check]]
stat   = "position.nan"
equals = 0

[[check]]                  # nothing flies away
stat = "position.x.max"
max  = 6.0

[[check]]                  # who has lived his life starts anew
stat = "position.w.min"
min  = 0.0

[[check]]
stat = "position.w.max"
max  = 5.0

[[check]]                  # about 0.6 of the speed along each axis
stat = "velocity.x.std"
min  = 0.1
max  = 0.3
---*/
#include <warpaint/noise.cuh>
#include <warpaint/random.cuh>
#include <warpaint/vector.cuh>

using namespace warpaint;

// The flow at a point: divergence-free, so that it neither gathers nor thins out what it carries.
__device__ float3 flow(float3 p, float time, float speed, float scale, int octaves, float turbulence, unsigned seed)
{
    return curl_noise(p * scale, seed, 2.0f * turbulence * time, octaves) * speed;
}

// A point of the sphere: emitters lie on a golden spiral, which covers it evenly.
__device__ float3 emitter(unsigned index)
{
    float z = 1.0f - (2.0f * (float)index + 1.0f) / (float)emitters;
    float r = sqrtf(fmaxf(0.0f, 1.0f - z * z)), s, c;
    sincospif(1.23606798f * (float)index, &s, &c);
    return make_float3(r * c, z, r * s) * 0.55f;
}

// A particle that starts at its emitter; its life differs a little from its neighbours'.
__device__ void born(Random &random, unsigned i, float spread, float lifetime, float4 &position, float4 &velocity)
{
    float life = lifetime * random.uniform(0.7f, 1.0f);
    position = xyzw(emitter(i % emitters) + random.in_ball() * spread, life);
    velocity = make_float4(0.0f, 0.0f, 0.0f, life);
}

// On reset every particle is already somewhere on its way, as if the fountain had been running.
__global__ void scatter(float4 *__restrict__ position, float4 *__restrict__ velocity, float speed, float scale,
                        int octaves, float turbulence, float lifetime, float spread, unsigned seed)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Random random(seed, i);
    float4 p, v;
    born(random, i, spread, lifetime, p, v);
    const int strides = 6;
    float age = random.uniform() * v.w, dt = age / strides;
    float3 at = xyz(p), u = make_float3(0.0f, 0.0f, 0.0f);
    for (int stride = 0; stride < strides; ++stride) {
        u = flow(at, 0.0f, speed, scale, octaves, turbulence, seed);
        at += u * dt;
    }
    position[i] = xyzw(at, v.w - age);
    velocity[i] = xyzw(u, v.w);
}

// One step: the flow drags each particle along; whoever has lived its life starts anew.
__global__ void advance(float4 *__restrict__ position, float4 *__restrict__ velocity, float time, float dt, float speed,
                        float scale, int octaves, float turbulence, float drag, float lifetime, float spread,
                        unsigned seed, unsigned step)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 p = position[i], v = velocity[i];
    p.w -= dt;
    if (p.w <= 0.0f) {
        Random random(seed, i, step + 1u);
        born(random, i, spread, lifetime, p, v);
    }
    float3 u = flow(xyz(p), time, speed, scale, octaves, turbulence, seed);
    // Stokes drag, integrated exactly over the step: stable for every drag and dt.
    float3 w = mix(u, xyz(v), expf(-drag * dt));
    position[i] = xyzw(xyz(p) + w * dt, p.w);
    velocity[i] = xyzw(w, v.w);
}
