/*---
title   = "Gray-Scott"
summary = "Two substances, one of which feeds on the other: spots that divide, corals, mazes, waves"

[constant]
w     = 1024               # cells along x, periodic; even
h     = 1024               # cells along y, periodic; a multiple of `rows`
rows  = 8                  # rows of two cells that a thread walks down
speed = 32                 # `steps` to start with

[constant.cpu]
w     = 320
h     = 240
speed = 8

[array.cells]              # u, what is fed, and v, what feeds on it
type   = "float2"
count  = "w * h"
double = true

[texture.picture]
format = "rgba8"
size   = ["w", "h"]

[param.pattern]
value   = 1
choices = ["mitosis", "coral", "mazes", "holes", "chaos", "waves", "map", "the two sliders"]

[param.feed]
label = "feed rate F"
value = 0.055
min   = 0.0
max   = 0.1

[param.kill]
label = "kill rate k"
value = 0.062
min   = 0.03
max   = 0.075

[param.steps]
label = "steps a picture"
value = "speed"
min   = 1
max   = 128
log   = true

[param.brush]
value = 12.0
min   = 1.0
max   = 100.0
log   = true
unit  = "cells"

[[pass]]
kernel = "sow"
on     = "reset"
over   = "picture"

[[pass]]
kernel = "react"
grid   = ["(w / 2 + 31) / 32", "(h / rows + 7) / 8"]
block  = [32, 8]
repeat = "steps"
bytes  = "16 * w * h"      # of a launch: each cell is read and written once

[[pass]]
kernel = "paint"
over   = "picture"

[view]
kind    = "image"
texture = "picture"
filter  = "linear"

[[stat]]                   # what of the first substance has been eaten
name   = "eaten"
of     = "cells"
map    = "1.0f - x.x"
reduce = "mean"

[[stat]]
name   = "eater"
of     = "cells"
map    = "x.y"
reduce = "mean"

[[check]]
stat   = "cells.nan"
after  = "1200 / speed"
equals = 0

[[check]]                  # after 1200 steps the corals have grown so far, whatever the seed
stat  = "eater"
after = "1200 / speed"
min   = 0.06
max   = 0.11

[[check]]                  # concentrations: never negative, never more of u than is fed
stat  = "cells.min"
after = "1200 / speed"
min   = 0.0

[[check]]
stat  = "cells.x.max"
after = "1200 / speed"
max   = 1.0
---*/
#include <warpaint/colour.cuh>
#include <warpaint/random.cuh>
#include <warpaint/vector.cuh>

// The model of P. Gray and S. K. Scott (Chemical Engineering Science 39, 1984) as J. E. Pearson studied it ("Complex
// patterns in a simple system", Science 261, 1993):
//
//     du/dt = Du lap(u) - u v^2 + F (1 - u)
//     dv/dt = Dv lap(v) + u v^2 - (F + k) v
//
// with his numbers: steps of one second by Euler's forward rule, on a grid whose 256 cells are 2.5 wide, periodic.
// A step reads 8 and writes 8 bytes a cell, and that is its whole cost: 16 bytes a cell.

using namespace warpaint;

constexpr float cell = 2.5f / 256.0f;
constexpr float spread_u = 2e-5f / (cell * cell), spread_v = 1e-5f / (cell * cell);

static_assert(w % 2 == 0 && h % rows == 0, "w must be even, h a multiple of rows");

// F and k of a cell. The names are those of patterns that many have found since; "map" is Pearson's figure 3: k grows
// to the right, F upwards.
__device__ float2 rates(int pattern, float feed, float kill, int x, int y)
{
    switch (pattern) {
    case 0: return make_float2(0.0367f, 0.0649f);
    case 1: return make_float2(0.0545f, 0.0620f);
    case 2: return make_float2(0.0290f, 0.0570f);
    case 3: return make_float2(0.0390f, 0.0580f);
    case 4: return make_float2(0.0260f, 0.0510f);
    case 5: return make_float2(0.0140f, 0.0470f);
    case 6: return make_float2(0.005f + 0.075f * y / h, 0.045f + 0.025f * x / w);
    default: return make_float2(feed, kill);
    }
}

// u = 1, v = 0 everywhere but in squares, one in every second tile or so, where u = 1/2 and v = 1/4; all of it with
// one percent of noise, as Pearson began.
__global__ void sow(float2 *cells, unsigned seed)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    constexpr int tile = 48, least = 10;
    const unsigned bits = hash(hash(hash(seed) + x / tile) + y / tile);
    const int side = least + (bits >> 1) % 16, room = tile - side;
    const int in_x = x % tile - (int)((bits >> 8) % room), in_y = y % tile - (int)((bits >> 20) % room);
    const bool sown = (bits & 1u) && in_x >= 0 && in_x < side && in_y >= 0 && in_y < side;
    Random random(seed, y * w + x);
    const float2 start = sown ? make_float2(0.5f, 0.25f) : make_float2(1.0f, 0.0f);
    cells[y * w + x] = start * random.uniform(0.99f, 1.0f);
}

// The cell a step later; `around` is the sum of its four neighbours.
__device__ float2 later(float2 here, float2 around, float2 rate)
{
    const float eaten = here.x * here.y * here.y;
    return make_float2(here.x + spread_u * (around.x - 4.0f * here.x) - eaten + rate.x * (1.0f - here.x),
                       here.y + spread_v * (around.y - 4.0f * here.y) + eaten - (rate.x + rate.y) * here.y);
}

// Whether the mouse sows a cell: its left button does, round where it points.
__device__ bool under_brush(int x, int y, float4 mouse, float brush)
{
    const float dx = x + 0.5f - mouse.x * w, dy = y + 0.5f - mouse.y * h;
    return dx * dx + dy * dy < brush * brush;
}

__device__ float2 first(float4 two) { return make_float2(two.x, two.y); }
__device__ float2 second(float4 two) { return make_float2(two.z, two.w); }

// One step. A thread has two cells next to each other, so that it loads and stores 16 bytes at a time, and walks down
// with them: of three rows that a row needs, two are in its registers already.
__global__ void react(const float4 *__restrict__ cells, float4 *__restrict__ cells_next, int pattern, float feed,
                      float kill, float4 mouse, float brush)
{
    const int pair = blockIdx.x * blockDim.x + threadIdx.x, pairs = w / 2;
    const int top = (blockIdx.y * blockDim.y + threadIdx.y) * rows;
    if (pair >= pairs || top >= h) return;
    const float2 *single = (const float2 *)cells;
    const int left = pair > 0 ? 2 * pair - 1 : w - 1, right = pair + 1 < pairs ? 2 * pair + 2 : 0;

    const bool pressed = (int)mouse.z & 1;
    const float4 seeded = make_float4(0.5f, 0.25f, 0.5f, 0.25f);
    float4 above = cells[(top > 0 ? top - 1 : h - 1) * pairs + pair], here = cells[top * pairs + pair];
#pragma unroll
    for (int y = top; y < top + rows; ++y) {
        const float4 below = cells[(y + 1 < h ? y + 1 : 0) * pairs + pair];
        const float2 a = first(here), b = second(here);
        const float2 around_a = first(above) + first(below) + single[y * w + left] + b;
        const float2 around_b = second(above) + second(below) + single[y * w + right] + a;
        const float2 next_a = later(a, around_a, rates(pattern, feed, kill, 2 * pair, y));
        const float2 next_b = later(b, around_b, rates(pattern, feed, kill, 2 * pair + 1, y));
        const bool sown = pressed && under_brush(2 * pair, y, mouse, brush);
        cells_next[y * pairs + pair] = sown ? seeded : make_float4(next_a.x, next_a.y, next_b.x, next_b.y);
        above = here;
        here = below;
    }
}

// A colour between five, from what is fed (dark) to what feeds on it (bright).
__device__ float3 palette(float t)
{
    const float3 stops[5] = {make_float3(0.010f, 0.016f, 0.055f), make_float3(0.035f, 0.140f, 0.290f),
                             make_float3(0.100f, 0.480f, 0.520f), make_float3(0.930f, 0.700f, 0.380f),
                             make_float3(1.000f, 0.960f, 0.860f)};
    t = clamp(t, 0.0f, 1.0f) * 4.0f;
    const int i = min((int)t, 3);
    return mix(stops[i], stops[i + 1], t - i);
}

// The picture, lit from the upper left as if v were a height.
__global__ void paint(const float2 *cells, cudaSurfaceObject_t picture)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const float v = cells[y * w + x].y;
    const float slope_x = cells[y * w + (x + 1) % w].y - cells[y * w + (x + w - 1) % w].y;
    const float slope_y = cells[(y + 1) % h * w + x].y - cells[(y + h - 1) % h * w + x].y;
    const float3 normal = normalize(make_float3(-6.0f * slope_x, -6.0f * slope_y, 1.0f));
    const float3 light = make_float3(-0.48f, 0.60f, 0.64f), half_way = normalize(light + make_float3(0.0f, 0.0f, 1.0f));
    const float shine = 0.35f * powf(fmaxf(dot(normal, half_way), 0.0f), 40.0f) * smoothstep(0.05f, 0.25f, v);
    const float lit = 0.25f + 1.1f * fmaxf(dot(normal, light), 0.0f);
    const float3 color = palette(v * 2.6f) * lit + make_float3(shine, shine, shine);
    surf2Dwrite(pack(to_gamma2(color)), picture, x * 4, y);
}
