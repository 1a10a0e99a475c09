/*---
title   = "Noise"
summary = "A gallery of noise: simplex, Perlin's, Worley's and white, in octaves, evolving"

[constant]
w = 1280
h = 720

[constant.cpu]
w = 400
h = 225

[array.field]
type  = "float"
count = "w * h"

[texture.picture]
format = "rgba8"
size   = ["w", "h"]

[param.kind]
value   = 0
choices = ["simplex", "Perlin", "Worley", "white"]

[param.octaves]            # of all kinds but white noise, as the next three
value = 6
min   = 1
max   = 10

[param.lacunarity]
label = "lacunarity: how much finer an octave is than the last"
value = 2.0
min   = 1.2
max   = 4.0

[param.gain]
label = "gain: how much weaker"
value = 0.5
min   = 0.0
max   = 1.0

[param.warp]
label = "how far the noise moves itself"
value = 1.0
min   = 0.0
max   = 3.0

[param.zoom]
label = "features across the height"
value = 2.5
min   = 0.5
max   = 40.0
log   = true

[param.speed]
value = 0.12
min   = 0.0
max   = 1.0
unit  = "features/s"

[[pass]]
kernel = "evaluate"
over   = "picture"

[[pass]]
kernel = "paint"
over   = "picture"

[view]
kind    = "image"
texture = "picture"
filter  = "linear"

[[stat]]                   # of whatever kind is shown, these are of all kinds
name   = "white"
of     = "field"
map    = "white(i, step, seed)"
reduce = "mean"

[[stat]]
name   = "white, square about 1/2"
of     = "field"
map    = "squared(white(i, step, seed) - 0.5f)"
reduce = "mean"

[[stat]]                   # between a cell and the next one
name   = "white, correlation"
of     = "field"
map    = "12.0f * (white(i, step, seed) - 0.5f) * (white(i + 1, step, seed) - 0.5f)"
reduce = "mean"

[[stat]]
name   = "simplex, greatest"
of     = "field"
map    = "fabsf(fractal(0, place(i, zoom, speed * time), octaves, lacunarity, gain, seed))"
reduce = "max"

[[stat]]
name   = "Perlin, greatest"
of     = "field"
map    = "fabsf(fractal(1, place(i, zoom, speed * time), octaves, lacunarity, gain, seed))"
reduce = "max"

[[stat]]                   # against what independent octaves add up to, each as strong as its share
name   = "Perlin, octaves"
of     = "field"
map    = "squared(fractal(1, scattered(i), octaves, lacunarity, gain, seed)) / shares(octaves, gain) / perlin_square"
reduce = "mean"

[[stat]]
name   = "Worley, least"
of     = "field"
map    = "fractal(2, place(i, zoom, speed * time), octaves, lacunarity, gain, seed)"
reduce = "min"

[[stat]]
name   = "Worley, greatest"
of     = "field"
map    = "fractal(2, place(i, zoom, speed * time), octaves, lacunarity, gain, seed)"
reduce = "max"

[[check]]                  # uniform numbers: 1/2, within five standard errors of the CPU's 90000 cells
stat      = "white"
after     = 30
equals    = 0.5
tolerance = 0.0048

[[check]]                  # 1/12, the square of the standard deviation; five standard errors again
stat      = "white, square about 1/2"
after     = 30
equals    = 0.083333
tolerance = 0.00125

[[check]]
stat      = "white, correlation"
after     = 30
equals    = 0.0
tolerance = 0.017

[[check]]
stat  = "simplex, greatest"
after = 30
min   = 0.2
max   = 1.0

[[check]]
stat  = "Perlin, greatest"
after = 30
min   = 0.2
max   = 1.0

[[check]]
stat      = "Perlin, octaves"
after     = 30
equals    = 1.0
tolerance = 0.05

[[check]]                  # there is a point in each cell, and so none is further than its diagonal
stat  = "Worley, greatest"
after = 30
min   = 0.5
max   = 1.7321

[[check]]
stat  = "Worley, least"
after = 30
min   = 0.0

[[check]]
stat   = "field.nan"
after  = 30
equals = 0
---*/
#include <warpaint/colour.cuh>
#include <warpaint/noise.cuh>

// Noise in octaves, "fractional Brownian motion": sum of gain^o noise(lacunarity^o p), and noise that is moved by noise
// before it is looked up. Ebert, Musgrave, Peachey, Perlin, Worley, "Texturing and modeling", 3rd edition, 2003,
// chapters 12 and 14 to 17. The kinds are those of <warpaint/noise.cuh> and Philox's words; the third coordinate is
// time.

using namespace warpaint;

// The mean square of one octave of Perlin's noise over all of space: eight corners, each with a gradient that has two
// components of +-1. With f(t) = 6 t^5 - 15 t^4 + 10 t^3, a the integral of (1 - f)^2 from 0 to 1 and b that of
// t^2 (1 - f)^2, it is 8 * 2 * a^2 b.
constexpr float perlin_square = 16.0f * 0.391775f * 0.391775f * 0.0296925f;

__device__ float squared(float x) { return x * x; }

// Uniform numbers in [0, 1), new ones for each step, of which none depends on another one.
__device__ float white(int i, int step, unsigned seed)
{
    return to_unit(philox(make_uint4(i, step, 0, 0), make_uint2(seed, 0)).x);
}

// Where a cell lies in the noise: so many features across the height of the picture.
__device__ float3 place(int i, float zoom, float layer)
{
    const float scale = zoom / h;
    return make_float3((i % w + 0.5f) * scale, (i / w + 0.5f) * scale, layer);
}

// Places that have little in common: each cell in one of a thousand layers.
__device__ float3 scattered(int i) { return place(i, 40.0f, 0.618034f * (i % 997)); }

// One octave.
__device__ float octave(int kind, float3 p, unsigned seed)
{
    switch (kind) {
    case 0: return noise(p, seed);
    case 1: return perlin_noise(p, seed);
    default: return worley_noise(p, seed).x;
    }
}

// The mean of the octaves, each `gain` times as strong as the last one.
__device__ float fractal(int kind, float3 p, int octaves, float lacunarity, float gain, unsigned seed)
{
    float sum = 0.0f, strength = 1.0f, all = 0.0f;
    for (int o = 0; o < octaves; ++o, strength *= gain) {
        sum += strength * octave(kind, p, seed + o);
        all += strength;
        // Moved, so that the lattices of the octaves do not lie on one another.
        p = p * lacunarity + make_float3(17.3f, 41.7f, 5.9f);
    }
    return sum / all;
}

// What independent octaves of mean square 1 make together.
__device__ float shares(int octaves, float gain)
{
    float squares = 0.0f, strength = 1.0f, all = 0.0f;
    for (int o = 0; o < octaves; ++o, strength *= gain) {
        squares += strength * strength;
        all += strength;
    }
    return squares / (all * all);
}

__global__ void evaluate(float *field, int kind, int octaves, float lacunarity, float gain, float warp, float zoom,
                         float speed, float time, int step, unsigned seed)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const int i = y * w + x;
    if (kind == 3) {
        field[i] = white(i, step, seed);
        return;
    }
    float3 p = place(i, zoom, speed * time);
    if (warp > 0.0f) {
        const float far = 2.0f * warp, slow = 0.5f;
        const float right = fractal(kind, p * slow, 3, lacunarity, gain, seed + 101u);
        const float up = fractal(kind, p * slow + make_float3(5.2f, 1.3f, 0.0f), 3, lacunarity, gain, seed + 202u);
        p += make_float3(far * right, far * up, 0.0f);
    }
    const float value = fractal(kind, p, octaves, lacunarity, gain, seed);
    // To 0 to 1 or so. Points of Worley's are bright.
    field[i] = kind == 2 ? 1.15f - 1.3f * value : 0.5f + 0.9f * value;
}

__device__ float3 palette(float t)
{
    const float3 stops[6] = {make_float3(0.006f, 0.012f, 0.045f), make_float3(0.020f, 0.085f, 0.200f),
                             make_float3(0.060f, 0.300f, 0.380f), make_float3(0.560f, 0.420f, 0.260f),
                             make_float3(0.930f, 0.640f, 0.330f), make_float3(1.000f, 0.950f, 0.840f)};
    t = clamp(t, 0.0f, 1.0f) * 5.0f;
    const int i = min((int)t, 4);
    return mix(stops[i], stops[i + 1], t - i);
}

// White noise as it is, the others as mountains, lit from the upper left.
__global__ void paint(const float *field, cudaSurfaceObject_t picture, int kind, float zoom)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const float here = field[y * w + x];
    if (kind == 3) {
        const unsigned char gray = (unsigned char)(255.0f * here);
        surf2Dwrite(make_uchar4(gray, gray, gray, 255), picture, x * 4, y);
        return;
    }
    const float steep = 0.35f * h / zoom;
    const float slope_x = field[y * w + min(x + 1, w - 1)] - field[y * w + max(x - 1, 0)];
    const float slope_y = field[min(y + 1, h - 1) * w + x] - field[max(y - 1, 0) * w + x];
    const float3 normal = normalize(make_float3(-steep * slope_x, -steep * slope_y, 1.0f));
    const float lit = fmaxf(dot(normal, make_float3(-0.48f, 0.60f, 0.64f)), 0.0f);
    const float3 color = palette(smoothstep(0.05f, 0.95f, here)) * (0.25f + 1.2f * lit);
    surf2Dwrite(pack(to_gamma2(color)), picture, x * 4, y);
}
