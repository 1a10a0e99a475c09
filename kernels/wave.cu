/*---
title   = "Waves"
summary = "Waves on a membrane that walls reflect: through a double slit they meet themselves"

[constant]
w     = 1280               # cells along x and y; edges are free
h     = 720
speed = 20                 # `steps` to start with

[constant.cpu]
w     = 384
h     = 216
speed = 6

[array.cells]              # displacement u, and what it changed by in the step before
type   = "float2"
count  = "w * h"
double = true

[texture.height]
format = "r32f"
size   = ["w", "h"]

[param.courant]
label = "wave speed"
value = 0.5
min   = 0.05
max   = 0.7
unit  = "cells/step"

[param.damping]
value = 0.0
min   = 0.0
max   = 0.02
unit  = "1/step"

[param.walls]              # from the next reset on they are empty; until then they swallow what was there
value   = 1
choices = ["none", "double slit", "round pool"]

[param.slit]
label = "distance of the slits"
value = 0.2
min   = 0.04
max   = 0.6
unit  = "heights"

[param.push]
label = "mouse's push"
value = 0.02
min   = 0.0
max   = 0.1

[param.steps]
label = "steps a picture"
value = "speed"
min   = 1
max   = 64
log   = true

[[pass]]
kernel = "start"
on     = "reset"
over   = "height"

[[pass]]
kernel = "swing"
over   = "height"
repeat = "steps"
bytes  = "16 * w * h"      # of a launch: each cell is read and written once

[[pass]]
kernel = "show"
over   = "height"

[[view]]                   # where the wave's own lengths are to be measured
name     = "flat"
kind     = "image"
texture  = "height"
filter   = "linear"
colormap = "twilight"
range    = [-0.45, 0.45]

[[view]]
name     = "relief"
kind     = "surface"
texture  = "height"
height   = 0.12
colormap = "twilight"
range    = [-0.45, 0.45]

[view.camera]
yaw   = -20.0
pitch = 42.0

[[stat]]                   # of all cells; leapfrog keeps exactly this one (see below)
name   = "energy"
of     = "cells"
map    = "energy_of(cells, (int)i, courant)"
reduce = "sum"

[[plot]]                   # what a screen behind the slits shows
name   = "screen"
title  = "Displacement behind the walls"
kind   = "line"
of     = "height"
column = "3 * w / 4"

[[plot]]
name  = "energy"
title = "Energy, which leapfrog keeps"
kind  = "time"
of    = "energy"

[[check]]                  # but for rounding
stat  = "energy"
after = 150
drift = 1e-4

[[check]]
stat  = "cells.nan"
after = 150
max   = 0

[[check]]                  # no wave grows to twice of what it began as
stat  = "cells.x.max"
after = 150
max   = 1
---*/

// The wave equation u_tt = c^2 (u_xx + u_yy) by leapfrog: R. Courant, K. Friedrichs, H. Lewy, "Ueber die partiellen
// Differenzengleichungen der mathematischen Physik", Mathematische Annalen 100 (1928), which also says how long a step
// may be: c dt / dx <= 1 / sqrt(2). With v = u - (u of the step before), a step is
//     v += courant^2 (sum of the four neighbours - 4 u),   u += v.
// It conserves the sum over cells of v^2 / 2 and over neighbours of courant^2 / 2 times the product of their difference
// now and in the step before: multiply the step by u_next - u_before and add up.

// Whether a cell is wall, where u is 0.
__device__ bool is_wall(int x, int y, int walls, float slit)
{
    const float at_x = (x + 0.5f) / h - 0.5f * w / h, at_y = (y + 0.5f) / h - 0.5f;
    if (walls == 1) return fabsf(at_x + 0.18f) < 0.012f && fabsf(fabsf(at_y) - 0.5f * slit) > 0.022f;
    return walls == 2 && at_x * at_x + at_y * at_y > 0.2304f;
}

// A train of waves that runs to the right: its displacement at a place x, in heights.
__device__ float train(float x)
{
    const float from = (x + 0.4f) / 0.09f;
    return 0.5f * expf(-from * from) * cospif(2.0f / 0.07f * (x + 0.4f));
}

__global__ void start(float2 *cells, float2 *cells_next, float courant, int walls, float slit)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const float place = (x + 0.5f) / h - 0.5f * w / h;
    const float u = train(place), before = train(place + courant / h);
    const float2 cell = is_wall(x, y, walls, slit) ? make_float2(0.0f, 0.0f) : make_float2(u, u - before);
    cells[y * w + x] = cells_next[y * w + x] = cell;
}

__global__ void swing(const float2 *__restrict__ cells, float2 *__restrict__ cells_next, float courant, float damping,
                      int walls, float slit, float push, float4 mouse)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const int i = y * w + x;
    const float2 here = cells[i];
    // Beyond a free edge the membrane goes on as it ends.
    const float left = cells[x > 0 ? i - 1 : i].x, right = cells[x + 1 < w ? i + 1 : i].x;
    const float below = cells[y > 0 ? i - w : i].x, above = cells[y + 1 < h ? i + w : i].x;
    float v = here.y + courant * courant * (left + right + below + above - 4.0f * here.x);
    v *= 1.0f - damping;
    if ((int)mouse.z & 1) {
        const float dx = (x + 0.5f) / h - mouse.x * w / h, dy = (y + 0.5f) / h - mouse.y;
        v -= push * expf(-(dx * dx + dy * dy) / 0.0004f);
    }
    cells_next[i] = is_wall(x, y, walls, slit) ? make_float2(0.0f, 0.0f) : make_float2(here.x + v, v);
}

// A cell's share of what is conserved: its own motion, and its bonds to the right and upwards.
__device__ float energy_of(const float2 *cells, int i, float courant)
{
    const float2 here = cells[i];
    float bonds = 0.0f;
    for (int side = 0; side < 2; ++side) {
        const bool ends = side == 0 ? i % w == w - 1 : i / w == h - 1;
        if (ends) continue;
        const float2 other = cells[side == 0 ? i + 1 : i + w];
        const float now = other.x - here.x;
        bonds += now * (now - (other.y - here.y));
    }
    return 0.5f * (here.y * here.y + courant * courant * bonds);
}

// The displacement; walls stand a little above the membrane at rest.
__global__ void show(const float2 *cells, cudaSurfaceObject_t height, int walls, float slit)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) surf2Dwrite(is_wall(x, y, walls, slit) ? 0.14f : cells[y * w + x].x, height, x * 4, y);
}
