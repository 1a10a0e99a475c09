/*---
title   = "Boids"
summary = "A flock: each bird turns with those near it, keeps with them, and keeps its distance"
dt      = 0.02

[constant]
n     = 262144             # birds
sight = 0.05               # as far as a bird sees
cells = 40                 # of the grid along each axis of a box 2 wide, at least as large as `sight`

[constant.cpu]
n     = 8192
sight = 0.125
cells = 16

[buffer.position]          # x, y, z
type  = "float4"
count = "n"

[buffer.color]             # of light, by where the bird is heading
type  = "float4"
count = "n"

[array.velocity]           # x, y, z
type  = "float4"
count = "n"

[array.sorted_position]    # the same in the order of the grid's cells
type  = "float4"
count = "n"

[array.sorted_velocity]
type  = "float4"
count = "n"

[array.count]              # birds in each cell
type  = "int"
count = "cells * cells * cells"

[array.total]              # and in each chunk of 2048 cells
type  = "int"
count = "(cells * cells * cells + 2047) / 2048"

[array.start]              # where each cell's begin
type  = "int"
count = "cells * cells * cells + 1"

[array.where]              # the cell, and a place in it
type  = "int2"
count = "n"

[array.list]               # birds by cell, in any order
type  = "int"
count = "n"

[array.order]              # the cosine between a bird's way and that of those it sees, and its speed
type  = "float2"
count = "n"

[param.alignment]
value = 4.0
min   = 0.0
max   = 10.0
unit  = "1/s"

[param.cohesion]
value = 10.0
min   = 0.0
max   = 40.0
unit  = "1/s²"

[param.separation]
value = 1.5
min   = 0.0
max   = 5.0

[param.wander]
value = 0.3
min   = 0.0
max   = 3.0

[param.slowest]
value = 0.25
min   = 0.05
max   = 0.5

[param.fastest]
value = 0.5
min   = 0.5
max   = 1.5

[[pass]]
kernel = "scatter"
on     = "reset"
over   = "position"

[[pass]]
kernel = "clear"
over   = "count"
bytes  = "4 * cells * cells * cells"

[[pass]]
kernel = "find_cells"
over   = "position"
bytes  = "24 * n + 8 * cells * cells * cells"  # each number that it needs is read or written once; so below

[[pass]]
kernel = "totals"
grid   = "(cells * cells * cells + 2047) / 2048"
block  = 256
bytes  = "4 * cells * cells * cells"

[[pass]]
kernel = "starts"
grid   = "(cells * cells * cells + 2047) / 2048"
block  = 256
bytes  = "8 * cells * cells * cells"

[[pass]]
kernel = "enlist"
over   = "position"
bytes  = "12 * n + 4 * cells * cells * cells"

[[pass]]
kernel = "arrange"
over   = "position"
bytes  = "76 * n + 4 * cells * cells * cells"

[[pass]]
kernel = "flock"
over   = "position"
bytes  = "88 * n + 4 * cells * cells * cells"

[view]
kind     = "points"
position = "position"
color    = "color"
color_by = "rgba"
size     = 2.5

[view.camera]
fit   = [-0.7, -0.35, -0.7, 0.7, 0.6, 0.7]
pitch = 28.0

[[stat]]
name   = "alignment"
of     = "order"
map    = "x.x"
reduce = "mean"

[[stat]]
name   = "least speed"
of     = "order"
map    = "x.y"
reduce = "min"

[[stat]]
name   = "greatest speed"
of     = "order"
map    = "x.y"
reduce = "max"

[[check]]
stat = "position.nan"
max  = 0

[[check]]                  # at first they hardly agree ...
stat  = "alignment"
after = 1
max   = 0.5

[[check]]                  # ... and then each with its neighbours
stat  = "alignment"
after = 150
min   = 0.7

[[check]]
stat = "least speed"
min  = 0.2499

[[check]]
stat = "greatest speed"
max  = 0.5001

[[check]]
stat = "position.max"
max  = 1.3

[[check]]
stat = "position.min"
min  = -1.3
---*/

// Reynolds, "Flocks, herds, and schools: a distributed behavioral model", SIGGRAPH 1987: a bird sees those within a
// radius, and is steered by three wishes: separation from who is too near, alignment of its velocity with theirs, and
// cohesion, towards their middle. A fourth keeps it in a ball. The mean cosine between neighbours' headings is the
// flock's order, after Vicsek et al., "Novel type of phase transition in a system of self-driven particles", PRL 75,
// 1995.
#include <warpaint/colour.cuh>
#include <warpaint/grid.cuh>
#include <warpaint/random.cuh>
#include <warpaint/vector.cuh>

using namespace warpaint;

const int CELLS = cells * cells * cells;

__device__ Grid air()
{
    return Grid(make_float3(-1.0f, -1.0f, -1.0f), make_float3(1.0f, 1.0f, 1.0f), make_int3(cells, cells, cells));
}

__device__ int thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Of light: blue on the way to the left, amber to the right, paler upwards; the less a bird agrees with those that it
// sees, the dimmer.
__device__ float4 color_of(float3 v, float agreement)
{
    const float3 d = normalize(v);
    const float3 left = make_float3(0.03f, 0.26f, 1.0f), right = make_float3(1.0f, 0.30f, 0.04f);
    const float3 tint = mix_oklab(left, right, 0.5f + 0.5f * d.x) + 0.15f * fmaxf(d.y, 0.0f);
    return xyzw(to_srgb(tint * (0.4f + 0.6f * fmaxf(agreement, 0.0f))), 1.0f);
}

// On reset: on three strands of a ring that wind about each other, more on the way along them than not.
__global__ void scatter(float4 *__restrict__ position, float4 *__restrict__ velocity, float4 *__restrict__ color,
                        float slowest, float fastest, unsigned seed)
{
    int i = thread();
    if (i >= n) return;
    Random random(seed, i);
    const float along = random.uniform(0.0f, 2.0f), ribbon = i % 3 * 0.6667f;
    float s, c, up, out;
    sincospif(along, &s, &c);
    sincospif(2.0f * along + ribbon, &up, &out);
    const float3 middle = make_float3((0.68f + 0.2f * out) * c, 0.24f * up, (0.68f + 0.2f * out) * s);
    position[i] = xyzw(middle + random.in_ball() * 0.09f, 1.0f);
    const float3 way = normalize(make_float3(-s, 0.0f, c) + 1.1f * random.on_sphere());
    const float3 v = way * random.uniform(slowest, fastest);
    velocity[i] = xyzw(v, 0.0f);
    color[i] = color_of(v, 0.0f);
}

// Six launches sort the birds by cell: see grid.cuh.
__global__ void clear(int *__restrict__ count)
{
    if (thread() < CELLS) count[thread()] = 0;
}

__global__ void find_cells(const float4 *__restrict__ position, int *count, int2 *__restrict__ where)
{
    int i = thread();
    if (i < n) where[i] = enter(count, air().cell(xyz(position[i])));
}

__global__ void totals(const int *__restrict__ count, int *__restrict__ total) { sum_chunk(count, CELLS, total); }

__global__ void starts(const int *__restrict__ count, const int *__restrict__ total, int *__restrict__ start)
{
    scan_chunk(count, CELLS, total, start);
}

__global__ void enlist(const int2 *__restrict__ where, const int *__restrict__ start, int *__restrict__ list)
{
    int i = thread();
    if (i < n) list[start[where[i].x] + where[i].y] = i;
}

__global__ void arrange(const float4 *__restrict__ position, const float4 *__restrict__ velocity,
                        const int2 *__restrict__ where, const int *__restrict__ start, const int *__restrict__ list,
                        float4 *__restrict__ sorted_position, float4 *__restrict__ sorted_velocity)
{
    int i = thread();
    if (i >= n) return;
    const int place = place_of(i, where[i], start, list);
    sorted_position[place] = position[i];
    sorted_velocity[place] = velocity[i];
}

// One step of a bird.
__global__ void flock(const float4 *__restrict__ sorted_position, const float4 *__restrict__ sorted_velocity,
                      const int *__restrict__ start, float4 *__restrict__ position, float4 *__restrict__ velocity,
                      float4 *__restrict__ color, float2 *__restrict__ order, float dt, float alignment, float cohesion,
                      float separation, float wander, float slowest, float fastest, unsigned seed, unsigned step)
{
    int i = thread();
    if (i >= n) return;
    float3 p = xyz(sorted_position[i]), v = xyz(sorted_velocity[i]);
    const float3 heading = normalize(v), zero = make_float3(0.0f, 0.0f, 0.0f);
    float3 middle = zero, theirs = zero, away = zero;
    float seen = 0.0f, cosines = 0.0f;
    air().near(start, p, [&](int j) {
        const float3 apart = p - xyz(sorted_position[j]);
        const float distance2 = dot(apart, apart);
        if (j == i || distance2 >= sight * sight) return;
        const float3 other = xyz(sorted_velocity[j]);
        seen += 1.0f;
        middle -= apart;
        theirs += other;
        cosines += dot(heading, other) * rsqrtf(dot(other, other));
        // Stronger the nearer, and nothing at half of the sight.
        const float near = 1.0f - 4.0f * distance2 / (sight * sight);
        if (near > 0.0f) away += apart * near;
    });
    Random random(seed, i, step);
    float3 wish = random.on_sphere() * (wander / sqrtf(dt));
    if (seen > 0.0f) {
        wish += (theirs / seen - v) * alignment + (middle / seen) * cohesion;
        wish += away * (separation / (sight * sight));
    }
    const float out = length(p);
    if (out > 0.8f) wish -= p * (8.0f * (out - 0.8f) / out);
    v += wish * dt;
    const float speed = length(v), kept = clamp(speed, slowest, fastest);
    v = speed > 0.0f ? v * (kept / speed) : heading * slowest;
    position[i] = xyzw(p + v * dt, 1.0f);
    velocity[i] = xyzw(v, 0.0f);
    const float agreement = seen > 0.0f ? cosines / seen : 0.0f;
    color[i] = color_of(v, agreement);
    order[i] = make_float2(agreement, kept);
}
